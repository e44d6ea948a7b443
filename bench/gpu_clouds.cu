// Clouds: what is made of the neighbours of all points of a tree. Surfaces for what is made of the k nearest, a cube for
// what is made of those within a radius.
#include "gpu.cuh"

enum { CLOUDS_K = 16, CLOUDS_FEWEST = 10, CLOUDS_STEPS = 8, CLOUDS_MOST = 2048 };
static const int64_t clouds_points = 1000000, clouds_thin = 437000;
static const double clouds_radius = 0.019276; // a ball that holds about 30 points of the cube

typedef struct clouds_stage {
    gpu_cloud surface, cube;
    sap_tree *tree, *host, *dense, *host_dense, *thin, *host_thin; // thin: of the first points of the cube
    float *floats, *others;                                        // [6 * clouds_points] on the device
    double* doubles;                                               // [clouds_points] on the device
    int32_t* labels;                                               // the same
    uint8_t* bytes;                                                // the same
} clouds_stage;

static gpu_row clouds_row(const char* work, const char* data, int k, double target) {
    gpu_row row = gpu_row_of(work, data, clouds_points, 3);
    row.k = k;
    row.target = target;
    return row;
}

// Compares all of an array on the device with the CPU's.
template <typename type>
static void clouds_check(gpu_bench* b, const type* there, const std::vector<type>& expected, const char* what) {
    gpu_check_same(b, gpu_sampled(there, (int64_t)expected.size()), expected, what);
}

static void clouds_normals(gpu_bench* b, clouds_stage* s) {
    const sap_normals_options o = {CLOUDS_K};
    std::vector<float> normals(3 * clouds_points), curvatures(clouds_points), covariances(6 * clouds_points);
    const gpu_times both = gpu_measure(b, [&] {
        GPU_SAP(sap_tree_rebuild(s->tree, gpu_points(&s->surface)));
        GPU_SAP(sap_cloud_normals(s->tree, &o, s->floats, s->others));
    });
    gpu_report(b, clouds_row("cloud-normals-build", "surface", CLOUDS_K, 1.6), both);
    gpu_report(b, clouds_row("cloud-normals", "surface", CLOUDS_K, 0),
               gpu_measure(b, [&] { GPU_SAP(sap_cloud_normals(s->tree, &o, s->floats, s->others)); }));
    GPU_SAP(sap_cloud_normals(s->host, &o, normals.data(), curvatures.data()));
    clouds_check(b, s->floats, normals, "normals");
    clouds_check(b, s->others, curvatures, "curvatures");
    gpu_report(b, clouds_row("cloud-covariances", "surface", CLOUDS_K, 0),
               gpu_measure(b, [&] { GPU_SAP(sap_cloud_covariances(s->tree, &o, s->floats, NULL)); }));
    GPU_SAP(sap_cloud_covariances(s->host, &o, covariances.data(), NULL));
    clouds_check(b, s->floats, covariances, "covariances");
}

static void clouds_balls(gpu_bench* b, clouds_stage* s) {
    sap_normals_options o = {};
    std::vector<float> normals(3 * clouds_points);
    o.radius = clouds_radius;
    gpu_report(b, clouds_row("cloud-normals-radius", "uniform", 0, 0),
               gpu_measure(b, [&] { GPU_SAP(sap_cloud_normals(s->dense, &o, s->floats, NULL)); }));
    GPU_SAP(sap_cloud_normals(s->host_dense, &o, normals.data(), NULL));
    clouds_check(b, s->floats, normals, "normals within a radius");
}

static void clouds_density(gpu_bench* b, clouds_stage* s) {
    static const char* const works[] = {"cloud-count", "cloud-distance", "cloud-kernel"};
    std::vector<double> expected(clouds_points);
    for (int kind = SAP_DENSITY_COUNT; kind <= SAP_DENSITY_KERNEL; kind++) {
        sap_density_options o = {};
        o.kind = (sap_density)kind;
        o.radius = clouds_radius;
        gpu_report(b, clouds_row(works[kind], "uniform", 0, kind == SAP_DENSITY_KERNEL ? 0 : 0.6),
                   gpu_measure(b, [&] { GPU_SAP(sap_cloud_density(s->dense, &o, s->doubles)); }));
        GPU_SAP(sap_cloud_density(s->host_dense, &o, expected.data()));
        clouds_check(b, s->doubles, expected, works[kind]);
    }
}

