// The radius-search kernels of the CPU and their arguments; there is one set for each instruction set and precision.
#ifndef SAPWOOD_RADIUS_RADIUS_H
#define SAPWOOD_RADIUS_RADIUS_H

#include "tree/layout.h"
#include "tree/told.h"

// A run of queries for one thread.
typedef struct sap_radius_run {
    const sap_tree* tree;
    const void* queries; // real[count][stride]
    int64_t count, stride;
    const int32_t* rows; // the answer's row of each query; NULL: first_row, first_row + 1, …
    int64_t first_row;
    bool greater_only; // only ids above the query's row count
    double limit2;     // largest squared distance that counts
    int64_t* counts;   // [rows]
    // Collecting: hits of the run's queries one after another. The kernel stops early when a leaf's hits might
    // not fit any more, and says how many queries are done.
    int32_t* ids;    // NULL: count only
    void* distance2; // real
    int64_t used, room;
    int64_t done;
    const sap_told* told; // for kernels that know more than limit2
} sap_radius_run;

typedef struct sap_radius_kernels {
    void (*search)(sap_radius_run* run);
} sap_radius_kernels;

// ---- radius/periodic_cpu.c: answers a run on a tree with periods, whose queries are wrapped.
void sap_radius_run_periodic(const sap_radius_kernels* plain, const sap_radius_kernels* periodic, sap_radius_run* run);

#if defined(__EMSCRIPTEN__)
// ---- radius/walk_periodic_cpu.c: the kernels that know periods, in either precision.
extern const sap_radius_kernels sap_radius_periodic_walk;
#endif

#endif
