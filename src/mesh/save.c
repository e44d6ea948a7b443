// Saved trees over triangles (saved/saved.h). The counts among the facts determine where each array begins (layout.h).
// Loading checks everything: both checksums, every size, then the tree itself, unless the caller trusts it.
#include "device/reserved.h"
#include "mesh/host_view.h"
#include <string.h>

typedef struct facts {
    int32_t quality, cost, small_node, depth_option, depth, largest_leaf;
    float radius, traversal_cost, intersection_cost, empty_space, lower[3], upper[3];
    int64_t triangles, nodes, leaves, empty_leaves, references, listed;
    uint64_t memory; // option
} facts;

_Static_assert(sizeof(facts) == 120, "the facts are part of the format");

static const sap_saved_form form = {"SAPMESH\n", 1, sizeof(facts), "a saved tree over triangles", 0};

static sap_status save(const sap_mesh_tree* tree, const sap_saved_place* place) {
    const sap_mesh_tree_shape* s = &tree->shape;
    const sap_mesh_tree_options* o = &tree->options;
    facts f = {.quality = (int32_t)o->quality,
               .cost = (int32_t)o->cost,
               .small_node = o->small_node,
               .depth_option = o->depth,
               .depth = s->depth,
               .largest_leaf = s->largest_leaf,
               .radius = o->radius,
               .traversal_cost = o->traversal_cost,
               .intersection_cost = o->intersection_cost,
               .empty_space = o->empty_space,
               .triangles = s->triangles,
               .nodes = s->nodes,
               .leaves = s->leaves,
               .empty_leaves = s->empty_leaves,
               .references = s->references,
               .listed = s->listed,
               .memory = o->memory};
    memcpy(f.lower, s->lower, sizeof f.lower);
    memcpy(f.upper, s->upper, sizeof f.upper);
    sap_mesh_view view;
    sap_status status = sap_mesh_view_open(tree, &view);
    if (status != SAP_OK) return status;
    status = sap_saved_write(tree->device, place, &form, &f, view.tree.arrays, s->bytes);
    sap_mesh_view_close(&view);
    return status;
}

sap_status sap_mesh_tree_save(const sap_mesh_tree* tree, const char* path) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "path: is NULL");
    return save(tree, &(sap_saved_place){.path = path});
}

sap_status sap_mesh_tree_saved_size(const sap_mesh_tree* tree, int64_t* size) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!size) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "size: is NULL");
    *size = sap_saved_size(tree->shape.bytes);
    return SAP_OK;
}

sap_status sap_mesh_tree_save_memory(const sap_mesh_tree* tree, void* bytes, int64_t size) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_saved_place place = {.bytes = bytes, .size = size};
    sap_status status = sap_saved_place_check(tree->device, &place);
    return status == SAP_OK ? save(tree, &place) : status;
}

// Sets options and shape from the facts.
static sap_status take_facts(sap_mesh_tree* tree, const sap_saved_file* file, const facts* f) {
    tree->options = (sap_mesh_tree_options){.quality = (sap_quality)f->quality,
                                            .cost = (sap_cost)f->cost,
                                            .radius = f->radius,
                                            .traversal_cost = f->traversal_cost,
                                            .intersection_cost = f->intersection_cost,
                                            .empty_space = f->empty_space,
                                            .small_node = f->small_node,
                                            .depth = f->depth_option,
                                            .memory = (size_t)f->memory};
    sap_mesh_tree_shape* s = &tree->shape;
    *s = (sap_mesh_tree_shape){.triangles = f->triangles,
                               .nodes = f->nodes,
                               .leaves = f->leaves,
                               .empty_leaves = f->empty_leaves,
                               .references = f->references,
                               .listed = f->listed,
                               .depth = f->depth,
                               .largest_leaf = f->largest_leaf};
    memcpy(s->lower, f->lower, sizeof s->lower);
    memcpy(s->upper, f->upper, sizeof s->upper);
    const char* wrong = sap_mesh_options_wrong(&tree->options);
    if (wrong) return sap_saved_refuse(file, SAP_SAVED_FACTS + offsetof(facts, quality), wrong);
    if (s->triangles < 0 || s->triangles > INT32_MAX || s->nodes < 1 || s->nodes >= (int64_t)1 << 30 || s->listed < 0 ||
        s->listed > INT32_MAX || s->references < s->listed || s->references > INT32_MAX || !sap_mesh_shape_places(s) ||
        s->bytes != file->bytes)
        return sap_saved_refuse(file, SAP_SAVED_FACTS + offsetof(facts, triangles), "the counts do not fit the size");
    return SAP_OK;
}

// Loads from an open file into a tree that has only its device. The arrays stay on the host.
static sap_status load_on_host(sap_mesh_tree* tree, const sap_saved_file* file, const facts* f, bool trust) {
    sap_status status = take_facts(tree, file, f);
    if (status == SAP_OK) status = sap_saved_load(file, &tree->memory, &tree->arrays);
    if (status != SAP_OK) return status;
    if (!trust) status = sap_mesh_verify_cpu(tree);
    if (status != SAP_OK) sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
    return status;
}

// Moves the arrays of a verified tree to its device.
static sap_status move_to_device(sap_mesh_tree* tree) {
    sap_mesh_tree on_host = *tree;
    tree->arrays = NULL;
    tree->memory = (sap_tree_memory){0};
    sap_status status = tree->device->rooms.mesh->copy_in(tree, on_host.arrays);
    sap_tree_memory_release(tree->device, &on_host.memory, &on_host.arrays);
    return status;
}

static sap_status load(sap_device* device, const sap_saved_place* place, const sap_load_options* options,
                       sap_mesh_tree** tree) {
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    if (!device->rooms.mesh) return sap_unsupported(device, "keep trees over triangles");
    sap_saved_file file;
    facts f;
    sap_status status = options ? sap_reserved_check(device, options->reserved, "options") : SAP_OK;
    if (status == SAP_OK) status = sap_saved_open(&file, device, place, &form, &f);
    if (status != SAP_OK) return status;
    sap_mesh_tree* loaded = sap_mesh_tree_new(device);
    status = loaded ? load_on_host(loaded, &file, &f, options && options->trust) : SAP_ERROR_MEMORY;
    sap_saved_close(&file);
    if (status == SAP_OK && device->rooms.mesh->copy_in) status = move_to_device(loaded);
    if (status == SAP_OK)
        *tree = loaded;
    else
        sap_mesh_tree_free(loaded);
    return status;
}

sap_status sap_mesh_tree_load(sap_device* device, const char* path, const sap_load_options* options,
                              sap_mesh_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    return load(device, &(sap_saved_place){.path = path}, options, tree);
}

sap_status sap_mesh_tree_load_memory(sap_device* device, const void* bytes, int64_t size,
                                     const sap_load_options* options, sap_mesh_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    const sap_saved_place place = {.bytes = (void*)(uintptr_t)bytes, .size = size};
    sap_status status = sap_saved_place_check(device, &place);
    return status == SAP_OK ? load(device, &place, options, tree) : status;
}
