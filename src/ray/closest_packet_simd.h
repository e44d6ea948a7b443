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

// Triangles of a leaf that are compared with single places: each place has few near it, and which ones differs.
enum { PAIRS_MOST = LANES * LANES + LANES }; // fewer than LANES wait when those of a leaf's vector come
typedef struct near_pairs {
    int32_t place[PAIRS_MOST + LANES], lane[PAIRS_MOST + LANES]; // whole registers are written
    int count;
} __attribute__((aligned(64))) near_pairs;

// Up to LANES triangles of a leaf, side by side: the boxes around them.
typedef struct leaf_boxes {
    real lower[3][LANES], upper[3][LANES];
} __attribute__((aligned(64))) leaf_boxes;

// What distances to them are made of.
enum { ROWS = sizeof(sides) / sizeof(vreal) };
typedef struct leaf_sides {
    real rows[ROWS][LANES] __attribute__((aligned(64)));
} leaf_sides;

INLINE vreal outside_some(const many_points* p, int axis, vreal lower, vreal upper) {
    const vreal margin = v_set(p->widest);
    const vreal below = v_sub(v_sub(lower, v_set(p->upper[axis])), margin);
    const vreal above = v_sub(v_sub(v_set(p->lower[axis]), upper), margin);
    return v_max(v_max(below, above), v_set(0));
}

// Makes the boxes of n triangles, and finds those that may be near enough to the box around all places.
INLINE uint32_t triangles_near(const vreal* corner, int n, const many_points* p, leaf_boxes* boxes) {
    vreal outside[3];
#pragma GCC unroll 3
    for (int a = 0; a < 3; a++) {
        const vreal lower = v_min(v_min(corner[a], corner[3 + a]), corner[6 + a]);
        const vreal upper = v_max(v_max(corner[a], corner[3 + a]), corner[6 + a]);
        outside[a] = outside_some(p, a, lower, upper);
        v_store(boxes->lower[a], lower);
        v_store(boxes->upper[a], upper);
    }
    const space all = {outside[0], outside[1], outside[2]};
    const vreal bound = v_mul(space_dot(all, all), v_set(0.99999905f));
    return lanes_below(n) & v_less_equal(bound, v_set(reduce_max(v_load(p->distance2))));
}

INLINE sides sides_of_corners(const vreal* corner) {
    return sides_of((space){corner[0], corner[1], corner[2]}, (space){corner[3], corner[4], corner[5]},
                    (space){corner[6], corner[7], corner[8]});
}

// The lanes that may find something nearer in the box of triangle number i; as sap_triangle_distance2.
INLINE uint32_t lanes_near_box(const leaf_boxes* boxes, int i, const many_points* p) {
    const vreal margin = v_load(p->margin), zero = v_set(0);
    vreal outside[3];
#pragma GCC unroll 3
    for (int a = 0; a < 3; a++) {
        const vreal at = v_load(p->at[a]);
        const vreal below = v_sub(v_sub(v_set(boxes->lower[a][i]), at), margin);
        const vreal above = v_sub(v_sub(at, v_set(boxes->upper[a][i])), margin);
        outside[a] = v_max(v_max(below, above), zero);
    }
    const space all = {outside[0], outside[1], outside[2]};
    return v_less_equal(v_mul(space_dot(all, all), v_set(0.99999905f)), v_load(p->distance2));
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

// The numbers of a table that stand at the places.
INLINE vreal taken(const real* table, vid places) {
#if SAP_SIMD == 3
    return _mm512_permutexvar_ps(places, v_load(table));
#elif SAP_SIMD == 2
    return _mm256_permutevar8x32_ps(v_load(table), places);
#else
    int32_t place[LANES];
    real numbers[LANES];
    id_store(place, places);
    for (int i = 0; i < LANES; i++) numbers[i] = table[place[i]];
    return v_load(numbers);
#endif
}

// Compares `n` of the pairs, at most LANES.
static __attribute__((noinline)) void nearest_of_pairs(const mesh_view* mesh, const near_pairs* pairs, int first, int n,
                                                       many_points* p) {
    const int32_t *places = pairs->place + first, *lanes = pairs->lane + first;
    const lane_order axes = order_lanes(0, 1, 2);
    const vid from = id_load_part(lanes, n);
    const space at = {taken(p->at[0], from), taken(p->at[1], from), taken(p->at[2], from)};
    real distance2[LANES] __attribute__((aligned(64)));
    vreal corner[9];
    load_corners(corner, mesh->corners, places, n, &axes);
    const sides triangles = sides_of_corners(corner);
    const vreal distances2 = sides_distance2(at, &triangles);
    v_store(distance2, distances2);
    for (uint32_t some = lanes_below(n) & v_less_equal(distances2, taken(p->distance2, from)); some; some &= some - 1) {
        const int i = __builtin_ctz(some);
        const int32_t lane = lanes[i], id = mesh->ids[places[i]];
        const bool is_less = distance2[i] < p->distance2[lane];
        if (!is_less && !(distance2[i] == p->distance2[lane] && id < p->ids.number[lane])) continue;
        p->distance2[lane] = distance2[i];
        p->ids.number[lane] = id;
        p->places.number[lane] = places[i];
    }
}

// Compares pairs until fewer than `fewer` wait.
INLINE void compare_pairs(const mesh_view* mesh, near_pairs* pairs, int fewer, many_points* p) {
    while (pairs->count >= fewer) {
        const int n = pairs->count < LANES ? pairs->count : LANES;
        pairs->count -= n;
        nearest_of_pairs(mesh, pairs, pairs->count, n, p);
    }
}

// Those of the `near` triangles whose boxes may be near enough to the place in a lane; as sap_triangle_distance2.
INLINE uint32_t boxes_near_lane(const leaf_boxes* boxes, uint32_t near, int lane, const many_points* p) {
    const vreal margin = v_set(p->margin[lane]), zero = v_set(0);
    vreal outside[3];
#pragma GCC unroll 3
    for (int a = 0; a < 3; a++) {
        const vreal at = v_set(p->at[a][lane]);
        const vreal below = v_sub(v_sub(v_load(boxes->lower[a]), at), margin);
        const vreal above = v_sub(v_sub(at, v_load(boxes->upper[a])), margin);
        outside[a] = v_max(v_max(below, above), zero);
    }
    const space all = {outside[0], outside[1], outside[2]};
    return near & v_less_equal(v_mul(space_dot(all, all), v_set(0.99999905f)), v_set(p->distance2[lane]));
}

// Few places: each looks at the boxes side by side.
INLINE void pairs_of_lanes(const mesh_view* mesh, vid places, const leaf_boxes* boxes, uint32_t near, uint32_t lanes,
                           near_pairs* pairs, many_points* p) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const uint32_t some = boxes_near_lane(boxes, near, lane, p);
        SAP_ASSERT(pairs->count + count_bits(some) <= PAIRS_MOST);
        id_store_kept(pairs->place + pairs->count, some, places);
        id_store(pairs->lane + pairs->count, id_set(lane));
        pairs->count += count_bits(some);
    }
    compare_pairs(mesh, pairs, LANES, p);
}

