// Surfaces that stay on an OpenGL device: against the CPU's, in buffers and in textures, with room for all of it and
// for less, and drawn.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "device/gl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, SAMPLES = SIDE * SIDE * SIDE, FORMS = 2 };

// Browsers have but textures.
static int first_form(void) { return gl_tools_in_browser() ? 1 : 0; }

// Distances from a body of two balls.
static float* make_volume(void) {
    float* values = malloc(SAMPLES * sizeof *values);
    for (int i = 0; i < SAMPLES; i++) {
        const float x = (float)(i % SIDE) - 19.5f, y = (float)(i / SIDE % SIDE) - 19.5f,
                    z = (float)(i / SIDE / SIDE) - 19.5f;
        const float a = 12 - sqrtf(x * x + y * y + z * z), b = 5 - sqrtf((x - 13) * (x - 13) + y * y + z * z);
        values[i] = a > b ? a : b;
    }
    return values;
}

static const sap_gl_surface_options usual = {
    .size = {SIDE, SIDE, SIDE}, .spacing = {0.5f, 1, 2}, .origin = {-3, 100, 0.25f}};

static sap_isosurface* of_cpu(const void* values, sap_voxel type, float level, bool low_inside) {
    sap_device* cpu = NULL;
    sap_isosurface* surface = NULL;
    sap_volume volume = {.values = values, .type = type, .size = {SIDE, SIDE, SIDE}};
    memcpy(volume.spacing, usual.spacing, sizeof volume.spacing);
    memcpy(volume.origin, usual.origin, sizeof volume.origin);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    CHECK_STATUS(sap_isosurface_extract(cpu, volume,
                                        &(sap_isosurface_options){.level = level, .low_inside = low_inside}, &surface),
                 SAP_OK);
    // The device must outlive it: the test's copy.
    sap_isosurface* kept = malloc(sizeof *kept);
    *kept = *surface;
    const size_t vertices = (size_t)surface->mesh.vertex_count * 12,
                 triangles = (size_t)surface->mesh.triangle_count * 12;
    kept->mesh.vertices = memcpy(malloc(vertices + 1), surface->mesh.vertices, vertices);
    kept->normals = memcpy(malloc(vertices + 1), surface->normals, vertices);
    kept->mesh.triangles = memcpy(malloc(triangles + 1), surface->mesh.triangles, triangles);
    sap_isosurface_free(surface);
    sap_device_close(cpu);
    return kept;
}

static void forget(sap_isosurface* kept) {
    free((void*)(uintptr_t)kept->mesh.vertices);
    free((void*)(uintptr_t)kept->normals);
    free((void*)(uintptr_t)kept->mesh.triangles);
    free(kept);
}

// The first vertices and triangles of a surface; triangles that have lost a corner are 0, 0, 0.
static void check_read(sap_gl_surface* surface, const sap_isosurface* truth, int64_t vertices, int64_t triangles) {
    sap_isosurface* read = NULL;
    int64_t wrong[3] = {0, 0, 0};
    if (!CHECK_STATUS(sap_gl_surface_read(surface, &read), SAP_OK)) return;
    CHECK_EQUAL(read->mesh.vertex_count, vertices);
    CHECK_EQUAL(read->mesh.triangle_count, triangles);
    for (int64_t i = 0; i < 3 * vertices; i++) {
        const float p = truth->mesh.vertices[i];
        wrong[0] += !(fabsf(read->mesh.vertices[i] - p) <= 1e-6f * (1 + fabsf(p)));
        wrong[1] += !(fabsf(read->normals[i] - truth->normals[i]) <= 1e-4f);
    }
    for (int64_t i = 0; i < triangles; i++) {
        const int32_t *a = read->mesh.triangles + 3 * i, *b = truth->mesh.triangles + 3 * i;
        const bool cut = b[0] >= vertices || b[1] >= vertices || b[2] >= vertices;
        for (int c = 0; c < 3; c++) wrong[2] += a[c] != (cut ? 0 : b[c]);
    }
    CHECK_EQUAL(wrong[0], 0);
    CHECK_EQUAL(wrong[1], 0);
    CHECK_EQUAL(wrong[2], 0);
    sap_isosurface_free(read);
}

