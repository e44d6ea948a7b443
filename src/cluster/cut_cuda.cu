// The cut's counts on a GPU: histograms of the keys in question, and the labels of the halves.
#include "cluster/share_cuda.cuh"

// ---- Histograms

// The bin of a row at its node, or -1 if it is not in question there.
template <typename real>
static __device__ __forceinline__ int share_bin(const share_view<real>& v, const sap_share_node* node, int64_t row,
                                                int bins) {
    const int axis = node->axis, component = node->component;
    if (!node->goes_on) return -1;
    for (int c = node->from; c < component; c++)
        if (v.key(row, axis, c) != node->pivot[c]) return -1;
    const uint64_t key = v.key(row, axis, component);
    if (key < node->low || key > node->high) return -1;
    if (node->scale > 0) return SAP_SHARE_BIN(real, node, v.at(row, axis), bins);
    return (int)((key - node->low) >> node->shift);
}

// Counts the rows of `list`, or all, that are in question, and lists them in `next` if there is one.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_count(const share_view<real> v, const sap_share_node* node, int nodes, int bins, const int32_t* list,
                int64_t listed, int32_t* next, unsigned long long* next_listed, unsigned int* histogram,
                bool in_shared) {
    SAP_CUDA_SHARED(unsigned int, own);
    for (int i = (int)threadIdx.x; i < nodes * bins && in_shared; i += SHARE_THREADS) own[i] = 0;
    __syncthreads();
    unsigned int* counts = in_shared ? own : histogram;
    for (int64_t first = (int64_t)blockIdx.x * SHARE_THREADS; first < listed;
         first += (int64_t)gridDim.x * SHARE_THREADS) {
        const int64_t i = first + threadIdx.x;
        int64_t row = -1;
        int bin = -1;
        if (i < listed) {
            row = list ? list[i] : i;
            const int label = v.label(row);
            if (label < nodes) {
                bin = share_bin(v, node + label, row, bins);
                SAP_ASSERT(bin < bins);
                if (bin >= 0) atomicAdd(&counts[(int64_t)label * bins + bin], 1u);
            }
        }
        if (!next) continue;
        const unsigned int stay = __ballot_sync(SAP_ALL_LANES, bin >= 0);
        if (!stay) continue;
        unsigned long long at = 0;
        if (sap_lane() == 0) at = atomicAdd(next_listed, (unsigned long long)__popc(stay));
        at = __shfl_sync(SAP_ALL_LANES, at, 0) + (unsigned long long)__popc(stay & sap_lanes_below());
        if (bin >= 0) next[at] = (int32_t)row;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < nodes * bins && in_shared; i += SHARE_THREADS)
        if (own[i]) atomicAdd(&histogram[i], own[i]);
}

template <typename real>
static void launch_count(sap_share* s, int32_t nodes, const sap_share_node* node, int32_t bins, int64_t listed,
                         unsigned int* histogram) {
    const bool in_shared = (int64_t)nodes * bins <= SAP_SHARE_BINS;
    const int64_t count = s->list ? listed : s->rows.count;
    sap_cuda_launch(&s->call, share_count<real>,
                    share_grid(s, count, in_shared ? (size_t)nodes * (size_t)bins * sizeof(unsigned int) : 0),
                    share_view_of<real>(s), node, (int)nodes, (int)bins, (const int32_t*)s->list, count, s->next,
                    s->listed, histogram, in_shared);
}

extern "C" sap_status sap_share_count_cuda(sap_share* s, int32_t nodes, const sap_share_node* node, int32_t bins,
                                           int64_t listed, uint32_t* histogram) {
    sap_cuda_call* call = &s->call;
    const size_t bytes = (size_t)nodes * (size_t)bins * sizeof *histogram;
    if (call->status != SAP_OK || !s->rows.count) {
        memset(histogram, 0, bytes);
        return call->status;
    }
    sap_share_node* there = (sap_share_node*)share_take(s, &s->nodes, (size_t)nodes * sizeof *node);
    unsigned int* counts = (unsigned int*)share_take(s, &s->counts, bytes);
    int64_t looked_at = 0;
    // The list that the last call made is looked at, and of it a next one is made.
    if (listed < 0) {
        s->list = s->next = NULL;
    } else {
        s->list = s->next;
        looked_at = s->in_question;
        s->next = (int32_t*)share_take(s, &s->lists[s->list != NULL && s->list == s->lists[0].memory],
                                       (size_t)(listed + SAP_WARP) * sizeof(int32_t));
        s->in_question = listed;
    }
    sap_cuda_copy(call, there, node, (size_t)nodes * sizeof *node);
    sap_cuda_fill(call, counts, 0, bytes);
    sap_cuda_fill(call, s->listed, 0, sizeof *s->listed);
    SHARE_BY_REAL(s, launch_count, s, nodes, there, bins, looked_at, counts);
    sap_cuda_fetch(call, histogram, counts, bytes);
    return call->status;
}

