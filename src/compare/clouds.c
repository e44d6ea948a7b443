// Distances from points to clouds, and of two clouds from each other.
#include "base/assert.h"
#include "compare/distance.h"
#include "tree/layout.h"
#include "tree/queries.h"
#include <math.h>

enum { SLAB = 1 << 21 }; // points that are searched for at a time

// Room for distances where the caller gave none, and for the squares of floats.
typedef struct room {
    double* distances;
    float* squares;
    sap_scratch memory;
} room;

static sap_status take_room(sap_device* device, int64_t count, int64_t slab, double* given, room* r) {
    const size_t own = given ? 0 : sap_align((size_t)count * sizeof(double));
    *r = (room){.distances = given};
    if (!sap_scratch_take(device, own + (size_t)slab * sizeof(float) + 1, &r->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld distances", (long long)count);
    if (!given) r->distances = (double*)(void*)r->memory.memory;
    r->squares = (float*)(void*)(r->memory.memory + own);
    return SAP_OK;
}

// Searches spare what lies beyond the radius. Whether a distance is within it is seen by its root, so they go a little
// farther than that.
static sap_search search_of(const sap_distance_options* o) {
    const double wider = o->radius * (1 + 0x1p-20);
    return (sap_search){.k = 1, .radius = isfinite(wider) && wider > 0 ? wider : 0};
}

static sap_status measure_f32(const sap_tree* to, sap_points from, const sap_search* search, room* r) {
    sap_points part = from;
    sap_status status = SAP_OK;
    const bool is_many = from.count > SLAB;
    if (is_many) sap_progress_mute(true);
    for (int64_t first = 0; status == SAP_OK && first < from.count; first += SLAB) {
        const int64_t left = from.count - first;
        part.count = left < SLAB ? left : SLAB;
        part.coords = from.coords + first * (from.stride ? from.stride : from.dims);
        status = sap_nearest(to, part, search, NULL, r->squares);
        for (int64_t i = 0; status == SAP_OK && i < part.count; i++)
            r->distances[first + i] = sqrt((double)r->squares[i]);
        if (status == SAP_OK && is_many) status = sap_distance_tell(to->device, first + part.count, from.count);
    }
    if (is_many) sap_progress_mute(false);
    return status;
}

static void take_roots(double* squares, int64_t count) {
    for (int64_t i = 0; i < count; i++) squares[i] = sqrt(squares[i]);
}

static sap_status measure(const sap_tree* to, const sap_rows* from, const sap_distance_options* options,
                          double* distances, sap_distance_info* info) {
    sap_distance_options o;
    sap_distance_info found;
    room r;
    if (!to) return SAP_ERROR_ARGUMENT;
    sap_status status = sap_queries_check(to, from);
    if (status == SAP_OK) status = sap_distance_check_points(to->device, options, &o);
    if (status != SAP_OK) return status;
    const sap_search search = search_of(&o);
    const int64_t slab = from->real_bits == 64 ? 0 : from->count < SLAB ? from->count : SLAB;
    status = take_room(to->device, from->count, slab, distances, &r);
    if (status != SAP_OK) return status;
    if (from->real_bits == 32) {
        status = measure_f32(to, (sap_points){from->coords, from->count, from->dims, from->stride}, &search, &r);
    } else if (from->count) {
        const sap_points_f64 points = {from->coords, from->count, from->dims, from->stride};
        status = sap_nearest_f64(to, points, &search, NULL, r.distances);
        if (status == SAP_OK) take_roots(r.distances, from->count);
    }
    if (status == SAP_OK) sap_distance_sum_up(&o, r.distances, from->count, &found);
    if (status == SAP_OK && info) *info = found;
    sap_scratch_give(to->device, &r.memory);
    return status;
}

sap_status sap_cloud_distance(const sap_tree* to, sap_points from, const sap_distance_options* options,
                              double* distances, sap_distance_info* info) {
    const sap_rows rows = sap_rows_f32(from);
    return measure(to, &rows, options, distances, info);
}

sap_status sap_cloud_distance_f64(const sap_tree* to, sap_points_f64 from, const sap_distance_options* options,
                                  double* distances, sap_distance_info* info) {
    const sap_rows rows = sap_rows_f64(from);
    return measure(to, &rows, options, distances, info);
}

// ---- Two clouds

static sap_status measure_tree(const sap_tree* from, const sap_tree* to, const sap_distance_options* o,
                               double* distances, sap_distance_info* info) {
    const sap_search search = search_of(o);
    const int64_t count = from->shape.source_count;
    const size_t ids = sap_align((size_t)count * sizeof(int32_t));
    sap_scratch memory;
    room r;
    if (!sap_scratch_take(from->device, ids + 1, &memory))
        return sap_fail(from->device, SAP_ERROR_MEMORY, "no memory for the ids of %lld points", (long long)count);
    int32_t* near = (int32_t*)(void*)memory.memory;
    sap_status status = take_room(from->device, count, from->shape.real_bits == 64 ? 0 : count, distances, &r);
    if (status != SAP_OK) {
        sap_scratch_give(from->device, &memory);
        return status;
    }
    if (from->shape.real_bits == 64) {
        status = sap_tree_nearest_f64(from, to, &search, near, r.distances);
        if (status == SAP_OK) take_roots(r.distances, count);
    } else {
        status = sap_tree_nearest(from, to, &search, near, r.squares);
        for (int64_t i = 0; status == SAP_OK && i < count; i++) r.distances[i] = sqrt((double)r.squares[i]);
    }
    if (status == SAP_OK) sap_distance_sum_up(o, r.distances, count, info);
    sap_scratch_give(from->device, &r.memory);
    sap_scratch_give(from->device, &memory);
    return status;
}

sap_status sap_cloud_compare(const sap_tree* a, const sap_tree* b, const sap_distance_options* options, double* forth,
                             double* back, sap_comparison* comparison) {
    sap_distance_options o;
    sap_comparison c = {0};
    if (!a) return SAP_ERROR_ARGUMENT;
    if (!b) return sap_fail(a->device, SAP_ERROR_ARGUMENT, "b: is NULL");
    if (!comparison) return sap_fail(a->device, SAP_ERROR_ARGUMENT, "comparison: is NULL");
    sap_status status = sap_distance_check_points(a->device, options, &o);
    if (status != SAP_OK) return status;
    sap_progress_mute(true);
    status = measure_tree(a, b, &o, forth, &c.forth);
    if (status == SAP_OK) status = sap_distance_tell(a->device, 1, 2);
    if (status == SAP_OK) status = measure_tree(b, a, &o, back, &c.back);
    if (status == SAP_OK) status = sap_distance_tell(a->device, 2, 2);
    sap_progress_mute(false);
    if (status != SAP_OK) return status;
    c.hausdorff = c.forth.greatest > c.back.greatest ? c.forth.greatest : c.back.greatest;
    c.quantile = c.forth.quantile > c.back.quantile ? c.forth.quantile : c.back.quantile;
    c.chamfer = c.forth.mean + c.back.mean;
    c.chamfer_square = c.forth.mean_square + c.back.mean_square;
    *comparison = c;
    return SAP_OK;
}
