// The bytes of a tree that hold nothing. They are zero, so that equal trees are equal byte for byte.
#include "tree/layout.h"
#include <string.h>

static void add_gap(sap_gap* gaps, int32_t* count, size_t at, int64_t entries, size_t bytes) {
    size_t end = at + (size_t)entries * bytes;
    SAP_ASSERT(*count < SAP_MOST_ARRAYS && at % SAP_ALIGNMENT == 0);
    gaps[(*count)++] = (sap_gap){end, sap_align(end) - end};
}

int32_t sap_shape_gaps(const sap_tree_shape* s, sap_gap gaps[SAP_MOST_ARRAYS]) {
    size_t real = sap_real_bytes(s), node = s->real_bits == 64 ? sizeof(sap_node_f64) : sizeof(sap_node_f32);
    int32_t count = 0;
    if (s->kind == SAP_TREE_BALANCED) {
        add_gap(gaps, &count, s->split_at, s->nodes, real);
        add_gap(gaps, &count, s->axis_at, s->nodes, 1);
    } else {
        add_gap(gaps, &count, s->node_at, s->nodes, node);
        add_gap(gaps, &count, s->node_min_id_at, s->nodes, sizeof(int32_t));
    }
    for (int32_t j = 0; j < s->levels; j++) {
        int64_t groups = sap_level_groups(s, j);
        add_gap(gaps, &count, s->box_at[j], groups, (size_t)s->dims * 2 * SAP_GROUP * real);
        add_gap(gaps, &count, s->min_id_at[j], groups, SAP_GROUP * sizeof(int32_t));
    }
    add_gap(gaps, &count, s->block_at, s->slots, sap_slot_bytes(s));
    return count;
}

void sap_tree_clear_gaps(sap_tree* tree) {
    sap_gap gaps[SAP_MOST_ARRAYS];
    int32_t count = sap_shape_gaps(&tree->shape, gaps);
    for (int32_t i = 0; i < count; i++) memset(tree->arrays + gaps[i].at, 0, gaps[i].bytes);
    if (tree->shape.kind == SAP_TREE_EXPLICIT) return;
    memset(tree->arrays + tree->shape.split_at, 0, sap_real_bytes(&tree->shape));
    tree->arrays[tree->shape.axis_at] = 0;
}
