/**
 * @file surface.h
 * Surfaces of volumes: marching cubes.
 *
 * **Volumes** are samples on a lattice, x fastest: sample (x, y, z) is values[x + size[0] * (y + size[1] * z)] and lies
 * at origin + spacing * (x, y, z).
 *
 * **The mesh** is the same on CPUs and CUDA GPUs, whatever the number of threads and the vector width: the same
 * vertices in the same order, bit for bit, and the same triangles. On OpenGL the order and the triangles are the same
 * too; positions are within 1e-6 of their size and normals within 1e-4, and shaders may take numbers and differences
 * below 2^-126 for 0: scale such volumes. A sample is inside if its value is at least the level; a vertex lies on each
 * edge between an inside sample and its neighbour outside, where a straight line between their values meets the level,
 * and is shared by all triangles that meet there. Vertices come in the order of the samples from which their edges
 * start, x fastest, and of one sample by axis; triangles in the order of their cells. Where neighbouring samples allow
 * for two surfaces, inside parts that touch in a diagonal are kept apart, in both cells that share the face: there are
 * no cracks. Every side of a triangle is shared with exactly one other, in the opposite direction, except on the outer
 * faces of the volume, where the mesh ends.
 *
 * **Values equal to the level.** A vertex may then lie on a sample itself, several vertices at one place, and a
 * triangle between them without area. They stay in the mesh, which is closed through them. A level that no sample has,
 * such as half a step between integers, gives none.
 */
#ifndef SAPWOOD_SURFACE_H
#define SAPWOOD_SURFACE_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The type of a sample. */
typedef enum sap_voxel {
    SAP_VOXEL_F32 = 0, /**< float; finite, at most 2^126 in magnitude */
    SAP_VOXEL_U8 = 1,  /**< unsigned, 8 bits */
    SAP_VOXEL_I16 = 2, /**< signed, 16 bits */
    SAP_VOXEL_U16 = 3  /**< unsigned, 16 bits */
} sap_voxel;

/** Samples on a lattice, in host memory or, for a CUDA device, on its GPU. */
typedef struct sap_volume {
    const void* values; /**< [size[0] * size[1] * size[2]], aligned to their type; NULL if there are none */
    sap_voxel type;     /**< of each value */
    int64_t size[3];  /**< samples along x, y, z, each 0 ... 2^31-1; with fewer than 2 along one there is no surface */
    float spacing[3]; /**< from one sample to the next along x, y, z, above 0; 0: 1 */
    float origin[3];  /**< where the first sample lies */
} sap_volume;

/** What to extract. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_isosurface_options {
    float level;     /**< samples of at least this value are inside; finite */
    bool low_inside; /**< fronts and normals face higher values, as they should where low values are the body, such as
                        signed distances below 0. Default: they face lower values */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_isosurface_options;

/**
 * A surface. On a CUDA device its arrays lie where the volume lay: in host memory, or on the GPU.
 * The counts can always be read.
 */
typedef struct sap_isosurface {
    sap_mesh mesh;        /**< vertices and triangles, at most 2^31-1 of each */
    const float* normals; /**< [3*mesh.vertex_count] of length 1, out of the body; from the differences of neighbouring
                             samples, 0, 0, 0 where there are none */
    bool on_device;       /**< the arrays lie in GPU memory: to be used in the device's stream, or after
                             ::sap_device_wait */
} sap_isosurface;

/**
 * Extracts the surface of a volume at a level: marching cubes (Lorensen and Cline 1987) with cases that agree across
 * faces (Montani, Scateni and Scopigno 1994). O(samples): one pass over the samples leaves a bit of each; what remains
 * is in proportion to the surface. Scratch memory: a bit a sample, and 24 bytes a row of samples; on a GPU also a copy
 * of a volume that lies in host memory. A result's memory goes back to the device and serves the next.
 *
 * The size of the surface is needed before it is made, so that the call waits for the GPU once.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, an unknown type, a negative size, a spacing that is not above 0, an origin,
 * spacing or level that is not finite or that would put samples beyond the range of a float), SAP_ERROR_NOT_FINITE (a
 * sample that is NaN, infinite or above 2^126 in magnitude, naming the first; a volume with fewer than 2 along an axis
 * is not read, and its empty surface lies in host memory), SAP_ERROR_RANGE (a side of more than 2^31-1 samples, more
 * samples than memory can be, more than 2^31-1 vertices or triangles; on OpenGL more than 858,993,459 samples, a side
 * beyond GL_MAX_3D_TEXTURE_SIZE, a list beyond GL_MAX_TEXTURE_SIZE), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY,
 * SAP_ERROR_DEVICE_LOST, SAP_ERROR_UNSUPPORTED (the device, or a stream that is being captured), SAP_ERROR_CANCELLED.
 * On failure *surface is untouched.
 */
SAP_API sap_status sap_isosurface_extract(sap_device* device, sap_volume volume, const sap_isosurface_options* options,
                                          sap_isosurface** surface);

/** Frees a surface. NULL is allowed. */
SAP_API void sap_isosurface_free(sap_isosurface* surface);

#ifdef __cplusplus
}
#endif
#endif
