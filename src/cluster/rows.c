// The points within a radius or in a box: a query goes to the ranks whose boxes its ball or its box meets. Ranks hold leaves
// from left to right, so that rows of one rank after another are rows of the one tree.
#include "cluster/rows.h"
#include "base/assert.h"
#include "cluster/route.h"
#include "math/dialect.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <string.h>

typedef struct asking {
    const sap_cluster_tree* tree;
    const sap_rows* queries; // of boxes, the lower corners
    const sap_rows* upper;   // NULL: balls
    double radius, limit2;
} asking;

static int32_t choose(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                      int32_t* ranks) {
    const asking* a = context;
    if (a->upper) return sap_cluster_top_meeting(&tree->top, coords, sap_route_coords(a->upper, query), ranks);
    return sap_cluster_top_within(&tree->top, coords, a->limit2, -1, ranks);
}

static sap_points f32_of(const sap_rows* r) { return (sap_points){r->coords, r->count, r->dims, r->stride}; }
static sap_points_f64 f64_of(const sap_rows* r) { return (sap_points_f64){r->coords, r->count, r->dims, r->stride}; }

static sap_status no_memory(const asking* a, int64_t count, const char* what) {
    return sap_fail(a->tree->device, SAP_ERROR_MEMORY, "no memory for %lld %s", (long long)count, what);
}

static sap_status check_queries(const asking* a, const sap_rows* queries, const char* name) {
    const sap_status status = sap_rows_check(a->tree->device, queries, name);
    if (status != SAP_OK) return status;
    if (queries->real_bits == a->tree->real_bits && queries->dims == a->tree->dims) return SAP_OK;
    return sap_fail(a->tree->device, SAP_ERROR_ARGUMENT, "%s: the tree holds %d-bit points of %d dimensions", name,
                    (int)a->tree->real_bits, (int)a->tree->dims);
}

static sap_status check(asking* a, const void* result, const char* name) {
    const sap_device* device = a->tree->device;
    sap_status status = check_queries(a, a->queries, a->upper ? "lower" : "queries");
    if (status == SAP_OK && a->upper) status = check_queries(a, a->upper, "upper");
    if (status != SAP_OK) return status;
    if (a->upper && a->upper->count != a->queries->count)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "upper.count: is %lld, that of lower %lld",
                        (long long)a->upper->count, (long long)a->queries->count);
    if (!(a->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "radius: %g is negative", a->radius);
    if (!result) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", name);
    a->limit2 = sap_limit2_of(a->radius, a->tree->real_bits);
    return sap_cluster_fetch_ids(a->tree);
}

// Whether this rank has the whole tree, in one piece: then nothing is sent.
static bool has_all(const sap_cluster_tree* tree) { return tree->comm->size == 1; }

// The ranks agree to begin, and the queries go where they are answered.
static sap_status send_queries(asking* a, sap_status status, sap_route* route) {
    uint64_t same[2] = {0, a->upper != NULL};
    memcpy(&same[0], &a->radius, sizeof same[0]);
    *route = (sap_route){.tree = a->tree, .queries = a->queries};
    if (status == SAP_OK && !has_all(a->tree)) status = sap_route_choose(a->tree, a->queries, choose, a, route);
    if (has_all(a->tree)) return sap_comm_agree(a->tree->comm, a->tree->device, status, same, 2);
    return sap_route_send(route, status, a->upper, same, 2);
}

// ---- Counts

static sap_status count_piece(const asking* a, const sap_rows* q, const sap_rows* upper, const sap_tree* tree,
                              int64_t* counts) {
    const bool wide = a->tree->real_bits == 64;
    if (a->upper && wide) return sap_box_count_f64(tree, f64_of(q), f64_of(upper), counts);
    if (a->upper) return sap_box_count(tree, f32_of(q), f32_of(upper), counts);
    if (wide) return sap_radius_count_f64(tree, f64_of(q), a->radius, counts);
    return sap_radius_count(tree, f32_of(q), a->radius, counts);
}

static sap_status count_here(const asking* a, const sap_rows* q, const sap_rows* upper, int64_t* counts,
                             int64_t* some) {
    sap_status status = SAP_OK;
    if (q->count) memset(counts, 0, (size_t)q->count * sizeof *counts);
    sap_progress_mute(true);
    for (int32_t p = 0; p < a->tree->piece_count && status == SAP_OK && q->count; p++) {
        SAP_ASSERT(!p || some); // more than one subtree only among ranks
        status = count_piece(a, q, upper, a->tree->pieces[p].tree, p ? some : counts);
        for (int64_t i = 0; i < q->count && status == SAP_OK && p && some; i++) counts[i] += some[i];
    }
    sap_progress_mute(false);
    return status;
}

