// The public functions of trees against trees: arguments are checked here, once for all processors.
#include "nearest/ops.h"
#include "pairs/ops.h"
#include "radius/ops.h"
#include "tree/layout.h"
#include "tree/queries.h"

#include <math.h>

// Whether two trees can be searched against one another.
static sap_status check_trees(const sap_tree* a, const sap_tree* b) {
    if (!a) return SAP_ERROR_ARGUMENT;
    const sap_device* device = a->device;
    if (!b) return sap_fail(device, SAP_ERROR_ARGUMENT, "b: is NULL");
    if (b->device->table != device->table)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "b: lies on a %s device, but a on a %s device",
                        b->device->table->name, device->table->name);
    if (b->shape.real_bits != a->shape.real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "b: holds %d-bit points, but a %d-bit ones",
                        (int)b->shape.real_bits, (int)a->shape.real_bits);
    if (b->shape.dims != a->shape.dims)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "b: its points have %d dimensions, but those of a have %d",
                        (int)b->shape.dims, (int)a->shape.dims);
    return SAP_OK;
}

// Whether two trees can be measured by the periods of either.
static sap_status check_periods(const sap_tree* a, const sap_tree* b) {
    for (int32_t axis = 0; axis < a->shape.dims; axis++)
        if (a->options.period[axis] != b->options.period[axis])
            return sap_fail(a->device, SAP_ERROR_ARGUMENT, "b: its period on axis %d is %g, but that of a is %g",
                            (int)axis, b->options.period[axis], a->options.period[axis]);
    return SAP_OK;
}

static sap_status check_collected(const sap_device* device, double radius, sap_neighbors** found) {
    if (!found) return sap_fail(device, SAP_ERROR_ARGUMENT, "found: is NULL");
    if (!(radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "radius: %g is negative or not a number", radius);
    return SAP_OK;
}

sap_status sap_tree_pairs(const sap_tree* a, const sap_tree* b, double radius, sap_neighbors** found) {
    sap_status status = check_trees(a, b);
    if (status == SAP_OK) status = check_periods(a, b);
    if (status == SAP_OK) status = check_collected(a->device, radius, found);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(a->device, pairs, collect)) return sap_unsupported(a->device, "search trees for pairs of points");
    return a->device->rooms.pairs->collect(&(sap_pairs_job){a, b, sap_limit2(b, radius), false, found});
}

sap_status sap_pairs(const sap_tree* tree, double radius, sap_neighbors** found) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    const sap_status status = check_collected(device, radius, found);
    if (status != SAP_OK) return status;
    const double limit2 = sap_limit2(tree, radius);
    // A balanced tree's own boxes, in groups of siblings, are found faster than made anew.
    if (SAP_CAN(device, pairs, collect) && tree->shape.kind == SAP_TREE_EXPLICIT)
        return device->rooms.pairs->collect(&(sap_pairs_job){tree, tree, limit2, true, found});
    if (!SAP_CAN(device, radius, search)) return sap_unsupported(device, "search for the points within a radius");
    const sap_tree_shape* s = &tree->shape;
    return device->rooms.radius->search(
        tree, &(sap_radius_job){.queries = {NULL, s->source_count, s->dims, s->dims, s->real_bits},
                                .limit2 = limit2,
                                .self = true,
                                .found = found});
}

sap_status sap_pairs_shifts(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    if (!pairs) return sap_fail(device, SAP_ERROR_ARGUMENT, "pairs: is NULL");
    if (!SAP_CAN(device, pairs, shifts)) return sap_unsupported(device, "say at which image a point is near");
    if (pairs->count != tree->shape.source_count || pairs->on_device || !(pairs->distance2 || pairs->distance2_f64))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "pairs: these are not rows of the tree's points");
    if (!shifts && pairs->offsets[pairs->count]) return sap_fail(device, SAP_ERROR_ARGUMENT, "shifts: is NULL");
    return device->rooms.pairs->shifts(tree, pairs, shifts);
}

// ---- Counting

