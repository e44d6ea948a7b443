/**
 * @file cluster.h
 * One tree over the points of many ranks: threads, processes, machines. Each rank gives a share of the points and asks
 * its own queries; answers are those of one tree over all points, bit for bit (points.h).
 *
 * **Ranks** are numbered from 0. They speak through a communicator (::sap_comm), of which each rank has its own handle.
 * Functions that take a handle, or a tree that was built with one, are *collective* unless they say otherwise: all ranks
 * call the same ones in the same order, each with its own points and queries, of which there may be none. Options,
 * dims, k and radius must be the same on all ranks.
 *
 * **Failure.** A call that fails on one rank returns the same status on all: that of the lowest rank on which it failed,
 * and the log of every other rank names that rank. No rank waits for ever, and the communicator stays usable. Only a
 * handle or tree that is NULL is refused on this rank alone, because nobody can be told. If the communicator's own
 * engine fails, it is of no use any more: all ranks' calls return the engine's status until it is closed.
 *
 * **GPUs.** Devices may be CUDA devices, on all ranks or on none. Points, ids, queries of ::sap_cluster_nearest and
 * answers of it, of ::sap_cluster_nearest_self and of ::sap_cluster_points may then lie in host memory or on the rank's
 * GPU, as elsewhere (base.h, ::sap_device); all other arrays lie in host memory. A rank's part of the tree lives on its
 * GPU, which counts for the cut, builds and searches, and points go from GPU to GPU: directly where ranks are threads
 * and their GPUs can reach one another, or where NCCL carries them; through the host where the communicator knows host
 * memory only (::sap_comm_engine). For several GPUs of one machine a thread for each is enough (::sap_comm_open_threads;
 * examples/gpus.c, and `sapwood nearest --devices 0,1`). Several ranks may share a GPU. Calls return when the results
 * are ready, and cannot be captured into a graph.
 */
#ifndef SAPWOOD_CLUSTER_H
#define SAPWOOD_CLUSTER_H

#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A rank's handle of a communicator. One thread at a time may use it. Trees keep a pointer to it: close it last. */
typedef struct sap_comm sap_comm;

/** How numbers of all ranks become one. */
typedef enum sap_reduction {
    SAP_REDUCE_SUM = 0, /**< modulo 2^64 */
    SAP_REDUCE_MIN = 1, /**< the smallest */
    SAP_REDUCE_MAX = 2  /**< the largest */
} sap_reduction;

/**
 * What carries the messages: a table of functions over a state of the engine's own. Threads, NCCL and MPI are three
 * engines; others may be made of this table. Sapwood calls them in the same order on all ranks; each returns when this rank may
 * use its buffers again. `stream` is NULL, and buffers lie in host memory, unless `device_memory` is set: then buffers
 * may lie in GPU memory, and the work goes to that CUDA stream. Bytes are never negative and may be 0; buffers of 0
 * bytes may be NULL.
 */
