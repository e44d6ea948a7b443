// Teams of threads: those that share a parallel region. One pool of workers serves one team at a time; a region inside
// a region is the calling thread's alone, as are regions before web_threads_open.
#ifndef WEB_THREADS_TEAM_H
#define WEB_THREADS_TEAM_H

#include "futex.h"

#include <stdint.h>

/** A loop that is dealt out in chunks. Loops without a barrier between them are in work at once: up to TEAM_LOOPS. */
enum { TEAM_LOOPS = 8 };
typedef struct team_loop {
    uint64_t next;    // the first iteration that nobody has
    uint32_t loop;    // which loop of the region, from 1; 0: none yet
    int32_t finished; // threads that found nothing left
} team_loop;

typedef struct web_team {
    int32_t size;
    void (*work)(void* arguments);
    void* arguments;
    int32_t working;           // workers that have not finished
    int32_t arrived, barriers; // at the next barrier; barriers that were passed
    web_lock lock;             // of loops and of reductions
    team_loop loops[TEAM_LOOPS];
} web_team;

/** A region that a thread is in. */
typedef struct team_frame {
    web_team* team;                     // NULL: the thread is alone
    int32_t number;                     // the thread's in its team
    uint32_t loops;                     // dealt loops that it has begun
    uint64_t first, count, chunk, next; // the loop it is in; `next` if it is alone
    team_loop* dealt;
} team_frame;

/** The innermost region of the calling thread; outside of all, one that it is alone in. */
team_frame* web_frame(void);
/** How many regions stand around the caller. */
int32_t web_depth(void);
/** Threads that a team can have. */
int32_t web_team_most(void);

/** Enters a region that the calling thread is alone in, and leaves it. */
void web_alone_begin(void);
void web_alone_end(void);

/** Runs work(arguments) once in each of up to `threads` threads, the caller being the first, and waits for all. */
void web_team_run(int32_t threads, void (*work)(void* arguments), void* arguments);

/** Waits for all threads of the caller's team. */
void web_barrier(void);

#endif
