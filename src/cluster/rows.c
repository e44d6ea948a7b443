// The points within a radius or in a box: a query goes to the ranks whose boxes its ball or its box meets. Ranks hold leaves
// from left to right, so that rows of one rank after another are rows of the one tree.
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

static sap_points came_f32(const sap_route* r, const unsigned char* coords) {
    return (sap_points){(const float*)(const void*)coords, r->received, r->tree->dims, 0};
}
static sap_points_f64 came_f64(const sap_route* r, const unsigned char* coords) {
    return (sap_points_f64){(const double*)(const void*)coords, r->received, r->tree->dims, 0};
}

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
    return SAP_OK;
}

// The ranks agree to begin, and the queries go where they are answered.
static sap_status send_queries(asking* a, sap_status status, sap_route* route) {
    uint64_t same[2] = {0, a->upper != NULL};
    memcpy(&same[0], &a->radius, sizeof same[0]);
    *route = (sap_route){0};
    status = sap_comm_agree(a->tree->comm, a->tree->device, status, same, 2);
    if (status != SAP_OK) return status;
    status = sap_route_open(a->tree, a->queries, choose, a, route);
    return sap_route_send(route, status, NULL, a->upper);
}

// ---- Counts

static sap_status count_piece(const asking* a, const sap_route* r, const sap_tree* tree, int64_t* counts) {
    const bool wide = a->tree->real_bits == 64;
    if (a->upper && wide) return sap_box_count_f64(tree, came_f64(r, r->coords), came_f64(r, r->others), counts);
    if (a->upper) return sap_box_count(tree, came_f32(r, r->coords), came_f32(r, r->others), counts);
    if (wide) return sap_radius_count_f64(tree, came_f64(r, r->coords), a->radius, counts);
    return sap_radius_count(tree, came_f32(r, r->coords), a->radius, counts);
}

static sap_status count_here(const asking* a, const sap_route* route, int64_t* counts, int64_t* some) {
    sap_status status = SAP_OK;
    memset(counts, 0, (size_t)route->received * sizeof *counts);
    sap_progress_mute(true);
    for (int32_t p = 0; p < a->tree->piece_count && status == SAP_OK; p++) {
        status = count_piece(a, route, a->tree->pieces[p].tree, some);
        for (int64_t q = 0; q < route->received && status == SAP_OK; q++) counts[q] += some[q];
    }
    sap_progress_mute(false);
    return status;
}

static sap_status count(asking a, int64_t* counts) {
    const sap_cluster_tree* tree = a.tree;
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_route route;
    sap_scratch scratch = {NULL, 0};
    const bool none = a.queries->count == 0;
    sap_status status = send_queries(&a, check(&a, none ? (const void*)&a : counts, "counts"), &route);
    if (status == SAP_OK) {
        const size_t numbers = (size_t)(2 * route.received + route.sent);
        if (!sap_scratch_take(tree->device, numbers * sizeof(int64_t) + 1, &scratch))
            status = no_memory(&a, route.received + route.sent, "counts");
        int64_t* here = (int64_t*)(void*)scratch.memory;
        int64_t* there = here + 2 * route.received;
        if (status == SAP_OK && route.received) status = count_here(&a, &route, here, here + route.received);
        status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
        if (status == SAP_OK) status = sap_route_return(&route, (int64_t)sizeof(int64_t), here, there);
        if (status == SAP_OK && !none) memset(counts, 0, (size_t)a.queries->count * sizeof *counts);
        for (int64_t i = 0; i < route.sent && status == SAP_OK; i++) counts[route.query[i]] += there[i];
    }
    sap_scratch_give(tree->device, &scratch);
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
    int64_t* ids; // what the neighbours point to
    unsigned char* reals;
} result;

// Points in boxes are at no distance.
static size_t distance_bytes(const asking* a) { return a->upper ? 0 : (size_t)a->tree->real_bits / 8; }

// What this rank finds for the queries that came, and what comes back for its own.
typedef struct answers {
    int64_t here, there;                   // neighbours
    int64_t *lengths_here, *lengths_there; // a query that came, a pair
    int64_t *ids_here, *ids_there;
    unsigned char *reals_here, *reals_there;
    int64_t* next; // where the next neighbour of each own query goes
    sap_scratch lengths, found, came;
} answers;

static sap_status search_piece(const asking* a, const sap_route* r, int32_t piece, sap_neighbors** found) {
    const sap_tree* tree = a->tree->pieces[piece].tree;
    const bool wide = a->tree->real_bits == 64;
    if (a->upper && wide) return sap_box_search_f64(tree, came_f64(r, r->coords), came_f64(r, r->others), found);
    if (a->upper) return sap_box_search(tree, came_f32(r, r->coords), came_f32(r, r->others), found);
    if (wide) return sap_radius_f64(tree, came_f64(r, r->coords), a->radius, found);
    return sap_radius(tree, came_f32(r, r->coords), a->radius, found);
}

