// How shaders read a balanced tree of floats: the accessors of tree/access.h over textures (tree/textures_gl.c makes
// them). Text for GLSL ES 3.00; needs math/dialect.h and math/distance.h.

uniform usampler2D tree_nodes;     // RG32UI, a texel an inner node in heap order: the split's bits, the axis
uniform isampler2D tree_smallest;  // R32I, a texel a node, leaves included, in heap order: the smallest id below it
uniform usampler2D tree_blocks;    // RGBA32UI: the leaves' blocks as they lie in memory, four slots a texel
uniform int tree_depth;            // of every leaf
uniform int tree_quads;            // texels of one coordinate of one leaf
uniform ivec3 tree_shifts;         // the logarithms of the textures' widths

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
uvec4 sap_block_quad(int number) { return texelFetch(tree_blocks, sap_texel(number, tree_shifts.z), 0); }
