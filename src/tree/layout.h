// The point tree in memory: flat arrays, offsets, no pointers. The same bytes are saved, mapped and uploaded.
//
// Balanced tree. Heap order: root 1, children 2i and 2i+1. Every leaf has depth H = shape.depth; leaf l owns ranks
// [l*n>>H, (l+1)*n>>H) of the reordered points. A node's smaller half is what lies below its median in the total order
// of its axis (coordinate a, then a+1, … cyclically, then id). Further arrays hold tight boxes at every fourth level,
// counted from the leaves, in groups of 16 siblings, and the smallest id below each of those nodes. A slice is a subtree
// of a larger tree: its leaves end where they end there, which may be a point sooner or later than in a tree of its own.
//
// Explicit tree. Nodes in preorder: the left child is the next node, the right child is link>>5 further on.
//
// A leaf of more than leaf_size points holds points that are equal in every coordinate.
//
// Leaves. A block of `stride` slots: x…, y…, …, then ids (int32); ids ascend; unused slots hold +infinity and id -1.
#ifndef SAPWOOD_TREE_LAYOUT_H
#define SAPWOOD_TREE_LAYOUT_H

#include "base/assert.h"
#include "device/device.h"
#include "saved/saved.h"
#include "tree/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAP_GROUP = 16,     // sibling boxes tested together
    SAP_GROUP_BITS = 4, // levels of the balanced tree that a group spans
    SAP_MAX_LEVELS = 8, // levels of groups: 31 binary levels, four at a time
    SAP_MAX_DEPTH = 96, // inner nodes on any path of any tree
    SAP_LEAF_DEFAULT = 32,
    SAP_LEAF_MAX = 1024,
    SAP_LEAF_MAX_EQUAL = 65536, // most points of an explicit leaf whose points are all equal
    SAP_NODE_LEAF = 31          // low five bits of an explicit node's link: axis, or this for a leaf
};

// A node of an explicit float tree. Inner: split value; link = right child's offset << 5 | axis.
// Leaf: `bits` is the first slot; link = points << 5 | SAP_NODE_LEAF.
typedef struct sap_node_f32 {
    uint32_t bits; // the split value's bits, or the first slot
    uint32_t link;
} sap_node_f32;

// The same in double precision.
typedef struct sap_node_f64 {
    uint64_t bits;
    uint32_t link;
    uint32_t zero; // padding, always 0
} sap_node_f64;

// How a tree's nodes are stored. Which split rule makes which kind: sap_shape_derive.
typedef enum sap_tree_kind {
    SAP_TREE_BALANCED, // an implicit heap
    SAP_TREE_EXPLICIT  // nodes in preorder
} sap_tree_kind;

// A subtree of a larger balanced tree, which is spread over several machines (src/cluster): its nodes and leaves hold what
// they hold there.
typedef struct sap_slice {
    int64_t whole;      // points of the larger tree; 0: this tree is whole
    int64_t first_leaf; // of the subtree, among those of the larger tree
    int32_t root_depth; // of the subtree's root there
} sap_slice;

// Everything about a tree but its contents. Offsets are bytes from the start of the arrays, multiples of 64. It is not
// saved: it follows from the facts that are (tree/save.c).
typedef struct sap_tree_shape {
    int64_t count, source_count; // points in the tree; points given
    int64_t nodes;               // balanced: 2^depth (index 0 unused); explicit: nodes, leaves included
    int64_t leaves;              // balanced: 2^depth; explicit: leaf nodes
    int64_t slots;               // point slots in all blocks together
    int32_t dims, real_bits;
    sap_tree_kind kind;
    int32_t depth;                       // balanced: of every leaf; explicit: of the deepest
    int32_t capacity;                    // points in the fullest leaf
    int32_t stride;                      // balanced: slots a leaf; explicit: 0 (sap_leaf_stride of each leaf's count)
    int32_t levels;                      // balanced: levels of box groups, at least 1; explicit: 0
    int32_t level_depth[SAP_MAX_LEVELS]; // binary depth of the boxes of each level; the last is `depth`
    size_t split_at;                     // balanced: real[nodes]
    size_t axis_at;                      // balanced: uint8[nodes]
    size_t node_at;                      // explicit: sap_node_f32/_f64[nodes]
    size_t node_min_id_at;               // explicit: int32[nodes], smallest id below each node
    size_t box_at[SAP_MAX_LEVELS];       // per level: groups of real lower[16], upper[16] for each axis
    size_t min_id_at[SAP_MAX_LEVELS];    // per level: int32[16 * groups]; INT32_MAX where there is no point
    size_t block_at;                     // leaf blocks
    size_t bytes;                        // of all arrays; followed by SAP_ALIGNMENT readable bytes
    int64_t not_finite;                  // points given that drop_nonfinite has left out
    sap_slice slice;                     // balanced: of which larger tree this is a part, if of any
    int64_t leaf_share;                  // balanced: what sap_leaf_rank needs
    int64_t leaf_rest;
    int64_t leaf_phase;
    int32_t leaf_bits;
} sap_tree_shape;

