// The builder's top: points move to their sides of the candidates, and both sides' bounds are taken on the way.
#ifndef SAPWOOD_TREE_BALANCED_TOP_PARTITION_CUDA_CUH
#define SAPWOOD_TREE_BALANCED_TOP_PARTITION_CUDA_CUH

#include "tree/balanced/top_node_cuda.cuh"

// ---- Bounds

template <typename real, int dims> static __device__ void top_clear_bounds(const top_block<real, dims>& k) {
    for (int i = (int)threadIdx.x; i < 2 * k.axes(); i += TOP_THREADS) {
        const int side = i / k.axes(), a = i % k.axes();
        k.shared->bound[side][0][a] = sap_ordinal_highest<real>();
        k.shared->bound[side][1][a] = sap_ordinal_lowest<real>();
        if (a == 0) k.shared->side_min_id[side] = INT32_MAX;
    }
    __syncthreads();
}

// Merges what the block found about both sides of a node into the children's bounds, and takes what is known there.
template <typename real, int dims>
static __device__ void top_merge_bounds(const top_block<real, dims>& k, int64_t index) {
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * k.axes(); i += TOP_THREADS) {
        const int side = i / k.axes(), a = i % k.axes();
        const int64_t child = 2 * k.heap(index) + side;
        typename sap_ordinal<real>::type *low = &k.shared->bound[side][0][a], *high = &k.shared->bound[side][1][a];
        *low = min(*low, atomicMin(&k.work->lower[child * k.axes() + a], *low));
        *high = max(*high, atomicMax(&k.work->upper[child * k.axes() + a], *high));
        int* id = &k.shared->side_min_id[side];
        if (a == 0) *id = min(*id, atomicMin(&k.work->min_id[child], *id));
    }
    __syncthreads();
}

// Takes a warp's bounds of a side into the block's.
template <typename real, int dims>
static __device__ __forceinline__ void top_take_bounds(const top_block<real, dims>& k, int side, int axis, real least,
                                                       real most) {
    typedef typename sap_ordinal<real>::type ordinal;
    const ordinal low = sap_warp_min(sap_ordinal_of(least)), high = sap_warp_max(sap_ordinal_of(most));
    ordinal* bound = &k.shared->bound[side][0][axis];
    if (sap_lane() != 0 || low > high) return;
    if (low < *bound) atomicMin(bound, low); // read first: most shares change little
    bound = &k.shared->bound[side][1][axis];
    if (high > *bound) atomicMax(bound, high);
}

template <typename real, int dims>
static __device__ __forceinline__ void top_take_min_id(const top_block<real, dims>& k, int side, int min_id) {
    const int id = (int)sap_warp_min((unsigned int)min_id);
    if (sap_lane() == 0 && id < k.shared->side_min_id[side]) atomicMin(&k.shared->side_min_id[side], id);
}

// ---- Room

// The ranks of a warp's share of a node's part. All but the first begin where a warp reads best.
static __device__ __forceinline__ unsigned int top_share(unsigned int from, unsigned int to, int warp) {
    const unsigned int base = from / SAP_WARP * SAP_WARP;
    const unsigned int share = ((to - base + TOP_WARPS - 1) / TOP_WARPS + SAP_WARP - 1) / SAP_WARP * SAP_WARP;
    return min(max(base + (unsigned int)warp * share, from), to);
}

