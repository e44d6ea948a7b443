// The builders over triangles on the CPU. Nodes of more than SAP_MESH_SUBTREE parts are divided level by level, each by
// one thread; smaller ones are built as whole subtrees, each into its own piece. The pieces are joined in preorder at
// the end, so the tree does not depend on the number of threads or their order.
//
// The parts of a level and those of the next lie in two stacks that grow towards each other. If memory is bounded and
// the next level does not fit, only the last nodes of a level are divided, and their subtrees are finished first.
#include "base/team.h"
#include "mesh/load.h"
#include "mesh/workspace.h"
#include <string.h>

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/dialect.h"

#include "math/sah.h"
#include "mesh/planes.h"
#include "mesh/search_radius.h"

// The scratch memory that find() needs for a node, in parts.
static int64_t room_to_find(const sap_mesh_large_node* node) {
    return node->found || node->job.count <= SAP_MESH_SUBTREE
               ? 0
               : (int64_t)((SAP_MESH_EVENTS(node->job.count) * sizeof(float) + sizeof(sap_mesh_part) - 1) /
                           sizeof(sap_mesh_part));
}

static int64_t room_to_divide(const sap_mesh_large_node* node) {
    return node->done ? 0 : node->split.left + node->split.right;
}

// The first of the last nodes of a stack that fit, by their needs, into the room between the stacks.
static int64_t first_that_fits(const sap_mesh_workspace* w, const sap_mesh_large_node* nodes, int64_t from, int64_t to,
                               int64_t (*needs)(const sap_mesh_large_node*)) {
    int64_t room = w->capacity - w->used[0] - w->used[1];
    SAP_ASSERT(room >= 0);
    while (to > from && needs(&nodes[to - 1]) <= room) room -= needs(&nodes[--to]);
    return to;
}

// As first_that_fits, after making as much room as the bound allows. Fails the build if not even one node fits.
static int64_t make_room_for(sap_mesh_workspace* w, int side, int64_t from,
                             int64_t (*needs)(const sap_mesh_large_node*)) {
    int64_t to = w->waiting[side], all = 0;
    const sap_mesh_large_node* nodes = sap_mesh_workspace_nodes(w, side);
    for (int64_t i = from; i < to; i++) all += needs(&nodes[i]);
    if (!sap_mesh_workspace_make_room(w, all) && w->status != SAP_OK) return to;
    int64_t start = first_that_fits(w, nodes, from, to, needs);
    if (start == to)
        sap_mesh_workspace_fail(w, sap_fail(w->device, SAP_ERROR_RANGE,
                                            "options.memory: %zu bytes are too little for this mesh", w->limit));
    return start;
}

// Makes a piece of a subtree in staging memory, or of a node that stays a leaf (staging is NULL).
static void finish(sap_mesh_workspace* w, sap_mesh_large_node* node, const sap_mesh_staging* staging) {
    sap_mesh_record* record = &sap_mesh_workspace_records(w)[node->record];
    const sap_mesh_part* parts = sap_mesh_workspace_parts(w) + node->job.first;
    SAP_ASSERT(!node->done);
    node->done = true;
    if (!sap_mesh_workspace_piece(w, record, staging ? staging->node_count : 1,
                                  staging ? staging->reference_count : node->job.count))
        return;
    record->leaves = (sap_mesh_leaves){0};
    if (staging) {
        record->leaves = staging->leaves;
        memcpy(record->nodes, staging->nodes, (size_t)staging->node_count * sizeof *record->nodes);
        memcpy(record->references, staging->references, (size_t)staging->reference_count * sizeof *record->references);
    } else {
        sap_mesh_leaves_add(&record->leaves, node->job.count, node->job.depth);
        record->nodes[0] = (sap_mesh_node){0, (uint32_t)node->job.count << 2 | SAP_MESH_LEAF};
        for (int64_t i = 0; i < node->job.count; i++) record->references[i] = parts[i].triangle;
    }
    sap_progress_add(&w->progress, (int64_t)(node->share * SAP_MESH_PROGRESS));
}