static sap_device* open_watched(watch* w, bool no_compute) {
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.no_compute = no_compute;
    CHECK_STATUS(gl_tools_open_watched(w, &device), SAP_OK);
    return device;
}

static void close_watched(watch* w, sap_device* device) {
    sap_device_close(device);
    CHECK_EQUAL(w->blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    CHECK_EQUAL(gl_tools.buffers, 0);
}

TEST(the_surface_of_the_cpu_at_many_levels) {
    static const float levels[] = {0, 0.5f, -4, 11.5f, 50, -2};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    float* values = make_volume();
    for (int form = 0; form < 2 * FORMS; form++) {
        watch w = {0};
        sap_device* device = open_watched(&w, form == 3);
        sap_gl_surface_options options = usual;
        sap_gl_surface* surface = NULL;
        options.textures = form == 1;
        options.low_inside = form == 2;
        CHECK_STATUS(sap_gl_surface_create(device, &options, &surface), SAP_OK);
        CHECK_STATUS(sap_gl_surface_load(surface, values), SAP_OK);
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            sap_isosurface* truth = of_cpu(values, SAP_VOXEL_F32, levels[i], options.low_inside);
            sap_gl_surface_info info = {0};
            NOTE("form %d, level %g", form, (double)levels[i]);
            CHECK_STATUS(sap_gl_surface_extract(surface, 0, levels[i]), SAP_OK);
            CHECK_STATUS(sap_gl_surface_describe(surface, &info), SAP_OK);
            CHECK_EQUAL(info.vertex_count, truth->mesh.vertex_count);
            CHECK_EQUAL(info.triangle_count, truth->mesh.triangle_count);
            CHECK((info.vertices && info.triangles && info.command) !=
                  (info.positions && info.normals && info.corners));
            if (form == 1 || form == 3) CHECK(info.positions && info.width[0] > 0 && info.width[1] > 0);
            check_read(surface, truth, truth->mesh.vertex_count, truth->mesh.triangle_count);
            forget(truth);
        }
        sap_gl_surface_free(surface);
        close_watched(&w, device);
    }
    free(values);
}

TEST(integers) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    float* values = make_volume();
    void* whole = malloc(SAMPLES * 2);
    for (int form = first_form(); form < FORMS; form++)
        for (int type = 1; type < 4; type++) {
            watch w = {0};
            sap_device* device = open_watched(&w, false);
            sap_gl_surface_options options = usual;
            sap_gl_surface* surface = NULL;
            options.textures = form == 1;
            options.type = (sap_voxel)type;
            for (int i = 0; i < SAMPLES; i++) {
                const float v = values[i];
                if (type == 1) ((uint8_t*)whole)[i] = (uint8_t)(100 + 3 * v);
                if (type == 2) ((int16_t*)whole)[i] = (int16_t)(-900 * v);
                if (type == 3) ((uint16_t*)whole)[i] = (uint16_t)(40000 + 800 * v);
            }
            const float level = type == 1 ? 99.5f : type == 2 ? -100 : 40000;
            sap_isosurface* truth = of_cpu(whole, options.type, level, false);
            NOTE("form %d, type %d", form, type);
            CHECK(truth->mesh.vertex_count > 1000);
            CHECK_STATUS(sap_gl_surface_create(device, &options, &surface), SAP_OK);
            CHECK_STATUS(sap_gl_surface_load(surface, whole), SAP_OK);
            CHECK_STATUS(sap_gl_surface_extract(surface, 0, level), SAP_OK);
            check_read(surface, truth, truth->mesh.vertex_count, truth->mesh.triangle_count);
            forget(truth);
            sap_gl_surface_free(surface);
            close_watched(&w, device);
        }
    free(whole);
    free(values);
}

