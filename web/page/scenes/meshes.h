// What the scenes of meshes share: files that are read, triangles that are made.
#ifndef SAPWOOD_PAGE_MESHES_H
#define SAPWOOD_PAGE_MESHES_H

#include <sapwood/files.h>
#include <string.h>
#include <strings.h>

// What a file of this name is read as: PLY, unless it is called otherwise.
static inline sap_format page_mesh_format(const char* name) {
    const char* suffix = strrchr(name, '.');
    if (suffix && !strcasecmp(suffix, ".obj")) return SAP_FORMAT_OBJ;
    if (suffix && !strcasecmp(suffix, ".stl")) return SAP_FORMAT_STL;
    return SAP_FORMAT_PLY;
}

// Puts a triangle of a mesh, and what it is made of, at its number.
static inline void page_put_triangle(int32_t* triangles, int32_t* material_ids, int64_t number,
                                     const int64_t corners[3], int32_t material) {
    for (int i = 0; i < 3; i++) triangles[3 * number + i] = (int32_t)corners[i];
    material_ids[number] = material;
}

#endif
