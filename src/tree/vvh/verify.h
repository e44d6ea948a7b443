// The check of the rule of tree/explicit/vvh_rule.h at one node, in one precision: that its plane is a candidate. That no other
// candidate is better, only another build can tell.
#include "math/specialise.h"

// Whether the rule could give a node this axis and this split.
static bool SAP_TYPED(follows_vvh)(const sap_tree* tree, const SAP_TYPED(division) * d) {
    const sap_tree_shape* s = &tree->shape;
    int32_t first = -1; // along which the points differ
    SAP_ASSERT(d->axis >= 0 && d->axis < s->dims && d->left_count <= d->count);
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    for (int32_t a = 0; a < s->dims; a++) {
        lower[a] = (double)d->lower[a];
        upper[a] = (double)d->upper[a];
    }
    const int32_t widest = sap_sliding_axis(&tree->options, s->dims, s->real_bits, d->depth, lower, upper);
    if (widest < 0 || d->depth >= sap_halving_depth(s->count))
        return d->axis == (widest < 0 ? 0 : widest) && d->left_count == d->count / 2 &&
               SAP_TYPED(same)(d->split, d->right_lower);
    if (!(d->left_upper < d->split)) return false;
    bool any = false;
    for (int32_t i = 0; i < s->dims; i++) {
        const int32_t a = tree->options.axis == SAP_AXIS_CYCLE ? (d->depth + i) % s->dims : i;
        if (!(lower[a] < upper[a])) continue;
        if (first < 0) first = a;
        if (tree->options.axis == SAP_AXIS_CYCLE && a != first) break;
        for (int32_t c = 1; c < SAP_VVH_PARTS; c++) {
            const double plane = sap_sliding_rounded(s->real_bits, sap_vvh_candidate(lower[a], upper[a], c));
            if (!sap_vvh_divides(lower[a], upper[a], plane)) continue;
            if (a == d->axis && SAP_TYPED(same)(d->split, (SAP_REAL)plane)) return true;
            any = true;
        }
    }
    return !any && d->axis == first && SAP_TYPED(same)(d->split, d->upper[first]);
}
