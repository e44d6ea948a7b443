// Trees in the compact form of four bytes for each node, for GLSL ES 1.00. Rounding to 15 bits keeps the order along
// each axis, so the tree over the points is one over the rounded points as well.
#include "sapwood/gl.h"
#include "tree/host_view.h"
#include "tree/periods.h"
#include <math.h>
#include <string.h>

enum { LARGEST = 32767, DEPTH_MAX = 22 };

static uint32_t round_to_form(const sap_rgba8_tree* form, int axis, float value) {
    double units = floor(((double)value - form->lower[axis]) * form->scale + 0.5);
    return units < 0 ? 0 : units > LARGEST ? LARGEST : (uint32_t)units;
}

static void write_word(unsigned char* at, uint32_t word) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void pack_inner(const sap_tree* tree, const sap_rgba8_tree* form, int64_t node) {
    const float* splits = (const float*)(const void*)(tree->arrays + tree->shape.split_at);
    int axis = (tree->arrays + tree->shape.axis_at)[node];
    uint32_t at = round_to_form(form, axis, splits[node]);
    write_word(form->nodes + 4 * node, axis ? 0x8000u | at : at << 16);
}

// A leaf without a point repeats its sibling, which has one.
static void pack_leaf(const sap_tree* tree, const sap_rgba8_tree* form, int64_t leaf) {
    const sap_tree_shape* s = &tree->shape;
    int64_t from = sap_leaf_rank(s, leaf) == sap_leaf_rank(s, leaf + 1) ? leaf ^ 1 : leaf;
    const unsigned char* block = sap_block(tree, from * s->stride);
    float x, y;
    uint32_t id;
    memcpy(&x, block, 4);
    memcpy(&y, block + 4 * (size_t)s->stride, 4);
    memcpy(&id, block + 8 * (size_t)s->stride, 4);
    int64_t node = s->leaves + leaf;
    write_word(form->nodes + 4 * node, 0x80000000u | round_to_form(form, 0, x) << 16 | round_to_form(form, 1, y));
    write_word(form->ids + 4 * node, id);
}

static sap_status check(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    if (s->kind == SAP_TREE_EXPLICIT || s->real_bits != 32 || s->dims != 2 || s->capacity > 1)
        return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED,
                        "tree: the form of four bytes a node is for balanced trees of 2-D floats, one point a leaf");
    const sap_status status = sap_periods_refuse(tree, "be put into the form of four bytes a node");
    if (status != SAP_OK) return status;
    if (s->count == 0) return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "tree: holds no point");
    if (s->depth > DEPTH_MAX)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "tree: GLSL ES 1.00 counts to 2^24; %lld points are too many",
                        (long long)s->count);
    return SAP_OK;
}

sap_status sap_rgba8_tree_build(const sap_tree* tree, const double lower[2], double side, sap_rgba8_tree** form) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = tree->device;
    if (!lower || !form) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", lower ? "form" : "lower");
    if (!(side > 0 && isfinite(side) && isfinite(lower[0]) && isfinite(lower[1])))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "lower, side: not finite, or a side of %g, which is not above 0",
                        side);
    sap_status status = check(tree);
    if (status != SAP_OK) return status;
    int64_t count = 2 * tree->shape.leaves, width = 1;
    while (width * width < count) width *= 2;
    int64_t texels = (count + width - 1) / width * width;
    sap_rgba8_tree* made = sap_memory_allocate_zero(device, sizeof *made + 8 * (size_t)texels);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    *made = (sap_rgba8_tree){.width = (int32_t)width,
                             .height = (int32_t)(texels / width),
                             .lower = {lower[0], lower[1]},
                             .scale = LARGEST / side,
                             .nodes = (unsigned char*)(made + 1),
                             .ids = (unsigned char*)(made + 1) + 4 * texels,
                             .device = device};
    sap_host_view view;
    status = sap_host_view_open(tree, &view);
    if (status == SAP_OK) {
        for (int64_t node = 1; node < tree->shape.leaves; node++) pack_inner(&view.tree, made, node);
        for (int64_t leaf = 0; leaf < tree->shape.leaves; leaf++) pack_leaf(&view.tree, made, leaf);
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
