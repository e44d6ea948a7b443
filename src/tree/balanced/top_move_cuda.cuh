// The builder's top: points move to the descendants of their root, several levels at once.
#ifndef SAPWOOD_TREE_BALANCED_TOP_MOVE_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_MOVE_CUDA_CUH

#include "tree/balanced/top_node_cuda.cuh"

// Numbers a warp's points of each child, in the order of items and lanes; child < 0: no point. The warp's counts are
// left in shared memory.
static __device__ __forceinline__ void top_number(int* counts, int levels, const int* child, int* number) {
    for (int i = sap_lane(); i < 1 << levels; i += SAP_WARP) counts[i] = 0;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        unsigned int peers = __ballot_sync(SAP_ALL_LANES, child[j] >= 0);
        for (int bit = 0; bit < levels; bit++) {
            const unsigned int ones = __ballot_sync(SAP_ALL_LANES, child[j] >> bit & 1);
            peers &= child[j] >> bit & 1 ? ones : ~ones;
        }
        int before = 0;
        if (child[j] >= 0) before = counts[child[j]];
        __syncwarp();
        if (child[j] >= 0 && !(peers & sap_lanes_below())) counts[child[j]] = before + __popc(peers);
        __syncwarp();
        number[j] = before + __popc(peers & sap_lanes_below());
    }
}

// Counts a tile's points of each child; tells every warp where its points of a child begin among those of the tile.
template <typename real, int dims>
static __device__ __forceinline__ void top_add_up(top_tile<real, dims>* t, int levels) {
    const int lane = sap_lane();
    static_assert(TOP_THREADS <= SAP_WARP * SAP_WARP, "a lane adds up the points of a warp");
    for (int child = (int)threadIdx.x / SAP_WARP; child < 1 << levels; child += TOP_WARPS) {
        const int own = lane < TOP_WARPS ? t->places[lane][child] : 0;
        int places = own;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const int other = __shfl_up_sync(SAP_ALL_LANES, places, (unsigned int)step);
            if (lane >= step) places += other;
        }
        if (lane < TOP_WARPS) t->places[lane][child] = places - own;
        if (lane == SAP_WARP - 1) t->total[child] = places;
    }
}

// Where the children begin in a tile is added to a warp's places. Returns, in lane `child` of a warp of the lowest, what
// is to be added to a place in the tile to get its rank: room is taken there.
template <typename real, int dims>
static __device__ __forceinline__ void top_take_room(const top_block<real, dims>& k, top_tile<real, dims>* t,
                                                     int64_t root, int levels, int* delta) {
    const int warp = (int)threadIdx.x / SAP_WARP, lane = sap_lane();
    const int64_t first = k.heap(root, 1 << levels);
    int all = 0, room = 0;
    if (warp * SAP_WARP + lane < 1 << levels) { // a child a thread
        const int child = (int)threadIdx.x, total = t->total[child];
        room =
            (int)k.rank(k.stage->root_level + levels, first + child - ((int64_t)1 << (k.stage->root_level + levels)));
        if (total > 0) room += atomicAdd(&k.work->moved[first + child], total);
    }
    for (int base = 0; base < 1 << levels; base += SAP_WARP) {
        const int child = base + lane, own = child < 1 << levels ? t->total[child] : 0;
        int places = own;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const int other = __shfl_up_sync(SAP_ALL_LANES, places, (unsigned int)step);
            if (lane >= step) places += other;
        }
        const int offset = all + places - own;
        if (child < 1 << levels) t->places[warp][child] += offset;
        if (base == warp * SAP_WARP) *delta = room - offset;
        all += __shfl_sync(SAP_ALL_LANES, places, SAP_WARP - 1);
    }
    __syncwarp();
}

// Writes a tile's points, a column of them, to their ranks.
template <typename type, typename real, int dims, typename to_type>
static __device__ __forceinline__ void top_write_column(const top_tile<real, dims>& t, const type* column,
                                                        const to_type& to, int count) {
#pragma unroll 4
    for (int i = (int)threadIdx.x; i < count; i += TOP_THREADS) to[t.delta[t.child[i]] + i] = column[i];
}

