// A point is added to a sample: distances to it are looked at only in nodes that it may be nearer to than all before it.
// A bound that equals the greatest distance below a node changes nothing there.
#include "cloud/farthest.h"
#include "pairs/boxed_simd.h"

INLINE void take_greatest(sap_farthest* f, uint32_t node, real greatest, int32_t id, uint32_t leaf) {
    ((real*)f->greatest)[node] = greatest;
    f->ids[node] = id;
    f->leaves[node] = leaf;
}

INLINE void look_at_leaf(sap_farthest* f, uint32_t leaf) {
    const sap_boxed_node* node = &f->boxed->nodes[leaf];
    const real* distance2 = (const real*)f->distance2 + node->slot;
    const int32_t* ids = sap_boxed_ids(f->boxed, leaf);
    int32_t farthest = 0;
    if (node->count == 0) { // a leaf of a small tree may be empty
        take_greatest(f, leaf, -1, INT32_MAX, leaf);
        return;
    }
    for (int32_t i = 1; i < node->count; i++) // ids ascend
        if (distance2[i] > distance2[farthest]) farthest = i;
    take_greatest(f, leaf, distance2[farthest], ids[farthest], leaf);
}

INLINE void look_at_children(sap_farthest* f, uint32_t node) {
    const real* greatest = f->greatest;
    const uint32_t a = node + 1, b = f->boxed->nodes[node].upper;
    const bool is_a = greatest[a] > greatest[b] || (greatest[a] == greatest[b] && f->ids[a] < f->ids[b]);
    const uint32_t better = is_a ? a : b;
    take_greatest(f, node, greatest[better], f->ids[better], f->leaves[better]);
}

static void begin(sap_farthest* f) {
    real* distance2 = f->distance2;
    const int64_t slots = f->boxed->tree->shape.slots + SAP_BOXED_SPARE;
    for (int64_t i = 0; i < slots; i++) distance2[i] = (real)INFINITY;
    for (uint32_t node = f->boxed->count; node-- > 0;)
        if (sap_boxed_is_leaf(f->boxed, node))
            look_at_leaf(f, node);
        else
            look_at_children(f, node);
}

INLINE void measure_leaf(sap_farthest* f, const int dims, uint32_t leaf, const vreal* q) {
    const sap_boxed_node* node = &f->boxed->nodes[leaf];
    const real* coords = sap_boxed_coords(f->boxed, leaf);
    real* distance2 = (real*)f->distance2 + node->slot;
    for (int32_t i = 0; i < node->count; i += LANES) {
        vreal d = v_sub(q[0], v_load(coords + i)), sum = v_mul(d, d);
        for (int a = 1; a < dims; a++) {
            d = v_sub(q[a], v_load(coords + (int64_t)a * node->stride + i));
            sum = v_add(sum, v_mul(d, d));
        }
        const vreal before = v_load(distance2 + i);
        v_store(distance2 + i, v_select(lanes_below(node->count - i), v_min(sum, before), before));
    }
    look_at_leaf(f, leaf);
}

static const real open_axes[1]; // there are no periods to be looked at

INLINE void add_with(sap_farthest* f, const int dims, uint32_t leaf, int32_t id) {
    const sap_boxed* boxed = f->boxed;
    const sap_boxed_node* own = &boxed->nodes[leaf];
    const real* coords = sap_boxed_coords(boxed, leaf);
    const int32_t* ids = sap_boxed_ids(boxed, leaf);
    real corners[2 * SAP_MAX_DIMS];
    vreal q[QUERY_VECTORS];
    uint32_t waiting[SAP_MAX_DEPTH + 1];
    int64_t visited = 0;
    int count = 1;
    int32_t slot = 0;
    while (ids[slot] != id) slot++;
    SAP_ASSERT(slot < own->count);
    int a = 0;
    do { // a tree has an axis at least, which compilers do not know
        corners[a] = corners[dims + a] = coords[(int64_t)a * own->stride + slot];
    } while (++a < dims);
    load_query(corners, dims, q);
    ((real*)f->distance2)[own->slot + slot] = -1;
    waiting[0] = 0;
    while (count > 0) {
        const uint32_t node = waiting[--count];
        // The way to the point's own leaf is gone in any case: its distance has changed.
        const bool is_own = node <= leaf && f->leaves[node] == leaf && f->ids[node] == id;
        if (!is_own &&
            boxes_nearest2(corners, box_of(boxed, dims, node), dims, open_axes) >= ((real*)f->greatest)[node])
            continue;
        if (sap_boxed_is_leaf(boxed, node)) {
            measure_leaf(f, dims, node, q);
            continue;
        }
        f->visited[visited++] = node;
        SAP_ASSERT(count + 2 <= SAP_MAX_DEPTH + 1);
        waiting[count++] = boxed->nodes[node].upper;
        waiting[count++] = node + 1;
    }
    while (visited > 0) look_at_children(f, f->visited[--visited]); // children stand behind their parents
}

static void add(sap_farthest* f, uint32_t leaf, int32_t id) {
    switch (f->boxed->tree->shape.dims) {
    case 2: add_with(f, 2, leaf, id); break;
    case 3: add_with(f, 3, leaf, id); break;
    default: add_with(f, f->boxed->tree->shape.dims, leaf, id);
    }
}

const sap_farthest_kernels SAP_KERNEL(farthest_kernels) = {begin, add};
