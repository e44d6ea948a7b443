// A tree as the walks of a GPU read it, bounds of its nodes, and the scan of its leaves.
//
// Bounds come from walk boxes (tree/tree_cuda.h). They hold for distances as computed: see math/distance.h. A node is
// visited if its bound is below the limit, or equal to it while its smallest id is below the limit's id.
#ifndef SAPWOOD_NEAREST_LEAF_CUDA_CUH
#define SAPWOOD_NEAREST_LEAF_CUDA_CUH

#include "base/assert.h"
#include "nearest/candidates/list_cuda.cuh"
#include "tree/explicit/node_cuda.cuh"
#include "tree/order_cuda.cuh"
#include "tree/told_cuda.cuh"
#include "tree/tree_cuda.h"

// Coordinates of a query; `dims` 0 stands for a number that is known at run time only.
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
    sap_tree_kind kind;
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
    t.kind = s->kind;
    t.dims = s->dims;
    t.depth = s->depth;
    t.stride = s->stride;
    t.capacity = s->capacity;
    t.leaf_size = tree->options.leaf_size;
    return t;
}

template <typename real, int dims> struct walk_query {
    enum { IS_NEAR = false };
    real at[SAP_AXES_OF(dims)];
};
// One of a search that was told something.
template <typename real, int dims, int measure> struct told_query : walk_query<real, dims> {
    const sap_cuda_told<real>* told;
};
// One that is led around some axes with periods, and straight along the others.
template <typename real, int dims> struct told_query<real, dims, SAP_CUDA_IMAGE> : walk_query<real, dims> {
    const sap_cuda_told<real>* told;
    unsigned int around; // a bit for each of those axes
};

// One by lengths to a power. walk_plane_limit, which is asked whenever the list may have changed, notes what it found.
template <typename real, int dims> struct told_query<real, dims, SAP_CUDA_POWER> : walk_query<real, dims> {
    const sap_cuda_told<real>* told;
    mutable real squares; // sap_told_squares of the list's limit, or more
};
// One for answers that are near enough.
template <typename real, int dims> struct told_query<real, dims, SAP_CUDA_NEAR> : walk_query<real, dims> {
    enum { IS_NEAR = true };
    const sap_cuda_told<real>* told;
};

#define SAP_WALK_DIMS (dims ? dims : t.dims)

// A query's coordinate on one axis. Selecting among all of them keeps them in registers; an index would not.
template <typename real, int dims>
static __device__ __forceinline__ real walk_coordinate(const walk_query<real, dims>& q, int axis) {
    if constexpr (dims == 0) return q.at[axis];
    real x = q.at[0];
#pragma unroll
    for (int a = 1; a < SAP_AXES_OF(dims); a++) x = a == axis ? q.at[a] : x;
    return x;
}

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

// ---- How a query measures, and what it may find. Walks and scans take either kind of query and ask these.

