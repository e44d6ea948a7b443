// The public function of points that are projected onto the surface of a cloud: arguments are checked here, and the radius
// is found, once for all processors.
#include "cloud/ops.h"
#include "device/progress.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/queries.h"
#include <float.h>
#include <math.h>

enum {
    POINTS_FOR_ONE = 20,
    STEPS = 35,
    RING = 6, // neighbours whose distances tell the spacing
};
static const double push_default = 0.45, push_most = 0.5, spacings = 8;

static sap_status check_starts(const sap_device* device, const sap_project_options* o) {
    for (int64_t i = 0; o->starts && i < 3 * o->count; i++)
        if (!isfinite(o->starts[i]))
            return sap_fail(device, SAP_ERROR_NOT_FINITE, "options.starts: coordinate %d of start %lld is %g",
                            (int)(i % 3), (long long)(i / 3), (double)o->starts[i]);
    return SAP_OK;
}

static sap_status check_options(const sap_device* device, int64_t points, sap_project_options* o) {
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (o->count < 0 || (!o->starts && o->count > points))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.count: %lld, but %lld points were given",
                        (long long)o->count, (long long)points);
    if (o->starts && o->count == 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.count: is 0, but options.starts is given");
    if (o->count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "options.count: %lld is more than 2^31-1", (long long)o->count);
    if (!(o->radius >= 0 && isfinite(o->radius)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not finite", o->radius);
    if (o->steps < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.steps: %d is negative", (int)o->steps);
    if (!(o->push >= 0 && o->push <= push_most))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.push: %g is not 0 to %g", o->push, push_most);
    if (!(o->tolerance >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.tolerance: %g is negative or not a number", o->tolerance);
    if (o->count == 0) o->count = (points + POINTS_FOR_ONE - 1) / POINTS_FOR_ONE;
    if (o->steps == 0) o->steps = STEPS;
    if (o->push == 0) o->push = push_default;
    return check_starts(device, o);
}

typedef struct projecting {
    sap_device* device;
    const sap_project_ops* ops;
    const sap_relax_ops* memory; // what points and weights lie in
    sap_project_options options;
    double limit2;
    sap_tree *given, *moving;
    float *from, *to;      // [3*count] before and after a step
    float* given_weights;  // by slot, or NULL
    float* moving_weights; // by slot
    sap_scratch points, weights;
    sap_progress_state progress;
    sap_project_info info;
} projecting;

static sap_status no_memory(const projecting* p) {
    return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory to project %lld points", (long long)p->options.count);
}

static size_t bytes_by_slot(const sap_tree* tree) {
    return sap_align(((size_t)tree->shape.slots + SAP_PROJECT_SPARE) * sizeof(float));
}

// Eight mean spacings: each is a mean in which the point itself counts, at distance 0.
static sap_status find_radius(projecting* p) {
    const int64_t n = p->given->shape.source_count, others = n - 1 < RING ? n - 1 : RING;
    sap_outliers_info info = {0};
    sap_scratch keep;
    if (p->options.radius > 0 || n == 0) return SAP_OK;
    if (!sap_scratch_take(p->device, (size_t)n, &keep))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for the spacing of %lld points", (long long)n);
    const sap_outliers_options nearest = {.k = RING};
    const sap_status status = sap_cloud_outliers(p->given, &nearest, keep.memory, &info);
    sap_scratch_give(p->device, &keep);
    p->options.radius = spacings * info.mean * (double)others / (double)(others + 1);
    return status;
}

// The trees that others build for this call tell no progress of their own.
static sap_status build(const projecting* p, sap_points points, sap_tree** tree) {
    sap_progress_mute(true);
    const sap_status status = *tree ? sap_tree_rebuild(*tree, points) : sap_tree_build(p->device, points, NULL, tree);
    sap_progress_mute(false);
    return status;
}

// Where points begin, and what those given weigh.
static sap_status begin(projecting* p) {
    const sap_project_options* o = &p->options;
    const size_t one = sap_align(3 * (size_t)o->count * sizeof(float));
    const bool weighs = o->by_density && p->given->shape.count && p->limit2 >= (double)FLT_MIN;
    if (!p->memory->take(p->device, 2 * one + (weighs ? bytes_by_slot(p->given) : 0), &p->points)) return no_memory(p);
    p->from = (float*)(void*)p->points.memory;
    p->to = (float*)(void*)(p->points.memory + one);
    const sap_status status = o->starts
                                  ? p->memory->copy(p->device, p->from, o->starts, 3 * (size_t)o->count * sizeof(float))
                                  : p->ops->place(p->given, o->count, p->from);
    if (status != SAP_OK || !weighs) return status;
    p->given_weights = (float*)(void*)(p->points.memory + 2 * one);
    return p->ops->densities(p->given, p->limit2, true, p->given_weights, &p->progress);
}

static sap_status take_step(projecting* p) {
    sap_status status = build(p, (sap_points){p->from, p->options.count, 3, 0}, &p->moving);
    if (status != SAP_OK) return status;
    if (!p->weights.memory && !p->memory->take(p->device, bytes_by_slot(p->moving), &p->weights)) return no_memory(p);
    p->moving_weights = (float*)(void*)p->weights.memory;
    const sap_project_step step = {.given = p->given,
                                   .moving = p->moving,
                                   .given_weights = p->given_weights,
                                   .moving_weights = p->moving_weights,
                                   .limit2 = p->limit2,
                                   .push = p->options.push,
                                   .to_median = p->options.to_median,
                                   .moved = p->to};
    status = p->ops->densities(p->moving, p->limit2, false, p->moving_weights, NULL);
    return status == SAP_OK ? p->ops->move(&step, &p->progress) : status;
}

static sap_status make_steps(projecting* p) {
    const sap_project_options* o = &p->options;
    for (int32_t i = 0; i < o->steps; i++) {
        double sum = 0;
        sap_status status = take_step(p);
        const bool looks = o->tolerance > 0 || i == o->steps - 1;
        if (status == SAP_OK && looks) status = p->memory->measure(p->device, p->from, p->to, 3 * o->count, &sum);
        if (status != SAP_OK) return status;
        p->info.steps++;
        p->info.movement = sqrt(sum / (double)o->count);
        float* const last = p->from;
        p->from = p->to;
        p->to = last;
        if (o->tolerance > 0 && p->info.movement < o->tolerance * o->radius) break;
    }
    return SAP_OK;
}

static sap_status project(projecting* p, float* projected) {
    const sap_project_options* o = &p->options;
    p->limit2 = sap_limit2(p->given, o->radius);
    p->progress = sap_progress_begin(p->device, o->count * o->steps + (o->by_density ? p->given->shape.count : 0));
    sap_status status = begin(p);
    if (status == SAP_OK && p->limit2 >= (double)FLT_MIN) status = make_steps(p);
    // A build in the caller's stream may have met a bad point.
    if (status == SAP_OK && p->memory->is_apart) status = sap_device_wait(p->device);
    if (status == SAP_OK) status = p->memory->copy(p->device, projected, p->from, 3 * (size_t)o->count * sizeof(float));
    if (status == SAP_OK && !sap_progress_finish(&p->progress))
        status = sap_fail(p->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    p->memory->give(p->device, &p->points);
    p->memory->give(p->device, &p->weights);
    return status;
}

sap_status sap_cloud_project(sap_device* device, sap_points points, const sap_project_options* options,
                             float* projected, sap_project_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    projecting p = {.device = device};
    if (options) p.options = *options;
    const sap_rows rows = sap_rows_f32(points);
    sap_status status = sap_rows_check(device, &rows, "points");
    if (status == SAP_OK) status = check_options(device, points.count, &p.options);
    if (status != SAP_OK) return status;
    if (points.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.dims: %d; points that are projected have 3",
                        (int)points.dims);
    if (!projected && p.options.count) return sap_fail(device, SAP_ERROR_ARGUMENT, "projected: is NULL");
    if (!SAP_CAN(device, cloud, project)) return sap_unsupported(device, "project points onto the surface of a cloud");
    p.ops = device->rooms.cloud->project;
    p.memory = device->rooms.cloud->relax;
    status = build(&p, points, &p.given);
    sap_progress_mute(true);
    if (status == SAP_OK) status = find_radius(&p);
    sap_progress_mute(false);
    if (status == SAP_OK && p.options.count) status = project(&p, projected);
    p.info.count = p.options.count;
    p.info.radius = p.options.radius;
    if (status == SAP_OK && info) *info = p.info;
    sap_tree_free(p.given);
    sap_tree_free(p.moving);
    return status;
}
