// Trees that CUDA built, put into the textures of OpenGL on the same GPU: what shaders then find is brute force's.
#include "test.h"

#if defined(SAP_HAVE_CUDA) && defined(SAP_HAVE_GL)
#include "cuda_scene.h"
#include "gl_pictures.h"

enum { SIDE = 48 };

typedef struct both {
    scene s;
    sap_device* gl;
} both;

// NULL, or what is missing.
static const char* open_both(both* b) {
    b->gl = NULL;
    if (!open_scene(&b->s, NULL)) return "there is no NVIDIA GPU";
    if (sap_device_open(&(sap_device_options){.processor = SAP_GL, .threads = 1}, &b->gl) == SAP_OK) return NULL;
    close_scene(&b->s);
    return "there is no OpenGL ES";
}

static void close_both(both* b) {
    sap_device_close(b->gl);
    close_scene(&b->s);
}

// A tree on the GPU over points there.
static sap_tree* built(const both* b, const cloud* points, int32_t leaf_size) {
    sap_tree* tree = NULL;
    cloud there = cloud_on_gpu(points);
    CHECK_STATUS(build(b->s.gpu, &there, &(sap_tree_options){.leaf_size = leaf_size}, &tree), SAP_OK);
    CHECK_STATUS(sap_device_wait(b->s.gpu), SAP_OK);
    cuda_tools_release(there.coords);
    return tree;
}

// What a frame draws of the tree, and what a search by grid answers.
static void expect_pictures(const sap_tree* tree, const cloud* points, int32_t k) {
    static int32_t ids[SIDE * SIDE * 4];
    static float distance2[SIDE * SIDE * 4];
    const sap_grid grid = grid_over(points, SIDE, SIDE);
    const sap_search search = {.k = k};
    cloud places = places_of(&grid, points->dims);
    sap_gl_frame* frame = NULL;
    bool done = false;
    CHECK_STATUS(sap_nearest_grid(tree, grid, &search, ids, distance2), SAP_OK);
    check_rows(points, &places, k, (double)FLT_MAX, ids, distance2);
    CHECK_STATUS(sap_gl_frame_create(tree, SIDE, SIDE, &search, &frame), SAP_OK);
    CHECK_STATUS(sap_gl_frame_begin(frame, grid), SAP_OK);
    while (!done && CHECK_STATUS(sap_gl_frame_step(frame, 5, &done), SAP_OK)) {}
    CHECK_STATUS(sap_gl_frame_read(frame, (int32_t[4]){0, 0, SIDE, SIDE}, ids, distance2), SAP_OK);
    check_rows(points, &places, k, (double)FLT_MAX, ids, distance2);
    sap_gl_frame_free(frame);
    cloud_free(&places);
}

// One copy takes over one tree after the other: other sizes, fewer and more points, leaves whose rows fill texels
// (these stay on the GPU) and leaves whose rows do not.
TEST(trees_go_from_cuda_to_textures) {
    both b;
    const char* missing = open_both(&b);
    if (missing) SKIP(missing);
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_LATTICE, FAMILY_EQUAL,
                                   FAMILY_HALF_DUPLICATES};
    static const int64_t counts[] = {900, 901, 1, 5000, 33, 0, 900};
    static const int32_t leaf_sizes[] = {8, 8, 8, 5, 8, 8, 13};
    for (int32_t dims = 2; dims <= 3; dims++) {
        sap_tree* copy = NULL;
        for (int i = 0; i < 7; i++) {
            NOTE("%d points in %d-D, leaves of %d", (int)counts[i], (int)dims, (int)leaf_sizes[i]);
            cloud points = cloud_of_family(kinds[(i + dims) % 5], counts[i], dims, 32, 0, 3);
            sap_tree* tree = built(&b, &points, leaf_sizes[i]);
            if (copy)
                CHECK_STATUS(sap_gl_tree_update(copy, tree), SAP_OK);
            else
                CHECK_STATUS(sap_tree_copy(tree, b.gl, &copy), SAP_OK);
            if (copy) expect_pictures(copy, &points, 1 + 2 * (i % 2));
            sap_tree_free(tree);
            cloud_free(&points);
        }
        sap_tree_free(copy);
    }
    close_both(&b);
}

// Frame by frame, as points that move are drawn: the copy keeps its buffers, and no frame shows an older tree.
TEST(moving_points_are_drawn_where_they_are) {
    both b;
    const char* missing = open_both(&b);
    if (missing) SKIP(missing);
    sap_tree *tree = NULL, *copy = NULL;
    for (uint64_t step = 0; step < 4; step++) {
        cloud points = cloud_of_family(FAMILY_UNIFORM, 3000, 2, 32, 0, 10 + step);
        cloud there = cloud_on_gpu(&points);
        sap_points moved = {there.coords, there.count, there.dims, there.stride};
        if (tree)
            CHECK_STATUS(sap_tree_rebuild(tree, moved), SAP_OK);
        else
            tree = built(&b, &points, 8);
        CHECK_STATUS(copy ? sap_gl_tree_update(copy, tree) : sap_tree_copy(tree, b.gl, &copy), SAP_OK);
        if (copy) expect_pictures(copy, &points, 1);
        cuda_tools_release(there.coords);
        cloud_free(&points);
    }
    sap_tree_free(tree);
    sap_tree_free(copy);
    close_both(&b);
}

#else

TEST(no_cuda_or_no_opengl) { SKIP("this build has not both CUDA and OpenGL ES"); }

#endif

TEST_MAIN()
