// What moves in pictures of sapwood render: for --orbit the camera and a wave, for --frames what files say.
#ifndef SAPWOOD_CLI_RENDER_H
#define SAPWOOD_CLI_RENDER_H

#include "input.h"

// What one picture took.
typedef struct sap_cli_picture_seconds {
    double pose, build, trace, shade, photons;
    double loss; // of a tree that was refitted; 0: it was built
} sap_cli_picture_seconds;

// What is drawn: the mesh as it is in the picture at hand. All zero can be freed.
typedef struct sap_cli_stage {
    const sap_mesh_file* file; // of mesh_file or animation
    sap_mesh_file* mesh_file;
    sap_animation* animation; // NULL: none
    sap_mesh_file shown;      // the file, or its mesh as it moves
    float* moved;             // its vertices
    sap_mesh_tree* tree;
    int64_t triangles;       // of the tree
    sap_mesh_places* places; // NULL: as mesh_file or animation has it
    sap_mesh_tree** trees;   // [places->piece_count] where there are instances
    sap_instance_tree* instances;
    sap_camera camera, placed; // of the picture, and as the user asked
    float middle[3];
    double radius;  // of the mesh at rest
    int32_t clip;   // of the animation
    int32_t loaded; // the frame whose file mesh_file is
} sap_cli_stage;

// ---- placed.c: meshes that stand in several places.
// Reads the mesh; each of those that stand in several places may then be there once.
sap_cli_exit sap_cli_placed_read(sap_cli* cli, sap_cli_stage* stage);
// Builds the tree over the mesh, or those over the meshes and over their instances, which are known from then on.
sap_cli_exit sap_cli_placed_build(sap_cli* cli, sap_cli_stage* stage, double* seconds);
void sap_cli_placed_free(sap_cli_stage* stage);
// Triangles that rays may hit.
int64_t sap_cli_placed_triangles(const sap_cli_stage* stage);

// ---- orbit.c
sap_cli_exit sap_cli_orbit_begin(sap_cli* cli, sap_cli_stage* stage);
// The mesh twisted, and the camera turned around it, as in a picture of --orbit.
sap_cli_exit sap_cli_orbit_move(sap_cli* cli, sap_cli_stage* stage, int32_t picture);

// ---- frames.c
static inline bool sap_cli_has_frames(const sap_cli_options* options) { return options->frames[1] > 0; }
// What can be said before files are read.
sap_cli_exit sap_cli_frames_check(sap_cli* cli);
// Reads the scene that moves, or the first mesh of a sequence, and moves it to the first frame.
sap_cli_exit sap_cli_frames_begin(sap_cli* cli, sap_cli_stage* stage);
sap_cli_exit sap_cli_frames_move(sap_cli* cli, sap_cli_stage* stage, int32_t picture);

// Pictures to draw, 1 if nothing moves; the file of one, to be freed.
int32_t sap_cli_pictures(const sap_cli_options* options);
sap_cli_exit sap_cli_picture_path(sap_cli* cli, int32_t picture, char** path);

#endif
