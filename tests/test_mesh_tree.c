// Trees over triangles: of every family, whole and right, and the same bytes for any number of threads.
#include "allocator.h"
#include "cases.h"
#include "mesh/layout.h"
#include "mesh_families.h"
#include "test.h"
#include <math.h>

static sap_device* open_device(watch* w, int32_t threads, sap_simd simd) {
    sap_device* device = NULL;
    sap_device_options options = watched(w);
    options.threads = threads;
    options.simd = simd;
    return sap_device_open(&options, &device) == SAP_OK ? device : NULL;
}

static void close_device(watch* w, sap_device* device) {
    sap_device_close(device);
    CHECK(w->blocks == 0 && w->bytes == 0 && w->wrong == 0);
}

// Every triangle stands in a leaf, and the counts are those of the arrays.
static void expect_whole(const sap_mesh_tree* tree, const sap_mesh* mesh) {
    sap_mesh_tree_info info;
    CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.triangles, mesh->triangle_count);
    CHECK(info.references >= info.triangles && info.leaves == info.nodes + 1);
    bool* seen = calloc((size_t)info.triangles + 1, 1);
    const sap_mesh_node* nodes = sap_mesh_nodes(tree);
    int64_t references = 0, met = 0;
    for (int64_t i = 0; i < tree->shape.nodes; i++) {
        int64_t count = nodes[i].link >> 2;
        if ((nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        references += count;
        for (int64_t k = 0; k < count; k++) {
            int32_t place = count == 1 ? (int32_t)nodes[i].bits : sap_mesh_references(tree)[nodes[i].bits + k];
            met += !seen[place];
            seen[place] = true;
        }
    }
    CHECK_EQUAL(references, info.references);
    CHECK_EQUAL(met, info.triangles);
    free(seen);
    CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
}

// Each quality by each cost.
enum { WAYS = 4, COUNTS = CASE_STEP > 1 ? 6 : 7, MANY = CASE_STEP > 1 ? 2500 : 6000 };

static sap_mesh_tree_options way_of(int way) {
    return (sap_mesh_tree_options){.quality = way % 2 ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH,
                                   .cost = way / 2 ? SAP_COST_VOXELS : SAP_COST_SURFACE};
}

static bool same_trees(const sap_mesh_tree* a, const sap_mesh_tree* b) {
    return a && b && a->shape.bytes == b->shape.bytes && !memcmp(a->arrays, b->arrays, a->shape.bytes);
}

TEST(every_family) {
    static const int64_t counts[] = {0, 1, 2, 12, 65, 1000, 6000};
    watch w = {0};
    sap_device* device = open_device(&w, 2, SAP_SIMD_AUTO);
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (int i = 0; i < COUNTS * WAYS; i++) {
            NOTE("%s, %d triangles, way %d", mesh_family_name((mesh_family)kind), (int)counts[i / WAYS], i % WAYS);
            sap_mesh mesh = mesh_of_family((mesh_family)kind, counts[i / WAYS], 7);
            sap_mesh_tree_options options = way_of(i % WAYS);
            sap_mesh_tree* tree = NULL;
            if (CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK)) expect_whole(tree, &mesh);
            sap_mesh_tree_free(tree);
            mesh_free(&mesh);
        }
    close_device(&w, device);
}

// Whether one of a few points of a triangle lies well inside the cell.
static bool has_point_in(const float* c, const float lower[3], const float upper[3], double margin, uint64_t* state) {
    for (int tries = 0; tries < 24; tries++) {
        const double u = random_unit(state), v = (1 - u) * random_unit(state);
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            const double x =
                (double)c[k] + u * ((double)c[3 + k] - (double)c[k]) + v * ((double)c[6 + k] - (double)c[k]);
            inside = inside && x > (double)lower[k] + margin && x < (double)upper[k] - margin;
        }
        if (inside) return true;
    }
    return false;
}

