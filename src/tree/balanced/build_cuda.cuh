// What the kernels of the balanced builder on CUDA share.
//
// The top levels are split by all blocks together, until a subtree's points fit into one block's shared memory, where the
// rest is done (bottom_cuda.cuh). At the top, points do not move at each level but once in several: until then the points
// of a root, a node of the level at which they last moved, lie together, and a point's node is noted at each level.
// A level takes two launches:
//   count    points before the candidates for their node's median belong to its left child, those after them to the right
//            one: bounds and histograms of both, along all axes, are taken at once, since the axis of a child depends on
//            its bounds. Candidates, which are few, are listed (top_count_cuda.cuh).
//   resolve  a block or a warp a node finds the median in the list, takes the listed points into the children, chooses
//            their axes, and narrows their candidates by their histograms (top_resolve_cuda.cuh).
// These and what follows begin early (device/cuda.h): blocks that count empty their histograms and, but after a move, load
// points while medians are found.
// Then all points move, several levels at once (top_move_cuda.cuh). Points themselves are moved, never references to them:
// gathering a coordinate a level through references is what bounds published builders (Brown 2015). Nothing returns to the
// host, and the launches follow from the number of points alone.
// Selection is exact and by the total order, so the order in which points lie within a node does not matter until the
// leaves, which sort their few ids: partitions need not be stable, and positions come from atomic counters.
#ifndef SAPWOOD_TREE_BALANCED_BUILD_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_BUILD_CUDA_CUH

#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

// The ids of points, by rank: those from `border` on lie elsewhere.
typedef struct sap_cuda_ids {
    int32_t *first, *rest;
    uint32_t border;
    __device__ __forceinline__ int32_t& operator[](int64_t rank) const {
        return (uint32_t)rank < border ? first[rank] : rest[(uint32_t)rank - border];
    }
} sap_cuda_ids;

// Where a build reads and writes, for both kernels. Points lie as a structure of arrays: axis a from element a*pitch.
typedef struct sap_cuda_points {
    const void* rows; // real[][stride], as the caller gave them
    int64_t stride;
    const int32_t* keep; // the rows to build over; NULL: all
    void* coords[2];     // real[dims][pitch]
    sap_cuda_ids ids[2]; // [pitch]
    int64_t pitch;
} sap_cuda_points;

typedef struct sap_cuda_build {
    sap_tree tree; // a copy whose arrays lie on the GPU
    sap_cuda_points points;
    int dims, depth; // of the points; of the leaves
    int top;         // levels that all blocks split together
    int counts;      // in all histograms of a block there, at most
    int64_t count;
    int64_t* bad;        // the tree's first bad row
    int64_t* device_bad; // the same for sap_device_wait, or NULL
} sap_cuda_build;

static __device__ __forceinline__ int64_t sap_rank(const sap_cuda_build& b, int depth, int64_t node) {
    return sap_cuda_leaf_rank(b.tree.shape, node << (b.depth - depth));
}

// Whether a bad row was met: then nothing is built.
static __device__ __forceinline__ bool sap_build_is_bad(const sap_cuda_build& b) {
    return *(volatile int64_t*)b.bad != INT64_MAX;
}

static __device__ __forceinline__ void sap_report_bad(const sap_cuda_build& b, int64_t row) {
    atomicMin((unsigned long long*)b.bad, (unsigned long long)row);
    if (b.device_bad) atomicMin((unsigned long long*)b.device_bad, (unsigned long long)row);
}

// The level of boxes that holds nodes of this depth, or -1.
static __device__ __forceinline__ int sap_stored_level(const sap_cuda_build& b, int depth) {
    int below = b.depth - depth;
    if (below % SAP_GROUP_BITS != 0 || (depth == 0 && b.depth > 0)) return -1;
    return b.tree.shape.levels - 1 - below / SAP_GROUP_BITS;
}

// Where the tree keeps bounds of a node of a stored level: axis a at [2*SAP_GROUP*a] (lower) and SAP_GROUP after it.
template <typename real>
static __device__ __forceinline__ real* sap_stored_box(const sap_cuda_build& b, int level, int64_t index) {
    real* boxes = (real*)(b.tree.arrays + b.tree.shape.box_at[level]);
    return boxes + (index >> SAP_GROUP_BITS) * b.dims * 2 * SAP_GROUP + (index & (SAP_GROUP - 1));
}

static __device__ __forceinline__ int32_t* sap_stored_min_id(const sap_cuda_build& b, int level, int64_t index) {
    return (int32_t*)(b.tree.arrays + b.tree.shape.min_id_at[level]) + index;
}

template <typename real>
static __device__ __forceinline__ void sap_write_node(const sap_cuda_build& b, int depth, int64_t index, int axis,
                                                      real split) {
    SAP_ASSERT(depth < b.depth && index >> depth == 0 && axis >= 0 && axis < b.dims);
    int64_t node = ((int64_t)1 << depth) + index;
    ((real*)(b.tree.arrays + b.tree.shape.split_at))[node] = split;
    (b.tree.arrays + b.tree.shape.axis_at)[node] = (unsigned char)axis;
}

// The axis that a node with these bounds divides: of the widest side, or by depth. Bounds: ordinals, `step` apart.
template <typename real>
static __device__ int sap_choose_axis(const sap_cuda_build& b, int depth, int64_t count,
                                      const typename sap_ordinal<real>::type* lower,
                                      const typename sap_ordinal<real>::type* upper) {
    if (count < 2) return 0;
    if (b.tree.options.axis == SAP_AXIS_CYCLE) return (b.tree.shape.slice.root_depth + depth) % b.dims;
    int widest = 0;
    real side = sap_real_of(upper[0]) - sap_real_of(lower[0]);
    for (int a = 1; a < b.dims; a++) {
        real other = sap_real_of(upper[a]) - sap_real_of(lower[a]);
        if (other > side) {
            side = other;
            widest = a;
        }
    }
    return widest;
}

// The threads of a block, or of a warp, wait for each other.
template <bool block> static __device__ __forceinline__ void wait_for_group(void) {
    if (block)
        __syncthreads();
    else
        __syncwarp();
}

static __device__ __forceinline__ int sap_next_axis(int axis, int steps, int dims) {
    SAP_ASSERT(axis >= 0 && axis < dims && steps >= 0 && steps <= dims);
    int next = axis + steps;
    return next >= dims ? next - dims : next;
}

#endif
