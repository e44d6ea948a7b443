// The check of a balanced tree in one precision.
#include "math/specialise.h"

// A point where it lies: coordinate a at x[a*stride].
typedef struct SAP_TYPED(place) {
    const SAP_REAL* x;
    int32_t id;
} SAP_TYPED(place);

// What is below a node: per axis the first and the last point in the axis's total order (whose coordinates bound the
// box). first[0].x is NULL if there is no point.
typedef struct SAP_TYPED(summary) {
    SAP_TYPED(place) first[SAP_MAX_DIMS], last[SAP_MAX_DIMS];
    int32_t min_id;
} SAP_TYPED(summary);

static bool SAP_TYPED(before)(const sap_tree_shape* s, int32_t axis, SAP_TYPED(place) p, SAP_TYPED(place) q) {
    for (int32_t c = 0, a = axis; c < s->dims; c++, a = a + 1 < s->dims ? a + 1 : 0) {
        SAP_REAL x = p.x[(int64_t)a * s->stride], y = q.x[(int64_t)a * s->stride];
        if (x != y) return x < y;
    }
    return p.id < q.id;
}

static void SAP_TYPED(summarise_leaf)(const sap_tree_shape* s, const SAP_TYPED(leaf_view) * leaf,
                                      SAP_TYPED(summary) * sum) {
    sum->min_id = leaf->count ? leaf->ids[0] : INT32_MAX;
    for (int32_t a = 0; a < s->dims; a++) {
        SAP_TYPED(place) first = {NULL, 0}, last = {NULL, 0};
        const SAP_REAL* x = leaf->coords + (int64_t)a * leaf->stride;
        SAP_REAL lower = (SAP_REAL)INFINITY, upper = -(SAP_REAL)INFINITY;
        for (int32_t i = 0; i < leaf->count; i++) {
            lower = x[i] < lower ? x[i] : lower;
            upper = x[i] > upper ? x[i] : upper;
        }
        for (int32_t i = 0; i < leaf->count; i++) { // points that share a bound are rare
            if (x[i] != lower && x[i] != upper) continue;
            SAP_TYPED(place) p = {leaf->coords + i, leaf->ids[i]};
            if (x[i] == lower && (!first.x || SAP_TYPED(before)(s, a, p, first))) first = p;
            if (x[i] == upper && (!last.x || SAP_TYPED(before)(s, a, last, p))) last = p;
        }
        sum->first[a] = first;
        sum->last[a] = last;
    }
}

// left becomes the summary of both.
static void SAP_TYPED(merge)(const sap_tree_shape* s, SAP_TYPED(summary) * left, const SAP_TYPED(summary) * right) {
    if (!right->first[0].x) return;
    if (!left->first[0].x) {
        *left = *right;
        return;
    }
    if (right->min_id < left->min_id) left->min_id = right->min_id;
    for (int32_t a = 0; a < s->dims; a++) {
        if (SAP_TYPED(before)(s, a, right->first[a], left->first[a])) left->first[a] = right->first[a];
        if (SAP_TYPED(before)(s, a, left->last[a], right->last[a])) left->last[a] = right->last[a];
    }
}

// The box and the smallest id beside node `index` of `depth`, where there is one.
static violation SAP_TYPED(check_box)(const sap_tree* tree, int32_t depth, int64_t index,
                                      const SAP_TYPED(summary) * sum) {
    const sap_tree_shape* s = &tree->shape;
    int32_t below = s->depth - depth;
    if (below % SAP_GROUP_BITS || (depth == 0 && s->depth > 0)) return (violation){NULL, 0};
    int32_t level = s->levels - 1 - below / SAP_GROUP_BITS;
    SAP_ASSERT(level >= 0 && level < s->levels);
    const SAP_REAL* box = (const SAP_REAL*)(const void*)(tree->arrays + s->box_at[level]) +
                          (index / SAP_GROUP) * s->dims * 2 * SAP_GROUP + index % SAP_GROUP;
    bool empty = !sum->first[0].x, same = true;
    for (int32_t a = 0; a < s->dims; a++, box += 2 * SAP_GROUP) {
        SAP_REAL lower = empty ? (SAP_REAL)INFINITY : sum->first[a].x[(int64_t)a * s->stride];
        SAP_REAL upper = empty ? -(SAP_REAL)INFINITY : sum->last[a].x[(int64_t)a * s->stride];
        same = same && SAP_TYPED(same)(box[0], lower) && SAP_TYPED(same)(box[SAP_GROUP], upper);
    }
    int64_t node = ((int64_t)1 << depth) + index;
    if (!same) return (violation){"box is not tight at node", node};
    if (((const int32_t*)(const void*)(tree->arrays + s->min_id_at[level]))[index] != sum->min_id)
        return (violation){"wrong smallest id at node", node};
    return (violation){NULL, 0};
}

