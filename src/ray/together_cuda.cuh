// The rays of a warp that go nearly the same way walk together: one walk visits every leaf that any of them would
// visit, and in a leaf each lane first rules out a triangle for all rays at once.
//
// Answers stay the same: a walk that visits more leaves finds the same hits, since hits follow from triangles alone,
// and only triangles are ruled out whose own test would say for every ray that it passes beside them.
#ifndef SAPWOOD_RAY_TOGETHER_CUDA_CUH
#define SAPWOOD_RAY_TOGETHER_CUDA_CUH

#include "ray/lane_cuda.cuh"
#include "tree/order_cuda.cuh"

enum {
    TOGETHER_TRIANGLES = 16, // looked at together: leaves of more are rare
    TOGETHER_TESTED = 32,    // tested triangles that are remembered
    // Rays stop walking together once leaves bring too little: each 16 triangles looked at cost two, each ray that
    // finds a hit in a leaf is one, and there is so much to begin with. Among triangles far smaller than the rays are
    // apart, hardly any triangle concerns more than one of them.
    TOGETHER_PATIENCE = 32,
    TOGETHER_COST = 2
};

// Covers the roundings of a few operations: 2^-20, where each rounds by 2^-24.
#define TOGETHER_ROUNDING 9.5367432e-07f
// Edge functions nearer to zero may be rounded to zero: 2^-100.
#define TOGETHER_LEAST_EDGE 7.8886091e-31f

// A ray in the middle of all, with the axes in the order of the sheared triangles, and how far the others are from it.
typedef struct ray_aim {
    int axis_x, axis_y, axis_z; // the same for all rays
    sap_vector middle;
    float shear_x, shear_y;
    float spread_x, spread_y; // radius per distance along the rays
    float width_x, width_y;   // radius at the origin
} ray_aim;

// What the lanes of a warp share.
typedef struct ray_bundle {
    float4 axes[3]; // of each axis: the origin that meets planes earliest, the one that meets them latest, least and
                    // most inverse
    float4 waiting[SAP_MESH_STACK];   // the bits of a side, from, to
    uint32_t tested[TOGETHER_TESTED]; // by number % TOGETHER_TESTED: triangles that all rays have been tested against
    ray_aim aim;
} ray_bundle;

typedef struct ray_bounds {
    float least, most;
} ray_bounds;

// ---- Which rays walk together

static __device__ __forceinline__ ray_bounds bounds_of(float value) {
    const unsigned ordinal = sap_ordinal_of(value);
    ray_bounds bounds;
    bounds.least = sap_real_of(sap_warp_min(ordinal));
    bounds.most = sap_real_of(sap_warp_max(ordinal));
    return bounds;
}

static __device__ __forceinline__ float middle_of(ray_bounds bounds) {
    return 0.5f * bounds.least + 0.5f * bounds.most;
}

// No value within the bounds lies farther from `middle`.
static __device__ __forceinline__ float radius_of(ray_bounds bounds, float middle) {
    return fmaxf(bounds.most - middle, middle - bounds.least) * 1.0000038f; // 1 + 2^-18, for this and later roundings
}

// Of one axis: what a bundle needs of it, which is the same in all lanes.
typedef struct ray_axis {
    float middle, radius, apart; // of the origins
    bool is_mixed;               // rays along planes of this axis are among others: their times are not between those
} ray_axis;

// `from`: the lane whose ray counts for this one.
static __device__ __forceinline__ ray_axis gather_axis(float origin, float inverse, float margin, int from,
                                                       float4* held) {
    const ray_bounds o = bounds_of(__shfl_sync(SAP_ALL_LANES, origin, from));
    const ray_bounds i = bounds_of(__shfl_sync(SAP_ALL_LANES, inverse, from));
    const bool is_backward = i.least < 0; // then all are
    if (threadIdx.x % SAP_WARP == 0)      // see sap_plane_early and sap_plane_late
        *held = make_float4(is_backward ? o.least - margin : o.most + margin,
                            is_backward ? o.most + margin : o.least - margin, i.least, i.most);
    ray_axis axis;
    axis.middle = middle_of(o);
    axis.radius = radius_of(o, axis.middle);
    axis.apart = o.most - o.least;
    axis.is_mixed = isinf(i.least) != isinf(i.most);
    return axis;
}

