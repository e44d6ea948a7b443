// Searches in shaders: every pixel's ids and distances are brute force's, over all families; trees that are copied,
// rebuilt and lost.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "gl_pictures.h"
#include "gl_tools.h"
#include "sapwood/query.h"
#include "trees.h"

static const char* const no_gl = "no OpenGL ES here";

// One device for the tests that leave it whole: shaders are compiled once.
static sap_device* shared(void) {
    static sap_device* device;
    if (!device && gl_tools_present()) {
        gl_tools_reset();
        gl_tools.no_float_targets = true; // OpenGL ES 3.0: fragment shaders
        CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    }
    return device;
}
__attribute__((destructor)) static void close_shared(void) { sap_device_close(shared()); }

// Asks a tree from a grid over its points, and checks all answers. k 0: counts within the radius.
static void try_grid(const sap_tree* tree, const cloud* points, int32_t width, int32_t height, int32_t k,
                     double radius) {
    sap_grid grid = grid_over(points, width, height);
    cloud places = places_of(&grid, points->dims);
    size_t answers = (size_t)places.count * (size_t)(k ? k : 1);
    int32_t* ids = malloc(answers * sizeof *ids);
    float* distance2 = malloc(answers * sizeof *distance2);
    int64_t* counts = malloc(answers * sizeof *counts);
    double limit2 = radius > 0 || !k ? oracle_limit2(radius, 32) : (double)FLT_MAX;
    if (k) {
        sap_search search = {.k = k, .radius = radius};
        CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, distance2), SAP_OK);
        check_rows(points, &places, k, limit2, ids, distance2);
    } else {
        CHECK_STATUS(sap_radius_count_grid(tree, grid, radius, counts), SAP_OK);
        check_counts(points, &places, limit2, counts);
    }
    free(ids);
    free(distance2);
    free(counts);
    cloud_free(&places);
}

static double some_radius(const cloud* points) {
    sap_grid grid = grid_over(points, 1, 1);
    double radius = 0.1 * (grid.right[0] + grid.down[1]);
    return radius < 1e17 ? radius : 1e17;
}

static void try_every_family(sap_split split) {
    static const int64_t sizes[] = {0, 1, 2, 3, 33, 700};
    static const int32_t leaf_sizes[] = {0, 1, 3, 8, 5, 13};
    for (int which = 0; which < FAMILY_COUNT; which++) {
        for (int i = 0; i < 12; i++) {
            int64_t size = sizes[i / 2];
            int32_t dims = 2 + i % 2, leaf_size = leaf_sizes[(i + which) % 6];
            NOTE("%s of %d in %d-D, leaves of %d", family_name((family)which), (int)size, (int)dims, (int)leaf_size);
            cloud points = cloud_of_family((family)which, size, dims, 32, which % 3 ? 0 : dims + 1, 7);
            sap_tree* tree = NULL;
            sap_tree_options options = {.leaf_size = leaf_size, .split = split};
            CHECK_STATUS(build(shared(), &points, &options, &tree), SAP_OK);
            try_grid(tree, &points, 37, 21, 1, i % 4 == 3 ? some_radius(&points) : 0);
            sap_tree_free(tree);
            cloud_free(&points);
        }
    }
}

TEST(every_pixel_of_every_family) {
    if (!shared()) SKIP(no_gl);
    try_every_family(SAP_SPLIT_MEDIAN);
}

TEST(sliding_midpoints_of_every_family) {
    if (!shared()) SKIP(no_gl);
    try_every_family(SAP_SPLIT_SLIDING_MIDPOINT);
}

TEST(several_neighbours_and_counts) {
    if (!shared()) SKIP(no_gl);
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_LATTICE, FAMILY_HALF_DUPLICATES, FAMILY_CLUSTERED};
    for (int i = 0; i < 16; i++) {
        cloud points = cloud_of_family(kinds[i / 4], 300, 2 + i % 2, 32, 0, 5);
        sap_tree* tree = NULL;
        sap_tree_options options = {.leaf_size = 6, .split = i / 2 % 2 ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN};
        CHECK_STATUS(build(shared(), &points, &options, &tree), SAP_OK);
        for (int32_t k = 0; k <= 8; k++) {
            NOTE("%s in %d-D, k %d", family_name(kinds[i / 4]), (int)points.dims, (int)k);
            try_grid(tree, &points, 30, 17, k, k % 3 ? 0 : some_radius(&points));
        }
        sap_tree_free(tree);
        cloud_free(&points);
    }
}

TEST(compute_shaders_where_there_are_any) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    for (int which = 0; which < FAMILY_COUNT; which++) {
        cloud points = cloud_of_family((family)which, 400, 2 + which % 2, 32, 0, 9);
        sap_tree* tree = NULL;
        CHECK_STATUS(build(device, &points, &(sap_tree_options){.leaf_size = 8}, &tree), SAP_OK);
        for (int32_t k = 0; k <= 8; k += k ? 7 : 1) {
            NOTE("%s in %d-D, k %d", family_name((family)which), (int)points.dims, (int)k);
            try_grid(tree, &points, 29, 13, k, k ? 0 : some_radius(&points));
        }
        sap_tree_free(tree);
        cloud_free(&points);
    }
    sap_device_close(device);
}

