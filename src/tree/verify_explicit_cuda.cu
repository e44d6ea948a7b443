// The whole-structure check of an explicit tree on a GPU, in three kernels. The first checks whether the nodes are a
// tree at all and finds every node's parent. The second checks leaves, one warp each, and climbs from them towards the
// root with what lies below; at each inner node the first warp to arrive stops and the second joins both sides (Karras
// 2012). The third follows each node's path to the root for its depth and its cell, and checks its plane by the split
// rule.
#include "tree/explicit/division_cuda.cuh"
#include "tree/explicit/node_cuda.cuh"
#include "tree/vvh/verify_cuda.cuh"

#define NO_NODE 0xffffffffu

// What is below a node, without the box.
typedef struct subtree {
    uint32_t first_slot, end_slot;
    uint32_t end; // the node that follows
    uint32_t count;
    int32_t least; // id
} subtree;

// Facts about all nodes together.
typedef struct totals {
    unsigned long long leaves;
    int32_t broken;        // the links must not be followed
    int32_t deepest, full; // a leaf of the greatest depth, or of the greatest number of points, was met
} totals;

template <typename real> struct explicit_check {
    sap_tree tree;
    point_check<real> points;
    int32_t halving_depth; // of the split rule
    uint32_t* above;       // of each node its parent
    uint32_t* arrived;     // children that have reached it
    subtree* below;
    real* boxes; // [2 * dims] a node: lower bounds, then upper bounds
    totals* sums;
    verdict* found;
};

// ---- Links

static __device__ __forceinline__ bool wrong_padding(sap_node_f32) { return false; }
static __device__ __forceinline__ bool wrong_padding(sap_node_f64 node) { return node.zero != 0; }

// Also true if the leaf's block is not aligned for its coordinates.
template <typename real>
static __device__ __forceinline__ bool wrong_leaf(const sap_tree_shape& s, typename sap_node_of<real>::type node) {
    const int64_t count = sap_link_count(node.link), stride = sap_explicit_slots<real>((int)count);
    const uint64_t slots = (uint64_t)s.slots, slot = node.bits;
    return count > s.capacity || (count == 0 && s.count > 0) || slot > slots || (uint64_t)stride > slots - slot ||
           slot % (sizeof(real) / sizeof(int32_t)) != 0;
}

// In a tree every child is claimed by one parent, which comes before it.
template <typename real> static __device__ bool wrong_links(const explicit_check<real>& c, int64_t at, uint32_t link) {
    const sap_tree_shape& s = c.tree.shape;
    const int64_t right = at + sap_link_right(link);
    if (right < at + 2 || right >= s.nodes || (int)(link & SAP_NODE_LEAF) >= s.dims) return true;
    const bool claimed = atomicExch(&c.above[at + 1], (uint32_t)at) != NO_NODE;
    return atomicExch(&c.above[right], (uint32_t)at) != NO_NODE || claimed;
}

template <typename real>
static __global__ void __launch_bounds__(VERIFY_THREADS) check_links(const explicit_check<real> c) {
    const int64_t at = (int64_t)blockIdx.x * VERIFY_THREADS + threadIdx.x;
    const bool there = at < c.tree.shape.nodes;
    bool wrong = false, leaf = false;
    if (there) {
        const typename sap_node_of<real>::type node = sap_node_at<real>(c.tree, at);
        leaf = sap_link_is_leaf(node.link);
        wrong = leaf ? wrong_leaf<real>(c.tree.shape, node) : wrong_links(c, at, node.link);
        wrong |= wrong_padding(node);
        if (leaf && sap_link_count(node.link) == c.tree.shape.capacity) c.sums->full = 1;
    }
    const unsigned leaves = __ballot_sync(SAP_ALL_LANES, leaf);
    if (sap_lane() == 0) atomicAdd(&c.sums->leaves, (unsigned long long)__popc(leaves));
    if (wrong) c.sums->broken = 1;
}

