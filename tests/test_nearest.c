// Nearest neighbours: every walk, vector width, precision and split rule gives the oracle's answers, bit for bit.
#include "cases.h"
#include "test.h"
#include "tree/layout.h"

enum { GUARD = 0x5a };

// One question and its rows. The byte after each array is a guard.
typedef struct rows {
    int64_t count;
    int32_t k;
    size_t id_bytes, distance2_bytes;
    int32_t* ids;
    void* distance2;
} rows;

static rows rows_make(int64_t count, int32_t k, int32_t real_bits) {
    rows r = {count, k, (size_t)count * (size_t)k * sizeof(int32_t), 0, NULL, NULL};
    r.distance2_bytes = (size_t)count * (size_t)k * (size_t)(real_bits / 8);
    r.ids = malloc(r.id_bytes + 1);
    r.distance2 = malloc(r.distance2_bytes + 1);
    return r;
}

static void rows_spoil(rows* r) {
    memset(r->ids, GUARD, r->id_bytes + 1);
    memset(r->distance2, GUARD, r->distance2_bytes + 1);
}

static void rows_free(rows* r) {
    free(r->ids);
    free(r->distance2);
}

static bool rows_guarded(const rows* r) {
    return ((unsigned char*)r->ids)[r->id_bytes] == GUARD &&
           ((unsigned char*)r->distance2)[r->distance2_bytes] == GUARD;
}

static bool rows_equal(const rows* a, const rows* b) {
    return !memcmp(a->ids, b->ids, a->id_bytes) && !memcmp(a->distance2, b->distance2, a->distance2_bytes);
}

static void expect_rows(rows* expected, const cloud* points, const cloud* queries, const oracle_rules* rules) {
    size_t row_bytes = (size_t)expected->k * (size_t)(points->real_bits / 8);
    for (int64_t q = 0; q < expected->count; q++)
        CHECK(oracle_nearest(points, queries, q, expected->k, rules, expected->ids + q * expected->k,
                             (char*)expected->distance2 + (size_t)q * row_bytes));
}

// Whether a device refuses a walk: one without a stack is for balanced trees, those of queries together are for GPUs.
static bool walk_refused(const sap_tree* tree, int walk) {
    if (walk == SAP_WALK_STACKLESS) return tree->options.split != SAP_SPLIT_MEDIAN;
    return walk > SAP_WALK_STACKLESS && !is_gpu(tree->device);
}

// Asks with every walk; the answers must be the expected ones.
static void ask_all_walks(const sap_tree* tree, const cloud* queries, sap_search search, const rows* expected,
                          const char* where) {
    rows got = rows_make(expected->count, expected->k, queries->real_bits);
    for (int walk = SAP_WALK_AUTO; walk <= SAP_WALK_PACKET; walk++) {
        NOTE("%s walk %d k %d queries %d", where, walk, (int)search.k, (int)queries->count);
        search.walk = (sap_walk)walk;
        rows_spoil(&got);
        if (walk_refused(tree, walk)) {
            CHECK_STATUS(nearest(tree, queries, &search, got.ids, got.distance2), SAP_ERROR_UNSUPPORTED);
            CHECK_EQUAL(*(unsigned char*)got.ids, GUARD);
            continue;
        }
        CHECK_STATUS(nearest(tree, queries, &search, got.ids, got.distance2), SAP_OK);
        CHECK(rows_equal(expected, &got));
        CHECK(rows_guarded(&got));
        rows_spoil(&got);
        search.ordered = !search.ordered;
        CHECK_STATUS(nearest(tree, queries, &search, got.ids, NULL), SAP_OK);
        CHECK(!memcmp(expected->ids, got.ids, got.id_bytes));
        CHECK(rows_guarded(&got));
    }
    rows_free(&got);
}

