// The library's own code over simulated ranks, and the same calls without data.
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct running {
    const scale_task* task;
    scale_counts counts;
    bool good;
} running;

// ---- Points

// A permutation of the numbers below 2^24 for each axis.
static uint32_t shuffled(uint32_t x, int32_t axis) {
    const uint32_t mask = (1 << 24) - 1;
    x ^= 0x51ed27u * (uint32_t)(axis + 1) & mask;
    for (int round = 0; round < 3; round++) {
        x = x * 0x9e3779b1u & mask;
        x ^= x >> 13;
    }
    return x;
}

// No two of 2^24 points share a coordinate.
static float coordinate(const scale_task* t, int64_t i, int32_t axis) {
    const float x = (float)shuffled((uint32_t)i, axis) / (1 << 24);
    return t->clustered ? x * x * x : x;
}

static float* make_points(const scale_task* t, int64_t first, int64_t count) {
    float* coords = malloc((size_t)(count * t->dims) * sizeof *coords + 1);
    for (int64_t i = 0; i < count * t->dims && coords; i++)
        coords[i] = coordinate(t, first + i / t->dims, (int32_t)(i % t->dims));
    return coords;
}

// ---- The library

// Builds; for points that are placed, once more from those that the rank holds now.
static sap_cluster_tree* build(ranks_rank* r, const scale_task* t, sap_device* device, const float* coords,
                               int64_t count) {
    const sap_tree_options options = {.leaf_size = t->leaf_size};
    sap_cluster_tree *tree = NULL, *again = NULL;
    if (sap_cluster_build(r->comm, device, (sap_points){coords, count, t->dims, 0}, NULL, &options, &tree) != SAP_OK)
        return NULL;
    if (!t->placed) return tree;
    sap_cluster_info info;
    ranks_counts before;
    ranks_take_counts(r, &before);
    if (sap_cluster_describe(tree, &info) == SAP_OK) {
        int64_t* ids = malloc((size_t)info.count_here * sizeof *ids + 1);
        float* here = malloc((size_t)(info.count_here * t->dims) * sizeof *here + 1);
        if (ids && here && sap_cluster_points(tree, ids, here) == SAP_OK &&
            sap_cluster_build(r->comm, device, (sap_points){here, info.count_here, t->dims, 0}, ids, &options,
                              &again) != SAP_OK)
            again = NULL;
        free(ids);
        free(here);
    }
    sap_cluster_free(tree);
    return again;
}

static bool search(const scale_task* t, const sap_cluster_tree* tree, int32_t rank) {
    const sap_search nearest = {.k = t->k};
    if (t->queries == 0) return sap_cluster_nearest_self(tree, &nearest, NULL, NULL) == SAP_OK;
    const int64_t count = (int64_t)t->queries;
    float* queries = make_points(t, (1 << 23) + rank * count, count);
    const bool good =
        queries && sap_cluster_nearest(tree, (sap_points){queries, count, t->dims, 0}, &nearest, NULL, NULL) == SAP_OK;
    free(queries);
    return good;
}

// Ranks that fail leave the others waiting for nobody: failures are the same on all ranks (sapwood/cluster.h).
static void run_library(ranks_rank* r, void* context) {
    running* run = context;
    const scale_task* t = run->task;
    const int64_t each = (int64_t)(t->points / t->ranks);
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1, .allocator = r->allocator};
    sap_device* device = NULL;
    float* coords = make_points(t, r->rank * each, each);
    sap_cluster_tree* tree = NULL;
    bool good = false;
    if (sap_device_open(&options, &device) == SAP_OK) {
        const int64_t before = r->bytes;
        r->most = r->bytes;
        tree = build(r, t, device, coords, coords ? each : 0);
        if (r->most - before > run->counts.memory) run->counts.memory = r->most - before;
    }
    ranks_counts build, nearest;
    ranks_take_counts(r, &build);
    if (tree) good = search(t, tree, r->rank) && coords;
    ranks_take_counts(r, &nearest);
    run->counts.build = build;
    run->counts.nearest = nearest;
    run->good = run->good && good;
    sap_cluster_free(tree);
    sap_device_close(device);
    free(coords);
}

// ---- Its calls