static int32_t SAP_TYPED(axis_by_rule)(const sap_tree* tree, int32_t depth, const SAP_TYPED(summary) * both) {
    const sap_tree_shape* s = &tree->shape;
    if (tree->options.axis == SAP_AXIS_CYCLE) return (s->slice.root_depth + depth) % s->dims;
    SAP_ASSERT(both->first[0].x);
    int32_t widest = 0;
    SAP_REAL most = -1;
    for (int32_t a = 0; a < s->dims; a++) {
        SAP_REAL extent = both->last[a].x[(int64_t)a * s->stride] - both->first[a].x[(int64_t)a * s->stride];
        if (extent > most) {
            most = extent;
            widest = a;
        }
    }
    return widest;
}

// Checks an inner node against its halves; left becomes the summary of both.
static violation SAP_TYPED(check_inner)(const sap_tree* tree, int32_t depth, int64_t index, SAP_TYPED(summary) * left,
                                        const SAP_TYPED(summary) * right) {
    const sap_tree_shape* s = &tree->shape;
    int64_t node = ((int64_t)1 << depth) + index;
    const int32_t below = s->depth - depth;
    int64_t count = sap_leaf_rank(s, (index + 1) << below) - sap_leaf_rank(s, index << below);
    int32_t axis = tree->arrays[s->axis_at + (size_t)node];
    SAP_REAL split = ((const SAP_REAL*)(const void*)(tree->arrays + s->split_at))[node];
    if (axis >= s->dims) return (violation){"axis out of range at node", node};
    if (count < 2) {
        // A lone point is on the plane, whichever side it is on.
        SAP_TYPED(merge)(s, left, right);
        if (axis != 0 || !SAP_TYPED(same)(split, count ? left->first[0].x[0] : 0))
            return (violation){"a node with nothing to divide has an axis or a split, node", node};
        return SAP_TYPED(check_box)(tree, depth, index, left);
    }
    SAP_TYPED(place) median = right->first[axis], last = left->last[axis];
    SAP_ASSERT(median.x && last.x); // of two points and more, each half has one
    if (!SAP_TYPED(before)(s, axis, last, median)) return (violation){"points on the wrong side of node", node};
    if (!SAP_TYPED(same)(split, median.x[(int64_t)axis * s->stride]))
        return (violation){"split is not the median at node", node};
    SAP_TYPED(merge)(s, left, right);
    if (axis != SAP_TYPED(axis_by_rule)(tree, depth, left)) return (violation){"axis is not the rule's at node", node};
    return SAP_TYPED(check_box)(tree, depth, index, left);
}

