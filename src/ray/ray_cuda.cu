// Rays on CUDA devices: one ray per lane. Walks differ in length, and a warp is as slow as its longest walk: so idle
// lanes take further rays as soon as there are a few such lanes (Aila and Laine 2009), if the warp's first rays had
// different directions. Rays of one octant stay together: they end at about the same time, and new rays among them
// would visit other parts of the tree. Warps take rays 32 at a time; as many warps run as the GPU holds.
#include "ray/together_cuda.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { RAY_BLOCKS = 8 }; // resident on a multiprocessor: Turing has room for 1024 threads
#else
enum { RAY_BLOCKS = 9 }; // 56 registers a thread
#endif

enum {
    RAY_THREADS = SAP_HIT_THREADS,
    RAY_WARPS = RAY_THREADS / SAP_WARP,
    ROW_BLOCKS = 8, // the same for all hits
    RAY_FEW_IDLE = 8
};

// Rays walk together if, across the mesh, they spread no farther than so many triangles' sides, were its triangles of
// one size.
#define TOGETHER_TRIANGLES_APART 3.0f

// ---- Rays in, answers out

// Writes all hits of the lanes with is_one.
template <int mode>
static __device__ __forceinline__ void answer_rows(const ray_task& task, bool is_one, const ray_lane& lane) {
    const int64_t first = __shfl_sync(SAP_ALL_LANES, lane.number, 0);
    const bool is_next = is_one && lane.number == first + (int64_t)(threadIdx.x % SAP_WARP);
    if (mode == FIND_ALL && __all_sync(SAP_ALL_LANES, is_next))
        sap_hit_rows_write(task.job, lane.count, first, task.aligned);
    else if (is_one)
        sap_hit_row_write(task.job, mode == FIND_ALL, lane.count, lane.number, task.aligned);
    if (is_one && task.job.counts) task.job.counts[lane.number] = lane.count;
}

// Writes the results of the lanes with is_one.
template <int mode>
static __device__ __forceinline__ void answer(const ray_task& task, bool is_one, const ray_lane& lane) {
    is_one = is_one && lane.number >= 0;
    const bool is_hit = lane.triangle >= 0;
    if (mode >= FIND_ALL) {
        answer_rows<mode>(task, is_one, lane);
    } else if (is_one && mode == FIND_ANY) {
        task.job.occluded[lane.number] = is_hit;
    } else if (is_one) {
        const sap_hit hit = sap_hit_of(is_hit ? lane.t : INFINITY, lane.u, lane.v, lane.triangle);
        sap_hit_write(task.job.hits + lane.number, hit, task.aligned);
    }
}

static __device__ __forceinline__ unsigned octant_of(const sap_prepared_ray& ray) {
    return (unsigned)(ray.inverse.x < 0) | (unsigned)(ray.inverse.y < 0) << 1 | (unsigned)(ray.inverse.z < 0) << 2;
}

// Gives rays to idle lanes. Returns how many lanes have to be idle before the next refill.
template <int mode>
static __device__ __forceinline__ int refill(const ray_task& task, unsigned idle, int enough, ray_chunk* chunk,
                                             ray_lane* lane) {
    if (chunk->begun == chunk->count) *chunk = take_chunk(task.taken, task.job.count);
    SAP_ASSERT(chunk->begun >= 0 && chunk->begun <= chunk->count && chunk->count <= SAP_WARP);
    const unsigned below = (1u << threadIdx.x % SAP_WARP) - 1;
    const int place = chunk->begun + __popc(idle & below);
    const bool begins = lane->side == NOWHERE && place < chunk->count;
    answer<mode>(task, begins, *lane);
    if (begins) {
        lane->number = chunk->first + place;
        SAP_ASSERT(lane->number < task.job.count);
        begin_ray(task.mesh, read_ray(task.job.rays, lane->number, task.aligned), lane);
    }
    chunk->begun += __popc(idle);
    if (chunk->begun > chunk->count) chunk->begun = chunk->count;
    if (idle != SAP_ALL_LANES) return enough;
    const unsigned octant = octant_of(lane->ray), first = __shfl_sync(SAP_ALL_LANES, octant, 0);
    return __all_sync(SAP_ALL_LANES, !begins || octant == first) ? (int)SAP_WARP : (int)RAY_FEW_IDLE;
}

// ---- Kernels

// Bytes of a block's rows.
static __host__ __device__ __forceinline__ size_t rows_in_shared(int32_t limit) {
    return (size_t)limit * SAP_HIT_STRIDE * sizeof(sap_hit);
}

