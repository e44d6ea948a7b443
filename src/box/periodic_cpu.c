// Boxes about trees with periods. On a periodic axis a box from `lower` to `upper` holds what has an image between them:
// after wrapping, one interval of the period or what lies outside of one.
#include "base/assert.h"
#include "base/team.h"
#include "box/box.h"
#include "box/wrap.h"
#include "device/cpu.h"
#include "tree/periods.h"
#include <math.h>
#include <string.h>

enum { GRAIN = 4096 }; // boxes that are worth a thread

// The corners of a box, in the tree's precision.
typedef struct corners {
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} corners;

static double real_at(const sap_rows* rows, int64_t row, int32_t axis) {
    const int64_t at = row * rows->stride + axis;
    return rows->real_bits == 64 ? ((const double*)rows->coords)[at] : (double)((const float*)rows->coords)[at];
}

static void wrap_box(const sap_tree* tree, corners* box) {
    const sap_tree_shape* s = &tree->shape;
    bool is_box = true;
    for (int32_t a = 0; a < s->dims; a++)
        is_box &=
            box->lower[a] <= box->upper[a] && box->lower[a] < (double)INFINITY && box->upper[a] > -(double)INFINITY;
    for (int32_t a = 0; a < s->dims; a++) {
        const double period = tree->options.period[a];
        if (!is_box) box->lower[a] = box->upper[a] = (double)NAN;
        if (is_box && period > 0) sap_box_wrap_interval(&box->lower[a], &box->upper[a], period, s->real_bits);
    }
}

typedef struct wrapping {
    const sap_tree* tree;
    const sap_rows *lower, *upper;
    unsigned char *to_lower, *to_upper;
} wrapping;

static void put(unsigned char* to, int64_t at, double value, int32_t real_bits) {
    if (real_bits == 64)
        ((double*)(void*)to)[at] = value;
    else
        ((float*)(void*)to)[at] = (float)value;
}

static void wrap_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const wrapping* w = context;
    const int32_t dims = w->tree->shape.dims, real_bits = w->tree->shape.real_bits;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        corners box;
        for (int32_t a = 0; a < dims; a++) {
            box.lower[a] = real_at(w->lower, i, a);
            box.upper[a] = real_at(w->upper, i, a);
        }
        wrap_box(w->tree, &box);
        for (int32_t a = 0; a < dims; a++) {
            put(w->to_lower, i * dims + a, box.lower[a], real_bits);
            put(w->to_upper, i * dims + a, box.upper[a], real_bits);
        }
    }
}

sap_status sap_box_corners_make(const sap_tree* tree, const sap_rows* lower, const sap_rows* upper,
                                sap_box_corners* made) {
    sap_device* device = tree->device;
    const size_t bytes = sap_align((size_t)lower->count * (size_t)lower->dims * sap_real_bytes(&tree->shape));
    wrapping w = {tree, lower, upper, (unsigned char*)made->one, (unsigned char*)(made->one + SAP_MAX_DIMS)};
    made->scratch = (sap_scratch){NULL, 0};
    if (lower->count > 1) {
        if (!sap_scratch_take(device, 2 * bytes, &made->scratch))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory to wrap %lld boxes", (long long)lower->count);
        w.to_lower = made->scratch.memory;
        w.to_upper = made->scratch.memory + bytes;
    }
    sap_team_loop(device->options.threads, lower->count, GRAIN, wrap_range, &w);
    made->lower = (sap_rows){w.to_lower, lower->count, lower->dims, lower->dims, lower->real_bits};
    made->upper = (sap_rows){w.to_upper, lower->count, lower->dims, lower->dims, lower->real_bits};
    return SAP_OK;
}

static bool leads_around(const sap_box_run* run, int64_t box) {
    const int64_t row = run->hits.rows ? run->hits.rows[box] : run->hits.first_row + box;
    const sap_tree_shape* s = &run->tree->shape;
    const sap_rows lower = {run->lower, 0, run->lower_stride, s->dims, s->real_bits};
    const sap_rows upper = {run->upper, 0, run->upper_stride, s->dims, s->real_bits};
    for (int32_t a = 0; a < s->dims; a++)
        if (real_at(&lower, box, a) > real_at(&upper, row, a)) return true;
    return false;
}

void sap_box_search_periodic(sap_hits_run* hits) {
    const sap_box_run* run = (const sap_box_run*)(const void*)hits;
    const sap_tree* tree = run->tree;
    const int64_t count = hits->count;
    SAP_ASSERT(tree->shape.kind == SAP_TREE_BALANCED);
    while (hits->done < count) {
        const bool around = leads_around(run, hits->done);
        int64_t end = hits->done + 1;
        while (end < count && leads_around(run, end) == around) end++;
        hits->count = end;
        if (around)
            sap_box_walk_cpu(hits);
        else
            sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->box->search(hits);
        if (hits->done < end) break; // there is no more room
    }
    hits->count = count;
}
