// Any bytes, read as what follows the checksums of a saved tree over triangles: facts about it, then its arrays. They
// get a header whose checksums hold, and are loaded. What is loaded must be searched without harm.
//
// An input is bytes 16 to 135 of a file that sap_mesh_tree_save wrote, then those from 512 on without the last 64. One
// that begins with "SAP" is taken as a saved tree as it is.
#include "fuzz.h"
#include "sapwood/mesh.h"
#include "saved/saved.h"
#include <math.h>
#include <string.h>

static const sap_saved_form form = {"SAPMESH\n", 1, 120, "a saved tree over triangles", 0};

static unsigned char* save(const uint8_t* data, size_t size, int64_t* saved_size) {
    const bool whole = size >= 3 && !memcmp(data, "SAP", 3);
    *saved_size = whole ? (int64_t)size : sap_saved_size(size - form.facts);
    unsigned char* saved = aligned_alloc(64, ((size_t)*saved_size + 63) / 64 * 64);
    if (!saved) abort();
    const sap_saved_place place = {.bytes = saved, .size = *saved_size};
    if (whole)
        memcpy(saved, data, size);
    else if (sap_saved_write(fuzz_device(), &place, &form, data, data + form.facts, size - form.facts) != SAP_OK)
        abort();
    return saved;
}

static void search(const sap_mesh_tree* tree) {
    const sap_ray rays[3] = {{{0, 0, -9}, 0, {0, 0, 1}, INFINITY},
                             {{-9, 0.5F, 0.5F}, 0, {1, 0.01F, 0}, INFINITY},
                             {{0.3F, 0.3F, 0.3F}, 0, {0.6F, -0.6F, 0.5F}, 4}};
    const float point[3] = {0.5F, 0.5F, 0.5F};
    sap_hit hits[3];
    sap_closest closest;
    if (sap_trace(tree, rays, 3, hits) != SAP_OK ||
        sap_closest_point(tree, (sap_points){point, 1, 3, 0}, &closest) != SAP_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < form.facts) return 0;
    fuzz_largest_block = 64 * size + (1 << 17);
    int64_t saved_size;
    unsigned char* saved = save(data, size, &saved_size);
    sap_mesh_tree* tree = NULL;
    sap_status status = sap_mesh_tree_load_memory(fuzz_device(), saved, saved_size, NULL, &tree);
    if ((status == SAP_OK) != (tree != NULL)) abort();
    if (tree) search(tree);
    sap_mesh_tree_free(tree);
    free(saved);
    return 0;
}
