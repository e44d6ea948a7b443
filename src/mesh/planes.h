// How the plane of a node is chosen and which triangles go to which side. Shared text of C and CUDA; needs math/sah.h
// and mesh/build.h. A plane at zero is +0, never -0, so that the order in which bounds were joined does not matter. No
// result depends on the order in which nodes, or the candidate planes of a node, are examined.

SAP_STRUCT(sap_plane)
struct sap_plane {
    int axis; // -1: none
    float at;
    bool planar_left; // whether triangles in the plane go to the left
};

// Whether a triangle reaches a side of a plane, by its bounds along the plane's axis.
SAP_FN bool sap_reaches_left(float lower, float upper, float plane, bool planar_left) {
    return lower < plane || (planar_left && lower == plane && upper == plane);
}
SAP_FN bool sap_reaches_right(float lower, float upper, float plane, bool planar_left) {
    return upper > plane || (!planar_left && lower == plane && upper == plane);
}

// Joins the bounds of two lists of triangles.
SAP_FN sap_mesh_box sap_box_join(sap_mesh_box a, sap_mesh_box b) {
    for (int k = 0; k < 3; ++k) {
        a.lower[k] = a.lower[k] < b.lower[k] ? a.lower[k] : b.lower[k];
        a.upper[k] = a.upper[k] > b.upper[k] ? a.upper[k] : b.upper[k];
    }
    return a;
}

// Finds the plane that cuts empty space off the first side of a cell that is empty for more than `empty_space` of the
// cell's length. tight: the bounds of the parts. A plane in a face of the cell would cut nothing off.
SAP_FN sap_plane sap_cut_empty(sap_mesh_box cell, sap_mesh_box tight, float empty_space) {
    sap_plane plane;
    plane.axis = -1;
    plane.at = 0.0f;
    plane.planar_left = false;
    for (int k = 2; k >= 0; --k) {
        float lower = cell.lower[k];
        float upper = cell.upper[k];
        float enough = empty_space * (upper - lower);
        bool below = tight.lower[k] - lower > enough && tight.lower[k] < upper;
        bool above = upper - tight.upper[k] > enough && tight.upper[k] > lower;
        if (below || above) {
            plane.axis = k;
            plane.at = (below ? tight.lower[k] : tight.upper[k]) + 0.0f;
            plane.planar_left = !below;
        }
    }
    return plane;
}

// The plane in the middle of a cell's longest side. None if it is not inside the cell, or if the axis cannot be split.
SAP_FN sap_plane sap_cut_middle(sap_mesh_box cell, sap_measure measure) {
    sap_plane plane;
    int k = cell.upper[1] - cell.lower[1] > cell.upper[0] - cell.lower[0] ? 1 : 0;
    if (cell.upper[2] - cell.lower[2] > cell.upper[k] - cell.lower[k]) k = 2;
    plane.at = 0.5f * (cell.lower[k] + cell.upper[k]) + 0.0f;
    plane.axis = measure.split[k] && plane.at > cell.lower[k] && plane.at < cell.upper[k] ? k : -1;
    plane.planar_left = false;
    return plane;
}

// The cost of a plane that leaves `in_left` and `in_right` triangles on its sides.
SAP_FN float sap_cell_cost(sap_mesh_box cell, sap_measure measure, int axis, float plane, float traversal,
                           float intersection, float in_left, float in_right) {
    float left = sap_share(measure.base[axis], measure.per[axis], plane - cell.lower[axis]);
    float right = sap_share(measure.base[axis], measure.per[axis], cell.upper[axis] - plane);
    return sap_split_cost(traversal, intersection, left, right, in_left, in_right);
}

// Whether dividing a node of `count` triangles at this cost is cheaper than a leaf.
SAP_FN bool sap_is_worth(float cost, float intersection, float count) { return cost < intersection * count; }

// Whether any plane could be worth it: a plane that leaves no triangles on either side is the cheapest.
SAP_FN bool sap_may_be_worth(float traversal, float intersection, float count) {
    return sap_is_worth(sap_split_cost(traversal, intersection, 0.0f, 0.0f, 0.0f, 0.0f), intersection, count);
}

// The order of candidate planes of HIGH, and of FAST where the middle is not worth it. Of equal costs the lower axis
// precedes, then triangles in the plane on the right, then the lower plane.
SAP_FN bool sap_plane_precedes(float cost, sap_plane plane, float other_cost, sap_plane other) {
    if (cost != other_cost) return cost < other_cost;
    if (plane.axis != other.axis) return plane.axis < other.axis;
    return plane.planar_left != other.planar_left ? !plane.planar_left : plane.at < other.at;
}

// ---- The limit of references
//
// Each node has a limit of references for its subtree, which it divides between its children. So a tree has at most
// SAP_MESH_STAGED references for each triangle, however the triangles overlap, and no subtree's shape depends on
// another's. An empty leaf counts as one reference, so that there are fewer than twice as many nodes as references.

// The highest limit for a node of `count` parts, and the limit of the root.
SAP_FN int64_t sap_most_references(int64_t count) {
    return SAP_MESH_STAGED * (count > SAP_MESH_FEWEST ? count : SAP_MESH_FEWEST);
}

