/**
 * @file points.h
 * K-d trees over points: build, save, check, and search by number of neighbours or by radius.
 *
 * **One answer, bit for bit.** The squared distance of a query q and a point p is the sum, in axis order, of
 * (q[a]-p[a])*(q[a]-p[a]) in the tree's own precision, each operation rounded once (never fused). Neighbours are
 * ordered by (squared distance, id). Every processor, vector width and thread count gives exactly these answers.
 *
 * **Coordinates** must be finite and at most half the square root of (largest float / dims) in magnitude (a rounding
 * less where that would overflow), so that every squared distance of two points is finite (5.3e18 in 3-D float). A
 * query may have any coordinates: one that is not finite has no neighbours, and a point whose squared distance to the
 * query overflows is not a neighbour.
 *
 * **Ids** are the row numbers of the points that were given to the build.
 */
#ifndef SAPWOOD_POINTS_H
#define SAPWOOD_POINTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAP_MAX_DIMS 16 /**< points have 1 to this many coordinates */

/** `count` points of `dims` coordinates; point i begins at coords[i*stride]. stride in elements, 0 means dims. */
typedef struct sap_points {
    const float* coords; /**< may be NULL when count is 0 */
    int64_t count;       /**< 0 … 2^31-1 */
    int32_t dims;        /**< 1 … SAP_MAX_DIMS */
    int64_t stride;      /**< elements between points, at least dims; 0: dims */
} sap_points;

/** The same in double precision. */
typedef struct sap_points_f64 {
    const double* coords; /**< may be NULL when count is 0 */
    int64_t count;        /**< 0 … 2^31-1 */
    int32_t dims;         /**< 1 … SAP_MAX_DIMS */
    int64_t stride;       /**< elements between points, at least dims; 0: dims */
} sap_points_f64;

/** How a tree divides space. */
typedef enum sap_split {
    SAP_SPLIT_MEDIAN = 0,          /**< balanced: exact medians, every leaf at the same depth (Bentley 1975) */
    SAP_SPLIT_SLIDING_MIDPOINT = 1 /**< the cell's midpoint, slid to the points (Maneewongvatana and Mount 1999) */
} sap_split;

/** Which axis a node divides. */
typedef enum sap_axis {
    SAP_AXIS_WIDEST = 0, /**< the widest side (of the tight box with medians, of the cell with midpoints) */
    SAP_AXIS_CYCLE = 1   /**< depth modulo dims */
} sap_axis;

/** How to build a tree. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_tree_options {
    sap_split split;   /**< default SAP_SPLIT_MEDIAN */
    sap_axis axis;     /**< default SAP_AXIS_WIDEST */
    int32_t leaf_size; /**< points a leaf should hold, 1 … 1024; 0: 32. A leaf of a balanced tree may hold a quarter
                          more; a leaf of another tree may hold more points if all of them are equal */
    bool drop_duplicates; /**< of points equal in every coordinate keep the one with the smallest id */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_tree_options;

/** A built tree. It never changes, except by ::sap_tree_rebuild. It holds a copy of the points. */
typedef struct sap_tree sap_tree;

/**
 * Builds a tree over copies of the points. O(n log n) time, about 18 bytes kept a 3-D float point and 32 more of
 * scratch (up to twice that with drop_duplicates or sliding midpoints), which the device keeps for the next call. The
 * tree is the same, byte for byte, for any number of threads. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE,
 * SAP_ERROR_NOT_FINITE (naming the first bad point in the log), SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (a split rule
 * this processor lacks), SAP_ERROR_CANCELLED; on a GPU also SAP_ERROR_DEVICE_MEMORY and SAP_ERROR_DEVICE_LOST, as with
 * every call below.
 *
 * On a GPU the tree, the same bytes, lies in its memory: about 19 bytes kept a 3-D float point and 16 more of scratch.
 * The top of a balanced tree is split by all blocks together with exact medians by histogram, subtrees that fit into
 * shared memory by one block each. Sliding-midpoint trees and dropping duplicates wait once for a count.
 */
SAP_API sap_status sap_tree_build(sap_device* device, sap_points points, const sap_tree_options* options,
                                  sap_tree** tree);
/** ::sap_tree_build in double precision. */
SAP_API sap_status sap_tree_build_f64(sap_device* device, sap_points_f64 points, const sap_tree_options* options,
                                      sap_tree** tree);

