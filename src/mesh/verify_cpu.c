// Verifies a tree over triangles: first that the arrays can be traversed safely, then their contents.
//
// Each leaf must refer to every triangle that reaches into its cell. For this test the whole triangle is clipped in
// double, from the root down, against cells that are shrunk by a margin, so that rounding cannot refuse a correct tree.
#include "mesh/layout.h"
#include <math.h>
#include <string.h>

enum { POLYGON = 12 };

static sap_status wrong(const sap_mesh_tree* t, const char* what, int64_t where) {
    return sap_fail(t->device, SAP_ERROR_FORMAT, "the tree is damaged: %s %lld", what, (long long)where);
}

// ---- The arrays

static float plane_of(const sap_mesh_node* node) {
    float plane;
    memcpy(&plane, &node->bits, sizeof plane);
    return plane;
}

// A right child that waits: its required place, its cell and its depth.
typedef struct waiting {
    int64_t node; // the right child
    float lower[3], upper[3];
    int32_t depth;
} waiting;

// Totals of the nodes visited so far.
typedef struct tally {
    int64_t leaves, empty, references, listed, met;
    int32_t depth, largest;
} tally;

static sap_status check_leaf(const sap_mesh_tree* t, int64_t at, tally* found) {
    const sap_mesh_tree_shape* s = &t->shape;
    const sap_mesh_node node = sap_mesh_nodes(t)[at];
    const int64_t count = node.link >> 2;
    const int32_t* references = sap_mesh_references(t) + found->listed;
    if (count == 0 && node.bits) return wrong(t, "an empty leaf has references: node", at);
    if (count > 1 && (node.bits != found->listed || count > s->listed - found->listed))
        return wrong(t, "a leaf's references are not where they should be: node", at);
    for (int64_t i = 0; i < count; i++) {
        int64_t place = count == 1 ? (int64_t)node.bits : references[i];
        if (place < 0 || place >= s->triangles) return wrong(t, "a reference to no triangle: node", at);
        if (i > 0 && place <= references[i - 1]) return wrong(t, "references are not ascending: node", at);
        if (place > found->met) return wrong(t, "triangles are not in the order of the leaves: node", at);
        found->met += place == found->met;
    }
    found->leaves++;
    found->empty += count == 0;
    found->references += count;
    found->listed += count > 1 ? count : 0;
    if (count > found->largest) found->largest = (int32_t)count;
    return SAP_OK;
}

static sap_status check_inner(const sap_mesh_tree* t, int64_t at, const waiting* cell) {
    const sap_mesh_node node = sap_mesh_nodes(t)[at];
    const int64_t right = node.link >> 2;
    float plane = plane_of(&node);
    int axis = (int)(node.link & 3);
    if (cell->depth >= SAP_MESH_DEPTH_MAX) return wrong(t, "it is too deep: node", at);
    if (right <= at + 1 || right >= t->shape.nodes) return wrong(t, "a child is not where it should be: node", at);
    if (!(plane > cell->lower[axis] && plane < cell->upper[axis]))
        return wrong(t, "a plane lies outside of its cell: node", at);
    return SAP_OK;
}

static bool counts_agree(const sap_mesh_tree_shape* s, const tally* found) {
    return found->leaves == s->leaves && found->empty == s->empty_leaves && found->references == s->references &&
           found->listed == s->listed && found->met == s->triangles && found->depth == s->depth &&
           found->largest == s->largest_leaf && 2 * found->leaves - 1 == s->nodes;
}

