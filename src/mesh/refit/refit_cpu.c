// Refitting a tree over triangles on the CPU: its planes move with the corners that they are tied to (mesh/refit/plan.h),
// then all triangles are sent down the tree anew, in blocks that are listed with the leaves that they visit. Nothing of the
// tree is written before all memory has been taken.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "mesh/load.h"
#include "mesh/refit/moved.h"
#include <math.h>
#include <string.h>

enum { SUMMED = 64 };

// What a stretch of the plan's nodes comes to.
typedef struct node_stretch {
    int64_t kept, before; // nodes that are left; those of all stretches before
    int32_t depth;        // of the deepest leaf that is left
} node_stretch;

// What a stretch of the plan's triangles comes to.
typedef struct triangle_stretch {
    int64_t visited, room;   // visits of leaves, and how many its list can hold
    int64_t longer_at;       // where its list begins among the longer ones, if it needs one
    sap_refit_visit* visits; // the list
    int32_t blocks[SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK]; // visits of each block
} triangle_stretch;

typedef struct refit {
    sap_mesh_tree* tree;
    const sap_mesh* mesh;
    const sap_mesh_refit_plan* plan;
    const sap_mesh_tie* ties;
    const int32_t* order;
    sap_mesh_box bounds;
    double whole; // half the surface of the bounds
    int32_t threads;
    // Of each triangle, in the mesh's order and then in the plan's.
    float* corners;
    sap_mesh_part* parts;
    int32_t* place;
    // Of each node of the plan.
    float* planes;
    int32_t* number;  // among the nodes that are left; -1 for the others
    double* surfaces; // NULL if nobody asks for the cost
    // Of each node that is left.
    sap_mesh_node* nodes;
    uint8_t* planar_left;
    int32_t *counts, *firsts, *cursors; // references; triangles met first there; where the next reference goes
    node_stretch* node_stretches;
    triangle_stretch* stretches;
    int64_t node_count, most, sum; // sum: of references so far
    sap_progress_state progress;
    sap_refit_walk walk;
    sap_scratch scratch, lists, longer; // longer: lists of the stretches that need more than was expected
    sap_mesh_tree_shape shape;
} refit;

// ---- The planes

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

static float plane_of(const refit* r, int64_t node) {
    const sap_mesh_tie tie = r->ties[node];
    return sap_refit_plane(tie,
                           r->corners[(int64_t)SAP_TRIANGLE_FLOATS * tie.triangle + 3 * tie.corner + (tie.link & 3)]);
}

// To the next node behind the present subtree.
static void pass_by(pass* p) {
    p->is_done = p->height == 0;
    if (!p->is_done) p->now = p->stack[--p->height];
}

// From an inner node to the first of its children that are left, but not to a left one that ends before `from`. Returns
// which are left.
static int go_down(const refit* r, pass* p, int64_t from, float* plane) {
    const sap_mesh_tie* tie = &r->ties[p->now.node];
    const int axis = (int)(tie->link & 3);
    const int64_t right = tie->link >> 2;
    *plane = plane_of(r, p->now.node);
    const int children = sap_refit_children(*plane, p->now.cell.lower[axis], p->now.cell.upper[axis]);
    branch in_left = p->now, in_right = p->now;
    in_left.node++;
    in_right.node = right;
    if (children == SAP_REFIT_BOTH) {
        in_left.cell.upper[axis] = in_right.cell.lower[axis] = *plane;
        in_left.depth++;
        in_right.depth++;
    }
    if (!(children & SAP_REFIT_LEFT) || (from >= right && children & SAP_REFIT_RIGHT)) {
        p->now = in_right;
    } else if (from >= right) {
        pass_by(p);
    } else {
        SAP_ASSERT(p->height < SAP_MESH_DEPTH_MAX + 2);
        if (children & SAP_REFIT_RIGHT) p->stack[p->height++] = in_right;
        p->now = in_left;
    }
    return children;
}

