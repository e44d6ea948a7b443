// Going through points for one precision and number of axes: best-first search (Hjaltason and Samet 1999). Specialised
// text for C.
//
// Nodes and points wait in one heap, ordered by (key, id): the key of a point is its distance, negative where the
// farthest comes first; no point of a node has a smaller key than it, and none a smaller id. So the least of the heap
// is the next point, or the only node that may hold it. The smallest id of a node is looked up where keys are equal.

#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#include "tree/access.h"

#include "tree/leaf.h"

typedef struct SAP_SPECIAL(next_entry) {
    SAP_REAL key;
    int32_t id, cell; // cell of a node; -1: a point
} SAP_SPECIAL(next_entry);

typedef struct SAP_SPECIAL(next_cell) {
    sap_box box;
    SAP_BITS node;
    int32_t slot; // of a leaf of equal points: the first that has not come yet; -1: a node
    int32_t free; // the next free one
} SAP_SPECIAL(next_cell);

static inline bool SAP_SPECIAL(next_before)(SAP_SPECIAL(next_entry) a, SAP_SPECIAL(next_entry) b) {
    return a.key < b.key || (a.key == b.key && a.id < b.id);
}

static void SAP_SPECIAL(next_push)(sap_next* next, SAP_SPECIAL(next_entry) entry) {
    SAP_SPECIAL(next_entry)* heap = next->entries;
    int64_t at = next->entry_count++;
    SAP_ASSERT(at < next->entry_room);
    for (; at > 0 && SAP_SPECIAL(next_before)(entry, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
}

static SAP_SPECIAL(next_entry) SAP_SPECIAL(next_pop)(sap_next* next) {
    SAP_SPECIAL(next_entry)* heap = next->entries;
    const SAP_SPECIAL(next_entry) first = heap[0], last = heap[--next->entry_count];
    int64_t at = 0;
    for (int64_t child = 1; child < next->entry_count; child = 2 * at + 1) {
        child += child + 1 < next->entry_count && SAP_SPECIAL(next_before)(heap[child + 1], heap[child]);
        if (!SAP_SPECIAL(next_before)(heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

// Of a node whose smallest id is not known yet: it comes before the points at its distance.
static SAP_SPECIAL(next_entry) SAP_SPECIAL(next_of)(const sap_next* next, sap_box box, sap_point place) {
    const SAP_REAL key = next->farthest ? -sap_box_farthest2(box, place) : sap_box_nearest2(box, place);
    return (SAP_SPECIAL(next_entry)){key, -1, -1};
}

// Lets a node wait; there is room for it.
static void SAP_SPECIAL(next_wait)(sap_next* next, SAP_SPECIAL(next_entry) entry, SAP_BITS node, sap_box box) {
    SAP_SPECIAL(next_cell)* cells = next->cells;
    entry.cell = next->free_cell;
    SAP_ASSERT(entry.cell >= 0 && entry.cell < next->cell_room);
    next->free_cell = cells[entry.cell].free;
    cells[entry.cell].box = box;
    cells[entry.cell].node = node;
    cells[entry.cell].slot = -1;
    SAP_SPECIAL(next_push)(next, entry);
}

// Lets the points of a leaf wait; of equal ones, whose ids ascend, the first one for all.
static void SAP_SPECIAL(next_leaf)(const sap_tree* tree, sap_next* next, SAP_BITS node, sap_box box, sap_point place) {
    const sap_leaf leaf = sap_leaf_at(tree, node);
    for (int slot = 0; slot < (leaf.is_equal ? 1 : leaf.count); slot++) {
        const SAP_REAL distance2 = sap_leaf_distance2(tree, leaf, slot, place);
        if (!(distance2 <= (SAP_REAL)next->limit2)) continue;
        const SAP_SPECIAL(next_entry)
            entry = {next->farthest ? -distance2 : distance2, sap_leaf_id(tree, leaf, slot), -1};
        if (!leaf.is_equal) {
            SAP_SPECIAL(next_push)(next, entry);
            continue;
        }
        const int32_t cell = next->free_cell;
        SAP_SPECIAL(next_wait)(next, entry, node, box);
        ((SAP_SPECIAL(next_cell)*)next->cells)[cell].slot = 0;
    }
}

// Room for `more` entries, and for a cell on each level of the tree. What waits stays.
static bool SAP_SPECIAL(next_reserve)(const sap_tree* tree, sap_next* next, int64_t more) {
    const sap_device* device = tree->device;
    const int64_t entries = next->entry_count + more, cells = next->cell_room;
    int64_t free_cells = 0;
    for (int32_t at = next->free_cell; at >= 0 && free_cells <= tree->shape.depth;
         at = ((const SAP_SPECIAL(next_cell)*)next->cells)[at].free)
        free_cells++;
    if (free_cells <= tree->shape.depth) {
        const int64_t room = 2 * cells + tree->shape.depth + 2;
        if (room > INT32_MAX ||
            !sap_next_grow(device, &next->cells, &next->cells_bytes, (size_t)room * sizeof(SAP_SPECIAL(next_cell))))
            return false;
        SAP_SPECIAL(next_cell)* all = next->cells;
        for (int64_t i = cells; i < room; i++) all[i].free = i + 1 < room ? (int32_t)(i + 1) : next->free_cell;
        next->free_cell = (int32_t)cells;
        next->cell_room = room;
    }
    if (entries <= next->entry_room) return true;
    const int64_t room = 2 * next->entry_room > entries ? 2 * next->entry_room : entries;
    if (!sap_next_grow(device, &next->entries, &next->entries_bytes, (size_t)room * sizeof(SAP_SPECIAL(next_entry))))
        return false;
    next->entry_room = room;
    return true;
}

// Goes down from a node to the leaf that comes first; what comes later waits.
static bool SAP_SPECIAL(next_expand)(const sap_tree* tree, sap_next* next, SAP_BITS node, sap_box box,
                                     sap_point place) {
    const int64_t most = tree->shape.capacity > 0 ? tree->shape.capacity : tree->options.leaf_size;
    if (!SAP_SPECIAL(next_reserve)(tree, next, tree->shape.depth + most + 1)) return false;
    sap_inner inner = sap_inner_at(tree, node);
    while (!inner.is_leaf) {
        sap_box lower = box, upper = box;
        lower.upper.at[inner.axis] = upper.lower.at[inner.axis] = inner.split;
        SAP_SPECIAL(next_entry)
        below = SAP_SPECIAL(next_of)(next, lower, place), above = SAP_SPECIAL(next_of)(next, upper, place);
        if (below.key == above.key) {
            below.id = sap_smallest_id(tree, inner.lower);
            above.id = sap_smallest_id(tree, inner.upper);
        }
        const bool is_lower = SAP_SPECIAL(next_before)(below, above);
        SAP_SPECIAL(next_wait)
        (next, is_lower ? above : below, is_lower ? inner.upper : inner.lower, is_lower ? upper : lower);
        node = is_lower ? inner.lower : inner.upper;
        box = is_lower ? lower : upper;
        inner = sap_inner_at(tree, node);
    }
    SAP_SPECIAL(next_leaf)(tree, next, node, box, place);
    return true;
}

static sap_point SAP_SPECIAL(next_point)(const sap_tree* tree, const double* at) {
    sap_point point = sap_point_of(0.0f);
    for (int axis = 0; axis < SAP_DIMS; axis++) point.at[axis] = (SAP_REAL)at[axis];
    (void)tree;
    return point;
}

// The bounds of all points: of the tree's first boxes, without which the farthest points take longer to find.
static sap_box SAP_SPECIAL(next_bounds)(const sap_tree* tree) {
    const sap_groups* groups = tree->shape.kind == SAP_TREE_EXPLICIT ? tree->beside : NULL;
    const void* first = tree->shape.kind == SAP_TREE_BALANCED ? tree->arrays + tree->shape.box_at[0]
                        : groups                              ? groups->boxes
                                                              : NULL;
    const SAP_REAL* boxes = first;
    sap_box all = sap_box_everything(SAP_DIMS);
    for (int axis = 0; axis < SAP_DIMS && boxes; axis++, boxes += 2 * SAP_GROUP) {
        SAP_REAL lower = boxes[0], upper = boxes[SAP_GROUP];
        for (int i = 1; i < SAP_GROUP; i++) {
            lower = boxes[i] < lower ? boxes[i] : lower;
            upper = boxes[SAP_GROUP + i] > upper ? boxes[SAP_GROUP + i] : upper;
        }
        all.lower.at[axis] = lower;
        all.upper.at[axis] = upper;
    }
    return all;
}

static bool SAP_SPECIAL(next_begin)(const sap_tree* tree, sap_next* next) {
    const sap_point place = SAP_SPECIAL(next_point)(tree, next->place);
    next->entry_count = 0;
    SAP_SPECIAL(next_cell)* cells = next->cells;
    for (int64_t i = 0; i < next->cell_room; i++) cells[i].free = i + 1 < next->cell_room ? (int32_t)(i + 1) : -1;
    next->free_cell = next->cell_room ? 0 : -1;
    if (next->count == 0 || !sap_point_finite(place)) return true;
    return SAP_SPECIAL(next_expand)(tree, next, SAP_ROOT, SAP_SPECIAL(next_bounds)(tree), place);
}

static void SAP_SPECIAL(next_free)(sap_next* next, int32_t cell) {
    ((SAP_SPECIAL(next_cell)*)next->cells)[cell].free = next->free_cell;
    next->free_cell = cell;
}

// After a point of a leaf of equal ones: the next of them waits in its place.
static void SAP_SPECIAL(next_equal)(const sap_tree* tree, sap_next* next, SAP_SPECIAL(next_entry) entry) {
    SAP_SPECIAL(next_cell)* cell = (SAP_SPECIAL(next_cell)*)next->cells + entry.cell;
    const sap_leaf leaf = sap_leaf_at(tree, cell->node);
    if (++cell->slot == leaf.count) {
        SAP_SPECIAL(next_free)(next, entry.cell);
        return;
    }
    entry.id = sap_leaf_id(tree, leaf, cell->slot);
    SAP_SPECIAL(next_push)(next, entry);
}

static int32_t SAP_SPECIAL(next_take)(const sap_tree* tree, sap_next* next, int32_t* id, void* distance2) {
    const sap_point place = SAP_SPECIAL(next_point)(tree, next->place);
    while (next->entry_count > 0) {
        const SAP_SPECIAL(next_entry) first = ((const SAP_SPECIAL(next_entry)*)next->entries)[0];
        SAP_SPECIAL(next_cell)* cell = (SAP_SPECIAL(next_cell)*)next->cells + (first.cell < 0 ? 0 : first.cell);
        const bool is_point = first.cell < 0 || cell->slot >= 0;
        if (!is_point && !next->farthest && !(first.key <= (SAP_REAL)next->limit2)) return 0; // so is all that waits
        SAP_SPECIAL(next_pop)(next);
        if (is_point) {
            *id = first.id;
            if (distance2) *(SAP_REAL*)distance2 = next->farthest ? -first.key : first.key;
            if (first.cell >= 0) SAP_SPECIAL(next_equal)(tree, next, first);
            return 1;
        }
        if (first.id < 0 && next->entry_count > 0 &&
            ((const SAP_SPECIAL(next_entry)*)next->entries)[0].key == first.key) {
            SAP_SPECIAL(next_push)
            (next, (SAP_SPECIAL(next_entry)){first.key, sap_smallest_id(tree, cell->node), first.cell});
            continue;
        }
        const SAP_SPECIAL(next_cell) popped = *cell;
        SAP_SPECIAL(next_free)(next, first.cell);
        if (!SAP_SPECIAL(next_expand)(tree, next, popped.node, popped.box, place)) return -1;
    }
    return 0;
}
