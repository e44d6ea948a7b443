// The public functions for frames and textures of trees: arguments are checked here.
#include "device/reserved.h"
#include "nearest/ops.h"
#include "sapwood/gl.h"
#include "tree/ops.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// Every frame begins with its tree, whose device knows what to do with it.
static const sap_tree* tree_of(const sap_gl_frame* frame) { return *(const sap_tree* const*)(const void*)frame; }
static const sap_frame_ops* ops_of(const sap_gl_frame* frame) { return tree_of(frame)->device->rooms.frame; }
static sap_status refuse(const sap_gl_frame* frame, const char* what) {
    return sap_fail(tree_of(frame)->device, SAP_ERROR_ARGUMENT, "%s", what);
}

sap_status sap_gl_tree_describe(const sap_tree* tree, sap_gl_tree_textures* textures) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!SAP_CAN(tree->device, tree, describe_textures))
        return sap_unsupported(tree->device, "put trees into textures");
    if (!textures) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "textures: is NULL");
    return tree->device->rooms.tree->describe_textures(tree, textures);
}

sap_status sap_gl_tree_update(sap_tree* copy, const sap_tree* tree) {
    if (!copy || !tree) return SAP_ERROR_ARGUMENT;
    if (!SAP_CAN(copy->device, tree, update_textures)) return sap_unsupported(copy->device, "put trees into textures");
    if (tree->shape.dims != copy->shape.dims || copy == tree)
        return sap_fail(copy->device, SAP_ERROR_ARGUMENT, "tree: must be another tree of %d dimensions",
                        (int)copy->shape.dims);
    sap_status status = sap_periods_take(copy->device, &tree->options);
    if (status == SAP_OK) status = sap_device_wait(tree->device);
    return status == SAP_OK ? copy->device->rooms.tree->update_textures(copy, tree) : status;
}

sap_status sap_gl_frame_create(const sap_tree* tree, int32_t width, int32_t height, const sap_search* search,
                               sap_gl_frame** frame) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (!SAP_CAN(device, frame, create)) return sap_unsupported(device, "draw frames");
    if (!search) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    if (!frame) return sap_fail(device, SAP_ERROR_ARGUMENT, "frame: is NULL");
    if (width < 1 || height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "width, height: %d x %d pixels; both numbers must be at least 1",
                        (int)width, (int)height);
    if (search->k < 0 || !(search->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search: k is %d and radius %g; neither may be negative",
                        (int)search->k, search->radius);
    sap_status status = sap_reserved_check(device, search->reserved, "search");
    if (status == SAP_OK) status = sap_told_refuse(tree, search, "frames");
    if (status != SAP_OK) return status;
    double radius = search->radius > 0 || !search->k ? search->radius : (double)INFINITY;
    return device->rooms.frame->create(tree, (int32_t[2]){width, height}, search->k, (float)sap_limit2(tree, radius),
                                       search->walk, frame);
}

sap_status sap_gl_frame_begin(sap_gl_frame* frame, sap_grid grid) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return ops_of(frame)->begin(frame, &grid);
}

sap_status sap_gl_frame_step(sap_gl_frame* frame, int32_t leaves, bool* done) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return leaves > 0 ? ops_of(frame)->step(frame, leaves, done) : refuse(frame, "leaves: is less than 1");
}

sap_status sap_gl_frame_describe(const sap_gl_frame* frame, sap_gl_frame_textures* textures) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return textures ? ops_of(frame)->describe(frame, textures) : refuse(frame, "textures: is NULL");
}

sap_status sap_gl_frame_read(const sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids, float* distance2) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    if (!rectangle || !ids) return refuse(frame, rectangle ? "ids: is NULL" : "rectangle: is NULL");
    return ops_of(frame)->read(frame, rectangle, ids, distance2);
}

void sap_gl_frame_free(sap_gl_frame* frame) {
    if (frame) ops_of(frame)->free(frame);
}

sap_status sap_gl_nearest_rgba8(sap_device* device, const sap_rgba8_tree* form, sap_grid grid,
                                const sap_rgba8_search* search, int32_t* ids, float* distances) {
    static const sap_rgba8_search plain = {.walk = SAP_WALK_AUTO};
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!SAP_CAN(device, nearest, search_rgba8)) return sap_unsupported(device, "search trees of four bytes a node");
    if (!form || !ids) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", form ? "ids" : "form");
    if (grid.width < 1 || grid.height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "grid: %d x %d places; both numbers must be at least 1",
                        (int)grid.width, (int)grid.height);
    if (form->dims != 2 && form->dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "form.dims: %d is neither 2 nor 3", (int)form->dims);
    if (!search) search = &plain;
    if (search->cycle && !form->cycles)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "search.cycle: the axes of this form do not follow from depths; build its tree with "
                        "SAP_AXIS_CYCLE");
    if (search->walk < SAP_WALK_AUTO || search->walk > SAP_WALK_PACKET)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.walk: unknown walk %d", (int)search->walk);
    if (search->walk > SAP_WALK_STACKLESS)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "search.walk: shaders walk each pixel alone, with a stack or without");
    if (search->most_steps < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.most_steps: %d is negative", (int)search->most_steps);
    const sap_status status = sap_reserved_check(device, search->reserved, "search");
    return status == SAP_OK ? device->rooms.nearest->search_rgba8(device, form, &grid, search, ids, distances) : status;
}
