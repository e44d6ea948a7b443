// The cut of points that lie on a device: the device counts, all ranks add up, and the host narrows the keys between which
// each median lies. First come bins of coordinates of equal width, then bins of keys; what they leave in question is
// listed and looked at again. Since ids end the total order, nothing is tied but points of one id.
#include "base/assert.h"
#include "cluster/level.h"
#include <math.h>
#include <string.h>

enum {
    MOST_BINS = 4096,             // of a node
    SAMPLED_PARTS = 8,            // a guess must leave no more than such a part of the bins
    MOVED_PARTS = 512,            // of the extent: as far as medians are taken to move
    TRUSTED_LEAST = MOST_BINS / 2 // points of a sample
};

int64_t sap_cut_sampled_least = 1 << 21;

static const sap_cluster_ops* ops_of(const sap_cut_level* l) { return l->device->rooms.cluster; }

// Adds up over all ranks, or finds out that one of them has failed; values[count] is room for that.
static sap_status reduce_well(const sap_cut_level* l, sap_status own, sap_reduction how, uint64_t* values,
                              int64_t count) {
    values[count] = how == SAP_REDUCE_MIN ? own == SAP_OK : own != SAP_OK;
    const sap_status status = sap_comm_reduce(l->comm, l->device, how, values, count + 1);
    if (status != SAP_OK) return status;
    const bool well = how == SAP_REDUCE_MIN ? values[count] == 1 : values[count] == 0;
    return well ? SAP_OK : sap_comm_agree(l->comm, l->device, own, NULL, 0);
}

// ---- Memory

static int64_t most_bins(int32_t ranks) {
    const int64_t least = (int64_t)ranks * SAP_SHARE_LEAST;
    return least > SAP_SHARE_BINS ? least : SAP_SHARE_BINS;
}

size_t sap_cut_share_bytes(int32_t ranks) {
    const size_t nodes = (size_t)ranks, bins = (size_t)most_bins(ranks);
    return sap_align(nodes * 2 * SAP_MAX_DIMS * sizeof(uint64_t)) + sap_align(bins * sizeof(uint32_t)) +
           sap_align((bins + (nodes << SAP_CUT_TIE_BITS) + nodes * 2 * SAP_MAX_DIMS + 1) * sizeof(uint64_t)) +
           sap_align(nodes * sizeof(sap_share_node)) + sap_align(2 * nodes * sizeof(uint16_t));
}

void sap_cut_share_open(sap_cut_level* l, unsigned char* at) {
    const size_t nodes = (size_t)l->comm->size, bins = (size_t)most_bins(l->comm->size);
    l->box_of = (uint64_t*)(void*)at;
    at += sap_align(nodes * 2 * SAP_MAX_DIMS * sizeof(uint64_t));
    l->own = (uint32_t*)(void*)at;
    at += sap_align(bins * sizeof(uint32_t));
    l->numbers = (uint64_t*)(void*)at;
    at += sap_align((bins + (nodes << SAP_CUT_TIE_BITS) + nodes * 2 * SAP_MAX_DIMS + 1) * sizeof(uint64_t));
    l->node = (sap_share_node*)(void*)at;
    at += sap_align(nodes * sizeof(sap_share_node));
    l->names = (uint16_t*)(void*)at;
}

// ---- Ids and boxes

sap_status sap_cut_share_ids(sap_cut_level* l) {
    uint64_t largest[2] = {0, 0};
    const sap_status own =
        ops_of(l)->number(l->cut->share, l->cut->ids != NULL, l->cut->first_ids[l->comm->rank], largest);
    const sap_status status = reduce_well(l, own, SAP_REDUCE_MAX, largest, 1);
    l->largest_id = largest[0];
    return status;
}

sap_status sap_cut_share_boxes(sap_cut_level* l) {
    const int64_t words = (int64_t)l->count * 2 * l->cut->rows->dims;
    const sap_status own = ops_of(l)->boxes(l->cut->share, l->count, l->numbers);
    const sap_status status = reduce_well(l, own, SAP_REDUCE_MIN, l->numbers, words);
    memcpy(l->box_of, l->numbers, (size_t)words * sizeof *l->numbers);
    return status;
}

// ---- Keys

