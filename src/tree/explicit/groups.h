// Boxes over an explicit tree, sixteen together, as balanced trees have them: what the vector kernels of the CPU walk.
// They are not part of the tree's arrays but follow from them; a tree on a CPU has them beside it (sap_tree.beside).
//
// A group stands for a node. The node is opened into its two children, then whichever of the group's nodes has the most
// nodes below it, and so on until there are sixteen or all are leaves. Those that are no leaves have groups of their
// own: about one for a dozen leaves.
#ifndef SAPWOOD_TREE_EXPLICIT_GROUPS_H
#define SAPWOOD_TREE_EXPLICIT_GROUPS_H

#include "tree/layout.h"

typedef struct sap_groups {
    int64_t count;    // of groups; the first stands for the root
    void* boxes;      // per group: real lower[16], upper[16] for each axis; unused places: +infinity, -infinity
    int32_t* min_ids; // [count][16]: the smallest below each place; INT32_MAX where there is none
    uint32_t* next;   // [count][16]: a group, or where points[…] is above 0 a leaf's first slot
    int32_t* points;  // [count][16]: of a leaf; of a group below 0, minus those below it; 0: not used
    sap_scratch memory;
} sap_groups;

// The points of a place.
static inline int64_t sap_group_points(const sap_groups* groups, int64_t place) {
    const int64_t points = groups->points[place];
    return points < 0 ? -points : points;
}

// One set per instruction set and precision.
typedef struct sap_groups_kernels {
    // How many groups the tree has.
    int64_t (*count)(const sap_tree* tree);
    // Fills groups that have their arrays. corners: room for real[nodes][2][dims].
    void (*fill)(const sap_tree* tree, sap_groups* groups, void* corners);
} sap_groups_kernels;

// Gives an explicit tree on a CPU its groups, in place of those that it had. Without memory for them it has none, and
// searches go node by node. O(n).
void sap_groups_make(sap_tree* tree);
// Frees them.
void sap_groups_free(sap_tree* tree);

#endif
