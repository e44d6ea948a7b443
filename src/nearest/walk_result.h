// What a search for nearest neighbours has found, and how much it has visited.
// Shared text; needs a list of candidates (nearest/candidates/candidates.h or another with its functions).

// A list of candidates, and how many nodes, leaves and points the walk has visited to find them.
SAP_STRUCT(sap_nearest_result)
struct sap_nearest_result {
    sap_candidates list;
    int nodes;
    int leaves;
    int points;
};

SAP_FN sap_nearest_result sap_nearest_begin(sap_candidates list) {
    sap_nearest_result result;
    result.list = list;
    result.nodes = 0;
    result.leaves = 0;
    result.points = 0;
    return result;
}
