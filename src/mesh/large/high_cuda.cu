// HIGH's large nodes: the cheapest of all planes, triangles clipped exactly.
//
// One block finds the plane of a node. A huge node would take one block too long: all warps fill its bins, one unit
// each, and collect the events in the bins that a block has chosen; then a block searches them.
#include "mesh/large/level_cuda.cuh"
#include "mesh/large/plane_cuda.cuh"

namespace {

enum { HUGE_UNITS = 32 }; // a node of more units is huge: all warps search it

typedef sap_mesh_cuda_batch batch;

struct close_nothing {
    __device__ void operator()(sap_mesh_cuda_state*) const {}
};

// What is known of a huge node between the steps. It is kept where the node's bins were.
struct huge_node {
    sap_mesh_priced best;
    sap_mesh_choice choice;
};
static_assert(sizeof(huge_node) <= 6 * SAP_MESH_BINS * sizeof(uint32_t), "a job's bins have room for what follows");

__device__ __forceinline__ uint32_t* bins_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    SAP_ASSERT(job->units >= 2); // so that no two jobs have the same bins
    return b.bins + (int64_t)(job->first_unit / 2) * 6 * SAP_MESH_BINS;
}
__device__ __forceinline__ huge_node* huge_node_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    return (huge_node*)bins_of(b, job);
}
__device__ __forceinline__ bool is_huge(const sap_mesh_cuda_job* job) {
    return job->task == SAP_MESH_TASK_FIND && job->units > HUGE_UNITS;
}

// While planes are searched, the room for the parts of the batch's children serves as scratch memory.
__device__ __forceinline__ float* scratch_of(const sap_mesh_cuda_build& b, const batch& at,
                                             const sap_mesh_cuda_job* job) {
    const int64_t before = job->below - sap_mesh_parts_below(b, b.state, at.side, at.from);
    return (float*)(b.parts + (__ldcg(&b.state->used[0]) >> SAP_MESH_JOB_BITS) + 2 * before);
}

__device__ __forceinline__ void set_plane(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                          const sap_plane& plane) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    job->axis = plane.axis;
    job->plane = plane.at;
    job->planar_left = plane.planar_left;
    job->sides[0] = job->sides[1] = job->arrived = 0;
    job->task = SAP_MESH_TASK_COUNT;
    if (plane.axis < 0) sap_mesh_make_leaf(b, job);
}

// ---- Huge nodes, step by step

// A warp counts the parts of a unit in bins.
__device__ void fill_unit(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job, int number, uint32_t* bins) {
    int32_t from, count = sap_mesh_unit_parts(job, number, &from);
    uint32_t* all = bins_of(b, job);
    sap_mesh_fill_bins(b, job, b.parts + job->first + from, count, bins);
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP)
        if (bins[i]) atomicAdd(&all[i], bins[i]);
    __syncwarp();
}

// A block chooses the bins to search.
__device__ void choose_in_huge_node(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_search_shared* s) {
    uint32_t* all = bins_of(b, job);
    sap_mesh_plane_search search;
    float scale[3];
    sap_mesh_plane_search_begin(b, job->cell, s, &search, scale);
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) {
        (&s->bins[0][0])[i] = __ldcg(&all[i]);
        all[i] = 0;
    }
    __syncthreads();
    sap_mesh_choose_bins(&search, (uint32_t)job->count, scale);
    if (s->choice.count == 0) {
        set_plane(b, job, search.best.plane);
    } else if (threadIdx.x == 0) {
        huge_node_of(b, job)->best = search.best;
        huge_node_of(b, job)->choice = s->choice;
    }
}

// A warp's memory while it collects the events of a unit.
struct unit_ends {
    int8_t number[SAP_MESH_EDGES];
    uint32_t at[SAP_MESH_CHOSEN][SAP_MESH_KINDS];
};

