// The module for WebGL (web/gl): one instance for each context, since what it knows of a context is global there.
import create from "sapwood-gl-module";
import { SapwoodError, type Status } from "../errors.js";
import { compiled as compiledOf, fetched, type Source, unloadable } from "../load.js";

/** A context of WebGL 2 or 1. */
export type Context = WebGL2RenderingContext | WebGLRenderingContext;

/** What Emscripten's module has, as far as the package uses it. */
export interface Module {
  HEAPU8: Uint8Array;
  HEAP32: Int32Array;
  HEAPF64: Float64Array;
  GL: {
    registerContext(gl: Context, attributes: { majorVersion: number; enableExtensionsByDefault: number }): number;
    makeContextCurrent(handle: number): boolean;
    deleteContext(handle: number): void;
    getNewId(table: unknown[]): number;
    textures: (WebGLTexture | null)[]; // by the names that C knows
  };
  _malloc(bytes: number): number;
  _free(address: number): void;
  readonly [name: `_web_${string}`]: (...args: number[]) => number;
}

let compiled: Promise<WebAssembly.Module> | undefined;

async function compile(given: Source | PromiseLike<Source> | undefined): Promise<WebAssembly.Module> {
  const source = (await given) ?? new URL("gl.wasm", import.meta.url);
  return compiledOf(typeof source === "string" || source instanceof URL ? await fetched(source) : source);
}

/** A new instance. What is compiled once serves all of them. */
export async function instantiate(given: Source | PromiseLike<Source> | undefined): Promise<Module> {
  try {
    compiled ??= compile(given).catch((error: unknown) => {
      compiled = undefined; // so that it can be tried again
      throw error;
    });
    const code = await compiled;
    return await new Promise<Module>((resolve, reject) => {
      const instantiateWasm = (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => {
        WebAssembly.instantiate(code, imports).then(done, reject);
        return {};
      };
      create({ instantiateWasm }).then((made) => resolve(made as Module), reject);
    });
  } catch (error) {
    throw unloadable(error);
  }
}

// By sap_status.
const statuses: readonly (Status | undefined)[] = [
  undefined, "ARGUMENT", "RANGE", "NOT_FINITE", "MEMORY", "DEVICE_MEMORY", "NO_DEVICE", "DEVICE_LOST", "UNSUPPORTED", "IO", "FORMAT",
];

/** Throws what a call's status tells, with the library's own sentence about it. */
export function check(module: Module, status: number): void {
  if (status === 0) return;
  const start = module._web_sentence!() >>> 0;
  const bytes = module.HEAPU8.subarray(start, start + 512);
  const sentence = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  bytes[0] = 0; // it is not the next failure's
  throw new SapwoodError(statuses[status] ?? "INTERNAL", sentence || "The call failed.");
}

/** Bytes in the module's memory, aligned to 64, for as long as a call takes. */
export function lend<R>(module: Module, length: number, call: (address: number) => R): R {
  const address = module._web_allocate!(length) >>> 0;
  if (!address) throw new SapwoodError("MEMORY", `The memory of the module for WebGL has no room for ${length} bytes.`);
  try {
    return call(address);
  } finally {
    module._free(address);
  }
}
