// Axes that close in a circle, and masks, beside brute force: every answer is the same, to the last bit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { families, points, random, sapwood, throws } from "./tools.mjs";
const { PointTree } = sapwood;

// As docs/numerics.md says.
function ruler(type, period) {
  const round = type === Float32Array ? Math.fround : (x) => x;
  const lengths = period.map(round);
  const wrap = (x, a) => {
    const length = lengths[a];
    if (length === 0 || !Number.isFinite(x) || (x >= 0 && x < length)) return x;
    const rest = x % length;
    const inside = rest < 0 ? round(rest + length) : rest;
    return inside < length ? inside : 0;
  };
  const distance2 = (query, point) => {
    let sum = 0;
    for (const [a, length] of lengths.entries()) {
      const straight = Math.abs(round(wrap(query[a], a) - wrap(point[a], a)));
      const shortest = length ? Math.min(straight, round(length - straight)) : straight;
      sum = round(sum + round(shortest * shortest));
    }
    return sum;
  };
  const holds = (lower, upper, point) => {
    if (!lengths.every((_, a) => lower[a] <= upper[a] && lower[a] < Infinity && upper[a] > -Infinity)) return false;
    return lengths.every((length, a) => {
      const x = wrap(point[a], a);
      if (!length) return lower[a] <= x && x <= upper[a];
      const [from, to, side] = [wrap(lower[a], a), wrap(upper[a], a), round(upper[a] - lower[a])];
      if (side >= length || (from === to && side >= length / 2)) return true;
      return from <= to ? from <= x && x <= to : x >= from || x <= to;
    });
  };
  return { round, distance2, holds };
}

function ranked(coords, dims, query, { distance2, round }, keep) {
  const found = [];
  for (let id = 0; id * dims < coords.length; id++) {
    const squared = distance2(query, coords.subarray(id * dims, (id + 1) * dims));
    if (!keep || keep[id]) found.push({ id, squared, distance: round(Math.sqrt(squared)) });
  }
  return found.sort((a, b) => a.squared - b.squared || a.id - b.id);
}

const ids = (found) => found.map(({ id }) => id);
const ascending = (list) => [...list].sort((a, b) => a - b);
const row = ({ offsets, ids }, i) => [...ids.subarray(offsets[i], offsets[i + 1])];

// Queries in all turns, on the seams and beside them.
function queriesOf(family, dims, period, type, next) {
  const queries = type.from(points(family, 12, dims, 2));
  for (let i = 0; i < queries.length; i++) {
    const length = period[i % dims];
    if (length && next() < 0.7) queries[i] = [0, length, -length, queries[i] - length, 1e6 * length, -1e-9, 0.999 * length][Math.floor(next() * 7)];
  }
  return queries;
}

for (const family of Object.keys(families))
  test(`${family}: nearest, knn, within, range on trees with periods`, () => {
    const next = random(3);
    for (const type of [Float32Array, Float64Array])
      for (const period of [[1], [0.7, 0], [1, 0.3], [0, 2, 0.5], [1, 1, 1, 0, 3]])
        for (const [count, options] of [[1, {}], [90, { split: "sliding-midpoint" }], [900, { leafSize: 8 }]])
          for (const keep of [undefined, Uint8Array.from({ length: count }, () => Math.floor(next() * 3))]) {
            const dims = period.length;
            const coords = type.from(points(family, count, dims));
            const built = new PointTree(coords, { dims, period, ...options });
            assert.deepEqual(built.period, [...type.from(period)]);
            const tree = keep ? PointTree.load(built.save()) : built;
            compare(tree, coords, period, type, queriesOf(family, dims, period, type, next), keep);
            compareBoxes(tree, coords, period, type, next);
            tree.free();
            built.free();
          }
  });

