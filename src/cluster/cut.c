#include "cluster/cut.h"
#include "base/assert.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINER = 5,     // levels below the first at which there is a node for each rank, if their number is no power of two
    FEW_NODES = 4, // for which histograms may be larger
    FEW_BITS = 8,
    MANY_BITS = 11,
    COUNT_BITS = 40 // of points
};

// A node of this level, while its median is looked for.
typedef struct search {
    sap_cut_node node;
    int64_t middle;
    int64_t left;     // points that still are to go left, of those in question
    int64_t tied_end; // tied[node.begin … tied_end - 1] are in question
    int64_t take;     // of the tied ones of this rank, how many go left
    int32_t last;     // of the ranks before this one all do
    uint64_t key[SAP_MAX_DIMS + 1];
    int32_t axis, from, to; // keys [from, to) tell
    int32_t unknown;        // low bits of the key that is looked for
    bool goes_on;           // a key is looked for
} search;

// What the searches of a level share.
typedef struct level {
    sap_comm* comm;
    sap_device* device;
    sap_cut* cut;
    search* searches;
    int32_t count;
    int32_t* tied;
    int32_t* moved;
    uint64_t* numbers; // boxes, histograms, counts
    int32_t id_bits;
} level;

uint64_t sap_cut_key(const sap_rows* rows, int64_t row, int32_t axis) {
    const int64_t at = row * rows->stride + axis;
    if (rows->real_bits == 32) {
        const float x = ((const float*)rows->coords)[at] + 0;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
    }
    const double x = ((const double*)rows->coords)[at] + 0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

double sap_cut_value(uint64_t key, int32_t real_bits) {
    if (real_bits == 32) {
        const uint32_t narrow = (uint32_t)key, bits = narrow >> 31 ? narrow ^ UINT32_C(1) << 31 : ~narrow;
        float x;
        memcpy(&x, &bits, sizeof x);
        return (double)x;
    }
    const uint64_t bits = key >> 63 ? key ^ UINT64_C(1) << 63 : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// ---- Which nodes

int64_t sap_cut_rank(const sap_cut* cut, int32_t depth, int64_t index) {
    SAP_ASSERT(depth <= cut->depth && cut->count >> COUNT_BITS == 0 && index <= INT64_MAX >> COUNT_BITS);
    return index * cut->count >> depth;
}

// The rank that holds node `cell` of the deepest level.
static int32_t owner_of(const sap_cut* cut, int32_t ranks, int64_t cell) {
    return (int32_t)((((cell + 1) * ranks - 1)) >> cut->deepest);
}

static int32_t log2_of(int32_t ranks) {
    int32_t bits = 0;
    while ((int64_t)1 << bits < ranks) bits++;
    return bits;
}

static void set_owner(const sap_cut* cut, int32_t ranks, sap_cut_node* node, bool* is_piece) {
    const int32_t below = cut->deepest - node->depth;
    node->owner = owner_of(cut, ranks, node->index << below);
    *is_piece = owner_of(cut, ranks, ((node->index + 1) << below) - 1) == node->owner;
}

// ---- Medians

static uint64_t key_of(const level* l, const search* s, int32_t row, int32_t key) {
    const int32_t dims = l->cut->rows->dims;
    if (key == dims) return (uint64_t)l->cut->ids[row];
    return sap_cut_key(l->cut->rows, row, (s->axis + key) % dims);
}

// The boxes of all nodes, as keys: smallest, and the largest inverted. Then axes, and where searches begin.
static sap_status find_boxes(level* l) {
    const int32_t dims = l->cut->rows->dims, bits = l->cut->rows->real_bits;
    const int64_t each = 2 * (int64_t)dims;
    memset(l->numbers, 255, (size_t)(l->count * each) * sizeof *l->numbers);
    for (int32_t i = 0; i < l->count; i++) {
        uint64_t* box = l->numbers + i * each;
        for (int64_t p = l->searches[i].node.begin; p < l->searches[i].node.end; p++)
            for (int32_t a = 0; a < dims; a++) {
                const uint64_t key = sap_cut_key(l->cut->rows, l->cut->order[p], a);
                if (key < box[a]) box[a] = key;
                if (~key < box[dims + a]) box[dims + a] = ~key;
            }
    }
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_MIN, l->numbers, l->count * each);
    if (status != SAP_OK) return status;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        const uint64_t* box = l->numbers + i * each;
        double extent[SAP_MAX_DIMS];
        bool equal = true;
        int32_t axis = 0;
        const bool some = s->node.high > s->node.low;
        for (int32_t a = 0; a < dims && some; a++) {
            const double low = sap_cut_value(box[a], bits), high = sap_cut_value(~box[dims + a], bits);
            extent[a] = bits == 32 ? (double)((float)high - (float)low) : high - low;
            equal = equal && box[a] == ~box[dims + a];
            if (extent[a] > extent[axis]) axis = a;
        }
        if (l->cut->options->axis == SAP_AXIS_CYCLE) axis = s->node.depth % dims;
        s->axis = s->node.high - s->node.low < 2 ? 0 : axis;
        s->left = s->middle - s->node.low;
        const bool trivial = s->left == 0 || s->left == s->node.high - s->node.low;
        s->from = s->to = equal ? dims : 0; // equal points differ in their ids, if in anything
        s->goes_on = !trivial && (!equal || l->cut->ids);
        if (some) s->key[0] = box[s->axis];
        if (!some) s->key[0] = bits == 32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63; // of zero
        SAP_ASSERT(trivial || equal || (s->left > 0 && s->middle < s->node.high));
    }
    return SAP_OK;
}

