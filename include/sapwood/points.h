/**
 * @file points.h
 * K-d trees over points: build, save, check, and search by number of neighbours, by radius or by box.
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
 *
 * **Periodic axes** (sap_tree_options.period) close in a circle, as in simulations of a cell that repeats, or for
 * longitudes. Points and queries are wrapped into [0, period), in the tree's precision: x becomes fmod(x, period), plus
 * the period where that is negative, or 0 where this rounds to the period itself. The tree holds the wrapped points. On
 * a periodic axis |q[a]-p[a]| is replaced by d = min(|q[a]-p[a]|, period - |q[a]-p[a]|), each operation rounded once:
 * the distance to the nearest image. Every point counts once, at its nearest image, within radii beyond half a period
 * too.
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
    SAP_SPLIT_MEDIAN = 0,           /**< balanced: exact medians, every leaf at the same depth (Bentley 1975) */
    SAP_SPLIT_SLIDING_MIDPOINT = 1, /**< the cell's midpoint, slid to the points (Maneewongvatana and Mount 1999) */
    /** the voxel volume heuristic: planes that spare balls of a radius the most points (Wald, Günther and Slusallek 2004).
     *  Built on CPUs and CUDA devices, not in WebAssembly; the tree can be copied to other devices, and searched there */
    SAP_SPLIT_VVH = 2
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
    bool drop_nonfinite;  /**< leave out points that are NaN or infinite, instead of failing; ids stay those of the rows
                             given, and where points ask, the rows of those that are left out are empty */
    double period[SAP_MAX_DIMS]; /**< the period of each axis, rounded to the tree's precision; 0: the axis is open.
                                    Finite, above 0 once rounded, at most the largest coordinate that the tree takes,
                                    and 0 beyond the points' dims. CPU and CUDA */
    double query_radius;  /**< of SAP_SPLIT_VVH, 0 with other rules: how far searches usually look: their radius, or the
                            distance of the k-th neighbour. 0 … the largest coordinate that the tree takes */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_tree_options;

/** A built tree. It never changes, except by ::sap_tree_rebuild. It holds a copy of the points. */
typedef struct sap_tree sap_tree;

/**
 * Builds a tree over copies of the points. O(n log n) time, about 18 bytes kept a 3-D float point and 32 more of
 * scratch (up to twice that with drop_duplicates or sliding midpoints), which the device keeps for the next call. The
 * tree is the same, byte for byte, for any number of threads. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE,
 * SAP_ERROR_NOT_FINITE (naming the first bad point in the log), SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (a split rule
 * or periods that this processor lacks), SAP_ERROR_CANCELLED; on a GPU also SAP_ERROR_DEVICE_MEMORY and SAP_ERROR_DEVICE_LOST, as with
 * every call below.
 *
 * On a GPU the tree, the same bytes, lies in its memory: about 19 bytes kept a 3-D float point and 16 more of scratch.
 * The top of a balanced tree is split by all blocks together with exact medians by histogram, subtrees that fit into
 * shared memory by one block each. Sliding-midpoint and voxel-volume trees and dropping points wait once for a count.
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
 * sap_tree_build; SAP_ERROR_UNSUPPORTED for a tree that was loaded and is used in place (sap_tree_info.mapped), and for one
 * that was copied to a device that does not build by its split rule.
 */
SAP_API sap_status sap_tree_rebuild(sap_tree* tree, sap_points points);
/** ::sap_tree_rebuild in double precision. */
SAP_API sap_status sap_tree_rebuild_f64(sap_tree* tree, sap_points_f64 points);

