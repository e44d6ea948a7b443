// Periodic axes: what is wrapped where, what is refused, and what a saved tree keeps of it.
#include "cases.h"
#include "sapwood/query.h"
#include "stage.h"
#include "trees.h"
#include <float.h>

// As a tree wraps a coordinate.
static double wrapped(double x, double period, int32_t real_bits) {
    if (!(period > 0) || !isfinite(x)) return x;
    double rest = fmod(x, period); // exact, for floats too
    if (rest < 0) rest = real_bits == 64 ? rest + period : (double)((float)rest + (float)period);
    return rest < period ? rest : 0;
}

static cloud wrapped_cloud(const cloud* points, const double* period) {
    cloud all = cloud_make(points->count, points->dims, points->real_bits, 0);
    for (int64_t i = 0; i < points->count; i++)
        for (int32_t a = 0; a < points->dims; a++)
            cloud_set(&all, i, a, wrapped(cloud_get(points, i, a), period[a], points->real_bits));
    return all;
}

TEST(wrapping_by_example) {
    static const float given[] = {-0.25F, 0, 10, 9.999999F, -1e-10F, -20, 35.5F, 1e30F, -0.0F};
    static const float expected[] = {9.75F, 0, 0, 9.999999F, 0, 0, 5.5F, 0, 0};
    enum { COUNT = sizeof given / sizeof *given };
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_tree_info info;
    const sap_tree_options options = {.leaf_size = COUNT, .period = {10}};
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){given, COUNT, 1, 0}, &options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK(info.options.period[0] == 10 && info.options.period[1] == 0 && info.count == COUNT);
    const float* x = (const float*)(const void*)sap_block(tree, 0);
    const int32_t* ids = (const int32_t*)(const void*)(x + tree->shape.stride);
    for (int i = 0; i < COUNT; i++) {
        NOTE("%g became %g", (double)given[ids[i]], (double)x[i]);
        CHECK(ids[i] == 7 ? x[i] >= 0 && x[i] < 10 : x[i] == expected[ids[i]]);
    }
    sap_tree_free(tree);
    sap_device_close(device);
}

static void draw_periods(const search_case* c, double* period) {
    static const double some[] = {1, 0.5, 0, 3, 0.125, 1e-3, 100, 0.7};
    uint64_t state = c->chance ^ 99;
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++) {
        const double drawn = some[random_below(&state, 8)];
        period[a] = a >= c->dims ? 0 : c->real_bits == 64 ? drawn : (double)(float)drawn;
    }
}

// A tree with periods is the tree of the wrapped points, whatever they were; rebuilding keeps the periods.
TEST(trees_of_wrapped_points) {
    devices on = devices_open(2);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i += 3) {
        if (!case_choose(i, &c) || c.size > 1000) continue;
        sap_device *device = on.open[i / 3 % on.count], *other = on.open[0];
        sap_tree *tree = NULL, *plain = NULL, *copy = NULL;
        cloud points = case_points(&c);
        draw_periods(&c, c.options.period);
        cloud inside = wrapped_cloud(&points, c.options.period);
        sap_tree_options open = c.options;
        memset(open.period, 0, sizeof open.period);
        NOTE("%s n %d dims %d f%d", family_name(c.kind), (int)c.size, c.dims, c.real_bits);
        CHECK_STATUS(build(device, &points, &c.options, &tree), SAP_OK);
        CHECK_STATUS(build(other, &inside, &open, &plain), SAP_OK);
        CHECK(tree && plain && trees_equal(tree, plain));
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        const cloud half = cloud_part(&points, 0, points.count / 2), half_inside = cloud_part(&inside, 0, half.count);
        CHECK_STATUS(rebuild(tree, &half), SAP_OK);
        CHECK_STATUS(rebuild(plain, &half_inside), SAP_OK);
        CHECK_STATUS(sap_tree_copy(tree, other, &copy), SAP_OK);
        CHECK(trees_equal(tree, plain) && trees_equal(copy, plain));
        CHECK(!memcmp(copy->options.period, c.options.period, sizeof c.options.period));
        sap_tree_free(tree);
        sap_tree_free(plain);
        sap_tree_free(copy);
        cloud_free(&points);
        cloud_free(&inside);
    }
    devices_close(&on);
}

TEST(what_is_not_finite) {
    const float coords[] = {1, NAN, 25, -INFINITY, 5};
    stage s;
    sap_tree* tree = NULL;
    sap_tree_info info;
    open_stage(&s);
    sap_tree_options options = {.period = {10}};
    REFUSED(sap_tree_build(s.device, (sap_points){coords, 5, 1, 0}, &options, &tree), SAP_ERROR_NOT_FINITE, "point 1");
    options.drop_nonfinite = options.drop_duplicates = true;
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){coords, 5, 1, 0}, &options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK(info.not_finite == 2 && info.duplicates == 1 && info.count == 2); // 25 is 5
    sap_tree_free(tree);
    close_stage(&s);
}

TEST(periods_that_are_none) {
    stage s;
    open_stage(&s);
    const double most = sap_largest_coordinate(32, 3), most_f64 = sap_largest_coordinate(64, 3);
    const double wrong[] = {-1, NAN, INFINITY, -INFINITY, 1e-60, nextafter(most, INFINITY), 1e300};
    sap_tree* tree = NULL;
    for (int i = 0; i < 7; i++)
        for (int a = 0; a < 3; a++) {
            sap_tree_options options = {.period = {0}};
            options.period[a] = wrong[i];
            REFUSED(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &tree), SAP_ERROR_ARGUMENT,
                    "options.period");
        }
    for (int a = 3; a < SAP_MAX_DIMS; a++) {
        sap_tree_options options = {.period = {1, 0, 1}};
        options.period[a] = 1;
        REFUSED(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &tree), SAP_ERROR_ARGUMENT,
                "axis");
    }
    CHECK(!tree);
    sap_tree_options options = {.period = {most, FLT_TRUE_MIN, 0.1}};
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &tree), SAP_OK);
    sap_tree_info info;
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK(info.options.period[0] == most && info.options.period[2] == (double)0.1F);
    CHECK(info.lower[1] == 0 && info.upper[1] == 0);
    sap_tree_free(tree);
    options = (sap_tree_options){.period = {most_f64, 0, DBL_TRUE_MIN}};
    CHECK_STATUS(sap_tree_build_f64(s.device, (sap_points_f64){s.coords_f64, 10, 3, 0}, &options, &tree), SAP_OK);
    sap_tree_free(tree);
    close_stage(&s);
}

