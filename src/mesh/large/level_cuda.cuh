// Large nodes: one cooperative kernel divides all nodes of a level at once, level by level.
//
// One warp does everything for a node of up to SAP_MESH_ONE_WARP places. For a larger node several warps count the
// sides, and the last of them decides; after a barrier of all blocks the same warps divide it, and the last of them
// plans the children. The last block to arrive at the barrier at a level's end chooses the next level.
#ifndef SAPWOOD_MESH_LARGE_LEVEL_CUDA_CUH
#define SAPWOOD_MESH_LARGE_LEVEL_CUDA_CUH

#include "mesh/large/divide_cuda.cuh"

// A quality defines `fast`, whether triangles are clipped cheaply; `shared`, its shared memory; and, unless it is fast,
// static find(build, shared memory, barriers): all blocks find the planes of the batch's jobs whose task is
// SAP_MESH_TASK_FIND and end with a barrier. find() sets axis, plane and planar_left, and the task to
// SAP_MESH_TASK_COUNT; or it calls sap_mesh_make_leaf.
union sap_mesh_warp_shared {
    uint32_t bins[6 * SAP_MESH_BINS];
    sap_mesh_cut cuts[SAP_MESH_TILE];
};

template <typename quality> struct sap_mesh_large_shared {
    bool last;                 // this block arrived last at the barrier
    sap_mesh_cuda_batch batch; // as of the last barrier
    sap_mesh_cuda_state state; // while the last block runs `close`
    sap_mesh_cuda_job job[SAP_MESH_WARPS];
    union {
        sap_mesh_warp_shared warp[SAP_MESH_WARPS];
        typename quality::shared find;
    } of;
};

// ---- Barriers

// A block copies whole words past the cache of its multiprocessor.
static __device__ __forceinline__ void sap_mesh_copy_words(void* to, const void* from, size_t bytes) {
    for (int i = (int)threadIdx.x; i < (int)(bytes / sizeof(uint32_t)); i += SAP_MESH_THREADS)
        ((uint32_t*)to)[i] = __ldcg((const uint32_t*)from + i);
}

// A barrier of all blocks: afterwards all see what any wrote before. The last block to arrive runs `close` on a copy of
// the state, which no other block touches meanwhile. Then all blocks copy the batch.
template <typename shared, typename closing>
static __device__ void sap_mesh_barrier(const sap_mesh_cuda_build& b, shared* s, unsigned int* barriers,
                                        closing close) {
    sap_mesh_cuda_state* state = b.state;
    const unsigned int now = ++*barriers;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        s->last = atomicAdd(&state->arrivals, 1u) + 1 == now * gridDim.x;
        __threadfence();
    }
    __syncthreads();
    if (s->last) {
        sap_mesh_copy_words(&s->state, state, sizeof s->state);
        __syncthreads();
        close(&s->state);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < (int)(sizeof s->state / sizeof(uint32_t)); i += SAP_MESH_THREADS)
            ((uint32_t*)state)[i] = ((const uint32_t*)&s->state)[i];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *(volatile uint32_t*)&state->generation = now;
    } else if (threadIdx.x == 0) {
        while (*(volatile uint32_t*)&state->generation != now) SAP_CUDA_SPIN();
        __threadfence();
    }
    __syncthreads();
    sap_mesh_copy_words(&s->batch, &state->batch, sizeof s->batch);
    __syncthreads();
}

// ---- The next level

static __device__ __forceinline__ int64_t sap_mesh_jobs_of(const sap_mesh_cuda_state* state, int side) {
    return (int64_t)(state->used[side] & ((1ull << SAP_MESH_JOB_BITS) - 1));
}

// The number of parts of a stack below one of its jobs.
static __device__ __forceinline__ int64_t sap_mesh_parts_below(const sap_mesh_cuda_build& b,
                                                               const sap_mesh_cuda_state* state, int side,
                                                               int64_t number) {
    if (number == 0) return 0;
    if (number == sap_mesh_jobs_of(state, side)) return (int64_t)(state->used[side] >> SAP_MESH_JOB_BITS);
    return b.jobs[sap_mesh_slot(b, side, number)].below;
}

