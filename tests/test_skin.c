// Vertices that follow bones: against closed forms, the same bits for any number of threads and on a GPU, wherever arrays lie; and
// what is refused.
#include "cases.h"
#include "sapwood/move.h"
#include "stage.h"
#include "test.h"
#include "trees.h"
#include <math.h>
#include <stdlib.h>
#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#endif

enum { COUNT = 10001, EACH = 2, RINGS = 41, AROUND = 16 };

static const double pi = 3.14159265358979323846;
static const float at_rest[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
// Bone 0 is at rest; bone 1 turns x to y and shifts by (1, 2, 3).
static const float two_bones[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1, 1, 0, 0, 2, 0, 0, 1, 3};
static float vertices[3 * COUNT], normals[3 * COUNT], weights[EACH * COUNT], moved[3 * COUNT], turned[3 * COUNT];
static int32_t bones[EACH * COUNT];

static sap_device* open_cpu(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    return device;
}

static sap_skin make(void) {
    for (int i = 0; i < COUNT; i++) {
        for (int a = 0; a < 3; a++) {
            vertices[3 * i + a] = (float)((i * 7 + a * 13) % 101) / 8;
            normals[3 * i + a] = a == i % 3 ? 1 : 0;
        }
        for (int j = 0; j < EACH; j++) bones[EACH * i + j] = j;
        weights[EACH * i] = (float)(i % 5) / 4;
        weights[EACH * i + 1] = 1 - weights[EACH * i];
    }
    return (sap_skin){.vertices = vertices,
                      .normals = normals,
                      .count = COUNT,
                      .bones = bones,
                      .weights = weights,
                      .each = EACH,
                      .matrices = two_bones,
                      .matrix_count = 2};
}

static double length_of(const float* v) {
    return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
}

TEST(matrices_are_added_up) {
    const sap_skin skin = make();
    for (int32_t threads = 1; threads <= 3; threads++) {
        sap_device* device = open_cpu(threads);
        CHECK_STATUS(sap_mesh_skin(device, &skin, moved, turned), SAP_OK);
        for (int i = 0; i < COUNT; i++) { // all are small multiples of 1/32: exact
            const float *v = vertices + 3 * i, w = weights[2 * i], u = 1 - w;
            CHECK(moved[3 * i] == w * v[0] + u * (1 - v[1]));
            CHECK(moved[3 * i + 1] == w * v[1] + u * (v[0] + 2));
            CHECK(moved[3 * i + 2] == v[2] + u * 3);
            CHECK(fabs(length_of(turned + 3 * i) - 1) < 1e-6);
        }
        sap_device_close(device);
    }
}

// One bone moves as its matrix does, and half of a turn by 90 degrees is one of 45.
TEST(dual_quaternions_turn) {
    sap_skin skin = make();
    sap_device* device = open_cpu(2);
    skin.blend = SAP_SKIN_DUAL_QUATERNIONS;
    CHECK_STATUS(sap_mesh_skin(device, &skin, moved, turned), SAP_OK);
    for (int i = 0; i < COUNT; i++) {
        const float *v = vertices + 3 * i, w = weights[2 * i], *to = moved + 3 * i;
        CHECK(fabs(length_of(turned + 3 * i) - 1) < 1e-6);
        if (w == 1) CHECK(to[0] == v[0] && to[1] == v[1] && to[2] == v[2]);
        if (w == 0)
            CHECK(fabsf(to[0] - 1 + v[1]) < 1e-5f && fabsf(to[1] - v[0] - 2) < 1e-5f &&
                  fabsf(to[2] - v[2] - 3) < 1e-5f);
        if (w != 0.5f) continue;
        // About the axis that both bones turn around: where it is, the turn leaves all but the shift along it.
        const double c = cos(pi / 4), s = sin(pi / 4), x = (double)v[0] + 0.5, y = (double)v[1] - 1.5;
        CHECK(fabs((double)to[0] - (c * x - s * y - 0.5)) < 1e-4 && fabs((double)to[1] - (s * x + c * y + 1.5)) < 1e-4);
        CHECK(fabs((double)to[2] - (double)v[2] - 1.5) < 1e-4);
    }
    sap_device_close(device);
}

// A turn about an axis, as three rows of four.
static void turn_about(int axis, double angle, float m[12]) {
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    memcpy(m, at_rest, sizeof at_rest);
    m[4 * a + a] = m[4 * b + b] = (float)cos(angle);
    m[4 * a + b] = -(float)sin(angle);
    m[4 * b + a] = (float)sin(angle);
}

// A cylinder along z, whose upper end turns: its middle is thin by matrices where it is twisted, and round by dual
// quaternions; bent, either leaves its lower end where it is.
TEST(a_cylinder_is_twisted_and_bent) {
    sap_skin skin = make();
    sap_device* device = open_cpu(1);
    skin.count = RINGS * AROUND;
    for (int i = 0; i < RINGS * AROUND; i++) {
        const double angle = 2 * pi * (i % AROUND) / AROUND, up = (double)(i / AROUND) / (RINGS - 1);
        const float at[3] = {(float)cos(angle), (float)sin(angle), (float)(10 * up - 5)};
        memcpy(vertices + 3 * i, at, sizeof at);
        const float out[3] = {at[0], at[1], 0};
        memcpy(normals + 3 * i, out, sizeof out);
        weights[2 * i] = (float)(1 - up);
        weights[2 * i + 1] = (float)up;
    }
    for (int twist = 0; twist < 2; twist++)
        for (int blend = SAP_SKIN_LINEAR; blend <= SAP_SKIN_DUAL_QUATERNIONS; blend++) {
            float matrices[24];
            const double by = twist ? 0.9 * pi : 0.5 * pi;
            memcpy(matrices, at_rest, sizeof at_rest);
            turn_about(twist ? 2 : 0, by, matrices + 12);
            skin.matrices = matrices;
            skin.blend = (sap_skin_blend)blend;
            CHECK_STATUS(sap_mesh_skin(device, &skin, moved, turned), SAP_OK);
            CHECK(!memcmp(moved, vertices, 3 * AROUND * sizeof(float)));
            const int middle = RINGS / 2 * AROUND;
            const double radius = sqrt((double)moved[3 * middle] * (double)moved[3 * middle] +
                                       (double)moved[3 * middle + 1] * (double)moved[3 * middle + 1]);
            // Half of a turn and half of none is a turn by half, times the cosine of that half where matrices are added.
            if (twist) CHECK(fabs(radius - (blend == SAP_SKIN_LINEAR ? cos(by / 2) : 1)) < 1e-5);
            for (int i = 0; i < RINGS * AROUND; i++) CHECK(fabs(length_of(turned + 3 * i) - 1) < 1e-5);
        }
    sap_device_close(device);
}

TEST(bones_at_rest_and_nan) {
    sap_skin skin = make();
    sap_device* device = open_cpu(2);
    for (int i = 0; i < COUNT; i++) {
        bones[2 * i] = bones[2 * i + 1] = 0;
        weights[2 * i] = 1;
        weights[2 * i + 1] = 0;
    }
    weights[20] = NAN;
    skin.matrices = at_rest;
    skin.matrix_count = 1;
    for (int blend = SAP_SKIN_LINEAR; blend <= SAP_SKIN_DUAL_QUATERNIONS; blend++) {
        skin.blend = (sap_skin_blend)blend;
        CHECK_STATUS(sap_mesh_skin(device, &skin, moved, turned), SAP_OK);
        for (int i = 0; i < 3 * COUNT; i++)
            CHECK(i / 3 == 10 ? isnan(moved[i]) : moved[i] == vertices[i] && turned[i] == normals[i]);
    }
    // Weights that cancel have no motion.
    for (int i = 0; i < COUNT; i++) weights[2 * i] = weights[2 * i + 1] = 0;
    CHECK_STATUS(sap_mesh_skin(device, &skin, moved, turned), SAP_OK);
    for (int i = 0; i < 3 * COUNT; i++) CHECK(isnan(moved[i]) && isnan(turned[i]));
    sap_device_close(device);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    sap_skin good = make(), skin = good;
    CHECK_STATUS(sap_mesh_skin(NULL, &good, moved, turned), SAP_ERROR_ARGUMENT);
    REFUSED(sap_mesh_skin(s.device, NULL, moved, turned), SAP_ERROR_ARGUMENT, "skin");
    REFUSED(sap_mesh_skin(s.device, &good, NULL, turned), SAP_ERROR_ARGUMENT, "moved");
    REFUSED(sap_mesh_skin(s.device, &good, moved, NULL), SAP_ERROR_ARGUMENT, "turned");
    skin.each = SAP_SKIN_MOST + 1;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "skin.each");
    skin = good, skin.matrix_count = 0;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "skin.matrix_count");
    skin = good, skin.count = -1;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "skin.count");
    skin = good, skin.count = (int64_t)INT32_MAX + 1;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_RANGE, "skin.count");
    skin = good, skin.blend = (sap_skin_blend)2;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "skin.blend");
    skin = good, skin.weights = NULL;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "weights");
    skin = good, skin.reserved[2] = 1;
    REFUSED(sap_mesh_skin(s.device, &skin, moved, turned), SAP_ERROR_ARGUMENT, "reserved");
    bones[2 * 77] = -1;
    bones[2 * 5001 + 1] = 2;
    REFUSED(sap_mesh_skin(s.device, &good, moved, turned), SAP_ERROR_RANGE, "vertex 77 ");
    skin = (sap_skin){.each = 1};
    CHECK_STATUS(sap_mesh_skin(s.device, &skin, NULL, NULL), SAP_OK);
    close_stage(&s);
}

