// Clouds on CUDA devices: arrays on either side, several parts of rows, calls of CUDA that fail. That results are those of
// brute force is for test_cloud.c and the programs beside it.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "sapwood/align.h"
#include "sapwood/cloud.h"

enum {
    POINTS = 700,
    QUERIES = 50,
    FEW_FAULTS = 12,
    ALL_FAULTS = TEST_SANITIZED ? 20 : 80,
    MOST_FAULTS = 100000,
    ROOM = 6 * POINTS
};

// What a call writes; each call uses some of it.
typedef struct results {
    double doubles[ROOM], more[ROOM];
    float floats[ROOM], narrow[ROOM], features[SAP_FEATURE_NUMBERS * POINTS];
    int32_t ints[POINTS];
    uint8_t bytes[POINTS];
} results;

typedef struct stage {
    scene s;
    cloud points, queries, queries_there, wide;
    sap_tree *gpu[3], *cpu[3]; // balanced, explicit, balanced in double precision
    sap_mesh_tree *gpu_mesh, *cpu_mesh;
    float weights[POINTS], left_out[POINTS]; // the latter NaN for points that tree 0 has left out
    double times[POINTS];
    results host, expected, *there; // there: on the GPU
} stage;

static bool open_clouds(stage* t, void* stream) {
    memset(t, 0, sizeof *t);
    if (!open_scene(&t->s, stream)) return false;
    const sap_tree_options options[3] = {{.drop_duplicates = true}, {.split = SAP_SPLIT_SLIDING_MIDPOINT}, {0}};
    t->points = cloud_of_family(FAMILY_HALF_DUPLICATES, POINTS, 3, 32, 0, 1);
    t->wide = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 64, 0, 2);
    t->queries = cloud_of_family(FAMILY_UNIFORM, QUERIES, 3, 32, 0, 3);
    t->queries_there = cloud_on_gpu(&t->queries);
    for (int i = 0; i < 3; i++) {
        const cloud* points = i == 2 ? &t->wide : &t->points;
        CHECK_STATUS(build(t->s.gpu, points, &options[i], &t->gpu[i]), SAP_OK);
        CHECK_STATUS(build(t->s.cpu, points, &options[i], &t->cpu[i]), SAP_OK);
    }
    for (int i = 0; i < POINTS; i++) {
        t->weights[i] = (float)(i % 5) * 0.25f;
        t->times[i] = (double)(i % 11) - 2;
        t->left_out[i] = NAN;
    }
    static int32_t corners[3 * (POINTS - 2)];
    for (int i = 0; i < 3 * (POINTS - 2); i++) corners[i] = i / 3 + i % 3;
    const sap_mesh mesh = {
        .vertices = t->points.coords, .vertex_count = POINTS, .triangles = corners, .triangle_count = POINTS - 2};
    CHECK_STATUS(sap_mesh_tree_build(t->s.gpu, mesh, NULL, &t->gpu_mesh), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(t->s.cpu, mesh, NULL, &t->cpu_mesh), SAP_OK);
    sap_tree_node nodes[POINTS];
    sap_tree_info info;
    CHECK_STATUS(sap_tree_describe(t->cpu[0], &info), SAP_OK);
    CHECK_STATUS(sap_tree_nodes(t->cpu[0], nodes), SAP_OK);
    CHECK(info.count < POINTS);
    for (int64_t i = 0; i < info.count; i++) t->left_out[nodes[i].point] = t->weights[nodes[i].point];
    t->there = on_gpu(&t->host, sizeof *t->there); // calls write a part of it
    return true;
}

static void close_clouds(stage* t) {
    sap_mesh_tree_free(t->gpu_mesh);
    sap_mesh_tree_free(t->cpu_mesh);
    for (int i = 0; i < 3; i++) {
        sap_tree_free(t->gpu[i]);
        sap_tree_free(t->cpu[i]);
    }
    cuda_tools_release(t->there);
    cuda_tools_release(t->queries_there.coords);
    cloud_free(&t->points);
    cloud_free(&t->wide);
    cloud_free(&t->queries);
    close_scene(&t->s);
}

// ---- The calls: over trees[3], the queries and the results wherever they lie.

typedef struct given {
    stage* t;
    sap_tree** trees;
    sap_device* device;
    const cloud* queries;
    results* r;
} given;

