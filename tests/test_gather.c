// Sums over the neighbours of queries: those of brute force in the order that cloud.h states, bit for bit, on every device;
// closed forms; bad input.
#include "cases.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 300, QUERIES = 40, WIDTH = 2 };

typedef struct sums {
    int32_t counts[MOST];
    double weights[MOST], offsets[3 * MOST], products[6 * MOST], attributes[WIDTH * MOST];
} sums;

static sap_gathered out_of(sums* s) {
    return (sap_gathered){.counts = s->counts,
                          .weights = s->weights,
                          .offsets = s->offsets,
                          .products = s->products,
                          .attributes = s->attributes};
}

typedef struct neighbors_of {
    int64_t found;
    int32_t ids[MOST];
    double distance2[MOST];
} neighbors_of;

// Neighbours by brute force. Those within a radius stand in the tree's own order, which sap_radius shows.
static void find_neighbors(const cloud* points, const cloud* queries, int64_t query, const uint8_t* dropped,
                           const sap_tree* tree, const sap_gather_options* o, neighbors_of* n) {
    float narrow[MOST] = {0};
    const cloud one = cloud_part(queries, query, 1);
    const oracle_rules rules = {
        .dropped = dropped, .limit2 = oracle_limit2(o->radius > 0 ? o->radius : (double)INFINITY, points->real_bits)};
    n->found = 0;
    if (o->k > 0) {
        const int32_t k = o->k < MOST ? o->k : MOST;
        void* distance2 = points->real_bits == 64 ? (void*)n->distance2 : (void*)narrow;
        CHECK(oracle_nearest(points, &one, 0, k, &rules, n->ids, distance2));
        while (n->found < k && n->ids[n->found] >= 0) n->found++;
        for (int64_t j = 0; j < n->found && points->real_bits == 32; j++) n->distance2[j] = (double)narrow[j];
        return;
    }
    sap_neighbors* found = NULL;
    int32_t expected[MOST];
    CHECK_STATUS(radius_collect(tree, &one, o->radius, &found), SAP_OK);
    n->found = found->offsets[1];
    CHECK_EQUAL(n->found, oracle_radius(points, &one, 0, &rules, expected, NULL));
    for (int64_t j = 0; j < n->found; j++) {
        n->ids[j] = found->ids[j];
        n->distance2[j] = found->distance2 ? (double)found->distance2[j] : found->distance2_f64[j];
    }
    sap_neighbors_free(found);
}

static double weight_of(const sap_gather_options* o, const neighbors_of* n, int64_t j) {
    double weight = o->weights ? (double)o->weights[n->ids[j]] : 1;
    if (o->falloff == SAP_FALLOFF_BIWEIGHT) {
        const double part = 1 - n->distance2[j] * (1 / (o->radius * o->radius));
        weight = part > 0 ? weight * (part * part) : 0;
    }
    return weight;
}

static void expect_row(const cloud* points, const cloud* queries, int64_t query, const sap_gather_options* o,
                       const neighbors_of* n, int64_t row, sums* s) {
    const int dims = points->dims, pairs = dims * (dims + 1) / 2;
    s->counts[row] = (int32_t)n->found;
    for (int64_t j = 0; j < n->found; j++) {
        const double w = weight_of(o, n, j);
        double d[3];
        int at = 0;
        for (int a = 0; a < dims; a++) d[a] = cloud_get(points, n->ids[j], a) - cloud_get(queries, query, a);
        s->weights[row] += w;
        for (int a = 0; a < dims; a++) s->offsets[row * dims + a] += d[a] * w;
        for (int a = 0; a < dims; a++)
            for (int b = a; b < dims; b++, at++)
                s->products[row * pairs + at] += b - a == 2 ? d[b] * w * d[a] : d[a] * w * d[b];
        for (int a = 0; a < WIDTH; a++)
            s->attributes[row * WIDTH + a] += w * (double)o->attributes[n->ids[j] * WIDTH + a];
    }
}

static bool is_equal(double a, double b) { return a == b; }

static void check_sums(const sums* got, const sums* expected, int64_t rows, int dims) {
    const int64_t pairs = dims * (dims + 1) / 2;
    for (int64_t i = 0; i < rows; i++) CHECK_EQUAL(got->counts[i], expected->counts[i]);
    for (int64_t i = 0; i < rows; i++) CHECK(is_equal(got->weights[i], expected->weights[i]));
    for (int64_t i = 0; i < rows * dims; i++) CHECK(is_equal(got->offsets[i], expected->offsets[i]));
    for (int64_t i = 0; i < rows * pairs; i++) CHECK(is_equal(got->products[i], expected->products[i]));
    for (int64_t i = 0; i < rows * WIDTH; i++) CHECK(is_equal(got->attributes[i], expected->attributes[i]));
}