struct sap_tree {
    sap_device* device;
    sap_tree_shape shape;     // before the options: much of what walks read lies within 127 bytes
    sap_tree_options options; // defaults filled in
    unsigned char* arrays;    // shape.bytes of them
    sap_tree_memory memory;   // that holds the arrays
    bool has_holes;           // a set's: slots within leaves may hold no point, and be padding; else false
    void* beside;             // what a processor keeps with the tree besides its arrays, or NULL
};

static inline size_t sap_real_bytes(const sap_tree_shape* s) { return (size_t)s->real_bits / 8; }

// Bytes of one point slot: coordinates and id.
static inline size_t sap_slot_bytes(const sap_tree_shape* s) { return (size_t)s->dims * sap_real_bytes(s) + 4; }

// Slots of a leaf of `count` points: rounded up so that vectors fit well and doubles stay aligned.
static inline int32_t sap_leaf_stride(int32_t count, int32_t real_bits) {
    SAP_ASSERT(count >= 0 && (real_bits == 32 || real_bits == 64));
    if (count > 4) return (count + 3) / 4 * 4;
    return real_bits == 64 ? (count + 1) / 2 * 2 : count;
}

// First rank of leaf l of a balanced tree.
static inline int64_t sap_leaf_rank(const sap_tree_shape* s, int64_t leaf) {
    SAP_ASSERT(s->kind == SAP_TREE_BALANCED && leaf >= 0 && leaf <= s->leaves);
    return leaf * s->leaf_share + ((s->leaf_phase + leaf * s->leaf_rest) >> s->leaf_bits);
}

// Start of the block that begins at `slot`.
static inline unsigned char* sap_block(const sap_tree* t, int64_t slot) {
    SAP_ASSERT(slot >= 0 && slot <= t->shape.slots);
    return t->arrays + t->shape.block_at + (size_t)slot * sap_slot_bytes(&t->shape);
}

// Whether node `node` of an explicit tree is a leaf; then its first slot and how many points it holds.
static inline bool sap_explicit_leaf(const sap_tree* t, int64_t node, int64_t* slot, int32_t* count) {
    SAP_ASSERT(t->shape.kind == SAP_TREE_EXPLICIT && node >= 0 && node < t->shape.nodes);
    const unsigned char* nodes = t->arrays + t->shape.node_at;
    const sap_node_f32* narrow = (const sap_node_f32*)(const void*)nodes + node;
    const sap_node_f64* wide = (const sap_node_f64*)(const void*)nodes + node;
    bool is_wide = t->shape.real_bits == 64;
    uint32_t link = is_wide ? wide->link : narrow->link;
    if ((link & SAP_NODE_LEAF) != SAP_NODE_LEAF) return false;
    *slot = is_wide ? (int64_t)wide->bits : (int64_t)narrow->bits;
    *count = (int32_t)(link >> 5);
    return true;
}

// Groups of boxes of level j.
static inline int64_t sap_level_groups(const sap_tree_shape* s, int32_t j) {
    SAP_ASSERT(j >= 0 && j < s->levels);
    return s->level_depth[j] <= SAP_GROUP_BITS ? 1 : (int64_t)1 << (s->level_depth[j] - SAP_GROUP_BITS);
}

