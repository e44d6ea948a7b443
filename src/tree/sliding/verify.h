// The check of the sliding-midpoint rule (tree/explicit/sliding_rule.h) at one node, in one precision.
#include "math/specialise.h"

// Whether the rule gives a node this axis and this split.
static bool SAP_TYPED(follows_sliding)(const sap_tree* tree, const SAP_TYPED(division) * d) {
    const sap_tree_shape* s = &tree->shape;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    SAP_ASSERT(d->axis >= 0 && d->axis < s->dims && d->left_count <= d->count);
    for (int32_t a = 0; a < s->dims; a++) { // sides along which the points are equal count as zero
        const bool flat = d->lower[a] == d->upper[a];
        lower[a] = flat ? (double)d->lower[a] : d->cell_lower[a];
        upper[a] = flat ? (double)d->lower[a] : d->cell_upper[a];
    }
    int32_t axis = sap_sliding_axis(&tree->options, s->dims, s->real_bits, d->depth, lower, upper);
    if (d->axis != (axis < 0 ? 0 : axis)) return false;
    if (axis < 0 || d->depth >= sap_halving_depth(s->count))
        return d->left_count == d->count / 2 && SAP_TYPED(same)(d->split, d->right_lower);
    double middle = sap_sliding_middle(s->real_bits, lower[axis], upper[axis]);
    double slid = sap_sliding_slid(s->real_bits, middle, (double)d->lower[axis], (double)d->upper[axis]);
    return SAP_TYPED(same)(d->split, (SAP_REAL)slid) && d->left_upper < d->split;
}
