// Sums of a pyramid, drawn for stories: four numbers side by side a level.
import { shape } from '../shell/story.js';
import { count } from '../shell/words.js';

export interface Four {
  children: readonly number[];
  label: string;
  taken: number; // the one on the way down; -1: none
}

// One level below the other, so many units apart, from `top` on.
export function chain(figure: SVGSVGElement, levels: readonly Four[], top = 0, apart = 30): void {
  const [left, wide, high] = [70, 52, apart - 6];
  levels.forEach(({ children, label, taken }, row) => {
    const y = top + row * apart;
    children.forEach((child, i) => {
      const x = left + i * (wide + 4);
      shape(figure, 'rect', { class: `node ${i === taken ? 'lit' : child ? '' : 'none'}`, x, y, width: wide, height: high, rx: 3 });
      shape(figure, 'text', { x: x + wide / 2, y: y + high / 2 + 4, class: `mid ${i === taken ? 'lit' : ''}` }, count(child));
    });
    shape(figure, 'text', { class: 'small', x: 0, y: y + high / 2 + 4 }, label);
  });
}
