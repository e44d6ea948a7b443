// What a processor does for pictures: the steps between the rays, and views of OpenGL.
#ifndef SAPWOOD_RENDER_OPS_H
#define SAPWOOD_RENDER_OPS_H

#include "device/device.h"
#include "sapwood/gl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_picture sap_picture;

// What a processor does between two traces of a picture. `end` always follows `begin`, even a `begin` that failed. The
// rays of begin_paths and sample_lamp, and the pixels, are ready when the step returns; other work may still be
// running.
typedef struct sap_render_ops {
    // Chooses the size of tiles, takes memory for the wavefront and for the light, which is set to 0, and copies the
    // arrays of the scene to where the work is done.
    sap_status (*begin)(sap_picture* picture);
    sap_status (*end)(sap_picture* picture);
    sap_status (*wait)(sap_picture* picture);        // until all work is done, rays too
    sap_status (*begin_paths)(sap_picture* picture); // a path for each sample of each pixel of wavefront.tile
    sap_status (*shade)(sap_picture* picture, int32_t bounce, bool last);
    // Rays to a lamp, and its light where these hit nothing.
    sap_status (*sample_lamp)(sap_picture* picture, int32_t number, uint32_t purpose);
    sap_status (*sample_shiner)(sap_picture* picture, uint32_t purpose); // the same of one of the faces that shine
    sap_status (*add_light)(sap_picture* picture);
    sap_status (*add_visits)(sap_picture* picture); // in place of light
    sap_status (*sum_pixels)(sap_picture* picture); // adds the light of paths to that of the tile's pixels
    sap_status (*develop)(sap_picture* picture, uint8_t* pixels);
    sap_status (*fetch)(sap_picture* picture, float* light); // the sum over all samples
    // Counts as heat. *most becomes the largest mean count of a pixel's samples.
    sap_status (*develop_heat)(sap_picture* picture, uint8_t* pixels, float* most);
    const struct sap_photon_ops* photons; // render/photons/swarm.h
} sap_render_ops;

// Views of OpenGL, by the names of sapwood/gl.h.
typedef struct sap_view_ops {
    sap_status (*create)(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view);
    sap_status (*begin)(sap_gl_view* view, const sap_gl_view_options* options);
    sap_status (*step)(sap_gl_view* view, int32_t side, bool* done);
    sap_status (*show)(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]);
    sap_status (*read)(const sap_gl_view* view, uint8_t* pixels);
    sap_status (*describe)(const sap_gl_view* view, sap_gl_view_info* info);
    void (*free)(sap_gl_view* view);
} sap_view_ops;

// Each is defined beside its steps.
extern const sap_render_ops sap_render_ops_cpu, sap_render_ops_cuda;

sap_status sap_view_create_gl(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view);
sap_status sap_view_begin_gl(sap_gl_view* view, const sap_gl_view_options* options);
sap_status sap_view_step_gl(sap_gl_view* view, int32_t side, bool* done);
sap_status sap_view_show_gl(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]);
sap_status sap_view_read_gl(const sap_gl_view* view, uint8_t* pixels);
sap_status sap_view_describe_gl(const sap_gl_view* view, sap_gl_view_info* info);
void sap_view_free_gl(sap_gl_view* view);

#ifdef __cplusplus
}
#endif
#endif
