// Rows of one ray a call and one point a call: a prepared search, beside Embree's calls for one ray and one point, and
// beside Sapwood's calls for many with a count of 1.
#include "rays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct single_asker {
    const rays_scene* scene;
    sap_mesh_query* query;
    void* rival;
    const rays_set* set; // rays, or NULL
    const float* points; // [3 * count]
    int64_t count;
    sap_hit* hits;
    uint8_t* occluded;
    sap_closest* closest;
} single_asker;

static void prepared_rays(void* state) {
    const single_asker* s = state;
    for (int64_t i = 0; i < s->count && !s->set->is_shadow; i++)
        sap_mesh_query_trace(s->query, s->set->rays + i, s->hits + i);
    for (int64_t i = 0; i < s->count && s->set->is_shadow; i++)
        s->occluded[i] = (uint8_t)sap_mesh_query_occluded(s->query, s->set->rays + i);
}

static void called_rays(void* state) {
    const single_asker* s = state;
    sap_status status = SAP_OK;
    for (int64_t i = 0; i < s->count && status == SAP_OK; i++)
        status = s->set->is_shadow ? sap_occluded(s->scene->high, s->set->rays + i, 1, s->occluded + i)
                                   : sap_trace(s->scene->high, s->set->rays + i, 1, s->hits + i);
    bench_check(status, "tracing");
}

static void rival_rays(void* state) {
    const single_asker* s = state;
    if (s->set->is_shadow)
        rays_embree->occluded(s->rival, s->set->rays, s->count, s->occluded);
    else
        rays_embree->trace(s->rival, s->set->rays, s->count, s->hits);
}

static void prepared_points(void* state) {
    const single_asker* s = state;
    for (int64_t i = 0; i < s->count; i++) sap_mesh_query_closest(s->query, s->points + 3 * i, s->closest + i);
}

static void called_points(void* state) {
    const single_asker* s = state;
    for (int64_t i = 0; i < s->count; i++)
        bench_check(sap_closest_point(s->scene->high, (sap_points){s->points + 3 * i, 1, 3, 0}, s->closest + i),
                    "sap_closest_point");
}

static void rival_points(void* state) {
    const single_asker* s = state;
    rays_embree->closest(s->rival, &s->scene->mesh, s->points, s->count, s->closest);
}

// Memory for the answers of one side.
static single_asker open_asker(const rays_scene* scene, sap_mesh_query* query, void* rival, int64_t count) {
    const size_t most = (size_t)count + 1;
    return (single_asker){.scene = scene,
                          .query = query,
                          .rival = rival,
                          .count = count,
                          .hits = memset(bench_memory(most, sizeof(sap_hit)), 0, most * sizeof(sap_hit)),
                          .occluded = memset(bench_memory(most, 1), 0, most),
                          .closest = memset(bench_memory(most, sizeof(sap_closest)), 0, most * sizeof(sap_closest))};
}

static void close_asker(single_asker* s) {
    free(s->hits);
    free(s->occluded);
    free(s->closest);
}

// The prepared search gives the bits of the other calls.
static bool are_same(const single_asker* a, const single_asker* b) {
    const size_t count = (size_t)a->count;
    if (a->points) return !memcmp(a->closest, b->closest, count * sizeof *a->closest);
    return a->set->is_shadow ? !memcmp(a->occluded, b->occluded, count)
                             : !memcmp(a->hits, b->hits, count * sizeof *a->hits);
}

// Points on a mesh may be nearest in several triangles; their distances differ by rounding.
static int64_t count_unlike(const single_asker* a, const single_asker* b) {
    int64_t unlike = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const double x = (double)a->closest[i].distance2, y = (double)b->closest[i].distance2;
        unlike += !(x <= y * (1 + 1e-4) + 1e-12 && y <= x * (1 + 1e-4) + 1e-12);
    }
    return unlike;
}

