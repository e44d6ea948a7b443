// Points about a mesh: the nearest on it and inside or outside are those of brute force.
#include "cases.h"
#include "ray/ops.h"
#include "ray_oracle.h"
#include "test.h"

enum { POINTS = CASE_STEP > 1 ? 600 : 3000, SIZE = CASE_STEP > 1 ? 150 : 700 };

typedef struct scene {
    sap_device* device;
    scene_mesh mesh;
    sap_mesh_tree* tree;
} scene;

static scene open_scene(ray_mesh kind) {
    scene s = {.mesh = ray_mesh_of(kind, SIZE)};
    sap_device_options options = {.processor = SAP_CPU, .threads = 2};
    CHECK_STATUS(sap_device_open(&options, &s.device), SAP_OK);
    s.tree = ray_tree(s.device, &s.mesh.mesh, SAP_QUALITY_HIGH);
    CHECK(s.tree != NULL);
    return s;
}

static void close_scene(scene* s) {
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
    sap_device_close(s->device);
}

TEST(nearest_points_are_those_of_brute_force) {
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        scene s = open_scene((ray_mesh)kind);
        float lower[3], upper[3];
        uint64_t state = 5;
        float* points = malloc(POINTS * 3 * sizeof *points);
        sap_closest* closest = malloc(POINTS * sizeof *closest);
        oracle_box(&s.mesh.mesh, lower, upper);
        for (int64_t i = 0; i < POINTS; i++) {
            sap_ray ray = oracle_ray(&s.mesh.mesh, lower, upper, i, &state);
            for (int k = 0; k < 3; k++) points[3 * i + k] = ray.origin[k] + (i % 5 ? 0.0f : 0.3f * ray.direction[k]);
        }
        CHECK_STATUS(sap_closest_point(s.tree, (sap_points){points, POINTS, 3, 0}, closest), SAP_OK);
        for (int64_t i = 0; i < POINTS; i++) {
            sap_closest expected = oracle_closest(&s.mesh.mesh, points + 3 * i);
            NOTE("family %d, point %lld: %.9g %d, not %.9g %d", kind, (long long)i, (double)closest[i].distance2,
                 closest[i].triangle, (double)expected.distance2, expected.triangle);
            CHECK(!memcmp(&closest[i].point[0], &expected.point[0], sizeof expected));
        }
        free(points);
        free(closest);
        close_scene(&s);
    }
}

// Points that lie near each other are searched for together: on the mesh, beside it and far away, equal ones too, with every
// instruction set.
TEST(crowds_of_points) {
    enum { CROWD = 50 };
    static float points[3 * POINTS];
    static sap_closest closest[POINTS];
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
        const sap_device_options options = {.processor = SAP_CPU, .simd = (sap_simd)simd, .threads = 2};
        sap_device* device = NULL;
        if (sap_device_open(&options, &device) != SAP_OK) continue;
        for (int kind = 0; kind < RAY_MESHES; kind++) {
            scene_mesh mesh = ray_mesh_of((ray_mesh)kind, SIZE);
            sap_mesh_tree* tree = ray_tree(device, &mesh.mesh, SAP_QUALITY_HIGH);
            float lower[3], upper[3], middle[3] = {0, 0, 0};
            uint64_t state = 7;
            oracle_box(&mesh.mesh, lower, upper);
            for (int64_t i = 0; i < POINTS; i++) {
                const int64_t crowd = i / CROWD, range = crowd % 4;
                const float wide = range == 3 ? 0 : range == 2 ? 1e-2f : range == 1 ? 1e-3f : 1e-5f;
                static const float nowhere[3] = {0, 0, 0};
                const int64_t vertices = mesh.mesh.vertex_count;
                const float* vertex = vertices ? mesh.mesh.vertices + 3 * random_below(&state, vertices) : nowhere;
                for (int k = 0; k < 3; k++) {
                    const float side = vertices ? upper[k] - lower[k] : 1;
                    if (i % CROWD == 0) middle[k] = vertex[k] + (crowd % 3 == 2 ? 2 * side : 0);
                    points[3 * i + k] = middle[k] + side * wide * ((float)random_below(&state, 1000) / 500 - 1);
                }
                if (i % 97 == 0) points[3 * i + i / 97 % 3] = NAN;
            }
            CHECK(tree != NULL);
            CHECK_STATUS(sap_closest_point(tree, (sap_points){points, POINTS, 3, 0}, closest), SAP_OK);
            for (int64_t i = 0; i < POINTS; i++) {
                const sap_closest expected = oracle_closest(&mesh.mesh, points + 3 * i);
                NOTE("instruction set %d, family %d, point %lld: %.9g %d, not %.9g %d", simd, kind, (long long)i,
                     (double)closest[i].distance2, closest[i].triangle, (double)expected.distance2, expected.triangle);
                CHECK(!memcmp(&closest[i].point[0], &expected.point[0], sizeof expected));
            }
            sap_mesh_tree_free(tree);
            scene_mesh_free(&mesh);
        }
        sap_device_close(device);
    }
}

