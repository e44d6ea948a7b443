// Histopyramids in Z order against a walk over the cells in that order: every way to make the list, everything that it
// may hold, with the total read, a number expected, or neither.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "device/gl.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, WAYS = 10, LIST_WIDTH = 50 };

static uint32_t state = 7;

static uint32_t draw(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

// Cell number i in Z order.
static void place_of(uint32_t i, uint32_t* x, uint32_t* y) {
    *x = *y = 0;
    for (uint32_t bit = 0; bit < 16; bit++) {
        *x |= (i >> (2 * bit) & 1) << bit;
        *y |= (i >> (2 * bit + 1) & 1) << bit;
    }
}

// The ways to sum and to walk.
static sap_gl_zpyramid_options way(int number, int32_t side) {
    const int form = number % 5; // floats, vec4, bytes; without branches and with them
    return (sap_gl_zpyramid_options){.side = side,
                                     .vec4 = form == 1 || form == 3,
                                     .bytes = form == 2,
                                     .branches = form > 2,
                                     .in_vertices = number >= 5};
}

typedef struct bases {
    GLuint flags, payload, list;
} bases;

static bases make_bases(sap_device* device, int32_t side, const uint8_t* flags, const float* payload,
                        int32_t list_height) {
    bases made = {0, 0, 0};
    sap_gl_call call;
    float* empty = calloc((size_t)LIST_WIDTH * (size_t)list_height * 4, sizeof *empty);
    if (sap_gl_begin(&call, device) == SAP_OK) {
        made.flags = sap_gl_texture(&call, GL_R8, side, side, flags, "flags");
        made.payload = sap_gl_texture(&call, GL_RGBA32F, side, side, payload, "a payload");
        made.list = sap_gl_texture(&call, GL_RGBA32F, LIST_WIDTH, list_height, empty, "a list");
    }
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    free(empty);
    return made;
}

static void free_bases(sap_device* device, bases b) {
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK) {
        sap_gl_texture_free(&call, b.flags);
        sap_gl_texture_free(&call, b.payload);
        sap_gl_texture_free(&call, b.list);
    }
    (void)sap_gl_end(&call, SAP_OK);
}

static float* read_list(sap_device* device, const sap_gl_list* list) {
    sap_gl_call call;
    float* texels = malloc((size_t)list->width * (size_t)list->height * 16);
    if (sap_gl_begin(&call, device) == SAP_OK)
        sap_gl_read(&call, list->texture, GL_RGBA32F, 0, (int32_t[4]){0, 0, list->width, list->height}, texels);
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    return texels;
}

// Wrong texels among the first `count` of a list.
static int64_t wrong_texels(const float* list, int64_t count, const sap_gl_zpyramid_options* o, const uint8_t* flags,
                            const float* payload) {
    int64_t wrong = 0, at = 0;
    const uint32_t side = (uint32_t)o->side, slice = o->slice ? (uint32_t)o->slice : 1;
    for (uint32_t i = 0; i < side * side && at < count; i++) {
        uint32_t x, y;
        place_of(i, &x, &y);
        if (!flags[y * side + x]) continue;
        const float place[4] = {(float)x, (float)y, (float)(x + y * side), 1};
        const float position[4] = {(float)(x % slice), (float)(y % slice),
                                   (float)(x / slice + side / slice * (y / slice)), 1};
        const float* truth = o->gather == SAP_GL_GATHER_PLACE      ? place
                             : o->gather == SAP_GL_GATHER_POSITION ? position
                                                                   : payload + 4 * (size_t)(y * side + x);
        wrong += memcmp(list + 4 * at++, truth, sizeof place) != 0;
    }
    return wrong + (at < count ? count - at : 0);
}

