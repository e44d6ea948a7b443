// Files to try the scenes with. C makes them when they are asked for (../samples.c), and scenes read them as they read the reader's.
import { sampleKind, sampleMake } from '../fields.js';
import { element } from './element.js';
import { isOneOf } from './files.js';
import type { Jobs } from './jobs.js';
import { placed } from './named.js';
import { SceneError, type Scene } from './scene.js';

export type Kind = keyof typeof sampleKind;

export interface Sample {
  kind: Kind; // in the address
  names: readonly [string] | readonly [string, string];
  about: string;
}

export const samples: readonly Sample[] = [
  { kind: 'sunflower', names: ['sunflower.csv'], about: '2,500 points in the plane, as the seeds of a sunflower lie' },
  { kind: 'galaxy', names: ['galaxy.npy'], about: '20,000 points in the plane: a middle and two arms' },
  { kind: 'rings', names: ['rings.npy'], about: 'A volume of 96³ bytes: a log with growth rings and a branch' },
  { kind: 'orbital', names: ['orbital.npy'], about: 'A volume of 64³ floats: the density of an electron, 4f' },
  { kind: 'gyroid', names: ['gyroid.ply'], about: 'A mesh that marching cubes made' },
  { kind: 'link', names: ['link.obj'], about: 'A mesh as text: two rings, each through the other' },
  { kind: 'asteroid', names: ['asteroid.xyz'], about: 'A scan as text, dense and thin by turns' },
  { kind: 'scans', names: ['scan-1.ply', 'scan-2.ply'], about: 'Two scans of one body, to be aligned' },
];

export const sampleOf = (kind: string): Sample | undefined => samples.find((sample) => sample.kind === kind);

export async function makeSample({ kind, names }: Sample, jobs: Jobs): Promise<File[]> {
  const { buffers } = await jobs.run('sample', placed(sampleMake, { kind: sampleKind[kind] }));
  return names.map((name, i) => new File([buffers[i]!], name));
}

// The scenes that can read a file of this name, or two.
export const readers = (scenes: readonly Scene[], names: readonly string[]): Scene[] =>
  scenes.filter((scene) => names.length <= (scene.files ?? 1) && names.every((name) => isOneOf(name, scene.suffixes)));

// Of the scenes that could read a sample those that show something of it: NPY is read as points and as volumes.
const meant: Record<Kind, readonly string[]> = {
  sunflower: ['voronoi'], galaxy: ['voronoi'], rings: ['isosurface', 'compaction'], orbital: ['isosurface', 'compaction'],
  gyroid: ['rays', 'cloud'], link: ['rays'], asteroid: ['cloud'], scans: ['cloud'],
};
export const suits = (sample: Sample, scene: Scene): boolean => meant[sample.kind].includes(scene.name);

export function saveFiles(files: readonly File[]): void {
  for (const file of files) {
    const link = element('a', { href: URL.createObjectURL(file), download: file.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

// The gallery, made when it is first opened. `here` is the scene that is shown, whose samples come first.
export function openGallery(scenes: readonly Scene[], here: Scene | undefined, save: (sample: Sample) => Promise<void>): void {
  document.getElementById('samples')?.remove();
  const said = element('p', { role: 'status' });
  const order = [...samples].sort((a, b) => (here ? Number(suits(b, here)) - Number(suits(a, here)) : 0));
  const rows = order.map((sample) => {
    const keep = element('button', { type: 'button', 'aria-label': `Save ${sample.names.join(' and ')}` }, 'Save');
    keep.addEventListener('click', () => {
      save(sample).then(() => (said.textContent = `Saved: ${sample.names.join(', ')}.`), (error: unknown) => {
        said.textContent = error instanceof SceneError ? error.message : String(error);
      });
    });
    const links = scenes.filter((scene) => suits(sample, scene)).map((scene) =>
      element('a', { class: 'button', href: `#${scene.name}?sample=${sample.kind}`, 'aria-label': `Open ${sample.names.join(' and ')} in ${scene.title}` }, scene.title));
    return element('li', {}, element('div', {}, element('h3', {}, sample.names.join(', ')), element('p', {}, sample.about)), element('div', { class: 'actions' }, ...links, keep));
  });
  const dialog = element('dialog', { id: 'samples', 'aria-labelledby': 'samples-title' },
    element('form', { method: 'dialog' }, element('h2', { id: 'samples-title' }, 'Sample files'), element('button', {}, 'Close')),
    element('p', {}, 'Made on this machine when they are asked for. Open one in a scene, or save it to see what such a file holds.'),
    element('ul', {}, ...rows), said);
  dialog.addEventListener('click', (event) => {
    if ((event.target as HTMLElement).closest('a')) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
