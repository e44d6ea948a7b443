// What pictures of instances are drawn of in tests: the torus of render_set.h in several places, above the floor.
#ifndef SAPWOOD_TESTS_RENDER_INSTANCES_H
#define SAPWOOD_TESTS_RENDER_INSTANCES_H

#include "render_set.h"

enum { INSTANCE_PLACES = 6, INSTANCE_PIECES = 3 };

typedef struct render_instances {
    render_set set;
    sap_mesh_piece pieces[INSTANCE_PIECES]; // the floor and the box, the torus, nothing
    sap_piece_place list[INSTANCE_PLACES];
    sap_mesh_places places;
    sap_mesh_tree* trees[INSTANCE_PIECES];
    sap_instance_tree* tree;
} render_instances;

// Turned and sheared, or (exact) moved so that floats hold where each corner comes to lie.
static inline void render_instances_make(render_instances* r, bool exact) {
    static const float exactly[INSTANCE_PLACES][12] = {
        {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},          {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
        {0.5f, 0, 0, 2, 0, 0.5f, 0, 1, 0, 0, 0.5f, 1}, {0, 0, 0.5f, -2, 0.5f, 0, 0, 1, 0, 0.5f, 0, 1},
        {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},          {-0.5f, 0, 0, 0, 0, 0.5f, 0, -1, 0, 0, 0.5f, 2}};
    static const float bent[12] = {0.4f, 0.1f, -0.3f, 1.7f, 0, 0.6f, 0.1f, 1.3f, 0.3f, 0.2f, 0.45f, 1.1f};
    static const int32_t pieces[INSTANCE_PLACES] = {0, 1, 1, 1, 2, 1};
    *r = (render_instances){.tree = NULL};
    render_set_make(&r->set);
    const int64_t triangles = r->set.mesh.mesh.triangle_count, torus = triangles - 4;
    r->pieces[0] = (sap_mesh_piece){.first_triangle = torus, .triangle_count = 4};
    r->pieces[1] = (sap_mesh_piece){.first_triangle = 0, .triangle_count = torus};
    r->pieces[2] = (sap_mesh_piece){.first_triangle = triangles, .triangle_count = 0};
    for (int p = 0; p < INSTANCE_PIECES; p++)
        for (int a = 0; a < 3; a++) {
            r->pieces[p].lower[a] = -10;
            r->pieces[p].upper[a] = 10;
        }
    for (int i = 0; i < INSTANCE_PLACES; i++) {
        r->list[i].piece = pieces[i];
        memcpy(r->list[i].transform, !exact && i == 2 ? bent : exactly[i], sizeof bent);
    }
    r->places = (sap_mesh_places){.file = &r->set.file,
                                  .pieces = r->pieces,
                                  .places = r->list,
                                  .place_count = INSTANCE_PLACES,
                                  .piece_count = INSTANCE_PIECES};
}

// Builds the trees of the pieces, and the one over the places.
static inline sap_status render_instances_build(render_instances* r, sap_device* device) {
    sap_instance instances[INSTANCE_PLACES];
    sap_status status = SAP_OK;
    for (int32_t p = 0; p < INSTANCE_PIECES && status == SAP_OK; p++)
        status = sap_mesh_tree_build(device, sap_mesh_piece_of(&r->places, p), NULL, &r->trees[p]);
    for (int i = 0; i < INSTANCE_PLACES; i++) {
        instances[i].tree = r->trees[r->list[i].piece];
        memcpy(instances[i].transform, r->list[i].transform, sizeof instances[i].transform);
    }
    return status == SAP_OK ? sap_instance_tree_build(device, instances, INSTANCE_PLACES, &r->tree) : status;
}

static inline void render_instances_free(render_instances* r) {
    sap_instance_tree_free(r->tree);
    for (int p = 0; p < INSTANCE_PIECES; p++) sap_mesh_tree_free(r->trees[p]);
    scene_mesh_free(&r->set.mesh);
}

// All triangles of all places as one mesh, whose materials are those of the set; ids has room for them.
static inline scene_mesh render_instances_flatten(const render_instances* r, int32_t* ids) {
    const sap_mesh* mesh = &r->set.mesh.mesh;
    int64_t triangles = 0;
    for (int i = 0; i < INSTANCE_PLACES; i++) triangles += r->pieces[r->list[i].piece].triangle_count;
    scene_mesh flat = scene_mesh_make(mesh->vertex_count * INSTANCE_PLACES, triangles);
    int64_t next = 0;
    for (int i = 0; i < INSTANCE_PLACES; i++) {
        const sap_mesh_piece* piece = &r->pieces[r->list[i].piece];
        const int64_t first = i * mesh->vertex_count;
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            for (int row = 0; row < 3; row++) {
                const float *m = r->list[i].transform + 4 * row, *from = mesh->vertices + 3 * v;
                flat.vertices[3 * (first + v) + row] =
                    (float)((double)m[0] * (double)from[0] + (double)m[1] * (double)from[1] +
                            (double)m[2] * (double)from[2] + (double)m[3]);
            }
        for (int64_t t = 0; t < piece->triangle_count; t++, next++) {
            const int64_t from = piece->first_triangle + t;
            for (int k = 0; k < 3; k++) flat.triangles[3 * next + k] = mesh->triangles[3 * from + k] + (int32_t)first;
            ids[next] = r->set.material_ids[from];
        }
    }
    return flat;
}

#endif