// Which neighbours, by number: the default, few, more than a list in registers, a radius, with a falloff, with weights.
static sap_gather_options manner(int which, double radius, const float* weights, const float* attributes) {
    sap_gather_options o = {.k = 16};
    if (which == 1) o = (sap_gather_options){.k = 1, .weights = weights};
    if (which == 2) o = (sap_gather_options){.k = 50, .radius = radius};
    if (which == 3) o = (sap_gather_options){.radius = radius};
    if (which == 4) o = (sap_gather_options){.k = 20, .radius = radius, .falloff = SAP_FALLOFF_BIWEIGHT};
    if (which == 5) o = (sap_gather_options){.radius = radius, .falloff = SAP_FALLOFF_BIWEIGHT, .weights = weights};
    o.attributes = attributes;
    o.attribute_count = WIDTH;
    return o;
}

static sap_status gather(const sap_tree* tree, const cloud* queries, const sap_gather_options* o,
                         const sap_gathered* out) {
    return queries->real_bits == 64 ? sap_gather_f64(tree, cloud_f64(queries), o, out)
                                    : sap_gather(tree, cloud_f32(queries), o, out);
}

static void try_case(const devices* all, const search_case* c) {
    static sums expected, expected_self, got;
    static float weights[MOST], attributes[WIDTH * MOST];
    uint8_t dropped[MOST] = {0};
    cloud points = case_points(c);
    const cloud queries = case_queries(&points, QUERIES, c->chance);
    double radius = case_radius(&points, &queries, c->chance) * 2;
    if (!(radius > 1e-15 && radius < 1e15)) radius = 0.3;
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    for (int64_t i = 0; i < c->size; i++) {
        weights[i] = (float)(i % 5) * 0.25f;
        for (int64_t a = 0; a < WIDTH; a++) attributes[i * WIDTH + a] = (float)(i * 7 % 11 - a);
    }
    const sap_gather_options o = manner((int)(c->chance / 5 % 6), radius, weights, attributes);
    for (int d = 0; d < all->count; d++) {
        sap_tree* tree = NULL;
        neighbors_of n;
        NOTE("%s n %d dims %d f%d split %d leaf %d drop %d k %d radius %g device %d", family_name(c->kind),
             (int)c->size, c->dims, c->real_bits, (int)c->options.split, c->options.leaf_size,
             c->options.drop_duplicates, o.k, o.radius, d);
        CHECK_STATUS(build(all->open[d], &points, &c->options, &tree), SAP_OK);
        if (d == 0) {
            memset(&expected, 0, sizeof expected);
            memset(&expected_self, 0, sizeof expected_self);
            for (int64_t q = 0; q < QUERIES; q++) {
                find_neighbors(&points, &queries, q, dropped, tree, &o, &n);
                expect_row(&points, &queries, q, &o, &n, q, &expected);
            }
            for (int64_t i = 0; i < c->size; i++) {
                if (dropped[i]) continue;
                find_neighbors(&points, &points, i, dropped, tree, &o, &n);
                expect_row(&points, &points, i, &o, &n, i, &expected_self);
            }
        }
        memset(&got, 0x55, sizeof got);
        const sap_gathered out = out_of(&got);
        CHECK_STATUS(gather(tree, &queries, &o, &out), SAP_OK);
        check_sums(&got, &expected, QUERIES, c->dims);
        memset(&got, 0x55, sizeof got);
        CHECK_STATUS(sap_gather_self(tree, &o, &out), SAP_OK);
        check_sums(&got, &expected_self, c->size, c->dims);
        memset(&got, 0x55, sizeof got);
        CHECK_STATUS(gather(tree, &queries, &o, &(sap_gathered){.counts = got.counts}), SAP_OK);
        for (int64_t q = 0; q < QUERIES; q++) CHECK_EQUAL(got.counts[q], expected.counts[q]);
        sap_tree_free(tree);
    }
    cloud_free(&points);
    cloud_free((cloud*)(uintptr_t)&queries);
}

TEST(sums_are_those_of_brute_force) {
    devices all = devices_open(0);
    int tried = 0;
    for (int i = 0; i < CASE_COUNT; i++) {
        search_case c;
        if (!case_choose(i, &c) || c.size > MOST || c.dims > 3) continue;
        try_case(&all, &c);
        tried++;
    }
    CHECK(tried > 0);
    devices_close(&all);
}

