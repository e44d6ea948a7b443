// Where nodes of a tree over triangles are cut, and which triangles go where. Shared text; needs math/sah.h and
// sap_mesh_box (mesh/build.h). A plane at zero is +0, never -0, so that it does not matter in which order bounds were
// joined.

SAP_STRUCT(sap_plane)
struct sap_plane {
    int axis; // -1: none
    float at;
    bool planar_left; // where triangles in the plane go
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

// Cuts off the first side of a cell that is empty for more than a part of its length, if there is one. tight: the
// bounds of the triangles' parts. A plane in a face of the cell would cut nothing off.
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

// The middle of a cell's longest side: none where it is not inside, or where that side cannot be measured.
SAP_FN sap_plane sap_cut_middle(sap_mesh_box cell, sap_measure measure) {
    sap_plane plane;
    int k = cell.upper[1] - cell.lower[1] > cell.upper[0] - cell.lower[0] ? 1 : 0;
    if (cell.upper[2] - cell.lower[2] > cell.upper[k] - cell.lower[k]) k = 2;
    plane.at = 0.5f * (cell.lower[k] + cell.upper[k]) + 0.0f;
    plane.axis = measure.split[k] && plane.at > cell.lower[k] && plane.at < cell.upper[k] ? k : -1;
    plane.planar_left = false;
    return plane;
}

// What a plane across an axis of a cell costs that leaves so many triangles on its sides.
SAP_FN float sap_cell_cost(sap_mesh_box cell, sap_measure measure, int axis, float plane, float traversal,
                           float intersection, float in_left, float in_right) {
    float left = sap_share(measure.base[axis], measure.per[axis], plane - cell.lower[axis]);
    float right = sap_share(measure.base[axis], measure.per[axis], cell.upper[axis] - plane);
    return sap_split_cost(traversal, intersection, left, right, in_left, in_right);
}

// Whether a node of so many triangles is cut at this cost, rather than made a leaf.
SAP_FN bool sap_is_worth(float cost, float intersection, float count) { return cost < intersection * count; }

// Whether any plane could be worth it: none costs less than one that leaves nothing on either side.
SAP_FN bool sap_may_be_worth(float traversal, float intersection, float count) {
    return sap_is_worth(sap_split_cost(traversal, intersection, 0.0f, 0.0f, 0.0f, 0.0f), intersection, count);
}

// ---- Nodes of at most 64 triangles
//
// FAST: candidates are the bounds of the parts of triangles, `bound` 0…2 the lower and 3…5 the upper ones; those that
// lie in a face of the cell or across an axis that cannot be cut are none. With the lower bound go triangles in the
// plane to the right, with the upper one to the left. Of equally cheap candidates the first bound is chosen, of that
// the first triangle's.
SAP_FN bool sap_is_candidate(sap_mesh_box cell, sap_measure measure, int axis, float plane) {
    return measure.split[axis] && plane > cell.lower[axis] && plane < cell.upper[axis];
}
SAP_FN bool sap_candidate_precedes(float cost, int bound, int triangle, float other_cost, int other_bound,
                                   int other_triangle) {
    if (cost != other_cost) return cost < other_cost;
    return bound != other_bound ? bound < other_bound : triangle < other_triangle;
}

// HIGH: every bound inside the cell is tried with triangles in its plane on the right and on the left. Of equally cheap
// ones the first axis is chosen, of that the right, of that the lowest plane.
SAP_FN bool sap_plane_precedes(float cost, sap_plane plane, float other_cost, sap_plane other) {
    if (cost != other_cost) return cost < other_cost;
    if (plane.axis != other.axis) return plane.axis < other.axis;
    return plane.planar_left != other.planar_left ? !plane.planar_left : plane.at < other.at;
}
