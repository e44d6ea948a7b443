// A rank of the benchmark of trees over ranks, whatever carries its messages.
#ifndef SAPWOOD_BENCH_RANKS_H
#define SAPWOOD_BENCH_RANKS_H

#include "bench.h"

enum { BENCH_MOST_K = 16, BENCH_CHECKED_K = 8 };

// Points and as many queries, 3-D; all ranks have them.
typedef struct bench_ranks_scene {
    int64_t count;
    float *points, *queries;
} bench_ranks_scene;

typedef enum bench_ranks_what {
    BENCH_RANKS_BUILD,
    BENCH_RANKS_REBUILD,
    BENCH_RANKS_PLACED,
    BENCH_RANKS_SCATTERED,
    BENCH_RANKS_SELF
} bench_ranks_what;

typedef struct bench_ranks_work {
    bench_ranks_what what;
    const char* name;
    int k; // 0: nothing is searched
} bench_ranks_work;

// What is timed, row by row.
enum { BENCH_RANKS_WORKS = 10 };
extern const bench_ranks_work bench_ranks_works[BENCH_RANKS_WORKS];
// placed-8 and the like; into key[32].
void bench_ranks_key(const bench_ranks_work* work, char* key);

typedef struct bench_rank {
    const bench_ranks_scene* scene;
    sap_comm* comm;
    sap_device* device;
    sap_cluster_tree* tree;
    float* placed; // queries whose nearest point this rank holds
    int64_t placed_count, held;
    int64_t* held_ids;
    float* held_points;
    int64_t* ids;
    float* distance2;
} bench_rank;

bench_ranks_scene bench_ranks_open(bool quick);
void bench_ranks_close(bench_ranks_scene* scene);
// Builds, and finds out whose queries are placed with this rank. Collective, as the next two are.
void bench_rank_open(bench_rank* rank, const bench_ranks_scene* scene, sap_comm* comm);
// Seconds of this thread's processor.
double bench_rank_pass(bench_rank* rank, const bench_ranks_work* work);
// Ends the program unless the answers of this rank's scattered queries are those of one tree, of which ids and distance2
// hold BENCH_CHECKED_K neighbours of each.
void bench_rank_check(bench_rank* rank, const int32_t* ids, const float* distance2);
void bench_rank_close(bench_rank* rank);

double bench_thread_seconds(void);
// Of at most BENCH_MAX_REPS.
double bench_median_of(const double* samples, int count);

#endif
