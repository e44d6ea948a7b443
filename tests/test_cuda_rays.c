// Trees over triangles on CUDA devices: rays, nearest points and insides are those of the CPU, bit for bit.
#include "test.h"

#include <math.h>

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "folder.h"
#include "ray/ops.h"
#include "ray_oracle.h"

enum { RAYS = CASE_STEP == 1 ? 20000 : CASE_STEP > 23 ? 400 : 1000, MOST = 40, SIZE = 400 };

// A mesh, its tree on both processors, and what is asked.
typedef struct stage {
    scene s;
    scene_mesh mesh;
    sap_mesh_tree *here, *there;
    sap_ray* rays;
    float* points;
} stage;

static void open_stage_on(stage* t, ray_mesh kind, sap_quality quality) {
    float lower[3], upper[3];
    uint64_t state = (uint64_t)kind + 1;
    t->mesh = ray_mesh_of(kind, SIZE);
    t->here = ray_tree(t->s.cpu, &t->mesh.mesh, quality);
    t->there = NULL;
    CHECK(t->here != NULL);
    CHECK_STATUS(sap_mesh_tree_copy(t->here, t->s.gpu, &t->there), SAP_OK);
    t->rays = malloc(RAYS * sizeof *t->rays);
    t->points = malloc(RAYS * 3 * sizeof *t->points);
    oracle_box(&t->mesh.mesh, lower, upper);
    for (int64_t i = 0; i < RAYS; i++) {
        t->rays[i] = oracle_ray(&t->mesh.mesh, lower, upper, i, &state);
        memcpy(t->points + 3 * i, t->rays[i].origin, sizeof t->rays[i].origin);
    }
}

static void close_stage_on(stage* t) {
    sap_mesh_tree_free(t->here);
    sap_mesh_tree_free(t->there);
    scene_mesh_free(&t->mesh);
    free(t->rays);
    free(t->points);
}

// ---- The calls, by number.

enum { CALLS = 8 };

static const int32_t limit_of[CALLS] = {[2] = 1, [3] = 8, [4] = MOST};

static sap_status ask(const sap_mesh_tree* tree, int call, int64_t count, const void* from, void* answers,
                      int32_t* numbers) {
    switch (call) {
    case 0: return sap_trace(tree, from, count, answers);
    case 1: return sap_occluded(tree, from, count, answers);
    case 2:
    case 3:
    case 4: return sap_trace_all(tree, from, count, limit_of[call], answers, numbers);
    case 5: return sap_trace_visits(tree, from, count, answers, numbers);
    case 6: return sap_closest_point(tree, (sap_points){from, count, 3, 0}, answers);
    default: return sap_inside(tree, (sap_points){from, count, 3, 0}, answers);
    }
}

static size_t answer_bytes(int call, int64_t count) {
    size_t each = call == 1 || call == 7 ? 1
                  : call == 6            ? sizeof(sap_closest)
                                         : sizeof(sap_hit) * (size_t)(limit_of[call] ? limit_of[call] : 1);
    return each * (size_t)count;
}
static bool has_numbers(int call) { return call >= 2 && call <= 5; }

