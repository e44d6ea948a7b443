// Cloud: a scan whose points repel each other until they are even, or two scans that are aligned, a step at a time.
import './cloud.css';
import { cloudChecked, cloudColor, cloudEnd, cloudFit, cloudForce, cloudMake, cloudState, pageFile } from '../fields.js';
import { Curve } from './cloud_curve.js';
import { Orbit } from './orbit.js';
import { Superseded } from '../shell/jobs.js';
import { runJob, type Answer } from '../shell/module.js';
import { named, placed, stride } from '../shell/named.js';
import { element } from '../shell/element.js';
import { SceneError, type Control, type Host, type Scene, type ScenePointer, type Value, type Values } from '../shell/scene.js';
import { count, plural } from '../shell/words.js';

const QUICK = 40; // milliseconds
const APART = 25; // degrees
const METHODS = ['points', 'planes', 'disks'];
const relaxes = (v: Values): boolean => v['work'] === 'relax';
const aligns = (v: Values): boolean => !relaxes(v);
const percent = (v: number): string => `${Number(v.toFixed(1))} %`;

type State = Record<keyof typeof cloudState, number>;

const controls: readonly Control[] = [
  { kind: 'choice', id: 'work', label: 'What happens', initial: 'relax', key: 'm',
    help: 'Points repel each other and spread evenly over their surface, or one scan is moved onto another',
    options: [{ value: 'relax', label: 'Relax' }, { value: 'align', label: 'Align two' }] },
  { kind: 'button', id: 'step', label: 'One step', key: 'n' },
  { kind: 'button', id: 'reset', label: 'Start again', key: 'r' },
  { kind: 'slider', id: 'pace', label: 'Steps a second', least: 1, most: 60, initial: 12, logarithmic: true, help: 'At most; large scans take longer' },
  { kind: 'choice', id: 'scan', label: 'Scan', initial: 'knot', group: 'Scan', help: 'The built-in one, or what was opened last',
    options: [{ value: 'knot', label: 'Knot' }, { value: 'file', label: 'File' }] },
  { kind: 'slider', id: 'points', label: 'Points', least: 500, most: 200000, initial: 12000, logarithmic: true, group: 'Scan', help: 'Of each scan, at most' },
  { kind: 'slider', id: 'noise', label: 'Noise', least: 0, most: 2, step: 0.1, initial: 0, group: 'Scan', text: percent, help: 'Added to each point, in hundredths of the scan’s size' },
  { kind: 'slider', id: 'apart', label: 'Out of place', least: 0, most: 60, initial: APART, group: 'Scan', text: (v) => `${v}°`,
    help: 'How far the scan that moves is turned at first; of one scan two parts that overlap are cut', shown: aligns },
  { kind: 'choice', id: 'up', label: 'Upwards', initial: 'z', group: 'Scan', shown: (v) => v['scan'] === 'file', help: 'Which axis of the file points up',
    options: [{ value: 'y', label: 'y' }, { value: 'z', label: 'z' }] },
  { kind: 'choice', id: 'by', label: 'Neighbours', initial: 'k', group: 'Forces', shown: relaxes, help: 'Which points push a point',
    options: [{ value: 'k', label: 'Nearest' }, { value: 'radius', label: 'Within a radius' }] },
  { kind: 'slider', id: 'k', label: 'How many', least: 4, most: 48, initial: 16, group: 'Forces', shown: (v) => relaxes(v) && v['by'] === 'k' },
  { kind: 'slider', id: 'radius', label: 'Radius', least: 1, most: 6, step: 0.1, initial: 3, group: 'Forces', text: (v) => `${v.toFixed(1)} spacings`,
    shown: (v) => relaxes(v) && v['by'] === 'radius' },
  { kind: 'slider', id: 'strength', label: 'Strength', least: 0.1, most: 2, step: 0.1, initial: 1.5, group: 'Forces', shown: relaxes, text: (v) => v.toFixed(1),
    help: 'How far points go in a step' },
  { kind: 'choice', id: 'fit', label: 'Compared', initial: 'planes', group: 'Fit', shown: aligns,
    help: 'Distances of points, to tangent planes of the scan that stands still, or between tangent planes of both',
    options: [{ value: 'points', label: 'Points' }, { value: 'planes', label: 'Planes' }, { value: 'disks', label: 'Both planes' }] },
  { kind: 'switch', id: 'trim', label: 'Only where they overlap', initial: true, group: 'Fit', key: 'o', shown: aligns, help: 'The part of the scan that has a counterpart is found in each step' },
  { kind: 'choice', id: 'color', label: 'Colour', initial: 'density', group: 'Picture', key: 'c', shown: relaxes,
    options: [{ value: 'density', label: 'Density' }, { value: 'normals', label: 'Normals' }, { value: 'plain', label: 'Plain' }] },
  { kind: 'choice', id: 'tint', label: 'Colour', initial: 'scans', group: 'Picture', key: 'c', shown: aligns,
    options: [{ value: 'scans', label: 'Scans' }, { value: 'distance', label: 'Distance' }, { value: 'normals', label: 'Normals' }] },
  { kind: 'slider', id: 'disc', label: 'Size of points', least: 0.1, most: 1.5, step: 0.05, initial: 0.7, group: 'Picture', text: (v) => `${v.toFixed(2)} spacings` },
  { kind: 'switch', id: 'lines', label: 'Normals as lines', initial: false, group: 'Picture', key: 'l' },
  { kind: 'switch', id: 'pairs', label: 'Pairs as lines', initial: true, group: 'Picture', key: 'i', shown: aligns, help: 'Each point and the nearest of the other scan; of many some' },
  { kind: 'switch', id: 'turn', label: 'Turn slowly', initial: true, group: 'Picture', help: 'The camera goes round, unless the page is paused' },
  { kind: 'hidden', id: 'camera', initial: '' },
];

