#include "team.h"

#include "module/export.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 8,               // regions within regions
    STACK_BYTES = 256 << 10, // of a worker, as the main thread has
    SIZE_BITS = 11,          // a team's size in `call`, whose other bits count teams
};

// What a thread is in: frames[0] is outside of every region.
static _Thread_local struct {
    team_frame frames[DEPTH];
    int32_t depth;
} mine;

static web_team team;
static int32_t workers;
static int32_t call; // of the newest team: workers wait for it to change

void __wasm_init_tls(void* memory);
void emscripten_notify_memory_growth(int memory);

team_frame* web_frame(void) { return &mine.frames[mine.depth]; }
int32_t web_depth(void) { return mine.depth; }
int32_t web_team_most(void) { return workers + 1; }

static void enter(web_team* of, int32_t number) {
    if (mine.depth + 1 == DEPTH) __builtin_trap();
    mine.frames[++mine.depth] = (team_frame){.team = of, .number = number};
}

void web_alone_begin(void) { enter(NULL, 0); }
void web_alone_end(void) { mine.depth--; }

static void take_part(int32_t number) {
    enter(&team, number);
    team.work(team.arguments);
    mine.depth--;
}

void web_team_run(int32_t threads, void (*work)(void* arguments), void* arguments) {
    const int32_t size = threads < web_team_most() ? threads : web_team_most();
    if (size <= 1 || mine.depth > 0) {
        web_alone_begin();
        work(arguments);
        web_alone_end();
        return;
    }
    const size_t pages = __builtin_wasm_memory_size(0);
    team = (web_team){.size = size, .work = work, .arguments = arguments, .working = size - 1};
    const uint32_t count = ((uint32_t)call >> SIZE_BITS) + 1;
    __atomic_store_n(&call, (int32_t)(count << SIZE_BITS | (uint32_t)size), __ATOMIC_SEQ_CST);
    web_futex_wake(&call);
    take_part(0);
    for (int32_t left; (left = __atomic_load_n(&team.working, __ATOMIC_SEQ_CST));) web_futex_wait(&team.working, left);
    // JavaScript hears of memory only where it grows in its own thread.
    if (__builtin_wasm_memory_size(0) != pages) emscripten_notify_memory_growth(0);
}

void web_barrier(void) {
    web_team* of = web_frame()->team;
    if (!of) return;
    const int32_t passed = __atomic_load_n(&of->barriers, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&of->arrived, 1, __ATOMIC_SEQ_CST) < of->size) {
        web_futex_wait(&of->barriers, passed);
        return;
    }
    __atomic_store_n(&of->arrived, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&of->barriers, passed + 1, __ATOMIC_SEQ_CST);
    web_futex_wake(&of->barriers);
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

/** A worker's life, on the stack of web_thread_room: the number-th, from 1, of every team that is large enough. */
SAP_EXPORT void web_thread(int32_t number, void* room) {
    __wasm_init_tls(room);
    web_futex_may_wait(true);
    for (int32_t seen = 0;;) {
        web_futex_wait(&call, seen);
        seen = __atomic_load_n(&call, __ATOMIC_SEQ_CST);
        // A team that this worker is not of may end, and another begin, at any time: the call alone says its size.
        if (number >= (seen & ((1 << SIZE_BITS) - 1))) continue;
        take_part(number);
        __atomic_sub_fetch(&team.working, 1, __ATOMIC_SEQ_CST);
        web_futex_wake(&team.working);
    }
}
