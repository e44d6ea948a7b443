// Calls on OpenGL ES contexts: entering and leaving them, the caller's state, and what OpenGL says went wrong.
#include "base/assert.h"
#include "device/gl.h"
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const GLenum tests[8] = {GL_BLEND,        GL_CULL_FACE,    GL_DEPTH_TEST,      GL_DITHER,
                                GL_SCISSOR_TEST, GL_STENCIL_TEST, GL_SAMPLE_COVERAGE, GL_RASTERIZER_DISCARD};
static const GLenum packs[4] = {GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS};
static const GLenum unpacks[6] = {GL_UNPACK_ALIGNMENT,   GL_UNPACK_ROW_LENGTH,   GL_UNPACK_SKIP_ROWS,
                                  GL_UNPACK_SKIP_PIXELS, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_SKIP_IMAGES};

// WebGL's own, which turns what is written upside down or multiplies it by its alpha.
static const GLenum browser_unpacks[2] = {0x9240, 0x9241}; // UNPACK_FLIP_Y_WEBGL, UNPACK_PREMULTIPLY_ALPHA_WEBGL

// How much of that state there is: OpenGL ES 2.0 has one framebuffer bound, no buffers of pixels, no samplers and no
// 3-D textures.
typedef struct extent {
    int tests, packs, unpacks, browser_unpacks, units;
    bool whole;
} extent;

static extent extent_of(const sap_gl* gl) {
    const int browser = gl->platform->is_browser ? 2 : 0;
    return gl->version < 30 ? (extent){7, 1, 1, browser, SAP_GL_OLD_UNITS, false}
                            : (extent){8, 4, 6, browser, SAP_GL_UNITS, true};
}

static GLuint name_of(GLint value) { return (GLuint)value; }

static void save(const sap_gl* gl, sap_gl_found* found) {
    const sap_gl_calls* f = &gl->calls;
    const extent has = extent_of(gl);
    SAP_ASSERT(!gl->own_context && gl->version > 0);
    f->GetIntegerv(GL_CURRENT_PROGRAM, &found->program);
    f->GetIntegerv(GL_FRAMEBUFFER_BINDING, &found->draw_framebuffer);
    f->GetIntegerv(GL_VERTEX_ARRAY_BINDING, &found->vertices);
    f->GetIntegerv(GL_ARRAY_BUFFER_BINDING, &found->corners);
    f->GetIntegerv(GL_ACTIVE_TEXTURE, &found->unit);
    f->GetIntegerv(GL_VIEWPORT, found->viewport);
    f->GetBooleanv(GL_COLOR_WRITEMASK, found->mask);
    for (int i = 0; i < has.packs; i++) f->GetIntegerv(packs[i], &found->pack[i]);
    for (int i = 0; i < has.unpacks; i++) f->GetIntegerv(unpacks[i], &found->unpack[i]);
    for (int i = 0; i < has.browser_unpacks; i++) f->GetIntegerv(browser_unpacks[i], &found->browser_unpack[i]);
    for (int i = 0; i < has.tests; i++) found->tests[i] = f->IsEnabled(tests[i]);
    if (has.whole) {
        f->GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &found->read_framebuffer);
        f->GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &found->pack_buffer);
        f->GetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &found->unpack_buffer);
    }
    for (int i = 0; i < has.units; i++) {
        f->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        f->GetIntegerv(GL_TEXTURE_BINDING_2D, &found->texture[i]);
        if (has.whole) f->GetIntegerv(GL_TEXTURE_BINDING_3D, &found->texture_3d[i]);
        if (has.whole) f->GetIntegerv(GL_SAMPLER_BINDING, &found->sampler[i]);
    }
}

