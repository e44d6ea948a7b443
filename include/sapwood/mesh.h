/**
 * @file mesh.h
 * Triangle meshes, k-d trees over them, and rays.
 *
 * A tree over triangles cuts space, not the list of triangles: its leaves do not overlap, a triangle stands in every
 * leaf that it reaches into, and the first hit inside a leaf is the first of all.
 */
#ifndef SAPWOOD_MESH_H
#define SAPWOOD_MESH_H

#include "points.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Triangles over shared vertices: triangle i joins the vertices triangles[3*i], triangles[3*i+1] and triangles[3*i+2],
 * which are below vertex_count; vertex j lies at vertices[3*j] … vertices[3*j+2]. Seen from where its corners run
 * counter-clockwise, a triangle shows its front. An array may be NULL when its count is 0.
 */
typedef struct sap_mesh {
    const float* vertices;    /**< [3*vertex_count] x, y, z of each */
    int64_t vertex_count;     /**< 0 … 2^31-1 */
    const int32_t* triangles; /**< [3*triangle_count] */
    int64_t triangle_count;   /**< 0 … 2^31-1 */
} sap_mesh;

/** A k-d tree over the triangles of a mesh. It keeps a copy of them: the mesh may be freed. It never changes except by
 * ::sap_mesh_tree_rebuild and ::sap_mesh_tree_refit, so any number of threads may search it at once. */
typedef struct sap_mesh_tree sap_mesh_tree;

/** How much work goes into a tree. Answers are the same. */
typedef enum sap_quality {
    SAP_QUALITY_HIGH =
        0,           /**< at every node the cheapest plane of all, triangles clipped exactly (Wald and Havran 2006) */
    SAP_QUALITY_FAST /**< large nodes halved in space, the cheapest planes only below them (Zhou et al. 2008) */
} sap_quality;

/** What makes a plane cheap. */
typedef enum sap_cost {
    SAP_COST_SURFACE = 0, /**< surface area heuristic: for rays (MacDonald and Booth 1990) */
    SAP_COST_VOXELS       /**< voxel volume heuristic: for points near the mesh, within `radius` (Wald et al. 2004) */
} sap_cost;

