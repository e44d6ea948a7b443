// Photons on CUDA devices: those of the CPU, and their light, every byte.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "render_set.h"
#include "sapwood/photons.h"

enum { POINTS = 150, WIDTH = 24, HEIGHT = 18, FLOATS = 3 * WIDTH * HEIGHT };

// The same mesh on both processors.
typedef struct stage {
    scene s;
    render_set set;
    sap_mesh_tree* trees[2]; // on the CPU, on the GPU
    sap_scene scene;         // all but the tree
} stage;

static void open_stage_on(stage* t) {
    render_set_make(&t->set);
    t->set.materials[1].absorption[0] = 0.3f; // glass that takes red and blue
    t->set.materials[1].absorption[2] = 2;
    CHECK_STATUS(sap_mesh_tree_build(t->s.cpu, t->set.mesh.mesh, NULL, &t->trees[0]), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(t->trees[0], t->s.gpu, &t->trees[1]), SAP_OK);
    t->scene = (sap_scene){.file = &t->set.file, .lights = render_lamps, .light_count = 2};
}

static void close_stage(stage* t) {
    for (int i = 0; i < 2; i++) sap_mesh_tree_free(t->trees[i]);
    scene_mesh_free(&t->set.mesh);
    close_scene(&t->s);
}

#define OPEN_STAGE(t, stream)                                                                                          \
    do {                                                                                                               \
        OPEN_SCENE(&(t)->s, stream);                                                                                   \
        open_stage_on(t);                                                                                              \
    } while (0)

static sap_photons* send(stage* t, int where, const sap_photon_options* o, sap_photons_info* info) {
    sap_photons* map = NULL;
    t->scene.tree = t->trees[where];
    CHECK_STATUS(sap_photons_trace(&t->scene, o, &map), SAP_OK);
    CHECK_STATUS(sap_photons_describe(map, info), SAP_OK);
    return map;
}

static sap_photon* read_all(const sap_photons* map, int64_t count) {
    sap_photon* photons = malloc((size_t)count * sizeof *photons + 1);
    CHECK_STATUS(sap_photons_read(map, 0, count, photons), SAP_OK);
    return photons;
}

static void expect_same_photons(stage* t, const sap_photon_options* o) {
    sap_photons_info here, there;
    sap_photons *map = send(t, 0, o, &here), *other = send(t, 1, o, &there);
    CHECK_EQUAL(here.count, there.count);
    CHECK_EQUAL(here.rays, there.rays);
    CHECK(!memcmp(here.power, there.power, sizeof here.power));
    CHECK(!memcmp(here.emitted, there.emitted, sizeof here.emitted));
    sap_photon* photons = read_all(other, there.count);
    CHECK(!memcmp(here.photons, photons, (size_t)here.count * sizeof *photons));
    free(photons);
    sap_photons_free(other);
    sap_photons_free(map);
}

TEST(photons_are_those_of_the_cpu) {
    static const sap_photon_options ways[] = {{.count = 3000},
                                              {.count = 1},
                                              {.count = 0},
                                              {.count = 1500, .first = 700, .total = 5000, .seed = 3},
                                              {.count = 2049, .kinds = SAP_PHOTON_CAUSTIC, .flat = true},
                                              {.count = 500, .bounces = 64, .ambient = -1},
                                              {.count = 500, .bounces = -1, .ambient = 3}};
    stage t;
    OPEN_STAGE(&t, NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        NOTE("way %d", (int)i);
        expect_same_photons(&t, &ways[i]);
    }
    t.scene.lights = NULL;
    t.scene.light_count = 0;
    t.set.materials[0].emission[0] = 2; // faces that shine
    expect_same_photons(&t, &ways[0]);
    close_stage(&t);
}

