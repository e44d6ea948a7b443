// Traversal of a tree over triangles by one ray per lane on CUDA devices: down to leaves, and the triangles of a leaf.
#ifndef SAPWOOD_RAY_LANE_CUDA_CUH
#define SAPWOOD_RAY_LANE_CUDA_CUH

#include "ray/hits_cuda.cuh"
#include "ray/walk_cuda.cuh"

enum {
    FIND_FIRST,
    FIND_ANY,
    FIND_ALL, // in rows in shared memory
    FIND_MANY // the same, in rows too long for it
};

#define NOWHERE SAP_MESH_SIDE_EMPTY // a lane without a ray

// A tree and the rays, on the device.
typedef struct ray_task {
    sap_mesh_on_cuda mesh;
    bool aligned;    // rays and hits are aligned to 16 bytes
    unsigned* taken; // chunks of 32 rays that warps have taken; zero at first
    uint32_t places; // of triangles in the mesh's rows
    float side;      // the longest of the mesh's box
    float near;      // rays that are so near to each other walk together
    sap_ray_job job;
} ray_task;

// A lane's ray and the state of its walk.
typedef struct ray_lane {
    sap_prepared_ray ray;
    float margin;
    sap_vector turned_origin; // its origin, with the axes in the order of the sheared triangles
    int64_t number;           // -1: none yet
    uint32_t side;            // of mesh/mesh_cuda.h, or NOWHERE
    sap_span span;
    int waiting;
    float t, u, v; // hits beyond t do not count
    int triangle;
    int count; // of hits in the lane's row
} ray_lane;

typedef struct ray_stack {
    uint32_t side[SAP_MESH_STACK];
    float from[SAP_MESH_STACK], to[SAP_MESH_STACK];
} ray_stack;

static __device__ __forceinline__ sap_prepared_ray prepare(const sap_mesh_on_cuda& mesh, const sap_ray& ray) {
    return sap_ray_prepare(sap_vector_of(ray.origin), sap_vector_of(ray.direction), ray.t_min, ray.t_max,
                           mesh.magnitude);
}

// A lane without a ray takes one to the root.
static __device__ __forceinline__ void begin_ray(const sap_mesh_on_cuda& mesh, const sap_ray& from, ray_lane* lane) {
    SAP_ASSERT(lane->side == NOWHERE);
    const sap_prepared_ray ray = prepare(mesh, from);
    lane->ray = ray;
    lane->turned_origin.x = sap_pick(ray.origin, ray.axis_x);
    lane->turned_origin.y = sap_pick(ray.origin, ray.axis_y);
    lane->turned_origin.z = sap_pick(ray.origin, ray.axis_z);
    lane->margin = sap_margin(mesh.magnitude + sap_largest_magnitude(ray.origin));
    lane->span = sap_ray_clip(ray, mesh.lower, mesh.upper);
    lane->waiting = 0;
    lane->t = ray.t_max;
    lane->u = 0;
    lane->v = 0;
    lane->triangle = -1;
    lane->count = 0;
    if (ray.is_ray && lane->span.from <= lane->span.to) lane->side = mesh.root;
}

// ---- Down the tree

// Takes the last waiting side that begins before the hit found, or NOWHERE.
static __device__ __forceinline__ void take_waiting(const ray_stack& stack, ray_lane* lane) {
    do {
        if (lane->waiting == 0) {
            lane->side = NOWHERE;
            return;
        }
        lane->waiting--;
        lane->side = stack.side[lane->waiting];
        lane->span.from = stack.from[lane->waiting];
        lane->span.to = fminf(stack.to[lane->waiting], lane->t);
    } while (!(lane->span.from <= lane->span.to));
}

// Goes past an inner node's plane, as ray/walk.h does, but never to an empty side.
static __device__ __forceinline__ void step(const sap_mesh_on_cuda& mesh, ray_stack* stack, ray_lane* lane) {
    const uint4 node = __ldg(mesh.nodes + lane->side);
    const int axis = (int)node.w;
    const float plane = sap_float_of_bits(node.x);
    const float inverse = sap_pick(lane->ray.inverse, axis), origin = sap_pick(lane->ray.origin, axis);
    const bool is_backward = inverse < 0;
    const uint32_t near_side = is_backward ? node.z : node.y, far_side = is_backward ? node.y : node.z;
    // sap_plane_early and sap_plane_late, bit for bit, with fewer registers. NaN leaves the span as it is, and
    // both sides are visited.
    const float margin = copysignf(lane->margin, inverse);
    const float near_to = fminf((plane - (origin - margin)) * inverse, lane->span.to);
    const float far_from = fmaxf((plane - (origin + margin)) * inverse, lane->span.from);
    const bool is_near = lane->span.from <= near_to && near_side != SAP_MESH_SIDE_EMPTY;
    const bool is_far = far_from <= lane->span.to && far_side != SAP_MESH_SIDE_EMPTY;
    if (is_near && is_far) {
        SAP_ASSERT(lane->waiting < SAP_MESH_STACK);
        stack->side[lane->waiting] = far_side;
        stack->from[lane->waiting] = far_from;
        stack->to[lane->waiting] = lane->span.to;
        lane->waiting++;
    }
    lane->side = is_near ? near_side : far_side;
    lane->span.to = is_near ? near_to : lane->span.to;
    lane->span.from = is_near ? lane->span.from : far_from;
    if (!is_near && !is_far) take_waiting(*stack, lane);
}

