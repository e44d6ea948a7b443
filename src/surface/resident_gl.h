// Surfaces that stay on an OpenGL device: what its files share.
#ifndef SAPWOOD_SURFACE_RESIDENT_GL_H
#define SAPWOOD_SURFACE_RESIDENT_GL_H

#include "device/gl.h"
#include "surface/resident.h"

// Whether the surface is in buffers: never in a browser, whose compiler then leaves that way out.
static inline bool sap_resident_in_buffers(const sap_gl_surface* surface) {
    return sap_gl_has_buffers(sap_gl_of(surface->device)) && surface->in_buffers;
}

// Tells the progress callback that so much of `part` is done, which are two parts of a whole call; SAP_ERROR_CANCELLED
// with a sentence if it asks to stop.
sap_status sap_resident_report(const sap_device* device, const double part[2], double done);

// Sets the uniforms by which all passes know the volume.
void sap_resident_uniforms(sap_gl_call* call, const sap_gl_surface* surface, GLuint program);
// What a shader is to call the volume's type of sampler: a definition of at most 40 characters.
const char* sap_resident_sampler(const sap_gl_surface* surface);

// The public functions as parts of a longer call.
sap_status sap_resident_extract_part(sap_gl_surface* surface, uint32_t volume, float level, const double part[2]);
sap_status sap_resident_read_part(sap_gl_surface* surface, sap_isosurface** read, const double part[2]);

// ---- In buffers (words_gl.c)

// False: there are no such buffers, or shaders cannot see ones of this size.
bool sap_words_fit(const sap_gl_surface* surface);
sap_status sap_words_create(sap_gl_surface* surface);
sap_status sap_words_extract(sap_gl_surface* surface, GLuint volume, const double part[2]);
void sap_words_draw(sap_gl_call* call, const sap_gl_surface* surface);
void sap_words_count(sap_gl_call* call, sap_gl_surface* surface);
void sap_words_read(sap_gl_call* call, const sap_gl_surface* surface, int kind, sap_isosurface* to);
void sap_words_free(sap_gl_call* call, sap_gl_surface* surface);

// ---- In textures (passes_gl.c)

sap_status sap_passes_create(sap_gl_surface* surface);
sap_status sap_passes_extract(sap_gl_surface* surface, GLuint volume, const double part[2]);
void sap_passes_draw(sap_gl_call* call, const sap_gl_surface* surface, GLuint program);
void sap_passes_count(sap_gl_call* call, sap_gl_surface* surface);
void sap_passes_read(sap_gl_call* call, const sap_gl_surface* surface, int kind, uint32_t* texels, sap_isosurface* to);
void sap_passes_free(sap_gl_call* call, sap_gl_surface* surface);

enum { SAP_PASSES_ROWS = 64 }; // rows of texels that sap_passes_read reads at a time

#endif
