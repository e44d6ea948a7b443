// Searches that are told a metric, weights, a mask, radii and so on: every answer is the oracle's, bit for bit, by every
// walk, on trees of both kinds and precisions, on every device.
#include "cases.h"
#include "sapwood/grid.h"
#include "sapwood/query.h"
#include "stage.h"
#include "test.h"

enum { QUERIES = 24 };

// What a search is told, drawn by chance, and the same for the oracle.
typedef struct telling {
    sap_search search;
    oracle_metric metric;
    double weights[SAP_MAX_DIMS], radii[QUERIES];
    int32_t ks[QUERIES];
    uint8_t* keep;
} telling;

static const struct {
    sap_metric metric;
    double p, power;
} metrics[] = {{SAP_METRIC_L2, 0, 2},   {SAP_METRIC_L1, 0, 1},     {SAP_METRIC_LINF, 0, INFINITY},
               {SAP_METRIC_LP, 1, 1},   {SAP_METRIC_LP, 2, 2},     {SAP_METRIC_LP, INFINITY, INFINITY},
               {SAP_METRIC_LP, 3, 3},   {SAP_METRIC_LP, 2.5, 2.5}, {SAP_METRIC_LP, 1.1, 1.1},
               {SAP_METRIC_LP, 40, 40}, {SAP_METRIC_L1, 0, 1},     {SAP_METRIC_LINF, 0, INFINITY}};

// A radius from among the distances of some query to some points, as far as a root is exact.
static double some_radius(const telling* t, const cloud* points, const cloud* queries, uint64_t* state) {
    const int64_t which = random_below(state, 8);
    if (which == 0) return 0;
    if (which == 1) return INFINITY;
    if (which == 2) return random_unit(state) * 0.3;
    if (!points->count) return 1;
    const double distance = oracle_distance(&t->metric, queries, random_below(state, queries->count), points,
                                            random_below(state, points->count));
    const double radius = t->metric.p == 2 ? sqrt(distance) : distance;
    return isfinite(radius) ? radius : 0.25;
}

static telling tell(const search_case* c, const cloud* points, const cloud* queries) {
    static const double factors[] = {1, 0.5, 3, 0, 1e-3, 1.7};
    telling t = {.search = {.k = 1}};
    uint64_t state = c->chance ^ 4711;
    const int64_t which = random_below(&state, (int64_t)(sizeof metrics / sizeof *metrics));
    t.metric.p = metrics[which].power;
    t.search.metric = metrics[which].metric;
    t.search.p = metrics[which].p;
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++) t.weights[a] = factors[random_below(&state, 6)];
    for (int q = 0; q < QUERIES; q++) {
        t.radii[q] = q % 7 == 3 ? (q % 2 ? -1 : (double)NAN) : some_radius(&t, points, queries, &state);
        t.ks[q] = (int32_t)random_below(&state, 12) - 1;
    }
    t.keep = malloc((size_t)points->count + 1);
    const int64_t share = random_below(&state, 3); // of points that are kept: none, half, most
    for (int64_t i = 0; i < points->count; i++) t.keep[i] = (uint8_t)(random_below(&state, 8) < share * 7 / 2) * 255;
    return t;
}

// Points the search and the oracle's rules to what is told; bits of `choice` say which parts.
static oracle_rules rules_of(telling* t, uint64_t choice, const uint8_t* dropped) {
    t->metric.weights = t->search.weights = choice & 1 ? t->weights : NULL;
    t->search.keep = choice & 2 ? t->keep : NULL;
    t->search.radii = choice & 4 ? t->radii : NULL;
    t->search.ks = choice & 8 ? t->ks : NULL;
    return (oracle_rules){.limit2 = INFINITY, .metric = &t->metric, .keep = t->search.keep, .dropped = dropped};
}

