/**
 * @file gl.h
 * OpenGL ES: the textures of trees, searches for every pixel and compaction inside a context, so that programs that
 * draw with OpenGL ES can use them without a detour through host memory.
 *
 * A device is opened with `processor = SAP_GL`, in a context of its own or, with `current_context`, in the caller's
 * (see ::sap_device_options): only in the caller's context can the program use the device's texture names. In the
 * caller's context every call restores the state that it changes; the context must be current in every call,
 * ::sap_device_close included, and no query and no transform feedback may be active.
 *
 * **Trees over points**, of floats in 2 or 3 dimensions and by either split rule, are searched in shaders:
 * ::sap_nearest for up to 8 neighbours, ::sap_radius and its sisters, and grids (grid.h), with the answers and the order
 * of the CPU; GPUs may take squared distances below the smallest normal float for 0. Searches from a tree's own points
 * are SAP_ERROR_UNSUPPORTED: give them as queries. Every walk has a bit a level for its way back (SAP_WALK_STACKLESS, also
 * the default); balanced trees can be walked with a stack, too (SAP_WALK_STACK), with the same answers. Rows within a radius come a few points of each a pass, so a row of
 * thousands takes hundreds of passes. Trees beyond GL_MAX_TEXTURE_SIZE are SAP_ERROR_RANGE, naming it. Searches call the
 * progress callback after each pass, when the caller's context is as it was; after SAP_ERROR_CANCELLED some answers may
 * have been written.
 *
 * Where the context has OpenGL ES 3.1, answers come to host memory through buffers that the device keeps, 64 MB of the
 * GPU's memory and 128 of the host's at most, until ::sap_device_trim or its end.
 *
 * **Trees over triangles** are built by the CPU and copied into textures: ::sap_trace, ::sap_occluded and
 * ::sap_trace_visits run in fragment shaders, with the answers of the CPU; ::sap_render traces its rays so. All hits,
 * nearest points and insides are SAP_ERROR_UNSUPPORTED; meshes beyond GL_MAX_TEXTURE_SIZE SAP_ERROR_RANGE, naming it.
 * If the textures cannot be made when a tree is rebuilt, the rebuild still succeeds, and the next rays try to make them
 * again. After a failure some hits may have been written. 8 bytes of GPU memory a node and 48 a reference.
 */
#ifndef SAPWOOD_GL_H
#define SAPWOOD_GL_H

#include "grid.h"
#include "render.h"
#include "surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a context can do. */
typedef struct sap_gl_info {
    int32_t max_texture_size; /**< texels on a side of a texture, at most */
    int32_t max_draw_buffers; /**< textures that one pass can write */
    bool float_targets;       /**< textures of floats can be written; else integers and bytes stand in for them */
    int32_t version;          /**< of OpenGL ES, 10 * major + minor: 20 is WebGL 1, 30 WebGL 2 */
    uint64_t reserved[4];     /**< for later versions: zero */
} sap_gl_info;

/**
 * Describes the context of a device. Errors: SAP_ERROR_ARGUMENT (a NULL), SAP_ERROR_UNSUPPORTED (a device that is not
 * SAP_GL), here and in every function below.
 */
SAP_API sap_status sap_gl_describe(const sap_device* device, sap_gl_info* info);

/**
 * A tree's textures, as shaders read them. They belong to the tree and change when it is rebuilt. Texel i of a texture
 * is (i % width, i / width), its width the power of two that stands here. Nodes are numbered from 1, the root; 0 is none.
 *
 * A balanced tree (SAP_SPLIT_MEDIAN) is in heap order: children 2i and 2i + 1, every leaf at the same depth. Any other
 * tree is in preorder: the lower child of node i is i + 1, and its texel of `nodes` names the upper one.
 */
