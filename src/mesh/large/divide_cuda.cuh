// Counting and dividing the parts of a job, or of one of its units, by a warp.
#ifndef SAPWOOD_MESH_LARGE_DIVIDE_CUDA_CUH
#define SAPWOOD_MESH_LARGE_DIVIDE_CUDA_CUH

#include "mesh/clip/clip_exactly_cuda.cuh"
#include "mesh/large/plan_cuda.cuh"

enum {
    SAP_MESH_LOADS = 8,   // loads of parts that a lane has in flight while it counts
    SAP_MESH_AT_ONCE = 4, // parts that a lane divides at once
    SAP_MESH_TILE = SAP_WARP * SAP_MESH_AT_ONCE
};

// A part that a plane cuts: first its bounds (in `left`) and triangle, after clipping its bounds on both sides.
typedef struct sap_mesh_cut {
    float left[6], right[6]; // lower x y z, upper x y z
    int32_t sides;           // first the triangle; after clipping bit 0: has left, bit 1: has right
} sap_mesh_cut;

// ---- Counting

static __device__ uint2 sap_mesh_count_sides(const sap_mesh_cuda_part* parts, int32_t count, int axis, float plane,
                                             bool planar_left) {
    const float* at = &parts->lower.x + axis;
    uint32_t left = 0, right = 0;
    for (int32_t i = sap_lane(); i - sap_lane() < count; i += SAP_WARP * SAP_MESH_LOADS) {
        float lower[SAP_MESH_LOADS], upper[SAP_MESH_LOADS];
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_LOADS; k++) {
            const int32_t own = i + k * SAP_WARP;
            lower[k] = INFINITY;
            upper[k] = -INFINITY;
            if (own >= count) continue;
            lower[k] = at[(int64_t)own * 8];
            upper[k] = at[(int64_t)own * 8 + 4];
        }
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_LOADS; k++) {
            left += sap_reaches_left(lower[k], upper[k], plane, planar_left);
            right += sap_reaches_right(lower[k], upper[k], plane, planar_left);
        }
    }
    return make_uint2(sap_warp_sum(left), sap_warp_sum(right));
}

// One thread decides what becomes of a job whose sides have been counted.
static __device__ void sap_mesh_decide(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job) {
    sap_mesh_cuda_state* state = b.state;
    const uint32_t left = job->sides[0], right = job->sides[1], small = (uint32_t)b.rules.small_node;
    SAP_ASSERT(job->axis >= 0 && left + right >= (uint32_t)job->count);
    const float cost = sap_cell_cost(job->cell, sap_mesh_measure(job->cell, state->radius), job->axis, job->plane,
                                     b.rules.traversal, b.rules.intersection, (float)left, (float)right);
    if (!sap_is_worth(cost, b.rules.intersection, (float)job->count)) {
        if (job->task == SAP_MESH_TASK_MIDDLE)
            job->task = SAP_MESH_TASK_BIN;
        else
            sap_mesh_make_leaf(b, job);
        return;
    }
    if (!sap_may_cut(job->most, left, right)) {
        sap_mesh_make_leaf(b, job);
        return;
    }
    const uint32_t far[2] = {left > small ? left : 0, right > small ? right : 0};
    const unsigned long long near = (unsigned long long)(left - far[0]) + (right - far[1]);
    const int64_t room = (int64_t)far[0] + far[1];
    const int other = !state->batch.side;
    const unsigned long long jobs = (unsigned)((far[0] > 0) + (far[1] > 0));
    // All atomic operations are issued before the first result is used.
    const unsigned long long old = atomicAdd(&state->used[other], (unsigned long long)room << SAP_MESH_JOB_BITS | jobs);
    const int64_t near_at = (int64_t)atomicAdd(&state->small_parts, near);
    job->children = sap_mesh_add_tops(b, job->top, job->axis, job->plane);
    job->task = job->children ? SAP_MESH_TASK_DIVIDE : SAP_MESH_TASK_NONE;
    job->child_number = (int64_t)(old & ((1ull << SAP_MESH_JOB_BITS) - 1));
    job->child_below = (int64_t)(old >> SAP_MESH_JOB_BITS);
    // The second stack grows downward.
    const int64_t far_at = other ? b.capacity - job->child_below - room : job->child_below;
    job->child_first[0] = far[0] ? far_at + (other ? far[1] : 0) : near_at;
    job->child_first[1] = far[1] ? far_at + (other ? 0 : far[0]) : near_at + (far[0] ? 0 : left);
}

