// Voronoi: which of many sites is nearest to each pixel.
import './voronoi.css';
import {
  pageFile, voronoiAsk, voronoiBuilt, voronoiChange, voronoiCheck, voronoiChecked, voronoiChoice, voronoiChoose, voronoiChosen, voronoiEdit, voronoiFamily, voronoiMake, voronoiRead, voronoiView,
} from '../fields.js';
import { element } from '../shell/element.js';
import { runJob, sentence, type Answer } from '../shell/module.js';
import { SceneError, type Host, type Scene, type ScenePointer, type Value, type Values } from '../shell/scene.js';
import { Superseded } from '../shell/jobs.js';
import { named, placed, stride } from '../shell/named.js';
import { count, plural } from '../shell/words.js';
import { controls } from './voronoi_controls.js';

const MOST_MOVING = 50_000; // sites whose search is told while they move: it copies the tree from the GPU
const REACH = 14; // CSS pixels from a site within which it is taken hold of

type Chosen = Record<keyof typeof voronoiChosen, number>;

class Voronoi implements Scene {
  readonly name = 'voronoi';
  readonly title = 'Voronoi';
  readonly about = 'Every pixel looks for its nearest point in a k‑d tree, in a fragment shader. The tree is built in the background, anew for each picture while points move.';
  readonly keys = [
    ['drag', 'a site, or the view'], ['wheel, pinch', 'zoom'], ['Shift + click', 'add a site'], ['right click', 'delete a site'],
    ['arrows', 'move the cross hairs'], ['Enter', 'add a site there'], ['Delete', 'delete the nearest'],
    ['Space', 'take hold of the nearest, let go'], ['+  −', 'zoom'], ['Shift + arrows', 'move the view'],
  ] as const;
  readonly accepts = 'CSV, TSV, PLY, XYZ, NPY or PCD points';
  readonly suffixes = '.csv,.tsv,.txt,.xyz,.ply,.npy,.pcd';
  readonly webgl1 = true;
  readonly animated = true;
  readonly controls = controls;
  readonly share = { first: 512 * 512, least: 64 * 64, most: 4096 * 4096 };

  private host!: Host;
  private clock = 0; // seconds that sites have moved
  private last = 0; // of the host's
  private aspect = 0;
  private total = 0; // sites
  private other = ''; // what the sites are that no recipe makes: a file's, edited ones; '': none
  private made = ''; // by which values the worker made its sites, or had made them when a file came instead
  private epoch = 0; // of starts, stops and lost contexts: what waited meanwhile is pointless
  private edits: Promise<void> = Promise.resolve(); // the last one: ids change with each, so that they go one by one
  private width = 1;
  private height = 1;
  private ratio = 1;
  private fresh = true; // the picture has to be searched anew
  private searching = false;
  private building = false;
  private still = false; // while it is verified
  private cursor: { x: number; y: number } | null = null;
  private searched: { x: number; y: number } | undefined; // where the pointer was last: the search from there is told
  private keyboard = false; // the pointer is moved by keys
  private asked = false; // the pointer has moved since its sites were asked for
  private chosen: Chosen[] = [];
  private held = -1; // the site that is dragged
  private panning = false;
  private label!: HTMLElement;
  private cross!: HTMLElement;
  private legend!: HTMLElement;
  private sayTimer = 0;

  version(values: Values): 1 | 2 {
    return values['webgl'] === '1' ? 1 : 2;
  }

  beyond(): string {
    return this.other;
  }

  async start(host: Host): Promise<void> {
    this.host = host;
    if (host.version === 1) {
      host.set('webgl', '1');
      host.set('form', 'compact');
    }
    this.label = element('p', { class: 'chip', hidden: true });
    this.cross = element('div', { class: 'cross', hidden: true });
    this.legend = element('p', { class: 'chip legend', hidden: true });
    host.overlay.append(this.label, this.cross, this.legend);
    if (!this.aspect) {
      const box = host.canvas.getBoundingClientRect();
      this.aspect = Math.min(3, Math.max(0.4, box.width / (box.height || 1)));
    }
    this.last = host.seconds;
    this.cursor = null;
    this.searched = undefined;
    this.held = -1;
    await (this.made === this.recipe() ? this.ask('voronoi_move', []) : this.make());
    if (this.total) this.report();
  }

  stop(): void {
    clearTimeout(this.sayTimer);
    this.contextLost();
  }