// Counts, of a lane, what goes before and after the candidates.
template <typename real, int dims>
static __device__ __forceinline__ void top_count_sides(const top_block<real, dims>& k, const sap_median<real>& median,
                                                       const typename sap_ordinal<real>::type* pivot, int axis,
                                                       unsigned int from, unsigned int to, int* before, int* after) {
    const real low = sap_real_of(median.low), high = sap_median_last(median);
    if (median.component > 0) { // later components decide, which is rare
#pragma unroll 1
        for (unsigned int i = from + sap_lane(); i < to; i += SAP_WARP) {
            const top_point<real, dims> p = {&k, i};
            typename sap_ordinal<real>::type key;
            const int kind = top_class(median, pivot, axis, k.axes(), p, p.coordinate(axis), &key);
            *before += kind == TOP_BEFORE;
            *after += kind == TOP_AFTER;
        }
        return;
    }
    for (unsigned int at = from; at < to; at += TOP_KEYS * SAP_WARP) {
        real x[TOP_KEYS];
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) x[j] = *k.at(axis, min(at + j * SAP_WARP + sap_lane(), to - 1));
#pragma unroll
        for (int j = 0; j < TOP_KEYS; j++) {
            const unsigned int i = at + j * SAP_WARP + sap_lane();
            *before += x[j] < low && i < to;
            *after += x[j] > high && i < to;
        }
    }
}

// Gives every warp its places: counts what goes where, adds up over the block, and takes room for all of it.
template <typename real, int dims>
static __device__ void top_make_room(const top_block<real, dims>& k, int64_t index, int axis,
                                     const typename sap_ordinal<real>::type* pivot, unsigned int from,
                                     unsigned int to) {
    top_shared<real, dims>* s = k.shared;
    const sap_median<real> median = s->node.median;
    const int warp = (int)threadIdx.x / SAP_WARP, lane = sap_lane();
    const unsigned int first = top_share(from, to, warp), end = top_share(from, to, warp + 1);
    int before = 0, after = 0;
    top_count_sides(k, median, pivot, axis, first, end, &before, &after);
    before = (int)sap_warp_sum((unsigned int)before);
    after = (int)sap_warp_sum((unsigned int)after);
    if (lane == 0) {
        s->count[TOP_BEFORE][warp] = before;
        s->count[TOP_AMONG][warp] = (int)(end - first) - before - after;
        s->count[TOP_AFTER][warp] = after;
    }
    __syncthreads();
    if (warp < 3) { // one warp a class
        const int own = lane < TOP_WARPS ? s->count[warp][lane] : 0;
        int places = own;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const int other = __shfl_up_sync(SAP_ALL_LANES, places, (unsigned int)step);
            if (lane >= step) places += other;
        }
        int base = 0;
        if (lane == SAP_WARP - 1 && places > 0) base = atomicAdd(&k.work->moved[k.level & 1][4 * index + warp], places);
        base = __shfl_sync(SAP_ALL_LANES, base, SAP_WARP - 1) + (int)k.rank(index);
        if (warp != TOP_BEFORE) base += median.below;
        if (warp == TOP_AFTER) base += median.candidates;
        s->count[warp][lane] = base + places - own;
    }
    __syncthreads();
}

// The place of a lane's point among those of its class; `next`: the warp's first free places; `there`: the lanes that
// have a point.
static __device__ __forceinline__ int top_place(int kind, unsigned int there, int* next) {
    const unsigned int before = __ballot_sync(SAP_ALL_LANES, kind == TOP_BEFORE) & there;
    const unsigned int after = __ballot_sync(SAP_ALL_LANES, kind == TOP_AFTER) & there;
    const unsigned int among = there & ~(before | after);
    int place = __popc((kind == TOP_BEFORE ? before : after) & sap_lanes_below());
    place += kind == TOP_BEFORE ? next[TOP_BEFORE] : next[TOP_AFTER];
    if (among) { // few are
        if (kind == TOP_AMONG) place = next[TOP_AMONG] + __popc(among & sap_lanes_below());
        next[TOP_AMONG] += __popc(among);
    }
    next[TOP_BEFORE] += __popc(before);
    next[TOP_AFTER] += __popc(after);
    return place;
}

// ---- Moving, through shared memory

