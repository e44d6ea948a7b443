// Points go where the cut sends them, all at once; then this rank builds its subtrees over them.
#include "base/assert.h"
#include "base/team.h"
#include "cluster/cluster.h"
#include <string.h>

enum {
    PACKED_AT_ONCE = 8192, // points, by a thread
    NAMED_AT_ONCE = 1024,  // leaves
    AHEAD = 8,             // leaves, of which memory is asked for the ids
    LINE = 16              // ids in a line of it
};

// One exchange of points: how many go where, and what goes.
typedef struct moving {
    sap_cluster_tree* tree;
    const sap_cut* cut;
    size_t width;                                   // bytes of a point's coordinates
    int32_t pieces;                                 // of this rank
    int32_t first;                                  // of them, among all
    int64_t *send, *receive, *bytes_out, *bytes_in; // [ranks]
    int64_t* counts;                                // [ranks][pieces] that come; before that, what goes: [all pieces]
    int64_t* leaving;                               // [all pieces]
    int64_t sent, received;                         // to and from other ranks
    unsigned char *out, *in;                        // for each rank the coordinates of all its points, then their ids
    sap_scratch lists, leaving_points, arriving_points;
} moving;

static sap_status no_memory(const moving* m, int64_t points) {
    return sap_fail(m->tree->device, SAP_ERROR_MEMORY, "no memory to move %lld points", (long long)points);
}

// Tells the owner of each subtree how many points of it come from here.
static sap_status exchange_counts(moving* m) {
    const int32_t ranks = m->tree->comm->size;
    const sap_cut* cut = m->cut;
    int64_t gone = 0;
    memset(m->bytes_out, 0, (size_t)ranks * sizeof(int64_t));
    memset(m->send, 0, (size_t)ranks * sizeof(int64_t));
    for (int32_t i = 0; i < cut->piece_count; i++) {
        const sap_cut_node* p = &cut->pieces[i];
        SAP_ASSERT(p->begin == gone || p->begin == p->end);
        m->leaving[i] = p->end - p->begin;
        gone += m->leaving[i];
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
        if (r == m->tree->comm->rank) m->send[r] = m->receive[r] = 0; // they are here
        m->received += m->receive[r];
        m->sent += m->send[r];
    }
    m->tree->moved = m->received;
    return SAP_OK;
}

// Of this rank's rows, if no ids were given.
static int64_t first_id(const moving* m) { return m->cut->first_ids[m->tree->comm->rank]; }

static int64_t id_of(const moving* m, int32_t row) { return m->cut->ids ? m->cut->ids[row] : first_id(m) + row; }

static const unsigned char* point_of(const moving* m, int32_t row) {
    const sap_rows* rows = m->cut->rows;
    return (const unsigned char*)rows->coords + (size_t)row * (size_t)rows->stride * (size_t)rows->real_bits / 8;
}

// A point's coordinates. What most points have is no call.
static void copy_point(const moving* m, unsigned char* to, const unsigned char* point) {
    if (m->width == 3 * sizeof(float))
        memcpy(to, point, 3 * sizeof(float));
    else
        memcpy(to, point, m->width);
}

// Points from number `from` to `to` - 1 of those that leave: rank by rank, as in the order of the cut, but for those that
// stay.
static void pack(void* context, int64_t from, int64_t to, int32_t worker) {
    const moving* m = context;
    const int32_t* rows = m->cut->order;
    int64_t first = 0;
    (void)worker;
    for (int32_t r = 0; r < m->tree->comm->size && first < to; first += m->send[r++]) {
        const int64_t count = m->send[r], end = to - first < count ? to - first : count;
        unsigned char* coords = m->out + (size_t)first * (m->width + sizeof(int64_t));
        unsigned char* ids = coords + (size_t)count * m->width;
        if (r == m->tree->comm->rank) rows += m->cut->given - m->sent;
        for (int64_t p = from > first ? from - first : 0; p < end; p++) {
            const int64_t id = id_of(m, rows[first + p]);
            copy_point(m, coords + (size_t)p * m->width, point_of(m, rows[first + p]));
            memcpy(ids + (size_t)p * sizeof id, &id, sizeof id);
        }
    }
}