// A warp collects a unit's events: it counts them, reserves places for them, and writes them.
__device__ void gather_unit(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job, int number, float* scratch,
                            unit_ends* own) {
    int32_t from, count = sap_mesh_unit_parts(job, number, &from);
    const sap_mesh_cuda_part* parts = b.parts + job->first + from;
    sap_mesh_choice* choice = &huge_node_of(b, job)->choice;
    const int lane = sap_lane(), kinds = choice->count * SAP_MESH_KINDS;
    SAP_ASSERT(choice->count <= SAP_MESH_CHOSEN && kinds <= SAP_WARP);
    const sap_measure m = sap_mesh_measure(job->cell, b.state->radius);
    float scale[3];
    for (int a = 0; a < 3; a++) scale[a] = sap_bin_scale(job->cell, m, a);
    for (int i = lane; i < SAP_MESH_EDGES; i += SAP_WARP) own->number[i] = choice->number[i];
    if (lane < kinds) (&own->at[0][0])[lane] = 0;
    __syncwarp();
    for (int pass = 0; pass < 2; pass++) {
        const auto put = [=](int bin, int kind, float end) {
            const uint32_t at = atomicAdd(&own->at[bin][kind], 1u);
            if (pass) scratch[at] = end + 0.0f; // -0 becomes 0
        };
        sap_mesh_each_part(parts, count, lane, SAP_WARP, [&](const sap_mesh_cuda_part& part) {
            sap_mesh_visit_ends(job->cell, scale, own->number, choice->count, part, put);
        });
        __syncwarp();
        if (pass == 0 && lane < kinds) {
            sap_mesh_chosen_bin* bin = &choice->bins[lane / SAP_MESH_KINDS];
            const int kind = lane % SAP_MESH_KINDS;
            uint32_t* at = &own->at[lane / SAP_MESH_KINDS][kind];
            *at = bin->at[kind] + (*at ? atomicAdd(&bin->count[kind], *at) : 0);
        }
        __syncwarp();
    }
}

// A block searches the events that have been collected.
__device__ void search_huge_node(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, const float* scratch,
                                 sap_mesh_search_shared* s) {
    uint32_t* all = bins_of(b, job);
    sap_mesh_plane_search search;
    float scale[3];
    sap_mesh_plane_search_begin(b, job->cell, s, &search, scale);
    search.best = huge_node_of(b, job)->best;
    for (int i = (int)threadIdx.x; i < (int)(sizeof(sap_mesh_choice) / sizeof(uint32_t)); i += SAP_MESH_THREADS)
        ((uint32_t*)&s->choice)[i] = __ldcg((const uint32_t*)&huge_node_of(b, job)->choice + i);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) all[i] = 0;
    sap_mesh_search_bins(&search, scratch);
    set_plane(b, job, search.best.plane);
}

struct sap_mesh_high {
    enum { fast = 0 };
    typedef sap_mesh_search_shared shared;

    // Calls with(job) by one block per job, or with(job, unit) by one warp per unit of a huge node.
    template <typename work>
    static __device__ __forceinline__ void each_job(const sap_mesh_cuda_build& b, const batch& at, work with) {
        for (uint32_t i = at.from + blockIdx.x; i < at.to; i += gridDim.x) {
            with(&b.jobs[sap_mesh_slot(b, at.side, i)]);
            __syncthreads();
        }
    }
    template <typename work>
    static __device__ __forceinline__ void each_huge_unit(const sap_mesh_cuda_build& b, const batch& at, work with) {
        const uint32_t warp = blockIdx.x * SAP_MESH_WARPS + threadIdx.x / SAP_WARP;
        for (uint32_t i = warp; i < at.units; i += gridDim.x * SAP_MESH_WARPS) {
            const int2 entry = b.units[at.parity][i];
            if (is_huge(&b.jobs[entry.x])) with(&b.jobs[entry.x], entry.y);
        }
    }

    static __device__ void find(const sap_mesh_cuda_build& b, sap_mesh_large_shared<sap_mesh_high>* s,
                                unsigned int* barriers) {
        const batch at = s->batch;
        const bool any_huge = at.units > HUGE_UNITS;
        sap_mesh_warp_shared* own = &s->of.warp[threadIdx.x / SAP_WARP];
        sap_mesh_search_shared* find = &s->of.find;
        if (any_huge) {
            each_huge_unit(b, at, [&](sap_mesh_cuda_job* job, int number) { fill_unit(b, job, number, own->bins); });
            sap_mesh_barrier(b, s, barriers, close_nothing());
        }
        each_job(b, at, [&](sap_mesh_cuda_job* job) {
            if (is_huge(job))
                choose_in_huge_node(b, job, find);
            else if (job->task == SAP_MESH_TASK_FIND)
                set_plane(b, job, sap_mesh_find_plane(b, job, scratch_of(b, at, job), find));
        });
        if (any_huge) {
            sap_mesh_barrier(b, s, barriers, close_nothing());
            each_huge_unit(b, at, [&](sap_mesh_cuda_job* job, int number) {
                gather_unit(b, job, number, scratch_of(b, at, job), (unit_ends*)own);
            });
            sap_mesh_barrier(b, s, barriers, close_nothing());
            each_job(b, at, [&](sap_mesh_cuda_job* job) {
                if (is_huge(job)) search_huge_node(b, job, scratch_of(b, at, job), find);
            });
        }
        sap_mesh_barrier(b, s, barriers, close_nothing());
    }
};

} // namespace

void sap_mesh_cuda_large_high(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    sap_mesh_launch_large<sap_mesh_high>(call, b);
}