/**
 * Copies a tree to another device (or the same), of any processor. O(n). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (periods that the target's processor lacks).
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
 * of "-" is a file of that name, because standard input cannot be mapped. options may be NULL: with `trust` only
 * checksum and sizes are checked, which is O(bytes). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_IO, SAP_ERROR_FORMAT (the
 * log gives the byte), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_load(sap_device* device, const char* path, const sap_load_options* options,
                                 sap_tree** tree);

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
SAP_API sap_status sap_tree_load_memory(sap_device* device, const void* bytes, int64_t size,
                                        const sap_load_options* options, sap_tree** tree);

/** What a tree is. */
typedef struct sap_tree_info {
    int64_t count;              /**< points in the tree */
    int64_t source_count;       /**< points given to the build; ids are below this */
    int64_t duplicates;         /**< points dropped as duplicates: source_count - count - not_finite */
    int64_t not_finite;         /**< points left out by drop_nonfinite */
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
    SAP_WALK_AUTO = 0,      /**< the fastest: queries ordered inside the call, on a CPU wide vectors. There the same as
                           SAP_WALK_STACK by metrics with p, with weights or eps, and in trees of sliding midpoints that
                           are searched with any field from `metric` on */
    SAP_WALK_STACK = 1,     /**< one query at a time with a stack; the text that all processors share */
    SAP_WALK_STACKLESS = 2, /**< no stack, one bit a level of depth; balanced trees only */
    SAP_WALK_WARP = 3,      /**< one stack for a warp of GPU threads, which vote; CUDA, trees of either kind, any k, but
                               no periods, and no field of sap_search from `without_ids` on */
    SAP_WALK_PACKET = 4     /**< the same for a block of 128 threads */
} sap_walk;

/** What a search did, summed over its queries. Counts are added to what the struct holds. */
typedef struct sap_search_stats {
    int64_t nodes;  /**< nodes (with AUTO on a balanced tree: groups of 16 boxes) whose bounds were computed */
    int64_t leaves; /**< leaves scanned */
    int64_t points; /**< distances computed; AUTO counts each leaf of a balanced tree as if it were the fullest, and a
                       GPU that of any tree */
} sap_search_stats;

/**
 * How distances are measured. On each axis the length of the offset is multiplied by the axis's weight, if there are
 * weights, and then by itself as often as the power asks (docs/numerics.md says how, for powers that are not whole);
 * what is called distance2 everywhere is the sum of these terms in the order of the axes, or the largest. Each
 * operation is rounded once, so answers are the same bits on every processor.
 */
typedef enum sap_metric {
    SAP_METRIC_L2 = 0,   /**< Euclidean: distance2 is the squared distance */
    SAP_METRIC_L1 = 1,   /**< the sum of the lengths along the axes: distance2 is the distance itself */
    SAP_METRIC_LINF = 2, /**< the longest of the lengths along the axes: distance2 is the distance itself */
    SAP_METRIC_LP = 3    /**< Minkowski: distance2 is the distance to the power search.p. Where that overflows, the
                            point is not found */
} sap_metric;

/**
 * What to search for. All zero but k is the default for each field. Fields from `metric` on are for CPU and CUDA
 * devices; others answer SAP_ERROR_UNSUPPORTED. Arrays but the weights may lie in the memory of the CUDA device, as
 * queries may.
 */
