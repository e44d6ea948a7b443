// Going through points one by one: the nearest first as sap_nearest orders them, or the farthest first.
#include "cases.h"
#include "sapwood/query.h"
#include "stage.h"
#include <math.h>

enum { QUERIES = 4 };

static int32_t take(sap_query* query, int32_t real_bits, int32_t* id, void* distance2) {
    return real_bits == 64 ? sap_query_next_f64(query, id, distance2) : sap_query_next(query, id, distance2);
}

static sap_status begin(sap_query* query, const cloud* queries, int64_t row, bool farthest) {
    const char* point = (const char*)queries->coords + row * queries->stride * (queries->real_bits / 8);
    return queries->real_bits == 64 ? sap_query_begin_f64(query, (const double*)(const void*)point, farthest)
                                    : sap_query_begin(query, (const float*)(const void*)point, farthest);
}

static double distance_at(const void* distances, int32_t real_bits, int64_t at) {
    return real_bits == 64 ? ((const double*)distances)[at] : (double)((const float*)distances)[at];
}

// The place in an ascending row of what comes next: from its end on, equal distances by ascending id.
static int64_t place_of(const void* distances, int32_t real_bits, int64_t count, int64_t number, bool farthest) {
    if (!farthest) return number;
    int64_t end = count, first = count;
    for (int64_t left = number; first > 0; end = first) {
        const double distance = distance_at(distances, real_bits, end - 1);
        while (first > 0 && distance_at(distances, real_bits, first - 1) == distance) first--;
        if (left < end - first) return first + left;
        left -= end - first;
    }
    return -1;
}

// All points from one place: ids[count] and distances[count] ascend.
static void expect_all(sap_query* query, const cloud* queries, int64_t row, bool farthest, int64_t count,
                       const int32_t* ids, const void* distances) {
    const int32_t bits = queries->real_bits;
    const int64_t few = count < 300 || !farthest ? count : 300; // the oracle of the farthest is slow
    CHECK_STATUS(begin(query, queries, row, farthest), SAP_OK);
    for (int64_t i = 0; i < few; i++) {
        int32_t id = -9;
        double distance2 = -1; // of either precision
        const int64_t place = place_of(distances, bits, count, i, farthest);
        if (!CHECK_EQUAL(take(query, bits, &id, i % 5 ? &distance2 : NULL), 1) || !CHECK_EQUAL(id, ids[place])) return;
        CHECK(i % 5 == 0 || distance_at(&distance2, bits, 0) == distance_at(distances, bits, place));
    }
    int32_t id = -9;
    if (few == count) CHECK(take(query, bits, &id, NULL) == 0 && take(query, bits, &id, NULL) == 0 && id == -9);
}

static void try_tree(const sap_tree* tree, const cloud* points, const cloud* queries, double radius) {
    const int32_t k = (int32_t)points->count + 1;
    const size_t answers = (size_t)queries->count * (size_t)k;
    const sap_search search = {.k = k, .radius = radius};
    int32_t* ids = malloc(answers * sizeof *ids);
    unsigned char* distance2 = malloc(answers * 8); // of either precision
    sap_query* query = NULL;
    CHECK_STATUS(nearest(tree, queries, &search, ids, distance2), SAP_OK);
    CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1, .radius = radius}, &query), SAP_OK);
    for (int64_t q = 0; q < queries->count && query; q++) {
        const int32_t* row = ids + q * k;
        int64_t count = 0;
        while (count < k && row[count] >= 0) count++;
        for (int farthest = 0; farthest < 2; farthest++)
            expect_all(query, queries, q, farthest, count, row,
                       distance2 + (size_t)(q * k) * (size_t)queries->real_bits / 8);
    }
    sap_query_close(query);
    free(ids);
    free(distance2);
}