template <typename real, int dims>
static __device__ __forceinline__ real walk_along(const walk_query<real, dims>&, int, real offset) {
    return offset * offset;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ real walk_along(const told_query<real, dims, measure>& q, int axis, real offset) {
    return sap_told_along<measure>(*q.told, axis, offset);
}

// The way around an axis, of an offset by the straight way.
template <typename real, int dims>
static __device__ __forceinline__ real walk_image(const told_query<real, dims, SAP_CUDA_IMAGE>& q, int axis,
                                                  real length) {
    return q.around >> axis & 1 ? q.told->period[axis] - length : length;
}
template <typename real, int dims>
static __device__ __forceinline__ real walk_along(const told_query<real, dims, SAP_CUDA_IMAGE>& q, int axis,
                                                  real offset) {
    const real length = walk_image(q, axis, sap_told_size(offset));
    return length * length;
}

template <typename real, int dims>
static __device__ __forceinline__ real walk_join(const walk_query<real, dims>&, real sum, real term) {
    return sum + term;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ real walk_join(const told_query<real, dims, measure>& q, real sum, real term) {
    return sap_told_join<measure>(*q.told, sum, term);
}

// The least term of a point in an interval that the query lies below or above by so much.
template <typename real, int dims>
static __device__ __forceinline__ real walk_outside(const walk_query<real, dims>&, int, real below, real above) {
    const real aside = sap_told_most(sap_told_most(below, above), (real)0);
    return aside * aside;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ real walk_outside(const told_query<real, dims, measure>& q, int axis, real below,
                                                    real above) {
    return sap_told_nearest<measure>(*q.told, axis, sap_told_most(below, above), sap_told_most(-below, -above));
}

template <typename real, int dims>
static __device__ __forceinline__ real walk_outside(const told_query<real, dims, SAP_CUDA_IMAGE>& q, int axis,
                                                    real below, real above) {
    const bool around = q.around >> axis & 1;
    const real near = sap_told_most(below, above), far = sap_told_most(-below, -above);
    const real aside = sap_told_most(around ? q.told->period[axis] - far : near, (real)0);
    return aside * aside;
}

// The least term of a point beyond a plane that the query lies so far above.
template <typename real, int dims>
static __device__ __forceinline__ real walk_plane(const walk_query<real, dims>&, int, real offset) {
    return offset * offset;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ real walk_plane(const told_query<real, dims, measure>& q, int axis, real offset) {
    real far = 0;
    if (SAP_CUDA_GOES_AROUND(measure)) { // the other end of the period
        const real at = walk_coordinate<real, dims>(q, axis);
        far = offset > 0 ? at : q.told->period[axis] - at;
    }
    return sap_told_nearest<measure>(*q.told, axis, sap_told_size(offset), far);
}
template <typename real, int dims>
static __device__ __forceinline__ real walk_plane(const told_query<real, dims, SAP_CUDA_IMAGE>& q, int axis,
                                                  real offset) {
    const real aside = sap_told_most(walk_image(q, axis, sap_told_size(offset)), (real)0);
    return aside * aside;
}

template <typename real, int dims>
static __device__ __forceinline__ real walk_plane(const told_query<real, dims, SAP_CUDA_POWER>&, int, real offset) {
    return offset * offset;
}

// What walk_plane is compared with, for what a list takes.
template <typename real, int dims, typename list>
static __device__ __forceinline__ real walk_plane_limit(const walk_query<real, dims>&, const list& best) {
    return best.limit2();
}
template <typename real, int dims, typename list>
static __device__ __forceinline__ real walk_plane_limit(const told_query<real, dims, SAP_CUDA_POWER>& q,
                                                        const list& best) {
    return q.squares = sap_told_squares(*q.told, best.limit2());
}
// No less than the largest distance that is not above the limit when it is widened. A list that is not full takes all.
template <typename real, int dims, typename list>
static __device__ __forceinline__ real walk_plane_limit(const told_query<real, dims, SAP_CUDA_NEAR>& q,
                                                        const list& best) {
    const real least = sizeof(real) == 4 ? (real)FLT_MIN : (real)DBL_MIN;
    return best.limit_id() == SAP_NO_ID ? best.limit2() : best.limit2() * q.told->narrow + least;
}

// Whether what is nearest to the query, whose coordinate is `at`, lies above a plane.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_above(const walk_query<real, dims>&, int, real at, real plane) {
    return !(at <= plane);
}
template <typename real, int dims>
static __device__ __forceinline__ bool walk_above(const told_query<real, dims, SAP_CUDA_IMAGE>& q, int axis, real at,
                                                  real plane) {
    return q.around >> axis & 1 ? at < q.told->period[axis] / 2 : !(at <= plane);
}

// What is left of a limit after the term of one more axis; below 0 if that is more.
static __device__ __forceinline__ float walk_less(float left, float length) { return __fmaf_rn(-length, length, left); }
static __device__ __forceinline__ double walk_less(double left, double length) {
    return __fma_rn(-length, length, left);
}
template <typename real, int dims>
static __device__ __forceinline__ real walk_left(const walk_query<real, dims>&, int, real, real left, real offset) {
    return walk_less(left, offset);
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ real walk_left(const told_query<real, dims, measure>& q, int axis, real limit,
                                                 real left, real offset) {
    if (measure == SAP_CUDA_L2 || measure == SAP_CUDA_POWER || measure == SAP_CUDA_NEAR) return walk_less(left, offset);
    const real term = walk_along(q, axis, offset);
    const bool is_largest = measure == SAP_CUDA_LINF || (measure == SAP_CUDA_ANY && q.told->is_largest);
    return is_largest ? sap_told_least(left, limit - term) : left - term;
}

// Whether a point may be found that is as near as `distance`. Only the ids of points may be looked up, so not those of
// places that hold none: these are infinitely far away, or, by a weight of 0, at no distance at all.
template <typename real, int dims>
static __device__ __forceinline__ bool walk_takes(const walk_query<real, dims>&, real, real, int id, int without) {
    return id != without;
}
template <typename real, int dims, int measure>
static __device__ __forceinline__ bool walk_takes(const told_query<real, dims, measure>& q, real distance, real limit,
                                                  int id, int without) {
    return distance <= limit && id != without && sap_told_keeps(*q.told, id);
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

// No point of a node is nearer. *id: the bits of its smallest id.
template <typename real, int dims, typename query>
static __device__ __forceinline__ real walk_bound2(const walk_tree<real>& t, const query& q, int64_t node, int* id) {
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
            const real term = walk_outside(q, a, bounds[2 * a] - q.at[a], q.at[a] - bounds[2 * a + 1]);
            sum = a ? walk_join(q, sum, term) : term;
        }
        memcpy(id, &bounds[2 * dims], sizeof *id);
    } else {
        for (int a = 0; a < t.dims; a++) {
            const real term = walk_outside(q, a, box[2 * a] - q.at[a], q.at[a] - box[2 * a + 1]);
            sum = a ? walk_join(q, sum, term) : term;
        }
        *id = *(const int*)(box + 2 * t.dims);
    }
    return sum;
}

template <typename real, typename list>
static __device__ __forceinline__ bool walk_reaches(real bound2, int id, const list& best) {
    return best.would_take(bound2, id);
}

// A larger limit: by several times the sum of all rounding errors of the filter and of the exact distances.
template <typename real> static __device__ __forceinline__ real walk_limit_above(real limit2) {
    const real epsilon = sizeof(real) == 4 ? (real)FLT_EPSILON : (real)DBL_EPSILON;
    const real least = sizeof(real) == 4 ? (real)FLT_MIN : (real)DBL_MIN;
    return limit2 + (limit2 * (64 * epsilon) + least);
}

// What the sum of squares is compared with that rules out boxes and points, for a limit of distances.
template <typename real, int dims>
static __device__ __forceinline__ real walk_filter_limit(const walk_query<real, dims>&, real limit) {
    return walk_limit_above(limit);
}
template <typename real, int dims>
static __device__ __forceinline__ real walk_filter_limit(const told_query<real, dims, SAP_CUDA_POWER>& q, real) {
    return walk_limit_above(q.told->spread * q.squares);
}

// Whether a node's box may hold a point that a list takes.
template <typename real, int dims, typename query, typename list>
static __device__ __forceinline__ bool walk_box_reaches(const walk_tree<real>& t, const query& q, int64_t node,
                                                        const list& best) {
    int id;
    const real bound2 = walk_bound2<real, dims>(t, q, node, &id);
    return walk_reaches(bound2, id, best);
}
// Squares rule out most boxes.
template <typename real, int dims, typename list>
static __device__ __forceinline__ bool walk_box_reaches(const walk_tree<real>& t,
                                                        const told_query<real, dims, SAP_CUDA_POWER>& q, int64_t node,
                                                        const list& best) {
    enum { WIDTH = 16 / sizeof(real), REALS = (2 * dims + 1 + WIDTH - 1) / WIDTH * WIDTH };
    static_assert(dims > 0, "kernels for any number of dimensions measure by anything");
    const real* box = t.boxes + node * REALS;
    real bounds[REALS], aside[dims], term[dims], left = walk_filter_limit(q, best.limit2());
    int id;
#pragma unroll
    for (int i = 0; i < REALS; i += WIDTH) load_reals(box + i, bounds + i);
#pragma unroll
    for (int a = 0; a < dims; a++) {
        aside[a] = sap_told_most(sap_told_most(bounds[2 * a] - q.at[a], q.at[a] - bounds[2 * a + 1]), (real)0);
        left = walk_less(left, aside[a]);
    }
    if (left < 0) return false;
    memcpy(&id, &bounds[2 * dims], sizeof id);
    sap_told_raise_all(*q.told, aside, term);
    real sum = term[0];
#pragma unroll
    for (int a = 1; a < dims; a++) sum = sum + term[a];
    return walk_reaches(sum, id, best);
}

// ---- Leaves

// Whether no point is too far yet: the list is not full, and the search has no radius.
static __device__ __forceinline__ bool walk_unlimited(float limit2) { return limit2 >= FLT_MAX; }
static __device__ __forceinline__ bool walk_unlimited(double limit2) { return limit2 >= DBL_MAX; }

// Where a leaf's points are.
template <typename real> struct walk_leaf {
    const real* coords; // axis a from a*stride
    const int32_t* ids;
    int count, stride; // count: slots to scan; unused slots of a balanced tree do no harm
    bool equal;        // all its points are equal, and more than leaf_size
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
    SAP_ASSERT(node >> t.depth == 1);
    return walk_leaf_at<real, dims>(t, leaf * t.stride, t.capacity, t.stride);
}

// The leaf that an explicit tree's node is.
template <typename real, int dims>
static __device__ __forceinline__ walk_leaf<real> walk_explicit_leaf(const walk_tree<real>& t,
                                                                     const typename sap_node_of<real>::type& node) {
    SAP_ASSERT(sap_link_is_leaf(node.link));
    const int count = sap_link_count(node.link);
    walk_leaf<real> leaf = walk_leaf_at<real, dims>(t, (int64_t)node.bits, count, sap_explicit_slots<real>(count));
    leaf.equal = count > t.leaf_size;
    return leaf;
}

// What matters of a leaf to a search for k points that finds any: of points that are all equal, in the order of their
// ids, only the first are among the k best. One of them may be the point that does not count.
template <typename real>
static __device__ __forceinline__ walk_leaf<real> walk_first_equal(const walk_leaf<real>& leaf, int k) {
    walk_leaf<real> few = leaf;
    if (leaf.equal) few.count = min(leaf.count, k + 1);
    few.equal = false;
    return few;
}

template <typename real, int dims, typename query>
static __device__ __forceinline__ real walk_distance2(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                      const query& q, int slot) {
    real sum = walk_along(q, 0, q.at[0] - leaf.coords[slot]);
#pragma unroll
    for (int a = 1; a < SAP_WALK_DIMS; a++)
        sum = walk_join(q, sum, walk_along(q, a, q.at[a] - leaf.coords[a * leaf.stride + slot]));
    return sum;
}

// Distances of as many points as fit into 16 bytes.
template <typename real, int dims, typename query>
static __device__ __forceinline__ void walk_distances2(const walk_leaf<real>& leaf, const query& q, int slot,
                                                       real* distance2) {
    enum { WIDTH = 16 / sizeof(real) };
#pragma unroll
    for (int a = 0; a < dims; a++) {
        real x[WIDTH];
        load_reals(leaf.coords + a * leaf.stride + slot, x);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            const real term = walk_along(q, a, q.at[a] - x[i]);
            distance2[i] = a ? walk_join(q, distance2[i], term) : term;
        }
    }
}

template <typename real, int dims>
static __device__ __forceinline__ void walk_distances2(const walk_leaf<real>& leaf,
                                                       const told_query<real, dims, SAP_CUDA_POWER>& q, int slot,
                                                       real* distance2) {
    enum { WIDTH = 16 / sizeof(real) };
    real length[dims * WIDTH], term[dims * WIDTH];
#pragma unroll
    for (int a = 0; a < dims; a++) {
        real x[WIDTH];
        load_reals(leaf.coords + a * leaf.stride + slot, x);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) length[a * WIDTH + i] = sap_told_size(q.at[a] - x[i]);
    }
    sap_told_raise_all(*q.told, length, term);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        distance2[i] = term[i];
#pragma unroll
        for (int a = 1; a < dims; a++) distance2[i] = distance2[i] + term[a * WIDTH + i];
    }
}