static sap_status bring_counts(const asking* a, sap_route* route, int64_t* counts) {
    const sap_cluster_tree* tree = a->tree;
    const size_t numbers = (size_t)(2 * route->received + route->sent);
    sap_scratch scratch = {NULL, 0};
    sap_status status = SAP_OK;
    if (!sap_scratch_take(tree->device, numbers * sizeof(int64_t) + 1, &scratch))
        status = no_memory(a, route->received + route->sent, "counts");
    int64_t* here = (int64_t*)(void*)scratch.memory;
    int64_t* there = here + 2 * route->received;
    if (status == SAP_OK) status = count_here(a, &route->came, &route->beside, here, here + route->received);
    status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
    if (status == SAP_OK) status = sap_route_return(route, (int64_t)sizeof(int64_t), here, there);
    if (status == SAP_OK && a->queries->count) memset(counts, 0, (size_t)a->queries->count * sizeof *counts);
    for (int64_t i = 0; i < route->sent && status == SAP_OK; i++) counts[route->query[i]] += there[i];
    sap_scratch_give(tree->device, &scratch);
    return status;
}

static sap_status count(asking a, int64_t* counts) {
    if (!a.tree) return SAP_ERROR_ARGUMENT;
    sap_route route;
    const bool none = a.queries->count == 0;
    sap_status status = send_queries(&a, check(&a, none ? (const void*)&a : counts, "counts"), &route);
    if (status == SAP_OK && has_all(a.tree))
        status = count_here(&a, a.queries, a.upper, counts, NULL);
    else if (status == SAP_OK)
        status = bring_counts(&a, &route, counts);
    sap_route_close(&route);
    return status;
}

sap_status sap_cluster_radius_count(const sap_cluster_tree* tree, sap_points queries, double radius, int64_t* counts) {
    const sap_rows rows = sap_rows_f32(queries);
    return count((asking){.tree = tree, .queries = &rows, .radius = radius}, counts);
}

sap_status sap_cluster_radius_count_f64(const sap_cluster_tree* tree, sap_points_f64 queries, double radius,
                                        int64_t* counts) {
    const sap_rows rows = sap_rows_f64(queries);
    return count((asking){.tree = tree, .queries = &rows, .radius = radius}, counts);
}

sap_status sap_cluster_box_count(const sap_cluster_tree* tree, sap_points lower, sap_points upper, int64_t* counts) {
    const sap_rows low = sap_rows_f32(lower), high = sap_rows_f32(upper);
    return count((asking){.tree = tree, .queries = &low, .upper = &high}, counts);
}

sap_status sap_cluster_box_count_f64(const sap_cluster_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                     int64_t* counts) {
    const sap_rows low = sap_rows_f64(lower), high = sap_rows_f64(upper);
    return count((asking){.tree = tree, .queries = &low, .upper = &high}, counts);
}

// ---- Rows

// What is given out, with what it takes to free it: one block of memory.
typedef struct result {
    sap_cluster_neighbors neighbors; // first, so that its address is the result's
    sap_device* device;
    size_t bytes;
    int64_t *offsets, *ids; // what the neighbours point to
    unsigned char* reals;
} result;

// Points in boxes are at no distance.
static size_t distance_bytes(const asking* a) { return a->upper ? 0 : (size_t)a->tree->real_bits / 8; }

// What this rank's subtrees have for the queries that came, and what comes back for its own.
typedef struct answers {
    sap_neighbors** found;                 // [subtrees]
    int64_t own;                           // the first query that came from this rank itself
    int64_t here, there;                   // neighbours that are sent and received
    int32_t *lengths_here, *lengths_there; // a query that came, a pair
    unsigned char *out, *in;               // each row's ids, then its distances, without gaps
    int64_t* next;                         // where the next neighbour of each own query goes
    sap_scratch lengths, rows;
} answers;

static sap_status search_piece(const asking* a, const sap_rows* q, const sap_rows* upper, int32_t piece,
                               sap_neighbors** found) {
    const sap_tree* tree = a->tree->pieces[piece].tree;
    const bool wide = a->tree->real_bits == 64;
    if (a->upper && wide) return sap_box_search_f64(tree, f64_of(q), f64_of(upper), found);
    if (a->upper) return sap_box_search(tree, f32_of(q), f32_of(upper), found);
    if (wide) return sap_radius_f64(tree, f64_of(q), a->radius, found);
    return sap_radius(tree, f32_of(q), a->radius, found);
}

