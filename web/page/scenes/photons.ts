// Photons: light leaves a lamp, a part of it at a time, and where it lands it is looked up.
import './photons.css';
import {
  pageFile, photonsChecked, photonsLight, photonsLit, photonsMake, photonsMap, photonsMatter, photonsPut, photonsSend,
  photonsSent, photonsShow, photonsThing, photonsTint,
} from '../fields.js';
import { Orbit } from './orbit.js';
import { Superseded } from '../shell/jobs.js';
import { runJob, type Answer } from '../shell/module.js';
import { named, placed } from '../shell/named.js';
import { element } from '../shell/element.js';
import { SceneError, type Control, type Host, type Scene, type ScenePointer, type Value, type Values } from '../shell/scene.js';
import { count, plural } from '../shell/words.js';

const PARTS = 16; // of the photons of a pass
const FLIGHT = 0.45; // seconds that photons of a part are seen to fly
const STRIP = 120; // milliseconds that the worker looks photons up before it answers
const FIRST = 90; // milliseconds that the coarsest picture may take
const COARSEST = 16; // pixels along a side of a cell
const PASSES = 4; // of a picture by the same photons
const RENEWED = 24; // of one that gets other photons in each pass
const QUICK = 40; // milliseconds
const FILTERS = ['constant', 'cone', 'epanechnikov'];
const MAPS = { both: photonsMap.global | photonsMap.caustics, global: photonsMap.global, caustics: photonsMap.caustics };

const showsLight = (v: Values): boolean => v['show'] !== 'dots';
const showsDots = (v: Values): boolean => v['show'] !== 'light';
const ofFile = (v: Values): boolean => v['thing'] === 'file';

