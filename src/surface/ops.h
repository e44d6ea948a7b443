// What a processor does to extract surfaces of volumes.
#ifndef SAPWOOD_SURFACE_OPS_H
#define SAPWOOD_SURFACE_OPS_H

#include "device/device.h"
#include "sapwood/surface.h"
#include "surface/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is asked, checked. Each side has two samples at least.
typedef struct sap_surface_job {
    sap_voxels voxels;
    sap_lattice lattice;
    bool low_inside; // corners of triangles run the other way
    sap_isosurface** surface;
} sap_surface_job;

typedef struct sap_surface_ops {
    sap_status (*extract)(sap_device* device, const sap_surface_job* job);
} sap_surface_ops;

sap_status sap_surface_cpu(sap_device* device, const sap_surface_job* job);
sap_status sap_surface_cuda(sap_device* device, const sap_surface_job* job);
sap_status sap_surface_gl(sap_device* device, const sap_surface_job* job);

#ifdef __cplusplus
}
#endif
#endif