// The bin that the median is in; it is still to be looked for there.
static int64_t take_bin(search* s, const uint64_t* histogram, const int64_t bins) {
    int64_t bin = 0;
    while ((uint64_t)s->left >= histogram[bin]) {
        s->left -= (int64_t)histogram[bin++];
        SAP_ASSERT(bin < bins);
    }
    (void)bins; // without assertions
    return bin;
}

// Whether a search looks for these bits of a key.
static bool seeks(const search* s, int32_t key, int32_t shift) {
    return s->goes_on && s->to == key && shift < s->unknown;
}

static bool any_seeks(const level* l, int32_t key, int32_t shift) {
    for (int32_t i = 0; i < l->count; i++)
        if (seeks(&l->searches[i], key, shift)) return true;
    return false;
}

// The plane of an earlier cut that split the same node by the same axis, or NULL.
static const sap_cut_plane* last_of(const level* l, const search* s) {
    const sap_cut* cut = l->cut;
    for (int32_t low = 0, high = cut->last_count; low < high;) {
        const int32_t middle = (low + high) / 2;
        const sap_cut_plane* p = &cut->last[middle];
        if (p->depth == s->node.depth && p->index == s->node.index) return p->axis == s->axis ? p : NULL;
        if (p->depth < s->node.depth || (p->depth == s->node.depth && p->index < s->node.index))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static uint64_t key_of_value(double value, int32_t real_bits) {
    const float narrow = (float)value;
    const sap_rows one = {real_bits == 64 ? (const void*)&value : &narrow, 1, 1, 1, real_bits};
    return sap_cut_key(&one, 0, 0);
}

// The medians of points that have moved a little lie near those from before: the high bits of the first key are looked for
// in as many bins around the last one, with one more on either side. Searches whose median lies elsewhere begin as ever.
static sap_status guess_bits(level* l, const int32_t shift, const int32_t bits) {
    const int64_t bins = ((int64_t)1 << bits) + 2;
    uint64_t* guesses = l->numbers + l->count * bins;
    bool any = false;
    memset(l->numbers, 0, (size_t)(l->count * (bins + 1)) * sizeof *l->numbers);
    for (int32_t i = 0; i < l->count; i++) {
        const search* s = &l->searches[i];
        const sap_cut_plane* plane = seeks(s, 0, shift) ? last_of(l, s) : NULL;
        uint64_t* histogram = l->numbers + i * bins;
        if (!plane) continue;
        const uint64_t middle = key_of_value(plane->split, l->cut->rows->real_bits) >> shift,
                       half = (uint64_t)(bins - 2) / 2;
        const uint64_t first = middle < half ? 0 : middle - half;
        guesses[i] = first + 1;
        any = true;
        for (int64_t p = s->node.begin; p < s->tied_end; p++) {
            const uint64_t key = key_of(l, s, l->tied[p], 0) >> shift;
            const uint64_t bin = key < first ? 0 : key - first + 1;
            histogram[bin < (uint64_t)bins ? bin : (uint64_t)bins - 1]++;
        }
    }
    if (!any) return SAP_OK;
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_SUM, l->numbers, l->count * bins);
    if (status != SAP_OK) return status;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        const uint64_t* histogram = l->numbers + i * bins;
        int64_t left = s->left, bin = 0, kept = s->node.begin;
        if (!guesses[i]) continue;
        while (bin < bins && (uint64_t)left >= histogram[bin]) left -= (int64_t)histogram[bin++];
        if (bin == 0 || bin >= bins - 1) continue;
        const uint64_t high = guesses[i] - 1 + (uint64_t)bin - 1;
        s->left = left;
        s->key[0] = high << shift;
        s->unknown = shift;
        for (int64_t p = s->node.begin; p < s->tied_end; p++)
            if (key_of(l, s, l->tied[p], 0) >> shift == high) l->tied[kept++] = l->tied[p];
        s->tied_end = kept;
    }
    return SAP_OK;
}