// Builds a node's whole subtree, or finds the plane of a larger node.
static void find_or_build(sap_mesh_workspace* w, sap_mesh_large_node* node, float* events, int32_t worker) {
    const sap_mesh_part* parts = sap_mesh_workspace_parts(w) + node->job.first;
    if (node->found || __atomic_load_n(&w->status, __ATOMIC_RELAXED) != SAP_OK || !sap_progress_add(&w->progress, 0))
        return;
    if (node->job.count <= SAP_MESH_SUBTREE) {
        sap_mesh_staging staging = sap_mesh_workspace_staging(w, worker);
        w->kernels->subtree(&w->rules, parts, &node->job, &staging);
        finish(w, node, &staging);
    } else {
        node->split = w->kernels->find(&w->rules, parts, &node->job, events);
        if (node->split.axis < 0) finish(w, node, NULL);
    }
    node->found = true;
}

// The last nodes of a stack.
typedef struct last_nodes {
    sap_mesh_workspace* workspace;
    sap_mesh_large_node *nodes, *children; // the first of them; the whole of the other stack
    float* room;
} last_nodes;

static void find_or_build_one(void* context, int64_t i, int32_t worker) {
    const last_nodes* l = context;
    const size_t floats = sizeof(sap_mesh_part) / sizeof(float);
    find_or_build(l->workspace, &l->nodes[i], l->room + floats * (size_t)l->nodes[i].scratch, worker);
}

static void find_or_build_all(sap_mesh_workspace* w, int side, int64_t from) {
    sap_mesh_large_node* nodes = sap_mesh_workspace_nodes(w, side);
    const int64_t to = w->waiting[side];
    last_nodes last = {w, nodes + from, NULL, (float*)(void*)(sap_mesh_workspace_parts(w) + w->used[0])};
    int64_t at = 0;
    for (int64_t i = from; i < to; i++) { // where each has its scratch memory
        nodes[i].scratch = at;
        at += room_to_find(&nodes[i]);
    }
    SAP_ASSERT(at <= w->capacity - w->used[0] - w->used[1]);
    sap_team_run(w->threads, to - from, find_or_build_one, &last);
}

// Places the children of the nodes from `from` on onto the other stack.
static bool place_children(sap_mesh_workspace* w, int side, int64_t from) {
    const int other = !side;
    const int64_t to = w->waiting[side];
    if (!sap_mesh_workspace_grow(w, &w->nodes[other], (size_t)w->waiting[other] * sizeof(sap_mesh_large_node),
                                 (size_t)(w->waiting[other] + 2 * (to - from)) * sizeof(sap_mesh_large_node)) ||
        !sap_mesh_workspace_grow(w, &w->records, (size_t)w->record_count * sizeof(sap_mesh_record),
                                 (size_t)(w->record_count + 2 * (to - from)) * sizeof(sap_mesh_record)))
        return false;
    sap_mesh_record* records = sap_mesh_workspace_records(w);
    sap_mesh_large_node* children = sap_mesh_workspace_nodes(w, other);
    for (int64_t i = from; i < to; i++) {
        sap_mesh_large_node* node = &sap_mesh_workspace_nodes(w, side)[i];
        if (node->done) continue;
        int64_t counts[2] = {node->split.left, node->split.right};
        SAP_ASSERT(node->found && node->split.axis >= 0 && node->split.axis < 3);
        SAP_ASSERT(counts[0] + counts[1] >= node->job.count);
        records[node->record].axis = node->split.axis;
        records[node->record].plane = node->split.plane;
        records[node->record].left = w->record_count;
        records[node->record].right = w->record_count + 1;
        node->child = w->waiting[other];
        for (int k = 0; k < 2; k++) {
            double part = (double)counts[k] / (double)(counts[0] + counts[1]);
            sap_mesh_large_node* child = &children[w->waiting[other]++];
            *child =
                (sap_mesh_large_node){.reserved = counts[k], .record = w->record_count++, .share = node->share * part};
            child->job.first = other ? w->capacity - w->used[1] - counts[k] : w->used[0];
            w->used[other] += counts[k];
            SAP_ASSERT(w->used[0] + w->used[1] <= w->capacity);
        }
    }
    return true;
}

