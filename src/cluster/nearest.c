// The k nearest points. A query goes to the rank in whose part it lies, which answers it from its own points; where the ball
// around it reaches a border, the ranks behind are asked, with the distance of the k-th neighbour as limit, and send what
// they have within it. With one rank, or if no query leaves its rank and no ball its part, nothing is sent.
#include "base/assert.h"
#include "cluster/answer.h"
#include "cluster/border.h"
#include "cluster/route.h"
#include "device/reserved.h"
#include "nearest/nearest_cpu.h"
#include "tree/limit.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

// One call.
typedef struct calling {
    const sap_cluster_tree* tree;
    sap_border_table own;  // this rank's queries, or its points
    sap_border_table came; // queries of other ranks that lie in this rank's part
    sap_route away;        // this rank's queries that do not
    sap_scratch lists, rows, homes, records;
} calling;

static size_t real_bytes(const calling* c) { return (size_t)c->tree->real_bits / 8; }

static sap_status no_memory(const calling* c, int64_t queries) {
    return sap_fail(c->tree->device, SAP_ERROR_MEMORY, "no memory for %lld queries", (long long)queries);
}

static sap_status check_search(const sap_device* device, const sap_search* s, bool is_self) {
    if (!s) return sap_fail(device, SAP_ERROR_ARGUMENT, "search: is NULL");
    sap_status status = sap_reserved_check(device, s->reserved, "search");
    if (status != SAP_OK) return status;
    if (s->k < 1) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.k: %d is below 1", (int)s->k);
    if (!(s->radius >= 0)) return sap_fail(device, SAP_ERROR_ARGUMENT, "search.radius: %g is negative", s->radius);
    if (s->walk < SAP_WALK_AUTO || s->walk > SAP_WALK_PACKET)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "search.walk: unknown walk %d", (int)s->walk);
    if ((s->with_self && !is_self) || s->stats || s->without_ids || s->metric || s->p != 0 || s->weights || s->radii ||
        s->ks || s->keep || s->eps != 0 || s->sorted)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "search: over ranks only k, radius, walk and ordered are looked at");
    return SAP_OK;
}

static sap_status check_queries(const sap_cluster_tree* tree, const sap_border_table* own) {
    const sap_rows* queries = &own->queries;
    const sap_status status = own->is_points ? SAP_OK : sap_rows_check(tree->device, queries, "queries");
    if (status != SAP_OK) return status;
    if (queries->real_bits != tree->real_bits || queries->dims != tree->dims)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "%s: the tree holds %d-bit points of %d dimensions",
                        own->is_points ? "distance2" : "queries", (int)tree->real_bits, (int)tree->dims);
    return SAP_OK;
}

// Rows that the caller does not want are needed where neighbours of several subtrees come together.
static sap_status take_rows(calling* c, int64_t* ids, void* distance2) {
    sap_cluster_asking* ask = &c->own.ask;
    const int64_t count = c->own.queries.count;
    const bool alone = c->tree->comm->size == 1;
    size_t cells;
    if (!sap_size_multiply((uint64_t)count, (uint64_t)ask->k, &cells) || cells > SIZE_MAX / 64)
        return sap_fail(c->tree->device, SAP_ERROR_RANGE, "search.k: %d neighbours of %lld queries are too many",
                        (int)ask->k, (long long)count);
    const size_t own_ids = ids || alone ? 0 : sap_align(cells * sizeof *ids);
    const size_t own_reals = distance2 || alone ? 0 : sap_align(cells * real_bytes(c));
    if (!sap_scratch_take(c->tree->device, own_ids + own_reals + 1, &c->rows)) return no_memory(c, count);
    ask->into = (sap_cluster_rows){(unsigned char*)ids, distance2, (size_t)ask->k * sizeof *ids,
                                   (size_t)ask->k * real_bytes(c)};
    if (own_ids) ask->into.ids = c->rows.memory;
    if (own_reals) ask->into.distance2 = c->rows.memory + own_ids;
    return SAP_OK;
}

