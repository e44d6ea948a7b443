// A point set as it is allocated.
#ifndef SAPWOOD_FILES_SET_H
#define SAPWOOD_FILES_SET_H

#include "sapwood/files.h"

// The coordinates follow at the next multiple of SAP_ALIGNMENT.
typedef struct sap_owned_set {
    sap_point_set set;
    const sap_device* device;
    size_t bytes;
    void *fields, *las; // blocks of their own, or NULL
    size_t fields_bytes;
} sap_owned_set;

#endif
