// Where the planes of a tree over triangles go when the mesh moves, and which nodes are left.
//
// A plane moves as far as its corner. If that takes it out of its cell, one of its sides is empty: the node goes, with
// all that is below that side, and the other child takes its place.
#include "mesh/refit/refit.h"
#include <string.h>

enum { SUMMED = 64 };
enum { LEFT = 1, RIGHT = 2, BOTH = LEFT | RIGHT }; // children that are left

// ---- The planes

// now: the corner's coordinate. A plane at zero is +0.
static float moved_plane(sap_mesh_tie tie, float now) {
    return (float)((double)tie.plane + ((double)now - (double)tie.rest)) + 0.0F;
}

// The children that are left of a node between the faces of its cell across the plane's axis.
static int children_of(float plane, float lower, float upper) {
    return plane <= lower ? RIGHT : plane >= upper ? LEFT : BOTH;
}

static double half_surface(sap_mesh_box cell) {
    const double x = (double)cell.upper[0] - (double)cell.lower[0];
    const double y = (double)cell.upper[1] - (double)cell.lower[1];
    const double z = (double)cell.upper[2] - (double)cell.lower[2];
    return x * y + y * z + z * x;
}

// A node that is left, or may be.
typedef struct branch {
    sap_mesh_box cell;
    int64_t node;
    int32_t depth;
} branch;

// Where a pass over the nodes is.
typedef struct pass {
    branch stack[SAP_MESH_DEPTH_MAX + 2];
    branch now;
    int height;
    bool is_done;
} pass;

static float plane_of(const sap_refit* r, int64_t node) {
    const sap_mesh_tie tie = r->ties[node];
    return moved_plane(tie, r->corners[(int64_t)SAP_TRIANGLE_FLOATS * tie.triangle + 3 * tie.corner + (tie.link & 3)]);
}

// To the next node behind the present subtree.
static void pass_by(pass* p) {
    p->is_done = p->height == 0;
    if (!p->is_done) p->now = p->stack[--p->height];
}

// From an inner node to the first of its children that are left, but not to a left one that ends before `from`. Returns
// which are left.
static int go_down(const sap_refit* r, pass* p, int64_t from, float* plane) {
    const sap_mesh_tie* tie = &r->ties[p->now.node];
    const int axis = (int)(tie->link & 3);
    const int64_t right = tie->link >> 2;
    *plane = plane_of(r, p->now.node);
    const int children = children_of(*plane, p->now.cell.lower[axis], p->now.cell.upper[axis]);
    branch in_left = p->now, in_right = p->now;
    in_left.node++;
    in_right.node = right;
    if (children == BOTH) {
        in_left.cell.upper[axis] = in_right.cell.lower[axis] = *plane;
        in_left.depth++;
        in_right.depth++;
    }
    if (!(children & LEFT) || (from >= right && children & RIGHT)) {
        p->now = in_right;
    } else if (from >= right) {
        pass_by(p);
    } else {
        SAP_ASSERT(p->height < SAP_MESH_DEPTH_MAX + 2);
        if (children & RIGHT) p->stack[p->height++] = in_right;
        p->now = in_left;
    }
    return children;
}

// Decides which of the nodes `from` … `to` - 1 are left.
static void move_planes(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    sap_refit_node_stretch* stretch = &r->node_stretches[from / SAP_REFIT_NODES];
    pass p = {.now = {.cell = r->bounds}};
    float plane = 0;
    (void)worker;
    *stretch = (sap_refit_node_stretch){0};
    memset(r->number + from, 0xff, (size_t)(to - from) * sizeof *r->number);
    if (r->surfaces) memset(r->surfaces + from, 0, (size_t)(to - from) * sizeof *r->surfaces);
    while (!p.is_done && p.now.node < from) (void)go_down(r, &p, from, &plane);
    while (!p.is_done && p.now.node < to) {
        const branch now = p.now;
        const bool is_leaf = (r->ties[now.node].link & 3) == SAP_MESH_LEAF;
        if (is_leaf)
            pass_by(&p);
        else if (go_down(r, &p, 0, &plane) != BOTH)
            continue;
        if (is_leaf && now.depth > stretch->depth) stretch->depth = now.depth;
        r->planes[now.node] = plane;
        r->number[now.node] = (int32_t)stretch->kept++;
        if (r->surfaces) r->surfaces[now.node] = half_surface(now.cell);
    }
}

