// Alignment on the CPU: which point of the target each point of the source is paired with, and the sums over pairs.
#include "base/team.h"
#include "cloud/align.h"
#include "cloud/points_cpu.h"
#include "device/cpu.h"
#include "ray/ops.h"
#include "tree/layout.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 4096, SAMPLE = 256 };

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
        const double farthest = a->job->options.max_distance * SAP_ALIGN_RESERVE;                                      \
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
    const double limit = a->job->options.max_distance * SAP_ALIGN_RESERVE;
    const sap_search search = {.k = neighbors, .radius = isfinite(limit) ? limit : 0, .ordered = true};
    if (a->real_bits == 64)
        return sap_nearest_f64(tree, (sap_points_f64){queries, listed, 3, 0}, &search, a->found, a->found2);
    return sap_nearest(tree, (sap_points){queries, listed, 3, 0}, &search, a->found, a->found2);
}

// What the step before found limits the search.
static void tell_known(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    const sap_align_points* s = &a->points;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int32_t place = a->places[i];
        for (int c = 0; c < 3; c++)
            a->known[3 * i + c] = s->pairs[place] < 0 ? NAN : ((const float*)s->other[c])[place];
    }
}

static sap_status search_mesh(sap_aligning* a, int64_t listed) {
    passing p = {.a = a};
    const sap_closest_job job = {
        .points = {a->queries, listed, 3, 3, 32}, .closest = a->closest, .known = a->known, .is_ordered = true};
    sap_team_loop(a->threads, listed, GRAIN, tell_known, &p);
    return a->device->rooms.ray->closest(a->job->mesh, &job);
}

// The normal of a triangle is found when a point first has it as its nearest.
static void take_mesh(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const sap_closest* closest = a->closest + i;
        const int32_t place = a->places[i];
        sap_align_pair(a, place, closest->triangle, closest->point);
        ((float*)a->points.reach)[place] = FLT_MIN;
        for (int c = 0; c < 3; c++) ((float*)a->points.asked[c])[place] = ((const float*)a->queries)[3 * i + c];
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

static sap_status match(sap_aligning* a, int64_t count) {
    passing p = {.a = a, .count = count};
    sap_status status = SAP_OK;
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, look_at_block, &p);
    const int64_t listed = join_lists(a, count);
    if (!listed) return SAP_OK;
    sap_progress_mute(true);
    if (a->job->mesh) {
        status = search_mesh(a, listed);
    } else {
        status = choose_neighbors(a, listed);
        p.neighbors = a->neighbors;
        if (status == SAP_OK) status = search_tree(a, a->queries, listed, p.neighbors);
    }
    sap_progress_mute(false);
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

static sap_status judge(sap_aligning* a, int64_t count) {
    passing p = {.a = a, .count = count};
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, measure_block, &p);
    if (sap_align_chooses(&a->job->options)) sap_align_choose(a, count);
    return SAP_OK;
}

// ---- Sums

static void add_block(void* context, int64_t from, int64_t to, int32_t worker) {
    const passing* p = context;
    sap_aligning* a = p->a;
    (void)worker;
    a->kernels->add(&a->points, &a->pose, &a->rule, p->matrix, from, to,
                    a->sums + from / SAP_ALIGN_BLOCK * SAP_ALIGN_SUMS);
}

static sap_status add(sap_aligning* a, int64_t count, bool matrix, double sums[SAP_ALIGN_SUMS]) {
    passing p = {.a = a, .count = count, .matrix = matrix};
    sap_team_loop(a->threads, count, SAP_ALIGN_BLOCK, add_block, &p);
    for (int k = 0; k < SAP_ALIGN_SUMS; k++) sums[k] = 0;
    for (int64_t block = 0; block < sap_align_blocks(count); block++)
        for (int k = 0; k < SAP_ALIGN_SUMS; k++) sums[k] += a->sums[block * SAP_ALIGN_SUMS + k];
    return SAP_OK;
}

// ---- All of it

static sap_status begin(sap_aligning* a) {
    sap_cloud_points points;
    a->kernels = sap_cpu_kernels_of(a->device, a->real_bits)->align;
    if (a->job->mesh) return SAP_OK;
    if (!sap_cloud_points_open(a->job->tree, &points))
        return sap_fail(a->device, SAP_ERROR_MEMORY, "no memory for the target's points by their ids");
    a->target_points = points.points;
    a->target_memory = points.memory;
    return SAP_OK;
}

static void end(sap_aligning* a) { sap_scratch_give(a->device, &a->target_memory); }

const sap_align_ops sap_align_ops_cpu = {.begin = begin, .end = end, .match = match, .judge = judge, .add = add};

sap_status sap_cloud_align_cpu(sap_align_job* job) { return sap_align_run(job, &sap_align_ops_cpu, NULL); }
