// Pictures as OpenEXR: what the command line writes is read back by OpenEXR's library, bit for bit.
#include "test.h"

#if defined(SAP_HAVE_OPENEXR)
#include "../cli/file.h"
#include "folder.h"
#include <math.h>
#include <openexr.h>
#include <stdlib.h>

// The colours of a file, as they lie in memory; NULL if they cannot be read.
static float* read_back(const char* path, int32_t width, int32_t height) {
    float* light = calloc((size_t)width * (size_t)height, 3 * sizeof *light);
    exr_context_initializer_t how = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_decode_pipeline_t pipeline = EXR_DECODE_PIPELINE_INITIALIZER;
    exr_context_t context;
    exr_attr_box2i_t window;
    int32_t rows = 1;
    CHECK(exr_start_read(&context, path, &how) == EXR_ERR_SUCCESS);
    CHECK(exr_get_data_window(context, 0, &window) == EXR_ERR_SUCCESS);
    CHECK(window.min.x == 0 && window.min.y == 0 && window.max.x == width - 1 && window.max.y == height - 1);
    CHECK(exr_get_scanlines_per_chunk(context, 0, &rows) == EXR_ERR_SUCCESS);
    for (int y = 0; y < height; y += rows) {
        exr_chunk_info_t chunk;
        CHECK(exr_read_scanline_chunk_info(context, 0, y, &chunk) == EXR_ERR_SUCCESS);
        CHECK((y ? exr_decoding_update(context, 0, &chunk, &pipeline)
                 : exr_decoding_initialize(context, 0, &chunk, &pipeline)) == EXR_ERR_SUCCESS);
        if (!CHECK_EQUAL(pipeline.channel_count, 3)) break;
        for (int i = 0; i < 3; i++) {
            exr_coding_channel_info_t* c = &pipeline.channels[i];
            CHECK(c->data_type == EXR_PIXEL_FLOAT && !strcmp(c->channel_name, i == 0 ? "B" : i == 1 ? "G" : "R"));
            c->decode_to_ptr = (uint8_t*)(light + 3 * (size_t)y * (size_t)width + (2 - i));
            c->user_pixel_stride = 12;
            c->user_line_stride = 12 * width;
            c->user_bytes_per_element = 4;
            c->user_data_type = EXR_PIXEL_FLOAT;
        }
        if (!y) CHECK(exr_decoding_choose_default_routines(context, 0, &pipeline) == EXR_ERR_SUCCESS);
        CHECK(exr_decoding_run(context, 0, &pipeline) == EXR_ERR_SUCCESS);
    }
    exr_decoding_destroy(context, &pipeline);
    exr_finish(&context);
    return light;
}

// Sizes around those of the rows that are packed together; all kinds of floats.
TEST(light_comes_back) {
    static const int32_t sizes[][2] = {{1, 1}, {3, 16}, {5, 17}, {16, 5}, {70, 40}};
    static const float odd[] = {0, -0.0f, 1e-42f, 3e38f, -1, INFINITY, NAN, 0.1f};
    folder f;
    char path[256];
    CHECK(folder_make(&f));
    snprintf(path, sizeof path, "%s/a.exr", f.path);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int32_t width = sizes[s][0], height = sizes[s][1];
        const size_t count = 3 * (size_t)width * (size_t)height;
        float* light = malloc(count * sizeof *light);
        for (size_t i = 0; i < count; i++) light[i] = i % 5 ? (float)i / 7 : odd[i / 5 % 8];
        FILE* file = fopen(path, "wb");
        NOTE("%d x %d", (int)width, (int)height);
        if (CHECK(file != NULL)) CHECK(sap_cli_exr_write(file, light, width, height) && fclose(file) == 0);
        float* back = read_back(path, width, height);
        CHECK(!memcmp(light, back, count * sizeof *light));
        free(back);
        free(light);
    }
    FILE* full = fopen("/dev/full", "wb");
    if (full) {
        const float white[3] = {1, 1, 1};
        CHECK(!sap_cli_exr_write(full, white, 1, 1) || fclose(full) != 0);
    }
    CHECK(remove(path) == 0);
    folder_remove(&f);
}
#else
TEST(pictures_as_openexr) { SKIP("this build has no OpenEXR"); }
#endif

TEST_MAIN()
