// Box searches: counts and rows are those of brute force, and the rows' order is the tree's own on every device, by the
// vector kernels, by the shared walk and on a GPU.
#include "box/box.h"
#include "cases.h"
#include "math/dialect.h"
#include "stage.h"

#define SAP_REAL_BITS 32
#define SAP_AXES      3
#define SAP_STACK     SAP_MAX_DEPTH
#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#include "tree/access.h"

#include "box/walk.h"

enum { BOXES = 24, MANY = 1500 };

// Corners of boxes about a cloud: most are put in order, some are open on an axis or on all, some hold one point, and
// the last stay as they come: inside out, far off, not finite.
static void make_boxes(const search_case* c, const cloud* points, int64_t count, cloud* lower, cloud* upper) {
    uint64_t state = c->chance ^ 5;
    *lower = case_queries(points, count, c->chance);
    *upper = case_queries(points, count, ~c->chance);
    for (int64_t i = 0; i < count && i % BOXES < BOXES - 3; i++) {
        const int64_t open = random_below(&state, 8), axis = random_below(&state, points->dims);
        for (int32_t a = 0; a < points->dims; a++) {
            const double x = cloud_get(lower, i, a), y = cloud_get(upper, i, a);
            const bool is_open = open == 7 || (open == 6 && a == axis) || (open == 5 && a != axis);
            cloud_set(lower, i, a, is_open ? -INFINITY : x > y && open ? y : x);
            cloud_set(upper, i, a, is_open ? INFINITY : !open ? x : x > y ? x : y);
        }
    }
}

// Which points lie in each box, by looking at every one.
typedef struct expected_rows {
    int64_t* offsets;
    int32_t* ids;
} expected_rows;

static expected_rows expect_rows(const cloud* points, const cloud* lower, const cloud* upper, const uint8_t* dropped) {
    expected_rows rows = {malloc(((size_t)lower->count + 1) * sizeof *rows.offsets), NULL};
    rows.offsets[0] = 0;
    for (int64_t i = 0; i < lower->count; i++)
        rows.offsets[i + 1] = rows.offsets[i] + oracle_box_search(points, lower, i, upper, i, dropped, NULL);
    rows.ids = malloc(((size_t)rows.offsets[lower->count] + 1) * sizeof *rows.ids);
    for (int64_t i = 0; i < lower->count; i++)
        oracle_box_search(points, lower, i, upper, i, dropped, rows.ids + rows.offsets[i]);
    return rows;
}

static void free_rows(expected_rows* rows) {
    free(rows->offsets);
    free(rows->ids);
}

static void check_counts(const sap_tree* tree, const cloud* lower, const cloud* upper, const expected_rows* expected) {
    int64_t* counts = malloc(((size_t)lower->count + 1) * sizeof *counts);
    counts[lower->count] = -77;
    CHECK_STATUS(box_count(tree, lower, upper, counts), SAP_OK);
    for (int64_t i = 0; i < lower->count; i++) CHECK_EQUAL(counts[i], expected->offsets[i + 1] - expected->offsets[i]);
    CHECK_EQUAL(counts[lower->count], -77);
    for (int64_t i = 0; i < lower->count && i < BOXES; i++) {
        const cloud low = cloud_part(lower, i, 1), high = cloud_part(upper, i, 1);
        CHECK_STATUS(box_count(tree, &low, &high, counts), SAP_OK);
        CHECK_EQUAL(counts[0], expected->offsets[i + 1] - expected->offsets[i]);
    }
    free(counts);
}

// position[id] = place of the point in the tree's own order, which a box that is open everywhere shows.
static void tree_order(const sap_tree* tree, const cloud* points, int32_t* position) {
    cloud lower = cloud_make(1, points->dims, points->real_bits, 0),
          upper = cloud_make(1, points->dims, points->real_bits, 0);
    sap_neighbors* all = NULL;
    for (int32_t a = 0; a < points->dims; a++) {
        cloud_set(&lower, 0, a, -INFINITY);
        cloud_set(&upper, 0, a, INFINITY);
    }
    memset(position, 0xff, ((size_t)points->count + 1) * sizeof *position);
    if (CHECK_STATUS(box_search(tree, &lower, &upper, &all), SAP_OK))
        for (int64_t i = 0; i < all->offsets[1]; i++) position[all->ids[i]] = (int32_t)i;
    sap_neighbors_free(all);
    cloud_free(&lower);
    cloud_free(&upper);
}

