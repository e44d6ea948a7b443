// What clang calls for the library's OpenMP directives (the interface of LLVM's runtime, openmp/runtime/src/kmp.h),
// over teams of web workers. Threads are known by their own memory, so `where` and `thread` are not looked at. Loops
// come from 0 with a step of 1: clang counts iterations, whatever the loop's variable does.
#include "omp.h"
#include "team.h"

#include <stdarg.h>
#include <stddef.h>

int omp_get_thread_num(void) { return web_frame()->number; }
int omp_get_max_threads(void) { return web_team_most(); }
int omp_get_level(void) { return web_depth(); }

static int32_t asked; // num_threads of the next region; only outside of regions is it of use

static int32_t team_size(void) { return web_frame()->team ? web_frame()->team->size : 1; }

int32_t __kmpc_global_thread_num(void* where);
int32_t __kmpc_global_thread_num(void* where) {
    (void)where;
    return web_frame()->number;
}

void __kmpc_push_num_threads(void* where, int32_t thread, int32_t threads);
void __kmpc_push_num_threads(void* where, int32_t thread, int32_t threads) {
    (void)where, (void)thread;
    if (web_depth() == 0) asked = threads;
}

// ---- Regions. A region is a function of two thread numbers and the variables that it shares, an address each.

enum { MOST_SHARED = 16 };
typedef struct region {
    void (*function)(void);
    int32_t count;
    void* shared[MOST_SHARED];
} region;

static void run_region(void* arguments) {
    const region* r = arguments;
    void* const* s = r->shared;
    int32_t number = web_frame()->number, bound = number;
// A function is called through its own type, or WebAssembly traps.
#define NUMBERS          int32_t*, int32_t*
#define A4(i)            s[i], s[i + 1], s[i + 2], s[i + 3]
#define P4               void*, void*, void*, void*
#define CALL(types, ...) ((void(*) types)r->function)(&number, &bound, __VA_ARGS__)
    switch (r->count) {
    case 0: ((void (*)(NUMBERS))r->function)(&number, &bound); break;
    case 1: CALL((NUMBERS, void*), s[0]); break;
    case 2: CALL((NUMBERS, void*, void*), s[0], s[1]); break;
    case 3: CALL((NUMBERS, void*, void*, void*), s[0], s[1], s[2]); break;
    case 4: CALL((NUMBERS, P4), A4(0)); break;
    case 5: CALL((NUMBERS, P4, void*), A4(0), s[4]); break;
    case 6: CALL((NUMBERS, P4, void*, void*), A4(0), s[4], s[5]); break;
    case 7: CALL((NUMBERS, P4, void*, void*, void*), A4(0), s[4], s[5], s[6]); break;
    case 8: CALL((NUMBERS, P4, P4), A4(0), A4(4)); break;
    case 9: CALL((NUMBERS, P4, P4, void*), A4(0), A4(4), s[8]); break;
    case 10: CALL((NUMBERS, P4, P4, void*, void*), A4(0), A4(4), s[8], s[9]); break;
    case 11: CALL((NUMBERS, P4, P4, void*, void*, void*), A4(0), A4(4), s[8], s[9], s[10]); break;
    case 12: CALL((NUMBERS, P4, P4, P4), A4(0), A4(4), A4(8)); break;
    case 13: CALL((NUMBERS, P4, P4, P4, void*), A4(0), A4(4), A4(8), s[12]); break;
    case 14: CALL((NUMBERS, P4, P4, P4, void*, void*), A4(0), A4(4), A4(8), s[12], s[13]); break;
    case 15: CALL((NUMBERS, P4, P4, P4, void*, void*, void*), A4(0), A4(4), A4(8), s[12], s[13], s[14]); break;
    case 16: CALL((NUMBERS, P4, P4, P4, P4), A4(0), A4(4), A4(8), A4(12)); break;
    default: __builtin_trap();
    }
#undef NUMBERS
#undef A4
#undef P4
#undef CALL
}