// Lanes go down until most of the warp's rays are at a leaf or done. Waiting for the last of them would leave most
// lanes idle.
static __device__ __forceinline__ void descend(const sap_mesh_on_cuda& mesh, int rays, ray_stack* stack,
                                               ray_lane* lane) {
    const int few = rays / 4;
    bool is_inner;
    do { // two steps per vote
        if ((int32_t)lane->side >= 0) step(mesh, stack, lane);
        if ((int32_t)lane->side >= 0) step(mesh, stack, lane);
        is_inner = (int32_t)lane->side >= 0;
    } while (__popc(__ballot_sync(SAP_ALL_LANES, is_inner)) > few);
}

// ---- Leaves

template <int mode>
static __device__ __forceinline__ void take_hit(const sap_ray_job& job, const sap_crossing& hit, int triangle,
                                                ray_lane* lane) {
    if (mode >= FIND_ALL) {
        const sap_hit_row row = sap_hit_row_of(job, mode == FIND_ALL, lane->number);
        lane->count =
            sap_hits_insert(row.hits, row.stride, lane->count, job.limit, sap_hit_of(hit.t, hit.u, hit.v, triangle));
        if (lane->count == job.limit) lane->t = row.hits[(lane->count - 1) * row.stride].t;
    } else if (hit.t < lane->t || lane->triangle < 0 || triangle < lane->triangle) {
        lane->t = hit.t;
        lane->u = hit.u;
        lane->v = hit.v;
        lane->triangle = triangle;
    }
}

// Tests a triangle. Whether it was the leaf's last. The job, or what else stands for one, has a take_hit of its own.
template <int mode, typename job_type>
static __device__ __forceinline__ bool test_triangle(const sap_mesh_on_cuda& mesh, const job_type& job, uint32_t place,
                                                     ray_lane* lane) {
    const float4* rows = mesh.triangles + 3 * (size_t)place;
    const float4 x = __ldg(rows + lane->ray.axis_x), y = __ldg(rows + lane->ray.axis_y),
                 z = __ldg(rows + lane->ray.axis_z);
    const uint32_t id = (uint32_t)__float_as_int(x.w);
    sap_prepared_ray ray = lane->ray;
    ray.origin = lane->turned_origin;
    ray.axis_x = 0;
    ray.axis_y = 1;
    ray.axis_z = 2;
    const sap_triangle triangle = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
    const sap_sheared sheared = sap_triangle_shear(ray, triangle);
    if (!sap_is_beside(sheared.of_a, sheared.of_b, sheared.of_c)) {
        const sap_crossing hit = sap_sheared_cross(ray, sheared);
        if (hit.is_hit && hit.t <= lane->t) take_hit<mode>(job, hit, (int)(id & ~SAP_MESH_LAST), lane);
    }
    return (id & SAP_MESH_LAST) != 0;
}

template <int mode, typename job_type>
static __device__ __forceinline__ void look_into_leaf(const sap_mesh_on_cuda& mesh, const job_type& job,
                                                      const ray_stack& stack, ray_lane* lane) {
    SAP_ASSERT(lane->side & SAP_MESH_SIDE_LEAF && lane->side != NOWHERE);
    uint32_t place = lane->side & ~SAP_MESH_SIDE_LEAF;
    while (!test_triangle<mode>(mesh, job, place, lane)) place++;
    if (mode == FIND_ANY && lane->triangle >= 0)
        lane->side = NOWHERE;
    else
        take_waiting(stack, lane);
}

// ---- Rays that warps take

static __device__ __forceinline__ sap_ray read_ray(const sap_ray* rays, int64_t i, bool aligned) {
    sap_ray ray;
    if (aligned) {
        const float4* from = (const float4*)(rays + i);
        const float4 halves[2] = {from[0], from[1]};
        memcpy(&ray, halves, sizeof ray);
    } else {
        ray = rays[i];
    }
    return ray;
}

// The rays that a warp has taken: the first, their number, and how many of them lanes have begun.
typedef struct ray_chunk {
    int64_t first;
    int count, begun;
} ray_chunk;

// The warp's next 32 of `count` rays; none if all are taken. *taken: chunks that warps have taken; zero at first.
static __device__ __forceinline__ ray_chunk take_chunk(unsigned* taken, int64_t count) {
    unsigned number = 0;
    if (threadIdx.x % SAP_WARP == 0) number = atomicAdd(taken, 1u);
    ray_chunk chunk;
    chunk.first = (int64_t)__shfl_sync(SAP_ALL_LANES, number, 0) * SAP_WARP;
    const int64_t left = count - chunk.first;
    chunk.count = (int)(left < 0 ? 0 : left < SAP_WARP ? left : SAP_WARP);
    chunk.begun = 0;
    return chunk;
}

// ---- A ray a lane, all from the root to their ends

// The first hits of the rays of the lanes with is_one. All lanes call it.
static __device__ __forceinline__ sap_hit trace_together(const sap_mesh_on_cuda& mesh, bool is_one, const sap_ray& ray,
                                                         ray_stack* stack) {
    ray_lane lane;
    lane.side = NOWHERE;
    lane.t = INFINITY;
    lane.u = lane.v = 0;
    lane.triangle = -1;
    const sap_ray_job none = {};
    if (is_one) begin_ray(mesh, ray, &lane);
    for (unsigned going; (going = __ballot_sync(SAP_ALL_LANES, lane.side != NOWHERE)) != 0;) {
        descend(mesh, __popc(going), stack, &lane);
        if (lane.side != NOWHERE && (int32_t)lane.side < 0) look_into_leaf<FIND_FIRST>(mesh, none, *stack, &lane);
    }
    return sap_hit_of(lane.triangle < 0 ? INFINITY : lane.t, lane.u, lane.v, lane.triangle);
}

#endif
