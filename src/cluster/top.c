// The top tree that every rank has: which ranks may hold what is near a query. Distances to boxes are computed as those to
// points are, operation by operation, in the tree's precision; each rounding keeps order, so that no point of a box is
// nearer than the box.
#include "base/assert.h"
#include "cluster/cluster.h"
#include <math.h>
#include <string.h>

enum { MOST_WAITING = 64 }; // a node a level, of at most 2^31 subtrees

static double* box_of(const sap_cluster_top* top, int64_t node) { return top->boxes + node * 2 * top->dims; }

static double distance2_f32(const sap_cluster_top* top, const double* box, const float* query) {
    float sum = 0;
    for (int32_t a = 0; a < top->dims; a++) {
        const float lower = (float)box[a], upper = (float)box[top->dims + a], q = query[a];
        const float offset = q < lower ? q - lower : q > upper ? q - upper : q - q; // NaN stays
        sum += offset * offset;
    }
    return (double)sum;
}

static double distance2_f64(const sap_cluster_top* top, const double* box, const double* query) {
    double sum = 0;
    for (int32_t a = 0; a < top->dims; a++) {
        const double lower = box[a], upper = box[top->dims + a], q = query[a];
        const double offset = q < lower ? q - lower : q > upper ? q - upper : q - q;
        sum += offset * offset;
    }
    return sum;
}

// Infinite, or NaN, where nothing can be a neighbour.
static double distance2(const sap_cluster_top* top, int64_t node, const void* query) {
    const double* box = box_of(top, node);
    return top->real_bits == 32 ? distance2_f32(top, box, query) : distance2_f64(top, box, query);
}

double sap_cluster_top_distance2(const sap_cluster_top* top, int32_t subtree, const void* query) {
    return distance2(top, top->leaves + subtree, query);
}

static const sap_cluster_branch whole = {.child = {~0, ~0}}; // above the only subtree

// The first subtree of a rank, or of those behind it.
static int32_t first_of(const sap_cluster_top* top, int32_t rank) {
    int32_t first = 0;
    while (first < top->count && top->owners[first] < rank) first++;
    return first;
}

// Queries that lie elsewhere are listed without branches, as nobody can foretell them: one that does not is written over.
#define FIND(real)                                                                                                     \
    static int64_t find_##real(const sap_cluster_top* top, const sap_rows* queries, int32_t owner, int32_t* subtrees,  \
                               int32_t* away) {                                                                        \
        const sap_cluster_branch *branches = top->branches, root = top->count > 1 ? branches[0] : whole;               \
        const real split = (real)root.split;                                                                           \
        const int64_t count = queries->count, stride = queries->stride;                                                \
        const real* query = queries->coords;                                                                           \
        const int32_t first = first_of(top, owner);                                                                    \
        const uint32_t own = (uint32_t)(first_of(top, owner + 1) - first);                                             \
        int64_t found = 0;                                                                                             \
        for (int64_t q = 0; q < count; q++, query += stride) {                                                         \
            int32_t at = root.child[!(query[root.axis] < split)];                                                      \
            while (at >= 0) at = branches[at].child[!((double)query[branches[at].axis] < branches[at].split)];         \
            subtrees[q] = ~at;                                                                                         \
            away[found] = (int32_t)q;                                                                                  \
            found += (uint32_t)(~at - first) >= own;                                                                   \
        }                                                                                                              \
        return found;                                                                                                  \
    }
FIND(float)
FIND(double)

int64_t sap_cluster_top_find(const sap_cluster_top* top, const sap_rows* queries, int32_t owner, int32_t* subtrees,
                             int32_t* away) {
    return top->real_bits == 64 ? find_double(top, queries, owner, subtrees, away)
                                : find_float(top, queries, owner, subtrees, away);
}

// What is asked of nodes.
typedef struct asked {
    const void *query, *lower, *upper; // a point, or the corners of a box
    double most;                       // how far from the point, squared
} asked;

// The ranks of the leaves that `may` holds for, as it does for all nodes above them, from left to right.
static int32_t list_ranks(const sap_cluster_top* top, bool (*may)(const sap_cluster_top*, int64_t, const asked*),
                          const asked* of, int32_t without, int32_t* ranks) {
    int32_t waiting[MOST_WAITING], count = 1, found = 0;
    waiting[0] = 1;
    while (count > 0) {
        const int32_t node = waiting[--count];
        if (!may(top, node, of)) continue;
        if (node < top->leaves) {
            SAP_ASSERT(count + 2 <= MOST_WAITING);
            waiting[count++] = 2 * node + 1;
            waiting[count++] = 2 * node;
            continue;
        }
        const int32_t owner = top->owners[node - top->leaves];
        if (owner == without || (found && ranks[found - 1] == owner)) continue;
        ranks[found++] = owner;
    }
    return found;
}