// Sets out to look for a component's key among all that it may be.
static void begin_component(const sap_cut_level* l, int32_t i, int32_t bins) {
    const int32_t dims = l->cut->rows->dims;
    sap_share_node* n = &l->node[i];
    const uint64_t* box = l->box_of + (int64_t)i * 2 * dims;
    const int32_t a = (n->axis + n->component) % dims;
    n->scale = 0;
    n->is_guess = false;
    n->low = n->component == dims ? 0 : box[a];
    n->high = n->component == dims ? l->largest_id : ~box[dims + a];
    if (n->component > 0) return;
    const double low = sap_cut_value(n->low, l->cut->rows->real_bits);
    const double high = sap_cut_value(n->high, l->cut->rows->real_bits);
    const bool narrow = l->cut->rows->real_bits == 32;
    const double scale = narrow ? (double)((float)bins / ((float)high - (float)low)) : bins / (high - low);
    n->origin = low;
    if (scale > 0 && scale < 1e30) n->scale = scale; // of tiny extents the inverse overflows
}

static int bin_of(const sap_cut_level* l, const sap_share_node* n, uint64_t key, int32_t bins) {
    const double x = sap_cut_value(key, l->cut->rows->real_bits);
    return l->cut->rows->real_bits == 32 ? SAP_SHARE_BIN(float, n, (float)x, bins) : SAP_SHARE_BIN(double, n, x, bins);
}

