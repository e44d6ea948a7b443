// Verifies a tree over triangles: first that the arrays can be traversed safely, then their contents.
//
// Each leaf must refer to every triangle that reaches into its cell (mesh/reach_cpu.c).
#include "mesh/layout.h"
#include <math.h>
#include <string.h>

static sap_status wrong(const sap_mesh_tree* t, const char* what, int64_t where) {
    return sap_fail(t->device, SAP_ERROR_FORMAT, "the tree is damaged: %s %lld", what, (long long)where);
}

// ---- The arrays

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
    float plane = sap_mesh_plane(&node);
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
        stack[count++].lower[axis] = sap_mesh_plane(node);
        now.upper[axis] = sap_mesh_plane(node);
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

sap_status sap_mesh_verify_cpu(const sap_mesh_tree* t) {
    const sap_mesh_tree_shape* s = &t->shape;
    if (s->triangles == 0)
        return s->nodes == 1 && sap_mesh_nodes(t)[0].link == SAP_MESH_LEAF && !sap_mesh_nodes(t)[0].bits &&
                       s->leaves == 1 && s->empty_leaves == 1 && !s->listed && !s->references && !s->depth &&
                       !s->largest_leaf
                   ? SAP_OK
                   : wrong(t, "counts of an empty tree, nodes:", s->nodes);
    sap_status status = check_nodes(t);
    if (status != SAP_OK) return status;
    size_t bytes = (size_t)(s->triangles / 64 + 1) * sizeof(uint64_t);
    uint64_t* seen = sap_memory_allocate_zero(t->device, bytes);
    if (!seen)
        return sap_fail(t->device, SAP_ERROR_MEMORY, "no memory to check %lld triangles", (long long)s->triangles);
    status = check_triangles(t, seen);
    sap_memory_release(t->device, seen, bytes);
    if (status != SAP_OK) return status;
    const int64_t bad = sap_mesh_first_missing(t);
    return bad == INT64_MAX ? SAP_OK : wrong(t, "a leaf lacks triangle", bad);
}
