#include "gl_tools.h"

#if defined(SAP_HAVE_GL)
#include "device/gl.h"
#include "processors/processors.h"
#include <stdlib.h>
#include <string.h>
#if defined(__EMSCRIPTEN__)
#include <emscripten/html5.h>
#include <emscripten/html5_webgl.h>
#endif

gl_tools_state gl_tools;

static sap_gl_calls real;
static bool out_of_memory; // to be told by GetError

void gl_tools_reset(void) {
    gl_tools = (gl_tools_state){.old = gl_tools.old};
    out_of_memory = false;
}

#if defined(__EMSCRIPTEN__)
static bool claims_to_be_old(void) { return false; } // it is
#else
static bool claims_to_be_old(void) { return gl_tools.old; }
#endif

static bool lost(void) {
    gl_tools.calls++;
    return gl_tools.lose_at && gl_tools.calls >= gl_tools.lose_at;
}

static bool refused(void) {
    gl_tools.memory_calls++;
    if (gl_tools.memory_calls != gl_tools.fail_memory_at) return false;
    out_of_memory = true;
    return true;
}

// Every function counts, and does nothing once the context is lost.
#define WATCH(type, name, parameters, arguments)                                                                       \
    static void GL_APIENTRY watch_##name parameters {                                                                  \
        if (!lost()) real.name arguments;                                                                              \
    }
#define WATCH_VALUED(type, name, parameters, arguments)                                                                \
    static type GL_APIENTRY watch_##name parameters {                                                                  \
        if (lost()) return (type)0;                                                                                    \
        return real.name arguments;                                                                                    \
    }
SAP_GL_EACH(WATCH)
SAP_GL_EACH_VALUED(WATCH_VALUED)

static GLenum GL_APIENTRY get_error(void) {
    if (lost()) return GL_CONTEXT_LOST;
    GLenum error = real.GetError();
    if (error == GL_NO_ERROR && out_of_memory) error = GL_OUT_OF_MEMORY;
    out_of_memory = false;
    return error;
}

static void GL_APIENTRY get_integer(GLenum what, GLint* value) {
    if (lost()) return;
    real.GetIntegerv(what, value);
    if (what == GL_MAX_TEXTURE_SIZE && gl_tools.max_texture_size) *value = gl_tools.max_texture_size;
    if (what == GL_MAX_DRAW_BUFFERS && gl_tools.max_draw_buffers) *value = gl_tools.max_draw_buffers;
}

static const GLubyte* GL_APIENTRY get_string(GLenum what) {
    if (lost()) return NULL;
    if (what == GL_VERSION && claims_to_be_old()) return (const GLubyte*)"OpenGL ES 2.0 of the tests";
    if (what == GL_VERSION && (gl_tools.no_float_targets || gl_tools.no_compute))
        return (const GLubyte*)"OpenGL ES 3.0 of the tests";
    return real.GetString(what);
}

static bool has(const sap_gl* gl, const char* extension) {
    if (claims_to_be_old()) return !strcmp(extension, "GL_OES_vertex_array_object");
    if (lost() || gl_tools.no_float_targets) return false;
    return sap_gl_native.has(gl, extension);
}

static void GL_APIENTRY image(GLenum target, GLint level, GLint internal, GLsizei width, GLsizei height, GLint border,
                              GLenum format, GLenum type, const void* data) {
    if (!lost() && !refused()) real.TexImage2D(target, level, internal, width, height, border, format, type, data);
}

static void GL_APIENTRY storage(GLenum target, GLsizei levels, GLenum internal, GLsizei width, GLsizei height) {
    if (!lost() && !refused()) real.TexStorage2D(target, levels, internal, width, height);
}

static void GL_APIENTRY buffer(GLenum target, GLsizeiptr bytes, const void* data, GLenum usage) {
    if (!lost() && !refused()) real.BufferData(target, bytes, data, usage);
}

static void GL_APIENTRY make_textures(GLsizei count, GLuint* names) {
    if (lost()) return;
    real.GenTextures(count, names);
    gl_tools.textures += count;
}

static void GL_APIENTRY delete_textures(GLsizei count, const GLuint* names) {
    if (lost()) return;
    real.DeleteTextures(count, names);
    gl_tools.textures -= count;
}

SAP_GL_EACH_NATIVE(WATCH)
SAP_GL_EACH_NATIVE_VALUED(WATCH_VALUED)

static void GL_APIENTRY buffer_storage(GLenum target, GLsizeiptr bytes, const void* data, GLbitfield flags) {
    if (!lost() && !refused()) real.BufferStorageEXT(target, bytes, data, flags);
}

static void GL_APIENTRY make_buffers(GLsizei count, GLuint* names) {
    if (lost()) return;
    real.GenBuffers(count, names);
    gl_tools.buffers += count;
}