static bool in_tree_order(const sap_neighbors* found, const int32_t* position) {
    for (int64_t row = 0; row < found->count; row++)
        for (int64_t i = found->offsets[row] + 1; i < found->offsets[row + 1]; i++)
            if (position[found->ids[i - 1]] >= position[found->ids[i]]) return false;
    return true;
}

static bool same_rows(const sap_neighbors* a, const sap_neighbors* b) {
    const size_t all = (size_t)a->offsets[a->count];
    return a->count == b->count && !memcmp(a->offsets, b->offsets, ((size_t)a->count + 1) * sizeof(int64_t)) &&
           (!all || !memcmp(a->ids, b->ids, all * sizeof(int32_t)));
}

// Into memory for so many ids come the rows that a collecting search gives, cut off there, and not a byte more.
static void check_into(const sap_tree* tree, const cloud* lower, const cloud* upper, int64_t capacity,
                       const sap_neighbors* found) {
    const size_t rows = (size_t)lower->count + 1, room = (size_t)capacity;
    const int64_t all = found->offsets[found->count];
    const size_t kept = (size_t)(all < capacity ? all : capacity);
    int64_t* offsets = malloc((rows + 1) * sizeof *offsets);
    int32_t *ids = malloc((room + 1) * sizeof *ids), *untouched = malloc((room + 1) * sizeof *untouched);
    memset(offsets, 0x5a, (rows + 1) * sizeof *offsets);
    memset(ids, 0x5a, (room + 1) * sizeof *ids);
    memset(untouched, 0x5a, (room + 1) * sizeof *untouched);
    CHECK_STATUS(box_search_into(tree, lower, upper, capacity, offsets, capacity ? ids : NULL), SAP_OK);
    CHECK(!memcmp(offsets, found->offsets, rows * sizeof *offsets));
    CHECK_EQUAL(offsets[rows], 0x5a5a5a5a5a5a5a5a);
    CHECK(!kept || !memcmp(ids, found->ids, kept * sizeof *ids));
    CHECK(!memcmp(ids + kept, untouched, (room - kept + 1) * sizeof *ids));
    free(offsets);
    free(ids);
    free(untouched);
}

// As much room as is needed, one less, one more, none, or half; and a single box.
static void check_room(const sap_tree* tree, const cloud* lower, const cloud* upper, int kind,
                       const sap_neighbors* found) {
    const int64_t all = found->offsets[found->count], rooms[] = {all, all ? all - 1 : 0, all + 1, 0, all / 2};
    const cloud low = cloud_part(lower, 0, 1), high = cloud_part(upper, 0, 1);
    sap_neighbors* one = NULL;
    check_into(tree, lower, upper, rooms[kind], found);
    if (CHECK_STATUS(box_search(tree, &low, &high, &one), SAP_OK))
        check_into(tree, &low, &high, one->offsets[1] / (1 + kind % 2), one);
    sap_neighbors_free(one);
}

// The shared walk in a tree on the CPU of either kind: the same rows, also where room runs out.
static void check_walk(const sap_tree* tree, const cloud* lower, const cloud* upper, const sap_neighbors* found) {
    const int64_t all = found->offsets[found->count];
    int64_t *counts = malloc(((size_t)lower->count + 1) * sizeof *counts), before = 0;
    int32_t* ids = malloc(((size_t)all + 1) * sizeof *ids);
    sap_box_run run = {.hits = {.count = lower->count, .counts = counts},
                       .tree = tree,
                       .lower = lower->coords,
                       .upper = upper->coords,
                       .lower_stride = lower->stride,
                       .upper_stride = upper->stride};
    sap_box_walk_cpu(&run.hits);
    for (int64_t i = 0; i < lower->count; i++) CHECK_EQUAL(counts[i], found->offsets[i + 1] - found->offsets[i]);
    run.hits.ids = ids;
    for (run.hits.done = 0, run.hits.room = all / 2; run.hits.done < lower->count; run.hits.room = all) {
        sap_box_walk_cpu(&run.hits);
        CHECK_EQUAL(run.hits.used, found->offsets[run.hits.done]);
        if (!CHECK(run.hits.room < all || run.hits.done > before || run.hits.done == lower->count)) break;
        before = run.hits.done;
    }
    CHECK(!all || !memcmp(ids, found->ids, (size_t)all * sizeof *ids));
    free(counts);
    free(ids);
}

