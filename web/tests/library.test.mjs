// The library's tests of OpenGL in Chromium: every program of build/web/tests on either implementation of OpenGL ES.
// Programs print what they print elsewhere; the last line counts.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backends, executable, launch } from './browser.mjs';
import { serve } from './serve.mjs';

const programs = (process.env.PROGRAMS ?? 'test_gl test_gl_compact test_gl_nearest test_gl_surface').split(' ');
const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/web/tests');
const limit = 120e3;

const page = (program, names) => `<!doctype html>
<title>${program}</title>
<canvas id="new" width="8" height="8"></canvas><canvas id="old" width="8" height="8"></canvas>
<script>
  var lines = [];
  var Module = { arguments: ${JSON.stringify(names)}, print: (line) => lines.push(line), printErr: (line) => lines.push(line) };
</script>
<script async src="/${program}.js"></script>`;

let server;
before(async () => {
  const names = process.env.NAMES?.split(' ') ?? [];
  server = await serve(folder, Object.fromEntries(programs.map((name) => [`/${name}`, page(name, names)])));
});
after(() => server?.close());

for (const backend of Object.keys(backends)) {
  test(`the library's tests on ${backend}`, { skip: executable ? false : 'no Chromium here', timeout: 2 * limit }, async (t) => {
    const browser = await launch(backend);
    t.after(() => browser.close());
    for (const program of programs) {
      await t.test(program, async () => {
        const tab = await browser.newPage();
        const thrown = [];
        tab.on('pageerror', (error) => thrown.push(String(error)));
        await tab.goto(`${server.address}/${program}`);
        const ended = () => lines.some((line) => /^\d+ passed, \d+ failed, \d+ skipped$/.test(line));
        await tab.waitForFunction(ended, null, { timeout: limit, polling: 100 }).catch(() => {});
        const lines = await tab.evaluate(() => lines);
        await tab.close();
        const rest = lines.filter((line) => !line.startsWith('passed '));
        assert.match(lines.at(-1) ?? '', /^\d+ passed, 0 failed, \d+ skipped$/, [...rest, ...thrown].join('\n'));
        if (process.env.VERBOSE) console.log(rest.join('\n'));
      });
    }
  });
}
