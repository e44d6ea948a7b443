// Contexts of OpenGL ES 2.0, which WebGL 1 gives: pictures of the nearest site and histopyramids in GLSL ES 1.00 are
// right there, and all else is refused with a sentence. Outside browsers a newer context claims to be that old.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "device/gl.h"
#include "gl_pictures.h"
#include "gl_tools.h"
#include "sapwood/sapwood.h"

static const char* const no_gl = "no OpenGL ES here";

// NULL: there is none. close_old follows in either case.
static sap_device* open_old(watch* w) {
    sap_device* device = NULL;
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    gl_tools_reset();
    if (CHECK(gl_tools_enter_old())) CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    return device;
}

static void close_old(sap_device* device, const watch* w) {
    sap_device_close(device);
    gl_tools_leave_old();
    CHECK_EQUAL(w->blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

TEST(is_described) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = open_old(&w);
    sap_gl_info info;
    CHECK_STATUS(sap_gl_describe(device, &info), SAP_OK);
    CHECK(info.version == 20 && info.max_draw_buffers == 1 && info.max_texture_size >= 1024);
    CHECK_STATUS(sap_device_wait(device), SAP_OK);
    close_old(device, &w);
}

TEST(pictures_of_the_nearest_site) {
    if (!gl_tools_present()) SKIP(no_gl);
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_SHELL, FAMILY_LATTICE, FAMILY_EQUAL};
    watch w = {0};
    sap_device *device = open_old(&w), *cpu = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        NOTE("%s", family_name(kinds[i]));
        cloud points = cloud_of_family(kinds[i], 400, 2, 32, 0, 5);
        sap_points rows = {points.coords, points.count, 2, 0};
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_tree_build(cpu, rows, &(sap_tree_options){.leaf_size = 1}, &tree), SAP_OK);
        check_sites(device, tree, &points);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    for (int32_t dims = 2; dims <= 3; dims++) {
        cloud whole = whole_sites(500, dims);
        check_exact_sites(device, &whole, SAP_AXIS_CYCLE, false);
        cloud_free(&whole);
    }
    sap_device_close(cpu);
    close_old(device, &w);
}

// A base of counts 0 ... 3, in bytes or in floats.
static GLuint make_base(sap_device* device, sap_gl_cells cells, int32_t width, int32_t height, uint32_t* counts) {
    int64_t texels = (int64_t)width * height;
    unsigned char* bytes = calloc((size_t)texels, 4);
    float* floats = calloc((size_t)texels, 16);
    uint32_t state = 7;
    sap_gl_call call;
    GLuint base = 0;
    for (int64_t i = 0; i < texels; i++) {
        state = state * 1664525u + 1013904223u;
        counts[i] = state >> 29 < 4 ? state >> 29 : 0;
        bytes[4 * i] = (unsigned char)counts[i];
        floats[4 * i] = (float)counts[i];
    }
    if (CHECK_STATUS(sap_gl_begin(&call, device), SAP_OK))
        base = cells == SAP_GL_CELLS_BYTE ? sap_gl_texture(&call, GL_RGBA8, width, height, bytes, "cells")
                                          : sap_gl_texture(&call, GL_RGBA32F, width, height, floats, "cells");
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    free(bytes);
    free(floats);
    return base;
}

// The list as cells, from floats or from bytes; -1: nothing.
static void read_cells(sap_device* device, const sap_gl_list* list, bool bytes, int64_t* cells) {
    size_t room = (size_t)list->width * (size_t)list->height;
    unsigned char* texels = malloc(room * 16);
    const float* floats = (const float*)(const void*)texels;
    sap_gl_call call;
    if (CHECK_STATUS(sap_gl_begin(&call, device), SAP_OK))
        sap_gl_read(&call, list->texture, bytes ? GL_RGBA8 : GL_RGBA32F, 0,
                    (int32_t[4]){0, 0, list->width, list->height}, texels);
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    for (size_t i = 0; i < room; i++) {
        const unsigned char* t = texels + 4 * i;
        int64_t packed = t[0] + 256 * t[1] + 65536 * t[2];
        cells[i] = bytes ? (t[3] == 255 ? -1 : packed) : (int64_t)floats[4 * i];
    }
    free(texels);
}

