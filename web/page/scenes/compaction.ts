// Compaction: which cells of a volume its surface runs through, as a list. Slices scattered over a texture, the pyramid of
// sums over them, and what a key meets on its way down.
import './compaction.css';
import { compactionArea, compactionChecked, compactionForm, compactionFound, compactionLevel, volumeMake, volumeShape } from '../fields.js';
import { accepts, closeForm, numbersOf, openVolume, suffixes, type RawForm, type VolumeFile } from './raw.js';
import { follow, items, texelOf, zoom } from './compaction_way.js';
import { element } from '../shell/element.js';
import { Superseded } from '../shell/jobs.js';
import { sentence } from '../shell/module.js';
import { named, placed, stride } from '../shell/named.js';
import type { PageModule } from '../shell/module.js';
import { SceneError } from '../shell/scene.js';
import { shape } from '../shell/story.js';
import type { Host, Scene, ScenePointer, Value } from '../shell/scene.js';
import { count, plural } from '../shell/words.js';

export const shapes = [
  { value: 'skull', label: 'Skull' },
  { value: 'gyroid', label: 'Gyroid' },
  { value: 'metaballs', label: 'Metaballs' },
  { value: 'asteroid', label: 'Asteroid' },
  { value: 'sextic', label: 'Barth’s sextic' },
] as const satisfies readonly { value: Exclude<keyof typeof volumeShape, 'dropped'>; label: string }[];

const { list: LIST, nothing: NOTHING } = compactionLevel;
const SECONDS_A_STEP = 2.4; // time to read what it says
const [FIRST, WHOLE] = ['16', 25]; // samples on a side at first; the last step of the most samples, beyond or at that of any
type Area = Record<keyof typeof compactionArea, number>;

