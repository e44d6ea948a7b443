// Which point of the target each point of the source is paired with, and which of these pairs count.
#include "base/team.h"
#include "cloud/align.h"
#include "cloud/sort.h"
#include "sapwood/mesh.h"
#include "tree/layout.h"
#include <math.h>
#include <string.h>

#define RESERVE       1.25 // a search goes so much farther than pairs may, so that points may move before it is made again
#define LEAST_OVERLAP 0.3

enum { GRAIN = 4096, SAMPLE = 256, DIGIT = 11, DIGITS = 1 << DIGIT };

typedef struct passing {
    sap_aligning* a;
    int64_t count;
    bool matrix;
    int32_t neighbors; // a search
} passing;

// Writes a normal of length 1, or 0, to a place.
void sap_align_take_normal(float* const to[3], int64_t place, const float from[3]) {
    const double x = (double)from[0], y = (double)from[1], z = (double)from[2], length = sqrt(x * x + y * y + z * z);
    for (int c = 0; c < 3; c++) to[c][place] = length > 0 ? (float)((double)from[c] / length) : 0.0f;
}

void sap_align_pair(sap_aligning* a, int64_t place, int32_t id, const void* point) {
    sap_align_points* s = &a->points;
    s->pairs[place] = id;
    if (id < 0) return;
    for (int c = 0; c < 3; c++) {
        if (a->real_bits == 64)
            ((double*)s->other[c])[place] = ((const double*)point)[c];
        else
            ((float*)s->other[c])[place] = ((const float*)point)[c];
    }
    if (s->other_normals[0]) sap_align_take_normal(s->other_normals, place, a->target_normals + 3 * (int64_t)id);
}

static void look_at_block(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    const size_t row = 3 * (size_t)a->real_bits / 8;
    (void)worker;
    a->listed[from / SAP_ALIGN_BLOCK] =
        a->kernels->look(a, from, to, (unsigned char*)a->queries + (size_t)from * row, a->places + from);
}

// Puts the lists of all blocks one after another. Gives how many there are.
static int64_t join_lists(sap_aligning* a, int64_t count) {
    const size_t row = 3 * (size_t)a->real_bits / 8;
    unsigned char* queries = a->queries;
    int64_t total = 0;
    for (int64_t block = 0; block < sap_align_blocks(count); block++) {
        const int64_t from = block * SAP_ALIGN_BLOCK, listed = a->listed[block];
        if (from != total && listed) {
            memmove(queries + (size_t)total * row, queries + (size_t)from * row, (size_t)listed * row);
            memmove(a->places + total, a->places + from, (size_t)listed * sizeof *a->places);
        }
        total += listed;
    }
    return total;
}

