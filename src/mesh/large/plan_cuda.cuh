// Decides whether a node becomes a small root, a leaf or a job. Empty sides of a job's cell are cut off at once.
#ifndef SAPWOOD_MESH_LARGE_PLAN_CUDA_CUH
#define SAPWOOD_MESH_LARGE_PLAN_CUDA_CUH

#include "mesh/build_cuda.cuh"

enum { SAP_MESH_JOB_BITS = 28 }; // bits of the number of jobs, the low part of state->used

static __device__ __forceinline__ int64_t sap_mesh_slot(const sap_mesh_cuda_build& b, int side, int64_t number) {
    SAP_ASSERT(number >= 0 && number < b.job_capacity);
    return side ? b.job_capacity - 1 - number : number;
}

// Adds two tops below one that becomes an inner node. Returns the left one, or 0 if there is no room.
static __device__ int32_t sap_mesh_add_tops(const sap_mesh_cuda_build& b, int32_t above, int axis, float plane) {
    const uint32_t left = atomicAdd(&b.state->tops, 2u);
    if ((int64_t)left + 2 > b.top_capacity) {
        b.state->stop = SAP_MESH_STOP_TOPS;
        return 0;
    }
    SAP_ASSERT(axis >= 0 && axis < 3 && b.tops[above].axis < 0);
    for (int k = 0; k < 2; k++) {
        sap_mesh_cuda_top top = {};
        top.axis = -1;
        top.parent = above;
        b.tops[left + (uint32_t)k] = top;
    }
    b.tops[above].axis = axis;
    b.tops[above].plane = plane;
    b.tops[above].children = (int32_t)left;
    return (int32_t)left;
}

static __device__ void sap_mesh_add_leaf(const sap_mesh_cuda_build& b, int32_t top, int32_t room, int32_t count,
                                         int32_t depth, int64_t staged) {
    SAP_ASSERT(count <= room);
    sap_mesh_cuda_leaves leaf = {};
    sap_mesh_count_leaf(&leaf, count, depth);
    sap_mesh_publish_leaves(b.state, &leaf);
    b.tops[top].count = count;
    b.tops[top].staged_position = staged;
    sap_mesh_complete(b, top, 1, room, count > 1 ? count : 0);
}

// Makes a job of the batch a leaf. Its triangles are copied later. Staging memory suffices: it has room for all parts
// of the batch, and only jobs of the batch take it; their children wait until they are in a batch themselves.
static __device__ void sap_mesh_make_leaf(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job) {
    job->task = SAP_MESH_TASK_LEAF;
    job->child_first[0] = (int64_t)atomicAdd(&b.state->staged_positions, (unsigned long long)job->room);
    SAP_ASSERT(job->child_first[0] + job->room <= b.staged_capacity);
    sap_mesh_add_leaf(b, job->top, job->room, job->count, job->depth, job->child_first[0]);
}

// Cuts off the empty side of a job's cell. False if there is no room for tops.
static __device__ bool sap_mesh_cut_off(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, const sap_plane& plane) {
    const int full = plane.planar_left ? 0 : 1;
    const int32_t left = sap_mesh_add_tops(b, job->top, plane.axis, plane.at);
    if (!left) return false;
    job->depth++;
    // No other thread can reach the new inner node yet, so its empty leaf needs no sap_mesh_complete.
    sap_mesh_cuda_leaves leaf = {};
    sap_mesh_count_leaf(&leaf, 0, job->depth);
    sap_mesh_publish_leaves(b.state, &leaf);
    b.tops[left + 1 - full].nodes = 1;
    b.tops[job->top].arrived = 1;
    job->top = left + full;
    job->most = sap_hand_down(job->most, plane.planar_left ? job->count : 0, plane.planar_left ? 0 : job->count,
                              job->count, job->count);
    if (plane.planar_left)
        job->cell.upper[plane.axis] = plane.at;
    else
        job->cell.lower[plane.axis] = plane.at;
    return true;
}

// Chooses the task of a node of more than small_node parts. FAST cuts off its empty sides first.
static __device__ void sap_mesh_plan_job(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job) {
    const float radius = b.state->radius;
    for (;;) {
        if (job->depth >= b.rules.depth) {
            job->task = SAP_MESH_TASK_END;
            return;
        }
        if (!b.rules.fast) {
            job->task = SAP_MESH_TASK_FIND;
            return;
        }
        const sap_plane empty = sap_cut_empty(job->cell, job->tight, b.rules.empty_space);
        if (empty.axis < 0) break;
        if (!sap_may_cut(job->most, job->count, 0)) {
            job->task = SAP_MESH_TASK_END;
            return;
        }
        if (!sap_mesh_cut_off(b, job, empty)) {
            job->task = SAP_MESH_TASK_NONE;
            return;
        }
    }
    const sap_plane middle = sap_cut_middle(job->cell, sap_mesh_measure(job->cell, radius));
    job->task = middle.axis < 0 ? SAP_MESH_TASK_BIN : SAP_MESH_TASK_MIDDLE;
    job->axis = middle.axis;
    job->plane = middle.at;
    job->planar_left = 0;
}

// The work that one lane's plan of a node leaves to the whole warp.
typedef struct sap_mesh_plan {
    int64_t slot; // the job's place; below 0: none
    int32_t first_unit, units;
    int64_t from, to; // parts that move to the small roots' parts
    int32_t room;     // places of these parts, holes included
} sap_mesh_plan;

