// Boxes for the nodes of a tree of either kind.
#include "base/team.h"
#include "pairs/boxed.h"
#include "pairs/pairs.h"
#include "tree/leaves.h"

enum { GRAIN = 512 }; // nodes that are worth a thread

static int64_t nodes_of(const sap_tree_shape* shape) {
    if (shape->count == 0) return 0;
    return shape->kind == SAP_TREE_BALANCED ? 2 * shape->leaves - 1 : shape->nodes;
}

static sap_status reserve(const sap_tree* tree, bool weighted, sap_boxed* boxed) {
    const sap_tree_shape* shape = &tree->shape;
    const size_t count = (size_t)nodes_of(shape), slots = (size_t)shape->slots + SAP_BOXED_SPARE;
    const size_t nodes = sap_align(count * sizeof(sap_boxed_node));
    const size_t boxes = sap_align(count * 2 * (size_t)shape->dims * sap_real_bytes(shape));
    const size_t sums = weighted ? sap_align(count * sizeof(double)) : 0;
    boxed->bytes = nodes + boxes + sums + (weighted ? slots * sizeof(double) : 0);
    if (!sap_scratch_take(tree->device, boxed->bytes, &boxed->memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the boxes of %zu nodes", count);
    unsigned char* at = boxed->memory.memory;
    boxed->tree = tree;
    boxed->count = (uint32_t)count;
    boxed->nodes = (sap_boxed_node*)(void*)at;
    boxed->boxes = at + nodes;
    boxed->sums = weighted ? (double*)(void*)(at + nodes + boxes) : NULL;
    boxed->weights = weighted ? (double*)(void*)(at + nodes + boxes + sums) : NULL;
    return SAP_OK;
}

static sap_boxed_node leaf_at(const sap_tree* tree, int64_t place) {
    const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
    const size_t before = (size_t)(leaf.coords - (tree->arrays + tree->shape.block_at));
    return (sap_boxed_node){0, leaf.count, leaf.stride, (int64_t)(before / sap_slot_bytes(&tree->shape))};
}

// Nodes of an explicit tree are in preorder already.
static void link_explicit(const sap_tree* tree, sap_boxed_node* nodes) {
    const sap_tree_shape* shape = &tree->shape;
    const unsigned char* at = tree->arrays + shape->node_at;
    for (int64_t i = 0; i < shape->nodes; i++) {
        int64_t slot;
        int32_t count;
        const uint32_t link = shape->real_bits == 64 ? ((const sap_node_f64*)(const void*)at)[i].link
                                                     : ((const sap_node_f32*)(const void*)at)[i].link;
        if (sap_explicit_leaf(tree, i, &slot, &count))
            nodes[i] = leaf_at(tree, i);
        else
            nodes[i] = (sap_boxed_node){.upper = (uint32_t)i + (link >> 5)};
    }
}

// All leaves of a balanced tree have one depth: a subtree of depth d has 2^(d+1) - 1 nodes.
static void link_balanced(const sap_tree* tree, sap_boxed_node* nodes) {
    const int32_t depth = tree->shape.depth;
    int64_t next = 0;
    for (int64_t leaf = 0; leaf < tree->shape.leaves; leaf++) {
        // The inner nodes of which this is the first leaf.
        const int32_t above = leaf ? __builtin_ctzll((unsigned long long)leaf) : depth;
        for (int32_t below = above; below > 0; below--, next++)
            nodes[next] = (sap_boxed_node){.upper = (uint32_t)(next + ((int64_t)1 << below))};
        nodes[next++] = leaf_at(tree, leaf);
    }
    SAP_ASSERT(next == nodes_of(&tree->shape));
}

typedef struct filling {
    const sap_boxed* boxed;
    const double* weights; // by id, or NULL
    const sap_pairs_kernels* kernels;
} filling;

static void weigh_leaf(const sap_boxed* boxed, uint32_t node, const double* by_id) {
    const sap_boxed_node* leaf = &boxed->nodes[node];
    const int32_t* ids = sap_boxed_ids(boxed, node);
    double *weights = boxed->weights + leaf->slot, sum = 0;
    for (int32_t i = 0; i < leaf->count; i++) {
        weights[i] = by_id[ids[i]];
        sum += weights[i];
    }
    for (int32_t i = leaf->count; i < leaf->stride; i++) weights[i] = 0;
    boxed->sums[node] = sum;
}

static void fill_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const filling* f = context;
    (void)worker;
    f->kernels->bound(f->boxed, (uint32_t)from, (uint32_t)to);
    for (int64_t node = from; f->weights && node < to; node++)
        if (sap_boxed_is_leaf(f->boxed, (uint32_t)node)) weigh_leaf(f->boxed, (uint32_t)node, f->weights);
}

static void add_weights(const sap_boxed* boxed) {
    for (uint32_t node = boxed->count; node-- > 0;)
        if (!sap_boxed_is_leaf(boxed, node))
            boxed->sums[node] = boxed->sums[node + 1] + boxed->sums[boxed->nodes[node].upper];
    for (int i = 0; i < SAP_BOXED_SPARE; i++) boxed->weights[boxed->tree->shape.slots + i] = 0;
}

sap_status sap_boxed_make(const sap_tree* tree, const double* weights, const sap_pairs_kernels* kernels,
                          sap_boxed* boxed) {
    const sap_status status = reserve(tree, weights != NULL, boxed);
    if (status != SAP_OK || boxed->count == 0) return status;
    if (tree->shape.kind == SAP_TREE_BALANCED)
        link_balanced(tree, boxed->nodes);
    else
        link_explicit(tree, boxed->nodes);
    filling f = {boxed, weights, kernels};
    sap_team_loop(tree->device->options.threads, boxed->count, GRAIN, fill_range, &f);
    f.kernels->unite(boxed);
    if (weights) add_weights(boxed);
    return SAP_OK;
}
