// Clusters on a GPU. Core points are joined by walks of whole warps, each lane from its own point: sets are trees of links
// that lead to smaller ids, and a root is hung from a smaller one by one exchange. So the root of a set is its smallest
// id, in whatever order joins come. All core points below a node that is no wider than the radius are in one set: walks
// join with one of them and go no further, so that many equal points take ordinary time.
#include "cloud/count_cuda.h"
#include "cloud/ops.h"
#include "cloud/show_cuda.cuh"
#include "compact/prefix_sum_cuda.h"

enum { CLUSTERS_ABSENT, CLUSTERS_PLAIN, CLUSTERS_CORE }; // what a point is

// What kernels know; arrays lie on the GPU.
typedef struct clusters_sets {
    int32_t* links;                  // by id
    uint8_t* state;                  // by id
    int32_t* least_core;             // by node: the smallest id of a core point below, or SAP_NO_ID
    uint8_t* small;                  // by node: whether it is no wider than the radius
    unsigned int *parents, *arrived; // by node; parents of explicit trees only
} clusters_sets;

// ---- Sets

static __device__ __forceinline__ int clusters_root(int32_t* links, int point) {
    volatile int32_t* at = links;
    int link = at[point];
    while (link != point) {
        const int above = at[link];
        // Paths are halved; another thread may have done so, or more, meanwhile: any of it leads to the root.
        if (above != link) at[point] = above;
        point = link;
        link = above;
    }
    return point;
}

// Returns the root of both.
static __device__ __forceinline__ int clusters_join(int32_t* links, int a, int b) {
    for (;;) {
        a = clusters_root(links, a);
        b = clusters_root(links, b);
        if (a == b) return a;
        const int low = min(a, b), high = max(a, b);
        if (atomicCAS(&links[high], high, low) == high) return low;
    }
}

// ---- What is known of points and nodes

// The points of the tree, and which of them are core points: `counts` NULL: all.
static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_mark(const int32_t* ids, int64_t points, const int64_t* bad, const int64_t* counts, int fewest,
                  uint8_t* state) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= points || *bad != INT64_MAX || ids[i] < 0) return;
    state[ids[i]] = !counts || counts[ids[i]] >= fewest ? CLUSTERS_CORE : CLUSTERS_PLAIN;
}

static __global__ void __launch_bounds__(SHOW_THREADS) clusters_begin(int32_t* links, int64_t count) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < count) links[i] = (int32_t)i;
}

// The parents of an explicit tree's nodes.
template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_parents(const __grid_constant__ walk_tree<real> tree, int64_t nodes, unsigned int* parents) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= nodes || *tree.bad != INT64_MAX) return;
    const typename sap_node_of<real>::type node = sap_node_read<real>(tree.nodes, i);
    if (sap_link_is_leaf(node.link)) return;
    parents[i + 1] = parents[i + sap_link_right(node.link)] = (unsigned int)i;
}

template <typename real>
static __device__ __forceinline__ const real* clusters_box(const walk_tree<real>& t, int64_t node) {
    return t.boxes + node * sap_walk_box_reals(t.dims, (int)sizeof(real) * 8);
}

// Whether a node's points are all within the radius of one another, the straight way. What is computed for two of them
// is no more than what is computed for its corners.
template <typename real>
static __device__ __forceinline__ bool clusters_is_small(const walk_tree<real>& t, int64_t node, real limit2) {
    const real* box = clusters_box(t, node);
    real sum = 0;
    for (int a = 0; a < t.dims; a++) {
        const real side = box[2 * a + 1] - box[2 * a];
        sum = a ? sum + side * side : side * side;
    }
    return sum <= limit2;
}

// The core point of a leaf with the smallest id. Of points that are all equal, all are core points or none is.
template <typename real>
static __device__ __forceinline__ int clusters_least_of(const walk_leaf<real>& leaf, const uint8_t* state) {
    int least = SAP_NO_ID;
    for (int slot = 0; slot < (leaf.equal ? 1 : leaf.count); slot++) {
        const int id = leaf.ids[slot];
        if (id >= 0 && id < least && state[id] == CLUSTERS_CORE) least = id;
    }
    return least;
}

