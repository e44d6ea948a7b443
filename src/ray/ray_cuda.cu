// Rays on CUDA devices: a ray a thread. Descend to a leaf, test its triangles, take what waits on the thread's stack.
#include "device/cuda_rooms.h"
#include "ray/walks_cuda.cuh"

enum { RAY_THREADS = 128 };
enum { FIND_FIRST, FIND_ANY, FIND_ALL };

// A tree and what is asked of it, on the device.
typedef struct ray_task {
    const sap_mesh_node* nodes;
    const int32_t* references;
    const float4* triangles; // as mesh/mesh_cuda.h says
    sap_vector lower, upper;
    float magnitude;
    bool wide; // rays and hits begin at multiples of 16 bytes
    sap_ray_job job;
} ray_task;

// What a ray has met. Hits beyond t are of no interest.
typedef struct ray_found {
    float t, u, v;
    int triangle;
    sap_hit* row; // FIND_ALL
    int count;    // FIND_ALL
} ray_found;

template <int mode>
static __device__ __forceinline__ void take_hit(const ray_task& task, const sap_crossing& hit, int triangle,
                                                ray_found* found) {
    if (mode == FIND_ALL) {
        sap_hit in_row;
        in_row.t = hit.t;
        in_row.u = hit.u;
        in_row.v = hit.v;
        in_row.triangle = triangle;
        found->count = sap_hits_insert(found->row, found->count, task.job.limit, in_row);
        if (found->count == task.job.limit) found->t = found->row[found->count - 1].t;
    } else if (hit.t < found->t || found->triangle < 0 || triangle < found->triangle) {
        found->t = hit.t;
        found->u = hit.u;
        found->v = hit.v;
        found->triangle = triangle;
    }
}

template <int mode>
static __device__ __forceinline__ void test_triangle(const ray_task& task, const sap_prepared_ray& ray, uint32_t place,
                                                     ray_found* found) {
    const float4* corner = task.triangles + 3 * (size_t)place;
    const float4 a = corner[0], b = corner[1], c = corner[2];
    sap_triangle triangle;
    triangle.a.x = a.x;
    triangle.a.y = a.y;
    triangle.a.z = a.z;
    triangle.b.x = b.x;
    triangle.b.y = b.y;
    triangle.b.z = b.z;
    triangle.c.x = c.x;
    triangle.c.y = c.y;
    triangle.c.z = c.z;
    const sap_crossing hit = sap_triangle_cross(ray, triangle);
    if (hit.is_hit && hit.t <= found->t) take_hit<mode>(task, hit, __float_as_int(a.w), found);
}

// The same way as ray/walk.h goes.
template <int mode>
static __device__ __forceinline__ void walk(const ray_task& task, const sap_prepared_ray& ray, ray_found* found) {
    uint32_t waiting[SAP_MESH_STACK];
    float waiting_from[SAP_MESH_STACK], waiting_to[SAP_MESH_STACK];
    int top = 0;
    uint32_t node = 0;
    sap_span span = sap_ray_clip(ray, task.lower, task.upper);
    if (!ray.is_ray || !(span.from <= span.to)) return;
    for (;;) {
        sap_mesh_node at = task.nodes[node];
        for (int axis; (axis = (int)(at.link & 3)) != SAP_MESH_LEAF; at = task.nodes[node]) {
            const float plane = sap_float_of_bits(at.bits), inverse = sap_pick(ray.inverse, axis);
            const float early = (plane - sap_pick(ray.early, axis)) * inverse;
            const float late = (plane - sap_pick(ray.late, axis)) * inverse;
            const uint32_t left = node + 1, right = at.link >> 2;
            const bool is_backward = inverse < 0;
            // NaN leaves the span as it is, and both sides are visited.
            const float near_to = late < span.to ? late : span.to, far_from = early > span.from ? early : span.from;
            const bool is_near = span.from <= near_to;
            if (is_near && far_from <= span.to) {
                waiting[top] = is_backward ? left : right;
                waiting_from[top] = far_from;
                waiting_to[top] = span.to;
                top++;
            }
            node = is_near == is_backward ? right : left;
            span.from = is_near ? span.from : far_from;
            span.to = is_near ? near_to : span.to;
        }
        const int count = (int)(at.link >> 2);
        for (int i = 0; i < count; i++)
            test_triangle<mode>(task, ray, count == 1 ? at.bits : (uint32_t)task.references[at.bits + (uint32_t)i],
                                found);
        if (mode == FIND_ANY && found->triangle >= 0) return;
        do {
            if (top == 0) return;
            top--;
            node = waiting[top];
            span.from = waiting_from[top];
            span.to = waiting_to[top] < found->t ? waiting_to[top] : found->t;
        } while (!(span.from <= span.to));
    }
}

