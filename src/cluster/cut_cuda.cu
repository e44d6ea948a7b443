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
    if (node->is_guess)
        return key < node->low ? 0 : key > node->high ? bins - 1 : (int)((key - node->low) >> node->shift) + 1;
    if (key < node->low || key > node->high) return -1;
    if (node->scale > 0) return SAP_SHARE_BIN(real, node, v.at(row, axis), bins);
    return (int)((key - node->low) >> node->shift);
}

// Whether a row is listed for the next call.
static __device__ __forceinline__ bool share_stays(const sap_share_node* node, int bin, int bins, bool guessed) {
    return guessed ? node->is_guess && bin > 0 && bin < bins - 1 : bin >= 0;
}

// Nearly all rows lie on either side of a guess: a warp counts these at once.
typedef struct share_sides {
    unsigned int low, high;
} share_sides;

// Whether the lane's bin is none that was counted.
static __device__ __forceinline__ bool share_count_sides(share_sides* sides, int bin, int bins) {
    sides->low += (unsigned int)__popc(__ballot_sync(SAP_ALL_LANES, bin == 0));
    sides->high += (unsigned int)__popc(__ballot_sync(SAP_ALL_LANES, bin == bins - 1));
    return bin > 0 && bin < bins - 1;
}

// Counts the rows of `list`, or all, that are in question, and lists them in `next` if there is one and there is room. Of
// `step` rows that warps look at, all but the first are left out.
template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_count(const share_view<real> v, const sap_share_node* node, int nodes, int bins, const int32_t* list,
                int64_t listed, int64_t step, int32_t* next, int64_t room, unsigned long long* next_listed,
                unsigned int* histogram, bool in_shared, bool guessed) {
    SAP_CUDA_SHARED(unsigned int, own);
    for (int i = (int)threadIdx.x; i < nodes * bins && in_shared; i += SHARE_THREADS) own[i] = 0;
    __syncthreads();
    unsigned int* counts = in_shared ? own : histogram;
    const bool by_sides = guessed && nodes == 1;
    share_sides sides = {0, 0};
    for (int64_t first = (int64_t)blockIdx.x * SHARE_THREADS; first < listed;
         first += (int64_t)gridDim.x * SHARE_THREADS) {
        const int64_t warp = (first + threadIdx.x) / SAP_WARP, i = warp * step * SAP_WARP + sap_lane();
        int64_t row = -1;
        int bin = -1;
        bool stays = false;
        int label = 0;
        if (first + threadIdx.x < listed && i < v.count) {
            row = list ? list[i] : i;
            label = v.label(row);
            if (label < nodes) {
                bin = share_bin(v, node + label, row, bins);
                SAP_ASSERT(bin < bins);
                stays = share_stays(node + label, bin, bins, guessed);
            }
        }
        const bool counts_own = by_sides ? share_count_sides(&sides, bin, bins) : bin >= 0;
        if (counts_own) atomicAdd(&counts[(int64_t)label * bins + bin], 1u);
        if (!next) continue;
        const unsigned int stay = __ballot_sync(SAP_ALL_LANES, stays);
        if (!stay) continue;
        unsigned long long at = 0;
        if (sap_lane() == 0) at = atomicAdd(next_listed, (unsigned long long)__popc(stay));
        at = __shfl_sync(SAP_ALL_LANES, at, 0) + (unsigned long long)__popc(stay & sap_lanes_below());
        if (stays && (int64_t)at < room) next[at] = (int32_t)row;
    }
    if (by_sides && sap_lane() == 0) {
        atomicAdd(&counts[0], sides.low);
        atomicAdd(&counts[bins - 1], sides.high);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < nodes * bins && in_shared; i += SHARE_THREADS)
        if (own[i]) atomicAdd(&histogram[i], own[i]);
}

// One call of the above.
typedef struct share_counting {
    const sap_share_node* node;
    int32_t nodes, bins;
    int64_t listed, step, room;
    bool guessed;
    unsigned int* histogram;
} share_counting;

template <typename real> static void launch_count(sap_share* s, const share_counting* c) {
    const size_t cells = (size_t)c->nodes * (size_t)c->bins;
    const bool in_shared = cells <= SAP_SHARE_BINS;
    sap_cuda_launch(&s->call, share_count<real>, share_grid(s, c->listed, in_shared ? cells * sizeof(unsigned int) : 0),
                    share_view_of<real>(s), c->node, (int)c->nodes, (int)c->bins, (const int32_t*)s->list, c->listed,
                    c->step, s->next, c->room, s->listed, c->histogram, in_shared, c->guessed);
}

// Room for a list of those that stay in question.
static int32_t* take_list(sap_share* s, int64_t rows) {
    return (int32_t*)share_take(s, &s->lists[s->list != NULL && s->list == s->lists[0].memory],
                                (size_t)(rows + SAP_WARP) * sizeof(int32_t));
}

