// Trees over points whose types tell their precision: that of coordinates, unless another is asked for.
import type { Allocation } from "./arrays.js";
import { type Distances, PointTree as Tree, type PointTreeOptions } from "./points.js";

type Singles =
  | Float32Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array
  | Allocation<Float32Array> | Allocation<Int8Array> | Allocation<Uint8Array> | Allocation<Uint8ClampedArray>
  | Allocation<Int16Array> | Allocation<Uint16Array>;
type Doubles =
  | readonly number[] | readonly ArrayLike<number>[] | Float64Array | Int32Array | Uint32Array
  | Allocation<Float64Array> | Allocation<Int32Array> | Allocation<Uint32Array>;
type Coordinates = ConstructorParameters<typeof Tree>[0];
type Untyped = PointTreeOptions & { type?: undefined };

export type PointTree<D extends Distances = Distances> = Tree<D>;
export const PointTree = Tree as unknown as {
  readonly prototype: Tree;
  readonly from: typeof Tree.from;
  readonly load: typeof Tree.load;
  build(coords: Coordinates, options: PointTreeOptions & { type: Float32ArrayConstructor }): Promise<Tree<Float32Array>>;
  build(coords: Coordinates, options: PointTreeOptions & { type: Float64ArrayConstructor }): Promise<Tree<Float64Array>>;
  build(coords: Singles, options?: Untyped): Promise<Tree<Float32Array>>;
  build(coords: Doubles, options?: Untyped): Promise<Tree<Float64Array>>;
  build(coords: Coordinates, options?: PointTreeOptions): Promise<Tree>;
  new (coords: Coordinates, options: PointTreeOptions & { type: Float32ArrayConstructor }): Tree<Float32Array>;
  new (coords: Coordinates, options: PointTreeOptions & { type: Float64ArrayConstructor }): Tree<Float64Array>;
  new (coords: Singles, options?: Untyped): Tree<Float32Array>;
  new (coords: Doubles, options?: Untyped): Tree<Float64Array>;
  new (coords: Coordinates, options?: PointTreeOptions): Tree;
};
