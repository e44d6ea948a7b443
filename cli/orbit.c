// sapwood render --orbit: pictures from around a mesh that twists.
#include "render.h"

#include <math.h>

static const double full_turn = 6.283185307179586;

// A point turned around an axis of length 1 through the middle (Rodrigues).
static void turn(const float middle[3], const float axis[3], double angle, const float from[3], float to[3]) {
    double p[3], along = 0, cosine = cos(angle), sine = sin(angle);
    for (int a = 0; a < 3; a++) {
        p[a] = (double)from[a] - (double)middle[a];
        along += p[a] * (double)axis[a];
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        double across = (double)axis[b] * p[c] - (double)axis[c] * p[b];
        to[a] = (float)(p[a] * cosine + across * sine + (double)axis[a] * along * (1 - cosine) + (double)middle[a]);
    }
}

// The mesh twisted by a wave that runs along the upward axis, once a round.
static void twist(const sap_cli_stage* stage, double phase) {
    const float* up = stage->placed.up;
    const sap_mesh* mesh = &stage->file->mesh;
    const double radius = stage->radius;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float* from = mesh->vertices + 3 * i;
        double height = 0;
        for (int a = 0; a < 3; a++) height += ((double)from[a] - (double)stage->middle[a]) * (double)up[a];
        double angle = 0.4 * (sin(full_turn * (phase + height / radius / 4)) - sin(full_turn * height / radius / 4));
        turn(stage->middle, up, angle, from, stage->moved + 3 * i);
    }
}

sap_cli_exit sap_cli_orbit_begin(sap_cli* cli, sap_cli_stage* stage) {
    sap_mesh_tree_info info;
    stage->moved = sap_cli_allocate(cli, stage->file->mesh.vertex_count, 3 * sizeof(float));
    if (!stage->moved) return SAP_EXIT_FAILED;
    stage->shown.mesh.vertices = stage->moved;
    sap_mesh_tree_describe(stage->tree, &info);
    for (int a = 0; a < 3; a++) stage->radius += fabs((double)info.upper[a] - (double)info.lower[a]) / 2;
    if (!(stage->radius > 0) || !isfinite(stage->radius)) stage->radius = 1;
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_orbit_move(sap_cli* cli, sap_cli_stage* stage, int32_t picture) {
    const double phase = (double)picture / cli->options->orbit;
    twist(stage, phase);
    turn(stage->placed.at, stage->placed.up, full_turn * phase, stage->placed.eye, stage->camera.eye);
    return SAP_EXIT_OK;
}
