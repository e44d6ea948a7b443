// What scenes tell beside the free picture: the search at the pointer, a sum of the pyramid, one cube. All numbers on show are C's, and
// right by what the test computes itself; by mouse and by keyboard, light and dark, at a phone's width, without a finding of axe-core.
import assert from 'node:assert/strict';
import { idle, inBrowser, pixels } from './page.mjs';
import { call, facts, fields, hasNoFinding, inWords, job, named, rows, texts, twoByTwo, words, zPlace } from './told.mjs';

const { down, leaf, back } = fields.voronoiNoteKind;

// ---- What is on the page

const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

const noWider = async (page, width) => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);

// Points at a part of the canvas.
async function point(page, x, y) {
  const box = await page.locator('canvas').boundingBox();
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
  await idle(page);
}
async function told(page) {
  await page.waitForSelector('.beside .guide-figure > *', { state: 'attached' });
  await idle(page);
}
const set = async (page, id, value) => {
  await page.evaluate(([name, to]) => window.sapwood.put(name, to), [id, value]);
  await idle(page);
};

// ---- Voronoi

// What is on show at every moment of the walk.
const allMoments = (page) =>
  page.evaluate(() => {
    const slider = document.querySelector('#guide-moment');
    const numbers = (which) => [...document.querySelectorAll(which)].map((one) => Number(one.dataset.node ?? one.dataset.plane)).sort((a, b) => a - b);
    return Array.from({ length: 1 + Number(slider.max) }, (_, moment) => {
      slider.value = String(moment);
      slider.dispatchEvent(new Event('input'));
      return {
        planes: numbers('.guide-over line[data-plane]'), cut: numbers('.guide-over .cut'), lit: numbers('.guide-figure .lit'),
        radius: [...document.querySelectorAll('.guide-facts dt')].find((dt) => dt.textContent === 'Radius').nextElementSibling.textContent,
        circle: Number(document.querySelector('.guide-over .reach')?.getAttribute('r') ?? NaN),
      };
    });
  });

// The walk from the pixel that is told of, moment by moment, against the notes that C has made of it.
async function isTheWalk(page) {
  const pixel = await page.evaluate(() => Object.values(window.sapwood.scene.told()));
  const { numbers, buffers } = await call(page, 'voronoi_told', pixel);
  const of = named(fields.voronoiTold, numbers);
  const notes = rows(fields.voronoiNote, buffers[fields.voronoiToldBuffer.notes]);
  const wide = await page.evaluate(() => window.sapwood.canvas.clientWidth / window.sapwood.canvas.width);
  assert.equal(of.id, of.callId);
  assert.equal(of.id, of.pictureId, 'the shader has found the same site');
  assert.equal(Number(await page.locator('#guide-moment').inputValue()), notes.length - 1, 'the whole walk is shown at first');
  const shown = await allMoments(page);
  assert.equal(shown.length, notes.length);
  let radius = Infinity;
  for (const [moment, note] of notes.entries()) {
    const { planes, cut, lit, radius: said, circle } = shown[moment];
    const done = notes.slice(0, moment + 1);
    const passed = done.filter(({ kind }) => kind === down).map(({ node }) => node);
    assert.deepEqual(planes, sorted([...passed, ...(note.kind === back ? [note.node >> 1] : [])]), `planes at moment ${moment}`);
    const pruned = done.filter(({ kind, enters }) => kind === back && !enters).map(({ node }) => node);
    assert.ok(cut.every((node) => pruned.includes(node)), `greyed ${cut}, pruned ${pruned}`); // others lie outside of the picture
    const visited = done.filter(({ kind, enters }) => kind !== back || enters).map(({ node }) => node);
    assert.deepEqual(lit, sorted(visited.filter((node) => node < 2 ** (Math.min(of.depth, 5) + 1))), `visited at moment ${moment}`);
    const scanned = done.findLast(({ kind }) => kind === leaf);
    const now = scanned ? Math.sqrt(scanned.limit2) : Infinity;
    assert.ok(now <= radius, 'the radius shrinks');
    radius = now;
    assert.equal(said, scanned ? radius.toPrecision(3) : '∞');
    if (scanned) assert.ok(Math.abs(circle - (radius / of.step) * wide) < 0.02, `${circle}`);
    else assert.ok(Number.isNaN(circle));
  }
  if (of.sites > 5) assert.ok(shown.at(-1).cut.length > 0, 'pruned boxes are greyed');
  assert.match(await words(page), new RegExp(`site ${inWords(of.id)} is the nearest\\.$`));
  assert.equal((await facts(page))['Leaves of this search'], inWords(of.leaves));
  assert.equal(of.nodes, notes.filter(({ kind }) => kind === back).length);
  const mean = (await call(page, 'voronoi_mean', [])).numbers;
  const [stackless, stack] = [0, 1].map((i) => mean[i * Object.keys(fields.voronoiMean).length + fields.voronoiMean.leaves]);
  const note = await page.locator('.beside > p').last().textContent();
  assert.ok(note.includes(` ${stackless.toFixed(1)} leaves are searched without a stack, ${stack.toFixed(1)} with one.`), note);
  assert.ok(stack <= stackless, 'who knows more searches no more leaves');
  return { of, notes };
}

