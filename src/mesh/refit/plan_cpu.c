// Making the plan of a tree over triangles. A plane is tied to the corner nearest to it, of all triangles of its node:
// nearest to the rectangle in which it cuts the cell, so that a large triangle's corner far outside is not taken.
#include "base/team.h"
#include "mesh/refit/plan.h"
#include <math.h>
#include <string.h>

enum { CORNER_BITS = 2, PLACE_BITS = 31 };

// The best corner so far: the bits of its squared distance, its triangle's place, its number. The smallest is the best.
static uint64_t key_of(float distance2, int64_t place, int corner) {
    uint32_t bits;
    memcpy(&bits, &distance2, sizeof bits);
    return (uint64_t)bits << (PLACE_BITS + CORNER_BITS) | (uint64_t)place << CORNER_BITS | (uint64_t)corner;
}

// An inner node above where the search is.
typedef struct ancestor {
    int64_t node;
    int axis;
    float plane, lower[3], upper[3]; // its plane and its cell
    float nearest;                   // squared
    uint64_t key;
    bool in_right, planar_left;
} ancestor;

typedef struct search {
    const sap_mesh_tree* tree;
    uint64_t* keys;       // of each node
    uint8_t* planar_left; // of each node
    sap_mesh_tie* ties;
} search;

static void offer(ancestor* a, const float* corners, int64_t place) {
    const float x = corners[a->axis], y = corners[3 + a->axis], z = corners[6 + a->axis];
    if (!a->in_right && x == a->plane && y == a->plane && z == a->plane) a->planar_left = true;
    for (int i = 0; i < 3; i++) {
        const float* c = corners + 3 * i;
        float distance2 = (c[a->axis] - a->plane) * (c[a->axis] - a->plane);
        if (distance2 > a->nearest) continue;
        for (int k = 0; k < 3; k++) {
            const float low = a->lower[k] - c[k], high = c[k] - a->upper[k], out = low > high ? low : high;
            if (k != a->axis && out > 0) distance2 += out * out;
        }
        const uint64_t key = key_of(distance2, place, i);
        if (key >= a->key) continue;
        a->key = key;
        a->nearest = distance2;
    }
}

// Several threads may have looked at triangles of one node.
static void settle(const search* s, const ancestor* a) {
    uint64_t now = __atomic_load_n(&s->keys[a->node], __ATOMIC_RELAXED);
    while (a->key < now &&
           !__atomic_compare_exchange_n(&s->keys[a->node], &now, a->key, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    if (a->planar_left) __atomic_store_n(&s->planar_left[a->node], 1, __ATOMIC_RELAXED);
}

// Begins at an inner node below another (NULL: the root).
static ancestor begin(const search* s, const ancestor* above, int64_t node) {
    const sap_mesh_tree_shape* shape = &s->tree->shape;
    ancestor a = {.node = node, .nearest = INFINITY, .key = UINT64_MAX};
    memcpy(a.lower, above ? above->lower : shape->lower, sizeof a.lower);
    memcpy(a.upper, above ? above->upper : shape->upper, sizeof a.upper);
    if (above && above->in_right) a.lower[above->axis] = above->plane;
    if (above && !above->in_right) a.upper[above->axis] = above->plane;
    a.axis = (int)(sap_mesh_nodes(s->tree)[node].link & 3);
    a.plane = sap_mesh_plane(&sap_mesh_nodes(s->tree)[node]);
    return a;
}

static void offer_leaf(const search* s, const sap_mesh_node* leaf, ancestor* path, int depth) {
    const int64_t count = leaf->link >> 2;
    const int32_t single = (int32_t)leaf->bits;
    const int32_t* references = count > 1 ? sap_mesh_references(s->tree) + leaf->bits : &single;
    for (int64_t i = 0; i < count; i++) {
        const float* corners = sap_mesh_corners(s->tree) + (int64_t)SAP_TRIANGLE_FLOATS * references[i];
        for (int k = 0; k < depth; k++) offer(&path[k], corners, references[i]);
    }
}

static void search_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const search* s = context;
    const sap_mesh_node* nodes = sap_mesh_nodes(s->tree);
    ancestor path[SAP_MESH_DEPTH_MAX + 1];
    int depth = 0;
    (void)worker;
    for (int64_t at = 0; at < from;) { // down to the first node
        const int64_t right = nodes[at].link >> 2;
        SAP_ASSERT(depth <= SAP_MESH_DEPTH_MAX && (nodes[at].link & 3) != SAP_MESH_LEAF);
        path[depth] = begin(s, depth ? &path[depth - 1] : NULL, at);
        path[depth].in_right = from >= right;
        at = path[depth++].in_right ? right : at + 1;
    }
    for (int64_t at = from; at < to; at++) {
        if ((nodes[at].link & 3) != SAP_MESH_LEAF) {
            SAP_ASSERT(depth <= SAP_MESH_DEPTH_MAX);
            path[depth] = begin(s, depth ? &path[depth - 1] : NULL, at);
            depth++;
            continue;
        }
        offer_leaf(s, &nodes[at], path, depth);
        while (depth > 0 && path[depth - 1].in_right) settle(s, &path[--depth]);
        if (depth > 0) path[depth - 1].in_right = true;
    }
    while (depth > 0) settle(s, &path[--depth]);
}

static void write_ties(void* context, int64_t from, int64_t to, int32_t worker) {
    const search* s = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const sap_mesh_node* node = &sap_mesh_nodes(s->tree)[i];
        sap_mesh_tie tie = {.link = node->link};
        if ((node->link & 3) == SAP_MESH_LEAF) {
            tie.link = SAP_MESH_LEAF;
        } else {
            tie.plane = tie.rest = sap_mesh_plane(node);
            tie.planar_left = s->planar_left[i];
            if (s->keys[i] != UINT64_MAX) {
                const int64_t place = (int64_t)(s->keys[i] >> CORNER_BITS & ((UINT64_C(1) << PLACE_BITS) - 1));
                tie.corner = (uint16_t)(s->keys[i] & 3);
                tie.triangle = (uint32_t)sap_mesh_ids(s->tree)[place];
                tie.rest = sap_mesh_corners(s->tree)[SAP_TRIANGLE_FLOATS * place + 3 * tie.corner + (node->link & 3)];
            }
        }
        s->ties[i] = tie;
    }
}

