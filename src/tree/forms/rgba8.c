// Trees in the compact form of four bytes for each node, for GLSL ES 1.00. Rounding to 15 or 10 bits keeps the order along
// each axis, so the tree over the points is one over the rounded points as well.
#include "sapwood/gl.h"
#include "tree/host_view.h"
#include "tree/periods.h"
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 22 };

// The largest coordinate: 15 bits of each in 2-D, 10 in 3-D.
static int largest(int32_t dims) { return dims == 2 ? 32767 : 1023; }

static uint32_t round_to_form(const sap_rgba8_tree* form, int axis, float value) {
    double units = floor(((double)value - form->lower[axis]) * form->scale + 0.5);
    const int most = largest(form->dims);
    return units < 0 ? 0 : units > most ? (uint32_t)most : (uint32_t)units;
}

static void write_word(unsigned char* at, uint32_t word) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(word >> (24 - 8 * i));
}

static int axis_of(const sap_tree* tree, int64_t node) { return (tree->arrays + tree->shape.axis_at)[node]; }

static void pack_inner(const sap_tree* tree, const sap_rgba8_tree* form, int64_t node) {
    const float* splits = (const float*)(const void*)(tree->arrays + tree->shape.split_at);
    const int axis = axis_of(tree, node);
    const uint32_t at = round_to_form(form, axis, splits[node]);
    if (form->dims == 3)
        write_word(form->nodes + 4 * node, (uint32_t)axis << 29 | at);
    else
        write_word(form->nodes + 4 * node, axis ? 0x8000u | at : at << 16);
}

// A leaf without a point repeats its sibling, which has one.
static void pack_leaf(const sap_tree* tree, const sap_rgba8_tree* form, int64_t leaf) {
    const sap_tree_shape* s = &tree->shape;
    int64_t from = sap_leaf_rank(s, leaf) == sap_leaf_rank(s, leaf + 1) ? leaf ^ 1 : leaf;
    const unsigned char* block = sap_block(tree, from * s->stride);
    const int bits = form->dims == 2 ? 16 : 10;
    uint32_t id, word = 0;
    for (int a = 0; a < form->dims; a++) {
        float value;
        memcpy(&value, block + 4 * (size_t)s->stride * (size_t)a, 4);
        word = word << bits | round_to_form(form, a, value);
    }
    memcpy(&id, block + 4 * (size_t)s->stride * (size_t)form->dims, 4);
    int64_t node = s->leaves + leaf;
    write_word(form->nodes + 4 * node, 0x80000000u | word);
    write_word(form->ids + 4 * node, id);
}

// Whether a node's leaves have one point between them: any axis leads to it.
static bool is_lone(const sap_tree_shape* s, int64_t node) {
    const int64_t leaf = 2 * node - s->leaves;
    return leaf >= 0 && sap_leaf_rank(s, leaf + 2) - sap_leaf_rank(s, leaf) < 2;
}

// Whether the axis of each node is its depth modulo the number of axes.
static bool cycles(const sap_tree* tree) {
    int depth = 0;
    for (int64_t node = 1; node < tree->shape.leaves; node++) {
        if (node >> (depth + 1)) depth++;
        if (axis_of(tree, node) != depth % tree->shape.dims && !is_lone(&tree->shape, node)) return false;
    }
    return true;
}

static sap_status check(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    if (s->kind == SAP_TREE_EXPLICIT || s->real_bits != 32 || (s->dims != 2 && s->dims != 3) || s->capacity > 1)
        return sap_fail(
            tree->device, SAP_ERROR_UNSUPPORTED,
            "tree: the form of four bytes a node is for balanced trees of 2-D or 3-D floats, one point a leaf");
    const sap_status status = sap_periods_refuse(tree, "be put into the form of four bytes a node");
    if (status != SAP_OK) return status;
    if (s->count == 0) return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "tree: holds no point");
    if (s->depth > DEPTH_MAX)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "tree: GLSL ES 1.00 counts to 2^24; %lld points are too many",
                        (long long)s->count);
    return SAP_OK;
}

sap_status sap_rgba8_tree_build(const sap_tree* tree, const double* lower, double side, sap_rgba8_tree** form) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = tree->device;
    if (!lower || !form) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", lower ? "form" : "lower");
    sap_status status = check(tree);
    if (status != SAP_OK) return status;
    const int32_t dims = tree->shape.dims;
    if (!(side > 0 && isfinite(side) && isfinite(lower[0]) && isfinite(lower[1]) && isfinite(lower[dims - 1])))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "lower, side: not finite, or a side of %g, which is not above 0",
                        side);
    int64_t count = 2 * tree->shape.leaves, width = 1;
    while (width * width < count) width *= 2;
    int64_t texels = (count + width - 1) / width * width;
    sap_rgba8_tree* made = sap_memory_allocate_zero(device, sizeof *made + 8 * (size_t)texels);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    *made = (sap_rgba8_tree){.width = (int32_t)width,
                             .height = (int32_t)(texels / width),
                             .dims = dims,
                             .lower = {lower[0], lower[1], dims == 3 ? lower[2] : 0},
                             .scale = largest(dims) / side,
                             .nodes = (unsigned char*)(made + 1),
                             .ids = (unsigned char*)(made + 1) + 4 * texels,
                             .device = device};
    sap_host_view view;
    status = sap_host_view_open(tree, &view);
    if (status == SAP_OK) {
        for (int64_t node = 1; node < tree->shape.leaves; node++) pack_inner(&view.tree, made, node);
        for (int64_t leaf = 0; leaf < tree->shape.leaves; leaf++) pack_leaf(&view.tree, made, leaf);
        made->cycles = cycles(&view.tree);
        sap_host_view_close(&view);
        *form = made;
    } else {
        sap_rgba8_tree_free(made);
    }
    return status;
}

void sap_rgba8_tree_free(sap_rgba8_tree* form) {
    if (!form) return;
    sap_memory_release(form->device, form, sizeof *form + 8 * (size_t)form->width * (size_t)form->height);
}
