// Contexts from EGL, loaded at run time: a library built with OpenGL also runs where there is no EGL.
#include "device/gl.h"
#include "base/assert.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>
#include <string.h>

#define EGL_EACH(F)                                                                                                    \
    F(BindAPI)                                                                                                         \
    F(ChooseConfig)                                                                                                    \
    F(CreateContext)                                                                                                   \
    F(DestroyContext)                                                                                                  \
    F(GetCurrentContext)                                                                                               \
    F(GetCurrentDisplay)                                                                                               \
    F(GetCurrentSurface)                                                                                               \
    F(GetDisplay) F(GetError) F(GetProcAddress) F(Initialize) F(MakeCurrent) F(QueryAPI) F(QueryString)

typedef struct egl_calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define DECLARE(name) __typeof__(&egl##name) name;
    EGL_EACH(DECLARE)
#undef DECLARE
    PFNEGLQUERYDEVICESEXTPROC QueryDevices;
    PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplay;
    void* gles; // the library of OpenGL ES, for what GetProcAddress does not know
} egl_calls;

enum { MOST_DEVICES = 64 };

// An address of data as one of a function, which C has no cast for.
static void assign(void* function, void* address) { memcpy(function, &address, sizeof address); }

static bool find_egl(egl_calls* egl, void* library) {
    bool found = true;
#define FIND(name)                                                                                                     \
    assign((void*)&egl->name, dlsym(library, "egl" #name));                                                            \
    found = found && egl->name;
    EGL_EACH(FIND)
#undef FIND
    if (!found) return false;
    egl->QueryDevices = (PFNEGLQUERYDEVICESEXTPROC)egl->GetProcAddress("eglQueryDevicesEXT");
    egl->GetPlatformDisplay = (PFNEGLGETPLATFORMDISPLAYEXTPROC)egl->GetProcAddress("eglGetPlatformDisplayEXT");
    egl->gles = dlopen("libGLESv2.so.2", RTLD_NOW | RTLD_LOCAL);
    return true;
}

static void find_function(const egl_calls* egl, const char* name, void* function) {
    void* address = egl->gles ? dlsym(egl->gles, name) : NULL;
    if (address) {
        assign(function, address);
        return;
    }
    __eglMustCastToProperFunctionPointerType found = egl->GetProcAddress(name);
    memcpy(function, &found, sizeof found);
}

// Fills the table; the name of the first function that is missing, or NULL.
static const char* find_functions(const egl_calls* egl, sap_gl_calls* calls) {
    const char* missing = NULL;
#define FIND(type, name, parameters, arguments)                                                                        \
    find_function(egl, "gl" #name, (void*)&calls->name);                                                               \
    if (!calls->name && !missing) missing = "gl" #name;
    SAP_GL_EACH(FIND)
    SAP_GL_EACH_VALUED(FIND)
#undef FIND
#define FIND_NATIVE(type, name, parameters, arguments) find_function(egl, "gl" #name, (void*)&calls->name);
    SAP_GL_EACH_NATIVE(FIND_NATIVE)
    SAP_GL_EACH_NATIVE_VALUED(FIND_NATIVE)
#undef FIND_NATIVE
    return missing;
}

static bool names(const char* list, const char* extension) {
    size_t length = strlen(extension);
    for (const char* at = list; at && (at = strstr(at, extension)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

// A context of OpenGL ES 3 on a display, one that reports resets of the GPU if possible; NULL: there is none.
static EGLContext create_on(const egl_calls* egl, EGLDisplay display) {
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT,
                                    EGL_NONE};
    EGLint major = 0, minor = 0, count = 0;
    if (display == EGL_NO_DISPLAY || !egl->Initialize(display, &major, &minor)) return EGL_NO_CONTEXT;
    const char* extensions = egl->QueryString(display, EGL_EXTENSIONS);
    if (!names(extensions, "EGL_KHR_surfaceless_context") || !egl->BindAPI(EGL_OPENGL_ES_API)) return EGL_NO_CONTEXT;
    EGLConfig config = NULL;
    if (!egl->ChooseConfig(display, wanted, &config, 1, &count) || !count) {
        if (!names(extensions, "EGL_KHR_no_config_context")) return EGL_NO_CONTEXT;
        config = NULL; // EGL_NO_CONFIG_KHR
    }
    static const EGLint robust[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                                    EGL_LOSE_CONTEXT_ON_RESET_EXT, EGL_NONE};
    static const EGLint plain[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLContext context = EGL_NO_CONTEXT;
    if (names(extensions, "EGL_EXT_create_context_robustness"))
        context = egl->CreateContext(display, config, EGL_NO_CONTEXT, robust);
    return context != EGL_NO_CONTEXT ? context : egl->CreateContext(display, config, EGL_NO_CONTEXT, plain);
}

// The first device that has OpenGL ES 3, or exactly the one that `ordinal` (> 0) names; without the extension for
// devices, a display that needs none.
static const char* create_own(const egl_calls* egl, int32_t ordinal, sap_gl* gl) {
    EGLDeviceEXT devices[MOST_DEVICES];
    EGLint count = 0;
    const char* extensions = egl->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    bool has_devices = egl->GetPlatformDisplay && egl->QueryDevices && names(extensions, "EGL_EXT_platform_device") &&
                       egl->QueryDevices(MOST_DEVICES, devices, &count);
    SAP_ASSERT(ordinal >= 0);
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLContext context = EGL_NO_CONTEXT;
    for (EGLint i = ordinal; has_devices && i < count && context == EGL_NO_CONTEXT; i++) {
        display = egl->GetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        context = create_on(egl, display);
        if (ordinal > 0) break;
    }
    if (ordinal > 0 && context == EGL_NO_CONTEXT) return "EGL has no such device with OpenGL ES 3.0";
    if (context == EGL_NO_CONTEXT && egl->GetPlatformDisplay && names(extensions, "EGL_MESA_platform_surfaceless")) {
        display = egl->GetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        context = create_on(egl, display);
    }
    if (context == EGL_NO_CONTEXT) {
        display = egl->GetDisplay(EGL_DEFAULT_DISPLAY);
        context = create_on(egl, display);
    }
    if (context == EGL_NO_CONTEXT) return "EGL has no display with OpenGL ES 3.0 that needs no window";
    gl->display = display;
    gl->context = context;
    return NULL;
}

static sap_status egl_open(sap_device* device, sap_gl* gl) {
    // Never closed again: drivers keep threads and exit handlers that point into it. For the same reason, and because
    // displays are shared by the whole process, none is terminated.
    void* library = dlopen(gl->platform->library, RTLD_NOW | RTLD_LOCAL);
    if (!library) return sap_fail(device, SAP_ERROR_NO_DEVICE, "this machine has no EGL (%s)", gl->platform->library);
    egl_calls* egl = sap_memory_allocate_zero(device, sizeof *egl);
    if (!egl) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a device");
    gl->library = egl;
    if (!find_egl(egl, library))
        return sap_fail(device, SAP_ERROR_NO_DEVICE, "%s lacks functions of EGL", gl->platform->library);
    const char* missing = find_functions(egl, &gl->calls);
    if (missing) return sap_fail(device, SAP_ERROR_NO_DEVICE, "the OpenGL ES of this machine has no %s", missing);
    if (!gl->own_context) {
        gl->display = egl->GetCurrentDisplay();
        gl->context = egl->GetCurrentContext();
        if (gl->context == EGL_NO_CONTEXT)
            return sap_fail(device, SAP_ERROR_NO_DEVICE, "options.current_context: no context is current here");
        return SAP_OK;
    }
    EGLenum api = egl->QueryAPI();
    const char* why_not = create_own(egl, device->options.ordinal, gl);
    (void)egl->BindAPI(api);
    if (why_not) return sap_fail(device, SAP_ERROR_NO_DEVICE, "options.ordinal: %s", why_not);
    return SAP_OK;
}

static void egl_close(sap_device* device, sap_gl* gl) {
    egl_calls* egl = gl->library;
    if (!egl) return;
    if (gl->own_context && gl->context) (void)egl->DestroyContext(gl->display, gl->context);
    sap_memory_release(device, egl, sizeof *egl);
}

static bool egl_enter(sap_gl* gl, sap_gl_before* before, sap_status* status) {
    const egl_calls* egl = gl->library;
    SAP_ASSERT(gl->context != EGL_NO_CONTEXT);
    before->context = egl->GetCurrentContext();
    if (!gl->own_context) {
        *status = SAP_ERROR_ARGUMENT;
        return before->context == gl->context;
    }
    before->display = egl->GetCurrentDisplay();
    before->draw = egl->GetCurrentSurface(EGL_DRAW);
    before->read = egl->GetCurrentSurface(EGL_READ);
    if (egl->MakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context)) return true;
    *status = egl->GetError() == EGL_CONTEXT_LOST ? SAP_ERROR_DEVICE_LOST : SAP_ERROR_ARGUMENT;
    return false;
}

static void egl_leave(sap_gl* gl, const sap_gl_before* before) {
    const egl_calls* egl = gl->library;
    if (!gl->own_context) return;
    if (before->context != EGL_NO_CONTEXT)
        (void)egl->MakeCurrent(before->display, before->draw, before->read, before->context);
    else
        (void)egl->MakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

static bool egl_has(const sap_gl* gl, const char* extension) {
    if (gl->version < 30) return names((const char*)gl->calls.GetString(GL_EXTENSIONS), extension);
    GLint count = 0;
    gl->calls.GetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLint i = 0; i < count; i++) {
        const GLubyte* name = gl->calls.GetStringi(GL_EXTENSIONS, (GLuint)i);
        if (name && !strcmp((const char*)name, extension)) return true;
    }
    return false;
}

const sap_gl_platform sap_gl_native = {.library = "libEGL.so.1",
                                       .open = egl_open,
                                       .close = egl_close,
                                       .enter = egl_enter,
                                       .leave = egl_leave,
                                       .has = egl_has};
