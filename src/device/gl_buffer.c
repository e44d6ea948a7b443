// Buffers that compute shaders read and write, and the way of what they and textures hold to host memory: through one
// buffer that lies there already, kept from call to call, and mapped for as long as it is kept where a context allows
// for that. Other reads convert and copy texels on the way, at a small part of the speed of the bus.
#include "base/assert.h"
#include "device/gl.h"
#include <string.h>

enum {
    SHADER_STORAGE_BUFFER = 0x90D2,
    SHADER_STORAGE_BUFFER_BINDING = 0x90D3,
    SHADER_STORAGE_BUFFER_START = 0x90D4,
    SHADER_STORAGE_BUFFER_SIZE = 0x90D5,
    MAP_PERSISTENT = 0x0040,
    MAP_COHERENT = 0x0080,
    CLIENT_STORAGE = 0x0200
};

static const GLuint64 second = 1000000000;

GLuint sap_gl_buffer(sap_gl_call* call, int64_t bytes, const char* what) {
    const sap_gl_calls* f = call->f;
    GLuint buffer = 0;
    SAP_ASSERT(bytes > 0 && sap_gl_has_buffers(call->gl));
    if (call->status == SAP_OK && bytes > call->gl->most_buffer)
        sap_gl_fail(call, SAP_ERROR_RANGE, "%s: a buffer of %lld bytes; GL_MAX_SHADER_STORAGE_BLOCK_SIZE here is %lld",
                    what, (long long)bytes, (long long)call->gl->most_buffer);
    if (call->status != SAP_OK) return 0;
    f->GenBuffers(1, &buffer);
    // The caller's binding of this target is put back at the end of a call.
    f->BindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    f->BufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)bytes, NULL, GL_DYNAMIC_COPY);
    f->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if (sap_gl_check(call, what) && buffer) return buffer;
    sap_gl_fail(call, SAP_ERROR_DEVICE_MEMORY, "OpenGL gave no buffer for %s", what);
    sap_gl_buffer_free(call, buffer);
    return 0;
}

void sap_gl_buffer_free(sap_gl_call* call, GLuint buffer) {
    if (buffer && call->entered && !call->gl->lost) call->f->DeleteBuffers(1, &buffer);
}

// ---- Compute shaders

// What a binding for shaders holds: its buffer, and the part of it, 0 bytes for all.
typedef struct storage_unit {
    GLint buffer, from, bytes;
} storage_unit;

static storage_unit find_unit(const sap_gl_calls* f, GLuint unit) {
    storage_unit found = {0, 0, 0};
    f->GetIntegeri_v(SHADER_STORAGE_BUFFER_BINDING, unit, &found.buffer);
    f->GetIntegeri_v(SHADER_STORAGE_BUFFER_START, unit, &found.from);
    f->GetIntegeri_v(SHADER_STORAGE_BUFFER_SIZE, unit, &found.bytes);
    return found;
}

static void restore_unit(const sap_gl_calls* f, GLuint unit, storage_unit found) {
    if (found.buffer && found.bytes > 0)
        f->BindBufferRange(SHADER_STORAGE_BUFFER, unit, (GLuint)found.buffer, found.from, found.bytes);
    else
        f->BindBufferBase(SHADER_STORAGE_BUFFER, unit, (GLuint)found.buffer);
}

