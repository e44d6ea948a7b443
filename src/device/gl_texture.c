// Textures: made within the context's limits, written and read.
#include "base/assert.h"
#include "device/gl.h"
#include <stddef.h>
#include <string.h>

enum { LANDED = 1 << 18 }; // bytes from which on they come by way of a buffer: fewer are there as soon

static const sap_gl_format formats[] = {
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2, GL_RGBA_INTEGER, GL_INT, 16},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {GL_R32I, GL_RED_INTEGER, GL_INT, 4, GL_RGBA_INTEGER, GL_INT, 16},
    {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 16, GL_RGBA_INTEGER, GL_INT, 16},
    {GL_R32F, GL_RED, GL_FLOAT, 4, GL_RGBA, GL_FLOAT, 16},
    {GL_RG32F, GL_RG, GL_FLOAT, 8, GL_RGBA, GL_FLOAT, 16},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16, GL_RGBA, GL_FLOAT, 16}};

const sap_gl_format* sap_gl_format_of(GLenum internal) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].internal == internal) return &formats[i];
    return NULL;
}

// A new texture, bound; its storage is still to be given.
static GLuint begin_texture(sap_gl_call* call, int32_t width, int32_t height, const char* what) {
    int32_t most = call->gl->most_texture;
    if (call->status != SAP_OK) return 0;
    if (width < 1 || height < 1 || width > most || height > most) {
        sap_gl_fail(call, SAP_ERROR_RANGE, "%s: a texture of %d x %d texels; GL_MAX_TEXTURE_SIZE here is %d", what,
                    (int)width, (int)height, (int)most);
        return 0;
    }
    GLuint texture = 0;
    call->f->GenTextures(1, &texture);
    call->f->ActiveTexture(GL_TEXTURE0);
    call->f->BindTexture(GL_TEXTURE_2D, texture);
    call->f->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    call->f->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    call->f->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    call->f->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

// OpenGL may have no memory for the storage: checked at once.
static GLuint end_texture(sap_gl_call* call, GLuint texture, const char* what) {
    if (sap_gl_check(call, what) && texture) return texture;
    sap_gl_fail(call, SAP_ERROR_DEVICE_MEMORY, "OpenGL gave no texture for %s", what);
    sap_gl_texture_free(call, texture);
    return 0;
}

GLuint sap_gl_texture(sap_gl_call* call, GLenum internal, int32_t width, int32_t height, const void* data,
                      const char* what) {
    GLuint texture = begin_texture(call, width, height, what);
    if (call->status != SAP_OK) return 0;
    const sap_gl_format* format = sap_gl_format_of(internal);
    SAP_ASSERT(format || !data);
    if (call->gl->version >= 30)
        call->f->TexStorage2D(GL_TEXTURE_2D, 1, internal, width, height);
    else if (internal == GL_RGBA8 || (internal == GL_RGBA32F && call->gl->float_targets))
        call->f->TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_RGBA, format->type, NULL);
    else
        sap_gl_fail(call, SAP_ERROR_UNSUPPORTED, "%s: OpenGL ES 2.0 (WebGL 1) has no such textures", what);
    if (data && sap_gl_check(call, what))
        call->f->TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, format->format, format->type, data);
    return end_texture(call, texture, what);
}

void sap_gl_write(sap_gl_call* call, GLuint texture, GLenum internal, int32_t level, const int32_t rectangle[4],
                  const void* data) {
    if (call->status != SAP_OK) return;
    const sap_gl_format* format = sap_gl_format_of(internal);
    SAP_ASSERT(format && rectangle[0] >= 0 && rectangle[1] >= 0);
    call->f->ActiveTexture(GL_TEXTURE0);
    call->f->BindTexture(GL_TEXTURE_2D, texture);
    call->f->TexSubImage2D(GL_TEXTURE_2D, level, rectangle[0], rectangle[1], rectangle[2], rectangle[3], format->format,
                           format->type, data);
    sap_gl_check_pass(call, "writing a texture");
}