static sap_status call_normals(const given* g) {
    const sap_normals_options o = {.k = 9, .orient = SAP_ORIENT_VIEW, .view = {3, -2, 9}};
    return sap_cloud_normals(g->trees[0], &o, g->r->floats, g->r->narrow);
}
static sap_status call_shapes(const given* g) {
    static const double views[] = {0, 0, -3, 5, 5, 5, 1, -7, 2}, times[] = {-1, 3, 8};
    const sap_normals_options o = {.radius = 0.2,
                                   .falloff = SAP_FALLOFF_BIWEIGHT,
                                   .weights = g->t->weights,
                                   .orient = SAP_ORIENT_PATH,
                                   .views = views,
                                   .view_count = 3,
                                   .view_times = times,
                                   .point_times = g->t->times};
    const sap_cloud_axes out = {.normals = g->r->floats,
                                .directions = g->r->floats + 3 * POINTS,
                                .covariances = g->r->narrow,
                                .counts = g->r->ints,
                                .kinds = g->r->bytes};
    return sap_cloud_shapes(g->trees[1], &o, &out);
}
static sap_status call_alike(const given* g) {
    return sap_cloud_normals(g->trees[0], &(sap_normals_options){.orient = SAP_ORIENT_CONSISTENT}, g->r->floats, NULL);
}
static sap_status call_wide_normals(const given* g) {
    return sap_cloud_normals(g->trees[2], &(sap_normals_options){.k = 60}, g->r->floats, NULL);
}
static sap_status call_covariances(const given* g) {
    return sap_cloud_covariances(g->trees[1], &(sap_normals_options){.k = 20}, g->r->narrow, g->r->floats);
}
static sap_status call_gather(const given* g) {
    const sap_gather_options o = {.k = 5, .attributes = g->t->weights, .attribute_count = 1};
    const sap_gathered out = {.counts = g->r->ints, .offsets = g->r->doubles, .attributes = g->r->more};
    return sap_gather(g->trees[0], cloud_f32(g->queries), &o, &out);
}
static sap_status call_gather_left_out(const given* g) {
    const sap_gather_options o = {
        .k = 5, .weights = g->t->left_out, .attributes = g->t->left_out, .attribute_count = 1};
    return sap_gather_self(g->trees[0], &o, &(sap_gathered){.weights = g->r->doubles, .attributes = g->r->more});
}
static sap_status call_gather_ball(const given* g) {
    const sap_gather_options o = {.radius = 0.3, .falloff = SAP_FALLOFF_BIWEIGHT};
    const sap_gathered out = {.weights = g->r->more, .products = g->r->doubles};
    return sap_gather(g->trees[1], cloud_f32(g->queries), &o, &out);
}
static sap_status call_gather_self(const given* g) {
    const sap_gather_options o = {.k = 3, .weights = g->t->weights};
    return sap_gather_self(g->trees[2], &o, &(sap_gathered){.weights = g->r->doubles, .offsets = g->r->more});
}
static sap_status call_counts(const given* g) {
    const sap_density_options o = {.kind = SAP_DENSITY_COUNT, .radius = 0.1};
    return sap_cloud_density(g->trees[0], &o, g->r->doubles);
}
static sap_status call_distances(const given* g) {
    const sap_density_options o = {.kind = SAP_DENSITY_DISTANCE, .k = 2};
    return sap_cloud_density(g->trees[1], &o, g->r->doubles);
}
static sap_status call_kernel(const given* g) {
    const sap_density_options o = {.kind = SAP_DENSITY_KERNEL, .radius = 0.2};
    return sap_cloud_density(g->trees[2], &o, g->r->doubles);
}
static sap_status call_outliers(const given* g) {
    return sap_cloud_outliers(g->trees[2], &(sap_outliers_options){.ratio = 0.5}, g->r->bytes, NULL);
}
static sap_status call_sparse(const given* g) {
    const sap_outliers_options o = {.kind = SAP_OUTLIERS_RADIUS, .k = 3, .radius = 0.05};
    return sap_cloud_outliers(g->trees[0], &o, g->r->bytes, NULL);
}
static sap_status call_clusters(const given* g) {
    int64_t count = -1;
    const sap_clusters_options o = {.radius = 0.06, .fewest = 4, .least = 5};
    const sap_status status = sap_cloud_clusters(g->trees[1], &o, g->r->ints, g->r->bytes, &count);
    CHECK((status == SAP_OK) == (count >= 0));
    return status;
}
static sap_status call_friends(const given* g) {
    int64_t count = -1;
    return sap_cloud_clusters(g->trees[0], &(sap_clusters_options){.radius = 0.05}, g->r->ints, NULL, &count);
}
static sap_status call_farthest(const given* g) {
    int64_t count = -1;
    const sap_sample_options o = {.most = 40, .start = 300};
    const sap_status status = sap_cloud_sample(g->trees[0], &o, g->r->ints, &count);
    CHECK(count == (status == SAP_OK ? 40 : -1));
    return status;
}
static sap_status call_poisson(const given* g) {
    int64_t count = -1;
    const sap_sample_options o = {.kind = SAP_SAMPLE_POISSON, .radius = 0.15, .seed = 5};
    const sap_status status = sap_cloud_sample(g->trees[1], &o, g->r->ints, &count);
    CHECK((status == SAP_OK) == (count > 0));
    return status;
}
static sap_status call_project(const given* g) {
    const sap_project_options o = {.count = 20, .radius = 0.4, .steps = 2, .by_density = true, .tolerance = 1e-9};
    return sap_cloud_project(g->device, cloud_f32(&g->t->points), &o, g->r->floats, NULL);
}

