// The WASM module on either thread, and jobs: functions of C called job_NAME (page.h).
import { pageMost } from '../fields.js';
import { SceneError } from './scene.js';

// What Emscripten's module has, as far as the page uses it. Functions of C that the page exports begin with _.
export interface PageModule {
  HEAPU8: Uint8Array;
  HEAP32: Int32Array;
  HEAPU32: Uint32Array;
  HEAPF32: Float32Array;
  HEAPF64: Float64Array;
  UTF8ToString(at: number): string;
  GL: {
    registerContext(gl: WebGLRenderingContext | WebGL2RenderingContext, attributes: { majorVersion: number }): number;
    makeContextCurrent(handle: number): boolean;
    deleteContext(handle: number): void;
    stringCache: Record<number, number>;
    stringiCache?: Record<number, number[]>;
    textures: (WebGLTexture | null)[]; // by the names that C knows
  };
  _page_allocate: Exported;
  _free: Exported;
  _page_job_begin: Exported;
  _page_sentence: Exported;
  [exported: `_${string}`]: Exported;
}
type Exported = (...numbers: number[]) => number;

export interface JobOptions {
  buffers?: readonly (ArrayBuffer | ArrayBufferView)[]; // copied into WASM memory
  transfer?: readonly ArrayBuffer[]; // of those, given away to the worker
  newest?: string; // of jobs that wait under one name only the newest runs; the others are rejected as superseded
}
export interface Answer {
  numbers: Float64Array;
  buffers: ArrayBuffer[];
  milliseconds: number; // that C took
}

const { numbers: NUMBERS, buffers: BUFFERS } = pageMost; // of struct page_job in page.h

export function sentence(module: PageModule): string {
  return module.UTF8ToString(module._page_sentence());
}

function copyIn(module: PageModule, buffer: ArrayBuffer | ArrayBufferView): [number, number] {
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  const at = module._page_allocate(bytes.length) >>> 0;
  if (!at) throw new SceneError(`There is no memory here for ${(bytes.length / 1e6).toFixed(0)} MB.`);
  module.HEAPU8.set(bytes, at);
  return [at, bytes.length];
}

// Runs job_NAME in this instance. Throws a SceneError with the sentence of what went wrong.
export function runJob(module: PageModule, name: string, numbers: readonly number[],
                       buffers: readonly (ArrayBuffer | ArrayBufferView)[] = []): Answer {
  const run = module[`_job_${name}`];
  if (!run) throw new SceneError(`The module has no job "${name}".`);
  const job = module._page_job_begin() >>> 0;
  const words = (job >>> 2) + 2 * NUMBERS; // input places, input sizes, output places, output sizes
  const taken: number[] = [];
  try {
    const inputs = buffers.map((buffer) => {
      const [at, size] = copyIn(module, buffer);
      taken.push(at);
      return [at, size] as const;
    });
    numbers.forEach((number, i) => (module.HEAPF64[(job >>> 3) + i] = number));
    inputs.forEach(([at, size], i) => {
      module.HEAPU32[words + i] = at;
      module.HEAPU32[words + BUFFERS + i] = size;
    });
    const begun = performance.now();
    const status = run(job);
    const milliseconds = performance.now() - begun;
    // What C keeps of its input it has set to 0, also where it failed.
    inputs.forEach((_, i) => (taken[i] = module.HEAPU32[words + i]!));
    if (status !== 0) throw new SceneError(sentence(module));
    const outputs: ArrayBuffer[] = [];
    for (let i = 0; i < BUFFERS; i++) {
      const at = module.HEAPU32[words + 2 * BUFFERS + i]!;
      if (!at) break;
      outputs.push(module.HEAPU8.slice(at, at + module.HEAPU32[words + 3 * BUFFERS + i]!).buffer as ArrayBuffer);
    }
    return { numbers: module.HEAPF64.slice(job >>> 3, (job >>> 3) + NUMBERS), buffers: outputs, milliseconds };
  } finally {
    for (let i = 0; i < BUFFERS; i++) {
      const at = module.HEAPU32[words + 2 * BUFFERS + i]!;
      if (at) taken.push(at);
    }
    for (const at of taken) if (at) module._free(at);
  }
}