// Distances of some points of a leaf.
template <typename real, int dims, int count, typename query>
static __device__ __forceinline__ void walk_distances2_at(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                          const query& q, const int (&slot)[count],
                                                          real (&distance2)[count]) {
#pragma unroll
    for (int i = 0; i < count; i++) distance2[i] = walk_distance2<real, dims>(t, leaf, q, slot[i]);
}
template <typename real, int dims, int count>
static __device__ __forceinline__ void walk_distances2_at(const walk_tree<real>&, const walk_leaf<real>& leaf,
                                                          const told_query<real, dims, SAP_CUDA_POWER>& q,
                                                          const int (&slot)[count], real (&distance2)[count]) {
    real length[dims * count], term[dims * count];
#pragma unroll
    for (int i = 0; i < count; i++) {
#pragma unroll
        for (int a = 0; a < dims; a++)
            length[i * dims + a] = sap_told_size(q.at[a] - leaf.coords[a * leaf.stride + slot[i]]);
    }
    sap_told_raise_all(*q.told, length, term);
#pragma unroll
    for (int i = 0; i < count; i++) {
        distance2[i] = term[i * dims];
#pragma unroll
        for (int a = 1; a < dims; a++) distance2[i] = distance2[i] + term[i * dims + a];
    }
}

// Offers points that are all equal, in the order of their ids, until one is not taken.
template <typename real, int dims, typename query, typename list>
static __device__ __noinline__ void walk_scan_equal(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                    const query& q, int without, list* best) {
    const real distance2 = walk_distance2<real, dims>(t, leaf, q, 0);
    for (int slot = 0; slot < leaf.count; slot++) {
        const int id = leaf.ids[slot];
        if (!walk_reaches(distance2, id, *best)) return;
        if (walk_takes(q, distance2, best->limit2(), id, without)) best->offer(distance2, id);
    }
}

