// Trees over triangles on a GPU.
import shaders from "webgpu:shaders";
import type { ClosestPoints, Hits } from "../mesh.js";
import type { Coordinates } from "./build.js";
import {
  deviceOf, encode, fail, filled, flattened, type GpuOptions, mostBytes, Places, read, room, run, uploaded,
} from "./device.js";
import { type Saved, savedBytes } from "./saved.js";

/** Rays: 8 numbers each, origin, tMin, direction, tMax. */
export type Rays = ArrayLike<number> | ArrayLike<ArrayLike<number>>;

/** Rays among what lies on the GPU already. */
export interface GpuRays {
  /** float32 [count][8]: origin, tMin, direction, tMax. */
  rays: GPUBuffer;
  count: number;
  /** [count][4]: float32 t, u, v, and int32 triangle; a miss is triangle -1 at t = Infinity. */
  hits: GPUBuffer;
  /** Any hit will do: only whether there is one is asked. */
  any?: boolean;
}

/** Places among what lies on the GPU already. */
export interface GpuPlaces {
  /** float32 [count][3]. */
  places: GPUBuffer;
  count: number;
  /** [count][5]: float32 x, y, z of the nearest point, its squared distance, and int32 triangle; where there is none: the place itself,
   * Infinity and -1. */
  nearest: GPUBuffer;
}

const RAY = 8; // numbers
const NEAREST = 5; // words

/**
 * A copy of a `MeshTree` on a GPU, for many rays and places. Nearest points are those of the `MeshTree`, bit for bit. Hits are those of the `MeshTree`; of rays through an edge or a corner one in
 * 2^29 may be taken by the triangle beside, and WebGPU may take numbers below 1.2e-38 as 0.
 */
export class GpuMeshTree {
  /** Where the tree lies. */
  readonly device: GPUDevice;
  /** Triangles in the tree. */
  readonly count: number;
  readonly #tree: GPUBuffer;
  readonly #shape: GPUBuffer;
  #free = false;

  private constructor(device: GPUDevice, count: number, tree: GPUBuffer, shape: Int32Array) {
    this.device = device;
    this.count = count;
    this.#tree = tree;
    this.#shape = filled(device, shape, GPUBufferUsage.UNIFORM);
  }

  /** Copies a tree to a GPU. Throws UNSUPPORTED (no WebGPU; larger than a buffer may be), FORMAT, MEMORY. */
  static async from(tree: Saved | Uint8Array, options?: GpuOptions): Promise<GpuMeshTree> {
    const { header, arrays } = savedBytes(tree, "SAPMESH");
    const long = (byte: number): number => Number(header.getBigInt64(byte, true));
    const [triangles, nodes, listed] = [long(80), long(88), long(120)];
    const places = new Places();
    places.next(8 * nodes);
    const shape = new Int32Array(12);
    shape.set([places.next(4 * listed), places.next(4 * (9 * triangles + 64)), places.next(4 * triangles)], 8);
    places.check(arrays);
    const box = Array.from({ length: 6 }, (_, a) => header.getFloat32(56 + 4 * a, true)); // lower, upper
    new Float32Array(shape.buffer).set([...box.slice(0, 3), Math.max(...box.map(Math.abs)), ...box.slice(3)]);
    const device = await deviceOf(options);
    return new GpuMeshTree(device, triangles, await uploaded(device, arrays), shape);
  }

