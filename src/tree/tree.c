// The public functions that make, copy, describe and free trees: arguments are checked here, once for all processors.
#include "device/reserved.h"
#include "tree/balanced/filled.h"
#include "tree/host_view.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <string.h>

sap_status sap_tree_options_read(const sap_device* device, const sap_rows* points, const sap_tree_options* given,
                                 sap_tree_options* options) {
    memset(options, 0, sizeof *options);
    if (given) {
        sap_status status = sap_reserved_check(device, given->reserved, "options");
        if (status != SAP_OK) return status;
        options->split = given->split;
        options->axis = given->axis;
        options->leaf_size = given->leaf_size;
        options->query_radius = given->query_radius + 0; // no minus zero
        options->drop_duplicates = given->drop_duplicates;
        options->drop_nonfinite = given->drop_nonfinite;
        status = sap_periods_read(device, given, points, options);
        if (status != SAP_OK) return status;
    }
    if (options->split < SAP_SPLIT_MEDIAN || options->split > SAP_SPLIT_VVH)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.split: unknown split rule %d", (int)options->split);
    if (options->axis < SAP_AXIS_WIDEST || options->axis > SAP_AXIS_CYCLE)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.axis: unknown axis rule %d", (int)options->axis);
    if (!sap_query_radius_fits(options, points->real_bits, points->dims))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.query_radius: %g is not in 0…%g%s", options->query_radius,
                        options->split == SAP_SPLIT_VVH ? sap_largest_coordinate(points->real_bits, points->dims) : 0,
                        options->split == SAP_SPLIT_VVH ? "" : ", as the split rule is not SAP_SPLIT_VVH");
    if (options->leaf_size < 0 || options->leaf_size > SAP_LEAF_MAX)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.leaf_size: %d is not in 0…%d", (int)options->leaf_size,
                        SAP_LEAF_MAX);
    if (!options->leaf_size) options->leaf_size = SAP_LEAF_DEFAULT;
    return SAP_OK;
}

static sap_tree* new_tree(sap_device* device) {
    sap_tree* tree = sap_memory_allocate_zero(device, sizeof *tree);
    if (tree) tree->device = device;
    return tree;
}

static void complete_arrays(sap_tree* tree) {
    if (tree->device->rooms.tree->complete) tree->device->rooms.tree->complete(tree);
}

static sap_status build_arrays(sap_tree* tree, const sap_rows* points) {
    const sap_status status = tree->device->rooms.tree->build(tree, points);
    complete_arrays(tree); // also where it failed: the tree may be empty now
    return status;
}

sap_status sap_tree_build_slice(sap_device* device, const sap_rows* points, const sap_tree_options* complete,
                                const sap_slice* slice, sap_tree** tree) {
    sap_tree* built = new_tree(device);
    if (!built) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    built->options = *complete;
    built->shape.slice = *slice;
    const sap_status status = build_arrays(built, points);
    if (status != SAP_OK) {
        sap_tree_free(built);
        return status;
    }
    *tree = built;
    return SAP_OK;
}

sap_status sap_tree_rebuild_slice(sap_device* device, const sap_rows* points, const sap_tree_options* complete,
                                  const sap_slice* slice, sap_tree** tree) {
    if (!*tree) return sap_tree_build_slice(device, points, complete, slice, tree);
    (*tree)->options = *complete;
    (*tree)->shape.slice = *slice;
    return build_arrays(*tree, points);
}

sap_status sap_tree_fill_slice(sap_device* device, const sap_rows* like, const sap_tree_options* complete,
                               const sap_slice* slice, const sap_filler* filler, sap_tree** tree) {
    SAP_ASSERT(device->table->kind == SAP_CPU && complete->split == SAP_SPLIT_MEDIAN);
    if (!*tree) *tree = new_tree(device);
    if (!*tree) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    (*tree)->options = *complete;
    (*tree)->shape.slice = *slice;
    (*tree)->shape.dims = like->dims;
    (*tree)->shape.real_bits = like->real_bits;
    return sap_tree_build_slice_filled_cpu(*tree, like->count, filler);
}

static sap_status build(sap_device* device, const sap_rows* points, const sap_tree_options* options, sap_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    sap_tree_options complete;
    sap_status status = sap_rows_check(device, points, "points");
    if (status == SAP_OK) status = sap_tree_options_read(device, points, options, &complete);
    if (status != SAP_OK) return status;
    return sap_tree_build_slice(device, points, &complete, &(sap_slice){0}, tree);
}

