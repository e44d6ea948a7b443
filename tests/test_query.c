// Prepared searches: one query a call gives the rows of sap_nearest, bit for bit, which test_nearest compares with
// brute force.
#include "cases.h"
#include "sapwood/query.h"
#include "stage.h"

enum { GUARD = 0x5a, QUERIES = 24 };

// One query of a cloud.
static int32_t ask(sap_query* query, const cloud* queries, int64_t row, int32_t* ids, void* distance2) {
    const char* point = (const char*)queries->coords + row * queries->stride * (queries->real_bits / 8);
    return queries->real_bits == 64 ? sap_query_nearest_f64(query, (const double*)(const void*)point, ids, distance2)
                                    : sap_query_nearest(query, (const float*)(const void*)point, ids, distance2);
}

// Every query, with and without distances, gives its row.
static void expect_rows(sap_query* query, const cloud* queries, int32_t k, const int32_t* ids, const void* distance2) {
    const size_t id_bytes = (size_t)k * sizeof *ids, real_bytes = (size_t)k * (size_t)(queries->real_bits / 8);
    int32_t* got_ids = malloc(id_bytes + 1);
    char* got = malloc(real_bytes + 1);
    for (int64_t q = 0; q < queries->count; q++) {
        const int32_t* row = ids + q * k;
        int32_t there = 0;
        while (there < k && row[there] >= 0) there++;
        for (int with = 0; with < 2; with++) {
            memset(got_ids, GUARD, id_bytes + 1);
            memset(got, GUARD, real_bytes + 1);
            CHECK_EQUAL(ask(query, queries, q, got_ids, with ? got : NULL), there);
            CHECK(!memcmp(got_ids, row, id_bytes));
            CHECK(!with || !memcmp(got, (const char*)distance2 + (size_t)q * real_bytes, real_bytes));
            CHECK(((char*)got_ids)[id_bytes] == GUARD && got[with ? real_bytes : 0] == GUARD);
        }
    }
    free(got_ids);
    free(got);
}

static void try_query(const sap_tree* tree, const cloud* queries, const sap_search* search) {
    const size_t answers = (size_t)queries->count * (size_t)search->k;
    int32_t* ids = malloc(answers * sizeof *ids);
    void* distance2 = malloc(answers * sizeof(double));
    sap_query* query = NULL;
    CHECK_STATUS(nearest(tree, queries, search, ids, distance2), SAP_OK);
    if (CHECK_STATUS(sap_query_open(tree, search, &query), SAP_OK))
        expect_rows(query, queries, search->k, ids, distance2);
    sap_query_close(query);
    free(ids);
    free(distance2);
}

static void try_case(const search_case* c, const devices* on, int32_t k) {
    cloud points = case_points(c), queries = case_queries(&points, k > 200 ? 3 : QUERIES, c->chance);
    sap_search search = {.k = k};
    if (c->chance >> 21 & 1) search.radius = case_radius(&points, &queries, c->chance);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        if (is_gpu(on->open[d])) continue;
        CHECK_STATUS(build(on->open[d], &points, &c->options, &tree), SAP_OK);
        const int walks = c->options.split == SAP_SPLIT_MEDIAN ? SAP_WALK_STACKLESS : SAP_WALK_STACK;
        for (int walk = SAP_WALK_AUTO; walk <= walks; walk++) {
            NOTE("%s n %d dims %d f%d split %d leaf %d drop %d radius %g k %d device %d walk %d", family_name(c->kind),
                 (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size,
                 c->options.drop_duplicates, search.radius, (int)k, d, walk);
            search.walk = (sap_walk)walk;
            if (walk == SAP_WALK_AUTO || c->chance % 5 == 0) try_query(tree, &queries, &search);
        }
        sap_tree_free(tree);
    }
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(rows_are_those_of_sap_nearest) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        int32_t k = case_k[(c.chance >> 32) % CASE_K];
        if (k < 0) k = (int32_t)c.size + 3;
        try_case(&c, &on, i % 3 == 0 ? 1 : k);
    }
    devices_close(&on);
}

static int64_t ask_within(sap_query* query, const cloud* queries, int64_t row, double radius, int64_t capacity,
                          int32_t* ids, void* distance2) {
    const char* point = (const char*)queries->coords + row * queries->stride * (queries->real_bits / 8);
    return queries->real_bits == 64
               ? sap_query_within_f64(query, (const double*)(const void*)point, radius, capacity, ids, distance2)
               : sap_query_within(query, (const float*)(const void*)point, radius, capacity, ids, distance2);
}

