// Pictures: the same pixels everywhere, what materials and lights do, and calls that are refused.
#include "allocator.h"
#include "progress_host.h"
#include "render_instances.h"
#include "sapwood/photons.h"
#include "test.h"

enum { WIDTH = RENDER_WIDTH, HEIGHT = RENDER_HEIGHT, BYTES = 3 * WIDTH * HEIGHT };

typedef struct studio {
    watch w;
    sap_device* device;
    render_set set;
    sap_scene scene;
    sap_mesh_tree* tree;
    progress_host progress;
    uint8_t pixels[BYTES];
} studio;

static void open_studio(studio* s, int32_t threads, sap_simd simd) {
    memset(s, 0, sizeof *s);
    render_set_make(&s->set);
    sap_device_options options = watched(&s->w);
    options.threads = threads;
    options.simd = simd;
    options.progress = progress_host_report;
    options.progress_user = &s->progress;
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->set.mesh.mesh, NULL, &s->tree), SAP_OK);
    s->scene = (sap_scene){.tree = s->tree, .file = &s->set.file};
    s->progress = (progress_host){0};
}

static void close_studio(studio* s) {
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    scene_mesh_free(&s->set.mesh);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
}

static sap_status draw(studio* s, const sap_render_options* options) {
    s->progress.last = 0;
    memset(s->pixels, 0xee, sizeof s->pixels);
    return sap_render(&s->scene, options, s->pixels, NULL);
}

static uint32_t checksum(const studio* s) { // FNV-1a
    uint32_t sum = 2166136261u;
    for (int i = 0; i < BYTES; i++) sum = (sum ^ s->pixels[i]) * 16777619u;
    return sum;
}

static double brightness(const studio* s) {
    double sum = 0;
    for (int i = 0; i < BYTES; i++) sum += s->pixels[i];
    return sum / BYTES;
}

TEST(pictures_stay_the_same) {
    uint32_t sums[RENDER_SETS] = {1453422346u, 1464525316u, 523149459u, 4058867446u, 0, 3646421796u};
    for (int run = 0; run < 4; run++) {
        studio s;
        sap_simd simd = run == 3 ? SAP_SIMD_PORTABLE : SAP_SIMD_AUTO;
        open_studio(&s, run == 3 ? 1 : run + 1, simd);
        for (int which = 0; which < RENDER_SETS; which++) {
            NOTE("run %d, picture %d", run, which);
            sap_render_options o = render_set_options(&s.scene, which);
            CHECK_STATUS(draw(&s, &o), SAP_OK);
            if (run == 0 && o.heat) sums[which] = checksum(&s); // that of the tree, which may get better
            CHECK_EQUAL(checksum(&s), sums[which]);
            CHECK(s.progress.last == 1);
        }
        close_studio(&s);
    }
}

TEST(light_and_shadow) {
    studio s;
    open_studio(&s, 2, SAP_SIMD_AUTO);
    sap_render_options o = render_small;
    sap_render_info info;
    o.ambient = -1;
    s.scene.lights = render_lamps; // none of which is used
    o.background = (const float[3]){0, 0, 0};
    CHECK_STATUS(draw(&s, &o), SAP_OK);
    double night = brightness(&s);
    s.scene.light_count = 1;
    CHECK_STATUS(draw(&s, &o), SAP_OK);
    double one = brightness(&s);
    s.scene.light_count = 2;
    CHECK_STATUS(draw(&s, &o), SAP_OK);
    double two = brightness(&s);
    o.exposure = 2;
    CHECK_STATUS(draw(&s, &o), SAP_OK);
    CHECK(night < one && one < two && two < brightness(&s));
    o.bounces = -1;
    s.progress.last = 0;
    CHECK_STATUS(sap_render(&s.scene, &o, s.pixels, &info), SAP_OK);
    CHECK(info.rays >= (int64_t)WIDTH * HEIGHT * o.samples && info.hottest == 0);
    o.heat = true;
    s.progress.last = 0;
    CHECK_STATUS(sap_render(&s.scene, &o, s.pixels, &info), SAP_OK);
    CHECK_EQUAL(info.rays, (int64_t)WIDTH * HEIGHT * o.samples);
    CHECK(info.hottest >= 1);
    close_studio(&s);
}