// ---- Saved trees

static unsigned char* save(const sap_tree* tree, int64_t* size) {
    CHECK_STATUS(sap_tree_saved_size(tree, size), SAP_OK);
    unsigned char* bytes = aligned_alloc(64, (size_t)(*size + 63) / 64 * 64);
    CHECK_STATUS(sap_tree_save_memory(tree, bytes, *size), SAP_OK);
    return bytes;
}

// Periods lie behind what a header held before there were any, where other trees have zeros.
TEST(saved_trees_keep_periods) {
    stage s;
    open_stage(&s);
    const sap_tree_options options = {.period = {5, 0, 3}};
    sap_tree *tree = NULL, *open = NULL, *loaded = NULL;
    cloud points = {s.coords, 10, 3, 3, 32}, inside = wrapped_cloud(&points, options.period);
    CHECK_STATUS(build(s.device, &points, &options, &tree), SAP_OK);
    CHECK_STATUS(build(s.device, &inside, NULL, &open), SAP_OK);
    int64_t size, size_open;
    unsigned char *bytes = save(tree, &size), *plain = save(open, &size_open);
    CHECK_EQUAL(size, size_open);
    for (int i = 104; i < 504; i++) CHECK(plain[i] == 0);
    CHECK(!memcmp(bytes, plain, 104) && !memcmp(bytes + 104, options.period, sizeof options.period));
    CHECK(!memcmp(bytes + 512, plain + 512, (size_t)size - 512));
    CHECK_STATUS(sap_tree_load_memory(s.device, bytes, size, NULL, &loaded), SAP_OK);
    CHECK(loaded && !memcmp(loaded->options.period, options.period, sizeof options.period));
    sap_tree_free(loaded);
    free(bytes);
    free(plain);
    sap_tree_free(tree);
    sap_tree_free(open);
    cloud_free(&inside);
    close_stage(&s);
}

// Headers whose checksums hold, but whose periods do not suit the tree.
TEST(saved_periods_that_are_none) {
    stage s;
    open_stage(&s);
    static const struct {
        double period[4];
        const char* word;
    } wrong[] = {{{-5}, "period"},   {{NAN}, "period"},     {{INFINITY}, "period"},
                 {{1e30}, "period"}, {{5, 0.1}, "period"},  {{5, 0, 3, 1}, "period"},
                 {{4}, "outside"},   {{0, 1e-9}, "period"}, {{0, 0, 0.5}, "outside"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t size;
        sap_tree *tree = NULL, *loaded = NULL;
        const sap_tree_options options = {.period = {5, 0, 3}, .split = (sap_split)(i % 2)};
        CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &tree), SAP_OK);
        memset(tree->options.period, 0, sizeof tree->options.period);
        memcpy(tree->options.period, wrong[i].period, sizeof wrong[i].period);
        unsigned char* bytes = save(tree, &size);
        REFUSED(sap_tree_load_memory(s.device, bytes, size, NULL, &loaded), SAP_ERROR_FORMAT, wrong[i].word);
        if (!strcmp(wrong[i].word, "outside")) {
            REFUSED(sap_tree_verify(tree), SAP_ERROR_FORMAT, "outside");
            CHECK_STATUS(sap_tree_load_memory(s.device, bytes, size, &(sap_load_options){.trust = true}, &loaded),
                         SAP_OK);
        }
        sap_tree_free(loaded);
        sap_tree_free(tree);
        free(bytes);
    }
    close_stage(&s);
}

// ---- Searches

enum { QUERIES = 24 };

// WebAssembly has no prepared queries and no trees against trees (processors/cpu.c).
#if defined(__EMSCRIPTEN__)
enum { ALL_CALLS = 0 };
#else
enum { ALL_CALLS = 1 };
#endif

// A case with periods: what the library is given, the same wrapped for the oracle, and what is asked.
typedef struct trial {
    search_case c;
    cloud points, queries, inside, inside_queries;
    uint8_t *dropped, *keep;
    double weights[SAP_MAX_DIMS], radii[QUERIES];
    int32_t ks[QUERIES];
    oracle_metric metric;
    oracle_rules rules;
    sap_search search;
} trial;

// Queries on the seams, beside them and far outside, besides those of other tests.
static void query_seams(trial* t, uint64_t* state) {
    static const double places[] = {0, 1, -1, 0.5, 2.5, -7.25, 1e9, 0.999999, -1e-9, 1.0000001, 0.25, 3};
    for (int64_t q = 0; q < QUERIES && t->queries.coords; q += 1 + random_below(state, 2))
        for (int32_t a = 0; a < t->c.dims; a++) {
            const double period = t->c.options.period[a];
            if (period > 0 && random_below(state, 3))
                cloud_set(&t->queries, q, a, places[random_below(state, 12)] * period);
        }
}