static void divide_one(void* context, int64_t i, int32_t worker) {
    const last_nodes* l = context;
    const sap_mesh_workspace* w = l->workspace;
    const sap_mesh_large_node* node = &l->nodes[i];
    sap_mesh_part* parts = sap_mesh_workspace_parts(w);
    (void)worker;
    if (node->done) return;
    sap_mesh_large_node* children = l->children + node->child;
    sap_mesh_job *left = &children[0].job, *right = &children[1].job;
    w->kernels->divide(&w->rules, parts + node->job.first, &node->job, &node->split, parts + left->first,
                       parts + right->first, left, right);
    SAP_ASSERT(left->count <= children[0].reserved && right->count <= children[1].reserved);
}

static void divide_all(sap_mesh_workspace* w, int side, int64_t from) {
    last_nodes last = {w, sap_mesh_workspace_nodes(w, side) + from, sap_mesh_workspace_nodes(w, !side), NULL};
    sap_team_run(w->threads, w->waiting[side] - from, divide_one, &last);
}

// Finishes or divides the last nodes of a stack, as many as memory allows. Their children go onto the other stack.
// False on failure.
static bool advance(sap_mesh_workspace* w, int side) {
    int64_t from = make_room_for(w, side, 0, room_to_find);
    if (w->status != SAP_OK) return false;
    find_or_build_all(w, side, from);
    if (w->status != SAP_OK || w->progress.cancelled) return false;
    from = make_room_for(w, side, from, room_to_divide);
    if (w->status != SAP_OK) return false;
    if (!place_children(w, side, from)) return false;
    divide_all(w, side, from);
    const sap_mesh_large_node* nodes = sap_mesh_workspace_nodes(w, side);
    while (w->waiting[side] > from) w->used[side] -= nodes[--w->waiting[side]].reserved;
    SAP_ASSERT(w->used[side] >= 0 && (w->waiting[side] > 0 || w->used[side] == 0));
    return true;
}

static void begin(sap_mesh_workspace* w, const sap_mesh_box* bounds, int64_t triangles) {
    sap_mesh_large_node* root = sap_mesh_workspace_nodes(w, 0);
    *root = (sap_mesh_large_node){
        .job = {.cell = *bounds, .tight = *bounds, .count = triangles, .most = sap_most_references(triangles)},
        .reserved = triangles,
        .share = 1};
    w->used[0] = triangles;
    w->waiting[0] = w->record_count = 1;
    w->rules.radius = sap_mesh_search_radius(w->rules.radius, *bounds);
    w->progress = sap_progress_begin(w->device, SAP_MESH_PROGRESS);
}

static sap_status cancelled(const sap_mesh_workspace* w) {
    return sap_fail(w->device, SAP_ERROR_CANCELLED, "the build was cancelled");
}

static sap_status build(sap_mesh_workspace* w, const sap_mesh* mesh) {
    sap_mesh_box bounds;
    sap_status status = sap_mesh_workspace_open(w, mesh);
    if (status == SAP_OK)
        status = sap_mesh_load(w->device, mesh, (float*)(void*)w->corners.memory, sap_mesh_workspace_parts(w), &bounds);
    if (status != SAP_OK) return status;
    for (int k = 0; k < 3; k++) { // -0 becomes 0, so that the order of the triangles does not matter
        bounds.lower[k] += 0.0F;
        bounds.upper[k] += 0.0F;
    }
    begin(w, &bounds, mesh->triangle_count);
    for (int side = 0; w->waiting[0] + w->waiting[1] > 0;) {
        if (!advance(w, side)) return w->status == SAP_OK ? cancelled(w) : w->status;
        if (w->waiting[!side]) side = !side;
    }
    if (!sap_progress_finish(&w->progress)) return cancelled(w);
    return sap_mesh_join(w->tree, sap_mesh_workspace_records(w), w->record_count, w->rules.corners,
                         mesh->triangle_count, &bounds, &w->parts);
}

sap_status sap_mesh_build_cpu(sap_mesh_tree* tree, const sap_mesh* mesh) {
    sap_mesh_workspace workspace = {.tree = tree};
    sap_status status = build(&workspace, mesh);
    sap_mesh_workspace_close(&workspace);
    return status;
}
