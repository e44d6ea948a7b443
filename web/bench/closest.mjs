// Nearest points on a mesh, beside three-mesh-bvh's closestPointToPoint with the better of its trees for that.
import { Vector3 } from 'three';
import { SAH } from 'three-mesh-bvh';
import { MeshTree } from '../../build/web/npm/node.js';
import { check, compare, uniform } from './measure.mjs';
import { bounds, bvhOf } from './rays.mjs';

const count = 2e4;

// Places anywhere in the box, or no farther from some vertex than a hundredth of the box's sides.
function placesOf({ vertices }, near) {
  const [lower, upper] = bounds(vertices), random = uniform(3 * count, 5);
  return Float32Array.from({ length: 3 * count }, (_, i) => {
    const a = i % 3, first = i - a, side = upper[a] - lower[a];
    if (!near) return lower[a] + random[i] * side;
    const vertex = Math.floor(random[first] * (vertices.length / 3));
    return vertices[3 * vertex + a] + (random[first + ((a + 1) % 3)] - 0.5) * 0.02 * side;
  });
}

export function nearestPoints(mesh) {
  const tree = new MeshTree(mesh.vertices, mesh.triangles), bvh = bvhOf(mesh, SAH);
  const place = new Vector3(), found = {};
  for (const [kind, places] of [['in the box', placesOf(mesh, false)], ['near it', placesOf(mesh, true)]]) {
    const each = (work) => {
      for (let i = 0; i < count; i++) work(places[3 * i], places[3 * i + 1], places[3 * i + 2], i);
    };
    const theirs = (x, y, z) => bvh.closestPointToPoint(place.set(x, y, z), found).distance;
    const { distances } = tree.closestPoints(places);
    each((x, y, z, i) => check(Math.abs(theirs(x, y, z) - distances[i]) < 1e-5 * (1 + distances[i]), 'a nearest point'));
    const rival = { rival: 'three-mesh-bvh closestPointToPoint', theirs: { work: () => each(theirs), pieces: count } };
    compare({
      name: `${mesh.name}: nearest points, ${kind}, 20K in a call`, ...rival, least: 3,
      ours: { work: () => tree.closestPoints(places), pieces: count },
    });
    compare({
      name: `${mesh.name}: nearest points, ${kind}, a call for each`, ...rival, least: 3,
      ours: { work: () => each((x, y, z) => tree.closestPoint([x, y, z])), pieces: count },
    });
  }
  tree.free();
}
