// How shaders read a balanced tree of floats: the accessors of tree/access.h over textures (tree/forms/textures_gl.c
// makes them). Text for GLSL ES 3.00; needs math/dialect.h and math/distance.h.

uniform usampler2D tree_nodes;    // RG32UI, a texel an inner node in heap order: the split's bits, the axis
uniform isampler2D tree_smallest; // R32I, a texel a node, leaves included, in heap order: the smallest id below it
uniform sampler2D tree_boxes;   // RGBA32F, SAP_AXES - 1 texels a node, leaves included: the tight box, lower and upper
uniform usampler2D tree_blocks; // RGBA32UI: the leaves' blocks as they lie in memory, four slots a texel
uniform int tree_depth;         // of every leaf
uniform int tree_quads;         // texels of one coordinate of one leaf
uniform ivec4 tree_shifts;      // the logarithms of the textures' widths

#define SAP_ROOT 1u

struct sap_inner {
    bool is_leaf;
    int axis;
    float split;
    uint lower;
    uint upper;
};

ivec2 sap_texel(int number, int shift) { return ivec2(number & ((1 << shift) - 1), number >> shift); }

sap_inner sap_inner_at(uint node) {
    sap_inner inner;
    inner.is_leaf = node >> tree_depth != 0u;
    inner.axis = 0;
    inner.split = 0.0;
    inner.lower = 2u * node;
    inner.upper = 2u * node + 1u;
    if (!inner.is_leaf) {
        uvec2 at = texelFetch(tree_nodes, sap_texel(int(node), tree_shifts.x), 0).xy;
        inner.split = sap_float_of_bits(at.x);
        inner.axis = int(at.y);
    }
    return inner;
}

int sap_smallest_id(uint node) { return texelFetch(tree_smallest, sap_texel(int(node), tree_shifts.y), 0).x; }

// The first texel of a leaf's block.
int sap_block_at(uint node) { return (int(node) - (1 << tree_depth)) * tree_quads * (SAP_AXES + 1); }

// Four coordinates, or four ids as bits.
uvec4 sap_block_quad(int number) { return texelFetch(tree_blocks, sap_texel(number, tree_shifts.w), 0); }

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