// With less room than there are vertices, triangles or both, and with more.
TEST(room_for_less) {
    static const int64_t rooms[][2] = {{700, 900}, {900, 0}, {0, 1001}, {1, 1}, {50000, 60000}};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    float* values = make_volume();
    sap_isosurface* truth = of_cpu(values, SAP_VOXEL_F32, 0, false);
    CHECK(truth->mesh.vertex_count > 1001 && truth->mesh.vertex_count < 50000);
    for (int form = first_form(); form < FORMS; form++)
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            watch w = {0};
            sap_device* device = open_watched(&w, false);
            sap_gl_surface_options options = usual;
            sap_gl_surface* surface = NULL;
            sap_gl_surface_info info;
            int64_t kept[2] = {truth->mesh.vertex_count, truth->mesh.triangle_count};
            options.textures = form == 1;
            options.vertices = rooms[i][0];
            options.triangles = rooms[i][1];
            for (int kind = 0; kind < 2; kind++)
                if (rooms[i][kind] && rooms[i][kind] < kept[kind]) kept[kind] = rooms[i][kind];
            NOTE("form %d, room %lld, %lld", form, (long long)rooms[i][0], (long long)rooms[i][1]);
            CHECK_STATUS(sap_gl_surface_create(device, &options, &surface), SAP_OK);
            CHECK_STATUS(sap_gl_surface_load(surface, values), SAP_OK);
            CHECK_STATUS(sap_gl_surface_extract(surface, 0, 0), SAP_OK);
            check_read(surface, truth, kept[0], kept[1]);
            CHECK_STATUS(sap_gl_surface_describe(surface, &info), SAP_OK);
            CHECK_EQUAL(info.vertex_count, truth->mesh.vertex_count);
            CHECK_EQUAL(info.triangle_count, truth->mesh.triangle_count);
            sap_gl_surface_free(surface);
            close_watched(&w, device);
        }
    forget(truth);
    free(values);
}

// ---- Drawn in the caller's context, from the caller's texture

enum { WIDTH = 64 };

static GLuint make_texture(const sap_gl_calls* f, const float* values) {
    GLuint texture = 0;
    f->GenTextures(1, &texture);
    f->BindTexture(GL_TEXTURE_3D, texture);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    f->TexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    f->TexStorage3D(GL_TEXTURE_3D, 1, GL_R32F, SIDE, SIDE, SIDE);
    f->PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    if (gl_tools_in_browser()) f->PixelStorei(0x9240, 0); // UNPACK_FLIP_Y_WEBGL
    f->TexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, SIDE, SIDE, SIDE, GL_RED, GL_FLOAT, values);
    f->BindTexture(GL_TEXTURE_3D, 0);
    return texture;
}

// Looking along z at the whole lattice: x and y to -1 ... 1, near what is high.
static sap_gl_surface_look look_along(void) {
    sap_gl_surface_look look = {.ambient = 0.25f, .color = {1, 0.5f, 0}};
    look.matrix[0] = look.matrix[5] = 2.0f / (SIDE - 1);
    look.matrix[10] = -2.0f / SIDE;
    look.matrix[12] = look.matrix[13] = -1;
    look.matrix[14] = 1;
    look.matrix[15] = 1;
    return look;
}

