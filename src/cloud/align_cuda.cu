// Alignment on a GPU. In each step all points of the source search for the nearest one anew, which costs less there than
// to find out which of them need to; what leaves the GPU are the sums. The operations are those of cloud/align_simd.c, where a lane is a point, and in sums one
// of the eight that run side by side in a block.
#include "cloud/align_choose_cuda.h"
#include "cloud/show_cuda.cuh"
#include "mesh/layout.h"
#include "ray/closest_cuda.h"
#include "tree/limit.h"

extern "C" {
#include "cloud/align.h"
}

enum { ALIGN_THREADS = 64 };

// What lies on the GPU for one alignment; [padded] where nothing else is said.
typedef struct align_there {
    sap_scratch memory;
    double* own[3];
    float *own_normals[3], *other_normals[3];
    void *other[3], *queries, *found2; // real; queries: [padded][3]
    void* target;                      // real[source_count][4]; of a tree
    sap_closest* closest;              // of a mesh
    float* known;                      // [padded][3]: the nearest points of the step before, or NaN; of a mesh
    float* target_normals;             // [source_count][3], or a row for each triangle
    int32_t *pairs, *ids;              // ids: where one point a pair counts
    double *distance2, *residual2, *sums, *total; // sums: [blocks][SAP_ALIGN_SUMS]
    float* counts;
} align_there;

// The same for kernels.
template <typename real> struct align_task {
    align_there at;
    sap_pose pose;
    sap_align_rule rule;
    int64_t count;
};

// ---- A pair

// What a pair looks like: own point, offset to the other, normals of the other and, turned, the own one.
typedef struct align_pair {
    double u[3], r[3], n[3], m[3];
    double distance2, residual2;
    double k11, k12, k22; // GENERALISED
} align_pair;

template <typename real>
static __device__ __forceinline__ void align_turn(const align_task<real>& t, int64_t i, double (&u)[3]) {
    const double s[3] = {t.at.own[0][i], t.at.own[1][i], t.at.own[2][i]};
#pragma unroll
    for (int a = 0; a < 3; a++)
        u[a] = t.pose.turn[3 * a] * s[0] + t.pose.turn[3 * a + 1] * s[1] + t.pose.turn[3 * a + 2] * s[2];
}

static __device__ __forceinline__ double align_dot(const double (&a)[3], const double (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <typename real, int method>
static __device__ __forceinline__ void align_look(const align_task<real>& t, int64_t i, bool with_normals,
                                                  align_pair* p) {
    const sap_align_rule& rule = t.rule;
    align_turn(t, i, p->u);
#pragma unroll
    for (int a = 0; a < 3; a++) p->r[a] = (p->u[a] + t.pose.middle[a]) - (double)((const real*)t.at.other[a])[i];
    p->distance2 = align_dot(p->r, p->r);
    p->residual2 = p->distance2;
    if (method != SAP_ALIGN_POINT || with_normals)
        for (int a = 0; a < 3; a++) p->n[a] = (double)t.at.other_normals[a][i];
    if (method == SAP_ALIGN_GENERALISED || with_normals) {
        const double m[3] = {(double)t.at.own_normals[0][i], (double)t.at.own_normals[1][i],
                             (double)t.at.own_normals[2][i]};
        for (int a = 0; a < 3; a++)
            p->m[a] = t.pose.turn[3 * a] * m[0] + t.pose.turn[3 * a + 1] * m[1] + t.pose.turn[3 * a + 2] * m[2];
    }
    if (method == SAP_ALIGN_PLANE) {
        const double across = align_dot(p->n, p->r);
        p->residual2 = across * across;
    }
    if (method == SAP_ALIGN_GENERALISED) {
        const double twice = rule.stiff + 1; // see cloud/align_simd.c
        const double nn = align_dot(p->n, p->n), mm = align_dot(p->m, p->m), nm = align_dot(p->n, p->m);
        const double a = twice - nn, b = twice - mm, det = a * b - nm * nm;
        p->k11 = b / det, p->k22 = a / det, p->k12 = nm / det;
        const double n = align_dot(p->n, p->r), m = align_dot(p->m, p->r);
        p->residual2 = rule.flatness * (p->distance2 + (p->k11 * n * n + 2.0 * (p->k12 * n * m) + p->k22 * m * m));
    }
}

// ---- Where points are, and what they are paired with

template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS) align_ask(const __grid_constant__ align_task<real> task) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    double u[3];
    if (i >= task.count) return;
    align_turn(task, i, u);
    for (int a = 0; a < 3; a++) ((real*)task.at.queries)[3 * i + a] = (real)(u[a] + task.pose.middle[a]);
    if (!task.at.known) return;
    for (int a = 0; a < 3; a++)
        task.at.known[3 * i + a] = task.at.pairs[i] < 0 ? NAN : (float)((const real*)task.at.other[a])[i];
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    align_find_normals(const float* corners, const int32_t* ids, int64_t triangles, float* normals) {
    const int64_t t = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (t < triangles) sap_triangle_normal(corners + SAP_TRIANGLE_FLOATS * t, normals + 3 * (int64_t)ids[t]);
}

template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS) align_take(const __grid_constant__ align_task<real> task) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count) return;
    const sap_closest* closest = task.at.closest ? task.at.closest + i : NULL;
    const int id = closest ? closest->triangle : task.at.pairs[i];
    if (closest) task.at.pairs[i] = id;
    for (int a = 0; a < 3; a++) {
        if (id < 0)
            ((real*)task.at.other[a])[i] = 0;
        else if (closest)
            ((real*)task.at.other[a])[i] = (real)closest->point[a];
        else
            ((real*)task.at.other[a])[i] = ((const real*)task.at.target)[4 * (int64_t)id + a];
    }
    if (!task.at.target_normals) return;
    double n[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++)
        if (id >= 0) n[a] = (double)task.at.target_normals[3 * (int64_t)id + a];
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++) task.at.other_normals[a][i] = length > 0 ? (float)(n[a] / length) : 0.0f;
}

