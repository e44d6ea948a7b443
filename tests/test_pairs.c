// Trees against trees: counts of pairs are those of brute force, and weights are added to the same bits everywhere.
#include "cases.h"
#include "pairs/ops.h"
#include "progress_host.h"
#include "stage.h"
#include "tree/layout.h"

enum { RADII = 9, NEAR = 70, MANY = 6000 };

// Devices of all vector instructions; GPUs keep no record of visits.
static devices cpus_open(int32_t threads) {
    devices all = devices_open(threads);
    if (all.count > 1 && is_gpu(all.open[all.count - 1])) sap_device_close(all.open[--all.count]);
    return all;
}

typedef struct asked {
    double radii[RADII];
    double *weights_a, *weights_b;
} asked;

static void note_case(const search_case* c, int device) {
    NOTE("%s n %d dims %d f%d split %d axis %d leaf %d drop %d device %d", family_name(c->kind), (int)c->size, c->dims,
         c->real_bits, (int)c->options.split, (int)c->options.axis, c->options.leaf_size, c->options.drop_duplicates,
         device);
}

// Ascending radii: none, some that are distances of points, equal ones, and sometimes all.
static void choose_radii(const cloud* a, const cloud* b, uint64_t chance, double radii[RADII]) {
    uint64_t state = chance ^ 99;
    for (int i = 0; i < RADII; i++) {
        const int64_t p = a->count ? random_below(&state, a->count) : 0,
                      q = b->count ? random_below(&state, b->count) : 0;
        const double distance2 = a->count && b->count ? oracle_distance2(a, p, b, q) : 1;
        radii[i] = i < 2 ? 0 : i == 5 && chance % 3 == 0 ? INFINITY : sqrt(distance2) / (double)(1 + i % 3);
        for (int j = i; j > 0 && radii[j - 1] > radii[j]; j--) {
            const double other = radii[j];
            radii[j] = radii[j - 1];
            radii[j - 1] = other;
        }
    }
}

// Whole numbers, whose sums are exact in any order.
static double* choose_weights(int64_t count, uint64_t chance) {
    double* weights = malloc(((size_t)count + 1) * sizeof *weights);
    for (int64_t i = 0; i < count; i++) weights[i] = (double)((int64_t)(random_next(&chance) % 9) - 2);
    return weights;
}

static void brute_force(const cloud* a, const uint8_t* dropped_a, const cloud* b, const uint8_t* dropped_b,
                        const asked* q, double counts[RADII], double sums[RADII]) {
    double limits2[RADII];
    for (int r = 0; r < RADII; r++) {
        limits2[r] = oracle_limit2(q->radii[r], a->real_bits);
        counts[r] = sums[r] = 0;
    }
    for (int64_t i = 0; i < a->count; i++) {
        for (int64_t j = 0; j < b->count && !dropped_a[i]; j++) {
            if (dropped_b[j]) continue;
            const double distance2 = oracle_distance2(a, i, b, j);
            int r = 0;
            while (r < RADII && !(distance2 <= limits2[r])) r++;
            if (r == RADII) continue;
            counts[r]++;
            sums[r] += q->weights_a[i] * q->weights_b[j];
        }
    }
}

static void check_counts(const sap_tree* a, const sap_tree* b, const asked* q, const double* weights_a,
                         const double* weights_b, const double expected[RADII]) {
    double bins[RADII + 1], cumulative[RADII + 1], sum = 0;
    bins[RADII] = cumulative[RADII] = -77;
    CHECK_STATUS(sap_tree_count_pairs(a, b, q->radii, RADII, weights_a, weights_b, false, bins), SAP_OK);
    CHECK_STATUS(sap_tree_count_pairs(a, b, q->radii, RADII, weights_a, weights_b, true, cumulative), SAP_OK);
    for (int r = 0; r < RADII; r++) {
        sum += bins[r];
        CHECK(bins[r] == expected[r]);
        CHECK(cumulative[r] == sum);
    }
    CHECK(bins[RADII] == -77 && cumulative[RADII] == -77);
}

