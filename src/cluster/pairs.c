// Pairs of points of all ranks. Points that no border comes near find theirs where they are; others also ask the ranks that
// their balls reach. For counts, points near borders go to the ranks of higher numbers only, which build a tree over them
// and walk it together with their own: each pair of points on two ranks is met once and counts twice.
#include "base/assert.h"
#include "cluster/ops.h"
#include "cluster/route.h"
#include "cluster/rows.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// The points that this rank holds, as rows.
static sap_status take_points(const sap_cluster_tree* tree, sap_scratch* scratch, int64_t** ids, sap_rows* rows) {
    const size_t width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    const size_t names = sap_align((size_t)tree->count_here * sizeof(int64_t));
    if (!sap_scratch_take(tree->device, names + (size_t)tree->count_here * width + 1, scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)tree->count_here);
    *ids = (int64_t*)(void*)scratch->memory;
    *rows = (sap_rows){scratch->memory + names, tree->count_here, tree->dims, tree->dims, tree->real_bits};
    if (tree->device->rooms.cluster) return tree->device->rooms.cluster->points(tree, *ids, scratch->memory + names);
    const sap_status status = sap_cluster_find_places(tree);
    if (status == SAP_OK) sap_cluster_list(tree, *ids, scratch->memory + names);
    return status;
}

sap_status sap_cluster_pairs(const sap_cluster_tree* tree, double radius, sap_cluster_neighbors** found) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_scratch scratch = {NULL, 0};
    int64_t* ids = NULL;
    sap_rows points = {NULL, 0, tree->dims, tree->dims, tree->real_bits};
    sap_status status = take_points(tree, &scratch, &ids, &points);
    status = sap_cluster_rows_within(tree, status, &points, radius, found);
    if (status == SAP_OK) sap_cluster_rows_keep_greater(*found, ids);
    sap_scratch_give(tree->device, &scratch);
    return status;
}

// ---- Counts

typedef struct counting {
    const sap_cluster_tree* tree;
    const double* radii;
    int32_t count;
    double limit2;
    double *sums, *some; // [count] pairs in each bin
    uint64_t* words;     // the same
    sap_scratch numbers, points;
} counting;

static int32_t choose(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                      int32_t* ranks) {
    const counting* c = context;
    const int32_t found = sap_cluster_top_within(&tree->top, coords, c->limit2, tree->comm->rank, ranks);
    int32_t kept = 0;
    (void)query;
    for (int32_t i = 0; i < found; i++)
        if (ranks[i] > tree->comm->rank) ranks[kept++] = ranks[i];
    return kept;
}

static sap_status check(const counting* c, const double* counts) {
    const sap_device* device = c->tree->device;
    if (c->count < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "count: %d is below 1", (int)c->count);
    if (!c->radii) return sap_fail(device, SAP_ERROR_ARGUMENT, "radii: is NULL");
    if (!counts) return sap_fail(device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    for (int32_t i = 0; i < c->count; i++)
        if (!(c->radii[i] >= (i ? c->radii[i - 1] : 0)))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "radii[%d]: is negative, falls, or is not a number", (int)i);
    return SAP_OK;
}

static sap_status open_counting(counting* c, const double* counts, sap_route* route, sap_rows* points) {
    const sap_cluster_tree* tree = c->tree;
    int64_t* ids;
    sap_status status = check(c, counts);
    if (status != SAP_OK) return status;
    c->limit2 = sap_limit2_of(c->radii[c->count - 1], tree->real_bits);
    if (!sap_scratch_take(tree->device, (size_t)c->count * 3 * sizeof(double), &c->numbers))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for %d radii", (int)c->count);
    c->sums = (double*)(void*)c->numbers.memory;
    c->some = c->sums + c->count;
    c->words = (uint64_t*)(void*)(c->some + c->count);
    status = take_points(tree, &c->points, &ids, points);
    return status == SAP_OK ? sap_route_choose(tree, points, choose, c, route) : status;
}

static sap_status add_pairs(const counting* c, const sap_tree* a, const sap_tree* b, double times) {
    const sap_status status = sap_tree_count_pairs(a, b, c->radii, c->count, NULL, NULL, false, c->some);
    for (int32_t i = 0; i < c->count && status == SAP_OK; i++) c->sums[i] += times * c->some[i];
    return status;
}

static sap_status count_here(const counting* c, const sap_rows* came) {
    const sap_cluster_tree* tree = c->tree;
    sap_tree* others = NULL;
    sap_status status = SAP_OK;
    SAP_ASSERT(c->sums && c->some);
    for (int32_t i = 0; i < c->count; i++) c->sums[i] = 0;
    sap_progress_mute(true);
    if (came->count && came->real_bits == 64)
        status =
            sap_tree_build_f64(tree->device, (sap_points_f64){came->coords, came->count, came->dims, 0}, NULL, &others);
    else if (came->count)
        status = sap_tree_build(tree->device, (sap_points){came->coords, came->count, came->dims, 0}, NULL, &others);
    for (int32_t p = 0; p < tree->piece_count && status == SAP_OK; p++) {
        for (int32_t q = 0; q < tree->piece_count && status == SAP_OK; q++)
            status = add_pairs(c, tree->pieces[p].tree, tree->pieces[q].tree, 1);
        if (status == SAP_OK && others) status = add_pairs(c, others, tree->pieces[p].tree, 2);
    }
    sap_progress_mute(false);
    sap_tree_free(others);
    return status;
}

sap_status sap_cluster_count_pairs(const sap_cluster_tree* tree, const double* radii, int32_t count, bool cumulative,
                                   double* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    counting c = {.tree = tree, .radii = radii, .count = count};
    sap_route route = {.tree = tree};
    sap_rows points = {NULL, 0, tree->dims, tree->dims, tree->real_bits};
    sap_status status = open_counting(&c, counts, &route, &points);
    uint64_t same[2] = {(uint64_t)(uint32_t)count, cumulative};
    for (int32_t i = 0; i < count && status == SAP_OK; i++) { // their bits, in one number
        uint64_t bits;
        memcpy(&bits, &radii[i], sizeof bits);
        same[1] = (same[1] ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        same[1] ^= same[1] >> 29;
    }
    route.queries = &points;
    status = sap_route_send(&route, status, NULL, same, 2);
    if (status == SAP_OK) status = sap_comm_agree(tree->comm, tree->device, count_here(&c, &route.came), NULL, 0);
    SAP_ASSERT(status != SAP_OK || (c.sums && c.words));
    if (status == SAP_OK) {
        for (int32_t i = 0; i < count; i++) c.words[i] = (uint64_t)c.sums[i];
        status = sap_comm_reduce(tree->comm, tree->device, SAP_REDUCE_SUM, c.words, count);
    }
    for (int32_t i = 0; i < count && status == SAP_OK; i++)
        counts[i] = (double)(c.words[i] += cumulative && i ? c.words[i - 1] : 0);
    sap_route_close(&route);
    sap_scratch_give(tree->device, &c.numbers);
    sap_scratch_give(tree->device, &c.points);
    return status;
}
