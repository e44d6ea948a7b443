// What every entry offers beside `load`.
export { allocate, Allocation } from "./arrays.js";
export type { Numbers, TypedArray, TypedArrayConstructor } from "./arrays.js";
export { compact } from "./compact.js";
export { SapwoodError } from "./errors.js";
export { trim } from "./wasm.js";
export type { Status } from "./errors.js";
export { earthRadius, PlaceTree } from "./places.js";
export { PointTree } from "./typed_trees.js";
export type { Accessor, Distances, Filter, KDBushLike, Keep, Neighbor, Neighbors, Point, PointTreeOptions, Precision, Rows, SearchOptions } from "./points.js";
export type { LoadOptions, Source } from "./load.js";