// From each leaf upwards; of two children the one that comes last goes on.
template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_nodes(const __grid_constant__ walk_tree<real> tree, int64_t places, real limit2,
                   const __grid_constant__ clusters_sets sets) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    const bool balanced = tree.kind == SAP_TREE_BALANCED;
    if (i >= places || *tree.bad != INT64_MAX) return;
    unsigned int node = (unsigned int)i + (balanced ? 1u << tree.depth : 0);
    volatile int32_t* least_core = sets.least_core;
    if (balanced) {
        least_core[node] = clusters_least_of(walk_balanced_leaf<real, 0>(tree, node), sets.state);
    } else {
        const typename sap_node_of<real>::type at = sap_node_read<real>(tree.nodes, node);
        if (!sap_link_is_leaf(at.link)) return;
        least_core[node] = clusters_least_of(walk_explicit_leaf<real, 0>(tree, at), sets.state);
    }
    for (;;) {
        sets.small[node] = clusters_is_small(tree, node, limit2);
        if (node == (balanced ? 1u : 0u)) return;
        node = balanced ? node / 2 : sets.parents[node];
        __threadfence();
        if (atomicAdd(&sets.arrived[node], 1u) == 0) return;
        __threadfence();
        unsigned int lower = 2 * node, upper = 2 * node + 1;
        if (!balanced) {
            lower = node + 1;
            upper = node + sap_link_right(sap_node_read<real>(tree.nodes, node).link);
        }
        least_core[node] = min(least_core[lower], least_core[upper]);
    }
}

// ---- What walks do: see cloud/show_cuda.cuh

// Joins a core point with those within the radius.
template <typename real> struct join_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = true };
    clusters_sets sets;
    real limit2;

    struct state {
        int id, root; // id below 0: no core point
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&)[3]) const {
        s.id = row >= 0 && sets.state[row] == CLUSTERS_CORE ? (int)row : -1;
        s.root = s.id;
    }
    __device__ __forceinline__ bool enters(state& s, const walk_tree<real>& t, const real* at, unsigned int node,
                                           real) const {
        const int core = sets.least_core[node];
        if (s.id < 0 || core == SAP_NO_ID) return false;
        if (!sets.small[node]) return true;
        s.root = clusters_root(sets.links, s.root);
        if (s.root == clusters_root(sets.links, core)) return false;
        // The farthest corner, the straight way: around a period no point is farther.
        const real* box = clusters_box(t, node);
        real farthest2 = 0;
        for (int a = 0; a < t.dims; a++) {
            const real across = sap_told_most(at[a] - box[2 * a], box[2 * a + 1] - at[a]);
            farthest2 = a ? farthest2 + across * across : across * across;
        }
        if (!(farthest2 <= limit2)) return true;
        s.root = clusters_join(sets.links, s.root, core);
        return false;
    }
    // The other point of a pair sees this one, too.
    __device__ __forceinline__ void take(state& s, int id, real, const real (&)[3]) const {
        if (id < s.id && sets.state[id] == CLUSTERS_CORE) s.root = clusters_join(sets.links, s.root, id);
    }
    __device__ __forceinline__ bool has_enough(const state&) const { return false; }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state&, int64_t, int64_t, int) const {}
};

// Gives a point that is no core point the label of the nearest one.
template <typename real> struct border_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = true, IS_SHORT = false, CHOOSES_NODES = true };
    clusters_sets sets;
    int32_t* labels;

    struct state {
        real least2;
        int nearest; // SAP_NO_ID: none yet
        bool asks;
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&)[3]) const {
        s.asks = row >= 0 && sets.state[row] == CLUSTERS_PLAIN;
        s.least2 = (real)INFINITY;
        s.nearest = SAP_NO_ID;
    }
    __device__ __forceinline__ void offer(state& s, int id, real distance2) const {
        if (distance2 > s.least2 || (distance2 == s.least2 && id >= s.nearest)) return;
        s.least2 = distance2;
        s.nearest = id;
    }
    __device__ __forceinline__ bool enters(state& s, const walk_tree<real>& t, const real*, unsigned int node,
                                           real bound2) const {
        const int core = sets.least_core[node];
        if (!s.asks || core == SAP_NO_ID || bound2 > s.least2) return false;
        const real* box = clusters_box(t, node);
        bool is_place = true; // all points are equal
        for (int a = 0; a < t.dims; a++) is_place = is_place && box[2 * a] == box[2 * a + 1];
        if (is_place) offer(s, core, bound2);
        return !is_place;
    }
    __device__ __forceinline__ void take(state& s, int id, real distance2, const real (&)[3]) const {
        if (sets.state[id] == CLUSTERS_CORE) offer(s, id, distance2);
    }
    __device__ __forceinline__ bool has_enough(const state&) const { return false; }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const {
        if (s.asks && s.nearest != SAP_NO_ID) labels[row] = labels[s.nearest];
    }
};

