// Which pairs of an alignment count by what all of them look like, on a GPU: squares are sorted as integers, and one block of
// threads looks at them. What leaves the GPU are the few numbers that it finds.
#include "cloud/align_choose.h"
#include "cloud/align_choose_cuda.h"
#include "tree/order_cuda.cuh"
#include <cub/device/device_radix_sort.cuh>

enum { CHOOSE_THREADS = 256, LOOK_THREADS = 1024 };
#define CHOOSE_NONE 0xffffffffu // the key of a pair that does not count; greater than all others

// What is found.
typedef struct choose_found {
    int64_t keys, best; // pairs that count by themselves; of these, the nearest that are chosen
    uint32_t nearest_key, middle;
} choose_found;

// ---- One pair a point of the target: the nearest, of several the one with the smallest id

static __global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_claim(const sap_align_choice c, unsigned long long* owner2) {
    const int64_t i = (int64_t)blockIdx.x * CHOOSE_THREADS + threadIdx.x;
    if (i < c.count && c.counts[i] > 0) atomicMin(&owner2[c.pairs[i]], sap_ordinal_of(c.distance2[i]));
}

static __global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_settle(const sap_align_choice c, const unsigned long long* owner2, unsigned int* owner) {
    const int64_t i = (int64_t)blockIdx.x * CHOOSE_THREADS + threadIdx.x;
    if (i < c.count && c.counts[i] > 0 && sap_ordinal_of(c.distance2[i]) == owner2[c.pairs[i]])
        atomicMin(&owner[c.pairs[i]], (unsigned int)c.ids[i]);
}

static __global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_owners(const sap_align_choice c, const unsigned int* owner) {
    const int64_t i = (int64_t)blockIdx.x * CHOOSE_THREADS + threadIdx.x;
    if (i < c.count && c.counts[i] > 0 && owner[c.pairs[i]] != (unsigned int)c.ids[i]) c.counts[i] = 0;
}

static void keep_one_to_one(sap_cuda_call* call, const sap_align_choice* c) {
    const sap_cuda_grid grid = sap_cuda_grid_for(c->count, CHOOSE_THREADS);
    const size_t others = (size_t)c->others;
    unsigned long long* owner2 = (unsigned long long*)sap_cuda_take(call, others * sizeof *owner2);
    unsigned int* owner = (unsigned int*)sap_cuda_take(call, others * sizeof *owner);
    sap_cuda_fill(call, owner2, 0xff, others * sizeof *owner2);
    sap_cuda_fill(call, owner, 0xff, others * sizeof *owner);
    sap_cuda_launch(call, choose_claim, grid, *c, owner2);
    sap_cuda_launch(call, choose_settle, grid, *c, (const unsigned long long*)owner2, owner);
    sap_cuda_launch(call, choose_owners, grid, *c, (const unsigned int*)owner);
}

// ---- Sorted squares

static __global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_keys(const double* squares, const float* counts, int64_t count, double size2, uint32_t* keys) {
    const int64_t i = (int64_t)blockIdx.x * CHOOSE_THREADS + threadIdx.x;
    if (i < count) keys[i] = counts[i] > 0 ? sap_choose_key(squares[i], size2) : CHOOSE_NONE;
}

// The keys of squares, ascending, in memory that is taken for them.
static const uint32_t* sorted_keys(sap_cuda_call* call, const sap_align_choice* c, const double* squares,
                                   double size2) {
    uint32_t* keys = (uint32_t*)sap_cuda_take(call, (size_t)c->count * sizeof *keys);
    uint32_t* sorted = (uint32_t*)sap_cuda_take(call, (size_t)c->count * sizeof *keys);
    size_t bytes = 0;
    sap_cuda_launch(call, choose_keys, sap_cuda_grid_for(c->count, CHOOSE_THREADS), squares, (const float*)c->counts,
                    c->count, size2, keys);
    if (call->status != SAP_OK) return NULL;
    sap_cuda_expect(call,
                    cub::DeviceRadixSort::SortKeys(NULL, bytes, keys, sorted, c->count, 0, 32, call->cuda->stream),
                    "planning a sort");
    void* room = sap_cuda_take(call, bytes + 1);
    if (call->status != SAP_OK) return NULL;
    sap_cuda_expect(call,
                    cub::DeviceRadixSort::SortKeys(room, bytes, keys, sorted, c->count, 0, 32, call->cuda->stream),
                    "sorting squares");
    sap_cuda_give(call, room);
    return sorted;
}

