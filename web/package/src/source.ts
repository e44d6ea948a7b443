// Where the module comes from.

/** The module: its address, an answer to `fetch`, its bytes, or what was compiled of them. */
export type Source = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

export interface LoadOptions {
  /** The module to load, instead of the one beside the package's own file. */
  wasm?: Source | PromiseLike<Source>;
}

/** Whether the module with vectors can be loaded here: a function that uses one, nothing else. */
export function hasVectors(): boolean {
  return WebAssembly.validate(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11));
}
