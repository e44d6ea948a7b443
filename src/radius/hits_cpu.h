// Hits on their way to rows, on the CPU: threads write what they find into segments of their own, and when all counts,
// and so all offsets, are known, the hits are moved to their rows.
#ifndef SAPWOOD_RADIUS_HITS_CPU_H
#define SAPWOOD_RADIUS_HITS_CPU_H

#include "device/device.h"

// A run of queries for one thread, and room for their hits, one query's after another's. A search that finds that there
// may not be room for a query's hits stops before it, and says how many queries are done.
typedef struct sap_hits_run {
    int64_t count;
    const int32_t* rows; // the answer's row of each query; NULL: first_row, first_row + 1, …
    int64_t first_row;
    int64_t* counts; // [rows] to write: how many hits there are
    int32_t* ids;    // [room] and a register's more; NULL: they are only counted
    int64_t used, room;
    int64_t done;
} sap_hits_run;

typedef void sap_hits_search(sap_hits_run* run);

// The hits of all threads. Begins as {device}.
typedef struct sap_hits {
    sap_device* device;
    struct sap_hits_segment* segments;
} sap_hits;

// Searches for all queries of a run and keeps their hits, in *current (at first NULL) of this thread and in segments
// after it. False if memory is exhausted.
bool sap_hits_collect(sap_hits* hits, sap_hits_run* run, sap_hits_search* search, struct sap_hits_segment** current);
// Moves all hits to their rows, row i to ids[offsets[i]] and on, as far as there is room for `capacity` of them.
void sap_hits_move(const sap_hits* hits, const int64_t* offsets, int32_t* ids, int64_t capacity);
void sap_hits_free(sap_hits* hits);

#endif