static sap_status no_memory(const sap_mesh_tree* tree) {
    return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to tie %lld planes", (long long)tree->shape.nodes);
}

// Counts the references of each stretch of triangles.
static void count_references(const sap_mesh_tree* t, int64_t* sums) {
    memset(sums, 0, (size_t)sap_refit_stretches(t->shape.triangles) * sizeof *sums);
    for (int64_t i = 0; i < t->shape.listed; i++) sums[sap_mesh_references(t)[i] / SAP_REFIT_TRIANGLES]++;
    for (int64_t i = 0; i < t->shape.nodes; i++) {
        const sap_mesh_node* node = &sap_mesh_nodes(t)[i];
        if ((node->link & 3) == SAP_MESH_LEAF && node->link >> 2 == 1) sums[node->bits / SAP_REFIT_TRIANGLES]++;
    }
}

// Ties the planes, and fills the plan's arrays.
static sap_status fill(const sap_mesh_tree* tree, const sap_mesh_refit_plan* plan) {
    const sap_mesh_tree_shape* shape = &tree->shape;
    const size_t keys = (size_t)shape->nodes * sizeof(uint64_t);
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(tree->device, keys + (size_t)shape->nodes, &scratch)) return no_memory(tree);
    search s = {.tree = tree,
                .keys = (uint64_t*)(void*)scratch.memory,
                .planar_left = scratch.memory + keys,
                .ties = sap_refit_ties(plan)};
    memset(s.keys, 0xff, keys);
    memset(s.planar_left, 0, (size_t)shape->nodes);
    sap_team_loop(tree->device->options.threads, shape->nodes, SAP_REFIT_NODES, search_nodes, &s);
    sap_team_loop(tree->device->options.threads, shape->nodes, SAP_REFIT_NODES, write_ties, &s);
    memcpy(sap_refit_order(plan), sap_mesh_ids(tree), (size_t)shape->triangles * sizeof(int32_t));
    count_references(tree, plan->visited);
    sap_scratch_give(tree->device, &scratch);
    return SAP_OK;
}

sap_status sap_mesh_refit_plan_make(sap_mesh_tree* tree) {
    sap_mesh_refit_plan* plan = &tree->plan;
    const sap_mesh_tree_shape* s = &tree->shape;
    if (plan->made) return SAP_OK;
    const size_t arrays = sap_refit_order_at(s->nodes) + sap_align((size_t)s->triangles * sizeof(int32_t)),
                 bytes = arrays + (size_t)sap_refit_stretches(s->triangles) * sizeof *plan->visited;
    if (plan->allocated < bytes) {
        sap_mesh_refit_plan_free(tree);
        plan->memory = sap_memory_allocate(tree->device, bytes);
        if (!plan->memory) return no_memory(tree);
        plan->allocated = bytes;
    }
    plan->nodes = s->nodes;
    plan->triangles = s->triangles;
    plan->visited = (int64_t*)(void*)(plan->memory + arrays);
    plan->cost = sap_mesh_expected_cost(tree);
    const sap_status status = fill(tree, plan);
    plan->made = status == SAP_OK;
    return status;
}

void sap_mesh_refit_plan_free(sap_mesh_tree* tree) {
    sap_memory_release(tree->device, tree->plan.memory, tree->plan.allocated);
    tree->plan = (sap_mesh_refit_plan){0};
}
