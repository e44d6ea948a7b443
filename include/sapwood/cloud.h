/**
 * @file cloud.h
 * Clouds of points: normals and covariances, sums over neighbours, density, outliers, thinning, clusters, samples,
 * relaxation, projection, distances. On the CPU and on CUDA devices; distances wherever searches are.
 *
 * The points are those of a tree, and each asks for its own neighbours: a call goes once over the leaves, and consumes
 * neighbours as they are found. Lists of all neighbours are never made, so that memory grows with the points alone.
 *
 * **Where arrays lie.** On a CUDA device the results of calls over a tree may lie on the host or on the GPU, where
 * the queries of sap_gather may, too. What options point to, normals that are to be turned, and points that relax or are
 * projected are memory of the host. Calls whose arrays all lie on the GPU return before it is done if the device works in
 * the caller's stream; outliers, clusters, SAP_ORIENT_CONSISTENT, relaxation and projection wait.
 *
 * **Rows** of results are by id, one for each point that was given to the build (sap_tree_info.source_count). Points that
 * the tree has left out, because they were duplicates or not finite, get the row that each call names. What options say
 * of them (weights, attributes, views, normals) may be anything: it is not looked at.
 *
 * **Failures.** Arrays of results hold unspecified values after SAP_ERROR_MEMORY, as they do after SAP_ERROR_CANCELLED.
 *
 * **One answer, bit for bit.** Which neighbours count is exact, as for every search (points.h). What is made of them are
 * sums of many terms in one stated order, in double precision: results are the same bits on every device, for any number
 * of threads and any vector width.
 */
#ifndef SAPWOOD_CLOUD_H
#define SAPWOOD_CLOUD_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the weight of a neighbour falls with its distance d from the point, within the radius r. */
typedef enum sap_falloff {
    SAP_FALLOFF_NONE = 0,    /**< 1 for all neighbours */
    SAP_FALLOFF_BIWEIGHT = 1 /**< (1 - d²/r²)²: smooth, 0 at the radius, which must be given and finite */
} sap_falloff;

/** Which of its two directions a normal takes. */
typedef enum sap_orient {
    SAP_ORIENT_NONE = 0,      /**< that in which its largest coordinate, or the first of those, is positive */
    SAP_ORIENT_VIEW = 1,      /**< towards sap_normals_options.view */
    SAP_ORIENT_VIEWS = 2,     /**< towards the row of sap_normals_options.views that is the point's own */
    SAP_ORIENT_PATH = 3,      /**< towards where the sensor was at the point's time: on its path between two views */
    SAP_ORIENT_CONSISTENT = 4 /**< as its neighbours, along a minimum spanning tree of the graph of each point and its
                                 nearest (Hoppe and others 1992). Of each part of that graph the highest point's normal
                                 points up: the one of greatest z, of these the one of smallest id */
} sap_orient;

/** What is known of the neighbours of a point: a value of sap_cloud_axes.kinds. */
typedef enum sap_neighborhood {
    SAP_NEIGHBORHOOD_FEW = 0,    /**< fewer than 3 neighbours (with the point itself), or all weights are 0: nothing */
    SAP_NEIGHBORHOOD_POINT = 1,  /**< all of them are at one place */
    SAP_NEIGHBORHOOD_LINE = 2,   /**< they lie on a line, as far as the precision of coordinates tells */
    SAP_NEIGHBORHOOD_SURFACE = 3 /**< they span a plane or more: there is a normal */
} sap_neighborhood;