// distance2, residual2 and counts.
template <typename real, int method>
static __global__ void __launch_bounds__(SHOW_THREADS) align_measure(const __grid_constant__ align_task<real> task) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    const bool with_normals = task.rule.cosine >= 0;
    align_pair p;
    if (i >= task.count) return;
    align_look<real, method>(task, i, with_normals, &p);
    bool fits = p.distance2 <= task.rule.limit2 && task.at.pairs[i] >= 0;
    if (method == SAP_ALIGN_PLANE) fits = fits && (p.n[0] != 0 || p.n[1] != 0 || p.n[2] != 0);
    if (with_normals) {
        const double c = align_dot(p.n, p.m);
        fits = fits && (c >= task.rule.cosine || -c >= task.rule.cosine);
        fits = fits && (p.n[0] != 0 || p.n[1] != 0 || p.n[2] != 0) && (p.m[0] != 0 || p.m[1] != 0 || p.m[2] != 0);
    }
    task.at.distance2[i] = p.distance2;
    if (task.at.residual2) task.at.residual2[i] = p.residual2;
    task.at.counts[i] = fits ? 1.0f : 0.0f;
}

// ---- Sums

static __device__ __forceinline__ double align_weight(const sap_align_rule& rule, double residual2) {
    switch (rule.kernel) {
    case SAP_KERNEL_HUBER: return residual2 <= rule.scale2 ? 1.0 : sqrt(rule.scale2 / residual2);
    case SAP_KERNEL_TUKEY: {
        const double left = 1.0 - residual2 / rule.scale2;
        return residual2 <= rule.scale2 ? left * left : 0.0;
    }
    case SAP_KERNEL_CAUCHY: return 1.0 / (1.0 + residual2 / rule.scale2);
    default: return 1.0;
    }
}

// The row of J for an offset along n: by a turn about the middle, u x n, and by a shift, n.
static __device__ __forceinline__ void align_row(const double (&u)[3], const double (&n)[3], double (&row)[6]) {
    row[0] = u[1] * n[2] - u[2] * n[1];
    row[1] = u[2] * n[0] - u[0] * n[2];
    row[2] = u[0] * n[1] - u[1] * n[0];
#pragma unroll
    for (int a = 0; a < 3; a++) row[3 + a] = n[a];
}