static void clouds_outliers(gpu_bench* b, clouds_stage* s) {
    static const char* const works[] = {"cloud-outliers", "cloud-outliers-radius"};
    std::vector<uint8_t> expected(clouds_points);
    for (int kind = SAP_OUTLIERS_STATISTICAL; kind <= SAP_OUTLIERS_RADIUS; kind++) {
        sap_outliers_options o = {};
        o.kind = (sap_outliers)kind;
        o.k = kind == SAP_OUTLIERS_RADIUS ? 15 : 20;
        o.radius = clouds_radius;
        gpu_report(b, clouds_row(works[kind], "uniform", o.k, kind == SAP_OUTLIERS_RADIUS ? 0.6 : 1.8),
                   gpu_measure(b, [&] { GPU_SAP(sap_cloud_outliers(s->dense, &o, s->bytes, NULL)); }));
        GPU_SAP(sap_cloud_outliers(s->host_dense, &o, expected.data(), NULL));
        clouds_check(b, s->bytes, expected, works[kind]);
    }
}

// DBSCAN, where a ball holds about 14 points; and friends of friends, where it holds 4.
static void clouds_clusters(gpu_bench* b, clouds_stage* s) {
    static const char* const works[] = {"cloud-dbscan", "cloud-friends"};
    std::vector<int32_t> expected(clouds_points);
    for (int i = 0; i < 2; i++) {
        sap_clusters_options o = {};
        int64_t count = 0, expected_count = 0;
        o.radius = clouds_radius * (i ? 0.5 : 0.78);
        o.fewest = i ? 1 : CLOUDS_FEWEST;
        gpu_report(b, clouds_row(works[i], "uniform", o.fewest, i ? 2.5 : 3),
                   gpu_measure(b, [&] { GPU_SAP(sap_cloud_clusters(s->dense, &o, s->labels, NULL, &count)); }));
        GPU_SAP(sap_cloud_clusters(s->host_dense, &o, expected.data(), NULL, &expected_count));
        clouds_check(b, s->labels, expected, works[i]);
        gpu_compared(b, 1, count != expected_count, works[i]);
    }
}

// The mean of what each of 125,000 cells holds.
static void clouds_voxels(gpu_bench* b, clouds_stage* s) {
    float* points = gpu_cloud_download(&s->cube);
    const sap_points given = {points, clouds_points, 3, 0};
    sap_voxels_options o = {};
    sap_thinned *found = NULL, *expected = NULL;
    for (int a = 0; a < 3; a++) o.sizes[a] = 0.02;
    gpu_report(b, clouds_row("cloud-voxels", "uniform", 0, 0), gpu_measure(b, [&] {
                   sap_thinned_free(found);
                   GPU_SAP(sap_cloud_voxels(b->device, gpu_points(&s->cube), &o, &found));
               }));
    GPU_SAP(sap_cloud_voxels(b->host, given, &o, &expected));
    gpu_compared(b, 1, found->count != expected->count, "cells");
    clouds_check(b, found->coords, std::vector<float>(expected->coords, expected->coords + 3 * expected->count),
                 "means of cells");
    sap_thinned_free(found);
    sap_thinned_free(expected);
    free(points);
}

// With the normals that they need.
static void clouds_features(gpu_bench* b, clouds_stage* s) {
    const int64_t numbers = SAP_FEATURE_NUMBERS * clouds_points;
    std::vector<float> expected(numbers);
    float* features = (float*)gpu_memory(numbers * sizeof(float));
    sap_features_options o = {};
    o.k = CLOUDS_K;
    gpu_report(b, clouds_row("cloud-features", "surface", CLOUDS_K, 0),
               gpu_measure(b, [&] { GPU_SAP(sap_cloud_features(s->tree, &o, features)); }));
    GPU_SAP(sap_cloud_features(s->host, &o, expected.data()));
    clouds_check(b, features, expected, "features");
    GPU_CUDA(cudaFree(features));
}

