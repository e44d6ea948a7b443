// FAST's small roots: the small-node stage of Zhou, Hou, Wang and Guo 2008, a warp each. A lane has two triangles, each
// of which gives six candidates, the bounds of its part; a candidate has a word for the triangles on either side. Below
// that a node is a word too: what a candidate leaves on its sides is two ANDs and two counts of bits.
#include "mesh/small_cuda.cuh"

namespace {

enum { CANDIDATES = 6, SMALL_THREADS = 128, SMALL_WARPS = SMALL_THREADS / SAP_WARP, OWN = 2 };

// A node that waits.
struct mask_node {
    uint64_t triangles;
    sap_mesh_box cell;
    int32_t parent, depth;
};

// Of a part: its bounds, and those of a part without extent along an axis one step further out, so that it is met by
// planes that touch it.
struct part_bounds {
    float lower[3], below[3], upper[3], above[3];
    int32_t triangle;
};

// A warp's; the parts are needed first, the rest later.
struct fast_later {
    sap_mesh_held held;
    mask_node stack[SAP_MESH_DEPTH_MAX + 2];
};
union fast_shared {
    part_bounds parts[SAP_MESH_SMALL];
    fast_later later;
};

// A lane's triangles.
struct fast_work {
    uint64_t left[OWN][CANDIDATES], right[OWN][CANDIDATES];
    float plane[OWN][CANDIDATES];
    int32_t triangle[OWN];
    sap_mesh_box tight;
};

// ---- The words

// Writes down the parts in their order, without holes; the tight box of all.
__device__ void gather_parts(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root, fast_shared* s,
                             sap_mesh_box* tight) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    int at = 0;
    for (int i = sap_lane(); i - sap_lane() < root.room; i += SAP_WARP) {
        sap_mesh_cuda_part part = sap_mesh_hole();
        if (i < root.room) part = sap_mesh_part_load(&b.small[root.first + i]);
        const bool some = sap_mesh_part_triangle(part) != SAP_MESH_HOLE;
        const unsigned int all = __ballot_sync(SAP_ALL_LANES, some);
        if (some) {
            part_bounds* to = &s->parts[at + __popc(all & sap_lanes_below())];
            for (int k = 0; k < 3; k++) {
                const float low = sap_mesh_along(part.lower, k), high = sap_mesh_along(part.upper, k);
                to->lower[k] = low;
                to->upper[k] = high;
                to->below[k] = low < high ? low : sap_next_float(low, false);
                to->above[k] = low < high ? high : sap_next_float(high, true);
                lower[k] = fminf(lower[k], low);
                upper[k] = fmaxf(upper[k], high);
            }
            to->triangle = sap_mesh_part_triangle(part);
        }
        at += __popc(all);
    }
    for (int k = 0; k < 3; k++) {
        tight->lower[k] = sap_real_of(sap_warp_min(sap_ordinal_of(lower[k])));
        tight->upper[k] = sap_real_of(sap_warp_max(sap_ordinal_of(upper[k])));
    }
    __syncwarp();
}

// Half a word for each candidate of a part.
__device__ __forceinline__ void fill_half(const part_bounds* parts, int count, const float plane[CANDIDATES],
                                          uint32_t left[CANDIDATES], uint32_t right[CANDIDATES]) {
    SAP_UNROLL
    for (int c = 0; c < CANDIDATES; c++) left[c] = right[c] = 0;
    uint32_t bit = 1;
    for (int j = 0; j < count; j++, bit <<= 1) {
        const part_bounds& other = parts[j];
        SAP_UNROLL
        for (int k = 0; k < 3; k++) { // a part in the plane lies right of a start, left of an end
            if (other.lower[k] < plane[k]) left[k] |= bit;
            if (other.above[k] > plane[k]) right[k] |= bit;
            if (other.below[k] < plane[3 + k]) left[3 + k] |= bit;
            if (other.upper[k] > plane[3 + k]) right[3 + k] |= bit;
        }
    }
}