typedef struct sap_search {
    int32_t k;                  /**< neighbours a query, at least 1; may exceed the number of points. Searches within a
                                   radius: 0, all of them */
    double radius;              /**< only points with distance2 <= radius*radius (rounded once); 0: no limit. With
                                   L1 and LINF distance2 <= radius, with LP <= radius^p. Searches within a radius:
                                   0 finds equal points */
    sap_walk walk;              /**< default SAP_WALK_AUTO */
    bool ordered;               /**< consecutive queries already lie close to one another: do not order them */
    bool with_self;             /**< sap_nearest_self: a point is its own neighbour; no other call looks at it */
    sap_search_stats* stats;    /**< NULL: none; must not be shared by concurrent calls */
    const int32_t* without_ids; /**< sap_nearest: [queries.count] the id of a point that does not count for this query,
                                   such as the query's own; -1: all count. NULL: all count for every query. Not on OpenGL;
                                   other calls do not look at it, except that ::sap_query_open and searches within
                                   a radius refuse it */
    sap_metric metric;          /**< default SAP_METRIC_L2 */
    double p;                   /**< SAP_METRIC_LP: from 1 to 1000, or infinity; 1, 2 and infinity are the metrics
                                   above. Other metrics: 0. Fractions of few binary digits, such as 2.5, are fastest */
    const double* weights;      /**< [dims] a factor for each axis's term, not negative, rounded to the tree's
                                   precision; 0 leaves the axis out. NULL: all are 1 */
    const double* radii;        /**< [queries] a radius for each query instead of `radius`, which then is 0. 0 finds
                                   equal points, infinity has no limit; a query whose radius is negative or NaN finds
                                   nothing. NULL: `radius` is for all */
    const int32_t* ks;          /**< ::sap_nearest: [queries] how many neighbours each query wants, from 0 to k: fewer
                                   count as 0, more as k. The rest of its row is empty. NULL: all want k */
    const uint8_t* keep;        /**< [source_count] only points whose entry, by id, is not 0 may be found. NULL: all */
    double eps;                 /**< ::sap_nearest: the i-th neighbour may be up to 1 + eps times as far as it is,
                                   which saves time in many dimensions. 0: exact. The answer follows from the tree, the
                                   same bits everywhere, as SAP_WALK_STACK gives it: with k neighbours found it leaves
                                   out what is farther than 1 / (1 + eps) of the k-th. Other searches stay exact */
    bool sorted;                /**< searches within a radius: each row ascends by (distance2, id), as rows of
                                   other searches always do */
    uint64_t reserved[4];       /**< for later versions: zero */
} sap_search;

/**
 * The k nearest points of each query. ids[count*k] and distance2[count*k] ascend by (distance2, id) in each row;
 * missing neighbours have id -1 and an infinite distance. distance2 may be NULL, and so may ids, which are then
 * kept in scratch memory (not on OpenGL). A query that equals a point of the tree finds that point first, at distance 0:
 * ::sap_nearest_self and search.without_ids leave it out. Expected O(log n + k log k) a query, also among equal points.
 * One query at a time allocates nothing for k up to 512. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE, SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (a walk; what sap_search says of devices), SAP_ERROR_CANCELLED.
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
 * Neighbours in rows: row i is ids[offsets[i]] … ids[offsets[i+1]-1], with the squared distances beside them, except in
 * what ::sap_box_search finds: points in a box are at no distance.
 *
 * On a CUDA device the arrays lie where the queries lay: queries in GPU memory get rows in GPU memory, queries in host
 * memory get rows in host memory. ::sap_pairs has no queries: its rows lie in GPU memory if the device works in the
 * caller's stream, else in host memory. On the CPU they always lie in host memory. `count` can always be read.
 */
typedef struct sap_neighbors {
    int64_t count;               /**< rows */
    const int64_t* offsets;      /**< count + 1 of them, offsets[0] = 0 */
    const int32_t* ids;          /**< offsets[count] of them */
    const float* distance2;      /**< as many; NULL for a double-precision tree, and for points in boxes */
    const double* distance2_f64; /**< as many; NULL for a float tree, and for points in boxes */
    bool on_device;              /**< the arrays lie in GPU memory: to be used in the device's stream, or after
                                    ::sap_device_wait */
} sap_neighbors;

/** Frees neighbours. NULL is allowed. */
SAP_API void sap_neighbors_free(sap_neighbors* neighbors);

/**
 * Sorts each row by (distance2, id), points in boxes by id. O(m log m) a row of m (O(m log² m) in GPU memory).
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
 * Expected O(log n + hits) a query. On a CPU hits are first kept in scratch memory, on most trees those of a part of
 * the queries at a time; a call that fails may have written rows before. On a GPU queries go through the tree twice; if all arrays lie
 * there and the device works in the caller's stream, the call does not wait and can be captured (see ::sap_device); ids
 * or distance2 in host memory wait once for the number of hits. Errors: as sap_nearest; SAP_ERROR_ARGUMENT also for a
 * negative capacity and for offsets NULL.
 */
SAP_API sap_status sap_radius_into(const sap_tree* tree, sap_points queries, double radius, int64_t capacity,
                                   int64_t* offsets, int32_t* ids, float* distance2);
/** ::sap_radius_into in double precision. */
SAP_API sap_status sap_radius_into_f64(const sap_tree* tree, sap_points_f64 queries, double radius, int64_t capacity,
                                       int64_t* offsets, int32_t* ids, double* distance2);

