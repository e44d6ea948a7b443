// Point trees on CUDA devices: what is kept beside their arrays, and queries in the order of the tree.
//
// Kernels take a sap_tree by value: `arrays` points to GPU memory, `device` and `beside` must not be followed there.
//
// Walk boxes. For every node of a tree of either kind (balanced: 1 … 2*leaves - 1 in heap order, leaves being nodes
// leaves … 2*leaves - 1; explicit: 0 … nodes - 1, in preorder) the tight box of its points and the smallest id, in
// sap_walk_box_reals reals: lower and upper bound of axis 0, of axis 1, …, then the id's bits (int32 in the first four
// bytes), then padding to 16 bytes. A node without points has lower = +infinity, upper = -infinity, id INT32_MAX. They
// follow from the arrays and are not part of the tree's bytes.
#ifndef SAPWOOD_TREE_TREE_CUDA_H
#define SAPWOOD_TREE_TREE_CUDA_H

#include "device/cuda.h"
#include "tree/layout.h"

typedef struct sap_cuda_tree { // tree->beside
    void* boxes;               // on the GPU; a build of a balanced tree uses this memory, too
    size_t boxes_bytes;        // allocated
    int64_t* bad;              // on the GPU: the first bad row of the last build, or INT64_MAX. If there is
                               // one, the tree must not be read: searches answer as for an empty tree
    void* links;               // scratch of the call that makes an explicit tree, for its walk boxes
} sap_cuda_tree;

static inline sap_cuda_tree* sap_cuda_tree_of(const sap_tree* tree) { return (sap_cuda_tree*)tree->beside; }

// Reals that a node's walk box takes.
static __host__ __device__ __forceinline__ int sap_walk_box_reals(int dims, int real_bits) {
    return real_bits == 32 ? (2 * dims + 1 + 3) / 4 * 4 : (2 * dims + 1 + 1) / 2 * 2;
}

// First rank of leaf l of a balanced tree: sap_leaf_rank, in kernels.
static __host__ __device__ __forceinline__ int64_t sap_cuda_leaf_rank(const sap_tree_shape& s, int64_t leaf) {
    return leaf * s.leaf_share + ((s.leaf_phase + leaf * s.leaf_rest) >> s.leaf_bits);
}

// ---- tree/tree_cuda.cu

// Makes room for the arrays of `shape` (reusing what is there) and takes the shape on; they must be cleared then. Also sets
// up tree->beside. Everything happens in stream order.
void sap_cuda_tree_reserve(sap_cuda_call* call, sap_tree* tree, const sap_tree_shape* shape);

// What a tree holds before it is built: zeros in the gaps between its arrays and in the node that there is not, empty boxes
// in a balanced tree's first level, which may have fewer nodes than boxes, and no bad row.
typedef struct sap_cuda_clearing {
    unsigned char* arrays;
    int64_t* bad;
    sap_gap gap[SAP_MOST_ARRAYS + 3];
    int32_t gaps, empty; // gaps; numbers of the boxes, 0: the nodes have them all
    size_t boxes_at, ids_at;
} sap_cuda_clearing;

sap_cuda_clearing sap_cuda_clearing_of(const sap_tree* tree);
// Clears a tree by a launch of its own.
void sap_cuda_tree_clear(sap_cuda_call* call, const sap_tree* tree);
// Clears it within a kernel that comes before all that write the tree, by so many threads.
template <typename real>
static __device__ __forceinline__ void sap_cuda_clear(const sap_cuda_clearing& c, int64_t thread, int64_t threads) {
    for (int32_t j = 0; j < c.gaps; j++)
        for (int64_t i = thread; i < (int64_t)c.gap[j].bytes; i += threads) c.arrays[c.gap[j].at + (size_t)i] = 0;
    for (int64_t i = thread; i < c.empty; i += threads)
        ((real*)(c.arrays + c.boxes_at))[i] = i / SAP_GROUP % 2 ? -(real)INFINITY : (real)INFINITY;
    for (int64_t i = thread; c.empty && i < SAP_GROUP; i += threads) ((int32_t*)(c.arrays + c.ids_at))[i] = INT32_MAX;
    if (thread == 0) *c.bad = INT64_MAX;
}

// Bytes of the walk boxes.
size_t sap_cuda_walk_bytes(const sap_tree_shape* shape);
// Computes the walk boxes from the arrays.
void sap_cuda_tree_boxes(sap_cuda_call* call, sap_tree* tree);
// Fails the call over the first row with a coordinate that no tree takes (SAP_ERROR_NOT_FINITE), unless the options leave
// that row out. Waits.
void sap_cuda_rows_check(sap_cuda_call* call, const sap_tree_options* options, const sap_rows* rows_on_device);
// Ends a build: a call that waits fails if a bad row was met. A call that does not leaves it to sap_device_wait.
void sap_cuda_tree_built(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows_on_device);

// ---- tree/periods_cuda.cu: brings points or queries to the GPU, wrapped into the tree's periods if it has any.
sap_rows sap_cuda_rows_within(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows);

// ---- tree/explicit/boxes_cuda.cu: the walk boxes of an explicit tree, from its arrays, and what the way there takes
// of scratch memory a node.
enum { SAP_CUDA_LINK_BYTES = 8 };
void sap_cuda_boxes_explicit(sap_cuda_call* call, sap_tree* tree);

// ---- tree/balanced/build_cuda.cu, tree/sliding/build_cuda.cu, tree/duplicates_cuda.cu. Rows are on the device; `keep`
// (on the device) names those to build over, ascending, `kept` of them; NULL: all.
void sap_cuda_build_balanced(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep,
                             int64_t kept);
void sap_cuda_build_explicit(sap_cuda_call* call, sap_tree* tree, const sap_rows* rows, const int32_t* keep,
                             int64_t kept);
// What the options do not drop, ascending, into keep[rows->count]: of rows that are equal in every coordinate the first
// (minus zero equal to zero; bits are compared, so that rows that are not finite do no harm), and rows that are finite.
// Waits for their number.
void sap_cuda_keep(sap_cuda_call* call, const sap_tree_options* options, const sap_rows* rows, int32_t* keep,
                   int64_t* kept, int64_t* not_finite);

// ---- tree/queries_cuda.cu

// Queries for a search, on the device.
typedef struct sap_cuda_queries {
    const void* coords;  // real[][stride]: that of query i is number rows[i] if by_row, else i
    const int32_t* rows; // the answer's row of each, -1: nothing is asked; NULL: its own number
    int64_t count, stride;
    bool by_row;
} sap_cuda_queries;

// Puts queries in an order in which neighbours in the list are neighbours in the tree. `rows` is on the device. Where
// `ordered` or few queries make that not worth the time, they stay as they are.
sap_cuda_queries sap_cuda_queries_order(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows, bool ordered);
// The points of `from`, leaf by leaf, as queries to `tree`, which may be the same; rows[] are their ids.
sap_cuda_queries sap_cuda_queries_from(sap_cuda_call* call, const sap_tree* from, const sap_tree* tree);

#endif
