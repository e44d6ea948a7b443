// Voronoi pictures in Chromium: bench/gl_voronoi.c through Emscripten, in software on SwiftShader and on llvmpipe, every
// pixel compared with the CPU's. Beside it the published demo (PixelVoronoi, 2013) took 7.2 s a frame of 1900 x 1200
// pixels over 1M sites on SwiftShader.
//
//   node web/bench/voronoi.mjs [swiftshader|llvmpipe …] [-- arguments of the program]
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { backends, launch } from '../tests/browser.mjs';
import { run } from '../tests/program.mjs';
import { serve } from '../tests/serve.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/web/bench');
const given = process.argv.slice(2), split = given.indexOf('--') < 0 ? given.length : given.indexOf('--');
const wanted = given.slice(0, split), options = given.slice(split + 1);
const published = 7200;

let wrong = false;
const server = await serve(folder);
for (const backend of wanted.length ? wanted : Object.keys(backends)) {
  const browser = await launch(backend);
  const last = /^sliding midpoint: the same on the CPU .*$/; // all is printed before the tab looks again
  const lines = await run(browser, server.address, 'voronoi', options.length ? options : ['--frames', '5', '1000000'], last, 300e3);
  await browser.close();
  console.log(`Chromium on ${backend}: ${lines.join('\n  ')}`);
  const compared = lines.filter((line) => /wrong pixels: /.test(line));
  if (!last.test(lines.at(-1)) || compared.some((line) => !/wrong pixels: 0$/.test(line))) {
    console.log('  not finished, or pixels are wrong');
    wrong = true;
  }
  const frame = lines.map((line) => /^a frame, its answers in a texture +1000000 points +([\d.]+) ms/.exec(line)).find(Boolean);
  if (frame && backend === 'swiftshader')
    console.log(`  ${(published / Number(frame[1])).toFixed(1)} times as fast as the published demo (${published} ms)`);
}
server.close();
process.exitCode = wrong ? 1 : 0;
