/**
 * @file gl.h
 * OpenGL ES: the textures of trees, searches for every pixel and compaction inside a context, so that programs that
 * draw with OpenGL ES can use them without a detour through host memory.
 *
 * A device is opened with `processor = SAP_GL`, in a context of its own or, with `current_context`, in the caller's
 * (see
 * ::sap_device_options): only there do texture names mean the same on both sides. In the caller's context every call
 * puts back the state that it changes; the context must be current in every call, ::sap_device_close included.
 */
#ifndef SAPWOOD_GL_H
#define SAPWOOD_GL_H

#include "grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a context can do. */
typedef struct sap_gl_info {
    int32_t max_texture_size; /**< texels on a side of a texture, at most */
    int32_t max_draw_buffers; /**< textures that one pass can write */
    bool float_targets;       /**< textures of floats can be written; else integers and bytes stand in for them */
} sap_gl_info;

/** Describes the context of a device. Errors: SAP_ERROR_ARGUMENT (a NULL, or a device that is not SAP_GL). */
SAP_API sap_status sap_gl_describe(const sap_device* device, sap_gl_info* info);

/**
 * A tree's textures, as shaders read them. They belong to the tree and change when it is rebuilt. Texel i of a texture
 * is (i % width, i / width), its width the power of two that stands here. The tree is balanced, in heap order: root 1,
 * children 2i and 2i + 1, every leaf at the same depth.
 */
typedef struct sap_gl_tree_textures {
    uint32_t nodes; /**< RG32UI, a texel an inner node: the bits of its split value; its axis */
    uint32_t
        smallest;    /**< R32I, a texel a node, leaves included: the smallest id below it, 2^31-1 where there is none */
    uint32_t boxes;  /**< RGBA32F, in 2-D a texel a node, leaves included: lower x, y, upper x, y of its tight box; in
                        3-D two: lower x, y, z and upper x, y, z */
    uint32_t blocks; /**< RGBA32UI, the points: for each leaf `quads` texels of the bits of x, as many of y (and z), as
                        many of ids; four points a texel; places without a point lie at infinity */
    int32_t widths[4]; /**< of the four, in texels */
    int32_t dims;      /**< 2 or 3 */
    int32_t depth;     /**< of every leaf: leaf l is node 2^depth + l */
    int32_t quads;     /**< texels of one coordinate of a leaf */
} sap_gl_tree_textures;

/** Names a tree's textures. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_DEVICE_LOST, SAP_ERROR_DEVICE_MEMORY. */
SAP_API sap_status sap_gl_tree_describe(const sap_tree* tree, sap_gl_tree_textures* textures);

/**
 * Makes a tree on an OpenGL device equal to another tree, from any device, in the memory and the textures that it has
 * (they grow where they must): for points that move and are built elsewhere, frame by frame. O(n). dims must be the
 * same.
 *
 * A tree that CUDA built on the GPU that draws goes straight into the textures, where the two share memory; the copy
 * then has no arrays on the host: it can be searched and drawn, but not described, copied, saved or verified. Errors:
 * as ::sap_tree_copy; after a failure the copy may hold neither tree.
 */
SAP_API sap_status sap_gl_tree_update(sap_tree* copy, const sap_tree* tree);

/**
 * A picture's worth of searches, a query a pixel, whose answers stay in textures. It is drawn in steps: each lets every
 * pixel's walk through the tree look at so many more leaves, so that no step keeps a GPU busy for too long.
 */
typedef struct sap_gl_frame sap_gl_frame;

/** Where the answers of a frame are: RGBA32UI textures of its size, after the last step. */
typedef struct sap_gl_frame_textures {
    int32_t width;  /**< of the textures */
    int32_t height; /**< of the textures */
    uint32_t place; /**< x: 0 once the pixel's walk has ended. Where 1 neighbour is sought, z is its id (2^31-1: none)
                       and w the bits of its squared distance; where points are counted, z is their number */
    uint32_t lists[4]; /**< k > 1: texture j holds neighbours 2j and 2j + 1 of a list of `capacity`: id, bits of the
                          squared distance, id, bits; 0 beyond. Only the last k of the list are used */
    int32_t capacity;  /**< 2, 4 or 8, the first of these that is at least k; else k */
} sap_gl_frame_textures;

/**
 * Makes a frame of so many pixels. Of the search, k (1 to 8; 0: the points within the radius are counted) and radius
 * count. The frame must be freed before its tree. 32 bytes of GPU memory a pixel and 32 more for two neighbours.
 * Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED (more neighbours than shaders keep), SAP_ERROR_RANGE (larger than a
 * texture), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_frame_create(const sap_tree* tree, int32_t width, int32_t height, const sap_search* search,
                                       sap_gl_frame** frame);
/** Begins anew with the places of a grid, whose size is the frame's. Errors: as sap_gl_frame_create. */
SAP_API sap_status sap_gl_frame_begin(sap_gl_frame* frame, const sap_grid* grid);
/**
 * Lets every walk look at `leaves` more leaves. *done, unless NULL, tells whether all have ended, and waits for that.
 * Errors: SAP_ERROR_ARGUMENT (leaves < 1, nothing begun), SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_frame_step(sap_gl_frame* frame, int32_t leaves, bool* done);
/** Names the textures of the last step. Errors: SAP_ERROR_ARGUMENT (a NULL, nothing begun). */
SAP_API sap_status sap_gl_frame_describe(const sap_gl_frame* frame, sap_gl_frame_textures* textures);
/** Frees a frame. NULL is allowed. */
SAP_API void sap_gl_frame_free(sap_gl_frame* frame);

/**
 * A tree in four bytes a node, for shaders in GLSL ES 1.00 (WebGL 1), which have neither integers nor floats in
 * textures. From the highest bit: 1 leaf, 15 x, 1 axis, 15 y. Inner nodes hold their split in the field of its axis,
 * leaves a site, both in units of 1/32767 of the domain's side, so that sites closer than that are drawn as one. One
 * site a leaf.
 */
typedef struct sap_rgba8_tree {
    int32_t width;        /**< of the textures, a power of two: node i is texel (i % width, i / width), the root 1 */
    int32_t height;       /**< of the textures */
    double lower[2];      /**< the domain's lower corner */
    double scale;         /**< units for a length of 1 */
    unsigned char* nodes; /**< [height][width] RGBA, the highest byte first */
    unsigned char* ids;   /**< [height][width] RGBA: the ids of the leaves' sites, the highest byte first */
    sap_device* device;   /**< that the memory is of */
} sap_rgba8_tree;

/**
 * Makes the compact form of a balanced 2-D tree of floats with leaf_size 1, on any device, for the square domain of
 * `side` from `lower` on; sites beyond are moved to its border. O(n). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED
 * (another tree, or an empty one), SAP_ERROR_RANGE (more than 2^22 sites), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_tree_to_rgba8(const sap_tree* tree, const double lower[2], double side, sap_rgba8_tree** form);
/** Frees a compact form. NULL is allowed. */
SAP_API void sap_rgba8_tree_free(sap_rgba8_tree* form);

/**
 * The nearest site of every place of a grid by the shader for GLSL ES 1.00: ids[height][width], and distances (not
 * squared; to 1/65536 of a unit, at most 65535 units) or NULL. Exact for the rounded sites; where sites are equally far
 * any of them. A pixel takes at most 2^24 steps through the tree. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE (beyond
 * the largest texture), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_nearest_rgba8(sap_device* device, const sap_rgba8_tree* form, const sap_grid* grid,
                                        int32_t* ids, float* distances);

#ifdef __cplusplus
}
#endif
#endif
