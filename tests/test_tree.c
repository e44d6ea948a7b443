// Trees: every option builds what it says, the same bytes on every device; rebuilding, copying, saving and loading keep
// them.
#include "allocator.h"
#include "cases.h"
#include "folder.h"
#include "test.h"
#include "trees.h"

static void note_case(const search_case* c, int device) {
    NOTE("%s n %d dims %d f%d split %d axis %d leaf %d drop %d device %d", family_name(c->kind), (int)c->size, c->dims,
         c->real_bits, (int)c->options.split, (int)c->options.axis, c->options.leaf_size, c->options.drop_duplicates,
         device);
}

// Depth and leaves of a balanced tree are a matter of arithmetic.
static void check_balanced(const sap_tree_info* info) {
    int64_t most = info->options.leaf_size + info->options.leaf_size / 4, leaves = 1;
    int32_t depth = 0;
    for (; (info->count + leaves - 1) / leaves > most; leaves *= 2) depth++;
    CHECK_EQUAL(info->depth, depth);
    CHECK_EQUAL(info->leaves, leaves);
    CHECK_EQUAL(info->nodes, leaves - 1);
    CHECK_EQUAL(info->largest_leaf, (info->count + leaves - 1) / leaves);
}

static void check_info(const sap_tree* tree, const search_case* c, const cloud* points) {
    sap_tree_info info;
    uint8_t* dropped = malloc((size_t)c->size + 1);
    memset(dropped, 0, (size_t)c->size + 1);
    int64_t duplicates = c->options.drop_duplicates ? oracle_duplicates(points, dropped) : 0;
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.source_count, c->size);
    CHECK_EQUAL(info.duplicates, duplicates);
    CHECK_EQUAL(info.count, c->size - duplicates);
    CHECK(info.dims == c->dims && info.real_bits == c->real_bits && !info.mapped);
    CHECK(info.options.split == c->options.split && info.options.axis == c->options.axis);
    CHECK_EQUAL(info.options.leaf_size, c->options.leaf_size ? c->options.leaf_size : SAP_LEAF_DEFAULT);
    CHECK_EQUAL(info.options.drop_duplicates, c->options.drop_duplicates);
    if (c->options.split == SAP_SPLIT_MEDIAN) check_balanced(&info);
    CHECK(info.depth >= 0 && info.depth <= SAP_MAX_DEPTH && info.nodes == info.leaves - 1 && info.leaves >= 1);
    CHECK(info.bytes > (size_t)info.count * ((size_t)c->dims * (size_t)c->real_bits / 8 + 4));
    for (int32_t a = 0; a < c->dims; a++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int64_t i = 0; i < c->size; i++) {
            lower = fmin(lower, cloud_get(points, i, a));
            upper = fmax(upper, cloud_get(points, i, a));
        }
        CHECK(info.lower[a] == lower && info.upper[a] == upper);
    }
    free(dropped);
}

TEST(every_case_builds_the_same_tree_on_every_device) {
    devices on = devices_open(1);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c)) continue;
        cloud points = case_points(&c);
        sap_tree *first = NULL, *tree = NULL;
        note_case(&c, 0);
        CHECK_STATUS(build(on.open[0], &points, &c.options, &first), SAP_OK);
        CHECK_STATUS(sap_tree_verify(first), SAP_OK);
        check_info(first, &c, &points);
        for (int d = 1; d < on.count; d++) {
            note_case(&c, d);
            CHECK_STATUS(build(on.open[d], &points, &c.options, &tree), SAP_OK);
            CHECK(trees_equal(first, tree));
            sap_tree_free(tree);
        }
        sap_tree_free(first);
        cloud_free(&points);
    }
    devices_close(&on);
}

