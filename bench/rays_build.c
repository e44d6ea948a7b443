// Rows of builds, and of what trees are made of.
#include "rays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One way to build: the four that first builds know by name.
typedef struct way {
    const char* name;
    bool is_rival;
    sap_quality quality;
    bool is_high; // of the rival's qualities
} way;

enum { OWN_HIGH, OWN_FAST, RIVAL_MEDIUM, RIVAL_HIGH, WAYS };

static const way ways[WAYS] = {{"sapwood high", false, SAP_QUALITY_HIGH, false},
                               {"sapwood fast", false, SAP_QUALITY_FAST, false},
                               {"Embree medium", true, SAP_QUALITY_HIGH, false},
                               {"Embree high", true, SAP_QUALITY_HIGH, true}};

static int way_count(void) { return rays_embree ? WAYS : RIVAL_MEDIUM; }

typedef struct builder {
    const way* how;
    const sap_mesh* mesh;
    sap_device* device;
    sap_mesh_tree* tree;
    void* rival;
} builder;

static void build(void* state) {
    builder* b = state;
    sap_mesh_tree_options options = {.quality = b->how->quality};
    if (b->how->is_rival)
        rays_embree->build(b->rival);
    else
        bench_check(sap_mesh_tree_build(b->device, *b->mesh, &options, &b->tree), "sap_mesh_tree_build");
}

static void rebuild(void* state) {
    builder* b = state;
    if (b->how->is_rival)
        rays_embree->build(b->rival);
    else
        bench_check(sap_mesh_tree_rebuild(b->tree, *b->mesh), "sap_mesh_tree_rebuild");
}

static builder open_builder(int number, const sap_mesh* mesh, int threads) {
    builder b = {.how = &ways[number], .mesh = mesh};
    if (b.how->is_rival)
        b.rival = rays_embree->open(mesh, b.how->is_high, threads, false);
    else
        b.device = bench_device(threads, SAP_SIMD_AUTO, NULL);
    return b;
}

static void close_builder(builder* b) {
    if (b->rival) rays_embree->release(b->rival);
    sap_mesh_tree_free(b->tree);
    sap_device_close(b->device);
}

int rays_first_build(const char* who, const char* path) {
    bench_file file;
    rays_scene scene;
    int number = 0;
    while (number < way_count() && strcmp(who, ways[number].name) != 0) number++;
    snprintf(file.path, sizeof file.path, "%s", path);
    file.name[0] = 0;
    if (number == way_count() || !rays_scene_read(&scene, path[0] ? &file : NULL)) return 1;
    builder b = open_builder(number, &scene.mesh, 1);
    bench_first_timed(build, &b);
    close_builder(&b);
    rays_scene_close(&scene);
    return 0;
}

static const double targets[] = {1.0, 3.0}; // Mtriangles/s, by quality

static bench_row rate_row(const char* key, const char* work, const rays_scene* scene, const bench_side* sides,
                          int quality) {
    bench_row row = {.key = key,
                     .work = work,
                     .unit = BENCH_LEAST_RATE,
                     .operations = (double)scene->mesh.triangle_count,
                     .subject = bench_median(&sides[quality])};
    if (rays_embree) {
        row.rival = bench_median(&sides[RIVAL_MEDIUM]);
        row.others[RAYS_BESIDE_HIGH] = bench_median(&sides[RIVAL_HIGH]);
    }
    return row;
}

static const char* const qualities[] = {"high", "fast"};

// Both qualities' rows of one contest. `suffix`: of the keys. is_target: one thread, against the targets.
static void rate_rows(const rays_run* run, const rays_scene* scene, const bench_side* sides, const char* suffix,
                      const char* how, bool is_target) {
    for (int quality = 0; quality < 2; quality++) {
        char name[48], work[96];
        snprintf(name, sizeof name, "build-%s%s", qualities[quality], suffix);
        snprintf(work, sizeof work, "%s, %s %s", scene->name, how, qualities[quality]);
        bench_row row = rate_row(rays_key(scene, name), work, scene, sides, quality);
        if (is_target) row.target = targets[quality];
        for (int i = 0; i < way_count(); i++)
            if (i == quality || i >= RIVAL_MEDIUM)
                bench_report_samples(run->bench.report, row.key, ways[i].name, &sides[i]);
        bench_report_row(run->bench.report, &row);
    }
}

