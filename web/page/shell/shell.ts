// The shell: one scene at a time, on a canvas and in a context of its own, and everything around it.
import { pageColor } from '../fields.js';
import { initialValues, LACKS, readAddress, SAMPLE, valueOf, writeAddress } from './address.js';
import { Controls } from './controls.js';
import { element } from './element.js';
import { isOneOf, read } from './files.js';
import { makeSurface } from './canvas.js';
import { Display } from './display.js';
import { Door } from './door.js';
import { Jobs, Superseded } from './jobs.js';
import type { Beside } from './beside.js';
import type { Guide } from './guide.js';
import { runJob, sentence, type Answer, type JobOptions, type PageModule } from './module.js';
import { placed } from './named.js';
import { Pace } from './pace.js';
import { listen as listenToPointers } from './pointers.js';
import { embedded } from './query.js';
import { makeSample, openGallery, readers, sampleOf, saveFiles, type Sample } from './samples.js';
import { SceneError, type Colors, type Host, type Scene, type Value, type Values } from './scene.js';
import { copy, frameCode } from './share.js';
import type { Stage } from './story.js';
import { Theme } from './theme.js';

const $ = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const MOST_SIDE = 4096; // pixels of a drawing buffer
const STORY = 'explain'; // the step of a scene's story, in the address

// The bundle of the stories and its styles, fetched when first asked for.
let guide: Promise<typeof import('./guide.js')> | undefined;
function loadGuide(): Promise<typeof import('./guide.js')> {
  guide ??= fetchGuide();
  guide.catch(() => (guide = undefined)); // another time it may work
  return guide;
}
async function fetchGuide(): Promise<typeof import('./guide.js')> {
  const at = (name: string): string => new URL(name, import.meta.url).href;
  const styles = element('link', { rel: 'stylesheet', href: at('guide.css') });
  const [bundle] = await Promise.all([
    import(at('guide.js')) as Promise<typeof import('./guide.js')>,
    new Promise((resolve, reject) => {
      styles.onload = resolve;
      styles.onerror = reject;
      document.head.append(styles);
    }),
  ]);
  return bundle;
}

export class Shell implements Host, Stage {
  scene!: Scene;
  values: Values = {};
  canvas!: HTMLCanvasElement;
  gl!: WebGL2RenderingContext | WebGLRenderingContext;
  version: 1 | 2 = 2;
  colors!: Colors;
  paused = matchMedia('(prefers-reduced-motion: reduce)').matches;
  seconds = 0;
  readonly details = $('details');
  readonly overlay = $('overlay');

  private controls!: Controls;
  private pace!: Pace;
  private context = 0; // Emscripten's handle
  private running = false; // a scene has started and its context is there
  private dirty = false;
  private more = false;
  private frameAsked = false;
  private lastTick = 0;
  private uploads: { fence: WebGLSync | null; begun: number }[] = [];
  private empty = false; // there is a sentence instead of a picture
  private fresh = false; // a new picture begins with the next frame
  private timing = false; // the picture's frames are timed
  private measured = true; // the search's time is on show
  private readonly left = new Map<Scene, Values>(); // of scenes that were shown: their values
  private lost = false; // the context
  private starting = false;
  private started = false; // the scene's start() was called, and its stop() was not
  private generation = 0; // of starts: what an older one does late is not wanted
  private addressTimer = 0;
  private note = ''; // goes ahead of what scenes say until the reader does something
  private handed: File[] = []; // to the next scene
  private door: Door | undefined; // while it is shown
  private sampled: { sample: Sample; scene: Scene } | undefined; // which sample that scene was given
  private news = ''; // about the network
  private idlers: (() => void)[] = [];
  private guide: Guide | undefined; // that tells the scene's story
  private beside: Beside | undefined; // that tells of a place of the free picture
  private asked = 0; // the start at which it was asked for
  private turns = 0; // of go()
  private free = ''; // the address of the picture from which the story was opened
  private unseen = false; // a story's panel is not yet on the screen, and a picture may hold the browser up for long
  private readonly place = $('canvas-place');
  private readonly display = new Display();