static void try_pyramid(sap_device* device, sap_gl_cells cells) {
    enum { WIDTH = 75, HEIGHT = 41, MOST = 1024 * 16 };
    static uint32_t counts[WIDTH * HEIGHT];
    static int64_t listed[MOST];
    sap_gl_pyramid_options options = {
        .form = SAP_GL_FLOAT, .cells = cells, .width = WIDTH, .height = HEIGHT, .most = 3};
    sap_gl_pyramid* pyramid = NULL;
    sap_gl_pyramid_info info;
    sap_gl_list list = {.texture = 0};
    int64_t total = 0, expected = 0, wrong = 0;
    GLuint base = make_base(device, cells, WIDTH, HEIGHT, counts);
    CHECK_STATUS(sap_gl_pyramid_create(device, &options, &pyramid), SAP_OK);
    CHECK_STATUS(sap_gl_pyramid_describe(pyramid, &info), SAP_OK);
    CHECK_STATUS(sap_gl_compact(pyramid, base, &list, &total), SAP_OK);
    if (CHECK((int64_t)list.width * list.height <= MOST && total <= MOST))
        read_cells(device, &list, info.bytes, listed);
    for (int64_t i = 0; i < WIDTH * HEIGHT; i++)
        for (uint32_t output = 0; output < counts[i]; output++) wrong += listed[expected++] != i;
    CHECK_EQUAL(total, expected);
    for (int64_t i = expected; i < (int64_t)list.width * list.height; i++) wrong += listed[i] != -1;
    CHECK_EQUAL(wrong, 0);
    sap_gl_pyramid_free(pyramid);
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK) sap_gl_texture_free(&call, base);
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
}

TEST(histopyramids) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = open_old(&w);
    sap_gl_info info = {0};
    CHECK_STATUS(sap_gl_describe(device, &info), SAP_OK);
    try_pyramid(device, SAP_GL_CELLS_BYTE);
    if (info.float_targets) try_pyramid(device, SAP_GL_CELLS_FLOAT);
    close_old(device, &w);
}

TEST(refuses_the_rest) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = open_old(&w);
    sap_tree* tree = NULL;
    const float coords[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    CHECK_STATUS(sap_tree_build(device, (sap_points){coords[0], 4, 2, 0}, NULL, &tree), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "the nodes of a tree: OpenGL ES 2.0 (WebGL 1) has no such textures");
    unsigned char words[4][4] = {{0}};
    sap_rgba8_tree form = {
        .width = 2, .height = 1, .dims = 2, .scale = 1, .nodes = words[0], .ids = words[2], .device = device};
    int32_t id = 7;
    const sap_grid one = {1, 1, {0}, {1}, {0, 1}};
    CHECK_STATUS(sap_gl_nearest_rgba8(device, &form, one, &(sap_rgba8_search){.integers = true}, &id, NULL),
                 SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "OpenGL ES 2.0 (WebGL 1) has no shaders in GLSL ES 3.00");
    CHECK_EQUAL(id, 7);
    sap_gl_pyramid_options options = {.width = 8, .height = 8};
    sap_gl_pyramid* pyramid = NULL;
    CHECK_STATUS(sap_gl_pyramid_create(device, &options, &pyramid), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "a histopyramid: OpenGL ES 2.0 (WebGL 1) has no such textures");
    const uint8_t keep[4] = {1, 0, 1, 1};
    const int32_t items[4] = {1, 2, 3, 4};
    int32_t out[4];
    int64_t count = 0;
    CHECK_STATUS(sap_compact(device, items, 4, sizeof *items, keep, out, &count), SAP_ERROR_UNSUPPORTED);
    const float samples[8] = {1, -1, 1, -1, 1, 1, 1, 1};
    const sap_volume volume = {.values = samples, .size = {2, 2, 2}, .type = SAP_VOXEL_F32};
    sap_isosurface* surface = NULL;
    CHECK_STATUS(sap_isosurface_extract(device, volume, NULL, &surface), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "volume: OpenGL ES 2.0 (WebGL 1) has no textures of volumes");
    CHECK(!tree && !pyramid && !surface);
    close_old(device, &w);
}

#else

TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }

#endif

TEST_MAIN()