static sap_status call_relax(const given* g) {
    const sap_relax_options o = {.k = 8, .steps = 3, .more = 50, .tolerance = 1e-6};
    return sap_cloud_relax(g->device, cloud_f32(&g->t->points), &o, g->r->floats, g->r->narrow, NULL);
}

// What a call gives to the host goes to `doubles`.
static void keep(const given* g, const double* numbers, size_t bytes) {
    if (g->r == g->t->there)
        cuda_tools_copy(g->r->doubles, numbers, bytes);
    else
        memcpy(g->r->doubles, numbers, bytes);
}

// The queries onto the points, or onto triangles of them.
static sap_status align_by(const given* g, bool to_mesh, const sap_align_options* o) {
    const sap_mesh_tree* mesh = g->device == g->t->s.gpu ? g->t->gpu_mesh : g->t->cpu_mesh;
    const sap_points source = cloud_f32(&g->t->queries);
    sap_alignment found = {.rmse = -1};
    const sap_status status =
        to_mesh ? sap_cloud_align_mesh(mesh, source, o, &found) : sap_cloud_align(g->trees[1], source, o, &found);
    keep(g, found.transform, sizeof found.transform);
    CHECK((status == SAP_OK) == (found.rmse >= 0));
    return status;
}
static sap_status call_align(const given* g) {
    return align_by(g, false, &(sap_align_options){.method = SAP_ALIGN_POINT, .iterations = 4, .max_distance = 0.4});
}
static sap_status call_align_robust(const given* g) {
    const sap_align_options o = {.method = SAP_ALIGN_GENERALISED,
                                 .iterations = 3,
                                 .kernel = SAP_KERNEL_HUBER,
                                 .overlap = 0.8,
                                 .one_to_one = true};
    return align_by(g, false, &o);
}
static sap_status call_align_mesh(const given* g) {
    return align_by(g, true, &(sap_align_options){.method = SAP_ALIGN_PLANE, .iterations = 4, .levels = 2});
}
static sap_status call_align_mesh_robust(const given* g) {
    const sap_align_options o = {.method = SAP_ALIGN_GENERALISED,
                                 .iterations = 3,
                                 .kernel = SAP_KERNEL_TUKEY,
                                 .max_angle = 1.2,
                                 .max_distance = 0.4,
                                 .find_overlap = true,
                                 .one_to_one = true};
    return align_by(g, true, &o);
}