  contextLost(): void {
    this.host.module._voronoi_stop!();
    this.chosen = [];
    this.searching = this.fresh = false;
    this.epoch++;
  }

  async contextRestored(): Promise<void> {
    await this.ask('voronoi_move', []);
  }

  // ---- Sites

  private get compact(): boolean {
    return this.host.values['form'] === 'compact' || this.host.version === 1;
  }

  private recipe(): string {
    const { values } = this.host;
    return `${values['family'] as string} ${values['sites'] as number} ${values['seed'] as number}`;
  }

  private async make(): Promise<void> {
    const { values } = this.host;
    this.made = this.recipe();
    this.other = '';
    await this.ask('voronoi_make', placed(voronoiMake, {
      family: voronoiFamily[values['family'] as keyof typeof voronoiFamily], sites: values['sites'] as number, aspect: this.aspect, seed: values['seed'] as number,
    }));
  }

  // A job of voronoi_sites.c, whose answer are the sites and what to search them with; `numbers` are its own ones.
  private async ask(name: string, numbers: number[], buffers: ArrayBuffer[] = []): Promise<void> {
    const { compact } = this;
    // Of pictures only the newest counts, but every site that is added or deleted.
    const newest = name !== 'voronoi_edit' || numbers[voronoiEdit.change] === voronoiChange.move ? name : undefined;
    this.building = true;
    try {
      const asked = placed(voronoiAsk, { seconds: this.clock, compact: compact ? 1 : 0 }, [...numbers]);
      const answer = await this.host.job(name, asked, { buffers, transfer: buffers, ...(newest && { newest }) });
      if (name === 'voronoi_edit') {
        if (!/edited/.test(this.other)) this.other = this.other ? `${this.other}, edited` : 'edited sites';
        this.host.remember();
      }
      this.take(answer, compact);
    } finally {
      this.building = false;
    }
  }

  private take(answer: Answer, compact: boolean): void {
    const { host } = this;
    if (host.gl.isContextLost() || compact !== this.compact) return;
    const { milliseconds, sites } = named(voronoiBuilt, answer.numbers);
    host.time('build', milliseconds);
    this.total = sites;
    host.upload(() => {
      if (!compact) runJob(host.module, 'voronoi_tree', [], answer.buffers);
      else if (this.total) runJob(host.module, 'voronoi_form', [...answer.numbers], answer.buffers);
    });
    this.again();
  }

  private again(): void {
    if (!this.total) {
      clearTimeout(this.sayTimer);
      this.label.hidden = this.cross.hidden = true;
      this.host.nothing('There are no sites. Press Enter on the picture, or Shift and click, to add one.');
      return;
    }
    this.fresh = true;
    this.asked = true;
    this.host.begin();
  }

  // What there is to see, in words.
  private report(): void {
    const { values } = this.host;
    const how = this.compact ? 'compact form' : `${values['walk'] as string} walk`;
    this.host.say(`${this.total === 1 ? 'One site' : `${count(this.total)} sites`}, ${how}, WebGL ${this.host.version}.`);
  }

  private run(name: string, numbers: number[], buffers: ArrayBuffer[] = []): void {
    this.ask(name, numbers, buffers).then(() => this.total && this.report(), (error: unknown) => {
      if (!(error instanceof Superseded)) this.tell(error);
    });
  }
  private tell(error: unknown): void {
    this.host.say(error instanceof Error ? error.message : String(error));
  }

  private drag(id: number, x: number, y: number): void {
    this.run('voronoi_edit', placed(voronoiEdit, { change: voronoiChange.move, site: id, x, y }));
  }
  private add(x: number, y: number): void {
    this.edit(() => placed(voronoiEdit, { change: voronoiChange.add, site: -1, x, y }));
  }
  private remove(x: number, y: number): void {
    this.held = -1;
    this.edit(() => {
      const nearest = this.nearest(x, y);
      return nearest && placed(voronoiEdit, { change: voronoiChange.delete, site: nearest.id, x: 0, y: 0 });
    });
  }

  // Does an edit once those before it are done and shown; `what` says then what it is.
  private edit(what: () => number[] | undefined): void {
    const { epoch } = this;
    this.edits = this.edits.then(async () => {
      const numbers = epoch === this.epoch ? what() : undefined;
      if (!numbers) return;
      await this.ask('voronoi_edit', numbers);
      if (this.total) this.report();
    }).catch((error: unknown) => {
      if (!(error instanceof Superseded)) this.tell(error);
    });
  }

