// Bad input to devices and trees is a status and a sentence that names the argument; outputs stay as they were.
#include "sapwood/sapwood.h"
#include "stage.h"
#include <float.h>
#include <math.h>

TEST(status_strings) {
    for (int i = SAP_OK; i <= SAP_ERROR_CANCELLED; i++) {
        const char* text = sap_status_string((sap_status)i);
        if (!CHECK(text && *text)) continue;
        for (int j = SAP_OK; j < i; j++) CHECK(strcmp(text, sap_status_string((sap_status)j)) != 0);
    }
    CHECK(sap_status_string((sap_status)999) && sap_status_string((sap_status)-1));
    CHECK_TEXT(sap_version(), "0.2.0");
}

TEST(open_refuses) {
    stage s;
    memset(&s, 0, sizeof s);
    sap_device* device = NULL;
    sap_device_options good = watched(&s.w), bad = good;
    REFUSED(sap_device_open(&good, NULL), SAP_ERROR_ARGUMENT, "device");
    CHECK_STATUS(sap_device_open(NULL, NULL), SAP_ERROR_ARGUMENT);
    bad.processor = (sap_processor)17;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "processor");
    bad.processor = (sap_processor)-1;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "processor");
    bad = good;
    bad.simd = (sap_simd)9;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "simd");
    bad = good;
    bad.threads = -1;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "threads");
    bad.threads = 1025;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "threads");
    bad = good;
    bad.ordinal = -1;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "ordinal");
    bad = good;
    bad.allocator.release = NULL;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "allocator");
    bad = good;
    bad.allocator.allocate = NULL;
    REFUSED(sap_device_open(&bad, &device), SAP_ERROR_ARGUMENT, "allocator");
    CHECK(device == NULL);
    CHECK_EQUAL(s.w.requests, 0);
}

TEST(absent_processors) {
    stage s;
    memset(&s, 0, sizeof s);
    sap_device* device = NULL;
    sap_device_options options = watched(&s.w);
    for (int p = SAP_CUDA; p <= SAP_GL; p++) {
        options.processor = (sap_processor)p;
        sap_status status = sap_device_open(&options, &device);
        if (status == SAP_OK)
            sap_device_close(device);
        else
            REFUSED(status, SAP_ERROR_NO_DEVICE, "options.");
        device = NULL;
    }
    options.processor = SAP_AUTO;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    sap_device_close(device);
    CHECK_EQUAL(s.w.blocks, 0);
}

TEST(a_device_describes_itself) {
    stage s;
    open_stage(&s);
    sap_device_info info;
    memset(&info, 0x77, sizeof info);
    CHECK_STATUS(sap_device_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    REFUSED(sap_device_describe(s.device, NULL), SAP_ERROR_ARGUMENT, "info");
    CHECK_STATUS(sap_device_describe(s.device, &info), SAP_OK);
    CHECK(info.processor == SAP_CPU && info.simd >= SAP_SIMD_PORTABLE && info.simd <= SAP_SIMD_AVX512);
    CHECK(info.threads >= 1 && info.threads <= 1024);
    sap_device_trim(s.device);
    CHECK_STATUS(sap_device_describe(s.device, &info), SAP_OK);
    CHECK_EQUAL(info.scratch_bytes, 0);
    sap_device_trim(NULL);
    sap_device_close(NULL);
    close_stage(&s);
}

TEST(options_reach_the_device) {
    sap_device* device = NULL;
    sap_device_options options = {.processor = SAP_CPU, .threads = 3, .simd = SAP_SIMD_PORTABLE};
    sap_device_info info;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
    CHECK_EQUAL(info.simd, SAP_SIMD_PORTABLE);
    CHECK(info.threads == 3 || info.threads == 1); // one in builds without threads
    sap_device_close(device);
}

TEST(build_refuses) {
    stage s;
    open_stage(&s);
    sap_tree* tree = NULL;
    int64_t requests = s.w.requests;
    sap_points good = {s.coords, 10, 3, 0}, bad = good;
    CHECK_STATUS(sap_tree_build(NULL, good, NULL, &tree), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_build(s.device, good, NULL, NULL), SAP_ERROR_ARGUMENT, "tree");
    for (int i = 0; i < 4; i++) {
        static const int32_t dims[] = {0, -1, 17, INT32_MAX};
        bad.dims = dims[i];
        REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_ARGUMENT, "dims");
    }
    bad = good;
    bad.stride = 2;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_ARGUMENT, "stride");
    bad.stride = -3;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_ARGUMENT, "stride");
    bad = good;
    bad.coords = NULL;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_ARGUMENT, "coords");
    bad = good;
    bad.count = -1;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_ARGUMENT, "count");
    bad.count = (int64_t)1 << 31;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_RANGE, "count");
    bad.count = INT64_MAX;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_RANGE, "count");
    bad = good;
    bad.stride = INT64_MAX / 4;
    REFUSED(sap_tree_build(s.device, bad, NULL, &tree), SAP_ERROR_RANGE, "stride");
    CHECK(tree == NULL);
    CHECK_EQUAL(s.w.requests, requests);
    close_stage(&s);
}

