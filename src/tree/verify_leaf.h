// The check of a leaf in one precision; included twice by verify_cpu.c.
#include "tree/typed.h"

// To the bit.
static bool TYPED(same)(real x, real y) {
    return memcmp(&x, &y, sizeof x) == 0; // NOLINT(bugprone-suspicious-memory-comparison): bits are meant
}

// A leaf's points: axis a at coords[a*stride].
typedef struct TYPED(leaf_view) {
    const real* coords;
    const int32_t* ids;
    int64_t slot;
    int32_t count, stride, dims;
} TYPED(leaf_view);

static TYPED(leaf_view) TYPED(view_leaf)(const sap_tree* tree, int64_t slot, int32_t count, int32_t stride) {
    TYPED(leaf_view) leaf = {.slot = slot, .count = count, .stride = stride, .dims = tree->shape.dims};
    leaf.coords = (const real*)(const void*)sap_block(tree, slot);
    leaf.ids = (const int32_t*)(const void*)(leaf.coords + (int64_t)leaf.dims * stride);
    return leaf;
}

// The points themselves: ids in range and ascending, coordinates within the limit, unused slots as they must be.
static violation TYPED(check_points)(const sap_tree* tree, const TYPED(leaf_view) * leaf, int32_t* ids) {
    const real most = (real)sap_largest_coordinate(SAP_REAL_BITS, leaf->dims);
    for (int32_t i = 0; i < leaf->count; i++) {
        int32_t id = leaf->ids[i];
        if (id < 0 || id >= tree->shape.source_count) return (violation){"id out of range in slot", leaf->slot + i};
        if (i > 0 && id <= leaf->ids[i - 1]) return (violation){"ids do not ascend at slot", leaf->slot + i};
        ids[i] = id;
    }
    for (int32_t a = 0; a < leaf->dims; a++) {
        const real* x = leaf->coords + (int64_t)a * leaf->stride;
        for (int32_t i = 0; i < leaf->count; i++)
            if (!(x[i] >= -most && x[i] <= most))
                return (violation){"coordinate not finite or too large in slot", leaf->slot + i};
        for (int32_t i = 0; i < leaf->count; i++)
            if (x[i] == 0 && signbit(x[i])) return (violation){"coordinate is minus zero in slot", leaf->slot + i};
        for (int32_t i = leaf->count; i < leaf->stride; i++)
            if (!(isinf(x[i]) && x[i] > 0))
                return (violation){"unused coordinate is not infinite in slot", leaf->slot + i};
    }
    for (int32_t i = leaf->count; i < leaf->stride; i++)
        if (leaf->ids[i] != -1) return (violation){"unused id is not -1 in slot", leaf->slot + i};
    return (violation){NULL, 0};
}
