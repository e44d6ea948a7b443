// A view: a picture of a mesh that shaders draw tile by tile and sample by sample, in the order of render.c, with
// passes of view.glsl and ray.glsl in place of loops.
#ifndef SAPWOOD_RENDER_VIEW_PASSES_GL_H
#define SAPWOOD_RENDER_VIEW_PASSES_GL_H

#include "ray/walk_gl.h"
#include "render/picture.h"

// What shaders read of a mesh beside its tree; render/view/shade_glsl.h says what is in them.
typedef struct sap_gl_view_surface {
    GLuint facets, materials;
    int32_t shifts[2]; // logarithms of their widths
    bool has_colors;
} sap_gl_view_surface;

// The tile's textures that passes write, RGBA32UI.
enum { SAP_GL_ORIGIN, SAP_GL_DIRECTION, SAP_GL_PATH, SAP_GL_RAY_TEXTURES, SAP_GL_LIT = 2 };

typedef enum sap_gl_walking { SAP_GL_WALKING_NONE, SAP_GL_WALKING_FIRST, SAP_GL_WALKING_SHADOW } sap_gl_walking;

struct sap_gl_view {
    const sap_mesh_tree* tree; // first: render/view/view.c finds the device by it
    sap_gl_view_surface surface;
    int64_t builds; // of the tree, when the view was made
    // Of the picture.
    bool begun, done, plain, no_shadows;
    bool is_traced; // a pass of rays has been drawn, and its outcome is still to be read
    sap_picture picture;
    float background[4];
    float cut;      // where the camera's rays begin
    sap_vector sun; // unit; zeros: there is none
    int64_t rays;
    int32_t size[2];      // of the textures
    GLuint sum[2], shown; // sum[sample & 1] is read, the other written
    int32_t sample;
    // Of the tile.
    sap_gl_walking walking;
    int32_t x, y, width, height, bounce, lamp;
    int32_t room;                       // pixels on a side of the textures
    GLuint ray[2][SAP_GL_RAY_TEXTURES]; // origin, direction, path
    GLuint shadow[SAP_GL_RAY_TEXTURES]; // origin, direction, light of the lamp
    GLuint light[2];
    int ray_now, light_now;
    sap_gl_walk first, shadows;
};

// The textures of a mesh; to be freed also on failure.
void sap_gl_view_surface_make(sap_gl_call* call, const sap_mesh_file* file, int32_t threads,
                              sap_gl_view_surface* surface);
void sap_gl_view_surface_free(sap_gl_call* call, sap_gl_view_surface* surface);

// Frees the textures of the picture; and those of the tile, too.
void sap_gl_view_free_picture(sap_gl_call* call, sap_gl_view* view);
void sap_gl_view_free_textures(sap_gl_call* call, sap_gl_view* view);
// Textures for a picture of the size of view->picture, kept if they have that size already; all of it transparent.
void sap_gl_view_make_textures(sap_gl_call* call, sap_gl_view* view);
// One pass of rays, with what comes before and after it.
void sap_gl_view_trace(sap_gl_call* call, sap_gl_view* view, int32_t side);

#endif
