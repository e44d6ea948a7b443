// Inputs that trees find hard cost no more than they must: counted in visits, not in time.
#include "cases.h"
#include "test.h"
#include "trees.h"

// What a search cost per query.
typedef struct cost {
    double nodes, leaves, points;
} cost;

static cost cost_of(const sap_tree* tree, const cloud* queries, sap_search search) {
    sap_search_stats stats = {0, 0, 0};
    int32_t* ids = malloc((size_t)queries->count * (size_t)search.k * sizeof *ids);
    search.stats = &stats;
    CHECK_STATUS(nearest(tree, queries, &search, ids, NULL), SAP_OK);
    free(ids);
    double count = (double)queries->count;
    return (cost){(double)stats.nodes / count, (double)stats.leaves / count, (double)stats.points / count};
}

// Queries beside points of the cloud, each coordinate a few millionths of itself away; or, with nudge 0, on them.
static cloud queries_near(const cloud* points, int64_t count, double nudge) {
    cloud queries = cloud_make(count, points->dims, points->real_bits, 0);
    uint64_t state = 17;
    for (int64_t q = 0; q < count; q++) {
        int64_t p = random_below(&state, points->count);
        for (int32_t a = 0; a < points->dims; a++)
            cloud_set(&queries, q, a, cloud_get(points, p, a) * (1 + (random_unit(&state) - 0.5) * nudge));
    }
    return queries;
}

static sap_tree* build_family(sap_device* device, family kind, int64_t count, sap_split split, cloud* points) {
    sap_tree* tree = NULL;
    sap_tree_options options = {.split = split};
    *points = cloud_of_family(kind, count, 3, 32, 0, 7);
    CHECK_STATUS(build(device, points, &options, &tree), SAP_OK);
    return tree;
}

enum { MANY = CASE_STEP > 1 ? 40000 : 200000, QUERIES = 500 };

// The walk that knows cells by planes alone. In a balanced tree, which does not keep equal points together, it cannot
// tell that all points beyond a plane are as far away as those on this side.
static bool planes_only(int split, int walk) { return split == SAP_SPLIT_MEDIAN && walk != SAP_WALK_AUTO; }

// A query among equal points, or beside them, reads the leaves that hold the k smallest ids, and little else.
TEST(equal_points) {
    static const int32_t ks[] = {1, 8, 40};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 2 * 2 * 3; i++) {
        int walk = i % 3, split = i / 3 % 2;
        family kind = i / 6 ? FAMILY_TWO_GROUPS : FAMILY_EQUAL;
        cloud points;
        if (split && walk == SAP_WALK_STACKLESS) continue;
        sap_tree* tree = build_family(device, kind, MANY, (sap_split)split, &points);
        cloud on_them = cloud_part(&points, 0, QUERIES), beside = queries_near(&points, QUERIES, 1e-6);
        for (int j = 0; j < 3; j++) {
            NOTE("%s split %d walk %d k %d", family_name(kind), split, walk, ks[j]);
            sap_search search = {.k = ks[j], .walk = (sap_walk)walk};
            cost c = cost_of(tree, &on_them, search);
            CHECK(c.leaves <= 2 * ks[j] / 24.0 + 10 && c.nodes <= 200 + 4 * ks[j]);
            if (planes_only(split, walk)) continue;
            c = cost_of(tree, &beside, search);
            CHECK(c.leaves <= 2 * ks[j] / 24.0 + 10 && c.nodes <= 200 + 4 * ks[j]);
        }
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&beside);
    }
    sap_device_close(device);
}

// Points that differ, on a line in the order of their ids or against it, but whose squared distances do not: they are
// too small for a float, or the query is too far away for it to tell. The k smallest ids are the answer.
TEST(equal_distances) {
    static const int32_t ks[] = {1, 8, 40};
    static const double spacings[] = {1e-28, -1e-28, 1e-6, -1e-6};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 4 * 2 * 3; i++) {
        int walk = i % 3, split = i / 3 % 2;
        double spacing = spacings[i / 6];
        if (split && walk == SAP_WALK_STACKLESS) continue;
        cloud points = cloud_make(20000, 3, 32, 0), queries = cloud_make(QUERIES, 3, 32, 0);
        for (int64_t p = 0; p < points.count; p++)
            for (int32_t a = 0; a < 3; a++) cloud_set(&points, p, a, a ? 0 : (double)p * spacing);
        for (int64_t q = 0; q < queries.count; q++) {
            bool far = fabs(spacing) > 1e-20;
            double x = far ? (q % 2 ? 1e6 : -1e6) : (double)q * 40 * spacing;
            for (int32_t a = 0; a < 3; a++) cloud_set(&queries, q, a, a ? 0 : x);
        }
        sap_tree* tree = NULL;
        sap_tree_options options = {.split = (sap_split)split};
        CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
        for (int j = 0; j < 3; j++) {
            cost c = cost_of(tree, &queries, (sap_search){.k = ks[j], .walk = (sap_walk)walk});
            NOTE("%g split %d walk %d k %d: %.1f leaves, %.1f nodes", spacing, split, walk, ks[j], c.leaves, c.nodes);
            CHECK(c.leaves <= 2 * ks[j] / 24.0 + 32 && c.nodes <= 200 + 4 * ks[j]);
        }
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&queries);
    }
    sap_device_close(device);
}