// In preorder each node is the next one, so a right child has to stand where its left sibling's subtree ends.
static sap_status check_nodes(const sap_mesh_tree* t) {
    const sap_mesh_tree_shape* s = &t->shape;
    waiting stack[SAP_MESH_DEPTH_MAX + 2], now = {.node = 0};
    tally found = {0};
    int count = 0;
    memcpy(now.lower, s->lower, sizeof now.lower);
    memcpy(now.upper, s->upper, sizeof now.upper);
    for (int64_t at = 0; at < s->nodes; at++) {
        const sap_mesh_node* node = &sap_mesh_nodes(t)[at];
        sap_status status = SAP_OK;
        if (now.depth > found.depth) found.depth = now.depth;
        if ((node->link & 3) == SAP_MESH_LEAF) {
            status = check_leaf(t, at, &found);
            if (status != SAP_OK) return status;
            if (count == 0)
                return at == s->nodes - 1 && counts_agree(s, &found) ? SAP_OK : wrong(t, "counts, at node", at);
            now = stack[--count];
            if (now.node != at + 1) return wrong(t, "a child is not where it should be: node", at + 1);
            continue;
        }
        status = check_inner(t, at, &now);
        if (status != SAP_OK) return status;
        uint32_t axis = node->link & 3;
        now.depth++;
        SAP_ASSERT(count <= SAP_MESH_DEPTH_MAX);
        stack[count] = now;
        stack[count].node = node->link >> 2;
        stack[count++].lower[axis] = plane_of(node);
        now.upper[axis] = plane_of(node);
    }
    return wrong(t, "the last subtree has no end: node", s->nodes);
}

// Each number of the mesh must occur once among the ids. `seen` has a zero bit for each.
static sap_status check_triangles(const sap_mesh_tree* t, uint64_t* seen) {
    const sap_mesh_tree_shape* s = &t->shape;
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < s->triangles; i++) {
        int32_t id = sap_mesh_ids(t)[i];
        if (id < 0 || id >= s->triangles || seen[id / 64] >> id % 64 & 1) return wrong(t, "the number of triangle", i);
        seen[id / 64] |= UINT64_C(1) << id % 64;
        const float* corners = sap_mesh_corners(t) + SAP_TRIANGLE_FLOATS * i;
        for (int k = 0; k < SAP_TRIANGLE_FLOATS; k++) {
            if (!isfinite(corners[k])) return wrong(t, "a corner of triangle", i);
            if (corners[k] < lower[k % 3]) lower[k % 3] = corners[k];
            if (corners[k] > upper[k % 3]) upper[k % 3] = corners[k];
        }
    }
    for (int k = 0; k < 3; k++)
        if (!(lower[k] == s->lower[k] && upper[k] == s->upper[k])) return wrong(t, "the bounds along axis", k);
    return SAP_OK;
}

// ---- Which leaves triangles reach

typedef struct polygon {
    double corner[POLYGON][3];
    int count;
} polygon;

// Keeps what lies below the plane (sign 1) or above it (sign -1), by more than the margin.
static void cut(polygon* p, int axis, double plane, double sign) {
    polygon kept = {.count = 0};
    for (int i = 0; i < p->count; i++) {
        const double *u = p->corner[i ? i - 1 : p->count - 1], *w = p->corner[i];
        double du = (u[axis] - plane) * sign, dw = (w[axis] - plane) * sign;
        if ((du > 0) != (dw > 0)) {
            SAP_ASSERT(kept.count < POLYGON);
            double part = du / (du - dw);
            for (int k = 0; k < 3; k++) kept.corner[kept.count][k] = u[k] + part * (w[k] - u[k]);
            kept.corner[kept.count++][axis] = plane;
        }
        SAP_ASSERT(dw > 0 || kept.count < POLYGON);
        if (!(dw > 0)) memcpy(kept.corner[kept.count++], w, sizeof kept.corner[0]);
    }
    *p = kept;
}

static bool reaches(const float* triangle, const double lower[3], const double upper[3], double margin) {
    polygon p = {.count = 3};
    for (int i = 0; i < SAP_TRIANGLE_FLOATS; i++) p.corner[i / 3][i % 3] = (double)triangle[i];
    for (int a = 0; a < 3 && p.count; a++) {
        if (upper[a] - lower[a] <= 2 * margin) continue; // a flat cell: nothing is cut along this axis
        cut(&p, a, lower[a] + margin, -1);
        cut(&p, a, upper[a] - margin, 1);
    }
    return p.count > 0;
}