// How many of keys[count] are less than a key.
static __device__ int64_t keys_below(const uint32_t* keys, int64_t count, uint32_t key) {
    int64_t low = 0;
    while (low < count) {
        const int64_t middle = low + (count - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

// How many pairs fit best, of the part that a thread looks at.
typedef struct choose_best {
    double value;
    int64_t pairs;
} choose_best;

static __device__ __forceinline__ bool choose_before(const choose_best& a, const choose_best& b) {
    return a.value < b.value || (a.value == b.value && a.pairs < b.pairs);
}

typedef struct choose_shared {
    choose_best best[LOOK_THREADS];
} choose_shared;

static __device__ __forceinline__ double block_sum_of(const uint32_t* sorted, int64_t keys, int64_t block) {
    double sum = 0;
    for (int64_t i = block * SAP_CHOOSE_BLOCK; i < keys && i < (block + 1) * SAP_CHOOSE_BLOCK; i++)
        sum += sap_choose_square(sorted[i], 1);
    return sum;
}

// The number of pairs with the least mean of squares over the third power of their part, for all threads.
static __device__ int64_t find_overlap(const uint32_t* sorted, int64_t keys, int64_t count, double* sums,
                                       choose_shared* shared) {
    const int64_t blocks = (keys + SAP_CHOOSE_BLOCK - 1) / SAP_CHOOSE_BLOCK;
    choose_best own = {(double)INFINITY, keys};
    for (int64_t block = threadIdx.x; block < blocks; block += LOOK_THREADS)
        sums[block] = block_sum_of(sorted, keys, block);
    __syncthreads();
    if (threadIdx.x == 0) {
        double before = 0;
        for (int64_t block = 0; block < blocks; block++) {
            const double sum = sums[block];
            sums[block] = before;
            before += sum;
        }
    }
    __syncthreads();
    for (int64_t block = threadIdx.x; block < blocks; block += LOOK_THREADS) {
        double sum = 0;
        for (int64_t i = block * SAP_CHOOSE_BLOCK; i < keys && i < (block + 1) * SAP_CHOOSE_BLOCK; i++) {
            const double part = (double)(i + 1) / (double)count;
            sum += sap_choose_square(sorted[i], 1);
            const choose_best here = {sap_choose_value(sums[block] + sum, part), i + 1};
            if (part < SAP_LEAST_OVERLAP && i + 1 < keys) continue;
            if (choose_before(here, own)) own = here;
        }
    }
    shared->best[threadIdx.x] = own;
    for (int step = LOOK_THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step && choose_before(shared->best[threadIdx.x + step], shared->best[threadIdx.x]))
            shared->best[threadIdx.x] = shared->best[threadIdx.x + step];
    }
    __syncthreads();
    return shared->best[0].pairs;
}

// The largest key that still counts: that of the pair number `most`, or of the overlap that is found where that is negative.
static __global__ void __launch_bounds__(LOOK_THREADS)
    choose_trim(const uint32_t* sorted, int64_t count, int64_t most, double* sums, choose_found* found) {
    SAP_CUDA_SHARED(choose_shared, shared);
    const int64_t keys = keys_below(sorted, count, CHOOSE_NONE);
    const int64_t best = most < 0 ? find_overlap(sorted, keys, count, sums, shared) : most > 0 ? most : 1;
    if (threadIdx.x != 0) return;
    found->keys = keys;
    found->nearest_key = best < keys ? sorted[best - 1] : CHOOSE_NONE - 1;
    found->best = best < keys ? keys_below(sorted, keys, found->nearest_key + 1) : keys; // those that are as far, too
}

static __global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_near(const sap_align_choice c, double size2, const choose_found* found) {
    const int64_t i = (int64_t)blockIdx.x * CHOOSE_THREADS + threadIdx.x;
    if (i < c.count && sap_choose_key(c.distance2[i], size2) > found->nearest_key) c.counts[i] = 0;
}

static __global__ void choose_middle(const uint32_t* sorted, int64_t count, choose_found* found) {
    const int64_t keys = keys_below(sorted, count, CHOOSE_NONE);
    found->middle = keys ? sorted[keys / 2] : 0;
}

static void trim(sap_cuda_call* call, const sap_aligning* a, const sap_align_choice* c, double size2,
                 choose_found* found) {
    const sap_align_options* o = &a->job->options;
    const int64_t blocks = (c->count + SAP_CHOOSE_BLOCK - 1) / SAP_CHOOSE_BLOCK;
    const int64_t most = o->find_overlap ? -1 : (int64_t)ceil(o->overlap * (double)c->count);
    const sap_cuda_grid one = {1, LOOK_THREADS, sizeof(choose_shared), false};
    double* sums = (double*)sap_cuda_take(call, (size_t)blocks * sizeof *sums);
    const uint32_t* sorted = sorted_keys(call, c, c->distance2, size2);
    sap_cuda_launch(call, choose_trim, one, sorted, c->count, most, sums, found);
    sap_cuda_launch(call, choose_near, sap_cuda_grid_for(c->count, CHOOSE_THREADS), *c, size2,
                    (const choose_found*)found);
}

void sap_align_choose_cuda(sap_cuda_call* call, sap_aligning* a, const sap_align_choice* c) {
    const sap_align_options* o = &a->job->options;
    const double size2 = a->rule.size * a->rule.size;
    const bool trims = o->find_overlap || o->overlap < 1;
    const bool scales = o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0);
    choose_found* there = (choose_found*)sap_cuda_take(call, sizeof *there);
    if (c->ids) keep_one_to_one(call, c);
    if (trims) trim(call, a, c, size2, there);
    if (scales) {
        const uint32_t* sorted = sorted_keys(call, c, c->residual2, size2);
        sap_cuda_launch(call, choose_middle, sap_cuda_grid_for(1, 1), sorted, c->count, there);
    }
    choose_found found;
    if (!trims && !scales) return;
    sap_cuda_fetch(call, &found, there, sizeof found);
    if (call->status != SAP_OK) return;
    if (trims) a->job->out.overlap = !o->find_overlap ? o->overlap : (double)found.best / (double)c->count;
    if (scales) sap_align_set_scale(a, sap_choose_square(found.middle, size2));
}
