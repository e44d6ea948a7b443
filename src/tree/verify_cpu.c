// The whole-structure check. It trusts nothing in the arrays: every value is checked before it becomes an index.
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "tree/balanced/accept.h"
#include "tree/explicit/build.h"
#include "tree/leaves.h"
#include "tree/periods.h"
#include <float.h>
#include <math.h>
#include <string.h>

// The first thing found wrong; what is NULL if nothing is.
typedef struct violation {
    const char* what;
    int64_t where;
} violation;

enum {
    TOP_DEPTH = 8,     // a balanced tree is checked as at most 2^TOP_DEPTH subtrees and what lies above them
    SUBTREE_DEPTH = 5, // of the subtrees, unless the tree is shallower
    PATIENCE = 8       // a subtree's points may be looked at so often where points tie at a plane: a lattice needs 5
};

#define SAP_SPECIAL_TEXT "tree/verify_leaf.h"
#include "math/specialise_real.h"
#define SAP_SPECIAL_TEXT "tree/balanced/verify.h"
#include "math/specialise_real.h"
#define SAP_SPECIAL_TEXT "tree/explicit/division.h"
#include "math/specialise_real.h"
#define SAP_SPECIAL_TEXT "tree/sliding/verify.h"
#include "math/specialise_real.h"
#if !defined(__EMSCRIPTEN__)
#define SAP_SPECIAL_TEXT "tree/vvh/verify.h"
#include "math/specialise_real.h"
#endif
#define SAP_SPECIAL_TEXT "tree/explicit/verify.h"
#include "math/specialise_real.h"

static sap_status malformed(const sap_tree* tree, const char* what) {
    return sap_fail(tree->device, SAP_ERROR_FORMAT, "tree: %s", what);
}

static const char* wrong_options(const sap_tree_options* o) {
    if (o->split < SAP_SPLIT_MEDIAN || o->split > SAP_SPLIT_VVH) return "unknown split rule";
    if (o->axis != SAP_AXIS_WIDEST && o->axis != SAP_AXIS_CYCLE) return "unknown axis rule";
    if (o->leaf_size < 1 || o->leaf_size > SAP_LEAF_MAX) return "leaf size out of range";
    return NULL;
}

static const char* wrong_counts(const sap_tree_options* o, const sap_tree_shape* s) {
    if (s->dims < 1 || s->dims > SAP_MAX_DIMS) return "number of dimensions out of range";
    if (s->real_bits != 32 && s->real_bits != 64) return "unknown precision";
    if (s->source_count < 0 || s->source_count > INT32_MAX) return "number of source points out of range";
    if (s->count < 0 || s->count > s->source_count) return "number of points out of range";
    if (s->not_finite < 0 || s->not_finite > s->source_count - s->count || (s->not_finite && !o->drop_nonfinite))
        return "number of points that are not finite out of range";
    const int64_t finite = s->source_count - s->not_finite;
    if (s->count != finite && !s->slice.whole && (!o->drop_duplicates || s->count == 0)) return "points are missing";
    return NULL;
}

static const char* wrong_explicit_sizes(const sap_tree_options* o, const sap_tree_shape* s) {
    if (s->leaves < 1 || s->leaves > (s->count ? s->count : 1)) return "number of leaves out of range";
    if (s->nodes != 2 * s->leaves - 1) return "number of nodes does not fit the number of leaves";
    if (s->slots < s->count || s->slots > 2 * s->count) return "number of slots out of range";
    if (s->depth < 0 || s->depth > SAP_MAX_DEPTH) return "depth out of range";
    if (s->capacity < 0 || (s->capacity > o->leaf_size && s->capacity > SAP_LEAF_MAX_EQUAL))
        return "capacity out of range";
    return NULL;
}

const char* sap_shape_derive(const sap_tree_options* options, const sap_tree_shape* claimed, sap_tree_shape* derived) {
    const char* wrong = wrong_options(options);
    if (!wrong) wrong = wrong_counts(options, claimed);
    if (!wrong && !sap_query_radius_fits(options, claimed->real_bits, claimed->dims))
        wrong = "query radius out of range";
    if (!wrong) wrong = sap_periods_wrong(options, claimed->dims, claimed->real_bits);
    if (wrong) return wrong;
    memset(derived, 0, sizeof *derived);
    derived->count = claimed->count;
    derived->source_count = claimed->source_count;
    derived->not_finite = claimed->not_finite;
    derived->slice = claimed->slice;
    derived->dims = claimed->dims;
    derived->real_bits = claimed->real_bits;
    bool fits;
    if (options->split == SAP_SPLIT_MEDIAN) {
        fits = sap_shape_balanced(derived, options->leaf_size);
    } else {
        wrong = wrong_explicit_sizes(options, claimed);
        if (wrong) return wrong;
        derived->nodes = claimed->nodes;
        derived->leaves = claimed->leaves;
        derived->slots = claimed->slots;
        derived->depth = claimed->depth;
        derived->capacity = claimed->capacity;
        fits = sap_shape_explicit(derived);
    }
    if (!fits) return "more bytes than can be addressed";
    bool same = derived->nodes == claimed->nodes && derived->leaves == claimed->leaves &&
                derived->slots == claimed->slots && derived->depth == claimed->depth &&
                derived->capacity == claimed->capacity && derived->bytes == claimed->bytes;
    return same ? NULL : "sizes do not follow from the number of points";
}