// Materials that are not finite are refused alike, by photons, and by pictures with them and without.
TEST(materials_that_are_not_finite) {
    static float light[FLOATS];
    const sap_render_photons photons = {.count = 100};
    stage t;
    OPEN_STAGE(&t, NULL);
    for (int i = 0; i < 4; i++) {
        sap_photons* map = NULL;
        float* number = i < 2 ? &t.set.materials[2].diffuse[1] : &t.set.materials[0].emission[2];
        const float before = *number;
        *number = i % 2 ? INFINITY : NAN;
        for (int where = 0; where < 2; where++) {
            t.scene.tree = t.trees[where];
            CHECK_STATUS(sap_photons_trace(&t.scene, &(sap_photon_options){.count = 10}, &map), SAP_ERROR_NOT_FINITE);
            for (int lit = 0; lit < 2; lit++) {
                const sap_render_options o = {.width = WIDTH, .height = HEIGHT, .photons = lit ? &photons : NULL};
                light[0] = 7;
                CHECK_STATUS(sap_render_light(&t.scene, &o, light, NULL), SAP_ERROR_NOT_FINITE);
                CHECK(light[0] == 7 && map == NULL);
            }
        }
        *number = before;
    }
    close_stage(&t);
}

TEST(no_light_and_no_mesh) {
    stage t;
    OPEN_STAGE(&t, NULL);
    const sap_photon_options dark = {.count = 100, .ambient = -1};
    t.scene.light_count = 0;
    t.set.materials[2].emission[2] = 0;
    expect_same_photons(&t, &dark);
    for (int i = 0; i < 2; i++) sap_mesh_tree_free(t.trees[i]);
    t.set.file = (sap_mesh_file){.mesh = {NULL, 0, NULL, 0}};
    CHECK_STATUS(sap_mesh_tree_build(t.s.cpu, t.set.file.mesh, NULL, &t.trees[0]), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(t.trees[0], t.s.gpu, &t.trees[1]), SAP_OK);
    expect_same_photons(&t, &(sap_photon_options){.count = 100});
    close_stage(&t);
}

// ---- Light

static const sap_photon_search ways_to_look[] = {{.k = 1},
                                                 {.k = 50},
                                                 {.k = 50, .radius = 0.4f, .filter = SAP_PHOTON_CONE, .shrink = 0.7f},
                                                 {.radius = 0.5f, .filter = SAP_PHOTON_EPANECHNIKOV},
                                                 {.radius = 0.5f, .shrink = 0.5f},
                                                 {.k = 100000},
                                                 {.k = 3, .radius = INFINITY}};

// Points among photons, half of them with the wrong side up, which need longer rows.
static void place_points(const sap_photons_info* info, float (*points)[4], float (*normals)[3]) {
    for (int64_t i = 0; i < POINTS; i++)
        for (int a = 0; a < 3; a++) {
            const sap_photon* p = &info->photons[i * 131 % info->count];
            points[i][a] = p->position[a] + (i % 5 == 0 ? 0.01f : 0);
            normals[i][a] = i % 2 ? p->normal[a] : -p->normal[a];
        }
    points[3][1] = NAN;
    normals[5][0] = NAN;
}

TEST(light_is_that_of_the_cpu) {
    stage t;
    OPEN_STAGE(&t, NULL);
    sap_photons_info here, there;
    const sap_photon_options o = {.count = 3000};
    sap_photons *map = send(&t, 0, &o, &here), *other = send(&t, 1, &o, &there);
    static float points[POINTS][4], normals[POINTS][3], expected[POINTS][3], light[POINTS][3];
    place_points(&here, points, normals);
    const sap_points at = {points[0], POINTS, 3, 4};
    sap_points at_gpu = at;
    at_gpu.coords = on_gpu(points, sizeof points);
    float *normals_gpu = on_gpu(normals, sizeof normals), *light_gpu = on_gpu(NULL, sizeof light);
    for (size_t i = 0; i < sizeof ways_to_look / sizeof *ways_to_look; i++) {
        NOTE("way %d", (int)i);
        CHECK_STATUS(sap_photons_estimate(map, at, normals[0], &ways_to_look[i], expected[0]), SAP_OK);
        memset(light, 0xee, sizeof light);
        CHECK_STATUS(sap_photons_estimate(other, at, normals[0], &ways_to_look[i], light[0]), SAP_OK);
        CHECK(!memcmp(light, expected, sizeof light));
        CHECK_STATUS(sap_photons_estimate(other, at_gpu, normals_gpu, &ways_to_look[i], light_gpu), SAP_OK);
        CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_OK);
        memset(light, 0xee, sizeof light);
        cuda_tools_copy(light, light_gpu, sizeof light);
        CHECK(!memcmp(light, expected, sizeof light));
    }
    cuda_tools_release(light_gpu);
    cuda_tools_release(normals_gpu);
    cuda_tools_release((void*)(uintptr_t)at_gpu.coords);
    sap_photons_free(other);
    sap_photons_free(map);
    close_stage(&t);
}

