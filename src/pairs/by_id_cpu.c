// The points of a tree in the order of their ids, gathered leaf by leaf.
#include "base/team.h"
#include "pairs/by_id.h"
#include "tree/leaves.h"

#include <string.h>

enum { GRAIN = 256 }; // leaves that are worth a thread

static void put_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_by_id* all = context;
    const size_t row = (size_t)all->tree->shape.dims * sap_real_bytes(&all->tree->shape);
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(all->tree, place);
        for (int32_t i = 0; i < leaf.count; i++)
            sap_leaf_point(all->tree, &leaf, i, all->coords + (size_t)leaf.ids[i] * row);
    }
}

sap_status sap_by_id_open(const sap_tree* tree, sap_by_id* points) {
    const sap_tree_shape* s = &tree->shape;
    const size_t bytes = (size_t)s->source_count * (size_t)s->dims * sap_real_bytes(s);
    *points = (sap_by_id){.tree = tree};
    if (!sap_scratch_take(tree->device, bytes + 1, &points->memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the points of a tree in order");
    points->coords = points->memory.memory;
    if (s->count < s->source_count) memset(points->coords, 0xff, bytes); // a NaN of either precision
    if (s->count) sap_team_loop(tree->device->options.threads, sap_leaf_places(tree), GRAIN, put_leaves, points);
    return SAP_OK;
}
