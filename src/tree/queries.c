#include "tree/queries.h"
#include "device/cpu.h"
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

double sap_limit2(const sap_tree* tree, double radius) {
    double limit2 = radius * radius;
    if (tree->shape.real_bits == 64) return limit2 < DBL_MAX ? limit2 : DBL_MAX;
    if (!(limit2 < (double)FLT_MAX)) return (double)FLT_MAX;
    // The product, rounded to double first, may fall exactly between two floats. Then its rounding error, which is
    // expensive to compute where fma is not an instruction, says to which of them it rounds.
    const float rounded = (float)limit2, other = nextafterf(rounded, (double)rounded < limit2 ? INFINITY : 0);
    if (limit2 != ((double)rounded + (double)other) / 2) return (double)rounded;
    const double error = fma(radius, radius, -limit2);
    if (error > 0) return (double)fmaxf(rounded, other);
    if (error < 0) return (double)fminf(rounded, other);
    return (double)rounded;
}

enum { ORDER_BITS = 12, ORDER_CELLS = 1 << ORDER_BITS, MOST_PARTS = 64 };

static int parts_of(const sap_tree* tree) {
    int threads = tree->device->options.threads;
    return threads > MOST_PARTS ? MOST_PARTS : threads;
}

sap_status sap_queries_reserve(const sap_tree* tree, int64_t most, bool homes, sap_query_order* o) {
    const sap_tree_shape* s = &tree->shape;
    size_t coords = sap_align((size_t)most * (size_t)s->dims * sap_real_bytes(s)), ids = sap_align((size_t)most * 4);
    size_t counters = (size_t)parts_of(tree) * ORDER_CELLS * 4;
    if (!sap_scratch_take(tree->device, coords + (homes ? 3 : 2) * ids + counters, &o->scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to order %lld queries", (long long)most);
    unsigned char* at = o->scratch.memory;
    o->coords = at;
    o->rows = (int32_t*)(void*)(at + coords);
    o->cell = (uint32_t*)(void*)(at + coords + ids);
    o->next = (uint32_t*)(void*)(at + coords + 2 * ids);
    o->home = homes ? (uint32_t*)(void*)(at + coords + 2 * ids + counters) : NULL;
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

void sap_queries_order(const sap_tree* tree, const sap_rows* q, int64_t first, int64_t count, sap_query_order* o) {
    const sap_query_kernels* kernels = sap_cpu_kernels_of(tree->device, q->real_bits)->query;
    int parts = parts_of(tree);
    int depth = o->home || tree->shape.depth < ORDER_BITS ? tree->shape.depth : ORDER_BITS;
    int shift = depth > ORDER_BITS ? depth - ORDER_BITS : 0;
    uint32_t *cell = o->cell, *next = o->next;
    const unsigned char* coords =
        (const unsigned char*)q->coords + (size_t)(first * q->stride) * (size_t)q->real_bits / 8;
    o->count = count;
    memset(next, 0, (size_t)parts * ORDER_CELLS * sizeof *next);
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(static)
    for (int p = 0; p < parts; p++) {
        int64_t from = count * p / parts, to = count * (p + 1) / parts;
        uint32_t* counts = next + (int64_t)p * ORDER_CELLS;
        kernels->find_cells(tree, coords + (size_t)(from * q->stride) * (size_t)q->real_bits / 8, q->stride, to - from,
                            depth, cell + from);
        for (int64_t i = from; i < to; i++) counts[cell[i] >> shift]++;
    }
    uint32_t start = 0;
    for (int c = 0; c < ORDER_CELLS; c++)
        for (int p = 0; p < parts; p++) {
            uint32_t* n = next + (int64_t)p * ORDER_CELLS + c;
            uint32_t here = *n;
            *n = start;
            start += here;
        }
    SAP_ASSERT(start == count);
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(static)
    for (int p = 0; p < parts; p++)
        scatter(q, first, count * p / parts, count * (p + 1) / parts, cell, shift, next + (int64_t)p * ORDER_CELLS, o);
}

void sap_queries_of_leaves(const sap_tree* tree, int64_t first, int64_t count, sap_query_order* o) {
    const sap_tree_shape* s = &tree->shape;
    SAP_ASSERT(first + count <= s->leaves);
    int64_t start = sap_leaf_rank(s, first);
    o->count = sap_leaf_rank(s, first + count) - start;
    size_t real = sap_real_bytes(s);
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(static)
    for (int64_t leaf = first; leaf < first + count; leaf++) {
        const unsigned char* block = sap_block(tree, leaf * s->stride);
        int64_t at = sap_leaf_rank(s, leaf) - start, points = sap_leaf_rank(s, leaf + 1) - start - at;
        const int32_t* ids = (const int32_t*)(const void*)(block + (size_t)s->stride * (size_t)s->dims * real);
        for (int64_t i = 0; i < points; i++) {
            unsigned char* row = o->coords + (size_t)((at + i) * s->dims) * real;
            for (int a = 0; a < s->dims; a++)
                memcpy(row + (size_t)a * real, block + (size_t)((int64_t)a * s->stride + i) * real, real);
            o->rows[at + i] = ids[i];
            if (o->home) o->home[at + i] = (uint32_t)leaf;
        }
    }
}
