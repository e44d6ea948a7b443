// The nodes over instances: at each the cheapest of a few planes along each axis by the surface area heuristic (Wald
// 2007), by the centres of the boxes. Large nodes are divided by the caller's thread, subtrees of small ones by all.
#include "base/team.h"
#include "device/progress.h"
#include "instance/layout.h"
#include <math.h>
#include <string.h>

enum {
    BINS = 16,
    SUBTREE = 512 // instances that one thread builds a subtree of
};

typedef struct bounds {
    float lower[3], upper[3], reach;
} bounds;

static bounds no_bounds(void) { return (bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0}; }

static void widen(bounds* b, const float* lower, const float* upper, float reach) {
    for (int k = 0; k < 3; k++) {
        b->lower[k] = lower[k] < b->lower[k] ? lower[k] : b->lower[k];
        b->upper[k] = upper[k] > b->upper[k] ? upper[k] : b->upper[k];
    }
    b->reach = reach > b->reach ? reach : b->reach;
}

// Half the area.
static double area_of(const bounds* b) {
    double side[3];
    for (int k = 0; k < 3; k++) side[k] = (double)b->upper[k] - (double)b->lower[k];
    return side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
}

static float twice_centre(const sap_instance_node* leaf, int axis) { return leaf->lower[axis] + leaf->upper[axis]; }

// A plane between bins: instances in bins below `bin` go to the left.
typedef struct cut {
    int axis, bin;
    float low, scale; // of the bins; see bin_of
    double cost;
} cut;

static int bin_of(const cut* c, const sap_instance_node* leaf) {
    const int bin = (int)((twice_centre(leaf, c->axis) - c->low) * c->scale);
    return bin < BINS ? bin : BINS - 1;
}

// Whether a range of centres can be divided along an axis.
static bool open_bins(cut* c, int axis, const bounds* centres) {
    c->axis = axis;
    c->low = centres->lower[axis];
    c->scale = (float)BINS / (centres->upper[axis] - centres->lower[axis]);
    return c->scale > 0 && c->scale < INFINITY;
}

// Makes *best the cheapest plane of an axis if it is cheaper. There is always one: the first and the last bin are taken.
static void try_axis(const sap_instance_node* leaves, int64_t count, cut c, cut* best) {
    bounds bin[BINS], below = no_bounds();
    int64_t counts[BINS] = {0}, left = 0;
    double cost[BINS];
    for (int i = 0; i < BINS; i++) bin[i] = no_bounds();
    for (int64_t i = 0; i < count; i++) {
        const int at = bin_of(&c, &leaves[i]);
        SAP_ASSERT(at >= 0);
        widen(&bin[at], leaves[i].lower, leaves[i].upper, 0);
        counts[at]++;
    }
    for (int i = 0; i + 1 < BINS; i++) {
        if (counts[i]) widen(&below, bin[i].lower, bin[i].upper, 0);
        left += counts[i];
        cost[i + 1] = left ? area_of(&below) * (double)left : 0;
    }
    below = no_bounds();
    left = 0;
    for (int i = BINS - 1; i > 0; i--) {
        if (counts[i]) widen(&below, bin[i].lower, bin[i].upper, 0);
        left += counts[i];
        if (left == 0 || left == count) continue;
        cost[i] += area_of(&below) * (double)left;
        if (best->axis >= 0 && !(cost[i] < best->cost)) continue;
        *best = c;
        best->bin = i;
        best->cost = cost[i];
    }
}

static void swap(sap_instance_node* a, sap_instance_node* b) {
    const sap_instance_node kept = *a;
    *a = *b;
    *b = kept;
}

// Puts the instances on the left of a plane first; returns how many there are.
static int64_t divide(sap_instance_node* leaves, int64_t count, const cut* c) {
    int64_t left = 0, right = count;
    while (left < right) {
        if (bin_of(c, &leaves[left]) < c->bin)
            left++;
        else
            swap(&leaves[left], &leaves[--right]);
    }
    SAP_ASSERT(left > 0 && left < count);
    return left;
}