const controls: readonly Control[] = [
  { kind: 'choice', id: 'show', label: 'Shown', initial: 'both', key: 'm', help: 'Where photons landed, the light that is looked up from them, or both',
    options: [{ value: 'dots', label: 'Photons' }, { value: 'light', label: 'Light' }, { value: 'both', label: 'Both' }] },
  { kind: 'button', id: 'step', label: 'Send some', key: 'n', help: 'The next sixteenth of all photons' },
  { kind: 'button', id: 'reset', label: 'Start again', key: 'r' },
  { kind: 'choice', id: 'thing', label: 'Thing', initial: 'ball', group: 'Room',
    options: [{ value: 'ring', label: 'Ring' }, { value: 'ball', label: 'Ball' }, { value: 'knot', label: 'Knot' }, { value: 'file', label: 'File' }] },
  { kind: 'choice', id: 'matter', label: 'Made of', initial: 'glass', group: 'Room',
    options: [{ value: 'metal', label: 'Metal' }, { value: 'glass', label: 'Glass' }, { value: 'tinted', label: 'Green glass' }, { value: 'chalk', label: 'Chalk' }] },
  { kind: 'choice', id: 'up', label: 'Upwards', initial: 'z', group: 'Room', shown: ofFile, help: 'Which axis of the file points up',
    options: [{ value: 'y', label: 'y' }, { value: 'z', label: 'z' }] },
  { kind: 'slider', id: 'turn', label: 'Lamp turned', least: 0, most: 360, step: 5, initial: 150, group: 'Room', text: (v) => `${v}°` },
  { kind: 'slider', id: 'height', label: 'Lamp’s height', least: 20, most: 95, step: 5, initial: 75, group: 'Room', text: (v) => `${v} %`, help: 'Of the room’s' },
  { kind: 'slider', id: 'lamp', label: 'Lamp’s size', least: 0, most: 60, step: 2, initial: 10, group: 'Room', text: (v) => `${v} cm`, help: 'Of a room 4 m wide: small lamps make sharp shadows and caustics' },
  { kind: 'slider', id: 'photons', label: 'Photons', least: 1000, most: 1000000, initial: 60000, logarithmic: true, group: 'Photons', help: 'Sent for the global map, all ways' },
  { kind: 'slider', id: 'caustics', label: 'For caustics', least: 1000, most: 1000000, initial: 100000, logarithmic: true, group: 'Photons', help: 'Sent for a map of their own, towards what mirrors and what is clear' },
  { kind: 'slider', id: 'bounces', label: 'Bounces', least: 0, most: 16, initial: 8, group: 'Photons', help: 'Surfaces that a photon leaves at most' },
  { kind: 'choice', id: 'maps', label: 'Maps', initial: 'both', group: 'Photons', key: 'g',
    options: [{ value: 'both', label: 'Both' }, { value: 'global', label: 'Global' }, { value: 'caustics', label: 'Caustics' }] },
  { kind: 'choice', id: 'straight', label: 'Straight from the lamp', initial: 'rays', group: 'Light', key: 'o', shown: showsLight,
    help: 'Light that nothing turned aside is found by a ray to the lamp, or looked up like all other',
    options: [{ value: 'rays', label: 'Rays' }, { value: 'photons', label: 'Photons' }] },
  { kind: 'slider', id: 'k', label: 'Nearest photons', least: 1, most: 500, initial: 160, logarithmic: true, group: 'Light', help: 'That are looked up at each place, in each map', shown: showsLight },
  { kind: 'slider', id: 'radius', label: 'Not beyond', least: 2, most: 100, initial: 40, logarithmic: true, group: 'Light', text: (v) => `${v} cm`, help: 'Photons farther away do not count', shown: showsLight },
  { kind: 'choice', id: 'filter', label: 'Filter', initial: 'epanechnikov', group: 'Light', key: 'f', shown: showsLight, help: 'How much a photon counts by its distance',
    options: [{ value: 'constant', label: 'None' }, { value: 'cone', label: 'Cone' }, { value: 'epanechnikov', label: 'Epanechnikov' }] },
  { kind: 'switch', id: 'renew', label: 'Other photons in each pass', initial: false, group: 'Light', shown: showsLight,
    help: 'A picture at rest becomes the mean of passes, each with photons of its own and a smaller radius' },
  { kind: 'slider', id: 'exposure', label: 'Exposure', least: 0.1, most: 4, step: 0.1, initial: 1.2, group: 'Picture', text: (v) => v.toFixed(1), shown: showsLight },
  { kind: 'choice', id: 'tint', label: 'Colour of photons', initial: 'power', group: 'Picture', key: 'c', shown: showsDots,
    options: [{ value: 'power', label: 'Power' }, { value: 'map', label: 'Map' }] },
  { kind: 'slider', id: 'dot', label: 'Size of photons', least: 2, most: 30, initial: 8, group: 'Picture', text: (v) => `${v} mm`, shown: showsDots },
  { kind: 'switch', id: 'lines', label: 'Last flights as lines', initial: false, group: 'Picture', key: 'l', help: 'Of some of the photons that came last' },
  { kind: 'hidden', id: 'camera', initial: '' },
];

type Sent = Record<keyof typeof photonsSent, number>;

// What of a picture is to come: rows of cells, in one of its passes.
interface Level {
  step: number;
  row: number;
  pass: number;
  renewed: number; // parts of the pass's own photons that are sent
  coarsest: boolean; // it is the first of its view, and shown when all of it is there
}

export class Photons implements Scene {
  readonly name = 'photons';
  readonly title = 'Photons';
  readonly about = 'Photons leave a lamp, bounce through a room and land. Where the eye looks, a k‑d tree finds the nearest of them: so much light is there. What metal and glass throw, caustics, gets a map of its own. Drop a mesh to stand it in the room.';
  readonly keys = [
    ['drag', 'turn; with shift or two fingers move'], ['wheel, pinch', 'nearer, farther'], ['← → ↑ ↓', 'turn'], ['+ −', 'nearer, farther'],
    ['0', 'look from where it began'],
  ] as const;
  readonly search = 'drawing';
  readonly accepts = 'PLY, OBJ or STL meshes';
  readonly suffixes = '.ply,.obj,.stl';
  readonly webgl1 = false;
  readonly animated = true;
  readonly controls = controls;
  readonly share = { first: 60000, least: 10000, most: 4e6 }; // dots

