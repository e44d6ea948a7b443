// Trees over points, beside brute force: every answer is the same, to the last bit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { families, points, ranked, sapwood } from "./tools.mjs";
const { allocate, compact, MeshTree, PointTree, trim } = sapwood;

const precisions = [Float32Array, Float64Array];

for (const family of Object.keys(families))
  test(`${family}: nearest, knn, within, one query and many`, () => {
    for (const type of precisions)
      for (const dims of [1, 2, 3, 4, 7, 16])
        for (const count of [1, 2, 33, 700]) {
          const coords = type.from(points(family, count, dims));
          const tree = new PointTree(coords, { dims });
          assert.equal(tree.count, count);
          assert.equal(tree.dims, dims);
          assert.equal(tree.type, type);
          compare(tree, coords, dims, type, type.from(points(family, 3, dims, 2)));
          compare(tree, coords, dims, type, coords.slice(0, dims));
          tree.free();
        }
  });

function compare(tree, coords, dims, type, queries) {
  const k = 5;
  const rows = queries.length / dims;
  const one = tree.nearestAll(queries);
  const many = tree.knnAll(queries, k);
  const squared = tree.knnAll(queries, k, { squared: true });
  assert.ok(many.ids instanceof Int32Array && many.distances instanceof type);
  for (let i = 0; i < rows; i++) {
    const query = queries.subarray(i * dims, (i + 1) * dims);
    const expected = ranked(coords, dims, query, type);
    const { id, distance } = expected[0];
    assert.deepEqual(tree.nearest(query), { id, distance });
    assert.deepEqual(tree.nearest(...query), { id, distance });
    assert.equal(one.ids[i], id);
    assert.equal(one.distances[i], distance);
    const best = expected.slice(0, k);
    assert.deepEqual(tree.knn(query, k), best.map(({ id, distance }) => ({ id, distance })));
    for (let j = 0; j < k; j++) {
      assert.equal(many.ids[i * k + j], best[j]?.id ?? -1);
      assert.equal(many.distances[i * k + j], best[j]?.distance ?? Infinity);
      assert.equal(squared.distances[i * k + j], best[j]?.distance2 ?? Infinity);
    }
    // A radius whose square, rounded once, is safely between two distances, or exactly one of them.
    const radius = expected[Math.min(9, expected.length - 1)].distance * 1.01;
    const limit = type === Float32Array ? Math.fround(radius * radius) : radius * radius;
    const inside = expected.filter(({ distance2 }) => distance2 <= limit);
    assert.deepEqual(tree.within(query, radius).sort((a, b) => a - b), inside.map(({ id }) => id).sort((a, b) => a - b));
    assert.equal(tree.withinCount(query, radius), inside.length);
    assert.equal(tree.withinCountAll(query, radius)[0], inside.length);
    const row = tree.withinAll(query, radius, { sorted: true });
    assert.deepEqual([...row.offsets], [0, inside.length]);
    assert.deepEqual([...row.ids], inside.map(({ id }) => id));
    assert.deepEqual([...row.distances], inside.map(({ distance }) => distance));
    assert.deepEqual(tree.knn(query, 1000, radius).map(({ id }) => id), [...row.ids]);
  }
}

test("a radius of 0 finds equal points only, and an infinite one all", () => {
  for (const type of precisions) {
    const tree = new PointTree(type.of(1, 1, 2, 2, 1, 1));
    assert.deepEqual(tree.knn([1, 1], 3, 0), [{ id: 0, distance: 0 }, { id: 2, distance: 0 }]);
    assert.deepEqual([...tree.knnAll([1, 1], 3, { radius: 0 }).ids], [0, 2, -1]);
    assert.deepEqual(tree.within([1, 1], 0).sort(), [0, 2]);
    assert.equal(tree.withinCount([1, 1], 0), 2);
    assert.equal(tree.withinCount([9, 9], Infinity), 3);
    assert.equal(tree.knn([9, 9], 9, Infinity).length, 3);
    tree.free();
  }
});

