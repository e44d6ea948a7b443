// Files that are dropped on the page or opened: looked at before they are read.
import { SceneError } from './scene.js';

const MOST = 512 * 2 ** 20;

function size(bytes: number): string {
  return bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${Math.ceil(bytes / 2 ** 20)} MB`;
}

// What the name says that a file is, without .gz: whatever is read may be compressed so.
const plainName = (name: string): string => name.replace(/\.gz$/i, '');

export function isOneOf(name: string, suffixes: string): boolean {
  const lower = plainName(name).toLowerCase();
  return suffixes !== '' && suffixes.split(',').some((suffix) => lower.endsWith(suffix));
}

// As many bytes as come, but no more than a page takes.
async function unpack(file: File): Promise<ArrayBuffer> {
  if (typeof DecompressionStream !== 'function') throw new SceneError(`${file.name} is compressed, and this browser cannot unpack it.`);
  const parts: BlobPart[] = [];
  let bytes = 0;
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new SceneError(`${file.name} is called gzip, but cannot be unpacked: it is cut off, or none.`);
    });
    if (done) break;
    bytes += value.length;
    if (bytes > MOST) {
      void reader.cancel();
      throw new SceneError(`${file.name} holds more than ${size(MOST)}, and a page reads no more than that.`);
    }
    parts.push(value);
  }
  if (!bytes) throw new SceneError(`${file.name} is empty.`);
  return new Blob(parts).arrayBuffer();
}

export interface Read {
  name: string;
  bytes: ArrayBuffer;
}

async function readOne(file: File, suffixes: string, accepts: string): Promise<Read> {
  if (!isOneOf(file.name, suffixes)) {
    const suffix = /\.[^.]+$/.exec(plainName(file.name))?.[0].toLowerCase();
    throw new SceneError(`${file.name}: this scene reads ${accepts}; ${suffix ? `“${suffix}” is none of these` : 'the name has no suffix'}.`);
  }
  if (file.size === 0) throw new SceneError(`${file.name} is empty.`);
  if (file.size > MOST) throw new SceneError(`${file.name} has ${size(file.size)}; a page reads up to ${size(MOST)}.`);
  try {
    const name = plainName(file.name);
    return { name, bytes: name === file.name ? await file.arrayBuffer() : await unpack(file) };
  } catch (error) {
    throw error instanceof SceneError ? error : new SceneError(`${file.name} could not be read.`);
  }
}

// At least one, and at most so many.
export async function read(files: readonly File[], most: number, suffixes: string, accepts: string): Promise<[Read, ...Read[]]> {
  const [first, ...others] = files;
  if (!first) throw new SceneError('What was dropped is not a file.');
  if (files.length > most) throw new SceneError(`${most === 1 ? 'One file' : 'One file or two'} at a time, please: these are ${files.length}.`);
  const found: [Read, ...Read[]] = [await readOne(first, suffixes, accepts)];
  for (const file of others) found.push(await readOne(file, suffixes, accepts));
  return found;
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