// Counts the next bits of the keys in question over all ranks, and takes the median's.
static sap_status find_bits(level* l, const int32_t key, const int32_t shift, const int32_t bits) {
    const int64_t bins = (int64_t)1 << bits;
    memset(l->numbers, 0, (size_t)(l->count * bins) * sizeof *l->numbers);
    for (int32_t i = 0; i < l->count; i++) {
        const search* s = &l->searches[i];
        uint64_t* histogram = l->numbers + i * bins;
        for (int64_t p = s->node.begin; p < s->tied_end && seeks(s, key, shift); p++)
            histogram[key_of(l, s, l->tied[p], key) >> shift & (uint64_t)(bins - 1)]++;
    }
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_SUM, l->numbers, l->count * bins);
    if (status != SAP_OK) return status;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        if (!seeks(s, key, shift)) continue;
        const int64_t bin = take_bin(s, l->numbers + i * bins, bins);
        s->key[key] |= (uint64_t)bin << shift;
        int64_t kept = s->node.begin;
        for (int64_t p = s->node.begin; p < s->tied_end; p++) {
            const int32_t row = l->tied[p];
            if ((int64_t)(key_of(l, s, row, key) >> shift & (uint64_t)(bins - 1)) == bin) l->tied[kept++] = row;
        }
        s->tied_end = kept;
    }
    return SAP_OK;
}

// The bits below those that are guessed, from where rounds go on as ever: bins reach over a sixteenth of an octave of
// floats at least.
static int32_t guess_shift(int32_t bits, int32_t step) {
    const int32_t least = (bits == 64 ? DBL_MANT_DIG : FLT_MANT_DIG) - 1 - 4;
    int32_t shift = bits;
    while (shift - step > 0 && shift >= least) shift -= step;
    return shift;
}

// Key by key until the median's keys tell the halves apart.
static sap_status find_keys(level* l) {
    const int32_t dims = l->cut->rows->dims, most = l->cut->ids ? dims + 1 : dims;
    const int32_t step = l->count <= FEW_NODES ? MANY_BITS : FEW_BITS;
    for (int32_t key = 0; key < most; key++) {
        const int32_t all = key == dims ? l->id_bits : l->cut->rows->real_bits;
        sap_status status = SAP_OK;
        for (int32_t i = 0; i < l->count; i++) {
            search* s = &l->searches[i];
            s->unknown = all;
            if (s->goes_on && s->to == key) s->key[key] = 0;
        }
        if (key == 0 && l->cut->last) status = guess_bits(l, guess_shift(all, step), step);
        for (int32_t left = all; left > 0 && status == SAP_OK;) {
            const int32_t bits = left < step ? left : step;
            left -= bits;
            if (any_seeks(l, key, left)) status = find_bits(l, key, left, bits);
        }
        if (status != SAP_OK) return status;
        for (int32_t i = 0; i < l->count; i++) {
            search* s = &l->searches[i];
            if (!s->goes_on || s->to != key) continue;
            s->to = key + 1;
            s->goes_on = s->left > 0 && key + 1 < most;
        }
    }
    return SAP_OK;
}

