// Nodes of many parts: one kernel whose blocks run together divides all of a level at once, level by level.
//
// Nodes of up to SAP_MESH_ALONE parts are a warp's business from first to last. Larger ones are counted by several
// warps, the last of which decides; after a meeting of all they are divided by the same warps, the last of which plans
// the children. The last block to come to the meeting at a level's end chooses the next level.
#ifndef SAPWOOD_MESH_LARGE_CUDA_CUH
#define SAPWOOD_MESH_LARGE_CUDA_CUH

#include "mesh/divide_cuda.cuh"

// A quality has `fast`, whether triangles are clipped cheaply; `shared`, shared memory; and, unless it is fast, static
// find(build, shared memory, meetings), by which all blocks find the planes of the batch's jobs, whose task is
// SAP_MESH_FIND, and meet: it sets axis, plane and planar_left, and the task to SAP_MESH_COUNT; or it calls
// sap_mesh_end_job.
union sap_mesh_warp_shared {
    uint32_t bins[6 * SAP_MESH_BINS];
    sap_mesh_cut cuts[SAP_MESH_TILE];
};

template <typename quality> struct sap_mesh_large_shared {
    bool last; // to come to a meeting
    sap_mesh_cuda_job job[SAP_MESH_WARPS];
    union {
        sap_mesh_warp_shared warp[SAP_MESH_WARPS];
        typename quality::shared find;
    } of;
};

// ---- Meetings

// All blocks meet; what they wrote before, all see behind. The last block to come does the closing, if there is one.
template <void (*closing)(const sap_mesh_cuda_build& b), typename shared>
static __device__ void sap_mesh_meet(const sap_mesh_cuda_build& b, shared* s, unsigned int* meetings) {
    sap_mesh_cuda_state* state = b.state;
    const unsigned int now = ++*meetings;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        s->last = atomicAdd(&state->arrivals, 1u) + 1 == now * gridDim.x;
        __threadfence();
    }
    __syncthreads();
    if (s->last) {
        closing(b);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *(volatile uint32_t*)&state->generation = now;
        }
    } else if (threadIdx.x == 0) {
        while (*(volatile uint32_t*)&state->generation != now) SAP_CUDA_SPIN();
        __threadfence();
    }
    __syncthreads();
}

// ---- The next level

static __device__ __forceinline__ int64_t sap_mesh_jobs_of(const sap_mesh_cuda_state* state, int side) {
    return (int64_t)(state->used[side] & ((1ull << SAP_MESH_JOB_BITS) - 1));
}

// Parts of a stack below one of its jobs.
static __device__ __forceinline__ int64_t sap_mesh_parts_below(const sap_mesh_cuda_build& b, int side, int64_t number) {
    if (number == sap_mesh_jobs_of(b.state, side)) return (int64_t)(b.state->used[side] >> SAP_MESH_JOB_BITS);
    return b.jobs[sap_mesh_slot(b, side, number)].below;
}

// Whether there is room for all that may come of the last jobs of a stack, from one on.
static __device__ bool sap_mesh_fits(const sap_mesh_cuda_build& b, int side, int64_t from) {
    const sap_mesh_cuda_state* state = b.state;
    const int64_t stack = (int64_t)(state->used[side] >> SAP_MESH_JOB_BITS);
    const int64_t free = b.capacity - stack - (int64_t)(state->used[!side] >> SAP_MESH_JOB_BITS);
    const int64_t jobs = sap_mesh_jobs_of(state, side) - from, parts = stack - sap_mesh_parts_below(b, side, from);
    return 2 * parts <= free && 2 * jobs * b.rules.small_node <= b.small_capacity - (int64_t)state->small_parts &&
           2 * jobs <= b.root_capacity - (int64_t)state->roots &&
           parts <= b.staged_capacity - (int64_t)state->staged_positions;
}

// Takes the jobs that have been worked on off their stack.
static __device__ void sap_mesh_pop(const sap_mesh_cuda_build& b) {
    sap_mesh_cuda_state* state = b.state;
    if (state->to == state->from) return;
    state->used[state->side] =
        (unsigned long long)sap_mesh_parts_below(b, state->side, state->from) << SAP_MESH_JOB_BITS | state->from;
    state->to = state->from;
}