// Finds out whether the rays of the lanes with a side, all of one octant, are so near each other that they would visit
// about the same leaves; if so, fills the bundle.
static __device__ __forceinline__ bool gather(const ray_task& task, unsigned rays, const ray_lane& lane,
                                              ray_bundle* bundle, sap_span* span) {
    const int first = __ffs((int)rays) - 1, self = (int)(threadIdx.x % SAP_WARP);
    const int from = rays >> self & 1 ? self : first; // lanes without a ray repeat the first
    const int axis_x = __shfl_sync(SAP_ALL_LANES, lane.ray.axis_x, first);
    const int axis_z = __shfl_sync(SAP_ALL_LANES, lane.ray.axis_z, first), axis_y = 3 - axis_x - axis_z;
    const bool is_alike = lane.ray.axis_z == axis_z || from != self;
    const float margin = bounds_of(__shfl_sync(SAP_ALL_LANES, lane.margin, from)).most;
    const ray_axis x = gather_axis(lane.ray.origin.x, lane.ray.inverse.x, margin, from, bundle->axes);
    const ray_axis y = gather_axis(lane.ray.origin.y, lane.ray.inverse.y, margin, from, bundle->axes + 1);
    const ray_axis z = gather_axis(lane.ray.origin.z, lane.ray.inverse.z, margin, from, bundle->axes + 2);
    const ray_bounds shear_x = bounds_of(__shfl_sync(SAP_ALL_LANES, lane.ray.shear_x, from));
    const ray_bounds shear_y = bounds_of(__shfl_sync(SAP_ALL_LANES, lane.ray.shear_y, from));
    const float apart = fmaxf(fmaxf(x.apart, y.apart), z.apart);
    const float turned = fmaxf(shear_x.most - shear_x.least, shear_y.most - shear_y.least);
    const bool is_near = __fmaf_rn(turned, task.side, apart) <= task.near && !x.is_mixed && !y.is_mixed && !z.is_mixed;
    if (!__all_sync(SAP_ALL_LANES, is_alike && is_near)) return false;

    span->from = bounds_of(__shfl_sync(SAP_ALL_LANES, lane.span.from, from)).least;
    span->to = bounds_of(__shfl_sync(SAP_ALL_LANES, lane.span.to, from)).most;
    const sap_vector middle = {x.middle, y.middle, z.middle}, radius = {x.radius, y.radius, z.radius};
    // A part of the coordinates' magnitude, so that no corner beside the rays is too near to them.
    const float least = sap_pick(radius, axis_z) + __fmaf_rn(margin, TOGETHER_ROUNDING, FLT_MIN);
    ray_aim aim;
    aim.axis_x = axis_x;
    aim.axis_y = axis_y;
    aim.axis_z = axis_z;
    aim.middle.x = sap_pick(middle, axis_x);
    aim.middle.y = sap_pick(middle, axis_y);
    aim.middle.z = sap_pick(middle, axis_z);
    aim.shear_x = middle_of(shear_x);
    aim.shear_y = middle_of(shear_y);
    aim.spread_x = radius_of(shear_x, aim.shear_x) + TOGETHER_ROUNDING;
    aim.spread_y = radius_of(shear_y, aim.shear_y) + TOGETHER_ROUNDING;
    aim.width_x = sap_pick(radius, axis_x) + least;
    aim.width_y = sap_pick(radius, axis_y) + least;
    if (self == 0) bundle->aim = aim;
    bundle->tested[self] = SAP_MESH_SIDE_EMPTY; // no triangle's number
    __syncwarp();
    return true;
}

