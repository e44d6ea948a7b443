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

SAP_FN bool sap_point_finite(sap_point point) {
    bool finite = true;
    SAP_UNROLL
    for (int axis = 0; axis < SAP_AXES; ++axis)
        finite = finite && point.at[axis] >= -SAP_REAL_MAX && point.at[axis] <= SAP_REAL_MAX;
    return finite;
}

#ifdef GL_ES

// In shaders axes, 2 to 4 of them, are written out: compilers of browsers unroll no loops, and what a counter picks they
// read from memory, one pixel after the other.
SAP_REAL sap_point_on(sap_point point, int axis) {
    SAP_REAL value = mix(point.at[0], point.at[1], axis == 1);
#if SAP_AXES > 2
    value = mix(value, point.at[2], axis == 2);
#endif
#if SAP_AXES > 3
    value = mix(value, point.at[3], axis == 3);
#endif
    return value;
}

sap_point sap_point_with(sap_point point, int axis, SAP_REAL value) {
    point.at[0] = mix(point.at[0], value, axis == 0);
    point.at[1] = mix(point.at[1], value, axis == 1);
#if SAP_AXES > 2
    point.at[2] = mix(point.at[2], value, axis == 2);
#endif
#if SAP_AXES > 3
    point.at[3] = mix(point.at[3], value, axis == 3);
#endif
    return point;
}

SAP_REAL sap_length2(sap_point offset) {
    SAP_REAL sum = SAP_ROUNDED(offset.at[0] * offset.at[0]) + SAP_ROUNDED(offset.at[1] * offset.at[1]);
#if SAP_AXES > 2
    sum = sum + SAP_ROUNDED(offset.at[2] * offset.at[2]);
#endif
#if SAP_AXES > 3
    sum = sum + SAP_ROUNDED(offset.at[3] * offset.at[3]);
#endif
    return sum;
}

#else // not in shaders

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

// The squared length of an offset.
SAP_FN SAP_REAL sap_length2(sap_point offset) {
    SAP_REAL sum = SAP_ROUNDED(offset.at[0] * offset.at[0]);
    SAP_UNROLL
    for (int axis = 1; axis < SAP_AXES; ++axis) sum = sum + SAP_ROUNDED(offset.at[axis] * offset.at[axis]);
    return sum;
}

#endif // in shaders

#include "math/metric.h"
