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

TEST_MAIN()