typedef struct sap_comm_engine {
    /** All-gather: mine[bytes], the same number on all ranks, to all[rank * bytes] on all. */
    sap_status (*gather)(void* state, const void* mine, int64_t bytes, void* all, void* stream);
    /** All-to-all: to rank r go send_bytes[r] bytes, from rank r come receive_bytes[r]; both buffers hold the ranks' parts
     *  one after the other, in the order of the ranks. What comes is what was sent; counts may exceed 2^31. */
    sap_status (*exchange)(void* state, const void* send, const int64_t* send_bytes, void* receive,
                           const int64_t* receive_bytes, void* stream);
    /** All-reduce, in place: values[count], as many on all ranks. */
    sap_status (*reduce)(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream);
    /** Ranks with one color become a communicator of their own, in the order of (key, rank); color < 0: none, NULL. */
    sap_status (*split)(void* state, int32_t color, int32_t key, sap_comm** part);
    /** Ends the waiting of all ranks: their calls, this one's too, return `status` from now on. Any thread. */
    void (*abort)(void* state, sap_status status);
    /** Frees the state. */
    void (*close)(void* state);
    bool device_memory;   /**< buffers of gather, exchange and reduce may lie in GPU memory */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_comm_engine;

/**
 * Makes a handle of an engine; the table is copied. `allocator` NULL: the C library's heap. Not collective. On failure
 * the state stays the caller's. Errors: SAP_ERROR_ARGUMENT (a NULL, a function missing, a rank that is not below size,
 * words that are reserved), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_comm_open(const sap_comm_engine* engine, void* state, int32_t rank, int32_t size,
                                 const sap_allocator* allocator, sap_comm** comm);

/**
 * Makes a communicator of `size` ranks that are threads of this process: comms[size], one handle a thread. `allocator` as
 * for sap_comm_open. Called once, by one thread, not collectively; each thread closes its handle. A message is a copy
 * from one rank's memory to another's. Errors: SAP_ERROR_ARGUMENT (size not in 1…1024, a NULL), SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (more than one rank in a build without threads).
 */
SAP_API sap_status sap_comm_open_threads(int32_t size, const sap_allocator* allocator, sap_comm** comms);

/** Names a communicator of NCCL's. One rank makes it, and the program brings it to all others, bytes as they are. */
typedef struct sap_nccl_id {
    unsigned char bytes[128]; /**< NCCL's own, to be passed on unread */
} sap_nccl_id;

/** Where NCCL is, and how long to wait. All zero is the default. */
typedef struct sap_nccl_options {
    const char* library;  /**< NCCL's shared library; NULL: libnccl.so.2, where the system's loader looks */
    double patience;      /**< seconds that a rank waits for others in one call, infinity allowed; 0: 600 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_nccl_options;

/**
 * Makes an id, in the process of one of the ranks, which must go on until all have come. `device`: a CUDA device, for the
 * log; `options` NULL: the default. Not collective. Errors: SAP_ERROR_ARGUMENT; SAP_ERROR_UNSUPPORTED (the library is not
 * found, or older than NCCL 2.14; a device of another kind; not Linux); SAP_ERROR_IO (NCCL's).
 */
SAP_API sap_status sap_comm_nccl_id(const sap_device* device, const sap_nccl_options* options, sap_nccl_id* id);

/**
 * Makes a handle of rank `rank` of `size` ranks that share an id: threads of a process, processes of a machine, or of
 * several. NCCL is loaded then: neither building Sapwood nor running it needs it otherwise. Collective. `device`: the
 * rank's CUDA device, another GPU for each rank, on which the rank should also build its trees; close it after the
 * handle. Messages between GPUs go in its stream, from memory of the GPU to memory of the GPU; those that lie in host
 * memory, or belong to another sap_device, go through a room there that is as large as the largest of them was (1 MiB at
 * first), and 256 KiB of page-locked memory. A device with an allocator of its own (::sap_device_options) must give memory
 * that the other GPUs of the process can reach.
 *
 * A rank that fails or calls ::sap_comm_abort ends the waiting of all ranks of its machine at once, with its status; one
 * that dies, or closes its handle while others wait for it, in about a second, with SAP_ERROR_IO, where they see the same
 * /dev/shm; ranks of other machines end when NCCL's network says so, or when their patience does. Memory that a message
 * needs and a rank lacks is such a failure, too. Closing a handle waits for the other ranks for up to 2 seconds.
 *
 * Errors: as sap_comm_nccl_id, SAP_ERROR_ARGUMENT also for two ranks on one GPU, which NCCL refuses; SAP_ERROR_MEMORY,
 * SAP_ERROR_DEVICE_MEMORY; SAP_ERROR_IO. The same on all ranks of a machine, but for arguments that are wrong on one.
 */
SAP_API sap_status sap_comm_open_nccl(sap_device* device, const sap_nccl_id* id, int32_t rank, int32_t size,
                                      const sap_nccl_options* options, sap_comm** comm);

/**
 * Closes a handle. NULL is allowed. Not collective, but MPI's engine waits for nobody only if no call is under way, and
 * NCCL's as sap_comm_open_nccl says.
 */
SAP_API void sap_comm_close(sap_comm* comm);

/** The number of this rank, and of ranks; -1 and 0 if comm is NULL. Not collective. */
SAP_API int32_t sap_comm_rank(const sap_comm* comm);
/** See sap_comm_rank. */
SAP_API int32_t sap_comm_size(const sap_comm* comm);

/** What a handle is, and what was said through it since it was opened. */
typedef struct sap_comm_info {
    int32_t rank;         /**< of this handle */
    int32_t size;         /**< ranks */
    int64_t gathers;      /**< calls of the engine's gather */
    int64_t exchanges;    /**< of its exchange */
    int64_t reductions;   /**< of its reduce */
    int64_t messages;     /**< parts of exchanges, of any bytes but none, that went to other ranks */
    int64_t sent;         /**< bytes of them */
    int64_t received;     /**< bytes of parts that came from other ranks */
    int64_t told;         /**< bytes that this rank gave to gathers and reductions */
    int64_t placed;       /**< queries that lay in the parts of other ranks and went there */
    int64_t asked;        /**< pairs of a query and a rank behind a border that it reached */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_comm_info;

/** Describes a handle. Not collective. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_comm_describe(const sap_comm* comm, sap_comm_info* info);

/**
 * Divides the ranks: those that give the same color, from 0 on, get a communicator of their own, with ranks in the order
 * of (key, rank). With a color of -1 a rank belongs to none, and *part is NULL. Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_MEMORY, the engine's.
 */
SAP_API sap_status sap_comm_split(sap_comm* comm, int32_t color, int32_t key, sap_comm** part);

/**
 * Ends the waiting of all ranks, such as when this rank cannot go on: calls under way and later ones return `status`,
 * which must not be SAP_OK. Threads return; MPI has no means but to end the processes (MPI_Abort). Not collective, any
 * thread. NULL is allowed.
 */
SAP_API void sap_comm_abort(sap_comm* comm, sap_status status);

/**
 * What a program may send itself: as ::sap_comm_engine says of gather. Collective, as the next two are. They carry what
 * they are given and agree on nothing beside it. A failure is the engine's, and so is an argument that is wrong (a NULL
 * with bytes, a negative number): it ends the communicator, because others wait. Errors: SAP_ERROR_ARGUMENT; the engine's.
 */
SAP_API sap_status sap_comm_all_gather(sap_comm* comm, const void* mine, int64_t bytes, void* all);
/** All-to-all: as ::sap_comm_engine says of exchange; how many bytes come must be known. */
SAP_API sap_status sap_comm_all_to_all(sap_comm* comm, const void* send, const int64_t* send_bytes, void* receive,
                                       const int64_t* receive_bytes);
/** All-reduce, in place: as ::sap_comm_engine says of reduce. */
SAP_API sap_status sap_comm_all_reduce(sap_comm* comm, sap_reduction how, uint64_t* values, int64_t count);

/** A tree over the points of all ranks. Its answers never change; one thread of each rank may use it at a time, in any call. */
typedef struct sap_cluster_tree sap_cluster_tree;

/**
 * Builds one balanced tree over the points of all ranks. ids[share.count] are the points' global ids, not negative and
 * all different; NULL: they are counted up through the ranks' rows. The tree is the one that sap_tree_build would build
 * over all points in the order of their ids, cut where the shares of the ranks end: nodes, splits and leaves are the
 * same bytes. Rank r holds leaves that follow one another, those of rank r + 1 follow them. With 2^m ranks each holds one
 * subtree, and at most ceil(n / 2^m) points; with other numbers of ranks several, and at most 1/16 more than that and one
 * leaf, whatever the distribution. If there are fewer leaves than ranks, some hold none.
 *
 * Exact medians in the total order (coordinates, id) are found by histograms of key bits, added up over all ranks, all
 * nodes of a level together (the counting that PANDA samples: Patwary et al. 2016, made exact); then all points are
 * moved at once, and each rank builds its part. O(n/P log n) time; ceil(log2 P) levels (5 more where P is no power of two)
 * of at most 5 reductions for each key of 32 bits; one exchange of points, between two GPUs in up to four parts. Memory
 * beside that of sap_tree_build over the points that a rank holds, ids included: up to 44 bytes a 3-D point, 60 if P is no
 * power of two, 72 if ids do not ascend from rank to rank; on a GPU about as much of its memory, which the device keeps.
 * docs/scale.md says what thousands of ranks take.
 *
 * Options: medians only, open axes, no drop_duplicates: SAP_ERROR_UNSUPPORTED, as on devices that are neither CPUs nor
 * CUDA. A rank may give and hold up to 2^31-1 points, all together 2^40. Errors: as sap_tree_build; the engine's.
 */
SAP_API sap_status sap_cluster_build(sap_comm* comm, sap_device* device, sap_points share, const int64_t* ids,
                                     const sap_tree_options* options, sap_cluster_tree** tree);
/** ::sap_cluster_build in double precision. */
SAP_API sap_status sap_cluster_build_f64(sap_comm* comm, sap_device* device, sap_points_f64 share, const int64_t* ids,
                                         const sap_tree_options* options, sap_cluster_tree** tree);

/**
 * Builds a tree anew, by the options that it was built with, over points that have moved. Which rank gives which points is
 * free, but only points whose new place is another rank's are sent, coordinates and id once: so let each rank give those
 * that it holds (::sap_cluster_points), with their ids. `moved` of ::sap_cluster_info says how many came. Medians are looked
 * for near the last ones first, which saves a reduction a level where points have moved little. If the call fails,
 * the tree is what it was. Memory: two trees, also between calls, until ::sap_cluster_free: the one before the last is
 * kept, and the next call builds into it. So rebuilds over no more points than before soon allocate nothing; only GPUs
 * on which ids do not ascend, rank by rank, take memory of their pool for a while, to sort them.
 * Errors: as sap_cluster_build; SAP_ERROR_ARGUMENT also for other dims.
 */
SAP_API sap_status sap_cluster_rebuild(sap_cluster_tree* tree, sap_points share, const int64_t* ids);
/** ::sap_cluster_rebuild in double precision. */
SAP_API sap_status sap_cluster_rebuild_f64(sap_cluster_tree* tree, sap_points_f64 share, const int64_t* ids);

/** Frees a rank's part of a tree. NULL is allowed. Not collective. */
SAP_API void sap_cluster_free(sap_cluster_tree* tree);

/** What a tree is, here and on all ranks. */
typedef struct sap_cluster_info {
    int64_t count;              /**< points in the whole tree */
    int64_t source_count;       /**< points given by all ranks */
    int64_t not_finite;         /**< of these, left out by drop_nonfinite */
    int64_t leaves;             /**< of the whole tree */
    int32_t depth;              /**< of the whole tree's leaves */
    int32_t dims;               /**< coordinates a point */
    int32_t real_bits;          /**< 32 or 64 */
    int32_t subtrees;           /**< of the whole tree that this rank holds */
    int64_t count_here;         /**< points in them */
    int64_t moved;              /**< points that other ranks gave and this one holds */
    double lower[SAP_MAX_DIMS]; /**< tight box of all points; +infinity if there are none */
    double upper[SAP_MAX_DIMS]; /**< tight box of all points; -infinity if there are none */
    uint64_t reserved[4];       /**< for later versions: zero */
} sap_cluster_info;

/** Describes a tree. Not collective. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_cluster_describe(const sap_cluster_tree* tree, sap_cluster_info* info);

/**
 * The k nearest points of each of this rank's queries, as ::sap_nearest: ids[count*k], global ones, and distance2[count*k],
 * each of which may be NULL; missing neighbours are -1 at infinite distance. A query first goes to the rank in
 * whose part it lies; those whose box is not farther than the k-th point found there are asked, too, and send what they have
 * within that distance. Queries that lie in this rank's part are answered straight into its rows. Of `search`, k and radius
 * are for clusters; walk and ordered are only hints; all else must be zero (SAP_ERROR_UNSUPPORTED).
 *
 * Messages of a call (::sap_comm_info): none if no query lies in another rank's part and none reaches a border; 4 exchanges
 * for those that reach one, 3 more for those that lie elsewhere; one reduction before each. Bytes: a query's coordinates and
 * its answer for each that lies elsewhere; coordinates, a distance, a number and what is found for each border. Memory: the
 * answers that are sent, twice. Errors: as sap_nearest; the engine's. If the call fails, the answers hold unspecified values.
 */
SAP_API sap_status sap_cluster_nearest(const sap_cluster_tree* tree, sap_points queries, const sap_search* search,
                                       int64_t* ids, float* distance2);
/** ::sap_cluster_nearest in double precision, on a tree built in double precision. */
SAP_API sap_status sap_cluster_nearest_f64(const sap_cluster_tree* tree, sap_points_f64 queries,
                                           const sap_search* search, int64_t* ids, double* distance2);

/**
 * The points that this rank holds, count_here of ::sap_cluster_info: ids and coords[count_here * dims], each of which may
 * be NULL; subtree by subtree, in the order of ids within each. Not collective. O(n). On a CPU the first call after a
 * build, this one or one in which these points ask, finds out that order: 4 bytes a point, which the tree keeps, and up to
 * 32 for the time of the call. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_cluster_points(const sap_cluster_tree* tree, int64_t* ids, float* coords);
/** ::sap_cluster_points in double precision. */
SAP_API sap_status sap_cluster_points_f64(const sap_cluster_tree* tree, int64_t* ids, double* coords);

/**
 * ::sap_cluster_nearest for the points that this rank holds, row by row as sap_cluster_points lists them, themselves left
 * out unless search.with_self: ::sap_nearest_self. Only those points are sent whose k nearest may lie beyond a border.
 * Errors: as sap_cluster_nearest.
 */
SAP_API sap_status sap_cluster_nearest_self(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                            float* distance2);
/** ::sap_cluster_nearest_self in double precision. */
SAP_API sap_status sap_cluster_nearest_self_f64(const sap_cluster_tree* tree, const sap_search* search, int64_t* ids,
                                                double* distance2);

/** How many points of all ranks lie within a radius of each of this rank's queries: ::sap_radius_count. */
SAP_API sap_status sap_cluster_radius_count(const sap_cluster_tree* tree, sap_points queries, double radius,
                                            int64_t* counts);
/** ::sap_cluster_radius_count in double precision. */
SAP_API sap_status sap_cluster_radius_count_f64(const sap_cluster_tree* tree, sap_points_f64 queries, double radius,
                                                int64_t* counts);

/** Neighbours in rows, as ::sap_neighbors, with global ids. All arrays lie in host memory. */
typedef struct sap_cluster_neighbors {
    int64_t count;               /**< rows */
    const int64_t* offsets;      /**< count + 1 of them, offsets[0] = 0 */
    const int64_t* ids;          /**< offsets[count] of them */
    const float* distance2;      /**< as many; NULL for a double-precision tree, and for points in boxes */
    const double* distance2_f64; /**< as many; NULL for a float tree, and for points in boxes */
} sap_cluster_neighbors;

/** Frees neighbours. NULL is allowed. Not collective. */
SAP_API void sap_cluster_neighbors_free(sap_cluster_neighbors* neighbors);

/**
 * The points of all ranks within a radius of each of this rank's queries: ::sap_radius, each row in the order of the one
 * tree. A query goes to the ranks whose boxes the ball meets. Errors: as sap_radius; the engine's.
 */
SAP_API sap_status sap_cluster_radius(const sap_cluster_tree* tree, sap_points queries, double radius,
                                      sap_cluster_neighbors** found);
/** ::sap_cluster_radius in double precision. */
SAP_API sap_status sap_cluster_radius_f64(const sap_cluster_tree* tree, sap_points_f64 queries, double radius,
                                          sap_cluster_neighbors** found);

/**
 * All pairs of points of all ranks within a radius of one another, each once: row i is that of point i that this rank holds
 * (::sap_cluster_points), with the greater ids, in the order of the one tree: ::sap_pairs. Only points that no border comes
 * near stay at home. Both precisions. Errors: as sap_cluster_radius.
 */
SAP_API sap_status sap_cluster_pairs(const sap_cluster_tree* tree, double radius, sap_cluster_neighbors** found);

/**
 * How many pairs of points of all ranks lie within each of `count` radii, which must not fall: ::sap_tree_count_pairs of the
 * one tree with itself, without weights. All ranks get the same counts[count]. Points near enough to ranks of higher
 * numbers are sent there, once, without their ids. Both precisions. Errors: as sap_tree_count_pairs; the engine's.
 */
SAP_API sap_status sap_cluster_count_pairs(const sap_cluster_tree* tree, const double* radii, int32_t count,
                                           bool cumulative, double* counts);

/** How many points of all ranks lie in each of this rank's boxes: ::sap_box_count. */
SAP_API sap_status sap_cluster_box_count(const sap_cluster_tree* tree, sap_points lower, sap_points upper,
                                         int64_t* counts);
/** ::sap_cluster_box_count in double precision. */
SAP_API sap_status sap_cluster_box_count_f64(const sap_cluster_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                             int64_t* counts);

/**
 * The points of all ranks in each of this rank's boxes: ::sap_box_search, each row in the order of the one tree, without
 * distances. A box goes to the ranks whose boxes it meets. Errors: as sap_box_search; the engine's.
 */
SAP_API sap_status sap_cluster_box_search(const sap_cluster_tree* tree, sap_points lower, sap_points upper,
                                          sap_cluster_neighbors** found);
/** ::sap_cluster_box_search in double precision. */
SAP_API sap_status sap_cluster_box_search_f64(const sap_cluster_tree* tree, sap_points_f64 lower, sap_points_f64 upper,
                                              sap_cluster_neighbors** found);

#ifdef __cplusplus
}
#endif
#endif