static void number_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    int32_t next = (int32_t)r->node_stretches[from / SAP_REFIT_NODES].before;
    (void)worker;
    for (int64_t i = from; i < to; i++) // a node that goes gets the number of the next that is left
        r->number[i] = r->number[i] < 0 ? ~next : next++;
}

// The number of the first node that is left in a subtree, which is its root.
static int32_t root_of(const sap_refit* r, int64_t node) {
    return r->number[node] < 0 ? ~r->number[node] : r->number[node];
}

static void write_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const sap_mesh_tie* tie = &r->ties[i];
        const int32_t at = r->number[i];
        if (at < 0) continue;
        sap_mesh_node node = {0, SAP_MESH_LEAF};
        if ((tie->link & 3) != SAP_MESH_LEAF) {
            memcpy(&node.bits, &r->planes[i], sizeof node.bits);
            node.link = (uint32_t)root_of(r, tie->link >> 2) << 2 | (tie->link & 3);
            SAP_ASSERT(root_of(r, i + 1) == at + 1);
        }
        r->nodes[at] = node;
        r->planar_left[at] = (uint8_t)tie->planar_left;
        r->counts[at] = r->firsts[at] = 0;
    }
}

void sap_refit_make_nodes(sap_refit* r) {
    const int64_t nodes = r->plan->nodes;
    sap_team_loop(r->threads, nodes, SAP_REFIT_NODES, move_planes, r);
    r->node_count = 0;
    for (int64_t i = 0; i * SAP_REFIT_NODES < nodes; i++) {
        r->node_stretches[i].before = r->node_count;
        r->node_count += r->node_stretches[i].kept;
        if (r->node_stretches[i].depth > r->shape.depth) r->shape.depth = r->node_stretches[i].depth;
    }
    sap_team_loop(r->threads, nodes, SAP_REFIT_NODES, number_nodes, r);
    sap_team_loop(r->threads, nodes, SAP_REFIT_NODES, write_nodes, r);
}

// ---- The cost

// What a node adds to the expected cost of a ray. whole: the tree's surface. triangles: of a leaf; below 0 for an inner
// node.
static double cost_of(double surface, double whole, float traversal, float intersection, int triangles) {
    const double share = whole > 0.0 ? surface / whole : 1.0;
    return triangles < 0 ? share * (double)traversal : share * (double)intersection * (double)triangles;
}

static void price_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    const sap_mesh_tree_options* o = &r->tree->options;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        if (r->number[i] < 0) continue;
        const bool is_leaf = (r->ties[i].link & 3) == SAP_MESH_LEAF;
        r->surfaces[i] = cost_of(r->surfaces[i], r->whole, o->traversal_cost, o->intersection_cost,
                                 is_leaf ? r->counts[r->number[i]] : -1);
    }
}

// Nodes are added up by 64, their sums by 64, and so on: few roundings, and the same for any number of threads.
double sap_refit_expected_cost(sap_refit* r) {
    int64_t count = r->plan->nodes;
    r->whole = half_surface(r->bounds);
    sap_team_loop(r->threads, count, SAP_REFIT_NODES, price_nodes, r);
    do {
        for (int64_t i = 0; i * SUMMED < count; i++) {
            double sum = 0;
            for (int64_t k = i * SUMMED; k < (i + 1) * SUMMED && k < count; k++) sum += r->surfaces[k];
            r->surfaces[i] = sum;
        }
        count = (count + SUMMED - 1) / SUMMED;
    } while (count > 1);
    return r->surfaces[0];
}
