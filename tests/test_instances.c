// Instances of meshes: rays find what brute force over all triangles of all instances finds, bit for bit; the tree over
// them holds what it should; and what is refused.
#include "base/team.h"
#include "cases.h"
#include "instance/layout.h"
#include "instances.h"
#include "progress_host.h"
#include "stage.h"
#include "test.h"

enum { ROW = 5, RAYS = CASE_STEP > 1 ? 400 : 1600, SIZE = 60 };

// A device, meshes with their trees, instances of them, and rays with the hits that brute force finds.
typedef struct scene {
    watch w;
    progress_host host;
    sap_device* device;
    scene_mesh meshes[RAY_MESHES];
    sap_mesh_tree* trees[RAY_MESHES];
    int mesh_count;
    sap_instance* instances;
    int* mesh_of;
    int64_t count;
    sap_instance_tree* tree;
    sap_ray* rays;
    sap_instance_hit* expected; // ROW of each ray
    int32_t* counts;
} scene;

// ---- Brute force, by the arithmetic that sapwood/instances.h states

static sap_ray seen_from(const float m[12], const sap_ray* ray, float t_max) {
    double w[12], c[9];
    sap_ray seen = {.t_min = ray->t_min, .t_max = t_max};
    for (int i = 0; i < 9; i++) {
        const int r = i / 3, k = i % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        c[i] = (double)m[4 * r1 + k1] * (double)m[4 * r2 + k2] - (double)m[4 * r1 + k2] * (double)m[4 * r2 + k1];
    }
    const double whole = ((double)m[0] * c[0] + (double)m[1] * c[1]) + (double)m[2] * c[2];
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) w[4 * r + k] = c[3 * k + r] / whole;
        w[4 * r + 3] = -((w[4 * r] * (double)m[3] + w[4 * r + 1] * (double)m[7]) + w[4 * r + 2] * (double)m[11]);
        const double* row = w + 4 * r;
        const float *o = ray->origin, *d = ray->direction;
        seen.origin[r] = (float)(((row[0] * (double)o[0] + row[1] * (double)o[1]) + row[2] * (double)o[2]) + row[3]);
        seen.direction[r] = (float)((row[0] * (double)d[0] + row[1] * (double)d[1]) + row[2] * (double)d[2]);
    }
    return seen;
}

// The first ROW hits of ray i, in order.
static void expect_ray(scene* s, int64_t i) {
    sap_instance_hit* row = s->expected + i * ROW;
    int32_t count = 0;
    for (int64_t j = 0; j < s->count; j++) {
        const sap_ray seen = seen_from(s->instances[j].transform, &s->rays[i], s->rays[i].t_max);
        sap_hit hits[ROW];
        const int32_t found = oracle_trace(&s->meshes[s->mesh_of[j]].mesh, &seen, ROW, hits);
        for (int32_t k = 0; k < found; k++) { // behind those of the instances before that are not farther
            int32_t at = count;
            while (at > 0 && hits[k].t < row[at - 1].t) at--;
            if (at == ROW) continue;
            count += count < ROW;
            memmove(row + at + 1, row + at, (size_t)(count - at - 1) * sizeof *row);
            row[at] = (sap_instance_hit){hits[k].t, hits[k].u, hits[k].v, hits[k].triangle, (int32_t)j};
        }
    }
    s->counts[i] = count;
    for (int32_t k = count; k < ROW; k++) row[k] = (sap_instance_hit){INFINITY, 0, 0, -1, -1};
}

static void expect_range(void* context, int64_t from, int64_t to, int32_t worker) {
    (void)worker;
    for (int64_t i = from; i < to; i++) expect_ray(context, i);
}

static void expect_hits(scene* s) { sap_team_loop(sap_team_most(), RAYS, 64, expect_range, s); }

// ---- Scenes

static void open_device(scene* s, sap_simd simd, int32_t threads) {
    memset(s, 0, sizeof *s);
    sap_device_options options = watched(&s->w);
    options.simd = simd;
    options.threads = threads;
    options.progress = progress_host_report;
    options.progress_user = &s->host;
    sap_device_open(&options, &s->device);
}