static sap_status call_features(const given* g) {
    return sap_cloud_features(g->trees[0], &(sap_features_options){.k = 12}, g->r->features);
}
static sap_status call_features_ball(const given* g) {
    static float normals[3 * POINTS]; // some are 0
    for (int i = 0; i < 3 * POINTS; i++) normals[i] = (float)(i / 3 % 9 ? i * 7 % 11 - 5 : 0);
    const sap_features_options o = {.radius = 0.2, .normals = normals, .is_oriented = true};
    return sap_cloud_features(g->trees[2], &o, g->r->features);
}
static sap_status call_global(const given* g) {
    sap_global_motion found = {.points = 0};
    const sap_status status = sap_cloud_align_global(g->trees[1], cloud_f32(g->queries), NULL, &found);
    CHECK(status != SAP_OK || found.points > 0);
    found.transform[15] = (double)found.matches;
    keep(g, found.transform, sizeof found.transform);
    return status;
}
static sap_status call_global_mesh(const given* g) {
    const sap_mesh_tree* mesh = g->device == g->t->s.gpu ? g->t->gpu_mesh : g->t->cpu_mesh;
    const sap_global_options o = {.most = 100};
    const sap_points some = {g->t->points.coords, 150, 3, 0};
    sap_global_motion found = {.points = 0};
    const sap_status status = sap_cloud_align_global_mesh(mesh, some, &o, &found);
    CHECK(status != SAP_OK || found.points > 0);
    found.transform[15] = (double)found.matches;
    keep(g, found.transform, sizeof found.transform);
    return status;
}
static sap_status call_align_many(const given* g) {
    const sap_points clouds[2] = {cloud_f32(&g->t->points), cloud_f32(&g->t->queries)};
    const sap_many_options o = {.align = {.iterations = 3}};
    double transforms[32] = {0};
    const sap_status status = sap_cloud_align_many(g->device, clouds, 2, &o, transforms, NULL, NULL);
    keep(g, transforms, sizeof transforms);
    return status;
}

typedef struct call {
    const char* name;
    sap_status (*run)(const given* g);
} call;

static const call calls[] = {{"normals", call_normals},
                             {"shapes", call_shapes},
                             {"normals as their neighbours'", call_alike},
                             {"normals in double precision", call_wide_normals},
                             {"covariances", call_covariances},
                             {"gather", call_gather},
                             {"gather what belongs to points left out", call_gather_left_out},
                             {"gather in a ball", call_gather_ball},
                             {"gather, self", call_gather_self},
                             {"counts", call_counts},
                             {"distances", call_distances},
                             {"kernel", call_kernel},
                             {"outliers", call_outliers},
                             {"outliers by a radius", call_sparse},
                             {"clusters", call_clusters},
                             {"friends of friends", call_friends},
                             {"farthest points", call_farthest},
                             {"Poisson disks", call_poisson},
                             {"relax", call_relax},
                             {"project", call_project},
                             {"align", call_align},
                             {"align by chosen pairs", call_align_robust},
                             {"align with a mesh", call_align_mesh},
                             {"align with a mesh by chosen pairs", call_align_mesh_robust},
                             {"features", call_features},
                             {"features in a ball, of normals given", call_features_ball},
                             {"align without a start", call_global},
                             {"align with a mesh without a start", call_global_mesh},
                             {"align two clouds at once", call_align_many}};

enum { CALLS = sizeof calls / sizeof *calls };

// Of which many points are made of a mesh: only the first calls of CUDA are made to fail.
static bool is_long(int i) { return calls[i].run == call_global_mesh; }

static sap_status run_there(stage* t, int i, bool there) {
    return calls[i].run(
        &(given){t, t->gpu, t->s.gpu, there ? &t->queries_there : &t->queries, there ? t->there : &t->host});
}

static void expect(stage* t, int i) {
    memset(&t->expected, 0x11, sizeof t->expected);
    CHECK_STATUS(calls[i].run(&(given){t, t->cpu, t->s.cpu, &t->queries, &t->expected}), SAP_OK);
}

TEST(arrays_on_either_side) {
    static stage t;
    for (int there = 0; there < 3; there++) {
        if (!open_clouds(&t, there == 2 ? cuda_tools_stream() : NULL)) SKIP("there is no NVIDIA GPU");
        for (int i = 0; i < CALLS; i++) {
            if (is_long(i) && there) continue;
            NOTE("%s, %d", calls[i].name, there);
            expect(&t, i);
            memset(&t.host, 0x11, sizeof t.host);
            if (there) cuda_tools_copy(t.there, &t.host, sizeof t.host);
            CHECK_STATUS(run_there(&t, i, there), SAP_OK);
            CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_OK);
            if (there) cuda_tools_copy(&t.host, t.there, sizeof t.host);
            CHECK(!memcmp(&t.host, &t.expected, sizeof t.host));
        }
        close_clouds(&t);
    }
}

