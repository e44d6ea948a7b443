// Points on a GPU on their way to other ranks: packed by the subtree that they belong to, in the order of their rows; and
// those that came, put in the order of their ids.
#include "cluster/share_cuda.cuh"

#include <cub/device/device_radix_sort.cuh>

enum {
    PACK_WARPS = SHARE_THREADS / SAP_WARP,
    FEW_PIECES = SAP_WARP,
    PACK_ROUNDS = 4,
    PACK_AT_ONCE = 32, // warps of a multiprocessor
    SUM_EACH = 8,
    MERGED_RUNS = 32, // in one pass
    MERGED_TILE = 32 * SHARE_THREADS
};

// Where a warp's points of each piece go. Of few pieces, lane p has the counter of piece p; of many, memory has.
typedef struct pack_counter {
    long long own;
    long long* all; // [pieces][warps], this warp's
    int64_t warps;
    bool is_few;
} pack_counter;

// Counts the lanes that have the same piece. The first of a piece's places, for all of them, where places are asked for.
template <bool places>
static __device__ __forceinline__ long long pack_add(pack_counter* c, int piece, unsigned int alike) {
    const int lane = sap_lane();
    if (!c->is_few) {
        long long at = 0;
        if (lane == __ffs((int)alike) - 1) {
            at = c->all[piece * c->warps];
            c->all[piece * c->warps] = at + __popc(alike);
        }
        return __shfl_sync(SAP_ALL_LANES, at, __ffs((int)alike) - 1);
    }
    const long long at = places ? __shfl_sync(SAP_ALL_LANES, c->own, piece) : 0;
    if (lane == piece) c->own += __popc(alike);
    return at;
}

// Where the point of each lane goes, whose piece may be -1: none.
template <bool places> static __device__ __forceinline__ long long pack_place(pack_counter* c, int piece) {
    unsigned int waiting = __ballot_sync(SAP_ALL_LANES, piece >= 0);
    long long place = 0;
    while (waiting) {
        const int now = __shfl_sync(SAP_ALL_LANES, piece, __ffs((int)waiting) - 1);
        const unsigned int alike = __ballot_sync(SAP_ALL_LANES, piece == now);
        const long long at = pack_add<places>(c, now, alike);
        if (piece == now) place = at + __popc(alike & sap_lanes_below());
        waiting &= ~alike;
    }
    return place;
}

// The part of the rows that a warp looks at, and in rounds of a warp what each lane does with its own. The labels of several
// rounds are asked for at once.
template <typename real, typename sink>
static __device__ __forceinline__ void pack_rows(const share_view<real>& v, const int32_t* place, int64_t chunk,
                                                 pack_counter* c, const sink& put) {
    const int64_t warp = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    const int64_t end = min((warp + 1) * chunk, v.count);
    for (int64_t first = warp * chunk + sap_lane(); first - sap_lane() < end; first += PACK_ROUNDS * SAP_WARP) {
        int piece[PACK_ROUNDS];
        long long at[PACK_ROUNDS];
#pragma unroll
        for (int i = 0; i < PACK_ROUNDS; i++)
            piece[i] = first + i * SAP_WARP < end ? v.label(first + i * SAP_WARP) : SAP_SHARE_NONE;
#pragma unroll
        for (int i = 0; i < PACK_ROUNDS; i++) {
            const int label = piece[i];
            piece[i] = -1;
            if (label != SAP_SHARE_NONE) piece[i] = label ? place[label - SAP_SHARE_PIECES] : 0;
            at[i] = pack_place<sink::PLACES>(c, piece[i]);
        }
        put(v, first, piece, at);
    }
}

// How many points of each piece are in each warp's part.
struct pack_nothing {
    enum { PLACES = false };
    template <typename real>
    __device__ void operator()(const share_view<real>&, int64_t, const int*, const long long*) const {}
};

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    pack_tally(const share_view<real> v, const int32_t* place, int pieces, int64_t warps, int64_t chunk,
               long long* counts) {
    const int64_t warp = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (warp >= warps) return;
    pack_counter c = {0, counts + warp, warps, pieces <= FEW_PIECES};
    const pack_nothing nothing;
    pack_rows(v, place, chunk, &c, nothing);
    if (c.is_few && sap_lane() < pieces) counts[sap_lane() * warps + warp] = c.own;
}

