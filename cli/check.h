// --verify: answers checked against brute force, in text that shares nothing with the library.
#ifndef SAPWOOD_CLI_CHECK_H
#define SAPWOOD_CLI_CHECK_H

#include "told.h"

// What was asked.
typedef struct sap_cli_check {
    const sap_cli_reference* reference;
    const sap_cli_points* queries; // of the tree's precision; NULL: the reference's own points
    double radius;                 // negative: no limit
    bool with_self, pairs, sorted;
    const sap_cli_told* told; // NULL: squared Euclidean distances to all points
} sap_cli_check;

// What was checked.
typedef struct sap_cli_checked {
    int64_t queries, of; // a sample if fewer than all
} sap_cli_checked;

// Rows of neighbours, as in sap_neighbors; distance2 in the tree's precision.
typedef struct sap_cli_rows {
    int64_t count;
    const int64_t* offsets;
    const int32_t* ids;
    const void* distance2;
} sap_cli_rows;

// Refuses --verify on a saved tree, which has no points to compare with.
sap_cli_exit sap_cli_check_possible(sap_cli* cli);
// Each: SAP_EXIT_OK, SAP_EXIT_UNSOUND after naming the first wrong query, or SAP_EXIT_FAILED.
sap_cli_exit sap_cli_check_nearest(sap_cli* cli, const sap_cli_check* check, int32_t k, const int32_t* ids,
                                   const void* distance2, sap_cli_checked* checked);
sap_cli_exit sap_cli_check_rows(sap_cli* cli, const sap_cli_check* check, const sap_cli_rows* rows,
                                sap_cli_checked* checked);
sap_cli_exit sap_cli_check_counts(sap_cli* cli, const sap_cli_check* check, const int64_t* counts,
                                  sap_cli_checked* checked);
// Says on stderr what was checked, and adds it to the JSON report.
void sap_cli_check_note(sap_cli* cli, const sap_cli_checked* checked);
void sap_cli_check_json(sap_json* json, const sap_cli_checked* checked);

#endif
