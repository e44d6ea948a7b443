// Which rows a tree is built over, on a GPU: those that are finite, if the others are to be left out, and the first of
// each kind, if duplicates are.
//
// Every row goes into one hash table, whose entries are row numbers,
// by linear probing. A slot belongs to the kind of the row that came first into it; the smallest row of the kind stays
// there, and every other row of the kind is marked. So rows of one kind are marked all but one, in whatever order
// threads run, and rows without equals mark nothing. What is not marked is then packed in ascending order.
//
// A row that finds no place within PROBES slots is put aside, with all of its kind, since slots are never freed: those
// rows are sorted (K. E. Batcher, Sorting networks and their applications, 1968), so that points made to collide cost
// O(n log² n). Others never get there: at half load a run of 256 slots has a probability below 1e-20.
//
// An entry's bits above the row number are bits of the hash, so that other kinds are seldom compared. The table could
// be split into parts that fit the L2 cache, but that costs more reading than it saves: a slot's sector comes from
// memory once either way, and what follows at once hits it in the cache.
//
// Rows are compared by their bits, minus zero counting as zero, so that rows that are not finite are met by the build.
#include "base/assert.h"
#include "tree/packing_cuda.cuh"

enum { DUPLICATE_THREADS = 256, PROBES = 256 };
#define EMPTY 0xffffffffu

// Numbers that the host asks for.
typedef struct findings {
    uint32_t kept, aside, not_finite;
} findings;

typedef struct search {
    const void* coords;
    int64_t stride;
    int32_t count, dims;
    uint32_t size;    // slots
    int32_t row_bits; // of an entry, enough for `count`
    uint32_t* entries;
    uint32_t* duplicates; // a bit a row: is dropped
    uint32_t* aside;      // a bit a row: found no place
    findings* found;
} search;

// ---- Rows

template <typename word> static __device__ __forceinline__ word word_of(const search& s, int32_t row, int axis) {
    const word bits = __ldg((const word*)s.coords + row * s.stride + axis);
    return bits == (word)1 << (8 * sizeof(word) - 1) ? 0 : bits;
}

// A. Appleby's MurmurHash3, 32 bits.
static __device__ __forceinline__ uint32_t mix(uint32_t hash, uint32_t word) {
    word *= 0xcc9e2d51u;
    hash ^= __funnelshift_l(word, word, 15) * 0x1b873593u;
    return __funnelshift_l(hash, hash, 13) * 5 + 0xe6546b64u;
}

