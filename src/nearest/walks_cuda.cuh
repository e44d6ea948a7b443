// How a query goes through a tree on a GPU: what all the walks share. A query is one thread, or one lane of a warp that
// walks together; lists are sap_list or sap_heap (both have begin, limit2, limit_id and offer).
//
// Bounds come from walk boxes (tree/tree_cuda.h). They hold for distances as computed: see math/distance.h. A node is
// looked at if its bound is below the limit, or equal to it while its smallest id is below the limit's id.
#ifndef SAPWOOD_NEAREST_WALKS_CUDA_CUH
#define SAPWOOD_NEAREST_WALKS_CUDA_CUH

#include "nearest/list_cuda.cuh"
#include "tree/tree_cuda.h"

// Axes a query has room for in registers; `dims` 0 stands for a number known at run time only.
#define SAP_AXES_OF(dims) ((dims) ? (dims) : SAP_MAX_DIMS)

// A tree as the walks read it.
template <typename real> struct walk_tree {
    const unsigned char* blocks; // leaf blocks
    const real* boxes;           // walk boxes
    const real* split;           // balanced trees
    const unsigned char* axis;
    const void* nodes; // explicit trees: sap_node_f32 or sap_node_f64
    const int64_t* bad;
    int64_t count;
    int dims, depth, stride, capacity, leaf_size; // depth: of a balanced tree's leaves
};

template <typename real> static walk_tree<real> walk_tree_of(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    walk_tree<real> t;
    t.blocks = tree->arrays + s->block_at;
    t.boxes = (const real*)sap_cuda_tree_of(tree)->boxes;
    t.split = (const real*)(tree->arrays + s->split_at);
    t.axis = tree->arrays + s->axis_at;
    t.nodes = tree->arrays + s->node_at;
    t.bad = sap_cuda_tree_of(tree)->bad;
    t.count = s->count;
    t.dims = s->dims;
    t.depth = s->depth;
    t.stride = s->stride;
    t.capacity = s->capacity;
    t.leaf_size = tree->options.leaf_size;
    return t;
}

template <typename real, int dims> struct walk_query { real at[SAP_AXES_OF(dims)]; };

#define SAP_WALK_DIMS (dims ? dims : t.dims)

// Reads a query; false if it is not finite.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_load(const walk_tree<real>& t, const real* from,
                                                 walk_query<real, dims>* q) {
    const real most = sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX;
    bool finite = true;
#pragma unroll
    for (int a = 0; a < SAP_WALK_DIMS; a++) {
        q->at[a] = from[a];
        finite = finite && q->at[a] >= -most && q->at[a] <= most;
    }
    return finite;
}

// ---- Boxes

static __device__ __forceinline__ void load_reals(const float* from, float* to) {
    const float4 four = *(const float4*)from;
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}
static __device__ __forceinline__ void load_reals(const double* from, double* to) {
    const double2 two = *(const double2*)from;
    to[0] = two.x;
    to[1] = two.y;
}

// How far a query lies outside of an interval: below it, above it, or not at all.
static __device__ __forceinline__ float walk_aside(float below, float above) {
    return fmaxf(fmaxf(below, above), 0.0f);
}
static __device__ __forceinline__ double walk_aside(double below, double above) {
    return fmax(fmax(below, above), 0.0);
}

// No point of a node has a smaller squared distance. *id: the bits of its smallest id.
template <typename real, int dims>
static __device__ __forceinline__ real walk_bound2(const walk_tree<real>& t, const walk_query<real, dims>& q,
                                                   int64_t node, int* id) {
    enum { WIDTH = 16 / sizeof(real), REALS = dims ? (2 * dims + 1 + WIDTH - 1) / WIDTH * WIDTH : WIDTH };
    const int reals = dims ? (int)REALS : sap_walk_box_reals(t.dims, (int)sizeof(real) * 8);
    const real* box = t.boxes + node * reals;
    real sum = 0;
    if constexpr (dims > 0) {
        real bounds[REALS];
#pragma unroll
        for (int i = 0; i < REALS; i += WIDTH) load_reals(box + i, bounds + i);
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const real aside = walk_aside(bounds[2 * a] - q.at[a], q.at[a] - bounds[2 * a + 1]);
            sum = a ? sum + aside * aside : aside * aside;
        }
        memcpy(id, &bounds[2 * dims], sizeof *id);
    } else {
        for (int a = 0; a < t.dims; a++) {
            const real aside = walk_aside(box[2 * a] - q.at[a], q.at[a] - box[2 * a + 1]);
            sum = sum + aside * aside;
        }
        *id = *(const int*)(box + 2 * t.dims);
    }
    return sum;
}

