// Points go where the cut sends them, all at once; then this rank builds its subtrees over them.
#include "base/assert.h"
#include "cluster/cluster.h"
#include <stdlib.h>
#include <string.h>

// One exchange of points: how many go where, and what goes.
typedef struct moving {
    sap_cluster_tree* tree;
    const sap_cut* cut;
    int64_t first_id;
    size_t width;                                   // bytes of a point's coordinates
    int32_t pieces;                                 // of this rank
    int32_t first;                                  // of them, among all
    int64_t *send, *receive, *bytes_out, *bytes_in; // [ranks]
    int64_t* counts;                                // [ranks][pieces] that come; before that, what goes: [all pieces]
    int64_t* leaving;                               // [all pieces]
    int64_t sent, received;
    unsigned char *out, *in; // coordinates
    int64_t *ids_out, *ids_in;
    sap_scratch lists, points;
} moving;

static sap_status no_memory(const moving* m, int64_t points) {
    return sap_fail(m->tree->device, SAP_ERROR_MEMORY, "no memory to move %lld points", (long long)points);
}

// Tells the owner of each subtree how many points of it come from here.
static sap_status exchange_counts(moving* m) {
    const int32_t ranks = m->tree->comm->size;
    const sap_cut* cut = m->cut;
    memset(m->bytes_out, 0, (size_t)ranks * sizeof(int64_t));
    memset(m->send, 0, (size_t)ranks * sizeof(int64_t));
    for (int32_t i = 0; i < cut->piece_count; i++) {
        const sap_cut_node* p = &cut->pieces[i];
        m->leaving[i] = p->end - p->begin;
        m->bytes_out[p->owner] += (int64_t)sizeof(int64_t);
        m->send[p->owner] += m->leaving[i];
    }
    for (int32_t r = 0; r < ranks; r++) m->bytes_in[r] = m->pieces * (int64_t)sizeof(int64_t);
    const sap_status status =
        sap_comm_exchange(m->tree->comm, m->tree->device, m->leaving, m->bytes_out, m->counts, m->bytes_in);
    if (status != SAP_OK) return status;
    for (int32_t r = 0; r < ranks; r++) {
        m->receive[r] = 0;
        for (int32_t i = 0; i < m->pieces; i++) m->receive[r] += m->counts[(int64_t)r * m->pieces + i];
        m->received += m->receive[r];
        if (r != m->tree->comm->rank) m->tree->moved += m->receive[r];
    }
    return SAP_OK;
}

static void pack(const moving* m) {
    const sap_cut* cut = m->cut;
    const unsigned char* coords = cut->rows->coords;
    const size_t pitch = (size_t)cut->rows->stride * (size_t)cut->rows->real_bits / 8;
    int64_t at = 0;
    for (int32_t i = 0; i < cut->piece_count; i++)
        for (int64_t p = cut->pieces[i].begin; p < cut->pieces[i].end; p++, at++) {
            const int32_t row = cut->order[p];
            memcpy(m->out + (size_t)at * m->width, coords + (size_t)row * pitch, m->width);
            m->ids_out[at] = cut->ids ? cut->ids[row] : m->first_id + row;
        }
    SAP_ASSERT(at == m->sent);
}

