// Whether each leaf of a tree over triangles refers to every triangle that reaches into its cell.
//
// Triangles that follow one another lie near each other: 64 of them go down the tree together, as far as their bounds
// take them. Where a leaf lacks one, the triangle is cut by the leaf's cell, in double: the bounds may reach where the
// triangle does not. A margin is left out of every cell, so that rounding cannot refuse a correct tree.
#include "base/team.h"
#include "mesh/layout.h"
#include <math.h>
#include <string.h>
#if defined(__SSE__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

enum { BLOCK = 64, POLYGON = 12 }; // most corners of a triangle cut by six planes is 9; rounding may add some

// ---- A triangle and a cell

typedef struct polygon {
    double corner[POLYGON][3];
    int count;
} polygon;

// What of a polygon lies below the plane (sign 1) or above it (sign -1); Sutherland and Hodgman 1974. False if nothing
// does, or if rounding has bent the polygon so that it gets too many corners.
static bool cut(const polygon* from, int axis, double plane, double sign, polygon* kept) {
    const double* u = from->corner[from->count - 1];
    double du = (u[axis] - plane) * sign;
    kept->count = 0;
    for (int i = 0; i < from->count; i++) {
        const double* w = from->corner[i];
        const double dw = (w[axis] - plane) * sign;
        if (kept->count + 2 > POLYGON) return false;
        if ((du < 0 && dw > 0) || (du > 0 && dw < 0)) {
            double *corner = kept->corner[kept->count++], along = du / (du - dw);
            for (int k = 0; k < 3; k++) corner[k] = u[k] + along * (w[k] - u[k]);
            corner[axis] = plane;
        }
        if (dw <= 0) memcpy(kept->corner[kept->count++], w, sizeof kept->corner[0]);
        u = w;
        du = dw;
    }
    return kept->count > 0;
}

typedef struct block { // triangles first … first + BLOCK - 1
    float lower[3][BLOCK], minus_upper[3][BLOCK];
    int64_t first;
} block;

typedef struct branch { // the members, a bit each, that reach a node's cell by their bounds
    int64_t node;
    uint64_t members;
    float lower[3], upper[3]; // the cell
} branch;

// Whether a member reaches into the cell by more than the margin.
static bool reaches(const sap_mesh_tree* t, const block* b, int member, const branch* at, double margin) {
    const float* c = sap_mesh_corners(t) + SAP_TRIANGLE_FLOATS * (b->first + member);
    polygon buffer[2], *now = &buffer[0], *next = &buffer[1];
    for (int i = 0; i < SAP_TRIANGLE_FLOATS; i++) now->corner[i / 3][i % 3] = (double)c[i];
    now->count = 3;
    for (int side = 0; side < 6; side++) {
        const int axis = side / 2;
        const double sign = side % 2 ? 1 : -1;
        const double bound = (double)(side % 2 ? -b->minus_upper[axis][member] : b->lower[axis][member]);
        const double plane = (double)(side % 2 ? at->upper[axis] : at->lower[axis]) - sign * margin;
        if ((bound - plane) * sign <= 0) continue;
        if (!cut(now, axis, plane, sign, next)) return false;
        polygon* before = now;
        now = next;
        next = before;
    }
    return true;
}

// ---- Blocks of triangles

// Which of four numbers are less than x: a bit each.
static inline uint32_t less_four(const float* four, float x) {
#if defined(__SSE__)
    return (uint32_t)_mm_movemask_ps(_mm_cmplt_ps(_mm_loadu_ps(four), _mm_set1_ps(x)));
#elif defined(__wasm_simd128__)
    return wasm_i32x4_bitmask(wasm_f32x4_lt(wasm_v128_load(four), wasm_f32x4_splat(x)));
#else
    return (uint32_t)(four[0] < x) | (uint32_t)(four[1] < x) << 1 | (uint32_t)(four[2] < x) << 2 |
           (uint32_t)(four[3] < x) << 3;
#endif
}

// Those of the members whose number is less than x.
static inline uint64_t less_of(const float numbers[BLOCK], uint64_t members, float x) {
    uint64_t less = 0;
    for (int i = 0; i < BLOCK; i += 8)
        if (members >> i & 255) less |= (uint64_t)(less_four(numbers + i, x) | less_four(numbers + i + 4, x) << 4) << i;
    return less & members;
}

