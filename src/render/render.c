// Pictures: the paths of a tile of pixels are traced bounce by bounce, and their light becomes the pixels' colours.
#include "base/assert.h"
#include "instance/layout.h"
#include "render/photons/swarm.h"
#include "render/picture.h"
#include "render/pixel.h"
#include "sapwood/stream.h"

// ---- One wavefront.

// Rays that are traced, counted and timed: for first hits, for any hit, or for first hits and visited nodes.
typedef enum rays_kind { RAYS_FIRST, RAYS_SHADOW, RAYS_VISITS } rays_kind;

static sap_status trace(sap_picture* picture, const sap_render_ops* steps, rays_kind kind) {
    const sap_wavefront* w = &picture->wavefront;
    const double start = sap_seconds_now();
    sap_status status;
    SAP_ASSERT(w->live > 0 && w->live <= w->room);
    switch (kind) {
    case RAYS_SHADOW:
        status = picture->instances ? sap_instance_occluded(picture->instances, w->shadows, w->live, w->dark)
                                    : sap_occluded(picture->tree, w->shadows, w->live, w->dark);
        break;
    case RAYS_VISITS: status = sap_trace_visits(picture->tree, w->rays, w->live, w->hits, w->visits); break;
    default:
        status = picture->instances ? sap_instance_trace_numbered(picture->instances, w->rays, w->live, w->hits)
                                    : sap_trace(picture->tree, w->rays, w->live, w->hits);
    }
    if (status == SAP_OK) status = steps->wait(picture);
    picture->trace_seconds += sap_seconds_now() - start;
    picture->rays += w->live;
    return status;
}

// Adds the light of all lamps, and of a face that shines, at the surfaces that paths have hit.
static sap_status light_surfaces(sap_picture* picture, const sap_render_ops* steps, int32_t bounce) {
    const int32_t lamps = picture->lamp_count;
    sap_status status = SAP_OK;
    for (int32_t number = 0; number < lamps + (picture->scene.shiner_count > 0) && status == SAP_OK; number++) {
        // Purposes differ from those of sap_shade and of other lamps.
        SAP_ASSERT(4 * bounce + 2 < 1024 && bounce < SAP_BOUNCES_MOST);
        const uint32_t purpose = 1024 + (uint32_t)number * SAP_BOUNCES_MOST + (uint32_t)bounce;
        status = number < lamps ? steps->sample_lamp(picture, number, purpose) : steps->sample_shiner(picture, purpose);
        if (status == SAP_OK) status = trace(picture, steps, RAYS_SHADOW);
        if (status == SAP_OK) status = steps->add_light(picture);
    }
    return status;
}

static sap_status look_up_photons(sap_picture* picture, const sap_render_ops* steps) {
    const double start = sap_seconds_now();
    sap_status status = steps->photons->add_light(picture);
    picture->photon_seconds += sap_seconds_now() - start;
    return status;
}

// Removes the paths that have ended.
static sap_status keep_live(sap_picture* picture) {
    sap_wavefront* w = &picture->wavefront;
    sap_device* device = picture->device;
    int64_t kept = 0, kept_rays = 0;
    sap_status status = sap_compact(device, w->paths, w->live, sizeof *w->paths, w->goes_on, w->paths, &kept);
    if (status == SAP_OK)
        status = sap_compact(device, w->rays, w->live, sizeof *w->rays, w->goes_on, w->rays, &kept_rays);
    SAP_ASSERT(status != SAP_OK || (kept <= w->live && kept_rays == kept));
    w->live = kept;
    return status;
}

static sap_status follow_paths(sap_picture* picture, const sap_render_ops* steps) {
    const int32_t bounces = picture->options.bounces;
    sap_status status = SAP_OK;
    for (int32_t bounce = 0; bounce <= bounces && picture->wavefront.live && status == SAP_OK; bounce++) {
        status = trace(picture, steps, RAYS_FIRST);
        if (status == SAP_OK) status = steps->shade(picture, bounce, bounce == bounces);
        if (status == SAP_OK) status = light_surfaces(picture, steps, bounce);
        if (status == SAP_OK && picture->options.photons) status = look_up_photons(picture, steps);
        if (status == SAP_OK && bounce < bounces) status = keep_live(picture);
    }
    return status;
}

static sap_status count_visits(sap_picture* picture, const sap_render_ops* steps) {
    sap_status status = trace(picture, steps, RAYS_VISITS);
    return status == SAP_OK ? steps->add_visits(picture) : status;
}

static sap_status draw_tile(sap_picture* picture, const sap_render_ops* steps) {
    sap_wavefront* w = &picture->wavefront;
    w->live = (int64_t)w->tile.width * w->tile.height * w->tile.samples;
    sap_status status = steps->begin_paths(picture);
    if (status == SAP_OK) status = picture->options.heat ? count_visits(picture, steps) : follow_paths(picture, steps);
    return status == SAP_OK ? steps->sum_pixels(picture) : status;
}

// ---- The picture.