// One thread chooses the jobs to be worked on next: as many of the last as surely fit.
static __device__ void sap_mesh_choose(const sap_mesh_cuda_build& b) {
    sap_mesh_cuda_state* state = b.state;
    sap_mesh_pop(b);
    state->parity ^= 1;
    state->units[state->parity ^ 1] = 0;
    const int fresh_side = !state->side;
    const uint32_t fresh = state->fresh;
    if (sap_mesh_jobs_of(state, !state->side)) state->side = !state->side;
    const int64_t jobs = sap_mesh_jobs_of(state, state->side);
    if (jobs == 0) state->stop = state->stop ? state->stop : SAP_MESH_DONE;
    state->over = state->stop;
    if (state->stop) return;
    int64_t from = 0;
    if (!sap_mesh_fits(b, state->side, 0)) { // the first from which all fit
        int64_t does_not = 0;
        from = jobs;
        while (from - does_not > 1) {
            const int64_t middle = (from + does_not) / 2;
            if (sap_mesh_fits(b, state->side, middle))
                from = middle;
            else
                does_not = middle;
        }
        if (from == jobs) {
            state->stop = state->roots ? SAP_MESH_FULL : SAP_MESH_TIGHT;
            state->over = state->stop;
            state->parity ^= 1;
            state->fresh = UINT32_MAX; // units are to be listed anew
            return;
        }
    }
    state->listed = fresh_side == state->side && fresh == (uint32_t)from;
    state->from = (uint32_t)from;
    state->to = (uint32_t)jobs;
    state->fresh = (uint32_t)sap_mesh_jobs_of(state, !state->side);
}

// The units of a level that is not just what the last one left.
static __device__ void sap_mesh_list_units(const sap_mesh_cuda_build& b) {
    sap_mesh_cuda_state* state = b.state;
    if (threadIdx.x == 0) state->units[state->parity] = 0;
    __syncthreads();
    for (uint32_t i = state->from + threadIdx.x; i < state->to; i += SAP_MESH_THREADS) {
        const int64_t slot = sap_mesh_slot(b, state->side, i);
        sap_mesh_cuda_job* job = &b.jobs[slot];
        if (job->task == SAP_MESH_GONE || !job->units) continue;
        job->first_unit = (int32_t)atomicAdd(&state->units[state->parity], (uint32_t)job->units);
        for (int32_t k = 0; k < job->units; k++) b.units[state->parity][job->first_unit + k] = make_int2((int)slot, k);
    }
}

static __device__ void sap_mesh_close_level(const sap_mesh_cuda_build& b) {
    if (threadIdx.x == 0) sap_mesh_choose(b);
    __syncthreads();
    if (!b.state->over && !b.state->listed) sap_mesh_list_units(b);
}

static __device__ void sap_mesh_close_round(const sap_mesh_cuda_build& b) {
    if (threadIdx.x != 0) return;
    b.state->more = b.state->again;
    b.state->again = 0;
}

// ---- Jobs of several warps

static __device__ __forceinline__ bool sap_mesh_is_to_count(const sap_mesh_cuda_job* job) {
    return job->task == SAP_MESH_HALVE || job->task == SAP_MESH_COUNT;
}

// Whether this warp's unit is the last of its job to be done.
static __device__ bool sap_mesh_is_last_unit(sap_mesh_cuda_job* job) {
    uint32_t before = 0;
    __syncwarp();
    if (sap_lane() == 0) {
        __threadfence();
        before = atomicAdd(&job->arrived, 1u);
        __threadfence();
    }
    before = __shfl_sync(SAP_ALL_LANES, before, 0);
    if ((int32_t)before + 1 != job->units) return false;
    if (sap_lane() == 0) job->arrived = 0;
    return true;
}

// Turns the units' numbers of parts on the sides into those before each.
static __device__ void sap_mesh_scan_units(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    const int lane = sap_lane();
    uint2 before = make_uint2(0, 0);
    for (int32_t i = lane; i - lane < job->units; i += SAP_WARP) {
        uint2 own = make_uint2(0, 0);
        if (i < job->units) own = __ldcg(&b.unit_sides[job->first_unit + i]);
        uint2 sum = own;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const uint32_t x = __shfl_up_sync(SAP_ALL_LANES, sum.x, (unsigned)step);
            const uint32_t y = __shfl_up_sync(SAP_ALL_LANES, sum.y, (unsigned)step);
            if (lane >= step) sum.x += x, sum.y += y;
        }
        if (i < job->units)
            b.unit_sides[job->first_unit + i] = make_uint2(before.x + sum.x - own.x, before.y + sum.y - own.y);
        before.x += __shfl_sync(SAP_ALL_LANES, sum.x, SAP_WARP - 1);
        before.y += __shfl_sync(SAP_ALL_LANES, sum.y, SAP_WARP - 1);
    }
}

static __device__ void sap_mesh_count_unit(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, int64_t unit,
                                           const sap_mesh_cuda_part* parts, int32_t count) {
    const uint2 sides = sap_mesh_count_sides(parts, count, job->axis, job->plane, job->planar_left != 0);
    if (sap_lane() == 0) {
        b.unit_sides[unit] = sides;
        atomicAdd(&job->sides[0], sides.x);
        atomicAdd(&job->sides[1], sides.y);
    }
    if (!sap_mesh_is_last_unit(job)) return;
    if (sap_lane() == 0) {
        sap_mesh_decide(b, job);
        if (job->task == SAP_MESH_BIN) atomicAdd(&b.state->again, 1u);
    }
    __syncwarp();
    if (job->task != SAP_MESH_SPLIT) return;
    sap_mesh_clear_children(job);
    sap_mesh_scan_units(b, job);
}

