// Surfaces on OpenGL against the CPU's: the same vertices and triangles in the same order; positions and normals by
// how far divisions of GLSL ES may be rounded.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "sapwood/surface.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "device/gl.h"
#include <math.h>

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * below >> 32);
}

// Compute shaders; without buffers that stay mapped; fragment shaders.
enum { WAYS = 3 };
static int first_way(void) { return gl_tools_in_browser() ? WAYS - 1 : 0; } // which is all that browsers have

static void take_way(int way) {
    gl_tools_reset();
    gl_tools.no_kept_maps = way == 1;
    gl_tools.no_compute = way == 2;
    NOTE("way %d", way);
}

static int64_t most_side(const sap_device* device) { return sap_gl_of(device)->most_3d; }

// Random values, or those of a smooth body.
static void fill(sap_volume* volume, void* values, bool smooth) {
    const int64_t* size = volume->size;
    for (int64_t z = 0, i = 0; z < size[2]; z++)
        for (int64_t y = 0; y < size[1]; y++)
            for (int64_t x = 0; x < size[0]; x++, i++) {
                float f = (float)draw(200);
                if (smooth) f = 100.0f + 40.0f * sinf((float)x * 0.7f) + 30.0f * sinf((float)(y + z) * 0.5f);
                if (volume->type == SAP_VOXEL_F32) ((float*)values)[i] = f - 100.0f;
                if (volume->type == SAP_VOXEL_U8) ((uint8_t*)values)[i] = (uint8_t)f;
                if (volume->type == SAP_VOXEL_I16) ((int16_t*)values)[i] = (int16_t)(200.0f * (f - 100.0f));
                if (volume->type == SAP_VOXEL_U16) ((uint16_t*)values)[i] = (uint16_t)(300.0f * f);
            }
    volume->values = values;
}

// Divisions are off by up to 2.5 units in the last place; further on by what they are multiplied with.
static bool is_near(float a, float b, float scale) { return fabsf(a - b) <= 1e-6f * scale; }

static void check_same(const sap_isosurface* a, const sap_isosurface* b) {
    if (!CHECK_EQUAL(a->mesh.vertex_count, b->mesh.vertex_count)) return;
    if (!CHECK_EQUAL(a->mesh.triangle_count, b->mesh.triangle_count)) return;
    int64_t vertices = a->mesh.vertex_count, wrong_triangles = 0, wrong_positions = 0, wrong_normals = 0;
    for (int64_t i = 0; i < 3 * a->mesh.triangle_count; i++)
        wrong_triangles += a->mesh.triangles[i] != b->mesh.triangles[i];
    for (int64_t i = 0; i < 3 * vertices; i++) {
        float p = a->mesh.vertices[i];
        wrong_positions += !is_near(p, b->mesh.vertices[i], 1.0f + fabsf(p));
        // Where the gradients of both ends nearly cancel, little is left beside the roundings.
        wrong_normals += !is_near(a->normals[i], b->normals[i], 100.0f);
    }
    CHECK_EQUAL(wrong_triangles, 0);
    CHECK_EQUAL(wrong_positions, 0);
    CHECK_EQUAL(wrong_normals, 0);
}

static void check_volume(sap_device* gl, sap_device* cpu, sap_volume volume, const sap_isosurface_options* options) {
    sap_isosurface *here = NULL, *there = NULL;
    NOTE("type %d, %lld x %lld x %lld, level %g", (int)volume.type, (long long)volume.size[0],
         (long long)volume.size[1], (long long)volume.size[2], (double)options->level);
    CHECK_STATUS(sap_isosurface_extract(cpu, volume, options, &there), SAP_OK);
    if (CHECK_STATUS(sap_isosurface_extract(gl, volume, options, &here), SAP_OK) && there) {
        CHECK(!here->on_device);
        check_same(here, there);
    }
    sap_isosurface_free(here);
    sap_isosurface_free(there);
}

static void compare_with_cpu(int way) {
    static const int64_t sizes[][3] = {{2, 2, 2}, {3, 2, 5}, {17, 9, 11}, {31, 30, 29}, {5, 1, 7}, {64, 3, 3}};
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    take_way(way);
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    void* values = malloc(64 * 64 * 64 * 4);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 4; type++) {
            sap_volume volume = {.type = (sap_voxel)type, .spacing = {0.5f, 1, 3}, .origin = {-7, 100, 0.25f}};
            memcpy(volume.size, sizes[s], sizeof volume.size);
            fill(&volume, values, (s + (size_t)type) % 2);
            static const float levels[] = {0, 100, 0, 30000};
            sap_isosurface_options options = {.level = levels[type], .low_inside = s % 2 == 1};
            check_volume(device, cpu, volume, &options);
            options.level += 0.5f;
            check_volume(device, cpu, volume, &options);
        }
    free(values);
    sap_device_close(device);
    sap_device_close(cpu);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    CHECK_EQUAL(gl_tools.buffers, 0);
}

TEST(the_mesh_of_the_cpu) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    for (int way = first_way(); way < WAYS; way++) compare_with_cpu(way);
}

// ---- Bad input

enum { SIDE = 6 };

static sap_volume small_volume(float* values) {
    sap_volume volume = {.size = {SIDE, SIDE, SIDE}};
    fill(&volume, values, true);
    return volume;
}

