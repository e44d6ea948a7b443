// The classical balanced tree of linked nodes in one precision.
#include "math/specialise.h"

// The points, one after another; `order` is permuted.
typedef struct SAP_TYPED(points) {
    SAP_REAL* coords; // [count][dims]
    int32_t* ids;
    int32_t* order;
    int64_t dims;
    bool cycle;
} SAP_TYPED(points);

static bool SAP_TYPED(before)(const SAP_TYPED(points) * p, int64_t axis, int32_t i, int32_t j) {
    const SAP_REAL *x = p->coords + i * p->dims, *y = p->coords + j * p->dims;
    for (int64_t c = 0, a = axis; c < p->dims; c++, a = a + 1 < p->dims ? a + 1 : 0)
        if (x[a] != y[a]) return x[a] < y[a];
    return p->ids[i] < p->ids[j];
}

static int32_t SAP_TYPED(choose_axis)(const SAP_TYPED(points) * p, const node_range* range) {
    if (p->cycle) return (int32_t)(range->depth % p->dims);
    int32_t widest = 0;
    SAP_REAL most = -1;
    for (int32_t a = 0; a < p->dims; a++) {
        SAP_REAL lower = p->coords[p->order[range->begin] * p->dims + a], upper = lower;
        for (int64_t i = range->begin + 1; i < range->end; i++) {
            SAP_REAL x = p->coords[p->order[i] * p->dims + a];
            lower = x < lower ? x : lower;
            upper = x > upper ? x : upper;
        }
        if (upper - lower > most) {
            most = upper - lower;
            widest = a;
        }
    }
    return widest;
}

// Permutes a range so that the point at `rank` is the one of that rank. Quickselect (Hoare 1961); keys are distinct.
static void SAP_TYPED(select)(const SAP_TYPED(points) * p, const node_range* range, int64_t rank, int32_t axis) {
    int64_t left = range->begin, right = range->end - 1;
    SAP_ASSERT(left <= rank && rank <= right);
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(range->node + 1);
    while (left < right) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int32_t pivot = p->order[left + (int64_t)((random >> 32) * (uint64_t)(right - left + 1) >> 32)];
        int64_t i = left, j = right;
        while (i <= j) {
            while (SAP_TYPED(before)(p, axis, p->order[i], pivot)) i++;
            while (SAP_TYPED(before)(p, axis, pivot, p->order[j])) j--;
            if (i > j) break;
            int32_t swapped = p->order[i];
            p->order[i++] = p->order[j];
            p->order[j--] = swapped;
        }
        if (rank <= j)
            right = j;
        else if (rank >= i)
            left = i;
        else
            return;
    }
}

// Writes the node of a range and gives the ranges of its children, which may be empty.
static void SAP_TYPED(make_node)(const SAP_TYPED(points) * p, const node_range* range, sap_tree_node* nodes,
                                 node_range* less, node_range* greater) {
    int64_t rank = range->begin + (range->end - range->begin - 1) / 2;
    int32_t axis = SAP_TYPED(choose_axis)(p, range), depth = range->depth + 1;
    SAP_TYPED(select)(p, range, rank, axis);
    SAP_ASSERT(range->begin <= rank && rank < range->end);
    *less = (node_range){range->begin, rank, range->node + 1, depth};
    *greater = (node_range){rank + 1, range->end, range->node + 1 + rank - range->begin, depth};
    nodes[range->node] = (sap_tree_node){.point = p->ids[p->order[rank]],
                                         .axis = axis,
                                         .less = less->begin < less->end ? (int32_t)less->node : -1,
                                         .greater = greater->begin < greater->end ? (int32_t)greater->node : -1};
}

static void SAP_TYPED(make_subtree)(const SAP_TYPED(points) * p, node_range root, sap_tree_node* nodes) {
    node_range stack[MOST_PENDING] = {root}; // halves of halves: at most one waits for each level
    for (int height = 1; height > 0;) {
        node_range range = stack[--height], less, greater;
        if (range.begin >= range.end) continue;
        SAP_TYPED(make_node)(p, &range, nodes, &less, &greater);
        SAP_ASSERT(height + 2 <= MOST_PENDING);
        stack[height++] = greater;
        stack[height++] = less;
    }
}

static void SAP_TYPED(gather)(const sap_tree* tree, const SAP_TYPED(points) * p) {
    int64_t rank = 0;
    for (int64_t place = 0; place < sap_leaf_places(tree); place++) {
        sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t i = 0; i < leaf.count; i++, rank++) {
            sap_leaf_point(tree, &leaf, i, p->coords + rank * p->dims);
            p->ids[rank] = leaf.ids[i];
            p->order[rank] = (int32_t)rank;
        }
    }
    SAP_ASSERT(rank == tree->shape.count);
}

typedef struct SAP_TYPED(subtrees) {
    const SAP_TYPED(points) * points;
    const node_range* ranges;
    sap_tree_node* nodes;
} SAP_TYPED(subtrees);

static void SAP_TYPED(make_range)(void* context, int64_t i, int32_t worker) {
    const SAP_TYPED(subtrees)* s = (const SAP_TYPED(subtrees)*)context;
    (void)worker;
    SAP_TYPED(make_subtree)(s->points, s->ranges[i], s->nodes);
}

static void SAP_TYPED(export_nodes)(const sap_tree* tree, unsigned char* memory, sap_tree_node* nodes) {
    int64_t count = tree->shape.count, ranges = 1;
    size_t coord_bytes = sap_align((size_t)count * (size_t)tree->shape.dims * sizeof(SAP_REAL));
    SAP_TYPED(points) p = {.dims = tree->shape.dims, .cycle = tree->options.axis == SAP_AXIS_CYCLE};
    p.coords = (SAP_REAL*)(void*)memory;
    p.ids = (int32_t*)(void*)(memory + coord_bytes);
    p.order = p.ids + count;
    SAP_TYPED(gather)(tree, &p);
    node_range queue[MOST_RANGES] = {{0, count, 0, 0}};
    int64_t first = 0;
    for (; first < ranges && ranges + 2 <= MOST_RANGES && queue[first].end - queue[first].begin > LARGE_RANGE;
         first++) {
        SAP_TYPED(make_node)(&p, &queue[first], nodes, &queue[ranges], &queue[ranges + 1]);
        ranges += 2;
    }
    SAP_TYPED(subtrees) rest = {&p, queue + first, nodes};
    sap_team_run(tree->device->options.threads, ranges - first, SAP_TYPED(make_range), &rest);
}