  private host!: Host;
  private size = { width: 1, height: 1 };
  private room: Answer | undefined; // what a new context gets
  private fileName = ''; // of the file that was read
  private sent: Sent | undefined;
  private part = 0; // to be sent next
  private atOnce = false; // parts follow each other without a pause
  private asked = 0; // parts that the reader asked for
  private landing = -FLIGHT; // seconds when the last part was sent
  private rooms = 0; // that were asked for
  private turn = 0; // of photons
  private working = false;
  stale = true; // there is no picture of this view and these photons yet
  private first = 8; // pixels of a cell of the coarsest picture
  private level: Level | undefined; // none: the picture is complete
  private lookups = 0; // places a second at which photons are looked up
  private camera = new Orbit();
  private seen: Orbit | undefined; // by whom the light on show is seen
  private shown = false; // the context has the room
  private drawing = false; // a picture has been begun
  private wanted = false; // another picture than the one being drawn
  private fine = false; // that picture is multisampled
  private begun = 0;
  private finished = false; // it is drawn, and nobody has looked how long that took
  private fineTakes = Infinity; // milliseconds
  private remaining = 0; // dots that were left before
  private facts!: HTMLElement;
  private legend!: HTMLElement;

  beyond(): string {
    return this.host && ofFile(this.host.values) ? this.fileName : '';
  }

  async start(host: Host): Promise<void> {
    this.host = host;
    this.forget();
    this.room = undefined;
    this.fineTakes = Infinity;
    this.camera = new Orbit(String(host.values['camera']));
    this.facts = element('dl', { class: 'surface-facts' });
    this.legend = element('p', { class: 'chip legend', hidden: true });
    this.legend.append(...(['straight', 'caustic', 'indirect'] as const).flatMap((way) => [element('span', { class: `photons-mark ${way}` }), way]));
    host.details.append(this.facts);
    host.overlay.append(this.legend);
    if (ofFile(host.values) && !this.fileName) host.set('thing', 'ball');
    await this.make();
  }

  private forget(): void {
    this.turn++;
    this.sent = this.level = this.seen = undefined;
    this.part = this.asked = 0;
    this.stale = true;
    this.working = this.drawing = this.wanted = this.finished = false;
  }

  stop(): void {
    this.forget();
    this.rooms++;
    this.shown = false;
    this.host.module._photons_stop!();
  }

  contextLost(): void {
    this.shown = this.drawing = false;
    this.seen = undefined;
    this.stale = true;
    this.host.module._photons_stop!();
  }

  async contextRestored(): Promise<void> {
    this.drawing = false;
    if (!this.room) return this.make();
    this.putRoom();
    const mine = this.turn;
    const answer = await this.host.job('photons_again', []);
    if (mine !== this.turn) return;
    if (this.part) this.put('photons_put_dots', answer.numbers, answer.buffers);
    this.work();
  }

  // ---- The room

  // Another room; until it is there, and if it cannot be made, the one that there is stays.
  private async make(job = 'photons_make', buffers: ArrayBuffer[] = []): Promise<void> {
    const { host } = this;
    const { values } = host;
    const mine = ++this.rooms;
    const answer = await host.job(job, placed(photonsMake, {
      thing: photonsThing[values['thing'] as keyof typeof photonsThing], matter: photonsMatter[values['matter'] as keyof typeof photonsMatter],
      lampTurn: values['turn'] as number, lampHeight: (values['height'] as number) / 100, lampSize: (values['lamp'] as number) / 100,
      yUp: values['up'] === 'y' ? 1 : 0,
    }), { buffers, transfer: buffers, newest: 'photons' });
    if (mine !== this.rooms) throw new Superseded('Another room was asked for.');
    this.room = answer;
    if (!host.gl.isContextLost()) this.putRoom();
    this.resend();
  }

  private putRoom(): void {
    this.put('photons_put_room', this.room!.numbers, this.room!.buffers);
    this.shown = true;
  }

  private put(job: string, numbers: ArrayLike<number>, buffers: ArrayBuffer[]): void {
    const { host } = this;
    if (host.gl.isContextLost()) return;
    host.upload(() => runJob(host.module, job, Array.from(numbers), buffers));
    this.draw();
  }

