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

#ifdef SAP_PERIODIC
// The same where points lie within periods.
SAP_FN sap_box sap_box_of_periods(SAP_MEASURE_PARAM int dims) {
    sap_box box = sap_box_everything(dims);
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        if (measure->period[axis] > SAP_REAL_MAX) continue;
        box.lower.at[axis] = 0;
        box.upper.at[axis] = measure->period[axis];
    }
    return box;
}

// How far the query is from the box along an axis, at least and at most.
SAP_FN SAP_REAL sap_box_nearest_along(SAP_MEASURE_PARAM sap_box box, int axis, sap_point query) {
    const SAP_REAL below = box.lower.at[axis] - query.at[axis], above = query.at[axis] - box.upper.at[axis];
    return sap_measure_nearest(SAP_MEASURE axis, below > above ? below : above, below > above ? -above : -below);
}

SAP_FN SAP_REAL sap_box_farthest_along(SAP_MEASURE_PARAM sap_box box, int axis, sap_point query) {
    const SAP_REAL below = box.lower.at[axis] - query.at[axis], above = query.at[axis] - box.upper.at[axis];
    return sap_measure_farthest(SAP_MEASURE axis, below > above ? below : above, below > above ? -above : -below);
}

SAP_FN SAP_REAL sap_box_nearest2(SAP_MEASURE_PARAM sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_MEASURED_AXES; ++axis)
        offset.at[axis] = sap_box_nearest_along(SAP_MEASURE box, axis, query);
    return sap_measure_length(SAP_MEASURE offset);
}

SAP_FN SAP_REAL sap_box_farthest2(SAP_MEASURE_PARAM sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_MEASURED_AXES; ++axis)
        offset.at[axis] = sap_box_farthest_along(SAP_MEASURE box, axis, query);
    return sap_measure_length(SAP_MEASURE offset);
}

#else

// No point of the box has a smaller distance by the search's metric.
SAP_FN SAP_REAL sap_box_nearest2(SAP_MEASURE_PARAM sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        SAP_REAL q = query.at[axis];
        SAP_REAL lower = box.lower.at[axis];
        SAP_REAL upper = box.upper.at[axis];
        offset.at[axis] = q < lower ? q - lower : (q > upper ? q - upper : 0.0f);
    }
    return sap_measure_length(SAP_MEASURE offset);
}

// No point of the box has a greater distance.
SAP_FN SAP_REAL sap_box_farthest2(SAP_MEASURE_PARAM sap_box box, sap_point query) {
    sap_point offset;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) {
        SAP_REAL below = query.at[axis] - box.lower.at[axis];
        SAP_REAL above = box.upper.at[axis] - query.at[axis];
        offset.at[axis] = below > above ? below : above;
    }
    return sap_measure_length(SAP_MEASURE offset);
}

#endif