static sap_status rebuild(sap_tree* tree, const sap_rows* points) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = tree->device;
    sap_status status = sap_rows_check(device, points, "points");
    if (status != SAP_OK) return status;
    if (points->dims != tree->shape.dims || points->real_bits != tree->shape.real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points: the tree holds %d-bit points of %d dimensions",
                        (int)tree->shape.real_bits, (int)tree->shape.dims);
    if (tree->memory.mapping)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "tree: was loaded and lies as it was saved, so it cannot be rebuilt; copy it first");
    return build_arrays(tree, points);
}

sap_status sap_tree_build(sap_device* device, sap_points points, const sap_tree_options* options, sap_tree** tree) {
    sap_rows rows = sap_rows_f32(points);
    return build(device, &rows, options, tree);
}

sap_status sap_tree_build_f64(sap_device* device, sap_points_f64 points, const sap_tree_options* options,
                              sap_tree** tree) {
    sap_rows rows = sap_rows_f64(points);
    return build(device, &rows, options, tree);
}

sap_status sap_tree_rebuild(sap_tree* tree, sap_points points) {
    sap_rows rows = sap_rows_f32(points);
    return rebuild(tree, &rows);
}

sap_status sap_tree_rebuild_f64(sap_tree* tree, sap_points_f64 points) {
    sap_rows rows = sap_rows_f64(points);
    return rebuild(tree, &rows);
}

static sap_status copy_to_host(const sap_tree* tree, sap_tree* made) {
    sap_status status = sap_tree_reserve(made, &tree->shape);
    if (status != SAP_OK) return status;
    const sap_tree_ops* from = tree->device->rooms.tree;
    if (from->copy_out) return from->copy_out(tree, 0, tree->shape.bytes, made->arrays);
    memcpy(made->arrays, tree->arrays, tree->shape.bytes);
    return SAP_OK;
}

static sap_status copy_to_device(const sap_tree* tree, sap_tree* made) {
    const sap_tree_ops* to = made->device->rooms.tree;
    made->shape = tree->shape;
    if (to->copies_host_only || tree->device->rooms.tree->copies_host_only) {
        sap_host_view view;
        sap_status opened = sap_host_view_open(tree, &view);
        if (opened != SAP_OK) return opened;
        opened = to->copy_in(made, view.tree.arrays);
        sap_host_view_close(&view);
        return opened;
    }
    sap_status status = sap_device_wait(tree->device);
    return status == SAP_OK ? to->copy_in(made, tree->arrays) : status;
}

sap_status sap_tree_copy(const sap_tree* tree, sap_device* target, sap_tree** copy) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!target) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "target: is NULL");
    if (!copy) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "copy: is NULL");
    const sap_status taken = sap_periods_take(target, &tree->options);
    if (taken != SAP_OK) return taken;
    sap_tree* made = new_tree(target);
    if (!made) return sap_fail(target, SAP_ERROR_MEMORY, "no memory for a tree");
    made->options = tree->options;
    sap_status status = target->rooms.tree->copy_in ? copy_to_device(tree, made) : copy_to_host(tree, made);
    if (status != SAP_OK) {
        sap_tree_free(made);
        return status;
    }
    complete_arrays(made);
    *copy = made;
    return SAP_OK;
}

sap_status sap_tree_verify(const sap_tree* tree) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_tree_ops* ops = tree->device->rooms.tree;
    bool right = false;
    // Whether points lie within periods, only the host looks.
    const bool looks_there = ops->verify && !sap_is_periodic(&tree->options);
    sap_status status = looks_there ? ops->verify(tree, &right) : SAP_OK;
    if (status != SAP_OK || right) return status;
    sap_host_view view;
    status = sap_host_view_open(tree, &view);
    if (status != SAP_OK) return status;
    status = sap_tree_verify_cpu(&view.tree);
    sap_host_view_close(&view);
    return status;
}

void sap_tree_free(sap_tree* tree) {
    if (!tree) return;
    sap_device* device = tree->device;
    if (device->rooms.tree->free_arrays)
        device->rooms.tree->free_arrays(tree);
    else
        sap_tree_memory_release(device, &tree->memory, &tree->arrays);
    sap_memory_release(device, tree, sizeof *tree);
}
