// Builds in a worker, and trees over what kdbush holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import KDBush from "kdbush";
import { points, sapwood, sphere } from "./tools.mjs";
const { allocate, MeshTree, PointTree, SapwoodError } = sapwood;

const rejects = (promise, status, message) =>
  assert.rejects(promise, (error) => {
    assert.ok(error instanceof SapwoodError, error?.stack);
    assert.equal(error.status, status, error.message);
    assert.match(error.message, message);
    return true;
  });

test("trees that a worker builds are the same bytes, and can be built anew", async () => {
  const flat = points("clusters", 3000, 3);
  const given = [
    [Float32Array.from(flat), { dims: 3, leafSize: 8 }], [flat, { dims: 3, split: "sliding-midpoint", axis: "cycle" }],
    [Float32Array.from(flat).subarray(6, 306), { dims: 3 }], [[[1, 2], [3, 4], [1, 2]], { dropDuplicates: true }],
    [points("uniform", 400, 2), { period: [1, 0] }], [Int16Array.of(3, 1, 2, 9), undefined], [new Float32Array(0), undefined],
  ];
  const trees = await Promise.all(given.map(([coords, options]) => PointTree.build(coords, options)));
  for (const [i, [coords, options]] of given.entries()) {
    const expected = new PointTree(coords, options);
    assert.deepEqual(trees[i].save(), expected.save());
    assert.equal(trees[i].type, expected.type);
    const query = Array(expected.dims).fill(0.5);
    assert.deepEqual(trees[i].knn(query, 3), expected.knn(query, 3));
    trees[i].rebuild(coords);
    assert.deepEqual(trees[i].save(), expected.save());
    trees[i].free();
  }
  const room = allocate(Float32Array, 6);
  room.array.set([1, 2, 3, 4, 5, 6]);
  assert.deepEqual((await PointTree.build(room)).save(), new PointTree(room).save());
  assert.equal(room.array[5], 6);
});

test("meshes that a worker builds", async () => {
  const { vertices, triangles } = sphere(3);
  for (const quality of ["high", "fast"]) {
    const tree = await MeshTree.build(vertices, triangles, { quality });
    const expected = new MeshTree(vertices, triangles, { quality });
    assert.deepEqual(tree.save(), expected.save());
    assert.deepEqual(tree.trace([0, 0, -3], [0, 0.1, 1]), expected.trace([0, 0, -3], [0, 0.1, 1]));
    tree.rebuild(vertices.map((x) => 2 * x), triangles);
    assert.deepEqual(tree.bounds.upper, [2, 2, 2]);
  }
  assert.equal((await MeshTree.build([[0, 0, 0], [1, 0, 0], [0, 1, 0]])).count, 1);
});

test("what a worker refuses, and what is not given to it", async () => {
  await rejects(PointTree.build([0, 0, NaN, 1]), "NOT_FINITE", /point 1\b/);
  await rejects(PointTree.build([0, 0, 1]), "ARGUMENT", /3 numbers/);
  await rejects(PointTree.build([0, 0], { dimz: 2 }), "ARGUMENT", /dimz/);
  await rejects(PointTree.build([[0, 0], [1]]), "ARGUMENT", /element 1/);
  await rejects(MeshTree.build([0, 0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 3]), "RANGE", /triangle 0/);
  await rejects(MeshTree.build([0, 0, 0, 1, 0, Infinity, 0, 1, 0]), "NOT_FINITE", /vertex 1/);
  assert.equal((await PointTree.build([1, 2])).count, 1);
});

test("an index of kdbush", () => {
  for (const type of [Float64Array, Float32Array, Int16Array]) {
    const flat = type.from(points("lattice", 500, 2), (x) => 10 * x);
    const index = new KDBush(500, 16, type);
    for (let i = 0; i < 500; i++) index.add(flat[2 * i], flat[2 * i + 1]);
    index.finish();
    const tree = PointTree.from(index, { leafSize: 16 });
    assert.deepEqual(tree.save(), new PointTree(flat, { leafSize: 16 }).save());
    const other = PointTree.from(KDBush.from(index.data));
    assert.deepEqual(other.range(20, 20, 40, 40).sort((a, b) => a - b), index.range(20, 20, 40, 40).sort((a, b) => a - b));
    assert.deepEqual(other.within(20, 20, 15).sort((a, b) => a - b), index.within(20, 20, 15).sort((a, b) => a - b));
  }
  assert.deepEqual(PointTree.from({ ids: [1, 0], coords: [1, 2, 3, 4] }).nearest(1, 2), { id: 1, distance: 0 });
  assert.throws(() => PointTree.from({ ids: [0], coords: [1, 2, 3] }), { status: "ARGUMENT" });
  assert.throws(() => PointTree.from({ ids: [0], coords: [1, 2] }, { leafsize: 4 }), { status: "ARGUMENT" });
});