void __kmpc_fork_call(void* where, int32_t count, void (*function)(void), ...);
void __kmpc_fork_call(void* where, int32_t count, void (*function)(void), ...) {
    (void)where;
    region r = {.function = function, .count = count};
    if (count > MOST_SHARED) __builtin_trap();
    va_list list;
    va_start(list, function);
    for (int32_t i = 0; i < count; i++) r.shared[i] = va_arg(list, void*);
    va_end(list);
    int32_t threads = web_team_most();
    if (web_depth() == 0 && asked > 0) threads = asked, asked = 0;
    web_team_run(threads, run_region, &r);
}

void __kmpc_serialized_parallel(void* where, int32_t thread);
void __kmpc_serialized_parallel(void* where, int32_t thread) {
    (void)where, (void)thread;
    if (web_depth() == 0) asked = 0;
    web_alone_begin();
}
void __kmpc_end_serialized_parallel(void* where, int32_t thread);
void __kmpc_end_serialized_parallel(void* where, int32_t thread) {
    (void)where, (void)thread;
    web_alone_end();
}

// ---- One after another, one alone, all together.

void __kmpc_barrier(void* where, int32_t thread);
void __kmpc_barrier(void* where, int32_t thread) {
    (void)where, (void)thread;
    web_barrier();
}

int32_t __kmpc_master(void* where, int32_t thread);
int32_t __kmpc_master(void* where, int32_t thread) {
    (void)where, (void)thread;
    return web_frame()->number == 0;
}
void __kmpc_end_master(void* where, int32_t thread);
void __kmpc_end_master(void* where, int32_t thread) { (void)where, (void)thread; }

// Locks of critical sections and of reductions: clang leaves them to the linker as common symbols, which WebAssembly
// has not.
#define NAMED_LOCK(variable, name)                                                                                     \
    extern web_lock variable[8] __asm__(".gomp_critical_user_" name ".var");                                           \
    web_lock variable[8]
NAMED_LOCK(web_lock_piece, "sap_mesh_piece");
NAMED_LOCK(web_lock_bounds, "sap_mesh_bounds");
NAMED_LOCK(web_lock_reduction, ".reduction");

void __kmpc_critical(void* where, int32_t thread, web_lock* name);
void __kmpc_critical(void* where, int32_t thread, web_lock* name) {
    (void)where, (void)thread;
    web_lock_take(name);
}
void __kmpc_end_critical(void* where, int32_t thread, web_lock* name);
void __kmpc_end_critical(void* where, int32_t thread, web_lock* name) {
    (void)where, (void)thread;
    web_lock_give(name);
}

// Each thread adds its own result to the shared one while it holds the lock: 1 asks it to.
int32_t __kmpc_reduce_nowait(void* where, int32_t thread, int32_t count, size_t bytes, void* results,
                             void (*join)(void*, void*), web_lock* name);
int32_t __kmpc_reduce_nowait(void* where, int32_t thread, int32_t count, size_t bytes, void* results,
                             void (*join)(void*, void*), web_lock* name) {
    (void)where, (void)thread, (void)count, (void)bytes, (void)results, (void)join;
    web_lock_take(name);
    return 1;
}
void __kmpc_end_reduce_nowait(void* where, int32_t thread, web_lock* name);
void __kmpc_end_reduce_nowait(void* where, int32_t thread, web_lock* name) {
    (void)where, (void)thread;
    web_lock_give(name);
}

// ---- Loops.

enum { STATIC_CHUNKS = 33, DYNAMIC = 35, MODIFIERS = 3 << 29 };

#define STATIC_LOOP(suffix, type, step)                                                                                \
    void __kmpc_for_static_init_##suffix(void* where, int32_t thread, int32_t schedule, int32_t* last, type* lower,    \
                                         type* upper, step* stride, step by, step chunk);                              \
    void __kmpc_for_static_init_##suffix(void* where, int32_t thread, int32_t schedule, int32_t* last, type* lower,    \
                                         type* upper, step* stride, step by, step chunk) {                             \
        (void)where, (void)thread, (void)by;                                                                           \
        const type size = (type)team_size(), number = (type)web_frame()->number;                                       \
        const type count = *upper + 1 - *lower;                                                                        \
        if ((schedule & ~MODIFIERS) == STATIC_CHUNKS) {                                                                \
            const type width = chunk > 0 ? (type)chunk : 1;                                                            \
            *lower += number * width;                                                                                  \
            *upper = *lower + width - 1;                                                                               \
            *stride = (step)(size * width);                                                                            \
            *last = (count - 1) / width % size == number;                                                              \
            return;                                                                                                    \
        }                                                                                                              \
        const type share = count / size, more = count % size;                                                          \
        *lower += number * share + (number < more ? number : more);                                                    \
        *upper = *lower + share - (number >= more);                                                                    \
        *stride = (step)count;                                                                                         \
        *last = number == (count < size ? count : size) - 1;                                                           \
    }
