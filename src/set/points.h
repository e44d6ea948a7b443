// Points of a set where they lie, for one precision. Specialised text for C; it has no dimensions of its own.

#include "math/specialise.h"

// The first coordinate says whether there is a point. The thread beside reads it while points are removed.
static inline SAP_REAL SAP_TYPED(first_at)(const unsigned char* block, int64_t slot) {
    SAP_REAL x;
    __atomic_load((SAP_REAL*)(uintptr_t)block + slot, &x, __ATOMIC_RELAXED);
    return x;
}

static inline void SAP_TYPED(clear)(unsigned char* block, int64_t slot) {
    SAP_REAL nothing = (SAP_REAL)INFINITY;
    __atomic_store((SAP_REAL*)(void*)block + slot, &nothing, __ATOMIC_RELAXED);
}

static inline bool SAP_TYPED(remove)(unsigned char* block, int64_t slot) {
    if (SAP_TYPED(first_at)(block, slot) == (SAP_REAL)INFINITY) return false;
    SAP_TYPED(clear)(block, slot);
    return true;
}

static inline void SAP_TYPED(put_at)(SAP_REAL* coords, int64_t pitch, int64_t at, const SAP_REAL* point, int64_t step,
                                     int32_t dims) {
    for (int32_t axis = 0; axis < dims; axis++) coords[axis * pitch + at] = point[axis * step] + 0; // no minus zero
}

// ---- Merges

static int64_t SAP_TYPED(copy_level)(sap_set_source* s, int64_t until, const sap_set_merge* m, SAP_REAL* coords,
                                     int64_t pitch, int64_t at) {
    enum { AHEAD = 16, AXES_AHEAD = 4, SLOT = (1 << SAP_SET_PLACE_BITS) - 1 };
    const sap_set_level* level = s->level;
    const sap_set_row* rows = level->rows;
    const int64_t stride = level->tree.shape.stride;
    for (; s->at < s->end && rows[s->at].id < until; s->at++) {
        const uint32_t place = sap_set_place(rows + s->at);
        const uint32_t next = s->at + AHEAD < s->end ? sap_set_place(rows + s->at + AHEAD) : SAP_SET_GONE;
        if (next != SAP_SET_GONE) {
            const SAP_REAL* ahead =
                (const SAP_REAL*)(const void*)sap_set_leaf(level, next >> SAP_SET_PLACE_BITS) + (next & SLOT);
            for (int32_t axis = 0; axis < m->dims && axis < AXES_AHEAD; axis++)
                __builtin_prefetch(ahead + axis * stride);
        }
        if (place == SAP_SET_GONE) continue;
        const unsigned char* block = sap_set_leaf(level, place >> SAP_SET_PLACE_BITS);
        const SAP_REAL* point = (const SAP_REAL*)(const void*)block + (place & SLOT);
        const SAP_REAL first = SAP_TYPED(first_at)(block, place & SLOT);
        if (first == (SAP_REAL)INFINITY) continue;
        coords[at] = first;
        for (int32_t axis = 1; axis < m->dims; axis++) coords[axis * pitch + at] = point[axis * stride];
        m->rows[at++].id = rows[s->at].id;
    }
    return at;
}

static int64_t SAP_TYPED(copy_flat)(sap_set_source* s, int64_t until, const sap_set_merge* m, SAP_REAL* coords,
                                    int64_t pitch, int64_t at) {
    const SAP_REAL* block = (const SAP_REAL*)(const void*)s->flat->block;
    for (; s->at < s->end && s->flat->ids[s->at] < until; s->at++) {
        if (block[s->at] == (SAP_REAL)INFINITY) continue;
        SAP_TYPED(put_at)(coords, pitch, at, block + s->at, SAP_SET_FLAT, m->dims);
        m->rows[at++].id = s->flat->ids[s->at];
    }
    return at;
}

static int64_t SAP_TYPED(copy_batch)(sap_set_source* s, int64_t until, const sap_set_merge* m, SAP_REAL* coords,
                                     int64_t pitch, int64_t at) {
    const sap_set_batch* b = s->batch;
    for (; s->at < s->end && sap_set_batch_id(b, s->at) < until; s->at++) {
        const SAP_REAL* point = (const SAP_REAL*)b->rows.coords + sap_set_batch_row(b, s->at) * b->rows.stride;
        SAP_TYPED(put_at)(coords, pitch, at, point, 1, m->dims);
        m->rows[at++].id = sap_set_batch_id(b, s->at);
    }
    return at;
}