// ---- From the leaves up. Each lane handles one axis.

// What is below a node on a warp's way up; the bounds are a lane's.
template <typename real> struct climber {
    real lower, upper;
    subtree below;
};

template <typename real>
static __device__ bool check_leaf(const explicit_check<real>& c, int64_t at, typename sap_node_of<real>::type node,
                                  climber<real>* w) {
    const sap_tree_shape& s = c.tree.shape;
    const int count = sap_link_count(node.link), stride = sap_explicit_slots<real>(count), lane = sap_lane();
    const real* coords = sap_explicit_block<real>(c.tree, (int64_t)node.bits);
    bool wrong = wrong_points(c.points, coords, stride, count, lane, SAP_WARP);
    const int32_t* ids = (const int32_t*)(const void*)(coords + (int64_t)s.dims * stride);
    w->below.first_slot = (uint32_t)node.bits;
    w->below.end_slot = (uint32_t)node.bits + (uint32_t)stride;
    w->below.end = (uint32_t)at + 1;
    w->below.count = (uint32_t)count;
    w->below.least = count ? ids[0] : SAP_NO_ID;
    w->lower = w->upper = 0;
    for (int a = 0; a < s.dims; a++, coords += stride) {
        typename sap_ordinal<real>::type low = sap_ordinal_highest<real>(), high = sap_ordinal_lowest<real>();
        for (int i = lane; i < count; i += SAP_WARP) {
            low = min(low, sap_ordinal_of(coords[i]));
            high = max(high, sap_ordinal_of(coords[i]));
        }
        low = sap_warp_min(low);
        high = sap_warp_max(high);
        if (lane != a) continue;
        w->lower = sap_real_of(low);
        w->upper = sap_real_of(high);
    }
    return wrong || (count > c.tree.options.leaf_size && w->lower < w->upper);
}

template <typename real>
static __device__ __forceinline__ void leave(const explicit_check<real>& c, int64_t at, const climber<real>& w) {
    const int lane = sap_lane(), dims = c.tree.shape.dims;
    if (lane < dims) {
        c.boxes[at * 2 * dims + lane] = w.lower;
        c.boxes[at * 2 * dims + dims + lane] = w.upper;
    }
    if (lane == 0) c.below[at] = w.below;
}

static __device__ __forceinline__ subtree subtree_at(const subtree* at) {
    const subtree below = {__ldcg(&at->first_slot), __ldcg(&at->end_slot), __ldcg(&at->end), __ldcg(&at->count),
                           __ldcg(&at->least)};
    return below;
}

// Joins what is below node `at`, where the climber is, with what its sibling has stored. True if the two do not fit.
template <typename real>
static __device__ bool join(const explicit_check<real>& c, int64_t at, int64_t parent, climber<real>* w) {
    const sap_tree_shape& s = c.tree.shape;
    const typename sap_node_of<real>::type node = sap_node_at<real>(c.tree, parent);
    const int lane = sap_lane(), axis = (int)(node.link & SAP_NODE_LEAF);
    const int64_t right = parent + sap_link_right(node.link), other_at = at == right ? parent + 1 : right;
    climber<real> other = {0, 0, subtree_at(c.below + other_at)};
    if (lane < s.dims) {
        other.lower = __ldcg(&c.boxes[other_at * 2 * s.dims + lane]);
        other.upper = __ldcg(&c.boxes[other_at * 2 * s.dims + s.dims + lane]);
    }
    const climber<real>&l = at == right ? other : *w, &r = at == right ? *w : other;
    const real split = sap_node_split(node);
    bool wrong = l.below.end != (uint32_t)right || l.below.end_slot != r.below.first_slot;
    wrong |= lane == axis && !(l.upper <= split && split <= r.lower);
    climber<real> both = {l.lower < r.lower ? l.lower : r.lower, l.upper > r.upper ? l.upper : r.upper, r.below};
    both.below.first_slot = l.below.first_slot;
    both.below.count += l.below.count;
    both.below.least = min(l.below.least, r.below.least);
    const bool equal = !__any_sync(SAP_ALL_LANES, both.lower != both.upper);
    wrong |= both.below.count <= (uint32_t)(equal ? SAP_LEAF_MAX_EQUAL : c.tree.options.leaf_size);
    *w = both;
    return wrong;
}

