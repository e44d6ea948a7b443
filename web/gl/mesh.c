// Trees over triangles: their textures.
#include "gl/module.h"
#include "mesh/textures_gl.h"
#include "ray/ray.h"

/** As web_tree_take, but always a new tree. */
SAP_EXPORT sap_status web_mesh_take(const void* bytes, size_t size, int32_t trusted) {
    const sap_load_options options = web_loading(trusted);
    sap_mesh_tree *tree = NULL, *copy = NULL;
    sap_status status = sap_mesh_tree_load_memory(web_host, bytes, (int64_t)size, &options, &tree);
    if (status == SAP_OK) status = sap_mesh_tree_copy(tree, web_gl, &copy);
    sap_mesh_tree_free(tree);
    web_shared.integers[0] = web_address(copy);
    return status;
}

SAP_EXPORT void web_mesh_free(sap_mesh_tree* tree) { sap_mesh_tree_free(tree); }

/** integers: the names of nodes and triangles, the logarithms of their widths, the depth; numbers: lower, upper, the
 * largest coordinate. */
SAP_EXPORT sap_status web_mesh_describe(const sap_mesh_tree* tree) {
    sap_gl_call call;
    const sap_gl_mesh* textures = sap_gl_begin(&call, web_gl) == SAP_OK ? sap_gl_mesh_of(&call, tree) : NULL;
    for (int i = 0; textures && i < SAP_MESH_TEXTURES; i++) {
        web_shared.integers[i] = (int32_t)textures->texture[i];
        web_shared.integers[SAP_MESH_TEXTURES + i] = textures->shifts[i];
    }
    web_shared.integers[4] = tree->shape.depth;
    for (int a = 0; a < 3; a++) {
        web_shared.numbers[a] = (double)tree->shape.lower[a];
        web_shared.numbers[3 + a] = (double)tree->shape.upper[a];
    }
    web_shared.numbers[6] = (double)sap_mesh_magnitude(tree);
    return sap_gl_end(&call, SAP_OK);
}
