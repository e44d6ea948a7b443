// The answers that every search must give, found by looking at every point.
//
// A point counts if its squared distance to the query - the sum in axis order of (q-p)*(q-p), each operation rounded
// once to the cloud's precision - is finite and at most the limit. Answers ascend by (squared distance, id).
#ifndef SAPWOOD_TESTS_ORACLE_H
#define SAPWOOD_TESTS_ORACLE_H

#include "families.h"

// radius*radius in double, rounded once to the precision.
double oracle_limit2(double radius, int32_t real_bits);

// Squared distance between a query and a point: a value of their precision; NaN and infinity as they come.
double oracle_distance2(const cloud* queries, int64_t query, const cloud* points, int64_t point);

// dropped[i] = 1 for each point that is equal in every coordinate to one with a smaller id; how many there are.
int64_t oracle_duplicates(const cloud* points, uint8_t* dropped);

// Which points are looked at: those not dropped (NULL: all), and for self searches not the asking one.
typedef struct oracle_rules {
    const uint8_t* dropped;
    double limit2;
    bool self;         // query i is point i; a dropped one finds nothing
    bool with_self;    // it finds itself
    bool greater_only; // it finds greater ids only
} oracle_rules;

// One row of k neighbours; missing ones are id -1 at infinite distance. distance2 is of the cloud's precision.
// False if memory ran out.
bool oracle_nearest(const cloud* points, const cloud* queries, int64_t query, int32_t k, const oracle_rules* rules,
                    int32_t* ids, void* distance2);

// All points that count for one query: how many; ids and distance2 (NULL: not wanted) must hold points->count.
// -1 if memory ran out.
int64_t oracle_radius(const cloud* points, const cloud* queries, int64_t query, const oracle_rules* rules, int32_t* ids,
                      void* distance2);

#endif