// Asks for a warp's points [at, at + POINTS). Columns are asked for 16 bytes a lane, and `at` is a multiple of a warp;
// rows, as the caller gave them, coordinate by coordinate.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void top_ask(const top_block<real, dims>& k, top_room<real, dims>* room, int stage,
                                               unsigned int at, unsigned int end) {
    enum { POINTS = top_room<real, dims>::POINTS, CHUNK = 16 / sizeof(real), CHUNKS = POINTS / CHUNK, CHUNK_IDS = 4 };
    const int lane = sap_lane();
    if constexpr (rows) {
#pragma unroll
        for (int slot = lane; slot < POINTS; slot += SAP_WARP) {
            const real* row = k.from + (int64_t)min(at + slot, end - 1) * k.row_step;
#pragma unroll
            for (int a = 0; a < dims; a++) SAP_COPY_ASYNC(&room->coords[stage][a][slot], row + a, sizeof(real));
        }
    } else {
        const unsigned int pitch = (unsigned int)k.pitch;
#pragma unroll
        for (int i = lane; i < dims * CHUNKS; i += SAP_WARP) {
            const unsigned int a = i / CHUNKS, slot = i % CHUNKS * CHUNK;
            SAP_COPY_ASYNC(&room->coords[stage][a][slot],
                           k.from + ((int64_t)a * k.pitch + min(at + slot, pitch - CHUNK)), 16);
        }
        if (lane < POINTS / CHUNK_IDS)
            SAP_COPY_ASYNC(&room->ids[stage][lane * CHUNK_IDS],
                           k.from_ids + min(at + lane * CHUNK_IDS, pitch - CHUNK_IDS), 16);
    }
    SAP_COPY_COMMIT();
}

// A point in a ring, as top_class reads it.
template <typename real, int dims> struct top_ring_point {
    const top_room<real, dims>* room;
    int stage, slot;
    int32_t row; // if rows have no ids: the id
    __device__ __forceinline__ real coordinate(int axis) const { return room->coords[stage][axis][slot] + 0; }
    __device__ __forceinline__ int32_t id() const { return row < 0 ? room->ids[stage][slot] : row; }
};

// Sends a lane's point to its place: through its side's queue, but candidates, which are few, at once.
template <typename real, int dims>
static __device__ __forceinline__ void top_send(const top_block<real, dims>& k, top_room<real, dims>* room, int kind,
                                                int place, const top_ring_point<real, dims>& p) {
    enum { QUEUE = top_room<real, dims>::QUEUE };
    if (kind != TOP_AMONG) {
        const int side = kind == TOP_AFTER, at = place & (QUEUE - 1);
#pragma unroll
        for (int a = 0; a < dims; a++) room->queue[side][a][at] = p.coordinate(a);
        room->queue_ids[side][at] = p.id();
    } else {
#pragma unroll
        for (int a = 0; a < dims; a++) k.to[a * k.pitch + place] = p.coordinate(a);
        k.to_ids[place] = p.id();
    }
}

// What a lane has seen leave a queue.
template <typename real, int dims> struct top_bounds {
    real least[dims], most[dims];
    int min_id;
};

template <typename real, int dims> static __device__ __forceinline__ void top_begin_bounds(top_bounds<real, dims>* b) {
    b->min_id = INT32_MAX;
#pragma unroll
    for (int a = 0; a < dims; a++) {
        b->least[a] = (real)INFINITY;
        b->most[a] = -(real)INFINITY;
    }
}

// Writes what a queue holds from *line on, as far as lines are full, or (rest) all that there is before `next`. The
// warp's places begin at `first`.
template <typename real, int dims>
static __device__ __forceinline__ void top_flush(const top_block<real, dims>& k, const top_room<real, dims>* room,
                                                 int side, int first, int next, bool rest, int* line,
                                                 top_bounds<real, dims>* bounds) {
    enum { QUEUE = top_room<real, dims>::QUEUE };
    for (; *line + (rest ? 0 : SAP_WARP - 1) < next; *line += SAP_WARP) {
        const int place = *line + sap_lane(), at = place & (QUEUE - 1);
        if (place < first || place >= next) continue;
        real* to = k.to + place;
#pragma unroll
        for (int a = 0; a < dims; a++) {
            const real x = room->queue[side][a][at];
            to[a * k.pitch] = x;
            bounds->least[a] = sap_least(bounds->least[a], x);
            bounds->most[a] = sap_most(bounds->most[a], x);
        }
        const int32_t id = room->queue_ids[side][at];
        k.to_ids[place] = id;
        bounds->min_id = min(bounds->min_id, id);
    }
}

