// Volumes that are dropped. Raw ones say neither their size nor their type: both are guessed from the file's name and length,
// and asked for.
import './raw.css';
import { volumeRaw } from '../fields.js';
import { Superseded } from '../shell/jobs.js';
import { placed } from '../shell/named.js';
import { SceneError, type Host } from '../shell/scene.js';
import { count, plural } from '../shell/words.js';

export interface VolumeFile {
  name: string;
  bytes: ArrayBuffer;
}

export interface RawForm {
  size: [number, number, number];
  type: number; // as sap_voxel: float, 8 bits, 16 bits with a sign, without
  bigEndian: boolean;
  skip: number; // bytes ahead of the samples
  nifti?: boolean; // its header says all of this
}

export const types = [
  { label: 'float, 32 bits', bytes: 4, pattern: /f(?:loat)?_?32|float/ },
  { label: '8 bits', bytes: 1, pattern: /u(?:int)?_?8|byte|uchar/ },
  { label: '16 bits, with a sign', bytes: 2, pattern: /(?<!u)i(?:nt)?_?16|short/ },
  { label: '16 bits', bytes: 2, pattern: /u(?:int)?_?16|ushort/ },
] as const;

export function bytesOf(form: RawForm): number {
  return form.size[0] * form.size[1] * form.size[2] * types[form.type]!.bytes + form.skip;
}

// The best guess: exact if bytesOf() is the file's length.
export function guess(name: string, bytes: number): RawForm {
  const lower = name.toLowerCase();
  const named = [3, 2, 1, 0].find((type) => types[type]!.pattern.test(lower)) ?? -1;
  const sides = /(\d+)[x×](\d+)[x×](\d+)/.exec(lower)?.slice(1, 4).map(Number);
  const bigEndian = /big|[_.-]be\b/.test(lower);
  if (sides) {
    const samples = sides[0]! * sides[1]! * sides[2]!;
    const width = [1, 2, 4].find((w) => samples * w === bytes);
    const type = named >= 0 ? named : width === 4 ? 0 : width === 2 ? 3 : 1;
    return { size: sides as [number, number, number], type, bigEndian, skip: Math.max(0, bytes - samples * types[type]!.bytes) };
  }
  for (const type of named >= 0 ? [named] : [1, 3, 0]) {
    const samples = bytes / types[type]!.bytes;
    const side = Math.round(Math.cbrt(samples));
    if (side ** 3 === samples) return { size: [side, side, side], type, bigEndian, skip: 0 };
    for (const square of [1024, 512, 256, 128, 64])
      if (samples % (square * square) === 0 && samples / (square * square) >= 2)
        return { size: [square, square, samples / (square * square)], type, bigEndian, skip: 0 };
  }
  return { size: [0, 0, 0], type: named >= 0 ? named : 1, bigEndian, skip: 0 };
}

// A form with the guess filled in, open if the guess does not fit; `read` gets what the reader makes of it.
function form(name: string, bytes: number, guessed: RawForm, read: (form: RawForm) => void): HTMLElement {
  const box = document.createElement('details');
  box.className = 'volume-form';
  box.open = bytesOf(guessed) !== bytes;
  box.appendChild(document.createElement('summary')).textContent = 'Size and type of the samples';
  const element = box.appendChild(document.createElement('form'));
  element.setAttribute('aria-label', `Size of ${name}`);
  const note = element.appendChild(document.createElement('p'));
  const number = (label: string, value: number): string =>
    `<label>${label}<input type="number" min="0" step="1" value="${value}" required></label>`;
  element.insertAdjacentHTML('beforeend', `
    <fieldset aria-label="Samples">${['x', 'y', 'z'].map((axis, i) => number(axis, guessed.size[i]!)).join('')}</fieldset>
    <label>Type<select>${types.map((type, i) => `<option value="${i}"${i === guessed.type ? ' selected' : ''}>${type.label}</option>`).join('')}</select></label>
    ${number('Bytes ahead of the samples', guessed.skip)}
    <label>Byte order<select><option value="0">lowest first</option><option value="1"${guessed.bigEndian ? ' selected' : ''}>highest first</option></select></label>
    <button>Read it so</button>`);
  const [x, y, z, skip] = [...element.querySelectorAll('input')] as [HTMLInputElement, HTMLInputElement, HTMLInputElement, HTMLInputElement];
  const [type, order] = [...element.querySelectorAll('select')] as [HTMLSelectElement, HTMLSelectElement];
  const now = (): RawForm => ({
    size: [x.valueAsNumber || 0, y.valueAsNumber || 0, z.valueAsNumber || 0],
    type: Number(type.value),
    bigEndian: order.value === '1',
    skip: skip.valueAsNumber || 0,
  });
  const tell = (): void => {
    const needed = bytesOf(now());
    note.textContent = `${name} has ${plural(bytes, 'byte')}; this size takes ${count(needed)}${needed === bytes ? '.' : ': they must be equal.'}`;
  };
  element.addEventListener('input', tell);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    read(now());
  });
  tell();
  return box;
}

export const accepts = 'NPY, NIfTI or raw volumes';
export const suffixes = '.npy,.raw,.vol,.bin,.nii';

// As numbers of C's jobs.
export function numbersOf({ size: [width, height, depth], type, bigEndian, skip, nifti }: RawForm): number[] {
  return placed(volumeRaw, { width, height, depth, type, bigEndian: bigEndian ? 1 : 0, skip, nifti: nifti ? 1 : 0 });
}

// Reads what was dropped by `read`; of a raw volume there is a form then, by which it can be read anew, in another size.
// Rejects with a sentence if it is none, or does not say its size.
export async function openVolume(host: Host, file: VolumeFile, read: (raw: RawForm) => Promise<void>, failed: (error: unknown) => void): Promise<void> {
  const { name, bytes } = file;
  const isNpy = new Uint8Array(bytes, 0, Math.min(6, bytes.byteLength)).join() === '147,78,85,77,80,89';
  if (name.toLowerCase().endsWith('.npy') && !isNpy) throw new SceneError(`${name} is called NPY, but does not begin like one.`);
  const nifti = !isNpy && name.toLowerCase().endsWith('.nii');
  if (isNpy || nifti) {
    await read({ size: [0, 0, 0], type: 0, bigEndian: false, skip: 0, nifti }).catch((error: unknown) => {
      throw error instanceof Superseded ? error : new SceneError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    });
    closeForm(host);
    return;
  }
  const guessed = guess(name, bytes.byteLength);
  closeForm(host);
  host.details.prepend(form(name, bytes.byteLength, guessed, (raw) => void read(raw).catch(failed)));
  if (bytesOf(guessed) !== bytes.byteLength)
    throw new SceneError(`Neither the name nor the length of ${name} says its size: please fill in the form beside the picture.`);
  await read(guessed);
}

export function closeForm(host: Host): void {
  host.details.querySelector('.volume-form')?.remove();
}