// Answers into host memory, and into memory on the GPU `shift` bytes behind where a block of it begins.
static void expect_same(stage* t, int call, int64_t count, size_t shift) {
    const size_t bytes = answer_bytes(call, count), number_bytes = (size_t)count * sizeof(int32_t);
    const void* from = call < 6 ? (const void*)t->rays : t->points;
    const size_t from_bytes = (size_t)count * (call < 6 ? sizeof(sap_ray) : 3 * sizeof(float));
    unsigned char *expected = calloc(1, bytes + 1), *got = calloc(1, bytes + 1);
    int32_t *expected_numbers = calloc(1, number_bytes + 1), *numbers = calloc(1, number_bytes + 1);
    CHECK_STATUS(ask(t->here, call, count, from, expected, expected_numbers), SAP_OK);
    CHECK_STATUS(ask(t->there, call, count, from, got, numbers), SAP_OK);
    CHECK(!memcmp(expected, got, bytes) && !memcmp(expected_numbers, numbers, number_bytes));
    unsigned char *from_there = on_gpu(NULL, from_bytes + shift + 1), *got_there = on_gpu(NULL, bytes + shift + 1);
    int32_t* numbers_there = on_gpu(NULL, number_bytes + 1);
    cuda_tools_copy(from_there + shift, from, from_bytes);
    CHECK_STATUS(ask(t->there, call, count, from_there + shift, got_there + shift, numbers_there), SAP_OK);
    memset(got, 0, bytes);
    cuda_tools_copy(got, got_there + shift, bytes);
    CHECK(!memcmp(expected, got, bytes));
    if (has_numbers(call)) {
        memset(numbers, 0, number_bytes);
        cuda_tools_copy(numbers, numbers_there, number_bytes);
        CHECK(!memcmp(expected_numbers, numbers, number_bytes));
    }
    cuda_tools_release(from_there);
    cuda_tools_release(got_there);
    cuda_tools_release(numbers_there);
    free(expected);
    free(got);
    free(expected_numbers);
    free(numbers);
}

TEST(answers_are_those_of_the_cpu) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        open_stage_on(&t, (ray_mesh)kind, kind % 2 ? SAP_QUALITY_HIGH : SAP_QUALITY_FAST);
        for (int call = 0; call < CALLS; call++) {
            NOTE("mesh %d, call %d", kind, call);
            expect_same(&t, call, RAYS, (size_t)(kind % 2) * 4);
        }
        close_stage_on(&t);
    }
    close_scene(&t.s);
}

// The origins of rays, as they stand in the rays, which lie in host memory or on the GPU.
TEST(points_with_a_stride) {
    enum { STRIDE = sizeof(sap_ray) / sizeof(float) };
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_TORUS, SAP_QUALITY_HIGH);
    sap_closest *expected = calloc(RAYS, sizeof *expected), *closest = calloc(RAYS, sizeof *closest);
    uint8_t expected_inside[RAYS], inside[RAYS];
    const sap_points packed = {t.points, RAYS, 3, 0};
    sap_ray* rays_there = on_gpu(t.rays, RAYS * sizeof *t.rays);
    CHECK_STATUS(sap_closest_point(t.here, packed, expected), SAP_OK);
    CHECK_STATUS(sap_inside(t.here, packed, expected_inside), SAP_OK);
    for (int on_device = 0; on_device < 2; on_device++) {
        const sap_points strided = {(on_device ? rays_there : t.rays)->origin, RAYS, 3, STRIDE};
        memset(closest, 0, RAYS * sizeof *closest);
        memset(inside, 0xee, sizeof inside);
        CHECK_STATUS(sap_closest_point(t.there, strided, closest), SAP_OK);
        CHECK_STATUS(sap_inside(t.there, strided, inside), SAP_OK);
        CHECK(!memcmp(expected, closest, RAYS * sizeof *closest) && !memcmp(expected_inside, inside, sizeof inside));
    }
    cuda_tools_release(rays_there);
    free(expected);
    free(closest);
    close_stage_on(&t);
    close_scene(&t.s);
}

