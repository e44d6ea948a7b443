// Every allocation of every public function is refused in turn: the call says so, nothing leaks, outputs stay as they
// were, and the device and its trees go on working.
#include "allocator.h"
#include "calls.h"
#include "folder.h"
#include "sapwood/align.h"
#include "sapwood/cloud.h"
#include "test.h"
#include <math.h>

enum { POINTS = 3000, FEW = 40, MORE = 5000 };

typedef struct scene {
    watch w;
    sap_device* device;
    cloud points, few, more;
    sap_tree *tree, *small; // small: of the few points
    sap_tree_options options;
    folder files;
    int32_t* ids;
    void* distance2;
    int64_t* counts;
    sap_tree_node* nodes;
} scene;

static void open_scene(scene* s, int32_t real_bits, sap_split split) {
    memset(s, 0, sizeof *s);
    sap_device_options options = watched(&s->w);
    options.threads = 2;
    s->options = (sap_tree_options){.split = split};
    s->points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, real_bits, 0, 1);
    s->few = cloud_of_family(FAMILY_UNIFORM, FEW, 3, real_bits, 0, 2);
    s->more = cloud_of_family(FAMILY_HALF_DUPLICATES, MORE, 3, real_bits, 0, 3);
    CHECK(folder_make(&s->files));
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    CHECK_STATUS(build(s->device, &s->points, &s->options, &s->tree), SAP_OK);
    CHECK_STATUS(build(s->device, &s->few, &s->options, &s->small), SAP_OK);
    CHECK_STATUS(sap_tree_save(s->tree, s->files.file), SAP_OK);
    s->ids = malloc(POINTS * 40 * sizeof *s->ids);
    s->distance2 = malloc(POINTS * 40 * sizeof(double));
    s->counts = malloc(POINTS * sizeof *s->counts);
    s->nodes = malloc(POINTS * sizeof *s->nodes);
}

static void close_scene(scene* s) {
    free(s->ids);
    free(s->distance2);
    free(s->counts);
    free(s->nodes);
    sap_tree_free(s->tree);
    sap_tree_free(s->small);
    sap_device_close(s->device);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.bytes, 0);
    CHECK_EQUAL(s->w.wrong, 0);
    folder_remove(&s->files);
    cloud_free(&s->points);
    cloud_free(&s->few);
    cloud_free(&s->more);
}

// A public function called once; what it made is freed. On failure its outputs must be untouched.
typedef sap_status (*action)(scene* s);

static sap_status keep_or_free_tree(sap_status status, sap_tree* tree) {
    CHECK((status == SAP_OK) == (tree != NULL));
    sap_tree_free(tree);
    return status;
}

