// The shared walks through trees with periods, for all that searches may be told. Their list lies in memory for any k.
#include "math/dialect.h"
#include "nearest/nearest.h"
#include "nearest/walk_cpu.h"
#include "tree/told.h"

#define SAP_MEASURED
#define SAP_PERIODIC
#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "nearest/walk_told_instances.h"
#include "math/specialise_all.h"

#define ANSWER(bits, axes) answer_f##bits##_##axes##_0

sap_answer_function sap_answer_choose_periodic(const sap_tree_shape* shape) {
    static const sap_answer_function answers[2][4] = {{SAP_EACH_AXES_32(ANSWER)}, {SAP_EACH_AXES_64(ANSWER)}};
    const int axes = shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3;
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][axes];
}

#if defined(__EMSCRIPTEN__)
// Queries are asked again by the kernels that know periods: the walk, where vector code for it is not downloaded.
static void search(sap_nearest_run* run) {
    const sap_answer_function answer = sap_answer_choose_periodic(&run->tree->shape);
    const size_t real = sap_real_bytes(&run->tree->shape);
    const unsigned char* query = run->queries;
    const sap_answer_job job = {
        .tree = run->tree, .limit2 = run->limit2, .k = run->k, .row_length = run->row_length, .told = run->told};
    SAP_ASSERT(!run->told->radii && !run->told->ks);
    for (int64_t i = 0; i < run->count; i++, query += (size_t)run->stride * real) {
        const int64_t row = run->rows[i], first = row * run->row_length;
        const int32_t without = run->without ? run->without[row] : run->skip_self ? (int32_t)row : -1;
        answer(&job, query, without, run->ids + first, (unsigned char*)run->distance2 + (size_t)first * real,
               &run->stats);
    }
}

const sap_nearest_kernels sap_nearest_periodic_walk = {search};
#endif
