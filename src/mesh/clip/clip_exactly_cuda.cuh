// An equivalent of sap_clip_exactly for one triangle per lane. Polygons are not copied, and one pass over the edges
// finds both sides of the plane.
#ifndef SAPWOOD_MESH_CLIP_CLIP_EXACTLY_CUDA_CUH
#define SAPWOOD_MESH_CLIP_CLIP_EXACTLY_CUDA_CUH

#include "mesh/clip/clip_cuda.cuh"

typedef double sap_mesh_corner[3];

// As sap_polygon_cut, into another list. Returns the number of its corners.
template <int axis>
static __device__ __forceinline__ int sap_mesh_cut_polygon(const sap_mesh_corner* from, int count, double plane,
                                                           double sign, sap_mesh_corner* to) {
    const sap_mesh_corner* last = from + (count ? count - 1 : 0);
    double u[3] = {(*last)[0], (*last)[1], (*last)[2]};
    int kept = 0;
    double from_u = (u[axis] - plane) * sign;
    for (int i = 0; i < count; i++) {
        const double w[3] = {from[i][0], from[i][1], from[i][2]};
        const double from_w = (w[axis] - plane) * sign;
        if ((from_u > 0.0) != (from_w > 0.0)) {
            const double ratio = from_u / (from_u - from_w); // as sap_edge_point
            SAP_UNROLL
            for (int k = 0; k < 3; k++) to[kept][k] = k == axis ? plane : u[k] + ratio * (w[k] - u[k]);
            kept++;
        }
        if (!(from_w > 0.0)) {
            SAP_UNROLL
            for (int k = 0; k < 3; k++) to[kept][k] = w[k];
            kept++;
        }
        SAP_UNROLL
        for (int k = 0; k < 3; k++) u[k] = w[k];
        from_u = from_w;
    }
    return kept;
}

// Cuts a polygon by the two faces of a box across an axis where it extends beyond them. `now`: the list that holds it.
template <int axis>
static __device__ __forceinline__ int sap_mesh_cut_axis(sap_mesh_corner lists[2][SAP_POLYGON], int count, float x,
                                                        float y, float z, const sap_mesh_box& part, int* now) {
    if (fminf(fminf(x, y), z) < part.lower[axis]) {
        count = sap_mesh_cut_polygon<axis>(lists[*now], count, part.lower[axis], -1.0, lists[!*now]);
        *now = !*now;
    }
    if (fmaxf(fmaxf(x, y), z) > part.upper[axis]) {
        count = sap_mesh_cut_polygon<axis>(lists[*now], count, part.upper[axis], 1.0, lists[!*now]);
        *now = !*now;
    }
    return count;
}

static __device__ __noinline__ sap_halves sap_mesh_clip_exactly(const float4* corners, int triangle, sap_mesh_box part,
                                                                int axis, float plane) {
    const sap_triangle t = sap_mesh_corners_of(corners, triangle);
    const sap_mesh_corner triangle_corners[3] = {{t.a.x, t.a.y, t.a.z}, {t.b.x, t.b.y, t.b.z}, {t.c.x, t.c.y, t.c.z}};
    sap_mesh_corner lists[2][SAP_POLYGON];
    sap_extent below = sap_extent_none(), above = sap_extent_none();
    int now = 0, count = 3;
    SAP_UNROLL
    for (int i = 0; i < 9; i++) lists[0][i / 3][i % 3] = triangle_corners[i / 3][i % 3];
    count = sap_mesh_cut_axis<0>(lists, count, t.a.x, t.b.x, t.c.x, part, &now);
    count = sap_mesh_cut_axis<1>(lists, count, t.a.y, t.b.y, t.c.y, part, &now);
    count = sap_mesh_cut_axis<2>(lists, count, t.a.z, t.b.z, t.c.z, part, &now);
    const sap_mesh_corner *list = lists[now], *last = list + (count ? count - 1 : 0);
    double u[3] = {(*last)[0], (*last)[1], (*last)[2]};
    for (int i = 0; i < count; i++) {
        const double w[3] = {list[i][0], list[i][1], list[i][2]};
        sap_mesh_add_edge(u, w, axis, plane, &below, &above);
        SAP_UNROLL
        for (int k = 0; k < 3; k++) u[k] = w[k];
    }
    sap_halves halves;
    halves.has_left = below.lower[0] <= below.upper[0];
    halves.has_right = above.lower[0] <= above.upper[0];
    if (!halves.has_left && !halves.has_right)
        halves.has_left = halves.has_right = true; // rounding left nothing on either side
    halves.left = sap_extent_within(below, part);
    halves.right = sap_extent_within(above, part);
    const bool left = sap_box_is_nonempty(halves.left), right = sap_box_is_nonempty(halves.right);
    if (!left) halves.left = part;
    if (!right) halves.right = part;
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        if (k != axis) continue;
        if (!left) halves.left.upper[k] = plane;
        if (!right) halves.right.lower[k] = plane;
    }
    return halves;
}

#endif
