// Builds in a worker: it has an instance of its own of what is compiled already, builds there, and hands the saved tree over.
import type { TypedArray } from "./arrays.js";
import { SapwoodError, statusOf } from "./errors.js";
import { Loaded } from "./held.js";
import type { Hire } from "./threads.js";
import { code, crew, need } from "./wasm.js";

let hire: Hire;
/** How workers are started here. */
export function hireBy(way: Hire): void {
  hire = way;
}

// Arrays among the arguments become their addresses. Status 4 is SAP_ERROR_MEMORY.
const script = `const work = ({ module, memory, name, args, numbers }, ready) => {
  const env = { memory: memory && new WebAssembly.Memory(memory), emscripten_notify_memory_growth() {} };
  const { exports } = new WebAssembly.Instance(module, { env });
  const at = (Type, place, ...length) => new Type((env.memory || exports.memory).buffer, place >>> 0, ...length);
  const call = (what, ...given) => { const status = exports[name + what](...given); if (status) throw status; };
  exports._initialize();
  const block = exports.web_block();
  try {
    if (exports.web_open(1)) throw 4;
    const places = [];
    args = args.map((array) => {
      if (typeof array === "number") return array;
      const place = exports.malloc(array.byteLength || 1);
      if (!place) throw 4;
      at(array.constructor, place, array.length).set(array);
      places.push(place);
      return place;
    });
    at(Float64Array, block, 64).set(numbers);
    call("_build", ...args);
    const tree = at(Int32Array, block + 512, 1)[0];
    places.map(exports.free);
    call("_saved_size", tree);
    const size = at(Float64Array, block, 1)[0];
    const place = exports.web_allocate_saved(size);
    if (!place) throw 4;
    call("_save", tree, place, size);
    const saved = at(Uint8Array, place, size).slice();
    ready({ saved }, [saved.buffer]);
  } catch (status) {
    const text = at(Uint8Array, exports.web_sentence(), 512);
    ready({ status, sentence: String.fromCharCode(...text.subarray(0, text.indexOf(0))) || String(status) });
  }
};
`;

/** Builds a tree in a worker by numbers and arrays, which are given away. */
export async function buildElsewhere(
  name: "web_tree" | "web_mesh", args: (number | TypedArray)[], numbers: ArrayLike<number>, rules: unknown,
): Promise<Loaded> {
  need();
  const memory = crew > 1 ? { initial: 32, maximum: 65536, shared: true } : undefined; // as of threads.ts
  const given = args.flatMap((array) => (typeof array === "number" ? [] : [array.buffer as ArrayBuffer]));
  try {
    const hand = hire(script, { module: code, memory, name, args, numbers }, given);
    const { saved, status, sentence } = (await hand.ready.finally(hand.end)) as { saved?: Uint8Array; status: number; sentence: string };
    if (!saved) throw new SapwoodError(statusOf(status), sentence);
    return new Loaded(saved, rules);
  } catch (error) {
    throw error instanceof SapwoodError ? error : new SapwoodError("UNSUPPORTED", `A worker could not build: ${String(error)}`);
  }
}
