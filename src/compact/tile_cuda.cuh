// A tile of items, compacted by a block: which of them are kept, how many are kept ahead of each, and how they are
// written.
#ifndef SAPWOOD_COMPACT_TILE_CUDA_CUH
#define SAPWOOD_COMPACT_TILE_CUDA_CUH

#include "compact/look_back_cuda.cuh"

enum {
    TILE_THREADS = 512,
    TILE_WARPS = TILE_THREADS / SAP_WARP,
    TILE_BYTES = 32768, // of items
    VECTOR = 16,        // bytes that a thread loads at once
    VECTORS = TILE_BYTES / VECTOR / TILE_THREADS,
    GROUP = 16 // items whose flags are one word of a mask
};

// How many blocks should fit into a multiprocessor's registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { BLOCKS_AT_ONCE = 2 }; // Turing has room for 1024 threads
#else
enum { BLOCKS_AT_ONCE = 3 };
#endif

typedef struct tiles {
    const unsigned char* items;
    const uint8_t* keep; // NULL: of equal neighbours the first
    unsigned char* out;
    unsigned long long* total; // how many are kept
    sap_tile_status* status;
    unsigned* begun; // how many blocks have begun
    int64_t count, item_bytes;
    bool in_place;
} tiles;

// What all kernels share within a block.
typedef struct tile_shared {
    unsigned number;           // of the block, in the order of beginning
    unsigned warp[TILE_WARPS]; // kept items of each warp's groups
    unsigned long long ahead;  // kept before the tile
} tile_shared;

static __device__ __forceinline__ unsigned tile_number(const tiles& t, tile_shared* s) {
    if (threadIdx.x == 0) s->number = atomicAdd(t.begun, 1u);
    __syncthreads();
    SAP_ASSERT(s->number < gridDim.x);
    return s->number;
}

// ---- Flags to masks

