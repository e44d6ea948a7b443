// The division of a node of many triangles by its plane.
#ifndef SAPWOOD_MESH_LARGE_DIVIDE_SIMD_H
#define SAPWOOD_MESH_LARGE_DIVIDE_SIMD_H

#include "mesh/clip/clip_simd.h"
#include "mesh/vector_simd.h"

// A part's bounds, the upper ones negated, so that widening takes the minimum of all. Lanes 3 and 7 have no meaning.
typedef struct part_bounds {
    eight_vector lanes[EIGHT_VECTORS];
} part_bounds;

INLINE void load_bounds(const sap_mesh_part* part, part_bounds* bounds) {
    static const uint32_t signs[8] = {0, 0, 0, 0, 0x80000000U, 0x80000000U, 0x80000000U, 0x80000000U};
    eight_mask loaded[EIGHT_VECTORS], turned[EIGHT_VECTORS];
    memcpy(loaded, part, sizeof loaded);
    memcpy(turned, signs, sizeof turned);
    for (int k = 0; k < EIGHT_VECTORS; k++) bounds->lanes[k] = (eight_vector)(loaded[k] ^ turned[k]);
}

// Widens bounds by others.
INLINE void widen(part_bounds* bounds, const part_bounds* others) {
    for (int k = 0; k < EIGHT_VECTORS; k++) bounds->lanes[k] = EIGHT_MIN(bounds->lanes[k], others->lanes[k]);
}

// Widens bounds by others if `on` is 1, does nothing if it is 0.
INLINE void widen_if(part_bounds* bounds, const part_bounds* others, int on) {
    const eight_vector none = (eight_vector){0} + INFINITY;
    const eight_mask all = (eight_mask){0} - on;
    for (int k = 0; k < EIGHT_VECTORS; k++)
        bounds->lanes[k] = EIGHT_MIN(bounds->lanes[k], EIGHT_SELECT(all, others->lanes[k], none));
}

INLINE void no_bounds(part_bounds* bounds) {
    for (int k = 0; k < EIGHT_VECTORS; k++) bounds->lanes[k] = (eight_vector){0} + INFINITY;
}

// Fills in both sides except their parts' places and bounds.
static void share_out(const sap_mesh_job* job, const sap_mesh_split* split, int64_t in_left, int64_t in_right,
                      sap_mesh_job* left, sap_mesh_job* right) {
    SAP_ASSERT(in_left <= split->left && in_right <= split->right && in_left + in_right >= job->count);
    left->cell = right->cell = job->cell;
    left->cell.upper[split->axis] = right->cell.lower[split->axis] = split->plane;
    left->depth = right->depth = job->depth + 1;
    left->count = in_left;
    right->count = in_right;
    left->most = sap_hand_down(job->most, split->left, split->right, split->left, in_left);
    right->most = sap_hand_down(job->most, split->left, split->right, split->right, in_right);
}

INLINE void end_side(const part_bounds* tight, sap_mesh_job* side) {
    float bounds[8];
    memcpy(bounds, tight, sizeof bounds);
    for (int k = 0; k < 3; k++) {
        side->tight.lower[k] = bounds[k];
        side->tight.upper[k] = -bounds[4 + k];
    }
}

// The sides of a node while they fill: 0 the right, 1 the left.
typedef struct sides_so_far {
    sap_mesh_part* to[2];
    part_bounds tight[2];
} sides_so_far;

// Copies parts that lie on one side of the plane, up to the first that lies on both, and returns its place. The side is
// unpredictable, so it is chosen without branches.
INLINE int64_t copy_parts(const sap_mesh_part* parts, int64_t from, int64_t count, const sap_mesh_split* split,
                          sides_so_far* sides) {
    const float plane = split->plane;
    const int axis = split->axis, planar_left = split->planar_left;
    part_bounds right = sides->tight[0], left = sides->tight[1], bounds;
    for (; from < count; from++) {
        const sap_mesh_part* part = &parts[from];
        const int below = part->lower[axis] < plane;
        const int above = part->upper[axis] > plane;
        if (below & above) break;
        const int in_left = below | (planar_left & ~above);
        load_bounds(part, &bounds);
        *sides->to[in_left]++ = *part;
        widen_if(&right, &bounds, 1 - in_left);
        widen_if(&left, &bounds, in_left);
    }
    sides->tight[0] = right;
    sides->tight[1] = left;
    return from;
}

static void clip_part(const sap_mesh_rules* rules, const sap_mesh_part* part, const sap_mesh_split* split,
                      sides_so_far* sides) {
    const float* triangle = rules->corners + (int64_t)SAP_TRIANGLE_FLOATS * part->triangle;
    const int reached = rules->fast
                            ? clip_cheaply(triangle, part, split->axis, split->plane, sides->to[1], sides->to[0])
                            : clip_exactly(triangle, part, split->axis, split->plane, sides->to[1], sides->to[0]);
    for (int side = 0; side < 2; side++) {
        part_bounds bounds;
        if (!(reached & (side ? HAS_LEFT : HAS_RIGHT))) continue;
        load_bounds(sides->to[side]++, &bounds);
        widen(&sides->tight[side], &bounds);
    }
}

static void divide(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                   const sap_mesh_split* split, sap_mesh_part* left_parts, sap_mesh_part* right_parts,
                   sap_mesh_job* left, sap_mesh_job* right) {
    sides_so_far sides = {.to = {right_parts, left_parts}};
    SAP_ASSERT(split->axis >= 0 && split->axis < 3 && split->left + split->right <= job->most);
    no_bounds(&sides.tight[0]);
    no_bounds(&sides.tight[1]);
    for (int64_t i = 0; (i = copy_parts(parts, i, job->count, split, &sides)) < job->count; i++)
        clip_part(rules, &parts[i], split, &sides);
    share_out(job, split, sides.to[1] - left_parts, sides.to[0] - right_parts, left, right);
    end_side(&sides.tight[0], right);
    end_side(&sides.tight[1], left);
}

#endif
