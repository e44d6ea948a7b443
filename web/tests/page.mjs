// The page in a tab: how tests open it, wait for it, and look at what it shows.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { executable, launch, longest, patience } from './browser.mjs';
import { serve } from './serve.mjs';

export const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../build/web/page');
export const scenes = ['voronoi', 'compaction', 'isosurface', 'rays', 'cloud', 'photons'];
// What scenes say of a picture that brute force, or the CPU, finds right.
export const right = /^(Verified|The mesh is closed|All [\d,]+ entries are those)/;

// A scene in a context of its own: small, and half as fine as usual, since every pixel is drawn in software. What the page complains of goes to
// `complaints`.
export async function open(browser, address, scene, options = {}) {
  const { width = 520, height = 560, scheme = 'light', motion = 'reduce', values = {}, before, context: own, ...more } = options;
  const context = own ?? (await browser.newContext({ viewport: { width, height }, deviceScaleFactor: 0.5, colorScheme: scheme, reducedMotion: motion, serviceWorkers: 'block', ...more }));
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  if (before) await page.addInitScript(before);
  const asked = new URLSearchParams(values).toString();
  await page.goto(`${address}/#${scene}${asked ? `?${asked}` : ''}`);
  return { page, context, complaints };
}

// Values of the scenes with which all is done soon.
export const small = { voronoi: { sites: 1000, motion: 0 }, compaction: { size: 16 }, isosurface: { size: 64 }, rays: { triangles: 2000, samples: 1 }, cloud: { points: 1500 }, photons: { photons: 2000, caustics: 2000, k: 20 } };

// Tests of the page, each in a tab of its own of one browser: `tests` is given tab(name, scene, options, use), and an object that has the
// browser and the server's address while they run. `values` are those of scenes whose options name none.
export function inBrowser(name, backend, values, tests) {
  describe(name, { concurrency: 2, skip: executable ? false : 'no Chromium here' }, () => {
    const place = {};
    let server;
    before(async () => {
      server = await serve(folder);
      place.address = server.address;
      place.browser = await launch(backend);
    });
    after(async () => {
      await place.browser.close();
      server.close();
    });
    const tab = (title, scene, options, use) =>
      test(title, { timeout: longest }, async (t) => {
        const { page, context, complaints } = await open(place.browser, place.address, scene, { values: values[scene], ...options });
        try {
          await use(page, context, t);
          assert.deepEqual(complaints, []);
        } finally {
          await context.close();
        }
      });
    tests(tab, place);
  });
}

// Until there is nothing left to draw.
export async function idle(page) {
  const settled = page.waitForFunction(() => window.sapwood?.running).then(() => page.evaluate(() => window.sapwood.idle()));
  let timer;
  const late = new Promise((_, refuse) => (timer = setTimeout(() => refuse(new Error('the page does not come to rest')), patience)));
  await Promise.race([settled, late]).catch(async (error) => {
    throw new Error(`${error.message}; status: ${await said(page)}; veil: ${await veil(page)}`);
  });
  clearTimeout(timer);
}

export const said = (page) => page.locator('#status').textContent();
export const veil = (page) => page.evaluate(() => (document.getElementById('veil').hidden ? '' : document.getElementById('veil').textContent));

// The pixels of the canvas, read back from its framebuffer: a number that is another for other pixels; with `count` how
// many colours there are.
export const pixels = (page, count = false) =>
  page.evaluate((colours) => {
    const { gl, canvas } = window.sapwood;
    const bytes = new Uint8Array(4 * canvas.width * canvas.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    const texels = new Uint32Array(bytes.buffer);
    return colours ? new Set(texels).size : texels.reduce((sum, texel) => (Math.imul(sum, 31) + texel) | 0, 0);
  }, count);

// Presses Verify, and says what came of it.
export async function verify(page) {
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.waitForFunction(() => !document.getElementById('verify').disabled);
  return said(page);
}

// A scene that is drawn, and right by brute force.
export async function isRight(page) {
  await idle(page);
  assert.equal(await veil(page), '');
  assert.ok((await pixels(page, true)) > 3, 'the canvas shows next to nothing');
  assert.match(await verify(page), right);
}

// Drops a file, or several, made in the page: { name, bytes } or { name, text } or { name, gigabytes }.
export const drop = (page, files) =>
  page.evaluate((all) => {
    const data = new DataTransfer();
    for (const { name, bytes, text, gigabytes } of all) {
      const block = new Blob([new Uint8Array(gigabytes ? 2 ** 24 : 0)]);
      const parts = gigabytes ? Array(64 * gigabytes).fill(block) : [bytes ? new Uint8Array(bytes) : text];
      data.items.add(new File(parts, name));
    }
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [files].flat());
