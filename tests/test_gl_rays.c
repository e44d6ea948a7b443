// Rays in shaders: the hits of the CPU, bit for bit, over all families; trees that are copied, rebuilt and lost.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "gl_tools.h"
#include "ray_oracle.h"
#include "sapwood/gl.h"

static const char* const no_gl = "no OpenGL ES here";

enum { RAYS = 1600, SIZE = 500 };

static sap_status open_watched(watch* w, sap_device** device) {
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    return gl_tools_open(&options, device);
}

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
            NOTE("mesh %d, ray %lld of kind %d: %.9g %.9g %.9g %d, not %.9g %.9g %.9g %d", (int)s->kind, (long long)i, (int)(i % RAY_KINDS),
                 (double)got->t, (double)got->u, (double)got->v, got->triangle, (double)expected->t,
                 (double)expected->u, (double)expected->v, expected->triangle);
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
    CHECK_STATUS(open_watched(&w, &device), SAP_OK);
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
#else

TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
