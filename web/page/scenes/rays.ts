// Rays: a mesh traced through its tree in fragment shaders, with shadows, mirrors and glass.
import { pageFile, raysAsk, raysBuilt, raysChecked, raysMake, raysMove } from '../fields.js';
import { element } from '../shell/element.js';
import { runJob, sentence, type Answer } from '../shell/module.js';
import { SceneError, type Control, type Host, type Scene, type ScenePointer, type Value, type Values } from '../shell/scene.js';
import { Superseded } from '../shell/jobs.js';
import { named, placed } from '../shell/named.js';
import { count, milliseconds, orOff, plural } from '../shell/words.js';

const HOTTEST = 160; // nodes that are drawn brightest
const MOST_PITCH = 1.5; // radians: a little less than upright
const MOST_MOVING = 200000; // triangles of a mesh that moves
const REST = 140; // ms without a move after which a picture of all pixels begins
const hot = (values: Values): boolean => values['view'] === 'nodes';
const lit = (values: Values): boolean => !hot(values);
const degrees = (v: number): string => `${v}°`;
// Where keys fly to, by where they are on the keyboard: ahead, to the right, upwards.
const WAYS: Record<string, readonly [number, number, number]> = { KeyW: [1, 0, 0], KeyS: [-1, 0, 0], KeyD: [0, 1, 0], KeyA: [0, -1, 0], PageUp: [0, 0, 1], PageDown: [0, 0, -1] };
const SPEED = 0.4; // radii of the mesh a second

const controls: readonly Control[] = [
  { kind: 'choice', id: 'mesh', label: 'Mesh', initial: 'knot', group: 'Mesh', help: 'The built-in one, or the file that was opened last',
    options: [{ value: 'knot', label: 'Knot' }, { value: 'file', label: 'File' }] },
  { kind: 'slider', id: 'triangles', label: 'Triangles', least: 1000, most: 1000000, initial: 50000, logarithmic: true, group: 'Mesh',
    shown: (v) => v['mesh'] === 'knot', help: 'How many triangles the built-in mesh has, about' },
  { kind: 'choice', id: 'up', label: 'Upwards', initial: 'y', group: 'Mesh', shown: (v) => v['mesh'] === 'file', help: 'Which axis of the file points up',
    options: [{ value: 'y', label: 'y' }, { value: 'z', label: 'z' }] },
  { kind: 'choice', id: 'quality', label: 'Tree', initial: 'high', group: 'Mesh', key: 'q',
    help: 'How much work goes into the tree; the picture is the same',
    options: [{ value: 'high', label: 'Best' }, { value: 'fast', label: 'Quick' }] },
  { kind: 'slider', id: 'motion', label: 'Motion', least: 0, most: 2, step: 0.25, initial: 1, group: 'Mesh', text: orOff((v) => `${v} ×`),
    help: 'How fast the knot walks, or a file sways; the tree is built anew for every picture' },
  { kind: 'choice', id: 'view', label: 'Show', initial: 'picture', group: 'Picture', key: 'c',
    help: 'Nodes is how many nodes of the tree a pixel’s ray visits',
    options: [{ value: 'picture', label: 'Picture' }, { value: 'nodes', label: 'Nodes' }] },
  { kind: 'choice', id: 'light', label: 'Light', initial: 'sharp', group: 'Picture', key: 'l', shown: lit,
    help: 'A lamp of one point, or a wide one and the light of the whole sky, which takes many rays',
    options: [{ value: 'sharp', label: 'Sharp' }, { value: 'soft', label: 'Soft' }] },
  { kind: 'switch', id: 'shadows', label: 'Shadows', initial: true, group: 'Picture', key: 'h', shown: lit },
  { kind: 'switch', id: 'mirrors', label: 'Reflections', initial: true, group: 'Picture', key: 'r', shown: lit, help: 'Mirrors and glass' },
  { kind: 'slider', id: 'bounces', label: 'Bounces', least: 1, most: 8, initial: 4, group: 'Picture', shown: (v) => lit(v) && v['mirrors'] === true,
    help: 'How often light is reflected, refracted or scattered on its way' },
  { kind: 'switch', id: 'smooth', label: 'Smooth surfaces', initial: true, group: 'Picture', key: 'f', shown: lit },
  { kind: 'slider', id: 'samples', label: 'Rays a pixel', least: 1, most: 256, initial: 4, logarithmic: true, group: 'Picture',
    help: 'How many rays each pixel gets while nothing moves' },
  { kind: 'switch', id: 'sky', label: 'Sky', initial: true, group: 'Picture', key: 'k', shown: lit, help: 'A sky with a sun, or a plain background' },
  { kind: 'slider', id: 'sun', label: 'Sun turned', least: 0, most: 360, step: 5, initial: 315, group: 'Picture', text: degrees, shown: lit },
  { kind: 'slider', id: 'height', label: 'Sun’s height', least: 5, most: 90, step: 5, initial: 50, group: 'Picture', text: degrees, shown: lit },
  { kind: 'choice', id: 'move', label: 'Camera', initial: 'orbit', group: 'View', key: 'g', help: 'Around the mesh, or through it',
    options: [{ value: 'orbit', label: 'Orbit' }, { value: 'fly', label: 'Fly' }] },
  { kind: 'slider', id: 'clip', label: 'Cut open', least: 0, most: 100, initial: 0, group: 'View', text: orOff((v) => `${v} %`),
    help: 'Up to a plane across the view nothing is seen; it still casts shadows' },
  { kind: 'button', id: 'home', label: 'Whole view', key: '0', group: 'View' },
  { kind: 'hidden', id: 'yaw', initial: 0.5 },
  { kind: 'hidden', id: 'pitch', initial: 0.3 },
  { kind: 'hidden', id: 'zoom', initial: 1.35 },
  { kind: 'hidden', id: 'eye', initial: '' }, // of who flies
];