// Leaves that lack a triangle: any of those that this leaf lists, hidden by the one beside it. Returns how many must be
// found missing because a point of them lies in the cell.
static int hide_references(sap_mesh_tree* tree, const sap_mesh_node* leaf, const float lower[3], const float upper[3],
                           double margin, uint64_t* state) {
    const int64_t count = leaf->link >> 2;
    int32_t* references = (int32_t*)sap_mesh_references(tree) + leaf->bits;
    int found = 0;
    for (int64_t i = 0; i < count && count > 1; i++) {
        const int32_t hidden = references[i];
        const float* corners = sap_mesh_corners(tree) + (int64_t)SAP_TRIANGLE_FLOATS * hidden;
        const bool must = has_point_in(corners, lower, upper, margin, state);
        references[i] = references[i ? i - 1 : 1];
        const int64_t missing = sap_mesh_first_missing(tree);
        references[i] = hidden;
        CHECK(missing == hidden || (missing == INT64_MAX && !must));
        found += must;
    }
    return found;
}

// The same for each leaf below a node.
static int hide_below(sap_mesh_tree* tree, int64_t at, const float lower[3], const float upper[3], double margin,
                      uint64_t* state) {
    const sap_mesh_node* node = sap_mesh_nodes(tree) + at;
    const uint32_t axis = node->link & 3;
    if (axis == SAP_MESH_LEAF) return hide_references(tree, node, lower, upper, margin, state);
    float middle_upper[3], middle_lower[3];
    memcpy(middle_upper, upper, sizeof middle_upper);
    memcpy(middle_lower, lower, sizeof middle_lower);
    middle_upper[axis] = middle_lower[axis] = sap_mesh_plane(node);
    return hide_below(tree, at + 1, lower, middle_upper, margin, state) +
           hide_below(tree, node->link >> 2, middle_lower, upper, margin, state);
}

TEST(a_leaf_that_lacks_a_triangle) {
    watch w = {0};
    sap_device* device = open_device(&w, 1, SAP_SIMD_AUTO);
    uint64_t state = 3;
    int found = 0;
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (int way = 0; way < 2; way++) {
            NOTE("%s, way %d", mesh_family_name((mesh_family)kind), way);
            sap_mesh mesh = mesh_of_family((mesh_family)kind, 150, 5);
            sap_mesh_tree_options options = way_of(way);
            sap_mesh_tree* tree = NULL;
            if (CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK)) {
                const sap_mesh_tree_shape* s = &tree->shape;
                double largest = 0;
                for (int k = 0; k < 3; k++)
                    largest = fmax(largest, fmax(fabs((double)s->lower[k]), fabs((double)s->upper[k])));
                CHECK_EQUAL(sap_mesh_first_missing(tree), INT64_MAX);
                found += hide_below(tree, 0, s->lower, s->upper, largest * 0x1p-38, &state);
            }
            sap_mesh_tree_free(tree);
            mesh_free(&mesh);
        }
    CHECK(found > 500);
    close_device(&w, device);
}

// Beside a triangle so large that the check's margin is as wide as all others along x: what of these lies beyond a plane,
// by less than the margin, must be required of no leaf.
TEST(details_within_the_margin_of_the_check) {
    enum { TRIANGLES = 301, CORNERS = 9 * TRIANGLES };
    const float far = 0x1p40f, large[9] = {-far, -far, -far, far, far, far, far, -far, far};
    float corners[CORNERS];
    int32_t vertices[3 * TRIANGLES];
    watch w = {0};
    sap_device* device = open_device(&w, 1, SAP_SIMD_AUTO);
    for (int i = 0; i < 3 * TRIANGLES; i++) vertices[i] = i;
    for (int step = 0; step < 12; step++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const float width = 0.5F * powf(1.5F, (float)step);
            uint64_t state = seed;
            for (int i = 0; i < CORNERS - 9; i++)
                corners[i] = (i % 3 ? 1000 : width) * ((float)(random_next(&state) >> 40) * 0x1p-24F - 0.5F);
            memcpy(corners + CORNERS - 9, large, sizeof large);
            const sap_mesh mesh = {corners, 3 * (int64_t)TRIANGLES, vertices, TRIANGLES};
            for (int way = 0; way < 2; way++) {
                NOTE("%g wide, seed %d, way %d", (double)width, (int)seed, way);
                sap_mesh_tree_options options = way_of(way);
                options.traversal_cost = 0.001F; // small leaves
                sap_mesh_tree* tree = NULL;
                if (CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK)) expect_whole(tree, &mesh);
                sap_mesh_tree_free(tree);
            }
        }
    close_device(&w, device);
}

