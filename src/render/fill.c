// What a picture reads: the scene's arrays, its lamps, and normals of its vertices.
#include "render/photons/map.h"
#include "render/picture.h"
#include "render/surface.h"

static void fill_scene(sap_picture* picture) {
    const sap_render_options* o = &picture->options;
    const sap_mesh_file* file = picture->file;
    sap_scene_data* data = &picture->scene;
    data->width = o->width;
    data->height = o->height;
    data->samples = o->samples * o->passes;
    data->beyond = !o->photons ? SAP_BEYOND_PATHS : picture->lighting.gather ? SAP_BEYOND_GATHERED : SAP_BEYOND_PHOTONS;
    data->ambient = o->ambient;
    data->exposure = o->exposure;
    data->tone = (int32_t)o->tone;
    data->heat = o->heat;
    data->has_background = o->background != NULL;
    if (o->background) data->background = sap_vector_of(o->background);
    data->vertices = file->mesh.vertices;
    data->triangles = file->mesh.triangles;
    data->colors = file->colors;
    data->material_ids = file->material_ids;
    data->materials = file->material_ids ? file->materials : NULL;
    data->lamps = picture->lamps;
}

// Lists the faces that shine, with the parts that they have of all power.
static sap_status fill_shiners(sap_picture* picture, sap_scratch* memory) {
    sap_scene_data* data = &picture->scene;
    const int64_t triangles = picture->triangles;
    int64_t count = 0;
    double all = 0;
    for (int64_t i = 0; i < triangles; i++) count += sap_face_power(data, (int32_t)i) > 0;
    if (count == 0) return SAP_OK;
    if (!sap_scratch_take(picture->device, (size_t)count * sizeof(sap_shiner), memory))
        return sap_fail(picture->device, SAP_ERROR_MEMORY, "no memory for %lld faces that shine", (long long)count);
    sap_shiner* shiners = (sap_shiner*)(void*)memory->memory;
    for (int64_t i = 0; i < triangles; i++) {
        const double power = sap_face_power(data, (int32_t)i);
        if (!(power > 0)) continue;
        all += power;
        shiners[data->shiner_count++] = (sap_shiner){all, (int32_t)i};
    }
    for (int32_t i = 0; i < data->shiner_count; i++) shiners[i].until = i + 1 < count ? shiners[i].until / all : 1;
    data->shiners = shiners;
    data->shine_part = (float)(1 / all);
    return SAP_OK;
}

static sap_status fill_standings(sap_picture* picture, const sap_scene* scene, sap_scratch* memory) {
    const int64_t count = scene->places->place_count;
    if (!sap_scratch_take(picture->device, (size_t)(count + 1) * sizeof(sap_standing), memory))
        return sap_fail(picture->device, SAP_ERROR_MEMORY, "no memory for %lld instances", (long long)count);
    sap_standing* standings = (sap_standing*)(void*)memory->memory;
    sap_standings_fill(scene->places, standings);
    picture->scene.standings = standings;
    picture->scene.standing_count = count;
    return SAP_OK;
}

sap_status sap_picture_fill(sap_picture* picture, const sap_scene* scene, bool photons, sap_scratch* memory) {
    sap_device* device = picture->device;
    const sap_mesh* mesh = &scene->file->mesh;
    sap_scratch *lamps = &memory[SAP_FILLED_LAMPS], *normals = &memory[SAP_FILLED_NORMALS];
    picture->lamp_count = scene->lights ? scene->light_count : 1;
    bool smooth = !picture->options.flat && !picture->options.heat;
    if (!sap_scratch_take(device, ((size_t)picture->lamp_count + 1) * sizeof(sap_lamp), lamps) ||
        (smooth && !sap_scratch_take(device, (size_t)mesh->vertex_count * 3 * sizeof(float) + 1, normals)))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the normals of %lld vertices",
                        (long long)mesh->vertex_count);
    picture->lamps = (sap_lamp*)(void*)lamps->memory;
    sap_status status = sap_lamps_prepare(picture, scene);
    if (status == SAP_OK && smooth) {
        float* filled = (float*)(void*)normals->memory;
        sap_normals_fill(mesh, picture->threads, filled);
        picture->scene.normals = filled;
    }
    fill_scene(picture);
    if (status == SAP_OK && scene->instances) status = fill_standings(picture, scene, &memory[SAP_FILLED_STANDINGS]);
    if (status == SAP_OK && picture->options.next_event) status = fill_shiners(picture, &memory[SAP_FILLED_SHINERS]);
    return status == SAP_OK && photons ? sap_sources_fill(picture, &memory[SAP_FILLED_SOURCES]) : status;
}

void sap_picture_empty(sap_picture* picture, sap_scratch* memory) {
    for (int i = SAP_FILLED_ALL; i-- > 0;) sap_scratch_give(picture->device, &memory[i]);
}
