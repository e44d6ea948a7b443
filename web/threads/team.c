// The library's teams (base/team.h) of web workers that share one memory. One pool of workers serves one job at a time,
// which the thread that JavaScript calls from brings; a job inside a job is its part's own thread's alone, as are jobs
// before web_threads_open. A worker that comes when no part is left goes back to sleep, and nobody waits for it.
#include "base/team.h"
#include "futex.h"

#include "module/export.h"

#include <stddef.h>
#include <stdlib.h>

enum { STACK_BYTES = 256 << 10 }; // of a worker, as the main thread has

static struct {
    web_lock lock; // of joined and threads, and of who joins
    sap_part* part;
    void* context;
    int64_t parts, given;
    int32_t threads, joined; // members that there may be, and that there have been, the caller being the first
    int32_t inside;          // workers among them that have not left
} job;

static int32_t workers;
static int32_t calls; // jobs, ever: workers wait for it to change
static _Thread_local bool in_team;

void __wasm_init_tls(void* memory);
void emscripten_notify_memory_growth(int memory);

int32_t sap_team_refused;
int32_t sap_team_helpers(void) { return workers; }
int32_t sap_team_most(void) { return workers + 1; }

// The thread of a page cannot sleep, and locks are held for a few instructions.
void sap_lock_take(int32_t* lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {}
}

static void work_on(int32_t worker) {
    in_team = true;
    for (int64_t part; (part = __atomic_fetch_add(&job.given, 1, __ATOMIC_SEQ_CST)) < job.parts;)
        job.part(job.context, part, worker);
    in_team = false;
}

static void post(int32_t threads, int64_t parts, sap_part* part, void* context) {
    web_lock_take(&job.lock);
    job.part = part;
    job.context = context;
    job.parts = parts;
    job.given = 0;
    job.threads = threads;
    job.joined = 1;
    web_lock_give(&job.lock);
    __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    web_futex_wake(&calls);
}

// Nobody joins any more; waits for those that are inside.
static void withdraw(void) {
    web_lock_take(&job.lock);
    job.threads = 0;
    web_lock_give(&job.lock);
    for (int32_t left; (left = __atomic_load_n(&job.inside, __ATOMIC_SEQ_CST));) web_futex_wait(&job.inside, left);
}

void sap_team_run(int32_t threads, int64_t parts, sap_part* part, void* context) {
    if (threads > sap_team_most()) threads = sap_team_most();
    if (threads > parts) threads = (int32_t)parts;
    if (threads <= 1 || in_team) {
        for (int64_t i = 0; i < parts; i++) part(context, i, 0);
        return;
    }
    const size_t pages = __builtin_wasm_memory_size(0);
    post(threads, parts, part, context);
    work_on(0);
    withdraw();
    // JavaScript hears of memory only where it grows in its own thread.
    if (__builtin_wasm_memory_size(0) != pages) emscripten_notify_memory_growth(0);
}

// The caller's number in the job, or 0 if it is not wanted.
static int32_t join(void) {
    int32_t worker = 0;
    web_lock_take(&job.lock);
    if (job.joined < job.threads) {
        worker = job.joined++;
        __atomic_add_fetch(&job.inside, 1, __ATOMIC_SEQ_CST);
    }
    web_lock_give(&job.lock);
    return worker;
}

/** Says that `count` workers are there, or will be at once, and whether the calling thread may wait for them. */
SAP_EXPORT void web_threads_open(int32_t count, int32_t may_wait) {
    workers = count;
    web_futex_may_wait(may_wait != 0);
}

/** The end of a new stack for a worker, where its variables lie, too; NULL: no memory. It is never given back. */
SAP_EXPORT void* web_thread_room(void) {
    const size_t bytes = (STACK_BYTES + __builtin_wasm_tls_size() + 63) / 64 * 64;
    unsigned char* memory = aligned_alloc(64, bytes);
    return memory ? memory + STACK_BYTES : NULL;
}

/** A worker's life, on the stack of web_thread_room. */
SAP_EXPORT void web_thread(void* room) {
    __wasm_init_tls(room);
    web_futex_may_wait(true);
    for (int32_t seen = 0;;) {
        web_futex_wait(&calls, seen);
        seen = __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
        const int32_t worker = join();
        if (!worker) continue;
        work_on(worker);
        __atomic_sub_fetch(&job.inside, 1, __ATOMIC_SEQ_CST);
        web_futex_wake(&job.inside);
    }
}