// Points of the mesh that are known before limit the search: those near the answers, those far from them, the answers
// themselves and none.
TEST(known_points_change_no_answer) {
    static float points[3 * POINTS], known[3 * POINTS];
    static sap_closest closest[POINTS], plain[POINTS];
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
        const sap_device_options options = {.processor = SAP_CPU, .simd = (sap_simd)simd, .threads = 2};
        sap_device* device = NULL;
        if (sap_device_open(&options, &device) != SAP_OK) continue;
        for (int kind = RAY_MESH_ONE; kind < RAY_MESHES; kind++) {
            scene_mesh mesh = ray_mesh_of((ray_mesh)kind, SIZE);
            sap_mesh_tree* tree = ray_tree(device, &mesh.mesh, SAP_QUALITY_HIGH);
            const int64_t triangles = mesh.mesh.triangle_count;
            float lower[3], upper[3];
            uint64_t state = 8;
            oracle_box(&mesh.mesh, lower, upper);
            CHECK(tree != NULL);
            for (int64_t i = 0; triangles && i < POINTS; i++) {
                const int32_t* corners = mesh.mesh.triangles + 3 * random_below(&state, triangles);
                for (int k = 0; k < 3; k++) {
                    const float a = mesh.mesh.vertices[3 * corners[0] + k], b = mesh.mesh.vertices[3 * corners[1] + k];
                    const float off = i % 3 ? (upper[k] - lower[k]) * 1e-3f * (float)random_below(&state, 20) : 0;
                    known[3 * i + k] = i % 7 ? b : NAN;
                    points[3 * i + k] = (i % 2 ? a : 0.5f * (a + b)) + off;
                }
            }
            for (int round = 0; triangles && round < 2; round++) {
                const sap_closest_job job = {
                    .points = {points, POINTS, 3, 3, 32}, .closest = closest, .known = known, .is_ordered = round == 1};
                CHECK_STATUS(sap_closest_point(tree, (sap_points){points, POINTS, 3, 0}, plain), SAP_OK);
                CHECK_STATUS(sap_closest_point_cpu(tree, &job), SAP_OK);
                NOTE("instruction set %d, family %d, round %d", simd, kind, round);
                CHECK(!memcmp(closest, plain, sizeof plain));
                for (int64_t i = 0; i < POINTS; i++) memcpy(known + 3 * i, closest[i].point, sizeof closest[i].point);
            }
            sap_mesh_tree_free(tree);
            scene_mesh_free(&mesh);
        }
        sap_device_close(device);
    }
}

// Each answer of a call limits the search for the next point: also where both lie on the mesh, where one is far away,
// and where one is no point at all. A call for each has nothing to go by.
TEST(points_in_one_call_and_in_calls_of_their_own) {
    scene s = open_scene(RAY_MESH_TORUS);
    const float strange[] = {0, 1e-30f, 3, -50, 1e15f, INFINITY, NAN};
    float points[3 * POINTS];
    static sap_closest closest[POINTS];
    uint64_t state = 6;
    for (int64_t i = 0; i < POINTS; i++) {
        const int32_t* corners = s.mesh.mesh.triangles + 3 * random_below(&state, s.mesh.mesh.triangle_count);
        const float* corner = s.mesh.mesh.vertices + 3 * corners[0];
        const float* other = s.mesh.mesh.vertices + 3 * corners[i % 3];
        for (int k = 0; k < 3; k++) points[3 * i + k] = 0.5f * (corner[k] + other[k]);
        if (i % 50 == 0) points[3 * i + i / 50 % 3] = strange[i / 50 % 7];
    }
    CHECK_STATUS(sap_closest_point(s.tree, (sap_points){points, POINTS, 3, 0}, closest), SAP_OK);
    for (int64_t i = 0; i < POINTS; i++) {
        sap_closest alone;
        CHECK_STATUS(sap_closest_point(s.tree, (sap_points){points + 3 * i, 1, 3, 0}, &alone), SAP_OK);
        NOTE("point %lld: %d, alone %d", (long long)i, closest[i].triangle, alone.triangle);
        CHECK(!memcmp(&closest[i], &alone, sizeof alone));
    }
    close_scene(&s);
}

