// The shared radius walk for searches that were told a metric, weights or a mask.
#include "base/assert.h"
#include "math/dialect.h"
#include "radius/radius_cpu.h"

#define SAP_MEASURED
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "radius/walk_instances.h"
#include "math/specialise_all.h"

sap_radius_answer sap_radius_answer_choose_told(const sap_tree_shape* shape, bool collect) {
    static const sap_radius_answer answers[2][4][2] = {{SAP_EACH_AXES_32(SAP_RADIUS_ANSWERS)},
                                                       {SAP_EACH_AXES_64(SAP_RADIUS_ANSWERS)}};
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    return answers[shape->real_bits == 64][axes][collect];
}
