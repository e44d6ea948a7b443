// A key's way down a histopyramid, as C tells it and as a list of bars; and 2 × 2 of its texels, large.
import { compactionTexel, compactionWay } from '../fields.js';
import { named, stride } from '../shell/named.js';
import type { PageModule } from '../shell/module.js';
import { shape } from '../shell/story.js';
import { count } from '../shell/words.js';

export interface Step {
  level: number;
  node: number;
  key: number; // what is left of it, within the node
  children: readonly number[]; // sums of the node's four
  taken: number; // the one into which the key falls: 0 … 3
  ahead: number; // the sum of the children before that
}

// From the top down to level 1, and the cell.
export function follow(module: PageModule, key: number, levels: number): { steps: Step[]; cell: number } {
  const numbers = module.HEAPF64.subarray((module._compaction_way!(key) >>> 0) / 8);
  const steps = Array.from({ length: levels }, (_, i): Step => {
    const { node, key: left, child0, child1, child2, child3 } = named(compactionWay, numbers.subarray(i * stride(compactionWay)));
    const children = [child0, child1, child2, child3];
    let taken = 0;
    let ahead = 0;
    while (taken < 3 && left >= ahead + children[taken]!) ahead += children[taken++]!;
    return { level: levels - i, node, key: left, children, taken, ahead };
  });
  return { steps, cell: numbers[levels * stride(compactionWay)]! };
}

// Items of a list: of every level a bar of four, the one that is taken strong; those from `late` on are not there yet.
export function items(steps: readonly Step[], late: number): HTMLElement[] {
  return steps.map((step, i) => {
    const item = document.createElement('li');
    const ordinal = ['first', 'second', 'third', 'fourth'][step.taken]!;
    item.setAttribute('aria-label', `Level ${step.level}: children ${step.children.join(', ')}; key ${step.key} falls into the ${ordinal}, ${step.key - step.ahead} left`);
    if (i >= late) item.className = 'way-hidden';
    const add = (where: HTMLElement, name: string, text: string): HTMLElement => {
      const part = where.appendChild(document.createElement('span'));
      part.className = name;
      part.textContent = text;
      return part;
    };
    add(item, 'way-name', `Level ${step.level}`);
    const bar = add(item, 'way-bar', '');
    const sum = step.children.reduce((a, b) => a + b, 0);
    step.children.forEach((child, j) => {
      const part = add(bar, j === step.taken ? 'way-taken' : child ? '' : 'way-none', child ? count(child) : '');
      if (child) part.style.flexGrow = String(Math.max(child, 0.08 * sum));
    });
    add(item, 'way-rest', `key ${count(step.key)}`);
    for (const part of item.children) part.setAttribute('aria-hidden', 'true');
    return item;
  });
}

// Column and row of a node in its level's square, of a cell in the base, and the column where that square begins in its texture.
export const texelOf = (module: PageModule, level: number, node: number) => named(compactionTexel, module.HEAPF64.subarray((module._compaction_texel!(level, node) >>> 0) / 8));

// A node of a level from 1 on: the 2 × 2 texels below it, in Z order, and the texel that has their sum.
export function zoom(module: PageModule, figure: SVGElement, level: number, node: number): void {
  const children = [0, 1, 2, 3].map((child) => module._compaction_sum_of!(level - 1, 4 * node + child));
  const sum = count(children.reduce((a, b) => a + b, 0));
  const { column, row } = texelOf(module, level, node);
  figure.setAttribute('viewBox', '0 0 294 146');
  figure.setAttribute('aria-label', `Two by two texels of ${level > 1 ? `level ${level - 1}` : 'the cells'}, in Z order: ${children.map(count).join(' + ')} = ${sum}, which texel ${column}, ${row} of level ${level} has`);
  const text = (x: number, y: number, style: string, words: string): void => void shape(figure, 'text', { x, y, class: style }, words);
  text(4, 12, 'small', `${level > 1 ? `Level ${level - 1}` : 'Cells'}, at column, row`);
  shape(figure, 'path', { class: 'edge way-z', d: 'M40 43H130L40 109H130' });
  shape(figure, 'path', { class: 'edge way-z', d: 'M166 76H206M199 71L206 76L199 81' });
  children.forEach((child, i) => {
    const [x, y] = [4 + (i % 2) * 90, 22 + (i >> 1) * 66];
    shape(figure, 'rect', { class: `node ${child ? 'lit' : ''}`, x, y, width: 72, height: 42, rx: 3 });
    text(x + 36, y + 19, `mid way-sum ${child ? 'lit' : ''}`, count(child));
    text(x + 36, y + 35, `mid small ${child ? 'lit' : ''}`, `${2 * column + (i % 2)}, ${2 * row + (i >> 1)}`);
  });
  text(214, 47, 'small', `Level ${level}`);
  shape(figure, 'rect', { class: 'node at', x: 214, y: 55, width: 76, height: 42, rx: 3 });
  text(252, 74, 'mid way-sum', sum);
  text(252, 90, 'mid small', `${column}, ${row}`);
  text(214, 113, 'small', `node ${count(node)}`);
}
