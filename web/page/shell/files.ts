// Files that are dropped on the page or opened: looked at before they are read.
import { SceneError } from './scene.js';

const MOST = 512 * 2 ** 20;

function size(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${Math.ceil(bytes / 2 ** 20)} MB`;
}

export async function read(files: readonly File[], suffixes: string, accepts: string): Promise<{ name: string; bytes: ArrayBuffer }> {
  const file = files[0];
  if (!file) throw new SceneError('What was dropped is not a file.');
  if (files.length > 1) throw new SceneError(`One file at a time, please: these are ${files.length}.`);
  const suffix = /\.[^.]+$/.exec(file.name.toLowerCase())?.[0] ?? '';
  if (!suffixes.split(',').includes(suffix))
    throw new SceneError(`${file.name}: this scene reads ${accepts}; ${suffix ? `“${suffix}” is none of these` : 'the name has no suffix'}.`);
  if (file.size === 0) throw new SceneError(`${file.name} is empty.`);
  if (file.size > MOST) throw new SceneError(`${file.name} has ${size(file.size)}; a page reads up to ${size(MOST)}.`);
  try {
    return { name: file.name, bytes: await file.arrayBuffer() };
  } catch {
    throw new SceneError(`${file.name} could not be read.`);
  }
}

export function listen(open: HTMLInputElement, use: (files: readonly File[]) => void): void {
  let inside = 0;
  const mark = (on: boolean): void => void document.body.classList.toggle('dropping', on);
  const holds = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  addEventListener('dragenter', (event) => {
    if (holds(event)) mark(++inside > 0);
  });
  addEventListener('dragleave', (event) => {
    if (holds(event)) mark(--inside > 0);
  });
  addEventListener('dragover', (event) => {
    if (holds(event)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    if (!event.dataTransfer) return;
    event.preventDefault();
    inside = 0;
    mark(false);
    use([...event.dataTransfer.files]);
  });
  open.addEventListener('change', () => {
    if (open.files?.length) use([...open.files]);
    open.value = '';
  });
}
