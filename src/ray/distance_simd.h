// Distances of points to triangles, or lower bounds of them, in lanes: of one point to several triangles, or of several points
// to one.
#ifndef SAPWOOD_RAY_DISTANCE_SIMD_H
#define SAPWOOD_RAY_DISTANCE_SIMD_H

#include "ray/packet_simd.h"

#if SAP_SIMD == 2
INLINE vreal where_less(vreal a, vreal b, vreal yes, vreal no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
#elif SAP_SIMD == 1
INLINE vreal where_less(vreal a, vreal b, vreal yes, vreal no) { return v_choose(a < b, yes, no); }
#else
INLINE vreal where_less(vreal a, vreal b, vreal yes, vreal no) { return v_select(v_less(a, b), yes, no); }
#endif

// Lanes of vectors in space.
typedef struct space {
    vreal x, y, z;
} space;

INLINE space space_between(space a, space b) { return (space){v_sub(a.x, b.x), v_sub(a.y, b.y), v_sub(a.z, b.z)}; }
INLINE vreal space_dot(space a, space b) { return v_add(v_add(v_mul(a.x, b.x), v_mul(a.y, b.y)), v_mul(a.z, b.z)); }
INLINE space space_along(space from, space along, vreal part) {
    return (space){v_add(from.x, v_mul(along.x, part)), v_add(from.y, v_mul(along.y, part)),
                   v_add(from.z, v_mul(along.z, part))};
}
INLINE vreal space_distance2(space query, space point) {
    const space d = space_between(query, point);
    return space_dot(d, d);
}

// The squared distance of the edge from `from` to `to`. length2: of the edge; dot: of it and the way to the query.
INLINE vreal edge_distance2(space query, space from, space to, space edge, vreal length2, vreal dot) {
    const vreal zero = v_set(0), one = v_set(1);
    vreal part = where_less(zero, length2, v_divide(dot, length2), zero);
    part = v_min(v_max(part, zero), one);
    space point = space_along(from, edge, part);
    point.x = where_less(part, one, point.x, to.x);
    point.y = where_less(part, one, point.y, to.y);
    point.z = where_less(part, one, point.z, to.z);
    return space_distance2(query, point);
}

// What the distances of a triangle's points are made of, whichever point asks. Registers only.
typedef struct sides {
    space a, b, c, ab, ac, bc;
    vreal bb, mixed, cc, area, last2; // last2: the squared length of bc
} sides;

INLINE sides sides_of(space a, space b, space c) {
    sides s = {.a = a, .b = b, .c = c, .ab = space_between(b, a), .ac = space_between(c, a), .bc = space_between(c, b)};
    s.bb = space_dot(s.ab, s.ab);
    s.mixed = space_dot(s.ab, s.ac);
    s.cc = space_dot(s.ac, s.ac);
    s.area = v_sub(v_mul(s.bb, s.cc), v_mul(s.mixed, s.mixed));
    s.last2 = space_dot(s.bc, s.bc);
    return s;
}

// The distance2 of sap_triangle_nearest, by the same operations; infinite where coordinates overflow.
INLINE vreal sides_distance2(space query, const sides* s) {
    const vreal zero = v_set(0), one = v_set(1), infinite = v_set(INFINITY);
    const space from_a = space_between(query, s->a), from_b = space_between(query, s->b);
    const vreal bq = space_dot(s->ab, from_a), cq = space_dot(s->ac, from_a);
    const vreal u = v_divide(v_sub(v_mul(s->cc, bq), v_mul(s->mixed, cq)), s->area);
    const vreal v = v_divide(v_sub(v_mul(s->bb, cq), v_mul(s->mixed, bq)), s->area);
    const uint32_t above =
        v_less(zero, s->area) & v_less_equal(zero, u) & v_less_equal(zero, v) & v_less_equal(v_add(u, v), one);
    const vreal face = space_distance2(query, space_along(space_along(s->a, s->ab, u), s->ac, v));
    // Of a number and no number, v_min takes its second operand.
    vreal best = v_min(v_select(above, face, infinite), infinite);
    best = v_min(edge_distance2(query, s->a, s->b, s->ab, s->bb, bq), best);
    best = v_min(edge_distance2(query, s->a, s->c, s->ac, s->cc, cq), best);
    return v_min(edge_distance2(query, s->b, s->c, s->bc, s->last2, space_dot(from_b, s->bc)), best);
}

INLINE vreal outside_of(vreal query, vreal a, vreal b, vreal c, vreal margin) {
    const vreal lower = v_min(v_min(a, b), c), upper = v_max(v_max(a, b), c);
    const vreal below = v_sub(v_sub(lower, query), margin), above = v_sub(v_sub(query, upper), margin);
    return v_max(v_max(below, above), v_set(0));
}

// Lower bounds of the distances, as sap_triangle_distance2.
INLINE vreal boxes_distance2(space query, space a, space b, space c, vreal margin) {
    const space outside = {outside_of(query.x, a.x, b.x, c.x, margin), outside_of(query.y, a.y, b.y, c.y, margin),
                           outside_of(query.z, a.z, b.z, c.z, margin)};
    return v_mul(space_dot(outside, outside), v_set(0.99999905f));
}

#endif
