// The parameters of a build over triangles, derived from its options.
#include "mesh/build.h"

static int32_t default_depth(int64_t triangles) {
    uint64_t square = (uint64_t)triangles * (uint64_t)triangles;
    int32_t depth = 8 + (square ? 63 - __builtin_clzll(square) : 0);
    return depth < SAP_MESH_DEPTH_MAX ? depth : SAP_MESH_DEPTH_MAX;
}

sap_mesh_rules sap_mesh_rules_of(const sap_mesh_tree_options* options, int64_t triangles) {
    const bool fast = options->quality == SAP_QUALITY_FAST;
    SAP_ASSERT(options->small_node <= SAP_MESH_SMALL && options->depth <= SAP_MESH_DEPTH_MAX);
    return (sap_mesh_rules){.traversal = options->traversal_cost,
                            .intersection = options->intersection_cost,
                            .empty_space = options->empty_space,
                            .radius = options->cost == SAP_COST_VOXELS ? options->radius : -1,
                            .depth = options->depth ? options->depth : default_depth(triangles),
                            .small_node = fast ? options->small_node : SAP_MESH_SMALL,
                            .fast = fast};
}