// What searches are told: nothing as often as anything.
static void tell(trial* t, uint64_t* state) {
    static const struct {
        sap_metric metric;
        double p, power;
    } metrics[] = {{SAP_METRIC_L2, 0, 2}, {SAP_METRIC_L1, 0, 1},     {SAP_METRIC_LINF, 0, INFINITY},
                   {SAP_METRIC_L2, 0, 2}, {SAP_METRIC_LP, 2.5, 2.5}, {SAP_METRIC_LP, 3, 3}};
    static const double factors[] = {1, 0.5, 3, 0, 1.7};
    const int64_t which = random_below(state, 12), choice = which > 5 ? 0 : random_below(state, 16);
    t->metric.p = which > 5 ? 2 : metrics[which].power;
    if (which <= 5) {
        t->search.metric = metrics[which].metric;
        t->search.p = metrics[which].p;
    }
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++) t->weights[a] = factors[random_below(state, 5)];
    for (int q = 0; q < QUERIES; q++) {
        t->radii[q] = q % 7 == 3 ? -1 : random_unit(state) * (q % 3);
        t->ks[q] = (int32_t)random_below(state, 12) - 1;
    }
    t->keep = malloc((size_t)t->c.size + 1);
    for (int64_t i = 0; i < t->c.size; i++) t->keep[i] = random_below(state, 4) != 0;
    t->metric.weights = t->search.weights = (choice & 9) == 9 ? t->weights : NULL;
    t->search.keep = choice & 2 ? t->keep : NULL;
    t->search.radii = choice & 4 ? t->radii : NULL;
    t->search.ks = choice & 8 ? t->ks : NULL;
    if (!t->search.radii && random_below(state, 3) == 0) t->search.radius = random_unit(state);
}

static trial trial_of(const search_case* c) {
    trial t = {.c = *c};
    uint64_t state = c->chance ^ 31;
    draw_periods(c, t.c.options.period);
    t.points = case_points(c);
    t.queries = case_queries(&t.points, QUERIES, c->chance);
    query_seams(&t, &state);
    t.inside = wrapped_cloud(&t.points, t.c.options.period);
    t.inside_queries = wrapped_cloud(&t.queries, t.c.options.period);
    if (c->options.drop_duplicates) {
        t.dropped = malloc((size_t)c->size + 1);
        oracle_duplicates(&t.inside, t.dropped);
    }
    tell(&t, &state);
    return t;
}

// Ties what points into the trial together, where it now lies.
static void trial_join(trial* t) {
    t->metric.period = t->c.options.period;
    if (t->metric.weights) t->metric.weights = t->search.weights = t->weights;
    if (t->search.radii) t->search.radii = t->radii;
    if (t->search.ks) t->search.ks = t->ks;
    t->rules = (oracle_rules){.limit2 = INFINITY, .metric = &t->metric, .keep = t->search.keep, .dropped = t->dropped};
}

static void trial_free(trial* t) {
    cloud_free(&t->points);
    cloud_free(&t->queries);
    cloud_free(&t->inside);
    cloud_free(&t->inside_queries);
    free(t->dropped);
    free(t->keep);
}

static void note_trial(const trial* t, int device, int walk) {
    const double* period = t->c.options.period;
    NOTE("%s n %d dims %d f%d split %d leaf %d metric %d keep %d radii %d ks %d weights %d k %d device %d walk %d L %g "
         "%g %g",
         family_name(t->c.kind), (int)t->c.size, t->c.dims, t->c.real_bits, (int)t->c.options.split,
         t->c.options.leaf_size, (int)t->search.metric, t->search.keep != NULL, t->search.radii != NULL,
         t->search.ks != NULL, t->search.weights != NULL, (int)t->search.k, device, walk, period[0], period[1],
         period[2]);
}

static double limit_of(const trial* t, int64_t query, double radius) {
    if (t->search.radii) radius = t->radii[query];
    return radius >= 0 ? oracle_limit(&t->metric, radius, t->c.real_bits) : -1;
}

static void put(void* distance2, int32_t real_bits, int64_t at, double value) {
    if (real_bits == 64)
        ((double*)distance2)[at] = value;
    else
        ((float*)distance2)[at] = (float)value;
}

// What the oracle says to a search for nearest points, for queries from a wrapped cloud.
static void expect(trial* t, const cloud* queries, int32_t* ids, unsigned char* distance2) {
    const size_t real = (size_t)t->c.real_bits / 8;
    const int32_t k = t->search.k;
    for (int64_t q = 0; q < queries->count; q++) {
        t->rules.limit2 = limit_of(t, q, t->search.radius > 0 ? t->search.radius : (double)INFINITY);
        oracle_nearest(&t->inside, queries, q, k, &t->rules, ids + q * k, distance2 + (size_t)(q * k) * real);
        for (int32_t i = t->search.ks ? t->ks[q] < 0 ? 0 : t->ks[q] : k; i < k; i++) {
            ids[q * k + i] = -1;
            put(distance2, t->c.real_bits, q * k + i, INFINITY);
        }
    }
}

// Rows of answers, the oracle's and the library's.
typedef struct rows {
    size_t places;
    int32_t *expected, *ids;
    unsigned char *distances, *distance2;
} rows;

static rows rows_make(int64_t count, int32_t k, int32_t real_bits) {
    rows r = {.places = (size_t)count * (size_t)k};
    r.expected = malloc((r.places + 1) * sizeof *r.expected);
    r.ids = malloc((r.places + 1) * sizeof *r.ids);
    r.distances = malloc((r.places + 1) * (size_t)real_bits / 8);
    r.distance2 = malloc((r.places + 1) * (size_t)real_bits / 8);
    return r;
}

static void rows_clear(const rows* r, int32_t real_bits) {
    memset(r->ids, 0x5a, r->places * sizeof *r->ids);
    memset(r->distance2, 0x5a, r->places * (size_t)real_bits / 8);
}

static void rows_free(rows* r) {
    free(r->expected);
    free(r->ids);
    free(r->distances);
    free(r->distance2);
}

#define SAME_IDS(r)       CHECK(!memcmp((r).ids, (r).expected, (r).places * sizeof *(r).ids))
#define SAME_DISTANCES(r) CHECK(!memcmp((r).distance2, (r).distances, (r).places * (size_t)t->c.real_bits / 8))