/**
 * Builds the tree anew over other points, with its old options and into its old memory: nothing is allocated unless
 * there are more points than ever before in this tree (a sliding-midpoint tree may also need more nodes), or the device
 * was trimmed. dims and precision must stay. On failure the old tree stays, except that it may be empty after
 * SAP_ERROR_CANCELLED or if a GPU fails during the build. No query may run on the tree during the call. Errors: as
 * sap_tree_build; SAP_ERROR_UNSUPPORTED for a tree that was loaded and is used in place (sap_tree_info.mapped).
 */
SAP_API sap_status sap_tree_rebuild(sap_tree* tree, sap_points points);
/** ::sap_tree_rebuild in double precision. */
SAP_API sap_status sap_tree_rebuild_f64(sap_tree* tree, sap_points_f64 points);

/** Copies a tree to another device (or the same), of any processor. O(n). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_copy(const sap_tree* tree, sap_device* target, sap_tree** copy);

/** Frees a tree. NULL is allowed. */
SAP_API void sap_tree_free(sap_tree* tree);

/**
 * Checks everything about a tree: that its points are a permutation of what was given, the total order at every split,
 * boxes, smallest ids, padding and the depth bound. O(n log n). A tree on a GPU is checked there, from the leaves up
 * (balanced: Brown 2015; sliding midpoints: Karras 2012); if anything is wrong, the host then looks for what it is.
 * Errors: SAP_ERROR_ARGUMENT; SAP_ERROR_FORMAT with the first violation named in the log; SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_verify(const sap_tree* tree);

/**
 * Writes a tree to a file, which replaces an older one only when complete; "-" is standard output. The bytes are the
 * tree's own arrays. O(n).
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_IO (the log names the path and the system's reason), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_save(const sap_tree* tree, const char* path);

/**
 * Maps a saved tree (or reads it, where files cannot be mapped) and checks all of it before returning: checksum, sizes,
 * and everything that ::sap_tree_verify checks. The file must not be changed while the tree lives. O(n log n). A path
 * of "-" is a file of that name, because standard input cannot be mapped. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_IO,
 * SAP_ERROR_FORMAT (the log gives the byte), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_load(sap_device* device, const char* path, sap_tree** tree);

/**
 * How many bytes ::sap_tree_save_memory writes: those of a file that ::sap_tree_save writes. O(1).
 * Errors: SAP_ERROR_ARGUMENT.
 */
SAP_API sap_status sap_tree_saved_size(const sap_tree* tree, int64_t* size);

/**
 * Writes what ::sap_tree_save writes into memory: bytes[size], with the size that ::sap_tree_saved_size gives, aligned
 * to 64 bytes. They may be exactly the bytes that the tree was loaded from; otherwise they must not overlap them. O(n).
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY; from a tree that is not on the CPU also those of ::sap_tree_copy.
 */
SAP_API sap_status sap_tree_save_memory(const sap_tree* tree, void* bytes, int64_t size);

/**
 * Loads a saved tree from memory and checks all of it as ::sap_tree_load does. bytes[size] must be aligned to 64 bytes.
 * On a CPU device nothing is copied: the bytes must stay and must not be changed while the tree lives. Such a tree
 * cannot be rebuilt, but its copy can. O(n log n). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_FORMAT (the log gives the
 * byte), SAP_ERROR_MEMORY; to a device that is not the CPU also those of ::sap_tree_copy.
 */
SAP_API sap_status sap_tree_load_memory(sap_device* device, const void* bytes, int64_t size, sap_tree** tree);

/** What a tree is. */
typedef struct sap_tree_info {
    int64_t count;              /**< points in the tree */
    int64_t source_count;       /**< points given to the build; ids are below this */
    int64_t duplicates;         /**< points dropped as duplicates: source_count - count */
    int64_t leaves;             /**< leaves, empty ones included */
    int64_t nodes;              /**< inner nodes */
    int32_t dims;               /**< coordinates a point */
    int32_t real_bits;          /**< 32 or 64 */
    int32_t depth;              /**< inner nodes from the root to the deepest leaf */
    int32_t largest_leaf;       /**< points in the fullest leaf */
    size_t bytes;               /**< of the tree's arrays, the points' copies included */
    bool mapped;                /**< the arrays lie as they were saved: in a mapped file or in bytes of the caller's */
    sap_tree_options options;   /**< as given, defaults filled in */
    double lower[SAP_MAX_DIMS]; /**< tight box of the points; +infinity in an empty tree */
    double upper[SAP_MAX_DIMS]; /**< tight box of the points; -infinity in an empty tree */
    uint64_t reserved[4];       /**< for later versions: zero */
} sap_tree_info;