// Whether all results of the last jobs of a stack, from `from` on, surely fit into memory.
static __device__ bool sap_mesh_fits(const sap_mesh_cuda_build& b, const sap_mesh_cuda_state* state, int side,
                                     int64_t from) {
    const int64_t stack = (int64_t)(state->used[side] >> SAP_MESH_JOB_BITS);
    const int64_t free = b.capacity - stack - (int64_t)(state->used[!side] >> SAP_MESH_JOB_BITS);
    SAP_ASSERT(free >= 0);
    const int64_t jobs = sap_mesh_jobs_of(state, side) - from;
    const int64_t parts = stack - sap_mesh_parts_below(b, state, side, from);
    SAP_ASSERT(jobs >= 0 && parts >= 0);
    return 2 * parts <= free && 2 * jobs * b.rules.small_node <= b.small_capacity - (int64_t)state->small_parts &&
           2 * jobs <= b.root_capacity - (int64_t)state->roots &&
           parts <= b.staged_capacity - (int64_t)state->staged_positions;
}

// Removes the jobs of the batch, which are done, from their stack.
static __device__ void sap_mesh_pop(const sap_mesh_cuda_build& b, sap_mesh_cuda_state* state) {
    sap_mesh_cuda_batch* batch = &state->batch;
    if (batch->to == batch->from) return;
    SAP_ASSERT(batch->from < batch->to);
    const int64_t below = sap_mesh_parts_below(b, state, batch->side, batch->from);
    state->used[batch->side] = (unsigned long long)below << SAP_MESH_JOB_BITS | batch->from;
    batch->to = batch->from;
}

// The first job of a stack from which on all jobs fit; the number of jobs if not even the last fits.
static __device__ int64_t sap_mesh_first_that_fits(const sap_mesh_cuda_build& b, const sap_mesh_cuda_state* state,
                                                   int side) {
    int64_t does_not = 0, fits = sap_mesh_jobs_of(state, side);
    if (sap_mesh_fits(b, state, side, 0)) return 0;
    while (fits - does_not > 1) {
        const int64_t middle = (fits + does_not) / 2;
        (sap_mesh_fits(b, state, side, middle) ? fits : does_not) = middle;
    }
    return fits;
}

// One thread chooses the next batch: as many of the last jobs of a stack as surely fit.
static __device__ void sap_mesh_choose(const sap_mesh_cuda_build& b, sap_mesh_cuda_state* state) {
    sap_mesh_cuda_batch* batch = &state->batch;
    const int fresh_side = !batch->side;
    sap_mesh_pop(b, state);
    if (sap_mesh_jobs_of(state, !batch->side)) batch->side = !batch->side;
    const int64_t jobs = sap_mesh_jobs_of(state, batch->side);
    int64_t from = 0;
    if (jobs == 0) state->stop = state->stop ? state->stop : SAP_MESH_STOP_DONE;
    if (!state->stop) {
        from = sap_mesh_first_that_fits(b, state, batch->side);
        if (from == jobs) {
            state->stop = state->roots ? SAP_MESH_STOP_ROOTS : SAP_MESH_STOP_ROOM;
            state->fresh = UINT32_MAX; // units have to be listed again
        }
    }
    batch->stop = state->stop;
    if (batch->stop) return;
    batch->parity ^= 1;
    state->units[batch->parity ^ 1] = 0;
    batch->listed = fresh_side == batch->side && state->fresh == (uint32_t)from;
    batch->units = batch->listed ? state->units[batch->parity] : 0;
    batch->from = (uint32_t)from;
    batch->to = (uint32_t)jobs;
    state->fresh = (uint32_t)sap_mesh_jobs_of(state, !batch->side);
}