static void note_case(const search_case* c, const telling* t, uint64_t choice, int device, int walk) {
    NOTE("%s n %d dims %d f%d split %d leaf %d drop %d p %g choice %d k %d device %d walk %d", family_name(c->kind),
         (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size, c->options.drop_duplicates,
         t->metric.p, (int)choice, (int)t->search.k, device, walk);
}

// What the oracle says to a search for nearest points.
static void expect(const telling* t, const cloud* points, const cloud* queries, oracle_rules* rules, int32_t* ids,
                   unsigned char* distance2) {
    const size_t real = (size_t)points->real_bits / 8;
    const int32_t k = t->search.k;
    for (int64_t q = 0; q < queries->count; q++) {
        if (t->search.radii)
            rules->limit2 = t->radii[q] >= 0 ? oracle_limit(&t->metric, t->radii[q], points->real_bits) : -1;
        oracle_nearest(points, queries, q, k, rules, ids + q * k, distance2 + (size_t)(q * k) * real);
        for (int32_t i = t->search.ks ? t->ks[q] < 0 ? 0 : t->ks[q] : k; i < k; i++) {
            ids[q * k + i] = -1;
            if (real == 8)
                ((double*)(void*)distance2)[q * k + i] = INFINITY;
            else
                ((float*)(void*)distance2)[q * k + i] = INFINITY;
        }
    }
}

typedef struct trial {
    const search_case* c;
    telling told;
    cloud points, queries;
    uint8_t* dropped;
    uint64_t choice;
} trial;

static void try_nearest(trial* t, const devices* on) {
    const size_t real = (size_t)t->c->real_bits / 8;
    const int32_t k = case_k[(t->c->chance >> 32) % (CASE_K - 1)];
    oracle_rules rules = rules_of(&t->told, t->choice, t->dropped);
    const size_t places = (size_t)QUERIES * (size_t)k;
    int32_t *expected = malloc(places * sizeof *expected), *ids = malloc(places * sizeof *ids);
    unsigned char *distances = malloc(places * real), *distance2 = malloc(places * real);
    t->told.search.k = k;
    expect(&t->told, &t->points, &t->queries, &rules, expected, distances);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(build(on->open[d], &t->points, &t->c->options, &tree), SAP_OK);
        for (int walk = SAP_WALK_AUTO; tree && walk <= SAP_WALK_STACKLESS - (int)t->c->options.split; walk++) {
            note_case(t->c, &t->told, t->choice, d, walk);
            t->told.search.walk = (sap_walk)walk;
            memset(ids, 0x5a, places * sizeof *ids);
            memset(distance2, 0x5a, places * real);
            CHECK_STATUS(nearest(tree, &t->queries, &t->told.search, walk == d ? NULL : ids, distance2), SAP_OK);
            CHECK(walk == d || !memcmp(ids, expected, places * sizeof *ids));
            CHECK(!memcmp(distance2, distances, places * real));
            if (walk != d) continue;
            CHECK_STATUS(nearest(tree, &t->queries, &t->told.search, ids, NULL), SAP_OK);
            CHECK(!memcmp(ids, expected, places * sizeof *ids));
        }
        sap_tree_free(tree);
    }
    t->told.search.walk = SAP_WALK_AUTO;
    free(expected);
    free(ids);
    free(distances);
    free(distance2);
}

// Rows of at most `most` neighbours (0: all) are the oracle's.
static void check_rows(const trial* t, oracle_rules* rules, double radius, int32_t most, const sap_neighbors* found,
                       const int64_t* counts) {
    const size_t real = (size_t)t->c->real_bits / 8;
    int32_t* ids = malloc(((size_t)t->points.count + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)t->points.count + 1) * real);
    for (int64_t q = 0; q < QUERIES; q++) {
        const int64_t first = found->offsets[q], have = found->offsets[q + 1] - first;
        const double own = t->told.search.radii ? t->told.radii[q] : radius;
        rules->limit2 = own >= 0 ? oracle_limit(&t->told.metric, own, t->c->real_bits) : -1;
        int64_t count = oracle_radius(&t->points, &t->queries, q, rules, ids, distance2);
        if (most > 0 && count > most) count = most;
        CHECK_EQUAL(counts[q], count);
        if (!CHECK_EQUAL(have, count) || !count) continue;
        const unsigned char* row =
            real == 8 ? (const unsigned char*)found->distance2_f64 : (const unsigned char*)found->distance2;
        CHECK(!memcmp(found->ids + first, ids, (size_t)count * sizeof *ids));
        CHECK(!memcmp(row + (size_t)first * real, distance2, (size_t)count * real));
    }
    free(ids);
    free(distance2);
}

