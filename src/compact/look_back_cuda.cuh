// Decoupled look-back (D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016): how
// a tile of items learns how many items are kept ahead of it, while all tiles are counted at once.
//
// A tile publishes its own count (SAP_TILE_SUM) as soon as it has it. It then adds up what the tiles ahead have
// published, the nearest first, until one has published the count of all items up to its end (SAP_TILE_PREFIX); then it
// publishes the same for its own end. Tiles are numbered in the order in which blocks begin, so that no tile waits for
// a block that has not begun.
#ifndef SAPWOOD_COMPACT_LOOK_BACK_CUDA_CUH
#define SAPWOOD_COMPACT_LOOK_BACK_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"

// What a tile has published: a count times 4, and what it counts. One word, written at once, so that it needs no fence;
// counts are below 2^62.
typedef unsigned long long sap_tile_status;
enum { SAP_TILE_UNKNOWN = 0, SAP_TILE_SUM = 1, SAP_TILE_PREFIX = 2, SAP_TILE_MASK = 3 };

static __device__ __forceinline__ void sap_tile_publish(sap_tile_status* status, unsigned long long count, int what) {
    SAP_ASSERT(count < 1ull << 62);
    *(volatile sap_tile_status*)status = count << 2 | (unsigned)what;
}

static __device__ __forceinline__ sap_tile_status sap_tile_status_at(const sap_tile_status* status, int64_t tile,
                                                                     int64_t stride) {
    // Ahead of the first tile nothing is kept.
    return tile >= 0 ? *(const volatile sap_tile_status*)(status + tile * stride) : (sap_tile_status)SAP_TILE_PREFIX;
}

// How many items the tiles before this one keep; status[tile * stride] is a tile's. Called by a whole warp, which looks
// at SAP_LOOKS * 32 tiles at once.
enum { SAP_LOOKS = 4 };
static __device__ unsigned long long sap_tile_prefix(const sap_tile_status* status, int64_t tile, int64_t stride) {
    const int lane = (int)threadIdx.x % SAP_WARP;
    unsigned long long sum = 0;
    for (bool found = false; !found; tile -= SAP_LOOKS * SAP_WARP) {
        sap_tile_status seen[SAP_LOOKS];
        SAP_UNROLL
        for (int i = 0; i < SAP_LOOKS; i++)
            seen[i] = sap_tile_status_at(status, tile - 1 - i * SAP_WARP - lane, stride);
        SAP_UNROLL
        for (int i = 0; i < SAP_LOOKS; i++) {
            while (!found) {
                unsigned silent = __ballot_sync(SAP_ALL_LANES, (seen[i] & SAP_TILE_MASK) == SAP_TILE_UNKNOWN);
                unsigned all = __ballot_sync(SAP_ALL_LANES, (seen[i] & SAP_TILE_MASK) == SAP_TILE_PREFIX);
                unsigned wanted = all ^ (all - 1); // up to the nearest with a prefix, or all lanes
                if (!(silent & wanted)) {
                    sum += wanted >> lane & 1 ? seen[i] >> 2 : 0;
                    found = all != 0;
                    break;
                }
                SAP_CUDA_SPIN();
                seen[i] = sap_tile_status_at(status, tile - 1 - i * SAP_WARP - lane, stride);
            }
        }
    }
    for (int other = SAP_WARP / 2; other; other /= 2) sum += __shfl_xor_sync(SAP_ALL_LANES, sum, other);
    return sum;
}

#endif
