// Nearest points on a mesh, and whether points lie inside one, on CUDA devices: one thread per query. sap_inside runs
// the shared text (ray/inside.h). The search for nearest points follows ray/closest.h on the tree of mesh/mesh_cuda.h.
#include "ray/closest_cuda.h"
#include "ray/walk_cuda.cuh"
#include <float.h>

enum { POINT_THREADS = 128 };

// A tree and the queries, on the device.
typedef struct closest_task {
    sap_mesh_on_cuda mesh;
    sap_closest_job job;
} closest_task;

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

static __device__ __forceinline__ bool is_inner(float4 place) { return (int32_t)side_of(place) >= 0; }

// Goes to the near side of an inner node. The far side waits if anything there may be near enough.
static __device__ __forceinline__ void step(const closest_task& task, sap_vector query, float margin, float distance2,
                                            float4* stack, int* waiting, float4* at) {
    const uint4 node = __ldg(task.mesh.nodes + side_of(*at));
    const float plane = sap_float_of_bits(node.x), q = sap_pick(query, (int)node.w);
    const bool is_below = q < plane;
    const float gap = (is_below ? plane - q : q - plane) - margin;
    const uint32_t near_side = is_below ? node.y : node.z, far_side = is_below ? node.z : node.y;
    float4 far_place = *at;
    if (node.w == 0) far_place.x = fmaxf(gap, far_place.x);
    if (node.w == 1) far_place.y = fmaxf(gap, far_place.y);
    if (node.w == 2) far_place.z = fmaxf(gap, far_place.z);
    far_place.w = sap_float_of_bits(far_side);
    const bool is_far = far_side != SAP_MESH_SIDE_EMPTY && sap_cell_distance2(outside_of(far_place)) <= distance2;
    at->w = sap_float_of_bits(near_side);
    if (is_far && near_side == SAP_MESH_SIDE_EMPTY)
        *at = far_place;
    else if (is_far) {
        SAP_ASSERT(*waiting < SAP_MESH_STACK);
        stack[(*waiting)++] = far_place;
    }
}

static __device__ __forceinline__ void look_into_leaf(const closest_task& task, uint32_t side, sap_vector query,
                                                      float margin, sap_near_point* best) {
    uint32_t place = side & ~SAP_MESH_SIDE_LEAF, id;
    do {
        const float4* rows = task.mesh.triangles + 3 * (size_t)place++;
        const float4 x = __ldg(rows), y = __ldg(rows + 1), z = __ldg(rows + 2);
        const sap_triangle triangle = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
        id = (uint32_t)__float_as_int(x.w);
        if (!(sap_triangle_distance2(triangle, query, margin) <= best->distance2)) continue;
        sap_near_point found = sap_triangle_nearest(triangle, query, INFINITY);
        found.triangle = (int)(id & ~SAP_MESH_LAST);
        const bool is_first = found.distance2 == best->distance2 && found.triangle < best->triangle;
        if (found.distance2 < best->distance2 || is_first) *best = found;
    } while (!(id & SAP_MESH_LAST));
}

// As sap_mesh_nearest in ray/closest.h, of what lies nearer than the limit.
static __device__ __noinline__ sap_near_point nearest_of(const closest_task& task, sap_vector query, float limit2) {
    const float margin = sap_margin(task.mesh.magnitude + sap_largest_magnitude(query));
    sap_near_point best = sap_no_near_point(query, limit2);
    float4 stack[SAP_MESH_STACK];
    int waiting = 0;
    float4 at = make_float4(sap_outside(query.x, task.mesh.lower.x, task.mesh.upper.x, margin),
                            sap_outside(query.y, task.mesh.lower.y, task.mesh.upper.y, margin),
                            sap_outside(query.z, task.mesh.lower.z, task.mesh.upper.z, margin),
                            sap_float_of_bits(task.mesh.root));
    for (;;) {
        while (is_inner(at)) step(task, query, margin, best.distance2, stack, &waiting, &at);
        if (side_of(at) != SAP_MESH_SIDE_EMPTY) look_into_leaf(task, side_of(at), query, margin, &best);
        do {
            if (waiting == 0) return best;
            at = stack[--waiting];
        } while (!(sap_cell_distance2(outside_of(at)) <= best.distance2));
    }
}

static __global__ void __launch_bounds__(POINT_THREADS) find_closest(const __grid_constant__ closest_task task) {
    const int64_t i = (int64_t)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i >= task.job.points.count) return;
    const sap_vector query = point_at(task.job.points, i);
    sap_near_point best = sap_no_near_point(query, INFINITY);
    if (sap_is_finite(query)) {
        float limit2 = INFINITY;
        if (task.job.known) {
            const float known = sap_known_limit2(query, sap_vector_of(task.job.known + 3 * i), task.mesh.magnitude);
            limit2 = known < FLT_MAX ? known : INFINITY; // also where none is known: NaN
        }
        best = nearest_of(task, query, limit2);
        // Within a limit there is nothing only if it was another mesh's.
        if (best.triangle < 0 && limit2 < INFINITY) best = nearest_of(task, query, INFINITY);
    }
    sap_closest* to = task.job.closest + i;
    to->point[0] = best.point.x;
    to->point[1] = best.point.y;
    to->point[2] = best.point.z;
    to->distance2 = best.distance2;
    to->u = best.u;
    to->v = best.v;
    to->triangle = best.triangle;
}

static __global__ void __launch_bounds__(POINT_THREADS)
    test_inside(const __grid_constant__ sap_mesh_tree tree, const sap_inside_job job, float magnitude) {
    const int64_t i = (int64_t)blockIdx.x * POINT_THREADS + threadIdx.x;
    if (i < job.points.count) job.inside[i] = sap_is_inside(&tree, point_at(job.points, i), magnitude);
}

void sap_closest_run_cuda(sap_cuda_call* call, const sap_mesh_tree* tree, const sap_closest_job* job) {
    closest_task task;
    memset((void*)&task, 0, sizeof task);
    task.mesh = sap_mesh_on_cuda_of(tree);
    task.job = *job;
    sap_cuda_launch(call, find_closest, sap_cuda_grid_for(job->points.count, POINT_THREADS), task);
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

sap_status sap_inside_cuda(const sap_mesh_tree* tree, const sap_inside_job* job) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    sap_inside_job on_device = *job;
    on_device.points = sap_cuda_rows_in(&call, &job->points);
    on_device.inside = (uint8_t*)sap_cuda_out(&call, job->inside, (size_t)job->points.count);
    sap_cuda_launch(&call, test_inside, sap_cuda_grid_for(job->points.count, POINT_THREADS), *tree, on_device,
                    sap_mesh_magnitude(tree));
    return sap_cuda_end(&call, SAP_OK);
}
