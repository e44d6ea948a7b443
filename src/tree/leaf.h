// The distance to a point in a leaf, by the search's metric.
// Shared text; needs math/distance.h, SAP_DIMS and the accessor sap_leaf_coordinate (tree/access.h).

SAP_FN SAP_REAL sap_leaf_distance2(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_leaf leaf, int slot, sap_point query) {
    SAP_REAL offset = query.at[0] - sap_leaf_coordinate(SAP_TREE leaf, slot, 0);
    SAP_REAL sum = sap_measure_along(SAP_MEASURE 0, offset);
    SAP_UNROLL
    for (int axis = 1; axis < SAP_DIMS; ++axis) {
        offset = query.at[axis] - sap_leaf_coordinate(SAP_TREE leaf, slot, axis);
        sum = sap_measure_join(SAP_MEASURE sum, sap_measure_along(SAP_MEASURE axis, offset));
    }
    return sum;
}
