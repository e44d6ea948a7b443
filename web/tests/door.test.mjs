// The front door, links and frames, samples, and the page without a network: all that stands around the scenes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { executable, launch, longest, patience } from './browser.mjs';
import { drop, folder, idle, inBrowser, isRight, pixels, said, scenes, small, veil } from './page.mjs';
import { serve } from './serve.mjs';

const run = promisify(execFile);
const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const axe = fs.readFileSync(path.join(web, 'node_modules/axe-core/axe.min.js'), 'utf8');

// How many pictures each scene of the front door has shown.
const pictures = (page) => page.$$eval('#door canvas', (all) => all.map((one) => Number(one.dataset.pictures ?? 0)));
const allAtDoor = (page, least) =>
  page.waitForFunction(([count, most]) => {
    const all = [...document.querySelectorAll('#door canvas')];
    return all.length === count && all.every((one) => Number(one.dataset.pictures ?? 0) >= most);
  }, [scenes.length, least]);
const atDoor = (page) => page.waitForFunction(() => document.querySelector('#door canvas[data-pictures]'));
const colors = (page) =>
  page.$$eval('#door canvas', (all) => all.map((one) => new Set(new Uint32Array(one.getContext('2d').getImageData(0, 0, one.width, one.height).data.buffer)).size));
const wide = (page) => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);

