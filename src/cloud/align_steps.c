// Alignment on any processor: what is needed beside the points, and the steps. What a step does with all points is the
// processor's (sap_align_ops).
#include "cloud/align.h"
#include "cloud/given.h"
#include "mesh/layout.h"
#include "tree/host_view.h"
#include "tree/leaves.h"
#include <float.h>
#include <math.h>

enum { COARSER = 4 }; // points of a level for one of the level above

// Arrays that are carved out of one block of memory.
typedef struct carving {
    unsigned char* memory; // NULL: only counted
    size_t bytes;
    bool is_too_much;
} carving;

static void* carve(carving* c, uint64_t count, size_t bytes) {
    size_t all;
    const size_t at = c->bytes;
    if (!sap_size_multiply(count, bytes, &all) || all > SIZE_MAX - 2 * SAP_ALIGNMENT ||
        !sap_size_add(at, sap_align(all), &c->bytes))
        c->is_too_much = true;
    return c->memory ? c->memory + at : NULL;
}

// What lies in memory for one call.
typedef struct holding {
    sap_tree* source;
    sap_scratch memory, normals;
} holding;

static bool needs_target_normals(const sap_align_options* o) {
    return o->method != SAP_ALIGN_POINT || o->max_angle > 0;
}

static bool needs_source_normals(const sap_align_options* o) {
    return o->method == SAP_ALIGN_GENERALISED || o->max_angle > 0;
}

static void lay_out(sap_aligning* a, carving* c) {
    sap_align_points* s = &a->points;
    const sap_align_options* o = &a->job->options;
    const uint64_t n = (uint64_t)s->padded;
    const size_t real = (size_t)a->real_bits / 8;
    const bool has_keys = o->find_overlap || o->overlap < 1 || o->kernel != SAP_KERNEL_NONE;
    const uint64_t here = a->ops->is_apart ? 0 : n; // what steps alone need
    for (int k = 0; k < 3; k++) {
        s->own[k] = carve(c, n, sizeof(double));
        s->other[k] = carve(c, here, real);
        s->asked[k] = carve(c, here, real);
        s->own_normals[k] = needs_source_normals(o) ? carve(c, n, sizeof(float)) : NULL;
        s->other_normals[k] = needs_target_normals(o) ? carve(c, here, sizeof(float)) : NULL;
    }
    s->ids = carve(c, n, sizeof *s->ids);
    s->pairs = carve(c, here, sizeof *s->pairs);
    s->reach = carve(c, here, real);
    s->near = a->job->mesh ? NULL : carve(c, here * SAP_ALIGN_NEAR, sizeof *s->near);
    s->near_asked = a->job->mesh ? NULL : carve(c, 3 * here, real);
    s->near_reach = carve(c, here, real);
    s->distance2 = carve(c, here, sizeof *s->distance2);
    s->residual2 = o->kernel != SAP_KERNEL_NONE ? carve(c, here, sizeof *s->residual2) : NULL;
    s->counts = carve(c, here, sizeof *s->counts);
    a->queries = carve(c, 3 * here, real);
    a->places = carve(c, here, sizeof *a->places);
    a->found = a->job->mesh ? NULL : carve(c, SAP_ALIGN_NEAR * here, sizeof *a->found);
    a->found2 = a->job->mesh ? NULL : carve(c, SAP_ALIGN_NEAR * here, real);
    a->closest = a->job->mesh ? carve(c, here, sizeof *a->closest) : NULL;
    a->known = a->job->mesh ? carve(c, 3 * here, sizeof *a->known) : NULL;
    a->listed = carve(c, (uint64_t)sap_align_blocks(s->padded), sizeof *a->listed);
    a->sums = carve(c, (uint64_t)sap_align_blocks(s->padded) * SAP_ALIGN_SUMS, sizeof *a->sums);
    a->keys = has_keys ? carve(c, here, sizeof *a->keys) : NULL;
    a->spare_keys = o->find_overlap ? carve(c, here, sizeof *a->keys) : NULL;
    a->numbers = o->find_overlap ? carve(c, 2 * here, sizeof *a->numbers) : NULL;
    const int64_t others = a->job->mesh ? a->job->mesh->shape.triangles : a->job->tree->shape.source_count;
    a->owners = o->one_to_one && !a->ops->is_apart ? carve(c, (uint64_t)others, sizeof *a->owners) : NULL;
}