static void restore(const sap_gl* gl, const sap_gl_found* found) {
    const sap_gl_calls* f = &gl->calls;
    const extent has = extent_of(gl);
    f->UseProgram(name_of(found->program));
    f->BindFramebuffer(GL_FRAMEBUFFER, name_of(found->draw_framebuffer));
    f->BindVertexArray(name_of(found->vertices));
    f->BindBuffer(GL_ARRAY_BUFFER, name_of(found->corners));
    f->Viewport(found->viewport[0], found->viewport[1], found->viewport[2], found->viewport[3]);
    f->ColorMask(found->mask[0], found->mask[1], found->mask[2], found->mask[3]);
    for (int i = 0; i < has.packs; i++) f->PixelStorei(packs[i], found->pack[i]);
    for (int i = 0; i < has.unpacks; i++) f->PixelStorei(unpacks[i], found->unpack[i]);
    for (int i = 0; i < has.browser_unpacks; i++) f->PixelStorei(browser_unpacks[i], found->browser_unpack[i]);
    for (int i = 0; i < has.tests; i++) (found->tests[i] ? f->Enable : f->Disable)(tests[i]);
    if (has.whole) {
        f->BindFramebuffer(GL_READ_FRAMEBUFFER, name_of(found->read_framebuffer));
        f->BindBuffer(GL_PIXEL_PACK_BUFFER, name_of(found->pack_buffer));
        f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, name_of(found->unpack_buffer));
    }
    for (int i = 0; i < has.units; i++) {
        f->ActiveTexture(GL_TEXTURE0 + (GLenum)i);
        f->BindTexture(GL_TEXTURE_2D, name_of(found->texture[i]));
        if (has.whole) f->BindTexture(GL_TEXTURE_3D, name_of(found->texture_3d[i]));
        if (has.whole) f->BindSampler((GLuint)i, name_of(found->sampler[i]));
    }
    f->ActiveTexture((GLenum)found->unit);
}

// The state that all passes need.
static void prepare(const sap_gl* gl) {
    const sap_gl_calls* f = &gl->calls;
    const extent has = extent_of(gl);
    if (has.whole) f->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if (has.whole) f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    f->ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    for (int i = 0; i < has.packs; i++) f->PixelStorei(packs[i], i == 0);
    for (int i = 0; i < has.unpacks; i++) f->PixelStorei(unpacks[i], i == 0);
    for (int i = 0; i < has.browser_unpacks; i++) f->PixelStorei(browser_unpacks[i], 0);
    for (int i = 0; i < has.tests; i++) f->Disable(tests[i]);
    for (GLuint i = 0; i < SAP_GL_UNITS && has.whole; i++) f->BindSampler(i, 0);
}

// The version as 10 * major + minor; 0: no OpenGL ES.
static int version_of(const sap_gl* gl) {
    const char* text = (const char*)gl->calls.GetString(GL_VERSION);
    int major = 0, minor = 0;
    if (!text || sscanf(text, "OpenGL ES %d.%d", &major, &minor) != 2) return 0; // NOLINT(cert-err34-c): checked below
    return major >= 0 && major < 100 && minor >= 0 && minor < 10 ? 10 * major + minor : 0;
}

void sap_gl_fail(sap_gl_call* call, sap_status status, const char* format, ...) {
    SAP_ASSERT(status != SAP_OK);
    if (call->status != SAP_OK) return;
    va_list values;
    va_start(values, format);
    vsnprintf(call->sentence, sizeof call->sentence, format, values); // NOLINT(clang-analyzer-valist.Uninitialized)
    va_end(values);
    call->status = status;
}

// OpenGL's error and WebGL's, which is reported just once.
static bool tells_loss(GLenum error) { return error == GL_CONTEXT_LOST || error == 0x9242; }

static void lose(sap_gl_call* call, const char* doing) {
    call->gl->lost = true;
    sap_gl_fail(call, SAP_ERROR_DEVICE_LOST, "the OpenGL context was lost while %s", doing);
}

