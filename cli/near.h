// Points as floats from an origin near most of them, for calls that take floats alone.
#ifndef SAPWOOD_CLI_NEAR_H
#define SAPWOOD_CLI_NEAR_H

#include "input.h"

// Of doubles about the median of each of three axes, which a few points far off do not move; of floats 0.
sap_cli_exit sap_cli_near_origin(sap_cli* cli, const sap_cli_points* points, double origin[3]);
// Three coordinates as floats from an origin, to be freed. NULL after saying that memory is missing.
float* sap_cli_near_floats(sap_cli* cli, const char* path, const sap_cli_points* points, const double origin[3]);
// Of finite doubles: refuses floats that tell most points badly apart, and says where they do so with some.
sap_cli_exit sap_cli_near_check(sap_cli* cli, const char* path, const sap_cli_points* points, const double origin[3],
                                const float* floats);

#endif
