// Scenes without the shell: several in one context and with one worker of their own, each drawn in turn, small and without controls.
import { element } from './element.js';
import { contextOf, type Surface } from './canvas.js';
import { Superseded, type Jobs } from './jobs.js';
import { Pace } from './pace.js';
import { initialValues } from './address.js';
import { SceneError, type Colors, type Host, type Scene, type Value, type Values } from './scene.js';
import { sentence, type Answer, type JobOptions, type PageModule } from './module.js';

export interface Act {
  readonly scene: Scene;
  readonly values: Values; // where they are others than the scene's own
  drawn(canvas: HTMLCanvasElement): void; // a picture is done
  failed(sentence: string): void;
}

const REST = 2; // times as long as a picture took
const TURN = 10; // ms of drawing ahead of each frame of the browser

class Booth implements Host {
  readonly details = element('div'); // nobody sees these two
  readonly overlay = element('div');
  readonly values: Values;
  seen = true; // else it need not be drawn
  begun = false; // start() was called
  started = false; // and is done
  more = false; // the picture is not done yet
  private dirty = false;
  private drawing = false; // it has been begun, and is not known to be done
  private since = 0; // when it was begun
  private rests = 0; // until then other scenes draw
  private readonly pace: Pace;

  constructor(private readonly booths: Booths, readonly act: Act) {
    this.values = { ...initialValues(act.scene.controls, {}), ...act.values };
    this.pace = new Pace(booths.gl, act.scene.share);
  }

  get module(): PageModule { return this.booths.module; }
  get canvas(): HTMLCanvasElement { return this.booths.canvas; }
  get gl(): Surface['gl'] { return this.booths.gl; }
  get version(): 1 | 2 { return this.booths.version; }
  get colors(): Colors { return this.booths.colors(); }
  get seconds(): number { return this.booths.seconds; }
  get paused(): boolean { return this.booths.paused; }

  async start(): Promise<void> {
    const { act, canvas } = this;
    if (this.version === 1 && !act.scene.webgl1) throw new SceneError(`${act.scene.title} draws with WebGL 2, which this browser does not offer here.`);
    this.begun = true;
    await act.scene.start(this);
    this.started = true;
    act.scene.resize(canvas.width, canvas.height, this.booths.ratio);
    this.redraw();
  }

  // Draws a slice of a picture, if there is one to draw and the GPU is free. Whether there was.
  turn(): boolean {
    const { scene } = this.act;
    if (!this.started || !this.seen || !this.pace.ready()) return false;
    const now = performance.now();
    if (this.drawing && !this.more) {
      this.drawing = false;
      this.rests = now + REST * (now - this.since); // one that takes long must not hold up all others
    }
    if (now < this.rests) return false;
    if (!this.more && !this.paused && scene.animated && scene.animate?.()) this.dirty = true;
    if (!this.dirty && !this.more) return false;
    this.dirty = false;
    if (!this.more) this.since = now;
    this.drawing = true;
    this.more = this.pace.slice(false, (share) => scene.frame(share));
    if (!this.more) this.act.drawn(this.canvas);
    return true;
  }

  get busy(): boolean {
    return this.started && this.seen && (this.dirty || this.more || !this.pace.ready());
  }

  set(id: string, value: Value): void { this.values[id] = value; }
  range(): void { /* there is no slider */ }
  remember(): void { /* nor an address */ }
  redraw(): void {
    this.dirty = true;
    this.booths.ask();
  }
  did(part: number): void { this.pace.did(part); }
  begin(): void { this.redraw(); }
  say(): void { /* the picture says it */ }
  nothing(text: string): void { this.act.failed(text); }
  time(): void { /* not shown */ }
  upload<T>(work: () => T): T { return work(); }
  job(name: string, numbers: readonly number[], options?: JobOptions): Promise<Answer> {
    return this.booths.job(name, numbers, options).finally(() => this.booths.ask());
  }
  restart(): void { /* the version stays */ }
}

export class Booths {
  readonly canvas: HTMLCanvasElement;
  readonly version: 1 | 2 = 2;
  readonly gl: Surface['gl'];
  seconds = 0;
  private booths: Booth[] = [];
  private next = 0;
  private last = 0;
  private asked = false;
  private closed = false;
  private context = 0; // Emscripten's handle