// Whether a leaf's columns can be read 16 bytes at a time.
template <typename real> static __device__ __forceinline__ bool walk_in_vectors(const walk_leaf<real>& leaf) {
    return leaf.stride % 4 == 0 && ((uintptr_t)leaf.coords & 15) == 0;
}

// Puts the sign of a number below the bits of a mask.
static __device__ __forceinline__ unsigned int walk_sign(unsigned int mask, float x) {
    return __funnelshift_l(__float_as_uint(x), mask, 1);
}
static __device__ __forceinline__ unsigned int walk_sign(unsigned int mask, double x) { return mask << 1 | (x < 0); }

// Which of up to 32 points from `slot` on may be at most limit2 away, as a mask. This filter has no branches; the few
// points that are near are handled in a loop of their own, which the lanes of a warp run together. That loop computes
// their distances again, exactly; here they are only exact enough to miss no point.
template <typename real, int dims, typename query>
static __device__ __forceinline__ unsigned int walk_near(const walk_tree<real>& t, const walk_leaf<real>& leaf,
                                                         const query& q, int slot, int end, real limit2) {
    enum { WIDTH = 16 / sizeof(real) };
    unsigned int near = 0;
    SAP_ASSERT(slot < end && end - slot <= 32);
    if constexpr (dims > 0) {
        if (walk_in_vectors(leaf)) {
            const real limit = walk_filter_limit(q, limit2);
            const real* column = leaf.coords + slot;
            const int vectors = (end - slot + WIDTH - 1) / WIDTH;
            unsigned int far = 0;
#pragma unroll 2
            for (int i = 0; i < vectors; i++, column += WIDTH) {
                real left[WIDTH];
#pragma unroll
                for (int a = 0; a < dims; a++) {
                    real x[WIDTH];
                    load_reals(column + a * leaf.stride, x);
#pragma unroll
                    for (int j = 0; j < WIDTH; j++)
                        left[j] = walk_left(q, a, limit, a ? left[j] : limit, q.at[a] - x[j]);
                }
#pragma unroll
                for (int j = 0; j < WIDTH; j++) far = walk_sign(far, left[j]);
            }
            return __brev(~far) >> (32 - vectors * WIDTH);
        }
    }
    for (int i = slot; i < end; i++)
        near |= (unsigned int)(walk_distance2<real, dims>(t, leaf, q, i) <= limit2) << (i - slot);
    return near;
}

