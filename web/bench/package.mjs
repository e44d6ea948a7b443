// The npm package beside what web developers use today, in one thread of node: node web/bench/package.mjs [MESH.ply …]
import Flatbush from 'flatbush';
import KDBush from 'kdbush';
import { load, PointTree } from '../../build/web/npm/node.js';
import { nearestPoints } from './closest.mjs';
import { check, compare, uniform, write } from './measure.mjs';
import { meshes } from './meshes.mjs';
import { buildTrees, traceRays } from './rays.mjs';
import { extractSphere } from './surface.mjs';

const points = 1e6, queries = 1e6;
const few = 1e5; // for what is slow
const coords = uniform(2 * points, 1), asked = uniform(2 * queries, 2);

await load();
console.log(`node ${process.version}, one thread; ${process.arch}`);

// ---- Trees

function kdbush() {
  const index = new KDBush(points, 64, Float32Array);
  for (let i = 0; i < points; i++) index.add(coords[2 * i], coords[2 * i + 1]);
  return index.finish();
}
compare({
  name: '1M points in the plane: build', rival: 'kdbush', unit: 'ms', least: 3,
  ours: { work: () => new PointTree(coords, { dims: 2 }).free() }, theirs: { work: kdbush },
});

const tree = new PointTree(coords, { dims: 2 }), index = kdbush();
const boxes = new Flatbush(points, 16, Float32Array);
for (let i = 0; i < points; i++) boxes.add(coords[2 * i], coords[2 * i + 1]);
boxes.finish();

// ---- The nearest point. kdbush tells what is within a radius: one in which about three points lie, doubled as long as
// there are none.

const distance2 = (i, x, y) => (coords[2 * i] - x) ** 2 + (coords[2 * i + 1] - y) ** 2;
function nearestOfKdbush(x, y) {
  let radius = Math.sqrt(3 / Math.PI / points), found;
  while (!(found = index.within(x, y, radius)).length) radius *= 2;
  return found.reduce((best, i) => (distance2(i, x, y) < distance2(best, x, y) ? i : best));
}
function each(count, work) {
  for (let i = 0; i < count; i++) work(asked[2 * i], asked[2 * i + 1], i);
}

const all = tree.nearestAll(asked);
each(few, (x, y, i) => {
  const [a, b] = [all.ids[i], nearestOfKdbush(x, y)];
  check(a === b || Math.abs(distance2(a, x, y) - distance2(b, x, y)) < 1e-12, 'a nearest point');
});

const kdbushNearest = { work: () => each(few, nearestOfKdbush), pieces: few };
compare({
  name: 'nearest, 1M random queries in a call', rival: 'kdbush within, then the minimum', least: 4,
  ours: { work: () => tree.nearestAll(asked), pieces: queries }, theirs: kdbushNearest,
});
compare({
  name: 'nearest, 1M random queries in a call', rival: 'flatbush neighbors', least: 15,
  ours: { work: () => tree.nearestAll(asked), pieces: queries },
  theirs: { work: () => each(few / 5, (x, y) => boxes.neighbors(x, y, 1)), pieces: few / 5 },
});
compare({
  name: 'nearest, a call for each', rival: 'kdbush within, then the minimum',
  ours: { work: () => each(few, (x, y) => tree.nearest(x, y)), pieces: few }, theirs: kdbushNearest,
});

// ---- With a period on each axis, beside the same points without

const closed = new PointTree(coords, { dims: 2, period: 1 });
compare({
  name: 'nearest with periods, 1M queries in a call', rival: 'without', least: 0.8,
  ours: { work: () => closed.nearestAll(asked), pieces: queries }, theirs: { work: () => tree.nearestAll(asked), pieces: queries },
});
closed.free();

// ---- Within a radius

const several = asked.subarray(0, 2 * few);
for (const hits of [19, 30]) {
  const radius = Math.sqrt(hits / Math.PI / points);
  const total = tree.withinAll(several, radius).ids.length;
  let kdbushTotal = 0;
  each(few, (x, y) => (kdbushTotal += index.within(x, y, radius).length));
  check(Math.abs(total - kdbushTotal) <= 1e-5 * total, 'what is within the radius'); // on its rim roundings differ
  const kdbushWithin = { work: () => each(few, (x, y) => index.within(x, y, radius)), pieces: few };
  compare({
    name: `within, ${hits} hits, 100K queries in a call`, rival: 'kdbush within', least: 2,
    ours: { work: () => tree.withinAll(several, radius), pieces: few }, theirs: kdbushWithin,
  });
  compare({
    name: `within, ${hits} hits, a call for each`, rival: 'kdbush within', least: 1.2,
    ours: { work: () => each(few, (x, y) => tree.within(x, y, radius)), pieces: few }, theirs: kdbushWithin,
  });
}

// ---- In boxes: 30 hits

const half = Math.sqrt(30 / points) / 2;
const lower = several.map((x) => x - half), upper = several.map((x) => x + half);
const kdbushRange = {
  work: () => {
    for (let i = 0; i < 2 * few; i += 2) index.range(lower[i], lower[i + 1], upper[i], upper[i + 1]);
  },
  pieces: few,
};
let kdbushInBoxes = 0;
for (let i = 0; i < 2 * few; i += 2) kdbushInBoxes += index.range(lower[i], lower[i + 1], upper[i], upper[i + 1]).length;
check(tree.rangeAll(lower, upper).ids.length === kdbushInBoxes, 'what is in the boxes');
compare({
  name: 'range, 30 hits, 100K boxes in a call', rival: 'kdbush range', least: 3,
  ours: { work: () => tree.rangeAll(lower, upper), pieces: few }, theirs: kdbushRange,
});
compare({
  name: 'range, 30 hits, a call for each', rival: 'kdbush range',
  ours: {
    work: () => {
      for (let i = 0; i < 2 * few; i += 2) tree.range(lower[i], lower[i + 1], upper[i], upper[i + 1]);
    },
    pieces: few,
  },
  theirs: kdbushRange,
});

for (const mesh of meshes(process.argv.slice(2))) {
  buildTrees(mesh);
  traceRays(mesh);
  nearestPoints(mesh);
}
extractSphere();
write('build/bench/web.csv');
