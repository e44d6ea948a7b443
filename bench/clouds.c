// sapwood_clouds_bench: what clouds cost on one file of points, from raw points to the result, tree included. Prints a
// line for each work: key, median seconds, and a number that tells what was found; writes the points as raw floats to a file
// for rivals, if one is named. bench/clouds.sh runs it beside Open3D and nanoflann.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct clouds {
    sap_device* device;
    sap_points points;
    sap_tree* tree;
    double spacing; // median distance to the nearest point
    double radius;  // of points that are projected
    float *normals, *curvatures, *moved, *projected;
    double* densities;
    uint8_t* keep;
    int32_t* labels;
    double found;
} clouds;

static void build(clouds* c) {
    sap_tree_free(c->tree);
    bench_check(sap_tree_build(c->device, c->points, NULL, &c->tree), "sap_tree_build");
}

static void normals_with(clouds* c, const sap_normals_options* options) {
    build(c);
    bench_check(sap_cloud_normals(c->tree, options, c->normals, c->curvatures), "sap_cloud_normals");
    c->found = 0;
    for (int64_t i = 0; i < c->points.count; i++) c->found += (double)c->curvatures[i];
}

static void normals_k16(void* state) { normals_with(state, &(sap_normals_options){.k = 16}); }
static void normals_k30(void* state) { normals_with(state, &(sap_normals_options){.k = 30}); }
static void normals_radius(void* state) {
    clouds* c = state;
    normals_with(c, &(sap_normals_options){.radius = 5 * c->spacing});
}

static void orient(void* state) {
    clouds* c = state;
    build(c);
    const sap_normals_options o = {.orient = SAP_ORIENT_CONSISTENT, .graph_k = 15};
    bench_check(sap_cloud_orient(c->tree, &o, c->normals), "sap_cloud_orient");
}

static void nearest_distance(void* state) {
    clouds* c = state;
    build(c);
    const sap_density_options o = {.kind = SAP_DENSITY_DISTANCE};
    bench_check(sap_cloud_density(c->tree, &o, c->densities), "sap_cloud_density");
    c->found = 0;
    for (int64_t i = 0; i < c->points.count; i++) c->found += c->densities[i];
}

static void outliers_with(clouds* c, const sap_outliers_options* options) {
    sap_outliers_info info;
    build(c);
    bench_check(sap_cloud_outliers(c->tree, options, c->keep, &info), "sap_cloud_outliers");
    c->found = (double)info.kept;
}

// Open3D counts the point itself among the 20, at distance 0; PCL's answer is that of 20 others.
static void statistical(void* state) { outliers_with(state, &(sap_outliers_options){.k = 20, .ratio = 2}); }
static void by_radius(void* state) {
    clouds* c = state;
    outliers_with(c, &(sap_outliers_options){.kind = SAP_OUTLIERS_RADIUS, .k = 16, .radius = 5 * c->spacing});
}

static void grid(void* state) {
    clouds* c = state;
    sap_thinned* thinned = NULL;
    const double side = 4 * c->spacing;
    const sap_voxels_options o = {.sizes = {side, side, side}};
    bench_check(sap_cloud_voxels(c->device, c->points, &o, &thinned), "sap_cloud_voxels");
    c->found = (double)thinned->count;
    sap_thinned_free(thinned);
}

static void farthest(void* state) {
    clouds* c = state;
    int64_t count = 0;
    build(c);
    bench_check(sap_cloud_sample(c->tree, &(sap_sample_options){.most = 2048}, c->labels, &count), "sap_cloud_sample");
    c->found = (double)c->labels[count - 1];
}

static void disks(void* state) {
    clouds* c = state;
    int64_t count = 0;
    build(c);
    const sap_sample_options o = {.kind = SAP_SAMPLE_POISSON, .radius = 4 * c->spacing};
    bench_check(sap_cloud_sample(c->tree, &o, c->labels, &count), "sap_cloud_sample");
    c->found = (double)count;
}

static void clusters_with(clouds* c, const sap_clusters_options* options) {
    int64_t count = 0;
    build(c);
    bench_check(sap_cloud_clusters(c->tree, options, c->labels, NULL, &count), "sap_cloud_clusters");
    c->found = (double)count;
}

static void friends(void* state) {
    clouds* c = state;
    clusters_with(c, &(sap_clusters_options){.radius = 2 * c->spacing});
}
static void dbscan(void* state) {
    clouds* c = state;
    clusters_with(c, &(sap_clusters_options){.radius = 3 * c->spacing, .fewest = 10});
}

// Ten steps, in each of which the tree is built anew.
static void relax(void* state) {
    clouds* c = state;
    const sap_relax_options o = {.steps = 10, .is_free = true};
    bench_check(sap_cloud_relax(c->device, c->points, &o, c->moved, NULL, NULL), "sap_cloud_relax");
    c->found = (double)c->moved[0];
}

