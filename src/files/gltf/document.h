// A glTF or GLB that has been parsed and checked, with the bytes of its buffers, and the numbers in them.
#ifndef SAPWOOD_FILES_GLTF_DOCUMENT_H
#define SAPWOOD_FILES_GLTF_DOCUMENT_H

#include "files/array.h"
#include "files/gltf/names.h"
#include "files/read.h"
#include "files/source.h"
#include <setjmp.h>

union sap_gltf_block;

// All zero but source can be closed.
typedef struct sap_gltf_document {
    const sap_source* source;
    cgltf_data* data;
    union sap_gltf_block* blocks; // that cgltf has
    jmp_buf* refused;             // where parsing ends when there is no memory; NULL: nothing is parsed
    sap_file_bytes* files;        // [buffers_count] those that are mapped
    size_t room;    // bytes that may still be made of the file: instances and sparse numbers repeat what is there
    size_t allowed; // what that was at first
} sap_gltf_document;

// Parses the source, checks all that its parts say of one another, and brings its buffers into memory. Files are looked
// up in the folder of `path`; NULL: nowhere. The document is to be closed all the same.
sap_status sap_gltf_open(const sap_source* source, const char* path, sap_gltf_document* document);
void sap_gltf_close(sap_gltf_document* document);

// Takes bytes off the room. Errors: SAP_ERROR_RANGE.
sap_status sap_gltf_take_room(sap_gltf_document* document, uint64_t count, size_t each);

// Refuses an accessor that is not of this type; `name` is of what it is for.
sap_status sap_gltf_expect(const sap_gltf_document* document, const cgltf_accessor* accessor, cgltf_type type,
                           const char* name);
// Adds the accessor's numbers to an array as floats: normalized ones become 0 … 1 or -1 … 1. `wanted` of each element's
// numbers are taken, `filled` in places that it has not. Takes their room.
sap_status sap_gltf_floats(sap_gltf_document* document, const cgltf_accessor* accessor, int wanted, float filled,
                           sap_array* array);
// Adds the accessor's numbers, unsigned ones below `limit`, to an array as int32_t. Takes their room.
sap_status sap_gltf_indices(sap_gltf_document* document, const cgltf_accessor* accessor, uint64_t limit,
                            const char* name, sap_array* array);

// The error that there is no memory for what is made of the file.
sap_status sap_gltf_no_memory(const sap_gltf_document* document);

#endif
