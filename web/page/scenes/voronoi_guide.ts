// Voronoi, told: the tree grows plane by plane, one search goes down, back up and skips what cannot be nearer, and every pixel does the same.
import { voronoiMean, voronoiNote, voronoiNoteKind, voronoiPlane, voronoiTell, voronoiTold, voronoiToldBuffer } from '../fields.js';
import { named, placed, stride } from '../shell/named.js';
import { rows, shape, type Free, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count, plural } from '../shell/words.js';

type Note = Record<keyof typeof voronoiNote, number>;
type Plane = Record<keyof typeof voronoiPlane, number>;
interface Box { lower: [number, number]; upper: [number, number] }
const { down: DOWN, leaf: LEAF, back: BACK } = voronoiNoteKind;
const [QUESTION, PLANES, DESCENT, RETURN, PICTURE] = [0, 1, 2, 3, 4];
const OFTEN = 250; // milliseconds from one search to the next beside sites that move: each copies the tree from the GPU
const DRAWN = 5; // levels of planes in the drawn tree
const [WIDE, HIGH, TOP] = [300, 26, 10]; // of the drawn tree, a level of it, and what is above it

const STACKS = 'A stack keeps how far the cell of each other side is. Without one a bit does, and the way back knows how far the last plane is, but not that the cell behind it may be farther: some more leaves are searched. Both find the same sites.';

const binary = (node: number): string => `${node} (${node.toString(2)})`;
const length = (value: number): string => value.toPrecision(3);

