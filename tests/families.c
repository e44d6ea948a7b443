#include "families.h"
#include "tree/layout.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

const char* family_name(family which) {
    static const char* const names[FAMILY_COUNT] = {
        "uniform", "clustered", "shell",      "lattice",         "line",        "diagonal",
        "plane",   "equal",     "two_groups", "half_duplicates", "sorted",      "reversed",
        "far",     "denormal",  "mixed",      "outlier",         "exponential", "minus_zero"};
    return which < FAMILY_COUNT ? names[which] : "unknown";
}

uint64_t random_next(uint64_t* state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_unit(uint64_t* state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

int64_t random_below(uint64_t* state, int64_t below) { return (int64_t)(random_next(state) % (uint64_t)below); }

cloud cloud_make(int64_t count, int32_t dims, int32_t real_bits, int64_t stride) {
    cloud c = {NULL, count, stride ? stride : dims, dims, real_bits};
    int64_t elements = count * c.stride;
    if (count) c.coords = malloc((size_t)elements * (size_t)(real_bits / 8));
    if (!c.coords) return c;
    for (int64_t i = 0; i < elements; i++) {
        if (real_bits == 64)
            ((double*)c.coords)[i] = NAN;
        else
            ((float*)c.coords)[i] = NAN;
    }
    return c;
}

void cloud_free(cloud* points) {
    free(points->coords);
    points->coords = NULL;
    points->count = 0;
}

double cloud_get(const cloud* points, int64_t point, int32_t axis) {
    int64_t at = point * points->stride + axis;
    return points->real_bits == 64 ? ((const double*)points->coords)[at] : (double)((const float*)points->coords)[at];
}

void cloud_set(cloud* points, int64_t point, int32_t axis, double value) {
    int64_t at = point * points->stride + axis;
    if (points->real_bits == 64)
        ((double*)points->coords)[at] = value;
    else
        ((float*)points->coords)[at] = (float)value;
}

double cloud_limit(int32_t dims, int32_t real_bits) { return sap_largest_coordinate(real_bits, dims); }

// A number from [0, 1) that depends on the labels only.
static double scattered(uint64_t seed, int64_t label, int32_t axis) {
    uint64_t state = seed + (uint64_t)label * 0xd1342543de82ef95u + (uint64_t)axis;
    random_next(&state);
    return random_unit(&state);
}

// A random point of the sphere of radius one about the origin.
static void place_on_shell(uint64_t* state, int32_t dims, double* p) {
    double length2 = 0;
    while (length2 < 0.01) {
        length2 = 0;
        for (int32_t a = 0; a < dims; a++) {
            p[a] = -1.5;
            for (int i = 0; i < 3; i++) p[a] += random_unit(state);
            length2 += p[a] * p[a];
        }
    }
    for (int32_t a = 0; a < dims; a++) p[a] /= sqrt(length2);
}

// A number of any magnitude that the precision holds and trees take, of either sign.
static double any_magnitude(uint64_t* state, int32_t real_bits) {
    int smallest = real_bits == 64 ? -1070 : -145, largest = real_bits == 64 ? 500 : 58;
    double fraction = random_unit(state); // one draw a statement: C leaves the order within one to the compiler
    double value = ldexp(1 + fraction, smallest + (int)random_below(state, largest - smallest));
    return random_below(state, 2) ? value : -value;
}

typedef struct placing {
    int64_t i, count;
    int32_t dims, real_bits;
    uint64_t seed;
} placing;

// Families whose points are made of equal, few or special coordinates.
static void place_special(family which, const placing* at, uint64_t* state, double* p) {
    static const double around_zero[4] = {-1, -0.0, 0, 1};
    double along = random_unit(state), tiny = at->real_bits == 64 ? 0x1p-1074 : 0x1p-149;
    for (int32_t a = 0; a < at->dims; a++) {
        switch (which) {
        case FAMILY_LATTICE: p[a] = (double)random_below(state, at->dims < 3 ? 40 : 12); break;
        case FAMILY_LINE: p[a] = a == at->dims / 2 ? along : 0.25; break;
        case FAMILY_DIAGONAL: p[a] = along; break;
        case FAMILY_PLANE: p[a] = a == at->dims - 1 ? -3.5 : random_unit(state); break;
        case FAMILY_EQUAL: p[a] = 0.1 + a; break;
        case FAMILY_TWO_GROUPS: p[a] = along < 0.5 ? 0.1 : 0.7; break;
        case FAMILY_DENORMAL: p[a] = tiny * (double)(random_below(state, 2001) - 1000); break;
        case FAMILY_MIXED: p[a] = any_magnitude(state, at->real_bits); break;
        case FAMILY_EXPONENTIAL:
            p[a] = ldexp(1 + scattered(at->seed, at->i, a),
                         (int)((at->i * 7 + a) % (at->real_bits == 64 ? 900 : 110)) - (at->real_bits == 64 ? 450 : 55));
            break;
        default: p[a] = around_zero[random_below(state, 4)]; break;
        }
    }
}

static void place(family which, const placing* at, uint64_t* state, double* p) {
    int64_t first = random_below(state, 8), second = first * 8 + random_below(state, 8) + 8;
    for (int32_t a = 0; a < at->dims; a++) p[a] = random_unit(state);
    switch (which) {
    case FAMILY_UNIFORM: break;
    case FAMILY_CLUSTERED:
        for (int32_t a = 0; a < at->dims; a++)
            p[a] = scattered(at->seed, first, a) + 0.01 * scattered(at->seed, second, a) + 0.0001 * p[a];
        break;
    case FAMILY_SHELL: place_on_shell(state, at->dims, p); break;
    case FAMILY_HALF_DUPLICATES:
        for (int32_t a = 0; a < at->dims; a++) p[a] = scattered(at->seed, at->i % ((at->count + 1) / 2), a);
        break;
    case FAMILY_SORTED: p[0] = ((double)at->i + p[0]) / (double)at->count; break;
    case FAMILY_REVERSED: p[0] = ((double)(at->count - at->i) - p[0]) / (double)at->count; break;
    case FAMILY_FAR:
        for (int32_t a = 0; a < at->dims; a++) p[a] += a % 2 ? -1e7 : 1e7;
        break;
    case FAMILY_OUTLIER:
        if (at->i == at->count / 3) {
            for (int32_t a = 0; a < at->dims; a++) p[a] = 1e9;
        }
        break;
    default: place_special(which, at, state, p); break;
    }
}

cloud cloud_of_family(family which, int64_t count, int32_t dims, int32_t real_bits, int64_t stride, uint64_t seed) {
    cloud points = cloud_make(count, dims, real_bits, stride);
    if (!points.coords) return points;
    uint64_t state = seed * 31 + which;
    placing at = {0, count, dims, real_bits, seed};
    for (; at.i < count; at.i++) {
        double p[16];
        place(which, &at, &state, p);
        for (int32_t a = 0; a < dims; a++) cloud_set(&points, at.i, a, p[a]);
    }
    return points;
}
