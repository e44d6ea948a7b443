// The public face of glTF: a mesh for sap_mesh_parse, and scenes that move.
#include "base/assert.h"
#include "device/device.h"
#include "files/gltf/model.h"
#include <string.h>

typedef struct owned_animation {
    sap_animation animation;
    sap_device* device;
    sap_gltf_model model;
    sap_clip* clips;
} owned_animation;

// Of JSON.
static bool is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool sap_gltf_begins(const sap_source* source) {
    const sap_lines lines = sap_text_begin(source); // behind a byte order mark
    size_t at = lines.offset;
    if (sap_source_begins(source, "glTF")) return true;
    while (at < source->size && is_space((unsigned char)source->bytes[at])) at++;
    return at < source->size && source->bytes[at] == '{';
}

// Vertices at rest, where the draft wants them to be relative to.
static sap_status place_vertices(sap_gltf_model* model, sap_mesh_draft* draft) {
    double* moved = draft->measures ? &draft->moved : NULL;
    memcpy(model->origin, draft->origin, sizeof model->origin);
    draft->vertex_count = model->vertex_count;
    float* vertices =
        sap_array_add(model->device, &draft->vertices, (size_t)model->vertex_count * 3 * sizeof *vertices);
    if (!vertices) return sap_draft_no_memory(draft);
    return sap_gltf_pose(model, -1, 0, vertices, moved);
}

sap_status sap_read_gltf(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    sap_gltf_document document;
    sap_gltf_model model = {.device = source->device, .shares = job->model && job->model->shares};
    sap_status status = sap_gltf_open(source, job->path, &document);
    if (status == SAP_OK) status = sap_gltf_model_read(&document, &model, draft);
    sap_gltf_close(&document);
    if (status == SAP_OK) status = place_vertices(&model, draft);
    if (status == SAP_OK && job->model && !draft->measures) {
        const sap_gltf_model before = *job->model; // of the same file without its origin
        *job->model = model;
        model = before;
    }
    sap_gltf_model_free(&model);
    return status;
}

// ---- Scenes that move.

static sap_status name_clips(owned_animation* owned) {
    const sap_gltf_clip* clips = owned->model.clips.memory;
    const size_t count = owned->model.clips.used / sizeof *clips;
    owned->clips = sap_memory_allocate(owned->device, count * sizeof *owned->clips);
    if (!owned->clips) return sap_fail(owned->device, SAP_ERROR_MEMORY, "no memory for %zu animations", count);
    for (size_t i = 0; i < count; i++)
        owned->clips[i] = (sap_clip){(const char*)owned->model.names.memory + clips[i].name, clips[i].seconds};
    owned->animation.clips = owned->clips;
    owned->animation.clip_count = (int32_t)count;
    return SAP_OK;
}

static sap_status read_animation(sap_source* source, const char* path, const sap_mesh_read_options* options,
                                 sap_animation** animation) {
    sap_device* device = (sap_device*)(uintptr_t)source->device;
    sap_mesh_file* file = NULL;
    owned_animation* owned = sap_memory_allocate_zero(device, sizeof *owned);
    if (!owned) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for an animation");
    owned->device = device;
    owned->model.device = device;
    const sap_mesh_job job = {.format = SAP_FORMAT_GLTF, .options = options, .path = path, .model = &owned->model};
    sap_status status = sap_mesh_source_parse(source, &job, &file);
    owned->animation.file = file;
    if (status == SAP_OK) status = name_clips(owned);
    if (status == SAP_OK)
        *animation = &owned->animation;
    else
        sap_animation_free(&owned->animation);
    return status;
}

sap_status sap_animation_parse(sap_device* device, const void* bytes, size_t size, const sap_mesh_read_options* options,
                               sap_animation** animation) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL, but size is %zu", size);
    if (!animation) return sap_fail(device, SAP_ERROR_ARGUMENT, "animation: is NULL");
    sap_source source = {.device = device, .bytes = bytes, .size = size, .real_bits = 32};
    return read_animation(&source, NULL, options, animation);
}

sap_status sap_animation_read(sap_device* device, const char* path, const sap_mesh_read_options* options,
                              sap_animation** animation) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    if (!animation) return sap_fail(device, SAP_ERROR_ARGUMENT, "animation: is NULL");
    sap_file_bytes bytes;
    sap_source source = {.device = device, .real_bits = 32};
    sap_status status = sap_file_load(device, path, &source.name, &bytes);
    source.bytes = bytes.memory;
    source.size = bytes.size;
    if (status == SAP_OK) status = read_animation(&source, path, options, animation);
    sap_file_release(device, &bytes);
    return status;
}

void sap_animation_free(sap_animation* animation) {
    if (!animation) return;
    owned_animation* owned = (owned_animation*)animation;
    sap_memory_release(owned->device, owned->clips, owned->model.clips.used / sizeof(sap_gltf_clip) * sizeof(sap_clip));
    sap_gltf_model_free(&owned->model);
    sap_mesh_file_free((sap_mesh_file*)(uintptr_t)animation->file);
    sap_memory_release(owned->device, owned, sizeof *owned);
}

sap_status sap_animation_pose(const sap_animation* animation, int32_t clip, double seconds, float* vertices) {
    if (!animation) return SAP_ERROR_ARGUMENT;
    const owned_animation* owned = (const owned_animation*)animation;
    if (clip < -1 || clip >= animation->clip_count)
        return sap_fail(owned->device, SAP_ERROR_ARGUMENT, "clip: is %d, but there are %d, from 0", (int)clip,
                        (int)animation->clip_count);
    if (isnan(seconds)) return sap_fail(owned->device, SAP_ERROR_ARGUMENT, "seconds: is not a number");
    if (!vertices && owned->model.vertex_count) return sap_fail(owned->device, SAP_ERROR_ARGUMENT, "vertices: is NULL");
    return sap_gltf_pose(&owned->model, clip, seconds, vertices, NULL);
}
