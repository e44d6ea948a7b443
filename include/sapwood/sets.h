/**
 * @file sets.h
 * Points that come and go: inserted, removed by id, trimmed to a box, and searched at any time. On CPUs and CUDA GPUs.
 *
 * **The answers** are at every moment those of a tree that was built from the points that the set then holds, bit for
 * bit: neighbours by (squared distance, id), where ids are the set's. They depend on the points and their ids alone,
 * not on the calls that brought them there, on threads or on time.
 *
 * **Cost on a CPU.** Inserting and removing take a fraction of a microsecond a point, on average; now and then an insert
 * moves many points, or a thread beside does (sap_set_options.background). A batch of more than an eighth of the set is
 * built together with it. A search of many points takes about a third longer than one of a single tree. A 3-D float point takes about
 * 40 bytes, and while points are moved, up to 40 more for each of those.
 *
 * **On a GPU** changes only note what comes and goes, and wait for the GPU; the first search after them builds one tree
 * over all points. Points, queries, ids and answers may lie on the host or on the GPU. A stream that is being captured
 * takes searches of a set that has been searched since it last changed, and no changes.
 *
 *     sap_set* map;
 *     if (sap_set_create(device, 3, NULL, &map) != SAP_OK) return;
 *     while (next_scan(&scan)) {
 *         sap_set_nearest(map, scan, &(sap_search){.k = 5}, ids, distance2);
 *         sap_set_insert(map, scan, NULL, NULL);
 *         sap_set_keep_box(map, lower, upper, NULL);
 *     }
 *     sap_set_free(map);
 */
#ifndef SAPWOOD_SETS_H
#define SAPWOOD_SETS_H

#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A set of points. Any number of threads may search it at once; a call that changes it needs it for itself. Debug
 * builds of the library check that.
 */
typedef struct sap_set sap_set;

/** How to create a set. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_set_options {
    int32_t real_bits;    /**< precision: 32, or 64 for the calls that end in _f64; 0: 32 */
    bool background;      /**< CPU: moves of many points are done by a thread of their own, so that no insert takes
                             long; until it is done they take twice the memory. Answers are the same. Default: within
                             the call that makes them necessary */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_set_options;

/**
 * Creates an empty set of points with `dims` coordinates. The device must outlive it.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (a device of OpenGL).
 */
SAP_API sap_status sap_set_create(sap_device* device, int32_t dims, const sap_set_options* options, sap_set** set);

/**
 * Inserts copies of points. With ids NULL the set counts: from 0, and always on from the greatest id that it has had,
 * so that it gives no id twice. Or the caller gives ids[points.count], from 0 to 2^31-2, in any order, none of which is
 * in the set; an id that was removed may come back, for the same thing in another place. given[points.count], if not
 * NULL, receives the ids. Errors: SAP_ERROR_ARGUMENT (also: an id that is in the set, or twice among the new ones, or
 * negative), SAP_ERROR_RANGE (an id would be above 2^31-2), SAP_ERROR_NOT_FINITE (as for ::sap_tree_build),
 * SAP_ERROR_MEMORY, and as all calls on a GPU SAP_ERROR_DEVICE_MEMORY and SAP_ERROR_DEVICE_LOST; the set is then as it
 * was.
 */
SAP_API sap_status sap_set_insert(sap_set* set, sap_points points, const int32_t* ids, int32_t* given);
/** ::sap_set_insert into a set in double precision. */
SAP_API sap_status sap_set_insert_f64(sap_set* set, sap_points_f64 points, const int32_t* ids, int32_t* given);

/**
 * Removes points by their ids. Ids that are not in the set, or not any more, are passed over: *removed, if not NULL,
 * says how many points went. Errors: SAP_ERROR_ARGUMENT (a NULL, a negative count); on a CPU never for want of memory.
 */
SAP_API sap_status sap_set_remove(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed);

/**
 * Removes every point outside the box lower[dims] … upper[dims], whose sides belong to it: p stays if lower <= p <=
 * upper on every axis. Corners may be infinite; a box with lower > upper on some axis holds no point. Looks at the
 * removed points and at the leaves that the box's sides cut. *removed, if not NULL, says how many points went.
 * Errors: SAP_ERROR_ARGUMENT (a NULL, a NaN).
 */
SAP_API sap_status sap_set_keep_box(sap_set* set, const double* lower, const double* upper, int64_t* removed);

/** The opposite: removes every point inside the box. */
SAP_API sap_status sap_set_cut_box(sap_set* set, const double* lower, const double* upper, int64_t* removed);

/**
 * The k nearest points of each query: see ::sap_nearest. search.walk must be SAP_WALK_AUTO (SAP_ERROR_UNSUPPORTED
 * otherwise), and fields from search.metric on must be zero (SAP_ERROR_ARGUMENT). Errors: as sap_nearest.
 */
SAP_API sap_status sap_set_nearest(const sap_set* set, sap_points queries, const sap_search* search, int32_t* ids,
                                   float* distance2);
/** ::sap_set_nearest in double precision. */
SAP_API sap_status sap_set_nearest_f64(const sap_set* set, sap_points_f64 queries, const sap_search* search,
                                       int32_t* ids, double* distance2);

/** How many points lie within a radius of each query: see ::sap_radius_count. */
SAP_API sap_status sap_set_radius_count(const sap_set* set, sap_points queries, double radius, int64_t* counts);
/** ::sap_set_radius_count in double precision. */
SAP_API sap_status sap_set_radius_count_f64(const sap_set* set, sap_points_f64 queries, double radius, int64_t* counts);

/** The points within a radius of each query, each row by (squared distance, id): see ::sap_radius. */
SAP_API sap_status sap_set_radius(const sap_set* set, sap_points queries, double radius, sap_neighbors** found);
/** ::sap_set_radius in double precision. */
SAP_API sap_status sap_set_radius_f64(const sap_set* set, sap_points_f64 queries, double radius, sap_neighbors** found);

/** What a set is. */
typedef struct sap_set_info {
    int64_t count;        /**< points in the set */
    int64_t next_id;      /**< the id that the next point gets if the set counts */
    int64_t removed;      /**< removed points that still take memory */
    int32_t dims;         /**< coordinates a point */
    int32_t real_bits;    /**< 32 or 64 */
    int32_t trees;        /**< trees that a search goes through */
    bool moving;          /**< points are being moved in the background */
    size_t bytes;         /**< memory that the set holds, on the host or the GPU, but for what is being moved */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_set_info;

/** Describes a set; how its points are kept depends on the calls so far, and in the background on time. Errors:
 *  SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_set_describe(const sap_set* set, sap_set_info* info);

/** Frees a set. NULL is allowed. */
SAP_API void sap_set_free(sap_set* set);

#ifdef __cplusplus
}
#endif
#endif
