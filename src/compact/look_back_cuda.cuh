// Decoupled look-back (D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016): how
// a tile of items learns how many items are kept ahead of it, while all tiles are counted at once.
//
// A tile tells its own count as soon as it has it. It then adds up what the tiles ahead have told, the nearest first,
// as far as one that tells the count of all items up to its end; with that it can tell the same of its own end. Tiles
// are numbered in the order in which blocks begin, so that nobody waits for a block that has not begun.
#ifndef SAPWOOD_COMPACT_LOOK_BACK_CUDA_CUH
#define SAPWOOD_COMPACT_LOOK_BACK_CUDA_CUH

#include "device/cuda.h"

// A count times 4 and what it is of. One word, written at once, so that it needs no fence; counts go up to 2^62.
typedef unsigned long long sap_told;
enum { SAP_TOLD_NOTHING = 0, SAP_TOLD_OWN = 1, SAP_TOLD_ALL = 2, SAP_TOLD_MASK = 3 };

static __device__ __forceinline__ void sap_tell(sap_told* told, unsigned long long count, int what) {
    *(volatile sap_told*)told = count << 2 | (unsigned)what;
}

static __device__ __forceinline__ sap_told sap_ask(const sap_told* told, int64_t tile, int64_t stride) {
    // Ahead of the first tile nothing is kept.
    return tile >= 0 ? *(const volatile sap_told*)(told + tile * stride) : (sap_told)SAP_TOLD_ALL;
}

// How many items the tiles before this one keep; told[tile * stride] is what a tile has told. Called by a whole warp,
// which looks at SAP_LOOKS * 32 tiles a round trip.
enum { SAP_LOOKS = 4 };
static __device__ unsigned long long sap_kept_ahead(const sap_told* told, int64_t tile, int64_t stride) {
    const int lane = (int)threadIdx.x % SAP_WARP;
    unsigned long long sum = 0;
    for (bool found = false; !found; tile -= SAP_LOOKS * SAP_WARP) {
        sap_told seen[SAP_LOOKS];
        SAP_UNROLL
        for (int i = 0; i < SAP_LOOKS; i++) seen[i] = sap_ask(told, tile - 1 - i * SAP_WARP - lane, stride);
        SAP_UNROLL
        for (int i = 0; i < SAP_LOOKS; i++) {
            while (!found) {
                unsigned silent = __ballot_sync(SAP_ALL_LANES, (seen[i] & SAP_TOLD_MASK) == SAP_TOLD_NOTHING);
                unsigned all = __ballot_sync(SAP_ALL_LANES, (seen[i] & SAP_TOLD_MASK) == SAP_TOLD_ALL);
                unsigned wanted = all ^ (all - 1); // up to the nearest that knows all, or all lanes
                if (!(silent & wanted)) {
                    sum += wanted >> lane & 1 ? seen[i] >> 2 : 0;
                    found = all != 0;
                    break;
                }
                SAP_CUDA_SPIN();
                seen[i] = sap_ask(told, tile - 1 - i * SAP_WARP - lane, stride);
            }
        }
    }
    for (int other = SAP_WARP / 2; other; other /= 2) sum += __shfl_xor_sync(SAP_ALL_LANES, sum, other);
    return sum;
}

#endif
