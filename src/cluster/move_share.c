// The move of points that lie on a device: from its memory to that of the other ranks' devices.
#include "base/assert.h"
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include <string.h>

static sap_status no_memory(const sap_device* device, int32_t pieces) {
    return sap_fail(device, SAP_ERROR_MEMORY, "no memory to move points to %d subtrees", (int)pieces);
}

static sap_status exchange(const sap_moving_share* m, const sap_share_move* move) {
    const int64_t width = (int64_t)m->tree->dims * m->tree->real_bits / 8;
    const sap_comm* comm = m->tree->comm;
    for (int pass = 0; pass < 2; pass++) {
        const int64_t bytes = pass ? move->id_bytes : width;
        for (int32_t r = 0; r < comm->size; r++) {
            m->bytes_out[r] = r == comm->rank ? 0 : m->send[r] * bytes; // what stays is in its place
            m->bytes_in[r] = r == comm->rank ? 0 : m->receive[r] * bytes;
        }
        const sap_status status =
            sap_comm_exchange_there(m->tree->comm, m->tree->device, pass ? move->send_ids : move->send_coords,
                                    m->bytes_out, pass ? move->receive_ids : move->receive_coords, m->bytes_in);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

static sap_status build_piece(const sap_moving_share* m, const sap_share_move* move, int32_t i) {
    sap_cluster_tree* tree = m->tree;
    const sap_cut_node* node = &m->cut->pieces[m->first + i];
    sap_cluster_piece* piece = &tree->pieces[i];
    sap_rows rows = {0};
    piece->count = node->high - node->low;
    piece->depth = node->depth;
    piece->index = node->index;
    piece->subtree = m->first + i;
    piece->first = -1;
    piece->ids_known = false;
    tree->count_here += piece->count;
    tree->piece_count = i + 1;
    const sap_status status =
        tree->device->rooms.cluster->unpack(m->cut->share, move, i, &rows, &piece->there, &piece->there_room);
    if (status != SAP_OK) return status;
    SAP_ASSERT(rows.count == piece->count);
    const sap_slice slice = {tree->count, node->index << (tree->depth - node->depth), node->depth};
    return sap_tree_rebuild_slice(tree->device, &rows, &tree->options, &slice, &piece->tree);
}

static sap_status build_pieces(const sap_moving_share* m, const sap_share_move* move) {
    for (int32_t i = 0; i < m->pieces; i++) {
        const sap_status status = build_piece(m, move, i);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// Rooms for what comes are counted in 32 bits.
static sap_status check_counts(const sap_moving_share* m) {
    int64_t most = 0;
    for (int32_t i = 0; i < m->pieces; i++) {
        const sap_cut_node* node = &m->cut->pieces[m->first + i];
        if (node->high - node->low > most) most = node->high - node->low;
    }
    if (most <= INT32_MAX) return SAP_OK;
    return sap_fail(m->tree->device, SAP_ERROR_RANGE, "points: a rank would have to hold %lld, more than 2^31-1",
                    (long long)most);
}

sap_status sap_cluster_move_share(const sap_moving_share* m) {
    sap_comm* comm = m->tree->comm;
    sap_device* device = m->tree->device;
    const sap_cut* cut = m->cut;
    sap_scratch scratch = {NULL, 0};
    sap_share_move move = {.rank = comm->rank,
                           .ranks = comm->size,
                           .pieces = cut->piece_count,
                           .leaving = m->leaving,
                           .first = m->first,
                           .own = m->pieces,
                           .counts = m->counts,
                           .ids_are_given = cut->ids != NULL,
                           .first_ids = cut->first_ids};
    sap_status status = check_counts(m);
    if (status == SAP_OK && !sap_scratch_take(device, (size_t)cut->piece_count * sizeof(int32_t), &scratch))
        status = no_memory(device, cut->piece_count);
    if (status == SAP_OK) {
        int32_t* place = (int32_t*)(void*)scratch.memory;
        for (int32_t i = 0; i < cut->piece_count; i++) place[cut->pieces[i].name - SAP_SHARE_PIECES] = i;
        move.place = place;
        status = device->rooms.cluster->pack(cut->share, &move);
    }
    status = sap_comm_agree(comm, device, status, NULL, 0);
    if (status == SAP_OK) status = exchange(m, &move);
    if (status == SAP_OK) status = sap_comm_agree(comm, device, build_pieces(m, &move), NULL, 0);
    sap_scratch_give(device, &scratch);
    return status;
}
