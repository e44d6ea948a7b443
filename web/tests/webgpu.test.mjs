// The npm package's searches by WebGPU, on Chromium's adapter that needs no GPU: every answer is that of the module on the CPU.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../serve.mjs';
import { executable, launch, patience } from './browser.mjs';

const adapter = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
let site, browser, page;
let skip = executable ? false : 'chromium is missing';
before(async () => {
  if (skip) return;
  site = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)));
  browser = await launch('swiftshader', adapter);
  page = await browser.newPage();
  page.setDefaultTimeout(patience);
  await page.goto(`${site.address}package.json`); // any document of the host
  await page.addScriptTag({ type: 'module', content: common });
  await page.waitForFunction('globalThis.ready !== undefined');
  const ready = await page.evaluate('globalThis.ready');
  if (!ready) skip = 'this Chromium has no WebGPU';
});
after(async () => {
  await browser?.close();
  site?.server.close();
});

// What tests share in the page.
const common = `
import * as sapwood from '/sapwood.js';
import * as webgpu from '/webgpu.js';
await sapwood.load();
let seed = 1;
globalThis.random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
globalThis.sapwood = sapwood;
globalThis.webgpu = webgpu;
// Families of points: spread out, on a lattice with many ties, all equal, on a line.
globalThis.family = (name, count, dims) => Float32Array.from({ length: count * dims }, (_, i) => ({
  uniform: () => random() * 2 - 1,
  lattice: () => Math.floor(random() * 7),
  equal: () => 0.25,
  line: () => i % dims === 0 ? random() * 100 : 3,
})[name]());
globalThis.differ = (a, b) => {
  if (a.length !== b.length) return 'lengths ' + a.length + ' and ' + b.length;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return 'entry ' + i + ': ' + a[i] + ', not ' + b[i];
};
globalThis.refusal = async (work) => { try { await work(); } catch (error) { return error.status + ': ' + error.message; } };
globalThis.ready = !!(await navigator.gpu?.requestAdapter());
`;

function inPage(name, work) {
  test(name, async (t) => {
    if (skip) return t.skip(skip);
    assert.deepEqual(await page.evaluate(work), []);
  });
}

inPage('nearest points and points within a radius are those of the CPU', async () => {
  const wrong = [];
  for (const [count, dims, leafSize, split] of [
    [0, 2, 32, 'median'], [1, 1, 32, 'median'], [5, 3, 1, 'median'], [33, 2, 4, 'median'], [2000, 3, 32, 'median'], [1000, 2, 8, 'median'],
    [0, 3, 32, 'sliding-midpoint'], [1, 2, 1, 'sliding-midpoint'], [2000, 3, 32, 'sliding-midpoint'], [1000, 1, 5, 'sliding-midpoint'],
  ])
    for (const name of ['uniform', 'lattice', 'equal', 'line']) {
      const tree = new sapwood.PointTree(family(name, count, dims), { dims, leafSize, split, type: Float32Array });
      const gpu = await webgpu.GpuPointTree.from(tree);
      const queries = family(name, 150, dims);
      queries.set(family('uniform', 50, dims));
      queries[0] = NaN;
      queries[dims] = 1e30;
      const say = (what, found) => found && wrong.push(`${name} ${count} x ${dims}, ${split}, leaves of ${leafSize}, ${what}: ${found}`);
      for (const [k, radius] of [[1, Infinity], [7, 0.7], [30, 2]]) {
        const [here, there] = [tree.knnAll(queries, k, { radius }), await gpu.knnAll(queries, k, { radius })];
        say(`ids, k = ${k}`, differ(there.ids, here.ids));
        say(`distances, k = ${k}`, differ(there.distances, here.distances));
      }
      for (const radius of [0, 0.3, 1e20]) {
        say(`counts within ${radius}`, differ(await gpu.withinCountAll(queries, radius), tree.withinCountAll(queries, radius)));
        const [here, there] = [tree.withinAll(queries, radius, { sorted: true, squared: true }), await gpu.withinAll(queries, radius, { sorted: true, squared: true })];
        for (const part of ['offsets', 'ids', 'distances']) say(`${part} within ${radius}`, differ(there[part], here[part]));
      }
      const [here, there] = [tree.knnSelf(5), await gpu.knnSelf(5)];
      say('ids of its own', differ(there.ids, here.ids));
      say('distances of its own', differ(there.distances, here.distances));
      gpu.free();
      tree.free();
    }
  return wrong.slice(0, 5);
});