bool sap_shape_follows(const sap_tree_shape* a, const sap_tree_shape* b) {
    bool same = a->kind == b->kind && a->stride == b->stride && a->levels == b->levels && a->split_at == b->split_at &&
                a->axis_at == b->axis_at && a->node_at == b->node_at && a->node_min_id_at == b->node_min_id_at &&
                a->block_at == b->block_at;
    for (int32_t j = 0; same && j < b->levels; j++)
        same = a->level_depth[j] == b->level_depth[j] && a->box_at[j] == b->box_at[j] &&
               a->min_id_at[j] == b->min_id_at[j];
    return same;
}

static bool gaps_are_zero(const sap_tree* tree) {
    sap_gap gaps[SAP_MOST_ARRAYS];
    int32_t count = sap_shape_gaps(&tree->shape, gaps);
    unsigned char any = 0;
    for (int32_t i = 0; i < count; i++)
        for (size_t b = 0; b < gaps[i].bytes; b++) any |= tree->arrays[gaps[i].at + b];
    return !any;
}

// Sorts non-negative ids below `bound` by counting digits; *other is as large as *ids, and the two change places.
static void sort_ids(int32_t** ids, int32_t** other, int64_t count, int64_t bound) {
    enum { DIGIT = 11 };
    for (int64_t i = 0; i < count; i++) SAP_ASSERT((*ids)[i] >= 0 && (*ids)[i] < bound);
    for (int shift = 0; bound >> shift > 0; shift += DIGIT) {
        int64_t starts[(1 << DIGIT) + 1] = {0};
        for (int64_t i = 0; i < count; i++) starts[((*ids)[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
        for (int d = 0; d < 1 << DIGIT; d++) starts[d + 1] += starts[d];
        for (int64_t i = 0; i < count; i++) (*other)[starts[(*ids)[i] >> shift & ((1 << DIGIT) - 1)]++] = (*ids)[i];
        int32_t* swapped = *ids;
        *ids = *other;
        *other = swapped;
    }
}

// A bit for each point that there was; by sorting if that would take more memory than `other`, which goes by the points
// that there are: source_count is only claimed.
static violation repeated_id(const sap_tree* tree, int32_t* ids, int32_t* other) {
    if (tree->shape.source_count <= 32 * tree->shape.count) {
        uint32_t* seen = (uint32_t*)other;
        memset(seen, 0, (size_t)(tree->shape.source_count + 31) / 32 * sizeof *seen);
        for (int64_t i = 0; i < tree->shape.count; i++) {
            const uint32_t bit = 1u << ids[i] % 32;
            if (seen[ids[i] / 32] & bit) return (violation){"an id stands twice, id", ids[i]};
            seen[ids[i] / 32] |= bit;
        }
        return (violation){NULL, 0};
    }
    sort_ids(&ids, &other, tree->shape.count, tree->shape.source_count);
    for (int64_t i = 1; i < tree->shape.count; i++)
        if (ids[i] == ids[i - 1]) return (violation){"an id stands twice, id", ids[i]};
    return (violation){NULL, 0};
}

// A point that wrapping would move.
static violation unwrapped_point(const sap_tree* tree) {
    for (int64_t place = 0; tree->shape.count > 0 && place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t slot = 0; slot < leaf.count; slot++) {
            double point[SAP_MAX_DIMS], wrapped[SAP_MAX_DIMS];
            const size_t bytes = (size_t)tree->shape.dims * sap_real_bytes(&tree->shape);
            sap_leaf_point(tree, &leaf, slot, point);
            sap_periods_wrap(tree, point, wrapped);
            if (memcmp(point, wrapped, bytes) != 0)
                return (violation){"a point lies outside the periods, id", leaf.ids[slot]};
        }
    }
    return (violation){NULL, 0};
}

sap_status sap_tree_verify_cpu(const sap_tree* tree) {
    sap_tree_shape derived;
    const char* wrong = sap_shape_derive(&tree->options, &tree->shape, &derived);
    if (wrong) return malformed(tree, wrong);
    if (!sap_shape_follows(&tree->shape, &derived)) return malformed(tree, "offsets do not follow from the sizes");
    if (!gaps_are_zero(tree)) return malformed(tree, "bytes between two arrays are not zero");
    bool balanced = derived.kind == SAP_TREE_BALANCED, wide = tree->shape.real_bits == 64;
    size_t id_bytes = sap_align((size_t)tree->shape.count * sizeof(int32_t));
    size_t work = !balanced ? 0 : wide ? verify_bytes_f64(tree) : verify_bytes_f32(tree);
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(tree->device, 2 * id_bytes + work, &scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to check a tree of %lld points",
                        (long long)tree->shape.count);
    int32_t* ids = (int32_t*)(void*)scratch.memory;
    int32_t* other = (int32_t*)(void*)(scratch.memory + id_bytes);
    void* room = scratch.memory + 2 * id_bytes;
    violation v;
    if (balanced)
        v = wide ? verify_balanced_f64(tree, ids, room) : verify_balanced_f32(tree, ids, room);
    else
        v = wide ? verify_explicit_f64(tree, ids) : verify_explicit_f32(tree, ids);
    if (!v.what) v = repeated_id(tree, ids, other);
    if (!v.what && sap_is_periodic(&tree->options)) v = unwrapped_point(tree);
    sap_scratch_give(tree->device, &scratch);
    if (!v.what) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_FORMAT, "tree: %s %lld", v.what, (long long)v.where);
}
