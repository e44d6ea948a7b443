// Nearest neighbours of one query: two walks through a tree, the nearer child first.
// Shared text; needs math/dialect.h, math/distance.h, the accessors (tree/access.h in C and CUDA),
// nearest/walk_result.h and a scan of leaves (nearest/scan.h), and SAP_STACK, the most inner nodes on a path
// (undefined: only the walk without a stack).
//
// A child is skipped if every point in it must come after the k-th best: its bound is greater, or equal while the
// child's smallest id is greater. The second rule keeps a query among many equal points short.

// Whether a node whose points are at least bound2 away may hold one of the k nearest.
SAP_FN bool sap_nearest_reaches(SAP_TREE_PARAM SAP_BITS node, SAP_REAL bound2, sap_candidates list) {
    SAP_REAL limit2 = sap_candidates_limit2(list);
    return bound2 < limit2 || (bound2 == limit2 && sap_smallest_id(SAP_TREE node) < sap_candidates_limit_id(list));
}

#ifdef SAP_STACK

// A child that may have to be visited: its bound, and per axis how far the query is from its cell.
SAP_STRUCT(sap_nearest_pending)
struct sap_nearest_pending {
    SAP_BITS node;
    SAP_REAL bound2;
    sap_point offset;
};

// The walk with a stack, on any tree. `query` is finite; candidates are added to `list`. If a node was entered because
// its bound is equal to the limit, the child with the smallest id is first, where both are as near.
SAP_FN sap_nearest_result sap_nearest_stack(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_point query, int without,
                                            sap_candidates list SAP_PENDING_PARAM) {
    sap_nearest_result result = sap_nearest_begin(list);
    SAP_PENDING
    int waiting = 0;
    SAP_BITS node = SAP_ROOT;
    sap_point offset = sap_point_of(0.0f);
    bool going = true;
    bool tied = false;
    while (going) {
        sap_inner inner = sap_inner_at(SAP_TREE node);
        while (!inner.is_leaf) {
            SAP_REAL aside = sap_point_on(query, inner.axis) - inner.split;
            sap_point farther = sap_point_with(offset, inner.axis, aside);
            SAP_REAL bound2 = sap_measure_length(SAP_MEASURE farther);
            bool is_lower = aside <= 0.0f;
            node = is_lower ? inner.lower : inner.upper;
            if (sap_measure_bound(SAP_MEASURE bound2, sap_candidates_limit_id(result.list)) <=
                sap_candidates_limit2(result.list)) {
                SAP_ASSERT(waiting < SAP_STACK);
                SAP_BITS other = is_lower ? inner.upper : inner.lower;
                if (tied && sap_smallest_id(SAP_TREE other) < sap_smallest_id(SAP_TREE node)) {
                    // Both bounds are the limit: they change places.
                    sap_point nearer = offset;
                    offset = farther;
                    farther = nearer;
                    SAP_BITS first = other;
                    other = node;
                    node = first;
                }
                pending[waiting].node = other;
                pending[waiting].bound2 = bound2;
                pending[waiting].offset = farther;
                waiting += 1;
            }
            result.nodes += 1;
            inner = sap_inner_at(SAP_TREE node);
        }
        result = sap_nearest_scan(SAP_TREE SAP_MEASURE node, query, without, result);
        going = false;
        while (waiting > 0 && !going) {
            waiting -= 1;
            node = pending[waiting].node;
            SAP_REAL bound2 =
                sap_measure_bound(SAP_MEASURE pending[waiting].bound2, sap_candidates_limit_id(result.list));
            going = sap_nearest_reaches(SAP_TREE node, bound2, result.list);
            tied = bound2 == sap_candidates_limit2(result.list);
            if (going) offset = pending[waiting].offset;
        }
    }
    return result;
}

#endif

// Where a walk without a stack stands. Bit d of `pending` says that, d levels above the node, the sibling of the path's
// node may have to be visited.
SAP_STRUCT(sap_nearest_place)
struct sap_nearest_place {
    SAP_BITS node;
    SAP_BITS pending;
    bool going; // the walk has not ended
    sap_nearest_result result;
};

// A walk that begins at a node of a balanced tree: it visits only what lies below that node.
SAP_FN sap_nearest_place sap_nearest_from(SAP_BITS node, sap_candidates list) {
    sap_nearest_place place;
    place.node = node;
    place.pending = 0u;
    place.going = true;
    place.result = sap_nearest_begin(list);
    return place;
}

// Goes on until `leaves` more leaves have been scanned, or the walk ends. If a node was entered because its bound is
// equal to the limit, the child with the smallest id is first: so few of many equal points are scanned.
SAP_FN sap_nearest_place sap_nearest_resume(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_nearest_place place, sap_point query,
                                            int without, int leaves) {
    int last = place.result.leaves + leaves;
    bool tied = false;
    while (place.going && place.result.leaves < last) {
        sap_inner inner = sap_inner_at(SAP_TREE place.node);
        while (!inner.is_leaf && !tied) {
            SAP_REAL aside = sap_point_on(query, inner.axis) - inner.split;
            SAP_REAL across = sap_measure_along(SAP_MEASURE inner.axis, aside);
            bool reaches = across <= sap_candidates_limit2(place.result.list);
            place.node = aside <= 0.0f ? inner.lower : inner.upper;
            place.pending = place.pending + place.pending + (reaches ? 1u : 0u);
            inner = sap_inner_at(SAP_TREE place.node);
        }
        while (!inner.is_leaf) {
            bool is_lower = sap_smallest_id(SAP_TREE inner.lower) < sap_smallest_id(SAP_TREE inner.upper);
            place.node = is_lower ? inner.lower : inner.upper;
            place.pending = place.pending + place.pending + 1u;
            inner = sap_inner_at(SAP_TREE place.node);
        }
        place.result = sap_nearest_scan(SAP_TREE SAP_MEASURE place.node, query, without, place.result);
        place.going = false;
        while (place.pending != 0u && !place.going) {
            place.node = sap_above_zeros(place.node, place.pending) ^ 1u;
            place.pending = sap_above_zeros(place.pending, place.pending) ^ 1u;
            SAP_ASSERT(place.node > 1u); // the root has no sibling
            SAP_REAL bound2 = sap_node_bound2(SAP_TREE SAP_MEASURE place.node, query);
            place.going = sap_nearest_reaches(SAP_TREE place.node, bound2, place.result.list);
            tied = bound2 == sap_candidates_limit2(place.result.list);
            place.result.nodes += 1;
        }
    }
    return place;
}

// The walk without a stack, on balanced trees.
SAP_FN sap_nearest_result sap_nearest_stackless(SAP_TREE_PARAM SAP_MEASURE_PARAM sap_point query, int without,
                                                sap_candidates list) {
    return sap_nearest_resume(SAP_TREE SAP_MEASURE sap_nearest_from(SAP_ROOT, list), query, without, SAP_NO_ID).result;
}
