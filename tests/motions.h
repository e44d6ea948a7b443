// Motions that tests make: rows of a turn and a shift, then 0 0 0 1.
#ifndef SAPWOOD_TESTS_MOTIONS_H
#define SAPWOOD_TESTS_MOTIONS_H

#include <math.h>
#include <string.h>

static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// A turn by an angle in degrees about a direction of length 1.
static inline void make_turn(double degrees, double x, double y, double z, double m[16]) {
    const double angle = degrees / 57.295779513082323, c = cos(angle), s = sin(angle), k = 1 - c;
    const double turn[9] = {c + x * x * k,     x * y * k - z * s, x * z * k + y * s, y * x * k + z * s, c + y * y * k,
                            y * z * k - x * s, z * x * k - y * s, z * y * k + x * s, c + z * z * k};
    memcpy(m, identity, sizeof identity);
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) m[4 * r + q] = turn[3 * r + q];
}

static inline void apply(const double m[16], const double p[3], double q[3]) {
    for (int r = 0; r < 3; r++) q[r] = m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3];
}

#endif