// The origins of rays, as they stand in the rays.
TEST(points_with_a_stride) {
    enum { STRIDE = sizeof(sap_ray) / sizeof(float) };
    scene s = open_scene(RAY_MESH_TORUS);
    float lower[3], upper[3], packed[3 * POINTS];
    static sap_ray rays[POINTS];
    static sap_closest expected[POINTS], closest[POINTS];
    uint8_t expected_inside[POINTS], inside[POINTS];
    uint64_t state = 5;
    oracle_box(&s.mesh.mesh, lower, upper);
    for (int64_t i = 0; i < POINTS; i++) {
        rays[i] = oracle_ray(&s.mesh.mesh, lower, upper, i, &state);
        memcpy(packed + 3 * i, rays[i].origin, sizeof rays[i].origin);
    }
    const sap_points plain = {packed, POINTS, 3, 0}, strided = {rays[0].origin, POINTS, 3, STRIDE};
    CHECK_STATUS(sap_closest_point(s.tree, plain, expected), SAP_OK);
    CHECK_STATUS(sap_closest_point(s.tree, strided, closest), SAP_OK);
    CHECK(!memcmp(expected, closest, sizeof closest));
    CHECK_STATUS(sap_inside(s.tree, plain, expected_inside), SAP_OK);
    CHECK_STATUS(sap_inside(s.tree, strided, inside), SAP_OK);
    CHECK(!memcmp(expected_inside, inside, sizeof inside));
    close_scene(&s);
}

// Whether a point lies inside a closed mesh: whether its triangles fill the sphere around the point (van Oosterom and
// Strackee 1983). -1 if it lies on the surface, or so close to it that rounding decides.
static int oracle_inside(const sap_mesh* mesh, const float* p) {
    double sum = 0;
    if (oracle_closest(mesh, p).distance2 < 1e-10f) return -1;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        double v[3][3], length[3], dot[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                v[c][k] = (double)mesh->vertices[3 * mesh->triangles[3 * i + c] + k] - (double)p[k];
        for (int c = 0; c < 3; c++) {
            const double *a = v[c], *b = v[(c + 1) % 3];
            length[c] = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            dot[c] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        }
        double volume = 0, below = length[0] * length[1] * length[2];
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            volume += v[0][k] * (v[1][l] * v[2][m] - v[1][m] * v[2][l]);
            below += dot[k] * length[m];
        }
        sum += 2 * atan2(volume, below);
    }
    return fabs(sum) > 6.283185307179586;
}

TEST(parity_tells_inside_from_outside) {
    enum { MANY = POINTS * 4, DOUBTFUL_MOST = MANY / 10 };
    static const ray_mesh kinds[] = {RAY_MESH_CUBE, RAY_MESH_SPHERE, RAY_MESH_TORUS};
    for (int k = 0; k < 3; k++) {
        scene s = open_scene(kinds[k]);
        float* points = malloc(MANY * 3 * sizeof *points);
        uint8_t* inside = malloc(MANY);
        uint64_t state = 9;
        for (int64_t i = 0; i < MANY * 3; i++) {
            // Every other point lies on a lattice: its rays would meet edges if they ran along the axes.
            double unit = i / 3 % 2 ? random_unit(&state) : (double)random_below(&state, 17) / 16;
            points[i] = (float)(unit * 3 - 1.5);
        }
        points[0] = NAN;
        points[4] = INFINITY;
        CHECK_STATUS(sap_inside(s.tree, (sap_points){points, MANY, 3, 0}, inside), SAP_OK);
        CHECK(!inside[0] && !inside[1]);
        int64_t doubtful = 0, within = 0;
        for (int64_t i = 2; i < MANY; i++) {
            int expected = oracle_inside(&s.mesh.mesh, points + 3 * i);
            doubtful += expected < 0;
            within += expected > 0;
            NOTE("family %d, point %g %g %g", kinds[k], (double)points[3 * i], (double)points[3 * i + 1],
                 (double)points[3 * i + 2]);
            CHECK(expected < 0 || inside[i] == expected);
        }
        CHECK(doubtful < DOUBTFUL_MOST && within > 0);
        free(points);
        free(inside);
        close_scene(&s);
    }
}

TEST_MAIN()