/**
 * ::sap_radius and ::sap_radius_count for what search says: radius or radii, metric, weights, keep, sorted. With k
 * above 0 each row holds at most the k nearest points, ascending by (distance2, id); all hits are collected first.
 * search.walk, ordered, with_self, stats, without_ids and ks must be zero. Subtrees are counted without visiting their
 * points unless search.keep is given. Errors: as sap_nearest; SAP_ERROR_UNSUPPORTED for k above 0, too, on devices other
 * than the CPU.
 */
SAP_API sap_status sap_radius_search(const sap_tree* tree, sap_points queries, const sap_search* search,
                                     sap_neighbors** found);
/** ::sap_radius_search in double precision. */
SAP_API sap_status sap_radius_search_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search,
                                         sap_neighbors** found);
/** How many points ::sap_radius_search would find for each query: at most k if that is above 0. */
SAP_API sap_status sap_radius_search_count(const sap_tree* tree, sap_points queries, const sap_search* search,
                                           int64_t* counts);
/** ::sap_radius_search_count in double precision. */
SAP_API sap_status sap_radius_search_count_f64(const sap_tree* tree, sap_points_f64 queries, const sap_search* search,
                                               int64_t* counts);

/**
 * How many points lie in each box, its sides included: lower <= p <= upper on every axis. Box i has its corners in row i
 * of both arrays, which have as many rows; sides may be infinite. A box with a NaN, or with lower > upper on some axis,
 * holds no point. On a periodic axis a box holds a point if an image of the point lies between its sides; one as long
 * as the period or longer holds all of the axis. Boxes are ordered inside the call. Subtrees that lie inside a box are
 * counted without visiting their points. Expected O(log n + the leaves at the box's surface) a box. Errors: as
 * sap_nearest; SAP_ERROR_ARGUMENT also for corners of other dims than the tree's, and for different numbers of lower and
 * upper corners.
 */
SAP_API sap_status sap_box_count(const sap_tree* tree, sap_points lower, sap_points upper, int64_t* counts);
/** ::sap_box_count in double precision. */
SAP_API sap_status sap_box_count_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper, int64_t* counts);

/**
 * The points in each box of ::sap_box_count: rows of ids without distances, each in the tree's own order (the same on
 * every processor). Subtrees that lie inside a box are copied without testing their points. On a CUDA device rows lie
 * where `lower` lies. Expected O(log n + hits) a box. Errors: as sap_box_count.
 */
SAP_API sap_status sap_box_search(const sap_tree* tree, sap_points lower, sap_points upper, sap_neighbors** found);
/** ::sap_box_search in double precision. */
SAP_API sap_status sap_box_search_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                      sap_neighbors** found);

/**
 * ::sap_box_search into the caller's memory, as ::sap_radius_into: row i is ids[offsets[i]] … ids[offsets[i+1]-1].
 * offsets has lower.count + 1 entries and covers all hits; if `capacity` is too small, rows are cut off there, and the
 * last offset is the capacity that is needed. With a capacity of 0, ids may be NULL: the call then only counts. On a GPU
 * the call does not wait if all arrays lie there and the device works in the caller's stream. Expected O(log n + hits) a
 * box. Errors: as sap_box_count; SAP_ERROR_ARGUMENT also for a negative capacity and for offsets NULL.
 */
SAP_API sap_status sap_box_search_into(const sap_tree* tree, sap_points lower, sap_points upper, int64_t capacity,
                                       int64_t* offsets, int32_t* ids);
/** ::sap_box_search_into in double precision. */
SAP_API sap_status sap_box_search_into_f64(const sap_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                           int64_t capacity, int64_t* offsets, int32_t* ids);

/**
 * All pairs of the tree's points within a radius of one another, each once: row i (source_count rows) holds the ids
 * greater than i of the points within the radius of point i, in the tree's own order. Both precisions.
 * Expected O(n (log n + hits)). Errors: as sap_nearest.
 */
