// The planes of a tree's upper nodes as thin rectangles: six vertices a node, the root being node 1. The cell of a node is
// found by going to it from the root.
#define SAP_AXES 2
#include "math/dialect.h"
#include "tree/forms/uniforms.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
uniform vec2 size;
uniform vec2 origin;
uniform float step_size;
uniform float thickness; // of the root's plane, in pixels
PAGE_TO float faint;

void main() {
    sap_tree_begin();
    uint node = 1u + uint(gl_VertexID) / 6u;
    int number = gl_VertexID % 6;
    vec2 lower = origin - 8.0 * step_size;
    vec2 upper = origin + (size + 8.0) * step_size;
    int depth = 0;
    for (uint rest = node >> 1; rest != 0u; rest >>= 1) depth += 1;
    for (int up = depth - 1; up >= 0; --up) {
        sap_inner above = sap_inner_at(node >> (up + 1));
        if (((node >> up) & 1u) == 0u)
            upper[above.axis] = min(upper[above.axis], above.split);
        else
            lower[above.axis] = max(lower[above.axis], above.split);
    }
    sap_inner inner = sap_inner_at(node);
    float wide = max(thickness * pow(0.8, float(depth)), 1.0) * step_size;
    vec2 from = lower;
    vec2 to = upper;
    from[inner.axis] = inner.split - 0.5 * wide;
    to[inner.axis] = inner.split + 0.5 * wide;
    vec2 at = mix(from, to, vec2(number == 1 || number == 2 || number == 4 ? 1.0 : 0.0,
                                 number == 2 || number == 4 || number == 5 ? 1.0 : 0.0));
    vec2 pixel = (at - origin) / step_size;
    bool empty = any(lessThan(upper, lower));
    gl_Position = empty ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(2.0 * pixel.x / size.x - 1.0, 1.0 - 2.0 * pixel.y / size.y, 0.0, 1.0);
    faint = pow(0.9, float(depth));
}
