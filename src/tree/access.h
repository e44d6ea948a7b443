// How C and CUDA read a tree: the accessors that the shared texts call. In GLSL each shader has its own, over textures.
// Specialised text (math/specialise.h); needs math/dialect.h and tree/layout.h. On a GPU `tree` points to a copy of the
// host's struct whose arrays lie on the device. Sizes are written out so that they become constants.

// A node as a walk sees it. The other fields are defined for inner nodes only.
SAP_STRUCT(sap_inner)
struct sap_inner {
    bool is_leaf;
    int axis;
    SAP_REAL split;
    SAP_BITS lower; // child with the coordinates up to split
    SAP_BITS upper; // child with the coordinates from split on
};

// The points of a leaf.
SAP_STRUCT(sap_leaf)
struct sap_leaf {
    bool is_equal; // its points, more than leaf_size, are equal in every coordinate
    const SAP_REAL* coords;
    const int32_t* ids;
    int count;
    int stride;
};

#undef SAP_ROOT
#undef SAP_NODE
#define SAP_ROOT (tree->shape.kind == SAP_TREE_BALANCED ? 1u : 0u)
#if SAP_REAL_BITS == 32
#define SAP_NODE sap_node_f32
#else
#define SAP_NODE sap_node_f64
#endif

SAP_FN const SAP_NODE* sap_explicit_node(SAP_TREE_PARAM SAP_BITS node) {
    SAP_ASSERT(tree->shape.kind == SAP_TREE_EXPLICIT && node < tree->shape.nodes);
    return (const SAP_NODE*)(const void*)(tree->arrays + tree->shape.node_at) + node;
}

// sap_leaf_stride of tree/layout.h, for device code too.
SAP_FN int sap_explicit_stride(int count) {
    const int unit = count > 4 ? 4 : (SAP_REAL_BITS == 64 ? 2 : 1);
    return (count + unit - 1) / unit * unit;
}

SAP_FN sap_inner sap_inner_at(SAP_TREE_PARAM SAP_BITS node) {
    sap_inner inner;
    if (tree->shape.kind == SAP_TREE_BALANCED) {
        inner.is_leaf = node >> tree->shape.depth != 0;
        const SAP_BITS at = inner.is_leaf ? 1u : node;
        inner.axis = (tree->arrays + tree->shape.axis_at)[at];
        inner.split = ((const SAP_REAL*)(const void*)(tree->arrays + tree->shape.split_at))[at];
        inner.lower = 2 * node;
        inner.upper = 2 * node + 1;
    } else {
        const SAP_NODE* at = sap_explicit_node(tree, node);
        inner.axis = (int)(at->link & SAP_NODE_LEAF);
        inner.is_leaf = inner.axis == SAP_NODE_LEAF;
#if SAP_REAL_BITS == 32
        inner.split = sap_float_of_bits(at->bits);
#else
        inner.split = sap_double_of_bits(at->bits);
#endif
        inner.lower = node + 1;
        inner.upper = node + (at->link >> 5);
    }
    return inner;
}

SAP_FN sap_leaf sap_leaf_at(SAP_TREE_PARAM SAP_BITS node) {
    sap_leaf leaf;
    int64_t slot;
    if (tree->shape.kind == SAP_TREE_BALANCED) {
        const int64_t number = (int64_t)node - ((int64_t)1 << tree->shape.depth);
        SAP_ASSERT(number >= 0 && number < tree->shape.leaves);
        leaf.count = (int)(((number + 1) * tree->shape.count >> tree->shape.depth) -
                           (number * tree->shape.count >> tree->shape.depth));
        leaf.stride = tree->shape.stride;
        slot = number * leaf.stride;
    } else {
        const SAP_NODE* at = sap_explicit_node(tree, node);
        leaf.count = (int)(at->link >> 5);
        leaf.stride = sap_explicit_stride(leaf.count);
        slot = (int64_t)at->bits;
    }
    leaf.is_equal = tree->shape.kind == SAP_TREE_EXPLICIT && leaf.count > tree->options.leaf_size;
    const size_t slot_bytes = (size_t)SAP_DIMS * sizeof(SAP_REAL) + sizeof(int32_t);
    leaf.coords = (const SAP_REAL*)(const void*)(tree->arrays + tree->shape.block_at + (size_t)slot * slot_bytes);
    leaf.ids = (const int32_t*)(const void*)(leaf.coords + (size_t)SAP_DIMS * (size_t)leaf.stride);
    return leaf;
}

SAP_FN SAP_REAL sap_leaf_coordinate(SAP_TREE_PARAM sap_leaf leaf, int slot, int axis) {
    (void)tree;
    SAP_ASSERT(slot >= 0 && slot < leaf.stride && axis >= 0 && axis < SAP_DIMS);
    return leaf.coords[axis * leaf.stride + slot];
}

SAP_FN int sap_leaf_id(SAP_TREE_PARAM sap_leaf leaf, int slot) {
    (void)tree;
    SAP_ASSERT(slot >= 0 && slot < leaf.count);
    return leaf.ids[slot];
}

// The smallest id below a node other than a balanced tree's root. A balanced tree keeps them at the levels of its
// boxes; at the levels between, a node's id is the smallest of at most eight.
SAP_FN int sap_smallest_id(SAP_TREE_PARAM SAP_BITS node) {
    if (tree->shape.kind == SAP_TREE_EXPLICIT)
        return ((const int32_t*)(const void*)(tree->arrays + tree->shape.node_min_id_at))[node];
    int level = 0;
    SAP_ASSERT(node > 1 || tree->shape.depth == 0);
    while (node >> tree->shape.level_depth[level] > 1) ++level;
    SAP_ASSERT(level < tree->shape.levels);
    int below = 0;
    while (node >> (tree->shape.level_depth[level] - below) == 0) ++below;
    const int32_t* ids = (const int32_t*)(const void*)(tree->arrays + tree->shape.min_id_at[level]);
    const int64_t first = ((int64_t)node << below) - ((int64_t)1 << tree->shape.level_depth[level]);
    int smallest = SAP_NO_ID;
    for (int i = 0; i < 1 << below; ++i) smallest = ids[first + i] < smallest ? ids[first + i] : smallest;
    return smallest;
}

// How many points lie below a node.
SAP_FN int sap_count_below(SAP_TREE_PARAM SAP_BITS node) {
    if (tree->shape.kind == SAP_TREE_BALANCED) {
        int below = 0;
        while (node >> (tree->shape.depth - below) == 0) ++below;
        const int64_t first = ((int64_t)node << below) - ((int64_t)1 << tree->shape.depth);
        const int64_t last = first + ((int64_t)1 << below);
        SAP_ASSERT(first >= 0 && last <= tree->shape.leaves);
        return (int)((last * tree->shape.count >> tree->shape.depth) -
                     (first * tree->shape.count >> tree->shape.depth));
    }
    SAP_BITS end = node;
    for (sap_inner inner = sap_inner_at(tree, end); !inner.is_leaf; inner = sap_inner_at(tree, end)) end = inner.upper;
    int count = 0;
    for (SAP_BITS at = node; at <= end; ++at) {
        const SAP_BITS link = sap_explicit_node(tree, at)->link;
        count += (link & SAP_NODE_LEAF) == SAP_NODE_LEAF ? (int)(link >> 5) : 0;
    }
    return count;
}
