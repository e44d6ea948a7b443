// Compaction of items of 1, 2, 4, 8 or 16 bytes that begin at multiples of their size: a thread loads its items in
// vectors of 16 bytes and keeps them in registers, until it knows their places in shared memory.
//
// Tiles begin at multiples of 16 bytes. What lies in the first tile ahead of the first item, and in the last one behind
// the last, is not kept.
#ifndef SAPWOOD_COMPACT_SIZED_CUDA_CUH
#define SAPWOOD_COMPACT_SIZED_CUDA_CUH

#include "compact/tile_cuda.cuh"

template <int size> struct sized;
template <> struct sized<1> { typedef uint8_t item; };
template <> struct sized<2> { typedef uint16_t item; };
template <> struct sized<4> { typedef unsigned item; };
template <> struct sized<8> { typedef unsigned long long item; };
template <> struct sized<16> { typedef uint4 item; };

// Items and groups in a tile, items in a vector, groups that a thread ranks.
template <int size> struct sized_tile {
    enum {
        ITEMS = TILE_BYTES / size,
        GROUPS = ITEMS / GROUP,
        EACH = (GROUPS + TILE_THREADS - 1) / TILE_THREADS,
        IN_VECTOR = VECTOR / size
    };
};

template <int size> struct sized_shared {
    tile_shared tile;
    unsigned group[sized_tile<size>::GROUPS]; // mask, and in the upper half the place of its first item
    __align__(16) unsigned char kept[TILE_BYTES + VECTOR];
};

// Number i of the items in a vector.
template <int size> static __device__ __forceinline__ typename sized<size>::item item_of(const uint4& v, int i) {
    const unsigned words[4] = {v.x, v.y, v.z, v.w};
    return (typename sized<size>::item)(words[i * size / 4] >> i * size % 4 * 8);
}
template <> __device__ __forceinline__ unsigned long long item_of<8>(const uint4& v, int i) {
    unsigned long long pairs[2];
    memcpy(pairs, &v, sizeof pairs);
    return pairs[i];
}
template <> __device__ __forceinline__ uint4 item_of<16>(const uint4& v, int) { return v; }

template <typename type> static __device__ __forceinline__ bool differ(type a, type b) { return a != b; }
static __device__ __forceinline__ bool differ(const uint4& a, const uint4& b) {
    return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w)) != 0;
}

// The item of the lane below.
template <typename type> static __device__ __forceinline__ type from_below(type item) {
    return (type)__shfl_up_sync(SAP_ALL_LANES, item, 1u);
}
template <> __device__ __forceinline__ uint8_t from_below(uint8_t item) { return (uint8_t)from_below((unsigned)item); }
template <> __device__ __forceinline__ uint16_t from_below(uint16_t item) {
    return (uint16_t)from_below((unsigned)item);
}
template <> __device__ __forceinline__ uint4 from_below(uint4 item) {
    return make_uint4(from_below(item.x), from_below(item.y), from_below(item.z), from_below(item.w));
}

// ---- Which items are kept

// Masks of a tile that lies within the array, an item at least behind its start, by equal neighbours. The item before
// the tile may be read even in place: other tiles write over it only after this one has published its count, and the
// tile that it belongs to writes the same item there.
template <int size>
static __device__ __forceinline__ void mask_by_neighbors(sized_shared<size>* s, const unsigned char* tile,
                                                         const uint4 (&vector)[VECTORS]) {
    typedef typename sized<size>::item item;
    enum { IN_VECTOR = sized_tile<size>::IN_VECTOR };
    const int lane = (int)threadIdx.x % SAP_WARP;
    item below_warp[VECTORS] = {};
    SAP_UNROLL
    for (int k = 0; k < VECTORS; k++) {
        int number = k * TILE_THREADS + (int)threadIdx.x;
        if (lane == 0) below_warp[k] = *(const item*)(tile + number * VECTOR - size);
    }
    SAP_UNROLL
    for (int k = 0; k < VECTORS; k++) {
        int number = k * TILE_THREADS + (int)threadIdx.x;
        item before = from_below(item_of<size>(vector[k], IN_VECTOR - 1));
        if (lane == 0) before = below_warp[k];
        unsigned mask = 0;
        SAP_UNROLL
        for (int i = 0; i < IN_VECTOR; i++) {
            item self = item_of<size>(vector[k], i);
            mask |= (unsigned)differ(before, self) << i;
            before = self;
        }
        mask <<= number % size * IN_VECTOR; // a group is as many vectors as an item has bytes
        SAP_UNROLL
        for (int other = 1; other < size; other *= 2) mask |= __shfl_xor_sync(SAP_ALL_LANES, mask, other);
        if (number % size == 0) s->group[number / size] = mask;
    }
}