class Cloud implements Scene {
  readonly name = 'cloud';
  readonly title = 'Cloud';
  readonly about = 'Points of a scan repel each other along its surface until they lie evenly; or one scan is turned and shifted onto another. Every step searches a k‑d tree. Drop a scan, or two at once to align them.';
  readonly keys = [
    ['drag', 'turn; with shift or two fingers move'], ['wheel, pinch', 'nearer, farther'], ['← → ↑ ↓', 'turn'], ['+ −', 'nearer, farther'],
    ['0', 'look from where it began'],
  ] as const;
  readonly accepts = 'PLY, PCD, XYZ, LAS, CSV or NPY points';
  readonly suffixes = '.ply,.pcd,.xyz,.pts,.asc,.txt,.las,.csv,.npy';
  readonly files = 2;
  readonly webgl1 = false;
  readonly animated = true;
  readonly controls = controls;
  readonly share = { first: 60000, least: 10000, most: 4e6 }; // points

  private host!: Host;
  private size = { width: 1, height: 1 };
  private state: State | undefined;
  private latest: Answer | undefined; // what a new context gets
  private names: string[] = []; // of the files that were read
  private turn = 0; // of the worker's scans
  private stepping = false; // a step is with the worker
  private stepped = 0; // seconds when the last step began
  private before = 0; // seconds of the last frame
  private shown = false; // the context has it
  private camera = new Orbit();
  private drawing = false; // a picture has been begun
  private wanted = false; // another picture than the one being drawn
  private fine = false; // that picture is multisampled
  private begun = 0;
  private finished = false; // it is drawn, and nobody has looked how long that took
  private fineTakes = Infinity; // milliseconds
  private remaining = 0; // points that were left before
  private curve!: Curve;
  private facts!: HTMLElement;
  private legend!: HTMLElement;

  beyond(): string {
    return this.host?.values['scan'] === 'file' ? this.names.join(' and ') : '';
  }

  pin(): void {
    this.host.set('camera', this.camera.text());
  }

