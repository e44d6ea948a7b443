// Searches of a tree over points, for shaders of others: what web/package/src/gl/text.ts hands out. All names begin with
// the tree's.
//
// SAP_AXES      2 or 3, the tree's dimensions
// SAP_CAPACITY  how many neighbours are kept
// SAP_EXPLICIT  the tree is explicit; else it is balanced
// SAP_STACK     walks keep a stack of so many nodes, on a balanced tree; undefined: they keep a bit a level
// SAP_VISITED   the shader has a function sap_visit, which is shown the points within a radius
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
precision highp usampler2D;
#include "math/dialect.h"
#include "tree/forms/uniforms.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
#include "nearest/candidates/candidates.h"
#include "nearest/walk_result.h"
#include "nearest/grid/scan_texture.h"
#include "nearest/walk.h"
#include "radius/next_texture.h"
#ifdef SAP_EXPLICIT
#include "nearest/grid/walk_explicit.h"
#define SAP_FROM   sap_explicit_from
#define SAP_RESUME sap_explicit_resume
#elif defined(SAP_STACK)
#include "nearest/grid/walk_stack.h"
#define SAP_FROM   sap_nearest_from
#define SAP_RESUME sap_stack_resume
#else
#define SAP_FROM   sap_nearest_from
#define SAP_RESUME sap_nearest_resume
#endif

#if SAP_AXES == 2
#define SAP_PLACE        vec2
#define SAP_TEXEL_OF(at) vec4(at, 0.0, 0.0)
#else
#define SAP_PLACE        vec3
#define SAP_TEXEL_OF(at) vec4(at, 0.0)
#endif

// The nearest points no farther than the root of limit2, the nearest first: .id[i], -1 where there are no more, and
// .distance2[i], of those that are there.
sap_candidates sap_neighbors(SAP_PLACE place, float limit2) {
    sap_tree_begin();
    sap_nearest_place walk = SAP_FROM(SAP_ROOT, sap_candidates_none(SAP_CAPACITY, limit2));
    sap_point query = sap_point_of_texel(SAP_TEXEL_OF(place));
    walk.going = sap_point_finite(query);
    sap_candidates list = SAP_RESUME(walk, query, -1, SAP_NO_ID).result.list;
    for (int i = 0; i < SAP_CAPACITY; ++i) list.id[i] = list.id[i] == SAP_NO_ID ? -1 : list.id[i];
    return list;
}

// The id of the nearest point, or -1, and its squared distance.
int sap_nearest(SAP_PLACE place, float limit2, out float distance2) {
    sap_candidates list = sap_neighbors(place, limit2);
    distance2 = list.distance2[0];
    return list.id[0];
}
int sap_nearest(SAP_PLACE place) { return sap_neighbors(place, SAP_REAL_MAX).id[0]; }

// How many points are no farther than the root of limit2; each is shown to sap_visit, in the tree's order.
#ifdef SAP_VISITED
void sap_visit(int id, float distance2);
#endif
int sap_within(SAP_PLACE place, float limit2) {
    sap_tree_begin();
    sap_point query = sap_point_of_texel(SAP_TEXEL_OF(place));
    uint node = sap_point_finite(query) ? SAP_ROOT : 0u;
    int count = 0;
    while (node != 0u) {
        sap_inner inner = sap_inner_at(node);
        if (sap_node_bound2(node, query) > limit2) {
            node = sap_next_node(node);
        } else if (!inner.is_leaf) {
            node = inner.lower;
        } else {
            sap_leaf leaf = sap_leaf_at(node);
            for (int quad = 0; quad < leaf.quads; ++quad) {
                vec4 distance2 = sap_quad_distance2(leaf, quad, query);
                if (any(lessThanEqual(distance2, vec4(limit2)))) {
                    uvec4 ids = sap_quad_ids(leaf, quad);
                    for (int i = 0; i < 4; ++i)
                        if (distance2[i] <= limit2) {
                            count += 1;
#ifdef SAP_VISITED
                            sap_visit(int(ids[i]), distance2[i]);
#endif
                        }
                }
            }
            node = sap_next_node(node);
        }
    }
    return count;
}
