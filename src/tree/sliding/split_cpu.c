// How a node of a sliding-midpoint tree divides its points, by one thread or by all of them.
#include "tree/sliding/build.h"

typedef union box_values {
    float f32[SAP_MAX_DIMS];
    double f64[SAP_MAX_DIMS];
} box_values;

int sap_sliding_chunks(const sap_sliding* b, const sap_sliding_cell* at) {
    int64_t chunks = (at->end - at->begin) / SAP_CHUNK_POINTS + 1, most = b->threads > 1 ? 4 * (int64_t)b->threads : 1;
    if (most > SAP_MOST_CHUNKS) most = SAP_MOST_CHUNKS;
    return (int)(chunks < most ? chunks : most);
}

static int chunks_of(const sap_sliding* b, const sap_sliding_cell* at, bool together) {
    return together ? sap_sliding_chunks(b, at) : 1;
}

// The kernels find the buffer in the parity of a depth.
static sap_build_node kernel_node(const sap_sliding_cell* at, int32_t axis) {
    return (sap_build_node){.depth = at->buffer, .low = at->begin, .high = at->end, .axis = axis};
}

void sap_sliding_extent(const sap_sliding* b, const sap_sliding_cell* at, bool together, double* lower, double* upper) {
    int chunks = chunks_of(b, at, together);
    box_values low[SAP_MOST_CHUNKS], high[SAP_MOST_CHUNKS];
    if (chunks == 1)
        b->kernels->extent(&b->build, at->buffer, at->begin, at->end, &low[0], &high[0]);
    else {
#pragma omp parallel for num_threads(b->threads) schedule(static)
        for (int i = 0; i < chunks; i++)
            b->kernels->extent(&b->build, at->buffer, sap_sliding_chunk(at, i, chunks),
                               sap_sliding_chunk(at, i + 1, chunks), &low[i], &high[i]);
    }
    for (int32_t a = 0; a < b->dims; a++) {
        lower[a] = (double)INFINITY;
        upper[a] = -(double)INFINITY;
        for (int i = 0; i < chunks; i++) {
            double least = b->real_bits == 32 ? (double)low[i].f32[a] : low[i].f64[a];
            double most = b->real_bits == 32 ? (double)high[i].f32[a] : high[i].f64[a];
            if (least < lower[a]) lower[a] = least;
            if (most > upper[a]) upper[a] = most;
        }
    }
}

static int64_t count_smaller(const sap_sliding* b, const sap_sliding_cell* at, bool together, int32_t axis,
                             const sap_pivot* pivot) {
    sap_build_node node = kernel_node(at, axis);
    int chunks = chunks_of(b, at, together);
    if (chunks == 1) return b->kernels->count_smaller(&b->build, &node, pivot, at->begin, at->end);
    int64_t count = 0;
#pragma omp parallel for num_threads(b->threads) schedule(static) reduction(+ : count)
    for (int i = 0; i < chunks; i++)
        count += b->kernels->count_smaller(&b->build, &node, pivot, sap_sliding_chunk(at, i, chunks),
                                           sap_sliding_chunk(at, i + 1, chunks));
    return count;
}

static void partition(const sap_sliding* b, const sap_sliding_cell* at, bool together, const sap_sliding_plane* cut) {
    sap_build_node node = kernel_node(at, cut->axis);
    int64_t middle = at->begin + cut->left_count;
    int chunks = chunks_of(b, at, together);
    if (chunks == 1) {
        b->kernels->partition(&b->build, &node, &cut->pivot, at->begin, at->end, at->begin, middle, middle, at->end);
        return;
    }
    int64_t less[SAP_MOST_CHUNKS + 1] = {at->begin};
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int i = 0; i < chunks; i++)
        less[i + 1] = b->kernels->count_smaller(&b->build, &node, &cut->pivot, sap_sliding_chunk(at, i, chunks),
                                                sap_sliding_chunk(at, i + 1, chunks));
    for (int i = 0; i < chunks; i++) less[i + 1] += less[i];
#pragma omp parallel for num_threads(b->threads) schedule(static)
    for (int i = 0; i < chunks; i++) {
        int64_t from = sap_sliding_chunk(at, i, chunks), to = sap_sliding_chunk(at, i + 1, chunks);
        int64_t greater = middle + (from - at->begin) - (less[i] - at->begin);
        b->kernels->partition(&b->build, &node, &cut->pivot, from, to, less[i], less[i + 1], greater,
                              greater + (to - from) - (less[i + 1] - less[i]));
    }
}

