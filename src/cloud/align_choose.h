// What pairs of an alignment are chosen by, one text for the CPU and CUDA: their squares as integers in the same order, and how
// well the nearest part of them fits.
#ifndef SAPWOOD_CLOUD_ALIGN_CHOOSE_H
#define SAPWOOD_CLOUD_ALIGN_CHOOSE_H

#include "math/dialect.h"

#define SAP_LEAST_OVERLAP 0.3

enum {
    SAP_CHOOSE_BLOCK = 256
}; // sorted squares are added in blocks of so many, each in its order, then block by block

// The bits of a float that is not negative stand in the order of the numbers. Squares are divided by that of the size.
SAP_FN uint32_t sap_choose_key(double square, double size2) { return sap_bits_of_float((float)(square / size2)); }

SAP_FN double sap_choose_square(uint32_t key, double size2) { return (double)sap_float_of_bits(key) * size2; }

// The mean of squares over the third power of their part is the same as their sum over the fourth power, but for a factor.
SAP_FN double sap_choose_value(double sum, double part) { return sum / (part * part * part * part); }

#endif