// One thread plans a node. `slot` below 0: its parts are among the small roots' parts already.
static __device__ sap_mesh_plan sap_mesh_plan_node(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, int64_t slot) {
    sap_mesh_cuda_state* state = b.state;
    sap_mesh_plan plan = {-1, 0, 0, 0, 0, 0};
    SAP_ASSERT(job->count >= 0 && job->count <= job->room);
    if (job->count == 0) {
        sap_mesh_add_leaf(b, job->top, 0, 0, job->depth, 0);
        job->task = SAP_MESH_TASK_NONE;
    } else if (job->count <= b.rules.small_node) {
        sap_mesh_cuda_root root;
        root.cell = job->cell;
        root.first = job->first;
        root.most = job->most;
        root.room = job->room;
        root.count = job->count;
        root.depth = job->depth;
        root.top = job->top;
        if (slot >= 0) { // small only after clipping
            plan.from = job->first;
            plan.room = job->room;
            root.first = plan.to = (int64_t)atomicAdd(&state->small_parts, (unsigned long long)job->count);
            root.room = job->count;
        }
        b.tops[job->top].count = -1;
        SAP_ASSERT(root.first + root.room <= b.small_capacity);
        const uint32_t number = atomicAdd(&state->roots, 1u);
        SAP_ASSERT(number < b.root_capacity);
        b.roots[number] = root;
        job->task = SAP_MESH_TASK_NONE;
    } else {
        job->units = 0;
        sap_mesh_plan_job(b, job);
        if (job->room > SAP_MESH_ONE_WARP && job->task != SAP_MESH_TASK_NONE) {
            int32_t most = (job->room + SAP_MESH_UNITS - 1) / SAP_MESH_UNITS;
            job->unit_parts =
                most > SAP_MESH_UNIT ? (most + SAP_MESH_UNIT - 1) / SAP_MESH_UNIT * SAP_MESH_UNIT : SAP_MESH_UNIT;
            job->units = plan.units = (job->room + job->unit_parts - 1) / job->unit_parts;
            SAP_ASSERT(job->units >= 2 && job->units <= SAP_MESH_UNITS);
            job->first_unit = plan.first_unit =
                (int32_t)atomicAdd(&state->units[state->batch.parity ^ 1], (uint32_t)plan.units);
            plan.slot = slot;
        }
    }
    if (slot >= 0) b.jobs[slot] = *job;
    return plan;
}

// The warp carries out the plan of its lane `of`.
static __device__ void sap_mesh_carry_out(const sap_mesh_cuda_build& b, const sap_mesh_plan& plan, int of) {
    const int lane = sap_lane();
    const int64_t slot = __shfl_sync(SAP_ALL_LANES, (long long)plan.slot, of);
    const int32_t first_unit = __shfl_sync(SAP_ALL_LANES, plan.first_unit, of);
    const int32_t units = __shfl_sync(SAP_ALL_LANES, plan.units, of);
    const int32_t room = __shfl_sync(SAP_ALL_LANES, plan.room, of);
    int2* list = b.units[b.state->batch.parity ^ 1];
    for (int32_t i = lane; i < units; i += SAP_WARP) list[first_unit + i] = make_int2((int)slot, i);
    if (!room) return;
    const int64_t from = __shfl_sync(SAP_ALL_LANES, (long long)plan.from, of);
    int64_t to = __shfl_sync(SAP_ALL_LANES, (long long)plan.to, of);
    for (int32_t i = lane; i - lane < room; i += SAP_WARP) {
        sap_mesh_cuda_part part = sap_mesh_hole();
        if (i < room) part = b.parts[from + i];
        const bool is_part = sap_mesh_part_triangle(part) != SAP_MESH_HOLE;
        const unsigned int all = __ballot_sync(SAP_ALL_LANES, is_part);
        if (is_part) b.small[to + __popc(all & sap_lanes_below())] = part;
        to += __popc(all);
    }
}

// A warp plans both children of a job whose parts have been divided.
static __device__ void sap_mesh_plan_children(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* parent) {
    const int k = sap_lane();
    sap_mesh_plan plan = {-1, 0, 0, 0, 0, 0};
    if (k < 2) {
        sap_mesh_cuda_job child = {};
        int64_t slot = -1;
        const uint32_t small = (uint32_t)b.rules.small_node;
        if (parent->sides[k] > small) {
            const bool second = k == 1 && parent->sides[0] > small;
            slot = sap_mesh_slot(b, !b.state->batch.side, parent->child_number + second);
            child.below = parent->child_below + (second ? parent->sides[0] : 0);
        }
        child.cell = parent->cell;
        float* bounds = k ? child.cell.lower : child.cell.upper;
        bounds[parent->axis] = parent->plane;
        for (int a = 0; a < 3; a++) {
            child.tight.lower[a] = parent->child_box[k][a];
            child.tight.upper[a] = parent->child_box[k][3 + a];
        }
        child.first = parent->child_first[k];
        // A single warp leaves no holes.
        child.room = (int32_t)(parent->units ? parent->sides[k] : parent->child_count[k]);
        child.count = (int32_t)parent->child_count[k];
        child.most = sap_hand_down(parent->most, parent->sides[0], parent->sides[1], parent->sides[k], child.count);
        child.depth = parent->depth + 1;
        child.top = parent->children + k;
        child.axis = -1;
        plan = sap_mesh_plan_node(b, &child, slot);
    }
    __syncwarp();
    sap_mesh_carry_out(b, plan, 0);
    sap_mesh_carry_out(b, plan, 1);
}

#endif
