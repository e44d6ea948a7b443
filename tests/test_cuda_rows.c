// Rows of neighbours on a GPU: where they lie, and rows into the caller's memory on either side.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"

enum { POINTS = 2000, QUERIES = 150 };

// Rows lie where their queries lay.
static void expect_rows_there(const sap_neighbors* here, const sap_neighbors* there) {
    const size_t all = (size_t)here->offsets[here->count];
    int64_t* offsets = malloc((size_t)(here->count + 1) * sizeof *offsets);
    int32_t* ids = malloc(all * sizeof *ids + 1);
    float* distance2 = malloc(all * sizeof *distance2 + 1);
    CHECK(!here->on_device && there->on_device && there->count == here->count && there->distance2_f64 == NULL);
    cuda_tools_copy(offsets, there->offsets, (size_t)(here->count + 1) * sizeof *offsets);
    if (CHECK(!memcmp(offsets, here->offsets, (size_t)(here->count + 1) * sizeof *offsets))) {
        cuda_tools_copy(ids, there->ids, all * sizeof *ids);
        CHECK(!memcmp(ids, here->ids, all * sizeof *ids));
        if (here->distance2) cuda_tools_copy(distance2, there->distance2, all * sizeof *distance2);
        CHECK(here->distance2 ? !memcmp(distance2, here->distance2, all * sizeof *distance2) : !there->distance2);
    }
    free(offsets);
    free(ids);
    free(distance2);
}

TEST(rows_lie_where_their_queries_lay) {
    scene s;
    OPEN_SCENE(&s, NULL);
    static const double radii[] = {0.2, 0.05, 0, INFINITY, 0.1}; // guesses of their room are wrong both ways
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 1);
    cloud queries = case_queries(&points, QUERIES, 3), asked = cloud_on_gpu(&queries);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(s.gpu, &points, NULL, &tree), SAP_OK);
    for (int i = 0; i < 5; i++) {
        sap_neighbors *here = NULL, *there = NULL;
        NOTE("radius %g", radii[i]);
        CHECK_STATUS(radius_collect(tree, &queries, radii[i], &here), SAP_OK);
        CHECK_STATUS(radius_collect(tree, &asked, radii[i], &there), SAP_OK);
        if (!CHECK(here && there)) break;
        expect_rows_there(here, there);
        CHECK_STATUS(sap_neighbors_sort(here), SAP_OK);
        CHECK_STATUS(sap_neighbors_sort(there), SAP_OK);
        expect_rows_there(here, there);
        sap_neighbors_free(here);
        sap_neighbors_free(there);
    }
    sap_tree_free(tree);
    cuda_tools_release(asked.coords);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

// Whether what the caller keeps on the GPU is still as it was.
static bool is_untouched(const cloud* there, const cloud* here) {
    const size_t bytes = cloud_bytes(here);
    void* copy = malloc(bytes);
    cuda_tools_copy(copy, there->coords, bytes);
    const bool same = !memcmp(copy, here->coords, bytes);
    free(copy);
    return same;
}

