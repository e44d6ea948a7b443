// The module: compiled once, with vector instructions where the browser has them, and instantiated on both threads.
import { SceneError } from './scene.js';
import type { PageModule } from './module.js';

// A function that splats a vector: valid only where SIMD128 is.
const vectors = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

// Which of the two files of code this browser can load.
export const programName = (): 'page' | 'page-plain' => (WebAssembly.validate(vectors) ? 'page' : 'page-plain');

export interface Program {
  code: WebAssembly.Module;
  glue: string; // address of Emscripten's part
}

export async function compile(base: string): Promise<Program> {
  if (typeof WebAssembly !== 'object')
    throw new SceneError('This page computes in WebAssembly, which this browser does not offer or has switched off.');
  const name = programName();
  // Asked for as the page's preload asks: WebKit takes no other for the same and would load it twice.
  const response = await fetch(new URL(`${name}.wasm`, base), { mode: 'no-cors', credentials: 'include' });
  if (!response.ok) throw new SceneError(`The page's program could not be fetched (${name}.wasm: ${response.status}).`);
  const typed = response.headers.get('content-type') === 'application/wasm';
  const code = typed
    ? await WebAssembly.compileStreaming(response)
    : await WebAssembly.compile(await response.arrayBuffer());
  return { code, glue: new URL(`${name}.js`, base).href };
}

export async function instantiate(program: Program): Promise<PageModule> {
  const { default: create } = await import(program.glue);
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(new SceneError(`The page's program could not be started here: ${error instanceof Error ? error.message : String(error)}.`));
    create({
      instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, code: WebAssembly.Module) => void) {
        WebAssembly.instantiate(program.code, imports).then((instance) => done(instance, program.code), failed);
        return {};
      },
    }).then(resolve, failed);
  });
}