export function compaction(): Scene {
  let host: Host;
  let module: PageModule;
  let size = { width: 1, height: 1, ratio: 1 };
  let ready = false; // a volume and a pyramid are there
  let stale = true; // the list is of another level
  let marking = NaN; // the level at which cells are being marked
  let marked = 0; // rows of them
  let total = -1;
  let told = -1; // the total that was told last
  let expected = 0;
  let pointed: Record<keyof typeof compactionFound, number> = { level: NOTHING, node: 0 };
  let direction = 1;
  let played = ''; // the control that was last set by itself; '': by the reader
  let before = 0; // seconds at the last step of the animation
  let dropped = ''; // the name of the volume that takes the place of a shape
  let making = 0; // volumes that were asked for
  let taken = 0; // the one that is in the context
  let last = Infinity; // the last step, of the pyramid before

  const check = (status: number) => {
    if (status !== 0) throw new SceneError(sentence(module));
  };
  const text = (id: string) => String(host.values[id]);
  const number = (id: string) => Number(host.values[id]);
  const steps = () => text('view') === 'steps';
  const levels = () => module._compaction_levels!();
  const lastStep = () => 2 * levels() + 3;

  // How much of the picture is there at the present step.
  function shown() {
    const step = steps() ? number('step') : lastStep();
    return { levels: Math.min(step - 1, levels()), way: step - levels() - 1, listed: step >= lastStep(), step };
  }

  async function makeVolume() {
    const turn = ++making;
    const side = Number(text('size'));
    const shape = volumeShape[dropped ? 'dropped' : (text('shape') as keyof typeof volumeShape)];
    const answer = await host.job('compaction', placed(volumeMake, { shape, side }), { newest: 'compaction' });
    if (turn !== making || host.gl.isContextLost()) return;
    host.time('build', answer.milliseconds);
    host.upload(() => {
      const bytes = new Uint8Array(answer.buffers[0]!);
      const at = module._page_allocate(bytes.length) >>> 0;
      if (!at) throw new SceneError('There is no memory for the volume.');
      module.HEAPU8.set(bytes, at);
      check(module._compaction_volume!(at, side));
    });
    taken = turn;
    makePyramid();
  }

  async function readVolume(file: VolumeFile, raw: RawForm): Promise<void> {
    await host.job('compaction_read', numbersOf(raw), { buffers: [file.bytes] });
    dropped = file.name;
    host.set('level', 0); // where its values part in two
    told = -1;
    await makeVolume();
  }

  function failed(error: unknown): void {
    if (!(error instanceof Superseded || host.gl.isContextLost())) host.say(error instanceof Error ? error.message : String(error));
  }

  function makePyramid() {
    const wasWhole = number('step') >= last;
    ready = false;
    check(module._compaction_make!(compactionForm[text('form') as keyof typeof compactionForm]));
    ready = true;
    last = lastStep();
    host.range('step', 0, last);
    if (wasWhole || number('step') > last) host.set('step', last);
    outdated();
    resized();
  }

  function outdated() {
    stale = true;
    marking = NaN;
    pointed = { level: NOTHING, node: 0 };
    host.begin();
  }

  // Marks about so many cells, and lists them when all are marked, if that has not been done for this level. Whether more
  // of them are to be marked.
  function run(cells = Infinity): boolean {
    if (!stale) return false;
    const [width, height] = [module._compaction_width!(), module._compaction_height!()];
    if (marking !== number('level')) [marking, marked] = [number('level'), 0];
    const rows = Math.max(1, Math.min(height, Math.floor(cells / width)));
    check(module._compaction_mark!(marking, marked, rows));
    marked += rows;
    if (marked < height) return true;
    const reads = text('total') === 'read';
    // Half as many again as there were last: what comes beyond is cut off.
    if (!reads && !expected) expected = Math.max(256, total >= 0 ? Math.ceil(1.5 * total) : Math.ceil((width * height) / 4));
    check(module._compaction_run!(reads ? 0 : expected));
    stale = false;
    marking = NaN;
    if (reads || host.paused) total = module._compaction_total!();
    if (reads) expected = 0;
    if (total > 0) host.range('key', 0, total - 1);
    return false;
  }

  const way = (key: number) => follow(module, key, levels());
  const cellOf = (key: number): number => way(key).cell;

  function placeOf(cell: number): string {
    const width = module._compaction_width!();
    const columns = module._compaction_columns!();
    const side = width / columns;
    const { column, row } = texelOf(module, 0, cell);
    const slice = Math.floor(row / side) * columns + Math.floor(column / side);
    return `slice ${slice}, column ${column % side}, row ${row % side}`;
  }

  // The key whose way is drawn: what is pointed at, else the slider's. -1: there is none.
  function keyNow(): number {
    if (total <= 0) return -1;
    if (pointed.level === LIST) return pointed.node;
    if (pointed.level === 0 && module._compaction_sum_of!(0, pointed.node)) return module._compaction_ahead!(0, pointed.node);
    return Math.min(number('key'), total - 1);
  }

  // The node whose 2 × 2 are shown large: what is pointed at, else at the present step over the key's cell.
  function zoomed(): { level: number; node: number } | undefined {
    const { level, node } = pointed;
    if (level >= 0) return level ? { level, node } : { level: 1, node: Math.floor(node / 4) };
    const { step } = shown();
    const [top, key] = [levels(), keyNow()];
    if (key < 0 || step < 2) return undefined;
    const at = level === NOTHING && steps() ? (step <= top + 1 ? step - 1 : Math.min(top, Math.max(1, 2 * top + 3 - step))) : 1;
    return { level: at, node: way(key).steps[top - at]!.node };
  }

  // ---- Words

  function tellPointed(): string {
    const { level, node } = pointed;
    if (level === NOTHING) return '';
    if (level === LIST) return `Entry ${count(node)} of the list: cell ${count(cellOf(node))}, ${placeOf(cellOf(node))}.`;
    const sum = module._compaction_sum_of!(level, node);
    const ahead = module._compaction_ahead!(level, node);
    if (level === 0)
      return `Cell ${count(node)}, ${placeOf(node)}: ${sum ? `the surface runs through it; entry ${count(ahead)} of the list` : 'not kept'}.`;
    const cells = 4 ** level;
    return `Level ${level}, node ${count(node)}: of cells ${count(node * cells)} to ${count((node + 1) * cells - 1)} ${count(sum)} are kept; ${count(ahead)} are ahead of them.`;
  }

  function tellTotal(): string {
    const name = dropped ? `${dropped}, resampled` : shapes.find((s) => s.value === text('shape'))!.label;
    const at = `at level ${number('level').toFixed(2)}`;
    return total ? `${name}: ${count(total)} of ${plural(Number(text('size')) ** 3, 'cell')} kept ${at}.` : `${name}: no cell is kept, for no surface runs through it ${at}. The list is empty.`;
  }

  function tellStep(): string {
    const { step, way: passed } = shown();
    const top = levels();
    if (!steps()) return `${plural(total, 'cell')} kept. The level moves, and every picture makes its list anew; ${text('total') === 'read' ? 'only its length is read back' : 'nothing is read back'}.`;
    if (step === 0) return 'A volume as slices, side by side in one texture. Bright samples are inside: at or above the level.';
    if (step === 1) return 'The surface runs through a cell if some of its eight corners are inside, and not all. These cells are kept; they lie scattered, and their colour is their place in space.';
    if (step === 2) return 'Level 1: every texel is the sum of 2 × 2 cells, which count in the order of a Z. The more of them are kept, the stronger its colour.';
    if (step <= top) return `Level ${step - 1}: sums of 2 × 2 texels of level ${step - 2}, so of ${count(4 ** (step - 1))} cells.`;
    if (step === top + 1) return `Level ${top} is a single texel, the total: ${plural(total, 'cell')}. That is the length of the list.`;
    const key = keyNow();
    if (key < 0) return 'No cell is kept at this level: there is no key to follow.';
    if (step === top + 2) return `Now all entries of the list look for their cells, in parallel. Entry ${count(key)} starts at the total with its number as key.`;
    if (step < lastStep() && passed <= top + 1) {
      const at = way(key).steps[passed - 2]!;
      const last = at.ahead + at.children[at.taken]! - 1;
      return `Of the 2 × 2 below level ${at.level}, in Z order, the key ${count(at.key)} falls into number ${at.taken + 1}, which has ${count(at.ahead)} to ${count(last)}. Left of the key: ${count(at.key - at.ahead)}.`;
    }
    return `Cell ${count(cellOf(key))} is found, and so is every other: the list has them in Z order, without a gap. No shader wrote to a place of its own choice: every entry found its cell by reading.`;
  }

  function showWords() {
    const { details } = host; // a raw volume's form may stand there, too
    if (!details.querySelector('.way')) {
      details.append(element('p', { class: 'way-text' }));
      shape(details, 'svg', { class: 'guide-figure', role: 'img' });
      details.append(element('ol', { class: 'way', 'aria-label': 'A key’s way down the pyramid' }));
    }
    const [words, figure, list] = ['.way-text', '.guide-figure', '.way'].map((which) => details.querySelector(which));
    words!.textContent = tellPointed() || tellStep();
    const key = keyNow();
    const { way: passed, step } = shown();
    const whole = !steps() || pointed.level !== NOTHING || step >= lastStep();
    const there = key >= 0 && (whole || passed > 0) && readable();
    list!.replaceChildren(...(there ? items(way(key).steps, whole ? levels() : passed - 1) : []));
    const large = readable() ? zoomed() : undefined;
    figure!.replaceChildren();
    figure!.toggleAttribute('hidden', !large);
    if (large) zoom(module, figure as SVGElement, large.level, large.node);
  }

  // Numbers take a readback, which waits for the GPU: not while a large volume's level moves.
  function readable(): boolean {
    if (stale || total < 0) return false;
    const small = Number(text('size')) <= 32;
    if (!small && !steps() && !host.paused) return false;
    check(module._compaction_read!());
    return true;
  }

  // `next`: what stands to the right of it, which the words do not reach; numbers that do not fit are left out.
  function label(box: Area, words: string, where: 'above' | 'middle', next?: number) {
    const element = host.overlay.appendChild(document.createElement('div'));
    element.className = `compaction-label${where === 'middle' ? ' compaction-middle' : ''}`;
    element.innerHTML = words;
    const { ratio } = size;
    element.style.left = `${(where === 'middle' ? box.x + box.width / 2 : box.x) / ratio}px`;
    if (next !== undefined) element.style.maxWidth = `${Math.max(0, (next - box.x) / ratio - 8)}px`;
    element.style.top = `${where === 'above' ? box.y / ratio - 20 : (box.y + box.height) / ratio + 4}px`;
  }

  function showLabels() {
    const at = (module._compaction_layout!(size.width, size.height, size.ratio) >>> 0) / 4;
    const boxes = Array.from({ length: levels() + 2 }, (_, i) => named(compactionArea, module.HEAPF32.subarray(at + i * stride(compactionArea))));
    host.overlay.replaceChildren();
    const side = Number(text('size'));
    const list = boxes[levels() + 1]!;
    label(boxes[0]!, `<b>Slices</b> <span>${plural(side ** 3, 'cell')}</span>`, 'above', boxes[1]!.x);
    label(boxes[1]!, '<b>Pyramid</b>', 'above', list.x > boxes[1]!.x ? list.x : size.width);
    const kept = shown().step > levels() && total >= 0;
    label(list, kept ? `<b>List</b> <span>${plural(total, 'cell')}</span>` : '<b>List</b>', 'above', size.width);
    for (let i = 1; i <= levels(); i++) label(boxes[i]!, String(i), 'middle');
  }

  function resized() {
    if (!ready) return;
    showLabels();
    host.redraw();
  }

  // ---- What the shell calls

  return {
    name: 'compaction',
    title: 'Compaction',
    about: 'A histopyramid makes a list of the cells that a surface runs through, in fragment shaders that cannot append to a list.',
    keys: [
      ['← →', 'the entry ahead of this one, the next one'],
      ['↑ ↓', 'a hundred entries back, on'],
      ['[ ]', 'a step back, on'],
    ],
    accepts,
    suffixes,
    webgl1: false,
    animated: true,
    share: { first: 1 << 19, least: 1 << 16, most: 1 << 24 }, // cells to mark
    controls: [
      { kind: 'choice', id: 'view', label: 'View', key: 'w', initial: 'steps', options: [{ value: 'steps', label: 'Step by step' }, { value: 'live', label: 'Live' }], help: 'Step by step, or all at once while the level moves.' },
      { kind: 'slider', id: 'step', label: 'Step', least: 0, most: WHOLE, initial: WHOLE, shown: (v) => v.view === 'steps', help: 'Samples, cells, level by level up; then a key’s way down, and the list.' },
      { kind: 'slider', id: 'key', label: 'Key', least: 0, most: 128 ** 3, initial: 200, help: 'The entry of the list whose way is shown.' },
      { kind: 'slider', id: 'level', label: 'Level', least: -0.9, most: 0.9, step: 0.01, initial: 0, text: (v) => v.toFixed(2), help: 'Samples of at least this value are inside.' },
      { kind: 'choice', id: 'shape', label: 'Shape', key: 'o', initial: 'asteroid', options: shapes, group: 'Volume' },
      { kind: 'choice', id: 'size', label: 'Samples', initial: FIRST, group: 'Volume', options: [FIRST, '32', '64', '128'].map((value) => ({ value, label: `${value}³` })) },
      { kind: 'choice', id: 'form', label: 'Form', key: 'f', initial: 'plain', group: 'Pyramid', help: 'A texel is a sum, as a float; or the running sums of its 2 × 2; or a sum as four bytes.', options: [{ value: 'plain', label: 'Plain' }, { value: 'vec4', label: 'vec4' }, { value: 'bytes', label: 'Bytes' }] },
      { kind: 'choice', id: 'total', label: 'Total', initial: 'read', group: 'Pyramid', help: 'Read back, which waits for the GPU; or expected to be at most one and a half times the last one, which does not wait.', options: [{ value: 'read', label: 'Read' }, { value: 'expected', label: 'Expected' }] },
    ],

    beyond: () => dropped,
    played: () => played,
    async start(given) {
      host = given;
      module = given.module;
      ready = false;
      played = '';
      last = Infinity;
      before = host.seconds;
      await makeVolume();
      if (!ready || host.paused || number('step') < last) return;
      host.set('step', 0); // from the beginning
      played = 'step';
    },
    stop() {
      making++;
      ready = false;
      dropped = '';
      void host.job('compaction_forget', []).catch(() => undefined);
      module._compaction_stop!();
      host.details.replaceChildren();
      host.overlay.replaceChildren();
    },
    change(id: string, value: Value) {
      if (id === played || id === 'view') played = '';
      if (id === 'shape') {
        dropped = '';
        closeForm(host);
      }
      if (id === 'shape' || id === 'size') {
        makeVolume().catch(failed);
        return;
      }
      if (!ready) return;
      if (id === 'form') makePyramid();
      if (id === 'level' || id === 'total') outdated();
      if (id === 'step' || id === 'key' || id === 'view') host.redraw();
      pointed = { level: NOTHING, node: 0 };
      if (id === 'step' && typeof value === 'number') {
        run();
        if (readable()) host.say(tellStep());
      }
    },
    resize(width, height, ratio) {
      size = { width, height, ratio };
      resized();
    },
    frame(cells) {
      if (!ready) return false;
      host.did(stale ? 1 : NaN);
      if (run(cells)) return true;
      if (host.paused && total < 0) total = module._compaction_total!();
      const known = readable();
      const { levels: revealed, way: passed, listed } = shown();
      const follows = steps() || pointed.level !== NOTHING;
      const key = known && follows && (passed > 0 || pointed.level !== NOTHING) ? keyNow() : -1;
      showLabels();
      showWords();
      const whole = pointed.level !== NOTHING || !steps();
      const { level, node } = (pointed.level === NOTHING && known && zoomed()) || pointed;
      module._compaction_frame!(size.height, revealed, listed ? 1 : 0, key, whole ? levels() + 1 : passed - 1, level, node);
      if (told !== total && (steps() || host.paused)) host.say(tellTotal());
      told = total;
      return false;
    },
    animate() {
      if (!ready) return false;
      const passed = host.seconds - before;
      if (steps()) {
        const last = lastStep();
        const step = number('step');
        if (passed >= 0 && passed < SECONDS_A_STEP * (step >= last ? 3 : 1)) return false;
        before = host.seconds;
        played = 'step';
        host.set('step', step >= last ? 0 : step + 1);
        return true;
      }
      if (passed >= 0 && passed < 0.03) return false;
      before = host.seconds;
      let level = number('level') + direction * 0.01 * Math.max(1, Math.min(5, Math.round(passed / 0.05)));
      if (Math.abs(level) > 0.7) direction = level > 0 ? -1 : 1;
      level = Math.round(100 * level) / 100;
      played = 'level';
      host.set('level', level);
      outdated();
      return true;
    },
    pointer(event: ScenePointer) {
      if (!ready || event.type === 'wheel' || event.type === 'pinch' || event.type === 'menu') return false;
      const gone = event.type === 'cancel' || (event.type === 'leave' && !event.touch); // what a finger touched stays when it is lifted
      if (!gone && !readable()) return false;
      const at = gone ? 0 : (module._compaction_at!(event.x, event.y) >>> 0) / 8;
      pointed = gone ? { level: NOTHING, node: 0 } : named(compactionFound, module.HEAPF64.subarray(at));
      if (event.type === 'click' && pointed.level !== NOTHING) {
        const key = keyNow();
        if (key >= 0 && (pointed.level === LIST || pointed.level === 0)) host.set('key', key);
        host.say(tellPointed());
      }
      host.redraw();
      return pointed.level !== NOTHING;
    },
    key(event) {
      const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -100, ArrowDown: 100 };
      const move = moves[event.key];
      const turn = event.key === '[' ? -1 : event.key === ']' ? 1 : 0;
      if (!ready || (move === undefined && !turn)) return false;
      pointed = { level: NOTHING, node: 0 };
      if (move !== undefined && total > 0) {
        host.set('key', Math.max(0, Math.min(total - 1, number('key') + move)));
        if (readable()) host.say(`Entry ${count(number('key'))}: cell ${count(cellOf(number('key')))}, ${placeOf(cellOf(number('key')))}.`);
      }
      if (turn && steps()) {
        played = '';
        host.set('step', Math.max(0, Math.min(lastStep(), number('step') + turn)));
        if (readable()) host.say(tellStep());
      }
      host.redraw();
      return true;
    },
    drop(name, bytes) {
      const file = { name, bytes };
      return openVolume(host, file, (raw) => readVolume(file, raw), failed);
    },
    async verify() {
      if (!ready) throw new SceneError('There is no list yet.');
      run();
      const at = module._compaction_check!() >>> 0;
      if (!at) throw new SceneError('There is no memory for the check, or the context is lost.');
      const { listed, wrong, kept, total: found } = named(compactionChecked, module.HEAPF64.subarray(at / 8));
      total = found;
      host.redraw();
      if (wrong || kept !== found) return `Wrong: ${count(wrong)} of ${count(listed)} entries differ from the CPU’s list of ${count(kept)}; the pyramid’s total is ${count(found)}.`;
      if (!kept) return 'Verified: the list is empty, and so is that of sap_compact on the CPU.';
      if (listed < kept) return `Verified: the first ${count(listed)} of ${count(kept)} cells, as many as were expected, are those of sap_compact on the CPU, in the same order.`;
      return `Verified: all ${count(kept)} entries are those of sap_compact on the CPU, in the same order, and so is the total.`;
    },
    contextLost() {
      ready = false;
      module._compaction_lost!();
    },
    async contextRestored() {
      if (taken !== making) return makeVolume(); // the context went while one was being made
      check(module._compaction_restore!());
      makePyramid();
    },
  };
}
