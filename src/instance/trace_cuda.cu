// Rays about instances on CUDA devices: one ray per lane. A lane goes down the tree over instances until it comes to one
// whose box its ray meets; the ray is moved there and walks the mesh like any other (ray/lane_cuda.cuh). The lanes of a
// warp may be in different meshes. Idle lanes take further rays as in ray/ray_cuda.cu.
#include "instance/instance_cuda.cuh"
#include "ray/lane_cuda.cuh"

enum { INSTANCE_THREADS = 128, INSTANCE_BLOCKS = 5, INSTANCE_FEW_IDLE = 8 };

typedef struct instance_task {
    const sap_instance_node* nodes;
    const sap_placed_on_cuda* placed;
    int64_t filed;
    bool aligned;    // rays are aligned to 16 bytes
    unsigned* taken; // chunks of 32 rays that warps have taken; zero at first
    sap_instance_job job;
} instance_task;

// A ray in the world, and what it has found.
typedef struct world_lane {
    bool going;
    int instance; // where the lane's walk is
    int waiting;  // nodes over instances
    sap_mesh_on_cuda mesh;
    sap_ray ray; // hits beyond t_max do not count
    float inverse[3];
    float far; // the largest magnitude of a coordinate of the origin
    sap_instance_hit first;
    int count; // FIND_ALL: of the ray's row
} world_lane;

// Nodes over instances that a ray meets from some t on.
typedef struct node_stack {
    uint32_t node[SAP_INSTANCE_DEPTH_MAX + 1];
    float from[SAP_INSTANCE_DEPTH_MAX + 1];
} node_stack;

// ---- Down the tree over instances

// Whether a ray meets a node's box, and from where: as bundles do (instance/bundle_simd.c). NaN leaves the span as it
// is.
static __device__ __forceinline__ bool meets(const sap_instance_node& node, const world_lane& world, float* from) {
    const float margin = node.reach * world.far;
    float to = world.ray.t_max;
    *from = world.ray.t_min;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float low = ((node.lower[k] - margin) - world.ray.origin[k]) * world.inverse[k];
        const float high = ((node.upper[k] + margin) - world.ray.origin[k]) * world.inverse[k];
        const bool is_backward = world.ray.direction[k] < 0;
        *from = fmaxf(is_backward ? high : low, *from);
        to = fminf(is_backward ? low : high, to);
    }
    return *from <= to;
}

static __device__ __forceinline__ sap_instance_node read_node(const instance_task& task, uint32_t at) {
    SAP_ASSERT((int64_t)at < 2 * task.filed - 1);
    const float4* from = (const float4*)(task.nodes + at);
    const float4 halves[2] = {__ldg(from), __ldg(from + 1)};
    sap_instance_node node;
    memcpy(&node, halves, sizeof node);
    return node;
}

static __device__ __forceinline__ void push(node_stack* stack, uint32_t node, float from, world_lane* world) {
    SAP_ASSERT(world->waiting <= SAP_INSTANCE_DEPTH_MAX);
    stack->node[world->waiting] = node;
    stack->from[world->waiting] = from;
    world->waiting++;
}

// Puts the sides of an inner node that the ray meets on the stack, the nearer one on top.
static __device__ __forceinline__ void open_node(const instance_task& task, uint32_t at, const sap_instance_node& node,
                                                 node_stack* stack, world_lane* world) {
    const uint32_t left = at + 1, right = node.link >> 3;
    float left_from, right_from;
    const bool is_left = meets(read_node(task, left), *world, &left_from);
    const bool is_right = meets(read_node(task, right), *world, &right_from);
    const bool right_first = right_from < left_from;
    if (is_left && right_first) push(stack, left, left_from, world);
    if (is_right) push(stack, right, right_from, world);
    if (is_left && !right_first) push(stack, left, left_from, world);
}

// Moves the ray to an instance and begins its walk there.
static __device__ __forceinline__ void enter(const instance_task& task, int instance, world_lane* world,
                                             ray_lane* lane) {
    const sap_placed_on_cuda* placed = task.placed + instance;
    world->instance = instance;
    world->mesh = placed->mesh;
    begin_ray(world->mesh, sap_ray_moved(placed->inverse, world->ray, world->ray.t_max), lane);
}

// Goes on to the next instance whose mesh the ray may hit. There is none: the ray is done.
static __device__ __forceinline__ void next_instance(const instance_task& task, node_stack* stack, world_lane* world,
                                                     ray_lane* lane) {
    while (lane->side == NOWHERE && world->waiting > 0) {
        const uint32_t at = stack->node[--world->waiting];
        if (!(stack->from[world->waiting] <= world->ray.t_max)) continue;
        const sap_instance_node node = read_node(task, at);
        if (node.link & 1)
            enter(task, (int)(node.link >> 1), world, lane);
        else
            open_node(task, at, node, stack, world);
    }
    world->going = lane->side != NOWHERE;
}

