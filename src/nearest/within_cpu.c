// The points within a radius, one query a call: a row is collected in memory that the search keeps, and copied as far as
// the caller has room.
#include "device/cpu.h"
#include "nearest/query.h"
#include "radius/radius.h"
#include "tree/periods.h"
#include <string.h>

enum { FIRST_ROOM = 1024 }; // hits that the memory has room for in the beginning

// Where hits lie in a search's memory.
typedef struct hit_room {
    int64_t room;
    size_t distance2_at, bytes;
} hit_room;

static bool measure(const sap_tree* tree, int64_t room, hit_room* hits) {
    size_t ids, distances;
    if (!sap_size_multiply((uint64_t)room, sizeof(int32_t), &ids) ||
        !sap_size_multiply((uint64_t)room, sap_real_bytes(&tree->shape), &distances))
        return false;
    *hits = (hit_room){room, sap_align(ids), sap_align(ids) + distances};
    return true;
}

// Makes room for so many hits. What there was is lost.
static bool reserve(sap_query* query, int64_t room, hit_room* hits) {
    const sap_device* device = query->tree->device;
    if (!measure(query->tree, room, hits)) return false;
    if (hits->bytes <= query->hits_bytes) return true;
    unsigned char* memory = sap_memory_allocate(device, hits->bytes);
    if (!memory) return false;
    sap_memory_release(device, query->hits, query->hits_bytes);
    query->hits = memory;
    query->hits_bytes = hits->bytes;
    return true;
}

// Through the batch search: trees without boxes.
static int64_t answer_job(const sap_query* query, const void* point, double limit2, const sap_radius_rows* row) {
    const sap_tree* tree = query->tree;
    const sap_tree_shape* shape = &tree->shape;
    int64_t offsets[2] = {0, 0};
    const sap_radius_rows rows = {offsets, row->capacity, row->ids, row->distance2};
    const sap_radius_job job = {
        .queries = {point, 1, shape->dims, shape->dims, shape->real_bits}, .limit2 = limit2, .into = &rows};
    return tree->device->rooms.radius->search(tree, &job) == SAP_OK ? offsets[1] : -1;
}

// Collects all hits in the search's memory; false without enough of it. *run counts already.
static bool collect(sap_query* query, const sap_radius_kernels* kernels, sap_radius_run* run) {
    // Kernels stop where a leaf's hits might not fit, a register beyond them included.
    const int64_t leaf = query->tree->shape.stride + SAP_ALIGNMENT;
    int64_t room = FIRST_ROOM + leaf;
    for (run->done = 0; !run->done; room = *run->counts + leaf) {
        hit_room hits;
        if (!reserve(query, room, &hits)) return false;
        run->ids = (int32_t*)(void*)query->hits;
        run->distance2 = query->hits + hits.distance2_at;
        run->room = room;
        run->used = 0;
        kernels->search(run);
        if (run->done) return true;
        run->ids = NULL;
        kernels->search(run);
        run->done = 0;
    }
    return true;
}

int64_t sap_query_within_cpu(sap_query* query, const void* point, double limit2, const sap_radius_rows* row) {
    const sap_tree* tree = query->tree;
    const sap_tree_shape* shape = &tree->shape;
    int64_t count = 0;
    if (shape->count == 0) return 0;
    if (shape->kind == SAP_TREE_EXPLICIT) return answer_job(query, point, limit2, row);
    const sap_cpu_kernels* all = sap_cpu_kernels_of(tree->device, shape->real_bits);
    const sap_radius_kernels* kernels = all->radius;
    double wrapped[SAP_MAX_DIMS];
    sap_radius_run run = {
        .tree = tree, .queries = point, .count = 1, .stride = shape->dims, .limit2 = limit2, .counts = &count};
    if (sap_is_periodic(&tree->options)) {
        sap_periods_wrap(tree, point, wrapped);
        run.queries = wrapped;
        run.told = &sap_told_nothing;
        if (sap_reaches_around(tree, SAP_METRIC_L2, wrapped, limit2)) kernels = all->radius_periodic[SAP_METRIC_L2];
    }
    if (row->capacity == 0) {
        kernels->search(&run);
        return count;
    }
    if (!collect(query, kernels, &run)) {
        sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to collect %lld hits", (long long)count);
        return -1;
    }
    const size_t fit = (size_t)(count < row->capacity ? count : row->capacity), real = sap_real_bytes(shape);
    if (fit) memcpy(row->ids, run.ids, fit * sizeof *row->ids);
    if (fit && row->distance2) memcpy(row->distance2, run.distance2, fit * real);
    return count;
}
