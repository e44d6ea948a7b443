// Points on a GPU on their way to other ranks: packed by the subtree that they belong to, in the order of their rows; and
// those that came, put beside those that stay.
#include "cluster/share_cuda.cuh"

enum {
    PACK_WARPS = SHARE_THREADS / SAP_WARP,
    PACK_ROUNDS = 4,
    PACK_STEP = PACK_ROUNDS * SAP_WARP,
    PACK_AT_ONCE = 32, // warps of a multiprocessor
    SUM_EACH = 8
};

// ---- Few pieces: marks

// The pieces of a lane's rows of several rounds, -1: none. What tells them apart is asked for all of them at once.
template <typename real>
static __device__ __forceinline__ void pack_pieces(const share_view<real>& v, const share_halves& halves,
                                                   const int32_t* place, int64_t first, int64_t end, int* piece) {
    uint64_t key[PACK_ROUNDS];
#pragma unroll
    for (int i = 0; i < PACK_ROUNDS; i++) {
        const int64_t row = first + i * SAP_WARP;
        piece[i] = row < end ? v.label(row) : SAP_SHARE_NONE;
        key[i] = share_first_key(v, halves, piece[i], row);
    }
#pragma unroll
    for (int i = 0; i < PACK_ROUNDS; i++) {
        const int label = share_half(v, halves, piece[i], first + i * SAP_WARP, key[i]);
        piece[i] = label == SAP_SHARE_NONE ? -1 : label ? place[label - SAP_SHARE_PIECES] : 0;
    }
}

// Divides what is not divided yet, and marks which piece each row goes to: a warp a chunk, lane p those of piece p.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS, PACK_AT_ONCE / PACK_WARPS)
    pack_mark(const share_view<real> v, const share_halves halves, const int32_t* place, int pieces,
              const sap_share_marks marks, unsigned char* marked) {
    const int64_t chunk = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (chunk >= marks.chunks) return;
    const int lane = sap_lane();
    const int64_t end = min((chunk + 1) * marks.chunk, v.count);
    unsigned char* own = marked + lane * marks.bytes; // of lane p < pieces
    long long count = 0;
    for (int64_t first = chunk * marks.chunk; first < (chunk + 1) * marks.chunk;
         first += PACK_STEP) { // behind the last row, too
        int piece[PACK_ROUNDS];
        uint4 bits = make_uint4(0, 0, 0, 0);
        pack_pieces(v, halves, place, first + lane, end, piece);
        for (int p = 0; p < pieces; p++) {
            const uint4 all =
                make_uint4(__ballot_sync(SAP_ALL_LANES, piece[0] == p), __ballot_sync(SAP_ALL_LANES, piece[1] == p),
                           __ballot_sync(SAP_ALL_LANES, piece[2] == p), __ballot_sync(SAP_ALL_LANES, piece[3] == p));
            if (lane == p) bits = all;
        }
        count += __popc(bits.x) + __popc(bits.y) + __popc(bits.z) + __popc(bits.w);
        if (lane < pieces) *(uint4*)(own + marks.bits + first / 8) = bits;
    }
    if (lane < pieces) ((long long*)own)[chunk] = count;
    if (lane < pieces && chunk + 1 == marks.chunks && marks.chunks % 2)
        ((long long*)own)[chunk + 1] = 0; // before the bits
}