// One query a call, where searches are told no more than it takes.
static void try_one_by_one(const trial* t, const sap_tree* tree, const rows* r) {
    const int32_t k = t->search.k;
    const size_t real = (size_t)t->c.real_bits / 8;
    sap_query* query = NULL;
    CHECK_STATUS(sap_query_open(tree, &t->search, &query), SAP_OK);
    for (int64_t q = 0; query && q < QUERIES; q++) {
        const unsigned char* point = (const unsigned char*)t->queries.coords + (size_t)(q * t->queries.stride) * real;
        const bool has_distances = q % 2 == 0;
        void* distance2 = r->distance2 + (size_t)(q * k) * real;
        const int32_t found = real == 8 ? sap_query_nearest_f64(query, (const double*)(const void*)point,
                                                                r->ids + q * k, has_distances ? distance2 : NULL)
                                        : sap_query_nearest(query, (const float*)(const void*)point, r->ids + q * k,
                                                            has_distances ? distance2 : NULL);
        int32_t expected = 0;
        while (expected < k && r->expected[q * k + expected] >= 0) expected++;
        CHECK_EQUAL(found, expected);
        if (has_distances) CHECK(!memcmp(distance2, r->distances + (size_t)(q * k) * real, (size_t)k * real));
    }
    SAME_IDS(*r);
    sap_query_close(query);
}

static void try_nearest(trial* t, const devices* on) {
    const int32_t k = case_k[(t->c.chance >> 32) % (CASE_K - 1)];
    rows r = rows_make(QUERIES, k, t->c.real_bits);
    t->search.k = k;
    expect(t, &t->inside_queries, r.expected, r.distances);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(build(on->open[d], &t->points, &t->c.options, &tree), SAP_OK);
        for (int walk = SAP_WALK_AUTO; tree && walk <= SAP_WALK_STACKLESS - (int)t->c.options.split; walk++) {
            note_trial(t, d, walk);
            t->search.walk = (sap_walk)walk;
            rows_clear(&r, t->c.real_bits);
            CHECK_STATUS(nearest(tree, &t->queries, &t->search, walk == d ? NULL : r.ids, r.distance2), SAP_OK);
            if (walk != d) SAME_IDS(r);
            SAME_DISTANCES(r);
            rows_clear(&r, t->c.real_bits);
            CHECK_STATUS(nearest(tree, &t->queries, &t->search, r.ids, NULL), SAP_OK);
            SAME_IDS(r);
            const bool told =
                t->search.metric || t->search.keep || t->search.radii || t->search.ks || t->search.weights;
            if (ALL_CALLS && !told && !is_gpu(on->open[d])) try_one_by_one(t, tree, &r);
        }
        sap_tree_free(tree);
    }
    t->search.walk = SAP_WALK_AUTO;
    rows_free(&r);
}

// The tree's own points.
static void try_self(trial* t, sap_device* device) {
    t->search.radii = NULL;
    t->search.ks = NULL;
    t->search.k = 1 + (int32_t)(t->c.chance % 9);
    t->rules.self = true;
    rows r = rows_make(t->c.size, t->search.k, t->c.real_bits);
    sap_tree* tree = NULL;
    expect(t, &t->inside, r.expected, r.distances);
    note_trial(t, -1, 0);
    CHECK_STATUS(build(device, &t->points, &t->c.options, &tree), SAP_OK);
    rows_clear(&r, t->c.real_bits);
    CHECK_STATUS(nearest_self(tree, t->c.real_bits, &t->search, r.ids, r.distance2), SAP_OK);
    SAME_IDS(r);
    SAME_DISTANCES(r);
    sap_tree_free(tree);
    rows_free(&r);
}

// ---- Within a radius

// A radius: the exact distance of some query and some point, one beyond all periods, or a special one.
static double some_radius(const trial* t, uint64_t* state) {
    static const double some[] = {0, INFINITY, 0.3, 1000, 0.05};
    const int64_t which = random_below(state, 9);
    if (which < 5 || !t->c.size) return some[which % 5];
    const double distance = oracle_distance(&t->metric, &t->inside_queries, random_below(state, QUERIES), &t->inside,
                                            random_below(state, t->c.size));
    const double radius = t->metric.p == 2 ? sqrt(distance) : distance;
    return isfinite(radius) ? radius : 0.25;
}

// Row `row` of what was found is the oracle's, sorted; `ids` and `distance2` have room for all points.
static void check_row(trial* t, int64_t row, double radius, const sap_neighbors* found, int32_t* ids,
                      unsigned char* distance2) {
    const size_t real = (size_t)t->c.real_bits / 8;
    const int64_t first = found->offsets[row], have = found->offsets[row + 1] - first;
    t->rules.limit2 = limit_of(t, row, radius);
    const int64_t count =
        oracle_radius(&t->inside, t->rules.self ? &t->inside : &t->inside_queries, row, &t->rules, ids, distance2);
    if (!CHECK_EQUAL(have, count) || !count) return;
    const unsigned char* got =
        real == 8 ? (const unsigned char*)found->distance2_f64 : (const unsigned char*)found->distance2;
    CHECK(!memcmp(found->ids + first, ids, (size_t)count * sizeof *ids));
    CHECK(!memcmp(got + (size_t)first * real, distance2, (size_t)count * real));
}

// One query a call, and into the caller's memory: the rows of sap_radius_search before they are sorted.
static void try_other_calls(const trial* t, const sap_tree* tree, double radius, const sap_neighbors* found) {
    enum { ROOM = 5 };
    const size_t real = (size_t)t->c.real_bits / 8;
    const int64_t all = found->offsets[QUERIES], room = all / 2;
    int64_t offsets[QUERIES + 1], counts[QUERIES];
    int32_t *ids = malloc((size_t)(all + 1) * sizeof *ids), few[ROOM];
    unsigned char* distance2 = malloc((size_t)(all + 1) * real);
    sap_query* query = NULL;
    CHECK_STATUS(radius_into(tree, &t->queries, radius, room, offsets, ids, distance2), SAP_OK);
    CHECK(!memcmp(offsets, found->offsets, sizeof offsets));
    CHECK(room == 0 || !memcmp(ids, found->ids, (size_t)room * sizeof *ids));
    CHECK_STATUS(radius_into(tree, &t->queries, radius, 0, offsets, NULL, NULL), SAP_OK);
    CHECK(!memcmp(offsets, found->offsets, sizeof offsets));
    CHECK_STATUS(radius_count(tree, &t->queries, radius, counts), SAP_OK);
    for (int64_t q = 0; q < QUERIES; q++) CHECK_EQUAL(counts[q], offsets[q + 1] - offsets[q]);
    if (ALL_CALLS && !is_gpu(tree->device)) CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_OK);
    for (int64_t q = 0; query && q < QUERIES; q++) {
        const unsigned char* point = (const unsigned char*)t->queries.coords + (size_t)(q * t->queries.stride) * real;
        const int64_t count =
            real == 8
                ? sap_query_within_f64(query, (const double*)(const void*)point, radius, q % 2 ? ROOM : 0, few, NULL)
                : sap_query_within(query, (const float*)(const void*)point, radius, q % 2 ? ROOM : 0, few, NULL);
        const int64_t expected = offsets[q + 1] - offsets[q], shown = expected < ROOM ? expected : ROOM;
        CHECK_EQUAL(count, expected);
        CHECK(q % 2 == 0 || shown == 0 || !memcmp(few, found->ids + offsets[q], (size_t)shown * sizeof *few));
    }
    sap_query_close(query);
    free(ids);
    free(distance2);
}

