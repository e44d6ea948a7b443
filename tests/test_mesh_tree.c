// Trees over triangles: of every family, whole and right, and the same bytes for any number of threads.
#include "allocator.h"
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
enum { WAYS = 4 };

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
        for (int i = 0; i < 7 * WAYS; i++) {
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
        sap_mesh_tree_options options = way_of(n % WAYS);
        sap_mesh mesh = mesh_of_family((mesh_family)kind, 6000, 3);
        sap_mesh_tree* first = NULL;
        watch w[8] = {{0}};
        sap_device* devices[8] = {NULL};
        NOTE("%s", mesh_family_name((mesh_family)kind));
        for (int i = 0; i < 8; i++) {
            static const int32_t threads[] = {1, 2, 3, 1, 7, 1, 2, 5};
            devices[i] = open_device(&w[i], threads[i], (sap_simd)(i % 4));
            sap_mesh_tree* tree = NULL;
            if (!devices[i]) continue; // this machine lacks the instructions
            CHECK_STATUS(sap_mesh_tree_build(devices[i], mesh, &options, &tree), SAP_OK);
            if (first) CHECK(same_trees(tree, first));
            if (first)
                sap_mesh_tree_free(tree);
            else
                first = tree;
        }
        sap_mesh_tree_free(first);
        for (int i = 0; i < 8; i++) close_device(&w[i], devices[i]);
        mesh_free(&mesh);
    }
}

TEST_MAIN()
