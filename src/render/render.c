// Pictures: what is asked is checked, tiles of pixels are traced bounce by bounce, light becomes pixels.
#include "render/picture.h"
#include "sapwood/stream.h"

#include <time.h>

enum { MOST_PIXELS = 65536, MOST_SAMPLES = 65536, MOST_BOUNCES = 64, MOST_LIGHTS = 65536 };

// ---- What is asked.

static sap_status bad(sap_device* device, const char* sentence) {
    return sap_fail(device, SAP_ERROR_ARGUMENT, "%s", sentence);
}

static sap_status check_options(sap_device* device, const sap_render_options* o) {
    if (o->width < 1 || o->width > MOST_PIXELS || o->height < 1 || o->height > MOST_PIXELS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.width and .height: %d x %d is not in 1…65536 each",
                        (int)o->width, (int)o->height);
    if (o->samples < 0 || o->samples > MOST_SAMPLES) return bad(device, "options.samples: not in 0…65536");
    if (o->bounces > MOST_BOUNCES) return bad(device, "options.bounces: more than 64");
    if (!isfinite(o->ambient)) return bad(device, "options.ambient: not finite");
    if (!(o->exposure >= 0 && isfinite(o->exposure))) return bad(device, "options.exposure: negative or not finite");
    if (!(o->hottest >= 0 && isfinite(o->hottest))) return bad(device, "options.hottest: negative or not finite");
    if (o->background && !sap_finite(sap_vector_of(o->background)))
        return bad(device, "options.background: not finite");
    return SAP_OK;
}

static sap_status check_file(sap_device* device, const sap_mesh_file* file, int64_t triangles) {
    const sap_mesh* mesh = &file->mesh;
    if (mesh->triangle_count != triangles)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.file: has %lld triangles, but the tree has %lld",
                        (long long)mesh->triangle_count, (long long)triangles);
    if (mesh->triangle_count && (!mesh->triangles || !mesh->vertices))
        return bad(device, "scene.file: triangles or vertices are NULL");
    if (file->material_ids && file->material_count && !file->materials)
        return bad(device, "scene.file: materials are NULL");
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.file: triangle %lld names vertex %d, which is not there",
                            (long long)(i / 3), (int)mesh->triangles[i]);
    for (int64_t i = 0; file->material_ids && i < mesh->triangle_count; i++)
        if (file->material_ids[i] < -1 || file->material_ids[i] >= file->material_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.file: triangle %lld names material %d, which is not there",
                            (long long)i, (int)file->material_ids[i]);
    return SAP_OK;
}

static sap_status check_scene(sap_device* device, const sap_scene* scene) {
    if (!scene->tree) return bad(device, "scene.tree: is NULL");
    if (!scene->file) return bad(device, "scene.file: is NULL");
    if (scene->light_count < 0 || scene->light_count > MOST_LIGHTS)
        return sap_fail(device, SAP_ERROR_RANGE, "scene.light_count: %d is not in 0…65536", (int)scene->light_count);
    if (scene->light_count && !scene->lights) return bad(device, "scene.lights: is NULL");
    return check_file(device, scene->file, scene->tree->shape.triangles);
}

static sap_status place_camera(sap_picture* picture, const sap_scene* scene) {
    sap_camera camera = scene->camera;
    const sap_render_options* o = &picture->options;
    bool placed = camera.eye[0] != camera.at[0] || camera.eye[1] != camera.at[1] || camera.eye[2] != camera.at[2];
    sap_camera framed = camera;
    if (sap_camera_frame(scene->tree, o->width, o->height, &framed) != SAP_OK)
        return bad(picture->device, "scene.camera: a number is not finite, or fov is not in 0…179");
    sap_lens_aim(placed ? &camera : &framed, o->width, o->height, &picture->view.lens);
    picture->view.sky_up = sap_camera_up(&camera);
    return SAP_OK;
}

static void fill_defaults(sap_render_options* o) {
    if (o->samples == 0) o->samples = 16;
    if (o->bounces == 0) o->bounces = 5;
    if (o->bounces < 0) o->bounces = 0;
    if (o->ambient == 0) o->ambient = 1;
    if (o->ambient < 0) o->ambient = 0;
    if (o->exposure == 0) o->exposure = 1;
}

