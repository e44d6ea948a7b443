// The points of a leaf as candidates, one after the other.
// Shared text; needs math/dialect.h, the accessors (tree/access.h in C and CUDA), tree/leaf.h and
// nearest/walk_result.h.

// Offers the points of a leaf to the list, but for the one with the id `without` (-1: all of them)
// and those that the search does not keep. If all are equal,
// the scan ends with the first one that the list does not take, since ids ascend.
SAP_FN sap_nearest_result sap_nearest_scan(SAP_TREE_PARAM SAP_MEASURE_PARAM SAP_BITS node, sap_point query, int without,
                                           sap_nearest_result result) {
    sap_leaf leaf = sap_leaf_at(SAP_TREE node);
    int count = leaf.count;
    for (int slot = 0; slot < count; ++slot) {
        SAP_REAL distance2 = sap_leaf_distance2(SAP_TREE SAP_MEASURE leaf, slot, query);
        SAP_REAL limit2 = sap_candidates_limit2(result.list);
        if (distance2 <= limit2) {
            int id = sap_leaf_id(SAP_TREE leaf, slot);
            if (leaf.is_equal && distance2 == limit2 && id > sap_candidates_limit_id(result.list)) count = slot + 1;
            SAP_ASSERT(id >= 0 && id < SAP_NO_ID);
            if (id != without && sap_measure_keeps(SAP_MEASURE id))
                result.list = sap_candidates_insert(result.list, distance2, id);
        } else if (leaf.is_equal) {
            count = slot + 1;
        }
    }
    result.leaves += 1;
    result.points += count;
    return result;
}