// Makes the counts of a piece the places where they begin. A warp a piece.
static __global__ void __launch_bounds__(SHARE_THREADS) pack_sum(int pieces, int64_t warps, long long* counts) {
    const int piece = (int)(blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP), lane = sap_lane();
    if (piece >= pieces) return;
    long long before = 0;
    for (int64_t first = 0; first < warps; first += SAP_WARP * SUM_EACH) {
        long long own[SUM_EACH], all = 0;
        long long* at = counts + piece * warps + first + lane * SUM_EACH;
        const int64_t some = warps - first - lane * SUM_EACH;
#pragma unroll
        for (int i = 0; i < SUM_EACH; i++) all += own[i] = i < some ? at[i] : 0;
        long long sum = all;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const long long other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned int)step);
            if (lane >= step) sum += other;
        }
        long long to = before + sum - all;
#pragma unroll
        for (int i = 0; i < SUM_EACH; to += own[i++])
            if (i < some) at[i] = to;
        before += __shfl_sync(SAP_ALL_LANES, sum, SAP_WARP - 1);
    }
}

// Where the points of a piece go.
typedef struct pack_room {
    void *coords, *ids;
} pack_room;

// Writes the points of several rounds: their coordinates, of which some are asked for before any is written, and their rows,
// or ids if they were given.
struct pack_put {
    enum { PLACES = true, AXES = 4 };
    const pack_room* rooms;
    template <typename real>
    __device__ __forceinline__ void operator()(const share_view<real>& v, int64_t first, const int* piece,
                                               const long long* at) const {
        for (int axis = 0; axis < v.dims; axis += AXES) {
            real x[PACK_ROUNDS][AXES];
#pragma unroll
            for (int i = 0; i < PACK_ROUNDS; i++)
#pragma unroll
                for (int a = 0; a < AXES; a++)
                    x[i][a] =
                        piece[i] >= 0 && axis + a < v.dims ? v.coords[(first + i * SAP_WARP) * v.stride + axis + a] : 0;
#pragma unroll
            for (int i = 0; i < PACK_ROUNDS; i++) {
                if (piece[i] < 0) continue;
                real* to = (real*)rooms[piece[i]].coords + at[i] * v.dims + axis;
#pragma unroll
                for (int a = 0; a < AXES; a++)
                    if (axis + a < v.dims) to[a] = x[i][a];
            }
        }
#pragma unroll
        for (int i = 0; i < PACK_ROUNDS; i++) {
            if (piece[i] < 0) continue;
            const int64_t row = first + i * SAP_WARP;
            if (v.ids)
                ((int64_t*)rooms[piece[i]].ids)[at[i]] = v.ids[row];
            else
                ((int32_t*)rooms[piece[i]].ids)[at[i]] = (int32_t)row;
        }
    }
};

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS, PACK_AT_ONCE / PACK_WARPS)
    pack_points(const share_view<real> v, const int32_t* place, int pieces, int64_t warps, int64_t chunk,
                long long* counts, const pack_room* rooms) {
    const int64_t warp = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (warp >= warps) return;
    pack_counter c = {0, counts + warp, warps, pieces <= FEW_PIECES};
    if (c.is_few && sap_lane() < pieces) c.own = counts[sap_lane() * warps + warp];
    const pack_put put = {rooms};
    pack_rows(v, place, chunk, &c, put);
}

