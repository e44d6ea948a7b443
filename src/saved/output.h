// A file being written: buffered, and put in the place of an older one only when it is complete and on the disk. Until
// then it is a hidden file .sapwood-….part beside it, which stays if the process is killed. It is open for as long as it
// has that name, so that a program can find and remove it when a signal ends it, as the command line does.
#ifndef SAPWOOD_SAVED_OUTPUT_H
#define SAPWOOD_SAVED_OUTPUT_H

#include "sapwood/base.h"

enum { SAP_PATH_BYTES = 4096 };

typedef struct sap_output {
    const sap_device* device;
    const char* name; // for error messages
    int descriptor;
    int error; // errno of the first failure, else 0
    size_t used;
    unsigned char* buffer;
    char target[SAP_PATH_BYTES];    // where the file goes; empty: it is written in place
    char temporary[SAP_PATH_BYTES]; // where it is until then
} sap_output;

// Opens a path for writing; "-" is standard output. Anything but a regular file (a pipe, a terminal) is written in
// place.
// Errors: SAP_ERROR_IO, SAP_ERROR_MEMORY; then there is nothing to close.
sap_status sap_output_open(sap_output* output, const sap_device* device, const char* path);
// Appends bytes. sap_output_close reports failures.
void sap_output_put(sap_output* output, const void* bytes, size_t size);
void sap_output_text(sap_output* output, const char* text);
// Completes the file, or removes it again if anything failed. Errors: SAP_ERROR_IO, naming path and reason.
sap_status sap_output_close(sap_output* output);
// Removes the file again because the caller failed; an older one stays.
void sap_output_discard(sap_output* output);

#endif
