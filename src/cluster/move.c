// Points go where the cut sends them, all at once; then this rank builds its subtrees over them.
#include "base/assert.h"
#include "base/team.h"
#include "cluster/cluster.h"
#include "tree/balanced/filled.h"
#include <string.h>

enum { PACKED_AT_ONCE = 8192 }; // points, by a thread

// One exchange of points: how many go where, and what goes.
typedef struct moving {
    sap_cluster_tree* tree;
    const sap_cut* cut;
    size_t width;                                   // bytes of a point's coordinates …
    size_t id_bytes;                                // … and of its id, as it is sent: none splits a double behind it
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

// Coordinates of rows, without gaps. What most points have is no call.
static void pack_coords(const sap_rows* given, const int32_t* rows, int64_t count, const size_t width,
                        unsigned char* to) {
    const unsigned char* coords = given->coords;
    const size_t pitch = (size_t)given->stride * (size_t)given->real_bits / 8;
    for (int64_t p = 0; p < count; p++) memcpy(to + (size_t)p * width, coords + (size_t)rows[p] * pitch, width);
}

static void pack_ids(const moving* m, const int32_t* rows, int64_t count, unsigned char* to) {
    const int64_t *ids = m->cut->ids, first = first_id(m);
    const size_t bytes = m->id_bytes;
    for (int64_t p = 0; p < count; p++) {
        const int64_t id = ids ? ids[rows[p]] : first + rows[p];
        const int32_t narrow = (int32_t)id;
        if (bytes == sizeof narrow)
            memcpy(to + (size_t)p * sizeof narrow, &narrow, sizeof narrow);
        else
            memcpy(to + (size_t)p * sizeof id, &id, sizeof id);
    }
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
        const int64_t begin = from > first ? from - first : 0;
        unsigned char* coords = m->out + (size_t)first * (m->width + m->id_bytes);
        unsigned char* ids = coords + (size_t)count * m->width + (size_t)begin * m->id_bytes;
        if (r == m->tree->comm->rank) rows += m->cut->given - m->sent;
        if (begin >= end) continue;
        coords += (size_t)begin * m->width;
        if (m->width == 3 * sizeof(float))
            pack_coords(m->cut->rows, rows + first + begin, end - begin, 3 * sizeof(float), coords);
        else
            pack_coords(m->cut->rows, rows + first + begin, end - begin, m->width, coords);
        pack_ids(m, rows + first + begin, end - begin, ids);
    }
}

static sap_status exchange_points(moving* m) {
    sap_comm* comm = m->tree->comm;
    const int64_t width = (int64_t)(m->width + m->id_bytes);
    for (int32_t r = 0; r < comm->size; r++) {
        m->bytes_out[r] = m->send[r] * width;
        m->bytes_in[r] = m->receive[r] * width;
    }
    return sap_comm_exchange(comm, m->tree->device, m->out, m->bytes_out, m->in, m->bytes_in);
}

// ---- One subtree's points in the order of their ids

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
    const part p = {NULL, *at + skipped * m->width, ids + skipped * m->id_bytes, counts[i]};
    *at = ids + (size_t)m->receive[rank] * m->id_bytes;
    return p;
}

// What a subtree is built over.
typedef struct gathering {
    const moving* m;
    int32_t piece;          // of this rank
    int64_t* ids;           // that are looked up by places; NULL: leaves hold ids
    const sap_listed* list; // in the order of ids; NULL: points come in it
    const sap_columns* columns;
    int64_t end; // one above the largest id
} gathering;

// Some of these points: at rows of this rank, from another one, or in the list.
typedef struct filling {
    const gathering* g;
    part from;
    int64_t first; // place
} filling;

static inline int64_t sent_id(const part* p, size_t bytes, int64_t n) {
    int64_t id;
    int32_t narrow;
    if (bytes == sizeof narrow)
        memcpy(&narrow, p->ids + (size_t)n * sizeof narrow, sizeof narrow);
    else
        memcpy(&id, p->ids + (size_t)n * sizeof id, sizeof id);
    return bytes == sizeof narrow ? narrow : id;
}

// Whether ids ascend as points come, and no two are the same.
static bool is_in_order(const gathering* g) {
    const unsigned char* at = g->m->in;
    int64_t last = -1;
    bool ascends = true;
    if (!g->m->cut->ids) return true; // as ranks and rows do
    for (int32_t r = 0; r < g->m->tree->comm->size; r++) {
        const part p = next_part(g->m, g->piece, r, &at);
        for (int64_t n = 0; n < p.count; n++) {
            const int64_t id = p.rows ? g->m->cut->ids[p.rows[n]] : sent_id(&p, g->m->id_bytes, n);
            ascends &= last < id;
            last = id;
        }
    }
    return ascends;
}

static void list_arrivals(const gathering* g, sap_listed* list) {
    const unsigned char* at = g->m->in;
    for (int32_t r = 0; r < g->m->tree->comm->size; r++) {
        const part p = next_part(g->m, g->piece, r, &at);
        for (int64_t n = 0; n < p.count; n++) {
            const int64_t id = p.rows ? id_of(g->m, p.rows[n]) : sent_id(&p, g->m->id_bytes, n);
            *list++ = (sap_listed){id, p.rows ? point_of(g->m, p.rows[n]) : p.coords + (size_t)n * g->m->width};
        }
    }
}