static sap_status take_memory(sap_aligning* a, holding* h) {
    carving c = {NULL, 0, false};
    lay_out(a, &c);
    if (c.is_too_much || !sap_scratch_take(a->device, c.bytes + SAP_ALIGNMENT, &h->memory))
        return sap_fail(a->device, SAP_ERROR_MEMORY, "no memory to align %lld points", (long long)a->points.count);
    c = (carving){h->memory.memory, 0, false};
    memset(c.memory, 0, h->memory.bytes);
    lay_out(a, &c);
    for (int64_t i = 0; !a->ops->is_apart && i < a->points.padded; i++) a->points.pairs[i] = -1;
    return SAP_OK;
}

bool sap_align_chooses(const sap_align_options* o) {
    return o->one_to_one || o->find_overlap || o->overlap < 1 ||
           (o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0));
}

void sap_align_set_scale(sap_aligning* a, double middle) {
    static const double factors[] = {0, 1.345, 4.685, 2.385};
    const double factor = 1.4826 * factors[a->rule.kernel], size2 = a->rule.size * a->rule.size;
    // Where more than half of the pairs fit exactly, all that do not are outliers: but no scale is 0.
    const double least = fmax(size2 * 1e-24, DBL_MIN);
    a->rule.scale2 = factor * factor * (middle > least ? middle : least);
}

// ---- The source

static sap_status build_source(sap_aligning* a, holding* h) {
    const sap_rows* rows = &a->job->source;
    const sap_tree_options options = {.drop_nonfinite = a->job->options.drop_nonfinite};
    const sap_points_f64 wide = {rows->coords, rows->count, 3, rows->stride};
    const sap_points narrow = {rows->coords, rows->count, 3, rows->stride};
    sap_progress_mute(true);
    const sap_status status = rows->real_bits == 64 ? sap_tree_build_f64(a->device, wide, &options, &h->source)
                                                    : sap_tree_build(a->device, narrow, &options, &h->source);
    sap_progress_mute(false);
    // A build in the caller's stream only now says whether it met a point that is not finite.
    return status == SAP_OK && a->ops->is_apart ? sap_device_wait(a->device) : status;
}

// Where the point of this rank in the order of leaves stands: first those of the coarsest level.
static int64_t place_of(int64_t rank, int64_t count, int32_t levels) {
    int64_t stride = 1, before = 0;
    for (int32_t l = 1; l < levels; l++) stride *= COARSER;
    for (; stride > 1 && rank % stride != 0; stride /= COARSER) before = (count + stride - 1) / stride;
    if (before == 0) return rank / stride;
    // Ranks below that belong to this level, or to coarser ones.
    return before + (rank + stride - 1) / stride - (rank + COARSER * stride - 1) / (COARSER * stride);
}

static double leaf_coordinate(const sap_leaf_block* leaf, int32_t real_bits, int axis, int32_t slot) {
    const int64_t at = (int64_t)axis * leaf->stride + slot;
    return real_bits == 64 ? ((const double*)(const void*)leaf->coords)[at]
                           : (double)((const float*)(const void*)leaf->coords)[at];
}

static void find_box(sap_aligning* a, const sap_tree* source) {
    double least[3] = {0, 0, 0}, most[3] = {0, 0, 0};
    bool any = false;
    for (int64_t place = 0; source->shape.count && place < sap_leaf_places(source); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(source, place);
        for (int32_t i = 0; i < leaf.count; i++)
            for (int c = 0; c < 3; c++) {
                const double x = leaf_coordinate(&leaf, a->real_bits, c, i);
                if (!any || x < least[c]) least[c] = x;
                if (!any || x > most[c]) most[c] = x;
                any = any || c == 2;
            }
    }
    for (int c = 0; c < 3; c++) {
        a->middle[c] = least[c] + (most[c] - least[c]) / 2;
        a->half[c] = (most[c] - least[c]) / 2;
    }
}

static void put_points(sap_aligning* a, const sap_tree* source, const float* normals) {
    sap_align_points* s = &a->points;
    int64_t rank = 0;
    for (int64_t place = 0; s->count && place < sap_leaf_places(source); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(source, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            const int64_t at = place_of(rank++, s->count, a->job->options.levels);
            SAP_ASSERT(at >= 0 && at < s->count);
            s->ids[at] = leaf.ids[i];
            for (int c = 0; c < 3; c++) s->own[c][at] = leaf_coordinate(&leaf, a->real_bits, c, i) - a->middle[c];
            if (normals) sap_align_take_normal(s->own_normals, at, normals + 3 * (int64_t)leaf.ids[i]);
        }
    }
}

