// A rank's points on a GPU while a tree over ranks is built, and their keys.
#ifndef SAPWOOD_CLUSTER_SHARE_CUDA_CUH
#define SAPWOOD_CLUSTER_SHARE_CUDA_CUH

#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

extern "C" {
#include "cluster/cut.h"
#include "cluster/ops.h"
}

enum { SHARE_THREADS = 256, SHARE_BLOCKS = 8 }; // the latter: on a multiprocessor

// Memory that is kept for the next time: the driver is slow to give and take it where other GPUs can reach it.
typedef struct share_room {
    void* memory;
    size_t bytes;
} share_room;

struct sap_share {
    sap_cuda_call call; // open as long as the share is
    sap_scratch own;    // that it lies in
    share_room nodes, counts, halves, lists[2];
    sap_rows rows;      // on the GPU
    const int64_t* ids; // on the GPU; NULL: first_id and the row's number
    int64_t first_id;
    bool ids_ascend;
    uint16_t* labels;                // [rows.count]; NULL: all 0
    int32_t undivided;               // nodes, of which `nodes` and `halves` say how their points are to be divided
    uint64_t root[2 * SAP_MAX_DIMS]; // the box of all points, as `boxes` gives it
    int32_t *list, *next;            // rows that were in question, and those of them that still are
    int64_t in_question;             // how many are in `next`
    unsigned long long* listed;      // counts them on the GPU
    sap_share_marks marks;           // of this rank's rows
    unsigned char* marked;           // [pieces][marks.bytes]
    unsigned char* in_marked;        // those of all ranks for the pieces of this one
    bool stays_late;                 // points that stay are packed when the others have come
    void* rooms;                     // where the points of each piece go, and the pieces by labels …
    sap_scratch rooms_here;          // … on the host, from where it may still be on its way
    void *out_coords, *out_ids;      // what other ranks get
    void *held_coords, *held_ids;    // what this rank holds, piece by piece; ids of its own points, or all
    void *in_coords, *in_ids;        // what comes, if it has to be put in order
    void* sorted;                    // points of the last piece
};

// What kernels see of it.
template <typename real> struct share_view {
    typedef typename sap_ordinal<real>::type ordinal;
    const real* coords;
    int64_t count, stride;
    const int64_t* ids;
    int64_t first_id;
    const uint16_t* labels;
    int dims;
    __device__ __forceinline__ real at(int64_t row, int axis) const { return coords[row * stride + axis] + 0; }
    __device__ __forceinline__ int64_t id(int64_t row) const { return ids ? ids[row] : first_id + row; }
    __device__ __forceinline__ int label(int64_t row) const { return labels ? labels[row] : 0; }
    // Component `c` of the keys along an axis.
    __device__ __forceinline__ uint64_t key(int64_t row, int axis, int c) const {
        if (c == dims) return (uint64_t)id(row);
        const int a = axis + c < dims ? axis + c : axis + c - dims;
        return (uint64_t)sap_ordinal_of(at(row, a));
    }
};

template <typename real> static share_view<real> share_view_of(const sap_share* s) {
    share_view<real> v;
    v.coords = (const real*)s->rows.coords;
    v.count = s->rows.count;
    v.stride = s->rows.stride;
    v.ids = s->ids;
    v.first_id = s->first_id;
    v.labels = s->labels;
    v.dims = (int)s->rows.dims;
    return v;
}

// How points are divided among the halves of nodes; those of other labels keep these.
typedef struct share_halves {
    int nodes;
    const sap_share_node* node;
    unsigned long long* tied; // [nodes] points that are equal to the median in all components, so far
    const uint16_t* names;    // [2 * nodes]
} share_halves;

static inline share_halves share_halves_of(const sap_share* s) {
    unsigned long long* tied = (unsigned long long*)s->halves.memory;
    const share_halves h = {(int)s->undivided, (const sap_share_node*)s->nodes.memory, tied,
                            (const uint16_t*)(tied + s->undivided)};
    return h;
}

// The component of a row's keys by which most points are told apart, so that it can be asked for early.
template <typename real>
static __device__ __forceinline__ uint64_t share_first_key(const share_view<real>& v, const share_halves& h, int label,
                                                           int64_t row) {
    if (label >= h.nodes || h.node[label].from == h.node[label].component) return 0;
    return v.key(row, h.node[label].axis, h.node[label].from);
}

