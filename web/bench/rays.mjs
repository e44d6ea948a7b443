// First hits of rays, beside three-mesh-bvh with its own best settings: a SAH tree, one ray of three.js at a time.
import { BufferAttribute, BufferGeometry, DoubleSide, Ray } from 'three';
import { CENTER, MeshBVH, SAH } from 'three-mesh-bvh';
import { MeshTree } from '../../build/web/npm/node.js';
import { check, compare, uniform } from './measure.mjs';

const side = 512; // of a picture

export function bounds(vertices) {
  const [lower, upper] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  for (let i = 0; i < vertices.length; i++) {
    lower[i % 3] = Math.min(lower[i % 3], vertices[i]);
    upper[i % 3] = Math.max(upper[i % 3], vertices[i]);
  }
  return [lower, upper];
}

// Rays as numbers: origin, t_min, direction, t_max. Those of a camera, row by row, from within the upper part of the
// box to its middle, or scattered: from anywhere in the box to anywhere in it.
function cameraRays([lower, upper]) {
  const rays = new Float32Array(8 * side * side);
  const at = (shares) => lower.map((x, a) => x + shares[a] * (upper[a] - x));
  const [eye, target] = [at([0.85, 0.7, 0.8]), at([0.4, 0.35, 0.4])];
  const unit = (v) => v.map((x) => x / Math.hypot(...v));
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const forward = unit(target.map((x, a) => x - eye[a])), right = unit(cross(forward, [0, 1, 0])), up = cross(right, forward);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const [u, v] = [((2 * x + 1) / side - 1) * 0.6, (1 - (2 * y + 1) / side) * 0.6];
      rays.set([...eye, 0, ...unit(forward.map((f, a) => f + u * right[a] + v * up[a])), Infinity], 8 * (y * side + x));
    }
  return rays;
}
function scatteredRays([lower, upper]) {
  const random = uniform(6 * side * side, 3), rays = new Float32Array(8 * side * side);
  for (let i = 0; i < side * side; i++) {
    const place = (from) => lower.map((x, a) => x + random[6 * i + from + a] * (upper[a] - x));
    const origin = place(0), toward = place(3).map((x, a) => x - origin[a]), length = Math.hypot(...toward);
    rays.set([...origin, 0, ...toward.map((x) => x / length), Infinity], 8 * i);
  }
  return rays;
}

// Its tree over a mesh, by one of its strategies.
export function bvhOf({ vertices, triangles }, strategy) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(vertices, 3));
  geometry.setIndex(new BufferAttribute(triangles.slice(), 1)); // which it sorts
  return new MeshBVH(geometry, { strategy });
}

export function buildTrees(mesh) {
  const { name, vertices, triangles } = mesh;
  compare({
    name: `${name}: build`, rival: 'three-mesh-bvh SAH', unit: 'ms',
    ours: { work: () => new MeshTree(vertices, triangles).free() }, theirs: { work: () => bvhOf(mesh, SAH) },
  });
  compare({
    name: `${name}: fast build`, rival: 'three-mesh-bvh CENTER', unit: 'ms', least: 1,
    ours: { work: () => new MeshTree(vertices, triangles, { quality: 'fast' }).free() },
    theirs: { work: () => bvhOf(mesh, CENTER) },
  });
}

export function traceRays(mesh) {
  const { name, vertices, triangles } = mesh;
  const tree = new MeshTree(vertices, triangles), bvh = bvhOf(mesh, SAH);
  const box = bounds(vertices);
  for (const [kind, rays] of [['a picture', cameraRays(box)], ['scattered', scatteredRays(box)]]) {
    const count = rays.length / 8, ray = new Ray(), theirs = new Float32Array(count);
    const castAll = () => {
      for (let i = 0; i < count; i++) {
        ray.origin.fromArray(rays, 8 * i);
        ray.direction.fromArray(rays, 8 * i + 4);
        theirs[i] = bvh.raycastFirst(ray, DoubleSide)?.distance ?? Infinity;
      }
    };
    castAll();
    const { t } = tree.trace(rays);
    const same = theirs.reduce((n, d, i) => n + (d === t[i] || Math.abs(d - t[i]) < 1e-4 * (1 + d)), 0);
    check(same > 0.999 * count, `first hits: ${count - same} of ${count} differ`); // it is not watertight, and rounds otherwise
    compare({
      name: `${name}: first hits, ${kind}, 262K rays`, rival: 'three-mesh-bvh raycastFirst', least: 6,
      ours: { work: () => tree.trace(rays), pieces: count }, theirs: { work: castAll, pieces: count },
    });
  }
  tree.free();
}
