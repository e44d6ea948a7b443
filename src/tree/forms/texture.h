// How shaders read a tree of floats: the accessors of tree/access.h over textures (tree/forms/textures_gl.c makes them).
// Text for GLSL ES 3.00; needs math/dialect.h, tree/forms/uniforms.h and math/distance.h.
//
// SAP_EXPLICIT  the tree is explicit: its nodes lie in preorder; else it is balanced, in heap order

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

// Where a texel is in a texture. What is made a float has no more than 24 bits that are not 0.
ivec2 sap_texel(int number, int mask, float part) {
    int x = number & mask;
    return ivec2(x, int(float(number - x) * part));
}
#define SAP_TEXEL(number, which) sap_texel(number, sap_masks.which, sap_parts.which)

// A point whose coordinates are a texel's first.
sap_point sap_point_of_texel(vec4 texel) {
    sap_point point;
    point.at[0] = texel.x;
    point.at[1] = texel.y;
#if SAP_AXES == 3
    point.at[2] = texel.z;
#endif
    return point;
}

#ifdef SAP_EXPLICIT
uvec4 sap_node_texel(uint node) { return texelFetch(tree_nodes, SAP_TEXEL(int(node), x), 0); }

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
    leaf.is_equal = leaf.quads > sap_leaf_quads;
    return leaf;
}
#else
sap_inner sap_inner_at(uint node) {
    sap_inner inner;
    inner.is_leaf = node >= sap_first_leaf;
    inner.axis = 0;
    inner.split = 0.0;
    inner.lower = node + node;
    inner.upper = inner.lower + 1u;
    inner.parent = node >> 1;
    if (!inner.is_leaf) {
        uvec2 at = texelFetch(tree_nodes, SAP_TEXEL(int(node), x), 0).xy;
        inner.split = sap_float_of_bits(at.x);
        inner.axis = int(at.y);
    }
    return inner;
}

sap_leaf sap_leaf_at(uint node) {
    sap_leaf leaf;
    leaf.at = int(node - sap_first_leaf) * sap_leaf_quads * (SAP_AXES + 1);
    leaf.quads = sap_leaf_quads;
    leaf.is_equal = false;
    return leaf;
}
#endif

int sap_smallest_id(uint node) { return texelFetch(tree_smallest, SAP_TEXEL(int(node), y), 0).x; }

// Four coordinates, or four ids as bits.
uvec4 sap_block_quad(int number) { return texelFetch(tree_blocks, SAP_TEXEL(number, w), 0); }

// The squared distances and the ids of four points of a leaf. Unused slots are infinitely far.
vec4 sap_quad_distance2(sap_leaf leaf, int quad, sap_point query) {
    vec4 offset = query.at[0] - uintBitsToFloat(sap_block_quad(leaf.at + quad));
    vec4 sum = SAP_ROUNDED(offset * offset);
    offset = query.at[1] - uintBitsToFloat(sap_block_quad(leaf.at + leaf.quads + quad));
    sum = sum + SAP_ROUNDED(offset * offset);
#if SAP_AXES == 3
    offset = query.at[2] - uintBitsToFloat(sap_block_quad(leaf.at + 2 * leaf.quads + quad));
    sum = sum + SAP_ROUNDED(offset * offset);
#endif
    return sum;
}
uvec4 sap_quad_ids(sap_leaf leaf, int quad) { return sap_block_quad(leaf.at + SAP_AXES * leaf.quads + quad); }

// No point below a node is nearer. A sibling of nearest/bound.h, because tight boxes take no more texels than planes.
float sap_node_bound2(uint node, sap_point query) {
#if SAP_AXES == 2
    vec4 box = texelFetch(tree_boxes, SAP_TEXEL(int(node), z), 0);
    vec2 asked = vec2(query.at[0], query.at[1]);
    vec2 apart = max(max(box.xy - asked, asked - box.zw), 0.0);
    vec2 squares = SAP_ROUNDED(apart * apart);
    return squares.x + squares.y;
#else
    vec3 asked = vec3(query.at[0], query.at[1], query.at[2]);
    vec3 lower = texelFetch(tree_boxes, SAP_TEXEL(2 * int(node), z), 0).xyz;
    vec3 upper = texelFetch(tree_boxes, SAP_TEXEL(2 * int(node) + 1, z), 0).xyz;
    vec3 apart = max(max(lower - asked, asked - upper), 0.0);
    vec3 squares = SAP_ROUNDED(apart * apart);
    return squares.x + squares.y + squares.z;
#endif
}
