// sapwood/gl in Chromium, on either implementation of OpenGL ES: what shaders answer is compared with the package's CPU.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backends, executable, launch, longest, patience } from './browser.mjs';
import { serve } from './serve.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const checks = {
  'page.js': ['points', 'twoTrees', 'frames', 'bytes', 'bytesOld', 'rays', 'compaction', 'compactionOld', 'surfaces', 'state', 'loss', 'refusals'],
  'three.js': ['search', 'rays', 'surface'],
};
// On llvmpipe, whose medium precision is of 16 bits and which ends long loops, what depends on these; and rays, which
// SwiftShader takes half a minute to compile.
const only = { llvmpipe: ['points', 'bytesOld', 'rays', 'compactionOld', 'surfaces', 'surface'] };
const not = { swiftshader: ['rays'] };

describe('sapwood/gl', { concurrency: true, skip: executable ? false : 'no Chromium here' }, () => {
  let server, folder;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sapwood-gl-'));
    cpSync(join(here, '../../build/web/npm'), join(folder, 'sapwood'), { recursive: true });
    for (const file of Object.keys(checks)) cpSync(join(here, 'gl', file), join(folder, file));
    for (const file of ['three.module.js', 'three.core.js']) cpSync(join(here, '../node_modules/three/build', file), join(folder, 'three', file));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>gl</title><script type="importmap">{ "imports": { "three": "/three/three.module.js" } }</script>');
    server = await serve(folder);
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const backend of Object.keys(backends))
    test(backend, { timeout: longest }, async (t) => {
      const browser = await launch(backend);
      t.after(() => browser.close());
      for (const [file, names] of Object.entries(checks))
        for (const name of names) {
          if (not[backend]?.includes(name) || !(only[backend]?.includes(name) ?? true)) continue;
          await t.test(name, async () => {
            const page = await browser.newPage();
            page.setDefaultTimeout(patience);
            await page.goto(`${server.address}/index.html`);
            const wrong = await page.evaluate(`import("/${file}").then((m) => m.${name}()).then(() => "", (error) => String(error.stack ?? error))`);
            await page.close();
            assert.equal(wrong, '');
          });
        }
    });
});
