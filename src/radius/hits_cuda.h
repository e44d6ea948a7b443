// Rows of hits on CUDA devices, whatever the searches that find them. Collecting takes two passes: the first counts, the
// counts become offsets, the second writes the hits to their rows.
#ifndef SAPWOOD_RADIUS_HITS_CUDA_H
#define SAPWOOD_RADIUS_HITS_CUDA_H

#include "radius/radius_cuda.h"

// A search, which a room's own struct begins with. It is zero but for what the room sets, which opens the call and must
// close it by one of the functions below, also if it has failed.
typedef struct sap_hits_cuda {
    sap_cuda_call call;
    const sap_tree* tree;
    sap_radius_pass pass;                                  // all but what lies in memory for the answers
    void (*run)(struct sap_hits_cuda* hits, bool collect); // launches a pass
    bool counts_all;                                       // a pass counts the hits of every row
    bool has_distance2;
    bool on_device;          // rows that are made stay on the GPU
    int64_t* last;           // how many hits the last such search found for 1024 rows, to guess by; or NULL
    sap_neighbors_home home; // of rows that stay
} sap_hits_cuda;

// Counts the hits of each row.
sap_status sap_hits_count_cuda(sap_hits_cuda* hits, int64_t* counts);
// Makes rows of them.
sap_status sap_hits_collect_cuda(sap_hits_cuda* hits, sap_neighbors** found);
// Writes rows to the caller's memory.
sap_status sap_hits_collect_into_cuda(sap_hits_cuda* hits, const sap_radius_rows* rows);

#endif
