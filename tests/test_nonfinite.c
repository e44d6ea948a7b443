// Trees that leave out what is not finite: the answers of brute force over the other rows, whose numbers stay.
#include "calls.h"
#include "oracle.h"
#include "test.h"
#include "trees.h"
#include <math.h>

enum { DIMS = 3, K = 4, KINDS = 8, QUERIES = 40 };

// Makes every `step`th row, from `first` on, not finite, each in another way.
static void spoil(cloud* points, int64_t first, int64_t step) {
    const double bad[] = {NAN, INFINITY, -INFINITY, -NAN};
    for (int64_t i = first; i < points->count; i += step)
        cloud_set(points, i, (int32_t)(i % points->dims), bad[i / points->dims % 4]);
}

// Which rows are not in the tree; how many of them are not finite.
static int64_t find_dropped(const cloud* points, const sap_tree_options* options, uint8_t* dropped) {
    int64_t not_finite = 0;
    memset(dropped, 0, (size_t)points->count + 1);
    if (options->drop_duplicates) oracle_duplicates(points, dropped);
    for (int64_t i = 0; i < points->count; i++) {
        bool finite = true;
        for (int32_t a = 0; a < points->dims; a++) finite = finite && isfinite(cloud_get(points, i, a));
        not_finite += !finite;
        dropped[i] |= !finite;
    }
    return not_finite;
}

static sap_tree_options options_of(int kind) {
    return (sap_tree_options){
        .split = (sap_split)(kind % 2), .drop_duplicates = kind / 2 % 2 == 1, .drop_nonfinite = true, .leaf_size = 5};
}

static void check_info(const sap_tree* tree, const cloud* points, const sap_tree_options* options) {
    uint8_t* dropped = malloc((size_t)points->count + 1);
    sap_tree_info info;
    const int64_t not_finite = find_dropped(points, options, dropped);
    int64_t left = 0;
    for (int64_t i = 0; i < points->count; i++) left += dropped[i];
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.source_count, points->count);
    CHECK_EQUAL(info.not_finite, not_finite);
    CHECK_EQUAL(info.count, points->count - left);
    CHECK_EQUAL(info.duplicates, left - not_finite);
    CHECK(info.options.drop_nonfinite && info.options.drop_duplicates == options->drop_duplicates);
    free(dropped);
}

// Compares what all points, or the queries, find.
static void check_answers(const sap_tree* tree, const cloud* points, const cloud* queries, const uint8_t* dropped) {
    const bool self = queries == points;
    const oracle_rules rules = {.dropped = dropped, .limit2 = INFINITY, .self = self};
    const int64_t entries = queries->count * K;
    const size_t real = (size_t)points->real_bits / 8;
    int32_t* ids = malloc((size_t)entries * sizeof *ids + 1);
    unsigned char* distance2 = malloc((size_t)entries * real + 1);
    int32_t right[K];
    double right2[K];
    const sap_search search = {.k = K};
    CHECK_STATUS(self ? nearest_self(tree, points->real_bits, &search, ids, distance2)
                      : nearest(tree, queries, &search, ids, distance2),
                 SAP_OK);
    for (int64_t i = 0; i < queries->count; i++) {
        if (!CHECK(oracle_nearest(points, queries, i, K, &rules, right, right2))) break;
        if (!CHECK(!memcmp(right, ids + i * K, sizeof right))) break;
        if (!CHECK(!memcmp(right2, distance2 + (size_t)(i * K) * real, K * real))) break;
    }
    free(ids);
    free(distance2);
}

static void check_tree(const sap_tree* tree, const cloud* points, const sap_tree_options* options) {
    uint8_t* dropped = malloc((size_t)points->count + 1);
    cloud queries = cloud_of_family(FAMILY_UNIFORM, QUERIES, DIMS, points->real_bits, 0, 11);
    sap_neighbors* pairs = NULL;
    find_dropped(points, options, dropped);
    CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
    check_info(tree, points, options);
    check_answers(tree, points, &queries, dropped);
    check_answers(tree, points, points, dropped);
    if (CHECK_STATUS(sap_pairs(tree, 0.05, &pairs), SAP_OK))
        for (int64_t i = 0; i < points->count; i++) CHECK(!dropped[i] || pairs->offsets[i + 1] == pairs->offsets[i]);
    sap_neighbors_free(pairs);
    cloud_free(&queries);
    free(dropped);
}

TEST(rows_that_are_not_finite_are_left_out) {
    static const int64_t sizes[] = {0, 1, 2, 300, 900};
    devices on = devices_open(0);
    for (int kind = 0; kind < KINDS; kind++)
        for (int n = 0; n < 5; n++) {
            const sap_tree_options options = options_of(kind);
            cloud points = cloud_of_family(FAMILY_HALF_DUPLICATES, sizes[n], DIMS, kind / 4 ? 64 : 32, kind % 2 * 5, 3);
            sap_tree* first = NULL;
            spoil(&points, n == 1 ? 0 : 1, 7); // the only point of a tree, too
            for (int d = 0; d < on.count; d++) {
                sap_tree* tree = NULL;
                NOTE("kind %d, %d points, device %d", kind, (int)sizes[n], d);
                if (!CHECK_STATUS(build(on.open[d], &points, &options, &tree), SAP_OK)) continue;
                if (d == 0) check_tree(tree, &points, &options);
                if (is_gpu(on.open[d]) && n == 3) check_tree(tree, &points, &options);
                CHECK(!first || trees_equal(first, tree));
                if (first) sap_tree_free(tree);
                if (!first) first = tree;
            }
            sap_tree_free(first);
            cloud_free(&points);
        }
    devices_close(&on);
}

