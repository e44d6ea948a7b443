// What a search was told, as the shared texts take it. Specialised text (math/specialise.h); needs tree/told.h,
// math/distance.h and SAP_MEASURED.

SAP_FN sap_measure SAP_SPECIAL(measure_told)(const sap_tree* tree, const sap_told* told) {
    sap_measure measure;
    measure.axes = SAP_DIMS;
    measure.power = told->power;
    measure.roots = told->roots;
    measure.is_largest = told->metric == SAP_METRIC_LINF;
    measure.widen = (SAP_REAL)told->widen;
    measure.keep = told->keep;
    (void)tree; // of a known number of axes
    for (int axis = 0; axis < SAP_AXES; ++axis)
        measure.weight[axis] = told->weights && axis < SAP_DIMS ? (SAP_REAL)told->weights[axis] : 1;
#ifdef SAP_PERIODIC
    for (int axis = 0; axis < SAP_AXES; ++axis)
        measure.period[axis] = tree->options.period[axis] > 0 ? (SAP_REAL)tree->options.period[axis] : INFINITY;
#endif
    return measure;
}
