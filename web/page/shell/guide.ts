// The frame of a story: its steps and their moments, by buttons, keys and a slider, beside the picture. A bundle of its own, which
// the page loads when a story is asked for.
import './guide.css';
import { Beside } from './beside.js';
import { element } from './element.js';
import type { ScenePointer, Values } from './scene.js';
import type { Point, Stage, Story } from './story.js';
import { Telling } from './telling.js';
import { cloudStory } from '../scenes/cloud_guide.js';
import { compactionStory } from '../scenes/compaction_guide.js';
import { isosurfaceStory } from '../scenes/isosurface_guide.js';
import { photonsStory } from '../scenes/photons_guide.js';
import { raysStory } from '../scenes/rays_guide.js';
import { voronoiStory } from '../scenes/voronoi_guide.js';

const stories: Record<string, (stage: Stage) => Story> = {
  cloud: cloudStory, compaction: compactionStory, isosurface: isosurfaceStory, photons: photonsStory, rays: raysStory, voronoi: voronoiStory,
};
const MAKING = 'The picture is being made …';
const BY = 12; // CSS pixels that an arrow moves the pointer

// What a scene's story knows of a place of the free picture.
export const besides = (stage: Stage): Beside => new Beside(stage, stories[stage.scene.name]!(stage).free!);

export class Guide {
  // What its keys do, for the help.
  readonly keys = [['1 … 5', 'a step'], ['← →', 'a step back, on; on the picture arrows choose a place, where a step says so'], ['Esc', 'leave']] as const;
  private readonly story: Story;
  private readonly before: Values;
  private readonly wasPaused: boolean;
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  private readonly telling = new Telling();
  private readonly panel: HTMLElement;
  private readonly count = element('p', { class: 'guide-count' });
  private readonly title = element('h2', { tabindex: -1 });
  private readonly text = element('p', { class: 'guide-text' });
  private readonly back = element('button', { type: 'button' }, 'Back');
  private readonly next = element('button', { type: 'button', class: 'guide-next' }, 'Next');
  private readonly dots: HTMLElement[];
  private step = -1;
  private wanted: number | undefined; // the moment to begin with, once it is known how many there are
  private at: Point = { x: 0, y: 0 };
  private placed = false; // the pointer
  private making = true; // the step's first picture

  // How a scene that has not started is set for its story.
  static settings(stage: Stage, scene: string): Values {
    return stories[scene]!(stage).values;
  }

  // before: the values to go back to.
  constructor(private readonly stage: Stage, step: number, before: Values) {
    this.story = stories[stage.scene.name]!(stage);
    this.before = { ...before };
    this.wasPaused = stage.paused;
    this.dots = this.story.steps.map(({ title }, i) => {
      const dot = element('button', { type: 'button', title, 'aria-label': `Step ${i + 1}: ${title}` }, String(i + 1));
      dot.addEventListener('click', () => this.go(i));
      return dot;
    });
    const { telling } = this;
    const leave = element('button', { type: 'button', class: 'quiet' }, 'Leave');
    this.panel = element('section', { class: 'guide', 'aria-label': 'Step by step' },
      element('div', { class: 'row' }, this.count, leave),
      element('div', { 'aria-live': 'polite', 'aria-atomic': 'true' }, this.title, this.text), telling.moments, telling.words, telling.figure, telling.facts,
      element('div', { class: 'row guide-ways' }, this.back, element('ol', { 'aria-label': 'Steps' }, ...this.dots.map((dot) => element('li', {}, dot))), this.next));
    leave.addEventListener('click', () => stage.leave());
    this.back.addEventListener('click', () => this.go(this.step - 1));
    this.next.addEventListener('click', () => (this.step + 1 < this.story.steps.length ? this.go(this.step + 1) : stage.leave()));
    document.body.classList.add('guided');
    document.querySelector('aside')!.append(this.panel);
    stage.paused = true;
    stage.canvas.blur();
    stage.scene.pointer({ type: 'leave', x: 0, y: 0, dx: 0, dy: 0, held: false, touch: false, shift: false, scale: 1 });
    const beyond = stage.scene.beyond() !== '';
    for (const [id, value] of Object.entries(this.story.values))
      if (!(beyond && this.story.content.includes(id)) && stage.values[id] !== value) stage.put(id, value);
    this.go(step, false);
    this.title.focus({ preventScroll: true });
  }

  get now(): number {
    return this.step;
  }

