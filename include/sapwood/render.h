/**
 * @file render.h
 * Pictures of meshes: rays from a camera through a tree over triangles, with shadows, mirrors, glass and light from the
 * sky.
 */
#ifndef SAPWOOD_RENDER_H
#define SAPWOOD_RENDER_H

#include "files.h"
#include "instances.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pinhole camera. */
typedef struct sap_camera {
    float eye[3]; /**< where it stands */
    float at[3];  /**< what it looks at; eye and at equal: ::sap_camera_frame places it */
    float up[3];  /**< which way is up in the picture; zeros: y. The sky is up, too */
    float fov;    /**< degrees from the picture's lower edge to its upper, below 180; 0: 35 */
} sap_camera;

/** A light. It is not seen itself, only what it shines on. Its light falls off with the square of the distance. */
typedef struct sap_light {
    float position[3]; /**< of a point light; the middle of an area light */
    float color[3];    /**< red, green, blue, 1 and above: how bright it makes a white surface that faces it in the
                          middle of the mesh's box; so it does not depend on units */
    float side[2][3];  /**< area light: the two sides of its parallelogram; zeros: a point light with sharp shadows */
} sap_light;

/** What is drawn. */
typedef struct sap_scene {
    const sap_mesh_tree* tree; /**< which rays go through */
    const sap_mesh_file* file; /**< the mesh that the tree was built over, with its colours and materials */
    sap_camera camera;         /**< all zero: a view of the whole mesh, a little from above and from one side */
    const sap_light* lights;   /**< [light_count]; NULL: one soft light above the camera's shoulder */
    int32_t light_count;       /**< lights, 0 if `lights` is NULL; 0 beside lights: the sky alone */
    /** In place of `tree`, or NULL: a tree over instances, of which number i is places->places[i]: it has its transform,
     *  and a tree over its piece (::sap_mesh_piece_of). `file` is then places->file. Without photons and heat. */
    const sap_instance_tree* instances;
    const sap_mesh_places* places; /**< what the instances are; NULL without */
    uint64_t reserved[4];          /**< for later versions: zero */
} sap_scene;

/** How light brighter than white is drawn. */
typedef enum sap_tone {
    SAP_TONE_CLAMP = 0,    /**< as white, each colour by itself */
    SAP_TONE_REINHARD = 1, /**< x/(1 + x), x being the luminance (Reinhard et al. 2002) */
    SAP_TONE_FILMIC = 2    /**< a curve as of film, each colour by itself (Narkowicz 2015) */
} sap_tone;

/** How to draw. All zero is the default for each field, but for the size. */
typedef struct sap_render_options {
    int32_t width;           /**< pixels, 1 … 65536 */
    int32_t height;          /**< pixels, 1 … 65536 */
    int32_t samples;         /**< rays through a pixel, at most 65536; 0: 16 */
    int32_t bounces;         /**< how often light may be mirrored, refracted or scattered on its way, at most 64; 0: 5;
                                below 0: never */
    float ambient;           /**< strength of the light that the sky sheds on surfaces; 0: 1; below 0: none */
    float exposure;          /**< factor of all light; 0: 1 */
    const float* background; /**< [3] what is seen past the mesh, linear; NULL: the sky */
    bool flat;               /**< show triangles as they are. Default: normals are smoothed over edges that are blunt */
    bool heat;               /**< draw instead how many nodes of the tree the camera's rays look at */
    float hottest;           /**< heat: what is drawn brightest; 0: the most of the picture */
    bool next_event;   /**< send a ray from each surface to a face that shines (Ke), too, weighed against scattered
                                  rays (Veach and Guibas 1995): less noise where such faces are small */
    sap_tone tone;     /**< of ::sap_render's pixels; default SAP_TONE_CLAMP */
    int32_t passes;    /**< the mean of this many pictures, 65536 samples in all at most; 0: 1, with until_error any */
    float until_error; /**< above 0: fewer passes do, two at least, once sap_render_info.error is at most this */
    const struct sap_render_photons* photons; /**< NULL: paths alone; else photon maps light it, too */
    uint64_t reserved[4];                     /**< for later versions: zero */
} sap_render_options;

