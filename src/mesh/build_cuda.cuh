// Building trees over triangles on CUDA devices: types and functions that the kernels share.
//
// The stages: load_cuda.cu checks the mesh and makes the parts of the root; mesh/large/level_cuda.cuh divides large
// nodes level by level, all blocks together; mesh/small/fast_cuda.cu and mesh/small/high_cuda.cu build each small
// node's whole subtree by a warp, into staging memory; mesh/join/join_cuda.cu moves everything to its place in
// preorder. build_cuda.cu is the host's side.
//
// The parts of waiting nodes lie in two stacks that grow towards each other, as do their jobs. A batch is as many of
// the last jobs of a stack as surely fit into the room between the stacks; their children go onto the other stack.
// Parts are divided stably, so that triangles ascend in every node. Several warps that divide one node write at places
// counted before clipping, which may remove parts: the remaining places are filled with holes, which reach no side of
// any plane.
#ifndef SAPWOOD_MESH_BUILD_CUDA_CUH
#define SAPWOOD_MESH_BUILD_CUDA_CUH

#include "device/cuda.h"
#include "tree/layout.h"
#include "tree/order_cuda.cuh"
extern "C" {
#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/sah.h"

#include "mesh/access.h"
#include "mesh/build.h"

#include "mesh/clip/clip.h"
#include "mesh/planes.h"
#include "mesh/search_radius.h"
}

enum {
    SAP_MESH_THREADS = 256,                       // of a block of the large-node kernel
    SAP_MESH_WARPS = SAP_MESH_THREADS / SAP_WARP, // warps of it
    SAP_MESH_ONE_WARP = 256,                      // most places of a node that one warp divides
    SAP_MESH_UNIT = 256,                          // least places of a larger node for one warp
    SAP_MESH_UNITS = 1024,                        // most warps that divide a node
    SAP_MESH_BINS = 64,                           // along an axis
    SAP_MESH_HOLE = -1                            // the triangle of a place without a part
};

// 32 bytes, two loads; lower.w has the bits of the triangle's number. A hole's box is empty: lower > upper.
typedef struct sap_mesh_cuda_part {
    float4 lower, upper;
} sap_mesh_cuda_part;

// What has to be done next for a job.
enum sap_mesh_task {
    SAP_MESH_TASK_FIND,   // HIGH: find the plane
    SAP_MESH_TASK_MIDDLE, // FAST: the plane is the middle; count its sides and decide whether that is worth it
    SAP_MESH_TASK_BIN,    // FAST: the middle is not worth it; count the parts in bins
    SAP_MESH_TASK_COUNT,  // the plane is chosen; count the parts on its sides
    SAP_MESH_TASK_DIVIDE, // divide the parts
    SAP_MESH_TASK_END,    // the node becomes a leaf: take staging memory for its triangles, in the job's own batch
    SAP_MESH_TASK_LEAF,   // the node is a leaf: copy its triangles
    SAP_MESH_TASK_NONE    // nothing: the node became something else than a job
};

// A node of more than small_node parts that waits or is being divided.
typedef struct sap_mesh_cuda_job {
    sap_mesh_box cell, tight;
    int64_t first, most; // place of its parts; most references of its subtree
    int64_t below;       // parts of its stack below its own
    int32_t room, count; // places, holes among them; parts
    int32_t depth, top;
    int32_t task; // sap_mesh_task
    float plane;
    int32_t axis; // -1: none yet
    int32_t planar_left;
    int32_t first_unit, units, unit_parts; // units: one per warp; 0: one warp does everything
    uint32_t sides[2];                     // parts left and right of the plane, before clipping
    uint32_t arrived;                      // units that have arrived
    int32_t children;                      // the left of its two tops
    int64_t child_first[2];
    int64_t child_number;    // of its first child that is a job, among the other stack's jobs
    int64_t child_below;     // parts of the other stack below that child's
    uint32_t child_count[2]; // after clipping
    float child_box[2][6];   // lower x y z, upper x y z
} sap_mesh_cuda_job;

// The results of a unit, which is a warp's share of a job.
typedef struct sap_mesh_cuda_unit {
    uint2 sides;     // parts left and right of the plane before clipping; then the sums of the units before
    uint2 kept;      // after clipping
    float box[2][6]; // as child_box
} sap_mesh_cuda_unit;

// A small root: a node of at most small_node parts, whose subtree a warp builds.
typedef struct sap_mesh_cuda_root {
    sap_mesh_box cell;
    int64_t first, most;
    int32_t room, count, depth, top;
} sap_mesh_cuda_root;