// Of points that are equal in all that was looked at, the first of the ranks and rows go left. The rank at which there are
// enough of them is found as keys are, a few bits at a time.
static sap_status share_ties(level* l) {
    const int32_t rank = l->comm->rank;
    bool any = false;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        s->goes_on = s->left > 0;
        any = any || s->goes_on;
    }
    for (int32_t shift = any ? log2_of(l->comm->size) : 0; shift > 0;) {
        const int32_t bits = shift < FEW_BITS ? shift : FEW_BITS, above = shift;
        const int64_t bins = (int64_t)1 << bits;
        shift -= bits;
        memset(l->numbers, 0, (size_t)(l->count * bins) * sizeof *l->numbers);
        for (int32_t i = 0; i < l->count; i++) {
            const search* s = &l->searches[i];
            if (s->goes_on && rank >> above == s->last)
                l->numbers[i * bins + (rank >> shift & (bins - 1))] = (uint64_t)(s->tied_end - s->node.begin);
        }
        const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_SUM, l->numbers, l->count * bins);
        if (status != SAP_OK) return status;
        for (int32_t i = 0; i < l->count; i++)
            if (l->searches[i].goes_on)
                l->searches[i].last =
                    l->searches[i].last << bits | (int32_t)take_bin(&l->searches[i], l->numbers + i * bins, bins);
    }
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        if (s->goes_on && rank <= s->last) s->take = rank < s->last ? s->tied_end - s->node.begin : s->left;
    }
    return SAP_OK;
}

// ---- Halves

static bool goes_left(const level* l, const search* s, int32_t row, int64_t* taken) {
    for (int32_t key = s->from; key < s->to; key++) {
        const uint64_t own = key_of(l, s, row, key);
        if (own != s->key[key]) return own < s->key[key];
    }
    return (*taken)++ < s->take;
}

// Moves a node's rows into its halves, keeping their order; how many go left.
static int64_t divide(const level* l, const search* s) {
    int32_t* order = l->cut->order;
    int64_t left = s->node.begin, right = 0, taken = 0;
    for (int64_t p = s->node.begin; p < s->node.end; p++) {
        const int32_t row = order[p];
        if (goes_left(l, s, row, &taken))
            order[left++] = row;
        else
            l->moved[right++] = row;
    }
    memcpy(order + left, l->moved, (size_t)right * sizeof *order);
    return left - s->node.begin;
}

static search begin_search(const level* l, sap_cut_node node) {
    search s = {.node = node};
    s.node.low = sap_cut_rank(l->cut, node.depth, node.index);
    s.middle = node.depth < l->cut->depth ? sap_cut_rank(l->cut, node.depth + 1, 2 * node.index + 1) : s.node.low;
    s.node.high = sap_cut_rank(l->cut, node.depth, node.index + 1);
    return s;
}

// Takes up a node: as a piece, or to be split in the next level.
static void take_up(const level* l, sap_cut_node node, search* next, int32_t* count) {
    sap_cut* cut = l->cut;
    bool is_piece;
    set_owner(cut, l->comm->size, &node, &is_piece);
    const search s = begin_search(l, node);
    if (is_piece) {
        SAP_ASSERT(cut->piece_count < cut->most_pieces);
        cut->pieces[cut->piece_count++] = s.node;
    } else {
        next[(*count)++] = s;
    }
}

static sap_status split_level(level* l, search* next, int32_t* next_count) {
    sap_cut* cut = l->cut;
    *next_count = 0;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        s->tied_end = s->node.end;
        memcpy(l->tied + s->node.begin, cut->order + s->node.begin,
               (size_t)(s->node.end - s->node.begin) * sizeof *l->tied);
    }
    sap_status status = find_boxes(l);
    if (status == SAP_OK) status = find_keys(l);
    if (status == SAP_OK) status = share_ties(l);
    for (int32_t i = 0; i < l->count && status == SAP_OK; i++) {
        const search* s = &l->searches[i];
        const sap_cut_node* n = &s->node;
        const int64_t left = divide(l, s);
        cut->planes[cut->plane_count++] =
            (sap_cut_plane){n->index, n->depth, s->axis, sap_cut_value(s->key[0], cut->rows->real_bits)};
        sap_cut_node less = {.index = 2 * n->index, .depth = n->depth + 1, .begin = n->begin, .end = n->begin + left};
        sap_cut_node more = {.index = 2 * n->index + 1, .depth = n->depth + 1, .begin = less.end, .end = n->end};
        take_up(l, less, next, next_count);
        take_up(l, more, next, next_count);
    }
    return status;
}

