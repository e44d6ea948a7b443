// What a search is told by --metric, --weights, --mask, --box, --radii and --eps.
#ifndef SAPWOOD_CLI_TOLD_H
#define SAPWOOD_CLI_TOLD_H

#include "input.h"

// All zero can be freed.
typedef struct sap_cli_told {
    bool is_told;      // anything
    sap_search search; // with the fields that say it
    double power;      // of the metric: 2, 1, infinite or p
    double weights[SAP_MAX_DIMS];
    int32_t weight_count; // 0: none
    uint8_t* keep;        // what --mask says of each point; NULL: all may be found
    uint8_t* in_box;      // which of these lie in --box; NULL: no box
    const double* box;    // its corners, one behind the other
    double* radii;        // NULL: --radius is for all queries
} sap_cli_told;

// Reads what the options say.
sap_cli_exit sap_cli_told_check(sap_cli* cli, sap_cli_told* told);
// Reads the files of --mask and --radii, for this reference and so many queries, and finds the points in --box.
sap_cli_exit sap_cli_told_read(sap_cli* cli, const sap_cli_reference* reference, int64_t queries, sap_cli_told* told);
void sap_cli_told_free(sap_cli_told* told);

// Whether a point may be found; the distance that a radius stands for, in a precision; the distance between two points.
// For --verify, in text that shares nothing with the library: docs/numerics.md says what is computed.
bool sap_cli_told_allows(const sap_cli_told* told, int32_t dims, int32_t real_bits, const void* points, int64_t id);
double sap_cli_told_limit(const sap_cli_told* told, double radius, int32_t real_bits);
double sap_cli_told_distance(const sap_cli_told* told, int32_t dims, int32_t real_bits, const void* a, const void* b);

#endif
