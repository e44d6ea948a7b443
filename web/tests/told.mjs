// What tests of stories, and of what is told beside the free picture, read: words, facts, and what C says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { transform } from 'esbuild';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { code } = await transform(fs.readFileSync(new URL('../page/fields.ts', import.meta.url), 'utf8'), { loader: 'ts' });
export const fields = await import(`data:text/javascript,${encodeURIComponent(code)}`);

export const words = (page) => page.locator('.guide-words').textContent();
export const texts = (page) => page.locator('.guide-figure:visible text').evaluateAll((all) => all.map((one) => one.textContent));
export const inWords = (number) => number.toLocaleString('en');
export const facts = async (page) =>
  Object.fromEntries(await page.locator('.guide-facts').evaluate((list) => [...list.querySelectorAll('dt')].map((dt) => [dt.textContent, dt.nextElementSibling.textContent])));

export async function hasNoFinding(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`));
  assert.deepEqual(found, [], where);
}

// ---- What C says: numbers by name, rows of a buffer by name

export const named = (names, numbers) => Object.fromEntries(Object.entries(names).map(([name, at]) => [name, numbers[at]]));
export function rows(names, buffer) {
  const width = Object.keys(names).length;
  return Array.from({ length: buffer.length / width }, (_, i) => named(names, buffer.slice(i * width)));
}
export const call = (page, name, numbers) =>
  page.evaluate(([what, given]) => {
    const { numbers: all, buffers } = window.sapwood.call(what, given);
    return { numbers: [...all], buffers: buffers.map((b) => [...new Float64Array(b)]) };
  }, [name, numbers]);
// A job of the worker, whose buffers are arrays of these kinds.
export const job = (page, name, numbers, kinds) =>
  page.evaluate(async ([what, given, arrays]) => {
    const answer = await window.sapwood.job(what, given);
    return { numbers: [...answer.numbers], buffers: answer.buffers.map((b, i) => (arrays[i] ? [...new window[arrays[i]](b)] : [])) };
  }, [name, numbers, kinds]);

// ---- Two by two texels of a pyramid in Z order

// Column and row of number i.
export function zPlace(i) {
  const every = (number) => [...number.toString(2)].reverse().filter((_, bit) => bit % 2 === 0).reverse().join('');
  return [parseInt(every(i), 2), parseInt(every(i >> 1), 2)];
}
// What is below a node, by the flags of the cells in Z order, and what the drawing of it tells.
export function twoByTwo(flags, level, node) {
  const under = 4 ** (level - 1);
  const sums = [0, 1, 2, 3].map((child) => flags.slice((4 * node + child) * under, (4 * node + child + 1) * under).reduce((a, b) => a + b, 0));
  const sum = sums.reduce((a, b) => a + b, 0);
  const [x, y] = zPlace(node);
  const below = [[2 * x, 2 * y], [2 * x + 1, 2 * y], [2 * x, 2 * y + 1], [2 * x + 1, 2 * y + 1]]; // as a Z
  const head = `${level > 1 ? `Level ${level - 1}` : 'Cells'}, at column, row`;
  return { sums, sum, place: [x, y], told: [head, ...sums.flatMap((one, i) => [inWords(one), below[i].join(', ')]), `Level ${level}`, inWords(sum), `${x}, ${y}`, `node ${inWords(node)}`] };
}