static void copy_row(const asking* a, const sap_neighbors* found, int32_t piece, int64_t query, const answers* w,
                     int64_t to) {
    const size_t real = distance_bytes(a);
    const int64_t from = found->offsets[query], length = found->offsets[query + 1] - from;
    const unsigned char* reals =
        found->distance2 ? (const unsigned char*)found->distance2 : (const unsigned char*)found->distance2_f64;
    for (int64_t i = 0; i < length; i++) w->ids_here[to + i] = a->tree->pieces[piece].ids[found->ids[from + i]];
    if (length && real) memcpy(w->reals_here + (size_t)to * real, reals + (size_t)from * real, (size_t)length * real);
}

static sap_status take_reals(const asking* a, int64_t count, sap_scratch* scratch, int64_t** ids,
                             unsigned char** reals) {
    const size_t each = sizeof(int64_t) + distance_bytes(a);
    size_t bytes;
    if (!sap_size_multiply((uint64_t)count, each, &bytes) || bytes > SIZE_MAX / 4 ||
        !sap_scratch_take(a->tree->device, bytes + SAP_ALIGNMENT, scratch))
        return no_memory(a, count, "neighbours");
    *ids = (int64_t*)(void*)scratch->memory;
    *reals = scratch->memory + (size_t)count * sizeof(int64_t);
    return SAP_OK;
}

// Rows of all pieces, those of one after the other's.
static sap_status search_here(const asking* a, const sap_route* route, answers* w) {
    const int32_t pieces = a->tree->piece_count;
    const size_t bytes = (size_t)pieces * sizeof(sap_neighbors*);
    sap_neighbors** found = sap_memory_allocate_zero(a->tree->device, bytes);
    sap_status status = found ? SAP_OK : no_memory(a, pieces, "subtrees");
    SAP_ASSERT(status != SAP_OK || found);
    sap_progress_mute(true);
    for (int32_t p = 0; p < pieces && status == SAP_OK; p++) {
        status = search_piece(a, route, p, &found[p]);
        if (status == SAP_OK) w->here += found[p]->offsets[route->received];
    }
    sap_progress_mute(false);
    if (status == SAP_OK) status = take_reals(a, w->here, &w->found, &w->ids_here, &w->reals_here);
    int64_t at = 0;
    for (int64_t q = 0; q < route->received && status == SAP_OK; q++) {
        const int64_t first = at;
        for (int32_t p = 0; p < pieces; p++) {
            copy_row(a, found[p], p, q, w, at);
            at += found[p]->offsets[q + 1] - found[p]->offsets[q];
        }
        w->lengths_here[q] = at - first;
    }
    for (int32_t p = 0; p < pieces && found; p++) sap_neighbors_free(found[p]);
    sap_memory_release(a->tree->device, found, bytes);
    return status;
}

static sap_status take_lengths(const asking* a, const sap_route* route, answers* w) {
    const size_t numbers = (size_t)(route->received + route->sent + a->queries->count);
    if (!sap_scratch_take(a->tree->device, numbers * sizeof(int64_t) + 1, &w->lengths))
        return no_memory(a, route->received + route->sent, "rows");
    w->lengths_here = (int64_t*)(void*)w->lengths.memory;
    w->lengths_there = w->lengths_here + route->received;
    w->next = w->lengths_there + route->sent;
    return SAP_OK;
}