TEST(fewer_points_than_neighbours) {
    if (!shared()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 3, 2, 32, 0, 5);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(shared(), &points, NULL, &tree), SAP_OK);
    try_grid(tree, &points, 9, 9, 7, 0);
    sap_tree_free(tree);
    cloud_free(&points);
}

TEST(larger_pictures_equal_the_cpu) {
    if (!shared()) SKIP(no_gl);
    sap_device* cpu = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_SHELL, FAMILY_EQUAL};
    enum { WIDTH = 1100, HEIGHT = 60 };
    int32_t *ids = malloc(sizeof(int32_t) * WIDTH * HEIGHT), *expected = malloc(sizeof(int32_t) * WIDTH * HEIGHT);
    float *distance2 = malloc(sizeof(float) * WIDTH * HEIGHT), *truth = malloc(sizeof(float) * WIDTH * HEIGHT);
    for (int i = 0; i < 8; i += TEST_SANITIZED ? 3 : 1) {
        NOTE("%s in %d-D", family_name(kinds[i / 2]), 2 + i % 2);
        cloud points = cloud_of_family(kinds[i / 2], 30000, 2 + i % 2, 32, 0, 3);
        sap_grid grid = grid_over(&points, WIDTH, HEIGHT);
        sap_tree *tree = NULL, *copy = NULL;
        CHECK_STATUS(build(cpu, &points, &(sap_tree_options){.leaf_size = 8}, &tree), SAP_OK);
        CHECK_STATUS(sap_tree_copy(tree, shared(), &copy), SAP_OK);
        // Rows and columns at right angles; askew; along one line in opposite ways.
        for (int way = 0; way < 3; way++) {
            if (way == 1) grid.right[1] = 0.8 * grid.down[1], grid.down[0] = -1.7 * grid.right[0];
            for (int32_t a = 0; a < 3 && way == 2; a++) grid.down[a] = -1.0001 * grid.right[a];
            CHECK_STATUS(sap_nearest_grid(tree, grid, &(sap_search){.k = 1}, expected, truth), SAP_OK);
            CHECK_STATUS(sap_nearest_grid(copy, grid, &(sap_search){.k = 1}, ids, distance2), SAP_OK);
            int64_t wrong = 0;
            for (int p = 0; p < WIDTH * HEIGHT; p++) wrong += !same_answer(ids[p], distance2[p], expected[p], truth[p]);
            CHECK_EQUAL(wrong, 0);
        }
        sap_tree_free(copy);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    free(ids);
    free(expected);
    free(distance2);
    free(truth);
    sap_device_close(cpu);
}

// A frame by a walk, in steps of so many leaves.
static void draw_frame(const sap_tree* tree, const sap_grid* grid, const sap_search* search, int32_t leaves,
                       int32_t* ids, float* distance2) {
    sap_gl_frame* frame = NULL;
    bool done = false;
    CHECK_STATUS(sap_gl_frame_create(tree, grid->width, grid->height, search, &frame), SAP_OK);
    CHECK_STATUS(sap_gl_frame_begin(frame, *grid), SAP_OK);
    for (int i = 0; !done && i < 100000; i++) CHECK_STATUS(sap_gl_frame_step(frame, leaves, &done), SAP_OK);
    CHECK(done);
    const int32_t whole[4] = {0, 0, grid->width, grid->height};
    CHECK_STATUS(sap_gl_frame_read(frame, whole, ids, search->k ? distance2 : NULL), SAP_OK);
    sap_gl_frame_free(frame);
}

