// Whole files in memory.
#ifndef SAPWOOD_FILES_READ_H
#define SAPWOOD_FILES_READ_H

#include "sapwood/base.h"

// All zero can be released.
typedef struct sap_file_bytes {
    void* memory;
    size_t size;
    size_t allocated; // 0: mapped
} sap_file_bytes;

// Brings a file ("-": standard input) into memory, mapped where that can be done. `name` is what to call it in
// complaints. Errors: SAP_ERROR_IO, SAP_ERROR_MEMORY; the bytes are to be released all the same.
sap_status sap_file_load(const sap_device* device, const char* path, const char** name, sap_file_bytes* file);

// Maps a file that another one names, and that is therefore not trusted to be one: anything but a regular file is
// refused, so that no pipe or terminal is waited for. False with errno if it cannot be read.
bool sap_file_map(const char* path, sap_file_bytes* file);

void sap_file_release(const sap_device* device, sap_file_bytes* file);

#endif