// Normals of a cloud, in memory that is taken for them.
static sap_status find_normals(sap_aligning* a, const sap_tree* tree, sap_scratch* memory) {
    const sap_normals_options options = {.k = a->job->options.normals_k};
    size_t bytes;
    if (!sap_size_multiply((uint64_t)tree->shape.source_count, 3 * sizeof(float), &bytes) ||
        !sap_scratch_take(a->device, bytes + 1, memory))
        return sap_fail(a->device, SAP_ERROR_MEMORY, "no memory for %lld normals", (long long)tree->shape.source_count);
    sap_progress_mute(true);
    const sap_status status = sap_cloud_normals(tree, &options, (float*)(void*)memory->memory, NULL);
    sap_progress_mute(false);
    return status;
}

// `leaves`: the source's tree, readable for the host.
static sap_status take_source(sap_aligning* a, holding* h, const sap_tree* leaves) {
    const sap_align_options* o = &a->job->options;
    sap_scratch found = {NULL, 0};
    const float* normals = needs_source_normals(o) ? o->source_normals : NULL;
    sap_status status = SAP_OK;
    if (needs_source_normals(o) && !normals) {
        status = find_normals(a, h->source, &found);
        normals = (const float*)(const void*)found.memory;
    }
    if (status == SAP_OK) put_points(a, leaves, normals);
    sap_scratch_give(a->device, &found);
    return status;
}

// ---- The target

static sap_status find_triangle_normals(sap_aligning* a, sap_scratch* memory) {
    const sap_mesh_tree* mesh = a->job->mesh;
    const float* corners = (const float*)(const void*)(mesh->arrays + mesh->shape.corner_at);
    const int32_t* ids = (const int32_t*)(const void*)(mesh->arrays + mesh->shape.id_at);
    size_t bytes;
    if (!sap_size_multiply((uint64_t)mesh->shape.triangles, 3 * sizeof(float), &bytes) ||
        !sap_scratch_take(a->device, bytes + 1, memory))
        return sap_fail(a->device, SAP_ERROR_MEMORY, "no memory for the normals of %lld triangles",
                        (long long)mesh->shape.triangles);
    float* normals = (float*)(void*)memory->memory;
    for (int64_t t = 0; t < mesh->shape.triangles; t++)
        sap_triangle_normal(corners + SAP_TRIANGLE_FLOATS * t, normals + 3 * (int64_t)ids[t]);
    return SAP_OK;
}

static sap_status take_target(sap_aligning* a, holding* h) {
    const sap_align_options* o = &a->job->options;
    sap_status status = SAP_OK;
    a->target_normals = o->target_normals;
    // Processors apart have the triangles, and find their normals there.
    if (needs_target_normals(o) && !a->target_normals && !(a->job->mesh && a->ops->is_apart)) {
        status = a->job->mesh ? find_triangle_normals(a, &h->normals) : find_normals(a, a->job->tree, &h->normals);
        a->target_normals = (const float*)(const void*)h->normals.memory;
    }
    return status;
}

static sap_status prepare(sap_aligning* a, holding* h) {
    sap_status status = build_source(a, h);
    if (status == SAP_OK)
        status = sap_given_check_normals(h->source, a->job->options.source_normals, "options.source_normals");
    if (status != SAP_OK) return status;
    a->points.count = h->source->shape.count;
    a->points.padded = (a->points.count + SAP_ALIGN_LANES - 1) / SAP_ALIGN_LANES * SAP_ALIGN_LANES;
    sap_host_view leaves;
    status = sap_host_view_open(h->source, &leaves);
    if (status != SAP_OK) return status;
    find_box(a, &leaves.tree);
    status = take_memory(a, h);
    if (status == SAP_OK) status = take_source(a, h, &leaves.tree);
    sap_host_view_close(&leaves);
    if (status == SAP_OK) status = take_target(a, h);
    if (status == SAP_OK) status = a->ops->begin(a);
    return status;
}

// ---- Steps

