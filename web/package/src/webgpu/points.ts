// Point trees on a GPU.
import shaders from "webgpu:shaders";
import type { Neighbors, Rows } from "../points.js";
import { buildOn, type Coordinates, type GpuBuildOptions, type GpuPoints, planOf } from "./build.js";
import { type Bindings, deviceOf, encode, fail, filled, flattened, type GpuOptions, mostBytes, read, room, run, uploaded } from "./device.js";
import { type Shape, shapeOf } from "./layout.js";
import { type Saved, savedBytes, savedWith } from "./saved.js";

/** Options of searches for many queries. */
export interface GpuSearchOptions {
  /** No point farther than this is found. Default: Infinity. */
  radius?: number;
  /** Squared distances instead of distances. */
  squared?: boolean;
}

/** A search among what lies on the GPU already. */
export interface GpuSearch {
  /** float32 [count][dims], the first at byte 0. */
  queries: GPUBuffer;
  count: number;
  /** 1 to 128. */
  k: number;
  /** No point farther than this is found. Default: Infinity. */
  radius?: number;
  /** int32 [count][k]: the numbers of the nearest points, -1 where there is none. */
  ids: GPUBuffer;
  /** float32 [count][k]: squared distances, Infinity where there is no point. */
  distances2: GPUBuffer;
}

const capacities = [1, 8, 32, 128];
const mostNeighbors = 128;
const largest = 3.4028234663852886e38; // of all floats

// What search.glsl is told.
interface Search {
  queries: number;
  first: number;
  k: number;
  limit2: number;
  isSelf: boolean;
}

// The square of a radius, rounded to a float once and at most its largest value (tree/limit.h).
function limit2Of(radius: unknown): number {
  if (typeof radius !== "number" || !(radius >= 0)) fail("ARGUMENT", `radius: ${String(radius)} is not 0 or more`);
  const square = radius * radius;
  if (!(square < largest)) return largest;
  const rounded = Math.fround(square);
  if (rounded === square) return rounded;
  // A square that was first rounded to the middle between two floats: its error says to which of them it rounds.
  const other = nextFloat(rounded, square);
  if (square !== (rounded + other) / 2) return rounded;
  const high = radius * 134217729 - (radius * 134217729 - radius);
  const low = radius - high;
  const error = high * high - square + 2 * high * low + low * low;
  return error > 0 ? Math.max(rounded, other) : error < 0 ? Math.min(rounded, other) : rounded;
}

function nextFloat(value: number, towards: number): number {
  const bits = new Int32Array(new Float32Array([value]).buffer);
  bits[0]! += towards > value ? 1 : -1;
  return new Float32Array(bits.buffer)[0]!;
}

/**
 * A copy of a `PointTree` on a GPU, for searches with many queries. Answers are those of the `PointTree`, bit for bit; only
 * where coordinates differ by less than 1.1e-19 their squares may be taken as 0, as WebGPU allows.
 *
 * Trees of floats, 1 to 3 dimensions, without a period.
 */
export class GpuPointTree {
  /** Where the tree lies. */
  readonly device: GPUDevice;
  /** Coordinates a point. */
  readonly dims: number;
  /** Points in the tree. */
  readonly count: number;
  readonly #facts: Shape;
  readonly #tree: GPUBuffer;
  readonly #shape: GPUBuffer;
  #points: Float32Array<ArrayBuffer> | undefined; // by id, once they were asked for
  #free = false;

  private constructor(device: GPUDevice, shape: Shape, tree: GPUBuffer) {
    this.device = device;
    this.dims = shape.dims;
    this.count = shape.count;
    this.#facts = shape;
    this.#tree = tree;
    this.#shape = filled(device, shape.words, GPUBufferUsage.UNIFORM);
  }

