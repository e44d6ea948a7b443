// Saved trees (saved/saved.h). What the arrays are and where each begins follows from the facts (tree/layout.h).
// Loading checks all of it: both checksums, every size, then the tree itself, unless the caller trusts it.
#include "device/reserved.h"
#include "tree/host_view.h"
#include "tree/periods.h"
#include <string.h>

typedef struct facts {
    int32_t real_bits, dims, split, axis, leaf_size, drops, depth, capacity;
    int64_t count;
    int32_t source_count, not_finite;
    int64_t nodes, leaves, slots;
    double period[SAP_MAX_DIMS]; // this and what follows came later
    double query_radius;
} facts;

// What is dropped, as bits of facts.drops.
enum { DROPS_DUPLICATES = 1, DROPS_NONFINITE = 2 };

_Static_assert(offsetof(facts, period) == 72 && sizeof(facts) == 208, "the facts are part of the format");

static const sap_saved_form form = {"SAPTREE\n", 1, offsetof(facts, period), "a saved tree",
                                    sizeof(facts) - offsetof(facts, period)};

static sap_status save_view(const sap_tree* tree, const sap_saved_place* place) {
    const sap_tree_shape* s = &tree->shape;
    facts f = {.real_bits = s->real_bits,
               .dims = s->dims,
               .split = (int32_t)tree->options.split,
               .axis = (int32_t)tree->options.axis,
               .leaf_size = tree->options.leaf_size,
               .drops = (tree->options.drop_duplicates ? DROPS_DUPLICATES : 0) |
                        (tree->options.drop_nonfinite ? DROPS_NONFINITE : 0),
               .depth = s->depth,
               .capacity = s->capacity,
               .count = s->count,
               .source_count = (int32_t)s->source_count,
               .not_finite = (int32_t)s->not_finite,
               .nodes = s->nodes,
               .leaves = s->leaves,
               .slots = s->slots,
               .query_radius = tree->options.query_radius};
    memcpy(f.period, tree->options.period, sizeof f.period);
    return sap_saved_write(tree->device, place, &form, &f, tree->arrays, s->bytes);
}

static sap_status save(const sap_tree* tree, const sap_saved_place* place) {
    sap_host_view view;
    sap_status status = sap_host_view_open(tree, &view);
    if (status != SAP_OK) return status;
    status = save_view(&view.tree, place);
    sap_host_view_close(&view);
    return status;
}

sap_status sap_tree_save(const sap_tree* tree, const char* path) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "path: is NULL");
    return save(tree, &(sap_saved_place){.path = path});
}

sap_status sap_tree_saved_size(const sap_tree* tree, int64_t* size) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!size) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "size: is NULL");
    *size = sap_saved_size(tree->shape.bytes);
    return SAP_OK;
}

sap_status sap_tree_save_memory(const sap_tree* tree, void* bytes, int64_t size) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_saved_place place = {.bytes = bytes, .size = size};
    sap_status status = sap_saved_place_check(tree->device, &place);
    return status == SAP_OK ? save(tree, &place) : status;
}

// Takes on options and shape from the facts.
static sap_status take_facts(sap_tree* tree, const sap_saved_file* file, const facts* f) {
    if (f->drops & ~(DROPS_DUPLICATES | DROPS_NONFINITE))
        return sap_saved_refuse(file, SAP_SAVED_FACTS + offsetof(facts, drops), "unknown points are dropped");
    tree->options = (sap_tree_options){.split = (sap_split)f->split,
                                       .axis = (sap_axis)f->axis,
                                       .leaf_size = f->leaf_size,
                                       .query_radius = f->query_radius,
                                       .drop_duplicates = (f->drops & DROPS_DUPLICATES) != 0,
                                       .drop_nonfinite = (f->drops & DROPS_NONFINITE) != 0};
    memcpy(tree->options.period, f->period, sizeof f->period);
    const sap_tree_shape claimed = {.count = f->count,
                                    .source_count = f->source_count,
                                    .not_finite = f->not_finite,
                                    .nodes = f->nodes,
                                    .leaves = f->leaves,
                                    .slots = f->slots,
                                    .dims = f->dims,
                                    .real_bits = f->real_bits,
                                    .depth = f->depth,
                                    .capacity = f->capacity,
                                    .bytes = file->bytes};
    const char* wrong = sap_shape_derive(&tree->options, &claimed, &tree->shape);
    return wrong ? sap_saved_refuse(file, SAP_SAVED_FACTS + offsetof(facts, real_bits), wrong) : SAP_OK;
}

// Loads from an open file into a tree that has its device only. Its arrays stay on the host.
static sap_status load_on_host(sap_tree* tree, const sap_saved_file* file, const facts* f, bool trust) {
    sap_status status = take_facts(tree, file, f);
    if (status == SAP_OK) status = sap_periods_take(tree->device, &tree->options);
    if (status == SAP_OK) status = sap_saved_load(file, &tree->memory, &tree->arrays);
    if (status != SAP_OK) return status;
    if (!trust) status = sap_tree_verify_cpu(tree);
    if (status != SAP_OK) sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
    return status;
}

// Hands the arrays of a checked tree over to its device.
static sap_status move_to_device(sap_tree* tree) {
    sap_tree on_host = *tree;
    tree->arrays = NULL;
    tree->memory = (sap_tree_memory){0};
    sap_status status = tree->device->rooms.tree->copy_in(tree, on_host.arrays);
    sap_tree_memory_release(tree->device, &on_host.memory, &on_host.arrays);
    return status;
}

static sap_status load(sap_device* device, const sap_saved_place* place, const sap_load_options* options,
                       sap_tree** tree) {
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    sap_saved_file file;
    facts f;
    sap_status status = options ? sap_reserved_check(device, options->reserved, "options") : SAP_OK;
    if (status == SAP_OK) status = sap_saved_open(&file, device, place, &form, &f);
    if (status != SAP_OK) return status;
    sap_tree* loaded = sap_memory_allocate_zero(device, sizeof *loaded);
    if (loaded) {
        loaded->device = device;
        status = load_on_host(loaded, &file, &f, options && options->trust);
    } else {
        status = SAP_ERROR_MEMORY;
        sap_fail(device, status, "no memory for a tree");
    }
    sap_saved_close(&file);
    if (status == SAP_OK && device->rooms.tree->copy_in) status = move_to_device(loaded);
    if (status == SAP_OK && device->rooms.tree->complete) device->rooms.tree->complete(loaded);
    if (status == SAP_OK)
        *tree = loaded;
    else
        sap_tree_free(loaded);
    return status;
}

sap_status sap_tree_load(sap_device* device, const char* path, const sap_load_options* options, sap_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    return load(device, &(sap_saved_place){.path = path}, options, tree);
}

sap_status sap_tree_load_memory(sap_device* device, const void* bytes, int64_t size, const sap_load_options* options,
                                sap_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    const sap_saved_place place = {.bytes = (void*)(uintptr_t)bytes, .size = size};
    sap_status status = sap_saved_place_check(device, &place);
    return status == SAP_OK ? load(device, &place, options, tree) : status;
}
