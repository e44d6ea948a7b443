// One query's row of answers through the walks, for the list that was included before. Specialised text for C;
// SAP_CAPACITY is the list's, 0 for nearest/candidates/candidates_memory.h.

static void SAP_SPECIAL_LIST(answer)(const sap_answer_job* job, const void* query, int32_t without, int32_t* ids,
                                     void* distance2s, sap_search_stats* stats) {
    const sap_tree* tree = job->tree;
    const SAP_REAL* coords = query;
    SAP_REAL* distance2 = distance2s;
    const int32_t k = job->k;
    SAP_ASSERT(k >= 0 && k <= job->row_length);
    SAP_ASSERT(SAP_CAPACITY == 0 ? distance2 != NULL : k <= SAP_CAPACITY);
    sap_point point = sap_point_of(0.0f);
    for (int32_t axis = 0; axis < SAP_DIMS; ++axis) point.at[axis] = coords[axis];
    int32_t found = 0;
#ifdef SAP_MEASURED
    const sap_measure told = SAP_SPECIAL(measure_told)(tree, job->told), *measure = &told;
#endif
    if (k > 0 && sap_point_finite(point)) {
        const SAP_REAL limit2 = (SAP_REAL)job->limit2;
#if SAP_CAPACITY == 0
        sap_candidates list = sap_candidates_in(distance2, ids, k, limit2);
#else
        sap_candidates list = sap_candidates_none(k, limit2);
#endif
#if defined(__EMSCRIPTEN__) // what a page downloads has one walk, whose answers are those of the other
        const sap_nearest_result result = sap_nearest_stack(SAP_TREE SAP_MEASURE point, without, list);
#else
        const sap_nearest_result result = job->is_stackless
                                              ? sap_nearest_stackless(SAP_TREE SAP_MEASURE point, without, list)
                                              : sap_nearest_stack(SAP_TREE SAP_MEASURE point, without, list);
#endif
        stats->nodes += result.nodes;
        stats->leaves += result.leaves;
        stats->points += result.points;
#if SAP_CAPACITY == 0
        sap_candidates_sort(result.list);
        while (found < k && ids[found] != SAP_NO_ID) ++found;
#else
        for (int32_t i = SAP_CAPACITY - k; i < SAP_CAPACITY && result.list.id[i] != SAP_NO_ID; ++i, ++found) {
            ids[found] = result.list.id[i];
            if (distance2) distance2[found] = result.list.distance2[i];
        }
#endif
    }
    SAP_ASSERT(found <= k);
    for (int32_t i = found; i < job->row_length; ++i) ids[i] = -1;
    for (int32_t i = found; i < job->row_length && distance2; ++i) distance2[i] = (SAP_REAL)INFINITY;
}
