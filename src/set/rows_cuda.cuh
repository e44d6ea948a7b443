// The points of a set on a CUDA device, and the kernels that change them.
//
// Rows ascend by id, so that a tree over them breaks ties as one over the ids does. A row whose bit in `gone` is set
// holds no point any more. There are two arrays of such bits: a change writes the one that is not in use, and is made by
// taking that into use, once nothing can fail any more.
#ifndef SAPWOOD_SET_ROWS_CUDA_CUH
#define SAPWOOD_SET_ROWS_CUDA_CUH

#include "device/cuda.h"
#include "set/set.h"

enum { ROWS_THREADS = 256 };

typedef struct set_rows {
    unsigned char* memory; // that holds all of these
    size_t bytes;
    void* coords;      // real[room][dims]
    int32_t* ids;      // [room]
    uint32_t* gone[2]; // [words(room)]; bits of rows that are not there yet are 0
    int64_t count, room;
    int32_t dims;
} set_rows;

// New points on the device.
typedef struct set_fresh {
    const void* coords; // real[][stride]
    int64_t count, stride;
    const int32_t* order; // rows by ascending id; NULL: as they come
    const int32_t* ids;   // [count], ascending: of the rows in this order
    const int32_t* given; // [count], as they come; NULL: counted
} set_fresh;

static __host__ __device__ __forceinline__ int64_t set_words(int64_t rows) { return (rows + 31) / 32; }

static __device__ __forceinline__ int64_t set_thread(void) { return (int64_t)blockIdx.x * ROWS_THREADS + threadIdx.x; }

static __device__ __forceinline__ bool set_is_gone(const uint32_t* gone, int64_t row) {
    return gone[row / 32] >> (row % 32) & 1;
}

// The first of ascending ids that is not below `id`.
static __device__ __forceinline__ int64_t set_lower_bound(const int32_t* ids, int64_t count, int32_t id) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- Removing

// Removes ids from the bits; counts those that were there.
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_remove_ids(set_rows r, uint32_t* gone, const int32_t* ids, int64_t count, unsigned long long* removed) {
    const int64_t i = set_thread();
    if (i >= count) return;
    const int64_t row = set_lower_bound(r.ids, r.count, ids[i]);
    if (row == r.count || r.ids[row] != ids[i]) return;
    const uint32_t bit = 1u << (row % 32);
    if (!(atomicOr(&gone[row / 32], bit) & bit)) atomicAdd(removed, 1ull);
}

// Removes what a box takes away. A warp has a word of the bits.
template <typename real>
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_trim_rows(set_rows r, uint32_t* gone, sap_set_box box, unsigned long long* removed) {
    const int64_t row = set_thread();
    bool goes = row < r.count && !set_is_gone(gone, row);
    if (goes) {
        bool inside = true;
        for (int a = 0; a < r.dims; a++) {
            const double x = (double)((const real*)r.coords)[row * r.dims + a];
            inside = inside && box.lower[a] <= x && x <= box.upper[a];
        }
        goes = inside == box.cuts;
    }
    const unsigned going = __ballot_sync(SAP_ALL_LANES, goes);
    if (threadIdx.x % SAP_WARP != 0 || !going) return;
    gone[row / 32] |= going;
    atomicAdd(removed, (unsigned long long)__popc(going));
}

// ---- Inserting

// Ids of new points, ascending: those given, in this order, or counted up from `first`.
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_sort_ids(const int32_t* given, const int32_t* order, int64_t first, int64_t count, int32_t* ids) {
    const int64_t i = set_thread();
    if (i < count) ids[i] = given ? given[order ? order[i] : i] : (int32_t)(first + i);
}

// The first row, as the caller gave them, whose id is in the set.
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_find_held(set_rows r, set_fresh f, unsigned long long* held) {
    const int64_t i = set_thread();
    if (i >= f.count) return;
    const int64_t row = set_lower_bound(r.ids, r.count, f.ids[i]);
    if (row < r.count && r.ids[row] == f.ids[i] && !set_is_gone(r.gone[0], row))
        atomicMin(held, (unsigned long long)(f.order ? f.order[i] : i));
}

