// Contexts of WebGL 2, through Emscripten, whose functions of OpenGL ES are linked: they work in the context that is
// current in the program, and so does a device. Contexts belong to canvases, which are the program's, so a device makes
// none: it takes the current one. With options.current_context every call puts back the state that it changes, which
// asks the browser some sixty questions; without, the context is the device's to use, as one of its own is elsewhere.
#include "device/gl.h"
#include <emscripten/html5.h>
#include <emscripten/html5_webgl.h>

// Handles of contexts are numbers.
static EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle_of(const sap_gl* gl) {
    return (EMSCRIPTEN_WEBGL_CONTEXT_HANDLE)(intptr_t)gl->context;
}

static sap_status web_open(sap_device* device, sap_gl* gl) {
    EMSCRIPTEN_WEBGL_CONTEXT_HANDLE current = emscripten_webgl_get_current_context();
    if (current <= 0)
        return sap_fail(device, SAP_ERROR_NO_DEVICE,
                        "no context of WebGL is current: make one of a canvas current before a device is opened");
    gl->context = (void*)(intptr_t)current;
#define LINK(type, name, parameters, arguments) gl->calls.name = gl##name;
    SAP_GL_EACH(LINK)
    SAP_GL_EACH_VALUED(LINK)
#undef LINK
    return SAP_OK;
}

static void web_close(sap_device* device, sap_gl* gl) {
    (void)device;
    (void)gl;
}

static bool web_enter(sap_gl* gl, sap_gl_before* before, sap_status* status) {
    EMSCRIPTEN_WEBGL_CONTEXT_HANDLE current = emscripten_webgl_get_current_context(), mine = handle_of(gl);
    before->context = (void*)(intptr_t)current;
    *status = SAP_ERROR_DEVICE_LOST;
    if (emscripten_is_webgl_context_lost(mine)) return false;
    *status = SAP_ERROR_ARGUMENT;
    if (current == mine) return true;
    return gl->own_context && emscripten_webgl_make_context_current(mine) == EMSCRIPTEN_RESULT_SUCCESS;
}

static void web_leave(sap_gl* gl, const sap_gl_before* before) {
    if (gl->own_context)
        (void)emscripten_webgl_make_context_current((EMSCRIPTEN_WEBGL_CONTEXT_HANDLE)(intptr_t)before->context);
}

const sap_gl_platform sap_gl_native = {
    .library = "WebGL", .open = web_open, .close = web_close, .enter = web_enter, .leave = web_leave};
