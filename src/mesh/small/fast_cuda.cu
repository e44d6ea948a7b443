// FAST's small roots, one warp each: the small-node stage of Zhou, Hou, Wang and Guo 2008. Each triangle gives six
// candidate planes, the bounds of its part, and for each candidate two words hold the triangles on its sides. Nodes
// below are words, too: two ANDs and two counts of bits give the triangles that a candidate leaves on its sides. The
// candidates of a node's triangles are distributed over the lanes.
#include "mesh/small/subtree_cuda.cuh"

namespace {

enum { CANDIDATES = 6, FAST_THREADS = 64, FAST_WARPS = FAST_THREADS / SAP_WARP };

// A node that waits.
struct mask_node {
    uint64_t triangles;
    sap_mesh_box cell;
    int32_t parent, depth;
};

// A part's bounds, and in `below` and `above` the same, but moved out by one float along axes where the part is planar,
// so that planes that touch it have it on a side.
struct part_bounds {
    float lower[3], below[3], upper[3], above[3];
    int32_t triangle;
};

// The triangles on the sides of a candidate.
struct __align__(16) side_words {
    uint64_t left, right;
};

// A warp's shared memory. The parts are needed first, fast_later after them.
struct fast_later {
    sap_mesh_held held;
    mask_node stack[SAP_MESH_DEPTH_MAX + 2];
};
struct fast_shared {
    side_words words[SAP_MESH_SMALL][CANDIDATES];
    float plane[SAP_MESH_SMALL][CANDIDATES];
    int32_t triangle[SAP_MESH_SMALL];
    uint8_t own[SAP_MESH_SMALL]; // triangles of the current node
    union {
        part_bounds parts[SAP_MESH_SMALL];
        fast_later later;
    };
};

struct fast_work {
    sap_mesh_box tight;
};

// ---- The words

// Lists the parts in order, without holes, and computes their tight box.
__device__ void gather_parts(const sap_mesh_cuda_build& b, const sap_mesh_cuda_root& root, fast_shared* s,
                             sap_mesh_box* tight) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    int at = 0;
    for (int i = sap_lane(); i - sap_lane() < root.room; i += SAP_WARP) {
        sap_mesh_cuda_part part = sap_mesh_hole();
        if (i < root.room) part = sap_mesh_part_load(&b.small[root.first + i]);
        const bool is_part = sap_mesh_part_triangle(part) != SAP_MESH_HOLE;
        const unsigned int all = __ballot_sync(SAP_ALL_LANES, is_part);
        if (is_part) {
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
    SAP_ASSERT(at == root.count);
    for (int k = 0; k < 3; k++) {
        tight->lower[k] = sap_real_of(sap_warp_min(sap_ordinal_of(lower[k])));
        tight->upper[k] = sap_real_of(sap_warp_max(sap_ordinal_of(upper[k])));
    }
    __syncwarp();
}

// Computes half a word for each candidate of a part.
__device__ __forceinline__ void fill_half(const part_bounds* parts, int count, const float plane[CANDIDATES],
                                          uint32_t left[CANDIDATES], uint32_t right[CANDIDATES]) {
    SAP_UNROLL
    for (int c = 0; c < CANDIDATES; c++) left[c] = right[c] = 0;
    uint32_t bit = 1;
    for (int j = 0; j < count; j++, bit <<= 1) {
        const part_bounds& other = parts[j];
        SAP_UNROLL
        for (int k = 0; k < 3; k++) { // a part in the plane lies right of a lower bound, left of an upper one
            if (other.lower[k] < plane[k]) left[k] |= bit;
            if (other.above[k] > plane[k]) right[k] |= bit;
            if (other.below[k] < plane[3 + k]) left[3 + k] |= bit;
            if (other.upper[k] > plane[3 + k]) right[3 + k] |= bit;
        }
    }
}

__device__ __forceinline__ void fill_words(fast_shared* s, int count, int own) {
    const part_bounds mine = s->parts[own];
    float plane[CANDIDATES];
    uint32_t left[2][CANDIDATES], right[2][CANDIDATES];
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        plane[k] = mine.lower[k] + 0.0f; // -0 becomes 0
        plane[3 + k] = mine.upper[k] + 0.0f;
    }
    fill_half(s->parts, count < SAP_WARP ? count : SAP_WARP, plane, left[0], right[0]);
    fill_half(s->parts + SAP_WARP, count - SAP_WARP, plane, left[1], right[1]);
    s->triangle[own] = mine.triangle;
    SAP_UNROLL
    for (int c = 0; c < CANDIDATES; c++) {
        s->plane[own][c] = plane[c];
        s->words[own][c].left = (uint64_t)left[1][c] << 32 | left[0][c];
        s->words[own][c].right = (uint64_t)right[1][c] << 32 | right[0][c];
    }
}

// ---- Nodes

// A node's cheapest candidate.
struct chosen {
    float cost, plane;
    uint64_t left, right;
    int axis;
};

// As sap_measure_of, but for cells that have a surface each division is done by one lane for all.
__device__ __forceinline__ sap_measure measure_by_lanes(const sap_mesh_box& cell, float radius) {
    double side[3];
    float length[3];
    SAP_UNROLL
    for (int k = 0; k < 3; k++) side[k] = length[k] = cell.upper[k] - cell.lower[k];
    const double whole = side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
    if (radius >= 0.0f || !(whole > 0.0)) return sap_measure_of(length[0], length[1], length[2], radius);
    const int axis = sap_lane() % 3;
    const double u = axis == 0 ? side[1] : axis == 1 ? side[2] : side[0];
    const double w = axis == 0 ? side[2] : axis == 1 ? side[0] : side[1];
    const float share = (float)((sap_lane() < 3 ? u * w : u + w) / whole);
    sap_measure m;
    SAP_UNROLL
    for (int k = 0; k < 3; k++) {
        m.base[k] = __shfl_sync(SAP_ALL_LANES, share, k);
        m.per[k] = __shfl_sync(SAP_ALL_LANES, share, 3 + k);
        m.split[k] = side[k] > 0.0 && m.per[k] <= FLT_MAX;
    }
    return m;
}

// Lists a node's triangles.
__device__ __forceinline__ void list_triangles(fast_shared* s, uint64_t triangles) {
    __syncwarp();
    SAP_UNROLL
    for (int bit = sap_lane(); bit < SAP_MESH_SMALL; bit += SAP_WARP)
        if (triangles >> bit & 1) s->own[__popcll(triangles & ((UINT64_C(1) << bit) - 1))] = (uint8_t)bit;
    __syncwarp();
}

__device__ __forceinline__ chosen cheapest_candidate(const sap_mesh_rules& rules, const fast_shared* s,
                                                     const mask_node& node, int count, float radius) {
    const sap_measure m = measure_by_lanes(node.cell, radius);
    float cost = INFINITY;
    int bound = CANDIDATES, of = 0;
    for (int i = sap_lane(); i < CANDIDATES * count; i += SAP_WARP) {
        const int t = s->own[i / CANDIDATES], c = i % CANDIDATES, axis = c < 3 ? c : c - 3;
        const float plane = s->plane[t][c];
        const side_words words = s->words[t][c];
        const float lower = axis == 0 ? node.cell.lower[0] : axis == 1 ? node.cell.lower[1] : node.cell.lower[2];
        const float upper = axis == 0 ? node.cell.upper[0] : axis == 1 ? node.cell.upper[1] : node.cell.upper[2];
        const float base = axis == 0 ? m.base[0] : axis == 1 ? m.base[1] : m.base[2];
        const float per = axis == 0 ? m.per[0] : axis == 1 ? m.per[1] : m.per[2];
        const bool can = axis == 0 ? m.split[0] : axis == 1 ? m.split[1] : m.split[2];
        if (!(can && plane > lower && plane < upper)) continue; // as sap_is_candidate, sap_cell_cost
        const float one =
            sap_split_cost(rules.traversal, rules.intersection, sap_share(base, per, plane - lower),
                           sap_share(base, per, upper - plane), (float)__popcll(words.left & node.triangles),
                           (float)__popcll(words.right & node.triangles));
        if (!(one < INFINITY) || !sap_candidate_precedes(one, c, t, cost, bound, of)) continue;
        cost = one;
        bound = c;
        of = t;
    }
    chosen best;
    best.cost = __uint_as_float(sap_warp_min(__float_as_uint(cost))); // costs are positive
    const uint32_t first = sap_warp_min(cost == best.cost ? (uint32_t)(bound << 6 | of) : UINT32_MAX);
    const int t = (int)(first & 63), c = (int)(first >> 6) % CANDIDATES;
    best.left = s->words[t][c].left & node.triangles;
    best.right = s->words[t][c].right & node.triangles;
    best.plane = s->plane[t][c];
    best.axis = c % 3;
    return best;
}

// The node's triangles have been listed.
__device__ __forceinline__ void put_leaf(const fast_shared* s, const mask_node& node, int count,
                                         sap_mesh_stage* stage) {
    const int32_t at = sap_mesh_stage_leaf(stage, count, node.depth);
    for (int i = sap_lane(); i < count; i += SAP_WARP) sap_mesh_stage_reference(stage, at + i, s->triangle[s->own[i]]);
}

__device__ __forceinline__ void push(fast_shared* s, int* waiting, const mask_node& node) {
    SAP_ASSERT(*waiting < SAP_MESH_DEPTH_MAX + 2);
    if (sap_lane() == 0) s->later.stack[*waiting] = node;
    ++*waiting;
}

// Cuts empty sides off the root's cell. Empty leaves that come later in preorder go onto the stack. Returns the limit
// of references of the rest.
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
            put_leaf(s, empty, 0, stage);
            node->parent = inner;
        }
        SAP_UNROLL
        for (int k = 0; k < 3; k++) {
            if (k != plane.axis) continue;
            *(plane.planar_left ? &node->cell.upper[k] : &node->cell.lower[k]) = plane.at;
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
        for (int own = sap_lane(); own < root.count; own += SAP_WARP) fill_words(s, root.count, own);
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
            list_triangles(s, node.triangles);
            chosen best;
            best.cost = INFINITY;
            if (count > 1 && node.depth < rules.depth &&
                sap_may_be_worth(rules.traversal, rules.intersection, (float)count))
                best = cheapest_candidate(rules, s, node, count, radius);
            if (sap_is_worth(best.cost, rules.intersection, (float)count) && sap_may_cut_small(spare, count)) {
                SAP_ASSERT((best.left | best.right) == node.triangles);
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
            put_leaf(s, node, count, stage);
            if (waiting == 0) return;
            __syncwarp();
            node = s->later.stack[--waiting];
            __syncwarp();
        }
    }
};

__global__ void __launch_bounds__(FAST_THREADS) build_fast_roots(const __grid_constant__ sap_mesh_cuda_build b) {
    SAP_CUDA_SHARED(fast_shared, s);
    sap_mesh_build_roots<small_fast>(b, s + threadIdx.x / SAP_WARP);
}

} // namespace

void sap_mesh_cuda_small_fast(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    static_assert(FAST_WARPS * sizeof(fast_shared) <= SAP_CUDA_SHARED_EVERYWHERE, "any GPU can build small nodes");
    sap_mesh_launch_small<fast_shared>(call, b, build_fast_roots, FAST_WARPS);
}
