// Clusters on the CPU: which points are core points, then sets of them, joined leaf by leaf by all threads, then labels
// in the order of ids.
#include "base/team.h"
#include "cloud/clusters.h"
#include "cloud/ops.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "tree/periods.h"
#include <string.h>

enum { GRAIN = 64 }; // nodes that are worth a thread

typedef struct finding {
    sap_clusters_job* job;
    sap_clusters clusters;
    sap_boxed boxed;
    const sap_clusters_kernels* kernels;
    sap_scratch memory;
    sap_progress_state progress;
} finding;

// Calls a kernel for the leaves among some nodes.
static void over_leaves(finding* f, void (*kernel)(sap_clusters*, uint32_t), int64_t from, int64_t to, bool counts) {
    int64_t points = 0;
    if (!sap_progress_add(&f->progress, 0)) return;
    for (int64_t node = from; node < to; node++) {
        if (!sap_boxed_is_leaf(&f->boxed, (uint32_t)node)) continue;
        kernel(&f->clusters, (uint32_t)node);
        points += counts ? f->boxed.nodes[node].count : 0;
    }
    sap_progress_add(&f->progress, points);
}

static void mark_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    finding* f = context;
    (void)worker;
    over_leaves(f, f->kernels->mark_cores, from, to, true);
}

static void join_own_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    finding* f = context;
    (void)worker;
    over_leaves(f, f->kernels->join_own, from, to, false);
}

static void join_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    finding* f = context;
    (void)worker;
    over_leaves(f, f->kernels->join_leaf, from, to, true);
}

static void label_nodes(void* context, int64_t from, int64_t to, int32_t worker) {
    finding* f = context;
    (void)worker;
    over_leaves(f, f->kernels->label_border, from, to, false);
}

// Labels of core points. A root is the smallest id of its set, so it has its label before all others.
static void label_cores(finding* f) {
    sap_clusters_job* job = f->job;
    int64_t next = 0;
    for (int64_t i = 0; i < job->tree->shape.source_count; i++) {
        if (job->labels[i] < 0 || (f->clusters.core && !f->clusters.core[i])) continue;
        const int32_t root = sap_clusters_root(f->clusters.links, (int32_t)i);
        SAP_ASSERT(root <= i);
        job->labels[i] = root == i ? (int32_t)next++ : job->labels[root];
    }
    job->count = next;
}

// Clusters with too few points become noise, the others are numbered anew. sizes: room for a number a cluster.
static void leave_out_small(sap_clusters_job* job, int32_t* sizes) {
    const int64_t n = job->tree->shape.source_count;
    int32_t next = 0;
    memset(sizes, 0, (size_t)job->count * sizeof *sizes);
    for (int64_t i = 0; i < n; i++)
        if (job->labels[i] >= 0) sizes[job->labels[i]]++;
    for (int64_t c = 0; c < job->count; c++) sizes[c] = sizes[c] >= job->options.least ? next++ : -1;
    for (int64_t i = 0; i < n; i++)
        if (job->labels[i] >= 0) job->labels[i] = sizes[job->labels[i]];
    job->count = next;
}

static void say_kinds(const finding* f) {
    const sap_clusters_job* job = f->job;
    for (int64_t i = 0; job->kinds && i < job->tree->shape.source_count; i++)
        job->kinds[i] = (uint8_t)(job->labels[i] < 0                         ? SAP_CLUSTER_NOISE
                                  : f->clusters.core && !f->clusters.core[i] ? SAP_CLUSTER_BORDER
                                                                             : SAP_CLUSTER_CORE);
}

// labels[i] is 0 for points of the tree, -1 for those that it has left out.
static void mark_present(finding* f) {
    sap_clusters_job* job = f->job;
    memset(job->labels, 0xff, (size_t)job->tree->shape.source_count * sizeof *job->labels);
    for (uint32_t node = 0; node < f->boxed.count; node++) {
        if (!sap_boxed_is_leaf(&f->boxed, node)) continue;
        const int32_t* ids = sap_boxed_ids(&f->boxed, node);
        for (int32_t i = 0; i < f->boxed.nodes[node].count; i++) job->labels[ids[i]] = 0;
    }
}

static sap_status reserve(finding* f) {
    const sap_tree* tree = f->job->tree;
    sap_device* device = tree->device;
    const size_t n = (size_t)tree->shape.source_count, links = sap_align(n * 4);
    const size_t sets = sap_align((size_t)f->boxed.count * 4), cores = f->job->options.fewest > 1 ? n : 0;
    if (!sap_scratch_take(device, links + sets + cores + 1, &f->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the sets of %lld points", (long long)n);
    f->clusters.links = (int32_t*)(void*)f->memory.memory;
    f->clusters.one_set = (int32_t*)(void*)(f->memory.memory + links);
    f->clusters.core = cores ? f->memory.memory + links + sets : NULL;
    return SAP_OK;
}

static sap_status find_sets(finding* f) {
    sap_clusters_job* job = f->job;
    const sap_tree* tree = job->tree;
    const int32_t threads = tree->device->options.threads;
    const int64_t n = tree->shape.source_count;
    if (f->clusters.core) sap_team_loop(threads, f->boxed.count, GRAIN, mark_nodes, f);
    for (int64_t i = 0; i < n; i++) f->clusters.links[i] = (int32_t)i;
    f->kernels->join_small(&f->clusters);
    sap_team_loop(threads, f->boxed.count, GRAIN, join_own_nodes, f);
    sap_team_loop(threads, f->boxed.count, GRAIN, join_nodes, f);
    mark_present(f);
    label_cores(f);
    if (f->clusters.core) sap_team_loop(threads, f->boxed.count, GRAIN, label_nodes, f);
    if (job->options.least > 1) leave_out_small(job, f->clusters.links);
    say_kinds(f);
    if (sap_progress_finish(&f->progress)) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

sap_status sap_cloud_clusters_cpu(sap_clusters_job* job) {
    const sap_tree* tree = job->tree;
    const sap_cpu_kernels* kernels = sap_cpu_kernels_of(tree->device, tree->shape.real_bits);
    const int passes = job->options.fewest > 1 ? 2 : 1;
    finding f = {.job = job,
                 .kernels = sap_is_periodic(&tree->options) ? kernels->clusters_periodic : kernels->clusters};
    f.progress = sap_progress_begin(tree->device, passes * tree->shape.count);
    f.clusters =
        (sap_clusters){.boxed = &f.boxed, .limit2 = job->limit2, .fewest = job->options.fewest, .labels = job->labels};
    if (tree->shape.source_count == 0) return SAP_OK;
    sap_status status = sap_boxed_make(tree, NULL, kernels->pairs, &f.boxed);
    if (status == SAP_OK) status = reserve(&f);
    if (status == SAP_OK) status = find_sets(&f);
    sap_scratch_give(tree->device, &f.memory);
    sap_scratch_give(tree->device, &f.boxed.memory);
    return status;
}
