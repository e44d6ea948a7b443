// The whole-structure check finds damage of every kind: a tree's own arrays are changed bit by bit.
#include "allocator.h"
#include "calls.h"
#include "test.h"
#include "trees.h"
#include <math.h>

typedef struct scene {
    watch w;
    sap_device* device;
    cloud points;
    sap_tree* tree;
    uint8_t* may_change; // for each byte: 1 where another value can be as good
} scene;

// Coordinates inside a box, and the planes of an explicit tree, may be others than they are.
static void mark_what_may_change(scene* s) {
    const sap_tree* t = s->tree;
    const sap_tree_shape* shape = &t->shape;
    size_t real = sap_real_bytes(shape);
    s->may_change = calloc(shape->bytes + 1, 1);
    for (int64_t i = 0; i < shape->nodes; i++) {
        int64_t slot = i * shape->stride;
        int32_t count = 0, stride = shape->stride;
        if (shape->kind == SAP_TREE_EXPLICIT) {
            size_t node_bytes = shape->real_bits == 64 ? sizeof(sap_node_f64) : sizeof(sap_node_f32);
            if (!sap_explicit_leaf(t, i, &slot, &count)) {
                memset(s->may_change + shape->node_at + (size_t)i * node_bytes, 1, real);
                continue;
            }
            stride = sap_leaf_stride(count, shape->real_bits);
        } else {
            count = (int32_t)(sap_leaf_rank(shape, i + 1) - sap_leaf_rank(shape, i));
        }
        uint8_t* block = s->may_change + (sap_block(t, slot) - t->arrays);
        for (int32_t a = 0; a < shape->dims; a++) memset(block + (size_t)(a * stride) * real, 1, (size_t)count * real);
    }
}

static void open_scene(scene* s, family kind, int64_t count, int32_t dims, int32_t real_bits,
                       const sap_tree_options* options) {
    memset(s, 0, sizeof *s);
    sap_device_options device = watched(&s->w);
    device.threads = 1;
    s->points = cloud_of_family(kind, count, dims, real_bits, 0, 11);
    CHECK_STATUS(sap_device_open(&device, &s->device), SAP_OK);
    CHECK_STATUS(build(s->device, &s->points, options, &s->tree), SAP_OK);
    CHECK_STATUS(sap_tree_verify(s->tree), SAP_OK);
    mark_what_may_change(s);
}

static void close_scene(scene* s) {
    CHECK_STATUS(sap_tree_verify(s->tree), SAP_OK);
    free(s->may_change);
    sap_tree_free(s->tree);
    sap_device_close(s->device);
    CHECK(s->w.blocks == 0 && s->w.wrong == 0);
    cloud_free(&s->points);
}