export class Rays implements Scene {
  readonly name = 'rays';
  readonly title = 'Rays';
  readonly about = 'Every pixel sends rays through a k‑d tree over the triangles of a mesh, in a fragment shader: to the surface that it shows, from there to the lamp, and on to what is reflected. The mesh moves, and for every picture the tree is built anew in the background.';
  readonly keys = [
    ['drag, arrows', 'turn around the mesh; flying: look around'], ['wheel, pinch, + −', 'zoom; flying: ahead and back'], ['W A S D', 'flying: ahead, left, back, right; with shift faster'],
    ['Page ↑ ↓', 'flying: up and down'], ['Home', 'the whole view'],
  ] as const;
  readonly accepts = 'PLY, OBJ or STL meshes';
  readonly suffixes = '.ply,.obj,.stl';
  readonly webgl1 = false;
  readonly search = 'trace';
  readonly animated = true;
  readonly controls = controls;
  readonly share = { first: 192, least: 96, most: 1024 }; // pixels on the side of a tile

  private host!: Host;
  private width = 1;
  private height = 1;
  triangles = 0; // of the mesh in the context
  private made = false; // the worker has a mesh
  private file = ''; // whose mesh it is; '': the built-in one
  private cut = 0; // triangles that were asked of that
  private coarse = 0; // of the picture that there is: every how manieth pixel is drawn; 0: none has begun
  private isQuick = false; // it was the first one after a change
  private drawing = false; // it is not done yet
  private probing = false; // a picture to be verified is drawn instead
  private fresh = true; // the picture that there is is another one's
  private clock = 0; // seconds that the mesh has moved
  private last = 0; // the host's seconds then
  private moving: Promise<void> | null = null; // the worker has another moment
  private asking = 0; // jobs for other meshes and trees
  private verifying = false;
  private waits = false; // the picture of all pixels, for a pause
  private shown: number[] = []; // when pictures of the last second were
  private facts!: HTMLElement;
  private rest = 0; // when what moves is taken to be at rest
  private legend!: HTMLElement;
  private readonly held = new Set<string>(); // keys that fly
  private flown = 0; // until when
  private listening!: AbortController; // for keys that are let go