static void try_radius(trial* t, const devices* on) {
    uint64_t state = t->c.chance ^ 77;
    const bool is_told = t->search.metric || t->search.keep || t->search.radii || t->search.weights;
    int32_t* ids = malloc(((size_t)t->c.size + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)t->c.size + 1) * 8);
    sap_search search = t->search;
    search.k = 0;
    search.ks = NULL;
    search.walk = SAP_WALK_AUTO;
    search.sorted = is_told;
    search.radius = search.radii ? 0 : some_radius(t, &state);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        sap_neighbors* found = NULL;
        int64_t counts[QUERIES];
        note_trial(t, d, -1);
        CHECK_STATUS(build(on->open[d], &t->points, &t->c.options, &tree), SAP_OK);
        CHECK_STATUS(radius_search(tree, &t->queries, &search, &found), SAP_OK);
        CHECK_STATUS(radius_search_count(tree, &t->queries, &search, counts), SAP_OK);
        if (found && !is_told) try_other_calls(t, tree, search.radius, found);
        if (found) CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
        for (int64_t q = 0; found && q < QUERIES; q++) {
            check_row(t, q, search.radius, found, ids, distance2);
            CHECK_EQUAL(counts[q], found->offsets[q + 1] - found->offsets[q]);
        }
        sap_neighbors_free(found);
        sap_tree_free(tree);
    }
    free(ids);
    free(distance2);
}

// All pairs, each once.
static void try_pairs(trial* t, sap_device* device) {
    uint64_t state = t->c.chance ^ 78;
    int32_t* ids = malloc(((size_t)t->c.size + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)t->c.size + 1) * 8);
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    t->search = (sap_search){.k = 0};
    t->metric.p = 2;
    t->metric.weights = NULL;
    t->rules.keep = NULL;
    t->rules.self = t->rules.greater_only = true;
    const double radius = some_radius(t, &state);
    note_trial(t, -2, 0);
    CHECK_STATUS(build(device, &t->points, &t->c.options, &tree), SAP_OK);
    CHECK_STATUS(sap_pairs(tree, radius, &found), SAP_OK);
    if (found) CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    for (int64_t i = 0; found && i < t->c.size; i++) check_row(t, i, radius, found, ids, distance2);
    sap_neighbors_free(found);
    sap_tree_free(tree);
    free(ids);
    free(distance2);
}

// Pairs of a tree with itself in both rows, the shift of each, and a tree against another.
static void try_tree_pairs(trial* t, sap_device* device) {
    uint64_t state = t->c.chance ^ 79;
    const int32_t dims = t->c.dims;
    int32_t* ids = malloc(((size_t)t->c.size + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)t->c.size + 1) * 8);
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    t->rules.self = t->rules.greater_only = false;
    const double radius = some_radius(t, &state);
    note_trial(t, -3, 0);
    CHECK_STATUS(build(device, &t->points, &t->c.options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_pairs(tree, tree, radius, &found), SAP_OK);
    t->rules.self = t->rules.with_self = true;
    if (found) CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    for (int64_t i = 0; found && i < t->c.size; i++) check_row(t, i, radius, found, ids, distance2);
    const int64_t pairs = found ? found->offsets[found->count] : 0;
    int8_t* shifts = malloc((size_t)(pairs * dims + 1));
    if (found) CHECK_STATUS(sap_pairs_shifts(tree, found, shifts), SAP_OK);
    for (int64_t row = 0; found && row < found->count; row++)
        for (int64_t at = found->offsets[row]; at < found->offsets[row + 1]; at++)
            for (int32_t a = 0; a < dims; a++) {
                const double q = cloud_get(&t->inside, row, a), x = cloud_get(&t->inside, found->ids[at], a);
                const double period = t->c.options.period[a], direct = fabs(q - x);
                const double around = t->c.real_bits == 64 ? period - direct : (double)((float)period - (float)direct);
                const double exact = t->c.real_bits == 64 ? direct : (double)(float)direct;
                const int shift = !(period > 0) ? 0 : around < exact ? (x < q ? 1 : -1) : 0;
                CHECK_EQUAL(shifts[at * dims + a], shift);
            }
    free(shifts);
    sap_neighbors_free(found);
    sap_tree_free(tree);
    free(ids);
    free(distance2);
}

enum { RADII = 6 };

// Pairs of a tree's points within each of some radii, and what products of whole weights are in sum.
static void count_by_force(const trial* t, const double* weights, const double radii[RADII], double counts[RADII],
                           double sums[RADII]) {
    for (int r = 0; r < RADII; r++) counts[r] = sums[r] = 0;
    for (int64_t i = 0; i < t->c.size; i++)
        for (int64_t j = 0; j < t->c.size; j++) {
            if (t->dropped && (t->dropped[i] || t->dropped[j])) continue;
            const double distance = oracle_distance(&t->metric, &t->inside, i, &t->inside, j);
            for (int r = 0; r < RADII; r++) {
                if (!(distance <= oracle_limit(&t->metric, radii[r], t->c.real_bits))) continue;
                counts[r]++;
                sums[r] += weights[i] * weights[j];
            }
        }
}

