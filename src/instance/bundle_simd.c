// Bundles of rays against boxes.
#include "instance/bundle.h"
#include "math/simd.h"

#if SAP_REAL_BITS == 32

// NaN leaves the interval as it is.
INLINE uint32_t meet_lanes(const sap_bundle* b, const sap_instance_node* node, int first) {
    const vreal margin = v_mul(v_set(node->reach), v_load(b->far + first));
    vreal from = v_load(b->t_min + first), to = v_load(b->t_max + first);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        const vreal origin = v_load(b->origin[k] + first), inverse = v_load(b->inverse[k] + first);
        const vreal low = v_mul(v_sub(v_sub(v_set(node->lower[k]), margin), origin), inverse);
        const vreal high = v_mul(v_sub(v_add(v_set(node->upper[k]), margin), origin), inverse);
        const uint32_t backward = (uint32_t)(b->backward[k] >> first) & lanes_below(LANES);
        from = v_max(v_select(backward, high, low), from);
        to = v_min(v_select(backward, low, high), to);
    }
    return v_less_equal(from, to);
}

static uint64_t meet(const sap_bundle* bundle, const sap_instance_node* node, uint64_t rays) {
    uint64_t met = 0;
    for (int first = 0; first < SAP_BUNDLE; first += LANES) {
        const uint32_t active = (uint32_t)(rays >> first) & lanes_below(LANES);
        if (active) met |= (uint64_t)(active & meet_lanes(bundle, node, first)) << first;
    }
    return met;
}

const sap_instance_kernels SAP_KERNEL_OF_FLOAT(instance_kernels) = {meet};

#endif