// Many places: each box is looked at by them side by side. Where most are near, they also compare side by side.
INLINE void pairs_of_triangles(const mesh_view* mesh, const int32_t* places, const leaf_boxes* boxes,
                               const vreal* corner, uint32_t near, uint32_t lanes, near_pairs* pairs, many_points* p) {
    int32_t counted[LANES] __attribute__((aligned(64)));
    for (int i = 0; i < LANES; i++) counted[i] = i;
    const vid numbers = id_load(counted);
    leaf_sides ready;
    bool is_ready = false;
    for (; near; near &= near - 1) {
        const int i = __builtin_ctz(near);
        uint32_t some = lanes & lanes_near_box(boxes, i, p);
        if (2 * count_bits(some) <= LANES) {
            SAP_ASSERT(pairs->count + count_bits(some) <= PAIRS_MOST);
            id_store_kept(pairs->lane + pairs->count, some, numbers);
            id_store(pairs->place + pairs->count, id_set(places[i]));
            pairs->count += count_bits(some);
            compare_pairs(mesh, pairs, LANES, p);
            continue;
        }
        if (!is_ready) {
            const sides all = sides_of_corners(corner);
            memcpy(&ready, &all, sizeof all);
            is_ready = true;
        }
        nearest_of_triangle(mesh, &ready, i, places[i], p);
    }
}

// `lanes`: the places that may find something nearer in the leaf's cell.
INLINE void nearest_in_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, uint32_t lanes, near_pairs* pairs,
                            many_points* p) {
    const lane_order axes = order_lanes(0, 1, 2);
    const int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    for (int first = 0; first < count; first += LANES, places += LANES) {
        const int n = count - first < LANES ? count - first : LANES;
        vreal corner[9];
        leaf_boxes boxes;
        load_corners(corner, mesh->corners, places, n, &axes);
        const uint32_t near = triangles_near(corner, n, p, &boxes);
        if (count_bits(lanes) <= count_bits(near))
            pairs_of_lanes(mesh, id_load_part(places, n), &boxes, near, lanes, pairs, p);
        else
            pairs_of_triangles(mesh, places, &boxes, corner, near, lanes, pairs, p);
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
    near_pairs pairs;
    bool is_first = true;
    int top = 0;
    pairs.count = 0;
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
        if (is_near && node->link >> 2) {
            nearest_in_leaf(&mesh, node, lanes_near(p, outside), &pairs, p);
            // The first leaf's answers limit the search most.
            if (is_first) compare_pairs(&mesh, &pairs, 1, p);
            is_first = false;
        }
        do {
            if (!top) {
                compare_pairs(&mesh, &pairs, 1, p);
                return;
            }
            top--;
        } while (!lanes_near(p, stack[top].outside));
        node = stack[top].node;
        outside = stack[top].outside;
    }
}

#endif