// ---- Bins: where the middle plane is not worth it

// Adds parts to the warp's histogram: [starts, ends][axis][bin].
static __device__ void sap_mesh_fill_bins(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job,
                                          const sap_mesh_cuda_part* parts, int32_t count, uint32_t* bins) {
    const sap_mesh_box cell = job->cell;
    const sap_measure m = sap_mesh_measure(cell, b.state->radius);
    float scale[3];
    for (int a = 0; a < 3; a++) scale[a] = sap_bin_scale(cell, m, a);
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP) bins[i] = 0;
    __syncwarp();
    for (int32_t i = sap_lane(); i < count; i += SAP_WARP) {
        const sap_mesh_cuda_part part = parts[i];
        if (sap_mesh_part_triangle(part) == SAP_MESH_HOLE) continue;
        for (int a = 0; a < 3; a++) {
            const float lower = sap_mesh_along(part.lower, a), upper = sap_mesh_along(part.upper, a);
            atomicAdd(&bins[a * SAP_MESH_BINS + sap_bin_of(lower, cell.lower[a], scale[a])], 1u);
            atomicAdd(&bins[(3 + a) * SAP_MESH_BINS + sap_bin_of(upper, cell.lower[a], scale[a])], 1u);
        }
    }
    __syncwarp();
}

// Chooses the cheapest edge of bins, one lane per axis. The job's sides then have to be counted again.
static __device__ void sap_mesh_choose_edge(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                            const uint32_t* bins) {
    const int a = sap_lane();
    float best_cost = INFINITY;
    sap_plane best;
    best.axis = -1;
    best.at = 0;
    best.planar_left = false;
    if (a < 3) {
        const sap_mesh_box cell = job->cell;
        const sap_measure m = sap_mesh_measure(cell, b.state->radius);
        const bool can = sap_bin_scale(cell, m, a) > 0;
        uint32_t left = 0, right = (uint32_t)job->count;
        for (int bin = 1; bin < SAP_MESH_BINS && can; bin++) {
            left += bins[a * SAP_MESH_BINS + bin - 1];
            right -= bins[(3 + a) * SAP_MESH_BINS + bin - 1];
            const float at = sap_bin_edge(cell, a, bin);
            if (!sap_is_candidate(cell, m, a, at)) continue;
            const float cost =
                sap_cell_cost(cell, m, a, at, b.rules.traversal, b.rules.intersection, (float)left, (float)right);
            if (!(cost < best_cost)) continue;
            best_cost = cost;
            best.axis = a;
            best.at = at + 0.0f;
        }
    }
    for (int other = 1; other < 3; other++) { // lane 0 takes the best of all; of equal costs the first axis
        const float cost = __shfl_sync(SAP_ALL_LANES, best_cost, other),
                    at = __shfl_sync(SAP_ALL_LANES, best.at, other);
        const int axis = __shfl_sync(SAP_ALL_LANES, best.axis, other);
        if (axis < 0 || !(cost < best_cost)) continue;
        best_cost = cost;
        best.axis = axis;
        best.at = at;
    }
    if (a == 0) {
        job->axis = best.axis;
        job->plane = best.at;
        job->planar_left = 0;
        job->sides[0] = job->sides[1] = job->arrived = 0;
        job->task = SAP_MESH_TASK_COUNT;
        if (best.axis < 0) sap_mesh_make_leaf(b, job);
    }
    __syncwarp();
}

// ---- Dividing

// The bounds of the parts that a lane has put on a side.
typedef struct sap_mesh_extent {
    float lower[3], upper[3];
} sap_mesh_extent;

static __device__ __forceinline__ sap_mesh_extent sap_mesh_no_extent(void) {
    sap_mesh_extent e;
    for (int k = 0; k < 3; k++) e.lower[k] = INFINITY, e.upper[k] = -INFINITY;
    return e;
}

static __device__ __forceinline__ void sap_mesh_widen(sap_mesh_extent* e, const sap_mesh_box& box) {
    for (int k = 0; k < 3; k++) {
        e->lower[k] = fminf(e->lower[k], box.lower[k]);
        e->upper[k] = fmaxf(e->upper[k], box.upper[k]);
    }
}