static sap_status search_here(const asking* a, const sap_rows* q, const sap_rows* upper, answers* w) {
    const int32_t pieces = a->tree->piece_count;
    w->found = sap_memory_allocate_zero(a->tree->device, (size_t)pieces * sizeof(sap_neighbors*));
    sap_status status = w->found ? SAP_OK : no_memory(a, pieces, "subtrees");
    sap_progress_mute(true);
    for (int32_t p = 0; p < pieces && status == SAP_OK && q->count; p++)
        status = search_piece(a, q, upper, p, &w->found[p]);
    sap_progress_mute(false);
    return status;
}

static int64_t length_of(const asking* a, const answers* w, int64_t query) {
    int64_t length = 0;
    for (int32_t p = 0; p < a->tree->piece_count; p++)
        length += w->found[p]->offsets[query + 1] - w->found[p]->offsets[query];
    return length;
}

// A row of all subtrees, those of one after the other's. Either may lie anywhere.
static void copy_row(const asking* a, const answers* w, int64_t query, unsigned char* ids, unsigned char* reals) {
    const size_t real = distance_bytes(a);
    for (int32_t p = 0; p < a->tree->piece_count; p++) {
        const sap_neighbors* found = w->found[p];
        const int64_t from = found->offsets[query], length = found->offsets[query + 1] - from;
        const unsigned char* its =
            found->distance2 ? (const unsigned char*)found->distance2 : (const unsigned char*)found->distance2_f64;
        for (int64_t i = 0; i < length; i++, ids += sizeof(int64_t)) {
            const int64_t name = sap_cluster_name(&a->tree->pieces[p], found->ids[from + i]);
            memcpy(ids, &name, sizeof name);
        }
        if (length && real) memcpy(reals, its + (size_t)from * real, (size_t)length * real);
        reals += (size_t)length * real;
    }
}

static bool is_own(const sap_route* route, const answers* w, int64_t came) {
    return came >= w->own && came < w->own + route->from[route->tree->comm->rank];
}

static sap_status take_lengths(const asking* a, const sap_route* route, answers* w) {
    const size_t next = (size_t)a->queries->count * sizeof(int64_t);
    const size_t numbers = (size_t)(route->received + route->sent);
    if (!sap_scratch_take(a->tree->device, next + numbers * sizeof(int32_t) + 1, &w->lengths))
        return no_memory(a, route->received + route->sent, "rows");
    w->next = (int64_t*)(void*)w->lengths.memory;
    w->lengths_here = (int32_t*)(void*)(w->lengths.memory + next);
    w->lengths_there = w->lengths_here + route->received;
    SAP_ASSERT(route->from);
    for (int32_t r = 0; r < route->tree->comm->rank; r++) w->own += route->from[r];
    return SAP_OK;
}

// A result whose rows have the lengths of `next`.
static sap_status make_result(const asking* a, const int64_t* lengths, result** made) {
    const int64_t count = a->queries->count;
    const size_t real = distance_bytes(a), head = sap_align(sizeof(result));
    const size_t offsets = sap_align((size_t)(count + 1) * sizeof(int64_t));
    int64_t all = 0;
    for (int64_t q = 0; q < count; q++) all += lengths[q];
    size_t bytes;
    if (!sap_size_multiply((uint64_t)all, sizeof(int64_t) + real, &bytes) || bytes > SIZE_MAX / 4)
        return no_memory(a, all, "neighbours");
    bytes += head + offsets;
    unsigned char* at = sap_memory_allocate(a->tree->device, bytes);
    if (!at) return no_memory(a, all, "neighbours");
    result* r = (result*)(void*)at;
    int64_t* rows = (int64_t*)(void*)(at + head);
    *r = (result){.neighbors = {.count = count, .offsets = rows}, .device = a->tree->device, .bytes = bytes};
    r->offsets = rows;
    r->ids = (int64_t*)(void*)(at + head + offsets);
    r->reals = (unsigned char*)(r->ids + all);
    r->neighbors.ids = r->ids;
    if (real == sizeof(double))
        r->neighbors.distance2_f64 = (double*)(void*)r->reals;
    else if (real)
        r->neighbors.distance2 = (float*)(void*)r->reals;
    rows[0] = 0;
    for (int64_t q = 0; q < count; q++) rows[q + 1] = rows[q] + lengths[q];
    *made = r;
    return SAP_OK;
}

