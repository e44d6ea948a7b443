// Builds of trees by WebGPU beside builds in WebAssembly on one thread, in turn in one page of Chromium, bytes compared: on
// SwiftShader, a processor that plays GPU.
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
await browser.close();
site.server.close();
process.exitCode = wrong ? 1 : 0;

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