// Two clouds, the second perhaps the first, and what is left of them.
typedef struct two_clouds {
    cloud a, other;
    uint8_t* dropped[2];
} two_clouds;

static two_clouds make_clouds(const search_case* c, bool itself) {
    two_clouds t = {.a = case_points(c)};
    t.other = case_queries(&t.a, 1 + (int64_t)(c->chance % 150), c->chance);
    for (int64_t i = 0; i < t.other.count; i++)
        for (int32_t x = 0; x < t.other.dims; x++)
            if (!(fabs(cloud_get(&t.other, i, x)) <= cloud_limit(c->dims, c->real_bits)))
                cloud_set(&t.other, i, x, 0.5);
    const cloud* b = itself ? &t.a : &t.other;
    t.dropped[0] = calloc((size_t)t.a.count + 1, 1);
    t.dropped[1] = calloc((size_t)b->count + 1, 1);
    if (c->options.drop_duplicates) {
        oracle_duplicates(&t.a, t.dropped[0]);
        oracle_duplicates(b, t.dropped[1]);
    }
    return t;
}

static void free_clouds(two_clouds* t) {
    free(t->dropped[0]);
    free(t->dropped[1]);
    cloud_free(&t->a);
    cloud_free(&t->other);
}

// Trees of both clouds, often of both kinds, or one of the first.
typedef struct two_trees {
    sap_tree *a, *own;
    const sap_tree* b;
} two_trees;

static two_trees build_both(sap_device* device, const search_case* c, const two_clouds* t, bool itself) {
    two_trees trees = {NULL, NULL, NULL};
    CHECK_STATUS(build(device, &t->a, &c->options, &trees.a), SAP_OK);
    sap_tree_options options = c->options;
    if (c->chance >> 16 & 1) {
        options.split = options.split == SAP_SPLIT_MEDIAN ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN;
        options.query_radius = 0;
    }
    if (!itself) CHECK_STATUS(build(device, &t->other, &options, &trees.own), SAP_OK);
    trees.b = itself ? trees.a : trees.own;
    return trees;
}

static void free_both(two_trees* trees) {
    sap_tree_free(trees->a);
    sap_tree_free(trees->own);
}

static void try_counts(const search_case* c, const devices* on, bool itself) {
    two_clouds t = make_clouds(c, itself);
    const cloud* b = itself ? &t.a : &t.other;
    asked q;
    double counts[RADII], sums[RADII];
    choose_radii(&t.a, b, c->chance, q.radii);
    q.weights_a = choose_weights(t.a.count, c->chance);
    q.weights_b = choose_weights(b->count, ~c->chance);
    brute_force(&t.a, t.dropped[0], b, t.dropped[1], &q, counts, sums);
    for (int d = 0; d < on->count; d++) {
        note_case(c, d);
        two_trees trees = build_both(on->open[d], c, &t, itself);
        check_counts(trees.a, trees.b, &q, NULL, NULL, counts);
        check_counts(trees.a, trees.b, &q, q.weights_a, q.weights_b, sums);
        free_both(&trees);
    }
    free(q.weights_a);
    free(q.weights_b);
    free_clouds(&t);
}

static const void* distance2_of(const sap_neighbors* found, int32_t real_bits) {
    return real_bits == 64 ? (const void*)found->distance2_f64 : (const void*)found->distance2;
}

