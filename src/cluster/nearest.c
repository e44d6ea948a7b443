// The k nearest points in two rounds: the rank whose part is nearest gives a bound, then those are asked whose boxes are
// within it. Rows of (distance2, id) are merged where the query was asked.
#include "cluster/nearest.h"
#include "cluster/route.h"
#include "device/reserved.h"
#include "math/dialect.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// Rows of k neighbours; distances are of the tree's precision.
typedef struct lists {
    int64_t* ids;
    void* distance2;
} lists;

typedef struct asking {
    const sap_cluster_tree* tree;
    const sap_rows* queries;
    sap_search search; // of which k, radius, walk and ordered are looked at
    double limit2;     // of the radius
    lists found;       // one a query
    int32_t* home;     // the rank that was asked first, or -1
    double* reach;     // how far the others have to look
    sap_scratch own;   // holds what the caller does not want, home and reach
} asking;

static size_t real_bytes(const asking* a) { return (size_t)a->tree->real_bits / 8; }

static double distance_at(const asking* a, const void* distance2, int64_t at) {
    return a->tree->real_bits == 64 ? ((const double*)distance2)[at] : (double)((const float*)distance2)[at];
}

static void set_distance(const asking* a, void* distance2, int64_t at, double value) {
    if (a->tree->real_bits == 64)
        ((double*)distance2)[at] = value;
    else
        ((float*)distance2)[at] = (float)value;
}

// Merges a row into another; `room` has space for one. What lies beyond the limit does not count.
static void merge_row(const asking* a, const lists* into, int64_t row, const lists* other, int64_t other_row,
                      const lists* room) {
    const int32_t k = a->search.k;
    const int64_t at = row * k, from = other_row * k;
    int32_t i = 0, j = 0;
    for (int32_t n = 0; n < k; n++) {
        const int64_t own = into->ids[at + i], its = other->ids[from + j];
        const double x = distance_at(a, into->distance2, at + i), y = distance_at(a, other->distance2, from + j);
        const bool is_its = its >= 0 && y <= a->limit2 && (own < 0 || y < x || (y == x && its < own));
        room->ids[n] = is_its ? its : own;
        set_distance(a, room->distance2, n, is_its ? y : x);
        i += !is_its;
        j += is_its;
    }
    memcpy(into->ids + at, room->ids, (size_t)k * sizeof *into->ids);
    memcpy((unsigned char*)into->distance2 + (size_t)at * real_bytes(a), room->distance2, (size_t)k * real_bytes(a));
}

static void copy_row(const asking* a, const lists* into, int64_t row, const lists* other, int64_t other_row) {
    const size_t ids = (size_t)a->search.k * sizeof(int64_t), reals = (size_t)a->search.k * real_bytes(a);
    memcpy(into->ids + row * a->search.k, other->ids + other_row * a->search.k, ids);
    memcpy((unsigned char*)into->distance2 + (size_t)row * reals,
           (const unsigned char*)other->distance2 + (size_t)other_row * reals, reals);
}

static void clear_rows(const asking* a, const lists* r, int64_t from, int64_t to) {
    for (int64_t i = from * a->search.k; i < to * a->search.k; i++) {
        r->ids[i] = -1;
        set_distance(a, r->distance2, i, INFINITY);
    }
}

// ---- Answers of this rank

// Queries to be answered here, without gaps.
typedef struct arrivals {
    const unsigned char* coords;
    int64_t count;
    const double* reach; // of each; NULL: the search's radius
} arrivals;

static sap_status search_piece(const asking* a, const sap_cluster_piece* piece, const arrivals* q, int32_t* ids,
                               void* distance2) {
    sap_search search = {.k = a->search.k, .walk = a->search.walk, .ordered = a->search.ordered};
    search.radius = q->reach ? 0 : a->search.radius;
    search.radii = q->reach;
    const int32_t dims = a->tree->dims;
    if (a->tree->real_bits == 64) {
        const sap_points_f64 queries = {(const double*)(const void*)q->coords, q->count, dims, 0};
        return sap_nearest_f64(piece->tree, queries, &search, ids, distance2);
    }
    const sap_points queries = {(const float*)(const void*)q->coords, q->count, dims, 0};
    return sap_nearest(piece->tree, queries, &search, ids, distance2);
}