// Each of the first calls of CUDA fails, then of many calls every so many; and the call succeeds when nothing fails.
TEST(refused_calls_say_so) {
    static stage t;
    const unsigned kinds[2] = {1u << CUDA_TOOLS_ALLOCATE,
                               1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL | 1u << CUDA_TOOLS_LAUNCH};
    if (!open_clouds(&t, NULL)) SKIP("there is no NVIDIA GPU");
    for (int i = 0; i < CALLS; i++) {
        for (int kind = 0; kind < 2; kind++)
            for (int n = 1; CHECK(n < MOST_FAULTS) && !(is_long(i) && n > FEW_FAULTS); n += n < ALL_FAULTS ? 1 : n) {
                NOTE("%s, fault %d of kinds %x", calls[i].name, n, kinds[kind]);
                sap_device_trim(t.s.gpu);
                fail_calls(kinds[kind], n, kind == 0, CUDA_TOOLS_NO_MEMORY);
                const sap_status status = run_there(&t, i, false);
                const bool failed = cuda_tools.failed;
                cuda_tools_reset();
                if (!failed) CHECK_STATUS(status, SAP_OK);
                if (failed) CHECK(status == SAP_ERROR_DEVICE_MEMORY || status == SAP_ERROR_MEMORY);
                if (!failed) break;
            }
        expect(&t, i);
        memset(&t.host, 0x11, sizeof t.host);
        CHECK_STATUS(run_there(&t, i, false), SAP_OK);
        CHECK(!memcmp(&t.host, &t.expected, sizeof t.host));
    }
    close_clouds(&t);
}

TEST(lost_gpus) {
    static stage t;
    for (int i = 0; i < CALLS; i++) {
        if (!open_clouds(&t, NULL)) SKIP("there is no NVIDIA GPU");
        NOTE("%s", calls[i].name);
        lose_gpu(1 + i % 4);
        CHECK_STATUS(run_there(&t, i, false), SAP_ERROR_DEVICE_LOST);
        CHECK_STATUS(run_there(&t, i, false), SAP_ERROR_DEVICE_LOST);
        close_clouds(&t);
    }
}

// Trees that were built in the caller's stream of points that are not finite answer as empty ones.
TEST(trees_that_were_not_built) {
    static stage t;
    if (!open_clouds(&t, cuda_tools_stream())) SKIP("there is no NVIDIA GPU");
    cloud_set(&t.points, 5, 1, (double)NAN);
    cloud there = cloud_on_gpu(&t.points);
    sap_tree* tree = NULL;
    int64_t count = -1;
    CHECK_STATUS(build(t.s.gpu, &there, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_normals(tree, NULL, t.there->floats, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_normals(tree, &(sap_normals_options){.radius = 1}, t.there->narrow, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_clusters(tree, &(sap_clusters_options){.radius = 1}, t.there->ints, NULL, &count), SAP_OK);
    CHECK_EQUAL(count, 0);
    for (int kind = 0; kind < 2; kind++) {
        const sap_sample_options o = {.kind = (sap_sampling)kind, .most = 5, .radius = 1};
        CHECK_STATUS(sap_cloud_sample(tree, &o, t.there->ints, &count), SAP_OK);
        CHECK_EQUAL(count, 0);
    }
    CHECK_STATUS(call_alike(&(given){&t, &tree, t.s.gpu, NULL, &t.host}), SAP_OK);
    for (int i = 0; i < 3 * POINTS; i++) CHECK(t.host.floats[i] == 0);
    CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_ERROR_NOT_FINITE);
    sap_alignment found;
    CHECK_STATUS(sap_cloud_align(t.gpu[0], cloud_f32(&there), NULL, &found), SAP_ERROR_NOT_FINITE);
    cuda_tools_copy(&t.host, t.there, sizeof t.host);
    for (int i = 0; i < 3 * POINTS; i++) CHECK(t.host.floats[i] == 0 && t.host.narrow[i] == 0);
    for (int i = 0; i < POINTS; i++) CHECK_EQUAL(t.host.ints[i], -1);
    sap_tree_free(tree);
    cuda_tools_release(there.coords);
    close_clouds(&t);
}

#else
TEST(clouds_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