static __device__ void sap_mesh_bin_unit(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                         const sap_mesh_cuda_part* parts, int32_t count, uint32_t* bins) {
    uint32_t* all = b.bins + (int64_t)(job->first_unit / 2) * 6 * SAP_MESH_BINS; // it has two units at least
    sap_mesh_fill_bins(b, job, parts, count, bins);
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP)
        if (bins[i]) atomicAdd(&all[i], bins[i]);
    if (!sap_mesh_is_last_unit(job)) return;
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP) {
        bins[i] = __ldcg(&all[i]);
        all[i] = 0;
    }
    __syncwarp();
    sap_mesh_choose_edge(b, job, bins);
    if (sap_lane() == 0 && job->task == SAP_MESH_COUNT) atomicAdd(&b.state->again, 1u);
}

// A unit's parts.
static __device__ __forceinline__ int32_t sap_mesh_unit_parts(const sap_mesh_cuda_job* job, int32_t number,
                                                              int32_t* from) {
    *from = number * job->unit_parts;
    return job->room - *from < job->unit_parts ? job->room - *from : job->unit_parts;
}

static __device__ void sap_mesh_look_at_unit(const sap_mesh_cuda_build& b, int64_t unit, uint32_t* bins) {
    const int2 entry = b.units[b.state->parity][unit];
    sap_mesh_cuda_job* job = &b.jobs[entry.x];
    int32_t from, count = sap_mesh_unit_parts(job, entry.y, &from);
    if (sap_mesh_is_to_count(job))
        sap_mesh_count_unit(b, job, job->first_unit + entry.y, b.parts + job->first + from, count);
    else if (job->task == SAP_MESH_BIN)
        sap_mesh_bin_unit(b, job, b.parts + job->first + from, count, bins);
}

// What a unit has reserved and not used.
static __device__ void sap_mesh_fill_holes(sap_mesh_cuda_part* to, uint32_t from, uint32_t count) {
    for (uint32_t i = from + (uint32_t)sap_lane(); i < count; i += SAP_WARP) to[i] = sap_mesh_hole();
}

template <bool fast>
static __device__ __forceinline__ void sap_mesh_divide_unit(const sap_mesh_cuda_build& b, int64_t unit,
                                                            sap_mesh_cut* cuts) {
    const int2 entry = b.units[b.state->parity][unit];
    sap_mesh_cuda_job* job = &b.jobs[entry.x];
    int32_t from, count = sap_mesh_unit_parts(job, entry.y, &from);
    if (job->task == SAP_MESH_ENDS) sap_mesh_copy_leaf(b, job, from, from + count);
    if (job->task != SAP_MESH_SPLIT) return;
    const int64_t number = job->first_unit + entry.y;
    const bool is_last = entry.y + 1 == job->units;
    const uint2 before = b.unit_sides[number];
    const uint2 behind = is_last ? make_uint2(job->sides[0], job->sides[1]) : b.unit_sides[number + 1];
    const sap_mesh_sides sides = sap_mesh_divide_some<fast>(b, job, b.parts + job->first + from, count, cuts, before);
    sap_mesh_fill_holes(sides.left_to, sides.left, behind.x - before.x);
    sap_mesh_fill_holes(sides.right_to, sides.right, behind.y - before.y);
    if (sap_mesh_is_last_unit(job)) sap_mesh_plan_children(b, job);
}

// ---- Jobs of one warp

// A warp's copy of a job, which nobody else looks at.
static __device__ __forceinline__ void sap_mesh_copy_job(const sap_mesh_cuda_job* from, sap_mesh_cuda_job* to) {
    __syncwarp();
    for (int i = sap_lane(); i < (int)(sizeof *from / sizeof(int32_t)); i += SAP_WARP)
        ((int32_t*)to)[i] = ((const int32_t*)from)[i];
    __syncwarp();
}