// Moves a warp's share [from, end): while some points are on their way, those before them are moved.
template <bool rows, typename real, int dims>
static __device__ __forceinline__ void top_move_share(const top_block<real, dims>& k, const sap_median<real>& median,
                                                      const typename sap_ordinal<real>::type* pivot, int axis,
                                                      unsigned int from, unsigned int end) {
    typedef top_room<real, dims> room_type;
    enum { POINTS = room_type::POINTS, STAGES = room_type::STAGES };
    const int warp = (int)threadIdx.x / SAP_WARP;
    const real low = sap_real_of(median.low), high = sap_median_last(median);
    room_type* room = &k.shared->room[warp];
    int next[3] = {k.shared->count[0][warp], k.shared->count[1][warp], k.shared->count[2][warp]};
    const int first_left = next[TOP_BEFORE], first_right = next[TOP_AFTER];
    int line_left = first_left / SAP_WARP * SAP_WARP, line_right = first_right / SAP_WARP * SAP_WARP;
    top_bounds<real, dims> left, right;
    top_begin_bounds(&left);
    top_begin_bounds(&right);
    unsigned int at = from / SAP_WARP * SAP_WARP, asked = at;
    if (from >= end) return;
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++, asked += POINTS)
        if (asked < end) top_ask<rows>(k, room, i, asked, end);
    for (int stage = 0; at < end; stage = stage + 1 < STAGES ? stage + 1 : 0, at += POINTS) {
        static_assert(STAGES == 3, "one tile after this one has been asked for, if there is one");
        if (at + POINTS < end)
            SAP_COPY_WAIT(1);
        else
            SAP_COPY_WAIT(0);
        __syncwarp(); // what other lanes copied has come; what was in the stage before has been read
        if (asked < end) top_ask<rows>(k, room, stage ? stage - 1 : STAGES - 1, asked, end);
        asked += POINTS;
#pragma unroll
        for (int j = 0; j < room_type::ITEMS; j++) {
            const int slot = j * SAP_WARP + sap_lane();
            const unsigned int i = at + slot;
            const bool is_there = i >= from && i < end;
            const top_ring_point<real, dims> p = {room, stage, slot, rows ? (int32_t)i : -1};
            int kind = TOP_AMONG;
            if (median.component == 0) {
                const real x = room->coords[stage][axis][slot];
                kind = x < low ? TOP_BEFORE : x > high ? TOP_AFTER : TOP_AMONG;
            } else if (is_there) {
                typename sap_ordinal<real>::type key;
                kind = top_class(median, pivot, axis, dims, p, p.coordinate(axis), &key);
            }
            const int place = top_place(kind, __ballot_sync(SAP_ALL_LANES, is_there), next);
            if (is_there) top_send(k, room, kind, place, p);
        }
        __syncwarp();
        const bool rest = at + POINTS >= end;
        top_flush(k, room, 0, first_left, next[TOP_BEFORE], rest, &line_left, &left);
        top_flush(k, room, 1, first_right, next[TOP_AFTER], rest, &line_right, &right);
    }
#pragma unroll
    for (int a = 0; a < dims; a++) {
        top_take_bounds(k, 0, a, left.least[a], left.most[a]);
        top_take_bounds(k, 1, a, right.least[a], right.most[a]);
    }
    top_take_min_id(k, 0, left.min_id);
    top_take_min_id(k, 1, right.min_id);
}

// ---- Moving, a column at a time, when the number of dimensions is known at run time only

enum { TOP_ITEMS = 4 }; // points a lane has in hand

