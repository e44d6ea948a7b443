// Compaction of items of any size at any address: a tile's bytes lie in shared memory as they come, and each word of
// the output is put together there. Items that are too large for a tile are compacted in slabs: the first so many bytes
// of all items, the next, and so on, each slab by itself.
#ifndef SAPWOOD_COMPACT_ANY_CUDA_CUH
#define SAPWOOD_COMPACT_ANY_CUDA_CUH

#include "compact/tile_cuda.cuh"

enum { ANY_ITEMS = 480 * GROUP }; // most in a tile: a thread has one group, and shared memory stays below 48 KB

typedef struct any_shape {
    int items;     // in a tile; 1 if there are several slabs, and a multiple of 16 or less than that
    int64_t slabs; // tile j of slab i is block number j * slabs + i
    bool words;    // the size of items and all addresses are multiples of 4
} any_shape;

typedef struct any_shared {
    tile_shared tile;
    uint16_t source[ANY_ITEMS]; // which item of the tile is kept number i
    __align__(16) unsigned char bytes[TILE_BYTES + 2 * VECTOR];
} any_shared;

// Bytes from anywhere: as many as make the address a multiple of 16, then vectors, then the rest.
typedef struct byte_run {
    const unsigned char* from;
    unsigned head, vectors, tail;
} byte_run;

static __device__ __forceinline__ byte_run run_of(const unsigned char* from, unsigned bytes) {
    unsigned head = (VECTOR - ((unsigned)(uintptr_t)from & (VECTOR - 1))) & (VECTOR - 1);
    head = head < bytes ? head : bytes;
    byte_run run = {from, head, (bytes - head) / VECTOR, (bytes - head) % VECTOR};
    return run;
}

static __device__ __forceinline__ void load_vectors(const byte_run& run, uint4 (&vector)[VECTORS]) {
    SAP_UNROLL
    for (int k = 0; k < VECTORS; k++) {
        unsigned i = k * TILE_THREADS + threadIdx.x;
        if (i < run.vectors) vector[k] = __ldcs((const uint4*)(run.from + run.head) + i);
    }
}

// Puts a run, its vectors loaded before, where shared memory has the same address modulo 16.
static __device__ __forceinline__ void store_run(unsigned char* to, const byte_run& run,
                                                 const uint4 (&vector)[VECTORS]) {
    to += (unsigned)(uintptr_t)run.from & (VECTOR - 1);
    if (threadIdx.x < run.head) to[threadIdx.x] = run.from[threadIdx.x];
    if (threadIdx.x < run.tail) {
        unsigned at = run.head + run.vectors * VECTOR + threadIdx.x;
        to[at] = run.from[at];
    }
    SAP_UNROLL
    for (int k = 0; k < VECTORS; k++) {
        unsigned i = k * TILE_THREADS + threadIdx.x;
        if (i < run.vectors) ((uint4*)(to + run.head))[i] = vector[k];
    }
}

// Ranks the tile's items by the masks of their groups and lists which are kept; returns how many.
static __device__ __forceinline__ unsigned list_kept(any_shared* s, unsigned mask) {
    unsigned group[1] = {mask};
    const unsigned kept = rank_groups<1>(&s->tile, group);
    for (unsigned place = group[0] >> 16; mask; mask &= mask - 1) {
        SAP_ASSERT(place < kept && place < ANY_ITEMS);
        s->source[place++] = (uint16_t)(threadIdx.x * GROUP + (unsigned)__ffs((int)mask) - 1);
    }
    return kept;
}

// Byte i of the output, or the four from it on (all multiples of 4 then).
static __device__ __forceinline__ unsigned char byte_of(const any_shared* s, const unsigned char* bytes, unsigned size,
                                                        unsigned i) {
    return bytes[s->source[i / size] * size + i % size];
}
static __device__ __forceinline__ unsigned word_of(const any_shared* s, const unsigned char* bytes, unsigned size,
                                                   unsigned i) {
    return *(const unsigned*)(bytes + s->source[i / size] * size + i % size);
}