test("a limit of nearest, and what misses answer", () => {
  for (const type of precisions) {
    const tree = new PointTree(type.of(0, 0, 10, 0));
    assert.deepEqual(tree.nearest([1, 0], 1), { id: 0, distance: 1 });
    assert.equal(tree.nearest([1, 0], 0.5), null);
    assert.equal(tree.nearest([1, 0], 0), null);
    assert.deepEqual(tree.nearest([10, 0], 0), { id: 1, distance: 0 });
    assert.deepEqual(tree.knn([1, 0], 2, 0.5), []);
    const { ids, distances } = tree.nearestAll([1, 0, 10, 0], { radius: 0.5 });
    assert.deepEqual([...ids], [-1, 1]);
    assert.deepEqual(distances, type.of(Infinity, 0));
    assert.ok(tree.withinAll([1, 0], 3).distances instanceof type);
    tree.free();
  }
});

test("points as arrays of arrays, queries too, and separate numbers", () => {
  const tree = new PointTree([[1, 2], [3, 4]]);
  assert.equal(tree.dims, 2);
  assert.equal(tree.type, Float64Array);
  assert.deepEqual(tree.nearest(3, 3), { id: 1, distance: 1 });
  assert.deepEqual([...tree.nearestAll([[1, 2], [3, 3]]).ids], [0, 1]);
  assert.deepEqual([...tree.withinCountAll([[1, 2], [9, 9]], 1)], [1, 0]);
  assert.deepEqual([...tree.withinAll([[1, 2]], 1).ids], [0]);
  assert.deepEqual(tree.within(1, 2, 1), [0]);
  assert.equal(tree.withinCount(1, 2, 9), 2);
  tree.rebuild([[5, 5]]);
  assert.equal(tree.nearest(0, 0).id, 0);
  assert.equal(new PointTree([[1, 2, 3]]).dims, 3);
  assert.equal(new PointTree([Float32Array.of(1, 2, 3), [4, 5, 6]], { dims: 3 }).count, 2);
  const flat = new PointTree(Float32Array.of(1, 2, 3, 4, 5, 6), { dims: 3 });
  assert.equal(flat.count, 2);
  const mesh = new MeshTree([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]);
  assert.deepEqual([...mesh.trace([[0.1, 0.1, 1, 0, 0, 0, -1, 9]]).triangles], [0]);
  assert.deepEqual([...mesh.closestPoints([[0, 0, 1], [0, 0, 2]]).distances], [1, 2]);
  for (const made of [tree, flat, mesh]) made.free();
});

test("many answers of one query, more than before each time", () => {
  const coords = points("uniform", 5000, 2);
  const tree = new PointTree(coords);
  for (const radius of [0.01, 0.1, 0.7, 2]) {
    const expected = ranked(coords, 2, [0.5, 0.5], Float64Array).filter(({ distance }) => distance <= radius);
    assert.deepEqual(tree.within([0.5, 0.5], radius).sort((a, b) => a - b), expected.map(({ id }) => id).sort((a, b) => a - b));
    assert.deepEqual(tree.knn([0.5, 0.5], 5000, radius).map(({ id }) => id), expected.map(({ id }) => id));
  }
  tree.free();
});

test("points in boxes, one by one and many at once", () => {
  for (const type of precisions)
    for (const dims of [2, 3, 7]) {
      const coords = type.from(points("uniform", 2000, dims));
      const tree = new PointTree(coords, { dims });
      const corners = type.from(points("uniform", 40, 2 * dims));
      const lower = new type(40 * dims), upper = new type(40 * dims), rows = [];
      for (let i = 0; i < 40; i++) {
        for (let a = 0; a < dims; a++) {
          const [x, y] = [corners[i * 2 * dims + a], corners[i * 2 * dims + dims + a]];
          lower[i * dims + a] = i === 0 ? -Infinity : i === 1 ? x : Math.min(x, y);
          upper[i * dims + a] = i === 0 ? Infinity : i === 1 ? y : i === 2 ? NaN : Math.max(x, y);
        }
        // A corner that is a point's own: sides belong to the box.
        if (i > 20) lower.set(coords.subarray(i * dims, (i + 1) * dims), i * dims);
        const [low, high] = [lower, upper].map((all) => all.subarray(i * dims, (i + 1) * dims));
        const inside = [];
        for (let id = 0; id < 2000; id++)
          if (low.every((x, a) => x <= coords[id * dims + a] && coords[id * dims + a] <= high[a])) inside.push(id);
        rows.push(inside);
        assert.deepEqual(tree.range(low, high).sort((a, b) => a - b), inside);
        assert.deepEqual(tree.range(...low, ...high).sort((a, b) => a - b), inside);
      }
      const { offsets, ids } = tree.rangeAll(lower, upper, { sorted: true });
      assert.deepEqual(rows, rows.map((_, i) => [...ids.subarray(offsets[i], offsets[i + 1])]));
      assert.equal(tree.rangeAll([], []).offsets.length, 1);
      tree.free();
    }
});

