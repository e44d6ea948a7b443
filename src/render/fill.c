// What a picture reads: the scene's arrays, its lamps, and normals of its vertices.
#include "render/picture.h"

static void fill_scene(sap_picture* picture) {
    const sap_render_options* o = &picture->options;
    const sap_mesh_file* file = picture->file;
    sap_scene_data* data = &picture->scene;
    data->width = o->width;
    data->height = o->height;
    data->samples = o->samples;
    data->ambient = o->ambient;
    data->exposure = o->exposure;
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

sap_status sap_picture_fill(sap_picture* picture, const sap_scene* scene, sap_scratch memory[2]) {
    sap_device* device = picture->device;
    const sap_mesh* mesh = &scene->file->mesh;
    picture->lamp_count = scene->lights ? scene->light_count : 1;
    bool smooth = !picture->options.flat && !picture->options.heat;
    if (!sap_scratch_take(device, ((size_t)picture->lamp_count + 1) * sizeof(sap_lamp), &memory[0]) ||
        (smooth && !sap_scratch_take(device, (size_t)mesh->vertex_count * 3 * sizeof(float) + 1, &memory[1])))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the normals of %lld vertices",
                        (long long)mesh->vertex_count);
    picture->lamps = (sap_lamp*)(void*)memory[0].memory;
    sap_status status = sap_lamps_prepare(picture, scene);
    if (status == SAP_OK && smooth) {
        float* filled = (float*)(void*)memory[1].memory;
        sap_normals_fill(mesh, picture->threads, filled);
        picture->scene.normals = filled;
    }
    fill_scene(picture);
    return status;
}