// What a search is told may lie on either side, as queries and answers may; rows and counts are those of the CPU, also
// about trees with periods.
TEST(what_a_search_is_told_on_either_side) {
    static const double weights[3] = {1, 0.5, 2};
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 1);
    cloud queries = case_queries(&points, QUERIES, 3), asked = cloud_on_gpu(&queries);
    double radii[QUERIES];
    int32_t ks[QUERIES], ids[QUERIES * 4], expected[QUERIES * 4];
    uint8_t keep[POINTS];
    int64_t counts[QUERIES], expected_counts[QUERIES];
    for (int i = 0; i < QUERIES; i++) {
        radii[i] = i % 9 ? 0.02 * (i % 9) : -1;
        ks[i] = i % 6;
    }
    for (int i = 0; i < POINTS; i++) keep[i] = i % 3 != 0;
    double* radii_there = on_gpu(radii, sizeof radii);
    int32_t *ks_there = on_gpu(ks, sizeof ks), *ids_there = on_gpu(NULL, sizeof ids);
    uint8_t* keep_there = on_gpu(keep, sizeof keep);
    int64_t* counts_there = on_gpu(NULL, sizeof counts);
    for (int way = 0; way < 16; way++) {
        sap_tree_options options = {.split = (sap_split)(way & 1)};
        for (int a = 0; way & 8 && a < 2; a++) options.period[a] = 0.75;
        sap_search told = {.k = 4, .metric = SAP_METRIC_L1, .radii = radii, .keep = keep, .weights = weights};
        sap_tree *here = NULL, *there = NULL;
        sap_neighbors *rows_here = NULL, *rows_there = NULL;
        NOTE("way %d", way);
        CHECK_STATUS(build(s.cpu, &points, &options, &here), SAP_OK);
        CHECK_STATUS(build(s.gpu, &points, &options, &there), SAP_OK);
        told.ks = ks;
        CHECK_STATUS(nearest(here, &queries, &told, expected, NULL), SAP_OK);
        told.ks = NULL;
        told.k = way & 2 ? 3 : 0;
        told.sorted = true;
        CHECK_STATUS(radius_search(here, &queries, &told, &rows_here), SAP_OK);
        CHECK_STATUS(radius_search_count(here, &queries, &told, expected_counts), SAP_OK);
        if (way & 4) {
            told.radii = radii_there;
            told.keep = keep_there;
        }
        CHECK_STATUS(radius_search(there, &asked, &told, &rows_there), SAP_OK);
        CHECK_STATUS(radius_search_count(there, &asked, &told, counts_there), SAP_OK);
        cuda_tools_copy(counts, counts_there, sizeof counts);
        CHECK(!memcmp(counts, expected_counts, sizeof counts));
        if (CHECK(rows_here && rows_there)) expect_rows_there(rows_here, rows_there);
        told.k = 4;
        told.ks = way & 4 ? ks_there : ks;
        CHECK_STATUS(nearest(there, &asked, &told, ids_there, NULL), SAP_OK);
        cuda_tools_copy(ids, ids_there, sizeof ids);
        CHECK(!memcmp(ids, expected, sizeof ids));
        sap_neighbors_free(rows_here);
        sap_neighbors_free(rows_there);
        sap_tree_free(here);
        sap_tree_free(there);
    }
    CHECK(is_untouched(&asked, &queries));
    void* const all[] = {radii_there, ks_there, keep_there, ids_there, counts_there, asked.coords};
    for (int i = 0; i < 6; i++) cuda_tools_release(all[i]);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

TEST(boxes_on_either_side) {
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 1);
    cloud lower = cloud_of_family(FAMILY_UNIFORM, QUERIES, 3, 32, 4, 3), upper = cloud_make(QUERIES, 3, 32, 5);
    for (int64_t i = 0; i < QUERIES; i++)
        for (int32_t a = 0; a < 3; a++)
            cloud_set(&upper, i, a, cloud_get(&lower, i, a) + (i % 7 == 5 ? -0.1 : 0.2 * (double)(i % 7)));
    cloud lower_there = cloud_on_gpu(&lower), upper_there = cloud_on_gpu(&upper);
    int64_t counts[QUERIES], expected_counts[QUERIES], *counts_there = on_gpu(NULL, sizeof counts);
    for (int way = 0; way < 4; way++) {
        sap_tree_options options = {.split = (sap_split)(way & 1)};
        for (int a = 0; way & 2 && a < 2; a++) options.period[a] = 0.75;
        sap_tree *here = NULL, *there = NULL;
        sap_neighbors *rows_here = NULL, *rows_there = NULL;
        NOTE("way %d", way);
        CHECK_STATUS(build(s.cpu, &points, &options, &here), SAP_OK);
        CHECK_STATUS(build(s.gpu, &points, &options, &there), SAP_OK);
        CHECK_STATUS(box_search(here, &lower, &upper, &rows_here), SAP_OK);
        CHECK_STATUS(box_count(here, &lower, &upper, expected_counts), SAP_OK);
        CHECK_STATUS(box_search(there, &lower_there, &upper_there, &rows_there), SAP_OK);
        CHECK_STATUS(box_count(there, &lower_there, &upper_there, counts_there), SAP_OK);
        cuda_tools_copy(counts, counts_there, sizeof counts);
        CHECK(!memcmp(counts, expected_counts, sizeof counts));
        if (CHECK(rows_here && rows_there)) expect_rows_there(rows_here, rows_there);
        sap_neighbors_free(rows_here);
        sap_neighbors_free(rows_there);
        sap_tree_free(here);
        sap_tree_free(there);
    }
    CHECK(is_untouched(&lower_there, &lower) && is_untouched(&upper_there, &upper));
    void* const all[] = {lower_there.coords, upper_there.coords, counts_there};
    for (int i = 0; i < 3; i++) cuda_tools_release(all[i]);
    cloud_free(&points);
    cloud_free(&lower);
    cloud_free(&upper);
    close_scene(&s);
}