// Whether a node's limit allows a plane with `left` and `right` parts on its sides before clipping.
SAP_FN bool sap_may_cut(int64_t most, int64_t left, int64_t right) {
    return left + right + (left == 0 || right == 0 ? 1 : 0) <= most;
}

// The limit of the side that has `part` of the parts before clipping and `count` of them after.
SAP_FN int64_t sap_hand_down(int64_t most, int64_t left, int64_t right, int64_t part, int64_t count) {
    SAP_ASSERT(left + right > 0 && (part == left || part == right) && count >= 0 && count <= part);
    int64_t given = (int64_t)((double)most * (double)part / (double)(left + right));
    int64_t limit = sap_most_references(count);
    if (left == 0 || right == 0) given = given - 1;
    if (given > limit) given = limit;
    return given > count ? given : count;
}

// Small nodes: the nodes of their subtrees use up one limit in preorder. `spare` is what is left of it after one
// reference for each triangle of finished leaves and waiting nodes, and one for each of these without triangles.
SAP_FN int64_t sap_spare_at_first(int64_t most, int64_t count) { return most - (count > 0 ? count : 1); }
SAP_FN bool sap_may_cut_small(int64_t spare, int64_t count) { return count <= spare; }
SAP_FN int64_t sap_spare_after(int64_t spare, int64_t count, int64_t left, int64_t right) {
    int64_t after = spare + count - (left > 0 ? left : 1) - (right > 0 ? right : 1);
    SAP_ASSERT(left <= count && right <= count && after >= 0);
    return after;
}

// ---- Large nodes: bins
//
// Each axis has 64 bins, which count the parts that start and end in each. Parts that start in the bins below an edge
// are left of it, parts that end in the bins above are right of it. FAST takes the cheapest of the inner edges, with
// triangles in its plane on the right. HIGH also tries the bounds of parts (events) in the few bins that may hold the
// cheapest plane.

// Bins per unit of length: 0 if the axis cannot be split.
SAP_FN float sap_bin_scale(sap_mesh_box cell, sap_measure measure, int axis) {
    float scale = 64.0f / (cell.upper[axis] - cell.lower[axis]);
    return measure.split[axis] && scale <= 3.402823466e+38f ? scale : 0.0f;
}
SAP_FN int sap_bin_of(float x, float lower, float scale) {
    int bin = (int)((x - lower) * scale);
    SAP_ASSERT(bin >= 0);
    return bin < 63 ? bin : 63;
}
SAP_FN float sap_bin_edge(sap_mesh_box cell, int axis, int bin) {
    return cell.lower[axis] + (cell.upper[axis] - cell.lower[axis]) * (float)bin / 64.0f;
}

// A bin that is searched for planes. bound: an approximate lower bound of their costs.
SAP_STRUCT(sap_bin)
struct sap_bin {
    float bound;
    int axis;
    int number;
};

// before: parts that start in lower bins; after: parts that end in higher ones.
SAP_FN sap_bin sap_bin_with_bound(sap_mesh_box cell, sap_measure measure, int axis, int number, float traversal,
                                  float intersection, float before, float after) {
    sap_bin bin;
    float low = sap_bin_edge(cell, axis, number);
    float high = sap_bin_edge(cell, axis, number + 1);
    float left = sap_share(measure.base[axis], measure.per[axis], low - cell.lower[axis]);
    float right = sap_share(measure.base[axis], measure.per[axis], cell.upper[axis] - high);
    bin.bound = sap_split_cost(traversal, intersection, left, right, before, after);
    bin.axis = axis;
    bin.number = number;
    return bin;
}

// HIGH searches the first SAP_MESH_CHOSEN of the bins that hold events and whose bound is below the cost of the
// cheapest edge, as long as their events fit into memory for three times as many as the node has parts.
SAP_FN bool sap_bin_precedes(sap_bin bin, sap_bin other) {
    if (bin.bound != other.bound) return bin.bound < other.bound;
    return bin.axis != other.axis ? bin.axis < other.axis : bin.number < other.number;
}
SAP_FN int64_t sap_room_for_bin(int64_t starts, int64_t ends) {
    return starts + ends + (starts < ends ? starts : ends);
}

// ---- Small nodes
//
// FAST: candidate planes are the bounds of the parts, `bound` 0…2 the lower and 3…5 the upper ones, if they lie inside
// the cell and across an axis that can be split. Triangles in the plane go to the right of a lower bound and to the
// left of an upper one. Of equal costs the lower bound number precedes, then the lower triangle.
SAP_FN bool sap_is_candidate(sap_mesh_box cell, sap_measure measure, int axis, float plane) {
    return measure.split[axis] && plane > cell.lower[axis] && plane < cell.upper[axis];
}
SAP_FN bool sap_candidate_precedes(float cost, int bound, int triangle, float other_cost, int other_bound,
                                   int other_triangle) {
    if (cost != other_cost) return cost < other_cost;
    return bound != other_bound ? bound < other_bound : triangle < other_triangle;
}

// HIGH: every bound inside the cell is tried with triangles in its plane on the right and on the left.
