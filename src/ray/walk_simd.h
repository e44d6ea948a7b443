// The walk of ray/walk.h with vectors: of a packet, one ray per lane, or of one ray, which is tested against several
// triangles at once.
#ifndef SAPWOOD_RAY_WALK_SIMD_H
#define SAPWOOD_RAY_WALK_SIMD_H

#include "ray/leaf_simd.h"

typedef struct mesh_view {
    const sap_mesh_node* nodes;
    const int32_t *references, *ids;
    const real* corners;
    const real *lower, *upper;
} mesh_view;

INLINE mesh_view view_mesh(const sap_mesh_tree* t) {
    return (mesh_view){sap_mesh_nodes(t),   sap_mesh_references(t), sap_mesh_ids(t),
                       sap_mesh_corners(t), t->shape.lower,         t->shape.upper};
}

INLINE real plane_of(const sap_mesh_node* node) {
    real plane;
    memcpy(&plane, &node->bits, sizeof plane);
    return plane;
}

// A single reference is stored in the leaf itself.
INLINE const int32_t* places_of(const mesh_view* mesh, const sap_mesh_node* leaf, int count) {
    return count == 1 ? (const int32_t*)&leaf->bits : mesh->references + leaf->bits;
}

// ---- Leaves

// FIND_ANY: lanes with a hit are done.
INLINE void retire_lanes(found* f, uint32_t* lanes, uint32_t found_now) {
    *lanes &= ~found_now;
    for (; found_now; found_now &= found_now - 1) f->t[__builtin_ctz(found_now)] = -INFINITY;
}

// Tests the leaf's triangles against the `active` rays. lanes: those that still search.
INLINE void visit_leaf(const mesh_view* mesh, const sap_mesh_node* leaf, const packet* p, const int* axes,
                       uint32_t active, uint32_t* lanes, found* f, const int mode) {
    int count = (int)(leaf->link >> 2);
    const int32_t* places = places_of(mesh, leaf, count);
    SAP_ASSERT(count > 0 && active != 0);
    // With few rays and many triangles, vectors of triangles are fuller.
    if (p->mixed || count_bits(active) * 2 <= count + 1) {
        for (int first = 0; first < count && active; first += LANES) {
            rows r;
            int n = count - first < LANES ? count - first : LANES;
            load_rows(&r, mesh->corners, places + first, n);
            for (uint32_t todo = active; todo; todo &= todo - 1) {
                int lane = __builtin_ctz(todo);
                if (!ray_against(p, lane, &r, places + first, n, mesh->ids, f, mode) || mode != FIND_ANY) continue;
                retire_lanes(f, lanes, 1u << lane);
                active &= ~(1u << lane);
            }
        }
        return;
    }
    for (int i = 0; i < count && active; i++) {
        const real* corners = mesh->corners + (size_t)places[i] * SAP_TRIANGLE_FLOATS;
        uint32_t changed = triangle_against(p, corners, mesh->ids, axes, places[i], active, f, mode);
        if (mode == FIND_ANY && changed) {
            retire_lanes(f, lanes, changed);
            active &= ~changed;
        }
    }
}

// ---- The walk of a packet

typedef struct pending {
    vreal from, to;
    const sap_mesh_node* node;
} pending;

// The part of each ray within the tree's box.
INLINE void clip_packet(const mesh_view* mesh, const packet* p, vreal* from, vreal* to) {
    *from = v_load(p->t_min);
    *to = v_load(p->t_max);
    for (int k = 0; k < 3; k++) {
        bool backward = p->backward >> k & 1;
        vreal in = v_set(backward ? mesh->upper[k] : mesh->lower[k]), inverse = v_load(p->inverse[k]);
        vreal out = v_set(backward ? mesh->lower[k] : mesh->upper[k]);
        *from = v_max(v_mul(v_sub(in, v_load(p->early[k])), inverse), *from);
        *to = v_min(v_mul(v_sub(out, v_load(p->late[k])), inverse), *to);
    }
    *from = v_select(p->rays, *from, v_set(INFINITY));
    *to = v_select(p->rays, *to, v_set(-INFINITY));
}

