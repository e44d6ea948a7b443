// A warp writes a small root's subtree to staging memory, in preorder: first to shared memory; if that does not
// suffice, the warp builds the subtree a second time, into memory of the size that is known then.
#ifndef SAPWOOD_MESH_SMALL_SUBTREE_CUDA_CUH
#define SAPWOOD_MESH_SMALL_SUBTREE_CUDA_CUH

#include "mesh/build_cuda.cuh"

enum { SAP_MESH_HELD_NODES = 64, SAP_MESH_HELD = 160, SAP_MESH_NO_PARENT = -1 };

typedef struct sap_mesh_held { // in shared memory
    sap_mesh_node nodes[SAP_MESH_HELD_NODES];
    int32_t references[SAP_MESH_HELD];
} sap_mesh_held;

// Links and places of references count from the subtree's start. The same in all lanes.
typedef struct sap_mesh_stage {
    sap_mesh_node* nodes;
    int32_t* references;
    int32_t node_room, reference_room; // what exceeds these is only counted
    int32_t node_count, reference_count, listed;
    sap_mesh_cuda_leaves leaves;
} sap_mesh_stage;

static __device__ __forceinline__ void sap_mesh_stage_begin(sap_mesh_stage* stage, sap_mesh_held* held) {
    stage->nodes = held->nodes;
    stage->references = held->references;
    stage->node_room = SAP_MESH_HELD_NODES;
    stage->reference_room = SAP_MESH_HELD;
}

static __device__ __forceinline__ void sap_mesh_stage_clear(sap_mesh_stage* stage) {
    stage->node_count = stage->reference_count = stage->listed = 0;
    stage->leaves.leaves = stage->leaves.empty = stage->leaves.references = 0;
    stage->leaves.largest = stage->leaves.deepest = 0;
}

// Called before a node is written. A right child is written when its left sibling's subtree is complete: now its
// place is entered in its parent's link.
static __device__ __forceinline__ void sap_mesh_stage_arrive(const sap_mesh_stage* stage, int32_t parent) {
    SAP_ASSERT(parent < stage->node_count);
    if (parent != SAP_MESH_NO_PARENT && parent < stage->node_room && sap_lane() == 0)
        stage->nodes[parent].link |= (uint32_t)stage->node_count << 2;
}

static __device__ __forceinline__ void sap_mesh_stage_node(sap_mesh_stage* stage, uint32_t bits, uint32_t link) {
    if (stage->node_count < stage->node_room && sap_lane() == 0) {
        stage->nodes[stage->node_count].bits = bits;
        stage->nodes[stage->node_count].link = link;
    }
    stage->node_count++;
}

static __device__ __forceinline__ int32_t sap_mesh_stage_inner(sap_mesh_stage* stage, int axis, float plane) {
    SAP_ASSERT(axis >= 0 && axis < 3);
    sap_mesh_stage_node(stage, __float_as_uint(plane), (uint32_t)axis);
    return stage->node_count - 1;
}

// Returns the place of the leaf's first reference. sap_mesh_stage_reference fills them in.
static __device__ __forceinline__ int32_t sap_mesh_stage_leaf(sap_mesh_stage* stage, int32_t count, int32_t depth) {
    const int32_t at = stage->reference_count;
    sap_mesh_stage_node(stage, (uint32_t)at, (uint32_t)count << 2 | SAP_MESH_LEAF);
    sap_mesh_count_leaf(&stage->leaves, count, depth);
    stage->reference_count += count;
    stage->listed += count > 1 ? count : 0;
    return at;
}

// Any lane may call this.
static __device__ __forceinline__ void sap_mesh_stage_reference(const sap_mesh_stage* stage, int32_t at,
                                                                int32_t triangle) {
    SAP_ASSERT(at < stage->reference_count);
    if (at < stage->reference_room) stage->references[at] = triangle;
}

