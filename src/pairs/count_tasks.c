// Counts of pairs, divided into tasks.
#include "pairs/pairs.h"
#include "tree/periods.h"

#include <math.h>
#include <string.h>

// Sums of weights take more tasks: each goes its way step by step, and a GPU works on thousands at once.
enum {
    MOST_TASKS = 4096,
    MOST_WEIGHED = 32768,
    FEWEST_TASKS = 64,
    TASK_SUMS = 32 // bins of so many tasks as there may be at most; with more bins there are fewer tasks
};

typedef struct counting {
    const sap_pair_counts_job* job;
    sap_boxed a, b;
    sap_count_tasks all;
    sap_node_pair *tasks, *other; // [most] each
    int64_t most;
    void *limits2, *periods; // real[bins], real[dims]
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
            c->all.kernels->narrow(&c->all.run, &parts[part]);
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
    c->all.kernels->narrow(&c->all.run, &c->tasks[0]);
    while (3 * c->all.count <= c->most && divide_all(c)) {}
}

static void put(void* reals, size_t real_bytes, size_t at, double value) {
    if (real_bytes == 4)
        ((float*)reals)[at] = (float)value;
    else
        ((double*)reals)[at] = value;
}

void sap_pairs_periods(const sap_tree* tree, void* periods) {
    for (size_t axis = 0; axis < SAP_MAX_DIMS; axis++) {
        const double period = tree->options.period[axis];
        put(periods, sap_real_bytes(&tree->shape), axis, period > 0 ? period : INFINITY);
    }
}

static sap_status reserve(counting* c) {
    sap_device* device = c->job->a->device;
    const size_t bins = (size_t)c->job->bins, real = sap_real_bytes(&c->job->a->shape);
    c->all.weighted = c->job->weights_a || c->job->weights_b;
    const int64_t most = c->all.weighted ? MOST_WEIGHED : MOST_TASKS, fit = most * TASK_SUMS / ((int64_t)bins + 1);
    c->most = fit > most ? most : fit < FEWEST_TASKS ? FEWEST_TASKS : fit;
    const size_t tasks = sap_align((size_t)c->most * sizeof *c->tasks), limits = sap_align(bins * real),
                 periods = sap_align(SAP_MAX_DIMS * real);
    size_t sums;
    if (!sap_size_multiply(((uint64_t)c->most + 1) * ((uint64_t)bins + 1), 8, &sums) ||
        !sap_scratch_take(device, 2 * tasks + limits + periods + sums, &c->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to count pairs in %d bins", (int)c->job->bins);
    unsigned char* at = c->memory.memory;
    c->tasks = (sap_node_pair*)(void*)at;
    c->other = (sap_node_pair*)(void*)(at + tasks);
    c->limits2 = at + 2 * tasks;
    c->periods = at + 2 * tasks + limits;
    c->all.sums = at + 2 * tasks + limits + periods;
    for (size_t i = 0; i < bins; i++) put(c->limits2, real, i, c->job->limits2[i]);
    sap_pairs_periods(c->job->a, c->periods);
    return SAP_OK;
}

// Adds the bins of all tasks, in the order of the tasks: weights as they are, integers exactly, in the row behind the
// tasks' own.
static void add_tasks(const counting* c) {
    const int64_t bins = c->job->bins, step = bins + 1, end = c->all.count * step;
    if (c->all.weighted) {
        const double* sums = c->all.sums;
        memset(c->job->sums, 0, (size_t)bins * sizeof *c->job->sums);
        for (int64_t row = 0; row < end; row += step)
            for (int64_t bin = 0; bin < bins; bin++) c->job->sums[bin] += sums[row + bin];
        return;
    }
    int64_t* counts = c->all.sums;
    for (int64_t row = 0; row < end; row += step)
        for (int64_t bin = 0; bin < bins; bin++) counts[end + bin] += counts[row + bin];
    for (int64_t bin = 0; bin < bins; bin++) c->job->sums[bin] = (double)counts[end + bin];
}

static sap_status count(counting* c, sap_count_worker work, void* context) {
    c->all.run = (sap_count_run){.a = c->job->a == c->job->b && !c->a.count ? &c->b : &c->a,
                                 .b = &c->b,
                                 .limits2 = c->limits2,
                                 .periods = c->periods,
                                 .bins = c->job->bins};
    c->all.run.mirrored = c->all.run.a == c->all.run.b;
    if (c->all.run.a->count && c->b.count && c->job->bins) make_tasks(c);
    c->all.tasks = c->tasks;
    memset(c->all.sums, 0, ((size_t)c->all.count + 1) * ((size_t)c->job->bins + 1) * 8);
    const sap_status status = work(context, &c->all);
    if (status == SAP_OK) add_tasks(c);
    return status;
}

sap_status sap_pairs_count_by(const sap_pair_counts_job* job, const sap_cpu_kernels* kernels, sap_count_worker work,
                              void* context) {
    sap_device* device = job->a->device;
    const bool same = job->a == job->b && !job->weights_a && !job->weights_b;
    counting c = {.job = job};
    c.all.kernels = sap_is_periodic(&job->a->options) ? kernels->pairs_periodic : &kernels->pairs->open;
    sap_status status = sap_boxed_make(job->b, job->weights_b, kernels->pairs, &c.b);
    if (status == SAP_OK && !same) status = sap_boxed_make(job->a, job->weights_a, kernels->pairs, &c.a);
    if (status == SAP_OK) status = reserve(&c);
    if (status == SAP_OK) status = count(&c, work, context);
    sap_scratch_give(device, &c.memory);
    sap_scratch_give(job->a->device, &c.a.memory);
    sap_scratch_give(job->b->device, &c.b.memory);
    return status;
}
