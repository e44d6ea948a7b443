// Rows of points within a radius, and trees of both kinds, in shaders: the CPU's answers, bit for bit.
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "allocator.h"
#include "calls.h"
#include "families.h"
#include "gl_tools.h"
#include "sapwood/sapwood.h"
#include "trees.h"
#include <math.h>

static const char* const no_gl = "no OpenGL ES here";
static const sap_split splits[] = {SAP_SPLIT_MEDIAN, SAP_SPLIT_SLIDING_MIDPOINT};

// A CPU and an OpenGL device, and a tree that both have.
typedef struct pair_of_trees {
    sap_tree *cpu, *gl;
} pair_of_trees;

static sap_device* on_cpu(void) {
    static sap_device* device;
    if (!device) CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    return device;
}

// Devices that stay open, so that shaders are compiled once: with compute shaders, or with fragment shaders that write
// four textures.
static sap_device* on_gl(bool computes) {
    static sap_device* kept[2];
    if (!kept[computes] && gl_tools_present()) {
        gl_tools_reset();
        gl_tools.no_float_targets = !computes;
        gl_tools.max_draw_buffers = computes ? 0 : 4;
        CHECK_STATUS(gl_tools_open(&(sap_device_options){.threads = 1}, &kept[computes]), SAP_OK);
    }
    return kept[computes];
}

__attribute__((destructor)) static void close_devices(void) {
    sap_device_close(on_gl(false));
    sap_device_close(on_gl(true));
    sap_device_close(on_cpu());
}

static pair_of_trees build_both(sap_device* gl, const cloud* points, const sap_tree_options* options) {
    pair_of_trees trees = {NULL, NULL};
    CHECK_STATUS(build(on_cpu(), points, options, &trees.cpu), SAP_OK);
    CHECK_STATUS(build(gl, points, options, &trees.gl), SAP_OK);
    CHECK(trees.cpu && trees.gl && trees_equal(trees.cpu, trees.gl));
    return trees;
}

static void free_both(pair_of_trees trees) {
    sap_tree_free(trees.cpu);
    sap_tree_free(trees.gl);
}

static void check_same_rows(const sap_neighbors* a, const sap_neighbors* b) {
    if (!CHECK(a && b && a->count == b->count)) return;
    if (!CHECK(!memcmp(a->offsets, b->offsets, (size_t)(a->count + 1) * sizeof *a->offsets))) return;
    const size_t found = (size_t)a->offsets[a->count];
    CHECK(!memcmp(a->ids, b->ids, found * sizeof *a->ids));
    CHECK(!memcmp(a->distance2, b->distance2, found * sizeof *a->distance2));
}

// The same rows, in the tree's order, sorted, and in memory of the caller's that is too small for them.
static void try_rows(pair_of_trees trees, const cloud* queries, double radius) {
    sap_neighbors *expected = NULL, *found = NULL, *sorted = NULL;
    CHECK_STATUS(radius_collect(trees.cpu, queries, radius, &expected), SAP_OK);
    CHECK_STATUS(radius_collect(trees.gl, queries, radius, &found), SAP_OK);
    check_same_rows(expected, found);
    if (found && expected) {
        const int64_t total = expected->offsets[expected->count], capacity = total * 2 / 3;
        int64_t* offsets = malloc((size_t)(queries->count + 1) * sizeof *offsets);
        int32_t* ids = malloc((size_t)(total + 1) * sizeof *ids);
        float* distance2 = malloc((size_t)(total + 1) * sizeof *distance2);
        ids[capacity] = -7;
        CHECK_STATUS(radius_into(trees.gl, queries, radius, capacity, offsets, ids, distance2), SAP_OK);
        CHECK(!memcmp(offsets, expected->offsets, (size_t)(queries->count + 1) * sizeof *offsets));
        CHECK(!memcmp(ids, expected->ids, (size_t)capacity * sizeof *ids) && ids[capacity] == -7);
        CHECK(!memcmp(distance2, expected->distance2, (size_t)capacity * sizeof *distance2));
        CHECK_STATUS(radius_into(trees.gl, queries, radius, total, offsets, ids, NULL), SAP_OK);
        CHECK(!memcmp(ids, expected->ids, (size_t)total * sizeof *ids));
        CHECK_STATUS(radius_into(trees.gl, queries, radius, 0, offsets, NULL, NULL), SAP_OK);
        CHECK_EQUAL(offsets[queries->count], total);
        free(offsets);
        free(ids);
        free(distance2);
        CHECK_STATUS(sap_neighbors_sort(expected), SAP_OK);
        CHECK_STATUS(radius_search(trees.gl, queries, &(sap_search){.radius = radius, .sorted = true}, &sorted),
                     SAP_OK);
        check_same_rows(expected, sorted);
    }
    sap_neighbors_free(sorted);
    sap_neighbors_free(found);
    sap_neighbors_free(expected);
}

