// The move of points that lie on a device: from its memory to that of the other ranks' devices.
#include "base/assert.h"
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include <string.h>

int64_t sap_share_part_least = 1 << 23;

static sap_status no_memory(const sap_device* device, int32_t pieces) {
    return sap_fail(device, SAP_ERROR_MEMORY, "no memory to move points to %d subtrees", (int)pieces);
}

// Messages of bytes_out and bytes_in. Threads copy them beside the work of the device's stream.
static sap_status exchange(const sap_moving_share* m, const void* send, void* receive) {
    sap_device* device = m->tree->device;
    sap_comm* comm = m->tree->comm;
    const sap_cluster_ops* ops = device->rooms.cluster;
    void* stream = comm->of_engine ? ops->messages(device) : ops->stream(device);
    return sap_comm_exchange_there(comm, device, stream, send, m->bytes_out, receive, m->bytes_in);
}

// So many bytes for each point; what stays is in its place.
static sap_status exchange_all(const sap_moving_share* m, int64_t bytes, const void* send, void* receive) {
    const sap_comm* comm = m->tree->comm;
    for (int32_t r = 0; r < comm->size; r++) {
        m->bytes_out[r] = r == comm->rank ? 0 : m->send[r] * bytes;
        m->bytes_in[r] = r == comm->rank ? 0 : m->receive[r] * bytes;
    }
    return exchange(m, send, receive);
}

static sap_status exchange_marks(const sap_moving_share* m, const sap_share_move* move) {
    const sap_comm* comm = m->tree->comm;
    const int64_t* first = move->first_ids;
    memset(m->bytes_out, 0, (size_t)comm->size * sizeof *m->bytes_out);
    for (int32_t i = 0; i < move->pieces; i++)
        m->bytes_out[m->cut->pieces[i].owner] += sap_share_marks_of(first[comm->rank + 1] - first[comm->rank]).bytes;
    for (int32_t r = 0; r < comm->size; r++)
        m->bytes_in[r] = move->own * sap_share_marks_of(first[r + 1] - first[r]).bytes;
    return exchange(m, move->send_marks, move->receive_marks);
}

static void name_pieces(const sap_moving_share* m, const sap_share_move* move) {
    for (int32_t i = 0; i < m->pieces; i++) {
        sap_cluster_piece* piece = &m->tree->pieces[i];
        m->tree->device->rooms.cluster->name(m->cut->share, move, i, &piece->there, &piece->there_room);
    }
}

// The points of two ranks, part by part: while one is on its way, the next is packed. With the last one points are named, for
// which their marks suffice.
static sap_status exchange_parts(const sap_moving_share* m, const sap_share_move* move) {
    const int64_t width = (int64_t)m->tree->dims * m->tree->real_bits / 8;
    sap_device* device = m->tree->device;
    const sap_cluster_ops* ops = device->rooms.cluster;
    const int32_t own = m->tree->comm->rank, other = 1 - own;
    int64_t ends[2][SAP_SHARE_PARTS], out = 0, in = 0;
    sap_status status = sap_comm_gather(m->tree->comm, device, move->ends, (int64_t)sizeof move->ends, ends);
    for (int32_t part = 0; part < move->parts && status == SAP_OK; part++) {
        (void)ops->wait(ops->stream(device)); // for this part; if it failed, the exchange fails, too
        if (part + 1 < move->parts)
            ops->pack_part(m->cut->share, move, part + 1);
        else if (!move->id_bytes)
            name_pieces(m, move);
        m->bytes_out[own] = m->bytes_in[own] = 0;
        m->bytes_out[other] = (ends[own][part] - out) * width;
        m->bytes_in[other] = (ends[other][part] - in) * width;
        status = exchange(m, (const unsigned char*)move->send_coords + out * width,
                          (unsigned char*)move->receive_coords + in * width);
        out = ends[own][part];
        in = ends[other][part];
    }
    return status;
}

static sap_status exchange_points(const sap_moving_share* m, const sap_share_move* move) {
    const int64_t width = (int64_t)m->tree->dims * m->tree->real_bits / 8;
    sap_status status = move->id_bytes ? SAP_OK : exchange_marks(m, move);
    if (status != SAP_OK) return status;
    if (move->parts > 1) {
        status = exchange_parts(m, move);
    } else {
        if (!move->id_bytes) name_pieces(m, move);
        status = exchange_all(m, width, move->send_coords, move->receive_coords);
    }
    if (status == SAP_OK && move->id_bytes) {
        status = exchange_all(m, move->id_bytes, move->send_ids, move->receive_ids);
        name_pieces(m, move);
    }
    return status;
}

// Two ranks that are threads of one process send points while others are packed, if there are enough of them.
static int32_t parts_of(const sap_moving_share* m) {
    const sap_comm* comm = m->tree->comm;
    if (comm->size != 2 || !comm->of_engine) return 1;
    const int64_t parts = (m->send[1 - comm->rank] + m->receive[1 - comm->rank]) / sap_share_part_least;
    return parts < 1 ? 1 : parts < SAP_SHARE_PARTS ? (int32_t)parts : SAP_SHARE_PARTS;
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
    const sap_status status = tree->device->rooms.cluster->unpack(m->cut->share, move, i, piece->there, &rows);
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
                           .parts = parts_of(m),
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
    if (status == SAP_OK) status = exchange_points(m, &move);
    if (status == SAP_OK) status = sap_comm_agree(comm, device, build_pieces(m, &move), NULL, 0);
    sap_scratch_give(device, &scratch);
    return status;
}
