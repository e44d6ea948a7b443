// Points that repel each other, on a GPU: between the first step and the last nothing leaves it.
#include "cloud/shapes_cuda.cuh"
#include "cloud/show_cuda.cuh"

// ---- A step

// What moves a point: see cloud/show_cuda.cuh. A sibling of what cloud/sums_simd.c does with a batch of points.
struct relax_sink {
    enum { NEEDS_PLACES = true, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    double radius, step; // radius 0: that of the last of the neighbours
    float *moved, *normals;

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
        const double distance = sqrt((double)distance2), force = 1 / distance - 1 / s.range;
        const double factor = distance > 0 && force > 0 ? force : 0;
        double d[3];
        for (int a = 0; a < 3; a++) {
            d[a] = (double)place[a] - s.own[a];
            s.push[a] += d[a] * factor;
        }
        cloud_add(&s.sums, d, cloud_weight(near, id, (double)distance2, s.range));
    }
    __device__ __forceinline__ bool again(state&) const { return false; }

    // On the surface, or along the line, that the neighbours lie on, by the force over the greatest second derivative
    // that the energies of its pairs can have together.
    __device__ __forceinline__ void finish(const state& s, int64_t row, int found) const {
        const sap_principal p = sap_principal_of(cloud_covariance(s.sums));
        const sap_neighborhood kind = cloud_kind<float>(p, s.own, 1, s.sums.weight, found);
        const bool is_line = kind == SAP_NEIGHBORHOOD_LINE;
        const double least[3] = {p.least_axis.x, p.least_axis.y, p.least_axis.z};
        const double greatest[3] = {p.greatest_axis.x, p.greatest_axis.y, p.greatest_axis.z};
        double move[3] = {0, 0, 0}, along = 0;
        if (kind >= SAP_NEIGHBORHOOD_LINE) {
            const double factor = step * s.range / (double)(2 * ((int64_t)found - 1));
            for (int a = 0; a < 3; a++) {
                move[a] = -factor * s.push[a];
                along += move[a] * (is_line ? greatest[a] : least[a]);
            }
            for (int a = 0; a < 3; a++) move[a] = is_line ? along * greatest[a] : move[a] - along * least[a];
        }
        for (int a = 0; a < 3; a++) moved[3 * row + a] = (float)(s.own[a] + move[a]);
        if (normals) cloud_write_axis(normals + 3 * row, p.least_axis, kind == SAP_NEIGHBORHOOD_SURFACE);
    }
};

static sap_status relax_step(const sap_relax_job* job) {
    const sap_tree* tree = job->tree;
    const size_t bytes = (size_t)tree->shape.source_count * 3 * sizeof(float);
    sap_cuda_call call;
    SAP_ASSERT(tree->shape.count == tree->shape.source_count && tree->shape.real_bits == 32);
    if (sap_cuda_begin(&call, tree->device) == SAP_OK && tree->shape.count) {
        const relax_sink sink = {job->near.radius, job->options.step, (float*)sap_cuda_out(&call, job->moved, bytes),
                                 (float*)sap_cuda_out(&call, job->normals, bytes)};
        const cloud_asking asking = {tree, sap_cuda_queries_from(&call, tree, tree), job->near.k, false,
                                     job->near.limit2};
        if (call.status == SAP_OK && asking.k > 0)
            cloud_show_nearest<float>(&call, asking, cloud_points<float>(&call, tree, asking.queries), sink);
        else if (call.status == SAP_OK)
            cloud_show_ball<float>(&call, asking, sink);
    }
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
    const int64_t block = (int64_t)blockIdx.x * SHOW_WARPS + threadIdx.x / SAP_WARP, first = block * SAP_RELAX_BLOCK;
    static_assert((int)SAP_RELAX_LANES == (int)SAP_WARP, "a warp has a block of numbers");
    if (first >= coordinates) return;
    const int64_t end = coordinates - first < SAP_RELAX_BLOCK ? coordinates : first + SAP_RELAX_BLOCK;
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
    const int64_t blocks = (coordinates + SAP_RELAX_BLOCK - 1) / SAP_RELAX_BLOCK;
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
    relax_return(const float* given, int64_t stride, const float* surface, const int32_t* ids, int64_t count,
                 float* moved) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= count || ids[i] < 0) return;
    const float *normal = surface + 3 * (int64_t)ids[i], *on = given + ids[i] * stride;
    float* at = moved + 3 * i;
    double off = 0;
    for (int a = 0; a < 3; a++) off += ((double)at[a] - (double)on[a]) * (double)normal[a];
    for (int a = 0; a < 3; a++) at[a] = (float)((double)at[a] - off * (double)normal[a]);
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
                        there.stride, job->surface, (const int32_t*)job->ids, job->count, job->at);
    }
    return sap_cuda_end(&call, SAP_OK);
}

extern "C" const sap_relax_ops sap_cloud_relax_cuda = {true,       relax_take,    relax_give,    relax_copy,
                                                       relax_step, relax_measure, relax_put_back};
