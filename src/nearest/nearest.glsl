// Nearest neighbours and counts within a radius, one query for each texel: the walk of nearest/walk.h, which may stop
// after some leaves and go on in the next pass.
//
// SAP_AXES       2 or 3, the tree's dimensions
// SAP_CAPACITY   1, 2, 4 or 8 neighbours, or 0: points within the radius are counted
// SAP_EXPLICIT   the tree is explicit; else it is balanced
// SAP_STACK      the walks keep a stack of so many nodes, on a balanced tree; undefined: they keep a bit a level
// SAP_GRID       queries are a column's point plus a row's; else each is a texel of a texture
// SAP_RESUMED    the walks go on from where the pass before left them
// SAP_HINTS      0: every walk begins at the root; 1: this pass finds, for a block of the grid, where its pixels may begin;
//                2: pixels begin there; 3: both, for a smaller block by the hint of the larger one that it is in
// SAP_TILES      1: this pass finds the nearest points of tiles of pixels, 2: pixels take theirs from that (nearest/grid/tiles.h)
// SAP_COMPUTE    a compute shader, which some GPUs run on more of their processors than fragment shaders
// SAP_LEFT       this pass finds, for a block of the grid, whether a walk in it has not ended: x, not 0
#include "math/dialect.h"
#include "tree/forms/uniforms.h"
#include "math/distance.h"
#include "tree/forms/texture.h"
#if SAP_CAPACITY > 0
#include "nearest/candidates/candidates.h"
#else
#include "nearest/candidates/candidates_count.h"
#endif
#include "nearest/walk_result.h"
#include "nearest/grid/scan_texture.h"
#include "nearest/walk.h"
#ifdef SAP_EXPLICIT
#include "nearest/grid/walk_explicit.h"
#define WALK_FROM   sap_explicit_from
#define WALK_RESUME sap_explicit_resume
#elif defined(SAP_STACK)
#include "nearest/grid/walk_stack.h"
#define WALK_FROM   sap_nearest_from
#define WALK_RESUME sap_stack_resume
#else
#define WALK_FROM   sap_nearest_from
#define WALK_RESUME sap_nearest_resume
#endif

uniform int wanted;  // neighbours
uniform float limit2;
uniform int leaves;  // to be looked at in this pass, at most
#ifdef SAP_GRID
uniform sampler2D columns; // a texel a column
uniform sampler2D rows;    // a texel a row
uniform ivec2 size;        // columns and rows
#else
uniform sampler2D queries;
#endif
#ifdef SAP_LEFT
uniform int block;    // pixels on a side of a block of the grid
#endif
#if SAP_HINTS > 0
// The logarithms of the sides of large and small blocks of pixels that share a hint: as nearest/grid/walk_gl.c has them.
const int LARGE = 4;
const int SMALL = 2;
uniform float block_radius; // no pixel of the block is farther from its middle
uniform usampler2D hints;
// Of the ways from a pixel to the next in its row and in its column: the squares of their lengths, twice their inner product,
// and what rounding can add.
uniform vec4 ways;
#endif
#ifdef SAP_RESUMED
uniform usampler2D place;
#if SAP_CAPACITY > 1
uniform usampler2D list0;
#endif
#if SAP_CAPACITY > 2
uniform usampler2D list1;
#endif
#if SAP_CAPACITY > 4
uniform usampler2D list2;
uniform usampler2D list3;
#endif
#endif

// The first texture has the node (0: the walk has ended), `pending`, and for one neighbour its id and squared distance,
// or the count. Lists have two neighbours in each texel. Fragment shaders write outputs, compute shaders images.
#ifdef SAP_COMPUTE
#define SAP_OUT(number, name)  layout(rgba32ui, binding = number) writeonly uniform uimage2D name;
#define SAP_PUT(name, texel)   imageStore(name, ivec2(gl_GlobalInvocationID.xy), texel)
#define SAP_HERE               ivec2(gl_GlobalInvocationID.xy)
#else
#define SAP_OUT(number, name)  layout(location = number) out uvec4 name;
#define SAP_PUT(name, texel)   name = texel
#define SAP_HERE               ivec2(gl_FragCoord.xy)
#endif
SAP_OUT(0, out_place)
#if SAP_CAPACITY > 1 && (SAP_HINTS & 1) == 0
SAP_OUT(1, out_list0)
#endif
#if SAP_CAPACITY > 2 && (SAP_HINTS & 1) == 0
SAP_OUT(2, out_list1)
#endif
#if SAP_CAPACITY > 4 && (SAP_HINTS & 1) == 0
SAP_OUT(3, out_list2)
SAP_OUT(4, out_list3)
#endif

sap_point query_at(ivec2 at) {
#ifdef SAP_GRID
    vec4 asked = texelFetch(columns, ivec2(at.x, 0), 0) + texelFetch(rows, ivec2(at.y, 0), 0);
#else
    vec4 asked = texelFetch(queries, at, 0);
#endif
    return sap_point_of_texel(asked);
}

uvec4 two(sap_candidates list, int i) {
#if SAP_CAPACITY > 1
    return uvec4(uint(list.id[i]), sap_bits_of_float(list.distance2[i]), uint(list.id[i + 1]),
                 sap_bits_of_float(list.distance2[i + 1]));
#else
    return uvec4(0u);
#endif
}