static void add_mesh(scene* s, ray_mesh kind, int size) {
    s->meshes[s->mesh_count] = ray_mesh_of(kind, size);
    s->trees[s->mesh_count] = ray_tree(s->device, &s->meshes[s->mesh_count].mesh, SAP_QUALITY_HIGH);
    CHECK(s->trees[s->mesh_count] != NULL);
    s->host.last = 0;
    s->mesh_count++;
}

// Instances of the meshes in turn, by transforms of all kinds.
static void add_instances(scene* s, int64_t count, double size, uint64_t* state) {
    s->count = count;
    s->instances = calloc((size_t)count + 1, sizeof *s->instances);
    s->mesh_of = calloc((size_t)count + 1, sizeof *s->mesh_of);
    for (int64_t i = 0; i < count; i++) {
        s->mesh_of[i] = (int)(i % s->mesh_count);
        s->instances[i].tree = s->trees[s->mesh_of[i]];
        // Some stand in the same place.
        if (i % 7 == 6 && i >= s->mesh_count)
            memcpy(s->instances[i].transform, s->instances[i - s->mesh_count].transform, sizeof(float[12]));
        else
            transform_of(s->instances[i].transform, (int)(i % TRANSFORM_KINDS), size, state);
    }
}

// Rays of all kinds about the instances in turn.
static void add_rays(scene* s, uint64_t* state) {
    s->rays = malloc(RAYS * sizeof *s->rays);
    s->expected = malloc(RAYS * ROW * sizeof *s->expected);
    s->counts = malloc(RAYS * sizeof *s->counts);
    for (int64_t i = 0; i < RAYS; i++) {
        const int64_t j = s->count ? i / RAY_KINDS % s->count : 0;
        const sap_mesh* mesh = &s->meshes[s->count ? s->mesh_of[j] : 0].mesh;
        float lower[3], upper[3];
        oracle_box(mesh, lower, upper);
        const sap_ray ray = oracle_ray(mesh, lower, upper, i, state);
        s->rays[i] = ray;
        if (!s->count) continue;
        into_world(s->instances[j].transform, ray.origin, 1, s->rays[i].origin);
        into_world(s->instances[j].transform, ray.direction, 0, s->rays[i].direction);
    }
}

static void build_tree(scene* s) {
    CHECK_STATUS(sap_instance_tree_build(s->device, s->instances, s->count, &s->tree), SAP_OK);
    s->host.last = 0;
}

static void close_scene(scene* s) {
    sap_instance_tree_free(s->tree);
    for (int i = 0; i < s->mesh_count; i++) {
        sap_mesh_tree_free(s->trees[i]);
        scene_mesh_free(&s->meshes[i]);
    }
    sap_device_close(s->device);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
    free(s->instances);
    free(s->mesh_of);
    free(s->rays);
    free(s->expected);
    free(s->counts);
}

// A scene of one mesh of a family beside a cube and an empty mesh.
static bool open_family(scene* s, ray_mesh kind, sap_simd simd, int32_t threads) {
    uint64_t state = 7 + (uint64_t)kind;
    open_device(s, simd, threads);
    if (!s->device) return false;
    add_mesh(s, kind, SIZE);
    add_mesh(s, RAY_MESH_CUBE, SIZE);
    add_mesh(s, RAY_MESH_NONE, SIZE);
    add_mesh(s, kind, SIZE / 2);
    add_instances(s, 25, size_of(&s->meshes[0]), &state);
    add_rays(s, &state);
    build_tree(s);
    return true;
}

static bool same_hit(const sap_instance_hit* a, const sap_instance_hit* b) { return !memcmp(a, b, sizeof *a); }

static void check_hit(const scene* s, const sap_instance_hit* got, int64_t i, const char* way) {
    const sap_instance_hit* e = s->expected + i * ROW;
    if (same_hit(got, e)) return;
    NOTE("%s: ray %lld: %.9g %.9g %.9g %d of %d, not %.9g %.9g %.9g %d of %d", way, (long long)i, (double)got->t,
         (double)got->u, (double)got->v, got->triangle, got->instance, (double)e->t, (double)e->u, (double)e->v,
         e->triangle, e->instance);
    CHECK(same_hit(got, e));
}

