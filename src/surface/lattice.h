// How C and CUDA read a volume: the accessor that the shared texts of this room call. In GLSL each shader has its own,
// over textures.
#ifndef SAPWOOD_SURFACE_LATTICE_H
#define SAPWOOD_SURFACE_LATTICE_H

#include "math/dialect.h"
#include "sapwood/surface.h"

#define SAP_VOLUME_PARAM sap_voxels voxels,
#define SAP_VOLUME       voxels,

SAP_STRUCT(sap_voxels)
struct sap_voxels {
    const void* values;
    int64_t row, slice; // samples from one row to the next, from one slice to the next
    sap_voxel type;
};

// Where the type is a constant, nothing is left of the choice.
SAP_FN float sap_voxel_value(SAP_VOLUME_PARAM int x, int y, int z) {
    int64_t at = x + y * voxels.row + z * voxels.slice;
    switch (voxels.type) {
    case SAP_VOXEL_U8: return (float)((const uint8_t*)voxels.values)[at];
    case SAP_VOXEL_I16: return (float)((const int16_t*)voxels.values)[at];
    case SAP_VOXEL_U16: return (float)((const uint16_t*)voxels.values)[at];
    default: return ((const float*)voxels.values)[at];
    }
}

#include "surface/cases.h"

#include "surface/crossing.h"

#endif