// Rows are in the order in which a search for each point finds them; sorted they are the oracle's.
static void check_pairs(const two_clouds* t, const cloud* b, const sap_tree* tree_b, double radius,
                        sap_neighbors* found) {
    const size_t real = (size_t)b->real_bits / 8;
    const oracle_rules rules = {.limit2 = oracle_limit2(radius, b->real_bits), .dropped = t->dropped[1]};
    int32_t* ids = malloc(((size_t)b->count + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)b->count + 1) * real);
    sap_neighbors* singly = NULL;
    CHECK_STATUS(radius_collect(tree_b, &t->a, radius, &singly), SAP_OK);
    CHECK_EQUAL(found->count, t->a.count);
    for (int sorted = 0; sorted < 2; sorted++) {
        for (int64_t i = 0; i < t->a.count; i++) {
            const int64_t first = found->offsets[i], count = found->offsets[i + 1] - first;
            const unsigned char* row = (const unsigned char*)distance2_of(found, b->real_bits) + (size_t)first * real;
            const int64_t expected = t->dropped[0][i] ? 0
                                     : sorted         ? oracle_radius(b, &t->a, i, &rules, ids, distance2)
                                                      : singly->offsets[i + 1] - singly->offsets[i];
            if (!CHECK_EQUAL(count, expected) || !count) continue;
            const int32_t* other = sorted ? ids : singly->ids + singly->offsets[i];
            CHECK(!memcmp(found->ids + first, other, (size_t)count * sizeof *ids));
            if (sorted) CHECK(!memcmp(row, distance2, (size_t)count * real));
        }
        CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    }
    sap_neighbors_free(singly);
    free(ids);
    free(distance2);
}

static void try_pairs(const search_case* c, const devices* on, bool itself) {
    two_clouds t = make_clouds(c, itself);
    const cloud* b = itself ? &t.a : &t.other;
    const double radius = case_radius(b, &t.a, c->chance);
    for (int d = 0; d < on->count; d++) {
        sap_neighbors* found = NULL;
        note_case(c, d);
        two_trees trees = build_both(on->open[d], c, &t, itself);
        if (CHECK_STATUS(sap_tree_pairs(trees.a, trees.b, radius, &found), SAP_OK))
            check_pairs(&t, b, trees.b, radius, found);
        sap_neighbors_free(found);
        free_both(&trees);
    }
    free_clouds(&t);
}

static void check_nearest(const two_clouds* t, const cloud* b, const two_trees* trees, const sap_search* search,
                          double limit2) {
    const size_t real = (size_t)b->real_bits / 8, k = (size_t)search->k, rows = (size_t)t->a.count;
    int32_t *ids = malloc((rows + 1) * k * 4), *row = malloc(k * 4);
    unsigned char *distance2 = malloc((rows + 1) * k * real), *distances = malloc(k * real);
    const oracle_rules rules = {.limit2 = limit2, .dropped = t->dropped[1], .without = search->without_ids};
    CHECK_STATUS(b->real_bits == 64 ? sap_tree_nearest_f64(trees->a, trees->b, search, ids, (double*)(void*)distance2)
                                    : sap_tree_nearest(trees->a, trees->b, search, ids, (float*)(void*)distance2),
                 SAP_OK);
    for (size_t i = 0; i < rows; i++) {
        if (t->dropped[0][i]) {
            for (size_t j = 0; j < k; j++) CHECK_EQUAL(ids[i * k + j], -1);
            continue;
        }
        oracle_nearest(b, &t->a, (int64_t)i, search->k, &rules, row, distances);
        CHECK(!memcmp(ids + i * k, row, k * 4));
        CHECK(!memcmp(distance2 + i * k * real, distances, k * real));
    }
    free(ids);
    free(row);
    free(distance2);
    free(distances);
}

static void try_nearest(const search_case* c, const devices* on, bool itself) {
    two_clouds t = make_clouds(c, itself);
    const cloud* b = itself ? &t.a : &t.other;
    const double radius = c->chance % 3 ? 0 : case_radius(b, &t.a, c->chance);
    const double limit2 = radius > 0 ? oracle_limit2(radius, c->real_bits) : INFINITY;
    int32_t* without = malloc(((size_t)t.a.count + 1) * sizeof *without);
    for (int64_t i = 0; i < t.a.count; i++) without[i] = (int32_t)(itself ? i : i % 5 - 1);
    for (int d = 0; d < on->count; d++) {
        const sap_search search = {
            .k = 1 + (int32_t)(c->chance % 19), .radius = radius, .without_ids = c->chance % 2 ? without : NULL};
        note_case(c, d);
        two_trees trees = build_both(on->open[d], c, &t, itself);
        check_nearest(&t, b, &trees, &search, limit2);
        free_both(&trees);
    }
    free(without);
    free_clouds(&t);
}

