// What the writers of meshes share.
#ifndef SAPWOOD_FILES_MESH_MESH_WRITE_H
#define SAPWOOD_FILES_MESH_MESH_WRITE_H

#include "files/text.h"
#include "sapwood/files.h"
#include "saved/output.h"

// Writes an OBJ, and an MTL beside it if there are materials. The mesh has been checked.
sap_status sap_write_obj(sap_device* device, const char* path, const sap_mesh_file* file);

// Whether vertices are relative to an origin.
static inline bool sap_has_origin(const sap_mesh_file* file) {
    return file->origin[0] != 0 || file->origin[1] != 0 || file->origin[2] != 0;
}

// Writes where a vertex stands, with what separates it from what is before it.
void sap_put_place(sap_output* output, const sap_mesh_file* file, int64_t vertex, const char* between);

// Writes numbers, a blank before each.
static inline void sap_put_floats(sap_output* output, const float* values, int count) {
    char text[SAP_TEXT_BYTES];
    text[0] = ' ';
    for (int i = 0; i < count; i++) sap_output_put(output, text, (size_t)sap_print_float(values[i], text + 1) + 1);
}

static inline void sap_put_int(sap_output* output, int64_t value) {
    char text[SAP_TEXT_BYTES];
    text[0] = ' ';
    sap_output_put(output, text, (size_t)sap_print_int(value, text + 1) + 1);
}

#endif