static void GL_APIENTRY delete_buffers(GLsizei count, const GLuint* names) {
    if (lost()) return;
    real.DeleteBuffers(count, names);
    gl_tools.buffers -= count;
}

static sap_status open_watched(sap_device* device, sap_gl* gl) {
    sap_status status = sap_gl_native.open(device, gl);
    if (status != SAP_OK) return status;
    real = gl->calls;
#define REPLACE(type, name, parameters, arguments) gl->calls.name = watch_##name;
    SAP_GL_EACH(REPLACE)
    SAP_GL_EACH_VALUED(REPLACE)
    gl->calls.GetError = get_error;
    gl->calls.GetIntegerv = get_integer;
    gl->calls.GetString = get_string;
    gl->calls.TexImage2D = image;
    gl->calls.TexStorage2D = storage;
    gl->calls.BufferData = buffer;
    gl->calls.GenTextures = make_textures;
    gl->calls.DeleteTextures = delete_textures;
    gl->calls.GenBuffers = make_buffers;
    gl->calls.DeleteBuffers = delete_buffers;
#define REPLACE_NATIVE(type, name, parameters, arguments)                                                              \
    if (real.name) gl->calls.name = watch_##name;
    SAP_GL_EACH_NATIVE(REPLACE_NATIVE)
    SAP_GL_EACH_NATIVE_VALUED(REPLACE_NATIVE)
    if (real.BufferStorageEXT) gl->calls.BufferStorageEXT = buffer_storage;
    if (gl_tools.no_kept_maps) gl->calls.BufferStorageEXT = NULL;
    gl->calls.check_passes = true;
    return SAP_OK;
}

static void close_watched(sap_device* device, sap_gl* gl) {
    sap_gl_before before;
    sap_status status;
    if (gl->context && gl->own_context && sap_gl_native.enter(gl, &before, &status)) {
        real.Finish();
        sap_gl_native.leave(gl, &before);
    }
    sap_gl_native.close(device, gl);
}

static sap_gl_platform platform;

static sap_status open_platform(sap_device* device) { return sap_gl_open_with(device, &platform); }

static void* heap_allocate(void* user, size_t bytes, size_t alignment) {
    (void)user;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void heap_release(void* user, void* memory, size_t bytes) {
    (void)user;
    (void)bytes;
    free(memory);
}

// As sap_device_open, with a table of ours. The table is the device's until it is closed.
static sap_status open_with(const sap_device_options* options, const char* library, sap_device** device) {
    static sap_processor_table table;
    table = sap_gl_table;
    table.open = open_platform;
    platform = sap_gl_native;
    platform.library = library;
    platform.has = has;
    platform.open = open_watched;
    platform.close = close_watched;
    sap_device local;
    memset(&local, 0, sizeof local);
    local.options = *options;
    if (!local.options.allocator.allocate) local.options.allocator = (sap_allocator){heap_allocate, heap_release, NULL};
    sap_device* opened = sap_memory_allocate(&local, sizeof *opened);
    if (!opened) return SAP_ERROR_MEMORY;
    *opened = local;
    sap_device_assign(opened, &table);
    sap_status status = table.open(opened);
    if (status == SAP_OK)
        *device = opened;
    else
        sap_memory_release(&local, opened, sizeof *opened);
    return status;
}

sap_status gl_tools_open(const sap_device_options* options, sap_device** device) {
    return open_with(options, sap_gl_native.library, device);
}

sap_status gl_tools_open_without_egl(const sap_device_options* options, sap_device** device) {
    return open_with(options, "libSapwoodHasNoSuchEGL.so.1", device);
}

bool gl_tools_present(void) {
    sap_device* device = NULL;
    bool present = sap_device_open(&(sap_device_options){.processor = SAP_GL}, &device) == SAP_OK;
    sap_device_close(device);
    return present;
}

// ---- The caller's context: that of a device nobody calls.

static sap_device* own;
static sap_gl_before before_own;
static GLuint own_texture, own_volume;

enum { FLIP_Y = 0x9240 }; // UNPACK_FLIP_Y_WEBGL

bool gl_tools_enter_own(void) {
    if (sap_device_open(&(sap_device_options){.processor = SAP_GL}, &own) != SAP_OK) return false;
    sap_status status;
    return sap_gl_native.enter(sap_gl_of(own), &before_own, &status);
}

void gl_tools_pause_own(void) { sap_gl_native.leave(sap_gl_of(own), &before_own); }
void gl_tools_resume_own(void) {
    sap_status status;
    (void)sap_gl_native.enter(sap_gl_of(own), &before_own, &status);
}

void gl_tools_leave_own(void) {
    if (!own) return;
    sap_gl_native.leave(sap_gl_of(own), &before_own);
    sap_device_close(own);
    own = NULL;
}

uint32_t gl_tools_make_framebuffer(int32_t width, int32_t height) {
    const sap_gl_calls* f = &sap_gl_of(own)->calls;
    GLuint texture = 0, framebuffer = 0;
    f->GenTextures(1, &texture);
    f->BindTexture(GL_TEXTURE_2D, texture);
    f->TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, width, height);
    f->GenFramebuffers(1, &framebuffer);
    f->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    f->BindFramebuffer(GL_FRAMEBUFFER, 0);
    return framebuffer;
}