// Sorted rows ascend by id, and are what brute force gives.
static void check_rows(sap_neighbors* found, const expected_rows* expected) {
    CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    CHECK(!memcmp(found->offsets, expected->offsets, ((size_t)found->count + 1) * sizeof(int64_t)));
    const size_t all = (size_t)expected->offsets[found->count];
    if (found->offsets[found->count] == (int64_t)all)
        CHECK(!all || !memcmp(found->ids, expected->ids, all * sizeof(int32_t)));
}

static void try_device(const search_case* c, sap_device* device, int number, const cloud* points, const cloud* lower,
                       const cloud* upper, const expected_rows* expected, int32_t* position, sap_neighbors** first) {
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    NOTE("%s n %d dims %d f%d split %d leaf %d drop %d device %d", family_name(c->kind), (int)c->size, c->dims,
         c->real_bits, (int)c->options.split, c->options.leaf_size, c->options.drop_duplicates, number);
    CHECK_STATUS(build(device, points, &c->options, &tree), SAP_OK);
    check_counts(tree, lower, upper, expected);
    if (CHECK_STATUS(box_search(tree, lower, upper, &found), SAP_OK)) {
        CHECK(found->count == lower->count && !found->distance2 && !found->distance2_f64);
        check_room(tree, lower, upper, (int)((c->chance + (uint64_t)number) % 5), found);
        if (!is_gpu(device)) check_walk(tree, lower, upper, found);
        tree_order(tree, points, position);
        CHECK(in_tree_order(found, position));
        if (*first) CHECK(same_rows(*first, found));
    }
    sap_tree_free(tree); // rows outlive their tree
    sap_neighbors_free(*first);
    *first = found;
}

// The same boxes on every device.
static void try_case(const search_case* c, const devices* on, int64_t count) {
    cloud points = case_points(c), lower, upper;
    uint8_t* dropped = calloc((size_t)c->size + 1, 1);
    int32_t* position = malloc(((size_t)c->size + 1) * sizeof *position);
    sap_neighbors* found = NULL;
    make_boxes(c, &points, count, &lower, &upper);
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    expected_rows expected = expect_rows(&points, &lower, &upper, dropped);
    for (int d = 0; d < on->count; d++)
        try_device(c, on->open[d], d, &points, &lower, &upper, &expected, position, &found);
    if (found) check_rows(found, &expected);
    sap_neighbors_free(found);
    free_rows(&expected);
    free(dropped);
    free(position);
    cloud_free(&points);
    cloud_free(&lower);
    cloud_free(&upper);
}

TEST(all_cases_agree_with_brute_force) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++)
        if (case_choose(i, &c)) try_case(&c, &on, BOXES);
    devices_close(&on);
}

TEST(many_boxes) {
    devices on = devices_open(0);
    for (int i = 0; i < FAMILY_COUNT * 4; i += CASE_PART) {
        search_case c = {.kind = (family)(i / 4), .size = 600, .dims = 2 + i % 3, .real_bits = i % 4 == 3 ? 64 : 32};
        c.options.split = i % 7 == 0 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN;
        c.chance = (uint64_t)i * 4 + 3;
        try_case(&c, &on, MANY);
    }
    devices_close(&on);
}

// So many boxes that a GPU puts them in order: its rows and counts are the CPU's, also about trees with periods.
TEST(boxes_in_the_order_of_the_tree) {
    enum { COUNT = 4200 };
    devices on = devices_open(2);
    for (int kind = 0; kind < 4; kind++) {
        search_case c = {.kind = FAMILY_UNIFORM, .size = 400, .dims = 2 + kind % 2, .real_bits = 32, .chance = 3};
        if (kind / 2) c.options.period[0] = c.options.period[1] = 0.75;
        cloud points = case_points(&c), lower = cloud_of_family(FAMILY_UNIFORM, COUNT, c.dims, 32, 0, 5),
              upper = cloud_of_family(FAMILY_UNIFORM, COUNT, c.dims, 32, 0, 5);
        int64_t* counts = malloc(COUNT * sizeof *counts);
        sap_neighbors* first = NULL;
        for (int64_t i = 0; i < COUNT; i++)
            for (int32_t a = 0; a < c.dims; a++) cloud_set(&upper, i, a, cloud_get(&lower, i, a) + 0.3);
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            sap_neighbors* found = NULL;
            NOTE("kind %d device %d", kind, d);
            CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
            CHECK_STATUS(box_count(tree, &lower, &upper, counts), SAP_OK);
            if (CHECK_STATUS(box_search(tree, &lower, &upper, &found), SAP_OK)) {
                for (int64_t i = 0; i < COUNT; i++) CHECK_EQUAL(counts[i], found->offsets[i + 1] - found->offsets[i]);
                CHECK(found->offsets[COUNT] > 0 && (!first || same_rows(first, found)));
            }
            sap_tree_free(tree);
            sap_neighbors_free(first);
            first = found;
        }
        sap_neighbors_free(first);
        free(counts);
        cloud_free(&points);
        cloud_free(&lower);
        cloud_free(&upper);
    }
    devices_close(&on);
}