async function isNearest(page, of) {
  const { buffers: [flat] } = await job(page, 'voronoi_move', [0, 0], ['Float32Array']);
  const away2 = (id) => Math.fround(Math.fround(Math.fround(of.x - flat[2 * id]) ** 2) + Math.fround(Math.fround(of.y - flat[2 * id + 1]) ** 2));
  let best = 0;
  for (let id = 1; id < flat.length / 2; id++) if (away2(id) < away2(best)) best = id;
  assert.equal(of.id, best);
}

// ---- Compaction

// Texels of the texture that has a level of the pyramid, of level 0 the base: a square from the level's corner on, as four numbers each.
const square = (page, level, node, x, y, side, floats) =>
  page.evaluate(([names, l, n, u, v, many, real]) => {
    const { module, gl } = window.sapwood;
    const at = (module._compaction_texel(l, n) >>> 0) / 8;
    const framebuffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, module.GL.textures[module.HEAPF64[at + names.texture]], 0);
    const texels = real ? new Float32Array(4 * many * many) : new Uint8Array(4 * many * many);
    gl.readPixels(module.HEAPF64[at + names.first] + u, v, many, many, gl.RGBA, real ? gl.FLOAT : gl.UNSIGNED_BYTE, texels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteFramebuffer(framebuffer);
    return [...texels];
  }, [fields.compactionTexel, level, node, x, y, side, floats]);

// The cells that are kept, 1 or 0 each, in Z order: by the texels of the base, and so the scene has them.
async function cells(page) {
  const side = await page.evaluate(() => window.sapwood.module._compaction_width());
  const base = await square(page, 0, 0, 0, 0, side, false);
  const flags = Array.from({ length: side * side }, (_, i) => zPlace(i)).map(([x, y]) => base[4 * (x + side * y)] / 255);
  const told = await page.evaluate((many) => {
    const { module } = window.sapwood;
    module._compaction_read();
    return Array.from({ length: many }, (_, i) => module._compaction_sum_of(0, i));
  }, flags.length);
  assert.deepEqual(told, flags);
  return flags;
}
// What the drawing says of a node, and what is in the texel that it names.
async function isTheSum(page, flags, level, node, form = 'plain') {
  const { sums, sum, place: [x, y], told: all } = twoByTwo(flags, level, node);
  assert.deepEqual(await texts(page), all);
  const texel = await square(page, level, node, x, y, 1, form !== 'bytes');
  const running = sums.map((_, i) => sums.slice(0, i + 1).reduce((a, b) => a + b, 0));
  assert.deepEqual(texel, form === 'vec4' ? running : form === 'plain' ? [sum, sum, sum, sum] : [0, 8, 16, 24].map((bit) => (sum >> bit) & 255), `the texel of level ${level}, node ${node}`);
}