static sap_status keep_or_free_rows(sap_status status, sap_neighbors* found) {
    CHECK((status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

static sap_status open_device(scene* s) {
    sap_device* device = NULL;
    sap_device_options options = watched(&s->w);
    sap_status status = sap_device_open(&options, &device);
    CHECK((status == SAP_OK) == (device != NULL));
    sap_device_close(device);
    return status;
}

static sap_status build_tree(scene* s) {
    sap_tree* tree = NULL;
    sap_status status = build(s->device, &s->points, &s->options, &tree);
    return keep_or_free_tree(status, tree);
}

static sap_status build_without_duplicates(scene* s) {
    sap_tree* tree = NULL;
    sap_tree_options options = s->options;
    options.drop_duplicates = true;
    sap_status status = build(s->device, &s->more, &options, &tree);
    return keep_or_free_tree(status, tree);
}

static sap_status build_over_finite(scene* s) {
    sap_tree* tree = NULL;
    sap_tree_options options = s->options;
    options.drop_nonfinite = true;
    const double first = cloud_get(&s->more, 7, 0);
    cloud_set(&s->more, 7, 0, NAN);
    sap_status status = build(s->device, &s->more, &options, &tree);
    cloud_set(&s->more, 7, 0, first);
    return keep_or_free_tree(status, tree);
}

static sap_status rebuild_larger(scene* s) {
    sap_tree* fresh = NULL;
    sap_tree_info info;
    s->w.paused = true;
    CHECK_STATUS(sap_tree_copy(s->small, s->device, &fresh), SAP_OK);
    sap_device_trim(s->device);
    s->w.paused = false;
    sap_status status = rebuild(fresh, &s->more);
    s->w.paused = true;
    CHECK_STATUS(sap_tree_describe(fresh, &info), SAP_OK);
    CHECK_EQUAL(info.count, status == SAP_OK ? MORE : FEW);
    CHECK_STATUS(sap_tree_verify(fresh), SAP_OK);
    s->w.paused = false;
    sap_tree_free(fresh);
    return status;
}

static sap_status copy_tree(scene* s) {
    sap_tree* tree = NULL;
    sap_status status = sap_tree_copy(s->tree, s->device, &tree);
    return keep_or_free_tree(status, tree);
}

static sap_status verify_tree(scene* s) { return sap_tree_verify(s->tree); }

static sap_status save_tree(scene* s) {
    sap_status status = sap_tree_save(s->tree, s->files.file);
    CHECK_EQUAL(folder_count(&s->files, false), 1);
    return status;
}

static sap_status load_tree(scene* s) {
    sap_tree* tree = NULL;
    sap_status status = sap_tree_load(s->device, s->files.file, NULL, &tree);
    return keep_or_free_tree(status, tree);
}

static sap_status export_nodes(scene* s) {
    memset(s->nodes, 0x11, POINTS * sizeof *s->nodes);
    sap_status status = sap_tree_nodes(s->tree, s->nodes);
    CHECK(status == SAP_OK || (s->nodes[0].point == 0x11111111 && s->nodes[POINTS - 1].point == 0x11111111));
    return status;
}

static sap_status ask(scene* s, const cloud* queries, sap_search search) {
    memset(s->ids, 0x11, (size_t)queries->count * (size_t)search.k * sizeof *s->ids);
    sap_status status = nearest(s->tree, queries, &search, s->ids, s->distance2);
    for (int64_t i = 0; status != SAP_OK && i < queries->count * search.k; i++) CHECK_EQUAL(s->ids[i], 0x11111111);
    return status;
}

static sap_status search_nearest(scene* s) { return ask(s, &s->points, (sap_search){.k = 5}); }
static sap_status search_first(scene* s) { return ask(s, &s->points, (sap_search){.k = 1}); }
static sap_status search_many(scene* s) { return ask(s, &s->few, (sap_search){.k = 2000}); }
static sap_status search_ordered(scene* s) { return ask(s, &s->points, (sap_search){.k = 40, .ordered = true}); }
static sap_status search_stack(scene* s) { return ask(s, &s->few, (sap_search){.k = 300, .walk = SAP_WALK_STACK}); }
static sap_status search_stackless(scene* s) {
    bool balanced = s->options.split == SAP_SPLIT_MEDIAN;
    return ask(s, &s->few, (sap_search){.k = 300, .walk = balanced ? SAP_WALK_STACKLESS : SAP_WALK_STACK});
}

// What the shared text answers, and what vectors answer, without ids.
static sap_status search_weighted(scene* s) {
    return ask(s, &s->few, (sap_search){.k = 600, .metric = SAP_METRIC_L1, .weights = (double[]){1, 2, 3}});
}
static sap_status search_distances(scene* s) {
    const sap_search search = {.k = 40, .metric = SAP_METRIC_LINF};
    memset(s->distance2, 0x11, FEW * 40 * sizeof(double));
    sap_status status = nearest(s->tree, &s->few, &search, NULL, s->distance2);
    CHECK(status == SAP_OK || *(int32_t*)s->distance2 == 0x11111111);
    return status;
}

static sap_status search_self(scene* s) {
    sap_search search = {.k = 3};
    memset(s->ids, 0x11, POINTS * 3 * sizeof *s->ids);
    sap_status status = nearest_self(s->tree, s->points.real_bits, &search, s->ids, s->distance2);
    CHECK(status == SAP_OK || (s->ids[0] == 0x11111111 && s->ids[POINTS * 3 - 1] == 0x11111111));
    return status;
}

static sap_status count_within(scene* s) {
    memset(s->counts, 0x11, POINTS * sizeof *s->counts);
    sap_status status = radius_count(s->tree, &s->points, 0.1, s->counts);
    CHECK(status == SAP_OK || (s->counts[0] == 0x1111111111111111 && s->counts[POINTS - 1] == 0x1111111111111111));
    return status;
}

static sap_status collect_within(scene* s) {
    sap_neighbors* found = NULL;
    sap_status status = radius_collect(s->tree, &s->points, 0.1, &found);
    return keep_or_free_rows(status, found);
}

// In the memory of `nearest`; offsets in that of the counts.
static sap_status collect_into(scene* s) {
    memset(s->ids, 0x11, 2 * sizeof *s->ids);
    memset(s->counts, 0x11, (FEW + 1) * sizeof *s->counts);
    sap_status status = radius_into(s->tree, &s->few, 0.1, 2, s->counts, s->ids, s->distance2);
    CHECK(status == SAP_OK || (s->ids[0] == 0x11111111 && s->counts[0] == 0x1111111111111111));
    return status;
}

static sap_status count_into(scene* s) {
    memset(s->counts, 0x11, (FEW + 1) * sizeof *s->counts);
    sap_status status = radius_into(s->tree, &s->few, 0.1, 0, s->counts, NULL, NULL);
    CHECK(status == SAP_OK || (s->counts[0] == 0x1111111111111111 && s->counts[FEW] == 0x1111111111111111));
    return status;
}

static sap_status collect_everything(scene* s) {
    sap_neighbors* found = NULL;
    sap_status status = radius_collect(s->tree, &s->few, INFINITY, &found);
    return keep_or_free_rows(status, found);
}

// From each point to the next.
static sap_status count_in_boxes(scene* s) {
    const cloud lower = cloud_part(&s->points, 0, POINTS - 1), upper = cloud_part(&s->points, 1, POINTS - 1);
    memset(s->counts, 0x11, POINTS * sizeof *s->counts);
    sap_status status = box_count(s->tree, &lower, &upper, s->counts);
    CHECK(status == SAP_OK || (s->counts[0] == 0x1111111111111111 && s->counts[POINTS - 2] == 0x1111111111111111));
    return status;
}

static sap_status collect_in_boxes(scene* s) {
    const cloud lower = cloud_part(&s->points, 0, POINTS - 1), upper = cloud_part(&s->points, 1, POINTS - 1);
    sap_neighbors* found = NULL;
    sap_status status = box_search(s->tree, &lower, &upper, &found);
    return keep_or_free_rows(status, found);
}

static sap_status boxes_into(scene* s) {
    const cloud lower = cloud_part(&s->few, 0, FEW - 1), upper = cloud_part(&s->few, 1, FEW - 1);
    memset(s->ids, 0x11, 2 * sizeof *s->ids);
    memset(s->counts, 0x11, FEW * sizeof *s->counts);
    sap_status status = box_search_into(s->tree, &lower, &upper, 2, s->counts, s->ids);
    CHECK(status == SAP_OK || (s->ids[0] == 0x11111111 && s->counts[0] == 0x1111111111111111));
    return status;
}

// The nearest few within a radius: all hits, then sorted.
static sap_status collect_few(scene* s) {
    const sap_search search = {.k = 3, .radius = 0.3, .metric = SAP_METRIC_L1};
    sap_neighbors* found = NULL;
    sap_status status = radius_search(s->tree, &s->few, &search, &found);
    return keep_or_free_rows(status, found);
}

static sap_status collect_pairs(scene* s) {
    sap_neighbors* found = NULL;
    sap_status status = sap_pairs(s->tree, 0.05, &found);
    return keep_or_free_rows(status, found);
}

static sap_status pairs_of_trees(scene* s) {
    sap_neighbors* found = NULL;
    sap_status status = sap_tree_pairs(s->small, s->tree, 0.1, &found);
    return keep_or_free_rows(status, found);
}

static sap_status nearest_of_tree(scene* s) {
    const sap_search search = {.k = 40};
    memset(s->ids, 0x11, (size_t)FEW * 40 * sizeof *s->ids);
    sap_status status = s->points.real_bits == 64
                            ? sap_tree_nearest_f64(s->small, s->tree, &search, s->ids, s->distance2)
                            : sap_tree_nearest(s->small, s->tree, &search, s->ids, s->distance2);
    CHECK(status == SAP_OK || (s->ids[0] == 0x11111111 && s->ids[FEW * 40 - 1] == 0x11111111));
    return status;
}

static sap_status count_of_trees(scene* s, const double* weights) {
    static const double radii[] = {0.05, 0.1, 1};
    double counts[3] = {-9, -9, -9};
    sap_status status = sap_tree_count_pairs(s->small, s->tree, radii, 3, NULL, weights, true, counts);
    CHECK(status == SAP_OK ? counts[0] >= 0 : counts[0] == -9 && counts[2] == -9);
    return status;
}

static sap_status count_pairs(scene* s) { return count_of_trees(s, NULL); }

static sap_status weigh_pairs(scene* s) {
    memset(s->distance2, 0, POINTS * sizeof(double));
    return count_of_trees(s, s->distance2);
}

// Results of clouds are unspecified where memory runs out.
static sap_status normals_of_many(scene* s) {
    const sap_normals_options options = {.k = 40, .orient = SAP_ORIENT_CONSISTENT};
    return sap_cloud_normals(s->tree, &options, s->distance2, NULL);
}

static sap_status covariances_within(scene* s) {
    return sap_cloud_covariances(s->tree, &(sap_normals_options){.radius = 2}, s->distance2, NULL);
}

static sap_status gather(scene* s) {
    const sap_gather_options options = {.k = 40};
    const sap_gathered sums = {.counts = s->ids};
    return s->points.real_bits == 64 ? sap_gather_f64(s->tree, cloud_f64(&s->points), &options, &sums)
                                     : sap_gather(s->tree, cloud_f32(&s->points), &options, &sums);
}

static sap_status distances(scene* s) {
    sap_distance_info info;
    return s->points.real_bits == 64 ? sap_cloud_distance_f64(s->tree, cloud_f64(&s->points), NULL, NULL, &info)
                                     : sap_cloud_distance(s->tree, cloud_f32(&s->points), NULL, NULL, &info);
}

static sap_status alignment(scene* s) {
    const sap_align_options options = {.method = SAP_ALIGN_GENERALISED,
                                       .find_overlap = true,
                                       .one_to_one = true,
                                       .kernel = SAP_KERNEL_TUKEY,
                                       .iterations = 2};
    sap_alignment found;
    return s->points.real_bits == 64 ? sap_cloud_align_f64(s->tree, cloud_f64(&s->points), &options, &found)
                                     : sap_cloud_align(s->tree, cloud_f32(&s->points), &options, &found);
}

static sap_status global_alignment(scene* s) {
    const sap_global_options options = {.most = 200};
    sap_global_motion found;
    return s->points.real_bits == 64 ? sap_cloud_align_global_f64(s->tree, cloud_f64(&s->points), &options, &found)
                                     : sap_cloud_align_global(s->tree, cloud_f32(&s->points), &options, &found);
}

static sap_status many_alignments(scene* s) {
    if (s->points.real_bits == 64) return SAP_OK; // floats alone
    const sap_points clouds[2] = {cloud_f32(&s->points), cloud_f32(&s->points)};
    const sap_many_options options = {.align = {.method = SAP_ALIGN_PLANE, .iterations = 2}};
    double transforms[32];
    return sap_cloud_align_many(s->device, clouds, 2, &options, transforms, NULL, NULL);
}

static sap_status features(scene* s) {
    float* found = malloc(sizeof(float) * SAP_FEATURE_NUMBERS * POINTS);
    const sap_status status = sap_cloud_features(s->tree, NULL, found);
    free(found);
    return status;
}

static sap_status comparison(scene* s) {
    sap_comparison found;
    return sap_cloud_compare(s->tree, s->small, NULL, NULL, NULL, &found);
}

static sap_status relaxing(scene* s) {
    if (s->points.real_bits == 64) return SAP_OK; // floats alone relax
    const sap_relax_options options = {.steps = 2, .more = 100, .tolerance = 1e-6};
    float* moved = malloc(sizeof(float) * 3 * (POINTS + 100));
    const sap_status status = sap_cloud_relax(s->device, cloud_f32(&s->points), &options, moved, NULL, NULL);
    free(moved);
    return status;
}

static sap_status projecting(scene* s) {
    if (s->points.real_bits == 64) return SAP_OK; // floats alone are projected
    const sap_project_options options = {.count = 100, .steps = 2, .by_density = true, .to_median = true};
    float made[300];
    return sap_cloud_project(s->device, cloud_f32(&s->points), &options, made, NULL);
}

static sap_status densities(scene* s) {
    return sap_cloud_density(s->tree, &(sap_density_options){.kind = SAP_DENSITY_KERNEL, .radius = 2}, s->distance2);
}

static sap_status outliers(scene* s) { return sap_cloud_outliers(s->tree, NULL, (uint8_t*)s->ids, NULL); }

static sap_status clusters(scene* s) {
    int64_t count = 0;
    return sap_cloud_clusters(s->tree, &(sap_clusters_options){.radius = 0.1, .fewest = 4}, s->ids, NULL, &count);
}

static sap_status sample_farthest(scene* s) {
    int64_t count = 0;
    return sap_cloud_sample(s->tree, &(sap_sample_options){.most = 20}, s->ids, &count);
}

static sap_status sample_disks(scene* s) {
    int64_t count = 0;
    const sap_sample_options options = {.kind = SAP_SAMPLE_POISSON, .radius = 2};
    return sap_cloud_sample(s->tree, &options, s->ids, &count);
}

static sap_status sort_rows(scene* s) {
    sap_neighbors* found = NULL;
    s->w.paused = true;
    CHECK_STATUS(radius_collect(s->tree, &s->few, INFINITY, &found), SAP_OK);
    sap_device_trim(s->device);
    s->w.paused = false;
    sap_status status = sap_neighbors_sort(found);
    sap_neighbors_free(found);
    return status;
}

static const struct {
    const char* name;
    action run;
} actions[] = {
    {"device_open", open_device},
    {"tree_build", build_tree},
    {"drop_duplicates", build_without_duplicates},
    {"drop_nonfinite", build_over_finite},
    {"tree_rebuild", rebuild_larger},
    {"tree_copy", copy_tree},
    {"tree_verify", verify_tree},
    {"tree_save", save_tree},
    {"tree_load", load_tree},
    {"tree_nodes", export_nodes},
    {"nearest k 5", search_nearest},
    {"nearest k 1", search_first},
    {"nearest k 2000", search_many},
    {"nearest ordered", search_ordered},
    {"nearest stack", search_stack},
    {"nearest stackless", search_stackless},
    {"nearest weighted", search_weighted},
    {"nearest distances", search_distances},
    {"nearest_self", search_self},
    {"radius_count", count_within},
    {"radius", collect_within},
    {"radius all", collect_everything},
    {"radius_search k 3", collect_few},
    {"radius_into", collect_into},
    {"radius_into, counting", count_into},
    {"box_count", count_in_boxes},
    {"box_search", collect_in_boxes},
    {"box_search_into", boxes_into},
    {"pairs", collect_pairs},
    {"tree_pairs", pairs_of_trees},
    {"tree_nearest", nearest_of_tree},
    {"tree_count_pairs", count_pairs},
    {"tree_count_pairs, weights", weigh_pairs},
    {"cloud_normals", normals_of_many},
    {"cloud_covariances", covariances_within},
    {"gather", gather},
    {"cloud_relax", relaxing},
    {"cloud_project", projecting},
    {"cloud_distance", distances},
    {"cloud_compare", comparison},
    {"cloud_density", densities},
    {"cloud_outliers", outliers},
    {"cloud_clusters", clusters},
    {"cloud_align", alignment},
    {"cloud_align_global", global_alignment},
    {"cloud_features", features},
    {"cloud_align_many", many_alignments},
    {"cloud_sample", sample_farthest},
    {"cloud_sample, disks", sample_disks},
    {"neighbors_sort", sort_rows},
};

// Refuses request after request until the call needs no more of them.
static int64_t refuse_each(scene* s, action run, const char* name, bool all_after) {
    int64_t refusals = 0;
    for (int64_t n = 1; n < 10000; n++) {
        NOTE("%s f%d split %d: request %d refused%s", name, s->points.real_bits, (int)s->options.split, (int)n,
             all_after ? " and all later ones" : "");
        sap_device_trim(s->device);
        int64_t blocks = s->w.blocks, bytes = s->w.bytes;
        s->w.requests = 0;
        s->w.fail_from = n;
        s->w.fail_all_after = all_after;
        s->w.log_calls = 0;
        sap_status status = run(s);
        bool reached = s->w.requests >= n;
        s->w.fail_from = 0;
        sap_device_trim(s->device);
        CHECK_EQUAL(s->w.blocks, blocks);
        CHECK_EQUAL(s->w.bytes, bytes);
        if (!reached) {
            CHECK_STATUS(status, SAP_OK);
            return refusals;
        }
        if (status != SAP_OK) {
            CHECK_STATUS(status, SAP_ERROR_MEMORY);
            CHECK_EQUAL(s->w.log_calls, 1);
        }
        refusals++;
        CHECK_STATUS(run(s), SAP_OK);
    }
    CHECK_EQUAL(refusals, 0); // the call never came to an end of its requests
    return refusals;
}

static void refuse_everything(int32_t real_bits, sap_split split) {
    scene s;
    int64_t refusals = 0;
    open_scene(&s, real_bits, split);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        refusals += refuse_each(&s, actions[i].run, actions[i].name, false);
        refusals += refuse_each(&s, actions[i].run, actions[i].name, true);
    }
    NOTE("%s", "");
    CHECK(refusals > 40);
    CHECK_STATUS(sap_tree_verify(s.tree), SAP_OK);
    close_scene(&s);
}

TEST(balanced_f32) { refuse_everything(32, SAP_SPLIT_MEDIAN); }
TEST(balanced_f64) { refuse_everything(64, SAP_SPLIT_MEDIAN); }
TEST(sliding_f32) { refuse_everything(32, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(sliding_f64) { refuse_everything(64, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(vvh_f32) { refuse_everything(32, SAP_SPLIT_VVH); }

// One query a call asks for no memory, not even the first time.
TEST(single_queries_allocate_nothing) {
    static const int32_t ks[] = {1, 5, 8, 16, 32, 33, 40, 512};
    for (int kind = 0; kind < 4; kind++) {
        scene s;
        open_scene(&s, kind % 2 ? 64 : 32, (sap_split)(kind / 2));
        cloud one = cloud_part(&s.points, 7, 1);
        sap_device_trim(s.device);
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            for (int walk = SAP_WALK_AUTO; walk <= SAP_WALK_STACKLESS - kind / 2; walk++) {
                NOTE("kind %d k %d walk %d", kind, ks[i], walk);
                int64_t requests = s.w.requests;
                const sap_search search = {.k = ks[i], .walk = (sap_walk)walk};
                CHECK_STATUS(ask(&s, &one, search), SAP_OK);
                CHECK_STATUS(nearest(s.tree, &one, &search, s.ids, NULL), SAP_OK);
                CHECK_STATUS(radius_count(s.tree, &one, 0.1, s.counts), SAP_OK);
                CHECK_STATUS(box_count(s.tree, &one, &one, s.counts), SAP_OK);
                CHECK_EQUAL(s.w.requests, requests);
            }
        }
        close_scene(&s);
    }
}

// Rebuilding with no more points than before asks for no memory once the device has its scratch.
TEST(rebuilding_allocates_nothing) {
    for (int kind = 0; kind < 8; kind++) {
        scene s;
        open_scene(&s, kind % 2 ? 64 : 32, (sap_split)(kind / 2 % 2));
        sap_tree* tree = NULL;
        s.options.drop_duplicates = kind / 4;
        CHECK_STATUS(build(s.device, &s.more, &s.options, &tree), SAP_OK);
        CHECK_STATUS(rebuild(tree, &s.more), SAP_OK);
        int64_t requests = s.w.requests;
        for (int i = 0; i < 3; i++) {
            NOTE("kind %d time %d", kind, i);
            cloud part = cloud_part(&s.more, 0, i ? MORE : MORE / 2);
            CHECK_STATUS(rebuild(tree, &part), SAP_OK);
            CHECK_EQUAL(s.w.requests, requests);
            CHECK_STATUS(rebuild(tree, &s.few), SAP_OK);
            CHECK_EQUAL(s.w.requests, requests);
        }
        sap_tree_free(tree);
        close_scene(&s);
    }
}

// A batch call into a warm device asks for no memory either.
TEST(warm_batches_allocate_nothing) {
    scene s;
    open_scene(&s, 32, SAP_SPLIT_MEDIAN);
    CHECK_STATUS(search_nearest(&s), SAP_OK);
    CHECK_STATUS(count_within(&s), SAP_OK);
    CHECK_STATUS(count_in_boxes(&s), SAP_OK);
    int64_t requests = s.w.requests;
    CHECK_STATUS(search_nearest(&s), SAP_OK);
    CHECK_STATUS(count_within(&s), SAP_OK);
    CHECK_STATUS(count_in_boxes(&s), SAP_OK);
    CHECK_EQUAL(s.w.requests, requests);
    close_scene(&s);
}

TEST_MAIN()