// A block lists the units of a batch that is not exactly the children of the last batch.
static __device__ void sap_mesh_list_units(const sap_mesh_cuda_build& b, sap_mesh_cuda_state* state) {
    sap_mesh_cuda_batch* batch = &state->batch;
    for (uint32_t i = batch->from + threadIdx.x; i < batch->to; i += SAP_MESH_THREADS) {
        const int64_t slot = sap_mesh_slot(b, batch->side, i);
        sap_mesh_cuda_job* job = &b.jobs[slot];
        if (job->task == SAP_MESH_TASK_NONE || !job->units) continue;
        job->first_unit = (int32_t)atomicAdd(&batch->units, (uint32_t)job->units);
        for (int32_t k = 0; k < job->units; k++) b.units[batch->parity][job->first_unit + k] = make_int2((int)slot, k);
    }
}

// What the last block does at a level's end, and after each round of counting.
struct sap_mesh_close_level {
    const sap_mesh_cuda_build& b;
    __device__ void operator()(sap_mesh_cuda_state* state) const {
        if (threadIdx.x == 0) sap_mesh_choose(b, state);
        __syncthreads();
        if (!state->batch.stop && !state->batch.listed) sap_mesh_list_units(b, state);
    }
};
struct sap_mesh_close_round {
    __device__ void operator()(sap_mesh_cuda_state* state) const {
        if (threadIdx.x != 0) return;
        state->batch.more = state->again;
        state->again = 0;
    }
};

// ---- Jobs of several warps

static __device__ __forceinline__ bool sap_mesh_is_to_count(const sap_mesh_cuda_job* job) {
    return job->task == SAP_MESH_TASK_MIDDLE || job->task == SAP_MESH_TASK_COUNT;
}

// A warp's copy of a job.
static __device__ __forceinline__ void sap_mesh_copy_job(const sap_mesh_cuda_job* from, sap_mesh_cuda_job* to) {
    __syncwarp();
    for (int i = sap_lane(); i < (int)(sizeof *from / sizeof(uint32_t)); i += SAP_WARP)
        ((uint32_t*)to)[i] = ((const uint32_t*)from)[i];
    __syncwarp();
}

// Whether this warp's unit is the last unit of its job to arrive.
static __device__ bool sap_mesh_is_last_unit(sap_mesh_cuda_job* job, int32_t units) {
    uint32_t before = 0;
    __threadfence();
    __syncwarp();
    if (sap_lane() == 0) before = atomicAdd(&job->arrived, 1u);
    before = __shfl_sync(SAP_ALL_LANES, before, 0);
    SAP_ASSERT((int32_t)before < units);
    if ((int32_t)before + 1 != units) return false;
    __threadfence();
    return true;
}

enum { SAP_MESH_UNITS_AT_ONCE = 4 }; // units per lane

// Turns the units' counts of both sides into the sums before each unit. Returns the sums of all.
static __device__ uint2 sap_mesh_scan_units(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    const int lane = sap_lane();
    sap_mesh_cuda_unit* results = b.results + job->first_unit;
    uint2 before = make_uint2(0, 0);
    for (int32_t first = 0; first < job->units; first += SAP_WARP * SAP_MESH_UNITS_AT_ONCE) {
        const int32_t i = first + lane * SAP_MESH_UNITS_AT_ONCE;
        uint2 own[SAP_MESH_UNITS_AT_ONCE], sum = make_uint2(0, 0);
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_UNITS_AT_ONCE; k++) {
            own[k] = i + k < job->units ? __ldcg(&results[i + k].sides) : make_uint2(0, 0);
            sum.x += own[k].x;
            sum.y += own[k].y;
        }
        const uint2 mine = sum;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const uint32_t x = __shfl_up_sync(SAP_ALL_LANES, sum.x, (unsigned)step);
            const uint32_t y = __shfl_up_sync(SAP_ALL_LANES, sum.y, (unsigned)step);
            if (lane >= step) sum.x += x, sum.y += y;
        }
        uint2 at = make_uint2(before.x + sum.x - mine.x, before.y + sum.y - mine.y);
        SAP_UNROLL
        for (int k = 0; k < SAP_MESH_UNITS_AT_ONCE; k++) {
            if (i + k < job->units) results[i + k].sides = at;
            at.x += own[k].x;
            at.y += own[k].y;
        }
        before.x += __shfl_sync(SAP_ALL_LANES, sum.x, SAP_WARP - 1);
        before.y += __shfl_sync(SAP_ALL_LANES, sum.y, SAP_WARP - 1);
    }
    return before;
}

