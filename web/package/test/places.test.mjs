// Filters, and places on Earth, beside brute force.
import assert from "node:assert/strict";
import { test } from "node:test";
import { points, random, sapwood, throws } from "./tools.mjs";
const { earthRadius, PlaceTree, PointTree } = sapwood;

test("filters see points from the nearest on, each once", () => {
  const coords = points("clusters", 3000, 2);
  const tree = new PointTree(coords);
  const all = tree.knn([1, 1], 3000).map(({ id }) => id);
  for (const part of [1, 2, 7, 100, 5000]) {
    const lets = (id) => id % part === 0;
    const expected = all.filter(lets);
    for (const k of [1, 5, 40, 3001]) {
      const seen = [];
      const found = tree.knn([1, 1], k, Infinity, (id) => (seen.push(id), lets(id))).map(({ id }) => id);
      assert.deepEqual(found, expected.slice(0, k));
      assert.deepEqual(seen, all.slice(0, k < expected.length ? all.indexOf(expected[k - 1]) + 1 : seen.length));
    }
    assert.equal(tree.nearest([1, 1], Infinity, lets).id, expected[0]);
    assert.deepEqual(tree.within([1, 1], 1, lets).sort(), tree.within([1, 1], 1).filter(lets).sort());
  }
  assert.equal(tree.nearest([1, 1], Infinity, () => false), null);
  assert.deepEqual(tree.knn([1, 1], 3, 0.01, () => true), tree.knn([1, 1], 3, 0.01));
  tree.free();
});

test("filters that are none, that throw, and that free the tree", () => {
  const tree = new PointTree(points("uniform", 100, 2));
  for (const filter of [null, 3, "id", {}]) {
    throws(() => tree.knn([0, 0], 1, 1, filter), "ARGUMENT", /^filter: is not a function/);
    throws(() => tree.nearest([0, 0], 1, filter), "ARGUMENT", /^filter: is not a function/);
    throws(() => tree.within([0, 0], 1, filter), "ARGUMENT", /^filter: is not a function/);
  }
  assert.throws(() => tree.knn([0, 0], 1, 1, () => { throw new RangeError("mine"); }), /mine/);
  assert.equal(tree.nearest([0, 0]).id, tree.nearest([0, 0], Infinity, () => true).id);
  assert.throws(() => tree.knn([0, 0], 5, Infinity, () => (tree.free(), false)), { status: "FREED" });
  assert.equal(new PointTree([]).nearest([0, 0], Infinity, () => true), null);
});

// Along a great circle, by vectors: right near and far.
function metres(a, b) {
  const [u, v] = [a, b].map(([lon, lat]) => [lon, lat].map((x) => (x * Math.PI) / 180)).map(([lon, lat]) =>
    [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)]);
  const cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  return earthRadius * Math.atan2(Math.hypot(...cross), u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
}

test("places: distances along great circles, anywhere", () => {
  const next = random(7);
  const places = Array.from({ length: 2000 }, () => [next() * 360 - 180, (Math.asin(2 * next() - 1) * 180) / Math.PI]);
  places.push([12, 90], [-40, 90], [3, -90], [180, 10], [-180, 10]);
  const tree = new PlaceTree(places);
  assert.equal(tree.count, places.length);
  for (const query of [[0, 0], [180, 10], [-180, 10], [540, 10], [0, 90], [77, -90], [13.4, 52.5], [-179.99, -0.01]]) {
    const far = places.map((place, id) => ({ id, distance: metres(query, place) })).sort((a, b) => a.distance - b.distance);
    const found = tree.knn(query, 20);
    found.forEach(({ id, distance }, i) => {
      assert.ok(Math.abs(distance - far[i].distance) < 1e-6 * (1 + distance), `${distance} ${far[i].distance}`);
      assert.ok(Math.abs(distance - metres(query, places[id])) < 1e-6 * (1 + distance));
    });
    const limit = (far[30].distance + far[31].distance) / 2;
    assert.deepEqual(tree.within(query, limit).sort(), far.slice(0, 31).map(({ id }) => id).sort());
    assert.equal(tree.within(query, Infinity).length, places.length);
    assert.equal(tree.knn(query, 100, limit).length, 31);
    assert.equal(tree.nearest(query, Infinity, (id) => id === 5).id, 5);
    assert.ok(Math.abs(tree.knn(query, places.length).at(-1).distance - far.at(-1).distance) < 0.2);
  }
  assert.equal(tree.nearest([77, 89.99], 1), null);
  assert.equal(tree.nearest([180, 10], 0).id, places.length - 2);
  tree.free();
  assert.throws(() => tree.nearest([0, 0]), { status: "FREED" });
});

test("places of things, and places that are none", () => {
  const cities = [{ lon: 7.45, lat: 46.95 }, { lon: 8.93, lat: 44.41 }];
  assert.equal(PlaceTree.from(cities, ({ lon, lat }) => [lon, lat]).nearest([9, 44]).id, 1);
  assert.equal(PlaceTree.from(cities, (city) => city.lon, (city) => city.lat).nearest([7, 47]).id, 0);
  assert.equal(new PlaceTree([]).nearest([0, 0]), null);
  throws(() => new PlaceTree([0, 90.5]), "ARGUMENT", /latitude of place 0 is 90.5/);
  throws(() => new PlaceTree([0, NaN]), "NOT_FINITE", /places/);
  throws(() => new PlaceTree([Infinity, 0]), "NOT_FINITE", /places/);
  throws(() => new PlaceTree([1, 2, 3]), "ARGUMENT", /pairs/);
  throws(() => new PlaceTree([[1, 2, 3]]), "ARGUMENT", /pairs/);
  throws(() => new PlaceTree([0, 0], { dims: 3 }), "ARGUMENT", /no such option/);
  throws(() => PlaceTree.from(cities), "ARGUMENT", /get/);
  throws(() => PlaceTree.from(cities, () => [1, 2, 3]), "ARGUMENT", /has 3 numbers/);
  throws(() => PlaceTree.from(3, () => [1, 2]), "ARGUMENT", /iterable/);
  const tree = new PlaceTree([0, 0]);
  for (const place of [[0], [0, 0, 0], 3, null, undefined]) throws(() => tree.nearest(place), "ARGUMENT", /^place: /);
  throws(() => tree.nearest([0, -91]), "ARGUMENT", /latitude is -91/);
  throws(() => tree.nearest([NaN, 0]), "NOT_FINITE", /place/);
  throws(() => tree.nearest([0, 0], -1), "ARGUMENT", /radius/);
  throws(() => tree.knn([0, 0], 0), "ARGUMENT", /^k: /);
});