template <typename real>
static void launch_pack(sap_share* s, const sap_share_move* m, const int32_t* place, const pack_room* rooms,
                        long long* counts) {
    sap_cuda_call* call = &s->call;
    const share_view<real> v = share_view_of<real>(s);
    const sap_cuda_grid grid = {(s->warps + PACK_WARPS - 1) / PACK_WARPS, SHARE_THREADS, 0, false};
    sap_cuda_launch(call, pack_tally<real>, grid, v, place, (int)m->pieces, s->warps, s->chunk, counts);
    sap_cuda_launch(call, pack_sum, sap_cuda_grid_for((int64_t)m->pieces * SAP_WARP, SHARE_THREADS), (int)m->pieces,
                    s->warps, counts);
    sap_cuda_launch(call, pack_points<real>, grid, v, place, (int)m->pieces, s->warps, s->chunk, counts, rooms);
}

// ---- Room

// Points that come for piece `own` of this rank, from the ranks before `rank`.
static int64_t coming(const sap_share_move* m, int32_t own, int32_t rank) {
    int64_t count = 0;
    for (int32_t r = 0; r < rank; r++) count += m->counts[(int64_t)r * m->own + own];
    return count;
}

// Of all this rank's pieces before number `own`.
static int64_t held_before(const sap_share_move* m, int32_t own) {
    int64_t count = 0;
    for (int32_t i = 0; i < own; i++) count += coming(m, i, m->ranks);
    return count;
}

static size_t width_of(const sap_share* s) { return (size_t)s->rows.dims * (size_t)s->rows.real_bits / 8; }

static void* after(void* memory, int64_t items, size_t bytes) {
    return memory ? (unsigned char*)memory + (size_t)items * bytes : NULL;
}

// What comes is in its place already if it is for one piece, and from ranks all before this one or all after it.
static bool comes_in_place(const sap_share_move* m) {
    return m->own == 1 && (m->ranks == 1 || m->rank == 0 || m->rank == m->ranks - 1);
}

// Memory for what goes and what comes.
static void make_room(sap_share* s, sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    const size_t width = width_of(s), id = (size_t)m->id_bytes;
    int64_t leaving = 0, own_points = 0;
    for (int32_t i = 0; i < m->pieces; i++)
        if (i < m->first || i >= m->first + m->own) leaving += m->leaving[i];
    for (int32_t i = 0; i < m->own; i++) own_points += m->leaving[m->first + i];
    s->held = held_before(m, m->own);
    s->out_coords = sap_cuda_take(call, share_roomy((size_t)leaving * width));
    s->out_ids = sap_cuda_take(call, share_roomy((size_t)leaving * id));
    s->held_coords = sap_cuda_take(call, (size_t)s->held * width);
    s->held_ids = sap_cuda_take(call, (size_t)s->held * id);
    m->send_coords = s->out_coords;
    m->send_ids = s->out_ids;
    if (comes_in_place(m)) {
        const int64_t own = m->rank == 0 ? own_points : 0;
        m->receive_coords = after(s->held_coords, own, width);
        m->receive_ids = after(s->held_ids, own, id);
    } else {
        m->receive_coords = s->in_coords = sap_cuda_take(call, share_roomy((size_t)(s->held - own_points) * width));
        m->receive_ids = s->in_ids = sap_cuda_take(call, share_roomy((size_t)(s->held - own_points) * id));
    }
}

// Where the points of each piece go: what others get, in their order; and between what comes from the ranks before this
// one and from those behind it.
static void list_rooms(const sap_share* s, const sap_share_move* m, pack_room* rooms) {
    int64_t at = 0;
    for (int32_t i = 0; i < m->pieces; i++) {
        const bool own = i >= m->first && i < m->first + m->own;
        const int64_t from = own ? held_before(m, i - m->first) + coming(m, i - m->first, m->rank) : at;
        rooms[i].coords = after(own ? s->held_coords : s->out_coords, from, width_of(s));
        rooms[i].ids = after(own ? s->held_ids : s->out_ids, from, (size_t)m->id_bytes);
        if (!own) at += m->leaving[i];
    }
}