// Adds weight * row^T row and weight * row * residual.
static __device__ __forceinline__ void align_add_row(double weight, const double (&row)[6], double residual,
                                                     double (&sums)[SAP_ALIGN_SUMS]) {
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const double weighted = weight * row[i];
#pragma unroll
        for (int j = 0; j < 6; j++)
            if (j >= i) sums[SAP_ALIGN_MATRIX + 6 * i - i * (i + 1) / 2 + j] += weighted * row[j];
        sums[SAP_ALIGN_RIGHT + i] += weighted * residual;
    }
}

static __device__ __forceinline__ void align_add_point(double weight, const align_pair& p,
                                                       double (&sums)[SAP_ALIGN_SUMS]) {
#pragma unroll
    for (int a = 0; a < 3; a++) {
        sums[SAP_ALIGN_OWN + a] += weight * p.u[a];
        sums[SAP_ALIGN_OTHER + a] += weight * (p.u[a] - p.r[a]);
#pragma unroll
        for (int b = 0; b < 3; b++) sums[SAP_ALIGN_PRODUCTS + 3 * a + b] += weight * p.u[a] * (p.u[b] - p.r[b]);
    }
}

template <int method>
static __device__ __forceinline__ void align_add_matrix(const sap_align_rule& rule, double weight, align_pair& p,
                                                        double (&sums)[SAP_ALIGN_SUMS]) {
    const double per = 1 / rule.size;
    double row[6];
#pragma unroll
    for (int a = 0; a < 3; a++) p.u[a] *= per, p.r[a] *= per;
    if (method == SAP_ALIGN_PLANE) {
        align_row(p.u, p.n, row);
        align_add_row(weight, row, align_dot(p.n, p.r), sums);
        return;
    }
    const double w = method == SAP_ALIGN_GENERALISED ? weight * rule.flatness : weight;
    const double(&u)[3] = p.u, (&r)[3] = p.r;
    double* matrix = sums + SAP_ALIGN_MATRIX;
    double* right = sums + SAP_ALIGN_RIGHT;
    matrix[0] += w * (u[1] * u[1] + u[2] * u[2]), matrix[6] += w * (u[0] * u[0] + u[2] * u[2]);
    matrix[11] += w * (u[0] * u[0] + u[1] * u[1]);
    matrix[1] -= w * (u[0] * u[1]), matrix[2] -= w * (u[0] * u[2]), matrix[7] -= w * (u[1] * u[2]);
    matrix[4] -= w * u[2], matrix[5] += w * u[1], matrix[8] += w * u[2];
    matrix[10] -= w * u[0], matrix[12] -= w * u[1], matrix[13] += w * u[0];
    matrix[15] += w, matrix[18] += w, matrix[20] += w;
    right[0] += w * (u[1] * r[2] - u[2] * r[1]), right[1] += w * (u[2] * r[0] - u[0] * r[2]);
    right[2] += w * (u[0] * r[1] - u[1] * r[0]);
#pragma unroll
    for (int a = 0; a < 3; a++) right[3 + a] += w * r[a];
    if (method != SAP_ALIGN_GENERALISED) return;
    const double n = align_dot(p.n, r), m = align_dot(p.m, r);
    const double l = p.k12 / p.k11, rest = p.k22 - p.k12 * l, first = w * p.k11, second = w * rest;
    const double along[3] = {p.n[0] + l * p.m[0], p.n[1] + l * p.m[1], p.n[2] + l * p.m[2]};
    align_row(u, along, row);
    align_add_row(first, row, n + l * m, sums);
    align_row(u, p.m, row);
    align_add_row(second, row, m, sums);
}

