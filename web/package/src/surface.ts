// Surfaces of volumes.
import {
  type Allocation, borrow, copyOut, given, integer, isObject, numberOf, optionsOf, type TypedArray, type TypedArrayConstructor,
} from "./arrays.js";
import { refuse } from "./errors.js";
import { checkWithRoom } from "./held.js";
import { f64, integers, numbers, u32, wasm } from "./wasm.js";

/** Samples of a volume, x fastest. */
export type Volume = Float32Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array;

/** What to extract from a volume. */
export interface SurfaceOptions {
  /** Samples along x, y, z. */
  size: ArrayLike<number>;
  /** Samples of at least this value are inside. */
  level: number;
  /** From one sample to the next along x, y, z; one number for all. Default: 1. */
  spacing?: number | ArrayLike<number>;
  /** Where the first sample lies. Default: 0, 0, 0. */
  origin?: ArrayLike<number>;
  /** Low values are the body, as with signed distances below 0: fronts and normals then face higher values. */
  lowInside?: boolean;
}

/** A mesh, ready for a renderer and for `MeshTree`. */
export interface Surface {
  /** x, y, z of each vertex. */
  vertices: Float32Array;
  /** Of each vertex, of length 1, out of the body. */
  normals: Float32Array;
  /** Three vertices each, counter-clockwise seen from outside. */
  triangles: Uint32Array;
}

const types: readonly unknown[] = [Float32Array, Uint8Array, Int16Array, Uint16Array];

/**
 * The surface of a volume at a level: marching cubes, without cracks. Vertices are shared by the triangles that meet in
 * them. O(samples). Throws ARGUMENT, NOT_FINITE (naming the sample), RANGE, MEMORY.
 */
export function marchingCubes(volume: Volume | Allocation<Volume>, options: SurfaceOptions): Surface {
  const values = given(volume, "volume");
  const samples = values.type === Uint8ClampedArray ? Uint8Array : values.type;
  const type = types.indexOf(samples);
  if (type < 0) refuse("volume: is none of Float32Array, Uint8Array, Int16Array and Uint16Array");
  if (!isObject(options)) refuse("options: size and level are needed");
  const { level, lowInside } = optionsOf(options, "size level spacing origin lowInside");
  if (typeof level !== "number") refuse("level: is not a number");
  const size = three(options.size, "size");
  for (let i = 0; i < 3; i++) integer(size[i], 0, 2147483647, `size[${i}]`);
  if (values.length !== size[0]! * size[1]! * size[2]!)
    refuse(`volume: has ${values.length} samples, not ${size.join(" x ")}`);
  const spacing = typeof options.spacing === "number" ? new Array<number>(3).fill(options.spacing) : three(options.spacing ?? [1, 1, 1], "spacing");
  for (let i = 0; i < 3; i++) if (!(spacing[i]! > 0)) refuse(`spacing[${i}]: ${spacing[i]} is not above 0`);
  const origin = three(options.origin ?? [0, 0, 0], "origin");
  return borrow((borrowed) => {
    const address = borrowed.put({ ...values, type: samples }, samples as TypedArrayConstructor<TypedArray>);
    for (let i = 0; i < 3; i++) {
      f64[numbers + i] = spacing[i]!;
      f64[numbers + 3 + i] = origin[i]!;
    }
    checkWithRoom(() => wasm!.web_surface!(address, type, size[0]!, size[1]!, size[2]!, level, +!!lowInside));
    const [surface, vertexCount, triangleCount, vertices, normals, triangles] = Array.from(u32.subarray(integers, integers + 6));
    try {
      return {
        vertices: copyOut(Float32Array, vertices!, 3 * vertexCount!),
        normals: copyOut(Float32Array, normals!, 3 * vertexCount!),
        triangles: copyOut(Uint32Array, triangles!, 3 * triangleCount!),
      };
    } finally {
      wasm!.web_surface_free!(surface!);
    }
  });
}

function three(source: ArrayLike<number>, what: string): number[] {
  const { array, length } = given(source, what);
  if (length !== 3) refuse(`${what}: is not an array of 3 numbers`);
  return Array.from(array, (value, i) => numberOf(value, what, i));
}
