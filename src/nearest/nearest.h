// The nearest-neighbour kernels of the CPU and their arguments; there is one set for each instruction set and
// precision.
#ifndef SAPWOOD_NEAREST_NEAREST_H
#define SAPWOOD_NEAREST_NEAREST_H

#include "tree/layout.h"
#include "tree/told.h"

enum { SAP_LIST_MAX = 32 }; // longest k-list that is kept sorted; longer ones are heaps

// A run of queries for one thread.
typedef struct sap_nearest_run {
    const sap_tree* tree;
    const void* queries; // real[count][stride]
    int64_t count, stride;
    const int32_t* rows; // the answer's row of each query; NULL: first_row, first_row + 1, …
    int64_t first_row;
    const uint32_t* home;   // the leaf whose cell holds each query (scanned first); NULL: unknown
    int32_t k;              // neighbours looked for, at least 1
    int32_t row_length;     // neighbours asked for, at least k: the rest of a row is empty
    bool skip_self;         // the point whose id is the query's row does not count
    const int32_t* without; // [rows] an id that does not count, negative: none; NULL: see skip_self
    double limit2;          // largest squared distance that counts
    int32_t* ids;           // [rows][row_length]
    void* distance2;        // real[rows][row_length] or NULL
    void* heap;             // k > SAP_LIST_MAX: k keys of 16 bytes
    sap_search_stats stats; // is added to
    const sap_told* told;   // for kernels that know more than limit2
    bool again;             // kernels that know periods: rows hold what was found without, which bounds the search
    bool in_turn;           // kernels that take leaves: rows are those of the points one after another, not their ids
} sap_nearest_run;

typedef struct sap_nearest_kernels {
    // Answers a run on a tree of the kind that the kernels are for.
    void (*search)(sap_nearest_run* run);
} sap_nearest_kernels;

#if defined(__EMSCRIPTEN__)
// ---- nearest/walk_periodic_cpu.c: the kernels that know periods, in either precision.
extern const sap_nearest_kernels sap_nearest_periodic_walk;
#endif

#endif
