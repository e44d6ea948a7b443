// Pictures that shaders draw beside those of the CPU: the same samples of the same paths, so the same pixels but for
// what shaders round differently.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "device/gl.h"
#include "gl_tools.h"
#include "render_set.h"
#include "sapwood/gl.h"

static const char* const no_gl = "no OpenGL ES here";

enum { PIXELS = RENDER_WIDTH * RENDER_HEIGHT };

// A mesh with its tree on the CPU, and with a view of it on OpenGL.
typedef struct stage {
    sap_device *cpu, *gl;
    render_set set;
    sap_mesh_tree *tree, *copy;
    sap_gl_view* view;
    sap_scene scene;
} stage;

static void open_stage(stage* s, sap_device* gl) {
    memset(s, 0, sizeof *s);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &s->cpu), SAP_OK);
    s->gl = gl;
    render_set_make(&s->set);
    s->tree = ray_tree(s->cpu, &s->set.mesh.mesh, SAP_QUALITY_HIGH);
    s->scene = (sap_scene){.tree = s->tree, .file = &s->set.file};
    CHECK_STATUS(sap_mesh_tree_copy(s->tree, gl, &s->copy), SAP_OK);
    CHECK_STATUS(sap_gl_view_create(s->copy, &s->set.file, &s->view), SAP_OK);
}

static void close_stage(stage* s) {
    sap_gl_view_free(s->view);
    sap_mesh_tree_free(s->copy);
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->set.mesh);
    sap_device_close(s->cpu);
}

// Draws all of it in steps of a side; how many they were.
static int finish(sap_gl_view* view, int32_t side) {
    int steps = 0;
    for (bool done = false; !done && steps < 100000; steps++)
        if (!CHECK_STATUS(sap_gl_view_step(view, side, &done), SAP_OK)) break;
    return steps;
}

static sap_gl_view_options options_of(const sap_scene* in, const sap_render_options* picture) {
    return (sap_gl_view_options){
        .picture = *picture, .camera = in->camera, .lights = in->lights, .light_count = in->light_count};
}

// How many of the pixels' channels differ by more than a level.
static int64_t different(const uint8_t* a, const uint8_t* b, int level) {
    int64_t count = 0;
    for (int i = 0; i < 3 * PIXELS; i++) count += abs((int)a[i] - (int)b[i]) > level;
    return count;
}

// The paths of the CPU, sample by sample. Where rounding makes a ray pass an edge on its other side, a sample of a
// pixel is another: that may happen to one channel in 500.
TEST(the_pictures_of_the_cpu) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t expected[3 * PIXELS], pixels[3 * PIXELS];
    watch w = {0};
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    gl_tools.max_draw_buffers = 4;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    open_stage(&s, device);
    for (int which = 0; which < RENDER_SETS; which++) {
        static const int32_t sides[] = {64, 17, 200, 33, 70, 2048};
        sap_render_options o = render_set_options(&s.scene, which);
        sap_render_info made;
        NOTE("picture %d", which);
        if (o.heat) o.hottest = 60;
        CHECK_STATUS(sap_render(&s.scene, &o, expected, &made), SAP_OK);
        const sap_gl_view_options options = options_of(&s.scene, &o);
        CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
        CHECK(finish(s.view, sides[which]) > 1);
        CHECK_STATUS(sap_gl_view_read(s.view, pixels), SAP_OK);
        CHECK_EQUAL(different(pixels, expected, 80), 0);
        int64_t count = different(pixels, expected, 1);
        if (count > 3 * PIXELS / 500) CHECK_EQUAL(count, 0);
        sap_gl_view_info info;
        CHECK_STATUS(sap_gl_view_describe(s.view, &info), SAP_OK);
        CHECK_EQUAL(info.samples, o.samples);
        CHECK(info.picture && info.sum && info.done >= 1);
        // Those of the CPU that pass through the mesh's box.
        CHECK(info.rays > made.rays / 8 && info.rays <= made.rays);
    }
    close_stage(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// A mirror above, a dull floor, a lamp: what nothing is left to chance in, against the CPU where it can say the same.
TEST(plain_pictures) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t expected[3 * PIXELS], pixels[3 * PIXELS], again[3 * PIXELS];
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    open_stage(&s, device);
    // Without bounces and sky, with lamps that are points, the CPU leaves nothing to chance either, but where in a
    // pixel its ray goes.
    sap_render_options o = render_set_options(&s.scene, 2);
    sap_light lamp = render_lamps[0];
    s.scene.lights = &lamp;
    s.scene.light_count = 1;
    o.samples = 64;
    o.bounces = -1;
    o.ambient = -1;
    CHECK_STATUS(sap_render(&s.scene, &o, expected, NULL), SAP_OK);
    sap_gl_view_options options = options_of(&s.scene, &o);
    options.plain = true;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 128);
    CHECK_STATUS(sap_gl_view_read(s.view, pixels), SAP_OK);
    // One of 64 samples is through the middle of the pixel instead.
    CHECK(different(pixels, expected, 8) < 3 * PIXELS / 200);
    // Light that goes through everything lights more; the same picture twice is the same.
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 37);
    CHECK_STATUS(sap_gl_view_read(s.view, again), SAP_OK);
    CHECK(!memcmp(pixels, again, sizeof pixels));
    options.no_shadows = true;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 128);
    CHECK_STATUS(sap_gl_view_read(s.view, again), SAP_OK);
    int64_t darker = 0, brighter = 0;
    for (int i = 0; i < 3 * PIXELS; i++) {
        darker += again[i] < pixels[i];
        brighter += again[i] > pixels[i];
    }
    CHECK_EQUAL(darker, 0);
    CHECK(brighter > 100);
    close_stage(&s);
    sap_device_close(device);
}