  change(id: string, _value: Value): void {
    const { host } = this;
    if (id === 'again') host.set('seed', (host.values['seed'] as number) + 1);
    if (id === 'sites' || id === 'family' || id === 'again' || id === 'seed') {
      void this.make().then(() => this.report(), (error: unknown) => {
        if (!(error instanceof Superseded)) this.tell(error);
      });
    } else if (id === 'home') {
      this.look(0.5, 0.5, 1);
    } else if (id === 'webgl') {
      if (host.values['webgl'] === '2') host.set('form', 'exact');
      host.restart();
    } else if (id === 'form') {
      if (host.version === 1 && host.values['form'] === 'exact') {
        host.set('webgl', '2');
        host.restart();
      } else {
        this.run('voronoi_move', []);
      }
    } else if (id === 'walk' || id === 'view') {
      this.again();
      if (id === 'walk') this.report();
      if (this.compact && host.values['view'] === 'work') host.say('The compact search counts no nodes: its work is not shown.');
    } else if (id === 'x' || id === 'y' || id === 'zoom' || id === 'near') {
      this.again();
    } else if (id !== 'tool') {
      host.redraw();
    }
  }

  // ---- Where we look

  private step(): number { // of the field, from pixel to pixel
    return Math.max(this.aspect / this.width, 1 / this.height) / (this.host.values['zoom'] as number);
  }
  private corner(): [number, number] {
    const { values } = this.host;
    const step = this.step();
    return [(values['x'] as number) * this.aspect - 0.5 * step * this.width, (values['y'] as number) - 0.5 * step * this.height];
  }
  private place(x: number, y: number): [number, number] {
    const [left, top] = this.corner();
    return [left + x * this.step(), top + y * this.step()];
  }
  private look(x: number, y: number, zoom: number): void {
    const round = (v: number): number => Number(v.toPrecision(7));
    this.host.set('x', round(Math.min(2, Math.max(-1, x))));
    this.host.set('y', round(Math.min(2, Math.max(-1, y))));
    this.host.set('zoom', round(Math.min(100000, Math.max(0.2, zoom))));
    this.again();
  }
  private zoom(x: number, y: number, by: number, dx = 0, dy = 0): void {
    const { values } = this.host;
    const before = this.place(x - dx, y - dy);
    const zoom = Math.min(100000, Math.max(0.2, (values['zoom'] as number) * by));
    const step = Math.max(this.aspect / this.width, 1 / this.height) / zoom;
    this.look((before[0] + (0.5 * this.width - x) * step) / this.aspect, before[1] + (0.5 * this.height - y) * step, zoom);
  }

  resize(width: number, height: number, ratio: number): void {
    Object.assign(this, { width, height, ratio });
    this.again();
  }

  // ---- Pictures

  animate(): boolean {
    const { host } = this;
    const passed = (host.seconds - this.last) * (host.values['motion'] as number);
    this.last = host.seconds;
    if (this.still || passed <= 0) return false;
    this.clock += passed;
    if (!this.building && !this.searching && this.total && this.held < 0)
      this.ask('voronoi_move', []).catch((error: unknown) => {
        if (!(error instanceof Superseded)) this.tell(error);
      });
    return false;
  }

  frame(share: number): boolean {
    const { module, values } = this.host;
    const view = this.compact && values['view'] === 'work' ? 'cells' : (values['view'] as keyof typeof voronoiView);
    const [left, top] = this.corner();
    module._voronoi_show!(voronoiView[view], values['levels'] as number, values['dots'] ? 1 : 0);
    if (this.fresh) {
      module._voronoi_look!(this.width, this.height, this.ratio, left, top, this.step(), this.aspect);
      module._voronoi_begin!(share, values['walk'] === 'stack' ? 1 : 0, view === 'work' ? 1 : 0);
      this.fresh = false;
    }
    if (this.asked) this.choose();
    const left_over = module._voronoi_frame!(share);
    if (left_over < 0) throw new SceneError(sentence(module));
    this.host.did(Math.min(1, module._voronoi_part!(share)));
    this.searching = left_over === 1;
    this.showLegend(view);
    return this.searching;
  }

  private showLegend(view: string): void {
    this.legend.hidden = view !== 'work';
    if (view !== 'work') return;
    const { module } = this.host;
    const bar = element('span', { class: 'heat' });
    this.legend.replaceChildren(`${Math.round(module._voronoi_work!(0))}`, bar, `${Math.round(module._voronoi_work!(1))} nodes`);
  }

