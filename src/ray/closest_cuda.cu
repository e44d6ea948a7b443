// Nearest points on a mesh on CUDA devices: one lane per query, by the search of ray/closest.h on the tree of
// mesh/mesh_cuda.h. Three things make it quick where there are many queries. They are taken in Morton order, so that a
// warp's lanes walk the same parts of the tree. Leaves and triangles lie in discs (ray/disc_cuda.cuh), made anew by each
// call, which leave few triangles to be measured. And what the lanes of a warp have to look at, discs first and then
// triangles, is shared out evenly among them, for each lane alone has more or less of it.
#include "ray/closest_cuda.h"
#include "ray/disc_cuda.cuh"
#include "tree/order_cuda.cuh"
#include <cub/device/device_radix_sort.cuh>

enum {
    POINT_THREADS = 128,
    POINT_WARPS = POINT_THREADS / SAP_WARP,
#ifdef SAP_CUDA_ON_CPU
    ORDER_FEW = 256, // tests have so many
#else
    ORDER_FEW = 4096, // fewer queries are taken as they come
#endif
    CELL_BITS = 8,        // an axis: three passes of a sort
    QUERIES_PER_DISC = 4, // discs of a tree with at most so many references a query are made
    POINT_BLOCKS = 8,     // resident on a multiprocessor: 64 registers a thread
    EAGER_ROUNDS = 4,     // in the first rounds every triangle that is found near is measured at once
    QUEUED_ENOUGH = 24,   // later so many of them are worth it
    TOLD_ROUNDS = 10      // in the first rounds lanes tell each other what they found
};

// A tree and the queries, on the device.
typedef struct closest_task {
    sap_mesh_on_cuda mesh;
    sap_closest_job job;
    const uint32_t* order;        // [job.points.count] queries by place; NULL: as they come
    sap_disc *triangles, *leaves; // by places of triangles, by places of leaves' first triangles; NULL: none
    uint32_t* counts;             // of leaves' triangles, by the places of the first
    int64_t sides;                // of all nodes, or 1: the tree is a leaf
} closest_task;

// The nearest so far: the bits of its squared distance, and below them its triangle's number in the mesh. NOTHING in the
// number: none is known, and the distance is a limit.
typedef unsigned long long closest_key;
enum : uint32_t { NOTHING = 0xffffffffu };

// A query and the state of its walk.
typedef struct closest_lane {
    sap_vector query;
    float margin;
    closest_key best;
    float4 at;
    int waiting;
    bool is_done;
} closest_lane;

// What the lanes of a warp share.
typedef struct closest_warp {
    closest_key best[SAP_WARP];       // of each lane
    uint32_t place[SAP_WARP];         // of the triangle in best; NOTHING: none
    uint32_t queued[2 * SAP_WARP];    // places of triangles to measure
    uint8_t queued_for[2 * SAP_WARP]; // the lanes whose queries they are for
    int count;                        // of those queued; the same for all lanes
} closest_warp;

typedef struct closest_shared {
    closest_warp warp[POINT_WARPS];
} closest_shared;

static __device__ __forceinline__ closest_key key_of(float distance2, uint32_t triangle) {
    return (closest_key)(uint32_t)__float_as_int(distance2) << 32 | triangle;
}
static __device__ __forceinline__ float distance2_of(closest_key key) { return __int_as_float((int)(key >> 32)); }

static __device__ __forceinline__ sap_vector point_at(const sap_rows& points, int64_t i) {
    return sap_vector_of((const float*)points.coords + points.stride * i);
}

// A node that waits, in a float4: x y z bound the query's distance from its cell along each axis; w has the bits of the
// side (mesh/mesh_cuda.h).
static __device__ __forceinline__ sap_vector outside_of(float4 place) {
    sap_vector v;
    v.x = place.x;
    v.y = place.y;
    v.z = place.z;
    return v;
}
static __device__ __forceinline__ uint32_t side_of(float4 place) { return (uint32_t)__float_as_int(place.w); }

static __device__ __forceinline__ bool is_inner_side(uint32_t side) { return (int32_t)side >= 0; }
static __device__ __forceinline__ bool is_inner(float4 place) { return is_inner_side(side_of(place)); }

