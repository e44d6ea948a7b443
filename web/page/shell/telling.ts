// What is told of a place, moment by moment: a slider for the moments, which also play, and of each its words, a drawing, facts, and
// marks over the picture.
import { element } from './element.js';
import type { Told } from './story.js';

const PLAYED = 6000; // ms that all moments take together, about
const svg = (style: string): SVGSVGElement => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  made.setAttribute('class', style);
  return made;
};

export class Telling {
  readonly over = svg('guide-over');
  readonly figure = svg('guide-figure');
  readonly words = element('p', { class: 'guide-words' });
  readonly facts = element('dl', { class: 'guide-facts' });
  readonly unit = element('label', { for: 'guide-moment' });
  readonly slider = element('input', { type: 'range', id: 'guide-moment', min: 0, step: 1 });
  private readonly play = element('button', { type: 'button' }, 'Play');
  private readonly output = element('output', { for: 'guide-moment' });
  readonly moments = element('div', { class: 'guide-moments' },
    element('div', { class: 'row' }, this.unit, this.output), element('div', { class: 'row' }, this.play, this.slider));
  moment = 0;
  most = 0; // the last one
  private tell: ((moment: number) => Told) | undefined; // undefined: there is nothing to tell
  private timer = 0;

  constructor() {
    this.over.setAttribute('aria-hidden', 'true');
    this.figure.setAttribute('role', 'img');
    this.play.addEventListener('click', () => (this.timer ? this.halt() : this.run()));
    this.slider.addEventListener('input', () => {
      this.halt();
      this.show(Number(this.slider.value));
    });
    document.getElementById('canvas-place')!.append(this.over);
  }

  // From now on so many moments are told, this one first.
  begin(moments: number, moment: number, tell: (moment: number) => Told): void {
    this.tell = tell;
    this.most = moments - 1;
    this.slider.max = String(this.most);
    this.show(Math.min(moment, this.most));
  }

  // Until begin() nothing else is told.
  hold(): void {
    this.tell = undefined;
  }
  clear(): void {
    this.hold();
    this.wipe();
  }
  private wipe(): void {
    for (const part of [this.over, this.figure, this.facts, this.words]) part.replaceChildren();
  }

  show(moment: number): void {
    if (!this.tell) return;
    const { figure, slider, output, most } = this;
    this.moment = moment;
    this.wipe();
    figure.removeAttribute('viewBox');
    figure.removeAttribute('aria-label');
    const { words, facts } = this.tell(moment);
    figure.toggleAttribute('hidden', !figure.childNodes.length);
    this.words.textContent = words;
    this.facts.replaceChildren(...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
    slider.value = String(moment);
    output.value = `${moment + 1} of ${most + 1}`;
    slider.setAttribute('aria-valuetext', `${output.value}: ${words}`);
    slider.style.setProperty('--part', `${(100 * moment) / (most || 1)}%`);
  }

  run(): void {
    if (this.moment >= this.most) this.show(0);
    this.timer = window.setInterval(() => {
      this.show(Math.min(this.most, this.moment + 1));
      if (this.moment >= this.most) this.halt();
    }, Math.min(900, Math.max(90, PLAYED / (this.most + 1))));
    this.showPlay();
  }
  halt(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.showPlay();
  }
  private showPlay(): void {
    this.play.textContent = this.timer ? 'Stop' : 'Play';
  }
}