  themeChanged(): void {
    this.host.redraw();
  }

  // ---- What is pointed at

  // Asks the GPU for the sites nearest to the pointer, and says so beside it.
  private choose(): void {
    this.asked = false;
    const { module, values } = this.host;
    const [x, y] = this.cursor ? this.place(this.cursor.x, this.cursor.y) : [0, 0];
    const { numbers } = runJob(module, 'voronoi_choose', placed(voronoiChoose, { x, y, count: this.cursor ? 1 + (values['near'] as number) : 0 }));
    this.chosen = Array.from({ length: numbers[voronoiChoice.count]! }, (_, i) =>
      named(voronoiChosen, numbers.subarray(voronoiChoice.first + i * stride(voronoiChosen))));
    const [nearest, ...others] = this.chosen;
    this.label.hidden = !nearest;
    this.cross.hidden = !this.keyboard || !this.cursor;
    if (this.cursor) this.cross.style.translate = `${this.cursor.x / this.ratio}px ${this.cursor.y / this.ratio}px`;
    if (!nearest) return;
    const text = `Site ${count(nearest.id)}, ${(nearest.away / this.step() / this.ratio).toFixed(1)} px away`;
    const rest = others.length ? ` · then ${others.map((o) => count(o.id)).join(', ')}` : '';
    this.label.textContent = text + rest;
    if (this.keyboard) {
      clearTimeout(this.sayTimer);
      this.sayTimer = window.setTimeout(() => this.host.say(`${text}${rest}.`), 400);
    }
  }

  private point(at: { x: number; y: number } | null, keyboard: boolean): void {
    this.cursor = at;
    this.searched = at ?? this.searched;
    this.keyboard = keyboard;
    if (!this.total) return;
    this.asked = true;
    this.host.redraw();
  }

  told(): { x: number; y: number } | null | undefined {
    const { searched: at } = this;
    const { values, paused } = this.host;
    if (!at || this.compact || !values['search'] || (values['motion'] && !paused && this.total > MOST_MOVING)) return undefined;
    const busy = !this.total || this.held >= 0 || this.panning;
    return busy ? null : { x: Math.min(this.width - 1, Math.floor(at.x)), y: Math.min(this.height - 1, Math.floor(at.y)) };
  }

  private nearest(x: number, y: number): Chosen | undefined {
    this.cursor = { x, y };
    this.choose();
    return this.chosen[0];
  }

  private press(event: ScenePointer): void {
    const nearest = this.nearest(event.x, event.y);
    const within = nearest && nearest.away / this.step() <= REACH * this.ratio * (event.touch ? 1.7 : 1);
    const moves = this.host.values['tool'] === 'move' && !event.shift;
    this.held = within && moves ? nearest.id : -1;
    this.panning = this.held < 0;
    this.host.canvas.classList.toggle('holding', this.held >= 0);
    this.host.redraw();
  }

  pointer(event: ScenePointer): boolean {
    const { values } = this.host;
    const [x, y] = this.place(event.x, event.y);
    switch (event.type) {
      case 'down':
        this.press(event);
        break;
      case 'move':
        if (event.held && this.held >= 0) this.drag(this.held, x, y);
        else if (event.held && this.panning) this.zoom(event.x, event.y, 1, event.dx, event.dy);
        this.point({ x: event.x, y: event.y }, false);
        break;
      case 'click':
        if (values['tool'] === 'add' || event.shift) this.add(x, y);
        else if (values['tool'] === 'delete') this.remove(event.x, event.y);
        else this.point({ x: event.x, y: event.y }, false);
        break;
      case 'menu':
        this.remove(event.x, event.y);
        break;
      case 'wheel':
        this.zoom(event.x, event.y, event.scale);
        this.point({ x: event.x, y: event.y }, false);
        break;
      case 'pinch':
        this.zoom(event.x, event.y, event.scale, event.dx, event.dy);
        break;
      case 'leave':
        if (!this.keyboard || document.activeElement !== this.host.canvas) this.point(null, false);
        break;
      default:
        break;
    }
    if (event.type === 'up' || event.type === 'cancel') {
      this.held = -1;
      this.panning = false;
      this.host.canvas.classList.remove('holding');
      this.host.redraw();
    }
    return true;
  }