template <typename real, typename list>
static __device__ __forceinline__ bool walk_reaches(real bound2, int id, const list& best) {
    return best.would_take(bound2, id);
}

// ---- Leaves

// Where a leaf's points are.
template <typename real> struct walk_leaf {
    const real* coords; // axis a from a*stride
    const int32_t* ids;
    int count, stride; // count: what has to be looked at; unused slots of a balanced tree do no harm
    bool equal;        // all its points, which are more than leaf_size
};

template <typename real, int dims>
static __device__ __forceinline__ walk_leaf<real> walk_leaf_at(const walk_tree<real>& t, int64_t slot, int count,
                                                               int stride) {
    walk_leaf<real> leaf;
    leaf.coords = (const real*)(t.blocks + (size_t)slot * ((size_t)SAP_WALK_DIMS * sizeof(real) + sizeof(int32_t)));
    leaf.ids = (const int32_t*)(leaf.coords + (int64_t)SAP_WALK_DIMS * stride);
    leaf.count = count;
    leaf.stride = stride;
    leaf.equal = false;
    return leaf;
}

template <typename real, int dims>
static __device__ __forceinline__ walk_leaf<real> walk_balanced_leaf(const walk_tree<real>& t, unsigned int node) {
    int64_t leaf = (int64_t)node - ((int64_t)1 << t.depth);
    return walk_leaf_at<real, dims>(t, leaf * t.stride, t.capacity, t.stride);
}

// An explicit tree's node: whether it is a leaf (then which), or how far its right child is.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_explicit(const walk_tree<real>& t, unsigned int node, walk_leaf<real>* leaf,
                                                     unsigned int* right) {
    unsigned int link;
    int64_t first;
    if (sizeof(real) == 4) {
        const sap_node_f32 at = ((const sap_node_f32*)t.nodes)[node];
        link = at.link;
        first = at.bits;
    } else {
        const sap_node_f64 at = ((const sap_node_f64*)t.nodes)[node];
        link = at.link;
        first = (int64_t)at.bits;
    }
    *right = node + (link >> 5);
    if ((link & SAP_NODE_LEAF) != SAP_NODE_LEAF) return false;
    const int count = (int)(link >> 5), unit = count > 4 ? 4 : (sizeof(real) == 8 ? 2 : 1);
    *leaf = walk_leaf_at<real, dims>(t, first, count, (count + unit - 1) / unit * unit);
    leaf->equal = count > t.leaf_size;
    return true;
}

template <typename real, int dims>
static __device__ __forceinline__ real walk_distance2(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                      const walk_query<real, dims>& q, int slot) {
    real offset = q.at[0] - leaf.coords[slot];
    real sum = offset * offset;
#pragma unroll
    for (int a = 1; a < SAP_WALK_DIMS; a++) {
        offset = q.at[a] - leaf.coords[a * leaf.stride + slot];
        sum = sum + offset * offset;
    }
    return sum;
}

// Squared distances of as many points as fit into 16 bytes.
template <typename real, int dims>
static __device__ __forceinline__ void walk_distances2(const walk_leaf<real>& leaf, const walk_query<real, dims>& q,
                                                       int slot, real* distance2) {
    enum { WIDTH = 16 / sizeof(real) };
#pragma unroll
    for (int a = 0; a < dims; a++) {
        real x[WIDTH];
        load_reals(leaf.coords + a * leaf.stride + slot, x);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            const real offset = q.at[a] - x[i];
            distance2[i] = a ? distance2[i] + offset * offset : offset * offset;
        }
    }
}

// Of points that are all equal, in the order of their ids: offers no more than are taken.
template <typename real, int dims, typename list>
static __device__ __noinline__ void walk_scan_equal(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                    const walk_query<real, dims>& q, int without, list* best) {
    const real distance2 = walk_distance2<real, dims>(t, leaf, q, 0);
    for (int slot = 0; slot < leaf.count; slot++) {
        const int id = leaf.ids[slot];
        if (!walk_reaches(distance2, id, *best)) return;
        if (id != without) best->offer(distance2, id);
    }
}

