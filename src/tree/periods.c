#include "tree/periods.h"
#include "base/team.h"
#include "tree/wrap.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 4096 }; // rows that are worth a thread

static double rounded(double value, int32_t real_bits) { return real_bits == 64 ? value : (double)(float)value; }

const char* sap_periods_wrong(const sap_tree_options* options, int32_t dims, int32_t real_bits) {
    const double most = sap_largest_coordinate(real_bits, dims);
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++) {
        const double period = options->period[a];
        if (!(period >= 0 && period <= most)) return "a period is out of range";
        if (period != rounded(period, real_bits)) return "a period is not of the tree's precision";
        if (period != 0 && a >= dims) return "an axis that the points lack has a period";
    }
    return NULL;
}

sap_status sap_periods_read(const sap_device* device, const sap_tree_options* given, const sap_rows* points,
                            sap_tree_options* options) {
    const double most = sap_largest_coordinate(points->real_bits, points->dims);
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++) {
        const double period = given->period[a];
        if (period == 0) continue;
        if (a >= points->dims)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.period: axis %d has one, but the points have %d axes",
                            (int)a, (int)points->dims);
        if (!(period > 0 && period <= most))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.period: %g of axis %d is not in 0…%.3g", period,
                            (int)a, most);
        options->period[a] = rounded(period, points->real_bits);
        if (options->period[a] == 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.period: %g of axis %d is 0 in a float", period,
                            (int)a);
    }
    return sap_periods_take(device, options);
}

sap_status sap_periods_take(const sap_device* device, const sap_tree_options* options) {
    if (!sap_is_periodic(options) || device->rooms.tree->is_periodic) return SAP_OK;
    return sap_unsupported(device, "hold trees with periods");
}

sap_status sap_periods_refuse(const sap_tree* tree, const char* what) {
    if (!sap_is_periodic(&tree->options)) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_UNSUPPORTED, "tree: trees with periods cannot %s", what);
}

static void wrap_row(const sap_tree_options* options, int32_t dims, int32_t real_bits, const void* from, void* to) {
    for (int32_t a = 0; a < dims; a++) {
        const double period = options->period[a];
        const double x = real_bits == 64 ? ((const double*)from)[a] : (double)((const float*)from)[a];
        const double wrapped = period > 0 ? sap_period_wrap(x, period, real_bits) : x;
        if (real_bits == 64)
            ((double*)to)[a] = wrapped;
        else
            ((float*)to)[a] = (float)wrapped;
    }
}

void sap_periods_wrap(const sap_tree* tree, const void* point, void* wrapped) {
    wrap_row(&tree->options, tree->shape.dims, tree->shape.real_bits, point, wrapped);
}

// The least that `period - |q - x|` can be along an axis for any point x within the period: rounding is monotone, and x
// lies between 0 and the period.
static double least_around(double q, double period, int32_t real_bits) {
    if (real_bits == 64) {
        const double up = period - q, down = period - up;
        return up < down ? up : down;
    }
    const float up = (float)period - (float)q, down = (float)period - up;
    return (double)(up < down ? up : down);
}

// A distance is no less than any of its terms.
bool sap_reaches_around(const sap_tree* tree, sap_metric metric, const void* query, double limit) {
    const int32_t real_bits = tree->shape.real_bits;
    double least = INFINITY;
    for (int32_t a = 0; a < tree->shape.dims; a++) {
        const double period = tree->options.period[a];
        const double q = real_bits == 64 ? ((const double*)query)[a] : (double)((const float*)query)[a];
        const double around = period > 0 ? least_around(q, period, real_bits) : (double)INFINITY;
        if (around < least) least = around;
    }
    if (metric == SAP_METRIC_L2) least = rounded(least * least, real_bits);
    return least <= limit;
}

typedef struct wrapping {
    const sap_tree_options* options;
    const sap_rows* rows;
    unsigned char* to;
    int outside; // a row lies outside the periods
} wrapping;

static const void* row_at(const sap_rows* rows, int64_t row) {
    return (const unsigned char*)rows->coords + (size_t)(row * rows->stride) * (size_t)rows->real_bits / 8;
}

static bool is_within(const wrapping* w, const void* row) {
    bool within = true;
    for (int32_t a = 0; a < w->rows->dims; a++) {
        const double period = w->options->period[a];
        const double x = w->rows->real_bits == 64 ? ((const double*)row)[a] : (double)((const float*)row)[a];
        within &= period == 0 || (x >= 0 && x < period);
    }
    return within;
}

static void look_at_range(void* context, int64_t from, int64_t to, int32_t worker) {
    wrapping* w = context;
    (void)worker;
    for (int64_t i = from; i < to && !__atomic_load_n(&w->outside, __ATOMIC_RELAXED); i++)
        if (!is_within(w, row_at(w->rows, i))) __atomic_store_n(&w->outside, 1, __ATOMIC_RELAXED);
}

static void wrap_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const wrapping* w = context;
    const size_t row_bytes = (size_t)w->rows->dims * (size_t)w->rows->real_bits / 8;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        wrap_row(w->options, w->rows->dims, w->rows->real_bits, row_at(w->rows, i), w->to + (size_t)i * row_bytes);
}

sap_status sap_wrapped_open(const sap_tree* tree, const sap_rows* rows, sap_wrapped* wrapped) {
    sap_device* device = tree->device;
    wrapping w = {.options = &tree->options, .rows = rows};
    wrapped->rows = *rows;
    wrapped->scratch = (sap_scratch){NULL, 0};
    if (!sap_is_periodic(&tree->options) || !rows->coords) return SAP_OK;
    sap_team_loop(device->options.threads, rows->count, GRAIN, look_at_range, &w);
    if (!w.outside) return SAP_OK;
    w.to = (unsigned char*)wrapped->one;
    if (rows->count > 1) {
        const size_t bytes = (size_t)rows->count * (size_t)rows->dims * (size_t)rows->real_bits / 8;
        if (!sap_scratch_take(device, bytes, &wrapped->scratch))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory to wrap %lld points", (long long)rows->count);
        w.to = wrapped->scratch.memory;
    }
    sap_team_loop(device->options.threads, rows->count, GRAIN, wrap_range, &w);
    wrapped->rows.coords = w.to;
    wrapped->rows.stride = rows->dims;
    return SAP_OK;
}