  /**
   * Builds a balanced tree on a GPU, byte for byte that of `PointTree`, over coordinates or over points that lie there. They must be
   * floats: a `Float32Array`, integers of up to 16 bits, or whatever `type: Float32Array` may round. O(n log n).
   * Throws UNSUPPORTED (no WebGPU; double precision, more than 3 dimensions, other splits, periods, dropped duplicates; larger than
   * buffers may be), ARGUMENT, NOT_FINITE (naming the point), MEMORY.
   */
  static async build(coords: Coordinates | GpuPoints, options?: GpuBuildOptions): Promise<GpuPointTree> {
    const plan = planOf(coords, options);
    const device = await deviceOf(options);
    return new GpuPointTree(device, ...(await buildOn(device, plan)));
  }

  /** Copies a tree to a GPU. Throws UNSUPPORTED (no WebGPU; double precision, more than 3 dimensions, a period; larger than
   * a buffer may be), FORMAT, MEMORY. */
  static async from(tree: Saved | Uint8Array, options?: GpuOptions): Promise<GpuPointTree> {
    const { header, arrays } = savedBytes(tree, "SAPTREE");
    const shape = shapeOf(header, arrays);
    const device = await deviceOf(options);
    return new GpuPointTree(device, shape, await uploaded(device, arrays));
  }

  /** The k nearest points to each of many places, in rows of k: 1 to 128. */
  async knnAll(queries: Coordinates, k: number, options?: GpuSearchOptions): Promise<Neighbors<Float32Array>> {
    return this.#nearest(flattened(queries, this.dims, "queries"), k, options, false);
  }

  /** The nearest point to each of many places. */
  async nearestAll(queries: Coordinates, options?: GpuSearchOptions): Promise<Neighbors<Float32Array>> {
    return this.knnAll(queries, 1, options);
  }

  /** The k nearest other points to each point of the tree: row i is that of point i. */
  async knnSelf(k: number, options?: GpuSearchOptions): Promise<Neighbors<Float32Array>> {
    return this.#nearest(await this.#ownPoints(), k, options, true);
  }