// Writes the listed items, of which this tile has `size` bytes.
static __device__ __forceinline__ void write_listed(const any_shared* s, const unsigned char* bytes, unsigned char* to,
                                                    unsigned size, unsigned kept, bool words) {
    const unsigned all = kept * size;
    if (words) {
        for (unsigned i = threadIdx.x * 4; i < all; i += TILE_THREADS * 4)
            *(unsigned*)(to + i) = word_of(s, bytes, size, i);
        return;
    }
    unsigned head = (4 - ((unsigned)(uintptr_t)to & 3)) & 3;
    head = head < all ? head : all;
    const unsigned tail = (all - head) % 4;
    for (unsigned i = head + threadIdx.x * 4; i < all - tail; i += TILE_THREADS * 4) {
        unsigned word = 0;
        SAP_UNROLL
        for (unsigned b = 0; b < 4; b++) word |= (unsigned)byte_of(s, bytes, size, i + b) << 8 * b;
        *(unsigned*)(to + i) = word;
    }
    if (threadIdx.x < head) to[threadIdx.x] = byte_of(s, bytes, size, threadIdx.x);
    if (threadIdx.x < tail) to[all - tail + threadIdx.x] = byte_of(s, bytes, size, all - tail + threadIdx.x);
}

__global__ static void __launch_bounds__(TILE_THREADS, BLOCKS_AT_ONCE) compact_any(tiles t, any_shape shape) {
    SAP_CUDA_SHARED(any_shared, s);
    const int64_t number = tile_number(t, &s->tile), slab = number % shape.slabs;
    const int64_t first = number / shape.slabs * shape.items, left = t.count - first;
    const int items = left < shape.items ? (int)left : shape.items;
    const int64_t skipped = slab * TILE_BYTES, rest = t.item_bytes - skipped; // of each item: ahead of the slab
    const unsigned size = rest < TILE_BYTES ? (unsigned)rest : (unsigned)TILE_BYTES;
    const unsigned char* from = t.items + first * t.item_bytes + skipped;
    SAP_ASSERT(items >= 1 && items <= ANY_ITEMS && (unsigned)items * size <= TILE_BYTES);
    const byte_run run = run_of(from, (unsigned)items * size);
    uint4 vector[VECTORS] = {};
    load_vectors(run, vector);
    const int group = (int)threadIdx.x * GROUP;
    const unsigned mask = group < items ? group_mask(t.keep, first + group, first + items) : 0;
    const unsigned kept = list_kept(s, mask);
    tile_publish_counted(t, number, shape.slabs, kept);
    store_run(s->bytes, run, vector);
    __syncthreads();
    tile_publish_loaded(t, number, shape.slabs, kept);
    const bool last = slab == 0 && first + items == t.count;
    const unsigned long long ahead = tile_kept_before(t, &s->tile, number, shape.slabs, kept, last);
    unsigned char* to = t.out + ahead * (unsigned long long)t.item_bytes + skipped;
    write_listed(s, s->bytes + ((unsigned)(uintptr_t)from & (VECTOR - 1)), to, size, kept, shape.words);
}

// Flags the items that differ from the one before them; `lanes` threads, a power of two up to 32, compare an item.
__global__ static void flag_first_of_runs(tiles t, uint8_t* keep, int lanes, bool words) {
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, item = thread / lanes;
    const int lane = (int)threadIdx.x % SAP_WARP, part = (int)threadIdx.x % lanes;
    unsigned difference = item == 0;
    if (item > 0 && item < t.count) {
        const unsigned char *self = t.items + item * t.item_bytes, *before = self - t.item_bytes;
        const int64_t unit = words ? 4 : 1;
        for (int64_t i = part * unit; i < t.item_bytes && !difference; i += lanes * unit)
            difference = words ? *(const unsigned*)(self + i) ^ *(const unsigned*)(before + i) : self[i] ^ before[i];
    }
    unsigned differ_in = __ballot_sync(SAP_ALL_LANES, difference != 0) >> (lane - part);
    unsigned own = lanes == SAP_WARP ? SAP_ALL_LANES : (1u << lanes) - 1;
    if (part == 0 && item < t.count) keep[item] = (differ_in & own) != 0;
}

#endif
