// The page and the package in Firefox and in WebKit, where these are installed: every scene is drawn, right, and explained, by
// keyboard alone; the package answers what it answers elsewhere, on the CPU and in shaders; nobody complains.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../serve.mjs';
import { longest, patience } from './browser.mjs';
import { answer, inWorker, isolated, threaded, threadedAnswer, work } from './package.mjs';
import { folder, right, scenes, small } from './page.mjs';
import { lacks, openBrowser } from './webdriver.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
// What Firefox says of textures that are first written in part, and of contexts that the page gives back.
const hints = /lazy initialization|prior to a partial upload|WebGL context was lost/;
// Ahead of all else on the page: what it complains of.
const listening = `<script>
  var complaints = [];
  for (const how of ['warn', 'error']) console[how] = (...all) => complaints.push(all.join(' '));
  addEventListener('error', (event) => complaints.push(event.message));
  addEventListener('unhandledrejection', (event) => complaints.push(String(event.reason)));
</script>`;

// The page that listens, and the package beside the checks of its shaders.
function sites() {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sapwood-others-'));
  fs.cpSync(folder, path.join(root, 'page'), { recursive: true });
  const index = path.join(root, 'page/index.html');
  fs.writeFileSync(index, fs.readFileSync(index, 'utf8').replace('<head>', `<head>${listening}`));
  fs.cpSync(path.join(here, '../../build/web/npm'), path.join(root, 'npm/sapwood'), { recursive: true });
  fs.cpSync(path.join(here, 'gl/page.js'), path.join(root, 'npm/page.js'));
  fs.writeFileSync(path.join(root, 'npm/index.html'), '<!doctype html><title>package</title>');
  return root;
}

// In the page, until it has a picture and nothing to do: what it shows.
async function shown() {
  const asleep = () => new Promise((resolve) => setTimeout(resolve, 50));
  while (!window.sapwood?.running && document.querySelector('#status.wrong') === null) await asleep();
  await window.sapwood.idle();
  const { gl, canvas } = window.sapwood;
  const error = gl.getError();
  const bytes = new Uint8Array(4 * canvas.width * canvas.height);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  const veil = document.getElementById('veil');
  return { error, veil: veil.hidden ? '' : veil.textContent, colours: new Set(new Uint32Array(bytes.buffer)).size };
}
// In the page: what the status line says when it matches.
async function said(pattern, limit) {
  const status = document.getElementById('status');
  for (const end = Date.now() + limit; !new RegExp(pattern).test(status.textContent) && Date.now() < end;) await new Promise((resolve) => setTimeout(resolve, 20));
  return status.textContent;
}

