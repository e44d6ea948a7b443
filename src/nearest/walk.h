// Nearest neighbours of one query: two walks through a tree, the nearer child first.
// Shared text; needs math/dialect.h, math/distance.h, the accessors (tree/access.h in C and CUDA), tree/leaf.h, a list
// of candidates, and SAP_STACK, the most inner nodes on a path.
//
// A child is skipped if every point in it must come after the k-th best: its bound is greater, or equal while the
// child's smallest id is greater. The second rule keeps a query among many equal points short.

// A list of candidates, and what the walk did to find them.
SAP_STRUCT(sap_nearest_walked)
struct sap_nearest_walked {
    sap_candidates list;
    int nodes;
    int leaves;
    int points;
};

SAP_FN sap_nearest_walked sap_nearest_begin(sap_candidates list) {
    sap_nearest_walked walked;
    walked.list = list;
    walked.nodes = 0;
    walked.leaves = 0;
    walked.points = 0;
    return walked;
}

// Whether a node whose points are at least bound2 away may hold one of the k nearest.
SAP_FN bool sap_nearest_reaches(SAP_TREE_PARAM SAP_BITS node, SAP_REAL bound2, sap_candidates list) {
    SAP_REAL limit2 = sap_candidates_limit2(list);
    return bound2 < limit2 || (bound2 == limit2 && sap_smallest_id(SAP_TREE node) < sap_candidates_limit_id(list));
}

// Looks at the points of a leaf, but for the one with the id `without` (-1: at all). Where all are equal, the first
// that is turned away is the last to be looked at, since ids ascend.
SAP_FN sap_nearest_walked sap_nearest_scan(SAP_TREE_PARAM SAP_BITS node, sap_point query, int without,
                                           sap_nearest_walked walked) {
    sap_leaf leaf = sap_leaf_at(SAP_TREE node);
    int count = leaf.count;
    for (int slot = 0; slot < count; ++slot) {
        SAP_REAL distance2 = sap_leaf_distance2(SAP_TREE leaf, slot, query);
        SAP_REAL limit2 = sap_candidates_limit2(walked.list);
        if (distance2 <= limit2) {
            int id = sap_leaf_id(SAP_TREE leaf, slot);
            if (leaf.is_equal && distance2 == limit2 && id > sap_candidates_limit_id(walked.list)) count = slot + 1;
            if (id != without) walked.list = sap_candidates_insert(walked.list, distance2, id);
        } else if (leaf.is_equal) {
            count = slot + 1;
        }
    }
    walked.leaves += 1;
    walked.points += count;
    return walked;
}

// A child that may have to be visited: its bound, and per axis how far the query is from its cell.
SAP_STRUCT(sap_nearest_pending)
struct sap_nearest_pending {
    SAP_BITS node;
    SAP_REAL bound2;
    sap_point offset;
};

// The walk with a stack, on any tree. `query` is finite; candidates are added to `list`.
SAP_FN sap_nearest_walked sap_nearest_stack(SAP_TREE_PARAM sap_point query, int without, sap_candidates list) {
    sap_nearest_walked walked = sap_nearest_begin(list);
    sap_nearest_pending pending[SAP_STACK];
    int waiting = 0;
    SAP_BITS node = SAP_ROOT;
    sap_point offset = sap_point_of(0.0f);
    bool going = true;
    while (going) {
        sap_inner inner = sap_inner_at(SAP_TREE node);
        while (!inner.is_leaf) {
            SAP_REAL aside = sap_point_on(query, inner.axis) - inner.split;
            sap_point farther = sap_point_with(offset, inner.axis, aside);
            SAP_REAL bound2 = sap_length2(farther);
            bool is_lower = aside <= 0.0f;
            node = is_lower ? inner.lower : inner.upper;
            if (bound2 <= sap_candidates_limit2(walked.list)) {
                pending[waiting].node = is_lower ? inner.upper : inner.lower;
                pending[waiting].bound2 = bound2;
                pending[waiting].offset = farther;
                waiting += 1;
            }
            walked.nodes += 1;
            inner = sap_inner_at(SAP_TREE node);
        }
        walked = sap_nearest_scan(SAP_TREE node, query, without, walked);
        going = false;
        while (waiting > 0 && !going) {
            waiting -= 1;
            node = pending[waiting].node;
            going = sap_nearest_reaches(SAP_TREE node, pending[waiting].bound2, walked.list);
            if (going) offset = pending[waiting].offset;
        }
    }
    return walked;
}

// The walk without a stack, on balanced trees. Bit d of `pending` says that, d levels above the node, the sibling of
// the path's node has not been looked at. Its bound is the plane between the two, read again from their parent.
SAP_FN sap_nearest_walked sap_nearest_stackless(SAP_TREE_PARAM sap_point query, int without, sap_candidates list) {
    sap_nearest_walked walked = sap_nearest_begin(list);
    SAP_BITS pending = 0u;
    SAP_BITS node = SAP_ROOT;
    bool going = true;
    while (going) {
        sap_inner inner = sap_inner_at(SAP_TREE node);
        while (!inner.is_leaf) {
            SAP_REAL aside = sap_point_on(query, inner.axis) - inner.split;
            node = aside <= 0.0f ? inner.lower : inner.upper;
            pending = (pending << 1) | 1u;
            inner = sap_inner_at(SAP_TREE node);
        }
        walked = sap_nearest_scan(SAP_TREE node, query, without, walked);
        going = false;
        while (pending != 0u && !going) {
            int levels = sap_trailing_zeros(pending);
            node = (node >> levels) ^ 1u;
            pending = (pending >> levels) ^ 1u;
            inner = sap_inner_at(SAP_TREE node >> 1);
            SAP_REAL aside = sap_point_on(query, inner.axis) - inner.split;
            going = sap_nearest_reaches(SAP_TREE node, aside * aside, walked.list);
            walked.nodes += 1;
        }
    }
    return walked;
}