// Rows of few points, or of one alone, are in memory at a time where very many photons are within the radius.
TEST(many_within_the_radius) {
    enum { PHOTONS = 270, COUNT = 50, FAR = 40 };
    static sap_photon given[PHOTONS];
    static float points[COUNT][3], normals[COUNT][3], light[2][COUNT][3];
    static const float radii[] = {0.5f, 3, 1000};
    sap_photons* maps[2] = {NULL, NULL};
    stage t;
    OPEN_STAGE(&t, NULL);
    for (int i = 0; i < PHOTONS; i++)
        given[i] = (sap_photon){.position = {(float)(i % 30), 0, (float)(i / 30)},
                                .normal = {0, 1, 0},
                                .direction = {0, -1, 0},
                                .power = {1, 0.3f, (float)i}};
    for (int i = 0; i < COUNT; i++) {
        for (int a = 0; a < 3; a++) points[i][a] = a == 1 ? 0.1f : (float)(i * (7 + a) % (a ? 9 : 23));
        if (i >= FAR) points[i][0] = 1e6f;
        normals[i][1] = i % 9 ? 1 : -1;
    }
    points[4][2] = NAN;
    CHECK_STATUS(sap_photons_make(t.s.cpu, given, PHOTONS, &maps[0]), SAP_OK);
    CHECK_STATUS(sap_photons_make(t.s.gpu, given, PHOTONS, &maps[1]), SAP_OK);
    for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) {
        const sap_photon_search search = {.radius = radii[i], .filter = SAP_PHOTON_CONE};
        for (int where = 0; where < 2; where++)
            CHECK_STATUS(sap_photons_estimate(maps[where], (sap_points){points[0], COUNT, 3, 0}, normals[0], &search,
                                              light[where][0]),
                         SAP_OK);
        NOTE("radius %g", (double)radii[i]);
        CHECK(!memcmp(light[0], light[1], sizeof light[0]));
        CHECK(light[0][3][0] > 0 && light[0][9][0] == 0 && light[0][FAR + 3][0] == 0);
    }
    const sap_photon_search few = {.radius = 3};
    sap_status status = SAP_ERROR_MEMORY;
    int64_t fail = 0;
    for (; status == SAP_ERROR_MEMORY && fail < 50; fail++) {
        sap_device_trim(t.s.gpu);
        t.s.w.requests = 0;
        t.s.w.fail_from = fail + 1;
        status = sap_photons_estimate(maps[1], (sap_points){points[0], COUNT, 3, 0}, normals[0], &few, light[1][0]);
    }
    t.s.w.fail_from = 0;
    CHECK_STATUS(status, SAP_OK);
    CHECK(fail > 1);
    for (int where = 0; where < 2; where++) sap_photons_free(maps[where]);
    close_stage(&t);
}

