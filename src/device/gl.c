// OpenGL ES contexts as a processor: opening, closing and describing them.
#include "device/gl.h"
#include "device/gl_device.h"
#include <stdio.h>
#include <string.h>

enum {
    MAX_COMPUTE_IMAGE_UNIFORMS = 0x91BD,
    MAX_COMPUTE_SHADER_STORAGE_BLOCKS = 0x90DB,
    MAX_COMPUTE_WORK_GROUP_INVOCATIONS = 0x90EB,
    MAX_SHADER_STORAGE_BLOCK_SIZE = 0x90DE
};

static int32_t limit_of(const sap_gl* gl, GLenum which) {
    GLint value = 0;
    gl->calls.GetIntegerv(which, &value);
    return value;
}

static void make_corners(sap_gl* gl) {
    static const float corners[6] = {-1, -1, 3, -1, -1, 3};
    const sap_gl_calls* f = &gl->calls;
    f->GenVertexArrays(1, &gl->vertices);
    f->GenBuffers(1, &gl->corners);
    f->GenFramebuffers(1, &gl->framebuffer);
    f->BindVertexArray(gl->vertices);
    f->BindBuffer(GL_ARRAY_BUFFER, gl->corners);
    f->BufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    f->EnableVertexAttribArray(0);
    f->VertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
}

// Whether a context has what is called of OpenGL ES 2.0.
static bool is_old_enough(sap_gl_call* call) {
    if (call->gl->version >= 30) return true;
    if (call->gl->version < 20)
        sap_gl_fail(call, SAP_ERROR_NO_DEVICE, "the context is not of OpenGL ES 2.0 or later");
    else if (!call->gl->platform->has(call->gl, "GL_OES_vertex_array_object"))
        sap_gl_fail(call, SAP_ERROR_NO_DEVICE, "the context has no GL_OES_vertex_array_object");
    return call->status == SAP_OK;
}

static bool writes_floats(const sap_gl* gl) {
    if (gl->version >= 32) return true;
    if (gl->version >= 30) return gl->platform->has(gl, "GL_EXT_color_buffer_float");
    return gl->platform->has(gl, "GL_OES_texture_float") && gl->platform->has(gl, "GL_WEBGL_color_buffer_float");
}

// Whether compute shaders have buffers, and buffers can be read; of OpenGL ES 3.1 all of it.
static void explore_buffers(sap_gl* gl) {
    const sap_gl_calls* f = &gl->calls;
    const bool all = f->BindBufferBase && f->BindBufferRange && f->CopyBufferSubData && f->DrawElementsIndirect &&
                     f->FenceSync && f->ClientWaitSync && f->DeleteSync && f->MapBufferRange && f->UnmapBuffer;
    if (gl->version < 31 || !all || limit_of(gl, MAX_COMPUTE_SHADER_STORAGE_BLOCKS) < SAP_GL_BUFFERS ||
        limit_of(gl, MAX_COMPUTE_WORK_GROUP_INVOCATIONS) < SAP_GL_GROUP)
        return;
    const int32_t most = limit_of(gl, MAX_SHADER_STORAGE_BLOCK_SIZE);
    gl->most_buffer = most > 0 ? most : INT32_MAX; // 2^31 and more, in 32 bits
    gl->keeps_mapped = f->BufferStorageEXT && gl->platform->has(gl, "GL_EXT_buffer_storage");
}

// Asks an entered context what it can do, and makes what all passes need.
static void explore(sap_gl_call* call) {
    sap_gl* gl = call->gl;
    if (!is_old_enough(call)) return;
    gl->most_texture = limit_of(gl, GL_MAX_TEXTURE_SIZE);
    gl->most_targets = 1;
    gl->float_targets = writes_floats(gl);
    if (gl->version >= 30) {
        int32_t buffers = limit_of(gl, GL_MAX_DRAW_BUFFERS), attachments = limit_of(gl, GL_MAX_COLOR_ATTACHMENTS);
        gl->most_3d = limit_of(gl, GL_MAX_3D_TEXTURE_SIZE);
        gl->most_targets = buffers < attachments ? buffers : attachments;
        if (gl->most_targets > SAP_GL_TARGETS) gl->most_targets = SAP_GL_TARGETS;
    }
    bool computes = gl->calls.BindImageTexture && gl->calls.DispatchCompute && gl->calls.MemoryBarrier;
    if (gl->version >= 31 && computes) gl->most_images = limit_of(gl, MAX_COMPUTE_IMAGE_UNIFORMS);
    if (computes) explore_buffers(gl);
    const char* name = gl->name[0] ? NULL : (const char*)gl->calls.GetString(GL_RENDERER);
    if (name) snprintf(gl->name, sizeof gl->name, "%s", name);
    // Mesa's software ends all loops of a shader after 65535 rounds of them together (its lp_bld_limits.h). Browsers
    // may hide that it is theirs.
    bool ends = strstr(gl->name, "llvmpipe") || strstr(gl->name, "softpipe") || gl->platform->is_browser;
    gl->most_rounds = ends ? 65000 : INT32_MAX;
    make_corners(gl);
    if (sap_gl_check(call, "opening a device") && !gl->float_targets)
        sap_fail(call->device, SAP_OK,
                 "this context cannot write textures of floats (GL_EXT_color_buffer_float): floats travel in textures "
                 "of integers or bytes");
}