// All ways to ask, for rays [first, first + count).
static void check_part(scene* s, int64_t first, int64_t count) {
    sap_instance_hit* hits = malloc((size_t)count * ROW * sizeof *hits);
    uint8_t* occluded = malloc((size_t)count);
    int32_t* numbers = malloc((size_t)count * sizeof *numbers);
    const sap_ray* rays = s->rays + first;
    s->host.last = 0;
    CHECK_STATUS(sap_instance_trace(s->tree, rays, count, hits), SAP_OK);
    s->host.last = 0;
    CHECK_STATUS(sap_instance_occluded(s->tree, rays, count, occluded), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        check_hit(s, hits + i, first + i, "first hits");
        CHECK_EQUAL(occluded[i], s->counts[first + i] > 0);
    }
    s->host.last = 0;
    CHECK_STATUS(sap_instance_trace_all(s->tree, rays, count, ROW, hits, numbers), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        NOTE("all hits of ray %lld", (long long)(first + i));
        CHECK_EQUAL(numbers[i], s->counts[first + i]);
        CHECK(!memcmp(hits + i * ROW, s->expected + (first + i) * ROW, ROW * sizeof *hits));
    }
    s->host.last = 0;
    CHECK_STATUS(sap_instance_trace_all(s->tree, rays, count, 1, hits, NULL), SAP_OK);
    for (int64_t i = 0; i < count; i++) check_hit(s, hits + i, first + i, "all, one each");
    free(hits);
    free(occluded);
    free(numbers);
}

TEST(hits_are_those_of_brute_force) {
    int64_t hits = 0;
    for (int kind = 0; kind < RAY_MESHES; kind++)
        for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
            scene s;
            if (!open_family(&s, (ray_mesh)kind, (sap_simd)simd, 1 + kind % 3)) continue;
            NOTE("family %d, instruction set %d", kind, simd);
            expect_hits(&s);
            for (int64_t i = 0; i < RAYS; i++) hits += s.counts[i] > 0;
            check_part(&s, 0, RAYS);
            for (int64_t i = 0; i < RAYS; i += 1 + i % 13 * 17) check_part(&s, i, 1);
            check_part(&s, 3, 100);
            close_scene(&s);
        }
    CHECK(hits > RAYS);
}

// Rays of a camera go together, which those above do not.
TEST(rays_that_are_alike) {
    scene s;
    uint64_t state = 3;
    open_device(&s, SAP_SIMD_AUTO, 2);
    add_mesh(&s, RAY_MESH_TORUS, 200);
    add_mesh(&s, RAY_MESH_SOUP, 50);
    add_instances(&s, 60, 1, &state);
    add_rays(&s, &state);
    for (int64_t i = 0; i < RAYS; i++)
        s.rays[i] = (sap_ray){{0, 0, 20}, 0, {(float)(i % 40) / 160, (float)(i / 40) / 160, -1}, INFINITY};
    build_tree(&s);
    expect_hits(&s);
    check_part(&s, 0, RAYS);
    check_part(&s, 1, RAYS - 23);
    close_scene(&s);
}

// Triangles counted through all instances.
TEST(numbered_hits) {
    scene s;
    CHECK(open_family(&s, RAY_MESH_TORUS, SAP_SIMD_AUTO, 2));
    expect_hits(&s);
    sap_hit* hits = malloc(RAYS * sizeof *hits);
    CHECK_STATUS(sap_instance_trace_numbered(s.tree, s.rays, RAYS, hits), SAP_OK);
    for (int64_t i = 0; i < RAYS; i++) {
        const sap_instance_hit* e = s.expected + i * ROW;
        int64_t number = e->triangle;
        for (int32_t j = 0; j < e->instance; j++) number += s.meshes[s.mesh_of[j]].mesh.triangle_count;
        CHECK(hits[i].t == e->t && hits[i].u == e->u && hits[i].v == e->v && hits[i].triangle == number);
    }
    s.tree->triangles = (int64_t)INT32_MAX + 1;
    REFUSED(sap_instance_trace_numbered(s.tree, s.rays, RAYS, hits), SAP_ERROR_RANGE, "triangles");
    free(hits);
    close_scene(&s);
}

