// The points that a rank holds, and searches by them: their queries are where they are answered, but for those near the
// border of another rank.
#include "cluster/nearest.h"
#include "tree/leaves.h"
#include <string.h>

static int64_t count_here(const sap_cluster_tree* tree) {
    int64_t count = 0;
    for (int32_t p = 0; p < tree->piece_count; p++) count += tree->pieces[p].count;
    return count;
}

// Subtree by subtree, in the order of ids within each. Either array may be NULL.
static void list_points(const sap_cluster_tree* tree, int64_t* ids, unsigned char* coords) {
    const size_t width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    int64_t first = 0;
    for (int32_t p = 0; p < tree->piece_count; p++) {
        const sap_cluster_piece* piece = &tree->pieces[p];
        if (ids && piece->count) memcpy(ids + first, piece->ids, (size_t)piece->count * sizeof *ids);
        for (int64_t place = 0; coords && place < sap_leaf_places(piece->tree); place++) {
            const sap_leaf_block leaf = sap_leaf_block_at(piece->tree, place);
            for (int32_t i = 0; i < leaf.count; i++)
                sap_leaf_point(piece->tree, &leaf, i, coords + (size_t)(first + leaf.ids[i]) * width);
        }
        first += piece->count;
    }
}

static sap_status give_points(const sap_cluster_tree* tree, int32_t real_bits, int64_t* ids, void* coords) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (tree->real_bits != real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "coords: the tree holds %d-bit points", (int)tree->real_bits);
    list_points(tree, ids, coords);
    return SAP_OK;
}

sap_status sap_cluster_points(const sap_cluster_tree* tree, int64_t* ids, float* coords) {
    return give_points(tree, 32, ids, coords);
}

sap_status sap_cluster_points_f64(const sap_cluster_tree* tree, int64_t* ids, double* coords) {
    return give_points(tree, 64, ids, coords);
}

// ---- Nearest points of the points held

// A search for one neighbour more than wanted, since each point finds itself unless as many equal points have smaller ids.
typedef struct asking {
    const sap_cluster_tree* tree;
    int64_t count;
    int32_t k; // wanted
    sap_search search;
    sap_rows rows;
    int64_t *own, *ids;
    unsigned char* distance2;
    sap_scratch scratch;
} asking;

static sap_status prepare(asking* a, const sap_search* search, int32_t real_bits) {
    const sap_cluster_tree* tree = a->tree;
    const size_t real = (size_t)tree->real_bits / 8;
    if (tree->real_bits != real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "distance2: the tree holds %d-bit points",
                        (int)tree->real_bits);
    if (!search) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "search: is NULL");
    a->search = *search;
    a->search.with_self = false;
    a->k = search->k;
    if (search->k < 1) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "search.k: %d is below 1", (int)search->k);
    if (!search->with_self) {
        if (search->k == INT32_MAX)
            return sap_fail(tree->device, SAP_ERROR_RANGE, "search.k: %d is too much without the points themselves",
                            (int)search->k);
        a->search.k++;
    }
    a->count = count_here(tree);
    size_t cells;
    if (!sap_size_multiply((uint64_t)a->count, (uint64_t)a->search.k, &cells) || cells > SIZE_MAX / 64)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "search.k: %d neighbours of %lld points are too many",
                        (int)search->k, (long long)a->count);
    const size_t ids = sap_align(cells * sizeof(int64_t)), reals = sap_align(cells * real);
    const size_t own = sap_align((size_t)a->count * sizeof(int64_t));
    const size_t coords = (size_t)a->count * (size_t)tree->dims * real;
    if (!sap_scratch_take(tree->device, own + ids + reals + coords + 1, &a->scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the neighbours of %lld points",
                        (long long)a->count);
    unsigned char* at = a->scratch.memory;
    a->own = (int64_t*)(void*)at;
    a->ids = (int64_t*)(void*)(at + own);
    a->distance2 = at + own + ids;
    at += own + ids + reals;
    list_points(tree, a->own, at);
    a->rows = (sap_rows){at, a->count, tree->dims, tree->dims, tree->real_bits};
    return SAP_OK;
}

// Leaves each point out of its own row.
static void give_rows(const asking* a, int64_t* ids, unsigned char* distance2) {
    const size_t real = (size_t)a->tree->real_bits / 8;
    for (int64_t q = 0; q < a->count; q++) {
        const int64_t from = q * a->search.k, to = q * a->k;
        int32_t self = 0;
        while (self < a->k && (a->search.k == a->k || a->ids[from + self] != a->own[q])) self++;
        for (int32_t i = 0; i < a->k; i++) {
            const int64_t at = from + i + (i >= self);
            if (ids) ids[to + i] = a->ids[at];
            if (distance2) memcpy(distance2 + (size_t)(to + i) * real, a->distance2 + (size_t)at * real, real);
        }
    }
}

static sap_status nearest_self(const sap_cluster_tree* tree, int32_t real_bits, const sap_search* search, int64_t* ids,
                               void* distance2) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    asking a = {.tree = tree};
    sap_status status = prepare(&a, search, real_bits);
    if (status != SAP_OK) a.rows = (sap_rows){NULL, 0, tree->dims, tree->dims, tree->real_bits};
    status = sap_cluster_nearest_rows(tree, status, &a.rows, &a.search, a.ids, a.distance2);
    if (status == SAP_OK) give_rows(&a, ids, distance2);
    sap_scratch_give(tree->device, &a.scratch);
    return status;
}

sap_status sap_cluster_nearest_self(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                    float* distance2) {
    return nearest_self(tree, 32, search, ids, distance2);
}

sap_status sap_cluster_nearest_self_f64(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                        double* distance2) {
    return nearest_self(tree, 64, search, ids, distance2);
}
