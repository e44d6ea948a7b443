// The quick check of balanced trees (tree/balanced/accept.h).
#include "tree/balanced/accept.h"
#include "tree/balanced/view_simd.h"

typedef struct bounds {
    real lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    int32_t min_id;
} bounds;

INLINE bool same_bits(real x, real y) { return bits_of(x) == bits_of(y); }

INLINE vid load_ids(const int32_t* ids, int n) { return n >= LANES ? id_load(ids) : id_load_part(ids, n > 0 ? n : 0); }

// The ids of a leaf's points ascend within [0, source_count), and those of unused slots are -1.
INLINE bool ids_right(const tree_view* t, const int32_t* ids, int count, int64_t source_count, int32_t* copies) {
    const vid end = id_set((int32_t)source_count), unused = id_set(-1);
    uint32_t wrong = ids[0] < 0;
    for (int slot = 0; slot < t->stride; slot += LANES) {
        int slots = t->stride - slot, points = count - slot;
        vid here = load_ids(ids + slot, slots), next = load_ids(ids + slot + 1, slots - 1);
        wrong |= lanes_below(points) & ~id_less(here, end);
        wrong |= lanes_below(points - 1) & ~id_less(here, next);
        wrong |= lanes_below(slots) & ~lanes_below(points) & ~id_equal(here, unused);
        if (points >= LANES)
            id_store(copies + slot, here);
        else if (points > 0)
            id_store_part(copies + slot, here, points);
    }
    return !wrong;
}

INLINE bool minus_zero_among(const real* x, int count) {
    bool any = false;
    for (int i = 0; i < count; i++) any |= same_bits(x[i], (real)-0.0);
    return any;
}

// The coordinates of a leaf's points on one axis lie within the bounds and touch them; those of unused slots are
// infinite.
INLINE bool coordinates_right(const tree_view* t, const real* x, int count, real lower, real upper) {
    const vreal low = v_set(lower), high = v_set(upper), unused = v_set(INFINITY), zero = v_set(0);
    uint32_t wrong = 0, touch_low = 0, touch_high = 0, zeros = 0;
    for (int i = 0, slot = 0; i < t->vectors; i++, slot += LANES) {
        uint32_t points = lanes_below(count - slot), slots = i + 1 < t->vectors ? (uint32_t)ALL_LANES : t->last_lanes;
        vreal here = v_load(x + slot);
        wrong |= points & ~(v_less_equal(low, here) & v_less_equal(here, high));
        wrong |= slots & ~points & ~v_equal(here, unused);
        touch_low |= points & v_equal(here, low);
        touch_high |= points & v_equal(here, high);
        zeros |= points & v_equal(here, zero);
    }
    return !wrong && touch_low && touch_high && !(zeros && minus_zero_among(x, count));
}

INLINE void load_bounds(const tree_view* t, const int dims, int level, int64_t index, bounds* b) {
    const real* box = group_boxes(t, dims, level, index / SAP_GROUP) + index % SAP_GROUP;
    for (int a = 0; a < dims; a++) {
        b->lower[a] = box[2 * a * SAP_GROUP];
        b->upper[a] = box[(2 * a + 1) * SAP_GROUP];
    }
    b->min_id = t->min_ids[level][index];
}

// A leaf, whose box, as the tree has it, becomes *b.
INLINE bool leaf_right(const sap_subtree_check* c, const tree_view* t, const int dims, real most, int64_t number,
                       bounds* b) {
    const sap_tree_shape* s = &c->tree->shape;
    const int64_t rank = sap_leaf_rank(s, number);
    const int count = (int)(sap_leaf_rank(s, number + 1) - rank);
    if (count < 1) return false;
    const real* block = leaf_block(t, number);
    const int32_t* ids = block_ids(t, dims, block);
    load_bounds(t, dims, t->levels - 1, number, b);
    bool right = ids_right(t, ids, count, s->source_count, c->ids + rank) && b->min_id == ids[0];
    for (int a = 0; right && a < dims; a++)
        right = b->lower[a] >= -most && b->upper[a] <= most && !same_bits(b->lower[a], (real)-0.0) &&
                !same_bits(b->upper[a], (real)-0.0) &&
                coordinates_right(t, block + (int64_t)a * t->stride, count, b->lower[a], b->upper[a]);
    return right;
}