/** Describes a tree. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_tree_describe(const sap_tree* tree, sap_tree_info* info);

/** A node of the classical balanced k-d tree, in which every node holds a point (Bentley 1975). */
typedef struct sap_tree_node {
    int32_t point;   /**< id of the point at this node */
    int32_t axis;    /**< the axis that it divides */
    int32_t less;    /**< index of the node over the smaller points, or -1 */
    int32_t greater; /**< index of the node over the greater points, or -1 */
} sap_tree_node;

/**
 * Exports the tree's points as a classical balanced tree of linked nodes, in preorder, the root first: at each node
 * stands the lower median in the total order along the node's axis (chosen by the tree's axis rule). `nodes` holds
 * info.count nodes. O(n log n) expected time. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_nodes(const sap_tree* tree, sap_tree_node* nodes);

/** How a search goes through a tree. All walks give the same answers. */
typedef enum sap_walk {
    SAP_WALK_AUTO = 0,  /**< the fastest. Balanced trees: queries ordered inside the call, wide vectors. Other trees: on
                           a CPU the same as SAP_WALK_STACK, on a GPU queries are ordered, too */
    SAP_WALK_STACK = 1, /**< one query at a time with a stack; the text that all processors share */
    SAP_WALK_STACKLESS = 2, /**< no stack, one bit a level of depth; balanced trees only */
    SAP_WALK_WARP = 3,      /**< one stack for a warp of GPU threads, which vote; CUDA, balanced trees, k up to 32 */
    SAP_WALK_PACKET = 4     /**< the same for a block of 128 threads */
} sap_walk;

/** What a search did, summed over its queries. Counts are added to what the struct holds. */
typedef struct sap_search_stats {
    int64_t nodes;  /**< nodes (with AUTO on a balanced tree: groups of 16 boxes) whose bounds were computed */
    int64_t leaves; /**< leaves scanned */
    int64_t points; /**< distances computed; AUTO counts each leaf of a balanced tree as if it were the fullest */
} sap_search_stats;

/** What to search for. All zero but k is the default for each field. */
typedef struct sap_search {
    int32_t k;               /**< neighbours a query, at least 1; may exceed the number of points */
    double radius;           /**< only points with distance2 <= radius*radius (rounded once); 0: no limit */
    sap_walk walk;           /**< default SAP_WALK_AUTO */
    bool ordered;            /**< consecutive queries already lie close to one another: do not order them */
    bool with_self;          /**< sap_nearest_self: a point is its own neighbour */
    sap_search_stats* stats; /**< NULL: none; must not be shared by concurrent calls */
    uint64_t reserved[4];    /**< for later versions: zero */
} sap_search;

/**
 * The k nearest points of each query. ids[count*k] and distance2[count*k] ascend by (distance2, id) in each row;
 * missing neighbours have id -1 and an infinite distance. distance2 may be NULL. Expected O(log n + k log k) a query,
 * also among equal points. One query at a time allocates nothing for k up to 512. Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_RANGE, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (a walk), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_nearest(const sap_tree* tree, sap_points queries, const sap_search* search, int32_t* ids,
                               float* distance2);
/** ::sap_nearest in double precision, on a tree built in double precision. */
SAP_API sap_status sap_nearest_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search, int32_t* ids,
                                   double* distance2);

/**
 * ::sap_nearest for every point of the tree: row i is that of the point with id i (source_count rows), itself left out
 * unless search.with_self. Rows of points that were dropped as duplicates hold no neighbours.
 * Cost and errors: as sap_nearest, for source_count queries that need no ordering.
 */
SAP_API sap_status sap_nearest_self(const sap_tree* tree, const sap_search* search, int32_t* ids, float* distance2);
/** ::sap_nearest_self in double precision. */
SAP_API sap_status sap_nearest_self_f64(const sap_tree* tree, const sap_search* search, int32_t* ids,
                                        double* distance2);