// Hard families read at most twice the leaves of uniform points; by planes alone, five times.
TEST(leaves_read_compared_with_uniform) {
    static const family kinds[] = {FAMILY_LINE,      FAMILY_DIAGONAL, FAMILY_PLANE,      FAMILY_SHELL,
                                   FAMILY_OUTLIER,   FAMILY_SORTED,   FAMILY_REVERSED,   FAMILY_FAR,
                                   FAMILY_CLUSTERED, FAMILY_LATTICE,  FAMILY_EXPONENTIAL};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int split = 0; split < 2; split++) {
        cloud uniform;
        sap_tree* tree = build_family(device, FAMILY_UNIFORM, MANY, (sap_split)split, &uniform);
        cloud queries = queries_near(&uniform, QUERIES, 1e-6);
        cost plain[2];
        for (int walk = 0; walk < 2; walk++)
            plain[walk] = cost_of(tree, &queries, (sap_search){.k = 8, .walk = (sap_walk)walk});
        sap_tree_free(tree);
        cloud_free(&queries);
        cloud_free(&uniform);
        for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
            cloud points;
            tree = build_family(device, kinds[i], MANY, (sap_split)split, &points);
            queries = queries_near(&points, QUERIES, 1e-6);
            for (int walk = 0; walk < 2; walk++) {
                cost c = cost_of(tree, &queries, (sap_search){.k = 8, .walk = (sap_walk)walk});
                NOTE("%s split %d walk %d: %.1f leaves, uniform %.1f", family_name(kinds[i]), split, walk, c.leaves,
                     plain[walk].leaves);
                if (planes_only(split, walk) && kinds[i] == FAMILY_FAR) continue; // most of its points are equal
                CHECK(c.leaves <= (planes_only(split, walk) ? 5 : 2) * plain[walk].leaves);
            }
            sap_tree_free(tree);
            cloud_free(&points);
            cloud_free(&queries);
        }
    }
    sap_device_close(device);
}

// Sliding midpoints may go deep, but never deeper than a stack holds. Only points that are equal share a leaf.
TEST(depth) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < FAMILY_COUNT * 2; i++) {
        sap_tree_options options = {.split = SAP_SPLIT_SLIDING_MIDPOINT, .leaf_size = 1, .axis = (sap_axis)(i % 2)};
        options.drop_duplicates = i % 4 / 2;
        cloud points = cloud_of_family((family)(i / 2), 20000, 1 + i % 3, i % 4 ? 32 : 64, 0, 5);
        sap_tree* tree = NULL;
        sap_tree_info info;
        NOTE("%s dims %d", family_name((family)(i / 2)), 1 + i % 3);
        CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
        CHECK(info.depth <= SAP_MAX_DEPTH && (info.depth >= 14 || info.leaves < 1 << 14));
        CHECK(info.largest_leaf == 1 || info.leaves < info.count);
        CHECK(info.largest_leaf == 1 || !options.drop_duplicates);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    sap_device_close(device);
}

// The visits of some searches, to the last one: a change of pruning shows here before it shows on a clock.
TEST(golden_counts) {
    static const struct {
        family kind;
        sap_split split;
        int32_t k;
        sap_walk walk;
        sap_search_stats expected;
    } golden[] = {
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, 1, SAP_WALK_AUTO, {3035, 1070, 42800}},
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, 8, SAP_WALK_AUTO, {3770, 3751, 150040}},
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, 1, SAP_WALK_STACK, {9311, 1132, 44230}},
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, 8, SAP_WALK_STACK, {15370, 4060, 158568}},
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, 8, SAP_WALK_STACKLESS, {10526, 4418, 172552}},
        {FAMILY_UNIFORM, SAP_SPLIT_SLIDING_MIDPOINT, 1, SAP_WALK_AUTO, {3076, 1067, 23610}},
        {FAMILY_UNIFORM, SAP_SPLIT_SLIDING_MIDPOINT, 8, SAP_WALK_STACK, {18699, 5551, 117510}},
        {FAMILY_SHELL, SAP_SPLIT_MEDIAN, 8, SAP_WALK_AUTO, {3296, 2121, 84840}},
        {FAMILY_CLUSTERED, SAP_SPLIT_MEDIAN, 8, SAP_WALK_AUTO, {3858, 4830, 193200}},
        {FAMILY_CLUSTERED, SAP_SPLIT_SLIDING_MIDPOINT, 8, SAP_WALK_AUTO, {4067, 3810, 73667}},
        {FAMILY_LATTICE, SAP_SPLIT_MEDIAN, 8, SAP_WALK_AUTO, {3514, 2858, 114320}},
        {FAMILY_EQUAL, SAP_SPLIT_MEDIAN, 8, SAP_WALK_AUTO, {3000, 1000, 40000}},
    };
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < (int)(sizeof golden / sizeof *golden); i++) {
        cloud points;
        sap_tree* tree = build_family(device, golden[i].kind, 20000, golden[i].split, &points);
        cloud queries = queries_near(&points, 1000, 1e-2);
        int32_t* ids = malloc(1000 * 8 * sizeof *ids);
        sap_search_stats stats = {0, 0, 0};
        sap_search search = {.k = golden[i].k, .walk = golden[i].walk, .stats = &stats};
        CHECK_STATUS(nearest(tree, &queries, &search, ids, NULL), SAP_OK);
        NOTE("row %d: now {%lld, %lld, %lld}", i, (long long)stats.nodes, (long long)stats.leaves,
             (long long)stats.points);
        CHECK(stats.nodes == golden[i].expected.nodes && stats.leaves == golden[i].expected.leaves &&
              stats.points == golden[i].expected.points);
        free(ids);
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&queries);
    }
    sap_device_close(device);
}

TEST_MAIN()
