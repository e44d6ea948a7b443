// Points, and squared distances in the one order of operations that all processors share.
// Shared text; needs SAP_REAL and SAP_AXES, the number of coordinates a point has room for. Those that a tree with
// fewer dimensions leaves unused are 0 and add nothing.
//
// Why a bound from planes can be compared with a distance: suppose that on some axes every point p of a cell lies
// beyond a plane s, as seen from q. Rounding is monotone, so |fl(q-p)| >= |fl(q-s)| on those axes and >= 0 on the
// others; products and sums in the same order keep that. A cell's bound never exceeds the distance computed for any of
// its points.

SAP_STRUCT(sap_point)
struct sap_point {
    SAP_REAL at[SAP_AXES];
};

// A point with all coordinates equal.
SAP_FN sap_point sap_point_of(SAP_REAL value) {
    sap_point point;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis) point.at[axis] = value;
    return point;
}

// Loops that select by comparison, instead of an index, keep the coordinates in registers.
SAP_FN SAP_REAL sap_point_on(sap_point point, int axis) {
    SAP_ASSERT(axis >= 0 && axis < SAP_AXES);
    SAP_REAL value = point.at[0];
    SAP_UNROLL
    for (int other = 1; other < SAP_AXES; ++other) value = other == axis ? point.at[other] : value;
    return value;
}

// The point with one coordinate replaced.
SAP_FN sap_point sap_point_with(sap_point point, int axis, SAP_REAL value) {
    SAP_ASSERT(axis >= 0 && axis < SAP_AXES);
    SAP_UNROLL
    for (int other = 0; other < SAP_AXES; ++other) point.at[other] = other == axis ? value : point.at[other];
    return point;
}

SAP_FN bool sap_point_finite(sap_point point) {
    bool finite = true;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis)
        finite = finite && point.at[axis] >= -SAP_REAL_MAX && point.at[axis] <= SAP_REAL_MAX;
    return finite;
}

// The squared length of an offset.
SAP_FN SAP_REAL sap_length2(sap_point offset) {
    SAP_REAL sum = SAP_ROUNDED(offset.at[0] * offset.at[0]);
    SAP_UNROLL
    for (int axis = 1; axis < SAP_AXES; ++axis) sum = sum + SAP_ROUNDED(offset.at[axis] * offset.at[axis]);
    return sum;
}

#include "math/metric.h"
