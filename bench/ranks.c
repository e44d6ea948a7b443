// sapwood_ranks_bench: one tree over ranks that are threads, beside one tree without ranks, in turn in one process. Each
// rank has one thread, so processor times of all ranks add up to what the ranks cost; where there are as many processors
// as ranks, the wall says how they scale. See run.sh.
#include "ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char USAGE[] =
    "usage: run.sh ranks [--quick] [--only KEYS] [--reps N]\n"
    "  --quick       a tenth of the points and three passes: a look, not a record\n"
    "  --only KEYS   only rows whose keys begin with one of KEYS: build, rebuild, placed-1, scattered-8, self-8 …\n"
    "  --reps N      passes a side after the warm-up, default 7\n";

enum { SIDES = 5, MOST_RANKS = 8 };
static const int side_ranks[SIDES] = {0, 1, 2, 4, 8}; // 0: no ranks

typedef struct side side;

typedef struct member {
    side* of;
    sap_comm* comm;
    bench_rank rank;
    double seconds; // of its processor, in the last pass
} member;

typedef struct scene {
    bench_run run;
    bench_ranks_scene data;
    int32_t* ids; // of the one tree
    float* distance2;
    side* sides;
} scene;

struct side {
    scene* scene;
    int ranks; // 0: none, and the tree is `one`
    sap_device* device;
    sap_tree* one;
    member members[MOST_RANKS];
    pthread_barrier_t start;
    const bench_ranks_work* work; // NULL: ranks are opened
    double cpu[BENCH_MAX_REPS], most[BENCH_MAX_REPS], wall[BENCH_MAX_REPS];
};

static void* run_member(void* argument) {
    member* m = argument;
    pthread_barrier_wait(&m->of->start);
    if (m->of->work)
        m->seconds = bench_rank_pass(&m->rank, m->of->work);
    else
        bench_rank_open(&m->rank, &m->of->scene->data, m->comm);
    return NULL;
}

static void* check_member(void* argument) {
    member* m = argument;
    bench_rank_check(&m->rank, m->of->scene->ids, m->of->scene->distance2);
    return NULL;
}

static void work_alone(side* s) {
    scene* c = s->scene;
    const sap_search search = {.k = s->work->k};
    const sap_points points = {c->data.points, c->data.count, 3, 0}, queries = {c->data.queries, c->data.count, 3, 0};
    if (s->work->what == BENCH_RANKS_REBUILD) {
        bench_check(sap_tree_rebuild(s->one, points), "sap_tree_rebuild");
    } else if (s->work->what == BENCH_RANKS_BUILD) {
        sap_tree_free(s->one);
        s->one = NULL;
        bench_check(sap_tree_build(s->device, points, NULL, &s->one), "sap_tree_build");
    } else if (s->work->what == BENCH_RANKS_SELF) {
        bench_check(sap_nearest_self(s->one, &search, c->ids, c->distance2), "sap_nearest_self");
    } else {
        bench_check(sap_nearest(s->one, queries, &search, c->ids, c->distance2), "sap_nearest");
    }
}

static void start_members(side* s, pthread_t* threads, void* (*work)(void*)) {
    for (int r = 0; r < s->ranks; r++)
        if (pthread_create(&threads[r], NULL, work, &s->members[r])) bench_check(SAP_ERROR_MEMORY, "a thread");
}

// One pass: *cpu the processor times of all ranks, *most that of the one that took most, *wall from the first's start to
// the last's end.
static void take_pass(side* s, const bench_ranks_work* work, double* cpu, double* most, double* wall) {
    pthread_t threads[MOST_RANKS] = {0};
    s->work = work;
    if (!s->ranks) {
        const double start = bench_seconds(), cpu_start = bench_thread_seconds();
        work_alone(s);
        *cpu = *most = bench_thread_seconds() - cpu_start;
        *wall = bench_seconds() - start;
        return;
    }
    pthread_barrier_init(&s->start, NULL, (unsigned)s->ranks + 1);
    start_members(s, threads, run_member);
    pthread_barrier_wait(&s->start);
    const double start = bench_seconds();
    *cpu = *most = 0;
    for (int r = 0; r < s->ranks; r++) {
        pthread_join(threads[r], NULL);
        *cpu += s->members[r].seconds;
        if (s->members[r].seconds > *most) *most = s->members[r].seconds;
    }
    *wall = bench_seconds() - start;
    pthread_barrier_destroy(&s->start);
}

// ---- The sides

static void check_answers(side* s) {
    pthread_t threads[MOST_RANKS] = {0};
    start_members(s, threads, check_member);
    for (int r = 0; r < s->ranks; r++) pthread_join(threads[r], NULL);
}

