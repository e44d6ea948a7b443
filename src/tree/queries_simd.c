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

#if defined(__EMSCRIPTEN__) // where code is downloaded, queries go through the nodes themselves
enum { HAS_TOP = 0 };
#define copy_top                           NULL
#define go_down_top(top, q, stride, n, at) ((void)(top), false)
#else
enum { HAS_TOP = 1 };

static void copy_top(const sap_tree* tree, int64_t fewest, void* top, uint32_t* top_nodes) {
    const explicit_view view = view_explicit(tree);
    stored_node* nodes = top;
    uint32_t *end = top_nodes + SAP_QUERY_TOP, count = 1; // end: of the nodes below each
    top_nodes[0] = 0;
    end[0] = (uint32_t)tree->shape.nodes;
    for (uint32_t i = 0; i < count; i++) {
        const explicit_node here = explicit_at(&view, top_nodes[i]);
        const real never = INFINITY;
        nodes[i] = (stored_node){.link = i << 5};
        memcpy(&nodes[i].bits, &never, sizeof never);
        if (here.is_leaf || end[i] - top_nodes[i] <= fewest || count + 2 > SAP_QUERY_TOP) continue;
        memcpy(&nodes[i].bits, &here.split, sizeof here.split);
        nodes[i].link = count << 5 | (uint32_t)here.axis;
        top_nodes[count] = top_nodes[i] + 1;
        top_nodes[count + 1] = end[count] = (uint32_t)here.upper;
        end[count + 1] = end[i];
        count += 2;
    }
}

// Takes queries a level down the top, without branches: which way each goes nobody can foretell. Whether any of them
// went anywhere.
INLINE bool go_down_top(const stored_node* top, const real* q, int64_t stride, int n, uint32_t* at) {
    uint32_t changed = 0;
    for (int i = 0; i < n; i++) {
        const stored_node here = top[at[i]];
        real split;
        memcpy(&split, &here.bits, sizeof split);
        const uint32_t next = (here.link >> 5) + (q[i * stride + (here.link & SAP_NODE_LEAF)] > split);
        changed |= next ^ at[i];
        at[i] = next;
    }
    return changed != 0;
}
#endif

// The same in the tree itself.
INLINE bool go_down(const explicit_view* t, const real* q, int64_t stride, int n, uint32_t* at) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        const explicit_node here = explicit_at(t, at[i]);
        const bool is_upper = q[i * stride + (here.is_leaf ? 0 : here.axis)] > here.split;
        const uint32_t next = is_upper ? (uint32_t)here.upper : at[i] + 1;
        at[i] = here.is_leaf ? at[i] : next;
        any |= !here.is_leaf;
    }
    return any;
}

static void find_nodes(const sap_tree* tree, const void* top, const uint32_t* top_nodes, const void* queries,
                       int64_t stride, int64_t count, bool to_leaves, uint32_t* node) {
    const explicit_view view = view_explicit(tree);
    for (int64_t first = 0; first < count; first += TOGETHER) {
        const int n = count - first < TOGETHER ? (int)(count - first) : TOGETHER;
        const real* q = (const real*)queries + first * stride;
        uint32_t at[TOGETHER] = {0};
        while (go_down_top(top, q, stride, n, at)) {}
        for (int i = 0; i < n && HAS_TOP; i++) at[i] = top_nodes[at[i]];
        while ((to_leaves || !HAS_TOP) && go_down(&view, q, stride, n, at)) {}
        memcpy(node + first, at, (size_t)n * sizeof *at);
    }
}

const sap_query_kernels SAP_KERNEL(query_kernels) = {find_cells, copy_top, find_nodes};
