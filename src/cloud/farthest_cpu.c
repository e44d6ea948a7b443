// Samples of points far from one another, one after another.
#include "cloud/farthest.h"
#include "cloud/ops.h"
#include "device/cpu.h"
#include "device/progress.h"

enum { STEP = 64 }; // points between two looks at the progress

static sap_status reserve(const sap_tree* tree, const sap_boxed* boxed, sap_farthest* f, sap_scratch* memory) {
    const size_t real = sap_real_bytes(&tree->shape), nodes = boxed->count;
    const size_t distances = sap_align(((size_t)tree->shape.slots + SAP_BOXED_SPARE) * real);
    const size_t greatest = sap_align(nodes * real), words = sap_align(nodes * 4);
    if (!sap_scratch_take(tree->device, distances + greatest + 3 * words + 1, memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the distances of %lld points",
                        (long long)tree->shape.count);
    unsigned char* at = memory->memory;
    f->boxed = boxed;
    f->distance2 = at;
    f->greatest = at + distances;
    at += distances + greatest;
    f->ids = (int32_t*)(void*)at;
    f->leaves = (uint32_t*)(void*)(at + words);
    f->visited = (uint32_t*)(void*)(at + 2 * words);
    return SAP_OK;
}

// The leaf of the point with the smallest id that is not below `start`, or, if all are, of the one with the smallest.
static uint32_t find_start(const sap_boxed* boxed, int32_t start, int32_t* id) {
    int32_t least = INT32_MAX, next = INT32_MAX;
    uint32_t least_leaf = 0, next_leaf = 0;
    for (uint32_t node = 0; node < boxed->count; node++) {
        if (!sap_boxed_is_leaf(boxed, node)) continue;
        const int32_t* ids = sap_boxed_ids(boxed, node);
        for (int32_t i = 0; i < boxed->nodes[node].count; i++) {
            if (ids[i] < least) least = ids[i], least_leaf = node;
            if (ids[i] >= start && ids[i] < next) next = ids[i], next_leaf = node;
        }
    }
    *id = next < INT32_MAX ? next : least;
    return next < INT32_MAX ? next_leaf : least_leaf;
}

static sap_status choose(sap_sample_job* job, sap_farthest* f) {
    sap_device* device = job->tree->device;
    const sap_farthest_kernels* kernels = sap_cpu_kernels_of(device, job->tree->shape.real_bits)->farthest;
    const int64_t points = job->tree->shape.count, most = job->options.most < points ? job->options.most : points;
    sap_progress_state progress = sap_progress_begin(device, most);
    kernels->begin(f);
    int32_t id;
    uint32_t leaf = find_start(f->boxed, job->options.start, &id);
    for (int64_t i = 0; i < most; i++) {
        job->ids[i] = id;
        if (i + 1 == most) break;
        kernels->add(f, leaf, id);
        id = f->ids[0];
        leaf = f->leaves[0];
        if (i % STEP == STEP - 1 && !sap_progress_add(&progress, STEP)) break;
    }
    job->count = most;
    if (sap_progress_finish(&progress)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

sap_status sap_cloud_farthest_cpu(sap_sample_job* job) {
    const sap_tree* tree = job->tree;
    const sap_cpu_kernels* kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    sap_boxed boxed = {.count = 0};
    sap_farthest f;
    sap_scratch memory = {NULL, 0};
    if (tree->shape.count == 0) return SAP_OK;
    sap_status status = sap_boxed_make(tree, NULL, kernels->pairs, &boxed);
    if (status == SAP_OK) status = reserve(tree, &boxed, &f, &memory);
    if (status == SAP_OK) status = choose(job, &f);
    sap_scratch_give(tree->device, &memory);
    sap_scratch_give(tree->device, &boxed.memory);
    return status;
}

sap_status sap_cloud_sample_cpu(sap_sample_job* job) {
    return job->options.kind == SAP_SAMPLE_POISSON ? sap_cloud_poisson_cpu(job) : sap_cloud_farthest_cpu(job);
}