TEST(large_trees) {
    devices on = devices_open(0);
    const int64_t size = CASE_STEP > 23 ? 30000 : 150000; // the top of either is split before its subtrees
    for (int i = 0; i < FAMILY_COUNT; i += 2 * CASE_STEP) {
        search_case c = {.kind = (family)i, .size = size + i, .dims = 2 + i % 3, .real_bits = i % 5 ? 32 : 64};
        cloud points = cloud_of_family(c.kind, c.size, c.dims, c.real_bits, 0, (uint64_t)i);
        for (int split = 0; split < CASE_SPLITS; split++) {
            sap_tree *first = NULL, *tree = NULL;
            c.options.split = (sap_split)split;
            for (int d = 0; d < on.count; d++) {
                note_case(&c, d);
                CHECK_STATUS(build(on.open[d], &points, &c.options, d ? &tree : &first), SAP_OK);
                CHECK_STATUS(sap_tree_verify(d ? tree : first), SAP_OK);
                if (d) CHECK(trees_equal(first, tree));
                sap_tree_free(tree);
                tree = NULL;
            }
            check_info(first, &c, &points);
            sap_tree_free(first);
        }
        cloud_free(&points);
    }
    devices_close(&on);
}

// About as many points as one block of a GPU finishes by itself, in leaves of any size.
TEST(subtrees_of_all_sizes) {
    static const int32_t sizes[] = {8192, 8193, 5000, 300, 33, 8191}, leaf_sizes[] = {0, 1, 1024, 5};
    devices on = devices_open(0);
    for (int i = 0; i<4 * FAMILY_COUNT; i += CASE_STEP> 23 ? 5 : 1) {
        search_case c = {
            .kind = (family)(i % FAMILY_COUNT), .size = sizes[(i + i / FAMILY_COUNT) % 6], .dims = 2 + i % 3};
        c.real_bits = 32;
        c.options.leaf_size = leaf_sizes[(i + i / FAMILY_COUNT) % 4];
        c.options.axis = i % 4 == 3 ? SAP_AXIS_CYCLE : SAP_AXIS_WIDEST;
        cloud points = cloud_of_family(c.kind, c.size, c.dims, c.real_bits, 0, (uint64_t)i);
        sap_tree* first = NULL;
        for (int d = 0; d < on.count; d++) {
            sap_tree* tree = NULL;
            note_case(&c, d);
            CHECK_STATUS(build(on.open[d], &points, &c.options, d ? &tree : &first), SAP_OK);
            if (d) CHECK(trees_equal(first, tree));
            sap_tree_free(tree);
        }
        sap_tree_free(first);
        cloud_free(&points);
    }
    devices_close(&on);
}

// Points of a stride are those of none.
TEST(strides_change_nothing) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    for (int kind = 0; kind < 4; kind++) {
        sap_tree *tight = NULL, *wide = NULL;
        sap_tree_options options = {.split = (sap_split)(kind / 2)};
        cloud points = cloud_of_family(FAMILY_CLUSTERED, 900, 5, kind % 2 ? 64 : 32, 0, 3);
        cloud apart = cloud_of_family(FAMILY_CLUSTERED, 900, 5, kind % 2 ? 64 : 32, 11, 3);
        CHECK_STATUS(build(device, &points, &options, &tight), SAP_OK);
        CHECK_STATUS(build(device, &apart, &options, &wide), SAP_OK);
        CHECK(trees_equal(tight, wide));
        sap_tree_free(tight);
        sap_tree_free(wide);
        cloud_free(&points);
        cloud_free(&apart);
    }
    sap_device_close(device);
}

// A rebuilt tree is the one that a build makes: growing, shrinking, through zero and other families.
TEST(rebuilding_equals_building) {
    static const int64_t sizes[] = {1000, 33, 0, 4097, 1, 2, 20000, 500, 64, 20000};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    const int step = CASE_STEP > 23 ? 5 : CASE_STEP > 1 ? 3 : 1;
    for (int kind = 0; kind < 8; kind += step) {
        sap_tree* kept = NULL;
        sap_tree_options options = {.split = (sap_split)(kind / 2 % 2), .drop_duplicates = kind / 4};
        int32_t real_bits = kind % 2 ? 64 : 32;
        cloud first = cloud_of_family(FAMILY_LATTICE, 40, 3, real_bits, 0, 3);
        CHECK_STATUS(build(device, &first, &options, &kept), SAP_OK);
        for (int i = 0; i < 10; i++) {
            NOTE("kind %d step %d", kind, i);
            cloud points = cloud_of_family((family)((i + kind) % FAMILY_COUNT), sizes[i], 3, real_bits, 0, 9);
            sap_tree* fresh = NULL;
            CHECK_STATUS(build(device, &points, &options, &fresh), SAP_OK);
            CHECK_STATUS(rebuild(kept, &points), SAP_OK);
            CHECK(trees_equal(fresh, kept));
            CHECK_STATUS(sap_tree_verify(kept), SAP_OK);
            sap_tree_free(fresh);
            cloud_free(&points);
        }
        sap_tree_free(kept);
        cloud_free(&first);
    }
    sap_device_close(device);
}

