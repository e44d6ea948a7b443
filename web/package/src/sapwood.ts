// The entry for browsers, workers and bundlers: the module is fetched.
import { fetched, hasVectors, loader, type LoadOptions } from "./load.js";
import { hire } from "./worker.js";

export * from "./points_api.js";
export * from "./meshes_api.js";

/**
 * Loads the WebAssembly module; await it before anything else. Further calls wait for the same module. In Node it need
 * not be called. Throws IO if the module cannot be fetched.
 */
export const load: (options?: LoadOptions) => Promise<void> = loader({
  own: () => (hasVectors() ? new URL("sapwood.wasm", import.meta.url) : new URL("sapwood-plain.wasm", import.meta.url)),
  threaded: () => new URL("sapwood-threads.wasm", import.meta.url),
  open: fetched,
  hire,
});