static sap_status exchange_points(moving* m) {
    sap_comm* comm = m->tree->comm;
    const int64_t width = (int64_t)(m->width + sizeof(int64_t));
    for (int32_t r = 0; r < comm->size; r++) {
        m->bytes_out[r] = m->send[r] * width;
        m->bytes_in[r] = m->receive[r] * width;
    }
    return sap_comm_exchange(comm, m->tree->device, m->out, m->bytes_out, m->in, m->bytes_in);
}

// ---- One subtree's points in the order of their ids

typedef struct arrival {
    int64_t id;
    const unsigned char* point;
} arrival;

// What there is for a subtree from one rank: `rows` of this one's, or what came from another.
typedef struct part {
    const int32_t* rows;
    const unsigned char *coords, *ids;
    int64_t count;
} part;

// Visits the parts of subtree number i: from lower ranks, from here, from higher ranks. `at` goes on with each in what came.
static part next_part(const moving* m, int32_t i, int32_t rank, const unsigned char** at) {
    const sap_cut_node* node = &m->cut->pieces[m->first + i];
    if (rank == m->tree->comm->rank) return (part){m->cut->order + node->begin, NULL, NULL, node->end - node->begin};
    const int64_t* counts = m->counts + (int64_t)rank * m->pieces;
    size_t skipped = 0;
    for (int32_t j = 0; j < i; j++) skipped += (size_t)counts[j];
    const unsigned char* ids = *at + (size_t)m->receive[rank] * m->width;
    const part p = {NULL, *at + skipped * m->width, ids + skipped * sizeof(int64_t), counts[i]};
    *at = ids + (size_t)m->receive[rank] * sizeof(int64_t);
    return p;
}

// Whether the ids, which are copied, ascend.
static bool copy_ids(const moving* m, int32_t i, int64_t* ids) {
    const unsigned char* at = m->in;
    int64_t count = 0;
    bool ascends = true;
    for (int32_t r = 0; r < m->tree->comm->size; r++) {
        const part p = next_part(m, i, r, &at);
        if (p.rows)
            for (int64_t n = 0; n < p.count; n++) ids[count + n] = id_of(m, p.rows[n]);
        else if (p.count)
            memcpy(ids + count, p.ids, (size_t)p.count * sizeof *ids);
        for (int64_t n = count; n < count + p.count && ascends; n++) ascends = !n || ids[n - 1] <= ids[n];
        count += p.count;
    }
    return ascends;
}

static void copy_coords(const moving* m, int32_t i, unsigned char* coords) {
    const unsigned char* at = m->in;
    for (int32_t r = 0; r < m->tree->comm->size; r++) {
        const part p = next_part(m, i, r, &at);
        const size_t bytes = (size_t)p.count * m->width;
        for (int64_t n = 0; n < p.count && p.rows; n++)
            copy_point(m, coords + (size_t)n * m->width, point_of(m, p.rows[n]));
        if (p.count && !p.rows) memcpy(coords, p.coords, bytes);
        coords += bytes;
    }
}

static void list_arrivals(const moving* m, int32_t i, const int64_t* ids, arrival* list) {
    const unsigned char* at = m->in;
    for (int32_t r = 0; r < m->tree->comm->size; r++) {
        const part p = next_part(m, i, r, &at);
        for (int64_t n = 0; n < p.count; n++)
            *list++ = (arrival){*ids++, p.rows ? point_of(m, p.rows[n]) : p.coords + (size_t)n * m->width};
    }
}

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

// Orders a list by its ids, of equal ones by what comes first: digit by digit, but those that all have. The result is in
// either array.
static arrival* sort_arrivals(arrival* list, arrival* other, int64_t count) {
    uint64_t differ = 0;
    for (int64_t i = 1; i < count; i++) differ |= (uint64_t)(list[i].id ^ list[0].id);
    for (int shift = 0; shift < 63; shift += DIGIT) {
        int64_t starts[DIGITS] = {0}, at = 0;
        if (!(differ >> shift & (DIGITS - 1))) continue;
        for (int64_t i = 0; i < count; i++) starts[list[i].id >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const int64_t here = starts[d];
            starts[d] = at;
            at += here;
        }
        for (int64_t i = 0; i < count; i++) other[starts[list[i].id >> shift & (DIGITS - 1)]++] = list[i];
        arrival* sorted = other;
        other = list;
        list = sorted;
    }
    return list;
}