TEST(build_refuses_options) {
    stage s;
    open_stage(&s);
    sap_tree* tree = NULL;
    sap_points points = {s.coords, 10, 3, 0};
    sap_tree_options bad = {.split = (sap_split)7};
    REFUSED(sap_tree_build(s.device, points, &bad, &tree), SAP_ERROR_ARGUMENT, "split");
    bad = (sap_tree_options){.split = (sap_split)3};
    REFUSED(sap_tree_build(s.device, points, &bad, &tree), SAP_ERROR_ARGUMENT, "split");
    bad = (sap_tree_options){.axis = (sap_axis)2};
    REFUSED(sap_tree_build(s.device, points, &bad, &tree), SAP_ERROR_ARGUMENT, "axis");
    bad = (sap_tree_options){.leaf_size = -1};
    REFUSED(sap_tree_build(s.device, points, &bad, &tree), SAP_ERROR_ARGUMENT, "leaf_size");
    bad = (sap_tree_options){.leaf_size = 1025};
    REFUSED(sap_tree_build(s.device, points, &bad, &tree), SAP_ERROR_ARGUMENT, "leaf_size");
    CHECK(tree == NULL);
    close_stage(&s);
}

TEST(build_refuses_coordinates) {
    stage s;
    open_stage(&s);
    const double limit = cloud_limit(3, 32), limit_f64 = cloud_limit(3, 64);
    const double bad[] = {NAN, INFINITY, -INFINITY, limit * 1.001, -limit * 1.001, FLT_MAX};
    const double bad_f64[] = {NAN, INFINITY, -INFINITY, limit_f64 * 1.001, -limit_f64 * 1.001, DBL_MAX};
    sap_tree_options sliding = {.split = SAP_SPLIT_SLIDING_MIDPOINT}, unique = {.drop_duplicates = true};
    const sap_tree_options* options[] = {NULL, &sliding, &unique};
    for (int i = 0; i < 18; i++) {
        float coords[30];
        double coords_f64[30];
        sap_tree* tree = NULL;
        memcpy(coords, s.coords, sizeof coords);
        memcpy(coords_f64, s.coords_f64, sizeof coords_f64);
        coords[7 * 3 + i % 3] = (float)bad[i / 3];
        coords[9 * 3] = NAN;
        coords_f64[7 * 3 + i % 3] = bad_f64[i / 3];
        REFUSED(sap_tree_build(s.device, (sap_points){coords, 10, 3, 0}, options[i % 3], &tree), SAP_ERROR_NOT_FINITE,
                "7");
        REFUSED(sap_tree_build_f64(s.device, (sap_points_f64){coords_f64, 10, 3, 0}, options[i % 3], &tree),
                SAP_ERROR_NOT_FINITE, "7");
        REFUSED(sap_tree_rebuild(s.tree, (sap_points){coords, 10, 3, 0}), SAP_ERROR_NOT_FINITE, "7");
        REFUSED(sap_tree_rebuild_f64(s.tree_f64, (sap_points_f64){coords_f64, 10, 3, 0}), SAP_ERROR_NOT_FINITE, "7");
        CHECK(tree == NULL);
    }
    CHECK_STATUS(sap_tree_verify(s.tree), SAP_OK);
    CHECK_STATUS(sap_tree_verify(s.tree_f64), SAP_OK);
    float inside[3] = {(float)(limit * 0.999), -(float)(limit * 0.999), 0};
    CHECK_STATUS(sap_tree_rebuild(s.tree, (sap_points){inside, 1, 3, 0}), SAP_OK);
    close_stage(&s);
}

