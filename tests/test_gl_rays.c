// Rays in shaders: the hits of the CPU, bit for bit, over all families; trees that are copied, rebuilt and lost.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "folder.h"
#include "gl_tools.h"
#include "ray_oracle.h"
#include "sapwood/gl.h"

static const char* const no_gl = "no OpenGL ES here";

enum { RAYS = 1600, SIZE = 500 };

// A mesh, rays about it, and what the CPU says of them.
typedef struct scene {
    sap_device* cpu;
    ray_mesh kind;
    scene_mesh mesh;
    sap_mesh_tree* tree;
    int64_t count;
    sap_ray* rays;
    sap_hit *expected, *hits;
    int32_t *expected_visits, *visits;
    uint8_t* occluded;
} scene;

static void open_scene(scene* s, ray_mesh kind, int size, int64_t rays) {
    uint64_t state = 5;
    float lower[3], upper[3];
    memset(s, 0, sizeof *s);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &s->cpu), SAP_OK);
    s->kind = kind;
    s->mesh = ray_mesh_of(kind, size);
    s->tree = ray_tree(s->cpu, &s->mesh.mesh, SAP_QUALITY_HIGH);
    s->count = rays;
    s->rays = malloc((size_t)rays * sizeof *s->rays);
    s->expected = malloc((size_t)rays * sizeof *s->expected);
    s->hits = malloc((size_t)rays * sizeof *s->hits);
    s->expected_visits = malloc((size_t)rays * sizeof *s->expected_visits);
    s->visits = malloc((size_t)rays * sizeof *s->visits);
    s->occluded = malloc((size_t)rays);
    oracle_box(&s->mesh.mesh, lower, upper);
    for (int64_t i = 0; i < rays; i++) s->rays[i] = oracle_ray(&s->mesh.mesh, lower, upper, i, &state);
    CHECK_STATUS(sap_trace_visits(s->tree, s->rays, rays, s->expected, s->expected_visits), SAP_OK);
}

static void close_scene(scene* s) {
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
    sap_device_close(s->cpu);
    free(s->rays);
    free(s->expected);
    free(s->hits);
    free(s->expected_visits);
    free(s->visits);
    free(s->occluded);
}

// All that a tree on OpenGL says is what the CPU said.
static void check_rays(const scene* s, const sap_mesh_tree* tree) {
    int64_t wrong = 0, wrong_visits = 0, wrong_shadows = 0;
    CHECK_STATUS(sap_trace(tree, s->rays, s->count, s->hits), SAP_OK);
    for (int64_t i = 0; i < s->count; i++) {
        const sap_hit *got = &s->hits[i], *expected = &s->expected[i];
        if (!memcmp(got, expected, sizeof *got)) continue;
        if (!wrong++)
            NOTE("mesh %d, ray %lld of kind %d: %.9g %.9g %.9g %d, not %.9g %.9g %.9g %d", (int)s->kind, (long long)i,
                 (int)(i % RAY_KINDS), (double)got->t, (double)got->u, (double)got->v, got->triangle,
                 (double)expected->t, (double)expected->u, (double)expected->v, expected->triangle);
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_STATUS(sap_trace_visits(tree, s->rays, s->count, s->hits, s->visits), SAP_OK);
    CHECK_STATUS(sap_occluded(tree, s->rays, s->count, s->occluded), SAP_OK);
    for (int64_t i = 0; i < s->count; i++) {
        wrong_visits += s->visits[i] != s->expected_visits[i];
        wrong_shadows += s->occluded[i] != (s->expected[i].triangle >= 0);
    }
    CHECK_EQUAL(wrong_visits, 0);
    CHECK_EQUAL(wrong_shadows, 0);
}

TEST(the_hits_of_the_cpu) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        scene s;
        sap_mesh_tree* copy = NULL;
        NOTE("mesh %d", kind);
        open_scene(&s, (ray_mesh)kind, SIZE, RAYS);
        if (CHECK_STATUS(sap_mesh_tree_copy(s.tree, device, &copy), SAP_OK)) check_rays(&s, copy);
        sap_mesh_tree_free(copy);
        close_scene(&s);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// A leaf that no pass can look at as a whole.
TEST(leaves_longer_than_a_pass) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    scene s;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 2}, &device), SAP_OK);
    open_scene(&s, (ray_mesh)(RAY_MESH_OTHERS + MESH_COPIES), 30000, 64);
    sap_mesh_tree* tree = ray_tree(device, &s.mesh.mesh, SAP_QUALITY_HIGH);
    if (CHECK(tree != NULL)) check_rays(&s, tree);
    sap_mesh_tree_free(tree);
    close_scene(&s);
    sap_device_close(device);
}

