// The memory of a build on the CPU: scratch blocks of the device, which keeps them for the next build.
#include "device/cpu.h"
#include "mesh/workspace.h"
#include <string.h>

enum { PIECE_BYTES = 40, FEWEST_PIECE_BYTES = 1 << 14 }; // of finished pieces, for each triangle

sap_status sap_mesh_crew_fail(sap_mesh_crew* crew, sap_status status) {
    sap_status none = SAP_OK;
    __atomic_compare_exchange_n(&crew->status, &none, status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return status;
}

// Borrows scratch memory, within the bound.
static bool lend(sap_mesh_crew* c, size_t bytes, sap_scratch* scratch) {
    if (c->limit && (bytes > c->limit || c->lent > c->limit - bytes)) {
        sap_mesh_crew_fail(c, sap_fail(c->device, SAP_ERROR_RANGE,
                                       "options.memory: %zu bytes are too little for this mesh", c->limit));
        return false;
    }
    if (!sap_scratch_take(c->device, bytes, scratch)) {
        sap_mesh_crew_fail(c, sap_fail(c->device, SAP_ERROR_MEMORY, "no memory to build over triangles"));
        return false;
    }
    c->lent += bytes;
    return true;
}

bool sap_mesh_crew_grow(sap_mesh_crew* c, sap_scratch* list, size_t used, size_t bytes) {
    if (list->bytes >= bytes) return true;
    sap_scratch larger = {NULL, 0};
    if (!lend(c, bytes + bytes / 2, &larger)) return false;
    if (used) memcpy(larger.memory, list->memory, used);
    c->lent -= list->bytes < c->lent ? list->bytes : c->lent;
    sap_scratch_give(c->device, list);
    *list = larger;
    return true;
}

bool sap_mesh_crew_make_room(sap_mesh_crew* c, int64_t parts) {
    int64_t needed = c->used[0] + c->used[1] + parts;
    if (needed <= c->capacity) return true;
    if (c->limit) return false; // the bound has been given away already
    sap_scratch larger = {NULL, 0};
    int64_t capacity = needed + needed / 4;
    if (!lend(c, (size_t)capacity * sizeof(sap_mesh_part), &larger)) return false;
    const sap_mesh_part* from = sap_mesh_crew_parts(c);
    sap_mesh_part* to = (sap_mesh_part*)(void*)larger.memory;
    capacity = (int64_t)(larger.bytes / sizeof *to);
    memcpy(to, from, (size_t)c->used[0] * sizeof *to);
    memcpy(to + capacity - c->used[1], from + c->capacity - c->used[1], (size_t)c->used[1] * sizeof *to);
    for (int64_t i = 0; i < c->waiting[1]; i++) sap_mesh_crew_tops(c, 1)[i].job.first += capacity - c->capacity;
    sap_scratch_give(c->device, &c->parts);
    c->parts = larger;
    c->capacity = capacity;
    return true;
}

static size_t workshop_bytes(const sap_mesh_rules* rules, int64_t subtree) {
    const size_t staged = (size_t)rules->staged, parts = (size_t)rules->part_room;
    return sap_align(2 * staged * sizeof(sap_mesh_node)) + sap_align(staged * sizeof(int32_t)) +
           sap_align(parts * sizeof(sap_mesh_part)) + sap_align(SAP_MESH_EVENTS(subtree) * sizeof(float)) +
           sap_align(SAP_MESH_FRAMES * sizeof(float));
}

sap_mesh_workshop sap_mesh_crew_workshop(const sap_mesh_crew* c, int thread) {
    const size_t staged = (size_t)c->rules.staged, parts = (size_t)c->rules.part_room;
    unsigned char* at = c->workshops.memory + c->workshop_bytes * (size_t)thread;
    sap_mesh_workshop w = {.nodes = (sap_mesh_node*)(void*)at};
    at += sap_align(2 * staged * sizeof *w.nodes);
    w.references = (int32_t*)(void*)at;
    at += sap_align(staged * sizeof *w.references);
    w.parts = (sap_mesh_part*)(void*)at;
    at += sap_align(parts * sizeof *w.parts);
    w.frames = (float*)(void*)at;
    w.events = w.frames + sap_align(SAP_MESH_FRAMES * sizeof(float)) / sizeof(float);
    return w;
}

static bool new_block(sap_mesh_crew* c, size_t bytes) {
    if (c->block_count == SAP_MESH_BLOCKS)
        return sap_mesh_crew_fail(c, sap_fail(c->device, SAP_ERROR_RANGE, "mesh: the tree has too many references")),
               false;
    if (!lend(c, bytes, &c->blocks[c->block_count])) return false;
    c->block_count++;
    c->block_used = 0;
    return true;
}

bool sap_mesh_crew_piece(sap_mesh_crew* c, sap_mesh_record* record, int64_t nodes, int64_t references) {
    size_t node_bytes = (size_t)nodes * sizeof(sap_mesh_node);
    size_t bytes = node_bytes + ((size_t)references * sizeof(int32_t) + 7) / 8 * 8;
    bool some = true;
#pragma omp critical(sap_mesh_piece)
    {
        const sap_scratch* last = &c->blocks[c->block_count - 1];
        if (last->bytes - c->block_used < bytes) some = new_block(c, bytes > last->bytes ? bytes : last->bytes);
        if (some) {
            unsigned char* at = c->blocks[c->block_count - 1].memory + c->block_used;
            c->block_used += bytes;
            record->nodes = (sap_mesh_node*)(void*)at;
            record->references = (int32_t*)(void*)(at + node_bytes);
            record->node_count = nodes;
            record->reference_count = references;
            record->axis = -1;
        }
    }
    return some;
}

static void set_rules(sap_mesh_crew* c, int64_t triangles) {
    int64_t subtree = triangles < SAP_MESH_FEWEST ? SAP_MESH_FEWEST : triangles;
    if (subtree > SAP_MESH_SUBTREE) subtree = SAP_MESH_SUBTREE;
    c->rules = sap_mesh_rules_of(&c->tree->options, triangles);
    c->rules.staged = SAP_MESH_STAGED * subtree;
    c->rules.part_room = c->rules.staged + subtree;
    c->workshop_bytes = workshop_bytes(&c->rules, subtree);
}

// As many threads as there are subtrees for, and as the bound has room for.
static int threads_for(const sap_mesh_crew* c, int64_t triangles) {
    int64_t threads = c->device->options.threads, subtrees = 1 + triangles / SAP_MESH_SUBTREE;
    if (threads > subtrees) threads = subtrees;
    while (c->limit && threads > 1 && (size_t)threads > c->limit / 4 / c->workshop_bytes) threads--;
    return (int)threads;
}

// Bytes for pieces: what an earlier build needed, if there was one.
static size_t first_block(const sap_mesh_crew* c, int64_t triangles) {
    const sap_mesh_tree_shape* s = &c->tree->shape;
    size_t estimate = PIECE_BYTES * (size_t)triangles + FEWEST_PIECE_BYTES;
    size_t before = (size_t)s->nodes * sizeof(sap_mesh_node) + (size_t)s->references * sizeof(int32_t);
    before += before / 16;
    return before > estimate ? before : estimate;
}

sap_status sap_mesh_crew_open(sap_mesh_crew* c, const sap_mesh* mesh) {
    const int64_t triangles = mesh->triangle_count;
    c->device = c->tree->device;
    c->kernels = sap_cpu_kernels_of(c->device, 32)->mesh;
    c->limit = c->tree->options.memory;
    c->lent = 0;
    c->status = SAP_OK;
    set_rules(c, triangles);
    c->threads = threads_for(c, triangles);
    size_t corners = (size_t)triangles * SAP_TRIANGLE_FLOATS + SAP_TRIANGLE_PADDING;
    size_t lists = 16 * (size_t)(2 + triangles / SAP_MESH_SUBTREE);
    int64_t capacity = 2 * triangles + triangles / 2 + SAP_ALIGNMENT;
    if (!lend(c, corners * sizeof(float), &c->corners) ||
        !lend(c, c->workshop_bytes * (size_t)c->threads, &c->workshops) ||
        !lend(c, lists * sizeof(sap_mesh_top), &c->tops[0]) || !lend(c, lists * sizeof(sap_mesh_top), &c->tops[1]) ||
        !lend(c, lists * sizeof(sap_mesh_record), &c->records) || !new_block(c, first_block(c, triangles)))
        return c->status;
    size_t bytes = (size_t)capacity * sizeof(sap_mesh_part);
    if (c->limit) { // a bound of half the rest leaves as much for lists and pieces that grow
        size_t rest = c->limit - c->lent;
        if (bytes > rest / 4 * 3) bytes = rest / 4 * 3;
        if (bytes < (size_t)triangles * sizeof(sap_mesh_part)) bytes = (size_t)triangles * sizeof(sap_mesh_part);
    }
    if (!lend(c, bytes, &c->parts)) return c->status;
    c->capacity = (int64_t)((c->limit ? bytes : c->parts.bytes) / sizeof(sap_mesh_part));
    c->rules.corners = (const float*)(const void*)c->corners.memory;
    return SAP_OK;
}

void sap_mesh_crew_close(sap_mesh_crew* c) {
    sap_scratch_give(c->device, &c->corners);
    sap_scratch_give(c->device, &c->workshops);
    sap_scratch_give(c->device, &c->parts);
    sap_scratch_give(c->device, &c->tops[0]);
    sap_scratch_give(c->device, &c->tops[1]);
    sap_scratch_give(c->device, &c->records);
    for (int i = 0; i < c->block_count; i++) sap_scratch_give(c->device, &c->blocks[i]);
}
