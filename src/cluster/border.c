#include "cluster/border.h"
#include "base/assert.h"
#include "cluster/route.h"
#include "tree/leaves.h"
#include <string.h>

static size_t width_of(const sap_cluster_tree* tree) { return (size_t)tree->dims * (size_t)tree->real_bits / 8; }

static sap_status no_memory(const sap_cluster_tree* tree, int64_t queries) {
    return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to answer %lld queries", (long long)queries);
}

// Some queries, without gaps, and which rows they are of.
typedef struct some {
    sap_rows queries;
    unsigned char* coords; // those of queries
    int32_t* rows;
    double* limits2;
    sap_scratch scratch;
} some;

static bool take_some(const sap_cluster_tree* tree, int64_t most, some* s) {
    const size_t coords = sap_align((size_t)most * width_of(tree)), rows = sap_align((size_t)most * sizeof(int32_t));
    *s = (some){.queries = {NULL, 0, tree->dims, tree->dims, tree->real_bits}};
    if (!sap_scratch_take(tree->device, coords + rows + (size_t)most * sizeof(double) + 1, &s->scratch)) return false;
    s->coords = s->scratch.memory;
    s->queries.coords = s->coords;
    s->rows = (int32_t*)(void*)(s->scratch.memory + coords);
    s->limits2 = (double*)(void*)(s->scratch.memory + coords + rows);
    return true;
}

static void add(some* s, const void* coords, int64_t row, double limit2) {
    const size_t width = (size_t)s->queries.dims * (size_t)s->queries.real_bits / 8;
    SAP_ASSERT(s->coords && s->rows && s->limits2);
    memcpy(s->coords + (size_t)s->queries.count * width, coords, width);
    s->limits2[s->queries.count] = limit2;
    s->rows[s->queries.count++] = (int32_t)row;
}

// ---- Rows filled from the subtree in which a query lies

static sap_status answer_points(const sap_border_table* t) {
    const sap_cluster_tree* tree = t->ask.tree;
    sap_status status = SAP_OK;
    int64_t first = 0;
    for (int32_t p = 0; p < tree->piece_count && status == SAP_OK; p++) {
        status = sap_cluster_answer_self(&t->ask, p, first);
        first += tree->pieces[p].count;
    }
    return status;
}

static sap_status answer_piece(const sap_border_table* t, int32_t piece) {
    const sap_cluster_tree* tree = t->ask.tree;
    const int32_t subtree = tree->pieces[piece].subtree;
    // Where a few lie elsewhere, their rows, which others fill later, cost less than to pick out all that lie here.
    if (tree->piece_count == 1 && t->away_count <= t->queries.count / 16) {
        const sap_status status = sap_cluster_answer(&t->ask, piece, &t->queries, NULL);
        for (int64_t i = 0; i < t->away_count; i++) t->ask.crosses[t->away[i]] = 0;
        return status;
    }
    int64_t count = 0;
    for (int64_t q = 0; q < t->queries.count; q++) count += t->home[q] == subtree;
    some s;
    if (!take_some(tree, count, &s)) return no_memory(tree, count);
    for (int64_t q = 0; q < t->queries.count; q++)
        if (t->home[q] == subtree) add(&s, sap_route_coords(&t->queries, q), q, 0);
    const sap_status status = sap_cluster_answer(&t->ask, piece, &s.queries, s.rows);
    sap_scratch_give(tree->device, &s.scratch);
    return status;
}

sap_status sap_border_answer(const sap_border_table* t) {
    sap_status status = SAP_OK;
    if (t->is_points) return answer_points(t);
    if (!t->home) return sap_cluster_answer(&t->ask, 0, &t->queries, NULL);
    for (int32_t p = 0; p < t->ask.tree->piece_count && status == SAP_OK; p++) status = answer_piece(t, p);
    return status;
}

// ---- Rows that reach over the borders of their subtrees

static int64_t count_crossing(const sap_border_table* t) {
    int64_t count = 0;
    for (int64_t q = 0; t->ask.crosses && q < t->queries.count; q++) count += t->ask.crosses[q];
    return count;
}

