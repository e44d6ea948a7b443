#include "tree/told.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <float.h>
#include <math.h>

enum { MOST_POWER = 1000 }; // as many factors for each axis and point

const sap_told sap_told_nothing = {.metric = SAP_METRIC_L2, .power = 2, .widen = 1};

static double real_max(const sap_tree* tree) { return tree->shape.real_bits == 64 ? DBL_MAX : (double)FLT_MAX; }

static sap_status read_metric(const sap_device* device, const sap_search* search, sap_told* told) {
    static const int32_t powers[] = {2, 1, 1};
    if ((int)search->metric < SAP_METRIC_L2 || search->metric > SAP_METRIC_LP)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.metric: unknown metric %d", (int)search->metric);
    told->metric = search->metric;
    if (search->metric != SAP_METRIC_LP) {
        if (search->p != 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "search.p: is for SAP_METRIC_LP and must be 0 for others");
        told->power = powers[search->metric];
        return SAP_OK;
    }
    if (!(search->p >= 1))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.p: %g is below 1 or not a number", search->p);
    if (isinf(search->p)) told->metric = SAP_METRIC_LINF;
    if (search->p == 1) told->metric = SAP_METRIC_L1;
    if (search->p == 2) told->metric = SAP_METRIC_L2;
    if (told->metric != SAP_METRIC_LP) {
        told->power = powers[told->metric];
        return SAP_OK;
    }
    if (search->p > MOST_POWER)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "search.p: %g is neither infinite nor at most %d", search->p,
                        MOST_POWER);
    told->power = (int32_t)search->p;
    told->roots = (uint64_t)ldexp(search->p - told->power, 64); // exact: 52 digits behind the point at most
    return SAP_OK;
}

static sap_status read_weights(const sap_tree* tree, const sap_search* search, sap_told* told) {
    told->weights = search->weights;
    for (int32_t a = 0; told->weights && a < tree->shape.dims; a++)
        if (!(told->weights[a] >= 0 && told->weights[a] <= real_max(tree)))
            return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "search.weights: %g of axis %d is not in 0…%g",
                            told->weights[a], (int)a, real_max(tree));
    return SAP_OK;
}

// Whether a search says anything that calls of old did not know.
static bool says_anything(const sap_search* search) {
    return search->metric != SAP_METRIC_L2 || search->p != 0 || search->weights || search->radii || search->ks ||
           search->keep || search->eps != 0;
}

sap_status sap_told_read(const sap_tree* tree, const sap_search* search, sap_told* told, bool* is_told) {
    const sap_device* device = tree->device;
    *told = (sap_told){.keep = search->keep, .radii = search->radii, .ks = search->ks, .widen = 1};
    *is_told = says_anything(search);
    if (!*is_told) return SAP_OK;
    sap_status status = read_metric(device, search, told);
    if (status == SAP_OK) status = read_weights(tree, search, told);
    if (status != SAP_OK) return status;
    if (search->radii && search->radius != 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "search.radius: must be 0 where search.radii has one for each query");
    if (!(search->eps >= 0) || isinf(search->eps))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.eps: %g is negative or not finite", search->eps);
    if (search->eps > 0) told->widen = fmin(sap_raised(1 + search->eps, told->power, told->roots), real_max(tree));
    *is_told =
        told->metric != SAP_METRIC_L2 || told->weights || told->keep || told->radii || told->ks || told->widen > 1;
    return SAP_OK;
}

sap_status sap_told_refuse(const sap_tree* tree, const sap_search* search, const char* call) {
    const char* field = search->metric != SAP_METRIC_L2 ? "metric"
                        : search->p != 0                ? "p"
                        : search->weights               ? "weights"
                        : search->radii                 ? "radii"
                        : search->ks                    ? "ks"
                        : search->keep                  ? "keep"
                        : search->eps != 0              ? "eps"
                                                        : NULL;
    if (!field) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "search.%s: is not for %s", field, call);
}

double sap_told_limit(const sap_tree* tree, const sap_told* told, double radius) {
    if (told->metric == SAP_METRIC_L2) return sap_limit2(tree, radius);
    return sap_limit_of(radius, told->power, told->roots, tree->shape.real_bits);
}

double sap_told_limit_of(const sap_tree* tree, const sap_told* told, double limit, int64_t query) {
    if (!told->radii) return limit;
    const double radius = told->radii[query];
    return radius >= 0 ? sap_told_limit(tree, told, radius) : -1;
}