STATIC_LOOP(4, int32_t, int32_t)
STATIC_LOOP(4u, uint32_t, int32_t)
STATIC_LOOP(8, int64_t, int64_t)
STATIC_LOOP(8u, uint64_t, int64_t)

void __kmpc_for_static_fini(void* where, int32_t thread);
void __kmpc_for_static_fini(void* where, int32_t thread) { (void)where, (void)thread; }

// The place of the caller's next dealt loop, made ready by whoever comes first.
static team_loop* deal(web_team* team, uint32_t loop) {
    team_loop* dealt = &team->loops[loop % TEAM_LOOPS];
    for (bool ready = false; !ready;) {
        web_lock_take(&team->lock);
        if (dealt->loop != loop && (dealt->loop == 0 || dealt->finished == team->size))
            *dealt = (team_loop){.loop = loop};
        ready = dealt->loop == loop;
        web_lock_give(&team->lock);
    }
    return dealt;
}

static void begin_loop(uint64_t first, uint64_t count, int64_t chunk) {
    team_frame* f = web_frame();
    f->first = first;
    f->count = count;
    f->chunk = chunk > 0 ? (uint64_t)chunk : 1;
    f->next = 0;
    f->dealt = f->team ? deal(f->team, ++f->loops) : NULL;
}

// The next iterations, from *from on: how many. Whoever is alone takes all of them.
static uint64_t take(team_frame* f, uint64_t* from) {
    if (!f->dealt) {
        *from = f->next;
        f->next = f->count;
        return f->count - *from;
    }
    *from = __atomic_fetch_add(&f->dealt->next, f->chunk, __ATOMIC_SEQ_CST);
    if (*from < f->count) return f->count - *from < f->chunk ? f->count - *from : f->chunk;
    web_lock_take(&f->team->lock);
    f->dealt->finished++;
    web_lock_give(&f->team->lock);
    return 0;
}

#define DEALT_LOOP(suffix, type, step)                                                                                 \
    void __kmpc_dispatch_init_##suffix(void* where, int32_t thread, int32_t schedule, type lower, type upper, step by, \
                                       step chunk);                                                                    \
    void __kmpc_dispatch_init_##suffix(void* where, int32_t thread, int32_t schedule, type lower, type upper, step by, \
                                       step chunk) {                                                                   \
        (void)where, (void)thread, (void)by;                                                                           \
        if ((schedule & ~MODIFIERS) != DYNAMIC) __builtin_trap();                                                      \
        begin_loop((uint64_t)lower, lower <= upper ? (uint64_t)upper - (uint64_t)lower + 1 : 0, chunk);                \
    }                                                                                                                  \
    int32_t __kmpc_dispatch_next_##suffix(void* where, int32_t thread, int32_t* last, type* lower, type* upper,        \
                                          step* stride);                                                               \
    int32_t __kmpc_dispatch_next_##suffix(void* where, int32_t thread, int32_t* last, type* lower, type* upper,        \
                                          step* stride) {                                                              \
        (void)where, (void)thread;                                                                                     \
        team_frame* f = web_frame();                                                                                   \
        uint64_t from;                                                                                                 \
        const uint64_t count = take(f, &from);                                                                         \
        if (count == 0) return 0;                                                                                      \
        *lower = (type)(f->first + from);                                                                              \
        *upper = (type)(f->first + from + count - 1);                                                                  \
        *stride = 1;                                                                                                   \
        *last = from + count == f->count;                                                                              \
        return 1;                                                                                                      \
    }
DEALT_LOOP(4, int32_t, int32_t)
DEALT_LOOP(4u, uint32_t, int32_t)
DEALT_LOOP(8, int64_t, int64_t)
DEALT_LOOP(8u, uint64_t, int64_t)
