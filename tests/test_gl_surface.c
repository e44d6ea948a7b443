// Surfaces on OpenGL against the CPU's: the same vertices and triangles in the same order; positions and normals by
// how far divisions of GLSL ES may be rounded.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "sapwood/surface.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include <math.h>

static uint64_t state = 1;

static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 32) * below >> 32);
}

static sap_status open_watched(watch* w, sap_device** device) {
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    return gl_tools_open(&options, device);
}

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
        wrong_normals += !is_near(a->normals[i], b->normals[i], 1.0f);
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

TEST(the_mesh_of_the_cpu) {
    static const int64_t sizes[][3] = {{2, 2, 2}, {3, 2, 5}, {17, 9, 11}, {31, 30, 29}, {5, 1, 7}, {64, 3, 3}};
    watch w = {0};
    sap_device *device = NULL, *cpu = NULL;
    if (!gl_tools_present()) SKIP("no OpenGL ES");
    gl_tools_reset();
    if (!CHECK_STATUS(open_watched(&w, &device), SAP_OK)) return;
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
}
#endif

TEST_MAIN()