// Meshes of nothing and of triangles without area, and colours of vertices.
TEST(odd_meshes) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t expected[3 * PIXELS], pixels[3 * PIXELS];
    static const int kinds[] = {RAY_MESH_NONE, RAY_MESH_POINTS, RAY_MESH_NEEDLES,
                                RAY_MESH_FAR,  RAY_MESH_TINY,   RAY_MESH_OTHERS + MESH_POINT};
    sap_device *device = NULL, *cpu = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        scene_mesh mesh = ray_mesh_of((ray_mesh)kinds[i], 200);
        float* colors = calloc((size_t)mesh.mesh.vertex_count * 3 + 1, sizeof(float));
        for (int64_t j = 0; j < 3 * mesh.mesh.vertex_count; j++) colors[j] = (float)(j % 7) / 6;
        const sap_mesh_file file = {.mesh = mesh.mesh, .colors = colors};
        sap_mesh_tree *tree = ray_tree(cpu, &mesh.mesh, SAP_QUALITY_FAST), *copy = NULL;
        sap_gl_view* view = NULL;
        const sap_scene scene = {.tree = tree, .file = &file};
        const sap_gl_view_options options = options_of(&scene, &render_small);
        NOTE("mesh %d", kinds[i]);
        CHECK_STATUS(sap_render(&scene, &render_small, expected, NULL), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_copy(tree, device, &copy), SAP_OK);
        CHECK_STATUS(sap_gl_view_create(copy, &file, &view), SAP_OK);
        CHECK_STATUS(sap_gl_view_begin(view, &options), SAP_OK);
        finish(view, 64);
        CHECK_STATUS(sap_gl_view_read(view, pixels), SAP_OK);
        int64_t count = different(pixels, expected, 1);
        if (count > 3 * PIXELS / 200) CHECK_EQUAL(count, 0);
        sap_gl_view_free(view);
        sap_mesh_tree_free(copy);
        sap_mesh_tree_free(tree);
        free(colors);
        scene_mesh_free(&mesh);
    }
    sap_device_close(cpu);
    sap_device_close(device);
}