inPage('a tree built on the GPU has the bytes of one built on the CPU', async () => {
  const wrong = [];
  const build = async (what, points, options) => {
    const tree = new sapwood.PointTree(points, options);
    const gpu = await webgpu.GpuPointTree.build(points, options);
    const found = differ(await gpu.save(), tree.save());
    if (found) wrong.push(`${what}: ${found}`);
    tree.free();
    return gpu;
  };
  // Coordinates that differ in their last bits, also where shaders may take them for 0; both zeros; the largest that there may be.
  const families = {
    tiny: (count, dims) => Float32Array.from({ length: count * dims }, (_, i) => Math.floor(random() * 9 - 4) * 2 ** -149 * (i % dims + 1)),
    scales: (count, dims) => Float32Array.from({ length: count * dims }, (_, i) => (random() - 0.5) * 2 ** (Math.floor(random() * 200) - 140)),
    zeros: (count, dims) => Float32Array.from({ length: count * dims }, () => random() < 0.5 ? -0 : Math.floor(random() * 3) - 1),
    far: (count, dims) => Float32Array.from({ length: count * dims }, () => (random() < 0.5 ? -1 : 1) * 5e18),
    sorted: (count, dims) => Float32Array.from({ length: count * dims }, (_, i) => Math.floor(i / dims)),
    backwards: (count, dims) => Float32Array.from({ length: count * dims }, (_, i) => -Math.floor(i / dims / 3)),
    narrow: (count, dims) => Float32Array.from({ length: count * dims }, (_, i) => i % dims ? 1 + (i % 5) * 2 ** -23 : 2 ** -60 + (i % 7) * 2 ** -84),
  };
  for (const name of ['uniform', 'lattice', 'equal', 'line']) families[name] = (count, dims) => family(name, count, dims);
  for (const [name, points] of Object.entries(families))
    for (const [count, dims, leafSize, axis] of [
      [0, 2, 32, 'widest'], [1, 3, 32, 'widest'], [2, 2, 1, 'cycle'], [3, 2, 1, 'widest'], [5, 3, 1, 'widest'], [17, 1, 1, 'cycle'],
      [41, 2, 32, 'widest'], [500, 3, 1, 'widest'], [2049, 2, 8, 'cycle'], [3000, 3, 32, 'widest'], [6000, 2, 5, 'widest'], [999, 3, 1024, 'cycle'],
    ])
      (await build(`${name} ${count} x ${dims}, leaves of ${leafSize}, ${axis}`, points(count, dims), { dims, leafSize, axis })).free();
  return wrong.slice(0, 5);
});

inPage('a large tree is built on the GPU, many of whose points tie', async () => {
  const wrong = [];
  const count = 131100; // at leaves of 1 point, ranks are found by products of more than 32 bits
  const points = Float32Array.from({ length: 3 * count }, (_, i) => i % 3 ? Math.floor(random() * 20) : random() < 0.7 ? 1 : random());
  const tree = new sapwood.PointTree(points, { dims: 3, leafSize: 1 });
  const gpu = await webgpu.GpuPointTree.build(points, { dims: 3, leafSize: 1 });
  wrong.push(differ(await gpu.save(), tree.save()));
  return wrong.filter(Boolean);
});

