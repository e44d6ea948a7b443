// HIGH's small roots, one warp each: every bound of a part is a candidate plane, which a lane compares with all parts,
// and each part is clipped exactly at every plane.
//
// The parts of the current node lie in a frame, two per lane. The parts of a right side wait in a pool until the left
// side's subtree is complete. If the pool has no room for them, they are computed again when they are needed: from the
// root's parts, by the planes of the nodes above.
#include "mesh/clip/clip_exactly_cuda.cuh"
#include "mesh/small/subtree_cuda.cuh"

namespace {

enum { HIGH_THREADS = 128, HIGH_WARPS = HIGH_THREADS / SAP_WARP, OWN = 2, POOL = 400 };

// Parts, one row per bound.
template <int width> struct part_rows {
    float lower[3][width], upper[3][width];
    int32_t triangle[width];
};

// A node above the current one, and the side that leads to the current one.
struct high_step {
    float plane;
    int32_t node; // in preorder
    int16_t axis;
    bool planar_left, right;
    int16_t count, at; // the right side's parts: their number and place in the pool; at < 0: not in the pool
};

struct high_shared {
    sap_mesh_held held;
    high_step steps[SAP_MESH_DEPTH_MAX + 1];
    __align__(16) part_rows<SAP_MESH_SMALL> frame; // behind the parts stand boxes that reach no side of any plane
    part_rows<POOL> pool;
};

// ---- The frame

template <int from_width, int to_width>
__device__ __forceinline__ void copy_part(const part_rows<from_width>& from, int i, part_rows<to_width>* to, int k) {
    for (int a = 0; a < 3; a++) {
        to->lower[a][k] = from.lower[a][i];
        to->upper[a][k] = from.upper[a][i];
    }
    to->triangle[k] = from.triangle[i];
}

template <int width>
__device__ __forceinline__ void put_part(const sap_mesh_box& box, int triangle, part_rows<width>* to, int k) {
    for (int a = 0; a < 3; a++) {
        to->lower[a][k] = box.lower[a];
        to->upper[a][k] = box.upper[a];
    }
    to->triangle[k] = triangle;
}

__device__ __forceinline__ void fill_up(high_shared* s, int count) {
    for (int i = sap_lane(); i < SAP_MESH_SMALL; i += SAP_WARP)
        for (int a = 0; a < 3 && i >= count; a++) {
            s->frame.lower[a][i] = INFINITY;
            s->frame.upper[a][i] = -INFINITY;
        }
    __syncwarp();
}

// The root's parts in their order, without holes.
__device__ void load_root(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root, high_shared* s) {
    int at = 0;
    for (int i = sap_lane(); i - sap_lane() < root.room; i += SAP_WARP) {
        sap_mesh_cuda_part part = sap_mesh_hole();
        if (i < root.room) part = sap_mesh_part_load(&b.small[root.first + i]);
        const bool is_part = sap_mesh_part_triangle(part) != SAP_MESH_HOLE;
        const unsigned int all = __ballot_sync(SAP_ALL_LANES, is_part);
        if (is_part)
            put_part(sap_mesh_part_box(part), sap_mesh_part_triangle(part), &s->frame,
                     at + __popc(all & sap_lanes_below()));
        at += __popc(all);
    }
    SAP_ASSERT(at == root.count);
    fill_up(s, root.count);
}

// A lane's parts on both sides of a plane.
struct own_sides {
    sap_halves halves[OWN];
    int triangle[OWN];
    unsigned int left[OWN], right[OWN]; // of all lanes
};

__device__ __forceinline__ void take_sides(const sap_mesh_cuda_build& b, const high_shared* s, int count,
                                           const high_step& step, own_sides* own) {
    SAP_UNROLL
    for (int t = 0; t < OWN; t++) {
        const int i = sap_lane() + SAP_WARP * t;
        sap_halves* halves = &own->halves[t];
        halves->has_left = halves->has_right = false;
        if (i < count) {
            const float lower = s->frame.lower[step.axis][i], upper = s->frame.upper[step.axis][i];
            for (int a = 0; a < 3; a++) {
                halves->left.lower[a] = halves->right.lower[a] = s->frame.lower[a][i];
                halves->left.upper[a] = halves->right.upper[a] = s->frame.upper[a][i];
            }
            own->triangle[t] = s->frame.triangle[i];
            halves->has_left = sap_reaches_left(lower, upper, step.plane, step.planar_left);
            halves->has_right = sap_reaches_right(lower, upper, step.plane, step.planar_left);
            if (halves->has_left && halves->has_right)
                *halves = sap_mesh_clip_exactly(b.corners, own->triangle[t], halves->left, step.axis, step.plane);
        }
        own->left[t] = __ballot_sync(SAP_ALL_LANES, halves->has_left);
        own->right[t] = __ballot_sync(SAP_ALL_LANES, halves->has_right);
    }
}

// Writes one side's parts from place `at` on.
template <int width>
__device__ __forceinline__ void put_side(const own_sides& own, bool right, part_rows<width>* to, int at) {
    SAP_UNROLL
    for (int t = 0; t < OWN; t++) {
        const unsigned int all = right ? own.right[t] : own.left[t];
        const int place = at + __popc(all & sap_lanes_below());
        if (all >> sap_lane() & 1)
            put_part(right ? own.halves[t].right : own.halves[t].left, own.triangle[t], to, place);
        at += __popc(all);
    }
}

__device__ __forceinline__ int count_side(const own_sides& own, bool right) {
    return right ? __popc(own.right[0]) + __popc(own.right[1]) : __popc(own.left[0]) + __popc(own.left[1]);
}

// Replaces the frame by one side of its parts.
__device__ __forceinline__ int keep_side(const own_sides& own, bool right, high_shared* s) {
    const int count = count_side(own, right);
    SAP_ASSERT(count <= SAP_MESH_SMALL);
    __syncwarp();
    put_side(own, right, &s->frame, 0);
    fill_up(s, count);
    return count;
}

// Puts the parts of a right side into the frame: from the pool, or by computing them again.
__device__ __forceinline__ void bring_right(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root,
                                            high_shared* s, int level) {
    const high_step last = s->steps[level - 1];
    if (last.at >= 0) {
        for (int i = sap_lane(); i < last.count; i += SAP_WARP) copy_part(s->pool, last.at + i, &s->frame, i);
        fill_up(s, last.count);
        return;
    }
    load_root(b, root, s);
    int count = root.count;
    for (int k = 0; k < level; k++) {
        own_sides own;
        take_sides(b, s, count, s->steps[k], &own);
        count = keep_side(own, s->steps[k].right, s);
    }
    SAP_ASSERT(count == last.count);
}

__device__ __forceinline__ sap_mesh_box cell_of(const sap_mesh_cuda_root& root, const high_shared* s, int level) {
    sap_mesh_box cell = root.cell;
    for (int k = 0; k < level; k++) {
        const high_step step = s->steps[k];
        SAP_UNROLL
        for (int a = 0; a < 3; a++)
            if (a == step.axis) *(step.right ? &cell.lower[a] : &cell.upper[a]) = step.plane;
    }
    return cell;
}

// ---- The plane of a node

struct priced_plane {
    float cost;
    sap_plane plane;
};

__device__ __forceinline__ void keep_better(float cost, int axis, float at, bool planar_left, priced_plane* best) {
    sap_plane plane;
    plane.axis = axis;
    plane.at = at + 0.0f;
    plane.planar_left = planar_left;
    if (!sap_plane_precedes(cost, plane, best->cost, best->plane)) return;
    best->cost = cost;
    best->plane = plane;
}

// The costs of a node's planes along one axis follow from these.
struct axis_rule {
    float lower, upper, base, per;
    int axis;
};

__device__ __forceinline__ axis_rule rule_of(const sap_mesh_box& cell, const sap_measure& m, int axis) {
    axis_rule r = {cell.lower[0], cell.upper[0], m.base[0], m.per[0], axis};
    SAP_UNROLL
    for (int a = 1; a < 3; a++) // so that the arrays stay in registers
        if (a == axis) r = {cell.lower[a], cell.upper[a], m.base[a], m.per[a], axis};
    return r;
}

__device__ __forceinline__ float cost_of(const sap_mesh_rules& rules, const axis_rule& r, float at, int left,
                                         int right) {
    return sap_split_cost(rules.traversal, rules.intersection, sap_share(r.base, r.per, at - r.lower),
                          sap_share(r.base, r.per, r.upper - at), (float)left, (float)right);
}

// Tries the bounds of a lane's first `own` parts along an axis.
template <int own>
__device__ __forceinline__ void try_axis(const sap_mesh_rules& rules, const high_shared* s, int count,
                                         const axis_rule& r, priced_plane* best) {
    const float *lower = s->frame.lower[r.axis], *upper = s->frame.upper[r.axis];
    float at[2 * own];
    int left[2 * own], right[2 * own], in_plane[2 * own];
    bool flat = false;
    SAP_UNROLL
    for (int c = 0; c < 2 * own; c++) {
        const float* bounds = c & 1 ? upper : lower;
        at[c] = bounds[sap_lane() + c / 2 * SAP_WARP];
        left[c] = right[c] = in_plane[c] = 0;
        if (c & 1) flat = flat || at[c] == at[c - 1];
    }
    for (int j = 0; j < count; j += 4) { // boxes behind the last part count on no side
        const float4 low = *(const float4*)(lower + j), high = *(const float4*)(upper + j);
        SAP_UNROLL
        for (int c = 0; c < 2 * own; c++) {
            left[c] += (low.x < at[c]) + (low.y < at[c]) + (low.z < at[c]) + (low.w < at[c]);
            right[c] += (high.x > at[c]) + (high.y > at[c]) + (high.z > at[c]) + (high.w > at[c]);
        }
    }
    if (__any_sync(SAP_ALL_LANES, flat))
        for (int j = 0; j < count; j++) {
            const float low = lower[j];
            if (low != upper[j]) continue;
            SAP_UNROLL
            for (int c = 0; c < 2 * own; c++) in_plane[c] += low == at[c];
        }
    SAP_UNROLL
    for (int c = 0; c < 2 * own; c++) {
        if (!(at[c] > r.lower && at[c] < r.upper)) continue; // infinity is not inside either
        keep_better(cost_of(rules, r, at[c], left[c], right[c] + in_plane[c]), r.axis, at[c], false, best);
        if (in_plane[c])
            keep_better(cost_of(rules, r, at[c], left[c] + in_plane[c], right[c]), r.axis, at[c], true, best);
    }
}

// The best plane of all lanes.
__device__ __forceinline__ priced_plane best_of_warp(const priced_plane& own) {
    priced_plane best;
    best.cost = sap_real_of(sap_warp_min(sap_ordinal_of(own.cost)));
    const bool is_cheap = own.plane.axis >= 0 && own.cost == best.cost;
    const uint32_t way = is_cheap ? (uint32_t)(2 * own.plane.axis + own.plane.planar_left) : 6u;
    const uint32_t first = sap_warp_min(way);
    best.plane.axis = first < 6 ? (int)(first / 2) : -1;
    best.plane.planar_left = first & 1;
    best.plane.at = sap_real_of(sap_warp_min(is_cheap && way == first ? sap_ordinal_of(own.plane.at) : UINT32_MAX));
    return best;
}

__device__ __forceinline__ priced_plane best_plane(const sap_mesh_cuda_build& b, const high_shared* s, int count,
                                                   const sap_mesh_box& cell) {
    const sap_measure m = sap_mesh_measure(cell, b.state->radius);
    priced_plane best;
    best.cost = INFINITY;
    best.plane.axis = -1;
    best.plane.at = 0.0f;
    best.plane.planar_left = false;
    for (int a = 0; a < 3; a++) {
        if (a == 0 ? !m.split[0] : a == 1 ? !m.split[1] : !m.split[2]) continue;
        if (count > SAP_WARP)
            try_axis<2>(b.rules, s, count, rule_of(cell, m, a), &best);
        else
            try_axis<1>(b.rules, s, count, rule_of(cell, m, a), &best);
    }
    return best_of_warp(best);
}

// ---- The subtree

__device__ __forceinline__ void put_leaf(const high_shared* s, int count, int depth, sap_mesh_stage* stage) {
    const int32_t at = sap_mesh_stage_leaf(stage, count, depth);
    for (int i = sap_lane(); i < count; i += SAP_WARP) sap_mesh_stage_reference(stage, at + i, s->frame.triangle[i]);
}

// Divides the node in the frame: its left side replaces it, the right side waits.
__device__ __forceinline__ int cut_node(const sap_mesh_cuda_build& b, high_shared* s, int count, high_step step,
                                        int level, int* pooled, int64_t* spare) {
    own_sides own;
    take_sides(b, s, count, step, &own);
    step.right = false;
    step.count = (int16_t)count_side(own, true);
    step.at = (int16_t)(*pooled + step.count <= POOL ? *pooled : -1);
    if (step.at >= 0) {
        put_side(own, true, &s->pool, step.at);
        *pooled += step.count;
    }
    SAP_ASSERT(level <= SAP_MESH_DEPTH_MAX && *pooled <= POOL);
    if (sap_lane() == 0) s->steps[level] = step;
    const int left = keep_side(own, false, s);
    SAP_ASSERT(left + step.count >= count);
    *spare = sap_spare_after(*spare, count, left, step.count);
    return left;
}

// The quality HIGH, for sap_mesh_build_roots.
struct small_high {
    typedef high_shared shared;
    struct work {};