// Finds out where this rank's queries lie.
static sap_status place_queries(calling* c) {
    const sap_cluster_top* top = &c->tree->top;
    const int64_t count = c->own.queries.count;
    const size_t each = sap_align(((size_t)count + 1) * sizeof(int32_t));
    if (c->tree->comm->size == 1) return SAP_OK; // they lie in its only subtree
    if (!sap_scratch_take(c->tree->device, (c->own.is_points ? 0 : 2 * each) + (size_t)count + 1, &c->lists))
        return no_memory(c, count);
    c->own.ask.crosses = c->lists.memory + (c->own.is_points ? 0 : 2 * each);
    memset(c->own.ask.crosses, 0, (size_t)count);
    if (c->own.is_points) return SAP_OK; // they are where they are
    c->own.home = (int32_t*)(void*)c->lists.memory;
    int32_t* away = (int32_t*)(void*)(c->lists.memory + each);
    c->own.away = away;
    c->own.away_count = sap_cluster_top_find(top, &c->own.queries, c->tree->comm->rank, c->own.home, away);
    return sap_route_open(c->tree, &c->own.queries, c->own.home, away, c->own.away_count, &c->away);
}

static sap_status prepare(calling* c, const sap_search* search, int64_t* ids, void* distance2) {
    const sap_cluster_tree* tree = c->tree;
    sap_status status = check_queries(tree, &c->own);
    if (status == SAP_OK) status = check_search(tree->device, search, c->own.is_points);
    if (status == SAP_OK && c->own.is_points) status = sap_cluster_find_places(tree);
    for (int32_t p = 0; p < tree->piece_count && status == SAP_OK; p++)
        if (tree->pieces[p].count) status = sap_walk_check_cpu(tree->pieces[p].tree, search->walk);
    if (status != SAP_OK) return status;
    c->own.ask =
        (sap_cluster_asking){.tree = tree, .k = search->k, .ordered = search->ordered, .with_self = search->with_self};
    c->own.ask.limit2 = sap_limit2_of(search->radius > 0 ? search->radius : INFINITY, tree->real_bits);
    status = take_rows(c, ids, distance2);
    return status == SAP_OK ? place_queries(c) : status;
}

// Room for the answers to queries that came: a record of ids and distances each.
static sap_status take_records(calling* c, size_t record) {
    sap_border_table* came = &c->came;
    const size_t count = (size_t)c->away.received, homes = sap_align((count + 1) * sizeof(int32_t));
    size_t bytes;
    if (!sap_size_multiply(count, record, &bytes) || bytes > SIZE_MAX / 8 ||
        !sap_scratch_take(c->tree->device, bytes + 1, &c->records) ||
        !sap_scratch_take(c->tree->device, 2 * homes + count + 1, &c->homes))
        return no_memory(c, c->away.received);
    came->queries = c->away.came;
    came->ask = c->own.ask;
    came->ask.into = (sap_cluster_rows){c->records.memory, c->records.memory + (size_t)came->ask.k * sizeof(int64_t),
                                        record, record};
    came->ask.crosses = c->homes.memory + 2 * homes;
    memset(came->ask.crosses, 0, count);
    came->home = (int32_t*)(void*)c->homes.memory;
    (void)sap_cluster_top_find(&c->tree->top, &came->queries, c->tree->comm->rank, came->home,
                               (int32_t*)(void*)(c->homes.memory + homes)); // none lies elsewhere
    return SAP_OK;
}

