// The light of pictures: photons beside paths and known light, rays to shining faces, passes and the noise that they
// leave, tone curves; the same bits however work is split, refused calls.
#include "allocator.h"
#include "progress_host.h"
#include "ray_meshes.h"
#include "sapwood/photons.h"
#include "test.h"

enum { WIDTH = 16, HEIGHT = 12, FLOATS = 3 * WIDTH * HEIGHT, BALL = 12, BALL_TRIANGLES = 2 * BALL * (BALL - 1) };

typedef struct room {
    watch w;
    progress_host progress;
    sap_device* device;
    scene_mesh mesh;
    int32_t material_ids[BALL_TRIANGLES + 14];
    sap_material materials[3];
    sap_mesh_file file;
    sap_mesh_tree* tree;
    sap_light lamp;
    sap_scene scene;
} room;

// The cube from -1 to 1, seen from within: grey walls, a ball of glass, a square below the ceiling that shines.
static void open_room(room* s, int32_t threads) {
    static const int8_t faces[6][4] = {{0, 1, 5, 4}, {0, 2, 3, 1}, {4, 5, 7, 6},
                                       {0, 4, 6, 2}, {1, 3, 7, 5}, {2, 6, 7, 3}};
    memset(s, 0, sizeof *s);
    scene_mesh ball = mesh_sphere(BALL, 0.35);
    const int64_t v = ball.mesh.vertex_count, t = ball.mesh.triangle_count;
    CHECK(t <= BALL_TRIANGLES);
    s->mesh = scene_mesh_make(v + 12, t + 14);
    for (int64_t i = 0; i < v; i++)
        set_vertex(&s->mesh, i, (double)ball.vertices[3 * i] + 0.2, (double)ball.vertices[3 * i + 1] - 0.5,
                   (double)ball.vertices[3 * i + 2]);
    memcpy(s->mesh.triangles, ball.triangles, (size_t)t * 3 * sizeof(int32_t));
    scene_mesh_free(&ball);
    for (int i = 0; i < 8; i++) set_vertex(&s->mesh, v + i, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    for (int i = 0; i < 4; i++) set_vertex(&s->mesh, v + 8 + i, i == 0 || i == 3 ? -0.4 : 0.4, 0.8, i < 2 ? -0.4 : 0.4);
    for (int f = 0; f < 7; f++) {
        int64_t corners[4];
        for (int c = 0; c < 4; c++) corners[c] = v + (f < 6 ? faces[f][c] : 8 + c);
        set_triangle(&s->mesh, t + 2 * f, corners[0], corners[1], corners[2]);
        set_triangle(&s->mesh, t + 2 * f + 1, corners[0], corners[2], corners[3]);
    }
    for (int64_t i = 0; i < t + 14; i++) s->material_ids[i] = i < t ? 1 : i < t + 12 ? 0 : 2;
    s->materials[0] = (sap_material){"wall", {0.6f, 0.5f, 0.4f}, {0, 0, 0}, {0, 0, 0}, 1, 1, 1, 2, {0, 0, 0}};
    s->materials[1] = (sap_material){"glass", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, 0, 1.5f, 7, {0, 0, 0}};
    s->materials[2] = (sap_material){"shine", {0, 0, 0}, {0, 0, 0}, {2, 2, 2}, 1, 1, 1, 2, {0, 0, 0}};
    s->file = (sap_mesh_file){
        .mesh = s->mesh.mesh, .material_ids = s->material_ids, .materials = s->materials, .material_count = 3};
    sap_device_options options = watched(&s->w);
    options.threads = threads;
    options.progress = progress_host_report;
    options.progress_user = &s->progress;
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh.mesh, NULL, &s->tree), SAP_OK);
    s->lamp = (sap_light){{0, 0.5f, 0.2f}, {0.2f, 0.2f, 0.2f}, {{0}}};
    s->scene = (sap_scene){.tree = s->tree,
                           .file = &s->file,
                           .camera = {{-0.9f, 0.3f, 0.9f}, {0.2f, -0.6f, 0}, {0, 1, 0}, 60},
                           .lights = &s->lamp};
    s->progress = (progress_host){0};
}

static void close_room(room* s) {
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    scene_mesh_free(&s->mesh);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
}

static const sap_render_options small = {
    .width = WIDTH, .height = HEIGHT, .samples = 16, .bounces = 30, .ambient = -1, .flat = true};

static sap_render_info draw(room* s, sap_render_options o, const sap_render_photons* photons, float* light) {
    sap_render_info info;
    o.photons = photons;
    s->progress.last = 0;
    CHECK_STATUS(sap_render_light(&s->scene, &o, light, &info), SAP_OK);
    CHECK(info.rays > 0 && (info.photons > 0) == (photons != NULL) && info.photon_seconds >= 0);
    return info;
}