// An instance at rest is hit as its mesh is.
TEST(instances_at_rest) {
    scene s;
    uint64_t state = 4;
    open_device(&s, SAP_SIMD_AUTO, 1);
    add_mesh(&s, RAY_MESH_TORUS, 200);
    add_instances(&s, 1, 1, &state);
    add_rays(&s, &state);
    build_tree(&s);
    for (int64_t i = 0; i < RAYS; i++) {
        sap_instance_hit hit;
        sap_hit alone;
        s.host.last = 0;
        CHECK_STATUS(sap_instance_trace(s.tree, &s.rays[i], 1, &hit), SAP_OK);
        CHECK_STATUS(sap_trace(s.trees[0], &s.rays[i], 1, &alone), SAP_OK);
        CHECK(hit.t == alone.t && hit.u == alone.u && hit.v == alone.v && hit.triangle == alone.triangle);
        CHECK_EQUAL(hit.instance, alone.triangle < 0 ? -1 : 0);
    }
    close_scene(&s);
}

// More hits than scratch memory has room for unasked: a ray down a row of cubes.
TEST(long_rows_of_hits) {
    enum { CUBES = 700, ASKED = 1500, BUT = 37 };
    scene s;
    uint64_t state = 5;
    open_device(&s, SAP_SIMD_AUTO, 2);
    add_mesh(&s, RAY_MESH_CUBE, 1);
    add_instances(&s, CUBES, 1, &state);
    for (int i = 0; i < CUBES; i++) {
        transform_of(s.instances[i].transform, 0, 1, &state);
        s.instances[i].transform[3] = (float)((i * 11) % CUBES) * 1.5f; // out of order, which 11 does not divide
    }
    build_tree(&s);
    const sap_ray rays[3] = {{{-1, 0.3f, 0.6f}, 0, {1, 0, 0}, INFINITY},
                             {{-1, 5, 0.6f}, 0, {1, 0, 0}, INFINITY},
                             {{2000, 0.3f, 0.6f}, 0, {-1, 0, 0}, INFINITY}};
    sap_instance_hit* hits = malloc(3 * ASKED * sizeof *hits);
    sap_instance_hit* few = malloc(3 * ASKED * sizeof *few);
    int32_t counts[3];
    CHECK_STATUS(sap_instance_trace_all(s.tree, rays, 3, ASKED, hits, counts), SAP_OK);
    CHECK(counts[0] == 2 * CUBES && counts[1] == 0 && counts[2] == 2 * CUBES);
    for (int i = 0; i < 2 * CUBES; i++) {
        const sap_instance_hit *there = &hits[i], *back = &hits[2 * ASKED + i];
        CHECK(there->t == 1 + (float)(i / 2) * 1.5f + (float)(i % 2));
        CHECK(there->instance * 11 % CUBES == i / 2 && back->instance * 11 % CUBES == CUBES - 1 - i / 2);
    }
    CHECK_STATUS(sap_instance_trace_all(s.tree, rays, 3, BUT, few, NULL), SAP_OK);
    for (int i = 0; i < 3; i++) CHECK(!memcmp(few + i * BUT, hits + i * ASKED, BUT * sizeof *few));
    free(hits);
    free(few);
    close_scene(&s);
}

// ---- The tree

typedef struct box {
    float lower[3], upper[3], reach;
} box;

// Whether the subtree below a node is sound: boxes hold those below, and each instance is there once. Counts instances;
// the next node behind the subtree.
static int64_t check_nodes(const sap_instance_node* nodes, int64_t at, int depth, int* seen, box* whole) {
    const sap_instance_node* n = &nodes[at];
    for (int k = 0; k < 3; k++) whole->lower[k] = n->lower[k], whole->upper[k] = n->upper[k];
    whole->reach = n->reach;
    CHECK(depth <= SAP_INSTANCE_DEPTH_MAX);
    if (n->link & 1) {
        seen[n->link >> 1]++;
        return at + 1;
    }
    box side[2];
    const int64_t middle = check_nodes(nodes, at + 1, depth + 1, seen, &side[0]);
    CHECK_EQUAL(middle, n->link >> 3);
    const int64_t end = check_nodes(nodes, middle, depth + 1, seen, &side[1]);
    CHECK((n->link >> 1 & 3) < 3);
    for (int k = 0; k < 3; k++) {
        CHECK(n->lower[k] == fminf(side[0].lower[k], side[1].lower[k]));
        CHECK(n->upper[k] == fmaxf(side[0].upper[k], side[1].upper[k]));
    }
    CHECK(n->reach == fmaxf(side[0].reach, side[1].reach));
    return end;
}