template <typename real>
static __device__ __forceinline__ void set_put(const set_rows& r, int64_t at, const real* point, int32_t id) {
    SAP_ASSERT(at >= 0 && at < r.room);
    for (int a = 0; a < r.dims; a++) ((real*)r.coords)[at * r.dims + a] = point[a];
    r.ids[at] = id;
}

template <typename real> static __device__ __forceinline__ const real* set_fresh_point(const set_fresh& f, int64_t i) {
    return (const real*)f.coords + (f.order ? f.order[i] : i) * f.stride;
}

// Puts new points, whose ids are above all others, behind the rows.
template <typename real> static __global__ void __launch_bounds__(ROWS_THREADS) set_append(set_rows r, set_fresh f) {
    const int64_t i = set_thread();
    if (i < f.count) set_put<real>(r, r.count + i, set_fresh_point<real>(f, i), f.ids[i]);
}

// ---- Rows without those that are gone

// live[1 + w]: how many points the rows of word w hold.
static __global__ void __launch_bounds__(ROWS_THREADS) set_count_live(set_rows r, int64_t* live) {
    const int64_t word = set_thread(), left = r.count - word * 32;
    if (left > 0) live[1 + word] = __popc(~r.gone[0][word] & (left < 32 ? (1u << left) - 1 : ~0u));
}

// How many points the rows before this one hold; live: prefix sums by now.
static __device__ __forceinline__ int64_t set_live_before(const set_rows& r, const int64_t* live, int64_t row) {
    const uint32_t below = (1u << (row % 32)) - 1;
    return live[row / 32] + (below ? __popc(~r.gone[0][row / 32] & below) : 0);
}

// Lists the rows that hold points.
static __global__ void __launch_bounds__(ROWS_THREADS) set_list_live(set_rows r, const int64_t* live, int32_t* keep) {
    const int64_t row = set_thread();
    if (row < r.count && !set_is_gone(r.gone[0], row)) keep[set_live_before(r, live, row)] = (int32_t)row;
}

// Moves points to other rows, where new ones will lie among them.
template <typename real>
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_move_old(set_rows r, const int64_t* live, set_fresh f, set_rows to) {
    const int64_t row = set_thread();
    if (row >= r.count || set_is_gone(r.gone[0], row)) return;
    const int64_t at = set_live_before(r, live, row) + set_lower_bound(f.ids, f.count, r.ids[row]);
    set_put<real>(to, at, (const real*)r.coords + row * r.dims, r.ids[row]);
}

template <typename real>
static __global__ void __launch_bounds__(ROWS_THREADS)
    set_move_new(set_rows r, const int64_t* live, set_fresh f, set_rows to) {
    const int64_t i = set_thread();
    if (i >= f.count) return;
    const int64_t at = i + set_live_before(r, live, set_lower_bound(r.ids, r.count, f.ids[i]));
    set_put<real>(to, at, set_fresh_point<real>(f, i), f.ids[i]);
}

// ---- The tree's ids

// Rows' numbers in a balanced tree become ids: one thread for each slot of the leaves, then one for each smallest id.
static __global__ void __launch_bounds__(ROWS_THREADS) set_name_slots(sap_tree tree, const int32_t* ids) {
    const sap_tree_shape& s = tree.shape;
    const int64_t slot = set_thread();
    if (slot >= s.slots) return;
    const int64_t leaf = slot / s.stride, at = slot % s.stride;
    const size_t coords = (size_t)s.dims * (size_t)s.real_bits / 8;
    unsigned char* block = tree.arrays + s.block_at + (size_t)(leaf * s.stride) * (coords + sizeof(int32_t));
    int32_t* id = (int32_t*)(block + (size_t)s.stride * coords) + at;
    if (*id >= 0) *id = ids[*id];
}

static __global__ void __launch_bounds__(ROWS_THREADS)
    set_name_least(int32_t* least, int64_t count, const int32_t* ids) {
    const int64_t i = set_thread();
    if (i < count && least[i] != INT32_MAX) least[i] = ids[least[i]];
}

#endif
