// What a processor with memory of its own does with a rank's points there, so that they do not go through the host's: it
// counts for the cut, divides, packs and names them, and answers for the points that a rank holds. Ranks whose devices
// have no such table hold their points in host memory.
#ifndef SAPWOOD_CLUSTER_OPS_H
#define SAPWOOD_CLUSTER_OPS_H

#include "device/device.h"
#include "sapwood/cluster.h"
#include "sapwood/points.h"

#ifdef __cplusplus
extern "C" {
#endif

// The points that a rank gives, in the memory of its device, while a tree is built.
typedef struct sap_share sap_share;

// Labels of points: the node of the level that a point is below; from SAP_SHARE_PIECES on a subtree, by the order in
// which they were cut off; SAP_SHARE_NONE: the point is left out.
enum { SAP_SHARE_PIECES = 0x8000, SAP_SHARE_NONE = 0xffff };
enum { SAP_SHARE_BINS = 8192 }; // of all nodes of a level together, at most, unless each had fewer than SAP_SHARE_LEAST
enum { SAP_SHARE_LEAST = 8 };

// What is looked at, but for the points that were in question before: all; some of them here and there; all, and those
// between their node's `low` and `high` are listed for the next call.
enum sap_share_looked { SAP_SHARE_ALL = -1, SAP_SHARE_SAMPLED = -2, SAP_SHARE_GUESSED = -3 };
enum { SAP_SHARE_SAMPLE = 64 }; // one in so many

// A node of a level, while its median is looked for. Keys are those of cluster/cut.h; component 0 is the coordinate along
// the axis, the next ones follow it cyclically, the last one is the id.
typedef struct sap_share_node {
    uint64_t pivot[SAP_MAX_DIMS + 1]; // the median's keys, of the components [from, component)
    uint64_t low, high;               // between which its next one lies
    double origin, scale;             // of the bins of coordinates, in the points' precision; scale 0: bins of keys
    int64_t take;                     // of the points that are equal in all components, so many go left
    int32_t axis, from, component;
    int32_t shift; // of keys, for bins of them
    bool goes_on;  // a key is looked for
    bool is_guess; // the first bin is of keys below `low`, the last one of keys above `high`
} sap_share_node;

// Which bin a coordinate lies in. Bins do not decrease as coordinates increase.
#define SAP_SHARE_BIN(real, node, x, bins)                                                                             \
    ((int)(((x) - (real)(node)->origin) * (real)(node)->scale) < (bins)                                                \
         ? (int)(((x) - (real)(node)->origin) * (real)(node)->scale)                                                   \
         : (bins)-1)

// Marks tell which of a rank's rows go to a piece, where pieces are few, as bits in the order of rows. For each chunk of
// rows the number of those before it comes first. Marks are told instead of ids where these follow from rows.
enum { SAP_SHARE_MARKED = 32 }; // pieces at most
typedef struct sap_share_marks {
    int64_t chunk, chunks;
    int64_t bits, bytes; // where bits begin, and end
} sap_share_marks;

static inline sap_share_marks sap_share_marks_of(int64_t rows) {
    enum { CHUNKS = 4096, STEP = 128, LEAST = 512 }; // of a GPU's warps, and what one of them marks at once
    const int64_t each = rows / CHUNKS < LEAST ? LEAST : (rows / CHUNKS + STEP - 1) / STEP * STEP;
    sap_share_marks m = {each, (rows + each - 1) / each, 0, 0};
    m.bits = (m.chunks + 1) / 2 * 2 * (int64_t)sizeof(int64_t);
    m.bytes = m.bits + m.chunks * each / 8;
    return m;
}

// In which points are packed that go to the one other rank there is, so that some are sent while others are packed.
enum { SAP_SHARE_PARTS = 4 };

// Where the points of a share go.
typedef struct sap_share_move {
    int32_t rank, ranks;
    int32_t pieces;         // of the whole tree
    const int32_t* place;   // [pieces] of each by its label, from left to right
    const int64_t* leaving; // [pieces] points of this rank, from left to right
    int32_t first, own;     // this rank's are `own` pieces from `first` on
    const int64_t* counts;  // [ranks][own] points that come
    bool ids_are_given;
    int32_t parts; // in which points are packed, at most SAP_SHARE_PARTS; 1, but for marked points of two ranks
    const int64_t* first_ids; // [ranks + 1] the id of each rank's first row, if not given
    // What is made:
    const void *send_coords, *send_ids; // what other ranks get, from left to right
    const void* send_marks;             // [pieces], those of this rank among them
    void *receive_coords, *receive_ids; // room for what they send, rank by rank
    void* receive_marks;                // [ranks][own]
    int64_t id_bytes;                   // of a row or an id; 0: marks are told instead
    int64_t ends[SAP_SHARE_PARTS];      // of the points for the other rank, so many are packed with each part
} sap_share_move;

typedef struct sap_cluster_ops {
    // Takes points up: how many, and how many are not finite and left out. In any case to be closed, unless *share is NULL.
    sap_status (*open)(sap_device* device, const sap_rows* rows, const int64_t* ids, bool drop_nonfinite,
                       sap_share** share, int64_t* given, int64_t* not_finite);
    void (*close)(sap_share* share);
    // Says which ids the points have: those given, or first_id and the row's number. The largest one.
    sap_status (*number)(sap_share* share, bool are_given, int64_t first_id, uint64_t* largest);
    // boxes[nodes][2 * dims]: smallest keys of coordinates, and the largest inverted.
    sap_status (*boxes)(sap_share* share, int32_t nodes, uint64_t* boxes);
    // histogram[nodes][bins] of the points that are still in question. `listed`: not negative: looks at those that the last
    // call left, of which so many are in question by now; else an enum sap_share_looked.
    sap_status (*count)(sap_share* share, int32_t nodes, const sap_share_node* node, int32_t bins, int64_t listed,
                        uint32_t* histogram);
    // Notes that points below the left and the right half of node i have the labels names[2 * i] and [2 * i + 1]. They get them
    // when `boxes` or `pack` is called, until which nothing is counted. Both arrays stay as they are until then, and in memory
    // until the share is closed.
    sap_status (*divide)(sap_share* share, int32_t nodes, const sap_share_node* node, const uint16_t* names);
    // Makes room for what comes from other ranks, marks what goes to them, and packs it, or begins to pack the first of its
    // parts.
    sap_status (*pack)(sap_share* share, sap_share_move* move);
    // Begins to pack another part. If this, or the next function, fails, `unpack` says so.
    void (*pack_part)(sap_share* share, const sap_share_move* move, int32_t part);
    // When marks or rows have come: ids of this rank's piece number `own`, in the caller's memory for `room` of them, or
    // larger one. If ids are given, only makes that.
    void (*name)(sap_share* share, const sap_share_move* move, int32_t own, int64_t** ids, int64_t* room);
    // When all has come: points, without gaps, by their ids.
    sap_status (*unpack)(sap_share* share, const sap_share_move* move, int32_t own, int64_t* ids, sap_rows* rows);
    void (*release)(sap_device* device, void* memory, size_t bytes);
    sap_status (*fetch)(sap_device* device, void* to, const void* from, size_t bytes); // to host memory
    // sap_cluster_nearest, sap_cluster_nearest_self and sap_cluster_points, once their arguments are checked. Arrays may lie
    // in either memory.
    sap_status (*nearest)(const struct sap_cluster_tree* tree, const sap_rows* queries, const sap_search* search,
                          double limit2, int64_t* ids, void* distance2);
    sap_status (*nearest_self)(const struct sap_cluster_tree* tree, const sap_search* search, double limit2,
                               int64_t* ids, void* distance2);
    sap_status (*points)(const struct sap_cluster_tree* tree, int64_t* ids, void* coords);
    // Which device of the machine it is; lets it copy from and to that of another rank of this process.
    int32_t (*ordinal)(const sap_device* device, uint64_t* reached);
    void (*reach)(sap_device* device, int32_t other);
    // For messages: the device's stream, one beside it if there is one, copies there, and waiting for them.
    void* (*stream)(const sap_device* device);
    void* (*messages)(const sap_device* device);
    sap_status (*copy)(void* to, const void* from, size_t bytes, void* stream);
    sap_status (*wait)(void* stream);
    const struct sap_nccl_ops* nccl; // cluster/nccl/ops.h
} sap_cluster_ops;

extern const sap_cluster_ops sap_cluster_ops_cuda;

sap_status sap_cluster_nearest_cuda(const struct sap_cluster_tree* tree, const sap_rows* queries,
                                    const sap_search* search, double limit2, int64_t* ids, void* distance2);
sap_status sap_cluster_nearest_self_cuda(const struct sap_cluster_tree* tree, const sap_search* search, double limit2,
                                         int64_t* ids, void* distance2);
sap_status sap_cluster_points_cuda(const struct sap_cluster_tree* tree, int64_t* ids, void* coords);

#ifdef __cplusplus
}
#endif
#endif