// Trees over many instances, also all in one place and in a line that doubles: each is filed once, boxes hold the meshes,
// and it is the same for any number of threads.
TEST(trees_are_sound) {
    enum { MANY = 3000 };
    for (int kind = 0; kind < 4; kind++) {
        unsigned char* alone = malloc((size_t)MANY * sizeof(sap_instance_node));
        for (int32_t threads = 1; threads <= 3; threads++) {
            scene s;
            uint64_t state = 6;
            open_device(&s, SAP_SIMD_AUTO, threads);
            add_mesh(&s, RAY_MESH_CUBE, 1);
            add_mesh(&s, RAY_MESH_NONE, 1);
            add_instances(&s, MANY, 1, &state);
            for (int i = 0; i < MANY && kind; i++) {
                float* m = s.instances[i].transform;
                transform_of(m, 0, 1, &state);
                if (kind == 2) m[3] = ldexpf(1, i % 60);
                if (kind == 3) m[0] = m[5] = m[10] = ldexpf(1, -(i % 120)), m[3] = ldexpf(1, -(i % 140));
            }
            build_tree(&s);
            const sap_instance_tree* t = s.tree;
            int* seen = calloc(MANY, sizeof *seen);
            box whole;
            NOTE("kind %d, %d threads", kind, threads);
            CHECK_EQUAL(t->filed, MANY / 2);
            CHECK_EQUAL(check_nodes(sap_instance_nodes(t), 0, 0, seen, &whole), 2 * t->filed - 1);
            for (int i = 0; i < MANY; i++) CHECK_EQUAL(seen[i], i % 2 == 0);
            for (int i = 0; i < MANY; i += 2)
                for (int corner = 0; corner < 8; corner++) {
                    float to[3];
                    into_world(s.instances[i].transform, s.meshes[0].vertices + 3 * corner, 1, to);
                    for (int k = 0; k < 3; k++) CHECK(to[k] >= t->lower[k] && to[k] <= t->upper[k]);
                }
            sap_instance_tree_info info;
            CHECK_STATUS(sap_instance_tree_describe(t, &info), SAP_OK);
            CHECK(info.instances == MANY && info.filed == MANY / 2 && info.bytes == t->bytes);
            CHECK(info.depth >= 10 && info.depth <= (kind ? SAP_INSTANCE_DEPTH_MAX : 40));
            CHECK(!memcmp(info.lower, whole.lower, sizeof info.lower));
            const size_t nodes = (size_t)(2 * t->filed - 1) * sizeof(sap_instance_node);
            if (threads == 1) memcpy(alone, t->arrays, nodes);
            CHECK(!memcmp(alone, t->arrays, nodes));
            free(seen);
            close_scene(&s);
        }
        free(alone);
    }
}

TEST(no_instances_and_empty_meshes) {
    scene s;
    uint64_t state = 8;
    open_device(&s, SAP_SIMD_AUTO, 2);
    add_mesh(&s, RAY_MESH_NONE, 1);
    for (int64_t count = 0; count <= 3; count += 3) {
        sap_instance_hit hits[200];
        uint8_t occluded[200];
        int32_t counts[200];
        sap_ray rays[200];
        for (int i = 0; i < 200; i++) rays[i] = (sap_ray){{0, 0, 0}, 0, {1, 0, (float)(i % 7)}, INFINITY};
        free(s.instances);
        free(s.mesh_of);
        add_instances(&s, count, 1, &state);
        s.host.last = 0;
        build_tree(&s);
        sap_instance_tree_info info;
        CHECK_STATUS(sap_instance_tree_describe(s.tree, &info), SAP_OK);
        CHECK(info.instances == count && info.filed == 0 && info.lower[0] == INFINITY && info.upper[2] == -INFINITY);
        s.host.last = 0;
        CHECK_STATUS(sap_instance_trace(s.tree, rays, 200, hits), SAP_OK);
        CHECK_STATUS(sap_instance_occluded(s.tree, rays, 200, occluded), SAP_OK);
        for (int i = 0; i < 200; i++)
            CHECK(hits[i].instance == -1 && hits[i].triangle == -1 && isinf(hits[i].t) && !occluded[i]);
        CHECK_STATUS(sap_instance_trace_all(s.tree, rays, 200, 1, hits, counts), SAP_OK);
        for (int i = 0; i < 200; i++) CHECK(hits[i].instance == -1 && counts[i] == 0);
        sap_instance_tree_free(s.tree);
        s.tree = NULL;
    }
    close_scene(&s);
}