TEST(what_views_refuse) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t pixels[3 * PIXELS];
    watch w = {0};
    sap_device* device = NULL;
    stage s;
    sap_gl_view* none = NULL;
    sap_gl_view_info info;
    bool done;
    gl_tools_reset();
    gl_tools.max_texture_size = 128;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    open_stage(&s, device);
    CHECK_STATUS(sap_gl_view_create(NULL, &s.set.file, &none), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_create(s.tree, &s.set.file, &none), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_gl_view_create(s.copy, NULL, &none), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_create(s.copy, &s.set.file, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_create(s.copy, &(sap_mesh_file){0}, &none), SAP_ERROR_ARGUMENT);
    sap_mesh_file newer = s.set.file;
    newer.reserved[0] = 1;
    CHECK_STATUS(sap_gl_view_create(s.copy, &newer, &none), SAP_ERROR_ARGUMENT);
    CHECK(!none);
    // Nothing has begun.
    CHECK_STATUS(sap_gl_view_step(s.view, 64, &done), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_read(s.view, pixels), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_describe(s.view, &info), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_show(s.view, 0, (int32_t[4]){0, 0, 9, 9}), SAP_ERROR_ARGUMENT);
    // What cannot begin leaves none behind.
    sap_gl_view_options options = options_of(&s.scene, &render_small);
    CHECK_STATUS(sap_gl_view_begin(NULL, &options), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_begin(s.view, NULL), SAP_ERROR_ARGUMENT);
    options.reserved[3] = 1;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.reserved: is not zero; it was made for a newer Sapwood");
    options.reserved[3] = 0;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    options.picture.width = 0;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_step(s.view, 64, &done), SAP_ERROR_ARGUMENT);
    options.picture.width = 129;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_RANGE);
    CHECK(strstr(w.sentence, "GL_MAX_TEXTURE_SIZE here is 128"));
    options = options_of(&s.scene, &render_small);
    options.light_count = -1;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_RANGE);
    options.light_count = 1;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    options.lights = &(sap_light){.position = {NAN, 0, 0}};
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    options = options_of(&s.scene, &render_small);
    for (int i = 0; i < 3; i++) {
        options.cut = (const float[]){-1, NAN, INFINITY}[i];
        CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
        CHECK_TEXT(w.sentence, "options.cut: negative or not finite");
    }
    options.cut = 0;
    options.sun[1] = NAN;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "options.sun: not finite");
    options = options_of(&s.scene, &render_small);
    options.camera.fov = 190;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    options.camera.fov = 0;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    CHECK_STATUS(sap_gl_view_step(s.view, 0, &done), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_step(s.view, 2049, &done), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_step(NULL, 64, &done), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_read(s.view, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_describe(s.view, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_show(s.view, 0, (int32_t[4]){0, 0, 0, 9}), SAP_ERROR_ARGUMENT);
    finish(s.view, 2048);
    CHECK_STATUS(sap_gl_view_step(s.view, 64, NULL), SAP_OK);
    close_stage(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// Rays of a picture's camera, which begin at a distance ahead of it, against what the picture says they have met.
static void compare_rays(stage* s, sap_device* device, float cut) {
    static uint32_t texels[4 * PIXELS];
    static sap_ray rays[PIXELS];
    static sap_hit hits[PIXELS];
    sap_gl_view_info info;
    sap_gl_view_options options = options_of(&s->scene, &render_small);
    options.picture.heat = options.plain = true;
    options.picture.samples = 1;
    options.camera = (sap_camera){{0, 1, 6}, {0, 1, 0}, {0, 1, 0}, 90};
    options.cut = cut;
    CHECK_STATUS(sap_gl_view_begin(s->view, &options), SAP_OK);
    finish(s->view, 50);
    CHECK_STATUS(sap_gl_view_describe(s->view, &info), SAP_OK);
    sap_gl_call call;
    if (sap_gl_begin(&call, device) == SAP_OK)
        sap_gl_read(&call, info.sum, GL_RGBA32UI, 0, (int32_t[4]){0, 0, RENDER_WIDTH, RENDER_HEIGHT}, texels);
    CHECK_STATUS(sap_gl_end(&call, SAP_OK), SAP_OK);
    for (int i = 0; i < PIXELS; i++) {
        const int column = i % RENDER_WIDTH, row = i / RENDER_WIDTH;
        const float x = 2 * ((float)column + 0.5f) / RENDER_WIDTH - 1, y = 1 - 2 * ((float)row + 0.5f) / RENDER_HEIGHT;
        rays[i] = (sap_ray){{0, 1, 6}, cut, {x * RENDER_WIDTH / RENDER_HEIGHT, y, -1}, INFINITY};
    }
    CHECK_STATUS(sap_trace(s->tree, rays, PIXELS, hits), SAP_OK);
    int wrong = 0, met = 0;
    for (int i = 0; i < PIXELS; i++) {
        float far, number;
        memcpy(&far, &texels[4 * i + 1], sizeof far);
        memcpy(&number, &texels[4 * i + 2], sizeof number);
        met += hits[i].triangle >= 0;
        if (hits[i].triangle < 0)
            wrong += number > 0;
        else
            wrong += (int)number != hits[i].triangle + 1 || fabsf(far - hits[i].t) > 1e-5f * hits[i].t || far < cut;
    }
    NOTE("cut %g", (double)cut);
    CHECK(met > PIXELS / 32 && wrong <= PIXELS / 500);
}

// What the rays of a picture have met, one by one: the same triangles at the same places as the CPU finds, but where
// rounding takes a ray past an edge.
TEST(what_the_rays_of_a_picture_meet) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    open_stage(&s, device);
    compare_rays(&s, device, 0);
    compare_rays(&s, device, 5.8f); // through what stands there
    close_stage(&s);
    sap_device_close(device);
}

// The sky is brighter towards a sun, as bright as ever away from it, and behind a background there is none.
TEST(a_sun_in_the_sky) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t without[3 * PIXELS], with[3 * PIXELS];
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    open_stage(&s, device);
    sap_gl_view_options options = options_of(&s.scene, &render_small);
    options.plain = true;
    options.picture.samples = 1;
    options.camera = (sap_camera){{0, 1, 60}, {0, 1, 120}, {0, 1, 0}, 90}; // away from the mesh
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 2048);
    CHECK_STATUS(sap_gl_view_read(s.view, without), SAP_OK);
    for (int behind = 0; behind < 3; behind++) {
        const int middle = 3 * (RENDER_WIDTH * (RENDER_HEIGHT / 2) + RENDER_WIDTH / 2);
        options.sun[2] = behind == 1 ? -3e20f : 3e20f; // of any length
        options.picture.background = behind == 2 ? (float[3]){0, 0, 0} : NULL;
        CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
        finish(s.view, 2048);
        CHECK_STATUS(sap_gl_view_read(s.view, with), SAP_OK);
        int64_t brighter = 0, darker = 0;
        for (int i = 0; i < 3 * PIXELS; i++) {
            brighter += with[i] > without[i];
            darker += with[i] < without[i];
        }
        NOTE("sky %d", behind);
        if (behind == 0)
            CHECK(with[middle] == 255 && with[middle] > without[middle] && brighter > PIXELS / 2 && !darker);
        if (behind == 1) CHECK(!brighter && !darker);
        if (behind == 2) CHECK_EQUAL(with[middle], 0);
    }
    close_stage(&s);
    sap_device_close(device);
}

