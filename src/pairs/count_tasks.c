// Counts of pairs, divided into tasks.
#include "pairs/pairs.h"

#include <string.h>

enum {
    MOST_TASKS = 4096,
    FEWEST_TASKS = 64,
    ALL_SUMS = 1 << 17 // of all tasks, but at least so many tasks
};

typedef struct counting {
    const sap_pair_counts_job* job;
    const sap_pairs_kernels* kernels;
    sap_boxed a, b;
    sap_count_tasks all;
    sap_node_pair *tasks, *other; // [most] each
    int64_t most;
    void* limits2; // real[bins]
    sap_scratch memory;
} counting;

static bool is_done(const counting* c, const sap_node_pair* pair) {
    return pair->from == pair->to ||
           (sap_boxed_is_leaf(c->all.run.a, pair->a) && sap_boxed_is_leaf(c->all.run.b, pair->b));
}

// Divides each task once, in place, and drops what no bin holds. False if none could be divided.
static bool divide_all(counting* c) {
    int64_t made = 0;
    bool divided = false;
    for (int64_t i = 0; i < c->all.count; i++) {
        sap_node_pair parts[3];
        int count = 1;
        parts[0] = c->tasks[i];
        if (!is_done(c, &parts[0])) {
            count = sap_node_pair_divide(&c->all.run, c->tasks[i], parts);
            divided = true;
        }
        for (int part = 0; part < count; part++) {
            c->kernels->narrow(&c->all.run, &parts[part]);
            if (parts[part].from < c->job->bins) c->other[made++] = parts[part];
        }
    }
    SAP_ASSERT(made <= c->most);
    sap_node_pair* const old = c->tasks;
    c->tasks = c->other;
    c->other = old;
    c->all.count = made;
    return divided;
}

static void make_tasks(counting* c) {
    c->all.count = 1;
    c->tasks[0] = (sap_node_pair){0, 0, 0, c->job->bins};
    c->kernels->narrow(&c->all.run, &c->tasks[0]);
    while (3 * c->all.count <= c->most && divide_all(c)) {}
}

static sap_status reserve(counting* c) {
    sap_device* device = c->job->a->device;
    const size_t bins = (size_t)c->job->bins, real = sap_real_bytes(&c->job->a->shape);
    const int64_t fit = ALL_SUMS / (c->job->bins + (int64_t)1);
    c->most = fit > MOST_TASKS ? MOST_TASKS : fit < FEWEST_TASKS ? FEWEST_TASKS : fit;
    const size_t tasks = sap_align((size_t)c->most * sizeof *c->tasks), limits = sap_align(bins * real);
    size_t sums;
    if (!sap_size_multiply((uint64_t)c->most * (bins + 1), 8, &sums) ||
        !sap_scratch_take(device, 2 * tasks + limits + sums, &c->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to count pairs in %d bins", (int)c->job->bins);
    unsigned char* at = c->memory.memory;
    c->all.weighted = c->job->weights_a || c->job->weights_b;
    c->tasks = (sap_node_pair*)(void*)at;
    c->other = (sap_node_pair*)(void*)(at + tasks);
    c->limits2 = at + 2 * tasks;
    c->all.sums = at + 2 * tasks + limits;
    memset(c->all.sums, 0, sums);
    for (size_t i = 0; i < bins; i++)
        if (real == 4)
            ((float*)c->limits2)[i] = (float)c->job->limits2[i];
        else
            ((double*)c->limits2)[i] = c->job->limits2[i];
    return SAP_OK;
}

// Adds the bins of all tasks: integers exactly, weights in the order of the tasks.
static void add_tasks(const counting* c) {
    const int64_t step = (int64_t)c->job->bins + 1;
    const bool weighted = c->all.weighted;
    for (int64_t bin = 0; bin < c->job->bins; bin++) {
        int64_t count = 0;
        double sum = 0;
        for (int64_t task = 0; task < c->all.count; task++) {
            if (weighted)
                sum += ((const double*)(const void*)c->all.sums)[task * step + bin];
            else
                count += ((const int64_t*)(const void*)c->all.sums)[task * step + bin];
        }
        c->job->sums[bin] = weighted ? sum : (double)count;
    }
}

static sap_status count(counting* c, sap_count_worker work, void* context) {
    c->all.run = (sap_count_run){.a = c->job->a == c->job->b && !c->a.count ? &c->b : &c->a,
                                 .b = &c->b,
                                 .limits2 = c->limits2,
                                 .bins = c->job->bins};
    c->all.run.mirrored = c->all.run.a == c->all.run.b;
    if (c->all.run.a->count && c->b.count && c->job->bins) make_tasks(c);
    c->all.tasks = c->tasks;
    const sap_status status = work(context, &c->all);
    if (status == SAP_OK) add_tasks(c);
    return status;
}

sap_status sap_pairs_count_by(const sap_pair_counts_job* job, const sap_pairs_kernels* kernels, sap_count_worker work,
                              void* context) {
    sap_device* device = job->a->device;
    const bool same = job->a == job->b && !job->weights_a && !job->weights_b;
    counting c = {.job = job, .kernels = kernels};
    sap_status status = sap_boxed_make(job->b, job->weights_b, kernels, &c.b);
    if (status == SAP_OK && !same) status = sap_boxed_make(job->a, job->weights_a, kernels, &c.a);
    if (status == SAP_OK) status = reserve(&c);
    if (status == SAP_OK) status = count(&c, work, context);
    sap_scratch_give(device, &c.memory);
    sap_scratch_give(job->a->device, &c.a.memory);
    sap_scratch_give(job->b->device, &c.b.memory);
    return status;
}
