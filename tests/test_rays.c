// Rays: every way to trace finds what brute force finds, bit for bit, and nothing slips through a closed mesh.
#include "base/team.h"
#include "cases.h"
#include "ray/ops.h"
#include "ray_oracle.h"
#include "test.h"

enum { RAYS = CASE_STEP > 1 ? 600 : 1500, SIZE = CASE_STEP > 1 ? 150 : 700, ROW = 5 };

// A device, a mesh with its tree, and rays about it with the hits that brute force finds.
typedef struct scene {
    sap_device* device;
    scene_mesh mesh;
    sap_mesh_tree* tree;
    int64_t count;
    sap_ray* rays;
    sap_hit* expected; // ROW of each ray
    int32_t* counts;
    float lower[3], upper[3];
} scene;

static void open_sized(scene* s, ray_mesh kind, int size, int64_t rays, sap_simd simd, int32_t threads) {
    memset(s, 0, sizeof *s);
    sap_device_options options = {.processor = SAP_CPU, .simd = simd, .threads = threads};
    uint64_t state = 5;
    if (sap_device_open(&options, &s->device) != SAP_OK) return;
    s->mesh = ray_mesh_of(kind, size);
    s->count = rays;
    s->tree = ray_tree(s->device, &s->mesh.mesh, SAP_QUALITY_HIGH);
    CHECK(s->tree != NULL);
    s->rays = malloc((size_t)rays * sizeof *s->rays);
    s->expected = malloc((size_t)rays * ROW * sizeof *s->expected);
    s->counts = malloc((size_t)rays * sizeof *s->counts);
    oracle_box(&s->mesh.mesh, s->lower, s->upper);
    for (int64_t i = 0; i < rays; i++) s->rays[i] = oracle_ray(&s->mesh.mesh, s->lower, s->upper, i, &state);
}

static void open_scene(scene* s, ray_mesh kind, int64_t rays, sap_simd simd, int32_t threads) {
    open_sized(s, kind, SIZE, rays, simd, threads);
}

static void expect_hits(scene* s) {
    for (int64_t i = 0; i < s->count; i++)
        s->counts[i] = oracle_trace(&s->mesh.mesh, s->rays + i, ROW, s->expected + i * ROW);
}

static void close_scene(scene* s) {
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
    sap_device_close(s->device);
    free(s->rays);
    free(s->expected);
    free(s->counts);
}

// The same mesh in a tree that was built in haste.
static void use_fast_tree(scene* s) {
    sap_mesh_tree_free(s->tree);
    s->tree = ray_tree(s->device, &s->mesh.mesh, SAP_QUALITY_FAST);
    CHECK(s->tree != NULL);
}

static bool same_hit(const sap_hit* a, const sap_hit* b) { return !memcmp(a, b, sizeof *a); }

static void check_hit(const scene* s, const sap_hit* got, int64_t i, const char* way) {
    const sap_hit* expected = s->expected + i * ROW;
    if (same_hit(got, expected)) return;
    NOTE("%s: ray %lld of kind %d: %.9g %.9g %.9g %d, not %.9g %.9g %.9g %d", way, (long long)i, (int)(i % RAY_KINDS),
         (double)got->t, (double)got->u, (double)got->v, got->triangle, (double)expected->t, (double)expected->u,
         (double)expected->v, expected->triangle);
    CHECK(same_hit(got, expected));
}

// All ways to ask, for rays [first, first + count).
static void check_part(const scene* s, int64_t first, int64_t count) {
    sap_hit* hits = malloc((size_t)count * ROW * sizeof *hits);
    uint8_t* occluded = malloc((size_t)count);
    int32_t* numbers = malloc((size_t)count * sizeof *numbers);
    const sap_ray* rays = s->rays + first;
    CHECK_STATUS(sap_trace(s->tree, rays, count, hits), SAP_OK);
    CHECK_STATUS(sap_occluded(s->tree, rays, count, occluded), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        check_hit(s, hits + i, first + i, "first hits");
        CHECK_EQUAL(occluded[i], s->counts[first + i] > 0);
    }
    CHECK_STATUS(sap_trace_first_cpu(s->tree, &(sap_ray_job){.rays = rays, .count = count, .hits = hits}), SAP_OK);
    for (int64_t i = 0; i < count; i++) check_hit(s, hits + i, first + i, "first hits alone");
    CHECK_STATUS(sap_trace_first_cpu(s->tree, &(sap_ray_job){.rays = rays, .count = count, .occluded = occluded}),
                 SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_trace_visits(s->tree, rays, count, hits, numbers), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        check_hit(s, hits + i, first + i, "visits");
        CHECK(s->counts[first + i] == 0 ? numbers[i] >= 0 : numbers[i] > 0);
    }
    CHECK_STATUS(sap_trace_all(s->tree, rays, count, ROW, hits, numbers), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        NOTE("all hits of ray %lld of kind %d", (long long)(first + i), (int)((first + i) % RAY_KINDS));
        CHECK_EQUAL(numbers[i], s->counts[first + i]);
        CHECK(!memcmp(hits + i * ROW, s->expected + (first + i) * ROW, ROW * sizeof *hits));
    }
    CHECK_STATUS(sap_trace_all(s->tree, rays, count, 1, hits, NULL), SAP_OK);
    for (int64_t i = 0; i < count; i++) check_hit(s, hits + i, first + i, "all, one each");
    free(hits);
    free(occluded);
    free(numbers);
}

