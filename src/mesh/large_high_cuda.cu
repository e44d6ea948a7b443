// HIGH's nodes of many parts: the cheapest plane of all, triangles clipped exactly.
//
// A block finds a node's plane. In nodes of very many parts that would take one block too long: all warps fill the
// bins, a unit each, and collect the ends of parts in the bins that a block has chosen; then a block searches them.
#include "mesh/large_cuda.cuh"
#include "mesh/planes_cuda.cuh"

namespace {

enum { CROWD_UNITS = 32 }; // a node of more is for all warps

__device__ void close_nothing(const sap_mesh_cuda_build&) {}

// What is known of such a node between the steps, where its bins were.
struct crowd {
    sap_mesh_priced best;
    sap_mesh_choice choice;
};
static_assert(sizeof(crowd) <= 6 * SAP_MESH_BINS * sizeof(uint32_t), "a job's bins have room for what follows");

__device__ __forceinline__ uint32_t* bins_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    return b.bins + (int64_t)(job->first_unit / 2) * 6 * SAP_MESH_BINS; // it has two units at least
}
__device__ __forceinline__ crowd* crowd_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    return (crowd*)bins_of(b, job);
}
__device__ __forceinline__ bool is_crowd(const sap_mesh_cuda_job* job) {
    return job->task == SAP_MESH_FIND && job->units > CROWD_UNITS;
}

// While planes are found, the room for the parts of the batch's children is scratch memory.
__device__ __forceinline__ float* scratch_of(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job) {
    const sap_mesh_cuda_state* state = b.state;
    const int64_t before = job->below - sap_mesh_parts_below(b, state->side, state->from);
    return (float*)(b.parts + (state->used[0] >> SAP_MESH_JOB_BITS) + 2 * before);
}

__device__ __forceinline__ void set_plane(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job,
                                          const sap_plane& plane) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    job->axis = plane.axis;
    job->plane = plane.at;
    job->planar_left = plane.planar_left;
    job->sides[0] = job->sides[1] = job->arrived = 0;
    job->task = SAP_MESH_COUNT;
    if (plane.axis < 0) sap_mesh_end_job(b, job);
}

// ---- Nodes of very many parts, step by step

// A warp counts the parts of a unit in bins.
__device__ void fill_unit(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job, int number, uint32_t* bins) {
    int32_t from, count = sap_mesh_unit_parts(job, number, &from);
    uint32_t* all = bins_of(b, job);
    sap_mesh_fill_bins(b, job, b.parts + job->first + from, count, bins);
    for (int i = sap_lane(); i < 6 * SAP_MESH_BINS; i += SAP_WARP)
        if (bins[i]) atomicAdd(&all[i], bins[i]);
    __syncwarp();
}

// A block chooses the bins that are searched.
__device__ void choose_of_crowd(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_find_shared* s) {
    uint32_t* all = bins_of(b, job);
    sap_mesh_finder f;
    float scale[3];
    sap_mesh_finder_begin(b, job->cell, s, &f, scale);
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) {
        (&s->bins[0][0])[i] = __ldcg(&all[i]);
        all[i] = 0;
    }
    __syncthreads();
    sap_mesh_choose_bins(&f, (uint32_t)job->count, scale);
    if (s->choice.count == 0) {
        set_plane(b, job, f.best.plane);
    } else if (threadIdx.x == 0) {
        crowd_of(b, job)->best = f.best;
        crowd_of(b, job)->choice = s->choice;
    }
}

// What a warp knows while it collects the ends of parts in a unit.
struct unit_ends {
    int8_t number[SAP_MESH_EDGES];
    uint32_t at[SAP_MESH_CHOSEN][SAP_MESH_KINDS];
};

// A warp collects a unit's ends: it counts them, takes room for them, and puts them there.
__device__ void gather_unit(const sap_mesh_cuda_build& b, const sap_mesh_cuda_job* job, int number, unit_ends* own) {
    int32_t from, count = sap_mesh_unit_parts(job, number, &from);
    const sap_mesh_cuda_part* parts = b.parts + job->first + from;
    sap_mesh_choice* choice = &crowd_of(b, job)->choice;
    const int lane = sap_lane(), kinds = choice->count * SAP_MESH_KINDS;
    const sap_measure m = sap_mesh_measure(job->cell, b.state->radius);
    float* scratch = scratch_of(b, job);
    float scale[3];
    for (int a = 0; a < 3; a++) scale[a] = sap_bin_scale(job->cell, m, a);
    for (int i = lane; i < SAP_MESH_EDGES; i += SAP_WARP) own->number[i] = choice->number[i];
    if (lane < kinds) (&own->at[0][0])[lane] = 0;
    __syncwarp();
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = lane; i < count; i += SAP_WARP * SAP_MESH_FIND_LOADS) {
            sap_mesh_cuda_part part[SAP_MESH_FIND_LOADS];
            sap_mesh_load_some(parts, i, count, SAP_WARP, part);
            SAP_UNROLL
            for (int k = 0; k < SAP_MESH_FIND_LOADS; k++)
                sap_mesh_visit_ends(job->cell, scale, own->number, choice->count, part[k],
                                    [=](int bin, int kind, float end) {
                                        const uint32_t at = atomicAdd(&own->at[bin][kind], 1u);
                                        if (pass) scratch[at] = end + 0.0f; // -0 becomes 0
                                    });
        }
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

