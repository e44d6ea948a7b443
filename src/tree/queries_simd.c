// Which cell of a tree each query falls into.
#include "base/assert.h"
#include "math/simd.h"
#include "tree/explicit/view_simd.h"
#include "tree/queries.h"

enum { TOGETHER = 16 }; // queries that go down side by side, to hide the latency of each

static void find_cells(const sap_tree* tree, const void* queries, int64_t stride, int64_t count, int32_t depth,
                       uint32_t* cell) {
    const real* split = (const real*)(const void*)(tree->arrays + tree->shape.split_at);
    const uint8_t* axis = tree->arrays + tree->shape.axis_at;
    for (int64_t first = 0; first < count; first += TOGETHER) {
        int n = count - first < TOGETHER ? (int)(count - first) : TOGETHER;
        const real* q = (const real*)queries + first * stride;
        uint32_t node[TOGETHER];
        for (int i = 0; i < n; i++) node[i] = 1;
        for (int level = 0; level < depth; level++)
            for (int i = 0; i < n; i++) node[i] = 2 * node[i] + (q[i * stride + axis[node[i]]] >= split[node[i]]);
        for (int i = 0; i < n; i++) {
            SAP_ASSERT(node[i] >> depth == 1);
            cell[first + i] = node[i] ^ (1u << depth);
        }
    }
}

// A query on its way down an explicit tree: the nodes below `node` end before `end`.
typedef struct descent {
    int64_t node, end;
} descent;

// Goes one node down, but not into a node that has no more than `fewest` nodes below; whether it did. Without branches:
// which way a query goes nobody can foretell.
INLINE bool go_down(const explicit_view* t, const real* q, int64_t fewest, descent* d) {
    const explicit_node here = explicit_at(t, d->node);
    const bool goes = !here.is_leaf & (d->end - d->node > fewest);
    const int64_t is_lower = q[here.is_leaf ? 0 : here.axis] <= here.split, goes_lower = -(goes & is_lower),
                  goes_upper = -(goes & !is_lower);
    d->end += goes_lower & (here.upper - d->end);
    d->node += (goes_lower & 1) | (goes_upper & (here.upper - d->node));
    return goes;
}

static void find_nodes(const sap_tree* tree, const void* queries, int64_t stride, int64_t count, int64_t fewest,
                       uint32_t* node) {
    const explicit_view view = view_explicit(tree);
    for (int64_t first = 0; first < count; first += TOGETHER) {
        const int n = count - first < TOGETHER ? (int)(count - first) : TOGETHER;
        const real* q = (const real*)queries + first * stride;
        descent at[TOGETHER];
        for (int i = 0; i < n; i++) at[i] = (descent){0, tree->shape.nodes};
        for (bool any = true; any;) {
            any = false;
            for (int i = 0; i < n; i++) any |= go_down(&view, q + i * stride, fewest, &at[i]);
        }
        for (int i = 0; i < n; i++) node[first + i] = (uint32_t)at[i].node;
    }
}

const sap_query_kernels SAP_KERNEL(query_kernels) = {find_cells, find_nodes};