  // A context of so many pixels; throws a sentence if there is none. `lost` is called when it goes away: close it then.
  constructor(
    readonly module: PageModule,
    private readonly jobs: Jobs,
    width: number, height: number,
    readonly ratio: number,
    readonly colors: () => Colors,
    public paused: boolean,
    lost: () => void,
  ) {
    this.canvas = element('canvas', { width, height, class: 'behind', 'aria-hidden': 'true' });
    this.canvas.style.width = `${width / ratio}px`;
    this.canvas.style.height = `${height / ratio}px`;
    const newer = contextOf(this.canvas, 2);
    const gl = newer ?? contextOf(this.canvas, 1);
    if (!gl) throw new SceneError('These pictures are drawn with WebGL, which this browser does not offer here. Perhaps it is switched off, or the graphics driver is blocked.');
    this.gl = gl;
    this.version = newer ? 2 : 1;
    document.body.append(this.canvas); // scenes ask how it is shaped
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      if (!this.closed) lost();
    });
    const { GL } = module;
    GL.stringCache = {}; // Emscripten keeps what another context said
    GL.stringiCache = {};
    this.context = GL.registerContext(gl, { majorVersion: this.version });
    GL.makeContextCurrent(this.context);
    if (module._page_context_open!(this.version) !== 0) throw new SceneError(sentence(module));
  }

  get isClosed(): boolean { return this.closed; }

  // One after the other, so that the first is soon there.
  async play(acts: readonly Act[]): Promise<void> {
    for (const act of acts) {
      if (this.closed) return;
      const booth = new Booth(this, act);
      this.booths.push(booth);
      try {
        await booth.start();
      } catch (error) {
        this.tell(booth, error);
      }
    }
  }

  private tell(booth: Booth, error: unknown): void {
    if (this.closed || error instanceof Superseded || this.gl.isContextLost()) return;
    booth.started = booth.more = false;
    booth.act.failed(error instanceof Error ? error.message : String(error));
  }

  has(scene: Scene): boolean {
    return this.booths.some((booth) => booth.act.scene === scene);
  }

  see(scene: Scene, seen: boolean): void {
    for (const booth of this.booths) if (booth.act.scene === scene) booth.seen = seen;
    this.ask();
  }

  pause(paused: boolean): void {
    this.paused = paused;
    this.redraw(); // at rest there may be more to show
  }

  redraw(): void {
    for (const booth of this.booths) {
      if (booth.started) booth.act.scene.themeChanged?.();
      booth.redraw();
    }
  }

  job(name: string, numbers: readonly number[], options?: JobOptions): Promise<Answer> {
    if (this.closed) return Promise.reject(new Superseded('These scenes are over.'));
    return this.jobs.run(name, numbers, options);
  }

  ask(): void {
    if (this.asked || this.closed) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      this.tick(now);
    });
  }

  // One canvas for all: a picture is finished, and taken away, before another scene's begins.
  private tick(now: number): void {
    if (this.closed) return;
    if (!this.paused) this.seconds += Math.min(0.1, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    const { booths } = this;
    const begun = performance.now();
    for (let tries = 0; tries < booths.length && performance.now() - begun < TURN; tries++) {
      const booth = booths[this.next % booths.length]!;
      try {
        booth.turn();
      } catch (error) {
        this.tell(booth, error);
      }
      if (booth.more) break;
      this.next = (this.next + 1) % booths.length;
    }
    if (!this.paused || booths.some((booth) => booth.busy)) this.ask();
  }

  close(): void {
    if (this.closed) return;
    const lost = this.gl.isContextLost();
    this.closed = true;
    for (const { begun, act } of this.booths) {
      if (!begun) continue;
      if (lost) act.scene.contextLost();
      act.scene.stop();
    }
    this.jobs.close();
    this.module._page_context_close!();
    this.module.GL.deleteContext(this.context);
    this.gl.getExtension('WEBGL_lose_context')?.loseContext(); // frees its memory now, not some day
    this.canvas.remove();
  }
}