static int before(const void* a, const void* b) {
    const sap_cut_node *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

// How many bits the largest id has.
static sap_status find_id_bits(level* l) {
    uint64_t largest = 0;
    for (int64_t i = 0; i < l->cut->given && l->cut->ids; i++) {
        const uint64_t id = (uint64_t)l->cut->ids[l->cut->order[i]];
        if (id > largest) largest = id;
    }
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_MAX, &largest, 1);
    while (largest >> l->id_bits) l->id_bits++;
    return status;
}

static sap_status find_pieces(level* l, search* searches[2]) {
    sap_cut* cut = l->cut;
    int now = 0;
    sap_status status = find_id_bits(l);
    take_up(l, (sap_cut_node){.end = cut->given}, searches[0], &l->count);
    while (status == SAP_OK && l->count > 0) {
        int32_t next;
        l->searches = searches[now];
        status = split_level(l, searches[!now], &next);
        l->count = next;
        now = !now;
    }
    if (status == SAP_OK) qsort(cut->pieces, (size_t)cut->piece_count, sizeof *cut->pieces, before);
    return status;
}

sap_status sap_cut_find(sap_comm* comm, sap_device* device, sap_cut* cut) {
    sap_status status = SAP_OK;
    if (cut->count >> COUNT_BITS)
        return sap_fail(device, SAP_ERROR_RANGE, "points: all ranks together give more than 2^%d", COUNT_BITS);
    const int32_t bits = log2_of(comm->size), wanted = (int64_t)1 << bits == comm->size ? bits : bits + FINER;
    cut->depth = sap_balanced_depth(cut->count, cut->options->leaf_size);
    cut->deepest = cut->depth < wanted ? cut->depth : wanted;
    // A level has at most one node for each place where the shares of two ranks meet.
    const size_t nodes = (size_t)comm->size, bins = (size_t)1 << (nodes <= FEW_NODES ? MANY_BITS : FEW_BITS);
    size_t numbers = nodes * (bins + 3); // with what lies beside guesses, and where they begin
    if (numbers < FEW_NODES * (((size_t)1 << MANY_BITS) + 3)) numbers = FEW_NODES * (((size_t)1 << MANY_BITS) + 3);
    if (numbers < nodes * 2 * SAP_MAX_DIMS) numbers = nodes * 2 * SAP_MAX_DIMS;
    const size_t rows = sap_align((size_t)cut->given * sizeof(int32_t)), searches = sap_align(nodes * sizeof(search));
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(device, 2 * rows + 2 * searches + numbers * sizeof(uint64_t), &scratch))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory to divide %lld points", (long long)cut->given);
    status = sap_comm_agree(comm, device, status, NULL, 0);
    if (status == SAP_OK) {
        unsigned char* at = scratch.memory;
        level l = {.comm = comm, .device = device, .cut = cut, .tied = (int32_t*)(void*)at};
        l.moved = (int32_t*)(void*)(at + rows);
        search* both[2] = {(search*)(void*)(at + 2 * rows), (search*)(void*)(at + 2 * rows + searches)};
        l.numbers = (uint64_t*)(void*)(at + 2 * rows + 2 * searches);
        status = find_pieces(&l, both);
    }
    sap_scratch_give(device, &scratch);
    return status;
}

sap_status sap_cut_open(sap_device* device, const sap_comm* comm, sap_cut* cut) {
    const int32_t levels = log2_of(comm->size) + FINER;
    const size_t most = (size_t)comm->size * (size_t)levels + 1; // pieces are one more than planes
    const size_t pieces = sap_align(most * sizeof *cut->pieces);
    const bool taken = sap_scratch_take(device, (size_t)cut->rows->count * sizeof *cut->order + 1, &cut->points) &&
                       sap_scratch_take(device, pieces + most * sizeof *cut->planes, &cut->nodes);
    if (!taken)
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to divide %lld points", (long long)cut->rows->count);
    cut->order = (int32_t*)(void*)cut->points.memory;
    cut->pieces = (sap_cut_node*)(void*)cut->nodes.memory;
    cut->planes = (sap_cut_plane*)(void*)(cut->nodes.memory + pieces);
    cut->most_pieces = (int32_t)most;
    return SAP_OK;
}

void sap_cut_close(sap_device* device, sap_cut* cut) {
    sap_scratch_give(device, &cut->points);
    sap_scratch_give(device, &cut->nodes);
}