static sap_status make_result(const asking* a, const sap_route* route, answers* w, result** made) {
    const int64_t count = a->queries->count;
    const size_t real = distance_bytes(a), head = sap_align(sizeof(result));
    const size_t offsets = sap_align((size_t)(count + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < route->sent; i++) w->there += w->lengths_there[i];
    const sap_status status = take_reals(a, w->there, &w->came, &w->ids_there, &w->reals_there);
    if (status != SAP_OK) return status;
    const size_t bytes = head + offsets + (size_t)w->there * (sizeof(int64_t) + real);
    unsigned char* at = sap_memory_allocate(a->tree->device, bytes);
    if (!at) return no_memory(a, w->there, "neighbours");
    result* r = (result*)(void*)at;
    int64_t* rows = (int64_t*)(void*)(at + head);
    *r = (result){.neighbors = {.count = count, .offsets = rows}, .device = a->tree->device, .bytes = bytes};
    r->ids = (int64_t*)(void*)(at + head + offsets);
    r->reals = (unsigned char*)(r->ids + w->there);
    r->neighbors.ids = r->ids;
    if (real == sizeof(double))
        r->neighbors.distance2_f64 = (double*)(void*)r->reals;
    else if (real)
        r->neighbors.distance2 = (float*)(void*)r->reals;
    memset(rows, 0, (size_t)(count + 1) * sizeof *rows);
    for (int64_t i = 0; i < route->sent; i++) rows[route->query[i] + 1] += w->lengths_there[i];
    for (int64_t q = 0; q < count; q++) rows[q + 1] += rows[q];
    *made = r;
    return SAP_OK;
}

// What came, rank by rank, goes to the ends of the queries' rows.
static void fill_rows(const asking* a, const sap_route* route, const answers* w, const result* r) {
    const size_t real = distance_bytes(a);
    int64_t from = 0;
    for (int64_t q = 0; q < a->queries->count; q++) w->next[q] = r->neighbors.offsets[q];
    for (int64_t i = 0; i < route->sent; i++) {
        const int64_t length = w->lengths_there[i], to = w->next[route->query[i]];
        if (!length) continue;
        memcpy(r->ids + to, w->ids_there + from, (size_t)length * sizeof *r->ids);
        if (real) memcpy(r->reals + (size_t)to * real, w->reals_there + (size_t)from * real, (size_t)length * real);
        w->next[route->query[i]] = to + length;
        from += length;
    }
}

static sap_status bring_rows(const asking* a, sap_route* route, answers* w, result** made) {
    sap_comm* comm = a->tree->comm;
    const sap_device* device = a->tree->device;
    const int64_t real = (int64_t)distance_bytes(a);
    sap_status status = take_lengths(a, route, w);
    if (status == SAP_OK && route->received) status = search_here(a, route, w);
    status = sap_comm_agree(comm, device, status, NULL, 0);
    if (status == SAP_OK) status = sap_route_return(route, (int64_t)sizeof(int64_t), w->lengths_here, w->lengths_there);
    if (status == SAP_OK) status = sap_comm_agree(comm, device, make_result(a, route, w, made), NULL, 0);
    if (status == SAP_OK)
        status = sap_route_return_rows(route, (int64_t)sizeof(int64_t), w->lengths_here, w->ids_here, w->lengths_there,
                                       w->ids_there);
    if (status == SAP_OK && real)
        status = sap_route_return_rows(route, real, w->lengths_here, w->reals_here, w->lengths_there, w->reals_there);
    SAP_ASSERT(status != SAP_OK || (*made && w->next));
    if (status == SAP_OK) fill_rows(a, route, w, *made);
    return status;
}

static sap_status search(asking a, sap_cluster_neighbors** found) {
    if (!a.tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = a.tree->device;
    answers w = {0};
    sap_route route;
    result* made = NULL;
    sap_status status = send_queries(&a, check(&a, found, "found"), &route);
    if (status == SAP_OK) status = bring_rows(&a, &route, &w, &made);
    sap_scratch_give(device, &w.lengths);
    sap_scratch_give(device, &w.found);
    sap_scratch_give(device, &w.came);
    sap_route_close(&route);
    if (status == SAP_OK)
        *found = &made->neighbors;
    else if (made)
        sap_cluster_neighbors_free(&made->neighbors);
    return status;
}

void sap_cluster_neighbors_free(sap_cluster_neighbors* neighbors) {
    if (!neighbors) return;
    result* r = (result*)(void*)neighbors;
    sap_memory_release(r->device, r, r->bytes);
}

sap_status sap_cluster_radius(const sap_cluster_tree* tree, sap_points queries, double radius,
                              sap_cluster_neighbors** found) {
    const sap_rows rows = sap_rows_f32(queries);
    return search((asking){.tree = tree, .queries = &rows, .radius = radius}, found);
}

sap_status sap_cluster_radius_f64(const sap_cluster_tree* tree, sap_points_f64 queries, double radius,
                                  sap_cluster_neighbors** found) {
    const sap_rows rows = sap_rows_f64(queries);
    return search((asking){.tree = tree, .queries = &rows, .radius = radius}, found);
}

sap_status sap_cluster_box_search(const sap_cluster_tree* tree, sap_points lower, sap_points upper,
                                  sap_cluster_neighbors** found) {
    const sap_rows low = sap_rows_f32(lower), high = sap_rows_f32(upper);
    return search((asking){.tree = tree, .queries = &low, .upper = &high}, found);
}

sap_status sap_cluster_box_search_f64(const sap_cluster_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                      sap_cluster_neighbors** found) {
    const sap_rows low = sap_rows_f64(lower), high = sap_rows_f64(upper);
    return search((asking){.tree = tree, .queries = &low, .upper = &high}, found);
}
