// sapwood render: meshes that stand in several places are kept once, and rays are moved to them.
#include "render.h"

#include <stdlib.h>
#include <string.h>

sap_cli_exit sap_cli_placed_read(sap_cli* cli, sap_cli_stage* stage) {
    const sap_cli_exit result = sap_cli_places_read(cli, cli->options->operands[0], &stage->places);
    if (result != SAP_EXIT_OK) return result;
    stage->file = stage->places->file;
    stage->shown = *stage->file;
    return SAP_EXIT_OK;
}

// The same mesh with no more vertices than it needs, of which all may have to go to a GPU. triangles[3*triangle_count]
// become its own.
static sap_mesh shorten(sap_mesh mesh, int32_t* triangles) {
    int32_t first = INT32_MAX, last = -1;
    for (int64_t i = 0; i < 3 * mesh.triangle_count; i++) {
        first = mesh.triangles[i] < first ? mesh.triangles[i] : first;
        last = mesh.triangles[i] > last ? mesh.triangles[i] : last;
    }
    for (int64_t i = 0; i < 3 * mesh.triangle_count; i++) triangles[i] = mesh.triangles[i] - first;
    if (last < 0) return (sap_mesh){mesh.vertices, 0, triangles, 0};
    return (sap_mesh){mesh.vertices + 3 * (int64_t)first, (int64_t)last - first + 1, triangles, mesh.triangle_count};
}

// A tree for each piece; `triangles` has room for those of any.
static sap_status build_trees(sap_cli* cli, sap_cli_stage* stage, int32_t* triangles) {
    const sap_mesh_tree_options options = sap_cli_mesh_tree_options(cli);
    sap_status status = SAP_OK;
    for (int32_t i = 0; i < stage->places->piece_count && status == SAP_OK; i++) {
        const sap_mesh piece = shorten(sap_mesh_piece_of(stage->places, i), triangles);
        status = sap_mesh_tree_build(cli->device, piece, &options, &stage->trees[i]);
    }
    return status;
}

static int64_t most_triangles(const sap_mesh_places* places) {
    int64_t most = 0;
    for (int32_t i = 0; i < places->piece_count; i++)
        most = places->pieces[i].triangle_count > most ? places->pieces[i].triangle_count : most;
    return most;
}

static sap_status build_instances(sap_cli* cli, sap_cli_stage* stage, sap_instance* instances) {
    const sap_mesh_places* places = stage->places;
    for (int64_t i = 0; i < places->place_count; i++) {
        instances[i].tree = stage->trees[places->places[i].piece];
        memcpy(instances[i].transform, places->places[i].transform, sizeof instances[i].transform);
    }
    return sap_instance_tree_build(cli->device, instances, places->place_count, &stage->instances);
}

sap_cli_exit sap_cli_placed_build(sap_cli* cli, sap_cli_stage* stage, double* seconds) {
    const sap_mesh_places* places = stage->places;
    const char* path = cli->options->operands[0];
    if (!places || places->place_count == 1)
        return sap_cli_mesh_tree_build(cli, stage->shown.mesh, path, &stage->tree, seconds);
    sap_instance* instances = sap_cli_allocate(cli, places->place_count, sizeof *instances);
    int32_t* triangles = instances ? sap_cli_allocate(cli, most_triangles(places), 3 * sizeof *triangles) : NULL;
    stage->trees = triangles ? sap_cli_allocate(cli, places->piece_count, sizeof(sap_mesh_tree*)) : NULL;
    sap_status status = SAP_OK;
    if (stage->trees) {
        for (int32_t i = 0; i < places->piece_count; i++) stage->trees[i] = NULL;
        sap_cli_stage_begin(cli, "building");
        status = build_trees(cli, stage, triangles);
        if (status == SAP_OK) status = build_instances(cli, stage, instances);
        *seconds = sap_cli_stage_end(cli);
    }
    free(instances);
    free(triangles);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    return stage->trees ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

void sap_cli_placed_free(sap_cli_stage* stage) {
    sap_instance_tree_free(stage->instances);
    for (int32_t i = 0; stage->trees && i < stage->places->piece_count; i++) sap_mesh_tree_free(stage->trees[i]);
    free(stage->trees);
    sap_mesh_places_free(stage->places);
}

int64_t sap_cli_placed_triangles(const sap_cli_stage* stage) {
    int64_t count = 0;
    if (!stage->instances) return stage->file->mesh.triangle_count;
    for (int64_t i = 0; i < stage->places->place_count; i++)
        count += stage->places->pieces[stage->places->places[i].piece].triangle_count;
    return count;
}
