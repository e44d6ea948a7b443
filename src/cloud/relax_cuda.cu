// Points that repel each other, on a GPU: between the first step and the last nothing leaves it.
#include "cloud/shapes_cuda.cuh"
#include "cloud/surface.h"

// ---- A step

// What moves a point: see cloud/show_cuda.cuh. A sibling of what cloud/sums_simd.c does with a batch of points.
struct relax_sink {
    enum { NEEDS_PLACES = true, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    enum { NOTED = 4 }; // numbers beside those of the axes: the range and the push
    double radius;      // 0: that of the last of the neighbours
    cloud_notes notes;

    struct state {
        cloud_moments sums;
        double own[3], range, push[3];
    };
    __device__ __forceinline__ void begin(state& s, int64_t, const float (&own)[3]) const {
        for (int a = 0; a < 3; a++) {
            s.own[a] = (double)own[a];
            s.push[a] = 0;
        }
        s.range = radius;
        cloud_clear(&s.sums);
    }
    __device__ __forceinline__ void look(state& s, int, float last2) const {
        if (!(radius > 0)) s.range = sqrt((double)last2);
    }
    // The push is the sum of (1 / |d| - 1 / r) d, d being the difference to the neighbour. One at the same place does not
    // push.
    __device__ __forceinline__ void take(state& s, int id, float distance2, const float (&place)[3]) const {
        const cloud_near near = {NULL, 0, true};
        const float distance = sqrtf(distance2);
        const double force = (double)(1 / distance) - 1 / s.range;
        const double factor = distance > 0 && force > 0 ? force : 0;
        double d[3];
        for (int a = 0; a < 3; a++) {
            d[a] = (double)place[a] - s.own[a];
            s.push[a] += d[a] * factor;
        }
        cloud_add(&s.sums, d, cloud_weight(near, id, (double)distance2, s.range));
    }
    __device__ __forceinline__ bool again(state&) const { return false; }

    __device__ __forceinline__ void finish(const state& s, int64_t i, int64_t, int found) const {
        const double more[NOTED] = {s.range, s.push[0], s.push[1], s.push[2]};
        cloud_note(notes, i, cloud_covariance(s.sums), s.sums.weight, found);
#pragma unroll
        for (int j = 0; j < NOTED; j++) notes.values[(CLOUD_NOTED_MORE + j) * notes.room + i] = more[j];
    }
};

// Moves points on the surface, or along the line, that their neighbours lie on, by the force over the greatest second
// derivative that the energies of its pairs can have together.
static __global__ void __launch_bounds__(SHOW_THREADS)
    relax_move(const __grid_constant__ nearest_task<float> task, const __grid_constant__ cloud_notes notes, double step,
               float* moved, float* normals) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count || *task.tree.bad != INT64_MAX || task.rows[i] < 0) return;
    const int64_t row = task.rows[i];
    const int found = notes.found[i];
    float place[3];
    double more[relax_sink::NOTED], move[3] = {0, 0, 0}, along = 0;
    for (int j = 0; j < relax_sink::NOTED; j++) more[j] = notes.values[(CLOUD_NOTED_MORE + j) * notes.room + i];
    show_place(task, i, row, place);
    const double own[3] = {(double)place[0], (double)place[1], (double)place[2]};
    const sap_principal p = sap_principal_of(cloud_noted(notes, i));
    const double weight = notes.values[CLOUD_NOTED_WEIGHT * notes.room + i];
    const sap_neighborhood kind = cloud_kind<float>(p, own, 1, weight, found);
    const bool is_line = kind == SAP_NEIGHBORHOOD_LINE;
    const double least[3] = {p.least_axis.x, p.least_axis.y, p.least_axis.z};
    const double greatest[3] = {p.greatest_axis.x, p.greatest_axis.y, p.greatest_axis.z};
    if (kind >= SAP_NEIGHBORHOOD_LINE) {
        const double factor = step * more[0] / (double)(2 * ((int64_t)found - 1));
        for (int a = 0; a < 3; a++) {
            move[a] = -factor * more[1 + a];
            along += move[a] * (is_line ? greatest[a] : least[a]);
        }
        for (int a = 0; a < 3; a++) move[a] = is_line ? along * greatest[a] : move[a] - along * least[a];
    }
    for (int a = 0; a < 3; a++) moved[3 * row + a] = (float)(own[a] + move[a]);
    if (normals) cloud_write_axis(normals + 3 * row, p.least_axis, kind == SAP_NEIGHBORHOOD_SURFACE);
}

static void relax_points(sap_cuda_call* call, const sap_relax_job* job) {
    const sap_tree* tree = job->tree;
    const size_t bytes = (size_t)tree->shape.source_count * 3 * sizeof(float);
    float* const moved = (float*)sap_cuda_out(call, job->moved, bytes);
    float* const normals = (float*)sap_cuda_out(call, job->normals, bytes);
    const cloud_asking all = {tree, sap_cuda_queries_from(call, tree, tree), job->near.k, false, job->near.limit2};
    const int64_t count = all.queries.count;
    if (call->status != SAP_OK) return;
    const relax_sink sink = {job->near.radius, cloud_notes_take(call, count, CLOUD_NOTED_MORE + relax_sink::NOTED)};
    const float* points = all.k > 0 ? cloud_points<float>(call, tree, all.queries) : NULL;
    for (int64_t first = 0; call->status == SAP_OK && first < count; first += CLOUD_PART) {
        const cloud_asking part = cloud_part_of(all, first);
        cloud_show<float>(call, part, points, sink);
        sap_cuda_launch(call, relax_move, sap_cuda_grid_for(part.queries.count, SHOW_THREADS),
                        show_task_of<float>(part, NULL).nearest, sink.notes, job->options.step, moved, normals);
    }
}