__device__ __forceinline__ void fill_words(const part_bounds* parts, int count, int own, fast_work* work, int t) {
    const part_bounds mine = parts[own < count ? own : 0];
    work->triangle[t] = mine.triangle;
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        work->plane[t][k] = mine.lower[k] + 0.0f; // -0 becomes 0
        work->plane[t][3 + k] = mine.upper[k] + 0.0f;
    }
    uint32_t left[2][CANDIDATES], right[2][CANDIDATES];
    fill_half(parts, count < SAP_WARP ? count : SAP_WARP, work->plane[t], left[0], right[0]);
    fill_half(parts + SAP_WARP, count - SAP_WARP, work->plane[t], left[1], right[1]);
    SAP_UNROLL
    for (int c = 0; c < CANDIDATES; c++) {
        work->left[t][c] = (uint64_t)left[1][c] << 32 | left[0][c];
        work->right[t][c] = (uint64_t)right[1][c] << 32 | right[0][c];
    }
}

// ---- Nodes

// A node's cheapest candidate.
struct chosen {
    float cost, plane;
    uint64_t left, right;
    int axis;
};

__device__ __forceinline__ chosen cheapest_candidate(const sap_mesh_rules& rules, const fast_work& work,
                                                     const mask_node& node, float radius) {
    const sap_measure m = sap_mesh_measure(node.cell, radius);
    float cost = INFINITY;
    int bound = CANDIDATES, of = 0;
    SAP_UNROLL
    for (int t = 0; t < OWN; t++) {
        if (!(node.triangles >> (sap_lane() + SAP_WARP * t) & 1)) continue;
        SAP_UNROLL
        for (int c = 0; c < CANDIDATES; c++) {
            const float plane = work.plane[t][c];
            if (!sap_is_candidate(node.cell, m, c % 3, plane)) continue;
            const float one = sap_cell_cost(node.cell, m, c % 3, plane, rules.traversal, rules.intersection,
                                            (float)__popcll(work.left[t][c] & node.triangles),
                                            (float)__popcll(work.right[t][c] & node.triangles));
            if (!(one < INFINITY) || !sap_candidate_precedes(one, c, t, cost, bound, of)) continue;
            cost = one;
            bound = c;
            of = t;
        }
    }
    chosen best;
    best.cost = __uint_as_float(sap_warp_min(__float_as_uint(cost))); // costs are positive
    const uint32_t key = cost == best.cost ? (uint32_t)(bound << 6 | of << 5 | sap_lane()) : UINT32_MAX;
    const uint32_t first = sap_warp_min(key);
    const int lane = (int)(first & 31), which = (int)(first >> 5);
    best.left = best.right = 0;
    best.plane = 0;
    SAP_UNROLL
    for (int c = 0; c < CANDIDATES; c++) // so that the lists stay in registers
        SAP_UNROLL
    for (int t = 0; t < OWN; t++)
        if (which == (c << 1 | t)) {
            best.left = work.left[t][c];
            best.right = work.right[t][c];
            best.plane = work.plane[t][c];
        }
    best.left = __shfl_sync(SAP_ALL_LANES, (unsigned long long)best.left, lane) & node.triangles;
    best.right = __shfl_sync(SAP_ALL_LANES, (unsigned long long)best.right, lane) & node.triangles;
    best.plane = __shfl_sync(SAP_ALL_LANES, best.plane, lane);
    best.axis = (which >> 1) % 3;
    return best;
}

__device__ __forceinline__ void put_leaf(const fast_work& work, const mask_node& node, int count,
                                         sap_mesh_stage* stage) {
    const int32_t at = sap_mesh_stage_leaf(stage, count, node.depth);
    SAP_UNROLL
    for (int t = 0; t < OWN; t++) {
        const int bit = sap_lane() + SAP_WARP * t;
        if (node.triangles >> bit & 1)
            sap_mesh_stage_reference(stage, at + __popcll(node.triangles & ((UINT64_C(1) << bit) - 1)),
                                     work.triangle[t]);
    }
}

__device__ __forceinline__ void push(fast_shared* s, int* waiting, const mask_node& node) {
    if (sap_lane() == 0) s->later.stack[*waiting] = node;
    ++*waiting;
}