TEST(key_four_of_the_worked_example) {
    // The sums of its four blocks are 3, 2, 3, 1; the second block's texels are 0, 1, 1, 0.
    static const uint8_t flags[16] = {255, 255, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255, 0, 0, 255};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.processor = SAP_GL}, &device), SAP_OK);
    bases b = make_bases(device, 4, flags, NULL, 1);
    for (int number = 0; number < WAYS; number++) {
        const sap_gl_zpyramid_options options = way(number, 4);
        sap_gl_zpyramid* pyramid = NULL;
        sap_gl_list list = {.texture = 0};
        int64_t total = 0;
        NOTE("way %d", number);
        CHECK_STATUS(sap_gl_zpyramid_create(device, &options, &pyramid), SAP_OK);
        CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, 0, &list, &total), SAP_OK);
        CHECK_EQUAL(total, 9);
        float* texels = read_list(device, &list);
        CHECK(texels[4 * 4] == 2 && texels[4 * 4 + 1] == 1);
        CHECK_EQUAL(wrong_texels(texels, 9, &options, flags, NULL), 0);
        free(texels);
        sap_gl_zpyramid_free(pyramid);
    }
    free_bases(device, b);
    sap_device_close(device);
    CHECK_EQUAL(gl_tools.textures, 0);
}

static void check_base(sap_device* device, int32_t side, uint32_t percent) {
    static uint8_t flags[MOST * MOST];
    static float payload[MOST * MOST * 4];
    int64_t kept = 0;
    for (int32_t i = 0; i < side * side; i++) {
        flags[i] = draw(100) < percent ? 255 : 0;
        kept += flags[i] != 0;
        for (int c = 0; c < 4; c++) payload[4 * i + c] = (float)draw(1 << 24);
    }
    bases b = make_bases(device, side, flags, payload, (side * side + LIST_WIDTH - 1) / LIST_WIDTH);
    for (int number = 0; number < WAYS; number++)
        for (int gather = 0; gather < 3; gather++) {
            sap_gl_zpyramid_options options = way(number, side);
            sap_gl_zpyramid* pyramid = NULL;
            int64_t total = -1;
            options.gather = (sap_gl_gather)gather;
            options.slice = side / 2;
            NOTE("side %d, %d %%, way %d, gather %d", (int)side, (int)percent, number, gather);
            CHECK_STATUS(sap_gl_zpyramid_create(device, &options, &pyramid), SAP_OK);
            // Half of them expected, and no total; then all, into the caller's texture; then the pyramid's own.
            sap_gl_list half = {.expected = kept / 2 + 1}, theirs = {b.list, LIST_WIDTH, (side * side + 49) / 50, 0};
            sap_gl_list own = {.texture = 0};
            CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &half, NULL), SAP_OK);
            float* texels = read_list(device, &half);
            const int64_t some = kept < half.expected ? kept : half.expected;
            CHECK_EQUAL(wrong_texels(texels, some, &options, flags, payload), 0);
            free(texels);
            CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &theirs, NULL), SAP_OK);
            texels = read_list(device, &theirs);
            CHECK_EQUAL(wrong_texels(texels, kept, &options, flags, payload), 0);
            free(texels);
            CHECK_STATUS(sap_gl_zpyramid_total(pyramid, &total), SAP_OK);
            CHECK_EQUAL(total, kept);
            CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &own, &total), SAP_OK);
            CHECK_EQUAL(total, kept);
            texels = read_list(device, &own);
            CHECK_EQUAL(wrong_texels(texels, kept, &options, flags, payload), 0);
            free(texels);
            CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, 0, NULL, &total), SAP_OK);
            CHECK_EQUAL(total, kept);
            sap_gl_zpyramid_free(pyramid);
        }
    free_bases(device, b);
}

TEST(every_way_lists_in_z_order) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    watch w = {0};
    sap_device* device = NULL;
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    check_base(device, 2, 50);
    check_base(device, 4, 0);
    check_base(device, 16, 100);
    check_base(device, MOST, 3);
    check_base(device, MOST, 40);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