static sap_status exchange_points(moving* m) {
    sap_comm* comm = m->tree->comm;
    for (int pass = 0; pass < 2; pass++) {
        const int64_t width = pass ? (int64_t)sizeof(int64_t) : (int64_t)m->width;
        for (int32_t r = 0; r < comm->size; r++) {
            m->bytes_out[r] = m->send[r] * width;
            m->bytes_in[r] = m->receive[r] * width;
        }
        const void* out = pass ? (const void*)m->ids_out : m->out;
        void* in = pass ? (void*)m->ids_in : m->in;
        const sap_status status = sap_comm_exchange(comm, m->tree->device, out, m->bytes_out, in, m->bytes_in);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// ---- One subtree's points in the order of their ids

typedef struct arrival {
    int64_t id, at;
} arrival;

static int before(const void* a, const void* b) {
    const arrival *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

// Lists what came for subtree number i: ids and places, by id.
static void list_arrivals(const moving* m, int32_t i, arrival* list) {
    int64_t at = 0, count = 0;
    bool ascends = true;
    for (int32_t r = 0; r < m->tree->comm->size; r++)
        for (int32_t j = 0; j < m->pieces; j++)
            for (int64_t n = m->counts[(int64_t)r * m->pieces + j]; n > 0; n--, at++) {
                if (j != i) continue;
                ascends = ascends && (!count || list[count - 1].id <= m->ids_in[at]);
                list[count++] = (arrival){m->ids_in[at], at};
            }
    if (!ascends) qsort(list, (size_t)count, sizeof *list, before);
}

static sap_status build_piece(moving* m, int32_t i, int64_t count) {
    sap_cluster_tree* tree = m->tree;
    const sap_cut_node* node = &m->cut->pieces[m->first + i];
    sap_cluster_piece* piece = &tree->pieces[i];
    const size_t list_bytes = sap_align((size_t)count * sizeof(arrival));
    sap_scratch scratch = {NULL, 0};
    piece->ids = sap_memory_allocate(tree->device, (size_t)count * sizeof(int64_t));
    piece->count = count;
    piece->depth = node->depth;
    piece->index = node->index;
    piece->subtree = m->first + i;
    tree->piece_count = i + 1;
    tree->count_here += count;
    if (!piece->ids || !sap_scratch_take(tree->device, list_bytes + (size_t)count * m->width + 1, &scratch))
        return no_memory(m, count);
    arrival* list = (arrival*)(void*)scratch.memory;
    unsigned char* coords = scratch.memory + list_bytes;
    list_arrivals(m, i, list);
    for (int64_t p = 0; p < count; p++) {
        piece->ids[p] = list[p].id;
        memcpy(coords + (size_t)p * m->width, m->in + (size_t)list[p].at * m->width, m->width);
    }
    piece->first = -1;
    if (count && piece->ids[count - 1] - piece->ids[0] == count - 1) piece->first = piece->ids[0];
    const sap_rows rows = {coords, count, tree->dims, tree->dims, tree->real_bits};
    const sap_slice slice = {tree->count, node->index << (tree->depth - node->depth), node->depth};
    const sap_status status = sap_tree_build_slice(tree->device, &rows, &tree->options, &slice, &piece->tree);
    sap_scratch_give(tree->device, &scratch);
    return status;
}

static sap_status build_pieces(moving* m) {
    for (int32_t i = 0; i < m->pieces; i++) {
        int64_t count = 0;
        for (int32_t r = 0; r < m->tree->comm->size; r++) count += m->counts[(int64_t)r * m->pieces + i];
        SAP_ASSERT(count == m->cut->pieces[m->first + i].high - m->cut->pieces[m->first + i].low);
        if (count > INT32_MAX)
            return sap_fail(m->tree->device, SAP_ERROR_RANGE,
                            "points: a rank would have to hold %lld, more than 2^31-1", (long long)count);
        const sap_status status = build_piece(m, i, count);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// ---- All of it

static sap_status make_lists(moving* m) {
    sap_cluster_tree* tree = m->tree;
    const size_t ranks = (size_t)tree->comm->size, all = (size_t)m->cut->piece_count;
    const size_t words = 4 * ranks + ranks * (size_t)m->pieces + all;
    tree->most_pieces = m->cut->piece_count;
    tree->pieces = sap_memory_allocate_zero(tree->device, all * sizeof *tree->pieces);
    tree->planes = sap_memory_allocate(tree->device, all * sizeof *tree->planes); // one less would do
    if (!tree->pieces || !tree->planes || !sap_scratch_take(tree->device, words * sizeof(int64_t), &m->lists))
        return no_memory(m, m->sent);
    memcpy(tree->planes, m->cut->planes, (size_t)m->cut->plane_count * sizeof *tree->planes);
    tree->plane_count = m->cut->plane_count;
    m->send = (int64_t*)(void*)m->lists.memory;
    m->receive = m->send + ranks;
    m->bytes_out = m->receive + ranks;
    m->bytes_in = m->bytes_out + ranks;
    m->leaving = m->bytes_in + ranks;
    m->counts = m->leaving + all;
    return SAP_OK;
}

static sap_status make_room(moving* m) {
    const size_t out = sap_align((size_t)m->sent * m->width), ids_out = sap_align((size_t)m->sent * sizeof(int64_t));
    size_t in, ids_in, bytes;
    const bool fits = sap_size_multiply((uint64_t)m->received, m->width, &in) &&
                      sap_size_multiply((uint64_t)m->received, sizeof(int64_t), &ids_in) &&
                      in < SIZE_MAX / 4 - SAP_ALIGNMENT && sap_size_add(out + ids_out, sap_align(in), &bytes) &&
                      sap_size_add(bytes, ids_in, &bytes);
    if (!fits || !sap_scratch_take(m->tree->device, bytes + 1, &m->points)) return no_memory(m, m->received);
    m->out = m->points.memory;
    m->ids_out = (int64_t*)(void*)(m->out + out);
    m->in = m->out + out + ids_out;
    m->ids_in = (int64_t*)(void*)(m->in + sap_align(in));
    return SAP_OK;
}

sap_status sap_cluster_move(sap_cluster_tree* tree, const sap_cut* cut, int64_t first_id) {
    sap_comm* comm = tree->comm;
    moving m = {.tree = tree, .cut = cut, .first_id = first_id, .sent = cut->given};
    m.width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    for (int32_t i = 0; i < cut->piece_count; i++) {
        if (cut->pieces[i].owner != comm->rank) continue;
        if (!m.pieces++) m.first = i;
    }
    sap_status status = sap_comm_agree(comm, tree->device, make_lists(&m), NULL, 0);
    if (status == SAP_OK) status = exchange_counts(&m);
    if (status == SAP_OK) status = sap_comm_agree(comm, tree->device, make_room(&m), NULL, 0);
    if (status == SAP_OK) {
        pack(&m);
        status = exchange_points(&m);
    }
    if (status == SAP_OK) status = sap_comm_agree(comm, tree->device, build_pieces(&m), NULL, 0);
    sap_scratch_give(tree->device, &m.lists);
    sap_scratch_give(tree->device, &m.points);
    return status;
}