// A top: an inner node above the small roots, or a piece, which is a leaf or the staged subtree of a small root.
typedef struct sap_mesh_cuda_top {
    float plane;
    int32_t axis;                                      // -1: a piece
    int32_t parent, children;                          // children: the left one; the right one follows
    uint32_t arrived;                                  // children that are complete
    int32_t count;                                     // of a piece: a leaf's references, or -1 for staged nodes
    int64_t nodes, positions, listed;                  // totals of its subtree; positions: references and holes
    int64_t node_at, inner_at, position_at, listed_at; // its places in the tree; inner_at: inner nodes before it
    int64_t staged_node, staged_position;              // of a piece: its places in staging memory
} sap_mesh_cuda_top;

// Why the large-node kernel has stopped.
enum sap_mesh_stop {
    SAP_MESH_STOP_DONE = 1,
    SAP_MESH_STOP_ROOTS, // small roots have to be built, to make room for more
    SAP_MESH_STOP_ROOM,  // not one job fits
    SAP_MESH_STOP_TOPS   // too few tops
};

// The current jobs, from … to of a stack.
typedef struct __align__(32) sap_mesh_cuda_batch {
    int32_t stop; // sap_mesh_stop, if there is no batch
    int32_t side;
    uint32_t from, to;
    uint32_t units; // in the batch's list of units
    uint32_t more;  // jobs that have to be counted again
    int32_t parity; // of the list of units
    int32_t listed; // the batch is exactly the children of the last one: its units are listed already
}
sap_mesh_cuda_batch;

// Counters that all blocks share; zero at first, except bounds and bad.
typedef struct sap_mesh_cuda_state {
    unsigned long long bad;        // lowest triangle that cannot be in a tree, or all ones
    uint32_t bounds[6];            // ordinals
    uint32_t arrivals, generation; // at the barrier; zero at each launch
    int32_t begun;
    int32_t stop; // sap_mesh_stop, as soon as there is a reason
    sap_mesh_cuda_batch batch;
    unsigned long long used[2]; // of the stacks: parts << 28 | jobs
    uint32_t fresh;             // jobs on the other stack when the batch was chosen: later ones are its children
    uint32_t units[2];          // in the lists
    uint32_t again;             // jobs that have to be counted again
    uint32_t tops;
    uint32_t roots, taken;
    unsigned long long small_parts;
    unsigned long long staged_nodes, staged_positions; // taken, those that were refused included
    unsigned long long refused_nodes, refused_positions;
    unsigned long long leaves, empty, references;
    int32_t largest, deepest;
    float radius;
    sap_mesh_box box; // the bounds
} sap_mesh_cuda_state;

// A build, as kernels see it.
typedef struct sap_mesh_cuda_build {
    sap_mesh_rules rules; // corners, staged: not set; radius: from the options, the value in use is in the state
    int64_t triangles;
    sap_mesh_cuda_state* state;
    const float4* corners; // [3 * triangles], in the mesh's order: x y z 0
    // Both stacks. side 1: place `capacity - 1 - i`.
    sap_mesh_cuda_part* parts;
    int64_t capacity;
    sap_mesh_cuda_job* jobs;
    int64_t job_capacity;
    int2* units[2];              // job (its place in `jobs`), number of the unit within it
    sap_mesh_cuda_unit* results; // of the batch's units
    uint32_t* bins;              // [units / 2][2][3][SAP_MESH_BINS]: starts, ends; zero while unused
    // Small roots.
    sap_mesh_cuda_part* small;
    int64_t small_capacity;
    sap_mesh_cuda_root* roots;
    int64_t root_capacity;
    // The tree so far.
    sap_mesh_cuda_top* tops;
    int64_t top_capacity;
    sap_mesh_node* staged_nodes;
    int64_t staged_node_capacity;
    int32_t* staged; // triangles, or SAP_MESH_HOLE
    int64_t staged_capacity;
} sap_mesh_cuda_build;

// ---- The stages. On failure they set the call's status.

// mesh/load_cuda.cu: state->bad, state->bounds and the root's parts.
void sap_mesh_cuda_load(sap_cuda_call* call, const sap_mesh_cuda_build* b, const float* vertices, int64_t vertex_count,
                        const int32_t* triangles);
// mesh/large/fast_cuda.cu, mesh/large/high_cuda.cu: runs until state->stop.
void sap_mesh_cuda_large_fast(sap_cuda_call* call, const sap_mesh_cuda_build* b);
void sap_mesh_cuda_large_high(sap_cuda_call* call, const sap_mesh_cuda_build* b);
// mesh/small/fast_cuda.cu, mesh/small/high_cuda.cu: builds all listed roots.
void sap_mesh_cuda_small_fast(sap_cuda_call* call, const sap_mesh_cuda_build* b);
void sap_mesh_cuda_small_high(sap_cuda_call* call, const sap_mesh_cuda_build* b);

// ---- In kernels

