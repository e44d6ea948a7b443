// Saved trees that are not what they were: every flipped bit, every missing end, bytes too many, and trees that were
// damaged before they were saved, so that all checksums hold. None of them is loaded, and none does harm.
#include "calls.h"
#include "saved_file.h"
#include "trees.h"

typedef struct scene {
    watch w;
    sap_device* device;
    cloud points;
    sap_tree* tree;
    saved_file file;
    sap_load_options load;
} scene;

static void save_again(scene* s) {
    CHECK_STATUS(sap_tree_save(s->tree, s->file.files.file), SAP_OK);
    saved_file_open(&s->file);
}

static void open_scene(scene* s, int64_t count, int32_t dims, int32_t real_bits, const sap_tree_options* options) {
    memset(s, 0, sizeof *s);
    s->file.open = -1;
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    s->points = cloud_of_family(FAMILY_CLUSTERED, count, dims, real_bits, 0, 11);
    CHECK(folder_make(&s->file.files));
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    CHECK_STATUS(build(s->device, &s->points, options, &s->tree), SAP_OK);
    save_again(s);
    saved_file_keep(&s->file);
}

static void close_scene(scene* s) {
    sap_tree_free(s->tree);
    sap_device_close(s->device);
    saved_file_remove(&s->file);
    cloud_free(&s->points);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
}

static void expect_refused(void* in) {
    scene* s = in;
    sap_tree* tree = NULL;
    s->w.log_calls = 0;
    expect_one_sentence(&s->w, sap_tree_load(s->device, s->file.files.file, &s->load, &tree), tree);
    sap_tree_free(tree);
}

static void expect_loaded(void* in) {
    const scene* s = in;
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_load(s->device, s->file.files.file, &s->load, &tree), SAP_OK);
    CHECK(tree && trees_equal(tree, s->tree));
    sap_tree_free(tree);
}

static void spoil_file(int32_t real_bits, sap_split split) {
    static const int64_t counts[] = {0, 1, 7, 20};
    for (int i = 0; i < 4; i++) {
        scene s;
        sap_tree_options options = {
            .split = split, .leaf_size = 4, .drop_duplicates = i == 2, .period = {0, i == 3 ? 0.75 : 0}};
        open_scene(&s, counts[i], 2, real_bits, &options);
        const saved_checks expect = {&s, expect_refused, expect_loaded};
        flip_every_bit(&s.file, expect);
        cut_and_extend(&s.file, expect);
        close_scene(&s);
    }
}

TEST(every_bit_and_end_balanced_f32) { spoil_file(32, SAP_SPLIT_MEDIAN); }
TEST(every_bit_and_end_balanced_f64) { spoil_file(64, SAP_SPLIT_MEDIAN); }
TEST(every_bit_and_end_sliding_f32) { spoil_file(32, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(every_bit_and_end_sliding_f64) { spoil_file(64, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(every_bit_and_end_vvh_f32) { spoil_file(32, SAP_SPLIT_VVH); }

// Trusting a file is not looking into it; its sums are checked still.
TEST(every_bit_and_end_of_trusted_trees) {
    scene s;
    open_scene(&s, 20, 2, 32, NULL);
    s.load.trust = true;
    const saved_checks expect = {&s, expect_refused, expect_loaded};
    flip_every_bit(&s.file, expect);
    cut_and_extend(&s.file, expect);
    close_scene(&s);
}

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
        sap_status status = sap_tree_load(s->device, s->file.files.file, NULL, &tree);
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
        CHECK(!ftruncate(s.file.open, 0));
        size_t length = strlen(contents[i]);
        CHECK(pwrite(s.file.open, contents[i], length, 0) == (ssize_t)length);
        expect_refused(&s);
        CHECK(!ftruncate(s.file.open, (off_t)s.file.size)); // then zeros
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
    CHECK_STATUS(sap_tree_save(s.tree, s.file.files.path), SAP_ERROR_IO); // a folder
    expect_loaded(&s);
    close_scene(&s);
}

TEST_MAIN()
