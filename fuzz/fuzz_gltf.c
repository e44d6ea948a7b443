// Any bytes, read as glTF: where the vertices are at some times, and which meshes stand in several places.
#include "fuzz.h"

// Pieces follow one another, and places name them.
static void look_at_places(const uint8_t* data, size_t size, const sap_mesh_read_options* options) {
    sap_mesh_places* places = NULL;
    const sap_status status = sap_mesh_places_parse(fuzz_device(), data, size, SAP_FORMAT_GLTF, options, &places);
    if ((status == SAP_OK) != (places != NULL)) abort();
    if (!places) return;
    int64_t next = 0;
    for (int32_t i = 0; i < places->piece_count; i++) {
        if (places->pieces[i].first_triangle != next || places->pieces[i].triangle_count < 0) abort();
        next += places->pieces[i].triangle_count;
    }
    if (next != places->file->mesh.triangle_count) abort();
    for (int64_t i = 0; i < places->place_count; i++)
        if (places->places[i].piece < 0 || places->places[i].piece >= places->piece_count) abort();
    sap_mesh_places_free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const sap_mesh_read_options options = {.unpack_limit = 4096 + 16 * (int64_t)size, .find_origin = size % 2};
    sap_animation* scene = NULL;
    // Three bytes may be a material, of which the parser keeps more than a thousand.
    fuzz_largest_block = 1024 * size + (size_t)options.unpack_limit * 4 + (1 << 12);
    fuzz_expect_packed(data, size);
    const sap_status status = sap_animation_parse(fuzz_device(), data, size, &options, &scene);
    if ((status == SAP_OK) != (scene != NULL)) abort();
    look_at_places(data, size, &options);
    if (!scene) return 0;
    const sap_mesh* mesh = &scene->file->mesh;
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count) abort();
    for (int64_t i = 0; scene->file->material_ids && i < mesh->triangle_count; i++)
        if (scene->file->material_ids[i] < -1 || scene->file->material_ids[i] >= scene->file->material_count) abort();
    float* vertices = malloc((size_t)mesh->vertex_count * 3 * sizeof *vertices + 1);
    for (int32_t clip = -1; clip < scene->clip_count && clip < 4 && vertices; clip++)
        for (int step = -1; step < 3; step++) {
            const double seconds = step < 2 ? 0.4 * step : scene->clip_count ? scene->clips[0].seconds : 1e300;
            (void)sap_animation_pose(scene, clip, seconds, vertices);
        }
    free(vertices);
    sap_animation_free(scene);
    return 0;
}
