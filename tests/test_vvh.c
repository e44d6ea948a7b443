// Trees of the voxel volume heuristic: each plane is the one that the rule of tree/explicit/vvh_rule.h names, found anew from the
// points below. That searches in them find what brute force finds, the tests of the searches see.
#include "allocator.h"
#include "cases.h"
#include "test.h"
#include "trees.h"

enum { MOST = 700 };

typedef struct below {
    const sap_tree* tree;
    const cloud* points;
    double radius;
    int64_t node, leaves;
} below;

static double rounded(const below* b, double x) { return (b->points->real_bits == 32 ? (double)(float)x : x) + 0; }

// How many of the points lie below a plane.
static int64_t count_below(const below* b, const int32_t* ids, int64_t count, int32_t axis, double plane) {
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) left += cloud_get(b->points, ids[i], axis) < plane;
    return left;
}

static void bounds_of(const below* b, const int32_t* ids, int64_t count, int32_t axis, double bounds[2]) {
    bounds[0] = (double)INFINITY;
    bounds[1] = -(double)INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double x = cloud_get(b->points, ids[i], axis) + 0;
        bounds[0] = fmin(bounds[0], x);
        bounds[1] = fmax(bounds[1], x);
    }
}

// The plane that spares the most points; false if the points are equal.
static bool best_plane(const below* b, const int32_t* ids, int64_t count, int32_t* axis, double* plane) {
    double most = -1;
    bool differ = false;
    for (int32_t a = 0; a < b->points->dims; a++) {
        double bounds[2];
        bounds_of(b, ids, count, a, bounds);
        if (bounds[0] == bounds[1]) continue;
        if (!differ) {
            *axis = a;
            *plane = bounds[1];
        }
        differ = true;
        for (int i = 1; i < 16; i++) {
            const double at = rounded(b, bounds[0] + (bounds[1] - bounds[0]) * i / 16);
            const int64_t left = count_below(b, ids, count, a, at);
            if (left == 0 || left == count) continue;
            const double spared = ((double)left * (bounds[1] - at) + (double)(count - left) * (at - bounds[0])) /
                                  (bounds[1] - bounds[0] + 2 * b->radius);
            if (spared <= most) continue;
            most = spared;
            *axis = a;
            *plane = at;
        }
    }
    return differ;
}

// Checks the nodes over these points, in preorder.
static void check_node(below* b, int32_t* ids, int64_t count) {
    int64_t slot;
    int32_t in_leaf, axis = 0;
    double plane = 0, split;
    const int64_t at = b->node++;
    const bool differ = best_plane(b, ids, count, &axis, &plane);
    if (!CHECK(at < b->tree->shape.nodes)) return;
    const bool leaf = sap_explicit_leaf(b->tree, at, &slot, &in_leaf);
    CHECK_EQUAL(leaf, count <= b->tree->options.leaf_size || !differ);
    if (leaf) {
        CHECK_EQUAL(in_leaf, count);
        b->leaves++;
        return;
    }
    const unsigned char* nodes = b->tree->arrays + b->tree->shape.node_at;
    uint32_t link;
    if (b->points->real_bits == 64) {
        const sap_node_f64* n = (const sap_node_f64*)(const void*)nodes + at;
        link = n->link;
        memcpy(&split, &n->bits, sizeof split);
    } else {
        const sap_node_f32* n = (const sap_node_f32*)(const void*)nodes + at;
        float narrow;
        link = n->link;
        memcpy(&narrow, &n->bits, sizeof narrow);
        split = (double)narrow;
    }
    CHECK_EQUAL((int32_t)(link & SAP_NODE_LEAF), axis);
    if (!CHECK(split == plane)) return;
    int64_t left = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t id = ids[i];
        if (!(cloud_get(b->points, id, axis) < plane)) continue;
        ids[i] = ids[left];
        ids[left++] = id;
    }
    check_node(b, ids, left);
    CHECK_EQUAL(b->node, at + (int64_t)(link >> 5));
    check_node(b, ids + left, count - left);
}

TEST(planes_spare_the_most_points) {
    sap_device* device = NULL;
    int32_t ids[MOST];
    int64_t inner = 0;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 4 * FAMILY_COUNT; i++) {
        static const double radii[] = {0, 0.01, 0.3, 1e9};
        const sap_tree_options options = {
            .split = SAP_SPLIT_VVH, .leaf_size = 1 + i % 5, .query_radius = radii[i / FAMILY_COUNT]};
        cloud points =
            cloud_of_family((family)(i % FAMILY_COUNT), 1 + 97 * i % MOST, 1 + i % 4, i % 3 ? 32 : 64, 0, (uint64_t)i);
        below b = {.points = &points, .radius = options.query_radius};
        sap_tree* tree = NULL;
        NOTE("case %d", i);
        if (CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK) && tree->shape.depth < 32) {
            b.tree = tree;
            for (int32_t p = 0; p < points.count; p++) ids[p] = p;
            check_node(&b, ids, points.count);
            CHECK_EQUAL(b.leaves, tree->shape.leaves);
            inner += b.leaves - 1;
        }
        sap_tree_free(tree);
        cloud_free(&points);
    }
    CHECK(inner > 3000); // else little was looked at
    sap_device_close(device);
}

// Points that come closer and closer to zero, so that nodes are halved by rank in the end: `each` for each power of two,
// many of them equal along the first axes, or all.
static cloud ever_closer(int64_t count, int32_t dims, int32_t real_bits, int64_t each) {
    cloud points = cloud_make(count, dims, real_bits, 0);
    uint64_t state = 7;
    for (int64_t i = 0; i < count; i++)
        for (int32_t a = 0; a < dims; a++)
            cloud_set(&points, i, a, a ? (double)random_below(&state, 3) : ldexp(1, 60 - (int)(i / each)));
    return points;
}