// ---- Labels

// counts[i]: 1 for the roots of sets.
static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_roots(const __grid_constant__ clusters_sets sets, int64_t points, int64_t* counts) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < points) counts[i] = sets.state[i] == CLUSTERS_CORE && sets.links[i] == i;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_label(const __grid_constant__ clusters_sets sets, int64_t points, const int64_t* numbers,
                   int32_t* labels) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= points) return;
    labels[i] = sets.state[i] == CLUSTERS_CORE ? (int32_t)numbers[clusters_root(sets.links, (int)i)] : -1;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_sizes(const int32_t* labels, int64_t points, unsigned int* sizes) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < points && labels[i] >= 0) atomicAdd(&sizes[labels[i]], 1u);
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_large(const unsigned int* sizes, int64_t clusters, int64_t least, int64_t* counts) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i < clusters) counts[i] = sizes[i] >= least;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_renumber(const unsigned int* sizes, int64_t least, const int64_t* numbers, int64_t points,
                      int32_t* labels) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= points || labels[i] < 0) return;
    labels[i] = sizes[labels[i]] >= least ? (int32_t)numbers[labels[i]] : -1;
}

static __global__ void __launch_bounds__(SHOW_THREADS)
    clusters_kinds(const int32_t* labels, const uint8_t* state, int64_t points, uint8_t* kinds) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= points) return;
    kinds[i] = (uint8_t)(labels[i] < 0               ? SAP_CLUSTER_NOISE
                         : state[i] == CLUSTERS_CORE ? SAP_CLUSTER_CORE
                                                     : SAP_CLUSTER_BORDER);
}

// ---- The host's side

static clusters_sets take_sets(sap_cuda_call* call, const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    const bool balanced = s->kind == SAP_TREE_BALANCED;
    const size_t n = (size_t)s->source_count, nodes = balanced ? 2 * (size_t)s->leaves : (size_t)s->nodes;
    clusters_sets sets;
    memset((void*)&sets, 0, sizeof sets);
    sets.links = (int32_t*)sap_cuda_take(call, n * sizeof *sets.links);
    sets.state = (uint8_t*)sap_cuda_take(call, n);
    sets.least_core = (int32_t*)sap_cuda_take(call, nodes * sizeof *sets.least_core);
    sets.small = (uint8_t*)sap_cuda_take(call, nodes);
    sets.arrived = (unsigned int*)sap_cuda_take(call, nodes * sizeof *sets.arrived);
    if (!balanced) sets.parents = (unsigned int*)sap_cuda_take(call, nodes * sizeof *sets.parents);
    sap_cuda_fill(call, sets.state, CLUSTERS_ABSENT, n);
    sap_cuda_fill(call, sets.arrived, 0, nodes * sizeof *sets.arrived);
    sap_cuda_launch(call, clusters_begin, sap_cuda_grid_for((int64_t)n, SHOW_THREADS), sets.links, (int64_t)n);
    return sets;
}

// Which points are core points, and what nodes know of them.
template <typename real>
static sap_status find_cores(sap_cuda_call* call, const sap_clusters_job* job, const cloud_asking& asking,
                             const clusters_sets& sets) {
    const sap_tree_shape* s = &job->tree->shape;
    const walk_tree<real> tree = walk_tree_of<real>(job->tree);
    const int64_t places = s->kind == SAP_TREE_BALANCED ? s->leaves : s->nodes;
    int64_t* counts = NULL;
    sap_status status = SAP_OK;
    if (job->options.fewest > 1) {
        counts = (int64_t*)sap_cuda_take(call, (size_t)s->source_count * sizeof *counts);
        if (call->status == SAP_OK) status = cloud_count_within(job->tree, job->limit2, counts);
    }
    if (status != SAP_OK) return status;
    sap_cuda_launch(call, clusters_mark, sap_cuda_grid_for(asking.queries.count, SHOW_THREADS), asking.queries.rows,
                    asking.queries.count, tree.bad, (const int64_t*)counts, (int)job->options.fewest, sets.state);
    if (sets.parents)
        sap_cuda_launch(call, clusters_parents<real>, sap_cuda_grid_for(places, SHOW_THREADS), tree, places,
                        sets.parents);
    sap_cuda_launch(call, clusters_nodes<real>, sap_cuda_grid_for(places, SHOW_THREADS), tree, places,
                    (real)job->limit2, sets);
    sap_cuda_give(call, counts);
    return SAP_OK;
}