static sap_status relax_step(const sap_relax_job* job) {
    sap_cuda_call call;
    SAP_ASSERT(job->tree->shape.count == job->tree->shape.source_count && job->tree->shape.real_bits == 32);
    if (sap_cuda_begin(&call, job->tree->device) == SAP_OK && job->tree->shape.count) relax_points(&call, job);
    return sap_cuda_end(&call, SAP_OK);
}

// ---- Memory

static bool relax_take(sap_device* device, size_t bytes, sap_scratch* memory) {
    sap_cuda_call call;
    memory->memory = NULL;
    if (sap_cuda_begin(&call, device) == SAP_OK) memory->memory = (unsigned char*)sap_cuda_allocate(&call, bytes);
    memory->bytes = bytes;
    return sap_cuda_end(&call, SAP_OK) == SAP_OK && memory->memory;
}

static void relax_give(sap_device* device, sap_scratch* memory) {
    if (memory->memory) sap_cuda_release(device, memory->memory, memory->bytes);
    memory->memory = NULL;
}

static sap_status relax_copy(sap_device* device, void* to, const void* from, size_t bytes) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, device) == SAP_OK) sap_cuda_copy(&call, to, from, bytes);
    call.waits = true;
    return sap_cuda_end(&call, SAP_OK);
}

// ---- How far points moved

static __global__ void __launch_bounds__(SHOW_THREADS)
    relax_squares(const float* from, const float* to, int64_t coordinates, double* sums) {
    const int64_t block = (int64_t)blockIdx.x * SHOW_WARPS + threadIdx.x / SAP_WARP, first = block * SAP_SUM_BLOCK;
    static_assert((int)SAP_SUM_LANES == (int)SAP_WARP, "a warp has a block of numbers");
    if (first >= coordinates) return;
    const int64_t end = coordinates - first < SAP_SUM_BLOCK ? coordinates : first + SAP_SUM_BLOCK;
    double own = 0, sum = 0;
    for (int64_t i = first + sap_lane(); i < end; i += SAP_WARP) {
        const double d = (double)to[i] - (double)from[i];
        own += d * d;
    }
    for (int lane = 0; lane < SAP_WARP; lane++) sum += __shfl_sync(SAP_ALL_LANES, own, lane);
    if (sap_lane() == 0) sums[block] = sum;
}

static sap_status relax_measure(sap_device* device, const float* from, const float* to, int64_t coordinates,
                                double* sum) {
    const int64_t blocks = (coordinates + SAP_SUM_BLOCK - 1) / SAP_SUM_BLOCK;
    const size_t bytes = (size_t)blocks * sizeof(double);
    sap_scratch host;
    sap_cuda_call call;
    *sum = 0;
    if (!sap_scratch_take(device, bytes + 1, &host))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld sums", (long long)blocks);
    double* there = NULL;
    double* here = (double*)(void*)host.memory;
    if (sap_cuda_begin(&call, device) == SAP_OK) there = (double*)sap_cuda_take(&call, bytes);
    sap_cuda_grid grid = sap_cuda_grid_for(blocks, SHOW_WARPS);
    grid.threads = SHOW_THREADS;
    sap_cuda_launch(&call, relax_squares, grid, from, to, coordinates, there);
    sap_cuda_fetch(&call, here, there, bytes);
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    for (int64_t i = 0; status == SAP_OK && i < blocks; i++) *sum += here[i];
    sap_scratch_give(device, &host);
    return status;
}

// ---- Back on the surface

static __global__ void __launch_bounds__(SHOW_THREADS)
    relax_return(const float* given, int64_t stride, const float* surface, const float* normals, double reach,
                 const int32_t* ids, int64_t count, float* moved) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= count || ids[i] < 0) return;
    const int64_t id = ids[i];
    sap_surface_return(given + id * stride, surface + 3 * id, normals + 3 * i, reach, moved + 3 * i);
}

static sap_status relax_put_back(const sap_relax_return* job) {
    sap_device* device = job->given->device;
    const sap_points moved = {job->at, job->count, 3, 0};
    const sap_points* given = &job->points;
    const sap_rows rows = {given->coords, given->count, given->stride ? given->stride : 3, 3, 32};
    sap_search search;
    sap_cuda_call call;
    memset((void*)&search, 0, sizeof search);
    search.k = 1;
    const sap_status status = sap_nearest(job->given, moved, &search, job->ids, job->distance2);
    if (status != SAP_OK) return status;
    if (sap_cuda_begin(&call, device) == SAP_OK) {
        const sap_rows there = sap_cuda_rows_in(&call, &rows);
        sap_cuda_launch(&call, relax_return, sap_cuda_grid_for(job->count, SHOW_THREADS), (const float*)there.coords,
                        there.stride, job->surface, job->normals, job->reach, (const int32_t*)job->ids, job->count,
                        job->at);
    }
    return sap_cuda_end(&call, SAP_OK);
}

extern "C" const sap_relax_ops sap_cloud_relax_cuda = {true,       relax_take,    relax_give,    relax_copy,
                                                       relax_step, relax_measure, relax_put_back};
