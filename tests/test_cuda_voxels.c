// Thinning by a grid on CUDA devices: what the host makes of it, bit for bit, whichever side the points lie on; refusals in the
// same words; calls of CUDA that fail. That the host is right is for test_cloud_voxels.c.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "sapwood/cloud.h"
#include <stdlib.h>

enum { MOST = 2000, WIDTH = 2 };

static float normals[3 * MOST], attributes[WIDTH * MOST];

static void fill_beside(void) {
    for (int i = 0; i < 3 * MOST; i++) normals[i] = i % 15 < 12 ? (float)(i % 7) - 3 : 0;
    for (int i = 0; i < WIDTH * MOST; i++) attributes[i] = (float)(i * 7 % 13) / 3;
}

static sap_status thin(sap_device* device, const cloud* points, const sap_voxels_options* o, sap_thinned** v) {
    return points->real_bits == 64 ? sap_cloud_voxels_f64(device, cloud_f64(points), o, v)
                                   : sap_cloud_voxels(device, cloud_f32(points), o, v);
}

// The same with all arrays on the GPU.
static sap_status thin_there(sap_device* device, const cloud* points, const sap_voxels_options* o, sap_thinned** v) {
    const cloud there = cloud_on_gpu(points);
    sap_voxels_options with = *o;
    if (o->normals) with.normals = on_gpu(normals, sizeof normals);
    if (o->attributes) with.attributes = on_gpu(attributes, sizeof attributes);
    const sap_status status = thin(device, &there, &with, v);
    cuda_tools_release(there.coords);
    if (o->normals) cuda_tools_release((void*)(uintptr_t)with.normals);
    if (o->attributes) cuda_tools_release((void*)(uintptr_t)with.attributes);
    return status;
}

static void check_array(const void* got, const void* expected, int64_t count, size_t bytes, bool on_device) {
    void* here = malloc((size_t)count * bytes + 1);
    CHECK(!got == !expected);
    if (here && got && expected && on_device) cuda_tools_copy(here, got, (size_t)count * bytes);
    if (here && got && expected && count) CHECK(memcmp(on_device ? here : got, expected, (size_t)count * bytes) == 0);
    free(here);
}

static void check_same(const sap_thinned* got, const sap_thinned* expected, int64_t points, bool on_device) {
    if (!got || !expected) return;
    CHECK_EQUAL(got->count, expected->count);
    CHECK_EQUAL(got->dims, expected->dims);
    CHECK_EQUAL(got->on_device, on_device);
    CHECK(!expected->on_device);
    if (got->count != expected->count) return;
    const int64_t n = got->count, dims = got->dims;
    check_array(got->ids, expected->ids, n, 4, on_device);
    check_array(got->counts, expected->counts, n, 4, on_device);
    check_array(got->coords, expected->coords, n * dims, 4, on_device);
    check_array(got->coords_f64, expected->coords_f64, n * dims, 8, on_device);
    check_array(got->normals, expected->normals, 3 * n, 4, on_device);
    check_array(got->attributes, expected->attributes, WIDTH * n, 4, on_device);
    check_array(got->cell_of, expected->cell_of, points, 4, on_device);
}

static void try_both(scene* s, const cloud* points, const sap_voxels_options* o) {
    sap_thinned *expected = NULL, *here = NULL, *there = NULL;
    CHECK_STATUS(thin(s->cpu, points, o, &expected), SAP_OK);
    CHECK_STATUS(thin(s->gpu, points, o, &here), SAP_OK);
    check_same(here, expected, points->count, false);
    if (points->count) {
        CHECK_STATUS(thin_there(s->gpu, points, o, &there), SAP_OK);
        check_same(there, expected, points->count, true);
    }
    sap_thinned_free(expected);
    sap_thinned_free(here);
    sap_thinned_free(there);
}

TEST(voxels_are_those_of_the_host) {
    static const double sizes[] = {1e9, 0.5, 0.07, 1e-4, 0x1p-48};
    scene s;
    OPEN_SCENE(&s, NULL);
    fill_beside();
    for (int i = 0; i < 240; i++) {
        const int32_t dims = 1 + i % 5;
        const int64_t n = i % 7 == 0 ? i / 7 % 4 : i % 7 == 1 ? MOST : 100 + i;
        cloud points = cloud_of_family((family)(i % FAMILY_COUNT), n, dims, i % 2 ? 64 : 32, i % 3 == 1 ? dims + 2 : 0,
                                       (uint64_t)i);
        sap_voxels_options o = {.point = (sap_voxels_point)(i / 2 % 3), .fewest = i % 4 == 3 ? 3 : 0};
        double most = 0;
        for (int64_t j = 0; j < n; j++)
            for (int32_t a = 0; a < dims; a++) most = fmax(most, fabs(cloud_get(&points, j, a)));
        for (int32_t a = 0; a < dims; a++) {
            o.sizes[a] = fmax(most, 1e-30) * sizes[i / 6 % 5] * (a + 1);
            o.origin[a] = i % 5 == 2 ? most * 0.1 : 0;
        }
        if (i % 3) o.normals = normals;
        if (i % 4) o.attributes = attributes, o.attribute_count = WIDTH;
        if (i % 5 == 4 && n > 3) {
            cloud_set(&points, 2, dims - 1, (double)NAN);
            cloud_set(&points, n - 1, 0, (double)INFINITY);
            o.drop_nonfinite = true;
        }
        NOTE("case %d: n %d dims %d f%d size %g", i, (int)n, dims, points.real_bits, o.sizes[0]);
        try_both(&s, &points, &o);
        cloud_free(&points);
    }
    close_scene(&s);
}