// Decides which of the nodes `from` … `to` - 1 are left.
static void move_planes(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
    node_stretch* stretch = &r->node_stretches[from / SAP_REFIT_NODES];
    pass p = {.now = {.cell = r->bounds}};
    float plane = 0;
    (void)worker;
    *stretch = (node_stretch){0};
    memset(r->number + from, 0xff, (size_t)(to - from) * sizeof *r->number);
    if (r->surfaces) memset(r->surfaces + from, 0, (size_t)(to - from) * sizeof *r->surfaces);
    while (!p.is_done && p.now.node < from) (void)go_down(r, &p, from, &plane);
    while (!p.is_done && p.now.node < to) {
        const branch now = p.now;
        const bool is_leaf = (r->ties[now.node].link & 3) == SAP_MESH_LEAF;
        if (is_leaf)
            pass_by(&p);
        else if (go_down(r, &p, 0, &plane) != SAP_REFIT_BOTH)
            continue;
        if (is_leaf && now.depth > stretch->depth) stretch->depth = now.depth;
        r->planes[now.node] = plane;
        r->number[now.node] = (int32_t)stretch->kept++;
        if (r->surfaces) r->surfaces[now.node] = sap_refit_half_surface(now.cell);
    }
}

static void number_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
    int32_t next = (int32_t)r->node_stretches[from / SAP_REFIT_NODES].before;
    (void)worker;
    for (int64_t i = from; i < to; i++) // a node that goes gets the number of the next that is left
        r->number[i] = r->number[i] < 0 ? ~next : next++;
}

// The number of the first node that is left in a subtree, which is its root.
static int32_t root_of(const refit* r, int64_t node) {
    return r->number[node] < 0 ? ~r->number[node] : r->number[node];
}

static void write_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
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

static void make_nodes(refit* r) {
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

// ---- The triangles

// Sends the triangles of a stretch. Returns the references.
static int64_t send_blocks(const refit* r, int64_t i) {
    const sap_refit_kernels* kernels = sap_cpu_kernels_of(r->tree->device, 32)->refit;
    triangle_stretch* s = &r->stretches[i];
    int64_t references = 0, from = i * SAP_REFIT_TRIANGLES;
    s->visited = 0;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++, from += SAP_REFIT_BLOCK) {
        const int64_t left = r->plan->triangles - from, room = s->room > s->visited ? s->room - s->visited : 0;
        s->blocks[k] = 0;
        if (left <= 0 || references > r->most) continue;
        s->blocks[k] = (int32_t)kernels->send(&r->walk, from, left < SAP_REFIT_BLOCK ? left : SAP_REFIT_BLOCK, room,
                                              r->most - references, room ? s->visits + s->visited : NULL, &references);
        s->visited += s->blocks[k];
    }
    return references;
}

static void send_stretch(void* context, int64_t i, int32_t worker) {
    refit* r = context;
    (void)worker;
    if (!sap_progress_add(&r->progress, 0) || __atomic_load_n(&r->sum, __ATOMIC_RELAXED) > r->most) return;
    __atomic_fetch_add(&r->sum, send_blocks(r, i), __ATOMIC_RELAXED);
    sap_progress_add(&r->progress, 1);
}

// As send_stretch, into a longer list.
static void send_again(void* context, int64_t i, int32_t worker) {
    const refit* r = context;
    triangle_stretch* s = &r->stretches[i];
    (void)worker;
    if (s->visited <= s->room) return;
    s->visits = (sap_refit_visit*)(void*)r->longer.memory + s->longer_at;
    s->room = s->visited;
    (void)send_blocks(r, i);
}

// Adds up the references of each leaf, and the triangles that are met first there.
static void count_stretch(void* context, int64_t i, int32_t worker) {
    const refit* r = context;
    const triangle_stretch* s = &r->stretches[i];
    const sap_refit_visit* visit = s->visits;
    (void)worker;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
        uint64_t met = 0;
        for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
            const int first = __builtin_popcountll(visit->members & ~met);
            __atomic_fetch_add(&r->counts[visit->leaf], __builtin_popcountll(visit->members), __ATOMIC_RELAXED);
            if (first) __atomic_fetch_add(&r->firsts[visit->leaf], first, __ATOMIC_RELAXED);
            met |= visit->members;
        }
    }
}

static sap_status no_memory(const refit* r) {
    return sap_fail(r->tree->device, SAP_ERROR_MEMORY, "no memory to refit a tree over %lld triangles",
                    (long long)r->plan->triangles);
}

