#include "tree/queries.h"
#include "base/team.h"
#include "device/cpu.h"
#include "tree/leaves.h"
#include "tree/limit.h"
#include <float.h>
#include <math.h>
#include <string.h>

sap_status sap_rows_check(const sap_device* device, const sap_rows* r, const char* name) {
    if (r->dims < 1 || r->dims > SAP_MAX_DIMS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.dims: %d is not in 1…%d", name, (int)r->dims, SAP_MAX_DIMS);
    if (r->count < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.count: %lld is negative", name, (long long)r->count);
    if (r->stride < r->dims)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.stride: %lld is smaller than dims (%d)", name,
                        (long long)r->stride, (int)r->dims);
    if (r->count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "%s.count: %lld is more than 2^31-1", name, (long long)r->count);
    if (r->count && !r->coords) return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.coords: is NULL", name);
    int64_t bytes;
    if (__builtin_mul_overflow(r->count, r->stride, &bytes) || __builtin_mul_overflow(bytes, r->real_bits / 8, &bytes))
        return sap_fail(device, SAP_ERROR_RANGE, "%s.stride: count * stride overflows", name);
    return SAP_OK;
}

sap_status sap_queries_check(const sap_tree* tree, const sap_rows* queries) {
    sap_status status = sap_rows_check(tree->device, queries, "queries");
    if (status != SAP_OK) return status;
    if (queries->real_bits != tree->shape.real_bits)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "queries: the tree holds %d-bit points",
                        (int)tree->shape.real_bits);
    if (queries->dims != tree->shape.dims)
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "queries.dims: is %d, but the tree's points have %d",
                        (int)queries->dims, (int)tree->shape.dims);
    return SAP_OK;
}

double sap_limit2(const sap_tree* tree, double radius) { return sap_limit2_of(radius, tree->shape.real_bits); }

enum {
    ORDER_BITS = 12,
    ORDER_CELLS = 1 << ORDER_BITS,
    MOST_PARTS = 64,
    LEAVES = 64 // that are worth a thread
};

static int parts_of(const sap_tree* tree) {
    int threads = tree->device->options.threads;
    return threads > MOST_PARTS ? MOST_PARTS : threads;
}

static bool copies_top(const sap_tree* tree) {
    const sap_query_kernels* kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits)->query;
    return tree->shape.kind == SAP_TREE_EXPLICIT && kernels->copy_top;
}