  constructor(
    readonly module: PageModule,
    private readonly jobs: Jobs,
    readonly scenes: readonly Scene[],
    private readonly theme: Theme,
    private readonly doorway: { makers: readonly (() => Scene)[]; jobs(): Jobs },
  ) {
    theme.changed = () => this.themeChanged();
    this.themeChanged();
    new ResizeObserver(() => this.measure()).observe(this.place);
    addEventListener('hashchange', () => void this.go());
    document.addEventListener('visibilitychange', () => this.ask());
  }

  // ---- Scenes

  // Goes where the address says.
  async go(): Promise<void> {
    const { scene: name, values } = readAddress(location.hash);
    const { free } = this;
    this.free = '';
    if (free && location.hash === free) return this.closeGuide(true);
    const named = this.scenes.find((s) => s.name === name);
    if (!named && name && (this.scene || this.door)) return; // an anchor of the page
    if (!named && !embedded) {
      this.enterDoor(name);
      return;
    }
    const next = named ?? this.scenes[0]!;
    const sample = this.sampleFor(next, values[SAMPLE]);
    this.leaveDoor();
    const step = embedded ? undefined : values[STORY]; // a frame has no room for a story
    if (next === this.scene && this.running) {
      if (step) return this.explain(Number(step) - 1);
      this.closeGuide(true);
      for (const control of next.controls) {
        if (control.kind === 'button') continue;
        const value = valueOf(control, values[control.id]);
        if (this.values[control.id] === value) continue;
        this.values[control.id] = value;
        this.controls.put(control.id, value);
        next.change(control.id, value);
      }
      if (sample && sample !== this.given(next)) await this.give(sample, values);
      return;
    }
    // A link without values leads back to how the scene was left.
    const left = Object.keys(values).length ? undefined : this.left.get(next);
    const files = this.handed.splice(0);
    const plain = left ?? initialValues(next.controls, values);
    const turn = ++this.turns;
    const story = step ? await loadGuide().catch(() => undefined) : undefined;
    if (turn !== this.turns) return;
    await this.start(next, story ? { ...plain, ...story.Guide.settings(this, next.name) } : plain, values[LACKS]);
    if (step && this.scene === next && this.running) await this.explain(Number(step) - 1, plain);
    if (left || values[LACKS]) this.remember();
    if (sample && this.scene === next) await this.give(sample, values);
    if (files.length && this.scene === next) await this.take(files);
  }

  // ---- The front door

  private enterDoor(name: string): void {
    if (this.door) return;
    this.turns++;
    this.generation++;
    this.closeGuide(false);
    this.stop();
    clearTimeout(this.addressTimer);
    this.addressTimer = 0;
    document.title = 'Sapwood: k‑d trees in the browser';
    document.body.classList.add('door');
    for (const link of document.querySelectorAll('nav a')) link.removeAttribute('aria-current');
    const shell = this;
    this.door = new Door($('door'), {
      module: this.module,
      ...this.doorway,
      get paused() { return shell.paused; },
      get colors() { return shell.colors; },
      pause: () => this.pause(),
      openFile: () => this.openFile(),
      openSamples: () => this.openSamples(),
      news: () => this.news,
      picture: () => this.display.uncover(),
    });
    $('door').append($('status'));
    this.display.speak(name ? `There is no scene “${name.slice(0, 40)}” here.` : '');
  }

  private leaveDoor(): void {
    if (!this.door) return;
    document.querySelector('.stage')!.append($('status'));
    this.door.close();
    this.door = undefined;
    document.body.classList.remove('door');
  }

  openFile(): void {
    const file = $<HTMLInputElement>('file');
    const scenes = this.door ? this.scenes : [this.scene];
    file.accept = `${scenes.map((scene) => scene.suffixes).join(',')},.gz`;
    file.multiple = scenes.some((scene) => (scene.files ?? 1) > 1);
    file.click();
  }

  // ---- Samples

  // The sample that an address names, if the scene reads such files.
  private sampleFor(scene: Scene, kind: string | undefined): Sample | undefined {
    const sample = sampleOf(kind ?? '');
    return sample && readers([scene], sample.names).length ? sample : undefined;
  }