extern "C" sap_status sap_share_pack_cuda(sap_share* s, sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    const size_t pieces = (size_t)m->pieces;
    sap_scratch here = {NULL, 0};
    m->id_bytes = m->ids_are_given ? (int64_t)sizeof(int64_t) : (int64_t)sizeof(int32_t);
    make_room(s, m);
    // Parts of at least a few rounds, for as many warps as a GPU has at once.
    s->chunk = call->status == SAP_OK ? s->rows.count / (PACK_AT_ONCE * (int64_t)call->cuda->multiprocessors) : 0;
    s->chunk = (s->chunk < 16 * SAP_WARP ? 16 * SAP_WARP : (s->chunk + SAP_WARP - 1) / SAP_WARP * SAP_WARP);
    s->warps = (s->rows.count + s->chunk - 1) / s->chunk;
    if (call->status != SAP_OK || !s->rows.count) return call->status;
    int32_t* place = (int32_t*)sap_cuda_take(call, pieces * sizeof *place);
    pack_room* rooms = (pack_room*)sap_cuda_take(call, pieces * sizeof *rooms);
    long long* counts = (long long*)sap_cuda_take(call, pieces * (size_t)s->warps * sizeof *counts);
    if (call->status == SAP_OK && !sap_scratch_take(call->device, pieces * sizeof *rooms, &here))
        call->status =
            sap_fail(call->device, SAP_ERROR_MEMORY, "no memory to move points to %d subtrees", (int)m->pieces);
    if (call->status == SAP_OK) {
        list_rooms(s, m, (pack_room*)(void*)here.memory);
        sap_cuda_copy(call, place, m->place, pieces * sizeof *place);
        sap_cuda_copy(call, rooms, here.memory, pieces * sizeof *rooms);
        sap_cuda_fill(call, counts, 0, pieces * (size_t)s->warps * sizeof *counts);
        SHARE_BY_REAL(s, launch_pack, s, m, place, rooms, counts);
        sap_cuda_expect(call, call->cuda->calls->wait(call->cuda->stream), "packing points"); // others read them
    }
    sap_scratch_give(call->device, &here);
    return call->status;
}

// ---- What came

// Puts what came, which is in the order of ranks and pieces, in the order of pieces and ranks.
static void put_in_place(sap_share* s, const sap_share_move* m) {
    int64_t at = 0;
    for (int32_t r = 0; r < m->ranks; r++)
        for (int32_t i = 0; i < m->own && r != m->rank; i++) {
            const int64_t count = m->counts[(int64_t)r * m->own + i], to = held_before(m, i) + coming(m, i, r);
            const size_t width = width_of(s), id = (size_t)m->id_bytes;
            sap_cuda_copy(&s->call, after(s->held_coords, to, width), after(s->in_coords, at, width),
                          (size_t)count * width);
            sap_cuda_copy(&s->call, after(s->held_ids, to, id), after(s->in_ids, at, id), (size_t)count * id);
            at += count;
        }
    s->in_coords = s->in_ids = NULL;
}

// Ids from rows.
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_rows(const int32_t* rows, int64_t count, int64_t first_id, int64_t* ids) {
    for (int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * SHARE_THREADS)
        ids[i] = first_id + rows[i];
}

// What came from each rank, one behind the other.
typedef struct name_runs {
    int64_t start[MERGED_RUNS + 1];
    int count;
} name_runs;

// Whether any id is less than the one before it: flags[1], flags[0] only where a run begins.
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_look(const int64_t* ids, int64_t count, const __grid_constant__ name_runs runs, int* flags) {
    for (int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * SHARE_THREADS) {
        if (i == 0 || ids[i] >= ids[i - 1]) continue;
        bool begins = false;
        for (int r = 1; r < runs.count; r++) begins = begins || runs.start[r] == i;
        flags[!begins] = 1;
    }
}

static __global__ void __launch_bounds__(SHARE_THREADS) name_number(int64_t count, uint32_t* numbers) {
    const int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x;
    if (i < count) numbers[i] = (uint32_t)i;
}