    static __device__ __forceinline__ sap_mesh_held* held(high_shared* s) { return &s->held; }

    static __device__ __forceinline__ void prepare(const sap_mesh_cuda_build&, const sap_mesh_cuda_root&, high_shared*,
                                                   work*) {}

    static __device__ __forceinline__ void build(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root,
                                                 const work&, high_shared* s, sap_mesh_stage* stage) {
        const sap_mesh_rules& rules = b.rules;
        int64_t spare = sap_spare_at_first(root.most, root.count);
        int count = root.count, level = 0, pooled = 0;
        sap_mesh_box cell = root.cell;
        __syncwarp();
        load_root(b, root, s);
        for (;;) {
            priced_plane best;
            best.plane.axis = -1;
            if (root.depth + level < rules.depth && sap_may_cut_small(spare, count) &&
                sap_may_be_worth(rules.traversal, rules.intersection, (float)count))
                best = best_plane(b, s, count, cell);
            if (best.plane.axis >= 0 && sap_is_worth(best.cost, rules.intersection, (float)count)) {
                high_step step;
                step.plane = best.plane.at;
                step.node = sap_mesh_stage_inner(stage, best.plane.axis, best.plane.at);
                step.axis = (int16_t)best.plane.axis;
                step.planar_left = best.plane.planar_left;
                count = cut_node(b, s, count, step, level, &pooled, &spare);
                cell = cell_of(root, s, ++level);
                continue;
            }
            put_leaf(s, count, root.depth + level, stage);
            while (level > 0 && s->steps[level - 1].right) level--;
            if (level == 0) return;
            __syncwarp();
            if (sap_lane() == 0) s->steps[level - 1].right = true;
            __syncwarp();
            const high_step last = s->steps[level - 1];
            sap_mesh_stage_arrive(stage, last.node);
            bring_right(b, root, s, level);
            if (last.at >= 0) pooled = last.at;
            count = last.count;
            cell = cell_of(root, s, level);
        }
    }
};

__global__ void __launch_bounds__(HIGH_THREADS, 3) build_high_roots(const __grid_constant__ sap_mesh_cuda_build b) {
    SAP_CUDA_SHARED(high_shared, s);
    sap_mesh_build_roots<small_high>(b, s + threadIdx.x / SAP_WARP);
}

} // namespace

void sap_mesh_cuda_small_high(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    static_assert(HIGH_WARPS * sizeof(high_shared) <= SAP_CUDA_SHARED_EVERYWHERE, "any GPU can build small nodes");
    sap_mesh_launch_small<high_shared>(call, b, build_high_roots, HIGH_WARPS);
}
