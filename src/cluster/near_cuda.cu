// The k nearest points over ranks whose points lie on GPUs. A query goes to the rank whose part is nearest, then to those
// whose boxes are not farther than the k-th point found there. Points that a rank holds are answered where they lie, and
// only those near a border are sent.
#include "cluster/near_cuda.cuh"
#include "cluster/near_leaves_cuda.h"

extern "C" {
#include "cluster/cluster.h"
#include "cluster/ops.h"
#include "tree/limit.h"
}

// A search under way on this rank.
typedef struct near_search {
    sap_cuda_call call;
    const sap_cluster_tree* tree;
    sap_search search;                               // on subtrees
    double limit2;                                   // of the radius
    void* boxes;                                     // of all subtrees, on the GPU
    int32_t* owners;                                 // on the GPU
    int64_t *sent, *received, *bytes_out, *bytes_in; // [ranks]
    unsigned long long* counts;                      // [ranks] on the GPU
    sap_scratch lists;
} near_search;

// Pairs of a query and a rank that it goes to, rank by rank: n->sent of them.
typedef struct near_pairs {
    void* coords;
    int32_t* query;
    int64_t count, others; // of them those to other ranks, which come first
} near_pairs;

static sap_status agree(near_search* n) {
    const sap_status status = sap_comm_agree(n->tree->comm, n->call.device, n->call.status, NULL, 0);
    if (n->call.status == SAP_OK) n->call.status = status;
    return n->call.status;
}

// What an exchange came to.
static bool heard(near_search* n, sap_status status) {
    if (n->call.status == SAP_OK) n->call.status = status;
    return n->call.status == SAP_OK;
}

template <typename real> static near_top<real> top_of(const near_search* n) {
    const near_top<real> top = {(const real*)n->boxes, n->owners, (int)n->tree->top.count, (int)n->tree->dims};
    return top;
}

// ---- Begin and end

template <typename real> static void write_boxes(const sap_cluster_top* top, real* to) {
    const int64_t each = 2 * (int64_t)top->dims;
    for (int64_t i = 0; i < top->count * each; i++) to[i] = (real)top->boxes[top->leaves * each + i];
}

static void begin(near_search* n, const sap_cluster_tree* tree, const sap_search* search, double limit2) {
    const sap_cluster_top* top = &tree->top;
    const size_t ranks = (size_t)tree->comm->size, real = (size_t)tree->real_bits / 8;
    const size_t words = sap_align(4 * ranks * sizeof(int64_t));
    const size_t boxes = (size_t)top->count * 2 * (size_t)tree->dims * real;
    sap_cuda_call* call = &n->call;
    memset((void*)n, 0, sizeof *n);
    n->tree = tree;
    n->search = *search;
    n->limit2 = limit2;
    sap_cuda_begin(call, tree->device);
    call->waits = true; // in the caller's stream, too: ranks wait for one another
    if (call->status == SAP_OK && call->captured)
        call->status = sap_fail(call->device, SAP_ERROR_UNSUPPORTED,
                                "the stream is being captured, and ranks wait for one another");
    if (!sap_scratch_take(tree->device, words + boxes, &n->lists)) {
        if (call->status == SAP_OK)
            call->status = sap_fail(call->device, SAP_ERROR_MEMORY, "no memory for a search over ranks");
        return;
    }
    n->sent = (int64_t*)(void*)n->lists.memory;
    n->received = n->sent + ranks;
    n->bytes_out = n->received + ranks;
    n->bytes_in = n->bytes_out + ranks;
    unsigned char* here = n->lists.memory + words;
    if (real == 4)
        write_boxes(top, (float*)(void*)here);
    else
        write_boxes(top, (double*)(void*)here);
    n->boxes = sap_cuda_take(call, boxes);
    n->owners = (int32_t*)sap_cuda_take(call, (size_t)top->count * sizeof(int32_t));
    n->counts = (unsigned long long*)sap_cuda_take(call, ranks * sizeof *n->counts);
    sap_cuda_copy(call, n->boxes, here, boxes);
    sap_cuda_copy(call, n->owners, top->owners, (size_t)top->count * sizeof(int32_t));
}

static sap_status end(near_search* n) {
    sap_device* device = n->call.device;
    const sap_status status = sap_cuda_end(&n->call, SAP_OK);
    sap_scratch_give(device, &n->lists);
    return status;
}