static int64_t SAP_TYPED(copy)(const sap_set_merge* m, sap_set_source* s, int64_t until, void* coords, int64_t pitch,
                               int64_t at) {
    if (s->level) return SAP_TYPED(copy_level)(s, until, m, coords, pitch, at);
    if (s->flat) return SAP_TYPED(copy_flat)(s, until, m, coords, pitch, at);
    return SAP_TYPED(copy_batch)(s, until, m, coords, pitch, at);
}

static int64_t SAP_TYPED(bad_row)(const sap_rows* rows) {
    const double most = sap_largest_coordinate(rows->real_bits, rows->dims);
    for (int64_t row = 0; row < rows->count; row++)
        for (int32_t axis = 0; axis < rows->dims; axis++)
            if (!(fabs((double)((const SAP_REAL*)rows->coords)[row * rows->stride + axis]) <= most)) return row;
    return -1;
}

// ---- The block of the newest points

// An id that came back goes before its removed entries: whoever looks for it takes the first.
static void SAP_TYPED(flat_put)(sap_set* set, const sap_set_batch* b) {
    SAP_REAL* coords = (SAP_REAL*)(void*)set->flat.block;
    for (int64_t i = 0; i < b->rows.count; i++) {
        const int32_t id = sap_set_batch_id(b, i);
        int32_t at = set->flat.count++;
        SAP_ASSERT(at < SAP_SET_FLAT);
        for (; at > 0 && set->flat.ids[at - 1] >= id; at--) {
            set->flat.ids[at] = set->flat.ids[at - 1];
            for (int32_t axis = 0; axis < set->dims; axis++)
                coords[axis * SAP_SET_FLAT + at] = coords[axis * SAP_SET_FLAT + at - 1];
        }
        set->flat.ids[at] = id;
        SAP_TYPED(put_at)
        (coords, SAP_SET_FLAT, at, (const SAP_REAL*)b->rows.coords + sap_set_batch_row(b, i) * b->rows.stride, 1,
         set->dims);
    }
}

static void SAP_TYPED(flat_pack)(sap_set* set) {
    SAP_REAL* coords = (SAP_REAL*)(void*)set->flat.block;
    int32_t kept = 0;
    for (int32_t i = 0; i < set->flat.count; i++) {
        if (coords[i] == (SAP_REAL)INFINITY) continue;
        for (int32_t axis = 0; axis < set->dims; axis++)
            coords[axis * SAP_SET_FLAT + kept] = coords[axis * SAP_SET_FLAT + i];
        set->flat.ids[kept++] = set->flat.ids[i];
    }
    SAP_ASSERT(kept == set->flat.live);
    for (int32_t i = kept; i < set->flat.count; i++) coords[i] = (SAP_REAL)INFINITY;
    set->flat.count = kept;
}

static int64_t SAP_TYPED(flat_hits)(const sap_set* set, const SAP_REAL* query, double limit2, int32_t* ids,
                                    SAP_REAL* distance2) {
    const SAP_REAL* coords = (const SAP_REAL*)(const void*)set->flat.block;
    int64_t hits = 0;
    for (int32_t axis = 0; axis < set->dims; axis++)
        if (!isfinite(query[axis])) return 0;
    for (int32_t i = 0; i < set->flat.count; i++) {
        SAP_REAL sum = 0;
        for (int32_t axis = 0; axis < set->dims; axis++) {
            const SAP_REAL offset = query[axis] - coords[axis * SAP_SET_FLAT + i], square = offset * offset;
            sum = axis ? sum + square : square;
        }
        if (!(sum <= (SAP_REAL)limit2)) continue;
        if (ids) ids[hits] = set->flat.ids[i];
        if (distance2) distance2[hits] = sum;
        hits++;
    }
    return hits;
}

// ---- Boxes

