// How shaders read a tree of floats: the accessors of tree/access.h over textures (tree/forms/textures_gl.c makes them).
// Text for GLSL ES 3.00; needs math/dialect.h and math/distance.h.
//
// SAP_EXPLICIT  the tree is explicit: its nodes lie in preorder; else it is balanced, in heap order

uniform usampler2D tree_nodes;    // a texel a node: RG32UI, or of explicit trees RGBA32UI: see sap_gl_tree_textures
uniform isampler2D tree_smallest; // R32I, a texel a node, leaves included: the smallest id below it
uniform sampler2D tree_boxes;   // RGBA32F, SAP_AXES - 1 texels a node, leaves included: the tight box, lower and upper
uniform usampler2D tree_blocks; // RGBA32UI: the leaves' blocks, four slots a texel
uniform int tree_depth;         // of every leaf of a balanced tree
uniform int tree_quads;         // texels of one coordinate of one leaf, unless its points are all equal
uniform ivec4 tree_shifts;      // the logarithms of the textures' widths

#define SAP_ROOT 1u

struct sap_inner {
    bool is_leaf;
    int axis;
    float split;
    uint lower;
    uint upper;
    uint parent; // 0: none
};

// The texels of a leaf's block: `quads` for each coordinate and for the ids.
struct sap_leaf {
    int at;
    int quads;
    bool is_equal; // its points are surely all equal
};

ivec2 sap_texel(int number, int shift) { return ivec2(number & ((1 << shift) - 1), number >> shift); }

#ifdef SAP_EXPLICIT
uvec4 sap_node_texel(uint node) { return texelFetch(tree_nodes, sap_texel(int(node), tree_shifts.x), 0); }

sap_inner sap_inner_at(uint node) {
    uvec4 at = sap_node_texel(node);
    sap_inner inner;
    inner.axis = int(at.y);
    inner.is_leaf = inner.axis == 31;
    inner.split = sap_float_of_bits(at.x);
    inner.lower = node + 1u;
    inner.upper = at.z;
    inner.parent = at.w;
    return inner;
}

sap_leaf sap_leaf_at(uint node) {
    uvec4 at = sap_node_texel(node);
    sap_leaf leaf;
    leaf.at = int(at.x);
    leaf.quads = int(at.z);
    leaf.is_equal = leaf.quads > tree_quads;
    return leaf;
}
#else
sap_inner sap_inner_at(uint node) {
    sap_inner inner;
    inner.is_leaf = node >> tree_depth != 0u;
    inner.axis = 0;
    inner.split = 0.0;
    inner.lower = 2u * node;
    inner.upper = 2u * node + 1u;
    inner.parent = node >> 1;
    if (!inner.is_leaf) {
        uvec2 at = texelFetch(tree_nodes, sap_texel(int(node), tree_shifts.x), 0).xy;
        inner.split = sap_float_of_bits(at.x);
        inner.axis = int(at.y);
    }
    return inner;
}

sap_leaf sap_leaf_at(uint node) {
    sap_leaf leaf;
    leaf.at = (int(node) - (1 << tree_depth)) * tree_quads * (SAP_AXES + 1);
    leaf.quads = tree_quads;
    leaf.is_equal = false;
    return leaf;
}
#endif

int sap_smallest_id(uint node) { return texelFetch(tree_smallest, sap_texel(int(node), tree_shifts.y), 0).x; }

// Four coordinates, or four ids as bits.
uvec4 sap_block_quad(int number) { return texelFetch(tree_blocks, sap_texel(number, tree_shifts.w), 0); }

// The squared distances and the ids of four points of a leaf. Unused slots are infinitely far.
vec4 sap_quad_distance2(sap_leaf leaf, int quad, sap_point query) {
    vec4 offset = query.at[0] - uintBitsToFloat(sap_block_quad(leaf.at + quad));
    vec4 sum = SAP_ROUNDED(offset * offset);
    for (int axis = 1; axis < SAP_AXES; ++axis) {
        offset = query.at[axis] - uintBitsToFloat(sap_block_quad(leaf.at + axis * leaf.quads + quad));
        sum = sum + SAP_ROUNDED(offset * offset);
    }
    return sum;
}
uvec4 sap_quad_ids(sap_leaf leaf, int quad) { return sap_block_quad(leaf.at + SAP_AXES * leaf.quads + quad); }

// No point below a node is nearer. A sibling of nearest/bound.h, because tight boxes take no more texels than planes.
float sap_node_bound2(uint node, sap_point query) {
    sap_point offset;
#if SAP_AXES == 2
    vec4 box = texelFetch(tree_boxes, sap_texel(int(node), tree_shifts.z), 0);
    vec2 apart = max(max(box.xy - vec2(query.at[0], query.at[1]), vec2(query.at[0], query.at[1]) - box.zw), 0.0);
    offset.at[0] = apart.x;
    offset.at[1] = apart.y;
#else
    vec3 asked = vec3(query.at[0], query.at[1], query.at[2]);
    vec3 lower = texelFetch(tree_boxes, sap_texel(2 * int(node), tree_shifts.z), 0).xyz;
    vec3 upper = texelFetch(tree_boxes, sap_texel(2 * int(node) + 1, tree_shifts.z), 0).xyz;
    vec3 apart = max(max(lower - asked, asked - upper), 0.0);
    for (int axis = 0; axis < SAP_AXES; ++axis) offset.at[axis] = apart[axis];
#endif
    return sap_length2(offset);
}
