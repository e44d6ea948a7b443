// The entry for Node, as CommonJS: the module is read from disk when it is first needed, at once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { SapwoodError } from "./errors.js";
import { fetched, hasVectors, loader, type LoadOptions, type Source, unloadable } from "./load.js";
import type { Hire } from "./threads.js";
import { adopt, imports, loadOnDemand } from "./wasm.js";

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

const beside = (name: string): Uint8Array => read(join(__dirname, name));
const own = (): Uint8Array => beside(hasVectors() ? "sapwood.wasm" : "sapwood-plain.wasm");

loadOnDemand(() => {
  try {
    const module = new WebAssembly.Module(own() as BufferSource);
    adopt(new WebAssembly.Instance(module, imports), module);
  } catch (error) {
    throw unloadable(error);
  }
});

function open(address: string | URL): Source | Promise<Source> {
  const name = String(address);
  if (/^https?:/.test(name)) return fetched(name);
  return read(name.startsWith("file:") ? fileURLToPath(name) : name);
}

const hire: Hire = (script, order, transfer) => {
  const text = `${script}const { parentPort } = require("node:worker_threads");
parentPort.once("message", (data) => work(data, (told, given) => parentPort.postMessage(told, given)));`;
  const worker = new Worker(text, { eval: true, execArgv: [] }); // whatever the program was started with
  const ready = new Promise<unknown>((resolve, reject) => {
    worker.once("message", (told) => {
      worker.unref(); // a program ends though its threads would work on
      resolve(told);
    });
    worker.once("error", reject);
  });
  worker.postMessage(order, transfer);
  return { ready, end: () => void worker.terminate() };
};

/** As in browsers; only to ask for threads, to load another module than the package's own, or to choose the moment. */
export const load: (options?: LoadOptions) => Promise<void> = loader({
  own, threaded: () => beside("sapwood-threads.wasm"), open, hire,
});
