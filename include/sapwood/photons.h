/**
 * @file photons.h
 * Photon maps (Jensen 1996): light that leaves the lamps of a scene, is scattered by its surfaces, and is looked up there.
 */
#ifndef SAPWOOD_PHOTONS_H
#define SAPWOOD_PHOTONS_H

#include "render.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a photon came to where it is; the bits of sap_photon_options.kinds. */
typedef enum sap_photon_kind {
    SAP_PHOTON_LAMP = 1,    /**< straight from a lamp */
    SAP_PHOTON_SHINE = 2,   /**< straight from a face that shines, or from the sky */
    SAP_PHOTON_CAUSTIC = 4, /**< by way of mirrors and glass alone */
    SAP_PHOTON_INDIRECT = 8 /**< by way of at least one dull surface */
} sap_photon_kind;

/** A photon where it has hit a surface that scatters light, before that takes any. */
typedef struct sap_photon {
    float position[3];  /**< on the surface */
    float normal[3];    /**< unit: of the triangle, towards where the photon came from */
    float direction[3]; /**< unit: the way it flew */
    float power[3];     /**< red, green, blue */
    int32_t number;     /**< which of the emitted photons it is */
    uint16_t kind;      /**< a sap_photon_kind */
    uint16_t bounce;    /**< how many surfaces it met before */
} sap_photon;