// One of 20 points, 35 steps, as CGAL has it.
static void project(void* state) {
    clouds* c = state;
    const sap_project_options o = {.radius = c->radius};
    bench_check(sap_cloud_project(c->device, c->points, &o, c->projected, NULL), "sap_cloud_project");
    c->found = (double)c->projected[0];
}
static void project_by_density(void* state) {
    clouds* c = state;
    const sap_project_options o = {.radius = c->radius, .by_density = true};
    bench_check(sap_cloud_project(c->device, c->points, &o, c->projected, NULL), "sap_cloud_project");
    c->found = (double)c->projected[0];
}

static void compare(void* state) {
    clouds* c = state;
    sap_distance_info info;
    build(c);
    bench_check(sap_cloud_distance(c->tree, (sap_points){c->moved, c->points.count, 3, 0}, NULL, NULL, &info),
                "sap_cloud_distance");
    c->found = info.mean;
}

static void gather(void* state) {
    clouds* c = state;
    build(c);
    const sap_gather_options o = {.radius = 5 * c->spacing, .falloff = SAP_FALLOFF_BIWEIGHT};
    bench_check(sap_gather_self(c->tree, &o, &(sap_gathered){.weights = c->densities}), "sap_gather_self");
    c->found = c->densities[0];
}

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void write_points(const char* path, const sap_points* points) {
    FILE* file = fopen(path, "wb");
    const size_t count = 3 * (size_t)points->count;
    if (!file || fwrite(points->coords, sizeof(float), count, file) != count || fclose(file)) {
        fprintf(stderr, "sapwood_clouds_bench: cannot write %s\n", path);
        exit(1);
    }
}

int main(int argc, char** argv) {
    static const struct {
        const char* key;
        void (*pass)(void* state);
    } works[] = {{"normals-k16", normals_k16},
                 {"normals-k30", normals_k30},
                 {"normals-radius", normals_radius},
                 {"orient", orient},
                 {"nearest", nearest_distance},
                 {"statistical", statistical},
                 {"radius-outliers", by_radius},
                 {"voxels", grid},
                 {"farthest", farthest},
                 {"disks", disks},
                 {"clusters", friends},
                 {"dbscan", dbscan},
                 {"gather", gather},
                 {"relax-10", relax},
                 {"project", project},
                 {"project-density", project_by_density},
                 {"distance", compare}};
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: sapwood_clouds_bench POINTS.ply THREADS PASSES [RAW]\n");
        return 2;
    }
    const int threads = bench_whole_number(argv[2], 1, 1024), passes = bench_whole_number(argv[3], 1, BENCH_MAX_REPS);
    clouds c = {.device = bench_device(threads, SAP_SIMD_AUTO, NULL)};
    sap_point_set* set = NULL;
    bench_check(sap_points_read(c.device, argv[1], SAP_FORMAT_AUTO, 32, &set), "sap_points_read");
    c.points = (sap_points){set->coords, set->count, set->dims, 0};
    if (argc == 5) write_points(argv[4], &c.points);
    const size_t n = (size_t)set->count;
    c.normals = bench_memory(n, 3 * sizeof(float));
    c.curvatures = bench_memory(n, sizeof(float));
    c.moved = bench_memory(n, 3 * sizeof(float));
    c.projected = bench_memory(n / 20 + 1, 3 * sizeof(float));
    c.densities = bench_memory(n, sizeof(double));
    c.keep = bench_memory(n, 1);
    c.labels = bench_memory(n, sizeof(int32_t));
    nearest_distance(&c);
    qsort(c.densities, n, sizeof *c.densities, ascending);
    c.spacing = c.densities[n / 2];
    sap_project_info info;
    bench_check(sap_cloud_project(c.device, c.points, &(sap_project_options){.steps = 1}, c.projected, &info),
                "sap_cloud_project");
    c.radius = info.radius;
    printf("points %lld\nspacing %.9g\nradius %.9g\n", (long long)set->count, c.spacing, c.radius);
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        double samples[BENCH_MAX_REPS] = {0};
        works[w].pass(&c);
        for (int i = 0; i < passes; i++) {
            const double start = threads == 1 ? bench_cpu_seconds() : bench_seconds();
            works[w].pass(&c);
            samples[i] = (threads == 1 ? bench_cpu_seconds() : bench_seconds()) - start;
        }
        qsort(samples, (size_t)passes, sizeof *samples, ascending);
        printf("%s %.6f %.9g\n", works[w].key, samples[passes / 2], c.found);
    }
    sap_tree_free(c.tree);
    sap_point_set_free(set);
    sap_device_close(c.device);
    free(c.normals);
    free(c.curvatures);
    free(c.moved);
    free(c.projected);
    free(c.densities);
    free(c.keep);
    free(c.labels);
    return 0;
}
