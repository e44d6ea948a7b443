// Contexts of WebGL, through Emscripten, whose functions of OpenGL ES are linked and work in the context that is
// current in the program. Contexts belong to canvases. A device takes the current one: with options.current_context
// every call puts back the state that it changes; without, the context is the device's alone, as one of its own is
// elsewhere. Where none is current, it makes one of WebGL 2 on a canvas that nobody sees, in workers too.
#include "device/gl.h"
#include <emscripten/em_js.h>
#include <emscripten/html5.h>
#include <emscripten/html5_webgl.h>

typedef EMSCRIPTEN_WEBGL_CONTEXT_HANDLE web_handle;

// clang-format off
EM_JS(int, sap_web_create, (void), {
    var canvas = typeof OffscreenCanvas == 'undefined' ? document.createElement('canvas') : new OffscreenCanvas(1, 1);
    var context = canvas.getContext('webgl2', {'alpha': true, 'antialias': false, 'depth': false, 'stencil': false,
                                               'preserveDrawingBuffer': false, 'powerPreference': 'high-performance'});
    return context ? GL.registerContext(context, {'majorVersion': 2, 'enableExtensionsByDefault': 0}) : 0;
})
// Browsers have few contexts at a time: one that is lost gives its place back at once.
EM_JS(void, sap_web_lose, (int context), {
    var ending = GL.contexts[context].GLctx.getExtension('WEBGL_lose_context');
    if (ending) ending.loseContext();
})
// How often a context has been lost. What was made before is gone, also when it has come back.
EM_JS(int, sap_web_losses, (int context), {
    var gl = GL.contexts[context].GLctx;
    if (gl.sapwoodLosses === undefined) {
        gl.sapwoodLosses = 0;
        gl.canvas.addEventListener('webglcontextlost', function() { gl.sapwoodLosses++; });
    }
    return gl.sapwoodLosses;
})
EM_JS(int, sap_web_version, (void), { return GL.currentContext.version; })
// The GPU's name where the browser tells it: Firefox plainly, and it warns of the extension that others tell it by.
// Emscripten remembers strings of OpenGL for all contexts together.
EM_JS(void, sap_web_name, (int context, char* to, int room), {
    var gl = GL.contexts[context].GLctx, name = gl.getParameter(gl.RENDERER);
    var names = name == 'WebKit WebGL' && gl.getExtension('WEBGL_debug_renderer_info');
    stringToUTF8((names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : name) || 'WebGL', to, room);
})
// What OpenGL's Finish does not do in browsers: to wait. A pixel that is read is there when all before it is done.
EM_JS(void, sap_web_finish, (void), {
    var target = GL.currentContext.version > 1 ? GLctx.READ_FRAMEBUFFER : GLctx.FRAMEBUFFER;
    var bound = GLctx.getParameter(GL.currentContext.version > 1 ? GLctx.READ_FRAMEBUFFER_BINDING : GLctx.FRAMEBUFFER_BINDING);
    GLctx.bindFramebuffer(target, null);
    GLctx.readPixels(0, 0, 1, 1, GLctx.RGBA, GLctx.UNSIGNED_BYTE, new Uint8Array(4));
    GLctx.bindFramebuffer(target, bound);
})
// clang-format on

static web_handle handle_of(const void* context) { return (web_handle)(intptr_t)context; }

static const GLubyte* GL_APIENTRY web_string(GLenum what) {
    if (what != GL_VERSION) return glGetString(what);
    return (const GLubyte*)(sap_web_version() > 1 ? "OpenGL ES 3.0 (WebGL 2)" : "OpenGL ES 2.0 (WebGL 1)");
}

static bool web_has(const sap_gl* gl, const char* extension) {
    return emscripten_webgl_enable_extension(handle_of(gl->context), extension + sizeof "GL_" - 1);
}

static sap_status web_open(sap_device* device, sap_gl* gl) {
    web_handle mine = emscripten_webgl_get_current_context();
    if (mine <= 0 && !gl->own_context)
        return sap_fail(device, SAP_ERROR_NO_DEVICE, "options.current_context: no context is current here");
    if (gl->own_context && device->options.ordinal > 0)
        return sap_fail(device, SAP_ERROR_NO_DEVICE, "options.ordinal: WebGL has no such device");
    if (mine <= 0) {
        mine = sap_web_create();
        gl->made_context = mine > 0;
    }
    if (mine <= 0) return sap_fail(device, SAP_ERROR_NO_DEVICE, "this browser has no WebGL 2");
    gl->context = (void*)(intptr_t)mine;
    gl->losses = sap_web_losses(mine);
    sap_web_name(mine, gl->name, sizeof gl->name);
#define LINK(type, name, parameters, arguments) gl->calls.name = gl##name;
    SAP_GL_EACH(LINK)
    SAP_GL_EACH_VALUED(LINK)
#undef LINK
    gl->calls.GetString = web_string;
    gl->calls.Finish = sap_web_finish;
    return SAP_OK;
}

static void web_close(sap_device* device, sap_gl* gl) {
    (void)device;
    if (!gl->made_context) return;
    sap_web_lose(handle_of(gl->context));
    (void)emscripten_webgl_destroy_context(handle_of(gl->context));
}

static bool web_lost(const sap_gl* gl) {
    web_handle mine = handle_of(gl->context);
    return emscripten_is_webgl_context_lost(mine) || sap_web_losses(mine) != gl->losses;
}

static bool web_enter(sap_gl* gl, sap_gl_before* before, sap_status* status) {
    web_handle current = emscripten_webgl_get_current_context(), mine = handle_of(gl->context);
    before->context = (void*)(intptr_t)current;
    *status = SAP_ERROR_DEVICE_LOST;
    if (web_lost(gl)) return false;
    *status = SAP_ERROR_ARGUMENT;
    if (current == mine) return true;
    return gl->own_context && emscripten_webgl_make_context_current(mine) == EMSCRIPTEN_RESULT_SUCCESS;
}

static void web_leave(sap_gl* gl, const sap_gl_before* before) {
    if (gl->own_context) (void)emscripten_webgl_make_context_current(handle_of(before->context));
}

const sap_gl_platform sap_gl_native = {.library = "WebGL",
                                       .open = web_open,
                                       .close = web_close,
                                       .enter = web_enter,
                                       .leave = web_leave,
                                       .has = web_has,
                                       .lost = web_lost,
                                       .is_browser = true};
