// All hits of rays, as trace --all lists them.
#ifndef SAPWOOD_CLI_ALL_HITS_H
#define SAPWOOD_CLI_ALL_HITS_H

#include "output.h"

typedef struct sap_cli_ray_hit {
    int64_t ray;
    sap_hit hit;
} sap_cli_ray_hit;

// All zero can be freed.
typedef struct sap_cli_all_hits {
    sap_cli_ray_hit* rows; // ascending by ray, then by the order of hits
    int64_t count, room;
} sap_cli_all_hits;

// Finds the hits of all rays, or with --hits the first ones of each.
sap_cli_exit sap_cli_all_hits_find(sap_cli* cli, const sap_mesh_tree* tree, const sap_ray* rays, int64_t count,
                                   int64_t triangles, sap_cli_all_hits* all);
void sap_cli_all_hits_free(sap_cli_all_hits* all);

#endif
