// The balanced builder's inner loops.
#include "base/assert.h"
#include "tree/balanced/build.h"
#include "tree/balanced/select.h"

INLINE real* column(const sap_build* b, int buffer, int axis) {
    return (real*)b->coords[buffer] + (int64_t)axis * b->pitch;
}

// ---- Loading

INLINE bool load_rows(const sap_build* b, int64_t from, int64_t to, const int dims, const int64_t stride) {
    const real* rows = b->rows->coords;
    const real most = (real)sap_largest_coordinate(SAP_REAL_BITS, dims);
    bool good = true;
    for (int64_t i = from; i < to; i++) {
        const real* row = rows + (b->keep ? (int64_t)b->keep[i] : i) * stride;
        for (int a = 0; a < dims; a++) {
            real x = row[a] + 0; // minus zero becomes zero
            good &= fabs((double)x) <= (double)most;
            column(b, 0, a)[i] = x;
        }
    }
    for (int64_t i = from; i < to; i++) b->ids[0][i] = b->keep ? b->keep[i] : (int32_t)i;
    return good;
}

static int64_t first_bad_row(const sap_build* b, int64_t from, int64_t to) {
    const real* rows = b->rows->coords;
    const real most = (real)sap_largest_coordinate(SAP_REAL_BITS, b->rows->dims);
    for (int64_t i = from; i < to; i++) {
        int64_t row = b->keep ? (int64_t)b->keep[i] : i;
        for (int a = 0; a < b->rows->dims; a++)
            if (!(fabs((double)rows[row * b->rows->stride + a]) <= (double)most)) return row;
    }
    return -1;
}

static int64_t load(const sap_build* b, int64_t from, int64_t to) {
    int dims = b->rows->dims;
    int64_t stride = b->rows->stride;
    bool good;
    if (dims == 3 && stride == 3)
        good = load_rows(b, from, to, 3, 3);
    else if (dims == 2 && stride == 2)
        good = load_rows(b, from, to, 2, 2);
#if !defined(SAP_FEW_INSTANCES) // where code is downloaded, without
    else if (dims == 4 && stride == 4)
        good = load_rows(b, from, to, 4, 4);
#endif
    else
        good = load_rows(b, from, to, dims, stride);
    return good ? -1 : first_bad_row(b, from, to);
}

// ---- Boxes

INLINE void extent_axis(const real* x, int64_t count, real* lower, real* upper) {
    vreal low = v_set(INFINITY), high = v_set(-INFINITY);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        vreal v = v_load(x + i);
        low = v_min(low, v);
        high = v_max(high, v);
    }
    int left = (int)(count - i);
    if (left) {
        vreal v = v_load_part(x + i, left);
        low = v_select(lanes_below(left), v_min(low, v), low);
        high = v_select(lanes_below(left), v_max(high, v), high);
    }
    *lower = reduce_min(low);
    *upper = reduce_max(high);
}

static void extent(const sap_build* b, int buffer, int64_t from, int64_t to, void* lower, void* upper) {
    for (int a = 0; a < b->rows->dims; a++)
        extent_axis(column(b, buffer, a) + from, to - from, (real*)lower + a, (real*)upper + a);
}

static void write_box(const sap_tree* t, int level, int64_t index, const real* lower, const real* upper,
                      int32_t least) {
    const sap_tree_shape* s = &t->shape;
    SAP_ASSERT(level >= 0 && level < s->levels && index < (int64_t)1 << s->level_depth[level]);
    real* box = (real*)(void*)(t->arrays + s->box_at[level]) + (index >> SAP_GROUP_BITS) * s->dims * 2 * SAP_GROUP +
                (index & (SAP_GROUP - 1));
    for (int a = 0; a < s->dims; a++, box += 2 * SAP_GROUP) {
        box[0] = lower[a];
        box[SAP_GROUP] = upper[a];
    }
    ((int32_t*)(void*)(t->arrays + s->min_id_at[level]))[index] = least;
}