// Which of up to 32 points from `slot` on are at most limit2 away, as a mask. Distances are computed without a branch;
// what has to be done for the few that are near follows in a loop of its own, so that lanes of a warp meet there.
template <typename real, int dims>
static __device__ __forceinline__ unsigned int walk_near(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                         const walk_query<real, dims>& q, int slot, int end,
                                                         real limit2) {
    enum { WIDTH = 16 / sizeof(real) };
    unsigned int near = 0;
    if constexpr (dims > 0) {
        if (leaf.stride % 4 == 0 && ((uintptr_t)leaf.coords & 15) == 0) { // whole vectors
#pragma unroll 2
            for (int i = slot; i < end; i += WIDTH) {
                real distance2[WIDTH];
                walk_distances2<real, dims>(leaf, q, i, distance2);
#pragma unroll
                for (int j = 0; j < WIDTH; j++) near |= (unsigned int)(distance2[j] <= limit2) << (i - slot + j);
            }
            return near;
        }
    }
    for (int i = slot; i < end; i++)
        near |= (unsigned int)(walk_distance2<real, dims>(t, leaf, q, i) <= limit2) << (i - slot);
    return near;
}

// Offers the points of a leaf, but for the one with the id `without`.
template <typename real, int dims, typename list>
static __device__ __forceinline__ void walk_scan(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                 const walk_query<real, dims>& q, int without, list* best) {
    if (leaf.equal) {
        walk_scan_equal<real, dims>(t, leaf, q, without, best);
        return;
    }
    for (int first = 0; first < leaf.count; first += 32) {
        const int end = first + 32 < leaf.count ? first + 32 : leaf.count;
        unsigned int near = walk_near<real, dims>(t, leaf, q, first, end, best->limit2());
        while (near) {
            const int slot = first + __ffs((int)near) - 1;
            near &= near - 1;
            const real distance2 = walk_distance2<real, dims>(t, leaf, q, slot);
            if (!(distance2 <= best->limit2())) continue;
            const int id = leaf.ids[slot];
            if (id != without) best->offer(distance2, id);
        }
    }
}

// The same for one neighbour: as ids ascend in a leaf, the first of the nearest is the one.
template <typename real, int dims>
static __device__ __forceinline__ void walk_scan(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                 const walk_query<real, dims>& q, int without,
                                                 sap_list<real, 1>* best) {
    enum { WIDTH = 16 / sizeof(real) };
    if (leaf.equal) {
        walk_scan_equal<real, dims>(t, leaf, q, without, best);
        return;
    }
    real least = (real)INFINITY;
    int nearest = 0;
    bool vectors = false;
    if constexpr (dims > 0) {
        vectors = without < 0 && leaf.stride % 4 == 0 && ((uintptr_t)leaf.coords & 15) == 0;
        for (int slot = 0; vectors && slot < leaf.count; slot += WIDTH) {
            real distance2[WIDTH];
            walk_distances2<real, dims>(leaf, q, slot, distance2);
#pragma unroll
            for (int j = 0; j < WIDTH; j++) {
                nearest = distance2[j] < least ? slot + j : nearest;
                least = distance2[j] < least ? distance2[j] : least;
            }
        }
    }
    for (int slot = 0; !vectors && slot < leaf.count; slot++) {
        const real distance2 = walk_distance2<real, dims>(t, leaf, q, slot);
        if (!(distance2 < least) || leaf.ids[slot] == without) continue;
        nearest = slot;
        least = distance2;
    }
    if (least <= best->limit2()) best->offer(least, leaf.ids[nearest]);
}

// ---- The walks of one query a thread
//
// A walk goes round by round, a leaf in each, so that lanes of a warp meet in each part of a round: votes keep them
// together, or lanes that leave a loop early would run what follows alone. All lanes take part, those without a query
// (`asks` false) too. A lane that is done can take its next query before the next round.

static __device__ __forceinline__ bool walk_any(bool yes) { return __any_sync(SAP_ALL_LANES, yes) != 0; }

