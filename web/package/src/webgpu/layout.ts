// Where a point tree's arrays are: what follows from its facts is computed as tree/layout.c does.
import { fail, Places } from "./device.js";

/** What a tree says of itself. */
export interface Shape {
  readonly kind: "balanced" | "explicit";
  readonly dims: number;
  readonly count: number;
  readonly sourceCount: number;
  readonly bytes: number; // of its arrays
  readonly words: Int32Array; // as tree/forms/buffer.h declares them
  readonly header: DataView; // of the tree when it is saved
}

/** The arrays of a balanced tree; places are numbers of words. */
export interface BalancedArrays {
  readonly splits: number;
  readonly axes: number;
  readonly levels: readonly { readonly depth: number; readonly room: number; readonly boxes: number; readonly ids: number }[];
  readonly stride: number;
  readonly blocks: number;
}

/** The depth of a balanced tree. */
export function balancedDepth(count: number, leafSize: number): number {
  const most = leafSize + Math.floor(leafSize / 4);
  let depth = 0;
  while (Math.ceil(count / 2 ** depth) > most) depth++;
  return depth;
}

export function balancedArrays(places: Places, dims: number, depth: number, capacity: number): BalancedArrays {
  const nodes = 2 ** depth;
  const stride = capacity > 4 ? Math.ceil(capacity / 4) * 4 : capacity;
  const [splits, axes] = [places.next(4 * nodes), places.next(nodes)];
  const all = depth ? Math.ceil(depth / 4) : 1;
  const levels = Array.from({ length: all }, (_, j) => {
    const levelDepth = depth - 4 * (all - 1 - j);
    const room = Math.max(16, 2 ** levelDepth);
    return { depth: levelDepth, room, boxes: places.next(room * dims * 2 * 4), ids: places.next(room * 4) };
  });
  return { splits, axes, levels, stride, blocks: places.next(nodes * stride * 4 * (dims + 1)) };
}

/** What shaders are told of such a tree. */
export function balancedWords(arrays: BalancedArrays, dims: number, count: number, leafSize: number, depth: number): Int32Array {
  const words = new Int32Array(40);
  words.set([dims, count, leafSize, depth, arrays.stride, arrays.splits, arrays.axes, arrays.blocks]);
  for (const [j, level] of arrays.levels.entries()) words.set([level.depth, level.ids], 8 + 4 * j);
  return words;
}

/** Reads the facts of a saved tree. */
export function shapeOf(header: DataView, arrays: Uint8Array): Shape {
  const fact = (index: number): number => header.getInt32(16 + 4 * index, true);
  const long = (byte: number): number => Number(header.getBigInt64(byte, true));
  const dims = fact(1);
  const [split, leafSize, depth, capacity] = [fact(2), fact(4), fact(6), fact(7)];
  const [count, sourceCount, nodes, slots] = [long(48), header.getInt32(56, true), long(64), long(80)];
  if (fact(0) !== 32) fail("UNSUPPORTED", "tree: GPUs have no double precision here; build it with type: Float32Array");
  if (dims > 3) fail("UNSUPPORTED", `tree: has ${dims} dimensions; on GPUs trees have at most 3`);
  for (let a = 0; a < dims; a++)
    if (header.getFloat64(104 + 8 * a, true) > 0) fail("UNSUPPORTED", "tree: has a period, which searches on GPUs do not know");
  const places = new Places();
  let words: Int32Array;
  if (split === 0) {
    words = balancedWords(balancedArrays(places, dims, depth, capacity), dims, count, leafSize, depth);
  } else {
    words = new Int32Array(40);
    words.set([dims, count, leafSize, depth, 0, places.next(8 * nodes), places.next(4 * nodes), places.next(slots * 4 * (dims + 1))]);
  }
  places.check(arrays);
  const facts = new DataView(header.buffer.slice(header.byteOffset, header.byteOffset + header.byteLength));
  return { kind: split === 0 ? "balanced" : "explicit", dims, count, sourceCount, bytes: arrays.length, words, header: facts };
}
