// A visitor for radius/walk.h that counts.
// Shared text; needs math/dialect.h.

SAP_STRUCT(sap_visits)
struct sap_visits {
    int count;
};

// Whether a subtree that lies inside the ball is shown by the number of its points alone.
SAP_FN bool sap_visits_subtrees(sap_visits visits) {
    SAP_UNUSED(visits)
    return true;
}

SAP_FN sap_visits sap_visit_subtree(sap_visits visits, int count) {
    visits.count += count;
    return visits;
}

SAP_FN sap_visits sap_visit(sap_visits visits, SAP_REAL distance2, int id) {
    SAP_UNUSED(distance2)
    SAP_UNUSED(id)
    visits.count += 1;
    return visits;
}