  get taken(): string {
    return this.host?.values['move'] === 'fly' ? 's' : '';
  }

  beyond(): string {
    return this.host?.values['mesh'] === 'file' ? this.file : '';
  }

  async start(host: Host): Promise<void> {
    this.host = host;
    this.legend = element('p', { class: 'chip legend', hidden: true }, '0', element('span', { class: 'heat' }), `${HOTTEST} nodes`);
    host.overlay.append(this.legend);
    this.facts = element('dl', { class: 'surface-facts' });
    host.details.append(this.facts);
    this.last = host.seconds;
    this.tell();
    const { signal } = (this.listening = new AbortController());
    addEventListener('keyup', (event) => this.held.delete(event.code), { signal });
    addEventListener('blur', () => this.held.clear(), { signal });
    if (host.values['mesh'] === 'file' && !this.file) host.set('mesh', 'knot');
    await this.restore();
    if (this.triangles) this.report();
  }

  stop(): void {
    this.listening.abort();
    this.held.clear();
    this.contextLost();
  }

  contextLost(): void {
    this.host.module._rays_stop!();
    this.coarse = 0;
    this.drawing = false;
    this.triangles = 0;
  }

  async contextRestored(): Promise<void> {
    await this.restore();
  }

  // ---- The mesh

  private make(): Promise<void> {
    return this.ask('rays_make', placed(raysMake, { triangles: this.host.values['triangles'] as number }), [], '');
  }

  // What the controls ask for, from the worker if it has that.
  private restore(): Promise<void> {
    const { values } = this.host;
    const wanted = values['mesh'] === 'file' ? this.file : '';
    const there = this.made && wanted === this.file && (wanted !== '' || this.cut === values['triangles']);
    return there ? this.ask('rays_again', []) : this.make();
  }

  // A job of rays_build.c, whose answer are a tree and its mesh; `numbers` are its own ones.
  private async ask(name: string, numbers: number[], buffers: ArrayBuffer[] = [], file = this.file): Promise<void> {
    const { host } = this;
    this.asking++;
    try {
      const answer = await host.job(name, this.asked(numbers), { buffers, transfer: buffers, newest: 'rays' });
      this.made = true;
      if (name !== 'rays_again') this.clock = 0;
      this.file = file;
      this.cut = host.values['triangles'] as number;
      this.take(answer);
      this.again(false);
    } finally {
      this.asking--;
    }
  }

  private asked(numbers: number[]): number[] {
    return placed(raysAsk, { fast: this.host.values['quality'] === 'fast' ? 1 : 0 }, [...numbers]);
  }

  private take(answer: Answer): void {
    const { host } = this;
    this.drawing = false;
    if (host.gl.isContextLost()) return;
    const { milliseconds, triangles } = named(raysBuilt, answer.numbers);
    host.time('build', milliseconds);
    host.upload(() => runJob(host.module, 'rays_take', [...answer.numbers], answer.buffers));
    this.triangles = triangles;
  }

  private report(): void {
    const what = this.file || 'A knot and three balls';
    const still = this.triangles > MOST_MOVING ? ', too many to move' : '';
    this.host.say(`${what}: ${plural(this.triangles, 'triangle')}${still}.`);
  }

  // ---- Motion

  private moves(): boolean {
    const { paused, values } = this.host;
    return !paused && values['motion'] !== 0 && this.triangles > 0 && this.triangles <= MOST_MOVING;
  }

  // Every moment is seen before the worker gets the next.
  animate(): boolean {
    const { host } = this;
    const passed = (host.seconds - this.last) * (host.values['motion'] as number);
    this.last = host.seconds;
    if (!this.moves()) return false;
    this.clock += passed;
    const seen = !this.fresh && (!this.drawing || this.mayDrop());
    if (seen && !this.moving && !this.asking && !this.verifying) {
      this.moving = this.move().finally(() => (this.moving = null));
      this.run(this.moving, () => undefined);
    }
    return false;
  }

