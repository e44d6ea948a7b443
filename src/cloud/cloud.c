// The public functions of clouds: arguments are checked here, once for all processors.
#include "cloud/given.h"
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>

// ---- Which way normals point

static sap_status check_finite(const sap_device* device, const double* values, int64_t count, const char* name) {
    if (!values && count) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%s: is NULL", name);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return sap_fail(device, SAP_ERROR_NOT_FINITE, "options.%s[%lld]: is %g", name, (long long)i, values[i]);
    return SAP_OK;
}

// The same for `width` numbers of each point.
static sap_status check_finite_rows(const sap_tree* tree, const double* values, int64_t width, const char* name) {
    const sap_device* device = tree->device;
    int64_t bad;
    if (!values && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%s: is NULL", name);
    const sap_status status = sap_given_check(tree, values, width, sap_given_not_finite_f64, &bad);
    if (status != SAP_OK || bad < 0 || !values) return status;
    return sap_fail(device, SAP_ERROR_NOT_FINITE, "options.%s[%lld]: is %g", name, (long long)bad, values[bad]);
}

static sap_status check_path(const sap_tree* tree, const sap_normals_options* o) {
    const sap_device* device = tree->device;
    if (o->view_count < 1 || o->view_count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.view_count: %lld views; at least 1 and at most 2^31-1",
                        (long long)o->view_count);
    sap_status status = check_finite(device, o->views, 3 * o->view_count, "views");
    if (status == SAP_OK) status = check_finite(device, o->view_times, o->view_count, "view_times");
    if (status == SAP_OK) status = check_finite_rows(tree, o->point_times, 1, "point_times");
    for (int64_t i = 1; status == SAP_OK && i < o->view_count; i++)
        if (o->view_times[i] < o->view_times[i - 1])
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.view_times[%lld]: %g is before the time before it, %g",
                            (long long)i, o->view_times[i], o->view_times[i - 1]);
    return status;
}