// Takes the lists of stretches: a little more than they needed last time.
static sap_status take_lists(refit* r) {
    const int64_t stretches = sap_mesh_plan_stretches(r->plan->triangles);
    int64_t room = 0;
    for (int64_t i = 0; i < stretches; i++) {
        r->stretches[i] = (triangle_stretch){.room = r->plan->visited[i] + r->plan->visited[i] / 8 + SAP_ALIGNMENT};
        room += r->stretches[i].room;
    }
    if (!sap_scratch_take(r->tree->device, (size_t)room * sizeof(sap_refit_visit), &r->lists)) return no_memory(r);
    sap_refit_visit* at = (sap_refit_visit*)(void*)r->lists.memory;
    for (int64_t i = 0; i < stretches; i++) {
        r->stretches[i].visits = at;
        at += r->stretches[i].room;
    }
    return SAP_OK;
}

// Sends all triangles, and counts them in leaves. *too_far: there are more references than a tree may have.
static sap_status send_all(refit* r, bool* too_far) {
    const int64_t stretches = sap_mesh_plan_stretches(r->plan->triangles);
    sap_status status = take_lists(r);
    if (status != SAP_OK) return status;
    r->walk = (sap_refit_walk){.nodes = r->nodes,
                               .planar_left = r->planar_left,
                               .corners = r->corners,
                               .parts = r->parts,
                               .order = r->order,
                               .bounds = r->bounds};
    for (int k = 0; k < 3; k++)
        r->walk.size += fmax(fabs((double)r->bounds.lower[k]), fabs((double)r->bounds.upper[k]));
    r->progress = sap_progress_begin(r->tree->device, stretches + 1);
    sap_team_run(r->threads, stretches, send_stretch, r);
    *too_far = r->sum > r->most;
    if (*too_far ? r->progress.cancelled : !sap_progress_finish(&r->progress))
        return sap_fail(r->tree->device, SAP_ERROR_CANCELLED, "the refit was cancelled");
    if (*too_far) return SAP_OK;
    int64_t longer = 0;
    for (int64_t i = 0; i < stretches; i++) {
        triangle_stretch* s = &r->stretches[i];
        r->plan->visited[i] = s->visited;
        s->longer_at = longer;
        longer += s->visited > s->room ? s->visited : 0;
    }
    if (longer && !sap_scratch_take(r->tree->device, (size_t)longer * sizeof(sap_refit_visit), &r->longer))
        return no_memory(r);
    if (longer) sap_team_run(r->threads, stretches, send_again, r);
    sap_team_run(r->threads, stretches, count_stretch, r);
    return SAP_OK;
}

// ---- The tree

// Adds up the shape, and finds where each leaf's references and the triangles met first there go. False if there is a
// leaf of too many triangles.
static bool place_leaves(refit* r) {
    sap_mesh_tree_shape* s = &r->shape;
    int32_t met = 0;
    s->triangles = r->plan->triangles;
    s->nodes = r->node_count;
    memcpy(s->lower, r->bounds.lower, sizeof s->lower);
    memcpy(s->upper, r->bounds.upper, sizeof s->upper);
    for (int64_t i = 0; i < r->node_count; i++) {
        const int32_t count = r->counts[i], first = r->firsts[i];
        if ((r->nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        s->leaves++;
        s->empty_leaves += count == 0;
        s->references += count;
        r->firsts[i] = met;
        r->cursors[i] = (int32_t)s->listed;
        met += first;
        s->listed += count > 1 ? count : 0;
        if (count > s->largest_leaf) s->largest_leaf = count;
    }
    SAP_ASSERT(met == s->triangles && s->nodes == 2 * s->leaves - 1);
    return s->largest_leaf <= SAP_REFIT_LEAF;
}

// Triangles are stored in the order of the leaves that they are met in first, those of a leaf in the plan's order.
static void place_triangles(refit* r) {
    for (int64_t i = 0; i < sap_mesh_plan_stretches(r->plan->triangles); i++) {
        const triangle_stretch* s = &r->stretches[i];
        const sap_refit_visit* visit = s->visits;
        for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
            int32_t* place = r->place + i * SAP_REFIT_TRIANGLES + (int64_t)SAP_REFIT_BLOCK * k;
            uint64_t met = 0;
            for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
                int32_t* next = &r->firsts[visit->leaf];
                for (uint64_t first = visit->members & ~met; first; first &= first - 1)
                    place[__builtin_ctzll(first)] = (*next)++;
                met |= visit->members;
            }
        }
    }
}

