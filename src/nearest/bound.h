// A lower bound of the squared distances of the points below a node of a balanced tree: if the query lies on the
// sibling's side, that of the plane between the two, which is read again from their parent. Shared text; needs
// math/dialect.h, math/distance.h and the accessors (tree/access.h in C and CUDA).

SAP_FN SAP_REAL sap_node_bound2(SAP_TREE_PARAM SAP_MEASURE_PARAM SAP_BITS node, sap_point query) {
    sap_inner parent = sap_inner_at(SAP_TREE node >> 1);
    SAP_REAL aside = sap_point_on(query, parent.axis) - parent.split;
    bool is_beyond = (node & 1u) == 0u ? aside > 0.0f : aside < 0.0f;
    return is_beyond ? sap_measure_along(SAP_MEASURE parent.axis, aside) : 0.0f;
}