// Cuts off what is empty of the root's cell; the empty leaves that come later wait. The references that the rest may
// have.
__device__ int64_t cut_empty_sides(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root, const fast_work& work,
                                   fast_shared* s, mask_node* node, int* waiting, sap_mesh_stage* stage) {
    const int count = root.count;
    int64_t most = root.most;
    while (node->depth < b.rules.depth) {
        const sap_plane plane = sap_cut_empty(node->cell, work.tight, b.rules.empty_space);
        if (plane.axis < 0) break;
        const int left = plane.planar_left ? count : 0, right = count - left;
        if (!sap_may_cut(most, left, right)) break;
        most = sap_hand_down(most, left, right, count, count);
        sap_mesh_stage_arrive(stage, node->parent);
        const int32_t inner = sap_mesh_stage_inner(stage, plane.axis, plane.at);
        mask_node empty = *node;
        empty.triangles = 0;
        empty.depth = ++node->depth;
        if (plane.planar_left) {
            empty.parent = inner;
            push(s, waiting, empty);
            node->parent = SAP_MESH_NO_PARENT;
        } else {
            put_leaf(work, empty, 0, stage);
            node->parent = inner;
        }
        SAP_UNROLL
        for (int k = 0; k < 3; k++) {
            if (k != plane.axis) continue;
            (plane.planar_left ? node->cell.upper : node->cell.lower)[k] = plane.at;
        }
    }
    return most;
}

// The quality FAST, for sap_mesh_build_roots.
struct small_fast {
    typedef fast_shared shared;
    typedef fast_work work;

    static __device__ __forceinline__ sap_mesh_held* held(fast_shared* s) { return &s->later.held; }

    static __device__ __forceinline__ void prepare(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root,
                                                   fast_shared* s, fast_work* work) {
        gather_parts(b, root, s, &work->tight);
        fill_words(s->parts, root.count, sap_lane(), work, 0);
        if (root.count > SAP_WARP) fill_words(s->parts, root.count, SAP_WARP + sap_lane(), work, 1);
        __syncwarp();
    }

    static __device__ __forceinline__ void build(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root,
                                                 const fast_work& work, fast_shared* s, sap_mesh_stage* stage) {
        const sap_mesh_rules& rules = b.rules;
        const float radius = b.state->radius;
        mask_node node;
        int waiting = 0;
        node.triangles = root.count == SAP_MESH_SMALL ? ~UINT64_C(0) : (UINT64_C(1) << root.count) - 1;
        node.cell = root.cell;
        node.parent = SAP_MESH_NO_PARENT;
        node.depth = root.depth;
        const int64_t most = cut_empty_sides(b, root, work, s, &node, &waiting, stage);
        int64_t spare = sap_spare_at_first(most, root.count);
        for (;;) {
            const int count = __popcll(node.triangles);
            sap_mesh_stage_arrive(stage, node.parent);
            chosen best;
            best.cost = INFINITY;
            if (count > 1 && node.depth < rules.depth &&
                sap_may_be_worth(rules.traversal, rules.intersection, (float)count))
                best = cheapest_candidate(rules, work, node, radius);
            if (sap_is_worth(best.cost, rules.intersection, (float)count) && sap_may_cut_small(spare, count)) {
                spare = sap_spare_after(spare, count, __popcll(best.left), __popcll(best.right));
                mask_node right = node;
                right.triangles = best.right;
                right.parent = sap_mesh_stage_inner(stage, best.axis, best.plane);
                right.depth = ++node.depth;
                node.triangles = best.left;
                node.parent = SAP_MESH_NO_PARENT;
                SAP_UNROLL
                for (int k = 0; k < 3; k++) {
                    if (k != best.axis) continue;
                    node.cell.upper[k] = right.cell.lower[k] = best.plane;
                }
                push(s, &waiting, right);
                continue;
            }
            put_leaf(work, node, count, stage);
            if (waiting == 0) return;
            __syncwarp();
            node = s->later.stack[--waiting];
            __syncwarp();
        }
    }
};

__global__ void __launch_bounds__(SMALL_THREADS) build_small(const __grid_constant__ sap_mesh_cuda_build b) {
    SAP_CUDA_SHARED(fast_shared, s);
    sap_mesh_build_roots<small_fast>(b, s + threadIdx.x / SAP_WARP);
}

} // namespace

void sap_mesh_cuda_small_fast(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    const size_t shared = SMALL_WARPS * sizeof(fast_shared);
    int64_t blocks = sap_cuda_resident(call, (const void*)build_small, SMALL_THREADS, shared);
    if (blocks > b->root_capacity) blocks = b->root_capacity;
    sap_cuda_grid grid = {blocks, SMALL_THREADS, shared, false};
    sap_cuda_fill(call, &b->state->taken, 0, sizeof b->state->taken);
    sap_cuda_launch(call, build_small, grid, *b);
}
