// A host that follows the progress of calls and may cancel them. For test programs only: needs test.h.
#ifndef SAPWOOD_TESTS_PROGRESS_HOST_H
#define SAPWOOD_TESTS_PROGRESS_HOST_H

#include "test.h"

typedef struct progress_host {
    int64_t reports, stop_at; // stop_at: 0: never
    double last;
} progress_host;

// The progress callback of such a host: progress_user is such a struct.
static inline bool progress_host_report(void* user, double done) {
    progress_host* p = user;
    CHECK(done >= p->last && done <= 1);
    p->last = done;
    return ++p->reports != p->stop_at;
}

#endif