static void try_radius(trial* t, const devices* on) {
    uint64_t state = t->c->chance ^ 33;
    oracle_rules rules = rules_of(&t->told, t->choice & ~8u, t->dropped);
    const double radius = t->told.search.radii ? 0 : some_radius(&t->told, &t->points, &t->queries, &state);
    t->told.search.k = t->c->chance % 3 ? 0 : 1 + (int32_t)(t->c->chance % 11);
    t->told.search.radius = radius;
    t->told.search.sorted = true;
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        sap_neighbors* found = NULL;
        int64_t counts[QUERIES];
        note_case(t->c, &t->told, t->choice, d, 0);
        CHECK_STATUS(build(on->open[d], &t->points, &t->c->options, &tree), SAP_OK);
        CHECK_STATUS(radius_search(tree, &t->queries, &t->told.search, &found), SAP_OK);
        CHECK_STATUS(radius_search_count(tree, &t->queries, &t->told.search, counts), SAP_OK);
        if (found) check_rows(t, &rules, radius, t->told.search.k, found, counts);
        sap_neighbors_free(found);
        sap_tree_free(tree);
    }
}

static void try_case(const search_case* c, const devices* on, uint64_t choice) {
    trial t = {.c = c, .points = case_points(c), .choice = choice};
    t.queries = case_queries(&t.points, QUERIES, c->chance);
    t.told = tell(c, &t.points, &t.queries);
    if (c->options.drop_duplicates) {
        t.dropped = malloc((size_t)c->size + 1);
        oracle_duplicates(&t.points, t.dropped);
    }
    try_nearest(&t, on);
    try_radius(&t, on);
    free(t.told.keep);
    free(t.dropped);
    cloud_free(&t.points);
    cloud_free(&t.queries);
}

// Few of the many points: the oracle takes its time for roots.
static bool is_tried(const search_case* c) {
    return !(c->chance >> 40 & (c->size <= 100 ? 1 : c->size <= 1000 ? 7 : 31));
}

TEST(all_cases_agree_with_the_oracle) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (case_choose(i, &c) && is_tried(&c)) try_case(&c, &on, c.chance >> 20 & 15);
    }
    devices_close(&on);
}

// Points among themselves, each without itself; ks and radii by id.
static void try_self(const search_case* c, sap_device* device) {
    enum { K = 5 };
    const size_t real = (size_t)c->real_bits / 8, places = ((size_t)c->size + 1) * K;
    cloud points = case_points(c);
    telling told = tell(c, &points, &points);
    uint8_t* dropped = malloc((size_t)c->size + 1);
    oracle_duplicates(&points, dropped);
    oracle_rules rules = rules_of(&told, c->chance >> 20 & 3, c->options.drop_duplicates ? dropped : NULL);
    int32_t *expected = malloc(places * sizeof *expected), *ids = malloc(places * sizeof *ids);
    unsigned char *distances = malloc(places * real), *distance2 = malloc(places * real);
    sap_tree* tree = NULL;
    rules.self = true;
    told.search.k = K;
    expect(&told, &points, &points, &rules, expected, distances);
    CHECK_STATUS(build(device, &points, &c->options, &tree), SAP_OK);
    note_case(c, &told, c->chance >> 20 & 3, 0, 0);
    CHECK_STATUS(nearest_self(tree, c->real_bits, &told.search, ids, distance2), SAP_OK);
    CHECK(!memcmp(ids, expected, (size_t)c->size * K * sizeof *ids));
    CHECK(!memcmp(distance2, distances, (size_t)c->size * K * real));
    sap_tree_free(tree);
    free(told.keep);
    free(dropped);
    free(expected);
    free(ids);
    free(distances);
    free(distance2);
    cloud_free(&points);
}