static void list_crossing(const sap_border_table* t, some* s) {
    const sap_cluster_tree* tree = t->ask.tree;
    if (!t->ask.crosses) return;
    if (!t->is_points) {
        const uint8_t *crosses = t->ask.crosses, *end = crosses + t->queries.count;
        for (const uint8_t* at = crosses; (at = memchr(at, 1, (size_t)(end - at))); at++) // they are few
            add(s, sap_route_coords(&t->queries, at - crosses), at - crosses, 0);
        return;
    }
    int64_t first = 0;
    for (int32_t p = 0; p < tree->piece_count; first += tree->pieces[p++].count)
        for (int64_t place = 0; tree->pieces[p].count && place < sap_leaf_places(tree->pieces[p].tree); place++) {
            const sap_leaf_block leaf = sap_leaf_block_at(tree->pieces[p].tree, place);
            for (int32_t i = 0; i < leaf.count; i++) {
                unsigned char point[SAP_MAX_DIMS * sizeof(double)];
                const int64_t row = first + sap_cluster_place(&tree->pieces[p], place, i, leaf.ids[i]);
                if (!t->ask.crosses[row]) continue;
                sap_leaf_point(tree->pieces[p].tree, &leaf, i, point);
                add(s, point, row, 0);
            }
        }
}

// Which of this rank's subtrees a row was filled from.
static bool is_home(const sap_border_table* t, int64_t row, int32_t piece) {
    const sap_cluster_tree* tree = t->ask.tree;
    if (t->home) return t->home[row] == tree->pieces[piece].subtree;
    int64_t first = 0;
    for (int32_t p = 0; p < piece && t->is_points; p++) first += tree->pieces[p].count;
    return row >= first && row - first < tree->pieces[piece].count;
}

// Adds what this rank's other subtrees have.
static sap_status cross_here(const sap_border_table* t, const some* all, int64_t from, int64_t to) {
    const sap_cluster_tree* tree = t->ask.tree;
    sap_cluster_asking ask = t->ask;
    sap_status status = SAP_OK;
    some s;
    if (from == to || tree->piece_count < 2) return SAP_OK;
    if (!take_some(tree, to - from, &s)) return no_memory(tree, to - from);
    ask.merge = true;
    ask.crosses = NULL;
    ask.limits2 = s.limits2;
    for (int32_t p = 0; p < tree->piece_count && status == SAP_OK; p++) {
        s.queries.count = 0;
        for (int64_t i = from; i < to; i++) {
            const void* coords = sap_route_coords(&all->queries, i);
            const double bound2 = sap_cluster_bound(&ask, all->rows[i]);
            if (!is_home(t, all->rows[i], p) &&
                sap_cluster_top_distance2(&tree->top, tree->pieces[p].subtree, coords) <= bound2)
                add(&s, coords, all->rows[i], bound2);
        }
        status = sap_cluster_answer(&ask, p, &s.queries, s.rows);
    }
    sap_scratch_give(tree->device, &s.scratch);
    return status;
}

// ---- Other ranks

// Answers what other ranks ask: rows of ids and distances, of which each query's first lengths[i] are there.
typedef struct replies {
    sap_cluster_asking ask;
    int32_t* lengths;
    int64_t hits;
    some asked; // with rows of their own, limits, and in some order
    sap_scratch rows;
} replies;

static sap_status take_replies(const sap_cluster_tree* tree, const sap_cluster_asking* like, int64_t count,
                               replies* w) {
    const size_t real = (size_t)tree->real_bits / 8;
    size_t cells;
    const bool fits = sap_size_multiply((uint64_t)count, (uint64_t)like->k, &cells) && cells < SIZE_MAX / 64;
    const size_t ids = fits ? sap_align(cells * sizeof(int64_t)) : 0, reals = fits ? sap_align(cells * real) : 0;
    if (!fits || !sap_scratch_take(tree->device, ids + reals + (size_t)count * sizeof(int32_t) + 1, &w->rows) ||
        !take_some(tree, count, &w->asked))
        return no_memory(tree, count);
    w->ask = (sap_cluster_asking){.tree = tree, .k = like->k, .limit2 = like->limit2, .limits2 = w->asked.limits2};
    w->ask.into = (sap_cluster_rows){w->rows.memory, w->rows.memory + ids, (size_t)like->k * sizeof(int64_t),
                                     (size_t)like->k * real};
    w->lengths = (int32_t*)(void*)(w->rows.memory + ids + reals);
    return SAP_OK;
}

static double limit_at(const sap_rows* limits, int64_t i) {
    const void* at = sap_route_coords(limits, i);
    double wide;
    float narrow;
    if (limits->real_bits == 64)
        memcpy(&wide, at, sizeof wide);
    else
        memcpy(&narrow, at, sizeof narrow);
    return limits->real_bits == 64 ? wide : (double)narrow;
}