sap_status sap_queries_reserve(const sap_tree* tree, int64_t most, bool homes, sap_query_order* o) {
    const sap_tree_shape* s = &tree->shape;
    size_t coords = sap_align((size_t)most * (size_t)s->dims * sap_real_bytes(s)), ids = sap_align((size_t)most * 4);
    size_t counters = (size_t)parts_of(tree) * ORDER_CELLS * 4, top = 0, numbers = 0;
    if (copies_top(tree)) {
        top = sap_align(SAP_QUERY_TOP * (s->real_bits == 64 ? sizeof(sap_node_f64) : sizeof(sap_node_f32)));
        numbers = sap_align(2 * SAP_QUERY_TOP * 4);
    }
    if (!sap_scratch_take(tree->device, coords + (homes ? 3 : 2) * ids + counters + top + numbers, &o->scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to order %lld queries", (long long)most);
    unsigned char* at = o->scratch.memory;
    o->coords = at;
    o->rows = (int32_t*)(void*)(at + coords);
    o->cell = (uint32_t*)(void*)(at + coords + ids);
    o->next = (uint32_t*)(void*)(at + coords + 2 * ids);
    at += coords + 2 * ids + counters;
    o->top = at;
    o->top_nodes = (uint32_t*)(void*)(at + top);
    o->home = homes ? (uint32_t*)(void*)(at + top + numbers) : NULL;
    o->count = 0;
    return SAP_OK;
}

// Puts queries [from, to) where `next` says, counting it up.
static void scatter(const sap_rows* q, int64_t first, int64_t from, int64_t to, const uint32_t* cell, int shift,
                    uint32_t* next, const sap_query_order* o) {
    size_t real = (size_t)q->real_bits / 8, row_bytes = (size_t)q->dims * real;
    const unsigned char* coords = (const unsigned char*)q->coords + (size_t)(first * q->stride) * real;
    for (int64_t i = from; i < to; i++) {
        SAP_ASSERT(cell[i] >> shift < ORDER_CELLS);
        uint32_t at = next[cell[i] >> shift]++;
        SAP_ASSERT(at < o->count);
        const unsigned char* row = coords + (size_t)(i * q->stride) * real;
        if (row_bytes == 12)
            memcpy(o->coords + (size_t)at * 12, row, 12);
        else
            memcpy(o->coords + (size_t)at * row_bytes, row, row_bytes);
        o->rows[at] = (int32_t)(first + i);
        if (o->home) o->home[at] = cell[i];
    }
}

typedef struct ordering {
    const sap_tree* tree;
    const sap_rows* queries;
    int64_t first, count;
    int parts, depth, shift;
    const sap_query_order* order;
} ordering;

static void count_part(void* context, int64_t part, int32_t worker) {
    const ordering* r = context;
    const sap_rows* q = r->queries;
    const sap_query_kernels* kernels = sap_cpu_kernels_of(r->tree->device, q->real_bits)->query;
    const int64_t from = r->count * part / r->parts, to = r->count * (part + 1) / r->parts;
    const size_t before = (size_t)((r->first + from) * q->stride) * (size_t)q->real_bits / 8;
    uint32_t *counts = r->order->next + part * ORDER_CELLS, *cell = r->order->cell;
    (void)worker;
    const unsigned char* coords = (const unsigned char*)q->coords + before;
    if (r->tree->shape.kind == SAP_TREE_BALANCED)
        kernels->find_cells(r->tree, coords, q->stride, to - from, r->depth, cell + from);
    else
        kernels->find_nodes(r->tree, r->order->top, r->order->top_nodes, coords, q->stride, to - from,
                            r->order->home != NULL, cell + from);
    for (int64_t i = from; i < to; i++) counts[cell[i] >> r->shift]++;
}

static void scatter_part(void* context, int64_t part, int32_t worker) {
    const ordering* r = context;
    (void)worker;
    scatter(r->queries, r->first, r->count * part / r->parts, r->count * (part + 1) / r->parts, r->order->cell,
            r->shift, r->order->next + part * ORDER_CELLS, r->order);
}

void sap_queries_order(const sap_tree* tree, const sap_rows* q, int64_t first, int64_t count, sap_query_order* o) {
    const int parts = parts_of(tree);
    const int depth = o->home || tree->shape.depth < ORDER_BITS ? tree->shape.depth : ORDER_BITS;
    const int64_t cells = tree->shape.kind == SAP_TREE_BALANCED ? (int64_t)1 << depth : tree->shape.nodes;
    int shift = 0;
    while ((cells - 1) >> shift >= ORDER_CELLS) shift++;
    uint32_t* next = o->next;
    ordering r = {tree, q, first, count, parts, depth, shift, o};
    o->count = count;
    if (copies_top(tree)) { // of few queries, few cells
        const int64_t parts_wanted = count / 8 < ORDER_CELLS ? count / 8 + 1 : ORDER_CELLS;
        sap_cpu_kernels_of(tree->device, q->real_bits)
            ->query->copy_top(tree, tree->shape.nodes / parts_wanted, o->top, o->top_nodes);
    }
    memset(next, 0, (size_t)parts * ORDER_CELLS * sizeof *next);
    sap_team_run(parts, parts, count_part, &r);
    uint32_t start = 0;
    for (int c = 0; c < ORDER_CELLS; c++)
        for (int p = 0; p < parts; p++) {
            uint32_t* n = next + (int64_t)p * ORDER_CELLS + c;
            uint32_t here = *n;
            *n = start;
            start += here;
        }
    SAP_ASSERT(start == count);
    sap_team_run(parts, parts, scatter_part, &r);
}

typedef struct unpacking {
    const sap_tree* tree;
    int64_t first, count; // places of leaves
    int parts;
    const sap_query_order* order;
    int64_t starts[MOST_PARTS + 1]; // the queries before each part; first, how many each has
} unpacking;

static int64_t place_of_part(const unpacking* u, int64_t part) { return u->first + u->count * part / u->parts; }

static void count_leaves(void* context, int64_t part, int32_t worker) {
    unpacking* u = context;
    int64_t points = 0;
    (void)worker;
    for (int64_t place = place_of_part(u, part); place < place_of_part(u, part + 1); place++)
        points += sap_leaf_block_at(u->tree, place).count;
    u->starts[part + 1] = points;
}

static void unpack_leaves(void* context, int64_t part, int32_t worker) {
    const unpacking* u = context;
    const sap_query_order* o = u->order;
    const size_t real = sap_real_bytes(&u->tree->shape);
    const int dims = u->tree->shape.dims;
    int64_t at = u->starts[part];
    (void)worker;
    for (int64_t place = place_of_part(u, part); place < place_of_part(u, part + 1); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(u->tree, place);
        for (int64_t i = 0; i < leaf.count; i++, at++) {
            unsigned char* row = o->coords + (size_t)(at * dims) * real;
            for (int a = 0; a < dims; a++)
                memcpy(row + (size_t)a * real, leaf.coords + (size_t)((int64_t)a * leaf.stride + i) * real, real);
            o->rows[at] = leaf.ids[i];
            if (o->home) o->home[at] = (uint32_t)place;
        }
    }
    SAP_ASSERT(at == u->starts[part + 1]);
}

int64_t sap_queries_places(const sap_tree* tree, int64_t first, int64_t most) {
    const sap_tree_shape* s = &tree->shape;
    const int64_t places = sap_leaf_places(tree);
    SAP_ASSERT(first < places && s->capacity <= most);
    if (most >= s->count) return places - first;
    if (s->kind == SAP_TREE_BALANCED) {
        const int64_t fit = most / s->capacity;
        return fit < places - first ? fit : places - first;
    }
    int64_t end = first;
    for (int64_t points = 0; end < places; end++) {
        points += sap_leaf_block_at(tree, end).count;
        if (points > most) break;
    }
    return end - first;
}

void sap_queries_of_leaves(const sap_tree* tree, int64_t first, int64_t count, sap_query_order* o) {
    SAP_ASSERT(first >= 0 && first + count <= sap_leaf_places(tree));
    const int64_t most = (count + LEAVES - 1) / LEAVES;
    unpacking u = {tree, first, count, parts_of(tree), o, {0}};
    if (u.parts > most) u.parts = most > 0 ? (int)most : 1;
    sap_team_run(u.parts, u.parts, count_leaves, &u);
    for (int i = 0; i < u.parts; i++) u.starts[i + 1] += u.starts[i];
    o->count = u.starts[u.parts];
    sap_team_run(u.parts, u.parts, unpack_leaves, &u);
}
