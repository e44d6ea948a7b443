// The npm package in a browser without a bundler: fetched from a static host, on the page and in a worker, and both of its
// entries. What it answers is tested in Node (web/package/test).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../serve.mjs';
import { executable, launch, patience } from './browser.mjs';
import { answer, inWorker, isolated, threaded, threadedAnswer, work } from './package.mjs';

let site, browser, page;
before(async () => {
  if (!executable) return;
  site = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)));
  browser = await launch('swiftshader');
  page = await browser.newPage();
  page.setDefaultTimeout(patience);
  await page.goto(`${site.address}package.json`); // any document of the host
});
after(async () => {
  await browser?.close();
  site?.server.close();
});

const skip = executable ? false : 'chromium is missing';

for (const entry of ['sapwood.js', 'points.js']) {
  test(`${entry} on a page`, { skip }, async () => {
    const fetched = [];
    page.on('request', (request) => fetched.push(request.url().split('/').pop()));
    assert.deepEqual(await page.evaluate(`(${work})(${JSON.stringify(site.address + entry)})`), answer(entry));
    assert.deepEqual(fetched.filter((name) => name.endsWith('.wasm')), [entry.replace('.js', '.wasm')], 'one module, with vectors');
    page.removeAllListeners('request');
  });

  test(`${entry} in a worker`, { skip }, async () => {
    assert.deepEqual(await page.evaluate(inWorker, [work, site.address + entry]), answer(entry));
  });
}

test('several threads, on a page and in a worker', { skip }, async () => {
  const [status, message] = await page.evaluate(`(${threaded})(${JSON.stringify(`${site.address}sapwood.js`)})`);
  assert.equal(status, 'UNSUPPORTED');
  assert.match(message, /Cross-Origin-Opener-Policy/);
  const alone = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)), 0, isolated);
  const other = await browser.newPage();
  try {
    await other.goto(`${alone.address}package.json`);
    const entry = `${alone.address}sapwood.js`;
    const expected = await threadedAnswer();
    assert.deepEqual(await other.evaluate(`(${threaded})(${JSON.stringify(entry)})`), expected);
    assert.deepEqual(await other.evaluate(inWorker, [threaded, entry]), expected);
  } finally {
    await other.close();
    alone.server.close();
  }
});