/** How to build a tree over triangles. All zero is the default for each field. */
typedef struct sap_mesh_tree_options {
    sap_quality quality;  /**< default SAP_QUALITY_HIGH */
    sap_cost cost;        /**< default SAP_COST_SURFACE */
    float radius;         /**< SAP_COST_VOXELS: how far searches reach, in units of the mesh; 0: an eighth of a percent
                               of the mesh's diagonal */
    float traversal_cost; /**< of a step from a node to a child; 0: 5 */
    float intersection_cost; /**< of a test of a triangle; 0: 1 */
    float empty_space;  /**< FAST: the part of a node's side that has to be empty to be cut off, below 1; 0: 0.25 */
    int32_t small_node; /**< FAST: nodes of so many triangles or fewer are small, 1 … 64; 0: 64 */
    int32_t depth; /**< inner nodes from the root to a leaf, at most, 1 … 64; 0: 8 + 2 log2(triangles), at most 64 */
    size_t memory; /**< bytes of scratch memory for the build, which it stays within by finishing part of a level
                        at a time; 0: no bound. SAP_ERROR_RANGE if it is too little for any order of work */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_mesh_tree_options;

/**
 * Builds a tree. The same mesh and options give the same tree, byte for byte, on every device and for any number of
 * threads. On a CUDA device the mesh may lie in host memory or on the GPU; the call waits for the tree's size, and in
 * the caller's stream, with a mesh on the GPU, for nothing else. Triangles without area are in the tree: a ray may hit
 * one whose corners differ, by rounding alone (docs/numerics.md). O(n log n) expected. options NULL: all defaults.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE (an index that is no vertex's, naming the triangle; too many references),
 * SAP_ERROR_NOT_FINITE (naming the first bad vertex that a triangle uses), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY,
 * SAP_ERROR_DEVICE_LOST, SAP_ERROR_UNSUPPORTED (the device, or a stream that is being captured), SAP_ERROR_CANCELLED.
 * On failure *tree is untouched.
 */
SAP_API sap_status sap_mesh_tree_build(sap_device* device, sap_mesh mesh, const sap_mesh_tree_options* options,
                                       sap_mesh_tree** tree);

/**
 * Builds anew over another mesh, or one that has moved, with the same options, into the memory of the tree, which grows
 * as needed and is kept: rebuilding over meshes of one size allocates nothing. No search may run on the tree during the
 * call. Errors: as ::sap_mesh_tree_build; the tree then stays as it was, or is empty if a GPU failed during the build.
 */
SAP_API sap_status sap_mesh_tree_rebuild(sap_mesh_tree* tree, sap_mesh mesh);

/**
 * Fits a tree to its mesh after the vertices have moved a little: in about a third of the time of a build with
 * SAP_QUALITY_HIGH, hardly faster than one with SAP_QUALITY_FAST (docs/performance.md). Each plane stays with a corner
 * of a triangle, to which it was nearest when the tree was last built, loaded or copied; where planes have passed each
 * other, nodes go. Then all triangles are sent into the leaves that they reach now. So all answers are those of a new
 * tree, bit for bit, but for ::sap_inside of meshes that are not closed; how long searches take depends on how far parts
 * of the mesh have moved against each other. A refit depends on the tree as it was built and on the mesh, not on refits
 * before it, and gives the same bytes for any number of threads. If it would need more references than a built tree may
 * have, or put more than 4096 triangles into a leaf, the tree is built anew instead; on a CUDA device it always is.
 *
 * The mesh must have as many triangles as the tree, and they should join the same vertices: others are searched slowly.
 * *loss: the expected cost of a ray (sap_mesh_tree_info::cost), divided by that of the tree as it was built: rebuild when
 * it is more than you like. 1 after a new build. loss may be NULL, which is a little faster. The first refit takes longer,
 * and memory for about 20 bytes a node and 4 a triangle that the tree then keeps; options.memory does not bound refits.
 * O(references * depth). No search may run on the tree during the call. Errors: as ::sap_mesh_tree_rebuild, and
 * SAP_ERROR_ARGUMENT for another number of triangles; the tree then stays as it was, and *loss too.
 */
SAP_API sap_status sap_mesh_tree_refit(sap_mesh_tree* tree, sap_mesh mesh, double* loss);

/** Copies a tree to another device, or the same. O(bytes). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY,
 * SAP_ERROR_UNSUPPORTED. */
SAP_API sap_status sap_mesh_tree_copy(const sap_mesh_tree* tree, sap_device* target, sap_mesh_tree** copy);

/**
 * Checks a whole tree: links, bounds, order of references, and that every triangle stands in each leaf that its part
 * inside the leaf's cell reaches. O(references * depth).
 * Errors: SAP_ERROR_FORMAT (logging what is wrong), SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_mesh_tree_verify(const sap_mesh_tree* tree);

/** Saves a tree; loads one, which is checked completely first. As ::sap_tree_save and ::sap_tree_load. */
SAP_API sap_status sap_mesh_tree_save(const sap_mesh_tree* tree, const char* path);
/** See ::sap_mesh_tree_save. */
SAP_API sap_status sap_mesh_tree_load(sap_device* device, const char* path, const sap_load_options* options,
                                      sap_mesh_tree** tree);
/** The same in memory: as ::sap_tree_saved_size, ::sap_tree_save_memory and ::sap_tree_load_memory. */
SAP_API sap_status sap_mesh_tree_saved_size(const sap_mesh_tree* tree, int64_t* size);
/** See ::sap_mesh_tree_saved_size. */
SAP_API sap_status sap_mesh_tree_save_memory(const sap_mesh_tree* tree, void* bytes, int64_t size);
/** See ::sap_mesh_tree_saved_size. */
SAP_API sap_status sap_mesh_tree_load_memory(sap_device* device, const void* bytes, int64_t size,
                                             const sap_load_options* options, sap_mesh_tree** tree);

/** Frees a tree. NULL is allowed. */
SAP_API void sap_mesh_tree_free(sap_mesh_tree* tree);

/** What a tree over triangles is made of. */
typedef struct sap_mesh_tree_info {
    int64_t triangles;      /**< of the mesh */
    int64_t nodes;          /**< inner nodes */
    int64_t leaves;         /**< empty ones included */
    int64_t empty_leaves;   /**< leaves without triangles */
    int64_t references;     /**< triangles in leaves, each counted in every leaf that holds it */
    int32_t depth;          /**< inner nodes from the root to the deepest leaf */
    int32_t largest_leaf;   /**< triangles in the fullest leaf */
    double cost;            /**< expected cost of a ray by the surface area heuristic, with the costs of the options */
    size_t bytes;           /**< of the arrays, triangles included; a GPU adds 16 an inner node, 48 a reference */
    size_t structure_bytes; /**< of nodes and references alone */
    bool mapped;            /**< the arrays lie as they were saved: in a mapped file or in bytes of the caller's */
    float lower[3];         /**< least corner of the triangles' tight box; +infinity without any */
    float upper[3];         /**< its greatest corner; -infinity without any */
    sap_mesh_tree_options options; /**< as given, defaults filled in */
    uint64_t reserved[4];          /**< for later versions: zero */
} sap_mesh_tree_info;

/** Describes a tree. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_mesh_tree_describe(const sap_mesh_tree* tree, sap_mesh_tree_info* info);

/** A ray: the points origin + t * direction, t_min <= t <= t_max. */
typedef struct sap_ray {
    float origin[3];    /**< x, y, z of t = 0 */
    float t_min;        /**< where it begins */
    float direction[3]; /**< need not have length 1 */
    float t_max;        /**< where it ends; may be infinite */
} sap_ray;

/** Where a ray meets a triangle: at corner0 * (1-u-v) + corner1 * u + corner2 * v. */
typedef struct sap_hit {
    float t;          /**< along the ray; infinite for a miss */
    float u;          /**< the part of the second corner; 0 for a miss */
    float v;          /**< the part of the third corner; 0 for a miss */
    int32_t triangle; /**< its number in the mesh; -1 for a miss */
} sap_hit;

/**
 * The first hit of each ray: the one with the smallest (t, triangle), found by the watertight test of Woop, Benthin and
 * Wald (2013): no ray slips between triangles that share an edge or a vertex. Both sides of triangles are hit. Rays
 * with a NaN or an infinity, without a direction, or with t_min > t_max hit nothing; t_max may be infinite. In meshes
 * larger than 1e12 or smaller than 1e-12, directions should be as long as the way (docs/numerics.md). Rays may come in
 * any order; a CPU puts them into a good one inside the call, a GPU traces them as they come: neighbours should go the
 * same way there. Same bits for any number of threads, instruction set and device. A few rays a call allocate nothing
 * on a CPU. Expected O(log n) a ray. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_MEMORY, SAP_ERROR_CANCELLED; on a GPU
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST, and SAP_ERROR_UNSUPPORTED while the stream is being captured.
 */
SAP_API sap_status sap_trace(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits);

/** Whether each ray hits anything at all: occluded[i] is 1 or 0. Otherwise as ::sap_trace, and faster. */
SAP_API sap_status sap_occluded(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, uint8_t* occluded);

/**
 * The first `limit` hits of each ray in the order of (t, triangle): hits[limit*i] … of ray i, the rest misses;
 * counts[i] is how many there are, at most limit. counts may be NULL. Otherwise as ::sap_trace. limit at least 1.
 */
SAP_API sap_status sap_trace_all(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, int32_t limit,
                                 sap_hit* hits, int32_t* counts);

/** ::sap_trace that also counts the nodes that each ray visits, leaves included: for pictures of a tree's quality. */
SAP_API sap_status sap_trace_visits(const sap_mesh_tree* tree, const sap_ray* rays, int64_t count, sap_hit* hits,
                                    int32_t* visits);

/** The point of a mesh nearest to a query. Without triangles, or for a query that is not finite: triangle -1, distance2
 * infinite. */
typedef struct sap_closest {
    float point[3];   /**< where it lies */
    float distance2;  /**< squared, in units of the mesh squared */
    float u;          /**< as in ::sap_hit */
    float v;          /**< as in ::sap_hit */
    int32_t triangle; /**< of equal distances, the smallest number */
} sap_closest;

/** The nearest point on the mesh for each of the points, which have 3 dimensions: closest[points.count]. Errors: as
 * ::sap_trace, and SAP_ERROR_RANGE for more than 2^31-1 points. */
SAP_API sap_status sap_closest_point(const sap_mesh_tree* tree, sap_points points, sap_closest* closest);

/**
 * Whether each of the points, which have 3 dimensions, lies inside a closed mesh, that is, whether a ray from it
 * crosses the surface an odd number of times: inside[points.count] become 1 or 0. Crossings through shared edges and
 * vertices count once. Points on the surface may count as inside or outside; points that are not finite lie outside.
 * Errors: as ::sap_closest_point.
 */
SAP_API sap_status sap_inside(const sap_mesh_tree* tree, sap_points points, uint8_t* inside);

#ifdef __cplusplus
}
#endif
#endif