void sap_gl_compute(sap_gl_call* call, const sap_gl_dispatch* dispatch) {
    const sap_gl_calls* f = call->f;
    storage_unit found[SAP_GL_BUFFERS];
    GLint bound = 0;
    if (call->status != SAP_OK) return;
    sap_gl_pass pass = {.program = dispatch->program};
    memcpy(pass.input, dispatch->input, sizeof pass.input);
    sap_gl_use(call, &pass);
    const bool borrowed = !call->gl->own_context;
    if (borrowed) f->GetIntegerv(SHADER_STORAGE_BUFFER_BINDING, &bound);
    for (GLuint i = 0; i < SAP_GL_BUFFERS && borrowed; i++) found[i] = find_unit(f, i);
    for (GLuint i = 0; i < SAP_GL_BUFFERS; i++)
        if (dispatch->buffer[i]) f->BindBufferBase(SHADER_STORAGE_BUFFER, i, dispatch->buffer[i]);
    const int64_t rows = (dispatch->groups + SAP_GL_GROUPS - 1) / SAP_GL_GROUPS;
    SAP_ASSERT(dispatch->groups > 0 && rows <= UINT16_MAX);
    f->DispatchCompute((GLuint)(rows > 1 ? SAP_GL_GROUPS : dispatch->groups), (GLuint)rows, 1);
    f->MemoryBarrier(0xFFFFFFFFu); // for all later reads of the buffers
    for (GLuint i = 0; i < SAP_GL_BUFFERS && borrowed; i++) restore_unit(f, i, found[i]);
    if (borrowed) f->BindBuffer(SHADER_STORAGE_BUFFER, (GLuint)bound);
    sap_gl_check_pass(call, dispatch->name);
}

// ---- Reading

// Of its buffer in host memory; deleting it ends that it is mapped.
static void free_landing(sap_gl_call* call) {
    sap_gl_landing* landing = &call->gl->landing;
    sap_gl_buffer_free(call, landing->buffer);
    landing->buffer = 0;
    landing->bytes = 0;
    landing->mapped = NULL;
}

void sap_gl_free_landing(sap_gl_call* call) {
    free_landing(call);
    sap_gl_buffer_free(call, call->gl->landing.source);
    sap_gl_buffer_free(call, call->gl->landing.start);
    call->gl->landing = (sap_gl_landing){.buffer = 0};
}

GLuint sap_gl_kept_buffer(sap_gl_call* call, int64_t bytes) {
    sap_gl_landing* landing = &call->gl->landing;
    if (landing->source_bytes >= bytes) return landing->source;
    sap_gl_buffer_free(call, landing->source);
    landing->source = sap_gl_buffer(call, bytes, "answers");
    landing->source_bytes = landing->source ? bytes : 0;
    return landing->source;
}

// Makes room for so many bytes, and leaves the buffer bound for what is packed.
static bool make_landing(sap_gl_call* call, int64_t bytes) {
    static const char what[] = "what is read back";
    const GLbitfield kept = GL_MAP_READ_BIT | MAP_PERSISTENT | MAP_COHERENT;
    const sap_gl_calls* f = call->f;
    sap_gl_landing* landing = &call->gl->landing;
    SAP_ASSERT(bytes > 0);
    if (call->status != SAP_OK) return false;
    if (landing->bytes >= bytes) {
        f->BindBuffer(GL_PIXEL_PACK_BUFFER, landing->buffer);
        return true;
    }
    free_landing(call);
    f->GenBuffers(1, &landing->buffer);
    f->BindBuffer(GL_PIXEL_PACK_BUFFER, landing->buffer);
    if (call->gl->keeps_mapped) {
        f->BufferStorageEXT(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)bytes, NULL, kept | CLIENT_STORAGE);
        if (sap_gl_check(call, what))
            landing->mapped = f->MapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes, kept);
    } else {
        f->BufferData(GL_PIXEL_PACK_BUFFER, (GLsizeiptr)bytes, NULL, GL_STREAM_READ);
    }
    if (sap_gl_check(call, what) && (landing->mapped || !call->gl->keeps_mapped)) {
        landing->bytes = bytes;
        return true;
    }
    sap_gl_fail(call, SAP_ERROR_DEVICE_MEMORY, "OpenGL gave no buffer for %s", what);
    free_landing(call);
    return false;
}

// Waits for all that has been asked of the GPU.
static void wait(sap_gl_call* call) {
    const sap_gl_calls* f = call->f;
    GLsync done = f->FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    GLenum state = GL_TIMEOUT_EXPIRED;
    while (done && state == GL_TIMEOUT_EXPIRED && sap_gl_check_pass(call, "waiting for the GPU"))
        state = f->ClientWaitSync(done, GL_SYNC_FLUSH_COMMANDS_BIT, second);
    if (done) f->DeleteSync(done);
    if (!done || state == GL_WAIT_FAILED) f->Finish();
}