static void try_nearest(pair_of_trees trees, const cloud* queries, int32_t k) {
    const size_t answers = (size_t)(queries->count * k);
    int32_t *expected = malloc(answers * sizeof *expected), *ids = malloc(answers * sizeof *ids);
    float *truth = malloc(answers * sizeof *truth), *distance2 = malloc(answers * sizeof *distance2);
    CHECK_STATUS(nearest(trees.cpu, queries, &(sap_search){.k = k}, expected, truth), SAP_OK);
    CHECK_STATUS(nearest(trees.gl, queries, &(sap_search){.k = k}, ids, distance2), SAP_OK);
    CHECK(!memcmp(ids, expected, answers * sizeof *ids));
    CHECK(!memcmp(distance2, truth, answers * sizeof *truth));
    free(expected);
    free(ids);
    free(truth);
    free(distance2);
}

static double size_of(const cloud* points) {
    double lower = INFINITY, upper = -INFINITY;
    for (int64_t i = 0; i < points->count; i++) {
        lower = fmin(lower, cloud_get(points, i, 0));
        upper = fmax(upper, cloud_get(points, i, 0));
    }
    return upper > lower ? fmin(upper - lower, 1e17) : 1;
}

TEST(the_cpus_answers_for_every_family) {
    if (!on_gl(false)) SKIP(no_gl);
    static const int64_t sizes[] = {0, 1, 2, 40, 600};
    for (int which = 0; which < FAMILY_COUNT; which++) {
        if (which == FAMILY_MIXED) continue; // GPUs may take the smallest squared distances for 0
        for (int i = 0; i < 20; i++) {
            const int64_t size = sizes[i % 5];
            const int32_t dims = 2 + i / 5 % 2, leaf_size = (i + which) % 3 ? 5 : 1 + which % 16;
            const sap_split split = splits[i / 10];
            NOTE("%s of %d in %d-D, leaves of %d, split %d", family_name((family)which), (int)size, (int)dims,
                 (int)leaf_size, (int)split);
            cloud points = cloud_of_family((family)which, size, dims, 32, which % 3 ? 0 : dims + 1, 7);
            cloud queries = cloud_of_family((family)which, 50, dims, 32, 0, 8);
            for (int j = 0; j < 12 && j < size; j++)
                for (int32_t a = 0; a < dims; a++) cloud_set(&queries, j, a, cloud_get(&points, j, a));
            cloud_set(&queries, 13, 1, (double)NAN);
            cloud_set(&queries, 17, 0, (double)INFINITY);
            const bool computes = (which + i) % 2;
            pair_of_trees trees =
                build_both(on_gl(computes), &points, &(sap_tree_options){.leaf_size = leaf_size, .split = split});
            try_rows(trees, &queries, 0);
            try_rows(trees, &queries, 0.2 * size_of(&points));
            if (i % 5 == 3) try_rows(trees, &queries, (double)INFINITY);
            try_nearest(trees, &queries, 1 + (which + i) % (computes ? 8 : 4)); // four textures hold no more
            free_both(trees);
            cloud_free(&points);
            cloud_free(&queries);
        }
    }
}

