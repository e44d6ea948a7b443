// Builds: into kept memory, in turn with the rival in this process; and in fresh memory, each in a process of its own.
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct rebuild_state {
    bench_work* work;
    const bench_rival* rival; // NULL: Sapwood
    void* index;
} rebuild_state;

static void rebuild_pass(void* state) {
    rebuild_state* s = state;
    if (s->rival)
        s->rival->rebuild(s->index);
    else
        bench_check(sap_tree_rebuild(s->work->tree, bench_points(s->work)), "sap_tree_rebuild");
}

double bench_build_floor(const bench_run* run, int64_t count, int dims) {
    enum { LEAF = 32, CACHE = 1 << 20 };
    double point_bytes = 4.0 * dims + 4, seconds = 0;
    for (double part = (double)count; part > LEAF; part /= 2) {
        bool cached = part * point_bytes <= CACHE;
        seconds += 2 * point_bytes * (double)count / (cached ? run->rates.cache_bytes : run->rates.memory_bytes);
    }
    return seconds;
}

void bench_rebuild_row(bench_run* run, bench_work* work, const char* key, const char* text, double target) {
    if (!bench_wanted(run, key)) return;
    rebuild_state states[2] = {{.work = work}, {.work = work, .rival = bench_main_rival(), .index = work->indexes[0]}};
    bench_side sides[2] = {{.pass = rebuild_pass, .state = &states[0]}, {.pass = rebuild_pass, .state = &states[1]}};
    int count = bench_main_rival() && work->indexes[0] ? 2 : 1;
    bench_take_turns(sides, count, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_SECONDS, .target = target};
    row.subject = bench_median(&sides[0]);
    if (count > 1) row.rival = bench_median(&sides[1]);
    row.floor = bench_build_floor(run, work->count, work->dims);
    bench_report_samples(run->report, key, "sapwood", &sides[0]);
    if (count > 1) bench_report_samples(run->report, key, bench_main_rival()->name, &sides[1]);
    bench_report_row(run->report, &row);
}

int bench_first_build(const char* who, int64_t count, int dims) {
    float* points = bench_uniform(count, dims, 31);
    double seconds = -1, cpu_seconds = 0;
    if (strcmp(who, "sapwood") == 0) {
        sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
        sap_tree* tree = NULL;
        sap_points given = {.coords = points, .count = count, .dims = dims};
        double start = bench_seconds(), cpu_start = bench_cpu_seconds();
        bench_check(sap_tree_build(device, given, NULL, &tree), "sap_tree_build");
        cpu_seconds = bench_cpu_seconds() - cpu_start;
        seconds = bench_seconds() - start;
        sap_tree_free(tree);
        sap_device_close(device);
    }
    for (int i = 0; i < bench_rival_count; i++) {
        if (strcmp(who, bench_rivals[i]->name) != 0) continue;
        double start = bench_seconds(), cpu_start = bench_cpu_seconds();
        void* index = bench_rivals[i]->build(points, (size_t)count, dims);
        cpu_seconds = bench_cpu_seconds() - cpu_start;
        seconds = bench_seconds() - start;
        if (index)
            bench_rivals[i]->release(index);
        else
            seconds = -1;
    }
    free(points);
    if (seconds < 0) return 1;
    printf("%.9f %.9f\n", seconds, cpu_seconds);
    return 0;
}

typedef struct first_state {
    const char* program;
    const char* who;
    int64_t count;
    int dims;
    bool cpu_time;
} first_state;

static void run_first_build(const first_state* s) {
    char count[32], dims[32];
    snprintf(count, sizeof count, "%lld", (long long)s->count);
    snprintf(dims, sizeof dims, "%d", s->dims);
    execl(s->program, s->program, "--first-build", s->who, count, dims, (char*)NULL);
    fprintf(stderr, "bench: cannot start %s: %s\n", s->program, strerror(errno));
    _exit(127);
}