sap_status sap_picture_draw_tiles(sap_picture* picture, const sap_render_ops* steps, int32_t pass) {
    const sap_render_options* o = &picture->options;
    const int32_t wide = picture->tile_width, high = picture->tile_height, most = picture->pass;
    int64_t columns = (o->width + wide - 1) / wide, rows = (o->height + high - 1) / high;
    int64_t turns = (o->samples + most - 1) / most, all = columns * rows * turns, told = 0;
    for (int64_t i = 0; i < all; i++) {
        sap_tile* tile = &picture->wavefront.tile;
        tile->x = (int32_t)(i / turns % columns) * wide;
        tile->y = (int32_t)(i / turns / columns) * high;
        tile->width = sap_lesser(o->width - tile->x, wide);
        tile->height = sap_lesser(o->height - tile->y, high);
        const int32_t first = (int32_t)(i % turns) * most;
        tile->first = pass * o->samples + first;
        tile->samples = sap_lesser(o->samples - first, most);
        SAP_ASSERT(tile->width > 0 && tile->height > 0 && tile->samples > 0);
        sap_status status = draw_tile(picture, steps);
        if (status != SAP_OK) return status;
        bool due = i + 1 == all || (i + 1 - told) * 200 >= all;
        if (due) told = i + 1;
        if (due && !sap_progress_tell(picture->device, sap_picture_done(picture, pass, (double)(i + 1) / (double)all)))
            return sap_fail(picture->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
    return SAP_OK;
}

// Where a picture goes: one of both.
typedef struct canvas {
    uint8_t* pixels;
    float* light;
    float most; // heat
} canvas;

static sap_status finish(sap_picture* picture, const sap_render_ops* steps, canvas* to) {
    if (to->pixels)
        return picture->options.heat ? steps->develop_heat(picture, to->pixels, &to->most)
                                     : steps->develop(picture, to->pixels);
    const int64_t count = (int64_t)picture->scene.width * picture->scene.height * 3;
    const float factor = sap_pixel_factor(&picture->scene);
    sap_status status = steps->fetch(picture, to->light);
    for (int64_t i = 0; i < count && status == SAP_OK; i++) to->light[i] *= factor;
    return status;
}

static sap_status draw(sap_picture* picture, canvas* to) {
    const sap_render_ops* steps = picture->device->rooms.render;
    if (picture->options.photons && !sap_photons_can(picture->device))
        return sap_unsupported(picture->device, "use photons");
    sap_status status = steps->begin(picture);
    if (status == SAP_OK) status = sap_picture_draw_passes(picture, steps);
    if (status == SAP_OK) status = finish(picture, steps, to);
    sap_status ended = steps->end(picture);
    return status == SAP_OK ? ended : status;
}

// Lamps and normals live as long as the call.
static sap_status prepare_and_draw(sap_picture* picture, const sap_scene* scene, canvas* to) {
    sap_scratch memory[SAP_FILLED_ALL] = {{0}};
    sap_status status = sap_picture_fill(picture, scene, picture->options.photons != NULL, memory);
    if (status == SAP_OK) status = draw(picture, to);
    sap_picture_empty(picture, memory);
    return status;
}

// `device` is that of the scene's trees.
static sap_status render(sap_device* device, const sap_scene* scene, const sap_render_options* options, canvas* to,
                         sap_render_info* info) {
    if (!SAP_CAN(device, render, begin)) return sap_unsupported(device, "draw pictures");
    if (!options || (!to->pixels && !to->light))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", options ? "pixels" : "options");
    const double start = sap_seconds_now();
    sap_picture picture;
    sap_status status = sap_picture_prepare(&picture, device, scene, options);
    if (status == SAP_OK)
        status = sap_mesh_file_check(
            device, scene->file, scene->instances ? scene->file->mesh.triangle_count : scene->tree->shape.triangles);
    if (status == SAP_OK) status = prepare_and_draw(&picture, scene, to);
    if (status == SAP_OK && info)
        *info = (sap_render_info){.rays = picture.rays,
                                  .hottest = to->most,
                                  .trace_seconds = picture.trace_seconds,
                                  .passes = picture.drawn,
                                  .error = picture.error,
                                  .photons = picture.photons,
                                  .photon_seconds = picture.photon_seconds,
                                  .shade_seconds =
                                      sap_seconds_now() - start - picture.trace_seconds - picture.photon_seconds};
    return status;
}

// Of the tree, or of the tree over instances; NULL: there is neither.
static sap_device* device_of(const sap_scene* scene) {
    if (!scene) return NULL;
    return scene->instances ? scene->instances->device : scene->tree ? scene->tree->device : NULL;
}

sap_status sap_render(const sap_scene* scene, const sap_render_options* options, uint8_t* pixels,
                      sap_render_info* info) {
    sap_device* device = device_of(scene);
    return device ? render(device, scene, options, &(canvas){.pixels = pixels}, info) : SAP_ERROR_ARGUMENT;
}

sap_status sap_render_light(const sap_scene* scene, const sap_render_options* options, float* light,
                            sap_render_info* info) {
    sap_device* device = device_of(scene);
    return device ? render(device, scene, options, &(canvas){.light = light}, info) : SAP_ERROR_ARGUMENT;
}
