#include "cloud/points_cpu.h"

enum { GRAIN = 256 }; // places of leaves that are worth a thread

typedef struct spreading {
    const sap_tree* tree;
    unsigned char* points;
} spreading;

static void spread(void* context, int64_t from, int64_t to, int32_t worker) {
    const spreading* s = context;
    const size_t real = sap_real_bytes(&s->tree->shape);
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(s->tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            double point[4] = {0, 0, 0, 0};
            sap_leaf_point(s->tree, &leaf, i, point);
            memcpy(s->points + (size_t)leaf.ids[i] * 4 * real, point, 4 * real);
        }
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
