// The front door: all scenes at once, small and moving, and what else there is.
import { Booths, type Act } from './booths.js';
import { element } from './element.js';
import { Jobs } from './jobs.js';
import { Measurement, PUBLISHED, SITES, SIZE } from './measure.js';
import type { PageModule } from './module.js';
import type { Colors, Scene, Values } from './scene.js';
import { count } from './words.js';

// So small that all of them move on a modest GPU.
const small: Record<string, Values> = {
  voronoi: { sites: 700, motion: 1 },
  compaction: { size: '16', view: 'live' },
  isosurface: { size: '64' },
  rays: { triangles: 4000, samples: 1, bounces: 2 },
  cloud: { points: 2500 },
  photons: { show: 'dots', photons: 4000, caustics: 4000 },
};
const QUICKEST = ['isosurface', 'compaction', 'photons', 'cloud', 'voronoi', 'rays']; // to compile the shaders of, by SwiftShader
const SHAPE = 5 / 8; // height of a picture over its width
const WIDEST = 720; // pixels of a picture
const LATEST = 3000; // ms after which the next scene starts, though the last has shown nothing

export interface House {
  readonly module: PageModule;
  readonly makers: readonly (() => Scene)[];
  readonly paused: boolean;
  readonly colors: Colors;
  jobs(): Jobs; // a worker for the door alone
  pause(): void;
  openFile(): void;
  openSamples(): void;
  news(): string; // whether the page needs a network
  picture(): void; // there is a first one
}

// Up to the first point or colon.
const inShort = (text: string): string => `${text.split(/[.:;] /)[0]!.replace(/\.$/, '')}.`;

export class Door {
  private booths: Booths | undefined;
  private readonly canvases: HTMLCanvasElement[] = [];
  private readonly places: HTMLElement[] = [];
  private scenes: readonly Scene[];
  private readonly play = element('button', { type: 'button', 'aria-keyshortcuts': 'p' });
  private readonly gpu = element('div', { class: 'gpu' });
  private readonly offline = element('p', { class: 'offline' });
  private readonly watcher: IntersectionObserver;
  private wanted: number[] = []; // scenes that are in view and have not started
  private closed = false;
  private measuring: Measurement | undefined;

