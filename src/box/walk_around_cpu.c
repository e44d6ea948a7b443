// The shared box walk for boxes that lead around periodic axes.
#include "base/assert.h"
#include "box/box.h"
#include "math/dialect.h"

#define SAP_AROUND
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "box/walk_instances.h"
#include "math/specialise_all.h"

#define ANSWER(bits, axes) answer_f##bits##_##axes

sap_box_answer sap_box_answer_choose_around(const sap_tree_shape* shape) {
    static const sap_box_answer answers[2][4] = {{SAP_EACH_AXES_32(ANSWER)}, {SAP_EACH_AXES_64(ANSWER)}};
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3];
}