// Farthest points of a cube; disks that hold about 30 of its points.
static void clouds_samples(gpu_bench* b, clouds_stage* s) {
    static const char* const works[] = {"cloud-farthest", "cloud-poisson"};
    for (int kind = SAP_SAMPLE_FARTHEST; kind <= SAP_SAMPLE_POISSON; kind++) {
        const bool is_poisson = kind == SAP_SAMPLE_POISSON;
        const sap_tree* const tree = is_poisson ? s->dense : s->thin;
        const int64_t points = is_poisson ? clouds_points : clouds_thin;
        std::vector<int32_t> expected(points);
        sap_sample_options o = {};
        int64_t count = 0, expected_count = 0;
        o.kind = (sap_sampling)kind;
        o.most = CLOUDS_MOST;
        o.radius = clouds_radius;
        gpu_row row = gpu_row_of(works[kind], "uniform", points, 3);
        row.target = is_poisson ? 0 : 15;
        gpu_report(b, row, gpu_measure(b, [&] { GPU_SAP(sap_cloud_sample(tree, &o, s->labels, &count)); }));
        GPU_SAP(sap_cloud_sample(is_poisson ? s->host_dense : s->host_thin, &o, expected.data(), &expected_count));
        gpu_compared(b, 1, count != expected_count, works[kind]);
        expected.resize(expected_count);
        clouds_check(b, s->labels, expected, works[kind]);
    }
}

// A step: what many take more than one does, over their number.
static void clouds_relax(gpu_bench* b, clouds_stage* s) {
    float* points = gpu_cloud_download(&s->surface);
    const sap_points given = {points, clouds_points, 3, 0};
    std::vector<float> expected(3 * clouds_points);
    sap_relax_options o = {};
    o.k = CLOUDS_K;
    o.is_free = true;
    const auto relax = [&](int steps) {
        o.steps = steps;
        return gpu_measure_on_host(
            b, 1, [&] { GPU_SAP(sap_cloud_relax(b->device, given, &o, s->floats, NULL, NULL)); }, [] {});
    };
    const gpu_times one = relax(1);
    GPU_SAP(sap_cloud_relax(b->host, given, &o, expected.data(), NULL, NULL));
    clouds_check(b, s->floats, expected, "points that relax");
    const gpu_times many = relax(1 + CLOUDS_STEPS);
    const gpu_times step = {(many.median - one.median) / CLOUDS_STEPS, (many.least - one.least) / CLOUDS_STEPS,
                            (many.most - one.most) / CLOUDS_STEPS};
    gpu_report(b, clouds_row("cloud-relax-step", "surface", CLOUDS_K, 1.7), step);
    free(points);
}

// Of 100,000 points given, 5,000: a step, as above.
static void clouds_project(gpu_bench* b, clouds_stage* s) {
    enum { GIVEN = 100000, KEPT = GIVEN / 20, FEW = 2, MANY = 22 };
    float* points = gpu_cloud_download(&s->surface);
    const sap_points given = {points, GIVEN, 3, 0};
    std::vector<float> expected(3 * KEPT);
    sap_project_options o = {};
    const auto project = [&](int steps) {
        o.steps = steps;
        return gpu_measure_on_host(
            b, 1, [&] { GPU_SAP(sap_cloud_project(b->device, given, &o, s->floats, NULL)); }, [] {});
    };
    const gpu_times few = project(FEW);
    GPU_SAP(sap_cloud_project(b->host, given, &o, expected.data(), NULL));
    clouds_check(b, s->floats, expected, "points that are projected");
    const gpu_times many = project(MANY);
    gpu_report(b, gpu_row_of("cloud-project-step", "surface", GIVEN, 3),
               gpu_times{(many.median - few.median) / (MANY - FEW), (many.least - few.least) / (MANY - FEW),
                         (many.most - few.most) / (MANY - FEW)});
    free(points);
}

