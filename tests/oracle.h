// The answers that every search must give, found by looking at every point.
//
// A point counts if its squared distance to the query - the sum in axis order of (q-p)*(q-p), each operation rounded
// once to the cloud's precision - is finite and at most the limit. Answers ascend by (squared distance, id).
#ifndef SAPWOOD_TESTS_ORACLE_H
#define SAPWOOD_TESTS_ORACLE_H

#include "families.h"

// radius*radius in double, rounded once to the precision.
double oracle_limit2(double radius, int32_t real_bits);

// How distances are measured.
typedef struct oracle_metric {
    double p;              // sums of lengths to this power; infinite: the longest
    const double* weights; // [dims] factors of the terms, or NULL
    const double* period;  // [dims] of clouds that are wrapped; 0: none. Or NULL
} oracle_metric;

// Distance between a query and a point by a metric, and the distance that a radius stands for, each operation rounded
// once. The radius is raised in double precision and rounded to the clouds' in the end.
double oracle_distance(const oracle_metric* metric, const cloud* queries, int64_t query, const cloud* points,
                       int64_t point);
double oracle_limit(const oracle_metric* metric, double radius, int32_t real_bits);

// Squared distance between a query and a point: a value of their precision; NaN and infinity as they come.
double oracle_distance2(const cloud* queries, int64_t query, const cloud* points, int64_t point);

// dropped[i] = 1 for each point that is equal in every coordinate to one with a smaller id; how many there are.
int64_t oracle_duplicates(const cloud* points, uint8_t* dropped);

// Which points are looked at: those not dropped (NULL: all), and for self searches not the asking one.
typedef struct oracle_rules {
    const uint8_t* dropped;
    double limit2;
    bool self;                   // query i is point i; a dropped one finds nothing
    bool with_self;              // it finds itself
    bool greater_only;           // it finds greater ids only
    const int32_t* without;      // per query: an id that does not count; NULL: all count
    const uint8_t* keep;         // by id: 0 for what does not count; NULL: all count
    const oracle_metric* metric; // NULL: squared Euclidean distances
} oracle_rules;

// One row of k neighbours; missing ones are id -1 at infinite distance. distance2 is of the cloud's precision.
// False if memory ran out.
bool oracle_nearest(const cloud* points, const cloud* queries, int64_t query, int32_t k, const oracle_rules* rules,
                    int32_t* ids, void* distance2);

// All points that count for one query: how many; ids and distance2 (NULL: not wanted) must hold points->count.
// -1 if memory ran out.
int64_t oracle_radius(const cloud* points, const cloud* queries, int64_t query, const oracle_rules* rules, int32_t* ids,
                      void* distance2);

// All points in the closed box from row `low` of one cloud to row `high` of another: how many; their ids, ascending
// (NULL: not wanted). A box with a NaN holds none. dropped may be NULL.
int64_t oracle_box_search(const cloud* points, const cloud* lower, int64_t low, const cloud* upper, int64_t high,
                          const uint8_t* dropped, int32_t* ids);

#endif