TEST(the_same_bytes_for_any_threads_and_instructions) {
    for (int n = 0; n < WAYS * MESH_FAMILIES; n++) {
        int kind = n / WAYS;
        if (CASE_STEP > 1 && kind % 2 != n % WAYS / 2) continue; // both qualities, but one cost
        sap_mesh_tree_options options = way_of(n % WAYS);
        sap_mesh mesh = mesh_of_family((mesh_family)kind, MANY, 3);
        sap_mesh_tree* first = NULL;
        watch w[8] = {{0}};
        sap_device* opened[8] = {NULL};
        NOTE("%s", mesh_family_name((mesh_family)kind));
        for (int i = 0; i < 8; i++) {
            static const int32_t threads[] = {1, 2, 3, 1, 7, 1, 2, 5};
            opened[i] = open_device(&w[i], threads[i], (sap_simd)(i % 4));
            sap_mesh_tree* tree = NULL;
            if (!opened[i]) continue; // this machine lacks the instructions
            CHECK_STATUS(sap_mesh_tree_build(opened[i], mesh, &options, &tree), SAP_OK);
            if (first) CHECK(same_trees(tree, first));
            if (first)
                sap_mesh_tree_free(tree);
            else
                first = tree;
        }
        sap_mesh_tree_free(first);
        for (int i = 0; i < 8; i++) close_device(&w[i], opened[i]);
        mesh_free(&mesh);
    }
}

