// A watched device with trees on it, and the check that a call was refused as it should be. For test programs only:
// needs test.h.
#ifndef SAPWOOD_TESTS_STAGE_H
#define SAPWOOD_TESTS_STAGE_H

#include "allocator.h"
#include "calls.h"
#include "test.h"

// A device, its watch, and a tree of ten points in each precision.
typedef struct stage {
    watch w;
    sap_device* device;
    sap_tree *tree, *tree_f64, *sliding;
    float coords[32];
    double coords_f64[32];
} stage;

static inline void open_stage(stage* s) {
    memset(s, 0, sizeof *s);
    sap_device_options options = watched(&s->w);
    for (int i = 0; i < 32; i++) {
        s->coords[i] = (float)(i * 7 % 11);
        s->coords_f64[i] = i * 7 % 11;
    }
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    sap_tree_options sliding = {.split = SAP_SPLIT_SLIDING_MIDPOINT};
    CHECK_STATUS(sap_tree_build(s->device, (sap_points){s->coords, 10, 3, 0}, NULL, &s->tree), SAP_OK);
    CHECK_STATUS(sap_tree_build(s->device, (sap_points){s->coords, 10, 3, 0}, &sliding, &s->sliding), SAP_OK);
    CHECK_STATUS(sap_tree_build_f64(s->device, (sap_points_f64){s->coords_f64, 10, 3, 0}, NULL, &s->tree_f64), SAP_OK);
}

static inline void close_stage(stage* s) {
    sap_tree_free(s->tree);
    sap_tree_free(s->sliding);
    sap_tree_free(s->tree_f64);
    sap_device_close(s->device);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
}

// The call failed with this status and logged one sentence with this word in it.
static inline void refused(watch* w, sap_status got, sap_status expected, const char* word, int line) {
    NOTE("line %d", line);
    CHECK_STATUS(got, expected);
    CHECK_EQUAL(w->log_calls, 1);
    CHECK_EQUAL(w->logged, expected);
    if (w->log_calls && !strstr(w->sentence, word)) {
        NOTE("line %d: \"%s\" does not name %s", line, w->sentence, word);
        CHECK(false);
    }
    size_t length = strlen(w->sentence);
    CHECK(length > 5 && length < 400 && !strchr(w->sentence, '\n'));
    w->log_calls = 0;
    w->sentence[0] = 0;
    NOTE("%s", "");
}

#define REFUSED(call, status, word) refused(&s.w, call, status, word, __LINE__)

#endif
