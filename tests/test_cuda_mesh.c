// Trees over triangles that CUDA devices build are those of the CPU, byte for byte.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "mesh/layout.h"
#include "mesh_families.h"

enum { MANY = CASE_STEP > 1 ? 2500 : 6000 };

static bool same_trees(const sap_mesh_tree* there, const sap_mesh_tree* here, sap_device* host) {
    sap_mesh_tree* copy = NULL;
    if (!there || !here || sap_mesh_tree_copy(there, host, &copy) != SAP_OK) return false;
    bool same = CHECK(!memcmp(&copy->shape, &here->shape, sizeof here->shape)) &&
                CHECK(!memcmp(&copy->options, &here->options, sizeof here->options)) &&
                CHECK(!memcmp(copy->arrays, here->arrays, here->shape.bytes));
    sap_mesh_tree_free(copy);
    return same;
}

static sap_mesh mesh_there(const sap_mesh* mesh) {
    sap_mesh there = *mesh;
    there.vertices = on_gpu(mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(float) + 1);
    there.triangles = on_gpu(mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(int32_t) + 1);
    return there;
}

static void free_there(sap_mesh* mesh) {
    cuda_tools_release((void*)(uintptr_t)mesh->vertices);
    cuda_tools_release((void*)(uintptr_t)mesh->triangles);
}

static void expect_same(scene* s, const sap_mesh* mesh, const sap_mesh_tree_options* options) {
    sap_mesh_tree *here = NULL, *there = NULL;
    CHECK_STATUS(sap_mesh_tree_build(s->cpu, *mesh, options, &here), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->gpu, *mesh, options, &there), SAP_OK);
    CHECK(same_trees(there, here, s->cpu));
    sap_mesh_tree_free(here);
    sap_mesh_tree_free(there);
}

TEST(trees_of_every_family) {
    static const int64_t counts[] = {0, 1, 2, 12, 64, 65, 300, MANY};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (int i = 0; i < 8; i++)
            for (int cost = 0; cost < 2; cost++) {
                const sap_mesh_tree_options options = {.quality = SAP_QUALITY_FAST, .cost = (sap_cost)cost};
                sap_mesh mesh = mesh_of_family((mesh_family)kind, counts[i], 7);
                NOTE("%s, %d triangles, cost %d", mesh_family_name((mesh_family)kind), (int)counts[i], cost);
                expect_same(&s, &mesh, &options);
                mesh_free(&mesh);
            }
    close_scene(&s);
}

#else
TEST(trees_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
