// The stories of the scenes: every step is reached by click and by keyboard, says what the C side did, and that is right by
// what the test computes itself; without a finding of axe-core, light and dark, at a phone's width.
import assert from 'node:assert/strict';
import { idle, inBrowser, scenes, veil } from './page.mjs';
import { call, facts, fields, hasNoFinding, job, named, rows, texts, twoByTwo, words, zPlace } from './told.mjs';

// ---- What is on the page

const number = (text) => Number(text.replace(/,/g, ''));
const current = (page) => page.locator('.guide-ways [aria-current=step]').textContent();

async function shows(page, step) {
  await page.waitForFunction((n) => document.querySelector('.guide-ways [aria-current=step]')?.textContent === String(n), step);
  await idle(page);
  await page.waitForFunction(() => /[^…]$/.test(document.querySelector('.guide-words').textContent)); // no picture is being made
  await idle(page);
  assert.equal(await veil(page), '');
  assert.equal(await page.locator('#status.wrong').count(), 0, await page.locator('#status').textContent());
}

const moments = async (page) => 1 + Number(await page.locator('#guide-moment').getAttribute('max'));
async function moveTo(page, moment) {
  await page.locator('#guide-moment').evaluate((slider, to) => {
    slider.value = String(to);
    slider.dispatchEvent(new Event('input'));
  }, moment);
  await idle(page);
}

// Points at a part of the canvas; the pixel there.
async function point(page, x, y) {
  const box = await page.locator('canvas').boundingBox();
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
  await idle(page);
  return page.evaluate(([u, v]) => {
    const { canvas } = window.sapwood;
    return [Math.floor(u * canvas.width), Math.floor(v * canvas.height)];
  }, [x, y]);
}

// ---- The scenes

// Which sites may lie below a node, by all planes above it; `surely`: which do, though others may lie in a plane with them.
function below(sites, planes, node, surely = false) {
  let kept = sites;
  const depth = Math.floor(Math.log2(node));
  for (let up = depth; up > 0; up--) {
    const { axis, split } = planes.get(node >> up);
    const upper = (node >> (up - 1)) & 1;
    kept = kept.filter(({ at }) => (at[axis] === split ? !surely : upper ? at[axis] > split : at[axis] < split));
  }
  return kept;
}