SAP_API sap_status sap_pairs(const sap_tree* tree, double radius, sap_neighbors** found);

/**
 * At which image the points of pairs are near one another, on a tree with periods: of rows found by ::sap_pairs, or by
 * ::sap_tree_pairs of the tree with itself, where each pair is in the rows of both. Of the pair at place i of the rows,
 * found in the row of point r and with id j, shifts[i*dims + a] is -1, 0 or 1: point j is nearest to point r at
 * p[j][a] + shift*period[a], both wrapped; 0 on open axes, and where both ways around are as long. The offset is
 * p[j] + shift*period - p[r]. shifts[offsets[count]*dims]; all in host memory. O(pairs). Errors: SAP_ERROR_ARGUMENT (also
 * rows that are not of this tree's points, or lie on a GPU), SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED.
 */
SAP_API sap_status sap_pairs_shifts(const sap_tree* tree, const sap_neighbors* pairs, int8_t* shifts);

/**
 * All pairs of a point of `a` and a point of `b` within a radius of one another: row i (source_count rows of a) holds
 * the ids of the points of b within the radius of point i of a, in the order of b. Both trees have one number of
 * dimensions, one precision, the same periods and one kind of device; they may be one tree, whose points then find
 * themselves too.
 * Points near one another share walks. On a CPU, the call takes memory for the hits once more, and for a's points or boxes.
 * Expected O(n (log n + hits)). CPU and CUDA. Errors: as sap_radius.
 */
SAP_API sap_status sap_tree_pairs(const sap_tree* a, const sap_tree* b, double radius, sap_neighbors** found);

/**
 * How many pairs of a point of `a` and a point of `b` lie within each of `count` radii, which must not fall:
 * distance2 <= radius*radius, the product rounded once to the trees' precision. counts[i] is the number within radii[i]
 * if `cumulative`, else the number within radii[i] but not radii[i-1]. Pairs are ordered: of a tree with itself both
 * (i, j) and (j, i) count, and each point with itself. Two subtrees all of whose distances lie between two radii are
 * counted without visiting their points, so large radii that lie far apart take a small part of the n*m distances.
 * Trees with periods, which must be the same, count each pair once, at its nearest image, whatever the radius.
 *
 * With weights (weights_a by ids of a, weights_b by ids of b; one of them may be NULL: 1 each) it is the sum of the
 * products of weights instead. Without, counts are exact: they are counted as int64 and given as doubles, the nearest
 * ones above 2^53. Sums of weights are added in an order that depends on the trees and the number of radii alone:
 * they are the same bits on any device, for any threads and instruction set, and those of `cumulative` are sums of the
 * others. Weights are in host memory; with them a GPU's trees are copied to the host, which divides the work.
 *
 * CPU and CUDA. Errors: SAP_ERROR_ARGUMENT (also radii that fall, are negative or NaN), SAP_ERROR_NOT_FINITE (a weight),
 * SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_UNSUPPORTED, SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_tree_count_pairs(const sap_tree* a, const sap_tree* b, const double* radii, int32_t count,
                                        const double* weights_a, const double* weights_b, bool cumulative,
                                        double* counts);

/**
 * ::sap_nearest on `b` for every point of `a`: row i is that of the point of a with id i (source_count rows of a). The
 * points ask in the order of their leaves, which needs no ordering; search.without_ids, radii and ks are by ids of a. Of
 * a tree with itself the points find themselves, too, unless search.without_ids leaves them out, as ::sap_nearest_self
 * does. Rows of points that were dropped as duplicates hold no neighbours. CPU and CUDA. Cost and errors: as
 * sap_nearest; besides, on a CPU, memory for 65,536 queries and their answers.
 */
SAP_API sap_status sap_tree_nearest(const sap_tree* a, const sap_tree* b, const sap_search* search, int32_t* ids,
                                    float* distance2);
/** ::sap_tree_nearest in double precision. */
SAP_API sap_status sap_tree_nearest_f64(const sap_tree* a, const sap_tree* b, const sap_search* search, int32_t* ids,
                                        double* distance2);

#ifdef __cplusplus
}
#endif
#endif
