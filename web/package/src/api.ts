// What both entries offer beside `load`.
export { allocate, Allocation } from "./arrays.js";
export type { Numbers, TypedArray, TypedArrayConstructor } from "./arrays.js";
export { compact } from "./compact.js";
export { SapwoodError } from "./errors.js";
export type { Status } from "./errors.js";
export { MeshTree } from "./mesh.js";
export type { AllHits, Closest, ClosestPoints, Hit, Hits, HitsOut, MeshTreeOptions } from "./mesh.js";
export { PointTree } from "./points.js";
export type { Neighbor, Neighbors, Point, PointTreeOptions, Precision, Rows, SearchOptions } from "./points.js";
export { marchingCubes } from "./surface.js";
export type { Surface, SurfaceOptions, Volume } from "./surface.js";