static void first_rows(const rays_run* run, const rays_scene* scene, const bench_file* file) {
    bench_first states[WAYS];
    bench_side sides[WAYS];
    for (int i = 0; i < way_count(); i++) {
        states[i] = (bench_first){run->bench.options, {ways[i].name, file ? file->path : "", NULL}};
        sides[i] = (bench_side){.timed = bench_first_pass, .state = &states[i], .most = 3};
    }
    bench_take_cold_turns(sides, way_count(), run->bench.options);
    rate_rows(run, scene, sides, "-first", "first build,", true);
}

// In kept memory: by one thread, whose sides are left in `one`, or by all.
static void rebuild_rows(const rays_run* run, const rays_scene* scene, int threads, bench_side* sides,
                         const bench_options* options) {
    builder builders[WAYS];
    for (int i = 0; i < way_count(); i++) {
        builders[i] = open_builder(i, &scene->mesh, threads);
        build(&builders[i]);
        sides[i] = (bench_side){.pass = rebuild, .state = &builders[i]};
    }
    bench_take_turns(sides, way_count(), options);
    char suffix[24] = "", how[48];
    if (threads > 1) snprintf(suffix, sizeof suffix, "-%d-threads", threads);
    snprintf(how, sizeof how, threads > 1 ? "rebuild, %d threads," : "rebuild,", threads);
    rate_rows(run, scene, sides, suffix, how, threads == 1);
    for (int i = 0; i < way_count(); i++) close_builder(&builders[i]);
}

// Several threads over one, in turn.
static void scaling_rows(const rays_run* run, const rays_scene* scene, int threads, const bench_options* options) {
    for (int quality = 0; quality < 2; quality++) {
        char name[32], work[96];
        builder builders[2] = {open_builder(quality, &scene->mesh, threads), open_builder(quality, &scene->mesh, 1)};
        bench_side sides[2] = {{.pass = rebuild, .state = &builders[0]}, {.pass = rebuild, .state = &builders[1]}};
        for (int i = 0; i < 2; i++) build(&builders[i]);
        bench_take_turns(sides, 2, options);
        snprintf(name, sizeof name, "scaling-%s", qualities[quality]);
        snprintf(work, sizeof work, "%s, rebuild %s, %d threads over 1", scene->name, qualities[quality], threads);
        bench_row row = {.key = rays_key(scene, name), .work = work, .versus = "one thread", .unit = BENCH_SECONDS};
        row.subject = bench_median(&sides[0]);
        row.rival = bench_median(&sides[1]);
        // The target is stated for two threads.
        if (threads == 2) row.target = 1.8;
        bench_report_samples(run->bench.report, row.key, "threads", &sides[0]);
        bench_report_samples(run->bench.report, row.key, "one", &sides[1]);
        bench_report_row(run->bench.report, &row);
        for (int i = 0; i < 2; i++) close_builder(&builders[i]);
    }
}

static void refit(void* state) {
    builder* b = state;
    bench_check(sap_mesh_tree_refit(b->tree, *b->mesh, NULL), "sap_mesh_tree_refit");
}

// The vertices in a wave along y, as high as a hundredth of the mesh is long along x; to be freed.
static float* waved_vertices(const sap_mesh* mesh) {
    const size_t bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
    float *waved = malloc(bytes + 1), lower = INFINITY, upper = -INFINITY;
    if (!waved) {
        bench_check(SAP_ERROR_MEMORY, "moving a mesh"); // which ends the program
        return NULL;
    }
    memcpy(waved, mesh->vertices, bytes);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        lower = fminf(lower, waved[3 * i]);
        upper = fmaxf(upper, waved[3 * i]);
    }
    const float size = upper - lower;
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        waved[3 * i + 1] += 0.01F * size * sinf(9 * (waved[3 * i] - lower) / size);
    return waved;
}

