// Photons, told: they leave the lamp and bounce, a tree grows over where they land, one place gathers its nearest, and passes with
// smaller radii make the picture smooth.
import { photonsPlane, photonsStop, photonsTell, photonsTold, photonsToldBuffer } from '../fields.js';
import { named, placed } from '../shell/named.js';
import { chart, rows, type Point, type Stage, type Story, type Told } from '../shell/story.js';
import { count, plural } from '../shell/words.js';
import type { Photons } from './photons.js';
import { Lens, type Place } from './space_guide.js';

const [LAMP, BOUNCE, TREE, GATHER, PASSES] = [0, 1, 2, 3, 4];
const cm = (length: number): string => `${(100 * length).toFixed(1)} cm`;
const percent = (part: number): string => `${(100 * part).toFixed(2)} %`;

export function photonsStory(stage: Stage): Story {
  let told: Record<keyof typeof photonsTold, number>;
  let stops: Record<keyof typeof photonsStop, number>[] = [];
  let planes: Record<keyof typeof photonsPlane, number>[] = [];
  let landed: Float64Array = new Float64Array();
  let found: Place[] = [];
  let changes: number[] = []; // by pass
  let lens: Lens;
  let asked = '';
  let there = '';

  async function look(at: Point, place: string): Promise<void> {
    const scene = stage.scene as Photons;
    const { stale } = scene; // then the passes are those of the picture before
    const { numbers, buffers } = await stage.job('photons_told', placed(photonsTell, at, scene.asking()), { newest: 'told' });
    told = named(photonsTold, numbers);
    if (stale) Object.assign(told, { pass: 0, part: 1 });
    if (!told.photons) return; // not all of them have landed
    stops = rows(photonsStop, buffers[photonsToldBuffer.stops]!);
    landed = new Float64Array(buffers[photonsToldBuffer.landed]!);
    planes = rows(photonsPlane, buffers[photonsToldBuffer.planes]!);
    const places = new Float32Array(buffers[photonsToldBuffer.found] ?? []);
    found = Array.from({ length: places.length / 3 }, (_, i) => [places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!]);
    if (!told.pass) changes = [];
    else changes[told.pass] = told.changed;
    there = place;
    stage.redraw();
  }

  // ---- Steps

  function showLamp(): Told {
    return {
      words: `${plural(stage.values['photons'] as number, 'photon')} left the lamp for all directions. They landed ${count(told.photons)} times: ${count(landed[0]!)} straight from the lamp, the others after a surface sent them on. Lines are the last flights of some.`,
      facts: [['Landed', count(told.photons)], ['Straight', count(landed[0]!)], ['After a surface', count(told.photons - landed[0]!)]],
    };
  }

  function showBounce(moment: number, over: SVGSVGElement): Told {
    const at = (i: number): Place => [stops[i]!.x, stops[i]!.y, stops[i]!.z];
    for (let i = 0; i <= moment; i++) lens.line(over, at(i), at(i + 1), i < moment ? 'plane' : 'now', 2);
    for (let i = 0; i <= moment + 1; i++) lens.dot(over, at(i), 'query', i > moment ? 6 : 4);
    const stop = stops[moment + 1]!;
    const power = [stop.red, stop.green, stop.blue].map((v, i) => (v / [stops[0]!.red, stops[0]!.green, stops[0]!.blue][i]!).toFixed(2)).join(', ');
    return {
      words: `${moment ? `After ${plural(moment, 'surface')} it lands with ${power} of the red, green and blue that it left with` : 'It lands with all its power'}. ` +
        (moment + 2 < stops.length ? 'Roulette lets it go on.' : 'Its way ends here.'),
      facts: [['Surface', `${moment + 1} of ${stops.length - 1}`], ['Power left', power], ['Landed here, of all photons', count(landed[moment]!)]],
    };
  }

  function showTree(moment: number, over: SVGSVGElement): Told {
    planes.slice(0, moment + 1).forEach((plane, i) => {
      const [from, to] = [[plane.lower, plane.lowerY, plane.lowerZ], [plane.upper, plane.upperY, plane.upperZ]];
      const corner = (first: boolean, second: boolean): Place =>
        [0, 1, 2].map((a) => (a === plane.axis ? plane.split : ((a === (plane.axis + 1) % 3 ? first : second) ? to : from)[a]!)) as unknown as Place;
      lens.area(over, [corner(false, false), corner(true, false), corner(true, true), corner(false, true)], i === moment ? 'leaf' : 'plane');
    });
    const plane = planes[moment]!;
    const level = Math.floor(Math.log2(moment + 1));
    return {
      words: `Plane ${moment + 1}, across ${'xyz'[plane.axis]!} at ${plane.split.toFixed(3)} m, has as many photons on one side as on the other: about ${count(told.photons / 2 ** (level + 1))}. So it goes on down to leaves of a few.`,
      facts: [['Photons', count(told.photons)], ['Level', count(level + 1)], ['Levels of the tree', count(told.depth)], ['Leaves', count(told.leaves)]],
    };
  }

  function showGather(over: SVGSVGElement): Told {
    if (!told.radius) return { words: 'Nothing is seen here on which photons land. Choose another place.', facts: [] };
    const at: Place = [told.x, told.y, told.z];
    const normal: Place = [told.normalX, told.normalY, told.normalZ];
    lens.disc(over, at, normal, (stage.values['radius'] as number) / 100, 'reach');
    lens.disc(over, at, normal, told.radius, 'leaf');
    for (const place of found) lens.dot(over, place, 'query', 3);
    return {
      words: `${plural(found.length, 'photon')} lie within ${cm(told.radius)} of this place, on its side. Their power, over the area of the disc, is the light here. To find them the search looked at ${count(told.seenLeaves)} of ${count(told.leaves)} leaves.`,
      facts: [['Radius', cm(told.radius)], ['Photons looked at', `${count(told.seenPhotons)} of ${count(told.photons)}`], ['Light', [told.red, told.green, told.blue].map((v) => v.toFixed(3)).join(', ')]],
    };
  }

  function showPasses(figure: SVGSVGElement): Told {
    const radius = ((stage.values['radius'] as number) / 100) * told.part;
    if (told.pass) chart(figure, changes, 24, `By how much each pass changes the picture, down to ${percent(told.changed)}.`);
    return {
      words: told.pass
        ? `Pass ${told.pass + 1} looks no farther than ${cm(radius)}, and has changed the picture’s light by ${percent(told.changed)}. Stains of single photons fade, and edges get sharp.`
        : `The first pass looks as far as ${cm(radius)}.`,
      facts: [['Pass', count(told.pass + 1)], ['Not beyond', cm(radius)], ['Of the first radius', percent(told.part)], ['Changed', told.pass ? percent(told.changed) : '–']],
    };
  }

  return {
    values: {
      show: 'dots', thing: 'ball', matter: 'glass', turn: 150, height: 75, lamp: 10, photons: 8000, caustics: 8000, bounces: 8, maps: 'both', straight: 'photons',
      k: 60, radius: 40, filter: 'constant', renew: false, exposure: 1.2, tint: 'power', dot: 8, lines: true, camera: '',
    },
    content: ['thing'],
    steps: [
      { title: 'Photons leave the lamp', text: 'Light is sent out in small parts of equal power, and each lands somewhere.' },
      { title: 'They bounce', text: 'A surface takes a part of what lands. Roulette decides for each photon whether it goes on; so few have to be followed far. This is the way of one.', unit: 'Surface' },
      { title: 'A tree grows over them', text: 'Plane by plane it halves where photons landed, so that near ones are found quickly.', unit: 'Plane' },
      { title: 'A place gathers its light', text: 'Where the eye looks, the nearest photons are found. Move the pointer, or the arrow keys on the picture, to choose a place.', points: true },
      { title: 'Passes make it smooth', text: 'A pass after the other sends other photons, looks less far, and is added to the mean.' },
    ],
    enter(step) {
      const values = { show: step < GATHER ? 'dots' : step === GATHER ? 'both' : 'light', lines: step === LAMP, renew: step === PASSES };
      for (const [id, value] of Object.entries(values)) if (stage.values[id] !== value) stage.put(id, value);
      (stage.scene as Photons).finish(); // a link begins here, and the page was not yet paused when the scene started
    },
    start: () => ({ x: 0.5 * stage.canvas.width, y: 0.85 * stage.canvas.height }),
    ask(step, at) {
      lens = new Lens(stage.module, stage.module._photons_seen!(), stage.canvas);
      const pixel = { x: Math.floor(at.x), y: Math.floor(at.y) };
      const place = `${step} ${pixel.x} ${pixel.y} ${lens}`;
      const key = place + stage.details.textContent; // what the scene has done meanwhile
      if (asked !== key) look(pixel, place).catch((error: unknown) => stage.fail(error));
      asked = key;
      return there === place;
    },
    moments: (step) => (step === BOUNCE ? stops.length - 1 : step === TREE ? planes.length : 1),
    show(step, moment, over, figure) {
      if (step === LAMP) return showLamp();
      if (step === BOUNCE) return showBounce(moment, over);
      if (step === TREE) return showTree(moment, over);
      return step === GATHER ? showGather(over) : showPasses(figure);
    },
  };
}