// ---- Halves

template <typename real>
static __device__ __forceinline__ bool share_goes_left(const share_view<real>& v, const sap_share_node* node,
                                                       int64_t row, unsigned long long* tied) {
    for (int c = node->from; c < node->component; c++) {
        const uint64_t key = v.key(row, node->axis, c);
        if (key != node->pivot[c]) return key < node->pivot[c];
    }
    return node->take > 0 && (int64_t)atomicAdd(tied, 1ull) < node->take;
}

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_divide(const share_view<real> v, const sap_share_node* node, int nodes, const uint16_t* names,
                 uint16_t* labels, unsigned long long* left, unsigned long long* tied) {
    SAP_CUDA_SHARED(unsigned int, own);
    for (int i = (int)threadIdx.x; i < nodes; i += SHARE_THREADS) own[i] = 0;
    __syncthreads();
    for (int64_t first = (int64_t)blockIdx.x * SHARE_THREADS; first < v.count;
         first += (int64_t)gridDim.x * SHARE_THREADS) {
        const int64_t row = first + threadIdx.x;
        const int label = row < v.count ? v.label(row) : SAP_SHARE_NONE;
        const bool inside = label < nodes, is_left = inside && share_goes_left(v, node + label, row, tied + label);
        if (inside) labels[row] = names[2 * label + !is_left];
        if (nodes == 1) {
            const unsigned int lefts = __ballot_sync(SAP_ALL_LANES, is_left);
            if (sap_lane() == 0 && lefts) atomicAdd(&own[0], (unsigned int)__popc(lefts));
        } else if (is_left) {
            atomicAdd(&own[label], 1u);
        }
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < nodes; i += SHARE_THREADS)
        if (own[i]) atomicAdd(&left[i], (unsigned long long)own[i]);
}

template <typename real>
static void launch_divide(sap_share* s, int32_t nodes, const sap_share_node* node, const uint16_t* names,
                          uint16_t* labels, unsigned long long* counts) {
    sap_cuda_launch(&s->call, share_divide<real>, share_grid(s, s->rows.count, (size_t)nodes * sizeof(unsigned int)),
                    share_view_of<real>(s), node, (int)nodes, names, labels, counts, counts + nodes);
}

extern "C" sap_status sap_share_divide_cuda(sap_share* s, int32_t nodes, const sap_share_node* node,
                                            const uint16_t* names, int64_t* left) {
    sap_cuda_call* call = &s->call;
    const size_t lefts = (size_t)nodes * sizeof(int64_t);
    memset(left, 0, lefts);
    if (call->status != SAP_OK || !s->rows.count) return call->status;
    sap_share_node* there = (sap_share_node*)share_take(s, &s->nodes, (size_t)nodes * sizeof *node);
    uint16_t* named = (uint16_t*)share_take(s, &s->names, 2 * (size_t)nodes * sizeof *names);
    unsigned long long* counts = (unsigned long long*)share_take(s, &s->counts, 2 * lefts);
    uint16_t* labels = s->labels;
    if (!labels) labels = (uint16_t*)sap_cuda_take(call, (size_t)s->rows.count * sizeof *labels);
    sap_cuda_copy(call, there, node, (size_t)nodes * sizeof *node);
    sap_cuda_copy(call, named, names, 2 * (size_t)nodes * sizeof *names);
    sap_cuda_fill(call, counts, 0, 2 * lefts);
    SHARE_BY_REAL(s, launch_divide, s, nodes, there, (const uint16_t*)named, labels, counts);
    sap_cuda_fetch(call, left, counts, lefts);
    if (call->status == SAP_OK) s->labels = labels;
    return call->status;
}
