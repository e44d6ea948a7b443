// Rays and nearest points on meshes, beside brute force, and what the API adds to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, sapwood, sphere } from "./tools.mjs";
const { allocate, MeshTree } = sapwood;

const subtract = (a, b) => a.map((x, i) => x - b[i]);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

// All hits of a ray in double precision (Moeller and Trumbore 1997), nearest first.
function hits(mesh, origin, direction) {
  const corner = (i, j) => [...mesh.vertices.subarray(3 * mesh.triangles[3 * i + j], 3 * mesh.triangles[3 * i + j] + 3)];
  const found = [];
  for (let triangle = 0; triangle < mesh.triangles.length / 3; triangle++) {
    const a = corner(triangle, 0);
    const [ab, ac] = [subtract(corner(triangle, 1), a), subtract(corner(triangle, 2), a)];
    const p = cross(direction, ac);
    const from = subtract(origin, a);
    const q = cross(from, ab);
    const scale = 1 / dot(ab, p);
    const [u, v, t] = [dot(from, p) * scale, dot(direction, q) * scale, dot(ac, q) * scale];
    if (u >= 0 && v >= 0 && u + v <= 1 && t >= 0) found.push({ t, u, v, triangle });
  }
  return found.sort((a, b) => a.t - b.t);
}

function rays(count) {
  const next = random(7);
  const around = (size) => size * (2 * next() - 1);
  const ray = () => [around(1.5), around(1.5), around(1.5), 0, around(1), around(1), around(1), Infinity];
  return Float32Array.from(Array.from({ length: count }, ray).flat());
}

const mesh = sphere(3);
const batch = rays(300);
const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-4 * (1 + Math.abs(b)), `${a} is not ${b}`);

for (const quality of ["high", "fast"])
  test(`rays, ${quality}: first hits, all hits, shadows, one and many`, () => {
    const tree = new MeshTree(mesh.vertices, mesh.triangles, { quality });
    assert.equal(tree.count, 512);
    const first = tree.trace(batch);
    const occluded = tree.occluded(batch);
    const all = tree.traceAll(batch, 3);
    let some = 0;
    for (let i = 0; i < batch.length / 8; i++) {
      const origin = [...batch.subarray(8 * i, 8 * i + 3)];
      const direction = [...batch.subarray(8 * i + 4, 8 * i + 7)];
      const expected = hits(mesh, origin, direction);
      const hit = tree.trace(origin, direction);
      assert.equal(first.triangles[i], expected[0]?.triangle ?? -1);
      assert.equal(occluded[i], +(expected.length > 0));
      assert.equal(tree.occluded(origin, direction), expected.length > 0);
      assert.equal(all.counts[i], expected.length);
      assert.deepEqual(hit, expected.length ? { t: first.t[i], u: first.u[i], v: first.v[i], triangle: first.triangles[i] } : null);
      assert.deepEqual(tree.traceAll(origin, direction).map(({ triangle }) => triangle), expected.map(({ triangle }) => triangle));
      assert.deepEqual([...all.triangles.subarray(3 * i, 3 * i + expected.length)], expected.map(({ triangle }) => triangle));
      if (!hit) {
        assert.equal(first.t[i], Infinity);
        continue;
      }
      some++;
      near(hit.t, expected[0].t);
      near(hit.u, expected[0].u);
      near(hit.v, expected[0].v);
      assert.equal(tree.trace(origin, direction, hit.t * 1.001)?.triangle, expected[1]?.triangle);
      assert.equal(tree.trace(origin, direction, 0, hit.t * 0.999), null);
      assert.equal(tree.occluded(origin, direction, 0, hit.t * 0.999), false);
    }
    assert.ok(some > 50);
    tree.free();
  });

test("hundreds of hits of one ray", () => {
  const layers = Array.from({ length: 300 }, (_, z) => [0, 0, z, 4, 0, z, 0, 4, z]).flat();
  const tree = new MeshTree(layers);
  const numbers = (hits) => hits.map(({ triangle }) => triangle);
  assert.deepEqual(numbers(tree.traceAll([1, 1, -1], [0, 0, 1])), Array.from({ length: 300 }, (_, z) => z));
  assert.deepEqual(numbers(tree.traceAll([1, 1, -1], [0, 0, 1], { limit: 2 })), [0, 1]);
  assert.deepEqual(numbers(tree.traceAll([1, 1, -1], [0, 0, 1], { tMin: 290.5, tMax: 293 })), [290, 291, 292]);
  tree.free();
});

