// The same list for any k, a sibling of candidates.h because long lists do not fit into registers: a heap, the k-th
// best at its root, in memory that the caller lends. A CPU is faster with it for every k above 1. Specialised text for
// C; needs SAP_REAL.

SAP_STRUCT(sap_candidates)
struct sap_candidates {
    SAP_REAL* distance2;
    int32_t* id;
    int32_t k;
};

// An empty list for k candidates at most limit2 away, in distance2[k] and id[k].
SAP_FN sap_candidates sap_candidates_in(SAP_REAL* distance2, int32_t* id, int32_t k, SAP_REAL limit2) {
    SAP_ASSERT(k >= 1);
    for (int32_t i = 0; i < k; ++i) {
        distance2[i] = limit2;
        id[i] = SAP_NO_ID;
    }
    sap_candidates list = {distance2, id, k};
    return list;
}

SAP_FN SAP_REAL sap_candidates_limit2(sap_candidates list) { return list.distance2[0]; }
SAP_FN int sap_candidates_limit_id(sap_candidates list) { return list.id[0]; }

// Replaces the root of the heap in the first `size` places by a candidate, and restores the order.
SAP_FN_CALLED void sap_candidates_sift(sap_candidates list, int32_t size, SAP_REAL distance2, int32_t id) {
    int64_t at = 0;
    SAP_ASSERT(size >= 1 && size <= list.k);
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size &&
            (list.distance2[child] < list.distance2[child + 1] ||
             (list.distance2[child] == list.distance2[child + 1] && list.id[child] < list.id[child + 1])))
            ++child;
        if (list.distance2[child] < distance2 || (list.distance2[child] == distance2 && list.id[child] < id)) break;
        list.distance2[at] = list.distance2[child];
        list.id[at] = list.id[child];
        at = child;
    }
    list.distance2[at] = distance2;
    list.id[at] = id;
}

SAP_FN sap_candidates sap_candidates_insert(sap_candidates list, SAP_REAL distance2, int32_t id) {
    if (distance2 < list.distance2[0] || (distance2 == list.distance2[0] && id < list.id[0]))
        sap_candidates_sift(list, list.k, distance2, id);
    return list;
}

// Turns the heap into an ascending list, in its own memory.
SAP_FN_CALLED void sap_candidates_sort(sap_candidates list) {
    for (int32_t last = list.k - 1; last > 0; --last) {
        SAP_REAL distance2 = list.distance2[last];
        int32_t id = list.id[last];
        list.distance2[last] = list.distance2[0];
        list.id[last] = list.id[0];
        sap_candidates_sift(list, last, distance2, id);
    }
}