// Sends answers home, and puts those that come into this rank's rows.
static sap_status bring_answers(calling* c, size_t record) {
    const sap_cluster_asking* ask = &c->own.ask;
    const size_t ids = (size_t)ask->k * sizeof(int64_t), reals = (size_t)ask->k * real_bytes(c);
    sap_scratch answers = {NULL, 0};
    size_t bytes;
    sap_status status = SAP_OK;
    if (!sap_size_multiply((uint64_t)c->away.sent, record, &bytes) || bytes > SIZE_MAX / 8 ||
        !sap_scratch_take(c->tree->device, bytes + 1, &answers))
        status = no_memory(c, c->away.sent);
    status = sap_comm_agree(c->tree->comm, c->tree->device, status, NULL, 0);
    SAP_ASSERT(status != SAP_OK || answers.memory);
    if (status == SAP_OK) status = sap_route_return(&c->away, (int64_t)record, c->records.memory, answers.memory);
    for (int64_t i = 0; i < c->away.sent && status == SAP_OK; i++) {
        const unsigned char* at = answers.memory + (size_t)i * record;
        memcpy(sap_cluster_ids(&ask->into, c->away.query[i]), at, ids);
        memcpy(sap_cluster_distances(&ask->into, c->away.query[i]), at + ids, reals);
    }
    sap_scratch_give(c->tree->device, &answers);
    return status;
}

static sap_status run(calling* c, sap_status status) {
    const sap_cluster_tree* tree = c->tree;
    uint64_t same[] = {(uint64_t)c->own.ask.k, 0};
    memcpy(&same[1], &c->own.ask.limit2, sizeof same[1]);
    c->away.tree = tree;
    if (!c->away.queries) c->away.queries = &c->own.queries;
    status = sap_route_send(&c->away, status, NULL, same, 2);
    if (status != SAP_OK) return status;
    tree->comm->said.placed += c->away.sent;
    const size_t reals = (size_t)c->own.ask.k * real_bytes(c);
    const size_t record = (size_t)c->own.ask.k * sizeof(int64_t) + (reals + 7) / 8 * 8;
    if (c->away.any) status = take_records(c, record);
    if (status == SAP_OK) status = sap_border_answer(&c->own);
    if (status == SAP_OK && c->away.received) status = sap_border_answer(&c->came);
    status = sap_border_cross(tree, status, &c->own, &c->came);
    return status == SAP_OK && c->away.any ? bring_answers(c, record) : status;
}

static sap_status nearest(const sap_cluster_tree* tree, const sap_rows* queries, bool is_points,
                          const sap_search* search, int64_t* ids, void* distance2) {
    if (tree->device->rooms.cluster)
        return sap_cluster_nearest_there(tree, is_points ? NULL : queries, queries->real_bits, search, ids, distance2);
    calling c = {.tree = tree, .own = {.queries = *queries, .is_points = is_points}};
    const sap_status status = run(&c, prepare(&c, search, ids, distance2));
    sap_route_close(&c.away);
    sap_scratch_give(tree->device, &c.lists);
    sap_scratch_give(tree->device, &c.rows);
    sap_scratch_give(tree->device, &c.homes);
    sap_scratch_give(tree->device, &c.records);
    return status;
}

sap_status sap_cluster_nearest(const sap_cluster_tree* tree, sap_points queries, const sap_search* search, int64_t* ids,
                               float* distance2) {
    const sap_rows rows = sap_rows_f32(queries);
    return tree ? nearest(tree, &rows, false, search, ids, distance2) : SAP_ERROR_ARGUMENT;
}

sap_status sap_cluster_nearest_f64(const sap_cluster_tree* tree, sap_points_f64 queries, const sap_search* search,
                                   int64_t* ids, double* distance2) {
    const sap_rows rows = sap_rows_f64(queries);
    return tree ? nearest(tree, &rows, false, search, ids, distance2) : SAP_ERROR_ARGUMENT;
}

// ---- The points that this rank holds

static sap_status nearest_self(const sap_cluster_tree* tree, int32_t real_bits, const sap_search* search, int64_t* ids,
                               void* distance2) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_rows points = {NULL, tree->count_here, tree->dims, tree->dims, real_bits};
    return nearest(tree, &points, true, search, ids, distance2);
}

sap_status sap_cluster_nearest_self(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                    float* distance2) {
    return nearest_self(tree, 32, search, ids, distance2);
}

sap_status sap_cluster_nearest_self_f64(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                        double* distance2) {
    return nearest_self(tree, 64, search, ids, distance2);
}