// Where points do not come in the order of their ids, lists them in it; *same: whether some ids are the same.
static bool list_in_order(gathering* g, int64_t count, sap_scratch* list, bool* same) {
    sap_device* device = g->m->tree->device;
    const size_t bytes = (size_t)count * sizeof(sap_listed);
    sap_scratch other = {NULL, 0};
    *same = false;
    if (is_in_order(g)) return true;
    const bool taken = sap_scratch_take(device, bytes, list) && sap_scratch_take(device, bytes, &other);
    if (taken) {
        sap_listed* in = (sap_listed*)(void*)list->memory;
        list_arrivals(g, in);
        const sap_listed* sorted = sap_cluster_sort(in, (sap_listed*)(void*)other.memory, count);
        if (sorted != in) memcpy(in, sorted, bytes);
        for (int64_t p = 1; p < count; p++) *same = *same || in[p].id == in[p - 1].id;
        g->list = in;
    }
    sap_scratch_give(device, &other);
    return taken;
}

// Minus zero becomes zero, as the builder wants it.
#define FILL(real)                                                                                                     \
    static inline void fill_##real(const filling* f, int64_t from, int64_t to, const int32_t dims) {                   \
        const sap_columns columns = *f->g->columns;                                                                    \
        const sap_rows* given = f->g->m->cut->rows;                                                                    \
        const sap_listed* list = f->g->list ? f->g->list + f->first : NULL;                                            \
        const int32_t* rows = f->from.rows;                                                                            \
        const real* coords = rows ? given->coords : (const void*)f->from.coords;                                       \
        const int64_t stride = rows ? given->stride : dims;                                                            \
        /* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none */                                     \
        real* out = (real*)columns.coords + f->first;                                                                  \
        for (int64_t p = from; p < to; p++) {                                                                          \
            const real* x = list ? (const real*)(const void*)list[p].at : coords + (rows ? rows[p] : p) * stride;      \
            for (int32_t a = 0; a < dims; a++) out[a * columns.pitch + p] = x[a] + 0;                                  \
        }                                                                                                              \
    }
FILL(float)
FILL(double)

static void fill_ids(const filling* f, int64_t from, int64_t to) {
    const gathering* g = f->g;
    const part points = f->from;
    const size_t bytes = g->m->id_bytes;
    const sap_listed* list = g->list ? g->list + f->first : NULL;
    const int64_t *given = g->m->cut->ids, first_row = first_id(g->m), first = f->first;
    int32_t* held = g->columns->ids + first;
    int64_t* ids = g->ids ? g->ids + first : NULL;
    for (int64_t p = from; p < to; p++) {
        const int64_t id = list          ? list[p].id
                           : points.rows ? given ? given[points.rows[p]] : first_row + points.rows[p]
                                         : sent_id(&points, bytes, p);
        held[p] = (int32_t)(ids ? first + p : id);
        if (ids) ids[p] = id;
    }
}

static void fill_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const filling* f = context;
    const sap_rows* given = f->g->m->cut->rows;
    (void)worker;
    fill_ids(f, from, to);
    if (given->real_bits == 64)
        fill_double(f, from, to, given->dims);
    else if (given->dims == 3)
        fill_float(f, from, to, 3);
    else
        fill_float(f, from, to, given->dims);
}

// Puts a subtree's points where it is built.
static int64_t fill(void* context, const sap_columns* columns) {
    gathering* g = context;
    const moving* m = g->m;
    const unsigned char* at = m->in;
    filling f = {.g = g};
    g->columns = columns;
    for (int32_t r = 0; r < m->tree->comm->size; r++) {
        f.from = next_part(m, g->piece, r, &at);
        sap_team_loop(m->tree->device->options.threads, f.from.count, PACKED_AT_ONCE, fill_range, &f);
        f.first += f.from.count;
    }
    if (f.first) g->end = (int64_t)columns->ids[f.first - 1] + 1;
    return f.first;
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
    piece->places = NULL;
    piece->by_id = false;
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
    gathering g = {.m = m, .piece = i};
    sap_scratch list = {NULL, 0};
    bool same = false, fits = list_in_order(&g, count, &list, &same);
    // Narrow ids go into leaves: what a search finds has its name then, which would be looked up for each neighbour, far from
    // all else that is looked at.
    piece->by_id = are_narrow(m) && !same;
    if (piece->by_id) {
        piece->first = 0;
    } else {
        fits = fits && sap_cluster_make_ids(tree->device, piece, count);
        g.ids = piece->ids;
    }
    const sap_rows like = {NULL, count, tree->dims, tree->dims, tree->real_bits};
    const sap_filler filler = {fill, &g};
    sap_status status = fits ? SAP_OK : no_memory(m, count);
    if (status == SAP_OK) status = sap_tree_fill_slice(tree->device, &like, &options, &slice, &filler, &piece->tree);
    if (status == SAP_OK && piece->by_id) piece->tree->shape.source_count = g.end; // as verification expects of ids
    sap_scratch_give(tree->device, &list);
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
    const size_t each = m->width + m->id_bytes;
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
    m.id_bytes = tree->real_bits == 32 && are_narrow(&m) ? sizeof(int32_t) : sizeof(int64_t);
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
