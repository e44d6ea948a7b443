// Queries before a search: they are checked, and put in an order in which neighbours in the list are neighbours in the
// tree, so that what one query brings into the caches serves the next.
#ifndef SAPWOOD_TREE_QUERIES_H
#define SAPWOOD_TREE_QUERIES_H

#include "tree/layout.h"

// Public points as rows of either precision, the stride filled in.
static inline sap_rows sap_rows_f32(sap_points p) {
    return (sap_rows){p.coords, p.count, p.stride ? p.stride : p.dims, p.dims, 32};
}
static inline sap_rows sap_rows_f64(sap_points_f64 p) {
    return (sap_rows){p.coords, p.count, p.stride ? p.stride : p.dims, p.dims, 64};
}

// Checks points or queries, called `name` in the log.
sap_status sap_rows_check(const sap_device* device, const sap_rows* rows, const char* name);
// Checks queries against the tree that they are for.
sap_status sap_queries_check(const sap_tree* tree, const sap_rows* queries);
// The largest squared distance within `radius`, rounded to the tree's precision and at most its largest finite value.
double sap_limit2(const sap_tree* tree, double radius);

// Queries packed for the kernels. All arrays lie in one scratch block.
typedef struct sap_query_order {
    unsigned char* coords; // real[count][dims]
    int32_t* rows;         // the caller's row of each
    uint32_t* home;        // the place (tree/leaves.h) of the leaf whose cell holds each; NULL if not asked for
    int64_t count;
    uint32_t* cell; // room to order in
    uint32_t* next;
    void* top;           // of an explicit tree, if kernels copy its top: room for SAP_QUERY_TOP nodes
    uint32_t* top_nodes; // and twice for numbers: which nodes those are, and the ones after all that is below them
    sap_scratch scratch; // holds all of these
} sap_query_order;

enum {
    SAP_QUERY_SLAB = 1 << 21, // queries ordered at a time, which bounds the scratch memory
    SAP_QUERY_RUN = 1024,     // queries that a thread takes at a time
    SAP_QUERY_FEW = 512,      // below this, ordering costs more than it saves
    SAP_QUERY_TOP = 8191      // nodes of an explicit tree's top
};

// The inner loop of the CPU, one set per instruction set and precision.
typedef struct sap_query_kernels {
    // cell[i]: which node of depth `depth` query i falls to by the split planes, counted from the left.
    void (*find_cells)(const sap_tree* tree, const void* queries, int64_t stride, int64_t count, int32_t depth,
                       uint32_t* cell);
    // Copies the top of an explicit tree, breadth-first: all nodes that have more than `fewest` nodes below, as far as
    // there is room, and their children. Nodes in preorder lie far apart; of these, many share a line of memory. `top`:
    // nodes as in the tree, but links are numbers in the top, and those where it ends lead to themselves. top_nodes:
    // room for twice SAP_QUERY_TOP. NULL: find_nodes goes without, to leaves.
    void (*copy_top)(const sap_tree* tree, int64_t fewest, void* top, uint32_t* top_nodes);
    // Where queries fall in an explicit tree: node[i] is a node at which the top ends, or if `to_leaves` the leaf.
    void (*find_nodes)(const sap_tree* tree, const void* top, const uint32_t* top_nodes, const void* queries,
                       int64_t stride, int64_t count, bool to_leaves, uint32_t* node);
} sap_query_kernels;

// Makes room for up to `most` queries at a time, before anything is answered. Hand order->scratch back in the end.
sap_status sap_queries_reserve(const sap_tree* tree, int64_t most, bool homes, sap_query_order* order);
// Orders queries [first, first + count) of `queries` by the cells of the tree.
void sap_queries_order(const sap_tree* tree, const sap_rows* queries, int64_t first, int64_t count,
                       sap_query_order* order);
// How many places (tree/leaves.h) from `first` on hold at most `most` points, which is no less than a leaf holds.
int64_t sap_queries_places(const sap_tree* tree, int64_t first, int64_t most);
// The points of the leaves at places [first, first + count) as queries, in that order.
void sap_queries_of_leaves(const sap_tree* tree, int64_t first, int64_t count, sap_query_order* order);

#endif