// The walk with a stack, whole and resumed: the bits of the one without, which are the CPU's.
static void try_stack(sap_device* device, sap_device* cpu, const cloud* points, int32_t k) {
    enum { WIDTH = 41, HEIGHT = 23, MOST = WIDTH * HEIGHT * 8 };
    static int32_t ids[2][MOST], cpu_ids[MOST];
    static float distance2[2][MOST], truth[MOST];
    const sap_grid grid = grid_over(points, WIDTH, HEIGHT);
    const size_t bytes = (size_t)WIDTH * HEIGHT * (size_t)(k ? k : 1) * 4;
    sap_tree *tree = NULL, *copy = NULL;
    CHECK_STATUS(build(cpu, points, &(sap_tree_options){.leaf_size = 4}, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_copy(tree, device, &copy), SAP_OK);
    const sap_search without = {.k = k, .radius = k ? 0 : some_radius(points), .walk = SAP_WALK_STACKLESS};
    sap_search with = without;
    with.walk = SAP_WALK_STACK;
    draw_frame(copy, &grid, &without, 1 << 20, ids[0], distance2[0]);
    // Walks of tiles.
    draw_frame(copy, &grid, &without, 32, ids[1], distance2[1]);
    CHECK(!memcmp(ids[0], ids[1], bytes) && (!k || !memcmp(distance2[0], distance2[1], bytes)));
    for (int32_t leaves = 1; leaves <= 1 << 20; leaves *= 1 << 10) {
        draw_frame(copy, &grid, &with, leaves, ids[1], distance2[1]);
        CHECK(!memcmp(ids[0], ids[1], bytes) && (!k || !memcmp(distance2[0], distance2[1], bytes)));
    }
    if (k) {
        CHECK_STATUS(sap_nearest_grid(copy, grid, &with, ids[1], distance2[1]), SAP_OK);
        CHECK(!memcmp(ids[0], ids[1], bytes) && !memcmp(distance2[0], distance2[1], bytes));
        CHECK_STATUS(sap_nearest_grid(tree, grid, &with, cpu_ids, truth), SAP_OK);
        int64_t wrong = 0;
        for (size_t i = 0; i < bytes / 4; i++) wrong += !same_answer(ids[1][i], distance2[1][i], cpu_ids[i], truth[i]);
        CHECK_EQUAL(wrong, 0);
    }
    sap_tree_free(copy);
    sap_tree_free(tree);
}

TEST(a_stack_gives_the_same_bits) {
    if (!shared()) SKIP(no_gl);
    sap_device *cpu = NULL, *computes = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &computes), SAP_OK);
    for (int which = 0; which < FAMILY_COUNT; which++) {
        for (int32_t dims = 2; dims <= 3; dims++) {
            const int32_t k = which % 5 == 4 ? 0 : 1 << (which + dims) % 4;
            NOTE("%s in %d-D, k %d", family_name((family)which), (int)dims, (int)k);
            cloud points = cloud_of_family((family)which, 1200, dims, 32, 0, 13);
            try_stack(which % 2 ? computes : shared(), cpu, &points, k);
            cloud_free(&points);
        }
    }
    sap_device_close(computes);
    sap_device_close(cpu);
}