static void begin(sap_aligning* a) {
    const sap_align_job* job = a->job;
    const double diagonal = 2 * sqrt(a->half[0] * a->half[0] + a->half[1] * a->half[1] + a->half[2] * a->half[2]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) a->pose.turn[3 * r + c] = job->start[4 * r + c];
    sap_turn_vector(a->pose.turn, a->middle, a->pose.middle);
    for (int r = 0; r < 3; r++) a->pose.middle[r] += job->start[4 * r + 3];
    // Of balls 1 - f would be 0; cosines of float normals that are alike may be below 1.
    const double flatness = fmin(job->options.flatness, 1 - 0x1p-20), rounding = 0x1p-22;
    a->rule =
        (sap_align_rule){.method = job->options.method,
                         .kernel = job->options.kernel,
                         .limit2 = job->options.max_distance * job->options.max_distance,
                         .scale2 = fmax(job->options.kernel_scale * job->options.kernel_scale, DBL_MIN),
                         .cosine = job->options.max_angle > 0 ? fmax(cos(job->options.max_angle) - rounding, 0) : -1,
                         .stiff = (1 + flatness) / (1 - flatness),
                         .flatness = flatness,
                         .size = diagonal > 0 ? diagonal / 2 : 1};
}

// The symmetric matrix whose upper triangle stands in the sums.
static void fill_matrix(const double* sums, double matrix[36]) {
    int at = SAP_ALIGN_MATRIX;
    for (int r = 0; r < 6; r++)
        for (int c = r; c < 6; c++) matrix[6 * r + c] = matrix[6 * c + r] = sums[at++];
}

// The turn about the middle, and the shift, that suit the pairs best.
static void solve(const sap_aligning* a, const double* sums, double turn[9], double shift[3]) {
    if (a->rule.method == SAP_ALIGN_POINT) {
        const double weight = sums[SAP_ALIGN_WEIGHT];
        const double *own = sums + SAP_ALIGN_OWN, *other = sums + SAP_ALIGN_OTHER;
        double products[9], mean[3], turned[3];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                products[3 * r + c] = sums[SAP_ALIGN_PRODUCTS + 3 * r + c] - own[r] * (other[c] / weight);
        for (int c = 0; c < 3; c++) mean[c] = own[c] / weight;
        sap_turn_of_products(products, turn);
        sap_turn_vector(turn, mean, turned);
        for (int c = 0; c < 3; c++) shift[c] = other[c] / weight - turned[c];
        return;
    }
    double matrix[36], right[6], x[6], values[6], axes[36];
    fill_matrix(sums, matrix);
    for (int i = 0; i < 6; i++) right[i] = -sums[SAP_ALIGN_RIGHT + i];
    sap_solve_least(matrix, right, x, values, axes);
    sap_turn_of_vector(x, turn);
    for (int c = 0; c < 3; c++) shift[c] = x[3 + c] * a->rule.size;
}

// Makes a step; gives how far the corner of the source's box moves that moves farthest, over its diagonal.
static double move(sap_aligning* a, const double turn[9], const double shift[3]) {
    double farthest2 = 0;
    for (int corner = 0; corner < 8; corner++) {
        double from[3], at[3], to[3];
        for (int c = 0; c < 3; c++) from[c] = corner >> c & 1 ? a->half[c] : -a->half[c];
        sap_turn_vector(a->pose.turn, from, at);
        sap_turn_vector(turn, at, to);
        double moved2 = 0;
        for (int c = 0; c < 3; c++) moved2 += (to[c] - at[c] + shift[c]) * (to[c] - at[c] + shift[c]);
        farthest2 = moved2 > farthest2 ? moved2 : farthest2;
    }
    sap_turn_further(a->pose.turn, turn);
    for (int c = 0; c < 3; c++) a->pose.middle[c] += shift[c];
    a->last_move = sqrt(farthest2);
    return a->last_move / (2 * a->rule.size);
}

static int64_t level_count(const sap_aligning* a, int32_t level) {
    int64_t stride = 1;
    for (int32_t l = 0; l < level; l++) stride *= COARSER;
    return (a->points.count + stride - 1) / stride;
}

// Matches and sums at the pose; false in *any if no pair counts.
static sap_status look_around(sap_aligning* a, int64_t count, bool matrix, double* sums, bool* any) {
    sap_status status = a->ops->match(a, count);
    if (status == SAP_OK) status = a->ops->judge(a, count);
    if (status == SAP_OK) status = a->ops->add(a, count, matrix, sums);
    *any = status == SAP_OK && sums[SAP_ALIGN_WEIGHT] > 0;
    return status;
}

