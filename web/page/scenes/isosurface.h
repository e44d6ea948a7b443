// The scene Isosurface: what its files share.
#ifndef SAPWOOD_PAGE_ISOSURFACE_H
#define SAPWOOD_PAGE_ISOSURFACE_H

#include "../page.h"
#include "isosurface_fields.h"

// The volume of this instance: the worker has one, and the page's thread a copy where the GPU is to make surfaces.
typedef struct isosurface_volume {
    sap_volume volume;
    void* values;          // malloc's, if the volume was made or copied
    sap_volume_file* file; // or the file that it came from
    float level;           // of the surface that was made last, in the worker
    uint32_t* blocks;      // the triangles of each 64 cells, at the level `counted`; NULL: not counted
    float counted;
    int64_t inside, crossed; // samples and cubes, as they were counted
} isosurface_volume;

extern isosurface_volume isosurface_held;

size_t isosurface_bytes(const sap_volume* volume);
// Extracts the surface of the held volume.
sap_status isosurface_extract(sap_device* device, double level, bool low_inside, sap_isosurface** surface);

#endif
