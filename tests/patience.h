// A host that follows a call's progress and may lose patience. For test programs only: needs test.h.
#ifndef SAPWOOD_TESTS_PATIENCE_H
#define SAPWOOD_TESTS_PATIENCE_H

#include "test.h"

typedef struct patience {
    int64_t reports, stop_at; // stop_at: 0: never
    double last;
} patience;

// The progress callback of such a host: progress_user is its patience.
static inline bool patience_report(void* user, double done) {
    patience* p = user;
    CHECK(done >= p->last && done <= 1);
    p->last = done;
    return ++p->reports != p->stop_at;
}

#endif