// Every node of a level stands where its texel's column and row say.
const squaresAre = (page) =>
  page.evaluate(([names, found]) => {
    const { module, canvas } = window.sapwood;
    const wide = Object.keys(names).length;
    const first = (module._compaction_layout(canvas.width, canvas.height, canvas.width / canvas.clientWidth) >>> 0) / 4;
    const boxes = Array.from({ length: module._compaction_levels() + 1 }, (_, i) => [...module.HEAPF32.subarray(first + i * wide, first + (i + 1) * wide)]);
    return boxes.flatMap((box, level) => {
      const side = module._compaction_width() >> level;
      const [x, y, width, height] = [names.x, names.y, names.width, names.height].map((name) => box[name]);
      return Array.from({ length: Math.min(side, 8) ** 2 }, (_, i) => [(i % 8) * (side >> 3 || 1), Math.floor(i / 8) * (side >> 3 || 1)]).filter(([c, r]) => c < side && r < side).map(([c, r]) => {
        const at = (module._compaction_at(x + ((c + 0.5) * width) / side, y + ((r + 0.5) * height) / side) >>> 0) / 8;
        return [level, c, r, module.HEAPF64[at + found.level], module.HEAPF64[at + found.node]];
      });
    });
  }, [fields.compactionArea, fields.compactionFound]);

// The middle of a node on the canvas, as parts of it.
const placeOf = (page, level, node) =>
  page.evaluate(([wanted, number, names]) => {
    const { module, canvas } = window.sapwood;
    const sum = [0, 0, 0];
    for (let y = 0.5; y < canvas.height; y++)
      for (let x = 0.5; x < canvas.width; x++) {
        const at = (module._compaction_at(x, y) >>> 0) / 8;
        if (module.HEAPF64[at + names.level] !== wanted || module.HEAPF64[at + names.node] !== number) continue;
        [x, y, 1].forEach((v, i) => (sum[i] += v));
      }
    return [sum[0] / sum[2] / canvas.width, sum[1] / sum[2] / canvas.height];
  }, [level, node, fields.compactionFound]);
// The colours of some pixels about a place.
const around = (page, [u, v]) =>
  page.evaluate(([x, y]) => {
    const { gl, canvas } = window.sapwood;
    const bytes = new Uint8Array(4 * 9 * 9);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(Math.round(x * canvas.width) - 4, canvas.height - Math.round(y * canvas.height) - 4, 9, 9, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    return [...bytes].join();
  }, [u, v]);

// ---- Isosurface

async function isTheCube(page, side, level) {
  const { buffers: [samples] } = await job(page, 'isosurface_samples', [], ['Float32Array']);
  const mesh = await job(page, 'isosurface', [level, 0], ['Float32Array', '', 'Int32Array']);
  const [places, corners] = [mesh.buffers[fields.isosurfaceBuffer.positions], mesh.buffers[fields.isosurfaceBuffer.triangles]];
  const [x, y, z] = (await page.locator('.guide-over [data-cube]').getAttribute('data-cube')).split(' ').map(Number);
  const values = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => samples[x + (c & 1) + side * (y + ((c >> 1) & 1) + side * (z + (c >> 2)))]);
  const high = values.flatMap((value, c) => (value >= level ? [c] : []));
  const number = high.reduce((sum, c) => sum + 2 ** c, 0);
  const here = x + side * (y + side * z);
  // Triangles by the cube in which their middle lies.
  const of = new Int32Array(side ** 3);
  const total = corners.length / 3;
  let ahead = 0;
  for (let t = 0; t < total; t++) {
    const [u, v, w] = [0, 1, 2].map((axis) => Math.floor([0, 1, 2].reduce((sum, i) => sum + places[3 * corners[3 * t + i] + axis] / 3, 0)));
    const cell = u + side * (v + side * w);
    of[cell]++;
    if (cell < here) ahead++;
  }
  const said = await words(page);
  assert.ok(said.startsWith(high.length === 1 ? `Corner ${high[0]} is` : `Corners ${high.join(', ')} are`), `${said}: ${high}`);
  assert.match(said, new RegExp(`case ${number} of 0 to 255, ${of[here]} triangle`));
  assert.match(said, new RegExp(`: ${inWords(ahead)} of ${inWords(total)} come ahead of this cube’s\\.$`));
  assert.equal((await facts(page))['Bits, corner 7 to 0'], number.toString(2).padStart(8, '0'));
  assert.equal(await page.locator('.guide-figure [data-triangle]').count(), of[here]);
  assert.deepEqual(await page.locator('.guide-figure [data-corner].lit').evaluateAll((all) => all.map((one) => Number(one.dataset.corner))), high);
  // Rows of the pyramid, the last one of cubes; behind each its name.
  const shown = (await texts(page)).slice(8);
  const levels = Math.ceil(Math.log(side ** 3) / Math.log(4));
  assert.equal(shown.length, 5 * levels);
  const taken = await page.locator('.guide-figure rect:not([data-vertex])').evaluateAll((all) => all.map((one) => one.classList.contains('lit')));
  for (let row = 0; row < levels; row++) {
    const many = 4 ** (levels - 1 - row);
    const first = here - (here % (4 * many));
    const sums = [0, 1, 2, 3].map((child) => of.slice(first + child * many, first + (child + 1) * many).reduce((a, b) => a + b, 0));
    assert.deepEqual(shown.slice(5 * row, 5 * row + 4), sums.map(inWords), `row ${row} of the pyramid`);
    assert.equal(taken.slice(4 * row, 4 * row + 4).indexOf(true), Math.floor((here - first) / many));
  }
  return [x, y, z];
}