// A box in six floats.
static __device__ __forceinline__ void sap_mesh_box_put(float* to, const sap_mesh_box& box) {
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        to[k] = box.lower[k];
        to[3 + k] = box.upper[k];
    }
}
static __device__ __forceinline__ sap_mesh_box sap_mesh_box_get(const float* from) {
    sap_mesh_box box;
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        box.lower[k] = from[k];
        box.upper[k] = from[3 + k];
    }
    return box;
}

// Clips the parts that the warp has listed.
template <bool fast>
static __device__ __forceinline__ void sap_mesh_clip_listed(const sap_mesh_cuda_build& b, sap_mesh_cut* cuts,
                                                            uint32_t count, int axis, float plane) {
    SAP_ASSERT(count <= SAP_MESH_TILE);
    __syncwarp();
    for (uint32_t i = (uint32_t)sap_lane(); i < count; i += SAP_WARP) {
        const sap_mesh_box part = sap_mesh_box_get(cuts[i].left);
        const sap_halves halves =
            fast ? sap_mesh_clip_cheaply(sap_mesh_corners_of(b.corners, cuts[i].sides), part, axis, plane)
                 : sap_mesh_clip_exactly(b.corners, cuts[i].sides, part, axis, plane);
        sap_mesh_box_put(cuts[i].left, halves.left);
        sap_mesh_box_put(cuts[i].right, halves.right);
        cuts[i].sides = (halves.has_left ? 1 : 0) | (halves.has_right ? 2 : 0);
    }
    __syncwarp();
}

// The sides of a job while they fill: where they go, how many parts they have, and their bounds.
typedef struct sap_mesh_sides {
    sap_mesh_cuda_part *left_to, *right_to;
    uint32_t left, right;
    sap_mesh_extent left_box, right_box;
} sap_mesh_sides;

// Appends each lane's part, if it has one, to a side.
static __device__ __forceinline__ void sap_mesh_append(sap_mesh_cuda_part* to, uint32_t* count, sap_mesh_extent* extent,
                                                       bool is_part, const sap_mesh_box& box, int triangle) {
    const unsigned int all = __ballot_sync(SAP_ALL_LANES, is_part);
    if (is_part) {
        to[*count + __popc(all & sap_lanes_below())] = sap_mesh_part_of(box, triangle);
        sap_mesh_widen(extent, box);
    }
    *count += __popc(all);
}

// Divides parts by a plane, stably. Few parts are cut by the plane: they are listed first, so that no lane idles while
// they are clipped.
template <bool fast>
static __device__ __forceinline__ void sap_mesh_divide(const sap_mesh_cuda_build& b, const sap_mesh_cuda_part* parts,
                                                       int32_t count, int axis, float plane, bool planar_left,
                                                       sap_mesh_cut* cuts, sap_mesh_sides* sides) {
    for (int32_t first = 0; first < count; first += SAP_MESH_TILE) {
        sap_mesh_cuda_part part[SAP_MESH_AT_ONCE];
        uint32_t listed = 0, place[SAP_MESH_AT_ONCE];
        int reached[SAP_MESH_AT_ONCE]; // 1 left, 2 right
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_AT_ONCE; k++) {
            const int32_t i = first + k * SAP_WARP + sap_lane();
            part[k] = i < count ? sap_mesh_part_load(&parts[i]) : sap_mesh_hole();
        }
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_AT_ONCE; k++) {
            const float lower = sap_mesh_along(part[k].lower, axis), upper = sap_mesh_along(part[k].upper, axis);
            reached[k] = (sap_reaches_left(lower, upper, plane, planar_left) ? 1 : 0) |
                         (sap_reaches_right(lower, upper, plane, planar_left) ? 2 : 0);
            const unsigned int both = __ballot_sync(SAP_ALL_LANES, reached[k] == 3);
            place[k] = listed + (uint32_t)__popc(both & sap_lanes_below());
            listed += (uint32_t)__popc(both);
            if (reached[k] != 3) continue;
            sap_mesh_box_put(cuts[place[k]].left, sap_mesh_part_box(part[k]));
            cuts[place[k]].sides = sap_mesh_part_triangle(part[k]);
        }
        if (listed) sap_mesh_clip_listed<fast>(b, cuts, listed, axis, plane);
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_AT_ONCE; k++) {
            sap_mesh_box left = sap_mesh_part_box(part[k]), right = left;
            if (reached[k] == 3) {
                reached[k] = cuts[place[k]].sides;
                left = sap_mesh_box_get(cuts[place[k]].left);
                right = sap_mesh_box_get(cuts[place[k]].right);
            }
            const int triangle = sap_mesh_part_triangle(part[k]);
            sap_mesh_append(sides->left_to, &sides->left, &sides->left_box, reached[k] & 1, left, triangle);
            sap_mesh_append(sides->right_to, &sides->right, &sides->right_box, reached[k] & 2, right, triangle);
        }
        __syncwarp();
    }
}