/**
 * Neighbours in rows: row i is ids[offsets[i]] … ids[offsets[i+1]-1], with the squared distances beside them.
 *
 * On a CUDA device the arrays lie where the queries lay: queries in GPU memory get rows in GPU memory, queries in host
 * memory get rows in host memory. ::sap_pairs has no queries: its rows lie in GPU memory if the device works in the
 * caller's stream, else in host memory. On the CPU they always lie in host memory. `count` can always be read.
 */
typedef struct sap_neighbors {
    int64_t count;               /**< rows */
    const int64_t* offsets;      /**< count + 1 of them, offsets[0] = 0 */
    const int32_t* ids;          /**< offsets[count] of them */
    const float* distance2;      /**< as many; NULL for a double-precision tree */
    const double* distance2_f64; /**< as many; NULL for a float tree */
    bool on_device;              /**< the arrays lie in GPU memory: to be used in the device's stream, or after
                                    ::sap_device_wait */
} sap_neighbors;

/** Frees neighbours. NULL is allowed. */
SAP_API void sap_neighbors_free(sap_neighbors* neighbors);

/**
 * Sorts each row by (distance2, id). O(m log m) a row of m (O(m log² m) in GPU memory).
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_neighbors_sort(sap_neighbors* neighbors);

/**
 * How many points lie within a radius of each query: distance2 <= radius*radius, the product rounded once to the
 * tree's precision. Subtrees that lie inside the ball are counted without visiting their points. radius may be 0
 * (equal points) or infinite. Expected O(log n + the leaves at the ball's surface) a query. Errors: as sap_nearest.
 */
SAP_API sap_status sap_radius_count(const sap_tree* tree, sap_points queries, double radius, int64_t* counts);
/** ::sap_radius_count in double precision. */
SAP_API sap_status sap_radius_count_f64(const sap_tree* tree, sap_points_f64 queries, double radius, int64_t* counts);

/**
 * The points within a radius of each query, each row in the tree's own order (the same on every processor; see
 * ::sap_neighbors_sort). Expected O(log n + hits) a query. Errors: as sap_nearest.
 */
SAP_API sap_status sap_radius(const sap_tree* tree, sap_points queries, double radius, sap_neighbors** found);
/** ::sap_radius in double precision. */
SAP_API sap_status sap_radius_f64(const sap_tree* tree, sap_points_f64 queries, double radius, sap_neighbors** found);

/**
 * ::sap_radius into the caller's memory, so that the call need not allocate memory nor, on a GPU, wait. Row i
 * is ids[offsets[i]] … ids[offsets[i+1]-1], the squared distances beside them. offsets has count + 1 entries and covers
 * all hits: offsets[count] is their number. Of ids[capacity] and distance2[capacity] only the first min(offsets[count],
 * capacity) are written: if `capacity` is too small, rows are cut off there, and offsets[count] is the capacity that is
 * needed. distance2 may be NULL; with a capacity of 0, ids may be NULL too: the call then only counts.
 *
 * Expected O(log n + hits) a query. On a CPU all hits are first kept in scratch memory. On a GPU queries go through the
 * tree twice; if all arrays lie there and the device works in the caller's stream, the call does not wait and can be
 * captured (see ::sap_device); ids or distance2 in host memory wait once for the number of hits. Errors: as
 * sap_nearest; SAP_ERROR_ARGUMENT also for a negative capacity and for offsets NULL.
 */
SAP_API sap_status sap_radius_into(const sap_tree* tree, sap_points queries, double radius, int64_t capacity,
                                   int64_t* offsets, int32_t* ids, float* distance2);
/** ::sap_radius_into in double precision. */
SAP_API sap_status sap_radius_into_f64(const sap_tree* tree, sap_points_f64 queries, double radius, int64_t capacity,
                                       int64_t* offsets, int32_t* ids, double* distance2);

/**
 * All pairs of the tree's points within a radius of one another, each once: row i (source_count rows) holds the ids
 * greater than i of the points within the radius of point i, in the tree's own order. Both precisions.
 * Expected O(n (log n + hits)). Errors: as sap_nearest.
 */
SAP_API sap_status sap_pairs(const sap_tree* tree, double radius, sap_neighbors** found);

#ifdef __cplusplus
}
#endif
#endif