  async start(host: Host): Promise<void> {
    this.host = host;
    this.forget();
    this.fineTakes = Infinity;
    this.camera = new Orbit(String(host.values['camera']));
    this.curve = new Curve();
    this.facts = element('dl', { class: 'surface-facts' });
    this.legend = element('p', { class: 'chip legend', hidden: true });
    host.details.append(this.curve.box, this.facts);
    host.overlay.append(this.legend);
    if (host.values['scan'] === 'file' && !this.names.length) host.set('scan', 'knot');
    await this.make();
  }

  private forget(): void {
    this.turn++;
    this.state = this.latest = undefined;
    this.shown = this.stepping = this.drawing = this.wanted = this.finished = false;
  }

  stop(): void {
    this.forget();
    this.host.module._cloud_stop!();
  }

  contextLost(): void {
    this.shown = this.drawing = false;
    this.host.module._cloud_stop!();
  }

  async contextRestored(): Promise<void> {
    this.drawing = false;
    if (this.latest) this.put();
    else await this.make();
  }

  // ---- The scan

  private ofFile(): boolean {
    return this.host.values['scan'] === 'file' && this.names.length > 0;
  }

  private asked(): number[] {
    const { values } = this.host;
    return placed(cloudMake, {
      aligns: relaxes(values) ? 0 : 1, ofFile: this.ofFile() ? 1 : 0, points: values['points'] as number,
      noise: (values['noise'] as number) * 0.02, apart: values['apart'] as number, yUp: values['up'] === 'y' ? 1 : 0,
    });
  }

  private async make(): Promise<void> {
    await this.begin('cloud_make');
    this.report();
  }

  // Another scan: the curve begins anew.
  private async begin(job: string, buffers: ArrayBuffer[] = []): Promise<void> {
    const mine = ++this.turn;
    const answer = await this.host.job(job, this.asked(), { buffers, transfer: buffers, newest: 'cloud' });
    if (mine !== this.turn) throw new Superseded('Another scan was asked for.');
    this.stepping = false;
    this.stepped = this.host.seconds;
    this.curve.begin(relaxes(this.host.values) ? 'Unevenness: deviation of the density over its mean' : 'Error: root of the mean squared distance of pairs');
    this.host.time('build', answer.milliseconds);
    this.take(answer);
  }

  private what(): string {
    if (!this.ofFile()) return relaxes(this.host.values) ? 'A knot' : 'Two scans of a knot';
    return relaxes(this.host.values) || this.names.length < 2 ? this.names[0]! : this.names.join(' onto ');
  }

  private report(): void {
    const { points, given, notFinite } = this.state!;
    const some = given > points && this.ofFile() ? ` of ${count(given)}` : '';
    const left = notFinite && this.ofFile() ? `; ${plural(notFinite, 'point')} that ${notFinite === 1 ? 'is no number' : 'are no numbers'} left out` : '';
    const paused = this.host.paused ? ' Press “Play”, or “One step”.' : '';
    this.host.say(`${this.what()}: ${count(points)}${some} points${left}.${paused}`);
  }

  // ---- Steps

  private async step(): Promise<void> {
    const { host } = this;
    const { values } = host;
    if (this.stepping || !this.state || this.state.end) return;
    const mine = this.turn;
    this.stepping = true;
    this.stepped = host.seconds;
    try {
      const answer = relaxes(values)
        ? await host.job('cloud_relax', placed(cloudForce, {
            k: values['k'] as number, radius: values['by'] === 'radius' ? (values['radius'] as number) : 0, strength: values['strength'] as number,
          }))
        : await host.job('cloud_align', placed(cloudFit, { method: METHODS.indexOf(String(values['fit'])), findsOverlap: values['trim'] ? 1 : 0 }));
      if (mine !== this.turn) return;
      host.time('build', answer.milliseconds);
      this.take(answer);
      if (this.state.end) host.say(this.ending());
    } finally {
      if (mine === this.turn) this.stepping = false;
    }
  }

  private ending(): string {
    const { steps, left, end } = this.state!;
    if (end === cloudEnd.stopped) return `Stopped after ${plural(steps, 'step')}, without coming to rest.`;
    if (relaxes(this.host.values)) return `At rest after ${plural(steps, 'step')}: the points lie as evenly as they come.`;
    if (left < 0) return `At rest after ${plural(steps, 'step')}.`;
    return `${left < 1 ? 'Aligned' : 'At rest'} after ${plural(steps, 'step')}, ${left.toFixed(2)}° from its true place.`;
  }