static sap_status check_orient(const sap_tree* tree, sap_normals_options* o) {
    const sap_device* device = tree->device;
    if (o->graph_k < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.graph_k: %d is negative", (int)o->graph_k);
    if (o->graph_k == 0) o->graph_k = 10;
    switch (o->orient) {
    case SAP_ORIENT_NONE:
    case SAP_ORIENT_CONSISTENT: return SAP_OK;
    case SAP_ORIENT_VIEW: return check_finite(device, o->view, 3, "view");
    case SAP_ORIENT_VIEWS: return check_finite_rows(tree, o->views, 3, "views");
    case SAP_ORIENT_PATH: return check_path(tree, o);
    default: return sap_fail(device, SAP_ERROR_ARGUMENT, "options.orient: unknown way %d", (int)o->orient);
    }
}

// ---- Axes

// Fills in the options of a call that may be given NULL, and checks what all calls need. Trees of two dimensions and of
// more than three have no normals in this sense.
static sap_status take_options(const sap_tree* tree, const sap_normals_options* given, sap_normals_options* o) {
    const sap_device* device = tree->device;
    *o = given ? *given : (sap_normals_options){0};
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (tree->shape.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "tree: its points have %d dimensions, but normals are those of 3",
                        (int)tree->shape.dims);
    if (sap_is_periodic(&tree->options))
        return sap_fail(device, SAP_ERROR_UNSUPPORTED, "tree: normals of a tree with periods are not known");
    return SAP_OK;
}

static int64_t find_bad_weight(const void* values, int64_t from, int64_t count) {
    const float* weights = values;
    while (from < count && isfinite(weights[from]) && weights[from] >= 0) from++;
    return from;
}

static sap_status check_weights(const sap_tree* tree, const float* weights) {
    int64_t bad;
    const sap_status status = sap_given_check(tree, weights, 1, find_bad_weight, &bad);
    if (status != SAP_OK || bad < 0) return status;
    const bool is_negative = isfinite(weights[bad]);
    return sap_fail(tree->device, is_negative ? SAP_ERROR_ARGUMENT : SAP_ERROR_NOT_FINITE,
                    is_negative ? "options.weights[%lld]: %g is negative" : "options.weights[%lld]: is %g",
                    (long long)bad, (double)weights[bad]);
}

sap_status sap_cloud_check_neighbors(const sap_tree* tree, sap_neighborhoods* n) {
    const sap_device* device = tree->device;
    if (n->k < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.k: %d is negative", (int)n->k);
    if (!(n->radius >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not a number", n->radius);
    if (n->falloff != SAP_FALLOFF_NONE && n->falloff != SAP_FALLOFF_BIWEIGHT)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.falloff: unknown falloff %d", (int)n->falloff);
    if (n->falloff != SAP_FALLOFF_NONE && !(n->radius > 0 && isfinite(n->radius)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.falloff: needs a finite options.radius");
    const sap_status status = n->weights ? check_weights(tree, n->weights) : SAP_OK;
    if (status != SAP_OK) return status;
    if (n->k == 0 && n->radius == 0) n->k = 16;
    n->limit2 = sap_limit2(tree, n->radius > 0 ? n->radius : (double)INFINITY);
    return SAP_OK;
}

static sap_status find_shapes(const sap_tree* tree, const sap_normals_options* options, const sap_cloud_axes* axes) {
    sap_axes_job job = {.tree = tree, .out = *axes};
    sap_status status = take_options(tree, options, &job.options);
    const sap_normals_options* o = &job.options;
    job.near = (sap_neighborhoods){o->k, o->radius, o->falloff, o->weights, 0};
    if (status == SAP_OK) status = sap_cloud_check_neighbors(tree, &job.near);
    if (status == SAP_OK && axes->normals) status = check_orient(tree, &job.options);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(tree->device, cloud, axes)) return sap_unsupported(tree->device, "find normals and covariances");
    return tree->device->rooms.cloud->axes(&job);
}

sap_status sap_cloud_shapes(const sap_tree* tree, const sap_normals_options* options, const sap_cloud_axes* axes) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!axes) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "axes: is NULL");
    const sap_status status = sap_reserved_check(tree->device, axes->reserved, "axes");
    return status == SAP_OK ? find_shapes(tree, options, axes) : status;
}

sap_status sap_cloud_normals(const sap_tree* tree, const sap_normals_options* options, float* normals,
                             float* curvatures) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!normals && tree->shape.source_count) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "normals: is NULL");
    return find_shapes(tree, options, &(sap_cloud_axes){.normals = normals, .curvatures = curvatures});
}

sap_status sap_cloud_covariances(const sap_tree* tree, const sap_normals_options* options, float* covariances,
                                 float* eigenvalues) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!covariances && tree->shape.source_count)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "covariances: is NULL");
    return find_shapes(tree, options, &(sap_cloud_axes){.covariances = covariances, .eigenvalues = eigenvalues});
}

sap_status sap_cloud_orient(const sap_tree* tree, const sap_normals_options* options, float* normals) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    sap_orient_job job = {.tree = tree, .normals = normals};
    if (!normals && tree->shape.source_count) return sap_fail(device, SAP_ERROR_ARGUMENT, "normals: is NULL");
    sap_status status = take_options(tree, options, &job.options);
    if (status == SAP_OK) status = check_orient(tree, &job.options);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, cloud, orient)) return sap_unsupported(device, "turn normals");
    int64_t bad = -1;
    if (normals) status = sap_given_check(tree, normals, 3, sap_given_not_finite_f32, &bad);
    if (status != SAP_OK) return status;
    if (bad >= 0)
        return sap_fail(device, SAP_ERROR_NOT_FINITE, "normals[%lld]: is %g", (long long)bad, (double)normals[bad]);
    return device->rooms.cloud->orient(&job);
}
