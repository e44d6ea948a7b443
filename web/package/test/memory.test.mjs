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
