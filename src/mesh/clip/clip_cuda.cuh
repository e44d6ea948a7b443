// Clipping triangles on CUDA devices: an equivalent of sap_clip_cheaply for one triangle per lane. It finds both sides
// in one pass over the edges and keeps everything in registers.
#ifndef SAPWOOD_MESH_CLIP_CLIP_CUDA_CUH
#define SAPWOOD_MESH_CLIP_CLIP_CUDA_CUH

#include "mesh/build_cuda.cuh"

static __device__ __forceinline__ double sap_mesh_along(const double v[3], int axis) {
    return axis == 0 ? v[0] : axis == 1 ? v[1] : v[2];
}

static __device__ __forceinline__ void sap_mesh_extend(sap_extent* e, const double v[3]) {
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        e->lower[k] = v[k] < e->lower[k] ? v[k] : e->lower[k];
        e->upper[k] = v[k] > e->upper[k] ? v[k] : e->upper[k];
    }
}

// Adds the edge from u to w: the point where it crosses the plane to both sides, w to its own side.
static __device__ __forceinline__ void sap_mesh_add_edge(const double u[3], const double w[3], int axis, double plane,
                                                         sap_extent* below, sap_extent* above) {
    const double from_u = sap_mesh_along(u, axis) - plane, from_w = sap_mesh_along(w, axis) - plane;
    if ((from_u < 0.0 && from_w > 0.0) || (from_u > 0.0 && from_w < 0.0)) {
        const double ratio = from_u / (from_u - from_w); // as sap_edge_point
        double at[3];
        SAP_UNROLL
        for (int k = 0; k < 3; k++) at[k] = k == axis ? plane : u[k] + ratio * (w[k] - u[k]);
        sap_mesh_extend(below, at);
        sap_mesh_extend(above, at);
    }
    if (from_w <= 0.0) sap_mesh_extend(below, w);
    if (from_w >= 0.0) sap_mesh_extend(above, w);
}

static __device__ __forceinline__ sap_halves sap_mesh_clip_cheaply(const sap_triangle& t, const sap_mesh_box& part,
                                                                   int axis, float plane) {
    const double a[3] = {t.a.x, t.a.y, t.a.z}, b[3] = {t.b.x, t.b.y, t.b.z}, c[3] = {t.c.x, t.c.y, t.c.z};
    sap_extent below = sap_extent_none(), above = sap_extent_none();
    sap_halves halves;
    sap_mesh_add_edge(c, a, axis, plane, &below, &above);
    sap_mesh_add_edge(a, b, axis, plane, &below, &above);
    sap_mesh_add_edge(b, c, axis, plane, &below, &above);
    halves.left = sap_extent_within(below, part);
    halves.right = sap_extent_within(above, part);
    halves.has_left = sap_box_is_nonempty(halves.left);
    halves.has_right = sap_box_is_nonempty(halves.right);
    if (halves.has_left || halves.has_right) return halves;
    halves.has_left = halves.has_right = true; // rounding left nothing on either side
    halves.left = halves.right = part;
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        if (k != axis) continue;
        halves.left.upper[k] = plane;
        halves.right.lower[k] = plane;
    }
    return halves;
}

#endif