static void try_all(void (*try_case)(const search_case*, const devices*, bool), int first) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || (c.size > 100 && (int)(c.chance >> 40 & 15) != first) || c.size > 1000) continue;
        try_case(&c, &on, i / 7 % 2);
    }
    devices_close(&on);
}

TEST(counts_agree_with_brute_force) { try_all(try_counts, 0); }
TEST(pairs_agree_with_the_oracle) { try_all(try_pairs, 1); }
TEST(nearest_agree_with_the_oracle) { try_all(try_nearest, 2); }

// So many points that there are many tasks, and several slabs of queries.
TEST(large_clouds) {
    devices on = devices_open(3);
    const int64_t count = 70000 / CASE_STEP;
    cloud a = cloud_of_family(FAMILY_UNIFORM, count, 3, 32, 0, 3),
          b = cloud_of_family(FAMILY_UNIFORM, count, 3, 32, 0, 4);
    double counts[4][3], *radii_of = malloc((size_t)count * sizeof *radii_of);
    int32_t* ks = malloc((size_t)count * sizeof *ks);
    uint8_t* keep = malloc((size_t)count);
    for (int64_t i = 0; i < count; i++) {
        radii_of[i] = i % 11 ? (double)(i % 7) * 0.01 : -1;
        ks[i] = (int32_t)(i % 3);
        keep[i] = i % 5 != 0;
    }
    for (int i = 0; i < 4; i++) {
        const int split = i % 2;
        sap_device* device = on.open[i < 2 ? 0 : on.count - 1]; // the last may be a GPU
        const double radii[3] = {0.01, 0.1, 0.3};
        const sap_tree_options options = {.split = (sap_split)split};
        sap_tree *tree_a = NULL, *tree_b = NULL;
        sap_neighbors *pairs = NULL, *singly = NULL;
        int32_t *ids = malloc((size_t)count * 8), *others = malloc((size_t)count * 8);
        const sap_search search = {.k = 2},
                         told = {.k = 2, .metric = SAP_METRIC_L1, .radii = radii_of, .ks = ks, .keep = keep};
        NOTE("split %d %s", split, i < 2 ? "first device" : "last device");
        CHECK_STATUS(build(device, &a, &options, &tree_a), SAP_OK);
        CHECK_STATUS(build(device, &b, &options, &tree_b), SAP_OK);
        CHECK_STATUS(sap_tree_pairs(tree_a, tree_b, 0.02, &pairs), SAP_OK);
        CHECK_STATUS(sap_radius(tree_b, cloud_f32(&a), 0.02, &singly), SAP_OK);
        if (pairs && singly && CHECK_EQUAL(pairs->offsets[count], singly->offsets[count])) {
            CHECK(!memcmp(pairs->offsets, singly->offsets, ((size_t)count + 1) * 8));
            CHECK(!memcmp(pairs->ids, singly->ids, (size_t)pairs->offsets[count] * 4));
            CHECK(!memcmp(pairs->distance2, singly->distance2, (size_t)pairs->offsets[count] * 4));
        }
        CHECK_STATUS(sap_tree_nearest(tree_a, tree_b, &search, ids, NULL), SAP_OK);
        CHECK_STATUS(sap_nearest(tree_b, cloud_f32(&a), &search, others, NULL), SAP_OK);
        CHECK(!memcmp(ids, others, (size_t)count * 8));
        CHECK_STATUS(sap_tree_nearest(tree_a, tree_b, &told, ids, NULL), SAP_OK);
        CHECK_STATUS(sap_nearest(tree_b, cloud_f32(&a), &told, others, NULL), SAP_OK);
        CHECK(!memcmp(ids, others, (size_t)count * 8)); // radii and ks are those of the points that ask, by id
        CHECK_STATUS(sap_tree_count_pairs(tree_a, tree_b, radii, 3, NULL, NULL, true, counts[i]), SAP_OK);
        CHECK(!memcmp(counts[i], counts[0], sizeof counts[i]));
        sap_neighbors_free(pairs);
        sap_neighbors_free(singly);
        sap_tree_free(tree_a);
        sap_tree_free(tree_b);
        free(ids);
        free(others);
    }
    free(radii_of);
    free(ks);
    free(keep);
    cloud_free(&a);
    cloud_free(&b);
    devices_close(&on);
}