// A tree that is rebuilt is one that was built; over as many instances that needs no memory.
TEST(instances_move) {
    scene s;
    CHECK(open_family(&s, RAY_MESH_SPHERE, SAP_SIMD_AUTO, 2));
    uint64_t state = 99;
    const int64_t requests = s.w.requests;
    for (int frame = 0; frame < 5; frame++) {
        for (int64_t i = 0; i < s.count; i++)
            transform_of(s.instances[i].transform, (int)((i + frame) % TRANSFORM_KINDS), 1, &state);
        s.host.last = 0;
        CHECK_STATUS(sap_instance_tree_rebuild(s.tree, s.instances, s.count), SAP_OK);
        CHECK_EQUAL(s.w.requests, requests);
        expect_hits(&s);
        check_part(&s, 0, 100);
    }
    s.host.last = 0;
    CHECK_STATUS(sap_instance_tree_rebuild(s.tree, s.instances, s.count - 5), SAP_OK);
    s.count -= 5;
    expect_hits(&s);
    check_part(&s, 0, RAYS);
    close_scene(&s);
}

// ---- What is refused

TEST(bad_arguments_are_refused) {
    scene s;
    sap_instance_tree* tree = NULL;
    sap_instance_tree_info info;
    sap_instance_hit hit;
    uint8_t flag;
    int32_t number;
    CHECK(open_family(&s, RAY_MESH_TORUS, SAP_SIMD_AUTO, 2));
    s.w.log_calls = 0;
    sap_instance* in = s.instances;
    const sap_ray* rays = s.rays;
    CHECK_STATUS(sap_instance_tree_build(NULL, in, 1, &tree), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_tree_rebuild(NULL, in, 1), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_tree_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_trace(NULL, rays, 1, &hit), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_occluded(NULL, rays, 1, &flag), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_instance_trace_all(NULL, rays, 1, 1, &hit, &number), SAP_ERROR_ARGUMENT);
    REFUSED(sap_instance_tree_build(s.device, in, 1, NULL), SAP_ERROR_ARGUMENT, "tree");
    REFUSED(sap_instance_tree_build(s.device, NULL, 1, &tree), SAP_ERROR_ARGUMENT, "instances");
    REFUSED(sap_instance_tree_build(s.device, in, -1, &tree), SAP_ERROR_ARGUMENT, "count");
    REFUSED(sap_instance_tree_build(s.device, in, ((int64_t)1 << 28) + 1, &tree), SAP_ERROR_RANGE, "count");
    REFUSED(sap_instance_tree_describe(s.tree, NULL), SAP_ERROR_ARGUMENT, "info");
    REFUSED(sap_instance_trace(s.tree, NULL, 1, &hit), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_instance_trace(s.tree, rays, 1, NULL), SAP_ERROR_ARGUMENT, "hits");
    REFUSED(sap_instance_trace(s.tree, rays, -1, &hit), SAP_ERROR_ARGUMENT, "count");
    REFUSED(sap_instance_trace(s.tree, rays, INT64_MAX / 2, &hit), SAP_ERROR_RANGE, "count");
    REFUSED(sap_instance_occluded(s.tree, NULL, 1, &flag), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_instance_occluded(s.tree, rays, 1, NULL), SAP_ERROR_ARGUMENT, "occluded");
    REFUSED(sap_instance_trace_all(s.tree, rays, 1, 0, &hit, &number), SAP_ERROR_ARGUMENT, "limit");
    REFUSED(sap_instance_trace_all(s.tree, rays, 1, 1, NULL, &number), SAP_ERROR_ARGUMENT, "hits");
    REFUSED(sap_instance_trace_all(s.tree, rays, INT64_MAX / 4, INT32_MAX, &hit, NULL), SAP_ERROR_RANGE, "count");
    // A processor without the room, as OpenGL's are.
    const struct sap_instance_ops* room = s.device->rooms.instance;
    s.device->rooms.instance = NULL;
    REFUSED(sap_instance_tree_build(s.device, in, 1, &tree), SAP_ERROR_UNSUPPORTED,
            "cannot build trees over instances");
    s.device->rooms.instance = room;
    CHECK_STATUS(sap_instance_trace(s.tree, NULL, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_instance_occluded(s.tree, NULL, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_instance_trace_all(s.tree, NULL, 0, 1, NULL, NULL), SAP_OK);
    sap_instance_tree_free(NULL);
    CHECK(tree == NULL);
    close_scene(&s);
}

// Instances that cannot be: the first is named, and a tree stays as it was.
TEST(bad_instances_are_refused) {
    scene s;
    sap_instance_tree* tree = NULL;
    sap_device* other = NULL;
    CHECK(open_family(&s, RAY_MESH_TORUS, SAP_SIMD_AUTO, 2));
    expect_hits(&s);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &other), SAP_OK);
    sap_mesh_tree* elsewhere = ray_tree(other, &s.meshes[0].mesh, SAP_QUALITY_FAST);
    s.w.log_calls = 0;
    static const struct {
        int at;
        float value;
        sap_status status;
        const char* word;
    } wrong[] = {{-1, 0, SAP_ERROR_ARGUMENT, "the tree of instance 4 is NULL"},
                 {-2, 0, SAP_ERROR_ARGUMENT, "the tree of instance 4 is on another device"},
                 {-3, 0, SAP_ERROR_ARGUMENT, "the transform of instance 4 has no inverse"},
                 {-4, 0, SAP_ERROR_ARGUMENT, "the transform of instance 4 has no inverse"},
                 {-5, 0, SAP_ERROR_ARGUMENT, "the transform of instance 4 has no inverse"},
                 {0, NAN, SAP_ERROR_NOT_FINITE, "the transform of instance 4 is not finite"},
                 {7, INFINITY, SAP_ERROR_NOT_FINITE, "the transform of instance 4 is not finite"},
                 {11, 3e38f, SAP_ERROR_NOT_FINITE, "the transform of instance 4 moves its mesh so far"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const sap_instance kept = s.instances[4];
        float* m = s.instances[4].transform;
        s.instances[9].tree = NULL;
        if (wrong[i].at >= 0) m[wrong[i].at] = wrong[i].value;
        if (wrong[i].at == -1) s.instances[4].tree = NULL;
        if (wrong[i].at == -2) s.instances[4].tree = elsewhere;
        for (int k = 0; k < 12 && wrong[i].at == -3; k++) m[k] = 0;
        for (int k = 0; k < 12 && wrong[i].at == -4; k++)
            m[k] = (float)k;   // the last row is twice the second less the first
        if (wrong[i].at == -5) // doubles undo a shear as strong as this only roughly
            memcpy(m, (float[12]){1, 0x1p30f, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, sizeof kept.transform);
        REFUSED(sap_instance_tree_build(s.device, s.instances, s.count, &tree), wrong[i].status, wrong[i].word);
        REFUSED(sap_instance_tree_rebuild(s.tree, s.instances, s.count), wrong[i].status, wrong[i].word);
        s.instances[4] = kept;
    }
    CHECK(tree == NULL);
    const sap_instance sheared = {s.trees[0], {1, 0x1p28f, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    CHECK_STATUS(sap_instance_tree_build(s.device, &sheared, 1, &tree), SAP_OK);
    sap_instance_tree_free(tree);
    check_part(&s, 0, 100);
    sap_mesh_tree_free(elsewhere);
    sap_device_close(other);
    close_scene(&s);
}

enum { CALLS = 5, LONG_ROW = 2000 };

static sap_status call(scene* s, int number, void* answers) {
    sap_instance_tree* tree = NULL;
    s->host.last = 0;
    switch (number) {
    case 0: {
        const sap_status status = sap_instance_tree_build(s->device, s->instances, s->count, &tree);
        CHECK((status == SAP_OK) == (tree != NULL));
        sap_instance_tree_free(tree);
        return status;
    }
    case 1: return sap_instance_tree_rebuild(s->tree, s->instances, s->count);
    case 2: return sap_instance_trace(s->tree, s->rays, RAYS, answers);
    case 3: return sap_instance_occluded(s->tree, s->rays, RAYS, answers);
    default: return sap_instance_trace_all(s->tree, s->rays, 3, LONG_ROW, answers, NULL);
    }
}

TEST(refused_memory_is_reported_and_leaves_answers_alone) {
    scene s;
    CHECK(open_family(&s, RAY_MESH_TORUS, SAP_SIMD_AUTO, 2));
    unsigned char* answers = malloc(RAYS * sizeof(sap_instance_hit) + 3 * LONG_ROW * sizeof(sap_instance_hit));
    int64_t refusals = 0;
    for (int number = 0; number < CALLS; number++)
        for (int64_t n = 1; n < 100; n++) {
            NOTE("call %d, request %d", number, (int)n);
            sap_device_trim(s.device);
            answers[0] = 0x11;
            s.w.requests = 0;
            s.w.fail_from = n;
            s.w.fail_all_after = true;
            s.w.log_calls = 0;
            const sap_status status = call(&s, number, answers);
            const bool reached = s.w.requests >= n;
            s.w.fail_from = 0;
            if (!reached) {
                CHECK_STATUS(status, SAP_OK);
                break;
            }
            refusals++;
            CHECK_STATUS(status, SAP_ERROR_MEMORY);
            CHECK_EQUAL(s.w.log_calls, 1);
            CHECK(answers[0] == 0x11);
        }
    CHECK(refusals >= 6);
    expect_hits(&s);
    check_part(&s, 0, 100);
    free(answers);
    close_scene(&s);
}

TEST(few_rays_allocate_nothing) {
    scene s;
    CHECK(open_family(&s, RAY_MESH_TORUS, SAP_SIMD_AUTO, 2));
    sap_instance_hit hits[200 * 3];
    uint8_t occluded[200];
    sap_device_trim(s.device);
    const int64_t requests = s.w.requests, reports = s.host.reports;
    for (int64_t count = 1; count <= 200; count = count * 2 + 1) {
        CHECK_STATUS(sap_instance_trace(s.tree, s.rays, count, hits), SAP_OK);
        CHECK_STATUS(sap_instance_occluded(s.tree, s.rays, count, occluded), SAP_OK);
        CHECK_STATUS(sap_instance_trace_all(s.tree, s.rays, count, 3, hits, NULL), SAP_OK);
    }
    CHECK_EQUAL(s.w.requests, requests);
    CHECK_EQUAL(s.host.reports, reports);
    close_scene(&s);
}

TEST(progress_and_cancelling) {
    for (int32_t threads = 1; threads <= 2; threads++) {
        scene s;
        uint64_t state = 11;
        open_device(&s, SAP_SIMD_AUTO, threads);
        add_mesh(&s, RAY_MESH_CUBE, 1);
        add_instances(&s, 5000, 1, &state);
        add_rays(&s, &state);
        build_tree(&s);
        void* answers = malloc(RAYS * sizeof(sap_instance_hit));
        for (int number = 0; number < CALLS - 1; number++)
            for (int64_t stop = 0; stop <= 2; stop++) {
                NOTE("call %d, stopped at %d, %d threads", number, (int)stop, threads);
                s.host.reports = 0;
                s.host.stop_at = stop;
                CHECK_STATUS(call(&s, number, answers), stop ? SAP_ERROR_CANCELLED : SAP_OK);
                CHECK(stop ? s.host.reports == stop : s.host.reports > 1 && s.host.reports < 500);
            }
        s.host.stop_at = 0;
        free(answers);
        close_scene(&s);
    }
}

TEST_MAIN()
