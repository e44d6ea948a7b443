// A rank's points on a GPU: taking them up, their ids, what messages need, and the boxes of a level's nodes.
#include "cluster/nccl/ops.h"
#include "cluster/share_cuda.cuh"

// ---- Boxes

// The box of all points, and so whether all of them are fit to build over: keys of numbers that are not finite lie at the
// ends. Rows with labels are of the node 0, or left out. Each thread keeps the box of all its rows: were the one in memory
// looked at for every tile, all warps would wait for its one line.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_box(const share_view<real> v, typename sap_ordinal<real>::type* box) {
    typedef typename sap_ordinal<real>::type ordinal;
    enum { ROWS = 4, AXES = 4 }; // whose coordinates are asked for at once
    const int64_t all = (int64_t)gridDim.x * SHARE_THREADS;
    for (int axis = 0; axis < v.dims; axis += AXES) {
        ordinal low[AXES], high[AXES];
#pragma unroll
        for (int i = 0; i < AXES; i++) low[i] = high[i] = ~(ordinal)0;
        for (int64_t first = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; first < v.count; first += ROWS * all) {
            real x[ROWS][AXES];
            bool is_in[ROWS];
#pragma unroll
            for (int j = 0; j < ROWS; j++) {
                const int64_t row = first + j * all;
                is_in[j] = row < v.count && v.label(row) == 0;
#pragma unroll
                for (int i = 0; i < AXES; i++) x[j][i] = is_in[j] && axis + i < v.dims ? v.at(row, axis + i) : 0;
            }
#pragma unroll
            for (int j = 0; j < ROWS; j++)
#pragma unroll
                for (int i = 0; i < AXES; i++) {
                    const ordinal own = sap_ordinal_of(x[j][i]);
                    low[i] = is_in[j] ? min(low[i], own) : low[i];
                    high[i] = is_in[j] ? min(high[i], (ordinal)~own) : high[i];
                }
        }
#pragma unroll
        for (int i = 0; i < AXES; i++) {
            const ordinal least = sap_warp_min(low[i]), most = sap_warp_min(high[i]);
            if (sap_lane() != 0 || axis + i >= v.dims) continue;
            ordinal* at = box + axis + i;
            if (least < *(volatile ordinal*)at) atomicMin(at, least);
            if (most < *(volatile ordinal*)(at + v.dims)) atomicMin(at + v.dims, most);
        }
    }
}

// The boxes of many nodes. What a point adds to one is soon little.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_boxes(const share_view<real> v, int nodes, typename sap_ordinal<real>::type* boxes) {
    typedef typename sap_ordinal<real>::type ordinal;
    for (int64_t row = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; row < v.count;
         row += (int64_t)gridDim.x * SHARE_THREADS) {
        const int label = v.label(row);
        if (label >= nodes) continue;
        ordinal* box = boxes + (int64_t)label * 2 * v.dims;
        for (int a = 0; a < v.dims; a++) {
            const ordinal own = sap_ordinal_of(v.at(row, a)), inverse = ~own;
            if (own < *(volatile ordinal*)&box[a]) atomicMin(&box[a], own);
            if (inverse < *(volatile ordinal*)&box[v.dims + a]) atomicMin(&box[v.dims + a], inverse);
        }
    }
}

template <typename real> static void find_boxes(sap_share* s, bool one, int32_t nodes, uint64_t* boxes) {
    typedef typename sap_ordinal<real>::type ordinal;
    sap_cuda_call* call = &s->call;
    const int64_t words = (int64_t)nodes * 2 * s->rows.dims;
    ordinal* there = (ordinal*)share_take(s, &s->counts, (size_t)words * sizeof(ordinal));
    sap_scratch here = {NULL, 0};
    sap_cuda_fill(call, there, 255, (size_t)words * sizeof(ordinal));
    if (one)
        sap_cuda_launch(call, share_box<real>, share_grid(s, s->rows.count / 4 + 1, 0), share_view_of<real>(s), there);
    else
        sap_cuda_launch(call, share_boxes<real>, share_grid(s, s->rows.count, 0), share_view_of<real>(s), (int)nodes,
                        there);
    if (call->status == SAP_OK && !sap_scratch_take(call->device, (size_t)words * sizeof(ordinal), &here))
        call->status = sap_fail(call->device, SAP_ERROR_MEMORY, "no memory for the boxes of %d nodes", (int)nodes);
    if (call->status == SAP_OK) {
        const ordinal* fetched = (const ordinal*)(void*)here.memory;
        sap_cuda_fetch(call, here.memory, there, (size_t)words * sizeof(ordinal));
        // Of narrow keys the upper half is that of wide ones, inverted or not; empty boxes are all ones.
        for (int64_t i = 0; i < words; i++) {
            const bool upper = i % (2 * s->rows.dims) >= s->rows.dims, empty = fetched[i] == (ordinal) ~(ordinal)0;
            boxes[i] = empty ? UINT64_MAX : upper ? ~(uint64_t)(ordinal)~fetched[i] : (uint64_t)fetched[i];
        }
    }
    sap_scratch_give(call->device, &here);
}