// A row, with room for all of it, for a part, and for none.
static void expect_within(sap_query* query, const cloud* queries, int64_t row, double radius, int64_t count,
                          const int32_t* ids, const void* distance2) {
    const int64_t capacities[] = {count + 3, count, count / 2, 1, 0};
    const size_t real = (size_t)queries->real_bits / 8;
    for (int i = 0; i < 5; i++) {
        const size_t room = (size_t)capacities[i], fit = room < (size_t)count ? room : (size_t)count;
        int32_t* got_ids = malloc(room * 4 + 1);
        char* got = malloc(room * real + 1);
        for (int with = 0; with < 2; with++) {
            memset(got_ids, GUARD, room * 4 + 1);
            memset(got, GUARD, room * real + 1);
            CHECK_EQUAL(
                ask_within(query, queries, row, radius, (int64_t)room, room ? got_ids : NULL, with ? got : NULL),
                count);
            CHECK(!memcmp(got_ids, ids, fit * 4) && ((char*)got_ids)[fit * 4] == GUARD);
            CHECK(got[with ? fit * real : 0] == GUARD && (!with || !memcmp(got, distance2, fit * real)));
        }
        free(got_ids);
        free(got);
    }
}

// Every query's row within a radius.
static void try_within(const sap_tree* tree, const cloud* queries, double radius) {
    sap_neighbors* found = NULL;
    sap_query* query = NULL;
    CHECK_STATUS(radius_collect(tree, queries, radius, &found), SAP_OK);
    CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_OK);
    for (int64_t q = 0; q < queries->count; q++) {
        const int64_t first = found->offsets[q];
        const void* distance2 =
            found->distance2 ? (const void*)(found->distance2 + first) : (const void*)(found->distance2_f64 + first);
        expect_within(query, queries, q, radius, found->offsets[q + 1] - first, found->ids + first, distance2);
    }
    sap_query_close(query);
    sap_neighbors_free(found);
}