export function voronoiStory(stage: Stage): Story {
  let told: Record<keyof typeof voronoiTold, number>;
  let planes: Plane[] = []; // of node i + 1
  let notes: Note[] = [];
  let means: Record<keyof typeof voronoiMean, number>[] = [];
  let first = 0; // the note of the first leaf
  let averaged = ''; // what the means are of
  const passed = new Map<number, { axis: number; split: number }>(); // every plane that is known

  const css = (place: readonly number[]): Point => {
    const ratio = stage.canvas.width / (stage.canvas.clientWidth || 1);
    return { x: (place[0]! - told.left) / told.step / ratio, y: (place[1]! - told.top) / told.step / ratio };
  };
  const pixels = (distance: number): number => (distance / told.step / stage.canvas.width) * (stage.canvas.clientWidth || 1);

  // ---- Cells: what the planes above a node leave it

  function cell(node: number): Box {
    const box: Box = { lower: [-1e3, -1e3], upper: [1e3, 1e3] };
    const depth = Math.floor(Math.log2(node));
    for (let up = depth; up > 0; up--) {
      const plane = passed.get(node >>> up);
      if (!plane) continue;
      if ((node >>> (up - 1)) & 1) box.lower[plane.axis] = Math.max(box.lower[plane.axis]!, plane.split);
      else box.upper[plane.axis] = Math.min(box.upper[plane.axis]!, plane.split);
    }
    return box;
  }

  function rectangle(over: SVGSVGElement, node: number, style: string): void {
    const { lower, upper } = cell(node);
    const [from, to] = [css(lower), css(upper)];
    const { clientWidth, clientHeight } = stage.canvas;
    const [left, top] = [Math.max(-9, from.x), Math.max(-9, from.y)];
    const [right, bottom] = [Math.min(clientWidth + 9, to.x), Math.min(clientHeight + 9, to.y)];
    if (right > left && bottom > top) shape(over, 'rect', { class: style, x: left, y: top, width: right - left, height: bottom - top, 'data-node': node });
  }

  function line(over: SVGSVGElement, node: number, now: boolean): void {
    const plane = passed.get(node)!;
    const box = cell(node);
    const [from, to]: [number[], number[]] = [[...box.lower], [...box.upper]];
    from[plane.axis] = to[plane.axis] = plane.split;
    const { clientWidth, clientHeight } = stage.canvas;
    const [a, b] = [css(from), css(to)];
    const ends = { x1: Math.max(-9, a.x), y1: Math.max(-9, a.y), x2: Math.min(clientWidth + 9, b.x), y2: Math.min(clientHeight + 9, b.y) };
    const wide = Math.max(1.2, 4 - 0.6 * Math.floor(Math.log2(node)));
    shape(over, 'line', { class: 'rim', ...ends, 'stroke-width': wide + 3 });
    shape(over, 'line', { class: now ? 'now' : 'plane', ...ends, ...(now ? {} : { 'stroke-width': wide }), 'data-plane': node });
  }

  function query(over: SVGSVGElement, id: number, x: number, y: number, limit2: number): void {
    const at = css([told.x, told.y]);
    if (id >= 0) {
      const site = css([x, y]);
      const radius = pixels(Math.sqrt(limit2));
      shape(over, 'circle', { class: 'rim', cx: at.x, cy: at.y, r: radius, 'stroke-width': 4 });
      shape(over, 'circle', { class: 'reach', cx: at.x, cy: at.y, r: radius });
      shape(over, 'circle', { class: 'rim', cx: site.x, cy: site.y, r: 8, 'stroke-width': 6 });
      shape(over, 'circle', { class: 'found', cx: site.x, cy: site.y, r: 8, 'data-site': id });
    }
    shape(over, 'circle', { class: 'query', cx: at.x, cy: at.y, r: 6 });
  }

  // ---- The drawn tree: `style` of the nodes up to DRAWN levels of planes, and of the leaves where these are all

  function tree(figure: SVGSVGElement, style: (node: number) => string, label: string): void {
    const levels = Math.min(told.depth, DRAWN);
    figure.setAttribute('viewBox', `0 0 ${WIDE} ${TOP * 2 + HIGH * levels}`);
    figure.setAttribute('aria-label', label);
    const place = (node: number): Point => {
      const level = Math.floor(Math.log2(node));
      return { x: ((node - 2 ** level + 0.5) / 2 ** level) * WIDE, y: TOP + level * HIGH };
    };
    for (let node = 2; node < 2 ** (levels + 1); node++) {
      const [from, to] = [place(node >> 1), place(node)];
      shape(figure, 'line', { class: `edge ${style(node).includes('none') ? 'none' : ''}`, x1: from.x, y1: from.y, x2: to.x, y2: to.y });
    }
    for (let node = 1; node < 2 ** (levels + 1); node++) {
      const { x, y } = place(node);
      const r = node >= 2 ** levels ? Math.min(5, (0.4 * WIDE) / 2 ** levels) : 5;
      const kind = { class: `node ${style(node)}`, 'data-node': node };
      if (node >= 2 ** told.depth) shape(figure, 'rect', { ...kind, x: x - r, y: y - r, width: 2 * r, height: 2 * r });
      else shape(figure, 'circle', { ...kind, cx: x, cy: y, r });
    }
  }

  // The tree during the walk: what was visited, what was skipped, and where it is.
  function walked(figure: SVGSVGElement, until: number): void {
    const state = new Map<number, string>();
    for (const note of notes.slice(0, until + 1)) {
      const skipped = note.kind === BACK && !note.enters;
      state.set(note.node, skipped ? 'past' : 'lit');
    }
    const now = notes[until]!.node;
    const style = (node: number): string => {
      for (let above = node >> 1; above; above >>= 1) if (state.get(above) === 'past') return 'past';
      return `${state.get(node) ?? ''} ${node === now ? 'at' : ''}`;
    };
    const visited = [...state.values()].filter((s) => s === 'lit').length;
    tree(figure, style, `The tree: ${plural(visited, 'node')} visited, ${plural(state.size - visited, 'node')} skipped with all below; now at node ${now}.`);
  }

  const belowOf = (node: number): number | undefined => {
    const plane = planes[(node >> 1) - 1];
    return plane && (node & 1 ? plane.upper : plane.lower);
  };

  // The last leaf scanned by so many notes.
  const leafBy = (until: number): Note | undefined => notes.slice(0, until).reverse().find((note) => note.kind === LEAF);

  // ---- Steps

  function showQuestion(over: SVGSVGElement): Told {
    const last = leafBy(notes.length)!;
    const [at, site] = [css([told.x, told.y]), css([last.x, last.y])];
    const ends = { x1: at.x, y1: at.y, x2: site.x, y2: site.y };
    shape(over, 'line', { class: 'rim', ...ends, 'stroke-width': 5 });
    shape(over, 'line', { class: 'now', ...ends });
    query(over, last.id, last.x, last.y, told.distance2);
    const all = stage.canvas.width * stage.canvas.height;
    return {
      words: `Site ${count(told.id)} is nearest to this pixel, ${pixels(Math.sqrt(told.distance2)).toFixed(1)} px away. The straight way compares with each of ${plural(told.sites, 'site')}.`,
      facts: [['Sites', count(told.sites)], ['Pixels', count(all)], ['Distances, the straight way', count(all * told.sites)]],
    };
  }

  function showPlanes(moment: number, over: SVGSVGElement, figure: SVGSVGElement): Told {
    for (let node = 1; node <= moment + 1; node++) line(over, node, node === moment + 1);
    const node = moment + 1;
    const { axis, split, lower, upper } = planes[moment]!;
    tree(figure, (n) => (n === node ? 'lit at' : n < node ? 'lit' : 'none'), `The tree as far as it has grown: ${plural(node, 'plane')}.`);
    return {
      words: `Plane ${node} lies across ${axis ? 'y' : 'x'} at ${length(split)}, at the median of the ${plural(lower + upper, 'site')} of its cell: ${count(lower)} on one side, ${count(upper)} on the other.`,
      facts: [['Level', String(Math.floor(Math.log2(node)))], ['Planes of all', `${count(node)} of ${count(2 ** told.depth - 1)}`], ['Leaves', count(2 ** told.depth)]],
    };
  }

  function facts(note: Note, done: number, radius: number): Told['facts'] {
    const depth = Math.floor(Math.log2(note.node)) + (note.kind === DOWN ? 1 : 0); // of the node that it goes to
    return [['Node', binary(note.node)], ['Bits', note.pending.toString(2).padStart(depth, '0') || '–'], ['Radius', Number.isFinite(radius) ? length(radius) : '∞'],
      ['Steps', `${done + 1} of ${notes.length}`]];
  }

  const tellDown = ({ node, aside, axis }: Note, on: number): string =>
    `Node ${node}: along ${axis ? 'y' : 'x'} the pixel lies ${length(Math.abs(aside))} ${aside <= 0 ? 'before' : 'behind'} the plane, so on to node ${on}.`;

  function showDescent(moment: number, over: SVGSVGElement, figure: SVGSVGElement): Told {
    const note = notes[moment]!;
    for (const { kind, node } of notes.slice(0, moment + 1)) if (kind === DOWN) rectangle(over, notes[notes.findIndex((n) => n.node === node) + 1]!.node ^ 1, 'cut');
    for (const { kind, node } of notes.slice(0, moment + 1)) if (kind === DOWN) line(over, node, node === note.node);
    if (note.kind === LEAF) rectangle(over, note.node, 'leaf');
    query(over, note.id, note.x, note.y, note.limit2);
    walked(figure, moment);
    const on = notes[moment + 1]?.node ?? 0;
    const words = note.kind === LEAF
      ? `Leaf ${note.node} has ${plural(note.points, 'site')}. ${note.points === 1 ? `It is number ${count(note.id)},` : `The nearest of them, site ${count(note.id)}, is`} ${length(Math.sqrt(note.limit2))} away: that is the first radius.`
      : `${tellDown(note, on)} One bit keeps that the other side may have to be looked at.`;
    return { words, facts: facts(note, moment, note.kind === LEAF ? Math.sqrt(note.limit2) : Infinity) };
  }

  function tellBack({ node, bound2, limit2, enters }: Note): string {
    const below = belowOf(node);
    const far = `Back to node ${node}, whose bit is the lowest one set. Its plane is ${length(Math.sqrt(bound2))} away, the radius ${length(Math.sqrt(limit2))}`;
    if (enters) return `${far}: something nearer may be there, so down it goes.`;
    return `${far}: nothing behind it can be nearer. ${below === undefined ? 'All below it is' : below === 1 ? 'One site is' : `${count(below)} sites are`} skipped.`;
  }

  // The walk up to a note.
  function showWalk(until: number, over: SVGSVGElement, figure: SVGSVGElement): Told {
    const note = notes[until]!;
    const leaf = leafBy(until + 1);
    const planesPassed = new Set<number>();
    for (const n of notes.slice(0, until + 1)) {
      if (n.kind === BACK && !n.enters) rectangle(over, n.node, 'cut');
      if (n.kind === LEAF) rectangle(over, n.node, 'leaf');
      if (n.kind === DOWN) planesPassed.add(n.node);
    }
    if (note.kind === BACK) planesPassed.add(note.node >> 1);
    const now = note.kind === BACK ? note.node >> 1 : note.kind === DOWN ? note.node : 0;
    for (const node of planesPassed) line(over, node, node === now);
    if (leaf) query(over, leaf.id, leaf.x, leaf.y, leaf.limit2);
    else query(over, -1, 0, 0, 0);
    walked(figure, until);
    const before = leafBy(until);
    const better = !before || before.id !== note.id;
    const words = note.kind === BACK ? tellBack(note) : note.kind === LEAF
      ? `Leaf ${note.node} has ${plural(note.points, 'site')}. ${better ? `Site ${count(note.id)} is the nearest so far: the radius is ${length(Math.sqrt(note.limit2))} now.`
        : `${note.points === 1 ? 'It is not' : 'None of them is'} nearer: the radius stays.`}`
      : tellDown(note, notes[until + 1]?.node ?? 0);
    const end = until === notes.length - 1 && !note.pending ? ` No bit is left: site ${count(told.id)} is the nearest.` : '';
    return { words: words + end, facts: facts(note, until, leaf ? Math.sqrt(leaf.limit2) : Infinity) };
  }

  function showPicture(over: SVGSVGElement): Told {
    const last = leafBy(notes.length)!;
    query(over, last.id, last.x, last.y, told.distance2);
    const [stackless, stack] = means;
    return {
      words: `The shader looked at ${plural(told.pictureNodes, 'node')} for this pixel, as the walk told before did; that makes ` +
        `${plural(told.points, 'distance')} in ${plural(told.leaves, 'leaf', 'leaves')}; the brighter a pixel, the more nodes. ${STACKS}`,
      facts: [['Distances, the straight way', count(told.sites)], ['Distances, on average', stackless!.points.toFixed(1)],
        ['Leaves without a stack, on average', stackless!.leaves.toFixed(1)], ['Leaves with one, on average', stack!.leaves.toFixed(1)]],
    };
  }

  function ask(at: Point): boolean {
    if (stage.values['form'] !== 'exact') return false;
    const { numbers, buffers } = stage.call('voronoi_told', placed(voronoiTell, { x: Math.floor(at.x), y: Math.floor(at.y) }));
    told = named(voronoiTold, numbers);
    planes = rows(voronoiPlane, buffers[voronoiToldBuffer.planes]!);
    notes = rows(voronoiNote, buffers[voronoiToldBuffer.notes]!);
    first = notes.findIndex((note) => note.kind === LEAF);
    passed.clear();
    planes.forEach(({ axis, split }, i) => passed.set(i + 1, { axis, split }));
    for (const { kind, node, axis, split } of notes) if (kind === DOWN) passed.set(node, { axis, split });
    return true;
  }

  // Averages over the picture, which stay as long as it does.
  function average(): void {
    const { version, left, top, step } = told;
    const picture = [version, left, top, step].join(' ');
    if (averaged === picture) return;
    averaged = picture;
    const { numbers } = stage.call('voronoi_mean', []);
    means = [0, 1].map((i) => named(voronoiMean, numbers.subarray(i * stride(voronoiMean))));
  }

  let asked = -Infinity; // milliseconds
  const free: Free = {
    title: 'The search at the pointer',
    unit: 'Step',
    ask(at) {
      if (stage.values['motion'] && !stage.paused && performance.now() - asked < OFTEN) return undefined;
      asked = performance.now();
      const there = ask(at);
      if (there) average();
      return there;
    },
    moments: () => notes.length,
    show(moment, over, figure) {
      const { words, facts: known } = showWalk(moment, over, figure);
      return { words, facts: [...known, ['Leaves of this search', count(told.leaves)]] };
    },
    note: () => `On average over this picture ${means[0]!.leaves.toFixed(1)} leaves are searched without a stack, ${means[1]!.leaves.toFixed(1)} with one. ${STACKS}`,
  };

  return {
    free,
    values: { sites: 40, family: 'uniform', seed: 1, motion: 0, view: 'cells', near: 0, levels: 0, dots: true, walk: 'stackless', form: 'exact', webgl: '2', x: 0.5, y: 0.5, zoom: 1 },
    content: ['sites', 'family', 'seed'],
    steps: [
      { title: 'Which site is nearest?', text: 'Every pixel takes the colour of its nearest site. Move the pointer, or the arrow keys on the picture, to ask for another pixel.', points: true },
      { title: 'Planes halve the sites', text: 'The tree puts a plane through the median of the sites, then one through each half, and so on until leaves of one or two sites are left.', unit: 'Plane' },
      { title: 'Down to a leaf', text: 'A search begins at the root. At each plane it takes the side on which the pixel lies.', points: true, unit: 'Step' },
      { title: 'Back up, and skip', text: 'On the way back the search looks at the other sides. One whose plane is farther away than the radius is skipped with everything in it.', points: true, unit: 'Step' },
      { title: 'Every pixel does this', text: 'The fragment shader searches once for each pixel, all of them at the same time. The picture now shows how many nodes each search looked at.', points: true },
    ],
    enter: (step) => {
      const view = step === PICTURE ? 'work' : 'cells';
      if (stage.values['view'] !== view) stage.put('view', view);
    },
    start: () => ({ x: stage.canvas.width * 0.46, y: stage.canvas.height * 0.55 }),
    ask(step, at) {
      const there = ask(at);
      if (there && step === PICTURE) average();
      return there;
    },
    moments: (step) => (step === PLANES ? Math.max(1, planes.length) : step === DESCENT ? first + 1 : step === RETURN ? notes.length - first : 1),
    show(step, moment, over, figure) {
      if (step === QUESTION) return showQuestion(over);
      if (step === PLANES) return showPlanes(moment, over, figure);
      if (step === DESCENT) return showDescent(moment, over, figure);
      return step === RETURN ? showWalk(first + moment, over, figure) : showPicture(over);
    },
  };
}
