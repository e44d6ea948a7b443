// Photons of sapwood render.
#ifndef SAPWOOD_CLI_PHOTONS_H
#define SAPWOOD_CLI_PHOTONS_H

#include "output.h"

#include "sapwood/photons.h"

// Checks the options about photons.
sap_cli_exit sap_cli_photons_check(sap_cli* cli);
// What the library is told; NULL without --photons.
const sap_render_photons* sap_cli_photons_options(const sap_cli_options* options, sap_render_photons* to);
// Writes the photons of the first pass to --photon-cloud.
sap_cli_exit sap_cli_photons_write(sap_cli* cli, const sap_scene* scene);

#endif