// Where points of a box from lower to upper (`step` reals between axes) are seen from another: all inside, none, or
// perhaps some.
typedef enum SAP_TYPED(side) { SAP_TYPED(INSIDE), SAP_TYPED(OUTSIDE), SAP_TYPED(ACROSS) } SAP_TYPED(side);

static SAP_TYPED(side) SAP_TYPED(side_of)(const sap_set_box* box, const SAP_REAL* lower, const SAP_REAL* upper,
                                          int64_t step, int32_t dims) {
    bool inside = true;
    for (int32_t axis = 0; axis < dims; axis++) {
        const double low = (double)lower[axis * step], high = (double)upper[axis * step];
        if (high < box->lower[axis] || low > box->upper[axis]) return SAP_TYPED(OUTSIDE);
        inside = inside && box->lower[axis] <= low && high <= box->upper[axis];
    }
    return inside ? SAP_TYPED(INSIDE) : SAP_TYPED(ACROSS);
}

// Removes the points that a box takes away from the slots of a block.
static int64_t SAP_TYPED(trim_block)(unsigned char* block, int64_t stride, int64_t count, const sap_set_box* box,
                                     int32_t dims) {
    const SAP_REAL* coords = (const SAP_REAL*)(const void*)block;
    int64_t removed = 0;
    for (int64_t i = 0; i < count; i++) {
        if (coords[i] == (SAP_REAL)INFINITY) continue;
        const bool inside = SAP_TYPED(side_of)(box, coords + i, coords + i, stride, dims) == SAP_TYPED(INSIDE);
        if (inside == box->cuts) removed += SAP_TYPED(remove)(block, i);
    }
    return removed;
}

static int64_t SAP_TYPED(clear_leaves)(const sap_set_level* level, int64_t from, int64_t to) {
    const sap_tree_shape* s = &level->tree.shape;
    int64_t removed = 0;
    for (int64_t leaf = from; leaf < to; leaf++) {
        unsigned char* block = sap_set_leaf(level, leaf);
        const int64_t count = sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
        for (int64_t i = 0; i < count; i++) removed += SAP_TYPED(remove)(block, i);
    }
    return removed;
}

typedef struct SAP_TYPED(group) {
    int32_t level;
    int64_t index;
} SAP_TYPED(group);

static int64_t SAP_TYPED(trim_level)(const sap_set_level* level, const sap_set_box* box) {
    const sap_tree_shape* s = &level->tree.shape;
    SAP_TYPED(group) waiting[SAP_MAX_LEVELS * SAP_GROUP] = {{0, 0}};
    int64_t removed = 0;
    for (int32_t size = 1; size > 0;) {
        const SAP_TYPED(group) at = waiting[--size];
        const int32_t below = s->depth - s->level_depth[at.level];
        SAP_REAL* boxes =
            (SAP_REAL*)(void*)(level->tree.arrays + s->box_at[at.level]) + at.index * s->dims * 2 * SAP_GROUP;
        for (int32_t i = 0; i < SAP_GROUP; i++) {
            SAP_REAL *lower = boxes + i, *upper = lower + SAP_GROUP;
            const int64_t node = at.index * SAP_GROUP + i;
            if (!(*lower <= *upper)) continue; // nothing there, or not any more
            const SAP_TYPED(side) side = SAP_TYPED(side_of)(box, lower, upper, 2 * SAP_GROUP, s->dims);
            if (side == (box->cuts ? SAP_TYPED(INSIDE) : SAP_TYPED(OUTSIDE))) {
                removed += SAP_TYPED(clear_leaves)(level, node << below, (node + 1) << below);
                *lower = (SAP_REAL)INFINITY;
                *upper = -(SAP_REAL)INFINITY;
            } else if (side == SAP_TYPED(ACROSS) && below > 0) {
                SAP_ASSERT(size < SAP_MAX_LEVELS * SAP_GROUP);
                waiting[size++] = (SAP_TYPED(group)){at.level + 1, node};
            } else if (side == SAP_TYPED(ACROSS)) {
                const int64_t count = sap_leaf_rank(s, node + 1) - sap_leaf_rank(s, node);
                removed += SAP_TYPED(trim_block)(sap_set_leaf(level, node), s->stride, count, box, s->dims);
            }
        }
    }
    return removed;
}