// Room for the rows that go to other ranks, with those rows, and for those that come.
static sap_status make_rows(const asking* a, const sap_route* route, answers* w, result** made) {
    const size_t each = sizeof(int64_t) + distance_bytes(a);
    const int32_t rank = a->tree->comm->rank;
    int64_t first = 0;
    for (int32_t r = 0; r < rank; r++) first += route->to[r];
    memset(w->next, 0, (size_t)a->queries->count * sizeof *w->next);
    for (int64_t i = 0; i < route->sent; i++) {
        w->next[route->query[i]] += w->lengths_there[i];
        if (i < first || i >= first + route->to[rank]) w->there += w->lengths_there[i];
    }
    for (int64_t q = 0; q < route->received; q++)
        if (!is_own(route, w, q)) w->here += w->lengths_here[q];
    size_t out, in;
    if (!sap_size_multiply((uint64_t)w->here, each, &out) || !sap_size_multiply((uint64_t)w->there, each, &in) ||
        out > SIZE_MAX / 4 || in > SIZE_MAX / 4 || !sap_scratch_take(a->tree->device, out + in + 1, &w->rows))
        return no_memory(a, w->here + w->there, "neighbours");
    w->out = w->rows.memory;
    w->in = w->out + out;
    unsigned char* at = w->out;
    for (int64_t q = 0; q < route->received; q++) {
        if (is_own(route, w, q)) continue;
        copy_row(a, w, q, at, at + (size_t)w->lengths_here[q] * sizeof(int64_t));
        at += (size_t)w->lengths_here[q] * each;
    }
    return make_result(a, w->next, made);
}

// What came, rank by rank, goes to the ends of the queries' rows; what this rank found itself, from where it was found.
static void fill_rows(const asking* a, const sap_route* route, const answers* w, const result* r) {
    const size_t real = distance_bytes(a);
    const unsigned char* from = w->in;
    int64_t own = w->own, pair = 0;
    for (int64_t q = 0; q < a->queries->count; q++) w->next[q] = r->neighbors.offsets[q];
    for (int32_t k = 0; k < a->tree->comm->size; k++)
        for (int64_t i = 0; i < route->to[k]; i++, pair++) {
            const size_t length = (size_t)w->lengths_there[pair], to = (size_t)w->next[route->query[pair]];
            unsigned char *ids = (unsigned char*)(r->ids + to), *reals = r->reals + to * real;
            w->next[route->query[pair]] += (int64_t)length;
            if (k == a->tree->comm->rank) {
                copy_row(a, w, own++, ids, reals);
                continue;
            }
            if (length) memcpy(ids, from, length * sizeof(int64_t));
            from += length * sizeof(int64_t);
            if (length && real) memcpy(reals, from, length * real);
            from += length * real;
        }
}

static sap_status bring_rows(const asking* a, sap_route* route, answers* w, result** made) {
    sap_comm* comm = a->tree->comm;
    const sap_device* device = a->tree->device;
    const int64_t width = (int64_t)(sizeof(int64_t) + distance_bytes(a));
    sap_status status = take_lengths(a, route, w);
    if (status == SAP_OK) status = search_here(a, &route->came, &route->beside, w);
    for (int64_t q = 0; q < route->received && status == SAP_OK; q++) w->lengths_here[q] = (int32_t)length_of(a, w, q);
    status = sap_comm_agree(comm, device, status, NULL, 0);
    if (status == SAP_OK) status = sap_route_return(route, (int64_t)sizeof(int32_t), w->lengths_here, w->lengths_there);
    if (status == SAP_OK) status = sap_comm_agree(comm, device, make_rows(a, route, w, made), NULL, 0);
    if (status == SAP_OK)
        status = sap_route_return_rows(route, width, w->lengths_here, w->out, w->lengths_there, w->in);
    SAP_ASSERT(status != SAP_OK || (*made && w->next));
    if (status == SAP_OK) fill_rows(a, route, w, *made);
    return status;
}