static void begin_node(const sap_build* b, sap_build_node* node, const void* lower, const void* upper) {
    const sap_tree* t = b->tree;
    const sap_tree_shape* s = &t->shape;
    const real *low = lower, *high = upper;
    int below = s->depth - node->depth;
    if (below % SAP_GROUP_BITS == 0 && (node->depth > 0 || s->depth == 0)) {
        int32_t least = node->high > node->low ? b->ids[node->buffer][node->low] : INT32_MAX;
        write_box(t, s->levels - 1 - below / SAP_GROUP_BITS, node->index, low, high, least);
    }
    node->axis = 0;
    node->equal = true;
    for (int32_t a = 0; a < s->dims; a++) node->equal = node->equal && low[a] >= high[a];
    if (!below) return;
    int32_t axis = 0;
    if (node->high - node->low < 2)
        axis = 0;
    else if (t->options.axis == SAP_AXIS_CYCLE)
        axis = (s->slice.root_depth + node->depth) % s->dims;
    else
        for (int32_t a = 1; a < s->dims; a++)
            if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
    t->arrays[s->axis_at + (size_t)(((int64_t)1 << node->depth) + node->index)] = (uint8_t)axis;
    node->axis = axis;
}

// ---- Medians

static void write_split(const sap_build* b, const sap_build_node* node, const sap_pivot* p) {
    const sap_tree_shape* s = &b->tree->shape;
    SAP_ASSERT(node->index >= 0 && node->index < (int64_t)1 << node->depth && node->depth < s->depth);
    ((real*)(void*)(b->tree->arrays + s->split_at))[((int64_t)1 << node->depth) + node->index] = (real)p->value[0];
}

INLINE vreal load_lanes(const real* x, int n) { return n == LANES ? v_load(x) : v_load_part(x, n); }

// Which of the points from rank i on (the first n lanes) have the pivot's first `components` coordinates.
INLINE uint32_t equal_lanes(const sap_build* b, int buffer, int32_t axis, const sap_pivot* p, int components, int64_t i,
                            int n) {
    uint32_t equal = lanes_below(n);
    for (int c = 0; c < components; c++)
        equal &= v_equal(load_lanes(column(b, buffer, (axis + c) % b->rows->dims) + i, n), v_set((real)p->value[c]));
    return equal;
}

// Gathers coordinate number `components` (counted from the node's axis) of the points that tie in those before it.
static int64_t gather_tied(const sap_build* b, const sap_build_node* node, const sap_pivot* p, int components,
                           real* tied) {
    int buffer = node->buffer;
    const real* next = column(b, buffer, (node->axis + components) % b->rows->dims);
    int64_t count = 0;
    for (int64_t i = node->low; i < node->high; i += LANES) {
        int n = node->high - i < LANES ? (int)(node->high - i) : LANES;
        uint32_t equal = equal_lanes(b, buffer, node->axis, p, components, i, n);
        vreal x = load_lanes(next + i, n);
        if (n == LANES)
            v_store_kept(tied + count, equal, x);
        else
            v_store_part(tied + count, v_compress(equal, x), count_bits(equal));
        count += count_bits(equal);
    }
    return count;
}

// Goes on through the next keys of the points that tie at the median; `rank` counts among those.
static void break_ties(const sap_build* b, const sap_build_node* node, sap_pivot* p, int64_t rank) {
    int buffer = node->buffer, dims = b->rows->dims;
    real* tied = column(b, buffer ^ 1, 0) + node->low;
    for (int c = 1; c < dims; c++) {
        int64_t less, count = gather_tied(b, node, p, c, tied);
        SAP_ASSERT(rank > 0 && rank < count);
        p->value[c] = (double)select_value(tied, column(b, buffer ^ 1, 1) + node->low, count, rank, &less);
        p->components = c + 1;
        rank -= less;
        if (rank == 0) return;
    }
    // Equal in every coordinate: ids ascend within a node, so the tied point of this rank is found by counting.
    p->components = dims + 1;
    for (int64_t i = node->low; i < node->high; i += LANES) {
        int n = node->high - i < LANES ? (int)(node->high - i) : LANES;
        uint32_t equal = equal_lanes(b, buffer, node->axis, p, dims, i, n);
        for (; equal && rank > 0; rank--) equal &= equal - 1;
        if (!equal) continue;
        p->id = b->ids[buffer][i + __builtin_ctz(equal)];
        return;
    }
    SAP_ASSERT(false); // a point of this rank ties
}

