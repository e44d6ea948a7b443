// Poisson disks: points are tried in the order of hashes of their ids; one that is taken rules out all within the radius.
#include "cloud/ops.h"
#include "cloud/poisson.h"
#include "cloud/sort.h"
#include "device/progress.h"
#include "radius/radius_cpu.h"
#include "tree/leaves.h"

enum {
    FIRST_ROOM = 1 << 12,
    STEP = 1024
}; // hits that there is room for at first; points between two looks at the progress

typedef struct trying {
    sap_sample_job* job;
    unsigned char* coords; // real[source_count][dims] by id
    uint64_t *keys, *spare_keys;
    uint32_t *order, *spare_order; // ids of the tree's points
    uint8_t* ruled_out;            // by id
    int64_t room;
    int32_t* hits;
    unsigned char* distance2;
    sap_scratch memory, hit_memory;
} trying;

static bool reserve(trying* t) {
    const sap_tree* tree = t->job->tree;
    const size_t n = (size_t)tree->shape.source_count, keys = sap_align(n * 8), order = sap_align(n * 4);
    const size_t coords = sap_align(n * (size_t)tree->shape.dims * sap_real_bytes(&tree->shape)) + SAP_ALIGNMENT;
    if (!sap_scratch_take(tree->device, coords + 2 * keys + 2 * order + n + 1, &t->memory)) return false;
    unsigned char* at = t->memory.memory;
    t->coords = at;
    t->keys = (uint64_t*)(void*)(at + coords);
    t->spare_keys = (uint64_t*)(void*)(at + coords + keys);
    t->order = (uint32_t*)(void*)(at + coords + 2 * keys);
    t->spare_order = (uint32_t*)(void*)(at + coords + 2 * keys + order);
    t->ruled_out = at + coords + 2 * keys + 2 * order;
    return true;
}

static bool make_room(trying* t, int64_t room) {
    sap_device* device = t->job->tree->device;
    const size_t ids = sap_align((size_t)room * 4) + SAP_ALIGNMENT, distances = (size_t)room * 8 + SAP_ALIGNMENT;
    sap_scratch_give(device, &t->hit_memory);
    if (!sap_scratch_take(device, ids + distances, &t->hit_memory)) return false;
    t->room = room;
    t->hits = (int32_t*)(void*)t->hit_memory.memory;
    t->distance2 = t->hit_memory.memory + ids;
    return true;
}

// Points that the tree has left out are ruled out from the start.
static void put_in_order(trying* t) {
    const sap_tree* tree = t->job->tree;
    const size_t row = (size_t)tree->shape.dims * sap_real_bytes(&tree->shape);
    int64_t count = 0;
    memset(t->ruled_out, 1, (size_t)tree->shape.source_count);
    for (int64_t place = 0; place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            sap_leaf_point(tree, &leaf, i, t->coords + (size_t)leaf.ids[i] * row);
            t->ruled_out[leaf.ids[i]] = 0;
        }
    }
    for (int64_t id = 0; id < tree->shape.source_count; id++) {
        if (t->ruled_out[id]) continue;
        t->keys[count] = sap_poisson_key(t->job->options.seed, (uint32_t)id);
        t->order[count++] = (uint32_t)id;
    }
    if (sap_cloud_sort_64(t->keys, t->order, t->spare_keys, t->spare_order, count, 64)) t->order = t->spare_order;
}

// Rules out the points within the radius of one that is taken. False without memory.
static bool rule_out(trying* t, uint32_t id) {
    const sap_tree* tree = t->job->tree;
    const size_t row = (size_t)tree->shape.dims * sap_real_bytes(&tree->shape);
    int64_t found = 0;
    for (;;) {
        sap_radius_run run = {.tree = tree,
                              .queries = t->coords + (size_t)id * row,
                              .count = 1,
                              .stride = tree->shape.dims,
                              .limit2 = t->job->limit2,
                              .counts = &found,
                              .ids = t->hits,
                              .distance2 = t->distance2,
                              .room = t->room};
        sap_radius_run_cpu(&run);
        if (run.done == 1) break;
        if (!make_room(t, 2 * t->room)) return false;
    }
    for (int64_t i = 0; i < found; i++) t->ruled_out[t->hits[i]] = 1;
    return true;
}

// Afterwards ruled_out is 2 for points that were taken.
static sap_status try_all(trying* t) {
    const sap_tree* tree = t->job->tree;
    sap_progress_state progress = sap_progress_begin(tree->device, tree->shape.count);
    put_in_order(t);
    for (int64_t i = 0; i < tree->shape.count; i++) {
        const uint32_t id = t->order[i];
        if (i % STEP == STEP - 1 && !sap_progress_add(&progress, STEP)) break;
        if (t->ruled_out[id]) continue;
        if (!rule_out(t, id))
            return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points within a radius");
        t->ruled_out[id] = 2;
        t->job->count++;
    }
    if (!sap_progress_finish(&progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    int64_t next = 0;
    for (int64_t id = 0; id < tree->shape.source_count; id++)
        if (t->ruled_out[id] == 2) t->job->ids[next++] = (int32_t)id;
    SAP_ASSERT(next == t->job->count);
    return SAP_OK;
}

sap_status sap_cloud_poisson_cpu(sap_sample_job* job) {
    sap_device* device = job->tree->device;
    trying t = {.job = job};
    if (job->tree->shape.count == 0) return SAP_OK;
    sap_status status = SAP_OK;
    if (!reserve(&t) || !make_room(&t, FIRST_ROOM))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory to try %lld points", (long long)job->tree->shape.count);
    if (status == SAP_OK) status = try_all(&t);
    sap_scratch_give(device, &t.memory);
    sap_scratch_give(device, &t.hit_memory);
    return status;
}