  key(event: KeyboardEvent): boolean {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] as [number, number] | undefined;
    const at = this.cursor ?? { x: this.width / 2, y: this.height / 2 };
    if (arrow && event.shiftKey) {
      this.zoom(at.x, at.y, 1, -arrow[0] * 0.1 * this.width, -arrow[1] * 0.1 * this.height);
    } else if (arrow) {
      const by = 12 * this.ratio;
      const to = { x: Math.min(this.width - 1, Math.max(0, at.x + arrow[0] * by)), y: Math.min(this.height - 1, Math.max(0, at.y + arrow[1] * by)) };
      if (this.held >= 0) this.drag(this.held, ...this.place(to.x, to.y));
      this.point(to, true);
    } else if (key === '+' || key === '=' || key === '-' || key === '−') {
      this.zoom(this.width / 2, this.height / 2, key === '+' || key === '=' ? 1.25 : 0.8);
    } else if (key === 'Enter') {
      this.add(...this.place(at.x, at.y));
      this.point(at, true);
    } else if (key === 'Delete' || key === 'Backspace') {
      this.remove(at.x, at.y);
      this.point(at, true);
    } else if (key === ' ') {
      const nearest = this.held < 0 ? this.nearest(at.x, at.y) : undefined;
      this.held = nearest ? nearest.id : -1;
      this.host.say(nearest ? `Holding site ${count(nearest.id)}: the arrows move it, the space bar lets it go.` : 'Let go.');
      this.point(at, true);
    } else if (key === 'Escape' && (this.cursor || this.searched)) {
      this.held = -1;
      this.searched = undefined;
      this.point(null, false);
    } else {
      return false;
    }
    return true;
  }

  async drop(name: string, bytes: ArrayBuffer): Promise<void> {
    const text = new TextEncoder().encode(`${name}\0`);
    this.clock = 0;
    try {
      await this.ask('voronoi_read', placed(voronoiRead, { aspect: this.aspect }), placed(pageFile, { bytes, name: text.buffer as ArrayBuffer }));
    } catch (error) {
      if (error instanceof Superseded) throw error;
      throw new SceneError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.made = this.recipe();
    this.other = name;
    this.look(0.5, 0.5, 1);
    this.host.say(`${name}: ${this.total === 1 ? 'one point' : `${count(this.total)} points`}.`);
  }

  // ---- Verifying

  // Waits for the picture of the sites that the worker has now.
  private async settle(): Promise<void> {
    const { epoch } = this;
    this.host.redraw();
    do {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (epoch !== this.epoch) throw new Superseded('The picture went away meanwhile.');
    } while (this.building || this.searching || this.fresh);
  }

  async verify(): Promise<string> {
    if (!this.total) return 'There are no sites to compare with.';
    this.still = true;
    try {
      await this.settle();
      const samples = Math.round(Math.min(1000, Math.max(100, 4e8 / this.total)));
      const pixels = new Int32Array(2 * samples);
      for (let i = 0; i < samples; i++) {
        pixels[2 * i] = Math.floor(Math.random() * this.width);
        pixels[2 * i + 1] = Math.floor(Math.random() * this.height);
      }
      const shown = runJob(this.host.module, 'voronoi_answers', [], [pixels]);
      const allowed = this.compact ? (1.6 * 1.1 * Math.max(1, this.aspect)) / 32767 : 2e-7;
      const { numbers } = await this.host.job('voronoi_check', placed(voronoiCheck, { allowed }), { buffers: shown.buffers, transfer: shown.buffers });
      const { right, near, places: all, worst } = named(voronoiChecked, numbers);
      const sites = `the nearest of ${plural(this.total, 'site')}`;
      const walked = !this.compact && this.host.values['walk'] === 'stack' ? ', found with a stack,' : '';
      if (right === all) return `Verified: all ${count(all)} sampled pixels${walked} name ${sites}, as brute force does.`;
      const rounded = this.compact ? 'for rounding to 15 bits' : 'within rounding of a tie';
      if (right + near === all)
        return `Verified: of ${count(all)} sampled pixels${walked} ${count(right)} name ${sites}, the other ${count(near)} one as near ${rounded}.`;
      return `Wrong: of ${count(all)} sampled pixels${walked} ${count(all - right - near)} do not name ${sites}; the worst is ${(worst / this.step()).toPrecision(2)} pixels farther away.`;
    } finally {
      this.still = false;
    }
  }
}

export function voronoi(): Scene {
  return new Voronoi();
}