// ---- Triangles that no ray hits

// Whether a ray may hit a triangle, whose corners are given by their x, their y and their z. A corner sheared for any
// ray lies within a box about the corner sheared for the middle ray. A ray passes beside a triangle if one edge function
// is above zero and another below. If all corners are on one side of it, one edge function above or below zero suffices:
// then there is another of the other sign.
static __device__ __forceinline__ bool may_hit(const ray_aim& aim, float4 x, float4 y, float4 z) {
    const float xs[3] = {x.x, x.y, x.z}, ys[3] = {y.x, y.y, y.z}, zs[3] = {z.x, z.y, z.z};
    float at_x[3], at_y[3], radius_x[3], radius_y[3];
    bool is_right = true, is_left = true, is_above = true, is_below = true;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const float along = zs[i] - aim.middle.z, beside_x = xs[i] - aim.middle.x, beside_y = ys[i] - aim.middle.y;
        at_x[i] = __fmaf_rn(-aim.shear_x, along, beside_x);
        at_y[i] = __fmaf_rn(-aim.shear_y, along, beside_y);
        radius_x[i] = __fmaf_rn(aim.spread_x, fabsf(along), __fmaf_rn(TOGETHER_ROUNDING, fabsf(beside_x), aim.width_x));
        radius_y[i] = __fmaf_rn(aim.spread_y, fabsf(along), __fmaf_rn(TOGETHER_ROUNDING, fabsf(beside_y), aim.width_y));
        is_right = is_right && at_x[i] > radius_x[i];
        is_left = is_left && at_x[i] < -radius_x[i];
        is_above = is_above && at_y[i] > radius_y[i];
        is_below = is_below && at_y[i] < -radius_y[i];
    }
    bool some_above = false, some_below = false;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        const float edge = at_x[b] * at_y[a] - at_y[b] * at_x[a];
        const float of_x = __fmaf_rn(fabsf(at_x[b]) + radius_x[b], radius_y[a], TOGETHER_LEAST_EDGE);
        const float of_y = __fmaf_rn(fabsf(at_y[b]) + radius_y[b], radius_x[a], fabsf(at_x[a]) * radius_y[b]);
        const float radius = __fmaf_rn(fabsf(at_y[a]), radius_x[b], of_x + of_y);
        some_above = some_above || edge > radius;
        some_below = some_below || edge < -radius;
    }
    const bool is_beside = is_right || is_left || is_above || is_below;
    return !(is_beside ? some_above || some_below : some_above && some_below);
}

// ---- The walk

// Tests all rays against the triangles of a leaf that some may hit. Returns how many times it looked at 16 triangles.
template <int mode>
static __device__ __forceinline__ int look_together(const ray_task& task, uint32_t side, ray_bundle* bundle,
                                                    ray_lane* lane) {
    const uint32_t self = threadIdx.x % SAP_WARP;
    unsigned last = 0;
    int looks = 0;
    for (uint32_t place = side & ~SAP_MESH_SIDE_LEAF; !last; place += TOGETHER_TRIANGLES) {
        uint32_t id = 0;
        bool is_last = false, is_candidate = false;
        if (self < TOGETHER_TRIANGLES && place + self < task.places) {
            const float4* rows = task.mesh.triangles + 3 * (size_t)(place + self);
            const float4 x = __ldg(rows + bundle->aim.axis_x), y = __ldg(rows + bundle->aim.axis_y),
                         z = __ldg(rows + bundle->aim.axis_z);
            id = (uint32_t)__float_as_int(x.w);
            is_last = (id & SAP_MESH_LAST) != 0;
            id &= ~SAP_MESH_LAST;
            is_candidate = may_hit(bundle->aim, x, y, z) && bundle->tested[id % TOGETHER_TESTED] != id;
        }
        last = __ballot_sync(SAP_ALL_LANES, is_last);
        const unsigned within = last ? last ^ (last - 1) : SAP_ALL_LANES; // up to the leaf's last triangle
        unsigned left = __ballot_sync(SAP_ALL_LANES, is_candidate) & within;
        if (left >> self & 1) bundle->tested[id % TOGETHER_TESTED] = id;
        for (; left; left &= left - 1)
            if (lane->side != NOWHERE)
                test_triangle<mode>(task.mesh, task.job, place + (uint32_t)__ffs((int)left) - 1, lane);
        looks++;
        __syncwarp();
    }
    return looks;
}