// Makes the counts of a piece the places where they begin. A warp a piece.
static __global__ void __launch_bounds__(SHARE_THREADS)
    pack_sum(int pieces, int64_t chunks, int64_t step, long long* counts) {
    const int piece = (int)(blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP), lane = sap_lane();
    if (piece >= pieces) return;
    long long before = 0;
    for (int64_t first = 0; first < chunks; first += SAP_WARP * SUM_EACH) {
        long long own[SUM_EACH], all = 0;
        long long* at = counts + piece * step + first + lane * SUM_EACH;
        const int64_t some = chunks - first - lane * SUM_EACH;
#pragma unroll
        for (int i = 0; i < SUM_EACH; i++) all += own[i] = i < some ? at[i] : 0;
        long long sum = all;
        for (int near = 1; near < SAP_WARP; near *= 2) {
            const long long other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned int)near);
            if (lane >= near) sum += other;
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
// or ids if they were given, unless marks tell them.
struct pack_put {
    const pack_room* rooms;
    bool with_ids;
    template <typename real>
    __device__ __forceinline__ void operator()(const share_view<real>& v, int64_t first, const int* piece,
                                               const long long* at) const {
        enum { AXES = 16 / sizeof(real) }; // as registers suffice for
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
            if (piece[i] < 0 || !with_ids) continue;
            const int64_t row = first + i * SAP_WARP;
            if (v.ids)
                ((int64_t*)rooms[piece[i]].ids)[at[i]] = v.ids[row];
            else
                ((int32_t*)rooms[piece[i]].ids)[at[i]] = (int32_t)row;
        }
    }
};

// Points of another rank, among whose ids, which ascend as those of rows do, points go; of equal ids first those of the other
// rank, or not.
typedef struct pack_others {
    const int64_t* ids;
    int64_t count;
    bool are_first;
} pack_others;

// Writes the points of some pieces in some chunks.
typedef struct pack_some {
    int first_piece, end_piece, pieces;
    int64_t chunk, end_chunk;
} pack_some;