  private take(answer: Answer): void {
    this.latest = answer;
    this.state = named(cloudState, answer.numbers);
    if (!this.host.gl.isContextLost()) this.put();
    this.tell();
  }

  private put(): void {
    const { host } = this;
    const { numbers, buffers } = this.latest!;
    host.upload(() => runJob(host.module, 'cloud_put', [...numbers], buffers));
    this.shown = true;
    this.drawing = false;
    this.draw();
  }

  private tell(): void {
    const { steps, end, error, pairs, left, unit, spacing } = this.state!;
    const relaxing = relaxes(this.host.values);
    const long = (length: number): string => Number((length / unit).toPrecision(3)).toString();
    const text = relaxing ? percent(100 * error) : long(error);
    const rows: [string, string][] = [['Step', `${count(steps)}${end ? ', the last' : ''}`]];
    if (relaxing) rows.push(['Unevenness', text], ['Spacing', long(spacing)]);
    else rows.push(['Error', text], ['Points that count', percent(100 * pairs)]);
    if (left >= 0) rows.push(['Still turned by', `${left.toFixed(left < 1 ? 3 : 1)}°`]);
    this.facts.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
    this.curve.put(steps, error, text);
  }

  private explain(): void {
    const { values } = this.host;
    const density = relaxes(values) && values['color'] === 'density';
    const distance = aligns(values) && values['tint'] === 'distance';
    this.legend.hidden = !density && !distance;
    if (density) this.legend.replaceChildren('thin', element('span', { class: 'cloud-scale' }), 'dense');
    if (distance) this.legend.replaceChildren('0', element('span', { class: 'cloud-scale cloud-far' }), '6 spacings');
  }

