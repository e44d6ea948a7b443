// Bad meshes, bad options, memory that runs out, and hosts that cancel.
#include "allocator.h"
#include "folder.h"
#include "mesh/layout.h"
#include "mesh_families.h"
#include "progress_host.h"
#include "test.h"
#include <math.h>

typedef struct scene {
    watch w;
    sap_device* device;
    sap_mesh mesh;
} scene;

static void open_scene(scene* s, mesh_family kind, int64_t triangles) {
    memset(s, 0, sizeof *s);
    sap_device_options options = watched(&s->w);
    options.threads = 2;
    s->mesh = mesh_of_family(kind, triangles, 5);
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
}

static void close_scene(scene* s) {
    sap_device_close(s->device);
    CHECK(s->w.blocks == 0 && s->w.bytes == 0 && s->w.wrong == 0);
    mesh_free(&s->mesh);
}

static void expect(scene* s, sap_mesh mesh, const sap_mesh_tree_options* options, sap_status status, const char* word) {
    sap_mesh_tree* tree = NULL;
    CHECK_STATUS(sap_mesh_tree_build(s->device, mesh, options, &tree), status);
    CHECK((tree != NULL) == (status == SAP_OK));
    if (status != SAP_OK && !CHECK(strstr(s->w.sentence, word))) printf("  %s\n", s->w.sentence);
    sap_mesh_tree_free(tree);
}

TEST(bad_meshes) {
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, 0, 0, 0, INFINITY, 0, 3e38F, 0, 0};
    static const int32_t good[] = {0, 1, 2}, high[] = {0, 1, 2, 2, 6, 1}, low[] = {0, -1, 2}, nan[] = {0, 1, 3},
                         infinite[] = {0, 1, 2, 0, 4, 2}, far[] = {5, 1, 2};
    scene s;
    open_scene(&s, MESH_SOUP, 10);
    expect(&s, (sap_mesh){corners, 6, good, 1}, NULL, SAP_OK, ""); // bad vertices that nothing uses
    expect(&s, (sap_mesh){corners, 6, high, 2}, NULL, SAP_ERROR_RANGE, "triangle 1 names vertex 6");
    expect(&s, (sap_mesh){corners, 6, low, 1}, NULL, SAP_ERROR_RANGE, "triangle 0 names vertex -1");
    expect(&s, (sap_mesh){corners, 6, nan, 1}, NULL, SAP_ERROR_NOT_FINITE, "vertex 3");
    expect(&s, (sap_mesh){corners, 6, infinite, 2}, NULL, SAP_ERROR_NOT_FINITE, "vertex 4 of triangle 1");
    expect(&s, (sap_mesh){corners, 6, far, 1}, NULL, SAP_ERROR_NOT_FINITE, "vertex 5");
    expect(&s, (sap_mesh){NULL, 6, good, 1}, NULL, SAP_ERROR_ARGUMENT, "vertices");
    expect(&s, (sap_mesh){corners, 6, NULL, 1}, NULL, SAP_ERROR_ARGUMENT, "triangles");
    expect(&s, (sap_mesh){corners, -1, good, 1}, NULL, SAP_ERROR_ARGUMENT, "count");
    expect(&s, (sap_mesh){corners, 6, good, (int64_t)1 << 31}, NULL, SAP_ERROR_RANGE, "2^31");
    expect(&s, (sap_mesh){NULL, 0, NULL, 0}, NULL, SAP_OK, "");
    CHECK_STATUS(sap_mesh_tree_build(NULL, s.mesh, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_rebuild(NULL, s.mesh), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_verify(NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_describe(NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_copy(NULL, s.device, NULL), SAP_ERROR_ARGUMENT);
    sap_mesh_tree_free(NULL);
    close_scene(&s);
}

TEST(bad_options) {
    static const sap_mesh_tree_options bad[] = {
        {.quality = (sap_quality)2}, {.cost = (sap_cost)-1}, {.radius = -1},     {.traversal_cost = NAN},
        {.intersection_cost = -1},   {.empty_space = 1},     {.small_node = 65}, {.depth = 65}};
    scene s;
    open_scene(&s, MESH_SOUP, 10);
    for (int i = 0; i < 8; i++) {
        NOTE("options %d", i);
        expect(&s, s.mesh, &bad[i], SAP_ERROR_ARGUMENT, "options.");
    }
    close_scene(&s);
}

// Every allocation is refused in turn.
TEST(no_memory) {
    for (int way = 0; way < 4; way++) {
        scene s;
        open_scene(&s, MESH_HILLS, 12000);
        sap_mesh_tree_options options = {.quality = way % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
        sap_status status = SAP_ERROR_MEMORY;
        for (int64_t n = 1; status != SAP_OK && CHECK(n < 100); n++) {
            sap_mesh_tree *tree = NULL, *copy = NULL;
            sap_device_trim(s.device);
            s.w.requests = 0;
            s.w.fail_from = n;
            s.w.fail_all_after = way / 2;
            status = sap_mesh_tree_build(s.device, s.mesh, &options, &tree);
            CHECK((status == SAP_OK) == (tree != NULL));
            if (tree) status = sap_mesh_tree_copy(tree, s.device, &copy);
            if (tree && status == SAP_OK) status = sap_mesh_tree_verify(copy);
            if (status != SAP_OK) CHECK_STATUS(status, SAP_ERROR_MEMORY);
            s.w.fail_from = 0;
            sap_mesh_tree_free(copy);
            sap_mesh_tree_free(tree);
        }
        close_scene(&s);
    }
}

TEST(rebuilding_allocates_nothing) {
    scene s;
    open_scene(&s, MESH_HILLS, 12000);
    sap_mesh_tree *tree = NULL, *other = NULL;
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, NULL, &tree), SAP_OK);
    for (int i = 0; i < 2; i++) CHECK_STATUS(sap_mesh_tree_rebuild(tree, s.mesh), SAP_OK);
    s.w.requests = 0;
    for (int i = 0; i < 5; i++) CHECK_STATUS(sap_mesh_tree_rebuild(tree, s.mesh), SAP_OK);
    CHECK_EQUAL(s.w.requests, 0);
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, NULL, &other), SAP_OK);
    CHECK(tree->shape.bytes == other->shape.bytes && !memcmp(tree->arrays, other->arrays, tree->shape.bytes));
    sap_mesh_tree_free(other);
    sap_mesh_tree_free(tree);
    close_scene(&s);
}