// Reads a frame that is done, whole and in part, and checks all of it. The grid is SIZE x SIZE pixels or less.
static void check_frame(const sap_gl_frame* frame, const cloud* points, const sap_grid* grid, int32_t k,
                        double radius) {
    enum { MOST = 40 * 40, X = 3, Y = 5, WIDTH = 7, HEIGHT = 2 };
    static int32_t ids[MOST * 8], part_ids[WIDTH * HEIGHT * 8];
    static float distance2[MOST * 8], part_distance2[WIDTH * HEIGHT * 8];
    const int32_t whole[4] = {0, 0, grid->width, grid->height}, part[4] = {X, Y, WIDTH, HEIGHT};
    const int32_t beyond[4] = {0, 1, grid->width, grid->height}, none[4] = {0, 0, 0, 1};
    const int32_t wanted = k ? k : 1;
    CHECK_STATUS(sap_gl_frame_read(frame, whole, ids, k ? distance2 : NULL), SAP_OK);
    CHECK_STATUS(sap_gl_frame_read(frame, part, part_ids, k ? part_distance2 : NULL), SAP_OK);
    CHECK_STATUS(sap_gl_frame_read(frame, beyond, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_frame_read(frame, none, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_frame_read(frame, NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_frame_read(frame, whole, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_frame_read(NULL, whole, ids, NULL), SAP_ERROR_ARGUMENT);
    if (!k) CHECK_STATUS(sap_gl_frame_read(frame, whole, ids, distance2), SAP_ERROR_ARGUMENT);
    cloud queries = places_of(grid, points->dims);
    if (k) {
        check_rows(points, &queries, k, oracle_limit2(radius, 32), ids, distance2);
    } else {
        static int64_t counts[MOST];
        for (int32_t i = 0; i < grid->width * grid->height; i++) counts[i] = ids[i];
        check_counts(points, &queries, oracle_limit2(radius, 32), counts);
    }
    for (int32_t y = 0; y < HEIGHT; y++) {
        int32_t in = ((Y + y) * grid->width + X) * wanted, at = y * WIDTH * wanted;
        CHECK(!memcmp(part_ids + at, ids + in, (size_t)(WIDTH * wanted) * sizeof *ids));
        if (k) CHECK(!memcmp(part_distance2 + at, distance2 + in, (size_t)(WIDTH * wanted) * sizeof *distance2));
    }
    cloud_free(&queries);
}

// The bytes of a saved tree may go once it lies in textures.
TEST(saved_trees_in_memory) {
    if (!shared()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, 300, 2, 32, 0, 5);
    sap_tree *tree = NULL, *loaded = NULL;
    int64_t size = 0;
    CHECK_STATUS(build(shared(), &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_saved_size(tree, &size), SAP_OK);
    unsigned char* bytes = aligned_alloc(64, ((size_t)size + 63) / 64 * 64);
    CHECK_STATUS(sap_tree_save_memory(tree, bytes, size), SAP_OK);
    sap_tree_free(tree);
    CHECK_STATUS(sap_tree_load_memory(shared(), bytes, size, NULL, &loaded), SAP_OK);
    memset(bytes, 0xa5, (size_t)size);
    if (CHECK(loaded)) try_grid(loaded, &points, 30, 17, 1, 0);
    sap_tree_free(loaded);
    free(bytes);
    cloud_free(&points);
}

// The published walk gave up after 500 steps.
static cloud circle(int64_t count) {
    cloud points = cloud_make(count, 2, 32, 0);
    for (int64_t i = 0; i < count; i++) {
        cloud_set(&points, i, 0, 0.5 + 0.45 * cos(6.283185307179586 * (double)i / (double)count));
        cloud_set(&points, i, 1, 0.5 + 0.45 * sin(6.283185307179586 * (double)i / (double)count));
    }
    return points;
}

// Near the middle of a circle a tile's walk does not end in one pass: until then its pixels have what it has found.
static void try_tiles(const sap_tree* tree, const cloud* points, const sap_grid* grid, bool ends) {
    enum { MOST = 40 * 40 };
    static int32_t ids[MOST];
    static float distance2[MOST];
    const sap_grid far = {grid->width, grid->height, {1e30, 1e30, 0}, {1e28, 0, 0}, {0, 1e28, 0}}; // by pixels
    const int32_t whole[4] = {0, 0, grid->width, grid->height};
    cloud queries = places_of(grid, 2);
    sap_gl_frame* frame = NULL;
    bool done = false;
    CHECK_STATUS(sap_gl_frame_create(tree, grid->width, grid->height, &(sap_search){.k = 1}, &frame), SAP_OK);
    for (int turn = 0; turn < 3; turn++) {
        CHECK_STATUS(sap_gl_frame_begin(frame, turn == 1 ? far : *grid), SAP_OK);
        CHECK_STATUS(sap_gl_frame_step(frame, 32, &done), SAP_OK);
        if (turn != 1) CHECK_EQUAL(done, ends);
        CHECK_STATUS(sap_gl_frame_read(frame, whole, ids, distance2), SAP_OK);
        for (int32_t i = 0; i < grid->width * grid->height && turn != 1; i++)
            CHECK(ids[i] >= 0 && (double)distance2[i] == oracle_distance2(&queries, i, points, ids[i]));
        for (int i = 0; !done && i < 3000; i++) CHECK_STATUS(sap_gl_frame_step(frame, 32, &done), SAP_OK);
        CHECK_STATUS(sap_gl_frame_read(frame, whole, ids, distance2), SAP_OK);
        if (turn != 1) check_rows(points, &queries, 1, (double)FLT_MAX, ids, distance2);
    }
    sap_gl_frame_free(frame);
    cloud_free(&queries);
}

TEST(tiles_of_pictures_of_any_size) {
    if (!shared()) SKIP(no_gl);
    static const int32_t sizes[][2] = {{1, 1}, {1, 7}, {3, 1}, {5, 3}, {40, 40}};
    cloud points = circle(5000), few = cloud_of_family(FAMILY_UNIFORM, 500, 2, 32, 0, 3);
    sap_tree *tree = NULL, *small = NULL;
    CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 8}, &tree), SAP_OK);
    CHECK_STATUS(build(shared(), &few, &(sap_tree_options){.leaf_size = 32}, &small), SAP_OK);
    for (int i = 0; i < 5; i++) {
        const sap_grid middle = {sizes[i][0], sizes[i][1], {0.5, 0.5, 0}, {1e-7, 0, 0}, {0, 1e-7, 0}};
        NOTE("%d x %d pixels", (int)sizes[i][0], (int)sizes[i][1]);
        try_tiles(tree, &points, &middle, false);
        const sap_grid grid = grid_over(&few, sizes[i][0], sizes[i][1]);
        try_tiles(small, &few, &grid, true);
    }
    sap_tree_free(tree);
    sap_tree_free(small);
    cloud_free(&points);
    cloud_free(&few);
    NOTE("%s", "");
}

TEST(points_on_a_circle_in_steps_of_one_leaf) {
    if (!shared()) SKIP(no_gl);
    enum { POINTS = 5000, SIZE = 40 };
    cloud points = circle(POINTS);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 8}, &tree), SAP_OK);
    try_grid(tree, &points, SIZE, SIZE, 1, 0);
    sap_grid grid = grid_over(&points, SIZE, SIZE);
    for (int32_t k = 0; k <= 8; k++) {
        sap_gl_frame* frame = NULL;
        sap_gl_frame_textures textures;
        bool done = false;
        int steps = 0;
        CHECK_STATUS(sap_gl_frame_create(tree, SIZE, SIZE, &(sap_search){.k = k, .radius = 0.05}, &frame), SAP_OK);
        CHECK_STATUS(sap_gl_frame_step(frame, 1, &done), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_gl_frame_describe(frame, &textures), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_gl_frame_read(frame, (int32_t[4]){0, 0, 1, 1}, &steps, NULL), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_gl_frame_begin(frame, grid), SAP_OK);
        for (; !done && steps < 3000; steps++) CHECK_STATUS(sap_gl_frame_step(frame, 1, &done), SAP_OK);
        CHECK(done && steps > 3);
        CHECK_STATUS(sap_gl_frame_describe(frame, &textures), SAP_OK);
        CHECK(textures.width == SIZE && textures.place && (k > 1) == (textures.lists[0] != 0));
        check_frame(frame, &points, &grid, k, 0.05);
        sap_gl_frame_free(frame);
    }
    sap_tree_free(tree);
    cloud_free(&points);
}

