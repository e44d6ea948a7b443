// Rows of rays: first hits, occlusion and all hits in order, one thread. Sapwood answers all rays of a set in one call,
// Embree is asked ray by ray; beside them stand Sapwood asked ray by ray and Sapwood with a fast tree.
#include "rays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct asker {
    const rays_scene* scene;
    const rays_set* set;
    rays_question question;
    const sap_mesh_tree* tree; // NULL: the rival
    void* rival;
    int64_t at_once; // rays a call
    int to;          // which of the scene's arrays take the answers
} asker;

static void ask(void* state) {
    const asker* s = state;
    sap_hit* hits = s->scene->hits[s->to];
    uint8_t* occluded = s->scene->occluded[s->to];
    int32_t* counts = s->scene->counts[s->to];
    const sap_ray* rays = s->set->rays;
    int64_t count = s->set->count;
    sap_status status = SAP_OK;
    if (!s->tree) {
        if (s->question == RAYS_FIRST) rays_embree->trace(s->rival, rays, count, hits);
        if (s->question == RAYS_ANY) rays_embree->occluded(s->rival, rays, count, occluded);
        if (s->question == RAYS_ALL) rays_embree->trace_all(s->rival, rays, count, hits, counts);
        return;
    }
    for (int64_t i = 0; i < count && status == SAP_OK; i += s->at_once) {
        int64_t n = count - i < s->at_once ? count - i : s->at_once;
        if (s->question == RAYS_FIRST) status = sap_trace(s->tree, rays + i, n, hits + i);
        if (s->question == RAYS_ANY) status = sap_occluded(s->tree, rays + i, n, occluded + i);
        if (s->question == RAYS_ALL)
            status = sap_trace_all(s->tree, rays + i, n, RAYS_LIMIT, hits + i * RAYS_LIMIT, counts + i);
    }
    bench_check(status, "tracing");
}

// Sapwood's answer has come in another way: is it the same, bit for bit?
static bool same_answers(const rays_scene* s, const asker* a) {
    size_t count = (size_t)a->set->count;
    if (a->question == RAYS_ANY) return !memcmp(s->occluded[0], s->occluded[1], count);
    if (a->question == RAYS_FIRST) return !memcmp(s->hits[0], s->hits[1], count * sizeof(sap_hit));
    return !memcmp(s->counts[0], s->counts[1], count * sizeof(int32_t)) &&
           !memcmp(s->hits[0], s->hits[1], count * RAYS_LIMIT * sizeof(sap_hit));
}

// The sides of a row. Sapwood comes first, then the ways of BESIDE.
enum { OWN, SINGLE, FAST, MEDIUM, HIGH, SIDES };

static void check_answers(const rays_run* run, const rays_scene* scene, const asker* askers, int sides,
                          const char* key) {
    static const char* const ways[] = {"", "ray by ray", "with a fast tree"};
    ask((void*)(uintptr_t)&askers[OWN]);
    for (int i = SINGLE; i <= FAST; i++) {
        ask((void*)(uintptr_t)&askers[i]);
        if (!same_answers(scene, &askers[i]))
            bench_report_wrong(run->bench.report, key, "%s the answers are others", ways[i]);
    }
    bool has_rival = sides > MEDIUM;
    if (has_rival) ask((void*)(uintptr_t)&askers[MEDIUM]);
    rays_verdict v = rays_compare(scene, askers[OWN].set, askers[OWN].question, has_rival);
    if (has_rival)
        bench_report_note(run->bench.report,
                          "%lld of %lld rays unlike Embree's; brute force on these and a sample, %lld in all: %lld "
                          "unlike Sapwood's",
                          (long long)v.unlike, (long long)askers[OWN].set->count, (long long)v.asked,
                          (long long)v.wrong);
    if (v.wrong > 0)
        bench_report_wrong(run->bench.report, key, "%lld of %lld rays are not those of brute force", (long long)v.wrong,
                           (long long)v.asked);
}