static bool is_within(const sap_cluster_top* top, int64_t node, const asked* of) {
    const double own = distance2(top, node, of->query);
    return own <= of->most && isfinite(own);
}

int32_t sap_cluster_top_within(const sap_cluster_top* top, const void* query, double most, int32_t without,
                               int32_t* ranks) {
    return list_ranks(top, is_within, &(asked){.query = query, .most = most}, without, ranks);
}

static bool meets(const sap_cluster_top* top, int64_t node, const asked* of) {
    const double* box = box_of(top, node);
    for (int32_t a = 0; a < top->dims; a++) {
        const bool wide = top->real_bits == 64;
        const double low = wide ? ((const double*)of->lower)[a] : (double)((const float*)of->lower)[a];
        const double high = wide ? ((const double*)of->upper)[a] : (double)((const float*)of->upper)[a];
        if (!(low <= box[top->dims + a] && high >= box[a])) return false;
    }
    return true;
}

int32_t sap_cluster_top_meeting(const sap_cluster_top* top, const void* lower, const void* upper, int32_t* ranks) {
    return list_ranks(top, meets, &(asked){.lower = lower, .upper = upper}, -1, ranks);
}

// ---- Making it

static sap_status allocate(sap_cluster_tree* tree, const sap_cut* cut) {
    sap_cluster_top* top = &tree->top;
    if (top->count == cut->piece_count && top->boxes && top->owners && top->branches && top->cells) return SAP_OK;
    sap_cluster_top_close(tree->device, top); // of another tree
    *top = (sap_cluster_top){0};
    top->count = cut->piece_count;
    top->leaves = 1;
    while (top->leaves < top->count) top->leaves *= 2;
    top->dims = tree->dims;
    top->real_bits = tree->real_bits;
    top->boxes_bytes = (size_t)top->leaves * 2 * 2 * (size_t)tree->dims * sizeof(double);
    top->owners_bytes = (size_t)top->count * sizeof(int32_t);
    top->boxes = sap_memory_allocate(tree->device, top->boxes_bytes);
    top->owners = sap_memory_allocate(tree->device, top->owners_bytes);
    top->branches_bytes = (size_t)top->count * sizeof *top->branches; // one less would do
    top->cells_bytes = (size_t)top->count * 2 * (size_t)tree->dims * (size_t)tree->real_bits / 8;
    top->branches = sap_memory_allocate(tree->device, top->branches_bytes);
    top->cells = sap_memory_allocate(tree->device, top->cells_bytes);
    if (top->boxes && top->owners && top->branches && top->cells) return SAP_OK;
    return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the boxes of %d subtrees", (int)top->count);
}

// This rank's boxes as words of which the smallest of all ranks is to be found: numbers in their order, upper sides
// inverted. The words take the place of the doubles that they become.
static uint64_t word_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static sap_status write_words(const sap_cluster_tree* tree, const sap_cut* cut, uint64_t* words) {
    const int64_t each = 2 * (int64_t)tree->dims;
    memset(words, 255, (size_t)(cut->piece_count * each) * sizeof *words);
    for (int32_t i = 0, mine = 0; i < cut->piece_count; i++) {
        sap_tree_info info;
        if (cut->pieces[i].owner != tree->comm->rank) continue;
        const sap_status status = sap_tree_describe(tree->pieces[mine++].tree, &info); // which asks the device
        if (status != SAP_OK) return status;
        for (int32_t a = 0; a < tree->dims && info.count; a++) {
            words[i * each + a] = word_of(info.lower[a]);
            words[i * each + tree->dims + a] = ~word_of(info.upper[a]);
        }
    }
    return SAP_OK;
}

static void read_words(const sap_cluster_top* top, const uint64_t* words, int32_t subtree, double* box) {
    const int64_t at = (int64_t)subtree * 2 * top->dims;
    const bool is_empty = subtree >= top->count || words[at] == UINT64_MAX;
    for (int32_t a = 0; a < top->dims; a++) {
        box[a] = is_empty ? INFINITY : sap_cut_value(words[at + a], 64);
        box[top->dims + a] = is_empty ? -INFINITY : sap_cut_value(~words[at + top->dims + a], 64);
    }
}

