// What the page says: the status line, the veil over the canvas, the timings.
import { SceneError } from './scene.js';
import { Superseded } from './jobs.js';
import { milliseconds } from './words.js';

const $ = (id: string): HTMLElement => document.getElementById(id)!;

export type Time = 'build' | 'upload' | 'search';

export class Display {
  // Milliseconds; null: this browser cannot tell; undefined: not yet known.
  time(what: Time, time: number | null | undefined): void {
    const text = time === undefined ? '–' : time === null ? 'n/a' : milliseconds(time);
    document.querySelector(`[data-testid="${what}"]`)!.textContent = text;
  }

  speak(text: string, wrong = false): void {
    $('status').textContent = text;
    $('status').classList.toggle('wrong', wrong);
  }

  // A sentence instead of the picture.
  cover(text: string): void {
    $('veil').textContent = text;
    $('veil').hidden = false;
  }

  uncover(): void {
    if ($('veil').hidden) return;
    $('veil').hidden = true;
    performance.mark('picture');
  }

  fail(error: unknown, cover: boolean): void {
    if (error instanceof Superseded) return;
    const text = error instanceof SceneError ? error.message : `Something went wrong: ${error instanceof Error ? error.message : String(error)}.`;
    if (!(error instanceof SceneError)) console.error(error);
    if (cover) this.cover(text);
    this.speak(text, true);
  }
}
