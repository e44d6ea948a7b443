// Scenes of instances: what they are checked for, and their places.
#include "instance/layout.h"
#include "render/picture.h"

sap_status sap_instances_check(sap_device* device, const sap_scene* scene, const sap_render_options* options) {
    const sap_mesh_places* p = scene->places;
    int64_t triangles = 0;
    if (scene->tree) return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.tree: must be NULL beside instances");
    if (!p) return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.places: is NULL");
    if (!scene->file || scene->file != p->file)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "scene.file: is not that of the places");
    if (options->heat) return sap_unsupported(device, "count the nodes that rays look at in trees over instances");
    if (options->photons) return sap_unsupported(device, "send photons through trees over instances");
    for (int32_t i = 0; i < p->piece_count; i++)
        if (p->pieces[i].first_triangle < 0 || p->pieces[i].triangle_count < 0 ||
            p->pieces[i].first_triangle > p->file->mesh.triangle_count - p->pieces[i].triangle_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.places: piece %d has triangles that are not there", (int)i);
    for (int64_t i = 0; i < p->place_count; i++) {
        if (p->places[i].piece < 0 || p->places[i].piece >= p->piece_count)
            return sap_fail(device, SAP_ERROR_RANGE, "scene.places: place %lld is of a piece that is not there",
                            (long long)i);
        triangles += p->pieces[p->places[i].piece].triangle_count;
    }
    if (scene->instances->count != p->place_count || scene->instances->triangles != triangles)
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "scene.instances: %lld of %lld triangles, but the places are %lld of %lld",
                        (long long)scene->instances->count, (long long)scene->instances->triangles,
                        (long long)p->place_count, (long long)triangles);
    if (triangles > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "scene.instances: have %lld triangles; at most 2^31 - 1",
                        (long long)triangles);
    return SAP_OK;
}

void sap_instances_box(sap_picture* picture, const sap_scene* scene, float lower[3], float upper[3]) {
    picture->triangles = scene->instances->triangles;
    (void)sap_mesh_places_bounds(scene->places, lower, upper); // which are checked
}

// The cofactors of a transform's matrix: what turns the normals of its triangles, mirrored ones too.
static void find_turn(const float m[12], float turn[9]) {
    static const int next[3] = {1, 2, 0}, last[3] = {2, 0, 1};
    double c[9], most = 0;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            const float *a = m + 4 * next[r], *b = m + 4 * last[r];
            c[3 * r + k] = (double)a[next[k]] * (double)b[last[k]] - (double)a[last[k]] * (double)b[next[k]];
            most = fmax(most, fabs(c[3 * r + k]));
        }
    for (int i = 0; i < 9; i++) turn[i] = (float)(most > 0 ? c[i] / most : 0);
}

void sap_standings_fill(const sap_mesh_places* places, sap_standing* standings) {
    int64_t first = 0;
    for (int64_t i = 0; i < places->place_count; i++) {
        const sap_piece_place* place = &places->places[i];
        const sap_mesh_piece* piece = &places->pieces[place->piece];
        sap_standing* s = &standings[i];
        *s = (sap_standing){.first = (int32_t)first, .triangle = (int32_t)piece->first_triangle};
        memcpy(s->transform, place->transform, sizeof s->transform);
        find_turn(s->transform, s->turn);
        for (int r = 0; r < 3; r++) {
            const float* row = s->transform + 4 * r;
            s->scale = fmaxf(s->scale, fabsf(row[0]) + fabsf(row[1]) + fabsf(row[2]));
            s->shift = fmaxf(s->shift, fabsf(row[3]));
        }
        first += piece->triangle_count;
    }
}