// ---- Alignment: a step of it is what many steps take more than few do, over their number.

enum { ALIGN_SCAN = 100000, ALIGN_FEW = 2, ALIGN_MANY = 22 };

// Points turned by a degree and moved.
static sap_points clouds_moved(float* points) {
    const double motion[16] = {0.99984769, -0.01745241, 0, 0.004, 0.01745241, 0.99984769, 0, -0.003,
                               0,          0,           1, 0.002, 0,          0,          0, 1};
    const sap_points given = {points, ALIGN_SCAN, 3, 0};
    GPU_SAP(sap_transform_points(motion, given, points));
    return given;
}

// `there` and `here` align on the GPU and on the host.
template <typename one, typename other>
static void clouds_align_steps(gpu_bench* b, sap_align_options o, gpu_row row, one there, other here) {
    sap_alignment found, expected;
    o.tolerance = 1e-300; // all steps are done
    const auto align = [&](int steps) {
        o.iterations = steps;
        return gpu_measure_on_host(
            b, 1, [&] { GPU_SAP(there(&o, &found)); }, [] {});
    };
    const gpu_times few = align(ALIGN_FEW), many = align(ALIGN_MANY);
    GPU_SAP(here(&o, &expected));
    gpu_compared(b, 1, memcmp(found.transform, expected.transform, sizeof found.transform) != 0, row.work);
    const int steps = found.iterations - ALIGN_FEW;
    if (steps > 0)
        gpu_report(b, row,
                   gpu_times{(many.median - few.median) / steps, (many.least - few.least) / steps,
                             (many.most - few.most) / steps});
}

// Point to point, with as many others of the same surface: all pairs, and those of the overlap that is found.
static void clouds_align(gpu_bench* b) {
    gpu_cloud target = gpu_cloud_make(b, GPU_SURFACE, ALIGN_SCAN, 3, 3);
    gpu_cloud source = gpu_cloud_make(b, GPU_SURFACE, ALIGN_SCAN, 3, 4);
    float* moved = gpu_cloud_download(&source);
    const sap_points given = clouds_moved(moved);
    sap_tree* tree = NULL;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&target), NULL, &tree));
    GPU_SAP(sap_device_wait(b->device));
    sap_tree* host = gpu_host_tree(b, tree);
    for (int overlaps = 0; overlaps < 2; overlaps++) {
        sap_align_options o = {};
        gpu_row row = gpu_row_of(overlaps ? "cloud-align-overlap-step" : "cloud-align-step", "surface", ALIGN_SCAN, 3);
        row.target = overlaps ? 0 : 0.12;
        o.find_overlap = overlaps == 1;
        clouds_align_steps(
            b, o, row,
            [&](const sap_align_options* with, sap_alignment* found) {
                return sap_cloud_align(tree, given, with, found);
            },
            [&](const sap_align_options* with, sap_alignment* found) {
                return sap_cloud_align(host, given, with, found);
            });
    }
    sap_tree_free(tree);
    sap_tree_free(host);
    free(moved);
    gpu_cloud_free(&target);
    gpu_cloud_free(&source);
}

// Point to plane, the middles of the triangles of a torus onto it.
static void clouds_align_mesh(gpu_bench* b) {
    std::vector<float> vertices, points;
    std::vector<int32_t> triangles;
    const sap_mesh mesh = gpu_torus(300, &vertices, &triangles), there = gpu_mesh_upload(&mesh);
    for (int64_t i = 0; i < ALIGN_SCAN; i++)
        for (int a = 0; a < 3; a++) {
            float sum = 0;
            for (int corner = 0; corner < 3; corner++) sum += vertices[3 * triangles[3 * i + corner] + a];
            points.push_back(sum / 3);
        }
    const sap_points given = clouds_moved(points.data());
    sap_mesh_tree *tree = NULL, *host = NULL;
    GPU_SAP(sap_mesh_tree_build(b->device, there, NULL, &tree));
    GPU_SAP(sap_mesh_tree_copy(tree, b->host, &host));
    sap_align_options plane = {};
    plane.method = SAP_ALIGN_PLANE;
    clouds_align_steps(
        b, plane, gpu_row_of("cloud-align-mesh-step", "torus", ALIGN_SCAN, 3),
        [&](const sap_align_options* o, sap_alignment* found) { return sap_cloud_align_mesh(tree, given, o, found); },
        [&](const sap_align_options* o, sap_alignment* found) { return sap_cloud_align_mesh(host, given, o, found); });
    sap_mesh_tree_free(tree);
    sap_mesh_tree_free(host);
    gpu_mesh_free(&there);
}