static const char slow[] = "slow under sanitizers, and of numbers alone";

static double mean(const float* light) {
    double sum = 0;
    for (int i = 0; i < FLOATS; i++) sum += (double)light[i] / FLOATS;
    return sum;
}

// The root of the mean square of differences, per brightness.
static double error_of(const float* light, const float* truth) {
    double sum = 0;
    for (int i = 0; i < FLOATS; i++) sum += pow((double)light[i] - (double)truth[i], 2) / FLOATS;
    return sqrt(sum) / mean(truth);
}

// What paths find with many samples, and how they were told to.
static sap_render_options draw_truth(room* s, float* truth) {
    sap_render_options o = small;
    o.samples = 1024;
    o.next_event = true;
    draw(s, o, NULL, truth);
    return o;
}

// Walls that shine by 1 and reflect half of what falls on them: each pixel is 2.
TEST(white_furnace) {
    room s;
    open_room(&s, 2);
    static float light[FLOATS];
    s.materials[0] = (sap_material){"wall", {0.5f, 0.5f, 0.5f}, {0, 0, 0}, {1, 1, 1}, 1, 1, 1, 2, {0, 0, 0}};
    s.materials[2] = s.materials[0];
    for (int gather = 0; gather < 2; gather++) {
        const sap_render_photons photons = {.count = 200000, .bounces = 30, .gather = gather};
        draw(&s, small, &photons, light);
        NOTE("gather %d: %g", gather, mean(light));
        CHECK(fabs(mean(light) / 2 - 1) < (gather ? 0.02 : 0.04)); // photons are fewer at the edges of walls
    }
    close_room(&s);
}

// Light of a square, through glass too, on walls that reflect it on and on: as path tracing finds it.
TEST(as_path_tracing) {
    if (TEST_SANITIZED) SKIP(slow);
    room s;
    open_room(&s, 2);
    static float truth[FLOATS], light[FLOATS];
    sap_render_options o = draw_truth(&s, truth);
    o.samples = 16;
    o.passes = 4;
    for (int gather = 0; gather < 2; gather++) {
        sap_render_photons photons = {
            .count = 100000, .bounces = 30, .gather = gather, .search = {.filter = SAP_PHOTON_CONE}};
        draw(&s, o, &photons, light);
        NOTE("gather %d: %g of %g, error %g", gather, mean(light), mean(truth), error_of(light, truth));
        CHECK(fabs(mean(light) / mean(truth) - 1) < 0.03);
        CHECK(error_of(light, truth) < 0.12);
    }
    close_room(&s);
}

// Rays to shining faces find the light that scattered rays find, with less noise; photons take part.
TEST(next_event) {
    if (TEST_SANITIZED) SKIP(slow);
    room s;
    open_room(&s, 2);
    static float truth[FLOATS], light[2][FLOATS];
    const int64_t t = s.mesh.mesh.triangle_count;
    for (int64_t i = t - 14; i < t - 12; i++) s.material_ids[i] = 2; // a wall shines, too, a little of the light
    for (int i = 0; i < 4; i++)                                      // a small square, of which a corner is cut off
        for (int a = 0; a < 3; a += 2)
            s.mesh.vertices[3 * (s.mesh.mesh.vertex_count - 4 + i) + a] *= i == 3 ? 0.1f : 0.3f;
    sap_mesh_tree_free(s.tree);
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh.mesh, NULL, &s.tree), SAP_OK);
    s.scene.tree = s.tree;
    for (int small_alone = 0; small_alone < 2; small_alone++) {
        sap_render_options o = small;
        for (int64_t i = t - 14; i < t - 12 && small_alone; i++) s.material_ids[i] = 0;
        for (int a = 0; a < 3; a++) s.materials[2].emission[a] = small_alone ? 30 : 2;
        o.samples = 1024;
        draw(&s, o, NULL, truth);
        o.samples = 32;
        for (int next = 0; next < 2; next++) {
            o.next_event = next;
            draw(&s, o, NULL, light[next]);
            NOTE("next event %d: %g of %g, error %g", next, mean(light[next]), mean(truth),
                 error_of(light[next], truth));
        }
        CHECK(fabs(mean(light[1]) / mean(truth) - 1) < 0.02);
        CHECK(error_of(light[1], truth) < (small_alone ? 0.5 : 1.0) * error_of(light[0], truth));
        const sap_render_photons photons = {.count = 100000, .bounces = 30, .gather = true};
        draw(&s, o, &photons, light[0]);
        NOTE("photons: %g of %g, error %g", mean(light[0]), mean(truth), error_of(light[0], truth));
        CHECK(fabs(mean(light[0]) / mean(truth) - 1) < 0.05);
    }
    close_room(&s);
}

