// Sums and products of vectors, and a circle and a power without the C library's functions, whose last bits differ between machines.
// C and CUDA share this text and those that include it (math/dialect.h says how).
#ifndef SAPWOOD_RENDER_VECTOR_H
#define SAPWOOD_RENDER_VECTOR_H

#include "math/vector.h"

SAP_FN sap_vector sap_vector_make(float x, float y, float z) {
    sap_vector v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
SAP_FN sap_vector sap_plus(sap_vector a, sap_vector b) { return sap_vector_make(a.x + b.x, a.y + b.y, a.z + b.z); }
SAP_FN sap_vector sap_minus(sap_vector a, sap_vector b) { return sap_vector_make(a.x - b.x, a.y - b.y, a.z - b.z); }
SAP_FN sap_vector sap_times(sap_vector a, float s) { return sap_vector_make(a.x * s, a.y * s, a.z * s); }
SAP_FN sap_vector sap_filter(sap_vector a, sap_vector b) { return sap_vector_make(a.x * b.x, a.y * b.y, a.z * b.z); }
SAP_FN float sap_dot(sap_vector a, sap_vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
SAP_FN sap_vector sap_cross(sap_vector a, sap_vector b) {
    return sap_vector_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
SAP_FN float sap_largest(sap_vector a) {
    float m = a.x > a.y ? a.x : a.y;
    return m > a.z ? m : a.z;
}

SAP_FN double sap_length(sap_vector a) {
    return sqrt((double)a.x * (double)a.x + (double)a.y * (double)a.y + (double)a.z * (double)a.z);
}

// Length 1, whatever the magnitude; zeros stay zeros.
SAP_FN sap_vector sap_unit(sap_vector a) {
    double length = sap_length(a);
    if (!(length > 0)) return sap_vector_make(0, 0, 0);
    return sap_vector_make((float)((double)a.x / length), (float)((double)a.y / length), (float)((double)a.z / length));
}

// The sine of a quarter turn times f, 0 <= f <= 1: Taylor's series, good to a few billionths.
SAP_FN double sap_quarter_sine(double f) {
    SAP_ASSERT(f >= 0 && f <= 1);
    double x = f * 1.5707963267948966, x2 = x * x;
    double tail = 1 - x2 / 156;
    tail = 1 - x2 / 110 * tail;
    tail = 1 - x2 / 72 * tail;
    tail = 1 - x2 / 42 * tail;
    tail = 1 - x2 / 20 * tail;
    return x * (1 - x2 / 6 * tail);
}

// Cosine and sine of `turns` of a circle, 0 <= turns < 1.
SAP_FN void sap_circle(double turns, float* cosine, float* sine) {
    SAP_ASSERT(turns >= 0 && turns < 1);
    double place = turns * 4;
    int quarter = (int)place;
    double f = place - quarter, s = sap_quarter_sine(f), c = sap_quarter_sine(1 - f);
    double x = quarter & 1 ? s : c, y = quarter & 1 ? c : s;
    *cosine = (float)(quarter == 1 || quarter == 2 ? -x : x);
    *sine = (float)(quarter & 2 ? -y : y);
}

// exp(-x), 1 for x below 0: a power of two, and Taylor's series for the rest.
SAP_FN float sap_decay(double x) {
    if (!(x > 0)) return 1;
    if (x > 700) return 0;
    const double halves = floor(x * 1.4426950408889634), rest = x - halves * 0.6931471805599453;
    double sum = 1;
    for (int i = 14; i > 0; i--) sum = 1 - rest / i * sum;
    return (float)ldexp(sum, -(int)halves);
}

// Two directions that stand upright on a unit vector and on each other (Duff and others 2017).
SAP_FN void sap_frame_of(sap_vector n, sap_vector* u, sap_vector* v) {
    float sign = n.z < 0 ? -1.0f : 1.0f, a = -1 / (sign + n.z), b = n.x * n.y * a;
    *u = sap_vector_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *v = sap_vector_make(b, sign + n.y * n.y * a, -n.y);
}

#endif