test("neighbours of all points themselves", () => {
  const coords = Float32Array.from(points("uniform", 300, 3));
  const tree = new PointTree(coords, { dims: 3 });
  const { ids, distances } = tree.knnSelf(4);
  for (let i = 0; i < 300; i++) {
    const others = ranked(coords, 3, coords.subarray(3 * i, 3 * i + 3), Float32Array).filter(({ id }) => id !== i);
    for (let j = 0; j < 4; j++) {
      assert.equal(ids[4 * i + j], others[j].id);
      assert.equal(distances[4 * i + j], others[j].distance);
    }
  }
  tree.free();
});

test("an empty tree", () => {
  for (const coords of [[], new Float32Array(), new Float64Array()]) {
    const tree = new PointTree(coords, { dims: 3 });
    assert.equal(tree.count, 0);
    assert.deepEqual(tree.bounds, { lower: [Infinity, Infinity, Infinity], upper: [-Infinity, -Infinity, -Infinity] });
    assert.equal(tree.nearest(0, 0, 0), null);
    assert.deepEqual(tree.knn([0, 0, 0], 5), []);
    assert.deepEqual(tree.within([0, 0, 0], Infinity), []);
    assert.deepEqual([...tree.knnAll([0, 0, 0], 2).ids], [-1, -1]);
    assert.deepEqual([...tree.withinAll([0, 0, 0], 1).offsets], [0, 0]);
    assert.equal(tree.knnSelf(3).ids.length, 0);
    tree.free();
  }
});

test("no queries, and queries that are nowhere", () => {
  const tree = new PointTree([1, 2, 3, 4]);
  assert.equal(tree.nearestAll([]).ids.length, 0);
  assert.equal(tree.withinCountAll([], 1).length, 0);
  assert.deepEqual([...tree.withinAll([], 1).offsets], [0]);
  const { ids, distances } = tree.nearestAll([NaN, 0, 3, 4, Infinity, 1]);
  assert.deepEqual([...ids], [-1, 1, -1]);
  assert.deepEqual([...distances], [Infinity, 0, Infinity]);
  tree.free();
});

test("every way to build gives the same answers", () => {
  const coords = points("clusters", 900, 3);
  const queries = points("clusters", 50, 3, 5);
  const plain = new PointTree(coords, { dims: 3 }).knnAll(queries, 7);
  for (const options of [{ split: "sliding-midpoint" }, { axis: "cycle" }, { leafSize: 1 }, { leafSize: 1024 }, { split: "median", axis: "widest" }])
    assert.deepEqual(new PointTree(coords, { dims: 3, ...options }).knnAll(queries, 7), plain, JSON.stringify(options));
});

test("duplicates can be dropped", () => {
  const tree = new PointTree([1, 1, 2, 2, 1, 1, 1, 1], { dropDuplicates: true });
  assert.equal(tree.count, 2);
  assert.equal(tree.sourceCount, 4);
  assert.deepEqual(tree.within([1, 1], 9).sort(), [0, 1]);
  assert.deepEqual([...tree.knnSelf(1).ids], [1, 0, -1, -1]);
  tree.free();
});

