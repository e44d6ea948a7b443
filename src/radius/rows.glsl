// Rows of points within a radius, one query for each texel: the points in the order of radius/walk.h, by a walk that
// stops when its lists are full, or after some rounds, and goes on in the next pass. Counted and listed by one program,
// so that both find the same.
//
// SAP_AXES      2 or 3, the tree's dimensions
// SAP_EXPLICIT  the tree is explicit; else it is balanced
// SAP_LISTS     3 or 7 textures of two points each
// SAP_COMPUTE   a compute shader, which some GPUs run on more of their processors than fragment shaders
#include "math/dialect.h"
#include "tree/forms/uniforms.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
#include "radius/next_texture.h"

uniform sampler2D queries;
uniform usampler2D places; // where the walks stand: the node (0: it has ended), texels of the leaf that it is done with
uniform float limit2;
uniform int rounds; // nodes and texels of points to be looked at in this pass, at most
uniform int room;   // points to be found in this pass, at most; only the first 2 * SAP_LISTS are listed

#ifdef SAP_COMPUTE
#define SAP_OUT(number, name)  layout(rgba32ui, binding = number) writeonly uniform uimage2D name;
#define SAP_PUT(name, texel)   imageStore(name, ivec2(gl_GlobalInvocationID.xy), texel)
#define SAP_HERE               ivec2(gl_GlobalInvocationID.xy)
#else
#define SAP_OUT(number, name)  layout(location = number) out uvec4 name;
#define SAP_PUT(name, texel)   name = texel
#define SAP_HERE               ivec2(gl_FragCoord.xy)
#endif
SAP_OUT(0, out_place) // where the walk stands, how many points it has found in this pass
SAP_OUT(1, out_list0) // id, bits of the squared distance, id, bits
SAP_OUT(2, out_list1)
SAP_OUT(3, out_list2)
#if SAP_LISTS == 7
SAP_OUT(4, out_list3)
SAP_OUT(5, out_list4)
SAP_OUT(6, out_list5)
SAP_OUT(7, out_list6)
#endif

void main() {
    ivec2 here = SAP_HERE;
#ifdef SAP_COMPUTE
    if (any(greaterThanEqual(here, imageSize(out_place)))) return;
#endif
    uvec2 hits[2 * SAP_LISTS];
    for (int i = 0; i < 2 * SAP_LISTS; ++i) hits[i] = uvec2(0u);
    sap_tree_begin();
    sap_point query = sap_point_of_texel(texelFetch(queries, here, 0));
    uvec4 place = texelFetch(places, here, 0);
    uint node = sap_point_finite(query) ? place.x : 0u;
    int quad = int(place.y);
    int found = 0;
    for (int round = 0; round < rounds && node != 0u && found <= room - 4; ++round) {
        if (quad == 0 && sap_node_bound2(node, query) > limit2) {
            node = sap_next_node(node);
        } else if (!sap_inner_at(node).is_leaf) {
            node = sap_inner_at(node).lower;
        } else {
            sap_leaf leaf = sap_leaf_at(node);
            if (quad < leaf.quads) {
                vec4 distance2 = sap_quad_distance2(leaf, quad, query);
                if (any(lessThanEqual(distance2, vec4(limit2)))) {
                    uvec4 ids = sap_quad_ids(leaf, quad);
                    for (int i = 0; i < 4; ++i)
                        if (distance2[i] <= limit2) {
                            if (found < 2 * SAP_LISTS) hits[found] = uvec2(ids[i], sap_bits_of_float(distance2[i]));
                            found += 1;
                        }
                }
            }
            quad += 1;
            if (quad >= leaf.quads) {
                node = sap_next_node(node);
                quad = 0;
            }
        }
    }
    SAP_PUT(out_place, uvec4(node, uint(quad), uint(found), 0u));
    SAP_PUT(out_list0, uvec4(hits[0], hits[1]));
    SAP_PUT(out_list1, uvec4(hits[2], hits[3]));
    SAP_PUT(out_list2, uvec4(hits[4], hits[5]));
#if SAP_LISTS == 7
    SAP_PUT(out_list3, uvec4(hits[6], hits[7]));
    SAP_PUT(out_list4, uvec4(hits[8], hits[9]));
    SAP_PUT(out_list5, uvec4(hits[10], hits[11]));
    SAP_PUT(out_list6, uvec4(hits[12], hits[13]));
#endif
}