// Goes to the near side of an inner node. The far side waits if anything there may be near enough.
static __device__ __forceinline__ void step(const closest_task& task, float4* stack, closest_lane* lane) {
    const float4 at = lane->at;
    const uint4 node = __ldg(task.mesh.nodes + side_of(at));
    const float plane = sap_float_of_bits(node.x), q = sap_pick(lane->query, (int)node.w);
    const bool is_below = q < plane;
    const float gap = (is_below ? plane - q : q - plane) - lane->margin;
    const uint32_t near_side = is_below ? node.y : node.z, far_side = is_below ? node.z : node.y;
    float4 far_place = at;
    if (node.w == 0) far_place.x = fmaxf(gap, far_place.x);
    if (node.w == 1) far_place.y = fmaxf(gap, far_place.y);
    if (node.w == 2) far_place.z = fmaxf(gap, far_place.z);
    far_place.w = sap_float_of_bits(far_side);
    const bool is_far =
        far_side != SAP_MESH_SIDE_EMPTY && sap_cell_distance2(outside_of(far_place)) <= distance2_of(lane->best);
    lane->at.w = sap_float_of_bits(near_side);
    if (is_far && near_side == SAP_MESH_SIDE_EMPTY)
        lane->at = far_place;
    else if (is_far) {
        SAP_ASSERT(lane->waiting < SAP_MESH_STACK);
        stack[lane->waiting++] = far_place;
    }
}

// ---- Triangles

static __device__ __forceinline__ sap_near_point measure(const closest_task& task, uint32_t place, sap_vector query) {
    const float4* rows = task.mesh.triangles + 3 * (size_t)place;
    const float4 x = __ldg(rows), y = __ldg(rows + 1), z = __ldg(rows + 2);
    const sap_triangle triangle = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
    sap_near_point found = sap_triangle_nearest(triangle, query, INFINITY);
    found.triangle = (int)((uint32_t)__float_as_int(x.w) & ~SAP_MESH_LAST);
    return found;
}

static __device__ __forceinline__ sap_vector query_of_lane(const closest_lane& lane, int other) {
    sap_vector query;
    query.x = __shfl_sync(SAP_ALL_LANES, lane.query.x, other);
    query.y = __shfl_sync(SAP_ALL_LANES, lane.query.y, other);
    query.z = __shfl_sync(SAP_ALL_LANES, lane.query.z, other);
    return query;
}

// Each lane may measure one triangle for the query of some lane. All lanes call it.
static __device__ __forceinline__ void measure_for(const closest_task& task, closest_warp* warp, bool is_one,
                                                   uint32_t place, int other, closest_lane* lane) {
    const sap_vector query = query_of_lane(*lane, other);
    closest_key key = ~0ull;
    if (is_one) {
        const sap_near_point found = measure(task, place, query);
        is_one = found.distance2 < INFINITY;
        key = key_of(found.distance2, (uint32_t)found.triangle);
        if (is_one) atomicMin(&warp->best[other], key);
    }
    __syncwarp();
    // Several lanes may have one triangle from as many leaves: any of its places will do.
    if (is_one && warp->best[other] == key) atomicExch(&warp->place[other], place);
    __syncwarp();
    lane->best = warp->best[sap_lane()];
}

// Measures up to 32 of the triangles that are queued.
static __device__ __forceinline__ void measure_queued(const closest_task& task, closest_warp* warp,
                                                      closest_lane* lane) {
    const int i = sap_lane();
    const bool is_one = i < warp->count;
    measure_for(task, warp, is_one, is_one ? warp->queued[i] : 0, is_one ? warp->queued_for[i] : i, lane);
    const int rest = warp->count - SAP_WARP;
    if (i < rest) {
        warp->queued[i] = warp->queued[SAP_WARP + i];
        warp->queued_for[i] = warp->queued_for[SAP_WARP + i];
    }
    __syncwarp();
    if (i == 0) warp->count = rest > 0 ? rest : 0;
    __syncwarp();
}

// ---- Leaves