extern "C" sap_status sap_share_boxes_cuda(sap_share* s, int32_t nodes, uint64_t* boxes) {
    share_divide_rows(s);
    if (s->call.status != SAP_OK || !s->rows.count)
        memset(boxes, 255, (size_t)nodes * 2 * (size_t)s->rows.dims * sizeof *boxes);
    else if (!s->labels)
        memcpy(boxes, s->root, (size_t)nodes * 2 * (size_t)s->rows.dims * sizeof *boxes);
    else
        SHARE_BY_REAL(s, find_boxes, s, false, nodes, boxes);
    return s->call.status;
}

// ---- Taking them up

// Gives rows that are not finite the label of those that are left out; how many.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_drop(const share_view<real> v, uint16_t* labels, unsigned long long* dropped) {
    for (int64_t row = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; row < v.count;
         row += (int64_t)gridDim.x * SHARE_THREADS) {
        bool finite = true;
        for (int a = 0; a < v.dims; a++) finite = finite && isfinite(v.at(row, a));
        labels[row] = finite ? 0 : SAP_SHARE_NONE;
        if (!finite) atomicAdd(dropped, 1ull);
    }
}

template <typename real> static void launch_drop(sap_share* s, uint16_t* labels, unsigned long long* dropped) {
    sap_cuda_launch(&s->call, share_drop<real>, share_grid(s, s->rows.count, 0), share_view_of<real>(s), labels,
                    dropped);
}

// Whether the box of all points shows that none of them is unfit.
static bool is_fit(const sap_share* s) {
    const double most = sap_largest_coordinate(s->rows.real_bits, s->rows.dims);
    for (int32_t a = 0; a < s->rows.dims; a++) {
        const uint64_t low = s->root[a], high = ~s->root[s->rows.dims + a];
        if (s->root[a] == UINT64_MAX) continue; // no point
        const double least = sap_cut_value(low, s->rows.real_bits), last = sap_cut_value(high, s->rows.real_bits);
        if (!(least >= -most && last <= most)) return false;
    }
    return true;
}

static void take_up(sap_share* s, bool drop_nonfinite, int64_t* not_finite) {
    sap_cuda_call* call = &s->call;
    unsigned long long dropped = 0;
    SHARE_BY_REAL(s, find_boxes, s, true, 1, s->root);
    if (call->status != SAP_OK || is_fit(s)) return;
    sap_tree_options options = {};
    options.drop_nonfinite = drop_nonfinite;
    sap_cuda_rows_check(call, &options, &s->rows); // says which one is not
    unsigned long long* count = (unsigned long long*)sap_cuda_take(call, sizeof dropped);
    uint16_t* labels = (uint16_t*)sap_cuda_take(call, (size_t)s->rows.count * sizeof(uint16_t));
    sap_cuda_fill(call, count, 0, sizeof dropped);
    SHARE_BY_REAL(s, launch_drop, s, labels, count);
    sap_cuda_fetch(call, &dropped, count, sizeof dropped);
    s->labels = labels;
    *not_finite = (int64_t)dropped;
    SHARE_BY_REAL(s, find_boxes, s, true, 1, s->root);
}

extern "C" sap_status sap_share_open_cuda(sap_device* device, const sap_rows* rows, const int64_t* ids,
                                          bool drop_nonfinite, sap_share** share, int64_t* given, int64_t* not_finite) {
    sap_scratch own = {NULL, 0};
    if (!sap_scratch_take(device, sizeof(sap_share), &own))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the points of a rank");
    sap_share* s = (sap_share*)(void*)own.memory;
    memset((void*)s, 0, sizeof *s);
    s->own = own;
    *share = s;
    sap_cuda_call* call = &s->call;
    sap_cuda_begin(call, device);
    call->waits = true; // in the caller's stream, too: ranks wait for one another
    if (call->status == SAP_OK && call->captured)
        call->status =
            sap_fail(device, SAP_ERROR_UNSUPPORTED, "the stream is being captured, and ranks wait for one another");
    s->rows = sap_cuda_rows_in(call, rows);
    s->ids = rows->count ? (const int64_t*)sap_cuda_in(call, ids, ids ? (size_t)rows->count * sizeof *ids : 0) : NULL;
    s->listed = (unsigned long long*)sap_cuda_take(call, sizeof *s->listed);
    if (call->status == SAP_OK) take_up(s, drop_nonfinite, not_finite);
    *given = rows->count - *not_finite;
    return call->status;
}

extern "C" void sap_share_close_cuda(sap_share* share) {
    if (!share) return;
    sap_device* device = share->call.device;
    sap_scratch own = share->own;
    (void)sap_cuda_end(&share->call, SAP_OK);
    sap_scratch_give(device, &share->rooms_here);
    sap_scratch_give(device, &own);
}

// ---- Ids