test("the precision is that of the coordinates, unless another is asked for", () => {
  const exact = [Float32Array, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array];
  for (const type of exact) assert.equal(new PointTree(type.of(1, 2)).type, Float32Array, type.name);
  for (const type of [Float64Array, Int32Array, Uint32Array, Array]) assert.equal(new PointTree(type.of(1, 2)).type, Float64Array, type.name);
  assert.equal(new PointTree([1, 2], { type: Float32Array }).type, Float32Array);
  assert.equal(new PointTree(Float32Array.of(1, 2), { type: Float64Array }).type, Float64Array);
  const close = new PointTree([16777216, 0, 16777217, 0]);
  assert.equal(close.nearest(16777217, 0).id, 1);
});

test("whatever is like an array will do", () => {
  const like = (...numbers) => ({ length: numbers.length, ...numbers });
  const tree = new PointTree(like(1, 2, 3, 4));
  assert.equal(tree.type, Float64Array);
  assert.deepEqual(tree.nearest(like(3, 3)), { id: 1, distance: 1 });
  assert.deepEqual([...tree.nearestAll(like(0, 0, 9, 9)).ids], [0, 1]);
  const mesh = new MeshTree(like(0, 0, 0, 1, 0, 0, 0, 1, 0), like(0, 1, 2));
  assert.equal(mesh.trace(like(0.1, 0.1, 1), like(0, 0, -1)).triangle, 0);
  tree.free();
  mesh.free();
});

test("trees over things", () => {
  const places = [{ name: "a", at: [5, 5] }, { name: "b", at: [0, 1] }];
  const tree = PointTree.from(new Set(places), ({ at }) => at);
  assert.equal(places[tree.nearest(0, 0).id].name, "b");
  assert.equal(PointTree.from([{ x: 1, y: 2, z: 3 }], ({ x, y, z }) => [x, y, z]).dims, 3);
  assert.equal(PointTree.from([], () => []).count, 0);
  const items = [{ x: 1, y: 9 }, { x: 4, y: 2 }];
  const byAxis = PointTree.from(items, (p) => p.x, (p) => p.y, { leafSize: 4 });
  assert.equal(byAxis.dims, 2);
  assert.deepEqual(byAxis.nearest(4, 3), { id: 1, distance: 1 });
  assert.deepEqual(PointTree.from(items, (p) => p.x).nearest(3), { id: 1, distance: 1 });
  assert.equal(PointTree.from(items, (p, i) => [p.x, p.y, i], { type: Float32Array }).type, Float32Array);
});

test("points that move", () => {
  const tree = new PointTree(Float32Array.from(points("uniform", 500, 2)));
  for (const count of [500, 20, 0, 1, 3000]) {
    const coords = Float32Array.from(points("uniform", count, 2, count));
    tree.rebuild(coords);
    assert.equal(tree.count, count);
    if (count) compare(tree, coords, 2, Float32Array, Float32Array.of(0.3, 0.6));
  }
  tree.free();
});

test("arrays in the module's memory are neither copied nor lost when it grows", () => {
  const coords = allocate(Float32Array, 2000);
  coords.array.set(points("uniform", 1000, 2));
  const copy = coords.array.slice();
  const tree = new PointTree(coords);
  const ids = allocate(Int32Array, 1000);
  const distances = allocate(Float32Array, 1000);
  const before = ids.array;
  const result = tree.nearestAll(coords, { out: { ids, distances } });
  assert.equal(result.ids.buffer, ids.array.buffer);
  assert.deepEqual([...ids.array], Array.from({ length: 1000 }, (_, i) => i));
  const large = allocate(Uint8Array, 64 << 20);
  assert.equal(before.length, 0, "views from before the growth are empty");
  assert.deepEqual(coords.array, copy);
  assert.equal(ids.array[999], 999);
  assert.ok(distances.array.every((distance) => distance === 0));
  tree.rebuild(coords);
  tree.rebuild(coords.array);
  compare(tree, copy, 2, Float32Array, Float32Array.of(0.3, 0.6));
  // A view of another type is converted; memory may grow meanwhile.
  const doubles = allocate(Float64Array, 2000);
  doubles.array.set(copy);
  tree.rebuild(doubles.array);
  compare(tree, copy, 2, Float32Array, Float32Array.of(0.3, 0.6));
  for (const array of [coords, ids, distances, large, doubles]) array.free();
  tree.free();
});

