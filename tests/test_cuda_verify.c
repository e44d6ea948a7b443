// The whole-structure check on a GPU says of every tree what the host's says: of good ones, and of damaged ones.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"

// Whether the GPU, without the host's help, takes a tree for right.
static bool gpu_says_right(const sap_tree* tree) {
    bool right = false;
    CHECK_STATUS(tree->device->rooms.tree->verify(tree, &right), SAP_OK);
    return right;
}

// ---- Good trees

TEST(good_trees_are_right) {
    scene s;
    OPEN_SCENE(&s, NULL);
    search_case c;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!case_choose(i, &c) || i % 2) continue;
        cloud points = case_points(&c);
        sap_tree* tree = NULL;
        NOTE("%s n %d dims %d f%d split %d axis %d leaf %d drop %d", family_name(c.kind), (int)c.size, c.dims,
             c.real_bits, (int)c.options.split, (int)c.options.axis, c.options.leaf_size, c.options.drop_duplicates);
        CHECK_STATUS(build(s.gpu, &points, &c.options, &tree), SAP_OK);
        CHECK(gpu_says_right(tree));
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    close_scene(&s);
}

// More equal points than a leaf may hold, and points that lie ever closer together, which are halved by rank in the
// end.
TEST(halved_nodes_are_right) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 4; kind++) {
        const int32_t bits = kind % 2 ? 64 : 32;
        const int64_t count = kind / 2 ? 400 : SAP_LEAF_MAX_EQUAL + 7;
        const sap_tree_options options = {.split = SAP_SPLIT_SLIDING_MIDPOINT, .leaf_size = 1 + kind % 2};
        cloud points = cloud_of_family(FAMILY_EQUAL, count, 2, bits, 0, 1);
        for (int64_t i = 0; i < count && kind / 2; i++) {
            const int64_t row = i / 100;
            cloud_set(&points, i, 1, ldexp((double)(row + 1), (bits == 64 ? -2 : -1) * (int)(i % 100)));
        }
        sap_tree* tree = NULL;
        NOTE("kind %d", kind);
        CHECK_STATUS(build(s.gpu, &points, &options, &tree), SAP_OK);
        CHECK(gpu_says_right(tree));
        sap_tree_free(tree);
        cloud_free(&points);
    }
    close_scene(&s);
}

// ---- Damaged ones

// The same tree on both processors.
typedef struct pair {
    sap_tree *here, *there;
    uint64_t chance;
    int64_t right, wrong; // verdicts
} pair;

static void write_both(const pair* p, size_t at, const unsigned char* bytes, size_t count) {
    memcpy(p->here->arrays + at, bytes, count);
    cuda_tools_copy(p->there->arrays + at, bytes, count);
}

static void compare_verdicts(pair* p) {
    const bool expected = sap_tree_verify(p->here) == SAP_OK;
    CHECK_EQUAL(gpu_says_right(p->there), expected);
    p->right += expected;
    p->wrong += !expected;
}

// Writes over some bytes, compares, and puts back what was there.
static void damage(pair* p, size_t at, const unsigned char* bytes, size_t count) {
    unsigned char kept[16];
    memcpy(kept, p->here->arrays + at, count);
    write_both(p, at, bytes, count);
    compare_verdicts(p);
    write_both(p, at, kept, count);
}

static size_t any_place(pair* p, size_t unit) {
    return (size_t)random_below(&p->chance, (int64_t)(p->here->shape.bytes / unit)) * unit;
}

static void flip_a_bit(pair* p) {
    const size_t at = any_place(p, 1);
    const unsigned char byte = (unsigned char)(p->here->arrays[at] ^ 1 << random_below(&p->chance, 8));
    damage(p, at, &byte, 1);
}

// What stands elsewhere in the tree: every value is plausible somewhere.
static void copy_a_value(pair* p) {
    const size_t unit = (size_t)4 << random_below(&p->chance, 2), from = any_place(p, unit), to = any_place(p, unit);
    unsigned char bytes[8];
    memcpy(bytes, p->here->arrays + from, unit);
    damage(p, to, bytes, unit);
}

