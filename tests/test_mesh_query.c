// Prepared searches of meshes: one ray or point a call gives the bits of sap_trace, sap_occluded and sap_closest_point,
// and those of brute force.
#include "cases.h"
#include "ray_oracle.h"
#include "stage.h"

enum { RAYS = CASE_STEP > 1 ? 480 : 1500, SIZE = CASE_STEP > 1 ? 150 : 700 };

// A mesh with its tree, and rays about it; their origins are the points.
typedef struct scene {
    scene_mesh mesh;
    sap_mesh_tree* tree;
    sap_mesh_query* query;
    sap_ray rays[RAYS];
} scene;

static bool open_scene(scene* s, sap_device* device, ray_mesh kind, sap_quality quality) {
    float lower[3], upper[3];
    uint64_t state = 5;
    s->mesh = ray_mesh_of(kind, SIZE);
    s->tree = ray_tree(device, &s->mesh.mesh, quality);
    s->query = NULL;
    oracle_box(&s->mesh.mesh, lower, upper);
    for (int64_t i = 0; i < RAYS; i++) s->rays[i] = oracle_ray(&s->mesh.mesh, lower, upper, i, &state);
    return CHECK_STATUS(sap_mesh_query_open(s->tree, NULL, &s->query), SAP_OK);
}

static void close_scene(scene* s) {
    sap_mesh_query_close(s->query);
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
}

static sap_device* open_device(sap_simd simd) {
    sap_device* device = NULL;
    const sap_device_options options = {.processor = SAP_CPU, .simd = simd, .threads = 1};
    return sap_device_open(&options, &device) == SAP_OK ? device : NULL;
}

static void expect_ray(sap_mesh_query* query, const sap_ray* ray, const sap_hit* expected) {
    sap_hit hit;
    memset(&hit, 0x5a, sizeof hit);
    CHECK_EQUAL(sap_mesh_query_trace(query, ray, &hit), expected->triangle >= 0);
    CHECK(!memcmp(&hit, expected, sizeof hit));
    CHECK_EQUAL(sap_mesh_query_occluded(query, ray), expected->triangle >= 0);
}

static void expect_point(sap_mesh_query* query, const float* point, const sap_closest* expected) {
    sap_closest closest;
    memset(&closest, 0x5a, sizeof closest);
    CHECK_EQUAL(sap_mesh_query_closest(query, point, &closest), expected->triangle >= 0);
    CHECK(!memcmp(&closest.point[0], &expected->point[0], sizeof closest));
}

// The array calls say what to expect; brute force, for some.
static void expect_all(const scene* s) {
    static sap_hit hits[RAYS];
    static sap_closest closest[RAYS];
    const sap_points points = {s->rays[0].origin, RAYS, 3, sizeof(sap_ray) / sizeof(float)};
    CHECK_STATUS(sap_trace(s->tree, s->rays, RAYS, hits), SAP_OK);
    CHECK_STATUS(sap_closest_point(s->tree, points, closest), SAP_OK);
    for (int64_t i = 0; i < RAYS; i++) {
        expect_ray(s->query, s->rays + i, hits + i);
        expect_point(s->query, s->rays[i].origin, closest + i);
        if (i % 7) continue;
        const sap_closest nearest = oracle_closest(&s->mesh.mesh, s->rays[i].origin);
        sap_hit hit;
        oracle_trace(&s->mesh.mesh, s->rays + i, 1, &hit);
        expect_ray(s->query, s->rays + i, &hit);
        expect_point(s->query, s->rays[i].origin, &nearest);
    }
}

TEST(answers_are_those_of_the_array_calls) {
    static scene s;
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
        sap_device* device = open_device((sap_simd)simd);
        for (int kind = 0; device && kind < RAY_MESHES; kind++) {
            NOTE("instruction set %d, family %d", simd, kind);
            if (open_scene(&s, device, (ray_mesh)kind, kind % 2 ? SAP_QUALITY_HIGH : SAP_QUALITY_FAST)) expect_all(&s);
            close_scene(&s);
        }
        sap_device_close(device);
    }
}