static sap_status answer_others(const sap_route* route, replies* w) {
    const sap_cluster_tree* tree = route->tree;
    sap_status status = SAP_OK;
    w->ask.merge = tree->piece_count > 1; // of a rank's only subtree whoever asks has seen that its box is near
    SAP_ASSERT(w->ask.tree && w->lengths);
    for (int64_t i = 0; i < route->received && w->ask.merge; i++) sap_cluster_clear(&w->ask, i);
    for (int32_t p = 0; p < tree->piece_count && status == SAP_OK; p++) {
        w->asked.queries.count = 0;
        for (int64_t i = 0; i < route->received; i++) {
            const void* coords = sap_route_coords(&route->came, i);
            const double limit2 = limit_at(&route->beside, i);
            const double last = w->ask.merge ? sap_cluster_bound(&w->ask, i) : limit2;
            const double bound2 = last < limit2 ? last : limit2;
            const bool near =
                !w->ask.merge || sap_cluster_top_distance2(&tree->top, tree->pieces[p].subtree, coords) <= bound2;
            if (near) add(&w->asked, coords, i, bound2);
        }
        status = sap_cluster_answer(&w->ask, p, &w->asked.queries, w->asked.rows);
    }
    for (int64_t i = 0; i < route->received && status == SAP_OK; i++) {
        const int64_t* ids = sap_cluster_ids(&w->ask.into, i);
        SAP_ASSERT(w->lengths);
        w->lengths[i] = 0;
        while (w->lengths[i] < w->ask.k && ids[w->lengths[i]] >= 0) w->lengths[i]++;
        w->hits += w->lengths[i];
    }
    return status;
}

// The rows that ask others, how far they look, and whose they are.
typedef struct crossing {
    const sap_cluster_tree* tree;
    const sap_border_table *own, *came;
    some all;
    int64_t of_own; // the first of them; the others are rows of `came`
    sap_rows limits;
    sap_scratch narrow;
} crossing;

static const sap_border_table* table_of(const crossing* c, int64_t i) { return i < c->of_own ? c->own : c->came; }

static int32_t choose(const void* context, const sap_cluster_tree* tree, int64_t query, const void* coords,
                      int32_t* ranks) {
    const crossing* c = context;
    return sap_cluster_top_within(&tree->top, coords, c->all.limits2[query], tree->comm->rank, ranks);
}

// Limits as they are sent: in the tree's precision, of which they are values.
static sap_status write_limits(crossing* c) {
    const int64_t count = c->all.queries.count;
    c->limits = (sap_rows){c->all.limits2, count, 1, 1, c->tree->real_bits};
    if (c->tree->real_bits == 64) return SAP_OK;
    if (!sap_scratch_take(c->tree->device, (size_t)count * sizeof(float) + 1, &c->narrow))
        return no_memory(c->tree, count);
    float* narrow = (float*)(void*)c->narrow.memory;
    for (int64_t i = 0; i < count; i++) narrow[i] = (float)c->all.limits2[i];
    c->limits.coords = narrow;
    return SAP_OK;
}

static sap_status open_crossing(crossing* c, sap_route* route) {
    const int64_t own = count_crossing(c->own), all = own + count_crossing(c->came);
    if (!take_some(c->tree, all, &c->all)) return no_memory(c->tree, all);
    c->of_own = own;
    list_crossing(c->own, &c->all);
    list_crossing(c->came, &c->all);
    SAP_ASSERT(c->all.queries.count == all);
    sap_status status = cross_here(c->own, &c->all, 0, own);
    if (status == SAP_OK) status = cross_here(c->came, &c->all, own, all);
    if (status != SAP_OK) return status;
    for (int64_t i = 0; i < all; i++) c->all.limits2[i] = sap_cluster_bound(&table_of(c, i)->ask, c->all.rows[i]);
    status = write_limits(c);
    return status == SAP_OK ? sap_route_choose(c->tree, &c->all.queries, choose, c, route) : status;
}

static void pack_hits(const replies* w, int64_t count, unsigned char* at) {
    const size_t real = (size_t)w->ask.tree->real_bits / 8;
    for (int64_t i = 0; i < count; i++) {
        const size_t length = (size_t)w->lengths[i];
        memcpy(at, sap_cluster_ids(&w->ask.into, i), length * sizeof(int64_t));
        at += length * sizeof(int64_t);
        memcpy(at, sap_cluster_distances(&w->ask.into, i), length * real);
        at += length * real;
    }
}

