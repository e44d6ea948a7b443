// The builder of explicit trees on CUDA devices, by sliding midpoints or by the voxel volume heuristic: what its kernels
// work on, and the sliding rule in device code.
//
// Points lie in two buffers as a structure of arrays; a division moves a node's points to the other one. The left side
// keeps its order and begins at the range's start; the right side is written from the range's end backwards and is
// `reversed`. So one pass divides stably without knowing how many points go left, and ids ascend within every node if
// it is read in its own order.
//
// The whole GPU divides nodes of many points breadth-first (top_cuda.cuh). Of the small subtrees and the leaves that
// remain, each belongs to one warp (subtree_cuda.cuh, write_cuda.cuh): it first counts their nodes and slots, which are
// summed up towards the root, and then writes them at their places in preorder, as Zhou et al. 2008 find them.
#ifndef SAPWOOD_TREE_SLIDING_BUILD_CUDA_CUH
#define SAPWOOD_TREE_SLIDING_BUILD_CUDA_CUH

#include "tree/explicit/node_cuda.cuh"
#include "tree/explicit/vvh_rule_cuda.cuh"
#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

enum {
    SAP_TOP_THREADS = 256,
    SAP_TOP_ITEMS = 8,
    SAP_TILE = SAP_TOP_THREADS * SAP_TOP_ITEMS, // points that a block moves at once
    SAP_SMALL_MOST = 1024,                      // points of a subtree for one warp, as shared memory allows
    SAP_SMALL_LEAST = 256,
    SAP_SMALL_BYTES = 16384,
    SAP_PIECE = 1024 // points of a large leaf that one warp writes
};

// A node of the top: above the small subtrees, or the root of one, or a leaf. Left children have odd numbers, their
// siblings follow them; the root is 0.
typedef struct sap_sliding_node {
    double split;
    int64_t nodes, slots;     // in all that is below, itself included
    int64_t node_at, slot_at; // its place in the tree
    int32_t parent, children; // children: the left one, or 0
    int32_t begin, count;     // ranks
    int32_t depth, axis;
    int32_t least;   // smallest id
    int32_t arrived; // children that have been counted
    bool leaf, reversed;
    int8_t buffer;
} sap_sliding_node;

// A node that is being divided. Its cell, the boxes of its sides and its plane are in arrays of their own.
typedef struct sap_sliding_part {
    int32_t node, children;           // node -1: the root is its left child
    int32_t begin, count, left_count; // ranks
    int32_t depth, axis;
    int32_t components; // of the plane's key in the total order; dims + 1: with the id; 0: the points stay in place,
                        // or (by_rank) the median has not been found yet
    int32_t first_tile, tiles;
    int32_t id;   // component `dims`
    bool by_rank; // the plane is the median
    bool reversed;
    int8_t buffer;
} sap_sliding_part;

// What one warp does at the bottom.
typedef struct sap_sliding_bottom {
    int32_t node;
    int32_t piece; // of a leaf: which part of its block to write
    int32_t cell;  // of a subtree: its number among small_cells
} sap_sliding_bottom;

// The numbers that blocks share; all zero at the start.
typedef struct sap_sliding_state {
    unsigned long long listed[2]; // by parity of the level: parts << 32 | tiles
    unsigned int ranked[2];       // parts whose median is wanted
    unsigned int arrivals;        // at the barrier
    unsigned int nodes;           // of the top, without the root
    unsigned int bottoms, small;  // entries
    unsigned int tickets[2];      // bottoms that have been taken: counting, writing
    int32_t deepest, fullest;
    int32_t far; // a right child is too far away for a link
    int32_t bad; // a row cannot be in a tree
    int64_t total_nodes, total_slots;
} sap_sliding_state;

// A build. Buffer b's axis a begins at coords + (b * dims + a) * pitch, its ids at ids + b * pitch.
template <typename real> struct sap_sliding_job {
    const real* rows;
    const int32_t* keep;
    int64_t stride, pitch;
    real largest; // magnitude of a coordinate
    int32_t count, dims, leaf_size, small, halving_depth;
    bool cycle;
    bool vvh; // the rule is that of tree/explicit/vvh_rule.h; then the cell of a part is the tight box of its points
    double radius; // of that rule
    real* coords;
    int32_t* ids;
    sap_sliding_state* state;
    sap_sliding_node* nodes;
    sap_sliding_bottom* bottoms;
    real* small_cells; // [small][2 * dims]: lower and upper of axis 0, of axis 1, …
    int64_t parts;     // capacity of a level; the arrays below hold two levels
    sap_sliding_part* part;
    real* cells;                             // as above
    typename sap_ordinal<real>::type* boxes; // [2 sides][2 * dims]: ~ordinal of lower, ordinal of upper; 0: no points
    real* planes;                            // [dims]: a key in the total order
    int32_t* ranked;                         // of one level
    int32_t* tile_part;                      // of one level
    unsigned int* below;                     // of one level, with vvh: [dims][SAP_VVH_PARTS] points below candidates
    unsigned long long* tile_left;           // epoch << 32 | points that go left (see top_cuda.cuh)
    unsigned char *out_nodes, *out_blocks;   // the tree's arrays
    int32_t* out_least;
};

template <typename real>
static __device__ __forceinline__ real* sap_column(const sap_sliding_job<real>& j, int buffer, int axis) {
    return j.coords + (int64_t)(buffer * j.dims + axis) * j.pitch;
}

// Where the i-th point of a node lies.
static __device__ __forceinline__ int sap_rank_of(int begin, int count, bool reversed, int i) {
    SAP_ASSERT(i >= 0 && i < count);
    return reversed ? begin + (count - 1 - i) : begin + i;
}

// As sap_halving_depth of tree/explicit/build.h.
static inline int32_t sap_sliding_halving_depth(int64_t count) {
    int32_t bits = 0;
    while (count >> bits > 1) bits++;
    return 32 + bits;
}

// ---- The rule, as in tree/explicit/sliding_rule.h. Each lane handles one axis; lanes from dims on pass sides of
// length zero.

static __device__ __forceinline__ float sap_sliding_side(float lower, float upper) {
    return (float)((double)upper - (double)lower) + 0.0f;
}
static __device__ __forceinline__ double sap_sliding_side(double lower, double upper) { return upper - lower + 0.0; }

// The axis to divide, -1 if all sides are zero. Positive reals are in the order of their ordinals.
template <typename real>
static __device__ __forceinline__ int sap_sliding_longest(const sap_sliding_job<real>& j, int depth, real side) {
    unsigned int sides = __ballot_sync(SAP_ALL_LANES, side > 0);
    if (!j.cycle) {
        typename sap_ordinal<real>::type length = sap_ordinal_of(side);
        typename sap_ordinal<real>::type longest = sap_warp_max(length);
        sides &= __ballot_sync(SAP_ALL_LANES, length == longest);
        return __ffs((int)sides) - 1;
    }
    int first = depth % j.dims;
    unsigned int later = sides >> first;
    return later ? first + __ffs((int)later) - 1 : __ffs((int)sides) - 1;
}

template <typename real> static __device__ __forceinline__ real sap_sliding_centre(real lower, real upper) {
    return (real)(((double)lower + (double)upper) / 2) + 0;
}

template <typename real>
static __device__ __forceinline__ real sap_sliding_moved(real middle, real smallest, real largest) {
    if (middle > largest) return largest;
    if (middle > smallest) return middle;
    return sap_real_of((typename sap_ordinal<real>::type)(sap_ordinal_of(smallest) + 1)) + 0;
}

#endif