template <typename real>
static __global__ void __launch_bounds__(VERIFY_THREADS) check_up(const explicit_check<real> c) {
    const sap_tree_shape& s = c.tree.shape;
    int64_t at = ((int64_t)blockIdx.x * VERIFY_THREADS + threadIdx.x) / SAP_WARP;
    if (at >= s.nodes || c.sums->broken) return; // whole warps
    const typename sap_node_of<real>::type leaf = sap_node_at<real>(c.tree, at);
    if (!sap_link_is_leaf(leaf.link)) return;
    const int32_t* least = (const int32_t*)(const void*)(c.tree.arrays + s.node_min_id_at);
    climber<real> w;
    bool wrong = check_leaf(c, at, leaf, &w);
    for (;;) {
        wrong |= least[at] != w.below.least;
        leave(c, at, w);
        const uint32_t parent = c.above[at];
        if (parent == NO_NODE) break;
        __threadfence();
        __syncwarp();
        unsigned before = 0;
        if (sap_lane() == 0) before = atomicAdd(&c.arrived[parent], 1u);
        before = __shfl_sync(SAP_ALL_LANES, before, 0);
        SAP_ASSERT(before < 2); // every node has one parent, or the links are broken
        if (before == 0) break;
        __threadfence();
        wrong |= join(c, at, parent, &w);
        at = parent;
    }
    if (at == 0)
        wrong |= w.below.first_slot != 0 || w.below.end_slot != (uint64_t)s.slots || w.below.end != (uint64_t)s.nodes ||
                 w.below.count != (uint64_t)s.count;
    if (wrong) c.found->wrong = 1;
}

// ---- The rule

// A node's cell: its own bounds on the axes along which its points are equal; otherwise the nearest planes above it,
// and the box of all points beyond the last of them. -1 if the node is too deep.
template <typename real>
static __device__ int climb_for_cell(const explicit_check<real>& c, int64_t at, real* lower, real* upper) {
    const int dims = c.tree.shape.dims;
    const real *own = c.boxes + at * 2 * dims, *all = c.boxes;
    uint32_t has_lower = 0, has_upper = 0;
    for (int a = 0; a < dims; a++) {
        const bool flat = own[a] == own[dims + a];
        has_lower |= (uint32_t)flat << a;
        lower[a] = flat ? own[a] : all[a];
        upper[a] = flat ? own[a] : all[dims + a];
    }
    has_upper = has_lower;
    int depth = 0;
    for (uint32_t child = (uint32_t)at, up = c.above[child]; up != NO_NODE; child = up, up = c.above[child]) {
        if (++depth > SAP_MAX_DEPTH) return -1;
        const typename sap_node_of<real>::type node = sap_node_at<real>(c.tree, up);
        const uint32_t axis = node.link & SAP_NODE_LEAF;
        const bool is_left = child == up + 1;
        if (is_left && !(has_upper >> axis & 1)) upper[axis] = sap_node_split(node);
        if (!is_left && !(has_lower >> axis & 1)) lower[axis] = sap_node_split(node);
        has_upper |= (uint32_t)is_left << axis;
        has_lower |= (uint32_t)!is_left << axis;
    }
    return depth;
}