// From the middle of a circle all points are as far, and within one radius: walks look at all leaves, which are many or
// long; no driver may end them before.
TEST(the_middle_of_a_circle) {
    if (!shared()) SKIP(no_gl);
    enum { POINTS = 400000, SIZE = 5 };
    static const int32_t leaf_sizes[] = {8, 1024};
    cloud points = circle(POINTS);
    const sap_grid grid = {SIZE, SIZE, {0.5 - 3e-7, 0.5 - 3e-7, 0}, {12e-8, 0, 0}, {0, 12e-8, 0}};
    cloud queries = places_of(&grid, 2);
    for (int i = 0; i < 2; i++) {
        sap_tree* tree = NULL;
        int32_t ids[SIZE * SIZE];
        float distance2[SIZE * SIZE];
        int64_t counts[SIZE * SIZE];
        NOTE("leaf size %d", (int)leaf_sizes[i]);
        CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = leaf_sizes[i]}, &tree), SAP_OK);
        CHECK_STATUS(sap_nearest_grid(tree, grid, &(sap_search){.k = 1}, ids, distance2), SAP_OK);
        check_rows(&points, &queries, 1, (double)FLT_MAX, ids, distance2);
        CHECK_STATUS(sap_radius_count_grid(tree, grid, 0.46, counts), SAP_OK);
        for (int j = 0; j < SIZE * SIZE; j++) CHECK_EQUAL(counts[j], POINTS);
        sap_tree_free(tree);
    }
    cloud_free(&queries);
    cloud_free(&points);
}

TEST(queries_from_a_list) {
    if (!shared()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, 900, 3, 32, 4, 5);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(shared(), &points, NULL, &tree), SAP_OK);
    for (int64_t count = 0; count <= 1500; count += 1 + count * 2) {
        NOTE("%d queries", (int)count);
        cloud queries = cloud_of_family(FAMILY_UNIFORM, count, 3, 32, 5, 11);
        if (count > 3) cloud_set(&queries, 2, 1, NAN), cloud_set(&queries, 3, 0, INFINITY);
        int32_t* ids = malloc((size_t)(3 * count + 1) * sizeof *ids);
        float* distance2 = malloc((size_t)(3 * count + 1) * sizeof *distance2);
        int64_t* counts = malloc((size_t)(count + 1) * sizeof *counts);
        CHECK_STATUS(nearest(tree, &queries, &(sap_search){.k = 3}, ids, distance2), SAP_OK);
        check_rows(&points, &queries, 3, (double)FLT_MAX, ids, distance2);
        CHECK_STATUS(radius_count(tree, &queries, 0.2, counts), SAP_OK);
        check_counts(&points, &queries, oracle_limit2(0.2, 32), counts);
        free(ids);
        free(distance2);
        free(counts);
        cloud_free(&queries);
    }
    sap_tree_free(tree);
    cloud_free(&points);
}

TEST(places_that_are_nowhere_have_no_neighbour) {
    if (!shared()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 50, 2, 32, 0, 5);
    sap_tree* tree = NULL;
    int32_t ids[6];
    float distance2[6];
    CHECK_STATUS(build(shared(), &points, NULL, &tree), SAP_OK);
    sap_grid grid = {3, 2, {(double)NAN, 0}, {1, 0}, {0, 1}};
    CHECK_STATUS(sap_nearest_grid(tree, grid, &(sap_search){.k = 1}, ids, distance2), SAP_OK);
    for (int i = 0; i < 6; i++) CHECK(ids[i] == -1 && isinf(distance2[i]));
    grid.origin[0] = 1e30;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &(sap_search){.k = 1}, ids, distance2), SAP_OK);
    for (int i = 0; i < 6; i++) CHECK(ids[i] == -1 && isinf(distance2[i]));
    sap_tree_free(tree);
    cloud_free(&points);
}