// What sums have to agree on, whoever makes them.
typedef struct summed {
    double both[MANY], one[MANY], counts[MANY];
} summed;

static void sum_pairs(const sap_tree* a, const sap_tree* b, const double* weights, const double* ones, summed* out) {
    double radii[MANY], again[MANY];
    for (int i = 0; i < MANY; i++) radii[i] = i < NEAR ? 2 * pow(0.9, NEAR - i) : 2 + i;
    CHECK_STATUS(sap_tree_count_pairs(a, b, radii, MANY, weights, weights, false, out->both), SAP_OK);
    CHECK_STATUS(sap_tree_count_pairs(a, b, radii, MANY, NULL, weights, false, out->one), SAP_OK);
    CHECK_STATUS(sap_tree_count_pairs(a, b, radii, MANY, NULL, NULL, false, out->counts), SAP_OK);
    if (is_gpu(a->device)) return; // an emulated one takes its time
    CHECK_STATUS(sap_tree_count_pairs(a, b, radii, MANY, ones, weights, false, again), SAP_OK);
    CHECK(!memcmp(out->one, again, sizeof again));
}

// Weights that are no whole numbers: their sums are the same bits on any number of threads and any registers, and those
// of one weight left out are those of ones. There are so many radii that there are few tasks, which divide nodes, and
// leaves of more points than a GPU's warp has lanes.
TEST(sums_are_the_same_everywhere) {
    enum { POINTS = CASE_STEP == 1 ? 2000 : 150 };
    double *weights = malloc(POINTS * sizeof *weights), *ones = malloc(POINTS * sizeof *ones);
    uint64_t state = 5;
    for (int i = 0; i < POINTS; i++) {
        weights[i] = random_unit(&state);
        ones[i] = 1;
    }
    for (int kind = 0; kind < 8; kind += 1 + 2 * TEST_SLOW) {
        const int bits = kind % 2 ? 64 : 32;
        cloud points = cloud_of_family(FAMILY_CLUSTERED, POINTS, 3, bits, 0, 9),
              other = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, bits, 0, 10);
        const sap_tree_options options = {.split = (sap_split)(kind / 2 % 2), .leaf_size = kind / 4 ? 75 : 4};
        summed first[2], sums;
        for (int threads = 1; threads <= 4; threads += 3) {
            devices on = threads == 1 ? devices_open(threads) : cpus_open(threads);
            for (int d = 0; d < on.count; d++) {
                sap_tree *tree = NULL, *beside = NULL;
                NOTE("kind %d threads %d device %d", kind, threads, d);
                CHECK_STATUS(build(on.open[d], &points, &options, &tree), SAP_OK);
                CHECK_STATUS(build(on.open[d], &other, &options, &beside), SAP_OK);
                for (int self = 0; self < 2; self++) {
                    sum_pairs(tree, self ? tree : beside, weights, ones, &sums);
                    if (threads == 1 && d == 0) first[self] = sums;
                    CHECK(!memcmp(&first[self], &sums, sizeof sums));
                }
                sap_tree_free(tree);
                sap_tree_free(beside);
            }
            devices_close(&on);
        }
        cloud_free(&points);
        cloud_free(&other);
    }
    free(weights);
    free(ones);
}

