// Balanced trees built on a GPU: lists of all points, one in the order of each axis and one by id, are parted level by level, so
// that in every list the points of a node lie together, in order. A node's box is then what its parts of the lists begin and end
// with, its median lies in the middle, and the list by id ends as the leaves.
import shaders from "webgpu:shaders";
import type { PointTreeOptions } from "../points.js";
import { type Bindings, checked, encode, fail, filled, flattened, type GpuOptions, mostBytes, Places, read, room } from "./device.js";
import { balancedArrays, type BalancedArrays, balancedDepth, balancedWords, type Shape } from "./layout.js";
import { headerOf } from "./saved.js";

/** Coordinates: x0, y0, x1, y1, …, or an array of points. */
export type Coordinates = ArrayLike<number> | ArrayLike<ArrayLike<number>>;

/** Points that lie on the GPU already. */
export interface GpuPoints {
  /** float32 [count][dims], the first at byte 0; a buffer for storage, of the device that the options name. */
  points: GPUBuffer;
  count: number;
}

/** How to build: the options of `PointTree`, and where. */
export type GpuBuildOptions = PointTreeOptions & GpuOptions;

/** What is to be built. */
export interface Plan {
  readonly coords: Float32Array<ArrayBuffer> | GPUBuffer;
  readonly count: number;
  readonly dims: number;
  readonly leafSize: number;
  readonly cycles: boolean;
}

const known = ["dims", "type", "split", "axis", "leafSize", "dropDuplicates", "period", "device"];
const exactInFloat: readonly unknown[] = [Float32Array, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array];
const storage = 128; // GPUBufferUsage.STORAGE
const largestFloat = 3.4028234663852886e38;

/** Checks what a caller gives. Throws ARGUMENT, UNSUPPORTED. */
export function planOf(given: Coordinates | GpuPoints, options: GpuBuildOptions | undefined): Plan {
  const o: GpuBuildOptions = options ?? {};
  for (const name of Object.keys(o))
    if (!known.includes(name)) fail("ARGUMENT", `options.${name}: there is no such option, only ${known.join(", ")}`);
  const first: unknown = typeof given === "object" && given !== null && "length" in given ? given[0] : undefined;
  const dims = o.dims ?? (typeof first === "object" && first !== null ? (first as ArrayLike<number>).length : 2);
  const leafSize = o.leafSize ?? 32;
  if (!Number.isInteger(dims) || dims < 1 || dims > 16) fail("ARGUMENT", `dims: ${String(dims)} is not an integer from 1 to 16`);
  if (!Number.isInteger(leafSize) || leafSize < 1 || leafSize > 1024)
    fail("ARGUMENT", `options.leafSize: ${String(leafSize)} is not an integer from 1 to 1024`);
  if (o.axis !== undefined && o.axis !== "widest" && o.axis !== "cycle")
    fail("ARGUMENT", `options.axis: ${String(o.axis)} is neither widest nor cycle`);
  if (dims > 3) fail("UNSUPPORTED", `dims: ${dims}; on GPUs trees have at most 3 dimensions`);
  if (o.split !== undefined && o.split !== "median")
    fail("UNSUPPORTED", `options.split: on GPUs trees are split at medians, not by ${String(o.split)}`);
  if (o.dropDuplicates) fail("UNSUPPORTED", "options.dropDuplicates: on GPUs all points are kept; build a PointTree and copy it with from");
  if (o.period !== undefined) fail("UNSUPPORTED", "options.period: searches on GPUs know no periods");
  if (o.type !== undefined && (o.type as unknown) !== Float32Array)
    fail("UNSUPPORTED", "options.type: GPUs have no double precision here, only Float32Array");
  const rules = { dims, leafSize, cycles: o.axis === "cycle" };
  if (isOnGpu(given)) {
    const { points, count } = given;
    if (!Number.isInteger(count) || count < 0) fail("ARGUMENT", `count: ${String(count)} is not a number of points`);
    if (4 * dims * count > points.size) fail("ARGUMENT", `points: the buffer has ${points.size} bytes, too few for ${count} points`);
    if (!(points.usage & storage)) fail("ARGUMENT", "points: the buffer is not made for storage");
    return { ...rules, coords: points, count };
  }
  if (!o.type && !exactInFloat.includes(given?.constructor))
    fail("UNSUPPORTED", "coords: GPUs have no double precision here; give a Float32Array, or type: Float32Array, which rounds them");
  const coords = flattened(given, dims, "coords");
  return { ...rules, coords, count: coords.length / dims };
}