// ---- Hits

// What look_into_leaf is given in the place of a job about one mesh.
typedef struct instance_sink {
    const instance_task* task;
    world_lane* world;
} instance_sink;

template <int mode>
static __device__ __forceinline__ void take_hit(const instance_sink& sink, const sap_crossing& hit, int triangle,
                                                ray_lane* lane) {
    if (mode == FIND_ALL) {
        world_lane* world = sink.world;
        const int32_t limit = sink.task->job.limit;
        sap_instance_hit* row = sink.task->job.hits + lane->number * limit;
        const sap_instance_hit one = {hit.t, hit.u, hit.v, triangle, world->instance};
        world->count = sap_instance_hits_insert(row, world->count, limit, one);
        if (world->count == limit) world->ray.t_max = lane->t = row[limit - 1].t;
    } else {
        const sap_ray_job none = {};
        take_hit<mode>(none, hit, triangle, lane);
    }
}

// Keeps the better of an instance's first hit and those of instances before.
static __device__ __forceinline__ void leave(const ray_lane& lane, world_lane* world) {
    const sap_instance_hit hit = {lane.t, lane.u, lane.v, lane.triangle, world->instance};
    if (hit.triangle < 0 || (world->first.triangle >= 0 && !sap_instance_hit_precedes(&hit, &world->first))) return;
    world->first = hit;
    world->ray.t_max = hit.t;
}

// ---- Rays in, answers out

// Writes the results of the lanes with is_one.
template <int mode>
static __device__ __forceinline__ void answer(const instance_task& task, bool is_one, const ray_lane& lane,
                                              const world_lane& world) {
    if (!is_one || lane.number < 0) return;
    SAP_ASSERT(!world.going && lane.number < task.job.count);
    if (mode == FIND_ALL) {
        const sap_instance_hit none = {INFINITY, 0, 0, -1, -1};
        sap_instance_hit* row = task.job.hits + lane.number * task.job.limit;
        for (int32_t i = world.count; i < task.job.limit; i++) row[i] = none;
        if (task.job.counts) task.job.counts[lane.number] = world.count;
    } else if (mode == FIND_ANY) {
        task.job.occluded[lane.number] = lane.triangle >= 0;
    } else if (task.job.numbered) {
        const int instance = world.first.instance;
        const int64_t before = instance < 0 ? 0 : task.placed[instance].before;
        task.job.numbered[lane.number] = sap_hit_numbered(&world.first, before);
    } else {
        task.job.hits[lane.number] = world.first;
    }
}

static __device__ __forceinline__ void begin(const instance_task& task, int64_t number, node_stack* stack,
                                             world_lane* world, ray_lane* lane) {
    const sap_instance_hit none = {INFINITY, 0, 0, -1, -1};
    const sap_ray ray = read_ray(task.job.rays, number, task.aligned);
    const bool is_ray = sap_is_finite(sap_vector_of(ray.origin)) && sap_is_finite(sap_vector_of(ray.direction)) &&
                        sap_magnitude(ray.t_min) <= SAP_FLOAT_MAX && ray.t_min <= ray.t_max;
    float from;
    lane->number = number;
    lane->triangle = -1;
    world->ray = ray;
    world->ray.t_max = fminf(ray.t_max, SAP_FLOAT_MAX);
    for (int k = 0; k < 3; k++) world->inverse[k] = sap_inverse_for_boxes(ray.direction[k]);
    world->far = sap_largest_magnitude(sap_vector_of(ray.origin));
    world->first = none;
    world->count = 0;
    world->waiting = 0;
    world->going = is_ray && task.filed && meets(read_node(task, 0), *world, &from);
    if (world->going) push(stack, 0, from, world);
}

static __device__ __forceinline__ unsigned octant_in_world(const sap_ray& ray) {
    return (unsigned)(ray.direction[0] < 0) | (unsigned)(ray.direction[1] < 0) << 1 |
           (unsigned)(ray.direction[2] < 0) << 2;
}

