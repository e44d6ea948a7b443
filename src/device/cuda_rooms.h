// What the rooms do on CUDA devices: the entries of their table.
#ifndef SAPWOOD_DEVICE_CUDA_ROOMS_H
#define SAPWOOD_DEVICE_CUDA_ROOMS_H

#include "device/cuda.h"

// ---- tree/tree_cuda.cu
sap_status sap_cuda_device_wait(sap_device* device);
sap_status sap_tree_make_cuda(sap_tree* tree, const unsigned char* arrays);
sap_status sap_tree_read_cuda(const sap_tree* tree, size_t at, size_t bytes, void* to);
void sap_tree_unmake_cuda(sap_tree* tree);
// ---- tree/balanced/verify_cuda.cu
sap_status sap_tree_verify_cuda(const sap_tree* tree, bool* right);
// ---- tree/balanced/build_cuda.cu
sap_status sap_tree_build_cuda(sap_tree* tree, const sap_rows* points);
// ---- nearest/nearest_cuda.cu
sap_status sap_nearest_cuda(const sap_tree* tree, const sap_nearest_job* job);
// ---- radius/radius_cuda.cu
sap_status sap_radius_cuda(const sap_tree* tree, const sap_radius_job* job);
// ---- mesh/mesh_cuda.cu
sap_status sap_mesh_make_cuda(sap_mesh_tree* tree, const unsigned char* arrays);
sap_status sap_mesh_read_cuda(const sap_mesh_tree* tree, void* to);
void sap_mesh_unmake_cuda(sap_mesh_tree* tree);
// ---- mesh/build_cuda.cu
sap_status sap_mesh_build_cuda(sap_mesh_tree* tree, const sap_mesh* mesh);
// ---- ray/ray_cuda.cu
sap_status sap_trace_cuda(const sap_mesh_tree* tree, const sap_ray_job* job);
// ---- ray/closest_inside_cuda.cu
sap_status sap_closest_point_cuda(const sap_mesh_tree* tree, const sap_closest_job* job);
sap_status sap_inside_cuda(const sap_mesh_tree* tree, const sap_inside_job* job);
// ---- compact/compact_cuda.cu
extern "C" sap_status sap_compact_cuda(sap_device* device, const sap_compact_job* job);
// ---- surface/surface_cuda.cu
extern "C" sap_status sap_surface_cuda(sap_device* device, const struct sap_surface_job* job);
// ---- render/steps_cuda.cu
extern "C" const struct sap_render_steps sap_render_steps_cuda;

#endif
