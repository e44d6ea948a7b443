#include "tree/layout.h"
#include <float.h>
#include <math.h>
#include <string.h>

// Places an array of count*bytes at the end of the arrays so far; false if that overflows.
static bool place(sap_tree_shape* s, size_t* at, int64_t count, size_t bytes) {
    size_t size, end;
    SAP_ASSERT(s->bytes % SAP_ALIGNMENT == 0);
    *at = s->bytes;
    if (!sap_size_multiply((uint64_t)count, bytes, &size) || !sap_size_add(s->bytes, size, &end)) return false;
    if (end > SIZE_MAX / 2) return false;
    s->bytes = sap_align(end);
    return true;
}

int32_t sap_balanced_depth(int64_t count, int32_t leaf_size) {
    int32_t depth = 0;
    int64_t most = leaf_size + leaf_size / 4;
    while (((count + ((int64_t)1 << depth) - 1) >> depth) > most) depth++;
    return depth;
}

// Where the leaves of a slice end: at (first_leaf + l) * whole >> depth of the larger tree, less where the slice begins.
// False if the numbers are too large for that.
static bool place_leaves(sap_tree_shape* s, int64_t whole, int32_t whole_depth) {
    const int64_t leaves = (int64_t)1 << whole_depth;
    int64_t most;
    s->leaf_bits = whole_depth;
    s->leaf_share = s->slice.whole ? whole >> whole_depth : 0;
    s->leaf_rest = whole - (s->leaf_share << whole_depth);
    s->leaf_phase = (int64_t)((uint64_t)s->slice.first_leaf * (uint64_t)s->leaf_rest & (uint64_t)(leaves - 1));
    return !__builtin_mul_overflow(s->leaves, s->leaf_rest, &most) && most <= INT64_MAX - leaves;
}

bool sap_shape_balanced(sap_tree_shape* s, int32_t leaf_size) {
    const int64_t whole = s->slice.whole ? s->slice.whole : s->count;
    const int32_t whole_depth = sap_balanced_depth(whole, leaf_size);
    size_t real = sap_real_bytes(s);
    s->kind = SAP_TREE_BALANCED;
    s->depth = whole_depth - s->slice.root_depth;
    SAP_ASSERT(s->depth >= 0);
    s->nodes = s->leaves = (int64_t)1 << s->depth;
    if (!place_leaves(s, whole, whole_depth)) return false;
    SAP_ASSERT(sap_leaf_rank(s, s->leaves) == s->count);
    s->capacity = (int32_t)((whole + ((int64_t)1 << whole_depth) - 1) >> whole_depth);
    s->stride = sap_leaf_stride(s->capacity, s->real_bits);
    s->slots = s->leaves * s->stride;
    s->levels = s->depth ? (s->depth + SAP_GROUP_BITS - 1) / SAP_GROUP_BITS : 1;
    SAP_ASSERT(s->levels <= SAP_MAX_LEVELS && s->capacity <= leaf_size + leaf_size / 4);
    s->bytes = 0;
    if (!place(s, &s->split_at, s->nodes, real) || !place(s, &s->axis_at, s->nodes, 1)) return false;
    for (int32_t j = 0; j < s->levels; j++) {
        s->level_depth[j] = s->depth - SAP_GROUP_BITS * (s->levels - 1 - j);
        SAP_ASSERT(s->level_depth[j] >= 0 && s->level_depth[j] <= s->depth);
        int64_t groups = sap_level_groups(s, j);
        if (!place(s, &s->box_at[j], groups, (size_t)s->dims * 2 * SAP_GROUP * real)) return false;
        if (!place(s, &s->min_id_at[j], groups, SAP_GROUP * sizeof(int32_t))) return false;
    }
    return place(s, &s->block_at, s->slots, sap_slot_bytes(s));
}

bool sap_shape_explicit(sap_tree_shape* s) {
    s->kind = SAP_TREE_EXPLICIT;
    s->stride = s->levels = 0; // balanced trees alone have them
    s->bytes = 0;
    size_t node = s->real_bits == 64 ? sizeof(sap_node_f64) : sizeof(sap_node_f32);
    return place(s, &s->node_at, s->nodes, node) && place(s, &s->node_min_id_at, s->nodes, sizeof(int32_t)) &&
           place(s, &s->block_at, s->slots, sap_slot_bytes(s));
}

sap_status sap_tree_reserve(sap_tree* tree, const sap_tree_shape* shape) {
    sap_status status = sap_tree_memory_grow(tree->device, &tree->memory, &tree->arrays, shape->bytes);
    if (status != SAP_OK) return status;
    tree->shape = *shape;
    sap_tree_clear_gaps(tree);
    memset(tree->arrays + shape->bytes, 0, SAP_ALIGNMENT);
    return SAP_OK;
}

// Whether the squared distance of two points with all coordinates at plus and minus `most` is finite.
static bool reaches(int32_t real_bits, int32_t dims, double most) {
    float narrow = (float)most + (float)most, narrow_sum = 0;
    double wide = most + most, wide_sum = 0;
    for (int32_t a = 0; a < dims; a++) {
        narrow_sum += narrow * narrow;
        wide_sum += wide * wide;
    }
    return real_bits == 32 ? isfinite(narrow_sum) : isfinite(wide_sum);
}

double sap_largest_coordinate(int32_t real_bits, int32_t dims) {
    double most = 0.5 * sqrt((real_bits == 32 ? (double)FLT_MAX : DBL_MAX) / dims);
    if (real_bits == 32) most = (double)(float)most;
    while (!reaches(real_bits, dims, most))
        most = real_bits == 32 ? (double)nextafterf((float)most, 0) : nextafter(most, 0);
    return most;
}

sap_status sap_point_refuse(const sap_device* device, const void* point, int32_t dims, int32_t real_bits, int64_t row) {
    double most = sap_largest_coordinate(real_bits, dims), value = 0;
    int32_t axis = -1;
    do {
        axis++;
        value = real_bits == 64 ? ((const double*)point)[axis] : (double)((const float*)point)[axis];
    } while (axis < dims - 1 && fabs(value) <= most);
    if (isfinite(value))
        return sap_fail(
            device, SAP_ERROR_NOT_FINITE,
            "points: coordinate %d of point %lld is %g, too large to square; scale the points to at most %.3g",
            (int)axis, (long long)row, value, most);
    return sap_fail(device, SAP_ERROR_NOT_FINITE,
                    "points: coordinate %d of point %lld is not finite; leave such points out", (int)axis,
                    (long long)row);
}