// Without a start, with as many others of the same surface, turned by a third.
static void clouds_align_global(gpu_bench* b, const clouds_stage* s) {
    const double turn[16] = {0, 0, 1, 2, 1, 0, 0, -1, 0, 1, 0, 0.5, 0, 0, 0, 1};
    gpu_cloud source = gpu_cloud_make(b, GPU_SURFACE, clouds_points, 3, 5);
    float* moved = gpu_cloud_download(&source);
    const sap_points given = {moved, clouds_points, 3, 0};
    sap_global_motion found = {}, expected = {};
    GPU_SAP(sap_transform_points(turn, given, moved));
    gpu_report(b, clouds_row("cloud-align-global", "surface", 0, 0),
               gpu_measure_on_host(
                   b, 1, [&] { GPU_SAP(sap_cloud_align_global(s->tree, given, NULL, &found)); }, [] {}));
    GPU_SAP(sap_cloud_align_global(s->host, given, NULL, &expected));
    gpu_compared(b, 1, memcmp(&found, &expected, sizeof found) != 0 || !found.found, "starts");
    free(moved);
    gpu_cloud_free(&source);
}

void gpu_clouds(gpu_bench* b) {
    clouds_stage s = {};
    if (!gpu_wanted(b, "cloud", clouds_points)) return;
    s.surface = gpu_cloud_make(b, GPU_SURFACE, clouds_points, 3, 1);
    s.cube = gpu_cloud_make(b, GPU_UNIFORM, clouds_points, 3, 2);
    s.floats = (float*)gpu_memory(6 * clouds_points * sizeof(float));
    s.others = (float*)gpu_memory(clouds_points * sizeof(float));
    s.doubles = (double*)gpu_memory(clouds_points * sizeof(double));
    s.labels = (int32_t*)gpu_memory(clouds_points * sizeof(int32_t));
    s.bytes = (uint8_t*)gpu_memory(clouds_points);
    GPU_SAP(sap_tree_build(b->device, gpu_points(&s.surface), NULL, &s.tree));
    GPU_SAP(sap_tree_build(b->device, gpu_points(&s.cube), NULL, &s.dense));
    const sap_points cube = gpu_points(&s.cube);
    GPU_SAP(sap_tree_build(b->device, sap_points{cube.coords, clouds_thin, cube.dims, cube.stride}, NULL, &s.thin));
    GPU_SAP(sap_device_wait(b->device));
    s.host_thin = gpu_host_tree(b, s.thin);
    s.host = gpu_host_tree(b, s.tree);
    s.host_dense = gpu_host_tree(b, s.dense);
    clouds_normals(b, &s);
    clouds_balls(b, &s);
    clouds_density(b, &s);
    clouds_outliers(b, &s);
    clouds_clusters(b, &s);
    clouds_voxels(b, &s);
    clouds_features(b, &s);
    clouds_samples(b, &s);
    clouds_relax(b, &s);
    clouds_project(b, &s);
    clouds_align(b);
    clouds_align_mesh(b);
    clouds_align_global(b, &s);
    for (sap_tree* tree : {s.tree, s.host, s.dense, s.host_dense, s.thin, s.host_thin}) sap_tree_free(tree);
    for (void* array : {(void*)s.floats, (void*)s.others, (void*)s.doubles, (void*)s.labels, (void*)s.bytes})
        GPU_CUDA(cudaFree(array));
    gpu_cloud_free(&s.surface);
    gpu_cloud_free(&s.cube);
    sap_device_trim(b->device);
}
