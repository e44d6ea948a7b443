// Trees over triangles on a GPU.
import shaders from "webgpu:shaders";
import type { Hits } from "../mesh.js";
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

const RAY = 8; // numbers

/**
 * A copy of a `MeshTree` on a GPU, for many rays. Hits are those of the `MeshTree`; of rays through an edge or a corner one in
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
    await this.#inParts(flat, false, (bytes, first) => {
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
    await this.#inParts(flat, true, (bytes, first) => {
      const integers = new Int32Array(bytes);
      for (let i = 0; 4 * i < integers.length; i++) occluded[first + i] = +(integers[4 * i + 3]! >= 0);
    });
    return occluded;
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

  #bindings(rays: GPUBuffer, hits: GPUBuffer) {
    return { 0: this.#tree, 1: this.#shape, 3: rays, 4: hits };
  }

  // Traces as many rays at a time as buffers hold.
  async #inParts(flat: Float32Array<ArrayBuffer>, any: boolean, take: (hits: ArrayBuffer, first: number) => void): Promise<void> {
    this.#alive();
    const count = flat.length / RAY;
    const most = Math.floor(mostBytes(this.device) / (4 * RAY));
    for (let first = 0; first < count; first += most) {
      const some = Math.min(most, count - first);
      const rays = filled(this.device, flat.subarray(first * RAY, (first + some) * RAY), GPUBufferUsage.STORAGE);
      const hits = room(this.device, 16 * some);
      await run(this.device, shaders.rays, some, Int32Array.of(some, 0, +any, 0), this.#bindings(rays, hits));
      take(await read(this.device, hits, 16 * some), first);
      for (const buffer of [rays, hits]) buffer.destroy();
    }
  }
}
