// Going through a tree's points from one place, the nearest or the farthest first (nearest/query.h).
#ifndef SAPWOOD_NEAREST_NEXT_H
#define SAPWOOD_NEAREST_NEXT_H

#include "tree/layout.h"

// Nodes and points that wait, and where the walk stands. All zero has not begun.
typedef struct sap_next {
    double place[SAP_MAX_DIMS]; // of either precision
    double limit2;
    bool farthest;
    const unsigned char* arrays; // the tree's when the walk began, and its number of points; NULL: it has not begun
    int64_t count;
    void* entries; // a heap
    void* cells;   // of the nodes in it
    int64_t entry_count, entry_room, cell_room;
    int32_t free_cell; // the first of a list, or -1
    size_t entries_bytes, cells_bytes;
} sap_next;

typedef struct sap_next_functions {
    // Begins at place. False without memory.
    bool (*begin)(const sap_tree* tree, sap_next* next);
    // The next point: 1, 0 if there is none, -1 without memory.
    int32_t (*take)(const sap_tree* tree, sap_next* next, int32_t* id, void* distance2);
} sap_next_functions;

sap_next_functions sap_next_choose(const sap_tree_shape* shape);
void sap_next_free(const sap_device* device, sap_next* next);

#endif