const oracles = {
  async voronoi(page, step) {
    const { buffers: [flat] } = await job(page, 'voronoi_move', [0, 0], ['Float32Array']);
    await idle(page);
    const sites = Array.from({ length: flat.length / 2 }, (_, id) => ({ id, at: [flat[2 * id], flat[2 * id + 1]] }));
    assert.equal(sites.length, 40);
    const pixel = step === 2 ? [0, 0] : await point(page, 0.3, 0.65);
    const { numbers, buffers } = await call(page, 'voronoi_told', pixel);
    const of = named(fields.voronoiTold, numbers);
    const notes = rows(fields.voronoiNote, buffers[fields.voronoiToldBuffer.notes]);
    const planes = new Map(rows(fields.voronoiPlane, buffers[fields.voronoiToldBuffer.planes]).map((plane, i) => [i + 1, plane]));
    const away2 = ({ at }) => Math.fround(Math.fround(Math.fround(of.x - at[0]) ** 2) + Math.fround(Math.fround(of.y - at[1]) ** 2));
    const nearest = sites.reduce((best, site) => (away2(site) < away2(best) ? site : best));
    assert.equal(of.id, nearest.id, 'the nearest site');
    assert.equal(of.callId, nearest.id);
    assert.equal(of.pictureId, nearest.id);
    if (step === 1) assert.match(await words(page), new RegExp(`^Site ${nearest.id} is nearest`));
    if (step === 1) assert.equal(await page.locator('.guide-over .found').getAttribute('data-site'), String(nearest.id));
    if (step === 2) {
      const count = await moments(page);
      assert.equal(count, planes.size);
      assert.equal(await page.locator('[data-plane]').count(), count, 'all planes are drawn at the end');
      for (const [node, { axis, split, lower, upper }] of planes) {
        const [surely, perhaps] = [below(sites, planes, node, true), below(sites, planes, node)];
        assert.ok(Math.abs(lower - upper) <= 1, `plane ${node} halves ${lower} + ${upper}`);
        const [least, most] = [surely.filter((site) => site.at[axis] < split).length, perhaps.filter((site) => site.at[axis] <= split).length];
        assert.ok(least <= lower && lower <= most, `plane ${node}: ${least} to ${most} sites lie below it, not ${lower}`);
      }
      await moveTo(page, 0);
      assert.equal(await page.locator('[data-plane]').count(), 1);
    }
    if (step === 3) {
      const leaf = notes.findIndex((note) => note.kind === fields.voronoiNoteKind.leaf);
      assert.equal(await moments(page), leaf + 1);
      notes.slice(0, leaf).forEach((note, i) => assert.equal(notes[i + 1].node, 2 * note.node + (note.aside > 0 ? 1 : 0), `the way from ${note.node}`));
      assert.equal(notes[leaf].pending, 2 ** leaf - 1, 'before the first leaf nothing is skipped');
      assert.equal((await facts(page)).Bits, notes[leaf].pending.toString(2));
    }
    if (step === 4) {
      const { down, leaf, back } = fields.voronoiNoteKind;
      assert.equal(of.nodes, notes.filter((note) => note.kind === back).length);
      assert.equal(of.leaves, notes.filter((note) => note.kind === leaf).length);
      const scanned = new Set();
      for (const note of notes) {
        if (note.kind === leaf) below(sites, planes, note.node).forEach((site) => scanned.add(site.id));
        if (note.kind === back && !note.enters) {
          for (const site of below(sites, planes, note.node)) {
            assert.ok(away2(site) >= note.limit2, `site ${site.id} below ${note.node} was skipped though it is nearer`);
            scanned.add(site.id);
          }
        }
      }
      assert.equal(scanned.size, sites.length, 'every site was looked at or skipped');
      assert.equal(notes.at(-1).pending, 0);
      await moveTo(page, (await moments(page)) - 1);
      const drawn = await page.locator('.guide-over .cut').evaluateAll((all) => all.map((one) => Number(one.dataset.node)));
      const skipped = notes.filter((note) => note.kind === back && !note.enters).map((note) => note.node);
      assert.ok(drawn.every((node) => skipped.includes(node)) && drawn.length > 0, `greyed ${drawn}, skipped ${skipped}`);
      assert.match(await words(page), new RegExp(`site ${nearest.id} is the nearest\\.$`));
      assert.ok(notes.some((note) => note.kind === down));
    }
    if (step === 5) {
      assert.equal(of.pictureNodes, of.nodes, 'the shader looked at the nodes that are told');
      assert.match(await words(page), new RegExp(`looked at ${of.nodes} nodes`));
    }
  },

  async compaction(page, step) {
    const { flags, width, levels } = await page.evaluate(() => {
      const { module } = window.sapwood;
      const [w, h] = [module._compaction_width(), module._compaction_height()];
      return { flags: Array.from({ length: w * h }, (_, i) => module._compaction_sum_of(0, i)), width: w, levels: module._compaction_levels() };
    });
    assert.equal(flags.length, 4096);
    const kept = flags.flatMap((flag, i) => (flag ? [i] : []));
    const key = await page.evaluate(() => window.sapwood.values.key);
    const cell = kept[key];
    const shown = await facts(page);
    const said = await words(page);
    const sum = (first, many) => flags.slice(first, first + many).reduce((a, b) => a + b, 0);
    if (step === 1) {
      assert.deepEqual([number(shown.Cells), number(shown.Kept)], [4096, kept.length]);
      const [x, y] = zPlace(cell);
      assert.ok(said.startsWith(`Cell ${cell.toLocaleString('en')}, in slice ${4 * (y >> 4) + (x >> 4)}, column ${x % 16}, row ${y % 16}, is kept`), said);
      assert.ok(width === 64);
      assert.match(await page.evaluate(() => window.sapwood.scene.verify()), /^Verified: all [\d,]+ entries are those/);
    }
    if (step === 2) {
      const first = cell - (cell % 4);
      assert.equal(number(shown['Level 1, node']), first / 4);
      assert.ok(said.includes(`${flags.slice(first, first + 4).join(' + ')} = ${sum(first, 4)}. Texel ${zPlace(first / 4).join(', ')} of level 1 has`), said);
      assert.deepEqual(await texts(page), twoByTwo(flags, 1, first / 4).told);
    }
    if (step === 3) {
      assert.equal(await moments(page), levels);
      for (let level = 1; level <= levels; level++) {
        await moveTo(page, level - 1);
        const node = Math.floor(cell / 4 ** level);
        const { sums, sum: whole, told } = twoByTwo(flags, level, node);
        assert.ok((await words(page)).includes(`${sums.join(' + ')} = ${whole}`), `level ${level}: ${await words(page)}`);
        assert.deepEqual(await texts(page), told);
        assert.equal(await page.evaluate(() => window.sapwood.values.step), level + 1);
      }
    }
    if (step === 4) {
      await moveTo(page, (await moments(page)) - 1);
      assert.ok((await words(page)).endsWith(`cell ${cell.toLocaleString('en')} is found.`), await words(page));
    }
    if (step === 5) assert.match(said, new RegExp(`^Entry ${key.toLocaleString('en')} of the list is cell ${cell.toLocaleString('en')}\\.`));
  },

  async isosurface(page, step) {
    const { buffers: [samples] } = await job(page, 'isosurface_samples', [], ['Float32Array']);
    const side = 64;
    const inside = samples.map((value) => value >= 0);
    const shown = await facts(page);
    const at = (x, y, z) => x + side * (y + side * z);
    if (step === 1) assert.deepEqual([number(shown.Samples), number(shown.Inside)], [side ** 3, inside.filter(Boolean).length]);
    if (step === 5) {
      let crossed = 0;
      for (let z = 0; z < side - 1; z++)
        for (let y = 0; y < side - 1; y++)
          for (let x = 0; x < side - 1; x++) {
            const many = [0, 1, 2, 3, 4, 5, 6, 7].filter((c) => inside[at(x + (c & 1), y + ((c >> 1) & 1), z + (c >> 2))]).length;
            crossed += many > 0 && many < 8 ? 1 : 0;
          }
      assert.equal(number(shown['With triangles']), crossed);
      const mesh = await job(page, 'isosurface', [0, 0], ['Float32Array', '', 'Int32Array']);
      assert.equal(number(shown.Vertices), mesh.buffers[0].length / 3);
      assert.equal(number(shown.Triangles), mesh.buffers[2].length / 3);
      return;
    }
    if (step === 1) return;
    const [x, y, z] = (await page.locator('[data-cube]').getAttribute('data-cube')).split(' ').map(Number);
    const values = [0, 1, 2, 3, 4, 5, 6, 7].map((c) => samples[at(x + (c & 1), y + ((c >> 1) & 1), z + (c >> 2))]);
    const bits = values.reduce((sum, value, c) => sum + (value >= 0 ? 1 << c : 0), 0);
    const cut = [];
    for (let c = 0; c < 8; c++) for (const bit of [1, 2, 4]) if (!(c & bit) && (values[c] >= 0) !== (values[c | bit] >= 0)) cut.push([c, c | bit]);
    const lit = await page.locator('.guide-figure [data-corner].lit').evaluateAll((all) => all.map((one) => Number(one.dataset.corner)));
    assert.deepEqual(lit, values.flatMap((value, c) => (value >= 0 ? [c] : [])));
    if (step === 2) assert.equal(Number(shown.Case), bits);
    if (step === 3) {
      assert.equal(await moments(page), cut.length);
      for (let i = 0; i < cut.length; i++) {
        await moveTo(page, i);
        const [, a, b] = /From corner (\d) to corner (\d)/.exec(await words(page)).map(Number);
        assert.ok(cut.some(([from, to]) => from === a && to === b), `the edge from ${a} to ${b}`);
        assert.ok(Math.abs(Number((await facts(page))['Part of the edge']) - -values[a] / (values[b] - values[a])) < 6e-4);
      }
    }
    if (step === 4) {
      // Of the whole surface, the triangles whose middle lies in the cube.
      const mesh = await job(page, 'isosurface', [0, 0], ['Float32Array', '', 'Int32Array']);
      const [places, corners] = [mesh.buffers[0], mesh.buffers[2]];
      let here = 0;
      for (let t = 0; t < corners.length; t += 3) {
        const middle = [0, 1, 2].map((axis) => [0, 1, 2].reduce((sum, i) => sum + places[3 * corners[t + i] + axis] / 3, 0));
        here += middle.every((v, axis) => Math.floor(v) === [x, y, z][axis]) ? 1 : 0;
      }
      assert.equal(Number(shown.Triangles), here);
      assert.equal(await page.locator('[data-triangle]').count(), here);
    }
  },

  async rays(page, step) {
    if (step === 1) rays.pixel = await point(page, 0.5, 0.42);
    if (step === 5) {
      const shown = await facts(page);
      const [best, quick] = ['Best', 'Quick'].map((tree) => Number(shown[`Nodes a ray, ${tree}`]));
      assert.ok(best > 1 && quick > 1, `${best} ${quick}`);
      const [, a, b] = /([\d,]+) and ([\d,]+) of 4,096 rays/.exec(await words(page));
      assert.equal(a, b, 'both trees show the same');
      return;
    }
    const { numbers, buffers } = await call(page, 'rays_told', [...rays.pixel, 0.5, 1.35]);
    const of = named(fields.raysTold, numbers);
    const notes = rows(fields.raysNote, buffers[0]);
    const { buffers: mesh } = await job(page, 'rays_again', [0], ['', 'Float32Array', 'Int32Array']);
    await idle(page);
    const [places, triangles] = [mesh[fields.raysBuffer.vertices], mesh[fields.raysBuffer.triangles]];
    const [origin, direction] = [fields.raysTold.origin, fields.raysTold.direction].map((first) => numbers.slice(first, first + 3));
    let best = { t: Infinity, id: -1 };
    for (let id = 0; id < triangles.length / 3; id++) {
      const t = met(origin, direction, [0, 1, 2].map((i) => places.slice(3 * triangles[3 * id + i], 3 * triangles[3 * id + i] + 3)));
      if (t < best.t) best = { t, id };
    }
    assert.equal(of.triangle, best.id, 'the triangle that is met');
    assert.ok(Math.abs(of.t - best.t) < 1e-4 * best.t, `${of.t} ${best.t}`);
    const { leaf, plane, triangle } = fields.raysNoteKind;
    const leaves = notes.filter((note) => note.kind === leaf);
    assert.equal(of.visits, leaves.length + notes.filter((note) => note.kind === plane).length);
    leaves.forEach((note, i) => assert.ok(i === 0 || note.from >= leaves[i - 1].from - 1e-3, 'cells come in the order of the ray'));
    assert.ok(notes.some((note) => note.kind === triangle && note.triangle === best.id && note.hit === 1));
    const name = best.id.toLocaleString('en');
    if (step === 1) assert.match(await words(page), new RegExp(`meets triangle ${name} first`));
    if (step === 2) {
      assert.equal(await moments(page), notes.findIndex((note) => note.kind === leaf) + 1);
      await moveTo(page, 0);
      assert.match(await words(page), new RegExp(`^Node 0: a plane across ${'xyz'[notes[0].axis]}`));
    }
    if (step === 3) {
      assert.equal(await moments(page), leaves.length);
      assert.match(await words(page), new RegExp(`the ray meets number ${name} at`));
      assert.equal(await page.locator('[data-cell]').count(), leaves.length);
    }
    if (step === 4) {
      const shown = await facts(page);
      assert.equal(number(shown['Nodes visited'].split(' of ')[0]), of.visits);
      assert.equal(number(shown['Triangles tested'].split(' of ')[0]), notes.filter((note) => note.kind === triangle).length);
    }
  },

  async cloud(page, step) {
    const shown = await facts(page);
    if (step === 1) await point(page, 0.5, 0.42);
    if (step === 5) {
      await page.waitForFunction(() => document.querySelector('.guide-facts dd')?.textContent === '20');
      const said = await words(page);
      const [, now, first] = /by ([\d.]+) %; at first it was ([\d.]+) %/.exec(said).map(Number);
      assert.ok(now < 0.7 * first, said);
      const points = await cloudPoints(page);
      assert.ok(Math.abs(now / 100 - points.error) < 6e-4, `${now} ${points.error}`);
      assert.equal((await page.locator('.guide-figure .curve').getAttribute('points')).split(' ').length, 21);
      assert.match(await page.evaluate(() => window.sapwood.scene.verify()), /^Verified/);
      return;
    }
    const { places, error } = await cloudPoints(page);
    if (step === 1) {
      assert.equal(number(shown.Points), places.length);
      assert.ok(Math.abs(Number(shown.Unevenness.replace(' %', '')) / 100 - error) < 6e-4);
      return;
    }
    if (step === 2) await point(page, 0.5, 0.42);
    const said = await words(page);
    if (step === 2) {
      const id = number(/^Point ([\d,]+) /.exec(said)[1]);
      const away = places.map((place) => Math.hypot(...place.map((v, a) => v - places[id][a]))).sort((a, b) => a - b);
      const { spacing } = await cloudPoints(page);
      assert.ok(Math.abs(Number(/([\d.]+) spacings away/.exec(said)[1]) - away[15] / spacing) < 6e-3, said);
      assert.equal(await page.locator('.guide-over .found').count(), 15);
    }
    if (step === 3) {
      const normal = (await facts(page)).Normal.split(', ').map(Number);
      assert.ok(Math.abs(Math.hypot(...normal) - 1) < 0.02, 'a normal is of length 1');
      assert.equal(await page.locator('.guide-over polygon.leaf').count(), 1);
    }
    if (step === 4) assert.match(said, /The next step moves it [\d.]+ spacings/);
  },

  async photons(page, step) {
    if (step === 4) photons.pixel = await point(page, 0.5, 0.85);
    const shown = await facts(page);
    const { numbers: sent, buffers: [flat] } = await job(page, 'photons_again', [], ['Uint32Array']);
    const { more } = named(fields.photonsSent, sent); // of the global map, which come first
    const width = 5; // words of a photonsDot
    const places = new Float32Array(new Uint32Array(flat).buffer);
    const dots = Array.from({ length: more }, (_, i) => ({
      id: i, at: [...places.slice(width * i, width * i + 3)], way: flat[width * i + 4] >>> 24,
      normal: [0, 8, 16].map((bits) => ((flat[width * i + fields.photonsDot.normal] << (24 - bits)) >> 24) / 127),
    }));
    const asking = await page.evaluate(() => window.sapwood.scene.asking());
    const { numbers, buffers } = await job(page, 'photons_told', [...asking, ...photons.pixel], ['Float64Array', 'Float64Array', 'Float64Array', 'Float32Array']);
    await idle(page);
    const of = named(fields.photonsTold, numbers);
    assert.equal(of.photons, dots.length);
    const straight = dots.filter(({ way }) => way === fields.photonsWay.lamp).length;
    if (step === 1) {
      assert.deepEqual([number(shown.Landed), number(shown.Straight), number(shown['After a surface'])], [dots.length, straight, dots.length - straight]);
      assert.ok(straight > 4000 && straight <= 8000, `${straight} of 8000 photons`); // the others fly through glass first
    }
    if (step === 2) {
      const stops = rows(fields.photonsStop, buffers[fields.photonsToldBuffer.stops]);
      const landed = buffers[fields.photonsToldBuffer.landed];
      const there = new Set(dots.map(({ at }) => at.join()));
      const [x, y, z] = [1.5 * Math.cos((150 * Math.PI) / 180), 1.5 * Math.sin((150 * Math.PI) / 180), 0.75 * 3];
      assert.ok(Math.hypot(stops[0].x - x, stops[0].y - y, stops[0].z - z) < 1e-5, 'the way begins at the lamp');
      assert.ok(stops.length > 4 && stops.slice(1).every((stop) => there.has([stop.x, stop.y, stop.z].join())), 'a photon landed at each stop');
      assert.equal(landed.reduce((sum, n) => sum + n), dots.length);
      assert.equal(landed[0], straight);
      assert.ok(landed.every((n, i) => i === 0 || n <= landed[i - 1]), 'ever fewer go on');
      assert.equal(await moments(page), stops.length - 1);
      for (let i = 0; i + 1 < stops.length; i++) {
        await moveTo(page, i);
        assert.equal(number((await facts(page))['Landed here, of all photons']), landed[i]);
        assert.equal((await facts(page))['Power left'], ['red', 'green', 'blue'].map((name) => (stops[i + 1][name] / stops[0][name]).toFixed(2)).join(', '));
      }
    }
    if (step === 3) {
      const planes = new Map(rows(fields.photonsPlane, buffers[fields.photonsToldBuffer.planes]).map((plane, i) => [i + 1, plane]));
      assert.equal(await moments(page), 31);
      assert.equal(await page.locator('.guide-over polygon').count(), 31, 'all planes are drawn at the end');
      for (const [node, { axis, split }] of planes) {
        const behind = 2 ** (Math.floor(Math.log2(node)) + 1); // children of this level
        const half = Math.floor(((2 * node - behind + 1) * dots.length) / behind) - Math.floor(((2 * node - behind) * dots.length) / behind);
        const least = below(dots, planes, node, true).filter(({ at }) => at[axis] < split).length;
        const most = below(dots, planes, node).filter(({ at }) => at[axis] <= split).length;
        assert.ok(least <= half && half <= most, `plane ${node}: ${least} to ${most} photons lie below it, not ${half}`);
      }
      await moveTo(page, 0);
      assert.equal(await page.locator('.guide-over polygon').count(), 1);
      assert.ok((await words(page)).includes(`as on the other: about ${Math.round(dots.length / 2).toLocaleString('en')}`), await words(page));
    }
    if (step === 4) {
      const [at, normal] = [[of.x, of.y, of.z], [of.normalX, of.normalY, of.normalZ]];
      assert.ok(Math.max(...normal.map(Math.abs)) > 0.999, 'a wall or the floor is chosen');
      const { fround } = Math;
      const away2 = ({ at: place }) => place.reduce((sum, v, a) => fround(sum + fround(fround(at[a] - v) ** 2)), 0);
      const away = dots.filter((dot) => dot.normal.reduce((sum, v, a) => sum + v * normal[a], 0) > 0.5).map(away2).sort((a, b) => a - b).filter((d2) => d2 <= fround(0.4) ** 2);
      const radius = away.length > 60 ? Math.sqrt(away[60]) : 0.4;
      assert.ok(Math.abs(of.radius - radius) < 1e-6, `${of.radius} ${radius}`);
      const found = Math.min(60, away.length);
      assert.ok(found > 10 && (await words(page)).startsWith(`${found} photons lie within ${(100 * radius).toFixed(1)} cm`), await words(page));
      assert.equal(await page.locator('.guide-over circle.query').count(), found);
      assert.equal(await page.locator('.guide-over polygon').count(), 2);
      const looked = number(shown['Photons looked at'].split(' of ')[0]);
      assert.ok(looked >= found && looked < dots.length / 4, `${looked} of ${dots.length}`);
      assert.match(await page.evaluate(() => window.sapwood.scene.verify()), /^Verified/);
    }
    if (step === 5) {
      assert.equal(shown.Pass, '24');
      let square = 1;
      for (let i = 1; i < 24; i++) square *= (i + 2 / 3) / (i + 1);
      assert.equal(shown['Not beyond'], `${(40 * Math.sqrt(square)).toFixed(1)} cm`);
      const curve = (await page.locator('.guide-figure .curve').getAttribute('points')).split(' ').map((place) => Number(place.split(',')[1]));
      assert.ok(curve.at(-1) > Math.min(...curve) + 50, `the picture changes less and less: ${curve}`); // y grows downwards; a busy machine leaves out passes
      assert.ok(parseFloat(shown.Changed) < 10, shown.Changed);
      assert.match(await page.evaluate(() => window.sapwood.scene.verify()), /^Verified/);
    }
  },
};
const rays = { pixel: [0, 0] };
const photons = { pixel: [0, 0] };