for (const name of ['Firefox', 'WebKit']) {
  describe(name, { skip: lacks(name) || false }, () => {
    let root, browser, page, npm, alone;
    const fetched = [];
    before(async () => {
      root = sites();
      page = await serve(path.join(root, 'page'));
      page.server.prependListener('request', ({ url }) => fetched.push(url.split(/[?#]/)[0]));
      npm = await serve(path.join(root, 'npm'));
      alone = await serve(path.join(root, 'npm'), 0, isolated);
      browser = await openBrowser(name);
      await browser.call('SetWindowRect', { width: 520, height: 700 });
    });
    after(async () => {
      await browser?.close();
      for (const site of [page, npm, alone]) site?.server.close().closeAllConnections();
      fs.rmSync(root, { recursive: true, force: true });
    });
    const go = async (scene, values, query = '') => {
      await browser.go(`${page.address}${query || `?${scene}`}#${scene}?${new URLSearchParams(values)}`); // ?: a document of its own
      return browser.run(shown);
    };
    const quiet = async () => {
      assert.deepEqual(await browser.run(() => complaints), []);
      assert.deepEqual(browser.written().filter((line) => !hints.test(line)), []);
    };

    for (const scene of scenes)
      test(scene, { timeout: longest }, async (t) => {
        const picture = await go(scene, small[scene]);
        if (scene === scenes[0]) {
          t.diagnostic(browser.version);
          assert.deepEqual(fetched.filter((file) => file.endsWith('.wasm')), ['/page.wasm'], 'the module is fetched once');
        }
        assert.equal(picture.veil, '');
        assert.equal(picture.error, 0);
        assert.ok(picture.colours > 100, `${picture.colours} colours`);
        await browser.press('v');
        assert.match(await browser.run(said, right.source, patience), right);
        await browser.press('e');
        await browser.run(async () => { while (!/explain=1/.test(location.hash)) await new Promise((resolve) => setTimeout(resolve, 50)); });
        const told = await browser.run(shown);
        assert.equal(told.error, 0);
        assert.ok(told.colours > 10, `${told.colours} colours in the story`);
        await quiet();
      });

    test('compact form, WebGL 1', { timeout: longest }, async () => {
      assert.equal((await go('voronoi', { ...small.voronoi, webgl: 1, form: 'compact' })).error, 0);
      await browser.press('v');
      assert.match(await browser.run(said, right.source, patience), right);
      await quiet();
    });

    test('a mesh that moves is timed, though clocks count whole milliseconds', { timeout: longest }, async () => {
      await go('rays', small.rays, '?moves');
      const rested = await browser.run(() => window.sapwood.scene.shown.at(-1));
      await browser.press('p');
      const facts = await browser.run(async (then) => {
        while (window.sapwood.scene.shown.at(-1) === then) await new Promise((resolve) => setTimeout(resolve, 20));
        return document.querySelector('.surface-facts').textContent;
      }, rested);
      assert.match(facts, /^Moving the vertices(< )?[\d.]+ msPictures a second\d+$/);
    });

    test('a phone shows the whole tab of the scene', { timeout: longest }, async () => {
      await browser.go(`${page.address}card.png`);
      const [wide, tab, tabs] = await browser.run(async (address) => {
        const frame = document.createElement('iframe');
        Object.assign(frame.style, { width: '390px', height: '500px' });
        frame.src = address;
        document.body.append(frame);
        while (!frame.contentWindow.sapwood?.running) await new Promise((resolve) => setTimeout(resolve, 20));
        const inside = frame.contentDocument;
        const [one, all] = ['nav [aria-current]', 'nav'].map((which) => inside.querySelector(which).getBoundingClientRect().right);
        return [inside.documentElement.scrollWidth, one, all];
      }, `${page.address}?phone#photons?${new URLSearchParams(small.photons)}`);
      assert.ok(wide <= 390, `${wide} pixels beside one another`);
      assert.ok(tab <= tabs + 0.5, `the tab ends at ${tab}, what is seen of all at ${tabs}`);
    });

    test('without a network', { timeout: longest }, async () => {
      await go('compaction', small.compaction, '?kept');
      await browser.run(() => navigator.serviceWorker.ready.then(() => undefined));
      page.server.close().closeAllConnections();
      assert.equal((await go('compaction', small.compaction, '?again')).veil, '');
      assert.equal(await browser.run(() => fetch('none').then(() => 'there is a network', () => 'there is none')), 'there is none');
    });

    test('package', { timeout: longest }, async () => {
      await browser.go(npm.address);
      for (const file of ['sapwood.js', 'points.js']) {
        const entry = `${npm.address}sapwood/${file}`;
        assert.deepEqual(await browser.run(work, entry), answer(file));
        assert.deepEqual(await browser.run(inWorker, [work, entry]), answer(file), 'in a worker');
        await browser.run(() => void (window.WebAssembly.validate = () => false));
        assert.deepEqual(await browser.run(work, `${entry}?plain`), answer(file), 'without vectors');
        assert.ok(await browser.run((plain) => performance.getEntriesByType('resource').some((one) => one.name.endsWith(plain)), file.replace('.js', '-plain.wasm')));
        await browser.go(npm.address);
      }
      const status = await browser.run(async (beside) => {
        if (navigator.gpu) return 'UNSUPPORTED'; // webgpu.test.mjs tests the answers
        const [{ load }, { GpuPointTree }] = await Promise.all(['sapwood.js', 'webgpu.js'].map((file) => import(beside + file)));
        await load();
        return GpuPointTree.build(new Float32Array(6), { dims: 3 }).then(() => 'built', (error) => error.status);
      }, `${npm.address}sapwood/`);
      assert.equal(status, 'UNSUPPORTED', 'without WebGPU');
      await browser.go(alone.address);
      const expected = await threadedAnswer();
      assert.deepEqual(await browser.run(threaded, `${alone.address}sapwood/sapwood.js`), expected, 'several threads');
      assert.deepEqual(await browser.run(inWorker, [threaded, `${alone.address}sapwood/sapwood.js`]), expected, 'several threads in a worker');
    });

    for (const check of ['points', 'bytesOld', 'rays', 'compaction', 'surfaces'])
      test(`sapwood/gl: ${check}`, { timeout: longest }, async () => {
        await browser.go(npm.address);
        await browser.run(`async () => { await (await import('/page.js')).${check}(); }`);
      });
  });
}
