// A key's way down a histopyramid, as C tells it and as a list of bars; and four of its sums, large.
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

// A node of a level from 1 on: the four below it, their sum, and the texel that has it.
export function zoom(module: PageModule, figure: SVGElement, level: number, node: number): void {
  const children = [0, 1, 2, 3].map((child) => module._compaction_sum_of!(level - 1, 4 * node + child));
  const sum = children.reduce((a, b) => a + b, 0);
  const { column, row } = named(compactionTexel, module.HEAPF64.subarray((module._compaction_texel!(level, node) >>> 0) / 8));
  figure.setAttribute('viewBox', '0 0 294 122');
  figure.setAttribute('aria-label', `Level ${level}, node ${node}, texel ${column}, ${row}: ${children.join(' + ')} = ${sum}`);
  const text = (x: number, y: number, style: string, words: string): void => void shape(figure, 'text', { x, y, class: style }, words);
  children.forEach((child, i) => {
    const x = 8 + i * 72;
    shape(figure, 'line', { class: 'edge', x1: x + 31, y1: 66, x2: 147, y2: 34 });
    shape(figure, 'rect', { class: `node ${child ? 'lit' : ''}`, x, y: 66, width: 62, height: 30, rx: 3 });
    text(x + 31, 86, `mid ${child ? 'lit' : ''}`, count(child));
    text(x + 31, 114, 'mid small', `${level > 1 ? '' : 'cell '}${count(4 * node + i)}`);
  });
  shape(figure, 'rect', { class: 'node at', x: 112, y: 4, width: 70, height: 30, rx: 3 });
  text(147, 24, 'mid', count(sum));
  text(0, 24, 'small', `Level ${level}`);
  text(190, 16, 'small', `node ${count(node)}`);
  text(190, 31, 'small', `texel ${column}, ${row}`);
}
