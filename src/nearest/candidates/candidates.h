// The k best candidates of a query, ascending by (squared distance, id), in a list of fixed capacity.
// Shared text; needs SAP_REAL and SAP_CAPACITY, the most that k can be. Lists beyond that: candidates_memory.h.
//
// The k-th best always stands last: a list for fewer than its capacity begins with places that nothing displaces, at
// distance -1. A place not yet taken holds the search's limit with an id above all others, so that a point exactly at
// the limit still counts. Inserting has no branches: a return from the loop would cost a GPU the registers.

SAP_STRUCT(sap_candidates)
struct sap_candidates {
    SAP_REAL distance2[SAP_CAPACITY];
    int id[SAP_CAPACITY];
};

// An empty list for k candidates at most limit2 away.
SAP_FN sap_candidates sap_candidates_none(int k, SAP_REAL limit2) {
    sap_candidates list;
    SAP_ASSERT(k >= 0 && k <= SAP_CAPACITY);
    SAP_UNROLL
    for (int i = 0; i < SAP_CAPACITY; ++i) {
        list.distance2[i] = i < SAP_CAPACITY - k ? -1.0f : limit2;
        list.id[i] = SAP_NO_ID;
    }
    return list;
}

// The squared distance and the id of the k-th best: only candidates before these are inserted.
SAP_FN SAP_REAL sap_candidates_limit2(sap_candidates list) { return list.distance2[SAP_CAPACITY - 1]; }
SAP_FN int sap_candidates_limit_id(sap_candidates list) { return list.id[SAP_CAPACITY - 1]; }

// The list with a candidate in its place, if it is better than the k-th best.
SAP_FN sap_candidates sap_candidates_insert(sap_candidates list, SAP_REAL distance2, int id) {
    bool before = distance2 < list.distance2[SAP_CAPACITY - 1] ||
                  (distance2 == list.distance2[SAP_CAPACITY - 1] && id < list.id[SAP_CAPACITY - 1]);
    SAP_UNROLL
    for (int i = SAP_CAPACITY - 1; i > 0; --i) {
        bool before_last =
            distance2 < list.distance2[i - 1] || (distance2 == list.distance2[i - 1] && id < list.id[i - 1]);
        list.distance2[i] = before_last ? list.distance2[i - 1] : (before ? distance2 : list.distance2[i]);
        list.id[i] = before_last ? list.id[i - 1] : (before ? id : list.id[i]);
        before = before_last;
    }
    list.distance2[0] = before ? distance2 : list.distance2[0];
    list.id[0] = before ? id : list.id[0];
    return list;
}