// Gives rays to idle lanes. Returns how many lanes have to be idle before the next refill.
template <int mode>
static __device__ __forceinline__ int refill(const instance_task& task, unsigned idle, int enough, ray_chunk* chunk,
                                             node_stack* stack, world_lane* world, ray_lane* lane) {
    if (chunk->begun == chunk->count) *chunk = take_chunk(task.taken, task.job.count);
    SAP_ASSERT(chunk->begun >= 0 && chunk->begun <= chunk->count && chunk->count <= SAP_WARP);
    const unsigned below = (1u << threadIdx.x % SAP_WARP) - 1;
    const int place = chunk->begun + __popc(idle & below);
    const bool begins = !world->going && place < chunk->count;
    answer<mode>(task, begins, *lane, *world);
    if (begins) begin(task, chunk->first + place, stack, world, lane);
    chunk->begun += __popc(idle);
    if (chunk->begun > chunk->count) chunk->begun = chunk->count;
    if (idle != SAP_ALL_LANES) return enough;
    const unsigned octant = octant_in_world(world->ray), first = __shfl_sync(SAP_ALL_LANES, octant, 0);
    return __all_sync(SAP_ALL_LANES, !begins || octant == first) ? (int)SAP_WARP : (int)INSTANCE_FEW_IDLE;
}

// ---- The kernel

template <int mode>
static __global__ void __launch_bounds__(INSTANCE_THREADS, INSTANCE_BLOCKS)
    trace_instances(const __grid_constant__ instance_task task) {
    node_stack nodes;
    ray_stack stack;
    world_lane world;
    ray_lane lane;
    ray_chunk chunk = {0, 0, 0};
    const instance_sink sink = {&task, &world};
    int enough = SAP_WARP;
    lane.number = -1;
    lane.side = NOWHERE;
    world.going = false;
    for (;;) {
        unsigned idle = __ballot_sync(SAP_ALL_LANES, !world.going);
        if (__popc(idle) >= enough) {
            enough = refill<mode>(task, idle, enough, &chunk, &nodes, &world, &lane);
            if (chunk.count == 0) enough = SAP_WARP + 1; // no rays are left
        }
        if (world.going && lane.side == NOWHERE) next_instance(task, &nodes, &world, &lane);
        const unsigned walking = __ballot_sync(SAP_ALL_LANES, world.going);
        if (walking) {
            descend(world.mesh, __popc(walking), &stack, &lane);
            if (lane.side != NOWHERE && (int32_t)lane.side < 0) look_into_leaf<mode>(world.mesh, sink, stack, &lane);
            if (world.going && lane.side == NOWHERE && lane.triangle >= 0) {
                if (mode == FIND_ANY) world.going = false;
                if (mode == FIND_FIRST) leave(lane, &world);
            }
        } else if (enough > SAP_WARP) {
            break;
        }
    }
    answer<mode>(task, true, lane, world);
}

// ---- The call

static void launch(sap_cuda_call* call, void (*kernel)(const instance_task), instance_task task) {
    sap_cuda_grid grid = sap_cuda_grid_for(task.job.count, INSTANCE_THREADS);
    const int64_t resident = sap_cuda_resident(call, (const void*)kernel, INSTANCE_THREADS, grid.shared);
    if (grid.blocks > resident) grid.blocks = resident;
    task.taken = (unsigned*)sap_cuda_take(call, sizeof *task.taken);
    sap_cuda_fill(call, task.taken, 0, sizeof *task.taken);
    sap_cuda_launch(call, kernel, grid, task);
}

sap_status sap_instance_trace_cuda(const sap_instance_tree* tree, const sap_instance_job* job) {
    const size_t count = (size_t)job->count, rows = count * (size_t)(job->limit ? job->limit : 1);
    sap_cuda_call call;
    instance_task task;
    memset((void*)&task, 0, sizeof task);
    sap_cuda_begin(&call, tree->device);
    task.nodes = sap_instance_nodes(tree);
    task.placed = sap_instances_on_cuda(tree);
    task.filed = tree->filed;
    task.job = *job;
    task.job.rays = (const sap_ray*)sap_cuda_in(&call, job->rays, count * sizeof(sap_ray));
    task.job.hits = (sap_instance_hit*)sap_cuda_out(&call, job->hits, rows * sizeof(sap_instance_hit));
    task.job.numbered = (sap_hit*)sap_cuda_out(&call, job->numbered, count * sizeof(sap_hit));
    task.job.counts = (int32_t*)sap_cuda_out(&call, job->counts, count * sizeof(int32_t));
    task.job.occluded = (uint8_t*)sap_cuda_out(&call, job->occluded, count);
    task.aligned = ((uintptr_t)task.job.rays & 15) == 0;
    if (job->occluded)
        launch(&call, trace_instances<FIND_ANY>, task);
    else if (job->limit)
        launch(&call, trace_instances<FIND_ALL>, task);
    else
        launch(&call, trace_instances<FIND_FIRST>, task);
    return sap_cuda_end(&call, SAP_OK);
}