#define TAKE(real)                                                                                                     \
    static void take_##real(void* context, int64_t from, int64_t to, int32_t worker) {                                 \
        const passing* p = context;                                                                                    \
        sap_aligning* a = p->a;                                                                                        \
        sap_align_points* s = &a->points;                                                                              \
        const real *target = a->target_points, *queries = a->queries, *found2 = a->found2;                             \
        const int32_t k = p->neighbors;                                                                                \
        const double farthest = a->job->options.max_distance * RESERVE;                                                \
        (void)worker;                                                                                                  \
        for (int64_t i = from; i < to; i++) {                                                                          \
            const int32_t place = a->places[i], *found = a->found + i * k;                                             \
            double reach = found[0] < 0 ? farthest : 0, near_reach = reach;                                            \
            if (k > 1) {                                                                                               \
                reach = found[1] < 0 ? farthest : sqrt((double)found2[i * k + 1]);                                     \
                near_reach = found[k - 1] < 0 ? farthest : sqrt((double)found2[i * k + k - 1]);                        \
            }                                                                                                          \
            for (int32_t n = 0; n < SAP_ALIGN_NEAR; n++)                                                               \
                s->near[(int64_t)place * SAP_ALIGN_NEAR + n] = n < k ? found[n] : -1;                                  \
            if (found[0] != s->pairs[place])                                                                           \
                sap_align_pair(a, place, found[0], found[0] < 0 ? NULL : target + 4 * (int64_t)found[0]);              \
            ((real*)s->reach)[place] = (real)reach;                                                                    \
            ((real*)s->near_reach)[place] = (real)near_reach;                                                          \
            for (int c = 0; c < 3; c++) {                                                                              \
                ((real*)s->asked[c])[place] = queries[3 * i + c];                                                      \
                ((real*)s->near_asked)[3 * (int64_t)place + c] = queries[3 * i + c];                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
TAKE(float)
TAKE(double)

static sap_status search_tree(sap_aligning* a, const void* queries, int64_t listed, int32_t neighbors) {
    const sap_tree* tree = a->job->tree;
    const double limit = a->job->options.max_distance * RESERVE;
    const sap_search search = {.k = neighbors, .radius = isfinite(limit) ? limit : 0, .ordered = true};
    if (a->real_bits == 64)
        return sap_nearest_f64(tree, (sap_points_f64){queries, listed, 3, 0}, &search, a->found, a->found2);
    return sap_nearest(tree, (sap_points){queries, listed, 3, 0}, &search, a->found, a->found2);
}

// The normal of a triangle is found when a point first has it as its nearest.
static void take_mesh(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const sap_closest* closest = a->closest + i;
        sap_align_pair(a, a->places[i], closest->triangle, closest->point);
    }
}

// How many neighbours searches look for: many cost more, but serve for several steps if these are short.
static sap_status choose_neighbors(sap_aligning* a, int64_t listed) {
    const int64_t sampled = listed < SAMPLE ? listed : SAMPLE, step = listed / sampled;
    const size_t row = 3 * (size_t)a->real_bits / 8;
    unsigned char* queries = a->queries;
    double sum = 0;
    int64_t full = 0;
    if (a->gap < 0) {
        unsigned char sample[SAMPLE * 3 * sizeof(double)] = {0};
        for (int64_t i = 0; i < sampled; i++) memcpy(sample + (size_t)i * row, queries + (size_t)(i * step) * row, row);
        const sap_status status = search_tree(a, sample, sampled, SAP_ALIGN_NEAR);
        if (status != SAP_OK) return status;
        for (int64_t i = 0; i < sampled; i++) {
            const int64_t first = i * SAP_ALIGN_NEAR, last = first + SAP_ALIGN_NEAR - 1;
            if (a->found[last] < 0) continue;
            sum += a->real_bits == 64
                       ? sqrt(((const double*)a->found2)[last]) - sqrt(((const double*)a->found2)[first])
                       : sqrt((double)((const float*)a->found2)[last]) - sqrt((double)((const float*)a->found2)[first]);
            full++;
        }
        a->gap = full ? sum / (double)full / 2 : 0;
    }
    a->neighbors = a->last_move < 2 * a->gap ? SAP_ALIGN_NEAR : 1;
    return SAP_OK;
}

sap_status sap_align_match(sap_aligning* a, int64_t count) {
    passing p = {.a = a, .count = count};
    sap_status status = SAP_OK;
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, look_at_block, &p);
    const int64_t listed = join_lists(a, count);
    if (!listed) return SAP_OK;
    sap_progress_mute(a->device, true);
    if (a->job->mesh) {
        status = sap_closest_point(a->job->mesh, (sap_points){a->queries, listed, 3, 0}, a->closest);
    } else {
        status = choose_neighbors(a, listed);
        p.neighbors = a->neighbors;
        if (status == SAP_OK) status = search_tree(a, a->queries, listed, p.neighbors);
    }
    sap_progress_mute(a->device, false);
    if (status != SAP_OK) return status;
    sap_team_loop(a->threads, listed, GRAIN,
                  a->job->mesh         ? take_mesh
                  : a->real_bits == 64 ? take_double
                                       : take_float,
                  &p);
    return SAP_OK;
}

// ---- Which pairs count

static void measure_block(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    (void)worker;
    p->a->kernels->measure(&p->a->points, &p->a->pose, &p->a->rule, from, to);
}

uint32_t sap_align_ranked(const uint32_t* keys, int64_t count, int64_t rank) {
    uint32_t prefix = 0, known = 0;
    for (int shift = 32 - DIGIT; shift > -DIGIT; shift -= DIGIT) {
        const int down = shift > 0 ? shift : 0;
        int64_t counts[DIGITS] = {0};
        for (int64_t i = 0; i < count; i++)
            if ((keys[i] & known) == prefix) counts[keys[i] >> down & (DIGITS - 1)]++;
        uint32_t digit = 0;
        while (rank >= counts[digit]) rank -= counts[digit++];
        prefix |= digit << down;
        known |= (uint32_t)(DIGITS - 1) << down;
    }
    return prefix;
}

// The bits of a float that is not negative stand in the order of the numbers. Squares are divided by that of the size.
static uint32_t key_of(double square, double size2) {
    const float part = (float)(square / size2);
    uint32_t key;
    memcpy(&key, &part, sizeof key);
    return key;
}

static double square_of(uint32_t key, double size2) {
    float part;
    memcpy(&part, &key, sizeof part);
    return (double)part * size2;
}

