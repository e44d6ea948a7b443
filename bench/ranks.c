// sapwood_ranks_bench: one tree over ranks that are threads, beside one tree without ranks, in turn in one process. Each
// rank has one thread, so processor times of all ranks add up to what the ranks cost; where there are as many processors
// as ranks, the wall says how they scale. See run.sh.
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char USAGE[] =
    "usage: run.sh ranks [--quick] [--only KEYS] [--reps N]\n"
    "  --quick       a tenth of the points and three passes: a look, not a record\n"
    "  --only KEYS   only rows whose keys begin with one of KEYS: build, rebuild, placed-1, scattered-8, self-8 …\n"
    "  --reps N      passes a side after the warm-up, default 7\n";

enum { SIDES = 5, MOST_RANKS = 8, MOST_K = 16 };
static const int side_ranks[SIDES] = {0, 1, 2, 4, 8}; // 0: no ranks

typedef enum work { WORK_BUILD, WORK_REBUILD, WORK_PLACED, WORK_SCATTERED, WORK_SELF } work;

typedef struct side side;

typedef struct rank {
    side* of;
    int number;
    sap_comm* comm;
    sap_device* device;
    sap_cluster_tree* tree;
    const float* share;
    int64_t share_count;
    float* placed; // queries whose nearest point this rank holds
    int64_t placed_count;
    const float* scattered;
    int64_t scattered_count;
    int64_t held;
    int64_t* held_ids;
    float* held_points;
    int64_t* ids;
    float* distance2;
    double seconds; // of its processor, in the last pass
} rank;

struct side {
    int ranks; // 0: none, and the tree is `one`
    sap_device* device;
    sap_tree* one;
    rank members[MOST_RANKS];
    pthread_barrier_t start;
    work what;
    int k;
    double cpu[BENCH_MAX_REPS], wall[BENCH_MAX_REPS];
};

typedef struct scene {
    bench_run run;
    int64_t count;
    float *points, *queries;
    int32_t* ids; // of the one tree
    float* distance2;
    side sides[SIDES];
} scene;

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- The work of one rank

static void build_part(rank* r) {
    sap_cluster_free(r->tree);
    r->tree = NULL;
    bench_check(
        sap_cluster_build(r->comm, r->device, (sap_points){r->share, r->share_count, 3, 0}, NULL, NULL, &r->tree),
        "sap_cluster_build");
}

static void work_part(rank* r) {
    const side* s = r->of;
    const sap_search search = {.k = s->k};
    const sap_points placed = {r->placed, r->placed_count, 3, 0};
    const sap_points scattered = {r->scattered, r->scattered_count, 3, 0};
    switch (s->what) {
    case WORK_BUILD: build_part(r); break;
    case WORK_REBUILD:
        bench_check(sap_cluster_rebuild(r->tree, (sap_points){r->held_points, r->held, 3, 0}, r->held_ids),
                    "sap_cluster_rebuild");
        break;
    case WORK_PLACED:
        bench_check(sap_cluster_nearest(r->tree, placed, &search, r->ids, r->distance2), "sap_cluster_nearest");
        break;
    case WORK_SCATTERED:
        bench_check(sap_cluster_nearest(r->tree, scattered, &search, r->ids, r->distance2), "sap_cluster_nearest");
        break;
    case WORK_SELF:
        bench_check(sap_cluster_nearest_self(r->tree, &search, r->ids, r->distance2), "sap_cluster_nearest_self");
        break;
    }
}

static void* run_part(void* argument) {
    rank* r = argument;
    pthread_barrier_wait(&r->of->start);
    const double start = thread_seconds();
    work_part(r);
    r->seconds = thread_seconds() - start;
    return NULL;
}

static void work_alone(scene* c, side* s) {
    const sap_search search = {.k = s->k};
    const sap_points points = {c->points, c->count, 3, 0}, queries = {c->queries, c->count, 3, 0};
    if (s->what == WORK_REBUILD) {
        bench_check(sap_tree_rebuild(s->one, points), "sap_tree_rebuild");
    } else if (s->what == WORK_BUILD) {
        sap_tree_free(s->one);
        s->one = NULL;
        bench_check(sap_tree_build(s->device, points, NULL, &s->one), "sap_tree_build");
    } else if (s->what == WORK_SELF) {
        bench_check(sap_nearest_self(s->one, &search, c->ids, c->distance2), "sap_nearest_self");
    } else {
        bench_check(sap_nearest(s->one, queries, &search, c->ids, c->distance2), "sap_nearest");
    }
}

