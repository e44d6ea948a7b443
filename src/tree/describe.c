// sap_tree_describe: a tree's sizes, bounds and options.
#include "tree/host_view.h"

static double real_at(const sap_tree_shape* s, const unsigned char* reals, int64_t i) {
    return s->real_bits == 32 ? (double)((const float*)(const void*)reals)[i] : ((const double*)(const void*)reals)[i];
}

static void widen(double* lower, double* upper, double low, double high) {
    if (low < *lower) *lower = low;
    if (high > *upper) *upper = high;
}

// The first level of a balanced tree is one group of boxes.
static sap_status bounds_of_boxes(const sap_tree* tree, sap_tree_info* info) {
    const sap_tree_shape* s = &tree->shape;
    unsigned char copy[2 * SAP_MAX_DIMS * SAP_GROUP * sizeof(double)] __attribute__((aligned(8)));
    const unsigned char* box = copy;
    if (tree->device->rooms.tree->copy_out) {
        size_t bytes = 2 * (size_t)s->dims * SAP_GROUP * sap_real_bytes(s);
        sap_status status = tree->device->rooms.tree->copy_out(tree, s->box_at[0], bytes, copy);
        if (status != SAP_OK) return status;
    } else {
        box = tree->arrays + s->box_at[0];
    }
    for (int a = 0; a < s->dims; a++)
        for (int i = 0; i < SAP_GROUP; i++)
            widen(&info->lower[a], &info->upper[a], real_at(s, box, 2 * a * SAP_GROUP + i),
                  real_at(s, box, (2 * a + 1) * SAP_GROUP + i));
    return SAP_OK;
}

static void bounds_of_points(const sap_tree* tree, sap_tree_info* info) {
    const sap_tree_shape* s = &tree->shape;
    for (int64_t node = 0; node < s->nodes; node++) {
        int64_t slot;
        int32_t count;
        if (!sap_explicit_leaf(tree, node, &slot, &count)) continue;
        const unsigned char* block = sap_block(tree, slot);
        int32_t stride = sap_leaf_stride(count, s->real_bits);
        for (int a = 0; a < s->dims; a++)
            for (int i = 0; i < count; i++) {
                double x = real_at(s, block, (int64_t)a * stride + i);
                widen(&info->lower[a], &info->upper[a], x, x);
            }
    }
}

sap_status sap_tree_describe(const sap_tree* tree, sap_tree_info* info) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    const sap_tree_shape* s = &tree->shape;
    *info = (sap_tree_info){.count = s->count,
                            .source_count = s->source_count,
                            .duplicates = s->source_count - s->count - s->not_finite,
                            .not_finite = s->not_finite,
                            .leaves = s->leaves,
                            .nodes = s->kind == SAP_TREE_BALANCED ? s->nodes - 1 : s->nodes - s->leaves,
                            .dims = s->dims,
                            .real_bits = s->real_bits,
                            .depth = s->depth,
                            .largest_leaf = s->capacity,
                            .bytes = sizeof *tree + s->bytes + SAP_ALIGNMENT,
                            .mapped = tree->memory.mapping != NULL,
                            .options = tree->options};
    for (int a = 0; a < SAP_MAX_DIMS; a++) {
        info->lower[a] = (double)__builtin_inff();
        info->upper[a] = -(double)__builtin_inff();
    }
    if (s->kind == SAP_TREE_BALANCED) return bounds_of_boxes(tree, info);
    sap_host_view view;
    sap_status status = sap_host_view_open(tree, &view);
    if (status != SAP_OK) return status;
    bounds_of_points(&view.tree, info);
    sap_host_view_close(&view);
    return SAP_OK;
}