// One row holds all points, most hold none, in more queries than a pass takes.
TEST(long_rows_and_empty_ones) {
    if (!on_gl(false)) SKIP(no_gl);
    enum { POINTS = 20000, QUERIES = 270 * 1000 };
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 5);
    cloud queries = cloud_make(TEST_SANITIZED ? 3000 : QUERIES, 3, 32, 0);
    const double size = size_of(&points);
    for (int64_t i = 0; i < queries.count; i++)
        for (int32_t a = 0; a < 3; a++)
            cloud_set(&queries, i, a, cloud_get(&points, i % POINTS, a) + (i % 1000 ? 9 * size : 0));
    for (int i = 0; i < 2; i++) {
        pair_of_trees trees = build_both(on_gl(i), &points, &(sap_tree_options){.leaf_size = 8, .split = splits[i]});
        sap_neighbors *expected = NULL, *found = NULL;
        CHECK_STATUS(radius_collect(trees.cpu, &queries, 0.35 * size, &expected), SAP_OK);
        CHECK_STATUS(radius_collect(trees.gl, &queries, 0.35 * size, &found), SAP_OK);
        check_same_rows(expected, found);
        sap_neighbors_free(found);
        sap_neighbors_free(expected);
        free_both(trees);
    }
    cloud_free(&points);
    cloud_free(&queries);
}

// Leaves of an explicit tree hold up to 65,536 equal points. Neighbours are found without a look at all of them.
TEST(very_many_equal_points) {
    if (!on_gl(false)) SKIP(no_gl);
    enum { POINTS = 150000 };
    cloud points = cloud_make(POINTS, 2, 32, 0), queries = cloud_make(3, 2, 32, 0);
    for (int i = 0; i < POINTS; i++) cloud_set(&points, i, 0, i % 9 ? 1 : 2), cloud_set(&points, i, 1, 0);
    for (int i = 0; i < 3; i++) cloud_set(&queries, i, 0, 0.2 + 1.2 * i), cloud_set(&queries, i, 1, 0);
    for (int i = 0; i < 4; i++) {
        pair_of_trees trees = build_both(on_gl(i % 2), &points, &(sap_tree_options){.split = splits[i / 2]});
        int64_t counts[3];
        for (int32_t k = 1; k <= (i % 2 ? 8 : 4); k++) try_nearest(trees, &queries, k);
        CHECK_STATUS(radius_count(trees.gl, &queries, 1, counts), SAP_OK);
        CHECK(counts[0] == POINTS - (POINTS + 8) / 9 && counts[1] == POINTS && counts[2] == (POINTS + 8) / 9);
        try_rows(trees, &queries, 0.5);
        free_both(trees);
    }
    cloud_free(&points);
    cloud_free(&queries);
}

// Deep trees: walks must find their way up.
TEST(points_that_halve_the_distance) {
    if (!on_gl(false)) SKIP(no_gl);
    cloud points = cloud_make(120, 3, 32, 0);
    for (int i = 0; i < 120; i++)
        for (int32_t a = 0; a < 3; a++) cloud_set(&points, i, a, (i + a) % 3 ? ldexp(1, -i / 2) : 0);
    for (int i = 0; i < 4; i++) {
        pair_of_trees trees =
            build_both(on_gl(i % 2), &points, &(sap_tree_options){.leaf_size = 1, .split = splits[i / 2]});
        for (int32_t k = 1; k <= (i % 2 ? 8 : 4); k++) try_nearest(trees, &points, k);
        for (int j = 0; j < 9; j++) try_rows(trees, &points, pow(7, -j));
        free_both(trees);
    }
    cloud_free(&points);
}

