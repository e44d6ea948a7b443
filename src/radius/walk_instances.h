// The radius walk for one precision and number of axes, with each visitor. Specialised text for C.

#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#ifdef SAP_MEASURED
#include "tree/measure.h"
#endif

#include "tree/access.h"

#include "tree/leaf.h"

static sap_point SAP_SPECIAL(load_query)(const sap_tree* tree, const void* query) {
    const SAP_REAL* coords = query;
    sap_point point = sap_point_of(0.0f);
    for (int32_t axis = 0; axis < SAP_DIMS; ++axis) point.at[axis] = coords[axis];
    (void)tree;
    return point;
}

#if !defined(__EMSCRIPTEN__)
#define SAP_VISITOR count
#include "radius/count.h"

#include "radius/walk.h"

static int64_t SAP_SPECIAL_VISITOR(answer)(const sap_tree* tree, const sap_told* told, const void* query, double limit2,
                                           int32_t after, int32_t* ids, void* distance2) {
#ifdef SAP_MEASURED
    const sap_measure made = SAP_SPECIAL(measure_told)(tree, told), *measure = &made;
#endif
    (void)told;
    const sap_point point = SAP_SPECIAL(load_query)(tree, query);
    const sap_visits visits = {0};
    (void)ids;
    (void)distance2;
    if (!sap_point_finite(point)) return 0;
    return sap_radius_stack(SAP_TREE SAP_MEASURE point, (SAP_REAL)limit2, after, visits).visits.count;
}
#undef SAP_VISITOR
#endif

#define SAP_VISITOR collect
#include "radius/collect.h"

#include "radius/walk.h"

static int64_t SAP_SPECIAL_VISITOR(answer)(const sap_tree* tree, const sap_told* told, const void* query, double limit2,
                                           int32_t after, int32_t* ids, void* distance2) {
#ifdef SAP_MEASURED
    const sap_measure made = SAP_SPECIAL(measure_told)(tree, told), *measure = &made;
#endif
    (void)told;
    const sap_point point = SAP_SPECIAL(load_query)(tree, query);
    const sap_visits visits = {0, ids, distance2};
    if (!sap_point_finite(point)) return 0;
    return sap_radius_stack(SAP_TREE SAP_MEASURE point, (SAP_REAL)limit2, after, visits).visits.count;
}
#undef SAP_VISITOR
