// The public functions for views: they check arguments, then call the device's functions.
#include "device/reserved.h"
#include "mesh/layout.h"
#include "render/ops.h"

enum { SIDE_MOST = 2048 };

// Every view begins with its tree, whose device knows what to do with it.
static const sap_mesh_tree* tree_of(const sap_gl_view* view) { return *(const sap_mesh_tree* const*)(const void*)view; }
static const sap_view_ops* ops_of(const sap_gl_view* view) { return tree_of(view)->device->rooms.view; }
static sap_status refuse(const sap_gl_view* view, const char* what) {
    return sap_fail(tree_of(view)->device, SAP_ERROR_ARGUMENT, "%s", what);
}

sap_status sap_gl_view_create(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!SAP_CAN(tree->device, view, create)) return sap_unsupported(tree->device, "draw views");
    if (!file || !view) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s: is NULL", !file ? "file" : "view");
    return tree->device->rooms.view->create(tree, file, view);
}

sap_status sap_gl_view_begin(sap_gl_view* view, const sap_gl_view_options* options) {
    if (!view) return SAP_ERROR_ARGUMENT;
    if (!options) return refuse(view, "options: is NULL");
    sap_status status = sap_reserved_check(tree_of(view)->device, options->reserved, "options");
    return status == SAP_OK ? ops_of(view)->begin(view, options) : status;
}

sap_status sap_gl_view_step(sap_gl_view* view, int32_t side, bool* done) {
    if (!view) return SAP_ERROR_ARGUMENT;
    if (side < 1 || side > SIDE_MOST) return refuse(view, "side: is not in 1…2048");
    return ops_of(view)->step(view, side, done);
}

sap_status sap_gl_view_show(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]) {
    if (!view) return SAP_ERROR_ARGUMENT;
    if (!rectangle || rectangle[2] < 1 || rectangle[3] < 1)
        return refuse(view, "rectangle: is NULL, or its width or height is less than 1");
    return ops_of(view)->show(view, framebuffer, rectangle);
}

sap_status sap_gl_view_read(const sap_gl_view* view, uint8_t* pixels) {
    if (!view) return SAP_ERROR_ARGUMENT;
    return pixels ? ops_of(view)->read(view, pixels) : refuse(view, "pixels: is NULL");
}

sap_status sap_gl_view_describe(const sap_gl_view* view, sap_gl_view_info* info) {
    if (!view) return SAP_ERROR_ARGUMENT;
    return info ? ops_of(view)->describe(view, info) : refuse(view, "info: is NULL");
}

void sap_gl_view_free(sap_gl_view* view) {
    if (view) ops_of(view)->free(view);
}
