// Steps of points that are projected onto the surface of a cloud, on the CPU.
#include "base/team.h"
#include "cloud/project.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "tree/layout.h"
#include <string.h>

enum { GRAIN = 4 }; // leaves that are worth a thread

typedef struct work {
    const sap_project_kernels* kernels;
    const sap_tree* tree; // whose leaves are gone through
    sap_progress_state* progress;
    double limit2; // of densities
    bool inverse;
    float* weights;
    const sap_project_step* step; // of a move
} work;

static sap_status place(const sap_tree* tree, int64_t count, float* at) {
    const uint64_t n = (uint64_t)tree->shape.count, parts = 2 * (uint64_t)count;
    const int64_t stride = tree->shape.stride;
    int64_t leaf = 0;
    SAP_ASSERT(tree->shape.kind == SAP_TREE_BALANCED && tree->shape.dims == 3);
    for (int64_t i = 0; i < count; i++) {
        const int64_t rank = (int64_t)((2 * (uint64_t)i + 1) * n / parts);
        while (sap_leaf_rank(&tree->shape, leaf + 1) <= rank) leaf++;
        const float* block = (const float*)(const void*)sap_block(tree, leaf * stride);
        const int64_t slot = rank - sap_leaf_rank(&tree->shape, leaf);
        for (int64_t a = 0; a < 3; a++) at[3 * i + a] = block[a * stride + slot];
    }
    return SAP_OK;
}

static bool goes_on(const work* w) { return !w->progress || sap_progress_add(w->progress, 0); }

static void add_progress(const work* w, int64_t from, int64_t to) {
    const sap_tree_shape* shape = &w->tree->shape;
    if (w->progress) sap_progress_add(w->progress, sap_leaf_rank(shape, to) - sap_leaf_rank(shape, from));
}

static void find_densities(void* context, int64_t from, int64_t to, int32_t worker) {
    const work* w = context;
    (void)worker;
    if (!goes_on(w)) return;
    w->kernels->densities(w->tree, w->limit2, w->inverse, from, to, w->weights);
    add_progress(w, from, to);
}

static void move_points(void* context, int64_t from, int64_t to, int32_t worker) {
    const work* w = context;
    (void)worker;
    if (!goes_on(w)) return;
    w->kernels->move(w->step, from, to);
    add_progress(w, from, to);
}

static sap_status run(const work* w, sap_range* range) {
    const sap_device* device = w->tree->device;
    sap_team_loop(device->options.threads, w->tree->shape.leaves, GRAIN, range, (void*)(uintptr_t)w);
    if (goes_on(w)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

static sap_status densities(const sap_tree* tree, double limit2, bool inverse, float* weights,
                            sap_progress_state* progress) {
    const work w = {.kernels = sap_cpu_kernels_of(tree->device, 32)->project,
                    .tree = tree,
                    .progress = progress,
                    .limit2 = limit2,
                    .inverse = inverse,
                    .weights = weights};
    memset(weights, 0, ((size_t)tree->shape.slots + SAP_PROJECT_SPARE) * sizeof *weights);
    return run(&w, find_densities);
}

static sap_status move(const sap_project_step* step, sap_progress_state* progress) {
    const work w = {.kernels = sap_cpu_kernels_of(step->moving->device, 32)->project,
                    .tree = step->moving,
                    .progress = progress,
                    .step = step};
    return run(&w, move_points);
}

const sap_project_ops sap_cloud_project_cpu = {.place = place, .densities = densities, .move = move};
