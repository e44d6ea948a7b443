// The points of a tree in the order of their ids.
#ifndef SAPWOOD_PAIRS_BY_ID_H
#define SAPWOOD_PAIRS_BY_ID_H

#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_by_id {
    const sap_tree* tree;
    unsigned char* coords; // real[source_count][dims]; NaN where the tree has no point
    sap_scratch memory;
} sap_by_id;

// Errors: SAP_ERROR_MEMORY.
sap_status sap_by_id_open(const sap_tree* tree, sap_by_id* points);
static inline void sap_by_id_close(sap_by_id* points) { sap_scratch_give(points->tree->device, &points->memory); }

#ifdef __cplusplus
}
#endif
#endif