// Starts this program again for one first build and reads the seconds that it measured.
static double first_pass(void* state) {
    const first_state* s = state;
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        run_first_build(s);
    }
    double seconds = -1, cpu_seconds = 0;
    int status = -1;
    if (child > 0) {
        close(ends[1]);
        FILE* answer = fdopen(ends[0], "r");
        if (answer && fscanf(answer, "%lf %lf", &seconds, &cpu_seconds) != 2) seconds = -1;
        if (answer) fclose(answer);
        waitpid(child, &status, 0);
    }
    if (status != 0 || seconds < 0) {
        fprintf(stderr, "bench: a first build by %s in a process of its own failed\n", s->who);
        exit(1);
    }
    return s->cpu_time ? cpu_seconds : seconds;
}

static void first_row(bench_run* run, const char* key, const char* text, int64_t count, int dims, double target) {
    if (!bench_wanted(run, key)) return;
    const bench_rival* rival = bench_main_rival();
    first_state states[2] = {{run->options->program, "sapwood", count, dims, run->options->cpu_time},
                             {run->options->program, rival ? rival->name : "", count, dims, run->options->cpu_time}};
    bench_side sides[2] = {{.timed = first_pass, .state = &states[0]}, {.timed = first_pass, .state = &states[1]}};
    bench_take_cold_turns(sides, rival ? 2 : 1, run->options);
    bench_row row = {.key = key, .work = text, .unit = BENCH_SECONDS, .target = target};
    row.subject = bench_median(&sides[0]);
    row.rival = bench_median(&sides[1]);
    row.floor = bench_build_floor(run, count, dims);
    bench_report_samples(run->report, key, "sapwood", &sides[0]);
    if (rival) bench_report_samples(run->report, key, rival->name, &sides[1]);
    bench_report_row(run->report, &row);
}

static void rebuild_rows(bench_run* run, const char* key, const char* text, int64_t count, int dims, double target) {
    if (!bench_wanted(run, key)) return;
    bench_work work;
    // One query: the arrays for answers stay small.
    bench_work_open(&work, bench_uniform(count, dims, 31), count, bench_uniform(1, dims, 32), 1, dims, false);
    bench_rebuild_row(run, &work, key, text, target);
    bench_work_close(&work);
}

// Builds by the rivals beside, for the row of the 1M rebuild.
static void beside_rows(bench_run* run, int64_t count) {
    if (!bench_wanted(run, "build-beside")) return;
    bench_row row = {.key = "build-beside", .work = "uniform 1M 3-D, first build", .unit = BENCH_SECONDS};
    for (int i = 0; i <= bench_rival_count; i++) {
        const char* who = i < bench_rival_count ? bench_rivals[i]->name : "sapwood";
        first_state state = {run->options->program, who, count, 3, run->options->cpu_time};
        bench_side side = {.timed = first_pass, .state = &state, .most = 3};
        bench_take_cold_turns(&side, 1, run->options);
        double seconds = bench_median(&side);
        int place = bench_report_other(who);
        if (i == bench_rival_count)
            row.subject = seconds;
        else if (place >= 0)
            row.others[place] = seconds;
        else
            row.rival = seconds;
        bench_report_samples(run->report, row.key, who, &side);
    }
    bench_report_row(run->report, &row);
}

void bench_build_group(bench_run* run) {
    bool quick = run->options->quick;
    int64_t million = quick ? 200000 : 1000000, large = quick ? 2000000 : 10000000, huge = quick ? 2097152 : 16777216;
    rebuild_rows(run, "rebuild-1m", "rebuild 1M 3-D", million, 3, 5.5);
    rebuild_rows(run, "rebuild-10m", "rebuild 10M 3-D", large, 3, 7.5);
    rebuild_rows(run, "rebuild-17m-4d", "rebuild 16.8M 4-D", huge, 4, 8);
    first_row(run, "first-1m", "first build, fresh process, 1M 3-D", million, 3, 2.5);
    first_row(run, "first-10m", "first build, fresh process, 10M 3-D", large, 3, 3);
    first_row(run, "first-17m-4d", "first build, fresh process, 16.8M 4-D", huge, 4, 3);
    beside_rows(run, million);
}