template <bool fast>
static __device__ __forceinline__ void sap_mesh_work_alone(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                                           uint32_t* bins, sap_mesh_cut* cuts) {
    const sap_mesh_cuda_part* parts = b.parts + job->first;
    while (sap_mesh_is_to_count(job) || job->task == SAP_MESH_BIN) {
        if (job->task == SAP_MESH_BIN) {
            sap_mesh_fill_bins(b, job, parts, job->room, bins);
            sap_mesh_choose_edge(b, job, bins);
            continue;
        }
        const uint2 sides = sap_mesh_count_sides(parts, job->room, job->axis, job->plane, job->planar_left != 0);
        __syncwarp();
        if (sap_lane() == 0) {
            job->sides[0] = sides.x;
            job->sides[1] = sides.y;
            sap_mesh_decide(b, job);
        }
        __syncwarp();
    }
    if (job->task == SAP_MESH_ENDS) sap_mesh_copy_leaf(b, job, 0, job->room);
    if (job->task != SAP_MESH_SPLIT) return;
    sap_mesh_clear_children(job);
    sap_mesh_divide_some<fast>(b, job, parts, job->room, cuts, make_uint2(0, 0));
    __syncwarp();
    sap_mesh_plan_children(b, job);
}

// ---- The kernel

// The root, by one warp.
static __device__ void sap_mesh_begin(const sap_mesh_cuda_build& b) {
    sap_mesh_cuda_state* state = b.state;
    sap_mesh_plan plan = {-1, 0, 0, 0, 0, 0};
    if (sap_lane() == 0) {
        sap_mesh_cuda_job root = {};
        for (int k = 0; k < 3; k++) { // -0 becomes 0, whichever came first
            root.cell.lower[k] = sap_real_of(state->bounds[k]) + 0.0f;
            root.cell.upper[k] = sap_real_of(state->bounds[3 + k]) + 0.0f;
        }
        root.tight = state->box = root.cell;
        root.room = root.count = (int32_t)b.triangles;
        root.most = sap_most_references(b.triangles);
        root.axis = -1;
        sap_mesh_cuda_top top = {};
        top.axis = top.parent = -1;
        b.tops[0] = top;
        state->tops = 1;
        state->radius = sap_mesh_reach(b.rules.radius, root.cell);
        state->used[0] = (unsigned long long)b.triangles << SAP_MESH_JOB_BITS | 1u;
        state->side = 1; // as if the root were a child of a job there
        plan = sap_mesh_plan_node(b, &root, 0);
        state->begun = 1;
    }
    __syncwarp();
    sap_mesh_settle(b, plan, 0);
}

template <typename quality>
static __global__ void __launch_bounds__(SAP_MESH_THREADS, 2)
    sap_mesh_large(const __grid_constant__ sap_mesh_cuda_build b) {
    SAP_CUDA_SHARED(sap_mesh_large_shared<quality>, s);
    sap_mesh_cuda_state* state = b.state;
    const int warp = (int)threadIdx.x / SAP_WARP;
    const int64_t first = (int64_t)blockIdx.x * SAP_MESH_WARPS + warp, warps = (int64_t)gridDim.x * SAP_MESH_WARPS;
    unsigned int meetings = 0;
    if (state->bad != ~0ull) return;
    const bool begins = first == 0 && !state->begun;
    __syncthreads();
    if (begins) sap_mesh_begin(b);
    for (;;) {
        sap_mesh_meet<sap_mesh_close_level>(b, s, &meetings);
        if (state->over) return;
        const int64_t units = state->units[state->parity];
        if (!quality::fast) quality::find(b, s, &meetings);
        for (bool more = units > 0; more; more = state->more > 0) {
            for (int64_t i = first; i < units; i += warps) sap_mesh_look_at_unit(b, i, s->of.warp[warp].bins);
            sap_mesh_meet<sap_mesh_close_round>(b, s, &meetings);
        }
        for (int64_t i = first; i < units; i += warps) sap_mesh_divide_unit<quality::fast>(b, i, s->of.warp[warp].cuts);
        for (int64_t i = state->from + first; i < state->to; i += warps) {
            const sap_mesh_cuda_job* job = &b.jobs[sap_mesh_slot(b, state->side, i)];
            if (job->units || job->task == SAP_MESH_GONE) continue;
            sap_mesh_copy_job(job, &s->job[warp]);
            sap_mesh_work_alone<quality::fast>(b, &s->job[warp], s->of.warp[warp].bins, s->of.warp[warp].cuts);
        }
    }
}

template <typename quality> static void sap_mesh_launch_large(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    const size_t shared = sizeof(sap_mesh_large_shared<quality>);
    int64_t blocks = sap_cuda_resident(call, (const void*)sap_mesh_large<quality>, SAP_MESH_THREADS, shared);
    const int64_t useful = b->triangles / SAP_MESH_SMALL / SAP_MESH_WARPS + 1;
    sap_cuda_grid grid = {blocks < useful ? blocks : useful, SAP_MESH_THREADS, shared, true};
    sap_cuda_fill(call, &b->state->arrivals, 0, 2 * sizeof b->state->arrivals);
    sap_cuda_fill(call, &b->state->stop, 0, sizeof b->state->stop);
    sap_cuda_launch(call, sap_mesh_large<quality>, grid, *b);
}

#endif