// The coordinates, and the ids in their order, which is that of arrival as a rule.
static bool order_points(const moving* m, int32_t i, int64_t count, int64_t* ids, sap_scratch* coords) {
    sap_device* device = m->tree->device;
    const size_t coords_bytes = (size_t)count * m->width, list_bytes = (size_t)count * sizeof(arrival);
    sap_scratch list = {NULL, 0};
    if (copy_ids(m, i, ids)) {
        if (!sap_scratch_take(device, coords_bytes + 1, coords)) return false;
        copy_coords(m, i, coords->memory);
        return true;
    }
    if (!sap_scratch_take(device, list_bytes, &list)) return false;
    const bool taken = sap_scratch_take(device, list_bytes > coords_bytes ? list_bytes : coords_bytes, coords);
    if (taken) {
        arrival *in = (arrival*)(void*)list.memory, *other = (arrival*)(void*)coords->memory;
        list_arrivals(m, i, ids, in);
        const arrival* sorted = sort_arrivals(in, other, count);
        if (sorted != in) memcpy(in, sorted, list_bytes);
        for (int64_t p = 0; p < count; p++) {
            ids[p] = in[p].id;
            memcpy(coords->memory + (size_t)p * m->width, in[p].point, m->width);
        }
    }
    sap_scratch_give(device, &list);
    return taken;
}

typedef struct naming {
    const sap_tree* tree;
    const int64_t* ids; // by place
    int32_t* places;
} naming;

// A leaf's ids.
static int32_t* held_of(const sap_tree* tree, int64_t leaf) {
    const sap_tree_shape* s = &tree->shape;
    unsigned char* block = sap_block(tree, leaf * s->stride);
    return (int32_t*)(void*)(block + (size_t)s->dims * (size_t)s->stride * sap_real_bytes(s));
}

static void name_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const naming* n = context;
    const sap_tree_shape* s = &n->tree->shape;
    (void)worker;
    for (int64_t leaf = from; leaf < to; leaf++) {
        int32_t *held = held_of(n->tree, leaf), *later = held_of(n->tree, leaf + AHEAD < to ? leaf + AHEAD : leaf);
        int32_t* places = n->places + leaf * s->stride;
        const int64_t count = sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
        for (int32_t i = 0; i < s->stride; i += LINE) __builtin_prefetch(&later[i], 1); // too far apart to be foreseen
        for (int64_t i = 0; i < count; i++) {
            places[i] = held[i];
            held[i] = (int32_t)n->ids[held[i]];
        }
    }
}

// Puts global ids into a subtree's leaves: what a search finds has its name then, which would be looked up for each
// neighbour, far from all else that is looked at. The places go to `spare`, then where the ids were.
static bool name_points(sap_device* device, sap_cluster_piece* piece, sap_scratch* spare) {
    sap_tree* tree = piece->tree;
    const sap_tree_shape* s = &tree->shape;
    const size_t bytes = (size_t)s->slots * sizeof(int32_t);
    if (spare->bytes < bytes) sap_scratch_give(device, spare);
    if (!spare->memory && !sap_scratch_take(device, bytes, spare)) return false;
    const naming n = {tree, piece->ids, (int32_t*)(void*)spare->memory};
    sap_team_loop(device->options.threads, s->leaves, NAMED_AT_ONCE, name_leaves, (void*)&n);
    for (int32_t j = 0; j < s->levels; j++) {
        int32_t* least = (int32_t*)(void*)(tree->arrays + s->min_id_at[j]);
        for (int64_t i = 0; i < SAP_GROUP * sap_level_groups(s, j); i++)
            if (least[i] != INT32_MAX) least[i] = (int32_t)piece->ids[least[i]];
    }
    if (piece->count) tree->shape.source_count = piece->ids[piece->count - 1] + 1; // as verification expects of ids
    if (!sap_cluster_make_ids(device, piece, s->slots / 2 + 1)) return false;
    memcpy(piece->ids, spare->memory, bytes);
    piece->places = (int32_t*)(void*)piece->ids;
    piece->first = 0;
    return true;
}

// Whether all global ids are such as leaves hold.
static bool are_narrow(const moving* m) {
    return m->cut->ids ? m->cut->largest_id < INT32_MAX : m->tree->source_count <= INT32_MAX;
}

