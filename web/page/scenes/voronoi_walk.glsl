// The nearest site of every pixel of a tile and how many nodes its walk looked at: the library's walk without a stack,
// or its walk with one, both to be gone on with in the next pass.
//
// SAP_STACK     inner nodes on a path, at most: the walk keeps a stack; undefined: it does not
// PAGE_RESUMED  the walks go on from where the pass before left them
#define SAP_AXES 2
#define SAP_CAPACITY 1
#include "math/dialect.h"
#include "tree/forms/uniforms.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
#include "nearest/candidates/candidates.h"
#include "nearest/walk_result.h"
#include "nearest/grid/scan_texture.h"
#include "nearest/walk.h"
#ifdef SAP_STACK
#include "nearest/grid/walk_stack.h"
#endif

uniform sampler2D sides; // texel i: where column i and row i lie
uniform int leaves;      // to be looked at in this pass, at most
#ifdef PAGE_RESUMED
uniform usampler2D place;
uniform usampler2D counts;
#endif
layout(location = 0) out uvec4 out_place;  // node (0: the walk has ended), pending, id, bits of the squared distance
layout(location = 1) out uvec4 out_counts; // nodes, leaves

#ifdef SAP_STACK
#define RESUME sap_stack_resume
#else
#define RESUME sap_nearest_resume
#endif

void main() {
    ivec2 here = ivec2(gl_FragCoord.xy);
    sap_tree_begin();
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
    if (at.going) at = RESUME(at, query, -1, leaves);
    out_place = uvec4(at.going ? at.node : 0u, at.pending, uint(at.result.list.id[0]),
                      sap_bits_of_float(at.result.list.distance2[0]));
    out_counts = uvec4(uint(at.result.nodes), uint(at.result.leaves), 0u, 0u);
}