// Changes one bit after another. `step` leaves out most of a large tree.
static void flip_bits(scene* s, size_t step) {
    size_t bits = s->tree->shape.bytes * 8;
    int64_t seen = 0, unseen = 0;
    for (size_t bit = 0; bit < bits; bit += step) {
        unsigned char* byte = s->tree->arrays + bit / 8;
        *byte ^= (unsigned char)(1 << bit % 8);
        s->w.log_calls = 0;
        sap_status status = sap_tree_verify(s->tree);
        if (status == SAP_OK) {
            unseen++;
            if (!s->may_change[bit / 8]) {
                NOTE("byte %zu bit %zu; splits %zu axes %zu nodes %zu blocks %zu", bit / 8, bit % 8,
                     s->tree->shape.split_at, s->tree->shape.axis_at, s->tree->shape.node_at, s->tree->shape.block_at);
                CHECK_STATUS(status, SAP_ERROR_FORMAT);
            }
        } else {
            seen++;
            CHECK_STATUS(status, SAP_ERROR_FORMAT);
            CHECK(s->w.log_calls == 1 && s->w.logged == SAP_ERROR_FORMAT && s->w.sentence[0]);
        }
        *byte ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(seen > unseen);
}

static void damage(int32_t real_bits, sap_split split) {
    static const int64_t counts[] = {1, 2, 9, 70, 700};
    static const int32_t leaf_sizes[] = {1, 2, 8, 3, 5};
    for (int i = 0; i < 5; i++) {
        scene s;
        sap_tree_options options = {.split = split, .leaf_size = leaf_sizes[i], .axis = (sap_axis)(i % 2)};
        // No coordinate of the clusters is zero, whose sign is of no account.
        open_scene(&s, FAMILY_CLUSTERED, counts[i], 1 + i, real_bits, &options);
        flip_bits(&s, (i == 4 ? 37 : i == 3 ? 3 : 1) * (TEST_SANITIZED ? 3 : 1));
        close_scene(&s);
    }
}

TEST(every_bit_of_balanced_trees_f32) { damage(32, SAP_SPLIT_MEDIAN); }
TEST(every_bit_of_balanced_trees_f64) { damage(64, SAP_SPLIT_MEDIAN); }
TEST(every_bit_of_sliding_trees_f32) { damage(32, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(every_bit_of_sliding_trees_f64) { damage(64, SAP_SPLIT_SLIDING_MIDPOINT); }
TEST(every_bit_of_vvh_trees_f32) { damage(32, SAP_SPLIT_VVH); }

// Each instruction set has a quick check of its own; all say the same, also where points tie and leaves are long.
static void damage_in_every_width(family kind, int32_t dims, int32_t real_bits, int32_t leaf_size) {
    scene s;
    devices all = devices_open(2);
    sap_tree* trees[4] = {NULL};
    sap_tree_options options = {.leaf_size = leaf_size, .axis = (sap_axis)(dims % 2)};
    open_scene(&s, kind, 1000, dims, real_bits, &options);
    const size_t bits = s.tree->shape.bytes * 8;
    for (int i = 0; i < all.count; i++) CHECK_STATUS(build(all.open[i], &s.points, &options, &trees[i]), SAP_OK);
    for (size_t bit = 0; bit < bits; bit += bits / (TEST_SANITIZED ? 50 : 500) | 1) {
        const size_t at = bit / 8;
        const unsigned char change = (unsigned char)(1 << bit % 8);
        sap_status first = s.may_change[at] ? SAP_OK : SAP_ERROR_FORMAT;
        for (int i = 0; i < all.count; i++) {
            if (is_gpu(all.open[i])) continue; // its arrays are not the host's
            trees[i]->arrays[at] ^= change;
            sap_status status = sap_tree_verify(trees[i]);
            if (i == 0 && s.may_change[at]) first = status;
            NOTE("family %d, byte %zu, device %d", (int)kind, at, i);
            CHECK_STATUS(status, first);
            trees[i]->arrays[at] ^= change;
        }
    }
    for (int i = 0; i < all.count; i++) {
        CHECK_STATUS(sap_tree_verify(trees[i]), SAP_OK);
        sap_tree_free(trees[i]);
    }
    devices_close(&all);
    close_scene(&s);
}

TEST(every_width_of_registers) {
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_LATTICE, FAMILY_HALF_DUPLICATES, FAMILY_EQUAL,
                                   FAMILY_MINUS_ZERO};
    for (int k = 0; k < 5; k++)
        for (int32_t dims = 1; dims <= 4; dims++)
            damage_in_every_width(kinds[k], dims, (k + dims) % 2 ? 32 : 64, dims % 3 ? 12 * dims : 40);
}

// Leaf number `leaf` of a balanced float tree: coordinate a of a slot stands at [a*stride + slot].
static float* leaf_coords(const sap_tree* t, int64_t leaf) {
    return (float*)(void*)sap_block(t, leaf * t->shape.stride);
}

static int32_t* leaf_ids(const sap_tree* t, int64_t leaf) {
    return (int32_t*)(void*)(leaf_coords(t, leaf) + t->shape.dims * t->shape.stride);
}

static void expect_damage(scene* s, const char* what) {
    NOTE("%s", what);
    CHECK_STATUS(sap_tree_verify(s->tree), SAP_ERROR_FORMAT);
    NOTE("%s", "");
}

static void swap_points(const sap_tree* t, int64_t leaf, int64_t other, bool with_ids) {
    for (int32_t a = 0; a < t->shape.dims; a++) {
        float *x = leaf_coords(t, leaf) + a * t->shape.stride, *y = leaf_coords(t, other) + a * t->shape.stride;
        float kept = *x;
        *x = *y;
        *y = kept;
    }
    if (!with_ids) return;
    int32_t kept = *leaf_ids(t, leaf);
    *leaf_ids(t, leaf) = *leaf_ids(t, other);
    *leaf_ids(t, other) = kept;
}

// Damage that keeps every single value plausible.
TEST(exchanged_points) {
    scene s;
    sap_tree_options options = {.leaf_size = 1};
    open_scene(&s, FAMILY_UNIFORM, 64, 3, 32, &options);
    int64_t last = s.tree->shape.leaves - 1;
    swap_points(s.tree, 0, last, true);
    expect_damage(&s, "points in each other's leaves");
    swap_points(s.tree, 0, last, true);
    swap_points(s.tree, 0, 1, true);
    expect_damage(&s, "points in each other's sibling leaves");
    swap_points(s.tree, 0, 1, true);
    swap_points(s.tree, 4, 9, false);
    expect_damage(&s, "coordinates in each other's leaves");
    swap_points(s.tree, 4, 9, false);
    *leaf_ids(s.tree, 5) = *leaf_ids(s.tree, 6);
    expect_damage(&s, "an id twice");
    CHECK_STATUS(rebuild(s.tree, &s.points), SAP_OK);
    close_scene(&s);
}

// Equal points lie in the order of their ids: the last key of the total order.
TEST(equal_points_out_of_order) {
    scene s;
    sap_tree_options options = {.leaf_size = 1};
    open_scene(&s, FAMILY_EQUAL, 32, 2, 32, &options);
    swap_points(s.tree, 0, 31, true);
    expect_damage(&s, "the smallest id in the last leaf");
    swap_points(s.tree, 0, 31, true);
    swap_points(s.tree, 14, 15, true);
    expect_damage(&s, "neighbouring ids in each other's leaves");
    swap_points(s.tree, 14, 15, true);
    close_scene(&s);
}

// The first point of a leaf with this value on one axis whose other coordinate is within both leaves' boxes; or -1.
static int tied_point(const sap_tree* t, int64_t leaf, int32_t axis, float x, const float between[2]) {
    const float *at = leaf_coords(t, leaf) + axis * t->shape.stride,
                *other = leaf_coords(t, leaf) + (1 - axis) * t->shape.stride;
    for (int i = 0; i < t->shape.stride; i++)
        if (at[i] == x && other[i] > between[0] && other[i] < between[1]) return i;
    return -1;
}

static void widen(const sap_tree* t, int64_t leaf, int32_t axis, float box[2]) {
    const float* x = leaf_coords(t, leaf) + axis * t->shape.stride;
    float least = INFINITY, most = -INFINITY;
    for (int i = 0; i < t->shape.stride; i++) {
        least = fminf(least, x[i]);
        most = isinf(x[i]) ? most : fmaxf(most, x[i]);
    }
    box[0] = fmaxf(box[0], least);
    box[1] = fminf(box[1], most);
}

// Two points that tie at the plane between their leaves change places: no box and no smallest id tells.
static bool exchange_tied(const sap_tree* t, int64_t leaf) {
    const int64_t node = (t->shape.leaves + leaf) / 2;
    const int32_t axis = t->arrays[t->shape.axis_at + (size_t)node];
    const float split = ((const float*)(const void*)(t->arrays + t->shape.split_at))[node];
    float between[2] = {-INFINITY, INFINITY};
    widen(t, leaf, 1 - axis, between);
    widen(t, leaf + 1, 1 - axis, between);
    int i = tied_point(t, leaf, axis, split, between), j = tied_point(t, leaf + 1, axis, split, between);
    if (i < 0 || j < 0) return false;
    float *x = leaf_coords(t, leaf) + (1 - axis) * t->shape.stride + i,
          *y = leaf_coords(t, leaf + 1) + (1 - axis) * t->shape.stride + j, kept = *x;
    if (*x == *y) return false;
    *x = *y;
    *y = kept;
    return true;
}

TEST(tied_points_out_of_order) {
    scene s;
    sap_tree_options options = {.leaf_size = 60};
    open_scene(&s, FAMILY_LATTICE, 4000, 2, 32, &options);
    int exchanged = 0;
    for (int64_t leaf = 0; leaf < s.tree->shape.leaves; leaf += 2) {
        if (!exchange_tied(s.tree, leaf)) continue;
        exchanged++;
        expect_damage(&s, "tied points in each other's leaves");
        CHECK_STATUS(rebuild(s.tree, &s.points), SAP_OK);
    }
    CHECK(exchanged > 0);
    close_scene(&s);
}

TEST(minus_zero) {
    scene s;
    sap_tree_options options = {.leaf_size = 20};
    open_scene(&s, FAMILY_LATTICE, 500, 2, 32, &options);
    int zeros = 0;
    for (int64_t leaf = 0; leaf < s.tree->shape.leaves; leaf++)
        for (int i = 0; i < 2 * s.tree->shape.stride; i++) {
            float* x = leaf_coords(s.tree, leaf) + i;
            if (*x != 0) continue;
            zeros++;
            *x = -0.0f;
            expect_damage(&s, "minus zero");
            *x = 0;
        }
    CHECK(zeros > 0);
    close_scene(&s);
}

// On a diagonal each axis divides a node as well as the other: the rule alone tells.
TEST(axes_against_the_rule) {
    scene s;
    sap_tree_options options = {.leaf_size = 20};
    open_scene(&s, FAMILY_DIAGONAL, 500, 2, 32, &options);
    for (int64_t node = 1; node < s.tree->shape.leaves; node++) {
        s.tree->arrays[s.tree->shape.axis_at + (size_t)node] ^= 1;
        expect_damage(&s, "the other axis");
        s.tree->arrays[s.tree->shape.axis_at + (size_t)node] ^= 1;
    }
    close_scene(&s);
}

// The facts in the shape are checked before anything is read by them.
TEST(impossible_shapes) {
    for (int split = 0; split < 2; split++) {
        scene s;
        sap_tree_options options = {.leaf_size = 4, .split = (sap_split)split};
        open_scene(&s, FAMILY_UNIFORM, 100, 3, 32, &options);
        sap_tree_shape good = s.tree->shape;
        sap_tree_options good_options = s.tree->options;
        int64_t* counts[] = {&s.tree->shape.count, &s.tree->shape.source_count, &s.tree->shape.nodes,
                             &s.tree->shape.leaves, &s.tree->shape.slots};
        int32_t* sizes[] = {&s.tree->shape.dims, &s.tree->shape.real_bits, &s.tree->shape.depth,
                            &s.tree->shape.capacity, &s.tree->options.leaf_size};
        static const int64_t values[] = {-1, 0, 1, 3, 99, 101, 1000, INT32_MAX, (int64_t)1 << 31, INT64_MAX, INT64_MIN};
        for (int i = 0; i < 10; i++) {
            for (int v = 0; v < 11; v++) {
                if (i < 5 ? *counts[i] == values[v] : *sizes[i - 5] == (int32_t)values[v]) continue;
                if (i < 5)
                    *counts[i] = values[v];
                else
                    *sizes[i - 5] = (int32_t)values[v];
                // A larger limit on ids, or on leaves that are small anyway, is as good.
                bool as_good = i == 9 && split == 1 && values[v] > 4 && values[v] < 1025;
                NOTE("split %d fact %d value %lld", split, i, (long long)values[v]);
                sap_status status = sap_tree_verify(s.tree);
                CHECK(status == SAP_ERROR_FORMAT || (as_good && status == SAP_OK));
                s.tree->shape = good;
                s.tree->options = good_options;
            }
        }
        close_scene(&s);
    }
}

TEST_MAIN()
