// Bad input: an exception that says what and where, and everything is usable as before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { points, sapwood, throws } from "./tools.mjs";
const { allocate, compact, marchingCubes, MeshTree, PointTree, SapwoodError } = sapwood;

const triangle = [0, 0, 0, 1, 0, 0, 0, 1, 0];

function detached() {
  const array = new Float32Array(4);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

test("points that are not finite are named", () => {
  for (const type of [Float32Array, Float64Array])
    for (const bad of [NaN, Infinity, -Infinity, type === Float32Array ? 1e30 : 1e300]) {
      const coords = type.from(points("uniform", 100, 2));
      coords[2 * 57 + 1] = bad;
      throws(() => new PointTree(coords), "NOT_FINITE", /point 57\b/);
      const tree = new PointTree(type.of(1, 2));
      throws(() => tree.rebuild(coords), "NOT_FINITE", /point 57\b/);
      assert.deepEqual(tree.nearest(1, 2), { id: 0, distance: 0 }, "the old tree stays");
      tree.free();
    }
});

test("coordinates of wrong lengths and types", () => {
  throws(() => new PointTree([1, 2, 3]), "ARGUMENT", /3 numbers/);
  throws(() => new PointTree(new Float32Array(7), { dims: 4 }), "ARGUMENT", /7 numbers/);
  for (const coords of [undefined, null, 5, "12", {}, () => 1, new DataView(new ArrayBuffer(8)), new BigInt64Array(2), Symbol("x")])
    throws(() => new PointTree(coords), "ARGUMENT", /coords/);
  for (const [coords, is] of [[undefined, /is undefined,/], [{}, /is an object,/], [5, /is a number,/]]) throws(() => new PointTree(coords), "ARGUMENT", is);
  for (const [value, kind] of [["four", "a string"], ["4", "a string"], [null, "null"], [undefined, "undefined"], [4n, "a bigint"], [{}, "an object"], [true, "a boolean"]]) {
    const said = new RegExp(`element 3 is ${kind}, not a number`);
    const tree = new PointTree([1, 2]);
    throws(() => new PointTree([1, 2, 3, value]), "ARGUMENT", new RegExp(`^coords: its ${said.source}`));
    throws(() => tree.rebuild([1, 2, 3, value]), "ARGUMENT", new RegExp(`^coords: its ${said.source}`));
    throws(() => tree.nearestAll([1, 2, 3, value]), "ARGUMENT", new RegExp(`^queries: its ${said.source}`));
    throws(() => new MeshTree([0, 0, 0, value, 0, 0, 0, 1, 0]), "ARGUMENT", new RegExp(`^vertices: its ${said.source}`));
    assert.equal(tree.count, 1);
    tree.free();
  }
  throws(() => new PointTree([[1, 2], [3, 4, 5]]), "ARGUMENT", /^coords: its element 1 has 3 numbers, not 2/);
  throws(() => new PointTree([[1, 2], 3]), "ARGUMENT", /^coords: its element 1 is a number, not an array/);
  throws(() => new PointTree([[1, 2], [3, "4"]]), "ARGUMENT", /^coords\[1\]: its element 1 is a string/);
  throws(() => new PointTree([[1, 2]], { dims: 3 }), "ARGUMENT", /^coords: each is an array of 2 numbers, not of 3/);
  throws(() => new PointTree([[]]), "ARGUMENT", /dims: 0/);
  throws(() => new PointTree([{ x: 1, y: 2 }]), "ARGUMENT", /^coords: its element 0 is an object, not a number/);
  throws(() => new PointTree([1, 2]).nearestAll([[1, 2, 3], [1, 2, 3]]), "ARGUMENT", /^queries: each is an array of 3 numbers, not of 2/);
  throws(() => new PointTree(detached()), "ARGUMENT", /detached/);
  throws(() => PointTree.from([[1, 2], [1, 2, 3]], (place) => place), "ARGUMENT", /items\[1\]/);
  throws(() => PointTree.from([1], () => undefined), "ARGUMENT", /items\[0\].*undefined/);
  throws(() => PointTree.from([1], () => ["1", 2]), "ARGUMENT", /items\[0\].*string/);
  throws(() => PointTree.from([1], () => 1, () => null), "ARGUMENT", /items\[0\].*null/);
  throws(() => PointTree.from([1], () => [1, NaN]), "NOT_FINITE", /point 0/);
  throws(() => PointTree.from([1], () => []), "ARGUMENT", /dims: 0/);
  for (const items of [undefined, null, 5, {}]) throws(() => PointTree.from(items, () => [1, 2]), "ARGUMENT", /^items: is not iterable/);
  for (const get of [undefined, null, "x", {}]) throws(() => PointTree.from([1], get), "ARGUMENT", /^get: is not a function/);
  throws(() => PointTree.from([1], () => [1, 2], { dim: 2 }), "ARGUMENT", /^options\.dim: /);
  throws(() => PointTree.from([1], () => [1, 2], null), "ARGUMENT", /^options: is null/);
  throws(() => PointTree.from([1], () => [1, 2], { dims: 3 }), "ARGUMENT", /items\[0\].*2 coordinates, not 3/);
});

test("options that are none", () => {
  for (const [options, what] of [
    [{ dims: 0 }, /dims/], [{ dims: 17 }, /dims/], [{ dims: 1.5 }, /dims/], [{ dims: "2" }, /dims/], [{ dims: NaN }, /dims/],
    [{ type: Int32Array }, /type/], [{ split: "middle" }, /split/], [{ split: 1 }, /split/], [{ axis: "x" }, /axis/],
    [{ leafSize: 0 }, /leafSize/], [{ leafSize: 1025 }, /leafSize/], [5, /options/], [null, /options/],
  ])
    throws(() => new PointTree([1, 2], options), "ARGUMENT", what);
});

test("options that are unknown are named", () => {
  const tree = new PointTree([1, 2, 3, 4]);
  const mesh = new MeshTree(triangle);
  throws(() => new PointTree([1, 2, 3], { dim: 3 }), "ARGUMENT", /^options\.dim: there is no such option, only dims, type,/);
  throws(() => tree.nearestAll([1, 2], { limit: 3 }), "ARGUMENT", /^options\.limit/);
  throws(() => tree.knnAll([1, 2], 1, { sorted: true }), "ARGUMENT", /^options\.sorted/);
  throws(() => tree.knnSelf(1, { k: 3 }), "ARGUMENT", /^options\.k/);
  throws(() => tree.knnSelf(1, { out: { id: new Int32Array(2) } }), "ARGUMENT", /^options\.out\.id/);
  throws(() => tree.withinAll([1, 2], 1, { sort: true }), "ARGUMENT", /^options\.sort/);
  throws(() => tree.withinCountAll([1, 2], 1, { outs: 1 }), "ARGUMENT", /^options\.outs/);
  throws(() => new MeshTree(triangle, null, { qualty: "fast" }), "ARGUMENT", /^options\.qualty/);
  throws(() => mesh.trace([], { outs: {} }), "ARGUMENT", /^options\.outs/);
  throws(() => mesh.trace([], { out: { x: 1 } }), "ARGUMENT", /^options\.out\.x/);
  throws(() => mesh.traceAll([0, 0, 0], [0, 0, 1], { most: 1 }), "ARGUMENT", /^options\.most/);
  throws(() => mesh.traceAll([0, 0, 0], [0, 0, 1], { tMin: "0" }), "ARGUMENT", /tMin/);
  throws(() => mesh.closestPoints([], { square: true }), "ARGUMENT", /^options\.square/);
  throws(() => marchingCubes(new Float32Array(1), { size: [1, 1, 1], level: 0, inside: 1 }), "ARGUMENT", /^options\.inside/);
  tree.free();
  mesh.free();
});

test("a single query that is not finite says so", () => {
  const tree = new PointTree([1, 2, 3, 4]);
  const mesh = new MeshTree(triangle);
  for (const call of [
    () => tree.nearest(0, NaN), () => tree.nearest([0, NaN]), () => tree.knn([0, NaN], 2), () => tree.within([0, NaN], 5),
    () => tree.within(0, NaN, 5), () => tree.withinCount([0, NaN], 5),
  ])
    throws(call, "NOT_FINITE", /^query: its element 1 is NaN/);
  throws(() => tree.nearest(-Infinity, 0), "NOT_FINITE", /^query: its element 0 is -Infinity/);
  throws(() => mesh.trace([0, NaN, 0], [0, 0, 1]), "NOT_FINITE", /^origin: its element 1 is NaN/);
  throws(() => mesh.occluded([0, 0, 0], [0, 0, Infinity]), "NOT_FINITE", /^direction: its element 2/);
  throws(() => mesh.closestPoint([NaN, 0, 0]), "NOT_FINITE", /^point: its element 0/);
  throws(() => mesh.inside([0, NaN, 0]), "NOT_FINITE", /^point: its element 1/);
  for (const limit of [NaN, -1, "1", null]) throws(() => tree.nearest([1, 2], limit), "ARGUMENT", /^radius/);
  assert.equal(tree.nearest(1, 2).id, 0);
  tree.free();
  mesh.free();
});

test("queries of wrong lengths and types, k and radius out of range", () => {
  const tree = new PointTree([1, 2, 3, 4]);
  for (const call of [
    () => tree.nearest(1), () => tree.nearest(1, 2, 3), () => tree.nearest([1]), () => tree.nearest([1, 2, 3]),
    () => tree.nearest(), () => tree.nearest(null), () => tree.nearest("12"), () => tree.nearest({ x: 1, y: 2 }),
    () => tree.nearest([1, "2"]), () => tree.nearest(1, "2"), () => tree.nearest(allocate(Float64Array, 2)), () => tree.knn([1], 1), () => tree.within([1, 2, 3], 1), () => tree.withinCount(undefined, 1),
  ])
    throws(call, "ARGUMENT", /query/);
  for (const k of [0, -1, 1.5, NaN, Infinity, "1", 2 ** 31, undefined, null]) {
    throws(() => tree.knn([1, 2], k), "ARGUMENT", /k: /);
    throws(() => tree.knnAll([1, 2], k), "ARGUMENT", /k: /);
    throws(() => tree.knnSelf(k), "ARGUMENT", /k: /);
  }
  for (const radius of [-1, NaN, "1", null, -Infinity]) {
    throws(() => tree.knn([1, 2], 1, radius), "ARGUMENT", /radius/);
    throws(() => tree.knnAll([1, 2], 1, { radius: radius ?? -1 }), "ARGUMENT", /radius/);
    for (const name of ["within", "withinCount", "withinAll", "withinCountAll"])
      throws(() => tree[name]([1, 2], radius), "ARGUMENT", /radius/);
  }
  throws(() => tree.within([1, 2]), "ARGUMENT", /radius/);
  for (const search of [
    (queries) => tree.nearestAll(queries), (queries) => tree.knnAll(queries, 1),
    (queries) => tree.withinAll(queries, 1), (queries) => tree.withinCountAll(queries, 1),
  ]) {
    throws(() => search([1, 2, 3]), "ARGUMENT", /3 numbers/);
    throws(() => search(null), "ARGUMENT", /queries/);
    throws(() => search(detached()), "ARGUMENT", /detached/);
  }
  for (const call of [() => tree.range([1], [1, 2]), () => tree.range(), () => tree.range(["1", 2], [1, 2])])
    throws(call, "ARGUMENT", /^lower/);
  for (const call of [() => tree.range([1, 2]), () => tree.range([1, 2], 3), () => tree.rangeAll([1, 2], [1, 2, 3, 4])])
    throws(call, "ARGUMENT", /^upper/);
  throws(() => tree.range(1, 2, 3), "ARGUMENT", /^range: takes 4 numbers, not 3/);
  throws(() => tree.rangeAll([1, 2], detached()), "ARGUMENT", /detached/);
  throws(() => tree.nearestAll([1, 2], 1), "ARGUMENT", /options/);
  assert.deepEqual(tree.knn([1, 2], 2 ** 31 - 1).length, 2, "k beyond the number of points");
  tree.free();
});

test("arrays for answers that do not fit", () => {
  const tree = new PointTree(Float32Array.of(1, 2));
  const queries = [1, 2, 3, 4];
  throws(() => tree.nearestAll(queries, { out: { ids: new Int32Array(1) } }), "ARGUMENT", /out\.ids.*fewer/);
  throws(() => tree.nearestAll(queries, { out: { ids: new Float32Array(2) } }), "ARGUMENT", /out\.ids.*Int32Array/);
  throws(() => tree.nearestAll(queries, { out: { distances: new Float64Array(2) } }), "ARGUMENT", /out\.distances/);
  throws(() => tree.nearestAll(queries, { out: { ids: [0, 0] } }), "ARGUMENT", /out\.ids/);
  const freed = allocate(Int32Array, 2);
  freed.free();
  throws(() => tree.nearestAll(queries, { out: { ids: freed } }), "FREED", /free/);
  tree.free();
});

test("use after free", () => {
  const tree = new PointTree([1, 2, 3, 4]);
  const mesh = new MeshTree(triangle);
  tree.free();
  tree.free();
  mesh.free();
  mesh.free();
  const ray = [0, 0, 1, 0, 0, 0, -1, 9];
  for (const call of [
    () => tree.nearest(1, 2), () => tree.nearest([1, 2]), () => tree.knn([1, 2], 1), () => tree.within([1, 2], 1),
    () => tree.withinCount([1, 2], 1), () => tree.nearestAll([1, 2]), () => tree.knnAll([1, 2], 1), () => tree.knnSelf(1),
    () => tree.withinAll([1, 2], 1), () => tree.withinCountAll([1, 2], 1), () => tree.range([1, 2], [1, 2]),
    () => tree.rangeAll([1, 2], [1, 2]), () => tree.rebuild([1, 2]), () => tree.save(),
    () => tree.count, () => tree.dims, () => tree.type, () => tree.bytes, () => tree.bounds, () => tree.sourceCount,
    () => mesh.trace([0, 0, 1], [0, 0, -1]), () => mesh.trace(ray), () => mesh.occluded([0, 0, 1], [0, 0, -1]),
    () => mesh.occluded(ray), () => mesh.traceAll(ray, 2), () => mesh.traceAll([0, 0, 1], [0, 0, -1]),
    () => mesh.closestPoint([0, 0, 0]), () => mesh.closestPoints([0, 0, 0]), () => mesh.inside([0, 0, 0]),
    () => mesh.rebuild(triangle), () => mesh.save(), () => mesh.count, () => mesh.bytes, () => mesh.bounds,
  ])
    throws(call, "FREED", /free/);
  const memory = allocate(Float32Array, 2);
  memory.free();
  memory.free();
  throws(() => memory.array, "FREED", /free/);
  throws(() => new PointTree(memory), "FREED", /free/);
  if (Symbol.dispose) {
    const other = new PointTree([1, 2]);
    other[Symbol.dispose]();
    throws(() => other.count, "FREED", /free/);
  }
});

test("functions of trees on what is no tree", () => {
  assert.throws(() => PointTree.prototype.nearest.call({}, 1, 2), TypeError);
  assert.throws(() => PointTree([1, 2]), TypeError);
  assert.throws(() => Object.create(MeshTree.prototype).count, TypeError);
});

test("meshes that are none", () => {
  throws(() => new MeshTree([1, 2]), "ARGUMENT", /vertices/);
  throws(() => new MeshTree([0, 0, 0, 1, 1, 1]), "ARGUMENT", /triangles/);
  throws(() => new MeshTree(triangle, [0, 1]), "ARGUMENT", /triangles/);
  throws(() => new MeshTree(triangle, "012"), "ARGUMENT", /triangles/);
  throws(() => new MeshTree(), "ARGUMENT", /vertices/);
  throws(() => new MeshTree(triangle, [0, 1, 2], { quality: "best" }), "ARGUMENT", /quality/);
  for (const type of [Array, Int32Array, Uint32Array, Float64Array])
    throws(() => new MeshTree(triangle, type.of(0, 1, 2, 0, 1, 3)), "RANGE", /triangle 1\b/);
  throws(() => new MeshTree(triangle, Uint32Array.of(0, 1, 2 ** 32 - 1)), "RANGE", /triangle 0\b/);
  for (const index of [NaN, 1.9, 2 ** 32 + 2, "2", null])
    throws(() => new MeshTree(triangle, [0, 1, 2, 0, index, 2]), "ARGUMENT", /triangle 1\b/);
  throws(() => new MeshTree(triangle, Float64Array.of(0, 1, NaN)), "ARGUMENT", /triangle 0\b/);
  throws(() => new MeshTree([0, 0, 0, 1, 0, 0, 0, NaN, 0], [0, 1, 2]), "NOT_FINITE", /vertex 2\b/);
  const mesh = new MeshTree(triangle);
  throws(() => mesh.trace([0, 0], [0, 0, 1]), "ARGUMENT", /origin/);
  throws(() => mesh.trace([0, 0, 0], [1]), "ARGUMENT", /direction/);
  throws(() => mesh.trace([0, 0, 0, 0, 0, 0, 1]), "ARGUMENT", /rays/);
  throws(() => mesh.traceAll(new Float32Array(8), 0), "ARGUMENT", /limit/);
  throws(() => mesh.traceAll([0, 0, 1], [0, 0, 1], { limit: -1 }), "ARGUMENT", /limit/);
  throws(() => mesh.closestPoints([0, 0]), "ARGUMENT", /points/);
  throws(() => mesh.closestPoint([0, 0, 0, 0, 0, 0]), "ARGUMENT", /point/);
  throws(() => mesh.insideAll([0, 0, 0, 1]), "ARGUMENT", /points/);
  mesh.free();
});

test("compaction and volumes that are none", () => {
  throws(() => compact([1, 2], [1, 0]), "ARGUMENT", /items/);
  throws(() => compact(Int8Array.of(1, 2), [1]), "ARGUMENT", /keep/);
  throws(() => compact(Int8Array.of(1, 2), [1], 0), "ARGUMENT", /width/);
  throws(() => compact(Int8Array.of(1, 2, 3), [1], 2), "ARGUMENT", /keep/);
  throws(() => compact(Int8Array.of(1, 2)), "ARGUMENT", /keep/);
  const volume = new Float32Array(27);
  const size = [3, 3, 3];
  throws(() => marchingCubes(volume), "ARGUMENT", /options/);
  throws(() => marchingCubes(volume, { size }), "ARGUMENT", /level/);
  throws(() => marchingCubes(volume, { size, level: NaN }), "ARGUMENT", /level/);
  throws(() => marchingCubes(volume, { size: [3, 3], level: 0 }), "ARGUMENT", /size/);
  throws(() => marchingCubes(volume, { size: [3, 3, 4], level: 0 }), "ARGUMENT", /27 samples/);
  throws(() => marchingCubes(volume, { size: [3, 3, -3], level: 0 }), "ARGUMENT", /size\[2\]/);
  throws(() => marchingCubes(volume, { size, level: 0, spacing: 0 }), "ARGUMENT", /spacing/);
  throws(() => marchingCubes(volume, { size, level: 0, spacing: [1, 1, -1] }), "ARGUMENT", /spacing\[2\]/);
  throws(() => marchingCubes(volume, { size, level: 0, origin: [0, NaN, 0] }), "ARGUMENT", /origin\[1\]/);
  for (const type of [Float64Array, Int32Array, Int8Array, Array])
    throws(() => marchingCubes(type.from(volume), { size, level: 0 }), "ARGUMENT", /volume/);
  volume[13] = NaN;
  throws(() => marchingCubes(volume, { size, level: 0 }), "NOT_FINITE", /sample 13 .x 1, y 1, z 1/);
});

test("bytes that are no saved tree", () => {
  const tree = new PointTree(points("uniform", 200, 2));
  const mesh = new MeshTree(triangle);
  const [bytes, other] = [tree.save(), mesh.save()];
  throws(() => PointTree.load(new Uint8Array()), "FORMAT", /./);
  throws(() => PointTree.load(new Uint8Array(5000)), "FORMAT", /./);
  throws(() => PointTree.load(other), "FORMAT", /./);
  throws(() => MeshTree.load(bytes), "FORMAT", /./);
  for (const length of [1, 63, 64, 200, bytes.length - 1]) throws(() => PointTree.load(bytes.slice(0, length)), "FORMAT", /./);
  for (let byte = 0; byte < bytes.length; byte += 97) {
    const changed = bytes.slice();
    changed[byte] ^= 1 << byte % 8;
    throws(() => PointTree.load(changed), "FORMAT", /./);
  }
  const gone = bytes.slice();
  structuredClone(gone, { transfer: [gone.buffer] });
  for (const source of [undefined, null, "SAPTREE", [1, 2], new Float32Array(4), gone, gone.buffer]) throws(() => PointTree.load(source), "ARGUMENT", /bytes/);
  const loaded = PointTree.load(bytes);
  throws(() => loaded.rebuild([1, 2]), "UNSUPPORTED", /./);
  assert.deepEqual(loaded.save(), bytes);
  for (const made of [tree, mesh, loaded]) made.free();
});

test("more than there is memory for", () => {
  const tree = new PointTree(points("uniform", 1000, 2));
  throws(() => allocate(Float64Array, 2 ** 29), "MEMORY", /bytes: call free\(\)/);
  throws(() => allocate(Float64Array, 2 ** 45), "MEMORY", /bytes/);
  throws(() => allocate(Float64Array, -1), "ARGUMENT", /length/);
  throws(() => tree.knnAll(points("uniform", 1000, 2), 2 ** 31 - 1), "MEMORY", /bytes/);
  throws(() => tree.knnSelf(2 ** 30), "MEMORY", /bytes/);
  const taken = [];
  assert.throws(
    () => {
      for (;;) taken.push(allocate(Uint8Array, 2 ** 28));
    },
    (error) => error instanceof SapwoodError && error.status === "MEMORY",
  );
  const small = [];
  try {
    for (let bytes = 2 ** 26; bytes >= 2 ** 14; bytes /= 2)
      try {
        for (;;) small.push(allocate(Uint8Array, bytes));
      } catch (error) {
        assert.equal(error.status, "MEMORY");
      }
    throws(() => new PointTree(new Float32Array(200000)), "MEMORY", /call free\(\)/);
    assert.equal(tree.nearest(0.5, 0.5).id >= 0, true, "a single query needs no memory");
  } finally {
    for (const array of [...taken, ...small]) array.free();
  }
  const again = new PointTree(new Float32Array(200000));
  assert.equal(again.withinCount([0, 0], 0), 100000);
  again.free();
  tree.free();
});
