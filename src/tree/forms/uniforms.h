// The uniforms by which shaders read a tree of floats in textures (tree/forms/textures_gl.c sets them), and copies of them
// that walks read. Text for GLSL ES 3.00; needs math/dialect.h and stands before math/distance.h.
//
// Walks read globals, which are faster where browsers have no GPU: SwiftShader asks of every read of a uniform whether it
// lies within the uniforms' memory. It also shifts the bits of one pixel after the other, by whatever number, so that in
// loops sums and products of floats stand for shifts.

uniform usampler2D tree_nodes;    // a texel a node: RG32UI, or of explicit trees RGBA32UI: see sap_gl_tree_textures
uniform isampler2D tree_smallest; // R32I, a texel a node, leaves included: the smallest id below it
uniform sampler2D tree_boxes;   // RGBA32F, SAP_AXES - 1 texels a node, leaves included: the tight box, lower and upper
uniform usampler2D tree_blocks; // RGBA32UI: the leaves' blocks, four slots a texel
uniform int tree_depth;         // of every leaf of a balanced tree
uniform int tree_quads;         // texels of one coordinate of one leaf, unless its points are all equal
uniform ivec4 tree_shifts;      // the logarithms of the textures' widths

uint sap_zero;       // SAP_NOTHING
uint sap_first_leaf; // of a balanced tree: leaves have the highest numbers
int sap_leaf_quads;  // tree_quads
ivec4 sap_masks;     // the textures' widths less 1
vec4 sap_parts;      // 1 over the widths

#undef SAP_NOTHING
#define SAP_NOTHING sap_zero

// Before anything else of the tree is called.
void sap_tree_begin() {
    sap_zero = nothing;
    sap_first_leaf = 1u << tree_depth;
    sap_leaf_quads = tree_quads;
    sap_masks = (ivec4(1) << tree_shifts) - 1;
    sap_parts = intBitsToFloat((127 - tree_shifts) << 23); // exactly, as quotients need not be
}