// The mask of 16 items, some of which may lie outside the array.
template <int size> static __device__ unsigned mask_by_item(const tiles& t, int64_t first) {
    typedef typename sized<size>::item item;
    const item* items = (const item*)t.items;
    unsigned mask = 0;
    for (int i = 0; i < GROUP; i++)
        if (first + i >= 0 && first + i < t.count && (first + i == 0 || differ(items[first + i - 1], items[first + i])))
            mask |= 1u << i;
    return mask;
}

template <int size, bool unique>
static __device__ __forceinline__ unsigned rank_tile(const tiles& t, sized_shared<size>* s, int64_t first, bool inside,
                                                     const uint4 (&vector)[VECTORS]) {
    enum { GROUPS = sized_tile<size>::GROUPS, EACH = sized_tile<size>::EACH };
    const int group = (int)threadIdx.x * EACH;
    const bool has_groups = group < GROUPS;
    unsigned mask[EACH];
    SAP_UNROLL
    for (int i = 0; i < EACH; i++) mask[i] = 0;
    if (unique && inside) {
        mask_by_neighbors<size>(s, t.items + first * size, vector);
        __syncthreads();
    }
    SAP_UNROLL
    for (int i = 0; i < EACH && has_groups; i++) {
        if (!unique)
            mask[i] = group_mask(t.keep, first + (group + i) * GROUP, t.count);
        else if (inside)
            mask[i] = s->group[group + i];
        else
            mask[i] = mask_by_item<size>(t, first + (group + i) * GROUP);
    }
    unsigned kept = rank_groups<EACH>(&s->tile, mask);
    SAP_UNROLL
    for (int i = 0; i < EACH && has_groups; i++) s->group[group + i] = mask[i];
    return kept;
}

// ---- Gathering the kept items

template <int size>
static __device__ __forceinline__ void gather(sized_shared<size>* s, const uint4 (&vector)[VECTORS]) {
    typedef typename sized<size>::item item;
    enum { IN_VECTOR = sized_tile<size>::IN_VECTOR };
    SAP_UNROLL
    for (int k = 0; k < VECTORS; k++) {
        const int number = k * TILE_THREADS + (int)threadIdx.x, offset = number % size * IN_VECTOR;
        const unsigned group = s->group[number / size];
        item* to = (item*)s->kept + place_in_tile(group, offset);
        SAP_ASSERT(place_in_tile(group, offset) <= sized_tile<size>::ITEMS);
        SAP_UNROLL
        for (int i = 0; i < IN_VECTOR; i++)
            if (group >> (offset + i) & 1) *to++ = item_of<size>(vector[k], i);
    }
}

// The same from global memory, for a tile of which a part lies outside the array.
template <int size>
static __device__ __forceinline__ void gather_by_item(const tiles& t, sized_shared<size>* s, int64_t first) {
    typedef typename sized<size>::item item;
    const item* items = (const item*)t.items;
    for (int i = (int)threadIdx.x; i < sized_tile<size>::ITEMS; i += TILE_THREADS) {
        const unsigned group = s->group[i / GROUP];
        if (group >> i % GROUP & 1) ((item*)s->kept)[place_in_tile(group, i % GROUP)] = items[first + i];
    }
}

template <int size>
static __device__ __forceinline__ void write_items(unsigned char* to, const unsigned char* from, unsigned kept) {
    typedef typename sized<size>::item item;
    if (size < 4)
        write_bytes(to, from, kept * size);
    else
        for (unsigned i = threadIdx.x; i < kept; i += TILE_THREADS) ((item*)to)[i] = ((const item*)from)[i];
}

template <int size, bool unique>
__global__ static void __launch_bounds__(TILE_THREADS, BLOCKS_AT_ONCE) compact_sized(tiles t) {
    SAP_CUDA_SHARED(sized_shared<size>, s);
    enum { ITEMS = sized_tile<size>::ITEMS };
    const unsigned shift = (unsigned)(uintptr_t)t.items % VECTOR / size; // items from a tile's start to the first
    const int64_t number = tile_number(t, &s->tile), first = number * ITEMS - shift;
    const bool inside = first >= (unique ? 1 : 0) && first + ITEMS <= t.count, last = first + ITEMS >= t.count;
    uint4 vector[VECTORS] = {};
    if (inside) {
        SAP_UNROLL
        for (int k = 0; k < VECTORS; k++)
            vector[k] = __ldcs((const uint4*)(t.items + first * size) + k * TILE_THREADS + threadIdx.x);
    }
    const unsigned kept = rank_tile<size, unique>(t, s, first, inside, vector);
    SAP_ASSERT(kept <= ITEMS);
    tile_publish_counted(t, number, 1, kept);
    __syncthreads();
    if (inside)
        gather<size>(s, vector);
    else
        gather_by_item<size>(t, s, first);
    __syncthreads();
    tile_publish_loaded(t, number, 1, kept);
    const unsigned long long ahead = tile_kept_before(t, &s->tile, number, 1, kept, last);
    write_items<size>(t.out + ahead * size, s->kept, kept);
}

#endif
