// What a processor does for pictures: the steps between the rays, and views of OpenGL.
#ifndef SAPWOOD_RENDER_OPS_H
#define SAPWOOD_RENDER_OPS_H

#include "device/device.h"
#include "sapwood/gl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_picture sap_picture;

// What a processor does between the rays of a picture. `end` always follows `begin`, whatever that gave. What is ahead
// of rays (send, ask_lamp) and the pixels are ready when the step returns; other work may still be under way.
typedef struct sap_render_ops {
    // Chooses how large tiles are, takes memory for a batch and for the light, which is set to 0, and brings the arrays
    // of the view to where the work is done.
    sap_status (*begin)(sap_picture* picture);
    sap_status (*end)(sap_picture* picture);
    sap_status (*wait)(sap_picture* picture); // until all is done, rays too
    sap_status (*send)(sap_picture* picture); // a path for each sample of each pixel of batch.tile
    sap_status (*shade)(sap_picture* picture, int32_t bounce, bool last);
    // Rays to a lamp; and what it sheds where these meet nothing.
    sap_status (*ask_lamp)(sap_picture* picture, int32_t number, uint32_t purpose);
    sap_status (*take_light)(sap_picture* picture);
    sap_status (*take_visits)(sap_picture* picture); // as what was found
    sap_status (*gather)(sap_picture* picture);      // what was found, to the light of the tile's pixels
    sap_status (*develop)(sap_picture* picture, uint8_t* pixels);
    // Counts as heat. *most becomes the largest of a pixel, on average over its samples.
    sap_status (*develop_heat)(sap_picture* picture, uint8_t* pixels, float* most);
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