TEST(views_of_meshes_that_change) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    stage s;
    bool done;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    open_stage(&s, device);
    const sap_gl_view_options options = options_of(&s.scene, &render_small);
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    CHECK_STATUS(sap_gl_view_step(s.view, 64, &done), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_rebuild(s.copy, s.set.mesh.mesh), SAP_OK);
    CHECK_STATUS(sap_gl_view_step(s.view, 64, &done), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    sap_gl_view_free(s.view);
    s.view = NULL;
    CHECK_STATUS(sap_gl_view_create(s.copy, &s.set.file, &s.view), SAP_OK);
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    close_stage(&s);
    sap_device_close(device);
}

// A picture of one sample, begun with everything that may fail.
static sap_status draw_once(sap_device* device, const stage* s, uint8_t* pixels) {
    sap_mesh_tree* copy = NULL;
    sap_gl_view* view = NULL;
    sap_gl_view_options options = options_of(&s->scene, &render_small);
    options.picture.samples = 1;
    options.picture.bounces = 1;
    options.plain = true;
    sap_status status = sap_mesh_tree_copy(s->tree, device, &copy);
    if (status == SAP_OK) status = sap_gl_view_create(copy, &s->set.file, &view);
    if (status == SAP_OK) status = sap_gl_view_begin(view, &options);
    for (bool done = false; !done && status == SAP_OK;) status = sap_gl_view_step(view, 100, &done);
    if (status == SAP_OK) status = sap_gl_view_read(view, pixels);
    sap_gl_view_free(view);
    sap_mesh_tree_free(copy);
    return status;
}

