// Pictures on CUDA devices: those of the CPU, every byte.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "progress_host.h"
#include "render_instances.h"

enum { MOST_PIXELS = 80 * 60 };

// The same mesh on both processors.
typedef struct stage {
    scene s;
    render_set set;
    sap_mesh_tree *here, *there;
    sap_scene scene; // all but the tree
    uint8_t expected[3 * MOST_PIXELS], got[3 * MOST_PIXELS];
} stage;

static void open_stage_on(stage* t) {
    render_set_make(&t->set);
    t->here = t->there = NULL;
    CHECK_STATUS(sap_mesh_tree_build(t->s.cpu, t->set.mesh.mesh, NULL, &t->here), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(t->here, t->s.gpu, &t->there), SAP_OK);
    t->scene = (sap_scene){.file = &t->set.file};
}

static void close_stage(stage* t) {
    sap_mesh_tree_free(t->here);
    sap_mesh_tree_free(t->there);
    scene_mesh_free(&t->set.mesh);
    close_scene(&t->s);
}

#define OPEN_STAGE(t, stream)                                                                                          \
    do {                                                                                                               \
        OPEN_SCENE(&(t)->s, stream);                                                                                   \
        open_stage_on(t);                                                                                              \
    } while (0)

static sap_status draw_here(stage* t, const sap_render_options* o, sap_render_info* info) {
    memset(t->expected, 0xee, sizeof t->expected);
    t->scene.tree = t->here;
    return sap_render(&t->scene, o, t->expected, info);
}

static sap_status draw_there(stage* t, const sap_render_options* o, sap_render_info* info) {
    memset(t->got, 0xee, sizeof t->got);
    t->scene.tree = t->there;
    return sap_render(&t->scene, o, t->got, info);
}

static bool is_same(const stage* t) { return !memcmp(t->expected, t->got, sizeof t->got); }

static void expect_same(stage* t, const sap_render_options* o) {
    sap_render_info here, there;
    CHECK_STATUS(draw_here(t, o, &here), SAP_OK);
    CHECK_STATUS(draw_there(t, o, &there), SAP_OK);
    CHECK(is_same(t));
    CHECK_EQUAL(here.rays, there.rays);
    CHECK(here.hottest == there.hottest);
    CHECK(there.trace_seconds > 0 && there.shade_seconds > 0);
}

TEST(pictures_are_those_of_the_cpu) {
    stage t;
    OPEN_STAGE(&t, NULL);
    for (int which = 0; which < RENDER_SETS; which++) {
        NOTE("picture %d", which);
        sap_render_options o = render_set_options(&t.scene, which);
        expect_same(&t, &o);
    }
    close_stage(&t);
}

// Instances, too.
TEST(instances_are_those_of_the_cpu) {
    stage t;
    OPEN_STAGE(&t, NULL);
    render_instances here, there;
    render_instances_make(&here, false);
    render_instances_make(&there, false);
    CHECK_STATUS(render_instances_build(&here, t.s.cpu), SAP_OK);
    CHECK_STATUS(render_instances_build(&there, t.s.gpu), SAP_OK);
    for (int which = 0; which < 4; which++) {
        NOTE("picture %d", which);
        sap_render_options o = render_set_options(&t.scene, which);
        o.next_event = which == 2;
        memset(t.got, 0xee, sizeof t.got);
        memset(t.expected, 0xdd, sizeof t.expected);
        t.scene.instances = here.tree;
        t.scene.places = &here.places;
        t.scene.file = &here.set.file;
        CHECK_STATUS(sap_render(&t.scene, &o, t.expected, NULL), SAP_OK);
        t.scene.instances = there.tree;
        t.scene.places = &there.places;
        t.scene.file = &there.set.file;
        CHECK_STATUS(sap_render(&t.scene, &o, t.got, NULL), SAP_OK);
        CHECK(!memcmp(t.got, t.expected, 3 * RENDER_WIDTH * RENDER_HEIGHT));
    }
    render_instances_free(&here);
    render_instances_free(&there);
    close_stage(&t);
}