TEST(rebuild_refuses) {
    stage s;
    open_stage(&s);
    sap_points good = {s.coords, 10, 3, 0}, bad = good;
    sap_points_f64 doubles = {s.coords_f64, 10, 3, 0};
    CHECK_STATUS(sap_tree_rebuild(NULL, good), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_rebuild_f64(NULL, doubles), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_rebuild_f64(s.tree, doubles), SAP_ERROR_ARGUMENT, "points");
    REFUSED(sap_tree_rebuild(s.tree_f64, good), SAP_ERROR_ARGUMENT, "points");
    bad.dims = 2;
    REFUSED(sap_tree_rebuild(s.tree, bad), SAP_ERROR_ARGUMENT, "points");
    bad.dims = 0;
    REFUSED(sap_tree_rebuild(s.tree, bad), SAP_ERROR_ARGUMENT, "dims");
    bad = good;
    bad.stride = 1;
    REFUSED(sap_tree_rebuild(s.tree, bad), SAP_ERROR_ARGUMENT, "stride");
    bad = good;
    bad.count = (int64_t)1 << 40;
    REFUSED(sap_tree_rebuild(s.tree, bad), SAP_ERROR_RANGE, "count");
    bad = good;
    bad.coords = NULL;
    REFUSED(sap_tree_rebuild(s.tree, bad), SAP_ERROR_ARGUMENT, "coords");
    CHECK_STATUS(sap_tree_verify(s.tree), SAP_OK);
    close_stage(&s);
}

TEST(tree_functions_refuse) {
    stage s;
    open_stage(&s);
    sap_tree* copy = NULL;
    sap_tree_info info;
    sap_tree_node nodes[10];
    CHECK_STATUS(sap_tree_copy(NULL, s.device, &copy), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_copy(s.tree, NULL, &copy), SAP_ERROR_ARGUMENT, "target");
    REFUSED(sap_tree_copy(s.tree, s.device, NULL), SAP_ERROR_ARGUMENT, "copy");
    CHECK_STATUS(sap_tree_verify(NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_describe(s.tree, NULL), SAP_ERROR_ARGUMENT, "info");
    CHECK_STATUS(sap_tree_nodes(NULL, nodes), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_nodes(s.tree, NULL), SAP_ERROR_ARGUMENT, "nodes");
    sap_tree_free(NULL);
    CHECK(copy == NULL);
    close_stage(&s);
}

TEST(save_and_load_refuse) {
    stage s;
    open_stage(&s);
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_save(NULL, "x"), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_save(s.tree, NULL), SAP_ERROR_ARGUMENT, "path");
    REFUSED(sap_tree_save(s.tree, "/nowhere/at/all.sap"), SAP_ERROR_IO, "/nowhere/at/all.sap");
    CHECK_STATUS(sap_tree_load(NULL, "x", NULL, &tree), SAP_ERROR_ARGUMENT);
    REFUSED(sap_tree_load(s.device, NULL, NULL, &tree), SAP_ERROR_ARGUMENT, "path");
    REFUSED(sap_tree_load(s.device, "x", NULL, NULL), SAP_ERROR_ARGUMENT, "tree");
    REFUSED(sap_tree_load(s.device, "/nowhere/at/all.sap", NULL, &tree), SAP_ERROR_IO, "/nowhere/at/all.sap");
    sap_status folder = sap_tree_load(s.device, "/", NULL, &tree);
    CHECK(folder == SAP_ERROR_IO || folder == SAP_ERROR_FORMAT);
    CHECK(tree == NULL);
    close_stage(&s);
}

// Words that are kept for later versions: whoever sets one was compiled against such a version.
#define REFUSED_RESERVED(type, call, name)                                                                             \
    for (int word = 0; word < 4; word++) {                                                                             \
        type o = {.reserved = {0}};                                                                                    \
        o.reserved[word] = (uint64_t)1 << 63 >> word;                                                                  \
        REFUSED(call, SAP_ERROR_ARGUMENT, name ".reserved: is not zero; it was made for a newer Sapwood");             \
    }

TEST(reserved_words_of_devices_and_trees) {
    stage s;
    open_stage(&s);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    int32_t ids[30] = {7};
    double wide[30];
    const sap_points points = {s.coords, 10, 3, 0};
    const sap_points_f64 doubles = {s.coords_f64, 10, 3, 0};
    const sap_grid grid = {.width = 2, .height = 2};
    for (int word = 0; word < 4; word++) {
        sap_device_options o = watched(&s.w);
        o.reserved[word] = 1;
        REFUSED(sap_device_open(&o, &device), SAP_ERROR_ARGUMENT, "options.reserved: is not zero");
    }
    REFUSED_RESERVED(sap_tree_options, sap_tree_build(s.device, points, &o, &tree), "options");
    REFUSED_RESERVED(sap_tree_options, sap_tree_build_f64(s.device, doubles, &o, &tree), "options");
    REFUSED_RESERVED(sap_search, (o.k = 1, sap_nearest(s.tree, points, &o, ids, NULL)), "search");
    REFUSED_RESERVED(sap_search, (o.k = 1, sap_nearest_f64(s.tree_f64, doubles, &o, ids, wide)), "search");
    REFUSED_RESERVED(sap_search, (o.k = 1, sap_nearest_self(s.tree, &o, ids, NULL)), "search");
    REFUSED_RESERVED(sap_search, (o.k = 1, sap_nearest_grid(s.tree, grid, &o, ids, NULL)), "search");
    CHECK(!device && !tree && ids[0] == 7);
    close_stage(&s);
}

