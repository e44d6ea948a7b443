// How a node of an explicit tree divides its points, by one thread or by all of them.
#include "base/assert.h"
#include "base/team.h"
#include "tree/explicit/build.h"

typedef union box_values {
    float f32[SAP_MAX_DIMS];
    double f64[SAP_MAX_DIMS];
} box_values;

int sap_explicit_chunks(const sap_explicit_build* b, const sap_explicit_cell* at) {
    int64_t chunks = (at->end - at->begin) / SAP_CHUNK_POINTS + 1,
            most = b->parts.threads > 1 ? 4 * (int64_t)b->parts.threads : 1;
    if (most > SAP_MOST_CHUNKS) most = SAP_MOST_CHUNKS;
    return (int)(chunks < most ? chunks : most);
}

static int chunks_of(const sap_explicit_build* b, const sap_explicit_cell* at, bool together) {
    SAP_ASSERT(at->begin <= at->end && at->end <= b->count);
    return together ? sap_explicit_chunks(b, at) : 1;
}

// A node as the kernels of the balanced builder take it.
static sap_build_node kernel_node(const sap_explicit_cell* at, int32_t axis) {
    return (sap_build_node){.depth = at->depth, .buffer = at->buffer, .low = at->begin, .high = at->end, .axis = axis};
}

// A node that all threads divide, a chunk of its points at a time.
typedef struct division {
    const sap_explicit_build* build;
    const sap_explicit_cell* at;
    int chunks;
    sap_build_node node;
    const sap_pivot* pivot;
    int64_t middle;                                         // where the greater points go
    box_values low[SAP_MOST_CHUNKS], high[SAP_MOST_CHUNKS]; // of each chunk
    int64_t less[SAP_MOST_CHUNKS + 1]; // than the pivot: of chunk i - 1, then where those of chunk i go
} division;

static void extent_chunk(void* context, int64_t i, int32_t worker) {
    division* d = context;
    const sap_explicit_build* b = d->build;
    (void)worker;
    b->kernels->extent(&b->build, d->at->buffer, sap_explicit_chunk(d->at, (int)i, d->chunks),
                       sap_explicit_chunk(d->at, (int)i + 1, d->chunks), &d->low[i], &d->high[i]);
}

static void count_chunk(void* context, int64_t i, int32_t worker) {
    division* d = context;
    const sap_explicit_build* b = d->build;
    (void)worker;
    d->less[i + 1] =
        b->kernels->count_smaller(&b->build, &d->node, d->pivot, sap_explicit_chunk(d->at, (int)i, d->chunks),
                                  sap_explicit_chunk(d->at, (int)i + 1, d->chunks));
}

static void partition_chunk(void* context, int64_t i, int32_t worker) {
    const division* d = context;
    const sap_explicit_build* b = d->build;
    const int64_t from = sap_explicit_chunk(d->at, (int)i, d->chunks),
                  to = sap_explicit_chunk(d->at, (int)i + 1, d->chunks), *less = d->less;
    const int64_t greater = d->middle + (from - d->at->begin) - (less[i] - d->at->begin);
    (void)worker;
    b->kernels->partition(&b->build, &d->node, d->pivot, from, to, less[i], less[i + 1], greater,
                          greater + (to - from) - (less[i + 1] - less[i]));
}

void sap_explicit_extent(const sap_explicit_build* b, const sap_explicit_cell* at, bool together, double* lower,
                         double* upper) {
    division d;
    d.build = b;
    d.at = at;
    d.chunks = chunks_of(b, at, together);
    sap_team_run(together ? b->parts.threads : 1, d.chunks, extent_chunk, &d);
    for (int32_t a = 0; a < b->parts.dims; a++) {
        lower[a] = (double)INFINITY;
        upper[a] = -(double)INFINITY;
        for (int i = 0; i < d.chunks; i++) {
            double least = b->parts.real_bits == 32 ? (double)d.low[i].f32[a] : d.low[i].f64[a];
            double most = b->parts.real_bits == 32 ? (double)d.high[i].f32[a] : d.high[i].f64[a];
            if (least < lower[a]) lower[a] = least;
            if (most > upper[a]) upper[a] = most;
        }
    }
}

