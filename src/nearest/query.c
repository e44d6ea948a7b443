// The public functions for one query a call: arguments are checked when a search is opened.
#include "nearest/query.h"
#include "nearest/ops.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>

sap_status sap_query_open(const sap_tree* tree, const sap_search* search, sap_query** query) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = tree->device;
    if (!query) return sap_fail(device, SAP_ERROR_ARGUMENT, "query: is NULL");
    sap_status status = sap_search_check(tree, search);
    if (status != SAP_OK) return status;
    if (search->without_ids)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.without_ids: is for sap_nearest, not for one query a call");
    status = sap_told_refuse(tree, search, "one query a call");
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, nearest, prepare)) return sap_unsupported(device, "search for one query a call");
    sap_query* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a prepared search");
    made->tree = tree;
    made->search = *search;
    made->limit2 = sap_limit2(tree, search->radius > 0 ? search->radius : (double)INFINITY);
    status = device->rooms.nearest->prepare(made);
    if (status == SAP_OK)
        *query = made;
    else
        sap_query_close(made);
    return status;
}

void sap_query_close(sap_query* query) {
    if (!query) return;
    const sap_device* device = query->tree->device;
    sap_memory_release(device, query->keys, query->keys_bytes);
    sap_memory_release(device, query->hits, query->hits_bytes);
    sap_next_free(device, &query->next);
    sap_memory_release(device, query, sizeof *query);
}

// Says what is wrong with a call, or makes the search ready for a tree that was rebuilt. False: it cannot be answered.
__attribute__((noinline, cold)) static bool recover(sap_query* query, const void* point, const int32_t* ids,
                                                    int32_t real_bits) {
    const sap_device* device = query->tree->device;
    const char* missing = !point ? "point: is NULL" : !ids ? "ids: is NULL" : NULL;
    if (missing) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s", missing) == SAP_OK;
    if (real_bits != query->tree->shape.real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "point: the tree holds %d-bit points",
                        (int)query->tree->shape.real_bits) == SAP_OK;
    return device->rooms.nearest->prepare(query) == SAP_OK;
}

static inline int32_t nearest(sap_query* query, const void* point, int32_t* ids, void* distance2, int32_t real_bits) {
    if (!query) return -1;
    const sap_tree* tree = query->tree;
    if (__builtin_expect(!point || !ids || tree->shape.real_bits != real_bits || tree->arrays != query->arrays ||
                             tree->shape.count != query->count,
                         0) &&
        !recover(query, point, ids, real_bits))
        return -1;
    return query->answer(query, point, ids, distance2);
}

int32_t sap_query_nearest(sap_query* query, const float* point, int32_t* ids, float* distance2) {
    return nearest(query, point, ids, distance2, 32);
}

int32_t sap_query_nearest_f64(sap_query* query, const double* point, int32_t* ids, double* distance2) {
    return nearest(query, point, ids, distance2, 64);
}

static int64_t refuse(const sap_query* query, const char* sentence) {
    sap_fail(query->tree->device, SAP_ERROR_ARGUMENT, "%s", sentence);
    return -1;
}

static int64_t within(sap_query* query, const void* point, double radius, const sap_radius_rows* row,
                      int32_t real_bits) {
    if (!query) return -1;
    const sap_tree* tree = query->tree;
    if (!point) return refuse(query, "point: is NULL");
    if (real_bits != tree->shape.real_bits)
        return refuse(query,
                      real_bits == 32 ? "point: the tree holds 64-bit points" : "point: the tree holds 32-bit points");
    if (!(radius >= 0)) return refuse(query, "radius: is negative or not a number");
    if (row->capacity < 0) return refuse(query, "capacity: is negative");
    if (!row->ids && row->capacity) return refuse(query, "ids: is NULL");
    if (radius != query->radius) {
        query->radius = radius;
        query->radius2 = sap_limit2(tree, radius);
    }
    return query->within(query, point, query->radius2, row);
}

int64_t sap_query_within(sap_query* query, const float* point, double radius, int64_t capacity, int32_t* ids,
                         float* distance2) {
    return within(query, point, radius, &(sap_radius_rows){NULL, capacity, ids, distance2}, 32);
}

int64_t sap_query_within_f64(sap_query* query, const double* point, double radius, int64_t capacity, int32_t* ids,
                             double* distance2) {
    return within(query, point, radius, &(sap_radius_rows){NULL, capacity, ids, distance2}, 64);
}

// ---- Point by point

static sap_status begin(sap_query* query, const void* point, bool farthest, int32_t real_bits) {
    if (!query) return SAP_ERROR_ARGUMENT;
    const sap_tree* tree = query->tree;
    const sap_device* device = tree->device;
    sap_next* next = &query->next;
    if (!point) return sap_fail(device, SAP_ERROR_ARGUMENT, "point: is NULL");
    if (real_bits != tree->shape.real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "point: the tree holds %d-bit points", (int)tree->shape.real_bits);
    const sap_status status = sap_periods_refuse(tree, "be gone through point by point");
    if (status != SAP_OK) return status;
    for (int32_t a = 0; a < tree->shape.dims; a++)
        next->place[a] = real_bits == 64 ? ((const double*)point)[a] : (double)((const float*)point)[a];
    next->limit2 = query->limit2;
    next->farthest = farthest;
    next->count = tree->shape.count;
    next->arrays = NULL;
    if (!sap_next_choose(&tree->shape).begin(tree, next))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to go through the points");
    next->arrays = tree->arrays;
    return SAP_OK;
}

sap_status sap_query_begin(sap_query* query, const float* point, bool farthest) {
    return begin(query, point, farthest, 32);
}

sap_status sap_query_begin_f64(sap_query* query, const double* point, bool farthest) {
    return begin(query, point, farthest, 64);
}

static int32_t take(sap_query* query, int32_t* id, void* distance2, int32_t real_bits) {
    if (!query) return -1;
    const sap_tree* tree = query->tree;
    sap_next* next = &query->next;
    if (!id) return (int32_t)refuse(query, "id: is NULL");
    if (!next->arrays || next->arrays != tree->arrays || next->count != tree->shape.count)
        return (int32_t)refuse(query, "query: has not begun at a place since the tree was built");
    if (real_bits != tree->shape.real_bits)
        return (int32_t)refuse(query, real_bits == 32 ? "distance2: the tree holds 64-bit points"
                                                      : "distance2: the tree holds 32-bit points");
    const int32_t taken = sap_next_choose(&tree->shape).take(tree, next, id, distance2);
    if (taken >= 0) return taken;
    next->arrays = NULL; // what was to come is not known any more
    sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to go through the points");
    return -1;
}

int32_t sap_query_next(sap_query* query, int32_t* id, float* distance2) { return take(query, id, distance2, 32); }

int32_t sap_query_next_f64(sap_query* query, int32_t* id, double* distance2) { return take(query, id, distance2, 64); }
