// One C interface to the libraries that Sapwood is measured beside, so that all run in one process on the same arrays.
#ifndef SAPWOOD_BENCH_RIVAL_H
#define SAPWOOD_BENCH_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A library. Its functions use one thread. Points are packed rows of 3 or 4 floats that outlive the index.
typedef struct bench_rival {
    const char* name;
    // Builds an index; NULL when this library is not driven in so many dimensions or memory is exhausted.
    void* (*build)(const float* points, size_t count, int dims);
    // Builds it anew over the same array, in memory the library has kept if it keeps any. NULL: not driven.
    void (*rebuild)(void* index);
    // The k nearest of each query, in any order: ids[count * k].
    void (*nearest)(const void* index, const float* queries, size_t count, int k, uint32_t* ids);
    // Points within the radius, summed over the queries. NULL: not driven.
    uint64_t (*count)(const void* index, const float* queries, size_t count, float radius);
    // The same, the ids of each query's points put into a list that the next query reuses.
    uint64_t (*collect)(const void* index, const float* queries, size_t count, float radius);
    // Points in boxes, lower and upper corners in rows, summed over the boxes. NULL: not driven.
    uint64_t (*box_count)(const void* index, const float* lower, const float* upper, size_t count);
    // The same, the ids of each box's points put into a list that the next box reuses.
    uint64_t (*box_collect)(const void* index, const float* lower, const float* upper, size_t count);
    void (*release)(void* index);
} bench_rival;

// The libraries that this build found; nanoflann first if it is among them.
extern const bench_rival* const bench_rivals[];
extern const int bench_rival_count;

// A library whose points come and go, in three dimensions. Ids count up from 0.
typedef struct bench_moving_rival {
    const char* name;
    void* (*create)(void);
    void (*insert)(void* set, const float* points, size_t count);
    void (*remove)(void* set, const uint32_t* ids, size_t count);
    // Removes what lies outside a closed box.
    void (*keep_box)(void* set, const float* lower, const float* upper);
    // The k nearest of each query: ids[count * k] and squared distances.
    void (*nearest)(const void* set, const float* queries, size_t count, int k, uint32_t* ids, float* distances2);
    void (*release)(void* set);
} bench_moving_rival;

// nanoflann's, or NULL.
const bench_moving_rival* bench_moving(void);

// The rival that targets are stated against, or NULL.
const bench_rival* bench_main_rival(void);

#ifdef __cplusplus
}
#endif
#endif
