#include "cloud/points_cpu.h"

enum { GRAIN = 256 }; // places of leaves that are worth a thread

typedef struct spreading {
    const sap_tree* tree;
    unsigned char* points;
} spreading;

// Points of up to three axes; what is missing is 0.
static void spread_floats(const sap_leaf_block* leaf, int32_t dims, float* points) {
    const float* x = (const float*)(const void*)leaf->coords;
    for (int32_t i = 0; i < leaf->count; i++) {
        float* to = points + 4 * (int64_t)leaf->ids[i];
        to[0] = x[i];
        to[1] = dims > 1 ? x[leaf->stride + i] : 0;
        to[2] = dims > 2 ? x[2 * leaf->stride + i] : 0;
        to[3] = 0;
    }
}

static void spread_doubles(const sap_leaf_block* leaf, int32_t dims, double* points) {
    const double* x = (const double*)(const void*)leaf->coords;
    for (int32_t i = 0; i < leaf->count; i++) {
        double* to = points + 4 * (int64_t)leaf->ids[i];
        to[0] = x[i];
        to[1] = dims > 1 ? x[leaf->stride + i] : 0;
        to[2] = dims > 2 ? x[2 * leaf->stride + i] : 0;
        to[3] = 0;
    }
}

static void spread(void* context, int64_t from, int64_t to, int32_t worker) {
    const spreading* s = context;
    const int32_t dims = s->tree->shape.dims;
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(s->tree, place);
        if (s->tree->shape.real_bits == 32)
            spread_floats(&leaf, dims, (float*)(void*)s->points);
        else
            spread_doubles(&leaf, dims, (double*)(void*)s->points);
    }
}

bool sap_cloud_points_open(const sap_tree* tree, sap_cloud_points* points) {
    size_t bytes;
    SAP_ASSERT(tree->shape.dims <= 3);
    if (!sap_size_multiply((uint64_t)tree->shape.source_count, 4 * sap_real_bytes(&tree->shape), &bytes) ||
        !sap_scratch_take(tree->device, bytes + 1, &points->memory))
        return false;
    points->points = points->memory.memory;
    spreading s = {tree, points->points};
    if (tree->shape.count) sap_team_loop(tree->device->options.threads, sap_leaf_places(tree), GRAIN, spread, &s);
    return true;
}