// The points of the scan that relaxes, as they are now, and what the worker said of them.
async function cloudPoints(page) {
  return page.evaluate((names) => {
    const { latest } = window.sapwood.scene;
    const floats = new Float32Array(latest.buffers[names.buffer.vertices]);
    const { width } = names;
    const places = Array.from({ length: floats.length / width }, (_, i) => [...floats.subarray(i * width, i * width + 3)]);
    return { places, error: latest.numbers[names.state.error], spacing: latest.numbers[names.state.spacing] };
  }, { buffer: fields.cloudBuffer, state: fields.cloudState, width: 7 });
}

// Where a ray meets a triangle (Möller and Trumbore); Infinity: nowhere.
function met(origin, direction, [a, b, c]) {
  const minus = (p, q) => p.map((v, i) => v - q[i]);
  const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const [ab, ac, from] = [minus(b, a), minus(c, a), minus(origin, a)];
  const p = cross(direction, ac);
  const det = dot(ab, p);
  const q = cross(from, ab);
  const [u, v] = [dot(from, p) / det, dot(direction, q) / det];
  const t = dot(ac, q) / det;
  return det !== 0 && u >= 0 && v >= 0 && u + v <= 1 && t >= 0 ? t : Infinity;
}

// ---- The tests

inBrowser('the stories of the scenes', 'swiftshader', {}, (inTab) => {
  for (const scene of scenes) {
    inTab(`${scene}: every step by click is right`, scene, { values: { explain: 1 } }, async (page) => {
      for (let step = 1; step <= 5; step++) {
        if (step > 1) await page.locator('.guide-ways li button').nth(step - 1).click();
        await page.waitForSelector('.guide');
        await shows(page, step);
        await oracles[scene](page, step);
        await hasNoFinding(page, `step ${step}`);
        await page.waitForFunction((n) => location.hash.endsWith(`?explain=${n}`), step);
      }
    });

    inTab(`${scene}: every step by keyboard, dark, on a phone`, scene, { values: { explain: 1 }, width: 390, height: 700, scheme: 'dark' }, async (page) => {
      await page.waitForSelector('.guide');
      for (let step = 1; step <= 5; step++) {
        if (step > 1) await page.keyboard.press('ArrowRight');
        await shows(page, step);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, `step ${step} is too wide`);
        await hasNoFinding(page, `step ${step}, dark`);
      }
      await page.keyboard.press('ArrowLeft');
      await shows(page, 4);
      await page.keyboard.press('Escape');
      await page.waitForSelector('.guide', { state: 'detached' });
      await idle(page);
      const initial = await page.evaluate(() => window.sapwood.scene.controls.filter((c) => c.kind !== 'button' && c.initial !== window.sapwood.values[c.id]).map((c) => c.id));
      assert.deepEqual(initial.filter((id) => !['key', 'step', 'level', 'camera'].includes(id)), [], 'the free picture is as it was');
      assert.equal(await page.locator('#explain').evaluate((button) => button === document.activeElement), true);
    });
  }

  inTab('a link leads to a step about photons, all of which land at once where motion is welcome', 'photons', { motion: 'no-preference', values: { explain: 3 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 3);
    assert.equal(await page.evaluate(() => window.sapwood.scene.sent.share), 1);
    assert.equal(await moments(page), 31);
  });

  inTab('the passes about photons begin with the first, not with those of the picture before', 'photons', { values: { explain: 4 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 4);
    const pass = async () => {
      const asking = await page.evaluate(() => window.sapwood.scene.asking());
      return named(fields.photonsTold, (await job(page, 'photons_told', [...asking, 0, 0], [])).numbers).pass;
    };
    assert.equal(await pass(), 3, 'the picture is complete');
    const coarse = await page.evaluate(() => window.sapwood.scene.lighting({ step: 8, row: 0, pass: 0, renewed: 0, coarsest: true }, window.sapwood.scene.camera));
    await job(page, 'photons_light', coarse, []);
    assert.equal(await pass(), 0);
  });

  inTab('the last step about photons begins with the first pass, also while the picture before is made', 'photons', { values: { explain: 4 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 4);
    await page.evaluate(() => (window.sapwood.scene.working = true)); // what comes next waits
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => /[^…]$/.test(document.querySelector('.guide-words').textContent));
    assert.match(await words(page), /^The first pass looks as far as 40\.0 cm\.$/);
    assert.equal((await facts(page)).Changed, '–');
  });

  inTab('the ways of a story end its panel, and nothing is seen below them', 'isosurface', { width: 1000, height: 500, values: { explain: 3 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 3);
    const { y, height } = await page.locator('.guide-ways').boundingBox();
    assert.equal(Math.round(y + height), 500);
    assert.ok(!(await page.locator('.links').isVisible()));
  });

  inTab('edited sites stay, and the next link opens the free picture', 'voronoi', { values: { sites: 100, motion: 0 } }, async (page) => {
    await idle(page);
    await page.locator('canvas').press('Enter');
    await page.waitForFunction(() => window.sapwood.scene.beyond() === 'edited sites');
    await idle(page);
    await page.keyboard.press('e');
    await page.waitForSelector('.guide');
    await shows(page, 1);
    assert.equal((await facts(page)).Sites, '101');
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.waitForFunction(() => location.hash.includes('lacks=edited'));
  });

  inTab('a story outlives a lost context, and leads back to WebGL 1', 'voronoi', { values: { sites: 500, motion: 0, webgl: 1, form: 'compact' } }, async (page) => {
    await idle(page);
    await page.keyboard.press('e');
    await page.waitForSelector('.guide');
    await shows(page, 1);
    const said = await words(page);
    await page.evaluate(() => {
      window.ending = window.sapwood.gl.getExtension('WEBGL_lose_context');
      window.ending.loseContext();
    });
    await page.waitForFunction(() => !window.sapwood.running);
    await page.evaluate(() => window.ending.restoreContext());
    await page.waitForFunction(() => window.sapwood.running);
    await idle(page);
    assert.equal(await veil(page), '');
    assert.equal(await words(page), said);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => window.sapwood.running && window.sapwood.version === 1);
    await page.waitForFunction(() => location.hash === '#voronoi?sites=500&motion=0&form=compact&webgl=1');
  });

  inTab('another scene ends a story, whose scene is as before when one comes back', 'compaction', { values: { explain: 99 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 5); // the last there is
    await page.evaluate(() => (location.hash = 'voronoi?sites=200&motion=0'));
    await page.waitForFunction(() => window.sapwood.scene.name === 'voronoi');
    await idle(page);
    assert.equal(await page.locator('.guide, .guide-over').count(), 0);
    await page.evaluate(() => (location.hash = 'compaction'));
    await page.waitForFunction(() => window.sapwood.scene.name === 'compaction');
    await idle(page);
    assert.deepEqual(await page.evaluate(() => [window.sapwood.values.size, window.sapwood.values.step]), ['16', 15]);
  });

  inTab('back leaves the story, then the scene, and forward leads there again', 'compaction', {}, async (page) => {
    const told = (step) => page.waitForFunction((n) => (document.querySelector('.guide-ways [aria-current=step]')?.textContent ?? '') === n, step);
    await idle(page);
    await page.evaluate(() => (location.hash = 'voronoi?sites=200&motion=0'));
    await page.waitForFunction(() => window.sapwood.scene.name === 'voronoi');
    await idle(page);
    const begins = await page.evaluate(() => history.length);
    const values = await page.evaluate(() => ({ ...window.sapwood.values }));
    await page.locator('#explain').click();
    await told('1');
    await page.keyboard.press('ArrowRight');
    await told('2');
    await page.waitForFunction(() => location.hash === '#voronoi?explain=2');
    await page.goBack();
    await told('');
    assert.deepEqual(await page.evaluate(() => [location.hash, { ...window.sapwood.values }]), ['#voronoi?sites=200&motion=0', values]);
    await page.goForward();
    await told('2');
    await page.keyboard.press('Escape'); // leaves as Back does, once
    await page.keyboard.press('Escape');
    await told('');
    await page.waitForFunction(() => location.hash === '#voronoi?sites=200&motion=0');
    await idle(page);
    await page.keyboard.press('e');
    await told('1');
    await page.getByRole('button', { name: 'Leave' }).click();
    await told('');
    await page.waitForFunction(() => location.hash === '#voronoi?sites=200&motion=0');
    assert.equal(await page.evaluate(() => history.length), begins + 1);
    await page.goBack();
    await page.waitForFunction(() => window.sapwood.scene.name === 'compaction');
    await idle(page);
  });

  inTab('digits lead to steps, as the help says, and nothing of the page is done below a story', 'voronoi', { values: { explain: 1 } }, async (page) => {
    await page.waitForSelector('.guide');
    await shows(page, 1);
    for (const [on, key, step] of [['canvas', '4', 4], ['h2', '2', 2], ['h2', '6', 2], ['canvas', '5', 5]]) {
      await page.locator(on === 'canvas' ? 'canvas' : '.guide h2').press(key);
      await shows(page, step);
    }
    assert.equal(await page.evaluate(() => window.sapwood.scene.name), 'voronoi');
    for (const key of ['p', 'e']) await page.keyboard.press(key);
    await shows(page, 5);
    assert.equal(await page.evaluate(() => window.sapwood.paused), true);
    const help = async () => {
      await page.keyboard.press('?');
      const rows = await page.locator('#keys tr').allTextContents();
      await page.keyboard.press('Escape');
      return rows;
    };
    const [first, ...others] = await help();
    assert.equal(first, '1 … 5a step');
    assert.ok(!others.some((row) => /scene|save|verify/.test(row)), others.join());
    await page.keyboard.press('Escape');
    await page.waitForSelector('.guide', { state: 'detached' });
    assert.ok((await help()).includes('1 … 6choose a scene'));
  });

  for (const scene of ['rays', 'voronoi'])
    inTab(`${scene}: there are words before there is a picture, on the screen`, scene, { values: { ...(scene === 'voronoi' && { motion: 0 }) } }, async (page) => {
      await page.waitForFunction(() => window.sapwood?.running);
      await idle(page);
      await page.evaluate(() => {
        const { scene: drawn } = window.sapwood;
        const { frame } = drawn;
        window.draw = () => delete drawn.frame && window.sapwood.redraw();
        drawn.frame = function () { // a picture that takes its time
          window.painted ??= window.shown ?? false;
          return document.querySelector('.guide') ? true : frame.apply(this, arguments);
        };
        new MutationObserver(() => document.querySelector('.guide') && requestAnimationFrame(() => requestAnimationFrame(() => (window.shown = true))))
          .observe(document.querySelector('aside'), { childList: true });
        document.getElementById('explain').click();
      });
      await page.waitForFunction(() => window.painted !== undefined);
      assert.equal(await page.evaluate(() => window.painted), true, 'the panel is painted ahead of what holds the browser up');
      assert.match(await words(page), scene === 'rays' ? /^This pixel’s ray meets triangle .* The picture is being made …$/ : /^The picture is being made …$/);
      await page.evaluate(() => window.draw());
      await shows(page, 1);
      assert.match(await words(page), scene === 'rays' ? /^This pixel’s ray meets triangle .* again\.$/ : /^Site \d+ is nearest/);
    });

  inTab('a curve of one value is a point', 'photons', { values: { explain: 5 } }, async (page) => {
    await page.waitForSelector('.guide');
    const seen = await page.waitForFunction(() => {
      const values = document.querySelector('.guide-figure .curve')?.getAttribute('points').split(' ');
      if (values?.length !== 1) return undefined;
      const dot = document.querySelector('.guide-figure circle').getBBox();
      return [[dot.x + dot.width / 2, dot.y + dot.height / 2, dot.width], values[0].split(',').map(Number)];
    });
    const [point, [x, y]] = await seen.jsonValue();
    assert.ok(Math.abs(point[0] - x) < 0.1 && Math.abs(point[1] - y) < 0.1 && point[2] >= 5, `${point}, ${x} ${y}`);
  });

  inTab('where motion is welcome the moments of a step play, and stop when asked', 'voronoi', { motion: 'no-preference', values: { explain: 2 } }, async (page) => {
    const at = () => page.locator('#guide-moment').inputValue().then(Number);
    await page.waitForFunction(() => Number(document.querySelector('#guide-moment')?.value) > 2);
    await page.getByRole('button', { name: 'Stop' }).click();
    const stopped = await at();
    await page.waitForTimeout(500);
    assert.equal(await at(), stopped);
  });
});