template <typename real> static near_rows<real> take_rows(near_search* n, int64_t count) {
    const size_t cells = (size_t)count * (size_t)n->search.k;
    near_rows<real> rows;
    rows.ids = (int64_t*)sap_cuda_take(&n->call, cells * sizeof(int64_t));
    rows.distance2 = (real*)sap_cuda_take(&n->call, cells * sizeof(real));
    rows.k = n->search.k;
    return rows;
}

template <typename real> static void give_rows(near_search* n, const near_rows<real>& rows) {
    if (n->call.status != SAP_OK) return;
    sap_cuda_give(&n->call, rows.ids);
    sap_cuda_give(&n->call, rows.distance2);
}

// ---- Answers of this rank's subtrees

static sap_status nearest_of(const sap_tree* tree, const float* coords, int64_t count, const sap_search* search,
                             int32_t* ids, float* distance2) {
    const sap_points queries = {coords, count, tree->shape.dims, 0};
    return sap_nearest(tree, queries, search, ids, distance2);
}
static sap_status nearest_of(const sap_tree* tree, const double* coords, int64_t count, const sap_search* search,
                             int32_t* ids, double* distance2) {
    const sap_points_f64 queries = {coords, count, tree->shape.dims, 0};
    return sap_nearest_f64(tree, queries, search, ids, distance2);
}

template <typename real>
static void answer(near_search* n, const real* coords, int64_t count, const near_rows<real>& found) {
    sap_cuda_call* call = &n->call;
    const int64_t cells = count * n->search.k;
    bool first = true;
    if (call->status != SAP_OK || !count) return;
    int32_t* places = (int32_t*)sap_cuda_take(call, (size_t)cells * sizeof *places);
    sap_progress_mute(true);
    for (int32_t p = 0; p < n->tree->piece_count && call->status == SAP_OK; p++) {
        const sap_cluster_piece* piece = &n->tree->pieces[p];
        if (!piece->count) continue;
        const near_rows<real> into = first ? found : take_rows<real>(n, count);
        if (call->status != SAP_OK) break;
        call->status = nearest_of(piece->tree, coords, count, &n->search, places, into.distance2);
        sap_cuda_launch(call, near_name, sap_cuda_grid_for(cells, NEAR_THREADS), (const int32_t*)places, cells,
                        (const int64_t*)piece->there, into.ids);
        if (!first) {
            sap_cuda_launch(call, near_merge<real>, sap_cuda_grid_for(count, NEAR_THREADS), into, (const int32_t*)NULL,
                            (const int32_t*)NULL, count, found);
            give_rows(n, into);
        }
        first = false;
    }
    sap_progress_mute(false);
    if (first) sap_cuda_launch(call, near_clear<real>, sap_cuda_grid_for(cells, NEAR_THREADS), found, cells);
}

// ---- To other ranks and back

// Where each rank's pairs begin, this rank's last, from how many there are on the GPU.
static void place_pairs(near_search* n, near_pairs* pairs) {
    const sap_comm* comm = n->tree->comm;
    const size_t bytes = (size_t)comm->size * sizeof *n->sent;
    sap_cuda_fetch(&n->call, n->sent, n->counts, bytes);
    if (n->call.status != SAP_OK) memset(n->sent, 0, bytes);
    pairs->count = 0;
    for (int32_t r = 0; r < comm->size; r++)
        if (r != comm->rank) {
            n->bytes_out[r] = pairs->count;
            pairs->count += n->sent[r];
        }
    pairs->others = n->bytes_out[comm->rank] = pairs->count;
    pairs->count += n->sent[comm->rank];
    sap_cuda_copy(&n->call, n->counts, n->bytes_out, bytes);
    const size_t width = (size_t)n->tree->dims * (size_t)n->tree->real_bits / 8;
    pairs->coords = sap_cuda_take(&n->call, (size_t)pairs->count * width);
    pairs->query = (int32_t*)sap_cuda_take(&n->call, (size_t)pairs->count * sizeof(int32_t));
}

