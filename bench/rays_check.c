// Answers beside the rival's. Where they differ, brute force over all triangles decides, with the library's own text of
// the test: it also answers a sample of the rays whose answers agree.
#include "rays.h"

#include "base/team.h"
#include "ray/walk_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float TOLERANCE = 1e-4f; // of a hit's t: two tests of one triangle differ by rounding
static const double SAMPLE_TESTS = 1e9;

static bool same_t(float a, float b) { return fabsf(a - b) <= TOLERANCE * fmaxf(fabsf(a), fabsf(b)); }

static bool is_unlike(const rays_scene* s, int64_t i, rays_question question) {
    const sap_hit *ours = s->hits[0], *theirs = s->hits[1];
    if (question == RAYS_ANY) return s->occluded[0][i] != s->occluded[1][i];
    if (question == RAYS_FIRST) {
        bool misses = ours[i].triangle < 0 && theirs[i].triangle < 0;
        return !misses && (ours[i].triangle != theirs[i].triangle || !same_t(ours[i].t, theirs[i].t));
    }
    // Triangles met at the same place come in either order.
    if (s->counts[0][i] != s->counts[1][i]) return true;
    for (int32_t j = 0; j < s->counts[0][i]; j++)
        if (!same_t(ours[i * RAYS_LIMIT + j].t, theirs[i * RAYS_LIMIT + j].t)) return true;
    return false;
}

enum { BLOCK = 64 };

// The triangles of a mesh, a row for each coordinate of each corner: corner, axis. Rows end with a block's padding.
typedef struct planes {
    const sap_mesh* mesh;
    float* rows[3][3];
} planes;

static planes open_planes(const sap_mesh* mesh) {
    planes p = {.mesh = mesh};
    int64_t count = mesh->triangle_count, length = count + BLOCK;
    float* memory = bench_memory((size_t)length * 9, sizeof *memory);
    for (int k = 0; k < 9; k++) {
        float* row = p.rows[k / 3][k % 3] = memory + k * length;
        for (int64_t i = 0; i < length; i++)
            row[i] = i < count ? mesh->vertices[3 * (int64_t)mesh->triangles[3 * i + k / 3] + k % 3] : 0;
    }
    return p;
}

// Which triangles of a block the ray's line may cross: those whose edge functions, computed as the library's text does,
// are not of two signs. A zero has no sign.
static void mark_block(const planes* p, const sap_prepared_ray* ray, int64_t first, uint32_t* may) {
    const float *v[3][3], origin[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const int axes[3] = {ray->axis_x, ray->axis_y, ray->axis_z};
    float from[3];
    for (int k = 0; k < 3; k++) from[k] = origin[axes[k]];
    for (int k = 0; k < 9; k++) v[k / 3][k % 3] = p->rows[k / 3][axes[k % 3]] + first;
    for (int i = 0; i < BLOCK; i++) {
        float x[3], y[3];
        for (int c = 0; c < 3; c++) {
            float z = v[c][2][i] - from[2];
            x[c] = (v[c][0][i] - from[0]) - ray->shear_x * z;
            y[c] = (v[c][1][i] - from[1]) - ray->shear_y * z;
        }
        float a = x[2] * y[1] - y[2] * x[1], b = x[0] * y[2] - y[0] * x[2], c = x[1] * y[0] - y[1] * x[0];
        bool is_zero = (a == 0) | (b == 0) | (c == 0);
        may[i] = is_zero | (((a < 0) == (b < 0)) & ((b < 0) == (c < 0)));
    }
}

// The first `limit` hits of a ray; returns how many.
static int32_t brute_force(const planes* p, const sap_ray* given, int32_t limit, sap_hit* hits) {
    sap_prepared_ray ray = sap_ray_prepare_cpu(given, 1);
    const sap_mesh* mesh = p->mesh;
    uint32_t may[BLOCK];
    int32_t count = 0;
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        if (i % BLOCK == 0) mark_block(p, &ray, i, may);
        if (!may[i % BLOCK]) continue;
        const int32_t* t = mesh->triangles + 3 * i;
        sap_triangle triangle = {sap_vector_of(mesh->vertices + 3 * (int64_t)t[0]),
                                 sap_vector_of(mesh->vertices + 3 * (int64_t)t[1]),
                                 sap_vector_of(mesh->vertices + 3 * (int64_t)t[2])};
        sap_crossing hit = sap_triangle_cross(ray, triangle);
        if (hit.is_hit) count = sap_hits_insert(hits, 1, count, limit, (sap_hit){hit.t, hit.u, hit.v, (int32_t)i});
    }
    for (int32_t i = count; i < limit; i++) hits[i] = (sap_hit){INFINITY, 0, 0, -1};
    return count;
}

static bool is_wrong(const rays_scene* s, const planes* p, const sap_ray* ray, int64_t i, rays_question question) {
    sap_hit hits[RAYS_LIMIT];
    int32_t limit = question == RAYS_ALL ? RAYS_LIMIT : 1, count = brute_force(p, ray, limit, hits);
    if (question == RAYS_ANY) return s->occluded[0][i] != (count > 0);
    if (question == RAYS_ALL && s->counts[0][i] != count) return true;
    return memcmp(hits, s->hits[0] + i * limit, (size_t)limit * sizeof *hits) != 0;
}

typedef struct comparison {
    const rays_scene* scene;
    const rays_set* set;
    rays_question question;
    bool has_rival;
    int64_t step; // every so many rays one is asked
    planes planes;
    rays_verdict verdict;
} comparison;

static void compare_range(void* context, int64_t from, int64_t to, int32_t worker) {
    comparison* c = context;
    rays_verdict v = {0, 0, 0};
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        bool differs = c->has_rival && is_unlike(c->scene, i, c->question);
        v.unlike += differs;
        if (!differs && i % c->step) continue;
        v.asked++;
        v.wrong += is_wrong(c->scene, &c->planes, c->set->rays + i, i, c->question);
    }
    __atomic_add_fetch(&c->verdict.unlike, v.unlike, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->verdict.asked, v.asked, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->verdict.wrong, v.wrong, __ATOMIC_RELAXED);
}

rays_verdict rays_compare(const rays_scene* scene, const rays_set* set, rays_question question, bool has_rival) {
    comparison c = {.scene = scene, .set = set, .question = question, .has_rival = has_rival};
    c.step = 1 + (int64_t)((double)set->count * (double)scene->mesh.triangle_count / SAMPLE_TESTS);
    c.planes = open_planes(&scene->mesh);
    sap_team_loop(sap_team_most(), set->count, 64, compare_range, &c);
    free(c.planes.rows[0][0]);
    return c.verdict;
}
