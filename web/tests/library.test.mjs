// The library's tests of OpenGL in Chromium: programs of build/web/tests on either implementation of OpenGL ES. They
// print what they print elsewhere; the last line counts.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { backends, executable, launch, longest, patience } from './browser.mjs';
import { run } from './program.mjs';
import { serve } from './serve.mjs';

// Names of tests that a program runs (none: all). The others lose contexts call by call, which is the same in a browser
// as elsewhere but slower, or draw large pictures.
const programs = {
  test_gl: [],
  test_gl_compact: ['lists', 'totals', 'the_list', 'sap_compact', 'refuse', 'no_memory', 'callers_context'],
  test_gl_nearest: ['every_pixel', 'fewer', 'circle', 'queries', 'places', 'beyond', 'needs_no', 'come_and_go',
    'memory_may', 'callers_context'],
  test_gl_old: [],
  test_gl_rays: ['hits_of_the_cpu', 'longer_than_a_pass'],
  test_gl_resident: ['integers', 'room_for_less', 'a_picture', 'refuse'],
  test_gl_surface: ['the_mesh', 'refuse', 'without_a_surface'],
  test_gl_zpyramid: ['key_four', 'every_way', 'refuse'],
};
// On Mesa's llvmpipe all of them run without a browser, too. There run the one that SwiftShader takes a minute to
// compile, and two that are quick. Views (test_gl_view) take either long; the page's Rays draws them.
const only = { llvmpipe: ['test_gl', 'test_gl_old', 'test_gl_rays'] };
const not = { swiftshader: ['test_gl_rays'] };
const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/web/tests');
const end = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

describe('the library in a browser', { concurrency: true, skip: executable ? false : 'no Chromium here' }, () => {
  let server;
  before(async () => {
    server = await serve(folder);
  });
  after(() => server.close());
  for (const backend of Object.keys(backends)) {
    test(backend, { timeout: longest }, async (t) => {
      const browser = await launch(backend);
      t.after(() => browser.close());
      for (const [program, names] of Object.entries(programs)) {
        if (not[backend]?.includes(program) || !(only[backend]?.includes(program) ?? true)) continue;
        await t.test(program, async (t) => {
          const lines = await run(browser, server.address, program, names, end, patience);
          const [, passed, failed, skipped] = end.exec(lines.at(-1)) ?? [];
          for (const line of lines) if (line.startsWith('skipped')) t.diagnostic(line);
          assert.equal(failed, '0', lines.filter((line) => !line.startsWith('passed')).join('\n'));
          assert.ok(Number(passed) >= (names.length || 4), `${passed} tests only`);
          assert.ok(Number(skipped) <= (program === 'test_gl' ? 1 : 0), 'tests were left out');
        });
      }
    });
  }
});
