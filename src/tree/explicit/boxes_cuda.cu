// The walk boxes of an explicit tree, from its arrays: a warp for each leaf finds the leaf's box and climbs towards the
// root. At each inner node the first warp to arrive stops and the second joins both boxes (Karras 2012).
#include "tree/explicit/node_cuda.cuh"
#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

enum { THREADS = 256 };

// A node's parent, and how many of its children are done.
typedef struct above {
    int32_t parent, arrived; // -1 above the root; children that have their boxes
} above;

// Writes every node's parent.
template <typename real> static __global__ void __launch_bounds__(THREADS) link_nodes(sap_tree tree, above* links) {
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= tree.shape.nodes) return;
    links[at].arrived = 0;
    if (at == 0) links[at].parent = -1;
    const uint32_t link = sap_node_at<real>(tree, at).link;
    if (sap_link_is_leaf(link)) return;
    SAP_ASSERT(sap_link_right(link) >= 2 && at + sap_link_right(link) < tree.shape.nodes);
    links[at + 1].parent = (int32_t)at;
    links[at + sap_link_right(link)].parent = (int32_t)at;
}

// A lane's bounds of one axis: of the points of a leaf.
template <typename real>
static __device__ void leaf_box(const sap_tree& tree, uint64_t slot, int count, real* lower, real* upper) {
    const int stride = sap_explicit_slots<real>(count), dims = tree.shape.dims;
    const int some = count > tree.options.leaf_size ? 1 : count; // more are all equal
    const real* coords = sap_explicit_block<real>(tree, (int64_t)slot);
    for (int a = 0; a < dims; a++, coords += stride) {
        typename sap_ordinal<real>::type low = sap_ordinal_highest<real>(), high = sap_ordinal_lowest<real>();
        for (int i = sap_lane(); i < some; i += SAP_WARP) {
            low = min(low, sap_ordinal_of(coords[i]));
            high = max(high, sap_ordinal_of(coords[i]));
        }
        low = sap_warp_min(low);
        high = sap_warp_max(high);
        if (sap_lane() != a) continue;
        *lower = sap_real_of(low);
        *upper = sap_real_of(high);
    }
}

template <typename real>
static __device__ __forceinline__ void write_box(const sap_tree& tree, real* box, int64_t at, real lower, real upper) {
    const int lane = sap_lane();
    if (lane < tree.shape.dims) {
        box[2 * lane] = lower;
        box[2 * lane + 1] = upper;
    }
    if (lane != 0) return;
    const int32_t* ids = (const int32_t*)(const void*)(tree.arrays + tree.shape.node_min_id_at);
    *(int32_t*)(void*)(box + 2 * tree.shape.dims) = ids[at];
}

template <typename real>
static __global__ void __launch_bounds__(THREADS) join_boxes(sap_tree tree, above* links, real* boxes) {
    int64_t at = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / SAP_WARP;
    const int lane = sap_lane(), reals = sap_walk_box_reals(tree.shape.dims, tree.shape.real_bits);
    if (at >= tree.shape.nodes) return;
    const typename sap_node_of<real>::type leaf = sap_node_at<real>(tree, at);
    if (!sap_link_is_leaf(leaf.link)) return;
    real lower = 0, upper = 0;
    leaf_box(tree, leaf.bits, sap_link_count(leaf.link), &lower, &upper);
    for (;;) {
        write_box(tree, boxes + at * reals, at, lower, upper);
        const int32_t parent = links[at].parent;
        if (parent < 0) return;
        __threadfence();
        __syncwarp();
        int before = 0;
        if (lane == 0) before = atomicAdd(&links[parent].arrived, 1);
        before = __shfl_sync(SAP_ALL_LANES, before, 0);
        SAP_ASSERT(before < 2);
        if (before == 0) return;
        __threadfence();
        const int64_t right = parent + (int64_t)sap_link_right(sap_node_at<real>(tree, parent).link);
        const real* other = boxes + (at == right ? parent + 1 : right) * reals;
        if (lane < tree.shape.dims) {
            const real low = __ldcg(&other[2 * lane]), high = __ldcg(&other[2 * lane + 1]);
            lower = low < lower ? low : lower;
            upper = high > upper ? high : upper;
        }
        at = parent;
    }
}

template <typename real> static void boxes_of(sap_cuda_call* call, sap_tree* tree) {
    const int64_t nodes = tree->shape.nodes;
    above* links = (above*)sap_cuda_tree_of(tree)->links;
    static_assert(sizeof(above) == SAP_CUDA_LINK_BYTES, "the scratch memory is taken before");
    sap_cuda_launch(call, link_nodes<real>, sap_cuda_grid_for(nodes, THREADS), *tree, links);
    sap_cuda_launch(call, join_boxes<real>, sap_cuda_grid_for(nodes * SAP_WARP, THREADS), *tree, links,
                    call->status == SAP_OK ? (real*)sap_cuda_tree_of(tree)->boxes : NULL);
}

void sap_cuda_boxes_explicit(sap_cuda_call* call, sap_tree* tree) {
    if (call->status != SAP_OK) return;
    if (tree->shape.real_bits == 64)
        boxes_of<double>(call, tree);
    else
        boxes_of<float>(call, tree);
}