// A tree against itself, which needs half of the visits, and against another of the same points.
static void try_counts(trial* t, const devices* on) {
    uint64_t state = t->c.chance ^ 80;
    double radii[RADII] = {0}, counts[RADII], sums[RADII], found[RADII];
    double* weights = malloc(((size_t)t->c.size + 1) * sizeof *weights);
    for (int64_t i = 0; i < t->c.size; i++) weights[i] = (double)(random_below(&state, 9) - 2);
    for (int r = 1; r < RADII; r++) radii[r] = fmax(radii[r - 1], r == 5 ? INFINITY : some_radius(t, &state));
    count_by_force(t, weights, radii, counts, sums);
    for (int d = 0; d < on->count; d++) {
        sap_tree* trees[2] = {NULL, NULL};
        for (int i = 0; i < 2; i++) CHECK_STATUS(build(on->open[d], &t->points, &t->c.options, &trees[i]), SAP_OK);
        for (int i = 0; i < 2; i++) {
            note_trial(t, d, -4 - i);
            CHECK_STATUS(sap_tree_count_pairs(trees[0], trees[i], radii, RADII, NULL, NULL, true, found), SAP_OK);
            CHECK(!memcmp(found, counts, sizeof counts));
            CHECK_STATUS(sap_tree_count_pairs(trees[0], trees[i], radii, RADII, weights, weights, true, found), SAP_OK);
            for (int r = 0; r < RADII; r++) CHECK(found[r] == sums[r]);
        }
        sap_tree_free(trees[0]);
        sap_tree_free(trees[1]);
    }
    free(weights);
}

// ---- Boxes

// Whether an interval holds an image of a wrapped coordinate, as docs/numerics.md says.
static bool is_between(double x, double lower, double upper, double period, int32_t real_bits) {
    if (!(lower <= upper)) return false;
    if (!(period > 0)) return lower <= x && x <= upper;
    if (isinf(lower) && lower > 0) return false;
    if (isinf(upper) && upper < 0) return false;
    const double length = real_bits == 64 ? upper - lower : (double)((float)upper - (float)lower);
    const double low = wrapped(lower, period, real_bits), high = wrapped(upper, period, real_bits);
    if (length >= period || (low == high && length >= period / 2)) return true;
    return low <= high ? low <= x && x <= high : x >= low || x <= high;
}

static bool box_is_empty(const trial* t, const cloud* lower, const cloud* upper, int64_t box) {
    for (int32_t a = 0; a < t->c.dims; a++) {
        const double low = cloud_get(lower, box, a), high = cloud_get(upper, box, a);
        if (!(low <= high) || low == (double)INFINITY || high == -(double)INFINITY) return true;
    }
    return false;
}

// Boxes from query to query, and some that are as long as periods, infinite, empty or a NaN.
static void draw_boxes(const trial* t, cloud* lower, cloud* upper) {
    static const double lengths[] = {0, 0.1, 0.5, 0.9999999, 1, 1.3, 5, INFINITY, -0.1, 1e-9};
    uint64_t state = t->c.chance ^ 55;
    for (int64_t q = 0; q < QUERIES; q++)
        for (int32_t a = 0; a < t->c.dims; a++) {
            const double low = cloud_get(&t->queries, q, a), period = t->c.options.period[a];
            const double scale = period > 0 ? period : 1;
            const int64_t which = random_below(&state, q % 3 ? 7 : 10);
            cloud_set(lower, q, a, q % 8 == 5 && which == 7 ? -INFINITY : low);
            cloud_set(upper, q, a, low + lengths[which] * scale);
        }
}

static int64_t oracle_box(const trial* t, const cloud* lower, const cloud* upper, int64_t box, int32_t* ids) {
    int64_t count = 0;
    if (box_is_empty(t, lower, upper, box)) return 0;
    for (int64_t i = 0; i < t->c.size; i++) {
        bool is_inside = !t->dropped || !t->dropped[i];
        for (int32_t a = 0; a < t->c.dims && is_inside; a++)
            is_inside = is_between(cloud_get(&t->inside, i, a), cloud_get(lower, box, a), cloud_get(upper, box, a),
                                   t->c.options.period[a], t->c.real_bits);
        if (is_inside) ids[count++] = (int32_t)i;
    }
    return count;
}

static void try_boxes(const trial* t, const devices* on) {
    cloud lower = cloud_make(QUERIES, t->c.dims, t->c.real_bits, 0),
          upper = cloud_make(QUERIES, t->c.dims, t->c.real_bits, 0);
    int32_t *ids = malloc(((size_t)t->c.size + 1) * sizeof *ids),
            *into = malloc(((size_t)t->c.size * QUERIES + 1) * sizeof *into);
    draw_boxes(t, &lower, &upper);
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        sap_neighbors* found = NULL;
        int64_t counts[QUERIES], offsets[QUERIES + 1];
        CHECK_STATUS(build(on->open[d], &t->points, &t->c.options, &tree), SAP_OK);
        CHECK_STATUS(box_count(tree, &lower, &upper, counts), SAP_OK);
        CHECK_STATUS(box_search(tree, &lower, &upper, &found), SAP_OK);
        if (!found) continue;
        CHECK_STATUS(box_search_into(tree, &lower, &upper, found->offsets[QUERIES], offsets, into), SAP_OK);
        CHECK(!memcmp(offsets, found->offsets, sizeof offsets));
        CHECK(!offsets[QUERIES] || !memcmp(into, found->ids, (size_t)offsets[QUERIES] * sizeof *into));
        CHECK_STATUS(box_search_into(tree, &lower, &upper, 0, offsets, NULL), SAP_OK);
        CHECK(!memcmp(offsets, found->offsets, sizeof offsets));
        CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
        for (int64_t q = 0; q < QUERIES; q++) {
            const int64_t count = oracle_box(t, &lower, &upper, q, ids), first = found->offsets[q];
            note_trial(t, d, (int)q);
            CHECK_EQUAL(counts[q], count);
            if (CHECK_EQUAL(found->offsets[q + 1] - first, count) && count)
                CHECK(!memcmp(found->ids + first, ids, (size_t)count * sizeof *ids));
        }
        sap_neighbors_free(found);
        sap_tree_free(tree);
    }
    cloud_free(&lower);
    cloud_free(&upper);
    free(ids);
    free(into);
}