// Leaves of any number of triangles, up to several registers full.
TEST(full_leaves) {
    static scene s;
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
        sap_device* device = open_device((sap_simd)simd);
        for (int depth = 1; device && depth <= 5; depth++) {
            const sap_mesh_tree_options options = {.depth = depth};
            NOTE("instruction set %d, depth %d", simd, depth);
            CHECK(open_scene(&s, device, RAY_MESH_SOUP, SAP_QUALITY_HIGH));
            sap_mesh_query_close(s.query);
            sap_mesh_tree_free(s.tree);
            CHECK_STATUS(sap_mesh_tree_build(device, s.mesh.mesh, &options, &s.tree), SAP_OK);
            CHECK_STATUS(sap_mesh_query_open(s.tree, NULL, &s.query), SAP_OK);
            expect_all(&s);
            close_scene(&s);
        }
        sap_device_close(device);
    }
}

// Points as far away as the radius count, others do not.
TEST(radius) {
    static scene s;
    static sap_closest all[RAYS];
    sap_device* device = open_device(SAP_SIMD_AUTO);
    CHECK(open_scene(&s, device, RAY_MESH_TORUS, SAP_QUALITY_HIGH));
    const sap_points points = {s.rays[0].origin, RAYS, 3, sizeof(sap_ray) / sizeof(float)};
    CHECK_STATUS(sap_closest_point(s.tree, points, all), SAP_OK);
    for (int64_t i = 0; i < RAYS; i++) {
        const double r = sqrt((double)all[i].distance2);
        const double radii[] = {0, r, r * 0.5, r * 2, INFINITY};
        const float* p = s.rays[i].origin;
        for (int j = 0; j < 5 && r > 0; j++) {
            const sap_closest none = {{p[0], p[1], p[2]}, INFINITY, 0, 0, -1};
            const bool is_within = radii[j] == 0 || (float)(radii[j] * radii[j]) >= all[i].distance2;
            sap_mesh_query* query = NULL;
            NOTE("point %lld, radius %g", (long long)i, radii[j]);
            CHECK_STATUS(sap_mesh_query_open(s.tree, &(sap_mesh_query_options){.radius = radii[j]}, &query), SAP_OK);
            expect_point(query, p, is_within ? all + i : &none);
            sap_mesh_query_close(query);
        }
    }
    close_scene(&s);
    sap_device_close(device);
}

// A tree that is rebuilt over more triangles, fewer, as many others and none: the next call searches what is there.
TEST(rebuilt_trees_are_searched) {
    static const struct {
        ray_mesh kind;
        int size;
    } meshes[] = {{RAY_MESH_SOUP, 300}, {RAY_MESH_SPHERE, 2000}, {RAY_MESH_CUBE, 0},  {RAY_MESH_NONE, 0},
                  {RAY_MESH_FAR, 300},  {RAY_MESH_TINY, 300},    {RAY_MESH_SOUP, 300}};
    static scene s;
    sap_device* device = open_device(SAP_SIMD_AUTO);
    CHECK(open_scene(&s, device, RAY_MESH_TORUS, SAP_QUALITY_HIGH));
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        NOTE("rebuilt %d", (int)i);
        scene_mesh_free(&s.mesh);
        s.mesh = ray_mesh_of(meshes[i].kind, meshes[i].size);
        CHECK_STATUS(sap_mesh_tree_rebuild(s.tree, s.mesh.mesh), SAP_OK);
        expect_all(&s);
    }
    close_scene(&s);
    sap_device_close(device);
}