// The triangles of the leaves where lanes are, if their discs are near enough. Lanes take the discs in turns, whosever they
// are, and queue the triangles.
static __device__ __forceinline__ void look_at_discs(const closest_task& task, closest_warp* warp, bool is_one,
                                                     bool is_eager, closest_lane* lane) {
    const uint32_t first = side_of(lane->at) & ~SAP_MESH_SIDE_LEAF;
    is_one = is_one &&
             sap_disc_distance2(sap_disc_at(task.leaves, first), lane->query, lane->margin) <= distance2_of(lane->best);
    const int own = is_one ? (int)task.counts[first] : 0;
    int end = own; // of this lane's triangles among those of all lanes
    for (int away = 1; away < SAP_WARP; away *= 2) {
        const int before = __shfl_up_sync(SAP_ALL_LANES, end, (unsigned)away);
        if (sap_lane() >= away) end += before;
    }
    const int all = __shfl_sync(SAP_ALL_LANES, end, SAP_WARP - 1);
    for (int from = 0; from < all; from += SAP_WARP) {
        const int number = from + sap_lane();
        int other = 0; // the first lane whose triangles end behind this one
        for (int away = SAP_WARP / 2; away; away /= 2)
            if (__shfl_sync(SAP_ALL_LANES, end, other + away - 1) <= number) other += away;
        const int begin = __shfl_sync(SAP_ALL_LANES, end - own, other & (SAP_WARP - 1));
        const uint32_t place = __shfl_sync(SAP_ALL_LANES, first, other & (SAP_WARP - 1)) + (uint32_t)(number - begin);
        const sap_vector query = query_of_lane(*lane, other & (SAP_WARP - 1));
        const float margin = __shfl_sync(SAP_ALL_LANES, lane->margin, other & (SAP_WARP - 1));
        const float distance2 = __shfl_sync(SAP_ALL_LANES, distance2_of(lane->best), other & (SAP_WARP - 1));
        const bool is_near =
            number < all && sap_disc_distance2(sap_disc_at(task.triangles, place), query, margin) <= distance2;
        const unsigned near = __ballot_sync(SAP_ALL_LANES, is_near);
        const int to = warp->count + __popc(near & sap_lanes_below());
        __syncwarp();
        if (is_near) {
            warp->queued[to] = place;
            warp->queued_for[to] = (uint8_t)other;
        }
        if (sap_lane() == 0) warp->count += __popc(near);
        __syncwarp();
        if (warp->count >= SAP_WARP) measure_queued(task, warp, lane);
    }
    if (warp->count >= (is_eager ? 1 : QUEUED_ENOUGH)) measure_queued(task, warp, lane);
}

// Without discs: each lane goes through its own leaf, and looks at the triangles' boxes first.
static __device__ __forceinline__ void look_at_boxes(const closest_task& task, closest_warp* warp, bool is_one,
                                                     closest_lane* lane) {
    uint32_t place = side_of(lane->at) & ~SAP_MESH_SIDE_LEAF;
    for (bool is_last = !is_one; !is_last; place++) {
        const float4* rows = task.mesh.triangles + 3 * (size_t)place;
        const float4 x = __ldg(rows), y = __ldg(rows + 1), z = __ldg(rows + 2);
        const sap_triangle triangle = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
        is_last = ((uint32_t)__float_as_int(x.w) & SAP_MESH_LAST) != 0;
        if (!(sap_triangle_distance2(triangle, lane->query, lane->margin) <= distance2_of(lane->best))) continue;
        const sap_near_point found = measure(task, place, lane->query);
        const closest_key key = key_of(found.distance2, (uint32_t)found.triangle);
        if (!(found.distance2 < INFINITY) || key >= lane->best) continue;
        lane->best = warp->best[sap_lane()] = key;
        warp->place[sap_lane()] = place;
    }
    __syncwarp();
}

// ---- The walk

// A lane begins at the root, and looks for what lies within a squared distance.
static __device__ __forceinline__ void begin(const closest_task& task, closest_warp* warp, float limit2,
                                             closest_lane* lane) {
    const sap_vector q = lane->query;
    lane->margin = sap_margin(task.mesh.magnitude + sap_largest_magnitude(q));
    lane->best = warp->best[sap_lane()] = key_of(limit2, NOTHING);
    lane->waiting = 0;
    lane->at = make_float4(sap_outside(q.x, task.mesh.lower.x, task.mesh.upper.x, lane->margin),
                           sap_outside(q.y, task.mesh.lower.y, task.mesh.upper.y, lane->margin),
                           sap_outside(q.z, task.mesh.lower.z, task.mesh.upper.z, lane->margin),
                           sap_float_of_bits(task.mesh.root));
}

// Takes the last waiting side that may be near enough, or none: then the lane is done.
static __device__ __forceinline__ void take_waiting(const float4* stack, closest_lane* lane) {
    do {
        if (lane->waiting == 0) {
            lane->is_done = true;
            return;
        }
        lane->at = stack[--lane->waiting];
    } while (!(sap_cell_distance2(outside_of(lane->at)) <= distance2_of(lane->best)));
}