// Takes staging memory for a subtree that has been built. Copies it there and returns true if shared memory held all of
// it. Otherwise it has to be built again: now if the stage has room, else after the host has made room.
static __device__ bool sap_mesh_stage_end(const sap_mesh_cuda_build& b, int32_t top, sap_mesh_stage* stage) {
    sap_mesh_cuda_state* state = b.state;
    const int lane = sap_lane();
    const int32_t nodes = stage->node_count, references = stage->reference_count;
    const bool held = nodes <= stage->node_room && references <= stage->reference_room;
    unsigned long long node_at = 0, at = 0;
    __syncwarp();
    if (lane == 0) node_at = atomicAdd(&state->staged_nodes, (unsigned long long)nodes);
    if (lane == 0) at = atomicAdd(&state->staged_positions, (unsigned long long)references);
    node_at = __shfl_sync(SAP_ALL_LANES, node_at, 0);
    at = __shfl_sync(SAP_ALL_LANES, at, 0);
    if ((int64_t)node_at + nodes > b.staged_node_capacity || (int64_t)at + references > b.staged_capacity) {
        if (lane == 0) atomicAdd(&state->refused_nodes, (unsigned long long)nodes);
        if (lane == 0) atomicAdd(&state->refused_positions, (unsigned long long)references);
        // What was taken stays unused: it is copied with the rest when the lists are lengthened.
        for (int64_t i = (int64_t)node_at + lane; i < (int64_t)node_at + nodes && i < b.staged_node_capacity;
             i += SAP_WARP)
            b.staged_nodes[i] = {};
        for (int64_t i = (int64_t)at + lane; i < (int64_t)at + references && i < b.staged_capacity; i += SAP_WARP)
            b.staged[i] = 0;
        stage->node_room = stage->reference_room = 0;
        return false;
    }
    if (held) {
        for (int32_t i = lane; i < nodes; i += SAP_WARP) b.staged_nodes[node_at + (unsigned)i] = stage->nodes[i];
        for (int32_t i = lane; i < references; i += SAP_WARP) b.staged[at + (unsigned)i] = stage->references[i];
    }
    if (lane == 0) {
        b.tops[top].staged_node = (int64_t)node_at;
        b.tops[top].staged_position = (int64_t)at;
        sap_mesh_complete(b, top, nodes, references, stage->listed);
    }
    stage->nodes = b.staged_nodes + node_at;
    stage->references = b.staged + at;
    stage->node_room = nodes;
    stage->reference_room = references;
    return held;
}

// The next root for a warp, or -1.
static __device__ __forceinline__ int64_t sap_mesh_next_root(const sap_mesh_cuda_build& b) {
    uint32_t number = 0;
    if (sap_lane() == 0) number = atomicAdd(&b.state->taken, 1u);
    number = __shfl_sync(SAP_ALL_LANES, number, 0);
    return number < b.state->roots ? (int64_t)number : -1;
}

static __device__ __forceinline__ void sap_mesh_add_leaves(sap_mesh_cuda_leaves* sum,
                                                           const sap_mesh_cuda_leaves& more) {
    sum->leaves += more.leaves;
    sum->empty += more.empty;
    sum->references += more.references;
    sum->largest = more.largest > sum->largest ? more.largest : sum->largest;
    sum->deepest = more.deepest > sum->deepest ? more.deepest : sum->deepest;
}

// Builds the small roots, one warp each. A quality defines `shared`, a warp's shared memory; `work`, what lanes keep
// about a root; held(shared), the part of shared memory to stage in; prepare(build, root, shared, work), called once
// for a root; and build(build, root, work, shared, stage), which may be called twice.
template <typename quality>
static __device__ void sap_mesh_build_roots(const sap_mesh_cuda_build& b, typename quality::shared* s) {
    sap_mesh_cuda_leaves sum = {};
    for (int64_t number; (number = sap_mesh_next_root(b)) >= 0;) {
        const sap_mesh_cuda_root root = b.roots[number];
        typename quality::work work;
        sap_mesh_stage stage;
        if (root.top < 0) continue; // it has been built; the kernel runs again for roots that found no memory
        SAP_ASSERT(root.count > 0 && root.count <= SAP_MESH_SMALL && root.count <= root.room);
        quality::prepare(b, root, s, &work);
        sap_mesh_stage_begin(&stage, quality::held(s));
        sap_mesh_stage_clear(&stage);
        quality::build(b, root, work, s, &stage);
        if (!sap_mesh_stage_end(b, root.top, &stage)) {
            if (stage.node_room == 0) continue;
            sap_mesh_stage_clear(&stage);
            quality::build(b, root, work, s, &stage);
            SAP_ASSERT(stage.node_count == stage.node_room && stage.reference_count == stage.reference_room);
        }
        __syncwarp();
        if (sap_lane() == 0) b.roots[number].top = -1;
        sap_mesh_add_leaves(&sum, stage.leaves);
    }
    if (sap_lane() == 0) sap_mesh_publish_leaves(b.state, &sum);
}

// Launches a quality's kernel, whose warps each call sap_mesh_build_roots.
template <typename shared_of_a_warp>
static void sap_mesh_launch_small(sap_cuda_call* call, const sap_mesh_cuda_build* b,
                                  void (*kernel)(const sap_mesh_cuda_build), int warps) {
    const size_t shared = (size_t)warps * sizeof(shared_of_a_warp);
    const int threads = warps * SAP_WARP;
    int64_t blocks = sap_cuda_resident(call, (const void*)kernel, threads, shared);
    if (blocks > b->root_capacity) blocks = b->root_capacity;
    sap_cuda_grid grid = {blocks, threads, shared, false};
    sap_cuda_fill(call, &b->state->taken, 0, sizeof b->state->taken);
    sap_cuda_launch(call, kernel, grid, *b);
}

#endif