// The ids of a subtree's points instead of their places.
static void name_points(const sap_cluster_piece* piece, const int32_t* places, int64_t cells, int64_t* ids) {
    for (int64_t i = 0; i < cells; i++) ids[i] = places[i] < 0 ? -1 : piece->ids[places[i]];
}

static sap_status answer(const asking* a, const arrivals* came, const lists* found) {
    const int64_t cells = came->count * a->search.k;
    const size_t ids = sap_align((size_t)cells * sizeof(int64_t)), reals = sap_align((size_t)cells * real_bytes(a));
    const size_t narrow = sap_align((size_t)cells * sizeof(int32_t)), row = sap_align((size_t)a->search.k * 8);
    int32_t pieces = 0;
    for (int32_t p = 0; p < a->tree->piece_count; p++) pieces += a->tree->pieces[p].count > 0;
    const bool alone = pieces == 1; // then there is nothing to merge
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(a->tree->device, narrow + (alone ? 0 : ids + reals + 2 * row), &scratch))
        return sap_fail(a->tree->device, SAP_ERROR_MEMORY, "no memory to answer %lld queries", (long long)came->count);
    int32_t* places = (int32_t*)(void*)scratch.memory;
    unsigned char* at = scratch.memory + narrow;
    const lists some = {(int64_t*)(void*)at, at + ids};
    const lists room = {(int64_t*)(void*)(at + ids + reals), at + ids + reals + row};
    const lists* into = alone ? found : &some;
    sap_status status = SAP_OK;
    if (!alone) clear_rows(a, found, 0, came->count);
    sap_progress_mute(true);
    for (int32_t p = 0; p < a->tree->piece_count && status == SAP_OK; p++) {
        const sap_cluster_piece* piece = &a->tree->pieces[p];
        if (!piece->count) continue;
        status = search_piece(a, piece, came, places, into->distance2);
        if (status == SAP_OK) name_points(piece, places, cells, into->ids);
        for (int64_t q = 0; q < came->count && status == SAP_OK && !alone; q++) merge_row(a, found, q, &some, q, &room);
    }
    sap_progress_mute(false);
    sap_scratch_give(a->tree->device, &scratch);
    return status;
}

// Answers the queries that are nearest to this rank's own part.
static sap_status answer_own(const asking* a) {
    const sap_rows* queries = a->queries;
    const int32_t rank = a->tree->comm->rank;
    const size_t width = (size_t)a->tree->dims * real_bytes(a), k = (size_t)a->search.k;
    sap_scratch scratch = {NULL, 0};
    int64_t count = 0;
    for (int64_t q = 0; q < queries->count; q++) count += a->home[q] == rank;
    if (!count) return SAP_OK;
    if (count == queries->count && queries->stride == queries->dims)
        return answer(a, &(arrivals){queries->coords, count, NULL}, &a->found);
    const size_t coords = sap_align((size_t)count * width), ids = sap_align((size_t)count * k * sizeof(int64_t));
    if (!sap_scratch_take(a->tree->device, coords + ids + (size_t)count * k * real_bytes(a), &scratch))
        return sap_fail(a->tree->device, SAP_ERROR_MEMORY, "no memory to answer %lld queries", (long long)count);
    unsigned char* at = scratch.memory;
    const lists found = {(int64_t*)(void*)(at + coords), at + coords + ids};
    int64_t i = 0;
    for (int64_t q = 0; q < queries->count; q++)
        if (a->home[q] == rank) memcpy(at + (size_t)i++ * width, sap_route_coords(queries, q), width);
    const sap_status status = answer(a, &(arrivals){at, count, NULL}, &found);
    i = 0;
    for (int64_t q = 0; q < queries->count && status == SAP_OK; q++)
        if (a->home[q] == rank) copy_row(a, &a->found, q, &found, i++);
    sap_scratch_give(a->tree->device, &scratch);
    return status;
}

// ---- Rounds

// Queries that no rank is asked have no neighbours.
static void clear_lost(const asking* a) {
    for (int64_t q = 0; q < a->queries->count; q++)
        if (a->home[q] < 0) clear_rows(a, &a->found, q, q + 1);
}