TEST(hits_are_those_of_brute_force) {
    for (int kind = 0; kind < RAY_MESHES; kind++)
        for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
            scene s;
            open_scene(&s, (ray_mesh)kind, RAYS, (sap_simd)simd, 2);
            if (!s.device) continue;
            NOTE("family %d, instruction set %d", kind, simd);
            expect_hits(&s);
            check_part(&s, 0, RAYS);
            for (int64_t i = 0; i < RAYS; i += 1 + i % 13 * 17) check_part(&s, i, 1);
            check_part(&s, 3, 100);
            use_fast_tree(&s);
            check_part(&s, 0, RAYS);
            close_scene(&s);
        }
}

static void expect_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const scene* s = context;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        s->counts[i] = oracle_trace(&s->mesh.mesh, s->rays + i, 1, s->expected + i * ROW);
}

// Few ways to ask, but a million rays; of RAY_KINDS a third are aimed at edges and vertices.
TEST(a_million_hits_are_those_of_brute_force) {
    enum { MANY = (CASE_STEP > 1 ? 10000 : 1000000) / RAY_MESHES + 1 };
    for (int kind = 0; kind < RAY_MESHES; kind++) {
        scene s;
        open_sized(&s, (ray_mesh)kind, 250, MANY, SAP_SIMD_AUTO, 2);
        sap_hit* hits = malloc(MANY * sizeof *hits);
        NOTE("family %d", kind);
        CHECK_STATUS(sap_trace(s.tree, s.rays, MANY, hits), SAP_OK);
        sap_team_loop(sap_team_most(), MANY, 1000, expect_range, &s);
        for (int64_t i = 0; i < MANY; i++) check_hit(&s, hits + i, i, "first hits");
        free(hits);
        close_scene(&s);
    }
}

// Rays as cameras make them: many alike.
static void set_camera(scene* s) {
    int64_t side = (int64_t)sqrt((double)s->count);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t column = i % side, row = i / side;
        float x = (float)column / (float)side - 0.5f, y = (float)row / (float)side - 0.5f;
        s->rays[i] = (sap_ray){{2.5f, 0.3f, 1.25f}, 0, {-1, x - 0.1f, y - 0.5f}, INFINITY};
    }
}

TEST(cameras_see_what_brute_force_sees) {
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
        scene s;
        open_scene(&s, RAY_MESH_TORUS, RAYS, (sap_simd)simd, 2);
        if (!s.device) continue;
        set_camera(&s);
        expect_hits(&s);
        check_part(&s, 0, RAYS);
        close_scene(&s);
    }
}

TEST(threads_batches_and_instruction_sets_do_not_matter) {
    enum { MANY = CASE_STEP > 1 ? 20000 : 150000 };
    sap_hit *first = malloc(MANY * sizeof *first), *hits = malloc(MANY * sizeof *hits);
    bool known = false;
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++)
        for (int32_t threads = 1; threads <= 3; threads++) {
            scene s;
            open_scene(&s, RAY_MESH_SOUP, MANY, (sap_simd)simd, threads);
            if (!s.device) continue;
            NOTE("instruction set %d, %d threads", simd, threads);
            CHECK_STATUS(sap_trace(s.tree, s.rays, MANY, hits), SAP_OK);
            if (!known) memcpy(first, hits, MANY * sizeof *hits);
            known = true;
            CHECK(!memcmp(first, hits, MANY * sizeof *hits));
            for (int64_t at = 0, n = 1; at < MANY; at += n, n = n * 3 + 1)
                CHECK_STATUS(sap_trace(s.tree, s.rays + at, n < MANY - at ? n : MANY - at, hits + at), SAP_OK);
            CHECK(!memcmp(first, hits, MANY * sizeof *hits));
            close_scene(&s);
        }
    free(first);
    free(hits);
}