function compare(tree, coords, period, type, queries, keep) {
  const dims = period.length;
  const metric = ruler(type, period);
  const k = 6;
  const many = tree.knnAll(queries, k, { keep });
  const closest = tree.nearestAll(queries, { keep, squared: true });
  const radius = metric.round(0.21 * (period.find((length) => length) ?? 1));
  const limit = metric.round(radius * radius);
  const rows = tree.withinAll(queries, radius, { sorted: true, keep });
  const counts = tree.withinCountAll(queries, radius, { keep });
  for (let i = 0; i * dims < queries.length; i++) {
    const query = queries.subarray(i * dims, (i + 1) * dims);
    const all = ranked(coords, dims, query, metric, keep);
    for (let j = 0; j < k; j++) {
      assert.equal(many.ids[i * k + j], all[j]?.id ?? -1);
      assert.equal(many.distances[i * k + j], all[j]?.distance ?? Infinity);
    }
    assert.equal(closest.ids[i], all[0]?.id ?? -1);
    assert.equal(closest.distances[i], all[0]?.squared ?? Infinity);
    const inside = all.filter(({ squared }) => squared <= limit);
    assert.deepEqual(row(rows, i), ids(inside));
    assert.equal(counts[i], inside.length);
    const filter = keep && ((id) => keep[id] !== 0);
    assert.deepEqual(tree.nearest(query, undefined, filter)?.id, all[0]?.id);
    assert.deepEqual(tree.knn(query, k, undefined, filter), all.slice(0, k).map(({ id, distance }) => ({ id, distance })));
    assert.deepEqual(ids(tree.knn(query, 1000, radius, filter)), ids(inside));
    assert.deepEqual(ascending(tree.within(query, radius, filter)), ascending(ids(inside)));
    if (!keep) assert.equal(tree.withinCount(query, radius), inside.length);
  }
}

function compareBoxes(tree, coords, period, type, next) {
  const dims = period.length;
  const { holds } = ruler(type, period);
  const lower = new type(12 * dims), upper = new type(12 * dims);
  for (let i = 0; i < lower.length; i++) {
    lower[i] = next() < 0.05 ? -Infinity : 4 * next() - 2;
    upper[i] = next() < 0.05 ? [NaN, Infinity, -9][i % 3] : lower[i] + 1.5 * next() * (next() < 0.5 ? 0.3 : 1);
  }
  const rows = tree.rangeAll(lower, upper, { sorted: true });
  for (let i = 0; i < 12; i++) {
    const [low, high] = [lower, upper].map((all) => all.subarray(i * dims, (i + 1) * dims));
    const inside = [];
    for (let id = 0; id * dims < coords.length; id++)
      if (holds(low, high, coords.subarray(id * dims, (id + 1) * dims))) inside.push(id);
    assert.deepEqual(row(rows, i), inside);
    assert.deepEqual(ascending(tree.range(low, high)), inside);
  }
}

test("every point asks, and many queries in the order of the tree", () => {
  for (const type of [Float32Array, Float64Array]) {
    const period = [1, 0.5];
    const coords = type.from(points("uniform", 4000, 2));
    const tree = new PointTree(coords, { period });
    const metric = ruler(type, period);
    const [self, all] = [tree.knnSelf(3), tree.knnAll(coords, 3)];
    const rows = tree.withinAll(coords, 0.03, { sorted: true });
    for (let i = 0; i < 4000; i += 37) {
      const expected = ranked(coords, 2, coords.subarray(2 * i, 2 * i + 2), metric);
      assert.deepEqual([...all.ids.subarray(3 * i, 3 * i + 3)], ids(expected.slice(0, 3)));
      assert.deepEqual([...self.ids.subarray(3 * i, 3 * i + 3)], ids(expected.filter(({ id }) => id !== i).slice(0, 3)));
      assert.deepEqual(row(rows, i), ids(expected.filter(({ squared }) => squared <= metric.round(0.03 ** 2))));
    }
    tree.free();
  }
});

