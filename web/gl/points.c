// Trees over points: their textures, frames of searches, and the form in four bytes a node.
#include "gl/module.h"
#include <string.h>

/** Makes a tree's textures of saved bytes, in memory of web_allocate: a new tree, integers[0], or, with `copy`, in its
 * place. The bytes may be freed afterwards. */
SAP_EXPORT sap_status web_tree_take(sap_tree* copy, const void* bytes, size_t size, int32_t trusted) {
    const sap_load_options options = web_loading(trusted);
    sap_tree* tree = NULL;
    sap_status status = sap_tree_load_memory(web_host, bytes, (int64_t)size, &options, &tree);
    if (status == SAP_OK) status = copy ? sap_gl_tree_update(copy, tree) : sap_tree_copy(tree, web_gl, &copy);
    sap_tree_free(tree);
    web_shared.integers[0] = web_address(copy);
    return status;
}

SAP_EXPORT void web_tree_free(sap_tree* tree) { sap_tree_free(tree); }

/** integers: the names of nodes, smallest, boxes, blocks; their widths; dims, depth, quads, split. */
SAP_EXPORT sap_status web_tree_describe(const sap_tree* tree) {
    sap_gl_tree_textures t;
    const sap_status status = sap_gl_tree_describe(tree, &t);
    if (status != SAP_OK) return status;
    const int32_t integers[] = {
        (int32_t)t.nodes, (int32_t)t.smallest, (int32_t)t.boxes, (int32_t)t.blocks, t.widths[0], t.widths[1],
        t.widths[2],      t.widths[3],         t.dims,           t.depth,           t.quads,     (int32_t)t.split};
    memcpy(web_shared.integers, integers, sizeof integers);
    return SAP_OK;
}

// ---- Frames

// The places of a grid: numbers[0 … 2] its origin, [3 … 5] right, [6 … 8] down.
static sap_grid shared_grid(int32_t width, int32_t height) {
    sap_grid grid = {.width = width, .height = height};
    for (int a = 0; a < 3; a++) {
        grid.origin[a] = web_shared.numbers[a];
        grid.right[a] = web_shared.numbers[3 + a];
        grid.down[a] = web_shared.numbers[6 + a];
    }
    return grid;
}

/** A frame of k neighbours (0: points are counted) within a radius (0: any) by a walk of sap_walk: integers[0]. */
SAP_EXPORT sap_status web_frame_create(const sap_tree* tree, int32_t width, int32_t height, int32_t k, double radius,
                                       int32_t walk) {
    const sap_search search = {.k = k, .radius = radius, .walk = (sap_walk)walk};
    sap_gl_frame* frame = NULL;
    const sap_status status = sap_gl_frame_create(tree, width, height, &search, &frame);
    web_shared.integers[0] = web_address(frame);
    return status;
}

SAP_EXPORT sap_status web_frame_begin(sap_gl_frame* frame, int32_t width, int32_t height) {
    return sap_gl_frame_begin(frame, shared_grid(width, height));
}

/** integers[0]: whether all walks have ended; `asks` says whether that is asked, which waits. */
SAP_EXPORT sap_status web_frame_step(sap_gl_frame* frame, int32_t leaves, int32_t asks) {
    bool done = false;
    const sap_status status = sap_gl_frame_step(frame, leaves, asks ? &done : NULL);
    web_shared.integers[0] = done;
    return status;
}

/** integers: the names of place and of four lists, the lists' capacity. */
SAP_EXPORT sap_status web_frame_describe(const sap_gl_frame* frame) {
    sap_gl_frame_textures t;
    const sap_status status = sap_gl_frame_describe(frame, &t);
    if (status != SAP_OK) return status;
    web_shared.integers[0] = (int32_t)t.place;
    for (int i = 0; i < 4; i++) web_shared.integers[1 + i] = (int32_t)t.lists[i];
    web_shared.integers[5] = t.capacity;
    return SAP_OK;
}

SAP_EXPORT sap_status web_frame_read(const sap_gl_frame* frame, int32_t x, int32_t y, int32_t width, int32_t height,
                                     int32_t* ids, float* distance2) {
    return sap_gl_frame_read(frame, (int32_t[4]){x, y, width, height}, ids, distance2);
}

SAP_EXPORT void web_frame_free(sap_gl_frame* frame) { sap_gl_frame_free(frame); }

// ---- Four bytes a node

/** The form of saved bytes for the domain of `side` from numbers[0 … 2] on. integers: the form, width, height, dims, whether
 * its axes cycle, where nodes and ids stand; numbers[0 … 2] the lower corner, [3] units for a length of 1. */
SAP_EXPORT sap_status web_bytes_build(const void* bytes, size_t size, int32_t trusted, double side) {
    const sap_load_options options = web_loading(trusted);
    sap_rgba8_tree* form = NULL;
    sap_tree* tree = NULL;
    sap_status status = sap_tree_load_memory(web_host, bytes, (int64_t)size, &options, &tree);
    if (status == SAP_OK) status = sap_rgba8_tree_build(tree, web_shared.numbers, side, &form);
    sap_tree_free(tree);
    if (status != SAP_OK) return status;
    const int32_t integers[] = {web_address(form),        form->width,           form->height, form->dims, form->cycles,
                                web_address(form->nodes), web_address(form->ids)};
    memcpy(web_shared.integers, integers, sizeof integers);
    memcpy(web_shared.numbers, form->lower, sizeof form->lower);
    web_shared.numbers[3] = form->scale;
    return SAP_OK;
}

/** The nearest site of every place of a grid: ids[height][width], distances or NULL. */
SAP_EXPORT sap_status web_bytes_nearest(const sap_rgba8_tree* form, int32_t width, int32_t height, int32_t walk,
                                        int32_t integers, int32_t* ids, float* distances) {
    const sap_rgba8_search search = {.walk = (sap_walk)walk, .integers = integers != 0};
    return sap_gl_nearest_rgba8(web_gl, form, shared_grid(width, height), &search, ids, distances);
}

SAP_EXPORT void web_bytes_free(sap_rgba8_tree* form) { sap_rgba8_tree_free(form); }
