// Radius searches: counts, rows and pairs are the oracle's, bit for bit, and the rows' order is the tree's own on every
// device.
#include "cases.h"
#include "test.h"

static const void* distance2_of(const sap_neighbors* found, int32_t real_bits) {
    return real_bits == 64 ? (const void*)found->distance2_f64 : (const void*)found->distance2;
}

// Rows start where the one before ends, and hold the arrays of their precision only.
static bool well_formed(const sap_neighbors* found, int64_t count, int32_t real_bits) {
    if (!CHECK_EQUAL(found->count, count) || !CHECK_EQUAL(found->offsets[0], 0)) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!CHECK(found->offsets[i] <= found->offsets[i + 1])) return false;
    }
    return CHECK((real_bits == 64 ? (const void*)found->distance2 : (const void*)found->distance2_f64) == NULL);
}

static bool same_rows(const sap_neighbors* a, const sap_neighbors* b, int32_t real_bits) {
    if (a->count != b->count || memcmp(a->offsets, b->offsets, ((size_t)a->count + 1) * sizeof(int64_t))) return false;
    size_t all = (size_t)a->offsets[a->count];
    return !all || (!memcmp(a->ids, b->ids, all * sizeof(int32_t)) &&
                    !memcmp(distance2_of(a, real_bits), distance2_of(b, real_bits), all * (size_t)(real_bits / 8)));
}

// position[id] = place of the point in the tree's own order, which a search without bounds shows.
static void tree_order(const sap_tree* tree, const cloud* points, int32_t* position) {
    cloud origin = cloud_make(1, points->dims, points->real_bits, 0);
    for (int32_t a = 0; a < points->dims; a++) cloud_set(&origin, 0, a, 0);
    sap_neighbors* all = NULL;
    memset(position, 0xff, ((size_t)points->count + 1) * sizeof *position);
    if (CHECK_STATUS(radius_collect(tree, &origin, INFINITY, &all), SAP_OK)) {
        for (int64_t i = 0; i < all->offsets[1]; i++) position[all->ids[i]] = (int32_t)i;
    }
    sap_neighbors_free(all);
    cloud_free(&origin);
}

static bool in_tree_order(const sap_neighbors* found, const int32_t* position) {
    for (int64_t row = 0; row < found->count; row++) {
        for (int64_t i = found->offsets[row] + 1; i < found->offsets[row + 1]; i++) {
            if (position[found->ids[i - 1]] >= position[found->ids[i]]) return false;
        }
    }
    return true;
}

// Sorts the rows and compares them with the oracle's.
static void check_rows(sap_neighbors* found, const cloud* points, const cloud* queries, const oracle_rules* rules) {
    size_t real_bytes = (size_t)points->real_bits / 8;
    int32_t* ids = malloc(((size_t)points->count + 1) * sizeof *ids);
    unsigned char* distance2 = malloc(((size_t)points->count + 1) * real_bytes);
    CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    for (int64_t q = 0; q < queries->count; q++) {
        int64_t first = found->offsets[q], have = found->offsets[q + 1] - first;
        int64_t count = oracle_radius(points, queries, q, rules, ids, distance2);
        if (!CHECK_EQUAL(have, count)) break;
        if (!count) continue;
        const unsigned char* row = (const unsigned char*)distance2_of(found, points->real_bits);
        CHECK(!memcmp(found->ids + first, ids, (size_t)count * sizeof *ids));
        CHECK(!memcmp(row + (size_t)first * real_bytes, distance2, (size_t)count * real_bytes));
    }
    free(ids);
    free(distance2);
}