// ---- The tests

inBrowser('what is told beside the free picture', 'swiftshader', {}, (inTab) => {
  for (const [sites, walk] of [[5, 'stackless'], [300, 'stack']])
    inTab(`the search at the pointer, among ${sites} sites`, 'voronoi', { values: { sites, walk, motion: 0 } }, async (page) => {
      await idle(page);
      assert.equal(await page.locator('.beside').count(), 0, 'until somebody points nothing is told');
      await point(page, 0.4, 0.6);
      await told(page);
      const { of } = await isTheWalk(page);
      await isNearest(page, of);
      await point(page, 0.7, 0.3); // who looks at the end of a walk goes on doing so
      const then = await isTheWalk(page);
      assert.notDeepEqual([then.of.x, then.of.y], [of.x, of.y]);
      await hasNoFinding(page, `${sites} sites`);
    });

  inTab('the search by keyboard, dark, on a phone', 'voronoi', { width: 390, height: 700, scheme: 'dark', values: { sites: 5, family: 'uniform' } }, async (page) => {
    await idle(page);
    for (const key of ['ArrowRight', 'ArrowUp']) await page.locator('canvas').press(key);
    await told(page);
    await isTheWalk(page);
    await noWider(page, 390);
    await hasNoFinding(page, 'dark');
    assert.ok(await page.locator('.guide-over').isVisible());
    assert.ok(await page.evaluate(() => document.querySelector('#guide-moment').compareDocumentPosition(document.querySelector('#control-levels')) & Node.DOCUMENT_POSITION_FOLLOWING),
      'the tab key comes to it where it is seen');
    const last = Number(await page.locator('#guide-moment').inputValue());
    await page.locator('#guide-moment').press('ArrowLeft');
    assert.equal(Number(await page.locator('#guide-moment').inputValue()), last - 1);
    assert.match(await page.locator('#guide-moment').getAttribute('aria-valuetext'), new RegExp(`^${last} of ${last + 1}: `));
    await page.locator('#guide-moment').press('Home');
    assert.match(await words(page), /^Node 1: along [xy] the pixel lies/);
    await page.locator('.guide-moments button').press('Enter'); // plays to the end
    await page.waitForFunction((end) => Number(document.querySelector('#guide-moment').value) === end, last);
    assert.equal(await page.locator('.guide-moments button').textContent(), 'Play');
    await page.locator('canvas').press('Escape');
    await page.waitForSelector('.beside', { state: 'detached' });
    assert.equal(await page.locator('.guide-over').count(), 0);
  });

  inTab('the search makes way for whatever else is done', 'voronoi', { values: { sites: 60, motion: 0, family: 'uniform' } }, async (page) => {
    await idle(page);
    await point(page, 0.5, 0.5);
    await told(page);
    const marks = page.locator('.guide-over');
    assert.ok(await marks.isVisible());
    await page.mouse.down();
    await idle(page);
    assert.ok(!(await marks.isVisible()), 'while the view or a site is dragged');
    await page.mouse.up();
    await idle(page);
    assert.ok(await marks.isVisible());
    await page.locator('#about').hover();
    assert.ok(!(await marks.isVisible()), 'nobody looks at it');
    await page.locator('.beside').hover();
    assert.ok(await marks.isVisible());
    await page.locator('canvas').press('ArrowLeft');
    await idle(page);
    assert.ok(await page.locator('.cross').isVisible());
    await page.keyboard.press('e');
    await page.waitForSelector('.guide');
    await idle(page);
    assert.deepEqual([await page.locator('.beside').count(), await page.locator('.guide-over').count()], [0, 1]);
    assert.ok(!(await page.locator('.cross, .chip').filter({ visible: true }).count()), 'the cross hairs are the story’s');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.beside');
    await point(page, 0.3, 0.4);
    await page.keyboard.press('x'); // the compact form, which the CPU does not walk
    await page.waitForSelector('.beside', { state: 'detached' });
    await idle(page);
    await page.keyboard.press('x');
    await page.waitForSelector('.beside');
    await page.keyboard.press('h');
    await page.waitForSelector('.beside', { state: 'detached' });
    assert.equal(await page.evaluate(() => window.sapwood.values.search), false);
    await page.keyboard.press('h');
    await page.waitForSelector('.beside');
    await page.evaluate(() => {
      window.sapwood.gl.getExtension('WEBGL_lose_context').loseContext();
    });
    await page.waitForFunction(() => !window.sapwood.running);
    await page.evaluate(() => (location.hash = 'cloud?points=500'));
    await page.waitForFunction(() => window.sapwood.scene.name === 'cloud' && window.sapwood.running);
    assert.deepEqual([await page.locator('.beside').count(), await page.locator('.guide-over').count()], [0, 0]);
  });

  inTab('the search follows sites that move, and all but one that are deleted', 'voronoi', { motion: 'no-preference', values: { sites: 500, motion: 1 } }, async (page, _, t) => {
    await page.waitForFunction(() => window.sapwood?.running);
    const box = await page.locator('canvas').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector('.beside .guide-figure > *');
    const radius = async () => (await facts(page)).Radius;
    const then = await radius();
    await page.waitForFunction((old) => document.querySelectorAll('.guide-facts dd')[2].textContent !== old, then);
    await page.keyboard.press('p');
    await idle(page);
    const takes = await page.evaluate(() => {
      const begun = performance.now();
      for (let i = 0; i < 20; i++) window.sapwood.call('voronoi_mean', []);
      return (performance.now() - begun) / 20;
    });
    t.diagnostic(`averages of 500 sites take ${takes.toFixed(1)} ms`);
    await page.evaluate(() => window.sapwood.put('sites', 5));
    await idle(page);
    for (let left = 4; left >= 0; left--) {
      await page.locator('canvas').press('Delete');
      await page.waitForFunction((many) => window.sapwood.scene.total === many, left);
      await idle(page);
      if (left) assert.match(await words(page), /is the nearest\.$/, `${left} sites`);
    }
    assert.ok(!(await page.locator('.guide-over').isVisible()), 'without sites there is no search');
  });

  inTab('beside sites that move a search is told now and then, and only to who looks', 'voronoi', { motion: 'no-preference', values: { sites: 500, motion: 1 } }, async (page) => {
    await page.waitForFunction(() => window.sapwood?.running);
    const box = await page.locator('canvas').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector('.beside .guide-figure > *');
    // Searches that are told within two seconds, and pictures.
    const counted = () => page.evaluate(async () => {
      const { scene } = window.sapwood;
      const counts = { told: 0, pictures: 0 };
      const frame = scene.frame;
      window.sapwood.call = function (name, numbers) {
        if (name === 'voronoi_told') counts.told++;
        return Object.getPrototypeOf(this).call.call(this, name, numbers);
      };
      scene.frame = function (share) {
        counts.pictures++;
        return frame.call(this, share);
      };
      await new Promise((done) => setTimeout(done, 2000));
      delete window.sapwood.call;
      delete scene.frame;
      return counts;
    });
    const looked = await counted();
    assert.ok(looked.told >= 1 && looked.told <= 9, JSON.stringify(looked));
    await page.locator('#about').hover();
    const left = await counted();
    assert.equal(left.told, 0);
    assert.ok(left.pictures > 0, 'while sites move on');
    await page.locator('.beside').hover();
    assert.ok((await counted()).told >= 1);
    await page.locator('#about').hover();
    await page.evaluate(() => window.sapwood.canvas.focus());
    await page.keyboard.press('Escape');
    await page.waitForSelector('.beside', { state: 'detached' });
  });

  inTab('too many sites that move are told of when they stand still', 'voronoi', { motion: 'no-preference', values: { sites: 51000, motion: 1 } }, async (page) => {
    await page.waitForFunction(() => window.sapwood?.running);
    await page.locator('canvas').hover();
    await page.waitForFunction(() => window.sapwood.scene.searched);
    assert.equal(await page.evaluate(() => window.sapwood.scene.told()), undefined);
    await page.keyboard.press('p');
    await told(page);
    await isTheWalk(page);
    await page.keyboard.press('p');
    await page.waitForSelector('.beside', { state: 'detached' });
  });

  inTab('compaction opens small, and plays slowly', 'compaction', { motion: 'no-preference' }, async (page) => {
    await page.waitForFunction(() => window.sapwood?.running);
    assert.equal(await page.evaluate(() => window.sapwood.values.size), '16');
    const seen = await page.evaluate(() => new Promise((resolve) => {
      const times = {};
      const look = () => {
        const { values, seconds } = window.sapwood;
        times[values.step] ??= seconds;
        if (values.step >= 3) resolve(times);
        else requestAnimationFrame(look);
      };
      look();
    }));
    assert.deepEqual(Object.keys(seen), ['0', '1', '2', '3']);
    assert.ok(seen[2] - seen[1] >= 2 && seen[3] - seen[2] >= 2, JSON.stringify(seen));
    await page.keyboard.press('p');
    await idle(page);
    const step = await page.evaluate(() => window.sapwood.values.step);
    assert.equal((await texts(page))[9], `Level ${step - 1}`);
  });

  for (const [step, then] of [[18, 18], [21, 0], [undefined, 0]])
    inTab(`compaction of 64³ plays from step ${step ?? 'that no address tells'}`, 'compaction', { motion: 'no-preference', values: { size: 64, ...(step && { step }) } }, async (page) => {
      await page.waitForFunction(() => window.sapwood?.running);
      assert.equal(await page.evaluate(() => window.sapwood.values.step), then);
    });

  inTab('an address holds a step that was chosen, or at which it is paused, and none through which it plays', 'compaction', { motion: 'no-preference' }, async (page, context) => {
    const goes = (hash) => page.waitForFunction((to) => location.hash === to, hash);
    await page.waitForFunction(() => window.sapwood?.values.step === 1);
    await page.keyboard.press('e');
    await page.waitForSelector('.guide');
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('.guide') && window.sapwood.values.step === 2); // a story leads back to where it was
    await page.waitForTimeout(1000); // addresses follow in half a second
    assert.equal(await page.evaluate(() => location.hash), '#compaction');
    await page.keyboard.press('p');
    const step = await page.evaluate(() => window.sapwood.values.step);
    await goes(`#compaction?step=${step}`);
    await page.keyboard.press('p');
    await page.waitForFunction((then) => window.sapwood.values.step > then, step);
    await goes('#compaction');
    await page.evaluate(() => { // no step by itself comes between
      window.goOn = window.sapwood.scene.animate;
      window.sapwood.scene.animate = () => false;
    });
    await page.locator('#control-step').press('ArrowRight');
    const chosen = await page.evaluate(() => window.sapwood.values.step);
    await goes(`#compaction?step=${chosen}`);
    await page.locator('label[for="control-view-live"]').click();
    await page.evaluate(() => void (window.sapwood.scene.animate = window.goOn));
    await page.waitForFunction(() => window.sapwood.values.level !== 0);
    await goes(`#compaction?view=live&step=${chosen}`);
  });

  inTab('a cell that is touched is told where one is told that is pointed at', 'compaction', { width: 390, height: 700, hasTouch: true, isMobile: true }, async (page) => {
    await idle(page);
    const flags = await cells(page);
    const cell = flags.lastIndexOf(1);
    const [x, y] = await placeOf(page, 0, cell);
    const box = await page.locator('canvas').boundingBox();
    await page.touchscreen.tap(box.x + x * box.width, box.y + y * box.height);
    await idle(page);
    const told = await page.locator('.way-text').textContent();
    assert.match(told, /^Cell [\d,]+, slice .*: the surface runs through it; entry [\d,]+ of the list\.$/);
    assert.equal(await page.locator('#status').textContent(), told);
    await page.touchscreen.tap(box.x + 1, box.y + 1); // where nothing is
    await idle(page);
    assert.match(await page.locator('.way-text').textContent(), /^Cell [\d,]+ is found/);
  });

  for (const form of ['plain', 'vec4', 'bytes'])
    inTab(`two by two texels of the pyramid, large: ${form}`, 'compaction', { values: { form } }, async (page) => {
      await idle(page);
      const flags = await cells(page);
      const kept = flags.flatMap((flag, i) => (flag ? [i] : []));
      assert.deepEqual([flags.length, await page.evaluate(() => window.sapwood.values.step)], [4096, 15], 'without motion the whole of it');
      const cell = kept[await page.evaluate(() => window.sapwood.values.key)];
      for (let step = 0; step <= 15; step++) {
        await set(page, 'step', step);
        const level = step < 8 ? step - 1 : Math.min(6, Math.max(1, 15 - step));
        assert.equal(await page.locator('.guide-figure').isVisible(), step >= 2, `step ${step}`);
        if (step >= 2) await isTheSum(page, flags, level, Math.floor(cell / 4 ** level), form);
      }
      for (const [level, column, row, foundLevel, node] of await squaresAre(page)) {
        assert.equal(foundLevel, level);
        assert.deepEqual(zPlace(node), [column, row], `what is pointed at in level ${level}`);
      }
      await set(page, 'key', 17);
      await isTheSum(page, flags, 1, Math.floor(kept[17] / 4), form);
      await point(page, ...(await placeOf(page, 3, 23)));
      assert.match(await page.locator('.way-text').textContent(), /^Level 3, node 23:/);
      await isTheSum(page, flags, 3, 23, form);
      await hasNoFinding(page, form);
    });

  inTab('an entry of the list that is pointed at shows its cell', 'compaction', {}, async (page) => {
    await idle(page);
    const flags = await cells(page);
    const kept = flags.flatMap((flag, i) => (flag ? [i] : []));
    for (const entry of [0, 321, kept.length - 1]) {
      const cell = await placeOf(page, 0, kept[entry]);
      await point(page, 0.002, 0.002); // where nothing is
      await set(page, 'key', entry === 321 ? 5 : 320);
      const before = await around(page, cell);
      await point(page, ...(await placeOf(page, fields.compactionLevel.list, entry)));
      assert.match(await page.locator('.way-text').textContent(), new RegExp(`^Entry ${entry} of the list: cell ${inWords(kept[entry])}, `));
      assert.notEqual(await around(page, cell), before, `the cell of entry ${entry} is marked`);
      await isTheSum(page, flags, 1, Math.floor(kept[entry] / 4));
    }
  });

  inTab('what is expected beyond the total is not listed', 'compaction', {}, async (page) => {
    await idle(page);
    const before = await page.evaluate(() => {
      const { module, canvas } = window.sapwood;
      const listed = module._compaction_total();
      module._compaction_mark(0.5, 0, module._compaction_height());
      module._compaction_run(listed);
      module._compaction_frame(canvas.height, module._compaction_levels(), 1, -1, 0, -2, 0); // nobody has asked for the total yet
      return listed;
    });
    const entry = async (key) => (await around(page, await placeOf(page, fields.compactionLevel.list, key))).split(',').slice(160, 163).join();
    const [there, gone, last] = [await entry(10), await entry(before - 100), await entry(before - 1)];
    const kept = await page.evaluate(() => window.sapwood.module._compaction_total());
    assert.ok(kept > 10 && kept < before - 100, `${kept} of ${before} are left`);
    assert.notEqual(there, last);
    assert.equal(gone, last, 'there is nothing where entries were');
  });

  inTab('compaction, dark, on a phone', 'compaction', { width: 390, height: 700, scheme: 'dark', values: { level: 0.9 } }, async (page) => {
    await idle(page);
    assert.ok(!(await page.locator('.guide-figure').isVisible()), 'nothing is kept, so that there is nothing to be large');
    await set(page, 'level', 0);
    assert.ok(await page.locator('.guide-figure').isVisible());
    await page.locator('canvas').press('ArrowRight');
    await page.locator('canvas').press('[');
    await idle(page);
    await noWider(page, 390);
    await hasNoFinding(page, 'dark');
  });

  inTab('one cube of the surface, and the pyramid that leads to it', 'isosurface', { values: { size: 64, shape: 'metaballs' } }, async (page) => {
    await idle(page);
    await told(page);
    const first = await isTheCube(page, 64, 0); // in the middle, before anybody points
    const picture = await pixels(page);
    await point(page, 0.42, 0.55);
    await page.waitForFunction((old) => document.querySelector('[data-cube]').dataset.cube !== old, first.join(' '));
    await idle(page);
    assert.equal(await pixels(page), picture);
    const second = await isTheCube(page, 64, 0);
    await point(page, 0.01, 0.01); // where no surface is: the cube stays
    assert.deepEqual(await isTheCube(page, 64, 0), second);
    await hasNoFinding(page, 'light');
    // A level that is dragged: nothing is told of another surface until it rests.
    const rests = await page.evaluate(async () => {
      const { sapwood } = window;
      const facts = document.querySelector('.surface-facts');
      const asked = []; // for how many milliseconds the surface had been shown then
      let [text, since] = [facts.textContent, performance.now()];
      const observer = new MutationObserver(() => {
        if (facts.textContent !== text) [text, since] = [facts.textContent, performance.now()];
      });
      observer.observe(facts, { childList: true });
      sapwood.job = function (name, ...more) {
        if (name === 'isosurface_cube') asked.push(performance.now() - since);
        return Object.getPrototypeOf(this).job.call(this, name, ...more);
      };
      for (let i = 1; i <= 8; i++) {
        sapwood.put('level', 0.5 + 0.01 * i);
        await new Promise((done) => setTimeout(done, 60));
      }
      await sapwood.idle();
      while (!asked.length) await new Promise((done) => setTimeout(done, 10));
      await sapwood.idle();
      delete sapwood.job;
      observer.disconnect();
      return asked;
    });
    assert.ok(rests.every((rest) => rest >= 150), `${rests}`);
    await page.waitForFunction(() => document.querySelector('.guide-words').textContent.startsWith('This pixel shows no surface'));
    assert.equal(await page.locator('.guide-over [data-cube]').count(), 0, 'no cube of the surface before');
    await point(page, 0.42, 0.55);
    await set(page, 'by', 'gpu');
    await set(page, 'level', 0.55); // of -1 … 1
    await page.waitForFunction(() => document.querySelector('.guide-words').textContent.includes('0.100'));
    await idle(page);
    await isTheCube(page, 64, Math.fround(0.1));
    assert.match(await words(page), /The GPU lists triangles by this pyramid/);
    await page.keyboard.press('q');
    await page.waitForSelector('.beside', { state: 'detached' });
    assert.equal(await page.locator('.guide-over').count(), 0);
  });

  inTab('one cube by keyboard, dark, on a phone', 'isosurface', { width: 390, height: 700, scheme: 'dark', values: { size: 64, low: true } }, async (page) => {
    await idle(page);
    await told(page);
    const first = (await isTheCube(page, 64, 0)).join(' ');
    for (let i = 0; i < 3; i++) await page.locator('canvas').press('ArrowLeft'); // another cube comes to the middle
    await page.waitForFunction((old) => document.querySelector('[data-cube]').dataset.cube !== old, first);
    await idle(page);
    await isTheCube(page, 64, 0);
    await noWider(page, 390);
    await hasNoFinding(page, 'dark');
  });

  inTab('the cube stays the same while the camera goes round', 'isosurface', { motion: 'no-preference', values: { size: 64 } }, async (page) => {
    await page.waitForFunction(() => window.sapwood?.running);
    await page.waitForSelector('.guide-over [data-cube]', { state: 'attached' });
    const look = () => page.locator('.guide-over [data-cube]').evaluate((circle) => [circle.dataset.cube, circle.getAttribute('cx')]);
    const [cube, x] = await look();
    await page.waitForFunction((old) => document.querySelector('.guide-over [data-cube]')?.getAttribute('cx') !== old, x);
    assert.equal((await look())[0], cube);
  });
});
