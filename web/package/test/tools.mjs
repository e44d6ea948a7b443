// What the tests of the package share: the package itself, random numbers, families of points, brute force.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

/** The folder of the built package (build.mjs). */
export const folder = process.env.SAPWOOD_PACKAGE ?? fileURLToPath(new URL("../../../build/web/npm", import.meta.url));
export const sapwood = createRequire(import.meta.url)(folder);
const { SapwoodError } = sapwood;

/** Numbers from 0 to 1 that are the same in every run (Mulberry32, Tommy Ettinger). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Points that trees find easy or hard, as plain arrays of numbers. */
export const families = {
  uniform: (next) => next(),
  clusters: (next) => Math.floor(next() * 4) + next() ** 9 / 50,
  lattice: (next) => Math.floor(next() * 8),
  equal: () => 0.25,
  far: (next) => 1e7 + next(),
  duplicates: (next) => (next() < 0.5 ? 0.5 : next()),
};
export function points(family, count, dims, seed = 1) {
  const next = random(seed);
  return Array.from({ length: count * dims }, () => families[family](next));
}

/** All distances from a query, nearest first: rounded as the tree's precision rounds, ties by id. */
export function ranked(coords, dims, query, type) {
  const round = type === Float32Array ? Math.fround : (x) => x;
  const found = [];
  for (let id = 0; id * dims < coords.length; id++) {
    let distance2 = 0;
    for (let a = 0; a < dims; a++) {
      const d = round(query[a] - coords[id * dims + a]);
      distance2 = round(distance2 + round(d * d));
    }
    found.push({ id, distance2, distance: round(Math.sqrt(distance2)) });
  }
  return found.sort((a, b) => a.distance2 - b.distance2 || a.id - b.id);
}

/** That a call throws a SapwoodError of a status, with a message that matches. */
export function throws(call, status, message) {
  assert.throws(call, (error) => {
    assert.ok(error instanceof SapwoodError && error instanceof Error, `${error?.stack}`);
    assert.equal(error.status, status, error.message);
    assert.equal(error.name, "SapwoodError");
    assert.match(error.message, message);
    return true;
  });
}

/** A sphere of radius 1: an octahedron whose triangles are divided by four, `levels` times. */
export function sphere(levels) {
  const vertices = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
  let triangles = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
  const between = new Map();
  const middle = (a, b) => {
    const key = Math.min(a, b) * 1e6 + Math.max(a, b);
    if (!between.has(key)) {
      const sum = vertices[a].map((x, i) => x + vertices[b][i]);
      const length = Math.hypot(...sum);
      between.set(key, vertices.push(sum.map((x) => x / length)) - 1);
    }
    return between.get(key);
  };
  for (let level = 0; level < levels; level++)
    triangles = triangles.flatMap(([a, b, c]) => {
      const [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
      return [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
    });
  return { vertices: Float32Array.from(vertices.flat()), triangles: Uint32Array.from(triangles.flat()) };
}