// Makes the root of a subtree with more than one instance; *left and *right become its children's.
static void make_inner(sap_instance_node* leaves, sap_instance_node* nodes, const sap_instance_subtree* at,
                       sap_instance_subtree* left, sap_instance_subtree* right) {
    sap_instance_node *of = leaves + at->from, *node = &nodes[at->node];
    bounds whole = no_bounds(), centres = no_bounds();
    cut best = {.axis = -1}, c;
    int64_t count = at->count / 2;
    for (int64_t i = 0; i < at->count; i++) {
        float centre[3];
        for (int k = 0; k < 3; k++) centre[k] = twice_centre(&of[i], k);
        widen(&whole, of[i].lower, of[i].upper, of[i].reach);
        widen(&centres, centre, centre, 0);
    }
    for (int k = 0; k < 3 && at->depth < SAP_INSTANCE_DEPTH_CHOSEN; k++)
        if (open_bins(&c, k, &centres)) try_axis(of, at->count, c, &best);
    if (best.axis >= 0) count = divide(of, at->count, &best);
    *left = (sap_instance_subtree){at->from, count, at->node + 1, at->depth + 1};
    *right = (sap_instance_subtree){at->from + count, at->count - count, at->node + 2 * count, at->depth + 1};
    memcpy(node->lower, whole.lower, sizeof node->lower);
    memcpy(node->upper, whole.upper, sizeof node->upper);
    node->reach = whole.reach;
    node->link = (uint32_t)right->node << 3 | (uint32_t)(best.axis < 0 ? 0 : best.axis) << 1;
}

// Builds a whole subtree; returns its depth.
static int32_t build_subtree(sap_instance_node* leaves, sap_instance_node* nodes, sap_instance_subtree at) {
    sap_instance_subtree waiting[SAP_INSTANCE_DEPTH_MAX];
    int32_t depth = 0;
    for (int top = 0;;) {
        while (at.count > 1) {
            SAP_ASSERT(top < SAP_INSTANCE_DEPTH_MAX);
            sap_instance_subtree left;
            make_inner(leaves, nodes, &at, &left, &waiting[top++]);
            at = left;
        }
        nodes[at.node] = leaves[at.from];
        depth = at.depth > depth ? at.depth : depth;
        if (top == 0) return depth;
        at = waiting[--top];
    }
}

typedef struct building {
    sap_instance_node *leaves, *nodes;
    const sap_instance_subtree* parts;
    int32_t depth;
    sap_progress_state progress;
} building;

static void build_part(void* context, int64_t part, int32_t worker) {
    building* b = context;
    (void)worker;
    if (!sap_progress_add(&b->progress, 0)) return;
    const int32_t depth = build_subtree(b->leaves, b->nodes, b->parts[part]);
    int32_t deepest = __atomic_load_n(&b->depth, __ATOMIC_RELAXED);
    while (depth > deepest &&
           !__atomic_compare_exchange_n(&b->depth, &deepest, depth, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    sap_progress_add(&b->progress, b->parts[part].count);
}

// Asks the host before a large node is divided.
static bool goes_on(building* b, int64_t count) {
    return count < b->progress.total / 32 ? sap_progress_add(&b->progress, 0) : sap_progress_poll(&b->progress);
}

int32_t sap_instance_nodes_build(const sap_device* device, sap_instance_node* leaves, int64_t count,
                                 sap_instance_node* nodes, sap_instance_subtree* parts) {
    building b = {leaves, nodes, parts, 0, sap_progress_begin(device, count)};
    sap_instance_subtree waiting[SAP_INSTANCE_DEPTH_MAX], at = {0, count, 0, 0};
    int64_t made = 0;
    SAP_ASSERT(count > 0);
    for (int top = 0;;) {
        while (at.count > SUBTREE && goes_on(&b, at.count)) {
            SAP_ASSERT(top < SAP_INSTANCE_DEPTH_MAX);
            sap_instance_subtree left;
            make_inner(leaves, nodes, &at, &left, &waiting[top++]);
            at = left;
        }
        parts[made++] = at;
        if (top == 0) break;
        at = waiting[--top];
    }
    SAP_ASSERT(made <= count);
    sap_team_run(device->options.threads, made, build_part, &b);
    return sap_progress_finish(&b.progress) ? b.depth : -1;
}