// What is visited does not depend on registers, and stays as little as it was.
TEST(visits) {
    static const double limits2[] = {1e-4, 1e-3, 1e-2, 1e-1};
    cloud points = cloud_of_family(FAMILY_UNIFORM, 20000 / CASE_STEP, 3, 64, 0, 3);
    devices on = cpus_open(1);
    sap_search_stats first = {0, 0, 0};
    for (int d = 0; d < on.count; d++) {
        sap_tree* tree = NULL;
        double sums[4];
        sap_search_stats stats = {0, 0, 0};
        CHECK_STATUS(build(on.open[d], &points, NULL, &tree), SAP_OK);
        const sap_pair_counts_job job = {
            .a = tree, .b = tree, .limits2 = limits2, .bins = 4, .sums = sums, .stats = &stats};
        CHECK_STATUS(on.open[d]->rooms.pairs->count(&job), SAP_OK);
        if (d == 0) first = stats;
        CHECK(!memcmp(&first, &stats, sizeof stats));
        if (CASE_STEP == 1) {
            CHECK_EQUAL(stats.nodes, 89922);
            CHECK_EQUAL(stats.leaves, 36218);
            CHECK_EQUAL(stats.points, 55245210);
        }
        sap_tree_free(tree);
    }
    devices_close(&on);
    cloud_free(&points);
}

static sap_status call_number(int call, const sap_tree* tree, int32_t* ids) {
    const double radii[] = {0.01, 0.1};
    const sap_search search = {.k = 1};
    double counts[] = {-9, -9};
    sap_neighbors* found = NULL;
    sap_status status = SAP_OK;
    if (call == 0) status = sap_tree_count_pairs(tree, tree, radii, 2, NULL, NULL, true, counts);
    if (call == 1) status = sap_tree_pairs(tree, tree, 0.01, &found);
    if (call == 2) status = sap_tree_nearest(tree, tree, &search, ids, NULL);
    CHECK((call == 0 && status == SAP_OK) == (counts[0] >= 0 && counts[1] >= 0));
    CHECK((call == 1 && status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

// Whatever report asks a call to stop, it stops with that status, and the next call works.
TEST(cancelling) {
    progress_host host = {0};
    const sap_device_options options = {
        .processor = SAP_CPU, .threads = 1, .progress = progress_host_report, .progress_user = &host};
    cloud points = cloud_of_family(FAMILY_UNIFORM, 9000, 3, 32, 0, 6);
    int32_t* ids = malloc(9000 * sizeof *ids);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    for (int call = 0; call < 3; call++) {
        NOTE("call %d", call);
        host = (progress_host){0};
        CHECK_STATUS(call_number(call, tree, ids), SAP_OK);
        const int64_t reports = host.reports;
        CHECK(reports > 0);
        for (int64_t stop = 1; stop <= reports; stop += 1 + stop / 2) {
            host = (progress_host){.stop_at = stop};
            CHECK_STATUS(call_number(call, tree, ids), SAP_ERROR_CANCELLED);
            CHECK_EQUAL(host.reports, stop);
        }
        host = (progress_host){0};
        CHECK_STATUS(call_number(call, tree, ids), SAP_OK);
    }
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
    free(ids);
}

TEST(empty_trees_have_no_pairs) {
    stage s;
    open_stage(&s);
    for (int split = 0; split < 2; split++) {
        const double radii[] = {0, INFINITY}, weights[10] = {1};
        double counts[2] = {9, 9};
        sap_tree* empty = NULL;
        const sap_tree_options options = {.split = (sap_split)split};
        CHECK_STATUS(sap_tree_build(s.device, (sap_points){NULL, 0, 3, 0}, &options, &empty), SAP_OK);
        CHECK_STATUS(sap_tree_count_pairs(empty, empty, radii, 2, NULL, NULL, true, counts), SAP_OK);
        CHECK(counts[0] == 0 && counts[1] == 0);
        counts[0] = counts[1] = 9;
        CHECK_STATUS(sap_tree_count_pairs(s.tree, empty, radii, 2, weights, NULL, true, counts), SAP_OK);
        CHECK(counts[0] == 0 && counts[1] == 0);
        CHECK_STATUS(sap_tree_count_pairs(empty, s.tree, radii, 2, NULL, NULL, false, counts), SAP_OK);
        CHECK(counts[0] == 0 && counts[1] == 0);
        CHECK_STATUS(sap_tree_count_pairs(s.tree, s.sliding, NULL, 0, NULL, NULL, false, NULL), SAP_OK);
        sap_neighbors *from = NULL, *to = NULL;
        sap_search search = {.k = 1};
        int32_t ids[10];
        CHECK_STATUS(sap_tree_pairs(empty, s.tree, 1, &from), SAP_OK);
        CHECK_STATUS(sap_tree_pairs(s.tree, empty, 1, &to), SAP_OK);
        CHECK(from && from->count == 0 && to && to->count == 10 && to->offsets[10] == 0);
        CHECK_STATUS(sap_tree_nearest(empty, s.tree, &search, NULL, NULL), SAP_OK);
        CHECK_STATUS(sap_tree_nearest(s.tree, empty, &search, ids, NULL), SAP_OK);
        for (int i = 0; i < 10; i++) CHECK_EQUAL(ids[i], -1);
        sap_neighbors_free(from);
        sap_neighbors_free(to);
        sap_tree_free(empty);
    }
    close_stage(&s);
}

TEST(counting_refuses) {
    stage s;
    open_stage(&s);
    const double radii[] = {1, 2}, falling[] = {2, 1}, negative[] = {-1, 2}, nan[] = {1, NAN};
    double weights[10] = {0}, counts[2] = {-9, -9};
    sap_tree* flat = NULL;
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 2, 0}, NULL, &flat), SAP_OK);
    CHECK_STATUS(sap_tree_count_pairs(NULL, s.tree, radii, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_count_pairs(s.tree, NULL, radii, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "b: is NULL");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree_f64, radii, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "64-bit");
    REFUSED(sap_tree_count_pairs(s.tree, flat, radii, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "dimensions");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, NULL, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "radii");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, radii, -1, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "count");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, radii, 2, NULL, NULL, true, NULL), SAP_ERROR_ARGUMENT, "counts");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, falling, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "radii[1]");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, negative, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT,
            "radii[0]");
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, nan, 2, NULL, NULL, true, counts), SAP_ERROR_ARGUMENT, "radii[1]");
    weights[3] = INFINITY;
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, radii, 2, weights, NULL, true, counts), SAP_ERROR_NOT_FINITE,
            "weights_a[3]");
    weights[3] = NAN;
    REFUSED(sap_tree_count_pairs(s.tree, s.tree, radii, 2, NULL, weights, true, counts), SAP_ERROR_NOT_FINITE,
            "weights_b[3]");
    CHECK(counts[0] == -9 && counts[1] == -9);
    sap_tree_free(flat);
    close_stage(&s);
}