function isOnGpu(given: Coordinates | GpuPoints): given is GpuPoints {
  return typeof given === "object" && given !== null && "points" in given && typeof (given.points as Partial<GPUBuffer>)?.size === "number";
}

/** Builds a tree. Throws UNSUPPORTED (larger than buffers may be), NOT_FINITE, MEMORY. */
export async function buildOn(device: GPUDevice, plan: Plan): Promise<[shape: Shape, tree: GPUBuffer]> {
  const { count, dims, leafSize, cycles } = plan;
  const depth = balancedDepth(count, leafSize);
  const capacity = Math.ceil(count / 2 ** depth);
  const places = new Places();
  const arrays = balancedArrays(places, dims, depth, capacity);
  const [largest, most] = [Math.max(places.bytes, 8 * dims * count), mostBytes(device)];
  if (largest > most) fail("UNSUPPORTED", `coords: ${count} points need buffers of ${largest} bytes; a buffer of this GPU holds ${most}`);
  const build = await checked(device, () => new Build(device, plan, depth, arrays, places.bytes));
  try {
    await checked(device, () => build.run());
    if (new Int32Array(await read(device, build.refused, 4))[0]) fail("NOT_FINITE", await whatIsWrong(device, plan));
  } catch (error) {
    build.tree.destroy();
    throw error;
  } finally {
    build.free();
  }
  const header = headerOf({ dims, cycles, leafSize, depth, capacity, count, slots: 2 ** depth * arrays.stride });
  const words = balancedWords(arrays, dims, count, leafSize, depth);
  return [{ kind: "balanced", dims, count, sourceCount: count, bytes: places.bytes, words, header }, build.tree];
}

// What a pass is told besides.
interface Told {
  depth?: number;
  width?: number;
  splits?: number;
  boxes?: number;
  ids?: number;
  room?: number;
}

// The passes of one build.
class Build {
  readonly #device: GPUDevice;
  readonly #plan: Plan;
  readonly #depth: number;
  readonly #arrays: BalancedArrays;
  readonly #buffers: GPUBuffer[] = []; // for the time of the build
  readonly tree: GPUBuffer;
  readonly refused: GPUBuffer; // 1: a point is not finite, or too far off
  #encoder: GPUCommandEncoder;

  constructor(device: GPUDevice, plan: Plan, depth: number, arrays: BalancedArrays, bytes: number) {
    this.#device = device;
    this.#plan = plan;
    this.#depth = depth;
    this.#arrays = arrays;
    this.tree = room(device, bytes);
    this.refused = this.#room(1);
    this.#encoder = device.createCommandEncoder();
  }

