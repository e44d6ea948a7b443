// Saved trees that are not what they were: every flipped bit, every missing end, bytes too many, and trees that were
// damaged before they were saved, so that all checksums hold. None of them is loaded, and none does harm.
#include "allocator.h"
#include "calls.h"
#include "folder.h"
#include "test.h"
#include "trees.h"
#include <fcntl.h>

typedef struct scene {
    watch w;
    sap_device* device;
    cloud points;
    sap_tree* tree;
    folder files;
    int file; // the saved tree, open for writing
    size_t size;
    unsigned char* bytes;
} scene;

static void save_again(scene* s) {
    if (s->file >= 0) close(s->file);
    CHECK_STATUS(sap_tree_save(s->tree, s->files.file), SAP_OK);
    s->file = open(s->files.file, O_RDWR);
    CHECK(s->file >= 0);
}

static void open_scene(scene* s, int64_t count, int32_t dims, int32_t real_bits, const sap_tree_options* options) {
    memset(s, 0, sizeof *s);
    s->file = -1;
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    s->points = cloud_of_family(FAMILY_CLUSTERED, count, dims, real_bits, 0, 11);
    CHECK(folder_make(&s->files));
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    CHECK_STATUS(build(s->device, &s->points, options, &s->tree), SAP_OK);
    save_again(s);
    s->size = (size_t)lseek(s->file, 0, SEEK_END);
    s->bytes = malloc(s->size);
    CHECK(pread(s->file, s->bytes, s->size, 0) == (ssize_t)s->size);
}

static void close_scene(scene* s) {
    close(s->file);
    free(s->bytes);
    sap_tree_free(s->tree);
    sap_device_close(s->device);
    folder_remove(&s->files);
    cloud_free(&s->points);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
}

static void expect_refused(scene* s) {
    sap_tree* tree = NULL;
    s->w.log_calls = 0;
    CHECK_STATUS(sap_tree_load(s->device, s->files.file, &tree), SAP_ERROR_FORMAT);
    CHECK(tree == NULL && s->w.log_calls == 1 && s->w.logged == SAP_ERROR_FORMAT);
    CHECK(strpbrk(s->w.sentence, "0123456789")); // the byte or the node
    sap_tree_free(tree);
}

static void expect_loaded(scene* s) {
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_load(s->device, s->files.file, &tree), SAP_OK);
    CHECK(tree && trees_equal(tree, s->tree));
    sap_tree_free(tree);
}

static void flip_every_bit(scene* s) {
    for (size_t bit = 0; bit < s->size * 8; bit++) {
        unsigned char byte = (unsigned char)(s->bytes[bit / 8] ^ 1 << bit % 8);
        NOTE("byte %zu of %zu, bit %zu", bit / 8, s->size, bit % 8);
        if (pwrite(s->file, &byte, 1, (off_t)(bit / 8)) != 1) break;
        expect_refused(s);
        if (pwrite(s->file, &s->bytes[bit / 8], 1, (off_t)(bit / 8)) != 1) break;
    }
    expect_loaded(s);
}

static void cut_and_extend(scene* s) {
    for (size_t size = s->size; size-- > 0;) {
        NOTE("the first %zu of %zu bytes", size, s->size);
        if (ftruncate(s->file, (off_t)size)) break;
        expect_refused(s);
    }
    CHECK(pwrite(s->file, s->bytes, s->size, 0) == (ssize_t)s->size);
    expect_loaded(s);
    static const size_t more[] = {1, 8, 64, 512, 100000};
    for (int i = 0; i < 5; i++) {
        NOTE("%zu bytes too many", more[i]);
        CHECK(!ftruncate(s->file, (off_t)(s->size + more[i])));
        expect_refused(s);
    }
    CHECK(!ftruncate(s->file, (off_t)s->size));
    expect_loaded(s);
}

static void spoil_file(int32_t real_bits, sap_split split) {
    static const int64_t counts[] = {0, 1, 7, 20};
    for (int i = 0; i < 4; i++) {
        scene s;
        sap_tree_options options = {.split = split, .leaf_size = 4, .drop_duplicates = i == 2};
        open_scene(&s, counts[i], 2, real_bits, &options);
        flip_every_bit(&s);
        cut_and_extend(&s);
        close_scene(&s);
    }
}

