/**
 * @file align.h
 * Alignment: the turn and shift that take one cloud onto another, or onto a mesh. On the CPU, and with clouds on CUDA
 * devices.
 *
 * The iterative closest point method (Besl and McKay 1992): each point of the source is paired with the nearest of the
 * target, the rigid motion that suits the pairs best is found, and so on until nothing moves any more.
 *
 * **No unit of length** is built in: clouds in kilometres and in micrometres take the same steps.
 *
 * **One answer, bit for bit.** Which point is nearest is exact, as for every search (points.h), and sums are made of
 * blocks of points, each in one order and added in one order, in double precision: results do not depend on the number
 * of threads, on the vector instructions, nor on the device.
 */
#ifndef SAPWOOD_ALIGN_H
#define SAPWOOD_ALIGN_H

#include "mesh.h"
#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the motion makes small. */
typedef enum sap_align_method {
    SAP_ALIGN_POINT = 0, /**< the distances of pairs: closed form by a quaternion (Horn 1987) */
    SAP_ALIGN_PLANE = 1, /**< the distances to the tangent planes of the target (Chen and Medioni 1992); least squares
                              linearised at each step */
    SAP_ALIGN_GENERALISED =
        2 /**< distances between tangent planes of both (generalised ICP, Segal and others 2009): each
                                   point stands for a disk, whose variance across is `flatness` of that along it */
} sap_align_method;

/** How much a pair counts whose residual e is large beside the scale s. */
typedef enum sap_align_kernel {
    SAP_KERNEL_NONE = 0,  /**< 1 */
    SAP_KERNEL_HUBER = 1, /**< 1 up to s, then s/e */
    SAP_KERNEL_TUKEY = 2, /**< (1 - e²/s²)² up to s, then 0 */
    SAP_KERNEL_CAUCHY = 3 /**< 1/(1 + e²/s²) */
} sap_align_kernel;

/** How to align. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_align_options {
    sap_align_method method; /**< default SAP_ALIGN_POINT */
    double start[16];   /**< where the source is at first: a turn and a shift, row by row, last row 0 0 0 1. The turn
                                  must be one within 1e-4 and is made one exactly. All zero: no motion */
    int32_t iterations; /**< at most, on each level; 0: 100 */
    double tolerance; /**< stop when a step moves no corner of the source's box by more than this part of its diagonal;
                            below 1; 0: 1e-6 */
    int32_t levels; /**< 1 to 8: the first works on every 4^(levels-1)-th point of the source, the last on all; 0: 1 */
    double max_distance; /**< pairs that are farther apart do not count; 0: all count */
    double overlap;    /**< the part of the source's points, above 0 to 1, whose pairs count: the nearest (trimmed ICP,
                         Chetverikov and others 2002); 0: all */
    bool find_overlap; /**< that part is found in each step: the one where the mean of squares over its third power is
                            least (fractional ICP, Phillips and others 2007), from 0.3 on; overlap is not given then */
    double max_angle;  /**< pairs whose normals make a greater angle do not count, in radians, whichever way normals
                            point: 0 to pi/2; 0: all count */
    bool one_to_one;   /**< of the points that have one point of the target as their nearest, only the nearest counts;
                            of equal ones the first. Of a mesh: of those with one triangle */
    sap_align_kernel kernel; /**< default SAP_KERNEL_NONE */
    double kernel_scale; /**< s, a length; 0: found in each step: the median of residuals times 1.4826 (which makes it a
                              standard deviation) times 1.345 (Huber), 4.685 (Tukey) or 2.385 (Cauchy) */
    double flatness;     /**< SAP_ALIGN_GENERALISED: above 0 to 1; 0: 1e-3 */
    int32_t normals_k;   /**< neighbours for normals that are needed and not given; 0: 16 */
    const float*
        source_normals; /**< [3*source.count], or NULL: found where needed. Their length does not matter; 0: none */
    const float* target_normals; /**< [3*source_count of the target], or NULL: found where needed. Not for meshes */
    bool drop_nonfinite;         /**< leave out source points that are NaN or infinite, instead of failing */
    uint64_t reserved[4];        /**< for later versions: zero */
} sap_align_options;

/** Why an alignment ended. */
typedef enum sap_align_reason {
    SAP_ALIGN_CONVERGED = 0,  /**< the last step moved less than the tolerance */
    SAP_ALIGN_ITERATIONS = 1, /**< all allowed steps were made */
    SAP_ALIGN_NO_PAIRS = 2    /**< no pair counts: the clouds do not overlap, or one is empty */
} sap_align_reason;

