// The verbs: each does all of its work after options and device are ready.
#ifndef SAPWOOD_CLI_VERBS_H
#define SAPWOOD_CLI_VERBS_H

#include "output.h"

sap_cli_exit sap_cli_info(sap_cli* cli);
sap_cli_exit sap_cli_build(sap_cli* cli);
sap_cli_exit sap_cli_nearest(sap_cli* cli);
sap_cli_exit sap_cli_radius(sap_cli* cli);
sap_cli_exit sap_cli_box(sap_cli* cli);
sap_cli_exit sap_cli_correlate(sap_cli* cli);
sap_cli_exit sap_cli_pairs(sap_cli* cli);
sap_cli_exit sap_cli_normals(sap_cli* cli);
sap_cli_exit sap_cli_density(sap_cli* cli);
sap_cli_exit sap_cli_outliers(sap_cli* cli);
sap_cli_exit sap_cli_thin(sap_cli* cli);
sap_cli_exit sap_cli_cluster(sap_cli* cli);
sap_cli_exit sap_cli_align(sap_cli* cli);
sap_cli_exit sap_cli_assemble(sap_cli* cli);
sap_cli_exit sap_cli_distance(sap_cli* cli);
sap_cli_exit sap_cli_relax(sap_cli* cli);
sap_cli_exit sap_cli_project(sap_cli* cli);
sap_cli_exit sap_cli_verify(sap_cli* cli);
sap_cli_exit sap_cli_convert(sap_cli* cli);
sap_cli_exit sap_cli_bench(sap_cli* cli);
sap_cli_exit sap_cli_render(sap_cli* cli);
sap_cli_exit sap_cli_trace(sap_cli* cli);
sap_cli_exit sap_cli_closest(sap_cli* cli);
sap_cli_exit sap_cli_isosurface(sap_cli* cli);
sap_cli_exit sap_cli_compact(sap_cli* cli);
sap_cli_exit sap_cli_subdivide(sap_cli* cli);
sap_cli_exit sap_cli_voronoi(sap_cli* cli);
sap_cli_exit sap_cli_portray(sap_cli* cli);

#endif