  /** How many points are no farther than `radius` from each of many places. */
  async withinCountAll(queries: Coordinates, radius: number): Promise<Int32Array> {
    const flat = flattened(queries, this.dims, "queries");
    const counts = new Int32Array(flat.length / this.dims);
    const limit2 = limit2Of(radius);
    await this.#inParts(flat, 4, async (part, first, count) => {
      const ids = room(this.device, 4 * count);
      await this.#run(0, { 3: part, 4: ids }, { queries: count, first, k: 0, limit2, isSelf: false });
      counts.set(new Int32Array(await read(this.device, ids, 4 * count)), first);
      ids.destroy();
    });
    return counts;
  }

  /** All points no farther than `radius` from each of many places; in each row the nearest first, if `sorted`. */
  async withinAll(
    queries: Coordinates, radius: number, options?: { sorted?: boolean; squared?: boolean },
  ): Promise<Rows<Float32Array>> {
    const flat = flattened(queries, this.dims, "queries");
    const limit2 = limit2Of(radius);
    const counts = await this.withinCountAll(flat, radius);
    const offsets = new Int32Array(counts.length + 1);
    let total = 0;
    for (let i = 0; i < counts.length; i++) {
      total += counts[i]!;
      if (total > 2147483647) fail("RANGE", "More points are found than an answer can number.");
      offsets[i + 1] = total;
    }
    const ids = new Int32Array(total);
    const distances = new Float32Array(total);
    const most = Math.floor(mostBytes(this.device) / 4);
    for (let from = 0, to = 0; from < counts.length; from = to) {
      for (to = from + 1; to < counts.length && offsets[to + 1]! - offsets[from]! <= most; to++);
      if (offsets[to]! - offsets[from]! > most) fail("RANGE", "A query finds more points than a buffer of this GPU holds.");
      await this.#listed(flat.subarray(from * this.dims, to * this.dims), limit2, offsets, from, to, ids, distances);
    }
    if (options?.sorted) sortRows(offsets, ids, distances);
    if (!options?.squared) toRoots(distances);
    return { offsets, ids, distances };
  }

  /** The tree as `PointTree.save` gives it: `PointTree.load` takes it. */
  async save(): Promise<Uint8Array> {
    this.#alive();
    return savedWith(this.#facts.header, new Uint8Array(await read(this.device, this.#tree, this.#facts.bytes)));
  }

  /** Adds a search to a command encoder: queries and answers stay on the GPU. Nothing is checked but the numbers. */
  encodeKnn(encoder: GPUCommandEncoder, search: GpuSearch): void {
    this.#alive();
    const { queries, count, k, ids, distances2 } = search;
    checkNeighbors(k);
    if (!Number.isInteger(count) || count < 0) fail("ARGUMENT", `count: ${String(count)} is not a number of queries`);
    const told = toldOf({ queries: count, first: 0, k, limit2: limit2Of(search.radius ?? Infinity), isSelf: false });
    encode(this.device, encoder, this.#code(capacityOf(k)), count, told, this.#bindings({ 3: queries, 4: ids, 5: distances2 }));
  }

  /** Gives the GPU's memory back. The tree cannot be used after that; further calls of `free` do nothing. */
  free(): void {
    this.#free = true;
    for (const buffer of [this.#tree, this.#shape]) buffer.destroy();
  }

  #alive(): void {
    if (this.#free) fail("FREED", "The tree was used after free().");
  }

  #code(capacity: number): string {
    return shaders.search[this.#facts.kind][capacity]!;
  }

  #bindings(more: Bindings): Bindings {
    return { 0: this.#tree, 1: this.#shape, ...more };
  }

  async #run(capacity: number, bindings: Bindings, search: Search): Promise<void> {
    await run(this.device, this.#code(capacity), search.queries, toldOf(search), this.#bindings(bindings));
  }

  async #nearest(flat: Float32Array<ArrayBuffer>, k: number, options: GpuSearchOptions | undefined, isSelf: boolean) {
    checkNeighbors(k);
    const count = flat.length / this.dims;
    const ids = new Int32Array(count * k);
    const distances = new Float32Array(count * k);
    const limit2 = limit2Of(options?.radius ?? Infinity);
    await this.#inParts(flat, 4 * k, async (part, first, queries) => {
      const bytes = 4 * k * queries;
      const [idRows, distanceRows] = [room(this.device, bytes), room(this.device, bytes)];
      await this.#run(capacityOf(k), { 3: part, 4: idRows, 5: distanceRows }, { queries, first, k, limit2, isSelf });
      const answers = await Promise.all([read(this.device, idRows, bytes), read(this.device, distanceRows, bytes)]);
      ids.set(new Int32Array(answers[0]), first * k);
      distances.set(new Float32Array(answers[1]), first * k);
      for (const buffer of [idRows, distanceRows]) buffer.destroy();
    });
    if (!options?.squared) toRoots(distances);
    return { ids, distances };
  }

  // Searches for as many queries at a time as buffers hold, each with `bytes` of answers.
  async #inParts(flat: Float32Array<ArrayBuffer>, bytes: number, part: (queries: GPUBuffer, first: number, count: number) => Promise<void>) {
    this.#alive();
    const count = flat.length / this.dims;
    const most = Math.max(1, Math.floor(mostBytes(this.device) / Math.max(bytes, 4 * this.dims)));
    for (let first = 0; first < count; first += most) {
      const some = Math.min(most, count - first);
      const queries = filled(this.device, flat.subarray(first * this.dims, (first + some) * this.dims), GPUBufferUsage.STORAGE);
      await part(queries, first, some);
      queries.destroy();
    }
  }

  async #listed(
    flat: Float32Array<ArrayBuffer>, limit2: number, offsets: Int32Array, from: number, to: number, ids: Int32Array, distances: Float32Array,
  ): Promise<void> {
    const [begin, entries] = [offsets[from]!, offsets[to]! - offsets[from]!];
    if (entries === 0) return;
    const queries = filled(this.device, flat, GPUBufferUsage.STORAGE);
    const begins = filled(this.device, offsets.slice(from, to).map((at) => at - begin), GPUBufferUsage.STORAGE);
    const [idRows, distanceRows] = [room(this.device, 4 * entries), room(this.device, 4 * entries)];
    await this.#run(-1, { 3: queries, 4: idRows, 5: distanceRows, 6: begins },
      { queries: to - from, first: 0, k: 0, limit2, isSelf: false });
    ids.set(new Int32Array(await read(this.device, idRows, 4 * entries)), begin);
    distances.set(new Float32Array(await read(this.device, distanceRows, 4 * entries)), begin);
    for (const buffer of [queries, begins, idRows, distanceRows]) buffer.destroy();
  }

  // The points as they were given, of those that the tree has; others are NaN and find nothing.
  async #ownPoints(): Promise<Float32Array<ArrayBuffer>> {
    this.#alive();
    if (!this.#points) {
      const words = new Int32Array(await read(this.device, this.#tree, this.#tree.size));
      this.#points = pointsOf(words, new Float32Array(words.buffer), this.#facts);
    }
    return this.#points;
  }
}