static sap_status run_level(sap_aligning* a, int32_t level) {
    const sap_align_options* o = &a->job->options;
    const int64_t count = level_count(a, level);
    sap_alignment* out = &a->job->out;
    for (int32_t step = 0;; step++) {
        double sums[SAP_ALIGN_SUMS], turn[9], shift[3];
        bool any;
        out->reason = SAP_ALIGN_ITERATIONS;
        if (step == o->iterations) return SAP_OK;
        const sap_status status = look_around(a, count, false, sums, &any);
        if (status != SAP_OK) return status;
        out->reason = SAP_ALIGN_NO_PAIRS;
        if (!any) return SAP_OK;
        solve(a, sums, turn, shift);
        const double moved = move(a, turn, shift);
        out->iterations++;
        out->reason = SAP_ALIGN_CONVERGED;
        if (moved <= o->tolerance) return SAP_OK;
        const double done = (double)(o->levels - 1 - level) + (double)(step + 1) / (double)o->iterations;
        if (!sap_progress_report(a->device, done / o->levels))
            return sap_fail(a->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
}

static void write_start(const sap_aligning* a, double transform[16]) {
    for (int i = 0; i < 12; i++) transform[i] = a->job->start[i];
}

static void write_transform(const sap_aligning* a, double transform[16]) {
    double turned[3];
    sap_turn_vector(a->pose.turn, a->middle, turned);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) transform[4 * r + c] = a->pose.turn[3 * r + c];
        transform[4 * r + 3] = a->pose.middle[r] - turned[r];
    }
}

// What the pairs say at the final pose.
static void write_pairs(sap_aligning* a, const double* sums) {
    sap_alignment* out = &a->job->out;
    const double right[6] = {0, 0, 0, 0, 0, 0}, size = a->rule.size;
    double matrix[36], x[6];
    out->pairs = (int64_t)sums[SAP_ALIGN_PAIRS];
    out->fitness = sums[SAP_ALIGN_PAIRS] / (double)a->points.count;
    out->rmse = out->pairs ? sqrt(sums[SAP_ALIGN_SQUARES] / sums[SAP_ALIGN_PAIRS]) : 0;
    out->kernel_scale = a->rule.kernel != SAP_KERNEL_NONE ? sqrt(a->rule.scale2) : 0;
    fill_matrix(sums, matrix);
    out->undetermined = sap_solve_least(matrix, right, x, out->strengths, out->directions);
    const double greatest = out->strengths[5];
    for (int i = 0; i < 6; i++)
        out->strengths[i] = greatest > 0 && out->strengths[i] > 0 ? out->strengths[i] / greatest : 0;
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
            out->information[6 * r + c] = matrix[6 * r + c] * (r < 3 ? size : 1) * (c < 3 ? size : 1);
}

static sap_status run(sap_aligning* a) {
    sap_alignment* out = &a->job->out;
    const int32_t levels = a->job->options.levels;
    double sums[SAP_ALIGN_SUMS];
    bool any = false;
    sap_status status = SAP_OK;
    out->overlap = 1;
    out->reason = SAP_ALIGN_NO_PAIRS;
    for (int32_t level = levels - 1; status == SAP_OK && level >= 0 && a->points.count; level--)
        status = run_level(a, level);
    if (status == SAP_OK && a->points.count) status = look_around(a, a->points.count, true, sums, &any);
    if (status != SAP_OK) return status;
    out->transform[15] = 1;
    out->undetermined = 6;
    if (any && out->reason != SAP_ALIGN_NO_PAIRS) {
        write_transform(a, out->transform);
        write_pairs(a, sums);
    } else {
        out->reason = SAP_ALIGN_NO_PAIRS;
        write_start(a, out->transform);
        out->undetermined = 6;
        out->iterations = 0;
        out->overlap = 0;
        begin(a);
    }
    out->converged = out->reason == SAP_ALIGN_CONVERGED;
    memcpy(out->center, a->pose.middle, sizeof out->center);
    return sap_progress_report(a->device, 1)
               ? SAP_OK
               : sap_fail(a->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

sap_status sap_align_run(sap_align_job* job, const sap_align_ops* ops, void* there) {
    sap_aligning a = {.job = job,
                      .ops = ops,
                      .there = there,
                      .device = job->device,
                      .threads = job->device->options.threads,
                      .real_bits = job->source.real_bits,
                      .gap = -1,
                      .last_move = (double)INFINITY};
    holding h = {.source = NULL};
    sap_status status = prepare(&a, &h);
    if (status == SAP_OK) {
        begin(&a);
        status = run(&a);
    }
    ops->end(&a);
    sap_scratch_give(job->device, &h.memory);
    sap_scratch_give(job->device, &h.normals);
    sap_tree_free(h.source);
    return status;
}