TEST(nothing_is_finite) {
    devices on = devices_open(0);
    for (int kind = 0; kind < KINDS; kind++)
        for (int d = 0; d < on.count; d++) {
            const sap_tree_options options = options_of(kind);
            cloud points = cloud_make(100, DIMS, kind / 4 ? 64 : 32, 0); // NaN
            sap_tree* tree = NULL;
            NOTE("kind %d, device %d", kind, d);
            if (CHECK_STATUS(build(on.open[d], &points, &options, &tree), SAP_OK)) check_tree(tree, &points, &options);
            sap_tree_free(tree);
            cloud_free(&points);
        }
    devices_close(&on);
}

TEST(finite_points_are_all_kept) {
    devices on = devices_open(0);
    const sap_tree_options with = {.drop_nonfinite = true}, without = {.drop_nonfinite = false};
    cloud points = cloud_of_family(FAMILY_UNIFORM, 500, DIMS, 32, 0, 5);
    for (int d = 0; d < on.count; d++) {
        sap_tree *tree = NULL, *plain = NULL;
        CHECK_STATUS(build(on.open[d], &points, &with, &tree), SAP_OK);
        CHECK_STATUS(build(on.open[d], &points, &without, &plain), SAP_OK);
        CHECK(trees_equal(tree, plain));
        sap_tree_free(tree);
        sap_tree_free(plain);
    }
    cloud_free(&points);
    devices_close(&on);
}

// What a tree cannot hold is refused as ever, and the old tree stays.
TEST(points_that_are_too_far_are_refused) {
    devices on = devices_open(0);
    for (int kind = 0; kind < KINDS; kind++)
        for (int d = 0; d < on.count; d++) {
            const sap_tree_options options = options_of(kind);
            const int32_t bits = kind / 4 ? 64 : 32;
            cloud points = cloud_of_family(FAMILY_UNIFORM, 300, DIMS, bits, 0, 5);
            sap_tree *tree = NULL, *other = NULL;
            NOTE("kind %d, device %d", kind, d);
            CHECK_STATUS(build(on.open[d], &points, &options, &tree), SAP_OK);
            spoil(&points, 1, 7);
            CHECK_STATUS(rebuild(tree, &points), SAP_OK);
            check_tree(tree, &points, &options);
            CHECK_STATUS(build(on.open[d], &points, &options, &other), SAP_OK);
            cloud_set(&points, 100, 1, bits == 64 ? 1e300 : 1e30);
            CHECK_STATUS(rebuild(tree, &points), SAP_ERROR_NOT_FINITE);
            CHECK(trees_equal(tree, other));
            CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
            sap_tree_free(tree);
            sap_tree_free(other);
            cloud_free(&points);
        }
    devices_close(&on);
}

TEST(saved_trees_know_what_they_leave_out) {
    devices on = devices_open(0);
    for (int kind = 0; kind < KINDS; kind++)
        for (int none = 0; none < 2; none++) {
            const sap_tree_options options = options_of(kind);
            cloud points = none ? cloud_make(9, DIMS, 32, 0) : cloud_of_family(FAMILY_UNIFORM, 300, DIMS, 32, 0, 5);
            sap_tree *tree = NULL, *loaded = NULL;
            NOTE("kind %d, none finite %d", kind, none);
            spoil(&points, 2, 5);
            CHECK_STATUS(build(on.open[0], &points, &options, &tree), SAP_OK);
            int64_t size = 0;
            CHECK_STATUS(sap_tree_saved_size(tree, &size), SAP_OK);
            unsigned char* saved = aligned_alloc(64, ((size_t)size + 63) / 64 * 64);
            CHECK_STATUS(sap_tree_save_memory(tree, saved, size), SAP_OK);
            if (CHECK_STATUS(sap_tree_load_memory(on.open[on.count - 1], saved, size, NULL, &loaded), SAP_OK)) {
                CHECK(trees_equal(tree, loaded));
                check_tree(loaded, &points, &options);
            }
            sap_tree_free(tree);
            sap_tree_free(loaded);
            free(saved);
            cloud_free(&points);
        }
    devices_close(&on);
}

// What a tree claims of the points that it left out is checked.
TEST(wrong_claims_are_found) {
    static const int64_t claims[] = {-1, 0, 59, 61, 100, 300, 301, INT64_MAX};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    const sap_tree_options options = options_of(0);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 300, DIMS, 32, 0, 5);
    spoil(&points, 2, 5);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    if (CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK)) {
        CHECK_EQUAL(tree->shape.not_finite, 60);
        for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
            NOTE("claim %lld", (long long)claims[i]);
            tree->shape.not_finite = claims[i];
            CHECK_STATUS(sap_tree_verify(tree), SAP_ERROR_FORMAT);
        }
        tree->shape.not_finite = 60;
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        tree->options.drop_nonfinite = false;
        CHECK_STATUS(sap_tree_verify(tree), SAP_ERROR_FORMAT);
    }
    sap_tree_free(tree);
    cloud_free(&points);
    sap_device_close(device);
}

TEST_MAIN()
