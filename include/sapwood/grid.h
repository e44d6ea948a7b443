/**
 * @file grid.h
 * Searches from every place of a grid: pictures of the nearest point (Voronoi cells), slices through space, fields of
 * distances and densities.
 */
#ifndef SAPWOOD_GRID_H
#define SAPWOOD_GRID_H

#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * width * height queries. The query in column x and row y is at origin + (x + 1/2) * right + (y + 1/2) * down: for each
 * axis `origin + (x + 1/2) * right` and `(y + 1/2) * down` are computed in double precision and rounded to floats, and
 * the query is their sum in float. So the queries are exactly the same on all processors.
 */
typedef struct sap_grid {
    int32_t width;  /**< columns, at least 1 */
    int32_t height; /**< rows, at least 1 */
    double
        origin[SAP_MAX_DIMS];   /**< the outer corner of the first column and row; axes beyond the tree's are ignored */
    double right[SAP_MAX_DIMS]; /**< from one column to the next */
    double down[SAP_MAX_DIMS];  /**< from one row to the next */
} sap_grid;

/**
 * The k nearest points of every place of a grid: ids[height][width][k] and distance2[height][width][k], as
 * ::sap_nearest gives them. distance2 may be NULL. Only k, radius and walk of the search are used; only trees of floats
 * are supported. This is the fastest search on an OpenGL device: a fragment shader walks the tree for every place, for
 * up to 8 neighbours. Other devices search for some 2^18 places at a time as ::sap_nearest does, with 4 bytes of
 * scratch a coordinate. Errors: as sap_nearest; SAP_ERROR_ARGUMENT also for a grid without places,
 * SAP_ERROR_UNSUPPORTED for trees of doubles and, on OpenGL, k beyond 8.
 */
SAP_API sap_status sap_nearest_grid(const sap_tree* tree, sap_grid grid, const sap_search* search, int32_t* ids,
                                    float* distance2);

/**
 * How many points lie within a radius of every place of a grid: counts[height][width], as ::sap_radius_count gives
 * them. Errors: as sap_nearest_grid.
 */
SAP_API sap_status sap_radius_count_grid(const sap_tree* tree, sap_grid grid, double radius, int64_t* counts);

#ifdef __cplusplus
}
#endif
#endif