// A point of the mesh near each answer is known, exactly or roughly, or none (NaN), or one that is not of the mesh at all
// and nearer than any of it: then a second search looks farther.
TEST(nearest_points_that_are_nearly_known) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    for (int kind = RAY_MESH_ONE; kind < RAY_MESHES; kind += 3) {
        open_stage_on(&t, (ray_mesh)kind, SAP_QUALITY_HIGH);
        sap_closest *expected = calloc(RAYS, sizeof *expected), *closest = calloc(RAYS, sizeof *closest);
        float* known = malloc(RAYS * 3 * sizeof *known);
        CHECK_STATUS(sap_closest_point(t.here, (sap_points){t.points, RAYS, 3, 0}, expected), SAP_OK);
        for (int64_t i = 0; i < RAYS; i++)
            for (int k = 0; k < 3; k++) {
                const float at = t.points[3 * i + k], other = expected[(i + 1) % RAYS].point[k];
                known[3 * i + k] = i % 4 == 0 ? expected[i].point[k] : i % 4 == 1 ? other : i % 4 == 2 ? NAN : at;
            }
        const sap_closest_job job = {.points = {on_gpu(t.points, RAYS * 3 * sizeof *t.points), RAYS, 3, 3, 32},
                                     .closest = on_gpu(NULL, RAYS * sizeof *closest),
                                     .known = on_gpu(known, RAYS * 3 * sizeof *known)};
        CHECK_STATUS(t.s.gpu->rooms.ray->closest(t.there, &job), SAP_OK);
        cuda_tools_copy(closest, job.closest, RAYS * sizeof *closest);
        NOTE("mesh %d", kind);
        CHECK(!memcmp(expected, closest, RAYS * sizeof *closest));
        cuda_tools_release((void*)(uintptr_t)job.points.coords);
        cuda_tools_release(job.closest);
        cuda_tools_release((void*)(uintptr_t)job.known);
        free(expected);
        free(closest);
        free(known);
        close_stage_on(&t);
    }
    close_scene(&t.s);
}

// Meshes and distances of any size, down to where squares vanish and up to where they overflow.
TEST(nearest_points_of_any_size) {
    static const float sizes[] = {1e-30F, 1e-18F, 1, 1e12F, 1e18F}, aways[] = {1, 30, 1e8F};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int i = 0; i < 15; i++) {
        const float size = sizes[i / 3], away = size * aways[i % 3];
        uint64_t state = 5;
        float* points = malloc(RAYS * 3 * sizeof *points);
        sap_closest *expected = calloc(RAYS, sizeof *expected), *closest = calloc(RAYS, sizeof *closest);
        scene_mesh mesh = ray_mesh_of(i % 2 ? RAY_MESH_TORUS : RAY_MESH_SOUP, SIZE);
        NOTE("size %g, away %g", (double)size, (double)away);
        for (int64_t v = 0; v < 3 * mesh.mesh.vertex_count; v++) mesh.vertices[v] *= size;
        for (int k = 0; k < 3 * RAYS; k++) points[k] = (float)(random_unit(&state) * 2 - 1) * away;
        sap_mesh_tree *here = ray_tree(s.cpu, &mesh.mesh, SAP_QUALITY_HIGH), *there = NULL;
        CHECK_STATUS(sap_mesh_tree_copy(here, s.gpu, &there), SAP_OK);
        CHECK_STATUS(sap_closest_point(here, (sap_points){points, RAYS, 3, 0}, expected), SAP_OK);
        CHECK_STATUS(sap_closest_point(there, (sap_points){points, RAYS, 3, 0}, closest), SAP_OK);
        CHECK(!memcmp(expected, closest, RAYS * sizeof *closest));
        sap_mesh_tree_free(here);
        sap_mesh_tree_free(there);
        scene_mesh_free(&mesh);
        free(points);
        free(expected);
        free(closest);
    }
    close_scene(&s);
}

// Such rays stay together, and their rows of hits are written by whole warps.
TEST(rays_that_go_the_same_way) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_TORUS, SAP_QUALITY_HIGH);
    for (int64_t i = 0; i < RAYS; i++)
        for (int k = 0; k < 3; k++) t.rays[i].direction[k] = fabsf(t.rays[i].direction[k]);
    for (int call = 0; call < 6; call++) {
        NOTE("call %d", call);
        expect_same(&t, call, RAYS, 0);
        expect_same(&t, call, RAYS - 5, 4);
    }
    close_stage_on(&t);
    close_scene(&t.s);
}

