// Times two ways to do the same work in turns, after a warm-up, and writes table and CSV of medians and their ratio.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const rows = [];

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

// `ours` and `theirs` do so many pieces of work in a call, which may differ; `least` is the ratio that must be reached.
export function compare({ name, rival, unit, ours, theirs, least, turns = 7 }) {
  const times = [[], []];
  for (let turn = -2; turn < turns; turn++)
    [ours, theirs].forEach((side, i) => {
      const each = timed(side.work) / (side.pieces ?? 1);
      if (turn >= 0) times[i].push(each);
    });
  const [a, b] = times.map(median);
  rows.push({ name, rival, ours: a, theirs: b, ratio: b / a, least });
  const shown = (ms) => (unit === 'ms' ? `${ms.toFixed(1)} ms` : `${(1e-3 / ms).toFixed(2)} M/s`);
  console.log(`${name.padEnd(44)} ${shown(a).padStart(10)}   ${rival.padEnd(32)} ${shown(b).padStart(10)} ` +
    `${(b / a).toFixed(1).padStart(6)} x${least ? `   (at least ${least})` : ''}`);
}

export function write(file) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'work,rival,sapwood_ms,rival_ms,ratio,least\n' +
    rows.map((r) => `"${r.name}","${r.rival}",${r.ours},${r.theirs},${r.ratio},${r.least ?? ''}\n`).join(''));
  console.log(`times in milliseconds: ${file}`);
}

export function check(holds, what) {
  if (!holds) throw new Error(`wrong: ${what}`);
}

// The same numbers on every machine.
export function uniform(count, seed) {
  const values = new Float32Array(count);
  let state = seed;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = (state >>> 8) / 16777216;
  }
  return values;
}
