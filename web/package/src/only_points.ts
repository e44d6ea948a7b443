// The entry for who needs no meshes and no volumes: a smaller module.
import { fetched, hasVectors, loader, type LoadOptions } from "./load.js";
import { hire } from "./worker.js";

export * from "./points_api.js";

/** As `load` of the whole package. */
export const load: (options?: LoadOptions) => Promise<void> = loader({
  own: () => (hasVectors() ? new URL("points.wasm", import.meta.url) : new URL("points-plain.wasm", import.meta.url)),
  threaded: () => new URL("sapwood-threads.wasm", import.meta.url),
  open: fetched,
  hire,
});
