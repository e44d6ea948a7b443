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

// Whether a triangle whose bounds reach into a cell may do so itself: false if its plane, or a plane through one of its
// edges and along an axis, has both on different sides (Akenine-Moeller 2001), by more than the roundings of this test.
SAP_FN bool sap_refit_reaches(const float* corners, sap_mesh_box cell) {
    double half[3], v[3][3], size = 0.0; // corners, seen from the middle of the cell
    for (int k = 0; k < 3; ++k) {
        double middle = 0.5 * ((double)cell.upper[k] + (double)cell.lower[k]);
        half[k] = 0.5 * ((double)cell.upper[k] - (double)cell.lower[k]);
        for (int i = 0; i < 3; ++i) {
            v[i][k] = (double)corners[3 * i + k] - middle;
            size += fabs(v[i][k]);
        }
        size += half[k];
    }
    double p[3], q[3], p_size = 0.0, q_size = 0.0;
    for (int k = 0; k < 3; ++k) {
        p[k] = v[1][k] - v[0][k];
        q[k] = v[2][k] - v[0][k];
        p_size += fabs(p[k]);
        q_size += fabs(q[k]);
    }
    double x = p[1] * q[2] - p[2] * q[1];
    double y = p[2] * q[0] - p[0] * q[2];
    double z = p[0] * q[1] - p[1] * q[0];
    double reach = fabs(x) * half[0] + fabs(y) * half[1] + fabs(z) * half[2];
    if (fabs(x * v[0][0] + y * v[0][1] + z * v[0][2]) > reach + 0x1p-44 * size * p_size * q_size) return false;
    for (int i = 0; i < 3; ++i) {
        int next = i == 2 ? 0 : i + 1;
        int other = i == 0 ? 2 : i - 1;
        for (int k = 0; k < 3; ++k) {
            int a = k == 2 ? 0 : k + 1;
            int b = k == 0 ? 2 : k - 1;
            double across_a = v[next][b] - v[i][b];
            double across_b = v[i][a] - v[next][a];
            double edge = across_a * v[i][a] + across_b * v[i][b];
            double corner = across_a * v[other][a] + across_b * v[other][b];
            double radius = fabs(across_a) * half[a] + fabs(across_b) * half[b] +
                            0x1p-44 * size * (fabs(across_a) + fabs(across_b));
            if ((edge > radius && corner > radius) || (edge < -radius && corner < -radius)) return false;
        }
    }
    return true;
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
