// What small benchmarks do when a call fails: the log and the status go to stderr, and the program ends.
#ifndef SAPWOOD_BENCH_EXPECT_H
#define SAPWOOD_BENCH_EXPECT_H

#include <sapwood/base.h>
#include <stdio.h>
#include <stdlib.h>

static inline void say(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "%s: %s\n", sap_status_string(status), sentence);
}

static inline void expect(sap_status status, const char* doing) {
    if (status == SAP_OK) return;
    fprintf(stderr, "%s: %s\n", doing, sap_status_string(status));
    exit(1);
}

#endif