// Among leaves [from, to), the first or the last point of those with this coordinate, in the axis's total order. *looked
// goes up by the points that were looked at.
static SAP_TYPED(place) SAP_TYPED(find_place)(const sap_tree* tree, int64_t from, int64_t to, int32_t axis, SAP_REAL x,
                                              bool last, int64_t* looked) {
    const sap_tree_shape* s = &tree->shape;
    const SAP_REAL* boxes = (const SAP_REAL*)(const void*)(tree->arrays + s->box_at[s->levels - 1]);
    SAP_TYPED(place) found = {NULL, 0};
    for (int64_t number = from; number < to; number++) {
        const SAP_REAL* box = boxes + (number / SAP_GROUP) * s->dims * 2 * SAP_GROUP + number % SAP_GROUP;
        if (box[(2 * axis + last) * SAP_GROUP] != x) continue;
        int32_t count = (int32_t)(sap_leaf_rank(s, number + 1) - sap_leaf_rank(s, number));
        SAP_TYPED(leaf_view) leaf = SAP_TYPED(view_leaf)(tree, number * s->stride, count, s->stride);
        const SAP_REAL* at = leaf.coords + (int64_t)axis * leaf.stride;
        *looked += count;
        for (int32_t i = 0; i < count; i++) {
            if (at[i] != x) continue;
            SAP_TYPED(place) p = {leaf.coords + i, leaf.ids[i]};
            if (!found.x || SAP_TYPED(before)(s, axis, last ? found : p, last ? p : found)) found = p;
        }
    }
    return found;
}

// sap_subtree_check.in_order: the leaves below the node were accepted.
static bool SAP_TYPED(in_order)(sap_subtree_check* check, int32_t depth, int64_t index, int32_t axis) {
    const sap_tree* tree = check->tree;
    const int64_t half = (int64_t)1 << (tree->shape.depth - depth - 1), middle = (2 * index + 1) * half;
    const SAP_REAL x =
        ((const SAP_REAL*)(const void*)(tree->arrays + tree->shape.split_at))[((int64_t)1 << depth) + index];
    int64_t looked = 0;
    SAP_TYPED(place) left = SAP_TYPED(find_place)(tree, middle - half, middle, axis, x, true, &looked);
    SAP_TYPED(place) right = SAP_TYPED(find_place)(tree, middle, middle + half, axis, x, false, &looked);
    SAP_ASSERT(left.x && right.x);
    check->patience -= looked;
    return check->patience >= 0 && SAP_TYPED(before)(&tree->shape, axis, left, right);
}

// Whether the kernels accept everything below node `index` of depth `top`; ids of the points go to ids[rank].
static bool SAP_TYPED(accept_subtree)(const sap_tree* tree, const sap_accept_kernels* kernels, int32_t top,
                                      int64_t index, int32_t* ids, SAP_TYPED(summary) * result) {
    const sap_tree_shape* s = &tree->shape;
    const int64_t leaves = (int64_t)1 << (s->depth - top), from = index * leaves, to = from + leaves;
    SAP_REAL lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    sap_subtree_check check = {tree, top, index, ids, SAP_TYPED(in_order), PATIENCE * (s->count >> top)};
    if (!kernels || !kernels->accept(&check, lower, upper, &result->min_id)) return false;
    int64_t looked = 0;
    for (int32_t a = 0; a < s->dims; a++) {
        result->first[a] = SAP_TYPED(find_place)(tree, from, to, a, lower[a], false, &looked);
        result->last[a] = SAP_TYPED(find_place)(tree, from, to, a, upper[a], true, &looked);
        SAP_ASSERT(result->first[a].x && result->last[a].x);
    }
    return true;
}

// Checks everything below node `index` of depth `top`; ids of the points go to ids[rank].
static violation SAP_TYPED(check_subtree)(const sap_tree* tree, int32_t top, int64_t index, int32_t* ids,
                                          SAP_TYPED(summary) * result) {
    const sap_tree_shape* s = &tree->shape;
    SAP_TYPED(summary) done[SAP_MAX_LEVELS * SAP_GROUP_BITS + 1]; // finished left siblings, the deepest last
    const SAP_REAL most = (SAP_REAL)sap_largest_coordinate(SAP_REAL_BITS, s->dims);
    int32_t height = 0;
    int64_t leaves = (int64_t)1 << (s->depth - top);
    for (int64_t i = 0; i < leaves; i++) {
        SAP_ASSERT(height <= s->depth - top);
        int64_t number = index * leaves + i, rank = sap_leaf_rank(s, number);
        int32_t count = (int32_t)(sap_leaf_rank(s, number + 1) - rank);
        SAP_TYPED(leaf_view) leaf = SAP_TYPED(view_leaf)(tree, number * s->stride, count, s->stride);
        violation v = SAP_TYPED(check_points)(tree, &leaf, most, ids + rank);
        if (v.what) return v;
        SAP_TYPED(summarise_leaf)(s, &leaf, &done[height]);
        v = SAP_TYPED(check_box)(tree, s->depth, number, &done[height]);
        for (int32_t up = 1; !v.what && (i >> (up - 1) & 1); up++, height--)
            v = SAP_TYPED(check_inner)(tree, s->depth - up, number >> up, &done[height - 1], &done[height]);
        if (v.what) return v;
        height++;
    }
    SAP_ASSERT(height == 1);
    *result = done[0];
    return (violation){NULL, 0};
}

