// A side of a box on an axis with a period. For C and CUDA.
#ifndef SAPWOOD_BOX_WRAP_H
#define SAPWOOD_BOX_WRAP_H

#include "tree/wrap.h"

// Wraps an interval whose ends are at most infinite: into one of the period, into the whole period, or into what lies
// outside of an interval, whose upper end is then below its lower one. Ends that wrapping has rounded to one place may
// be those of nearly a whole period, too.
SAP_FN void sap_box_wrap_interval(double* lower, double* upper, double period, int real_bits) {
    const double from = sap_period_wrap(*lower, period, real_bits), to = sap_period_wrap(*upper, period, real_bits);
    const double length = real_bits == 64 ? *upper - *lower : (double)((float)*upper - (float)*lower);
    const bool whole = length >= period || (from == to && length >= period / 2);
    *lower = whole ? 0 : from;
    *upper = whole ? period : to;
}

#endif