// A camera that places itself sees all of the mesh: the picture's edge shows none of it.
TEST(camera_sees_the_whole_mesh) {
    static const float ups[5][3] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {1, 2, 3}};
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    for (int i = 0; i < 10; i++) {
        NOTE("camera %d", i);
        sap_camera camera = {.fov = i < 5 ? 0 : 100};
        memcpy(camera.up, ups[i % 5], sizeof camera.up);
        if (i == 7) camera.eye[2] = 1;
        s.scene.camera = camera;
        CHECK_STATUS(sap_camera_frame(s.tree, WIDTH, HEIGHT, &camera), SAP_OK);
        CHECK(camera.fov > 0 && memcmp(camera.eye, camera.at, sizeof camera.eye) != 0);
        sap_mesh_tree_info box;
        sap_camera boxed = s.scene.camera;
        CHECK_STATUS(sap_mesh_tree_describe(s.tree, &box), SAP_OK);
        CHECK_STATUS(sap_camera_frame_box(box.lower, box.upper, WIDTH, HEIGHT, &boxed), SAP_OK);
        CHECK(!memcmp(&boxed, &camera, sizeof camera));
        s.scene.camera = camera;
        sap_render_options o = render_small;
        o.background = render_background;
        o.bounces = -1;
        CHECK_STATUS(draw(&s, &o), SAP_OK);
        int strange = 0;
        for (int at = 0; at < WIDTH * HEIGHT; at++) {
            int x = at % WIDTH, y = at / WIDTH;
            bool edge = x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1;
            if (edge) strange += s.pixels[3 * at] != 255 || s.pixels[3 * at + 1] != 0;
        }
        CHECK_EQUAL(strange, 0);
    }
    CHECK_STATUS(sap_camera_frame(NULL, 1, 1, &s.scene.camera), SAP_ERROR_ARGUMENT);
    const float zeros[3] = {0};
    CHECK_STATUS(sap_camera_frame_box(NULL, zeros, 1, 1, &s.scene.camera), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame_box(zeros, NULL, 1, 1, &s.scene.camera), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame_box(zeros, zeros, 1, 0, &s.scene.camera), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame(s.tree, 0, 1, &s.scene.camera), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame(s.tree, 1, 1, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame(s.tree, 1, 1, &(sap_camera){.eye = {NAN, 0, 0}}), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_camera_frame(s.tree, 1, 1, &(sap_camera){.fov = 180}), SAP_ERROR_ARGUMENT);
    close_studio(&s);
}

TEST(empty_mesh_is_all_sky) {
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    s.set.file.mesh = (sap_mesh){NULL, 0, NULL, 0};
    CHECK_STATUS(sap_mesh_tree_rebuild(s.tree, s.set.file.mesh), SAP_OK);
    sap_render_options o = render_small;
    o.background = render_background;
    CHECK_STATUS(draw(&s, &o), SAP_OK);
    for (int i = 0; i < BYTES; i++) CHECK_EQUAL(s.pixels[i], i % 3 == 0 ? 255 : i % 3 == 1 ? 0 : 188);
    close_studio(&s);
}

TEST(cancelled) {
    for (int stop = 1; stop <= 2; stop++) {
        studio s;
        open_studio(&s, 2, SAP_SIMD_AUTO);
        s.progress.stop_at = stop;
        sap_render_options o = render_small;
        o.samples = 33;
        CHECK_STATUS(draw(&s, &o), SAP_ERROR_CANCELLED);
        CHECK_EQUAL(s.progress.reports, stop);
        s.progress.stop_at = 0;
        CHECK_STATUS(draw(&s, &o), SAP_OK);
        close_studio(&s);
    }
}

