// Compaction and surfaces of volumes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, sapwood } from "./tools.mjs";
const { allocate, compact, marchingCubes, MeshTree } = sapwood;

test("compaction of every type of array, any width", () => {
  const next = random(1);
  const types = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];
  for (const type of types)
    for (const width of [1, 2, 3, 5])
      for (const count of [0, 1, 33, 5000]) {
        const items = type.from({ length: count * width }, () => 200 * next() - 50);
        const before = items.slice();
        const keep = Uint8Array.from({ length: count }, () => (next() < 0.3 ? 1 + 200 * next() : 0));
        const expected = type.from([...items].filter((_, i) => keep[Math.floor(i / width)]));
        assert.deepEqual(compact(items, keep, width), expected);
        assert.deepEqual(compact(items, Array.from(keep, Boolean), width), expected);
        assert.deepEqual(items, before);
      }
});

test("compaction of arrays in the module's memory leaves them as they are", () => {
  const items = allocate(Int32Array, 100);
  const keep = allocate(Uint8Array, 100);
  items.array.forEach((_, i, array) => (array[i] = i));
  keep.array.forEach((_, i, array) => (array[i] = i % 3 === 0));
  const expected = Int32Array.from({ length: 34 }, (_, i) => 3 * i);
  assert.deepEqual(compact(items, keep), expected);
  assert.deepEqual(compact(items.array, keep.array), expected);
  assert.equal(items.array[99], 99);
  items.free();
  keep.free();
});

// Distances from the middle of a cube of n samples a side, scaled.
function ball(type, n, scale) {
  const middle = (n - 1) / 2;
  return type.from({ length: n ** 3 }, (_, i) => scale * Math.hypot((i % n) - middle, (Math.floor(i / n) % n) - middle, Math.floor(i / n ** 2) - middle));
}

test("the surface of a ball, of every type of volume", () => {
  const n = 24;
  for (const type of [Float32Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array]) {
    const { vertices, normals, triangles } = marchingCubes(ball(type, n, 10), {
      size: [n, n, n], level: 80.5, lowInside: true, spacing: 2, origin: [1, 0, 0],
    });
    assert.ok(vertices instanceof Float32Array && normals instanceof Float32Array && triangles instanceof Uint32Array);
    assert.equal(normals.length, vertices.length);
    assert.ok(triangles.length > 1000);
    for (let i = 0; i < vertices.length; i += 3) {
      const from = [vertices[i] - n, vertices[i + 1] - n + 1, vertices[i + 2] - n + 1]; // 1 + 23, 23, 23: the middle
      const radius = Math.hypot(...from);
      assert.ok(Math.abs(radius - 16.1) < 0.3, `${radius}`);
      assert.ok(from.reduce((sum, x, a) => sum + x * normals[i + a], 0) / radius > 0.95);
    }
    closed(triangles);
    const tree = new MeshTree(vertices, triangles);
    assert.equal(tree.inside([n, n - 1, n - 1]), true);
    assert.equal(tree.inside([0, 0, 0]), false);
    tree.free();
  }
});

// That each side of a triangle is that of another, the other way round.
function closed(triangles) {
  const sides = new Set();
  for (let i = 0; i < triangles.length; i += 3)
    for (let j = 0; j < 3; j++) {
      const side = `${triangles[i + j]} ${triangles[i + ((j + 1) % 3)]}`;
      assert.ok(!sides.has(side));
      sides.add(side);
    }
  for (const side of sides) assert.ok(sides.has(side.split(" ").reverse().join(" ")));
}

test("high or low values inside, empty volumes, a volume in the module's memory", () => {
  const n = 8;
  const values = ball(Float32Array, n, 1);
  const low = marchingCubes(values, { size: [n, n, n], level: 2.5, lowInside: true });
  const high = marchingCubes(values, { size: [n, n, n], level: 2.5 });
  assert.deepEqual(high.vertices, low.vertices);
  assert.deepEqual(high.normals, low.normals.map((x) => -x));
  const given = allocate(Float32Array, n ** 3);
  given.array.set(values);
  assert.deepEqual(marchingCubes(given, { size: Int32Array.of(n, n, n), level: 2.5 }), high);
  given.free();
  for (const size of [[0, 0, 0], [1, 9, 1], [2, 0, 7]]) {
    const { vertices, triangles } = marchingCubes(new Uint8Array(size[0] * size[1] * size[2]), { size, level: 0.5 });
    assert.equal(vertices.length + triangles.length, 0);
  }
});
