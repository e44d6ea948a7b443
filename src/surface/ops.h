// What a processor does to extract surfaces of volumes.
#ifndef SAPWOOD_SURFACE_OPS_H
#define SAPWOOD_SURFACE_OPS_H

#include "device/device.h"
#include "sapwood/surface.h"
#include "surface/lattice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_gl_surface; // sapwood/gl.h
struct sap_gl_surface_look;

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

// A surface that stays on the GPU.
typedef struct sap_resident_ops {
    // The device, the options and the lattice of *surface are set; after a failure nothing is to be freed.
    sap_status (*create)(struct sap_gl_surface* surface);
    sap_status (*load)(struct sap_gl_surface* surface, const void* values);
    sap_status (*extract)(struct sap_gl_surface* surface, uint32_t volume, float level);
    sap_status (*draw)(const struct sap_gl_surface* surface, const struct sap_gl_surface_look* look,
                       uint32_t framebuffer, const int32_t rectangle[4]);
    sap_status (*count)(struct sap_gl_surface* surface); // fills in total
    sap_status (*read)(struct sap_gl_surface* surface, sap_isosurface** read);
    void (*free)(struct sap_gl_surface* surface);
} sap_resident_ops;

sap_status sap_resident_create_gl(struct sap_gl_surface* surface);
sap_status sap_resident_load_gl(struct sap_gl_surface* surface, const void* values);
sap_status sap_resident_extract_gl(struct sap_gl_surface* surface, uint32_t volume, float level);
sap_status sap_resident_draw_gl(const struct sap_gl_surface* surface, const struct sap_gl_surface_look* look,
                                uint32_t framebuffer, const int32_t rectangle[4]);
sap_status sap_resident_count_gl(struct sap_gl_surface* surface);
sap_status sap_resident_read_gl(struct sap_gl_surface* surface, sap_isosurface** read);
void sap_resident_free_gl(struct sap_gl_surface* surface);

sap_status sap_surface_cpu(sap_device* device, const sap_surface_job* job);
sap_status sap_surface_cuda(sap_device* device, const sap_surface_job* job);
sap_status sap_surface_gl(sap_device* device, const sap_surface_job* job);

#ifdef __cplusplus
}
#endif
#endif