static bool exchange(near_search* n, size_t width, const int64_t* out, const int64_t* in, const void* from, void* to) {
    const sap_comm* comm = n->tree->comm;
    for (int32_t r = 0; r < comm->size; r++) {
        n->bytes_out[r] = r == comm->rank ? 0 : out[r] * (int64_t)width;
        n->bytes_in[r] = r == comm->rank ? 0 : in[r] * (int64_t)width;
    }
    return heard(n, sap_comm_exchange_there(n->tree->comm, n->call.device, (void*)n->call.cuda->stream, from,
                                            n->bytes_out, to, n->bytes_in));
}

// The rows of pairs from number `first` on.
template <typename real> static near_rows<real> from_row(const near_rows<real>& rows, int64_t first) {
    const near_rows<real> part = {rows.ids + first * rows.k, rows.distance2 + first * rows.k, rows.k};
    return part;
}

// Sends pairs to the other ranks, answers theirs and this rank's own, and brings what was found into found, in the order
// of the pairs.
template <typename real> static void ask(near_search* n, const near_pairs* pairs, const near_rows<real>& found) {
    sap_comm* comm = n->tree->comm;
    const size_t ids = (size_t)n->search.k * sizeof(int64_t), reals = (size_t)n->search.k * sizeof(real);
    int64_t arrived = 0;
    if (agree(n) != SAP_OK) return;
    for (int32_t r = 0; r < comm->size; r++) n->bytes_out[r] = n->bytes_in[r] = (int64_t)sizeof(int64_t);
    if (!heard(n, sap_comm_exchange(comm, n->call.device, n->sent, n->bytes_out, n->received, n->bytes_in))) return;
    for (int32_t r = 0; r < comm->size; r++) arrived += r == comm->rank ? 0 : n->received[r];
    real* came = (real*)sap_cuda_take(&n->call, (size_t)arrived * (size_t)n->tree->dims * sizeof(real));
    const near_rows<real> own = take_rows<real>(n, arrived);
    if (agree(n) != SAP_OK) return;
    if (!exchange(n, (size_t)n->tree->dims * sizeof(real), n->sent, n->received, pairs->coords, came)) return;
    answer<real>(n, came, arrived, own);
    if (agree(n) != SAP_OK || !exchange(n, ids, n->received, n->sent, own.ids, found.ids) ||
        !exchange(n, reals, n->received, n->sent, own.distance2, found.distance2))
        return;
    answer<real>(n, (const real*)pairs->coords + pairs->others * n->tree->dims, pairs->count - pairs->others,
                 from_row(found, pairs->others));
}

// ---- Rounds

// Asks the rank whose part is nearest. home[count] is on the GPU.
template <typename real>
static void ask_home(near_search* n, const near_queries<real>& q, int32_t* home, const near_rows<real>& rows) {
    sap_cuda_call* call = &n->call;
    const sap_cuda_grid grid = sap_cuda_grid_for(q.count, NEAR_THREADS);
    near_pairs pairs = {NULL, NULL, 0, 0};
    sap_cuda_fill(call, n->counts, 0, (size_t)n->tree->comm->size * sizeof *n->counts);
    sap_cuda_launch(call, near_clear<real>, sap_cuda_grid_for(q.count * rows.k, NEAR_THREADS), rows, q.count * rows.k);
    sap_cuda_launch(call, near_home<real>, grid, top_of<real>(n), q.coords, q.count, q.stride, home, n->counts);
    if (call->status == SAP_OK) place_pairs(n, &pairs);
    sap_cuda_launch(call, near_pack_home<real>, grid, q.coords, q.count, q.stride, (int)n->tree->dims,
                    (const int32_t*)home, n->counts, (real*)pairs.coords, pairs.query);
    const near_rows<real> found = take_rows<real>(n, pairs.count);
    ask<real>(n, &pairs, found);
    sap_cuda_launch(call, near_put<real>, sap_cuda_grid_for(pairs.count * rows.k, NEAR_THREADS), found,
                    (const int32_t*)pairs.query, pairs.count, rows);
    if (call->status != SAP_OK) return;
    give_rows(n, found);
    sap_cuda_give(call, pairs.coords);
    sap_cuda_give(call, pairs.query);
}

