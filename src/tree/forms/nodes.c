// A tree's points as a classical balanced k-d tree of linked nodes.
#include "base/team.h"
#include "tree/host_view.h"
#include "tree/leaves.h"
#include <float.h>

// A subtree to be made: its points, and the number of its root, which follows from their number in preorder.
typedef struct node_range {
    int64_t begin, end, node;
    int32_t depth;
} node_range;

enum {
    MOST_PENDING = 40, // ranges that wait while a subtree is made: one for each level, and the last two
    MOST_RANGES = 512, // subtrees that threads share
    LARGE_RANGE = 4096 // points of a range that is worth dividing among threads
};

#define SAP_SPECIAL_TEXT "tree/forms/nodes_real.h"
#include "math/specialise_real.h"

sap_status sap_tree_nodes(const sap_tree* tree, sap_tree_node* nodes) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_tree_shape* s = &tree->shape;
    if (s->count == 0) return SAP_OK;
    if (!nodes) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "nodes: is NULL");
    size_t coords = sap_align((size_t)s->count * (size_t)s->dims * sap_real_bytes(s));
    sap_scratch scratch;
    if (!sap_scratch_take(tree->device, coords + 2 * (size_t)s->count * sizeof(int32_t), &scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to export %lld nodes", (long long)s->count);
    sap_host_view view;
    sap_status status = sap_host_view_open(tree, &view);
    if (status == SAP_OK) {
        if (s->real_bits == 64)
            export_nodes_f64(&view.tree, scratch.memory, nodes);
        else
            export_nodes_f32(&view.tree, scratch.memory, nodes);
        sap_host_view_close(&view);
    }
    sap_scratch_give(tree->device, &scratch);
    return status;
}
