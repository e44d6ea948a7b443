// The public functions that make, describe and free trees over instances. The tree is made on the host for every
// processor, in scratch memory, so that a tree that cannot be rebuilt stays as it was.
#include "base/team.h"
#include "instance/layout.h"
#include "mesh/layout.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 256 };

// Scratch memory of a build, and where its arrays begin.
typedef struct building {
    const sap_device* device;
    const sap_instance* instances;
    sap_placed* placed;                // [count]
    sap_instance_node *leaves, *nodes; // [count], [2 * count]
    sap_instance_subtree* parts;       // [count]
    int64_t count, wrong;              // wrong: the first instance that is
    int64_t triangles;                 // of all instances
} building;

static sap_status refuse(const building* b) {
    sap_placed placed;
    sap_instance_node leaf;
    const long long i = (long long)b->wrong;
    switch (sap_instance_place(b->device, &b->instances[i], &placed, &leaf)) {
    case SAP_PLACED_WITHOUT_TREE:
        return sap_fail(b->device, SAP_ERROR_ARGUMENT, "instances: the tree of instance %lld is NULL", i);
    case SAP_PLACED_ELSEWHERE:
        return sap_fail(b->device, SAP_ERROR_ARGUMENT, "instances: the tree of instance %lld is on another device", i);
    case SAP_PLACED_FLAT:
        return sap_fail(b->device, SAP_ERROR_ARGUMENT, "instances: the transform of instance %lld has no inverse", i);
    case SAP_PLACED_TOO_FAR:
        return sap_fail(b->device, SAP_ERROR_NOT_FINITE,
                        "instances: the transform of instance %lld moves its mesh so far that squares overflow", i);
    default:
        return sap_fail(b->device, SAP_ERROR_NOT_FINITE, "instances: the transform of instance %lld is not finite", i);
    }
}

static void place(void* context, int64_t from, int64_t to, int32_t worker) {
    building* b = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        b->leaves[i].link = (uint32_t)i << 1 | 1;
        if (sap_instance_place(b->device, &b->instances[i], &b->placed[i], &b->leaves[i]) != SAP_PLACED_WELL)
            sap_team_lower(&b->wrong, i);
    }
}

// Moves the leaves of instances with triangles to the front, and counts triangles; returns how many leaves there are.
static int64_t file(building* b) {
    int64_t filed = 0;
    b->triangles = 0;
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t triangles = b->instances[i].tree->shape.triangles;
        b->placed[i].before = b->triangles;
        b->triangles += triangles;
        if (triangles) b->leaves[filed++] = b->leaves[i];
    }
    return filed;
}

sap_status sap_instance_keep_cpu(sap_instance_tree* tree, const sap_instance_made* made) {
    const size_t node_bytes = sap_instance_node_bytes(made), placed_at = sap_align(node_bytes);
    const size_t bytes = placed_at + (size_t)made->count * sizeof *made->placed;
    const sap_status status = sap_tree_memory_grow(tree->device, &tree->memory, &tree->arrays, bytes);
    if (status != SAP_OK) return status;
    tree->placed_at = placed_at;
    tree->bytes = bytes;
    if (made->filed) memcpy(tree->arrays, made->nodes, node_bytes);
    memset(tree->arrays + node_bytes, 0, placed_at - node_bytes);
    if (made->count) memcpy(tree->arrays + placed_at, made->placed, (size_t)made->count * sizeof *made->placed);
    return SAP_OK;
}

void sap_instance_free_arrays_cpu(sap_instance_tree* tree) {
    sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
}

// Makes the tree what was built.
static sap_status take_on(sap_instance_tree* tree, const building* b, int64_t filed, int32_t depth) {
    const sap_instance_made made = {b->nodes, b->placed, b->count, filed, b->triangles};
    const sap_status status = tree->device->rooms.instance->keep(tree, &made);
    if (status != SAP_OK) return status;
    tree->count = b->count;
    tree->filed = filed;
    tree->triangles = b->triangles;
    tree->depth = depth;
    for (int k = 0; k < 3; k++) {
        tree->lower[k] = filed ? b->nodes[0].lower[k] : INFINITY;
        tree->upper[k] = filed ? b->nodes[0].upper[k] : -INFINITY;
    }
    return SAP_OK;
}

