// Cells of a tree, and bounds of the distances from a query to their points.
// Shared text; needs math/distance.h. Both bounds hold for distances as they are computed (see there why).

SAP_STRUCT(sap_box)
struct sap_box {
    sap_point lower;
    sap_point upper;
};

// The cell that holds every point of `dims` dimensions.
SAP_FN sap_box sap_box_everything(int dims) {
    SAP_ASSERT(dims >= 1 && dims <= SAP_AXES);
    sap_box box;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        box.lower.at[axis] = axis < dims ? -SAP_REAL_MAX : 0.0f;
        box.upper.at[axis] = axis < dims ? SAP_REAL_MAX : 0.0f;
    }
    return box;
}

// No point of the box has a smaller squared distance.
SAP_FN SAP_REAL sap_box_nearest2(sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        SAP_REAL q = query.at[axis];
        SAP_REAL lower = box.lower.at[axis];
        SAP_REAL upper = box.upper.at[axis];
        offset.at[axis] = q < lower ? q - lower : (q > upper ? q - upper : 0.0f);
    }
    return sap_length2(offset);
}

// No point of the box has a greater squared distance.
SAP_FN SAP_REAL sap_box_farthest2(sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        SAP_REAL below = query.at[axis] - box.lower.at[axis];
        SAP_REAL above = box.upper.at[axis] - query.at[axis];
        offset.at[axis] = below > above ? below : above;
    }
    return sap_length2(offset);
}