// Bit i: byte i is not 0.
static __device__ __forceinline__ unsigned mask_of_4(unsigned flags) {
    unsigned set = (((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu) | flags) >> 7 & 0x01010101u;
    return set * 0x01020408u >> 24; // brings bit 8i to bit 24 + i
}

static __device__ __forceinline__ unsigned mask_of_16(unsigned a, unsigned b, unsigned c, unsigned d) {
    return mask_of_4(a) | mask_of_4(b) << 4 | mask_of_4(c) << 8 | mask_of_4(d) << 12;
}

// The mask of the flags [first, first + 16); items before 0 and from `count` on are not kept.
static __device__ __forceinline__ unsigned group_mask(const uint8_t* keep, int64_t first, int64_t count) {
    const uint8_t* flags = keep + first;
    const unsigned shift = (unsigned)(uintptr_t)flags & 15;
    if (shift == 0 && first >= 0 && first + GROUP <= count) {
        uint4 v = *(const uint4*)flags;
        return mask_of_16(v.x, v.y, v.z, v.w);
    }
    if (first >= 3 && first + GROUP + 3 <= count) { // whole words around the flags are within the array
        const unsigned* words = (const unsigned*)(flags - shift % 4);
        const unsigned bits = shift % 4 * 8;
        unsigned v[5];
        SAP_UNROLL
        for (int i = 0; i < 4; i++) v[i] = words[i];
        v[4] = bits ? words[4] : 0;
        SAP_UNROLL
        for (int i = 0; i < 4; i++) v[i] = __funnelshift_r(v[i], v[i + 1], bits);
        return mask_of_16(v[0], v[1], v[2], v[3]);
    }
    unsigned mask = 0;
    for (int i = 0; i < GROUP; i++) // ends of the array
        if (first + i >= 0 && first + i < count && flags[i]) mask |= 1u << i;
    return mask;
}

// ---- Masks to places

// Thread i brings the masks of groups [i*each, (i+1)*each). To each mask goes, in its upper half, how many items of the
// tile are kept before the group; the result is how many are in all.
template <int each> static __device__ __forceinline__ unsigned rank_groups(tile_shared* s, unsigned (&mask)[each]) {
    const int lane = (int)threadIdx.x % SAP_WARP, warp = (int)threadIdx.x / SAP_WARP;
    unsigned own = 0;
    SAP_UNROLL
    for (int i = 0; i < each; i++) own += (unsigned)__popc(mask[i]);
    unsigned upto = own;
    SAP_UNROLL
    for (int by = 1; by < SAP_WARP; by *= 2) {
        unsigned below = __shfl_up_sync(SAP_ALL_LANES, upto, (unsigned)by);
        upto += lane >= by ? below : 0;
    }
    if (lane == SAP_WARP - 1) s->warp[warp] = upto;
    __syncthreads();
    unsigned warps = lane < TILE_WARPS ? s->warp[lane] : 0;
    SAP_UNROLL
    for (int by = 1; by < TILE_WARPS; by *= 2) {
        unsigned below = __shfl_up_sync(SAP_ALL_LANES, warps, (unsigned)by);
        warps += lane >= by ? below : 0;
    }
    unsigned before = __shfl_sync(SAP_ALL_LANES, warps, warp ? warp - 1 : 0);
    before = (warp ? before : 0) + upto - own;
    SAP_UNROLL
    for (int i = 0; i < each; i++) {
        unsigned kept = (unsigned)__popc(mask[i]);
        mask[i] |= before << 16;
        before += kept;
    }
    const unsigned kept = __shfl_sync(SAP_ALL_LANES, warps, TILE_WARPS - 1);
    SAP_ASSERT(kept <= TILE_THREADS * each * GROUP && before <= kept);
    return kept;
}

// Where in the tile's output the item `offset` of a group goes, if it is kept.
static __device__ __forceinline__ unsigned place_in_tile(unsigned group, int offset) {
    return (group >> 16) + (unsigned)__popc(group & 0xffff & ((1u << offset) - 1));
}

// ---- How many items are kept ahead of a tile

// In place, a tile writes over items of tiles before it. That is safe: it knows its place only after each of these has
// published its count, and in place a tile does so only when all its kept items are in shared memory. No tile writes
// beyond the end of its own items, so those after it are safe as well. If it is not in place, the count is published as
// soon as it is known.
static __device__ __forceinline__ void tile_publish(const tiles& t, int64_t number, int64_t stride, unsigned kept) {
    if (threadIdx.x == 0) sap_tile_publish(t.status + number, kept, number < stride ? SAP_TILE_PREFIX : SAP_TILE_SUM);
}

static __device__ __forceinline__ void tile_publish_counted(const tiles& t, int64_t number, int64_t stride,
                                                            unsigned kept) {
    if (!t.in_place) tile_publish(t, number, stride, kept);
}

// Called after the barrier that follows the last load.
static __device__ __forceinline__ void tile_publish_loaded(const tiles& t, int64_t number, int64_t stride,
                                                           unsigned kept) {
    if (!t.in_place) return;
    if (threadIdx.x == 0) __threadfence();
    tile_publish(t, number, stride, kept);
}

// How many items are kept before the tile, for all threads. The last tile also writes the total.
static __device__ __forceinline__ unsigned long long tile_kept_before(const tiles& t, tile_shared* s, int64_t number,
                                                                      int64_t stride, unsigned kept, bool last) {
    if (threadIdx.x < SAP_WARP) {
        unsigned long long ahead = sap_tile_prefix(t.status + number % stride, number / stride, stride);
        if (t.in_place) __threadfence();
        if (threadIdx.x == 0) {
            if (number >= stride) sap_tile_publish(t.status + number, ahead + kept, SAP_TILE_PREFIX);
            SAP_ASSERT(ahead + kept <= (unsigned long long)t.count);
            if (last) *t.total = ahead + kept;
            s->ahead = ahead;
        }
    }
    __syncthreads();
    return s->ahead;
}

// ---- Writing

// Copies bytes from shared memory (aligned to 4) to any address, in whole words where that has them.
static __device__ __forceinline__ void write_bytes(unsigned char* to, const unsigned char* from, unsigned bytes) {
    unsigned head = (4 - ((unsigned)(uintptr_t)to & 3)) & 3;
    head = head < bytes ? head : bytes;
    const unsigned words = (bytes - head) / 4, tail = (bytes - head) % 4;
    const unsigned* source = (const unsigned*)from;
    for (unsigned i = threadIdx.x; i < words; i += TILE_THREADS)
        ((unsigned*)(to + head))[i] =
            __funnelshift_r(source[i], source[i + 1], head * 8); // shared memory has a word more
    if (threadIdx.x < head) to[threadIdx.x] = from[threadIdx.x];
    if (threadIdx.x < tail) to[head + 4 * words + threadIdx.x] = from[head + 4 * words + threadIdx.x];
}

#endif
