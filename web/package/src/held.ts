// What trees hold in the module's memory, and how they are saved and loaded there.
import { copyOut, given } from "./arrays.js";
import { refuse, SapwoodError } from "./errors.js";
import { check, f64, integers, isMemory, memoryBuffer, need, numbers, u32, wasm } from "./wasm.js";

/** A tree in the module; apart from its object, so that this can be collected. */
export interface Held {
  tree: number;
  saved: number; // the bytes on which a loaded tree works; 0: none
}

/** How what is held is given back: by one of the module's functions. */
export function releaseBy(free: `web_${string}`): (held: Held) => void {
  return (held) => {
    wasm![free]!(held.tree);
    wasm!.free(held.saved);
    held.tree = held.saved = 0;
  };
}

/** What load() hands to a constructor instead of coordinates. */
export class Loaded {
  constructor(readonly held: Held) {}
}

export function gone(): never {
  throw new SapwoodError("FREED", "The tree was used after free().");
}

/** Loads a saved tree by one of the module's functions. */
export function loadSaved(bytes: unknown, load: `web_${string}`): Held {
  const source = bytesOf(bytes);
  const saved = room(source.length);
  try {
    new Uint8Array(memoryBuffer(), saved, source.length).set(source);
    check(wasm![load]!(saved, source.length));
    return { tree: u32[integers]!, saved };
  } catch (error) {
    wasm!.free(saved);
    throw error;
  }
}

/** Saves a tree by the functions of its kind. */
export function saveTree(tree: number, kind: "web_tree" | "web_mesh"): Uint8Array {
  check(wasm![`${kind}_saved_size`]!(tree));
  const size = f64[numbers]!;
  const saved = room(size);
  try {
    check(wasm![`${kind}_save`]!(tree, saved, size));
    return copyOut(Uint8Array, saved, size);
  } finally {
    wasm!.free(saved);
  }
}

function bytesOf(bytes: unknown): Uint8Array {
  if (bytes instanceof ArrayBuffer) {
    try {
      return new Uint8Array(bytes);
    } catch {
      refuse("bytes: is detached");
    }
  }
  if (!(bytes instanceof Uint8Array)) refuse("bytes: is neither a Uint8Array nor an ArrayBuffer");
  given(bytes, "bytes");
  return isMemory(bytes.buffer) ? bytes.slice() : bytes; // a view of the module's memory would not outlive its growth
}

// Saved trees lie at multiples of 64.
function room(bytes: number): number {
  const address = need().web_allocate_saved!(bytes) >>> 0;
  if (!address) throw new SapwoodError("MEMORY", `WebAssembly's memory has no room for ${bytes} bytes.`);
  return address;
}
