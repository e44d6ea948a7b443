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
    void (*release)(void* index);
} bench_rival;

// The libraries that this build found; nanoflann first if it is among them.
extern const bench_rival* const bench_rivals[];
extern const int bench_rival_count;

// The rival that targets are stated against, or NULL.
const bench_rival* bench_main_rival(void);

#ifdef __cplusplus
}
#endif
#endif
