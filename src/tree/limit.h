// The largest distances within a radius. For C and CUDA; needs math/dialect.h.
#ifndef SAPWOOD_TREE_LIMIT_H
#define SAPWOOD_TREE_LIMIT_H

#include "math/dialect.h"

// The square of a radius, rounded to the precision once and at most its largest finite value.
SAP_FN double sap_limit2_of(double radius, int real_bits) {
    const double limit2 = radius * radius;
    if (real_bits == 64) return limit2 < DBL_MAX ? limit2 : DBL_MAX;
    if (!(limit2 < (double)FLT_MAX)) return (double)FLT_MAX;
    // The product, rounded to double first, may fall exactly between two floats. Then its rounding error, which is
    // expensive to compute where fma is not an instruction, says to which of them it rounds.
    const float rounded = (float)limit2, other = nextafterf(rounded, (double)rounded < limit2 ? INFINITY : 0);
    if (limit2 != ((double)rounded + (double)other) / 2) return (double)rounded;
    const double error = fma(radius, radius, -limit2);
    if (error > 0) return (double)fmaxf(rounded, other);
    if (error < 0) return (double)fminf(rounded, other);
    return (double)rounded;
}

// A length to a power, as math/metric.h raises it: the whole part and, digit by binary digit, the fraction.
SAP_FN double sap_raised(double base, int power, uint64_t roots) {
    double product = base;
    for (int i = 1; i < power; i++) product = product * base;
    for (uint64_t left = roots; left != 0; left <<= 1) {
        base = sqrt(base);
        if (left >> 63) product = product * base;
    }
    return product;
}

// The power of a radius, rounded to the precision and at most its largest finite value.
SAP_FN double sap_limit_of(double radius, int power, uint64_t roots, int real_bits) {
    const double limit = sap_raised(radius, power, roots), most = real_bits == 64 ? DBL_MAX : (double)FLT_MAX;
    if (!(limit < most)) return most;
    return real_bits == 64 ? limit : (double)(float)limit;
}

#endif
