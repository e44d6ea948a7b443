// The shared walks for searches that were told a metric, weights, a mask or how far off answers may be. Their list lies
// in memory for any k, since they are rarer.
#include "math/dialect.h"
#include "nearest/walk_cpu.h"
#include "tree/told.h"

#define SAP_MEASURED
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "nearest/walk_told_instances.h"
#include "math/specialise_all.h"

#define ANSWER(bits, axes) answer_f##bits##_##axes##_0

sap_answer_function sap_answer_choose_told(const sap_tree_shape* shape) {
    static const sap_answer_function answers[2][4] = {{SAP_EACH_AXES_32(ANSWER)}, {SAP_EACH_AXES_64(ANSWER)}};
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][axes];
}
