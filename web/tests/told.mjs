// What tests of stories, and of what is told beside the free picture, read: words, facts, and what C says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { transform } from 'esbuild';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { code } = await transform(fs.readFileSync(new URL('../page/fields.ts', import.meta.url), 'utf8'), { loader: 'ts' });
export const fields = await import(`data:text/javascript,${encodeURIComponent(code)}`);

export const words = (page) => page.locator('.guide-words').textContent();
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