  constructor(private readonly place: HTMLElement, private readonly house: House) {
    this.scenes = house.makers.map((make) => make());
    const button = (text: string, use: () => void): HTMLElement => {
      const made = element('button', { type: 'button' }, text);
      made.addEventListener('click', use);
      return made;
    };
    this.play.addEventListener('click', () => house.pause());
    const kinds = [...new Set(this.scenes.flatMap((scene) => scene.suffixes.split(',')))].map((suffix) => suffix.slice(1).toUpperCase());
    const cards = this.scenes.map((scene, i) => this.card(scene, i));
    place.replaceChildren(
      element('div', { class: 'door-head' },
        element('h1', {}, 'K‑d trees, seen at work'),
        element('p', {}, 'Sapwood is a C library that builds k‑d trees and searches them. Here it runs in your browser, in WebAssembly and in shaders. Each picture is drawn while you look at it; open one to take hold of it.'),
        element('div', { class: 'actions' }, this.play, button('Sample files…', () => house.openSamples()), button('Open file…', () => house.openFile()))),
      element('div', { class: 'cards' }, ...cards, element('section', { class: 'card' }, element('h2', {}, 'Your GPU'), this.gpu)),
      element('div', { class: 'cards wide' },
        element('section', { class: 'card' },
          element('h2', {}, 'Your own data'),
          element('p', {}, `Drop a file anywhere on this page. The scene that reads it opens: ${kinds.join(', ')}, also packed as GZ. Files stay on this machine.`)),
        element('section', { class: 'card' },
          element('h2', {}, 'How it is made'),
          element('p', {}, element('a', { href: 'source.html#docs' }, 'Docs'), ' · ', element('a', { href: 'source.html' }, 'Source'), ' · ', element('a', { href: 'source.html#package' }, 'npm package')),
          this.offline)));
    this.gpu.append(
      element('p', {}, `How often a second does it find the nearest of ${count(SITES)} points for each of ${SIZE.join(' × ')} pixels? A WebGL demo of 2013, with “millions of nodes”, was published with ${PUBLISHED} frames a second, on a GTX 550 Ti.`),
      button('Measure', () => void this.measure()));
    this.watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.see(this.places.indexOf(target as HTMLElement), isIntersecting);
    }, { rootMargin: '60px' });
    this.showPaused();
    this.tellOffline();
    this.begin();
  }

  private card(scene: Scene, i: number): HTMLElement {
    const canvas = element('canvas', { width: 16, height: 10, 'aria-hidden': 'true' });
    const card = element('a', { href: `#${scene.name}`, class: 'card', 'data-scene': scene.name, 'aria-keyshortcuts': i + 1 },
      canvas, element('h2', {}, scene.title), element('p', {}, inShort(scene.about)));
    this.canvases.push(canvas);
    this.places.push(card);
    return card;
  }

  private act(scene: Scene, i: number, done: () => void): Act {
    const canvas = this.canvases[i]!;
    let pictures = 0;
    return {
      scene,
      values: small[scene.name] ?? {},
      drawn: (from) => {
        if (canvas.width !== from.width || canvas.height !== from.height) [canvas.width, canvas.height] = [from.width, from.height];
        canvas.getContext('2d', { alpha: false })!.drawImage(from, 0, 0);
        if (!pictures) this.house.picture();
        canvas.dataset['pictures'] = String(++pictures);
        done();
      },
      failed: (sentence) => {
        this.say(canvas, sentence);
        done();
      },
    };
  }

  private say(canvas: HTMLCanvasElement, sentence: string): void {
    canvas.replaceWith(element('p', { class: 'no-picture' }, sentence));
  }

  // The scenes start, in a context that is as large as a card.
  private begin(): void {
    const width = this.canvases[0]!.clientWidth || 320;
    const ratio = Math.min(devicePixelRatio || 1, WIDEST / width);
    const size = [Math.max(16, Math.round(width * ratio)), Math.max(10, Math.round(width * SHAPE * ratio))] as const;
    const { house } = this;
    this.scenes = house.makers.map((make) => make()); // new ones: the worker is new, too
    this.wanted = [];
    try {
      this.booths = new Booths(house.module, house.jobs(), ...size, ratio, () => house.colors, house.paused, () => {
        this.end();
        setTimeout(() => this.closed || this.begin(), 500); // the browser gives another one, or says why not
      });
      this.places.forEach((one) => this.watcher.observe(one));
    } catch (error) {
      for (const canvas of this.canvases) this.say(canvas, error instanceof Error ? error.message : String(error));
      house.picture();
    }
  }

  // A scene starts when its card first comes into view, and is drawn while it is there.
  private see(i: number, seen: boolean): void {
    const { booths, wanted } = this;
    const scene = this.scenes[i]!;
    booths?.see(scene, seen);
    if (!booths || !seen || booths.has(scene) || wanted.includes(i)) return;
    wanted.push(i);
    if (wanted.length === 1) void this.start(booths);
  }

  // Those whose shaders drivers compile soonest begin, so that the first picture is there soon.
  private async start(booths: Booths): Promise<void> {
    await Promise.resolve(); // all that are in view are wanted then
    const { wanted } = this;
    while (wanted.length && booths === this.booths) {
      const next = wanted.reduce((best, i) => (this.turn(i) < this.turn(best) ? i : best));
      // The next one's shaders are compiled when this one's picture is there.
      await new Promise<void>((resolve) => {
        setTimeout(resolve, LATEST);
        void booths.play([this.act(this.scenes[next]!, next, resolve)]);
      });
      wanted.splice(wanted.indexOf(next), 1);
    }
  }

  private turn(i: number): number {
    return QUICKEST.indexOf(this.scenes[i]!.name);
  }

  private end(): void {
    this.watcher.disconnect();
    this.booths?.close();
    this.booths = undefined;
  }

  // ---- This GPU

  private async measure(): Promise<void> {
    if (this.measuring) return;
    const told = element('p', { role: 'status' }, 'Measuring …');
    this.gpu.replaceChildren(told);
    this.end(); // alone, it is measured as it is
    try {
      const { house, scenes } = this;
      const voronoi = house.makers[scenes.findIndex((scene) => scene.name === 'voronoi')]!();
      this.measuring = new Measurement(house.module, house.jobs(), voronoi, () => house.colors);
      const { frames, renderer } = await this.measuring.run();
      if (this.closed) return;
      const number = frames >= 10 ? count(frames) : String(Number(frames.toPrecision(2)));
      this.gpu.replaceChildren(
        element('table', {}, element('caption', {}, 'Frames a second'),
          element('tbody', {},
            element('tr', {}, element('th', { scope: 'row' }, renderer), element('td', { 'data-testid': 'frames' }, number)),
            element('tr', {}, element('th', { scope: 'row' }, 'A demo of 2013, GTX 550 Ti'), element('td', {}, PUBLISHED)))),
        element('p', { role: 'status' }, `${number} frames a second here: ${count(SITES)} points, ${SIZE.join(' × ')} pixels. What was published names neither its picture nor its number of points.`));
    } catch (error) {
      told.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this.measuring = undefined;
      if (!this.closed) this.begin();
    }
  }

  // ---- What the house tells

  showPaused(): void {
    this.play.textContent = this.house.paused ? 'Play' : 'Pause';
    this.booths?.pause(this.house.paused);
  }

  themeChanged(): void {
    this.booths?.redraw();
  }

  tellOffline(): void {
    this.offline.textContent = this.house.news();
  }

  close(): void {
    this.closed = true;
    this.measuring?.stop();
    this.end();
    this.place.replaceChildren();
  }
}