static __device__ __forceinline__ sap_mesh_cuda_part sap_mesh_part_load(const sap_mesh_cuda_part* at) {
    sap_mesh_cuda_part part;
    part.lower = at->lower;
    part.upper = at->upper;
    return part;
}

static __device__ __forceinline__ sap_mesh_cuda_part sap_mesh_hole(void) {
    sap_mesh_cuda_part part;
    part.lower = make_float4(INFINITY, INFINITY, INFINITY, __int_as_float(SAP_MESH_HOLE));
    part.upper = make_float4(-INFINITY, -INFINITY, -INFINITY, 0.0f);
    return part;
}

static __device__ __forceinline__ int sap_mesh_part_triangle(const sap_mesh_cuda_part& part) {
    return __float_as_int(part.lower.w);
}

static __device__ __forceinline__ float sap_mesh_along(float4 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static __device__ __forceinline__ sap_mesh_box sap_mesh_part_box(const sap_mesh_cuda_part& part) {
    sap_mesh_box box;
    box.lower[0] = part.lower.x;
    box.lower[1] = part.lower.y;
    box.lower[2] = part.lower.z;
    box.upper[0] = part.upper.x;
    box.upper[1] = part.upper.y;
    box.upper[2] = part.upper.z;
    return box;
}

static __device__ __forceinline__ sap_mesh_cuda_part sap_mesh_part_of(const sap_mesh_box& box, int triangle) {
    sap_mesh_cuda_part part;
    part.lower = make_float4(box.lower[0], box.lower[1], box.lower[2], __int_as_float(triangle));
    part.upper = make_float4(box.upper[0], box.upper[1], box.upper[2], 0.0f);
    return part;
}

static __device__ __forceinline__ sap_triangle sap_mesh_corners_of(const float4* corners, int triangle) {
    SAP_ASSERT(triangle >= 0);
    const float4 a = corners[3 * (int64_t)triangle], b = corners[3 * (int64_t)triangle + 1],
                 c = corners[3 * (int64_t)triangle + 2];
    sap_triangle t;
    t.a.x = a.x, t.a.y = a.y, t.a.z = a.z;
    t.b.x = b.x, t.b.y = b.y, t.b.z = b.z;
    t.c.x = c.x, t.c.y = c.y, t.c.z = c.z;
    return t;
}

static __device__ __forceinline__ sap_measure sap_mesh_measure(const sap_mesh_box& cell, float radius) {
    return sap_measure_of(cell.upper[0] - cell.lower[0], cell.upper[1] - cell.lower[1], cell.upper[2] - cell.lower[2],
                          radius);
}

// Totals of leaves. Each warp sums up its own and adds them to the state at its end.
typedef struct sap_mesh_cuda_leaves {
    unsigned long long leaves, empty, references;
    int32_t largest, deepest;
} sap_mesh_cuda_leaves;

static __device__ __forceinline__ void sap_mesh_count_leaf(sap_mesh_cuda_leaves* sum, int32_t count, int32_t depth) {
    SAP_ASSERT(count >= 0 && depth >= 0 && depth <= SAP_MESH_DEPTH_MAX);
    sum->leaves++;
    sum->empty += count == 0;
    sum->references += (unsigned long long)count;
    sum->largest = count > sum->largest ? count : sum->largest;
    sum->deepest = depth > sum->deepest ? depth : sum->deepest;
}

// Called by one thread.
static __device__ __forceinline__ void sap_mesh_publish_leaves(sap_mesh_cuda_state* state,
                                                               const sap_mesh_cuda_leaves* sum) {
    if (!sum->leaves) return;
    atomicAdd(&state->leaves, sum->leaves);
    if (sum->empty) atomicAdd(&state->empty, sum->empty);
    atomicAdd(&state->references, sum->references);
    atomicMax(&state->largest, sum->largest);
    atomicMax(&state->deepest, sum->deepest);
}

// Called by one thread when a piece is complete: sets its totals, and those of all inner tops above that are complete
// now.
static __device__ __forceinline__ void sap_mesh_complete(const sap_mesh_cuda_build& b, int32_t piece, int64_t nodes,
                                                         int64_t positions, int64_t listed) {
    for (int32_t at = piece;;) {
        SAP_ASSERT(at < b.top_capacity && positions >= listed);
        sap_mesh_cuda_top* top = &b.tops[at];
        top->nodes = nodes;
        top->positions = positions;
        top->listed = listed;
        at = top->parent;
        if (at < 0) return;
        __threadfence();
        if (atomicAdd(&b.tops[at].arrived, 1u) == 0) return; // the sibling's thread will continue
        __threadfence();
        volatile sap_mesh_cuda_top* child = &b.tops[b.tops[at].children];
        nodes = 1 + child[0].nodes + child[1].nodes;
        positions = child[0].positions + child[1].positions;
        listed = child[0].listed + child[1].listed;
    }
}

#endif