// Numbers the clusters; clusters with too few points become noise.
static void leave_out_small(sap_cuda_call* call, sap_clusters_job* job, int32_t* labels, int64_t* numbers) {
    const int64_t n = job->tree->shape.source_count, clusters = job->count, least = job->options.least;
    const sap_cuda_grid points = sap_cuda_grid_for(n, SHOW_THREADS);
    unsigned int* sizes = (unsigned int*)sap_cuda_take(call, (size_t)clusters * sizeof *sizes);
    sap_cuda_fill(call, sizes, 0, (size_t)clusters * sizeof *sizes);
    sap_cuda_launch(call, clusters_sizes, points, (const int32_t*)labels, n, sizes);
    sap_cuda_launch(call, clusters_large, sap_cuda_grid_for(clusters, SHOW_THREADS), (const unsigned int*)sizes,
                    clusters, least, numbers + 1);
    sap_prefix_sum_cuda(call, numbers, clusters);
    sap_cuda_launch(call, clusters_renumber, points, (const unsigned int*)sizes, least, (const int64_t*)numbers, n,
                    labels);
    sap_cuda_fetch(call, &job->count, numbers + clusters, sizeof job->count);
}

template <typename real>
static sap_status find_clusters(sap_cuda_call* call, sap_clusters_job* job, int32_t* labels, uint8_t* kinds) {
    const sap_tree* tree = job->tree;
    const int64_t n = tree->shape.source_count;
    const sap_cuda_grid points = sap_cuda_grid_for(n, SHOW_THREADS);
    const clusters_sets sets = take_sets(call, tree);
    int64_t* numbers = (int64_t*)sap_cuda_take(call, (size_t)(n + 1) * sizeof *numbers);
    const cloud_asking asking = {tree, sap_cuda_queries_from(call, tree, tree), 0, false, job->limit2};
    if (call->status != SAP_OK) return call->status;
    if (tree->shape.count) {
        const join_sink<real> join = {sets, (real)job->limit2};
        const sap_status status = find_cores<real>(call, job, asking, sets);
        if (status != SAP_OK) return status;
        cloud_show_ball<real>(call, asking, join);
    }
    sap_cuda_launch(call, clusters_roots, points, sets, n, numbers + 1);
    sap_prefix_sum_cuda(call, numbers, n);
    sap_cuda_launch(call, clusters_label, points, sets, n, (const int64_t*)numbers, labels);
    sap_cuda_fetch(call, &job->count, numbers + n, sizeof job->count);
    const border_sink<real> border = {sets, labels};
    if (tree->shape.count && job->options.fewest > 1 && call->status == SAP_OK)
        cloud_show_ball<real>(call, asking, border);
    if (job->options.least > 1 && job->count > 0) leave_out_small(call, job, labels, numbers);
    if (kinds)
        sap_cuda_launch(call, clusters_kinds, points, (const int32_t*)labels, (const uint8_t*)sets.state, n, kinds);
    return call->status;
}

sap_status sap_cloud_clusters_cuda(sap_clusters_job* job) {
    const size_t n = (size_t)job->tree->shape.source_count;
    sap_cuda_call call;
    if (n == 0) return SAP_OK;
    sap_status status = sap_cuda_begin(&call, job->tree->device);
    int32_t* labels = (int32_t*)sap_cuda_out(&call, job->labels, n * sizeof *labels);
    uint8_t* kinds = (uint8_t*)sap_cuda_out(&call, job->kinds, n);
    if (call.status == SAP_OK)
        status = (job->tree->shape.real_bits == 64 ? find_clusters<double> : find_clusters<float>)(&call, job, labels,
                                                                                                   kinds);
    return sap_cuda_end(&call, status);
}
