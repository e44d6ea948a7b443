// Teams: the calling thread and helpers that share the parts of one piece of work.
//
// Helpers belong to the process: they are created when first needed, run wherever its first thread may, and sleep
// between calls; whoever finds no part left spins for microseconds at most. So a busy machine delays a call only by the
// parts that are being worked on: a helper that the kernel has not got round to is not waited for.
//
// Any number of threads may call at once. Work that a part asks for is done by the part's own thread alone. After fork()
// the child makes helpers of its own; a part must not fork and then go on.
#ifndef SAPWOOD_BASE_TEAM_H
#define SAPWOOD_BASE_TEAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SAP_TEAM_MOST = 1024 }; // threads in a team

/** `worker` is 0 for the caller, less than `threads` for all, and nobody else's at that time: it may choose scratch. */
typedef void sap_part(void* context, int64_t part, int32_t worker);
/** Calls part(context, i, worker) once for each i in 0 … parts - 1, in any order, by at most `threads` threads. */
void sap_team_run(int32_t threads, int64_t parts, sap_part* part, void* context);

/** Items `from` … `to` - 1 of a loop. */
typedef void sap_range(void* context, int64_t from, int64_t to, int32_t worker);
/** Runs a loop over `count` items in parts of `grain` items, of which the last may have fewer. What the parts are does
 *  not depend on the threads. */
void sap_team_loop(int32_t threads, int64_t count, int64_t grain, sap_range* range, void* context);

/** Threads that this process may use: OMP_NUM_THREADS if that is set, else its processors; 1 in builds without threads. */
int32_t sap_team_most(void);

/** Makes *least no more than `value`; parts of one job may do so at once. */
static inline void sap_team_lower(int64_t* least, int64_t value) {
    int64_t now = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (value < now && !__atomic_compare_exchange_n(least, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/** Locks, all 0 before they are first taken. Whoever finds one taken lets other threads run. */
void sap_lock_take(int32_t* lock);
static inline void sap_lock_give(int32_t* lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

// For tests: helpers that this process has; and how many of the next ones cannot be created.
int32_t sap_team_helpers(void);
extern int32_t sap_team_refused;

#ifdef __cplusplus
}
#endif
#endif