// The largest magnitude of a coordinate: at it, no squared distance of two points overflows, as it is computed.
double sap_largest_coordinate(int32_t real_bits, int32_t dims);
// Whether a split rule takes the radius of queries.
static inline bool sap_query_radius_fits(const sap_tree_options* options, int32_t real_bits, int32_t dims) {
    const double r = options->query_radius;
    return r == 0 || (options->split == SAP_SPLIT_VVH && r > 0 && r <= sap_largest_coordinate(real_bits, dims));
}
// Fails a build over a bad point, naming its row, the axis and what is wrong.
sap_status sap_point_refuse(const sap_device* device, const void* point, int32_t dims, int32_t real_bits, int64_t row);
// Fills in kind, depth, strides, offsets and sizes of a balanced tree from count, source_count, dims, real_bits and slice.
// False if a size overflows.
bool sap_shape_balanced(sap_tree_shape* shape, int32_t leaf_size);
// Depth of a balanced tree over so many points: the smallest at which leaves hold at most leaf_size and a quarter more.
int32_t sap_balanced_depth(int64_t count, int32_t leaf_size);
// The same for an explicit tree from count, source_count, dims, real_bits, nodes, leaves, slots, depth and capacity.
bool sap_shape_explicit(sap_tree_shape* shape);
// Makes room for the arrays of `shape` (reusing what is there) and takes it on. SAP_OK or SAP_ERROR_MEMORY.
sap_status sap_tree_reserve(sap_tree* tree, const sap_tree_shape* shape);

// ---- tree/tree.c
// Checks the options and fills in their defaults.
sap_status sap_tree_options_read(const sap_device* device, const sap_rows* points, const sap_tree_options* given,
                                 sap_tree_options* options);
// Builds a tree, or a slice of one (balanced trees), over points that were checked, by options that are complete.
sap_status sap_tree_build_slice(sap_device* device, const sap_rows* points, const sap_tree_options* complete,
                                const sap_slice* slice, sap_tree** tree);
// The same into the memory of a tree, which is lost also where this fails; *tree NULL: a new one.
sap_status sap_tree_rebuild_slice(sap_device* device, const sap_rows* points, const sap_tree_options* complete,
                                  const sap_slice* slice, sap_tree** tree);

// ---- tree/padding.c: the unused bytes behind each array, all zero.
enum { SAP_MOST_ARRAYS = 2 * SAP_MAX_LEVELS + 3 };
typedef struct sap_gap {
    size_t at, bytes;
} sap_gap;
// Fills in the gaps and returns how many there are.
int32_t sap_shape_gaps(const sap_tree_shape* shape, sap_gap gaps[SAP_MOST_ARRAYS]);
// Makes them zero, and entry 0 of a balanced tree's splits and axes; sap_tree_reserve does so.
void sap_tree_clear_gaps(sap_tree* tree);
// ---- tree/verify_cpu.c: sap_tree_verify's work, also run on every loaded tree.
sap_status sap_tree_verify_cpu(const sap_tree* tree);
// Checks the options and the counts and sizes that a file or a caller claims, and fills in the shape that follows from
// them. NULL, or what is wrong. The claimed kind, offsets and strides are not read.
const char* sap_shape_derive(const sap_tree_options* options, const sap_tree_shape* claimed, sap_tree_shape* derived);
// Whether a shape also has the kind, the strides and the offsets of the one that was derived from it.
bool sap_shape_follows(const sap_tree_shape* shape, const sap_tree_shape* derived);
// ---- tree/duplicates_cpu.c: the rows to keep, ascending, as int32 ids in keep[rows->count]; *kept of them.
sap_status sap_duplicates_cpu(sap_device* device, const sap_rows* rows, int32_t* keep, int64_t* kept);
// ---- tree/kept_cpu.c: the rows that a tree is built over, as its options say. Hand `scratch` back in the end.
typedef struct sap_kept {
    const int32_t* rows; // ascending; NULL: all
    int64_t count, not_finite;
    sap_scratch scratch; // holds the rows
} sap_kept;
sap_status sap_kept_find_cpu(const sap_tree* tree, const sap_rows* points, sap_kept* kept);
// ---- tree/balanced/build_cpu.c, tree/explicit/build_cpu.c: `keep` names the rows to build over (NULL: all of them,
// `kept` of them).
sap_status sap_tree_build_explicit_cpu(sap_tree* tree, const sap_rows* points, const int32_t* keep, int64_t kept);

#ifdef __cplusplus
}
#endif
#endif