// coherent: the rays mostly go the same way, so branches are predictable; otherwise the walk avoids them.
INLINE void walk(const mesh_view* mesh, const packet* p, found* f, const int mode, const bool coherent) {
    pending stack[SAP_MESH_DEPTH_MAX];
    int top = 0, axes[3];
    uint32_t lanes = p->rays;
    vreal from, to;
    clip_packet(mesh, p, &from, &to);
    if (!v_less_equal(from, to)) return;
    lane_axes(p, __builtin_ctz(lanes), axes);
    const sap_mesh_node* node = mesh->nodes;
    for (;;) {
        for (uint32_t axis; (axis = node->link & 3) != SAP_MESH_LEAF;) {
            if (!coherent) __builtin_prefetch(mesh->nodes + (node->link >> 2)); // the left child follows
            vreal plane = v_set(plane_of(node)), inverse = v_load(p->inverse[axis]);
            vreal early = v_mul(v_sub(plane, v_load(p->early[axis])), inverse);
            vreal late = v_mul(v_sub(plane, v_load(p->late[axis])), inverse);
            const sap_mesh_node *left = node + 1, *right = mesh->nodes + (node->link >> 2);
            bool backward = p->backward >> axis & 1;
            const sap_mesh_node *near = backward ? right : left, *far = backward ? left : right;
            // NaN leaves the interval as it is, and both sides are visited.
            vreal near_to = v_min(late, to), far_from = v_max(early, from);
            bool go_near = v_less_equal(from, near_to) != 0, go_far = v_less_equal(far_from, to) != 0;
            if (!coherent || (go_near && go_far)) {
                SAP_ASSERT(top < SAP_MESH_DEPTH_MAX);
                stack[top] = (pending){far_from, to, far};
                top += go_near && go_far;
            }
            if (coherent && go_near) {
                node = near;
                to = near_to;
            } else if (coherent) {
                node = far;
                from = far_from;
            } else {
                uint32_t skip = go_near ? 0 : ALL_LANES;
                node = go_near ? near : far;
                from = v_select(skip, far_from, from);
                to = v_select(skip, to, near_to);
            }
        }
        uint32_t active = v_less_equal(from, to);
        if (mode == FIND_ANY) active &= lanes;
        if (node->link >> 2 && active) visit_leaf(mesh, node, p, axes, active, &lanes, f, mode);
        if (mode == FIND_ANY && !lanes) return;
        do {
            if (!top) return;
            top--;
            node = stack[top].node;
            from = stack[top].from;
            to = v_min(stack[top].to, v_load(f->t));
        } while (!v_less_equal(from, to));
    }
}

// ---- One ray

typedef struct pending_one {
    const sap_mesh_node* node;
    real from, to;
} pending_one;

INLINE real plane_time(const packet* p, const real (*origin)[LANES], int axis, real plane) {
    return (plane - origin[axis][0]) * p->inverse[axis][0];
}

// Lane 0 of a packet.
INLINE void walk_one(const mesh_view* mesh, const packet* p, found* f, const int mode) {
    pending_one stack[SAP_MESH_DEPTH_MAX];
    real from = p->t_min[0], to = p->t_max[0];
    int top = 0, axes[3] = {0, 1, 2};
    uint32_t lanes = 1;
    if (!p->rays) return;
    for (int k = 0; k < 3; k++) {
        bool backward = p->backward >> k & 1;
        real in = plane_time(p, p->early, k, backward ? mesh->upper[k] : mesh->lower[k]);
        real out = plane_time(p, p->late, k, backward ? mesh->lower[k] : mesh->upper[k]);
        from = in > from ? in : from;
        to = out < to ? out : to;
    }
    const sap_mesh_node* node = mesh->nodes;
    while (from <= to) {
        for (int axis; (axis = (int)(node->link & 3)) != SAP_MESH_LEAF;) {
            const sap_mesh_node *left = node + 1, *right = mesh->nodes + (node->link >> 2);
            bool backward = p->backward >> axis & 1;
            __builtin_prefetch(right);
            real early = plane_time(p, p->early, axis, plane_of(node));
            real late = plane_time(p, p->late, axis, plane_of(node));
            const sap_mesh_node *near = backward ? right : left, *far = backward ? left : right;
            const real near_to = late < to ? late : to, far_from = early > from ? early : from;
            // Branches, not choices: the next node is fetched while the planes are still being met.
            if (from <= near_to) {
                if (far_from <= to) {
                    SAP_ASSERT(top < SAP_MESH_DEPTH_MAX);
                    stack[top++] = (pending_one){far, far_from, to};
                }
                node = near;
                to = near_to;
            } else {
                node = far;
                from = far_from;
            }
        }
        if (node->link >> 2) visit_leaf(mesh, node, p, axes, 1, &lanes, f, mode);
        do {
            if (!top || !lanes) return;
            top--;
            node = stack[top].node;
            from = stack[top].from;
            to = f->t[0] < stack[top].to ? f->t[0] : stack[top].to;
        } while (!(from <= to));
    }
}

#endif
