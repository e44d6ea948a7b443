// Surfaces of volumes: what the room's files share.
#ifndef SAPWOOD_SURFACE_SURFACE_H
#define SAPWOOD_SURFACE_SURFACE_H

#include "surface/ops.h"

// Fills in where the samples of a volume lie; `name` is what the log calls the struct.
sap_status sap_surface_place(const sap_device* device, const sap_volume* volume, const char* name,
                             sap_lattice* lattice);

// Names the first sample that is not finite or too large.
sap_status sap_surface_not_finite(const sap_device* device, const sap_surface_job* job, int64_t sample);

// Makes a surface in host memory; its arrays are to be written through casts. More than 2^31-1 vertices or triangles
// are SAP_ERROR_RANGE.
sap_status sap_surface_reserve(sap_device* device, int64_t vertices, int64_t triangles, sap_isosurface** surface);

// The same in memory of a processor, `bytes` of it from `memory` on, which `release` frees in the end. Where `surface`
// cannot be made it does not.
typedef void (*sap_surface_release)(sap_device* device, void* memory, size_t bytes);
sap_status sap_surface_adopt(sap_device* device, int64_t vertices, int64_t triangles, sap_scratch memory,
                             sap_surface_release release, sap_isosurface** surface);

// How many bytes of a surface's memory an array with so many rows of three takes: positions stand first, then normals,
// then triangles.
size_t sap_surface_array_bytes(int64_t rows);
// How many the arrays take together; SAP_ERROR_RANGE as above.
sap_status sap_surface_bytes(const sap_device* device, int64_t vertices, int64_t triangles, size_t* bytes);

// The inner loops of the CPU, a set for each instruction set. Rows are those of rows.h.
typedef struct sap_surface_kernels {
    // Fills the bits of a row; the number of its first sample that is not finite or too large, or -1.
    int64_t (*classify)(const sap_surface_job* job, int64_t y, int64_t z, uint64_t* bits);
    // How many vertices the edges of row (y, z) have, and triangles the cells between it and those above it.
    void (*count)(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z, int64_t counts[2]);
    void (*vertices)(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z, float* vertices,
                     float* normals);
    // before[r]: vertices before the row (y + (r & 1), z + (r >> 1)).
    void (*triangles)(const sap_surface_job* job, const uint64_t* bits, int64_t y, int64_t z, const int64_t before[4],
                      int32_t* triangles);
} sap_surface_kernels;

#endif
