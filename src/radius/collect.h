// A visitor for radius/walk.h that writes what it is shown into the caller's arrays, or counts without them. C and CUDA
// only: shaders have no memory to write a list to. Specialised text; needs SAP_REAL.

SAP_STRUCT(sap_visits)
struct sap_visits {
    int64_t count;
    int32_t* ids;
    SAP_REAL* distance2;
};

SAP_FN bool sap_visits_subtrees(sap_visits visits) { return !visits.ids; }

SAP_FN sap_visits sap_visit_subtree(sap_visits visits, int count) {
    visits.count += count;
    return visits;
}

SAP_FN sap_visits sap_visit(sap_visits visits, SAP_REAL distance2, int id) {
    if (visits.ids) {
        visits.ids[visits.count] = id;
        visits.distance2[visits.count] = distance2;
    }
    visits.count += 1;
    return visits;
}
