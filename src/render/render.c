// Pictures: what is asked is checked, tiles of pixels are traced bounce by bounce, light becomes pixels.
#include "base/memory.h"
#include "device/device.h"
#include "render/picture.h"

#include <string.h>

enum { MOST_PIXELS = 65536, MOST_SAMPLES = 65536, MOST_BOUNCES = 64, MOST_LIGHTS = 65536 };

// No single sample may outshine its pixel for good.
static const float brightest = 32;

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

static sap_status check_file(sap_device* device, const sap_mesh_file* file, const sap_mesh_tree_info* info) {
    const sap_mesh* mesh = &file->mesh;
    if (mesh->triangle_count != info->triangles)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.file: has %lld triangles, but the tree has %lld",
                        (long long)mesh->triangle_count, (long long)info->triangles);
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

static sap_status check_scene(sap_device* device, const sap_scene* scene, sap_mesh_tree_info* info) {
    if (!scene->tree) return bad(device, "scene.tree: is NULL");
    if (!scene->file) return bad(device, "scene.file: is NULL");
    if (scene->light_count < 0 || scene->light_count > MOST_LIGHTS)
        return sap_fail(device, SAP_ERROR_RANGE, "scene.light_count: %d is not in 0…65536", (int)scene->light_count);
    if (scene->light_count && !scene->lights) return bad(device, "scene.lights: is NULL");
    sap_status status = sap_mesh_tree_describe(scene->tree, info);
    return status == SAP_OK ? check_file(device, scene->file, info) : status;
}

