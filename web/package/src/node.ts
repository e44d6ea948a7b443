// The entry for Node, as CommonJS: the module is read from disk when it is first needed, at once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SapwoodError } from "./errors.js";
import { hasVectors, type LoadOptions, type Source } from "./source.js";
import { adopt, imports, loadOnDemand, need, wasm } from "./wasm.js";

export * from "./points_api.js";
export * from "./meshes_api.js";

declare const __dirname: string;

function read(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SapwoodError("IO", `The WebAssembly module could not be read: ${(error as Error).message}`);
  }
}

function start(bytes: BufferSource): void {
  adopt(new WebAssembly.Instance(new WebAssembly.Module(bytes), imports));
}

loadOnDemand(() => start(read(join(__dirname, hasVectors() ? "sapwood.wasm" : "sapwood-plain.wasm")) as BufferSource));

/** As in browsers; only to load another module than the package's own, or to choose the moment. */
export async function load(options?: LoadOptions): Promise<void> {
  if (wasm) return;
  const source: Source | undefined = await options?.wasm;
  if (source === undefined) return void need();
  if (source instanceof WebAssembly.Module) return adopt(new WebAssembly.Instance(source, imports));
  if (source instanceof URL || typeof source === "string") {
    const address = String(source);
    if (/^https?:/.test(address)) return start(await (await fetch(address)).arrayBuffer());
    return start(read(address.startsWith("file:") ? fileURLToPath(address) : address) as BufferSource);
  }
  start(source instanceof Response ? await source.arrayBuffer() : (source as BufferSource));
}