TEST(copies_stand_alone) {
    devices on = devices_open(1);
    for (int kind = 0; kind < 4; kind++) {
        sap_tree_options options = {.split = (sap_split)(kind / 2)};
        cloud points = cloud_of_family(FAMILY_OUTLIER, 700, 4, kind % 2 ? 64 : 32, 0, 3);
        for (int d = 0; d < on.count; d++) {
            sap_tree *tree = NULL, *copy = NULL, *again = NULL;
            NOTE("kind %d device %d", kind, d);
            CHECK_STATUS(build(on.open[0], &points, &options, &tree), SAP_OK);
            CHECK_STATUS(sap_tree_copy(tree, on.open[d], &copy), SAP_OK);
            CHECK(trees_equal(tree, copy));
            CHECK_STATUS(rebuild(tree, &points), SAP_OK);
            sap_tree_free(tree);
            CHECK_STATUS(sap_tree_verify(copy), SAP_OK);
            CHECK_STATUS(sap_tree_copy(copy, on.open[d], &again), SAP_OK);
            CHECK_STATUS(rebuild(copy, &points), SAP_OK);
            CHECK(trees_equal(copy, again));
            sap_tree_free(copy);
            sap_tree_free(again);
        }
        cloud_free(&points);
    }
    devices_close(&on);
}

static long read_file(const char* path, unsigned char* bytes, long room) {
    FILE* file = fopen(path, "rb");
    long size = file ? (long)fread(bytes, 1, (size_t)room, file) : -1;
    if (file) fclose(file);
    return size;
}

// Saves, loads and saves again.
static void save_and_load(const search_case* c, sap_device* writer, sap_device* reader, const folder* f) {
    enum { ROOM = 4 << 20 };
    cloud points = case_points(c), queries = case_queries(&points, 20, c->chance);
    sap_tree *tree = NULL, *loaded = NULL, *copy = NULL;
    unsigned char *bytes = malloc(ROOM), *bytes_again = malloc(ROOM);
    sap_tree_info info;
    sap_search search = {.k = 3};
    int32_t ids[60], loaded_ids[60];
    CHECK_STATUS(build(writer, &points, &c->options, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_save(tree, f->file), SAP_OK);
    long size = read_file(f->file, bytes, ROOM);
    if (CHECK_STATUS(sap_tree_load(reader, f->file, NULL, &loaded), SAP_OK)) {
        CHECK(trees_equal(tree, loaded));
        CHECK_STATUS(sap_tree_verify(loaded), SAP_OK);
        CHECK_STATUS(sap_tree_describe(loaded, &info), SAP_OK);
        CHECK(info.options.leaf_size == tree->options.leaf_size && info.options.axis == c->options.axis);
        CHECK(info.options.drop_duplicates == c->options.drop_duplicates && info.source_count == c->size);
        CHECK_STATUS(nearest(tree, &queries, &search, ids, NULL), SAP_OK);
        CHECK_STATUS(nearest(loaded, &queries, &search, loaded_ids, NULL), SAP_OK);
        CHECK(!memcmp(ids, loaded_ids, sizeof ids));
        CHECK_STATUS(sap_tree_copy(loaded, writer, &copy), SAP_OK);
        CHECK_STATUS(rebuild(copy, &points), SAP_OK);
        CHECK(trees_equal(tree, copy));
        if (info.mapped) {
            CHECK_STATUS(rebuild(loaded, &points), SAP_ERROR_UNSUPPORTED);
            CHECK(trees_equal(tree, loaded));
        }
        sap_tree_free(copy);
        CHECK_STATUS(sap_tree_save(loaded, f->file), SAP_OK); // over the very file that is mapped
        CHECK(trees_equal(tree, loaded));
        sap_tree_free(loaded);
        CHECK(read_file(f->file, bytes_again, ROOM) == size && !memcmp(bytes, bytes_again, (size_t)size));
    }
    CHECK_EQUAL(folder_count(f, false), 1);
    sap_tree_free(tree);
    free(bytes);
    free(bytes_again);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(saved_trees_come_back) {
    devices on = devices_open(1);
    folder f;
    search_case c;
    CHECK(folder_make(&f));
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || c.chance % 8) continue;
        note_case(&c, 0);
        save_and_load(&c, on.open[(c.chance >> 8) % (uint64_t)on.count], on.open[0], &f);
    }
    folder_remove(&f);
    devices_close(&on);
}