TEST(own_photons) {
    stage t;
    OPEN_STAGE(&t, NULL);
    sap_photons_info info;
    sap_photons *map = send(&t, 0, &(sap_photon_options){.count = 500}, &info), *own = NULL, *none = NULL;
    CHECK_STATUS(sap_photons_make(t.s.gpu, info.photons, info.count, &own), SAP_OK);
    sap_photon* back = read_all(own, info.count);
    CHECK(!memcmp(back, info.photons, (size_t)info.count * sizeof *back));
    CHECK_STATUS(sap_photons_read(own, 7, 1, back), SAP_OK);
    CHECK(!memcmp(back, info.photons + 7, sizeof *back));
    CHECK_STATUS(sap_photons_read(own, info.count, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_photons_read(own, info.count, 1, back), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_read(own, -1, 1, back), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_read(own, 0, -1, back), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_read(own, 0, 1, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_read(NULL, 0, 0, back), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_make(t.s.gpu, NULL, 0, &none), SAP_OK);
    float point[3] = {0, 0, 0}, light[3] = {1, 1, 1};
    CHECK_STATUS(sap_photons_estimate(none, (sap_points){point, 1, 3, 0}, point, &ways_to_look[1], light), SAP_OK);
    CHECK(light[0] == 0 && light[1] == 0 && light[2] == 0);
    free(back);
    sap_photons_free(none);
    sap_photons_free(own);
    sap_photons_free(map);
    close_stage(&t);
}

static void expect_same_pictures(stage* t, const sap_render_options* o) {
    static float light[2][FLOATS];
    sap_render_info info[2];
    for (int where = 0; where < 2; where++) {
        t->scene.tree = t->trees[where];
        CHECK_STATUS(sap_render_light(&t->scene, o, light[where], &info[where]), SAP_OK);
    }
    CHECK(!memcmp(light[0], light[1], sizeof light[0]));
    CHECK(info[0].photons == info[1].photons && info[0].photons > 0 && info[0].rays == info[1].rays);
}

TEST(pictures_are_those_of_the_cpu) {
    static const sap_render_photons ways[] = {
        {.count = 2000, .search = {.k = 20}},
        {.count = 2000, .caustics = 500, .gather = true, .progressive = true, .search = {.k = 20, .radius = 1}},
        {.count = 1000, .progressive = true, .search = {.radius = 0.3f, .filter = SAP_PHOTON_CONE}}};
    for (int stream = 0; stream < 2; stream++) {
        stage t;
        OPEN_STAGE(&t, stream ? cuda_tools_stream() : NULL);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            NOTE("way %d", (int)i);
            const sap_render_options o = {
                .width = WIDTH, .height = HEIGHT, .samples = 2, .passes = 2, .photons = &ways[i]};
            expect_same_pictures(&t, &o);
        }
        close_stage(&t);
    }
}

// ---- Failures

typedef sap_status (*work)(stage* t);

static sap_status trace_some(stage* t) {
    sap_photons* map = NULL;
    t->scene.tree = t->trees[1];
    const sap_status status = sap_photons_trace(&t->scene, &(sap_photon_options){.count = 200, .bounces = 2}, &map);
    CHECK((status == SAP_OK) == (map != NULL));
    sap_photons_free(map);
    return status;
}

static sap_status draw_some(stage* t) {
    static float light[FLOATS];
    const sap_render_photons photons = {.count = 100, .bounces = 1, .search = {.k = 5}};
    const sap_render_options o = {.width = 5, .height = 3, .samples = 1, .bounces = 1, .photons = &photons};
    t->scene.tree = t->trees[1];
    return sap_render_light(&t->scene, &o, light, NULL);
}

TEST(refused_host_memory) {
    static const work works[] = {trace_some, draw_some};
    stage t;
    OPEN_STAGE(&t, NULL);
    for (int i = 0; i < 2; i++) {
        sap_status status = SAP_ERROR_MEMORY;
        int64_t fail = 0;
        while (status == SAP_ERROR_MEMORY && fail < 200) {
            sap_device_trim(t.s.gpu);
            t.s.w.requests = 0;
            t.s.w.fail_from = ++fail;
            status = works[i](&t);
        }
        t.s.w.fail_from = 0;
        CHECK_STATUS(status, SAP_OK);
        CHECK(fail > 3);
    }
    close_stage(&t);
}

// Every call of CUDA fails once, and all after it.
TEST(every_call_of_cuda_fails) {
    static const work works[] = {trace_some, draw_some};
    for (int i = 0; i < 2; i++)
        for (int kind = CUDA_TOOLS_ALLOCATE; kind <= CUDA_TOOLS_WAIT; kind++) {
            const bool lost = kind != CUDA_TOOLS_ALLOCATE;
            bool over = false;
            for (int64_t at = 1; !over; at++) {
                stage t;
                OPEN_STAGE(&t, NULL);
                CHECK_STATUS(works[i](&t), SAP_OK);
                sap_device_trim(t.s.gpu);
                fail_calls(1u << kind, at, lost, lost ? CUDA_TOOLS_ILLEGAL_ADDRESS : CUDA_TOOLS_NO_MEMORY);
                const sap_status status = works[i](&t);
                over = !cuda_tools.failed;
                // Memory for a smaller batch may do.
                if (over || (!lost && status == SAP_OK))
                    CHECK_STATUS(status, SAP_OK);
                else
                    CHECK_STATUS(status, lost ? SAP_ERROR_DEVICE_LOST : SAP_ERROR_DEVICE_MEMORY);
                cuda_tools_reset();
                close_stage(&t);
            }
        }
}

#else
TEST(photons_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