TEST(bad_arguments) {
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    const sap_render_options bad[] = {{.width = 0, .height = 1},
                                      {.width = 1, .height = 65537},
                                      {.width = 1, .height = 1, .samples = -1},
                                      {.width = 1, .height = 1, .bounces = 65},
                                      {.width = 1, .height = 1, .ambient = NAN},
                                      {.width = 1, .height = 1, .exposure = -1},
                                      {.width = 1, .height = 1, .hottest = INFINITY},
                                      {.width = 1, .height = 1, .background = (const float[3]){0, NAN, 0}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        NOTE("options %d", (int)i);
        s.w.log_calls = 0;
        CHECK_STATUS(sap_render(&s.scene, &bad[i], s.pixels, NULL), SAP_ERROR_ARGUMENT);
        CHECK_EQUAL(s.w.log_calls, 1);
    }
    CHECK_STATUS(sap_render(NULL, &render_small, s.pixels, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_render(&s.scene, NULL, s.pixels, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_render(&s.scene, &render_small, NULL, NULL), SAP_ERROR_ARGUMENT);
    close_studio(&s);
}

// Changes one thing of the scene, sees it refused, and puts it back.
#define REFUSED(field, value, status)                                                                                  \
    do {                                                                                                               \
        __typeof__(field) kept = (field);                                                                              \
        (field) = (value);                                                                                             \
        s.w.log_calls = 0;                                                                                             \
        CHECK_STATUS(draw(&s, &render_small), status);                                                                 \
        CHECK_EQUAL(s.w.log_calls, 1);                                                                                 \
        CHECK_EQUAL(s.pixels[0], 0xee);                                                                                \
        (field) = kept;                                                                                                \
    } while (0)

TEST(bad_scenes) {
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    sap_light light = {{0, 5, 0}, {1, 1, 1}, {{0, 0, 0}, {0, 0, 0}}};
    s.scene.lights = &light;
    s.scene.light_count = 1;
    // Without a tree there is no device to log with.
    s.w.log_calls = 0;
    s.scene.tree = NULL;
    CHECK_STATUS(draw(&s, &render_small), SAP_ERROR_ARGUMENT);
    CHECK(s.w.log_calls == 0 && s.pixels[0] == 0xee);
    s.scene.tree = s.tree;
    REFUSED(s.scene.file, NULL, SAP_ERROR_ARGUMENT);
    REFUSED(s.scene.lights, NULL, SAP_ERROR_ARGUMENT);
    REFUSED(s.scene.light_count, -1, SAP_ERROR_RANGE);
    REFUSED(s.scene.camera.fov, 180, SAP_ERROR_ARGUMENT);
    REFUSED(s.scene.camera.eye[1], INFINITY, SAP_ERROR_ARGUMENT);
    REFUSED(light.position[2], NAN, SAP_ERROR_ARGUMENT);
    REFUSED(s.set.file.mesh.triangle_count, 3, SAP_ERROR_ARGUMENT);
    REFUSED(s.set.file.mesh.triangles, NULL, SAP_ERROR_ARGUMENT);
    REFUSED(s.set.file.mesh.vertex_count, 100, SAP_ERROR_RANGE);
    REFUSED(s.set.file.materials, NULL, SAP_ERROR_ARGUMENT);
    REFUSED(s.set.material_ids[7], 3, SAP_ERROR_RANGE);
    REFUSED(s.set.mesh.triangles[5], -1, SAP_ERROR_RANGE);
    CHECK_STATUS(draw(&s, &render_small), SAP_OK);
    close_studio(&s);
}

// Light would carry a number that is not finite from one surface to all that it lights.
TEST(surfaces_that_are_not_finite) {
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    sap_material* m = &s.set.materials[1];
    float* const numbers[] = {&m->diffuse[0], &m->specular[1], &m->emission[2],  &m->shininess,
                              &m->opacity,    &m->refraction,  &m->absorption[0]};
    for (size_t i = 0; i < 2 * (sizeof numbers / sizeof *numbers); i++) {
        NOTE("number %d", (int)i);
        REFUSED(*numbers[i / 2], i % 2 && i / 2 < 6 ? INFINITY : NAN, SAP_ERROR_NOT_FINITE);
    }
    CHECK(strstr(s.w.sentence, "material 1 (glass)") != NULL);
    m->name = NULL;
    REFUSED(m->diffuse[1], -INFINITY, SAP_ERROR_NOT_FINITE);
    CHECK(strstr(s.w.sentence, "material 1 (no name)") != NULL);
    float* colors = calloc((size_t)s.set.file.mesh.vertex_count, 3 * sizeof *colors);
    s.set.file.colors = colors;
    REFUSED(colors[16], NAN, SAP_ERROR_NOT_FINITE);
    CHECK(strstr(s.w.sentence, "vertex 5 ") != NULL);
    CHECK_STATUS(draw(&s, &render_small), SAP_OK);
    free(colors);
    s.set.file.colors = NULL;
    m->diffuse[0] = NAN;
    s.set.file.material_ids = NULL; // then there are none
    CHECK_STATUS(draw(&s, &render_small), SAP_OK);
    close_studio(&s);
}

// ---- Instances

// How many pixels of two pictures differ, and the most that one does.
static int count_differences(const uint8_t* a, const uint8_t* b, int* most) {
    int count = 0;
    *most = 0;
    for (int i = 0; i < BYTES; i += 3) {
        int here = 0;
        for (int k = 0; k < 3; k++) here = abs(a[i + k] - b[i + k]) > here ? abs(a[i + k] - b[i + k]) : here;
        count += here > 0;
        *most = here > *most ? here : *most;
    }
    return count;
}

// They look as all of their triangles do, but for roundings, in one way for any threads and instruction set.
TEST(instances_look_as_their_triangles) {
    static uint8_t expected[BYTES], before[BYTES];
    for (int exact = 0; exact < 2; exact++)
        for (int which = 0; which < RENDER_SETS; which++) {
            if (which == 4) continue; // heat
            for (int run = 0; run < 3; run++) {
                studio s;
                render_instances r;
                int most;
                NOTE("exact %d, picture %d, run %d", exact, which, run);
                open_studio(&s, run == 2 ? 1 : run + 1, run == 2 ? SAP_SIMD_PORTABLE : SAP_SIMD_AUTO);
                render_instances_make(&r, exact != 0);
                CHECK_STATUS(render_instances_build(&r, s.device), SAP_OK);
                s.scene = (sap_scene){.instances = r.tree, .places = &r.places, .file = &r.set.file};
                sap_render_options o = render_set_options(&s.scene, which);
                o.next_event = which == 2;
                CHECK_STATUS(draw(&s, &o), SAP_OK);
                if (run == 0) memcpy(before, s.pixels, BYTES);
                CHECK(!memcmp(before, s.pixels, BYTES));
                if (run == 0) {
                    int32_t* ids = malloc(sizeof *ids * 10000);
                    scene_mesh flat = render_instances_flatten(&r, ids);
                    sap_mesh_file file = r.set.file;
                    sap_mesh_tree* tree = NULL;
                    file.mesh = flat.mesh;
                    file.material_ids = ids;
                    CHECK_STATUS(sap_mesh_tree_build(s.device, flat.mesh, NULL, &tree), SAP_OK);
                    s.scene.instances = NULL;
                    s.scene.places = NULL;
                    s.scene.tree = tree;
                    s.scene.file = &file;
                    CHECK_STATUS(draw(&s, &o), SAP_OK);
                    memcpy(expected, s.pixels, BYTES);
                    const int differ = count_differences(before, expected, &most);
                    if (!CHECK(differ <= WIDTH * HEIGHT / 100))
                        printf("  %d pixels differ, by %d at most\n", differ, most);
                    CHECK(brightness(&s) > 50);
                    sap_mesh_tree_free(tree);
                    scene_mesh_free(&flat);
                    free(ids);
                }
                render_instances_free(&r);
                close_studio(&s);
            }
        }
}

TEST(bad_instances) {
    studio s;
    render_instances r;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    render_instances_make(&r, true);
    CHECK_STATUS(render_instances_build(&r, s.device), SAP_OK);
    const sap_scene good = {.instances = r.tree, .places = &r.places, .file = &r.set.file};
    const sap_mesh_places places = r.places;
    const sap_render_photons photons = {.count = 10};
    for (int wrong = 0; wrong < 10; wrong++) {
        static const sap_status expected[10] = {
            SAP_ERROR_ARGUMENT, SAP_ERROR_ARGUMENT, SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED, SAP_ERROR_UNSUPPORTED,
            SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE,    SAP_ERROR_RANGE,    SAP_ERROR_ARGUMENT,    SAP_ERROR_RANGE};
        const sap_piece_place place = r.list[1];
        const sap_mesh_piece piece = r.pieces[0];
        sap_render_options o = render_small;
        NOTE("wrong %d", wrong);
        s.scene = good;
        if (wrong == 0) s.scene.tree = s.tree;
        if (wrong == 1) s.scene.places = NULL;
        if (wrong == 2) s.scene.file = &s.set.file;
        if (wrong == 3) o.heat = true;
        if (wrong == 4) o.photons = &photons;
        if (wrong == 5) r.places.place_count--;
        if (wrong == 6) r.list[1].piece = INSTANCE_PIECES;
        if (wrong == 7) r.pieces[0].first_triangle++;
        if (wrong == 8) r.list[1].piece = 0;
        if (wrong == 9) r.list[1].piece = -1;
        CHECK_STATUS(draw(&s, &o), expected[wrong]);
        r.places = places;
        r.list[1] = place;
        r.pieces[0] = piece;
    }
    s.scene = good;
    CHECK_STATUS(draw(&s, &render_small), SAP_OK);
    bool drawn = false;
    for (int64_t fail = 1; fail < 100 && !drawn; fail++) {
        sap_device_trim(s.device);
        s.w.requests = 0;
        s.w.fail_from = fail;
        const sap_status status = draw(&s, &render_small);
        drawn = status == SAP_OK;
        if (!drawn) CHECK_STATUS(status, SAP_ERROR_MEMORY);
        s.w.fail_from = 0;
    }
    CHECK(drawn);
    render_instances_free(&r);
    close_studio(&s);
}

TEST(refused_memory) {
    studio s;
    open_studio(&s, 1, SAP_SIMD_AUTO);
    bool drawn = false;
    for (int64_t fail = 1; fail < 100 && !drawn; fail++) {
        sap_device_trim(s.device);
        s.w.requests = 0;
        s.w.fail_from = fail;
        sap_status status = draw(&s, &render_small);
        drawn = status == SAP_OK;
        if (!drawn) CHECK_STATUS(status, SAP_ERROR_MEMORY);
        s.w.fail_from = 0;
    }
    CHECK(drawn);
    close_studio(&s);
}

TEST_MAIN()
