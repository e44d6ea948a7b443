// The passes of a histopyramid. SAP_PASS: 0 the lowest level from the cells; 1 the lowest level of the vec4 form where
// cells come four a texel, which is the second one; 2 a level from the one below; 3 the list.
#include "math/dialect.h"

#include "compact/histopyramid.h"

#if SAP_PASS == 3
#define SAP_LEVELS
#endif
#include "compact/levels.h"

layout(location = 0) out uvec4 result;

#if SAP_PASS < 3
uniform int own_shift;
uniform usampler2D below;
uniform int below_shift;
uniform uint below_nodes;
uniform int below_row;

uint child_sum(uint node) {
#if SAP_PASS == 1
    return sap_running(sap_cell_counts(node)).w;
#else
    if (node >= below_nodes) return 0u;
    uvec4 sums = texelFetch(below, sap_node_place(node, below_shift) + ivec2(0, below_row), 0);
#if SAP_VEC4
    return sums.w;
#else
    return sums.x;
#endif
#endif
}

void main() {
    uint node = uint(gl_FragCoord.x) | (uint(gl_FragCoord.y) << uint(own_shift));
#if SAP_PASS == 0
    uvec4 sums = sap_running(sap_cell_counts(node));
#else
    uint first = 4u * node;
    uvec4 sums =
        sap_running(uvec4(child_sum(first), child_sum(first + 1u), child_sum(first + 2u), child_sum(first + 3u)));
#endif
#if SAP_VEC4
    result = sums;
#else
    result = uvec4(sums.w);
#endif
}
#else
uniform uint list_width;
uniform uint list_room;

// A texel of the list has as many of these numbers as it has channels: the cell, which of the cell's outputs, the
// cell's column and row. Texels beyond the last output are left as they are.
void main() {
    uint key = uint(gl_FragCoord.y) * list_width + uint(gl_FragCoord.x);
    if (key >= list_room || key >= sap_pyramid_total()) discard;
    sap_key found = sap_pyramid_find(key);
#if SAP_CELLS == 1
    ivec2 place = sap_row_place(found.node >> 2, base_width);
    place.x = 4 * place.x + int(found.node & 3u);
#else
    ivec2 place = sap_row_place(found.node, base_width);
#endif
    result = uvec4(found.node, found.rest, uint(place.x), uint(place.y));
}
#endif
