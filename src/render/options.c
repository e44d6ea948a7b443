// Options of pictures: checked, and their defaults filled in.
#include "base/assert.h"
#include "device/reserved.h"
#include "render/picture.h"

enum { SAMPLES = 16, MOST_PIXELS = 65536, MOST_SAMPLES = 65536, MOST_BOUNCES = 64, MOST_LIGHTS = 65536 };

static sap_status bad(const sap_device* device, const char* sentence) {
    return sap_fail(device, SAP_ERROR_ARGUMENT, "%s", sentence);
}

static sap_status check_options(const sap_device* device, const sap_render_options* o) {
    if (o->width < 1 || o->width > MOST_PIXELS || o->height < 1 || o->height > MOST_PIXELS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.width and .height: %d x %d is not in 1…65536 each",
                        (int)o->width, (int)o->height);
    if (o->samples < 0 || o->samples > MOST_SAMPLES) return bad(device, "options.samples: not in 0…65536");
    if (o->passes < 0) return bad(device, "options.passes: negative");
    if ((int64_t)o->passes * (o->samples ? o->samples : SAMPLES) > MOST_SAMPLES)
        return bad(device, "options.passes: more than 65536 samples in all");
    if (!(o->until_error >= 0)) return bad(device, "options.until_error: negative or NaN");
    if (o->until_error > 0 && (o->passes == 1 || o->samples > MOST_SAMPLES / 2))
        return bad(device, "options.until_error: needs two passes");
    if (o->until_error > 0 && o->heat) return bad(device, "options.until_error: heat has no noise to measure");
    if ((int)o->tone < 0 || o->tone > SAP_TONE_FILMIC) return bad(device, "options.tone: unknown");
    if (o->bounces > MOST_BOUNCES) return bad(device, "options.bounces: more than 64");
    if (!isfinite(o->ambient)) return bad(device, "options.ambient: not finite");
    if (!(o->exposure >= 0 && isfinite(o->exposure))) return bad(device, "options.exposure: negative or not finite");
    if (!(o->hottest >= 0 && isfinite(o->hottest))) return bad(device, "options.hottest: negative or not finite");
    if (o->background && !sap_finite(sap_vector_of(o->background)))
        return bad(device, "options.background: not finite");
    return sap_reserved_check(device, o->reserved, "options");
}

// All but absorption, which may be infinite: black.
static bool is_finite_material(const sap_material* m) {
    return sap_finite(sap_vector_of(m->diffuse)) && sap_finite(sap_vector_of(m->specular)) &&
           sap_finite(sap_vector_of(m->emission)) && isfinite(m->shininess) && isfinite(m->opacity) &&
           isfinite(m->refraction) && !isnan(m->absorption[0]) && !isnan(m->absorption[1]) && !isnan(m->absorption[2]);
}

// What paths and photons would carry from one surface to all others.
static sap_status check_surfaces(const sap_device* device, const sap_mesh_file* file) {
    for (int32_t i = 0; file->material_ids && i < file->material_count; i++)
        if (!is_finite_material(&file->materials[i]))
            return sap_fail(device, SAP_ERROR_NOT_FINITE,
                            "scene.file: material %d (%s) has a number that is not finite", (int)i,
                            file->materials[i].name ? file->materials[i].name : "no name");
    for (int64_t i = 0; file->colors && i < file->mesh.vertex_count; i++)
        if (!sap_finite(sap_vector_of(file->colors + 3 * i)))
            return sap_fail(device, SAP_ERROR_NOT_FINITE, "scene.file: the colour of vertex %lld is not finite",
                            (long long)i);
    return SAP_OK;
}

sap_status sap_mesh_file_check(const sap_device* device, const sap_mesh_file* file, int64_t triangles) {
    if (!file) return bad(device, "scene.file: is NULL");
    const sap_mesh* mesh = &file->mesh;
    if (mesh->triangle_count != triangles)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.file: has %lld triangles, but the tree has %lld",
                        (long long)mesh->triangle_count, (long long)triangles);
    if (mesh->triangle_count && (!mesh->triangles || !mesh->vertices))
        return bad(device, "scene.file: triangles or vertices are NULL");
    if (file->material_ids && file->material_count && !file->materials)
        return bad(device, "scene.file: materials are NULL");
    sap_status status = sap_reserved_check(device, file->reserved, "scene.file");
    if (status != SAP_OK) return status;
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.file: triangle %lld names vertex %d, which is not there",
                            (long long)(i / 3), (int)mesh->triangles[i]);
    for (int64_t i = 0; file->material_ids && i < mesh->triangle_count; i++)
        if (file->material_ids[i] < -1 || file->material_ids[i] >= file->material_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.file: triangle %lld names material %d, which is not there",
                            (long long)i, (int)file->material_ids[i]);
    return check_surfaces(device, file);
}