TEST(many_queries_are_those_of_each_alone) {
    enum { POINTS = 5000, ASKED = 3000 };
    devices all = devices_open(3);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, 32, 0, 8);
    cloud queries = cloud_of_family(FAMILY_UNIFORM, ASKED, 3, 32, 0, 9);
    double* weights = malloc(ASKED * sizeof *weights);
    for (int d = 0; d < all.count; d++) {
        sap_tree* tree = NULL;
        const sap_gather_options o = {.radius = 0.1, .falloff = SAP_FALLOFF_BIWEIGHT};
        CHECK_STATUS(build(all.open[d], &points, NULL, &tree), SAP_OK);
        CHECK_STATUS(gather(tree, &queries, &o, &(sap_gathered){.weights = weights}), SAP_OK);
        for (int64_t q = 0; q < ASKED; q += 7) {
            const cloud one = cloud_part(&queries, q, 1);
            double alone = -1;
            CHECK_STATUS(gather(tree, &one, &o, &(sap_gathered){.weights = &alone}), SAP_OK);
            CHECK(is_equal(alone, weights[q]));
        }
        sap_tree_free(tree);
    }
    free(weights);
    cloud_free(&points);
    cloud_free(&queries);
    devices_close(&all);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    float attributes[20] = {0};
    double sums_of[60];
    sap_gather_options o = {0};
    const sap_gathered out = {.weights = sums_of}, wanted = {.attributes = sums_of};
    const sap_points queries = {s.coords, 10, 3, 0};
    CHECK_STATUS(sap_gather(NULL, queries, NULL, &out), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gather_self(NULL, NULL, &out), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gather_self(s.tree, NULL, &out), SAP_OK);
    CHECK(is_equal(sums_of[0], 10));
    CHECK_STATUS(sap_gather(s.tree, (sap_points){NULL, 0, 3, 0}, NULL, &out), SAP_OK);
    REFUSED(sap_gather(s.tree, queries, NULL, NULL), SAP_ERROR_ARGUMENT, "sums");
    REFUSED(sap_gather(s.tree, (sap_points){NULL, 10, 3, 0}, NULL, &out), SAP_ERROR_ARGUMENT, "queries");
    REFUSED(sap_gather(s.tree, (sap_points){s.coords, 10, 2, 0}, NULL, &out), SAP_ERROR_ARGUMENT, "queries");
    REFUSED(sap_gather(s.tree_f64, queries, NULL, &out), SAP_ERROR_ARGUMENT, "queries");
    o = (sap_gather_options){.reserved = {1}};
    REFUSED(sap_gather_self(s.tree, &o, &out), SAP_ERROR_ARGUMENT, "options.reserved");
    REFUSED(sap_gather_self(s.tree, NULL, &(sap_gathered){.reserved = {1}}), SAP_ERROR_ARGUMENT, "sums.reserved");
    o = (sap_gather_options){.k = -1};
    REFUSED(sap_gather_self(s.tree, &o, &out), SAP_ERROR_ARGUMENT, "options.k");
    o = (sap_gather_options){.radius = (double)NAN};
    REFUSED(sap_gather_self(s.tree, &o, &out), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_gather_options){.falloff = SAP_FALLOFF_BIWEIGHT};
    REFUSED(sap_gather_self(s.tree, &o, &out), SAP_ERROR_ARGUMENT, "options.falloff");
    REFUSED(sap_gather_self(s.tree, NULL, &wanted), SAP_ERROR_ARGUMENT, "options.attribute_count");
    o = (sap_gather_options){.attribute_count = 2};
    REFUSED(sap_gather_self(s.tree, &o, &wanted), SAP_ERROR_ARGUMENT, "options.attributes");
    o.attributes = attributes;
    CHECK_STATUS(sap_gather_self(s.tree, &o, &wanted), SAP_OK);
    attributes[11] = NAN;
    REFUSED(sap_gather_self(s.tree, &o, &wanted), SAP_ERROR_NOT_FINITE, "options.attributes[11]");
    close_stage(&s);
}

TEST(other_trees_are_refused) {
    stage s;
    open_stage(&s);
    sap_tree *wide = NULL, *periodic = NULL;
    double weights[10];
    const sap_gathered out = {.weights = weights};
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 8, 4, 0}, NULL, &wide), SAP_OK);
    const sap_tree_options options = {.period = {20, 0, 0}};
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &periodic), SAP_OK);
    REFUSED(sap_gather_self(wide, NULL, &out), SAP_ERROR_UNSUPPORTED, "dimensions");
    REFUSED(sap_gather_self(periodic, NULL, &out), SAP_ERROR_UNSUPPORTED, "periods");
    sap_tree_free(wide);
    sap_tree_free(periodic);
    close_stage(&s);
}

TEST_MAIN()