static sap_status build_in(sap_instance_tree* tree, building* b, unsigned char* memory) {
    const size_t n = (size_t)b->count;
    b->placed = (sap_placed*)(void*)memory;
    b->nodes = (sap_instance_node*)(void*)(memory + sap_align(n * sizeof *b->placed));
    b->leaves = b->nodes + 2 * n;
    b->parts = (sap_instance_subtree*)(void*)(b->leaves + n);
    sap_team_loop(b->device->options.threads, b->count, GRAIN, place, b);
    if (b->wrong < b->count) return refuse(b);
    const int64_t filed = file(b);
    const int32_t depth = filed ? sap_instance_nodes_build(b->device, b->leaves, filed, b->nodes, b->parts) : 0;
    if (depth < 0) return sap_fail(b->device, SAP_ERROR_CANCELLED, "the build was cancelled");
    return take_on(tree, b, filed, depth);
}

static sap_status build(sap_instance_tree* tree, const sap_instance* instances, int64_t count) {
    sap_device* device = tree->device;
    building b = {.device = device, .instances = instances, .count = count, .wrong = count};
    const size_t each = sizeof *b.placed + 3 * sizeof *b.nodes + sizeof *b.parts;
    sap_scratch memory;
    size_t bytes;
    if (!sap_size_multiply((uint64_t)count, each, &bytes) || !sap_size_add(bytes, SAP_ALIGNMENT, &bytes) ||
        !sap_scratch_take(device, bytes, &memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree over %lld instances", (long long)count);
    const sap_status status = build_in(tree, &b, memory.memory);
    sap_scratch_give(device, &memory);
    return status;
}

static sap_status check(const sap_device* device, const sap_instance* instances, int64_t count) {
    if (count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: %lld is negative", (long long)count);
    if (count > SAP_INSTANCES_MOST)
        return sap_fail(device, SAP_ERROR_RANGE, "count: %lld instances; at most 2^28", (long long)count);
    if (count && !instances) return sap_fail(device, SAP_ERROR_ARGUMENT, "instances: is NULL");
    if (!SAP_CAN(device, instance, trace)) return sap_unsupported(device, "build trees over instances");
    return SAP_OK;
}

sap_status sap_instance_tree_build(sap_device* device, const sap_instance* instances, int64_t count,
                                   sap_instance_tree** tree) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: is NULL");
    sap_status status = check(device, instances, count);
    if (status != SAP_OK) return status;
    sap_instance_tree* built = sap_memory_allocate_zero(device, sizeof *built);
    if (!built) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
    built->device = device;
    status = build(built, instances, count);
    if (status == SAP_OK)
        *tree = built;
    else
        sap_instance_tree_free(built);
    return status;
}

sap_status sap_instance_tree_rebuild(sap_instance_tree* tree, const sap_instance* instances, int64_t count) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_status status = check(tree->device, instances, count);
    return status == SAP_OK ? build(tree, instances, count) : status;
}

void sap_instance_tree_free(sap_instance_tree* tree) {
    if (!tree) return;
    tree->device->rooms.instance->free_arrays(tree);
    sap_memory_release(tree->device, tree, sizeof *tree);
}

sap_status sap_instance_tree_describe(const sap_instance_tree* tree, sap_instance_tree_info* info) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    *info = (sap_instance_tree_info){
        .instances = tree->count, .filed = tree->filed, .depth = tree->depth, .bytes = tree->bytes};
    memcpy(info->lower, tree->lower, sizeof info->lower);
    memcpy(info->upper, tree->upper, sizeof info->upper);
    return SAP_OK;
}
