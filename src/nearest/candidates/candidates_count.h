// A list that keeps no candidates, only their number: with it the walks of nearest/walk.h count the points in a ball.
// Shared text; needs SAP_REAL.

SAP_STRUCT(sap_candidates)
struct sap_candidates {
    SAP_REAL limit2;
    int count;
};

// No points yet of those at most limit2 away.
SAP_FN sap_candidates sap_candidates_none(int k, SAP_REAL limit2) {
    sap_candidates list;
    SAP_UNUSED(k)
    list.limit2 = limit2;
    list.count = 0;
    return list;
}

// Every point up to the limit counts, whatever its id.
SAP_FN SAP_REAL sap_candidates_limit2(sap_candidates list) { return list.limit2; }
SAP_FN int sap_candidates_limit_id(sap_candidates list) {
    SAP_UNUSED(list)
    return SAP_NO_ID;
}

SAP_FN sap_candidates sap_candidates_insert(sap_candidates list, SAP_REAL distance2, int id) {
    SAP_UNUSED(id)
    list.count += distance2 <= list.limit2 ? 1 : 0;
    return list;
}