// A block searches what has been collected.
__device__ void search_crowd(const sap_mesh_cuda_build& b, sap_mesh_cuda_job* job, sap_mesh_find_shared* s) {
    uint32_t* all = bins_of(b, job);
    sap_mesh_finder f;
    float scale[3];
    sap_mesh_finder_begin(b, job->cell, s, &f, scale);
    f.best = crowd_of(b, job)->best;
    for (int i = (int)threadIdx.x; i < (int)(sizeof(sap_mesh_choice) / sizeof(uint32_t)); i += SAP_MESH_THREADS)
        ((uint32_t*)&s->choice)[i] = __ldcg((const uint32_t*)&crowd_of(b, job)->choice + i);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * SAP_MESH_EDGES; i += SAP_MESH_THREADS) all[i] = 0;
    sap_mesh_search_bins(&f, scratch_of(b, job));
    set_plane(b, job, f.best.plane);
}

struct sap_mesh_high {
    enum { fast = 0 };
    typedef sap_mesh_find_shared shared;

    // Shows each job to a block, or each unit of a node of very many parts to a warp.
    template <typename work> static __device__ __forceinline__ void each_job(const sap_mesh_cuda_build& b, work with) {
        for (uint32_t i = b.state->from + blockIdx.x; i < b.state->to; i += gridDim.x) {
            with(&b.jobs[sap_mesh_slot(b, b.state->side, i)]);
            __syncthreads();
        }
    }
    template <typename work>
    static __device__ __forceinline__ void each_crowd_unit(const sap_mesh_cuda_build& b, uint32_t units, work with) {
        const uint32_t warp = blockIdx.x * SAP_MESH_WARPS + threadIdx.x / SAP_WARP;
        for (uint32_t i = warp; i < units; i += gridDim.x * SAP_MESH_WARPS) {
            const int2 entry = b.units[b.state->parity][i];
            if (is_crowd(&b.jobs[entry.x])) with(&b.jobs[entry.x], entry.y);
        }
    }

    static __device__ void find(const sap_mesh_cuda_build& b, sap_mesh_large_shared<sap_mesh_high>* s,
                                unsigned int* meetings) {
        const uint32_t units = b.state->units[b.state->parity];
        const int warp = (int)threadIdx.x / SAP_WARP;
        sap_mesh_find_shared* find = &s->of.find;
        const bool crowds = units > CROWD_UNITS;
        if (crowds) {
            uint32_t* bins = s->of.warp[warp].bins;
            each_crowd_unit(b, units, [&](sap_mesh_cuda_job* job, int number) { fill_unit(b, job, number, bins); });
            sap_mesh_meet<close_nothing>(b, s, meetings);
        }
        each_job(b, [&](sap_mesh_cuda_job* job) {
            if (is_crowd(job))
                choose_of_crowd(b, job, find);
            else if (job->task == SAP_MESH_FIND)
                set_plane(b, job, sap_mesh_find_plane(b, job, scratch_of(b, job), find));
        });
        if (crowds) {
            unit_ends* ends = (unit_ends*)&s->of.warp[warp];
            sap_mesh_meet<close_nothing>(b, s, meetings);
            each_crowd_unit(b, units, [&](sap_mesh_cuda_job* job, int number) { gather_unit(b, job, number, ends); });
            sap_mesh_meet<close_nothing>(b, s, meetings);
            each_job(b, [&](sap_mesh_cuda_job* job) {
                if (is_crowd(job)) search_crowd(b, job, find);
            });
        }
        sap_mesh_meet<close_nothing>(b, s, meetings);
    }
};

} // namespace

void sap_mesh_cuda_large_high(sap_cuda_call* call, const sap_mesh_cuda_build* b) {
    sap_mesh_launch_large<sap_mesh_high>(call, b);
}
