// sap_mesh_tree_describe: counts, memory and the expected cost of rays.
#include "mesh/host_view.h"
#include <string.h>

// A node that waits, and its cell.
typedef struct cell {
    double lower[3], upper[3];
    int64_t node;
} cell;

static double half_surface(const cell* c) {
    double x = c->upper[0] - c->lower[0], y = c->upper[1] - c->lower[1], z = c->upper[2] - c->lower[2];
    return x * y + y * z + z * x;
}

// The average cost of a ray through the box, if rays are distributed uniformly (MacDonald and Booth 1990).
double sap_mesh_expected_cost(const sap_mesh_tree* t) {
    const sap_mesh_node* nodes = sap_mesh_nodes(t);
    cell stack[SAP_MESH_DEPTH_MAX + 2];
    double steps = 0, tests = 0, whole;
    int waiting = 0;
    if (t->shape.triangles == 0) return 0;
    for (int a = 0; a < 3; a++) {
        stack[0].lower[a] = (double)t->shape.lower[a];
        stack[0].upper[a] = (double)t->shape.upper[a];
    }
    stack[waiting++].node = 0;
    whole = half_surface(&stack[0]);
    while (waiting > 0) {
        cell c = stack[--waiting], left = c, right = c;
        sap_mesh_node node = nodes[c.node];
        double share = whole > 0 ? half_surface(&c) / whole : 1;
        uint32_t axis = node.link & 3;
        if (axis == SAP_MESH_LEAF) {
            tests += share * (double)(node.link >> 2);
            continue;
        }
        float plane;
        memcpy(&plane, &node.bits, sizeof plane);
        steps += share;
        left.upper[axis] = right.lower[axis] = (double)plane;
        left.node = c.node + 1;
        right.node = node.link >> 2;
        SAP_ASSERT(waiting + 2 <= SAP_MESH_DEPTH_MAX + 2);
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
    return steps * (double)t->options.traversal_cost + tests * (double)t->options.intersection_cost;
}

sap_status sap_mesh_tree_describe(const sap_mesh_tree* tree, sap_mesh_tree_info* info) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    const sap_mesh_tree_shape* s = &tree->shape;
    sap_mesh_view view;
    sap_status status = sap_mesh_view_open(tree, &view);
    if (status != SAP_OK) return status;
    *info = (sap_mesh_tree_info){.triangles = s->triangles,
                                 .nodes = s->nodes - s->leaves,
                                 .leaves = s->leaves,
                                 .empty_leaves = s->empty_leaves,
                                 .references = s->references,
                                 .depth = s->depth,
                                 .largest_leaf = s->largest_leaf,
                                 .cost = sap_mesh_expected_cost(&view.tree),
                                 .bytes = s->bytes + SAP_ALIGNMENT,
                                 .structure_bytes =
                                     (size_t)s->nodes * sizeof(sap_mesh_node) + (size_t)s->listed * sizeof(int32_t),
                                 .mapped = tree->memory.mapping != NULL,
                                 .options = tree->options};
    sap_mesh_view_close(&view);
    memcpy(info->lower, s->lower, sizeof info->lower);
    memcpy(info->upper, s->upper, sizeof info->upper);
    return SAP_OK;
}
