// A refit sends each triangle down the tree by the rule by which the builders divide nodes: by the bounds of its part in
// the node's cell, and clipped where they lie on both sides of the plane.
#include <float.h>
#include <math.h>

#if SAP_REAL_BITS == 32

#include "math/simd.h"
#include "mesh/refit/plan.h"

#include "mesh/clip/clip_simd.h"

enum { GROUP = 16 }; // triangles that go down together as long as no plane divides them

typedef struct branch {
    sap_mesh_part part;
    int32_t node;
} branch;

INLINE float plane_of(const sap_mesh_node* node) {
    float plane;
    memcpy(&plane, &node->bits, sizeof plane);
    return plane;
}

// The node that all triangles of a group reach before any plane divides them.
static int32_t common_node(const sap_refit_walk* w, int64_t from, int64_t to) {
    sap_mesh_part all = w->parts[w->order[from]];
    for (int64_t i = from + 1; i < to; i++) {
        const sap_mesh_part* part = &w->parts[w->order[i]];
        for (int k = 0; k < 3; k++) {
            all.lower[k] = part->lower[k] < all.lower[k] ? part->lower[k] : all.lower[k];
            all.upper[k] = part->upper[k] > all.upper[k] ? part->upper[k] : all.upper[k];
        }
    }
    for (int32_t at = 0;;) {
        const sap_mesh_node* node = &w->nodes[at];
        const uint32_t axis = node->link & 3;
        if (axis == SAP_MESH_LEAF) return at;
        const float plane = plane_of(node);
        if (all.upper[axis] < plane)
            at++;
        else if (all.lower[axis] > plane)
            at = (int32_t)(node->link >> 2);
        else
            return at;
    }
}

// The leaves that a triangle reaches from a node on; those beyond `room` are not written. Stops above `most`.
static int64_t send_one(const sap_refit_walk* w, int32_t triangle, int32_t from, int64_t room, int64_t most,
                        int32_t* leaves) {
    branch stack[SAP_MESH_DEPTH_MAX + 2];
    const float* corners = w->corners + (int64_t)SAP_TRIANGLE_FLOATS * triangle;
    int64_t reached = 0;
    int height = 1;
    stack[0] = (branch){w->parts[triangle], from};
    while (height > 0 && reached <= most) {
        branch* now = &stack[height - 1];
        const sap_mesh_node* node = &w->nodes[now->node];
        const uint32_t axis = node->link & 3;
        if (axis == SAP_MESH_LEAF) {
            if (reached < room) leaves[reached] = now->node;
            reached++;
            height--;
            continue;
        }
        const float plane = plane_of(node);
        const bool below = now->part.lower[axis] < plane, above = now->part.upper[axis] > plane;
        const int32_t left = now->node + 1, right = (int32_t)(node->link >> 2);
        if (!(below && above)) {
            now->node = below || (!above && w->planar_left[now->node]) ? left : right;
            continue;
        }
        branch in_left = {.node = left}, in_right = {.node = right};
        const int sides = w->fast
                              ? clip_cheaply(corners, &now->part, (int)axis, plane, &in_left.part, &in_right.part)
                              : clip_exactly(corners, &now->part, (int)axis, plane, &in_left.part, &in_right.part);
        SAP_ASSERT(sides && height + 1 <= SAP_MESH_DEPTH_MAX + 2);
        height--;
        if (sides & HAS_RIGHT) stack[height++] = in_right;
        if (sides & HAS_LEFT) stack[height++] = in_left;
    }
    return reached;
}

static int64_t send(const sap_refit_walk* w, int64_t from, int64_t to, int64_t room, int64_t most, int32_t* leaves,
                    int32_t* reached) {
    int64_t sum = 0;
    for (int64_t group = from; group < to; group += GROUP) {
        const int64_t end = group + GROUP < to ? group + GROUP : to;
        const int32_t common = common_node(w, group, end);
        for (int64_t i = group; i < end; i++) {
            const int64_t count = send_one(w, w->order[i], common, room - sum, most - sum,
                                           leaves + (sum < room ? sum : room));
            reached[i] = (int32_t)count;
            sum += count;
            if (sum > most) return sum;
        }
    }
    return sum;
}

const sap_refit_kernels SAP_KERNEL_OF_FLOAT(refit_kernels) = {send};

#endif
