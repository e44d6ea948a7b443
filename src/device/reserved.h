// The words that options keep for later versions. A caller who sets them was compiled against a newer Sapwood and wants
// what this one does not know.
#ifndef SAPWOOD_DEVICE_RESERVED_H
#define SAPWOOD_DEVICE_RESERVED_H

#include "device/device.h"

// `name` is what the log calls the struct.
static inline sap_status sap_reserved_check(const sap_device* device, const uint64_t reserved[4], const char* name) {
    if (!(reserved[0] | reserved[1] | reserved[2] | reserved[3])) return SAP_OK;
    return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.reserved: is not zero; it was made for a newer Sapwood", name);
}

#endif
