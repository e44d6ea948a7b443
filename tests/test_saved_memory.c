// Saved trees in memory: the bytes of the file, used where they lie; every flipped bit, every missing end, bytes too
// many and places that are none are refused with one sentence, and nothing leaks.
#include "allocator.h"
#include "calls.h"
#include "families.h"
#include "folder.h"
#include "mesh/layout.h"
#include "mesh_families.h"
#include "saved/saved.h"
#include "test.h"
#include "trees.h"

// One of two kinds of tree, saved.
typedef struct scene {
    watch w;
    sap_device* device;
    cloud points;
    sap_mesh mesh;
    sap_tree* tree;
    sap_mesh_tree* mesh_tree;
    unsigned char* bytes; // room for as many again
    int64_t size;
    sap_load_options load;
} scene;

static unsigned char* aligned_bytes(int64_t size) { return aligned_alloc(64, (size_t)(size + 63) / 64 * 64); }

static void save_again(scene* s) {
    CHECK_STATUS(s->tree ? sap_tree_save_memory(s->tree, s->bytes, s->size)
                         : sap_mesh_tree_save_memory(s->mesh_tree, s->bytes, s->size),
                 SAP_OK);
}

static void open_scene(scene* s, int64_t triangles, int64_t points, const sap_tree_options* options) {
    memset(s, 0, sizeof *s);
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    if (triangles) {
        s->mesh = mesh_of_family(MESH_ROOMS, triangles, 11);
        CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh, NULL, &s->mesh_tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_saved_size(s->mesh_tree, &s->size), SAP_OK);
    } else {
        s->points = cloud_of_family(FAMILY_CLUSTERED, points, 2, 32, 0, 11);
        CHECK_STATUS(build(s->device, &s->points, options, &s->tree), SAP_OK);
        CHECK_STATUS(sap_tree_saved_size(s->tree, &s->size), SAP_OK);
    }
    s->bytes = aligned_bytes(2 * s->size);
    memset(s->bytes, 0x5a, (size_t)(2 * s->size));
    save_again(s);
    CHECK(s->bytes[s->size] == 0x5a);
}

static void close_scene(scene* s) {
    sap_tree_free(s->tree);
    sap_mesh_tree_free(s->mesh_tree);
    sap_device_close(s->device);
    if (s->tree) cloud_free(&s->points);
    if (s->mesh_tree) mesh_free(&s->mesh);
    free(s->bytes);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
}

// Loads `size` bytes; true if that gave a tree equal to what was saved.
static bool loads(scene* s, const void* bytes, int64_t size, sap_status* status) {
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh_tree = NULL;
    s->w.log_calls = 0;
    *status = s->tree ? sap_tree_load_memory(s->device, bytes, size, &s->load, &tree)
                      : sap_mesh_tree_load_memory(s->device, bytes, size, &s->load, &mesh_tree);
    bool loaded = tree || mesh_tree;
    s->w.paused = true;
    if (tree) CHECK(trees_equal(tree, s->tree));
    if (mesh_tree) CHECK(!memcmp(mesh_tree->arrays, s->mesh_tree->arrays, s->mesh_tree->shape.bytes));
    sap_tree_free(tree);
    s->w.paused = false;
    sap_mesh_tree_free(mesh_tree);
    return loaded;
}

static void expect_loaded(scene* s) {
    sap_status status;
    CHECK(loads(s, s->bytes, s->size, &status));
    CHECK_STATUS(status, SAP_OK);
}

static void expect_refused(scene* s, const void* bytes, int64_t size, sap_status expected) {
    sap_status status;
    CHECK(!loads(s, bytes, size, &status));
    CHECK_STATUS(status, expected);
    CHECK(s->w.log_calls == 1 && s->w.logged == expected);
}