// 32 rays that are near each other, in one of several ways, towards a vertex, an edge, or anywhere.
static void aim_bundle(const sap_mesh* mesh, const float* lower, const float* upper, int kind, uint64_t* state,
                       sap_ray* rays) {
    const int64_t corners = mesh->triangle_count * 3;
    float from[3], to[3], size = 0;
    if (!corners) return;
    const float* vertex = mesh->vertices + 3 * mesh->triangles[random_below(state, corners)];
    const int64_t edge = random_below(state, corners / 3) * 3;
    const float *a = mesh->vertices + 3 * mesh->triangles[edge], *b = mesh->vertices + 3 * mesh->triangles[edge + 1];
    for (int k = 0; k < 3; k++) {
        const float side = upper[k] - lower[k];
        size = side > size ? side : size;
        from[k] = lower[k] + (float)(random_unit(state) * 4 - 2) * side;
        to[k] = kind % 2 ? vertex[k] : lower[k] + (float)random_unit(state) * side;
    }
    for (int i = 0; i < 32; i++) {
        const float step[3] = {(float)(i % 8) * size * 0.002f, (float)(i / 8) * size * 0.002f, 0};
        sap_ray ray = {{from[0], from[1], from[2]}, 0, {0, 0, 0}, INFINITY};
        for (int k = 0; k < 3; k++) {
            const float along = to[k] + step[k] - from[k];
            switch (kind) {
            case 0:
            case 1: ray.direction[k] = along; break; // from one point
            case 2:
            case 3: ray.direction[k] = to[k] - from[k], ray.origin[k] += step[k]; break;               // parallel
            case 4: ray.direction[k] = (float)(k == 2), ray.origin[k] = to[k] + step[k]; break;        // along an axis
            case 5: ray.direction[k] = along, ray.origin[k] = vertex[k]; break;                        // from a vertex
            case 6: ray.direction[k] = a[k] + (b[k] - a[k]) * (float)i / 31 - from[k]; break;          // to an edge
            case 7: ray.direction[k] = (float)(k == 2) + (float)(k != 2 && i % 3 == k) * 1e-3f; break; // beside an axis
            case 8: ray.direction[k] = along * (i % 2 ? 1e-20f : 1e10f); break;                        // long and short
            default: ray.direction[k] = along, ray.origin[k] += (float)(i % 3) * step[k]; break;
            }
        }
        if (kind == 9 && i % 5 == 1) ray.t_min = -1;
        if (kind == 9 && i % 5 == 2) ray.t_max = 0.7f;
        if (kind == 9 && i % 7 == 3) ray.origin[i % 3] = NAN;
        if (kind == 9 && i % 7 == 4) ray.t_min = INFINITY;
        rays[i] = ray;
    }
}

// Such rays walk together when all hits are asked for.
TEST(rays_near_each_other) {
    enum { BUNDLES = RAYS / 32, KINDS = 10 };
    stage t;
    OPEN_SCENE(&t.s, NULL);
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        float lower[3], upper[3];
        uint64_t state = (uint64_t)kind + 7;
        open_stage_on(&t, (ray_mesh)kind, kind % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH);
        oracle_box(&t.mesh.mesh, lower, upper);
        for (int i = 0; i < BUNDLES; i++)
            aim_bundle(&t.mesh.mesh, lower, upper, (i + kind) % KINDS, &state, t.rays + (ptrdiff_t)32 * i);
        for (int call = 2; call < 5; call++) {
            NOTE("mesh %d, call %d", kind, call);
            expect_same(&t, call, BUNDLES * 32 - kind % 3 * 5, (size_t)(kind % 2) * 4);
        }
        close_stage_on(&t);
    }
    close_scene(&t.s);
}

TEST(few_rays_and_none) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, RAY_MESH_SOUP, SAP_QUALITY_FAST);
    for (int call = 0; call < CALLS; call++) {
        NOTE("call %d", call);
        for (int64_t count = 1; count <= 129; count *= 43 - (count > 1) * 40) expect_same(&t, call, count, 0);
        CHECK_STATUS(ask(t.there, call, 0, NULL, NULL, NULL), SAP_OK);
    }
    close_stage_on(&t);
    close_scene(&t.s);
}

// ---- Trees

static bool same_tree(const sap_mesh_tree* a, const sap_mesh_tree* b, sap_device* host) {
    sap_mesh_tree *first = NULL, *second = NULL;
    CHECK_STATUS(sap_mesh_tree_copy(a, host, &first), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_copy(b, host, &second), SAP_OK);
    bool same = first && second && first->shape.bytes == second->shape.bytes &&
                !memcmp(&first->options, &second->options, sizeof first->options) &&
                !memcmp(first->arrays, second->arrays, first->shape.bytes);
    sap_mesh_tree_free(first);
    sap_mesh_tree_free(second);
    return same;
}

