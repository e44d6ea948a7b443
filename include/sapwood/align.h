/**
 * @file align.h
 * Alignment: the turn and shift that take one cloud onto another, or onto a mesh. On the CPU and on CUDA devices.
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
                            in double precision; of equal ones the first. Of a mesh: of those with one triangle */
    sap_align_kernel kernel; /**< default SAP_KERNEL_NONE */
    double kernel_scale; /**< s, a length; 0: found in each step: the median of residuals times 1.4826 (which makes it a
                              standard deviation) times 1.345 (Huber), 4.685 (Tukey) or 2.385 (Cauchy) */
    double flatness;     /**< SAP_ALIGN_GENERALISED: above 0 to 1; 0: 1e-3 */
    int32_t normals_k;   /**< neighbours for normals that are needed and not given; 0: 16 */
    const float*
        source_normals; /**< [3*source.count], or NULL: found where needed. Their length does not matter; 0: none */
    const float* target_normals; /**< [3*source_count of the target], or NULL: found where needed. Not for meshes */
    bool drop_nonfinite;  /**< leave out source points that are NaN or infinite, instead of failing; nor are their
                                      normals looked at, or those of target points that the tree has left out */
    uint64_t reserved[4]; /**< for later versions: zero */
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
 * points, and the source may lie; normals are memory of the host. What leaves a GPU in a step are the sums.
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
 * Expected O(n log m) a step. On a CPU or a CUDA device. Errors: as sap_cloud_align.
 */
SAP_API sap_status sap_cloud_align_mesh(const sap_mesh_tree* target, sap_points source,
                                        const sap_align_options* options, sap_alignment* alignment);

/** Numbers of a feature: three histograms of 11 bins each. */
#define SAP_FEATURE_NUMBERS 33