static void check_counts(const sap_tree* tree, const cloud* queries, double radius, const sap_neighbors* found) {
    int64_t* counts = malloc(((size_t)queries->count + 1) * sizeof *counts);
    counts[queries->count] = -77;
    CHECK_STATUS(radius_count(tree, queries, radius, counts), SAP_OK);
    for (int64_t q = 0; q < queries->count; q++) CHECK_EQUAL(counts[q], found->offsets[q + 1] - found->offsets[q]);
    CHECK_EQUAL(counts[queries->count], -77);
    for (int64_t q = 0; q < queries->count && q < 30; q++) {
        cloud one = cloud_part(queries, q, 1);
        CHECK_STATUS(radius_count(tree, &one, radius, counts), SAP_OK);
        CHECK_EQUAL(counts[0], found->offsets[q + 1] - found->offsets[q]);
    }
    free(counts);
}

// Into memory for so many hits come the rows that a collecting search gives, cut off there, and not a byte more.
static void check_into(const sap_tree* tree, const cloud* queries, double radius, int64_t capacity, bool distances,
                       const sap_neighbors* found) {
    const size_t real = (size_t)queries->real_bits / 8, rows = (size_t)queries->count + 1, room = (size_t)capacity;
    const int64_t all = found->offsets[found->count];
    const size_t kept = (size_t)(all < capacity ? all : capacity), tail = (room - kept + 1) * real;
    int64_t* offsets = malloc((rows + 1) * sizeof *offsets);
    int32_t* ids = malloc((room + 1) * sizeof *ids);
    unsigned char *distance2 = malloc((room + 1) * real), *untouched = malloc((room + 1) * 8);
    memset(offsets, 0x5a, (rows + 1) * sizeof *offsets);
    memset(ids, 0x5a, (room + 1) * sizeof *ids);
    memset(distance2, 0x5a, (room + 1) * real);
    memset(untouched, 0x5a, (room + 1) * 8);
    CHECK_STATUS(
        radius_into(tree, queries, radius, capacity, offsets, capacity ? ids : NULL, distances ? distance2 : NULL),
        SAP_OK);
    CHECK(!memcmp(offsets, found->offsets, rows * sizeof *offsets));
    CHECK_EQUAL(offsets[rows], 0x5a5a5a5a5a5a5a5a);
    CHECK(!kept || !memcmp(ids, found->ids, kept * sizeof *ids));
    CHECK(!memcmp(ids + kept, untouched, (room - kept + 1) * sizeof *ids));
    if (distances) CHECK(!kept || !memcmp(distance2, distance2_of(found, queries->real_bits), kept * real));
    CHECK(!memcmp(distance2 + (distances ? kept * real : 0), untouched, distances ? tail : (room + 1) * real));
    free(offsets);
    free(ids);
    free(distance2);
    free(untouched);
}

// As much room as is needed, one less, one more, none, or half.
static void check_room(const sap_tree* tree, const cloud* queries, double radius, int kind,
                       const sap_neighbors* found) {
    const int64_t all = found->offsets[found->count], rooms[] = {all, all ? all - 1 : 0, all + 1, 0, all / 2};
    check_into(tree, queries, radius, rooms[kind], kind != 2, found);
}

static void note_case(const search_case* c, double radius, int device) {
    NOTE("%s n %d dims %d f%d split %d axis %d leaf %d drop %d radius %.17g device %d", family_name(c->kind),
         (int)c->size, c->dims, c->real_bits, (int)c->options.split, (int)c->options.axis, c->options.leaf_size,
         c->options.drop_duplicates, radius, device);
}

