// How the top of a tree by the voxel volume heuristic chooses its planes: blocks count how many points of a tile lie
// below the candidates of its part, then a warp for each part compares them.
#ifndef SAPWOOD_TREE_SLIDING_CHOOSE_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_CHOOSE_CUDA_CUH

#include "tree/sliding/top_cuda.cuh"

// Whether a part's plane is to be chosen: points that are equal, or halved, have theirs.
static __device__ __forceinline__ bool sap_top_open(const sap_sliding_part& part) {
    return part.tiles > 0 && !part.by_rank;
}

// Adds the points of a tile to its part's counts.
template <typename real>
static __device__ void sap_top_count(const sap_sliding_job<real>& j, int parity, int64_t tile,
                                     sap_top_shared<real>* s) {
    const int64_t number = j.tile_part[tile];
    const real* cell = j.cells + (parity * j.parts + number) * 2 * j.dims;
    const sap_sliding_part& part = s->part;
    if (threadIdx.x == 0) s->part = j.part[parity * j.parts + number];
    s->below[threadIdx.x] = 0;
    __syncthreads();
    const unsigned int first = (unsigned int)(tile - part.first_tile) * SAP_TILE + threadIdx.x;
    for (int a = 0; a < j.dims && sap_top_open(part); a++) {
        const real *column = sap_column(j, part.buffer, a), lower = cell[2 * a], upper = cell[2 * a + 1];
        if (!(lower < upper)) continue;
        const real plane = sap_vvh_plane(lower, upper, sap_lane());
        unsigned int below = 0;
        for (int item = 0; item < SAP_TOP_ITEMS; item++) {
            const unsigned int i = first + item * SAP_TOP_THREADS;
            real x = (real)INFINITY;
            if (i < (unsigned int)part.count) x = column[sap_rank_of(part.begin, part.count, part.reversed, (int)i)];
            below += sap_vvh_below(x, plane);
        }
        if (sap_lane() < SAP_VVH_PARTS) atomicAdd(&s->below[a * SAP_VVH_PARTS + sap_lane()], below);
    }
    __syncthreads();
    const unsigned int below = s->below[threadIdx.x];
    if (below) atomicAdd(&j.below[number * j.dims * SAP_VVH_PARTS + threadIdx.x], below);
    __syncthreads(); // s->part is read no more
}

// A warp chooses the plane of a part.
template <typename real>
static __device__ void sap_top_choose(const sap_sliding_job<real>& j, int parity, int64_t number) {
    const int64_t at = parity * j.parts + number;
    const sap_sliding_part part = j.part[at];
    const int lane = sap_lane();
    sap_vvh_best<real> best = {-1, 0, -1};
    if (!sap_top_open(part)) return;
    for (int a = 0; a < j.dims; a++) {
        const real lower = j.cells[(at * j.dims + a) * 2], upper = j.cells[(at * j.dims + a) * 2 + 1];
        if (!(lower < upper) || (j.cycle && a != part.axis)) continue;
        unsigned int below = 0;
        if (lane < SAP_VVH_PARTS) below = j.below[(number * j.dims + a) * SAP_VVH_PARTS + lane];
        sap_vvh_consider(&best, j.radius, a, lower, upper, sap_vvh_plane(lower, upper, lane), below, part.count);
    }
    __syncwarp(); // all have read the part
    if (lane != 0) return;
    j.part[at].axis = best.axis;
    j.planes[at * j.dims] = best.plane;
    j.nodes[part.node].axis = best.axis;
    j.nodes[part.node].split = (double)best.plane;
}

#endif