// Passes, rays to shining faces, tone curves, noise and linear light.
TEST(passes_are_those_of_the_cpu) {
    stage t;
    OPEN_STAGE(&t, NULL);
    sap_render_options o = render_set_options(&t.scene, 2);
    o.next_event = true;
    o.tone = SAP_TONE_FILMIC;
    o.passes = 3;
    o.exposure = 2;
    expect_same(&t, &o);
    static float here[3 * MOST_PIXELS], there[3 * MOST_PIXELS];
    sap_render_info of_here, of_there;
    o.passes = 0;
    o.until_error = 0.1f;
    t.scene.tree = t.here;
    CHECK_STATUS(sap_render_light(&t.scene, &o, here, &of_here), SAP_OK);
    t.scene.tree = t.there;
    CHECK_STATUS(sap_render_light(&t.scene, &o, there, &of_there), SAP_OK);
    CHECK(!memcmp(here, there, sizeof here) && here[0] > 0);
    CHECK(of_here.passes == of_there.passes && of_here.passes > 1 && of_here.error == of_there.error);
    close_stage(&t);
}

// Calls on the caller's stream do not wait for rays; pictures do.
TEST(pictures_in_the_callers_stream) {
    stage t;
    OPEN_STAGE(&t, cuda_tools_stream());
    expect_same(&t, &render_small);
    close_stage(&t);
}

// The tree says where the work is done.
TEST(trees_decide_where) {
    stage t;
    OPEN_STAGE(&t, NULL);
    CHECK_STATUS(draw_here(&t, &render_small, NULL), SAP_OK);
    t.scene.tree = t.there;
    int64_t launches = cuda_tools.calls[CUDA_TOOLS_LAUNCH];
    CHECK_STATUS(sap_render(&t.scene, &render_small, t.got, NULL), SAP_OK);
    CHECK(cuda_tools.calls[CUDA_TOOLS_LAUNCH] > launches + 10);
    CHECK(!memcmp(t.expected, t.got, 3 * RENDER_WIDTH * RENDER_HEIGHT));
    close_stage(&t);
}

// What the sets leave out: colours of vertices, no materials at all, no lamps, odd sizes, no bounces and many.
TEST(other_pictures) {
    static const int32_t sizes[][2] = {{1, 1}, {80, 1}, {1, 60}, {13, 29}};
    stage t;
    OPEN_STAGE(&t, NULL);
    sap_render_options o = {.width = 20, .height = 17, .samples = 3};
    float* colors = malloc((size_t)t.set.mesh.mesh.vertex_count * 3 * sizeof *colors);
    for (int64_t i = 0; i < 3 * t.set.mesh.mesh.vertex_count; i++) colors[i] = (float)(i * 37 % 101) / 100;
    t.set.file.colors = colors;
    expect_same(&t, &o);
    t.set.file.material_ids = NULL;
    expect_same(&t, &o);
    t.set.file.material_ids = t.set.material_ids;
    t.scene.lights = render_lamps; // none of which is used
    expect_same(&t, &o);
    o.samples = 1;
    o.exposure = 1.7f;
    o.ambient = 0.3f;
    for (int i = 0; i < 4; i++) {
        NOTE("size %d", i);
        o.width = sizes[i][0];
        o.height = sizes[i][1];
        o.bounces = i == 0 ? -1 : i == 1 ? 64 : 0;
        o.heat = i == 3;
        o.hottest = i == 3 ? 9 : 0;
        expect_same(&t, &o);
    }
    free(colors);
    close_stage(&t);
}

TEST(empty_mesh) {
    stage t;
    OPEN_STAGE(&t, NULL);
    sap_mesh_tree_free(t.here);
    sap_mesh_tree_free(t.there);
    t.set.file = (sap_mesh_file){.mesh = {NULL, 0, NULL, 0}};
    CHECK_STATUS(sap_mesh_tree_build(t.s.cpu, t.set.file.mesh, NULL, &t.here), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(t.here, t.s.gpu, &t.there), SAP_OK);
    expect_same(&t, &render_small);
    close_stage(&t);
}

// ---- Other devices

// What a stage used before it moved.
typedef struct usual {
    sap_device* gpu;
    sap_mesh_tree* there;
} usual;

// To another device, which is closed when the stage moves back.
static usual move_stage(stage* t, const sap_device_options* options) {
    const usual before = {t->s.gpu, t->there};
    CHECK_STATUS(cuda_tools_open(options, &t->s.gpu), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(t->here, t->s.gpu, &t->there), SAP_OK);
    return before;
}

static void move_stage_back(stage* t, usual before) {
    sap_mesh_tree_free(t->there);
    sap_device_close(t->s.gpu);
    t->there = before.there;
    t->s.gpu = before.gpu;
}

// ---- Memory