inPage('what was built on the GPU is searched there, saved and loaded', async () => {
  const wrong = [];
  const points = family('uniform', 3000, 3);
  const tree = new sapwood.PointTree(points, { dims: 3 });
  const { device } = await webgpu.GpuPointTree.from(tree);
  const there = device.createBuffer({ size: points.byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  device.queue.writeBuffer(there, 0, points);
  for (const given of [points, { points: there, count: 3000 }]) {
    const gpu = await webgpu.GpuPointTree.build(given, { dims: 3, device });
    const [here, found] = [tree.knnAll(points, 5), await gpu.knnAll(points, 5)];
    wrong.push(differ(found.ids, here.ids), differ(found.distances, here.distances));
    wrong.push(differ((await gpu.knnSelf(2)).ids, tree.knnSelf(2).ids));
    wrong.push(differ(sapwood.PointTree.load(await gpu.save()).nearestAll(points).ids, tree.nearestAll(points).ids));
    wrong.push(gpu.count === 3000 && gpu.dims === 3 && gpu.device === device ? undefined : 'count, dims, device');
    gpu.free();
  }
  // Other ways to give points; what was copied is saved as it was.
  const rows = [[1, 2, 3], [4, 5, 6], [1, 2, 4]];
  wrong.push(differ(await (await webgpu.GpuPointTree.build(rows, { type: Float32Array })).save(), new sapwood.PointTree(rows, { type: Float32Array }).save()));
  const bytes = Int16Array.of(1, 2, 3, 4, -5, 6);
  wrong.push(differ(await (await webgpu.GpuPointTree.build(bytes)).save(), new sapwood.PointTree(bytes).save()));
  for (const split of ['median', 'sliding-midpoint']) {
    const copied = new sapwood.PointTree(points, { dims: 3, split, dropDuplicates: true });
    wrong.push(differ(await (await webgpu.GpuPointTree.from(copied)).save(), copied.save()));
  }
  device.queue.writeBuffer(there, 4 * 7, Float32Array.of(NaN));
  const refused = await refusal(() => webgpu.GpuPointTree.build({ points: there, count: 3000 }, { dims: 3, device }));
  wrong.push(refused === 'NOT_FINITE: points: coordinate 1 of point 2 is not finite; leave such points out' ? undefined : refused);
  return wrong.filter(Boolean);
});

inPage('many neighbours, dropped duplicates, saved bytes', async () => {
  const wrong = [];
  const tree = new sapwood.PointTree(family('lattice', 2000, 3), { dims: 3, dropDuplicates: true });
  const gpu = await webgpu.GpuPointTree.from(tree.save());
  const queries = family('uniform', 40, 3);
  for (const k of [32, 33, 128]) {
    const [here, there] = [tree.knnAll(queries, k, { squared: true }), await gpu.knnAll(queries, k, { squared: true })];
    wrong.push(differ(there.ids, here.ids), differ(there.distances, here.distances));
  }
  const [here, there] = [tree.knnSelf(2), await gpu.knnSelf(2)];
  wrong.push(differ(there.ids, here.ids), differ(there.distances, here.distances));
  wrong.push(gpu.count === tree.count && gpu.dims === 3 ? undefined : 'count, dims');
  return wrong.filter(Boolean);
});

inPage('more queries than a row of workgroups holds, and on a device of the caller with small buffers', async () => {
  const wrong = [];
  const device = await (await navigator.gpu.requestAdapter()).requestDevice({ requiredLimits: { maxStorageBufferBindingSize: 1 << 20 } });
  Object.defineProperty(device, 'limits', { value: { maxStorageBufferBindingSize: 1 << 20, maxBufferSize: 1 << 20 } });
  const tree = new sapwood.PointTree(family('uniform', 200, 2));
  for (const options of [undefined, { device }]) {
    const gpu = await webgpu.GpuPointTree.from(tree, options);
    const queries = family('uniform', options ? 200000 : 2200000, 2);
    const [here, there] = [tree.nearestAll(queries), await gpu.nearestAll(queries)];
    wrong.push(differ(there.ids, here.ids), differ(there.distances, here.distances));
    const rows = await gpu.withinAll(queries.subarray(0, 40000), 0.3, { sorted: true });
    const expected = tree.withinAll(queries.subarray(0, 40000), 0.3, { sorted: true });
    for (const part of ['offsets', 'ids', 'distances']) wrong.push(differ(rows[part], expected[part]));
    gpu.free();
  }
  return wrong.filter(Boolean);
});

inPage('rays meet what they meet on the CPU', async () => {
  const wrong = [];
  const say = (what, found) => found && wrong.push(`${what}: ${found}`);
  // A grid of hills, whose edges and corners rays through whole numbers meet; a soup of triangles; few; none.
  const side = 40;
  const hills = { vertices: [], triangles: [] };
  for (let y = 0; y <= side; y++) for (let x = 0; x <= side; x++) hills.vertices.push(x, y, Math.round(3 * Math.sin(x) * Math.cos(y)));
  for (let y = 0; y < side; y++)
    for (let x = 0, a = y * (side + 1); x < side; x++, a++) hills.triangles.push(a, a + 1, a + side + 1, a + 1, a + side + 2, a + side + 1);
  const soup = Float32Array.from({ length: 9 * 3000 }, (_, i) => Math.fround(20 + 15 * random() + (i % 9 > 2 ? 2 * random() : 0)));
  const meshes = {
    hills: new sapwood.MeshTree(hills.vertices, hills.triangles),
    soup: new sapwood.MeshTree(soup), 'soup, fast': new sapwood.MeshTree(soup, null, { quality: 'fast' }),
    one: new sapwood.MeshTree([0, 0, 0, 30, 0, 0, 0, 30, 0]), none: new sapwood.MeshTree([], []),
  };
  const rays = new Float32Array(8 * 3000);
  for (let i = 0; i < 3000; i++) {
    const whole = i % 3 === 0;
    const origin = [random() * 40, random() * 40, 30].map((x) => (whole ? Math.round(x) : x));
    const direction = whole ? [0, 0, -1] : [random() - 0.5, random() - 0.5, -random()];
    rays.set([...origin, i % 7 ? 0 : 31.5, ...direction, i % 5 ? Infinity : 29], 8 * i);
  }
  rays.set([NaN, 0, 0, 0, 0, 0, -1, Infinity, 0, 0, 9, 0, 0, 0, 0, Infinity, 0, 0, 9, 2, 0, 0, -1, 1, 0, 0, 9, 0, Infinity, 0, -1, Infinity, 0, 0, 9, 0, 0, 0, -1, NaN]);
  for (const [name, tree] of Object.entries(meshes)) {
    const gpu = await webgpu.GpuMeshTree.from(tree);
    const [here, there] = [tree.trace(rays), await gpu.trace(rays)];
    if (name !== 'none' && !here.triangles.some((triangle) => triangle >= 0)) wrong.push(`${name}: nothing is met`);
    for (const part of ['triangles', 't', 'u', 'v']) say(`${name}, ${part}`, differ(there[part], here[part]));
    say(`${name}, occluded`, differ(await gpu.occluded(rays), tree.occluded(rays)));
    gpu.free();
  }
  say('freed', await refusal(async () => { const gpu = await webgpu.GpuMeshTree.from(meshes.one); gpu.free(); await gpu.trace([0, 0, 1, 0, 0, 0, -1, 9]); }) ===
    'FREED: The tree was used after free().' ? undefined : 'not refused');
  say('rays', (await refusal(async () => (await webgpu.GpuMeshTree.from(meshes.one)).trace([1, 2, 3])))?.startsWith('ARGUMENT: rays: 3 numbers') ? undefined : 'not refused');
  return wrong.slice(0, 6);
});

inPage('nearest points on meshes are those of the CPU', async () => {
  const wrong = [];
  const say = (what, found) => found && wrong.push(`${what}: ${found}`);
  // A ball, whose corners and edges many places share; a soup with needles and triangles without area; far off; few; none.
  const ball = { vertices: [], triangles: [] };
  const [rings, around] = [20, 40];
  for (let i = 0; i <= rings; i++)
    for (let j = 0; j < around; j++) {
      const [a, b] = [Math.PI * i / rings, 2 * Math.PI * j / around];
      ball.vertices.push(Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a));
    }
  for (let i = 0; i < rings; i++)
    for (let j = 0, next = 1; j < around; j++, next = (j + 1) % around) {
      const [a, b, c, d] = [i * around + j, i * around + next, (i + 1) * around + j, (i + 1) * around + next];
      ball.triangles.push(a, b, c, b, d, c);
    }
  const soup = Float32Array.from({ length: 9 * 2000 }, (_, i) => 2 * random() - 1);
  for (let i = 0; i < 9 * 500; i++) if (i % 9 > 2) soup[i] = soup[i - 3] + (i % 2 ? 1e-4 * random() : 0);
  const far = soup.map((x) => x * 0.5 + 1000);
  const grid = [];
  for (let i = 0; i < 100; i++) for (const [x, y] of [[0, 0], [1, 0], [0, 1]]) grid.push(i % 10 + x, Math.floor(i / 10) + y, 0);
  const meshes = {
    ball: new sapwood.MeshTree(ball.vertices, ball.triangles), soup: new sapwood.MeshTree(soup), far: new sapwood.MeshTree(far),
    'soup, fast': new sapwood.MeshTree(soup, null, { quality: 'fast' }), grid: new sapwood.MeshTree(grid),
    one: new sapwood.MeshTree([0, 0, 0, 3, 0, 0, 0, 3, 0]), none: new sapwood.MeshTree([], []),
  };
  for (const [name, tree] of Object.entries(meshes)) {
    const at = name === 'far' ? 1000 : 0;
    const places = Float32Array.from({ length: 3 * 2000 }, (_, i) => i < 1500 ? at + Math.round(random() * 8) : at + 3 * random() - 1.5);
    places.set(name === 'ball' ? ball.vertices.slice(0, 900) : [], 3000);
    places.set([NaN, 0, 0, 0, Infinity, 0, 1e30, 0, 0, 0, 0, 0]);
    const gpu = await webgpu.GpuMeshTree.from(tree);
    for (const squared of [false, true]) {
      const [here, there] = [tree.closestPoints(places, { squared }), await gpu.closestPoints(places, { squared })];
      if (name !== 'none' && !here.triangles.some((triangle) => triangle >= 0)) wrong.push(`${name}: nothing is near`);
      for (const part of ['triangles', 'distances', 'points']) say(`${name}, ${part}`, differ(there[part], here[part]));
    }
    gpu.free();
  }
  const one = await webgpu.GpuMeshTree.from(meshes.one);
  say('places', (await refusal(() => one.closestPoints([1, 2])))?.startsWith('ARGUMENT: points: 2 numbers') ? undefined : 'not refused');
  one.free();
  say('freed', await refusal(() => one.closestPoints([1, 2, 3])) === 'FREED: The tree was used after free().' ? undefined : 'not refused');
  return wrong.slice(0, 8);
});

inPage('queries and answers stay on the GPU', async () => {
  const tree = new sapwood.PointTree(family('uniform', 5000, 3), { dims: 3 });
  const gpu = await webgpu.GpuPointTree.from(tree);
  const { device } = gpu;
  const queries = family('uniform', 1000, 3);
  const given = device.createBuffer({ size: queries.byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(given, 0, queries);
  const out = () => device.createBuffer({ size: 16000, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const [ids, distances2] = [out(), out()];
  const encoder = device.createCommandEncoder();
  gpu.encodeKnn(encoder, { queries: given, count: 1000, k: 4, ids, distances2 });
  const copy = device.createBuffer({ size: 16000, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  encoder.copyBufferToBuffer(ids, 0, copy, 0, 16000);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const mesh = new sapwood.MeshTree([-9, -9, 0, 9, -9, 0, 0, 9, 0]);
  const gpuMesh = await webgpu.GpuMeshTree.from(mesh);
  const rays = device.createBuffer({ size: 64, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(rays, 0, Float32Array.of(0, 0, 4, 0, 0, 0, -1, 9, 50, 0, 4, 0, 0, 0, -1, 9));
  const [hits, seen] = [out(), device.createBuffer({ size: 32, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST })];
  const second = device.createCommandEncoder();
  gpuMesh.encodeTrace(second, { rays, count: 2, hits });
  second.copyBufferToBuffer(hits, 0, seen, 0, 32);
  device.queue.submit([second.finish()]);
  await seen.mapAsync(GPUMapMode.READ);
  const nearest = out();
  const third = device.createCommandEncoder();
  gpuMesh.encodeClosest(third, { places: rays, count: 1, nearest }); // the origin of the first ray
  const near = device.createBuffer({ size: 20, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  third.copyBufferToBuffer(nearest, 0, near, 0, 20);
  device.queue.submit([third.finish()]);
  await near.mapAsync(GPUMapMode.READ);
  const answer = near.getMappedRange();
  const bytes = seen.getMappedRange();
  const [t, triangles] = [new Float32Array(bytes), new Int32Array(bytes)];
  return [
    differ(new Int32Array(copy.getMappedRange()), tree.knnAll(queries, 4).ids),
    differ([...new Float32Array(answer, 0, 4), new Int32Array(answer)[4]], [0, 0, 0, 16, 0]),
    differ([t[0], triangles[3], t[4], triangles[7]], [4, 0, Infinity, -1]),
  ].filter(Boolean);
});

inPage('what is refused says why', async () => {
  const { GpuPointTree } = webgpu;
  const tree = new sapwood.PointTree(Float32Array.of(0, 0, 1, 1));
  const gpu = await GpuPointTree.from(tree);
  const small = { limits: { maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 } };
  const elsewhere = (await (await navigator.gpu.requestAdapter()).requestDevice()).createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE });
  const said = [];
  for (const [expected, work] of [
    ['UNSUPPORTED: tree: GPUs have no double', () => GpuPointTree.from(new sapwood.PointTree([0.1, 0.2]))],
    ['UNSUPPORTED: tree: has 4 dimensions', () => GpuPointTree.from(new sapwood.PointTree(Float32Array.of(0, 0, 1, 1), { dims: 4 }))],
    ['UNSUPPORTED: tree: has a period', () => GpuPointTree.from(new sapwood.PointTree(Float32Array.of(0, 0), { period: 2 }))],
    ['FORMAT: tree: its bytes', () => GpuPointTree.from(new Uint8Array(700))],
    ['FORMAT: tree: its bytes', () => webgpu.GpuMeshTree.from(tree)],
    ['INTERNAL: tree: is not laid out', () => GpuPointTree.from(tree.save().subarray(0, 600))],
    ['ARGUMENT: k: 0', () => gpu.knnAll([0, 0], 0)],
    ['ARGUMENT: k: 1.5', () => gpu.knnAll([0, 0], 1.5)],
    ['UNSUPPORTED: k: on GPUs', () => gpu.knnAll([0, 0], 129)],
    ['ARGUMENT: radius: -1', () => gpu.knnAll([0, 0], 1, { radius: -1 })],
    ['ARGUMENT: radius: NaN', () => gpu.withinCountAll([0, 0], NaN)],
    ['ARGUMENT: queries: 3 numbers', () => gpu.nearestAll([0, 0, 0])],
    ['ARGUMENT: queries: each is', () => gpu.nearestAll([[0, 0, 0]])],
    ['ARGUMENT: queries: is not', () => gpu.nearestAll(undefined)],
    ['UNSUPPORTED: coords: GPUs have no double', () => GpuPointTree.build([0.5, 1])],
    ['UNSUPPORTED: coords: GPUs have no double', () => GpuPointTree.build(Float64Array.of(0.5, 1))],
    ['UNSUPPORTED: options.type: GPUs', () => GpuPointTree.build([0.5, 1], { type: Float64Array })],
    ['UNSUPPORTED: dims: 4;', () => GpuPointTree.build(new Float32Array(4), { dims: 4 })],
    ['UNSUPPORTED: options.split: on GPUs', () => GpuPointTree.build(new Float32Array(4), { split: 'sliding-midpoint' })],
    ['UNSUPPORTED: options.dropDuplicates: on GPUs', () => GpuPointTree.build(new Float32Array(4), { dropDuplicates: true })],
    ['UNSUPPORTED: options.period: searches', () => GpuPointTree.build(new Float32Array(4), { period: 2 })],
    ['UNSUPPORTED: coords: 40000000 points need buffers of', () => GpuPointTree.build({ points: { size: 2 ** 40, usage: 128 }, count: 4e7 }, { device: small })],
    ['ARGUMENT: options.leaves: there is no such option', () => GpuPointTree.build(new Float32Array(4), { leaves: 2 })],
    ['ARGUMENT: dims: 1.5', () => GpuPointTree.build(new Float32Array(4), { dims: 1.5 })],
    ['ARGUMENT: options.leafSize: 1025', () => GpuPointTree.build(new Float32Array(4), { leafSize: 1025 })],
    ['ARGUMENT: options.axis: z', () => GpuPointTree.build(new Float32Array(4), { axis: 'z' })],
    ['ARGUMENT: coords: 3 numbers are no whole', () => GpuPointTree.build(new Float32Array(3))],
    ['ARGUMENT: coords: is not an array', () => GpuPointTree.build(null, { type: Float32Array })],
    ['ARGUMENT: count: -1', () => GpuPointTree.build({ points: { size: 16 }, count: -1 })],
    ['ARGUMENT: points: the buffer has 16 bytes', () => GpuPointTree.build({ points: { size: 16 }, count: 3 })],
    ['ARGUMENT: points: the buffer is not made for storage', () => GpuPointTree.build({ points: { size: 16, usage: 12 }, count: 1 })],
    ['INTERNAL: WebGPU: ', () => GpuPointTree.build({ points: elsewhere, count: 2 })],
    ['NOT_FINITE: points: coordinate 1 of point 1 is not finite', () => GpuPointTree.build(Float32Array.of(0, 1, 2, NaN, Infinity, 5))],
    ['NOT_FINITE: points: coordinate 0 of point 0 is -1.00000e+19, too large to square; scale the points to at most 6.52e+18',
      () => GpuPointTree.build(Float32Array.of(-1e19, 1))],
    ['FREED: The tree', () => { gpu.free(); return gpu.save(); }],
    ['FREED: The tree', () => { gpu.free(); gpu.free(); return gpu.nearestAll([0, 0]); }],
  ]) {
    const got = await refusal(work);
    if (!got?.startsWith(expected)) said.push(`${got}, not ${expected}`);
  }
  return said;
});