/** What an alignment found. */
typedef struct sap_alignment {
    double
        transform[16]; /**< takes the source onto the target: rows of a turn R and a shift t, then 0 0 0 1. The start,
                               if there were no pairs */
    bool converged;    /**< reason is SAP_ALIGN_CONVERGED */
    sap_align_reason reason; /**< why the last step was the last */
    int32_t iterations;      /**< steps made, on all levels */
    int64_t pairs;           /**< that count, at `transform` */
    double fitness;          /**< pairs over the points of the source (but those that are left out as not finite) */
    double rmse;             /**< root of the mean squared distance of these pairs; 0 without any */
    double overlap;          /**< the part that was used last; 1 where none is asked for */
    double kernel_scale;     /**< that was used last; 0 without a kernel */
    double center[3];        /**< where the middle of the source's box has come: about which `information` turns */
    double information
        [36]; /**< symmetric: the sum of weight * J^T M J over pairs, J by a turn about the three axes through
                                 `center` (radians), then by a shift along them; M is 1 for points, n n^T for planes, and
                                 for generalised ones the inverse of the sum of both covariances, scaled so that parallel
                                 planes give n n^T + flatness * (1 - n n^T) */
    int32_t undetermined; /**< directions of 6 in which the pairs say nothing (sliding along a plane, turning about an
                                 axis): they were not moved in */
    double strengths[6]; /**< eigenvalues of `information` with turns measured at half the diagonal of the source's box,
                                 ascending, over the greatest: small ones are weak directions */
    double directions[36]; /**< row by row, the directions of `strengths`, of length 1 */
    uint64_t reserved[4];  /**< zero */
} sap_alignment;

/**
 * Aligns `source` with the points of a tree, both of three dimensions. The source's points are put into an order in which
 * neighbours stand side by side. Once steps are short, 8 neighbours are kept for each point: it is searched for again only
 * when another point may have become its nearest.
 *
 * Normals that are missing are found first, of the whole target: give target_normals when several clouds are aligned with
 * one. Clouds of any scale, equal points, and targets far larger than the source are well. Where nothing can be said (no
 * pairs) the start is returned and `reason` says so; no number of the result is ever NaN.
 *
 * Expected O(n log m) for the first steps and O(n) for later ones; memory for about 240 bytes (340 in double precision) a
 * point of the source and 16 (32) a point of the target. On a CPU, or on a CUDA device, where each step searches for all
 * points, and the source may lie; normals are memory of the host. What leaves a GPU in a step are the sums; and where
 * one_to_one, overlap, find_overlap or a kernel without a scale choose pairs by what all of them look like, the pairs.
 * Errors: SAP_ERROR_ARGUMENT (also a start that is no turn and shift, dims other than 3), SAP_ERROR_NOT_FINITE (a point,
 * naming the first, or a normal), SAP_ERROR_RANGE, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (another device, a tree with
 * periods), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_align(const sap_tree* target, sap_points source, const sap_align_options* options,
                                   sap_alignment* alignment);
/** ::sap_cloud_align in double precision, with a tree built in double precision. */
SAP_API sap_status sap_cloud_align_f64(const sap_tree* target, sap_points_f64 source, const sap_align_options* options,
                                       sap_alignment* alignment);

/**
 * Aligns `source` with a mesh: the nearest points of its triangles, and their normals. Each step searches for all points.
 * Expected O(n log m) a step. On a CPU. Errors: as sap_cloud_align.
 */
SAP_API sap_status sap_cloud_align_mesh(const sap_mesh_tree* target, sap_points source,
                                        const sap_align_options* options, sap_alignment* alignment);

/**
 * Moves points, to[3*count], by a matrix of 4 x 4, row by row, whose last row is 0 0 0 1: in double precision, in the order
 * ((m0 x + m1 y) + m2 z) + m3, then rounded. `to` may be `from.coords`. O(n). Errors: SAP_ERROR_ARGUMENT (dims other than 3,
 * a last row that is another), SAP_ERROR_NOT_FINITE (a number of the matrix). Without a device nothing is logged.
 */
SAP_API sap_status sap_transform_points(const double transform[16], sap_points from, float* to);
/** ::sap_transform_points in double precision. */
SAP_API sap_status sap_transform_points_f64(const double transform[16], sap_points_f64 from, double* to);

#ifdef __cplusplus
}
#endif
#endif