template <int fixed_dims, typename word>
static __device__ __forceinline__ uint32_t hash_of(const search& s, int32_t row) {
    const int dims = fixed_dims ? fixed_dims : s.dims;
    uint32_t hash = 0;
    SAP_UNROLL
    for (int a = 0; a < dims; ++a) {
        const word bits = word_of<word>(s, row, a);
        hash = mix(hash, (uint32_t)bits);
        if (sizeof(word) == 8) hash = mix(hash, (uint32_t)((uint64_t)bits >> 32));
    }
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

template <int fixed_dims, typename word>
static __device__ __forceinline__ bool equal_rows(const search& s, int32_t i, int32_t j) {
    const int dims = fixed_dims ? fixed_dims : s.dims;
    bool equal = true;
    SAP_UNROLL
    for (int a = 0; a < dims; ++a) {
        equal = word_of<word>(s, i, a) == word_of<word>(s, j, a);
        if (!equal) break;
    }
    return equal;
}

static __device__ __forceinline__ void mark(uint32_t* bits, uint32_t row) { atomicOr(&bits[row / 32], 1u << row % 32); }

// ---- Rows that are not finite

template <typename word> static __device__ __forceinline__ bool is_finite(const search& s, int32_t row) {
    const word exponent = (word)(sizeof(word) == 8 ? 0x7ff0000000000000u : 0x7f800000u);
    bool finite = true;
    for (int a = 0; a < s.dims; ++a) finite = finite && (word_of<word>(s, row, a) & exponent) != exponent;
    return finite;
}

template <typename word> static __global__ void __launch_bounds__(DUPLICATE_THREADS) mark_not_finite(const search s) {
    const int64_t row = (int64_t)blockIdx.x * DUPLICATE_THREADS + threadIdx.x;
    const int64_t group = row / SAP_WARP;
    if (group * SAP_WARP >= s.count) return; // the whole warp
    const uint32_t marked = __ballot_sync(SAP_ALL_LANES, row < s.count && !is_finite<word>(s, (int32_t)row));
    if (row % SAP_WARP != 0 || !marked) return;
    s.duplicates[group] = marked;
    atomicAdd(&s.found->not_finite, (uint32_t)__popc(marked));
}

// ---- The table

typedef enum outcome { OUTCOME_FIRST, OUTCOME_DUPLICATE, OUTCOME_ASIDE } outcome;

// At a slot of the row's kind. If many rows reach one slot, most of them only read it.
static __device__ __forceinline__ outcome meet(const search& s, uint32_t* slot, uint32_t there, uint32_t mine) {
    if (there > mine) there = atomicMin(slot, mine);
    if (there < mine) return OUTCOME_DUPLICATE;
    mark(s.duplicates, there & ((1u << s.row_bits) - 1));
    return OUTCOME_FIRST;
}

template <int dims, typename word> static __device__ __forceinline__ outcome insert(const search& s, int32_t row) {
    const uint32_t hash = hash_of<dims, word>(s, row), mine = hash << s.row_bits | (uint32_t)row;
    SAP_ASSERT(row >= 0 && row < s.count);
    uint32_t at = __umulhi(hash, s.size);
    for (int probe = 0; probe < PROBES; ++probe) {
        uint32_t there = __ldcg(&s.entries[at]);
        if (there == EMPTY) there = atomicCAS(&s.entries[at], EMPTY, mine);
        if (there == EMPTY) return OUTCOME_FIRST;
        const int32_t other = (int32_t)(there & ((1u << s.row_bits) - 1));
        SAP_ASSERT(at < s.size && other < s.count);
        if ((there ^ mine) >> s.row_bits == 0 && equal_rows<dims, word>(s, row, other))
            return meet(s, &s.entries[at], there, mine);
        at = at + 1 < s.size ? at + 1 : 0;
    }
    return OUTCOME_ASIDE;
}

template <int dims, typename word>
static __global__ void __launch_bounds__(DUPLICATE_THREADS) insert_rows(const search s) {
    const int64_t row = (int64_t)blockIdx.x * DUPLICATE_THREADS + threadIdx.x;
    const int64_t group = row / SAP_WARP;
    if (group * SAP_WARP >= s.count) return; // the whole warp
    const outcome what = row < s.count ? insert<dims, word>(s, (int32_t)row) : OUTCOME_FIRST;
    const uint32_t duplicates = __ballot_sync(SAP_ALL_LANES, what == OUTCOME_DUPLICATE);
    const uint32_t aside = __ballot_sync(SAP_ALL_LANES, what == OUTCOME_ASIDE);
    if (row % SAP_WARP != 0) return;
    if (duplicates) atomicOr(&s.duplicates[group], duplicates);
    if (aside) atomicAdd(&s.found->aside, (uint32_t)__popc(aside));
    s.aside[group] = aside;
}

// ---- Rows without a place

template <typename word> static __device__ bool comes_after(const search& s, int32_t i, int32_t j) {
    for (int a = 0; a < s.dims; ++a) {
        const word x = word_of<word>(s, i, a), y = word_of<word>(s, j, a);
        if (x != y) return x > y;
    }
    return i > j;
}

// One step of the network: places `distance` apart, or, where sorted runs of that length meet, those that mirror one
// another. The smaller row always goes to the lower place, so that places beyond the end need not be there.
template <typename word>
static __global__ void __launch_bounds__(DUPLICATE_THREADS)
    sort_step(const search s, int32_t* rows, int64_t count, int64_t distance, bool mirror) {
    const int64_t pair = (int64_t)blockIdx.x * DUPLICATE_THREADS + threadIdx.x;
    const int64_t lower = pair / distance * 2 * distance + pair % distance;
    const int64_t upper = mirror ? lower ^ (2 * distance - 1) : lower + distance;
    SAP_ASSERT(lower < upper);
    if (upper >= count) return;
    const int32_t i = rows[lower], j = rows[upper];
    if (!comes_after<word>(s, i, j)) return;
    rows[lower] = j;
    rows[upper] = i;
}

template <typename word>
static __global__ void __launch_bounds__(DUPLICATE_THREADS)
    mark_sorted(const search s, const int32_t* rows, int64_t count) {
    const int64_t i = (int64_t)blockIdx.x * DUPLICATE_THREADS + threadIdx.x + 1;
    if (i < count && equal_rows<0, word>(s, rows[i - 1], rows[i])) mark(s.duplicates, (uint32_t)rows[i]);
}

template <typename word> static void search_aside(sap_cuda_call* call, const search& s, int64_t count) {
    int32_t* rows = (int32_t*)sap_cuda_take(call, (size_t)count * sizeof *rows);
    sap_packing those = {s.aside, 0, s.count, 0, 0, NULL, rows, NULL};
    sap_pack(call, those);
    int64_t pairs = 1;
    while (2 * pairs < count) pairs *= 2;
    for (int64_t length = 1; length < count; length *= 2)
        for (int64_t distance = length; distance > 0; distance /= 2)
            sap_cuda_launch(call, sort_step<word>, sap_cuda_grid_for(pairs, DUPLICATE_THREADS), s, rows, count,
                            distance, distance == length);
    sap_cuda_launch(call, mark_sorted<word>, sap_cuda_grid_for(count - 1, DUPLICATE_THREADS), s, rows, count);
}

// ---- The whole

template <typename word> static void insert_all(sap_cuda_call* call, const search& s) {
    void (*kernel)(search) = s.dims == 2   ? insert_rows<2, word>
                             : s.dims == 3 ? insert_rows<3, word>
                             : s.dims == 4 ? insert_rows<4, word>
                             : s.dims == 8 ? insert_rows<8, word>
                                           : insert_rows<0, word>;
    sap_cuda_launch(call, kernel, sap_cuda_grid_for(s.count, DUPLICATE_THREADS), s);
}

// Puts all rows through the table.
template <typename word> static void find_duplicates(sap_cuda_call* call, search* s) {
    const size_t words = ((size_t)s->count + 31) / 32;
    s->size = 2 * (uint32_t)s->count;
    while ((int64_t)s->count >> s->row_bits) s->row_bits++;
    s->entries = (uint32_t*)sap_cuda_take(call, s->size * sizeof *s->entries);
    s->aside = (uint32_t*)sap_cuda_take(call, words * sizeof *s->aside);
    sap_cuda_fill(call, s->entries, 0xff, s->size * sizeof *s->entries);
    if (call->status == SAP_OK) insert_all<word>(call, *s);
}

template <typename word>
static void find_kept(sap_cuda_call* call, const sap_tree_options* options, const sap_rows* rows, int32_t* keep,
                      findings* found) {
    const size_t bytes = ((size_t)rows->count + 31) / 32 * sizeof(uint32_t);
    search s = {};
    s.coords = rows->coords;
    s.stride = rows->stride;
    s.count = (int32_t)rows->count;
    s.dims = rows->dims;
    s.duplicates = (uint32_t*)sap_cuda_take(call, bytes);
    s.found = (findings*)sap_cuda_take(call, sizeof *s.found);
    sap_cuda_fill(call, s.duplicates, 0, bytes);
    sap_cuda_fill(call, s.found, 0, sizeof *s.found);
    if (options->drop_nonfinite)
        sap_cuda_launch(call, mark_not_finite<word>, sap_cuda_grid_for(s.count, DUPLICATE_THREADS), s);
    if (options->drop_duplicates) find_duplicates<word>(call, &s);
    if (call->status != SAP_OK) return;
    sap_packing kept = {s.duplicates, 0xffffffffu, s.count, 0, 0, NULL, keep, &s.found->kept};
    sap_pack(call, kept);
    sap_cuda_fetch(call, found, s.found, sizeof *found);
    if (call->status != SAP_OK || found->aside == 0) return;
    search_aside<word>(call, s, found->aside);
    sap_pack(call, kept);
    sap_cuda_fetch(call, found, s.found, sizeof *found);
}

void sap_cuda_keep(sap_cuda_call* call, const sap_tree_options* options, const sap_rows* rows, int32_t* keep,
                   int64_t* kept, int64_t* not_finite) {
    *kept = *not_finite = 0;
    if (call->status != SAP_OK || rows->count == 0) return;
    // A call within the call: the build that follows gets its scratch memory.
    sap_cuda_call own;
    findings found = {0, 0, 0};
    if (sap_cuda_begin(&own, call->device) == SAP_OK) {
        if (rows->real_bits == 64)
            find_kept<uint64_t>(&own, options, rows, keep, &found);
        else
            find_kept<uint32_t>(&own, options, rows, keep, &found);
    }
    call->status = sap_cuda_end(&own, SAP_OK);
    if (call->status != SAP_OK) return;
    *kept = found.kept;
    *not_finite = found.not_finite;
}