// Takes the last waiting side that begins before `farthest`. False: none is left.
static __device__ __forceinline__ bool take_together(const ray_bundle* bundle, float farthest, int* waiting,
                                                     uint32_t* side, sap_span* span) {
    do {
        if (*waiting == 0) return false;
        *waiting -= 1;
        __syncwarp();
        const float4 next = bundle->waiting[*waiting];
        __syncwarp();
        *side = (uint32_t)__float_as_int(next.x);
        span->from = next.y;
        span->to = fminf(next.z, farthest);
    } while (!(span->from <= span->to));
    return true;
}

// Lets the rays of the warp, all of one octant, walk together if they are near each other. Then they are done, unless
// they stop on the way: lanes that still have a side have to walk from there, the root, and keep the hits they have.
// Every lane follows the same path.
template <int mode>
static __device__ __forceinline__ void walk_together(const ray_task& task, ray_bundle* bundle, ray_lane* lane) {
    const unsigned rays = __ballot_sync(SAP_ALL_LANES, lane->side != NOWHERE);
    const bool is_first = threadIdx.x % SAP_WARP == 0;
    sap_span span;
    if (!rays || !gather(task, rays, *lane, bundle, &span)) return;
    uint32_t side = task.mesh.root;
    int waiting = 0, patience = TOGETHER_PATIENCE;
    float farthest = FLT_MAX; // hits beyond it do not count for any ray
    for (;;) {
        if ((int32_t)side >= 0) {
            const uint4 node = __ldg(task.mesh.nodes + side);
            const float4 axis = bundle->axes[node.w];
            const float plane = sap_float_of_bits(node.x), early = plane - axis.x, late = plane - axis.y;
            const bool is_backward = axis.z < 0;
            const uint32_t near_side = is_backward ? node.z : node.y, far_side = is_backward ? node.y : node.z;
            // The latest and the earliest of the rays' times. NaN leaves the span as it is.
            const float near_to = fminf(fmaxf(late * axis.z, late * axis.w), span.to);
            const float far_from = fmaxf(fminf(early * axis.z, early * axis.w), span.from);
            const bool is_near = span.from <= near_to && near_side != SAP_MESH_SIDE_EMPTY;
            const bool is_far = far_from <= span.to && far_side != SAP_MESH_SIDE_EMPTY;
            if (is_near && is_far) {
                SAP_ASSERT(waiting < SAP_MESH_STACK);
                if (is_first) bundle->waiting[waiting] = make_float4(sap_float_of_bits(far_side), far_from, span.to, 0);
                waiting++;
            }
            side = is_near ? near_side : far_side;
            span.to = is_near ? near_to : span.to;
            span.from = is_near ? span.from : far_from;
            if (is_near || is_far) continue;
        } else {
            const float before = lane->t;
            const int count = lane->count;
            const int looks = look_together<mode>(task, side, bundle, lane);
            const unsigned gained = __ballot_sync(SAP_ALL_LANES, lane->t != before || lane->count != count);
            if (gained) farthest = bounds_of(lane->side != NOWHERE ? lane->t : -FLT_MAX).most;
            patience += __popc(gained) - TOGETHER_COST * looks;
            if (patience < 0) return;
        }
        if (!take_together(bundle, farthest, &waiting, &side, &span)) break;
    }
    lane->side = NOWHERE;
}

#endif
