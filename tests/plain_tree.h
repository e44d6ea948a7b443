// A tree over triangles built in the plainest way: cells halved along their longest side, triangles by their boxes.
#ifndef SAPWOOD_TESTS_PLAIN_TREE_H
#define SAPWOOD_TESTS_PLAIN_TREE_H

#include "mesh/layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_builder {
    const float* corners;
    sap_mesh_node* nodes;
    int32_t* references;
    int64_t node_count, reference_count;
    int leaf_size;
} plain_builder;

static inline bool plain_reaches(const float* corners, const float* lower, const float* upper) {
    for (int k = 0; k < 3; k++) {
        float low = fminf(corners[k], fminf(corners[3 + k], corners[6 + k]));
        float high = fmaxf(corners[k], fmaxf(corners[3 + k], corners[6 + k]));
        if (high < lower[k] || low > upper[k]) return false;
    }
    return true;
}

static inline void plain_node(plain_builder* b, const int32_t* ids, int32_t count, const float* lower,
                              const float* upper, int depth) {
    int64_t at = b->node_count++;
    int axis = 0;
    b->nodes = realloc(b->nodes, (size_t)b->node_count * sizeof *b->nodes);
    for (int k = 1; k < 3; k++)
        if (upper[k] - lower[k] > upper[axis] - lower[axis]) axis = k;
    float split = lower[axis] + (upper[axis] - lower[axis]) * 0.5f;
    if (count <= b->leaf_size || depth == 0 || !(split > lower[axis] && split < upper[axis])) {
        b->nodes[at] = (sap_mesh_node){(uint32_t)b->reference_count, (uint32_t)count << 2 | SAP_MESH_LEAF};
        if (count == 1) b->nodes[at].bits = (uint32_t)ids[0];
        if (count < 2) return;
        b->references = realloc(b->references, (size_t)(b->reference_count + count) * sizeof *ids);
        memcpy(b->references + b->reference_count, ids, (size_t)count * sizeof *ids);
        b->reference_count += count;
        return;
    }
    int32_t* part = malloc((size_t)count * sizeof *part);
    for (int side = 0; side < 2; side++) {
        float low[3], high[3];
        int32_t n = 0;
        memcpy(low, lower, sizeof low);
        memcpy(high, upper, sizeof high);
        *(side ? &low[axis] : &high[axis]) = split;
        for (int32_t i = 0; i < count; i++)
            if (plain_reaches(b->corners + 9 * (size_t)ids[i], low, high)) part[n++] = ids[i];
        if (side) b->nodes[at].link = (uint32_t)b->node_count << 2 | (uint32_t)axis;
        memcpy(&b->nodes[at].bits, &split, sizeof split);
        plain_node(b, part, n, low, high, depth - 1);
    }
    free(part);
}

static inline void plain_tree_free(sap_mesh_tree* tree) {
    if (tree) free(tree->arrays);
    free(tree);
}

static inline sap_mesh_tree* plain_tree(sap_device* device, const sap_mesh* mesh, int leaf_size) {
    size_t n = (size_t)mesh->triangle_count;
    float* corners = calloc(9 * n + SAP_TRIANGLE_PADDING, sizeof *corners);
    int32_t* ids = malloc((n + 1) * sizeof *ids);
    sap_mesh_tree* tree = calloc(1, sizeof *tree);
    sap_mesh_tree_shape* s = &tree->shape;
    *s = (sap_mesh_tree_shape){.lower = {INFINITY, INFINITY, INFINITY}, .upper = {-INFINITY, -INFINITY, -INFINITY}};
    tree->device = device;
    for (size_t i = 0; i < 9 * n; i++) {
        float x = corners[i] = mesh->vertices[3 * mesh->triangles[i / 3] + (int)(i % 3)];
        s->lower[i % 3] = fminf(s->lower[i % 3], x);
        s->upper[i % 3] = fmaxf(s->upper[i % 3], x);
    }
    for (size_t i = 0; i < n; i++) ids[i] = (int32_t)i;
    plain_builder b = {.corners = corners, .leaf_size = leaf_size};
    plain_node(&b, ids, (int32_t)n, s->lower, s->upper, n ? 14 : 0);
    s->triangles = mesh->triangle_count;
    s->nodes = b.node_count;
    s->listed = b.reference_count;
    s->reference_at = sap_align((size_t)b.node_count * sizeof *b.nodes);
    s->corner_at = s->reference_at + sap_align((size_t)b.reference_count * sizeof *b.references);
    s->id_at = s->corner_at + sap_align((9 * n + SAP_TRIANGLE_PADDING) * sizeof *corners);
    s->bytes = s->id_at + sap_align(n * sizeof *ids) + 64;
    tree->arrays = aligned_alloc(64, s->bytes);
    memset(tree->arrays, 0, s->bytes);
    memcpy(tree->arrays, b.nodes, (size_t)b.node_count * sizeof *b.nodes);
    if (b.reference_count)
        memcpy(tree->arrays + s->reference_at, b.references, (size_t)b.reference_count * sizeof *b.references);
    memcpy(tree->arrays + s->corner_at, corners, (9 * n + SAP_TRIANGLE_PADDING) * sizeof *corners);
    memcpy(tree->arrays + s->id_at, ids, n * sizeof *ids);
    free(b.nodes);
    free(b.references);
    free(corners);
    free(ids);
    return tree;
}

#endif