TEST(failures_at_any_point) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t pixels[3 * PIXELS];
    watch w = {0};
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    open_stage(&s, device);
    const int64_t textures = gl_tools.textures;
    sap_status status = SAP_ERROR_MEMORY;
    for (int64_t n = 1; status != SAP_OK && n < 200; n++) {
        sap_device_trim(device);
        w.fail_from = w.requests + n;
        status = draw_once(device, &s, pixels);
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_MEMORY);
        CHECK_EQUAL(gl_tools.textures, textures);
    }
    CHECK_STATUS(status, SAP_OK);
    w.fail_from = 0;
    status = SAP_ERROR_DEVICE_MEMORY;
    for (int64_t n = 1; status != SAP_OK && n < 200; n++) {
        gl_tools.memory_calls = 0;
        gl_tools.fail_memory_at = n;
        status = draw_once(device, &s, pixels);
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_DEVICE_MEMORY);
        CHECK_EQUAL(gl_tools.textures, textures);
    }
    CHECK_STATUS(status, SAP_OK);
    close_stage(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

TEST(contexts_lost_at_any_call) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t pixels[3 * PIXELS];
    int64_t lost = 0;
    for (int64_t n = 1, calls = 1000000; n < calls; n += 20 + n / 3) {
        watch w = {0};
        sap_device* device = NULL;
        stage s;
        gl_tools_reset();
        CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
        open_stage(&s, device);
        const int64_t before = gl_tools.calls;
        gl_tools.lose_at = before + n;
        sap_status status = draw_once(device, &s, pixels);
        if (status == SAP_OK) calls = gl_tools.calls - before;
        if (status != SAP_OK) {
            lost++;
            CHECK_STATUS(status, SAP_ERROR_DEVICE_LOST);
            const sap_gl_view_options options = options_of(&s.scene, &render_small);
            CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_DEVICE_LOST);
        }
        gl_tools.lose_at = 0;
        close_stage(&s);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    CHECK(lost > 10);
}

// A picture that could not begin leaves none behind, and no textures of another size than the next one's.
TEST(begun_without_the_callers_context) {
    if (!gl_tools_present() || !gl_tools_enter_own()) SKIP(no_gl);
    static uint8_t pixels[3 * PIXELS], again[3 * PIXELS];
    sap_device* device = NULL;
    stage s;
    bool done;
    gl_tools_reset();
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_GL, .current_context = true}, &device), SAP_OK);
    open_stage(&s, device);
    sap_gl_view_options options = options_of(&s.scene, &render_small);
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 64);
    CHECK_STATUS(sap_gl_view_read(s.view, pixels), SAP_OK);
    options.picture.width = options.picture.height = 20;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    options = options_of(&s.scene, &render_small);
    gl_tools_pause_own();
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_view_step(s.view, 64, &done), SAP_ERROR_ARGUMENT);
    gl_tools_resume_own();
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 64);
    CHECK_STATUS(sap_gl_view_read(s.view, again), SAP_OK);
    CHECK(!memcmp(pixels, again, sizeof pixels));
    close_stage(&s);
    sap_device_close(device);
    gl_tools_leave_own();
}

// Shown in a framebuffer of the caller's, upside up, and twice as large.
TEST(shown_in_the_callers_context) {
    if (!gl_tools_present() || !gl_tools_enter_own()) SKIP(no_gl);
    static uint8_t pixels[3 * PIXELS], seen[4 * 4 * PIXELS];
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_GL, .current_context = true}, &device), SAP_OK);
    open_stage(&s, device);
    const sap_gl_view_options options = options_of(&s.scene, &render_small);
    const int32_t wide = 2 * RENDER_WIDTH, high = 2 * RENDER_HEIGHT;
    CHECK_STATUS(sap_gl_view_begin(s.view, &options), SAP_OK);
    finish(s.view, 100);
    CHECK_STATUS(sap_gl_view_read(s.view, pixels), SAP_OK);
    const uint32_t framebuffer = gl_tools_make_framebuffer(wide, high);
    gl_tools_set_state();
    CHECK_STATUS(sap_gl_view_show(s.view, framebuffer, (int32_t[4]){0, 0, wide, high}), SAP_OK);
    CHECK(gl_tools_state_kept());
    gl_tools_read_framebuffer(framebuffer, wide, high, seen);
    int64_t wrong = 0;
    for (int y = 1; y < RENDER_HEIGHT - 1; y++)
        for (int x = 1; x < RENDER_WIDTH - 1; x++)
            for (int a = 0; a < 3; a++) {
                // The mean of a pixel's four lies between the least and the greatest of it and its neighbours.
                int sum = 0, least = 255, most = 0;
                for (int i = 0; i < 4; i++) sum += seen[4 * ((high - 1 - (2 * y + i / 2)) * wide + 2 * x + i % 2) + a];
                for (int i = 0; i < 9; i++) {
                    int value = pixels[3 * ((y + i / 3 - 1) * RENDER_WIDTH + x + i % 3 - 1) + a];
                    least = value < least ? value : least;
                    most = value > most ? value : most;
                }
                wrong += sum < 4 * least - 4 || sum > 4 * most + 4;
            }
    CHECK_EQUAL(wrong, 0);
    close_stage(&s);
    sap_device_close(device);
    gl_tools_leave_own();
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
