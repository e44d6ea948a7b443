// A curve of one number over the steps: what falls while points relax or scans align.
const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 296;
const HEIGHT = 96;

function shape(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, String(attributes[key]));
  return made;
}

export class Curve {
  readonly box = document.createElement('figure');
  private readonly caption = document.createElement('figcaption');
  private readonly picture = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  private values: number[] = [];

  constructor() {
    this.box.className = 'cloud-curve';
    this.box.append(this.caption, this.picture);
  }

  begin(title: string): void {
    this.caption.textContent = title;
    this.values = [];
  }

  // The value after so many steps.
  put(steps: number, value: number, text: string): void {
    this.values.length = Math.min(this.values.length, steps);
    this.values[steps] = value;
    const most = Math.max(...this.values) || 1;
    const last = this.values.length - 1;
    const x = (at: number): number => 2 + ((WIDTH - 8) * at) / Math.max(12, last);
    const y = (of: number): number => HEIGHT - 3 - ((HEIGHT - 10) * of) / most;
    const line = this.values.map((of, at) => `${x(at).toFixed(1)},${y(of).toFixed(1)}`).join(' ');
    this.picture.setAttribute('aria-label', `${this.caption.textContent}: ${text} after ${last} steps`);
    this.picture.replaceChildren(
      shape('path', { class: 'cloud-axis', d: `M2 2V${HEIGHT - 3}H${WIDTH - 2}` }),
      shape('polygon', { class: 'cloud-under', points: `2,${HEIGHT - 3} ${line} ${x(last).toFixed(1)},${HEIGHT - 3}` }),
      shape('polyline', { class: 'cloud-line', points: line }),
      shape('circle', { class: 'cloud-dot', cx: x(last).toFixed(1), cy: y(value).toFixed(1), r: 3.5 }),
    );
  }
}