TEST(trees_come_and_go) {
    stage t;
    folder files;
    OPEN_SCENE(&t.s, NULL);
    CHECK(folder_make(&files));
    for (int kind = 0; kind < RAY_MESHES; kind += 3) {
        sap_mesh_tree *loaded = NULL, *again = NULL;
        sap_mesh_tree_info here, there;
        NOTE("mesh %d", kind);
        open_stage_on(&t, (ray_mesh)kind, SAP_QUALITY_HIGH);
        CHECK_STATUS(sap_mesh_tree_verify(t.there), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_describe(t.here, &here), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_describe(t.there, &there), SAP_OK);
        CHECK(here.cost == there.cost && here.nodes == there.nodes && here.bytes == there.bytes && !there.mapped);
        CHECK_STATUS(sap_mesh_tree_save(t.there, files.file), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_load(t.s.gpu, files.file, NULL, &loaded), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_copy(loaded, t.s.gpu, &again), SAP_OK);
        CHECK(same_tree(t.here, t.there, t.s.cpu) && same_tree(t.here, loaded, t.s.cpu) &&
              same_tree(t.here, again, t.s.cpu));
        sap_mesh_tree_free(loaded);
        sap_mesh_tree_free(again);
        close_stage_on(&t);
    }
    folder_remove(&files);
    close_scene(&t.s);
}

// ---- Faults

static sap_status work(stage* t, folder* files) {
    sap_hit hits[8];
    sap_closest closest[8];
    uint8_t inside[8];
    sap_mesh_tree *copy = NULL, *loaded = NULL;
    sap_status status = sap_mesh_tree_copy(t->here, t->s.gpu, &copy);
    if (status == SAP_OK) status = sap_trace(copy, t->rays, 8, hits);
    if (status == SAP_OK) status = sap_closest_point(copy, (sap_points){t->points, 8, 3, 0}, closest);
    if (status == SAP_OK) status = sap_inside(copy, (sap_points){t->points, 8, 3, 0}, inside);
    if (status == SAP_OK) status = sap_mesh_tree_save(copy, files->file);
    if (status == SAP_OK) status = sap_mesh_tree_load(t->s.gpu, files->file, NULL, &loaded);
    sap_mesh_tree_free(copy);
    sap_mesh_tree_free(loaded);
    return status;
}

TEST(every_call_of_cuda_fails) {
    stage t;
    folder files;
    CHECK(folder_make(&files));
    for (int kind = CUDA_TOOLS_ALLOCATE; kind <= CUDA_TOOLS_WAIT; kind++) {
        bool lost = kind != CUDA_TOOLS_ALLOCATE, over = false;
        for (int64_t at = 1; !over; at++) {
            OPEN_SCENE(&t.s, NULL);
            open_stage_on(&t, RAY_MESH_TORUS, SAP_QUALITY_FAST);
            sap_device_trim(t.s.gpu);
            fail_calls(1u << kind, at, lost, lost ? CUDA_TOOLS_ILLEGAL_ADDRESS : CUDA_TOOLS_NO_MEMORY);
            sap_status status = work(&t, &files);
            NOTE("kind %d, call %d", kind, (int)at);
            over = !cuda_tools.failed;
            if (over || (!lost && status == SAP_OK)) // a second try succeeds where idle memory was in the way
                CHECK_STATUS(status, SAP_OK);
            else
                CHECK_STATUS(status, lost ? SAP_ERROR_DEVICE_LOST : SAP_ERROR_DEVICE_MEMORY);
            cuda_tools.fail_at = 0;
            if (!lost) CHECK_STATUS(work(&t, &files), SAP_OK);
            close_stage_on(&t);
            close_scene(&t.s);
        }
    }
    folder_remove(&files);
}

#else
TEST(rays_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