typedef struct sap_gl_tree_textures {
    uint32_t nodes; /**< balanced: RG32UI, a texel an inner node: the bits of its split value; its axis. In preorder:
                       RGBA32UI, a texel a node: the same; its upper child; its parent. Of a leaf: its first texel of
                       `blocks`; 31; texels of one coordinate of it; its parent */
    uint32_t
        smallest;    /**< R32I, a texel a node, leaves included: the smallest id below it, 2^31-1 where there is none */
    uint32_t boxes;  /**< RGBA32F, in 2-D a texel a node, leaves included: lower x, y, upper x, y of its tight box; in
                        3-D two: lower x, y, z and upper x, y, z */
    uint32_t blocks; /**< RGBA32UI, the points: for each leaf `quads` texels of the bits of x, as many of y (and z), as
                        many of ids; four points a texel; places without a point lie at infinity */
    int32_t widths[4];    /**< of the four, in texels */
    int32_t dims;         /**< 2 or 3 */
    int32_t depth;        /**< balanced: of every leaf: leaf l is node 2^depth + l; in preorder: of the deepest */
    int32_t quads;        /**< texels of one coordinate of a leaf; in preorder: at most, where not all its points are
                             equal */
    sap_split split;      /**< that the tree was built by */
    uint64_t reserved[4]; /**< for later versions: zero */
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
    uint32_t lists[4];    /**< k > 1: texture j holds neighbours 2j and 2j + 1 of a list of `capacity`: id, bits of the
                             squared distance, id, bits; 0 beyond. Only the last k of the list are used */
    int32_t capacity;     /**< 2, 4 or 8, the first of these that is at least k; else k */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_frame_textures;

/**
 * Makes a frame of so many pixels. Only k (1 to 8; 0: the points within the radius are counted), radius and walk
 * of the search are used. The frame must be freed before its tree. 32 bytes of GPU memory a pixel, up to 10 more for
 * one neighbour, and 32 more for two. Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED (more neighbours than shaders
 * keep), SAP_ERROR_RANGE (larger than a texture), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_frame_create(const sap_tree* tree, int32_t width, int32_t height, const sap_search* search,
                                       sap_gl_frame** frame);
/** Starts again with the places of a grid, which must have the frame's size. Errors: as sap_gl_frame_create. */
SAP_API sap_status sap_gl_frame_begin(sap_gl_frame* frame, sap_grid grid);
/**
 * Lets every walk look at `leaves` more leaves; where one neighbour is sought, neighbouring pixels may share those of
 * the first step. Answers are the same bits in however many steps, once all walks have ended. *done, unless NULL,
 * becomes whether they have; the call waits to find out. If `leaves` takes several passes, since some drivers limit
 * loops, the call waits for each pass but the last. Errors: SAP_ERROR_ARGUMENT (leaves < 1, nothing begun),
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_frame_step(sap_gl_frame* frame, int32_t leaves, bool* done);
/** Names the textures of the last step. Errors: SAP_ERROR_ARGUMENT (a NULL, nothing begun). */
SAP_API sap_status sap_gl_frame_describe(const sap_gl_frame* frame, sap_gl_frame_textures* textures);
/**
 * Reads the answers of a rectangle of pixels, {x, y, width, height}, as far as the steps have come; waits for them.
 * ids[height][width][k] and distance2 alike (NULL: not wanted) as from ::sap_nearest; where points are counted, ids
 * holds a number a pixel, and distance2 must be NULL. O(pixels). Errors: SAP_ERROR_ARGUMENT (a NULL, nothing begun, a
 * rectangle that is not within the frame), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_LOST; some answers may then have been
 * written.
 */
SAP_API sap_status sap_gl_frame_read(const sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids,
                                     float* distance2);
/** Frees a frame. NULL is allowed. */
SAP_API void sap_gl_frame_free(sap_gl_frame* frame);

/**
 * A tree in four bytes a node, for shaders in GLSL ES 1.00 (WebGL 1), which have neither integers nor floats in
 * textures. One site a leaf. In 2-D, from the highest bit: 1 leaf, 15 x, 1 axis, 15 y; inner nodes hold their split in the
 * field of its axis, leaves a site, both in units of 1/32767 of the domain's side. In 3-D leaves are 1 leaf, 1 zero,
 * 10 x, 10 y, 10 z, and inner nodes 1 zero, 2 axis, 29 split, both in units of 1/1023 of the side. Sites closer than
 * a unit are drawn as one.
 */
typedef struct sap_rgba8_tree {
    int32_t width;        /**< of the textures, a power of two: node i is texel (i % width, i / width), the root 1 */
    int32_t height;       /**< of the textures */
    int32_t dims;         /**< 2 or 3 */
    bool cycles;          /**< the axis of every node is its depth modulo dims: shaders need not read it */
    double lower[3];      /**< the domain's lower corner */
    double scale;         /**< units for a length of 1 */
    unsigned char* nodes; /**< [height][width] RGBA, the highest byte first */
    unsigned char* ids;   /**< [height][width] RGBA: the ids of the leaves' sites, the highest byte first */
    sap_device* device;   /**< that the memory is of */
} sap_rgba8_tree;

/**
 * Makes the compact form of a balanced tree of floats in 2 or 3 dimensions with leaf_size 1, on any device, for the domain
 * of `side` along each axis from lower[dims] on; sites beyond are moved to its border. O(n). Errors: SAP_ERROR_ARGUMENT,
 * SAP_ERROR_UNSUPPORTED (another tree, or an empty one), SAP_ERROR_RANGE (more than 2^22 sites), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_rgba8_tree_build(const sap_tree* tree, const double* lower, double side, sap_rgba8_tree** form);
/** Frees a compact form. NULL is allowed. */
SAP_API void sap_rgba8_tree_free(sap_rgba8_tree* form);

/**
 * How ::sap_gl_nearest_rgba8 searches. All zero is the default for each field; NULL means all defaults. The answers are
 * the same but for most_steps.
 */
typedef struct sap_rgba8_search {
    sap_walk walk;        /**< SAP_WALK_STACKLESS, also the default: a bit a level tells where a search has been;
                             SAP_WALK_STACK: the nodes that wait lie on a stack, of which GLSL ES 1.00, without an index
                             into arrays, looks at all places to find one. Others are SAP_ERROR_UNSUPPORTED */
    bool integers;        /**< in GLSL ES 3.00, with nodes in integers; else in GLSL ES 1.00, with nodes in floats */
    bool cycle;           /**< shaders compute the axes of nodes from their depths and do not read them; a form whose
                             axes do not cycle (sap_rgba8_tree.cycles) is SAP_ERROR_UNSUPPORTED */
    int32_t most_steps;   /**< a search ends after so many nodes with the nearest site that it has found, or -1; the
                             published one: 500. 0: it goes on to its end */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_rgba8_search;

/**
 * The nearest site of every place of a grid by shaders over the compact form: ids[height][width], and distances (not
 * squared; to 1/65536 of a unit, at most 65535 units) or NULL. Exact for the rounded sites; where sites are equally far
 * any of them. A pixel takes at most 2^24 steps through the tree (with Mesa's software 2^16). Errors:
 * SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE (beyond the largest texture), SAP_ERROR_UNSUPPORTED (a pixel that would take
 * more steps; a walk that shaders do not have; integers in a context of OpenGL ES 2.0), SAP_ERROR_MEMORY,
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST. After a failure some answers may have been written.
 */
SAP_API sap_status sap_gl_nearest_rgba8(sap_device* device, const sap_rgba8_tree* form, sap_grid grid,
                                        const sap_rgba8_search* search, int32_t* ids, float* distances);

/**
 * @name Pictures of meshes
 * Those of ::sap_render, drawn by fragment shaders: camera, surfaces, shadows, mirrors, glass and light from the sky, a
 * sample of every pixel after the other. A picture is drawn in steps, each of them a pass of rays for a part of the
 * pixels, so that no step keeps a GPU busy for too long; rays that need more than a pass go on in the next, however
 * many that takes.
 * @{
 */

/** A mesh on an OpenGL device, and the picture of it that is being drawn. */
typedef struct sap_gl_view sap_gl_view;

/** What is drawn, and how. All zero is the default for each field, but for picture.width and picture.height. */
typedef struct sap_gl_view_options {
    sap_render_options picture; /**< as for ::sap_render. `hottest` 0 stands for 128 nodes; the light of smoothed
                                   normals needs no more time than that of flat ones */
    sap_camera camera;          /**< as in ::sap_scene */
    const sap_light* lights;    /**< [light_count], as in ::sap_scene; read by this call only */
    int32_t light_count;        /**< lights */
    bool plain; /**< no random samples (Whitted 1980): light comes from the middle of each light and, unshadowed, from
                   the sky; surfaces either let light through or mirror it. One sample is a picture without noise; more
                     smooth its edges */
    bool no_shadows; /**< light goes through everything */
    float cut;       /**< the camera's rays begin so far ahead of its eye along the way that it looks: what is nearer is
                     cut away from what is seen, but still casts shadows and is mirrored; 0: nothing is */
    float sun[3]; /**< towards a sun in the sky, at any length, around which the sky is brighter: seen past the mesh, by
                     mirrors and through glass. It lights no surface, as lights do; zeros: there is none */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_view_options;

/** How far a picture is. */
typedef struct sap_gl_view_info {
    int32_t width;    /**< pixels */
    int32_t height;   /**< pixels */
    uint32_t picture; /**< RGBA8 texture, rows from top to bottom; alpha 0 where no sample has come so far */
    uint32_t sum; /**< RGBA32UI texture of the last whole sample's: bits of the sums of linear red, green, blue, and how
                       many samples; 0: there is none. Of a picture of heat those of nodes visited, of how far rays
                       went, in lengths of their directions, and of the numbers of the triangles that they have met,
                       plus 1: 0 where that was none */
    int32_t samples;      /**< that all pixels have */
    double done;          /**< part of all samples, 0 … 1 */
    int64_t rays;         /**< that have passed through the mesh's box so far, shadows included */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_view_info;

/**
 * Brings what shaders need of a mesh to the tree's device: normals, colours, materials. The file may be freed
 * afterwards, the tree only after the view; after a rebuild of the tree the view cannot be used, create another. 64
 * bytes of GPU memory a triangle. Errors: SAP_ERROR_ARGUMENT (a NULL, a tree that is not on an OpenGL device, a mesh of
 * another size than the tree's), SAP_ERROR_RANGE (a triangle names a vertex or a material that is not there; textures
 * beyond the context's limit, naming it), SAP_ERROR_NOT_FINITE (as ::sap_render), SAP_ERROR_UNSUPPORTED (a context of
 * less than OpenGL ES 3.0), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_view_create(const sap_mesh_tree* tree, const sap_mesh_file* file, sap_gl_view** view);
/** Begins a picture and drops the one before. 36 bytes of GPU memory a pixel. Errors: as ::sap_render and
 * sap_gl_view_create, and SAP_ERROR_ARGUMENT if the tree has been rebuilt, for a cut that is negative or not finite and
 * a sun that is not finite; the view then has no picture. */
SAP_API sap_status sap_gl_view_begin(sap_gl_view* view, const sap_gl_view_options* options);
/**
 * Draws on: a pass of rays through at most side * side pixels, side 1 … 2048, and what goes before and after it. A part
 * of the pixels that has begun is finished in its size before another `side` takes effect. A step does not wait for the
 * GPU, but for the pass before. 310 bytes of GPU memory for each pixel of a square whose side is the largest so far,
 * rounded up to a power of two. *done, unless NULL, tells whether all samples are drawn; more steps then do nothing.
 * Errors: SAP_ERROR_ARGUMENT (side, nothing begun, or the tree has been rebuilt), SAP_ERROR_MEMORY,
 * SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST; the view then has no picture.
 */
SAP_API sap_status sap_gl_view_step(sap_gl_view* view, int32_t side, bool* done);
/**
 * Shows the picture in a rectangle (x, y, width, height; y upwards) of a framebuffer of the caller's (0: the default
 * one), larger or smaller as need be; pixels that have no sample so far are left as they are. Errors:
 * SAP_ERROR_ARGUMENT, SAP_ERROR_UNSUPPORTED (a framebuffer that cannot be drawn to), SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_view_show(const sap_gl_view* view, uint32_t framebuffer, const int32_t rectangle[4]);
/** Reads the picture: pixels[3*width*height] as from ::sap_render; waits for the GPU. Errors: as sap_gl_view_step. */
SAP_API sap_status sap_gl_view_read(const sap_gl_view* view, uint8_t* pixels);
/** Describes how far a picture is. Errors: SAP_ERROR_ARGUMENT (a NULL, nothing begun). */
SAP_API sap_status sap_gl_view_describe(const sap_gl_view* view, sap_gl_view_info* info);
/** Frees a view. NULL is allowed. */
SAP_API void sap_gl_view_free(sap_gl_view* view);
/** @} */

/**
 * @name Compaction
 * Histopyramids (Ziegler, Tevs, Theobalt and Seidel 2006; in the vec4 form Dyken, Ziegler, Theobalt and Seidel 2008):
 * of the texels of a texture those that are wanted, as a list, made by fragment shaders alone. A cell may also have
 * several outputs, such as the triangles of a cell of a volume: it is then listed so often.
 *
 * **Cells** are the texels of the base texture in the order of its rows, as far as `count` goes; the list has them in
 * the same order, as ::sap_compact keeps its items. Published pyramids reduce two by two texels and list in that order
 * of theirs, in squares with sides of powers of two; these reduce four of a row to one, and take any size.
 * @{
 */

/** How sums are kept. The list is the same in all of them. */
typedef enum sap_gl_form {
    SAP_GL_VEC4 = 0,  /**< running sums in four channels, one texel read a level; whole numbers, exact */
    SAP_GL_PLAIN = 1, /**< a sum a texel, three texels read a level; whole numbers, exact */
    SAP_GL_FLOAT = 2  /**< shaders of GLSL ES 1.00, as for WebGL 1: the vec4 form in floats, or, where a context cannot
                         write these, the plain form with sums as bytes. count * most is at most 2^24 - 1 */
} sap_gl_form;

/** What a texel of the base texture holds. */
typedef enum sap_gl_cells {
    SAP_GL_CELLS_UINT = 0,  /**< a cell: unsigned integers, of whichever size, in red (not in ::SAP_GL_FLOAT) */
    SAP_GL_CELLS_UINT4 = 1, /**< four cells in a row: red, green, blue, alpha, unsigned integers (nor there); the
                               fastest: it is read as it is the lowest level of the vec4 form */
    SAP_GL_CELLS_FLOAT = 2, /**< a cell: floats in red, rounded; what is below 0.5, or a NaN, counts 0 */
    SAP_GL_CELLS_BYTE = 3   /**< a cell: normalised bytes (R8, RGBA8) in red, counting 0 ... 255 */
} sap_gl_cells;

/** What a pyramid stands on. All zero but the sizes is the default. */
typedef struct sap_gl_pyramid_options {
    sap_gl_form form;   /**< default ::SAP_GL_VEC4 */
    sap_gl_cells cells; /**< default ::SAP_GL_CELLS_UINT */
    int32_t width;      /**< of base textures, in texels */
    int32_t height;     /**< of base textures, in texels */
    int64_t count;      /**< cells that count; 0: all that there are */
    uint32_t most;      /**< outputs that a cell has at most: cells that say more count so many. 0: 1, so that cells are
                             flags. Sums that always fit are kept in 8 or 16 bits */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_pyramid_options;

/** A pyramid: textures and what they are for. It may be used again for other cells of the same kind and size. */
typedef struct sap_gl_pyramid sap_gl_pyramid;

/** Where the list goes. Output i is the texel (i % width, i / width). */
typedef struct sap_gl_list {
    uint32_t texture; /**< unsigned integers of 32 bits: with one channel the cell; with two also which of its outputs
                         (0 ...); with four also its column and row in the base. ::SAP_GL_FLOAT: RGBA32F the four, or
                         RGBA8 the cell as four bytes, lowest first, as ::sap_gl_pyramid_info says. 0: a texture of the
                         pyramid's, with one channel if most is 1, else with two; it is the caller's to read until the
                         pyramid is used again or freed, and its width and height are filled in here; the struct
                            may be passed again as it is */
    int32_t width;    /**< of the caller's texture */
    int32_t height;   /**< of the caller's texture */
    int64_t expected; /**< outputs that are listed at most; 0: as many as there is room for */
} sap_gl_list;

/**
 * What a pyramid is made of, for programs that read it: node j of a level is texel (j % width, first_row + j / width)
 * of the level's texture. Its sum is alpha in the vec4 form (the sums of its first child, of two and of three are ahead
 * of it) and in floats, red in the plain form, and red + 256 green + 65536 blue in bytes.
 */
typedef struct sap_gl_pyramid_info {
    int32_t levels;        /**< above the cells: 4 at least, in ::SAP_GL_FLOAT 1 */
    uint32_t texture[4];   /**< integers: levels 1, 2, 3, and all above in one, the top first (0: the base serves as
                              level 1). ::SAP_GL_FLOAT: all levels in the first */
    bool bytes;            /**< ::SAP_GL_FLOAT where floats cannot be written */
    int32_t width[4];      /**< of the textures, in texels, powers of two */
    int32_t first_row[17]; /**< of each level, by its number */
    uint64_t reserved[4];  /**< for later versions: zero */
} sap_gl_pyramid_info;

/**
 * Creates a pyramid: about 1.5 bytes of GPU memory a cell for flags in the vec4 form (0.5 where cells come four a
 * texel), 0.4 in the plain one; up to 5.5 where cells have many outputs; in ::SAP_GL_FLOAT 9.5, in bytes 2.5. Errors:
 * SAP_ERROR_ARGUMENT (a NULL, a device that is not SAP_GL, an unknown form or kind of cells, one that does not go with
 * the form, a size or count that is not positive, or a count beyond the size), SAP_ERROR_RANGE (textures beyond the
 * context's limit, naming it; count * most of 2^32 or more, or of 2^24 or more in ::SAP_GL_FLOAT),
 * SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_pyramid_create(sap_device* device, const sap_gl_pyramid_options* options,
                                         sap_gl_pyramid** pyramid);

/**
 * Lists the cells of a base texture. `total` is how many outputs there are, listed or not; reading it waits for the
 * GPU. With `total` NULL nothing waits, if `list` names a texture or expects a number of outputs: the shaders know the
 * total. So a program that expects enough (it may ask ::sap_gl_pyramid_total a frame later) never waits. Of more
 * outputs than are expected, or than there is room for, the first are listed; texels beyond the last output are left as
 * they are, in a texture of the pyramid's 0xffffffff (floats: -1; bytes: 255). `list` NULL: the pyramid is made, and
 * nothing listed. O(cells) for the pyramid, O(log cells) for each output: only rows that have outputs are drawn.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL pyramid, base 0, negative sizes), SAP_ERROR_RANGE (a list beyond the context's
 * limit of textures, naming it), SAP_ERROR_UNSUPPORTED (a texture that cannot be written so), SAP_ERROR_DEVICE_MEMORY,
 * SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_compact(sap_gl_pyramid* pyramid, uint32_t base, sap_gl_list* list, int64_t* total);

/** How many outputs the last base had; waits for the GPU. In ::SAP_GL_FLOAT it is packed into a texel of bytes and
 * read from there, as WebGL 1 has to. Errors: as ::sap_gl_compact; SAP_ERROR_ARGUMENT before the first
 * ::sap_gl_compact. */
SAP_API sap_status sap_gl_pyramid_total(sap_gl_pyramid* pyramid, int64_t* total);

/** Reads the sums of a level: sums[ceil(count / 4^level)], level 1 ... levels. Errors: as ::sap_gl_pyramid_total, and
 * SAP_ERROR_MEMORY. */
SAP_API sap_status sap_gl_pyramid_sums(sap_gl_pyramid* pyramid, int32_t level, uint32_t* sums);

/** Describes a pyramid. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_gl_pyramid_describe(const sap_gl_pyramid* pyramid, sap_gl_pyramid_info* info);

/** Frees a pyramid and its textures. NULL is allowed. */
SAP_API void sap_gl_pyramid_free(sap_gl_pyramid* pyramid);
/** @} */

/**
 * @name Compaction in Z order
 * The histopyramid as it was published: squares whose side is a power of two, reduced two by two, so that the list is in
 * Z order (of four texels: x, y even; x odd; y odd; both odd). For programs that want that order, or what is stored at
 * a cell in the list itself; ::sap_gl_compact takes any size, counts further and is faster.
 * @{
 */

/** What a texel of the list holds: four floats. */
typedef enum sap_gl_gather {
    SAP_GL_GATHER_PLACE = 0,    /**< column and row of the cell in the base, column + row * side, 1 */
    SAP_GL_GATHER_POSITION = 1, /**< where the base holds the slices of a volume side by side, as a texture of two
                                   dimensions stands for one of three: column and row in the slice, number of the slice
                                   (row by row), 1 */
    SAP_GL_GATHER_TEXEL = 2     /**< the texel of another texture at the cell's place, read as floats */
} sap_gl_gather;

/** How a pyramid in Z order is made and walked. All zero but the side is the default; the list is always the same. */
typedef struct sap_gl_zpyramid_options {
    int32_t side;         /**< of bases, in texels: a power of two, 2 ... 4096 */
    sap_gl_gather gather; /**< what is listed */
    int32_t slice;        /**< side of a slice, of which the base's is a multiple (::SAP_GL_GATHER_POSITION) */
    bool vec4;        /**< running sums of four in a texel, so that a step reads one (Dyken et al. 2008); else three */
    bool bytes;       /**< sums are bytes (RGBA8) instead of floats (RGBA32F), and then not vec4 */
    bool branches;    /**< a step branches; else it computes all four ways and chooses by arithmetic */
    bool in_vertices; /**< keys are walked by vertex shaders, and outputs are points; else by fragment shaders */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_zpyramid_options;

/** A pyramid in Z order: textures and what they are for. It may be used again for other bases of the same size. */
typedef struct sap_gl_zpyramid sap_gl_zpyramid;

/**
 * Creates a pyramid in Z order: 12 bytes of GPU memory a cell, in bytes 3. Errors: SAP_ERROR_ARGUMENT (a NULL, a device
 * that is not SAP_GL, a side that is no power of two in 2 ... 4096, slices that do not fill the base, vec4 in bytes),
 * SAP_ERROR_UNSUPPORTED (OpenGL ES 2.0, or floats that cannot be written), SAP_ERROR_RANGE (beyond the context's limit
 * of textures), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_zpyramid_create(sap_device* device, const sap_gl_zpyramid_options* options,
                                          sap_gl_zpyramid** pyramid);

/**
 * Lists the cells of a base texture, side x side texels whose red, read as a float, is at least 0.5, with what is stored
 * there in `payload`, a texture of that size (0 where none is gathered). The list's texture is RGBA32F, or 0: the
 * pyramid's own. Waiting, `total`, `list` and what it expects are as for ::sap_gl_compact; texels beyond the last output
 * are left as they are, also in a texture of the pyramid's. Errors: as ::sap_gl_compact, and SAP_ERROR_ARGUMENT (no
 * payload where one is gathered).
 */
SAP_API sap_status sap_gl_zpyramid_compact(sap_gl_zpyramid* pyramid, uint32_t base, uint32_t payload, sap_gl_list* list,
                                           int64_t* total);

/** How many cells the last base had; waits for the GPU. Errors: as ::sap_gl_pyramid_total. */
SAP_API sap_status sap_gl_zpyramid_total(sap_gl_zpyramid* pyramid, int64_t* total);

/** Frees a pyramid in Z order. NULL is allowed. */
SAP_API void sap_gl_zpyramid_free(sap_gl_zpyramid* pyramid);
/** @} */

/**
 * @name Surfaces of volumes
 * Marching cubes (surface.h) of a volume in a texture, whose mesh stays on the GPU: in buffers, which compute shaders
 * write where a context has them (OpenGL ES 3.1), else in textures, made by histopyramids. The mesh is that of
 * ::sap_isosurface_extract: numbers, order and triangles exactly, positions to 1e-6 of their size and normals to 1e-4,
 * since the language lets divisions be that inexact. In WebGL a buffer that a shader has written can never be one of
 * indices, so there the mesh is in textures, and is drawn from these.
 * @{
 */

/** A surface on an OpenGL device: the room for it, and the last that was extracted. */
typedef struct sap_gl_surface sap_gl_surface;

/** What surfaces are extracted from. All zero but the size is the default. */
typedef struct sap_gl_surface_options {
    int32_t size[3];   /**< samples along x, y, z, 2 at least */
    sap_voxel type;    /**< what a texel of a volume has in red. ::SAP_VOXEL_F32: what shaders read as floats, such as
                        R32F, R16F, R8; ::SAP_VOXEL_U8 and _U16: unsigned integers; ::SAP_VOXEL_I16: signed ones */
    float spacing[3];  /**< from one sample to the next along x, y, z, above 0; 0: 1 */
    float origin[3];   /**< where the first sample lies */
    bool low_inside;   /**< as in ::sap_isosurface_options */
    bool textures;     /**< the mesh goes into textures, also where it could go into buffers */
    int64_t vertices;  /**< room for so many vertices; 0: for as many as there are */
    int64_t triangles; /**< room for so many triangles; 0 alike. Where both numbers stand, no extraction waits for
                             the GPU; what there is no room for is left out, the last first, and a triangle with it that
                             has lost a corner */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_surface_options;

/** Where a surface is. What does not apply is 0. */
typedef struct sap_gl_surface_info {
    int64_t vertex_count;   /**< that there are; those beyond `vertices` of the options have been left out */
    int64_t triangle_count; /**< that there are, alike */
    uint32_t vertices;      /**< buffer: of each vertex 6 floats, position and normal */
    uint32_t triangles;     /**< buffer: of each triangle 3 indices of 32 bits */
    uint32_t command;       /**< buffer: a command of glDrawElementsIndirect, for GL_TRIANGLES and GL_UNSIGNED_INT; and
                               behind its 20 bytes vertex_count and triangle_count, 32 bits each */
    uint32_t positions;     /**< RGBA32UI texture: of vertex i in texel (i % width, i / width) the bits of x, y, z */
    uint32_t normals;       /**< RGBA32UI texture: of its normal, alike */
    uint32_t corners;       /**< RGBA32UI texture: of triangle i in texel (i % width, i / width) its three vertices */
    int32_t width[2];       /**< of the textures of vertices; of that of triangles */
    uint64_t reserved[4];   /**< for later versions: zero */
} sap_gl_surface_info;

/** How a surface is drawn. */
typedef struct sap_gl_surface_look {
    float matrix[16];     /**< from the volume's places to clip space, column by column, as OpenGL has them */
    float light[3];       /**< towards the light; any length above 0. All 0: along z */
    float color[3];       /**< of what faces it, each 0 ... 1. All 0: white */
    float ambient;        /**< part of that where nothing faces it, 0 ... 1 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_gl_surface_look;

/**
 * Makes room for extractions. In buffers half a byte of GPU memory a sample (rows are rounded up to 32 samples), 24
 * bytes a vertex and 12 a triangle; in textures three bytes a sample, 36 a vertex and 24 a triangle. Errors:
 * SAP_ERROR_ARGUMENT (a NULL, a device that is not SAP_GL, an unknown type, a size below 2, negative room, a spacing or
 * origin as in ::sap_isosurface_extract), SAP_ERROR_UNSUPPORTED (OpenGL ES 2.0, WebGL 1), SAP_ERROR_RANGE (more than
 * 858,993,459 samples, a side beyond GL_MAX_3D_TEXTURE_SIZE, lists beyond GL_MAX_TEXTURE_SIZE, more than 2^31-1
 * vertices or triangles), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_surface_create(sap_device* device, const sap_gl_surface_options* options,
                                         sap_gl_surface** surface);
/**
 * Copies a volume from host memory, values[size[2]][size[1]][size[0]] of the options' type, into a texture of the
 * surface's own, which is made when it is first needed. O(samples). Errors: SAP_ERROR_ARGUMENT, SAP_ERROR_NOT_FINITE
 * (as in ::sap_isosurface_extract), SAP_ERROR_MEMORY, SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_surface_load(sap_gl_surface* surface, const void* values);
/**
 * Extracts the surface of a 3-D texture of the options' size and type at a level; `volume` 0: of what has been loaded.
 * Samples must be finite and at most 2^126 in magnitude; else a vertex beside one may lie anywhere. Waits for the GPU
 * once, unless the options name room for both. O(samples). Errors: SAP_ERROR_ARGUMENT (a NULL, a level that is not
 * finite, nothing loaded), SAP_ERROR_RANGE (as in sap_gl_surface_create), SAP_ERROR_UNSUPPORTED (a texture that cannot
 * be read so), SAP_ERROR_DEVICE_MEMORY, SAP_ERROR_DEVICE_LOST, SAP_ERROR_CANCELLED; then there is no surface.
 */
SAP_API sap_status sap_gl_surface_extract(sap_gl_surface* surface, uint32_t volume, float level);
/** Says where the surface is; waits for the GPU if that alone knows how large it is. Errors: SAP_ERROR_ARGUMENT (a
 * NULL, nothing extracted), SAP_ERROR_DEVICE_LOST. */
SAP_API sap_status sap_gl_surface_describe(sap_gl_surface* surface, sap_gl_surface_info* info);
/**
 * Draws the surface into a rectangle (x, y, width, height) of a framebuffer of the caller's (0: the default one); waits
 * for nothing. The depth test is on if the framebuffer has depths, with the function and the mask that the context has.
 * Errors: SAP_ERROR_ARGUMENT (a NULL, nothing extracted, a look with numbers that are not finite), SAP_ERROR_UNSUPPORTED
 * (a framebuffer that cannot be drawn to), SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_gl_surface_draw(const sap_gl_surface* surface, const sap_gl_surface_look* look,
                                       uint32_t framebuffer, const int32_t rectangle[4]);
/** Copies the surface to host memory, as from ::sap_isosurface_extract, as far as there is room for it; a triangle that
 * has lost a corner has 0 three times. Waits for the GPU. Errors: as sap_gl_surface_describe, SAP_ERROR_MEMORY. */
SAP_API sap_status sap_gl_surface_read(sap_gl_surface* surface, sap_isosurface** read);
/** Frees a surface on the GPU. NULL is allowed. */
SAP_API void sap_gl_surface_free(sap_gl_surface* surface);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