static sap_status check_radii(const sap_device* device, const double* radii, int32_t count) {
    if (count < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: %d is negative", (int)count);
    if (!radii && count) return sap_fail(device, SAP_ERROR_ARGUMENT, "radii: is NULL");
    for (int32_t i = 0; i < count; i++) {
        if (!(radii[i] >= 0))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "radii[%d]: %g is negative or not a number", (int)i, radii[i]);
        if (i && radii[i] < radii[i - 1])
            return sap_fail(device, SAP_ERROR_ARGUMENT, "radii[%d]: %g is less than the radius before it; sort them",
                            (int)i, radii[i]);
    }
    return SAP_OK;
}

static sap_status check_weights(const sap_tree* tree, const double* weights, const char* name) {
    for (int64_t i = 0; weights && i < tree->shape.source_count; i++)
        if (!isfinite(weights[i]))
            return sap_fail(tree->device, SAP_ERROR_NOT_FINITE, "%s[%lld]: is %g", name, (long long)i, weights[i]);
    return SAP_OK;
}

// Counts in bins, through the device's table; then, if asked for, adds up the bins.
static sap_status count_bins(sap_pair_counts_job* job, const double* radii, bool cumulative, double* counts) {
    sap_device* device = job->a->device;
    const size_t bins = (size_t)job->bins;
    sap_scratch memory = {NULL, 0};
    if (!sap_scratch_take(device, 2 * bins * sizeof(double) + 1, &memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %d radii", (int)job->bins);
    double* limits2 = (double*)(void*)memory.memory;
    for (size_t i = 0; i < bins; i++) limits2[i] = sap_limit2(job->b, radii[i]);
    job->limits2 = limits2;
    job->sums = limits2 + bins;
    const sap_status status = device->rooms.pairs->count(job);
    double sum = 0;
    for (size_t i = 0; status == SAP_OK && i < bins; i++) {
        sum += job->sums[i];
        counts[i] = cumulative ? sum : job->sums[i];
    }
    sap_scratch_give(device, &memory);
    return status;
}

sap_status sap_tree_count_pairs(const sap_tree* a, const sap_tree* b, const double* radii, int32_t count,
                                const double* weights_a, const double* weights_b, bool cumulative, double* counts) {
    sap_status status = check_trees(a, b);
    if (status == SAP_OK) status = check_periods(a, b);
    if (status == SAP_OK) status = check_radii(a->device, radii, count);
    if (status == SAP_OK) status = check_weights(a, weights_a, "weights_a");
    if (status == SAP_OK) status = check_weights(b, weights_b, "weights_b");
    if (status != SAP_OK) return status;
    if (!counts && count) return sap_fail(a->device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    if (!SAP_CAN(a->device, pairs, count)) return sap_unsupported(a->device, "count the pairs of points of two trees");
    sap_pair_counts_job job = {.a = a, .b = b, .bins = count, .weights_a = weights_a, .weights_b = weights_b};
    return count_bins(&job, radii, cumulative, counts);
}

// ---- Nearest points

static sap_status nearest(const sap_tree* a, const sap_tree* b, int32_t real_bits, const sap_search* search,
                          int32_t* ids, void* distance2) {
    sap_status status = check_trees(a, b);
    if (status == SAP_OK) status = sap_search_check(b, search);
    if (status != SAP_OK) return status;
    if (a->shape.real_bits != real_bits)
        return sap_fail(a->device, SAP_ERROR_ARGUMENT, "a: holds %d-bit points", (int)a->shape.real_bits);
    int64_t answers;
    if (__builtin_mul_overflow(a->shape.source_count, (int64_t)search->k, &answers) || answers > PTRDIFF_MAX / 8)
        return sap_fail(a->device, SAP_ERROR_RANGE, "search.k: the points of a times k overflow");
    if (!ids && answers) return sap_fail(a->device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    if (!SAP_CAN(a->device, pairs, nearest))
        return sap_unsupported(a->device, "search one tree by the points of another");
    return a->device->rooms.pairs->nearest(&(sap_tree_nearest_job){a, b, *search, ids, distance2});
}

sap_status sap_tree_nearest(const sap_tree* a, const sap_tree* b, const sap_search* search, int32_t* ids,
                            float* distance2) {
    return nearest(a, b, 32, search, ids, distance2);
}

sap_status sap_tree_nearest_f64(const sap_tree* a, const sap_tree* b, const sap_search* search, int32_t* ids,
                                double* distance2) {
    return nearest(a, b, 64, search, ids, distance2);
}
