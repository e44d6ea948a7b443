// Loops in parts; and what a team is in builds without threads.
#include "base/team.h"
#include "base/assert.h"

typedef struct loop {
    sap_range* range;
    void* context;
    int64_t count, grain;
} loop;

static void run_range(void* context, int64_t part, int32_t worker) {
    const loop* l = context;
    const int64_t from = part * l->grain, left = l->count - from;
    SAP_ASSERT(left > 0);
    l->range(l->context, from, left < l->grain ? l->count : from + l->grain, worker);
}

void sap_team_loop(int32_t threads, int64_t count, int64_t grain, sap_range* range, void* context) {
    SAP_ASSERT(grain > 0);
    loop l = {range, context, count, grain};
    sap_team_run(threads, count / grain + (count % grain > 0), run_range, &l);
}

#if !defined(SAP_HAVE_THREADS)

void sap_team_run(int32_t threads, int64_t parts, sap_part* part, void* context) {
    (void)threads;
    for (int64_t i = 0; i < parts; i++) part(context, i, 0);
}

// The program may have threads.
void sap_lock_take(int32_t* lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {}
}

int32_t sap_team_most(void) { return 1; }
int32_t sap_team_helpers(void) { return 0; }
int32_t sap_team_refused;

#endif