  // The sample that a scene shows as it was given.
  private given(scene: Scene): Sample | undefined {
    const { sampled } = this;
    return sampled?.scene === scene && sampled.sample.names.join(' and ') === scene.beyond() ? sampled.sample : undefined;
  }

  // What the address says besides the sample is set again, since a scene shows a new file in its own way.
  private async give(sample: Sample, texts: Record<string, string>): Promise<void> {
    const { scene, generation } = this;
    try {
      const files = await makeSample(sample, this.jobs);
      if (generation !== this.generation) return;
      await this.take(files);
    } catch (error) {
      if (generation === this.generation) this.fail(error);
      return;
    }
    if (generation !== this.generation || !this.running) return;
    this.sampled = { sample, scene };
    for (const control of scene.controls) {
      if (control.kind === 'button' || texts[control.id] === undefined) continue;
      const value = valueOf(control, texts[control.id]);
      if (this.values[control.id] === value) continue;
      this.set(control.id, value);
      this.attempt(() => scene.change(control.id, value));
    }
    this.remember();
  }

  openSamples(): void {
    openGallery(this.scenes, this.door ? undefined : this.scene, async (sample) => saveFiles(await makeSample(sample, this.jobs)));
  }

  restart(): void {
    void this.start(this.scene, this.values);
  }

  private async start(scene: Scene, values: Values, lacks = ''): Promise<void> {
    const generation = ++this.generation;
    this.starting = true;
    if (scene !== this.scene) this.closeGuide(false);
    this.stop();
    this.scene = scene;
    this.values = values;
    this.left.set(scene, values);
    this.note = lacks && lacks !== scene.beyond() ? `A link holds settings only; what it was made with is not in it: ${lacks}. ` : '';
    this.present();
    this.display.cover('Loading …');
    try {
      this.makeContext(scene.version?.(values) ?? 2);
      this.started = true;
      await scene.start(this);
      if (generation === this.generation) this.enter();
    } catch (error) {
      if (generation === this.generation) this.fail(error, true);
    } finally {
      if (generation === this.generation) this.starting = false;
    }
  }

  private stop(): void {
    this.jobs.clear();
    this.closeBeside();
    if (this.context) {
      try {
        if (this.started) this.scene.stop();
      } finally {
        this.started = this.lost = false;
        this.module._page_context_close!();
        this.module.GL.deleteContext(this.context);
        this.context = 0;
        this.gl.getExtension('WEBGL_lose_context')?.loseContext(); // frees its memory now, not some day
      }
    }
    this.running = this.dirty = this.more = this.fresh = this.timing = this.empty = false;
    this.uploads = [];
    this.canvas?.remove();
    this.details.replaceChildren();
    this.overlay.replaceChildren();
    for (const what of ['build', 'upload', 'search'] as const) this.display.time(what, undefined);
  }

