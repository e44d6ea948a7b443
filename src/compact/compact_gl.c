// sap_compact on OpenGL: flags go up four a texel, a histopyramid lists the numbers of those that are set, and the host
// moves their items. The flags are taken in parts, so that there is no limit to their number.
#include "base/assert.h"
#include "compact/pyramid_gl.h"
#include <string.h>

enum { WIDTH = 1024, PART = 1 << 22, ROWS = 16 }; // texels; flags of a part; rows of the list read at a time

static void upload(sap_gl_call* call, GLuint texture, const uint8_t* keep, int64_t count) {
    unsigned char last[4] = {0, 0, 0, 0};
    GLsizei rows = (GLsizei)(count / (4 * WIDTH)), texels = (GLsizei)(count / 4 % WIDTH);
    SAP_ASSERT(count >= 1 && count <= PART);
    if (call->status != SAP_OK) return;
    memcpy(last, keep + count / 4 * 4, (size_t)(count % 4));
    const struct {
        GLint x, y;
        GLsizei width, height;
        const uint8_t* from;
    } parts[3] = {{0, 0, WIDTH, rows, keep},
                  {0, rows, texels, 1, keep + (size_t)rows * 4 * WIDTH},
                  {texels, rows, count % 4 != 0, 1, last}};
    call->f->ActiveTexture(GL_TEXTURE0);
    call->f->BindTexture(GL_TEXTURE_2D, texture);
    for (int i = 0; i < 3; i++)
        if (parts[i].width && parts[i].height)
            call->f->TexSubImage2D(GL_TEXTURE_2D, 0, parts[i].x, parts[i].y, parts[i].width, parts[i].height,
                                   GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, parts[i].from);
    sap_gl_check_pass(call, "writing flags");
}

// Moves the items that a list names to `out`. None is overwritten before it is read: they only move down.
static void gather(sap_gl_call* call, const sap_gl_list* list, int64_t total, const unsigned char* items, size_t size,
                   uint32_t* texels, unsigned char* out) {
    int64_t at_once = (int64_t)ROWS * list->width;
    SAP_ASSERT(list->width <= SAP_PYRAMID_LIST_WIDTH || call->status != SAP_OK);
    for (int64_t done = 0; done < total; done += at_once) {
        int64_t count = total - done < at_once ? total - done : at_once;
        int32_t rows = (int32_t)((count + list->width - 1) / list->width);
        sap_gl_read(call, list->texture, GL_R32UI, 0, (int32_t[4]){0, (int32_t)(done / list->width), list->width, rows},
                    texels);
        for (int64_t i = 0; i < count && call->status == SAP_OK; i++, out += size)
            if (out != items + texels[4 * i] * size) memmove(out, items + texels[4 * i] * size, size);
    }
}

// The flags of one part, and all that is kept of it; out moves on.
static sap_status compact_part(sap_gl_pyramid* pyramid, GLuint flags, const sap_compact_job* job, int64_t first,
                               uint32_t* texels, int64_t* kept) {
    int64_t count = job->count - first < PART ? job->count - first : PART, total = 0;
    sap_gl_list list = {.texture = 0};
    sap_gl_call call;
    if (sap_gl_begin(&call, pyramid->device) == SAP_OK) upload(&call, flags, job->keep + first, count);
    sap_status status = sap_gl_end(&call, SAP_OK);
    pyramid->nodes[0] = (uint32_t)count; // the flags behind these are of an earlier part
    if (status == SAP_OK) status = sap_gl_compact(pyramid, flags, &list, &total);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, pyramid->device) == SAP_OK)
        gather(&call, &list, total, (const unsigned char*)job->items + (size_t)first * job->item_bytes, job->item_bytes,
               texels, (unsigned char*)job->out + (size_t)*kept * job->item_bytes);
    SAP_ASSERT(total >= 0 && total <= count);
    *kept += total;
    return sap_gl_end(&call, SAP_OK);
}

static sap_status compact_all(sap_device* device, const sap_compact_job* job, uint32_t* texels) {
    int64_t largest = job->count < PART ? job->count : PART, kept = 0;
    sap_gl_pyramid_options options = {
        .cells = SAP_GL_CELLS_UINT4, .width = WIDTH, .height = (int32_t)((largest - 1) / (4 * WIDTH)) + 1};
    sap_gl_pyramid* pyramid = NULL;
    GLuint flags = 0;
    sap_gl_call call;
    sap_status status = sap_gl_pyramid_create(device, &options, &pyramid);
    if (status != SAP_OK) return status;
    if (sap_gl_begin(&call, device) == SAP_OK)
        flags = sap_gl_texture(&call, GL_RGBA8UI, options.width, options.height, NULL, "flags");
    status = sap_gl_end(&call, SAP_OK);
    for (int64_t first = 0; first < job->count && status == SAP_OK; first += PART)
        status = compact_part(pyramid, flags, job, first, texels, &kept);
    if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_texture_free(&call, flags);
    (void)sap_gl_end(&call, SAP_OK);
    sap_gl_pyramid_free(pyramid);
    if (status == SAP_OK) *job->out_count = kept;
    return status;
}

sap_status sap_compact_gl(sap_device* device, const sap_compact_job* job) {
    if (!job->keep) { // shaders cannot compare items: the host does it
        sap_device* host = sap_gl_of(device)->host;
        return host->rooms.compact->compact(host, job);
    }
    if (job->count == 0) {
        *job->out_count = 0;
        return SAP_OK;
    }
    sap_scratch scratch;
    if (!sap_scratch_take(device, (size_t)16 * ROWS * SAP_PYRAMID_LIST_WIDTH, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to compact %lld items", (long long)job->count);
    sap_status status = compact_all(device, job, (uint32_t*)(void*)scratch.memory);
    sap_scratch_give(device, &scratch);
    return status;
}
