// Named families of points, the inputs that trees find hard, and clouds of points in either precision.
//
// Everything follows from a seed by integer arithmetic, correctly rounded operations and square roots alone, so that
// the same cloud comes out on every machine.
#ifndef SAPWOOD_TESTS_FAMILIES_H
#define SAPWOOD_TESTS_FAMILIES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum family {
    FAMILY_UNIFORM = 0,     // the unit cube
    FAMILY_CLUSTERED,       // clusters of clusters of clusters, each a hundredth as wide as the one around it
    FAMILY_SHELL,           // a sphere's surface: all points are about as far from the middle
    FAMILY_LATTICE,         // small whole numbers: equal distances and equal coordinates everywhere
    FAMILY_LINE,            // along one axis
    FAMILY_DIAGONAL,        // along the diagonal of the cube: all coordinates of a point equal
    FAMILY_PLANE,           // one flat axis
    FAMILY_EQUAL,           // one point many times
    FAMILY_TWO_GROUPS,      // two points many times
    FAMILY_HALF_DUPLICATES, // every point twice, far apart in the list
    FAMILY_SORTED,          // uniform, the first coordinate ascending
    FAMILY_REVERSED,        // the same, descending
    FAMILY_FAR,             // 1e7 from the origin and less than one apart
    FAMILY_DENORMAL,        // multiples of the smallest numbers there are
    FAMILY_MIXED,           // from the smallest to the largest coordinates allowed, both signs
    FAMILY_OUTLIER,         // uniform but for one point very far away
    FAMILY_EXPONENTIAL,     // spacing that doubles: the worst case for midpoints
    FAMILY_MINUS_ZERO,      // -1, -0, +0 and 1 only
    FAMILY_COUNT
} family;

// Its name, in small letters.
const char* family_name(family which);

// SplitMix64: the next of a sequence of 64-bit numbers.
uint64_t random_next(uint64_t* state);
// A number from [0, 1), of 53 random bits.
double random_unit(uint64_t* state);
// A whole number from 0 to below - 1.
int64_t random_below(uint64_t* state, int64_t below);

// Points or queries of either precision. coords is NULL when memory ran out or count is 0.
typedef struct cloud {
    void* coords; // [count * stride]; the elements between points are NaN
    int64_t count, stride;
    int32_t dims, real_bits;
} cloud;

// A cloud with all coordinates NaN, to be filled with cloud_set. stride 0 means dims.
cloud cloud_make(int64_t count, int32_t dims, int32_t real_bits, int64_t stride);
// A family's cloud.
cloud cloud_of_family(family which, int64_t count, int32_t dims, int32_t real_bits, int64_t stride, uint64_t seed);
void cloud_free(cloud* points);

// A coordinate, as a double in both precisions. Setting rounds to the cloud's precision.
double cloud_get(const cloud* points, int64_t point, int32_t axis);
void cloud_set(cloud* points, int64_t point, int32_t axis, double value);

// The largest magnitude of a coordinate that a tree takes.
double cloud_limit(int32_t dims, int32_t real_bits);

#endif