static void write_references(void* context, int64_t i, int32_t worker) {
    const refit* r = context;
    const triangle_stretch* s = &r->stretches[i];
    int32_t* references = (int32_t*)(void*)(r->tree->arrays + r->shape.reference_at);
    const sap_refit_visit* visit = s->visits;
    (void)worker;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
        const int32_t* place = r->place + i * SAP_REFIT_TRIANGLES + (int64_t)SAP_REFIT_BLOCK * k;
        for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
            if (r->counts[visit->leaf] == 1) {
                r->nodes[visit->leaf].bits = (uint32_t)place[__builtin_ctzll(visit->members)];
                continue;
            }
            int32_t* to = references + __atomic_fetch_add(&r->cursors[visit->leaf],
                                                          __builtin_popcountll(visit->members), __ATOMIC_RELAXED);
            for (uint64_t members = visit->members; members; members &= members - 1)
                *to++ = place[__builtin_ctzll(members)];
        }
    }
}

static void write_triangles(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
    int32_t* ids = (int32_t*)(void*)(r->tree->arrays + r->shape.id_at);
    float* corners = (float*)(void*)(r->tree->arrays + r->shape.corner_at);
    (void)worker;
    for (int64_t t = from; t < to; t++) {
        const int64_t place = r->place[t], id = r->order[t];
        ids[place] = (int32_t)id;
        memcpy(corners + SAP_TRIANGLE_FLOATS * place, r->corners + SAP_TRIANGLE_FLOATS * id,
               SAP_TRIANGLE_FLOATS * sizeof *corners);
    }
}

// By Shell's method (1959), with gaps of Ciura's (2001): most lists are short, and nearly in order.
static void sort_places(int32_t* places, int32_t count) {
    static const int32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int32_t i = gaps[g]; i < count; i++) {
            const int32_t place = places[i];
            int32_t k = i;
            for (; k >= gaps[g] && places[k - gaps[g]] > place; k -= gaps[g]) places[k] = places[k - gaps[g]];
            places[k] = place;
        }
}

static void write_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
    sap_mesh_node* nodes = (sap_mesh_node*)(void*)(r->tree->arrays + r->shape.node_at);
    int32_t* references = (int32_t*)(void*)(r->tree->arrays + r->shape.reference_at);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int32_t count = r->counts[i];
        nodes[i] = r->nodes[i];
        if ((nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        nodes[i].link = (uint32_t)count << 2 | SAP_MESH_LEAF;
        if (count < 2) continue;
        nodes[i].bits = (uint32_t)(r->cursors[i] - count);
        sort_places(references + nodes[i].bits, count);
    }
}

// ---- The cost

static void price_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    const refit* r = context;
    const sap_mesh_tree_options* o = &r->tree->options;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        if (r->number[i] < 0) continue;
        const bool is_leaf = (r->ties[i].link & 3) == SAP_MESH_LEAF;
        r->surfaces[i] = sap_refit_cost(r->surfaces[i], r->whole, o->traversal_cost, o->intersection_cost,
                                        is_leaf ? r->counts[r->number[i]] : -1);
    }
}

