// The walk of nearest/walk.h through trees with periods. A sibling, because planes alone bound no distance there: the
// shorter way to a cell may lead around the axis to its other side. So what waits keeps its cell.
// Shared text for C and CUDA; needs SAP_PERIODIC (math/metric.h), math/box.h, and what nearest/walk.h needs.

// Whether a node whose points are at least bound2 away may hold one of the k nearest.
SAP_FN bool sap_nearest_reaches(SAP_TREE_PARAM SAP_BITS node, SAP_REAL bound2, sap_candidates list) {
    SAP_REAL limit2 = sap_candidates_limit2(list);
    return bound2 < limit2 || (bound2 == limit2 && sap_smallest_id(SAP_TREE node) < sap_candidates_limit_id(list));
}

// A node's cell, and how far the query is from it: along each axis, and by the metric.
SAP_STRUCT(sap_nearest_pending)
struct sap_nearest_pending {
    SAP_BITS node;
    SAP_REAL bound2;
    sap_point offset;
    sap_box cell;
};

// A child of a node, on the side of the split that its cell gets.
SAP_FN sap_nearest_pending sap_nearest_child(SAP_MEASURE_PARAM sap_nearest_pending parent, sap_inner inner,
                                             bool is_lower, sap_point query) {
    sap_nearest_pending child = parent;
    child.node = is_lower ? inner.lower : inner.upper;
    if (is_lower)
        child.cell.upper.at[inner.axis] = inner.split;
    else
        child.cell.lower.at[inner.axis] = inner.split;
    child.offset.at[inner.axis] = sap_box_nearest_along(SAP_MEASURE child.cell, inner.axis, query);
    child.bound2 = sap_measure_length(SAP_MEASURE child.offset);
    return child;
}

// The walk with a stack, on any tree. `query` is finite; candidates are added to `list`. The nearer child is as near as
// its parent. If a node was entered because its bound is equal to the limit, the child with the smallest id is first,
// where both are as near.
SAP_FN sap_nearest_result sap_nearest_stack(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_point query, int without,
                                            sap_candidates list SAP_PENDING_PARAM) {
    sap_nearest_result result = sap_nearest_begin(list);
    SAP_PENDING
    int waiting = 0;
    sap_nearest_pending at;
    at.node = SAP_ROOT;
    at.bound2 = 0;
    at.offset = sap_point_of(0.0f);
    at.cell = sap_box_of_periods(SAP_MEASURE SAP_DIMS);
    bool going = true;
    bool tied = false;
    while (going) {
        sap_inner inner = sap_inner_at(SAP_TREE at.node);
        while (!inner.is_leaf) {
            sap_nearest_pending nearer = sap_nearest_child(SAP_MEASURE at, inner, true, query);
            sap_nearest_pending farther = sap_nearest_child(SAP_MEASURE at, inner, false, query);
            const bool is_better =
                tied && sap_smallest_id(SAP_TREE farther.node) < sap_smallest_id(SAP_TREE nearer.node);
            if (farther.bound2 < nearer.bound2 || (farther.bound2 == nearer.bound2 && is_better)) {
                const sap_nearest_pending first = farther;
                farther = nearer;
                nearer = first;
            }
            at = nearer;
            if (sap_measure_bound(SAP_MEASURE farther.bound2, sap_candidates_limit_id(result.list)) <=
                sap_candidates_limit2(result.list)) {
                SAP_ASSERT(waiting < SAP_STACK);
                pending[waiting] = farther;
                waiting += 1;
            }
            result.nodes += 1;
            inner = sap_inner_at(SAP_TREE at.node);
        }
        result = sap_nearest_scan(SAP_TREE SAP_MEASURE at.node, query, without, result);
        going = false;
        while (waiting > 0 && !going) {
            waiting -= 1;
            at = pending[waiting];
            SAP_REAL bound2 = sap_measure_bound(SAP_MEASURE at.bound2, sap_candidates_limit_id(result.list));
            going = sap_nearest_reaches(SAP_TREE at.node, bound2, result.list);
            tied = bound2 == sap_candidates_limit2(result.list);
        }
    }
    return result;
}

#ifndef SAP_STACK_IS_LENT
// There is no walk without a stack: the same answers.
SAP_FN sap_nearest_result sap_nearest_stackless(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_point query, int without,
                                                sap_candidates list) {
    return sap_nearest_stack(SAP_TREE SAP_MEASURE query, without, list);
}
#endif