static void merge_hits(const crossing* c, const sap_route* route, const int32_t* lengths, const unsigned char* at,
                       unsigned char* room) {
    const size_t real = (size_t)c->tree->real_bits / 8, ids = (size_t)c->own->ask.k * sizeof(int64_t);
    for (int64_t i = 0; i < route->sent; i++) {
        const size_t length = (size_t)lengths[i];
        const int64_t asked = route->query[i];
        SAP_ASSERT(c->all.rows);
        memcpy(room, at, length * sizeof(int64_t));
        at += length * sizeof(int64_t);
        memcpy(room + ids, at, length * real);
        at += length * real;
        sap_cluster_merge(&table_of(c, asked)->ask, c->all.rows[asked], (const int64_t*)(const void*)room, room + ids,
                          lengths[i]);
    }
}

// What comes back: how many neighbours each pair has, and room for a row of them.
typedef struct coming {
    int32_t* lengths;
    unsigned char* room;
    sap_scratch scratch;
} coming;

static sap_status take_coming(const crossing* c, const sap_route* route, coming* w) {
    const size_t room = 2 * sap_align((size_t)c->own->ask.k * sizeof(int64_t));
    if (!sap_scratch_take(c->tree->device, room + (size_t)route->sent * sizeof(int32_t) + 1, &w->scratch))
        return no_memory(c->tree, route->sent);
    w->room = w->scratch.memory;
    w->lengths = (int32_t*)(void*)(w->scratch.memory + room);
    return SAP_OK;
}

// Brings what other ranks have.
static sap_status bring_hits(const crossing* c, sap_route* route, const replies* w, const coming* there) {
    const sap_cluster_tree* tree = c->tree;
    const int64_t width = (int64_t)sizeof(int64_t) + tree->real_bits / 8;
    sap_scratch hits = {NULL, 0};
    int64_t come = 0;
    sap_status status = sap_route_return(route, (int64_t)sizeof(int32_t), w->lengths, there->lengths);
    if (status != SAP_OK) return status;
    for (int64_t i = 0; i < route->sent; i++) come += there->lengths[i];
    const size_t out = sap_align((size_t)(w->hits * width)), in = (size_t)(come * width);
    if (!sap_scratch_take(tree->device, out + in + 1, &hits)) status = no_memory(tree, route->sent);
    status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
    if (status == SAP_OK) {
        pack_hits(w, route->received, hits.memory);
        status = sap_route_return_rows(route, width, w->lengths, hits.memory, there->lengths, hits.memory + out);
    }
    if (status == SAP_OK) merge_hits(c, route, there->lengths, hits.memory + out, there->room);
    sap_scratch_give(tree->device, &hits);
    return status;
}

sap_status sap_border_cross(const sap_cluster_tree* tree, sap_status status, const sap_border_table* own,
                            const sap_border_table* came) {
    crossing c = {.tree = tree, .own = own, .came = came};
    replies w = {.hits = 0};
    sap_route route = {.tree = tree};
    if (status == SAP_OK && tree->top.count > 1) status = open_crossing(&c, &route);
    if (!route.queries) route.queries = &c.all.queries;
    // Ranks that have nothing to say send rows of the same width.
    if (status != SAP_OK || tree->top.count == 1) c.limits = (sap_rows){NULL, 0, 1, 1, tree->real_bits};
    status = sap_route_send(&route, status, &c.limits, NULL, 0);
    if (status == SAP_OK && route.any) {
        tree->comm->said.asked += route.sent;
        coming there = {.lengths = NULL};
        status = take_replies(tree, &own->ask, route.received, &w);
        if (status == SAP_OK) status = answer_others(&route, &w);
        if (status == SAP_OK) status = take_coming(&c, &route, &there);
        status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
        if (status == SAP_OK) status = bring_hits(&c, &route, &w, &there);
        sap_scratch_give(tree->device, &there.scratch);
    }
    sap_route_close(&route);
    sap_scratch_give(tree->device, &c.all.scratch);
    sap_scratch_give(tree->device, &c.narrow);
    sap_scratch_give(tree->device, &w.rows);
    sap_scratch_give(tree->device, &w.asked.scratch);
    return status;
}
