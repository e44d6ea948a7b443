// Where the planes of a tree over triangles go when the mesh moves. Shared text of C and CUDA; needs mesh/refit/plan.h.
//
// A plane moves as far as its corner. If that takes it out of its cell, one of its sides is empty: the node goes, with
// all that is below that side, and the other child takes its place.
#ifndef SAPWOOD_MESH_REFIT_MOVED_H
#define SAPWOOD_MESH_REFIT_MOVED_H

#include "math/dialect.h"
#include "mesh/refit/plan.h"

#define SAP_REFIT_BOTH  3
#define SAP_REFIT_LEFT  1
#define SAP_REFIT_RIGHT 2

// now: the corner's coordinate. A plane at zero is +0.
SAP_FN float sap_refit_plane(sap_mesh_tie tie, float now) {
    return (float)((double)tie.plane + ((double)now - (double)tie.rest)) + 0.0f;
}

// The children that are left of a node between the faces of its cell across the plane's axis.
SAP_FN int sap_refit_children(float plane, float lower, float upper) {
    return plane <= lower ? SAP_REFIT_RIGHT : plane >= upper ? SAP_REFIT_LEFT : SAP_REFIT_BOTH;
}

SAP_FN double sap_refit_half_surface(sap_mesh_box cell) {
    double x = (double)cell.upper[0] - (double)cell.lower[0];
    double y = (double)cell.upper[1] - (double)cell.lower[1];
    double z = (double)cell.upper[2] - (double)cell.lower[2];
    return x * y + y * z + z * x;
}

// What a node adds to the expected cost of a ray. share: its surface, as a part of the whole tree's. triangles: of a
// leaf; below 0 for an inner node.
SAP_FN double sap_refit_cost(double surface, double whole, float traversal, float intersection, int triangles) {
    double share = whole > 0.0 ? surface / whole : 1.0;
    return triangles < 0 ? share * (double)traversal : share * (double)intersection * (double)triangles;
}

#endif