// How many of ids[from … to - 1], which ascend, are less than an id, or not greater.
static __device__ __forceinline__ int64_t name_below(const int64_t* ids, int64_t from, int64_t to, int64_t id,
                                                     bool equal) {
    const int64_t first = from;
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        if (ids[middle] < id || (equal && ids[middle] == id))
            from = middle + 1;
        else
            to = middle;
    }
    return from - first;
}

typedef struct name_shared {
    int64_t from[MERGED_RUNS], to[MERGED_RUNS]; // what of other runs lies between the ids of a tile
} name_shared;

// Puts the points of a run where they belong among those of all runs: of equal ids first that of the first run. A block
// looks for the part of each other run that its tile falls into, so that its points have not far to look.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_merge(const real* coords, int dims, const int64_t* ids, const __grid_constant__ name_runs runs, int run,
               real* to, int64_t* named) {
    SAP_CUDA_SHARED(name_shared, part);
    const int64_t begin = runs.start[run] + (int64_t)blockIdx.x * MERGED_TILE;
    const int64_t end = min(begin + MERGED_TILE, runs.start[run + 1]);
    for (int r = (int)threadIdx.x; r < 2 * runs.count; r += SHARE_THREADS) {
        const int other = r / 2;
        const int64_t at = runs.start[other] + name_below(ids, runs.start[other], runs.start[other + 1],
                                                          ids[r % 2 ? end - 1 : begin], other < run);
        if (r % 2)
            part->to[other] = at;
        else
            part->from[other] = at;
    }
    __syncthreads();
    for (int64_t i = begin + threadIdx.x; i < end; i += SHARE_THREADS) {
        const int64_t id = ids[i];
        int64_t place = i - runs.start[run];
        for (int r = 0; r < runs.count; r++)
            if (r != run)
                place += part->from[r] - runs.start[r] + name_below(ids, part->from[r], part->to[r], id, r < run);
        named[place] = id;
        for (int a = 0; a < dims; a++) to[place * dims + a] = coords[i * dims + a];
    }
}

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_gather(const real* coords, int dims, const uint32_t* from, int64_t count, real* to) {
    for (int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * SHARE_THREADS)
        for (int a = 0; a < dims; a++) to[i * dims + a] = coords[(int64_t)from[i] * dims + a];
}

template <typename real>
static void launch_gather(sap_share* s, const void* coords, const uint32_t* from, int64_t count, void* to) {
    sap_cuda_launch(&s->call, name_gather<real>, share_grid(s, count, 0), (const real*)coords, (int)s->rows.dims, from,
                    count, (real*)to);
}

template <typename real>
static void launch_merge(sap_share* s, const void* coords, const int64_t* ids, const name_runs& runs, void* to,
                         int64_t* named) {
    for (int r = 0; r < runs.count; r++) {
        sap_cuda_grid grid = sap_cuda_grid_for(runs.start[r + 1] - runs.start[r], MERGED_TILE);
        grid.threads = SHARE_THREADS;
        grid.shared = sizeof(name_shared);
        sap_cuda_launch(&s->call, name_merge<real>, grid, (const real*)coords, (int)s->rows.dims, ids, runs, r,
                        (real*)to, named);
    }
}

// Sorts points by their ids.
static const void* sort_by_id(sap_share* s, const void* coords, int64_t* ids, int64_t count) {
    sap_cuda_call* call = &s->call;
    size_t bytes = 0;
    uint32_t* numbers = (uint32_t*)sap_cuda_take(call, (size_t)count * sizeof *numbers);
    sap_cuda_launch(call, name_number, sap_cuda_grid_for(count, SHARE_THREADS), count, numbers);
    uint64_t* spare_keys = (uint64_t*)sap_cuda_take(call, (size_t)count * sizeof *spare_keys);
    uint32_t* spare = (uint32_t*)sap_cuda_take(call, (size_t)count * sizeof *spare);
    void* sorted = sap_cuda_take(call, (size_t)count * width_of(s));
    cub::DoubleBuffer<uint64_t> keys((uint64_t*)ids, spare_keys);
    cub::DoubleBuffer<uint32_t> values(numbers, spare);
    if (call->status != SAP_OK) return coords;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, values, count, 0, 63, call->cuda->stream),
                    "planning a sort");
    void* room = sap_cuda_take(call, bytes + 1);
    if (call->status != SAP_OK) return coords;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(room, bytes, keys, values, count, 0, 63, call->cuda->stream),
                    "sorting points");
    if (keys.Current() != (uint64_t*)ids) sap_cuda_copy(call, ids, keys.Current(), (size_t)count * sizeof *ids);
    SHARE_BY_REAL(s, launch_gather, s, coords, (const uint32_t*)values.Current(), count, sorted);
    if (call->status != SAP_OK) return coords;
    const void* done[] = {room, spare, spare_keys, numbers};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) sap_cuda_give(call, done[i]);
    s->sorted = sorted;
    return sorted;
}

