// Where the parts of a sliding-midpoint tree go, and the writing of them.
#include "tree/sliding/build.h"
#include <string.h>

// Sums up what lies below each top node (children stand behind their parents), then gives each its place in the tree.
bool sap_sliding_place(sap_sliding* b, sap_tree_shape* shape) {
    bool reached = true;
    for (int64_t i = b->top_count - 1; i >= 0; i--) {
        sap_top_node* t = &b->top[i];
        shape->leaves += t->leaves;
        if (t->deepest > shape->depth) shape->depth = t->deepest;
        if (t->fullest > shape->capacity) shape->capacity = t->fullest;
        if (t->left < 0) continue;
        t->nodes = 1 + b->top[t->left].nodes + b->top[t->right].nodes;
        t->slots = b->top[t->left].slots + b->top[t->right].slots;
        reached = reached && (1 + b->top[t->left].nodes) >> 27 == 0;
    }
    shape->nodes = b->top[0].nodes;
    shape->slots = b->top[0].slots;
    reached = reached && (b->real_bits == 64 || shape->slots <= (int64_t)UINT32_MAX);
    for (int64_t i = 0; i < b->top_count; i++) {
        const sap_top_node* t = &b->top[i];
        if (t->left < 0) continue;
        sap_top_node *left = &b->top[t->left], *right = &b->top[t->right];
        left->node_at = t->node_at + 1;
        left->slot_at = t->slot_at;
        right->node_at = left->node_at + left->nodes;
        right->slot_at = t->slot_at + left->slots;
    }
    return reached;
}

// ---- Writing the tree's arrays

static int32_t* min_ids(const sap_sliding* b) {
    return (int32_t*)(void*)(b->tree->arrays + b->tree->shape.node_min_id_at);
}

static void write_node(const sap_sliding* b, int64_t at, double split, int64_t slot, uint32_t link) {
    bool leaf = (link & SAP_NODE_LEAF) == SAP_NODE_LEAF;
    unsigned char* nodes = b->tree->arrays + b->tree->shape.node_at;
    if (b->real_bits == 64) {
        sap_node_f64 node = {.bits = (uint64_t)slot, .link = link};
        if (!leaf) memcpy(&node.bits, &split, sizeof split);
        ((sap_node_f64*)(void*)nodes)[at] = node;
    } else {
        sap_node_f32 node = {.bits = (uint32_t)slot, .link = link};
        float narrow = (float)split;
        if (!leaf) memcpy(&node.bits, &narrow, sizeof narrow);
        ((sap_node_f32*)(void*)nodes)[at] = node;
    }
}

static void write_block(const sap_sliding* b, int64_t slot, int64_t rank, int32_t count) {
    int32_t stride = sap_leaf_stride(count, b->real_bits);
    unsigned char* out = sap_block(b->tree, slot);
    size_t bytes = (size_t)b->real_bits / 8;
    for (int32_t a = 0; a < b->dims; a++, out += (size_t)stride * bytes) {
        const unsigned char* column =
            (const unsigned char*)b->build.coords[0] + (size_t)a * (size_t)b->build.pitch * bytes;
        memcpy(out, column + (size_t)rank * bytes, (size_t)count * bytes);
        for (int32_t i = count; i < stride; i++) {
            if (b->real_bits == 64)
                ((double*)(void*)out)[i] = (double)INFINITY;
            else
                ((float*)(void*)out)[i] = INFINITY;
        }
    }
    int32_t* ids = (int32_t*)(void*)out;
    memcpy(ids, b->build.ids[0] + rank, (size_t)count * sizeof *ids);
    for (int32_t i = count; i < stride; i++) ids[i] = -1;
}

static void write_subtree(const sap_sliding* b, const sap_top_node* root) {
    const sap_draft* draft = &b->drafts[root->draft];
    const sap_draft_node* nodes = (const sap_draft_node*)(const void*)draft->memory.memory + root->draft_at;
    int32_t* least = min_ids(b) + root->node_at;
    int64_t rank = root->at.begin, slot = root->slot_at;
    for (int64_t i = 0; i < root->nodes; i++) {
        write_node(b, root->node_at + i, nodes[i].split, slot, nodes[i].link);
        if ((nodes[i].link & SAP_NODE_LEAF) != SAP_NODE_LEAF) continue;
        int32_t count = (int32_t)(nodes[i].link >> 5);
        write_block(b, slot, rank, count);
        least[i] = count ? b->build.ids[0][rank] : INT32_MAX;
        rank += count;
        slot += sap_leaf_stride(count, b->real_bits);
    }
    for (int64_t i = root->nodes - 1; i >= 0; i--) {
        if ((nodes[i].link & SAP_NODE_LEAF) == SAP_NODE_LEAF) continue;
        int32_t left = least[i + 1], right = least[i + (nodes[i].link >> 5)];
        least[i] = left < right ? left : right;
    }
}

void sap_sliding_write(const sap_sliding* b) {
#pragma omp parallel for num_threads(b->threads) schedule(dynamic)
    for (int64_t i = 0; i < b->top_count; i++)
        if (b->top[i].left < 0) write_subtree(b, &b->top[i]);
    for (int64_t i = b->top_count - 1; i >= 0; i--) {
        const sap_top_node* t = &b->top[i];
        if (t->left < 0) continue;
        int64_t left = b->top[t->left].node_at, right = b->top[t->right].node_at;
        int32_t *least = min_ids(b), a = least[left], c = least[right];
        least[t->node_at] = a < c ? a : c;
        write_node(b, t->node_at, t->cut.split, 0, (uint32_t)(right - t->node_at) << 5 | (uint32_t)t->cut.axis);
    }
}
