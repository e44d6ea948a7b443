// Writing a subtree to a thread's staging memory, in preorder.
#ifndef SAPWOOD_MESH_SMALL_STAGE_SIMD_H
#define SAPWOOD_MESH_SMALL_STAGE_SIMD_H

#include "mesh/build.h"
#include <string.h>

enum { NO_PARENT = -1 };

// Called before a node is written. A right child is written when its left sibling's subtree is complete: now its
// place is entered in its parent's link.
INLINE void arrive(sap_mesh_staging* staging, int64_t parent) {
    SAP_ASSERT(parent < staging->node_count);
    SAP_ASSERT(parent == NO_PARENT || staging->nodes[parent].link < SAP_MESH_LEAF); // not told yet
    if (parent != NO_PARENT) staging->nodes[parent].link |= (uint32_t)staging->node_count << 2;
}

INLINE int64_t put_inner(sap_mesh_staging* staging, int axis, float plane) {
    SAP_ASSERT(axis >= 0 && axis < 3);
    sap_mesh_node* node = &staging->nodes[staging->node_count];
    memcpy(&node->bits, &plane, sizeof plane);
    node->link = (uint32_t)axis;
    return staging->node_count++;
}

// The caller fills in the references at the returned place.
INLINE int32_t* put_leaf(sap_mesh_staging* staging, int64_t count, int32_t depth) {
    sap_mesh_leaves_add(&staging->leaves, count, depth);
    staging->nodes[staging->node_count++] =
        (sap_mesh_node){(uint32_t)staging->reference_count, (uint32_t)count << 2 | SAP_MESH_LEAF};
    int32_t* place = staging->references + staging->reference_count;
    staging->reference_count += count;
    return place;
}

#endif
