/**
 * @file query.h
 * One query a call: searches that are prepared once and then asked point by point, as robots and simulations do, or
 * ray by ray.
 *
 * ::sap_nearest with a single query takes longer to get ready than to search. A ::sap_query is ready: its arguments are
 * checked, its memory is there and its code is chosen. The answers are those of ::sap_nearest, bit for bit. Where many
 * queries are known at once, ::sap_nearest with all of them is faster still.
 *
 *     sap_query* query;
 *     if (sap_query_open(tree, &(sap_search){.k = 1}, &query) != SAP_OK) return;
 *     while (next_point(point)) {
 *         int32_t id;
 *         float distance2;
 *         if (sap_query_nearest(query, point, &id, &distance2) == 1) use(id, distance2);
 *     }
 *     sap_query_close(query);
 */
#ifndef SAPWOOD_QUERY_H
#define SAPWOOD_QUERY_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A prepared search of one tree. It is for one thread at a time; each thread opens its own, as many as it likes. The
 * tree must outlive it. When the tree is rebuilt, the next call searches the new points.
 */
typedef struct sap_query sap_query;

/**
 * Prepares a search of a tree on the CPU, of either kind and precision. The fields of the search mean what they mean to
 * ::sap_nearest, but without_ids and the fields from metric on must be zero; statistics are added to with every call.
 * Allocates some 500 bytes, and 16 more a neighbour for k above 32. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (a tree on a GPU; a walk).
 */
SAP_API sap_status sap_query_open(const sap_tree* tree, const sap_search* search, sap_query** query);

/**
 * The k nearest points of one query: the row that ::sap_nearest would write, ids[k] and distance2[k], and how many
 * neighbours there are; the rest of the row has id -1 and an infinite distance. distance2 may be NULL. A query with a
 * coordinate that is not finite has no neighbours. Returns -1, with the reason in the log and both arrays untouched,
 * if an argument is NULL, if the tree is in double precision, or if the tree was rebuilt and there is no memory for
 * longer lists. Allocates nothing otherwise. Expected O(log n + k log k).
 */
SAP_API int32_t sap_query_nearest(sap_query* query, const float* point, int32_t* ids, float* distance2);
/** ::sap_query_nearest on a tree in double precision. */
SAP_API int32_t sap_query_nearest_f64(sap_query* query, const double* point, int32_t* ids, double* distance2);

/**
 * The points within a radius of one query, which each call chooses: the row that ::sap_radius would give, in the tree's
 * own order. Returns how many there are; the first `capacity` of them are written to ids[capacity] and
 * distance2[capacity]. distance2 may be NULL; with a capacity of 0, ids may be NULL too: the call then only counts. Of
 * the search that was opened, no field counts. The hits are kept in memory of the search, which grows to the most that
 * there have been (balanced trees). Returns -1, with the reason in the log and both arrays untouched, if an argument is
 * wrong or there is no memory. Expected O(log n + hits).
 */
SAP_API int64_t sap_query_within(sap_query* query, const float* point, double radius, int64_t capacity, int32_t* ids,
                                 float* distance2);
/** ::sap_query_within on a tree in double precision. */
SAP_API int64_t sap_query_within_f64(sap_query* query, const double* point, double radius, int64_t capacity,
                                     int32_t* ids, double* distance2);

/**
 * Begins to go through the points of the tree from one place, for as many as turn out to be needed: ::sap_query_next
 * gives them one by one, ascending by (distance2, id), or with `farthest` the farthest first, of equal distances the
 * smallest id first. Of the search that was opened only the radius counts. A place with a coordinate that is not finite
 * has no points, a tree with periods is SAP_ERROR_UNSUPPORTED. Memory for what waits, at most in proportion to the
 * points that have been looked at, is kept for the next time. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY.
 *
 *     sap_query_begin(query, point, false);
 *     while (sap_query_next(query, &id, &distance2) == 1)
 *         if (will_do(id)) break;
 */
SAP_API sap_status sap_query_begin(sap_query* query, const float* point, bool farthest);
/** ::sap_query_begin on a tree in double precision. */
SAP_API sap_status sap_query_begin_f64(sap_query* query, const double* point, bool farthest);

/**
 * The next point: 1, and its id and squared distance (distance2 may be NULL); 0 if there are no more; -1, with the reason
 * in the log, if an argument is NULL, if ::sap_query_begin has not been called since the tree was built, or if there is no
 * memory. Expected O(log n) a point in few dimensions.
 */
SAP_API int32_t sap_query_next(sap_query* query, int32_t* id, float* distance2);
/** ::sap_query_next on a tree in double precision. */
SAP_API int32_t sap_query_next_f64(sap_query* query, int32_t* id, double* distance2);

/** Frees a prepared search. NULL is allowed. */
SAP_API void sap_query_close(sap_query* query);

/**
 * A prepared search of one mesh: a ray or a point a call, by the answers of ::sap_trace, ::sap_occluded and
 * ::sap_closest_point, bit for bit. Where many rays or points are known at once, those calls are faster still. It is for
 * one thread at a time; each thread opens its own, as many as it likes. The tree must outlive it. When the tree is
 * rebuilt or refitted, the next call searches the new triangles.
 *
 *     sap_mesh_query* query;
 *     if (sap_mesh_query_open(tree, NULL, &query) != SAP_OK) return;
 *     while (next_ray(&ray)) {
 *         sap_hit hit;
 *         if (sap_mesh_query_trace(query, &ray, &hit) == 1) use(hit);
 *     }
 *     sap_mesh_query_close(query);
 */
typedef struct sap_mesh_query sap_mesh_query;

/** What to search a mesh for. All zero is the default for each field. */
typedef struct sap_mesh_query_options {
    /** sap_mesh_query_closest: only points with distance2 <= radius*radius, as a float; 0: no limit. Rays have a t_max. */
    double radius;
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_mesh_query_options;

/**
 * Prepares a search of a tree over triangles on the CPU. options NULL: all defaults. Allocates less than 100 bytes.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (a tree on a GPU). On failure *query is untouched.
 */
SAP_API sap_status sap_mesh_query_open(const sap_mesh_tree* tree, const sap_mesh_query_options* options,
                                       sap_mesh_query** query);

/**
 * The first hit of one ray, as ::sap_trace gives it. Returns 1 if there is one and 0 if there is none: then *hit is a
 * miss. Returns -1, with the reason in the log and *hit untouched, if an argument is NULL. Allocates nothing. Expected
 * O(log n).
 */
SAP_API int32_t sap_mesh_query_trace(sap_mesh_query* query, const sap_ray* ray, sap_hit* hit);

/** Whether one ray hits anything, as ::sap_occluded says: 1 or 0. -1, with the reason in the log, if an argument is
 * NULL. Allocates nothing. */
SAP_API int32_t sap_mesh_query_occluded(sap_mesh_query* query, const sap_ray* ray);

/**
 * The point of the mesh nearest to one point[3], as ::sap_closest_point gives it. Returns 1 if there is one; 0 if there
 * is none, because the mesh has no triangles, the point is not finite or nothing is within the radius: then *closest is
 * as ::sap_closest says. Returns -1, with the reason in the log and *closest untouched, if an argument is NULL.
 * Allocates nothing.
 */
SAP_API int32_t sap_mesh_query_closest(sap_mesh_query* query, const float* point, sap_closest* closest);

/** Frees a prepared search of a mesh. NULL is allowed. */
SAP_API void sap_mesh_query_close(sap_mesh_query* query);

#ifdef __cplusplus
}
#endif
#endif