static sap_pivot find_pivot(const sap_build* b, const sap_build_node* node) {
    int buffer = node->buffer;
    sap_pivot p = {.components = 1};
    int64_t count = node->high - node->low, rank = node->middle - node->low, less;
    if (node->equal) { // nothing to compare: the halves follow the ranks
        p.value[0] = count ? (double)column(b, buffer, node->axis)[node->low] : 0;
        p.components = 0;
        return p;
    }
    SAP_ASSERT(node->low < node->middle && node->middle < node->high);
    real value = select_value(column(b, buffer, node->axis) + node->low, column(b, buffer ^ 1, 0) + node->low, count,
                              rank, &less);
    p.value[0] = (double)value;
    if (less != rank) break_ties(b, node, &p, rank - less);
    return p;
}

// ---- Partition

// Which of the points from rank i on (the first n lanes) are smaller than the pivot.
INLINE uint32_t smaller(const sap_build* b, int buffer, int32_t axis, const sap_pivot* p, const int components,
                        int64_t i, int n) {
    const int dims = b->rows->dims;
    vreal x = load_lanes(column(b, buffer, axis) + i, n);
    uint32_t less = v_less(x, v_set((real)p->value[0]));
    if (components > 1) {
        uint32_t tied = v_equal(x, v_set((real)p->value[0]));
        for (int c = 1; c < components && c < dims; c++) {
            x = load_lanes(column(b, buffer, (axis + c) % dims) + i, n);
            less |= tied & v_less(x, v_set((real)p->value[c]));
            tied &= v_equal(x, v_set((real)p->value[c]));
        }
        if (components > dims) {
            vid id = n == LANES ? id_load(b->ids[buffer] + i) : id_load_part(b->ids[buffer] + i, n);
            less |= tied & id_less(id, id_set(p->id));
        }
    }
    return less & lanes_below(n);
}

INLINE void partition_with(const sap_build* b, int buffer, int32_t axis, const sap_pivot* p, const int components,
                           const int dims, int64_t from, int64_t to, int64_t less, int64_t less_end, int64_t greater,
                           int64_t greater_end) {
    for (int64_t i = from; i < to; i += LANES) {
        int n = to - i < LANES ? (int)(to - i) : LANES;
        uint32_t low = smaller(b, buffer, axis, p, components, i, n), high = lanes_below(n) & ~low;
        int lows = count_bits(low), highs = count_bits(high);
        bool whole = less + LANES <= less_end && greater + LANES <= greater_end;
        if (__builtin_expect(whole && n == LANES, 1)) {
            for (int a = 0; a < dims; a++) {
                vreal x = v_load(column(b, buffer, a) + i);
                v_store_kept(column(b, buffer ^ 1, a) + less, low, x);
                v_store_kept(column(b, buffer ^ 1, a) + greater, high, x);
            }
            vid x = id_load(b->ids[buffer] + i);
            id_store_kept(b->ids[buffer ^ 1] + less, low, x);
            id_store_kept(b->ids[buffer ^ 1] + greater, high, x);
        } else {
            for (int a = 0; a < dims; a++) {
                vreal x = v_load_part(column(b, buffer, a) + i, n);
                v_store_part(column(b, buffer ^ 1, a) + less, v_compress(low, x), lows);
                v_store_part(column(b, buffer ^ 1, a) + greater, v_compress(high, x), highs);
            }
            vid x = id_load_part(b->ids[buffer] + i, n);
            id_store_part(b->ids[buffer ^ 1] + less, id_compress(low, x), lows);
            id_store_part(b->ids[buffer ^ 1] + greater, id_compress(high, x), highs);
        }
        less += lows;
        greater += highs;
    }
    SAP_ASSERT(less == less_end && greater == greater_end);
}