template <typename real, bool merges>
static __global__ void __launch_bounds__(SHARE_THREADS, PACK_AT_ONCE / PACK_WARPS)
    pack_marked(const share_view<real> v, const pack_some some, const sap_share_marks marks,
                const unsigned char* marked, const pack_put put, const pack_others others) {
    const int64_t chunk = some.chunk + (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (chunk >= some.end_chunk) return;
    const int lane = sap_lane();
    const int64_t end = min((chunk + 1) * marks.chunk, v.count);
    const unsigned char* own = marked + lane * marks.bytes;
    long long place = lane < some.pieces ? ((const long long*)own)[chunk] : 0;
    int64_t from = 0, to = 0; // of the others' ids, those between the chunk's
    if (merges) {
        from = share_below(others.ids, 0, others.count, v.ids[chunk * marks.chunk], others.are_first);
        to = share_below(others.ids, 0, others.count, v.ids[end - 1], others.are_first);
    }
    for (int64_t first = chunk * marks.chunk; first < end; first += PACK_STEP) {
        uint4 all = make_uint4(0, 0, 0, 0);
        if (lane < some.pieces) all = *(const uint4*)(own + marks.bits + first / 8);
        const unsigned int bits[PACK_ROUNDS] = {all.x, all.y, all.z, all.w};
        int piece[PACK_ROUNDS];
        long long at[PACK_ROUNDS];
#pragma unroll
        for (int i = 0; i < PACK_ROUNDS; i++) {
            unsigned int own_bits = 0;
            piece[i] = -1;
            for (int p = some.first_piece; p < some.end_piece; p++) {
                const unsigned int alike = __shfl_sync(SAP_ALL_LANES, bits[i], p);
                const bool is_own = alike >> lane & 1;
                piece[i] = is_own ? p : piece[i];
                own_bits = is_own ? alike : own_bits;
            }
            at[i] = __shfl_sync(SAP_ALL_LANES, place, max(piece[i], 0)) + __popc(own_bits & sap_lanes_below());
            place += __popc(bits[i]);
            if (merges && piece[i] >= 0)
                at[i] += from + share_below(others.ids, from, to, v.ids[first + i * SAP_WARP + lane], others.are_first);
        }
        put(v, first + lane, piece, at);
    }
}

// ---- Many pieces: labels

// Where the point of each lane goes, whose piece may be -1: none. counts[piece][chunks] are the places of this warp.
static __device__ __forceinline__ long long pack_place(long long* counts, int64_t chunks, int piece) {
    const int lane = sap_lane();
    unsigned int waiting = __ballot_sync(SAP_ALL_LANES, piece >= 0);
    long long place = 0;
    while (waiting) {
        const int now = __shfl_sync(SAP_ALL_LANES, piece, __ffs((int)waiting) - 1);
        const unsigned int alike = __ballot_sync(SAP_ALL_LANES, piece == now);
        long long at = 0;
        if (lane == __ffs((int)alike) - 1) {
            at = counts[now * chunks];
            counts[now * chunks] = at + __popc(alike);
        }
        at = __shfl_sync(SAP_ALL_LANES, at, __ffs((int)alike) - 1);
        if (piece == now) place = at + __popc(alike & sap_lanes_below());
        waiting &= ~alike;
    }
    __syncwarp(); // the next to read a count may be another lane
    return place;
}

// Counts the points of each piece in each chunk, or, with `put`, writes them.
template <typename real, bool puts>
static __global__ void __launch_bounds__(SHARE_THREADS, PACK_AT_ONCE / PACK_WARPS)
    pack_labelled(const share_view<real> v, const int32_t* place, const sap_share_marks marks, long long* counts,
                  const pack_put put) {
    const int64_t chunk = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (chunk >= marks.chunks) return;
    const int64_t end = min((chunk + 1) * marks.chunk, v.count);
    const share_halves none = {};
    for (int64_t first = chunk * marks.chunk + sap_lane(); first - sap_lane() < end; first += PACK_STEP) {
        int piece[PACK_ROUNDS];
        long long at[PACK_ROUNDS];
        pack_pieces(v, none, place, first, end, piece);
#pragma unroll
        for (int i = 0; i < PACK_ROUNDS; i++) at[i] = pack_place(counts + chunk, marks.chunks, piece[i]);
        if (puts) put(v, first, piece, at);
    }
}

// ---- All of it

static bool is_marked(const sap_share_move* m) { return m->pieces <= SAP_SHARE_MARKED; }

static sap_cuda_grid pack_grid(int64_t chunks) {
    const sap_cuda_grid grid = {(chunks + PACK_WARPS - 1) / PACK_WARPS, SHARE_THREADS, 0, false};
    return grid;
}

static pack_put put_of(const sap_share* s, const sap_share_move* m) {
    const pack_put put = {(const pack_room*)s->rooms, m->id_bytes > 0};
    return put;
}

template <typename real> static void launch_marks(sap_share* s, const sap_share_move* m, const int32_t* place) {
    sap_cuda_launch(&s->call, pack_mark<real>, pack_grid(s->marks.chunks), share_view_of<real>(s), share_halves_of(s),
                    place, (int)m->pieces, s->marks, s->marked);
}

template <typename real>
static void launch_marked(sap_share* s, const sap_share_move* m, const pack_some& some, const pack_others& others) {
    sap_cuda_launch(&s->call, others.ids ? pack_marked<real, true> : pack_marked<real, false>,
                    pack_grid(some.end_chunk - some.chunk), share_view_of<real>(s), some, s->marks,
                    (const unsigned char*)s->marked, put_of(s, m), others);
}

template <typename real>
static void launch_labelled(sap_share* s, const sap_share_move* m, const int32_t* place, bool puts) {
    sap_cuda_launch(&s->call, puts ? pack_labelled<real, true> : pack_labelled<real, false>, pack_grid(s->marks.chunks),
                    share_view_of<real>(s), place, s->marks, (long long*)(void*)s->marked, put_of(s, m));
}

// ---- Room

// Of all this rank's pieces before number `own`.
static int64_t held_before(const sap_share_move* m, int32_t own) {
    int64_t count = 0;
    for (int32_t i = 0; i < own; i++) count += share_coming(m, i, m->ranks);
    return count;
}

static void* after(void* memory, int64_t items, size_t bytes) {
    return memory ? (unsigned char*)memory + (size_t)items * bytes : NULL;
}

// What comes is in its place already if it is for one piece, and from ranks all before this one or all after it.
static bool comes_in_place(const sap_share_move* m) {
    return m->own == 1 && (m->ranks == 1 || m->rank == 0 || m->rank == m->ranks - 1);
}

// Bytes of the marks for the pieces of this rank, from the ranks before `rank`.
static int64_t coming_marks(const sap_share_move* m, int32_t rank) {
    int64_t bytes = 0;
    for (int32_t r = 0; r < rank; r++)
        bytes += m->own * sap_share_marks_of(m->first_ids[r + 1] - m->first_ids[r]).bytes;
    return bytes;
}

// Memory for what goes and what comes.
static void make_room(sap_share* s, sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    const size_t width = share_width(s), id = (size_t)m->id_bytes;
    int64_t leaving = 0, own_points = 0;
    for (int32_t i = 0; i < m->pieces; i++)
        if (i < m->first || i >= m->first + m->own) leaving += m->leaving[i];
    for (int32_t i = 0; i < m->own; i++) own_points += m->leaving[m->first + i];
    const int64_t held = held_before(m, m->own);
    s->stays_late = m->ids_are_given && m->ranks == 2;
    s->out_coords = sap_cuda_take(call, share_roomy((size_t)leaving * width));
    if (id) s->out_ids = sap_cuda_take(call, share_roomy((size_t)leaving * id));
    if (!s->stays_late) {
        s->held_coords = sap_cuda_take(call, (size_t)held * width);
        if (id) s->held_ids = sap_cuda_take(call, (size_t)held * id);
    }
    if (!id) s->in_marked = (unsigned char*)sap_cuda_take(call, (size_t)coming_marks(m, m->ranks));
    m->send_coords = s->out_coords;
    m->send_ids = s->out_ids;
    m->receive_marks = s->in_marked;
    if (comes_in_place(m) && !s->stays_late) {
        const int64_t own = m->rank == 0 ? own_points : 0;
        m->receive_coords = after(s->held_coords, own, width);
        m->receive_ids = after(s->held_ids, own, id);
    } else {
        m->receive_coords = s->in_coords = sap_cuda_take(call, share_roomy((size_t)(held - own_points) * width));
        if (id) m->receive_ids = s->in_ids = sap_cuda_take(call, share_roomy((size_t)(held - own_points) * id));
    }
}

// Where the points of each piece go: what others get, in their order; and between what comes from the ranks before this
// one and from those behind it.
static void list_rooms(const sap_share* s, const sap_share_move* m, pack_room* rooms) {
    int64_t at = 0;
    for (int32_t i = 0; i < m->pieces; i++) {
        const bool own = i >= m->first && i < m->first + m->own;
        const int64_t from = own ? held_before(m, i - m->first) + share_coming(m, i - m->first, m->rank) : at;
        rooms[i].coords = after(own ? s->held_coords : s->out_coords, from, share_width(s));
        rooms[i].ids = after(own ? s->held_ids : s->out_ids, from, (size_t)m->id_bytes);
        if (!own) at += m->leaving[i];
    }
}

// Copies these to the GPU, and behind them the places of pieces by labels, which it returns.
static int32_t* copy_rooms(sap_share* s, const sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    const size_t rooms = (size_t)m->pieces * sizeof(pack_room), places = (size_t)m->pieces * sizeof *m->place;
    const size_t bytes = rooms + places;
    s->rooms = sap_cuda_take(call, bytes);
    if (call->status == SAP_OK && !sap_scratch_take(call->device, bytes, &s->rooms_here))
        call->status =
            sap_fail(call->device, SAP_ERROR_MEMORY, "no memory to move points to %d subtrees", (int)m->pieces);
    if (call->status != SAP_OK) return NULL;
    list_rooms(s, m, (pack_room*)(void*)s->rooms_here.memory);
    memcpy(s->rooms_here.memory + rooms, m->place, places);
    sap_cuda_copy(call, s->rooms, s->rooms_here.memory, bytes);
    return (int32_t*)(void*)((unsigned char*)s->rooms + rooms);
}

// The first chunk of a part.
static int64_t part_begin(const sap_share* s, const sap_share_move* m, int32_t part) {
    return part == m->parts ? s->marks.chunks : part * (s->marks.chunks / m->parts);
}

// Of two pieces at most, which two ranks have, the one for the other rank. There may be none of that number.
static int32_t leaving_piece(const sap_share_move* m) { return m->first ? 0 : m->own; }

// How many of the points for the one other rank are packed with each part. Of several parts, waits for the marks, which may
// be sent while the first one is packed.
static void find_ends(sap_share* s, sap_share_move* m) {
    const int32_t piece = leaving_piece(m);
    const size_t step = (size_t)part_begin(s, m, 1), width = sizeof *m->ends;
    memset(m->ends, 0, sizeof m->ends);
    m->ends[m->parts - 1] = piece < m->pieces ? m->leaving[piece] : 0;
    if (s->call.status != SAP_OK || m->parts == 1) return;
    const int64_t* begins = (const int64_t*)(const void*)(s->marked + piece * s->marks.bytes) + step;
    const sap_cuda* cuda = s->call.cuda;
    if (step && piece < m->pieces)
        sap_cuda_expect(
            &s->call,
            cuda->calls->copy(m->ends, width, begins, step * width, width, (size_t)m->parts - 1, cuda->stream),
            "fetching counts");
    sap_cuda_expect(&s->call, cuda->calls->wait(cuda->stream), "marking points");
}

static void pack_all(sap_share* s, sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    const int64_t step = is_marked(m) ? s->marks.bytes / (int64_t)sizeof(long long) : s->marks.chunks;
    s->marked = (unsigned char*)sap_cuda_take(call, (size_t)(m->pieces * step) * sizeof(long long));
    m->send_marks = s->marked;
    const int32_t* place = copy_rooms(s, m);
    if (call->status != SAP_OK) return;
    if (is_marked(m)) {
        SHARE_BY_REAL(s, launch_marks, s, m, place);
    } else {
        share_divide_rows(s);
        sap_cuda_fill(call, s->marked, 0, (size_t)(m->pieces * step) * sizeof(long long));
        SHARE_BY_REAL(s, launch_labelled, s, m, place, false);
    }
    sap_cuda_launch(call, pack_sum, sap_cuda_grid_for((int64_t)m->pieces * SAP_WARP, SHARE_THREADS), (int)m->pieces,
                    s->marks.chunks, step, (long long*)(void*)s->marked);
    if (is_marked(m)) {
        find_ends(s, m);
        sap_share_pack_part_cuda(s, m, 0);
    } else {
        SHARE_BY_REAL(s, launch_labelled, s, m, place, true);
    }
}

extern "C" sap_status sap_share_pack_cuda(sap_share* s, sap_share_move* m) {
    sap_cuda_call* call = &s->call;
    SAP_ASSERT(m->parts == 1 || (m->ranks == 2 && is_marked(m)));
    m->id_bytes = (int64_t)(m->ids_are_given ? sizeof(int64_t) : is_marked(m) ? 0 : sizeof(int32_t));
    make_room(s, m);
    s->marks = sap_share_marks_of(s->rows.count);
    if (call->status == SAP_OK && s->rows.count) pack_all(s, m);
    // Others read what is packed, and copy it beside this stream, whose memory it goes to.
    if (call->status == SAP_OK && (m->parts == 1 || !s->rows.count))
        sap_cuda_expect(call, call->cuda->calls->wait(call->cuda->stream), "packing points");
    return call->status;
}

extern "C" void sap_share_pack_part_cuda(sap_share* s, const sap_share_move* m, int32_t part) {
    const int32_t first = s->stays_late ? leaving_piece(m) : 0, end = s->stays_late ? first + 1 : m->pieces;
    const pack_some some = {(int)first, (int)(end < m->pieces ? end : m->pieces), (int)m->pieces,
                            part_begin(s, m, part), part_begin(s, m, part + 1)};
    const pack_others none = {NULL, 0, false};
    SHARE_BY_REAL(s, launch_marked, s, m, some, none);
}

// ---- What came

// Puts what came, which is in the order of ranks and pieces, in the order of pieces and ranks.
static void put_in_place(sap_share* s, const sap_share_move* m) {
    int64_t at = 0;
    for (int32_t r = 0; r < m->ranks; r++)
        for (int32_t i = 0; i < m->own && r != m->rank; i++) {
            const int64_t count = m->counts[(int64_t)r * m->own + i], to = held_before(m, i) + share_coming(m, i, r);
            const size_t width = share_width(s), id = (size_t)m->id_bytes;
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

// Ids from the marks of `rows` rows for one piece: a warp a chunk.
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_marked(const unsigned char* marked, const sap_share_marks marks, int64_t rows, int64_t first_id,
                int64_t* ids) {
    const int64_t chunk = (int64_t)blockIdx.x * PACK_WARPS + threadIdx.x / SAP_WARP;
    if (chunk >= marks.chunks) return;
    const int lane = sap_lane();
    const unsigned int* bits = (const unsigned int*)(marked + marks.bits);
    const int64_t end = min((chunk + 1) * marks.chunk, rows);
    long long at = ((const long long*)marked)[chunk];
    for (int64_t first = chunk * marks.chunk; first < end; first += SAP_WARP * SAP_WARP) {
        const int64_t row = first + lane * SAP_WARP;
        const unsigned int own = row < end ? bits[row / SAP_WARP] : 0;
        for (int i = 0; i < SAP_WARP; i++) {
            const unsigned int all = __shfl_sync(SAP_ALL_LANES, own, i);
            if (all >> lane & 1) ids[at + __popc(all & sap_lanes_below())] = first_id + first + i * SAP_WARP + lane;
            at += __popc(all);
        }
    }
}

// ---- Points that stay, packed when the others have come

// Puts points of another rank among those of this one that stay, of which `own` are the marks. A warp's points lie near one
// another: it counts together what is marked before the first of them.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    name_others(const share_view<real> v, const sap_share_marks marks, const unsigned char* own, const real* coords,
                const pack_others others, real* to, int64_t* named) {
    const int64_t i = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x;
    const int lane = sap_lane();
    const unsigned int* bits = (const unsigned int*)(own + marks.bits);
    const int64_t row = i < others.count ? share_below(v.ids, 0, v.count, others.ids[i], !others.are_first) : v.count;
    const int64_t first = __shfl_sync(SAP_ALL_LANES, row, 0);
    const int64_t first_chunk = min(first / marks.chunk, marks.chunks - 1),
                  chunk = min(row / marks.chunk, marks.chunks - 1);
    unsigned int before = 0;
    for (int64_t w = first_chunk * marks.chunk / SAP_WARP + lane; w < first / SAP_WARP; w += SAP_WARP)
        before += (unsigned int)__popc(bits[w]);
    before = sap_warp_sum(before);
    if (i >= others.count) return;
    int64_t place = i + ((const long long*)own)[chunk] + (chunk == first_chunk ? before : 0);
    for (int64_t w = chunk == first_chunk ? first / SAP_WARP : chunk * marks.chunk / SAP_WARP; w < row / SAP_WARP; w++)
        place += __popc(bits[w]);
    if (row % SAP_WARP) place += __popc(bits[row / SAP_WARP] & ((1u << row % SAP_WARP) - 1));
    named[place] = others.ids[i];
    for (int a = 0; a < v.dims; a++) to[place * v.dims + a] = coords[i * v.dims + a];
}

template <typename real>
static void launch_others(sap_share* s, const unsigned char* own, const pack_others& others, void* to, int64_t* named) {
    sap_cuda_launch(&s->call, name_others<real>, sap_cuda_grid_for(others.count, SHARE_THREADS), share_view_of<real>(s),
                    s->marks, own, (const real*)s->in_coords, others, (real*)to, named);
}

// Packs the points that stay, to where they begin among the points held, or among the others.
static void pack_own(sap_share* s, const sap_share_move* m, void* coords, int64_t* ids, const pack_others& others) {
    const pack_room room = {coords, ids};
    const pack_some some = {(int)m->first, (int)m->first + 1, (int)m->pieces, 0, s->marks.chunks};
    if (!s->rooms) return; // no rows
    sap_cuda_copy(&s->call, (pack_room*)s->rooms + m->first, &room, sizeof room);
    SHARE_BY_REAL(s, launch_marked, s, m, some, others);
}

// Where ids ascend on both ranks, points are written once. Otherwise they are put together, rank by rank.
static const void* merge_late(sap_share* s, const sap_share_move* m, int64_t* ids, int64_t count) {
    sap_cuda_call* call = &s->call;
    const size_t width = share_width(s);
    const int32_t other = 1 - m->rank;
    const pack_others others = {(const int64_t*)s->in_ids, m->counts[other], other == 0}, none = {NULL, 0, false};
    void* coords = sap_cuda_take(call, (size_t)count * width);
    if (s->rows.count && s->ids_ascend && share_ids_ascend(s, others.ids, others.count)) {
        const unsigned char* own = s->marked + m->first * s->marks.bytes;
        if (call->status == SAP_OK) pack_own(s, m, coords, ids, others);
        SHARE_BY_REAL(s, launch_others, s, own, others, coords, ids);
        return s->sorted = coords;
    }
    s->held_coords = coords;
    s->held_ids = sap_cuda_take(call, (size_t)count * sizeof(int64_t));
    if (call->status != SAP_OK) return coords;
    const int64_t before = share_coming(m, 0, m->rank);
    pack_own(s, m, after(coords, before, width), (int64_t*)s->held_ids + before, none);
    put_in_place(s, m);
    return share_order_by_id(s, m, 0, coords, (const int64_t*)s->held_ids, ids, count);
}

// ---- Names and points

// Names the points of a piece that come from a rank, which are from number `from` on.
static void name_points(sap_share* s, const sap_share_move* m, int32_t own, int32_t rank, int64_t from, int64_t* ids) {
    const int64_t rows = m->first_ids[rank + 1] - m->first_ids[rank];
    const int64_t count = m->counts[(int64_t)rank * m->own + own];
    if (!m->id_bytes) {
        const sap_share_marks marks = sap_share_marks_of(rows);
        const unsigned char* marked = s->in_marked + coming_marks(m, rank) + own * marks.bytes;
        sap_cuda_launch(&s->call, name_marked, pack_grid(count ? marks.chunks : 0), marked, marks, rows,
                        m->first_ids[rank], ids + from);
    } else {
        const int32_t* held = (const int32_t*)s->held_ids + held_before(m, own) + from;
        sap_cuda_launch(&s->call, name_rows, share_grid(s, count, 0), held, count, m->first_ids[rank], ids + from);
    }
}

extern "C" void sap_share_name_cuda(sap_share* s, const sap_share_move* m, int32_t own, int64_t** ids, int64_t* room) {
    sap_cuda_call* call = &s->call;
    const int64_t count = share_coming(m, own, m->ranks);
    if (m->id_bytes && s->in_coords && !s->stays_late) put_in_place(s, m);
    if (call->status == SAP_OK && (!*ids || *room < count)) {
        sap_cuda_release(call->device, *ids, (size_t)*room * sizeof **ids);
        *room = 0;
        *ids = (int64_t*)sap_cuda_allocate(call, (size_t)count * sizeof **ids);
        if (*ids) *room = count;
    }
    for (int32_t r = 0; r < m->ranks && !m->ids_are_given && call->status == SAP_OK; r++)
        name_points(s, m, own, r, share_coming(m, own, r), *ids);
}

extern "C" sap_status sap_share_unpack_cuda(sap_share* s, const sap_share_move* m, int32_t own, int64_t* ids,
                                            sap_rows* rows) {
    const int64_t first = held_before(m, own), count = share_coming(m, own, m->ranks);
    if (s->in_coords && !s->stays_late) put_in_place(s, m);
    if (s->sorted) sap_cuda_give(&s->call, s->sorted); // of the piece before
    s->sorted = NULL;
    const void* coords = after(s->held_coords, first, share_width(s));
    if (s->stays_late)
        coords = merge_late(s, m, ids, count);
    else if (m->ids_are_given && count > 0 && s->call.status == SAP_OK)
        coords = share_order_by_id(s, m, own, coords, (const int64_t*)s->held_ids + first, ids, count);
    rows->coords = coords;
    rows->count = count;
    rows->stride = rows->dims = s->rows.dims;
    rows->real_bits = s->rows.real_bits;
    return s->call.status;
}
