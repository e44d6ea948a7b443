// The public functions for frames and textures of trees: arguments are checked here, then the device's table is asked.
#include "device/opengl.h"
#include "device/reserved.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// Every frame begins with its tree, whose device knows what to do with it.
static const sap_tree* tree_of(const sap_gl_frame* frame) { return *(const sap_tree* const*)(const void*)frame; }
static const sap_gl_functions* functions_of(const sap_gl_frame* frame) { return tree_of(frame)->device->table->gl; }
static sap_status refuse(const sap_gl_frame* frame, const char* what) {
    return sap_fail(tree_of(frame)->device, SAP_ERROR_ARGUMENT, "%s", what);
}

sap_status sap_gl_tree_describe(const sap_tree* tree, sap_gl_tree_textures* textures) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_gl_functions* functions = sap_gl_functions_of(tree->device);
    if (!functions) return SAP_ERROR_ARGUMENT;
    if (!textures) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "textures: is NULL");
    return functions->tree_describe(tree, textures);
}

sap_status sap_gl_tree_update(sap_tree* copy, const sap_tree* tree) {
    if (!copy || !tree) return SAP_ERROR_ARGUMENT;
    if (!sap_gl_functions_of(copy->device)) return SAP_ERROR_ARGUMENT;
    if (tree->shape.dims != copy->shape.dims || copy == tree)
        return sap_fail(copy->device, SAP_ERROR_ARGUMENT, "tree: must be another tree of %d dimensions",
                        (int)copy->shape.dims);
    sap_status status = sap_device_wait(tree->device);
    return status == SAP_OK ? copy->device->table->gl->tree_update(copy, tree) : status;
}

sap_status sap_gl_frame_create(const sap_tree* tree, int32_t width, int32_t height, const sap_search* search,
                               sap_gl_frame** frame) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    const sap_gl_functions* functions = sap_gl_functions_of(device);
    if (!functions) return SAP_ERROR_ARGUMENT;
    if (!search) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    if (!frame) return sap_fail(device, SAP_ERROR_ARGUMENT, "frame: is NULL");
    if (width < 1 || height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "width, height: %d x %d pixels; both numbers must be at least 1",
                        (int)width, (int)height);
    if (search->k < 0 || !(search->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search: k is %d and radius %g; neither may be negative",
                        (int)search->k, search->radius);
    sap_status status = sap_reserved_check(device, search->reserved, "search");
    if (status != SAP_OK) return status;
    double radius = search->radius > 0 || !search->k ? search->radius : (double)INFINITY;
    return functions->frame_create(tree, (int32_t[2]){width, height}, search->k, (float)sap_limit2(tree, radius),
                                   frame);
}

sap_status sap_gl_frame_begin(sap_gl_frame* frame, sap_grid grid) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return functions_of(frame)->frame_begin(frame, &grid);
}

sap_status sap_gl_frame_step(sap_gl_frame* frame, int32_t leaves, bool* done) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return leaves > 0 ? functions_of(frame)->frame_step(frame, leaves, done) : refuse(frame, "leaves: is less than 1");
}

sap_status sap_gl_frame_describe(const sap_gl_frame* frame, sap_gl_frame_textures* textures) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    return textures ? functions_of(frame)->frame_describe(frame, textures) : refuse(frame, "textures: is NULL");
}

sap_status sap_gl_frame_read(const sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids, float* distance2) {
    if (!frame) return SAP_ERROR_ARGUMENT;
    if (!rectangle || !ids) return refuse(frame, rectangle ? "ids: is NULL" : "rectangle: is NULL");
    return functions_of(frame)->frame_read(frame, rectangle, ids, distance2);
}

void sap_gl_frame_free(sap_gl_frame* frame) {
    if (frame) functions_of(frame)->frame_free(frame);
}

sap_status sap_gl_nearest_rgba8(sap_device* device, const sap_rgba8_tree* form, sap_grid grid, int32_t* ids,
                                float* distances) {
    if (!device) return SAP_ERROR_ARGUMENT;
    const sap_gl_functions* functions = sap_gl_functions_of(device);
    if (!functions) return SAP_ERROR_ARGUMENT;
    if (!form || !ids) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", form ? "ids" : "form");
    if (grid.width < 1 || grid.height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "grid: %d x %d places; both numbers must be at least 1",
                        (int)grid.width, (int)grid.height);
    return functions->nearest_rgba8(device, form, &grid, ids, distances);
}