// The rows of a rank that has the whole tree are those of its own search.
static sap_status take_rows(const asking* a, answers* w, result** made) {
    const int64_t count = a->queries->count;
    sap_status status = search_here(a, a->queries, a->upper, w);
    if (status != SAP_OK) return status;
    if (!sap_scratch_take(a->tree->device, (size_t)count * sizeof *w->next + 1, &w->lengths))
        return no_memory(a, count, "rows");
    w->next = (int64_t*)(void*)w->lengths.memory;
    for (int64_t q = 0; q < count; q++) w->next[q] = length_of(a, w, q);
    status = make_result(a, w->next, made);
    SAP_ASSERT(status != SAP_OK || *made);
    const size_t all = count && status == SAP_OK ? (size_t)(*made)->neighbors.offsets[count] : 0;
    const sap_neighbors* found = w->found[0];
    SAP_ASSERT(!all || found);
    for (size_t i = 0; i < all; i++) (*made)->ids[i] = sap_cluster_name(&a->tree->pieces[0], found->ids[i]);
    const void* reals = found && found->distance2 ? (const void*)found->distance2 : NULL;
    if (found && found->distance2_f64) reals = found->distance2_f64;
    if (all && reals) memcpy((*made)->reals, reals, all * distance_bytes(a));
    return status;
}

static sap_status search(asking a, sap_status status, sap_cluster_neighbors** found) {
    if (!a.tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = a.tree->device;
    answers w = {0};
    sap_route route;
    result* made = NULL;
    status = send_queries(&a, status == SAP_OK ? check(&a, found, "found") : status, &route);
    if (status == SAP_OK) status = has_all(a.tree) ? take_rows(&a, &w, &made) : bring_rows(&a, &route, &w, &made);
    for (int32_t p = 0; p < a.tree->piece_count && w.found; p++) sap_neighbors_free(w.found[p]);
    sap_memory_release(device, w.found, (size_t)a.tree->piece_count * sizeof(sap_neighbors*));
    sap_scratch_give(device, &w.lengths);
    sap_scratch_give(device, &w.rows);
    sap_route_close(&route);
    if (status == SAP_OK)
        *found = &made->neighbors;
    else if (made)
        sap_cluster_neighbors_free(&made->neighbors);
    return status;
}

sap_status sap_cluster_rows_within(const sap_cluster_tree* tree, sap_status status, const sap_rows* queries,
                                   double radius, sap_cluster_neighbors** found) {
    return search((asking){.tree = tree, .queries = queries, .radius = radius}, status, found);
}

void sap_cluster_rows_keep_greater(sap_cluster_neighbors* found, const int64_t* ids) {
    result* r = (result*)(void*)found;
    int64_t* offsets = r->offsets;
    int64_t kept = 0;
    for (int64_t q = 0, from = 0; q < found->count; q++) {
        for (int64_t i = from; i < offsets[q + 1]; i++) {
            if (r->ids[i] <= ids[q]) continue;
            r->ids[kept] = r->ids[i];
            if (found->distance2) ((float*)(void*)r->reals)[kept] = ((float*)(void*)r->reals)[i];
            if (found->distance2_f64) ((double*)(void*)r->reals)[kept] = ((double*)(void*)r->reals)[i];
            kept++;
        }
        from = offsets[q + 1];
        offsets[q + 1] = kept;
    }
}

void sap_cluster_neighbors_free(sap_cluster_neighbors* neighbors) {
    if (!neighbors) return;
    result* r = (result*)(void*)neighbors;
    sap_memory_release(r->device, r, r->bytes);
}

sap_status sap_cluster_radius(const sap_cluster_tree* tree, sap_points queries, double radius,
                              sap_cluster_neighbors** found) {
    const sap_rows rows = sap_rows_f32(queries);
    return search((asking){.tree = tree, .queries = &rows, .radius = radius}, SAP_OK, found);
}

sap_status sap_cluster_radius_f64(const sap_cluster_tree* tree, sap_points_f64 queries, double radius,
                                  sap_cluster_neighbors** found) {
    const sap_rows rows = sap_rows_f64(queries);
    return search((asking){.tree = tree, .queries = &rows, .radius = radius}, SAP_OK, found);
}

sap_status sap_cluster_box_search(const sap_cluster_tree* tree, sap_points lower, sap_points upper,
                                  sap_cluster_neighbors** found) {
    const sap_rows low = sap_rows_f32(lower), high = sap_rows_f32(upper);
    return search((asking){.tree = tree, .queries = &low, .upper = &high}, SAP_OK, found);
}

sap_status sap_cluster_box_search_f64(const sap_cluster_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                      sap_cluster_neighbors** found) {
    const sap_rows low = sap_rows_f64(lower), high = sap_rows_f64(upper);
    return search((asking){.tree = tree, .queries = &low, .upper = &high}, SAP_OK, found);
}