async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`);
}

// That one element ends above where another one begins.
async function isAbove(page, upper, lower) {
  await page.locator(upper).waitFor(); // the next picture brings it
  const [above, below] = await Promise.all([upper, lower].map((which) => page.locator(which).boundingBox()));
  assert.ok(above.y + above.height <= below.y, `${upper} is behind ${lower}`);
}

inBrowser('around the scenes', 'swiftshader', small, (tab, place) => {
  // ---- The front door

  tab('all scenes move at the front door, until they are paused', '', { width: 1280, height: 1000, motion: 'no-preference' }, async (page, _, t) => {
    await allAtDoor(page, 3);
    t.diagnostic(`the first picture after ${await page.evaluate(() => performance.getEntriesByName('picture')[0].startTime.toFixed(0))} ms`);
    assert.ok((await colors(page)).every((count) => count > 8), `${await colors(page)} colours`);
    await page.getByRole('button', { name: 'Pause' }).click();
    // A last picture may be under way.
    let stood, now = await pictures(page);
    for (const end = Date.now() + patience; String(now) !== String(stood) && Date.now() < end;) {
      stood = now;
      await page.waitForTimeout(1000);
      now = await pictures(page);
    }
    assert.deepEqual(now, stood);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction((then) => [...document.querySelectorAll('#door canvas')].every((one, i) => Number(one.dataset.pictures) > then[i]), stood);
  });

  tab('with reduced motion the front door stands still', '', {}, async (page) => {
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.setViewportSize({ width: 1280, height: 1600 }); // all scenes are in view
    await allAtDoor(page, 1);
    assert.ok((await colors(page)).every((count) => count > 8), `${await colors(page)} colours`);
  });

  tab('from the front door to a scene and back, by keyboard', '', {}, async (page) => {
    await atDoor(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // to the picture
    const focused = () => page.evaluate(() => document.activeElement.dataset.scene);
    assert.equal(await focused(), 'voronoi');
    for (let i = 0; i < 10 && (await focused()) !== 'cloud'; i++) await page.keyboard.press('Tab');
    assert.equal(await focused(), 'cloud');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash === '#cloud' && document.querySelectorAll('#door canvas').length === 0);
    await idle(page);
    assert.equal(await page.locator('h1').textContent(), 'Cloud');
    await page.goBack();
    await atDoor(page);
    await page.keyboard.press('?');
    assert.match(await page.getByRole('dialog').textContent(), /choose a scene/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    for (const key of ['v', 's', 'u', 'c', 't']) await page.keyboard.press(key); // a scene's own: nothing here
    await page.keyboard.press('2');
    await page.waitForFunction(() => location.hash.startsWith('#compaction'));
    await page.waitForFunction(() => document.querySelectorAll('#door canvas').length === 0);
    await page.locator('.mark').focus();
    await page.keyboard.press('Enter');
    await atDoor(page);
  });

  tab('a scene is as it was left after a visit to the front door', 'voronoi', { values: { sites: 1234, motion: 0 } }, async (page) => {
    await isRight(page);
    const before = await pixels(page);
    await page.locator('.mark').click();
    await atDoor(page);
    await page.goBack();
    await page.waitForFunction(() => location.hash.startsWith('#voronoi'));
    await idle(page);
    assert.match(await said(page), /^1,234 sites/);
    assert.equal(await pixels(page), before);
    await isRight(page);
  });

  tab('files that are dropped at the front door', '', {}, async (page) => {
    await atDoor(page);
    await drop(page, { name: 'what.doc', text: 'x' });
    await page.waitForFunction(() => document.querySelector('#status.wrong'));
    assert.equal(await said(page), 'No scene reads what.doc.');
    assert.ok(await page.locator('#status').isVisible());
    await drop(page, []);
    assert.match(await said(page), /not a file/);
    await drop(page, { name: 'three.csv', text: 'x,y\n0,0\n1,0\n0.5,1\n' });
    await page.waitForFunction(() => location.hash.startsWith('#voronoi'));
    await page.waitForFunction(() => /^three\.csv: 3 points/.test(document.getElementById('status').textContent));
    await isRight(page);
  });

  tab('the front door’s context is lost and comes back', '', { height: 900, motion: 'no-preference' }, async (page) => {
    await atDoor(page);
    const then = await pictures(page);
    await page.evaluate(() => window.sapwood.door.booths.gl.getExtension('WEBGL_lose_context').loseContext());
    await page.waitForFunction((stood) => Number(document.querySelector('#door canvas').dataset.pictures) !== stood, then[0]);
    await page.waitForFunction(() => Number(document.querySelectorAll('#door canvas')[1].dataset.pictures) > 0);
    assert.equal(await page.locator('.no-picture').count(), 0);
  });

  tab('the front door without WebGL says so', '', { before: () => { HTMLCanvasElement.prototype.getContext = () => null; } }, async (page) => {
    await page.waitForFunction((count) => document.querySelectorAll('.no-picture').length === count, scenes.length);
    assert.match(await page.locator('.no-picture').first().textContent(), /browser does not offer/);
  });

  tab('this GPU is measured beside what was published', '', {}, async (page, _, t) => {
    await atDoor(page);
    await page.getByRole('button', { name: 'Measure' }).click();
    const frames = Number((await page.getByTestId('frames').textContent()).replaceAll(',', ''));
    t.diagnostic(`${frames} frames a second`);
    assert.ok(frames > 0 && frames < 1e5, `${frames} a second`);
    assert.match(await page.locator('.gpu').textContent(), /10 to 15.*1,000,000 points, 1900 × 1200 pixels/s);
    const then = await pictures(page);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.waitForFunction((stood) => [...document.querySelectorAll('#door canvas')].some((one, i) => Number(one.dataset.pictures) > stood[i]), then);
  });

  tab('to leave while the GPU is measured ends that', '', {}, async (page) => {
    await atDoor(page);
    await page.getByRole('button', { name: 'Measure' }).click();
    await page.evaluate(() => (location.hash = 'voronoi?sites=1000&motion=0'));
    await isRight(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll('canvas').length), 1);
  });

  // ---- Everybody's

  // Light and dark, on a desk and on a phone.
  async function isAccessible(page) {
    for (const colorScheme of ['light', 'dark'])
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        await page.waitForTimeout(300); // colours change softly
        assert.deepEqual(await findings(page), [], `${colorScheme}, ${width} wide`);
        const [all, window] = await wide(page);
        assert.ok(all <= window, `${all} pixels beside one another of ${window}`);
      }
  }
  for (const scene of ['', ...scenes])
    tab(`axe finds nothing in ${scene || 'the front door'}`, scene, {}, async (page) => {
      await (scene ? idle(page) : atDoor(page));
      await isAccessible(page);
    });
  tab('axe finds nothing in the samples and the help', 'voronoi', {}, async (page) => {
    await idle(page);
    for (const name of ['Sample files…', 'Help']) {
      await page.getByRole('button', { name }).click();
      await isAccessible(page);
      await page.keyboard.press('Escape');
    }
  });
  test('axe finds nothing in source and docs', { timeout: longest }, async () => {
    const context = await place.browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    await page.goto(`${place.address}/source.html#voronoi`);
    await isAccessible(page);
    for (const text of ['voronoi_search.c', 'shell.ts', 'one static page']) assert.ok((await page.content()).includes(text), text);
    await context.close();
  });

  tab('a phone that lies on its side gives the picture its whole screen', 'voronoi', { width: 390, height: 844, isMobile: true, hasTouch: true }, async (page) => {
    await idle(page);
    assert.ok((await page.getByTestId('canvas').boundingBox()).height < 800);
    await page.setViewportSize({ width: 844, height: 390 });
    await page.waitForFunction(() => document.body.classList.contains('full'));
    await idle(page);
    assert.deepEqual(await page.getByTestId('canvas').boundingBox(), { x: 0, y: 0, width: 844, height: 390 });
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'Leave full screen' }).tap();
    await idle(page);
    assert.ok(await page.locator('nav').isVisible());
    assert.ok((await page.getByTestId('canvas').boundingBox()).height < 390);
    await page.getByRole('button', { name: 'Full screen' }).tap();
    await page.waitForFunction(() => document.body.classList.contains('full'));
    await isRight(page);
    await page.keyboard.press('e'); // a story has the panel beside the picture, and the way out
    await page.waitForSelector('.guide');
    await idle(page);
    assert.ok((await page.getByTestId('canvas').boundingBox()).height < 300);
    assert.deepEqual(await findings(page), []);
    await page.getByRole('button', { name: 'Leave', exact: true }).tap();
    await idle(page);
    assert.equal((await page.getByTestId('canvas').boundingBox()).height, 390);
  });

  tab('the whole screen on a desk, and back', 'voronoi', { width: 1000, height: 700 }, async (page) => {
    await idle(page);
    await page.getByRole('button', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement && document.body.classList.contains('full'));
    await isRight(page);
    assert.ok(!(await page.locator('nav').isVisible()) || (await page.getByTestId('canvas').boundingBox()).y === 0);
    await page.getByTestId('canvas').press('ArrowUp');
    await isAbove(page, '.chip:not(.legend)', '.bar');
    await page.getByRole('button', { name: 'Leave full screen' }).click();
    await page.waitForFunction(() => !document.fullscreenElement && !document.body.classList.contains('full'));
  });

  tab('what may be dropped is named where it is dropped', 'rays', {}, async (page) => {
    await idle(page);
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], 'x.ply'));
      window.dispatchEvent(new DragEvent('dragenter', { dataTransfer: data, bubbles: true }));
    });
    const told = await page.evaluate(() => getComputedStyle(document.getElementById('canvas-place'), '::before').content);
    assert.match(told, /PLY, OBJ or STL meshes/);
  });

  // ---- Links

  const permissions = ['clipboard-read', 'clipboard-write'];
  const copied = async (page) => {
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.waitForFunction(() => /copied|does not let/.test(document.getElementById('status').textContent));
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const other = async (context, link) => {
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    await page.goto(link);
    await idle(page);
    return page;
  };
  const valuesOf = (page) => page.evaluate(() => ({ ...window.sapwood.values }));

  for (const [scene, change] of [
    ['voronoi', (page) => page.evaluate(() => window.sapwood.scene.look(0.3, 0.4, 2))],
    ['isosurface', (page) => page.locator('canvas').press('ArrowLeft')],
    ['rays', (page) => page.locator('canvas').press('ArrowLeft')],
    ['cloud', (page) => page.locator('canvas').press('ArrowUp')],
    ['compaction', (page) => page.locator('canvas').press('[')],
  ])
    tab(`a link that is copied shows the same: ${scene}`, scene, { permissions }, async (page, context) => {
      await idle(page);
      await change(page);
      await idle(page);
      const link = await copied(page);
      const twin = await other(context, link);
      assert.deepEqual(await valuesOf(twin), await valuesOf(page));
      assert.equal(await pixels(twin), await pixels(page));
      assert.match(link, new RegExp(`#${scene}\\?`));
    });

  tab('a link holds where the camera is that goes round by itself', 'isosurface', { permissions, motion: 'no-preference', values: { size: 64 } }, async (page) => {
    await page.waitForFunction(() => window.sapwood?.seconds > 0.5);
    assert.match(await copied(page), /camera=/);
  });

  tab('what a link lacks is said, and the code of a frame is offered', 'voronoi', { permissions }, async (page) => {
    await idle(page);
    await page.evaluate(() => window.sapwood.scene.add(0.5, 0.5));
    await page.waitForFunction(() => location.hash.includes('lacks=edited'));
    await copied(page);
    assert.match(await said(page), /^The link is copied\. It holds the settings, but not what they are of: edited sites\./);
    await page.getByRole('button', { name: 'Copy the code for a frame' }).click();
    await page.waitForFunction(() => /^The code is copied/.test(document.getElementById('status').textContent));
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^<iframe src="http:\/\/localhost:\d+\/\?embed#voronoi\?[^"]*" title="Voronoi · Sapwood"/);
  });

  tab('where nothing can be copied the page says so', 'voronoi', { before: () => Object.defineProperty(navigator, 'clipboard', { value: undefined }) }, async (page) => {
    await idle(page);
    await page.keyboard.press('u');
    await page.waitForFunction(() => /does not let the page copy\. The link is in the address bar/.test(document.getElementById('status').textContent));
  });

  // Addresses that nobody wrote: what they show.
  for (const [address, shows] of [
    ['/#nothing', 'door'], ['/#%E0%A4%A', 'door'], ['/?x=<b>#', 'door'], ['/?theme=evil', 'door'], ['/#?sites=3', 'door'],
    ['/?embed=<script>alert(1)</script>#nothing', 'voronoi'], ['/?embed', 'voronoi'], ['/?embed#rays?triangles=-1&yaw=NaN&sample=__proto__', 'rays'],
    ['/#voronoi?sites=1000&sample=scans', 'voronoi'], ['/#cloud?points=500&sample=../../etc/passwd', 'cloud'], ['/#compaction?size=7&sample=galaxy&step=1e999', 'compaction'],
  ])
    test(`an address that nobody wrote: ${address}`, { timeout: longest }, async () => {
      const context = await place.browser.newContext({ viewport: { width: 520, height: 560 }, deviceScaleFactor: 0.5, reducedMotion: 'reduce', serviceWorkers: 'block' });
      const page = await context.newPage();
      page.setDefaultTimeout(patience);
      const complaints = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('dialog', () => complaints.push('a dialog'));
      await page.goto(place.address + address);
      if (shows === 'door') {
        await atDoor(page);
        assert.equal(await said(page), address === '/#nothing' ? 'There is no scene “nothing” here.' : '');
      } else {
        await idle(page);
        assert.equal(await veil(page), '');
        assert.equal(await page.evaluate(() => window.sapwood.scene.name), shows);
      }
      assert.ok(['light', 'dark'].includes(await page.evaluate(() => document.documentElement.dataset.theme)));
      assert.deepEqual(complaints, []);
      await context.close();
    });

  // ---- In a frame

  test('a scene in a frame of another site', { timeout: longest }, async () => {
    const host = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><html lang="en"><title>x</title><main><h1>x</h1><iframe title="Voronoi" width="500" height="400" src="${place.address}/?embed&theme=dark#voronoi?sites=1000&motion=0"></iframe></main></html>`));
    await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
    const context = await place.browser.newContext({ viewport: { width: 600, height: 500 }, reducedMotion: 'reduce' });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(patience);
      const complaints = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      await page.goto(`http://127.0.0.1:${host.address().port}/`);
      const frame = await (await page.waitForSelector('iframe')).contentFrame();
      await frame.waitForFunction(() => window.sapwood?.running);
      await frame.evaluate(() => window.sapwood.idle());
      for (const hidden of ['header', 'aside', '.times', '#verify', '#copy']) assert.ok(!(await frame.locator(hidden).isVisible()), hidden);
      assert.deepEqual(await frame.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.scrollHeight <= innerHeight]), ['dark', true]);
      const box = await frame.getByTestId('canvas').evaluate((one) => one.getBoundingClientRect().toJSON());
      assert.deepEqual([box.width, box.height], [500, 400]);
      assert.ok((await pixels(frame, true)) > 8);
      assert.deepEqual(await findings(frame), []);
      await frame.getByRole('button', { name: 'Play' }).press('Enter');
      await frame.getByRole('button', { name: 'Pause' }).waitFor();
      const [whole] = await Promise.all([context.waitForEvent('page'), frame.getByRole('link', { name: 'Open in Sapwood' }).click()]);
      await whole.waitForURL(/\/#voronoi\?sites=1000/);
      await whole.close();
      await frame.getByTestId('canvas').press('ArrowUp');
      await isAbove(frame, '.chip:not(.legend)', '.bar');
      await frame.getByTestId('canvas').evaluate((one) => one.blur());
      // The page that holds the frame scrolls, until the picture has the focus.
      const zoom = () => frame.evaluate(() => window.sapwood.values.zoom);
      await page.mouse.move(250, 250);
      await page.mouse.wheel(0, -200);
      await page.waitForTimeout(200);
      assert.equal(await zoom(), 1);
      await frame.getByTestId('canvas').click();
      await page.mouse.wheel(0, -200);
      await frame.waitForFunction(() => window.sapwood.values.zoom > 1);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
      host.close();
    }
  });

  // ---- Samples

  for (const [kind, scene, told] of [
    ['sunflower', 'voronoi', /^sunflower\.csv: 2,500 points/], ['galaxy', 'voronoi', /^galaxy\.npy: 20,000 points/], ['rings', 'isosurface', /^rings\.npy: 96 × 96 × 96/],
    ['rings', 'compaction', /^rings\.npy/], ['orbital', 'isosurface', /^orbital\.npy/], ['orbital', 'compaction', /^orbital\.npy/], ['gyroid', 'rays', /^gyroid\.ply: [\d,]+ triangles/],
    ['gyroid', 'cloud', /^gyroid\.ply/], ['link', 'rays', /^link\.obj: 12,288 triangles/], ['asteroid', 'cloud', /^asteroid\.xyz/], ['scans', 'cloud', /^scan-1\.ply onto scan-2\.ply/],
  ])
    tab(`the sample ${kind} in ${scene}`, scene, { values: { ...small[scene], sample: kind } }, async (page) => {
      await page.waitForFunction((name) => document.getElementById('status').textContent.startsWith(name), told.source.slice(1, 7).replaceAll('\\', ''));
      await idle(page);
      assert.match(await said(page), told);
      await isRight(page);
      await page.waitForFunction((name) => location.hash.includes(`sample=${name}`) && !location.hash.includes('lacks'), kind);
    });

  tab('a link to a sample shows it as it was seen', 'rays', { permissions, values: { samples: 1, sample: 'link' } }, async (page, context) => {
    await page.waitForFunction(() => window.sapwood?.values.mesh === 'file');
    await idle(page);
    await page.locator('canvas').press('ArrowLeft');
    await page.locator('canvas').press('+');
    await idle(page);
    const link = await copied(page);
    assert.match(link, /sample=link/);
    const twin = await other(context, link);
    await twin.waitForFunction(() => window.sapwood.values.mesh === 'file');
    await idle(twin);
    assert.deepEqual(await valuesOf(twin), await valuesOf(page));
    assert.equal(await pixels(twin), await pixels(page));
  });

  tab('the gallery opens samples and saves them, by keyboard', 'voronoi', {}, async (page) => {
    await idle(page);
    await page.getByRole('button', { name: 'Sample files…' }).press('Enter');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save sunflower.csv' }).press('Enter')]).catch(async (error) => assert.fail(`${error.message}; ${await page.locator('#samples').textContent()}`));
    const text = fs.readFileSync(await download.path(), 'utf8');
    assert.match(text, /^x,y\n1?\.?\d/);
    assert.equal(text.trim().split('\n').length, 2501);
    await page.getByRole('link', { name: 'Open galaxy.npy in Voronoi' }).press('Enter');
    await page.waitForFunction(() => /^galaxy\.npy/.test(document.getElementById('status').textContent));
    await page.evaluate(() => window.sapwood.scene.add(0.5, 0.5)); // no link holds that
    await page.waitForFunction(() => location.hash.includes('lacks=galaxy.npy%2C+edited'));
    await page.getByRole('button', { name: 'Sample files…' }).press('Enter');
    await page.getByRole('link', { name: 'Open rings.npy in Isosurface' }).press('Enter');
    await page.waitForFunction(() => /^rings\.npy/.test(document.getElementById('status').textContent));
    await isRight(page);
  });
});

