// Boxes through the shared walk, on trees of both kinds: how explicit trees are searched, and the reference for the fast
// way on balanced ones.
#include "base/assert.h"
#include "box/box.h"
#include "math/dialect.h"
#include "tree/periods.h"

#define SAP_STACK        SAP_MAX_DEPTH
#define SAP_SPECIAL_TEXT "box/walk_instances.h"
#include "math/specialise_all.h"

#define ANSWER(bits, axes) answer_f##bits##_##axes

static sap_box_answer choose_answer(const sap_tree* tree) {
    const sap_tree_shape* shape = &tree->shape;
    if (sap_is_periodic(&tree->options)) return sap_box_answer_choose_around(shape);
    static const sap_box_answer answers[2][4] = {{SAP_EACH_AXES_32(ANSWER)}, {SAP_EACH_AXES_64(ANSWER)}};
    SAP_ASSERT(shape->dims >= 1 && shape->dims <= SAP_MAX_DIMS);
    return answers[shape->real_bits == 64][shape->dims >= 2 && shape->dims <= 4 ? shape->dims - 2 : 3];
}

void sap_box_walk_cpu(sap_hits_run* hits) {
    const sap_box_run* run = (const sap_box_run*)(const void*)hits;
    const sap_tree* tree = run->tree;
    const sap_box_answer answer = choose_answer(tree);
    const int64_t real = (int64_t)sap_real_bytes(&tree->shape);
    const unsigned char *lower = run->lower, *upper = run->upper;
    for (; hits->done < hits->count; hits->done++) {
        const int64_t row = hits->rows ? hits->rows[hits->done] : hits->first_row + hits->done;
        const int64_t left = hits->ids ? hits->room - hits->used : 0;
        const int32_t room = left < INT32_MAX ? (int32_t)left : INT32_MAX;
        const int32_t count = tree->shape.count == 0
                                  ? 0
                                  : answer(tree, lower + hits->done * run->lower_stride * real,
                                           upper + row * run->upper_stride * real, room, hits->ids + hits->used);
        if (hits->ids && count > room) return;
        hits->counts[row] = count;
        if (hits->ids) hits->used += count;
    }
}