static void open_sides(scene* c) {
    static const bench_ranks_work build = {BENCH_RANKS_BUILD, "", 0},
                                  checked = {BENCH_RANKS_SCATTERED, "", BENCH_CHECKED_K};
    double cpu, most, wall;
    for (int i = 0; i < SIDES; i++) {
        side* s = &c->sides[i];
        sap_comm* comms[MOST_RANKS];
        s->scene = c;
        s->ranks = side_ranks[i];
        if (s->ranks) bench_check(sap_comm_open_threads(s->ranks, NULL, comms), "sap_comm_open_threads");
        if (!s->ranks) s->device = bench_device(1, SAP_SIMD_AUTO, NULL);
        for (int r = 0; r < s->ranks; r++) s->members[r] = (member){.of = s, .comm = comms[r]};
        take_pass(s, s->ranks ? NULL : &build, &cpu, &most, &wall);
        if (!s->ranks) take_pass(s, &checked, &cpu, &most, &wall);
        if (s->ranks) check_answers(s);
    }
}

static void close_sides(scene* c) {
    for (int i = 0; i < SIDES; i++) {
        side* s = &c->sides[i];
        for (int r = 0; r < s->ranks; r++) {
            bench_rank_close(&s->members[r].rank);
            sap_comm_close(s->members[r].comm);
        }
        sap_tree_free(s->one);
        sap_device_close(s->device);
    }
}

// ---- Rows

typedef struct medians {
    double cpu[SIDES], most[SIDES], wall[SIDES];
} medians;

static medians row(scene* c, const bench_ranks_work* work) {
    const int reps = c->run.options->reps;
    medians m = {.cpu = {0}};
    char key[32];
    bench_ranks_key(work, key);
    if (!bench_wanted(&c->run, key)) return m;
    for (int rep = -1; rep < reps; rep++)
        for (int i = 0; i < SIDES; i++) {
            side* s = &c->sides[i];
            double cpu, most, wall;
            take_pass(s, work, &cpu, &most, &wall);
            if (rep < 0) continue;
            s->cpu[rep] = cpu;
            s->most[rep] = most;
            s->wall[rep] = wall;
        }
    for (int i = 0; i < SIDES; i++) {
        m.cpu[i] = bench_median_of(c->sides[i].cpu, reps);
        m.most[i] = bench_median_of(c->sides[i].most, reps);
        m.wall[i] = bench_median_of(c->sides[i].wall, reps);
    }
    printf("| %-12s | %7.1f |", key, 1e3 * m.cpu[0]);
    for (int i = 1; i < SIDES; i++) printf(" %5.2f |", m.cpu[i] / m.cpu[0]);
    for (int i = 2; i < SIDES; i++) printf(" %5.2f |", m.cpu[i] / m.cpu[1]);
    printf(" %5.2f | %5.2f |\n", m.cpu[1] / m.most[2], m.wall[1] / m.wall[2]);
    fflush(stdout);
    return m;
}

static void print_both(const medians* build, const medians* search, const char* name) {
    if (build->wall[1] > 0 && search->wall[1] > 0)
        printf("build and %s, 2 ranks over 1: by the longer processor time %.2f x, by the wall %.2f x\n", name,
               (build->cpu[1] + search->cpu[1]) / (build->most[2] + search->most[2]),
               (build->wall[1] + search->wall[1]) / (build->wall[2] + search->wall[2]));
}

int main(int argc, char** argv) {
    bench_options options = {.threads = 2, .out = ".", .program = "/proc/self/exe", .rival = ""};
    bench_read_options(&options, argc, argv, USAGE);
    scene c = {.run.options = &options, .data = bench_ranks_open(options.quick)};
    c.sides = calloc(SIDES, sizeof *c.sides);
    if (!c.sides) return 1;
    c.ids = bench_memory((size_t)c.data.count * BENCH_MOST_K, sizeof *c.ids);
    c.distance2 = bench_memory((size_t)c.data.count * BENCH_MOST_K, sizeof *c.distance2);
    bench_print_machine();
    printf("%lld uniform 3-D float points, as many queries, one thread a rank; medians of %d passes after a warm-up.\n"
           "Processor times of all ranks: milliseconds without ranks, and times as much with 1, 2, 4, 8 ranks; then 2, "
           "4,\n"
           "8 ranks against 1; then 1 rank over the longer of 2, by processor time and by the wall.\n\n"
           "| %-12s | %7s |     1 |     2 |     4 |     8 |   2/1 |   4/1 |   8/1 |   cpu |  wall |\n"
           "|--------------|--------:|------:|------:|------:|------:|------:|------:|------:|------:|------:|\n",
           (long long)c.data.count, options.reps, "key", "ms");
    open_sides(&c);
    medians all[BENCH_RANKS_WORKS];
    for (int i = 0; i < BENCH_RANKS_WORKS; i++) all[i] = row(&c, &bench_ranks_works[i]);
    for (int i = 0; i < BENCH_RANKS_WORKS; i++) {
        char key[32];
        bench_ranks_key(&bench_ranks_works[i], key);
        if (bench_ranks_works[i].what == BENCH_RANKS_PLACED) print_both(&all[0], &all[i], key);
    }
    close_sides(&c);
    bench_ranks_close(&c.data);
    free(c.sides);
    free(c.ids);
    free(c.distance2);
    return 0;
}
