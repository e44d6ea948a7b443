// Teams: each part once, workers that nobody else is, callers that do not disturb one another, and a process that may
// fork, run out of threads and end.
#include "base/team.h"
#include "test.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#endif
#endif
#ifndef THREAD_SANITIZED
#define THREAD_SANITIZED 0
#endif

enum { WORKERS = 8, PARTS = 1000 };

typedef struct record {
    int32_t threads;
    int32_t runs[PARTS];   // of each part
    int32_t busy[WORKERS]; // whether a worker of this number is at work
    int32_t wrong;         // parts and workers that should not be
    int32_t most_at_once, at_once;
    int64_t sum[WORKERS]; // by worker, without atomics
} record;

static void raise_to(int32_t* most, int32_t value) {
    int32_t now = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (value > now && !__atomic_compare_exchange_n(most, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void note_part(void* context, int64_t part, int32_t worker) {
    record* r = context;
    if (part < 0 || part >= PARTS || worker < 0 || worker >= r->threads) {
        __atomic_add_fetch(&r->wrong, 1, __ATOMIC_RELAXED);
        return;
    }
    if (__atomic_exchange_n(&r->busy[worker], 1, __ATOMIC_RELAXED)) __atomic_add_fetch(&r->wrong, 1, __ATOMIC_RELAXED);
    raise_to(&r->most_at_once, __atomic_add_fetch(&r->at_once, 1, __ATOMIC_RELAXED));
    __atomic_add_fetch(&r->runs[part], 1, __ATOMIC_RELAXED);
    r->sum[worker] += part;
    __atomic_sub_fetch(&r->at_once, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&r->busy[worker], 0, __ATOMIC_RELAXED);
}

static bool is_whole(const record* r, int64_t parts) {
    int64_t sum = 0;
    bool whole = !r->wrong && r->most_at_once <= r->threads;
    for (int64_t i = 0; i < PARTS; i++) whole &= r->runs[i] == (i < parts);
    for (int i = 0; i < WORKERS; i++) sum += r->sum[i];
    return whole && sum == parts * (parts - 1) / 2;
}

static bool run_parts(int32_t threads, int64_t parts) {
    record r = {.threads = threads};
    sap_team_run(threads, parts, note_part, &r);
    return is_whole(&r, parts);
}

TEST(every_part_runs_once) {
    for (int32_t threads = 1; threads <= WORKERS; threads++)
        for (int64_t parts = 0; parts <= PARTS; parts = parts * 3 + 1) {
            test_note("%d threads, %lld parts", (int)threads, (long long)parts);
            CHECK(run_parts(threads, parts));
        }
    test_note("%s", "");
}

TEST(many_small_jobs) {
    bool whole = true;
    for (int i = 0; i < 3000; i++) whole &= run_parts(2 + i % (WORKERS - 1), 1 + i % 12);
    CHECK(whole);
}

// ---- Loops

static void note_range(void* context, int64_t from, int64_t to, int32_t worker) {
    record* r = context;
    if (from % 7 || to <= from || to - from > 7) __atomic_add_fetch(&r->wrong, 1, __ATOMIC_RELAXED);
    for (int64_t i = from; i < to; i++) note_part(r, i, worker);
}

TEST(loops_cover_every_item) {
    static const int64_t counts[] = {0, 1, 6, 7, 8, 699, 700, 701, PARTS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int32_t threads = 1; threads <= 3; threads++) {
            record r = {.threads = threads};
            sap_team_loop(threads, counts[i], 7, note_range, &r);
            CHECK(is_whole(&r, counts[i]));
        }
}

TEST(the_least_of_all) {
    int64_t least = 9;
    sap_team_lower(&least, 12);
    CHECK_EQUAL(least, 9);
    sap_team_lower(&least, -3);
    CHECK_EQUAL(least, -3);
}

// ---- Teams in teams, and beside one another

typedef struct nest {
    record outer;
    int32_t whole; // inner jobs that were
} nest;

static void run_inner(void* context, int64_t part, int32_t worker) {
    nest* n = context;
    note_part(&n->outer, part, worker);
    if (run_parts(4, 20)) __atomic_add_fetch(&n->whole, 1, __ATOMIC_RELAXED);
}

TEST(a_part_may_run_a_team) {
    nest n = {.outer = {.threads = 4}};
    sap_team_run(4, 50, run_inner, &n);
    CHECK(is_whole(&n.outer, 50));
    CHECK_EQUAL(n.whole, 50);
}

static void* call_often(void* failures) {
    for (int i = 0; i < 100; i++)
        if (!run_parts(3, 1 + i % 40)) __atomic_add_fetch((int*)failures, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST(callers_do_not_disturb_one_another) {
    enum { CALLERS = 6 };
    pthread_t callers[CALLERS];
    int failures = 0, started = 0;
    while (started < CALLERS && !pthread_create(&callers[started], NULL, call_often, &failures)) started++;
    for (int i = 0; i < started; i++) pthread_join(callers[i], NULL);
    CHECK_EQUAL(started, CALLERS);
    CHECK_EQUAL(failures, 0);
}

// ---- The process

static void wait_for_another(void* context, int64_t part, int32_t worker) {
    int32_t* met = context;
    (void)part, (void)worker;
    __atomic_add_fetch(met, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(met, __ATOMIC_RELAXED) < 2) usleep(100);
}

// Ends only if two threads work at once.
static bool has_company(void) {
    int32_t met = 0;
    sap_team_run(2, 2, wait_for_another, &met);
    return met == 2;
}

static bool has_threads(void) {
    run_parts(2, 2);
    return sap_team_helpers() > 0;
}

TEST(helpers_help) {
    if (!has_threads()) SKIP("no threads in this build");
    CHECK(has_company());
    CHECK(sap_team_helpers() < WORKERS || sap_team_helpers() < sap_team_most());
}

// A new process that has no helpers: the exit status of what it does. Without sanitizers it ends as programs do.
static int status_of_child(int (*does)(void)) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        status = does();
        if (TEST_SANITIZED) _exit(status);
        exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

static int status_with_helpers(void) {
    const int32_t before = sap_team_helpers();
    return before == 0 && run_parts(4, 100) && has_company() && sap_team_helpers() > 0 ? 0 : 1;
}

TEST(a_child_has_helpers_of_its_own) {
    if (THREAD_SANITIZED) SKIP("the thread sanitizer allows no threads after fork()");
    if (!has_threads()) SKIP("no threads in this build");
    for (int i = 0; i < 5; i++) {
        CHECK(run_parts(4, 100));
        CHECK_EQUAL(status_of_child(status_with_helpers), 0);
    }
    CHECK(has_company());
}

static int status_without_helpers(void) {
    sap_team_refused = 1;
    const bool alone = run_parts(WORKERS, PARTS) && sap_team_helpers() == 0;
    return alone && run_parts(WORKERS, PARTS) && sap_team_helpers() > 0 ? 0 : 1;
}

TEST(helpers_that_cannot_be_created) {
    if (THREAD_SANITIZED) SKIP("the thread sanitizer allows no threads after fork()");
    if (!has_threads()) SKIP("no threads in this build");
    CHECK_EQUAL(status_of_child(status_without_helpers), 0);
}

static void nap(void* started, int64_t part, int32_t worker) {
    (void)part, (void)worker;
    __atomic_store_n((int*)started, 1, __ATOMIC_RELAXED);
    usleep(50);
}

static void* call_until_cancelled(void* started) {
    for (;;) {
        sap_team_run(3, 30, nap, started);
        pthread_testcancel();
    }
    return NULL;
}

TEST(a_caller_may_be_cancelled) {
    pthread_t caller;
    int started = 0;
    CHECK_EQUAL(pthread_create(&caller, NULL, call_until_cancelled, &started), 0);
    while (!__atomic_load_n(&started, __ATOMIC_RELAXED)) usleep(100);
    CHECK_EQUAL(pthread_cancel(caller), 0);
    CHECK_EQUAL(pthread_join(caller, NULL), 0);
    CHECK(run_parts(4, 100));
}

static void end_program(void* met, int64_t part, int32_t worker) {
    wait_for_another(met, part, worker);
    if (worker == 1) exit(7);
    for (;;) usleep(1000); // a part that does not end
}

static int status_of_part_that_exits(void) {
    int32_t met = 0;
    alarm(20);
    sap_team_run(2, 2, end_program, &met);
    return 0;
}

TEST(a_part_may_end_the_program) {
    if (TEST_SANITIZED) SKIP("sanitizers have their own way to end");
    if (!has_threads()) SKIP("no threads in this build");
    CHECK_EQUAL(status_of_child(status_of_part_that_exits), 7);
}

#if defined(__linux__)
static int32_t processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

// Each part waits for another, so that a helper has one of two.
static void note_processors(void* context, int64_t part, int32_t worker) {
    int32_t* counts = context;
    wait_for_another(&counts[2], part, worker);
    counts[worker] = processors();
}

static void* bind_and_run(void* counts) {
    cpu_set_t set, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof set, &set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &set)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    sap_team_run(2, 2, note_processors, counts);
    return NULL;
}

static int status_of_bound_caller(void) {
    pthread_t caller;
    int32_t counts[3] = {0, 0, 0};
    if (pthread_create(&caller, NULL, bind_and_run, counts)) return 1;
    pthread_join(caller, NULL);
    return counts[0] == 1 && counts[1] == processors() ? 0 : 1;
}

TEST(a_bound_caller_does_not_bind_helpers) {
    if (THREAD_SANITIZED) SKIP("the thread sanitizer allows no threads after fork()");
    if (!has_threads()) SKIP("no threads in this build");
    CHECK_EQUAL(status_of_child(status_of_bound_caller), 0);
}
#endif

TEST(the_environment_limits_threads) {
    if (!has_threads()) SKIP("no threads in this build");
    const char* was = getenv("OMP_NUM_THREADS");
    char* kept = was ? strdup(was) : NULL;
    setenv("OMP_NUM_THREADS", "3", 1);
    CHECK_EQUAL(sap_team_most(), 3);
    setenv("OMP_NUM_THREADS", "5,2", 1);
    CHECK_EQUAL(sap_team_most(), 5);
    setenv("OMP_NUM_THREADS", "99999999999999999999", 1);
    CHECK_EQUAL(sap_team_most(), SAP_TEAM_MOST);
    unsetenv("OMP_NUM_THREADS");
    const int32_t all = sap_team_most();
    CHECK(all >= 1 && all <= SAP_TEAM_MOST);
    setenv("OMP_NUM_THREADS", "-1", 1);
    CHECK_EQUAL(sap_team_most(), all);
    if (kept)
        setenv("OMP_NUM_THREADS", kept, 1);
    else
        unsetenv("OMP_NUM_THREADS");
    free(kept);
}

TEST_MAIN()