/** What to trace. All zero is the default for each field, but for the count. */
typedef struct sap_photon_options {
    int64_t first;        /**< the number of the first photon */
    int64_t count;        /**< photons to emit; first + count below 2^31 */
    int64_t total;        /**< photons among which the power is divided; 0: first + count */
    uint32_t seed;        /**< other seeds give other photons */
    uint32_t kinds;       /**< which kinds to keep; 0: all */
    int32_t bounces;      /**< surfaces that a photon leaves at most, up to 64; 0: 16; below 0: none */
    float ambient;        /**< strength of the light of the sky; 0: 1; below 0: none */
    bool flat;            /**< as in sap_render_options */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_photon_options;

/** Photons and a tree over them. They never change. */
typedef struct sap_photons sap_photons;

/** What photons are. */
typedef struct sap_photons_info {
    /** [count] by number, then bounce; as long as the photons live. Of a CUDA device: in its memory, see
     *  ::sap_photons_read. */
    const sap_photon* photons;
    int64_t count;     /**< photons kept */
    int64_t rays;      /**< traced */
    double power[3];   /**< of all sources of the scene. That of the sky is a sum over 4096 directions */
    double emitted[3]; /**< what the photons of this call left with: of all power, that which is aimed at something */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_photons_info;

/**
 * Sends photons out and keeps those that hit surfaces that scatter light, at each such hit.
 *
 * They leave lamps (in all directions: 4 pi^2 times color, times the squared distance of the lamp from the middle of the
 * mesh's box), faces that shine (from both sides: 2 pi times area and emission) and the sky, each as often as its part of
 * the power says, measured by its largest colour. From outside they leave towards the ball around the mesh's box
 * only, and, where `kinds` asks for caustics alone, towards the ball around all faces that mirror or are clear, with as
 * much less power as the directions are fewer. So they leave with less power than the sources have; the light that
 * arrives is the same. Surfaces treat them as ::sap_render treats paths: mirrors, glass by
 * Fresnel's equations, dull surfaces into their cosine lobe; Russian roulette decides whether a photon goes on, so that
 * its power stays as it is on grey surfaces.
 *
 * Photon i of a seed is drawn from (seed, i) alone, by a scrambled Sobol sequence: the same bits for any number of threads
 * and instruction set, and the photons of one call are those of several calls with the same total. Photons are traced in
 * batches, a bounce at a time. O(count * bounces) rays; 56 bytes a photon kept, about 20 for its
 * place in the tree, and on a CPU about 40 more for ::sap_photons_estimate.
 *
 * Errors: as ::sap_render; SAP_ERROR_ARGUMENT for negative numbers, unknown kinds; SAP_ERROR_RANGE for more than 2^31-1
 * photons, emitted or kept; SAP_ERROR_UNSUPPORTED on OpenGL devices. A scene without light, or without
 * triangles, gives none.
 */
SAP_API sap_status sap_photons_trace(const sap_scene* scene, const sap_photon_options* options, sap_photons** photons);

/** Makes a map of the caller's own photons, which are copied from memory of the host or of the device. Their directions
 *  and normals need not be unit. Errors:
 *  SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE, SAP_ERROR_MEMORY, and as ::sap_tree_build. */
SAP_API sap_status sap_photons_make(sap_device* device, const sap_photon* given, int64_t count, sap_photons** photons);

/** Describes photons. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_photons_describe(const sap_photons* photons, sap_photons_info* info);

/** Copies photons first … first + count - 1 to memory of the host or of the photons' device. Errors: SAP_ERROR_ARGUMENT
 *  (a NULL, photons that there are not), and those of the device. */
SAP_API sap_status sap_photons_read(const sap_photons* photons, int64_t first, int64_t count, sap_photon* to);

/** Frees photons. NULL is allowed. */
SAP_API void sap_photons_free(sap_photons* photons);

/** How much a photon counts by its distance d, when r is the radius. */
typedef enum sap_photon_filter {
    SAP_PHOTON_CONSTANT = 0,     /**< 1 */
    SAP_PHOTON_CONE = 1,         /**< 3 (1 - d/r) (Jensen 1996) */
    SAP_PHOTON_EPANECHNIKOV = 2, /**< 2 (1 - d^2/r^2) */
} sap_photon_filter;

/** How photons are looked up. */
typedef struct sap_photon_search {
    int32_t k;                /**< nearest photons that count; 0: all within the radius, which then must be given */
    float radius;             /**< photons beyond do not count; 0: no limit */
    sap_photon_filter filter; /**< default SAP_PHOTON_CONSTANT */
    float shrink;         /**< above 0, at most 1: r^2 is multiplied by it, and photons beyond no longer count; 0: 1 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_photon_search;

/**
 * The light that falls on surfaces: light[3*points.count] becomes red, green, blue of the irradiance at each point, whose
 * surface has the normal normals[3*i] (any length; towards the lit side). A dull surface that reflects rho sends out the
 * radiance rho/pi of it.
 *
 * A photon counts if it came from the side to which the normal points: dot(direction, normal) < 0 and dot(its normal,
 * normal) > 0, each a sum of three products in axis order. Others do not count and do not shrink the radius. r^2 is
 * the squared distance of the (k+1)-th nearest photon that counts, if it is within the radius, else radius*radius
 * (without a radius: that of the farthest that counts); then it is shrunk. The k nearest are summed in doubles in the
 * order of (distance^2, id), each times its filter's weight, and the sum is divided by pi r^2; with r = 0 the light is
 * 0. Expected O(log n + k log k) a point where most near photons count, up to O(n) where few do. The same bits for any
 * number of threads and on CUDA devices, where points, normals and light may lie in either memory.
 *
 * A radius whose square is no finite float is no limit. A point or a normal that is not finite, and a normal of zeros,
 * gets 0. Errors: SAP_ERROR_ARGUMENT (a NULL; dims other than 3; k below 0, or 0
 * without a radius; a radius that is negative or NaN; an unknown filter), SAP_ERROR_MEMORY, and as ::sap_nearest.
 */
SAP_API sap_status sap_photons_estimate(const sap_photons* photons, sap_points points, const float* normals,
                                        const sap_photon_search* search, float* light);

/**
 * The radius of progressive pass `pass`, 0 being the first: its square is multiplied by (i + alpha)/(i + 1), alpha = 2/3,
 * from pass i - 1 to i, so that both variance and bias of the mean of the passes vanish (Knaus and Zwicker 2011). NaN
 * for a negative pass. O(pass).
 */
SAP_API double sap_photon_radius(double first, int32_t pass);

/**
 * Photons that light a picture of ::sap_render. All zero is the default for each field, but for the count.
 *
 * What lamps, shining faces and the sky shed on a surface directly is found by rays, as without photons. What comes to it
 * from there by mirrors and glass alone is looked up in a map of its own, of caustic photons. All other light is
 * looked up in the global map: at the surface itself, or, with `gather`, where one ray from there into its cosine lobe
 * ends: slower, but without the stains of single photons.
 *
 * In each of sap_render_options.passes the maps are made anew of further photons, so that memory is that of one pass. With
 * `progressive` the square of each radius shrinks from pass to pass as ::sap_photon_radius says, and the picture comes as
 * near to the truth as passes allow.
 */
typedef struct sap_render_photons {
    int64_t count;            /**< photons that a pass sends out for the global map; count * passes below 2^31 */
    int64_t caustics;         /**< photons that it sends out for the map of caustics; 0: as many */
    int32_t bounces;          /**< as in sap_photon_options */
    uint32_t seed;            /**< other seeds give other photons */
    bool gather;              /**< look one bounce further */
    bool progressive;         /**< radii shrink */
    sap_photon_search search; /**< how photons are looked up; without k and radius: k = 50. `shrink` must be 0 */
    uint64_t reserved[4];     /**< for later versions: zero */
} sap_render_photons;

#ifdef __cplusplus
}
#endif
#endif
