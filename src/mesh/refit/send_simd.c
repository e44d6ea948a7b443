// A refit sends triangles that follow one another, and so lie near each other, down the tree together, as far as their
// bounds take them. Where planes have divided a triangle's bounds, a leaf gets it only if the cell meets its plane.
#include <float.h>
#include <math.h>

#if SAP_REAL_BITS == 32

#include "math/simd.h"
#include "mesh/refit/moved.h"

enum { BLOCK = SAP_REFIT_BLOCK };

typedef struct block {
    float lower[3][BLOCK], minus_upper[3][BLOCK];
} block;

typedef struct branch {
    uint64_t members, divided; // of the block; those whose bounds planes have divided
    int32_t node;
    sap_mesh_box cell;
} branch;

// Those of the members whose number is less than x.
INLINE uint64_t less_of(const float numbers[BLOCK], uint64_t members, float x) {
    const vreal limit = v_set(x);
    uint64_t less = 0;
    for (int i = 0; i < BLOCK; i += LANES)
        if (members >> i & ALL_LANES) less |= (uint64_t)v_less(v_load(numbers + i), limit) << i;
    return less & members;
}

static uint64_t members_of_leaf(const sap_refit_walk* w, int64_t from, const branch* at) {
    uint64_t members = at->members;
    for (uint64_t left = members & at->divided; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        if (!sap_refit_reaches(w->corners + (int64_t)SAP_TRIANGLE_FLOATS * w->order[from + i], at->cell))
            members &= ~(UINT64_C(1) << i);
    }
    return members;
}

// Puts a node's children that members reach in its place, the right one first. Returns how many there are.
INLINE int divide(const sap_refit_walk* w, const block* b, branch at[2]) {
    const sap_mesh_node* node = &w->nodes[at->node];
    const uint32_t axis = node->link & 3;
    float plane;
    memcpy(&plane, &node->bits, sizeof plane);
    uint64_t lefts = less_of(b->lower[axis], at->members, plane),
             rights = less_of(b->minus_upper[axis], at->members, -plane);
    const uint64_t both = lefts & rights, planar = at->members & ~(lefts | rights);
    if (planar && w->planar_left[at->node])
        lefts |= planar;
    else
        rights |= planar;
    at->divided |= both;
    branch* left = &at[rights != 0];
    if (lefts) {
        if (rights) *left = *at;
        left->members = lefts;
        left->node = at->node + 1;
        left->cell.upper[axis] = plane;
    }
    if (rights) {
        at->members = rights;
        at->node = (int32_t)(node->link >> 2);
        at->cell.lower[axis] = plane;
    }
    return (lefts != 0) + (rights != 0);
}

static int64_t send(const sap_refit_walk* w, int64_t from, int64_t count, int64_t room, int64_t most,
                    sap_refit_visit* visits, int64_t* references) {
    block b;
    branch stack[SAP_MESH_DEPTH_MAX + 2];
    int64_t visited = 0, sum = 0;
    int height = 1;
    SAP_ASSERT(count > 0 && count <= BLOCK);
    for (int i = 0; i < BLOCK; i++) {
        const sap_mesh_part* part = &w->parts[w->order[from + (i < count ? i : 0)]];
        for (int k = 0; k < 3; k++) {
            b.lower[k][i] = part->lower[k];
            b.minus_upper[k][i] = -part->upper[k];
        }
    }
    stack[0] = (branch){.members = ~UINT64_C(0) >> (BLOCK - count), .cell = w->bounds};
    while (height > 0 && sum <= most) {
        branch* at = &stack[--height];
        if ((w->nodes[at->node].link & 3) != SAP_MESH_LEAF) {
            SAP_ASSERT(height + 2 <= SAP_MESH_DEPTH_MAX + 2);
            height += divide(w, &b, at);
            continue;
        }
        const uint64_t members = members_of_leaf(w, from, at);
        if (!members) continue;
        if (visited < room) visits[visited] = (sap_refit_visit){members, at->node};
        visited++;
        sum += __builtin_popcountll(members);
    }
    *references += sum;
    return visited;
}

const sap_refit_kernels SAP_KERNEL_OF_FLOAT(refit_kernels) = {send};

#endif