TEST(refuses_what_shaders_cannot) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 40, 2, 32, 0, 5), wide = cloud_of_family(0, 40, 2, 64, 0, 5);
    cloud four = cloud_of_family(FAMILY_UNIFORM, 40, 4, 32, 0, 5);
    sap_tree *tree = NULL, *none = NULL;
    CHECK_STATUS(build(device, &wide, NULL, &none), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(build(device, &four, NULL, &none), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    int32_t ids[40 * 9];
    sap_grid grid = grid_over(&points, 4, 4);
    sap_search search = {.k = 9};
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "search.k: shaders find at most 8 neighbours, not 9");
    search.k = 0;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, NULL), SAP_ERROR_ARGUMENT);
    search.k = 1;
    sap_gl_frame* frame = NULL;
    search.reserved[2] = 1;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_frame_create(tree, 4, 4, &search, &frame), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "search.reserved: is not zero; it was made for a newer Sapwood");
    search.reserved[2] = 0;
    CHECK_STATUS(sap_nearest_grid(NULL, grid, &search, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_count_grid(tree, grid, -1, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_count_grid(tree, grid, 1, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_count_grid(NULL, grid, 1, NULL), SAP_ERROR_ARGUMENT);
    grid.width = 0;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, NULL), SAP_ERROR_ARGUMENT);
    search.walk = SAP_WALK_WARP;
    CHECK_STATUS(nearest(tree, &points, &search, ids, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "search.walk: shaders walk each pixel alone, with a stack or without");
    CHECK_STATUS(sap_gl_frame_create(tree, 4, 4, &search, &frame), SAP_ERROR_UNSUPPORTED);
    CHECK(!frame);
    sap_tree* sliding = NULL;
    CHECK_STATUS(build(device, &points, &(sap_tree_options){.split = SAP_SPLIT_SLIDING_MIDPOINT}, &sliding), SAP_OK);
    search.walk = SAP_WALK_STACK;
    CHECK_STATUS(nearest(sliding, &points, &search, ids, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "search.walk: shaders keep a stack for balanced trees only");
    sap_tree_free(sliding);
    CHECK_STATUS(sap_nearest_self(tree, &(sap_search){.k = 1}, ids, NULL), SAP_ERROR_UNSUPPORTED);
    search = (sap_search){.k = 1, .without_ids = ids};
    CHECK_STATUS(nearest(tree, &points, &search, ids, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "this OpenGL device cannot leave points out by search.without_ids");
    grid.width = 4;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, NULL), SAP_OK); // does not look at them
    sap_query* query = NULL;
    CHECK_STATUS(sap_query_open(tree, &(sap_search){.k = 1}, &query), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "this OpenGL device cannot search for one query a call");
    CHECK(!query);
    sap_neighbors* found = NULL;
    CHECK_STATUS(sap_pairs(tree, 1, &found), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "an OpenGL device does not list pairs of points; give the points as queries");
    CHECK_STATUS(box_search(tree, &points, &points, &found), SAP_ERROR_UNSUPPORTED);
    cloud_set(&points, 7, 1, NAN);
    CHECK_STATUS(build(device, &points, NULL, &none), SAP_ERROR_NOT_FINITE);
    CHECK(!none);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    cloud_free(&points);
    cloud_free(&wide);
    cloud_free(&four);
}

TEST(textures_beyond_the_limit_are_refused_by_its_name) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.max_texture_size = 16;
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 3000, 2, 32, 0, 5), few = cloud_of_family(0, 60, 2, 32, 0, 5);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_ERROR_RANGE);
    CHECK(strstr(w.sentence, "GL_MAX_TEXTURE_SIZE here is 16"));
    CHECK_STATUS(build(device, &few, NULL, &tree), SAP_OK);
    try_grid(tree, &few, 50, 40, 1, 0); // in rectangles of the limit
    sap_gl_frame* frame = NULL;
    CHECK_STATUS(sap_gl_frame_create(tree, 17, 4, &(sap_search){.k = 1}, &frame), SAP_ERROR_RANGE);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    cloud_free(&points);
    cloud_free(&few);
}

TEST(needs_no_float_targets) {
    if (!gl_tools_present()) SKIP(no_gl);
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    gl_tools.max_draw_buffers = 4;
    CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &device), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 500, 2, 32, 0, 5);
    sap_tree* tree = NULL;
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    try_grid(tree, &points, 20, 20, 4, 0);
    int32_t ids[8];
    sap_grid grid = grid_over(&points, 1, 1);
    CHECK_STATUS(sap_nearest_grid(tree, grid, &(sap_search){.k = 8}, ids, NULL), SAP_ERROR_UNSUPPORTED);
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
}

TEST(trees_in_bytes) {
    if (!shared()) SKIP(no_gl);
    for (int which = 0; which < FAMILY_COUNT; which++) {
        for (int64_t size = 1; size < (TEST_SANITIZED ? 90 : 900); size = size * 3 + 1) {
            if (which == FAMILY_MIXED || which == FAMILY_DENORMAL || which == FAMILY_EXPONENTIAL) continue;
            NOTE("%s of %d", family_name((family)which), (int)size);
            cloud points = cloud_of_family((family)which, size, 2, 32, 0, 5);
            sap_tree* tree = NULL;
            CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 1}, &tree), SAP_OK);
            check_sites(shared(), tree, &points);
            sap_tree_free(tree);
            cloud_free(&points);
        }
    }
}

TEST(trees_in_bytes_with_a_stack_in_integers_in_space) {
    if (!shared()) SKIP(no_gl);
    for (int i = 0; i < 4; i++)
        for (int64_t size = 2; size < 2000; size *= 700) {
            NOTE("%d sites in %d-D, axes %d", (int)size, 2 + i / 2, i % 2);
            cloud points = whole_sites(size, 2 + i / 2);
            check_exact_sites(shared(), &points, (sap_axis)(i % 2), true);
            cloud_free(&points);
        }
}