// Trees that follow a wave: refitted, and built anew by the same quality; and what it does to the cost of rays.
static void refit_rows(const rays_run* run, const rays_scene* scene) {
    float* waved = waved_vertices(&scene->mesh);
    sap_mesh moved = scene->mesh;
    moved.vertices = waved;
    for (int quality = 0; quality < 2; quality++) {
        char name[32], work[96];
        builder builders[2] = {open_builder(quality, &scene->mesh, 1), open_builder(quality, &scene->mesh, 1)};
        bench_side sides[2] = {{.pass = refit, .state = &builders[0]}, {.pass = rebuild, .state = &builders[1]}};
        double loss = 0;
        for (int i = 0; i < 2; i++) {
            build(&builders[i]);
            builders[i].mesh = &moved;
        }
        bench_take_turns(sides, 2, run->bench.options);
        snprintf(name, sizeof name, "refit-%s", qualities[quality]);
        snprintf(work, sizeof work, "%s, in a wave, refit %s", scene->name, qualities[quality]);
        bench_row row = {.key = rays_key(scene, name),
                         .work = work,
                         .versus = "a rebuild",
                         .unit = BENCH_SECONDS,
                         .subject = bench_median(&sides[0]),
                         .rival = bench_median(&sides[1])};
        bench_report_samples(run->bench.report, row.key, "refit", &sides[0]);
        bench_report_samples(run->bench.report, row.key, "rebuild", &sides[1]);
        bench_report_row(run->bench.report, &row);
        bench_check(sap_mesh_tree_refit(builders[0].tree, moved, &loss), "sap_mesh_tree_refit");
        snprintf(name, sizeof name, "refit-loss-%s", qualities[quality]);
        snprintf(work, sizeof work, "%s, in a wave, loss of %s", scene->name, qualities[quality]);
        row = (bench_row){.key = rays_key(scene, name), .work = work, .unit = BENCH_NUMBER, .subject = loss};
        bench_report_row(run->bench.report, &row);
        for (int i = 0; i < 2; i++) close_builder(&builders[i]);
    }
    free(waved);
}

void rays_build_group(const rays_run* run, rays_scene* scene, const bench_file* file) {
    bench_side sides[WAYS];
    bench_options wall = *run->bench.options;
    // Threads save time, not processor time.
    wall.cpu_time = false;
    if (bench_wanted(&run->bench, rays_key(scene, "build"))) {
        first_rows(run, scene, file);
        rebuild_rows(run, scene, 1, sides, run->bench.options);
        if (wall.threads > 1) rebuild_rows(run, scene, wall.threads, sides, &wall);
    }
    if (bench_wanted(&run->bench, rays_key(scene, "refit"))) refit_rows(run, scene);
    if (wall.threads > 1 && bench_wanted(&run->bench, rays_key(scene, "scaling")))
        scaling_rows(run, scene, wall.threads, &wall);
}

void rays_tree_group(const rays_run* run, rays_scene* scene) {
    if (!bench_wanted(&run->bench, rays_key(scene, "tree"))) return;
    sap_mesh_tree_info high, fast;
    bench_check(sap_mesh_tree_describe(scene->high, &high), "sap_mesh_tree_describe");
    bench_check(sap_mesh_tree_describe(scene->fast, &fast), "sap_mesh_tree_describe");
    double triangles = (double)high.triangles;
    const struct {
        const char *key, *text;
        double high, fast, target;
    } rows[] = {
        {"tree-references", "references a triangle", (double)high.references / triangles,
         (double)fast.references / triangles, scene->targets.references},
        {"tree-bytes", "structure bytes a triangle", (double)high.structure_bytes / triangles,
         (double)fast.structure_bytes / triangles, 60},
        {"tree-cost", "expected cost of a ray", high.cost, fast.cost, 0},
    };
    char work[96], name[32];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(work, sizeof work, "%s, %s", scene->name, rows[i].text);
        bench_row row = {.key = rays_key(scene, rows[i].key), .work = work, .unit = BENCH_NUMBER};
        row.subject = rows[i].high;
        row.others[RAYS_BESIDE_FAST] = rows[i].fast;
        row.target = rows[i].target;
        bench_report_row(run->bench.report, &row);
    }
    for (int k = 0; k < 2 * RAYS_SETS; k++) {
        const rays_set* set = &scene->sets[k / 2];
        const rays_work *own = &scene->work[0][k / 2], *hasty = &scene->work[1][k / 2];
        const char* what = k % 2 ? "triangles" : "nodes";
        if (set->count == 0) continue;
        snprintf(work, sizeof work, "%s, %s a %s ray", scene->name, what, set->name);
        snprintf(name, sizeof name, "tree-%s-%s", what, set->name);
        bench_row row = {.key = rays_key(scene, name), .work = work, .unit = BENCH_NUMBER};
        row.subject = (k % 2 ? own->tests : own->nodes) / (double)set->count;
        row.others[RAYS_BESIDE_FAST] = (k % 2 ? hasty->tests : hasty->nodes) / (double)set->count;
        bench_report_row(run->bench.report, &row);
    }
}