  private async move(): Promise<void> {
    const { values } = this.host;
    const answer = await this.host.job('rays_move', this.asked(placed(raysMove, { seconds: this.clock, up: this.file && values['up'] === 'z' ? 2 : 1 })));
    if (this.asking) return; // for another mesh
    this.take(answer);
    this.again(true);
    this.tell(named(raysBuilt, answer.numbers).moving);
  }

  private tell(moving?: number): void {
    const now = performance.now();
    this.shown = [...this.shown.filter((then) => now - then < 1000), now];
    const rows: [string, string][] = [['Moving the vertices', moving === undefined ? '–' : milliseconds(moving)], ['Pictures a second', moving === undefined ? '–' : String(this.shown.length)]];
    this.facts.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  }

  private run(work: Promise<void>, then = () => this.report()): void {
    work.then(then, (error: unknown) => {
      if (!(error instanceof Superseded)) this.host.say(error instanceof Error ? error.message : String(error));
    });
  }

  async drop(name: string, bytes: ArrayBuffer): Promise<void> {
    const text = new TextEncoder().encode(`${name}\0`);
    try {
      await this.ask('rays_read', [], placed(pageFile, { bytes, name: text.buffer as ArrayBuffer }), name);
    } catch (error) {
      if (error instanceof Superseded) throw error;
      throw new SceneError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.host.set('mesh', 'file');
    this.home();
    this.report();
  }

  change(id: string, value: Value): void {
    const { host } = this;
    if (id === 'mesh' && value === 'file' && !this.file) {
      host.set('mesh', 'knot');
      host.say('No file is open: drop a PLY, OBJ or STL here, or choose one with “Open a file”.');
    } else if ((id === 'mesh' && value === 'knot') || id === 'triangles') {
      if (host.values['mesh'] === 'knot') this.run(this.make());
    } else if (id === 'quality') {
      this.run(this.ask('rays_again', []));
    } else if (id === 'motion') {
      host.redraw();
    } else if (id === 'home') {
      this.home();
    } else if (id === 'move') {
      this.switch(value === 'fly');
    } else {
      this.again(['yaw', 'pitch', 'zoom', 'eye'].includes(id));
    }
  }

  // ---- Where it is seen from

  private home(): void {
    if (this.flies()) this.report(); // no more
    this.host.set('move', 'orbit');
    this.host.set('eye', '');
    this.host.set('clip', 0);
    this.look(0.5, 0.3, this.file ? 1 : 1.35);
  }

  private look(yaw: number, pitch: number, zoom: number): void {
    const round = (v: number): number => Number(v.toFixed(4));
    const turn = 2 * Math.PI;
    this.host.set('yaw', round(((yaw % turn) + turn) % turn));
    this.host.set('pitch', round(Math.min(MOST_PITCH, Math.max(-MOST_PITCH, pitch))));
    this.host.set('zoom', round(Math.min(40, Math.max(0.25, zoom))));
    this.again(true);
  }

  private turn(right: number, up: number, zoom: number): void {
    const { values } = this.host;
    this.look((values['yaw'] as number) - right, (values['pitch'] as number) + up, (values['zoom'] as number) * zoom);
  }

  private flies(): boolean {
    return this.host.values['move'] === 'fly';
  }

  // Who begins to fly does so where the camera is.
  private switch(flies: boolean): void {
    if (!flies) this.host.set('eye', '');
    this.go(0, 0, 0);
    if (flies) this.host.say('W A S D fly, dragging and arrows look around; wheel and pinch go ahead.');
    else this.report();
  }

  // So many radii of the mesh.
  private go(ahead: number, aside: number, rise: number): void {
    const { host } = this;
    this.aim();
    if (this.flies()) {
      const at = (host.module._rays_go!(ahead, aside, rise) >>> 0) / 8;
      host.set('eye', [0, 1, 2].map((i) => Number(host.module.HEAPF64[at + i]!.toFixed(4))).join());
    }
    this.again(true);
  }

  // On as long as a key is held.
  private glide(fast: boolean): void {
    const now = performance.now();
    const by = (fast ? 3 : 1) * SPEED * Math.min(0.1, (now - this.flown) / 1000);
    this.flown = now;
    const way = [0, 1, 2].map((i) => by * [...this.held].reduce((sum, key) => sum + WAYS[key]![i]!, 0)) as [number, number, number];
    if (!this.held.size || !this.flies()) return;
    this.go(...way);
    requestAnimationFrame(() => this.glide(fast));
  }

  // Another picture. While something moves it is a coarse one, and the one of all pixels comes at rest.
  private again(moving: boolean): void {
    this.fresh = true;
    this.rest = moving ? performance.now() + REST : 0;
    if (this.drawing) this.host.redraw();
    else this.host.begin();
  }

  resize(width: number, height: number, _ratio: number): void {
    Object.assign(this, { width, height, drawing: false, fresh: true }); // what is drawn does not fit any more
  }

  themeChanged(): void {
    if (!this.host.values['sky']) this.again(false);
  }

  // ---- Pictures

  // Where it is seen from, and how, to C.
  aim(): void {
    const { module, values } = this.host;
    const number = (id: string): number => values[id] as number;
    module._rays_look!(this.width, this.height, number('yaw'), number('pitch'), number('zoom'), this.file && values['up'] === 'z' ? 2 : 1);
    const eye = String(values['eye']).split(',').map(Number);
    const isPlace = eye.length === 3 && eye.every(Number.isFinite);
    module._rays_fly!(this.flies() && isPlace ? 1 : 0, ...(isPlace ? eye : [0, 0, 0]));
    module._rays_sky!((number('sun') * Math.PI) / 180, (number('height') * Math.PI) / 180, values['sky'] ? 1 : 0, number('clip') / 100);
    module._rays_show!(values['shadows'] ? 1 : 0, values['mirrors'] ? number('bounces') : 0, values['light'] === 'soft' ? 1 : 0, values['smooth'] ? 0 : 1,
      hot(values) ? 1 : 0, HOTTEST, number('samples'));
  }

  private begin(coarse: number): void {
    const { module } = this.host;
    this.aim();
    if (module._rays_begin!(coarse) !== 0) throw new SceneError(sentence(module));
    this.coarse = coarse;
    this.isQuick = this.fresh;
  }

  // A picture that a GPU of this speed has in one tile.
  private quick(share: number): number {
    return Math.min(16, Math.max(1, Math.ceil(Math.sqrt((this.width * this.height) / (share * share)))));
  }

  frame(share: number): boolean {
    const side = Math.round(share);
    if (!this.triangles || this.probing) return false;
    this.legend.hidden = lit(this.host.values);
    if (this.drawing && !(this.fresh && this.mayDrop())) {
      this.drawing = this.draw(side);
      if (this.drawing) return true;
    }
    const isCoarse = !this.fresh && this.coarse > 1;
    if (isCoarse && this.moves()) {
      this.waits = true;
      return false;
    }
    if (isCoarse && this.waits) { // it was paused: the picture of all pixels is timed by itself
      this.waits = false;
      this.host.begin();
      return false;
    }
    if (isCoarse && performance.now() < this.rest) {
      this.host.did(NaN);
      return true;
    }
    if (this.fresh || this.coarse > 1) {
      this.begin(this.fresh ? this.quick(share) : 1);
      this.fresh = false;
      this.drawing = this.draw(side);
      return true;
    }
    return false;
  }

  // A picture that takes a moment is finished before the next begins: else a mesh that turns would never be seen.
  private mayDrop(): boolean {
    return this.coarse === 1 && (!this.isQuick || this.host.module._rays_progress!(0) >= 1);
  }

  private draw(side: number): boolean {
    const { module } = this.host;
    const until = performance.now() + (side >= 512 ? 8 : 0); // a quick GPU has time for several
    let more = module._rays_step!(side);
    while (more === 1 && performance.now() < until) more = module._rays_step!(side);
    this.host.did(Math.min(1, (this.width * this.height) / (this.coarse * side) ** 2));
    if (more < 0 || module._rays_put!() !== 0) throw new SceneError(sentence(module));
    return more === 1;
  }

  pointer(event: ScenePointer): boolean {
    const flies = this.flies();
    const by = (flies ? -2.5 : 5) / Math.min(this.width, this.height); // what one flies past follows the pointer
    if (event.type === 'move' && event.held) this.turn(event.dx * by, event.dy * by, 1);
    else if (flies && (event.type === 'wheel' || event.type === 'pinch')) this.go(Math.log(event.scale), 0.5 * event.dx * by, -0.5 * event.dy * by);
    else if (event.type === 'wheel') this.turn(0, 0, event.scale);
    else if (event.type === 'pinch') this.turn(event.dx * by, event.dy * by, event.scale);
    else if (event.type === 'down' || event.type === 'up') this.host.canvas.classList.toggle('holding', event.type === 'down');
    else return false;
    return true;
  }

  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] as [number, number] | undefined;
    const flies = this.flies();
    const nearer = { '+': 1, '=': 1, '-': -1, '−': -1 }[event.key];
    if (arrow) this.turn(arrow[0] * 0.12, arrow[1] * (flies ? -0.08 : 0.08), 1);
    else if (nearer && flies) this.go(0.14 * nearer, 0, 0);
    else if (nearer) this.turn(0, 0, 1.15 ** nearer);
    else if (flies && WAYS[event.code]) {
      if (!this.held.size) this.flown = performance.now() - 50; // a tap is a step
      const begins = !this.held.size;
      this.held.add(event.code);
      if (begins) this.glide(event.shiftKey);
    } else if (event.key === 'Home') this.home();
    else return false;
    return true;
  }

  // Who has just chosen to fly has the focus on that control. Other keys are those of controls and of a page that scrolls.
  keyAnywhere(event: KeyboardEvent): boolean {
    return this.flies() && /^Key[WASD]$/.test(event.code) && this.key(event);
  }

  // ---- Verifying

  // Draws the picture's first rays once more, which say what they have met.
  private async probe(pixels: Int32Array): Promise<ArrayBuffer[]> {
    const { module } = this.host;
    this.probing = true;
    try {
      this.aim();
      if (module._rays_probe!() !== 0) throw new SceneError(sentence(module));
      for (;;) {
        const more = module._rays_step!(512);
        if (more < 0) throw new SceneError(sentence(module));
        if (!more) break;
        await new Promise((resolve) => setTimeout(resolve));
        if (!this.triangles) throw new SceneError('The graphics context was lost meanwhile.');
      }
      return runJob(module, 'rays_sample', [], [pixels]).buffers;
    } finally {
      this.probing = false;
      this.drawing = false;
      this.again(false);
    }
  }

  // What the worker has is then what the picture shows.
  async verify(): Promise<string> {
    this.verifying = true;
    try {
      await this.moving;
      return await this.compare();
    } finally {
      this.verifying = false;
    }
  }

  private async compare(): Promise<string> {
    if (!this.triangles) return 'There is no mesh to compare with.';
    const samples = Math.round(Math.min(2000, Math.max(100, 1e8 / this.triangles)));
    const pixels = Int32Array.from({ length: samples }, () => Math.floor(Math.random() * this.width * this.height));
    const buffers = await this.probe(pixels);
    const { numbers } = await this.host.job('rays_check', [], { buffers, transfer: buffers });
    const { same, near, rays: all, shadowsSame: shadows, shadows: allShadows } = named(raysChecked, numbers);
    const truth = `the triangle that brute force over all ${count(this.triangles)} finds, or none`;
    const dark = `${plural(allShadows, 'ray')} from there to the lamp`;
    const beside = near ? `, ${count(near)} of them within rounding of an edge` : '';
    if (same + near === all && shadows === allShadows)
      return `Verified: all ${count(all)} sampled pixels show ${truth}${beside}; ${dark} ${allShadows === 1 ? 'is' : 'are'} stopped or not as it says.`;
    return `Wrong: of ${count(all)} sampled pixels ${count(all - same - near)} do not show ${truth}; of ${dark} ${count(allShadows - shadows)} are wrong.`;
  }
}

export function rays(): Scene {
  return new Rays();
}