TEST(rebuilt_saved_and_copied_back) {
    if (!gl_tools_present()) SKIP(no_gl);
    folder files;
    watch w = {0};
    sap_device* device = NULL;
    scene s;
    sap_mesh_tree *tree = NULL, *loaded = NULL, *back = NULL;
    gl_tools_reset();
    if (!CHECK(folder_make(&files))) return;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(device, (sap_mesh){0}, NULL, &tree), SAP_OK);
    sap_ray ray = {{0, 0, -5}, 0, {0, 0, 1}, INFINITY};
    sap_hit hit = {0};
    CHECK_STATUS(sap_trace(tree, &ray, 1, &hit), SAP_OK);
    CHECK(hit.triangle == -1 && isinf(hit.t));
    for (int i = 0; i < 2; i++) {
        open_scene(&s, i ? RAY_MESH_SOUP : RAY_MESH_TORUS, SIZE, RAYS);
        CHECK_STATUS(sap_mesh_tree_rebuild(tree, s.mesh.mesh), SAP_OK);
        check_rays(&s, tree);
        if (!i) close_scene(&s);
    }
    CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_save(tree, files.file), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_load(device, files.file, NULL, &loaded), SAP_OK);
    check_rays(&s, loaded);
    CHECK_STATUS(sap_mesh_tree_copy(loaded, s.cpu, &back), SAP_OK);
    check_rays(&s, back);
    folder_remove(&files);
    CHECK_STATUS(sap_mesh_tree_rebuild(tree, (sap_mesh){.triangle_count = -1}), SAP_ERROR_ARGUMENT);
    sap_mesh_tree_free(back);
    sap_mesh_tree_free(loaded);
    sap_mesh_tree_free(tree);
    close_scene(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

// Rectangles of rays of every shape, in a context that can do little.
TEST(any_number_of_rays_with_small_textures) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = NULL;
    scene s, large;
    sap_mesh_tree *tree = NULL, *none = NULL;
    gl_tools_reset();
    gl_tools.max_texture_size = 32;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    open_scene(&s, RAY_MESH_CUBE, 12, 600);
    open_scene(&large, RAY_MESH_SOUP, 700, 1);
    CHECK_STATUS(sap_mesh_tree_copy(s.tree, device, &tree), SAP_OK);
    const int64_t counts[] = {0, 1, 15, 16, 17, 255, 256, 257, 600};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        s.count = counts[i];
        check_rays(&s, tree);
    }
    CHECK_STATUS(sap_mesh_tree_copy(large.tree, device, &none), SAP_ERROR_RANGE);
    CHECK(strstr(w.sentence, "GL_MAX_TEXTURE_SIZE here is 32"));
    CHECK(!none);
    close_scene(&large);
    sap_mesh_tree_free(tree);
    close_scene(&s);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
}

static bool stop(void* user, double done) {
    (void)done;
    return --*(int*)user > 0;
}