void gl_tools_read_framebuffer(uint32_t framebuffer, int32_t width, int32_t height, uint8_t* pixels) {
    const sap_gl_calls* f = &sap_gl_of(own)->calls;
    f->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    f->PixelStorei(GL_PACK_ALIGNMENT, 4);
    f->ReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

void gl_tools_set_state(void) {
    const sap_gl_calls* f = &sap_gl_of(own)->calls;
    f->GenTextures(1, &own_texture);
    f->ActiveTexture(GL_TEXTURE3);
    f->BindTexture(GL_TEXTURE_2D, own_texture);
    f->BindVertexArray(0);
    f->Viewport(1, 2, 3, 4);
    f->Enable(GL_BLEND);
    f->PixelStorei(GL_PACK_ALIGNMENT, 8);
    f->PixelStorei(GL_UNPACK_ROW_LENGTH, 5);
    if (sap_gl_native.is_browser) f->PixelStorei(FLIP_Y, 1);
    f->Enable(GL_SCISSOR_TEST);
    f->GenTextures(1, &own_volume);
    f->BindTexture(GL_TEXTURE_3D, own_volume);
    f->ColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
}

bool gl_tools_state_kept(void) {
    const sap_gl_calls* f = &sap_gl_of(own)->calls;
    GLint unit = 0, texture = 0, viewport[4] = {0, 0, 0, 0}, alignment = 0, program = 0, framebuffer = 0, vertices = 0;
    GLint row_length = 0, flip = 1, volume = 0;
    GLboolean mask[4] = {1, 1, 1, 1};
    f->GetIntegerv(GL_UNPACK_ROW_LENGTH, &row_length);
    if (sap_gl_native.is_browser) f->GetIntegerv(FLIP_Y, &flip);
    f->GetIntegerv(GL_TEXTURE_BINDING_3D, &volume);
    if (row_length != 5 || flip != 1 || volume != (GLint)own_volume || !f->IsEnabled(GL_SCISSOR_TEST)) return false;
    f->GetIntegerv(GL_ACTIVE_TEXTURE, &unit);
    f->GetIntegerv(GL_TEXTURE_BINDING_2D, &texture);
    f->GetIntegerv(GL_VIEWPORT, viewport);
    f->GetIntegerv(GL_PACK_ALIGNMENT, &alignment);
    f->GetIntegerv(GL_CURRENT_PROGRAM, &program);
    f->GetIntegerv(GL_FRAMEBUFFER_BINDING, &framebuffer);
    f->GetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertices);
    f->GetBooleanv(GL_COLOR_WRITEMASK, mask);
    return unit == GL_TEXTURE3 && texture == (GLint)own_texture && viewport[0] == 1 && viewport[1] == 2 &&
           viewport[2] == 3 && viewport[3] == 4 && alignment == 8 && !program && !framebuffer && !vertices &&
           f->IsEnabled(GL_BLEND) && !mask[0] && mask[1] && !mask[2] && mask[3] && f->GetError() == GL_NO_ERROR;
}

#if defined(__EMSCRIPTEN__)

// In a browser devices take the context that is current: all tests share one, for there are few at a time.
static EMSCRIPTEN_WEBGL_CONTEXT_HANDLE make_context(const char* canvas, int version) {
    EmscriptenWebGLContextAttributes attributes;
    emscripten_webgl_init_context_attributes(&attributes);
    attributes.majorVersion = version;
    return emscripten_webgl_create_context(canvas, &attributes);
}

static EMSCRIPTEN_WEBGL_CONTEXT_HANDLE new, old;

__attribute__((constructor)) static void enter_new(void) {
    if (!new) new = make_context("#new", 2);
    (void)emscripten_webgl_make_context_current(new);
}

bool gl_tools_in_browser(void) { return true; }

bool gl_tools_enter_old(void) {
    if (!old) old = make_context("#old", 1);
    gl_tools.old = old > 0 && emscripten_webgl_make_context_current(old) == EMSCRIPTEN_RESULT_SUCCESS;
    return gl_tools.old;
}

void gl_tools_leave_old(void) {
    gl_tools.old = false;
    enter_new();
}

#else

bool gl_tools_in_browser(void) { return false; }

bool gl_tools_enter_old(void) {
    gl_tools.old = gl_tools_present();
    return gl_tools.old;
}

void gl_tools_leave_old(void) { gl_tools.old = false; }

#endif

#else

bool gl_tools_present(void) { return false; }

#endif
