/**
 * @file instances.h
 * Meshes that stand in the world many times, each time moved by a matrix: a tree over trees, and rays.
 *
 * A mesh has one tree, however often it stands somewhere. Where things move without changing their shape, only the tree
 * over the instances is built anew, which takes microseconds for hundreds of them.
 *
 *     sap_instance parts[] = {{wheel, {1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z}}, …};
 *     sap_instance_tree* world;
 *     if (sap_instance_tree_build(device, parts, count, &world) != SAP_OK) return;
 *     while (next_frame(parts)) {
 *         if (sap_instance_tree_rebuild(world, parts, count) != SAP_OK) break;
 *         sap_instance_trace(world, rays, ray_count, hits);
 *     }
 *     sap_instance_tree_free(world);
 */
#ifndef SAPWOOD_INSTANCES_H
#define SAPWOOD_INSTANCES_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A mesh somewhere in the world. */
typedef struct sap_instance {
    const sap_mesh_tree* tree; /**< of the mesh; any number of instances may have the same */
    float transform[12];       /**< from the mesh to the world: three rows of four, the last number of each a shift. It
                                  may turn, shift, scale, shear and mirror, but must have an inverse */
} sap_instance;

/**
 * A tree over instances of meshes. It keeps the inverses of their transforms and points to their trees, which must
 * outlive it and lie on the same device. It never changes except by ::sap_instance_tree_rebuild, so any number of
 * threads may search it at once. After one of its meshes' trees was rebuilt or refitted, it must be rebuilt before it
 * is searched.
 */
typedef struct sap_instance_tree sap_instance_tree;

/**
 * Builds a tree over instances by the surface area heuristic over the boxes around them. The same instances give the
 * same tree for any number of threads. Instances of meshes without triangles are allowed, and so are none at all.
 * O(n log n) expected; 176 bytes an instance, and 240 more while it is built. On CPUs and CUDA GPUs: for a GPU the host
 * builds it and copies it there, 216 bytes an instance, and the call waits for the GPU.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, a negative count; a tree of another device or a transform without an inverse,
 * naming the first), SAP_ERROR_RANGE (more than 2^28 instances), SAP_ERROR_NOT_FINITE (a transform that is not finite,
 * or that moves a mesh so far that squared distances overflow, naming the first), SAP_ERROR_MEMORY,
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_UNSUPPORTED (a device of OpenGL), SAP_ERROR_CANCELLED. On failure *tree is
 * untouched.
 *
 * A transform counts as one without an inverse if it, multiplied by the inverse that double precision gives, differs
 * from the identity by 2^-20 or more, a row's differences added up.
 */
SAP_API sap_status sap_instance_tree_build(sap_device* device, const sap_instance* instances, int64_t count,
                                           sap_instance_tree** tree);

/**
 * Builds anew over instances that have moved, or over others, into the memory of the tree, which grows as needed and is
 * kept: rebuilding over as many instances allocates nothing. No search may run on the tree during the call. Errors: as
 * ::sap_instance_tree_build; the tree then stays as it was.
 */
SAP_API sap_status sap_instance_tree_rebuild(sap_instance_tree* tree, const sap_instance* instances, int64_t count);

/** Frees a tree over instances, but not the meshes' trees. NULL is allowed. */
SAP_API void sap_instance_tree_free(sap_instance_tree* tree);

/** What a tree over instances is made of. */
typedef struct sap_instance_tree_info {
    int64_t instances;    /**< all of them */
    int64_t filed;        /**< those of meshes with triangles, which the tree is over */
    int32_t depth;        /**< inner nodes from the root to the deepest leaf, which holds one instance */
    size_t bytes;         /**< of the arrays, without the meshes' trees */
    float lower[3];       /**< least corner of a box around all instances, a little larger than they are; +infinity
                            without any */
    float upper[3];       /**< its greatest corner; -infinity without any */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_instance_tree_info;

/** Describes a tree. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_instance_tree_describe(const sap_instance_tree* tree, sap_instance_tree_info* info);

/** Where a ray meets a triangle of an instance: at corner0 * (1-u-v) + corner1 * u + corner2 * v, moved by the
 * instance's transform. */
typedef struct sap_instance_hit {
    float t;          /**< along the ray; infinite for a miss */
    float u;          /**< the part of the second corner; 0 for a miss */
    float v;          /**< the part of the third corner; 0 for a miss */
    int32_t triangle; /**< its number in the mesh; -1 for a miss */
    int32_t instance; /**< its place in the array of instances; -1 for a miss */
} sap_instance_hit;

/**
 * The first hit of each ray, which is in the world: of the hits of all instances, the one with the smallest
 * (t, instance, triangle). The hits of an instance are those of ::sap_trace on its mesh's tree for the ray as the
 * instance sees it. With the inverse W of the transform's matrix and w of its shift, that is the ray from
 * float(((W[r][0]*o[0] + W[r][1]*o[1]) + W[r][2]*o[2]) + w[r]) along
 * float((W[r][0]*d[0] + W[r][1]*d[1]) + W[r][2]*d[2]), in double precision and rounded to single precision once; t_min,
 * t_max and t stay. W[r][c] is C[c][r] / ((m[0][0]*C[0][0] + m[0][1]*C[0][1]) + m[0][2]*C[0][2]) for the transform's matrix
 * m and its cofactors C[r][c] = m[r+1][c+1]*m[r+2][c+2] - m[r+1][c+2]*m[r+2][c+1], counted modulo 3; and w[r] is
 * -((W[r][0]*s[0] + W[r][1]*s[1]) + W[r][2]*s[2]) for its shift s. So an instance at rest is hit as its mesh is, bit for
 * bit.
 *
 * Rays with a NaN or an infinity, without a direction, or with t_min > t_max hit nothing, nor does a ray hit an
 * instance that sees it so, because a number overflows. Rays may come in any order. With a CUDA device, rays and hits
 * lie in host memory or on the GPU. Same bits for any number of threads, instruction set and processor. A few rays a
 * call allocate nothing on a CPU. Expected O(log n) and the traces of what is in the ray's way. Errors:
 * SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE (more rays than memory can be), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY,
 * SAP_ERROR_DEVICE_LOST, SAP_ERROR_CANCELLED.
 */
SAP_API sap_status sap_instance_trace(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                                      sap_instance_hit* hits);

/** Whether each ray hits anything at all: occluded[i] is 1 or 0. Otherwise as ::sap_instance_trace, and faster. */
SAP_API sap_status sap_instance_occluded(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                                         uint8_t* occluded);

/**
 * The first `limit` hits of each ray in the order of (t, instance, triangle): hits[limit*i] … of ray i, the rest misses;
 * counts[i] is how many there are, at most limit. counts may be NULL. Otherwise as ::sap_instance_trace. limit at least
 * 1.
 */
SAP_API sap_status sap_instance_trace_all(const sap_instance_tree* tree, const sap_ray* rays, int64_t count,
                                          int32_t limit, sap_instance_hit* hits, int32_t* counts);

#ifdef __cplusplus
}
#endif
#endif