// One pass: *cpu the processor times of all ranks, *wall from the first's start to the last's end.
static void take_pass(scene* c, side* s, double* cpu, double* wall) {
    pthread_t threads[MOST_RANKS] = {0};
    if (!s->ranks) {
        const double start = bench_seconds(), cpu_start = thread_seconds();
        work_alone(c, s);
        *cpu = thread_seconds() - cpu_start;
        *wall = bench_seconds() - start;
        return;
    }
    pthread_barrier_init(&s->start, NULL, (unsigned)s->ranks + 1);
    for (int r = 0; r < s->ranks; r++)
        if (pthread_create(&threads[r], NULL, run_part, &s->members[r])) bench_check(SAP_ERROR_MEMORY, "a thread");
    pthread_barrier_wait(&s->start);
    const double start = bench_seconds();
    *cpu = 0;
    for (int r = 0; r < s->ranks; r++) {
        pthread_join(threads[r], NULL);
        *cpu += s->members[r].seconds;
    }
    *wall = bench_seconds() - start;
    pthread_barrier_destroy(&s->start);
}

// ---- The sides

static void set_work(side* s, work what, int k) {
    s->what = what;
    s->k = k;
}

// Which queries are nearest to whose points.
static void place_queries(scene* c, side* s) {
    unsigned char* owner = bench_memory((size_t)c->count, 1);
    for (int r = 0; r < s->ranks; r++) {
        sap_cluster_info info;
        rank* m = &s->members[r];
        bench_check(sap_cluster_describe(m->tree, &info), "sap_cluster_describe");
        m->held = info.count_here;
        m->held_ids = bench_memory((size_t)m->held, sizeof *m->held_ids);
        m->held_points = bench_memory((size_t)m->held * 3, sizeof *m->held_points);
        bench_check(sap_cluster_points(m->tree, m->held_ids, m->held_points), "sap_cluster_points");
        for (int64_t i = 0; i < m->held; i++) owner[m->held_ids[i]] = (unsigned char)r;
    }
    for (int64_t q = 0; q < c->count; q++) s->members[owner[c->ids[q]]].placed_count++;
    for (int r = 0; r < s->ranks; r++) {
        rank* m = &s->members[r];
        m->placed = bench_memory((size_t)m->placed_count * 3, sizeof(float));
        m->scattered = c->queries + c->count * r / s->ranks * 3;
        m->scattered_count = c->count * (r + 1) / s->ranks - c->count * r / s->ranks;
        int64_t most = m->placed_count > m->scattered_count ? m->placed_count : m->scattered_count;
        if (most < m->held) most = m->held;
        m->ids = bench_memory((size_t)(most * MOST_K), sizeof *m->ids);
        m->distance2 = bench_memory((size_t)(most * MOST_K), sizeof *m->distance2);
        m->placed_count = 0;
    }
    for (int64_t q = 0; q < c->count; q++) {
        rank* m = &s->members[owner[c->ids[q]]];
        memcpy(m->placed + 3 * m->placed_count++, c->queries + 3 * q, 3 * sizeof(float));
    }
    free(owner);
}

// Answers of the scattered queries are those of the one tree.
static void check_answers(scene* c, side* s) {
    double cpu, wall;
    set_work(s, WORK_SCATTERED, 8);
    take_pass(c, s, &cpu, &wall);
    for (int r = 0; r < s->ranks; r++) {
        const rank* m = &s->members[r];
        const int64_t first = (m->scattered - c->queries) / 3 * 8;
        for (int64_t i = 0; i < m->scattered_count * 8; i++)
            if (m->ids[i] != c->ids[first + i] || m->distance2[i] != c->distance2[first + i]) {
                fprintf(stderr, "bench: the answers of %d ranks are not those of one tree\n", s->ranks);
                exit(1);
            }
    }
}

static void open_sides(scene* c) {
    double cpu, wall;
    for (int i = 0; i < SIDES; i++) {
        side* s = &c->sides[i];
        sap_comm* comms[MOST_RANKS];
        s->ranks = side_ranks[i];
        s->device = bench_device(1, SAP_SIMD_AUTO, NULL);
        if (s->ranks) bench_check(sap_comm_open_threads(s->ranks, NULL, comms), "sap_comm_open_threads");
        for (int r = 0; r < s->ranks; r++) {
            rank* m = &s->members[r];
            *m = (rank){.of = s, .number = r, .comm = comms[r], .device = bench_device(1, SAP_SIMD_AUTO, NULL)};
            m->share = c->points + c->count * r / s->ranks * 3;
            m->share_count = c->count * (r + 1) / s->ranks - c->count * r / s->ranks;
        }
        set_work(s, WORK_BUILD, 1);
        take_pass(c, s, &cpu, &wall);
        set_work(s, WORK_SCATTERED, 1);
        if (!s->ranks) take_pass(c, s, &cpu, &wall); // whose point is nearest
    }
    for (int i = 1; i < SIDES; i++) place_queries(c, &c->sides[i]);
    set_work(&c->sides[0], WORK_SCATTERED, 8);
    take_pass(c, &c->sides[0], &cpu, &wall);
    for (int i = 1; i < SIDES; i++) check_answers(c, &c->sides[i]);
}