// Boxes beyond the last node of a first level that does not fill its group.
static violation SAP_TYPED(check_unused_boxes)(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    SAP_TYPED(summary) none = {.first = {{NULL, 0}}, .min_id = INT32_MAX};
    violation v = {NULL, 0};
    for (int64_t i = (int64_t)1 << s->level_depth[0]; !v.what && i < SAP_GROUP; i++)
        v = SAP_TYPED(check_box)(tree, s->level_depth[0], i, &none);
    return v;
}

static int32_t SAP_TYPED(top_depth)(const sap_tree* tree) {
    int32_t depth = tree->shape.depth - SUBTREE_DEPTH;
    return depth < 0 ? 0 : depth < TOP_DEPTH ? depth : TOP_DEPTH;
}

// Memory that verify_balanced needs.
static size_t SAP_TYPED(verify_bytes)(const sap_tree* tree) {
    return (sizeof(SAP_TYPED(summary)) + sizeof(violation)) << SAP_TYPED(top_depth)(tree);
}

typedef struct SAP_TYPED(verification) {
    const sap_tree* tree;
    const sap_accept_kernels* kernels; // NULL: none
    int32_t top;                       // the depth of the subtrees
    int32_t* ids;
    SAP_TYPED(summary) * sums;
    violation* found;
} SAP_TYPED(verification);

static void SAP_TYPED(verify_subtree)(void* context, int64_t i, int32_t worker) {
    const SAP_TYPED(verification)* v = (const SAP_TYPED(verification)*)context;
    (void)worker;
    if (SAP_TYPED(accept_subtree)(v->tree, v->kernels, v->top, i, v->ids, &v->sums[i]))
        v->found[i] = (violation){NULL, 0};
    else
        v->found[i] = SAP_TYPED(check_subtree)(v->tree, v->top, i, v->ids, &v->sums[i]);
}

static violation SAP_TYPED(verify_balanced)(const sap_tree* tree, int32_t* ids, void* room) {
    int32_t top = SAP_TYPED(top_depth)(tree);
    int64_t subtrees = (int64_t)1 << top;
    SAP_TYPED(summary)* sums = (SAP_TYPED(summary)*)room;
    violation* found = (violation*)(void*)(sums + subtrees);
    const SAP_REAL* splits = (const SAP_REAL*)(const void*)(tree->arrays + tree->shape.split_at);
    if (tree->arrays[tree->shape.axis_at] || !SAP_TYPED(same)(splits[0], 0))
        return (violation){"unused entry is not zero, node", 0};
    violation v = SAP_TYPED(check_unused_boxes)(tree);
    if (v.what) return v;
    const bool cpu = tree->device->table->kind == SAP_CPU;
    SAP_TYPED(verification)
    all = {tree, cpu ? sap_cpu_kernels_of(tree->device, SAP_REAL_BITS)->accept : NULL, top, ids, sums, found};
    sap_team_run(tree->device->options.threads, subtrees, SAP_TYPED(verify_subtree), &all);
    for (int64_t i = 0; i < subtrees; i++)
        if (found[i].what) return found[i];
    for (int32_t depth = top - 1; depth >= 0; depth--) {
        for (int64_t i = 0; i < (int64_t)1 << depth; i++) {
            v = SAP_TYPED(check_inner)(tree, depth, i, &sums[2 * i], &sums[2 * i + 1]);
            if (v.what) return v;
            sums[i] = sums[2 * i];
        }
    }
    return (violation){NULL, 0};
}