// Says what is looked at: the list that the last call made, if there is one, and which list is made of it.
static void choose_rows(sap_share* s, int64_t listed, share_counting* c) {
    const int64_t warps = (s->rows.count + SAP_WARP - 1) / SAP_WARP;
    c->step = 1;
    c->listed = s->rows.count;
    if (listed >= 0) {
        s->list = s->next;
        if (s->list) c->listed = s->in_question;
        s->next = take_list(s, listed);
        s->in_question = c->room = listed;
        return;
    }
    s->list = s->next = NULL;
    if (listed == SAP_SHARE_SAMPLED) {
        c->step = SAP_SHARE_SAMPLE;
        c->listed = (warps + c->step - 1) / c->step * SAP_WARP;
    } else if (listed == SAP_SHARE_GUESSED) {
        c->guessed = true;
        c->room = s->rows.count / 16;
        s->next = take_list(s, c->room);
    }
}

// After a guess: whether all that is in question is listed.
static void check_list(sap_share* s, const share_counting* c) {
    unsigned long long listed = 0;
    sap_cuda_fetch(&s->call, &listed, s->listed, sizeof listed);
    s->in_question = (int64_t)listed;
    if (s->in_question > c->room) s->next = NULL;
}

extern "C" sap_status sap_share_count_cuda(sap_share* s, int32_t nodes, const sap_share_node* node, int32_t bins,
                                           int64_t listed, uint32_t* histogram) {
    sap_cuda_call* call = &s->call;
    const size_t bytes = (size_t)nodes * (size_t)bins * sizeof *histogram;
    if (call->status != SAP_OK || !s->rows.count) {
        memset(histogram, 0, bytes);
        return call->status;
    }
    share_counting c;
    memset((void*)&c, 0, sizeof c);
    sap_share_node* there = (sap_share_node*)share_take(s, &s->nodes, (size_t)nodes * sizeof *node);
    c.node = there;
    c.nodes = nodes;
    c.bins = bins;
    c.histogram = (unsigned int*)share_take(s, &s->counts, bytes);
    choose_rows(s, listed, &c);
    sap_cuda_copy(call, there, node, (size_t)nodes * sizeof *node);
    sap_cuda_fill(call, c.histogram, 0, bytes);
    sap_cuda_fill(call, s->listed, 0, sizeof *s->listed);
    SHARE_BY_REAL(s, launch_count, s, &c);
    if (listed == SAP_SHARE_GUESSED) check_list(s, &c);
    sap_cuda_fetch(call, histogram, c.histogram, bytes);
    return call->status;
}

// ---- Halves

template <typename real>
static __global__ void __launch_bounds__(SHARE_THREADS)
    share_divide(const share_view<real> v, const share_halves halves, uint16_t* labels) {
    for (int64_t row = (int64_t)blockIdx.x * SHARE_THREADS + threadIdx.x; row < v.count;
         row += (int64_t)gridDim.x * SHARE_THREADS) {
        const int label = v.label(row);
        labels[row] = (uint16_t)share_half(v, halves, label, row, share_first_key(v, halves, label, row));
    }
}

template <typename real> static void launch_divide(sap_share* s, uint16_t* labels) {
    sap_cuda_launch(&s->call, share_divide<real>, share_grid(s, s->rows.count, 0), share_view_of<real>(s),
                    share_halves_of(s), labels);
}

void share_divide_rows(sap_share* s) {
    if (!s->undivided) return;
    uint16_t* labels = s->labels;
    if (!labels) labels = (uint16_t*)sap_cuda_take(&s->call, (size_t)s->rows.count * sizeof *labels);
    SHARE_BY_REAL(s, launch_divide, s, labels);
    if (s->call.status == SAP_OK) s->labels = labels;
    s->undivided = 0;
}

// Nodes of the last level are divided while points are packed, the others when the boxes of the next level are asked for.
extern "C" sap_status sap_share_divide_cuda(sap_share* s, int32_t nodes, const sap_share_node* node,
                                            const uint16_t* names) {
    sap_cuda_call* call = &s->call;
    const size_t ties = (size_t)nodes * sizeof(unsigned long long), halves = 2 * (size_t)nodes * sizeof *names;
    if (call->status != SAP_OK || !s->rows.count) return call->status;
    void* there = share_take(s, &s->nodes, (size_t)nodes * sizeof *node);
    unsigned char* tied = (unsigned char*)share_take(s, &s->halves, ties + halves);
    sap_cuda_copy(call, there, node, (size_t)nodes * sizeof *node);
    sap_cuda_fill(call, tied, 0, ties);
    sap_cuda_copy(call, tied + ties, names, halves);
    if (call->status == SAP_OK) s->undivided = nodes;
    return call->status;
}
