// A coordinate within a period. For C and CUDA; needs math/dialect.h.
#ifndef SAPWOOD_TREE_WRAP_H
#define SAPWOOD_TREE_WRAP_H

#include "math/dialect.h"

// `period` is above 0, and both are of the precision. What is not finite stays.
SAP_FN double sap_period_wrap(double x, double period, int real_bits) {
    if ((x >= 0 && x < period) || !(fabs(x) <= DBL_MAX)) return x;
    double rest = fmod(x, period); // exact, and of floats a float
    if (rest < 0) rest = real_bits == 64 ? rest + period : (double)(float)(rest + period);
    return rest < period ? rest : 0;
}

#endif
