// The entry for searches on a GPU, by WebGPU.
export { SapwoodError } from "./errors.js";
export type { Status } from "./errors.js";
export type { ClosestPoints, Hits } from "./mesh.js";
export type { Neighbors, Rows } from "./points.js";
export type { Coordinates, GpuBuildOptions, GpuPoints } from "./webgpu/build.js";
export type { GpuOptions } from "./webgpu/device.js";
export { GpuMeshTree } from "./webgpu/mesh.js";
export type { GpuPlaces, GpuRays, Rays } from "./webgpu/mesh.js";
export { GpuPointTree } from "./webgpu/points.js";
export type { GpuSearch, GpuSearchOptions } from "./webgpu/points.js";
export type { Saved } from "./webgpu/saved.js";