/** How to describe the points of a cloud. All zero is the default for each field. */
typedef struct sap_features_options {
    int32_t k;     /**< the nearest points, without the point itself; 0: all within the radius, or 32 without one */
    double radius; /**< only within this distance; 0: any */
    const float* normals; /**< [3*source_count], finite; their length does not matter, 0: none. NULL: those of
                              ::sap_cloud_normals with its defaults */
    bool is_oriented;     /**< the normals given point to one side of the surface, as do those of every cloud that the
                              features are compared with. Else their sign does not matter: neighbours' normals count in
                              the direction that is nearer to the point's own, and that one points to where the surface
                              bends to */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_features_options;

/**
 * Fast point feature histograms (Rusu and others 2009), features[33*source_count]: what the surface about each point looks
 * like, whichever way it lies. Points of two clouds at the same place of a surface have features that are near each other.
 *
 * A point p with the normal n and a neighbour q with m, d being the way from p to q, make three numbers. If |m.d| > |n.d|
 * they change places. With u = n, v = d x u of length 1 and w = u x v these are: the angle of (u.m, w.m), from -pi to pi; v.m;
 * u.d / |d|. Each is counted in one of 11 bins of equal size, and on the border of two in that nearer
 * to the middle. The counts are percent of the point's pairs; the feature is the mean of the point's own and of the mean
 * of those of its neighbours, weighted by 1 / |d|. Neighbours at the same place, without a normal, or straight along the
 * normal do not count. A point without a normal or without pairs, or that the tree has left out, has a feature of 0.
 *
 * Angles are compared with those of the bins, not computed, so features are the same bits on every machine, for any number
 * of threads. Terms are added in double precision in the order of (distance2, id), or, for all points within a radius, in
 * the tree's own order.
 *
 * Trees of three dimensions without periods, of both precisions. options may be NULL. Expected O(n (log n + k)). Scratch
 * memory: 148 bytes a point (164 in double precision), and 12 for normals that are not given. On a CPU or a CUDA
 * device, where rows of neighbours take up to 128 MB more. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_NOT_FINITE (a normal),
 * SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED (another device, a tree with periods), SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_cloud_features(const sap_tree* tree, const sap_features_options* options, float* features);

/** How to find a motion without a start. All zero is the default for each field. */
typedef struct sap_global_options {
    double start[16]; /**< what is returned where nothing is found, as in ::sap_align_options. All zero: no motion */
    double spacing;   /**< both clouds are thinned to a point a cube with sides of this length, which must be at least
                           2^-49 of their extent; 0: found by `most` */
    int32_t most; /**< points that are about left of the cloud with the smaller extent, at least 100; of the other one
                        at most four times as many. Fewer are, where either cloud has less than twice as many; 0: 4000 */
    double least_overlap; /**< a motion that puts a smaller part of the source on the target does not count, up to 1;
                            0: 0.1 */
    bool drop_nonfinite;  /**< leave out source points that are NaN or infinite, instead of failing */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_global_options;

/** A motion that was found without a start. */
typedef struct sap_global_motion {
    double transform[16]; /**< takes the source onto the target, about as exactly as the spacing: rows of a turn and a
                            shift, then 0 0 0 1. The start, if nothing was found */
    bool found;           /**< the clouds overlap, as far as can be seen: at least ten matches agree, and two thirds of
                            the points that come near lie on the other surface as closely as its own do */
    double spacing;       /**< of the thinned clouds; 0 without points */
    int64_t points;       /**< of the thinned source */
    int64_t matches;      /**< pairs of thinned points whose features are most like each other's */
    int64_t agreeing;     /**< of these, that the motion brings together; 0 if nothing was found */
    double overlap;       /**< the part of the thinned source that it puts on the target; 0 if nothing was found */
    int64_t rivals; /**< other motions that were tried out and fit within a twentieth as well, by which the source lies
                         elsewhere, a dozen at most: above 0 where it looks alike from several sides, as a box does, or
                         from all, as a ball or a disc. `transform` is then one of several that are as right; if nothing
                         was found, several put all of the source on the target, but no matches speak for any */
    uint64_t reserved[4]; /**< zero */
} sap_global_motion;

/**
 * Finds how `source` lies on the points of a tree without being told where to begin, whatever the turn: a start for
 * ::sap_cloud_align, which needs one that is right within a fraction of the clouds' extent.
 *
 * Both clouds are thinned, the features of ::sap_cloud_features found and matched. Two matches agree if their points are as
 * far apart in both clouds and their normals lie alike; those that have most others to agree with in common lead to motions
 * (second-order consistency, Chen and others 2022), the most different of which are tried out on the thinned clouds. There
 * is no chance in it: the same clouds give the same bits, for any number of threads.
 *
 * No unit of length is built in. What cannot be told apart is not found reliably: surfaces that look the same everywhere,
 * such as a plane or a ball, and objects that look alike from two sides. `rivals` says so: take `transform` for the only one
 * where `found` is true and `rivals` is 0. Clouds need the density that shows the same shapes, not the same density.
 *
 * Expected O(n) for the thinning, and O(most^2). Memory: 12 bytes a point of both, 40 while they are thinned. On a CPU or
 * a CUDA device, from which the host reads the clouds once. Errors: as ::sap_cloud_align.
 */
SAP_API sap_status sap_cloud_align_global(const sap_tree* target, sap_points source, const sap_global_options* options,
                                          sap_global_motion* motion);
/** ::sap_cloud_align_global in double precision, with a tree built in double precision. */
SAP_API sap_status sap_cloud_align_global_f64(const sap_tree* target, sap_points_f64 source,
                                              const sap_global_options* options, sap_global_motion* motion);
/** ::sap_cloud_align_global onto a mesh, for which 131,072 points spread over its surface stand. */
SAP_API sap_status sap_cloud_align_global_mesh(const sap_mesh_tree* target, sap_points source,
                                               const sap_global_options* options, sap_global_motion* motion);

/** How to align many clouds at once. All zero is the default for each field. */
typedef struct sap_many_options {
    sap_align_options align; /**< how two are aligned. Neither a start nor normals are given here. With `global`, and
                                without `max_distance` and `overlap`, find_overlap is chosen */
    bool global;             /**< how two lie on each other is found by ::sap_cloud_align_global, not by `starts` */
    const double* starts; /**< [16*count] where each cloud lies at first, as sap_align_options.start; NULL: no motion */
    const int32_t*
        pairs;          /**< [2*pair_count] source and target of each pair that is aligned, clouds counted from 0; NULL:
                             all pairs, the later cloud being the source */
    int64_t pair_count; /**< pairs given */
    double least_overlap; /**< pairs whose fitness is less do not count, up to 1; 0: 0.1 */
    double scale; /**< a length: pairs whose clouds are off by more, once all lie as they suit one another, count
                             little; 0: three times the median of the rmse of pairs */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_many_options;

/** What became of a pair. */
typedef struct sap_many_pair {
    int32_t source;  /**< the cloud that moves, counted from 0 */
    int32_t target;  /**< the cloud that it is aligned with */
    bool found;      /**< they overlap, and `alignment` says how */
    bool kept;       /**< and that agrees with the other pairs: weight is at least 1/4 */
    double residual; /**< how far the motion of the pair is from that of all: root of the mean over its points; 0
                                if not found */
    double weight;   /**< how much the pair counted at last, 0 to 1 */
    int64_t rivals;  /**< with `global`: as sap_global_motion.rivals, of the two alone; else 0 */
    sap_alignment alignment; /**< of the two alone; all zero if not found */
    uint64_t reserved[4];    /**< zero */
} sap_many_pair;

/**
 * Aligns many clouds with one another: all pairs, or those that are given, and then all motions so that they suit the pairs
 * best. Same bits for any number of threads.
 *
 * transforms[16*count] take each cloud to where the first one of its group lies (its start). groups[count] or NULL: which
 * clouds hang together by pairs that are kept, numbered by their first clouds from 0. pairs[options.pair_count], or
 * [count*(count-1)/2] in the order (1, 0), (2, 0), (2, 1), (3, 0), …, or NULL.
 *
 * The sum over pairs of w e^T information e / rmse² is made small by Gauss and Newton: rmse is the pair's, within 1/8 to 8
 * times their median, and e the small turn and shift between the motion of a pair and that of its two clouds. It is
 * w = (m / (m + r²))² with the pair's residual r (Geman and McClure 1987; the line process of Choi and others 2015). m begins
 * above all residuals and falls to scale², so that a pair that is wrong does not pull at the others, as long as more of
 * them agree.
 *
 * Cost: that of the pairs, and O(count^3) for each of some 50 steps. Memory: a tree and 24 bytes a point of all clouds, what
 * ::sap_cloud_align takes, and 288 * count^2 bytes. On a CPU or a CUDA device, the clouds being memory of the host. Errors:
 * as ::sap_cloud_align, and SAP_ERROR_RANGE (more than 1,000 clouds).
 */
SAP_API sap_status sap_cloud_align_many(sap_device* device, const sap_points* clouds, int32_t count,
                                        const sap_many_options* options, double* transforms, int32_t* groups,
                                        sap_many_pair* pairs);

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