// More hits than one segment holds, of one box and of many.
TEST(rows_longer_than_a_segment) {
    enum { COUNT = CASE_STEP > 1 ? 200000 : 1200000, ROWS = 7 };
    cloud points = cloud_of_family(FAMILY_UNIFORM, COUNT, 2, 32, 0, 1), lower = cloud_make(ROWS, 2, 32, 0),
          upper = cloud_make(ROWS, 2, 32, 0);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    for (int64_t i = 0; i < ROWS; i++)
        for (int32_t a = 0; a < 2; a++) {
            cloud_set(&lower, i, a, -INFINITY);
            cloud_set(&upper, i, a, i ? INFINITY : 0.5);
        }
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(box_search(tree, &lower, &upper, &found), SAP_OK);
    CHECK_EQUAL(found->offsets[1], oracle_box_search(&points, &lower, 0, &upper, 0, NULL, NULL));
    for (int64_t i = 1; i < ROWS; i++) {
        CHECK_EQUAL(found->offsets[i + 1] - found->offsets[i], COUNT);
        CHECK(!memcmp(found->ids + found->offsets[i], found->ids + found->offsets[1], COUNT * sizeof(int32_t)));
    }
    sap_neighbors_free(found);
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
    cloud_free(&lower);
    cloud_free(&upper);
}

// Sides belong to the box, and -0 is 0.
TEST(boxes_are_closed) {
    static const float at[] = {0, 1, 2, 3}, lower[] = {1, 1.0000001f, -0.0f, 3, 2, -INFINITY, NAN, 0, INFINITY},
                       upper[] = {2, 1.9999999f, 0, INFINITY, 1, -0.0f, 2, NAN, INFINITY};
    static const int64_t expected[] = {2, 0, 1, 1, 0, 1, 0, 0, 0};
    for (int split = 0; split < 2; split++) {
        const sap_tree_options options = {.split = (sap_split)split, .leaf_size = 1};
        int64_t counts[9];
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
        CHECK_STATUS(sap_tree_build(device, (sap_points){at, 4, 1, 0}, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_box_count(tree, (sap_points){lower, 9, 1, 0}, (sap_points){upper, 9, 1, 0}, counts), SAP_OK);
        for (int i = 0; i < 9; i++) {
            NOTE("split %d box %d", split, i);
            CHECK_EQUAL(counts[i], expected[i]);
        }
        sap_tree_free(tree);
        sap_device_close(device);
    }
}

// How much of a tree the shared walk looks at: nodes, and leaves whose points were tested, of counting and collecting.
TEST(golden_visits) {
    static const struct {
        family kind;
        sap_split split;
        int64_t nodes[2], leaves[2];
    } golden[] = {
        {FAMILY_UNIFORM, SAP_SPLIT_MEDIAN, {556, 683}, {316, 316}},
        {FAMILY_UNIFORM, SAP_SPLIT_SLIDING_MIDPOINT, {721, 903}, {424, 424}},
        {FAMILY_CLUSTERED, SAP_SPLIT_MEDIAN, {653, 790}, {399, 399}},
        {FAMILY_CLUSTERED, SAP_SPLIT_SLIDING_MIDPOINT, {705, 1617}, {422, 422}},
        {FAMILY_EQUAL, SAP_SPLIT_MEDIAN, {2434, 2561}, {2435, 2435}},
        {FAMILY_EQUAL, SAP_SPLIT_SLIDING_MIDPOINT, {0, 0}, {22, 22}},
    };
    static int32_t ids[4097];
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &device), SAP_OK);
    for (int i = 0; i < (int)(sizeof golden / sizeof *golden); i++) {
        const search_case c = {.kind = golden[i].kind, .size = 4097, .dims = 3, .real_bits = 32, .chance = 9};
        const sap_tree_options options = {.split = golden[i].split};
        cloud points = case_points(&c), lower, upper;
        sap_tree* tree = NULL;
        int64_t nodes[2] = {0, 0}, leaves[2] = {0, 0};
        make_boxes(&c, &points, BOXES, &lower, &upper);
        CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
        for (int64_t b = 0; b < 2 * BOXES; b++) {
            const float *low = lower.coords, *high = upper.coords;
            const sap_box box = sap_box_load(tree, low + b / 2 * lower.stride, high + b / 2 * upper.stride);
            const sap_box_hits got = sap_box_stack(tree, box, (sap_box_hits){.ids = ids, .room = b % 2 ? 4097 : 0});
            nodes[b % 2] += got.nodes;
            leaves[b % 2] += got.leaves;
        }
        NOTE("row %d: now {%d, %d}, {%d, %d}", i, (int)nodes[0], (int)nodes[1], (int)leaves[0], (int)leaves[1]);
        for (int collects = 0; collects < 2; collects++)
            CHECK(nodes[collects] == golden[i].nodes[collects] && leaves[collects] == golden[i].leaves[collects]);
        sap_tree_free(tree);
        cloud_free(&points);
        cloud_free(&lower);
        cloud_free(&upper);
    }
    sap_device_close(device);
}