// ---- The rule

// As sap_sliding_axis.
static int32_t choose_axis(const sap_sliding* b, const sap_sliding_cell* at) {
    return sap_sliding_axis(&b->tree->options, b->dims, b->real_bits, at->depth, at->lower, at->upper);
}

// Divides points that are all equal, which lie in the order of their ids: nothing moves.
static sap_sliding_plane halve_equal(const sap_sliding* b, const sap_sliding_cell* at) {
    sap_sliding_plane cut = {.left_count = (at->end - at->begin) / 2};
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    sap_sliding_cell one = *at;
    one.end = one.begin + 1;
    sap_sliding_extent(b, &one, false, lower, upper);
    cut.split = lower[0];
    return cut;
}

static sap_sliding_plane cut_at(const sap_sliding* b, const sap_sliding_cell* at, bool together, int32_t axis,
                                double split) {
    sap_sliding_plane cut = {.pivot = {.value = {split}, .components = 1}, .split = split, .axis = axis};
    cut.left_count = count_smaller(b, at, together, axis, &cut.pivot);
    return cut;
}

// The median in the total order. The kernel that finds it also writes it down as a balanced tree would: here into a
// stand-in with room for the two node numbers that a buffer can have.
static sap_sliding_plane cut_at_median(const sap_sliding* b, const sap_sliding_cell* at, int32_t axis) {
    double splits[3];
    sap_tree stand_in = {.arrays = (unsigned char*)splits};
    sap_build build = b->build;
    build.tree = &stand_in;
    sap_build_node node = kernel_node(at, axis);
    sap_sliding_plane cut = {.axis = axis, .left_count = (at->end - at->begin) / 2};
    node.middle = at->begin + cut.left_count;
    cut.pivot = b->kernels->find_pivot(&build, &node);
    cut.split = cut.pivot.value[0];
    return cut;
}

// Chooses the plane of a node. Sides of the cell along which the points turn out to be equal shrink to nothing.
static sap_sliding_plane choose_plane(const sap_sliding* b, sap_sliding_cell* at, bool together) {
    int32_t axis = choose_axis(b, at);
    if (axis < 0) return halve_equal(b, at);
    bool by_rank = at->depth >= b->halving_depth;
    sap_sliding_plane cut = {.left_count = 0};
    if (!by_rank)
        cut = cut_at(b, at, together, axis, sap_sliding_middle(b->real_bits, at->lower[axis], at->upper[axis]));
    if (cut.left_count > 0 && cut.left_count < at->end - at->begin) return cut;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    sap_sliding_extent(b, at, together, lower, upper);
    for (int32_t a = 0; a < b->dims; a++)
        if (lower[a] == upper[a]) at->lower[a] = at->upper[a] = lower[a];
    axis = choose_axis(b, at);
    if (axis < 0) return halve_equal(b, at);
    if (by_rank) return cut_at_median(b, at, axis);
    double middle = sap_sliding_middle(b->real_bits, at->lower[axis], at->upper[axis]);
    double split = sap_sliding_slid(b->real_bits, middle, lower[axis], upper[axis]);
    return cut_at(b, at, together, axis, split);
}

// Where the children are once the points have been moved.
static void child_places(const sap_sliding_cell* at, const sap_sliding_plane* cut, sap_sliding_cell* left,
                         sap_sliding_cell* right) {
    *left = *right = *at;
    left->depth = right->depth = at->depth + 1;
    left->end = right->begin = at->begin + cut->left_count;
    if (cut->pivot.components == 0) return;
    left->buffer = right->buffer = at->buffer ^ 1;
    left->upper[cut->axis] = right->lower[cut->axis] = cut->split;
}

bool sap_sliding_split(const sap_sliding* b, sap_sliding_cell* at, bool together, sap_sliding_plane* cut,
                       sap_sliding_cell* left, sap_sliding_cell* right) {
    *cut = choose_plane(b, at, together);
    if (cut->pivot.components == 0 && at->end - at->begin <= SAP_LEAF_MAX_EQUAL) return false;
    if (cut->pivot.components > 0) partition(b, at, together, cut);
    child_places(at, cut, left, right);
    return true;
}
