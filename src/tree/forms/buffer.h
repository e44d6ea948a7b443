// How compute shaders read a tree of floats from one buffer with its bytes, as they are saved: the accessors of
// tree/access.h. Text for GLSL ES 3.10; needs math/dialect.h and math/distance.h. The bytes are read as words of 32 bits, and
// places are numbers of words: an array of a tree begins at a multiple of 16.
//
// SAP_EXPLICIT  the tree is explicit: its nodes lie in preorder; else it is balanced, in heap order

layout(std430, binding = 0) readonly buffer sap_tree_bytes { uint tree_words[]; };
layout(std140, binding = 1) uniform sap_tree_shape {
    int tree_dims;      // 1 to SAP_AXES
    int tree_count;     // points
    int tree_leaf_size; // a leaf with more points holds equal ones
    int tree_depth;     // of every leaf of a balanced tree
    int tree_stride;    // slots of every leaf of a balanced tree
    int tree_nodes_at;  // split values, or the nodes of an explicit tree
    int tree_axes_at;   // axes, or the smallest ids below the nodes of an explicit tree
    int tree_blocks_at;
    ivec4 tree_levels[8]; // of box groups, of a balanced tree: their depth, and where the smallest ids are
};

#define SAP_DIMS tree_dims
#ifdef SAP_EXPLICIT
#define SAP_ROOT 0u
#else
#define SAP_ROOT 1u
#endif
#define SAP_NODE_LEAF 31u

struct sap_inner {
    bool is_leaf;
    int axis;
    float split;
    uint lower;
    uint upper;
};

struct sap_leaf {
    bool is_equal; // its points are all equal
    int coords;    // where they begin
    int count;
    int stride;
};

sap_inner sap_inner_at(uint node) {
    sap_inner inner;
#ifdef SAP_EXPLICIT
    uint link = tree_words[tree_nodes_at + 2 * int(node) + 1];
    inner.is_leaf = (link & SAP_NODE_LEAF) == SAP_NODE_LEAF;
    inner.axis = int(link & SAP_NODE_LEAF);
    inner.split = sap_float_of_bits(tree_words[tree_nodes_at + 2 * int(node)]);
    inner.lower = node + 1u;
    inner.upper = node + (link >> 5);
#else
    inner.is_leaf = node >> tree_depth != 0u;
    int at = inner.is_leaf ? 1 : int(node);
    inner.axis = int((tree_words[tree_axes_at + (at >> 2)] >> (8 * (at & 3))) & 255u);
    inner.split = sap_float_of_bits(tree_words[tree_nodes_at + at]);
    inner.lower = 2u * node;
    inner.upper = 2u * node + 1u;
#endif
    return inner;
}

sap_leaf sap_leaf_at(uint node) {
    sap_leaf leaf;
#ifdef SAP_EXPLICIT
    leaf.count = int(tree_words[tree_nodes_at + 2 * int(node) + 1] >> 5);
    leaf.stride = leaf.count > 4 ? (leaf.count + 3) / 4 * 4 : leaf.count;
    leaf.coords = tree_blocks_at + int(tree_words[tree_nodes_at + 2 * int(node)]) * (tree_dims + 1);
    leaf.is_equal = leaf.count > tree_leaf_size;
#else
    // A leaf has as many points as the least, or one more: then the slot behind them is taken, by an id that is not -1.
    leaf.stride = tree_stride;
    leaf.coords = tree_blocks_at + (int(node) - (1 << tree_depth)) * tree_stride * (tree_dims + 1);
    leaf.count = tree_count >> tree_depth;
    if (leaf.count < leaf.stride)
        leaf.count += int(tree_words[leaf.coords + tree_dims * leaf.stride + leaf.count]) >= 0 ? 1 : 0;
    leaf.is_equal = false;
#endif
    return leaf;
}

float sap_leaf_coordinate(sap_leaf leaf, int slot, int axis) {
    return sap_float_of_bits(tree_words[leaf.coords + axis * leaf.stride + slot]);
}

int sap_leaf_id(sap_leaf leaf, int slot) { return int(tree_words[leaf.coords + tree_dims * leaf.stride + slot]); }

int sap_smallest_id(uint node) {
#ifdef SAP_EXPLICIT
    return int(tree_words[tree_axes_at + int(node)]);
#else
    int level = 0;
    while (node >> tree_levels[level].x > 1u) ++level;
    int below = 0;
    while (node >> (tree_levels[level].x - below) == 0u) ++below;
    int first = tree_levels[level].y + (int(node) << below) - (1 << tree_levels[level].x);
    int smallest = SAP_NO_ID;
    for (int i = 0; i < 1 << below; ++i) smallest = min(smallest, int(tree_words[first + i]));
    return smallest;
#endif
}
