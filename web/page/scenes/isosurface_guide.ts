// Isosurface, told: samples above the level, one cube of eight, where its edges are cut, its triangles, and all cubes at once.
import { isosurfaceCube, isosurfaceCubeBuffer, isosurfaceLook, isosurfaceSums } from '../fields.js';
import { named, placed } from '../shell/named.js';
import { rows, shape, type Free, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count, milliseconds, plural } from '../shell/words.js';
import { chain } from './pyramid_guide.js';
import { Lens, type Place } from './space_guide.js';

const [SAMPLES, CUBE, VERTICES, TRIANGLES, SURFACE] = [0, 1, 2, 3, 4];
const REST = 150; // milliseconds that a surface is shown before a cube of it is asked for: the worker counts all of them then
const NEAR = '0.7,0.36,2.5,0,0'; // the camera where one cube is told of
const corner = (c: number): Place => [c & 1, (c >> 1) & 1, c >> 2];
const EDGES = Array.from({ length: 8 }, (_, c) => [1, 2, 4].filter((bit) => !(c & bit)).map((bit) => [c, c | bit] as const)).flat();

export function isosurfaceStory(stage: Stage): Story {
  let cube: Record<keyof typeof isosurfaceCube, number>; // undefined until one has come
  let values: number[] = []; // of the eight corners
  let vertices: Place[] = []; // of the cube, in it from 0 to 1
  let triangles: [number, number, number][] = [];
  let sums: number[][] = []; // of the pyramid, from the top to level 1: the four, of which one is over the cube
  let lens: Lens;
  let asked = ''; // what the worker was asked last
  let there = ''; // and what has come

  const short = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 3 : 0);
  const inside = (c: number): boolean => ((cube.corners >> c) & 1) === 1;
  const found = (): boolean => cube.x >= 0;

  // A pixel's ray to the worker, whose answer makes the page draw again. Beside the free picture a cube stays until there is another one
  // of the same surface.
  async function look(at: Point, key: string, whole: boolean): Promise<void> {
    const { numbers, buffers } = await stage.job('isosurface_cube', placed(isosurfaceLook, { whole: whole ? 1 : 0 }, lens.ray(at)), { newest: 'cube' });
    if (!whole && key !== surface) return; // another one is shown meanwhile, and is asked about
    const fresh = named(isosurfaceCube, numbers);
    if (whole || fresh.x >= 0 || there !== key) {
      cube = fresh;
      values = Array.from(numbers.subarray(isosurfaceCube.value0, isosurfaceCube.value0 + 8));
      const { vertices: places, triangles: corners, sums: fours } = isosurfaceCubeBuffer;
      const three = <T>(array: Float32Array | Int32Array): T[] => Array.from({ length: array.length / 3 }, (_, i) => [...array.subarray(3 * i, 3 * i + 3)] as T);
      vertices = three(new Float32Array(buffers[places] ?? []));
      triangles = three(new Int32Array(buffers[corners] ?? []));
      sums = rows(isosurfaceSums, buffers[fours] ?? new ArrayBuffer(0)).map((four) => Object.values(four));
    }
    there = key;
    stage.redraw();
  }

  // ---- Where the cube is, over the picture

  function frame(over: SVGSVGElement): void {
    if (!found()) return;
    const at = (p: Place): Point => lens.seen([cube.x + p[0], cube.y + p[1], cube.z + p[2]]);
    const middle = at([0.5, 0.5, 0.5]);
    for (const style of ['rim', 'now'])
      for (const [a, b] of EDGES) {
        const [from, to] = [at(corner(a)), at(corner(b))];
        shape(over, 'line', { class: style, x1: from.x, y1: from.y, x2: to.x, y2: to.y, 'stroke-width': style === 'rim' ? 4 : 1.5 });
      }
    const reach = Math.max(14, ...EDGES.flat().map((c) => Math.hypot(at(corner(c)).x - middle.x, at(corner(c)).y - middle.y) + 6));
    shape(over, 'circle', { class: 'rim', cx: middle.x, cy: middle.y, r: reach, 'stroke-width': 5 });
    shape(over, 'circle', { class: 'reach', cx: middle.x, cy: middle.y, r: reach, 'data-cube': `${cube.x} ${cube.y} ${cube.z}` });
  }

  // ---- The cube large, in the panel

  const drawn = ([x, y, z]: Place): Point => ({ x: 62 + 128 * x + 58 * y, y: 176 - 122 * z - 38 * y });

  function figureOf(figure: SVGSVGElement, cut: number, faces: number): void {
    figure.setAttribute('viewBox', '0 0 310 206');
    figure.setAttribute('aria-label', `The cube: corners ${[...Array(8).keys()].filter(inside).join(', ')} are inside; ${plural(Math.min(cut, vertices.length), 'vertex', 'vertices')} and ${plural(Math.min(faces, triangles.length), 'triangle')} are drawn.`);
    for (const [a, b] of EDGES) {
      const [from, to] = [drawn(corner(a)), drawn(corner(b))];
      shape(figure, 'line', { class: 'edge', x1: from.x, y1: from.y, x2: to.x, y2: to.y });
    }
    triangles.slice(0, faces).forEach((triangle, i) => {
      const points = triangle.map((v) => drawn(vertices[v]!)).map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
      shape(figure, 'polygon', { class: 'face', points, 'data-triangle': i });
    });
    values.forEach((value, c) => {
      const { x, y } = drawn(corner(c));
      shape(figure, 'circle', { class: `node ${inside(c) ? 'lit' : ''}`, cx: x, cy: y, r: 6, 'data-corner': c });
      shape(figure, 'text', { x: x + (c & 1 ? 10 : -10), y: y + (c >> 2 ? -4 : 12), 'text-anchor': c & 1 ? 'start' : 'end' }, short(value));
    });
    vertices.slice(0, cut).forEach((vertex, i) => {
      const { x, y } = drawn(vertex);
      shape(figure, 'rect', { class: `node ${i === cut - 1 && faces === 0 ? 'at' : ''} vertex`, x: x - 4, y: y - 4, width: 8, height: 8, 'data-vertex': i });
    });
  }

  const missed: Told = { words: 'This pixel shows no surface. Choose another one.', facts: [] };
  const bits = (): string => cube.corners.toString(2).padStart(8, '0');

  function showSamples(): Told {
    return {
      words: `${count(cube.inside)} of ${plural(cube.samples, 'sample')} are at least ${short(cube.level)}, the level: they are inside. The surface runs between them and the others.`,
      facts: [['Samples', count(cube.samples)], ['Inside', count(cube.inside)], ['Level', short(cube.level)]],
    };
  }

  function showCube(figure: SVGSVGElement): Told {
    if (!found()) return missed;
    figureOf(figure, 0, 0);
    const many = [...Array(8).keys()].filter(inside).length;
    return {
      words: `${many} of the corners of cube (${cube.x}, ${cube.y}, ${cube.z}) are inside, filled here. A bit for each makes the number of its case, ${cube.corners} of 0 to 255; in 0 and 255 no surface runs through.`,
      facts: [['Cube', `${cube.x}, ${cube.y}, ${cube.z}`], ['Bits, corner 7 to 0', bits()], ['Case', String(cube.corners)]],
    };
  }

  // The two corners between which a vertex lies.
  function ends(vertex: Place): readonly [number, number] {
    return EDGES.find(([a, b]) => {
      const [from, to] = [corner(a), corner(b)];
      return inside(a) !== inside(b) && vertex.every((v, i) => (from[i] === to[i] ? v === from[i] : true));
    })!;
  }

  function showVertex(moment: number, figure: SVGSVGElement): Told {
    if (!found()) return missed;
    figureOf(figure, moment + 1, 0);
    const vertex = vertices[moment]!;
    const [a, b] = ends(vertex);
    const axis = Math.log2(b - a);
    const part = vertex[axis]!;
    return {
      words: `From corner ${a} to corner ${b} the values go from ${short(values[a]!)} to ${short(values[b]!)} and pass ${short(cube.level)} after ${(100 * part).toFixed(0)} % of the way. A vertex lies there, and the cubes around this edge share it.`,
      facts: [['Vertex', `${moment + 1} of ${vertices.length}`], ['Along', 'xyz'[axis]!], ['Part of the edge', part.toFixed(3)]],
    };
  }

  function showTriangle(moment: number, figure: SVGSVGElement): Told {
    if (!found()) return missed;
    figureOf(figure, vertices.length, moment + 1);
    return {
      words: 'A table of 256 cases says which vertices make triangles: ' +
        `case ${cube.corners} has ${plural(triangles.length, 'triangle')}; the ${['first', 'second', 'third', 'fourth', 'fifth'][moment]!} joins vertices ${triangles[moment]!.map((v) => v + 1).join(', ')}. Cubes that share a face agree on what crosses it.`,
      facts: [['Case', String(cube.corners)], ['Triangles', String(triangles.length)], ['Vertices', String(vertices.length)]],
    };
  }

  function showSurface(): Told {
    return {
      words: `The surface runs through ${count(cube.crossed)} of ${plural(cube.cubes, 'cube')}, ${((100 * cube.crossed) / cube.cubes).toFixed(1)} %. Only those make triangles: the worker walks a bit for each sample, 64 at a time; on the GPU a histopyramid lists them.`,
      facts: [['Cubes', count(cube.cubes)], ['With triangles', count(cube.crossed)], ['Vertices', count(cube.vertices)], ['Triangles', count(cube.triangles)], ['Made in', milliseconds(cube.milliseconds)]],
    };
  }

  // ---- Beside the free picture

  let pointed: Point | undefined; // that was asked about last
  let surface = ''; // that is shown, in words
  let rested = 0; // milliseconds when it has been for long enough to be counted
  let timer = 0;
  const DOWN = 24; // from one level of the pyramid to the next

  function showPyramid(figure: SVGSVGElement): string {
    const ways = sums.map((_, i) => Math.floor(cube.cell / 4 ** (sums.length - 1 - i)) % 4);
    const ahead = sums.reduce((sum, four, i) => sum + four.slice(0, ways[i]).reduce((a, b) => a + b, 0), 0);
    const total = sums[0]!.reduce((a, b) => a + b, 0);
    figure.setAttribute('viewBox', `0 0 310 ${212 + DOWN * sums.length}`);
    chain(figure, sums.map((children, i) => ({ children, taken: ways[i]!, label: i + 1 < sums.length ? `Level ${sums.length - 1 - i}` : 'Cubes' })), 212, DOWN);
    const how = `The GPU lists triangles by this pyramid of their counts${stage.values['by'] === 'gpu' ? '' : ', the worker row by row'}`;
    return `${how}: ${count(ahead)} of ${count(total)} come ahead of this cube’s.`;
  }

  const free: Free = {
    title: 'One cube',
    stays: true,
    ask(at) {
      lens = new Lens(stage.module, stage.module._isosurface_seen!(), stage.canvas);
      const now = stage.details.querySelector('.surface-facts')!.textContent!;
      if (surface !== now) {
        rested = surface ? performance.now() + REST : 0;
        surface = now;
        pointed = undefined;
      }
      const wait = rested - performance.now();
      clearTimeout(timer);
      if (at !== pointed && wait > 0) {
        timer = window.setTimeout(() => stage.redraw(), wait);
      } else if (at !== pointed) {
        pointed = at;
        look(at, now, false).catch((error: unknown) => stage.fail(error));
      }
      return there === now;
    },
    moments: () => 1,
    show(_, over, figure) {
      if (!found()) return missed;
      frame(over);
      figureOf(figure, vertices.length, triangles.length);
      const high = [...Array(8).keys()].filter(inside);
      const pyramid = showPyramid(figure);
      return {
        words: `${high.length === 1 ? `Corner ${high[0]} is` : `Corners ${high.join(', ')} are`} at least ${short(cube.level)}: case ${cube.corners} of 0 to 255, ${plural(triangles.length, 'triangle')}. ${pyramid}`,
        facts: [['Cube', `${cube.x}, ${cube.y}, ${cube.z}`], ['Bits, corner 7 to 0', bits()]],
      };
    },
  };

  return {
    free,
    values: { level: 0.5, turn: false, wander: false, shape: 'metaballs', size: '64', low: false, by: 'cpu', color: 'body', facets: false, box: true, camera: '' },
    content: ['shape', 'size', 'level'],
    steps: [
      { title: 'A level parts the samples', text: 'A volume is a lattice of samples. A level says which of them are inside.' },
      { title: 'One cube of eight samples', text: 'Marching cubes looks at one cube after the other. Move the pointer, or the arrow keys on the picture, to choose a cube on the surface.', points: true },
      { title: 'Where edges are cut', text: 'Where one end of an edge is inside and the other is not, the surface crosses it.', points: true, unit: 'Vertex' },
      { title: 'Triangles from a table', text: 'Which of these vertices are joined depends on the case alone.', points: true, unit: 'Triangle' },
      { title: 'All cubes, where it matters', text: 'Every triangle by itself: each cube that the surface runs through gave its own, and together they are closed.' },
    ],
    enter(step) {
      const [facets, camera] = [step === SURFACE, step === SAMPLES || step === SURFACE ? '' : NEAR];
      if (stage.values['facets'] !== facets) stage.put('facets', facets);
      if (stage.values['camera'] !== camera) stage.put('camera', camera);
    },
    ask(step, at) {
      lens = new Lens(stage.module, stage.module._isosurface_seen!(), stage.canvas);
      const facts = stage.details.textContent; // of the surface that is shown: its volume and counts
      const key = `${Math.floor(at.x)} ${Math.floor(at.y)} ${lens} ${facts}`;
      if (asked !== key) {
        asked = key;
        look({ x: Math.floor(at.x), y: Math.floor(at.y) }, key, true).catch((error: unknown) => stage.fail(error));
      }
      return there === key && step >= 0;
    },
    moments: (step) => Math.max(1, step === VERTICES ? vertices.length : step === TRIANGLES ? triangles.length : 1),
    show(step, moment, over, figure) {
      if (step === SAMPLES) return showSamples();
      if (step === SURFACE) return showSurface();
      frame(over);
      return step === CUBE ? showCube(figure) : step === VERTICES ? showVertex(moment, figure) : showTriangle(moment, figure);
    },
  };
}

