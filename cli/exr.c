// Linear light as OpenEXR, where the build has its library: floats, packed without loss.
#include "file.h"

#if defined(SAP_HAVE_OPENEXR)
#include <openexr.h>
#include <stdlib.h>
#include <string.h>

enum { COLORS = 3 };

// A file in memory: the table of offsets at its beginning is written last, which a pipe would not allow.
typedef struct exr_bytes {
    uint8_t* memory;
    size_t used, room;
} exr_bytes;

static int64_t put(exr_const_context_t context, void* user, const void* from, uint64_t size, uint64_t offset,
                   exr_stream_error_func_ptr_t fail) {
    exr_bytes* b = user;
    if (size > SIZE_MAX / 4 || offset > SIZE_MAX / 4) return fail(context, EXR_ERR_OUT_OF_MEMORY, "too large"), -1;
    const size_t end = (size_t)(offset + size);
    if (end > b->room) {
        const size_t room = 2 * end;
        uint8_t* memory = realloc(b->memory, room);
        if (!memory) return fail(context, EXR_ERR_OUT_OF_MEMORY, "no memory"), -1;
        memset(memory + b->room, 0, room - b->room);
        b->memory = memory;
        b->room = room;
    }
    memcpy(b->memory + offset, from, (size_t)size);
    if (end > b->used) b->used = end;
    return (int64_t)size;
}

// What goes wrong is told by the caller.
static void say_nothing(exr_const_context_t context, exr_result_t code, const char* sentence) {
    (void)context, (void)code, (void)sentence;
}

static bool put_header(exr_context_t context, int32_t width, int32_t height) {
    static const char* const names[COLORS] = {"R", "G", "B"};
    int part;
    bool good =
        exr_add_part(context, NULL, EXR_STORAGE_SCANLINE, &part) == EXR_ERR_SUCCESS &&
        exr_initialize_required_attr_simple(context, part, width, height, EXR_COMPRESSION_ZIP) == EXR_ERR_SUCCESS;
    for (int i = 0; i < COLORS && good; i++)
        good =
            exr_add_channel(context, part, names[i], EXR_PIXEL_FLOAT, EXR_PERCEPTUALLY_LINEAR, 1, 1) == EXR_ERR_SUCCESS;
    return good && exr_write_header(context) == EXR_ERR_SUCCESS;
}

// Some rows, from number y on. The pipeline is made with the first of them.
static bool put_rows(exr_context_t context, exr_encode_pipeline_t* pipeline, const float* light, int32_t width, int y) {
    exr_chunk_info_t chunk;
    if (exr_write_scanline_chunk_info(context, 0, y, &chunk) != EXR_ERR_SUCCESS) return false;
    const exr_result_t begun =
        y ? exr_encoding_update(context, 0, &chunk, pipeline) : exr_encoding_initialize(context, 0, &chunk, pipeline);
    if (begun != EXR_ERR_SUCCESS) return false;
    for (int i = 0; i < pipeline->channel_count; i++) {
        exr_coding_channel_info_t* c = &pipeline->channels[i];
        const int color = *c->channel_name == 'R' ? 0 : *c->channel_name == 'G' ? 1 : 2;
        c->user_pixel_stride = COLORS * (int32_t)sizeof *light;
        c->user_line_stride = width * c->user_pixel_stride;
        c->user_bytes_per_element = (int16_t)sizeof *light;
        c->user_data_type = EXR_PIXEL_FLOAT;
        c->encode_from_ptr = (const uint8_t*)(light + COLORS * (size_t)y * (size_t)width + color);
    }
    if (!y && exr_encoding_choose_default_routines(context, 0, pipeline) != EXR_ERR_SUCCESS) return false;
    return exr_encoding_run(context, 0, pipeline) == EXR_ERR_SUCCESS;
}

bool sap_cli_exr_write(FILE* stream, const float* light, int32_t width, int32_t height) {
    exr_bytes bytes = {NULL, 0, 0};
    exr_context_initializer_t how = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_encode_pipeline_t pipeline = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_context_t context;
    int32_t rows = 0;
    how.error_handler_fn = say_nothing;
    how.user_data = &bytes;
    how.write_fn = put;
    if (exr_start_write(&context, "picture", EXR_WRITE_FILE_DIRECTLY, &how) != EXR_ERR_SUCCESS) return false;
    bool written = put_header(context, width, height) &&
                   exr_get_scanlines_per_chunk(context, 0, &rows) == EXR_ERR_SUCCESS && rows > 0;
    for (int32_t y = 0; y < height && written; y += rows) written = put_rows(context, &pipeline, light, width, y);
    exr_encoding_destroy(context, &pipeline);
    written &= exr_finish(&context) == EXR_ERR_SUCCESS;
    written = written && fwrite(bytes.memory, 1, bytes.used, stream) == bytes.used;
    free(bytes.memory);
    return written;
}
#endif
