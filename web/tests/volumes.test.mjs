// The page's scenes of volumes, Compaction and Isosurface, used as a reader uses them: what they verify against brute force,
// files that are volumes and files that are none, a context that is lost, and that pictures are pictures.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { executable, launch, longest, patience } from './browser.mjs';
import { serve } from './serve.mjs';

const web = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(web, '../build/web/page');

// ---- A page, and what its reader does

class Reader {
  constructor(tab) {
    this.tab = tab;
    this.wrong = [];
    tab.setDefaultTimeout(patience);
    tab.on('pageerror', (error) => this.wrong.push(String(error)));
  }
  async open(address) {
    await this.tab.goto(address);
    await this.tab.waitForFunction(() => window.sapwood);
    await this.rest();
  }
  // Until nothing is left to be done. Events come first: what they ask for begins after they have been heard.
  async rest() {
    for (let i = 0; i < 3; i++) await this.tab.evaluate(() => new Promise((done) => setTimeout(done, 30)).then(() => sapwood.idle()));
  }
  async choose(id, value) {
    const menu = await this.tab.$(`select#control-${id}`);
    if (menu) await menu.selectOption(value);
    else await this.tab.click(`label[for="control-${id}-${value}"]`);
    await this.rest();
  }
  async slide(id, value) {
    await this.tab.$eval(`#control-${id}`, (input, to) => {
      input.value = String(to);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }, value);
    await this.rest();
  }
  async press(...keys) {
    await this.tab.focus('canvas');
    for (const key of keys) await this.tab.keyboard.press(key);
    await this.rest();
  }
  async verify() {
    await this.tab.click('#verify');
    await this.rest();
    return this.status();
  }
  async take(name, bytes) {
    await this.tab.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });
    await this.rest();
    return this.status();
  }
  async loseContext() {
    await this.tab.evaluate(async () => {
      const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
      const lose = sapwood.gl.getExtension('WEBGL_lose_context');
      lose.loseContext();
      await wait(100);
      lose.restoreContext();
      await wait(200);
    });
    await this.rest();
  }
  status() {
    return this.tab.textContent('#status');
  }
  details() {
    return this.tab.textContent('#details');
  }
  // How many colours the canvas has, at most 64: a blank one has one.
  colors() {
    return this.tab.evaluate(() => {
      const [canvas, copy] = [document.querySelector('canvas'), document.createElement('canvas')];
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext('2d');
      context.drawImage(canvas, 0, 0);
      const texels = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
      const found = new Set();
      for (let i = 0; i < texels.length && found.size < 64; i++) found.add(texels[i]);
      return found.size;
    });
  }
}

// ---- Files

function npy(shape, type, data) {
  let head = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + '\n';
  const start = [0x93, ...Buffer.from('NUMPY'), 1, 0, head.length & 255, head.length >> 8];
  return Buffer.concat([Buffer.from(start), Buffer.from(head, 'latin1'), Buffer.from(data.buffer)]);
}

// A ball, brightest in the middle, in 20 x 24 x 28 bytes.
const ball = Uint8Array.from({ length: 20 * 24 * 28 }, (_, i) =>
  Math.max(0, 255 - 18 * Math.hypot((i % 20) - 10, (Math.floor(i / 20) % 24) - 12, Math.floor(i / 480) - 14)));

// The same as NIfTI: header of 348 bytes, four more, samples. `scale` and `type` change its values' meaning.
function nifti({ big = false, scale = [0, 0], type = 2, at = 352 } = {}) {
  const samples = type === 2 ? ball : Int16Array.from(ball);
  const bytes = Buffer.alloc(at + samples.byteLength);
  const put = (size, value, offset) => bytes[`write${size}${big ? 'BE' : 'LE'}`](value, offset);
  put('Int32', 348, 0);
  [3, 20, 24, 28, 1, 1, 1, 1].forEach((side, i) => put('Int16', side, 40 + 2 * i));
  put('Int16', type, 70);
  put('Float', at, 108);
  scale.forEach((value, i) => put('Float', value, 112 + 4 * i));
  bytes.write('n+1', 344);
  samples.forEach((sample, i) => (type === 2 ? bytes.writeUInt8(sample, at + i) : put('Int16', sample, at + 2 * i)));
  return bytes;
}