// A bound on memory changes the order of the work, not the tree.
TEST(bounded_memory) {
    scene s;
    open_scene(&s, MESH_HILLS, 60000);
    sap_mesh_tree *tree = NULL, *bounded = NULL;
    sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST};
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, &options, &tree), SAP_OK);
    int64_t built = 0;
    for (options.memory = 1 << 20; options.memory < (size_t)100 << 20; options.memory += (size_t)1 << 20) {
        sap_status status = sap_mesh_tree_build(s.device, s.mesh, &options, &bounded);
        if (status != SAP_OK) {
            CHECK_STATUS(status, SAP_ERROR_RANGE);
            CHECK(!built);
            continue;
        }
        built++;
        CHECK(tree->shape.bytes == bounded->shape.bytes && !memcmp(tree->arrays, bounded->arrays, tree->shape.bytes));
        sap_mesh_tree_free(bounded);
        options.memory += (size_t)8 << 20;
    }
    CHECK(built > 0);
    sap_mesh_tree_free(tree);
    close_scene(&s);
}

static bool builds_within(scene* s, sap_mesh_tree_options options, size_t memory, const sap_mesh_tree* tree) {
    sap_mesh_tree* bounded = NULL;
    options.memory = memory;
    sap_status status = sap_mesh_tree_build(s->device, s->mesh, &options, &bounded);
    if (status != SAP_OK) {
        CHECK_STATUS(status, SAP_ERROR_RANGE);
        CHECK(!bounded);
        return false;
    }
    CHECK(tree->shape.bytes == bounded->shape.bytes && !memcmp(tree->arrays, bounded->arrays, tree->shape.bytes));
    sap_mesh_tree_free(bounded);
    return true;
}

// One byte refuses every mesh; the least that suffices gives the tree that any other bound gives.
TEST(memory_that_just_suffices) {
    for (int way = 0; way < 2; way++) {
        scene s;
        open_scene(&s, MESH_ROOMS, 12000);
        sap_mesh_tree* tree = NULL;
        sap_mesh_tree_options options = {.quality = way ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
        CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, &options, &tree), SAP_OK);
        size_t little = 1, enough = (size_t)256 << 20;
        CHECK(!builds_within(&s, options, little, tree));
        CHECK(builds_within(&s, options, enough, tree));
        while (enough - little > 4096) {
            size_t middle = little + (enough - little) / 2;
            if (builds_within(&s, options, middle, tree))
                enough = middle;
            else
                little = middle;
        }
        CHECK(enough < (size_t)32 << 20);
        sap_mesh_tree_free(tree);
        close_scene(&s);
    }
}

TEST(cancelled) {
    sap_mesh mesh = mesh_of_family(MESH_HILLS, 40000, 5);
    for (int most = 1; most < 20; most += 3) {
        watch w = {0};
        progress_host host = {.stop_at = most};
        sap_device_options options = watched(&w);
        sap_device* device = NULL;
        sap_mesh_tree* tree = NULL;
        options.progress = progress_host_report;
        options.progress_user = &host;
        options.threads = 1;
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        sap_status status = sap_mesh_tree_build(device, mesh, NULL, &tree);
        if (host.reports < most) CHECK_STATUS(status, SAP_OK);
        if (host.reports >= most) CHECK_STATUS(status, SAP_ERROR_CANCELLED);
        CHECK((status == SAP_OK) == (tree != NULL));
        sap_mesh_tree_free(tree);
        sap_device_close(device);
        CHECK(w.blocks == 0 && w.wrong == 0);
    }
    mesh_free(&mesh);
}

// Inputs that other builders break on: trees stay as large as those of sensible meshes.
TEST(hard_meshes_stay_small) {
    static const mesh_family kinds[] = {MESH_GRID, MESH_LINE, MESH_POINT, MESH_TINY, MESH_FAR, MESH_COPIES};
    for (int n = 0; n < 12; n++) {
        scene s;
        open_scene(&s, kinds[n / 2], TEST_SANITIZED ? 30000 : 100000);
        sap_mesh_tree_options options = {.quality = n % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
        sap_mesh_tree* tree = NULL;
        sap_mesh_tree_info info = {0};
        NOTE("%s, quality %d", mesh_family_name(kinds[n / 2]), n % 2);
        CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
        CHECK(info.references <= 24 * info.triangles && info.bytes < (size_t)400 * (size_t)info.triangles);
        sap_mesh_tree_free(tree);
        close_scene(&s);
    }
}

// A leaf of all of them is as good as anything: no depth, little memory.
TEST(a_million_copies) {
    for (int way = 0; way < 2; way++) {
        scene s;
        open_scene(&s, MESH_COPIES, TEST_SANITIZED ? 200000 : 1000000);
        sap_mesh_tree_options options = {.quality = way ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH};
        sap_mesh_tree* tree = NULL;
        sap_mesh_tree_info info = {0};
        CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
        CHECK(info.references < 4 * info.triangles && info.depth <= SAP_MESH_DEPTH_MAX);
        sap_mesh_tree_free(tree);
        close_scene(&s);
    }
}

TEST_MAIN()
