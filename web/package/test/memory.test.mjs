// Memory: what is freed, what is collected as garbage, and what calls leave behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { points, sapwood, throws } from "./tools.mjs";
const { allocate, MeshTree, PointTree } = sapwood;

// How large the module's memory is: an allocation is a view of all of it.
function size() {
  const array = allocate(Uint8Array, 1);
  const bytes = array.array.buffer.byteLength;
  array.free();
  return bytes;
}

const coords = Float32Array.from(points("uniform", 2000, 3));

test("10,000 builds, searches and frees take no more memory than a few", () => {
  const round = (i) => {
    const tree = new PointTree(coords, { dims: 3, split: i % 2 ? "median" : "sliding-midpoint" });
    if (i % 100 === 0) {
      tree.withinAll(coords, 0.1);
      tree.knnAll(coords, 20);
      PointTree.load(tree.save()).free();
    }
    tree.free();
  };
  for (let i = 0; i < 200; i++) round(i);
  const before = size();
  for (let i = 0; i < 10000; i++) round(i);
  assert.equal(size(), before);
});

test("calls that fail leave nothing behind", () => {
  const bad = coords.slice();
  bad[999] = NaN;
  const bytes = new PointTree(coords, { dims: 3 }).save();
  bytes[bytes.length - 70] ^= 1;
  const round = () => {
    throws(() => new PointTree(bad, { dims: 3 }), "NOT_FINITE", /333/);
    throws(() => PointTree.load(bytes), "FORMAT", /./);
    throws(() => new MeshTree(coords.subarray(0, 1998), [0, 1, 666]), "RANGE", /./);
  };
  for (let i = 0; i < 20; i++) round();
  const before = size();
  for (let i = 0; i < 1000; i++) round();
  assert.equal(size(), before);
});

test("trees that a loop forgets take no more memory than a budget", () => {
  const large = new Float64Array(2 * 300000).map((_, i) => i);
  const first = new PointTree(large, { split: "sliding-midpoint" });
  const moving = new PointTree(large);
  const mesh = new MeshTree(new Float32Array(9 * 100000).map((_, i) => i % 7));
  const expected = [first.knn([5, 5], 3), moving.knn([5, 5], 3), mesh.closestPoint([1, 2, 9]), mesh.count];
  const freed = new PointTree(large);
  const bytes = moving.save();
  for (let i = 0; i < 24; i++) PointTree.load(bytes); // 6 MB each, and no task ends meanwhile
  const before = size();
  for (let i = 0; i < 12; i++) PointTree.load(bytes);
  assert.equal(size(), before);
  assert.ok(before < 2 ** 28, `${before} bytes`);
  // Those that were not forgotten are as they were.
  assert.deepEqual([first.knn([5, 5], 3), moving.knn([5, 5], 3), mesh.closestPoint([1, 2, 9]), mesh.count], expected);
  assert.deepEqual(moving.save(), bytes);
  moving.rebuild([7, 7, 8, 8]);
  mesh.rebuild([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  assert.deepEqual(moving.nearest(7, 7), { id: 0, distance: 0 });
  assert.equal(mesh.count, 1);
  moving.rebuild([1, 1]);
  assert.equal(moving.count, 1);
  freed.free();
  throws(() => freed.nearest(1, 1), "FREED", /free/);
  for (const made of [first, moving, mesh]) made.free();
  throws(() => moving.nearest(1, 1), "FREED", /free/);
});

test("trees that nobody frees are freed once they are collected", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const round = async () => {
    for (let i = 0; i < 100; i++) {
      new PointTree(coords, { dims: 3 });
      new MeshTree(coords.subarray(0, 1800));
      allocate(Float32Array, 10000);
    }
    collect();
    await new Promise((resolve) => setTimeout(resolve)); // finalizers run between tasks
  };
  for (let i = 0; i < 5; i++) await round();
  const before = size();
  for (let i = 0; i < 20; i++) await round();
  assert.ok(size() <= before * 1.5, `${before} bytes grew to ${size()}`);
});