// Seconds that the walks take at least: the nodes and triangles they meet, or the bytes of rays and answers.
static double floor_of(const rays_run* run, const rays_scene* scene, const rays_set* set, rays_question question) {
    static const double answer_bytes[] = {sizeof(sap_hit), 1, RAYS_LIMIT * sizeof(sap_hit) + sizeof(int32_t)};
    rays_work work = scene->work[0][set - scene->sets];
    double bytes = (double)set->count * (sizeof(sap_ray) + answer_bytes[question]);
    return fmax(work.nodes / run->rates.nodes + work.tests / run->rates.tests, bytes / run->bench.rates.memory_bytes);
}

static void ray_row(const rays_run* run, rays_scene* scene, const rays_set* set, rays_question question, void** rivals,
                    const char* key, const char* work, double target) {
    static const char* const names[SIDES] = {"sapwood", "sapwood ray by ray", "sapwood fast tree", "Embree medium",
                                             "Embree high"};
    if (!bench_wanted(&run->bench, key) || set->count == 0) return;
    asker askers[SIDES];
    bench_side sides[SIDES];
    int count = rivals[0] ? rivals[1] ? SIDES : HIGH : MEDIUM;
    for (int i = 0; i < count; i++) {
        askers[i] = (asker){.scene = scene, .set = set, .question = question, .at_once = i == SINGLE ? 1 : set->count};
        askers[i].to = i != OWN;
        if (i < MEDIUM) askers[i].tree = i == FAST ? scene->fast : scene->high;
        if (i >= MEDIUM) askers[i].rival = rivals[i - MEDIUM];
        sides[i] = (bench_side){.pass = ask, .state = &askers[i], .most = i == SINGLE || i == FAST ? 3 : 0};
    }
    bench_take_turns(sides, count, run->bench.options);
    bench_row row = {.key = key, .work = work, .unit = BENCH_RATE, .operations = (double)set->count, .target = target};
    row.subject = bench_median(&sides[OWN]);
    row.others[RAYS_BESIDE_SINGLE] = bench_median(&sides[SINGLE]);
    row.others[RAYS_BESIDE_FAST] = bench_median(&sides[FAST]);
    if (count > MEDIUM) row.rival = bench_median(&sides[MEDIUM]);
    if (count > HIGH) row.others[RAYS_BESIDE_HIGH] = bench_median(&sides[HIGH]);
    row.floor = floor_of(run, scene, set, question);
    for (int i = 0; i < count; i++) bench_report_samples(run->bench.report, key, names[i], &sides[i]);
    bench_report_row(run->bench.report, &row);
    check_answers(run, scene, askers, count, key);
}

static void first_rows(const rays_run* run, rays_scene* scene) {
    void* rivals[2] = {NULL, NULL};
    for (int i = 0; i < 2 && rays_embree; i++) {
        rivals[i] = rays_embree->open(&scene->mesh, i == 1, 1, false);
        rays_embree->build(rivals[i]);
    }
    for (int k = 0; k < RAYS_SETS; k++) {
        const rays_set* set = &scene->sets[k];
        char work[96];
        snprintf(work, sizeof work, "%s, %s", scene->name, set->name);
        ray_row(run, scene, set, set->is_shadow ? RAYS_ANY : RAYS_FIRST, rivals, rays_key(scene, set->name), work,
                scene->targets.rays[k]);
    }
    for (int i = 0; i < 2 && rays_embree; i++) rays_embree->release(rivals[i]);
}

static void all_rows(const rays_run* run, rays_scene* scene) {
    void* rivals[2] = {NULL, NULL};
    if (rays_embree) {
        rivals[0] = rays_embree->open(&scene->mesh, false, 1, true);
        rays_embree->build(rivals[0]);
    }
    for (int k = 0; k <= 2; k += 2) { // primary and bounce
        const rays_set* set = &scene->sets[k];
        char work[96], name[32];
        snprintf(work, sizeof work, "%s, %s, all hits", scene->name, set->name);
        snprintf(name, sizeof name, "all-%s", set->name);
        ray_row(run, scene, set, RAYS_ALL, rivals, rays_key(scene, name), work, k == 0 ? scene->targets.all : 0);
    }
    if (rays_embree) rays_embree->release(rivals[0]);
}

void rays_trace_group(const rays_run* run, rays_scene* scene) {
    first_rows(run, scene);
    if (bench_wanted(&run->bench, rays_key(scene, "all"))) all_rows(run, scene);
}