TEST(a_picture) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!gl_tools_enter_own()) SKIP("no context of the caller's");
    float* values = make_volume();
    for (int form = 0; form < 2 * FORMS; form++) {
        static uint8_t pixels[WIDTH * WIDTH * 4];
        sap_device* device = NULL;
        sap_gl_surface* surface = NULL;
        int64_t covered = 0, wrong = 0;
        NOTE("form %d", form);
        gl_tools_reset();
        if (!CHECK_STATUS(gl_tools_open(&(sap_device_options){.processor = SAP_GL, .current_context = true}, &device),
                          SAP_OK))
            break;
        const sap_gl_surface_options options = {.size = {SIDE, SIDE, SIDE},
                                                .textures = form % 2 == 1,
                                                .vertices = form > 1 ? 20000 : 0,
                                                .triangles = form > 1 ? 20000 : 0};
        const sap_gl_calls* f = &sap_gl_of(device)->calls;
        const GLuint volume = make_texture(f, values), framebuffer = gl_tools_make_framebuffer(WIDTH, WIDTH);
        GLuint depths = 0;
        f->GenTextures(1, &depths);
        f->BindTexture(GL_TEXTURE_2D, depths);
        f->TexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT24, WIDTH, WIDTH);
        f->BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        f->FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depths, 0);
        f->ClearBufferfv(GL_COLOR, 0, (float[4]){0, 0, 0, 0});
        f->ClearBufferfv(GL_DEPTH, 0, (float[1]){1});
        f->BindFramebuffer(GL_FRAMEBUFFER, 0);
        f->BindTexture(GL_TEXTURE_2D, 0);
        gl_tools_set_state();
        const sap_gl_surface_look look = look_along();
        CHECK_STATUS(sap_gl_surface_create(device, &options, &surface), SAP_OK);
        CHECK_STATUS(sap_gl_surface_extract(surface, volume, 0), SAP_OK);
        CHECK_STATUS(sap_gl_surface_draw(surface, &look, framebuffer, (int32_t[4]){0, 0, WIDTH, WIDTH}), SAP_OK);
        CHECK(gl_tools_state_kept());
        f->Disable(GL_SCISSOR_TEST);
        gl_tools_read_framebuffer(framebuffer, WIDTH, WIDTH, pixels);
        // Which pixels the two balls cover, but for those at their edges, and how bright the larger one is.
        for (int y = 0; y < WIDTH; y++)
            for (int x = 0; x < WIDTH; x++) {
                const uint8_t* pixel = pixels + 4 * (y * WIDTH + x);
                const double px = (x + 0.5) / WIDTH * (SIDE - 1) - 19.5, py = (y + 0.5) / WIDTH * (SIDE - 1) - 19.5;
                const double a = sqrt(px * px + py * py), b = sqrt((px - 13) * (px - 13) + py * py);
                const bool inside = a < 11.5 || b<4.5, outside = a> 12.5 && b > 5.5;
                covered += pixel[3] != 0;
                wrong += (inside && !pixel[3]) || (outside && pixel[3]);
                if (b < 6 || a > 10) continue;
                const double facing = sqrt(144 - a * a) / 12, bright = 255 * (0.25 + 0.75 * facing);
                wrong += !(fabs(pixel[0] - bright) < 4 && fabs(pixel[1] - bright / 2) < 3 && pixel[2] == 0);
            }
        CHECK(covered > 1000);
        CHECK_EQUAL(wrong, 0);
        GLuint without = 0; // anything to draw to
        f->GenFramebuffers(1, &without);
        CHECK_STATUS(sap_gl_surface_draw(surface, &look, without, (int32_t[4]){0, 0, WIDTH, WIDTH}),
                     SAP_ERROR_UNSUPPORTED);
        f->DeleteFramebuffers(1, &without);
        sap_gl_surface_free(surface);
        f->DeleteTextures(1, &volume);
        f->DeleteTextures(1, &depths);
        f->DeleteFramebuffers(1, &framebuffer);
        sap_device_close(device);
    }
    gl_tools_leave_own();
    free(values);
}

// ---- Bad input

