// Cloud, told: one point of a scan asks for its neighbours, they make a plane and push it along, and so all points do until they lie evenly.
import { cloudAsk, cloudForce, cloudPoint, cloudState } from '../fields.js';
import { named, placed } from '../shell/named.js';
import { chart, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count } from '../shell/words.js';
import { Lens, type Place } from './space_guide.js';

const [SCAN, NEIGHBOURS, PLANE, FORCE, EVEN] = [0, 1, 2, 3, 4];
const STEPS = 20; // that are made before one's eyes
const NEAR = '0.7,0.36,2.5,0,0'; // the camera where one point is told of
const LONGER = 4; // times as long the way of a point is drawn
const percent = (v: number): string => `${(100 * v).toFixed(1)} %`;

export function cloudStory(stage: Stage): Story {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  let told: Record<keyof typeof cloudPoint, number>;
  let neighbours: Place[] = []; // the nearest first, which is the point itself
  let lens: Lens;
  let errors: number[] = []; // by step
  let asked = '';
  let there = '';
  let stepping = false;

  const force = (): number[] => {
    const { values } = stage;
    return placed(cloudForce, { k: values['k'] as number, radius: values['by'] === 'radius' ? (values['radius'] as number) : 0, strength: values['strength'] as number });
  };
  const inSpacings = (length: number): string => `${(length / told.spacing).toFixed(2)} spacings`;

  async function look(at: Point, key: string): Promise<void> {
    const numbers = lens.ray(at);
    force().forEach((value, i) => (numbers[cloudAsk.force + i] = value));
    const answer = await stage.job('cloud_point', numbers, { newest: 'point' });
    told = named(cloudPoint, answer.numbers);
    const places = new Float32Array(answer.buffers[0] ?? []);
    neighbours = Array.from({ length: places.length / 3 }, (_, i) => [places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!]);
    if (told.steps === 0) errors = [];
    errors[told.steps] = told.error;
    there = key;
    stage.redraw();
  }

  // A step that is seen; with reduced motion all but the last are made behind the picture.
  async function walk(): Promise<void> {
    stepping = true;
    for (let step = told.steps + 1; still && step < STEPS; step++) {
      const { numbers } = await stage.job('cloud_relax', force());
      const { steps, error } = named(cloudState, numbers);
      errors[steps] = error;
    }
    stage.put('step', true);
  }

  // ---- Over the picture

  const own = (): Place => [told.x, told.y, told.z];
  const beyond = (along: Place, times: number): Place => [told.x + times * along[0], told.y + times * along[1], told.z + times * along[2]];

  function star(over: SVGSVGElement): void {
    for (const place of neighbours.slice(1)) lens.line(over, own(), place, 'plane', 1);
    for (const place of neighbours.slice(1)) lens.dot(over, place, 'found', 3);
    lens.dot(over, own(), 'query', 6);
  }

  // ---- Steps

  function showScan(): Told {
    return {
      words: `The colours tell how dense the points lie, thin or dense: the densities differ from their mean by ${percent(told.error)}, by the root of the mean square.`,
      facts: [['Points', count(told.points)], ['Unevenness', percent(told.error)]],
    };
  }

  function showNeighbours(over: SVGSVGElement): Told {
    star(over);
    return {
      words: `Point ${count(told.id)} and its ${neighbours.length - 1} nearest others: the farthest is ${inSpacings(told.farthest)} away. Without a tree that takes ${count(told.points)} distances, for each of the points and in each step.`,
      facts: [['Point', count(told.id)], ['Neighbours', String(neighbours.length - 1)], ['Density here', `${told.density.toFixed(2)} of the mean`]],
    };
  }

  function showPlane(over: SVGSVGElement): Told {
    for (const place of neighbours.slice(1)) lens.dot(over, place, 'found', 3);
    const normal: Place = [told.normalX, told.normalY, told.normalZ];
    lens.disc(over, own(), normal, told.farthest, 'leaf');
    lens.line(over, own(), beyond(normal, 1.6 * told.farthest), 'now', 3);
    lens.dot(over, own(), 'query', 6);
    return {
      words: `The direction in which the neighbours spread least is the normal. They lie ${inSpacings(told.off)} off the plane through their middle, by the root of the mean square.`,
      facts: [['Normal', normal.map((v) => v.toFixed(2)).join(', ')], ['Off the plane', inSpacings(told.off)]],
    };
  }

  function showForce(over: SVGSVGElement): Told {
    star(over);
    const move: Place = [told.moveX, told.moveY, told.moveZ];
    lens.line(over, own(), beyond(move, LONGER), 'now', 3);
    lens.dot(over, beyond(move, LONGER), 'query', 4);
    return {
      words: `Each neighbour pushes the point away along the surface, a near one more than a far one. The next step moves it ${inSpacings(Math.hypot(...move))}; the line is ${LONGER} times as long. Then it is put back on the scan as it was given.`,
      facts: [['Way of this step', inSpacings(Math.hypot(...move))], ['Density here', `${told.density.toFixed(2)} of the mean`]],
    };
  }

  function showEven(figure: SVGSVGElement): Told {
    const known = errors.filter((error) => error !== undefined);
    chart(figure, errors, Math.max(STEPS, told.steps), `Unevenness from ${percent(known[0]!)} to ${percent(told.error)} in ${told.steps} steps.`);
    return {
      words: `After ${told.steps === 1 ? 'one step' : `${told.steps} steps`} the densities differ from their mean by ${percent(told.error)}; at first it was ${percent(known[0]!)}.`,
      facts: [['Step', count(told.steps)], ['Unevenness', percent(told.error)], ['Searches so far', count(told.steps * told.points)]],
    };
  }

  return {
    values: { work: 'relax', scan: 'knot', points: 3000, noise: 0, by: 'k', k: 16, strength: 1.5, color: 'density', disc: 0.7, lines: false, turn: false, camera: '' },
    content: ['scan', 'work', 'points', 'noise'],
    steps: [
      { title: 'A scan is uneven', text: 'A scanner sees some parts of a surface better than others. These points are to spread until they lie evenly.' },
      { title: 'A point asks for its neighbours', text: 'A search in the tree finds those that are nearest. Move the pointer, or the arrow keys on the picture, to choose a point.', points: true },
      { title: 'Neighbours make a plane', text: 'What the surface is like here follows from them.', points: true },
      { title: 'They push it along', text: 'Points repel each other, but none leaves the surface.', points: true },
      { title: 'Again, until they lie evenly', text: `Every point does so at the same time; then the tree is built anew, and the next step follows. ${STEPS} steps are made.` },
    ],
    enter(step) {
      const whole = step === SCAN || step === EVEN;
      const [color, camera] = whole ? ['density', ''] : ['plain', NEAR];
      if (stage.values['color'] !== color) stage.put('color', color);
      if (stage.values['camera'] !== camera) stage.put('camera', camera);
    },
    ask(step, at) {
      lens = new Lens(stage.module, stage.module._cloud_seen!(), stage.canvas);
      const facts = stage.details.textContent; // of the scan that is shown: its step and error
      const key = `${Math.floor(at.x)} ${Math.floor(at.y)} ${lens} ${facts}`;
      if (asked !== key) {
        asked = key;
        stepping = false;
        look({ x: Math.floor(at.x), y: Math.floor(at.y) }, key).catch((error: unknown) => stage.fail(error));
      }
      if (there !== key) return false;
      if (step === EVEN && told.id >= 0 && told.steps < STEPS && !stepping) walk().catch((error: unknown) => stage.fail(error));
      return true;
    },
    moments: () => 1,
    show(step, _, over, figure) {
      if (told.id < 0) return { words: 'This is told of a scan that relaxes, and here two scans of yours are aligned. Choose “Relax” first.', facts: [] };
      if (step === SCAN) return showScan();
      if (step === NEIGHBOURS) return showNeighbours(over);
      if (step === PLANE) return showPlane(over);
      return step === FORCE ? showForce(over) : showEven(figure);
    },
  };
}