// The sums of blocks: eight lanes have a block, and each every eighth of its points.
template <typename real, int method, bool matrix>
static __global__ void __launch_bounds__(ALIGN_THREADS) align_add(const __grid_constant__ align_task<real> task) {
    const int64_t number = (int64_t)blockIdx.x * ALIGN_THREADS + threadIdx.x, block = number / SAP_ALIGN_LANES;
    const int lane = (int)(number % SAP_ALIGN_LANES);
    const int64_t first = block * SAP_ALIGN_BLOCK;
    const int64_t end = task.count - first < SAP_ALIGN_BLOCK ? task.count : first + SAP_ALIGN_BLOCK;
    double sums[SAP_ALIGN_SUMS];
#pragma unroll
    for (int k = 0; k < SAP_ALIGN_SUMS; k++) sums[k] = 0;
        // Without branches, so that several points are loaded before the first is added.
#pragma unroll 4
    for (int64_t i = first + lane; i < end; i += SAP_ALIGN_LANES) {
        align_pair p;
        const double counts = (double)task.at.counts[i];
        const bool is_used = counts > 0;
        align_look<real, method>(task, i, false, &p);
        const double weight = is_used ? align_weight(task.rule, p.residual2) : 0.0;
#pragma unroll
        for (int a = 0; a < 3; a++) p.r[a] = is_used ? p.r[a] : 0.0;
        sums[SAP_ALIGN_PAIRS] += counts;
        sums[SAP_ALIGN_WEIGHT] += weight;
        sums[SAP_ALIGN_SQUARES] += align_dot(p.r, p.r);
        if (matrix)
            align_add_matrix<method>(task.rule, weight, p, sums);
        else
            align_add_point(weight, p, sums);
    }
#pragma unroll
    for (int k = 0; k < SAP_ALIGN_SUMS; k++) {
        double total = 0;
        for (int l = 0; l < SAP_ALIGN_LANES; l++)
            total += __shfl_sync(SAP_ALL_LANES, sums[k], sap_lane() / SAP_ALIGN_LANES * SAP_ALIGN_LANES + l);
        if (lane == 0 && first < task.count) task.at.sums[block * SAP_ALIGN_SUMS + k] = total;
    }
}

// The sums of all blocks, in their order: a lane has one of them.
static __global__ void __launch_bounds__(SAP_WARP) align_total(const double* sums, int64_t blocks, double* total) {
    static_assert((int)SAP_ALIGN_SUMS == (int)SAP_WARP, "a lane has a sum");
    double sum = 0;
#pragma unroll 16
    for (int64_t block = 0; block < blocks; block++) sum += sums[block * SAP_ALIGN_SUMS + sap_lane()];
    total[sap_lane()] = sum;
}

// ---- The host's side

static align_there* align_there_of(const sap_aligning* a) { return (align_there*)a->there; }

static int64_t align_others(const sap_align_job* job) {
    return job->mesh ? job->mesh->shape.triangles : job->tree->shape.source_count;
}

// Carves an array out of a block; without one, the bytes are counted alone.
template <typename type>
static void align_carve(unsigned char* memory, size_t* at, size_t count, size_t each, type** array) {
    *array = memory ? (type*)(void*)(memory + *at) : NULL;
    *at += (count * each + 255) / 256 * 256;
}

static size_t align_lay_out(const sap_aligning* a, unsigned char* memory, align_there* there) {
    const size_t n = (size_t)a->points.padded + 1, real = (size_t)a->real_bits / 8;
    const size_t others = (size_t)align_others(a->job) + 1;
    const size_t blocks = (size_t)sap_align_blocks(a->points.padded) + 1;
    const bool has_own = a->points.own_normals[0] != NULL, has_others = a->points.other_normals[0] != NULL;
    size_t at = 0;
    for (int c = 0; c < 3; c++) {
        align_carve(memory, &at, n, sizeof(double), &there->own[c]);
        align_carve(memory, &at, n, real, &there->other[c]);
        if (has_own) align_carve(memory, &at, n, sizeof(float), &there->own_normals[c]);
        if (has_others) align_carve(memory, &at, n, sizeof(float), &there->other_normals[c]);
    }
    align_carve(memory, &at, 3 * n, real, &there->queries);
    if (a->job->mesh) {
        align_carve(memory, &at, n, sizeof(sap_closest), &there->closest);
        align_carve(memory, &at, 3 * n, sizeof(float), &there->known);
    } else {
        align_carve(memory, &at, n, real, &there->found2);
        align_carve(memory, &at, 4 * others, real, &there->target);
    }
    if (has_others) align_carve(memory, &at, 3 * others, sizeof(float), &there->target_normals);
    align_carve(memory, &at, n, sizeof(int32_t), &there->pairs);
    if (a->job->options.one_to_one) align_carve(memory, &at, n, sizeof(int32_t), &there->ids);
    align_carve(memory, &at, n, sizeof(double), &there->distance2);
    if (a->points.residual2) align_carve(memory, &at, n, sizeof(double), &there->residual2);
    align_carve(memory, &at, n, sizeof(float), &there->counts);
    align_carve(memory, &at, blocks * SAP_ALIGN_SUMS, sizeof(double), &there->sums);
    align_carve(memory, &at, SAP_ALIGN_SUMS, sizeof(double), &there->total);
    return at;
}

