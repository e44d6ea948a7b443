// One point a call: the walk of ray/closest.h with the triangles of a leaf side by side. Only distances are computed for
// all of them; where the nearest point lies on its triangle is asked of the shared text, once.
#include "ray/query.h"

#if SAP_REAL_BITS == 32
#include "ray/walk_cpu.h"

#include "ray/corners_simd.h"
#include "ray/distance_simd.h"
#if !defined(__EMSCRIPTEN__)
#include "ray/closest_packet_simd.h"
#endif

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
        const sides triangles = sides_of(a, b, c);
        const vreal distance2 = sides_distance2(query, &triangles);
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

#if defined(__EMSCRIPTEN__) // where code is downloaded, each point walks alone
#define PACKET NULL
#else
#define PACKET closest_packet
static void closest_packet(const sap_mesh_tree* tree, const float* points, const float* limits, int32_t count,
                           sap_closest* closest) {
    many_points p;
    take_points(tree, points, limits, count, &p);
    if (p.lanes && tree->shape.triangles) walk_points(tree, &p);
    for (int32_t i = 0; i < count; i++) {
        const float* at = points + (ptrdiff_t)3 * i;
        closest[i] = (sap_closest){{at[0], at[1], at[2]}, INFINITY, 0, 0, -1};
        if (p.places.number[i] < 0) continue;
        const sap_triangle triangle = sap_mesh_triangle(tree, (uint32_t)p.places.number[i]);
        const sap_near_point near = sap_triangle_nearest(triangle, sap_vector_of(at), INFINITY);
        closest[i] =
            (sap_closest){{near.point.x, near.point.y, near.point.z}, near.distance2, near.u, near.v, p.ids.number[i]};
    }
}
#endif

const sap_closest_kernels SAP_KERNEL_OF_FLOAT(closest_kernels) = {closest_lone, PACKET, LANES};

#endif