INLINE void join(const int dims, bounds* left, const bounds* right) {
    for (int a = 0; a < dims; a++) {
        left->lower[a] = right->lower[a] < left->lower[a] ? right->lower[a] : left->lower[a];
        left->upper[a] = right->upper[a] > left->upper[a] ? right->upper[a] : left->upper[a];
    }
    left->min_id = right->min_id < left->min_id ? right->min_id : left->min_id;
}

INLINE int32_t axis_by_rule(const sap_tree* tree, const int dims, int32_t depth, const bounds* b) {
    if (tree->options.axis == SAP_AXIS_CYCLE) return (tree->shape.slice.root_depth + depth) % dims;
    int32_t widest = 0;
    for (int32_t a = 1; a < dims; a++)
        if (b->upper[a] - b->lower[a] > b->upper[widest] - b->lower[widest]) widest = a;
    return widest;
}

// The box beside a node, where there is one.
INLINE bool box_right(const sap_tree_shape* s, const tree_view* t, const int dims, int32_t depth, int64_t index,
                      const bounds* b) {
    const int32_t below = s->depth - depth;
    if (below % SAP_GROUP_BITS || depth == 0) return true;
    bounds there;
    load_bounds(t, dims, s->levels - 1 - below / SAP_GROUP_BITS, index, &there);
    bool right = there.min_id == b->min_id;
    for (int a = 0; a < dims; a++)
        right = right && same_bits(there.lower[a], b->lower[a]) && same_bits(there.upper[a], b->upper[a]);
    return right;
}

// An inner node, whose halves are right; the bounds of the left become those of both.
INLINE bool inner_right(sap_subtree_check* c, const tree_view* t, const int dims, int32_t depth, int64_t index,
                        bounds* left, const bounds* right) {
    const sap_tree_shape* s = &c->tree->shape;
    const int64_t node = ((int64_t)1 << depth) + index;
    const int32_t axis = c->tree->arrays[s->axis_at + (size_t)node];
    if (axis >= dims) return false;
    if (!same_bits(((const real*)(const void*)(c->tree->arrays + s->split_at))[node], right->lower[axis])) return false;
    if (!(left->upper[axis] < right->lower[axis]) &&
        !(left->upper[axis] == right->lower[axis] && c->in_order(c, depth, index, axis)))
        return false;
    join(dims, left, right);
    return axis == axis_by_rule(c->tree, dims, depth, left) && box_right(s, t, dims, depth, index, left);
}

INLINE bool accept_dims(sap_subtree_check* c, const int dims, void* lower, void* upper, int32_t* min_id) {
    const sap_tree_shape* s = &c->tree->shape;
    const tree_view t = view_tree(c->tree);
    const real most = (real)sap_largest_coordinate(SAP_REAL_BITS, dims);
    const int64_t leaves = (int64_t)1 << (s->depth - c->depth);
    bounds done[SAP_MAX_LEVELS * SAP_GROUP_BITS + 1]; // finished left siblings, the deepest last
    int32_t height = 0;
    for (int64_t i = 0; i < leaves; i++) {
        const int64_t number = c->index * leaves + i;
        SAP_ASSERT(height <= s->depth - c->depth);
        if (!leaf_right(c, &t, dims, most, number, &done[height])) return false;
        for (int32_t up = 1; i >> (up - 1) & 1; up++, height--)
            if (!inner_right(c, &t, dims, s->depth - up, number >> up, &done[height - 1], &done[height])) return false;
        height++;
    }
    SAP_ASSERT(height == 1);
    memcpy(lower, done[0].lower, (size_t)dims * sizeof(real));
    memcpy(upper, done[0].upper, (size_t)dims * sizeof(real));
    *min_id = done[0].min_id;
    return true;
}

static bool accept(sap_subtree_check* c, void* lower, void* upper, int32_t* min_id) {
    const int dims = c->tree->shape.dims;
#if !defined(SAP_FEW_INSTANCES)
    if (dims == 2) return accept_dims(c, 2, lower, upper, min_id);
    if (dims == 3) return accept_dims(c, 3, lower, upper, min_id);
#endif
    return accept_dims(c, dims, lower, upper, min_id);
}

const sap_accept_kernels SAP_KERNEL(accept_kernels) = {accept};