static sap_status build_piece(moving* m, int32_t i, int64_t count) {
    sap_cluster_tree* tree = m->tree;
    const sap_cut_node* node = &m->cut->pieces[m->first + i];
    sap_cluster_piece* piece = &tree->pieces[i];
    sap_tree_options options = tree->options;
    options.drop_nonfinite = false; // none is left
    const sap_slice slice = {tree->count, node->index << (tree->depth - node->depth), node->depth};
    sap_scratch coords = {NULL, 0};
    piece->places = NULL;
    piece->first = -1;
    piece->count = count;
    piece->depth = node->depth;
    piece->index = node->index;
    piece->subtree = m->first + i;
    tree->piece_count = i + 1;
    tree->count_here += count;
    // One rank's points are all of them, as they were given.
    if (tree->comm->size == 1 && !m->cut->ids && count == m->cut->rows->count) {
        piece->first = first_id(m);
        return sap_tree_rebuild_slice(tree->device, m->cut->rows, &options, &slice, &piece->tree);
    }
    sap_status status = SAP_OK;
    if (!sap_cluster_make_ids(tree->device, piece, count) || !order_points(m, i, count, piece->ids, &coords))
        status = no_memory(m, count);
    if (i + 1 == m->pieces) sap_scratch_give(tree->device, &m->arriving_points); // what is built now may lie there
    const sap_rows rows = {coords.memory, count, tree->dims, tree->dims, tree->real_bits};
    if (status == SAP_OK) status = sap_tree_rebuild_slice(tree->device, &rows, &options, &slice, &piece->tree);
    if (status == SAP_OK && are_narrow(m) && !name_points(tree->device, piece, &coords)) status = no_memory(m, count);
    sap_scratch_give(tree->device, &coords);
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
    if (!sap_cluster_make_lists(tree, m->cut) || !sap_scratch_take(tree->device, words * sizeof(int64_t), &m->lists))
        return no_memory(m, m->cut->given);
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
    const size_t each = m->width + sizeof(int64_t);
    size_t in;
    const bool fits = sap_size_multiply((uint64_t)m->received, each, &in) && in < SIZE_MAX / 4;
    const size_t out = (size_t)m->sent * each;
    if (!fits || !sap_scratch_take(m->tree->device, out + 1, &m->leaving_points) ||
        !sap_scratch_take(m->tree->device, in + 1, &m->arriving_points))
        return no_memory(m, m->received);
    m->out = m->leaving_points.memory;
    m->in = m->arriving_points.memory;
    return SAP_OK;
}

static sap_status move_share(const moving* m) {
    const sap_moving_share share = {m->tree,    m->cut,       m->pieces,   m->first,  m->send,
                                    m->receive, m->bytes_out, m->bytes_in, m->counts, m->leaving};
    return sap_cluster_move_share(&share);
}

static sap_status move_rows(moving* m) {
    sap_device* device = m->tree->device;
    sap_comm* comm = m->tree->comm;
    sap_status status = sap_comm_agree(comm, device, make_room(m), NULL, 0);
    if (status == SAP_OK) {
        sap_team_loop(device->options.threads, m->sent, PACKED_AT_ONCE, pack, m);
        status = exchange_points(m);
    }
    sap_scratch_give(device, &m->leaving_points); // what is built next may lie there
    if (status == SAP_OK) status = sap_comm_agree(comm, device, build_pieces(m), NULL, 0);
    sap_scratch_give(device, &m->arriving_points);
    return status;
}

sap_status sap_cluster_move(sap_cluster_tree* tree, const sap_cut* cut) {
    sap_comm* comm = tree->comm;
    moving m = {.tree = tree, .cut = cut};
    m.width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    for (int32_t i = 0; i < cut->piece_count; i++) {
        if (cut->pieces[i].owner != comm->rank) continue;
        if (!m.pieces++) m.first = i;
    }
    sap_status status = sap_comm_agree(comm, tree->device, make_lists(&m), NULL, 0);
    if (status == SAP_OK) status = exchange_counts(&m);
    if (status == SAP_OK) status = cut->share ? move_share(&m) : move_rows(&m);
    sap_scratch_give(tree->device, &m.lists);
    return status;
}
