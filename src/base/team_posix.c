// Teams of POSIX threads.
//
// A job lies on its caller's stack and in a list while it has parts to give. Helpers join and leave it under the lock,
// so once it is out of the list and nobody is inside, nobody knows of it any more.
#include "base/assert.h"
#include "base/team.h"

#if defined(SAP_HAVE_THREADS)

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int32_t sap_team_refused;

enum {
    SPIN_NANOSECONDS = 10000, // about what it takes to put a thread to sleep and to wake it
    PAUSES = 16,              // between two looks at the clock
    WAKEN_AT_ONCE = 2,        // each who has joined a job wakes as many again
    STACK_BYTES = 2 << 20     // of a helper, where the system's own choice is less
};

typedef struct job {
    struct job* next;
    sap_part* part;
    void* context;
    int64_t parts, given;
    int32_t threads, joined; // members that there may be, and that there have been, the caller being the first
    int32_t inside;          // helpers among them that have not left
    bool waits;              // the caller sleeps until they have
    pthread_cond_t left;
} job;

// All but `posted` and `stopping`, which are read by spinning and working helpers, belongs to the lock's holder.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    job* jobs;
    int32_t helpers, busy, spinning, sleeping;
    int32_t most;    // threads that the process may use, as it was when it first needed helpers
    int32_t waking;  // of those that sleep, how many have been called
    uint32_t posted; // jobs, ever
    bool stopping;
    pthread_t threads[SAP_TEAM_MOST - 1];
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static _Thread_local bool in_team; // this thread works on a part

static void lock(void) { pthread_mutex_lock(&team.lock); }
static void unlock(void) { pthread_mutex_unlock(&team.lock); }

// ---- Waiting

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pause_briefly(void) {
    for (int i = 0; i < PAUSES; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

void sap_lock_take(int32_t* lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) sched_yield(); // its holder may be waiting for a processor
}

// Until *word is no more `value`, or for a while.
static void spin_while(const uint32_t* word, uint32_t value) {
    const int64_t end = nanoseconds() + SPIN_NANOSECONDS;
    while (__atomic_load_n(word, __ATOMIC_RELAXED) == value && nanoseconds() < end) pause_briefly();
}

static int32_t smaller(int64_t a, int64_t b) { return (int32_t)(a < b ? a : b); }

// ---- Helpers. What follows is called under the lock, unless it says that it takes it.

// Members that a job could still have.
static int32_t wanted_by(const job* j) {
    const int64_t left = j->parts - __atomic_load_n(&j->given, __ATOMIC_RELAXED);
    return left > 0 ? smaller(left, j->threads - j->joined) : 0;
}

// How many sleepers the caller must call once it has given up the lock.
static int32_t to_wake(void) {
    int64_t wanted = -(int64_t)(team.spinning + team.waking);
    for (const job* j = team.jobs; j; j = j->next) wanted += wanted_by(j);
    const int32_t asleep = team.sleeping - team.waking, some = smaller(wanted, WAKEN_AT_ONCE);
    const int32_t count = some < asleep ? some : asleep;
    if (count <= 0) return 0;
    team.waking += count;
    return count;
}

// Takes no lock.
static void wake(int32_t count) {
    for (int32_t i = 0; i < count; i++) pthread_cond_signal(&team.work);
}

// The job with the fewest members of those that want more.
static job* neediest(void) {
    job* best = NULL;
    for (job* j = team.jobs; j; j = j->next)
        if (wanted_by(j) > 0 && (!best || j->joined < best->joined)) best = j;
    return best;
}

// Takes no lock.
static void work_on(job* j, int32_t worker) {
    while (worker == 0 || !__atomic_load_n(&team.stopping, __ATOMIC_RELAXED)) {
        const int64_t part = __atomic_fetch_add(&j->given, 1, __ATOMIC_RELAXED);
        if (part >= j->parts) return;
        j->part(j->context, part, worker);
    }
}

static void join(job* j) {
    const int32_t worker = j->joined++;
    SAP_ASSERT(worker > 0 && worker < j->threads);
    j->inside++;
    team.busy++;
    const int32_t more = to_wake();
    unlock();
    wake(more);
    work_on(j, worker);
    lock();
    team.busy--;
    __atomic_store_n(&j->inside, j->inside - 1, __ATOMIC_RELAXED);
    if (!j->inside && j->waits) pthread_cond_signal(&j->left);
}

static void look_out(void) {
    const uint32_t posted = team.posted;
    team.spinning++;
    unlock();
    spin_while(&team.posted, posted);
    lock();
    team.spinning--;
}

static void sleep_until_called(void) {
    team.sleeping++;
    pthread_cond_wait(&team.work, &team.lock);
    team.sleeping--;
    if (team.waking) team.waking--;
}

static void* helper(void* unused) {
    bool worked = false; // since it last looked out for the next job
    in_team = true;
#if defined(__linux__)
    cpu_set_t sets[16]; // of the first thread: a caller may be bound to fewer processors than the next
    if (!sched_getaffinity(getpid(), sizeof sets, sets)) sched_setaffinity(0, sizeof sets, sets);
#endif
    lock();
    while (!team.stopping) {
        job* j = neediest();
        if (j)
            join(j);
        else if (worked)
            look_out();
        else
            sleep_until_called();
        worked = j != NULL;
    }
    unlock();
    return unused;
}

static bool create(pthread_t* thread) {
    pthread_attr_t attributes;
    size_t bytes;
    if (sap_team_refused > 0) return sap_team_refused--, false;
    if (pthread_attr_init(&attributes)) return false;
    if (!pthread_attr_getstacksize(&attributes, &bytes) && bytes < STACK_BYTES)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    const bool created = !pthread_create(thread, &attributes, helper, NULL);
    pthread_attr_destroy(&attributes);
    return created;
}

// Creates helpers that a job wants beyond those that are free: as many as there are processors for, or as this job
// wants if that is more. The program's signals are not for them.
static void grow(int32_t wanted) {
    const int32_t lacking = wanted - (team.helpers - team.busy);
    if (lacking <= 0 || team.stopping) return;
    if (!team.most) team.most = sap_team_most();
    const int32_t others = team.most - 1, most = wanted > others ? wanted : others;
    const int32_t target = smaller(team.helpers + (int64_t)lacking, most);
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before)) return;
    while (team.helpers < target && create(&team.threads[team.helpers])) team.helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// ---- The process: fork(), exit(), dlclose()