// All points equal, or too few to compare: ranks [from, to) keep their order.
static void copy_ranks(const sap_build* b, int buffer, int64_t from, int64_t to) {
    size_t count = (size_t)(to - from);
    for (int a = 0; a < b->rows->dims; a++)
        memcpy(column(b, buffer ^ 1, a) + from, column(b, buffer, a) + from, count * sizeof(real));
    memcpy(b->ids[buffer ^ 1] + from, b->ids[buffer] + from, count * sizeof(int32_t));
}

static void partition(const sap_build* b, const sap_build_node* node, const sap_pivot* p, int64_t from, int64_t to,
                      int64_t less, int64_t less_end, int64_t greater, int64_t greater_end) {
    int buffer = node->buffer, dims = b->rows->dims;
    int32_t axis = node->axis;
    if (p->components == 0)
        copy_ranks(b, buffer, from, to);
    else if (p->components > 1)
        partition_with(b, buffer, axis, p, p->components, dims, from, to, less, less_end, greater, greater_end);
    else if (dims == 2)
        partition_with(b, buffer, axis, p, 1, 2, from, to, less, less_end, greater, greater_end);
    else if (dims == 3)
        partition_with(b, buffer, axis, p, 1, 3, from, to, less, less_end, greater, greater_end);
    else if (dims == 4)
        partition_with(b, buffer, axis, p, 1, 4, from, to, less, less_end, greater, greater_end);
    else
        partition_with(b, buffer, axis, p, 1, dims, from, to, less, less_end, greater, greater_end);
}

static int64_t count_smaller(const sap_build* b, const sap_build_node* node, const sap_pivot* p, int64_t from,
                             int64_t to) {
    int64_t count = 0;
    for (int64_t i = from; i < to; i += LANES) {
        int n = to - i < LANES ? (int)(to - i) : LANES;
        count += count_bits(smaller(b, node->buffer, node->axis, p, p->components, i, n));
    }
    return count;
}

// ---- Leaves and subtrees

static void write_leaf(const sap_build* b, const sap_build_node* node) {
    const sap_tree_shape* s = &b->tree->shape;
    int buffer = node->buffer, count = (int)(node->high - node->low), stride = s->stride;
    SAP_ASSERT(count >= 0 && count <= stride);
    real* out = (real*)(void*)sap_block(b->tree, node->index * stride);
    for (int a = 0; a < s->dims; a++, out += stride) {
        const real* x = column(b, buffer, a) + node->low;
        int i = 0;
        for (; i + LANES <= count; i += LANES) v_store(out + i, v_load(x + i));
        for (; i < count; i++) out[i] = x[i];
        for (; i < stride; i++) out[i] = INFINITY;
    }
    int32_t* ids = (int32_t*)(void*)out;
    memcpy(ids, b->ids[buffer] + node->low, (size_t)count * sizeof *ids);
    for (int i = count; i < stride; i++) ids[i] = -1;
}

static void subtree(const sap_build* b, int32_t depth, int64_t index) {
    const sap_tree_shape* s = &b->tree->shape;
    struct {
        int32_t depth;
        int64_t index;
    } stack[SAP_MAX_DEPTH] = {{depth, index}};
    for (int top = 1; top > 0;) {
        top--;
        sap_build_node node = sap_build_node_at(s, stack[top].depth, stack[top].index);
        real lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
        extent(b, node.buffer, node.low, node.high, lower, upper);
        begin_node(b, &node, lower, upper);
        if (node.depth == s->depth) {
            write_leaf(b, &node);
            continue;
        }
        sap_pivot p = find_pivot(b, &node);
        write_split(b, &node, &p);
        partition(b, &node, &p, node.low, node.high, node.low, node.middle, node.middle, node.high);
        SAP_ASSERT(top + 2 <= SAP_MAX_DEPTH);
        stack[top].index = 2 * node.index + 1;
        stack[top++].depth = node.depth + 1;
        stack[top].index = 2 * node.index;
        stack[top++].depth = node.depth + 1;
    }
}

const sap_build_kernels SAP_KERNEL(build_kernels) = {.load = load,
                                                     .extent = extent,
                                                     .begin_node = begin_node,
                                                     .find_pivot = find_pivot,
                                                     .write_split = write_split,
                                                     .count_smaller = count_smaller,
                                                     .partition = partition,
                                                     .subtree = subtree};