TEST(rows_are_those_of_sap_radius) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i += 3) {
        if (!case_choose(i, &c)) continue;
        cloud points = case_points(&c), queries = case_queries(&points, 8, c.chance);
        const double radius = case_radius(&points, &queries, c.chance);
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            if (is_gpu(on.open[d])) continue;
            NOTE("%s n %d dims %d f%d split %d radius %g device %d", family_name(c.kind), (int)c.size, c.dims,
                 c.real_bits, (int)c.options.split, radius, d);
            CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
            try_within(tree, &queries, radius);
            sap_tree_free(tree);
        }
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// Rows that are longer than the memory that a search begins with, on a tree that is rebuilt.
TEST(long_rows_within) {
    devices on = devices_open(1);
    for (int i = 0; i < 4; i++) {
        const int32_t bits = i & 1 ? 64 : 32;
        const sap_tree_options options = {.split = i & 2 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN};
        cloud points = cloud_of_family(FAMILY_UNIFORM, 5000, 3, bits, 0, 3), queries = case_queries(&points, 3, 4);
        sap_tree* tree = NULL;
        NOTE("case %d", i);
        CHECK_STATUS(build(on.open[0], &points, &options, &tree), SAP_OK);
        try_within(tree, &queries, 0.3);
        try_within(tree, &queries, INFINITY);
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// Large trees have several levels of boxes, of which ways lead back up.
TEST(large_trees) {
    static const int32_t ks[] = {1, 2, 8, 9, 17, 33};
    devices on = devices_open(1);
    for (int i = 0; i<FAMILY_COUNT; i += CASE_STEP> 1 ? 4 : 1) {
        search_case c = {.kind = (family)i, .size = 6000, .dims = 2 + i % 2, .real_bits = i % 4 == 3 ? 64 : 32};
        c.options.leaf_size = i % 3 ? 8 : 0;
        c.chance = (uint64_t)i * 4 + 2;
        try_case(&c, &on, ks[i % 6]);
        if (CASE_STEP == 1) try_case(&c, &on, 1);
    }
    devices_close(&on);
}

// A tree that is rebuilt from more points, fewer, as many others and none: the next call searches what is there.
TEST(rebuilt_trees_are_searched) {
    static const int64_t sizes[] = {50, 2000, 2000, 3, 0, 400, 5000};
    devices on = devices_open(1);
    for (int kind = 0; kind < 8; kind++) {
        const int32_t bits = kind & 1 ? 64 : 32, k = kind & 4 ? 40 : 1;
        const sap_tree_options options = {.split = kind & 2 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN};
        cloud points = cloud_of_family(FAMILY_UNIFORM, 50, 3, bits, 0, 1);
        const sap_search search = {.k = k, .radius = 0.5};
        sap_tree* tree = NULL;
        sap_query* query = NULL;
        CHECK_STATUS(build(on.open[0], &points, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_query_open(tree, &search, &query), SAP_OK);
        cloud_free(&points);
        for (int i = 0; i < 7; i++) {
            NOTE("kind %d rebuilt %d", kind, i);
            points = cloud_of_family(FAMILY_UNIFORM, sizes[i], 3, bits, 0, (uint64_t)i + 9);
            cloud queries = case_queries(&points, QUERIES, (uint64_t)i);
            int32_t* ids = malloc(QUERIES * (size_t)k * sizeof *ids);
            void* distance2 = malloc(QUERIES * (size_t)k * sizeof(double));
            CHECK_STATUS(rebuild(tree, &points), SAP_OK);
            CHECK_STATUS(nearest(tree, &queries, &search, ids, distance2), SAP_OK);
            expect_rows(query, &queries, k, ids, distance2);
            free(ids);
            free(distance2);
            cloud_free(&queries);
            cloud_free(&points);
        }
        sap_query_close(query);
        sap_tree_free(tree);
    }
    devices_close(&on);
}

TEST(statistics) {
    sap_device* device = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, 4000, 3, 32, 0, 5), queries = case_queries(&points, 200, 9);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 4; i++) {
        const sap_tree_options options = {.split = (sap_split)(i / 2)};
        sap_search_stats stats = {0, 0, 0};
        const sap_search search = {.k = i % 2 ? 4 : 1, .stats = &stats};
        sap_tree* tree = NULL;
        sap_query* query = NULL;
        int32_t ids[4];
        NOTE("case %d", i);
        CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_query_open(tree, &search, &query), SAP_OK);
        for (int64_t q = 0; q < 200; q++) ask(query, &queries, q, ids, NULL);
        const sap_search_stats first = stats;
        CHECK(first.nodes >= 150 && first.leaves >= 150 && first.points >= first.leaves && first.points < 200 * 1000);
        for (int64_t q = 0; q < 200; q++) ask(query, &queries, q, ids, NULL);
        CHECK(stats.nodes == 2 * first.nodes && stats.leaves == 2 * first.leaves);
        CHECK_EQUAL(stats.points, 2 * first.points);
        sap_query_close(query);
        sap_tree_free(tree);
    }
    sap_device_close(device);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(refuses) {
    stage s;
    open_stage(&s);
    sap_query *query = NULL, *wide = NULL;
    const sap_search one = {.k = 1};
    float point[3] = {1, 2, 3}, distance2 = -9;
    double point_f64[3] = {1, 2, 3}, distance2_f64 = -9;
    int32_t id = -9;
    CHECK_STATUS(sap_query_open(NULL, &one, &query), SAP_ERROR_ARGUMENT);
    REFUSED(sap_query_open(s.tree, &one, NULL), SAP_ERROR_ARGUMENT, "query");
    REFUSED(sap_query_open(s.tree, NULL, &query), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 0}, &query), SAP_ERROR_ARGUMENT, "search.k");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .radius = -1}, &query), SAP_ERROR_ARGUMENT, "search.radius");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .radius = NAN}, &query), SAP_ERROR_ARGUMENT, "search.radius");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .walk = (sap_walk)9}, &query), SAP_ERROR_ARGUMENT, "walk");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .walk = SAP_WALK_WARP}, &query), SAP_ERROR_UNSUPPORTED,
            "walk");
    REFUSED(sap_query_open(s.sliding, &(sap_search){.k = 1, .walk = SAP_WALK_STACKLESS}, &query), SAP_ERROR_UNSUPPORTED,
            "walk");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .reserved = {0, 7}}, &query), SAP_ERROR_ARGUMENT, "reserved");
    REFUSED(sap_query_open(s.tree, &(sap_search){.k = 1, .without_ids = &id}, &query), SAP_ERROR_ARGUMENT, "without");
    CHECK(!query);
    CHECK_STATUS(sap_query_open(s.tree, &one, &query), SAP_OK);
    CHECK_STATUS(sap_query_open(s.tree_f64, &one, &wide), SAP_OK);
    CHECK_EQUAL(sap_query_nearest(NULL, point, &id, &distance2), -1);
    CHECK_EQUAL(s.w.log_calls, 0);