void put(sap_nearest_place walk) {
    uvec4 texel = uvec4(walk.going ? walk.node : 0u, walk.pending, 0u, uint(walk.result.leaves));
#if SAP_CAPACITY == 0
    texel.z = uint(walk.result.list.count);
#elif SAP_CAPACITY == 1
    texel.z = uint(walk.result.list.id[0]);
    texel.w = sap_bits_of_float(walk.result.list.distance2[0]);
#elif (SAP_HINTS & 1) == 0
    SAP_PUT(out_list0, two(walk.result.list, 0));
#if SAP_CAPACITY > 2
    SAP_PUT(out_list1, two(walk.result.list, 2));
#endif
#if SAP_CAPACITY > 4
    SAP_PUT(out_list2, two(walk.result.list, 4));
    SAP_PUT(out_list3, two(walk.result.list, 6));
#endif
#endif
    SAP_PUT(out_place, texel);
}

#ifdef SAP_RESUMED
#if SAP_CAPACITY > 1
#define TAKE(which, i)                                                                                                 \
    at = texelFetch(which, SAP_HERE, 0);                                                                 \
    walk.result.list.id[i] = int(at.x);                                                                                \
    walk.result.list.distance2[i] = sap_float_of_bits(at.y);                                                           \
    walk.result.list.id[i + 1] = int(at.z);                                                                            \
    walk.result.list.distance2[i + 1] = sap_float_of_bits(at.w);
#endif

sap_nearest_place taken(uvec4 at) {
    sap_nearest_place walk = WALK_FROM(at.x, sap_candidates_none(wanted, limit2));
    walk.pending = at.y;
    walk.going = at.x != 0u;
#if SAP_CAPACITY == 0
    walk.result.list.count = int(at.z);
#elif SAP_CAPACITY == 1
    walk.result.list.id[0] = int(at.z);
    walk.result.list.distance2[0] = sap_float_of_bits(at.w);
#else
    TAKE(list0, 0)
#if SAP_CAPACITY > 2
    TAKE(list1, 2)
#endif
#if SAP_CAPACITY > 4
    TAKE(list2, 4)
    TAKE(list3, 6)
#endif
#endif
    return walk;
}
#endif

#if SAP_HINTS > 0
ivec2 middle_of(ivec2 block, int side) { return min((block << side) + (1 << (side - 1)), size - 1); }
#endif

#if SAP_HINTS > 1
// How far from a pixel its k-th neighbour is at most, by the hint of its block.
float hinted_far(uvec4 hint, ivec2 pixel, int side) {
    vec2 way = vec2(pixel - middle_of(pixel >> side, side));
    return sap_float_of_bits(hint.y) + sqrt(abs(dot(vec3(way * way, way.x * way.y), ways.xyz))) + ways.w;
}

// A pixel's walk by the hint of its block.
sap_nearest_place hinted(ivec2 pixel, int side) {
    uvec4 hint = texelFetch(hints, pixel >> side, 0);
    float far = hinted_far(hint, pixel, side);
    float far2 = far < 1e18 ? min(far * far * 1.0001 + 1e-30, limit2) : limit2; // no infinity, which GLSL need not have
    return WALK_FROM(hint.x, sap_candidates_none(wanted, far2));
}
#endif

#ifdef SAP_TILES
#include "nearest/grid/tiles.h"
#endif

#if (SAP_HINTS & 1) == 1
// No pixel of the block is farther from its k-th neighbour than the middle is from its own, plus the way to the middle;
// so all neighbours of the block's pixels lie in a ball about the middle. Their walks begin at the deepest node whose
// cell holds that ball, and look no farther than that sum.
void hint(sap_nearest_place walk, sap_point middle) {
    uint node = walk.node;
#if SAP_CAPACITY > 0
    float found2 = sap_candidates_limit2(WALK_RESUME(walk, middle, -1, leaves).result.list);
#else
    float found2 = limit2;
#endif
    // Square roots are not exact: a little more does no harm. Squares of less than the last addend may be 0.
    float found = sqrt(found2);
    float ball = (found + 2.0 * block_radius) * 1.00002 + 1e-18;
    sap_inner inner = sap_inner_at(node);
    bool inside = found2 < 1e37;
    while (inside && !inner.is_leaf) {
        float aside = sap_point_on(middle, inner.axis) - inner.split;
        inside = abs(aside) > ball;
        if (inside) {
            node = aside <= 0.0 ? inner.lower : inner.upper;
            inner = sap_inner_at(node);
        }
    }
    SAP_PUT(out_place, uvec4(node, sap_bits_of_float(found), 0u, 0u));
}
#endif

void main() {
    ivec2 here = SAP_HERE;
    sap_tree_begin();
#ifdef SAP_COMPUTE
    if (any(greaterThanEqual(here, imageSize(out_place)))) return;
#endif
#ifdef SAP_LEFT
    ivec2 end = min((here + 1) * block, textureSize(place, 0));
    uint left = 0u;
    for (int y = here.y * block; y < end.y; ++y)
        for (int x = here.x * block; x < end.x; ++x) left |= texelFetch(place, ivec2(x, y), 0).x;
    SAP_PUT(out_place, uvec4(left));
#else
#ifdef SAP_TILES
    tile(here);
#elif SAP_HINTS == 1
    hint(WALK_FROM(SAP_ROOT, sap_candidates_none(wanted, limit2)), query_at(middle_of(here, LARGE)));
#elif SAP_HINTS == 3
    ivec2 middle = middle_of(here, SMALL);
    hint(hinted(middle, LARGE), query_at(middle));
#else
    sap_point query = query_at(here);
#ifdef SAP_RESUMED
    uvec4 at = texelFetch(place, here, 0);
    sap_nearest_place walk = taken(at);
#else
#if SAP_HINTS == 2
    sap_nearest_place walk = hinted(here, SMALL);
#else
    sap_nearest_place walk = WALK_FROM(SAP_ROOT, sap_candidates_none(wanted, limit2));
#endif
    walk.going = sap_point_finite(query);
#endif
    put(WALK_RESUME(walk, query, -1, leaves));
#endif
#endif
}