// Asks the ranks that the queries of the list reach, and merges what they know.
template <typename real>
static void ask_others(near_search* n, const near_border<real>& border, const near_rows<real>& rows) {
    sap_cuda_call* call = &n->call;
    const sap_cuda_grid grid = sap_cuda_grid_for(border.count, NEAR_THREADS);
    const int32_t* none = NULL;
    near_pairs pairs = {NULL, NULL, 0, 0};
    sap_cuda_fill(call, n->counts, 0, (size_t)n->tree->comm->size * sizeof *n->counts);
    sap_cuda_launch(call, near_others<real>, grid, top_of<real>(n), border, n->counts, (real*)NULL, (int32_t*)none);
    if (call->status == SAP_OK) place_pairs(n, &pairs);
    sap_cuda_launch(call, near_others<real>, grid, top_of<real>(n), border, n->counts, (real*)pairs.coords,
                    pairs.query);
    const near_rows<real> found = take_rows<real>(n, pairs.count);
    ask<real>(n, &pairs, found);
    // One rank after another, since they may know of the same query; this one last, as its pairs are.
    int64_t first = 0;
    for (int32_t i = 0; i < n->tree->comm->size && call->status == SAP_OK; i++) {
        const int32_t own = n->tree->comm->rank, r = i + 1 == n->tree->comm->size ? own : i + (i >= own);
        sap_cuda_launch(call, near_merge<real>, sap_cuda_grid_for(n->sent[r], NEAR_THREADS), from_row(found, first),
                        (const int32_t*)pairs.query + first, (const int32_t*)border.row, n->sent[r], rows);
        first += n->sent[r];
    }
}

// Room for the marks of so many queries, none of which is marked yet.
static uint32_t* take_marks(near_search* n, int64_t count) {
    sap_cuda_fill(&n->call, n->counts, 0, sizeof *n->counts);
    return (uint32_t*)sap_cuda_take(&n->call, (size_t)(count / SAP_WARP + 1) * sizeof(uint32_t));
}

// Round 2: asks the others for the queries that are marked.
template <typename real, typename source>
static void cross(near_search* n, const source& from, const uint32_t* marks, const near_rows<real>& rows) {
    sap_cuda_call* call = &n->call;
    unsigned long long marked = 0;
    near_border<real> border = {NULL, NULL, NULL, NULL, 0};
    sap_cuda_fetch(call, &marked, n->counts, sizeof marked);
    if (call->status == SAP_OK) border.count = (int64_t)marked;
    border.coords = (real*)sap_cuda_take(call, (size_t)border.count * (size_t)n->tree->dims * sizeof(real));
    border.row = (int32_t*)sap_cuda_take(call, (size_t)border.count * sizeof(int32_t));
    border.home = (int32_t*)sap_cuda_take(call, (size_t)border.count * sizeof(int32_t));
    border.bound = (real*)sap_cuda_take(call, (size_t)border.count * sizeof(real));
    sap_cuda_fill(call, n->counts, 0, sizeof *n->counts);
    if (border.count)
        sap_cuda_launch(call, near_list<real, source>, sap_cuda_grid_for(from.count, NEAR_THREADS), from,
                        (int)n->tree->dims, marks, rows, (real)n->limit2, n->counts, border);
    ask_others<real>(n, border, rows);
}

// Marks the queries that may reach beyond the rank that answered them, and asks the others. places, ids: as for near_mark.
template <typename real, typename source>
static void mark_and_cross(near_search* n, const source& from, const int32_t* places, const int64_t* ids,
                           const near_rows<real>& rows) {
    uint32_t* marks = take_marks(n, from.count);
    sap_cuda_launch(&n->call, near_mark<real, source>, sap_cuda_grid_for(from.count, NEAR_THREADS), top_of<real>(n),
                    from, places, ids, rows, (real)n->limit2, marks, n->counts);
    cross<real>(n, from, (const uint32_t*)marks, rows);
}

template <typename real>
static void search_rows(near_search* n, const near_queries<real>& q, const near_rows<real>& rows) {
    int32_t* home = (int32_t*)sap_cuda_take(&n->call, (size_t)q.count * sizeof *home);
    near_queries<real> asked = q;
    ask_home<real>(n, q, home, rows);
    asked.home = home;
    mark_and_cross<real>(n, asked, NULL, NULL, rows);
}

// ---- Calls