// Asks one query a call.
static void ask_singly(const sap_tree* tree, const cloud* queries, const sap_search* search, const rows* expected) {
    rows got = rows_make(expected->count, expected->k, queries->real_bits);
    rows_spoil(&got);
    for (int64_t q = 0; q < queries->count; q++) {
        cloud one = cloud_part(queries, q, 1);
        int64_t at = q * expected->k;
        CHECK_STATUS(nearest(tree, &one, search, got.ids + at, (char*)got.distance2 + at * (queries->real_bits / 8)),
                     SAP_OK);
    }
    CHECK(rows_equal(expected, &got));
    CHECK(rows_guarded(&got));
    rows_free(&got);
}

static void try_case(const search_case* c, const devices* on, int64_t query_count, int32_t k) {
    cloud points = case_points(c), queries = case_queries(&points, query_count, c->chance);
    uint8_t* dropped = malloc((size_t)c->size + 1);
    sap_search search = {.k = k, .ordered = c->chance >> 20 & 1};
    if (c->chance >> 21 & 1) search.radius = case_radius(&points, &queries, c->chance);
    oracle_rules rules = {.limit2 = search.radius > 0 ? oracle_limit2(search.radius, c->real_bits) : (double)INFINITY};
    if (c->options.drop_duplicates) {
        oracle_duplicates(&points, dropped);
        rules.dropped = dropped;
    }
    rows expected = rows_make(queries.count, k, c->real_bits);
    rows_spoil(&expected);
    expect_rows(&expected, &points, &queries, &rules);
    for (int d = 0; d < on->count; d++) {
        char where[160];
        snprintf(where, sizeof where, "%s n %d dims %d f%d split %d axis %d leaf %d drop %d radius %g device %d",
                 family_name(c->kind), (int)c->size, c->dims, c->real_bits, (int)c->options.split, (int)c->options.axis,
                 c->options.leaf_size, c->options.drop_duplicates, search.radius, d);
        NOTE("%s", where);
        sap_tree* tree = NULL;
        if (!CHECK_STATUS(build(on->open[d], &points, &c->options, &tree), SAP_OK)) continue;
        ask_all_walks(tree, &queries, search, &expected, where);
        NOTE("%s k %d one by one", where, (int)k);
        if (d == (int)(c->chance % (uint64_t)on->count)) ask_singly(tree, &queries, &search, &expected);
        sap_tree_free(tree);
    }
    rows_free(&expected);
    free(dropped);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(all_cases_agree_with_the_oracle) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        int32_t k = case_k[(c.chance >> 32) % CASE_K];
        if (k < 0) k = (int32_t)c.size + 3;
        try_case(&c, &on, k > 1000 ? 3 : k > 50 ? 12 : 30, k);
    }
    devices_close(&on);
}

// Each walk on trees of both kinds meets every length of lists, and heaps, among points that trees find hard.
TEST(walks_of_both_kinds) {
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_EQUAL, FAMILY_DIAGONAL, FAMILY_TWO_GROUPS};
    static const int32_t ks[] = {1, 8, 16, 32, 33, 100}, dims[] = {2, 3, 5};
    devices on = devices_open(1);
    for (int i = 0; i < 2 * 2 * 6 * 3 * 4; i += 1 + 6 * TEST_SLOW) {
        search_case c = {.kind = kinds[i / 72], .size = 300, .dims = dims[i / 24 % 3], .real_bits = i % 2 ? 64 : 32};
        c.options.split = i / 2 % 2 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN;
        c.options.leaf_size = i % 5 == 0 ? 1 : 32;
        c.chance = (uint64_t)i * 4 + 2;
        try_case(&c, &on, 40, ks[i / 4 % 6]);
    }
    devices_close(&on);
}