// Offers those of a leaf's points from `first` on that a mask names, but for the one with the id `without`.
template <typename real, int dims, typename query, typename list>
static __device__ __forceinline__ void walk_offer(const walk_tree<real>& t, const walk_leaf<real>& leaf, const query& q,
                                                  int first, unsigned int near, int without, list* best) {
    while (near) {
        const int slot = first + __ffs((int)near) - 1;
        SAP_ASSERT(slot < leaf.stride);
        near &= near - 1;
        const real distance2 = walk_distance2<real, dims>(t, leaf, q, slot);
        if (!(distance2 <= best->limit2())) continue;
        const int id = leaf.ids[slot];
        if (walk_takes(q, distance2, best->limit2(), id, without)) best->offer(distance2, id);
    }
}

// Offers the points of a leaf, but for the one with the id `without`.
template <typename real, int dims, typename query, typename list>
static __device__ __forceinline__ void walk_scan(const walk_tree<real>& t, const walk_leaf<real>& leaf, const query& q,
                                                 int without, list* best) {
    if (leaf.equal) {
        walk_scan_equal<real, dims>(t, leaf, q, without, best);
        return;
    }
    for (int first = 0; first < leaf.count; first += 32) {
        const int end = first + 32 < leaf.count ? first + 32 : leaf.count;
        const unsigned int near = walk_near<real, dims>(t, leaf, q, first, end, best->limit2());
        walk_offer<real, dims>(t, leaf, q, first, near, without, best);
    }
}

// The same for one neighbour: as ids ascend in a leaf, the first of the nearest points has the smallest id.
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
        vectors = without < 0 && walk_in_vectors(leaf);
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

#endif