static void align_bring(sap_cuda_call* call, const sap_aligning* a, const align_there* there) {
    const sap_tree* tree = a->job->tree;
    const sap_mesh_tree* mesh = a->job->mesh;
    const size_t n = (size_t)a->points.count;
    for (int c = 0; c < 3; c++) {
        sap_cuda_copy(call, there->own[c], a->points.own[c], n * sizeof(double));
        if (there->own_normals[c])
            sap_cuda_copy(call, there->own_normals[c], a->points.own_normals[c], n * sizeof(float));
    }
    if (there->ids) sap_cuda_copy(call, there->ids, a->points.ids, n * sizeof(int32_t));
    if (mesh) {
        sap_cuda_fill(call, there->pairs, 0xff, n * sizeof(int32_t)); // none
        if (there->target_normals)
            sap_cuda_launch(call, align_find_normals, sap_cuda_grid_for(mesh->shape.triangles, SHOW_THREADS),
                            (const float*)(const void*)(mesh->arrays + mesh->shape.corner_at),
                            (const int32_t*)(const void*)(mesh->arrays + mesh->shape.id_at), mesh->shape.triangles,
                            there->target_normals);
        return;
    }
    if (there->target_normals)
        sap_cuda_copy(call, there->target_normals, a->target_normals,
                      3 * (size_t)tree->shape.source_count * sizeof(float));
    if (tree->shape.count == 0) return;
    const sap_cuda_queries own = sap_cuda_queries_from(call, tree, tree);
    if (call->status != SAP_OK) return;
    if (a->real_bits == 64)
        cloud_spread<double>(call, tree, own, (double*)there->target);
    else
        cloud_spread<float>(call, tree, own, (float*)there->target);
}

static sap_status align_begin(sap_aligning* a) {
    align_there* there = align_there_of(a);
    sap_cuda_call call;
    const size_t bytes = align_lay_out(a, NULL, there);
    if (sap_cuda_begin(&call, a->device) == SAP_OK) {
        there->memory.memory = (unsigned char*)sap_cuda_allocate(&call, bytes);
        there->memory.bytes = bytes;
        if (there->memory.memory) {
            align_lay_out(a, there->memory.memory, there);
            align_bring(&call, a, there);
        }
        call.waits = true; // the host's arrays are read
    }
    return sap_cuda_end(&call, SAP_OK);
}

static void align_end(sap_aligning* a) {
    align_there* there = align_there_of(a);
    if (there->memory.memory) sap_cuda_release(a->device, there->memory.memory, there->memory.bytes);
}

template <typename real> static align_task<real> align_task_of(const sap_aligning* a, int64_t count) {
    align_task<real> task;
    memset((void*)&task, 0, sizeof task);
    task.at = *align_there_of(a);
    task.pose = a->pose;
    task.rule = a->rule;
    task.count = count;
    return task;
}

template <typename real> static void align_search(sap_cuda_call* call, const sap_aligning* a, int64_t count) {
    const align_task<real> task = align_task_of<real>(a, count);
    const sap_cuda_grid grid = sap_cuda_grid_for(count, SHOW_THREADS);
    const double limit = a->job->options.max_distance * SAP_ALIGN_RESERVE;
    sap_cuda_launch(call, align_ask<real>, grid, task);
    if (a->job->mesh) {
        sap_closest_job job;
        memset((void*)&job, 0, sizeof job);
        job.points.coords = task.at.queries;
        job.points.count = count;
        job.points.stride = job.points.dims = 3;
        job.points.real_bits = 32;
        job.closest = task.at.closest;
        job.known = task.at.known;
        sap_closest_run_cuda(call, a->job->mesh, &job);
        sap_cuda_launch(call, align_take<real>, grid, task);
        return;
    }
    sap_nearest_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.queries.coords = task.at.queries;
    plan.queries.count = plan.rows = count;
    plan.queries.stride = 3;
    plan.k = a->job->tree->shape.count > 0;
    plan.row_length = 1;
    plan.limit2 = sap_limit2_of(limit > 0 ? limit : (double)INFINITY, a->real_bits);
    plan.ids = task.at.pairs;
    plan.distance2 = task.at.found2;
    sap_nearest_run_cuda(call, a->job->tree, &plan);
    sap_cuda_launch(call, align_take<real>, grid, task);
}