static void begin_child(void) {
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.work, NULL);
    team.jobs = NULL;
    team.helpers = team.busy = team.spinning = team.sleeping = team.waking = 0;
}

static void watch_forks(void) { pthread_atfork(lock, unlock, begin_child); }

// Before the helpers' code goes. A caller that is at work in another thread finishes alone.
__attribute__((destructor)) static void stop(void) {
    lock();
    const int32_t count = team.helpers;
    team.helpers = 0;
    __atomic_store_n(&team.stopping, true, __ATOMIC_RELAXED);
    unlock();
    pthread_cond_broadcast(&team.work);
    if (in_team) return; // a part ends the program: others may wait for what it holds
    for (int32_t i = 0; i < count; i++)
        if (!pthread_equal(team.threads[i], pthread_self())) pthread_join(team.threads[i], NULL);
}

// ---- The call

static void post(job* j) {
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    lock();
    grow(j->threads - 1);
    j->next = team.jobs;
    team.jobs = j;
    __atomic_store_n(&team.posted, team.posted + 1, __ATOMIC_RELAXED);
    const int32_t count = to_wake();
    unlock();
    wake(count);
}

static void withdraw(job* j) {
    lock();
    job** link = &team.jobs;
    while (*link != j) link = &(*link)->next;
    *link = j->next;
    if (j->inside) {
        unlock();
        const int64_t end = nanoseconds() + SPIN_NANOSECONDS;
        while (__atomic_load_n(&j->inside, __ATOMIC_RELAXED) && nanoseconds() < end) pause_briefly();
        lock();
    }
    j->waits = true;
    while (j->inside) pthread_cond_wait(&j->left, &team.lock);
    unlock();
}

void sap_team_run(int32_t threads, int64_t parts, sap_part* part, void* context) {
    SAP_ASSERT(threads <= SAP_TEAM_MOST && parts >= 0);
    if (threads <= 1 || parts <= 1 || in_team) {
        for (int64_t i = 0; i < parts; i++) part(context, i, 0);
        return;
    }
    int cancellable;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
    job j = {.part = part, .context = context, .parts = parts, .threads = smaller(threads, parts), .joined = 1};
    pthread_cond_init(&j.left, NULL);
    post(&j);
    in_team = true;
    work_on(&j, 0);
    in_team = false;
    withdraw(&j);
    pthread_cond_destroy(&j.left);
    pthread_setcancelstate(cancellable, NULL);
}

int32_t sap_team_helpers(void) {
    lock();
    const int32_t count = team.helpers;
    unlock();
    return count;
}

static int32_t processors(void) {
#if defined(__linux__)
    cpu_set_t sets[16];
    if (!sched_getaffinity(0, sizeof sets, sets)) return CPU_COUNT_S(sizeof sets, sets);
#endif
    return smaller(sysconf(_SC_NPROCESSORS_ONLN), SAP_TEAM_MOST);
}

int32_t sap_team_most(void) {
    const char* asked = getenv("OMP_NUM_THREADS");
    long count = asked ? strtol(asked, NULL, 10) : 0;
    if (count <= 0) count = processors();
    return count < 1 ? 1 : smaller(count, SAP_TEAM_MOST);
}

#endif
