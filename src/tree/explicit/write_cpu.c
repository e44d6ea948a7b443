// Finds the places of an explicit tree's parts and writes them.
#include "base/assert.h"
#include "base/team.h"
#include "tree/explicit/write.h"
#include <math.h>
#include <string.h>

// Sums up what is below each top node (children come after their parents), then gives each its place in the tree.
bool sap_explicit_place(sap_explicit_parts* b, sap_tree_shape* shape) {
    bool reached = true;
    SAP_ASSERT(b->top_count > 0 && b->top_count <= b->top_capacity);
    for (int64_t i = b->top_count - 1; i >= 0; i--) {
        sap_explicit_top* t = &b->top[i];
        shape->leaves += t->leaves;
        if (t->deepest > shape->depth) shape->depth = t->deepest;
        if (t->fullest > shape->capacity) shape->capacity = t->fullest;
        if (t->left < 0) continue;
        SAP_ASSERT(t->left > i && t->right > i && t->left < b->top_count && t->right < b->top_count);
        t->nodes = 1 + b->top[t->left].nodes + b->top[t->right].nodes;
        t->slots = b->top[t->left].slots + b->top[t->right].slots;
        reached = reached && (1 + b->top[t->left].nodes) >> 27 == 0;
    }
    SAP_ASSERT(b->top[0].nodes == 2 * shape->leaves - 1);
    shape->nodes = b->top[0].nodes;
    shape->slots = b->top[0].slots;
    reached = reached && (b->real_bits == 64 || shape->slots <= (int64_t)UINT32_MAX);
    for (int64_t i = 0; i < b->top_count; i++) {
        const sap_explicit_top* t = &b->top[i];
        if (t->left < 0) continue;
        sap_explicit_top *left = &b->top[t->left], *right = &b->top[t->right];
        left->node_at = t->node_at + 1;
        left->slot_at = t->slot_at;
        right->node_at = left->node_at + left->nodes;
        right->slot_at = t->slot_at + left->slots;
    }
    return reached;
}

// ---- Writing the tree's arrays

static int32_t* min_ids(const sap_explicit_parts* b) {
    return (int32_t*)(void*)(b->tree->arrays + b->tree->shape.node_min_id_at);
}

static void write_node(const sap_explicit_parts* b, int64_t at, double split, int64_t slot, uint32_t link) {
    bool leaf = (link & SAP_NODE_LEAF) == SAP_NODE_LEAF;
    SAP_ASSERT(at >= 0 && at < b->tree->shape.nodes && (leaf || (int32_t)(link & SAP_NODE_LEAF) < b->dims));
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

static void write_block(const sap_explicit_parts* b, int64_t slot, int64_t rank, int32_t count) {
    int32_t stride = sap_leaf_stride(count, b->real_bits);
    unsigned char* out = sap_block(b->tree, slot);
    SAP_ASSERT(rank + count <= b->tree->shape.count && slot + stride <= b->tree->shape.slots);
    size_t bytes = (size_t)b->real_bits / 8;
    for (int32_t a = 0; a < b->dims; a++, out += (size_t)stride * bytes) {
        const unsigned char* column = (const unsigned char*)b->coords + (size_t)a * (size_t)b->pitch * bytes;
        memcpy(out, column + (size_t)rank * bytes, (size_t)count * bytes);
        for (int32_t i = count; i < stride; i++) {
            if (b->real_bits == 64)
                ((double*)(void*)out)[i] = (double)INFINITY;
            else
                ((float*)(void*)out)[i] = INFINITY;
        }
    }
    int32_t* ids = (int32_t*)(void*)out;
    memcpy(ids, b->ids + rank, (size_t)count * sizeof *ids);
    for (int32_t i = count; i < stride; i++) ids[i] = -1;
}

static void write_subtree(const sap_explicit_parts* b, const sap_explicit_top* root) {
    const sap_explicit_draft* draft = &b->drafts[root->draft];
    const sap_explicit_node* nodes = sap_explicit_draft_nodes(draft) + root->draft_at;
    SAP_ASSERT(root->draft_at + root->nodes <= draft->count);
    int32_t* least = min_ids(b) + root->node_at;
    int64_t rank = root->first, slot = root->slot_at;
    for (int64_t i = 0; i < root->nodes; i++) {
        write_node(b, root->node_at + i, nodes[i].split, slot, nodes[i].link);
        if ((nodes[i].link & SAP_NODE_LEAF) != SAP_NODE_LEAF) continue;
        int32_t count = (int32_t)(nodes[i].link >> 5);
        write_block(b, slot, rank, count);
        least[i] = count ? b->ids[rank] : INT32_MAX;
        rank += count;
        slot += sap_leaf_stride(count, b->real_bits);
    }
    SAP_ASSERT(slot == root->slot_at + root->slots);
    for (int64_t i = root->nodes - 1; i >= 0; i--) {
        if ((nodes[i].link & SAP_NODE_LEAF) == SAP_NODE_LEAF) continue;
        SAP_ASSERT(nodes[i].link >> 5 >= 2 && i + (int64_t)(nodes[i].link >> 5) < root->nodes);
        int32_t left = least[i + 1], right = least[i + (nodes[i].link >> 5)];
        least[i] = left < right ? left : right;
    }
}

static void write_top(void* context, int64_t i, int32_t worker) {
    const sap_explicit_parts* b = *(const sap_explicit_parts**)context;
    (void)worker;
    if (b->top[i].left < 0) write_subtree(b, &b->top[i]);
}

void sap_explicit_write(const sap_explicit_parts* b) {
    sap_team_run(b->threads, b->top_count, write_top, (void*)&b);
    for (int64_t i = b->top_count - 1; i >= 0; i--) {
        const sap_explicit_top* t = &b->top[i];
        if (t->left < 0) continue;
        int64_t left = b->top[t->left].node_at, right = b->top[t->right].node_at;
        int32_t *least = min_ids(b), a = least[left], c = least[right];
        least[t->node_at] = a < c ? a : c;
        write_node(b, t->node_at, t->split, 0, (uint32_t)(right - t->node_at) << 5 | (uint32_t)t->axis);
    }
}
