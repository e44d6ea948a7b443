// Surfaces on a GPU: where they lie, and what happens where memory or the GPU fails.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "sapwood/surface.h"

enum { X = 70, Y = 7, Z = 6, SAMPLES = X * Y * Z };

static sap_volume noise(float* values) {
    uint64_t state = 1;
    for (int i = 0; i < SAMPLES; i++) values[i] = (float)(random_next(&state) % 8);
    return (sap_volume){.values = values, .size = {X, Y, Z}};
}

static const sap_isosurface_options level = {.level = 5.5f};

static void expect_same_there(const sap_isosurface* here, const sap_isosurface* there) {
    size_t vertices = (size_t)here->mesh.vertex_count * 12, triangles = (size_t)here->mesh.triangle_count * 12;
    void* copy = malloc(vertices + triangles);
    CHECK(!here->on_device && there->on_device);
    if (CHECK(there->mesh.vertex_count == here->mesh.vertex_count &&
              there->mesh.triangle_count == here->mesh.triangle_count)) {
        cuda_tools_copy(copy, there->mesh.vertices, vertices);
        CHECK(!memcmp(copy, here->mesh.vertices, vertices));
        cuda_tools_copy(copy, there->normals, vertices);
        CHECK(!memcmp(copy, here->normals, vertices));
        cuda_tools_copy(copy, there->mesh.triangles, triangles);
        CHECK(!memcmp(copy, here->mesh.triangles, triangles));
    }
    free(copy);
}

TEST(surfaces_lie_where_their_volumes_lay) {
    static float values[SAMPLES];
    for (int streams = 0; streams < 2; streams++) {
        scene s;
        OPEN_SCENE(&s, streams ? cuda_tools_stream() : NULL);
        sap_volume v = noise(values), moved = v;
        sap_isosurface *expected = NULL, *here = NULL, *there = NULL;
        moved.values = on_gpu(values, sizeof values);
        CHECK_STATUS(sap_isosurface_extract(s.cpu, v, &level, &expected), SAP_OK);
        CHECK_STATUS(sap_isosurface_extract(s.gpu, v, &level, &here), SAP_OK);
        CHECK_STATUS(sap_isosurface_extract(s.gpu, moved, &level, &there), SAP_OK);
        CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
        if (CHECK(expected && here && there)) {
            expect_same_there(expected, there);
            expect_same_there(here, there);
        }
        sap_isosurface_free(expected);
        sap_isosurface_free(here);
        sap_isosurface_free(there);
        cuda_tools_release((void*)(uintptr_t)moved.values);
        close_scene(&s);
    }
}

// Fails each call of a kind in turn; whether one was reached.
static bool fail_at(unsigned kinds, int64_t n, cuda_tools_error error, bool on_device, sap_status expected) {
    static float values[SAMPLES];
    scene s;
    if (!open_scene(&s, NULL)) return false;
    sap_volume v = noise(values);
    sap_isosurface* got = NULL;
    if (on_device) v.values = on_gpu(values, sizeof values);
    cuda_tools.seen = 0;
    cuda_tools.failed = false;
    cuda_tools.error = error;
    cuda_tools.fail_kinds = kinds;
    cuda_tools.fail_on = error == CUDA_TOOLS_NO_MEMORY; // else what lies idle would be given up for it
    cuda_tools.fail_at = n;
    sap_status status = sap_isosurface_extract(s.gpu, v, &level, &got);
    bool failed = cuda_tools.failed;
    cuda_tools.fail_at = 0;
    CHECK_STATUS(status, failed ? expected : SAP_OK);
    CHECK(failed == !got);
    sap_isosurface_free(got);
    got = NULL;
    if (failed && expected != SAP_ERROR_DEVICE_LOST) {
        CHECK_STATUS(sap_isosurface_extract(s.gpu, v, &level, &got), SAP_OK);
        sap_isosurface_free(got);
    } else if (failed)
        CHECK_STATUS(sap_isosurface_extract(s.gpu, v, &level, &got), SAP_ERROR_DEVICE_LOST);
    if (on_device) cuda_tools_release((void*)(uintptr_t)v.values);
    close_scene(&s);
    return failed;
}

TEST(faults) {
    scene s;
    OPEN_SCENE(&s, NULL);
    close_scene(&s);
    for (int on_device = 0; on_device < 2; on_device++) {
        int64_t n = 1;
        NOTE("memory, on the GPU %d", on_device);
        while (fail_at(1u << CUDA_TOOLS_ALLOCATE, n, CUDA_TOOLS_NO_MEMORY, on_device, SAP_ERROR_DEVICE_MEMORY)) n++;
        CHECK(n > 5);
        NOTE("launches, on the GPU %d", on_device);
        for (n = 1; fail_at(1u << CUDA_TOOLS_LAUNCH | 1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL, n,
                            CUDA_TOOLS_ILLEGAL_ADDRESS, on_device, SAP_ERROR_DEVICE_LOST);)
            n++;
        CHECK(n > 5);
    }
}

TEST(refused_host_memory) {
    static float values[SAMPLES];
    for (int on_device = 0; on_device < 2; on_device++) {
        scene s;
        OPEN_SCENE(&s, NULL);
        sap_volume v = noise(values);
        sap_isosurface* got = NULL;
        if (on_device) v.values = on_gpu(values, sizeof values);
        for (int64_t n = 1; !got && n < 20; n++) {
            NOTE("request %d refused, on the GPU %d", (int)n, on_device);
            s.w.requests = 0;
            s.w.fail_from = n;
            sap_status status = sap_isosurface_extract(s.gpu, v, &level, &got);
            s.w.fail_from = 0;
            CHECK_STATUS(status, got ? SAP_OK : SAP_ERROR_MEMORY);
            CHECK(got || s.w.requests >= n);
        }
        CHECK(got != NULL);
        sap_isosurface_free(got);
        if (on_device) cuda_tools_release((void*)(uintptr_t)v.values);
        close_scene(&s);
    }
}

TEST(captures_are_refused) {
    static float values[SAMPLES];
    scene s;
    OPEN_SCENE(&s, cuda_tools_stream());
    sap_volume v = noise(values);
    sap_isosurface* got = NULL;
    v.values = on_gpu(values, sizeof values);
    CHECK_STATUS(sap_isosurface_extract(s.gpu, v, &level, &got), SAP_OK);
    sap_isosurface_free(got);
    got = NULL;
    cuda_tools.pretends_capture = true;
    CHECK_STATUS(sap_isosurface_extract(s.gpu, v, &level, &got), SAP_ERROR_UNSUPPORTED);
    cuda_tools.pretends_capture = false;
    CHECK(!got);
    cuda_tools_release((void*)(uintptr_t)v.values);
    close_scene(&s);
}

#else
TEST(surfaces_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