// What has been copied into the bound buffer, once it is there.
static const void* land(sap_gl_call* call, int64_t bytes, const char* doing) {
    const sap_gl_landing* landing = &call->gl->landing;
    const void* at = landing->mapped;
    if (at)
        wait(call);
    else
        at = call->f->MapBufferRange(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
    if (sap_gl_check(call, doing) && at) return at;
    sap_gl_fail(call, SAP_ERROR_DEVICE_MEMORY, "OpenGL maps no buffer for what is read back");
    sap_gl_buffer_landed(call);
    return NULL;
}

const void* sap_gl_buffer_land(sap_gl_call* call, GLuint buffer, int64_t from, int64_t bytes) {
    enum { COPY_READ_BINDING = 0x8F36 };
    const sap_gl_calls* f = call->f;
    GLint bound = 0;
    if (!make_landing(call, bytes)) return NULL;
    if (!call->gl->own_context) f->GetIntegerv(COPY_READ_BINDING, &bound);
    f->BindBuffer(GL_COPY_READ_BUFFER, buffer);
    f->CopyBufferSubData(GL_COPY_READ_BUFFER, GL_PIXEL_PACK_BUFFER, (GLintptr)from, 0, (GLsizeiptr)bytes);
    f->BindBuffer(GL_COPY_READ_BUFFER, (GLuint)bound);
    return land(call, bytes, "reading a buffer");
}

const void* sap_gl_texture_land(sap_gl_call* call, const sap_gl_format* format, const int32_t rectangle[4]) {
    const int64_t bytes = (int64_t)rectangle[2] * rectangle[3] * format->read_bytes;
    if (!make_landing(call, bytes)) return NULL;
    call->f->ReadPixels(rectangle[0], rectangle[1], rectangle[2], rectangle[3], format->read_format, format->read_type,
                        NULL);
    return land(call, bytes, "reading a texture");
}

void sap_gl_buffer_landed(sap_gl_call* call) {
    if (!call->entered || call->gl->lost) return;
    if (!call->gl->landing.mapped) (void)call->f->UnmapBuffer(GL_PIXEL_PACK_BUFFER);
    call->f->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void sap_gl_buffer_read(sap_gl_call* call, GLuint buffer, int64_t from, int64_t bytes, void* to) {
    const void* at = sap_gl_buffer_land(call, buffer, from, bytes);
    if (!at) return;
    memcpy(to, at, (size_t)bytes);
    sap_gl_buffer_landed(call);
}

// ---- Writing

void* sap_gl_start(sap_gl_call* call, int64_t bytes) {
    const GLbitfield kept = GL_MAP_WRITE_BIT | MAP_PERSISTENT | MAP_COHERENT;
    const sap_gl_calls* f = call->f;
    sap_gl_landing* l = &call->gl->landing;
    SAP_ASSERT(bytes > 0);
    if (call->status != SAP_OK || !call->gl->keeps_mapped || bytes > SAP_GL_LANDED) return NULL;
    if (l->start_taken) wait(call);
    l->start_taken = false;
    if (l->start_bytes < bytes) {
        sap_gl_buffer_free(call, l->start);
        l->start_bytes = 0;
        l->start_mapped = NULL;
        f->GenBuffers(1, &l->start);
        f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, l->start);
        f->BufferStorageEXT(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, NULL, kept | CLIENT_STORAGE);
        if (sap_gl_check(call, "what is written"))
            l->start_mapped = f->MapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)bytes, kept);
        if (l->start_mapped) l->start_bytes = bytes;
    }
    f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, l->start_mapped ? l->start : 0);
    return l->start_mapped;
}

void sap_gl_started(sap_gl_call* call) {
    if (!call->entered || call->gl->lost) return;
    call->gl->landing.start_taken = true;
    call->f->BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}