// Powers of all sizes, of lengths of all sizes: where terms underflow or overflow, and where many are equal.
TEST(powers) {
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_LATTICE,     FAMILY_DENORMAL, FAMILY_MIXED,
                                   FAMILY_FAR,     FAMILY_EXPONENTIAL, FAMILY_DIAGONAL, FAMILY_TWO_GROUPS};
    static const double powers[] = {1.25, 1.5, 2.5, 3, 7.75, 1000};
    devices on = devices_open(1);
    for (int i = 0; i < 8 * 6 * 4; i += 1 + 12 * TEST_SLOW) {
        search_case c = {.kind = kinds[i / 24], .size = 500, .dims = i % 5 ? 3 : 2, .real_bits = i % 7 ? 32 : 64};
        c.options.split = i % 11 ? SAP_SPLIT_MEDIAN : SAP_SPLIT_SLIDING_MIDPOINT;
        c.chance = (uint64_t)i << 32 | (uint64_t)(i * 4 + 2); // of which k follows
        trial t = {.c = &c, .points = case_points(&c), .choice = i % 3 ? 0 : i % 2 ? 4 : 2};
        t.queries = case_queries(&t.points, QUERIES, c.chance);
        t.told = tell(&c, &t.points, &t.queries);
        t.told.search.metric = SAP_METRIC_LP;
        t.told.search.p = t.told.metric.p = powers[i / 4 % 6];
        try_nearest(&t, &on);
        free(t.told.keep);
        cloud_free(&t.points);
        cloud_free(&t.queries);
    }
    devices_close(&on);
}

TEST(points_among_themselves) {
    devices on = devices_open(2);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (case_choose(i, &c) && c.size <= 100 && !(c.chance >> 40 & 3))
            try_self(&c, on.open[(c.chance >> 50) % (uint64_t)on.count]);
    }
    devices_close(&on);
}

