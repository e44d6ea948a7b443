// What the entries of the whole package offer beside.
export { MeshTree } from "./mesh.js";
export type { AllHits, Closest, ClosestPoints, Hit, Hits, HitsOut, MeshTreeOptions } from "./mesh.js";
export type { AttributeLike, GeometryLike, Intersection, MeshLike, RaycasterLike, Vector3Like } from "./geometry.js";
export { marchingCubes } from "./surface.js";
export type { Surface, SurfaceOptions, Volume } from "./surface.js";