// Writes back a job about which the warp of its last unit has decided.
static __device__ __forceinline__ void sap_mesh_hand_back(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                                          sap_mesh_cuda_job* to) {
    if (sap_lane() == 0) {
        const bool again = job->task == SAP_MESH_TASK_BIN || job->task == SAP_MESH_TASK_COUNT;
        job->arrived = 0;
        if (again) atomicAdd(&b.state->again, 1u);
    }
    sap_mesh_copy_job(job, to);
}

static __device__ void sap_mesh_count_unit(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_cuda_job* to,
                                           int64_t unit, const sap_mesh_cuda_part* parts, int32_t count) {
    const uint2 own = sap_mesh_count_sides(parts, count, job->axis, job->plane, job->planar_left != 0);
    if (sap_lane() == 0) b.results[unit].sides = own;
    if (!sap_mesh_is_last_unit(to, job->units)) return;
    const uint2 sides = sap_mesh_scan_units(b, job);
    if (sap_lane() == 0) {
        job->sides[0] = sides.x;
        job->sides[1] = sides.y;
        sap_mesh_decide(b, job);
    }
    sap_mesh_hand_back(b, job, to);
}

static __device__ void sap_mesh_bin_unit(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_cuda_job* to,
                                         const sap_mesh_cuda_part* parts, int32_t count, uint32_t* bins) {
    SAP_ASSERT(job->units >= 2); // so that no two jobs have the same bins
    uint32_t* all = b.bins + (int64_t)(job->first_unit / 2) * 6 * SAP_MESH_BINS;
    sap_mesh_fill_bins(b, job, parts, count, bins);
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP)
        if (bins[i]) atomicAdd(&all[i], bins[i]);
    if (!sap_mesh_is_last_unit(to, job->units)) return;
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP) {
        bins[i] = __ldcg(&all[i]);
        all[i] = 0;
    }
    __syncwarp();
    sap_mesh_choose_edge(b, job, bins);
    sap_mesh_hand_back(b, job, to);
}

// The first place of a unit's parts, in *from, and the number of places.
static __device__ __forceinline__ int32_t sap_mesh_unit_parts(const sap_mesh_cuda_job* job, int32_t number,
                                                              int32_t* from) {
    *from = number * job->unit_parts;
    SAP_ASSERT(number < job->units && *from < job->room);
    return job->room - *from < job->unit_parts ? job->room - *from : job->unit_parts;
}

static __device__ void sap_mesh_count_or_bin_unit(const sap_mesh_cuda_build& b, int2 entry, sap_mesh_cuda_job* job,
                                                  uint32_t* bins) {
    sap_mesh_cuda_job* to = &b.jobs[entry.x];
    sap_mesh_copy_job(to, job);
    int32_t from, count = sap_mesh_unit_parts(job, entry.y, &from);
    const sap_mesh_cuda_part* parts = b.parts + job->first + from;
    if (sap_mesh_is_to_count(job))
        sap_mesh_count_unit(b, job, to, job->first_unit + entry.y, parts, count);
    else if (job->task == SAP_MESH_TASK_BIN)
        sap_mesh_bin_unit(b, job, to, parts, count, bins);
    else if (job->task == SAP_MESH_TASK_END && entry.y == 0 && sap_lane() == 0)
        sap_mesh_make_leaf(b, to);
}

// Fills the places with holes that a unit has reserved and not used.
static __device__ void sap_mesh_fill_holes(sap_mesh_cuda_part* to, uint32_t from, uint32_t count) {
    for (uint32_t i = from + (uint32_t)sap_lane(); i < count; i += SAP_WARP) to[i] = sap_mesh_hole();
}

