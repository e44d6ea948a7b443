// The npm package in a browser without a bundler: fetched from a static host, on the page and in a worker, and both of its
// entries. What it answers is tested in Node (web/package/test).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../serve.mjs';
import { executable, launch, patience } from './browser.mjs';

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

// What runs in the page and in the worker.
const work = `async (entry) => {
  const { load, PointTree, MeshTree } = await import(entry);
  let early;
  try { new PointTree([1, 2]); } catch (error) { early = error.status; }
  await Promise.all([load(), load()]);
  const tree = new PointTree(Float32Array.of(1, 1, 4, 2, 3, 5));
  const found = tree.nearest(3, 4);
  const ids = [...PointTree.load(tree.save()).nearestAll([1, 1, 4, 4]).ids];
  const around = new PointTree([[179, 0], [0, 0]], { period: [360, 0] }).nearest(-180, 0);
  const hit = MeshTree && new MeshTree([0, 0, 0, 1, 0, 0, 0, 1, 0]).trace([0.25, 0.25, -1], [0, 0, 1]).t;
  let bad;
  try { tree.rebuild([0, 0, 0, NaN]); } catch (error) { bad = [error.name, error.status]; }
  return { early, found, ids, around, hit, bad };
}`;
const answer = (hit) => ({ early: 'NOT_LOADED', found: { id: 2, distance: 1 }, ids: [0, 2], around: { id: 0, distance: 1 }, hit, bad: ['SapwoodError', 'NOT_FINITE'] });
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

// Several threads: a page that is not isolated learns what it lacks; on one that is, and in its worker, answers are those
// of one thread.
const threaded = `async (entry) => {
  const { load, PointTree } = await import(entry);
  let missing;
  await load({ threads: 3 }).catch(({ status, message }) => { missing = [status, message]; });
  if (missing) return missing;
  const coords = Float32Array.from({ length: 200000 }, (_, i) => Math.sin(i * i));
  const tree = new PointTree(coords);
  const ids = tree.nearestAll(coords).ids;
  const rows = tree.withinAll(coords, 0.02);
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", tree.save()));
  let bad;
  try { tree.rebuild([0, 0, 0, NaN]); } catch (error) { bad = [error.status, error.message.length > 0]; }
  return { count: tree.count, ids: ids.every((id, i) => id <= i && coords[2 * id] === coords[2 * i]), rows: rows.ids.length === rows.offsets[100000], bytes: bytes.join(), bad };
}`;

test('several threads, on a page and in a worker', { skip }, async () => {
  const [status, message] = await page.evaluate(`(${threaded})(${JSON.stringify(`${site.address}sapwood.js`)})`);
  assert.equal(status, 'UNSUPPORTED');
  assert.match(message, /Cross-Origin-Opener-Policy/);
  const isolated = await serve(fileURLToPath(new URL('../../build/web/npm', import.meta.url)), 0, {
    'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp',
  });
  const other = await browser.newPage();
  try {
    await other.goto(`${isolated.address}package.json`);
    const script = `(${threaded})(${JSON.stringify(`${isolated.address}sapwood.js`)})`;
    const onPage = await other.evaluate(script);
    const inWorker = await other.evaluate((text) => new Promise((resolve) => {
      const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })), { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => resolve(event.message);
    }), `${script}.then(postMessage, (error) => postMessage(String(error)));`);
    const { load, PointTree } = await import('../../build/web/npm/node.js');
    await load();
    const tree = new PointTree(Float32Array.from({ length: 200000 }, (_, i) => Math.sin(i * i)));
    const bytes = createHash('sha256').update(tree.save()).digest();
    const expected = { count: 100000, ids: true, rows: true, bytes: [...bytes].join(), bad: ['NOT_FINITE', true] };
    assert.deepEqual(onPage, expected);
    assert.deepEqual(inWorker, expected);
  } finally {
    await other.close();
    isolated.server.close();
  }
});
