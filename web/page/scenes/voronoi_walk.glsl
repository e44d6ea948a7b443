// The nearest site of every pixel of a tile and how many nodes its walk looked at: the library's walk without a stack, or
// one with a stack, both to be gone on with in the next pass.
//
// PAGE_STACK    inner nodes on a path, at most: the walk keeps a stack; undefined: it does not
// PAGE_RESUMED  the walks go on from where the pass before left them
#define SAP_AXES 2
#define SAP_CAPACITY 1
#include "math/dialect.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
#include "nearest/candidates/candidates.h"
#include "nearest/walk_result.h"
#include "nearest/grid/scan_texture.h"
#include "nearest/walk.h"

uniform sampler2D sides; // texel i: where column i and row i lie
uniform int leaves;      // to be looked at in this pass, at most
#ifdef PAGE_RESUMED
uniform usampler2D place;
uniform usampler2D counts;
#endif
layout(location = 0) out uvec4 out_place;  // node (0: the walk has ended), pending, id, bits of the squared distance
layout(location = 1) out uvec4 out_counts; // nodes, leaves

#ifdef PAGE_STACK
int level_of(uint node) {
    int level = 0;
    for (uint rest = node >> 1; rest != 0u; rest >>= 1) level += 1;
    return level;
}

// A child that may have to be visited, as nearest/walk.h has it.
struct waiting_child {
    uint node;
    float bound2;
    sap_point offset;
};

// As sap_nearest_resume, with a stack and bounds that grow along the path (Arya and Mount 1993). Between passes the stack is
// kept as bits, which say of each node on the path whether its sibling waits; the rest follows from the path.
sap_nearest_place resume(sap_nearest_place at, sap_point query) {
    waiting_child stack[PAGE_STACK];
    int waiting = 0;
    sap_point offset = sap_point_of(0.0);
    uint node = SAP_ROOT;
    for (int up = level_of(at.node) - 1; up >= 0; --up) {
        sap_inner inner = sap_inner_at(node);
        float aside = sap_point_on(query, inner.axis) - inner.split;
        sap_point farther = sap_point_with(offset, inner.axis, aside);
        node = at.node >> up;
        if (((at.pending >> up) & 1u) != 0u) {
            stack[waiting].node = node ^ 1u;
            stack[waiting].bound2 = sap_length2(farther);
            stack[waiting].offset = farther;
            waiting += 1;
        }
        if ((node == inner.lower) != (aside <= 0.0)) offset = farther;
    }
    int last = at.result.leaves + leaves;
    while (at.going && at.result.leaves < last) {
        sap_inner inner = sap_inner_at(node);
        while (!inner.is_leaf) {
            float aside = sap_point_on(query, inner.axis) - inner.split;
            sap_point farther = sap_point_with(offset, inner.axis, aside);
            float bound2 = sap_length2(farther);
            bool is_lower = aside <= 0.0;
            node = is_lower ? inner.lower : inner.upper;
            if (bound2 <= sap_candidates_limit2(at.result.list)) {
                stack[waiting].node = node ^ 1u;
                stack[waiting].bound2 = bound2;
                stack[waiting].offset = farther;
                waiting += 1;
            }
            at.result.nodes += 1;
            inner = sap_inner_at(node);
        }
        at.result = sap_nearest_scan(node, query, -1, at.result);
        at.going = false;
        while (waiting > 0 && !at.going) {
            waiting -= 1;
            node = stack[waiting].node;
            offset = stack[waiting].offset;
            at.going = sap_nearest_reaches(node, stack[waiting].bound2, at.result.list);
        }
    }
    at.node = node;
    at.pending = 0u;
    int level = level_of(node);
    for (int i = 0; i < waiting; ++i) at.pending |= 1u << (level - level_of(stack[i].node));
    return at;
}
#else
sap_nearest_place resume(sap_nearest_place at, sap_point query) {
    return sap_nearest_resume(at, query, -1, leaves);
}
#endif

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    sap_point query;
    query.at[0] = texelFetch(sides, ivec2(here.x, 0), 0).x;
    query.at[1] = texelFetch(sides, ivec2(here.y, 0), 0).y;
    sap_nearest_place at = sap_nearest_from(SAP_ROOT, sap_candidates_none(1, SAP_REAL_MAX));
#ifdef PAGE_RESUMED
    uvec4 was = texelFetch(place, here, 0);
    uvec4 counted = texelFetch(counts, here, 0);
    at.node = was.x;
    at.pending = was.y;
    at.going = was.x != 0u;
    at.result.list.id[0] = int(was.z);
    at.result.list.distance2[0] = sap_float_of_bits(was.w);
    at.result.nodes = int(counted.x);
    at.result.leaves = int(counted.y);
#endif
    if (at.going) at = resume(at, query);
    out_place = uvec4(at.going ? at.node : 0u, at.pending, uint(at.result.list.id[0]),
                      sap_bits_of_float(at.result.list.distance2[0]));
    out_counts = uvec4(uint(at.result.nodes), uint(at.result.leaves), 0u, 0u);
}
