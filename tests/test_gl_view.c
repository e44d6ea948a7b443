// Pictures that shaders draw beside those of the CPU: the same samples of the same paths, so the same pixels but for
// what shaders round differently.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "gl_tools.h"
#include "render_set.h"
#include "sapwood/gl.h"

static const char* const no_gl = "no OpenGL ES here";

enum { PIXELS = RENDER_WIDTH * RENDER_HEIGHT };

static sap_status open_watched(watch* w, sap_device** device) {
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    return gl_tools_open(&options, device);
}

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

// The paths of the CPU, sample by sample. Where rounding makes a ray pass an edge on its other side, a sample of a pixel
// is another: that may happen to one channel in 500.
TEST(the_pictures_of_the_cpu) {
    if (!gl_tools_present()) SKIP(no_gl);
    static uint8_t expected[3 * PIXELS], pixels[3 * PIXELS];
    watch w = {0};
    sap_device* device = NULL;
    stage s;
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    gl_tools.max_draw_buffers = 4;
    CHECK_STATUS(open_watched(&w, &device), SAP_OK);
    open_stage(&s, device);
    for (int which = 0; which < RENDER_SETS; which++) {
        static const int32_t sides[] = {64, 17, 200, 33, 70, 2048};
        sap_render_options o = render_set_options(&s.scene, which);
        sap_render_info made;
        NOTE("picture %d", which);
        if (o.heat) o.hottest = 60;
        CHECK_STATUS(sap_render(s.cpu, &s.scene, &o, expected, &made), SAP_OK);
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
        CHECK(info.picture && info.sum && info.done >= 1 && info.rays >= PIXELS);
    }
    close_stage(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
