// The builders over triangles on the CPU. Large nodes are divided level by level, each by a thread; smaller ones are
// built as whole subtrees, each into a piece of its own. The pieces are joined in preorder at the end, so neither the
// number of threads nor who does what shows in the tree.
//
// The parts of a level and those of the next lie in two stacks that grow towards each other. Where memory is bounded
// and the next level does not fit, only the last nodes of a level are divided, and what comes of them is finished
// first.
#include "base/threads.h"
#include "mesh/load.h"
#include "mesh/workspace.h"
#include <string.h>

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/dialect.h"

#include "math/sah.h"
#include "mesh/planes.h"
#include "mesh/search_radius.h"

// Parts that find() needs scratch memory of, for a node of so many.
static int64_t room_to_find(const sap_mesh_top* top) {
    return top->found || top->job.count <= SAP_MESH_SUBTREE
               ? 0
               : (int64_t)((SAP_MESH_EVENTS(top->job.count) * sizeof(float) + sizeof(sap_mesh_part) - 1) /
                           sizeof(sap_mesh_part));
}

static int64_t room_to_divide(const sap_mesh_top* top) { return top->done ? 0 : top->split.left + top->split.right; }

// The last nodes of a stack that the room between the stacks suffices for.
static int64_t batch_start(const sap_mesh_crew* c, const sap_mesh_top* tops, int64_t from, int64_t to,
                           int64_t (*needs)(const sap_mesh_top*)) {
    int64_t room = c->capacity - c->used[0] - c->used[1];
    while (to > from && needs(&tops[to - 1]) <= room) room -= needs(&tops[--to]);
    return to;
}

// As batch_start, after making room as far as that is allowed; to itself if not even one node fits.
static int64_t make_batch(sap_mesh_crew* c, int side, int64_t from, int64_t (*needs)(const sap_mesh_top*)) {
    int64_t to = c->waiting[side], all = 0;
    const sap_mesh_top* tops = sap_mesh_crew_tops(c, side);
    for (int64_t i = from; i < to; i++) all += needs(&tops[i]);
    if (!sap_mesh_crew_make_room(c, all) && c->status != SAP_OK) return to;
    int64_t start = batch_start(c, tops, from, to, needs);
    if (start == to)
        sap_mesh_crew_fail(c, sap_fail(c->device, SAP_ERROR_RANGE,
                                       "options.memory: %zu bytes are too little for this mesh", c->limit));
    return start;
}

// A node that is built completely, or that stays a leaf, becomes a piece.
static void finish(sap_mesh_crew* c, sap_mesh_top* top, const sap_mesh_workshop* shop) {
    sap_mesh_record* record = &sap_mesh_crew_records(c)[top->record];
    const sap_mesh_part* parts = sap_mesh_crew_parts(c) + top->job.first;
    top->done = true;
    if (!sap_mesh_crew_piece(c, record, shop ? shop->node_count : 1, shop ? shop->reference_count : top->job.count))
        return;
    record->leaves = (sap_mesh_leaves){0};
    if (shop) {
        record->leaves = shop->leaves;
        memcpy(record->nodes, shop->nodes, (size_t)shop->node_count * sizeof *record->nodes);
        memcpy(record->references, shop->references, (size_t)shop->reference_count * sizeof *record->references);
    } else {
        sap_mesh_leaves_add(&record->leaves, top->job.count, top->job.depth);
        record->nodes[0] = (sap_mesh_node){0, (uint32_t)top->job.count << 2 | SAP_MESH_LEAF};
        for (int64_t i = 0; i < top->job.count; i++) record->references[i] = parts[i].triangle;
    }
    sap_progress_add(&c->progress, (int64_t)(top->share * SAP_MESH_PROGRESS));
}

// Looks at one node: builds it if it is a subtree, else finds its plane.
static void look_at(sap_mesh_crew* c, sap_mesh_top* top, float* events) {
    const sap_mesh_part* parts = sap_mesh_crew_parts(c) + top->job.first;
    if (top->found || c->status != SAP_OK || !sap_progress_add(&c->progress, 0)) return;
    if (top->job.count <= SAP_MESH_SUBTREE) {
        sap_mesh_workshop shop = sap_mesh_crew_workshop(c, sap_thread_number());
        c->kernels->subtree(&c->rules, parts, &top->job, &shop);
        finish(c, top, &shop);
    } else {
        top->split = c->kernels->find(&c->rules, parts, &top->job, events);
        if (top->split.axis < 0) finish(c, top, NULL);
    }
    top->found = true;
}

static void look_at_all(sap_mesh_crew* c, int side, int64_t from) {
    sap_mesh_top* tops = sap_mesh_crew_tops(c, side);
    const int64_t to = c->waiting[side];
    float* room = (float*)(void*)(sap_mesh_crew_parts(c) + c->used[0]);
    const size_t floats = sizeof(sap_mesh_part) / sizeof(float);
    int64_t at = 0;
    for (int64_t i = from; i < to; i++) { // where each finds scratch memory
        tops[i].scratch = at;
        at += room_to_find(&tops[i]);
    }
#pragma omp parallel for num_threads(c->threads) schedule(dynamic) if (to - from > 1)
    for (int64_t i = from; i < to; i++) look_at(c, &tops[i], room + floats * (size_t)tops[i].scratch);
}