// A search that may look at few nodes: no site before it has come to a leaf, then ever nearer ones.
TEST(trees_in_bytes_in_so_many_steps) {
    if (!shared()) SKIP(no_gl);
    enum { POINTS = 600, SIDE = 30 };
    static int32_t ids[SIDE * SIDE], all[SIDE * SIDE];
    cloud points = cloud_of_family(FAMILY_SHELL, POINTS, 2, 32, 0, 5);
    const sap_grid grid = grid_over(&points, SIDE, SIDE);
    sap_tree* tree = NULL;
    sap_rgba8_tree* form = NULL;
    CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 1}, &tree), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(tree, grid.origin, fmax(grid.right[0], grid.down[1]) * SIDE, &form), SAP_OK);
    for (int variant = 0; variant < 4; variant++) {
        sap_rgba8_search search = {.walk = variant % 2 ? SAP_WALK_STACK : SAP_WALK_STACKLESS, .integers = variant > 1};
        int64_t before = SIDE * SIDE;
        CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, &search, all, NULL), SAP_OK);
        for (search.most_steps = 5; search.most_steps < 20000; search.most_steps *= 5) {
            int64_t wrong = 0;
            CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, &search, ids, NULL), SAP_OK);
            for (int i = 0; i < SIDE * SIDE; i++) wrong += ids[i] != all[i];
            CHECK(search.most_steps > 5 || (ids[0] == -1 && wrong == SIDE * SIDE));
            CHECK(wrong <= before);
            before = wrong;
        }
        CHECK_EQUAL(before, 0);
    }
    sap_rgba8_tree_free(form);
    sap_tree_free(tree);
    cloud_free(&points);
}

