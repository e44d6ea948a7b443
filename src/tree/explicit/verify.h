// The check of an explicit tree's nodes in one precision, whatever rule divided them.
//
// The walk takes each node's cell down the tree, cut by splits that have not been checked yet, and the bounds of its
// points up. Once both sides of a node are done, its split rule says what its axis and its split must be. A wrong split
// makes only the cells below it wrong.
#include "math/specialise.h"

// What is below a node of an explicit tree.
typedef struct SAP_TYPED(bounds) {
    SAP_REAL lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    int64_t count;
    int32_t min_id;
} SAP_TYPED(bounds);

// An inner node on the path from the root, and its left side once that is done.
typedef struct SAP_TYPED(path_node) {
    SAP_TYPED(bounds) left;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS]; // its cell
    int64_t node, right;
    SAP_REAL split;
    int32_t axis;
    bool left_done;
} SAP_TYPED(path_node);

// A walk through the nodes in preorder.
typedef struct SAP_TYPED(preorder) {
    SAP_TYPED(path_node) path[SAP_MAX_DEPTH];
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS]; // the root's cell
    int64_t node, leaves, slot, rank;
    SAP_REAL most; // the largest magnitude of a coordinate
    int32_t depth, deepest, fullest;
} SAP_TYPED(preorder);

// The cell of the root: the tight box of all points.
static violation SAP_TYPED(root_cell)(const sap_tree* tree, double* lower, double* upper) {
    const sap_tree_shape* s = &tree->shape;
    for (int32_t a = 0; a < s->dims; a++) {
        lower[a] = (double)INFINITY;
        upper[a] = -(double)INFINITY;
    }
    int64_t next = 0;
    for (int64_t node = 0; node < s->nodes; node++) {
        int64_t slot;
        int32_t count;
        if (!sap_explicit_leaf(tree, node, &slot, &count)) continue;
        if (slot != next || count > s->capacity || sap_leaf_stride(count, s->real_bits) > s->slots - slot)
            return (violation){"slots do not follow one another at leaf", node};
        next += sap_leaf_stride(count, s->real_bits);
        SAP_TYPED(leaf_view) leaf = SAP_TYPED(view_leaf)(tree, slot, count, sap_leaf_stride(count, s->real_bits));
        for (int32_t a = 0; a < s->dims; a++)
            for (int32_t i = 0; i < count; i++) {
                double x = (double)leaf.coords[(int64_t)a * leaf.stride + i];
                lower[a] = x < lower[a] ? x : lower[a];
                upper[a] = x > upper[a] ? x : upper[a];
            }
    }
    return (violation){NULL, 0};
}

// Gives the node at the end of the path its cell: the root's, or its parent's on this side of the plane.
static void SAP_TYPED(enter_cell)(const sap_tree* tree, SAP_TYPED(preorder) * w, int32_t depth) {
    SAP_TYPED(path_node)* p = &w->path[depth];
    size_t bytes = (size_t)tree->shape.dims * sizeof(double);
    SAP_ASSERT(depth < SAP_MAX_DEPTH);
    if (depth == 0) {
        memcpy(p->lower, w->lower, bytes);
        memcpy(p->upper, w->upper, bytes);
        return;
    }
    const SAP_TYPED(path_node)* parent = &w->path[depth - 1];
    memcpy(p->lower, parent->lower, bytes);
    memcpy(p->upper, parent->upper, bytes);
    if (parent->left_done)
        p->lower[parent->axis] = (double)parent->split;
    else
        p->upper[parent->axis] = (double)parent->split;
}

// Walks down to the next leaf.
static violation SAP_TYPED(descend)(const sap_tree* tree, SAP_TYPED(preorder) * w) {
    const sap_tree_shape* s = &tree->shape;
    for (;; w->node++) {
        if (w->node >= s->nodes) return (violation){"a child is missing after node", w->node - 1};
        int64_t slot;
        int32_t count;
        if (sap_explicit_leaf(tree, w->node, &slot, &count)) return (violation){NULL, 0};
        if (w->depth >= SAP_MAX_DEPTH) return (violation){"too deep at node", w->node};
        SAP_TYPED(path_node)* p = &w->path[w->depth];
        SAP_TYPED(enter_cell)(tree, w, w->depth++);
#if SAP_REAL_BITS == 64
        const sap_node_f64* n = (const sap_node_f64*)(const void*)(tree->arrays + s->node_at) + w->node;
        if (n->zero) return (violation){"padding is not zero in node", w->node};
#else
        const sap_node_f32* n = (const sap_node_f32*)(const void*)(tree->arrays + s->node_at) + w->node;
#endif
        memcpy(&p->split, &n->bits, sizeof p->split);
        p->node = w->node;
        p->right = w->node + (n->link >> 5);
        p->axis = (int32_t)(n->link & SAP_NODE_LEAF);
        p->left_done = false;
        if (p->axis >= s->dims) return (violation){"axis out of range at node", w->node};
    }
}

