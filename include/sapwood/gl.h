/**
 * @file gl.h
 * OpenGL ES: the textures of trees, searches for every pixel and compaction inside a context, so that programs that
 * draw with OpenGL ES can use them without a detour through host memory.
 *
 * A device is opened with `processor = SAP_GL`, in a context of its own or, with `current_context`, in the caller's
 * (see
 * ::sap_device_options): only there do texture names mean the same on both sides. In the caller's context every call
 * puts back the state that it changes; the context must be current in every call, ::sap_device_close included.
 */
#ifndef SAPWOOD_GL_H
#define SAPWOOD_GL_H

#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a context can do. */
typedef struct sap_gl_info {
    int32_t max_texture_size; /**< texels on a side of a texture, at most */
    int32_t max_draw_buffers; /**< textures that one pass can write */
    bool float_targets;       /**< textures of floats can be written; else integers and bytes stand in for them */
} sap_gl_info;

/** Describes the context of a device. Errors: SAP_ERROR_ARGUMENT (a NULL, or a device that is not SAP_GL). */
SAP_API sap_status sap_gl_describe(const sap_device* device, sap_gl_info* info);

#ifdef __cplusplus
}
#endif
#endif