static void close_sides(scene* c) {
    for (int i = 0; i < SIDES; i++) {
        side* s = &c->sides[i];
        for (int r = 0; r < s->ranks; r++) {
            rank* m = &s->members[r];
            sap_cluster_free(m->tree);
            sap_comm_close(m->comm);
            sap_device_close(m->device);
            free(m->placed);
            free(m->held_ids);
            free(m->held_points);
            free(m->ids);
            free(m->distance2);
        }
        sap_tree_free(s->one);
        sap_device_close(s->device);
    }
}

// ---- Rows

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(const double* samples, int count) {
    double sorted[BENCH_MAX_REPS] = {0};
    memcpy(sorted, samples, (size_t)count * sizeof *samples);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

static double row(scene* c, work what, const char* name, int k, double walls[SIDES]) {
    const int reps = c->run.options->reps;
    char key[32];
    if (k > 0)
        snprintf(key, sizeof key, "%s-%d", name, k);
    else
        snprintf(key, sizeof key, "%s", name);
    if (!bench_wanted(&c->run, key)) return 0;
    double cpu[SIDES];
    for (int rep = -1; rep < reps; rep++)
        for (int i = 0; i < SIDES; i++) {
            side* s = &c->sides[i];
            double own, wall;
            set_work(s, what, k);
            take_pass(c, s, &own, &wall);
            if (rep < 0) continue;
            s->cpu[rep] = own;
            s->wall[rep] = wall;
        }
    for (int i = 0; i < SIDES; i++) {
        cpu[i] = median(c->sides[i].cpu, reps);
        walls[i] = median(c->sides[i].wall, reps);
    }
    printf("| %-12s | %7.1f |", key, 1e3 * cpu[0]);
    for (int i = 1; i < SIDES; i++) printf(" %5.2f |", cpu[i] / cpu[0]);
    for (int i = 2; i < SIDES; i++) printf(" %5.2f |", cpu[i] / cpu[1]);
    printf(" %5.2f |\n", walls[1] / walls[2]);
    fflush(stdout);
    return cpu[0];
}

static void print_both(const double build[SIDES], const double search[SIDES], const char* name) {
    if (build[1] > 0 && search[1] > 0)
        printf("build and %s, 2 ranks over 1 by the wall: %.2f x\n", name,
               (build[1] + search[1]) / (build[2] + search[2]));
}

int main(int argc, char** argv) {
    bench_options options = {.threads = 2, .out = ".", .program = "/proc/self/exe", .rival = ""};
    bench_read_options(&options, argc, argv, USAGE);
    scene* c = calloc(1, sizeof *c);
    if (!c) return 1;
    c->run.options = &options;
    c->count = options.quick ? 100000 : 1000000;
    c->points = bench_uniform(c->count, 3, 1);
    c->queries = bench_uniform(c->count, 3, 2);
    c->ids = bench_memory((size_t)c->count * MOST_K, sizeof *c->ids);
    c->distance2 = bench_memory((size_t)c->count * MOST_K, sizeof *c->distance2);
    bench_print_machine();
    printf("%lld uniform 3-D float points, as many queries, one thread a rank; medians of %d passes after a warm-up.\n"
           "Processor times of all ranks: milliseconds without ranks, and times as much with 1, 2, 4, 8 ranks; then 2, "
           "4,\n"
           "8 ranks against 1; then the wall of 1 rank over that of 2.\n\n"
           "| %-12s | %7s |     1 |     2 |     4 |     8 |   2/1 |   4/1 |   8/1 |  wall |\n"
           "|--------------|--------:|------:|------:|------:|------:|------:|------:|------:|------:|\n",
           (long long)c->count, options.reps, "key", "ms");
    open_sides(c);
    static const int ks[] = {1, 8, 16};
    double build[SIDES] = {0}, searches[3][SIDES] = {{0}}, ignored[SIDES];
    row(c, WORK_BUILD, "build", 0, build);
    row(c, WORK_REBUILD, "rebuild", 0, ignored);
    for (int i = 0; i < 3; i++) row(c, WORK_PLACED, "placed", ks[i], searches[i]);
    for (int i = 0; i < 3; i++) row(c, WORK_SCATTERED, "scattered", ks[i], ignored);
    for (int i = 1; i < 3; i++) row(c, WORK_SELF, "self", ks[i], ignored);
    print_both(build, searches[0], "placed-1");
    print_both(build, searches[2], "placed-16");
    close_sides(c);
    free(c->points);
    free(c->queries);
    free(c->ids);
    free(c->distance2);
    free(c);
    return 0;
}