static int32_t choose_home(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                           int32_t* ranks) {
    const asking* a = context;
    (void)coords;
    ranks[0] = a->home[query];
    return a->home[query] >= 0 && a->home[query] != tree->comm->rank;
}

// The distance2 within which a query may still find something.
static double bound_of(const asking* a, int64_t query) {
    const double last = distance_at(a, a->found.distance2, (query + 1) * a->search.k - 1);
    return a->found.ids[(query + 1) * a->search.k - 1] < 0 ? a->limit2 : last;
}

static int32_t choose_others(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                             int32_t* ranks) {
    const asking* a = context;
    if (a->home[query] < 0) return 0;
    return sap_cluster_top_within(&tree->top, coords, bound_of(a, query), a->home[query], ranks);
}

// A radius whose square is no less than the bound, when both are rounded.
static double reach_of(double bound2) { return nextafter(nextafter(sqrt(bound2), INFINITY), INFINITY); }

// One round: asks, answers, and merges what comes back. `own` is how this rank has fared so far.
static sap_status go_round(const asking* a, sap_status own, sap_route_choice* choose, bool with_reach) {
    const sap_cluster_tree* tree = a->tree;
    sap_route route = {0};
    sap_scratch scratch = {NULL, 0};
    sap_status status = own == SAP_OK ? sap_route_open(tree, a->queries, choose, a, &route) : own;
    route.tree = tree;
    status = sap_route_send(&route, status, with_reach ? a->reach : NULL, NULL);
    if (status == SAP_OK) {
        size_t cells_out = 0, cells_in = 0, bytes = 0;
        const size_t room = 2 * sap_align((size_t)a->search.k * sizeof(int64_t));
        const uint64_t k = (uint64_t)a->search.k;
        const bool fits = sap_size_multiply((uint64_t)route.sent, k, &cells_out) &&
                          sap_size_multiply((uint64_t)route.received, k, &cells_in) && cells_out < SIZE_MAX / 64 &&
                          cells_in < SIZE_MAX / 64;
        const size_t ids_out = sap_align(cells_out * sizeof(int64_t)), reals_out = sap_align(cells_out * real_bytes(a));
        const size_t ids_in = sap_align(cells_in * sizeof(int64_t)), reals_in = sap_align(cells_in * real_bytes(a));
        bytes = ids_out + reals_out + ids_in + reals_in + room;
        if (!fits || !sap_scratch_take(tree->device, bytes, &scratch))
            status = sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the answers to %lld queries",
                              (long long)route.sent + (long long)route.received);
        SAP_ASSERT(status != SAP_OK || scratch.memory);
        unsigned char* at = scratch.memory;
        const lists theirs = {(int64_t*)(void*)at, at + ids_out};
        at += ids_out + reals_out;
        const lists mine = {(int64_t*)(void*)at, at + ids_in};
        at += ids_in + reals_in;
        const lists one = {(int64_t*)(void*)at, at + room / 2};
        const arrivals came = {route.coords, route.received, with_reach ? route.reach : NULL};
        if (status == SAP_OK && route.received) status = answer(a, &came, &mine);
        status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
        if (status == SAP_OK) status = sap_route_return(&route, (int64_t)(k * sizeof(int64_t)), mine.ids, theirs.ids);
        if (status == SAP_OK)
            status = sap_route_return(&route, (int64_t)(k * real_bytes(a)), mine.distance2, theirs.distance2);
        for (int64_t i = 0; i < route.sent && status == SAP_OK; i++) {
            if (with_reach)
                merge_row(a, &a->found, route.query[i], &theirs, i, &one);
            else // the first and only one
                copy_row(a, &a->found, route.query[i], &theirs, i);
        }
    }
    sap_scratch_give(tree->device, &scratch);
    sap_route_close(&route);
    return status;
}

// ---- The call

