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

// Where walks keep what waits: an array, or with SAP_STACK_IS_LENT memory of their caller, for as many as SAP_STACK or the
// tree is deep. A GPU has no room for the longest stack of every thread.
#undef SAP_PENDING_PARAM
#undef SAP_PENDING
#ifdef SAP_STACK_IS_LENT
#define SAP_PENDING_PARAM , sap_nearest_pending* pending
#define SAP_PENDING
#else
#define SAP_PENDING_PARAM
#define SAP_PENDING sap_nearest_pending pending[SAP_STACK];
#endif