// ---- Into the caller's memory

enum { CAPACITY = 3000 };

// Rows in the caller's memory, and one place more for what must not be touched.
typedef struct rows {
    int64_t offsets[QUERIES + 1];
    int32_t ids[CAPACITY + 1];
    float distance2[CAPACITY + 1];
} rows;

// Bits of `sides` say what lies on the GPU: queries, offsets, ids, distances.
static void collect_mixed(const sap_tree* tree, const cloud* queries, const cloud* there, double radius,
                          int64_t capacity, int sides, rows* got) {
    memset(got, 0x5a, sizeof *got);
    rows* far = on_gpu(got, sizeof *got);
    const cloud* asked = sides & 1 ? there : queries;
    int64_t* offsets = sides & 2 ? far->offsets : got->offsets;
    int32_t* ids = sides & 4 ? far->ids : got->ids;
    float* distance2 = sides & 8 ? far->distance2 : got->distance2;
    CHECK_STATUS(radius_into(tree, asked, radius, capacity, offsets, ids, distance2), SAP_OK);
    CHECK_STATUS(sap_device_wait(tree->device), SAP_OK);
    if (sides & 2) cuda_tools_copy(got->offsets, far->offsets, sizeof got->offsets);
    if (sides & 4) cuda_tools_copy(got->ids, far->ids, sizeof got->ids);
    if (sides & 8) cuda_tools_copy(got->distance2, far->distance2, sizeof got->distance2);
    cuda_tools_release(far);
}

TEST(rows_into_memory_on_either_side) {
    static rows expected, got;
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 1);
    cloud queries = case_queries(&points, QUERIES, 3), asked = cloud_on_gpu(&queries);
    for (int split = 0; split < 2; split++) {
        const sap_tree_options options = {.split = (sap_split)split};
        sap_tree *tree = NULL, *here = NULL;
        CHECK_STATUS(build(s.gpu, &points, &options, &tree), SAP_OK);
        CHECK_STATUS(build(s.cpu, &points, &options, &here), SAP_OK);
        for (int i = 0; i < 48; i++) {
            const double radius = i % 3 ? 0.05 : 0.3;
            const int64_t capacity = i % 3 == 2 ? 7 : CAPACITY;
            NOTE("split %d sides %d radius %g capacity %d", split, i / 3, radius, (int)capacity);
            memset(&expected, 0x5a, sizeof expected);
            CHECK_STATUS(
                radius_into(here, &queries, radius, capacity, expected.offsets, expected.ids, expected.distance2),
                SAP_OK);
            CHECK(expected.offsets[QUERIES] > 7);
            collect_mixed(tree, &queries, &asked, radius, capacity, i / 3, &got);
            // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are meant
            CHECK(!memcmp(&got, &expected, sizeof got));
        }
        sap_tree_free(tree);
        sap_tree_free(here);
    }
    cuda_tools_release(asked.coords);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

// In the caller's stream nothing waits, also where rows are cut off or only counted.
TEST(rows_into_gpu_memory_wait_for_nothing) {
    scene s;
    OPEN_SCENE(&s, cuda_tools_stream());
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1), there = cloud_on_gpu(&points);
    cloud queries = case_queries(&points, QUERIES, 3), asked = cloud_on_gpu(&queries);
    rows* far = on_gpu(NULL, sizeof *far);
    int64_t offsets[QUERIES + 1];
    sap_tree* tree = NULL;
    CHECK_STATUS(build(s.gpu, &there, NULL, &tree), SAP_OK);
    static const int64_t capacities[] = {CAPACITY, 7, 0};
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(radius_into(tree, &asked, 0.2, capacities[i], far->offsets, far->ids, i ? NULL : far->distance2),
                     SAP_OK);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_WAIT], 0);
    CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
    cuda_tools_copy(offsets, far->offsets, sizeof offsets);
    CHECK(offsets[0] == 0 && offsets[QUERIES] > 7);
    void* const all[] = {there.coords, asked.coords, far};
    for (int i = 0; i < 3; i++) cuda_tools_release(all[i]);
    sap_tree_free(tree);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

#else
TEST(rows_of_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