// ---- One batch.

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Rays through the tree, which are counted and timed: first hits, whether there are any, or first hits and visits.
typedef enum rays_kind { RAYS_FIRST, RAYS_SHADOW, RAYS_VISITS } rays_kind;

static sap_status trace(sap_picture* picture, const sap_render_steps* steps, rays_kind kind) {
    const sap_batch* b = &picture->batch;
    const double start = seconds_now();
    sap_status status;
    switch (kind) {
    case RAYS_SHADOW: status = sap_occluded(picture->tree, b->shadows, b->live, b->dark); break;
    case RAYS_VISITS: status = sap_trace_visits(picture->tree, b->rays, b->live, b->hits, b->visits); break;
    default: status = sap_trace(picture->tree, b->rays, b->live, b->hits);
    }
    if (status == SAP_OK) status = steps->wait(picture);
    picture->trace_seconds += seconds_now() - start;
    picture->rays += b->live;
    return status;
}

// Adds the light of all lamps to the surfaces that paths have met.
static sap_status light_surfaces(sap_picture* picture, const sap_render_steps* steps, int32_t bounce) {
    sap_status status = SAP_OK;
    for (int32_t number = 0; number < picture->lamp_count && status == SAP_OK; number++) {
        // Purposes of paths are below 4 * 65, see sap_shade.
        status = steps->ask_lamp(picture, number, 1024 + (uint32_t)number * 128 + (uint32_t)bounce);
        if (status == SAP_OK) status = trace(picture, steps, RAYS_SHADOW);
        if (status == SAP_OK) status = steps->take_light(picture);
    }
    return status;
}

// Closes the gaps of paths that have ended.
static sap_status keep_live(sap_picture* picture) {
    sap_batch* b = &picture->batch;
    sap_device* device = picture->tree->device;
    int64_t kept = 0;
    sap_status status = sap_compact(device, b->paths, b->live, sizeof *b->paths, b->goes_on, b->paths, &kept);
    if (status == SAP_OK) status = sap_compact(device, b->rays, b->live, sizeof *b->rays, b->goes_on, b->rays, &kept);
    b->live = kept;
    return status;
}

static sap_status follow_paths(sap_picture* picture, const sap_render_steps* steps) {
    const int32_t bounces = picture->options.bounces;
    sap_status status = SAP_OK;
    for (int32_t bounce = 0; bounce <= bounces && picture->batch.live && status == SAP_OK; bounce++) {
        status = trace(picture, steps, RAYS_FIRST);
        if (status == SAP_OK) status = steps->shade(picture, bounce, bounce == bounces);
        if (status == SAP_OK) status = light_surfaces(picture, steps, bounce);
        if (status == SAP_OK && bounce < bounces) status = keep_live(picture);
    }
    return status;
}

static sap_status count_visits(sap_picture* picture, const sap_render_steps* steps) {
    sap_status status = trace(picture, steps, RAYS_VISITS);
    return status == SAP_OK ? steps->take_visits(picture) : status;
}

static sap_status draw_tile(sap_picture* picture, const sap_render_steps* steps) {
    sap_batch* b = &picture->batch;
    b->live = (int64_t)b->tile.width * b->tile.height * b->tile.samples;
    sap_status status = steps->send(picture);
    if (status == SAP_OK) status = picture->options.heat ? count_visits(picture, steps) : follow_paths(picture, steps);
    return status == SAP_OK ? steps->gather(picture) : status;
}

// ---- The picture.