#define REFUSED_CALL(call, word) REFUSED((call) == -1 ? SAP_ERROR_ARGUMENT : SAP_OK, SAP_ERROR_ARGUMENT, word)
    REFUSED_CALL(sap_query_nearest(query, NULL, &id, &distance2), "point");
    REFUSED_CALL(sap_query_nearest(query, point, NULL, &distance2), "ids");
    REFUSED_CALL(sap_query_nearest(wide, point, &id, &distance2), "64-bit");
    REFUSED_CALL(sap_query_nearest_f64(query, point_f64, &id, &distance2_f64), "32-bit");
    CHECK(id == -9 && distance2 == -9 && distance2_f64 == -9);
    CHECK_EQUAL(sap_query_within(NULL, point, 1, 1, &id, &distance2), -1);
    REFUSED_CALL(sap_query_within(query, NULL, 1, 1, &id, &distance2), "point");
    REFUSED_CALL(sap_query_within(query, point, -1, 1, &id, &distance2), "radius");
    REFUSED_CALL(sap_query_within(query, point, NAN, 1, &id, &distance2), "radius");
    REFUSED_CALL(sap_query_within(query, point, 1, -1, &id, &distance2), "capacity");
    REFUSED_CALL(sap_query_within(query, point, 1, 1, NULL, &distance2), "ids");
    REFUSED_CALL(sap_query_within(wide, point, 1, 1, &id, &distance2), "64-bit");
    REFUSED_CALL(sap_query_within_f64(query, point_f64, 1, 1, &id, &distance2_f64), "32-bit");
    CHECK(id == -9 && distance2 == -9 && distance2_f64 == -9);
    CHECK_EQUAL(sap_query_nearest(query, point, &id, &distance2), 1);
    sap_query_close(query);
    sap_query_close(wide);
    sap_query_close(NULL);
    close_stage(&s);
}

// Each refused request is a status, or -1 after a rebuild; calls in between ask for no memory.
TEST(memory) {
    stage s;
    open_stage(&s);
    static float many[3000];
    for (int i = 0; i < 3000; i++) many[i] = (float)(i * 7919 % 1009);
    const sap_search search = {.k = 100};
    float distance2[100];
    int32_t ids[100];
    sap_query* query = NULL;
    CHECK_STATUS(sap_tree_rebuild(s.tree, (sap_points){many, 50, 3, 0}), SAP_OK);
    for (int n = 1; n <= 2; n++) {
        s.w.requests = 0;
        s.w.fail_from = n;
        REFUSED(sap_query_open(s.tree, &search, &query), SAP_ERROR_MEMORY, "memory");
        CHECK(!query);
    }
    s.w.fail_from = 0;
    CHECK_STATUS(sap_query_open(s.tree, &search, &query), SAP_OK);
    CHECK_STATUS(sap_tree_rebuild(s.tree, (sap_points){many, 1000, 3, 0}), SAP_OK);
    s.w.requests = 0;
    s.w.fail_from = 1;
    ids[0] = -9;
    REFUSED(sap_query_nearest(query, many, ids, distance2) == -1 ? SAP_ERROR_MEMORY : SAP_OK, SAP_ERROR_MEMORY,
            "memory");
    CHECK_EQUAL(ids[0], -9);
    CHECK_EQUAL(sap_query_nearest(query, many, ids, distance2), 100);
    s.w.requests = 0;
    CHECK_EQUAL(sap_query_nearest(query, many + 9, ids, NULL), 100);
    CHECK_EQUAL(s.w.requests, 0);
    s.w.fail_from = 1;
    ids[0] = -9;
    REFUSED(sap_query_within(query, many, 1e9, 100, ids, NULL) == -1 ? SAP_ERROR_MEMORY : SAP_OK, SAP_ERROR_MEMORY,
            "memory");
    CHECK_EQUAL(ids[0], -9);
    CHECK_EQUAL(sap_query_within(query, many, 1e9, 100, ids, NULL), 1000);
    s.w.requests = 0;
    CHECK_EQUAL(sap_query_within(query, many, 1e9, 100, ids, distance2), 1000);
    CHECK_EQUAL(s.w.requests, 0);
    s.w.fail_from = 0;
    sap_query_close(query);
    close_stage(&s);
}

TEST_MAIN()