  // All photons anew, into the room that there is.
  private resend(atOnce = this.host.paused): void {
    this.forget();
    this.atOnce = atOnce; // nothing moves: they are there
    this.asked = !atOnce && this.host.paused ? 1 : 0;
    this.landing = -FLIGHT;
    if (this.shown) this.host.module._photons_clear!();
    this.work();
  }

  // The photons that have not left yet, without a pause between parts.
  finish(): void {
    this.atOnce = true;
    this.work();
  }

  // ---- What the worker does, a job at a time

  private work(): void {
    if (this.working || !this.room) return;
    const mine = this.turn;
    this.working = true;
    const done = (): void => {
      if (mine === this.turn) this.working = false;
    };
    this.run((async () => {
      for (let next; mine === this.turn && (next = this.next()); ) await next();
    })().then(done, (error: unknown) => {
      done();
      if (mine === this.turn) throw error; // else it was about photons that are gone
    }));
  }

  private next(): (() => Promise<void>) | undefined {
    const { host } = this;
    const light = showsLight(host.values) && this.part > 0 && this.shown;
    const sends = this.part < PARTS && (this.atOnce || this.asked > 0 || (!host.paused && host.seconds - this.landing >= FLIGHT));
    if (light && this.stale && !(sends && this.atOnce)) {
      this.level = { step: this.first, row: 0, pass: 0, renewed: 0, coarsest: true };
      this.stale = false;
      return () => this.look();
    }
    if (sends) return () => this.send();
    if (!light || !this.level || (this.part < PARTS && !host.paused)) return undefined;
    if (this.level.pass && host.values['renew'] && this.level.renewed < PARTS) return () => this.sendAnew();
    return () => this.look();
  }

  private sending(part: number, pass: number): number[] {
    const { values } = this.host;
    return placed(photonsSend, {
      part, parts: PARTS, pass, global: values['photons'] as number, caustics: values['caustics'] as number, bounces: values['bounces'] as number,
    });
  }

  private async send(): Promise<void> {
    const { host } = this;
    const mine = this.turn;
    const { numbers, buffers, milliseconds } = await host.job('photons_send', this.sending(this.part, 0));
    if (mine !== this.turn) return;
    this.sent = named(photonsSent, numbers);
    this.part++;
    this.asked = Math.max(0, this.asked - 1);
    this.landing = host.seconds;
    this.stale = true;
    host.time('build', milliseconds);
    this.put('photons_put_dots', numbers, buffers);
    this.tell();
    if (this.part === PARTS || this.part === 1) this.report();
  }

  // Photons of a later pass.
  private async sendAnew(): Promise<void> {
    const level = this.level!;
    await this.host.job('photons_send', this.sending(level.renewed, level.pass));
    level.renewed++;
  }

  private lighting(level: Level, camera: Orbit): number[] {
    const { width, height } = this.size;
    const { values } = this.host;
    return placed(photonsLight, {
      k: values['k'] as number, radius: (values['radius'] as number) / 100, filter: FILTERS.indexOf(String(values['filter'])),
      maps: MAPS[values['maps'] as keyof typeof MAPS], rays: values['straight'] === 'rays' ? 1 : 0, width, height, yaw: camera.yaw, pitch: camera.pitch, zoom: camera.zoom,
      shiftX: camera.x, shiftY: camera.y, step: level.step, row: level.row, pass: level.pass,
      time: level.coarsest ? 1e6 : STRIP, renewed: level.pass && values['renew'] ? 1 : 0,
    });
  }

  // How photons are looked up, and the view of what is shown.
  asking(): number[] {
    return this.lighting({ step: 1, row: 0, pass: 0, renewed: 0, coarsest: false }, (showsLight(this.host.values) && this.seen) || this.camera);
  }