for (const quality of ["high", "fast"]) test(`nearest points, inside and outside, ${quality}`, () => {
  const tree = new MeshTree(mesh.vertices, mesh.triangles, { quality });
  const next = random(3);
  const places = Float32Array.from({ length: 600 }, () => 3 * next() - 1.5);
  const { points, distances, triangles } = tree.closestPoints(places);
  const squared = tree.closestPoints(places, { squared: true });
  const inside = tree.insideAll(places);
  for (let i = 0; i < 200; i++) {
    const place = [...places.subarray(3 * i, 3 * i + 3)];
    const radius = Math.hypot(...place);
    if (Math.abs(radius - 1) > 0.03) assert.equal(inside[i], +(radius < 1));
    assert.ok(Math.abs(distances[i] - Math.abs(radius - 1)) < 0.03);
    near(Math.hypot(...subtract([...points.subarray(3 * i, 3 * i + 3)], place)), distances[i]);
    assert.equal(distances[i], Math.fround(Math.sqrt(squared.distances[i])));
    assert.deepEqual(tree.closestPoint(place), { point: [...points.subarray(3 * i, 3 * i + 3)], distance: distances[i], triangle: triangles[i] });
    assert.equal(tree.inside(place), inside[i] === 1);
  }
  tree.free();
});

test("a fast tree has fewer, larger leaves than the best one, and answers as it does", () => {
  const large = sphere(6);
  const [best, fast] = ["high", "fast"].map((quality) => new MeshTree(large.vertices, large.triangles, { quality }));
  assert.ok(fast.bytes < best.bytes);
  assert.deepEqual(fast.trace(batch), best.trace(batch));
  const places = batch.subarray(0, 3 * 700);
  assert.deepEqual(fast.closestPoints(places), best.closestPoints(places));
  const none = best.closestPoints([NaN, 0, 0]);
  assert.deepEqual([none.triangles[0], none.distances[0]], [-1, Infinity]);
  assert.throws(() => best.closestPoint([NaN, 0, 0]), { status: "NOT_FINITE" });
  best.free();
  assert.throws(() => best.closestPoint([0, 0, 0]), { status: "FREED" });
  fast.rebuild(large.vertices, large.triangles);
  assert.deepEqual(fast.closestPoint([0, 0, 2]), { point: [0, 0, 1], distance: 1, triangle: fast.closestPoints([0, 0, 2]).triangles[0] });
  fast.free();
});

test("an empty mesh, and rays that are nowhere", () => {
  for (const tree of [new MeshTree([], []), new MeshTree([]), new MeshTree([1, 2, 3], new Uint16Array())]) {
    assert.equal(tree.count, 0);
    assert.equal(tree.trace([0, 0, 0], [0, 0, 1]), null);
    assert.equal(tree.closestPoint([0, 0, 0]), null);
    assert.deepEqual([...tree.closestPoints([0, 0, 0]).triangles], [-1]);
    assert.deepEqual(tree.traceAll([0, 0, 0], [0, 0, 1]), []);
    tree.free();
  }
  const tree = new MeshTree(mesh.vertices, mesh.triangles);
  assert.deepEqual([...tree.trace([[NaN, 0, 0, 0, 0, 0, 1, 9]]).triangles], [-1]);
  assert.equal(tree.trace([0, 0, 0], [0, 0, 0]), null);
  assert.equal(tree.trace([0, 0, 0], [0, 0, 1], 5, 1), null);
  assert.equal(tree.trace([]).triangles.length, 0);
  assert.equal(tree.traceAll([], 4).counts.length, 0);
  tree.free();
});

test("triangles of every type of array, and of none", () => {
  const loose = Float32Array.from([...mesh.triangles].flatMap((i) => [...mesh.vertices.subarray(3 * i, 3 * i + 3)]));
  const expected = new MeshTree(mesh.vertices, mesh.triangles).trace(batch);
  for (const triangles of [Uint16Array.from(mesh.triangles), Int32Array.from(mesh.triangles), Array.from(mesh.triangles)])
    assert.deepEqual(new MeshTree(mesh.vertices, triangles).trace(batch), expected);
  for (const none of [undefined, null]) assert.deepEqual(new MeshTree(loose, none).trace(batch), expected);
  assert.deepEqual(new MeshTree(Array.from(mesh.vertices), mesh.triangles).trace(Array.from(batch)), expected);
});

test("saved, loaded, rebuilt; answers into the caller's arrays", () => {
  const tree = new MeshTree(mesh.vertices, mesh.triangles);
  const expected = tree.trace(batch);
  const bytes = tree.save();
  const loaded = MeshTree.load(bytes);
  assert.deepEqual(loaded.trace(batch), expected);
  assert.deepEqual(loaded.save(), bytes);
  assert.deepEqual(loaded.bounds, { lower: [-1, -1, -1], upper: [1, 1, 1] });
  loaded.free();
  tree.rebuild(mesh.vertices.map((x) => 2 * x), mesh.triangles);
  assert.deepEqual(tree.bounds.upper, [2, 2, 2]);
  tree.rebuild(mesh.vertices, mesh.triangles);
  const given = allocate(Float32Array, batch.length);
  given.array.set(batch);
  const out = { t: allocate(Float32Array, 300), triangles: new Int32Array(300) };
  const result = tree.trace(given, { out });
  assert.equal(result.triangles, out.triangles);
  assert.equal(result.t.buffer, out.t.array.buffer);
  assert.deepEqual({ ...result, t: result.t.slice() }, expected);
  const shadows = new Uint8Array(300);
  assert.equal(tree.occluded(given, { out: shadows }), shadows);
  for (const made of [given, out.t, tree]) made.free();
});
