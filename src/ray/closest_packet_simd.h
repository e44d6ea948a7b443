// The nearest points of several places that lie near each other: one walk for all, a place in each lane. A node is visited
// if any of them may find something nearer there. The bounds of each lane are those of ray/closest.h.
#ifndef SAPWOOD_RAY_CLOSEST_PACKET_SIMD_H
#define SAPWOOD_RAY_CLOSEST_PACKET_SIMD_H

#include "ray/corners_simd.h"
#include "ray/distance_simd.h"
#include "ray/walk_simd.h"

// Numbers that are chosen as reals are: only their bits are moved.
typedef union lane_numbers {
    int32_t number[LANES];
    real bits[LANES];
} __attribute__((aligned(64))) lane_numbers;

typedef struct many_points {
    real at[3][LANES] __attribute__((aligned(64)));
    real margin[LANES] __attribute__((aligned(64)));
    real distance2[LANES] __attribute__((aligned(64))); // the best so far
    lane_numbers ids;                // of the triangles they belong to; above all others: there is none
    lane_numbers places;             // of the triangles, or -1
    uint32_t lanes;                  // that hold a place of finite numbers
    real lower[3], upper[3], widest; // the box around them, the largest margin
} many_points;

// Lanes without a place find nothing: no distance is below 0.
INLINE void take_points(const sap_mesh_tree* tree, const float* points, const float* limits, int32_t count,
                        many_points* p) {
    p->lanes = 0;
    p->widest = 0;
    for (int i = 0; i < LANES; i++) {
        const bool is_there = i < count && sap_is_finite(sap_vector_of(points + (ptrdiff_t)3 * i));
        for (int a = 0; a < 3; a++) p->at[a][i] = is_there ? points[3 * i + a] : 0;
        p->margin[i] =
            is_there
                ? sap_margin(sap_mesh_magnitude(tree) + sap_largest_magnitude(sap_vector_of(points + (ptrdiff_t)3 * i)))
                : 0;
        p->distance2[i] = is_there ? limits[i] : -1;
        p->ids.number[i] = INT32_MAX;
        p->places.number[i] = -1;
        p->lanes |= (uint32_t)is_there << i;
        if (p->margin[i] > p->widest) p->widest = p->margin[i];
    }
    for (int a = 0; a < 3; a++) {
        const vreal at = v_load(p->at[a]);
        p->lower[a] = reduce_min(v_select(p->lanes, at, v_set(INFINITY)));
        p->upper[a] = reduce_max(v_select(p->lanes, at, v_set(-INFINITY)));
    }
}

INLINE vreal outside_some(const many_points* p, int axis, vreal a, vreal b, vreal c) {
    const vreal lower = v_min(v_min(a, b), c), upper = v_max(v_max(a, b), c), margin = v_set(p->widest);
    const vreal below = v_sub(v_sub(lower, v_set(p->upper[axis])), margin);
    const vreal above = v_sub(v_sub(v_set(p->lower[axis]), upper), margin);
    return v_max(v_max(below, above), v_set(0));
}

// Up to LANES triangles of a leaf, side by side.
enum { ROWS = sizeof(sides) / sizeof(vreal) };
typedef struct leaf_sides {
    real rows[ROWS][LANES] __attribute__((aligned(64)));
} leaf_sides;

// Those of them whose boxes may be near enough to the box around all places.
INLINE uint32_t triangles_near(const mesh_view* mesh, const int32_t* places, int n, const many_points* p,
                               leaf_sides* leaf) {
    const lane_order axes = order_lanes(0, 1, 2);
    vreal corner[9];
    load_corners(corner, mesh->corners, places, n, &axes);
    const space outside = {outside_some(p, 0, corner[0], corner[3], corner[6]),
                           outside_some(p, 1, corner[1], corner[4], corner[7]),
                           outside_some(p, 2, corner[2], corner[5], corner[8])};
    const vreal bound = v_mul(space_dot(outside, outside), v_set(0.99999905f));
    const uint32_t near = lanes_below(n) & v_less_equal(bound, v_set(reduce_max(v_load(p->distance2))));
    if (!near) return 0;
    const sides all = sides_of((space){corner[0], corner[1], corner[2]}, (space){corner[3], corner[4], corner[5]},
                               (space){corner[6], corner[7], corner[8]});
    memcpy(leaf, &all, sizeof all);
    return near;
}