  // Back to what was there before; without `whole` the scene goes away itself, and gets its values only.
  close(whole: boolean): void {
    this.telling.halt();
    document.body.classList.remove('guided');
    this.panel.remove();
    this.telling.over.remove();
    this.stage.paused = this.wasPaused;
    for (const [id, value] of Object.entries(this.before)) {
      if (this.stage.values[id] === value) continue;
      if (whole) this.stage.put(id, value);
      else this.stage.values[id] = value;
    }
  }

  // ---- Steps and moments

  go(step: number, announce = true): void {
    const { steps } = this.story;
    const to = Math.min(steps.length - 1, Math.max(0, step));
    if (to === this.step) return;
    this.step = to;
    this.telling.halt();
    const { title, text, unit } = steps[to]!;
    this.count.textContent = `Step ${to + 1} of ${steps.length}`;
    this.title.textContent = title;
    this.text.textContent = text;
    this.telling.unit.textContent = unit ?? '';
    this.telling.moments.hidden = !unit;
    this.back.disabled = to === 0;
    this.next.textContent = to === steps.length - 1 ? 'Finish' : 'Next';
    if (this.back.disabled && document.activeElement === document.body && announce) this.next.focus();
    this.dots.forEach((dot, i) => (i === to ? dot.setAttribute('aria-current', 'step') : dot.removeAttribute('aria-current')));
    this.wanted = this.still ? Infinity : 0; // without motion all of it, from which the slider leads back
    this.telling.clear();
    this.telling.words.textContent = MAKING;
    this.making = true;
    this.stage.seen(to);
    this.story.enter?.(to);
    this.arrived();
    this.stage.redraw();
  }

  // What the picture will show may be there: what needs no more is told.
  arrived(): void {
    if (this.making && this.story.ahead?.()) this.tell();
  }

  // A picture is finished: what is told of it is asked for anew.
  drawn(): void {
    this.making = false;
    this.tell();
  }

  private tell(): void {
    const { width, height } = this.stage.canvas;
    const { story } = this;
    try {
      if (!this.placed) {
        const at = story.start ? story.start() : { x: width / 2, y: height / 2 };
        if (!at) return;
        this.at = at;
        this.placed = !this.making; // the canvas may become another size
      }
    } catch (error) {
      this.fail(error);
      return;
    }
    this.ask();
  }

  private ask(): void {
    const { story, step, telling } = this;
    try {
      if (!story.ask(step, this.at)) return telling.hold();
      telling.begin(story.moments(step), this.wanted ?? telling.moment, (moment) => {
        const told = story.show(step, moment, telling.over, telling.figure);
        return this.making ? { ...told, words: `${told.words} ${MAKING}` } : told;
      });
      const plays = !this.making && this.wanted === 0 && telling.most > 0;
      if (!this.making) this.wanted = undefined; // what is told ahead of the picture is told again with it
      if (plays) telling.run();
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.telling.halt();
    this.telling.clear(); // nothing is being made
    this.stage.fail(error);
  }

  // ---- Pointer and keys

  private point(x: number, y: number): void {
    const { width, height } = this.stage.canvas;
    this.placed = true;
    this.at = { x: Math.min(width - 1, Math.max(0, x)), y: Math.min(height - 1, Math.max(0, y)) };
    this.telling.halt();
    this.wanted = this.telling.moment >= this.telling.most ? Infinity : this.wanted; // who looks at the end goes on doing so
    this.ask();
  }

  pointer(event: ScenePointer): boolean {
    if (!this.story.steps[this.step]!.points || !['move', 'down', 'click'].includes(event.type)) return false;
    this.point(event.x, event.y);
    return true;
  }

  // On the canvas arrows move the pointer, elsewhere they lead from step to step.
  key(event: KeyboardEvent, onCanvas: boolean): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false; // the browser's
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] as [number, number] | undefined;
    if (event.key === 'Escape') {
      this.stage.leave();
    } else if (/^[1-9]$/.test(event.key)) {
      this.dots[Number(event.key) - 1]?.click();
    } else if (onCanvas && by && this.story.steps[this.step]!.points) {
      const one = (BY * this.stage.canvas.width) / (this.stage.canvas.clientWidth || 1);
      this.point(this.at.x + by[0] * one, this.at.y + by[1] * one);
    } else if (by && by[0] && !onCanvas && event.target !== this.telling.slider) {
      this.go(this.step + by[0]);
    } else {
      return false;
    }
    return true;
  }
}