const good = /^Verified: all [\d,]+ entries are those of sap_compact on the CPU, in the same order, and so is the total\.$/;
const closed = /^Verified: the mesh is closed, each of [\d,]+ edges run once each way.* The GPU’s [\d,]+ vertices and [\d,]+ triangles are the CPU’s, (bit for bit|positions to .*)\.$/;

const flows = {
  async compaction(reader, address) {
    await reader.open(`${address}/#compaction?size=16`);
    assert.ok((await reader.colors()) > 30);
    for (const size of ['16', '32'])
      for (const form of ['plain', 'vec4', 'bytes']) {
        await reader.choose('size', size);
        await reader.choose('form', form);
        assert.match(await reader.verify(), good, `${size}, ${form}`);
      }
    await reader.choose('total', 'expected');
    await reader.slide('level', 0.3);
    assert.match(await reader.verify(), good);
    await reader.choose('shape', 'sextic');
    await reader.slide('level', 0.9);
    assert.match(await reader.verify(), /^Verified: the list is empty, and so is that of sap_compact on the CPU\.$/);
    await reader.choose('shape', 'gyroid');
    await reader.slide('level', 0);
    await reader.choose('total', 'read');
    await reader.loseContext();
    assert.match(await reader.verify(), good);

    // A key's way: of every level the child that the key falls into, and what is left of it.
    await reader.slide('step', 0);
    assert.match(await reader.status(), /^A volume as slices/);
    await reader.slide('step', 12);
    await reader.press('ArrowRight', 'ArrowDown', ']');
    assert.match(await reader.status(), /falls into number [1-4], which has [\d,]+ to [\d,]+\. Left of the key: \d/);
    const ways = await reader.tab.$$eval('.way li', (items) => items.map((item) => item.getAttribute('aria-label')));
    assert.equal(ways.length, 8); // 32^3 cells
    let rest = 301; // 200, one on, a hundred on
    for (const way of ways) {
      const [children, key, place, left] = /children ([\d, ]+); key (\d+) falls into the (\w+), (\d+) left/.exec(way).slice(1);
      const sums = children.split(', ').map(Number);
      const before = sums.slice(0, ['first', 'second', 'third', 'fourth'].indexOf(place)).reduce((a, b) => a + b, 0);
      assert.equal(Number(key), rest, way);
      rest -= before;
      assert.equal(Number(left), rest, way);
      assert.ok(rest >= 0 && rest < sums[['first', 'second', 'third', 'fourth'].indexOf(place)], way);
    }

    // A volume of the reader's takes the shape's place, until another is chosen.
    assert.match(await reader.take('ball.npy', npy([28, 24, 20], '|u1', ball)), /^ball\.npy, resampled: 3,534 of 32,768 cells kept at level 0\.00\.$/);
    assert.match(await reader.verify(), good);
    assert.match(await reader.take('same.npy', npy([16, 16, 16], '<f4', new Float32Array(4096).fill(3))), /Every sample of this volume is 3/);
    assert.match(await reader.verify(), good);
    // What is drawn beside the picture leaves the form whole, also when the picture is drawn anew.
    assert.match(await reader.take('ball.raw', ball), /Neither the name nor the length of ball\.raw says its size/);
    await reader.slide('key', 7);
    for (const [i, side] of [20, 24, 28].entries()) await reader.tab.fill(`.volume-form fieldset label:nth-child(${i + 1}) input`, String(side));
    await reader.tab.click('.volume-form button');
    await reader.rest();
    assert.match(await reader.status(), /^ball\.raw, resampled: 3,534 of 32,768 cells kept/);
    assert.deepEqual(await reader.tab.$$eval('#details > *', (all) => all.map((one) => one.getAttribute('class'))), ['volume-form', 'way-text', 'guide-figure', 'way']);
  },

  async isosurface(reader, address) {
    await reader.open(`${address}/#isosurface?size=64&shape=metaballs`);
    assert.match(await reader.status(), /^Metaballs, level 0.000: [\d,]+ triangles\.$/);
    assert.ok((await reader.colors()) > 30);
    for (const by of ['cpu', 'gpu']) {
      await reader.choose('by', by);
      assert.match(await reader.verify(), closed, by);
    }
    await reader.loseContext();
    assert.match(await reader.verify(), closed);
    await reader.choose('by', 'cpu');

    // Nothing to see is said in the picture's place.
    await reader.slide('level', 1);
    assert.match(await reader.tab.textContent('#overlay'), /at this level there is no surface/);
    assert.match(await reader.verify(), /^Verified: there is no surface at this level/);
    await reader.slide('level', 0.5);
    assert.equal(await reader.tab.textContent('#overlay'), '');

    // Volumes of the reader's.
    const triangles = /3,768 triangles at level 67\.8/;
    assert.match(await reader.take('ball_20x24x28_u8.raw', ball), triangles);
    assert.match(await reader.verify(), closed);
    assert.match(await reader.take('ball.npy', npy([28, 24, 20], '|u1', ball)), triangles);
    // NIfTI says all of it, in either order of bytes, also compressed.
    assert.match(await reader.take('ball.nii', nifti()), triangles);
    assert.match(await reader.verify(), closed);
    assert.match(await reader.take('large.nii', nifti({ big: true, type: 4, at: 400 })), /20 × 24 × 28 samples from 0.0 to 255.0; 3,768 triangles/);
    assert.match(await reader.take('scaled.nii.gz', gzipSync(nifti({ scale: [2, -100] }))), /^scaled\.nii: .* from -100 to 410; 3,768 triangles at level 3\d/);
    assert.match(await reader.take('ball.raw', ball), /Neither the name nor the length of ball\.raw says its size/);
    for (const [i, side] of [20, 24, 28].entries()) await reader.tab.fill(`.volume-form fieldset label:nth-child(${i + 1}) input`, String(side));
    await reader.tab.click('.volume-form button');
    await reader.rest();
    assert.match(await reader.status(), triangles);

    // Files that are none: the volume that there was stays.
    const changed = (at, value) => { const bytes = nifti(); bytes.writeInt16LE(value, at); return bytes; };
    const values = Float32Array.from({ length: 4096 }, (_, i) => Math.sin(i));
    const bad = Float32Array.from(values);
    bad[77] = NaN;
    const files = {
      'nan.npy': [npy([16, 16, 16], '<f4', bad), /Sample 77 of this volume is not finite \(x 13, y 4, z 0\)/],
      'flat.npy': [npy([1, 64, 64], '<f4', values), /fewer than two along an axis/],
      'same.npy': [npy([16, 16, 16], '<f4', new Float32Array(4096).fill(3)), /Every sample of this volume is 3/],
      'cut.npy': [npy([28, 24, 20], '|u1', ball).subarray(0, 3000), /13440 bytes, but the file has 2872/],
      'not.npy': [ball, /does not begin like one/],
      'empty.raw': [[], /is empty/],
      'noise.nii': [Uint8Array.from({ length: 2000 }, (_, i) => (i * i * 2654435761) >>> 13), /^noise\.nii: It does not begin like NIfTI-1/],
      'short.nii': [nifti().subarray(0, 300), /^short\.nii: It has 300 bytes/],
      'cut.nii': [nifti().subarray(0, 5000), /samples are 13440 bytes from byte 352 on, but it has only 4648 there/],
      'cut.nii.gz': [gzipSync(nifti()).subarray(0, 500), /^cut\.nii\.gz is called gzip/],
      'flat.nii': [changed(40, 2), /byte 40\) says 2 axes/],
      'minus.nii': [changed(44, -24), /byte 44\) says -24 samples along axis 2/],
      'colours.nii': [changed(70, 128), /of type 128 \(byte 70\)/],
      'second.nii': [changed(0, 540), /NIfTI-2/],
      'points.csv': [ball, /this scene reads NPY, NIfTI or raw volumes/],
    };
    for (const [name, [bytes, sentence]] of Object.entries(files)) assert.match(await reader.take(name, bytes), sentence, name);
    assert.match(await reader.details(), /ball\.raw.*3,768/s);

    // Keys: the camera, colours, facets, and back.
    const camera = () => reader.tab.evaluate(() => sapwood.values.camera);
    await reader.press('ArrowLeft', 'ArrowUp', '+', 'f', 'c', 'b');
    assert.equal(await camera(), '0.78,0.28,1.12,0,0');
    await reader.press('0');
    assert.equal(await camera(), '0.7,0.36,1,0,0');
  },
};