TEST(what_the_form_in_bytes_refuses) {
    if (!shared()) SKIP(no_gl);
    const double lower[2] = {0, 0};
    cloud points = cloud_of_family(FAMILY_UNIFORM, 50, 2, 32, 0, 5);
    sap_tree *tree = NULL, *fine = NULL, *empty = NULL;
    sap_rgba8_tree* form = NULL;
    sap_grid grid = grid_over(&points, 2, 2);
    int32_t ids[4];
    CHECK_STATUS(build(shared(), &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(tree, lower, 1, &form), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 1}, &fine), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(NULL, lower, 1, &form), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_rgba8_tree_build(fine, NULL, 1, &form), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_rgba8_tree_build(fine, lower, 0, &form), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_rgba8_tree_build(fine, lower, 1, NULL), SAP_ERROR_ARGUMENT);
    points.count = 0;
    CHECK_STATUS(build(shared(), &points, &(sap_tree_options){.leaf_size = 1}, &empty), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(empty, lower, 1, &form), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_rgba8_tree_build(fine, lower, 1, &form), SAP_OK);
    CHECK_STATUS(sap_gl_nearest_rgba8(shared(), NULL, grid, NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, NULL, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_nearest_rgba8(NULL, form, grid, NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, NULL, ids, NULL), SAP_OK);
    const sap_rgba8_search bad[] = {
        {.walk = (sap_walk)77}, {.walk = (sap_walk)-1}, {.most_steps = -1}, {.reserved = {0, 0, 1}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, &bad[i], ids, NULL), SAP_ERROR_ARGUMENT);
    form->dims = 4;
    CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    form->dims = 2;
    for (sap_walk walk = SAP_WALK_WARP; walk <= SAP_WALK_PACKET; walk++)
        CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, &(sap_rgba8_search){.walk = walk}, ids, NULL),
                     SAP_ERROR_UNSUPPORTED);
    grid.height = 0;
    CHECK_STATUS(sap_gl_nearest_rgba8(shared(), form, grid, NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    sap_rgba8_tree_free(form);
    sap_tree_free(empty);
    sap_tree_free(fine);
    sap_tree_free(tree);
    points.count = 50;
    cloud_free(&points);
}

// Copies, rebuilds and updates keep host arrays and textures the same.
TEST(trees_come_and_go) {
    if (!shared()) SKIP(no_gl);
    sap_device* cpu = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 800, 2, 32, 0, 5), other = cloud_of_family(0, 1500, 2, 32, 0, 6);
    sap_tree *tree = NULL, *there = NULL, *back = NULL;
    CHECK_STATUS(build(cpu, &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_copy(tree, shared(), &there), SAP_OK);
    CHECK(trees_equal(tree, there));
    CHECK_STATUS(sap_tree_verify(there), SAP_OK);
    sap_tree_info info;
    CHECK_STATUS(sap_tree_describe(there, &info), SAP_OK);
    CHECK_EQUAL(info.count, 800);
    CHECK_STATUS(rebuild(there, &other), SAP_OK);
    try_grid(there, &other, 20, 20, 1, 0);
    CHECK_STATUS(rebuild(tree, &other), SAP_OK);
    CHECK(trees_equal(tree, there));
    CHECK_STATUS(rebuild(tree, &points), SAP_OK);
    CHECK_STATUS(sap_gl_tree_update(there, tree), SAP_OK);
    CHECK(trees_equal(tree, there));
    try_grid(there, &points, 20, 20, 1, 0);
    CHECK_STATUS(sap_gl_tree_update(tree, there), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_gl_tree_update(there, there), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_tree_update(there, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_copy(there, cpu, &back), SAP_OK);
    CHECK(trees_equal(tree, back));
    sap_gl_tree_textures textures;
    CHECK_STATUS(sap_gl_tree_describe(there, &textures), SAP_OK);
    CHECK(textures.nodes && textures.smallest && textures.boxes && textures.blocks && textures.dims == 2);
    CHECK_STATUS(sap_gl_tree_describe(tree, &textures), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_gl_tree_describe(there, NULL), SAP_ERROR_ARGUMENT);
    sap_tree_free(back);
    sap_tree_free(there);
    sap_tree_free(tree);
    sap_device_close(cpu);
    cloud_free(&points);
    cloud_free(&other);
}

// Calls of OpenGL until nothing is left to do but to give back.
static int64_t calls_that_matter;

// What is tried with everything failing in turn: a tree, a grid, a frame.
static sap_status scene(sap_device* device, const cloud* points, sap_tree** tree) {
    int32_t ids[64 * 2];
    float distance2[64 * 2];
    sap_gl_frame* frame = NULL;
    sap_grid grid = grid_over(points, 8, 8);
    bool done = false;
    sap_status status = build(device, points, NULL, tree);
    if (status == SAP_OK) status = sap_nearest_grid(*tree, grid, &(sap_search){.k = 2}, ids, distance2);
    if (status == SAP_OK) status = nearest(*tree, points, &(sap_search){.k = 1}, ids, distance2);
    if (status == SAP_OK) status = sap_gl_frame_create(*tree, 8, 8, &(sap_search){.k = 1}, &frame);
    if (status == SAP_OK) status = sap_gl_frame_begin(frame, grid);
    while (status == SAP_OK && !done) status = sap_gl_frame_step(frame, 1, &done);
    if (status == SAP_OK) status = sap_gl_frame_read(frame, (int32_t[4]){1, 2, 3, 4}, ids, NULL);
    calls_that_matter = gl_tools.calls;
    sap_gl_frame_free(frame);
    return status;
}

// So many calls apart a context is lost. Software opens contexts in a millisecond, a GPU's driver in a tenth of a
// second.
static int64_t step_between(const sap_device* device) {
    sap_device_info info;
    CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
    return strstr(info.name, "llvmpipe") ? (TEST_SANITIZED ? 41 : 7) : 61;
}

TEST(a_context_may_be_lost_at_any_call) {
    if (!gl_tools_present()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 60, 2, 32, 0, 5);
    sap_device* cpu = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    int64_t last = 0; // call of all that is tried
    int64_t step = 1;
    for (int64_t n = 0; n <= last; n += n ? step : 1) {
        watch w = {0};
        sap_device_options options = watched(&w);
        sap_device* device = NULL;
        sap_tree *tree = NULL, *rescued = NULL;
        gl_tools_reset();
        CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
        int64_t opening = gl_tools.calls;
        gl_tools.lose_at = n ? opening + n : 0;
        NOTE("call %d of %d", (int)n, (int)last);
        sap_status status = scene(device, &points, &tree);
        if (n == 0) {
            CHECK_STATUS(status, SAP_OK);
            last = calls_that_matter - opening;
            step = step_between(device);
        } else {
            CHECK_STATUS(status, SAP_ERROR_DEVICE_LOST);
            if (tree) CHECK_STATUS(sap_tree_copy(tree, cpu, &rescued), SAP_OK);
        }
        sap_tree_free(rescued);
        sap_tree_free(tree);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    sap_device_close(cpu);
    cloud_free(&points);
}

TEST(memory_may_be_missing_anywhere) {
    if (!gl_tools_present()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 60, 2, 32, 0, 5);
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    for (int on_host = 0; on_host < 2; on_host++) {
        for (int64_t n = 1;; n++) {
            NOTE("%s allocation %d", on_host ? "host" : "texture", (int)n);
            sap_tree* tree = NULL;
            sap_device_trim(device);
            w.requests = gl_tools.memory_calls = 0;
            w.fail_from = on_host ? n : 0;
            gl_tools.fail_memory_at = on_host ? 0 : n;
            sap_status status = scene(device, &points, &tree);
            sap_tree_free(tree);
            w.fail_from = gl_tools.fail_memory_at = 0;
            CHECK_EQUAL(gl_tools.textures, 0);
            if (status == SAP_OK) break;
            CHECK_STATUS(status, on_host ? SAP_ERROR_MEMORY : SAP_ERROR_DEVICE_MEMORY);
            if (!CHECK(n < 200)) break;
        }
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    cloud_free(&points);
}

TEST(leaves_the_callers_context_as_it_was) {
    if (!gl_tools_present()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 60, 2, 32, 0, 5);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    if (!CHECK(gl_tools_enter_own())) return;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_GL, .current_context = true}, &device), SAP_OK);
    gl_tools_set_state();
    CHECK_STATUS(scene(device, &points, &tree), SAP_OK);
    CHECK(gl_tools_state_kept());
    sap_tree_free(tree);
    sap_device_close(device);
    gl_tools_leave_own();
    cloud_free(&points);
}

#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
