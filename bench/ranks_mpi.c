// sapwood_ranks_mpi_bench: the same work as sapwood_ranks_bench by ranks that are MPI's. Rank 0 prints a line for each row:
// key, ranks, and medians in milliseconds: processor time of all ranks, what of it was not spent in MPI, processor time of
// the rank that took most, wall. ranks_mpi.sh makes a table of several numbers of ranks.
#include "ranks.h"
#include "sapwood/mpi/comm.h"

#include <stdio.h>
#include <stdlib.h>

static const char USAGE[] = "usage: ranks_mpi.sh BUILD_FOLDER [--quick] [--only KEYS] [--reps N]\n";

// An engine that asks MPI's, and looks at the processor's clock before and after.
typedef struct clocked {
    sap_comm* mpi;
    double seconds;
} clocked;

// What a message returned, and how long it took.
static sap_status since(double start, clocked* c, sap_status status) {
    c->seconds += bench_thread_seconds() - start;
    return status;
}

static sap_status gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    clocked* c = state;
    const double start = bench_thread_seconds();
    (void)stream;
    return since(start, c, sap_comm_all_gather(c->mpi, mine, bytes, all));
}

static sap_status exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream) {
    clocked* c = state;
    const double start = bench_thread_seconds();
    (void)stream;
    return since(start, c, sap_comm_all_to_all(c->mpi, send, send_bytes, receive, receive_bytes));
}

static sap_status reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    clocked* c = state;
    const double start = bench_thread_seconds();
    (void)stream;
    return since(start, c, sap_comm_all_reduce(c->mpi, how, values, count));
}

static sap_status split(void* state, int32_t color, int32_t key, sap_comm** part) {
    return sap_comm_split(((clocked*)state)->mpi, color, key, part);
}
static void abort_all(void* state, sap_status status) { sap_comm_abort(((clocked*)state)->mpi, status); }
static void close_mpi(void* state) { sap_comm_close(((clocked*)state)->mpi); }

static const sap_comm_engine engine = {gather, exchange, reduce, split, abort_all, close_mpi, false, {0}};

// Of all ranks.
static double of_all(const clocked* c, sap_reduction how, double seconds) {
    uint64_t nanoseconds = (uint64_t)(1e9 * seconds);
    bench_check(sap_comm_all_reduce(c->mpi, how, &nanoseconds, 1), "sap_comm_all_reduce");
    return 1e-9 * (double)nanoseconds;
}

static void check_answers(bench_rank* rank) {
    const bench_ranks_scene* s = rank->scene;
    const size_t cells = (size_t)s->count * BENCH_CHECKED_K;
    const sap_search search = {.k = BENCH_CHECKED_K};
    int32_t* ids = bench_memory(cells, sizeof *ids);
    float* distance2 = bench_memory(cells, sizeof *distance2);
    sap_tree* one = NULL;
    bench_check(sap_tree_build(rank->device, (sap_points){s->points, s->count, 3, 0}, NULL, &one), "sap_tree_build");
    bench_check(sap_nearest(one, (sap_points){s->queries, s->count, 3, 0}, &search, ids, distance2), "sap_nearest");
    bench_rank_check(rank, ids, distance2);
    sap_tree_free(one);
    free(ids);
    free(distance2);
}

static void row(bench_rank* rank, clocked* c, const bench_ranks_work* work, int reps) {
    double all[BENCH_MAX_REPS], outside[BENCH_MAX_REPS], most[BENCH_MAX_REPS], walls[BENCH_MAX_REPS];
    char key[32];
    for (int rep = -1; rep < reps; rep++) {
        (void)of_all(c, SAP_REDUCE_SUM, 0); // all begin
        c->seconds = 0;
        const double start = bench_seconds(), own = bench_rank_pass(rank, work), wall = bench_seconds() - start;
        if (rep < 0) continue;
        const double inside = c->seconds;
        all[rep] = of_all(c, SAP_REDUCE_SUM, own);
        outside[rep] = of_all(c, SAP_REDUCE_SUM, own - inside);
        most[rep] = of_all(c, SAP_REDUCE_MAX, own);
        walls[rep] = of_all(c, SAP_REDUCE_MAX, wall);
    }
    bench_ranks_key(work, key);
    if (sap_comm_rank(rank->comm)) return;
    printf("%s %d %.3f %.3f %.3f %.3f\n", key, (int)sap_comm_size(rank->comm), 1e3 * bench_median_of(all, reps),
           1e3 * bench_median_of(outside, reps), 1e3 * bench_median_of(most, reps), 1e3 * bench_median_of(walls, reps));
    fflush(stdout);
}

int main(int argc, char** argv) {
    bench_options options = {.threads = 1, .out = ".", .program = "/proc/self/exe", .rival = ""};
    bench_read_options(&options, argc, argv, USAGE);
    const bench_run run = {.options = &options};
    bench_ranks_scene data = bench_ranks_open(options.quick);
    clocked c = {.mpi = NULL};
    sap_comm* comm = NULL;
    bench_rank rank;
    bench_check(sap_comm_open_world(NULL, &c.mpi), "sap_comm_open_world");
    bench_check(sap_comm_open(&engine, &c, sap_comm_rank(c.mpi), sap_comm_size(c.mpi), NULL, &comm), "sap_comm_open");
    bench_rank_open(&rank, &data, comm);
    check_answers(&rank);
    for (int i = 0; i < BENCH_RANKS_WORKS; i++) {
        char key[32];
        bench_ranks_key(&bench_ranks_works[i], key);
        if (bench_wanted(&run, key)) row(&rank, &c, &bench_ranks_works[i], options.reps);
    }
    bench_rank_close(&rank);
    sap_comm_close(comm);
    bench_ranks_close(&data);
    return 0;
}