// Each point twice as far away as the one before: a sliding-midpoint tree cuts off one a level, as deep as it may go.
TEST(deep_trees) {
    static const int32_t ks[] = {1, 8, 40};
    devices on = devices_open(1);
    for (int i = 0; i < 3 * 2; i++) {
        const int32_t k = ks[i / 2];
        cloud points = cloud_make(100, 3, i % 2 ? 64 : 32, 0), queries = cloud_make(200, 3, i % 2 ? 64 : 32, 0);
        for (int64_t p = 0; p < points.count; p++)
            for (int32_t a = 0; a < 3; a++) cloud_set(&points, p, a, a == 1 ? ldexp(1, (int)p - 50) : 0);
        for (int64_t q = 0; q < queries.count; q++)
            for (int32_t a = 0; a < 3; a++) cloud_set(&queries, q, a, a == 1 ? ldexp(1.2, (int)(q * 7 % 100) - 50) : 0);
        rows expected = rows_make(queries.count, k, points.real_bits);
        rows_spoil(&expected);
        expect_rows(&expected, &points, &queries, &(oracle_rules){.limit2 = INFINITY});
        for (int d = 0; d < on.count; d++) {
            const sap_tree_options options = {.split = SAP_SPLIT_SLIDING_MIDPOINT, .leaf_size = 1};
            sap_tree* tree = NULL;
            if (!CHECK_STATUS(build(on.open[d], &points, &options, &tree), SAP_OK)) continue;
            NOTE("deep tree: %d", (int)tree->shape.depth);
            CHECK(tree->shape.depth > 40); // a balanced tree has 7 levels
            ask_all_walks(tree, &queries, (sap_search){.k = k}, &expected, "deep tree");
            sap_tree_free(tree);
        }
        rows_free(&expected);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// More queries than a call takes in one piece, in random order.
TEST(many_queries) {
    devices on = devices_open(0);
    static const int32_t ks[] = {1, 8, 20};
    for (int i = 0; i < FAMILY_COUNT * 4; i++) {
        search_case c = {.kind = (family)(i / 4), .size = 3000, .dims = 2 + i % 3, .real_bits = i % 4 == 3 ? 64 : 32};
        c.options.split = i % 7 == 0 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN;
        c.chance = (uint64_t)i * 4 + 2;
        if (i % CASE_PART == 0) try_case(&c, &on, 2500, ks[i % 3]);
    }
    devices_close(&on);
}

static void try_self(const search_case* c, sap_device* device, int32_t k, bool with_self) {
    cloud points = case_points(c);
    uint8_t* dropped = malloc((size_t)c->size + 1);
    sap_search search = {.k = k, .with_self = with_self, .ordered = c->chance >> 20 & 1};
    if (c->chance >> 21 & 1) search.radius = case_radius(&points, &points, c->chance);
    oracle_rules rules = {.limit2 = search.radius > 0 ? oracle_limit2(search.radius, c->real_bits) : (double)INFINITY,
                          .self = true,
                          .with_self = with_self};
    if (c->options.drop_duplicates) {
        oracle_duplicates(&points, dropped);
        rules.dropped = dropped;
    }
    rows expected = rows_make(c->size, k, c->real_bits), got = rows_make(c->size, k, c->real_bits);
    rows_spoil(&expected);
    expect_rows(&expected, &points, &points, &rules);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(device, &points, &c->options, &tree), SAP_OK);
    for (int walk = SAP_WALK_AUTO; tree && walk <= SAP_WALK_PACKET; walk++) {
        NOTE("self %s n %d dims %d f%d split %d leaf %d drop %d radius %g walk %d k %d with %d", family_name(c->kind),
             (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size,
             c->options.drop_duplicates, search.radius, walk, (int)k, with_self);
        search.walk = (sap_walk)walk;
        bool refused = walk_refused(tree, walk);
        rows_spoil(&got);
        CHECK_STATUS(nearest_self(tree, c->real_bits, &search, got.ids, got.distance2),
                     refused ? SAP_ERROR_UNSUPPORTED : SAP_OK);
        CHECK(refused || rows_equal(&expected, &got));
        CHECK(rows_guarded(&got));
        if (!refused) CHECK_STATUS(nearest_self(tree, c->real_bits, &search, got.ids, NULL), SAP_OK);
        CHECK(refused || !memcmp(expected.ids, got.ids, got.id_bytes));
    }
    sap_tree_free(tree);
    rows_free(&expected);
    rows_free(&got);
    free(dropped);
    cloud_free(&points);
}

TEST(points_among_themselves) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.size > 1000 || (c.size == 1000 && c.chance >> 40 & 7)) continue;
        int32_t k = case_k[(c.chance >> 32) % (CASE_K - 1)];
        try_self(&c, on.open[(c.chance >> 50) % (uint64_t)on.count], c.size < 100 ? k : k % 20 + 1, c.chance >> 22 & 1);
    }
    devices_close(&on);
}

