// Counts become offsets on the GPU in one pass: each tile of rows adds up its own, publishes the sum, and looks back at
// the tiles before it until one has published the sum up to its end (D. Merrill and M. Garland, Single-pass Parallel
// Prefix Scan with Decoupled Look-back, 2016).
#include "base/assert.h"
#include "compact/prefix_sum_cuda.h"

enum { THREADS = 256, WARPS = THREADS / SAP_WARP, ITEMS = 8, TILE = THREADS * ITEMS };

// What a tile has published: a sum times 4, and one of these. Sums stay below 2^62: they are of fewer than 2^31 counts
// below 2^31. It is one word, so that both are always seen together.
enum { NOTHING = 0, OF_THE_TILE = 1, UP_TO_THE_TILE = 2, SAID = 3 };

typedef struct offsets_shared {
    int64_t warp[WARPS]; // sums
    int64_t before;      // of all tiles before this one
    int tile;
} offsets_shared;

static __device__ __forceinline__ int64_t sum_of_warp(int64_t x) {
    for (int step = SAP_WARP / 2; step; step /= 2) x += __shfl_xor_sync(SAP_ALL_LANES, x, step);
    return x;
}

// The sum of each lane's number and all those of the lanes below.
static __device__ __forceinline__ int64_t sums_in_warp(int64_t x) {
    const int lane = (int)(threadIdx.x % SAP_WARP);
    for (int step = 1; step < SAP_WARP; step *= 2) {
        const int64_t other = __shfl_up_sync(SAP_ALL_LANES, x, (unsigned)step);
        if (lane >= step) x += other;
    }
    return x;
}

// The sum of all counts before a tile. Called by a whole warp.
static __device__ int64_t look_back(const unsigned long long* said, int tile) {
    const int lane = (int)(threadIdx.x % SAP_WARP);
    int64_t sum = 0;
    for (int at = tile - 1 - lane;;) {
        const unsigned long long word =
            at < 0 ? (unsigned long long)UP_TO_THE_TILE : *(const volatile unsigned long long*)(said + at);
        if (__any_sync(SAP_ALL_LANES, (word & SAID) == NOTHING)) {
            SAP_CUDA_SPIN();
            continue;
        }
        const unsigned knows = __ballot_sync(SAP_ALL_LANES, (word & SAID) == UP_TO_THE_TILE);
        const int last = knows ? __ffs((int)knows) - 1 : SAP_WARP - 1;
        sum += sum_of_warp(lane <= last ? (int64_t)(word >> 2) : 0);
        if (knows) return sum;
        at -= SAP_WARP;
    }
}

static __device__ __forceinline__ void say(unsigned long long* said, int64_t sum, unsigned what) {
    *(volatile unsigned long long*)said = (unsigned long long)sum << 2 | what;
}

// The first warp publishes the tile's sum for the tiles after it, and finds the sum of those before.
static __device__ void join(offsets_shared* shared, unsigned long long* said) {
    const int lane = (int)threadIdx.x, tile = shared->tile;
    const int64_t whole = lane < WARPS ? shared->warp[lane] : 0, sums = sums_in_warp(whole);
    const int64_t own = __shfl_sync(SAP_ALL_LANES, sums, SAP_WARP - 1);
    if (lane == 0 && tile > 0) say(said + tile, own, OF_THE_TILE);
    const int64_t before = look_back(said, tile);
    if (lane == 0) say(said + tile, before + own, UP_TO_THE_TILE);
    if (lane < WARPS) shared->warp[lane] = sums - whole;
    if (lane == 0) shared->before = before;
}

// Blocks take tiles in the order in which they begin, so that all tiles before one have begun. said[tiles] and the
// number of tiles taken, which follows it, start as zero.
static __global__ void __launch_bounds__(THREADS) add_up(int64_t* sums, int64_t rows, unsigned long long* said) {
    SAP_CUDA_SHARED(offsets_shared, shared);
    if (threadIdx.x == 0) shared->tile = (int)atomicAdd(said + gridDim.x, 1ull);
    __syncthreads();
    const int lane = (int)(threadIdx.x % SAP_WARP), warp = (int)(threadIdx.x / SAP_WARP);
    const int64_t first = (int64_t)shared->tile * TILE + warp * (SAP_WARP * ITEMS) + lane;
    SAP_ASSERT(shared->tile < (int)gridDim.x);
    int64_t own[ITEMS], carried = 0;
    SAP_UNROLL
    for (int i = 0; i < ITEMS; i++) own[i] = first + i * SAP_WARP < rows ? sums[first + i * SAP_WARP] : 0;
    SAP_UNROLL
    for (int i = 0; i < ITEMS; i++) {
        own[i] = carried + sums_in_warp(own[i]);
        carried = __shfl_sync(SAP_ALL_LANES, own[i], SAP_WARP - 1);
    }
    if (lane == 0) shared->warp[warp] = carried;
    __syncthreads();
    if (warp == 0) join(shared, said);
    __syncthreads();
    const int64_t before = shared->before + shared->warp[warp];
    SAP_UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (first + i * SAP_WARP < rows) sums[first + i * SAP_WARP] = before + own[i];
}

void sap_prefix_sum_cuda(sap_cuda_call* call, int64_t* offsets, int64_t rows) {
    sap_cuda_fill(call, offsets, 0, sizeof *offsets);
    if (rows == 0) return;
    const int64_t tiles = (rows + TILE - 1) / TILE;
    unsigned long long* said = (unsigned long long*)sap_cuda_take(call, (size_t)(tiles + 1) * sizeof *said);
    sap_cuda_fill(call, said, 0, (size_t)(tiles + 1) * sizeof *said);
    const sap_cuda_grid grid = {tiles, THREADS, sizeof(offsets_shared), false};
    sap_cuda_launch(call, add_up, grid, offsets + 1, rows, said);
}