  private async look(): Promise<void> {
    const { host } = this;
    const mine = this.turn;
    const level = this.level!;
    const { row, step } = level;
    const camera = new Orbit(this.camera.text());
    const { numbers, buffers, milliseconds } = await host.job('photons_light', this.lighting(level, camera));
    // While it is made the reader may have gone elsewhere: the coarsest picture, which is all there, is shown even then.
    if (mine !== this.turn || level !== this.level || (this.stale && !level.coarsest)) return;
    const { rows, high, places } = named(photonsLit, numbers);
    this.lookups = (1000 * places) / Math.max(1, milliseconds);
    if (level.coarsest) {
      this.seen = camera;
      if (milliseconds > 1.5 * FIRST) this.first = Math.min(COARSEST, 2 * step);
      else if (milliseconds < FIRST / 5) this.first = Math.max(4, step / 2);
    }
    this.put('photons_put_light', placed(photonsPut, { row, step }, Array.from(numbers)), buffers);
    level.row += rows;
    if (level.row >= high) {
      const passes = host.values['renew'] ? RENEWED : PASSES;
      if (step > 1) this.level = { ...level, step: step / 2, row: 0, coarsest: false };
      else this.level = level.pass + 1 < passes ? { ...level, pass: level.pass + 1, row: 0, renewed: 0, coarsest: false } : undefined;
    }
    this.tell();
  }

  // Another view or other settings: what is looked up of the last is not wanted.
  private lookAnew(): void {
    this.stale = true;
    this.work();
    this.draw();
  }

  // ---- In words

  private thing(): string {
    const { thing, matter } = this.host.values as { thing: string; matter: string };
    const of = { metal: 'of metal', glass: 'of glass', tinted: 'of green glass', chalk: 'of chalk' }[matter]!;
    return `${thing === 'file' ? this.fileName : `A ${thing}`} ${of}`;
  }

  private report(): void {
    const { host, sent } = this;
    if (this.part < PARTS) {
      host.say(`${this.thing()}: photons fly${host.paused && !this.atOnce ? '. Press “Play”, or “Send some”' : ''}.`);
      return;
    }
    host.say(`${this.thing()}: ${count(sent!.global)} photons landed in the global map, ${count(sent!.caustics)} in that of caustics.`);
  }

  private tell(): void {
    const { sent, host, level } = this;
    const { photons, caustics } = host.values as { photons: number; caustics: number };
    if (!sent) return;
    const rows: [string, string][] = [
      ['Sent', `${count((photons + caustics) * sent.share)} of ${count(photons + caustics)}`],
      ['Landed: global', count(sent.global)], ['Landed: caustics', count(sent.caustics)], ['Rays traced', count(sent.rays)],
    ];
    if (showsLight(host.values) && this.lookups) {
      rows.push(['Looked up', `${count(Number(this.lookups.toPrecision(2)))} places a second`]);
      rows.push(['Picture', !level ? 'complete' : level.step > 1 ? `a light for ${level.step} × ${level.step} pixels` : `pass ${level.pass + 1}`]);
    }
    this.facts.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  }