// A ray from a face of the box, in or out of it: on the face exactly, a little before or behind it, or far away.
static sap_ray ray_at_face(const scene* s, int64_t i, uint64_t* state) {
    static const float away[] = {0, 0, 1e-7f, -1e-7f, 1e-4f, 1, 1e6f, 1e30f};
    const int axis = (int)(i % 3), is_upper = (int)(i / 3 % 2);
    const float outward = is_upper ? 1.0f : -1.0f;
    sap_ray ray = {.t_min = 0, .t_max = i % 11 ? INFINITY : 0.5f};
    for (int k = 0; k < 3; k++) {
        const float side = s->upper[k] - s->lower[k];
        ray.origin[k] = s->lower[k] + (float)random_unit(state) * side;
        ray.direction[k] = (float)random_unit(state) - 0.5f;
        if (k != axis) continue;
        ray.origin[k] = (is_upper ? s->upper : s->lower)[k] + outward * away[i / 6 % 8] * side;
        ray.direction[k] = i % 5 ? outward * (float)random_unit(state) : i % 2 ? 0.0f : -ray.direction[k];
    }
    if (i % 97 == 0) ray.origin[axis] = i % 2 ? NAN : INFINITY;
    if (i % 101 == 0) ray.direction[axis] = i % 2 ? NAN : -INFINITY;
    if (i % 103 == 0) memset(ray.direction, 0, sizeof ray.direction);
    return ray;
}

// Most of them miss the box: these are answered before the others are ordered.
TEST(rays_that_leave) {
    static const ray_mesh kinds[] = {RAY_MESH_NONE, RAY_MESH_ONE, RAY_MESH_CUBE, RAY_MESH_SOUP, RAY_MESH_LATTICE};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
            scene s;
            open_scene(&s, kinds[kind], RAYS, (sap_simd)simd, 1);
            if (!s.device) continue;
            uint64_t state = 23;
            NOTE("family %d, instruction set %d", (int)kinds[kind], simd);
            for (int64_t i = 0; i < RAYS; i++) s.rays[i] = ray_at_face(&s, i, &state);
            expect_hits(&s);
            check_part(&s, 0, RAYS);
            for (int64_t count = 8; count < 80; count += 7) check_part(&s, count, count);
            close_scene(&s);
        }
}

// Whichever threads take the few parts of a small call, each has memory of its own.
TEST(more_threads_than_work) {
    enum { COUNT = 6000, CALLS = CASE_STEP > 1 ? 40 : 200 };
    static sap_hit first[COUNT], hits[COUNT];
    scene s;
    open_scene(&s, RAY_MESH_SOUP, COUNT, SAP_SIMD_AUTO, 16);
    CHECK_STATUS(sap_trace(s.tree, s.rays, COUNT, first), SAP_OK);
    for (int call = 0; call < CALLS; call++) {
        CHECK_STATUS(sap_trace(s.tree, s.rays, COUNT, hits), SAP_OK);
        CHECK(!memcmp(first, hits, sizeof hits));
    }
    close_scene(&s);
}

// From the middle, or from within the tube of a torus, to a point of a closed mesh.
static sap_ray outward(const scene* s, ray_mesh kind, int64_t i, bool aimed, uint64_t* state) {
    float from[3], to[3];
    const int32_t* t = s->mesh.triangles + 3 * random_below(state, s->mesh.mesh.triangle_count);
    double turn = random_unit(state) * 6.283185307179586;
    float part = i % 3 ? 0.5f : 0;
    for (int k = 0; k < 3; k++) {
        const float* v = s->mesh.vertices + k;
        to[k] = aimed ? v[3 * t[0]] * (1 - part) + v[3 * t[1]] * part : (float)random_unit(state) - 0.5f;
        from[k] =
            kind == RAY_MESH_CUBE ? 0.25f + 0.5f * (float)random_unit(state) : 0.2f * (float)random_unit(state) - 0.1f;
    }
    if (kind == RAY_MESH_TORUS) {
        from[0] += (float)cos(turn);
        from[1] += (float)sin(turn);
    }
    sap_ray ray = {{from[0], from[1], from[2]}, 0, {to[0], to[1], to[2]}, INFINITY};
    for (int k = 0; k < 3 && aimed; k++) ray.direction[k] -= from[k];
    return ray;
}

