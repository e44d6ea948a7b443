// The memory of a build on the CPU: scratch memory of the device, which keeps it for the next build.
#include "base/team.h"
#include "device/cpu.h"
#include "mesh/workspace.h"
#include <string.h>

enum { PIECE_BYTES = 40, FEWEST_PIECE_BYTES = 1 << 14 }; // bytes of finished pieces per triangle, and at least

sap_status sap_mesh_workspace_fail(sap_mesh_workspace* workspace, sap_status status) {
    sap_status none = SAP_OK;
    __atomic_compare_exchange_n(&workspace->status, &none, status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return status;
}

// Takes scratch memory within the bound.
static bool take_scratch(sap_mesh_workspace* w, size_t bytes, sap_scratch* scratch) {
    if (w->limit && (bytes > w->limit || w->in_use > w->limit - bytes)) {
        sap_mesh_workspace_fail(w, sap_fail(w->device, SAP_ERROR_RANGE,
                                            "options.memory: %zu bytes are too little for this mesh", w->limit));
        return false;
    }
    if (!sap_scratch_take(w->device, bytes, scratch)) {
        sap_mesh_workspace_fail(w, sap_fail(w->device, SAP_ERROR_MEMORY, "no memory to build over triangles"));
        return false;
    }
    w->in_use += bytes;
    return true;
}

bool sap_mesh_workspace_grow(sap_mesh_workspace* w, sap_scratch* list, size_t used, size_t bytes) {
    SAP_ASSERT(used <= bytes && used <= list->bytes);
    if (list->bytes >= bytes) return true;
    sap_scratch larger = {NULL, 0};
    if (!take_scratch(w, bytes + bytes / 2, &larger)) return false;
    if (used) memcpy(larger.memory, list->memory, used);
    w->in_use -= list->bytes < w->in_use ? list->bytes : w->in_use;
    sap_scratch_give(w->device, list);
    *list = larger;
    return true;
}

bool sap_mesh_workspace_make_room(sap_mesh_workspace* w, int64_t parts) {
    int64_t needed = w->used[0] + w->used[1] + parts;
    if (needed <= w->capacity) return true;
    if (w->limit) return false; // the stacks have all memory of the bound already
    sap_scratch larger = {NULL, 0};
    int64_t capacity = needed + needed / 4;
    if (!take_scratch(w, (size_t)capacity * sizeof(sap_mesh_part), &larger)) return false;
    const sap_mesh_part* from = sap_mesh_workspace_parts(w);
    sap_mesh_part* to = (sap_mesh_part*)(void*)larger.memory;
    capacity = (int64_t)(larger.bytes / sizeof *to);
    SAP_ASSERT(capacity >= needed);
    memcpy(to, from, (size_t)w->used[0] * sizeof *to);
    memcpy(to + capacity - w->used[1], from + w->capacity - w->used[1], (size_t)w->used[1] * sizeof *to);
    for (int64_t i = 0; i < w->waiting[1]; i++) sap_mesh_workspace_nodes(w, 1)[i].job.first += capacity - w->capacity;
    sap_scratch_give(w->device, &w->parts);
    w->parts = larger;
    w->capacity = capacity;
    return true;
}

static size_t staging_bytes(const sap_mesh_rules* rules, int64_t subtree) {
    const size_t staged = (size_t)rules->staged, parts = (size_t)rules->part_room;
    return sap_align(2 * staged * sizeof(sap_mesh_node)) + sap_align(staged * sizeof(int32_t)) +
           sap_align(parts * sizeof(sap_mesh_part)) + sap_align(SAP_MESH_EVENTS(subtree) * sizeof(float)) +
           sap_align(SAP_MESH_FRAMES * sizeof(float));
}

sap_mesh_staging sap_mesh_workspace_staging(const sap_mesh_workspace* w, int thread) {
    const size_t staged = (size_t)w->rules.staged, parts = (size_t)w->rules.part_room;
    SAP_ASSERT(thread >= 0 && thread < w->threads);
    unsigned char* at = w->stagings.memory + w->staging_bytes * (size_t)thread;
    sap_mesh_staging staging = {.nodes = (sap_mesh_node*)(void*)at};
    at += sap_align(2 * staged * sizeof *staging.nodes);
    staging.references = (int32_t*)(void*)at;
    at += sap_align(staged * sizeof *staging.references);
    staging.parts = (sap_mesh_part*)(void*)at;
    at += sap_align(parts * sizeof *staging.parts);
    staging.frames = (float*)(void*)at;
    staging.events = staging.frames + sap_align(SAP_MESH_FRAMES * sizeof(float)) / sizeof(float);
    SAP_ASSERT((unsigned char*)(staging.events + SAP_MESH_EVENTS(w->rules.staged / SAP_MESH_STAGED)) <=
               w->stagings.memory + w->staging_bytes * ((size_t)thread + 1));
    return staging;
}

static bool new_block(sap_mesh_workspace* w, size_t bytes) {
    if (w->block_count == SAP_MESH_BLOCKS)
        return sap_mesh_workspace_fail(w,
                                       sap_fail(w->device, SAP_ERROR_RANGE, "mesh: the tree has too many references")),
               false;
    if (!take_scratch(w, bytes, &w->blocks[w->block_count])) return false;
    w->block_count++;
    w->block_used = 0;
    return true;
}

bool sap_mesh_workspace_piece(sap_mesh_workspace* w, sap_mesh_record* record, int64_t nodes, int64_t references) {
    size_t node_bytes = (size_t)nodes * sizeof(sap_mesh_node);
    SAP_ASSERT(w->block_count > 0 && nodes > 0 && references >= 0);
    size_t bytes = node_bytes + ((size_t)references * sizeof(int32_t) + 7) / 8 * 8;
    bool has_room = true;
    sap_lock_take(&w->piece_lock);
    const sap_scratch* last = &w->blocks[w->block_count - 1];
    if (last->bytes - w->block_used < bytes) has_room = new_block(w, bytes > last->bytes ? bytes : last->bytes);
    if (has_room) {
        unsigned char* at = w->blocks[w->block_count - 1].memory + w->block_used;
        w->block_used += bytes;
        SAP_ASSERT(w->block_used <= w->blocks[w->block_count - 1].bytes);
        record->nodes = (sap_mesh_node*)(void*)at;
        record->references = (int32_t*)(void*)(at + node_bytes);
        record->node_count = nodes;
        record->reference_count = references;
        record->axis = -1;
    }
    sap_lock_give(&w->piece_lock);
    return has_room;
}

static void set_rules(sap_mesh_workspace* w, int64_t triangles) {
    int64_t subtree = triangles < SAP_MESH_FEWEST ? SAP_MESH_FEWEST : triangles;
    if (subtree > SAP_MESH_SUBTREE) subtree = SAP_MESH_SUBTREE;
    w->rules = sap_mesh_rules_of(&w->tree->options, triangles);
    w->rules.staged = SAP_MESH_STAGED * subtree;
    w->rules.part_room = w->rules.staged + subtree;
    w->staging_bytes = staging_bytes(&w->rules, subtree);
}

// At most as many threads as there are subtrees, and as the bound of memory allows.
static int threads_for(const sap_mesh_workspace* w, int64_t triangles) {
    int64_t threads = w->device->options.threads, subtrees = 1 + triangles / SAP_MESH_SUBTREE;
    if (threads > subtrees) threads = subtrees;
    while (w->limit && threads > 1 && (size_t)threads > w->limit / 4 / w->staging_bytes) threads--;
    return (int)threads;
}

// Bytes for pieces: an estimate, or what an earlier build of this tree needed if that is more.
static size_t first_block_bytes(const sap_mesh_workspace* w, int64_t triangles) {
    const sap_mesh_tree_shape* s = &w->tree->shape;
    size_t estimate = PIECE_BYTES * (size_t)triangles + FEWEST_PIECE_BYTES;
    size_t before = (size_t)s->nodes * sizeof(sap_mesh_node) + (size_t)s->references * sizeof(int32_t);
    before += before / 16;
    return before > estimate ? before : estimate;
}

sap_status sap_mesh_workspace_open(sap_mesh_workspace* w, const sap_mesh* mesh) {
    const int64_t triangles = mesh->triangle_count;
    w->device = w->tree->device;
    w->kernels = sap_cpu_kernels_of(w->device, 32)->mesh;
    w->limit = w->tree->options.memory;
    w->in_use = 0;
    w->status = SAP_OK;
    set_rules(w, triangles);
    w->threads = threads_for(w, triangles);
    size_t corners = (size_t)triangles * SAP_TRIANGLE_FLOATS + SAP_TRIANGLE_PADDING;
    size_t lists = 16 * (size_t)(2 + triangles / SAP_MESH_SUBTREE);
    int64_t capacity = 2 * triangles + triangles / 2 + SAP_ALIGNMENT;
    if (!take_scratch(w, corners * sizeof(float), &w->corners) ||
        !take_scratch(w, w->staging_bytes * (size_t)w->threads, &w->stagings) ||
        !take_scratch(w, lists * sizeof(sap_mesh_large_node), &w->nodes[0]) ||
        !take_scratch(w, lists * sizeof(sap_mesh_large_node), &w->nodes[1]) ||
        !take_scratch(w, lists * sizeof(sap_mesh_record), &w->records) ||
        !new_block(w, first_block_bytes(w, triangles)))
        return w->status;
    size_t bytes = (size_t)capacity * sizeof(sap_mesh_part);
    if (w->limit) { // at most three quarters of the rest: lists and pieces may grow
        size_t rest = w->limit - w->in_use;
        if (bytes > rest / 4 * 3) bytes = rest / 4 * 3;
        if (bytes < (size_t)triangles * sizeof(sap_mesh_part)) bytes = (size_t)triangles * sizeof(sap_mesh_part);
    }
    if (!take_scratch(w, bytes, &w->parts)) return w->status;
    w->capacity = (int64_t)((w->limit ? bytes : w->parts.bytes) / sizeof(sap_mesh_part));
    w->rules.corners = (const float*)(const void*)w->corners.memory;
    SAP_ASSERT(w->capacity >= triangles && w->threads > 0);
    return SAP_OK;
}

void sap_mesh_workspace_close(sap_mesh_workspace* w) {
    sap_scratch_give(w->device, &w->corners);
    sap_scratch_give(w->device, &w->stagings);
    sap_scratch_give(w->device, &w->parts);
    sap_scratch_give(w->device, &w->nodes[0]);
    sap_scratch_give(w->device, &w->nodes[1]);
    sap_scratch_give(w->device, &w->records);
    for (int i = 0; i < w->block_count; i++) sap_scratch_give(w->device, &w->blocks[i]);
}
