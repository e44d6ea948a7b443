// The entry for searches on a GPU, by WebGPU.
export { SapwoodError } from "./errors.js";
export type { Status } from "./errors.js";
export type { Hits } from "./mesh.js";
export type { Neighbors, Rows } from "./points.js";
export type { GpuOptions, Saved } from "./webgpu/device.js";
export { GpuMeshTree } from "./webgpu/mesh.js";
export type { GpuRays, Rays } from "./webgpu/mesh.js";
export { GpuPointTree } from "./webgpu/points.js";
export type { Coordinates, GpuSearch, GpuSearchOptions } from "./webgpu/points.js";