TEST(pyramids_refuse) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    sap_gl_zpyramid* pyramid = NULL;
    int64_t total = 0;
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    const sap_gl_zpyramid_options good = {.side = 8, .gather = SAP_GL_GATHER_TEXEL};
    const sap_gl_zpyramid_options bad[] = {{.side = 0},
                                           {.side = 1},
                                           {.side = 12},
                                           {.side = 8192},
                                           {.side = 8, .gather = (sap_gl_gather)3},
                                           {.side = 8, .gather = SAP_GL_GATHER_POSITION},
                                           {.side = 8, .gather = SAP_GL_GATHER_POSITION, .slice = 3},
                                           {.side = 8, .bytes = true, .vec4 = true},
                                           {.side = 8, .reserved = {1}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        NOTE("options %zu", i);
        CHECK_STATUS(sap_gl_zpyramid_create(device, &bad[i], &pyramid), SAP_ERROR_ARGUMENT);
    }
    CHECK_STATUS(sap_gl_zpyramid_create(NULL, &good, &pyramid), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_create(device, NULL, &pyramid), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_create(device, &good, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    CHECK_STATUS(sap_gl_zpyramid_create(cpu, &good, &pyramid), SAP_ERROR_UNSUPPORTED);
    sap_device_close(cpu);
    CHECK(!pyramid);
    CHECK_STATUS(sap_gl_zpyramid_create(device, &good, &pyramid), SAP_OK);
    static const uint8_t flags[64] = {1};
    bases b = make_bases(device, 8, flags, NULL, 1);
    sap_gl_list list = {.expected = -1}, theirs = {.texture = b.list};
    CHECK_STATUS(sap_gl_zpyramid_total(pyramid, &total), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_compact(NULL, b.flags, b.payload, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, 0, b.payload, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &list, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &theirs, NULL), SAP_ERROR_ARGUMENT);
    list.expected = 0;
    CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, 0, &list, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_zpyramid_compact(pyramid, b.flags, b.payload, &list, &total), SAP_OK);
    CHECK_EQUAL(total, 0); // 1 of 255 is no flag
    CHECK_STATUS(sap_gl_zpyramid_total(pyramid, NULL), SAP_ERROR_ARGUMENT);
    sap_gl_zpyramid_free(pyramid);
    sap_gl_zpyramid_free(NULL);
    free_bases(device, b);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    gl_tools.no_float_targets = true;
    if (!gl_tools_in_browser() && CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) {
        CHECK_STATUS(sap_gl_zpyramid_create(device, &good, &pyramid), SAP_ERROR_UNSUPPORTED);
        sap_device_close(device);
    }
    CHECK_EQUAL(gl_tools.textures, 0);
}

static sap_status once(sap_device* device, GLuint flags, bool in_vertices) {
    const sap_gl_zpyramid_options options = {.side = 8, .vec4 = true, .in_vertices = in_vertices};
    sap_gl_zpyramid* pyramid = NULL;
    sap_gl_list list = {.texture = 0};
    int64_t total = 0;
    sap_status status = sap_gl_zpyramid_create(device, &options, &pyramid);
    if (status == SAP_OK) status = sap_gl_zpyramid_compact(pyramid, flags, 0, &list, &total);
    sap_gl_zpyramid_free(pyramid);
    return status;
}

TEST(lost_or_without_memory_anywhere) {
    static const uint8_t flags[64] = {255, 0, 255};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    for (int in_vertices = 0; in_vertices < 2; in_vertices++) {
        int64_t calls = 1;
        for (int64_t n = 0; n < calls; n += 1 + calls / 20) {
            watch w = {0};
            sap_device* device = NULL;
            gl_tools_reset();
            if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
            bases b = make_bases(device, 8, flags, NULL, 1);
            const int64_t before = gl_tools.calls;
            NOTE("vertices %d, call %lld", in_vertices, (long long)n);
            if (n) gl_tools.lose_at = before + n;
            const sap_status status = once(device, b.flags, in_vertices == 1);
            CHECK(status == SAP_ERROR_DEVICE_LOST || (status == SAP_OK && (!n || n > calls / 2)));
            if (!n) calls = gl_tools.calls - before;
            for (int64_t m = 1; m <= 3 && !n; m++) {
                gl_tools.fail_memory_at = gl_tools.memory_calls + m;
                CHECK_STATUS(once(device, b.flags, in_vertices == 1), SAP_ERROR_DEVICE_MEMORY);
            }
            free_bases(device, b);
            sap_device_close(device);
            CHECK_EQUAL(w.blocks, 0);
        }
    }
    gl_tools_reset();
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
