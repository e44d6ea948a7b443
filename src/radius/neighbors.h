// Rows of neighbours: made by the searches, sorted and freed by the user.
#ifndef SAPWOOD_RADIUS_NEIGHBORS_H
#define SAPWOOD_RADIUS_NEIGHBORS_H

#include "device/device.h"

// Makes room for `rows` rows of counts[i] neighbours each, with the offsets filled in; ids and distances are to be
// written through casts.
sap_status sap_neighbors_create(sap_device* device, int64_t rows, int32_t real_bits, const int64_t* counts,
                                sap_neighbors** out);

#endif
