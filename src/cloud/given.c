// Checks of what callers give for each point of a tree, for all processors.
#include "cloud/given.h"
#include "tree/host_view.h"
#include "tree/leaves.h"
#include <math.h>
#include <string.h>

int64_t sap_given_not_finite_f32(const void* values, int64_t from, int64_t count) {
    while (from < count && isfinite(((const float*)values)[from])) from++;
    return from;
}

int64_t sap_given_not_finite_f64(const void* values, int64_t from, int64_t count) {
    while (from < count && isfinite(((const double*)values)[from])) from++;
    return from;
}

static void mark(const sap_tree* tree, uint8_t* present) {
    for (int64_t place = 0; tree->shape.count && place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t i = 0; i < leaf.count; i++) present[leaf.ids[i]] = 1;
    }
}

// Which points the tree has, in memory that is taken for it.
static sap_status find_present(const sap_tree* tree, sap_scratch* memory) {
    const size_t bytes = (size_t)tree->shape.source_count;
    if (!sap_scratch_take(tree->device, bytes + 1, memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to tell which of %zu points count", bytes);
    memset(memory->memory, 0, bytes);
    sap_host_view view;
    const sap_status status = sap_host_view_open(tree, &view);
    if (status != SAP_OK) return status;
    mark(&view.tree, memory->memory);
    sap_host_view_close(&view);
    return SAP_OK;
}

sap_status sap_given_check(const sap_tree* tree, const void* values, int64_t width, sap_given_find* find,
                           int64_t* bad) {
    const int64_t count = tree->shape.source_count * width;
    int64_t at = find(values, 0, count);
    *bad = -1;
    sap_status status = SAP_OK;
    // Only now does it matter whether points were left out.
    if (at < count && tree->shape.count < tree->shape.source_count) {
        sap_scratch present = {NULL, 0};
        status = find_present(tree, &present);
        while (status == SAP_OK && at < count && !present.memory[at / width]) at = find(values, at + 1, count);
        sap_scratch_give(tree->device, &present);
    }
    if (status == SAP_OK && at < count) *bad = at;
    return status;
}

sap_status sap_given_check_normals(const sap_tree* tree, const float* normals, const char* name) {
    int64_t bad = -1;
    const sap_status status = normals ? sap_given_check(tree, normals, 3, sap_given_not_finite_f32, &bad) : SAP_OK;
    if (status != SAP_OK || bad < 0) return status;
    return sap_fail(tree->device, SAP_ERROR_NOT_FINITE, "%s: that of point %lld is not finite", name,
                    (long long)(bad / 3));
}