// The smallest float that is not below x: what floats are less than is the same for both.
static float round_up(double x) {
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

// The root's branch, with all members of the block.
static branch open_block(const sap_mesh_tree* t, int count, block* b) {
    const float* c = sap_mesh_corners(t) + SAP_TRIANGLE_FLOATS * b->first;
    branch root = {.members = ~UINT64_C(0) >> (BLOCK - count)};
    for (int i = 0; i < count; i++, c += SAP_TRIANGLE_FLOATS) {
        for (int k = 0; k < 3; k++) {
            const float lower = c[k] < c[k + 3] ? c[k] : c[k + 3], upper = c[k] > c[k + 3] ? c[k] : c[k + 3];
            b->lower[k][i] = c[k + 6] < lower ? c[k + 6] : lower;
            b->minus_upper[k][i] = -(c[k + 6] > upper ? c[k + 6] : upper);
        }
    }
    memcpy(root.lower, t->shape.lower, sizeof root.lower);
    memcpy(root.upper, t->shape.upper, sizeof root.upper);
    return root;
}

// Whether the leaf refers to all members that reach its cell.
static bool leaf_is_whole(const sap_mesh_tree* t, const block* b, const branch* at, double margin) {
    const sap_mesh_node* leaf = &sap_mesh_nodes(t)[at->node];
    const int64_t count = leaf->link >> 2;
    const int32_t single = (int32_t)leaf->bits;
    const int32_t* references = count > 1 ? sap_mesh_references(t) + leaf->bits : &single;
    uint64_t listed = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t member = references[i] - b->first;
        if (member >= 0 && member < BLOCK) listed |= UINT64_C(1) << member;
    }
    for (uint64_t missing = at->members & ~listed; missing; missing &= missing - 1)
        if (reaches(t, b, __builtin_ctzll(missing), at, margin)) return false;
    return true;
}

// Puts a node's children that members reach in its place, the right one first. Returns how many there are.
static int divide(const sap_mesh_tree* t, const block* b, double margin, branch at[2]) {
    const sap_mesh_node* node = &sap_mesh_nodes(t)[at->node];
    const uint32_t axis = node->link & 3;
    const float plane = sap_mesh_plane(node);
    const uint64_t lefts = less_of(b->lower[axis], at->members, round_up((double)plane - margin)),
                   rights = less_of(b->minus_upper[axis], at->members, round_up(-((double)plane + margin)));
    branch* left = &at[rights != 0];
    if (lefts) {
        if (rights) *left = *at;
        left->node = at->node + 1;
        left->members = lefts;
        left->upper[axis] = plane;
    }
    if (rights) {
        at->node = node->link >> 2;
        at->members = rights;
        at->lower[axis] = plane;
    }
    return (lefts != 0) + (rights != 0);
}

// Whether each of `count` triangles stands in all leaves that it reaches.
static bool check_block(const sap_mesh_tree* t, int64_t first, int count, double margin) {
    block b = {.first = first};
    branch stack[SAP_MESH_DEPTH_MAX + 2];
    int height = 1;
    stack[0] = open_block(t, count, &b);
    while (height > 0) {
        branch* at = &stack[--height];
        if ((sap_mesh_nodes(t)[at->node].link & 3) != SAP_MESH_LEAF) {
            SAP_ASSERT(height + 2 <= SAP_MESH_DEPTH_MAX + 2);
            height += divide(t, &b, margin, at);
        } else if (!leaf_is_whole(t, &b, at, margin)) {
            return false;
        }
    }
    return true;
}

typedef struct block_check {
    const sap_mesh_tree* tree;
    double margin;
    int64_t bad; // the first missing triangle that is known
} block_check;

static void check_blocks(void* context, int64_t from, int64_t to, int32_t worker) {
    block_check* c = context;
    (void)worker;
    for (int64_t first = from; first < to; first += BLOCK) {
        const int64_t end = first + BLOCK < to ? first + BLOCK : to;
        if (first >= __atomic_load_n(&c->bad, __ATOMIC_RELAXED)) return;
        if (check_block(c->tree, first, (int)(end - first), c->margin)) continue;
        int64_t bad = first;
        while (bad < end - 1 && check_block(c->tree, bad, 1, c->margin)) bad++;
        sap_team_lower(&c->bad, bad);
    }
}

int64_t sap_mesh_first_missing(const sap_mesh_tree* t) {
    const sap_mesh_tree_shape* s = &t->shape;
    double largest = 0;
    for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs((double)s->lower[k]), fabs((double)s->upper[k])));
    const double margin = largest * 0x1p-40; // far above the rounding errors of double, far below the spacing of floats
    block_check all = {t, margin, INT64_MAX};
    sap_team_loop(t->device->options.threads, s->triangles, 16 * BLOCK, check_blocks, &all);
    return all.bad;
}
