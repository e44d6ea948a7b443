// Histopyramids in OpenGL, for the rooms that make lists in their own shaders with compact/levels.h.
#ifndef SAPWOOD_COMPACT_PYRAMID_GL_H
#define SAPWOOD_COMPACT_PYRAMID_GL_H

#include "compact/pyramid.h"
#include "device/gl.h"

enum {
    SAP_PYRAMID_INPUTS = 5,        // textures that compact/levels.h reads
    SAP_PYRAMID_LIST_WIDTH = 4096, // of the pyramid's own list, at most
    SAP_PYRAMID_READ = 1 << 15     // texels that are read at a time: a row at least
};

// Makes the levels over a base: the vec4 form or the plain one.
void sap_pyramid_reduce(sap_gl_call* call, sap_gl_pyramid* pyramid, GLuint base);
// What compact/levels.h needs in a pass of another text: its definitions (at most 80 characters), uniforms and
// textures.
void sap_pyramid_define(const sap_gl_pyramid* pyramid, char* defines, size_t room);
void sap_pyramid_uniforms(sap_gl_call* call, const sap_gl_pyramid* pyramid, GLuint program);
void sap_pyramid_inputs(const sap_gl_pyramid* pyramid, GLuint base, sap_gl_input input[SAP_PYRAMID_INPUTS]);
// The same as the public function, within a call.
int64_t sap_pyramid_read_total(sap_gl_call* call, sap_gl_pyramid* pyramid);
// Frees the textures within a call.
void sap_pyramid_free_textures(sap_gl_call* call, sap_gl_pyramid* pyramid);

// The passes of GLSL ES 1.00.
void sap_pyramid_make_100(sap_gl_call* call, sap_gl_pyramid* pyramid);
void sap_pyramid_reduce_100(sap_gl_call* call, sap_gl_pyramid* pyramid, GLuint base);
void sap_pyramid_list_100(sap_gl_call* call, sap_gl_pyramid* pyramid, GLuint base, const sap_gl_list* list,
                          int32_t rows, uint32_t room);
void sap_pyramid_clear_100(sap_gl_call* call, const sap_gl_pyramid* pyramid);
int64_t sap_pyramid_read_total_100(sap_gl_call* call, sap_gl_pyramid* pyramid);
void sap_pyramid_sums_100(sap_gl_call* call, sap_gl_pyramid* pyramid, int32_t level, uint32_t* texels, uint32_t* sums);

#endif