// Whether a side has more than small_node parts before clipping: then its box is needed.
static __device__ __forceinline__ bool sap_mesh_is_large(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job,
                                                         int side) {
    return job->sides[side] > (uint32_t)b.rules.small_node;
}

// The bounds of the parts that the warp has put on the sides, one bound per lane, in the order of child_box.
static __device__ __forceinline__ float sap_mesh_bounds(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job,
                                                        const sap_mesh_sides& sides) {
    float bound = 0;
    SAP_UNROLL
    for (int side = 0; side < 2; side++) {
        const sap_mesh_extent& e = side ? sides.right_box : sides.left_box;
        if (!sap_mesh_is_large(b, job, side)) continue;
        SAP_UNROLL
        for (int k = 0; k < 3; k++) {
            const float least = sap_real_of(sap_warp_min(sap_ordinal_of(e.lower[k])));
            const float most = sap_real_of(sap_warp_max(sap_ordinal_of(e.upper[k])));
            if (sap_lane() == 6 * side + k) bound = least;
            if (sap_lane() == 6 * side + 3 + k) bound = most;
        }
    }
    return bound;
}

// Writes the counts of a job's children after clipping, and their bounds, merged from all lanes.
static __device__ __forceinline__ void sap_mesh_write_children(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                                               const sap_mesh_sides& sides) {
    SAP_ASSERT(sides.left <= job->sides[0] && sides.right <= job->sides[1]);
    SAP_ASSERT(sides.left + sides.right >= (uint32_t)job->count);
    const float bound = sap_mesh_bounds(b, job, sides);
    if (sap_lane() < 12) job->child_box[sap_lane() / 6][sap_lane() % 6] = bound;
    if (sap_lane() == 0) job->child_count[0] = sides.left;
    if (sap_lane() == 0) job->child_count[1] = sides.right;
    __syncwarp();
}

static __device__ __forceinline__ sap_mesh_cuda_part* sap_mesh_child_parts(const sap_mesh_cuda_build& b,
                                                                           const sap_mesh_cuda_job* job, int side) {
    return (sap_mesh_is_large(b, job, side) ? b.parts : b.small) + job->child_first[side];
}

// Divides a job's parts or a unit of them. before: places on the sides that belong to the units before.
template <bool fast>
static __device__ __forceinline__ sap_mesh_sides sap_mesh_divide_parts(const sap_mesh_cuda_build& b,
                                                                       const sap_mesh_cuda_job* job,
                                                                       const sap_mesh_cuda_part* parts, int32_t count,
                                                                       sap_mesh_cut* cuts, uint2 before) {
    sap_mesh_sides sides;
    sides.left_to = sap_mesh_child_parts(b, job, 0) + before.x;
    sides.right_to = sap_mesh_child_parts(b, job, 1) + before.y;
    sides.left = sides.right = 0;
    sides.left_box = sides.right_box = sap_mesh_no_extent();
    sap_mesh_divide<fast>(b, parts, count, job->axis, job->plane, job->planar_left != 0, cuts, &sides);
    return sides;
}

static __device__ void sap_mesh_copy_leaf(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job, int32_t from,
                                          int32_t to) {
    SAP_ASSERT(job->child_first[0] + to <= b.staged_capacity);
    for (int32_t i = from + sap_lane(); i < to; i += SAP_WARP)
        b.staged[job->child_first[0] + i] = sap_mesh_part_triangle(b.parts[job->first + i]);
}

#endif
