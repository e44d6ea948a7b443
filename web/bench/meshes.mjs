// Meshes for rays: those of PLY files (binary, little endian, vertices of floats first), or one made here.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

export const meshes = (paths) => (paths.length ? paths.map(read) : [knot()]);

function read(path) {
  const bytes = readFileSync(path);
  const headerEnd = bytes.indexOf('end_header\n') + 11;
  const header = bytes.toString('latin1', 0, headerEnd);
  const count = (element) => Number(new RegExp(`element ${element} (\\d+)`).exec(header)?.[1]);
  const [vertexCount, faceCount] = [count('vertex'), count('face')];
  const plain = /^ply\s+format binary_little_endian 1\.0\s/.test(header) && vertexCount && faceCount &&
    /vertex \d+\s+(property float \w\s+){3}element face \d+\s+property list uchar u?int/.test(header);
  if (!plain) throw new Error(`${path}: not a binary PLY of vertices x, y, z as floats and of faces`);
  const vertices = Float32Array.from({ length: 3 * vertexCount }, (_, i) => bytes.readFloatLE(headerEnd + 4 * i));
  const triangles = [];
  for (let face = 0, at = headerEnd + 12 * vertexCount; face < faceCount; face++) {
    const corners = bytes[at], corner = (i) => bytes.readInt32LE(at + 1 + 4 * i);
    for (let i = 2; i < corners; i++) triangles.push(corner(0), corner(i - 1), corner(i));
    at += 1 + 4 * corners;
  }
  return { name: basename(path, '.ply'), vertices, triangles: Uint32Array.from(triangles) };
}

// A knot on a torus, 160,000 triangles.
function knot() {
  const [around, along] = [100, 800];
  const vertices = [], triangles = [];
  const middle = (t) => [(2 + Math.cos(3 * t)) * Math.cos(2 * t), (2 + Math.cos(3 * t)) * Math.sin(2 * t), Math.sin(3 * t)];
  for (let i = 0; i < along; i++) {
    const t = (2 * Math.PI * i) / along, here = middle(t), ahead = middle(t + 1e-3);
    const length = Math.hypot(...here.map((x, a) => ahead[a] - x));
    const forward = here.map((x, a) => (ahead[a] - x) / length);
    const sideLength = Math.hypot(forward[1], forward[0]);
    const side = [-forward[1] / sideLength, forward[0] / sideLength, 0];
    const up = [forward[1] * side[2] - forward[2] * side[1], forward[2] * side[0] - forward[0] * side[2],
      forward[0] * side[1] - forward[1] * side[0]];
    for (let j = 0; j < around; j++) {
      const angle = (2 * Math.PI * j) / around, [c, s] = [0.4 * Math.cos(angle), 0.4 * Math.sin(angle)];
      vertices.push(...here.map((x, a) => x + c * side[a] + s * up[a]));
      const corner = (di, dj) => ((i + di) % along) * around + ((j + dj) % around);
      triangles.push(corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 0), corner(1, 1), corner(0, 1));
    }
  }
  return { name: 'knot', vertices: Float32Array.from(vertices), triangles: Uint32Array.from(triangles) };
}
