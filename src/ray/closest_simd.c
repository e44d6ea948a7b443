// One point a call: the walk of ray/closest.h with the triangles of a leaf side by side. Only distances are computed for
// all of them; where the nearest point lies on its triangle is asked of the shared text, once.
#include "ray/query.h"

#if SAP_REAL_BITS == 32
#include "ray/walk_cpu.h"

#include "ray/corners_simd.h"

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

// The distance2 of sap_triangle_nearest, by the same operations; infinite where coordinates overflow.
INLINE vreal triangles_distance2(space query, space a, space b, space c) {
    const vreal zero = v_set(0), one = v_set(1), infinite = v_set(INFINITY);
    const space ab = space_between(b, a), ac = space_between(c, a), bc = space_between(c, b);
    const space from_a = space_between(query, a), from_b = space_between(query, b);
    const vreal bb = space_dot(ab, ab), mixed = space_dot(ab, ac), cc = space_dot(ac, ac);
    const vreal bq = space_dot(ab, from_a), cq = space_dot(ac, from_a);
    const vreal area = v_sub(v_mul(bb, cc), v_mul(mixed, mixed));
    const vreal u = v_divide(v_sub(v_mul(cc, bq), v_mul(mixed, cq)), area);
    const vreal v = v_divide(v_sub(v_mul(bb, cq), v_mul(mixed, bq)), area);
    const uint32_t above =
        v_less(zero, area) & v_less_equal(zero, u) & v_less_equal(zero, v) & v_less_equal(v_add(u, v), one);
    const vreal face = space_distance2(query, space_along(space_along(a, ab, u), ac, v));
    // Of a number and no number, v_min takes its second operand.
    vreal best = v_min(v_select(above, face, infinite), infinite);
    best = v_min(edge_distance2(query, a, b, ab, bb, bq), best);
    best = v_min(edge_distance2(query, a, c, ac, cc, cq), best);
    return v_min(edge_distance2(query, b, c, bc, space_dot(bc, bc), space_dot(from_b, bc)), best);
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

typedef struct lone_point {
    sap_vector at;
    real margin;
    real distance2; // the best so far
    int32_t id;     // of the triangle it belongs to; above all others: there is none
    int32_t place;  // of the triangle, or -1
} lone_point;

INLINE void nearest_of_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, lone_point* p) {
    const int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    const lane_order axes = order_lanes(0, 1, 2);
    const space query = {v_set(p->at.x), v_set(p->at.y), v_set(p->at.z)};
    for (int first = 0; first < count; first += LANES, places += LANES) {
        const int n = count - first < LANES ? count - first : LANES;
        vreal corner[9];
        load_corners(corner, mesh->corners, places, n, &axes);
        const space a = {corner[0], corner[1], corner[2]}, b = {corner[3], corner[4], corner[5]},
                    c = {corner[6], corner[7], corner[8]};
        const vreal bound = boxes_distance2(query, a, b, c, v_set(p->margin));
        uint32_t close = lanes_below(n) & v_less_equal(bound, v_set(p->distance2));
        if (!close) continue;
        const vreal distance2 = triangles_distance2(query, a, b, c);
        close &= v_less_equal(distance2, v_set(p->distance2));
        if (!close) continue;
        const real nearest = reduce_min(v_select(close, distance2, v_set(INFINITY)));
        if (nearest < p->distance2) {
            p->distance2 = nearest;
            p->id = INT32_MAX;
        }
        for (uint32_t equal = close & v_equal(distance2, v_set(nearest)); equal; equal &= equal - 1) {
            const int32_t place = places[__builtin_ctz(equal)];
            if (mesh->ids[place] >= p->id) continue;
            p->id = mesh->ids[place];
            p->place = place;
        }
    }
}

// A distance along each axis; the last lane is 0.
typedef real gaps __attribute__((vector_size(16)));
typedef int32_t gap_bits __attribute__((vector_size(16)));