  /** The first hit of each ray. */
  async trace(rays: Rays): Promise<Hits> {
    const flat = flattened(rays, RAY, "rays");
    const count = flat.length / RAY;
    const hits = { t: new Float32Array(count), u: new Float32Array(count), v: new Float32Array(count), triangles: new Int32Array(count) };
    await this.#traced(flat, false, (bytes, first) => {
      const [floats, integers] = [new Float32Array(bytes), new Int32Array(bytes)];
      for (let i = 0; 4 * i < floats.length; i++) {
        hits.t[first + i] = floats[4 * i]!;
        hits.u[first + i] = floats[4 * i + 1]!;
        hits.v[first + i] = floats[4 * i + 2]!;
        hits.triangles[first + i] = integers[4 * i + 3]!;
      }
    });
    return hits;
  }

  /** 1 for each ray that hits anything, else 0. Faster than `trace`. */
  async occluded(rays: Rays): Promise<Uint8Array> {
    const flat = flattened(rays, RAY, "rays");
    const occluded = new Uint8Array(flat.length / RAY);
    await this.#traced(flat, true, (bytes, first) => {
      const integers = new Int32Array(bytes);
      for (let i = 0; 4 * i < integers.length; i++) occluded[first + i] = +(integers[4 * i + 3]! >= 0);
    });
    return occluded;
  }

  /** The points of the mesh that are nearest to places: x, y, z of each. */
  async closestPoints(places: Coordinates, options?: { squared?: boolean }): Promise<ClosestPoints> {
    const flat = flattened(places, 3, "points");
    const count = flat.length / 3;
    const closest = { points: new Float32Array(3 * count), distances: new Float32Array(count), triangles: new Int32Array(count) };
    await this.#inParts(flat, 3, NEAREST, shaders.closest, (some) => Int32Array.of(some, 0, 0, 0), (bytes, first) => {
      const [floats, integers] = [new Float32Array(bytes), new Int32Array(bytes)];
      for (let i = 0; NEAREST * i < floats.length; i++) {
        closest.points.set(floats.subarray(NEAREST * i, NEAREST * i + 3), 3 * (first + i));
        closest.distances[first + i] = options?.squared ? floats[NEAREST * i + 3]! : Math.sqrt(floats[NEAREST * i + 3]!);
        closest.triangles[first + i] = integers[NEAREST * i + 4]!;
      }
    });
    return closest;
  }

  /** Adds places to a command encoder: they and the nearest points stay on the GPU. Nothing is checked but the number. */
  encodeClosest(encoder: GPUCommandEncoder, { places, count, nearest }: GpuPlaces): void {
    this.#alive();
    if (!Number.isInteger(count) || count < 0) fail("ARGUMENT", `count: ${String(count)} is not a number of places`);
    encode(this.device, encoder, shaders.closest, count, Int32Array.of(count, 0, 0, 0), this.#bindings(places, nearest));
  }

  /** Adds rays to a command encoder: rays and hits stay on the GPU. Nothing is checked but the number. */
  encodeTrace(encoder: GPUCommandEncoder, { rays, count, hits, any = false }: GpuRays): void {
    this.#alive();
    if (!Number.isInteger(count) || count < 0) fail("ARGUMENT", `count: ${String(count)} is not a number of rays`);
    encode(this.device, encoder, shaders.rays, count, Int32Array.of(count, 0, +any, 0), this.#bindings(rays, hits));
  }

  /** Gives the GPU's memory back. The tree cannot be used after that; further calls of `free` do nothing. */
  free(): void {
    this.#free = true;
    for (const buffer of [this.#tree, this.#shape]) buffer.destroy();
  }

  #alive(): void {
    if (this.#free) fail("FREED", "The tree was used after free().");
  }

  #bindings(asked: GPUBuffer, found: GPUBuffer) {
    return { 0: this.#tree, 1: this.#shape, 3: asked, 4: found };
  }

  async #traced(flat: Float32Array<ArrayBuffer>, any: boolean, take: (hits: ArrayBuffer, first: number) => void): Promise<void> {
    await this.#inParts(flat, RAY, 4, shaders.rays, (some) => Int32Array.of(some, 0, +any, 0), take);
  }

  // Asks for as much at a time as buffers hold: `asks` numbers and `words` of an answer each.
  async #inParts(
    flat: Float32Array<ArrayBuffer>, asks: number, words: number, code: string, told: (some: number) => Int32Array,
    take: (found: ArrayBuffer, first: number) => void,
  ): Promise<void> {
    this.#alive();
    const count = flat.length / asks;
    const most = Math.floor(mostBytes(this.device) / (4 * Math.max(asks, words)));
    for (let first = 0; first < count; first += most) {
      const some = Math.min(most, count - first);
      const asked = filled(this.device, flat.subarray(first * asks, (first + some) * asks), GPUBufferUsage.STORAGE);
      const found = room(this.device, 4 * words * some);
      await run(this.device, code, some, told(some), this.#bindings(asked, found));
      take(await read(this.device, found, 4 * words * some), first);
      for (const buffer of [asked, found]) buffer.destroy();
    }
  }
}
