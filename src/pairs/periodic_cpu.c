// Pairs of points of trees with periods. Their points ask one by one: a box of images is no box.
#include "base/team.h"
#include "pairs/ops.h"
#include "radius/ops.h"
#include "tree/leaves.h"
#include "tree/periods.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 256 }; // leaves or rows that are worth a thread

// The points of a tree by their ids, real[source_count][dims]; NaN where the tree has none.
typedef struct by_id {
    const sap_tree* tree;
    unsigned char* coords;
    sap_scratch memory;
} by_id;

static void put_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const by_id* all = context;
    const size_t row = (size_t)all->tree->shape.dims * sap_real_bytes(&all->tree->shape);
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(all->tree, place);
        for (int32_t i = 0; i < leaf.count; i++)
            sap_leaf_point(all->tree, &leaf, i, all->coords + (size_t)leaf.ids[i] * row);
    }
}

static sap_status put_by_id(const sap_tree* tree, by_id* all) {
    const sap_tree_shape* s = &tree->shape;
    const size_t bytes = (size_t)s->source_count * (size_t)s->dims * sap_real_bytes(s);
    *all = (by_id){.tree = tree};
    if (!sap_scratch_take(tree->device, bytes + 1, &all->memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points of a tree in order");
    all->coords = all->memory.memory;
    if (s->count < s->source_count) memset(all->coords, 0xff, bytes); // a NaN of either precision
    if (s->count) sap_team_loop(tree->device->options.threads, sap_leaf_places(tree), GRAIN, put_leaves, all);
    return SAP_OK;
}

sap_status sap_pairs_collect_periodic_cpu(const sap_pairs_job* job) {
    const sap_tree_shape* s = &job->a->shape;
    by_id asking;
    sap_status status = put_by_id(job->a, &asking);
    if (status != SAP_OK) return status;
    const sap_radius_job asked = {.queries = {asking.coords, s->source_count, s->dims, s->dims, s->real_bits},
                                  .limit2 = job->limit2,
                                  .found = job->found};
    status = sap_radius_cpu(job->b, &asked);
    sap_scratch_give(job->a->device, &asking.memory);
    return status;
}

// ---- Shifts

typedef struct shifting {
    const sap_neighbors* pairs;
    by_id points;
    int8_t* shifts;
    int wrong; // an id is none of the tree's
} shifting;

static double coordinate(const by_id* points, int64_t id, int32_t axis) {
    const int64_t at = id * points->tree->shape.dims + axis;
    return points->tree->shape.real_bits == 64 ? ((const double*)(const void*)points->coords)[at]
                                               : (double)((const float*)(const void*)points->coords)[at];
}

// How many periods x moves to be nearest to q along an axis.
static int8_t shift_of(double q, double x, double period, int32_t real_bits) {
    if (!(period > 0)) return 0;
    const bool is_wide = real_bits == 64;
    const double direct = is_wide ? fabs(q - x) : (double)fabsf((float)q - (float)x);
    const double around = is_wide ? period - direct : (double)((float)period - (float)direct);
    return (int8_t)(!(around < direct) ? 0 : x < q ? 1 : -1);
}

// The greatest of some squared distances, whose bits, as they are not negative, are in the order of whole numbers: these
// a compiler compares in vectors.
static double greatest_f32(const float* distance2, int64_t count) {
    int32_t greatest = 0;
    float result;
    for (int64_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, distance2 + i, sizeof bits);
        greatest = bits > greatest ? bits : greatest;
    }
    memcpy(&result, &greatest, sizeof result);
    return (double)result;
}

static double greatest_f64(const double* distance2, int64_t count) {
    int64_t greatest = 0;
    double result;
    for (int64_t i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, distance2 + i, sizeof bits);
        greatest = bits > greatest ? bits : greatest;
    }
    memcpy(&result, &greatest, sizeof result);
    return result;
}

// Whether a pair of the row may be near around an axis.
static bool row_reaches_around(const shifting* s, int64_t row) {
    const sap_tree* tree = s->points.tree;
    const size_t bytes = (size_t)tree->shape.dims * sap_real_bytes(&tree->shape);
    const int64_t first = s->pairs->offsets[row], count = s->pairs->offsets[row + 1] - first;
    const double farthest = s->pairs->distance2 ? greatest_f32(s->pairs->distance2 + first, count)
                                                : greatest_f64(s->pairs->distance2_f64 + first, count);
    return sap_reaches_around(tree, SAP_METRIC_L2, s->points.coords + (size_t)row * bytes, farthest);
}

static void shift_row(shifting* s, int64_t row) {
    const sap_tree* tree = s->points.tree;
    const int32_t dims = tree->shape.dims;
    const int64_t first = s->pairs->offsets[row], end = s->pairs->offsets[row + 1];
    if (!row_reaches_around(s, row)) {
        memset(s->shifts + first * dims, 0, (size_t)((end - first) * dims));
        return;
    }
    for (int64_t at = first; at < end; at++) {
        const int32_t id = s->pairs->ids[at];
        if (id < 0 || id >= tree->shape.source_count) {
            __atomic_store_n(&s->wrong, 1, __ATOMIC_RELAXED);
            return;
        }
        __builtin_prefetch(s->points.coords + (size_t)id * (size_t)dims * sap_real_bytes(&tree->shape));
    }
    for (int64_t at = first; at < end; at++) {
        const int32_t id = s->pairs->ids[at];
        for (int32_t a = 0; a < dims; a++)
            s->shifts[at * dims + a] = shift_of(coordinate(&s->points, row, a), coordinate(&s->points, id, a),
                                                tree->options.period[a], tree->shape.real_bits);
    }
}

static void shift_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    shifting* s = context;
    (void)worker;
    for (int64_t row = from; row < to; row++)
        if (s->pairs->offsets[row] < s->pairs->offsets[row + 1]) shift_row(s, row);
}

sap_status sap_pairs_shifts_cpu(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts) {
    shifting s = {.pairs = pairs, .shifts = shifts};
    const sap_status status = put_by_id(tree, &s.points);
    if (status != SAP_OK) return status;
    sap_team_loop(tree->device->options.threads, pairs->count, GRAIN, shift_rows, &s);
    sap_scratch_give(tree->device, &s.points.memory);
    return s.wrong ? sap_fail(tree->device, SAP_ERROR_ARGUMENT, "pairs: an id is none of the tree's") : SAP_OK;
}