// The largest id of those that are not left out, the lowest row with a negative one, and whether any id is less than the
// one before it.
typedef struct share_ids {
    unsigned long long largest, bad, falls;
} share_ids;

static __global__ void __launch_bounds__(SHARE_THREADS)
    share_look_at_ids(const int64_t* ids, int64_t count, const uint16_t* labels, share_ids* found) {
    unsigned long long largest = 0;
    for (int64_t row = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; row < count;
         row += (int64_t)gridDim.x * SHARE_THREADS) {
        if (row > 0 && ids[row] < ids[row - 1]) found->falls = 1;
        if (ids[row] < 0)
            atomicMin(&found->bad, (unsigned long long)row);
        else if (!labels || labels[row] != SAP_SHARE_NONE)
            largest = max(largest, (unsigned long long)ids[row]);
    }
    if (largest > *(volatile unsigned long long*)&found->largest) atomicMax(&found->largest, largest);
}

static uint64_t look_at_ids(sap_share* s) {
    sap_cuda_call* call = &s->call;
    share_ids found = {0, UINT64_MAX, 0};
    share_ids* there = (share_ids*)sap_cuda_take(call, sizeof found);
    sap_cuda_copy(call, there, &found, sizeof found);
    sap_cuda_launch(call, share_look_at_ids, share_grid(s, s->rows.count, 0), s->ids, s->rows.count,
                    (const uint16_t*)s->labels, there);
    sap_cuda_fetch(call, &found, there, sizeof found);
    if (call->status == SAP_OK && found.bad != UINT64_MAX)
        call->status =
            sap_fail(call->device, SAP_ERROR_ARGUMENT, "ids: that of row %lld is negative", (long long)found.bad);
    s->ids_ascend = !found.falls;
    return found.largest;
}

extern "C" sap_status sap_share_number_cuda(sap_share* s, bool are_given, int64_t first_id, uint64_t* largest) {
    s->first_id = first_id;
    *largest = 0;
    if (!s->rows.count) return s->call.status;
    if (!are_given) s->ids = NULL;
    *largest = are_given ? look_at_ids(s) : (uint64_t)(first_id + s->rows.count - 1);
    return s->call.status;
}

// ---- Messages

static int32_t ordinal_of(const sap_device* device, uint64_t* reached) {
    *reached = sap_cuda_of(device)->reached;
    return sap_cuda_of(device)->ordinal;
}

static void reach(sap_device* device, int32_t other) {
    sap_cuda* cuda = sap_cuda_of(device);
    sap_cuda_call call;
    const bool own = other == cuda->ordinal;
    const uint64_t bit = UINT64_C(1) << (other & 63);
    if (cuda->reached & bit) return;
    if (sap_cuda_begin(&call, device) == SAP_OK && !own) {
        cuda->calls->reach(cuda->ordinal, other, cuda->pool);
        if (!cuda->messages && cuda->calls->create_stream(&cuda->messages) != cudaSuccess) cuda->messages = NULL;
    }
    if (sap_cuda_end(&call, SAP_OK) == SAP_OK && (own || cuda->messages)) cuda->reached |= bit; // else the next time
}

static void* stream_of(const sap_device* device) { return (void*)sap_cuda_of(device)->stream; }

static void* messages_of(const sap_device* device) {
    const sap_cuda* cuda = sap_cuda_of(device);
    return (void*)(cuda->messages ? cuda->messages : cuda->stream);
}

static sap_status copy(void* to, const void* from, size_t bytes, void* stream) {
    const cudaError_t error = sap_cuda_runtime.copy(to, bytes, from, bytes, bytes, 1, (cudaStream_t)stream);
    return error == cudaSuccess ? SAP_OK : SAP_ERROR_DEVICE_LOST;
}

static sap_status wait(void* stream) {
    return sap_cuda_runtime.wait((cudaStream_t)stream) == cudaSuccess ? SAP_OK : SAP_ERROR_DEVICE_LOST;
}

static sap_status fetch(sap_device* device, void* to, const void* from, size_t bytes) {
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    sap_cuda_fetch(&call, to, from, bytes);
    return sap_cuda_end(&call, SAP_OK);
}

const sap_cluster_ops sap_cluster_ops_cuda = {sap_share_open_cuda,
                                              sap_share_close_cuda,
                                              sap_share_number_cuda,
                                              sap_share_boxes_cuda,
                                              sap_share_count_cuda,
                                              sap_share_divide_cuda,
                                              sap_share_pack_cuda,
                                              sap_share_pack_part_cuda,
                                              sap_share_name_cuda,
                                              sap_share_unpack_cuda,
                                              sap_cuda_release,
                                              fetch,
                                              sap_cluster_nearest_cuda,
                                              sap_cluster_nearest_self_cuda,
                                              sap_cluster_points_cuda,
                                              ordinal_of,
                                              reach,
                                              stream_of,
                                              messages_of,
                                              copy,
                                              wait,
                                              &sap_nccl_ops_cuda};