// A lamp that rays cannot find: many passes with shrinking radii come nearer to many more of them.
TEST(progressive) {
    if (TEST_SANITIZED) SKIP(slow);
    room s;
    open_room(&s, 2);
    static float truth[FLOATS], light[FLOATS];
    s.scene.light_count = 1;
    sap_render_photons photons = {.count = 10000, .bounces = 20, .progressive = true};
    sap_render_options o = small;
    o.samples = 8;
    o.passes = 64;
    draw(&s, o, &photons, truth);
    double errors[3];
    photons.seed = 1;
    for (int i = 0; i < 3; i++) {
        o.passes = i < 2 ? 1 : 12;
        photons.progressive = i == 2;
        photons.search.k = i == 1 ? 400 : 50;
        draw(&s, o, &photons, light);
        errors[i] = error_of(light, truth);
        NOTE("%d passes, k = %d: %g, error %g", o.passes, photons.search.k, mean(light), errors[i]);
    }
    CHECK(errors[2] < errors[0] / 2 && errors[2] < errors[1] / 2);
    CHECK(fabs(mean(light) / mean(truth) - 1) < 0.02);
    close_room(&s);
}

// Mirrors and glass throw the light of a lamp where no shadow ray finds it.
TEST(caustics_are_there) {
    room s;
    open_room(&s, 2);
    static float with[FLOATS], without[FLOATS];
    for (int a = 0; a < 3; a++) s.materials[0].diffuse[a] = 0.01f; // other light is hardly scattered
    s.materials[2].emission[0] = s.materials[2].emission[1] = s.materials[2].emission[2] = 0;
    s.scene.light_count = 1;
    draw(&s, small, NULL, without);
    const sap_render_photons photons = {.count = 50000};
    draw(&s, small, &photons, with);
    int brighter = 0;
    for (int i = 0; i < FLOATS; i += 3) brighter += with[i] > 1.2f * without[i] + 1e-5f;
    NOTE("%d pixels, mean %g and %g", brighter, mean(with), mean(without));
    // 8 million photons that leave in all directions find 1.0175 times as much light.
    CHECK(brighter > 0 && fabs(mean(with) / mean(without) - 1.0175) < 0.003);
    close_room(&s);
}

TEST(same_bits) {
    static float first[FLOATS], light[FLOATS];
    static uint8_t pixels[FLOATS];
    for (int32_t threads = 1; threads <= 4; threads += 3)
        for (int gather = 0; gather < 2; gather++) {
            room s;
            open_room(&s, threads);
            s.scene.light_count = 1;
            const sap_render_photons photons = {
                .count = 10000, .seed = 5, .gather = gather, .progressive = true, .search = {.k = 20}};
            float* to = threads == 1 && !gather ? first : light;
            sap_render_options o = small;
            o.passes = 2;
            draw(&s, o, &photons, to);
            o.photons = &photons;
            s.progress.last = 0;
            CHECK_STATUS(sap_render(&s.scene, &o, pixels, NULL), SAP_OK);
            bool bright = false;
            for (int i = 0; i < FLOATS; i++) bright |= pixels[i] > 20;
            CHECK(bright);
            if (!gather && threads > 1) CHECK(!memcmp(first, light, sizeof first));
            close_room(&s);
        }
}

// The estimated error is the true one, or more: samples of a sequence err less than those of chance. It ends the picture.
TEST(until_error) {
    if (TEST_SANITIZED) SKIP(slow);
    room s;
    open_room(&s, 2);
    static float truth[FLOATS], light[FLOATS];
    sap_render_options o = draw_truth(&s, truth);
    o.samples = 2;
    int32_t passes = 0;
    for (int i = 0; i < 2; i++) {
        o.until_error = 0.16f / (float)(1 << i);
        const sap_render_info info = draw(&s, o, NULL, light);
        const double error = error_of(light, truth);
        NOTE("%d passes: %g estimated, %g true", info.passes, (double)info.error, error);
        CHECK(info.error <= o.until_error && info.passes > 2 * passes && info.passes <= 65536 / 2);
        CHECK(error < 1.1 * (double)info.error && error > 0.3 * (double)info.error);
        CHECK(s.progress.last == 1);
        passes = info.passes;
    }
    const float first = light[0];
    o.until_error = 0; // the same passes without being asked
    o.passes = passes;
    const sap_render_info info = draw(&s, o, NULL, light);
    CHECK(info.error == 0 && info.passes == passes && light[0] == first);
    o.passes = 1;
    o.until_error = 1;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_ARGUMENT);
    o.passes = 65536 / 2 + 1;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_ARGUMENT);
    o.passes = -1;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_ARGUMENT);
    close_room(&s);
}

