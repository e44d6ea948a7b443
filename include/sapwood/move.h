/**
 * @file move.h
 * Meshes that move: vertices that follow bones, and coarse meshes that are refined to smooth ones.
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

/** Most levels of a subdivision. */
#define SAP_SUBDIVISION_MOST 14

/** What becomes of the border of a mesh, where edges have one triangle. */
typedef enum sap_border {
    SAP_BORDER_SMOOTH = 0, /**< it becomes a cubic B-spline, corners included */
    SAP_BORDER_CORNERS = 1 /**< the same, but vertices with one triangle stay where they are */
} sap_border;

/** How a mesh is subdivided. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_subdivision_options {
    const int32_t* creases; /**< [2*crease_count] edges that stay sharp, as pairs of vertices, in host memory */
    int64_t crease_count;   /**< 0: none */
    const int32_t* corners; /**< [corner_count] vertices that stay where they are, in host memory */
    int64_t corner_count;   /**< 0: none */
    sap_border border;      /**< default SAP_BORDER_SMOOTH */
    bool limit; /**< vertices are put where endless subdivision would put them. Default: where this one does */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_subdivision_options;

/**
 * How a mesh is refined: all that follows from its triangles and not from where its vertices are. It never changes, so
 * any number of threads may use it at once. The arrays of a CUDA device's lie on the GPU.
 */
typedef struct sap_subdivision {
    const int32_t* triangles; /**< [3*triangle_count] the refined ones; the 4^levels that triangle i became begin at
                                   i * 4^levels and face as it did */
    int64_t triangle_count;   /**< of the refined mesh */
    int64_t vertex_count;     /**< of the refined mesh; those of the coarse one come first, in their order */
    int64_t coarse_count;     /**< vertices of the coarse mesh */
    int32_t levels;           /**< as given */
    bool on_device;           /**< triangles lie in GPU memory */
    size_t bytes;             /**< of all arrays */
} sap_subdivision;

/**
 * Prepares Loop subdivision (Loop 1987) of triangles over vertex_count vertices, of which each level makes four of one.
 *
 * A new vertex comes to the middle of each edge, moved by an eighth of the way to the two vertices across it; a vertex
 * moves by the sum of the ways to its neighbours, times Loop's weight for their number. On creases and borders new
 * vertices are in the middle, and a vertex moves by an eighth of the ways to its two neighbours there: they become
 * cubic B-splines. A vertex in which one crease ends is as others, and the edge that ends there is no crease for its
 * new vertex (Hoppe and others 1994). A vertex stays where it is if three or more edges of creases and borders meet in
 * it, if the options say so, or if triangles meet in it that no edge joins. A crease along a border changes nothing. A
 * vertex without triangles stays.
 *
 * Triangles may lie on the host or, for a CUDA device, on the GPU; the call waits for it. O(what is refined), on the
 * host. Memory: about 40 bytes a refined triangle; during the call half as much more, and on a CUDA device all of it on
 * the host.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, levels that are not 0 … SAP_SUBDIVISION_MOST, a negative count, an unknown
 * border; a triangle with two equal corners, an edge with three triangles or more, two triangles of an edge that do not
 * face alike, a crease that is no edge, each naming the first), SAP_ERROR_RANGE (an index that is no vertex's; refined
 * vertices, corners of triangles, or neighbours of all vertices that are more than 2^31-1), SAP_ERROR_MEMORY,
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST, SAP_ERROR_UNSUPPORTED (the device, or a stream that is being
 * captured). On failure *subdivision is untouched.
 */
SAP_API sap_status sap_subdivision_create(sap_device* device, const int32_t* triangles, int64_t triangle_count,
                                          int64_t vertex_count, int32_t levels, const sap_subdivision_options* options,
                                          sap_subdivision** subdivision);

/** Frees a subdivision. NULL is allowed. */
SAP_API void sap_subdivision_free(sap_subdivision* subdivision);

/**
 * Refines a mesh whose vertices are vertices[3*coarse_count] now.
 *
 * refined[3*vertex_count]: where the subdivision puts vertices, or, with options.limit, their limits.
 * normals[3*vertex_count], or NULL: of the limit surface there, of length 1, on the side from which triangles run
 * counter-clockwise; 0, 0, 0 where there is none. On a crease, and where a vertex stays, it is the sum of the normals of
 * the parts of the surface that meet there, made of length 1; such a part's normal, where a vertex stays, is that of the
 * sum of the cross products of its neighbouring edges, these of length 1. The three arrays must not overlap. On a CUDA
 * device each may lie on the host or there.
 *
 * Each operation is rounded to single precision once, in a fixed order: the same bits on every processor. NaN and
 * infinity spread to the vertices that depend on them, as sums do, and are not refused.
 *
 * O(what is refined); a GPU has a kernel for each level, and one for limits and normals. Scratch memory: 12 bytes a
 * vertex of each level. A call in the caller's stream may be captured into a graph, after the same call was made once.
 * Errors: SAP_ERROR_ARGUMENT (a NULL), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_mesh_subdivide(const sap_subdivision* subdivision, const float* vertices, float* refined,
                                      float* normals);

#ifdef __cplusplus
}
#endif
#endif
