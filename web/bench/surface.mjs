// Marching cubes, beside three.js'.
import { MeshBasicMaterial } from 'three';
import { MarchingCubes } from 'three/addons/objects/MarchingCubes.js';
import { marchingCubes } from '../../build/web/npm/node.js';
import { check, compare } from './measure.mjs';

const size = 256;

export function extractSphere() {
  const volume = new Float32Array(size ** 3), middle = (size - 1) / 2, radius = 0.4 * size;
  for (let z = 0, i = 0; z < size; z++)
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++, i++) volume[i] = radius - Math.hypot(x - middle, y - middle, z - middle);
  const theirs = new MarchingCubes(size, new MeshBasicMaterial(), false, false, 500_000);
  theirs.isolation = 0;
  theirs.field.set(volume);
  theirs.update();
  const surface = marchingCubes(volume, { size: [size, size, size], level: 0 });
  const triangles = surface.triangles.length / 3, theirTriangles = theirs.count / 3;
  check(Math.abs(triangles - theirTriangles) < 0.01 * triangles, `triangles of the sphere: ${triangles} and ${theirTriangles}`);
  const least = 3;
  compare({
    name: `marching cubes, a sphere in 256³, ${Math.round(triangles / 1000)}K triangles`, rival: 'three.js MarchingCubes', unit: 'ms', least,
    ours: { work: () => marchingCubes(volume, { size: [size, size, size], level: 0 }) }, theirs: { work: () => theirs.update() },
  });
}