// Whether the leaf refers to the triangle.
static bool is_in_leaf(const sap_mesh_tree* t, const sap_mesh_node* leaf, int32_t triangle) {
    int64_t count = leaf->link >> 2, low = 0;
    const int32_t* references = sap_mesh_references(t) + (count > 1 ? leaf->bits : 0);
    if (count < 2) return count == 1 && (int32_t)leaf->bits == triangle;
    while (count > 1) {
        int64_t half = count / 2;
        if (references[low + half] <= triangle) low += half;
        count -= half;
    }
    return references[low] == triangle;
}

typedef struct cell {
    double lower[3], upper[3];
    int64_t node;
} cell;

// The first leaf that the triangle reaches but that does not refer to it, or -1.
static int64_t first_leaf_without(const sap_mesh_tree* t, int32_t triangle, double margin) {
    const float* c = sap_mesh_corners(t) + (int64_t)SAP_TRIANGLE_FLOATS * triangle;
    cell stack[SAP_MESH_DEPTH_MAX + 2];
    int count = 1;
    stack[0].node = 0;
    for (int k = 0; k < 3; k++) {
        stack[0].lower[k] = (double)t->shape.lower[k];
        stack[0].upper[k] = (double)t->shape.upper[k];
    }
    while (count > 0) {
        cell now = stack[--count];
        const sap_mesh_node* node = &sap_mesh_nodes(t)[now.node];
        uint32_t axis = node->link & 3;
        if (axis == SAP_MESH_LEAF) {
            if (!is_in_leaf(t, node, triangle)) return now.node;
            continue;
        }
        double plane = (double)plane_of(node);
        cell left = now, right = now;
        left.node = now.node + 1;
        right.node = node->link >> 2;
        left.upper[axis] = right.lower[axis] = plane;
        SAP_ASSERT(count + 2 <= SAP_MESH_DEPTH_MAX + 2);
        double low = (double)fminf(fminf(c[axis], c[axis + 3]), c[axis + 6]);
        double high = (double)fmaxf(fmaxf(c[axis], c[axis + 3]), c[axis + 6]);
        if (low < plane - margin && reaches(c, left.lower, left.upper, margin)) stack[count++] = left;
        if (high > plane + margin && reaches(c, right.lower, right.upper, margin)) stack[count++] = right;
    }
    return -1;
}

static sap_status check_every_leaf(const sap_mesh_tree* t) {
    const sap_mesh_tree_shape* s = &t->shape;
    double largest = 0;
    int64_t bad = INT64_MAX;
    for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs((double)s->lower[k]), fabs((double)s->upper[k])));
    const double margin = largest * 0x1p-40; // far above the rounding errors of double, far below the spacing of floats
#pragma omp parallel for num_threads(t->device->options.threads > 0 ? t->device->options.threads : 1)                  \
    schedule(dynamic, 1024) reduction(min                                                                              \
                                      : bad) if (s->triangles > 1024)
    for (int64_t i = 0; i < s->triangles; i++)
        if (i < bad && first_leaf_without(t, (int32_t)i, margin) >= 0) bad = i;
    return bad == INT64_MAX ? SAP_OK : wrong(t, "a leaf lacks triangle", bad);
}

sap_status sap_mesh_verify_cpu(const sap_mesh_tree* t) {
    const sap_mesh_tree_shape* s = &t->shape;
    if (s->triangles == 0)
        return s->nodes == 1 && sap_mesh_nodes(t)[0].link == SAP_MESH_LEAF && !sap_mesh_nodes(t)[0].bits &&
                       s->leaves == 1 && s->empty_leaves == 1 && !s->listed && !s->references && !s->depth &&
                       !s->largest_leaf
                   ? SAP_OK
                   : wrong(t, "an empty tree has", s->nodes);
    sap_status status = check_nodes(t);
    if (status != SAP_OK) return status;
    size_t bytes = (size_t)(s->triangles / 64 + 1) * sizeof(uint64_t);
    uint64_t* seen = sap_memory_allocate_zero(t->device, bytes);
    if (!seen)
        return sap_fail(t->device, SAP_ERROR_MEMORY, "no memory to check %lld triangles", (long long)s->triangles);
    status = check_triangles(t, seen);
    sap_memory_release(t->device, seen, bytes);
    return status == SAP_OK ? check_every_leaf(t) : status;
}