void sap_gl_texture_free(sap_gl_call* call, GLuint texture) {
    if (texture && call->entered && !call->gl->lost) call->f->DeleteTextures(1, &texture);
}

bool sap_gl_array_size(sap_gl_call* call, int64_t count, const char* what, int32_t* width, int32_t* height) {
    int64_t most = call->gl->most_texture, w = 1;
    if (call->status != SAP_OK) return false;
    while (w * w < count && 2 * w <= most) w *= 2;
    int64_t h = count > 0 ? (count + w - 1) / w : 1;
    if (h > most)
        sap_gl_fail(call, SAP_ERROR_RANGE,
                    "%s: %lld texels do not fit into a texture; GL_MAX_TEXTURE_SIZE here is %lld", what,
                    (long long)count, (long long)most);
    SAP_ASSERT(w > 0 && (w & (w - 1)) == 0 && w <= most && w * h >= count);
    *width = (int32_t)w;
    *height = (int32_t)h;
    return call->status == SAP_OK;
}

GLuint sap_gl_array(sap_gl_call* call, GLenum internal, int64_t count, const void* data, const char* what) {
    int32_t width = 0, height = 0;
    if (!sap_gl_array_size(call, count, what, &width, &height)) return 0;
    const sap_gl_format* format = sap_gl_format_of(internal);
    GLuint texture = sap_gl_texture(call, internal, width, height, NULL, what);
    int32_t rows = (int32_t)(count / width), rest = (int32_t)(count % width);
    const unsigned char* bytes = data;
    if (rows) sap_gl_write(call, texture, internal, 0, (int32_t[4]){0, 0, width, rows}, bytes);
    if (rest)
        sap_gl_write(call, texture, internal, 0, (int32_t[4]){0, rows, rest, 1},
                     bytes + (size_t)rows * (size_t)width * (size_t)format->bytes);
    if (call->status == SAP_OK) return texture;
    sap_gl_texture_free(call, texture);
    return 0;
}

// By way of a buffer that is kept, some rows at a time.
static void read_landed(sap_gl_call* call, const sap_gl_format* format, const int32_t rectangle[4], unsigned char* to) {
    const int64_t row = (int64_t)rectangle[2] * format->read_bytes,
                  most = SAP_GL_LANDED / row > 1 ? SAP_GL_LANDED / row : 1;
    for (int64_t y = 0; y < rectangle[3]; y += most) {
        const int32_t rows = (int32_t)(rectangle[3] - y < most ? rectangle[3] - y : most);
        const int32_t part[4] = {rectangle[0], rectangle[1] + (int32_t)y, rectangle[2], rows};
        const void* at = sap_gl_texture_land(call, format, part);
        if (!at) return;
        memcpy(to + y * row, at, (size_t)(rows * row));
        sap_gl_buffer_landed(call);
    }
}

void sap_gl_read(sap_gl_call* call, GLuint texture, GLenum internal, int32_t level, const int32_t rectangle[4],
                 void* to) {
    if (call->status != SAP_OK) return;
    const sap_gl_format* format = sap_gl_format_of(internal);
    const sap_gl_calls* f = call->f;
    SAP_ASSERT(format && format->read_format && rectangle[0] >= 0 && rectangle[1] >= 0);
    f->BindFramebuffer(GL_FRAMEBUFFER, call->gl->framebuffer);
    f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, level);
    for (GLenum i = 1; i < (GLenum)call->gl->most_targets; i++)
        f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D, 0, 0);
    if (sap_gl_has_buffers(call->gl) && (int64_t)rectangle[2] * rectangle[3] * format->read_bytes >= LANDED) {
        read_landed(call, format, rectangle, to);
        return;
    }
    f->ReadPixels(rectangle[0], rectangle[1], rectangle[2], rectangle[3], format->read_format, format->read_type, to);
    sap_gl_check(call, "reading a texture");
}