// Tone curves leave the dark alone and bring what is bright below white.
TEST(tones) {
    room s;
    open_room(&s, 1);
    static uint8_t pixels[3][FLOATS];
    sap_render_options o = small;
    o.exposure = 30;
    int white[3] = {0};
    for (int tone = 0; tone < 3; tone++) {
        o.tone = (sap_tone)tone;
        CHECK_STATUS(sap_render(&s.scene, &o, pixels[tone], NULL), SAP_OK);
        for (int i = 0; i < FLOATS; i++) white[tone] += pixels[tone][i] == 255;
    }
    for (int i = 0; i < FLOATS; i++) CHECK(pixels[SAP_TONE_REINHARD][i] <= pixels[SAP_TONE_CLAMP][i]);
    NOTE("white: %d, %d, %d", white[0], white[1], white[2]);
    CHECK(white[SAP_TONE_REINHARD] < white[SAP_TONE_CLAMP]);
    CHECK(white[SAP_TONE_FILMIC] < white[SAP_TONE_CLAMP]);
    o.tone = (sap_tone)3;
    CHECK_STATUS(sap_render(&s.scene, &o, pixels[0], NULL), SAP_ERROR_ARGUMENT);
    close_room(&s);
}

TEST(radius_alone) {
    room s;
    open_room(&s, 2);
    static float far[FLOATS], all[FLOATS];
    sap_render_photons photons = {.count = 3000, .bounces = 4, .search = {.radius = 0.5f}};
    draw(&s, small, &photons, far);
    photons.search.k = 1000000; // as many as there are within the radius
    draw(&s, small, &photons, all);
    CHECK(!memcmp(far, all, sizeof all));
    close_room(&s);
}

TEST(cancelled) {
    for (int stop = 1; stop <= 6; stop++) {
        room s;
        open_room(&s, 2);
        static float light[FLOATS];
        const sap_render_photons photons = {.count = 40000};
        sap_render_options o = small;
        o.samples = 2;
        o.passes = 2;
        o.photons = &photons;
        s.progress.stop_at = stop;
        CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_CANCELLED);
        CHECK_EQUAL(s.progress.reports, stop);
        s.progress.stop_at = 0;
        s.progress.last = 0;
        if (stop == 6) CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_OK);
        if (stop == 6) CHECK(s.progress.last == 1);
        close_room(&s);
    }
}

TEST(bad_arguments) {
    room s;
    open_room(&s, 1);
    static float light[FLOATS];
    const sap_render_photons bad[] = {{.count = -1},
                                      {.count = 1, .caustics = -1},
                                      {.count = 1, .bounces = 65},
                                      {.count = 1, .search = {.k = -1}},
                                      {.count = 1, .search = {.radius = NAN}},
                                      {.count = 1, .search = {.shrink = 0.5f}},
                                      {.count = 1, .search = {.filter = (sap_photon_filter)3}},
                                      {.count = 1, .search = {.reserved = {1}}},
                                      {.count = 1, .reserved = {0, 1}}};
    sap_render_options o = small;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.photons = &bad[i];
        CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_ARGUMENT);
        CHECK(s.w.log_calls == (int)i + 1);
    }
    const sap_render_photons many = {.count = 1 << 30};
    o.photons = &many;
    o.passes = 2;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_RANGE);
    const sap_render_photons none = {.count = 0};
    o.photons = &none;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_OK);
    o.heat = true;
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_render_light(&s.scene, &small, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_render_light(NULL, &small, light, NULL), SAP_ERROR_ARGUMENT);
    close_room(&s);
}

TEST(refused_memory) {
    room s;
    open_room(&s, 1);
    static float light[FLOATS];
    const sap_render_photons photons = {.count = 2000, .gather = true};
    sap_render_options o = small;
    o.samples = 2;
    o.passes = 2;
    o.until_error = 0.0001f;
    o.photons = &photons;
    sap_status status = SAP_ERROR_MEMORY;
    int64_t fail = 0;
    while (status == SAP_ERROR_MEMORY && fail < 1000) {
        sap_device_trim(s.device);
        s.w.requests = 0;
        s.w.fail_from = ++fail;
        s.progress.last = 0;
        status = sap_render_light(&s.scene, &o, light, NULL);
    }
    s.w.fail_from = 0;
    CHECK_STATUS(status, SAP_OK);
    CHECK(fail > 10);
    close_room(&s);
}

TEST_MAIN()