static sap_status place_camera(sap_picture* picture, const sap_scene* scene) {
    sap_camera camera = scene->camera;
    const sap_render_options* o = &picture->options;
    bool placed = camera.eye[0] != camera.at[0] || camera.eye[1] != camera.at[1] || camera.eye[2] != camera.at[2];
    sap_camera framed = camera;
    if (sap_camera_frame(scene->tree, o->width, o->height, &framed) != SAP_OK)
        return bad(picture->device, "scene.camera: a number is not finite, or fov is not in 0…179");
    sap_lens_aim(placed ? &camera : &framed, o->width, o->height, &picture->lens);
    picture->sky_up = sap_camera_up(&camera);
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

// ---- Memory of a batch.

// Where the arrays of a batch lie in its block of scratch memory; with memory NULL, only how many bytes it takes.
static size_t lay_out(sap_batch* b, unsigned char* memory) {
    size_t room = (size_t)b->room, at = 0;
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {{(void**)&b->paths, sizeof *b->paths},     {(void**)&b->rays, sizeof *b->rays},
                  {(void**)&b->hits, sizeof *b->hits},       {(void**)&b->surfaces, sizeof *b->surfaces},
                  {(void**)&b->shadows, sizeof *b->shadows}, {(void**)&b->lit, sizeof *b->lit},
                  {(void**)&b->dark, sizeof *b->dark},       {(void**)&b->visits, sizeof *b->visits},
                  {(void**)&b->found, sizeof *b->found}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void* start = memory ? memory + at : NULL;
        memcpy(arrays[i].array, &start, sizeof start);
        at += sap_align(room * arrays[i].bytes);
    }
    return at;
}

// ---- One batch.

static int32_t batch_pixels(const sap_batch* b) { return b->width * b->height; }

// One path from the camera for each sample of each pixel of the tile.
static void send_paths(const sap_picture* picture, sap_batch* b) {
    const sap_render_options* o = &picture->options;
    const sap_lens* lens = &picture->lens;
    b->live = (int64_t)batch_pixels(b) * b->samples;
#pragma omp parallel for schedule(static) num_threads(picture->threads)
    for (int64_t i = 0; i < b->live; i++) {
        int32_t pixel = (int32_t)(i / b->samples), x = b->x + pixel % b->width, y = b->y + pixel / b->width;
        uint32_t seed = sap_hash((uint32_t)x ^ sap_hash((uint32_t)y));
        uint32_t sample = (uint32_t)(b->first + (int32_t)(i % b->samples));
        sap_pair at = sap_sample(seed, sample, 0);
        double across = 2 * ((double)x + (double)at.x) / o->width - 1;
        double up = 1 - 2 * ((double)y + (double)at.y) / o->height;
        sap_vector d = sap_plus(sap_times(lens->right, (float)across), sap_times(lens->up, (float)up));
        d = sap_plus(d, lens->forward);
        b->paths[i] = (sap_path){.weight = {1, 1, 1}, .slot = (int32_t)i, .pixel = seed, .sample = sample};
        b->rays[i] = (sap_ray){{lens->eye.x, lens->eye.y, lens->eye.z}, 0, {d.x, d.y, d.z}, INFINITY};
        b->found[i] = (sap_vector){0, 0, 0};
    }
}

// Closes the gaps of paths that have ended.
static void keep_live(sap_batch* b) {
    int64_t kept = 0;
    for (int64_t i = 0; i < b->live; i++) {
        if (b->rays[i].t_max < 0) continue;
        if (kept < i) {
            b->rays[kept] = b->rays[i];
            b->paths[kept] = b->paths[i];
        }
        kept++;
    }
    b->live = kept;
}

static sap_status follow_paths(sap_picture* picture, sap_batch* b) {
    for (int32_t bounce = 0; bounce <= picture->options.bounces && b->live; bounce++) {
        sap_status status = sap_trace(picture->tree, b->rays, b->live, b->hits);
        if (status != SAP_OK) return status;
        picture->rays += b->live;
        sap_shade(picture, b, bounce, bounce == picture->options.bounces);
        status = sap_light_surfaces(picture, b, bounce);
        if (status != SAP_OK) return status;
        keep_live(b);
    }
    return SAP_OK;
}

static sap_status count_visits(sap_picture* picture, sap_batch* b) {
    sap_status status = sap_trace_visits(picture->tree, b->rays, b->live, b->hits, b->visits);
    picture->rays += b->live;
    for (int64_t i = 0; i < b->live && status == SAP_OK; i++) b->found[i].x = (float)b->visits[i];
    return status;
}

// Adds the batch's samples to the light of its pixels, in their order.
static void gather(const sap_picture* picture, const sap_batch* b, float* light) {
    bool heat = picture->options.heat;
#pragma omp parallel for schedule(static) num_threads(picture->threads)
    for (int32_t pixel = 0; pixel < batch_pixels(b); pixel++) {
        int64_t at = (int64_t)(b->y + pixel / b->width) * picture->options.width + b->x + pixel % b->width;
        for (int32_t s = 0; s < b->samples; s++) {
            const sap_vector* found = &b->found[(int64_t)pixel * b->samples + s];
            float parts[3] = {found->x, found->y, found->z};
            for (int a = 0; a < 3; a++) {
                if (!heat && parts[a] > brightest) parts[a] = brightest;
                if (parts[a] > 0) light[3 * at + a] += parts[a];
            }
        }
    }
}

// ---- The picture.

static sap_status trace_picture(sap_picture* picture, sap_batch* b, float* light) {
    const sap_render_options* o = &picture->options;
    int64_t columns = (o->width + SAP_TILE - 1) / SAP_TILE, rows = (o->height + SAP_TILE - 1) / SAP_TILE;
    int64_t passes = (o->samples + SAP_PASS - 1) / SAP_PASS, all = columns * rows * passes, told = 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t tile = i / passes;
        b->x = (int32_t)(tile % columns) * SAP_TILE;
        b->y = (int32_t)(tile / columns) * SAP_TILE;
        b->width = o->width - b->x < SAP_TILE ? o->width - b->x : SAP_TILE;
        b->height = o->height - b->y < SAP_TILE ? o->height - b->y : SAP_TILE;
        b->first = (int32_t)(i % passes) * SAP_PASS;
        b->samples = o->samples - b->first < SAP_PASS ? o->samples - b->first : SAP_PASS;
        send_paths(picture, b);
        sap_status status = o->heat ? count_visits(picture, b) : follow_paths(picture, b);
        if (status != SAP_OK) return status;
        gather(picture, b, light);
        bool due = i + 1 == all || (i + 1 - told) * 200 >= all;
        if (due) told = i + 1;
        if (due && !sap_progress_tell(picture->device, (double)(i + 1) / (double)all))
            return sap_fail(picture->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
    return SAP_OK;
}

static sap_status draw(sap_picture* picture, uint8_t* pixels, sap_render_info* info) {
    const sap_render_options* o = &picture->options;
    sap_device* device = picture->device;
    sap_batch batch = {0};
    int32_t pass = o->samples < SAP_PASS ? o->samples : SAP_PASS;
    batch.room =
        (int64_t)(o->width < SAP_TILE ? o->width : SAP_TILE) * (o->height < SAP_TILE ? o->height : SAP_TILE) * pass;
    size_t light_bytes = (size_t)o->width * (size_t)o->height * 3 * sizeof(float);
    sap_scratch scratch = {0}, sums = {0};
    sap_status status = SAP_ERROR_MEMORY;
    if (sap_scratch_take(device, lay_out(&batch, NULL), &scratch) && sap_scratch_take(device, light_bytes, &sums)) {
        float* light = (float*)(void*)sums.memory;
        memset(light, 0, light_bytes);
        lay_out(&batch, scratch.memory);
        sap_progress_mute(device, true);
        status = trace_picture(picture, &batch, light);
        sap_progress_mute(device, false);
        float most = 0;
        if (status == SAP_OK && o->heat) most = sap_develop_heat(picture, light, pixels);
        if (status == SAP_OK && !o->heat) sap_develop(picture, light, pixels);
        if (status == SAP_OK && info) *info = (sap_render_info){picture->rays, most};
    } else {
        sap_fail(device, status, "no memory for a picture of %d x %d pixels", (int)o->width, (int)o->height);
    }
    sap_scratch_give(device, &sums);
    sap_scratch_give(device, &scratch);
    return status;
}

// Lamps and normals, which live as long as the call.
static sap_status prepare_and_draw(sap_picture* picture, const sap_scene* scene, uint8_t* pixels,
                                   sap_render_info* info) {
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
            picture->normals = (float*)(void*)normals.memory;
            sap_normals_fill(mesh, picture->normals);
        }
        if (status == SAP_OK) status = draw(picture, pixels, info);
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
    sap_mesh_tree_info tree;
    sap_device_info machine;
    sap_status status = check_options(device, options);
    if (status == SAP_OK) status = check_scene(device, scene, &tree);
    if (status == SAP_OK) status = sap_device_describe(device, &machine);
    if (status != SAP_OK) return status;
    sap_picture picture = {
        .device = device, .tree = scene->tree, .file = scene->file, .options = *options, .threads = machine.threads};
    fill_defaults(&picture.options);
    sap_box_around(&tree, &picture.middle, &picture.radius);
    status = place_camera(&picture, scene);
    return status == SAP_OK ? prepare_and_draw(&picture, scene, pixels, info) : status;
}