// More queries than one thread takes at a time, which are put in order: by several threads, each query for itself.
TEST(many_queries) {
    enum { MANY = 2600, K = 9 };
    devices on = devices_open(2);
    for (int kind = 0; kind < 6; kind++) {
        const search_case c = {
            .kind = FAMILY_UNIFORM, .size = 900, .dims = 2 + kind % 3, .real_bits = kind % 2 ? 64 : 32};
        cloud points = case_points(&c), queries = case_queries(&points, MANY, 5);
        const size_t real = (size_t)c.real_bits / 8;
        int32_t *ids = malloc(sizeof *ids * MANY * K), *own = malloc(sizeof *own * K), *ks = malloc(sizeof *ks * MANY);
        unsigned char *distance2 = malloc(real * MANY * K), *own_distance2 = malloc(real * K), keep[900];
        double* radii = malloc(sizeof *radii * MANY);
        for (int i = 0; i < 900; i++) keep[i] = i % 3 != 0;
        for (int q = 0; q < MANY; q++) {
            ks[q] = q % (K + 1);
            radii[q] = q % 5 * 0.05;
        }
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            sap_search search = {.k = K, .metric = metrics[kind].metric, .p = metrics[kind].p, .keep = keep};
            CHECK_STATUS(build(on.open[d], &points, NULL, &tree), SAP_OK);
            search.ks = ks;
            search.radii = radii;
            CHECK_STATUS(nearest(tree, &queries, &search, ids, distance2), SAP_OK);
            for (int64_t q = 0; q < MANY; q += 1 + 12 * TEST_SANITIZED) {
                const cloud one = cloud_part(&queries, q, 1);
                NOTE("kind %d device %d query %d", kind, d, (int)q);
                search.ks = ks + q;
                search.radii = radii + q;
                CHECK_STATUS(nearest(tree, &one, &search, own, own_distance2), SAP_OK);
                CHECK(!memcmp(ids + q * K, own, sizeof *own * K));
                CHECK(!memcmp(distance2 + (size_t)(q * K) * real, own_distance2, real * K));
            }
            sap_tree_free(tree);
        }
        free(ids);
        free(own);
        free(ks);
        free(distance2);
        free(own_distance2);
        free(radii);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

static bool same_rows(const sap_neighbors* a, const sap_neighbors* b) {
    const size_t all = (size_t)a->offsets[a->count];
    return a->count == b->count && !memcmp(a->offsets, b->offsets, ((size_t)a->count + 1) * sizeof(int64_t)) &&
           !memcmp(a->ids, b->ids, all * sizeof(int32_t)) &&
           (a->distance2 ? !memcmp(a->distance2, b->distance2, all * sizeof(float))
                         : !memcmp(a->distance2_f64, b->distance2_f64, all * sizeof(double)));
}

// So many queries that a GPU puts them in order: rows and counts are the CPU's, whatever the search was told.
TEST(many_rows) {
    enum { MANY = 4200, POINTS = 500 };
    devices on = devices_open(2);
    static uint8_t keep[POINTS];
    static double radii[MANY];
    static int64_t counts[MANY];
    for (int i = 0; i < POINTS; i++) keep[i] = i % 3 != 0;
    for (int q = 0; q < MANY; q++) radii[q] = q % 5 * 0.05;
    for (int kind = 0; kind < 8; kind++) {
        search_case c = {
            .kind = FAMILY_UNIFORM, .size = POINTS, .dims = 2 + (kind + kind / 4) % 2, .real_bits = 32, .chance = 3};
        sap_search search = {.sorted = true, .radii = radii, .metric = metrics[kind % 4].metric};
        if (search.metric == SAP_METRIC_LP) search = (sap_search){.sorted = true, .radius = 0.15, .keep = keep};
        if (kind % 4 == 1) search.keep = keep;
        if (kind / 4) c.options.period[0] = c.options.period[1] = 0.75;
        cloud points = case_points(&c), queries = cloud_of_family(FAMILY_UNIFORM, MANY, c.dims, 32, 0, 5);
        sap_neighbors* first = NULL;
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            sap_neighbors* found = NULL;
            NOTE("kind %d device %d", kind, d);
            CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
            CHECK_STATUS(radius_search_count(tree, &queries, &search, counts), SAP_OK);
            if (CHECK_STATUS(radius_search(tree, &queries, &search, &found), SAP_OK)) {
                for (int64_t q = 0; q < MANY; q++) CHECK_EQUAL(counts[q], found->offsets[q + 1] - found->offsets[q]);
                CHECK(found->offsets[MANY] > 0 && (!first || same_rows(first, found)));
            }
            sap_tree_free(tree);
            sap_neighbors_free(first);
            first = found;
        }
        sap_neighbors_free(first);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

static double value_at(const void* distance2, int32_t real_bits, int64_t at) {
    return real_bits == 64 ? ((const double*)distance2)[at] : (double)((const float*)distance2)[at];
}

// Answers may be 1 + eps times too far, not more, and are the same for every walk and device, also on trees with periods.
static void try_eps(const search_case* c, const devices* on, double eps) {
    enum { K = 12 };
    const int32_t k = c->chance >> 30 & 1 ? K : 6;
    const size_t real = (size_t)c->real_bits / 8, places = QUERIES * (size_t)k;
    cloud points = case_points(c), queries = case_queries(&points, QUERIES, c->chance);
    telling told = tell(c, &points, &queries);
    rules_of(&told, c->chance >> 20 & 3, NULL);
    int32_t first[QUERIES * K] = {0}, ids[QUERIES * K] = {0};
    double exact[QUERIES * K] = {0}, first2[QUERIES * K] = {0}, distance2[QUERIES * K] = {0};
    bool is_first = true;
    told.search.k = k;
    const double margin = isinf(told.metric.p) ? 1 + eps : pow(1 + eps, told.metric.p);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(build(on->open[d], &points, &c->options, &tree), SAP_OK);
        for (int walk = SAP_WALK_AUTO; tree && walk <= SAP_WALK_STACKLESS - (int)c->options.split; walk++) {
            note_case(c, &told, c->chance >> 20 & 3, d, walk);
            if (is_first) CHECK_STATUS(nearest(tree, &queries, &told.search, ids, exact), SAP_OK);
            told.search.eps = eps;
            told.search.walk = (sap_walk)walk;
            CHECK_STATUS(nearest(tree, &queries, &told.search, ids, distance2), SAP_OK);
            if (is_first) {
                memcpy(first, ids, sizeof first);
                memcpy(first2, distance2, places * real);
            }
            is_first = false;
            CHECK(!memcmp(ids, first, sizeof first) && !memcmp(distance2, first2, places * real));
        }
        sap_tree_free(tree);
    }
    for (int64_t i = 0; i < (int64_t)places; i++) {
        const double got = value_at(first2, c->real_bits, i), best = value_at(exact, c->real_bits, i);
        CHECK(got >= best && (isinf(margin) || got <= best * margin * 1.0001 + 1e-37));
    }
    free(told.keep);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(answers_that_are_near_enough) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || !is_tried(&c) || c.chance >> 48 & 1) continue;
        if (TEST_SLOW && c.chance >> 40 & 3) continue;
        c.options.drop_duplicates = false;
        if (c.chance >> 47 & 1) c.options.period[0] = c.options.period[c.dims - 1] = 0.75;
        try_eps(&c, &on, (double[]){0.01, 0.5, 3, 1e30}[c.chance % 4]);
    }
    devices_close(&on);
}

