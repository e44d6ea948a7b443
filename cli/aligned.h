// What sapwood align works on: the points that move, and what they are moved onto. And what it shares with assemble.
#ifndef SAPWOOD_CLI_ALIGNED_H
#define SAPWOOD_CLI_ALIGNED_H

#include "cloud.h"
#include "mesh_tree.h"

// Checks what the options of both verbs say together.
sap_cli_exit sap_cli_align_check(sap_cli* cli);
// How two are aligned, as the options say it; without a start.
void sap_cli_align_options(const sap_cli_options* o, sap_align_options* options);
// Reads `count` matrices of --start.
sap_cli_exit sap_cli_starts_read(sap_cli* cli, int count, double* starts);
// Adds an array of numbers to the JSON report.
void sap_cli_numbers_json(sap_json* json, const char* key, const double* values, int count);

// All zero can be closed.
typedef struct sap_cli_align_pair {
    sap_cli_reference target; // a cloud, or
    sap_cli_mesh_tree mesh;   // a mesh
    sap_cli_points source;
    float* near_mesh;     // SOURCE from the origin of the mesh
    int64_t target_count; // points, or triangles
    double read_seconds, build_seconds;
} sap_cli_align_pair;

// Opens SOURCE and TARGET, whatever the latter is.
sap_cli_exit sap_cli_align_open(sap_cli* cli, sap_cli_align_pair* pair);
void sap_cli_align_close(sap_cli_align_pair* pair);

// The calls for that kind of target; motions are those of the coordinates that files have.
sap_status sap_cli_align_global(const sap_cli_align_pair* pair, const sap_global_options* options,
                                sap_global_motion* found);
sap_status sap_cli_align_from(const sap_cli_align_pair* pair, const sap_align_options* options, sap_alignment* found);

// Says so if the overlap that was found is one that clouds without any have, too.
void sap_cli_overlap_look(sap_cli* cli, const char* source, const char* target, const sap_alignment* found);

// Writes points where a motion takes them, with all that they have: normals turn with them. NULL: text on standard output.
sap_cli_exit sap_cli_aligned_write(sap_cli* cli, const char* path, const sap_cli_points* from,
                                   const double transform[16]);

#endif