// The caller's rows, or memory in their place.
template <typename real>
static near_rows<real> rows_out(near_search* n, int64_t count, int64_t* ids, void* distance2, bool needs_ids) {
    const size_t cells = (size_t)count * (size_t)n->search.k;
    near_rows<real> rows = {NULL, NULL, n->search.k};
    rows.ids = (int64_t*)(ids         ? sap_cuda_out(&n->call, ids, cells * sizeof *ids)
                          : needs_ids ? sap_cuda_take(&n->call, cells * sizeof *ids)
                                      : NULL);
    rows.distance2 = (real*)(distance2 ? sap_cuda_out(&n->call, distance2, cells * sizeof(real))
                                       : sap_cuda_take(&n->call, cells * sizeof(real)));
    return rows;
}

template <typename real> static void nearest(near_search* n, const sap_rows* queries, int64_t* ids, void* distance2) {
    const sap_rows in = sap_cuda_rows_in(&n->call, queries);
    const near_queries<real> q = {(const real*)in.coords, in.count, in.stride, NULL};
    const near_rows<real> rows = rows_out<real>(n, in.count, ids, distance2, true);
    search_rows<real>(n, q, rows);
}

// What all ranks come to: one of them may have failed since they last agreed.
static sap_status end_together(near_search* n) {
    const sap_cluster_tree* tree = n->tree;
    return sap_comm_agree(tree->comm, tree->device, end(n), NULL, 0);
}

extern "C" sap_status sap_cluster_nearest_cuda(const sap_cluster_tree* tree, const sap_rows* queries,
                                               const sap_search* search, double limit2, int64_t* ids, void* distance2) {
    near_search n;
    begin(&n, tree, search, limit2);
    if (tree->real_bits == 32)
        nearest<float>(&n, queries, ids, distance2);
    else
        nearest<double>(&n, queries, ids, distance2);
    return end_together(&n);
}

// ---- Points held

// Whether no rank holds more than one subtree.
static bool holds_one(const sap_cluster_top* top) {
    for (int32_t i = 1; i < top->count; i++)
        if (top->owners[i] == top->owners[i - 1]) return false;
    return true;
}

template <typename real> static near_points<real> points_of(const sap_cluster_tree* tree, const sap_cluster_piece* p) {
    near_points<real> from;
    from.tree = *p->tree;
    from.count = p->tree->shape.slots;
    from.rank = tree->comm->rank;
    return from;
}

static sap_status nearest_self_of(const sap_tree* tree, const sap_search* search, int32_t* ids, float* distance2) {
    return sap_nearest_self(tree, search, ids, distance2);
}
static sap_status nearest_self_of(const sap_tree* tree, const sap_search* search, int32_t* ids, double* distance2) {
    return sap_nearest_self_f64(tree, search, ids, distance2);
}

// By the walk that writes such rows itself, if there is a kernel for it.
template <typename real>
static bool self_of_leaves(near_search* n, const sap_cluster_piece* piece, const near_rows<real>& rows) {
    const size_t cell = 2 * (size_t)n->tree->dims * sizeof(real);
    sap_near_leaves l;
    if (!sap_near_leaves_fits(piece->tree, n->search.k)) return false;
    memset((void*)&l, 0, sizeof l);
    l.tree = piece->tree;
    l.names = piece->there;
    l.cell = n->tree->top.cells + (size_t)piece->subtree * cell;
    l.k = n->search.k;
    l.with_self = n->search.with_self;
    l.limit2 = n->limit2;
    l.ids = rows.ids;
    l.distance2 = rows.distance2;
    l.queries = sap_cuda_queries_from(&n->call, piece->tree, piece->tree);
    l.marks = take_marks(n, l.queries.count);
    l.marked = n->counts;
    sap_near_leaves_cuda(&n->call, &l);
    const near_leaves<real> from = {(const real*)l.queries.coords, l.queries.rows, l.queries.count,
                                    n->tree->comm->rank};
    cross<real>(n, from, (const uint32_t*)l.marks, rows);
    return true;
}

