// The check of a leaf in one precision.
#include "math/specialise.h"

// To the bit.
static bool SAP_TYPED(same)(SAP_REAL x, SAP_REAL y) {
    return memcmp(&x, &y, sizeof x) == 0; // NOLINT(bugprone-suspicious-memory-comparison): bits are meant
}

// A leaf's points: axis a at coords[a*stride].
typedef struct SAP_TYPED(leaf_view) {
    const SAP_REAL* coords;
    const int32_t* ids;
    int64_t slot;
    int32_t count, stride, dims;
} SAP_TYPED(leaf_view);

static SAP_TYPED(leaf_view) SAP_TYPED(view_leaf)(const sap_tree* tree, int64_t slot, int32_t count, int32_t stride) {
    SAP_TYPED(leaf_view) leaf = {.slot = slot, .count = count, .stride = stride, .dims = tree->shape.dims};
    SAP_ASSERT(tree->shape.real_bits == SAP_REAL_BITS && count >= 0 && count <= stride);
    leaf.coords = (const SAP_REAL*)(const void*)sap_block(tree, slot);
    leaf.ids = (const int32_t*)(const void*)(leaf.coords + (int64_t)leaf.dims * stride);
    return leaf;
}

// What is wrong with a leaf's points, once something is.
static violation SAP_TYPED(find_bad_point)(const sap_tree* tree, const SAP_TYPED(leaf_view) * leaf, SAP_REAL most) {
    for (int32_t i = 0; i < leaf->count; i++) {
        int32_t id = leaf->ids[i];
        if (id < 0 || id >= tree->shape.source_count) return (violation){"id out of range in slot", leaf->slot + i};
        if (i > 0 && id <= leaf->ids[i - 1]) return (violation){"ids do not ascend at slot", leaf->slot + i};
    }
    for (int32_t a = 0; a < leaf->dims; a++) {
        const SAP_REAL* x = leaf->coords + (int64_t)a * leaf->stride;
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

// The points themselves, whose ids it copies: ids in range and ascending, no coordinate beyond `most`, unused slots as
// they must be. The loops have no branches, for the sake of vectors; what is wrong is looked for afterwards.
static violation SAP_TYPED(check_points)(const sap_tree* tree, const SAP_TYPED(leaf_view) * leaf, SAP_REAL most,
                                         int32_t* ids) {
    const int32_t source_count = (int32_t)tree->shape.source_count;
    int wrong = leaf->count > 0 && leaf->ids[0] < 0;
    for (int32_t i = 0; i < leaf->count; i++) {
        wrong |= leaf->ids[i] >= source_count;
        ids[i] = leaf->ids[i];
    }
    for (int32_t i = 1; i < leaf->count; i++) wrong |= leaf->ids[i] <= leaf->ids[i - 1];
    for (int32_t i = leaf->count; i < leaf->stride; i++) wrong |= leaf->ids[i] != -1;
    for (int32_t a = 0; a < leaf->dims; a++) {
        const SAP_REAL* x = leaf->coords + (int64_t)a * leaf->stride;
        for (int32_t i = 0; i < leaf->count; i++)
            wrong |= !(x[i] >= -most && x[i] <= most) || (x[i] == 0 && signbit(x[i]));
        for (int32_t i = leaf->count; i < leaf->stride; i++) wrong |= !(x[i] == (SAP_REAL)INFINITY);
    }
    return wrong ? SAP_TYPED(find_bad_point)(tree, leaf, most) : (violation){NULL, 0};
}
