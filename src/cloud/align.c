// The public functions of alignment: arguments are checked here, once for all processors.
#include "cloud/given.h"
#include "cloud/ops.h"
#include "cloud/rigid.h"
#include "device/reserved.h"
#include "mesh/layout.h"
#include "ray/ops.h"
#include "tree/layout.h"
#include "tree/periods.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

#define START_TOLERANCE 1e-4 // as far as six digits in a file may be from a turn

enum { MOST_LEVELS = 8, MOST_ITERATIONS = 1000000 };

static sap_status check_part(const sap_device* device, const char* name, double value, double most) {
    if (value >= 0 && value <= most) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%s: %g is not between 0 and %g", name, value, most);
}

static sap_status check_length(const sap_device* device, const char* name, double* value, double absent) {
    if (!(*value >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%s: %g is negative or NaN", name, *value);
    if (*value == 0) *value = absent;
    return SAP_OK;
}

static sap_status check_choices(const sap_device* device, sap_align_options* o) {
    if (o->method < SAP_ALIGN_POINT || o->method > SAP_ALIGN_GENERALISED)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.method: unknown method %d", (int)o->method);
    if (o->kernel < SAP_KERNEL_NONE || o->kernel > SAP_KERNEL_CAUCHY)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.kernel: unknown kernel %d", (int)o->kernel);
    if (o->iterations < 0 || o->iterations > MOST_ITERATIONS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.iterations: %d is not 0 to %d", (int)o->iterations,
                        MOST_ITERATIONS);
    if (o->levels < 0 || o->levels > MOST_LEVELS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.levels: %d is not 0 to %d", (int)o->levels, MOST_LEVELS);
    if (o->normals_k < 0 || (o->normals_k > 0 && o->normals_k < 3))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.normals_k: %d neighbours make no normal; give 3 or more",
                        (int)o->normals_k);
    if (o->find_overlap && o->overlap != 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.overlap: %g is given, and find_overlap asks to find it",
                        o->overlap);
    if (o->iterations == 0) o->iterations = 100;
    if (o->levels == 0) o->levels = 1;
    if (o->normals_k == 0) o->normals_k = 16;
    return SAP_OK;
}

static sap_status check_numbers(const sap_device* device, sap_align_options* o) {
    sap_status status = check_part(device, "tolerance", o->tolerance, 1);
    if (status == SAP_OK) status = check_part(device, "overlap", o->overlap, 1);
    if (status == SAP_OK) status = check_part(device, "max_angle", o->max_angle, 1.5707963267948966);
    if (status == SAP_OK) status = check_part(device, "flatness", o->flatness, 1);
    if (status == SAP_OK) status = check_length(device, "max_distance", &o->max_distance, (double)INFINITY);
    if (status == SAP_OK) status = check_length(device, "kernel_scale", &o->kernel_scale, 0);
    if (o->tolerance == 0) o->tolerance = 1e-6;
    if (o->overlap == 0) o->overlap = 1;
    if (o->flatness == 0) o->flatness = 1e-3;
    return status;
}

sap_status sap_cloud_check_start(const sap_device* device, const double given[16], double start[12]) {
    const double none[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    double matrix[9], turn[9];
    bool is_given = false;
    for (int i = 0; i < 16; i++) {
        if (!isfinite(given[i]))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.start: number %d is not finite", i);
        is_given = is_given || given[i] != 0;
    }
    memcpy(start, is_given ? given : none, sizeof none);
    if (!is_given) return SAP_OK;
    if (given[12] != 0 || given[13] != 0 || given[14] != 0 || given[15] != 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.start: the last row is not 0 0 0 1");
    for (int i = 0; i < 9; i++) matrix[i] = given[i / 3 * 4 + i % 3];
    if (!sap_turn_repaired(matrix, START_TOLERANCE, turn))
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "options.start: is no turn and shift; it scales, shears or mirrors");
    for (int i = 0; i < 9; i++) start[i / 3 * 4 + i % 3] = turn[i];
    return SAP_OK;
}

static sap_status check(sap_align_job* job) {
    const sap_device* device = job->device;
    sap_align_options* o = &job->options;
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status == SAP_OK) status = check_choices(device, o);
    if (status == SAP_OK) status = check_numbers(device, o);
    if (status == SAP_OK) status = sap_cloud_check_start(device, o->start, job->start);
    if (status != SAP_OK) return status;
    const sap_rows* rows = &job->source;
    status = sap_rows_check(device, rows, "source");
    if (status != SAP_OK) return status;
    if (rows->dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "source: its points have %d dimensions, not 3", (int)rows->dims);
    if (job->mesh && o->target_normals)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.target_normals: a mesh has its own");
    if (job->mesh) return SAP_OK;
    if (job->tree->shape.dims != 3)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "target: its points have %d dimensions, not 3",
                        (int)job->tree->shape.dims);
    if (job->tree->shape.real_bits != rows->real_bits)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "target: its precision is not that of the source");
    status = sap_periods_refuse(job->tree, "be aligned with");
    if (status == SAP_OK) status = sap_given_check_normals(job->tree, o->target_normals, "options.target_normals");
    return status;
}

