// Voronoi pictures in Chromium: bench/gl_voronoi.c through Emscripten, in software on SwiftShader and on llvmpipe, every
// pixel compared with the CPU's. With --demo FOLDER, the folder of the published demo's index.html (PixelVoronoi_KdTree_v05
// of PixelVoronoi_KdTree, 2013), its tree, shaders and framebuffer draw a frame over the same sites after each of ours,
// in the same tab on SwiftShader. Without it ours is compared with what that took elsewhere.
//
//   node web/bench/voronoi.mjs [--demo FOLDER] [swiftshader|llvmpipe …] [-- arguments of the program]
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { backends, launch } from '../tests/browser.mjs';
import { run } from '../tests/program.mjs';
import { serve } from '../tests/serve.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/web/bench');
const given = process.argv.slice(2), split = given.indexOf('--') < 0 ? given.length : given.indexOf('--');
const wanted = given.slice(0, split), options = given.slice(split + 1), named = wanted.indexOf('--demo');
const demo = named < 0 ? undefined : wanted.splice(named, 2)[1];
const elsewhere = 7200; // ms, 1900 x 1200 pixels, 1M sites, SwiftShader on two cores of a machine like ours

// The demo's scripts, and what draws one of its frames: its tree over the program's sites, in pixels, its texture of nodes,
// which is uploaded once, as ours is, and its shader. OpenGL has finished when a pixel has been read.
const scripts = ['libs/Dw/context/DwContext', 'libs/Dw/shader/DwShader', 'KdTree', 'QuickSort', 'QuickSelect', 'PixelVoronoi_KdTree', 'FBO', 'ScreenQuad'];
const besides = `${scripts.map((name) => `<script src="${name}.js"></script>`).join('\n')}
<script>
{
  const width = 1900, height = 1200, sites = [];
  for (let i = 0, state = 12345; i < 1000000; i++) {
    const next = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 8) / 16777216;
    sites.push({ x: next() * width, y: next() * height });
  }
  const gl = document.createElement('canvas').getContext('webgl');
  gl.getExtension('OES_texture_float');
  gl.getExtension('WEBGL_color_buffer_float');
  const picture = new PixelVoronoi_KdTree({ gl, VIEWPORT: { width, height } }, new KdTree().build(sites));
  picture.resize(1);
  const pixel = (x, y) => {
    const value = new Float32Array(4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, picture.fbo.HANDLE_FBO);
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.FLOAT, value);
    return value[0];
  };
  Module.preRun = () => addRunDependency('beside');
  // The demo draws once when it has its shaders.
  picture.createDistanceMap = () => {
    delete picture.createDistanceMap;
    picture.createDistanceMap();
    picture.setKdTreeTexture = () => {};
    let far = 0;
    for (let i = 0; i < 100; i++) far = Math.max(far, pixel(19 * i, 12 * i));
    if (!(far > 0.5 && far < 20)) print('the published demo: draws no distances');
    const start = () => (globalThis.removeRunDependency ? removeRunDependency('beside') : setTimeout(start, 10));
    start();
  };
  Module.beside = () => {
    const begun = performance.now();
    picture.createDistanceMap();
    pixel(0, 0);
    print('a frame of the published demo ' + (performance.now() - begun).toFixed(2) + ' ms');
  };
}
</script>`;

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

let wrong = false;
const server = await serve(folder);
for (const backend of wanted.length ? wanted : Object.keys(backends)) {
  const browser = await launch(backend);
  const last = /^sliding midpoint: the same on the CPU .*$/; // all is printed before the tab looks again
  const beside = demo && backend === 'swiftshader' ? { folder: path.resolve(demo), text: besides } : undefined;
  const lines = await run(browser, server.address, 'voronoi', options.length ? options : ['--frames', '5', '1000000'], last, 900e3, beside);
  await browser.close();
  console.log(`Chromium on ${backend}: ${lines.join('\n  ')}`);
  const compared = lines.filter((line) => /wrong pixels: /.test(line));
  if (!last.test(lines.at(-1)) || compared.some((line) => !/wrong pixels: 0$/.test(line))) {
    console.log('  not finished, or pixels are wrong');
    wrong = true;
  }
  const times = (pattern) => lines.flatMap((line) => pattern.exec(line)?.slice(1) ?? []).map(Number);
  const [frame] = times(/^a frame, its answers in a texture +1000000 points +([\d.]+) ms/);
  const theirs = times(/^a frame of the published demo ([\d.]+) ms$/);
  if (frame && theirs.length) console.log(`  ${(median(theirs) / frame).toFixed(1)} times as fast as the published demo (${median(theirs).toFixed(0)} ms, in turns)`);
  else if (frame && backend === 'swiftshader') console.log(`  ${(elsewhere / frame).toFixed(1)} times as fast as the published demo was on another machine (${elsewhere} ms)`);
}
server.close();
process.exitCode = wrong ? 1 : 0;
