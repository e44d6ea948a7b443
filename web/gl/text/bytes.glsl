// Searches of a tree in four bytes a node, for shaders of others: what web/package/src/gl/text.ts hands out. All names
// begin with the tree's. For GLSL ES 1.00 and 3.00; nearest/grid/walk_rgba8.h says what can be defined.
precision highp float;
precision highp int;
precision highp sampler2D;
#include "nearest/grid/walk_rgba8.h"

uniform PLACE tree_lower; // of the domain
uniform float tree_scale; // units for a length of 1

// The id of the nearest site, or -1, and its distance. GLSL ES 1.00 has it as a float: there are at most 2^22 sites.
#if SAP_GLSL == 100
float sap_nearest(PLACE place, out float distance) {
#else
int sap_nearest(PLACE place, out float distance) {
#endif
    found at = nearest((place - tree_lower) * tree_scale);
    distance = sqrt(at.best2) / tree_scale;
    vec4 bytes = bytes_at(ids, at.best);
    float id = at.going || at.best == NODE(0) ? -1.0 : (bytes.g * 256.0 + bytes.b) * 256.0 + bytes.a;
#if SAP_GLSL == 100
    return id;
#else
    return int(id);
#endif
}