/** What a picture took. */
typedef struct sap_render_info {
    int64_t rays;          /**< traced, shadows included */
    float hottest;         /**< heat: the most nodes that a pixel's rays looked at, on average; else 0 */
    double trace_seconds;  /**< spent on rays through the tree */
    double shade_seconds;  /**< spent on the rest: normals, cameras, surfaces, lights, pixels, and copies to a GPU */
    int64_t photons;       /**< kept in maps, of all passes */
    double photon_seconds; /**< spent on sending photons, building maps and looking photons up */
    int32_t passes;        /**< drawn */
    float error; /**< with until_error: the noise that is left, estimated from how passes differ: the root of the
                                mean square error of the colours of all pixels, per mean brightness; else 0 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_render_info;

/**
 * Gives a camera its place: looks along camera->at - camera->eye (both equal: from a third of the way round and a
 * little above), at camera->at (eye and at equal: the middle of the tree's box), from so far that the whole box is in a
 * picture of width x height pixels. Fills in up and fov where they are zero. A tree without triangles is looked at as
 * if it were a cube of side 1 around the origin.
 * Errors: SAP_ERROR_ARGUMENT (a NULL; a size below 1; a field that is not finite; fov outside 0 … 179).
 */
SAP_API sap_status sap_camera_frame(const sap_mesh_tree* tree, int32_t width, int32_t height, sap_camera* camera);
/** ::sap_camera_frame for a box from `lower` to `upper`; if lower[0] is above upper[0] it is empty. Errors: as there. */
SAP_API sap_status sap_camera_frame_box(const float lower[3], const float upper[3], int32_t width, int32_t height,
                                        sap_camera* camera);

/**
 * Draws a mesh: pixels[3*width*height] become red, green, blue in sRGB, rows from top to bottom.
 *
 * Paths are followed from the camera. A surface is lit by each light, whose shadows are those of whatever stands
 * between, glass included; by what one ray into its cosine lobe finds, the sky at last: so corners are darker; and by
 * what it mirrors or lets through. Materials (vertex colours take the place of Kd where a triangle has no material):
 * Kd scatters; Ks with illum below 3 is Phong's highlight of exponent Ns, with 3 and above also a mirror, with 5 one
 * that is stronger at grazing angles (Schlick 1994); 1 - d is clear glass of the index Ni, whose inside is where its
 * triangles are seen from behind; Ke shines: scattered rays find it, and those of next_event.
 *
 * Samples are those of a scrambled Sobol sequence, seeded by the pixel (Burley 2020). The same bits for any number of
 * threads, any instruction set, and on any device. O(samples * bounces * lights) rays a pixel. The call uses the device
 * of the scene's tree, with its log, memory, threads and progress; other calls on that device report no progress during
 * it. `info` may be NULL.
 *
 * The picture is made where the tree lies, in batches of paths that are traced, shaded and lit together; after each
 * bounce ::sap_compact closes the gaps of those that have ended. On a CPU device a batch is 64 x 64 pixels with up to
 * 16 samples each, more with many threads or few samples. On a CUDA device it is up to 4 million paths, of about 200
 * bytes each, or fewer where memory is short; the mesh, its materials and lights go there once a picture, everything
 * else stays there, and the pixels come back. Host code checks the scene and works out the normals of its vertices.
 * `pixels` and the arrays of the scene are host memory.
 *
 * A scene of instances is the same picture as one of all their triangles but for roundings: hits are found by rays that
 * are moved, corners by transforms of floats. So a few pixels in a thousand differ, most of them by a step or two of 255;
 * with few samples some by more. Its memory is that of the pieces, and some 280 bytes an instance.
 *
 * Errors: SAP_ERROR_ARGUMENT (a NULL, also scene->tree without instances; instances that are not those of the places; an
 * option out of range; numbers that are not finite in camera,
 * lights or background; a mesh of another size than the tree's), SAP_ERROR_RANGE (a triangle names a vertex or a
 * material that is not there; light_count; over 2^31-1 triangles of instances), SAP_ERROR_UNSUPPORTED (photons or heat
 * with instances), SAP_ERROR_NOT_FINITE (naming the first material with a number that is not
 * finite, used or not, but for an infinite absorption, or else the first vertex whose colour is not; materials without
 * material_ids are not looked at), SAP_ERROR_MEMORY, SAP_ERROR_CANCELLED, and those of ::sap_trace and ::sap_compact.
 */
SAP_API sap_status sap_render(const sap_scene* scene, const sap_render_options* options, uint8_t* pixels,
                              sap_render_info* info);
/** ::sap_render for light[3*width*height]: red, green, blue of the mean light of each pixel times the exposure, linear and
 *  unbounded; with `heat`, nodes in each. Errors: as there. */
SAP_API sap_status sap_render_light(const sap_scene* scene, const sap_render_options* options, float* light,
                                    sap_render_info* info);

#ifdef __cplusplus
}
#endif
#endif
