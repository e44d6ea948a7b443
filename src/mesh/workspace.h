// The state and the memory of a build on the CPU.
#ifndef SAPWOOD_MESH_WORKSPACE_H
#define SAPWOOD_MESH_WORKSPACE_H

#include "device/progress.h"
#include "mesh/build.h"

enum { SAP_MESH_BLOCKS = 48 }; // most blocks of memory for finished pieces

// A node above the subtrees. Its parts, at job.first, lie in one of two stacks that grow towards each other.
typedef struct sap_mesh_large_node {
    sap_mesh_job job;
    sap_mesh_split split;
    int64_t reserved; // the capacity for its parts
    int64_t record;
    int64_t scratch; // where its scratch memory for find() begins, in parts behind the first stack
    int64_t child;   // the left child's place on the other stack; the right child follows
    double share;    // its share of the whole build, for progress reports
    bool found;      // its split is known
    bool done;       // its record is a finished piece
} sap_mesh_large_node;

typedef struct sap_mesh_workspace {
    sap_mesh_tree* tree;
    sap_device* device;
    const sap_mesh_kernels* kernels;
    sap_mesh_rules rules;
    int threads;
    size_t limit, in_use; // bytes of scratch memory: the bound (0: none), and those in use
    sap_status status;    // the first failure

    sap_scratch corners, stagings, parts, nodes[2], records;
    size_t staging_bytes;
    int64_t capacity, used[2]; // parts: of both stacks together, and used of each
    int64_t waiting[2];        // nodes in each stack
    int64_t record_count;

    sap_scratch blocks[SAP_MESH_BLOCKS];
    int block_count;
    size_t block_used;  // bytes of the last block
    int32_t piece_lock; // guards the blocks while threads take pieces of them

    sap_progress_state progress;
} sap_mesh_workspace;

enum { SAP_MESH_PROGRESS = 1 << 20 }; // units of progress of a whole build

// Takes the memory of a build. workspace->tree is set. Must be closed even if this fails.
sap_status sap_mesh_workspace_open(sap_mesh_workspace* workspace, const sap_mesh* mesh);
void sap_mesh_workspace_close(sap_mesh_workspace* workspace);
// Remembers the first failure.
sap_status sap_mesh_workspace_fail(sap_mesh_workspace* workspace, sap_status status);
// A thread's staging memory.
sap_mesh_staging sap_mesh_workspace_staging(const sap_mesh_workspace* workspace, int thread);
// Takes memory for a piece. False if there is none. Thread-safe.
bool sap_mesh_workspace_piece(sap_mesh_workspace* workspace, sap_mesh_record* record, int64_t nodes,
                              int64_t references);
// Gives a list at least `bytes` bytes and keeps the first `used` of its contents. False if there is no memory.
bool sap_mesh_workspace_grow(sap_mesh_workspace* workspace, sap_scratch* list, size_t used, size_t bytes);
// Makes room for `parts` more parts between the stacks. False if memory does not allow it.
bool sap_mesh_workspace_make_room(sap_mesh_workspace* workspace, int64_t parts);

static inline sap_mesh_large_node* sap_mesh_workspace_nodes(const sap_mesh_workspace* w, int side) {
    return (sap_mesh_large_node*)(void*)w->nodes[side].memory;
}
static inline sap_mesh_record* sap_mesh_workspace_records(const sap_mesh_workspace* w) {
    return (sap_mesh_record*)(void*)w->records.memory;
}
static inline sap_mesh_part* sap_mesh_workspace_parts(const sap_mesh_workspace* w) {
    return (sap_mesh_part*)(void*)w->parts.memory;
}

#endif