// The bytes in memory are those of a file, and what is loaded works where it lies.
TEST(the_bytes_of_a_file) {
    scene s;
    folder f;
    open_scene(&s, 0, 1000, NULL);
    unsigned char* file = malloc((size_t)s.size + 1);
    CHECK(folder_make(&f));
    CHECK_STATUS(sap_tree_save(s.tree, f.file), SAP_OK);
    FILE* opened = fopen(f.file, "rb");
    CHECK(opened && fread(file, 1, (size_t)s.size + 1, opened) == (size_t)s.size);
    if (opened) fclose(opened);
    CHECK(!memcmp(file, s.bytes, (size_t)s.size));
    free(file);
    folder_remove(&f);

    sap_tree *tree = NULL, *copy = NULL;
    sap_tree_info info;
    int32_t ids[1000], loaded_ids[1000];
    sap_search one = {.k = 1};
    CHECK_STATUS(sap_tree_load_memory(s.device, s.bytes, s.size, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK(info.mapped && tree->arrays > s.bytes && tree->arrays < s.bytes + s.size);
    CHECK_STATUS(nearest(s.tree, &s.points, &one, ids, NULL), SAP_OK);
    CHECK_STATUS(nearest(tree, &s.points, &one, loaded_ids, NULL), SAP_OK);
    CHECK(!memcmp(ids, loaded_ids, sizeof ids));
    CHECK_STATUS(sap_tree_save_memory(tree, s.bytes, s.size), SAP_OK); // where it lies
    CHECK(trees_equal(tree, s.tree));
    CHECK_STATUS(rebuild(tree, &s.points), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_tree_copy(tree, s.device, &copy), SAP_OK);
    CHECK_STATUS(rebuild(copy, &s.points), SAP_OK);
    CHECK(trees_equal(copy, s.tree));
    sap_tree_free(copy);
    sap_tree_free(tree);
    close_scene(&s);
}

// The same on every machine and for every compiler: sums of what is saved, written down once.
TEST(the_bytes_of_every_machine) {
    const uint64_t sums[] = {UINT64_C(0x3259c1da12ec5d71), UINT64_C(0x46fbca473d6c63ce), UINT64_C(0x1df68d87c70c0d2e)};
    for (int kind = 0; kind < 3; kind++) {
        scene s;
        sap_tree_options options = {.split = (sap_split)(kind == 1)};
        open_scene(&s, kind == 2 ? 3000 : 0, 10000, &options);
        uint64_t sum = sap_saved_sum(s.bytes, (size_t)s.size);
        NOTE("kind %d: 0x%016llx", kind, (unsigned long long)sum);
        CHECK(sum == sums[kind]);
        close_scene(&s);
    }
}

// A tree that is wrong and was saved so, with the right sums: only who trusts it loads it.
TEST(wrong_trees_with_right_sums) {
    for (int mesh = 0; mesh < 2; mesh++) {
        scene s;
        open_scene(&s, mesh ? 24 : 0, 20, NULL);
        unsigned char* arrays = mesh ? s.mesh_tree->arrays : s.tree->arrays;
        arrays[mesh ? s.mesh_tree->shape.id_at : s.tree->shape.min_id_at[0]] ^= 1;
        save_again(&s);
        expect_refused(&s, s.bytes, s.size, SAP_ERROR_FORMAT);
        s.load.trust = true;
        expect_loaded(&s);
        s.load.reserved[1] = 1;
        expect_refused(&s, s.bytes, s.size, SAP_ERROR_ARGUMENT);
        CHECK_TEXT(s.w.sentence, "options.reserved: is not zero; it was made for a newer Sapwood");
        close_scene(&s);
    }
}

static void spoil(scene* s) {
    for (int64_t bit = 0; bit < s->size * 8; bit++) {
        NOTE("bit %d of byte %lld of %lld", (int)(bit % 8), (long long)(bit / 8), (long long)s->size);
        s->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        expect_refused(s, s->bytes, s->size, SAP_ERROR_FORMAT);
        s->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (int64_t size = 0; size < 2 * s->size; size += 1 + size / 997) {
        NOTE("%lld of %lld bytes", (long long)size, (long long)s->size);
        if (size != s->size) expect_refused(s, s->bytes, size, SAP_ERROR_FORMAT);
    }
    expect_loaded(s);
}

TEST(every_bit_and_end_of_points) {
    for (int kind = 0; kind < 4; kind++) {
        scene s;
        sap_tree_options options = {.split = (sap_split)(kind / 2), .leaf_size = 4};
        open_scene(&s, 0, kind % 2 ? 20 : 0, &options);
        spoil(&s);
        close_scene(&s);
    }
}

TEST(every_bit_and_end_of_triangles) {
    scene s;
    open_scene(&s, 12, 0, NULL);
    spoil(&s);
    close_scene(&s);
}

// An end that is missing must not be read either: a sanitizer would see it.
TEST(ends_are_not_read) {
    for (int mesh = 0; mesh < 2; mesh++) {
        scene s;
        open_scene(&s, mesh ? 12 : 0, 20, NULL);
        for (int64_t size = 1; size < s.size; size += 61) {
            unsigned char* part;
            CHECK(!posix_memalign((void**)&part, 64, (size_t)size));
            memcpy(part, s.bytes, (size_t)size);
            expect_refused(&s, part, size, SAP_ERROR_FORMAT);
            free(part);
        }
        close_scene(&s);
    }
}

TEST(places_that_are_none) {
    for (int mesh = 0; mesh < 2; mesh++) {
        scene s;
        open_scene(&s, mesh ? 12 : 0, 20, NULL);
        expect_refused(&s, NULL, s.size, SAP_ERROR_ARGUMENT);
        expect_refused(&s, s.bytes, -1, SAP_ERROR_ARGUMENT);
        expect_refused(&s, s.bytes + 8, s.size, SAP_ERROR_ARGUMENT);
        for (int64_t wrong = -1; wrong <= 1; wrong += 2) {
            memset(s.bytes, 0x33, 64);
            CHECK_STATUS(mesh ? sap_mesh_tree_save_memory(s.mesh_tree, s.bytes, s.size + wrong)
                              : sap_tree_save_memory(s.tree, s.bytes, s.size + wrong),
                         SAP_ERROR_ARGUMENT);
            CHECK(strstr(s.w.sentence, "size") && s.bytes[0] == 0x33);
        }
        CHECK_STATUS(mesh ? sap_mesh_tree_save_memory(s.mesh_tree, NULL, s.size)
                          : sap_tree_save_memory(s.tree, NULL, s.size),
                     SAP_ERROR_ARGUMENT);
        CHECK_STATUS(mesh ? sap_mesh_tree_save_memory(s.mesh_tree, s.bytes + 1, s.size)
                          : sap_tree_save_memory(s.tree, s.bytes + 1, s.size),
                     SAP_ERROR_ARGUMENT);
        CHECK_STATUS(mesh ? sap_mesh_tree_saved_size(s.mesh_tree, NULL) : sap_tree_saved_size(s.tree, NULL),
                     SAP_ERROR_ARGUMENT);
        close_scene(&s);
    }
    int64_t size = 7;
    unsigned char* bytes = aligned_bytes(1024);
    sap_tree* tree = NULL;
    sap_mesh_tree* mesh_tree = NULL;
    CHECK_STATUS(sap_tree_saved_size(NULL, &size), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_saved_size(NULL, &size), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_save_memory(NULL, bytes, 1024), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_save_memory(NULL, bytes, 1024), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_tree_load_memory(NULL, bytes, 1024, NULL, &tree), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_tree_load_memory(NULL, bytes, 1024, NULL, &mesh_tree), SAP_ERROR_ARGUMENT);
    CHECK(size == 7 && !tree && !mesh_tree);
    free(bytes);
}

// Every allocation of loading is refused in turn.
TEST(no_memory) {
    for (int mesh = 0; mesh < 2; mesh++) {
        scene s;
        open_scene(&s, mesh ? 3000 : 0, 3000, NULL);
        sap_status status = SAP_ERROR_MEMORY;
        int refused = 0;
        for (; status != SAP_OK && refused < 100; refused++) {
            sap_device_trim(s.device);
            int64_t blocks = s.w.blocks;
            s.w.fail_from = s.w.requests + refused + 1;
            CHECK(loads(&s, s.bytes, s.size, &status) == (status == SAP_OK));
            CHECK(status == SAP_OK || (status == SAP_ERROR_MEMORY && s.w.log_calls == 1));
            s.w.fail_from = 0;
            sap_device_trim(s.device);
            CHECK_EQUAL(s.w.blocks, blocks);
        }
        CHECK(refused > 1 && refused < 100);
        close_scene(&s);
    }
}

TEST_MAIN()