// GPU memory of which no block may be larger than `most`.
typedef struct short_memory {
    int64_t counts[2]; // as cuda_tools_own_allocate wants them
    size_t most;
    int64_t refused;
} short_memory;

static void* short_allocate(void* user, size_t bytes, size_t alignment) {
    short_memory* m = user;
    if (bytes <= m->most) return cuda_tools_own_allocate(m->counts, bytes, alignment);
    m->refused++;
    return NULL;
}

static void short_release(void* user, void* memory, size_t bytes) {
    cuda_tools_own_release(((short_memory*)user)->counts, memory, bytes);
}

// Where memory is short, batches are smaller: tiles of some rows, at last of parts of rows.
TEST(short_of_memory) {
    stage t;
    OPEN_STAGE(&t, NULL);
    short_memory m = {.most = (size_t)1 << 20};
    sap_device_options options = scene_options(&t.s.w);
    options.device_allocator = (sap_allocator){short_allocate, short_release, &m};
    const usual before = move_stage(&t, &options);
    sap_render_options o = render_small;
    o.samples = 17;
    o.bounces = 2;
    expect_same(&t, &o);
    CHECK(m.refused > 0);
    m.most = 400 << 10; // less than the smallest batch takes
    sap_device_trim(t.s.gpu);
    t.s.w.log_calls = 0;
    CHECK_STATUS(draw_there(&t, &o, NULL), SAP_ERROR_DEVICE_MEMORY);
    CHECK_EQUAL(t.s.w.log_calls, 1);
    CHECK_EQUAL(t.got[0], 0xee);
    move_stage_back(&t, before);
    CHECK_EQUAL(m.counts[1], 0);
    close_stage(&t);
}

TEST(refused_host_memory) {
    stage t;
    OPEN_STAGE(&t, NULL);
    bool drawn = false;
    for (int64_t fail = 1; fail < 100 && !drawn; fail++) {
        sap_device_trim(t.s.gpu);
        t.s.w.requests = 0;
        t.s.w.fail_from = fail;
        sap_status status = draw_there(&t, &render_small, NULL);
        drawn = status == SAP_OK;
        if (!drawn) CHECK_STATUS(status, SAP_ERROR_MEMORY);
        t.s.w.fail_from = 0;
    }
    CHECK(drawn);
    close_stage(&t);
}

// Every call of CUDA fails once, and all after it.
TEST(every_call_of_cuda_fails) {
    stage t;
    const sap_render_options o = {.width = 5, .height = 3, .samples = 1, .bounces = 1};
    for (int kind = CUDA_TOOLS_ALLOCATE; kind <= CUDA_TOOLS_WAIT; kind++) {
        bool lost = kind != CUDA_TOOLS_ALLOCATE, over = false;
        for (int64_t at = 1; !over; at++) {
            OPEN_STAGE(&t, NULL);
            CHECK_STATUS(draw_here(&t, &o, NULL), SAP_OK);
            sap_device_trim(t.s.gpu);
            fail_calls(1u << kind, at, true, lost ? CUDA_TOOLS_ILLEGAL_ADDRESS : CUDA_TOOLS_NO_MEMORY);
            NOTE("kind %d, call %d", kind, (int)at);
            sap_status status = draw_there(&t, &o, NULL);
            over = !cuda_tools.failed;
            CHECK_STATUS(status, over ? SAP_OK : lost ? SAP_ERROR_DEVICE_LOST : SAP_ERROR_DEVICE_MEMORY);
            cuda_tools.fail_at = 0;
            if (!lost) CHECK_STATUS(draw_there(&t, &o, NULL), SAP_OK);
            if (!lost || over) CHECK(is_same(&t));
            close_stage(&t);
        }
    }
}

// ---- Progress

TEST(progress_and_cancelling) {
    stage t;
    OPEN_STAGE(&t, NULL);
    progress_host p = {0};
    sap_device_options options = scene_options(&t.s.w);
    options.progress = progress_host_report;
    options.progress_user = &p;
    const usual before = move_stage(&t, &options);
    sap_render_options o = {.width = 6, .height = 4, .samples = 33};
    for (int stop = 0; stop <= 3; stop++) {
        p = (progress_host){.stop_at = stop};
        CHECK_STATUS(draw_there(&t, &o, NULL), stop ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK_EQUAL(p.reports, stop ? stop : 3);
    }
    move_stage_back(&t, before);
    close_stage(&t);
}

#else
TEST(pictures_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
