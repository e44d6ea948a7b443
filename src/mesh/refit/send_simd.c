// A refit sends triangles that follow one another, and so lie near each other, down the tree together, as far as their
// bounds take them. Where planes have divided a triangle's bounds, a leaf gets it only if it meets the leaf's cell: unless
// its plane, or a plane through one of its edges and along an axis, has the two on different sides (Akenine-Moeller 2001).
#include <float.h>
#include <math.h>

#if SAP_REAL_BITS == 32

#include "math/simd.h"
#include "mesh/refit/plan.h"

enum {
    BLOCK = SAP_REFIT_BLOCK,
    LEVELS = 4 // so many levels apart the cells of inner nodes are tested, too: bounds of needles reach everywhere
};

typedef double vdouble4 __attribute__((vector_size(32)));
typedef int64_t vlong4 __attribute__((vector_size(32)));

// Directions across which a triangle may lie apart from a cell, and between what it lies along each, with room for the
// roundings of the test: 10, in lanes.
enum { VECTORS = 3, DIRECTIONS = 4 * VECTORS };
typedef struct slabs {
    vdouble4 along[3][VECTORS], low[VECTORS], high[VECTORS];
} slabs;

typedef struct block {
    float lower[3][BLOCK], minus_upper[3][BLOCK];
    uint64_t known; // whose slabs are known
    slabs slabs[BLOCK];
} block;

typedef struct branch {
    uint64_t members, divided; // of the block; those whose bounds planes have divided
    int32_t node, depth;
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

// size: the largest distance of anything from zero, along all axes together.
static void find_slabs(const float* corners, double size, slabs* found) {
    double along[3][DIRECTIONS] = {{0}}, low[DIRECTIONS], high[DIRECTIONS], edge[3][3], length[3];
    const double rounding = 0x1p-44 * size;
    for (int i = 0; i < 3; i++) {
        const float *from = corners + 3 * i, *to = corners + (i == 2 ? 0 : 3 * i + 3);
        length[i] = 0;
        for (int k = 0; k < 3; k++) {
            edge[i][k] = (double)to[k] - (double)from[k];
            length[i] += fabs(edge[i][k]);
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) { // an edge, and the axis k
            const int at = 3 * i + k, a = k == 2 ? 0 : k + 1, b = k == 0 ? 2 : k - 1;
            const float *corner = corners + 3 * i, *other = corners + (i == 0 ? 6 : 3 * i - 3);
            const double x = -edge[i][b], y = edge[i][a], room = rounding * length[i],
                         here = x * (double)corner[a] + y * (double)corner[b],
                         there = x * (double)other[a] + y * (double)other[b];
            along[a][at] = x;
            along[b][at] = y;
            low[at] = (here < there ? here : there) - room;
            high[at] = (here > there ? here : there) + room;
        }
    double plane = 0;
    for (int k = 0; k < 3; k++) {
        const int a = k == 2 ? 0 : k + 1, b = k == 0 ? 2 : k - 1;
        along[k][9] = edge[0][a] * edge[1][b] - edge[0][b] * edge[1][a];
        plane += along[k][9] * (double)corners[k];
    }
    low[9] = plane - rounding * length[0] * length[1];
    high[9] = plane + rounding * length[0] * length[1];
    for (int i = 10; i < DIRECTIONS; i++) { // nothing is outside
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    memcpy(found->along, along, sizeof along);
    memcpy(found->low, low, sizeof low);
    memcpy(found->high, high, sizeof high);
}

// Whether a cell, given by its middle and half of its sides, lies between all slabs or reaches into them.
INLINE bool reaches(const slabs* s, const double middle[3], const double half[3]) {
    const vlong4 sign = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    vlong4 outside = {0};
    for (int v = 0; v < VECTORS; v++) {
        vdouble4 at = {0}, reach = {0};
        for (int k = 0; k < 3; k++) {
            at += s->along[k][v] * middle[k];
            reach += (vdouble4)((vlong4)s->along[k][v] & ~sign) * half[k];
        }
        outside |= (at + reach < s->low[v]) | (at - reach > s->high[v]);
    }
    return !(outside[0] | outside[1] | outside[2] | outside[3]);
}

// The members that may reach the cell.
static uint64_t members_of(const sap_refit_walk* w, int64_t from, block* b, const branch* at) {
    uint64_t members = at->members;
    double middle[3], half[3];
    if (!(members & at->divided)) return members;
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * ((double)at->cell.upper[k] + (double)at->cell.lower[k]);
        half[k] = 0.5 * ((double)at->cell.upper[k] - (double)at->cell.lower[k]);
    }
    for (uint64_t left = members & at->divided; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        if (!(b->known >> i & 1)) {
            find_slabs(w->corners + (int64_t)SAP_TRIANGLE_FLOATS * w->order[from + i], w->size, &b->slabs[i]);
            b->known |= UINT64_C(1) << i;
        }
        if (!reaches(&b->slabs[i], middle, half)) members &= ~(UINT64_C(1) << i);
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
    at->depth++;
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
    b.known = 0;
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
        const bool is_leaf = (w->nodes[at->node].link & 3) == SAP_MESH_LEAF;
        if (is_leaf || at->depth % LEVELS == 0) at->members = members_of(w, from, &b, at);
        if (!at->members) continue;
        if (!is_leaf) {
            SAP_ASSERT(height + 2 <= SAP_MESH_DEPTH_MAX + 2);
            height += divide(w, &b, at);
            continue;
        }
        if (visited < room) visits[visited] = (sap_refit_visit){at->members, at->node};
        visited++;
        sum += __builtin_popcountll(at->members);
    }
    *references += sum;
    return visited;
}

const sap_refit_kernels SAP_KERNEL_OF_FLOAT(refit_kernels) = {send};

#endif
