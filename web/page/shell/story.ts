// What a story is: a scene told in five steps, each of some moments. All that it says comes from what C did (NAME_told.c).
import type { Answer, JobOptions } from './module.js';
import type { Host, Scene, Value, Values } from './scene.js';

export interface Stage extends Host {
  readonly scene: Scene;
  paused: boolean;
  // Runs job_NAME of C on this thread. Throws an error whose message is a sentence.
  call(name: string, numbers: readonly number[]): Answer;
  job(name: string, numbers: readonly number[], options?: JobOptions): Promise<Answer>;
  fail(error: unknown): void;
  put(id: string, value: Value): void; // as if the reader had set the control
  seen(step: number): void; // the address tells it
  leave(): void; // back to the free picture
}

export interface Told {
  words: string; // what is to be seen at this moment, in one or two sentences
  facts: readonly (readonly [string, string])[];
}

export interface Step {
  title: string;
  text: string; // what the step is about
  points?: boolean; // the pointer, and arrows on the picture, choose what is told
  unit?: string; // what a moment is; without it the step has one
}

// What is told of a place beside the free picture, too.
export interface Free {
  readonly title: string;
  readonly unit?: string; // what a moment is; without it there is one
  readonly stays?: boolean; // the marks over the picture, also when neither it nor the panel is pointed at
  ask(at: Point): boolean | undefined; // of C. False: there is nothing yet; undefined: what is told stays for now
  moments(): number;
  show(moment: number, over: SVGSVGElement, figure: SVGSVGElement): Told;
  note?(): string; // a sentence that holds for the whole picture
}

export interface Story {
  readonly free?: Free;
  readonly values: Values; // of the scene's controls while it is told
  readonly content: readonly string[]; // those of them that would replace a file or edits: then they stay as they are
  readonly steps: readonly Step[];
  // A picture is there, or the pointer (pixels of the canvas) is elsewhere: asks C anew. False: there is nothing yet.
  ask(step: number, at: Point): boolean;
  moments(step: number): number;
  // Draws over the picture, in CSS pixels, and into the panel.
  show(step: number, moment: number, over: SVGSVGElement, figure: SVGSVGElement): Told;
  enter?(step: number): void; // ahead of the step's first picture
  ahead?(): boolean; // what is told needs no picture: ask() and start() may be called at once
  start?(): Point | undefined; // where the pointer is first (undefined: it is too early to say); without it in the middle
}

export interface Point {
  x: number;
  y: number;
}

// An element of SVG, put into another one.
export function shape(into: Element, tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, typeof value === 'number' ? String(Number(value.toFixed(2))) : value);
  if (text) made.textContent = text;
  into.append(made);
  return made;
}

// A curve of values by step, as far as they are known, over so many steps.
export function chart(figure: SVGElement, values: readonly number[], steps: number, label: string): void {
  const known = values.map((value, step) => ({ step, value })).filter(({ value }) => value !== undefined);
  const most = Math.max(...known.map(({ value }) => value)) || 1;
  const places = known.map(({ step, value }) => [(step / steps) * 290 + 5, 110 - (value / most) * 100] as const);
  const [cx, cy] = places.at(-1)!;
  figure.setAttribute('viewBox', '0 0 300 120');
  figure.setAttribute('aria-label', label);
  shape(figure, 'line', { class: 'edge', x1: 0, y1: 110, x2: 300, y2: 110 });
  shape(figure, 'polyline', { class: 'curve', points: places.map((place) => place.map((v) => v.toFixed(1)).join()).join(' ') });
  shape(figure, 'circle', { class: 'lit', cx, cy, r: 3 }); // one value alone is no line
}

// Rows of numbers that a job gave, by name.
export function rows<K extends string>(fields: Readonly<Record<K, number>>, buffer: ArrayBuffer): Record<K, number>[] {
  const numbers = new Float64Array(buffer);
  const width = Object.keys(fields).length;
  const names = Object.keys(fields) as K[];
  return Array.from({ length: numbers.length / width }, (_, i) =>
    Object.fromEntries(names.map((name) => [name, numbers[i * width + fields[name]]!])) as Record<K, number>);
}
