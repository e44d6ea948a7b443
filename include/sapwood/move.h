/**
 * @file move.h
 * Meshes that move: vertices that follow bones.
 */
#ifndef SAPWOOD_MOVE_H
#define SAPWOOD_MOVE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most bones that a vertex follows. */
#define SAP_SKIN_MOST 8

/** How the motions of several bones become one. */
typedef enum sap_skin_blend {
    SAP_SKIN_LINEAR = 0,          /**< the weighted sum of their matrices: quick, and thin where a limb is twisted */
    SAP_SKIN_DUAL_QUATERNIONS = 1 /**< of their dual quaternions (Kavan and others 2008): a turn and a shift again */
} sap_skin_blend;

/** Vertices and the bones that they follow. On a CUDA device each array may lie on the host or there. */
typedef struct sap_skin {
    const float* vertices; /**< [3*count] in the rest pose */
    const float* normals;  /**< [3*count] beside them; NULL: none */
    int64_t count;         /**< 0 … 2^31-1 */
    const int32_t*
        bones; /**< [each*count] the bones of each vertex, from 0 to matrix_count - 1, also where the weight is 0 */
    const float* weights; /**< [each*count] of the same, in the same order; they should sum to 1 */
    int32_t each;         /**< bones a vertex: 1 … SAP_SKIN_MOST */
    const float*
        matrices; /**< [12*matrix_count] of each bone, from the rest pose to where it is now: three rows of four, the
                                last number of each a shift. SAP_SKIN_DUAL_QUATERNIONS: a turn and a shift */
    int32_t matrix_count; /**< bones: at least 1 where there are vertices */
    sap_skin_blend blend; /**< default SAP_SKIN_LINEAR */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_skin;

/**
 * Moves vertices with their bones, and turns their normals.
 *
 * SAP_SKIN_LINEAR: by the sum of weight * matrix over the bones of a vertex, in the order given, those of weight 0 left out.
 * Normals are turned by the same sum and made of length 1, which is right for bones that turn, shift and scale evenly; one
 * without length stays 0. A vertex with all its weight, 1, on a bone at rest stays exactly where it is.
 * SAP_SKIN_DUAL_QUATERNIONS: by the sum of weight * dual quaternion, each of the sign that is nearer to the first one's, made of
 * length 1; a vertex whose sum has no length is NaN. What a matrix scales is not kept.
 *
 * moved[3*count] and, if there are normals, turned[3*count]: not the arrays given. Each operation is rounded to single
 * precision once, in a fixed order: the same bits on every processor. NaN in a vertex, a weight or a matrix that is used makes
 * that vertex NaN, and no other. A bone that there is none of is SAP_ERROR_RANGE, naming the first vertex that has one, and
 * what is in the results then is of no use; where nothing waits, since all arrays lie on the device and it works in the
 * caller's stream, only the NaN of that vertex tells.
 *
 * O(count * each). Memory: 32 bytes a bone for dual quaternions. On a CPU or a CUDA device, where a call in the caller's stream
 * may be captured into a graph. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE, SAP_ERROR_MEMORY, SAP_ERROR_UNSUPPORTED
 * (another device).
 */
SAP_API sap_status sap_mesh_skin(sap_device* device, const sap_skin* skin, float* moved, float* turned);

#ifdef __cplusplus
}
#endif
#endif