void sap_gl_close(sap_device* device) {
    sap_gl* gl = sap_gl_of(device);
    sap_gl_call call;
    if (gl->context && sap_gl_begin(&call, device) == SAP_OK) {
        for (int i = 0; i < gl->programs; i++) call.f->DeleteProgram(gl->program[i].program);
        call.f->DeleteVertexArrays(1, &gl->vertices);
        call.f->DeleteBuffers(1, &gl->corners);
        if (sap_gl_has_buffers(gl)) sap_gl_free_landing(&call);
        call.f->DeleteFramebuffers(1, &gl->framebuffer);
        gl->vertices = gl->corners = gl->framebuffer = 0;
    }
    if (gl->context) (void)sap_gl_end(&call, SAP_OK);
    gl->platform->close(device, gl);
    sap_device_close(gl->host);
    sap_memory_release(device, gl, sizeof *gl);
    device->processor_state = NULL;
}

// What a context does not do is done by a CPU device of the same options.
static sap_status open_host(sap_device* device, sap_gl* gl) {
    sap_device_options options = device->options;
    options.processor = SAP_CPU;
    options.ordinal = 0;
    sap_status status = sap_device_open(&options, &gl->host);
    sap_device_info info;
    if (status == SAP_OK) status = sap_device_describe(gl->host, &info);
    if (status == SAP_OK) device->options.threads = info.threads;
    return status;
}

sap_status sap_gl_open_with(sap_device* device, const sap_gl_platform* platform) {
    sap_gl* gl = sap_memory_allocate_zero(device, sizeof *gl);
    if (!gl) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a device");
    device->processor_state = gl;
    gl->platform = platform;
    gl->own_context = !device->options.current_context;
    sap_status status = open_host(device, gl);
    if (status == SAP_OK) status = platform->open(device, gl);
    if (status == SAP_OK) {
        sap_gl_call call;
        if (sap_gl_begin(&call, device) == SAP_OK) explore(&call);
        status = sap_gl_end(&call, SAP_OK);
        if (status == SAP_ERROR_DEVICE_LOST) status = SAP_ERROR_NO_DEVICE;
    } else {
        gl->context = NULL;
    }
    if (status != SAP_OK) sap_gl_close(device);
    return status;
}

sap_status sap_gl_open(sap_device* device) { return sap_gl_open_with(device, &sap_gl_native); }

sap_status sap_gl_describe_device(const sap_device* device, sap_device_info* info) {
    const sap_gl* gl = sap_gl_of(device);
    info->processor = SAP_GL;
    info->simd = SAP_SIMD_AUTO;
    info->threads = device->options.threads;
    info->ordinal = device->options.ordinal;
    info->scratch_bytes += sap_scratch_bytes(gl->host);
    memcpy(info->name, gl->name, sizeof info->name);
    return SAP_OK;
}

void sap_gl_trim(sap_device* device) {
    sap_gl* gl = sap_gl_of(device);
    sap_gl_call call;
    sap_device_trim(gl->host);
    if (!sap_gl_has_buffers(gl) || !(gl->landing.buffer || gl->landing.source || gl->landing.start)) return;
    if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_free_landing(&call);
    (void)sap_gl_end(&call, SAP_OK);
}

sap_status sap_gl_wait(sap_device* device) {
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK) call.f->Finish();
    return sap_gl_end(&call, SAP_OK);
}

void sap_gl_describe_context(const sap_device* device, sap_gl_info* info) {
    const sap_gl* gl = sap_gl_of(device);
    *info = (sap_gl_info){.max_texture_size = gl->most_texture,
                          .max_draw_buffers = gl->most_targets,
                          .float_targets = gl->float_targets,
                          .version = gl->version};
}