static int64_t count_smaller(const sap_explicit_build* b, const sap_explicit_cell* at, bool together, int32_t axis,
                             const sap_pivot* pivot) {
    sap_build_node node = kernel_node(at, axis);
    int chunks = chunks_of(b, at, together);
    if (chunks == 1) return b->kernels->count_smaller(&b->build, &node, pivot, at->begin, at->end);
    division d;
    d.build = b;
    d.at = at;
    d.chunks = chunks;
    d.node = node;
    d.pivot = pivot;
    sap_team_run(b->parts.threads, chunks, count_chunk, &d);
    int64_t count = 0;
    for (int i = 0; i < chunks; i++) count += d.less[i + 1];
    return count;
}

static void partition(const sap_explicit_build* b, const sap_explicit_cell* at, bool together,
                      const sap_explicit_plane* plane) {
    sap_build_node node = kernel_node(at, plane->axis);
    int64_t middle = at->begin + plane->left_count;
    int chunks = chunks_of(b, at, together);
    if (chunks == 1) {
        b->kernels->partition(&b->build, &node, &plane->pivot, at->begin, at->end, at->begin, middle, middle, at->end);
        return;
    }
    division d;
    d.build = b;
    d.at = at;
    d.chunks = chunks;
    d.node = node;
    d.pivot = &plane->pivot;
    d.middle = middle;
    sap_team_run(b->parts.threads, chunks, count_chunk, &d);
    d.less[0] = at->begin;
    for (int i = 0; i < chunks; i++) d.less[i + 1] += d.less[i];
    SAP_ASSERT(d.less[chunks] == middle);
    sap_team_run(b->parts.threads, chunks, partition_chunk, &d);
}

// ---- The rule

// As sap_sliding_axis.
static int32_t choose_axis(const sap_explicit_build* b, const sap_explicit_cell* at) {
    return sap_sliding_axis(&b->parts.tree->options, b->parts.dims, b->parts.real_bits, at->depth, at->lower,
                            at->upper);
}

// Divides points that are all equal, which lie in the order of their ids: nothing moves.
static sap_explicit_plane halve_equal(const sap_explicit_build* b, const sap_explicit_cell* at) {
    sap_build_node node = kernel_node(at, 0);
    node.equal = true;
    const sap_pivot pivot = b->kernels->find_pivot(&b->build, &node);
    return (sap_explicit_plane){.pivot = pivot, .split = pivot.value[0], .left_count = (at->end - at->begin) / 2};
}

static sap_explicit_plane plane_at(const sap_explicit_build* b, const sap_explicit_cell* at, bool together,
                                   int32_t axis, double split) {
    sap_explicit_plane plane = {.pivot = {.value = {split}, .components = 1}, .split = split, .axis = axis};
    plane.left_count = count_smaller(b, at, together, axis, &plane.pivot);
    return plane;
}

// The median in the total order.
static sap_explicit_plane plane_at_median(const sap_explicit_build* b, const sap_explicit_cell* at, int32_t axis) {
    sap_build_node node = kernel_node(at, axis);
    sap_explicit_plane plane = {.axis = axis, .left_count = (at->end - at->begin) / 2};
    node.middle = at->begin + plane.left_count;
    plane.pivot = b->kernels->find_pivot(&b->build, &node);
    plane.split = plane.pivot.value[0];
    return plane;
}