// The same bytes on every device: nodes that all of a GPU divides and such that a warp does, and in both also halved ones.
TEST(the_same_bytes) {
    static const struct {
        family kind;
        int64_t count, each; // points; of a power of two, or 0: a family's
        int32_t dims, bits, leaf_size;
        sap_axis axis;
        double radius;
    } cases[] = {
        {FAMILY_CLUSTERED, 3000, 0, 3, 32, 8, SAP_AXIS_WIDEST, 0.05},
        {FAMILY_SHELL, 5000, 0, 4, 64, 32, SAP_AXIS_CYCLE, 0.05},
        {FAMILY_MIXED, 900, 0, 16, 64, 5, SAP_AXIS_WIDEST, 3},
        {FAMILY_LATTICE, 1500, 0, 2, 32, 1, SAP_AXIS_CYCLE, 0},
        {FAMILY_DENORMAL, 2000, 0, 3, 32, 4, SAP_AXIS_WIDEST, 0},
        {FAMILY_EQUAL, SAP_LEAF_MAX_EQUAL + 7, 0, 2, 64, 1, SAP_AXIS_WIDEST, 1},
        {FAMILY_EQUAL, 5000, 12, 2, 64, 20, SAP_AXIS_WIDEST, 1e-9},
        {FAMILY_EQUAL, 900, 2, 3, 64, 1, SAP_AXIS_CYCLE, 1e9},
        {FAMILY_EQUAL, 500, 1, 1, 64, 1, SAP_AXIS_WIDEST, 0},
    };
    devices all = devices_open(0);
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        const sap_tree_options options = {.split = SAP_SPLIT_VVH,
                                          .axis = cases[i].axis,
                                          .leaf_size = cases[i].leaf_size,
                                          .query_radius = cases[i].radius};
        cloud points = cases[i].each
                           ? ever_closer(cases[i].count, cases[i].dims, cases[i].bits, cases[i].each)
                           : cloud_of_family(cases[i].kind, cases[i].count, cases[i].dims, cases[i].bits, 0, 11);
        sap_tree *first = NULL, *tree = NULL;
        CHECK_STATUS(build(all.open[0], &points, &options, &first), SAP_OK);
        CHECK_STATUS(sap_tree_verify(first), SAP_OK);
        int32_t bits = 0;
        while (cases[i].count >> bits > 1) bits++;
        if (cases[i].each) CHECK(first->shape.depth > 32 + bits); // else nothing was halved
        for (int d = 1; d < all.count; d++) {
            NOTE("case %d device %d", i, d);
            CHECK_STATUS(build(all.open[d], &points, &options, &tree), SAP_OK);
            CHECK(trees_equal(first, tree));
            CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
            sap_tree_free(tree);
            tree = NULL;
        }
        sap_tree_free(first);
        cloud_free(&points);
    }
    devices_close(&all);
}

// A radius is taken up to the largest coordinate, by this rule alone, and comes back from a saved tree.
TEST(radii) {
    static const float coords[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const sap_points points = {coords, 4, 3, 0};
    watch w = {0};
    sap_device_options watching = watched(&w);
    watching.processor = SAP_CPU;
    sap_device* device = NULL;
    sap_tree *tree = NULL, *loaded = NULL;
    CHECK_STATUS(sap_device_open(&watching, &device), SAP_OK);
    const double most = sap_largest_coordinate(32, 3);
    const double bad[] = {-1, -(double)INFINITY, (double)NAN, (double)INFINITY, 2 * most};
    for (int i = 0; i < 5; i++) {
        const sap_tree_options options = {.split = SAP_SPLIT_VVH, .query_radius = bad[i]};
        CHECK_STATUS(sap_tree_build(device, points, &options, &tree), SAP_ERROR_ARGUMENT);
        CHECK(strstr(w.sentence, "query_radius"));
    }
    for (int split = 0; split < 2; split++) {
        const sap_tree_options options = {.split = (sap_split)split, .query_radius = 1};
        CHECK_STATUS(sap_tree_build(device, points, &options, &tree), SAP_ERROR_ARGUMENT);
    }
    const double good[] = {-0.0, 0, 5e-324, 1, most};
    for (int i = 0; i < 5; i++) {
        const sap_tree_options options = {.split = SAP_SPLIT_VVH, .leaf_size = 1, .query_radius = good[i]};
        sap_tree_info info = {0};
        int64_t size = 0;
        NOTE("radius %g", good[i]);
        CHECK_STATUS(sap_tree_build(device, points, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        CHECK_STATUS(sap_tree_saved_size(tree, &size), SAP_OK);
        void* bytes = aligned_alloc(SAP_ALIGNMENT, (size_t)(size + SAP_ALIGNMENT) / SAP_ALIGNMENT * SAP_ALIGNMENT);
        CHECK_STATUS(sap_tree_save_memory(tree, bytes, size), SAP_OK);
        CHECK_STATUS(sap_tree_load_memory(device, bytes, size, NULL, &loaded), SAP_OK);
        CHECK_STATUS(sap_tree_describe(loaded, &info), SAP_OK);
        CHECK(info.options.split == SAP_SPLIT_VVH && info.options.query_radius == good[i]);
        sap_tree_free(loaded);
        sap_tree_free(tree);
        loaded = tree = NULL;
        free(bytes);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

TEST_MAIN()