// Moves one column of a lane's points and takes their bounds.
template <typename real, int dims>
static __device__ __forceinline__ void top_move_column(const top_block<real, dims>& k, int a, unsigned int at,
                                                       unsigned int end, const int* kind, const int* place) {
    real x[TOP_ITEMS], least[2] = {(real)INFINITY, (real)INFINITY}, most[2] = {-(real)INFINITY, -(real)INFINITY};
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) x[j] = *k.at(a, min(at + j * SAP_WARP + sap_lane(), end - 1));
#pragma unroll
    for (int j = 0; j < TOP_ITEMS; j++) {
        if (kind[j] == TOP_NONE) continue;
        x[j] = x[j] + 0;
        k.to[a * k.pitch + place[j]] = x[j];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            if (kind[j] != (c == 0 ? TOP_BEFORE : TOP_AFTER)) continue;
            least[c] = sap_least(least[c], x[j]);
            most[c] = sap_most(most[c], x[j]);
        }
    }
    top_take_bounds(k, 0, a, least[0], most[0]);
    top_take_bounds(k, 1, a, least[1], most[1]);
}

template <typename real, int dims>
static __device__ __forceinline__ void top_move_columns(const top_block<real, dims>& k, const sap_median<real>& median,
                                                        const typename sap_ordinal<real>::type* pivot, int axis,
                                                        unsigned int from, unsigned int end) {
    const int warp = (int)threadIdx.x / SAP_WARP;
    int next[3] = {k.shared->count[0][warp], k.shared->count[1][warp], k.shared->count[2][warp]};
    int min_id[2] = {INT32_MAX, INT32_MAX};
    for (unsigned int at = from; at < end; at += TOP_ITEMS * SAP_WARP) {
        int kind[TOP_ITEMS], place[TOP_ITEMS];
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            const unsigned int i = at + j * SAP_WARP + sap_lane(), known = min(i, end - 1);
            typename sap_ordinal<real>::type key;
            const top_point<real, dims> p = {&k, known};
            kind[j] = top_class(median, pivot, axis, k.axes(), p, p.coordinate(axis), &key);
            place[j] = top_place(kind[j], __ballot_sync(SAP_ALL_LANES, i < end), next);
            if (i >= end) kind[j] = TOP_NONE;
        }
        for (int a = 0; a < k.axes(); a++) top_move_column(k, a, at, end, kind, place);
#pragma unroll
        for (int j = 0; j < TOP_ITEMS; j++) {
            if (kind[j] == TOP_NONE) continue;
            const int32_t id = top_point<real, dims>{&k, at + j * SAP_WARP + sap_lane()}.id();
            k.to_ids[place[j]] = id;
            if (kind[j] == TOP_BEFORE) min_id[0] = min(min_id[0], id);
            if (kind[j] == TOP_AFTER) min_id[1] = min(min_id[1], id);
        }
    }
    top_take_min_id(k, 0, min_id[0]);
    top_take_min_id(k, 1, min_id[1]);
}

// Moves ranks [from, to) of a node to the other buffer and takes the bounds of both sides.
template <typename real, int dims>
static __device__ void top_partition(const top_block<real, dims>& k, int64_t index, int axis,
                                     const typename sap_ordinal<real>::type* pivot, unsigned int from,
                                     unsigned int to) {
    const sap_median<real> median = k.shared->node.median;
    const int warp = (int)threadIdx.x / SAP_WARP;
    const unsigned int first = top_share(from, to, warp), end = top_share(from, to, warp + 1);
    top_clear_bounds(k);
    top_make_room(k, index, axis, pivot, from, to);
    if constexpr (dims == 0)
        top_move_columns(k, median, pivot, axis, first, end);
    else if (k.from_ids)
        top_move_share<false>(k, median, pivot, axis, first, end);
    else
        top_move_share<true>(k, median, pivot, axis, first, end);
    top_merge_bounds(k, index);
}

#endif
