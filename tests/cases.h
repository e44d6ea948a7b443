// The cases that searches are tried on: which families, sizes, dimensions and options meet, and what is asked there.
#ifndef SAPWOOD_TESTS_CASES_H
#define SAPWOOD_TESTS_CASES_H

#include "calls.h"
#include "oracle.h"
#include "test.h"
#include <math.h>

static const int64_t case_sizes[] = {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 4097};
static const int32_t case_dims[] = {1, 2, 3, 4, 5, 8, 16};
static const int32_t case_leaf_sizes[] = {1, 2, 8, 0, 100};
static const int32_t case_k[] = {1, 2, 7, 8, 9, 16, 17, 32, 33, 100, -1 /* three more than there are points */};

enum { CASE_SIZES = 12, CASE_DIMS = 7, CASE_LEAF_SIZES = 5, CASE_K = 11 };

// One case: a cloud, how the tree is built, and one question. The rest follows from `chance`.
typedef struct search_case {
    family kind;
    int64_t size;
    int32_t dims, real_bits;
    sap_tree_options options;
    uint64_t chance; // random bits of this case's own
} search_case;

// Sanitizers make everything several times slower, and a GPU that the CPU plays is slower still: there one case of
// CASE_PART is tried, and of what large clouds are used for, one of CASE_STEP. So it is where CASES_FEWER is defined.
#if TEST_SLOW
enum { CASE_STEP = 47, CASE_PART = 211 };
#elif defined(SAP_EMULATED)
enum { CASE_STEP = 23, CASE_PART = 47 };
#elif TEST_SANITIZED || defined(CASES_FEWER)
enum { CASE_STEP = 5, CASE_PART = 11 };
#else
enum { CASE_STEP = 1, CASE_PART = 5 };
#endif

// Tries clouds of every family and of these sizes, one of CASE_STEP.
static inline void try_families(const devices* all, const int64_t* sizes, int size_count,
                                void (*try_case)(const devices* all, family kind, int64_t size, uint64_t chance)) {
    uint64_t state = 5;
    for (int kind = 0; kind < FAMILY_COUNT; kind++)
        for (int size = 0; size < size_count; size++) {
            const uint64_t chance = random_next(&state);
            if (CASE_STEP == 1 || chance % CASE_STEP == 0) try_case(all, (family)kind, sizes[size], chance);
        }
}

enum { CASE_COUNT = FAMILY_COUNT * CASE_SIZES * CASE_DIMS * 4 };

#if defined(__EMSCRIPTEN__) // which has no voxel volume heuristic
enum { CASE_SPLITS = 2 };
#else
enum { CASE_SPLITS = 3 };
#endif

// Case number i of CASE_COUNT: families, sizes, dims, precisions and split rules meet in every way; leaf sizes, axis
// rules and duplicates are drawn. False if the case is to be left out.
static inline bool case_choose(int i, search_case* c) {
    uint64_t state = (uint64_t)i;
    random_next(&state);
    if (random_next(&state) % CASE_PART != 0) return false;
    c->real_bits = i % 2 ? 64 : 32;
    c->options = (sap_tree_options){.split = i / 2 % 2 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN};
    i /= 4;
    c->dims = case_dims[i % CASE_DIMS];
    i /= CASE_DIMS;
    c->size = case_sizes[i % CASE_SIZES];
    c->kind = (family)(i / CASE_SIZES);
    c->options.leaf_size = case_leaf_sizes[random_below(&state, CASE_LEAF_SIZES)];
    c->options.axis = random_below(&state, 3) ? SAP_AXIS_WIDEST : SAP_AXIS_CYCLE;
    c->options.drop_duplicates = random_below(&state, 4) == 0 && c->size <= 1000;
    c->chance = random_next(&state);
    if (c->options.split != SAP_SPLIT_MEDIAN && c->chance % 3 == 0 && CASE_SPLITS > 2) {
        static const double radii[] = {0, 0.02, 1, 1e6};
        c->options.split = SAP_SPLIT_VVH;
        c->options.query_radius = radii[c->chance / 3 % 4];
    }
    return true;
}

static inline cloud case_points(const search_case* c) {
    int64_t stride = c->chance % 4 ? 0 : c->dims + 1 + (int64_t)(c->chance / 4 % 3);
    return cloud_of_family(c->kind, c->size, c->dims, c->real_bits, stride, c->chance);
}

// The value of one coordinate of one query; kind says what sort of query it is.
static inline double case_coordinate(const cloud* points, int64_t kind, int32_t axis, uint64_t* state) {
    double limit = cloud_limit(points->dims, points->real_bits), unit = random_unit(state);
    int64_t i = points->count ? random_below(state, points->count) : -1, j = i < 0 ? i : random_below(state, i + 1);
    double a = i < 0 ? 0.5 : cloud_get(points, i, axis), b = i < 0 ? 1 : cloud_get(points, j, axis);
    switch (kind) {
    case 0: return unit;                          // in the unit cube
    case 1: return a + (b - a) * unit;            // in the box, among the points
    case 2: return a;                             // on borders of cells: each coordinate from another point
    case 3: return a * (1 + (unit - 0.5) * 1e-6); // beside a point
    case 4: return unit < 0.5 ? limit : -limit;   // far away
    case 5: return axis == 0 && unit < 2 ? (double)NAN : a;
    case 6: return axis == points->dims - 1 ? -(double)INFINITY : a;
    case 7: return points->real_bits == 64 ? 1e300 : 1e38; // squares overflow
    default: return -0.0;
    }
}

// Queries about a cloud: of every kind above, and points of the cloud themselves.
static inline cloud case_queries(const cloud* points, int64_t count, uint64_t chance) {
    static const int kinds[] = {0, 1, 2, 2, 3, 9, 9, 1, 4, 2, 3, 9, 0, 5, 1, 9, 6, 2, 1, 7, 8, 3, 2, 9};
    uint64_t state = chance;
    int64_t stride = chance % 3 ? 0 : points->dims + 2;
    cloud queries = cloud_make(count, points->dims, points->real_bits, stride);
    for (int64_t q = 0; q < count && queries.coords; q++) {
        int kind = kinds[q % (int64_t)(sizeof kinds / sizeof *kinds)];
        int64_t own = points->count ? random_below(&state, points->count) : -1;
        for (int32_t a = 0; a < points->dims; a++) {
            double value = case_coordinate(points, kind, a, &state);
            cloud_set(&queries, q, a, kind == 9 && own >= 0 ? cloud_get(points, own, a) : value);
        }
    }
    return queries;
}

// A radius for a cloud: the exact distance of some query and some point, or one of the special ones.
static inline double case_radius(const cloud* points, const cloud* queries, uint64_t chance) {
    uint64_t state = chance ^ 77;
    int64_t which = random_below(&state, 10);
    if (which == 0) return 0;
    if (which == 1) return INFINITY;
    if (which == 2) return points->real_bits == 64 ? 1e-170 : 1e-30; // its square is 0
    if (which == 3) return 1e200;                                    // its square overflows
    double least = INFINITY;
    for (int i = 0; i < 30 / (int)which && points->count && queries->count; i++) {
        int64_t q = random_below(&state, queries->count), p = random_below(&state, points->count);
        double distance2 = oracle_distance2(queries, q, points, p);
        if (distance2 < least) least = distance2;
    }
    return isfinite(least) ? sqrt(least) : 0.25;
}

#endif
