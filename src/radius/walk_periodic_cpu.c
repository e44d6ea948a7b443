// The shared radius walk through trees with periods, for all that searches may be told.
#include "base/assert.h"
#include "math/dialect.h"
#include "radius/radius_cpu.h"

#define SAP_MEASURED
#define SAP_PERIODIC
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "radius/walk_instances.h"
#include "math/specialise_all.h"

#define ANSWERS(bits, axes)                                                                                            \
    { answer_f##bits##_##axes##_count, answer_f##bits##_##axes##_collect }

sap_radius_answer sap_radius_answer_choose_periodic(const sap_tree_shape* shape, bool collect) {
    static const sap_radius_answer answers[2][4][2] = {{SAP_EACH_AXES_32(ANSWERS)}, {SAP_EACH_AXES_64(ANSWERS)}};
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    return answers[shape->real_bits == 64][axes][collect];
}