// Checks the leaf that the walk has reached and stores its bounds in b.
static violation SAP_TYPED(check_explicit_leaf)(const sap_tree* tree, SAP_TYPED(preorder) * w, int32_t* ids,
                                                SAP_TYPED(bounds) * b) {
    const sap_tree_shape* s = &tree->shape;
    int64_t slot = 0;
    int32_t count = 0;
    sap_explicit_leaf(tree, w->node, &slot, &count);
    if (count > s->capacity || (count == 0 && s->count > 0)) return (violation){"number of points at leaf", w->node};
#if SAP_REAL_BITS == 64
    if (((const sap_node_f64*)(const void*)(tree->arrays + s->node_at))[w->node].zero)
        return (violation){"padding is not zero in node", w->node};
#endif
    int32_t stride = sap_leaf_stride(count, s->real_bits);
    if (slot != w->slot || stride > s->slots - slot || count > s->count - w->rank)
        return (violation){"slots do not follow one another at leaf", w->node};
    SAP_TYPED(leaf_view) leaf = SAP_TYPED(view_leaf)(tree, slot, count, stride);
    violation v = SAP_TYPED(check_points)(tree, &leaf, w->most, ids + w->rank);
    if (v.what) return v;
    b->count = count;
    b->min_id = count ? leaf.ids[0] : INT32_MAX;
    for (int32_t a = 0; a < s->dims; a++) {
        b->lower[a] = (SAP_REAL)INFINITY;
        b->upper[a] = -(SAP_REAL)INFINITY;
        for (int32_t i = 0; i < count; i++) {
            SAP_REAL x = leaf.coords[(int64_t)a * stride + i];
            b->lower[a] = x < b->lower[a] ? x : b->lower[a];
            b->upper[a] = x > b->upper[a] ? x : b->upper[a];
        }
        if (count > tree->options.leaf_size && b->lower[a] < b->upper[a])
            return (violation){"more points than leaf_size, which are not equal, at leaf", w->node};
    }
    w->leaves++;
    w->slot += stride;
    w->rank += count;
    if (w->depth > w->deepest) w->deepest = w->depth;
    if (count > w->fullest) w->fullest = count;
    return (violation){NULL, 0};
}

// Checks a finished inner node, whose right side is in b; b becomes the bounds of both sides.
static violation SAP_TYPED(check_sides)(const sap_tree* tree, SAP_TYPED(path_node) * p, int32_t depth,
                                        SAP_TYPED(bounds) * b) {
    const SAP_TYPED(bounds)* left = &p->left;
    SAP_REAL right_lower = b->lower[p->axis];
    if (!(left->upper[p->axis] <= p->split && p->split <= right_lower))
        return (violation){"points on the wrong side of node", p->node};
    for (int32_t a = 0; a < tree->shape.dims; a++) {
        b->lower[a] = left->lower[a] < b->lower[a] ? left->lower[a] : b->lower[a];
        b->upper[a] = left->upper[a] > b->upper[a] ? left->upper[a] : b->upper[a];
    }
    b->count += left->count;
    if (left->min_id < b->min_id) b->min_id = left->min_id;
    bool equal = true;
    for (int32_t a = 0; a < tree->shape.dims; a++) equal = equal && b->lower[a] == b->upper[a];
    if (b->count <= (equal ? SAP_LEAF_MAX_EQUAL : tree->options.leaf_size))
        return (violation){"should be a leaf: node", p->node};
    const SAP_TYPED(division) division = {.cell_lower = p->lower,
                                          .cell_upper = p->upper,
                                          .lower = b->lower,
                                          .upper = b->upper,
                                          .count = b->count,
                                          .left_count = left->count,
                                          .left_upper = left->upper[p->axis],
                                          .right_lower = right_lower,
                                          .split = p->split,
                                          .axis = p->axis,
                                          .depth = depth};
#if defined(__EMSCRIPTEN__) // where code is downloaded, the order of the points alone is checked
    if (tree->options.split == SAP_SPLIT_VVH) return (violation){NULL, 0};
    if (!SAP_TYPED(follows_sliding)(tree, &division))
#else
    if (tree->options.split == SAP_SPLIT_VVH ? !SAP_TYPED(follows_vvh)(tree, &division)
                                             : !SAP_TYPED(follows_sliding)(tree, &division))
#endif
        return (violation){"axis or split is not the rule's at node", p->node};
    return (violation){NULL, 0};
}

static violation SAP_TYPED(verify_explicit)(const sap_tree* tree, int32_t* ids) {
    const sap_tree_shape* s = &tree->shape;
    const int32_t* min_ids = (const int32_t*)(const void*)(tree->arrays + s->node_min_id_at);
    SAP_TYPED(preorder) w = {.most = (SAP_REAL)sap_largest_coordinate(SAP_REAL_BITS, s->dims)};
    violation bad = SAP_TYPED(root_cell)(tree, w.lower, w.upper);
    if (bad.what) return bad;
    for (bool more = true; more;) {
        SAP_TYPED(bounds) b;
        violation v = SAP_TYPED(descend)(tree, &w);
        if (!v.what) v = SAP_TYPED(check_explicit_leaf)(tree, &w, ids, &b);
        if (v.what) return v;
        if (min_ids[w.node] != b.min_id) return (violation){"wrong smallest id at node", w.node};
        w.node++;
        for (; w.depth > 0 && w.path[w.depth - 1].left_done; w.depth--) {
            SAP_TYPED(path_node)* p = &w.path[w.depth - 1];
            v = SAP_TYPED(check_sides)(tree, p, w.depth - 1, &b);
            if (v.what) return v;
            if (min_ids[p->node] != b.min_id) return (violation){"wrong smallest id at node", p->node};
        }
        more = w.depth > 0;
        if (!more) break;
        SAP_TYPED(path_node)* p = &w.path[w.depth - 1];
        if (p->right != w.node) return (violation){"wrong offset to the right child of node", p->node};
        p->left = b;
        p->left_done = true;
    }
    SAP_ASSERT(w.depth == 0 && w.rank <= s->count);
    if (w.node != s->nodes || w.leaves != s->leaves || w.slot != s->slots || w.rank != s->count ||
        w.deepest != s->depth || w.fullest != s->capacity)
        return (violation){"nodes, leaves, points or depth are not as many as the header says; nodes", w.node};
    return (violation){NULL, 0};
}