static sap_status draw_tiles(sap_picture* picture, const sap_render_steps* steps) {
    const sap_render_options* o = &picture->options;
    const int32_t wide = picture->tile_width, high = picture->tile_height, pass = picture->pass;
    int64_t columns = (o->width + wide - 1) / wide, rows = (o->height + high - 1) / high;
    int64_t passes = (o->samples + pass - 1) / pass, all = columns * rows * passes, told = 0;
    for (int64_t i = 0; i < all; i++) {
        sap_tile* tile = &picture->batch.tile;
        tile->x = (int32_t)(i / passes % columns) * wide;
        tile->y = (int32_t)(i / passes / columns) * high;
        tile->width = sap_lesser(o->width - tile->x, wide);
        tile->height = sap_lesser(o->height - tile->y, high);
        tile->first = (int32_t)(i % passes) * pass;
        tile->samples = sap_lesser(o->samples - tile->first, pass);
        sap_status status = draw_tile(picture, steps);
        if (status != SAP_OK) return status;
        bool due = i + 1 == all || (i + 1 - told) * 200 >= all;
        if (due) told = i + 1;
        if (due && !sap_progress_tell(picture->device, (double)(i + 1) / (double)all))
            return sap_fail(picture->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
    return SAP_OK;
}

static sap_status draw(sap_picture* picture, uint8_t* pixels, float* most) {
    const sap_render_steps* steps = picture->tree->device->table->render;
    sap_status status = steps->begin(picture);
    if (status == SAP_OK) {
        sap_progress_mute(picture->device, true);
        status = draw_tiles(picture, steps);
        sap_progress_mute(picture->device, false);
    }
    if (status == SAP_OK)
        status = picture->options.heat ? steps->develop_heat(picture, pixels, most) : steps->develop(picture, pixels);
    sap_status ended = steps->end(picture);
    return status == SAP_OK ? ended : status;
}

static void fill_view(sap_picture* picture) {
    const sap_render_options* o = &picture->options;
    const sap_mesh_file* file = picture->file;
    sap_view* view = &picture->view;
    view->width = o->width;
    view->height = o->height;
    view->samples = o->samples;
    view->ambient = o->ambient;
    view->exposure = o->exposure;
    view->heat = o->heat;
    view->has_background = o->background != NULL;
    if (o->background) view->background = sap_vector_of(o->background);
    view->vertices = file->mesh.vertices;
    view->triangles = file->mesh.triangles;
    view->colors = file->colors;
    view->material_ids = file->material_ids;
    view->materials = file->material_ids ? file->materials : NULL;
    view->lamps = picture->lamps;
}

// Lamps and normals live as long as the call.
static sap_status prepare_and_draw(sap_picture* picture, const sap_scene* scene, uint8_t* pixels, float* most) {
    sap_device* device = picture->device;
    const sap_mesh* mesh = &scene->file->mesh;
    picture->lamp_count = scene->lights ? scene->light_count : 1;
    bool smooth = !picture->options.flat && !picture->options.heat;
    sap_scratch lamps = {0}, normals = {0};
    sap_status status = SAP_ERROR_MEMORY;
    if (sap_scratch_take(device, ((size_t)picture->lamp_count + 1) * sizeof(sap_lamp), &lamps) &&
        (!smooth || sap_scratch_take(device, (size_t)mesh->vertex_count * 3 * sizeof(float) + 1, &normals))) {
        picture->lamps = (sap_lamp*)(void*)lamps.memory;
        status = sap_lamps_prepare(picture, scene);
        if (status == SAP_OK && smooth) {
            float* filled = (float*)(void*)normals.memory;
            sap_normals_fill(mesh, picture->threads, filled);
            picture->view.normals = filled;
        }
        fill_view(picture);
        if (status == SAP_OK) status = draw(picture, pixels, most);
    } else {
        sap_fail(device, status, "no memory for the normals of %lld vertices", (long long)mesh->vertex_count);
    }
    sap_scratch_give(device, &normals);
    sap_scratch_give(device, &lamps);
    return status;
}

sap_status sap_render(sap_device* device, const sap_scene* scene, const sap_render_options* options, uint8_t* pixels,
                      sap_render_info* info) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!scene || !options || !pixels)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", !scene ? "scene" : !options ? "options" : "pixels");
    const double start = seconds_now();
    float most = 0;
    sap_status status = check_options(device, options);
    if (status == SAP_OK) status = check_scene(device, scene);
    if (status != SAP_OK) return status;
    sap_picture picture = {.device = device,
                           .tree = scene->tree,
                           .file = scene->file,
                           .options = *options,
                           .threads = device->options.threads};
    fill_defaults(&picture.options);
    sap_box_around(&scene->tree->shape, &picture.middle, &picture.radius);
    status = place_camera(&picture, scene);
    if (status == SAP_OK) status = prepare_and_draw(&picture, scene, pixels, &most);
    if (status == SAP_OK && info)
        *info =
            (sap_render_info){picture.rays, most, picture.trace_seconds, seconds_now() - start - picture.trace_seconds};
    return status;
}