// Moves a tile, its places known, a column at a time.
template <typename real, int dims>
static __device__ __forceinline__ void top_move_columns(const top_block<real, dims>& k, top_tile<real, dims>* t,
                                                        const top_point<real, dims>* point, const int* child,
                                                        const int* place, int count) {
    for (int a = 0; a <= k.axes(); a++) {
        const bool ids = a == k.axes();
        __syncthreads();
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            if (child[j] < 0) continue;
            if (ids)
                ((int32_t*)t->coords[0])[place[j]] = point[j].id();
            else
                t->coords[0][place[j]] = point[j].coordinate(a);
        }
        __syncthreads();
        if (ids)
            top_write_column(*t, (const int32_t*)t->coords[0], k.stage->to_ids, count);
        else
            top_write_column(*t, t->coords[0], k.to(a, 0), count);
    }
}

// Loads a lane's points of a tile, their nodes and, if coordinates are in hand, ids.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void top_load_all(const top_block<real, dims>& k, int levels,
                                                    top_point<real, dims>* point, int* node, int32_t* id,
                                                    unsigned int first, unsigned int to) {
    top_load<rows>(k, point, first, to);
    top_take_nodes(k.work->noted, levels, first, to, node);
#pragma unroll
    for (int j = 0; j < TOP_ITEMS && dims; j++)
        if (first + j * TOP_THREADS < to) id[j] = rows ? (int32_t)point[j].i : point[j].id();
}

// Moves ranks [from, to) of a root to the other buffer, to its descendants `levels` below.
template <bool rows, typename real, int dims>
static __device__ void top_move(const top_block<real, dims>& k, top_tile<real, dims>* t, int64_t root, int levels,
                                unsigned int from, unsigned int to) {
    const int warp = (int)threadIdx.x / SAP_WARP;
    top_point<real, dims> point[TOP_ITEMS];
    int32_t id[TOP_ITEMS];
    int child[TOP_ITEMS];
    if (dims) top_load_all<rows>(k, levels, point, child, id, from + threadIdx.x, to); // on their way meanwhile
    __syncthreads();
    top_take_cuts(k, root, levels, (int)threadIdx.x, t->cut);
    __syncthreads();
    for (unsigned int at = from; at < to; at += TOP_TILE) {
        int place[TOP_ITEMS], delta = 0;
        if (dims == 0) top_load_all<rows>(k, levels, point, child, id, at + threadIdx.x, to);
#pragma unroll
        for (int j = 0; j < TOP_ITEMS && rows; j++) point[j].settle();
        top_descend(k, root, point, child);
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++)
            child[j] = at + j * TOP_THREADS + threadIdx.x < to ? child[j] - (1 << levels) : -1;
        top_number(t->places[warp], levels, child, place);
        __syncthreads();
        top_add_up(t, levels);
        __syncthreads(); // also: the tile before has been written
        top_take_room(k, t, root, levels, &delta);
        const int count = (int)min(to - at, (unsigned int)TOP_TILE);
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            if (child[j] < 0) continue;
            place[j] += t->places[warp][child[j]];
            t->child[place[j]] = (unsigned char)child[j];
            if (dims) t->ids[place[j]] = id[j];
#pragma unroll
            for (int a = 0; a < dims; a++) t->coords[a][place[j]] = point[j].x[a];
        }
        if (dims && at + TOP_TILE < to) { // the next points are on their way while these are written
            top_load_all<rows>(k, levels, point, child, id, at + TOP_TILE + threadIdx.x, to);
        }
        if ((int)threadIdx.x < 1 << levels) t->delta[threadIdx.x] = delta;
        if (dims == 0) {
            top_move_columns(k, t, point, child, place, count);
            continue;
        }
        __syncthreads();
#pragma unroll 2
        for (int i = (int)threadIdx.x; i < count; i += TOP_THREADS) {
            const int64_t rank = t->delta[t->child[i]] + i;
#pragma unroll
            for (int a = 0; a < dims; a++) *k.to(a, rank) = t->coords[a][i];
            k.stage->to_ids[rank] = t->ids[i];
        }
    }
}

template <typename real, int dims, bool rows>
static __global__ void __launch_bounds__(TOP_THREADS)
    build_move(const __grid_constant__ sap_cuda_build b, const __grid_constant__ top_work<real> w,
               const __grid_constant__ top_stage<real> stage) {
    typedef top_tile<real, dims> shared_type;
    SAP_CUDA_SHARED(shared_type, shared);
    const top_block<real, dims> k = {&b, &w, &stage, shared->cut};
    sap_cuda_await_before();
    if (sap_build_is_bad(b)) return;
    top_each_root(k, [&](int64_t root, unsigned int from, unsigned int to) {
        top_move<rows>(k, shared, root, stage.level - stage.root_level, from, to);
    });
}

#endif
