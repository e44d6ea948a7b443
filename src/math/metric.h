// How far an offset reaches under the metric of a search. Shared text; math/distance.h includes it.
//
// Nearly all texts are compiled for squared Euclidean distances, and for all points. Those of a file that defines
// SAP_MEASURED (C and CUDA) ask a sap_measure instead, which knows at run time: SAP_MEASURE_PARAM is first among the
// parameters, after SAP_TREE_PARAM, of what computes distances, and SAP_MEASURE among the arguments of a call.
//
// On each axis the term is the weight, times the offset's length as often as the whole part of the power says:
// (w*|d|)*|d| for the second. For the fraction it is multiplied by the length's square root, the root of that, and so on:
// by those whose binary digits the fraction has. A distance is the sum of the terms in axis order, or the largest. Each
// operation is rounded once, the same on every processor, and monotone, so bounds from planes and boxes hold as
// math/distance.h explains. Points are never infinitely far, but the far side of a cell may be: with a weight of 0 its
// term is NaN, and must not hide the terms of other axes.
//
// Files that define SAP_PERIODIC, too, take the shorter way around each axis: where the offset's length is l, period - l
// if that is less. Axes without a period have an infinite one, which no way around is shorter than.

#undef SAP_MEASURE_PARAM
#undef SAP_MEASURE

#ifdef SAP_MEASURED

#define SAP_MEASURE_PARAM const sap_measure *measure,
#define SAP_MEASURE       measure,

// The axes that a tree has: others add nothing, but in code for any number they would take most of the time.
#undef SAP_MEASURED_AXES
#if SAP_AXES == 16
#define SAP_MEASURED_AXES measure->axes
#else
#define SAP_MEASURED_AXES SAP_AXES
#endif

SAP_STRUCT(sap_measure)
struct sap_measure {
    int axes;                  // of the tree
    SAP_REAL weight[SAP_AXES]; // 1 on axes that the tree lacks
    int power;                 // its whole part, at least 1
    uint64_t roots;            // its fraction: the highest bit is a half
    bool is_largest;           // the largest term, not the sum
    SAP_REAL widen;            // bounds are as many times as far: at least 1
    const uint8_t* keep;       // [ids] what may be found is not 0; NULL: all
#ifdef SAP_PERIODIC
    SAP_REAL period[SAP_AXES]; // infinite: none
#endif
};

SAP_FN SAP_REAL sap_measure_along(SAP_MEASURE_PARAM int axis, SAP_REAL offset) {
    SAP_REAL length = (SAP_REAL)fabs((double)offset); // of -0, too
#ifdef SAP_PERIODIC
    const SAP_REAL around = measure->period[axis] - length;
    length = around < length ? around : length;
#endif
    SAP_REAL term = measure->weight[axis] * length;
    for (int factor = 1; factor < measure->power; ++factor) term = term * length;
    for (uint64_t left = measure->roots; left != 0; left <<= 1) {
        length = (SAP_REAL)sqrt((double)length); // rounded once: a double has more than twice as many digits as a float
        if (left >> 63) term = term * length;
    }
    return term;
}

SAP_FN SAP_REAL sap_measure_join(SAP_MEASURE_PARAM SAP_REAL sum, SAP_REAL term) {
    return !measure->is_largest ? sum + term : term > sum ? term : sum;
}

SAP_FN SAP_REAL sap_measure_length(SAP_MEASURE_PARAM sap_point offset) {
    SAP_REAL sum = sap_measure_along(SAP_MEASURE 0, offset.at[0]);
    SAP_UNROLL
    for (int axis = 1; axis < SAP_MEASURED_AXES; ++axis)
        sum = sap_measure_join(SAP_MEASURE sum, sap_measure_along(SAP_MEASURE axis, offset.at[axis]));
    return sum;
}

#ifdef SAP_PERIODIC
// The least and the greatest length that an offset into an interval of an axis may have, by the shorter way. `near` and
// `far` are how far its ends are, the nearer as a negative number from within. What is computed here bounds what is
// computed for points as math/distance.h explains, and has no shorter way around itself.
SAP_FN SAP_REAL sap_measure_nearest(SAP_MEASURE_PARAM int axis, SAP_REAL near, SAP_REAL far) {
    const SAP_REAL around = measure->period[axis] - far;
    const SAP_REAL least = around < near ? around : near;
    return least > 0 ? least : 0;
}

SAP_FN SAP_REAL sap_measure_farthest(SAP_MEASURE_PARAM int axis, SAP_REAL near, SAP_REAL far) {
    const SAP_REAL around = measure->period[axis] - (near > 0 ? near : 0), half = measure->period[axis] / 2;
    const SAP_REAL most = around < far ? around : far;
    return half < most ? half : most;
}
#endif

// The bound that a search prunes by, once a list is full: then its last id is a point's.
SAP_FN SAP_REAL sap_measure_bound(SAP_MEASURE_PARAM SAP_REAL bound, int last_id) {
    return last_id != SAP_NO_ID ? bound * measure->widen : bound;
}

// Whether a search for ids above `after` may find every point.
SAP_FN bool sap_measure_keeps_all(SAP_MEASURE_PARAM int after) { return after < 0 && !measure->keep; }

// Whether a search may find a point.
SAP_FN bool sap_measure_keeps(SAP_MEASURE_PARAM int id) { return !measure->keep || measure->keep[id] != 0; }

#else

#define SAP_MEASURE_PARAM
#define SAP_MEASURE

SAP_FN SAP_REAL sap_measure_along(int axis, SAP_REAL offset) {
    SAP_UNUSED(axis)
    return SAP_ROUNDED(offset * offset);
}
SAP_FN SAP_REAL sap_measure_join(SAP_REAL sum, SAP_REAL term) { return sum + term; }
SAP_FN SAP_REAL sap_measure_length(sap_point offset) { return sap_length2(offset); }
SAP_FN SAP_REAL sap_measure_bound(SAP_REAL bound, int last_id) {
    SAP_UNUSED(last_id)
    return bound;
}
SAP_FN bool sap_measure_keeps_all(int after) { return after < 0; }
SAP_FN bool sap_measure_keeps(int id) {
    SAP_UNUSED(id)
    return true;
}

#endif