  run(): void {
    const { count, dims } = this.#plan;
    const listed = count * (dims + 1);
    const blocks = Math.ceil(count / 2048) * (dims + 1);
    const keys = this.#room(count * dims);
    const [nodes, sides, axes] = [this.#room(count), this.#room(count), this.#room(2 ** this.#depth)];
    const [lower, total] = [this.#room(blocks * 128), this.#room(blocks)];
    let [lists, moved] = [this.#room(listed), this.#room(listed)];

    const { coords } = this.#plan;
    const own = coords instanceof Float32Array ? filled(this.#device, coords, GPUBufferUsage.STORAGE) : undefined;
    if (own) this.#buffers.push(own);
    this.#pass("load", count * dims, {}, { 3: keys, 11: own ?? (coords as GPUBuffer), 12: this.refused });
    const runs = Math.ceil(count / shaders.run) * dims;
    let [pairs, merged] = [this.#room(2 * count * dims), this.#room(2 * count * dims)];
    this.#pass("runs", runs, {}, { 3: keys, 5: pairs });
    for (let width = shaders.run; width < count; width *= 2) {
      this.#pass("merge", runs, { width }, { 3: keys, 4: pairs, 5: merged });
      this.#submit();
      [pairs, merged] = [merged, pairs];
    }
    this.#pass("lists", listed, {}, { 4: pairs, 5: lists });

    for (let depth = 0; depth < this.#depth; depth++) {
      this.#nodes(depth, keys, lists, axes);
      this.#pass("sides", count, { depth }, { 4: lists, 6: nodes, 7: sides, 8: axes });
      this.#pass("counts", blocks * 64, {}, { 4: lists, 7: sides, 9: lower });
      this.#pass("sums", blocks, {}, { 9: lower, 10: total });
      this.#pass("before", (dims + 1) * 64, {}, { 10: total });
      this.#pass("move", count, { depth }, { 4: lists, 5: moved, 6: nodes, 9: lower, 10: total });
      this.#submit();
      [lists, moved] = [moved, lists];
    }

    this.#nodes(this.#depth, keys, lists, axes);
    this.#pass("leaves", 2 ** this.#depth * this.#arrays.stride, { depth: this.#depth }, { 0: this.tree, 3: keys, 4: lists });
    if (this.#depth) this.#pass("axes", Math.ceil(2 ** this.#depth / 4), { depth: this.#depth }, { 0: this.tree, 8: axes });
    this.#submit();
  }

  /** Gives back all memory but the tree's. */
  free(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  #nodes(depth: number, keys: GPUBuffer, lists: GPUBuffer, axes: GPUBuffer): void {
    const { levels, splits } = this.#arrays;
    const level = levels.find((one) => one.depth === depth);
    const told = { ...level, depth, splits: depth < this.#depth ? splits : -1 };
    this.#pass("nodes", Math.max(2 ** depth, level?.room ?? 0), told, { 0: this.tree, 3: keys, 4: lists, 8: axes });
  }

  #pass(name: keyof typeof shaders.build, threads: number, of: Told, bindings: Bindings): void {
    const { count, dims, cycles } = this.#plan;
    const { axes, blocks, stride } = this.#arrays;
    const { depth = 0, width = 0, splits = -1, boxes = -1, ids = -1, room: most = 0 } = of;
    const told = Int32Array.of(threads, 0, count, dims, depth, +cycles, width, stride, splits, boxes, ids, axes, blocks, most, 0, 0);
    new Float32Array(told.buffer)[14] = largestCoordinate(dims);
    encode(this.#device, this.#encoder, shaders.build[name], threads, told, bindings);
  }

  // A GPU that shows a page, too, gets work in parts.
  #submit(): void {
    this.#device.queue.submit([this.#encoder.finish()]);
    this.#encoder = this.#device.createCommandEncoder();
  }

  #room(words: number): GPUBuffer {
    const buffer = room(this.#device, 4 * words);
    this.#buffers.push(buffer);
    return buffer;
  }
}

// The largest magnitude of a coordinate, as tree/layout.c has it: squared distances are finite.
function largestCoordinate(dims: number): number {
  const reaches = (most: number): boolean => {
    const square = Math.fround(Math.fround(2 * most) ** 2);
    let sum = 0;
    for (let a = 0; a < dims; a++) sum = Math.fround(sum + square);
    return sum < Infinity;
  };
  const most = new Float32Array([0.5 * Math.sqrt(largestFloat / dims)]);
  const bits = new Int32Array(most.buffer);
  while (!reaches(most[0]!)) bits[0]!--;
  return most[0]!;
}

// Names the first point that a tree cannot have, in the words of the library.
async function whatIsWrong(device: GPUDevice, { coords, count, dims }: Plan): Promise<string> {
  if (!(coords instanceof Float32Array) && !(coords.usage & GPUBufferUsage.COPY_SRC))
    return "points: a coordinate is not finite, or too large to square";
  const numbers = coords instanceof Float32Array ? coords : new Float32Array(await read(device, coords, 4 * dims * count));
  const most = largestCoordinate(dims);
  const bad = numbers.findIndex((x) => !(Math.abs(x) <= most));
  const where = `points: coordinate ${bad % dims} of point ${Math.floor(bad / dims)}`;
  if (!Number.isFinite(numbers[bad])) return `${where} is not finite; leave such points out`;
  return `${where} is ${numbers[bad]!.toPrecision(6)}, too large to square; scale the points to at most ${most.toPrecision(3)}`;
}