// Of the points that share a point of the target only the nearest counts.
static void keep_one_to_one(sap_aligning* a, int64_t count) {
    sap_align_points* s = &a->points;
    const double size2 = a->rule.size * a->rule.size;
    for (int64_t i = 0; i < count; i++)
        if (s->pairs[i] >= 0) a->owners[s->pairs[i]] = -1;
    for (int64_t i = 0; i < count; i++) {
        if (!(s->counts[i] > 0)) continue;
        const int32_t other = s->pairs[i], owner = a->owners[other];
        const uint32_t key = key_of(s->distance2[i], size2);
        if (owner >= 0) {
            const uint32_t least = key_of(s->distance2[owner], size2);
            if (key > least || (key == least && s->ids[i] > s->ids[owner])) {
                s->counts[i] = 0;
                continue;
            }
            s->counts[owner] = 0;
        }
        a->owners[other] = (int32_t)i;
    }
}

// Keys of the pairs that count, one after another.
static int64_t gather_keys(sap_aligning* a, const double* squares, int64_t count) {
    const double size2 = a->rule.size * a->rule.size;
    int64_t keys = 0;
    for (int64_t i = 0; i < count; i++) {
        a->keys[keys] = key_of(squares[i], size2);
        keys += a->points.counts[i] > 0;
    }
    return keys;
}

// The number of pairs, from 0.3 of all points on, with the least mean of squares over the third power of their part: the
// same as the least sum over the fourth power of their number.
static int64_t find_overlap(sap_aligning* a, int64_t keys, int64_t count) {
    const bool is_spare = sap_cloud_sort_32(a->keys, a->numbers, a->spare_keys, a->numbers + count, keys, 32);
    const uint32_t* sorted = is_spare ? a->spare_keys : a->keys;
    double sum = 0, least = (double)INFINITY;
    int64_t best = keys;
    for (int64_t i = 0; i < keys; i++) {
        const double part = (double)(i + 1) / (double)count;
        sum += square_of(sorted[i], 1);
        const double value = sum / (part * part * part * part);
        if (part < LEAST_OVERLAP && i + 1 < keys) continue;
        if (value < least) {
            least = value;
            best = i + 1;
        }
    }
    // Those that are as far count too.
    while (best < keys && sorted[best] == sorted[best - 1]) best++;
    a->nearest_key = best ? sorted[best - 1] : 0;
    return best;
}

static void trim(sap_aligning* a, int64_t count) {
    const sap_align_options* o = &a->job->options;
    sap_align_points* s = &a->points;
    const double size2 = a->rule.size * a->rule.size;
    const int64_t keys = gather_keys(a, s->distance2, count);
    a->job->out.overlap = o->find_overlap ? 0 : o->overlap;
    if (!keys) return;
    if (o->find_overlap) {
        a->job->out.overlap = (double)find_overlap(a, keys, count) / (double)count;
    } else {
        const int64_t most = (int64_t)ceil(o->overlap * (double)count);
        if (most >= keys) return;
        a->nearest_key = sap_align_ranked(a->keys, keys, most > 0 ? most - 1 : 0);
    }
    for (int64_t i = 0; i < count; i++)
        if (key_of(s->distance2[i], size2) > a->nearest_key) s->counts[i] = 0;
}

static void find_scale(sap_aligning* a, int64_t count) {
    static const double factors[] = {0, 1.345, 4.685, 2.385};
    const double factor = 1.4826 * factors[a->rule.kernel], size2 = a->rule.size * a->rule.size;
    const int64_t keys = gather_keys(a, a->points.residual2, count);
    const double middle = keys ? square_of(sap_align_ranked(a->keys, keys, keys / 2), size2) : 0;
    // Where more than half of the pairs fit exactly, all that do not are outliers: but no scale is 0.
    const double least = size2 * 1e-24;
    a->rule.scale2 = factor * factor * (middle > least ? middle : least);
}

void sap_align_judge(sap_aligning* a, int64_t count) {
    const sap_align_options* o = &a->job->options;
    passing p = {.a = a, .count = count};
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, measure_block, &p);
    if (o->one_to_one) keep_one_to_one(a, count);
    if (o->find_overlap || o->overlap < 1) trim(a, count);
    if (o->kernel != SAP_KERNEL_NONE && !(o->kernel_scale > 0)) find_scale(a, count);
}

// ---- Sums

static void add_block(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    (void)worker;
    a->kernels->add(&a->points, &a->pose, &a->rule, p->matrix, from, to,
                    a->sums + from / SAP_ALIGN_BLOCK * SAP_ALIGN_SUMS);
}

void sap_align_add(sap_aligning* a, int64_t count, bool matrix, double sums[SAP_ALIGN_SUMS]) {
    passing p = {.a = a, .count = count, .matrix = matrix};
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, add_block, &p);
    for (int k = 0; k < SAP_ALIGN_SUMS; k++) sums[k] = 0;
    for (int64_t block = 0; block < sap_align_blocks(count); block++)
        for (int k = 0; k < SAP_ALIGN_SUMS; k++) sums[k] += a->sums[block * SAP_ALIGN_SUMS + k];
}