// A tree that becomes one of the other kind keeps no texture of the wrong format, whatever their sizes.
TEST(textures_change_with_the_kind) {
    if (!on_gl(true)) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 500, 2, 32, 0, 5);
    sap_tree* copy = NULL;
    CHECK_STATUS(build(on_gl(true), &points, NULL, &copy), SAP_OK);
    for (int i = 1; i < 6; i++) {
        sap_tree* tree = NULL;
        sap_gl_tree_textures textures;
        CHECK_STATUS(build(on_cpu(), &points, &(sap_tree_options){.split = splits[i % 2], .leaf_size = i}, &tree),
                     SAP_OK);
        CHECK_STATUS(sap_gl_tree_update(copy, tree), SAP_OK);
        CHECK(trees_equal(tree, copy));
        CHECK_STATUS(sap_gl_tree_describe(copy, &textures), SAP_OK);
        CHECK_EQUAL(textures.split, splits[i % 2]);
        CHECK(textures.quads == (i + 3) / 4 && textures.nodes && textures.depth > 5);
        try_rows((pair_of_trees){tree, copy}, &points, 0.1 * size_of(&points));
        try_nearest((pair_of_trees){tree, copy}, &points, 2);
        sap_tree_free(tree);
    }
    sap_tree_free(copy);
    cloud_free(&points);
}

TEST(small_textures) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.max_texture_size = 16;
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 70, 2, 32, 0, 5), many = cloud_of_family(0, 3000, 2, 32, 0, 5);
    sap_tree* refused = NULL;
    CHECK_STATUS(build(device, &many, &(sap_tree_options){.split = SAP_SPLIT_SLIDING_MIDPOINT}, &refused),
                 SAP_ERROR_RANGE);
    CHECK(strstr(w.sentence, "GL_MAX_TEXTURE_SIZE here is 16"));
    for (int i = 0; i < 2; i++) {
        pair_of_trees trees = build_both(device, &points, &(sap_tree_options){.split = splits[i]});
        sap_neighbors *expected = NULL, *found = NULL;
        CHECK_STATUS(radius_collect(trees.cpu, &many, 0.3 * size_of(&points), &expected), SAP_OK);
        CHECK_STATUS(radius_collect(trees.gl, &many, 0.3 * size_of(&points), &found), SAP_OK);
        check_same_rows(expected, found);
        sap_neighbors_free(found);
        sap_neighbors_free(expected);
        free_both(trees);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(gl_tools.textures, 0);
    cloud_free(&points);
    cloud_free(&many);
}

// What is tried with everything failing in turn.
static sap_status scene(sap_device* device, const cloud* points, sap_tree** tree) {
    sap_neighbors* found = NULL;
    sap_status status = build(device, points, &(sap_tree_options){.split = SAP_SPLIT_SLIDING_MIDPOINT}, tree);
    if (status == SAP_OK) status = radius_collect(*tree, points, 0.5 * size_of(points), &found);
    CHECK((status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

TEST(failures_leave_nothing) {
    if (!gl_tools_present()) SKIP(no_gl);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 90, 2, 32, 0, 5);
    watch w = {0};
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
    int64_t calls = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
        for (int64_t n = 1;; n++) {
            NOTE("%s allocation %d", on_host ? "host" : "texture", (int)n);
            sap_tree* tree = NULL;
            sap_device_trim(device);
            w.requests = gl_tools.memory_calls = 0;
            w.fail_from = on_host ? n : 0;
            gl_tools.fail_memory_at = on_host ? 0 : n;
            calls = gl_tools.calls;
            sap_status status = scene(device, &points, &tree);
            calls = gl_tools.calls - calls;
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
    for (int64_t n = 1; n < calls; n += TEST_SANITIZED ? 41 : 13) {
        sap_tree* tree = NULL;
        NOTE("call %d of %d", (int)n, (int)calls);
        w = (watch){0};
        gl_tools_reset();
        CHECK_STATUS(gl_tools_open_watched(&w, &device), SAP_OK);
        gl_tools.lose_at = gl_tools.calls + n;
        CHECK_STATUS(scene(device, &points, &tree), SAP_ERROR_DEVICE_LOST);
        sap_tree_free(tree);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    cloud_free(&points);
}

#else
TEST(no_opengl) { SKIP("this build has no OpenGL ES"); }
#endif

TEST_MAIN()