static void join_boxes(const sap_cluster_top* top) {
    for (int64_t node = top->leaves - 1; node > 0; node--) {
        const double *left = box_of(top, 2 * node), *right = box_of(top, 2 * node + 1);
        double* box = box_of(top, node);
        for (int32_t a = 0; a < top->dims; a++) {
            box[a] = fmin(left[a], right[a]);
            box[top->dims + a] = fmax(left[top->dims + a], right[top->dims + a]);
        }
    }
}

// The branch of a node of the one tree, or ~ the subtree that it is. Planes stand level by level, subtrees from left to
// right.
static int32_t find_child(const sap_cut* cut, int64_t index, int32_t depth) {
    int32_t low = 0, high = cut->plane_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        const sap_cut_plane* p = &cut->planes[middle];
        if (p->depth < depth || (p->depth == depth && p->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < cut->plane_count && cut->planes[low].depth == depth && cut->planes[low].index == index) return low;
    const int64_t place = index << (cut->deepest - depth);
    for (low = 0, high = cut->piece_count - 1; low < high;) {
        const int32_t middle = (low + high + 1) / 2;
        if (cut->pieces[middle].index << (cut->deepest - cut->pieces[middle].depth) <= place)
            low = middle;
        else
            high = middle - 1;
    }
    SAP_ASSERT(cut->pieces[low].index == index && cut->pieces[low].depth == depth);
    return ~low;
}

static void set_side(const sap_cluster_top* top, int32_t subtree, int32_t side, double value) {
    const int64_t at = (int64_t)subtree * 2 * top->dims + side;
    if (top->real_bits == 64)
        ((double*)(void*)top->cells)[at] = value;
    else
        ((float*)(void*)top->cells)[at] = (float)value;
}

static void join_branches(const sap_cluster_top* top, const sap_cut* cut) {
    for (int32_t i = 0; i < cut->plane_count; i++) {
        const sap_cut_plane* p = &cut->planes[i];
        top->branches[i] = (sap_cluster_branch){.split = p->split, .axis = p->axis};
        for (int32_t side = 0; side < 2; side++)
            top->branches[i].child[side] = find_child(cut, 2 * p->index + side, p->depth + 1);
    }
    for (int32_t i = 0; i < top->count; i++) {
        for (int32_t a = 0; a < top->dims; a++) {
            set_side(top, i, a, -INFINITY);
            set_side(top, i, top->dims + a, INFINITY);
        }
        // The deepest plane on a side is the nearest one, and comes last.
        const int64_t place = cut->pieces[i].index << (cut->deepest - cut->pieces[i].depth);
        for (int32_t at = cut->plane_count ? 0 : -1; at >= 0;) {
            const sap_cut_plane* p = &cut->planes[at];
            const int32_t side = (int32_t)(place >> (cut->deepest - p->depth - 1) & 1);
            set_side(top, i, p->axis + (side ? 0 : top->dims), p->split);
            at = top->branches[at].child[side];
        }
    }
}

sap_status sap_cluster_top_open(sap_cluster_tree* tree, const sap_cut* cut) {
    sap_cluster_top* top = &tree->top;
    sap_scratch scratch = {NULL, 0};
    const size_t bytes = (size_t)cut->piece_count * 2 * (size_t)tree->dims * sizeof(uint64_t);
    sap_status status = allocate(tree, cut);
    if (status == SAP_OK && !sap_scratch_take(tree->device, bytes, &scratch))
        status = sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for the boxes of %d subtrees", (int)top->count);
    uint64_t* words = (uint64_t*)(void*)scratch.memory;
    if (status == SAP_OK) status = write_words(tree, cut, words);
    status = sap_comm_agree(tree->comm, tree->device, status, NULL, 0);
    if (status == SAP_OK) {
        status = sap_comm_reduce(tree->comm, tree->device, SAP_REDUCE_MIN, words,
                                 (int64_t)cut->piece_count * 2 * tree->dims);
        for (int32_t i = 0; i < top->leaves && status == SAP_OK; i++)
            read_words(top, words, i, box_of(top, top->leaves + i));
        if (status == SAP_OK) join_boxes(top);
        for (int32_t i = 0; i < top->count; i++) top->owners[i] = cut->pieces[i].owner;
        join_branches(top, cut);
    }
    sap_scratch_give(tree->device, &scratch);
    return status;
}

void sap_cluster_top_close(const sap_device* device, sap_cluster_top* top) {
    sap_memory_release(device, top->boxes, top->boxes_bytes);
    sap_memory_release(device, top->owners, top->owners_bytes);
    sap_memory_release(device, top->branches, top->branches_bytes);
    sap_memory_release(device, top->cells, top->cells_bytes);
}