// At most 20 bytes are kept a 3-D float point, and 32 more of scratch while building.
TEST(memory_kept) {
    watch w;
    memset(&w, 0, sizeof w);
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_device_info device_info;
    sap_tree_info info;
    int64_t count = 200000;
    cloud points = cloud_of_family(FAMILY_UNIFORM, count, 3, 32, 0, 1);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
    CHECK_STATUS(sap_device_describe(device, &device_info), SAP_OK);
    CHECK(info.bytes <= (size_t)count * 20 && device_info.scratch_bytes <= (size_t)count * 32 + 65536);
    CHECK(w.bytes <= count * 52 + 100000);
    sap_device_trim(device);
    CHECK(w.bytes <= count * 20 + 20000 && (size_t)w.bytes >= info.bytes);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK(w.blocks == 0 && w.wrong == 0);
    cloud_free(&points);
}

// The smallest numbers of both signs around many zeros: a median among them is plus zero, never minus zero.
TEST(zeros_between_the_smallest_numbers) {
    enum { COUNT = 3000 };
    devices all = devices_open(1);
    for (int32_t bits = 32; bits <= 64; bits += 32) {
        cloud points = cloud_make(COUNT, 1, bits, 0);
        double tiny = bits == 32 ? 0x1p-149 : 0x1p-1074;
        for (int64_t i = 0; i < COUNT; i++) cloud_set(&points, i, 0, i % 4 == 0 ? -tiny : i % 4 == 3 ? tiny : 0);
        for (int d = 0; d < all.count; d++) {
            for (int split = 0; split < CASE_SPLITS; split++) {
                sap_tree* tree = NULL;
                NOTE("f%d device %d split %d", (int)bits, d, split);
                CHECK_STATUS(build(all.open[d], &points, &(sap_tree_options){.split = (sap_split)split}, &tree),
                             SAP_OK);
                CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
                sap_tree_free(tree);
            }
        }
        cloud_free(&points);
    }
    devices_close(&all);
}

// Coordinates at the limit are taken, and their distances are finite; the next number up is refused.
TEST(largest_coordinates) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    for (int i = 0; i < 2 * SAP_MAX_DIMS; i++) {
        int32_t dims = 1 + i / 2, bits = i % 2 ? 64 : 32;
        double most = sap_largest_coordinate(bits, dims);
        cloud points = cloud_make(2, dims, bits, 0);
        sap_tree* tree = NULL;
        NOTE("dims %d f%d", (int)dims, (int)bits);
        for (int32_t a = 0; a < dims; a++) {
            cloud_set(&points, 0, a, most);
            cloud_set(&points, 1, a, -most);
        }
        CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
        cloud last = cloud_part(&points, 1, 1);
        int32_t ids[2] = {-1, -1};
        CHECK_STATUS(nearest(tree, &last, &(sap_search){.k = 2}, ids, NULL), SAP_OK);
        CHECK(ids[0] == 1 && ids[1] == 0);
        sap_tree_free(tree);
        tree = NULL;
        cloud_set(&points, 1, dims - 1,
                  bits == 32 ? (double)nextafterf((float)most, INFINITY) : nextafter(most, INFINITY));
        CHECK_STATUS(build(device, &points, NULL, &tree), SAP_ERROR_NOT_FINITE);
        CHECK(tree == NULL);
        cloud_free(&points);
    }
    sap_device_close(device);
}

TEST_MAIN()