  private run(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!(error instanceof Superseded || this.host.gl.isContextLost())) this.host.say(error instanceof Error ? error.message : String(error));
    });
  }

  change(id: string, value: Value): void {
    const { host } = this;
    if (id === 'scan' && value === 'file' && !this.names.length) {
      host.set('scan', 'knot');
      host.say('No file is open: drop a PLY, PCD or XYZ here, or choose one with “Open file”.');
    } else if (id === 'scan' && value === 'knot' && host.values['apart'] === 0) {
      host.set('apart', APART); // files may have been in place
      this.run(this.make());
    } else if (['work', 'reset', 'scan', 'points', 'noise', 'apart', 'up'].includes(id)) {
      this.run(this.make());
    } else if (id === 'step') {
      if (this.state?.end) host.say(this.ending());
      this.run(this.step());
    } else if (['by', 'k', 'radius', 'strength', 'fit', 'trim'].includes(id)) {
      if (this.state?.end) this.run(this.make()); // it is at rest by the forces that there were
    } else {
      if (id === 'camera') this.camera = new Orbit(String(value));
      this.draw();
    }
  }

  private setAll(values: Values): void {
    for (const id in values) this.host.set(id, values[id]!);
  }

  async drop(name: string, bytes: ArrayBuffer, second?: { name: string; bytes: ArrayBuffer }): Promise<void> {
    const { host } = this;
    const { work, scan, apart } = host.values as { work: string; scan: string; apart: number };
    const { names } = this;
    const files = second ? [{ name, bytes }, second] : [{ name, bytes }];
    const buffers = files.flatMap((file) =>
      placed(pageFile, { bytes: file.bytes, name: new TextEncoder().encode(`${file.name}\0`).buffer as ArrayBuffer }).slice(0, stride(pageFile)));
    this.names = files.map((file) => file.name);
    this.setAll({ work: second ? 'align' : 'relax', scan: 'file', apart: second ? 0 : APART }); // two lie as their files say
    try {
      await this.begin('cloud_read', buffers);
    } catch (error) {
      this.names = names;
      this.setAll({ work, scan, apart });
      if (error instanceof Superseded) throw error;
      throw new SceneError(`${files.map((file) => file.name).join(', ')}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.report();
  }

  // ---- Pictures

  private draw(): void {
    this.wanted = true;
    if (this.drawing) this.host.redraw();
    else this.host.begin();
  }

  private moved(): void {
    this.host.set('camera', this.camera.text());
    this.draw();
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    this.drawing = false;
    this.wanted = true;
  }

  themeChanged(): void {
    this.draw();
  }

  // The shell calls again when the GPU has done what it was given.
  private look(): void {
    if (this.finished && this.fine) this.fineTakes = performance.now() - this.begun;
    this.finished = false;
  }

  private begins(): void {
    const { host, camera, size } = this;
    const { values } = host;
    const color = String(values[relaxes(values) ? 'color' : 'tint']) as keyof typeof cloudColor;
    // While it moves points have edges of whole pixels, unless the GPU is quick; at rest they are drawn anew.
    this.fine = !this.wanted || this.fineTakes < QUICK;
    this.wanted = false;
    this.drawing = true;
    this.begun = performance.now();
    this.remaining = this.state!.points;
    this.explain();
    host.module._cloud_show!(values['disc'] as number, cloudColor[color], host.colors.dark ? 1 : 0);
    host.module._cloud_begin!(size.width, size.height, camera.yaw, camera.pitch, camera.zoom, camera.x, camera.y, this.fine ? 1 : 0);
  }

  frame(share: number): boolean {
    const { host } = this;
    if (!this.shown) return false;
    this.look();
    if (!this.drawing) this.begins();
    const left = host.module._cloud_frame!(share, host.values['lines'] ? 1 : 0, host.values['pairs'] ? 1 : 0);
    this.drawing = left > 0;
    this.finished = !this.drawing;
    host.did(Math.min(1, (this.remaining - left) / share));
    this.remaining = left;
    if (this.finished && (this.wanted || !this.fine)) host.redraw();
    return this.drawing;
  }

  animate(): boolean {
    const { host } = this;
    const passed = Math.min(0.1, Math.max(0, host.seconds - this.before));
    this.before = host.seconds;
    if (!this.shown || passed === 0) return false;
    this.look();
    // A picture that takes a moment is seen before the next step changes it.
    const seen = !this.drawing && !this.wanted;
    if (seen && host.seconds - this.stepped >= 1 / (host.values['pace'] as number)) this.run(this.step());
    if (!host.values['turn'] || this.drawing) return false;
    this.camera.turn(0.16 * passed); // the address keeps where the reader left it
    this.draw();
    return true;
  }

  pointer(event: ScenePointer): boolean {
    return this.camera.pointer(event, this.size, () => this.moved());
  }

  key(event: KeyboardEvent): boolean {
    return this.camera.key(event, () => this.moved());
  }

  // ---- Verifying

  async verify(): Promise<string> {
    if (!this.state) throw new SceneError('There is no scan yet.');
    const { points, still } = this.state;
    const moves = points - still;
    const others = still || points;
    const samples = Math.round(Math.min(1000, Math.max(40, 2e6 / others)));
    const ids = Int32Array.from({ length: samples }, () => Math.floor(Math.random() * moves));
    const { numbers } = await this.host.job('cloud_check', [], { buffers: [ids] });
    const { right, normals } = named(cloudChecked, numbers);
    const truth = `those that brute force over all ${count(others)} finds`;
    if (still)
      return right === samples
        ? `Verified: of ${plural(samples, 'sampled point')} the pairs are ${truth}.`
        : `Wrong: of ${plural(samples, 'sampled point')} ${count(samples - right)} have other pairs than ${truth}.`;
    if (right === samples && normals === samples) return `Verified: the densities and normals of ${plural(samples, 'sampled point')} are ${truth}.`;
    return `Wrong: of ${plural(samples, 'sampled point')} ${count(samples - right)} densities and ${count(samples - normals)} normals are not ${truth}.`;
  }
}

export function cloud(): Scene {
  return new Cloud();
}
