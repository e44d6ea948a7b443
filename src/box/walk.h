// The points in one closed box, in the tree's own order: the lower child always first. C and CUDA only: shaders have no
// memory to write a list to. Specialised text; needs math/dialect.h, math/distance.h, math/box.h, tree/access.h, and
// SAP_STACK, the most inner nodes on a path.
//
// Texts of a file that defines SAP_AROUND (C only) take a box whose lower side is above its upper one for one that leads
// around a periodic axis: it holds what lies above the one or below the other.

// What a walk has found, and where it writes the first `room` ids; with no room it only counts.
SAP_STRUCT(sap_box_hits)
struct sap_box_hits {
    int32_t* ids;
    int room;
    int count;
    int nodes;  // inner nodes at which both children were looked at
    int leaves; // leaves whose points were tested
};

// One box out of two arrays of corners.
SAP_FN sap_box sap_box_load(SAP_TREE_PARAM const SAP_REAL* lower, const SAP_REAL* upper) {
    sap_box box = sap_box_everything(SAP_DIMS);
    SAP_UNUSED(tree)
    SAP_UNROLL
    for (int axis = 0; axis < SAP_DIMS; ++axis) {
        box.lower.at[axis] = lower[axis];
        box.upper.at[axis] = upper[axis];
    }
    return box;
}

// Whether one interval holds another, from `from` to `to`. Of a cell that it meets and that is split: whether it meets
// the part above, up to `to`, and the part below, from `from` on.
#ifdef SAP_AROUND
SAP_FN bool sap_box_covers(SAP_REAL lower, SAP_REAL upper, SAP_REAL from, SAP_REAL to) {
    return lower <= upper ? lower <= from && to <= upper : from >= lower || to <= upper;
}

SAP_FN bool sap_box_meets_above(SAP_REAL lower, SAP_REAL upper, SAP_REAL split, SAP_REAL to) {
    return upper >= split || (lower > upper && lower <= to);
}

SAP_FN bool sap_box_meets_below(SAP_REAL lower, SAP_REAL upper, SAP_REAL split, SAP_REAL from) {
    return lower <= split || (lower > upper && upper >= from);
}
#else
SAP_FN bool sap_box_covers(SAP_REAL lower, SAP_REAL upper, SAP_REAL from, SAP_REAL to) {
    return lower <= from && to <= upper;
}

SAP_FN bool sap_box_meets_above(SAP_REAL lower, SAP_REAL upper, SAP_REAL split, SAP_REAL to) {
    SAP_UNUSED(lower)
    SAP_UNUSED(to)
    return upper >= split;
}

SAP_FN bool sap_box_meets_below(SAP_REAL lower, SAP_REAL upper, SAP_REAL split, SAP_REAL from) {
    SAP_UNUSED(upper)
    SAP_UNUSED(from)
    return lower <= split;
}
#endif

// Whether a box holds all that lies between two corners. False if a coordinate is NaN.
SAP_FN bool sap_box_holds(sap_box box, sap_point lower, sap_point upper) {
    bool is_inside = true;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis)
        is_inside = is_inside && sap_box_covers(box.lower.at[axis], box.upper.at[axis], lower.at[axis], upper.at[axis]);
    return is_inside;
}

// Takes all points of a leaf.
SAP_FN sap_box_hits sap_box_take(SAP_TREE_PARAM sap_leaf leaf, sap_box_hits hits) {
    for (int slot = 0; slot < leaf.count && hits.count + slot < hits.room; ++slot)
        hits.ids[hits.count + slot] = sap_leaf_id(SAP_TREE leaf, slot);
    hits.count += leaf.count;
    return hits;
}

SAP_FN bool sap_box_holds_slot(SAP_TREE_PARAM sap_box box, sap_leaf leaf, int slot) {
    sap_point point = sap_point_of(0.0f);
    SAP_UNROLL
    for (int axis = 0; axis < SAP_DIMS; ++axis) point.at[axis] = sap_leaf_coordinate(SAP_TREE leaf, slot, axis);
    return sap_box_holds(box, point, point);
}

// Takes the points of a leaf that lie in the box. Of equal points, only the first is tested.
SAP_FN sap_box_hits sap_box_scan(SAP_TREE_PARAM sap_box box, sap_leaf leaf, sap_box_hits hits) {
    hits.leaves += 1;
    if (leaf.is_equal) {
        if (sap_box_holds_slot(SAP_TREE box, leaf, 0)) hits = sap_box_take(SAP_TREE leaf, hits);
        return hits;
    }
    for (int slot = 0; slot < leaf.count; ++slot) {
        if (sap_box_holds_slot(SAP_TREE box, leaf, slot)) {
            if (hits.count < hits.room) hits.ids[hits.count] = sap_leaf_id(SAP_TREE leaf, slot);
            hits.count += 1;
        }
    }
    return hits;
}

// A child that the box reaches, and its cell.
SAP_STRUCT(sap_box_pending)
struct sap_box_pending {
    SAP_BITS node;
    sap_box cell;
};

// The walk, on any tree. Subtrees that lie inside the box are counted whole; where ids are written, their leaves are
// taken without a test. A box with a NaN, or with lower > upper on some axis, holds no point.
SAP_FN sap_box_hits sap_box_stack(SAP_TREE_PARAM sap_box box, sap_box_hits hits) {
    sap_box_pending pending[SAP_STACK + 1]; // each inner node takes one entry away and adds at most two
    int waiting = 0;
    if (sap_box_holds(box, box.lower, box.lower)) {
        pending[0].node = SAP_ROOT;
        pending[0].cell = sap_box_everything(SAP_DIMS);
        waiting = 1;
    }
    while (waiting > 0) {
        waiting -= 1;
        const sap_box_pending at = pending[waiting];
        const sap_inner inner = sap_inner_at(SAP_TREE at.node);
        const bool is_inside = sap_box_holds(box, at.cell.lower, at.cell.upper);
        if (is_inside && hits.room <= hits.count) {
            hits.count += sap_count_below(SAP_TREE at.node);
        } else if (inner.is_leaf) {
            const sap_leaf leaf = sap_leaf_at(SAP_TREE at.node);
            hits = is_inside ? sap_box_take(SAP_TREE leaf, hits) : sap_box_scan(SAP_TREE box, leaf, hits);
        } else {
            hits.nodes += 1;
            SAP_ASSERT(waiting + 2 <= SAP_STACK + 1);
            const SAP_REAL lower = sap_point_on(box.lower, inner.axis), upper = sap_point_on(box.upper, inner.axis);
            const SAP_REAL from = sap_point_on(at.cell.lower, inner.axis), to = sap_point_on(at.cell.upper, inner.axis);
            if (sap_box_meets_above(lower, upper, inner.split, to)) { // the upper child has coordinates from split on
                pending[waiting] = at;
                pending[waiting].node = inner.upper;
                pending[waiting].cell.lower = sap_point_with(at.cell.lower, inner.axis, inner.split);
                waiting += 1;
            }
            if (sap_box_meets_below(lower, upper, inner.split, from)) { // the lower child, up to split
                pending[waiting] = at;
                pending[waiting].node = inner.lower;
                pending[waiting].cell.upper = sap_point_with(at.cell.upper, inner.axis, inner.split);
                waiting += 1;
            }
        }
    }
    return hits;
}
