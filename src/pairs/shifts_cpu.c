// At which image the points of pairs are near one another.
#include "base/team.h"
#include "pairs/by_id.h"
#include "pairs/ops.h"
#include "tree/periods.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 256 }; // rows that are worth a thread

typedef struct shifting {
    const sap_neighbors* pairs;
    sap_by_id points;
    int8_t* shifts;
    int wrong; // an id is none of the tree's
} shifting;

static double coordinate(const sap_by_id* points, int64_t id, int32_t axis) {
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
#define GREATEST(real, whole)                                                                                          \
    static double greatest_##real(const real* distance2, int64_t count) {                                              \
        whole greatest = 0;                                                                                            \
        real result;                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            whole bits;                                                                                                \
            memcpy(&bits, distance2 + i, sizeof bits);                                                                 \
            greatest = bits > greatest ? bits : greatest;                                                              \
        }                                                                                                              \
        memcpy(&result, &greatest, sizeof result);                                                                     \
        return (double)result;                                                                                         \
    }
GREATEST(float, int32_t)
GREATEST(double, int64_t)

// Whether a pair of the row may be near around an axis.
static bool row_reaches_around(const shifting* s, int64_t row) {
    const sap_tree* tree = s->points.tree;
    const size_t bytes = (size_t)tree->shape.dims * sap_real_bytes(&tree->shape);
    const int64_t first = s->pairs->offsets[row], count = s->pairs->offsets[row + 1] - first;
    const double farthest = s->pairs->distance2 ? greatest_float(s->pairs->distance2 + first, count)
                                                : greatest_double(s->pairs->distance2_f64 + first, count);
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
    const sap_status status = sap_by_id_open(tree, &s.points);
    if (status != SAP_OK) return status;
    sap_team_loop(tree->device->options.threads, pairs->count, GRAIN, shift_rows, &s);
    sap_by_id_close(&s.points);
    return s.wrong ? sap_fail(tree->device, SAP_ERROR_ARGUMENT, "pairs: an id is none of the tree's") : SAP_OK;
}
