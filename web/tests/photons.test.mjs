// The page's scene Photons as a reader uses it: photons land part by part, the light is what brute force finds, glass and
// metal throw caustics and chalk none, meshes that are dropped stand in the room, and a lost context comes back.
import assert from 'node:assert/strict';
import { drop, idle, inBrowser, isRight, pixels, said, veil, verify } from './page.mjs';

const few = { photons: 4000, caustics: 6000, k: 30 };

const facts = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.surface-facts dt')].map((dt) => [dt.textContent, dt.nextSibling.textContent])));
const landed = async (page, map) => Number((await facts(page))[`Landed: ${map}`].replaceAll(',', ''));
const tells = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById('status').textContent), pattern.source);
const choose = (page, id, value) => page.locator(`label[for="control-${id}-${value}"]`).click();
const slide = (page, id, value) =>
  page.locator(`#control-${id}`).evaluate((input, to) => {
    input.value = String(to);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  }, value);

// The mean brightness of the canvas in 0 … 1, but for the paper around the room.
const brightness = (page) =>
  page.evaluate(() => {
    const { gl, canvas } = window.sapwood;
    const bytes = new Uint8Array(4 * canvas.width * canvas.height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    let sum = 0, pixels = 0;
    for (let i = 0; i < bytes.length; i += 4) {
      if (bytes[i] === bytes[0] && bytes[i + 1] === bytes[1] && bytes[i + 2] === bytes[2]) continue;
      const bright = (bytes[i] + bytes[i + 1] + bytes[i + 2]) / 765;
      sum += bright;
      pixels++;
    }
    return sum / pixels;
  });

inBrowser('photons', 'swiftshader', {}, (inTab) => {
  const tab = (name, options, use) => inTab(name, 'photons', { ...options, values: { ...few, ...options.values } }, use);

  for (const show of ['dots', 'light', 'both']) tab(`${show} of every thing and matter`, { values: { show } }, async (page) => {
    for (const thing of ['ring', 'ball', 'knot']) {
      await choose(page, 'thing', thing);
      for (const matter of ['glass', 'metal']) {
        await page.evaluate(() => window.sapwood.say(''));
        await choose(page, 'matter', matter);
        await tells(page, new RegExp(`^A ${thing} of ${matter}: [\\d,]+ photons landed in the global map, [\\d,]+ in that of caustics\\.$`));
        assert.ok((await landed(page, 'caustics')) > 300, JSON.stringify(await facts(page)));
      }
    }
    await isRight(page);
  });

  tab('every filter, number and radius is what brute force finds', { values: { show: 'light' } }, async (page) => {
    for (const filter of ['constant', 'cone', 'epanechnikov']) {
      await choose(page, 'filter', filter);
      for (const [k, radius] of [[1, 100], [500, 3], [60, 20]]) {
        await page.evaluate((values) => Object.assign(window.sapwood.values, values), { k, radius });
        await page.evaluate(() => window.sapwood.scene.change('k'));
        await idle(page);
        assert.match(await verify(page), /^Verified: at [\d,]+ places? of the picture the light is what brute force over all [\d,]+ photons finds, bit for bit\.$/, `${filter} ${k} ${radius}`);
      }
    }
  });

  tab('glass throws a caustic, and chalk none', { values: { show: 'light', maps: 'caustics', thing: 'ball', matter: 'glass', caustics: 30000 } }, async (page) => {
    await idle(page);
    const glass = await brightness(page);
    await choose(page, 'matter', 'chalk');
    await idle(page);
    assert.equal(await landed(page, 'caustics'), 0);
    const chalk = await brightness(page);
    assert.ok(chalk < 0.015 && glass > 4 * chalk, `${glass} and ${chalk}`);
    assert.match(await verify(page), /^Verified/);
  });

  tab('the light does not hang on when photons were looked up', { values: { show: 'light' } }, async (page) => {
    await idle(page);
    const picture = await pixels(page);
    await page.getByRole('button', { name: 'Start again' }).click(); // paused: one part
    await idle(page);
    assert.notEqual(await pixels(page), picture);
    for (let i = 1; i < 16; i++) {
      await page.getByRole('button', { name: 'Send some' }).click();
      await idle(page);
    }
    assert.equal(await pixels(page), picture);
    const whole = await landed(page, 'global');
    await page.getByRole('button', { name: 'Send some' }).click(); // there are no more
    await idle(page);
    assert.equal(await landed(page, 'global'), whole);
  });

  tab('passes with photons of their own', { values: { show: 'light', renew: true, photons: 1000, caustics: 1000 }, width: 390, height: 420 }, async (page) => {
    await page.waitForFunction(() => /pass [3-9]/.test(document.querySelector('.surface-facts').textContent));
    const picture = await pixels(page);
    await page.waitForFunction(() => document.querySelector('.surface-facts').textContent.includes('complete'));
    await idle(page);
    assert.notEqual(await pixels(page), picture);
    assert.match(await verify(page), /^Verified/);
  });

  tab('photons land part by part', { motion: 'no-preference', values: { show: 'dots' } }, async (page) => {
    await tells(page, /photons fly\.$/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await idle(page);
    const some = await landed(page, 'global');
    const sent = (await facts(page))['Sent'];
    assert.match(sent, /^[\d,]+ of 10,000$/);
    await page.waitForTimeout(700);
    assert.equal(await landed(page, 'global'), some, 'photons land while the page is paused');
    const picture = await pixels(page);
    await page.getByRole('button', { name: 'Send some' }).click();
    await page.waitForFunction((before) => !document.querySelector('.surface-facts').textContent.includes(before), sent);
    await idle(page);
    assert.ok((await landed(page, 'global')) > some);
    assert.notEqual(await pixels(page), picture);
    await page.getByRole('button', { name: 'Play' }).click();
    await tells(page, /photons landed in the global map/);
    assert.match((await facts(page))['Sent'], /^10,000 of 10,000$/);
    await page.getByRole('button', { name: 'Pause' }).click();
    await isRight(page);
  });

  tab('by keyboard alone', { values: {} }, async (page) => {
    await idle(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter'); // to the picture
    await page.getByTestId('canvas').focus();
    let picture = await pixels(page);
    for (const key of ['ArrowLeft', 'ArrowUp', '+', 'm', 'c', 'l', 'g', '0']) {
      await page.keyboard.press(key);
      await idle(page);
      const next = await pixels(page);
      if (key !== 'c') assert.notEqual(next, picture, `${key} changes nothing`);
      picture = next;
    }
    await page.keyboard.press('v');
    await tells(page, /^Verified/);
    await page.keyboard.press('r');
    await idle(page);
    await page.keyboard.press('n');
    await idle(page);
    assert.match((await facts(page))['Sent'], /^1,250 of 10,000$/);
  });

  tab('as wide as a phone', { width: 390, height: 844, hasTouch: true }, async (page) => {
    await isRight(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone');
    const wide = await page.locator('#controls').evaluate((box) => [...box.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80)));
    assert.deepEqual(wide, []);
  });

  tab('meshes that are dropped', { values: { matter: 'glass' } }, async (page) => {
    await idle(page);
    const tetrahedron = 'v 100 0 0\nv 104 0 0\nv 102 3 0\nv 102 1 4\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n';
    await drop(page, { name: 'tetrahedron.obj', text: tetrahedron });
    await tells(page, /^tetrahedron\.obj of glass: [\d,]+ photons landed/);
    await page.waitForFunction(() => location.hash.includes('lacks=tetrahedron.obj'));
    await isRight(page);
    const picture = await pixels(page);
    await choose(page, 'up', 'y');
    await idle(page);
    assert.notEqual(await pixels(page), picture);
    await choose(page, 'up', 'z');
    await idle(page);
    assert.equal(await pixels(page), picture);
    for (const [file, sentence] of [
      [{ name: 'scan.las', text: 'x' }, /scan\.las: this scene reads PLY/],
      [{ name: 'empty.obj', text: '' }, /empty\.obj is empty/],
      [{ name: 'points.obj', text: 'v 0 0 0\n' }, /^points\.obj: It holds no triangles\./],
      [{ name: 'far.obj', text: tetrahedron.replace('104', '1e39') }, /^far\.obj: /],
      [{ name: 'nan.ply', text: 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n' }, /^nan\.ply: Vertex 1 of triangle 0 is not finite\.$/],
      [{ name: 'torn.obj', text: 'v 0 0 0\nf 1 2 3\n' }, /^torn\.obj: /],
    ]) {
      await drop(page, file);
      await page.waitForFunction(() => document.querySelector('#status.wrong'));
      assert.match(await said(page), sentence);
      await idle(page);
      assert.equal(await veil(page), '');
      await page.evaluate(() => window.sapwood.say(''));
    }
    await idle(page);
    assert.equal(await pixels(page), picture);
    await drop(page, { name: 'flat.obj', text: 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' });
    await tells(page, /^flat\.obj of glass/);
    await isRight(page);
    await drop(page, { name: 'point.obj', text: 'v 7 7 7\nv 7 7 7\nv 7 7 7\nf 1 2 3\n' });
    await tells(page, /^point\.obj of glass/);
    await isRight(page);
    await choose(page, 'thing', 'ball');
    await tells(page, /^A ball of glass/);
    await choose(page, 'thing', 'file');
    await tells(page, /^point\.obj of glass/);
    await idle(page);
  });

  tab('a context that is lost', { values: { show: 'both' } }, async (page) => {
    await idle(page);
    const picture = await pixels(page);
    await page.evaluate(() => {
      const lose = window.sapwood.gl.getExtension('WEBGL_lose_context');
      lose.loseContext();
      setTimeout(() => lose.restoreContext(), 50);
    });
    await tells(page, /^The graphics context is back/);
    await idle(page);
    assert.equal(await pixels(page), picture);
    assert.match(await verify(page), /^Verified/);
  });

  tab('addresses that ask for nonsense', { values: { photons: -3, caustics: 'nan', k: 1e9, radius: 0, turn: 'inf', lamp: -1, thing: 'file', matter: 'air', camera: '0,0,0', show: 'x' }, width: 390, height: 420 }, async (page) => {
    await idle(page);
    assert.match(await said(page), /^A ball of glass/);
    assert.match(await verify(page), /^Verified/);
  });
});