function checkNeighbors(k: unknown): void {
  if (!Number.isInteger(k) || (k as number) < 1) fail("ARGUMENT", `k: ${String(k)} is not an integer from 1 on`);
  if ((k as number) > mostNeighbors) fail("UNSUPPORTED", `k: on GPUs at most ${mostNeighbors} neighbours are found, not ${String(k)}`);
}

function capacityOf(k: number): number {
  return capacities.find((capacity) => capacity >= k)!;
}

// As search.glsl declares it.
function toldOf(search: Search): Int32Array {
  const words = Int32Array.of(search.queries, 0, search.first, search.k, 0, +search.isSelf, 0);
  new Float32Array(words.buffer)[4] = search.limit2;
  return words;
}

function toRoots(distances2: Float32Array): void {
  for (let i = 0; i < distances2.length; i++) distances2[i] = Math.sqrt(distances2[i]!);
}

// Rows by distance, then by number.
function sortRows(offsets: Int32Array, ids: Int32Array, distances2: Float32Array): void {
  for (let i = 0; i + 1 < offsets.length; i++) {
    const [from, to] = [offsets[i]!, offsets[i + 1]!];
    const order = Array.from({ length: to - from }, (_, place) => from + place);
    order.sort((a, b) => distances2[a]! - distances2[b]! || ids[a]! - ids[b]!);
    ids.set(order.map((place) => ids[place]!), from);
    distances2.set(order.map((place) => distances2[place]!), from);
  }
}

// The points of a tree's blocks, by id.
function pointsOf(words: Int32Array, floats: Float32Array, { words: shape, kind, sourceCount: count }: Shape) {
  const [dims, , , depth, stride, nodes] = shape as unknown as [number, number, number, number, number, number];
  const blocks = shape[7]!;
  const points = new Float32Array(count * dims).fill(NaN);
  const leaf = (at: number, slots: number): void => {
    for (let slot = 0; slot < slots; slot++) {
      const id = words[at + dims * slots + slot]!;
      if (id >= 0) for (let a = 0; a < dims; a++) points[id * dims + a] = floats[at + a * slots + slot]!;
    }
  };
  if (kind === "balanced") {
    for (let i = 0; i < 2 ** depth; i++) leaf(blocks + i * stride * (dims + 1), stride);
  } else {
    for (let node = nodes; node < shape[6]!; node += 2) {
      const link = words[node + 1]!;
      const held = link >>> 5;
      if ((link & 31) === 31) leaf(blocks + words[node]! * (dims + 1), held > 4 ? Math.ceil(held / 4) * 4 : held);
    }
  }
  return points;
}