bool sap_gl_check(sap_gl_call* call, const char* doing) {
    if (!call->entered || call->gl->lost) return call->status == SAP_OK;
    // A lost context may report its loss for ever.
    for (int i = 0; i < 16; i++) {
        GLenum error = call->f->GetError();
        if (error == GL_NO_ERROR) break;
        if (tells_loss(error)) {
            lose(call, doing);
            break;
        }
        if (error == GL_OUT_OF_MEMORY)
            sap_gl_fail(call, SAP_ERROR_DEVICE_MEMORY, "OpenGL has no memory for %s", doing);
        else
            sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "OpenGL refused with error 0x%04x while %s", (unsigned)error,
                        doing);
    }
    // Browsers report a loss by GetError just once, and the program may have seen it.
    if (!call->gl->lost && call->gl->platform->lost && call->gl->platform->lost(call->gl)) lose(call, doing);
    return call->status == SAP_OK;
}

bool sap_gl_check_pass(sap_gl_call* call, const char* doing) {
    return call->f->check_passes ? sap_gl_check(call, doing) : call->status == SAP_OK;
}

static uintptr_t this_thread(void) { return (uintptr_t)pthread_self(); }

// Waits until no other thread has a call on the context; false if this thread has one.
static bool take_context(sap_gl* gl) {
    if (__atomic_load_n(&gl->owner, __ATOMIC_RELAXED) == this_thread()) return false;
    while (__atomic_exchange_n(&gl->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
    __atomic_store_n(&gl->owner, this_thread(), __ATOMIC_RELAXED);
    return true;
}

static void give_context(sap_gl* gl) {
    SAP_ASSERT(__atomic_load_n(&gl->owner, __ATOMIC_RELAXED) == this_thread());
    __atomic_store_n(&gl->owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&gl->lock, 0, __ATOMIC_RELEASE);
}

sap_status sap_gl_begin(sap_gl_call* call, const sap_device* device) {
    memset(call, 0, sizeof *call);
    sap_gl* gl = sap_gl_of(device);
    call->device = (sap_device*)(uintptr_t)device;
    call->gl = gl;
    call->f = &gl->calls;
    call->nested = !take_context(gl);
    sap_status why_not = SAP_OK;
    if (call->nested) {
        sap_gl_fail(call, SAP_ERROR_ARGUMENT, "a callback called the OpenGL device that had called it");
    } else if (gl->lost) {
        sap_gl_fail(call, SAP_ERROR_DEVICE_LOST, "the OpenGL context was lost; close the device");
    } else if (!gl->platform->enter(gl, &call->before, &why_not)) {
        if (why_not == SAP_ERROR_DEVICE_LOST)
            lose(call, "becoming current");
        else
            sap_gl_fail(call, why_not, "%s",
                        gl->own_context
                            ? "the device's context cannot become current on this thread; it may be current on another"
                            : "the context that was current when the device was opened is not current here");
    } else {
        call->entered = true;
        if (!gl->version) gl->version = version_of(gl);
        if (!gl->own_context) {
            GLenum error = GL_NO_ERROR; // of the caller's calls
            for (int i = 0; i < 16 && !tells_loss(error); i++)
                if ((error = gl->calls.GetError()) == GL_NO_ERROR) break;
            if (tells_loss(error))
                lose(call, "becoming current");
            else
                save(gl, &call->found);
        }
        if (!gl->lost) prepare(gl);
    }
    return call->status;
}

sap_status sap_gl_end(sap_gl_call* call, sap_status status) {
    sap_gl* gl = call->gl;
    SAP_ASSERT(!(call->nested && call->entered));
    if (call->entered) {
        sap_gl_check(call, "working");
        if (!gl->own_context && !gl->lost) restore(gl, &call->found);
        gl->platform->leave(gl, &call->before);
    }
    if (!call->nested) give_context(gl);
    if (call->sentence[0]) sap_fail(call->device, call->status, "%s", call->sentence);
    return call->status != SAP_OK ? call->status : status;
}

void sap_gl_report(sap_gl_call* call, double done) {
    sap_device* device = call->device;
    if (call->status != SAP_OK || !device->options.progress) return;
    const sap_status ended = sap_gl_end(call, SAP_OK);
    const bool goes_on = ended != SAP_OK || sap_progress_report(device, done);
    if (sap_gl_begin(call, device) == SAP_OK) call->status = ended; // its sentence has been logged
    if (!goes_on) sap_gl_fail(call, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}