// Brings points that came with their ids into the order of these, which go to named[count]. Each rank's ascend as a rule.
static const void* order_by_id(sap_share* s, const sap_share_move* m, int32_t own, const void* coords,
                               const int64_t* ids, int64_t* named, int64_t count) {
    sap_cuda_call* call = &s->call;
    name_runs runs;
    int flags[2] = {0, 0};
    memset((void*)&runs, 0, sizeof runs);
    const bool few = m->ranks <= MERGED_RUNS;
    runs.count = few ? (int)m->ranks : 0;
    for (int r = 0; r <= runs.count && few; r++) runs.start[r] = coming(m, own, r);
    int* there = (int*)share_take(s, &s->counts, sizeof flags);
    sap_cuda_fill(call, there, 0, sizeof flags);
    sap_cuda_launch(call, name_look, share_grid(s, count, 0), ids, count, runs, there);
    sap_cuda_fetch(call, flags, there, sizeof flags);
    if (call->status != SAP_OK) return coords;
    if (flags[0] && !flags[1]) {
        void* merged = sap_cuda_take(call, (size_t)count * width_of(s));
        if (call->status == SAP_OK) SHARE_BY_REAL(s, launch_merge, s, coords, ids, runs, merged, named);
        s->sorted = merged;
        return merged;
    }
    sap_cuda_copy(call, named, ids, (size_t)count * sizeof *named);
    return flags[1] ? sort_by_id(s, coords, named, count) : coords;
}

extern "C" sap_status sap_share_unpack_cuda(sap_share* s, const sap_share_move* m, int32_t own, sap_rows* rows,
                                            int64_t** ids, int64_t* room) {
    sap_cuda_call* call = &s->call;
    const int64_t first = held_before(m, own), count = coming(m, own, m->ranks);
    if (s->in_coords) put_in_place(s, m);
    if (s->sorted) sap_cuda_give(call, s->sorted); // of the piece before
    s->sorted = NULL;
    if (call->status == SAP_OK && (!*ids || *room < count)) {
        sap_cuda_release(call->device, *ids, (size_t)*room * sizeof **ids);
        *room = 0;
        *ids = (int64_t*)sap_cuda_allocate(call, (size_t)count * sizeof **ids);
        if (*ids) *room = count;
    }
    int64_t* named = *ids;
    const void *held = after(s->held_ids, first, (size_t)m->id_bytes),
               *coords = after(s->held_coords, first, width_of(s));
    if (m->ids_are_given && count > 0)
        coords = order_by_id(s, m, own, coords, (const int64_t*)held, named, count);
    else if (!m->ids_are_given)
        for (int32_t r = 0; r < m->ranks && call->status == SAP_OK; r++) {
            const int64_t from = coming(m, own, r), some = m->counts[(int64_t)r * m->own + own];
            sap_cuda_launch(call, name_rows, share_grid(s, some, 0), (const int32_t*)held + from, some, m->first_ids[r],
                            named + from);
        }
    rows->coords = coords;
    rows->count = count;
    rows->stride = rows->dims = s->rows.dims;
    rows->real_bits = s->rows.real_bits;
    return call->status;
}
