// NPZ: archives of NPY arrays, as numpy.savez and numpy.savez_compressed write them.
#ifndef SAPWOOD_FILES_NPZ_H
#define SAPWOOD_FILES_NPZ_H

#include "files/read.h"
#include "files/source.h"

// Whether the source begins as an archive does, with a member or, if it has none, with its end.
bool sap_npz_begins(const sap_source* source);

// Makes one array of an archive the source: the member of this name (without .npy, or with it), or, if that is NULL, the
// only one there is, or the first of the usual names (a list that ends with NULL) that is there. `unpacked` holds its
// bytes if they were packed, and is to be released, whatever this returns. Errors: SAP_ERROR_FORMAT, SAP_ERROR_ARGUMENT
// (no such member, or several and no name), SAP_ERROR_UNSUPPORTED (encrypted, packed by anything but deflate), and as
// sap_deflated_unpack.
sap_status sap_npz_take(sap_source* source, const char* member, const char* const* usual, sap_file_bytes* unpacked);

// Says that a member was chosen of what is no archive. SAP_ERROR_ARGUMENT.
sap_status sap_member_refuse(const sap_source* source);

#endif
