// The npm package in a browser without a bundler: fetched from a static host, on the page and in a worker, and both of its
// entries. What it answers is tested in Node (web/package/test).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../serve.mjs';
import { executable, launch } from './browser.mjs';

let site, browser, page;
before(async () => {
  if (!executable) return;
  site = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)));
  browser = await launch('swiftshader');
  page = await browser.newPage();
  await page.goto(`${site.address}package.json`); // any document of the host
});
after(async () => {
  await browser?.close();
  site?.server.close();
});

// What runs in the page and in the worker.
const work = `async (entry) => {
  const { load, PointTree, MeshTree } = await import(entry);
  let early;
  try { new PointTree([1, 2]); } catch (error) { early = error.status; }
  await Promise.all([load(), load()]);
  const tree = new PointTree(Float32Array.of(1, 1, 4, 2, 3, 5));
  const found = tree.nearest(3, 4);
  const ids = [...PointTree.load(tree.save()).nearestAll([1, 1, 4, 4]).ids];
  const hit = MeshTree && new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0]).trace([0.25, 0.25, -1], [0, 0, 1]).t;
  let bad;
  try { tree.rebuild([0, 0, 0, NaN]); } catch (error) { bad = [error.name, error.status]; }
  return { early, found, ids, hit, bad };
}`;
const answer = (hit) => ({ early: 'NOT_LOADED', found: { id: 2, distance: 1 }, ids: [0, 2], hit, bad: ['SapwoodError', 'NOT_FINITE'] });
const skip = executable ? false : 'chromium is missing';

for (const [entry, hit] of [['sapwood.js', 1], ['points.js', undefined]]) {
  test(`${entry} on a page`, { skip }, async () => {
    const fetched = [];
    page.on('request', (request) => fetched.push(request.url().split('/').pop()));
    assert.deepEqual(await page.evaluate(`(${work})(${JSON.stringify(site.address + entry)})`), answer(hit));
    assert.deepEqual(fetched.filter((name) => name.endsWith('.wasm')), [entry.replace('.js', '.wasm')], 'one module, with vectors');
    page.removeAllListeners('request');
  });

  test(`${entry} in a worker`, { skip }, async () => {
    const script = `(${work})(${JSON.stringify(site.address + entry)}).then(postMessage, (error) => postMessage(String(error)));`;
    const result = await page.evaluate((text) => new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => resolve(event.message);
    }), script);
    assert.deepEqual(result, answer(hit));
  });
}