static sap_explicit_plane choose_sliding(const sap_explicit_build* b, sap_explicit_cell* at, bool together) {
    int32_t axis = choose_axis(b, at);
    if (axis < 0) return halve_equal(b, at);
    bool by_rank = at->depth >= b->halving_depth;
    if (!by_rank) {
        double middle = sap_sliding_middle(b->parts.real_bits, at->lower[axis], at->upper[axis]);
        sap_explicit_plane plane = plane_at(b, at, together, axis, middle);
        if (plane.left_count > 0 && plane.left_count < at->end - at->begin) return plane;
    }
    // One side of the middle is empty, or nodes this deep are halved: the tight box decides.
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    sap_explicit_extent(b, at, together, lower, upper);
    for (int32_t a = 0; a < b->parts.dims; a++)
        if (lower[a] == upper[a]) at->lower[a] = at->upper[a] = lower[a];
    axis = choose_axis(b, at);
    if (axis < 0) return halve_equal(b, at);
    if (by_rank) return plane_at_median(b, at, axis);
    double middle = sap_sliding_middle(b->parts.real_bits, at->lower[axis], at->upper[axis]);
    double split = sap_sliding_slid(b->parts.real_bits, middle, lower[axis], upper[axis]);
    return plane_at(b, at, together, axis, split);
}

#if !defined(__EMSCRIPTEN__) // where code is downloaded, such trees are searched only
// The candidate of tree/explicit/vvh_rule.h with the greatest gain.
static sap_explicit_plane choose_vvh(const sap_explicit_build* b, sap_explicit_cell* at, bool together) {
    const sap_tree_options* o = &b->parts.tree->options;
    const int32_t dims = b->parts.dims, bits = b->parts.real_bits;
    const int64_t count = at->end - at->begin;
    double *lower = at->lower, *upper = at->upper, best = -1;
    int32_t first = -1; // along which the points differ
    sap_explicit_plane chosen = {.axis = -1};
    sap_explicit_extent(b, at, together, lower, upper);
    const int32_t widest = choose_axis(b, at);
    if (widest < 0) return halve_equal(b, at);
    if (at->depth >= b->halving_depth) return plane_at_median(b, at, widest);
    for (int32_t i = 0; i < dims; i++) {
        const int32_t a = o->axis == SAP_AXIS_CYCLE ? (at->depth + i) % dims : i;
        if (!(lower[a] < upper[a])) continue;
        if (first < 0) first = a;
        if (o->axis == SAP_AXIS_CYCLE && a != first) break;
        for (int32_t c = 1; c < SAP_VVH_PARTS; c++) {
            const double split = sap_sliding_rounded(bits, sap_vvh_candidate(lower[a], upper[a], c));
            if (!sap_vvh_divides(lower[a], upper[a], split)) continue;
            const sap_explicit_plane plane = plane_at(b, at, together, a, split);
            const double gain =
                sap_vvh_gain(o->query_radius, lower[a], upper[a], split, plane.left_count, count - plane.left_count);
            if (!(gain > best)) continue;
            best = gain;
            chosen = plane;
        }
    }
    return chosen.axis < 0 ? plane_at(b, at, together, first, upper[first]) : chosen;
}
#endif

bool sap_explicit_find_plane(const sap_explicit_build* b, sap_explicit_cell* at, bool together,
                             sap_explicit_plane* plane) {
    SAP_ASSERT(at->end - at->begin > 1 && at->depth < SAP_MAX_DEPTH);
#if !defined(__EMSCRIPTEN__)
    if (b->parts.tree->options.split == SAP_SPLIT_VVH)
        *plane = choose_vvh(b, at, together);
    else
#endif
        *plane = choose_sliding(b, at, together);
    if (plane->pivot.components == 0 && at->end - at->begin <= SAP_LEAF_MAX_EQUAL) return false;
    SAP_ASSERT(plane->left_count > 0 && plane->left_count < at->end - at->begin);
    SAP_ASSERT(plane->axis >= 0 && plane->axis < b->parts.dims);
    return true;
}

void sap_explicit_divide(const sap_explicit_build* b, const sap_explicit_cell* at, const sap_explicit_plane* plane,
                         bool together, sap_explicit_cell* left, sap_explicit_cell* right) {
    *left = *right = *at;
    left->depth = right->depth = at->depth + 1;
    left->end = right->begin = at->begin + plane->left_count;
    if (plane->pivot.components == 0) return; // equal points stay where they are
    partition(b, at, together, plane);
    left->buffer = right->buffer = at->buffer ^ 1;
    left->upper[plane->axis] = right->lower[plane->axis] = plane->split;
}