  // Texts and controls of the scene.
  private present(): void {
    const { scene } = this;
    document.title = `${scene.title} · Sapwood`;
    document.querySelector('h1')!.textContent = scene.title;
    $('about').textContent = scene.about;
    for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a')) {
      const here = link.hash === `#${scene.name}`;
      if (here) link.setAttribute('aria-current', 'page'); // which makes it wider
      else link.removeAttribute('aria-current');
      if (here) link.parentElement!.scrollLeft = link.offsetLeft - link.parentElement!.offsetLeft - 40; // tabs may be wider than a phone
    }
    $('searching').textContent = scene.search ?? 'search';
    $('pause').hidden = !scene.animated;
    $('open').hidden = !scene.accepts;
    $('explain').hidden = embedded;
    $('open').title = scene.accepts && `Reads ${scene.accepts}; files can be dropped as well`;
    this.place.dataset['accepts'] = scene.accepts;
    $<HTMLAnchorElement>('whole').href = `./#${scene.name}`;
    $<HTMLAnchorElement>('source').href = `source.html#${scene.name}`;
    this.showPaused();
    this.controls = new Controls($('controls'), scene.controls, this.values, (id, value) => this.change(id, value));
    $('controls').firstElementChild!.after(this.details); // below the first controls, where it is seen
  }

  private makeContext(wanted: 1 | 2): void {
    const { scene } = this;
    const { canvas, gl, version } = makeSurface(scene, wanted);
    this.canvas = canvas;
    this.gl = gl;
    this.version = version;
    this.place.prepend(canvas);
    this.register();
    // In a frame the wheel is the page's around it, until the reader has chosen the picture.
    const foreign = (type: string): boolean => embedded && type === 'wheel' && document.activeElement !== canvas;
    listenToPointers(canvas, (event) => {
      const used = this.running && !foreign(event.type) && (this.guide ?? scene).pointer(event);
      if (this.running && !this.dirty && !this.more) this.attempt(() => this.tellBeside()); // else the picture does
      return used;
    });
    canvas.addEventListener('keydown', (event) => {
      if (this.running && (this.guide ? this.guide.key(event, true) : scene.key(event))) event.preventDefault();
    });
    canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      if (canvas !== this.canvas || !this.context) return;
      this.running = false;
      this.uploads = [];
      this.lost = true;
      if (this.started) scene.contextLost();
      this.module._page_context_close!();
      const text = 'The graphics context was lost. The picture comes back as soon as the browser gives a new one.';
      this.display.cover(text);
      this.display.speak(text, true);
    });
    canvas.addEventListener('webglcontextrestored', () => {
      if (canvas === this.canvas && this.context) void this.restore();
    });
  }

  private register(): void {
    const { GL } = this.module;
    GL.stringCache = {}; // Emscripten keeps what the first context said
    GL.stringiCache = {};
    this.context = GL.registerContext(this.gl, { majorVersion: this.version });
    GL.makeContextCurrent(this.context);
    this.check(this.module._page_context_open!(this.version));
    this.pace = new Pace(this.gl, this.scene.share);
    this.measured = true;
  }

  // The scene has what it needs. Where the context was lost meanwhile, restore() comes here.
  private enter(): void {
    if (this.gl.isContextLost()) return;
    this.running = true;
    this.measure(true);
    if (!this.empty) this.begin();
  }

  private async restore(): Promise<void> {
    const generation = this.generation;
    try {
      this.module.GL.deleteContext(this.context);
      this.register();
      this.lost = false;
      await this.scene.contextRestored();
      if (generation !== this.generation) return;
      if (!this.empty) this.say('The graphics context is back.');
      this.enter();
    } catch (error) {
      this.fail(error, true);
    }
  }

  // ---- What scenes ask for

  set(id: string, value: Value): void {
    this.values[id] = value;
    this.controls.put(id, value);
    this.remember();
  }
  range(id: string, least: number, most: number): void {
    this.controls.range(id, least, most);
  }
  redraw(): void {
    this.dirty = true;
    this.ask();
  }
  did(part: number): void {
    this.pace.did(part);
  }
  begin(): void {
    this.empty = false;
    this.fresh = true;
    this.redraw();
  }
  say(text: string): void {
    this.empty = false;
    if (!this.lost && !this.starting) this.display.uncover(); // the first picture uncovers itself
    this.display.speak(this.note + text);
  }
  nothing(text: string): void {
    this.empty = true;
    this.beside?.tell(null);
    this.display.cover(text);
    this.display.speak(text);
  }
  time(what: 'build' | 'upload', time: number | null): void {
    this.display.time(what, time);
  }
  upload<T>(work: () => T): T {
    const begun = performance.now();
    const result = work();
    this.guide?.arrived();
    if ('fenceSync' in this.gl) {
      this.uploads.push({ fence: this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0), begun });
      this.gl.flush();
      this.ask();
    } else {
      this.time('upload', null);
    }
    return result;
  }
  job(name: string, numbers: readonly number[], options?: JobOptions): Promise<Answer> {
    const generation = this.generation;
    return this.jobs.run(name, numbers, options).then((answer) => {
      if (generation !== this.generation) throw new Superseded('Another scene was chosen.');
      return answer;
    }).finally(() => void setTimeout(() => this.rest())); // a scene may ask for the next one first
  }

  // ---- Stories (guide.ts)

  // Tells the scene's story from a step on; its code is loaded when it is first asked for.
  async explain(step = 0, before = this.values): Promise<void> {
    const { generation } = this;
    if (!this.running) return;
    const from = Number.isFinite(step) ? step : 0;
    if (this.guide) return this.guide.go(from);
    try {
      const guide = await loadGuide();
      if (generation !== this.generation || !this.running || this.guide) return;
      this.closeBeside();
      this.free = this.address();
      const opened = !readAddress(location.hash).values[STORY];
      if (opened) history.replaceState(history.state, '', this.free);
      this.guide = new guide.Guide(this, from, before);
      this.unseen = true;
      if (opened) history.pushState(STORY, '', this.address()); // the browser's Back leaves it
    } catch {
      this.fail(new SceneError('The explanation could not be loaded.'));
    }
  }
  leave(): void {
    if (!this.guide) return;
    this.closeGuide(true);
    if (history.state === STORY) history.back();
  }
  private closeGuide(whole: boolean): void {
    const { guide } = this;
    if (!guide) return;
    this.guide = undefined;
    guide.close(whole);
    this.showPaused();
    if (!whole) return;
    this.remember();
    this.redraw();
    $('explain').focus({ preventScroll: true });
  }
  seen(): void {
    this.remember();
  }
  private tellBeside(): void {
    const at = this.guide || embedded ? undefined : this.scene.told?.();
    if (at === undefined) this.closeBeside();
    else if (this.beside) this.beside.tell(at);
    else if (at && this.asked !== this.generation) void this.openBeside();
  }
  private async openBeside(): Promise<void> {
    const generation = (this.asked = this.generation);
    const bundle = await loadGuide().catch(() => undefined); // the picture does without
    if (!bundle || generation !== this.generation) return;
    this.asked = 0;
    if (!this.running || this.guide || this.beside) return;
    this.beside = bundle.besides(this);
    this.redraw();
  }
  private closeBeside(): void {
    this.beside?.close();
    this.beside = undefined;
  }
  put(id: string, value: Value): void {
    this.values[id] = value;
    this.controls.put(id, value);
    this.attempt(() => this.scene.change(id, value));
  }
  call(name: string, numbers: readonly number[]): Answer {
    return runJob(this.module, name, numbers);
  }

  // ---- What the reader does

  private change(id: string, value: Value): void {
    this.note = '';
    if (value !== true || id in this.values) this.values[id] = value;
    this.remember();
    if (this.running) this.attempt(() => this.scene.change(id, value));
    else if (!this.lost && !this.starting) this.restart(); // what could not start may do so now
  }

  key(event: KeyboardEvent): boolean {
    const { key } = event;
    if (this.guide ? this.guide.key(event, false) : this.running && this.scene.keyAnywhere?.(event)) return true;
    if (/^[1-9]$/.test(key) && this.scenes[Number(key) - 1]) {
      this.flush();
      location.hash = this.scenes[Number(key) - 1]!.name;
      return true;
    }
    const button = { p: 'pause', v: 'verify', s: 'save', u: 'copy', e: 'explain', '?': 'help' }[key];
    if (button && !$(button).hidden && (this.door ? key === 'p' || key === '?' : !this.guide || key === '?')) {
      $(button).click();
      return true;
    }
    return !this.door && !this.guide && this.controls.key(key);
  }

  // Keys that do something now, and what.
  keys(): (readonly [string, string])[] {
    const scenes = [`1 … ${this.scenes.length}`, 'choose a scene'] as const;
    const pause = ['p', 'pause, go on'] as const;
    if (this.guide) return [...this.guide.keys];
    if (this.door || !this.scene) return [scenes, pause];
    const { keys, controls, taken } = this.scene;
    const own = [scenes, pause, ['v', 'verify'], ['s', 'save the picture'], ['u', 'copy the link'], ['e', 'explain it, step by step']] as const;
    return [...keys, ...own.filter(([key]) => key !== taken),
      ...controls.flatMap((control) => (control.kind !== 'hidden' && control.key && (control.shown?.(this.values) ?? true) ? [[control.key, control.label.toLowerCase()] as const] : []))];
  }

  pause(): void {
    this.paused = !this.paused;
    this.showPaused();
    if (this.running) this.remember(); // what moved by itself
    this.redraw(); // at rest a scene may have more to show
  }

  // Copies the address of what is shown; says what it cannot hold.
  async copyLink(): Promise<void> {
    if (!this.running) return;
    const { scene } = this;
    scene.pin?.();
    this.flush();
    const link = location.href;
    const lacks = this.given(scene) ? '' : scene.beyond();
    if (!(await copy(link))) {
      this.display.speak('This browser does not let the page copy. The link is in the address bar.', true);
      return;
    }
    this.display.speak(`The link is copied.${lacks ? ` It holds the settings, but not what they are of: ${lacks}.` : ''} `);
    const button = element('button', { type: 'button' }, 'Copy the code for a frame');
    button.addEventListener('click', () => void copy(frameCode(scene.title, location.hash)).then((done) =>
      this.display.speak(done ? 'The code is copied: in another page it shows this scene in a frame.' : 'This browser does not let the page copy.', !done)));
    $('status').append(button);
  }

  tellOffline(news: string): void {
    this.news = news;
    this.door?.tellOffline();
  }

  toggleTheme(): void {
    this.theme.toggle();
  }

  async verify(): Promise<void> {
    if (!this.running) return;
    const button = $<HTMLButtonElement>('verify');
    button.disabled = true;
    this.display.speak('Comparing with brute force …');
    try {
      this.display.speak(await this.scene.verify());
    } catch (error) {
      this.fail(error);
    } finally {
      button.disabled = false;
    }
  }

  async take(files: readonly File[]): Promise<void> {
    if (this.door) {
      this.takeAtDoor(files);
      return;
    }
    const { scene, generation } = this;
    this.note = '';
    this.sampled = undefined;
    try {
      if (!this.running) throw new SceneError('A file can be read as soon as there is a picture.');
      if (!scene.accepts) throw new SceneError('This scene reads no files.');
      const [file, second] = await read(files, scene.files ?? 1, scene.suffixes, scene.accepts);
      if (generation !== this.generation || !this.running) return; // another scene was chosen meanwhile
      this.display.speak(`Reading ${file.name}${second ? ` and ${second.name}` : ''} …`);
      await scene.drop(file.name, file.bytes, second);
      this.remember();
    } catch (error) {
      this.fail(error);
      if (generation === this.generation) this.offer(files);
    }
  }

  // The first scene that reads them opens.
  private takeAtDoor(files: readonly File[]): void {
    const [scene] = readers(this.scenes, files.map((file) => file.name));
    if (!scene || !files.length) {
      this.display.speak(`No scene reads ${files.length ? files.map((file) => file.name).join(' with ') : 'what was dropped: it is not a file'}.`, true);
      return;
    }
    this.handed = [...files];
    location.hash = scene.name;
  }

  // Buttons behind the sentence that refused a file: the scenes that read such files.
  private offer(files: readonly File[]): void {
    if (files.length !== 1 || isOneOf(files[0]!.name, this.scene.suffixes)) return;
    for (const scene of this.scenes.filter((other) => isOneOf(files[0]!.name, other.suffixes))) {
      const button = element('button', { type: 'button' }, `Open in ${scene.title}`);
      button.addEventListener('click', () => {
        this.handed = [...files];
        this.flush();
        location.hash = scene.name;
      });
      $('status').append(button);
    }
  }

  save(): void {
    if (!this.running) return;
    this.canvas.toBlob((blob) => {
      if (!blob) {
        this.display.speak('The browser could not make a picture of the canvas.', true);
        return;
      }
      const link = element('a', { href: URL.createObjectURL(blob), download: `sapwood-${this.scene.name}.png` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      this.display.speak(`Saved as ${link.download}, ${this.canvas.width} × ${this.canvas.height} pixels.`);
    });
  }

  // ---- The loop

  // Resolves when there is nothing left to do: for tests and for the impatient.
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idlers.push(resolve);
      this.rest();
    });
  }

  private rest(): void {
    if (this.jobs.busy || this.dirty || this.more || this.uploads.length || !this.measured || (this.running && !this.pace.ready())) return;
    this.idlers.splice(0).forEach((resolve) => resolve());
  }

  // The next turn: with the next frame, or sooner where a picture is not yet finished.
  private ask(): void {
    if (this.frameAsked || document.hidden) return;
    this.frameAsked = true;
    const turn = (now: number): void => {
      this.frameAsked = false;
      this.tick(now);
    };
    if (this.more) setTimeout(() => turn(performance.now()), 3);
    else requestAnimationFrame(turn);
  }

  private tick(now: number): void {
    if (this.unseen) {
      this.unseen = false;
      requestAnimationFrame(() => this.ask());
      return;
    }
    const moving = this.running && this.scene.animated && !this.paused && this.scene.animate !== undefined;
    if (moving) this.seconds += Math.min(0.1, Math.max(0, (now - this.lastTick) / 1000));
    this.lastTick = now;
    if (!this.running) return;
    this.checkUploads();
    if (this.pace.ready()) {
      this.attempt(() => {
        if (moving && this.scene.animate!()) this.dirty = true;
        if (this.dirty || this.more) {
          if (this.fresh) this.pace.restart();
          if (this.fresh) this.timing = true;
          this.dirty = this.fresh = false;
          this.more = this.pace.slice(this.timing, (share) => this.scene.frame(share));
          if (this.timing) this.measured = false;
          this.timing &&= this.more;
          if (!this.empty) this.display.uncover();
          if (!this.more && !this.dirty) this.guide?.drawn();
          if (!this.more) this.tellBeside();
        }
      });
    }
    if (!this.more && !this.measured) this.showSearch();
    if (moving || this.dirty || this.more || this.uploads.length || !this.measured || !this.pace.ready()) this.ask();
    else this.rest();
  }

  private showSearch(): void {
    if (!this.pace.ready()) return;
    this.display.time('search', this.pace.elapsed);
    this.measured = true;
  }

  private checkUploads(): void {
    const gl = this.gl as WebGL2RenderingContext;
    while (this.uploads.length) {
      const { fence, begun } = this.uploads[0]!;
      if (fence && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) break;
      gl.deleteSync(fence);
      this.uploads.shift();
      this.time('upload', performance.now() - begun);
    }
  }

  // Runs a scene's code; what goes wrong in it is told.
  private attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.more = false;
      if (!this.gl.isContextLost()) this.fail(error);
    }
  }

  // ---- What is shown

  fail(error: unknown, cover = false): void {
    this.display.fail(error, cover);
  }

  // Throws the sentence of the call of C that returned this status.
  check(status: number): void {
    if (status !== 0) throw new SceneError(sentence(this.module));
  }

  private showPaused(): void {
    $('pause').textContent = this.paused ? 'Play' : 'Pause';
    this.door?.showPaused();
  }

  private measure(always = false): void {
    if (!this.running) return;
    const box = this.place.getBoundingClientRect();
    const ratio = Math.min(devicePixelRatio || 1, MOST_SIDE / Math.max(1, box.width, box.height));
    const width = Math.max(1, Math.round(box.width * ratio));
    const height = Math.max(1, Math.round(box.height * ratio));
    if (!always && width === this.canvas.width && height === this.canvas.height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.attempt(() => this.scene.resize(width, height, ratio));
    this.redraw();
  }

  private themeChanged(): void {
    this.colors = this.theme.colors();
    const { paper, ink, muted, accent } = this.colors;
    placed(pageColor, { paper, ink, muted, accent }).forEach((color, i) => this.module._page_color!(i, ...color));
    this.door?.themeChanged();
    if (this.running) {
      this.scene.themeChanged?.();
      this.redraw();
    }
  }

  remember(): void {
    // Some values change with every frame, and browsers refuse addresses that change too often.
    if (this.addressTimer) return;
    this.addressTimer = window.setTimeout(() => this.flush(), 500);
  }
  // Writes the address now, if there is something new to it.
  flush(): void {
    if (!this.addressTimer) return;
    clearTimeout(this.addressTimer);
    this.addressTimer = 0;
    history.replaceState(history.state, '', this.address());
  }
  // Of what is shown. What moves by itself is none of it.
  private address(): string {
    const { scene, guide } = this;
    if (guide) return `#${scene.name}?${STORY}=${guide.now + 1}`;
    const played = this.paused ? undefined : scene.played?.();
    return writeAddress(scene.name, scene.controls.filter(({ id }) => id !== played), this.values, scene.beyond(), this.given(scene)?.kind);
  }
}
