// What is packed: files of gzip, and deflated members of archives. Without zlib there is a sentence about it.
#ifndef SAPWOOD_FILES_GZIP_H
#define SAPWOOD_FILES_GZIP_H

#include "files/read.h"
#include "files/source.h"

// If the source begins as gzip, unpacks all of its members, and makes their bytes the source. `unpacked` holds them, and
// is to be released, whatever this returns. Errors: SAP_ERROR_FORMAT, SAP_ERROR_RANGE (more than it may grow to),
// SAP_ERROR_UNSUPPORTED (no zlib), SAP_ERROR_MEMORY.
sap_status sap_gzip_unpack(sap_source* source, sap_file_bytes* unpacked);

// How bytes are packed that lie within a source, and what they must unpack to.
typedef struct sap_deflated {
    size_t at, size; // in the source
    uint64_t unpacked;
    uint32_t crc;
} sap_deflated;

// Unpacks them. Errors: as above; SAP_ERROR_FORMAT also for bytes that have another sum.
sap_status sap_deflated_unpack(const sap_source* source, const sap_deflated* deflated, sap_file_bytes* unpacked);

// The same for bytes that are stored as they are: whether they have the sum. Without zlib they are not looked at.
sap_status sap_stored_check(const sap_source* source, const sap_deflated* stored);

#endif
