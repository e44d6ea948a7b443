// Many rays on the CPU: threads take parts of a call. In a part, coherent blocks of rays are traced in the given order;
// the other rays are ordered and traced afterwards.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "ray/walk_cpu.h"

enum {
    PART_MOST = 1 << 18, // most rays that a thread orders at once: more hardly improve the order
    PART_LEAST = 1 << 12,
    PARTS_PER_THREAD = 4,
    LOCAL_KEYS = 256 // calls with at most so many rays allocate nothing
};

typedef struct ray_call {
    sap_ray_run whole;
    const sap_ray_kernels* kernels;
    int64_t part; // rays in a part
    int threads;  // at most as many as parts: each has memory for its keys
    sap_scratch keys;
    sap_progress_state progress;
} ray_call;

static sap_ray_run run_part(const ray_call* b, int64_t first) {
    sap_ray_run run = b->whole;
    sap_ray_job* job = &run.job;
    int64_t left = job->count - first;
    SAP_ASSERT(first >= 0 && left > 0);
    job->rays += first;
    job->count = left < b->part ? left : b->part;
    if (job->hits) job->hits += first * (job->limit ? job->limit : 1);
    if (job->counts) job->counts += first;
    if (job->occluded) job->occluded += first;
    if (job->visits) job->visits += first;
    return run;
}

// Keys of rays [first, first + count), or of those that are not answered at once; how many they are.
static int64_t list_keys(const ray_call* b, const sap_ray_run* run, int64_t first, int count, sap_ray_key* keys) {
    const sap_mesh_tree_shape* s = &run->tree->shape;
    if (b->kernels->keys) return b->kernels->keys(run, first, count, keys);
    for (int i = 0; i < count; i++)
        keys[i] = sap_ray_key_of(run->job.rays + first + i, s->lower, s->upper, (uint32_t)(first + i));
    return count;
}

// `keys` and `other` have room for the run's rays.
static void trace_blocks(const ray_call* b, const sap_ray_run* run, sap_ray_key* keys, sap_ray_key* other) {
    int64_t count = run->job.count, later = 0;
    for (int64_t first = 0; first < count; first += SAP_RAY_BLOCK) {
        int n = count - first < SAP_RAY_BLOCK ? (int)(count - first) : SAP_RAY_BLOCK;
        if (!b->kernels->block(run, first, n)) later += list_keys(b, run, first, n, keys + later);
    }
    SAP_ASSERT(later <= count && count <= b->part);
    if (later) b->kernels->ordered(run, sap_ray_keys_sort(keys, other, later), later);
}

static void trace_part(void* context, int64_t part, int32_t worker) {
    ray_call* b = context;
    if (!sap_progress_add(&b->progress, 0)) return;
    sap_ray_run run = run_part(b, part * b->part);
    sap_ray_key local[2 * LOCAL_KEYS], *keys = local, *other = local + LOCAL_KEYS;
    if (b->keys.memory) {
        SAP_ASSERT(worker < b->threads);
        keys = (sap_ray_key*)(void*)b->keys.memory + (size_t)worker * 2 * (size_t)b->part;
        other = keys + b->part;
    }
    SAP_ASSERT(b->keys.memory || run.job.visits || run.job.count <= LOCAL_KEYS);
    if (run.job.visits)
        sap_rays_walk_cpu(&run);
    else
        trace_blocks(b, &run, keys, other);
    sap_progress_add(&b->progress, run.job.count);
}

static void trace_all_parts(ray_call* b) {
    int64_t parts = (b->whole.job.count + b->part - 1) / b->part;
    sap_team_run(b->threads, parts, trace_part, b);
}

// Chooses the length of parts and takes the memory for their keys.
static bool reserve(ray_call* b) {
    sap_device* device = b->whole.tree->device;
    int64_t count = b->whole.job.count, threads = device->options.threads;
    int64_t even = (count + threads * PARTS_PER_THREAD - 1) / (threads * PARTS_PER_THREAD);
    b->part = even > PART_MOST || threads == 1 ? PART_MOST : even < PART_LEAST ? PART_LEAST : even;
    if (b->part > count) b->part = count;
    int64_t parts = (count + b->part - 1) / b->part;
    b->threads = (int)(parts < threads ? parts : threads);
    if (count <= LOCAL_KEYS || b->whole.job.visits) return true;
    size_t bytes;
    return sap_size_multiply((uint64_t)b->threads * 2 * sizeof(sap_ray_key), (size_t)b->part, &bytes) &&
           sap_scratch_take(device, bytes, &b->keys);
}

sap_status sap_trace_cpu(const sap_mesh_tree* tree, const sap_ray_job* job) {
    ray_call b = {.whole = {tree, *job, sap_mesh_magnitude(tree)},
                  .kernels = sap_cpu_kernels_of(tree->device, 32)->ray,
                  .progress = sap_progress_begin(tree->device, job->count)};
    if (job->count == 0) return SAP_OK;
    if (job->count < SAP_RAY_FEW && !job->visits) {
        b.kernels->few(&b.whole);
        return SAP_OK;
    }
    if (!reserve(&b)) return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to order rays");
    trace_all_parts(&b);
    sap_scratch_give(tree->device, &b.keys);
    // Calls with few rays report no progress.
    if (job->count > LOCAL_KEYS && !sap_progress_finish(&b.progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the rays were cancelled");
    return SAP_OK;
}