// Thousands of points, so that some leaves have few others around and some too many to list, and leaves that are asked
// for in more than one batch: what the tree's points find is what the same queries find, one after another.
static void try_leaves(const devices* on, family kind, int32_t real_bits, int32_t dims, int32_t leaf_size, int32_t k) {
    enum { POINTS = 4000 };
    cloud points = cloud_of_family(kind, POINTS, dims, real_bits, 0, 7);
    rows alone = rows_make(POINTS, k, real_bits), together = rows_make(POINTS, k, real_bits);
    for (int i = 0; i < on->count; i++) {
        sap_tree* tree = NULL;
        const sap_tree_options options = {.leaf_size = leaf_size};
        sap_search search = {.k = k, .with_self = true};
        NOTE("leaves %s dims %d f%d leaf %d k %d device %d", family_name(kind), dims, (int)real_bits, (int)leaf_size,
             (int)k, i);
        CHECK_STATUS(build(on->open[i], &points, &options, &tree), SAP_OK);
        if (!tree) continue;
        rows_spoil(&alone);
        rows_spoil(&together);
        CHECK_STATUS(nearest(tree, &points, &search, alone.ids, alone.distance2), SAP_OK);
        CHECK_STATUS(nearest_self(tree, real_bits, &search, together.ids, together.distance2), SAP_OK);
        CHECK(rows_equal(&alone, &together));
        CHECK(rows_guarded(&together));
        sap_tree_free(tree);
    }
    rows_free(&alone);
    rows_free(&together);
    cloud_free(&points);
}

TEST(points_leaf_by_leaf) {
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_LATTICE, FAMILY_EQUAL, FAMILY_OUTLIER};
    static const int32_t leaf_sizes[] = {5, 32, 150}, ks[] = {2, 4, 8, 16, 20, 32};
    devices on = devices_open(1);
    for (int i = 0; i < 5 * 3 * 6 * 2; i++) {
        if (TEST_SANITIZED && i % (TEST_SLOW ? 23 : 7)) continue;
        try_leaves(&on, kinds[i % 5], i / 90 ? 64 : 32, 2 + i % 4, leaf_sizes[i / 5 % 3], ks[i / 15 % 6]);
    }
    devices_close(&on);
}

// One id a query does not count: that of the nearest point, of another, of none.
static void try_without(const search_case* c, sap_device* device, int32_t k) {
    enum { QUERIES = 600 }; // more than are asked in the caller's order
    cloud points = case_points(c), queries = case_queries(&points, QUERIES, c->chance);
    oracle_rules rules = {.limit2 = INFINITY};
    int32_t without[QUERIES];
    sap_tree* tree = NULL;
    rows expected = rows_make(QUERIES, k, c->real_bits), got = rows_make(QUERIES, k, c->real_bits);
    rows_spoil(&expected);
    expect_rows(&expected, &points, &queries, &rules);
    for (int64_t q = 0; q < QUERIES; q++) // the nearest, the k-th, or what no point has
        without[q] = q % 4 == 0   ? expected.ids[q * k]
                     : q % 4 == 1 ? expected.ids[q * k + k - 1]
                     : q % 4 == 2 ? -1 - (int32_t)q
                                  : INT32_MAX - (int32_t)q;
    rules.without = without;
    expect_rows(&expected, &points, &queries, &rules);
    CHECK_STATUS(build(device, &points, &c->options, &tree), SAP_OK);
    for (int i = 0; tree && i < 2 * (SAP_WALK_STACKLESS + 1); i++) {
        const sap_search search = {.k = k, .walk = (sap_walk)(i / 2), .ordered = i % 2, .without_ids = without};
        NOTE("without %s n %d dims %d f%d split %d leaf %d walk %d k %d", family_name(c->kind), (int)c->size, c->dims,
             c->real_bits, (int)c->options.split, c->options.leaf_size, i / 2, (int)k);
        if (walk_refused(tree, i / 2)) continue;
        rows_spoil(&got);
        CHECK_STATUS(nearest(tree, &queries, &search, got.ids, got.distance2), SAP_OK);
        CHECK(rows_equal(&expected, &got));
        CHECK(rows_guarded(&got));
    }
    sap_tree_free(tree);
    rows_free(&expected);
    rows_free(&got);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(ids_left_out) {
    static const int32_t ks[] = {1, 2, 8, 33};
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.size > 100 || c.chance >> 40 & 7) continue;
        c.options.drop_duplicates = false;
        try_without(&c, on.open[(c.chance >> 50) % (uint64_t)on.count], ks[(c.chance >> 32) % 4]);
    }
    devices_close(&on);
}