TEST(nothing_leaks_from_closed_meshes) {
    // A million rays anywhere, and a third of a million at edges and vertices.
    enum { PART = 10000, PARTS = CASE_STEP > 1 ? 3 : 46 };
    static const ray_mesh kinds[] = {RAY_MESH_CUBE, RAY_MESH_SPHERE, RAY_MESH_TORUS};
    for (int k = 0; k < 3; k++) {
        scene s;
        open_scene(&s, kinds[k], PART, SAP_SIMD_AUTO, 2);
        sap_hit* hits = malloc(PART * sizeof *hits);
        uint64_t state = 77;
        int64_t leaks = 0;
        for (int part = 0; part < PARTS; part++) {
            for (int64_t i = 0; i < PART; i++) s.rays[i] = outward(&s, kinds[k], i, part % 4 == 3, &state);
            CHECK_STATUS(sap_trace(s.tree, s.rays, PART, hits), SAP_OK);
            for (int64_t i = 0; i < PART; i++) leaks += hits[i].triangle < 0;
        }
        NOTE("family %d", kinds[k]);
        CHECK_EQUAL(leaks, 0);
        free(hits);
        close_scene(&s);
    }
}

// A step of the walk that gets worse shows here, without a clock.
// Walks in parts, of any length, end where a walk in one go does, having looked at as much.
TEST(walks_in_parts) {
    static const int rounds[] = {1, 2, 3, 17, 400};
    for (int kind = 0; kind < RAY_MESHES; kind += CASE_STEP) {
        scene s;
        open_sized(&s, (ray_mesh)kind, SIZE / 4, 320, SAP_SIMD_AUTO, 1);
        const float magnitude = sap_mesh_magnitude(s.tree);
        const sap_vector lower = sap_mesh_lower(s.tree), upper = sap_mesh_upper(s.tree);
        int64_t wrong = 0, endless = 0;
        for (int64_t i = 0; i < s.count; i++) {
            const sap_prepared_ray ray = sap_ray_prepare_cpu(&s.rays[i], magnitude);
            const sap_ray_result whole = sap_ray_walk(s.tree, ray, lower, upper, i % 2);
            sap_ray_walk_state walk = sap_ray_walk_begin(ray, lower, upper);
            int parts = 0;
            for (; walk.going && parts < 100000; parts++)
                walk = sap_ray_walk_resume(s.tree, walk, ray, lower, upper, i % 2, rounds[i % 5]);
            wrong += memcmp(&walk.found, &whole, sizeof whole) != 0;
            endless += walk.going;
        }
        NOTE("mesh %d", kind);
        CHECK_EQUAL(wrong, 0);
        CHECK_EQUAL(endless, 0);
        close_scene(&s);
    }
}

TEST(golden_visits) {
    enum { COUNT = 2000 };
    static const struct {
        mesh_family kind;
        int64_t visits[2]; // of the rays together, in trees of either quality
    } expected[] = {
        {MESH_SOUP, {52411, 59251}},  {MESH_BALL, {42904, 45198}},    {MESH_HILLS, {31366, 34473}},
        {MESH_ROOMS, {29669, 38690}}, {MESH_NEEDLES, {67314, 89439}},
    };
    sap_hit* hits = malloc(COUNT * sizeof *hits);
    int32_t* visits = malloc(COUNT * sizeof *visits);
    for (size_t k = 0; k < sizeof expected / sizeof expected[0]; k++) {
        scene s;
        open_sized(&s, (ray_mesh)(RAY_MESH_OTHERS + expected[k].kind), 3000, COUNT, SAP_SIMD_AUTO, 1);
        for (int quality = 0; quality < 2; quality++) {
            int64_t sum = 0;
            if (quality) use_fast_tree(&s);
            NOTE("%s, quality %d", mesh_family_name(expected[k].kind), quality);
            CHECK_STATUS(sap_trace_visits(s.tree, s.rays, COUNT, hits, visits), SAP_OK);
            for (int64_t i = 0; i < COUNT; i++) sum += visits[i];
            CHECK_EQUAL(sum, expected[k].visits[quality]);
        }
        close_scene(&s);
    }
    free(hits);
    free(visits);
}

TEST_MAIN()