TEST(searching_refuses) {
    stage s;
    open_stage(&s);
    const sap_search search = {.k = 2}, none = {.k = 0};
    sap_neighbors* found = NULL;
    int32_t ids[20];
    memset(ids, 0x11, sizeof ids);
    CHECK_STATUS(sap_tree_pairs(NULL, s.tree, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_nearest(NULL, s.tree, &search, ids, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_pairs(s.tree, NULL, 1, &found), SAP_ERROR_ARGUMENT, "b: is NULL");
    REFUSED(sap_tree_pairs(s.tree, s.tree_f64, 1, &found), SAP_ERROR_ARGUMENT, "64-bit");
    REFUSED(sap_tree_pairs(s.tree, s.tree, -1, &found), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_tree_pairs(s.tree, s.tree, NAN, &found), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_tree_pairs(s.tree, s.tree, 1, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_tree_nearest(s.tree, s.tree_f64, &search, ids, NULL), SAP_ERROR_ARGUMENT, "64-bit");
    REFUSED(sap_tree_nearest(s.tree_f64, s.tree_f64, &search, ids, NULL), SAP_ERROR_ARGUMENT, "a: holds");
    REFUSED(sap_tree_nearest_f64(s.tree, s.tree, &search, ids, NULL), SAP_ERROR_ARGUMENT, "a: holds");
    REFUSED(sap_tree_nearest(s.tree, s.tree, &none, ids, NULL), SAP_ERROR_ARGUMENT, "k");
    REFUSED(sap_tree_nearest(s.tree, s.tree, NULL, ids, NULL), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_tree_nearest(s.tree, s.tree, &search, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    CHECK(found == NULL && ids[0] == 0x11111111 && ids[19] == 0x11111111);
    close_stage(&s);
}

TEST_MAIN()