TEST(refuses) {
    stage s;
    open_stage(&s);
    int64_t counts[3] = {-9, -9, -9};
    int32_t ids[2] = {-9, -9};
    sap_neighbors* found = NULL;
    const sap_points two = {s.coords, 2, 3, 0}, one = {s.coords, 1, 3, 0}, flat = {s.coords, 2, 2, 0},
                     none = {NULL, 0, 3, 0};
    const sap_points_f64 wide = {s.coords_f64, 2, 3, 0};
    CHECK_STATUS(sap_box_count(NULL, two, two, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_box_search(NULL, two, two, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_box_search_into(NULL, two, two, 2, counts, ids), SAP_ERROR_ARGUMENT);
    REFUSED(sap_box_count(s.tree, flat, two, counts), SAP_ERROR_ARGUMENT, "lower.dims");
    REFUSED(sap_box_count(s.tree, two, flat, counts), SAP_ERROR_ARGUMENT, "upper.dims");
    REFUSED(sap_box_search(s.tree, two, one, &found), SAP_ERROR_ARGUMENT, "upper.count");
    REFUSED(sap_box_search(s.tree, two, two, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_box_search(s.tree, (sap_points){NULL, 2, 3, 0}, two, &found), SAP_ERROR_ARGUMENT, "lower.coords");
    REFUSED(sap_box_search(s.tree, two, (sap_points){s.coords, 2, 3, 2}, &found), SAP_ERROR_ARGUMENT, "upper.stride");
    REFUSED(sap_box_count(s.tree, two, two, NULL), SAP_ERROR_ARGUMENT, "counts");
    REFUSED(sap_box_count(s.tree_f64, two, two, counts), SAP_ERROR_ARGUMENT, "lower");
    REFUSED(sap_box_count_f64(s.tree, wide, wide, counts), SAP_ERROR_ARGUMENT, "lower");
    REFUSED(sap_box_search_into(s.tree, two, two, -1, counts, ids), SAP_ERROR_ARGUMENT, "capacity");
    REFUSED(sap_box_search_into(s.tree, two, two, 2, NULL, ids), SAP_ERROR_ARGUMENT, "offsets");
    REFUSED(sap_box_search_into(s.tree, two, two, 2, counts, NULL), SAP_ERROR_ARGUMENT, "ids");
    CHECK(counts[0] == -9 && counts[2] == -9 && ids[0] == -9 && !found);
    CHECK_STATUS(sap_box_count(s.tree, none, none, NULL), SAP_OK);
    CHECK_STATUS(sap_box_search(s.sliding, none, none, &found), SAP_OK);
    CHECK(found && found->count == 0 && found->offsets[0] == 0);
    CHECK_STATUS(sap_box_search_into(s.tree, none, none, 2, counts, ids), SAP_OK);
    CHECK(counts[0] == 0 && counts[1] == -9);
    sap_neighbors_free(found);
    close_stage(&s);
}

TEST_MAIN()