static sap_status check_search(const sap_device* device, const sap_search* s) {
    if (!s) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    sap_status status = sap_reserved_check(device, s->reserved, "search");
    if (status != SAP_OK) return status;
    if (s->k < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: %d is below 1", (int)s->k);
    if (!(s->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: %g is negative", s->radius);
    if (s->walk < SAP_WALK_AUTO || s->walk > SAP_WALK_PACKET)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.walk: unknown walk %d", (int)s->walk);
    if (s->with_self || s->stats || s->without_ids || s->metric || s->p != 0 || s->weights || s->radii || s->ks ||
        s->keep || s->eps != 0 || s->sorted)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "search: over ranks only k, radius, walk and ordered are looked at");
    return SAP_OK;
}

static sap_status queries_check(const sap_cluster_tree* tree, const sap_rows* queries) {
    const sap_status status = sap_rows_check(tree->device, queries, "queries");
    if (status != SAP_OK) return status;
    if (queries->real_bits != tree->real_bits || queries->dims != tree->dims)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "queries: the tree holds %d-bit points of %d dimensions",
                        (int)tree->real_bits, (int)tree->dims);
    return SAP_OK;
}

static sap_status prepare(asking* a, const sap_search* search, int64_t* ids, void* distance2) {
    const sap_cluster_tree* tree = a->tree;
    const int64_t count = a->queries->count;
    sap_status status = queries_check(tree, a->queries);
    if (status == SAP_OK) status = check_search(tree->device, search);
    if (status != SAP_OK) return status;
    a->search = *search;
    a->limit2 = sap_limit2_of(search->radius > 0 ? search->radius : INFINITY, tree->real_bits);
    size_t cells;
    if (!sap_size_multiply((uint64_t)count, (uint64_t)search->k, &cells) || cells > SIZE_MAX / 64)
        return sap_fail(tree->device, SAP_ERROR_RANGE, "search.k: %d neighbours of %lld queries are too many",
                        (int)search->k, (long long)count);
    const size_t own_ids = ids ? 0 : sap_align(cells * sizeof *ids);
    const size_t own_reals = distance2 ? 0 : sap_align(cells * real_bytes(a)), each = sap_align((size_t)count * 4);
    if (!sap_scratch_take(tree->device, own_ids + own_reals + 3 * each + 1, &a->own))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for %lld queries", (long long)count);
    unsigned char* at = a->own.memory;
    a->home = (int32_t*)(void*)at;
    a->reach = (double*)(void*)(at + each); // as much as two of home
    a->found.ids = ids ? ids : (int64_t*)(void*)(at + 3 * each);
    a->found.distance2 = distance2 ? distance2 : at + 3 * each + own_ids;
    return SAP_OK;
}

sap_status sap_cluster_nearest_rows(const sap_cluster_tree* tree, sap_status status, const sap_rows* queries,
                                    const sap_search* search, int64_t* ids, void* distance2) {
    asking a = {.tree = tree, .queries = queries};
    if (status == SAP_OK) status = prepare(&a, search, ids, distance2);
    uint64_t same[] = {(uint64_t)a.search.k, 0};
    memcpy(&same[1], &a.search.radius, sizeof same[1]);
    status = sap_comm_agree(tree->comm, tree->device, status, same, 2);
    SAP_ASSERT(status != SAP_OK || (a.home && a.reach && a.found.ids && a.found.distance2));
    if (status == SAP_OK) {
        for (int64_t q = 0; q < queries->count; q++)
            a.home[q] = sap_cluster_top_nearest(&tree->top, sap_route_coords(queries, q));
        clear_lost(&a);
        status = go_round(&a, answer_own(&a), choose_home, false);
    }
    if (status == SAP_OK) {
        for (int64_t q = 0; q < queries->count; q++) a.reach[q] = reach_of(bound_of(&a, q));
        status = go_round(&a, SAP_OK, choose_others, true);
    }
    sap_scratch_give(tree->device, &a.own);
    return status;
}

sap_status sap_cluster_nearest(const sap_cluster_tree* tree, sap_points queries, const sap_search* search, int64_t* ids,
                               float* distance2) {
    const sap_rows rows = sap_rows_f32(queries);
    return tree ? sap_cluster_nearest_rows(tree, SAP_OK, &rows, search, ids, distance2) : SAP_ERROR_ARGUMENT;
}

sap_status sap_cluster_nearest_f64(const sap_cluster_tree* tree, sap_points_f64 queries, const sap_search* search,
                                   int64_t* ids, double* distance2) {
    const sap_rows rows = sap_rows_f64(queries);
    return tree ? sap_cluster_nearest_rows(tree, SAP_OK, &rows, search, ids, distance2) : SAP_ERROR_ARGUMENT;
}