// Gives the children of the nodes from `from` on their places on the other stack.
static bool place_children(sap_mesh_crew* c, int side, int64_t from) {
    const int other = !side;
    const int64_t to = c->waiting[side];
    if (!sap_mesh_crew_grow(c, &c->tops[other], (size_t)c->waiting[other] * sizeof(sap_mesh_top),
                            (size_t)(c->waiting[other] + 2 * (to - from)) * sizeof(sap_mesh_top)) ||
        !sap_mesh_crew_grow(c, &c->records, (size_t)c->record_count * sizeof(sap_mesh_record),
                            (size_t)(c->record_count + 2 * (to - from)) * sizeof(sap_mesh_record)))
        return false;
    sap_mesh_record* records = sap_mesh_crew_records(c);
    sap_mesh_top* children = sap_mesh_crew_tops(c, other);
    for (int64_t i = from; i < to; i++) {
        sap_mesh_top* top = &sap_mesh_crew_tops(c, side)[i];
        if (top->done) continue;
        int64_t counts[2] = {top->split.left, top->split.right};
        records[top->record].axis = top->split.axis;
        records[top->record].plane = top->split.plane;
        records[top->record].left = c->record_count;
        records[top->record].right = c->record_count + 1;
        top->child = c->waiting[other];
        for (int k = 0; k < 2; k++) {
            double part = (double)counts[k] / (double)(counts[0] + counts[1]);
            sap_mesh_top* child = &children[c->waiting[other]++];
            *child = (sap_mesh_top){.reserved = counts[k], .record = c->record_count++, .share = top->share * part};
            child->job.first = other ? c->capacity - c->used[1] - counts[k] : c->used[0];
            c->used[other] += counts[k];
        }
    }
    return true;
}

static void divide_all(sap_mesh_crew* c, int side, int64_t from) {
    sap_mesh_top *tops = sap_mesh_crew_tops(c, side), *children = sap_mesh_crew_tops(c, !side);
    sap_mesh_part* parts = sap_mesh_crew_parts(c);
    const int64_t to = c->waiting[side];
#pragma omp parallel for num_threads(c->threads) schedule(dynamic) if (to - from > 1)
    for (int64_t i = from; i < to; i++) {
        sap_mesh_top* top = &tops[i];
        if (top->done) continue;
        sap_mesh_job *left = &children[top->child].job, *right = &children[top->child + 1].job;
        c->kernels->divide(&c->rules, parts + top->job.first, &top->job, &top->split, parts + left->first,
                           parts + right->first, left, right);
    }
}

// Works on the last nodes of a stack, as many as memory allows; their children go on the other. False on failure.
static bool work(sap_mesh_crew* c, int side) {
    int64_t from = make_batch(c, side, 0, room_to_find);
    if (c->status != SAP_OK) return false;
    look_at_all(c, side, from);
    if (c->status != SAP_OK || c->progress.cancelled) return false;
    from = make_batch(c, side, from, room_to_divide);
    if (c->status != SAP_OK) return false;
    if (!place_children(c, side, from)) return false;
    divide_all(c, side, from);
    const sap_mesh_top* tops = sap_mesh_crew_tops(c, side);
    while (c->waiting[side] > from) c->used[side] -= tops[--c->waiting[side]].reserved;
    return true;
}

static void begin(sap_mesh_crew* c, const sap_mesh_box* bounds, int64_t triangles) {
    sap_mesh_top* root = sap_mesh_crew_tops(c, 0);
    *root = (sap_mesh_top){
        .job = {.cell = *bounds, .tight = *bounds, .count = triangles, .most = sap_most_references(triangles)},
        .reserved = triangles,
        .share = 1};
    c->used[0] = triangles;
    c->waiting[0] = c->record_count = 1;
    c->rules.radius = sap_mesh_reach(c->rules.radius, *bounds);
    c->progress = sap_progress_begin(c->device, SAP_MESH_PROGRESS);
}

static sap_status cancelled(const sap_mesh_crew* c) {
    return sap_fail(c->device, SAP_ERROR_CANCELLED, "the build was cancelled");
}

static sap_status build(sap_mesh_crew* c, const sap_mesh* mesh) {
    sap_mesh_box bounds;
    sap_status status = sap_mesh_crew_open(c, mesh);
    if (status == SAP_OK)
        status = sap_mesh_load(c->device, mesh, (float*)(void*)c->corners.memory, sap_mesh_crew_parts(c), &bounds);
    if (status != SAP_OK) return status;
    for (int k = 0; k < 3; k++) { // -0 becomes 0, whichever came first
        bounds.lower[k] += 0.0F;
        bounds.upper[k] += 0.0F;
    }
    begin(c, &bounds, mesh->triangle_count);
    for (int side = 0; c->waiting[0] + c->waiting[1] > 0;) {
        if (!work(c, side)) return c->status == SAP_OK ? cancelled(c) : c->status;
        if (c->waiting[!side]) side = !side;
    }
    if (!sap_progress_finish(&c->progress)) return cancelled(c);
    return sap_mesh_join(c->tree, sap_mesh_crew_records(c), c->record_count, c->rules.corners, mesh->triangle_count,
                         &bounds, &c->parts);
}

sap_status sap_mesh_build_cpu(sap_mesh_tree* tree, const sap_mesh* mesh) {
    sap_mesh_crew crew = {.tree = tree};
    sap_status status = build(&crew, mesh);
    sap_mesh_crew_close(&crew);
    return status;
}
