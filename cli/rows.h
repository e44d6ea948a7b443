// Rows of neighbours where every point of a tree asks: made from its pairs, each of which stands in two rows.
#ifndef SAPWOOD_CLI_ROWS_H
#define SAPWOOD_CLI_ROWS_H

#include "check.h"

// Rows that own their memory. All zero can be freed.
typedef struct sap_cli_own_rows {
    int64_t* offsets;
    int32_t* ids;
    void* distance2;
} sap_cli_own_rows;

void sap_cli_rows_free(sap_cli_own_rows* rows);

// Makes the rows, each ascending by id. present[pairs->count]: a point is its own neighbour where it is true (NULL:
// nowhere). False after saying that memory is missing.
bool sap_cli_rows_of_pairs(sap_cli* cli, const sap_neighbors* pairs, const bool* present, sap_cli_own_rows* rows);
// Sorts each row by (distance2, id). False after saying that memory is missing.
bool sap_cli_rows_sort(sap_cli* cli, sap_cli_own_rows* rows, int64_t count, bool wide);
// Prints the ids of each row on a line. SAP_EXIT_FAILED if that could not be written.
sap_cli_exit sap_cli_rows_print(sap_cli* cli, const sap_cli_rows* rows);

#endif
