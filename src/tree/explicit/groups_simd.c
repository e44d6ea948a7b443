// Makes the groups of an explicit tree (tree/explicit/groups.h).
#include "tree/explicit/groups.h"
#include "tree/explicit/view_simd.h"

// ---- Which nodes a group has

// A node, and where those below it end.
typedef struct subtree {
    int64_t node, end;
} subtree;

// A group that is to be made, and the place that leads to it; NULL for the first.
typedef struct pending_group {
    subtree root;
    uint32_t* from;
} pending_group;

// The widest subtree that can be opened, or -1.
static int widest_of(const subtree* places, int count) {
    int widest = -1;
    int64_t most = 1;
    for (int i = 0; i < count; i++) {
        if (places[i].end - places[i].node <= most) continue;
        most = places[i].end - places[i].node;
        widest = i;
    }
    return widest;
}

// Opens a subtree into at most sixteen, in their order; how many.
static int open_group(const explicit_view* t, subtree root, subtree places[SAP_GROUP]) {
    int count = 1;
    places[0] = root;
    for (int at = widest_of(places, 1); at >= 0 && count < SAP_GROUP; at = widest_of(places, count)) {
        const subtree opened = places[at];
        const int64_t upper = explicit_at(t, opened.node).upper;
        for (int i = count; i > at + 1; i--) places[i] = places[i - 1];
        places[at] = (subtree){opened.node + 1, upper};
        places[at + 1] = (subtree){upper, opened.end};
        count++;
    }
    return count;
}

// A path passes as many groups as it has inner nodes at most, and each leaves fifteen others waiting.
enum { MOST_PENDING = SAP_MAX_DEPTH * (SAP_GROUP - 1) + 1 };

// Puts the places that need groups on the stack, the first on top; the new height.
INLINE int push_places(const subtree* places, int count, uint32_t* next, pending_group* stack, int height) {
    for (int i = count - 1; i >= 0; i--) {
        if (places[i].end - places[i].node <= 1) continue;
        SAP_ASSERT(height < MOST_PENDING);
        stack[height++] = (pending_group){places[i], next ? next + i : NULL};
    }
    return height;
}

static int64_t count_groups(const sap_tree* tree) {
    const explicit_view view = view_explicit(tree);
    pending_group stack[MOST_PENDING] = {{{0, tree->shape.nodes}, NULL}};
    subtree places[SAP_GROUP];
    int64_t count = 0;
    for (int height = 1; height > 0; count++) {
        const int opened = open_group(&view, stack[--height].root, places);
        height = push_places(places, opened, NULL, stack, height);
    }
    return count;
}

// ---- Boxes

// The tight box of a leaf: lower[dims], upper[dims].
INLINE void leaf_corners(const explicit_view* t, const int dims, int64_t node, real* corners) {
    tree_view leaf;
    const real* block = explicit_block(t, t->nodes[node].bits, (int32_t)(t->nodes[node].link >> 5), &leaf);
    const int64_t points = leaf.points > t->leaf_size ? 1 : leaf.points; // of more, all are equal
    for (int a = 0; a < dims; a++, block += leaf.stride) {
        vreal low = v_set(INFINITY), high = v_set(-INFINITY);
        for (int64_t i = 0; i < points; i += LANES) {
            const uint32_t in = lanes_below(points - i);
            const vreal x = v_load(block + i);
            low = v_select(in, v_min(low, x), low);
            high = v_select(in, v_max(high, x), high);
        }
        corners[a] = reduce_min(low);
        corners[dims + a] = reduce_max(high);
    }
}

// The boxes of all nodes, children before their parents.
INLINE void all_corners(const explicit_view* t, const int dims, int64_t nodes, real* corners) {
    for (int64_t node = nodes - 1; node >= 0; node--) {
        real* box = corners + node * 2 * dims;
        const explicit_node here = explicit_at(t, node);
        if (here.is_leaf) {
            leaf_corners(t, dims, node, box);
            continue;
        }
        const real *lower = box + 2 * dims, *upper = corners + here.upper * 2 * dims;
        for (int a = 0; a < dims; a++) {
            box[a] = lower[a] < upper[a] ? lower[a] : upper[a];
            box[dims + a] = lower[dims + a] > upper[dims + a] ? lower[dims + a] : upper[dims + a];
        }
    }
}

// Writes place i of a group; NULL: it is not used.
INLINE void write_place(const explicit_view* t, const int dims, const real* corners, const subtree* place,
                        int64_t group, int i, sap_groups* g) {
    const real* box = place ? corners + place->node * 2 * dims : NULL;
    real* boxes = (real*)g->boxes + group * 2 * dims * SAP_GROUP;
    const int64_t at = group * SAP_GROUP + i;
    for (int a = 0; a < dims; a++) {
        boxes[2 * a * SAP_GROUP + i] = place ? box[a] : (real)INFINITY;
        boxes[(2 * a + 1) * SAP_GROUP + i] = place ? box[dims + a] : -(real)INFINITY;
    }
    const bool is_leaf = place && explicit_at(t, place->node).is_leaf;
    g->min_ids[at] = place ? t->min_ids[place->node] : INT32_MAX;
    g->next[at] = is_leaf ? (uint32_t)t->nodes[place->node].bits : 0; // a group's number when that is made
    g->points[at] = is_leaf ? (int32_t)(t->nodes[place->node].link >> 5) : 0;
}

// Writes how many points lie below the places that stand for groups. Those have greater numbers than the group of the
// place.
static void count_points(sap_groups* g) {
    for (int64_t place = g->count * SAP_GROUP - 1; place >= 0; place--) {
        if (g->next[place] == 0 || g->points[place] > 0) continue;
        const int64_t below = (int64_t)g->next[place] * SAP_GROUP;
        SAP_ASSERT(below > place);
        int64_t sum = 0;
        for (int i = 0; i < SAP_GROUP; i++) sum += sap_group_points(g, below + i);
        g->points[place] = (int32_t)-sum;
    }
}

// ---- All groups

INLINE void fill_dims(const sap_tree* tree, const int dims, sap_groups* groups, real* corners) {
    const explicit_view view = view_explicit(tree);
    pending_group stack[MOST_PENDING] = {{{0, tree->shape.nodes}, NULL}};
    subtree places[SAP_GROUP];
    int64_t count = 0;
    all_corners(&view, dims, tree->shape.nodes, corners);
    for (int height = 1; height > 0; count++) {
        const pending_group now = stack[--height];
        const int opened = open_group(&view, now.root, places);
        SAP_ASSERT(count < groups->count);
        for (int i = 0; i < SAP_GROUP; i++)
            write_place(&view, dims, corners, i < opened ? &places[i] : NULL, count, i, groups);
        if (now.from) *now.from = (uint32_t)count;
        height = push_places(places, opened, groups->next + count * SAP_GROUP, stack, height);
    }
    SAP_ASSERT(count == groups->count);
    count_points(groups);
}

static void fill(const sap_tree* tree, sap_groups* groups, void* corners) {
    if (tree->shape.dims == 3)
        fill_dims(tree, 3, groups, corners);
    else
        fill_dims(tree, tree->shape.dims, groups, corners);
}

const sap_groups_kernels SAP_KERNEL(groups_kernels) = {count_groups, fill};
