#include "base/assert.h"
#include "base/team.h"
#include "cluster/level.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINER = 5,     // levels below the first at which there is a node for each rank, if their number is no power of two
    FEW_NODES = 4, // for which histograms may be larger
    FEW_BITS = 8,
    MANY_BITS = 11,
    COUNT_BITS = 40,                  // of points
    MOST_BINS = (1 << MANY_BITS) + 2, // with what lies beside guesses
    SAMPLE = 1024,                    // rows
    SAMPLED_OF = 16                   // times as many at least
};

typedef sap_cut_search search;
typedef sap_cut_level level;

uint64_t sap_cut_key(const sap_rows* rows, int64_t row, int32_t axis) {
    const int64_t at = row * rows->stride + axis;
    if (rows->real_bits == 32) {
        const float x = ((const float*)rows->coords)[at] + 0;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits ^ ((uint32_t) - (int32_t)(bits >> 31) | UINT32_C(1) << 31);
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

// Nodes, or stretches of them, are shared out among threads.
static void run_nodes(level* l, sap_part* part) { sap_team_run(l->device->options.threads, l->count, part, l); }
static void run_stretches(level* l, sap_part* part) {
    sap_team_run(l->device->options.threads, (int64_t)l->count * l->stretches, part, l);
}

// Rows from `from` to `end` - 1 of a node.
typedef struct stretch {
    search* s;
    int64_t from, end;
} stretch;

static stretch stretch_until(const level* l, int64_t part, int64_t end) {
    search* s = &l->searches[part / l->stretches];
    const int64_t i = part % l->stretches, length = end - s->node.begin;
    return (stretch){s, s->node.begin + length * i / l->stretches, s->node.begin + length * (i + 1) / l->stretches};
}

static stretch stretch_of(const level* l, int64_t part) {
    return stretch_until(l, part, l->searches[part / l->stretches].node.end);
}

static stretch tied_stretch_of(const level* l, int64_t part) {
    return stretch_until(l, part, l->searches[part / l->stretches].tied_end);
}

// Where there are fewer nodes than threads, several of these work on each.
static void choose_stretches(level* l) {
    const int64_t rows = l->cut->given / l->count / SAP_CUT_STRETCH, fit = SAP_CUT_MOST_STRETCHES / l->count;
    int64_t n = 2 * (int64_t)l->device->options.threads / l->count;
    if (n > rows) n = rows;
    if (n > fit) n = fit;
    l->stretches = n < 2 || !l->room ? 1 : (int32_t)n;
    l->partial = l->stretches > 1 ? l->room : l->numbers;
}

// Brings together what stretches have found: `each` numbers of every one.
static void join_numbers(const level* l, int64_t each, bool smallest) {
    for (int64_t i = 0; i < l->count && l->stretches > 1; i++) {
        uint64_t* all = l->numbers + i * each;
        memcpy(all, l->partial + i * l->stretches * each, (size_t)each * sizeof *all);
        for (int64_t j = 1; j < l->stretches; j++) {
            const uint64_t* some = l->partial + (i * l->stretches + j) * each;
            for (int64_t n = 0; n < each; n++)
                all[n] = !smallest ? all[n] + some[n] : some[n] < all[n] ? some[n] : all[n];
        }
    }
}

// ---- Medians

static uint64_t key_of(const level* l, const search* s, int32_t row, int32_t key) {
    const int32_t dims = l->cut->rows->dims;
    if (key == dims) return (uint64_t)l->cut->ids[row];
    return sap_cut_key(l->cut->rows, row, (s->axis + key) % dims);
}

// The smallest and the largest coordinates of some rows. If dims is known where this is compiled, they stay in registers.
#define BOUND(real)                                                                                                    \
    static inline void bound_##real(const sap_rows* rows, const int32_t* order, int64_t count, const int32_t dims,     \
                                    real low[], real high[]) {                                                         \
        const real* coords = rows->coords;                                                                             \
        const int64_t stride = rows->stride;                                                                           \
        for (int32_t a = 0; a < dims; a++) low[a] = high[a] = coords[order[0] * stride + a];                           \
        for (int64_t p = 1; p < count; p++) {                                                                          \
            const real* x = coords + order[p] * stride;                                                                \
            for (int32_t a = 0; a < dims; a++) {                                                                       \
                low[a] = x[a] < low[a] ? x[a] : low[a];                                                                \
                high[a] = x[a] > high[a] ? x[a] : high[a];                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
BOUND(float)
BOUND(double)

typedef union corner {
    float narrow[SAP_MAX_DIMS];
    double wide[SAP_MAX_DIMS];
} corner;

static void bound(const sap_rows* rows, const int32_t* order, int64_t count, corner* low, corner* high) {
    if (rows->real_bits == 64)
        bound_double(rows, order, count, rows->dims, low->wide, high->wide);
    else if (rows->dims == 3)
        bound_float(rows, order, count, 3, low->narrow, high->narrow);
    else
        bound_float(rows, order, count, rows->dims, low->narrow, high->narrow);
}

// The box of some of a node's points.
static void find_box(void* context, int64_t part, int32_t worker) {
    const level* l = context;
    const int32_t dims = l->cut->rows->dims;
    const stretch rows = stretch_of(l, part);
    uint64_t* box = l->partial + part * 2 * dims;
    (void)worker;
    memset(box, 255, 2 * (size_t)dims * sizeof *box);
    if (rows.from == rows.end) return;
    const int32_t* order = l->cut->order + rows.from;
    corner low, high;
    bound(l->cut->rows, order, rows.end - rows.from, &low, &high);
    const sap_rows lows = {&low, 1, dims, dims, l->cut->rows->real_bits},
                   highs = {&high, 1, dims, dims, lows.real_bits};
    for (int32_t a = 0; a < dims; a++) {
        box[a] = sap_cut_key(&lows, 0, a);
        box[dims + a] = ~sap_cut_key(&highs, 0, a);
    }
}

// The boxes of all nodes, as keys: smallest, and the largest inverted.
static sap_status find_boxes(level* l) {
    const int64_t each = 2 * (int64_t)l->cut->rows->dims;
    if (l->cut->is_whole) { // the first node
        memcpy(l->numbers, l->cut->box, (size_t)each * sizeof *l->numbers);
    } else {
        run_stretches(l, find_box);
        join_numbers(l, each, true);
    }
    return sap_comm_reduce(l->comm, l->device, SAP_REDUCE_MIN, l->numbers, l->count * each);
}

// Axes, and where searches begin.
static void choose_axes(level* l) {
    const int32_t dims = l->cut->rows->dims, bits = l->cut->rows->real_bits;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        const uint64_t* box = l->numbers + i * 2 * (int64_t)dims;
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
        s->tied_end = s->node.end;
        s->is_all = true;
        const bool trivial = s->left == 0 || s->left == s->node.high - s->node.low;
        s->from = s->to = equal ? dims : 0; // equal points differ in their ids, if in anything
        s->goes_on = !trivial && (!equal || l->cut->ids || l->cut->share);
        if (some) s->key[0] = box[s->axis];
        s->differing = some ? sap_cut_bits_of(box[s->axis] ^ ~box[dims + s->axis]) : 0;
        if (!some) s->key[0] = bits == 32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63; // of zero
        SAP_ASSERT(trivial || equal || (s->left > 0 && s->middle < s->node.high));
    }
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

// What a loop over rows needs to know of a search: a copy, which nothing that the loop writes can change.
typedef struct binning {
    sap_rows rows;
    const int64_t* ids; // if they are the key
    int32_t axis, shift;
    uint64_t bins, first;
    bool is_guess;
} binning;

static binning binning_of(const level* l, const search* s) {
    const int32_t dims = l->cut->rows->dims;
    return (binning){.rows = *l->cut->rows,
                     .ids = l->key == dims ? l->cut->ids : NULL,
                     .axis = (s->axis + l->key) % dims,
                     .shift = l->shift,
                     .bins = (uint64_t)l->bins,
                     .first = s->first,
                     .is_guess = l->is_guess};
}

static inline int64_t bin_of(const binning* b, int32_t row) {
    const uint64_t key = (b->ids ? (uint64_t)b->ids[row] : sap_cut_key(&b->rows, row, b->axis)) >> b->shift;
    if (!b->is_guess) return (int64_t)(key & (b->bins - 1));
    if (key < b->first) return 0;
    return (int64_t)(key - b->first < b->bins - 2 ? key - b->first + 1 : b->bins - 1);
}

static inline int64_t count_row(const binning* b, int32_t row, int64_t low, uint64_t span, int32_t* kept,
                                uint32_t* counts) {
    const int64_t bin = bin_of(b, row);
    counts[bin]++;
    *kept = row;
    return (uint64_t)(bin - low) < span;
}

// Counts the bins of rows: list[from … end - 1], or, if list is NULL, from … end - 1 themselves. Those of bins low to high are
// kept, without branches, as nobody can foretell them; how many. Neighbours are counted apart, so that none waits for the
// one before it.
static inline int64_t count_each(const binning b, const int32_t* list, int64_t from, int64_t end, int64_t low,
                                 int64_t high, int32_t* kept, uint32_t counts[2][MOST_BINS]) {
    const uint64_t span = (uint64_t)(high - low + 1);
    int64_t count = 0, p = from;
    for (; p + 1 < end; p += 2)
        for (int i = 0; i < 2; i++)
            count += count_row(&b, list ? list[p + i] : (int32_t)(p + i), low, span, kept + count, counts[i]);
    if (p < end) count += count_row(&b, list ? list[p] : (int32_t)p, low, span, kept + count, counts[0]);
    return count;
}

// The same; what most coordinates are is known where it is compiled.
static int64_t count_rows(binning b, const int32_t* list, int64_t from, int64_t end, int64_t low, int64_t high,
                          int32_t* kept, uint32_t counts[2][MOST_BINS]) {
    if (b.rows.real_bits == 64 || b.ids || b.is_guess) return count_each(b, list, from, end, low, high, kept, counts);
    b.rows.real_bits = 32;
    b.ids = NULL;
    b.is_guess = false;
    if (list) return count_each(b, list, from, end, low, high, kept, counts);
    return count_each(b, NULL, from, end, low, high, kept, counts);
}

static void count_bits(void* context, int64_t part, int32_t worker) {
    const level* l = context;
    const stretch rows = tied_stretch_of(l, part);
    const search* s = rows.s;
    uint64_t* histogram = l->partial + part * l->bins;
    uint32_t counts[2][MOST_BINS];
    (void)worker;
    if (!s->is_counted) {
        memset(histogram, 0, (size_t)l->bins * sizeof *histogram);
        return;
    }
    const binning b = binning_of(l, s);
    int32_t *tied = l->tied + rows.from, none;
    for (int i = 0; i < 2; i++) memset(counts[i], 0, (size_t)l->bins * sizeof counts[i][0]);
    if (!s->is_all)
        (void)count_rows(b, l->tied, rows.from, rows.end, 0, -1, &none, counts);
    else if (l->cut->is_whole)
        l->kept[part] = count_rows(b, NULL, rows.from, rows.end, s->kept_low, s->kept_high, tied, counts);
    else
        l->kept[part] = count_rows(b, l->cut->order, rows.from, rows.end, s->kept_low, s->kept_high, tied, counts);
    for (int64_t i = 0; i < l->bins; i++) histogram[i] = (uint64_t)counts[0][i] + counts[1][i];
}

// Which bins to keep: those around a guess, else those that a sample of this rank's rows says, three times as wide as such
// medians are off. Where all ranks' median lies elsewhere than this one's, nothing that is of use is kept.
static void choose_kept(const level* l, search* s) {
    const binning b = binning_of(l, s);
    const int64_t rows = s->node.end - s->node.begin;
    s->kept_low = l->is_guess ? 1 : 0;
    s->kept_high = l->is_guess ? l->bins - 2 : -1;
    if (l->is_guess || rows < SAMPLE * SAMPLED_OF) return;
    uint32_t counts[MOST_BINS] = {0};
    for (int64_t i = 0; i < SAMPLE; i++) {
        const int64_t p = s->node.begin + rows * i / SAMPLE;
        counts[bin_of(&b, l->cut->is_whole ? (int32_t)p : l->cut->order[p])]++;
    }
    const double middle = SAMPLE * (double)s->left / (double)(s->node.high - s->node.low);
    const double aside = 1.5 * sqrt((double)SAMPLE);
    uint32_t before = 0;
    for (int64_t bin = 0; bin < l->bins; before += counts[bin++]) {
        if (before <= middle - aside) s->kept_low = bin;
        if (before <= middle + aside) s->kept_high = bin;
    }
}

// Takes the median's bits. Where they are not what was guessed, nothing is known.
static void choose_bin(void* context, int64_t node, int32_t worker) {
    const level* l = context;
    search* s = &l->searches[node];
    (void)worker;
    if (!s->is_counted) return;
    const int64_t left = s->left;
    s->bin = take_bin(s, l->numbers + node * l->bins, l->bins);
    if (!l->is_guess) {
        s->key[l->key] |= (uint64_t)s->bin << l->shift;
    } else if (s->bin == 0 || s->bin == l->bins - 1) {
        s->left = left;
        s->is_counted = false;
    } else {
        s->key[0] = (s->first + (uint64_t)s->bin - 1) << l->shift;
        s->unknown = l->shift;
    }
}

// Keeps those of the median's bin of the rows list[from … end - 1], or, if list is NULL, from … end - 1; how many.
static inline int64_t keep_rows(const binning b, const int32_t* list, int64_t from, int64_t end, int64_t bin,
                                int32_t* kept) {
    int64_t count = 0;
    for (int64_t p = from; p < end; p++) { // without branches, as nobody can foretell what is kept
        const int32_t row = list ? list[p] : (int32_t)p;
        kept[count] = row; // NOLINT(clang-analyzer-core.NullDereference): only a list is NULL
        count += bin_of(&b, row) == bin;
    }
    return count;
}

// Keeps in question what shares the median's bits.
static void keep_tied(void* context, int64_t part, int32_t worker) {
    const level* l = context;
    const stretch rows = tied_stretch_of(l, part);
    const search* s = rows.s;
    int32_t* tied = l->tied + rows.from;
    (void)worker;
    if (!s->is_counted) return;
    const binning b = binning_of(l, s);
    const bool is_kept = s->is_all && s->bin >= s->kept_low && s->bin <= s->kept_high;
    if (is_kept)
        l->kept[part] = keep_rows(b, tied, 0, l->kept[part], s->bin, tied);
    else if (!s->is_all)
        l->kept[part] = keep_rows(b, tied, 0, rows.end - rows.from, s->bin, tied);
    else if (l->cut->is_whole)
        l->kept[part] = keep_rows(b, NULL, rows.from, rows.end, s->bin, tied);
    else
        l->kept[part] = keep_rows(b, l->cut->order, rows.from, rows.end, s->bin, tied);
}

static void join_tied(void* context, int64_t node, int32_t worker) {
    const level* l = context;
    search* s = &l->searches[node];
    (void)worker;
    if (!s->is_counted) return;
    int64_t at = s->node.begin;
    for (int64_t part = node * l->stretches; part < (node + 1) * l->stretches; part++) {
        const int64_t from = tied_stretch_of(l, part).from;
        if (at != from) memmove(l->tied + at, l->tied + from, (size_t)l->kept[part] * sizeof *l->tied);
        at += l->kept[part];
    }
    s->tied_end = at;
    s->is_all = false;
}

// Counts bits of the keys in question over all ranks, and takes the medians'.
static sap_status count_round(level* l) {
    for (int32_t i = 0; i < l->count; i++)
        if (l->searches[i].is_counted && l->searches[i].is_all) choose_kept(l, &l->searches[i]);
    run_stretches(l, count_bits);
    join_numbers(l, l->bins, false);
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_SUM, l->numbers, l->count * l->bins);
    if (status != SAP_OK) return status;
    run_nodes(l, choose_bin);
    run_stretches(l, keep_tied);
    run_nodes(l, join_tied);
    return SAP_OK;
}

// Whether a search looks for these bits of a key.
static bool seeks(const search* s, int32_t key, int32_t shift) {
    return s->goes_on && s->to == key && shift < s->unknown;
}

// The next bits of the keys in question, if any are.
static sap_status find_bits(level* l, int32_t key, int32_t shift, int32_t bits) {
    bool any = false;
    l->key = key;
    l->shift = shift;
    l->bins = (int64_t)1 << bits;
    l->is_guess = false;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        s->is_counted = seeks(s, key, shift);
        any = any || s->is_counted;
    }
    return any ? count_round(l) : SAP_OK;
}

const sap_cut_plane* sap_cut_last_of(const level* l, const search* s) {
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

uint64_t sap_cut_key_of(double value, int32_t real_bits) {
    const float narrow = real_bits == 64 ? 0 : (float)value; // which a float may not hold
    const sap_rows one = {real_bits == 64 ? (const void*)&value : &narrow, 1, 1, 1, real_bits};
    return sap_cut_key(&one, 0, 0);
}

// The medians of points that have moved a little lie near those from before: the high bits of the first key are looked for
// in as many bins around the last one, with one more on either side. Searches whose median lies elsewhere begin as ever.
static sap_status guess_bits(level* l, int32_t shift, int32_t bits) {
    const uint64_t half = UINT64_C(1) << (bits - 1);
    bool any = false;
    l->key = 0;
    l->shift = shift;
    l->bins = ((int64_t)1 << bits) + 2;
    l->is_guess = true;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        const sap_cut_plane* plane = seeks(s, 0, shift) ? sap_cut_last_of(l, s) : NULL;
        s->is_counted = plane != NULL;
        if (!plane) continue;
        const uint64_t middle = sap_cut_key_of(plane->split, l->cut->rows->real_bits) >> shift;
        s->first = middle < half ? 0 : middle - half;
        any = true;
    }
    return any ? count_round(l) : SAP_OK;
}

// The bits below those that are guessed, from where rounds go on as ever: bins reach over a sixteenth of an octave of
// floats at least.
static int32_t guess_shift(int32_t bits, int32_t step) {
    const int32_t least = (bits == 64 ? DBL_MANT_DIG : FLT_MANT_DIG) - 1 - 4;
    int32_t shift = bits;
    while (shift - step > 0 && shift >= least) shift -= step;
    return shift;
}

// Most low bits of a key that a search looks for.
static int32_t most_unknown(const level* l, int32_t key) {
    int32_t most = 0;
    for (int32_t i = 0; i < l->count; i++)
        if (seeks(&l->searches[i], key, most)) most = l->searches[i].unknown;
    return most;
}

// Key by key until the median's keys tell the halves apart. Of the first key, the high bits that are equal throughout the
// node's box are known.
static sap_status find_keys(level* l) {
    const int32_t dims = l->cut->rows->dims, most = l->cut->ids ? dims + 1 : dims;
    const int32_t step = l->count <= FEW_NODES ? MANY_BITS : FEW_BITS;
    for (int32_t key = 0; key < most; key++) {
        const int32_t all = key == dims ? l->id_bits : l->cut->rows->real_bits;
        sap_status status = SAP_OK;
        for (int32_t i = 0; i < l->count; i++) {
            search* s = &l->searches[i];
            s->unknown = key == 0 ? s->differing : all;
            if (s->goes_on && s->to == 0 && key == 0) s->key[0] &= s->unknown < 64 ? UINT64_MAX << s->unknown : 0;
        }
        if (key == 0 && l->cut->last) status = guess_bits(l, guess_shift(all, step), step);
        for (int32_t left = most_unknown(l, key); left > 0 && status == SAP_OK;) {
            const int32_t bits = left < step ? left : step;
            left -= bits;
            status = find_bits(l, key, left, bits);
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
        const int32_t bits = shift < SAP_CUT_TIE_BITS ? shift : SAP_CUT_TIE_BITS, above = shift;
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

// By the keys from `from` on.
static bool goes_left(const level* l, const search* s, int32_t from, int32_t row, int64_t* taken) {
    for (int32_t key = from; key < s->to; key++) {
        const uint64_t own = key_of(l, s, row, key);
        if (own != s->key[key]) return own < s->key[key];
    }
    return (*taken)++ < s->take;
}

// Where some equal points go left and others do not, they are counted from the node's first row on, by one thread.
static stretch half_stretch_of(const level* l, int64_t part) {
    search* s = &l->searches[part / l->stretches];
    if (s->take == 0 || s->take == s->tied_end - s->node.begin) return stretch_of(l, part);
    return (stretch){s, part % l->stretches ? s->node.end : s->node.begin, s->node.end};
}

// Divides rows, as keep_rows has them, keeping their order; how many go left. Most of them differ from the median in the
// first key that tells.
#define DIVIDE(real)                                                                                                   \
    static inline int64_t divide_##real(const level* l, const search* s, const int32_t* list, int64_t from,            \
                                        int64_t end) {                                                                 \
        const sap_rows* points = l->cut->rows;                                                                         \
        const bool by_coordinate = s->from < s->to && s->from < points->dims;                                          \
        if (from == end) return 0; /* without points coords may be NULL */                                             \
        const real* x = (const real*)points->coords + (s->axis + s->from) % points->dims;                              \
        const real median = by_coordinate ? (real)sap_cut_value(s->key[s->from], points->real_bits) : 0;               \
        const int64_t stride = by_coordinate ? points->stride : 0;                                                     \
        int32_t *order = l->cut->order, *moved = l->moved;                                                             \
        int64_t left = from, taken = 0;                                                                                \
        for (int64_t p = from; p < end; p++) {                                                                         \
            const int32_t row = list ? list[p] : (int32_t)p;                                                           \
            const real own = by_coordinate ? x[row * stride] : median;                                                 \
            const bool goes = own != median ? own < median : goes_left(l, s, s->from + by_coordinate, row, &taken);    \
            /* Without branches, as nobody can foretell the half. */                                                   \
            order[left] = row; /* NOLINT(clang-analyzer-core.NullDereference): only a list is NULL */                  \
            moved[from + p - left] = row;                                                                              \
            left += goes;                                                                                              \
        }                                                                                                              \
        return left - from;                                                                                            \
    }
DIVIDE(float)
DIVIDE(double)

static void divide(void* context, int64_t part, int32_t worker) {
    const level* l = context;
    const stretch rows = half_stretch_of(l, part);
    (void)worker;
    const int32_t* list = l->cut->is_whole ? NULL : l->cut->order;
    l->kept[part] = l->cut->rows->real_bits == 64 ? divide_double(l, rows.s, list, rows.from, rows.end)
                                                  : divide_float(l, rows.s, list, rows.from, rows.end);
}

// Moves a node's rows into its halves.
static void join_halves(void* context, int64_t node, int32_t worker) {
    const level* l = context;
    search* s = &l->searches[node];
    const int64_t first = node * l->stretches, end = first + l->stretches;
    int32_t *order = l->cut->order, *at = order + s->node.begin;
    (void)worker;
    for (int64_t part = first; part < end; part++) {
        const int32_t* from = order + half_stretch_of(l, part).from;
        if (at != from) memmove(at, from, (size_t)l->kept[part] * sizeof *at);
        at += l->kept[part];
    }
    s->gone = at - (order + s->node.begin);
    for (int64_t part = first; part < end; part++) {
        const stretch rows = half_stretch_of(l, part);
        const int64_t right = rows.end - rows.from - l->kept[part];
        memcpy(at, l->moved + rows.from, (size_t)right * sizeof *at);
        at += right;
    }
}

static search begin_search(const level* l, sap_cut_node node) {
    search s = {.node = node};
    s.node.low = sap_cut_rank(l->cut, node.depth, node.index);
    s.middle = node.depth < l->cut->depth ? sap_cut_rank(l->cut, node.depth + 1, 2 * node.index + 1) : s.node.low;
    s.node.high = sap_cut_rank(l->cut, node.depth, node.index + 1);
    return s;
}

// Takes up a node: as a piece, or to be split in the next level. Where it is kept.
static sap_cut_node* take_up(const level* l, sap_cut_node node, search* next, int32_t* count) {
    sap_cut* cut = l->cut;
    bool is_piece;
    set_owner(cut, l->comm->size, &node, &is_piece);
    search s = begin_search(l, node);
    if (is_piece) {
        SAP_ASSERT(cut->piece_count < cut->most_pieces);
        s.node.name = SAP_SHARE_PIECES + cut->piece_count;
        cut->pieces[cut->piece_count] = s.node;
        return &cut->pieces[cut->piece_count++];
    }
    s.node.name = *count;
    next[*count] = s;
    return &next[(*count)++].node;
}

static void take_halves(level* l, search* next, int32_t* count) {
    sap_cut* cut = l->cut;
    for (int32_t i = 0; i < l->count; i++) {
        search* s = &l->searches[i];
        const sap_cut_node* n = &s->node;
        cut->planes[cut->plane_count++] =
            (sap_cut_plane){n->index, n->depth, s->axis, sap_cut_value(s->key[0], cut->rows->real_bits)};
        for (int side = 0; side < 2; side++)
            s->half[side] =
                take_up(l, (sap_cut_node){.index = 2 * n->index + side, .depth = n->depth + 1}, next, count);
    }
}

static sap_status divide_all(level* l) {
    if (l->cut->share) return sap_cut_share_divide(l);
    run_stretches(l, divide);
    run_nodes(l, join_halves);
    l->cut->is_whole = false; // order is written
    return SAP_OK;
}

static sap_status split_level(level* l, search* next, int32_t* next_count) {
    const bool there = l->cut->share != NULL;
    *next_count = 0;
    choose_stretches(l);
    sap_status status = there ? sap_cut_share_boxes(l) : find_boxes(l);
    if (status == SAP_OK) choose_axes(l);
    if (status == SAP_OK) status = there ? sap_cut_share_keys(l) : find_keys(l);
    if (status == SAP_OK) status = share_ties(l);
    if (status != SAP_OK) return status;
    take_halves(l, next, next_count);
    status = divide_all(l);
    for (int32_t i = 0; i < l->count && status == SAP_OK; i++) {
        const search* s = &l->searches[i];
        s->half[0]->begin = s->node.begin;
        s->half[0]->end = s->half[1]->begin = s->node.begin + s->gone;
        s->half[1]->end = s->node.end;
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
    uint64_t* largest = &l->cut->largest_id;
    if (!l->cut->ids) return SAP_OK; // on no rank
    for (int64_t i = 0; i < l->cut->given; i++) {
        const uint64_t id = (uint64_t)l->cut->ids[l->cut->is_whole ? i : l->cut->order[i]];
        if (id > *largest) *largest = id;
    }
    const sap_status status = sap_comm_reduce(l->comm, l->device, SAP_REDUCE_MAX, largest, 1);
    while (*largest >> l->id_bits) l->id_bits++;
    return status;
}

static sap_status find_pieces(level* l, search* searches[2]) {
    sap_cut* cut = l->cut;
    int now = 0;
    sap_status status = cut->share ? sap_cut_share_ids(l) : find_id_bits(l);
    (void)take_up(l, (sap_cut_node){.end = cut->given}, searches[0], &l->count);
    while (status == SAP_OK && l->count > 0) {
        int32_t next;
        l->searches = searches[now];
        status = split_level(l, searches[!now], &next);
        l->count = next;
        now = !now;
    }
    if (cut->is_whole && (cut->ids || l->comm->size > 1)) // nothing was divided
        for (int64_t i = 0; i < cut->given; i++) cut->order[i] = (int32_t)i;
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
    size_t numbers = nodes * (bins + 2);
    if (numbers < (size_t)FEW_NODES * MOST_BINS) numbers = (size_t)FEW_NODES * MOST_BINS;
    if (numbers < nodes * 2 * SAP_MAX_DIMS) numbers = nodes * 2 * SAP_MAX_DIMS;
    const size_t rows = cut->share ? 0 : sap_align((size_t)cut->given * sizeof(int32_t));
    const size_t searches = sap_align(nodes * sizeof(search));
    const size_t kept = sap_align((nodes < SAP_CUT_MOST_STRETCHES ? SAP_CUT_MOST_STRETCHES : nodes) * sizeof(int64_t));
    const bool stretches = device->options.threads > 1 && cut->given >= 2 * SAP_CUT_STRETCH && !cut->share;
    const size_t room = stretches ? SAP_CUT_MOST_STRETCHES * (size_t)MOST_BINS : 0;
    const size_t counts = sap_align((numbers + room) * sizeof(uint64_t));
    const size_t more = cut->share ? sap_cut_share_bytes(comm->size) : 0;
    if (!sap_scratch_take(device, 2 * rows + 2 * searches + kept + counts + more, &cut->levels))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory to divide %lld points", (long long)cut->given);
    status = sap_comm_agree(comm, device, status, NULL, 0);
    if (status == SAP_OK) {
        unsigned char* at = cut->levels.memory;
        level l = {.comm = comm, .device = device, .cut = cut, .tied = (int32_t*)(void*)at};
        l.moved = (int32_t*)(void*)(at + rows);
        search* both[2] = {(search*)(void*)(at + 2 * rows), (search*)(void*)(at + 2 * rows + searches)};
        at += 2 * rows + 2 * searches;
        l.kept = (int64_t*)(void*)at;
        l.numbers = (uint64_t*)(void*)(at + kept);
        if (room) l.room = l.numbers + numbers;
        if (cut->share) sap_cut_share_open(&l, at + kept + counts);
        status = find_pieces(&l, both);
    }
    if (!cut->share) sap_scratch_give(device, &cut->levels);
    return status;
}

sap_status sap_cut_open(sap_device* device, const sap_comm* comm, sap_cut* cut) {
    const int32_t levels = log2_of(comm->size) + FINER;
    const size_t most = (size_t)comm->size * (size_t)levels + 1; // pieces are one more than planes
    const size_t pieces = sap_align(most * sizeof *cut->pieces);
    const size_t order = cut->on_device ? 0 : (size_t)cut->rows->count * sizeof *cut->order;
    const bool taken = sap_scratch_take(device, order + 1, &cut->points) &&
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
    sap_scratch_give(device, &cut->levels);
}
