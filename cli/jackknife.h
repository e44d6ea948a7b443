// Delete-one jackknife of pair counts: blocks of space, the counts without each of them, and what follows for errors.
#ifndef SAPWOOD_CLI_JACKKNIFE_H
#define SAPWOOD_CLI_JACKKNIFE_H

#include "input.h"

// What is counted: `all` are the trees over all points. Without `queries` the points are paired with themselves.
typedef struct sap_cli_counted {
    const sap_cli_points *points, *queries;
    const sap_tree *tree, *asking;          // asking is `tree` without queries
    const double *weights, *asking_weights; // by point; NULL: 1 each
    const double* counts;                   // [radii] of all pairs
} sap_cli_counted;

// Blocks hold equally many of the points of `cells`: their bounds are halved, and the halves again, at medians across the
// longest side. without[blocks][radii]: the pairs neither of whose points lies in the block; errors[radii]: the standard
// error of each count.
sap_cli_exit sap_cli_jackknife(sap_cli* cli, const sap_cli_counted* pairs, const sap_cli_points* cells, double* without,
                               double* errors);

#endif
