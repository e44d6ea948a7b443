// Compaction, told: cells are marked, 2 × 2 become a sum, level upon level to the total; then an entry of the list goes down and finds its cell.
import { compactionArea, compactionFound, compactionLevel } from '../fields.js';
import { named, stride } from '../shell/named.js';
import { shape, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count, plural } from '../shell/words.js';
import { chain } from './pyramid_guide.js';
import { follow, texelOf, zoom, type Step as Way } from './compaction_way.js';

type Area = Record<keyof typeof compactionArea, number>;
const { list: LIST, nothing: NOTHING } = compactionLevel;
const [MARKED, FOUR, LEVELS, KEY, ENTRIES] = [0, 1, 2, 3, 4];
const SIDE = 16; // samples on a side of the volume
const ordinals = ['first', 'second', 'third', 'fourth'];

export function compactionStory(stage: Stage): Story {
  const { module } = stage;
  let levels = 0;
  let width = 0; // of the base, in cells
  let total = 0;
  let areas: Area[] = []; // of the slices, of each level from 1 on, of the list
  let key = -1; // that is told
  let way: Way[] = []; // from the top down
  let cell = 0;

  const sumOf = (level: number, node: number): number => module._compaction_sum_of!(level, node);
  const css = (value: number): number => (value / stage.canvas.width) * (stage.canvas.clientWidth || 1);
  const cells = (): number => width * module._compaction_height!();

  // What the GPU has: false if that is not yet the volume of the story.
  function read(): boolean {
    if (stage.values['view'] !== 'steps' || module._compaction_read!() !== 0) return false;
    levels = module._compaction_levels!();
    width = module._compaction_width!();
    total = module._compaction_total!();
    if (total <= 0 || width / module._compaction_columns!() !== SIDE) return false;
    const { width: wide, height: high, clientWidth } = stage.canvas;
    const first = (module._compaction_layout!(wide, high, wide / (clientWidth || 1)) >>> 0) / 4;
    areas = Array.from({ length: levels + 2 }, (_, i) => named(compactionArea, module.HEAPF32.subarray(first + i * stride(compactionArea))));
    return true;
  }

  // The key of what is pointed at, or of the first kept cell behind it.
  function keyAt({ x, y }: Point): number {
    const { level, node } = named(compactionFound, module.HEAPF64.subarray((module._compaction_at!(x, y) >>> 0) / 8));
    if (level === NOTHING) return key;
    return Math.min(total - 1, level === LIST ? node : module._compaction_ahead!(level, node));
  }

  function centre(of: number): Point {
    const { x, y, width: wide } = areas[0]!;
    const one = wide / width;
    const { column, row } = texelOf(module, 0, of);
    return { x: x + (column + 0.5) * one, y: y + (row + 0.5) * one };
  }

  // ---- Over the picture: so many cells on a side, from one on

  function ring(over: SVGSVGElement, first: number, many: number, style: string): void {
    const one = css(areas[0]!.width / width);
    const at = centre(first);
    const box = { x: css(at.x) - one / 2 - 2, y: css(at.y) - one / 2 - 2, width: many * one + 4, height: many * one + 4, rx: 2 };
    shape(over, 'rect', { class: 'rim', ...box, 'stroke-width': 5 });
    shape(over, 'rect', { class: style, ...box, 'stroke-width': 2, 'data-cell': first });
  }

  // ---- In the panel

  function drawWay(figure: SVGSVGElement, to: number): void {
    const shown = way.slice(0, to);
    figure.setAttribute('viewBox', `0 0 294 ${shown.length * 30}`);
    figure.setAttribute('aria-label', `The way of key ${key} down to level ${shown.at(-1)!.level - 1}.`);
    chain(figure, shown.map(({ children, taken, level }) => ({ children, taken, label: level > 1 ? `Level ${level - 1}` : 'Cells' })));
  }

  // ---- Steps

  function showMarked(over: SVGSVGElement): Told {
    ring(over, cell, 1, 'found');
    const side = width / module._compaction_columns!();
    const { column: x, row: y } = texelOf(module, 0, cell);
    const slice = Math.floor(y / side) * module._compaction_columns!() + Math.floor(x / side);
    return {
      words: `Cell ${count(cell)}, in slice ${slice}, column ${x % side}, row ${y % side}, is kept: some of its corners are inside, and some are not. It is one of ${count(total)}.`,
      facts: [['Cells', count(cells())], ['Kept', count(total)], ['Of all', `${((100 * total) / cells()).toFixed(1)} %`]],
    };
  }

  function showFour(over: SVGSVGElement, figure: SVGSVGElement): Told {
    const { node, children } = way[levels - 1]!;
    const { column, row } = texelOf(module, 1, node);
    ring(over, 4 * node, 2, 'found');
    zoom(module, figure, 1, node);
    const sum = children.reduce((a, b) => a + b, 0);
    return {
      words: `Cells ${count(4 * node)} to ${count(4 * node + 3)} count ${children.join(' + ')} = ${sum}. Texel ${column}, ${row} of level 1 has that sum; a shader made all ${count(Math.ceil(cells() / 4))} of them at once.`,
      facts: [['Level 1, node', count(node)], ['Texels read', '4'], ['Sum', String(sum)]],
    };
  }

  function showLevels(moment: number, figure: SVGSVGElement): Told {
    const level = moment + 1;
    const { node, children } = way[levels - level]!;
    const sum = sumOf(level, node);
    zoom(module, figure, level, node);
    return {
      words: level === levels
        ? `Level ${level} is a single texel, the total: ${children.map(count).join(' + ')} = ${plural(sum, 'cell')}. That is how long the list is.`
        : `Level ${level}, node ${count(node)}: ${children.map(count).join(' + ')} = ${count(sum)} of its ${count(4 ** level)} cells are kept.`,
      facts: [['Nodes of the level', count(Math.ceil(cells() / 4 ** level))], ['Cells below a node', count(4 ** level)], ['Levels', count(levels)]],
    };
  }

  function showKey(moment: number, over: SVGSVGElement, figure: SVGSVGElement): Told {
    const at = way[moment]!;
    const down = at.key - at.ahead;
    drawWay(figure, moment + 1);
    const last = moment === levels - 1;
    if (last) ring(over, cell, 1, 'found');
    const bound = at.ahead + at.children[at.taken]! - 1;
    return {
      words: `Key ${count(at.key)}: the ${ordinals[at.taken]!} child has ${bound > at.ahead ? `the keys ${count(at.ahead)} to ${count(bound)}` : `key ${count(bound)} alone`}. ${count(at.key)} − ${count(at.ahead)} = ${count(down)} is left${last ? `: cell ${count(cell)} is found.` : ' of the key within it.'}`,
      facts: [['Entry of the list', count(key)], ['Level', count(at.level)], ['Key, what is left of it', count(down)]],
    };
  }

  function showEntries(over: SVGSVGElement): Told {
    ring(over, cell, 1, 'found');
    return {
      words: `Entry ${count(key)} of the list is cell ${count(cell)}. Each entry read ${plural(levels, 'texel')} on its way; none wrote to a place of its own choice, and no cell that is not kept cost anything.`,
      facts: [['Cells', count(cells())], ['Entries', count(total)], ['Passes up', count(levels)], ['Passes down', '1']],
    };
  }

  // How far the scene's own picture is at a moment.
  const stepOf = (step: number, moment: number): number =>
    step === MARKED ? 1 : step === FOUR ? 2 : step === LEVELS ? moment + 2 : step === KEY ? levels + 3 + moment : 2 * levels + 3;
  const turn = (step: number, moment: number): void => {
    const wanted = stepOf(step, moment);
    if (stage.values['step'] !== wanted) stage.put('step', wanted);
  };

  return {
    values: { view: 'steps', step: 1, shape: 'asteroid', size: String(SIDE), level: 0, form: 'plain', total: 'read' },
    content: ['shape', 'level'],
    steps: [
      { title: 'Few cells matter', text: 'A surface runs through few cells of a volume. They lie scattered, and shaders cannot append to a list. Move the pointer, or the arrow keys on the picture, to choose a cell.', points: true },
      { title: 'Four cells become a sum', text: 'A pyramid counts them: first 2 × 2 cells, 1 for each that is kept. Their order is that of a Z: upper two, lower two.', points: true },
      { title: 'Level upon level', text: '2 × 2 sums become one, again and again, until a single number is left.', unit: 'Level' },
      { title: 'A key goes down', text: 'Entry number so-and-so of the list takes its number as key, and goes down where the sums say.', points: true, unit: 'Level' },
      { title: 'The list, without a gap', text: 'All entries go down at the same time, each by itself. Point at the list, or at the slices, to see which entry is which cell.', points: true },
    ],
    // The entry whose story it is at first.
    start() {
      if (!read()) return undefined;
      key = Math.floor(0.4 * total);
      return centre(follow(module, key, levels).cell);
    },
    enter: (step) => turn(step, 0),
    ask(_, at) {
      if (!read()) return false;
      key = Math.min(total - 1, keyAt(at));
      if (stage.values['key'] !== key) stage.put('key', key);
      const found = follow(module, key, levels);
      way = found.steps;
      cell = found.cell;
      return true;
    },
    moments: (step) => (step === LEVELS || step === KEY ? levels : 1),
    show(step, moment, over, figure) {
      turn(step, moment);
      if (step === MARKED) return showMarked(over);
      if (step === FOUR) return showFour(over, figure);
      if (step === LEVELS) return showLevels(moment, figure);
      return step === ENTRIES ? showEntries(over) : showKey(moment, over, figure);
    },
  };
}
