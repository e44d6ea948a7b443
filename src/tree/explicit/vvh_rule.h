// The voxel volume heuristic (Wald, Günther and Slusallek 2004), with the radius of queries as Zhou et al. 2008 have it:
// the plane by which queries are spared the most points.
//
// The rule. A node of more than leaf_size points is divided within the tight box of its points. A ball of radius R whose
// middle lies in the box grown by R on all sides reaches the left side of a plane with probability (plane - lower + 2R) /
// (upper - lower + 2R), all else being equal, and the right one likewise; so of the points on a side those are spared
// that the other side's middles do not reach: the gain is (left * (upper - plane) + right * (plane - lower)) / (upper -
// lower + 2R), in doubles. Candidates are the planes at each 16th part of a side, rounded to the tree's precision, that
// have points on both sides; the greatest gain wins, the first axis and the smallest coordinate of equals. With
// SAP_AXIS_CYCLE only the next axis from depth % dims on along which points differ has candidates. Where there are none,
// in boxes of a few floats, the plane is the largest coordinate of the first axis along which points differ.
#ifndef SAPWOOD_TREE_EXPLICIT_VVH_RULE_H
#define SAPWOOD_TREE_EXPLICIT_VVH_RULE_H

#include "math/dialect.h"

enum { SAP_VVH_PARTS = 16 }; // of a side of the box

// Candidate i, 1 … SAP_VVH_PARTS - 1, of a side, yet to be rounded.
SAP_FN double sap_vvh_candidate(double lower, double upper, int i) {
    return lower + (upper - lower) * i / SAP_VVH_PARTS;
}

// Whether a plane has points of a tight box on both sides.
SAP_FN bool sap_vvh_divides(double lower, double upper, double plane) { return plane > lower && plane <= upper; }

SAP_FN double sap_vvh_gain(double radius, double lower, double upper, double plane, int64_t left, int64_t right) {
    return ((double)left * (upper - plane) + (double)right * (plane - lower)) / (upper - lower + 2 * radius);
}

#endif