describe('scenes of volumes', { skip: executable ? false : 'no Chromium here' }, () => {
  let server;
  before(async () => (server = await serve(folder)));
  after(() => server.close());
  // One each; page.test.mjs draws and verifies both scenes on either.
  for (const [scene, backend] of [['compaction', 'swiftshader'], ['isosurface', 'llvmpipe']])
    test(`${scene}, ${backend}`, { timeout: longest }, async (t) => {
      const browser = await launch(backend);
      t.after(() => browser.close());
      const context = await browser.newContext({ viewport: { width: 700, height: 500 }, deviceScaleFactor: 0.5, reducedMotion: 'reduce' });
      const reader = new Reader(await context.newPage());
      await flows[scene](reader, server.address);
      assert.deepEqual(reader.wrong, []);
    });
});

test('sizes of raw volumes are guessed from names and lengths', async () => {
  const made = await build({ entryPoints: [path.join(web, 'page/scenes/raw.ts')], bundle: true, write: false, format: 'esm', outdir: '/none' });
  const { guess, bytesOf } = await import(`data:text/javascript,${encodeURIComponent(made.outputFiles.find((file) => file.path.endsWith('.js')).text)}`);
  const guessed = (name, bytes) => {
    const { size, type, bigEndian, skip } = guess(name, bytes);
    return [...size, type, bigEndian, skip];
  };
  assert.deepEqual(guessed('head_256x256x108_i16.raw', 256 * 256 * 108 * 2), [256, 256, 108, 2, false, 0]);
  assert.deepEqual(guessed('aneurism_256x256x256_uint8.raw', 1 << 24), [256, 256, 256, 1, false, 0]);
  assert.deepEqual(guessed('brain.181x217x181.vol', 352 + 181 * 217 * 181), [181, 217, 181, 1, false, 352]);
  assert.deepEqual(guessed('a_10x20x30.raw', 10 * 20 * 30 * 4), [10, 20, 30, 0, false, 0]);
  assert.deepEqual(guessed('a_10x20x30_big.raw', 10 * 20 * 30 * 2), [10, 20, 30, 3, true, 0]);
  assert.deepEqual(guessed('cube.raw', 64 ** 3), [64, 64, 64, 1, false, 0]);
  assert.deepEqual(guessed('cube_float32.raw', 4 * 64 ** 3), [64, 64, 64, 0, false, 0]);
  assert.deepEqual(guessed('slices.raw', 512 * 512 * 87), [512, 512, 87, 1, false, 0]);
  assert.deepEqual(guessed('scan_2024_01_02.raw', 64 ** 3), [64, 64, 64, 1, false, 0]);
  assert.notEqual(bytesOf(guess('x.raw', 13440)), 13440);
});
