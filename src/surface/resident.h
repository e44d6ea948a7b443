// Surfaces that stay on an OpenGL device: what the room's files share, in every build.
#ifndef SAPWOOD_SURFACE_RESIDENT_H
#define SAPWOOD_SURFACE_RESIDENT_H

#include "sapwood/gl.h"
#include "surface/ops.h"

enum { SAP_SURFACE_VERTICES, SAP_SURFACE_TRIANGLES, SAP_SURFACE_KINDS };

struct sap_gl_surface {
    sap_device* device;
    sap_gl_surface_options options; // spacing filled in
    sap_lattice lattice;
    int64_t samples;
    bool in_buffers;                  // else in textures
    bool filled;                      // it holds a surface
    int64_t total[SAP_SURFACE_KINDS]; // of that; -1: only the GPU knows
    int64_t room[SAP_SURFACE_KINDS];  // what the buffers hold
    uint32_t loaded;                  // the volume's own texture
    uint32_t cases;                   // the table of cases, as a texture
    // In buffers: words and blocks as words.glsl says, what is to be drawn, vertices, triangles; how they are drawn.
    uint32_t words, blocks, command, made[SAP_SURFACE_KINDS], arrays;
    // In textures: counts of samples and cells, their lists, and positions, normals and corners.
    uint32_t counts[SAP_SURFACE_KINDS];
    int32_t counts_size[2];
    sap_gl_pyramid* pyramid[SAP_SURFACE_KINDS];
    sap_gl_list list[SAP_SURFACE_KINDS];
    uint32_t texture[3];
    int32_t rows[3]; // of these
};

// How many vertices or triangles the caller wants at most; 0: all.
static inline int64_t sap_resident_named(const struct sap_gl_surface* s, int kind) {
    return kind == SAP_SURFACE_VERTICES ? s->options.vertices : s->options.triangles;
}

#endif
