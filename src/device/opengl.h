// What only an OpenGL device can do: the functions behind sapwood/gl.h, as the device's table lists them. This header
// and opengl.c, which checks arguments, are there in every build; what does the work is not.
#ifndef SAPWOOD_DEVICE_OPENGL_H
#define SAPWOOD_DEVICE_OPENGL_H

#include "device/device.h"
#include "sapwood/gl.h"

typedef struct sap_gl_functions {
    void (*describe)(const sap_device* device, sap_gl_info* info);
    sap_status (*tree_describe)(const sap_tree* tree, sap_gl_tree_textures* textures);
    sap_status (*tree_update)(sap_tree* copy, const sap_tree* tree);
    sap_status (*frame_create)(const sap_tree* tree, const int32_t size[2], int32_t k, float limit2,
                               sap_gl_frame** frame);
    sap_status (*frame_begin)(sap_gl_frame* frame, const sap_grid* grid);
    sap_status (*frame_step)(sap_gl_frame* frame, int32_t leaves, bool* done);
    sap_status (*frame_describe)(const sap_gl_frame* frame, sap_gl_frame_textures* textures);
    sap_status (*frame_read)(const sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids, float* distance2);
    void (*frame_free)(sap_gl_frame* frame);
    sap_status (*nearest_rgba8)(sap_device* device, const sap_rgba8_tree* form, const sap_grid* grid, int32_t* ids,
                                float* distances);
    sap_status (*view_create)(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view);
    sap_status (*view_begin)(sap_gl_view* view, const sap_gl_view_options* options);
    sap_status (*view_step)(sap_gl_view* view, int32_t side, bool* done);
    sap_status (*view_show)(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]);
    sap_status (*view_read)(const sap_gl_view* view, uint8_t* pixels);
    sap_status (*view_describe)(const sap_gl_view* view, sap_gl_view_info* info);
    void (*view_free)(sap_gl_view* view);
} sap_gl_functions;

// The functions of a device; NULL, and a sentence in the log, if it is none of OpenGL's.
const sap_gl_functions* sap_gl_functions_of(const sap_device* device);

#endif