// The first key from `low` on whose coordinate lies in a bin from `bin` on, or high + 1.
static uint64_t first_key(const sap_cut_level* l, const sap_share_node* n, int32_t bin, int32_t bins) {
    uint64_t low = n->low, high = n->high + 1;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (bin_of(l, n, middle, bins) < bin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Narrows a node's keys to those of the median's bin, unless that is not where it was guessed: then all keys are in question
// again. *mine: how many points of this rank are left.
static bool narrow(const sap_cut_level* l, int32_t i, int32_t bins, int64_t* mine) {
    sap_cut_search* s = &l->searches[i];
    sap_share_node* n = &l->node[i];
    const uint64_t* histogram = l->numbers + (int64_t)i * bins;
    const uint32_t* own = l->own + (int64_t)i * bins;
    int32_t bin = 0;
    int64_t left = s->left, gone = 0;
    while ((uint64_t)left >= histogram[bin]) {
        gone += own[bin];
        left -= (int64_t)histogram[bin++];
        SAP_ASSERT(bin < bins);
    }
    if (n->is_guess && (bin == 0 || bin == bins - 1)) {
        begin_component(l, i, bins);
        return false;
    }
    s->left = left;
    s->gone += gone;
    if (n->scale > 0) {
        const uint64_t first = first_key(l, n, bin, bins), end = first_key(l, n, bin + 1, bins);
        n->low = first;
        n->high = end - 1;
        n->scale = 0;
    } else {
        const uint64_t first = n->low + ((uint64_t)(bin - n->is_guess) << n->shift), width = (uint64_t)1 << n->shift;
        n->high = n->high - first < width ? n->high : first + (width - 1);
        n->low = first;
        n->is_guess = false;
    }
    *mine = own[bin];
    return true;
}

// One key is left: it is the median's. What follows it, if the points that share it have to be told apart.
static void take_key(const sap_cut_level* l, int32_t i, int32_t bins) {
    sap_cut_search* s = &l->searches[i];
    sap_share_node* n = &l->node[i];
    s->key[n->component] = n->pivot[n->component] = n->low;
    s->to = ++n->component;
    n->goes_on = s->left > 0 && n->component <= l->cut->rows->dims;
    if (n->goes_on) begin_component(l, i, bins);
}

static bool begin_keys(sap_cut_level* l, int32_t bins) {
    bool any = false;
    for (int32_t i = 0; i < l->count; i++) {
        const sap_cut_search* s = &l->searches[i];
        l->node[i] = (sap_share_node){.axis = s->axis, .from = s->from, .component = s->from, .goes_on = s->goes_on};
        if (s->goes_on) begin_component(l, i, bins);
        any = any || s->goes_on;
    }
    return any;
}

// Counts all ranks' points.
static sap_status count(const sap_cut_level* l, int32_t bins, int64_t listed) {
    const int32_t bin_bits = sap_cut_bits_of((uint64_t)bins) - 1;
    const int64_t cells = (int64_t)l->count * bins;
    for (int32_t i = 0; i < l->count; i++) {
        sap_share_node* n = &l->node[i];
        const int32_t bits = n->goes_on ? sap_cut_bits_of(n->high - n->low) : 0;
        n->shift = bits > bin_bits ? bits - bin_bits : 0;
        if (n->is_guess && (n->high - n->low) >> n->shift > (uint64_t)bins - 3) n->shift++;
    }
    const sap_status own = ops_of(l)->count(l->cut->share, l->count, l->node, bins, listed, l->own);
    for (int64_t i = 0; i < cells; i++) l->numbers[i] = l->own[i];
    return reduce_well(l, own, SAP_REDUCE_SUM, l->numbers, cells);
}

// Guesses that a median's key lies between two, if any do that it may be.
static bool guess_between(sap_share_node* n, uint64_t low, uint64_t high) {
    if (low < n->low) low = n->low;
    if (high > n->high) high = n->high;
    if (low > high || n->scale == 0) return false;
    n->low = low;
    n->high = high;
    n->scale = 0;
    return n->is_guess = true;
}

// The medians of points that have moved a little lie near those from before.
static bool guess_last(const sap_cut_level* l) {
    const int32_t real_bits = l->cut->rows->real_bits;
    bool any = false;
    for (int32_t i = 0; i < l->count; i++) {
        sap_share_node* n = &l->node[i];
        const sap_cut_plane* p = n->goes_on ? sap_cut_last_of(l, &l->searches[i]) : NULL;
        if (!p) continue;
        const double extent = sap_cut_value(n->high, real_bits) - n->origin, aside = extent / MOVED_PARTS;
        any |=
            guess_between(n, sap_cut_key_of(p->split - aside, real_bits), sap_cut_key_of(p->split + aside, real_bits));
    }
    return any;
}

// Of a sample as many points lie before a median as of all points, give or take some roots of their number.
static bool guess_bins(const sap_cut_level* l, int32_t i, int32_t bins) {
    const sap_cut_search* s = &l->searches[i];
    sap_share_node* n = &l->node[i];
    const uint64_t* histogram = l->numbers + (int64_t)i * bins;
    uint64_t all = 0, before = 0;
    int32_t first = 0, last = 0;
    for (int32_t bin = 0; bin < bins; bin++) all += histogram[bin];
    if (!n->goes_on || n->scale == 0 || all < TRUSTED_LEAST) return false;
    const double middle = (double)all * (double)s->left / (double)(s->node.high - s->node.low);
    const double aside = 3 * sqrt((double)all);
    for (int32_t bin = 0; bin < bins; before += histogram[bin++]) {
        if ((double)before <= middle - aside) first = bin;
        if ((double)before <= middle + aside) last = bin;
    }
    if (last - first >= bins / SAMPLED_PARTS) return false;
    return guess_between(n, first_key(l, n, first, bins), first_key(l, n, last + 1, bins) - 1);
}

// Where medians are looked for first: near those of an earlier cut, or near those of a sample if there are many points.
static sap_status guess(const sap_cut_level* l, int32_t bins, bool* any) {
    *any = guess_last(l);
    if (*any || l->cut->count / l->comm->size < sap_cut_sampled_least) return SAP_OK;
    const sap_status status = count(l, bins, SAP_SHARE_SAMPLED);
    for (int32_t i = 0; i < l->count && status == SAP_OK; i++) *any |= guess_bins(l, i, bins);
    return status;
}

sap_status sap_cut_share_keys(sap_cut_level* l) {
    int32_t bins = MOST_BINS;
    bool guessed;
    while (bins > SAP_SHARE_LEAST && (int64_t)bins * l->count > SAP_SHARE_BINS) bins /= 2;
    if (!begin_keys(l, bins)) return SAP_OK;
    sap_status status = guess(l, bins, &guessed);
    int64_t listed = guessed ? SAP_SHARE_GUESSED : SAP_SHARE_ALL;
    for (bool any = true; any && status == SAP_OK;) {
        status = count(l, bins, listed);
        bool are_listed = true; // or may be, from now on
        int64_t more = 0;
        any = false;
        for (int32_t i = 0; i < l->count && status == SAP_OK; i++) {
            sap_share_node* n = &l->node[i];
            int64_t mine = 0;
            if (!n->goes_on) continue;
            are_listed = are_listed && (n->is_guess || listed != SAP_SHARE_GUESSED);
            if (narrow(l, i, bins, &mine)) {
                l->searches[i].tied_end = l->searches[i].node.begin + mine;
                if (n->low == n->high) take_key(l, i, bins);
            } else {
                are_listed = false;
            }
            if (n->goes_on) more += mine;
            any = any || n->goes_on;
        }
        listed = are_listed ? more : SAP_SHARE_ALL;
    }
    return status;
}

// ---- Halves

sap_status sap_cut_share_divide(sap_cut_level* l) {
    for (int32_t i = 0; i < l->count; i++) {
        sap_cut_search* search = &l->searches[i];
        l->node[i].take = search->take;
        search->gone += search->take; // beside those that were counted before the median
        for (int side = 0; side < 2; side++) l->names[2 * i + side] = (uint16_t)search->half[side]->name;
    }
    (void)ops_of(l)->divide(l->cut->share, l->count, l->node, l->names); // what is asked of the share next says it, too
    return SAP_OK;
}
