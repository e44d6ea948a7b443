// OpenGL devices whose calls are watched and can be made to fail, and contexts of a caller's own.
#ifndef SAPWOOD_TESTS_GL_TOOLS_H
#define SAPWOOD_TESTS_GL_TOOLS_H

#include "allocator.h"

// Of all devices that gl_tools_open opened.
typedef struct gl_tools_state {
    int64_t calls;        // of OpenGL, so far
    int64_t memory_calls; // those that ask for memory
    int64_t lose_at; // with this call, counted from 1, the context is lost: it and all later ones do nothing; 0: none
    int64_t fail_memory_at;   // this call that asks for memory does nothing but set GL_OUT_OF_MEMORY; 0: none
    int32_t max_texture_size; // what GL_MAX_TEXTURE_SIZE claims to be; 0: the truth
    int32_t max_draw_buffers; // the same of GL_MAX_DRAW_BUFFERS
    bool no_float_targets;    // OpenGL ES 3.0 without GL_EXT_color_buffer_float
    bool no_compute;          // OpenGL ES 3.0, hence without compute shaders
    bool no_kept_maps;        // no buffer can stay mapped
    bool old;                 // OpenGL ES 2.0: see gl_tools_enter_old
    int64_t textures;         // made and not yet deleted
    int64_t buffers;          // made and not yet deleted
} gl_tools_state;

extern gl_tools_state gl_tools;

// Nothing fails, calls and textures counted from 0.
void gl_tools_reset(void);
// Whether this build and machine have OpenGL ES at all.
bool gl_tools_present(void);
// sap_device_open for an OpenGL device whose calls are watched, with a look for errors after every pass.
sap_status gl_tools_open(const sap_device_options* options, sap_device** device);
// The same for a host that watches.
static inline sap_status gl_tools_open_watched(watch* w, sap_device** device) {
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    return gl_tools_open(&options, device);
}
// The same over a library of EGL that is not there.
sap_status gl_tools_open_without_egl(const sap_device_options* options, sap_device** device);

// A context of the caller's own, current on this thread until it is left. False: there is none.
bool gl_tools_enter_own(void);
void gl_tools_leave_own(void);
// It is not current for a while.
void gl_tools_pause_own(void);
void gl_tools_resume_own(void);
// Whether this is a browser: devices take the context that is current, and one is.
bool gl_tools_in_browser(void);
// From here on gl_tools_open gives devices of OpenGL ES 2.0: in a browser in a context of WebGL 1, elsewhere in one
// that claims to be that old. False: there is none.
bool gl_tools_enter_old(void);
void gl_tools_leave_old(void);
// A framebuffer there of RGBA8, and what is in it, rows from bottom to top.
uint32_t gl_tools_make_framebuffer(int32_t width, int32_t height);
void gl_tools_read_framebuffer(uint32_t framebuffer, int32_t width, int32_t height, uint8_t* pixels);
// State of the current context that calls must put back: sets some; whether it is still so.
void gl_tools_set_state(void);
bool gl_tools_state_kept(void);

#endif
