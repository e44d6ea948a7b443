// Counts of pairs on the CPU: threads share the tasks.
#include "base/team.h"
#include "device/progress.h"
#include "pairs/pairs.h"

typedef struct counting {
    const sap_pair_counts_job* job;
    const sap_count_tasks* all;
    sap_progress_state progress;
} counting;

static void count_task(void* context, int64_t task, int32_t worker) {
    counting* c = context;
    sap_count_run run = c->all->run;
    const int64_t first = task * ((int64_t)run.bins + 1);
    (void)worker;
    if (!sap_progress_add(&c->progress, 0)) return;
    if (c->all->weighted)
        run.sums = (double*)c->all->sums + first;
    else
        run.counts = (int64_t*)c->all->sums + first;
    c->all->kernels->count(&run, &c->all->tasks[task]);
    if (c->job->stats) {
        __atomic_add_fetch(&c->job->stats->nodes, run.stats.nodes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&c->job->stats->leaves, run.stats.leaves, __ATOMIC_RELAXED);
        __atomic_add_fetch(&c->job->stats->points, run.stats.points, __ATOMIC_RELAXED);
    }
    sap_progress_add(&c->progress, 1);
}

static sap_status count_tasks(void* context, const sap_count_tasks* tasks) {
    counting* c = context;
    const sap_device* device = c->job->a->device;
    c->all = tasks;
    c->progress = sap_progress_begin(device, tasks->count);
    sap_team_run(device->options.threads, tasks->count, count_task, c);
    if (!sap_progress_finish(&c->progress)) return sap_fail(device, SAP_ERROR_CANCELLED, "the count was cancelled");
    return SAP_OK;
}

sap_status sap_pairs_count_cpu(const sap_pair_counts_job* job) {
    counting c = {.job = job};
    return sap_pairs_count_by(job, sap_cpu_kernels_of(job->a->device, job->a->shape.real_bits), count_tasks, &c);
}