// Cells of so many points that each is made by a block: of all three kinds, one alone, among others, and left out.
TEST(cells_of_many_points) {
    enum { ALL = 20000 };
    static float many_normals[3 * ALL], many_attributes[WIDTH * ALL];
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int i = 0; i < 3 * ALL; i++) many_normals[i] = (float)(i % 7) - 2;
    for (int i = 0; i < WIDTH * ALL; i++) many_attributes[i] = (float)(i * 7 % 13) / 3;
    for (int i = 0; i < 18; i++) {
        static const double sides[] = {0.7, 10, 0.3};
        cloud points = cloud_of_family(i % 2 ? FAMILY_UNIFORM : FAMILY_EQUAL, ALL, 3, i % 3 ? 32 : 64, 0, 1);
        const double side = sides[i / 6];
        sap_voxels_options o = {.sizes = {side, side, side},
                                .point = (sap_voxels_point)(i % 3),
                                .fewest = i % 4 == 3 ? ALL / 8 : 0,
                                .normals = many_normals,
                                .attributes = many_attributes,
                                .attribute_count = WIDTH};
        sap_thinned *expected = NULL, *here = NULL;
        NOTE("case %d: side %g", i, side);
        CHECK_STATUS(thin(s.cpu, &points, &o, &expected), SAP_OK);
        CHECK_STATUS(thin(s.gpu, &points, &o, &here), SAP_OK);
        check_same(here, expected, points.count, false);
        sap_thinned_free(expected);
        sap_thinned_free(here);
        cloud_free(&points);
    }
    close_scene(&s);
}

// Refused in the words of the host.
TEST(refusals_are_those_of_the_host) {
    scene s;
    watch host;
    sap_device* cpu = NULL;
    OPEN_SCENE(&s, NULL);
    const sap_device_options options = watched(&host);
    CHECK_STATUS(sap_device_open(&options, &cpu), SAP_OK);
    fill_beside();
    for (int kind = 0; kind < 7; kind++) {
        cloud points = cloud_of_family(FAMILY_UNIFORM, 300, 3, kind % 2 ? 64 : 32, 0, 1);
        sap_voxels_options o = {
            .sizes = {1, 1, 1}, .normals = normals, .attributes = attributes, .attribute_count = WIDTH};
        float* const bad = kind == 1 ? &normals[3 * 40 + 1] : &attributes[WIDTH * 50 + 1];
        const float was = *bad;
        sap_thinned* v = NULL;
        NOTE("kind %d", kind);
        if (kind == 0) cloud_set(&points, 17, 1, (double)NAN);
        if (kind == 1 || kind == 2) *bad = NAN;
        if (kind == 3) o.sizes[2] = 1e-300;
        if (kind == 4) {
            cloud_set(&points, 20, 2, 1e30); // too far, and another one before
            cloud_set(&points, 9, 1, 1e30);
        }
        if (kind == 5) {
            o.sizes[0] = 1e290; // which even so cannot be squared
            cloud_set(&points, 30, 0, 1e300);
        }
        if (kind == 6) {
            cloud_set(&points, 30, 0, 1e30); // beside what is at fault
            cloud_set(&points, 30, 2, (double)NAN);
        }
        const sap_status expected = thin(cpu, &points, &o, &v);
        CHECK(expected != SAP_OK);
        CHECK_STATUS(thin(s.gpu, &points, &o, &v), expected);
        CHECK(strcmp(s.w.sentence, host.sentence) == 0);
        CHECK_STATUS(thin_there(s.gpu, &points, &o, &v), expected);
        CHECK(strcmp(s.w.sentence, host.sentence) == 0);
        CHECK(!v);
        *bad = was;
        cloud_free(&points);
    }
    sap_device_close(cpu);
    close_scene(&s);
}

// Makes call n of such kinds fail; whether there was one.
static bool fail_at(unsigned kinds, int64_t n, cuda_tools_error error, bool on_device, sap_status expected) {
    scene s;
    if (!open_scene(&s, NULL)) return false;
    cloud points = cloud_of_family(FAMILY_UNIFORM, 500, 3, 32, 0, 1);
    const sap_voxels_options o = {.sizes = {0.3, 0.3, 0.3}, .fewest = 2, .normals = normals};
    sap_thinned* v = NULL;
    fail_calls(kinds, n, error == CUDA_TOOLS_NO_MEMORY, error);
    const sap_status status = (on_device ? thin_there : thin)(s.gpu, &points, &o, &v);
    const bool failed = cuda_tools.failed;
    cuda_tools_reset();
    CHECK_STATUS(status, failed ? expected : SAP_OK);
    CHECK(failed == !v);
    sap_thinned_free(v);
    cloud_free(&points);
    close_scene(&s);
    return failed;
}

TEST(every_call_of_cuda_fails) {
    scene s;
    OPEN_SCENE(&s, NULL);
    close_scene(&s);
    fill_beside();
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
    fill_beside();
    for (int on_device = 0; on_device < 2; on_device++) {
        scene s;
        OPEN_SCENE(&s, NULL);
        cloud points = cloud_of_family(FAMILY_UNIFORM, 500, 3, 32, 0, 1);
        const sap_voxels_options o = {.sizes = {0.3, 0.3, 0.3}};
        sap_thinned* v = NULL;
        for (int64_t n = 1; !v && n < 20; n++) {
            NOTE("request %d refused, on the GPU %d", (int)n, on_device);
            s.w.requests = 0;
            s.w.fail_from = n;
            const sap_status status = (on_device ? thin_there : thin)(s.gpu, &points, &o, &v);
            s.w.fail_from = 0;
            CHECK_STATUS(status, v ? SAP_OK : SAP_ERROR_MEMORY);
            CHECK(v || s.w.requests >= n);
        }
        CHECK(v != NULL);
        sap_thinned_free(v);
        cloud_free(&points);
        close_scene(&s);
    }
}

#else
TEST(voxels_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
