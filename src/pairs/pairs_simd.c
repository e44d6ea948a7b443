// Trees against trees: boxes of nodes, and the pairs of trees without periods.
#include "pairs/collect_simd.h"
#include "pairs/count_simd.h"

static void bound(const sap_boxed* boxed, uint32_t from, uint32_t to) {
    for (uint32_t node = from; node < to; node++)
        if (sap_boxed_is_leaf(boxed, node)) bound_leaf(boxed, boxed->tree->shape.dims, node);
}

static void unite(const sap_boxed* boxed) {
    for (uint32_t node = boxed->count; node-- > 0;)
        if (!sap_boxed_is_leaf(boxed, node)) unite_children(boxed, boxed->tree->shape.dims, node);
}

const sap_pairs_kernels SAP_KERNEL(pairs_kernels) = {bound, unite, {narrow, count, collect}};