TEST(points_come_in_order) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.chance >> 30 & (c.size > 100 ? 7 : 1)) continue;
        cloud points = case_points(&c), queries = case_queries(&points, QUERIES, c.chance);
        const double radius = c.chance >> 21 & 1 ? case_radius(&points, &queries, c.chance) : 0;
        sap_tree* tree = NULL;
        NOTE("%s n %d dims %d f%d split %d leaf %d drop %d radius %g", family_name(c.kind), (int)c.size, c.dims,
             c.real_bits, (int)c.options.split, c.options.leaf_size, c.options.drop_duplicates, radius);
        CHECK_STATUS(build(on.open[0], &points, &c.options, &tree), SAP_OK);
        try_tree(tree, &points, &queries, radius);
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// Of many equal points the first ones come without a look at the others.
TEST(equal_points_come_at_once) {
    enum { COUNT = 20000 };
    devices on = devices_open(1);
    for (int split = 0; split < 2; split++) {
        cloud points = cloud_of_family(FAMILY_EQUAL, COUNT, 3, 32, 0, 1);
        const sap_tree_options options = {.split = (sap_split)split};
        sap_tree* tree = NULL;
        sap_query* query = NULL;
        CHECK_STATUS(build(on.open[0], &points, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_OK);
        for (int i = 0; i < 500 && query; i++) {
            int32_t id = -9;
            CHECK_STATUS(begin(query, &points, i, i & 1), SAP_OK);
            CHECK(take(query, 32, &id, NULL) == 1 && id == 0);
            CHECK(take(query, 32, &id, NULL) == 1 && id == 1);
        }
        sap_query_close(query);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    devices_close(&on);
}

TEST(refuses) {
    stage s;
    open_stage(&s);
    sap_query *query = NULL, *query_f64 = NULL;
    int32_t id = -9;
    float distance2 = -9;
    CHECK_STATUS(sap_query_open(s.tree, &(sap_search){.k = 1}, &query), SAP_OK);
    CHECK_STATUS(sap_query_open(s.tree_f64, &(sap_search){.k = 1}, &query_f64), SAP_OK);
    CHECK_STATUS(sap_query_begin(NULL, s.coords, false), SAP_ERROR_ARGUMENT);
    CHECK_EQUAL(sap_query_next(NULL, &id, NULL), -1);
    CHECK_EQUAL(sap_query_next(query, &id, NULL), -1); // has not begun
    s.w.log_calls = 0;
    REFUSED(sap_query_begin(query, NULL, false), SAP_ERROR_ARGUMENT, "point");
    REFUSED(sap_query_begin(query_f64, s.coords, false), SAP_ERROR_ARGUMENT, "64-bit");
    REFUSED(sap_query_begin_f64(query, s.coords_f64, false), SAP_ERROR_ARGUMENT, "32-bit");
    CHECK_STATUS(sap_query_begin(query, s.coords, false), SAP_OK);
    CHECK_EQUAL(sap_query_next(query, NULL, &distance2), -1);
    CHECK_EQUAL(sap_query_next_f64(query, &id, NULL), -1);
    CHECK(id == -9 && distance2 == -9);
    CHECK_EQUAL(sap_query_next(query, &id, &distance2), 1);
    const float nowhere[3] = {0, NAN, 0};
    CHECK_STATUS(sap_query_begin(query, nowhere, true), SAP_OK);
    CHECK_EQUAL(sap_query_next(query, &id, NULL), 0);
    sap_query_close(query);
    sap_query_close(query_f64);
    close_stage(&s);
}

// Every block that is asked for is refused in turn; what was given before comes again.
TEST(memory) {
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_query* query = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, 4000, 3, 32, 0, 1);
    options.threads = 1;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    bool refused = true;
    for (int n = 1; refused && n < 60; n++) {
        int32_t id = -9, taken = 1, count = 0;
        CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_OK);
        w.requests = 0;
        w.fail_from = (int)n;
        const sap_status status = begin(query, &points, 5, false);
        while (status == SAP_OK && taken == 1) count += (taken = take(query, 32, &id, NULL)) == 1;
        w.fail_from = 0;
        refused = status != SAP_OK || taken < 0;
        CHECK(status == SAP_OK || status == SAP_ERROR_MEMORY);
        CHECK(refused || count == 4000);
        if (refused) CHECK_EQUAL(take(query, 32, &id, NULL), -1); // it has to begin again
        CHECK_STATUS(begin(query, &points, 5, false), SAP_OK);
        CHECK(take(query, 32, &id, NULL) == 1 && id == 5);
        sap_query_close(query);
    }
    CHECK(!refused);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK(w.blocks == 0 && w.bytes == 0 && w.wrong == 0);
    cloud_free(&points);
}

// A walk that began before the tree was rebuilt does not go on.
TEST(rebuilt_trees) {
    devices on = devices_open(1);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 500, 3, 32, 0, 1),
          more = cloud_of_family(FAMILY_UNIFORM, 900, 3, 32, 0, 2);
    sap_tree* tree = NULL;
    sap_query* query = NULL;
    int32_t id = -9;
    CHECK_STATUS(build(on.open[0], &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_OK);
    CHECK_STATUS(begin(query, &points, 0, false), SAP_OK);
    CHECK_EQUAL(take(query, 32, &id, NULL), 1);
    CHECK_STATUS(rebuild(tree, &more), SAP_OK);
    CHECK_EQUAL(take(query, 32, &id, NULL), -1);
    try_tree(tree, &more, &points, 0.1);
    CHECK_STATUS(begin(query, &more, 7, false), SAP_OK);
    CHECK(take(query, 32, &id, NULL) == 1 && id == 7);
    sap_query_close(query);
    sap_tree_free(tree);
    cloud_free(&points);
    cloud_free(&more);
    devices_close(&on);
}

TEST_MAIN()
