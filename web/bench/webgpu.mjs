// Builds of trees by WebGPU beside builds in WebAssembly on one thread, in turn in one page of Chromium, bytes compared: on
// SwiftShader, a processor that plays GPU. Then the picture of voronoi.mjs: the nearest of 1M points to each of 1900 x 1200 pixels.
//
//   node web/bench/webgpu.mjs [points …]
import { fileURLToPath } from 'node:url';
import { launch } from '../tests/browser.mjs';
import { serve } from '../serve.mjs';

const counts = process.argv.slice(2).map(Number);
const site = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)));
const browser = await launch('swiftshader', ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']);
const page = await browser.newPage();
page.setDefaultTimeout(0);
await page.goto(`${site.address}package.json`); // any document of the host
let wrong = false;
for (const count of counts.length ? counts : [100000, 1000000])
  for (const dims of [2, 3]) {
    const { here, there, same, first } = await page.evaluate(measure, { count, dims, passes: count > 300000 ? 3 : 5 });
    console.log(`build, ${count} points, ${dims}-D: WebAssembly ${here.toFixed(1)} ms; WebGPU on SwiftShader ${there.toFixed(1)} ms, the first ${first.toFixed(0)} ms` +
      `: ${(there / here).toFixed(1)} times as long${same ? '' : '; the trees differ'}`);
    wrong ||= !same;
  }
const found = await page.evaluate(measurePicture, { count: 1000000, width: 1900, height: 1200, passes: 3 });
console.log(`nearest of 1000000 points to each of 1900 x 1200 pixels: WebGPU on SwiftShader ${found.picture.toFixed(0)} ms, the first ${found.first.toFixed(0)} ms` +
  `; ${found.wrongIds} wrong`);
wrong ||= found.wrongIds > 0;
await browser.close();
site.server.close();
process.exitCode = wrong ? 1 : 0;

// In the page: pixels and what is found for them stay on the GPU.
async function measurePicture({ count, width, height, passes }) {
  const sapwood = await import('/sapwood.js');
  const { GpuPointTree } = await import('/webgpu.js');
  await sapwood.load();
  const points = Float32Array.from({ length: 2 * count }, (_, i) => Math.random() * (i % 2 ? height : width));
  const pixels = Float32Array.from({ length: 2 * width * height }, (_, i) => (i % 2 ? Math.floor(i / 2 / width) : (i / 2) % width | 0) + 0.5);
  const tree = new sapwood.PointTree(points);
  const gpu = await GpuPointTree.from(tree);
  const { device } = gpu;
  const buffer = (size, usage) => device.createBuffer({ size, usage });
  const queries = buffer(pixels.byteLength, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
  device.queue.writeBuffer(queries, 0, pixels);
  const [ids, distances2] = [0, 1].map(() => buffer(4 * width * height, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC));
  const times = [];
  for (let pass = 0; pass <= passes; pass++) {
    await device.queue.onSubmittedWorkDone();
    const from = performance.now();
    const encoder = device.createCommandEncoder();
    gpu.encodeKnn(encoder, { queries, count: width * height, k: 1, ids, distances2 });
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    times.push(performance.now() - from);
  }
  const copy = buffer(4 * width * height, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(ids, 0, copy, 0, 4 * width * height);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const found = new Int32Array(copy.getMappedRange());
  const wrongIds = tree.nearestAll(pixels).ids.reduce((sum, id, i) => sum + (id !== found[i]), 0);
  return { first: times[0], picture: times.slice(1).sort((a, b) => a - b)[(times.length - 2) >> 1], wrongIds };
}

// In the page: medians of some passes, after one that compiles.
async function measure({ count, dims, passes }) {
  const sapwood = await import('/sapwood.js');
  const { GpuPointTree } = await import('/webgpu.js');
  await sapwood.load();
  const points = Float32Array.from({ length: count * dims }, Math.random);
  const times = { here: [], there: [] };
  let same = true;
  for (let pass = 0; pass <= passes; pass++) {
    let from = performance.now();
    const tree = new sapwood.PointTree(points, { dims });
    times.here.push(performance.now() - from);
    from = performance.now();
    const gpu = await GpuPointTree.build(points, { dims }); // there when the GPU has done it all
    times.there.push(performance.now() - from);
    if (pass === passes) {
      const [one, other] = [tree.save(), await gpu.save()];
      same = one.length === other.length && one.every((byte, i) => byte === other[i]);
    }
    tree.free();
    gpu.free();
  }
  const median = (list) => list.slice(1).sort((a, b) => a - b)[(list.length - 1) >> 1];
  return { here: median(times.here), there: median(times.there), first: times.there[0], same };
}