TEST(surfaces_refuse) {
    watch w = {0};
    sap_device* device = NULL;
    float values[SIDE * SIDE * SIDE];
    sap_isosurface* surface = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    sap_volume volume = small_volume(values);
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int i = 0; i < 4; i++) {
        float kept = values[100];
        values[100] = bad[i];
        values[200] = NAN;
        CHECK_STATUS(sap_isosurface_extract(device, volume, NULL, &surface), SAP_ERROR_NOT_FINITE);
        CHECK(strstr(w.sentence, "sample 100 (x 4, y 4, z 2)") != NULL);
        values[100] = kept;
    }
    CHECK(!surface);
    volume.size[2] = most_side(device) + 1;
    void* many = calloc((size_t)volume.size[2] * 4, 1);
    volume.size[0] = volume.size[1] = 2;
    volume.type = SAP_VOXEL_U8;
    volume.values = many;
    CHECK_STATUS(sap_isosurface_extract(device, volume, NULL, &surface), SAP_ERROR_RANGE);
    CHECK(strstr(w.sentence, "GL_MAX_3D_TEXTURE_SIZE") != NULL);
    free(many);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// Where nothing crosses there is nothing, and it is no failure.
TEST(a_volume_without_a_surface) {
    watch w = {0};
    sap_device* device = NULL;
    float values[SIDE * SIDE * SIDE];
    sap_isosurface* surface = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    CHECK_STATUS(
        sap_isosurface_extract(device, small_volume(values), &(sap_isosurface_options){.level = 1e6f}, &surface),
        SAP_OK);
    if (surface) CHECK(!surface->mesh.vertex_count && !surface->mesh.triangle_count);
    sap_isosurface_free(surface);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// The status of an extraction in which something fails.
static sap_status extract_once(sap_device* device) {
    float values[SIDE * SIDE * SIDE];
    sap_isosurface* surface = NULL;
    sap_status status = sap_isosurface_extract(device, small_volume(values), NULL, &surface);
    CHECK((status == SAP_OK) == (surface != NULL));
    sap_isosurface_free(surface);
    return status;
}

static void lose_at_any_call(int way) {
    int64_t last = INT64_MAX, lost = 0;
    for (int64_t n = 0; n < last; n += 1 + (int64_t)draw(TEST_SANITIZED ? 250 : 120)) {
        watch w = {0};
        sap_device* device = NULL;
        take_way(way);
        NOTE("way %d, call %lld", way, (long long)n);
        if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
        int64_t before = gl_tools.calls;
        gl_tools.lose_at = n ? before + n : 0;
        sap_status status = extract_once(device);
        if (!n) last = gl_tools.calls - before;
        // Once the mesh is here, what is lost is only what was to be freed.
        CHECK(status == SAP_ERROR_DEVICE_LOST || (status == SAP_OK && (!n || n > last / 2)));
        lost += status == SAP_ERROR_DEVICE_LOST;
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    CHECK(lost > 1);
    gl_tools_reset();
}

TEST(a_context_lost_at_any_call) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    for (int way = first_way(); way < WAYS; way++) lose_at_any_call(way);
}

static void refuse_memory(int way) {
    watch w = {0};
    sap_device* device = NULL;
    take_way(way);
    if (!CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK)) return;
    int64_t before = gl_tools.memory_calls, requests = w.requests;
    CHECK_STATUS(extract_once(device), SAP_OK);
    int64_t textures = gl_tools.memory_calls - before, blocks = w.requests - requests;
    CHECK(textures > 5 && blocks > 1);
    for (int64_t n = 1; n <= textures; n++) {
        NOTE("way %d, texture or buffer %lld", way, (long long)n);
        sap_device_trim(device);
        gl_tools.fail_memory_at = gl_tools.memory_calls + n;
        CHECK_STATUS(extract_once(device), SAP_ERROR_DEVICE_MEMORY);
    }
    gl_tools.fail_memory_at = 0;
    for (int64_t n = 1; n <= blocks; n++) {
        NOTE("block %lld", (long long)n);
        sap_device_trim(device);
        w.fail_from = w.requests + n;
        CHECK_STATUS(extract_once(device), SAP_ERROR_MEMORY);
        w.fail_from = 0;
    }
    CHECK_STATUS(extract_once(device), SAP_OK);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

TEST(no_memory_anywhere) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    for (int way = first_way(); way < WAYS; way++) refuse_memory(way);
}

static bool stop_at(void* user, double done) {
    (void)done;
    return --*(int*)user > 0;
}

static void cancel_at_any_report(int way) {
    watch w = {0};
    sap_device* device = NULL;
    int left = 1000;
    take_way(way);
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    options.progress = stop_at;
    options.progress_user = &left;
    if (!CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK)) return;
    CHECK_STATUS(extract_once(device), SAP_OK);
    int reports = 1000 - left;
    CHECK(reports >= 5);
    for (int n = 1; n <= reports; n++) {
        left = n;
        CHECK_STATUS(extract_once(device), SAP_ERROR_CANCELLED);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

TEST(cancelled_at_any_report) {
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    for (int way = first_way(); way < WAYS; way++) cancel_at_any_report(way);
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