// No lane is NaN.
INLINE gaps larger_gaps(gaps a, gaps b) {
#if defined(__SSE__)
    return (gaps)_mm_max_ps((__m128)a, (__m128)b);
#else
    const gap_bits above = a > b;
    return (gaps)((above & (gap_bits)a) | (~above & (gap_bits)b));
#endif
}

// `outside` with another gap along an axis, if that is larger.
INLINE gaps with_gap(gaps outside, uint32_t axis, real gap) {
    static const gap_bits lane[3] = {{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, -1, 0}};
    const gap_bits bits = (gap_bits)(gaps){gap, gap, gap, gap} & lane[axis];
    return larger_gaps((gaps)bits, outside); // those of `outside` are not negative
}

// sap_cell_distance2
INLINE real gaps_distance2(gaps g) {
    const gaps squares = g * g;
    return (squares[0] + squares[1] + squares[2]) * 0.99999905f;
}

// A node that waits, and how far its cell is, along each axis and in all.
typedef struct waiting_cell {
    gaps outside;
    const sap_mesh_node* node;
    real distance2;
} waiting_cell;

INLINE void walk_point(const sap_mesh_tree* tree, lone_point* p) {
    const mesh_view mesh = view_mesh(tree);
    waiting_cell stack[SAP_MESH_DEPTH_MAX];
    const real at[3] = {p->at.x, p->at.y, p->at.z};
    gaps outside = {sap_outside(at[0], mesh.lower[0], mesh.upper[0], p->margin),
                    sap_outside(at[1], mesh.lower[1], mesh.upper[1], p->margin),
                    sap_outside(at[2], mesh.lower[2], mesh.upper[2], p->margin), 0};
    int top = 0;
    const sap_mesh_node* node = mesh.nodes;
    for (;;) {
        for (uint32_t axis; (axis = node->link & 3) != SAP_MESH_LEAF;) {
            const sap_mesh_node *left = node + 1, *right = mesh.nodes + (node->link >> 2);
            __builtin_prefetch(right);
            const real aside = at[axis] - plane_of(node);
            const gaps beyond = with_gap(outside, axis, sap_magnitude(aside) - p->margin);
            const real distance2 = gaps_distance2(beyond);
            SAP_ASSERT(top < SAP_MESH_DEPTH_MAX);
            stack[top] = (waiting_cell){beyond, aside < 0 ? right : left, distance2};
            top += distance2 <= p->distance2;
            // A branch, not a choice: the next node is fetched before it is known.
            if (aside < 0)
                node = left;
            else
                node = right;
        }
        if (node->link >> 2) nearest_of_leaf(&mesh, node, p);
        do {
            if (!top) return;
            top--;
        } while (!(stack[top].distance2 <= p->distance2));
        node = stack[top].node;
        outside = stack[top].outside;
    }
}

static bool closest_lone(const sap_mesh_tree* tree, const float* point, float limit2, sap_closest* closest) {
    lone_point p = {.at = sap_vector_of(point), .distance2 = limit2, .id = INT32_MAX, .place = -1};
    if (sap_is_finite(p.at) && tree->shape.triangles) {
        p.margin = sap_margin(sap_mesh_magnitude(tree) + sap_largest_magnitude(p.at));
        walk_point(tree, &p);
    }
    if (p.place < 0) {
        *closest = (sap_closest){{point[0], point[1], point[2]}, INFINITY, 0, 0, -1};
        return false;
    }
    const sap_near_point near = sap_triangle_nearest(sap_mesh_triangle(tree, (uint32_t)p.place), p.at, INFINITY);
    SAP_ASSERT(near.distance2 == p.distance2);
    *closest = (sap_closest){{near.point.x, near.point.y, near.point.z}, near.distance2, near.u, near.v, p.id};
    return true;
}

const sap_closest_kernels SAP_KERNEL_OF_FLOAT(closest_kernels) = {closest_lone};

#endif
