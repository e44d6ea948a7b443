// What trees hold in the module's memory, and how they are saved and loaded there.
//
// A collector of garbage does not see how much memory a small object stands for, and tells of what it collected only between
// tasks: a loop that forgets trees would use up the module's memory. So where trees hold more than a budget, the oldest are
// parked: saved into arrays of JavaScript, to which only the trees' own objects lead. Those the collector sees, and frees at
// once. A parked tree that is used after all comes back, and the budget grows: the trees were not forgotten.
import { copyOut, given } from "./arrays.js";
import { refuse, SapwoodError } from "./errors.js";
import { check, f64, integers, isMemory, memoryBuffer, need, numbers, roomFor, u32, unwatch, wasm, watch } from "./wasm.js";

type Kind = "web_tree" | "web_mesh";

const present = new Set<Held>(); // the oldest first
let total = 0; // bytes of all that are present
let budget = 2 ** 27;
let inUse: Held | undefined; // by the call that runs
let parking = false;

/** A tree in the module; apart from its object, so that this can be collected. */
export class Held {
  tree = 0; // 0: parked or freed
  saved = 0; // the bytes on which a loaded tree works; 0: none
  #bytes = 0;
  #parked: Uint8Array | undefined;

  constructor(readonly kind: Kind) {}

  /** Takes a tree, built or loaded, for `owner`. */
  take(owner: object, tree: number, saved = 0): void {
    this.tree = tree;
    this.saved = saved;
    watch(owner, this.free.bind(this), this);
    present.add(this);
    this.measure();
  }

  /** Learns how large the tree is; others make room for it. */
  measure(): void {
    check(wasm![`${this.kind}_saved_size`]!(this.tree));
    total += f64[numbers]! - this.#bytes;
    this.#bytes = f64[numbers]!;
    inUse = this;
    while (total > budget && parkOldest(0)) {}
  }

  /** The tree, for a call of its owner; it stays until another is used. */
  use(owner: object): number {
    inUse = this;
    if (this.tree) return this.tree;
    const parked = this.#parked;
    if (!parked) throw new SapwoodError("FREED", "The tree was used after free().");
    budget = 2 * Math.max(budget, total);
    loadSaved(parked, this, owner, 1);
    this.#parked = undefined;
    return this.tree;
  }

  /** Moves the tree out of the module's memory; false if there is not the room that this takes. */
  park(): boolean {
    parking = true;
    try {
      const saved = saveTree(this.tree, this.kind);
      this.free();
      this.#parked = saved;
      return true;
    } catch {
      return false;
    } finally {
      parking = false;
    }
  }

  free(): void {
    this.#parked = undefined;
    if (!this.tree) return;
    unwatch(this);
    present.delete(this);
    total -= this.#bytes;
    wasm![`${this.kind}_free`]!(this.tree);
    wasm!.free(this.saved);
    this.tree = this.saved = this.#bytes = 0;
  }
}

const worthwhile = 2 ** 24; // of fewer bytes nothing is gained

/** Parks the oldest tree that no call uses; false if there is none, or not enough for `bytes` in all of them. */
export function parkOldest(bytes: number): boolean {
  if (parking || total < Math.max(bytes, worthwhile)) return false;
  for (const held of present) if (held !== inUse && held.park()) return true;
  return false;
}

/** Throws what a call's status tells, once other trees have made room for it. */
export function checkWithRoom(call: () => number): void {
  let status;
  while ((status = call()) === 4 && parkOldest(0)) {} // SAP_ERROR_MEMORY
  check(status);
}

/** What load() hands to a constructor instead of coordinates. */
export class Loaded {
  /** rules: how the tree was built, elsewhere by this package, which need not check it. */
  constructor(readonly bytes: Uint8Array, readonly rules?: unknown) {}
}

/** Loads a saved tree; trusted: one that this package saved itself. */
export function loadSaved(bytes: Uint8Array, held: Held, owner: object, trusted: number): void {
  const saved = room(bytes.length);
  try {
    new Uint8Array(memoryBuffer(), saved, bytes.length).set(bytes);
    checkWithRoom(() => wasm![`${held.kind}_load`]!(saved, bytes.length, trusted));
  } catch (error) {
    wasm!.free(saved);
    throw error;
  }
  held.take(owner, u32[integers]!, saved);
}

/** Saves a tree by the functions of its kind. */
export function saveTree(tree: number, kind: Kind): Uint8Array {
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

/** The bytes that load() is given. */
export function bytesOf(bytes: unknown): Uint8Array {
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
  return roomFor(bytes, () => need().web_allocate_saved!(bytes));
}