/** Which neighbours a normal is made of, and which way it points. All zero is the default for each field. */
typedef struct sap_normals_options {
    int32_t k; /**< the nearest points, the point itself among them, unless more than k are at its place: then those of
                        the k smallest ids; 0: all within the radius, or 16 without one */
    double radius;        /**< only within this distance; 0: any */
    const float* weights; /**< [source_count] how much each point counts, by id: finite, not negative; NULL: 1 each */
    sap_falloff falloff;  /**< default SAP_FALLOFF_NONE */
    sap_orient orient;    /**< default SAP_ORIENT_NONE */
    double view[3];       /**< SAP_ORIENT_VIEW: where to */
    const double* views; /**< SAP_ORIENT_VIEWS: [3*source_count]; SAP_ORIENT_PATH: [3*view_count], places of the sensor;
                             finite */
    int64_t view_count;  /**< SAP_ORIENT_PATH: at least 1 */
    const double* view_times; /**< SAP_ORIENT_PATH: [view_count] when it was there; finite, none below the one before */
    const double*
        point_times;      /**< SAP_ORIENT_PATH: [source_count] when each point was measured; not before the first or
                                  after the last view, where the sensor is taken to have stood still; finite */
    int32_t graph_k;      /**< SAP_ORIENT_CONSISTENT: neighbours in the graph, without the point itself; 0: 10 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_normals_options;

/**
 * What the neighbours of each point look like. Each array is the caller's, [source_count] rows, or NULL: not wanted.
 * With weights w, their sum W, and m the mean of the neighbours, the covariance is the sum of w (p - m)(p - m)^T over W.
 * Its eigenvalues are l0 <= l1 <= l2, none below 0. Of a tree in double precision both may be beyond floats: they are then
 * infinite, with their signs, or 0 if too small; all else is made of what they are in double precision.
 */
typedef struct sap_cloud_axes {
    float* normals;     /**< [3*source_count] axes of l0, of length 1; 0, 0, 0 unless kinds is a surface */
    float* directions;  /**< [3*source_count] axes of l2, of length 1; 0, 0, 0 unless kinds is a line or a surface. They
                            are not oriented: their largest coordinate, or the first of those, is positive */
    float* covariances; /**< [6*source_count] xx, xy, xz, yy, yz, zz */
    float* eigenvalues; /**< [3*source_count] l0, l1, l2 */
    float* curvatures;  /**< l0 / (l0 + l1 + l2): 0 for a plane, at most 1/3; 0 where all are 0 */
    float* planarities; /**< (l1 - l0) / l2; 0 where l2 is 0 */
    float* linearities; /**< (l2 - l1) / l2; 0 where l2 is 0 */
    int32_t* counts;    /**< how many neighbours there were, the point itself among them */
    uint8_t* kinds;     /**< a sap_neighborhood */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_cloud_axes;

/**
 * The normal of each point: the axis of the least eigenvalue of the covariance of its neighbours; and, unless `curvatures`
 * is NULL, l0 / (l0 + l1 + l2). The normal is 0, 0, 0, never NaN, where there is none: fewer than 3 neighbours, or all of
 * them on a line or at one place, as far as the precision of coordinates tells (::sap_neighborhood). Trees of three
 * dimensions without periods, of both precisions. options may be NULL.
 *
 * The sums are of the differences to the point itself, in double precision, so that clouds far from the origin lose
 * nothing. Terms are added in the order of (distance2, id), or, for all points within a radius, in the tree's own order,
 * which depends on how the tree was built. Points that the tree has left out get 0.
 *
 * Expected O(n (log n + k)), and O(n log n) more for SAP_ORIENT_CONSISTENT. Scratch memory: 16 bytes a point (32 in double
 * precision); for SAP_ORIENT_CONSISTENT also about 16 bytes for each edge of the graph. On a GPU coordinates and ids
 * in the order of leaves besides, and for k above 32 or in double precision up to 128 MB of neighbours; there
 * SAP_ORIENT_CONSISTENT finds the neighbours, and the host makes the tree. On a CPU or a CUDA device. Errors:
 * SAP_ERROR_ARGUMENT (also a tree of other dims, k or radius negative, a falloff without a radius, weights, views or times
 * that are missing or not as they should be), SAP_ERROR_NOT_FINITE (a weight, view or time), SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (another device, a tree with periods), SAP_ERROR_RANGE (the edges of the graph are more than
 * 2^32-1), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_normals(const sap_tree* tree, const sap_normals_options* options, float* normals,
                                     float* curvatures);

/**
 * The covariance of the neighbours of each point, covariances[6*source_count] (xx, xy, xz, yy, yz, zz), and, unless NULL,
 * its eigenvalues[3*source_count], ascending. options.orient is not looked at. Cost and errors: as sap_cloud_normals.
 */
SAP_API sap_status sap_cloud_covariances(const sap_tree* tree, const sap_normals_options* options, float* covariances,
                                         float* eigenvalues);

/**
 * All that is wanted of ::sap_cloud_axes in one pass. Normals are oriented as the options say.
 * Cost and errors: as sap_cloud_normals.
 */
SAP_API sap_status sap_cloud_shapes(const sap_tree* tree, const sap_normals_options* options,
                                    const sap_cloud_axes* axes);

/**
 * Turns normals that one has, normals[3*source_count], of any length, as options.orient says (::SAP_ORIENT_NONE: not at
 * all): each keeps its direction or takes the opposite one. A normal of 0 stays; one that is not finite is SAP_ERROR_NOT_FINITE. Nothing else of the options is looked
 * at. Cost and errors: as sap_cloud_normals.
 */
SAP_API sap_status sap_cloud_orient(const sap_tree* tree, const sap_normals_options* options, float* normals);

/** Which neighbours are added up. All zero is the default for each field. */
typedef struct sap_gather_options {
    int32_t k;            /**< the nearest points; 0: all within the radius, or 16 without one */
    double radius;        /**< only within this distance; 0: any */
    const float* weights; /**< [source_count] how much each point counts, by id: finite, not negative; NULL: 1 each */
    sap_falloff falloff;  /**< default SAP_FALLOFF_NONE */
    const float* attributes; /**< [source_count*attribute_count] numbers of each point, by id: finite */
    int32_t attribute_count; /**< numbers a point */
    uint64_t reserved[4];    /**< for later versions: zero */
} sap_gather_options;

/**
 * Sums over the neighbours of each query. Each array is the caller's, or NULL: not wanted. With weights w, and d = p - q the
 * difference of a neighbour p and the query q, the mean of the neighbours is q + offsets / weights, and products / weights is
 * the mean of d d^T, which less the mean of d twice is their covariance.
 */
typedef struct sap_gathered {
    int32_t* counts;      /**< [queries] neighbours */
    double* weights;      /**< [queries] the sum of w */
    double* offsets;      /**< [queries*dims] the sum of w d */
    double* products;     /**< [queries*dims*(dims+1)/2] the sum of w d d^T: xx, xy, xz, yy, yz, zz; xx, xy, yy; xx */
    double* attributes;   /**< [queries*attribute_count] the sums of w times each attribute */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gathered;

/**
 * Adds up what lies around each query: neighbours are consumed as they are found, and rows of them are never made. Mean
 * shift, moving averages, interpolation by distance, particles and filters of all kinds are made of these sums. A query
 * without neighbours, such as one that is not finite, has sums of 0. options may be NULL.
 *
 * Terms are added in double precision in the order of (distance2, id), or, for all points within a radius, in the tree's own
 * order, which depends on how the tree was built. A product of axes a and b is (w d_a) d_b; for xz it is (w d_z) d_x. Trees
 * of up to 3 dimensions without periods.
 *
 * Expected O(log n + k) a query. Scratch memory: 16 bytes a point of the tree (32 in double precision) and, for up to 2^21 queries
 * at a time, 12 bytes more than their coordinates each; on a GPU as for sap_cloud_normals. On a CPU or a CUDA device.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_NOT_FINITE (a weight or an attribute), SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED
 * (another device, a tree of more dimensions or with periods), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_gather(const sap_tree* tree, sap_points queries, const sap_gather_options* options,
                              const sap_gathered* sums);
/** In double precision. */
SAP_API sap_status sap_gather_f64(const sap_tree* tree, sap_points_f64 queries, const sap_gather_options* options,
                                  const sap_gathered* sums);
/** The same for all points of the tree, of either precision: rows are by id (source_count), and each point is its own
 * neighbour. Faster than ::sap_gather: the points are in a good order already. Points that the tree has left out get 0. */
SAP_API sap_status sap_gather_self(const sap_tree* tree, const sap_gather_options* options, const sap_gathered* sums);

/** What is meant by the density about a point. */
typedef enum sap_density {
    SAP_DENSITY_COUNT = 0,    /**< how many other points lie within the radius */
    SAP_DENSITY_DISTANCE = 1, /**< the distance to the k-th nearest other point; infinite where there are fewer */
    SAP_DENSITY_KERNEL = 2 /**< an estimate of the number of points in a unit of volume: the sum of (1 - d²/r²)² over
                                 all points within the radius r, the point itself among them, over the integral of the same
                                 in as many dimensions as options.dims says */
} sap_density;

/** Which density. All zero but the radius is the default for each field. */
typedef struct sap_density_options {
    sap_density kind; /**< default SAP_DENSITY_COUNT */
    double radius; /**< SAP_DENSITY_COUNT and SAP_DENSITY_KERNEL: above 0 and finite; for a kernel also its square and
                               its power of `dims`, 1e-290 to 1e290 */
    int32_t k;     /**< SAP_DENSITY_DISTANCE: 0: 1 */
    int32_t dims;  /**< SAP_DENSITY_KERNEL: 1 … the tree's; 0: the tree's. 2 for points on surfaces */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_density_options;

/**
 * The density about each point, densities[source_count]. Trees of both precisions, any dims, also with periods. Points
 * that the tree has left out get 0, or for SAP_DENSITY_DISTANCE infinity. Terms are added in the tree's own order.
 *
 * Expected O(n (log n + hits)); counts visit only the leaves at the surfaces of balls. Scratch memory on a GPU: as for
 * sap_cloud_normals. On a CPU or a CUDA device. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED
 * (another device), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_density(const sap_tree* tree, const sap_density_options* options, double* densities);

/** Which points are outliers. */
typedef enum sap_outliers {
    SAP_OUTLIERS_STATISTICAL =
        0,                  /**< those whose mean distance to their k nearest others is above the mean of all these
                                     by more than `ratio` standard deviations */
    SAP_OUTLIERS_RADIUS = 1 /**< those with fewer than k others within the radius */
} sap_outliers;

/** How to find outliers. All zero is the default for each field, but a radius has none. */
typedef struct sap_outliers_options {
    sap_outliers kind;    /**< default SAP_OUTLIERS_STATISTICAL */
    int32_t k;            /**< others of each point; 0: 20, or with a radius 1 */
    double ratio;         /**< SAP_OUTLIERS_STATISTICAL: how many standard deviations; not negative; 0: 2 */
    double radius;        /**< SAP_OUTLIERS_RADIUS: above 0 and finite */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_outliers_options;

/** What was found beside the mask. */
typedef struct sap_outliers_info {
    int64_t kept;         /**< points that are no outliers */
    double mean;          /**< SAP_OUTLIERS_STATISTICAL: of the mean distances of all points; else 0 */
    double deviation;     /**< their standard deviation (over n - 1; 0 for a single point); else 0 */
    double limit;         /**< the greatest mean distance that is no outlier's; else 0 */
    uint64_t reserved[4]; /**< zero */
} sap_outliers_info;

/**
 * keep[source_count]: 1 for points that are no outliers, 0 for outliers and for points that the tree has left out; as
 * sap_search.keep and ::sap_compact take it. `info` may be NULL, and so may options where defaults exist. Trees of both
 * precisions, any dims, also with periods. A point with fewer than k others is measured by those that there are, one alone
 * by 0. Where all points are alike none is an outlier. The mean distance of a point is the sum of the distances, roots in
 * double precision, ascending, over their number; sums over points go by id.
 *
 * Expected O(n (log n + k)), with a radius O(n log n + the leaves at the surfaces of balls). Scratch memory: 8 bytes a
 * point; on a GPU 9 more and what sap_cloud_normals takes. On a CPU or a CUDA device. Errors: as sap_cloud_density.
 */
SAP_API sap_status sap_cloud_outliers(const sap_tree* tree, const sap_outliers_options* options, uint8_t* keep,
                                      sap_outliers_info* info);

/** Which point stands for those of a cell of a grid. */
typedef enum sap_voxels_point {
    SAP_VOXELS_CENTROID = 0, /**< their mean; attributes and normals are means, too */
    SAP_VOXELS_FIRST = 1,    /**< the one with the smallest id */
    SAP_VOXELS_NEAREST = 2   /**< the one nearest to the middle of the cell; of several the one with the smallest id */
} sap_voxels_point;

/** How to thin a cloud by a grid. All zero but the sizes is the default for each field. */
typedef struct sap_voxels_options {
    double sizes[SAP_MAX_DIMS];  /**< sides of a cell: above 0 and finite for each axis */
    double origin[SAP_MAX_DIMS]; /**< a corner of a cell; finite */
    sap_voxels_point point;      /**< default SAP_VOXELS_CENTROID */
    int32_t fewest;              /**< cells with fewer points are left out; 0: 1 */
    bool drop_nonfinite;         /**< leave out points that are NaN or infinite, instead of failing */
    const float*
        normals; /**< [3*count] of the points; NULL: none. Means are made of length 1, or 0 where they vanish */
    const float* attributes; /**< [count*attribute_count], such as colours; NULL: none */
    int32_t attribute_count; /**< numbers a point */
    uint64_t reserved[4];    /**< for later versions: zero */
} sap_voxels_options;

/** The points that are left, in the order of their cells: the last axis counts most. */
typedef struct sap_thinned {
    int64_t count;            /**< cells */
    int32_t dims;             /**< of the points */
    const int32_t* ids;       /**< [count] the point that stands for each cell; with SAP_VOXELS_CENTROID the first */
    const int32_t* counts;    /**< [count] points in each cell */
    const float* coords;      /**< [count*dims]; NULL of points in double precision */
    const double* coords_f64; /**< [count*dims]; NULL of floats */
    const float* normals;     /**< [3*count]; NULL without */
    const float* attributes;  /**< [count*attribute_count]; NULL without */
    const int32_t* cell_of;   /**< [points] the cell of each point given; -1 of those left out */
    bool on_device;           /**< the arrays lie in the memory of a CUDA device, as the points did */
} sap_thinned;

/** Frees a thinned cloud. NULL is allowed. */
SAP_API void sap_thinned_free(sap_thinned* voxels);

/**
 * Thins a cloud by a grid: one point for each cell that has some. Along an axis the cell of x is floor((x - origin) / size),
 * each operation rounded once in double precision, as are all others; means are first + (sum of x - first) / count, in the
 * order of ids. Cells may be any number of cells from the origin up to 2^52, so there is no limit to the range.
 *
 * O(n), or where the cells do not number 2^64 in their bounds O(n * dims). Scratch memory: 24 bytes a point, and 8 more on a
 * GPU. On any device; those without kernels for it use one thread of the host. On a CUDA device the arrays given, and those
 * made, lie where the points lie, on the host or there, and what is made is the same. Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_NOT_FINITE (naming the first bad point, normal or attribute's row; also a coordinate whose square would
 * overflow in double precision), SAP_ERROR_RANGE (a cell beyond 2^52, or over 2^31-1 points), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_cloud_voxels(sap_device* device, sap_points points, const sap_voxels_options* options,
                                    sap_thinned** voxels);
/** ::sap_cloud_voxels in double precision. */
SAP_API sap_status sap_cloud_voxels_f64(sap_device* device, sap_points_f64 points, const sap_voxels_options* options,
                                        sap_thinned** voxels);

/** What a point is to its cluster: a value of `kinds`. */
typedef enum sap_cluster_point {
    SAP_CLUSTER_NOISE = 0,  /**< in no cluster */
    SAP_CLUSTER_BORDER = 1, /**< in the cluster of the nearest core point within the radius */
    SAP_CLUSTER_CORE = 2    /**< with enough points within the radius */
} sap_cluster_point;

/** How to find clusters. */
typedef struct sap_clusters_options {
    double radius; /**< how near points of a cluster are: not negative, finite */
    int32_t
        fewest; /**< DBSCAN: points within the radius of a core point, the point itself among them; 0 or 1: friends of
                       friends (Euclidean clusters), all points are core points */
    int64_t least;        /**< clusters of fewer points, border points among them, are noise; 0: 1 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_clusters_options;

/**
 * Clusters of points: core points that lie within the radius of one another (distance2 <= radius*radius, as for
 * ::sap_radius_count) are in one cluster, and so are all that are joined by others. With `fewest` above 1 that is DBSCAN
 * (Ester and others 1996), where a border point belongs to the core point with the smallest (distance2, id).
 *
 * labels[source_count]: the number of each point's cluster, counted from 0 in the order of their core points with the
 * smallest ids; -1 for noise and for points that the tree has left out. kinds[source_count] or NULL: a
 * ::sap_cluster_point. *count: clusters. Trees of both precisions, any dims, also with periods. The result does not depend
 * on how the tree was built nor on the number of threads.
 *
 * Pairs are never kept, and whole subtrees are joined at once, so a million equal points take ordinary time. Expected
 * O(n (log n + points within the radius)) time; memory for a box a node and 5 bytes a point; on a GPU 13 bytes a node,
 * and 21 bytes and the coordinates a point. On a CPU or a CUDA device. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (another device), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_clusters(const sap_tree* tree, const sap_clusters_options* options, int32_t* labels,
                                      uint8_t* kinds, int64_t* count);

/** Which points a sample is made of. */
typedef enum sap_sampling {
    SAP_SAMPLE_FARTHEST =
        0, /**< each is the point farthest from those before it; of several the one with the smallest id */
    SAP_SAMPLE_POISSON = 1 /**< none lies within the radius of another, and every point within that of one of them */
} sap_sampling;

/** How to sample a cloud. */
typedef struct sap_sample_options {
    sap_sampling kind; /**< default SAP_SAMPLE_FARTHEST */
    int64_t most;      /**< SAP_SAMPLE_FARTHEST: how many points; above 0 */
    int32_t start; /**< SAP_SAMPLE_FARTHEST: the first one: the point of the tree with this id, or the next greater one;
                             0: the one with the smallest id */
    double radius; /**< SAP_SAMPLE_POISSON: above 0 and finite */
    uint64_t seed; /**< SAP_SAMPLE_POISSON: chooses the order in which points are tried */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_sample_options;

/**
 * Chooses points of the tree that cover it evenly; *count is how many. Trees of both precisions and any dims.
 *
 * SAP_SAMPLE_FARTHEST: ids[most], in the order in which they are chosen. The sample is that of the plain greedy algorithm,
 * exactly; points that equal chosen ones come last, and each point once, so that *count is less than `most` only if there
 * are fewer points. Subtrees that lie nearer to chosen points than to the new one are not visited. Expected O(n log(most)),
 * one thread; on a GPU O(n * most). Trees without periods (SAP_ERROR_UNSUPPORTED).
 *
 * SAP_SAMPLE_POISSON: ids[source_count], of which the first *count are written, ascending. Points are tried in an order
 * that depends on `seed` and their ids alone, and taken if no point before them was within the radius. Expected O(n), one
 * thread; on a GPU O(log n) rounds, each of which visits what is left. Trees with periods, too.
 *
 * Scratch memory: a box a node and 4 (8 in double precision) bytes a point; Poisson: 24 bytes a point and its coordinates; on
 * a GPU 8 (12) bytes a point and its coordinates, Poisson: 13. On a CPU or a CUDA device. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED, SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_sample(const sap_tree* tree, const sap_sample_options* options, int32_t* ids,
                                    int64_t* count);

/** How points relax. All zero is the default for each field. */
typedef struct sap_relax_options {
    int32_t k;     /**< the nearest points exert forces, the point itself among them, as for ::sap_cloud_normals; 0: all
                        within the radius, or 16 without one */
    double radius; /**< range of the forces; 0: for each point the distance to the last of its k */
    int32_t steps; /**< 0: 1 */
    double step;   /**< part of the longest step that lowers the energy for sure, at most 2; 0: 1 */
    double tolerance; /**< stop when points move by less than this part of their forces' range in a step, as
                           sap_relax_info.movement has it: looked at whenever points have been put back, with
                           is_free after each step; 0: do all steps */
    int64_t more; /**< points that are added before the first step, next to those that lie most alone, a third of the
                           way to a neighbour; at the very place of a point that has none, or one at its own place; at most
                           8 times as many as there are */
    bool is_free; /**< do not put points back on the surface that those given sample */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_relax_options;

/** What became of points that relaxed. */
typedef struct sap_relax_info {
    int32_t steps;   /**< that were done */
    double movement; /**< in the last: root of the mean of squares. Points that are put back are measured then, from
                               where they were when that was last done: half of it, if that was two steps before */
    double range;    /**< of the forces: the radius; without one, and with a tolerance, the mean of those of all
                               points before the first step; else 0 */
    uint64_t reserved[4]; /**< zero */
} sap_relax_info;

/**
 * Lets points that repel each other relax on the surface that they sample: evens out a scan, and with `more` makes it denser.
 * moved[3*(points.count + options.more)] are the points in their order, then those that were added; normals, of as many,
 * are those of ::sap_cloud_normals where the points lay before the last step, or NULL; info may be NULL.
 *
 * Points within the range r of each other have the energy (1 - d/r)². In each step the tree is built anew, and each point
 * goes where its force pushes it, along the plane of its neighbours (along their line, if they are on one): by
 * step * r / (2n) times the sum of (1 - d/r) over its n neighbours, each in the direction away from it. With a radius
 * that lowers the energy of points in a plane in each step. Planes are those of ::sap_cloud_shapes with
 * ::SAP_FALLOFF_BIWEIGHT and the same neighbours. After every second step, and in the end, each point is put back on the
 * surface: along the sum of its own normal, of before the step, and that of the nearest of the points given, onto the plane
 * through the latter at right angles to that sum. On a curved surface the error is of the third power of the distance from
 * that point. Where the two normals differ by more than 60 degrees, or the own one is 0, the plane is at right angles to the
 * given point's normal alone. And it is put no farther from that point than half the range: the radius, or of k neighbours
 * the greatest range before the first step, which ranges do not exceed after it. So surfaces with a border grow by that much
 * at most, unless `is_free` is set or each step is a call of its own. Points at one place stay together. A radius beyond the diagonal of the cloud's bounds counts as that.
 *
 * Points are of three dimensions; where they are far from 0, take a middle off before. Same bits for any device
 * and number of threads.
 * Expected O(n (log n + neighbours)) a step. Memory: two trees and 76 bytes a point. On a CPU or a CUDA device, which
 * nothing leaves between the first step and the last. moved and normals may lie there. Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_NOT_FINITE (naming the first bad point), SAP_ERROR_MEMORY, SAP_ERROR_RANGE (more than 2^31-1 points),
 * SAP_ERROR_UNSUPPORTED (another device), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_relax(sap_device* device, sap_points points, const sap_relax_options* options,
                                   float* moved, float* normals, sap_relax_info* info);

/** How points are projected onto the surface that a cloud samples. All zero is the default for each field. */
typedef struct sap_project_options {
    int64_t count;       /**< points that are projected; 0: one for every 20 given, rounded up */
    const float* starts; /**< [3*count] where they begin, finite; NULL: at points given, of which there are enough */
    double radius;       /**< how far points reach; 0: 8 mean spacings, each the mean of the distances from a point to
                              itself and its 6 nearest others */
    int32_t steps;       /**< 0: 35 */
    double push;         /**< how much points keep off each other (mu), at most 0.5; 0: 0.45 */
    double tolerance;    /**< stop when points move by less than this part of the radius, in the root of the mean of
                              squares; 0: do all steps */
    bool by_density;     /**< points given weigh the less the more of them lie nearby: where they are dense in parts */
    bool to_median; /**< go to the median of the points given, which stays on curved surfaces with a wide radius; else
                         to their mean, which takes out more noise with a narrow one */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_project_options;

/** What became of points that were projected. */
typedef struct sap_project_info {
    int64_t count;        /**< of them */
    int32_t steps;        /**< that were done */
    double movement;      /**< in the last: root of the mean of squares */
    double radius;        /**< that was taken */
    uint64_t reserved[4]; /**< zero */
} sap_project_info;

/**
 * Projects a few points onto the surface that a cloud samples with noise and outliers, evenly: weighted locally optimal
 * projection (Huang and others 2009, after Lipman and others 2007). No normals are needed, and none are made.
 * projected[3*count], of options.count points; info may be NULL.
 *
 * In each step a point x is drawn by the points p given, and pushed away by other projected points y, within the radius r:
 *
 *     x + sum of v(p) a(p) (p - x) / sum of v(p) a(p) - push * sum of w(y) b(y) (y - x) / sum of w(y) b(y)
 *
 * With q the squared distance from x over r², t = (1 - q)⁴, which near 0 is exp(-4 q): r is half the paper's h. a is t, as in
 * CGAL, or with options.to_median t / sqrt(q), as in the paper; b is t / q. w(y) is the sum of t over all projected points
 * around y, y among them; v(p) is 1, or with options.by_density one over the sum of t over all points given around p.
 * Points nearer than 2^-40 of the radius are at one place: they do not push each other, nor draw to a median. What nothing
 * draws stays, but for the push; a radius whose square is no normal float reaches nothing. Without starts, points begin at
 * points given whose ranks in the order of the leaves are evenly spread. Results are in the order of starts or of these
 * leaves.
 *
 * Points are of three dimensions; where they are far from 0, take a middle off before. Terms are floats, added to those of
 * their lane (the point's place in its leaf modulo 16); lanes 8 apart are added for each 16 sibling leaves, and all else in
 * double precision. So results are the same bits for any number of threads and vector width.
 *
 * Expected O(count * (log n + points within the radius)) a step; by_density costs as much as n / count steps, or less.
 * Memory: two trees, 28 bytes a projected point, 9 bytes a point given. On a CPU or a CUDA device. Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_NOT_FINITE (naming the first bad point or start), SAP_ERROR_RANGE (more than 2^31-1 points), SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED (another device), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_project(sap_device* device, sap_points points, const sap_project_options* options,
                                     float* projected, sap_project_info* info);

/** What is asked about distances. All zero is the default for each field. */
typedef struct sap_distance_options {
    double radius;   /**< points that lie farther off than this have no counterpart and do not count; 0: any */
    double quantile; /**< 0 to 1: also the distance that this part of the points does not exceed; 0: none */
    bool is_signed;  /**< to a closed mesh: distances from inside are negative (::sap_inside). Points have no inside,
                               so that it is SAP_ERROR_ARGUMENT with them */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_distance_options;

/** What the distances of many points say together. All are of sizes, without signs, but for `bias`. */
typedef struct sap_distance_info {
    int64_t count;        /**< points that have a distance: finite ones, within the radius */
    double mean;          /**< 0 where no point counts, as all that follow */
    double mean_square;   /**< the mean of the squares */
    double bias;          /**< the mean with signs */
    double quantile;      /**< the least that so large a part does not exceed: of the least rank r, counted from 1, for
                               which r / count, rounded to double, is no less; 0 if none was asked for */
    double greatest;      /**< the directed Hausdorff distance */
    int64_t farthest;     /**< the row where that is found first; -1: no point counts */
    uint64_t reserved[4]; /**< zero */
} sap_distance_info;

/**
 * How far each point of a cloud is from the nearest one of another, distances[from.count] or NULL, and what they say together,
 * `info` or NULL. A distance is the root, in double precision, of sap_nearest's distance2; it is infinite for a point that
 * is not finite, that lies beyond the radius, or if the tree is empty. Sums are in double precision in the order of rows, so
 * results are the same bits for any number of threads. Trees of any dims, also with periods. options may be NULL.
 *
 * Expected O(log n) a point. Scratch memory: 4 bytes a point (none in double precision), and 8 more where `distances` is
 * NULL. The search is the device's (points may lie wherever ::sap_nearest takes them), the sums are the host's: distances[]
 * is memory of the host. Errors: as sap_nearest.
 */
SAP_API sap_status sap_cloud_distance(const sap_tree* to, sap_points from, const sap_distance_options* options,
                                      double* distances, sap_distance_info* info);
/** In double precision. */
SAP_API sap_status sap_cloud_distance_f64(const sap_tree* to, sap_points_f64 from, const sap_distance_options* options,
                                          double* distances, sap_distance_info* info);

/**
 * The same to a mesh, whose points are those of its triangles, not their corners alone: roots of ::sap_closest_point's
 * distance2. Scratch memory: 8 MB, and 8 bytes a point where `distances` is NULL. Errors: as sap_closest_point, and
 * SAP_ERROR_UNSUPPORTED (a device that does not know nearest points on meshes).
 */
SAP_API sap_status sap_cloud_distance_mesh(const sap_mesh_tree* to, sap_points from,
                                           const sap_distance_options* options, double* distances,
                                           sap_distance_info* info);

/** Two clouds beside each other. */
typedef struct sap_comparison {
    sap_distance_info forth; /**< from the points of a to b */
    sap_distance_info back;  /**< from the points of b to a */
    double hausdorff;        /**< the greater of the greatest of both */
    double quantile;         /**< the greater of the quantiles of both: Hausdorff's distance without the worst points */
    double chamfer;          /**< the sum of the means of both */
    double chamfer_square;   /**< the sum of the means of squares of both */
    uint64_t reserved[4];    /**< zero */
} sap_comparison;

/**
 * How far the clouds of two trees are apart, as ::sap_tree_nearest finds it in both directions: the Hausdorff and chamfer
 * distances, and unless they are NULL forth[source_count of a] and back[source_count of b], the distance of each point. The points ask in the order of their leaves; rows are ids, and points that a tree has left out do not count.
 * Clouds without points have no distance: all numbers of theirs are 0. options may be NULL. Scratch memory: 16 bytes a
 * point. CPU and CUDA. Errors: as sap_tree_nearest.
 */
SAP_API sap_status sap_cloud_compare(const sap_tree* a, const sap_tree* b, const sap_distance_options* options,
                                     double* forth, double* back, sap_comparison* comparison);

#ifdef __cplusplus
}
#endif
#endif
