#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const bench_ranks_work bench_ranks_works[BENCH_RANKS_WORKS] = {
    {BENCH_RANKS_BUILD, "build", 0},         {BENCH_RANKS_REBUILD, "rebuild", 0},
    {BENCH_RANKS_PLACED, "placed", 1},       {BENCH_RANKS_PLACED, "placed", 8},
    {BENCH_RANKS_PLACED, "placed", 16},      {BENCH_RANKS_SCATTERED, "scattered", 1},
    {BENCH_RANKS_SCATTERED, "scattered", 8}, {BENCH_RANKS_SCATTERED, "scattered", 16},
    {BENCH_RANKS_SELF, "self", 8},           {BENCH_RANKS_SELF, "self", 16},
};

void bench_ranks_key(const bench_ranks_work* work, char* key) {
    if (work->k)
        snprintf(key, 32, "%s-%d", work->name, work->k);
    else
        snprintf(key, 32, "%s", work->name);
}

bench_ranks_scene bench_ranks_open(bool quick) {
    bench_ranks_scene s = {.count = quick ? 100000 : 1000000};
    s.points = bench_uniform(s.count, 3, 1);
    s.queries = bench_uniform(s.count, 3, 2);
    return s;
}

void bench_ranks_close(bench_ranks_scene* scene) {
    free(scene->points);
    free(scene->queries);
}

double bench_thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double bench_median_of(const double* samples, int count) {
    double sorted[BENCH_MAX_REPS] = {0};
    memcpy(sorted, samples, (size_t)count * sizeof *samples);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

// This rank's rows of points or queries.
static int64_t first_of(const bench_rank* r, int32_t rank) { return r->scene->count * rank / sap_comm_size(r->comm); }

static sap_points share_of(const bench_rank* r, const float* coords) {
    const int32_t rank = sap_comm_rank(r->comm);
    const int64_t first = first_of(r, rank);
    return (sap_points){coords + 3 * first, first_of(r, rank + 1) - first, 3, 0};
}

static void build(bench_rank* r) {
    sap_cluster_free(r->tree);
    r->tree = NULL;
    bench_check(sap_cluster_build(r->comm, r->device, share_of(r, r->scene->points), NULL, NULL, &r->tree),
                "sap_cluster_build");
}

static void do_work(bench_rank* r, const bench_ranks_work* work) {
    const sap_search search = {.k = work->k};
    const sap_points placed = {r->placed, r->placed_count, 3, 0}, held = {r->held_points, r->held, 3, 0};
    switch (work->what) {
    case BENCH_RANKS_BUILD: build(r); break;
    case BENCH_RANKS_REBUILD:
        bench_check(sap_cluster_rebuild(r->tree, held, r->held_ids), "sap_cluster_rebuild");
        break;
    case BENCH_RANKS_PLACED:
        bench_check(sap_cluster_nearest(r->tree, placed, &search, r->ids, r->distance2), "sap_cluster_nearest");
        break;
    case BENCH_RANKS_SCATTERED:
        bench_check(sap_cluster_nearest(r->tree, share_of(r, r->scene->queries), &search, r->ids, r->distance2),
                    "sap_cluster_nearest");
        break;
    case BENCH_RANKS_SELF:
        bench_check(sap_cluster_nearest_self(r->tree, &search, r->ids, r->distance2), "sap_cluster_nearest_self");
        break;
    }
}

double bench_rank_pass(bench_rank* r, const bench_ranks_work* work) {
    const double start = bench_thread_seconds();
    do_work(r, work);
    return bench_thread_seconds() - start;
}

// The nearest point of every query, of which each rank finds those of its rows.
static uint64_t* nearest_to_all(bench_rank* r) {
    const sap_points own = share_of(r, r->scene->queries);
    const int64_t first = (own.coords - r->scene->queries) / 3;
    uint64_t* nearest = bench_memory((size_t)r->scene->count, sizeof *nearest);
    int64_t* ids = bench_memory((size_t)own.count, sizeof *ids);
    const sap_search search = {.k = 1};
    bench_check(sap_cluster_nearest(r->tree, own, &search, ids, NULL), "sap_cluster_nearest");
    memset(nearest, 0, (size_t)r->scene->count * sizeof *nearest);
    for (int64_t i = 0; i < own.count; i++) nearest[first + i] = (uint64_t)ids[i];
    bench_check(sap_comm_all_reduce(r->comm, SAP_REDUCE_SUM, nearest, r->scene->count), "sap_comm_all_reduce");
    free(ids);
    return nearest;
}

static void place_queries(bench_rank* r) {
    const int64_t count = r->scene->count;
    uint64_t* nearest = nearest_to_all(r);
    unsigned char* is_here = bench_memory((size_t)count, 1);
    memset(is_here, 0, (size_t)count);
    for (int64_t i = 0; i < r->held; i++) is_here[r->held_ids[i]] = 1;
    for (int64_t q = 0; q < count; q++) r->placed_count += is_here[nearest[q]];
    r->placed = bench_memory((size_t)r->placed_count * 3 + 1, sizeof *r->placed);
    float* to = r->placed;
    for (int64_t q = 0; q < count; q++) {
        if (!is_here[nearest[q]]) continue;
        memcpy(to, r->scene->queries + 3 * q, 3 * sizeof *to);
        to += 3;
    }
    free(nearest);
    free(is_here);
}

void bench_rank_open(bench_rank* r, const bench_ranks_scene* scene, sap_comm* comm) {
    sap_cluster_info info;
    *r = (bench_rank){.scene = scene, .comm = comm, .device = bench_device(1, SAP_SIMD_AUTO, NULL)};
    build(r);
    bench_check(sap_cluster_describe(r->tree, &info), "sap_cluster_describe");
    r->held = info.count_here;
    r->held_ids = bench_memory((size_t)r->held, sizeof *r->held_ids);
    r->held_points = bench_memory((size_t)r->held * 3, sizeof *r->held_points);
    bench_check(sap_cluster_points(r->tree, r->held_ids, r->held_points), "sap_cluster_points");
    place_queries(r);
    const int64_t scattered = share_of(r, r->scene->queries).count;
    int64_t most = r->placed_count > scattered ? r->placed_count : scattered;
    if (most < r->held) most = r->held;
    r->ids = bench_memory((size_t)(most * BENCH_MOST_K), sizeof *r->ids);
    r->distance2 = bench_memory((size_t)(most * BENCH_MOST_K), sizeof *r->distance2);
}

void bench_rank_check(bench_rank* r, const int32_t* ids, const float* distance2) {
    const sap_points own = share_of(r, r->scene->queries);
    const int64_t first = (own.coords - r->scene->queries) / 3 * BENCH_CHECKED_K;
    do_work(r, &(bench_ranks_work){BENCH_RANKS_SCATTERED, "", BENCH_CHECKED_K});
    for (int64_t i = 0; i < own.count * BENCH_CHECKED_K; i++)
        if (r->ids[i] != ids[first + i] || r->distance2[i] != distance2[first + i]) {
            fprintf(stderr, "bench: the answers of %d ranks are not those of one tree\n", (int)sap_comm_size(r->comm));
            exit(1);
        }
}

void bench_rank_close(bench_rank* r) {
    sap_cluster_free(r->tree);
    sap_device_close(r->device);
    free(r->placed);
    free(r->held_ids);
    free(r->held_points);
    free(r->ids);
    free(r->distance2);
}