static sap_status align(sap_align_job* job, sap_alignment* alignment) {
    const sap_status status = check(job);
    if (status != SAP_OK) return status;
    if (!alignment) return sap_fail(job->device, SAP_ERROR_ARGUMENT, "alignment: is NULL");
    if (!SAP_CAN(job->device, cloud, align)) return sap_unsupported(job->device, "align clouds");
    if (job->mesh && !SAP_CAN(job->device, ray, closest))
        return sap_unsupported(job->device, "align clouds with meshes");
    const sap_status result = job->device->rooms.cloud->align(job);
    if (result == SAP_OK) *alignment = job->out;
    return result;
}

static sap_align_options options_of(const sap_align_options* options) {
    return options ? *options : (sap_align_options){.method = SAP_ALIGN_POINT};
}

sap_status sap_cloud_align(const sap_tree* target, sap_points source, const sap_align_options* options,
                           sap_alignment* alignment) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_align_job job = {
        .tree = target, .device = target->device, .source = sap_rows_f32(source), .options = options_of(options)};
    return align(&job, alignment);
}

sap_status sap_cloud_align_f64(const sap_tree* target, sap_points_f64 source, const sap_align_options* options,
                               sap_alignment* alignment) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_align_job job = {
        .tree = target, .device = target->device, .source = sap_rows_f64(source), .options = options_of(options)};
    return align(&job, alignment);
}

sap_status sap_cloud_align_mesh(const sap_mesh_tree* target, sap_points source, const sap_align_options* options,
                                sap_alignment* alignment) {
    if (!target) return SAP_ERROR_ARGUMENT;
    sap_align_job job = {
        .mesh = target, .device = target->device, .source = sap_rows_f32(source), .options = options_of(options)};
    return align(&job, alignment);
}

static sap_status check_transform(const double* m, int64_t count, int32_t dims, int64_t stride, const void* from,
                                  const void* to) {
    if (!m || count < 0 || dims != 3 || (stride != 0 && stride < dims) || (count && (!from || !to)))
        return SAP_ERROR_ARGUMENT;
    for (int i = 0; i < 16; i++)
        if (!isfinite(m[i])) return SAP_ERROR_NOT_FINITE;
    return m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1 ? SAP_OK : SAP_ERROR_ARGUMENT;
}

#define TRANSFORM(name, slice, real)                                                                                   \
    sap_status name(const double transform[16], slice from, real to[]) {                                               \
        const double* m = transform;                                                                                   \
        const int64_t stride = from.stride ? from.stride : 3;                                                          \
        const sap_status status = check_transform(m, from.count, from.dims, from.stride, from.coords, to);             \
        if (status != SAP_OK) return status;                                                                           \
        for (int64_t i = 0; i < from.count; i++) {                                                                     \
            const real* p = from.coords + i * stride;                                                                  \
            const double x = (double)p[0], y = (double)p[1], z = (double)p[2];                                         \
            for (int r = 0; r < 3; r++)                                                                                \
                to[3 * i + r] = (real)(((m[4 * r] * x + m[4 * r + 1] * y) + m[4 * r + 2] * z) + m[4 * r + 3]);         \
        }                                                                                                              \
        return SAP_OK;                                                                                                 \
    }
TRANSFORM(sap_transform_points, sap_points, float)
TRANSFORM(sap_transform_points_f64, sap_points_f64, double)