TEST(surfaces_refuse) {
    watch w = {0};
    sap_gl_surface* surface = NULL;
    sap_gl_surface_info info;
    sap_isosurface* read = NULL;
    const sap_gl_surface_look look = look_along();
    const int32_t rectangle[4] = {0, 0, 8, 8};
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    sap_device *device = open_watched(&w, false), *cpu = NULL;
    CHECK_STATUS(sap_gl_surface_create(NULL, &usual, &surface), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_create(device, NULL, &surface), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_create(device, &usual, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    CHECK_STATUS(sap_gl_surface_create(cpu, &usual, &surface), SAP_ERROR_UNSUPPORTED);
    sap_device_close(cpu);
    const struct {
        sap_status status;
        sap_gl_surface_options options;
    } bad[] = {{SAP_ERROR_ARGUMENT, {.size = {1, 8, 8}}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, -2}}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, 8}, .type = (sap_voxel)9}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, 8}, .spacing = {0, NAN, 0}}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, 8}, .origin = {0, 0, INFINITY}}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, 8}, .vertices = -1}},
               {SAP_ERROR_ARGUMENT, {.size = {8, 8, 8}, .reserved = {0, 1}}},
               {SAP_ERROR_RANGE, {.size = {8, 8, 8}, .triangles = INT64_C(1) << 31}},
               {SAP_ERROR_RANGE, {.size = {2, 2, 1 << 20}}},
               {SAP_ERROR_RANGE, {.size = {2000, 2000, 2000}}},
               {SAP_ERROR_RANGE, {.size = {INT32_MAX, INT32_MAX, INT32_MAX}}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        NOTE("options %zu", i);
        CHECK_STATUS(sap_gl_surface_create(device, &bad[i].options, &surface), bad[i].status);
    }
    CHECK(!surface);
    CHECK_STATUS(sap_gl_surface_create(device, &usual, &surface), SAP_OK);
    CHECK_STATUS(sap_gl_surface_load(surface, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_extract(surface, 0, 0), SAP_ERROR_ARGUMENT);
    float* values = make_volume();
    values[777] = -INFINITY;
    CHECK_STATUS(sap_gl_surface_load(surface, values), SAP_ERROR_NOT_FINITE);
    CHECK(strstr(w.sentence, "sample 777") != NULL);
    values[777] = 0;
    CHECK_STATUS(sap_gl_surface_load(surface, values), SAP_OK);
    CHECK_STATUS(sap_gl_surface_describe(surface, &info), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_read(surface, &read), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_draw(surface, &look, 0, rectangle), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_extract(surface, 0, NAN), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_extract(surface, 0, 0), SAP_OK);
    CHECK_STATUS(sap_gl_surface_describe(surface, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_read(surface, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_draw(surface, NULL, 0, rectangle), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_draw(surface, &look, 0, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_draw(surface, &look, 0, (int32_t[4]){0, 0, 0, 8}), SAP_ERROR_ARGUMENT);
    sap_gl_surface_look wrong = look;
    wrong.matrix[3] = NAN;
    CHECK_STATUS(sap_gl_surface_draw(surface, &wrong, 0, rectangle), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_load(NULL, values), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_surface_extract(NULL, 0, 0), SAP_ERROR_ARGUMENT);
    sap_gl_surface_free(surface);
    sap_gl_surface_free(NULL);
    free(values);
    close_watched(&w, device);
}

// What goes through all calls, and whose status is that of the first that fails.
static sap_status once(sap_device* device, const float* values, bool textures) {
    sap_gl_surface_options options = usual;
    sap_gl_surface* surface = NULL;
    sap_gl_surface_info info;
    options.textures = textures;
    sap_status status = sap_gl_surface_create(device, &options, &surface);
    if (status == SAP_OK) status = sap_gl_surface_load(surface, values);
    for (int i = 0; i < 2 && status == SAP_OK; i++) status = sap_gl_surface_extract(surface, 0, i ? -3 : 3);
    if (status == SAP_OK) status = sap_gl_surface_describe(surface, &info);
    sap_gl_surface_free(surface);
    return status;
}

TEST(lost_or_without_memory_anywhere) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    float* values = make_volume();
    for (int textures = 0; textures < 2; textures++) {
        watch w = {0};
        sap_device* device = open_watched(&w, false);
        int64_t calls = gl_tools.calls, asked = gl_tools.memory_calls;
        CHECK_STATUS(once(device, values, textures == 1), SAP_OK);
        calls = gl_tools.calls - calls;
        asked = gl_tools.memory_calls - asked;
        CHECK(asked > 5);
        for (int64_t n = 1; n <= asked; n++) {
            NOTE("textures %d, memory %lld", textures, (long long)n);
            sap_device_trim(device);
            gl_tools.fail_memory_at = gl_tools.memory_calls + n;
            CHECK_STATUS(once(device, values, textures == 1), SAP_ERROR_DEVICE_MEMORY);
        }
        close_watched(&w, device);
        for (int64_t n = 1; n < calls; n += 1 + calls / (TEST_SANITIZED ? 8 : 25)) {
            NOTE("textures %d, call %lld", textures, (long long)n);
            device = open_watched(&w, false);
            gl_tools.lose_at = gl_tools.calls + n;
            const sap_status status = once(device, values, textures == 1);
            CHECK(status == SAP_ERROR_DEVICE_LOST || (status == SAP_OK && n > calls / 2));
            sap_device_close(device);
            CHECK_EQUAL(w.blocks, 0);
        }
        gl_tools_reset();
    }
    free(values);
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
