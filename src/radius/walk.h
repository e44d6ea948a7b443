// The points within a radius of one query, shown to a visitor in the tree's own order: the lower child always first.
// Shared text; needs math/dialect.h, math/distance.h, math/box.h, the accessors (tree/access.h in C and CUDA),
// tree/leaf.h, a visitor (radius/count.h, radius/collect.h), and SAP_STACK, the most inner nodes on a path.

// A visitor, and what the walk did.
SAP_STRUCT(sap_radius_result)
struct sap_radius_result {
    sap_visits visits;
    int nodes;
    int leaves;
    int points;
};

// Shows the points of a leaf within limit2 whose ids are greater than `after`. Of equal points, only the first is
// tested.
SAP_FN sap_radius_result sap_radius_scan(SAP_TREE_PARAM SAP_MEASURE_PARAM SAP_BITS node, sap_point query,
                                         SAP_REAL limit2, int after, sap_radius_result result) {
    sap_leaf leaf = sap_leaf_at(SAP_TREE node);
    int count = leaf.count;
    if (leaf.is_equal) {
        bool is_inside = sap_leaf_distance2(SAP_TREE SAP_MEASURE leaf, 0, query) <= limit2;
        bool by_number = sap_visits_subtrees(result.visits) && sap_measure_keeps_all(SAP_MEASURE after);
        if (is_inside && by_number) result.visits = sap_visit_subtree(result.visits, count);
        if (!is_inside || by_number) count = 0;
    }
    for (int slot = 0; slot < count; ++slot) {
        SAP_REAL distance2 = sap_leaf_distance2(SAP_TREE SAP_MEASURE leaf, slot, query);
        if (distance2 <= limit2) {
            int id = sap_leaf_id(SAP_TREE leaf, slot);
            SAP_ASSERT(id >= 0 && id < SAP_NO_ID);
            if (id > after && sap_measure_keeps(SAP_MEASURE id))
                result.visits = sap_visit(result.visits, distance2, id);
        }
    }
    result.leaves += 1;
    result.points += count;
    return result;
}

// An upper child that reaches into the ball, and its cell.
SAP_STRUCT(sap_radius_pending)
struct sap_radius_pending {
    SAP_BITS node;
    sap_box cell;
};

// The walk, on any tree. `query` is finite; only ids greater than `after` count (-1: all).
SAP_FN sap_radius_result sap_radius_stack(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_point query, SAP_REAL limit2, int after,
                                          sap_visits visits) {
    sap_radius_result result;
    result.visits = visits;
    result.nodes = 0;
    result.leaves = 0;
    result.points = 0;
    sap_radius_pending pending[SAP_STACK];
    int waiting = 0;
    SAP_BITS node = SAP_ROOT;
#ifdef SAP_PERIODIC
    sap_box cell = sap_box_of_periods(SAP_MEASURE SAP_DIMS);
#else
    sap_box cell = sap_box_everything(SAP_DIMS);
#endif
    bool by_number = sap_visits_subtrees(visits) && sap_measure_keeps_all(SAP_MEASURE after);
    bool going = true;
    while (going) {
        sap_inner inner = sap_inner_at(SAP_TREE node);
        bool is_inside = by_number && sap_box_farthest2(SAP_MEASURE cell, query) <= limit2;
        going = !is_inside && !inner.is_leaf;
        if (is_inside) {
            result.visits = sap_visit_subtree(result.visits, sap_count_below(SAP_TREE node));
        } else if (inner.is_leaf) {
            result = sap_radius_scan(SAP_TREE SAP_MEASURE node, query, limit2, after, result);
        } else {
            sap_box lower = cell;
            sap_box upper = cell;
            lower.upper = sap_point_with(cell.upper, inner.axis, inner.split);
            upper.lower = sap_point_with(cell.lower, inner.axis, inner.split);
            bool lower_reaches = sap_box_nearest2(SAP_MEASURE lower, query) <= limit2;
            bool upper_reaches = sap_box_nearest2(SAP_MEASURE upper, query) <= limit2;
            result.nodes += 2;
            if (lower_reaches && upper_reaches) {
                SAP_ASSERT(waiting < SAP_STACK);
                pending[waiting].node = inner.upper;
                pending[waiting].cell = upper;
                waiting += 1;
            }
            node = lower_reaches ? inner.lower : inner.upper;
            if (lower_reaches)
                cell = lower;
            else
                cell = upper;
            going = lower_reaches || upper_reaches;
        }
        if (!going && waiting > 0) {
            waiting -= 1;
            node = pending[waiting].node;
            cell = pending[waiting].cell;
            going = true;
        }
    }
    return result;
}
