// The points that a rank holds.
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include "tree/leaves.h"

void sap_cluster_list(const sap_cluster_tree* tree, int64_t* ids, unsigned char* coords) {
    const size_t width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    int64_t first = 0;
    for (int32_t p = 0; p < tree->piece_count; p++) {
        const sap_cluster_piece* piece = &tree->pieces[p];
        for (int64_t at = 0; at < sap_leaf_places(piece->tree); at++) {
            const sap_leaf_block leaf = sap_leaf_block_at(piece->tree, at);
            for (int32_t i = 0; i < leaf.count; i++) {
                const int64_t row = first + sap_cluster_place(piece, at, i, leaf.ids[i]);
                if (ids) ids[row] = sap_cluster_name(piece, leaf.ids[i]);
                if (coords) sap_leaf_point(piece->tree, &leaf, i, coords + (size_t)row * width);
            }
        }
        first += piece->count;
    }
}

static sap_status give_points(const sap_cluster_tree* tree, int32_t real_bits, int64_t* ids, void* coords) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (tree->real_bits != real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "coords: the tree holds %d-bit points", (int)tree->real_bits);
    if (tree->device->rooms.cluster) return tree->device->rooms.cluster->points(tree, ids, coords);
    const sap_status status = sap_cluster_find_places(tree);
    if (status == SAP_OK) sap_cluster_list(tree, ids, coords);
    return status;
}

sap_status sap_cluster_points(const sap_cluster_tree* tree, int64_t* ids, float* coords) {
    return give_points(tree, 32, ids, coords);
}

sap_status sap_cluster_points_f64(const sap_cluster_tree* tree, int64_t* ids, double* coords) {
    return give_points(tree, 64, ids, coords);
}