static __device__ __forceinline__ sap_ray read_ray(const ray_task& task, int64_t i) {
    sap_ray ray;
    if (task.wide) {
        const float4* from = (const float4*)(task.job.rays + i);
        const float4 halves[2] = {from[0], from[1]};
        memcpy(&ray, halves, sizeof ray);
    } else {
        ray = task.job.rays[i];
    }
    return ray;
}

static __device__ __forceinline__ void write_hit(const ray_task& task, int64_t i, float t, float u, float v,
                                                 int triangle) {
    sap_hit* to = task.job.hits + i;
    if (task.wide) {
        *(float4*)to = make_float4(t, u, v, __int_as_float(triangle));
    } else {
        to->t = t;
        to->u = u;
        to->v = v;
        to->triangle = triangle;
    }
}

static __device__ __forceinline__ sap_prepared_ray prepare(const ray_task& task, const sap_ray& ray) {
    return sap_ray_prepare(sap_vector_of(ray.origin), sap_vector_of(ray.direction), ray.t_min, ray.t_max,
                           task.magnitude);
}

template <int mode>
static __global__ void __launch_bounds__(RAY_THREADS) trace_rays(const __grid_constant__ ray_task task) {
    const int64_t i = (int64_t)blockIdx.x * RAY_THREADS + threadIdx.x;
    if (i >= task.job.count) return;
    const sap_prepared_ray ray = prepare(task, read_ray(task, i));
    ray_found found = {ray.t_max, 0, 0, -1, NULL, 0};
    if (mode == FIND_ALL) found.row = task.job.hits + i * task.job.limit;
    walk<mode>(task, ray, &found);
    if (mode == FIND_ALL) {
        if (task.job.counts) task.job.counts[i] = found.count;
        for (int j = found.count; j < task.job.limit; j++) write_hit(task, i * task.job.limit + j, INFINITY, 0, 0, -1);
    } else if (mode == FIND_ANY) {
        task.job.occluded[i] = found.triangle >= 0;
    } else {
        write_hit(task, i, found.triangle < 0 ? INFINITY : found.t, found.u, found.v, found.triangle);
    }
}

// The shared walk, which counts what it looks at.
static __global__ void __launch_bounds__(RAY_THREADS)
    trace_visits(const __grid_constant__ sap_mesh_tree tree, const __grid_constant__ ray_task task) {
    const int64_t i = (int64_t)blockIdx.x * RAY_THREADS + threadIdx.x;
    if (i >= task.job.count) return;
    const sap_walked found = sap_ray_walk(&tree, prepare(task, read_ray(task, i)), task.lower, task.upper, false);
    write_hit(task, i, found.triangle < 0 ? INFINITY : found.t, found.u, found.v, found.triangle);
    task.job.visits[i] = found.visits;
}

static ray_task task_of(const sap_mesh_tree* tree, const sap_ray_job* job) {
    ray_task task;
    memset((void*)&task, 0, sizeof task);
    task.nodes = (const sap_mesh_node*)(tree->arrays + tree->shape.node_at);
    task.references = (const int32_t*)(tree->arrays + tree->shape.reference_at);
    task.triangles = sap_mesh_cuda_of(tree)->triangles;
    task.lower = sap_mesh_lower(tree);
    task.upper = sap_mesh_upper(tree);
    task.magnitude = sap_mesh_magnitude(tree);
    task.wide = (((uintptr_t)job->rays | (uintptr_t)job->hits) & 15) == 0;
    task.job = *job;
    return task;
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
    const sap_cuda_grid grid = sap_cuda_grid_for(job->count, RAY_THREADS);
    if (job->visits)
        sap_cuda_launch(&call, trace_visits, grid, *tree, task);
    else if (job->occluded)
        sap_cuda_launch(&call, trace_rays<FIND_ANY>, grid, task);
    else if (job->limit)
        sap_cuda_launch(&call, trace_rays<FIND_ALL>, grid, task);
    else
        sap_cuda_launch(&call, trace_rays<FIND_FIRST>, grid, task);
    return sap_cuda_end(&call, SAP_OK);
}