static void single_row(const rays_run* run, single_asker* askers, const char* key, const char* work, double target) {
    static const char* const names[3] = {"sapwood", "sapwood a call", "Embree medium"};
    const bool are_points = askers[0].points != NULL;
    bench_side sides[3] = {{.pass = are_points ? prepared_points : prepared_rays, .state = &askers[0]},
                           {.pass = are_points ? called_points : called_rays, .state = &askers[1]},
                           {.pass = are_points ? rival_points : rival_rays, .state = &askers[2]}};
    const int count = askers[2].rival ? 3 : 2;
    bench_take_turns(sides, count, run->bench.options);
    for (int i = 0; i < count; i++) bench_report_samples(run->bench.report, key, names[i], &sides[i]);
    bench_row row = {.key = key,
                     .work = work,
                     .unit = BENCH_RATE,
                     .operations = (double)askers[0].count,
                     .target = target,
                     .subject = bench_median(&sides[0]),
                     .rival = count > 2 ? bench_median(&sides[2]) : 0};
    row.others[RAYS_BESIDE_SINGLE] = bench_median(&sides[1]);
    bench_report_row(run->bench.report, &row);
    if (!are_same(&askers[0], &askers[1]))
        bench_report_wrong(run->bench.report, key, "prepared, the answers are others");
    if (are_points && count > 2)
        bench_report_note(run->bench.report, "%lld of %lld distances unlike Embree's",
                          (long long)count_unlike(&askers[0], &askers[2]), (long long)askers[0].count);
}

static void ask_one_by_one(const rays_run* run, const rays_scene* scene, sap_mesh_query* query, void* rival,
                           const rays_set* set, const float* points, int64_t count, const char* name) {
    char work[96], row[32];
    snprintf(work, sizeof work, "%s, %s, one a call", scene->name, name);
    snprintf(row, sizeof row, "single-%s", name);
    const char* key = rays_key(scene, row);
    if (!bench_wanted(&run->bench, key) || count == 0) return;
    single_asker askers[3];
    for (int i = 0; i < 3; i++) {
        askers[i] = open_asker(scene, query, rival, count);
        askers[i].set = set;
        askers[i].points = points;
    }
    single_row(run, askers, key, work, rival ? 0.8 : 0);
    for (int i = 0; i < 3; i++) close_asker(&askers[i]);
}

// Points anywhere in the scene's box, and points close to the surface: where the bounce rays begin.
static void point_rows(const rays_run* run, const rays_scene* scene, sap_mesh_query* query, void* rival) {
    enum { POINTS = 100000 };
    float* points = bench_uniform(POINTS, 3, 23);
    const rays_set* bounce = &scene->sets[2];
    const int64_t near = bounce->count < POINTS ? bounce->count : POINTS;
    sap_mesh_tree_info info;
    bench_check(sap_mesh_tree_describe(scene->high, &info), "sap_mesh_tree_describe");
    for (int64_t i = 0; i < 3 * POINTS; i++)
        points[i] = info.lower[i % 3] + points[i] * (info.upper[i % 3] - info.lower[i % 3]);
    ask_one_by_one(run, scene, query, rival, NULL, points, POINTS, "points");
    for (int64_t i = 0; i < near; i++)
        memcpy(points + 3 * i, bounce->rays[i * (bounce->count / near)].origin, 3 * sizeof *points);
    ask_one_by_one(run, scene, query, rival, NULL, points, near, "near-points");
    free(points);
}

void rays_single_group(const rays_run* run, rays_scene* scene) {
    sap_mesh_query* query = NULL;
    void* rival = NULL;
    if (!bench_wanted(&run->bench, rays_key(scene, "single"))) return;
    bench_check(sap_mesh_query_open(scene->high, NULL, &query), "sap_mesh_query_open");
    if (rays_embree) {
        rival = rays_embree->open(&scene->mesh, false, 1, false);
        rays_embree->build(rival);
    }
    for (int k = 0; k < RAYS_SETS; k++) {
        const rays_set* set = &scene->sets[k];
        ask_one_by_one(run, scene, query, rival, set, NULL, set->count, set->name);
    }
    point_rows(run, scene, query, rival);
    if (rival) rays_embree->release(rival);
    sap_mesh_query_close(query);
}
