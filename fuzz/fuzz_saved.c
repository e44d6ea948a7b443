// Any bytes, read as what follows the checksums of a saved tree: facts about it, then its arrays. They are saved, which
// gives them checksums that hold, and loaded again. What is loaded must be searched without harm.
//
// An input is bytes 16 to 87 of a file that sap_tree_save wrote, then those from 512 on without the last 64. One that
// begins with "SAP" is taken as a saved tree as it is.
#include "fuzz.h"
#include "sapwood/points.h"
#include "tree/layout.h"
#include <string.h>

typedef struct facts {
    int32_t real_bits, dims, split, axis, leaf_size, drops, depth, capacity;
    int64_t count;
    int32_t source_count, not_finite;
    int64_t nodes, leaves, slots;
} facts;

// Saved bytes of a tree that claims this of itself.
static unsigned char* save_claims(const facts* f, const uint8_t* arrays, size_t bytes, int64_t* size) {
    sap_tree tree = {.device = fuzz_device()};
    tree.options = (sap_tree_options){.split = (sap_split)f->split,
                                      .axis = (sap_axis)f->axis,
                                      .leaf_size = f->leaf_size,
                                      .drop_duplicates = f->drops & 1,
                                      .drop_nonfinite = f->drops & 2};
    tree.shape = (sap_tree_shape){.count = f->count,
                                  .source_count = f->source_count,
                                  .not_finite = f->not_finite,
                                  .nodes = f->nodes,
                                  .leaves = f->leaves,
                                  .slots = f->slots,
                                  .dims = f->dims,
                                  .real_bits = f->real_bits,
                                  .depth = f->depth,
                                  .capacity = f->capacity,
                                  .bytes = bytes};
    tree.arrays = (unsigned char*)(uintptr_t)arrays;
    if (sap_tree_saved_size(&tree, size) != SAP_OK) abort();
    unsigned char* saved = aligned_alloc(64, ((size_t)*size + 63) / 64 * 64);
    if (!saved || sap_tree_save_memory(&tree, saved, *size) != SAP_OK) abort();
    return saved;
}

// Asks a tree for the neighbours of its first points.
static void search(const sap_tree* tree) {
    enum { K = 3 };
    int32_t ids[K];
    int64_t count;
    double point_f64[SAP_MAX_DIMS] = {0.5};
    float point[SAP_MAX_DIMS] = {0.5F}, distance2[K];
    double distance2_f64[K];
    sap_points one = {point, 1, tree->shape.dims, 0};
    sap_points_f64 one_f64 = {point_f64, 1, tree->shape.dims, 0};
    sap_search how = {.k = K};
    sap_status status = tree->shape.real_bits == 64 ? sap_nearest_f64(tree, one_f64, &how, ids, distance2_f64)
                                                    : sap_nearest(tree, one, &how, ids, distance2);
    if (status != SAP_OK) abort();
    status = tree->shape.real_bits == 64 ? sap_radius_count_f64(tree, one_f64, 0.5, &count)
                                         : sap_radius_count(tree, one, 0.5, &count);
    if (status != SAP_OK || count < 0 || count > tree->shape.count) abort();
}

static unsigned char* copy(const uint8_t* data, size_t size, int64_t* saved_size) {
    unsigned char* saved = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!saved) abort();
    *saved_size = (int64_t)size;
    return memcpy(saved, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    facts claimed;
    if (size < sizeof claimed) return 0;
    memcpy(&claimed, data, sizeof claimed);
    fuzz_largest_block = 64 * size + (1 << 17);
    int64_t saved_size;
    unsigned char* saved = !memcmp(data, "SAP", 3)
                               ? copy(data, size, &saved_size)
                               : save_claims(&claimed, data + sizeof claimed, size - sizeof claimed, &saved_size);
    sap_tree* tree = NULL;
    sap_status status = sap_tree_load_memory(fuzz_device(), saved, saved_size, NULL, &tree);
    if ((status == SAP_OK) != (tree != NULL)) abort();
    if (tree) search(tree);
    sap_tree_free(tree);
    free(saved);
    return 0;
}