// The expected cost of a ray: nodes are added up by 64, their sums by 64, and so on, as a GPU does it.
static double expected_cost(refit* r) {
    int64_t count = r->plan->nodes;
    r->whole = sap_refit_half_surface(r->bounds);
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

// ---- Memory

typedef struct request {
    void** array;
    size_t bytes;
} request;

static sap_status take_memory(refit* r, bool is_priced) {
    const size_t nodes = (size_t)r->plan->nodes, triangles = (size_t)r->plan->triangles;
    const size_t node_stretches = nodes / SAP_REFIT_NODES + 1;
    const request requests[] = {
        {(void**)&r->corners, (triangles * SAP_TRIANGLE_FLOATS + SAP_TRIANGLE_PADDING) * sizeof *r->corners},
        {(void**)&r->parts, triangles * sizeof *r->parts},
        {(void**)&r->place, triangles * sizeof *r->place},
        {(void**)&r->planes, nodes * sizeof *r->planes},
        {(void**)&r->number, nodes * sizeof *r->number},
        {(void**)&r->surfaces, is_priced ? nodes * sizeof *r->surfaces : 0},
        {(void**)&r->nodes, nodes * sizeof *r->nodes},
        {(void**)&r->planar_left, nodes},
        {(void**)&r->counts, nodes * sizeof *r->counts},
        {(void**)&r->firsts, nodes * sizeof *r->firsts},
        {(void**)&r->cursors, nodes * sizeof *r->cursors},
        {(void**)&r->node_stretches, node_stretches * sizeof *r->node_stretches},
        {(void**)&r->stretches, (size_t)sap_mesh_plan_stretches(r->plan->triangles) * sizeof *r->stretches}};
    const size_t count = sizeof requests / sizeof *requests;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += sap_align(requests[i].bytes);
    if (!sap_scratch_take(r->tree->device, bytes, &r->scratch)) return no_memory(r);
    unsigned char* at = r->scratch.memory;
    for (size_t i = 0; i < count; i++) {
        *requests[i].array = requests[i].bytes ? at : NULL;
        at += sap_align(requests[i].bytes);
    }
    return SAP_OK;
}

// The plan of a tree, which is made at its first refit.
static sap_status find_plan(sap_mesh_tree* tree) {
    sap_mesh_refit_plan* plan = &tree->plan;
    sap_device* device = tree->device;
    if (plan->made) return SAP_OK;
    const sap_mesh_tree_shape* s = &tree->shape;
    const size_t arrays = sap_mesh_plan_bytes(s),
                 bytes = arrays + (size_t)sap_mesh_plan_stretches(s->triangles) * sizeof *plan->visited;
    if (plan->allocated < bytes) {
        sap_mesh_plan_free(tree);
        plan->memory = sap_memory_allocate(device, bytes);
        if (!plan->memory)
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory to tie %lld planes", (long long)s->nodes);
        plan->allocated = bytes;
    }
    plan->nodes = s->nodes;
    plan->triangles = s->triangles;
    plan->visited = (int64_t*)(void*)(plan->memory + arrays);
    plan->cost = sap_mesh_expected_cost(tree);
    const sap_status status =
        sap_mesh_plan_make(tree, (sap_mesh_tie*)(void*)plan->memory,
                           (int32_t*)(void*)(plan->memory + sap_mesh_plan_order_at(s->nodes)), plan->visited);
    plan->made = status == SAP_OK;
    return status;
}

void sap_mesh_plan_free(sap_mesh_tree* tree) {
    sap_memory_release(tree->device, tree->plan.memory, tree->plan.allocated);
    tree->plan = (sap_mesh_refit_plan){0};
}

// ---- All of it

static sap_status run(refit* r, double* loss, bool* too_far) {
    sap_status status = take_memory(r, loss != NULL);
    if (status == SAP_OK) status = sap_mesh_load(r->tree->device, r->mesh, r->corners, r->parts, &r->bounds);
    if (status != SAP_OK) return status;
    for (int k = 0; k < 3; k++) { // -0 becomes 0, as in a build
        r->bounds.lower[k] += 0.0F;
        r->bounds.upper[k] += 0.0F;
    }
    make_nodes(r);
    status = send_all(r, too_far);
    if (status != SAP_OK || *too_far) return status;
    *too_far = !place_leaves(r);
    if (*too_far) return SAP_OK;
    if (!sap_mesh_shape_places(&r->shape))
        return sap_fail(r->tree->device, SAP_ERROR_RANGE, "mesh: the tree needs more memory than can be addressed");
    status = sap_mesh_tree_reserve(r->tree, &r->shape);
    if (status != SAP_OK) return status;
    place_triangles(r);
    sap_team_run(r->threads, sap_mesh_plan_stretches(r->plan->triangles), write_references, r);
    sap_team_loop(r->threads, r->plan->triangles, SAP_REFIT_NODES, write_triangles, r);
    sap_team_loop(r->threads, r->node_count, SAP_REFIT_NODES, write_leaves, r);
    if (loss) *loss = r->plan->cost > 0 ? expected_cost(r) / r->plan->cost : 1;
    return SAP_OK;
}

sap_status sap_mesh_refit_cpu(sap_mesh_tree* tree, const sap_mesh* mesh, double* loss, bool* too_far) {
    const sap_status status = find_plan(tree);
    if (status != SAP_OK) return status;
    const sap_mesh_refit_plan* plan = &tree->plan;
    refit r = {.tree = tree,
               .mesh = mesh,
               .plan = plan,
               .ties = (const sap_mesh_tie*)(const void*)plan->memory,
               .order = (const int32_t*)(const void*)(plan->memory + sap_mesh_plan_order_at(plan->nodes)),
               .threads = tree->device->options.threads,
               .most = sap_mesh_refit_most(plan->triangles)};
    const sap_status result = run(&r, loss, too_far);
    sap_scratch_give(tree->device, &r.scratch);
    sap_scratch_give(tree->device, &r.lists);
    sap_scratch_give(tree->device, &r.longer);
    return result;
}
