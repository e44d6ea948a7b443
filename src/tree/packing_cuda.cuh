// Packing: the numbers of the bits that are set, or of those that are not, ascending. Blocks count what is in
// their tiles; then each adds up the tiles before its own.
#ifndef SAPWOOD_TREE_PACKING_CUDA_CUH
#define SAPWOOD_TREE_PACKING_CUDA_CUH

#include "base/assert.h"
#include "tree/tree_cuda.h"

enum { SAP_PACKING_THREADS = 256, SAP_PACKING_TILES = 1024 };

typedef struct sap_packing {
    const uint32_t* bits;
    uint32_t flip; // all ones: clear bits are meant
    int32_t count; // bits
    int64_t words, tile_words;
    uint32_t* in_tile; // [tiles]
    int32_t* out;
    uint32_t* total; // NULL: is known
} sap_packing;

typedef struct sap_packing_room {
    uint32_t warp_sum[SAP_PACKING_THREADS / SAP_WARP];
} sap_packing_room;

static __device__ __forceinline__ uint32_t chosen_of(const sap_packing& p, int64_t word, int64_t end) {
    if (word >= end) return 0;
    const int64_t rest = p.count - word * 32;
    const uint32_t valid = rest >= 32 ? 0xffffffffu : (1u << rest) - 1;
    return (p.bits[word] ^ p.flip) & valid;
}

// The block's sum of a number a thread, and the sum of the threads before.
static __device__ uint32_t block_sum(sap_packing_room* room, uint32_t number, uint32_t* before) {
    const int lane = (int)threadIdx.x % SAP_WARP, warp = (int)threadIdx.x / SAP_WARP;
    uint32_t sum = number, total = 0, ahead = 0;
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const uint32_t lower = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)step);
        if (lane >= step) sum += lower;
    }
    __syncthreads(); // the room may still be read
    if (lane == SAP_WARP - 1) room->warp_sum[warp] = sum;
    __syncthreads();
    for (int w = 0; w < SAP_PACKING_THREADS / SAP_WARP; ++w) {
        const uint32_t of_warp = room->warp_sum[w];
        ahead += w < warp ? of_warp : 0;
        total += of_warp;
    }
    *before = ahead + sum - number;
    return total;
}

static __device__ __forceinline__ int64_t tile_end(const sap_packing& p) {
    const int64_t end = ((int64_t)blockIdx.x + 1) * p.tile_words;
    return end < p.words ? end : p.words;
}

static __global__ void __launch_bounds__(SAP_PACKING_THREADS) count_tiles(const sap_packing p) {
    SAP_CUDA_SHARED(sap_packing_room, room);
    const int64_t end = tile_end(p);
    uint32_t number = 0, before;
    for (int64_t word = blockIdx.x * p.tile_words + threadIdx.x; word < end; word += SAP_PACKING_THREADS)
        number += (uint32_t)__popc(chosen_of(p, word, end));
    number = block_sum(room, number, &before);
    if (threadIdx.x == 0) p.in_tile[blockIdx.x] = number;
}

// A warp writes what its lanes' words choose, a word at a time.
static __device__ __forceinline__ void write_words(const sap_packing& p, int64_t first, uint32_t chosen, uint32_t at) {
    const int lane = (int)threadIdx.x % SAP_WARP;
    for (int i = 0; i < SAP_WARP; ++i) {
        const uint32_t word = __shfl_sync(SAP_ALL_LANES, chosen, i);
        const uint32_t to = __shfl_sync(SAP_ALL_LANES, at, i);
        const uint32_t lower = word & ((1u << lane) - 1);
        if (word >> lane & 1u) p.out[to + (uint32_t)__popc(lower)] = (int32_t)((first + i) * 32 + lane);
    }
}

static __global__ void __launch_bounds__(SAP_PACKING_THREADS) write_tiles(const sap_packing p) {
    SAP_CUDA_SHARED(sap_packing_room, room);
    const int64_t end = tile_end(p);
    uint32_t tiles_before = 0, before;
    for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += SAP_PACKING_THREADS) tiles_before += p.in_tile[tile];
    uint32_t base = block_sum(room, tiles_before, &before);
    for (int64_t first = blockIdx.x * p.tile_words; first < end; first += SAP_PACKING_THREADS) {
        const uint32_t chosen = chosen_of(p, first + threadIdx.x, end);
        const uint32_t total = block_sum(room, (uint32_t)__popc(chosen), &before);
        write_words(p, first + threadIdx.x / SAP_WARP * SAP_WARP, chosen, base + before);
        base += total;
    }
    if (p.total && blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *p.total = base;
}

static void sap_pack(sap_cuda_call* call, sap_packing p) {
    p.words = ((int64_t)p.count + 31) / 32;
    p.tile_words = (p.words + SAP_PACKING_TILES - 1) / SAP_PACKING_TILES;
    if (p.tile_words < SAP_PACKING_THREADS) p.tile_words = SAP_PACKING_THREADS;
    sap_cuda_grid grid = {(p.words + p.tile_words - 1) / p.tile_words, SAP_PACKING_THREADS, sizeof(sap_packing_room),
                          false};
    p.in_tile = (uint32_t*)sap_cuda_take(call, SAP_PACKING_TILES * sizeof *p.in_tile);
    sap_cuda_launch(call, count_tiles, grid, p);
    sap_cuda_launch(call, write_tiles, grid, p);
}

#endif