// Merges the units' results of both sides.
static __device__ __forceinline__ sap_mesh_sides sap_mesh_join_units(const sap_mesh_cuda_build& b,
                                                                     const sap_mesh_cuda_job* job) {
    sap_mesh_sides sides;
    sides.left = sides.right = 0;
    sides.left_box = sides.right_box = sap_mesh_no_extent();
    for (int32_t i = sap_lane(); i < job->units; i += SAP_WARP) {
        const sap_mesh_cuda_unit* results = &b.results[job->first_unit + i];
        const uint2 kept = __ldcg(&results->kept);
        sides.left += kept.x;
        sides.right += kept.y;
        SAP_UNROLL
        for (int k = 0; k < 3; k++) {
            sides.left_box.lower[k] = fminf(sides.left_box.lower[k], __ldcg(&results->box[0][k]));
            sides.left_box.upper[k] = fmaxf(sides.left_box.upper[k], __ldcg(&results->box[0][3 + k]));
            sides.right_box.lower[k] = fminf(sides.right_box.lower[k], __ldcg(&results->box[1][k]));
            sides.right_box.upper[k] = fmaxf(sides.right_box.upper[k], __ldcg(&results->box[1][3 + k]));
        }
    }
    sides.left = sap_warp_sum(sides.left);
    sides.right = sap_warp_sum(sides.right);
    return sides;
}

template <bool fast>
static __device__ __forceinline__ void sap_mesh_divide_unit(const sap_mesh_cuda_build& b, int2 entry,
                                                            sap_mesh_cuda_job* job, sap_mesh_cut* cuts) {
    sap_mesh_copy_job(&b.jobs[entry.x], job);
    int32_t from, count = sap_mesh_unit_parts(job, entry.y, &from);
    if (job->task == SAP_MESH_TASK_LEAF) sap_mesh_copy_leaf(b, job, from, from + count);
    if (job->task != SAP_MESH_TASK_DIVIDE) return;
    sap_mesh_cuda_unit* results = &b.results[job->first_unit + entry.y];
    const uint2 before = results->sides;
    const uint2 behind = entry.y + 1 == job->units ? make_uint2(job->sides[0], job->sides[1]) : results[1].sides;
    const sap_mesh_sides sides = sap_mesh_divide_parts<fast>(b, job, b.parts + job->first + from, count, cuts, before);
    SAP_ASSERT(before.x <= behind.x && before.y <= behind.y);
    SAP_ASSERT(sides.left <= behind.x - before.x && sides.right <= behind.y - before.y);
    sap_mesh_fill_holes(sides.left_to, sides.left, behind.x - before.x);
    sap_mesh_fill_holes(sides.right_to, sides.right, behind.y - before.y);
    const float bound = sap_mesh_bounds(b, job, sides);
    if (sap_lane() < 12) results->box[sap_lane() / 6][sap_lane() % 6] = bound;
    if (sap_lane() == 0) results->kept = make_uint2(sides.left, sides.right);
    if (!sap_mesh_is_last_unit(&b.jobs[entry.x], job->units)) return;
    sap_mesh_write_children(b, job, sap_mesh_join_units(b, job));
    sap_mesh_plan_children(b, job);
}

// ---- Jobs of one warp