// As sap_mesh_nearest in ray/closest.h, of what lies nearer than each lane's limit.
static __device__ __forceinline__ void search(const closest_task& task, closest_warp* warp, float4* stack,
                                              closest_lane* lane) {
    int round = 0;
    for (unsigned going; (going = __ballot_sync(SAP_ALL_LANES, !lane->is_done)) != 0; round++) {
        const int few = __popc(going) / 4;
        bool goes_down;
        do { // two steps per vote
            if (!lane->is_done && is_inner(lane->at)) step(task, stack, lane);
            if (!lane->is_done && is_inner(lane->at)) step(task, stack, lane);
            goes_down = !lane->is_done && is_inner(lane->at);
        } while (__popc(__ballot_sync(SAP_ALL_LANES, goes_down)) > few);
        const bool is_at_leaf = !lane->is_done && !goes_down,
                   is_full = is_at_leaf && side_of(lane->at) != SAP_MESH_SIDE_EMPTY;
        if (task.leaves)
            look_at_discs(task, warp, is_full, round < EAGER_ROUNDS, lane);
        else
            look_at_boxes(task, warp, is_full, lane);
        if (task.leaves &&
            round < TOLD_ROUNDS) { // the triangle that a lane found may be nearest to another's query, too
            const uint32_t place = warp->place[sap_lane() ^ 1 << round % 5];
            measure_for(task, warp, !lane->is_done && place != NOTHING, place, sap_lane(), lane);
        }
        if (is_at_leaf) take_waiting(stack, lane);
    }
    if (warp->count > 0) measure_queued(task, warp, lane);
}

static __global__ void __launch_bounds__(POINT_THREADS, POINT_BLOCKS)
    find_closest(const __grid_constant__ closest_task task) {
    SAP_CUDA_SHARED(closest_shared, shared);
    const int64_t place = (int64_t)blockIdx.x * POINT_THREADS + threadIdx.x;
    const bool is_one = place < task.job.points.count;
    const int64_t i = is_one && task.order ? task.order[place] : place;
    closest_warp* warp = &shared->warp[threadIdx.x / SAP_WARP];
    float4 stack[SAP_MESH_STACK];
    closest_lane lane;
    memset(&lane, 0, sizeof lane);
    if (is_one) lane.query = point_at(task.job.points, i);
    const bool is_asked = is_one && sap_is_finite(lane.query);
    float limit2 = INFINITY;
    if (task.job.known && is_asked) {
        const float known = sap_known_limit2(lane.query, sap_vector_of(task.job.known + 3 * i), task.mesh.magnitude);
        limit2 = known < INFINITY ? known : INFINITY; // also where none is known: NaN
    }
    warp->place[sap_lane()] = NOTHING;
    warp->count = 0;
    lane.is_done = !is_asked;
    begin(task, warp, limit2, &lane);
    __syncwarp();
    search(task, warp, stack, &lane);
    // Within a limit there is nothing only if it was another mesh's.
    lane.is_done = !(is_asked && warp->place[sap_lane()] == NOTHING && limit2 < INFINITY);
    if (!lane.is_done) begin(task, warp, INFINITY, &lane);
    __syncwarp();
    search(task, warp, stack, &lane);
    if (!is_one) return;
    const uint32_t at = warp->place[sap_lane()];
    const sap_near_point best = at == NOTHING ? sap_no_near_point(lane.query, INFINITY) : measure(task, at, lane.query);
    sap_closest* to = task.job.closest + i;
    to->point[0] = best.point.x;
    to->point[1] = best.point.y;
    to->point[2] = best.point.z;
    to->distance2 = best.distance2;
    to->u = best.u;
    to->v = best.v;
    to->triangle = best.triangle;
}

// ---- What is made before the search

// The discs of the leaves and of their triangles: SAP_DISC_LANES lanes for each side of a node.
static __global__ void __launch_bounds__(POINT_THREADS) make_discs(const __grid_constant__ closest_task task) {
    const int64_t i = ((int64_t)blockIdx.x * POINT_THREADS + threadIdx.x) / SAP_DISC_LANES;
    uint32_t side = i < task.sides ? task.mesh.root : SAP_MESH_SIDE_EMPTY;
    if (is_inner_side(side)) {
        const uint4 node = task.mesh.nodes[i / 2];
        side = i % 2 ? node.z : node.y;
    }
    const uint32_t first = side & ~SAP_MESH_SIDE_LEAF;
    uint32_t count = 0;
    if (!is_inner_side(side) && side != SAP_MESH_SIDE_EMPTY)
        for (bool is_last = false; !is_last; count++)
            is_last =
                ((uint32_t)__float_as_int(task.mesh.triangles[3 * (size_t)(first + count)].w) & SAP_MESH_LAST) != 0;
    const sap_disc disc = sap_discs_make(task.mesh.triangles, first, count, task.triangles);
    if (count == 0 || threadIdx.x % SAP_DISC_LANES != 0) return;
    task.leaves[first] = disc;
    task.counts[first] = count;
}

