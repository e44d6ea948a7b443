// The shared radius walk through trees with periods, for all that searches may be told.
#include "base/assert.h"
#include "math/dialect.h"
#include "radius/radius.h"
#include "radius/radius_cpu.h"

#define SAP_MEASURED
#define SAP_PERIODIC
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "radius/walk_instances.h"
#include "math/specialise_all.h"

sap_radius_answer sap_radius_answer_choose_periodic(const sap_tree_shape* shape, bool collect) {
    static const sap_radius_answer answers[2][4][2] = {{SAP_EACH_AXES_32(SAP_RADIUS_ANSWERS)},
                                                       {SAP_EACH_AXES_64(SAP_RADIUS_ANSWERS)}};
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    return answers[shape->real_bits == 64][axes][collect];
}

#if defined(__EMSCRIPTEN__)
// The walk in the place of kernels that know periods, where vector code for it is not downloaded.
static void search(sap_radius_run* run) {
    const sap_tree* tree = run->tree;
    const sap_radius_answer count = sap_radius_answer_choose_periodic(&tree->shape, false);
    const sap_radius_answer collect = sap_radius_answer_choose_periodic(&tree->shape, true);
    const size_t real = sap_real_bytes(&tree->shape);
    SAP_ASSERT(!run->told->radii);
    for (; run->done < run->count; run->done++) {
        const unsigned char* query = (const unsigned char*)run->queries + (size_t)(run->done * run->stride) * real;
        const int64_t row = run->rows ? run->rows[run->done] : run->first_row + run->done;
        const int32_t after = run->greater_only ? (int32_t)row : -1;
        run->counts[row] = count(tree, run->told, query, run->limit2, after, NULL, NULL);
        if (!run->ids) continue;
        if (run->counts[row] > run->room - run->used) return;
        run->used += collect(tree, run->told, query, run->limit2, after, run->ids + run->used,
                             (unsigned char*)run->distance2 + (size_t)run->used * real);
    }
}

const sap_radius_kernels sap_radius_periodic_walk = {search};
#endif