// Without a stack, on balanced trees: goes to the leaf in whose cell the query lies first, by the planes alone; after
// that, bit d of `pending` says that, d levels above the node, the sibling of the path's node has not been looked at.
template <typename real, int dims> struct walk_stackless {
    unsigned int node, pending;
    bool at_leaf;
    int nodes, leaves; // visited

    __device__ __forceinline__ void begin(const walk_tree<real>& t, const walk_query<real, dims>& q) {
        node = 1;
        for (int level = 0; level < t.depth; level++) node = 2 * node + !(q.at[t.axis[node]] <= t.split[node]);
        pending = (1u << t.depth) - 1;
        at_leaf = true;
        nodes = t.depth;
        leaves = 0;
    }

    // Whether the walk goes on.
    template <typename list>
    __device__ __forceinline__ bool round(const walk_tree<real>& t, const walk_query<real, dims>& q, bool asks,
                                          int without, list* best) {
        if (asks && at_leaf) {
            walk_scan<real, dims>(t, walk_balanced_leaf<real, dims>(t, node), q, without, best);
            leaves++;
        }
        // Back up to the next subtree that reaches …
        for (bool up = asks; walk_any(up);) {
            if (!up) continue;
            asks = up = pending != 0;
            if (!asks) continue;
            const int levels = __ffs((int)pending) - 1;
            int id;
            node = (node >> levels) ^ 1u;
            pending = (pending >> levels) ^ 1u;
            const real bound2 = walk_bound2<real, dims>(t, q, node, &id);
            up = !walk_reaches(bound2, id, *best);
            nodes++;
        }
        // … and down to its nearest leaf, or to where neither child reaches.
        at_leaf = asks;
        for (bool down = asks && node >> t.depth == 0; walk_any(down);) {
            if (!down) continue;
            int lower_id, upper_id;
            const real lower2 = walk_bound2<real, dims>(t, q, 2 * (int64_t)node, &lower_id);
            const real upper2 = walk_bound2<real, dims>(t, q, 2 * (int64_t)node + 1, &upper_id);
            const bool lower = walk_reaches(lower2, lower_id, *best), upper = walk_reaches(upper2, upper_id, *best);
            const bool upper_first = upper && (!lower || upper2 < lower2);
            nodes += 2;
            at_leaf = lower || upper;
            if (at_leaf) {
                pending = pending << 1 | (lower && upper);
                node = 2 * node + upper_first;
            }
            down = at_leaf && node >> t.depth == 0;
        }
        return asks;
    }
};

// With a stack, on trees of both kinds: bounds and nodes that wait, as a column of shared memory each.
template <typename real, int dims, bool balanced> struct walk_stack {
    real* bound2; // [depth], `step` apart
    unsigned int* waits;
    int step, waiting;
    unsigned int node;
    int nodes, leaves; // visited

    __device__ __forceinline__ void begin(const walk_tree<real>&, const walk_query<real, dims>&) {
        node = balanced ? 1 : 0;
        waiting = nodes = leaves = 0;
    }

    template <typename list>
    __device__ __forceinline__ bool round(const walk_tree<real>& t, const walk_query<real, dims>& q, bool asks,
                                          int without, list* best) {
        walk_leaf<real> leaf;
        bool at_leaf = asks;
        for (bool down = asks; walk_any(down);) {
            if (!down) continue;
            unsigned int right = 2 * node + 1;
            down = !(balanced ? node >> t.depth != 0 : walk_explicit<real, dims>(t, node, &leaf, &right));
            if (!down) continue;
            const unsigned int left = balanced ? 2 * node : node + 1;
            int left_id, right_id;
            const real left2 = walk_bound2<real, dims>(t, q, left, &left_id);
            const real right2 = walk_bound2<real, dims>(t, q, right, &right_id);
            const bool lower = walk_reaches(left2, left_id, *best), upper = walk_reaches(right2, right_id, *best);
            const bool right_first = upper && (!lower || right2 < left2);
            nodes += 2;
            if (lower && upper) {
                waits[waiting * step] = right_first ? left : right;
                bound2[waiting * step] = right_first ? left2 : right2;
                waiting++;
            }
            node = right_first ? right : left;
            down = at_leaf = lower || upper;
        }
        if (at_leaf) {
            if (balanced) leaf = walk_balanced_leaf<real, dims>(t, node);
            walk_scan<real, dims>(t, leaf, q, without, best);
            leaves++;
        }
        for (bool up = asks; walk_any(up);) {
            if (!up) continue;
            asks = up = waiting > 0;
            if (!asks) continue;
            waiting--;
            node = waits[waiting * step];
            const real nearest2 = bound2[waiting * step];
            up = !(nearest2 < best->limit2());
            if (nearest2 == best->limit2()) {
                int id;
                (void)walk_bound2<real, dims>(t, q, node, &id);
                up = !(id < best->limit_id());
            }
        }
        return asks;
    }
};

#endif