// Two nodes of an explicit tree, or two links, or two splits, in each other's place.
static void exchange_nodes(pair* p) {
    const sap_tree_shape* s = &p->here->shape;
    const size_t node = s->real_bits == 64 ? sizeof(sap_node_f64) : sizeof(sap_node_f32), half = node / 2;
    const int64_t what = random_below(&p->chance, 3);
    const size_t shift = what == 1 ? half : 0, bytes = what ? half : node;
    const size_t a = s->node_at + (size_t)random_below(&p->chance, s->nodes) * node + shift;
    const size_t b = s->node_at + (size_t)random_below(&p->chance, s->nodes) * node + shift;
    unsigned char first[16], second[16];
    memcpy(first, p->here->arrays + a, bytes);
    memcpy(second, p->here->arrays + b, bytes);
    write_both(p, a, second, bytes);
    damage(p, b, first, bytes);
    write_both(p, a, first, bytes);
}

static void damage_tree(scene* s, const cloud* points, const sap_tree_options* options, int times) {
    pair p = {.chance = 7};
    CHECK_STATUS(build(s->cpu, points, options, &p.here), SAP_OK);
    CHECK_STATUS(build(s->gpu, points, options, &p.there), SAP_OK);
    compare_verdicts(&p);
    for (int i = 0; i < times; i++) {
        NOTE("split %d, %d points, %d dims, f%d: damage %d", (int)options->split, (int)points->count, points->dims,
             points->real_bits, i);
        if (i % 2)
            flip_a_bit(&p);
        else if (i % 4 || options->split == SAP_SPLIT_MEDIAN)
            copy_a_value(&p);
        else
            exchange_nodes(&p);
    }
    CHECK(p.right > 0 && p.wrong > p.right / 2);
    CHECK(trees_equal(p.here, p.there));
    sap_tree_free(p.here);
    sap_tree_free(p.there);
}

static void damage_trees(sap_split split) {
    static const struct {
        family kind;
        int64_t count;
        int32_t dims, leaf_size;
    } trees[] = {{FAMILY_CLUSTERED, 1, 1, 1},    {FAMILY_CLUSTERED, 2, 2, 1},        {FAMILY_CLUSTERED, 9, 3, 2},
                 {FAMILY_LATTICE, 70, 4, 3},     {FAMILY_HALF_DUPLICATES, 90, 2, 1}, {FAMILY_EQUAL, 60, 3, 8},
                 {FAMILY_CLUSTERED, 300, 16, 5}, {FAMILY_UNIFORM, 700, 3, 8}};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int i = 0; i < 16; i++) {
        const sap_tree_options options = {
            .split = split, .leaf_size = trees[i / 2].leaf_size, .axis = (sap_axis)(i / 2 % 2)};
        cloud points = cloud_of_family(trees[i / 2].kind, trees[i / 2].count, trees[i / 2].dims, i % 2 ? 64 : 32, 0, 1);
        damage_tree(&s, &points, &options, CASE_STEP > 23 ? 12 : CASE_STEP > 5 ? 80 : 400);
        cloud_free(&points);
    }
    close_scene(&s);
}

TEST(damaged_balanced_trees) { damage_trees(SAP_SPLIT_MEDIAN); }
TEST(damaged_sliding_trees) { damage_trees(SAP_SPLIT_SLIDING_MIDPOINT); }

// Numbers in the shape that no array bears out.
TEST(impossible_shapes) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int split = 0; split < 2; split++) {
        const sap_tree_options options = {.leaf_size = 4, .split = (sap_split)split};
        cloud points = cloud_of_family(FAMILY_UNIFORM, 100, 3, 32, 0, 1);
        sap_tree* tree = NULL;
        CHECK_STATUS(build(s.gpu, &points, &options, &tree), SAP_OK);
        const sap_tree_shape good = tree->shape;
        int64_t* counts[] = {&tree->shape.count, &tree->shape.source_count, &tree->shape.nodes, &tree->shape.leaves,
                             &tree->shape.slots};
        int32_t* sizes[] = {&tree->shape.dims, &tree->shape.real_bits, &tree->shape.depth, &tree->shape.capacity};
        static const int64_t values[] = {-1, 0, 1, 3, 99, 101, 1000, INT32_MAX, (int64_t)1 << 31, INT64_MAX, INT64_MIN};
        for (int i = 0; i < 9; i++) {
            for (int v = 0; v < 11; v++) {
                if (i < 5 ? *counts[i] == values[v] : *sizes[i - 5] == (int32_t)values[v]) continue;
                if (i < 5)
                    *counts[i] = values[v];
                else
                    *sizes[i - 5] = (int32_t)values[v];
                NOTE("split %d fact %d value %lld", split, i, (long long)values[v]);
                CHECK(!gpu_says_right(tree));
                tree->shape = good;
            }
        }
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    close_scene(&s);
}

#else
TEST(checks_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