template <int mode>
static __global__ void __launch_bounds__(RAY_THREADS, mode >= FIND_ALL ? ROW_BLOCKS : RAY_BLOCKS)
    trace_rays(const __grid_constant__ ray_task task) {
    SAP_CUDA_SHARED(unsigned char, shared);
    ray_bundle* bundles = (ray_bundle*)(shared + (mode == FIND_ALL ? rows_in_shared(task.job.limit) : 0));
    ray_stack stack;
    ray_lane lane;
    ray_chunk chunk = {0, 0, 0};
    int enough = SAP_WARP;
    lane.number = -1;
    lane.side = NOWHERE;
    lane.count = 0;
    lane.t = 0;
    for (;;) {
        unsigned idle = __ballot_sync(SAP_ALL_LANES, lane.side == NOWHERE);
        if (__popc(idle) >= enough) {
            enough = refill<mode>(task, idle, enough, &chunk, &lane);
            if (chunk.count == 0) enough = SAP_WARP + 1; // no rays are left
            if (mode >= FIND_ALL && enough == SAP_WARP)
                walk_together<mode>(task, bundles + threadIdx.x / SAP_WARP, &lane);
            idle = __ballot_sync(SAP_ALL_LANES, lane.side == NOWHERE);
        }
        if (idle != SAP_ALL_LANES) {
            descend(task.mesh, SAP_WARP - __popc(idle), &stack, &lane);
            if (lane.side != NOWHERE && (int32_t)lane.side < 0) look_into_leaf<mode>(task.mesh, task.job, stack, &lane);
        } else if (enough > SAP_WARP) {
            break;
        }
    }
    answer<mode>(task, true, lane);
}

// Traces by the shared walk, which counts visits.
static __global__ void __launch_bounds__(RAY_THREADS)
    trace_visits(const __grid_constant__ sap_mesh_tree tree, const __grid_constant__ ray_task task) {
    const int64_t i = (int64_t)blockIdx.x * RAY_THREADS + threadIdx.x;
    if (i >= task.job.count) return;
    const sap_ray_result found = sap_ray_walk(&tree, prepare(task.mesh, read_ray(task.job.rays, i, task.aligned)),
                                              task.mesh.lower, task.mesh.upper, false);
    const sap_hit hit = sap_hit_of(found.triangle < 0 ? INFINITY : found.t, found.u, found.v, found.triangle);
    sap_hit_write(task.job.hits + i, hit, task.aligned);
    task.job.visits[i] = found.visits;
}

// ---- The call

static ray_task task_of(const sap_mesh_tree* tree, const sap_ray_job* job) {
    ray_task task;
    memset((void*)&task, 0, sizeof task);
    task.mesh = sap_mesh_on_cuda_of(tree);
    task.aligned = (((uintptr_t)job->rays | (uintptr_t)job->hits) & 15) == 0;
    task.places = (uint32_t)tree->shape.references;
    for (int k = 0; k < 3; k++) task.side = fmaxf(task.side, tree->shape.upper[k] - tree->shape.lower[k]);
    task.near = TOGETHER_TRIANGLES_APART * task.side / sqrtf((float)tree->shape.triangles);
    task.job = *job;
    return task;
}

static void launch(sap_cuda_call* call, void (*kernel)(const ray_task), ray_task task) {
    sap_cuda_grid grid = sap_cuda_grid_for(task.job.count, RAY_THREADS);
    if (task.job.limit) grid.shared = RAY_WARPS * sizeof(ray_bundle);
    if (task.job.limit <= SAP_HITS_SHARED) grid.shared += rows_in_shared(task.job.limit);
    const int64_t resident = sap_cuda_resident(call, (const void*)kernel, RAY_THREADS, grid.shared);
    if (grid.blocks > resident) grid.blocks = resident;
    task.taken = (unsigned*)sap_cuda_take(call, sizeof *task.taken);
    sap_cuda_fill(call, task.taken, 0, sizeof *task.taken);
    sap_cuda_launch(call, kernel, grid, task);
}

sap_status sap_trace_cuda(const sap_mesh_tree* tree, const sap_ray_job* job) {
    const size_t count = (size_t)job->count, rows = count * (size_t)(job->limit ? job->limit : 1);
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_ray_job on_device = *job;
    on_device.rays = (const sap_ray*)sap_cuda_in(&call, job->rays, count * sizeof(sap_ray));
    on_device.hits = (sap_hit*)sap_cuda_out(&call, job->hits, rows * sizeof(sap_hit));
    on_device.counts = (int32_t*)sap_cuda_out(&call, job->counts, count * sizeof(int32_t));
    on_device.occluded = (uint8_t*)sap_cuda_out(&call, job->occluded, count);
    on_device.visits = (int32_t*)sap_cuda_out(&call, job->visits, count * sizeof(int32_t));
    const ray_task task = task_of(tree, &on_device);
    if (job->visits)
        sap_cuda_launch(&call, trace_visits, sap_cuda_grid_for(job->count, RAY_THREADS), *tree, task);
    else if (job->occluded)
        launch(&call, trace_rays<FIND_ANY>, task);
    else if (job->limit)
        launch(&call, job->limit <= SAP_HITS_SHARED ? trace_rays<FIND_ALL> : trace_rays<FIND_MANY>, task);
    else
        launch(&call, trace_rays<FIND_FIRST>, task);
    return sap_cuda_end(&call, SAP_OK);
}
