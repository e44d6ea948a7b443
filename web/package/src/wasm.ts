// The module: its functions, its memory, and views of that. One instance serves everything.
import { SapwoodError, statusOf } from "./errors.js";
import { parkOldest } from "./held.js";

/** The functions of web/module/*.c: numbers and addresses in, mostly a status out. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  free(address: number): void;
  readonly [name: `web_${string}`]: (...args: number[]) => number;
}

export let wasm: Exports | undefined;
/** What was compiled. */
export let code: WebAssembly.Module;
let memory: WebAssembly.Memory | undefined;

/** Threads that calls run on. */
export let crew = 1;

// Views of all of the memory, renewed whenever it grows: growing detaches the old ones, or leaves them short.
export let i32: Int32Array;
export let u32: Uint32Array;
export let f64: Float64Array;

/** Where web_exchange's numbers and integers begin, as indices of f64 and of i32. */
export let numbers = 0;
export let integers = 0;

function renew(): void {
  // Memory that another thread's call let grow is seen here for certain after growing it by nothing.
  if (crew > 1) memory!.grow(0);
  const buffer = memory!.buffer;
  i32 = new Int32Array(buffer);
  u32 = new Uint32Array(buffer);
  f64 = new Float64Array(buffer);
}

/** What the module asks of its host: nothing but to hear that memory has grown. */
export const imports: WebAssembly.Imports = {
  env: {
    emscripten_notify_memory_growth: () => {
      if (wasm) renew();
    },
  },
};

/** Takes a new instance into use, unless there is one already: the first serves for ever. One of several threads comes
 * with their memory, initialised. */
export function adopt(instance: WebAssembly.Instance, module: WebAssembly.Module, threads = 1, shared?: WebAssembly.Memory): void {
  if (wasm) return;
  const made = instance.exports as unknown as Exports;
  if (!shared) made._initialize();
  const status = made.web_open!(threads);
  if (status !== 0) throw new SapwoodError(statusOf(status), "The WebAssembly module could not be started.");
  memory = shared ?? made.memory;
  crew = threads;
  code = module;
  renew();
  const block = made.web_block!() >>> 0;
  numbers = block / 8;
  integers = block / 4 + 2 * 64;
  wasm = made;
}

/** In Node the module is loaded when it is first needed; set by that entry. */
let loadNow: (() => void) | undefined;
export function loadOnDemand(load: () => void): void {
  loadNow = load;
}

/** The module's functions; loads it, where that can be done at once. */
export function need(): Exports {
  if (!wasm) {
    if (!loadNow) throw new SapwoodError("NOT_LOADED", "Sapwood is not loaded yet: `await load()` first.");
    loadNow();
  }
  return wasm!;
}

/** Throws what a call's status tells, with the library's own sentence about it. */
export function check(status: number): void {
  if (status !== 0) throw failure(status);
}

function failure(status: number): SapwoodError {
  const start = wasm!.web_sentence!() >>> 0;
  const bytes = new Uint8Array(memory!.buffer, start, 512);
  const sentence = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  bytes[0] = 0; // it is not the next failure's
  return statusOf(status) === "MEMORY" ? noRoom(`for this call (${sentence})`) : new SapwoodError(statusOf(status), sentence || "The call failed.");
}

/** What is thrown where memory is used up. */
export function noRoom(what: string): SapwoodError {
  return new SapwoodError("MEMORY", `WebAssembly's memory has no room ${what}: call free() on trees and arrays that are no longer needed.`);
}

/** Whether a buffer is the module's memory as it is now. */
export function isMemory(buffer: ArrayBufferLike): boolean {
  return memory !== undefined && buffer === memory.buffer;
}

export function memoryBuffer(): ArrayBuffer {
  return memory!.buffer;
}

/** Gives the memory that calls have left for the next ones to trees and arrays that come. */
export function trim(): void {
  need().web_trim!();
}

/** Room in the module's memory. */
export function allocate(bytes: number): number {
  // A hair below 4 GB is all that 32 bits address; beyond it the number would wrap.
  return roomFor(bytes, () => (bytes < 0xffff0000 ? need().malloc(bytes || 1) : 0));
}

/** The address that `take` gives, once other trees have made room for it. */
export function roomFor(bytes: number, take: () => number): number {
  let address;
  while (!(address = take() >>> 0)) if (!parkOldest(bytes)) throw noRoom(`for ${bytes} bytes`);
  return address;
}

// Memory of objects that were collected before they were freed.
const forgotten =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((release) => release());

/** Has `release` run when `owner` is collected, unless `unwatch` is told its token before; it must not refer to the owner. */
export function watch(owner: object, release: () => void, token = owner): void {
  forgotten?.register(owner, release, token);
}
export function unwatch(token: object): void {
  forgotten?.unregister(token);
}