  private run(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof Superseded || this.host.gl.isContextLost())) this.host.say(error instanceof Error ? error.message : String(error));
    });
  }

  change(id: string, value: Value): void {
    const { host } = this;
    if (id === 'thing' && value === 'file' && !this.fileName) {
      host.set('thing', 'ball');
      host.say('No file is open: drop a PLY, OBJ or STL here, or choose one with “Open file”.');
    } else if (['thing', 'matter', 'up', 'turn', 'height', 'lamp'].includes(id)) {
      this.run(this.make());
    } else if (['reset', 'photons', 'caustics', 'bounces'].includes(id)) {
      this.resend(id !== 'reset' && host.paused);
    } else if (id === 'step') {
      if (this.part === PARTS) this.report();
      else this.asked++;
      this.work();
    } else if (['k', 'radius', 'filter', 'maps', 'straight', 'renew', 'show'].includes(id)) {
      this.lookAnew();
      this.tell();
    } else {
      if (id === 'camera') this.camera = new Orbit(String(value));
      if (id === 'camera') this.lookAnew();
      this.draw();
    }
  }

  async drop(name: string, bytes: ArrayBuffer): Promise<void> {
    const { host } = this;
    const before = { thing: host.values['thing']!, name: this.fileName };
    const buffers = placed(pageFile, { bytes, name: new TextEncoder().encode(`${name}\0`).buffer as ArrayBuffer });
    this.fileName = name;
    host.set('thing', 'file');
    try {
      await this.make('photons_read', buffers);
    } catch (error) {
      this.fileName = before.name;
      host.set('thing', before.thing);
      if (error instanceof Superseded) throw error;
      throw new SceneError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  // ---- Pictures

  private draw(): void {
    this.wanted = true;
    if (this.drawing) this.host.redraw();
    else this.host.begin();
  }

  private moved(): void {
    this.host.set('camera', this.camera.text());
    if (showsLight(this.host.values)) this.lookAnew();
    else this.draw();
    this.stale = true;
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    this.drawing = false;
    this.wanted = this.stale = true;
    this.work();
  }

  themeChanged(): void {
    this.draw();
  }

  // The shell calls again when the GPU has done what it was given.
  private learn(): void {
    if (this.finished && this.fine) this.fineTakes = performance.now() - this.begun;
    this.finished = false;
  }

  private begins(): void {
    const { host, size } = this;
    const { values } = host;
    const camera = (showsLight(values) && this.seen) || this.camera;
    // While it moves photons have edges of whole pixels, unless the GPU is quick; at rest they are drawn anew.
    this.fine = !this.wanted || this.fineTakes < QUICK;
    this.wanted = false;
    this.drawing = true;
    this.begun = performance.now();
    this.remaining = this.sent ? this.sent.global + this.sent.caustics : 0;
    this.legend.hidden = !(showsDots(values) && values['tint'] === 'map');
    host.module._photons_show!((values['dot'] as number) / 1000, photonsTint[values['tint'] as keyof typeof photonsTint],
      MAPS[values['maps'] as keyof typeof MAPS], photonsShow[values['show'] as keyof typeof photonsShow], values['exposure'] as number);
    host.module._photons_begin!(size.width, size.height, camera.yaw, camera.pitch, camera.zoom, camera.x, camera.y, this.fine ? 1 : 0);
  }

  private flight(): number {
    const { host } = this;
    return host.paused || this.atOnce ? 1 : Math.min(1, Math.max(0.01, (host.seconds - this.landing) / FLIGHT));
  }

  frame(share: number): boolean {
    const { host } = this;
    if (!this.shown) return false;
    this.learn();
    if (!this.drawing) this.begins();
    const left = host.module._photons_frame!(share, this.flight(), host.values['lines'] ? 1 : 0);
    this.drawing = left > 0;
    this.finished = !this.drawing;
    host.did(Math.min(1, Math.max(0, this.remaining - left) / share));
    this.remaining = left;
    if (this.finished && (this.wanted || !this.fine)) host.redraw();
    return this.drawing;
  }

  animate(): boolean {
    if (!this.shown) return false;
    const flies = this.part > 0 && !this.atOnce && this.host.seconds - this.landing < FLIGHT + 0.1;
    if (!flies) this.work();
    if (flies && !this.drawing) this.draw();
    return flies;
  }

  pointer(event: ScenePointer): boolean {
    return this.camera.pointer(event, this.size, () => this.moved());
  }

  key(event: KeyboardEvent): boolean {
    return this.camera.key(event, () => this.moved());
  }

  // ---- Verifying

  async verify(): Promise<string> {
    const { host, sent, size } = this;
    if (!sent) throw new SceneError('No photon has landed yet.');
    const pixels = Math.round(Math.min(400, Math.max(20, 1e8 / (sent.global + sent.caustics + 1))));
    const at = Float32Array.from({ length: 2 * pixels }, (_, i) => Math.random() * (i % 2 ? size.height : size.width));
    const { numbers } = await host.job('photons_check', this.asking(), { buffers: [at] });
    const { places, right, photons } = named(photonsChecked, numbers);
    if (!places) throw new SceneError('The picture shows no surface on which light falls.');
    const truth = `what brute force over all ${count(photons)} photons finds, bit for bit`;
    return right === places
      ? `Verified: at ${plural(places, 'place')} of the picture the light is ${truth}.`
      : `Wrong: at ${count(places - right)} of ${plural(places, 'place')} the light is not ${truth}.`;
  }
}

export function photons(): Scene {
  return new Photons();
}
