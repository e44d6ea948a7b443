// Several threads: workers that share one memory and one compiled module (web/threads).
import { refuse, SapwoodError } from "./errors.js";
import { adopt, imports, wasm, type Exports } from "./wasm.js";

/** A worker, of a browser or of Node. */
export interface Hand {
  /** What the worker first tells. */
  readonly ready: Promise<unknown>;
  end(): void;
}

/** Starts a worker that runs a script, which makes a function `work` of what it is sent and of `ready`, by which it tells. */
export type Hire = (script: string, order: unknown, transfer?: ArrayBuffer[]) => Hand;

// What a thread runs: it tells that it is ready, then works for ever.
const script = `const work = ({ module, memory, room }, ready) => {
  const env = { memory, emscripten_notify_memory_growth() {} };
  const { exports } = new WebAssembly.Instance(module, { env });
  exports.stackRestore(room);
  ready();
  exports.web_thread(room);
};
`;

const most = 64;

/** How many threads are asked for; refuses what cannot be had here. */
export function threadsOf(threads: unknown): number {
  if (threads === undefined) return 1;
  if (typeof threads !== "number" || !Number.isInteger(threads) || threads < 1 || threads > most)
    refuse(`threads: ${String(threads)} is not an integer from 1 to ${most}`);
  if (threads > 1) checkShared();
  return threads;
}

function checkShared(): void {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  if (isolated === false)
    throw new SapwoodError("UNSUPPORTED", "Threads need a page that is cross-origin isolated: the server has to send " +
      "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp.");
  if (typeof SharedArrayBuffer === "undefined")
    throw new SapwoodError("UNSUPPORTED", "Threads need SharedArrayBuffer, which is missing here.");
  // A function that reads shared memory atomically, and has a vector.
  if (!WebAssembly.validate(Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 18, 1, 16, 0, 65, 0, 254, 16, 2, 0, 26,
    65, 0, 253, 15, 253, 98, 26, 11)))
    throw new SapwoodError("UNSUPPORTED", "Threads need WebAssembly with atomics and vectors (SIMD), which are missing here.");
}

// The main thread of a page may not wait.
function mayWait(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}

/** Takes the module for several threads into use, once all of them are at work. */
export async function adoptThreads(module: WebAssembly.Module, threads: number, hire: Hire): Promise<void> {
  const memory = new WebAssembly.Memory({ initial: 32, maximum: 65536, shared: true }); // as packaging/web.cmake has it
  const instance = await WebAssembly.instantiate(module, { env: { ...imports.env, memory } });
  const made = instance.exports as unknown as Exports;
  made._initialize();
  const hands: Hand[] = [];
  try {
    for (let number = 1; number < threads; number++) {
      const room = made.web_thread_room!() >>> 0;
      if (!room) throw new SapwoodError("MEMORY", `WebAssembly's memory has no room for ${threads} threads.`);
      hands.push(hire(script, { module, memory, room }));
    }
    await Promise.all(hands.map(({ ready }) => ready));
    made.web_threads_open!(threads - 1, +mayWait());
    adopt(instance, module, threads, memory); // unless it was loaded for one thread meanwhile, as Node may
  } finally {
    if (wasm !== made) for (const hand of hands) hand.end();
  }
}
