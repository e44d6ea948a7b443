// Rays, told: one pixel's ray goes down to the first cell, from cell to cell until it meets a triangle; and what a better tree is worth.
import { raysCamera, raysCompared, raysNote, raysNoteKind, raysTell, raysTold } from '../fields.js';
import { named, placed, stride } from '../shell/named.js';
import { rows, shape, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count, milliseconds, plural } from '../shell/words.js';
import type { Rays } from './rays.js';

type Note = Record<keyof typeof raysNote, number>;
type Place = readonly [number, number, number];
const { leaf: LEAF, triangle: TRIANGLE } = raysNoteKind;
const [PIXEL, BOXES, CELLS, TREES] = [0, 1, 2, 4];
const [FRONT, SIDE] = [0.5, 1.75]; // yaw in which rays are chosen, and from which they are seen
const ZOOM = 1.35; // of the picture in which rays are chosen
const EDGES = [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]] as const;
const TRIANGLES = 5000; // of the story's mesh, about
const axes = ['x', 'y', 'z'];
const length = (value: number): string => value.toPrecision(4);

export function raysStory(stage: Stage): Story {
  let numbers: Float64Array = new Float64Array();
  let told: Record<keyof typeof raysTold, number>;
  let notes: Note[] = [];
  let pixel: Point = { x: 0, y: 0 };
  let compared: Record<keyof typeof raysCompared, number>[] = [];
  let asked = false;

  const three = (at: number): Place => [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
  const dot = (a: Place, b: Place): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

  // Where a place is seen, in CSS pixels; undefined: behind the eye.
  function seen(place: Place): Point | undefined {
    const [eye, right, up, forward] = [raysCamera.eye, raysCamera.right, raysCamera.up, raysCamera.forward].map(three) as [Place, Place, Place, Place];
    const to: Place = [place[0] - eye[0], place[1] - eye[1], place[2] - eye[2]];
    const away = dot(to, forward);
    if (away <= 0) return undefined;
    const { clientWidth, clientHeight } = stage.canvas;
    return { x: (0.5 + (0.5 * dot(to, right)) / dot(right, right) / away) * clientWidth, y: (0.5 - (0.5 * dot(to, up)) / dot(up, up) / away) * clientHeight };
  }
  const along = (t: number): Place => {
    const [origin, direction] = [three(raysTold.origin), three(raysTold.direction)];
    return [origin[0] + t * direction[0], origin[1] + t * direction[1], origin[2] + t * direction[2]];
  };

  function line(over: SVGSVGElement, from: Place, to: Place, style: string, width: number): void {
    const [a, b] = [seen(from), seen(to)];
    if (!a || !b) return;
    const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
    if (width > 1) shape(over, 'line', { class: 'rim', ...ends, 'stroke-width': width + 3 });
    shape(over, 'line', { class: style, ...ends, 'stroke-width': width });
  }
  function box(over: SVGSVGElement, { x0, y0, z0, x1, y1, z1, node }: Note, style: string, width: number): void {
    const corner = (i: number): Place => [i & 1 ? x1 : x0, i & 2 ? y1 : y0, i & 4 ? z1 : z0];
    const group = shape(over, 'g', { 'data-cell': node }) as SVGSVGElement;
    for (const [a, b] of EDGES) line(group, corner(a), corner(b), style, width);
  }
  function triangle(over: SVGSVGElement, note: Note, style: string): void {
    const corners = [seen([note.x0, note.y0, note.z0]), seen([note.x1, note.y1, note.z1]), seen([note.x2, note.y2, note.z2])];
    if (corners.every((c) => c)) shape(over, 'polygon', { class: style, points: corners.map((c) => `${c!.x.toFixed(1)},${c!.y.toFixed(1)}`).join(' '), 'data-triangle': note.triangle });
  }
  function mark(over: SVGSVGElement, t: number, style: string): void {
    const at = seen(along(t));
    if (at) shape(over, 'circle', { class: style, cx: at.x, cy: at.y, r: 5 });
  }

  const of = (kind: number): Note[] => notes.filter((note) => note.kind === kind);
  const leaves = (): Note[] => of(LEAF);
  const path = (): Note[] => notes.slice(0, notes.findIndex((note) => note.kind === LEAF)); // planes down to the first leaf
  const testedIn = (leaf: Note): Note[] => {
    const from = notes.indexOf(leaf) + 1;
    const behind = notes.slice(from).findIndex((note) => note.kind !== TRIANGLE);
    return notes.slice(from, behind < 0 ? undefined : from + behind);
  };
  const meets = (): boolean => told.triangle >= 0;
  const enters = (): number => notes[0]?.from ?? 0;

  // ---- Steps

  function showPixel(over: SVGSVGElement): Told {
    const ratio = stage.canvas.width / (stage.canvas.clientWidth || 1);
    const at = { cx: pixel.x / ratio, cy: pixel.y / ratio };
    shape(over, 'circle', { class: 'rim', ...at, r: 10, 'stroke-width': 6 });
    shape(over, 'circle', { class: 'found', ...at, r: 10 });
    if (meets()) triangle(over, notes.find((note) => note.triangle === told.triangle && note.kind === TRIANGLE)!, 'leaf');
    const words = meets()
      ? `This pixel’s ray meets triangle ${count(told.triangle)} first, ${length(told.t)} from the camera.`
      : 'This pixel’s ray meets no triangle: it shows the sky.';
    const all = stage.canvas.width * stage.canvas.height;
    return {
      words: `${words} The straight way tests each of ${plural(told.triangles, 'triangle')}, and for each pixel again.`,
      facts: [['Triangles', count(told.triangles)], ['Pixels', count(all)], ['Tests, the straight way', count(all * told.triangles)]],
    };
  }

  function ray(over: SVGSVGElement, to: number): void {
    if (notes.length) line(over, along(enters()), along(to), 'now', 2.5);
  }

  function showBoxes(moment: number, over: SVGSVGElement): Told {
    const planes = path();
    planes.slice(0, moment).forEach((note) => box(over, note, 'plane', 0.8));
    ray(over, notes[0]!.to);
    const note = notes[Math.min(moment, planes.length)]!;
    box(over, note, 'now', 2);
    const size = [note.x1 - note.x0, note.y1 - note.y0, note.z1 - note.z0].map((side) => side.toPrecision(3)).join(' × ');
    const words = note.kind === LEAF
      ? `Leaf ${count(note.node)}, ${plural(note.depth, 'plane')} down: ${note.count ? `${plural(note.count, 'triangle')} reach into its cell.` : 'no triangle reaches into its cell.'}`
      : `Node ${count(note.node)}: a plane across ${axes[note.axis]!} at ${note.split.toPrecision(4)} cuts its cell in two. The ray is in the cell from ${length(note.from)} to ${length(note.to)}, and first goes where it is first.`;
    return { words, facts: [['Level', count(note.depth)], ['Cell', size], ['Planes of the tree', count(told.nodes)], ['Leaves', count(told.leaves)]] };
  }

  function showCells(moment: number, over: SVGSVGElement): Told {
    const passed = leaves();
    const leaf = passed[moment]!;
    passed.slice(0, moment).forEach((note) => box(over, note, 'plane', 0.8));
    ray(over, leaf.to);
    box(over, leaf, 'now', 2);
    const tested = testedIn(leaf);
    const best = tested.filter((note) => note.hit).sort((a, b) => a.t - b.t)[0];
    tested.forEach((note) => triangle(over, note, note === best ? 'reach leaf' : 'leaf'));
    mark(over, leaf.from, 'query');
    if (best) mark(over, best.t, 'query');
    const words = `Leaf ${count(leaf.node)}: the ray is in its cell from ${length(leaf.from)} to ${length(leaf.to)}. ` +
      (!tested.length ? 'It is empty: on to the next.' : best ? `Of its ${plural(tested.length, 'triangle')} the ray meets number ${count(best.triangle)} at ${length(best.t)}.`
        : `The ray passes beside its ${plural(tested.length, 'triangle')}: on to the next.`);
    return { words, facts: [['Cell', `${moment + 1} of ${passed.length}`], ['Triangles tested here', count(tested.length)], ['Depth of the leaf', count(leaf.depth)]] };
  }

  function showHit(over: SVGSVGElement): Told {
    leaves().forEach((note) => box(over, note, 'plane', 0.8));
    ray(over, meets() ? told.t : (notes[0]?.to ?? 0));
    const tested = of(TRIANGLE);
    tested.forEach((note) => triangle(over, note, 'leaf'));
    if (meets()) mark(over, told.t, 'query');
    const words = meets()
      ? `Cells do not overlap, and the ray passes them one by one. So what it meets in a cell, triangle ${count(told.triangle)} at ${length(told.t)}, nothing behind can be ahead of: the search ends.`
      : 'The ray leaves the last cell on its way, and has met nothing.';
    return {
      words,
      facts: [['Nodes visited', `${count(told.visits)} of ${count(told.nodes + told.leaves)}`], ['Cells passed', `${count(leaves().length)} of ${count(told.leaves)}`],
        ['Triangles tested', `${count(tested.length)} of ${count(told.triangles)}`]],
    };
  }

  function showTrees(): Told {
    const [best, quick] = compared as [(typeof compared)[number], (typeof compared)[number]];
    const less = Math.round(100 * (1 - best.visits / quick.visits));
    return {
      words: 'The picture shows how many nodes each ray visits. Best puts every plane where a ray is expected to cost least; Quick tries fewer places. ' +
        `An average ray of this camera visits ${best.visits.toFixed(1)} nodes in the one tree and ${quick.visits.toFixed(1)} in the other${less > 0 ? `, ${less} % fewer` : ''}. ` +
        `Both show the same picture: ${count(best.hits)} and ${count(quick.hits)} of ${plural(best.rays, 'ray')} meet the mesh.`,
      facts: [['Nodes a ray, Best', best.visits.toFixed(1)], ['Nodes a ray, Quick', quick.visits.toFixed(1)], ['Expected cost, Best', best.cost.toFixed(1)], ['Expected cost, Quick', quick.cost.toFixed(1)],
        ['Building, Best', milliseconds(best.milliseconds)], ['Building, Quick', milliseconds(quick.milliseconds)]],
    };
  }

  function tell(at: Point): void {
    pixel = { x: Math.floor(at.x), y: Math.floor(at.y) };
    const answer = stage.call('rays_told', placed(raysTell, { ...pixel, yaw: FRONT, zoom: ZOOM }));
    numbers = answer.numbers;
    told = named(raysTold, numbers);
    notes = rows(raysNote, answer.buffers[0]!);
  }

  // Builds both trees in the worker; the picture asks again when they are there.
  async function compare(): Promise<void> {
    const answer = await stage.job('rays_compare', [...numbers.subarray(0, raysCamera.forward + 3)]);
    compared = [0, 1].map((i) => named(raysCompared, answer.numbers.subarray(i * stride(raysCompared))));
    stage.redraw();
  }

  return {
    values: { mesh: 'knot', triangles: TRIANGLES, quality: 'high', motion: 0, view: 'picture', light: 'sharp', shadows: true, mirrors: true, bounces: 4, smooth: true, samples: 1, sky: true, move: 'orbit', clip: 0, yaw: FRONT, pitch: 0.3, zoom: ZOOM },
    content: ['mesh', 'triangles'],
    steps: [
      { title: 'A ray for each pixel', text: 'What does the ray through a pixel meet first? Move the pointer, or the arrow keys on the picture, to choose a pixel.', points: true },
      { title: 'Down to the first cell', text: 'Now from the side: the line is the ray. The tree cuts the box of the mesh by planes, and the ray goes down into the half that it enters first.', unit: 'Plane' },
      { title: 'From cell to cell', text: 'The leaves are cells that fill the box. The ray goes through those on its way, in order, and is tested against what reaches into them.', unit: 'Cell' },
      { title: 'The first hit ends it', text: 'All cells that the ray has passed, and all triangles that it was tested against.' },
      { title: 'Best and Quick', text: 'Where planes lie decides how many cells rays pass. Both trees of this mesh, as the library expects them to cost, and as rays find them.' },
    ],
    enter(step) {
      const front = step === PIXEL || step === TREES;
      const [yaw, zoom] = [front ? FRONT : SIDE, front ? ZOOM : 1];
      const view = step === TREES ? 'nodes' : 'picture';
      if (stage.values['yaw'] !== yaw) stage.put('yaw', yaw);
      if (stage.values['zoom'] !== zoom) stage.put('zoom', zoom);
      if (stage.values['view'] !== view) stage.put('view', view);
    },
    ahead() {
      const scene = stage.scene as Rays;
      scene.aim();
      return scene.triangles > 0;
    },
    // A pixel that shows the mesh, as near the middle as may be.
    start() {
      const { width, height } = stage.canvas;
      for (const [x, y] of [[0.5, 0.5], [0.5, 0.42], [0.46, 0.46], [0.54, 0.46], [0.5, 0.35], [0.42, 0.5], [0.58, 0.5], [0.5, 0.6]] as const) {
        tell({ x: x * width, y: y * height });
        if (!stage.scene.beyond() && told.triangles > 2 * TRIANGLES) return undefined; // the mesh of before
        if (meets()) break;
      }
      return pixel;
    },
    ask(step, at) {
      tell(at);
      if (step !== TREES) return true;
      if (!asked) compare().catch((error: unknown) => stage.fail(error));
      asked = true;
      return compared.length > 0;
    },
    moments: (step) => (step === BOXES ? path().length + 1 : step === CELLS ? Math.max(1, leaves().length) : 1),
    show(step, moment, over) {
      if (step === PIXEL) return showPixel(over);
      if (step === TREES) return showTrees();
      if (!notes.length) return { words: 'This pixel’s ray passes beside the box of the whole mesh: nothing is tested. Go back and choose another pixel.', facts: [] };
      return step === BOXES ? showBoxes(moment, over) : step === CELLS ? showCells(moment, over) : showHit(over);
    },
  };
}