test("memory that grows between two arguments of a call", () => {
  const taken = [];
  // After this, room for 1 MB is not to be had without growth, which empties all views.
  const exhaust = () => {
    trim();
    const before = allocate(Uint8Array, 1);
    for (const { buffer } = before.array; before.array.buffer === buffer; ) taken.push(allocate(Uint8Array, 1 << 20));
    taken.push(before);
    for (let bytes = 1 << 19; bytes >= 1 << 16; bytes >>= 1) for (let i = 0; i < 4; i++) taken.push(allocate(Uint8Array, bytes));
  };
  const inside = (type, numbers) => {
    const made = allocate(type, numbers.length);
    made.array.set(numbers);
    taken.push(made);
    return made;
  };
  const count = 1 << 20;
  const grows = (view, call) => {
    assert.ok(view.length > 0);
    call(view);
    assert.equal(view.length, 0, "it grew");
  };
  const doubles = inside(Float64Array, Float64Array.from({ length: 2 * count }, (_, i) => i));
  const flags = inside(Uint8Array, [0, 1]);
  const corners = inside(Int32Array, [0, 1, 2]);
  let tree;
  exhaust();
  grows(doubles.array, (view) => (tree = new PointTree(view, { type: Float32Array })));
  assert.equal(tree.count, count);
  exhaust();
  grows(doubles.array, (view) => assert.deepEqual([...tree.nearestAll(view).ids.subarray(0, 3)], [0, 1, 2]));
  exhaust();
  grows(flags.array, (view) => assert.equal(compact(new Float64Array(2 * count).fill(7), view, count).length, count));
  exhaust();
  const vertices = new Float32Array(3 * count);
  vertices.set([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  grows(corners.array, (view) => assert.equal(new MeshTree(vertices, view).count, 1));
  exhaust();
  const out = inside(Int32Array, [5, 5]);
  const { ids } = tree.nearestAll([0, 1, 2, 3], { out: { ids: out.array } });
  assert.deepEqual([...ids], [0, 1]);
  for (const made of [...taken, tree]) made.free();
  trim();
});

test("answers into the caller's arrays", () => {
  const tree = new PointTree(points("uniform", 100, 2), { type: Float32Array });
  const queries = points("uniform", 10, 2, 9);
  const expected = tree.knnAll(queries, 3);
  const out = { ids: new Int32Array(31).fill(7), distances: new Float32Array(30) };
  const result = tree.knnAll(queries, 3, { out });
  assert.equal(result.ids, out.ids);
  assert.equal(result.distances, out.distances);
  assert.deepEqual(out.ids.slice(0, 30), expected.ids);
  assert.equal(out.ids[30], 7);
  assert.deepEqual(out.distances, expected.distances);
  const counts = new Int32Array(10);
  assert.equal(tree.withinCountAll(queries, 0.2, { out: counts }), counts);
  assert.deepEqual(counts, tree.withinCountAll(queries, 0.2));
  tree.free();
});

test("saved and loaded", () => {
  for (const type of precisions)
    for (const split of ["median", "sliding-midpoint"])
      for (const count of [0, 1, 1000]) {
        const tree = new PointTree(type.from(points("clusters", count, 3)), { dims: 3, split });
        const queries = points("clusters", 20, 3, 3);
        const bytes = tree.save();
        assert.ok(bytes instanceof Uint8Array);
        const expected = tree.knnAll(queries, 4);
        tree.free();
        const unaligned = new Uint8Array(bytes.length + 1);
        unaligned.set(bytes, 1);
        for (const source of [bytes, bytes.buffer.slice(0), unaligned.subarray(1)]) {
          const loaded = PointTree.load(source);
          assert.equal(loaded.count, count);
          assert.equal(loaded.type, type);
          assert.deepEqual(loaded.knnAll(queries, 4), expected);
          assert.deepEqual(loaded.save(), bytes);
          loaded.free();
        }
      }
});

test("describes itself", () => {
  const tree = new PointTree([1, 5, 2, -3, 0, 4]);
  assert.deepEqual(tree.bounds, { lower: [0, -3], upper: [2, 5] });
  assert.ok(tree.bytes >= 48);
  tree.free();
});
