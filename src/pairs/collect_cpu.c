// Pairs of points within a radius on the CPU. The points of a ask a balanced tree like any queries, since its own boxes, in
// groups of siblings, are found faster than made anew. Other trees are met leaf against tree. Each task, some leaves of a,
// collects hits in memory of its own; they move to their rows when all counts, and so all offsets, are known. On trees with
// periods most leaves are so far from the ends of these that no way around is within the radius: they take the walk of all
// other trees.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "pairs/by_id.h"
#include "pairs/ops.h"
#include "pairs/pairs.h"
#include "radius/neighbors.h"
#include "radius/ops.h"
#include "tree/periods.h"

#include <string.h>

enum {
    TASK_NODES = 256, // nodes of a whose leaves are one task
    FIRST_HITS = 4096,
    SPARE_HITS = 16 // kernels may write a register behind the last hit
};

static bool grow_hits(sap_device* device, size_t real, int64_t least, sap_pairs_hits* hits) {
    int64_t room = hits->room ? 2 * hits->room : FIRST_HITS;
    if (room < least) room = least;
    const size_t ids = sap_align((size_t)(room + SPARE_HITS) * 4), distances = (size_t)(room + SPARE_HITS) * real;
    sap_scratch larger;
    if (!sap_scratch_take(device, ids + distances, &larger)) return false;
    if (hits->used) {
        memcpy(larger.memory, hits->ids, (size_t)hits->used * 4);
        memcpy(larger.memory + ids, hits->distance2, (size_t)hits->used * real);
    }
    sap_scratch_give(device, &hits->hits_memory);
    hits->hits_memory = larger;
    hits->ids = (int32_t*)(void*)larger.memory;
    hits->distance2 = larger.memory + ids;
    hits->room = room;
    return true;
}

static bool grow_pieces(sap_device* device, sap_pairs_hits* hits) {
    const int64_t room = hits->pieces_room ? 2 * hits->pieces_room : FIRST_HITS / 4;
    sap_scratch larger;
    if (!sap_scratch_take(device, (size_t)room * sizeof *hits->pieces, &larger)) return false;
    if (hits->pieces_used) memcpy(larger.memory, hits->pieces, (size_t)hits->pieces_used * sizeof *hits->pieces);
    sap_scratch_give(device, &hits->pieces_memory);
    hits->pieces_memory = larger;
    hits->pieces = (sap_pairs_piece*)(void*)larger.memory;
    hits->pieces_room = room;
    return true;
}

bool sap_pairs_grow(sap_device* device, int32_t real_bits, int64_t more, sap_pairs_hits* hits) {
    if (hits->room - hits->used < more && !grow_hits(device, (size_t)real_bits / 8, hits->used + more, hits))
        return false;
    return hits->pieces_used < hits->pieces_room || grow_pieces(device, hits);
}

typedef struct collecting {
    const sap_pairs_job* job;
    const sap_pair_walks *open, *periodic; // periodic: of leaves that reach around a tree with periods; else NULL
    void* periods;                         // real[SAP_MAX_DIMS]
    sap_boxed a, b;
    const sap_boxed* of_a; // or b's, if both are one tree
    sap_pairs_hits* hits;  // of each task
    int64_t tasks;
    int64_t* next; // [rows] how many hits a row has; then where its next piece goes
    sap_neighbors* out;
    sap_scratch memory; // of hits and next
    sap_progress_state progress;
    int failed; // a thread found no memory
} collecting;

// A way around is shortest from one of the ends of a box.
static bool reaches_around(const collecting* c, uint32_t leaf) {
    const size_t corner = (size_t)c->b.tree->shape.dims * sap_real_bytes(&c->b.tree->shape);
    const unsigned char* box = (const unsigned char*)c->of_a->boxes + (size_t)leaf * 2 * corner;
    return sap_reaches_around(c->b.tree, SAP_METRIC_L2, box, c->job->limit2) ||
           sap_reaches_around(c->b.tree, SAP_METRIC_L2, box + corner, c->job->limit2);
}