test("longitudes wrap, points are given anew, and one period is for all axes", () => {
  const tree = new PointTree([[179, 10], [-170, 10], [0, 10]], { period: [360, 0] });
  assert.deepEqual(tree.knn([-180, 10], 3), [{ id: 0, distance: 1 }, { id: 1, distance: 10 }, { id: 2, distance: 180 }]);
  assert.deepEqual(tree.knn([540, 10], 1), [{ id: 0, distance: 1 }]);
  assert.deepEqual(tree.within([-179, 10], 9.5).sort(), [0, 1]);
  assert.deepEqual(tree.range([170, 0], [195, 20]).sort(), [0, 1]);
  assert.deepEqual(tree.range([170, 0], [175, 20]), []);
  assert.equal(tree.nearest([-180, 10], undefined, (id) => id !== 0).id, 1);
  assert.deepEqual(tree.bounds, { lower: [0, 10], upper: [190, 10] });
  tree.rebuild([[1, 0], [-1.5, 0]]);
  assert.deepEqual(tree.nearest(0.5, 0), { id: 0, distance: 0.5 });
  assert.deepEqual(tree.nearest(-0.5, 0), { id: 1, distance: 1 });
  const square = new PointTree(Float32Array.of(0.1, 0.1, 0.5, 0.5), { period: 1 });
  assert.deepEqual(square.period, [1, 1]);
  assert.equal(square.nearest(0.9, 0.9).id, 0);
  const things = PointTree.from([{ at: [359, 0] }, { at: [90, 0] }], ({ at }) => at, { period: [360, 0] });
  assert.equal(things.nearest(0, 0).id, 0);
  for (const period of [undefined, 0, [0, 0]]) assert.deepEqual(new PointTree([1, 2], { period }).period, [0, 0]);
});

test("periods and masks that are none", () => {
  const build = (period, type = Float64Array) => () => new PointTree([1, 2, 3, 4], { period, type });
  for (const period of [-1, NaN, Infinity, [1, -1], [NaN, 1], [Infinity, 0]]) throws(build(period), "ARGUMENT", /^options\.period: .* of axis \d is not a length/);
  for (const period of ["1", null, {}, true, () => 1]) throws(build(period), "ARGUMENT", /^options\.period: is .*, not an array of numbers/);
  for (const period of [["1", 1], [null, 1], [1, undefined]]) throws(build(period), "ARGUMENT", /^options\.period: its element \d is .*, not a number/);
  for (const period of [[], [1], [1, 1, 1], new Float32Array(16)]) throws(build(period), "ARGUMENT", /^options\.period: has \d+ numbers, not one for each of 2 axes/);
  throws(build(1e-60, Float32Array), "ARGUMENT", /^options\.period: 1e-60 of axis 0 is 0 in a float/);
  throws(build([0, 1e30], Float32Array), "ARGUMENT", /^options\.period: 1e\+30 of axis 1/);
  throws(build(1e200), "ARGUMENT", /^options\.period: 1e\+200 of axis 0/);
  const tree = new PointTree([1, 2, 3, 4], { period: 5 });
  for (const keep of [null, 3, "11", {}]) throws(() => tree.knnAll([1, 2], 1, { keep }), "ARGUMENT", /^options\.keep: is .*, not an array of numbers/);
  for (const keep of [[1, 1], new Int8Array(2), new Float64Array(2)]) throws(() => tree.withinAll([1, 2], 1, { keep }), "ARGUMENT", /^options\.keep: is no Uint8Array/);
  for (const keep of [new Uint8Array(1), new Uint8Array(3)]) throws(() => tree.knnSelf(1, { keep }), "ARGUMENT", /^options\.keep: has \d entries, not one for each of 2 points/);
  throws(() => tree.withinCountAll([1, 2], 1, { keep: new Uint8Array() }), "ARGUMENT", /^options\.keep/);
  assert.deepEqual([...tree.knnSelf(1, { keep: Uint8Array.of(0, 1) }).ids], [1, -1]);
  const mask = sapwood.allocate(Uint8Array, 2);
  mask.array.set([0, 7]);
  assert.deepEqual([...tree.nearestAll([1, 2], { keep: mask }).ids], [1]);
  assert.deepEqual([...tree.withinCountAll([1, 2], 9, { keep: mask })], [1]);
});