TEST(no_queries) {
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_search search = {.k = 3};
    cloud points = cloud_of_family(FAMILY_UNIFORM, 10, 3, 32, 0, 1), none = cloud_make(0, 3, 32, 0);
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    int32_t id = 12345;
    float distance2 = 4;
    CHECK_STATUS(nearest(tree, &none, &search, &id, &distance2), SAP_OK);
    CHECK(id == 12345 && distance2 == 4);
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
}

// The counts are added to what is there, and asking for them changes no answer.
TEST(statistics) {
    devices on = devices_open(1);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 4000, 3, 32, 0, 5), queries = case_queries(&points, 500, 9);
    for (int split = 0; split < 2; split++) {
        int64_t nodes_of[2][SAP_WALK_PACKET + 1] = {{0}};
        for (int i = 0; i < 2 * (SAP_WALK_PACKET + 1); i++) {
            const int walk = i / 2;
            sap_device* device = on.open[i % 2 ? on.count - 1 : 0];
            NOTE("split %d walk %d device %d", split, walk, i % 2);
            sap_tree_options options = {.split = (sap_split)split};
            sap_search_stats stats = {0, 0, 0};
            sap_search search = {.k = 4, .walk = (sap_walk)walk};
            sap_tree* tree = NULL;
            CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
            if (walk_refused(tree, walk)) {
                sap_tree_free(tree);
                continue;
            }
            rows plain = rows_make(queries.count, 4, 32), counted = rows_make(queries.count, 4, 32);
            CHECK_STATUS(nearest(tree, &queries, &search, plain.ids, plain.distance2), SAP_OK);
            search.stats = &stats;
            CHECK_STATUS(nearest(tree, &queries, &search, counted.ids, counted.distance2), SAP_OK);
            CHECK(rows_equal(&plain, &counted));
            sap_search_stats first = stats;
            nodes_of[i % 2][walk] = first.nodes;
            CHECK(first.nodes > 0 && first.leaves >= 300 && first.points >= first.leaves);
            // Queries together are for neighbours: those of other queries are met, too, but no leaf twice.
            CHECK(walk < SAP_WALK_WARP ? first.points < 500 * 4000 / 4 : first.leaves <= 500 * tree->shape.leaves);
            CHECK_STATUS(nearest(tree, &queries, &search, counted.ids, counted.distance2), SAP_OK);
            CHECK(stats.nodes == 2 * first.nodes && stats.leaves == 2 * first.leaves);
            CHECK_EQUAL(stats.points, 2 * first.points);
            sap_tree_free(tree);
            rows_free(&plain);
            rows_free(&counted);
        }
#if !defined(__EMSCRIPTEN__)
        CHECK(4 * nodes_of[0][SAP_WALK_AUTO] < 3 * nodes_of[0][SAP_WALK_STACK]); // boxes on the CPU, of either kind
#endif
    }
    cloud_free(&points);
    cloud_free(&queries);
    devices_close(&on);
}

TEST_MAIN()