// ---- Without a network

describe('the page without a network', { skip: executable ? false : 'no Chromium here' }, () => {
  let browser, place, server;
  const build = (...more) => run(process.execPath, [path.join(web, 'build.mjs'), place, ...more]);
  before(async () => {
    browser = await launch('swiftshader');
    place = fs.mkdtempSync(path.join(os.tmpdir(), 'sapwood-page-'));
    fs.cpSync(folder, place, { recursive: true });
    server = await serve(place);
  });
  after(async () => {
    await browser.close();
    server.close();
    fs.rmSync(place, { recursive: true });
  });
  const version = (page) => page.getAttribute('meta[name=version]', 'content');
  const keys = (page) => page.evaluate(() => caches.keys());
  const ready = (page) => page.waitForFunction(() => /without a network/.test(document.querySelector('.offline')?.textContent ?? ''));

  test('it opens, and a new version replaces an old one', { timeout: longest }, async () => {
    const context = await browser.newContext({ viewport: { width: 900, height: 700 }, deviceScaleFactor: 0.5, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    await page.goto(`${server.address}/`);
    await ready(page);
    const first = await version(page);

    await context.setOffline(true);
    await page.reload();
    await atDoor(page);
    for (const address of ['/#voronoi?sites=1000&motion=0', '/index.html#isosurface?size=64', '/?embed#voronoi?sites=500&motion=0']) {
      const other = await context.newPage();
      other.setDefaultTimeout(patience);
      await other.goto(server.address + address);
      await (address.includes('embed') ? idle(other) : isRight(other)).catch((error) => assert.fail(`${address}: ${error.message}`));
      assert.ok((await pixels(other, true)) > 3, address);
      await other.close();
    }
    await context.setOffline(false);

    // Another version is fetched whole, says so, and takes over when it is told to.
    await build('https://example.org/pictures');
    await page.goto(`${server.address}/`);
    await page.locator('#news').getByRole('button', { name: 'Load it' }).waitFor();
    assert.equal(await version(page), first);
    assert.equal((await keys(page)).length, 2);
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Load it' }).click()]);
    await ready(page);
    const second = await version(page);
    assert.notEqual(second, first);
    assert.equal((await keys(page)).length, 1);
    assert.match(fs.readFileSync(path.join(place, 'index.html'), 'utf8'), /og:image" content="https:\/\/example\.org\/pictures\/card\.png"/);

    // One that a host has only in part is not taken.
    await build('https://example.org/elsewhere');
    fs.appendFileSync(path.join(place, 'main.js'), '\n');
    await page.reload();
    await ready(page);
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      await registration.update().catch(() => undefined);
    });
    await page.waitForTimeout(2000);
    assert.equal(await page.locator('#news').count(), 0);
    assert.equal(await version(page), second);

    // And once it is whole it is there without a word where no tab shows the old one.
    await build('https://example.org/elsewhere');
    await page.reload();
    await page.locator('#news').waitFor();
    await page.goto('about:blank');
    await page.waitForTimeout(1000);
    await page.goto(`${server.address}/`);
    await ready(page);
    assert.notEqual(await version(page), second);
    await context.close();
  });

  test('addresses that are none are refused', { timeout: longest }, async () => {
    for (const address of ['example.org', 'ftp://example.org', 'https://example.org/?x', 'https://example.org/"><script>', 'file:///tmp'])
      await assert.rejects(build(address), (error) => error.code === 2 && /is to be one of http or https/.test(error.stderr), address);
  });
});

test('the card is a picture of the right size', () => {
  const bytes = fs.readFileSync(path.join(web, 'page/card.png'));
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630]);
  assert.ok(bytes.length < 200e3, `${bytes.length} bytes`);
  const page = fs.readFileSync(path.join(web, 'page/index.html'), 'utf8');
  for (const name of ['og:title', 'og:description', 'og:image', 'og:image:alt', 'twitter:card']) assert.match(page, new RegExp(`"${name}" content="[^"]+"`));
});