TEST(reserved_words_of_meshes) {
    stage s;
    open_stage(&s);
    const float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, samples[8] = {0, 1, 0, 1, 1, 1, 0, 0};
    const int32_t triangle[3] = {0, 1, 2};
    const sap_mesh mesh = {vertices, 3, triangle, 1};
    const sap_mesh_file good = {.mesh = mesh};
    const sap_render_options small = {.width = 1, .height = 1};
    const sap_volume volume = {.values = samples, .size = {2, 2, 2}};
    sap_mesh_tree *tree = NULL, *none = NULL;
    sap_mesh_file* file = NULL;
    sap_volume_file* read = NULL;
    sap_isosurface* surface = NULL;
    uint8_t pixels[3] = {9, 9, 9};
    CHECK_STATUS(sap_mesh_tree_build(s.device, mesh, NULL, &tree), SAP_OK);
    REFUSED_RESERVED(sap_mesh_tree_options, sap_mesh_tree_build(s.device, mesh, &o, &none), "options");
    REFUSED_RESERVED(sap_mesh_read_options, sap_mesh_parse(s.device, "solid", 5, SAP_FORMAT_STL, &o, &file), "options");
    REFUSED_RESERVED(sap_mesh_write_options, sap_mesh_write(s.device, "-", SAP_FORMAT_STL, &good, &o), "options");
    REFUSED_RESERVED(sap_mesh_file, sap_mesh_write(s.device, "-", SAP_FORMAT_STL, &o, NULL), "file");
    REFUSED_RESERVED(sap_volume_read_options, sap_volume_parse(s.device, samples, 32, &o, &read), "options");
    REFUSED_RESERVED(sap_isosurface_options, sap_isosurface_extract(s.device, volume, &o, &surface), "options");
    REFUSED_RESERVED(sap_scene, (o.tree = tree, o.file = &good, sap_render(&o, &small, pixels, NULL)), "scene");
    const sap_scene scene = {.tree = tree, .file = &good};
    REFUSED_RESERVED(sap_render_options, (o.width = o.height = 1, sap_render(&scene, &o, pixels, NULL)), "options");
    sap_scene newer = scene;
    REFUSED_RESERVED(sap_mesh_file, (o.mesh = mesh, newer.file = &o, sap_render(&newer, &small, pixels, NULL)),
                     "scene.file");
    CHECK(!none && !file && !read && !surface && pixels[0] == 9);
    sap_mesh_tree_free(tree);
    close_stage(&s);
}

static bool is_zero(const uint64_t reserved[4]) { return !(reserved[0] | reserved[1] | reserved[2] | reserved[3]); }

TEST(reserved_words_of_answers_are_zero) {
    stage s;
    open_stage(&s);
    sap_device_info device;
    sap_tree_info tree;
    sap_mesh_tree_info mesh;
    sap_render_info picture;
    sap_mesh_tree* empty = NULL;
    uint8_t pixels[3];
    const sap_mesh_file file = {.mesh = {NULL, 0, NULL, 0}};
    const sap_render_options small = {.width = 1, .height = 1};
    memset(&device, 0x77, sizeof device);
    memset(&tree, 0x77, sizeof tree);
    memset(&mesh, 0x77, sizeof mesh);
    memset(&picture, 0x77, sizeof picture);
    CHECK_STATUS(sap_mesh_tree_build(s.device, file.mesh, NULL, &empty), SAP_OK);
    CHECK_STATUS(sap_device_describe(s.device, &device), SAP_OK);
    CHECK_STATUS(sap_tree_describe(s.sliding, &tree), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_describe(empty, &mesh), SAP_OK);
    CHECK_STATUS(sap_render(&(sap_scene){.tree = empty, .file = &file}, &small, pixels, &picture), SAP_OK);
    CHECK(is_zero(device.reserved) && is_zero(tree.reserved) && is_zero(mesh.reserved) && is_zero(picture.reserved));
    CHECK(is_zero(tree.options.reserved) && is_zero(mesh.options.reserved));
    sap_mesh_tree_free(empty);
    close_stage(&s);
}

TEST_MAIN()
