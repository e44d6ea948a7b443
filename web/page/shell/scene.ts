// What a scene is, and what the shell gives it.
//
// A scene declares its controls as data; the shell makes of that one table the elements, their keys and help, and the state
// in the address. A scene computes and draws in C (page.h): its TypeScript carries values and events there.
import type { PageModule, Answer, JobOptions } from './module.js';

export type Value = number | string | boolean;
export type Values = Record<string, Value>;

interface Common {
  id: string; // in the address and in `values`; letters only
  label: string;
  help?: string; // one sentence: a tooltip and the description for screen readers
  group?: string; // heading under which it stands; controls of one group follow one another
  key?: string; // a letter that uses it: a switch toggles, a choice goes on, a button is pressed
  shown?: (values: Values) => boolean; // else it is hidden
}
export interface Slider extends Common {
  kind: 'slider';
  least: number;
  most: number;
  initial: number;
  step?: number; // linear ones; default 1
  logarithmic?: boolean; // whole numbers, two digits that count
  text?: (value: number) => string; // what is shown beside it
}
export interface Choice extends Common {
  kind: 'choice';
  options: readonly { value: string; label: string }[];
  initial: string;
}
export interface Switch extends Common {
  kind: 'switch';
  initial: boolean;
}
export interface Button extends Common {
  kind: 'button';
}
// State that has no element but stands in the address: where the camera is.
export interface Hidden {
  kind: 'hidden';
  id: string;
  initial: number | string;
  least?: number; // of a number
  most?: number;
}
export type Control = Slider | Choice | Switch | Button | Hidden;

// All in 0 … 1, red, green, blue.
export type Color = readonly [number, number, number];
export interface Colors {
  dark: boolean;
  paper: Color;
  ink: Color;
  muted: Color;
  accent: Color;
}

export interface Host {
  readonly module: PageModule; // the instance on this thread; the canvas's context is the current one
  readonly canvas: HTMLCanvasElement;
  readonly gl: WebGL2RenderingContext | WebGLRenderingContext; // antialias: false, alpha: false, no depth
  readonly version: 1 | 2;
  readonly colors: Colors;
  readonly details: HTMLElement; // beside or below the canvas, for a scene's own elements; empty when a scene starts
  readonly overlay: HTMLElement; // over the canvas, takes no events; empty when a scene starts
  readonly values: Values; // of the controls, now
  readonly seconds: number; // of the animation: stands still while paused, in hidden tabs and with reduced motion
  readonly paused: boolean;

  set(id: string, value: Value): void; // a control's value, from the scene; change() is not called
  range(id: string, least: number, most: number): void; // of a slider
  remember(): void; // what beyond() says is another thing: the address tells it
  redraw(): void; // asks for frame()
  did(part: number): void; // within frame(): less than the whole share was done; NaN: nothing that the share measures
  begin(): void; // the same for a new picture: the GPU's time for it is measured until frame() says that no more is left
  say(sentence: string): void; // what is to be known now, in words: the status line, read out by screen readers
  // The picture is replaced by a sentence until the next begin() or say(): where there is nothing to draw.
  nothing(sentence: string): void;
  // Milliseconds that making took; null: n/a. The search is timed by the shell, see begin().
  time(what: 'build' | 'upload', milliseconds: number | null): void;
  // Runs work that puts data into the context, and times it until the GPU has it.
  upload<T>(work: () => T): T;
  // Runs job_NAME of C in the worker (page.h). Rejects with a SceneError carrying the sentence.
  job(name: string, numbers: readonly number[], options?: JobOptions): Promise<Answer>;
  // Another context, because version() changed: stop() and start() follow.
  restart(): void;
}

export interface ScenePointer {
  type: 'down' | 'move' | 'up' | 'cancel' | 'leave' | 'wheel' | 'pinch' | 'click' | 'menu';
  x: number; // in pixels of the canvas's drawing buffer, y down
  y: number;
  dx: number; // since the event before
  dy: number;
  held: boolean; // a button is down, or a finger or a pen touches
  touch: boolean;
  shift: boolean; // or Ctrl, Cmd, Alt
  scale: number; // wheel and pinch: by how much to zoom in, about x and y
}

export interface Scene {
  readonly name: string; // in the address
  readonly title: string;
  readonly about: string; // one or two sentences
  readonly keys: readonly (readonly [string, string])[]; // keys on the canvas and what they do, for the help
  readonly taken?: string; // a key of the page that does something else now
  readonly search?: string; // what the time of the GPU is called: without it "search"
  readonly accepts: string; // what may be dropped, in words: "CSV, PLY or NPY points"
  readonly suffixes: string; // the same for a file dialogue: ".csv,.ply"
  readonly files?: number; // that may be dropped at once: 1 or 2; without it 1
  readonly webgl1: boolean; // can do with a context of WebGL 1
  readonly animated: boolean; // has something that moves by itself: the shell shows a button to pause
  readonly controls: readonly Control[];

  version?(values: Values): 1 | 2; // of WebGL that is wanted; without it 2
  // Where the picture is told of while nobody asks for the story (story.ts, Free), in pixels of the canvas. undefined: it is not; null:
  // not at present. Asked after every picture and event of the pointer; Isosurface asks its worker anew only about another object.
  told?(): { x: number; y: number } | null | undefined;
  beyond(): string; // what is shown and no link can hold: a file's name, edits; '': nothing
  played?(): string; // the control whose value now changes by itself, if there is one: unless the page is paused, no address holds it
  pin?(): void; // writes into the values what moves by itself, where a camera is: a link is made
  // With a context that is new (page_gl() is its device); values are set. All that follows is called between start() and stop().
  start(host: Host): Promise<void> | void;
  stop(): void; // frees all that is the device's
  change(id: string, value: Value): void; // of a control, by the user; buttons too
  resize(width: number, height: number, ratio: number): void; // of the drawing buffer; called once after start()
  // Draws about `share` units of work, whatever a unit is: the shell learns how many the GPU takes in a slice of a frame,
  // beginning with `share`. Whether there is more to do. The default framebuffer keeps its content between calls.
  readonly share: { first: number; least: number; most: number };
  frame(share: number): boolean;
  animate?(): boolean; // called ahead of frame() while seconds run; whether there is something to draw
  pointer(event: ScenePointer): boolean; // whether it was used
  key(event: KeyboardEvent): boolean; // with the focus on the canvas; whether it was used
  keyAnywhere?(event: KeyboardEvent): boolean; // ahead of the page's own keys, wherever the focus is
  drop(name: string, bytes: ArrayBuffer, second?: { name: string; bytes: ArrayBuffer }): Promise<void>; // rejects with a sentence
  verify(): Promise<string>; // compares with brute force; the result in words
  themeChanged?(): void;
  contextLost(): void; // GL objects are gone: frees all that is the device's, which the shell then closes
  contextRestored(): Promise<void> | void; // with a new device: makes them again
}

// An error whose message is a sentence for the user.
export class SceneError extends Error {}