TEST(refuses) {
    stage s;
    open_stage(&s);
    scene_mesh cube = mesh_cube();
    sap_mesh_tree* tree = ray_tree(s.device, &cube.mesh, SAP_QUALITY_HIGH);
    sap_mesh_query* query = NULL;
    const sap_ray ray = {{0.25f, 0.5f, -1}, 0, {0, 0, 1}, INFINITY};
    const float point[3] = {0.25f, 0.5f, -1};
    sap_hit hit = {-9, -9, -9, -9};
    sap_closest closest = {{-9, -9, -9}, -9, -9, -9, -9};
    CHECK_STATUS(sap_mesh_query_open(NULL, NULL, &query), SAP_ERROR_ARGUMENT);
    REFUSED(sap_mesh_query_open(tree, NULL, NULL), SAP_ERROR_ARGUMENT, "query");
    REFUSED(sap_mesh_query_open(tree, &(sap_mesh_query_options){.radius = -1}, &query), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_mesh_query_open(tree, &(sap_mesh_query_options){.radius = NAN}, &query), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_mesh_query_open(tree, &(sap_mesh_query_options){.reserved = {0, 0, 7}}, &query), SAP_ERROR_ARGUMENT,
            "reserved");
    CHECK(!query);
    CHECK_STATUS(sap_mesh_query_open(tree, NULL, &query), SAP_OK);
    CHECK_EQUAL(sap_mesh_query_trace(NULL, &ray, &hit), -1);
    CHECK_EQUAL(sap_mesh_query_occluded(NULL, &ray), -1);
    CHECK_EQUAL(sap_mesh_query_closest(NULL, point, &closest), -1);
    CHECK_EQUAL(s.w.log_calls, 0);
#define REFUSED_CALL(call, word) REFUSED((call) == -1 ? SAP_ERROR_ARGUMENT : SAP_OK, SAP_ERROR_ARGUMENT, word)
    REFUSED_CALL(sap_mesh_query_trace(query, NULL, &hit), "ray");
    REFUSED_CALL(sap_mesh_query_trace(query, &ray, NULL), "hit");
    REFUSED_CALL(sap_mesh_query_occluded(query, NULL), "ray");
    REFUSED_CALL(sap_mesh_query_closest(query, NULL, &closest), "point");
    REFUSED_CALL(sap_mesh_query_closest(query, point, NULL), "closest");
    CHECK(hit.triangle == -9 && closest.triangle == -9);
    CHECK_EQUAL(sap_mesh_query_trace(query, &ray, &hit), 1);
    CHECK(hit.t == 1 && closest.triangle == -9);
    sap_mesh_query_close(query);
    sap_mesh_query_close(NULL);
    sap_mesh_tree_free(tree);
    scene_mesh_free(&cube);
    close_stage(&s);
}

// A refused request is a status; calls ask for no memory.
TEST(memory) {
    stage s;
    open_stage(&s);
    scene_mesh sphere = mesh_sphere(9, 1);
    sap_mesh_tree* tree = ray_tree(s.device, &sphere.mesh, SAP_QUALITY_HIGH);
    sap_mesh_query* query = NULL;
    const sap_ray ray = {{0, 0, 0}, 0, {0.1f, 0.2f, 0.3f}, INFINITY};
    sap_hit hit;
    sap_closest closest;
    s.w.requests = 0;
    s.w.fail_from = 1;
    REFUSED(sap_mesh_query_open(tree, NULL, &query), SAP_ERROR_MEMORY, "memory");
    CHECK(!query);
    s.w.fail_from = 0;
    CHECK_STATUS(sap_mesh_query_open(tree, NULL, &query), SAP_OK);
    s.w.requests = 0;
    CHECK_EQUAL(sap_mesh_query_trace(query, &ray, &hit), 1);
    CHECK_EQUAL(sap_mesh_query_occluded(query, &ray), 1);
    CHECK_EQUAL(sap_mesh_query_closest(query, ray.origin, &closest), 1);
    CHECK_EQUAL(s.w.requests, 0);
    sap_mesh_query_close(query);
    sap_mesh_tree_free(tree);
    scene_mesh_free(&sphere);
    close_stage(&s);
}

TEST_MAIN()