TEST(all_cases_agree_with_the_oracle) {
    devices on = devices_open(2);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.chance >> 40 & (c.size <= 100 ? 3 : c.size <= 1000 ? 15 : 127)) continue;
        trial t = trial_of(&c);
        trial_join(&t);
        try_nearest(&t, &on);
        try_radius(&t, &on);
        try_boxes(&t, &on);
        if (c.size <= 100) try_self(&t, on.open[c.chance % (uint64_t)on.count]);
        if (c.size <= 1000) try_pairs(&t, on.open[c.chance % (uint64_t)on.count]);
        if (ALL_CALLS && c.size <= 1000) try_tree_pairs(&t, on.open[c.chance % (uint64_t)on.count]);
        if (ALL_CALLS && c.size <= 100) try_counts(&t, &on);
        trial_free(&t);
    }
    devices_close(&on);
}

// More queries than one thread takes at a time, which are put in order, and so many hits that they need more room than
// one segment: as one query alone.
TEST(many_queries) {
    enum { MANY = 2600, K = 9, POINTS = 900 };
    const double radius = 0.1;
    devices on = devices_open(2);
    for (int kind = 0; kind < 4; kind++) {
        search_case c = {.kind = FAMILY_UNIFORM, .size = POINTS, .dims = 2 + kind % 2, .real_bits = kind / 2 ? 64 : 32};
        c.options = (sap_tree_options){.split = (sap_split)(kind % 2), .period = {1, 0.75}};
        cloud points = case_points(&c), queries = cloud_of_family(FAMILY_UNIFORM, MANY, c.dims, c.real_bits, 0, 5);
        const size_t real = (size_t)c.real_bits / 8;
        int32_t *ids = malloc(sizeof *ids * MANY * K), own[K];
        unsigned char *distance2 = malloc(real * MANY * K), own_distance2[K * 8];
        int64_t counts[MANY];
        for (int q = 0; q < MANY; q++) cloud_set(&queries, q, 0, 3 * cloud_get(&queries, q, 0) - 1);
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            sap_neighbors* found = NULL;
            CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
            CHECK_STATUS(nearest(tree, &queries, &(sap_search){.k = K}, ids, distance2), SAP_OK);
            CHECK_STATUS(radius_count(tree, &queries, radius, counts), SAP_OK);
            CHECK_STATUS(radius_collect(tree, &queries, radius, &found), SAP_OK);
            for (int64_t q = 0; found && q < MANY; q += 7 + 60 * TEST_SANITIZED) {
                const cloud one = cloud_part(&queries, q, 1);
                sap_neighbors* row = NULL;
                NOTE("kind %d device %d query %d", kind, d, (int)q);
                CHECK_STATUS(nearest(tree, &one, &(sap_search){.k = K}, own, own_distance2), SAP_OK);
                CHECK(!memcmp(own, ids + q * K, sizeof own));
                CHECK(!memcmp(own_distance2, distance2 + (size_t)q * K * real, K * real));
                CHECK_STATUS(radius_collect(tree, &one, radius, &row), SAP_OK);
                const int64_t count = found->offsets[q + 1] - found->offsets[q];
                if (row && CHECK_EQUAL(row->offsets[1], count) && CHECK_EQUAL(counts[q], count))
                    CHECK(!memcmp(row->ids, found->ids + found->offsets[q], (size_t)count * sizeof *row->ids));
                sap_neighbors_free(row);
            }
            sap_neighbors_free(found);
            sap_tree_free(tree);
        }
        free(ids);
        free(distance2);
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

// Row `row` of `some` holds those of row `from` of `all` whose ids are greater than `after`, in their order.
static void check_part(const sap_neighbors* some, int64_t row, const sap_neighbors* all, int64_t from, int64_t after) {
    const bool wide = all->distance2_f64 != NULL;
    int64_t at = some->offsets[row];
    for (int64_t i = all->offsets[from]; i < all->offsets[from + 1]; i++) {
        if (all->ids[i] <= after) continue;
        if (!CHECK(at < some->offsets[row + 1])) return;
        CHECK_EQUAL(some->ids[at], all->ids[i]);
        CHECK(wide ? some->distance2_f64[at] == all->distance2_f64[i] : some->distance2[at] == all->distance2[i]);
        at++;
    }
    CHECK_EQUAL(at, some->offsets[row + 1]);
}

// Pairs of more leaves than a walk gathers at a time, of which most are far from the ends of the periods and some are
// not: the rows of a search by the points, hit by hit, on every device.
TEST(pairs_of_many_leaves) {
    if (!ALL_CALLS) SKIP("this build has none");
    enum { POINTS = 3000 / (1 + 4 * TEST_SANITIZED) };
    static const double radii[] = {0.02, 0.1, 0.3};
    devices on = devices_open(2);
    for (int kind = 0; kind < 8; kind += 1 + 2 * TEST_SLOW) {
        search_case c = {.kind = FAMILY_UNIFORM, .size = POINTS, .dims = 2 + kind % 2, .real_bits = kind & 2 ? 64 : 32};
        c.options = (sap_tree_options){.split = (sap_split)(kind / 4), .leaf_size = 8, .period = {1, 0.75}};
        cloud points = case_points(&c), others = cloud_of_family(FAMILY_UNIFORM, POINTS / 2, c.dims, c.real_bits, 0, 8);
        for (int d = 0; d < on.count; d++)
            for (int r = 0; r < 3; r++) {
                sap_tree *tree = NULL, *other = NULL;
                sap_neighbors *each = NULL, *once = NULL, *asked = NULL, *met = NULL;
                NOTE("kind %d device %d radius %g", kind, d, radii[r]);
                CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
                CHECK_STATUS(build(on.open[d], &others, &c.options, &other), SAP_OK);
                CHECK_STATUS(radius_collect(tree, &points, radii[r], &each), SAP_OK);
                CHECK_STATUS(sap_pairs(tree, radii[r], &once), SAP_OK);
                CHECK_STATUS(radius_collect(tree, &others, radii[r], &asked), SAP_OK);
                CHECK_STATUS(sap_tree_pairs(other, tree, radii[r], &met), SAP_OK);
                for (int64_t i = 0; each && once && i < points.count; i++) check_part(once, i, each, i, i);
                for (int64_t i = 0; asked && met && i < others.count; i++) check_part(met, i, asked, i, -1);
                sap_neighbors_free(each);
                sap_neighbors_free(once);
                sap_neighbors_free(asked);
                sap_neighbors_free(met);
                sap_tree_free(tree);
                sap_tree_free(other);
            }
        cloud_free(&points);
        cloud_free(&others);
    }
    devices_close(&on);
}

// Every allocation of calls on trees with periods is refused in turn.
TEST(no_memory) {
    stage s;
    open_stage(&s);
    sap_tree *tree = NULL, *sliding = NULL;
    const sap_tree_options options = {.period = {5, 0, 3}};
    const sap_tree_options halves = {.period = {5, 0, 3}, .split = SAP_SPLIT_SLIDING_MIDPOINT};
    const sap_points points = {s.coords, 10, 3, 0};
    CHECK_STATUS(sap_tree_build(s.device, points, &options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_build(s.device, points, &halves, &sliding), SAP_OK);
    for (int call = 0; call < 7; call++) {
        if (call == 5 && !ALL_CALLS) continue;
        sap_status status = SAP_ERROR_MEMORY;
        for (int64_t allowed = 0; status == SAP_ERROR_MEMORY && allowed < 50; allowed++) {
            int32_t ids[20];
            float distance2[20];
            int64_t counts[10];
            sap_tree* built = NULL;
            sap_neighbors* found = NULL;
            sap_device_trim(s.device);
            s.w.fail_from = s.w.requests + 1 + allowed;
            s.w.fail_all_after = true;
            NOTE("call %d, %d allocations", call, (int)allowed);
            switch (call) {
            case 0: status = sap_tree_build(s.device, points, &options, &built); break;
            case 1: status = sap_nearest(tree, points, &(sap_search){.k = 2}, ids, NULL); break;
            case 2: status = sap_nearest(tree, points, &(sap_search){.k = 2}, NULL, distance2); break;
            case 3: status = sap_radius(tree, points, 1, &found); break;
            case 4: status = sap_pairs(sliding, 1, &found); break;
            case 5: status = sap_tree_pairs(sliding, tree, 1, &found); break;
            default: status = sap_box_count(tree, points, points, counts);
            }
            s.w.fail_from = 0;
            CHECK(status == SAP_OK || status == SAP_ERROR_MEMORY);
            CHECK(status == SAP_OK || (!built && !found));
            sap_tree_free(built);
            sap_neighbors_free(found);
        }
        CHECK_STATUS(status, SAP_OK);
    }
    s.w.log_calls = 0;
    sap_tree_free(tree);
    sap_tree_free(sliding);
    close_stage(&s);
}

// ---- What cannot be done

// Trees against trees: what periods must be; a tree asks another by that one's periods.
TEST(trees_against_trees) {
    if (!ALL_CALLS) SKIP("this build has none");
    stage s;
    open_stage(&s);
    sap_tree *tree = NULL, *other = NULL;
    sap_neighbors* found = NULL;
    const sap_tree_options options = {.period = {5, 0, 3}}, others = {.period = {5, 2, 3}};
    const sap_points points = {s.coords, 10, 3, 0};
    const double radius = 1;
    double counts = -9;
    int32_t ids[20], own[20];
    float distance2[20], own2[20];
    int8_t shift = 9;
    CHECK_STATUS(sap_tree_build(s.device, points, &options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_build(s.device, points, &others, &other), SAP_OK);
    REFUSED(sap_tree_pairs(tree, other, 1, &found), SAP_ERROR_ARGUMENT, "period");
    REFUSED(sap_tree_pairs(s.tree, other, 1, &found), SAP_ERROR_ARGUMENT, "period");
    REFUSED(sap_tree_count_pairs(tree, other, &radius, 1, NULL, NULL, true, &counts), SAP_ERROR_ARGUMENT, "period");
    REFUSED(sap_tree_count_pairs(s.tree, tree, &radius, 1, NULL, NULL, true, &counts), SAP_ERROR_ARGUMENT, "period");
    CHECK_STATUS(sap_tree_nearest(s.tree, tree, &(sap_search){.k = 2}, ids, distance2), SAP_OK);
    CHECK_STATUS(sap_nearest(tree, points, &(sap_search){.k = 2}, own, own2), SAP_OK);
    CHECK(!memcmp(ids, own, sizeof own) && !memcmp(distance2, own2, sizeof own2));
    CHECK_STATUS(sap_pairs(tree, 100, &found), SAP_OK);
    REFUSED(sap_pairs_shifts(tree, NULL, &shift), SAP_ERROR_ARGUMENT, "pairs");
    REFUSED(sap_pairs_shifts(tree, found, NULL), SAP_ERROR_ARGUMENT, "shifts");
    CHECK_STATUS(sap_pairs_shifts(NULL, found, &shift), SAP_ERROR_ARGUMENT);
    sap_neighbors_free(found);
    found = NULL;
    CHECK_STATUS(sap_radius(tree, (sap_points){s.coords, 3, 3, 0}, 1, &found), SAP_OK);
    REFUSED(sap_pairs_shifts(tree, found, &shift), SAP_ERROR_ARGUMENT, "pairs");
    CHECK(counts == -9 && shift == 9);
    sap_neighbors_free(found);
    sap_tree_free(tree);
    sap_tree_free(other);
    close_stage(&s);
}

TEST_MAIN()
