// Rows of neighbours that a rank's own subtrees have filled, and what lies beyond their borders.
#ifndef SAPWOOD_CLUSTER_BORDER_H
#define SAPWOOD_CLUSTER_BORDER_H

#include "cluster/answer.h"

// Queries that lie in this rank's part, and their rows.
typedef struct sap_border_table {
    sap_cluster_asking ask; // with `into`, and `crosses` unless there is one subtree only
    sap_rows queries;
    bool is_points; // the queries are the points that this rank holds, row by row, and have no coordinates
    int32_t* home; // [queries.count] the subtree in which each lies, of any rank; NULL: this rank's only one, or points
    const int32_t* away; // [away_count] those that lie in other ranks' subtrees, which fill their rows
    int64_t away_count;
} sap_border_table;

// Answers those that lie in this rank's subtrees, each from its own.
sap_status sap_border_answer(const sap_border_table* table);
// Adds the points beyond borders, of this rank's other subtrees and of other ranks, to the rows of both tables. Collective.
// `status` is how this rank has fared since the ranks last agreed.
sap_status sap_border_cross(const sap_cluster_tree* tree, sap_status status, const sap_border_table* own,
                            const sap_border_table* came);

#endif