TEST(every_bit_and_end_balanced_f32) { spoil_file(32, SAP_SPLIT_MEDIAN); }
TEST(every_bit_and_end_balanced_f64) { spoil_file(64, SAP_SPLIT_MEDIAN); }
TEST(every_bit_and_end_sliding_f32) { spoil_file(32, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(every_bit_and_end_sliding_f64) { spoil_file(64, SAP_SPLIT_SLIDING_MIDPOINT); }

// A damaged tree is saved, so its checksums hold. Damage that cannot be seen, such as a coordinate that is another in
// the same box, may be loaded; then searches must still end well.
static void save_damaged(scene* s) {
    int refused = 0, loaded = 0;
    for (size_t byte = 0; byte < s->tree->shape.bytes; byte += 1 + byte % 3) {
        unsigned char changed = (unsigned char)(1 << byte % 8);
        NOTE("byte %zu of the arrays", byte);
        s->tree->arrays[byte] ^= changed;
        save_again(s);
        s->tree->arrays[byte] ^= changed;
        sap_tree* tree = NULL;
        sap_status status = sap_tree_load(s->device, s->files.file, &tree);
        if (status == SAP_OK) {
            int64_t found[20];
            CHECK_STATUS(radius_count(tree, &s->points, 0.01, found), SAP_OK);
            loaded++;
        } else {
            CHECK_STATUS(status, SAP_ERROR_FORMAT);
            refused++;
        }
        sap_tree_free(tree);
    }
    CHECK(refused > 2 * loaded);
}

TEST(damaged_before_saving) {
    for (int kind = 0; kind < 4; kind++) {
        scene s;
        sap_tree_options options = {.split = (sap_split)(kind / 2), .leaf_size = 4};
        open_scene(&s, 20, 2, kind % 2 ? 64 : 32, &options);
        save_damaged(&s);
        close_scene(&s);
    }
}

// A header that tells of another tree, with checksums that hold.
TEST(headers_of_other_trees) {
    for (int split = 0; split < 2; split++) {
        scene s;
        sap_tree_options options = {.split = (sap_split)split, .leaf_size = 4};
        open_scene(&s, 20, 2, 32, &options);
        sap_tree_shape good = s.tree->shape;
        sap_tree_shape* shape = &s.tree->shape;
        int64_t* counts[] = {&shape->count, &shape->source_count, &shape->nodes, &shape->leaves, &shape->slots};
        int32_t* sizes[] = {&shape->dims, &shape->real_bits, &shape->depth, &shape->capacity};
        static const int64_t values[] = {-1, 0, 1, 3, 16, 17, 19, 21, 31, 63, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
        for (int i = 0; i < 9; i++) {
            for (int v = 0; v < 14; v++) {
                // What follows from the rest is not read from a balanced tree's header: then it must agree.
                if (i < 5 ? *counts[i] == values[v] : *sizes[i - 5] == (int32_t)values[v]) continue;
                if (i < 5)
                    *counts[i] = values[v];
                else
                    *sizes[i - 5] = (int32_t)values[v];
                NOTE("split %d fact %d value %lld", split, i, (long long)values[v]);
                save_again(&s);
                *shape = good;
                int64_t before = s.w.bytes;
                expect_refused(&s);
                CHECK_EQUAL(s.w.bytes, before);
            }
        }
        close_scene(&s);
    }
}

TEST(not_saved_trees_at_all) {
    static const char* const contents[] = {"", "S", "SAPTREE\n", "ply\nformat ascii 1.0\n", "\177ELF", "<html>"};
    scene s;
    open_scene(&s, 20, 2, 32, NULL);
    for (int i = 0; i < 6; i++) {
        NOTE("contents %d", i);
        CHECK(!ftruncate(s.file, 0));
        size_t length = strlen(contents[i]);
        CHECK(pwrite(s.file, contents[i], length, 0) == (ssize_t)length);
        expect_refused(&s);
        CHECK(!ftruncate(s.file, (off_t)s.size)); // then zeros
        expect_refused(&s);
    }
    close_scene(&s);
}

// A disk that takes no more.
TEST(full_disk) {
    if (access("/dev/full", W_OK)) SKIP("this system has no /dev/full");
    scene s;
    open_scene(&s, 20, 2, 32, NULL);
    s.w.log_calls = 0;
    CHECK_STATUS(sap_tree_save(s.tree, "/dev/full"), SAP_ERROR_IO);
    CHECK(s.w.log_calls == 1 && strstr(s.w.sentence, "/dev/full"));
    CHECK_STATUS(sap_tree_save(s.tree, s.files.path), SAP_ERROR_IO); // a folder
    expect_loaded(&s);
    close_scene(&s);
}

TEST_MAIN()