// What trees are made of, and their bytes: a change of either is a change of the trees that everyone builds.
TEST(golden_trees) {
    static const struct {
        mesh_family kind;
        int way;
        int64_t nodes, references;
        double cost;
        uint64_t hash; // FNV-1a, 64 bits, of a little-endian machine's arrays
    } expected[] = {
        {MESH_SOUP, 0, 420, 3555, 194.7, UINT64_C(0x2469A736D1322BCF)},
        {MESH_SOUP, 1, 462, 3880, 201.4, UINT64_C(0xE8ADB98A63D1066E)},
        {MESH_SOUP, 2, 554, 3597, 199.2, UINT64_C(0x0E9D008AAFC7AAB1)},
        {MESH_SOUP, 3, 602, 3934, 205.0, UINT64_C(0x7BAFC1372936F956)},
        {MESH_BALL, 0, 948, 5182, 184.7, UINT64_C(0x8A68E989117C7C7E)},
        {MESH_BALL, 1, 903, 5638, 191.3, UINT64_C(0x6493B65B04AFC20C)},
        {MESH_BALL, 2, 1349, 5852, 192.1, UINT64_C(0xB817145F07F42EB9)},
        {MESH_BALL, 3, 1253, 6472, 194.1, UINT64_C(0xCFB0288451F12D14)},
        {MESH_HILLS, 0, 338, 2888, 108.3, UINT64_C(0x541D68F704077592)},
        {MESH_HILLS, 1, 583, 4008, 125.7, UINT64_C(0xB6A3AE679EC1EDAE)},
        {MESH_HILLS, 2, 371, 2888, 113.1, UINT64_C(0x7033DF7A1B99D54F)},
        {MESH_HILLS, 3, 708, 4010, 124.8, UINT64_C(0x8BE679EEE64C613B)},
        {MESH_ROOMS, 0, 764, 5854, 180.2, UINT64_C(0xC95AB959C8BA1667)},
        {MESH_ROOMS, 1, 1059, 7651, 190.9, UINT64_C(0x99BF618FC72CABF0)},
        {MESH_ROOMS, 2, 1134, 6905, 190.1, UINT64_C(0x0D3D36CCA172026F)},
        {MESH_ROOMS, 3, 1462, 8761, 193.0, UINT64_C(0x610F5889850ACA02)},
        {MESH_NEEDLES, 0, 408, 3023, 354.1, UINT64_C(0x6AE1908CC68B9CA0)},
        {MESH_NEEDLES, 1, 1098, 9538, 274.1, UINT64_C(0xEAA94FABE685DEC3)},
        {MESH_NEEDLES, 2, 465, 3000, 344.3, UINT64_C(0xD2347D6C6D39011C)},
        {MESH_NEEDLES, 3, 2745, 18259, 298.1, UINT64_C(0x651F9F02D030E7C7)},
    };
    watch w = {0};
    sap_device* device = open_device(&w, 2, SAP_SIMD_AUTO);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        sap_mesh mesh = mesh_of_family(expected[i].kind, 3000, 1);
        sap_mesh_tree* tree = NULL;
        sap_mesh_tree_info info = {0};
        sap_mesh_tree_options options = way_of(expected[i].way);
        uint64_t hash = UINT64_C(0xCBF29CE484222325);
        NOTE("%s, way %d", mesh_family_name(expected[i].kind), expected[i].way);
        CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
        CHECK_EQUAL(info.nodes, expected[i].nodes);
        CHECK_EQUAL(info.references, expected[i].references);
        CHECK(fabs(info.cost - expected[i].cost) <= 0.051);
        for (size_t k = 0; tree && k < tree->shape.bytes; k++)
            hash = (hash ^ tree->arrays[k]) * UINT64_C(0x100000001B3);
        CHECK(hash == expected[i].hash);
        sap_mesh_tree_free(tree);
        mesh_free(&mesh);
    }
    close_device(&w, device);
}

// As the npm package builds quick trees: most small nodes are leaves at once, because no plane can be worth a step.
TEST(golden_trees_of_dear_steps) {
    static const struct {
        mesh_family kind;
        int64_t nodes, references;
        double cost;
    } expected[] = {{MESH_SOUP, 63, 3641, 587.4},
                    {MESH_BALL, 135, 3924, 658.6},
                    {MESH_HILLS, 63, 3830, 367.0},
                    {MESH_ROOMS, 116, 5190, 583.6},
                    {MESH_NEEDLES, 111, 7529, 731.7}};
    const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST, .traversal_cost = 30, .small_node = 32};
    for (int simd = SAP_SIMD_AUTO; simd <= SAP_SIMD_PORTABLE; simd++) {
        watch w = {0};
        sap_device* device = open_device(&w, 2, (sap_simd)simd);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            sap_mesh mesh = mesh_of_family(expected[i].kind, 3000, 1);
            sap_mesh_tree* tree = NULL;
            sap_mesh_tree_info info = {0};
            NOTE("%s, vectors %d", mesh_family_name(expected[i].kind), simd);
            CHECK_STATUS(sap_mesh_tree_build(device, mesh, &options, &tree), SAP_OK);
            CHECK_STATUS(sap_mesh_tree_describe(tree, &info), SAP_OK);
            CHECK_EQUAL(info.nodes, expected[i].nodes);
            CHECK_EQUAL(info.references, expected[i].references);
            CHECK(fabs(info.cost - expected[i].cost) <= 0.051);
            CHECK_STATUS(sap_mesh_tree_verify(tree), SAP_OK);
            sap_mesh_tree_free(tree);
            mesh_free(&mesh);
        }
        close_device(&w, device);
    }
}

TEST_MAIN()
