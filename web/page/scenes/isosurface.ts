// Isosurface: the surface of a volume at a level that moves, by marching cubes in the worker or on the GPU.
import './isosurface.css';
import { isosurfaceAsk, isosurfaceBuffer, isosurfaceChecked, isosurfaceFacts, isosurfaceMade, isosurfaceOther, volumeMake, volumeShape } from '../fields.js';
import { shapes } from './compaction.js';
import { Orbit } from './orbit.js';
import { accepts, closeForm, numbersOf, openVolume, suffixes, type RawForm, type VolumeFile } from './raw.js';
import { Superseded } from '../shell/jobs.js';
import { sentence } from '../shell/module.js';
import { named, placed } from '../shell/named.js';
import type { Answer, PageModule } from '../shell/module.js';
import { SceneError } from '../shell/scene.js';
import type { Host, Scene, ScenePointer } from '../shell/scene.js';
import { count, plural } from '../shell/words.js';

const SMALL = 0.002; // a step of the slider, of the whole range
const QUICK = 40; // milliseconds

interface Volume {
  name: string;
  size: [number, number, number];
  type: number;
  least: number;
  most: number;
}
export function isosurface(): Scene {
  let host: Host;
  let module: PageModule;
  let size = { width: 1, height: 1 };
  let volume: Volume | undefined;
  let counts = { vertices: 0, triangles: 0 };
  let meshed = false; // a mesh is in the context
  let stale = false; // the GPU is to make a surface of another level
  let held = 0; // the volume that the page's thread holds: its turn
  let turn = 0; // of the worker's volumes
  let camera = new Orbit();
  let drawing = false; // a picture has been begun
  let wanted = false; // another picture than the one being drawn
  let fine = false; // that picture is multisampled
  let begun = 0; // when it was
  let remaining = 0; // triangles that were left before
  let finished = false; // it is drawn, and nobody has looked how long that took
  let fineTakes = Infinity; // milliseconds
  let pointed: { x: number; y: number } | undefined; // where the cube that is told of is looked for; undefined: in the middle
  let middle = { x: 0, y: 0 }; // anew whenever the reader has moved the camera
  let dragged = false;
  let direction = 1;
  let before = 0;

  const check = (status: number): void => {
    if (status !== 0) throw new SceneError(sentence(module));
  };
  const text = (id: string): string => String(host.values[id]);
  const on = (id: string): boolean => host.values[id] === true;
  const low = (): number => (on('low') ? 1 : 0);
  const onGpu = (): boolean => text('by') === 'gpu';
  // The slider goes through the volume's range of values.
  const levelAt = (share: number): number => (volume ? volume.least + share * (volume.most - volume.least) : share);
  const shareOf = (level: number): number => Math.round((level - volume!.least) / (volume!.most - volume!.least) / SMALL) * SMALL;
  const level = (): number => levelAt(Number(host.values['level']));
  const asked = (): number[] => placed(isosurfaceAsk, { level: level(), lowInside: low() });
  const levelText = (share: number): string => {
    if (!volume) return share.toFixed(3);
    const range = volume.most - volume.least;
    return levelAt(share).toFixed(range > 500 ? 0 : range > 20 ? 1 : range > 2 ? 2 : 3);
  };

  // ---- Volumes

  async function makeVolume(): Promise<void> {
    const { value, label } = shapes.find((s) => s.value === text('shape'))!;
    const side = Number(text('size'));
    host.say(`Making ${side}³ samples …`);
    await take(await host.job('isosurface_make', placed(volumeMake, { shape: volumeShape[value], side }), { newest: 'volume' }), label);
  }

  async function readVolume(file: VolumeFile, raw: RawForm): Promise<void> {
    await take(await host.job('isosurface_read', numbersOf(raw), { buffers: [file.bytes] }), file.name);
    host.say(`${file.name}: ${volume!.size.join(' × ')} samples from ${levelText(0)} to ${levelText(1)}; ${plural(counts.triangles, 'triangle')} at level ${levelText(Number(host.values['level']))}.`);
  }

  // The worker has another volume now.
  async function take(answer: Answer, name: string): Promise<void> {
    turn++;
    const { width, height, depth, type, least, most, parting } = named(isosurfaceFacts, answer.numbers);
    const fresh = volume?.name !== name;
    // What is built in goes from -1 to 1 and is meant to be seen at 0; of a file the level parts the values in two.
    const builtIn = shapes.some((s) => s.label === name);
    volume = { name, size: [width, height, depth], type, least: builtIn ? -1 : least, most: builtIn ? 1 : most };
    if (fresh && !(first && builtIn)) host.set('level', shareOf(builtIn ? 0 : parting));
    else host.set('level', Number(host.values['level'])); // says the value anew
    first = false;
    return extract();
  }
  let first = true; // the address may say another level than the volume's own

  // ---- Surfaces

  async function extract(): Promise<void> {
    if (!volume) return;
    if (onGpu()) {
      await holdVolume();
      stale = true;
      void host.job('isosurface_level', asked()).catch(() => undefined); // of what the worker tells
      host.redraw();
      return;
    }
    const mine = turn;
    const answer = await host.job('isosurface', asked(), { newest: 'surface' });
    if (mine !== turn || onGpu()) return;
    host.time('build', answer.milliseconds);
    const places = answer.buffers.map((buffer) => {
      const at = module._page_allocate(buffer.byteLength || 1) >>> 0;
      if (at) module.HEAPU8.set(new Uint8Array(buffer), at);
      return at;
    });
    try {
      if (!places.every((at) => at)) throw new SceneError('There is no memory for this surface: a smaller volume has less of it.');
      const { positions, triangles } = named(isosurfaceBuffer, answer.buffers);
      put(named(isosurfaceBuffer, places), positions.byteLength / 12, triangles.byteLength / 12);
    } finally {
      for (const at of places) if (at) module._free(at);
    }
  }

  // Gives the page's thread a copy of the volume, for the GPU.
  async function holdVolume(): Promise<void> {
    if (held === turn) return;
    const mine = turn;
    const answer = await host.job('isosurface_samples', []);
    if (mine !== turn) return;
    const { width, height, depth, type } = named(isosurfaceFacts, answer.numbers);
    const bytes = new Uint8Array(answer.buffers[0]!);
    const at = module._page_allocate(bytes.length) >>> 0;
    if (!at) throw new SceneError('There is no memory for a second copy of this volume.');
    module.HEAPU8.set(bytes, at);
    module._isosurface_hold!(at, width, height, depth, type);
    held = mine;
  }

  function onGpuNow(): Record<keyof typeof isosurfaceMade, number> {
    const at = module._isosurface_on_gpu!(level(), low()) >>> 0;
    if (!at) throw new SceneError(sentence(module));
    return named(isosurfaceMade, module.HEAPF64.subarray(at / 8));
  }

  function extractOnGpu(): void {
    stale = false;
    if (held !== turn) return;
    const begun = performance.now();
    const made = onGpuNow();
    host.time('build', performance.now() - begun);
    put(made, made.vertexCount, made.triangleCount);
  }

  function put(places: Record<keyof typeof isosurfaceBuffer, number>, vertices: number, triangles: number): void {
    if (host.gl.isContextLost()) return; // contextRestored() extracts it anew
    const [x, y, z] = volume!.size;
    host.upload(() => check(module._isosurface_mesh!(places.positions, places.normals, places.triangles, vertices, triangles, x - 1, y - 1, z - 1)));
    counts = { vertices, triangles };
    meshed = true;
    drawing = false;
    tell();
    draw();
  }

  // ---- What is told

  function tell(): void {
    const samples = volume!.size.every((s) => s === volume!.size[0]) ? `${volume!.size[0]}³` : volume!.size.join(' × ');
    const rows: [string, string][] = [
      ['Volume', volume!.name],
      ['Samples', samples],
      ['Level', levelText(Number(host.values['level']))],
      ['Vertices', count(counts.vertices)],
      ['Triangles', count(counts.triangles)],
    ];
    let list = host.details.querySelector('.surface-facts');
    if (!list) {
      list = host.details.appendChild(document.createElement('dl'));
      list.className = 'surface-facts';
    }
    list.replaceChildren(...rows.flatMap(([name, value]) => {
      const [dt, dd] = [document.createElement('dt'), document.createElement('dd')];
      dt.textContent = name;
      dd.textContent = value;
      return [dt, dd];
    }));
    const empty = counts.triangles === 0;
    const words = `No sample ${on('low') ? 'is below' : 'reaches'} ${levelText(Number(host.values['level']))}, or all do: at this level there is no surface. Move the level.`;
    if (empty !== !!host.overlay.querySelector('.surface-nothing')) {
      host.overlay.replaceChildren();
      if (empty) {
        const place = host.overlay.appendChild(document.createElement('p'));
        place.className = 'surface-nothing';
        place.textContent = words;
      }
    }
    // Told anew with every surface, but not while the level moves by itself.
    if (!on('wander') || host.paused) host.say(empty ? words : `${volume!.name}, level ${levelText(Number(host.values['level']))}: ${plural(counts.triangles, 'triangle')}.`);
  }

  // ---- The camera

  function draw(): void {
    wanted = true;
    if (drawing) host.redraw();
    else host.begin();
  }

  function moved(): void {
    host.set('camera', camera.text());
    if (pointed) pointed = { ...pointed };
    middle = { x: size.width / 2, y: size.height / 2 };
    draw();
  }

  // The shell calls again when the GPU has done what it was given.
  function look(): void {
    if (finished && fine) fineTakes = performance.now() - begun;
    finished = false;
  }

  // A job that a newer one replaced is no failure.
  function failed(error: unknown): void {
    if (!(error instanceof Superseded || host.gl.isContextLost())) host.say(error instanceof Error ? error.message : String(error));
  }

  return {
    name: 'isosurface',
    title: 'Isosurface',
    about: 'The surface where a volume’s values pass a level: marching cubes over the cells that a compaction leaves. Drop a volume of your own.',
    keys: [
      ['drag', 'turn; with shift or two fingers move'],
      ['wheel, pinch', 'nearer, farther'],
      ['← → ↑ ↓', 'turn'],
      ['+ −', 'nearer, farther'],
      ['[ ]', 'level down, up'],
      ['0', 'look from where it began'],
    ],
    accepts,
    suffixes,
    webgl1: false,
    animated: true,
    share: { first: 150000, least: 20000, most: 8e6 },
    controls: [
      { kind: 'slider', id: 'level', label: 'Level', least: 0, most: 1, step: SMALL, initial: 0.5, text: levelText, help: 'The surface runs where the samples’ values pass this one.' },
      { kind: 'switch', id: 'turn', label: 'Turn slowly', initial: true, help: 'The camera goes round, unless the page is paused.' },
      { kind: 'switch', id: 'wander', label: 'Move the level', key: 'm', initial: false, help: 'The level goes up and down, unless the page is paused.' },
      { kind: 'choice', id: 'shape', label: 'Shape', key: 'o', initial: 'skull', options: shapes, group: 'Volume' },
      { kind: 'choice', id: 'size', label: 'Samples', initial: '128', group: 'Volume', options: ['64', '128', '192', '256'].map((value) => ({ value, label: `${value}³` })) },
      { kind: 'switch', id: 'low', label: 'Low values are inside', initial: false, group: 'Volume', help: 'As for signed distances; otherwise high values are inside.' },
      { kind: 'choice', id: 'by', label: 'Made by', key: 'g', initial: 'cpu', group: 'Mesh', options: [{ value: 'cpu', label: 'CPU, worker' }, { value: 'gpu', label: 'GPU, shaders' }], help: 'Marching cubes in WebAssembly, which was faster wherever it was measured, or by histopyramids in fragment shaders.' },
      { kind: 'choice', id: 'color', label: 'Colour', key: 'c', initial: 'body', group: 'Mesh', options: [{ value: 'body', label: 'Body' }, { value: 'normals', label: 'Normals' }] },
      { kind: 'switch', id: 'facets', label: 'Facets', key: 'f', initial: false, group: 'Mesh', help: 'Every triangle by itself.' },
      { kind: 'switch', id: 'cube', label: 'One cube', key: 'q', initial: true, group: 'Mesh', help: 'The one that is pointed at: its case, and the pyramid that leads to it.' },
      { kind: 'switch', id: 'box', label: 'Edges of the volume', key: 'b', initial: false, group: 'Mesh' },
      { kind: 'hidden', id: 'camera', initial: '' },
    ],

    beyond: () => (volume && !shapes.some((s) => s.label === volume!.name) ? volume.name : ''),
    told() {
      if (!on('cube')) return undefined;
      const busy = !meshed || dragged || (on('wander') && !host.paused);
      return busy ? null : (pointed ?? middle);
    },
    pin: () => host.set('camera', camera.text()),
    async start(given) {
      host = given;
      module = given.module;
      volume = undefined;
      held = 0;
      meshed = stale = drawing = wanted = finished = false;
      fineTakes = Infinity;
      pointed = undefined;
      first = true;
      camera = new Orbit(text('camera'));
      await makeVolume();
    },
    stop() {
      turn++;
      meshed = false;
      volume = undefined;
      void host.job('isosurface_forget', []).catch(() => undefined);
      module._isosurface_stop!();
      module._isosurface_forget!();
    },
    change(id: string) {
      if (id === 'shape' || id === 'size') {
        closeForm(host);
        makeVolume().catch(failed);
      } else if (id === 'level' || id === 'low' || id === 'by') {
        extract().catch(failed);
      } else {
        if (id === 'camera') camera = new Orbit(text('camera'));
        draw();
      }
    },
    resize(width, height) {
      size = { width, height };
      middle = { x: width / 2, y: height / 2 };
      drawing = false;
      wanted = true;
    },
    frame(share) {
      if (stale) extractOnGpu();
      if (!meshed) return false;
      look();
      if (!drawing) {
        // While it moves a picture has edges of whole pixels, unless the GPU is quick; at rest it is drawn anew.
        fine = !wanted || fineTakes < QUICK;
        wanted = false;
        drawing = true;
        begun = performance.now();
        remaining = counts.triangles;
        module._isosurface_begin!(size.width, size.height, camera.yaw, camera.pitch, camera.zoom, camera.x, camera.y, on('box') ? 1 : 0, fine ? 1 : 0);
      }
      const left = module._isosurface_frame!(share, on('facets') ? 1 : 0, text('color') === 'normals' ? 1 : 0);
      drawing = left > 0;
      finished = !drawing;
      host.did(Math.min(1, (remaining - left) / share));
      remaining = left;
      if (finished && (wanted || !fine)) host.redraw();
      return drawing;
    },
    animate() {
      const passed = Math.min(0.1, Math.max(0, host.seconds - before));
      before = host.seconds;
      if (!meshed || passed === 0) return false;
      look();
      if (on('wander') && !stale) {
        const share = Number(host.values['level']) + direction * 0.12 * passed;
        if (share > 0.72 || share < 0.28) direction = share > 0.5 ? -1 : 1;
        host.set('level', Math.max(0, Math.min(1, share)));
        extract().catch(failed);
      }
      if (!on('turn') || drawing) return false;
      camera.turn(0.22 * passed); // the address keeps where the reader left it
      draw();
      return true;
    },
    pointer(event: ScenePointer) {
      dragged = event.held && event.type === 'move';
      if (event.type === 'click' || (event.type === 'move' && !event.held)) pointed = { x: event.x, y: event.y };
      return camera.pointer(event, size, moved);
    },
    key(event) {
      if (event.key === '[' || event.key === ']') {
        const share = Number(host.values['level']) + (event.key === '[' ? -5 : 5) * SMALL;
        host.set('level', Math.max(0, Math.min(1, share)));
        extract().catch(failed);
        return true;
      }
      return camera.key(event, moved);
    },
    drop(name, bytes) {
      const file = { name, bytes };
      return openVolume(host, file, (raw) => readVolume(file, raw), failed);
    },
    async verify() {
      if (!volume || !meshed) throw new SceneError('There is no surface yet.');
      await holdVolume();
      const made = onGpuNow();
      const copy = (at: number, bytes: number): ArrayBuffer => module.HEAPU8.slice(at, at + bytes).buffer as ArrayBuffer;
      const answer = await host.job('isosurface_check', asked(), {
        buffers: placed(isosurfaceOther, { positions: copy(made.positions, 12 * made.vertexCount), triangles: copy(made.triangles, 12 * made.triangleCount) }),
      });
      const { closed, outer, open, vertices, triangles, wrong, apart } = named(isosurfaceChecked, answer.numbers);
      if (!triangles && !made.triangleCount) return 'Verified: there is no surface at this level, neither by the CPU nor by the GPU.';
      if (open) return `Wrong: the mesh is not closed, ${plural(open, 'edge')} ${open === 1 ? 'has' : 'have'} only one side.`;
      if (wrong) return `Wrong: the GPU’s mesh differs from the CPU’s in ${count(wrong)} of ${plural(triangles, 'triangle')}.`;
      const ends = outer ? `, but for ${count(outer)} on the volume’s faces, where it ends` : '';
      const same = apart === 0 ? 'bit for bit' : `positions to ${apart.toExponential(0)} of a sample`;
      return `Verified: the mesh is closed, each of ${plural(closed, 'edge')} run once each way${ends}. The GPU’s ${count(vertices)} vertices and ${plural(triangles, 'triangle')} are the CPU’s, ${same}.`;
    },
    contextLost() {
      meshed = stale = drawing = false;
      module._isosurface_stop!();
    },
    async contextRestored() {
      drawing = false;
      if (volume) await extract();
      else await makeVolume();
    },
  };
}