// Bit i of 8 goes to bit 3 * i.
static __device__ __forceinline__ uint32_t spread_3(uint32_t x) {
    x = (x | x << 8) & 0x00f00f;
    x = (x | x << 4) & 0x0c30c3;
    return (x | x << 2) & 0x249249;
}

static __device__ __forceinline__ uint32_t cell_of(float x, float lower, float upper) {
    enum { CELLS = 1 << CELL_BITS };
    const float cell = (x - lower) / (upper - lower) * CELLS; // NaN: the first
    return (uint32_t)fminf(fmaxf(cell, 0), CELLS - 1);
}

static __global__ void __launch_bounds__(POINT_THREADS)
    key_queries(const __grid_constant__ closest_task task, uint32_t* keys, uint32_t* order) {
    const int64_t i = (int64_t)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= task.job.points.count) return;
    const sap_vector q = point_at(task.job.points, i), lower = task.mesh.lower, upper = task.mesh.upper;
    keys[i] = spread_3(cell_of(q.x, lower.x, upper.x)) | spread_3(cell_of(q.y, lower.y, upper.y)) << 1 |
              spread_3(cell_of(q.z, lower.z, upper.z)) << 2;
    order[i] = (uint32_t)i;
}

static void order_queries(sap_cuda_call* call, closest_task* task) {
    const int64_t count = task->job.points.count;
    if (task->job.is_ordered || count < ORDER_FEW || count > INT32_MAX) return;
    const size_t bytes = (size_t)count * sizeof(uint32_t);
    cub::DoubleBuffer<uint32_t> keys((uint32_t*)sap_cuda_take(call, bytes), (uint32_t*)sap_cuda_take(call, bytes)),
        order((uint32_t*)sap_cuda_take(call, bytes), (uint32_t*)sap_cuda_take(call, bytes));
    sap_cuda_launch(call, key_queries, sap_cuda_grid_for(count, POINT_THREADS), *task, keys.Current(), order.Current());
    if (call->status != SAP_OK) return;
    size_t room_bytes = 0;
    sap_cuda_expect(call,
                    cub::DeviceRadixSort::SortPairs(NULL, room_bytes, keys, order, (int)count, 0, 3 * CELL_BITS,
                                                    call->cuda->stream),
                    "planning a sort");
    void* room = sap_cuda_take(call, room_bytes + 1);
    if (call->status != SAP_OK) return;
    sap_cuda_expect(call,
                    cub::DeviceRadixSort::SortPairs(room, room_bytes, keys, order, (int)count, 0, 3 * CELL_BITS,
                                                    call->cuda->stream),
                    "sorting queries");
    task->order = order.Current();
}

void sap_closest_run_cuda(sap_cuda_call* call, const sap_mesh_tree* tree, const sap_closest_job* job) {
    closest_task task;
    memset((void*)&task, 0, sizeof task);
    task.mesh = sap_mesh_on_cuda_of(tree);
    task.job = *job;
    // Where a point near each answer is known, a walk is so short that what follows would take longer.
    if (!job->known) order_queries(call, &task);
    const sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    if (!job->known && job->points.count >= tree->shape.references / QUERIES_PER_DISC) {
        const size_t places = beside->triangle_bytes / (3 * sizeof(float4));
        const int64_t inner = tree->shape.nodes - tree->shape.leaves;
        task.sides = inner ? 2 * inner : 1;
        task.triangles = (sap_disc*)sap_cuda_take(call, places * sizeof(sap_disc));
        task.leaves = (sap_disc*)sap_cuda_take(call, places * sizeof(sap_disc));
        task.counts = (uint32_t*)sap_cuda_take(call, places * sizeof(uint32_t));
        sap_cuda_launch(call, make_discs, sap_cuda_grid_for(task.sides * SAP_DISC_LANES, POINT_THREADS), task);
    }
    sap_cuda_grid grid = sap_cuda_grid_for(job->points.count, POINT_THREADS);
    grid.shared = sizeof(closest_shared);
    sap_cuda_launch(call, find_closest, grid, task);
}

sap_status sap_closest_point_cuda(const sap_mesh_tree* tree, const sap_closest_job* job) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_closest_job on_device = *job;
    on_device.points = sap_cuda_rows_in(&call, &job->points);
    on_device.closest =
        (sap_closest*)sap_cuda_out(&call, job->closest, (size_t)job->points.count * sizeof(sap_closest));
    sap_closest_run_cuda(&call, tree, &on_device);
    return sap_cuda_end(&call, SAP_OK);
}
