// Saved trees, as src/saved and src/tree/save.c say what is where.
import { fail } from "./device.js";

/** What a tree is copied from: a `PointTree` or a `MeshTree`, or anything else that is saved like one. */
export interface Saved {
  save(): Uint8Array;
}

const headerBytes = 512; // the arrays follow
const endBytes = 64; // zeros behind them
const sumAt = headerBytes - 8;
const sizeAt = 88; // of the arrays of a point tree, and then their checksum

/** A saved tree: its header, and its arrays. */
export interface SavedBytes {
  header: DataView;
  arrays: Uint8Array;
}

/** The parts of a saved tree of a kind. */
export function savedBytes(tree: Saved | Uint8Array, magic: string): SavedBytes {
  const saved = tree instanceof Uint8Array ? tree : tree.save();
  if (saved.length < headerBytes + endBytes || String.fromCharCode(...saved.subarray(0, 7)) !== magic)
    fail("FORMAT", "tree: its bytes are not those of a saved tree of this kind");
  return {
    header: new DataView(saved.buffer, saved.byteOffset, headerBytes),
    arrays: saved.subarray(headerBytes, saved.length - endBytes),
  };
}

/** A saved point tree with the facts of this header. */
export function savedWith(facts: DataView, arrays: Uint8Array): Uint8Array {
  const saved = new Uint8Array(headerBytes + arrays.length + endBytes);
  saved.set(new Uint8Array(facts.buffer, facts.byteOffset, headerBytes));
  saved.set(arrays, headerBytes);
  const header = new DataView(saved.buffer);
  header.setBigUint64(sizeAt, BigInt(arrays.length), true);
  writeSum(header, sizeAt + 8, saved.subarray(headerBytes, headerBytes + arrays.length));
  writeSum(header, sumAt, saved.subarray(0, sumAt));
  return saved;
}

/** The facts of a balanced tree of floats. */
export interface Facts {
  dims: number;
  cycles: boolean;
  leafSize: number;
  depth: number;
  capacity: number;
  count: number;
  slots: number;
}

/** Its header, without checksums. */
export function headerOf({ dims, cycles, leafSize, depth, capacity, count, slots }: Facts): DataView {
  const header = new DataView(new ArrayBuffer(headerBytes));
  for (const [i, letter] of [..."SAPTREE\n"].entries()) header.setUint8(i, letter.charCodeAt(0));
  const words = [1, 0x01020304, 32, dims, 0, +cycles, leafSize, 0, depth, capacity, count, 0, count, 0];
  for (const [i, word] of words.entries()) header.setInt32(8 + 4 * i, word, true);
  for (const [i, long] of [2 ** depth, 2 ** depth, slots].entries()) header.setBigInt64(64 + 8 * i, BigInt(long), true);
  return header;
}

// ---- The checksum of saved.h, in halves of 32 bits.

const [oddHigh, oddLow] = [0x9e3779b9, 0x7f4a7c15];

// The high word of a times oddLow, of unsigned numbers.
function highOf(a: number): number {
  const middle = (a >>> 16) * (oddLow & 65535) + (((a & 65535) * (oddLow & 65535)) >>> 16);
  const other = (a & 65535) * (oddLow >>> 16) + (middle % 65536);
  return (a >>> 16) * (oddLow >>> 16) + Math.floor(middle / 65536) + Math.floor(other / 65536);
}

function writeSum(header: DataView, at: number, bytes: Uint8Array): void {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const [highs, lows] = [new Uint32Array(8), new Uint32Array(8)];
  const mix = (lane: number, high: number, low: number): void => {
    const [h, l] = [highs[lane]! ^ high, lows[lane]! ^ low];
    highs[lane] = Math.imul(h, oddLow) + Math.imul(l, oddHigh) + highOf(l);
    lows[lane] = Math.imul(l, oddLow);
  };
  for (let lane = 0; lane < 8; lane++) mix(lane, 0, lane + 1);
  for (let i = 0; i < words.length; i += 2) mix((i >> 1) & 7, words[i + 1]!, words[i]!);
  const [laneHighs, laneLows] = [highs.slice(), lows.slice()];
  [highs[0], lows[0]] = [0, bytes.length];
  for (let lane = 0; lane < 8; lane++) {
    mix(0, laneHighs[lane]!, laneLows[lane]!);
    lows[0]! ^= (lows[0]! >>> 29) | (highs[0]! << 3);
    highs[0]! ^= highs[0]! >>> 29;
  }
  header.setUint32(at, lows[0]!, true);
  header.setUint32(at + 4, highs[0]!, true);
}
