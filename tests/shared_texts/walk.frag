// The shared texts as a shader: every fragment is a query on a balanced tree whose arrays lie in textures. This program
// is compiled, not run. check.sh puts the version and SAP_AXES on top and each text in place of its include.
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
precision highp usampler2D;

#define SAP_DIMS     SAP_AXES
#define SAP_STACK    31
#define SAP_CAPACITY 8
#define SAP_ROOT     1u

#include "math/dialect.h"
#include "math/distance.h"
#include "math/box.h"

uniform usampler2D nodes;  // heap order, leaves included: the split's bits, the axis, smallest id, points below
uniform sampler2D points;  // a texel a slot
uniform isampler2D ids;    // a texel a slot
uniform sampler2D queries; // a texel a fragment
uniform int depth;         // of every leaf
uniform int stride;        // slots of a leaf
uniform int wanted;        // neighbours
uniform float limit2;

struct sap_inner {
    bool is_leaf;
    int axis;
    float split;
    uint lower;
    uint upper;
};

struct sap_leaf {
    bool is_equal;
    int first;
    int count;
};

ivec2 texel(int number, int width) { return ivec2(number % width, number / width); }

uvec4 node_at(uint node) { return texelFetch(nodes, texel(int(node), textureSize(nodes, 0).x), 0); }

sap_inner sap_inner_at(uint node) {
    uvec4 at = node_at(node);
    sap_inner inner;
    inner.is_leaf = node >> depth != 0u;
    inner.axis = int(at.y);
    inner.split = sap_float_of_bits(at.x);
    inner.lower = 2u * node;
    inner.upper = 2u * node + 1u;
    return inner;
}

sap_leaf sap_leaf_at(uint node) {
    sap_leaf leaf;
    leaf.is_equal = false;
    leaf.first = (int(node) - (1 << depth)) * stride;
    leaf.count = int(node_at(node).w);
    return leaf;
}

float sap_leaf_coordinate(sap_leaf leaf, int slot, int axis) {
    return texelFetch(points, texel(leaf.first + slot, textureSize(points, 0).x), 0)[axis];
}

int sap_leaf_id(sap_leaf leaf, int slot) {
    return texelFetch(ids, texel(leaf.first + slot, textureSize(ids, 0).x), 0).x;
}

int sap_smallest_id(uint node) { return int(node_at(node).z); }

int sap_count_below(uint node) { return int(node_at(node).w); }

#include "tree/leaf.h"
#include "nearest/bound.h"
#include "nearest/candidates/candidates.h"
#include "nearest/walk_result.h"
#include "nearest/scan.h"
#include "nearest/walk.h"
#include "radius/count.h"
#include "radius/walk.h"

layout(location = 0) out ivec4 found;

void main() {
    vec4 asked = texelFetch(queries, ivec2(gl_FragCoord.xy), 0);
    sap_point query;
    for (int axis = 0; axis < SAP_AXES; ++axis) query.at[axis] = asked[axis];
    found = ivec4(-1, -1, 0, 0);
    if (sap_point_finite(query)) {
        sap_candidates none = sap_candidates_none(wanted, limit2);
        sap_visits zero;
        zero.count = 0;
        found.x = sap_candidates_limit_id(sap_nearest_stack(query, -1, none).list);
        found.y = sap_candidates_limit_id(sap_nearest_stackless(query, -1, none).list);
        found.z = sap_radius_stack(query, limit2, -1, zero).visits.count;
    }
}