// Whatever follows in the stream comes after it, so nothing waits.
static sap_status align_queued(sap_cuda_call* call) {
    call->waits = false;
    return sap_cuda_end(call, SAP_OK);
}

static sap_status align_match(sap_aligning* a, int64_t count) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, a->device) == SAP_OK)
        (a->real_bits == 64 ? align_search<double> : align_search<float>)(&call, a, count);
    return align_queued(&call);
}

template <typename real> static void align_measure_all(sap_cuda_call* call, const sap_aligning* a, int64_t count) {
    const align_task<real> task = align_task_of<real>(a, count);
    const sap_cuda_grid grid = sap_cuda_grid_for(count, SHOW_THREADS);
    switch (a->rule.method) {
    case SAP_ALIGN_POINT: sap_cuda_launch(call, align_measure<real, SAP_ALIGN_POINT>, grid, task); break;
    case SAP_ALIGN_PLANE: sap_cuda_launch(call, align_measure<real, SAP_ALIGN_PLANE>, grid, task); break;
    default: sap_cuda_launch(call, align_measure<real, SAP_ALIGN_GENERALISED>, grid, task);
    }
}

static sap_status align_judge(sap_aligning* a, int64_t count) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, a->device) == SAP_OK)
        (a->real_bits == 64 ? align_measure_all<double> : align_measure_all<float>)(&call, a, count);
    if (!sap_align_chooses(&a->job->options)) return align_queued(&call);
    const align_there* there = align_there_of(a);
    const sap_align_choice choice = {there->pairs,  there->ids, there->distance2,    there->residual2,
                                     there->counts, count,      align_others(a->job)};
    sap_align_choose_cuda(&call, a, &choice);
    return sap_cuda_end(&call, SAP_OK);
}

template <typename real>
static void align_add_all(sap_cuda_call* call, const sap_aligning* a, int64_t count, bool matrix) {
    const align_task<real> task = align_task_of<real>(a, count);
    sap_cuda_grid grid = sap_cuda_grid_for(sap_align_blocks(count) * SAP_ALIGN_LANES, ALIGN_THREADS);
    switch (a->rule.method) {
    case SAP_ALIGN_PLANE: sap_cuda_launch(call, align_add<real, SAP_ALIGN_PLANE, true>, grid, task); break;
    case SAP_ALIGN_GENERALISED: sap_cuda_launch(call, align_add<real, SAP_ALIGN_GENERALISED, true>, grid, task); break;
    default:
        sap_cuda_launch(call, matrix ? align_add<real, SAP_ALIGN_POINT, true> : align_add<real, SAP_ALIGN_POINT, false>,
                        grid, task);
    }
    grid.blocks = 1;
    grid.threads = SAP_WARP;
    sap_cuda_launch(call, align_total, grid, (const double*)task.at.sums, sap_align_blocks(count), task.at.total);
}

static sap_status align_sum(sap_aligning* a, int64_t count, bool matrix, double sums[SAP_ALIGN_SUMS]) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, a->device) == SAP_OK)
        (a->real_bits == 64 ? align_add_all<double> : align_add_all<float>)(&call, a, count, matrix);
    sap_cuda_fetch(&call, sums, align_there_of(a)->total, SAP_ALIGN_SUMS * sizeof(double));
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_cloud_align_cuda(sap_align_job* job) {
    static const sap_align_ops ops = {true, align_begin, align_end, align_match, align_judge, align_sum};
    align_there there;
    memset((void*)&there, 0, sizeof there);
    return sap_align_run(job, &ops, &there);
}
