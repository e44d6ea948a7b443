// The shared texts of building over triangles as CUDA: every thread clips a part, or prices a plane; and the axes of
// covariances, and points put back on a surface. This program is compiled, not run.
#include "cloud/axes.h"
#include "cloud/surface.h"
#include "mesh/access.h"
#include "mesh/build.h"

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/sah.h"
#include "mesh/clip/clip.h"
#include "mesh/planes.h"

__global__ void find_axes(const sap_symmetric* matrices, int count, sap_principal* axes) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) axes[i] = sap_principal_of(matrices[i]);
}

__global__ void put_back(const float* points, const float* normals, int count, double reach, float* moved) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) sap_surface_return(points + 3 * i, normals + 3 * i, normals, reach, moved + 3 * i);
}

__global__ void clip(sap_mesh_tree mesh, const sap_mesh_box* parts, int count, bool exactly, float empty_space,
                     sap_halves* halves) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    sap_mesh_box cell = sap_box_join(parts[0], parts[i]);
    sap_measure measure = sap_measure_of(cell.upper[0] - cell.lower[0], cell.upper[1] - cell.lower[1],
                                         cell.upper[2] - cell.lower[2], -1.0f);
    sap_plane plane = sap_cut_empty(cell, parts[i], empty_space);
    if (plane.axis < 0) plane = sap_cut_middle(cell, measure);
    if (plane.axis < 0) return;
    sap_triangle triangle = sap_mesh_triangle(&mesh, (SAP_BITS)i);
    halves[i] = exactly ? sap_clip_exactly(triangle, parts[i], plane.axis, plane.at)
                        : sap_clip_cheaply(triangle, parts[i], plane.axis, plane.at);
}

__global__ void price(const sap_mesh_box* parts, int count, sap_mesh_box cell, float traversal, float intersection,
                      float* costs, bool* first) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count || !sap_may_be_worth(traversal, intersection, (float)count)) return;
    sap_measure measure = sap_measure_of(cell.upper[0] - cell.lower[0], cell.upper[1] - cell.lower[1],
                                         cell.upper[2] - cell.lower[2], -1.0f);
    sap_plane plane;
    plane.axis = i % 3;
    plane.at = parts[i].lower[plane.axis];
    plane.planar_left = false;
    float left = 0.0f;
    float right = 0.0f;
    for (int k = 0; k < count; ++k) {
        float lower = parts[k].lower[plane.axis];
        float upper = parts[k].upper[plane.axis];
        left += sap_reaches_left(lower, upper, plane.at, plane.planar_left) ? 1.0f : 0.0f;
        right += sap_reaches_right(lower, upper, plane.at, plane.planar_left) ? 1.0f : 0.0f;
    }
    if (!sap_is_candidate(cell, measure, plane.axis, plane.at)) return;
    costs[i] = sap_cell_cost(cell, measure, plane.axis, plane.at, traversal, intersection, left, right);
    first[i] = sap_candidate_precedes(costs[i], plane.axis, i, costs[0], 0, 0) &&
               sap_plane_precedes(costs[i], plane, costs[0], plane);
}

__global__ void divide(const sap_mesh_box* parts, int count, sap_mesh_box cell, int64_t most, float cheapest_edge,
                       int64_t* given, sap_bin* chosen) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count || !sap_may_cut(most, i, count - i)) return;
    sap_measure measure = sap_measure_of(cell.upper[0] - cell.lower[0], cell.upper[1] - cell.lower[1],
                                         cell.upper[2] - cell.lower[2], -1.0f);
    float scale = sap_bin_scale(cell, measure, 0);
    int number = sap_bin_of(parts[i].lower[0], cell.lower[0], scale);
    sap_bin bin = sap_bin_with_bound(cell, measure, 0, number, 1.0f, 1.0f, (float)i, (float)(count - i));
    int64_t left = sap_hand_down(most, i, count - i, i, i);
    int64_t spare = sap_spare_at_first(left, i);
    if (sap_may_cut_small(spare, i)) given[i] = sap_spare_after(spare, i, i, sap_room_for_bin(i, count));
    if (bin.bound < cheapest_edge && sap_bin_precedes(bin, chosen[i])) chosen[i] = bin;
}