// One radius on every device. pairs: the points among themselves, else queries.
static void try_case(const search_case* c, const devices* on, int64_t query_count, bool pairs) {
    cloud points = case_points(c);
    cloud queries = pairs ? points : case_queries(&points, query_count, c->chance);
    double radius = case_radius(&points, &queries, c->chance);
    uint8_t* dropped = malloc((size_t)c->size + 1);
    int32_t* position = malloc(((size_t)c->size + 1) * sizeof *position);
    oracle_rules rules = {.limit2 = oracle_limit2(radius, c->real_bits), .self = pairs, .greater_only = pairs};
    if (c->options.drop_duplicates) {
        oracle_duplicates(&points, dropped);
        rules.dropped = dropped;
    }
    sap_neighbors* first = NULL;
    for (int d = 0; d < on->count; d++) {
        sap_tree* tree = NULL;
        sap_neighbors* found = NULL;
        note_case(c, radius, d);
        CHECK_STATUS(build(on->open[d], &points, &c->options, &tree), SAP_OK);
        if (!CHECK_STATUS(pairs ? sap_pairs(tree, radius, &found) : radius_collect(tree, &queries, radius, &found),
                          SAP_OK) ||
            !well_formed(found, queries.count, c->real_bits)) {
            sap_tree_free(tree);
            continue;
        }
        if (!pairs) check_counts(tree, &queries, radius, found);
        if (!pairs) check_room(tree, &queries, radius, (int)((c->chance + (uint64_t)d) % 5), found);
        tree_order(tree, &points, position);
        CHECK(in_tree_order(found, position));
        if (first) CHECK(same_rows(first, found, c->real_bits));
        sap_tree_free(tree); // rows outlive their tree
        if (first)
            sap_neighbors_free(found);
        else
            first = found;
    }
    if (first) check_rows(first, &points, &queries, &rules);
    sap_neighbors_free(first);
    free(dropped);
    free(position);
    if (!pairs) cloud_free(&queries);
    cloud_free(&points);
}

TEST(all_cases_agree_with_the_oracle) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (case_choose(i, &c)) try_case(&c, &on, 24, false);
    }
    devices_close(&on);
}

TEST(many_queries) {
    devices on = devices_open(0);
    for (int i = 0; i < FAMILY_COUNT * 4; i += CASE_PART) {
        search_case c = {.kind = (family)(i / 4), .size = 2000, .dims = 2 + i % 3, .real_bits = i % 4 == 3 ? 64 : 32};
        c.options.split = i % 7 == 0 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN;
        c.chance = (uint64_t)i * 4 + 3;
        try_case(&c, &on, 1500, false);
    }
    devices_close(&on);
}

// Rows of so many queries are collected in slabs, in memory whose size the first of them let guess: here too small twice.
TEST(rows_of_a_batch_are_those_of_its_parts) {
    enum { QUERIES = 400000, PART = 80000, NEAR = 280000, FAR = 140000 };
    devices on = devices_open(0);
    for (int real_bits = 32; real_bits <= (TEST_SLOW ? 32 : 64); real_bits += 32) {
        cloud points = cloud_make(400, 2, real_bits, 0), queries = cloud_make(QUERIES, 2, real_bits, 3);
        const double radius = 0.05;
        for (int64_t i = 0; i < points.count; i++)
            for (int a = 0; a < 2; a++) cloud_set(&points, i, a, (double)(i * (a ? 37 : 61) % 401) / 401);
        for (int64_t i = 0; i < QUERIES; i++) {
            const double apart = i < FAR ? 5 : i < NEAR ? (i % 9 ? 5 : 0) : 0;
            for (int a = 0; a < 2; a++) cloud_set(&queries, i, a, apart + (double)(i * (a ? 29 : 83) % 997) / 997);
        }
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            sap_neighbors *all = NULL, *part = NULL;
            CHECK_STATUS(build(on.open[d], &points, NULL, &tree), SAP_OK);
            CHECK_STATUS(radius_collect(tree, &queries, radius, &all), SAP_OK);
            CHECK(all->offsets[QUERIES] > 4 * all->offsets[NEAR] && all->offsets[FAR] == 0);
            for (int64_t from = 0; from < QUERIES; from += PART) {
                cloud some = cloud_part(&queries, from, PART);
                CHECK_STATUS(radius_collect(tree, &some, radius, &part), SAP_OK);
                const int64_t first = all->offsets[from], hits = part->offsets[PART];
                const unsigned char* distance2 = distance2_of(all, real_bits);
                CHECK_EQUAL(all->offsets[from + PART] - first, hits);
                for (int64_t i = 0; i < PART; i++) CHECK_EQUAL(all->offsets[from + i] - first, part->offsets[i]);
                CHECK(!hits || !memcmp(all->ids + first, part->ids, (size_t)hits * 4));
                CHECK(!hits || !memcmp(distance2 + first * real_bits / 8, distance2_of(part, real_bits),
                                       (size_t)hits * (size_t)real_bits / 8));
                sap_neighbors_free(part);
            }
            check_into(tree, &queries, radius, all->offsets[QUERIES] - 1, true, all);
            sap_neighbors_free(all);
            sap_tree_free(tree);
        }
        cloud_free(&points);
        cloud_free(&queries);
    }
    devices_close(&on);
}