// Whether the tree's split rule gives an inner node another axis or split.
template <typename real>
static __device__ bool wrong_plane(const explicit_check<real>& c, int64_t at, typename sap_node_of<real>::type node,
                                   int depth, const real* lower, const real* upper) {
    const int dims = c.tree.shape.dims, axis = (int)(node.link & SAP_NODE_LEAF);
    const int64_t left = at + 1, right = at + sap_link_right(node.link);
    const real* own = c.boxes + at * 2 * dims;
    const sap_division<real> division = {lower,
                                         upper,
                                         own,
                                         own + dims,
                                         c.below[at].count,
                                         c.below[left].count,
                                         c.boxes[left * 2 * dims + dims + axis],
                                         c.boxes[right * 2 * dims + axis],
                                         sap_node_split(node),
                                         axis,
                                         depth};
    return c.tree.options.split == SAP_SPLIT_VVH ? !sap_follows_vvh(c.tree, c.halving_depth, division)
                                                 : !sap_follows_sliding(c.tree, c.halving_depth, division);
}

template <typename real>
static __global__ void __launch_bounds__(VERIFY_THREADS) check_planes(const explicit_check<real> c) {
    const sap_tree_shape& s = c.tree.shape;
    const int64_t at = (int64_t)blockIdx.x * VERIFY_THREADS + threadIdx.x;
    // If an earlier kernel has found an error, boxes may be missing.
    if (at >= s.nodes || c.sums->broken || c.found->wrong) return;
    const typename sap_node_of<real>::type node = sap_node_at<real>(c.tree, at);
    real lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    const int depth = climb_for_cell(c, at, lower, upper);
    bool wrong = depth < 0 || depth > s.depth;
    if (sap_link_is_leaf(node.link)) {
        if (depth == s.depth) c.sums->deepest = 1;
    } else {
        wrong = wrong || wrong_plane(c, at, node, depth, lower, upper);
    }
    if (wrong) c.found->wrong = 1;
}

// ---- The host's part

template <typename real> static void check_tree(sap_cuda_call* call, const sap_tree* tree, verdict* found) {
    const sap_tree_shape* s = &tree->shape;
    const size_t nodes = (size_t)s->nodes;
    totals sums = {0, 0, 0, 0};
    explicit_check<real> c = {*tree, {}, sap_sliding_halving_depth(s->count), NULL, NULL, NULL, NULL, NULL, NULL};
    c.points = begin_check<real>(call, tree, &c.found);
    c.above = (uint32_t*)sap_cuda_take(call, nodes * sizeof *c.above);
    c.arrived = (uint32_t*)sap_cuda_take(call, nodes * sizeof *c.arrived);
    c.below = (subtree*)sap_cuda_take(call, nodes * sizeof *c.below);
    c.boxes = (real*)sap_cuda_take(call, nodes * 2 * (size_t)s->dims * sizeof(real));
    c.sums = (totals*)sap_cuda_take(call, sizeof *c.sums);
    sap_cuda_fill(call, c.above, 0xff, nodes * sizeof *c.above);
    sap_cuda_fill(call, c.arrived, 0, nodes * sizeof *c.arrived);
    sap_cuda_fill(call, c.sums, 0, sizeof *c.sums);
    const sap_cuda_grid each = sap_cuda_grid_for(s->nodes, VERIFY_THREADS);
    sap_cuda_launch(call, check_links<real>, each, c);
    sap_cuda_launch(call, check_up<real>, sap_cuda_grid_for(s->nodes * SAP_WARP, VERIFY_THREADS), c);
    sap_cuda_launch(call, check_planes<real>, each, c);
    end_check(call, c.points.ids, s->source_count, c.found, found);
    sap_cuda_fetch(call, &sums, c.sums, sizeof sums);
    found->wrong |= sums.broken || !sums.deepest || !sums.full || sums.leaves != (uint64_t)s->leaves;
}

void sap_cuda_verify_explicit(sap_cuda_call* call, const sap_tree* tree, verdict* found) {
    if (tree->shape.real_bits == 64)
        check_tree<double>(call, tree, found);
    else
        check_tree<float>(call, tree, found);
}
