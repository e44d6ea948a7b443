// Rows of neighbours: made by the searches, sorted and freed by the user.
#ifndef SAPWOOD_RADIUS_NEIGHBORS_H
#define SAPWOOD_RADIUS_NEIGHBORS_H

#include "device/device.h"
#include "sapwood/points.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes room for `rows` rows of counts[i] neighbours each, with the offsets filled in; ids and distances are to be
// written through casts. real_bits 0: without distances.
sap_status sap_neighbors_create(sap_device* device, int64_t rows, int32_t real_bits, const int64_t* counts,
                                sap_neighbors** out);
// The same for `total` neighbours in all, with the offsets to be written too.
sap_status sap_neighbors_reserve(sap_device* device, int64_t rows, int32_t real_bits, int64_t total,
                                 sap_neighbors** out);

// The same, which says nothing to the log if it fails: SAP_ERROR_RANGE or SAP_ERROR_MEMORY.
sap_status sap_neighbors_try(sap_device* device, int64_t rows, int32_t real_bits, int64_t total, sap_neighbors** out);

// Sorts each row by (distance, id) and leaves its first `most` places.
sap_status sap_neighbors_shorten(sap_neighbors* neighbors, int32_t most);

// Memory of a processor in which rows lie, and its functions to free and to sort them.
typedef struct sap_neighbors_home {
    sap_scratch offsets, hits;
    void (*release)(sap_device* device, void* memory, size_t bytes);
    sap_status (*sort)(sap_device* device, const sap_neighbors* rows);
    sap_status (*shorten)(sap_device* device, const sap_neighbors* rows, int32_t most); // of sorted rows; or NULL
} sap_neighbors_home;

// Makes rows that own memory of a processor. On failure the memory still belongs to the caller.
sap_status sap_neighbors_adopt(sap_device* device, const sap_neighbors* rows, const sap_neighbors_home* home,
                               sap_neighbors** out);

#ifdef __cplusplus
}
#endif
#endif