TEST(what_is_refused_or_stopped) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    scene s;
    sap_mesh_tree* tree = NULL;
    int left = 1000;
    gl_tools_reset();
    const sap_device_options options = {.processor = SAP_GL, .progress = stop, .progress_user = &left};
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    open_scene(&s, RAY_MESH_CUBE, 12, 64);
    CHECK_STATUS(sap_mesh_tree_copy(s.tree, device, &tree), SAP_OK);
    sap_closest closest;
    const float point[3] = {0, 0, 0};
    uint8_t inside;
    CHECK_STATUS(sap_trace_all(tree, s.rays, 4, 2, s.hits, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_closest_point(tree, (sap_points){point, 1, 3, 0}, &closest), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_inside(tree, (sap_points){point, 1, 3, 0}, &inside), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_trace(tree, NULL, 1, s.hits), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_trace(tree, s.rays, -1, s.hits), SAP_ERROR_ARGUMENT);
    left = 1;
    CHECK_STATUS(sap_trace(tree, s.rays, s.count, s.hits), SAP_ERROR_CANCELLED);
    left = 1000;
    CHECK_STATUS(sap_trace(tree, s.rays, s.count, s.hits), SAP_OK);
    CHECK(left < 1000);
    sap_mesh_tree_free(tree);
    close_scene(&s);
    sap_device_close(device);
}

// All that a tree does, once: the first failure.
static sap_status use_once(sap_device* device, const scene* s) {
    sap_mesh_tree* tree = NULL;
    sap_status status = sap_mesh_tree_copy(s->tree, device, &tree);
    if (status == SAP_OK) status = sap_trace(tree, s->rays, s->count, s->hits);
    if (status == SAP_OK) status = sap_occluded(tree, s->rays, s->count, s->occluded);
    sap_mesh_tree_free(tree);
    return status;
}

TEST(failed_memory_at_any_point) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = NULL;
    scene s;
    open_scene(&s, RAY_MESH_CUBE, 12, 40);
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    const int64_t blocks = w.blocks;
    sap_status status = SAP_ERROR_MEMORY;
    for (int64_t n = 1; status != SAP_OK && n < 200; n++) {
        sap_device_trim(device);
        w.fail_from = w.requests + n;
        status = use_once(device, &s);
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_MEMORY);
    }
    CHECK_STATUS(status, SAP_OK);
    w.fail_from = 0;
    status = SAP_ERROR_DEVICE_MEMORY;
    for (int64_t n = 1; status != SAP_OK && n < 200; n++) {
        gl_tools.memory_calls = 0;
        gl_tools.fail_memory_at = n;
        status = use_once(device, &s);
        if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_DEVICE_MEMORY);
        CHECK_EQUAL(gl_tools.textures, 0);
    }
    CHECK_STATUS(status, SAP_OK);
    sap_device_trim(device);
    CHECK_EQUAL(w.blocks, blocks);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    close_scene(&s);
}

TEST(lost_contexts_at_any_call) {
    if (!gl_tools_present()) SKIP(no_gl);
    scene s;
    int64_t lost = 0;
    open_scene(&s, RAY_MESH_CUBE, 12, 40);
    for (int64_t n = 1, calls = 100000; n < calls; n += 1 + n / 12) {
        watch w = {0};
        sap_device* device = NULL;
        gl_tools_reset();
        CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
        const int64_t before = gl_tools.calls;
        gl_tools.lose_at = before + n;
        sap_status status = use_once(device, &s);
        if (status == SAP_OK) calls = gl_tools.calls - before;
        if (status != SAP_OK) {
            lost++;
            CHECK_STATUS(status, SAP_ERROR_DEVICE_LOST);
            CHECK_STATUS(use_once(device, &s), SAP_ERROR_DEVICE_LOST);
        }
        gl_tools.lose_at = 0;
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    CHECK(lost > 10);
    close_scene(&s);
}

TEST(in_the_callers_context) {
    if (!gl_tools_present() || !gl_tools_enter_own()) SKIP(no_gl);
    sap_device* device = NULL;
    scene s;
    gl_tools_reset();
    open_scene(&s, RAY_MESH_TORUS, SIZE, RAYS);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_GL, .current_context = true}, &device), SAP_OK);
    gl_tools_set_state();
    CHECK_STATUS(use_once(device, &s), SAP_OK);
    CHECK(gl_tools_state_kept());
    sap_device_close(device);
    gl_tools_leave_own();
    close_scene(&s);
}
#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