#if defined(SAP_HAVE_CUDA)
static float expected[3 * COUNT], expected_turned[3 * COUNT];

static void expect(scene* s, const sap_skin* skin) {
    CHECK_STATUS(sap_mesh_skin(s->cpu, skin, expected, expected_turned), SAP_OK);
}

static void check_expected(void) {
    CHECK(!memcmp(moved, expected, sizeof moved));
    CHECK(!memcmp(turned, expected_turned, sizeof turned));
}

// Arrays on the host; all of them on the GPU, also where it works in the caller's stream.
TEST(results_are_the_same_bits_on_a_gpu) {
    for (int streams = 0; streams < 2; streams++) {
        scene s;
        OPEN_SCENE(&s, streams ? cuda_tools_stream() : NULL);
        sap_skin skin = make(), there = skin;
        there.vertices = on_gpu(vertices, sizeof vertices);
        there.normals = on_gpu(normals, sizeof normals);
        there.bones = on_gpu(bones, sizeof bones);
        there.weights = on_gpu(weights, sizeof weights);
        there.matrices = on_gpu(two_bones, sizeof two_bones);
        float *to = on_gpu(NULL, sizeof moved), *to_turned = on_gpu(NULL, sizeof turned);
        for (int blend = SAP_SKIN_LINEAR; blend <= SAP_SKIN_DUAL_QUATERNIONS; blend++) {
            skin.blend = there.blend = (sap_skin_blend)blend;
            expect(&s, &skin);
            memset(moved, 0, sizeof moved);
            CHECK_STATUS(sap_mesh_skin(s.gpu, &skin, moved, turned), SAP_OK);
            check_expected();
            const int64_t waits = cuda_tools.calls[CUDA_TOOLS_WAIT];
            CHECK_STATUS(sap_mesh_skin(s.gpu, &there, to, to_turned), SAP_OK);
            CHECK(!streams || cuda_tools.calls[CUDA_TOOLS_WAIT] == waits);
            CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
            cuda_tools_copy(moved, to, sizeof moved);
            cuda_tools_copy(turned, to_turned, sizeof turned);
            check_expected();
        }
        const void* const arrays[] = {there.vertices, there.normals, there.bones, there.weights, there.matrices, to,
                                      to_turned};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) cuda_tools_release((void*)(uintptr_t)arrays[i]);
        close_scene(&s);
    }
}