// Whether all devices find the same.
static void near_enough_everywhere(const char* what, const devices* on, const cloud* points, const cloud* queries,
                                   const sap_tree_options* options, const sap_search* search) {
    enum { MOST = 2400 };
    const size_t places = (size_t)queries->count * (size_t)search->k;
    int32_t first[MOST] = {0}, ids[MOST] = {0};
    float first2[MOST] = {0}, distance2[MOST] = {0};
    CHECK(places <= MOST);
    for (int d = 0; d < on->count && places <= MOST; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(build(on->open[d], points, options, &tree), SAP_OK);
        NOTE("%s split %d leaves of %d eps %g k %d device %d", what, (int)options->split, (int)options->leaf_size,
             search->eps, (int)search->k, d);
        CHECK_STATUS(nearest(tree, queries, search, d ? ids : first, d ? distance2 : first2), SAP_OK);
        CHECK(d == 0 ||
              (!memcmp(ids, first, places * sizeof *ids) && !memcmp(distance2, first2, places * sizeof *distance2)));
        sap_tree_free(tree);
    }
}

// By squared distances in three dimensions, for which a GPU has walks of its own.
TEST(answers_that_are_near_enough_are_one) {
    static const double farther[] = {0.01, 0.4, 1, 3};
    devices on = devices_open(1);
    for (int i = 0; i < FAMILY_COUNT * 2 * 4; i++) {
        const family kind = (family)(i / 8);
        const sap_tree_options options = {.split = i & 1 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN,
                                          .leaf_size = 3};
        cloud points = cloud_of_family(kind, TEST_SLOW ? 300 : 1500, 3, 32, 0, 1 + (uint64_t)i),
              queries = cloud_of_family(kind, 96, 3, 32, 0, 77 + (uint64_t)i);
        const sap_search search = {.k = i & 8 ? 12 : 5, .radius = i & 16 ? 2 : 0, .eps = farther[i / 2 % 4]};
        near_enough_everywhere(family_name(kind), &on, &points, &queries, &options, &search);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// Midpoints of whole numbers from 0 to 8 are whole, too, so that queries lie on planes; and two, three and four times a
// squared distance is that of some other point. There ids often decide which of two children comes first.
TEST(ties_among_what_is_near_enough_are_one) {
    uint64_t state = 3;
    devices on = devices_open(1);
    for (int i = 0; i < 24; i++) {
        const sap_tree_options options = {.split = i & 1 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN,
                                          .leaf_size = 1 + i / 6};
        cloud points = cloud_of_family(FAMILY_LATTICE, 300, 3, 32, 0, 1),
              queries = cloud_of_family(FAMILY_LATTICE, 200, 3, 32, 0, 1);
        for (int n = 0; n < 3 * 300; n++) ((float*)points.coords)[n] = (float)random_below(&state, 9);
        for (int n = 0; n < 3 * 200; n++) ((float*)queries.coords)[n] = (float)random_below(&state, 9);
        const sap_search search = {.k = i & 2 ? 12 : 5, .eps = sqrt(2 + i / 2 % 3) - 1};
        near_enough_everywhere("whole numbers", &on, &points, &queries, &options, &search);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// In many dimensions an answer that is near enough takes less time.
TEST(eps_saves_visits) {
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    int64_t visits[2];
    int32_t ids[64];
    cloud points = cloud_of_family(FAMILY_UNIFORM, 3000, 8, 32, 0, 1),
          queries = cloud_of_family(FAMILY_UNIFORM, 64, 8, 32, 0, 2);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    for (int i = 0; i < 2; i++) {
        sap_search_stats stats = {0, 0, 0};
        const sap_search search = {.k = 1, .walk = SAP_WALK_STACK, .eps = i, .stats = &stats};
        CHECK_STATUS(nearest(tree, &queries, &search, ids, NULL), SAP_OK);
        visits[i] = stats.leaves;
    }
    CHECK(visits[1] * 3 < visits[0]);
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
    cloud_free(&queries);
}

// What is told wrongly is refused in a sentence that names it, and outputs stay as they were.
TEST(refuses) {
    stage s;
    open_stage(&s);
    const struct {
        sap_search search;
        sap_status status;
        const char* word;
    } wrong[] = {
        {{.metric = (sap_metric)4}, SAP_ERROR_ARGUMENT, "search.metric"},
        {{.metric = (sap_metric)-1}, SAP_ERROR_ARGUMENT, "search.metric"},
        {{.metric = SAP_METRIC_LP}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.metric = SAP_METRIC_LP, .p = 0.99}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.metric = SAP_METRIC_LP, .p = -INFINITY}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.metric = SAP_METRIC_LP, .p = NAN}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.metric = SAP_METRIC_LP, .p = 1000.5}, SAP_ERROR_UNSUPPORTED, "search.p"},
        {{.metric = SAP_METRIC_L1, .p = 1}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.p = 2}, SAP_ERROR_ARGUMENT, "search.p"},
        {{.weights = (double[]){1, -1, 1}}, SAP_ERROR_ARGUMENT, "search.weights"},
        {{.weights = (double[]){1, 1, NAN}}, SAP_ERROR_ARGUMENT, "search.weights"},
        {{.weights = (double[]){INFINITY, 1, 1}}, SAP_ERROR_ARGUMENT, "search.weights"},
        {{.weights = (double[]){1, 1e39, 1}}, SAP_ERROR_ARGUMENT, "search.weights"},
        {{.radius = 1, .radii = (double[]){1, 1}}, SAP_ERROR_ARGUMENT, "search.radius"},
        {{.eps = -0.1}, SAP_ERROR_ARGUMENT, "search.eps"},
        {{.eps = NAN}, SAP_ERROR_ARGUMENT, "search.eps"},
        {{.eps = INFINITY}, SAP_ERROR_ARGUMENT, "search.eps"},
    };
    int32_t ids[4] = {-9, -9, -9, -9};
    int64_t counts[2] = {-9, -9};
    const sap_points queries = {s.coords, 2, 3, 0};
    sap_neighbors* found = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sap_search search = wrong[i].search;
        search.k = 2;
        REFUSED(sap_nearest(s.tree, queries, &search, ids, NULL), wrong[i].status, wrong[i].word);
        REFUSED(sap_nearest_self(s.tree, &search, ids, NULL), wrong[i].status, wrong[i].word);
        REFUSED(sap_radius_search(s.tree, queries, &search, &found), wrong[i].status, wrong[i].word);
        REFUSED(sap_radius_search_count(s.tree, queries, &search, counts), wrong[i].status, wrong[i].word);
    }
    const sap_search huge = {.k = 2, .weights = (double[]){1, 1e39, 1}}; // for doubles that is little
    double distance2[4];
    CHECK_STATUS(sap_nearest_f64(s.tree_f64, (sap_points_f64){s.coords_f64, 2, 3, 0}, &huge, NULL, distance2), SAP_OK);
    REFUSED(sap_nearest(s.tree, queries, &(sap_search){.k = 2}, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    CHECK(!found && counts[0] == -9 && ids[0] == -9 && ids[3] == -9);
    close_stage(&s);
}

// Calls that do not look at what a search may be told say so.
TEST(calls_that_cannot_be_told) {
    static const double weights[3] = {1, 1, 1};
    static const uint8_t keep[10];
    static const int32_t none[1];
    stage s;
    open_stage(&s);
    static const struct {
        sap_search search;
        const char* word;
    } told[] = {{{.metric = SAP_METRIC_L1}, "search.metric"},
                {{.weights = weights}, "search.weights"},
                {{.radii = weights}, "search.radii"},
                {{.keep = keep}, "search.keep"},
                {{.eps = 1}, "search.eps"},
                {{.ks = none}, "search.ks"}};
    const sap_points queries = {s.coords, 1, 3, 0};
    sap_query* query = NULL;
    int32_t ids[4] = {-9, -9, -9, -9};
    const sap_grid grid = {.width = 2, .height = 2};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        sap_search search = told[i].search;
        search.k = 1;
        REFUSED(sap_query_open(s.tree, &search, &query), SAP_ERROR_ARGUMENT, told[i].word);
        REFUSED(sap_nearest_grid(s.tree, grid, &search, ids, NULL), SAP_ERROR_ARGUMENT, told[i].word);
    }
    sap_search_stats stats = {0, 0, 0};
    const struct {
        sap_search search;
        const char* word;
    } odd[] = {{{.walk = SAP_WALK_STACK}, "search.walk"},
               {{.ordered = true}, "search.ordered"},
               {{.with_self = true}, "search.with_self"},
               {{.stats = &stats}, "search.stats"},
               {{.without_ids = ids}, "search.without_ids"},
               {{.ks = ids}, "search.ks"},
               {{.k = -1}, "search.k"},
               {{.radius = NAN}, "search.radius"},
               {{.radius = -1}, "search.radius"},
               {{.reserved = {1}}, "search.reserved"}};
    sap_neighbors* found = NULL;
    int64_t count = -9;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        REFUSED(sap_radius_search(s.tree, queries, &odd[i].search, &found), SAP_ERROR_ARGUMENT, odd[i].word);
        REFUSED(sap_radius_search_count(s.tree, queries, &odd[i].search, &count), SAP_ERROR_ARGUMENT, odd[i].word);
    }
    REFUSED(sap_radius_search(s.tree, queries, NULL, &found), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_radius_search(s.tree, queries, &(sap_search){.k = 0}, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_radius_search_count(s.tree, queries, &(sap_search){.k = 0}, NULL), SAP_ERROR_ARGUMENT, "counts");
    CHECK_STATUS(sap_radius_search(NULL, queries, &(sap_search){.k = 0}, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_search_count(NULL, queries, &(sap_search){.k = 0}, &count), SAP_ERROR_ARGUMENT);
    CHECK(!query && !found && count == -9 && ids[0] == -9);
    close_stage(&s);
}

TEST_MAIN()