static sap_status check_scene(const sap_device* device, const sap_scene* scene) {
    if (scene->light_count < 0 || scene->light_count > MOST_LIGHTS)
        return sap_fail(device, SAP_ERROR_RANGE, "scene.light_count: %d is not in 0…65536", (int)scene->light_count);
    if (scene->light_count && !scene->lights) return bad(device, "scene.lights: is NULL");
    return sap_reserved_check(device, scene->reserved, "scene");
}

// The box of all that rays may hit, and how many triangles that is.
static void find_box(sap_picture* picture, const sap_scene* scene, float lower[3], float upper[3]) {
    if (scene->instances) {
        sap_instances_box(picture, scene, lower, upper);
        return;
    }
    picture->triangles = scene->tree->shape.triangles;
    memcpy(lower, scene->tree->shape.lower, sizeof scene->tree->shape.lower);
    memcpy(upper, scene->tree->shape.upper, sizeof scene->tree->shape.upper);
}

static sap_status place_camera(sap_picture* picture, const sap_scene* scene, const float lower[3],
                               const float upper[3]) {
    sap_camera camera = scene->camera;
    const sap_render_options* o = &picture->options;
    bool placed = camera.eye[0] != camera.at[0] || camera.eye[1] != camera.at[1] || camera.eye[2] != camera.at[2];
    sap_camera framed = camera;
    if (sap_camera_frame_box(lower, upper, o->width, o->height, &framed) != SAP_OK)
        return bad(picture->device, "scene.camera: a number is not finite, or fov is not in 0…179");
    sap_lens_aim(placed ? &camera : &framed, o->width, o->height, &picture->scene.lens);
    picture->scene.sky_up = sap_camera_up(&camera);
    return SAP_OK;
}

static int32_t most_passes(const sap_render_options* o) {
    if (!(o->until_error > 0)) return 1;
    int64_t most = MOST_SAMPLES / o->samples, photons = 1;
    if (o->photons) photons = o->photons->caustics > o->photons->count ? o->photons->caustics : o->photons->count;
    if (photons > 0 && most > INT32_MAX / photons) most = INT32_MAX / photons;
    return most > 2 ? (int32_t)most : 2;
}

static void fill_defaults(sap_render_options* o) {
    if (o->samples == 0) o->samples = SAMPLES;
    if (o->passes == 0) o->passes = most_passes(o);
    if (o->bounces == 0) o->bounces = 5;
    if (o->bounces < 0) o->bounces = 0;
    if (o->ambient == 0) o->ambient = 1;
    if (o->ambient < 0) o->ambient = 0;
    if (o->exposure == 0) o->exposure = 1;
}

sap_status sap_picture_prepare(sap_picture* picture, sap_device* device, const sap_scene* scene,
                               const sap_render_options* options) {
    sap_status status = check_options(device, options);
    if (status == SAP_OK) status = check_scene(device, scene);
    if (status == SAP_OK && scene->instances) status = sap_instances_check(device, scene, options);
    if (status != SAP_OK) return status;
    *picture = (sap_picture){.device = device,
                             .tree = scene->tree,
                             .instances = scene->instances,
                             .file = scene->file,
                             .options = *options,
                             .threads = device->options.threads};
    fill_defaults(&picture->options);
    status = sap_lighting_prepare(picture);
    if (status != SAP_OK) return status;
    SAP_ASSERT(picture->options.samples > 0 && picture->options.bounces >= 0 && picture->threads > 0);
    float lower[3], upper[3];
    find_box(picture, scene, lower, upper);
    sap_box_around(lower, upper, &picture->middle, &picture->radius);
    return place_camera(picture, scene, lower, upper);
}
