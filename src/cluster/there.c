// Subtrees on a device: what the host has to know of them, and searches.
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include "device/reserved.h"
#include "math/dialect.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

static sap_status fetch(sap_device* device, sap_cluster_piece* piece) {
    const size_t bytes = (size_t)piece->count * sizeof *piece->ids;
    if (!sap_cluster_make_ids(device, piece, piece->count))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the ids of %lld points", (long long)piece->count);
    const sap_status status = device->rooms.cluster->fetch(device, piece->ids, piece->there, bytes);
    piece->ids_known = status == SAP_OK;
    return status;
}

sap_status sap_cluster_fetch_ids(const sap_cluster_tree* tree) {
    for (int32_t i = 0; i < tree->piece_count; i++) {
        sap_cluster_piece* piece = &tree->pieces[i];
        if (!piece->there || piece->ids_known) continue;
        const sap_status status = fetch(tree->device, piece);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

static sap_status check_search(const sap_device* device, const sap_search* s, bool self) {
    if (!s) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    const sap_status status = sap_reserved_check(device, s->reserved, "search");
    if (status != SAP_OK) return status;
    if (s->k < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: %d is below 1", (int)s->k);
    if (self && s->k == INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "search.k: %d is too much without the points themselves", (int)s->k);
    if (!(s->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: %g is negative", s->radius);
    if (s->walk < SAP_WALK_AUTO || s->walk > SAP_WALK_PACKET)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.walk: unknown walk %d", (int)s->walk);
    if ((s->with_self && !self) || s->stats || s->without_ids || s->metric || s->p != 0 || s->weights || s->radii ||
        s->ks || s->keep || s->eps != 0 || s->sorted)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "search: over ranks only k, radius, walk and ordered are looked at");
    return SAP_OK;
}

static sap_status check(const sap_cluster_tree* tree, const sap_rows* queries, int32_t real_bits,
                        const sap_search* search) {
    const sap_device* device = tree->device;
    if (tree->real_bits != real_bits || (queries && queries->dims != tree->dims))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: the tree holds %d-bit points of %d dimensions",
                        queries ? "queries" : "distance2", (int)tree->real_bits, (int)tree->dims);
    sap_status status = queries ? sap_rows_check(device, queries, "queries") : SAP_OK;
    if (status == SAP_OK) status = check_search(device, search, !queries);
    if (status != SAP_OK) return status;
    int64_t count = queries ? queries->count : 0;
    for (int32_t p = 0; p < tree->piece_count && !queries; p++) count += tree->pieces[p].count;
    size_t cells;
    if (sap_size_multiply((uint64_t)count, (uint64_t)search->k + 1, &cells) && cells < SIZE_MAX / 64) return SAP_OK;
    return sap_fail(device, SAP_ERROR_RANGE, "search.k: %d neighbours of %lld queries are too many", (int)search->k,
                    (long long)count);
}

sap_status sap_cluster_nearest_there(const sap_cluster_tree* tree, const sap_rows* queries, int32_t real_bits,
                                     const sap_search* search, int64_t* ids, void* distance2) {
    const sap_cluster_ops* ops = tree->device->rooms.cluster;
    sap_status status = check(tree, queries, real_bits, search);
    const sap_search asked = status == SAP_OK ? *search : (sap_search){0};
    uint64_t same[] = {(uint64_t)asked.k, 0, asked.with_self};
    memcpy(&same[1], &asked.radius, sizeof same[1]);
    status = sap_comm_agree(tree->comm, tree->device, status, same, 3);
    if (status != SAP_OK) return status;
    const double limit2 = sap_limit2_of(asked.radius > 0 ? asked.radius : INFINITY, real_bits);
    if (queries) return ops->nearest(tree, queries, &asked, limit2, ids, distance2);
    return ops->nearest_self(tree, &asked, limit2, ids, distance2);
}