static void* allocate_little(void* most, size_t bytes, size_t alignment) {
    return bytes > *(const size_t*)most ? NULL
                                        : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release_little(void* most, void* memory, size_t bytes) {
    (void)most, (void)bytes;
    free(memory);
}

// Only the first queries have many hits: room for as many of all there is not, but for those that there are.
TEST(room_is_guessed_where_there_is_memory) {
    enum { QUERIES = 300000, POINTS = 100, DENSE = 90000 };
    size_t most = (size_t)128 << 20;
    sap_device_options options = {.processor = SAP_CPU,
                                  .allocator = {.allocate = allocate_little, .release = release_little, .user = &most}};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    cloud points = cloud_make(POINTS, 2, 32, 0), queries = cloud_make(QUERIES, 2, 32, 0);
    for (int64_t i = 0; i < POINTS * 2; i++) cloud_set(&points, i / 2, (int)(i % 2), 0.001 * (double)i);
    for (int64_t i = 0; i < QUERIES * 2; i++) cloud_set(&queries, i / 2, (int)(i % 2), i < DENSE * 2 ? 0 : 9);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    if (CHECK_STATUS(radius_collect(tree, &queries, 1, &found), SAP_OK))
        CHECK_EQUAL(found->offsets[QUERIES], DENSE * POINTS);
    sap_neighbors_free(found);
    found = NULL;
    most = (size_t)16 << 20;
    sap_device_trim(device);
    CHECK_STATUS(radius_collect(tree, &queries, 1, &found), SAP_ERROR_MEMORY);
    CHECK(!found);
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(pairs_agree_with_the_oracle) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.size > 1000 || (c.size == 1000 && c.chance >> 40 & 15)) continue;
        try_case(&c, &on, 0, true);
    }
    devices_close(&on);
}

// A point whose distance rounds to the limit exactly is inside; the next radius below leaves it out.
TEST(the_limit_is_inclusive) {
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    float coords[2] = {0, 3};
    int64_t count = -1;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){coords, 2, 1, 0}, NULL, &tree), SAP_OK);
    sap_points zero = {coords, 1, 1, 0};
    CHECK_STATUS(sap_radius_count(tree, zero, 3, &count), SAP_OK);
    CHECK_EQUAL(count, 2);
    CHECK_STATUS(sap_radius_count(tree, zero, (double)nextafterf(3, 0), &count), SAP_OK);
    CHECK_EQUAL(count, 1);
    CHECK_STATUS(sap_radius_count(tree, zero, 3 * (1 - 0x1p-30), &count), SAP_OK);
    CHECK_EQUAL(count, 2); // the square rounds to 9
    CHECK_STATUS(sap_radius_count(tree, zero, 0, &count), SAP_OK);
    CHECK_EQUAL(count, 1);
    sap_tree_free(tree);
    sap_device_close(device);
}

TEST(freeing_nothing) { sap_neighbors_free(NULL); }

// The radius is squared and rounded once: through a double first, this square would lose its last bit and fall short.
TEST(radius_squared_is_rounded_once) {
    static const float point[3] = {11, 11, 4096}, query[3] = {0, 0, 0};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    int64_t count = -1;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){point, 1, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_radius_count(tree, (sap_points){query, 1, 3, 0}, 4096.0294188396647, &count), SAP_OK);
    CHECK_EQUAL(count, 1);
    sap_tree_free(tree);
    sap_device_close(device);
}

TEST_MAIN()