INLINE real bits_in(int32_t number) {
    real bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

// Compares triangle number i of the leaf, the one at a place, with each.
INLINE void nearest_of_triangle(const mesh_view* mesh, const leaf_sides* leaf, int i, int32_t place, many_points* p) {
    const space query = {v_load(p->at[0]), v_load(p->at[1]), v_load(p->at[2])};
    const vreal best = v_load(p->distance2);
    vreal parts[ROWS];
    sides one;
    int row = 0;
#pragma GCC unroll 32
    do parts[row] = v_set(leaf->rows[row][i]);
    while (++row < ROWS);
    memcpy(&one, parts, sizeof one);
    const vreal distance2 = sides_distance2(query, &one);
    const int32_t id = mesh->ids[place];
    // No branch: nobody can foretell it, and the next triangle does not wait for it.
    const uint32_t nearer =
        v_less(distance2, best) | (v_equal(distance2, best) & id_less(id_set(id), id_load(p->ids.number)));
    v_store(p->distance2, v_min(distance2, best));
    v_store(p->ids.bits, v_select(nearer, v_set(bits_in(id)), v_load(p->ids.bits)));
    v_store(p->places.bits, v_select(nearer, v_set(bits_in(place)), v_load(p->places.bits)));
}

INLINE void nearest_in_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, many_points* p) {
    const int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    for (int first = 0; first < count; first += LANES) {
        const int n = count - first < LANES ? count - first : LANES;
        leaf_sides ready;
        for (uint32_t near = triangles_near(mesh, places + first, n, p, &ready); near; near &= near - 1) {
            const int i = __builtin_ctz(near);
            nearest_of_triangle(mesh, &ready, i, places[first + i], p);
        }
    }
}

// A node that waits, and how far its cell is from each place along each axis.
typedef struct waiting_cells {
    space outside;
    const sap_mesh_node* node;
} waiting_cells;

// The lanes that may find something nearer.
INLINE uint32_t lanes_near(const many_points* p, space outside) {
    return v_less_equal(v_mul(space_dot(outside, outside), v_set(0.99999905f)), v_load(p->distance2));
}

// `outside` with other gaps along an axis, where these are larger. Which axis it is nobody can foretell.
INLINE space with_gaps(space outside, uint32_t axis, vreal gap) {
    static const real most[3][3] = {{INFINITY, 0, 0}, {0, INFINITY, 0}, {0, 0, INFINITY}};
    return (space){v_max(v_min(gap, v_set(most[axis][0])), outside.x),
                   v_max(v_min(gap, v_set(most[axis][1])), outside.y),
                   v_max(v_min(gap, v_set(most[axis][2])), outside.z)};
}

INLINE vreal outside_box(const mesh_view* mesh, const many_points* p, int axis) {
    const vreal at = v_load(p->at[axis]), margin = v_load(p->margin);
    const vreal below = v_sub(v_sub(v_set(mesh->lower[axis]), at), margin);
    const vreal above = v_sub(v_sub(at, v_set(mesh->upper[axis])), margin);
    return v_max(v_max(below, above), v_set(0));
}

static void walk_points(const sap_mesh_tree* tree, many_points* p) {
    const mesh_view mesh = view_mesh(tree);
    waiting_cells stack[SAP_MESH_DEPTH_MAX];
    space outside = {outside_box(&mesh, p, 0), outside_box(&mesh, p, 1), outside_box(&mesh, p, 2)};
    const sap_mesh_node* node = mesh.nodes;
    int top = 0;
    for (;;) {
        uint32_t axis;
        bool is_near = true;
        while (is_near && (axis = node->link & 3) != SAP_MESH_LEAF) {
            const sap_mesh_node *left = node + 1, *right = mesh.nodes + (node->link >> 2);
            const vreal aside = v_sub(v_load(p->at[axis]), v_set(plane_of(node))), margin = v_load(p->margin);
            const uint32_t below = v_less(aside, v_set(0));
            // A place on one side has a gap to the cell on the other; to its own it has none, which changes nothing.
            const vreal gap = v_sub(v_abs(aside), margin);
            const space to_left = with_gaps(outside, axis, v_select(below, v_set(0), gap));
            const space to_right = with_gaps(outside, axis, v_select(below, gap, v_set(0)));
            const uint32_t near_left = lanes_near(p, to_left), near_right = lanes_near(p, to_right);
            const bool left_first = 2 * count_bits(below & p->lanes) >= count_bits(p->lanes);
            const uint32_t first = left_first ? near_left : near_right, second = left_first ? near_right : near_left;
            SAP_ASSERT(top < SAP_MESH_DEPTH_MAX);
            if (first && second) {
                stack[top].outside = left_first ? to_right : to_left;
                stack[top++].node = left_first ? right : left;
            }
            is_near = (first | second) != 0;
            const bool go_left = first ? left_first : !left_first;
            outside = go_left ? to_left : to_right;
            node = go_left ? left : right;
        }
        if (is_near && node->link >> 2) nearest_in_leaf(&mesh, node, p);
        do {
            if (!top) return;
            top--;
        } while (!lanes_near(p, stack[top].outside));
        node = stack[top].node;
        outside = stack[top].outside;
    }
}

#endif