// Of the one subtree that this rank holds, if it holds any.
template <typename real> static void self_of_one(near_search* n, int64_t* ids, void* distance2) {
    const sap_cluster_piece* piece = n->tree->piece_count ? &n->tree->pieces[0] : NULL;
    const int64_t count = piece ? piece->count : 0;
    sap_cuda_call* call = &n->call;
    const near_rows<real> rows = rows_out<real>(n, count, ids, distance2, true);
    if (!count) {
        const near_queries<real> none = {NULL, 0, 0, NULL};
        mark_and_cross<real>(n, none, NULL, NULL, rows);
        return;
    }
    if (self_of_leaves<real>(n, piece, rows)) return;
    int32_t* places = (int32_t*)sap_cuda_take(call, (size_t)(count * rows.k) * sizeof *places);
    sap_progress_mute(true);
    if (call->status == SAP_OK) call->status = nearest_self_of(piece->tree, &n->search, places, rows.distance2);
    sap_progress_mute(false);
    mark_and_cross<real>(n, points_of<real>(n->tree, piece), places, piece->there, rows);
}

// Lists the points of all subtrees, and their ids.
template <typename real>
static void list_points(sap_cuda_call* call, const sap_cluster_tree* tree, int64_t* ids, real* coords) {
    int64_t first = 0;
    for (int32_t p = 0; p < tree->piece_count; p++) {
        const sap_cluster_piece* piece = &tree->pieces[p];
        if (ids) sap_cuda_copy(call, ids + first, piece->there, (size_t)piece->count * sizeof *ids);
        if (coords && piece->count)
            sap_cuda_launch(call, near_list_points<real>, sap_cuda_grid_for(piece->tree->shape.slots, NEAR_THREADS),
                            points_of<real>(tree, piece), coords + first * tree->dims);
        first += piece->count;
    }
}

static int64_t count_held(const sap_cluster_tree* tree) {
    int64_t count = 0;
    for (int32_t p = 0; p < tree->piece_count; p++) count += tree->pieces[p].count;
    return count;
}

// Of several subtrees: the points ask like any others, for one neighbour more, and find themselves unless as many equal
// points have smaller ids.
template <typename real> static void self_of_many(near_search* n, int64_t* ids, void* distance2) {
    const int64_t count = count_held(n->tree);
    sap_cuda_call* call = &n->call;
    const bool with_self = n->search.with_self;
    const near_rows<real> wanted = rows_out<real>(n, count, ids, distance2, with_self);
    int64_t* own = (int64_t*)sap_cuda_take(call, (size_t)count * sizeof *own);
    real* coords = (real*)sap_cuda_take(call, (size_t)count * (size_t)n->tree->dims * sizeof(real));
    if (!with_self) n->search.k++;
    const near_rows<real> rows = with_self ? wanted : take_rows<real>(n, count);
    if (call->status == SAP_OK) list_points<real>(call, n->tree, own, coords);
    const near_queries<real> q = {coords, count, n->tree->dims, NULL};
    search_rows<real>(n, q, rows);
    near_rows<real> left = wanted;
    if (!ids) left.ids = NULL;
    if (!distance2) left.distance2 = NULL;
    if (!with_self)
        sap_cuda_launch(call, near_leave_out<real>, sap_cuda_grid_for(count, NEAR_THREADS), rows, (const int64_t*)own,
                        count, left);
}

extern "C" sap_status sap_cluster_nearest_self_cuda(const sap_cluster_tree* tree, const sap_search* search,
                                                    double limit2, int64_t* ids, void* distance2) {
    const bool one = holds_one(&tree->top), narrow = tree->real_bits == 32;
    near_search n;
    begin(&n, tree, search, limit2);
    if (one && narrow) self_of_one<float>(&n, ids, distance2);
    if (one && !narrow) self_of_one<double>(&n, ids, distance2);
    if (!one && narrow) self_of_many<float>(&n, ids, distance2);
    if (!one && !narrow) self_of_many<double>(&n, ids, distance2);
    return end_together(&n);
}

extern "C" sap_status sap_cluster_points_cuda(const sap_cluster_tree* tree, int64_t* ids, void* coords) {
    sap_cuda_call call;
    const size_t count = (size_t)count_held(tree), width = (size_t)tree->dims * (size_t)tree->real_bits / 8;
    sap_cuda_begin(&call, tree->device);
    ids = (int64_t*)sap_cuda_out(&call, ids, count * sizeof *ids);
    coords = sap_cuda_out(&call, coords, count * width);
    if (call.status == SAP_OK && tree->real_bits == 32) list_points<float>(&call, tree, ids, (float*)coords);
    if (call.status == SAP_OK && tree->real_bits == 64) list_points<double>(&call, tree, ids, (double*)coords);
    return sap_cuda_end(&call, SAP_OK);
}