TEST(a_bone_that_there_is_none_of) {
    scene s;
    OPEN_SCENE(&s, NULL);
    const sap_skin skin = make();
    bones[2 * 77] = -1;
    bones[2 * 5001 + 1] = 2;
    CHECK_STATUS(sap_mesh_skin(s.gpu, &skin, moved, turned), SAP_ERROR_RANGE);
    CHECK(strstr(s.w.sentence, "vertex 77 ") != NULL);
    close_scene(&s);
}

TEST(every_call_of_cuda_fails) {
    static const unsigned kinds[2] = {1u << CUDA_TOOLS_ALLOCATE,
                                      1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL | 1u << CUDA_TOOLS_LAUNCH};
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_skin skin = make();
    skin.blend = SAP_SKIN_DUAL_QUATERNIONS;
    expect(&s, &skin);
    for (int kind = 0; kind < 2; kind++)
        for (int n = 1; CHECK(n < 100); n++) {
            sap_device_trim(s.gpu);
            fail_calls(kinds[kind], n, kind == 0, CUDA_TOOLS_NO_MEMORY);
            const sap_status status = sap_mesh_skin(s.gpu, &skin, moved, turned);
            const bool failed = cuda_tools.failed;
            cuda_tools_reset();
            CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
            if (!failed) break;
        }
    check_expected();
    close_scene(&s);
}
#endif

TEST_MAIN()