// The label of a row once its node is divided; `first`: its first key.
template <typename real>
static __device__ __forceinline__ int share_half(const share_view<real>& v, const share_halves& h, int label,
                                                 int64_t row, uint64_t first) {
    if (label >= h.nodes) return label;
    const sap_share_node* node = h.node + label;
    for (int c = node->from; c < node->component; c++) {
        const uint64_t key = c == node->from ? first : v.key(row, node->axis, c);
        if (key != node->pivot[c]) return h.names[2 * label + (key > node->pivot[c])];
    }
    const bool is_left = node->take > 0 && (int64_t)atomicAdd(h.tied + label, 1ull) < node->take;
    return h.names[2 * label + !is_left];
}

// How many of ids[from … to - 1], which ascend, are less than an id, or not greater.
static __device__ __forceinline__ int64_t share_below(const int64_t* ids, int64_t from, int64_t to, int64_t id,
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

// Points that come for piece `own` of this rank, from the ranks before `rank`.
static inline int64_t share_coming(const sap_share_move* m, int32_t own, int32_t rank) {
    int64_t count = 0;
    for (int32_t r = 0; r < rank; r++) count += m->counts[(int64_t)r * m->own + own];
    return count;
}

static inline size_t share_width(const sap_share* s) { return (size_t)s->rows.dims * (size_t)s->rows.real_bits / 8; }

// Bytes for a number of points that is another one next time, a little: rounded up, so that the memory is taken again.
static inline size_t share_roomy(size_t bytes) {
    size_t step = 4096;
    while (bytes / 8 > step) step *= 2;
    return (bytes + step - 1) / step * step;
}

// At least so many bytes, and as many as histograms take, so that none is given back for a larger one; what they held is lost.
static inline void* share_take(sap_share* s, share_room* room, size_t bytes) {
    if (room->memory && room->bytes >= bytes) return room->memory;
    if (bytes < SAP_SHARE_BINS * sizeof(uint32_t)) bytes = SAP_SHARE_BINS * sizeof(uint32_t);
    if (s->call.status == SAP_OK) sap_cuda_give(&s->call, room->memory);
    room->bytes = share_roomy(bytes);
    room->memory = sap_cuda_take(&s->call, room->bytes);
    return room->memory;
}

// Enough blocks for so many items, and no more than fit on the GPU a few times.
static inline sap_cuda_grid share_grid(const sap_share* s, int64_t items, size_t shared) {
    sap_cuda_grid grid = sap_cuda_grid_for(items, SHARE_THREADS);
    const int64_t most = s->call.status == SAP_OK ? (int64_t)SHARE_BLOCKS * s->call.cuda->multiprocessors : 1;
    if (grid.blocks > most) grid.blocks = most;
    grid.shared = shared;
    return grid;
}

// Calls function<float> or function<double>.
#define SHARE_BY_REAL(share, function, ...)                                                                            \
    ((share)->rows.real_bits == 32 ? function<float>(__VA_ARGS__) : function<double>(__VA_ARGS__))

// ---- cluster/share_cuda.cu, cluster/cut_cuda.cu, cluster/move_cuda.cu, cluster/order_cuda.cu
extern "C" {
sap_status sap_share_open_cuda(sap_device* device, const sap_rows* rows, const int64_t* ids, bool drop_nonfinite,
                               sap_share** share, int64_t* given, int64_t* not_finite);
void sap_share_close_cuda(sap_share* share);
sap_status sap_share_number_cuda(sap_share* share, bool are_given, int64_t first_id, uint64_t* largest);
sap_status sap_share_boxes_cuda(sap_share* share, int32_t nodes, uint64_t* boxes);
sap_status sap_share_count_cuda(sap_share* share, int32_t nodes, const sap_share_node* node, int32_t bins,
                                int64_t listed, uint32_t* histogram);
sap_status sap_share_divide_cuda(sap_share* share, int32_t nodes, const sap_share_node* node, const uint16_t* names);
sap_status sap_share_pack_cuda(sap_share* share, sap_share_move* move);
void sap_share_pack_part_cuda(sap_share* share, const sap_share_move* move, int32_t part);
void sap_share_name_cuda(sap_share* share, const sap_share_move* move, int32_t own, int64_t** ids, int64_t* room);
sap_status sap_share_unpack_cuda(sap_share* share, const sap_share_move* move, int32_t own, int64_t* ids,
                                 sap_rows* rows);
}
// Gives the points that are not divided yet the labels of their halves.
void share_divide_rows(sap_share* share);
// Whether no id is less than the one before it.
bool share_ids_ascend(sap_share* share, const int64_t* ids, int64_t count);
// Brings points that came with their ids into the order of these, which go to named[count]. Each rank's ascend as a rule.
const void* share_order_by_id(sap_share* share, const sap_share_move* move, int32_t own, const void* coords,
                              const int64_t* ids, int64_t* named, int64_t count);

#endif