typedef struct replay {
    ranks_rank* rank;
    const scale_task* task;
    scale_borders borders;
    int64_t* bytes; // [ranks]
    uint64_t chance;
} replay;

static double random_unit(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static void replay_gather(void* context, double bytes) {
    const replay* r = context;
    ranks_gather(r->rank, llround(bytes));
}

static void replay_reduce(void* context, double words) {
    const replay* r = context;
    ranks_reduce(r->rank, llround(words));
}

// Cells are halved across the first, second, third axis and so on: bits of a rank's number, from the highest one on.
static void find_cell(int32_t rank, int32_t bits, int32_t cell[3]) {
    memset(cell, 0, 3 * sizeof *cell);
    for (int32_t i = 0; i < bits; i++) cell[i % 3] = 2 * cell[i % 3] + (rank >> (bits - 1 - i) & 1);
}

static int32_t rank_at(const int32_t cell[3], const int32_t grid[3], int32_t bits) {
    int32_t rank = 0, half[3] = {grid[0], grid[1], grid[2]};
    for (int32_t i = 0; i < bits; i++) {
        half[i % 3] /= 2;
        rank = 2 * rank + (cell[i % 3] / half[i % 3] & 1);
    }
    return rank;
}

static void ask_neighbours(replay* r, double count, double bytes) {
    const scale_borders* b = &r->borders;
    int32_t own[3], bits = 0;
    while (1 << bits < r->task->ranks) bits++;
    find_cell(r->rank->rank, bits, own);
    for (int32_t n = 0; n < 27; n++) {
        const int32_t step[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        int32_t cell[3], steps = 0, stepped = 0, stood = 0;
        bool inside = true;
        for (int32_t a = 0; a < 3; a++) {
            cell[a] = own[a] + step[a];
            inside = inside && cell[a] >= 0 && cell[a] < b->grid[a];
            steps += step[a] != 0;
            *(step[a] ? &stepped : &stood) = a;
        }
        if (!inside || !steps) continue;
        const double share = steps == 1 ? b->face[stepped] : steps == 2 ? b->edge[stood] : b->corner;
        r->bytes[rank_at(cell, b->grid, bits)] = (int64_t)(count * share + random_unit(&r->chance)) * llround(bytes);
    }
}

static void replay_exchange(void* context, scale_pattern pattern, double count, double bytes) {
    replay* r = context;
    const int32_t ranks = r->task->ranks;
    memset(r->bytes, 0, (size_t)ranks * sizeof *r->bytes);
    r->chance = (uint64_t)r->rank->rank * 1000003 + 17; // the same for what goes together
    random_unit(&r->chance);
    if (pattern == SCALE_ALL)
        for (int32_t to = 0; to < ranks; to++) r->bytes[to] = llround(bytes);
    else if (pattern == SCALE_RANDOM)
        for (int64_t i = 0; i < (int64_t)count; i++)
            r->bytes[(int32_t)(random_unit(&r->chance) * ranks)] += llround(bytes);
    else
        ask_neighbours(r, count, bytes);
    ranks_exchange(r->rank, r->bytes);
}

static void run_calls(ranks_rank* rank, void* context) {
    running* run = context;
    replay r = {.rank = rank, .task = run->task, .borders = scale_find_borders(run->task)};
    r.bytes = malloc((size_t)run->task->ranks * sizeof *r.bytes);
    if (!r.bytes) abort(); // the others would wait
    const scale_visit visit = {replay_gather, replay_reduce, replay_exchange, &r};
    scale_build(run->task, &visit);
    ranks_take_counts(rank, &run->counts.build);
    scale_nearest(run->task, &visit);
    ranks_take_counts(rank, &run->counts.nearest);
    free(r.bytes);
}

static bool run(const scale_task* task, const ranks_network* network, ranks_work* work, scale_counts* counts) {
    running r = {.task = task, .good = true};
    if (!ranks_run(task->ranks, network, work, &r) || !r.good) return false;
    *counts = r.counts;
    return true;
}

bool scale_run(const scale_task* task, const ranks_network* network, scale_counts* counts) {
    return run(task, network, run_library, counts);
}

bool scale_replay(const scale_task* task, const ranks_network* network, scale_counts* counts) {
    return run(task, network, run_calls, counts);
}