template <bool fast>
static __device__ __forceinline__ void sap_mesh_divide_by_one_warp(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                                                   uint32_t* bins, sap_mesh_cut* cuts) {
    const sap_mesh_cuda_part* parts = b.parts + job->first;
    if (job->task == SAP_MESH_TASK_END && sap_lane() == 0) sap_mesh_make_leaf(b, job);
    __syncwarp();
    while (sap_mesh_is_to_count(job) || job->task == SAP_MESH_TASK_BIN) {
        if (job->task == SAP_MESH_TASK_BIN) {
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
    if (job->task == SAP_MESH_TASK_LEAF) sap_mesh_copy_leaf(b, job, 0, job->room);
    if (job->task != SAP_MESH_TASK_DIVIDE) return;
    sap_mesh_write_children(b, job, sap_mesh_divide_parts<fast>(b, job, parts, job->room, cuts, make_uint2(0, 0)));
    sap_mesh_plan_children(b, job);
}

// ---- The kernel

// One warp begins the build with the root.
static __device__ void sap_mesh_begin(const sap_mesh_cuda_build& b) {
    sap_mesh_cuda_state* state = b.state;
    sap_mesh_plan plan = {-1, 0, 0, 0, 0, 0};
    SAP_ASSERT(b.triangles <= b.capacity);
    if (sap_lane() == 0) {
        sap_mesh_cuda_job root = {};
        for (int k = 0; k < 3; k++) { // -0 becomes 0, so that the order of the triangles does not matter
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
        state->radius = sap_mesh_search_radius(b.rules.radius, root.cell);
        state->used[0] = (unsigned long long)b.triangles << SAP_MESH_JOB_BITS | 1u;
        state->batch.side = 1; // as if the root were a child of a job there
        plan = sap_mesh_plan_node(b, &root, 0);
        state->begun = 1;
    }
    __syncwarp();
    sap_mesh_carry_out(b, plan, 0);
}

template <typename quality>
static __global__ void __launch_bounds__(SAP_MESH_THREADS)
    sap_mesh_large(const __grid_constant__ sap_mesh_cuda_build b) {
    SAP_CUDA_SHARED(sap_mesh_large_shared<quality>, s);
    sap_mesh_cuda_state* state = b.state;
    const int warp = (int)threadIdx.x / SAP_WARP;
    const int64_t first = (int64_t)blockIdx.x * SAP_MESH_WARPS + warp, warps = (int64_t)gridDim.x * SAP_MESH_WARPS;
    unsigned int barriers = 0;
    if (state->bad != ~0ull) return;
    const bool begins = first == 0 && !state->begun;
    __syncthreads();
    if (begins) sap_mesh_begin(b);
    for (;;) {
        sap_mesh_barrier(b, s, &barriers, sap_mesh_close_level{b});
        const sap_mesh_cuda_batch batch = s->batch;
        if (batch.stop) return;
        if constexpr (!quality::fast) quality::find(b, s, &barriers);
        const int2* units = b.units[batch.parity];
        for (bool more = batch.units > 0; more; more = s->batch.more > 0) {
            for (int64_t i = first; i < batch.units; i += warps)
                sap_mesh_count_or_bin_unit(b, units[i], &s->job[warp], s->of.warp[warp].bins);
            sap_mesh_barrier(b, s, &barriers, sap_mesh_close_round());
        }
        for (int64_t i = first; i < batch.units; i += warps)
            sap_mesh_divide_unit<quality::fast>(b, units[i], &s->job[warp], s->of.warp[warp].cuts);
        for (int64_t i = batch.from + first; i < batch.to; i += warps) {
            sap_mesh_copy_job(&b.jobs[sap_mesh_slot(b, batch.side, i)], &s->job[warp]);
            if (!s->job[warp].units && s->job[warp].task != SAP_MESH_TASK_NONE)
                sap_mesh_divide_by_one_warp<quality::fast>(b, &s->job[warp], s->of.warp[warp].bins,
                                                           s->of.warp[warp].cuts);
        }
    }
}

template <typename quality> static void sap_mesh_launch_large(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    const size_t shared = sizeof(sap_mesh_large_shared<quality>);
    static_assert(shared <= SAP_CUDA_SHARED_EVERYWHERE, "any GPU can divide large nodes");
    int64_t blocks = sap_cuda_resident(call, (const void*)sap_mesh_large<quality>, SAP_MESH_THREADS, shared);
    const int64_t useful = b->triangles / SAP_MESH_SMALL / SAP_MESH_WARPS + 1;
    sap_cuda_grid grid = {blocks < useful ? blocks : useful, SAP_MESH_THREADS, shared, true};
    sap_cuda_fill(call, &b->state->arrivals, 0, 2 * sizeof b->state->arrivals);
    sap_cuda_fill(call, &b->state->stop, 0, sizeof b->state->stop);
    sap_cuda_launch(call, sap_mesh_large<quality>, grid, *b);
}

#endif
