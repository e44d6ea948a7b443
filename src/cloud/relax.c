// Points that relax: steps on the device, in between trees that are built anew; what is added, and where it ends, on the
// host.
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/layout.h"
#include "tree/queries.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_MORE = 8,    // points added for each point given
    RETURN_EVERY = 2, // steps
};
static const double above_rounding = 1 + 0x1p-20;

typedef struct relaxing {
    sap_device* device;
    const sap_relax_ops* ops;
    sap_points given;
    sap_relax_options options;
    sap_neighborhoods near;
    double reach;           // how far from a point given others may end
    int64_t count;          // with those that are added
    sap_tree *first, *tree; // of the points given; of those that move
    float *from, *to;       // [3*count] before and after a step
    float* kept;            // [3*count] room for where points were when they were last put back; NULL if they never are
    float* surface;         // [3*given.count] normals of the points given
    float* normals;         // [3*count] before the last step; NULL where nobody needs them
    float* distance2;       // [count]
    int32_t* ids;           // [count]
    sap_scratch memory;
    sap_relax_info info;
} relaxing;

static sap_status check_options(const sap_device* device, const sap_points* points, sap_relax_options* o) {
    const sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    if (o->k < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.k: %d is negative", (int)o->k);
    if (!(o->radius >= 0 && isfinite(o->radius)))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.radius: %g is negative or not finite", o->radius);
    if (o->steps < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.steps: %d is negative", (int)o->steps);
    if (!(o->step >= 0 && o->step <= 2))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.step: %g is not 0 to 2", o->step);
    if (!(o->tolerance >= 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.tolerance: %g is negative or not a number", o->tolerance);
    if (o->more < 0 || o->more > MOST_MORE * points->count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.more: %lld is not 0 to %d times the points",
                        (long long)o->more, MOST_MORE);
    if (points->count + o->more > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "options.more: there would be more than 2^31-1 points");
    if (o->steps == 0) o->steps = 1;
    if (o->step == 0) o->step = 1;
    if (o->k == 0 && o->radius == 0) o->k = 16;
    return SAP_OK;
}

// `normals`: what the caller wants them in, or NULL. Points that are put back need them, too.
static sap_status take_memory(relaxing* r, float* normals) {
    const size_t moving = sap_align((size_t)r->count * 3 * sizeof(float)), one = sap_align((size_t)r->count * 4);
    const bool has_normals = normals ? r->ops->is_apart : !r->options.is_free;
    const bool has_kept = !r->options.is_free && r->options.steps > 1;
    const size_t arrays = 3 + (size_t)has_normals + (size_t)has_kept;
    if (!r->ops->take(r->device, arrays * moving + 2 * one + 1, &r->memory))
        return sap_fail(r->device, SAP_ERROR_MEMORY, "no memory for %lld points that move", (long long)r->count);
    unsigned char* at = r->memory.memory;
    r->normals = has_normals ? (float*)(void*)(at + 3 * moving + 2 * one) : normals;
    r->from = (float*)(void*)at;
    r->to = (float*)(void*)(at + moving);
    r->surface = (float*)(void*)(at + 2 * moving);
    r->distance2 = (float*)(void*)(at + 3 * moving);
    r->ids = (int32_t*)(void*)(at + 3 * moving + one);
    r->kept = has_kept ? (float*)(void*)(at + (arrays - 1) * moving + 2 * one) : NULL;
    return SAP_OK;
}

// ---- Progress

// What the next call reports is one of this part of a step; -1: of what is done before the first.
static void begin_part(const relaxing* r, int32_t step, double from, double to) {
    const double steps = r->options.steps + 2;
    sap_progress_part((step + 1 + from) / steps, (step + 1 + to) / steps);
}

// Of all work a part is done that is counted in steps.
static sap_status tell(const relaxing* r, int32_t steps) {
    if (sap_progress_tell(r->device, (double)(steps + 1) / (double)(r->options.steps + 2))) return SAP_OK;
    return sap_fail(r->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

// ---- Points that are added

static const float* place_of(const relaxing* r, int64_t i) {
    return r->given.coords + i * (r->given.stride ? r->given.stride : 3);
}

typedef struct lonely {
    float distance2;
    int32_t id;
} lonely;

static int lonelier_first(const void* a, const void* b) {
    const lonely *x = a, *y = b;
    if (x->distance2 != y->distance2) return x->distance2 > y->distance2 ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

// Round by round each point, the loneliest first, gets one beside it: a third of the way to its nearest neighbour, in the
// next round to the second nearest. From both sides that makes two places.
static sap_status add_points(const relaxing* r, float* from) {
    const int64_t n = r->given.count;
    const int32_t k = MOST_MORE;
    sap_scratch memory;
    const size_t rows = (size_t)n * (size_t)k;
    if (!sap_scratch_take(r->device, rows * 8 + (size_t)n * sizeof(lonely) + 1, &memory))
        return sap_fail(r->device, SAP_ERROR_MEMORY, "no memory to add points beside %lld", (long long)n);
    int32_t* ids = (int32_t*)(void*)memory.memory;
    float* distance2 = (float*)(void*)(memory.memory + rows * 4);
    lonely* order = (lonely*)(void*)(memory.memory + rows * 8);
    begin_part(r, -1, 0.3, 0.4);
    const sap_status status = sap_nearest_self(r->first, &(sap_search){.k = k}, ids, distance2);
    for (int64_t i = 0; status == SAP_OK && i < n; i++) order[i] = (lonely){distance2[i * k], (int32_t)i};
    if (status == SAP_OK) qsort(order, (size_t)n, sizeof *order, lonelier_first);
    for (int64_t i = 0; status == SAP_OK && i < r->options.more; i++) {
        const int64_t id = order[i % n].id, round = i / n;
        const int32_t neighbor = ids[id * k + round];
        const float *own = place_of(r, id), *other = neighbor < 0 ? own : place_of(r, neighbor);
        for (int a = 0; a < 3; a++) from[3 * (n + i) + a] = own[a] + (other[a] - own[a]) / 3;
    }
    sap_scratch_give(r->device, &memory);
    return status;
}

// The points given and those that are added, where they move.
static sap_status place_points(relaxing* r) {
    const size_t bytes = (size_t)r->count * 3 * sizeof(float);
    sap_scratch apart = {NULL, 0};
    sap_status status = SAP_OK;
    if (r->ops->is_apart && !sap_scratch_take(r->device, bytes + 1, &apart))
        return sap_fail(r->device, SAP_ERROR_MEMORY, "no memory for %lld points that move", (long long)r->count);
    float* from = r->ops->is_apart ? (float*)(void*)apart.memory : r->from;
    for (int64_t i = 0; i < r->given.count; i++) memcpy(from + 3 * i, place_of(r, i), 3 * sizeof(float));
    if (r->options.more) status = add_points(r, from);
    if (status == SAP_OK && r->ops->is_apart) status = r->ops->copy(r->device, r->from, from, bytes);
    sap_scratch_give(r->device, &apart);
    return status;
}

// ---- Steps

// How far points moved in each of the last `steps` steps, from `before` to where they are now.
static sap_status measure(relaxing* r, const float* before, int32_t steps) {
    double sum = 0;
    const sap_status status = r->ops->measure(r->device, before, r->from, 3 * r->count, &sum);
    r->info.movement = r->count ? sqrt(sum / (double)r->count) / steps : 0;
    return status;
}

// What the tolerance is a part of. Of k neighbours it is what it was before the first step, and from then on none is
// farther than the farthest was: at the border of a surface ranges would grow with the steps that they make longer.
static sap_status find_range(relaxing* r) {
    const double reach_part = 0.5;
    r->info.range = r->near.radius;
    r->reach = r->near.radius > 0 ? reach_part * r->near.radius : (double)INFINITY;
    const bool is_bound = !r->options.is_free && r->options.steps > 1;
    if (r->near.radius > 0 || !(is_bound || r->options.tolerance > 0)) return SAP_OK;
    sap_scratch memory;
    if (!sap_scratch_take(r->device, (size_t)r->count * sizeof(double) + 1, &memory))
        return sap_fail(r->device, SAP_ERROR_MEMORY, "no memory for the ranges of %lld points", (long long)r->count);
    double *ranges = (double*)(void*)memory.memory, sum = 0, most = 0;
    const int32_t others = r->near.k < r->count ? r->near.k - 1 : (int32_t)r->count - 1;
    const sap_density_options options = {.kind = SAP_DENSITY_DISTANCE, .k = others > 0 ? others : 1};
    const sap_status status = sap_cloud_density(r->tree, &options, ranges);
    for (int64_t i = 0; status == SAP_OK && i < r->count; i++) {
        if (!isfinite(ranges[i])) continue;
        sum += ranges[i];
        most = fmax(most, ranges[i]);
    }
    if (r->count && r->options.tolerance > 0) r->info.range = sum / (double)r->count;
    if (is_bound) {
        r->reach = reach_part * most;
        r->near.limit2 = sap_limit2(r->tree, most * above_rounding);
    }
    sap_scratch_give(r->device, &memory);
    return status;
}

static sap_status put_back(const relaxing* r) {
    const sap_relax_return job = {.given = r->first,
                                  .points = r->given,
                                  .surface = r->surface,
                                  .reach = r->reach,
                                  .normals = r->normals,
                                  .at = r->from,
                                  .count = r->count,
                                  .ids = r->ids,
                                  .distance2 = r->distance2};
    return r->ops->put_back(&job);
}

// From r->from to r->to. Normals are for what follows a step after which points are put back, or may be the last.
static sap_status make_step(relaxing* r, int32_t i, bool with_normals) {
    const sap_points now = {r->from, r->count, 3, 0};
    begin_part(r, i, 0, 0.25);
    sap_status status = r->tree ? sap_tree_rebuild(r->tree, now) : sap_tree_build(r->device, now, NULL, &r->tree);
    begin_part(r, i, 0.25, 0.3);
    if (status == SAP_OK && i == 0) status = find_range(r);
    begin_part(r, i, 0.3, 0.85);
    const sap_relax_job job = {.tree = r->tree,
                               .options = r->options,
                               .near = r->near,
                               .moved = r->to,
                               .normals = with_normals ? r->normals : NULL};
    if (status == SAP_OK) status = r->ops->step(&job);
    r->info.steps++;
    return status;
}

// Points are put back, and measured then, after every second step and the last: at a border each step pushes them out, and
// between two returns they would never come to rest. Not at the end alone: points that leave at a border spread along it when
// they have come back.
static sap_status make_steps(relaxing* r) {
    const int32_t every = r->options.is_free ? 1 : RETURN_EVERY;
    int32_t since = 0; // steps since points were last put back
    const float* before = r->from;
    for (int32_t i = 0; i < r->options.steps; i++) {
        bool is_last = i == r->options.steps - 1;
        const bool returns = is_last || since + 1 == every;
        sap_status status = make_step(r, i, returns);
        if (status != SAP_OK) return status;
        float* const last = r->from;
        r->from = r->to;
        // `before` stays as it is until points have been put back.
        r->to = since == 0 && r->kept ? r->kept : last;
        if (since == 0 && r->kept) r->kept = last;
        since++;
        if (returns) {
            begin_part(r, i, 0.85, 1);
            if (!r->options.is_free) status = put_back(r);
            if (status == SAP_OK && (is_last || r->options.tolerance > 0)) status = measure(r, before, since);
            is_last = is_last || (r->options.tolerance > 0 && r->info.movement < r->options.tolerance * r->info.range);
            before = r->from;
            since = 0;
        }
        if (status == SAP_OK) status = tell(r, i + 1);
        if (status != SAP_OK || is_last) return status;
    }
    return SAP_OK;
}

// ---- All of it

// Brings what the caller wants to where it is wanted.
static sap_status write_results(const relaxing* r, float* moved, float* normals) {
    const size_t bytes = (size_t)r->count * 3 * sizeof(float);
    if (!r->count) return SAP_OK;
    // A build in the caller's stream may have met a point that has moved too far.
    sap_status status = r->ops->is_apart ? sap_device_wait(r->device) : SAP_OK;
    if (status == SAP_OK) status = r->ops->copy(r->device, moved, r->from, bytes);
    if (status == SAP_OK && normals && r->normals != normals)
        status = r->ops->copy(r->device, normals, r->normals, bytes);
    return status;
}

// A radius beyond the cloud is as good as one across it, and moves nothing out of the range of numbers.
static sap_status limit_radius(relaxing* r) {
    sap_tree_info info;
    const sap_status status = sap_tree_describe(r->first, &info);
    double diagonal2 = 0;
    for (int a = 0; status == SAP_OK && info.count && a < 3; a++)
        diagonal2 += (info.upper[a] - info.lower[a]) * (info.upper[a] - info.lower[a]);
    if (diagonal2 > 0) r->near.radius = fmin(r->near.radius, sqrt(diagonal2) * above_rounding);
    return status;
}

static sap_status relax(relaxing* r, float* moved, float* normals) {
    begin_part(r, -1, 0, 0.3);
    sap_status status = sap_tree_build(r->device, r->given, NULL, &r->first);
    if (status == SAP_OK) status = limit_radius(r);
    if (status == SAP_OK) status = take_memory(r, normals);
    if (status != SAP_OK) return status;
    r->near.limit2 = sap_limit2(r->first, r->near.radius > 0 ? r->near.radius : (double)INFINITY);
    const sap_normals_options as_forces = {.k = r->near.k, .radius = r->near.radius};
    status = place_points(r);
    begin_part(r, -1, 0.4, 1);
    if (status == SAP_OK && !r->options.is_free) status = sap_cloud_normals(r->first, &as_forces, r->surface, NULL);
    if (status == SAP_OK) status = tell(r, 0);
    if (status == SAP_OK) status = make_steps(r);
    if (status == SAP_OK) status = write_results(r, moved, normals);
    return status == SAP_OK ? tell(r, r->options.steps + 1) : status;
}

sap_status sap_cloud_relax(sap_device* device, sap_points points, const sap_relax_options* options, float* moved,
                           float* normals, sap_relax_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    relaxing r = {.device = device, .given = points, .options = options ? *options : (sap_relax_options){0}};
    const sap_rows rows = sap_rows_f32(points);
    sap_status status = sap_rows_check(device, &rows, "points");
    if (status == SAP_OK) status = check_options(device, &points, &r.options);
    if (status != SAP_OK) return status;
    if (points.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "points.dims: %d; points that relax have 3", (int)points.dims);
    r.count = points.count + r.options.more;
    if (!moved && r.count) return sap_fail(device, SAP_ERROR_ARGUMENT, "moved: is NULL");
    if (!SAP_CAN(device, cloud, relax)) return sap_unsupported(device, "let points relax");
    r.ops = device->rooms.cloud->relax;
    r.near = (sap_neighborhoods){.k = r.options.k, .radius = r.options.radius, .falloff = SAP_FALLOFF_BIWEIGHT};
    sap_progress_mute(true);
    status = relax(&r, moved, normals);
    sap_progress_mute(false);
    if (status == SAP_OK && info) *info = r.info;
    r.ops->give(device, &r.memory);
    sap_tree_free(r.first);
    sap_tree_free(r.tree);
    return status;
}