static void collect_task(void* context, int64_t task, int32_t worker) {
    collecting* c = context;
    const int64_t first = task * TASK_NODES, nodes = c->of_a->count;
    const int64_t end = first + TASK_NODES < nodes ? first + TASK_NODES : nodes;
    sap_pairs_hits* hits = &c->hits[task];
    const sap_pairs_run run = {c->of_a, &c->b, c->periods, c->job->limit2, c->job->greater_only, hits};
    (void)worker;
    if (__atomic_load_n(&c->failed, __ATOMIC_RELAXED) || !sap_progress_add(&c->progress, 0)) return;
    for (int64_t node = first; node < end; node++) {
        if (!sap_boxed_is_leaf(c->of_a, (uint32_t)node) || c->of_a->nodes[node].count == 0) continue;
        const sap_pair_walks* walk = c->periodic && reaches_around(c, (uint32_t)node) ? c->periodic : c->open;
        if (!walk->collect(&run, (uint32_t)node)) {
            __atomic_store_n(&c->failed, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    for (int64_t i = 0; i < hits->pieces_used; i++) c->next[hits->pieces[i].row] += hits->pieces[i].count;
    sap_progress_add(&c->progress, end - first);
}

static void move_task(void* context, int64_t task, int32_t worker) {
    const collecting* c = context;
    const sap_pairs_hits* hits = &c->hits[task];
    const size_t real = sap_real_bytes(&c->job->a->shape);
    int32_t* ids = (int32_t*)(uintptr_t)c->out->ids;
    unsigned char* distance2 =
        (unsigned char*)(real == 4 ? (uintptr_t)c->out->distance2 : (uintptr_t)c->out->distance2_f64);
    int64_t from = 0;
    (void)worker;
    for (int64_t i = 0; i < hits->pieces_used; i++) {
        const sap_pairs_piece piece = hits->pieces[i];
        const int64_t to = c->next[piece.row];
        memcpy(ids + to, hits->ids + from, (size_t)piece.count * 4);
        memcpy(distance2 + (size_t)to * real, (const unsigned char*)hits->distance2 + (size_t)from * real,
               (size_t)piece.count * real);
        c->next[piece.row] = to + piece.count;
        from += piece.count;
    }
    SAP_ASSERT(from == hits->used);
}

static sap_status reserve(collecting* c) {
    sap_device* device = c->job->a->device;
    const int64_t rows = c->job->a->shape.source_count;
    c->tasks = ((int64_t)c->of_a->count + TASK_NODES - 1) / TASK_NODES;
    if (c->b.count == 0) c->tasks = 0;
    const size_t hits = sap_align((size_t)c->tasks * sizeof *c->hits), next = (size_t)(rows + 1) * sizeof *c->next;
    const size_t periods = sap_align(SAP_MAX_DIMS * sap_real_bytes(&c->job->a->shape));
    if (!sap_scratch_take(device, hits + periods + next, &c->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to collect the pairs");
    c->hits = (sap_pairs_hits*)(void*)c->memory.memory;
    c->periods = c->memory.memory + hits;
    c->next = (int64_t*)(void*)(c->memory.memory + hits + periods);
    memset(c->memory.memory, 0, hits + periods + next);
    sap_pairs_periods(c->b.tree, c->periods);
    return SAP_OK;
}

static sap_status collect(collecting* c) {
    sap_device* device = c->job->a->device;
    const int64_t rows = c->job->a->shape.source_count;
    c->progress = sap_progress_begin(device, c->of_a->count);
    sap_team_run(device->options.threads, c->tasks, collect_task, c);
    if (c->failed) return sap_fail(device, SAP_ERROR_MEMORY, "no memory to collect the pairs");
    if (!sap_progress_finish(&c->progress)) return sap_fail(device, SAP_ERROR_CANCELLED, "the search was cancelled");
    const sap_status status = sap_neighbors_create(device, rows, c->job->a->shape.real_bits, c->next, &c->out);
    if (status != SAP_OK) return status;
    memcpy(c->next, c->out->offsets, (size_t)rows * sizeof *c->next);
    sap_team_run(device->options.threads, c->tasks, move_task, c);
    *c->job->found = c->out;
    return SAP_OK;
}

static sap_status ask(const sap_pairs_job* job) {
    const sap_tree_shape* s = &job->a->shape;
    sap_by_id points;
    sap_status status = sap_by_id_open(job->a, &points);
    if (status != SAP_OK) return status;
    const sap_radius_job asked = {.queries = {points.coords, s->source_count, s->dims, s->dims, s->real_bits},
                                  .limit2 = job->limit2,
                                  .found = job->found};
    status = sap_radius_cpu(job->b, &asked);
    sap_by_id_close(&points);
    return status;
}

static sap_status meet(const sap_pairs_job* job) {
    sap_device* device = job->a->device;
    const sap_cpu_kernels* kernels = sap_cpu_kernels_of(device, job->a->shape.real_bits);
    collecting c = {.job = job, .open = &kernels->pairs->open};
    if (sap_is_periodic(&job->b->options)) c.periodic = kernels->pairs_periodic;
    c.of_a = job->a == job->b ? &c.b : &c.a;
    sap_status status = sap_boxed_make(job->b, NULL, kernels->pairs, &c.b);
    if (status == SAP_OK && job->a != job->b) status = sap_boxed_make(job->a, NULL, kernels->pairs, &c.a);
    if (status == SAP_OK) status = reserve(&c);
    if (status == SAP_OK) status = collect(&c);
    for (int64_t task = 0; c.hits && task < c.tasks; task++) {
        sap_scratch_give(device, &c.hits[task].hits_memory);
        sap_scratch_give(device, &c.hits[task].pieces_memory);
    }
    sap_scratch_give(device, &c.memory);
    sap_scratch_give(job->a->device, &c.a.memory);
    sap_scratch_give(job->b->device, &c.b.memory);
    return status;
}

sap_status sap_pairs_collect_cpu(const sap_pairs_job* job) {
    SAP_ASSERT(job->b->shape.kind == SAP_TREE_EXPLICIT || !job->greater_only);
    return job->b->shape.kind == SAP_TREE_BALANCED ? ask(job) : meet(job);
}
