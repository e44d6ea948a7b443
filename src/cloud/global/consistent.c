// Which matches agree: two do if their points are as far apart in both clouds and their normals lie alike to the line
// between them. Matches that have many agreeing ones in common are right (second-order consistency, Chen and others 2022);
// each of the best of them leads to a motion.
#include "base/team.h"
#include "cloud/global/global.h"
#include <math.h>
#include <string.h>

// Lengths are in units of the spacing.
#define NEAREST  3.0 // pairs that are nearer to each other agree by chance
#define LENGTHS  1.5 // by which distances may differ: both ends lie anywhere within a cell
#define ANGLES   0.3 // by which cosines may differ
#define AGREEING 1.5 // how near a match must come
#define DISTINCT 2.0 // how far motions differ on a box of the source that are not alike

enum {
    MOST_MATCHES = 2048,
    WORDS = MOST_MATCHES / 64,
    SEEDS = 256,  // matches that lead to a motion
    FRIENDS = 24, // matches that make the first guess of it
    GRAIN = 8
};

typedef struct agreeing {
    const sap_globe* g;
    const sap_match* matches; // [count] the best of all
    int64_t count;
    uint64_t* rows;  // [count][WORDS] which others agree with each
    int64_t* scores; // [count]
    int32_t* seeds;  // [SEEDS]
    int64_t seed_count;
    sap_motion* motions; // [SEEDS]
} agreeing;

static int bits_of(uint64_t x) {
    // Not every processor that this file is compiled for has an instruction for it.
    x = x - (x >> 1 & UINT64_C(0x5555555555555555));
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(x * UINT64_C(0x0101010101010101) >> 56);
}

// What two points say of each other: their distance, and the sizes of the cosines of normal and normal and of each normal
// and the line.
typedef struct relation {
    double length, normals, first, second;
} relation;

static relation relate(const sap_global_cloud* cloud, int32_t a, int32_t b) {
    const float *p = cloud->points + 3 * (int64_t)a, *q = cloud->points + 3 * (int64_t)b;
    const float *n = cloud->normals + 3 * (int64_t)a, *m = cloud->normals + 3 * (int64_t)b;
    double d[3], squares = 0, normals = 0, first = 0, second = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = (double)q[c] - (double)p[c];
        squares += d[c] * d[c];
        normals += (double)n[c] * (double)m[c];
        first += (double)n[c] * d[c];
        second += (double)m[c] * d[c];
    }
    const double length = sqrt(squares), per = length > 0 ? 1 / length : 0;
    return (relation){length, fabs(normals), fabs(first) * per, fabs(second) * per};
}

static bool do_agree(const sap_globe* g, const sap_match* a, const sap_match* b) {
    if (a->source == b->source || a->target == b->target) return false;
    const relation s = relate(&g->source, a->source, b->source);
    if (s.length < NEAREST) return false;
    const relation t = relate(&g->target, a->target, b->target);
    return t.length >= NEAREST && fabs(s.length - t.length) <= LENGTHS && fabs(s.normals - t.normals) <= ANGLES &&
           fabs(s.first - t.first) <= ANGLES && fabs(s.second - t.second) <= ANGLES;
}

static void fill_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const agreeing* a = context;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        for (int64_t j = 0; j < a->count; j++)
            if (i != j && do_agree(a->g, &a->matches[i], &a->matches[j]))
                a->rows[i * WORDS + j / 64] |= UINT64_C(1) << j % 64;
}

static bool agrees(const agreeing* a, int64_t i, int64_t j) { return a->rows[i * WORDS + j / 64] >> j % 64 & 1; }

// How many matches agree with both.
static int32_t common(const agreeing* a, int64_t i, int64_t j) {
    int32_t count = 0;
    for (int w = 0; w < WORDS; w++) count += bits_of(a->rows[i * WORDS + w] & a->rows[j * WORDS + w]);
    return count;
}

static void score_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const agreeing* a = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        a->scores[i] = 0;
        for (int64_t j = 0; j < a->count; j++)
            if (agrees(a, i, j)) a->scores[i] += common(a, i, j);
    }
}

// The motion that suits matches best (Horn 1987).
static void fit(const agreeing* a, const int32_t* chosen, int64_t count, sap_motion* motion) {
    double own[3] = {0}, other[3] = {0}, products[9] = {0}, turned[3];
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            own[c] += (double)a->g->source.points[3 * (int64_t)a->matches[chosen[i]].source + c];
            other[c] += (double)a->g->target.points[3 * (int64_t)a->matches[chosen[i]].target + c];
        }
    for (int c = 0; c < 3; c++) {
        own[c] /= (double)count;
        other[c] /= (double)count;
    }
    for (int64_t i = 0; i < count; i++) {
        const float* p = a->g->source.points + 3 * (int64_t)a->matches[chosen[i]].source;
        const float* q = a->g->target.points + 3 * (int64_t)a->matches[chosen[i]].target;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) products[3 * r + c] += ((double)p[r] - own[r]) * ((double)q[c] - other[c]);
    }
    sap_turn_of_products(products, motion->turn);
    sap_turn_vector(motion->turn, own, turned);
    for (int c = 0; c < 3; c++) motion->shift[c] = other[c] - turned[c];
}

// The matches that a motion takes onto each other.
static int64_t gather_agreeing(const agreeing* a, const sap_motion* motion, int32_t* chosen) {
    int64_t count = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const float* q = a->g->target.points + 3 * (int64_t)a->matches[i].target;
        double at[3], squares = 0;
        sap_motion_point(motion, a->g->source.points + 3 * (int64_t)a->matches[i].source, at);
        for (int c = 0; c < 3; c++) squares += (at[c] - (double)q[c]) * (at[c] - (double)q[c]);
        if (squares <= AGREEING * AGREEING) chosen[count++] = (int32_t)i;
    }
    return count;
}

// A seed and those of its friends that have most in common with it; then all that agree with the motion of these.
static void move_seed(void* context, int64_t part, int32_t worker) {
    const agreeing* a = context;
    const int32_t seed = a->seeds[part];
    sap_motion* motion = &a->motions[part];
    int32_t chosen[MOST_MATCHES], shared[FRIENDS];
    int64_t count = 0;
    (void)worker;
    motion->agreeing = 0;
    for (int64_t j = 0; j < a->count; j++) {
        if (!agrees(a, seed, j)) continue;
        const int32_t both = common(a, seed, j);
        int64_t at = count < FRIENDS ? count : FRIENDS;
        while (at > 0 && shared[at - 1] < both) at--;
        if (at == FRIENDS) continue;
        if (count < FRIENDS) count++;
        for (int64_t k = count - 1; k > at; k--) {
            shared[k] = shared[k - 1];
            chosen[k] = chosen[k - 1];
        }
        shared[at] = both;
        chosen[at] = (int32_t)j;
    }
    if (count < 2) return;
    chosen[count++] = seed;
    fit(a, chosen, count, motion);
    for (int round = 0; round < 3; round++) {
        count = gather_agreeing(a, motion, chosen);
        if (count <= motion->agreeing || count < 3) break;
        motion->agreeing = count;
        fit(a, chosen, count, motion);
    }
}

// How far two motions differ on the corners of a box about the source's middle, which is 0.
static bool are_alike(const sap_motion* a, const sap_motion* b, const double half[3]) {
    for (int corner = 0; corner < 8; corner++) {
        float p[3];
        double x[3], y[3], squares = 0;
        for (int c = 0; c < 3; c++) p[c] = (float)(corner >> c & 1 ? half[c] : -half[c]);
        sap_motion_point(a, p, x);
        sap_motion_point(b, p, y);
        for (int c = 0; c < 3; c++) squares += (x[c] - y[c]) * (x[c] - y[c]);
        if (squares > DISTINCT * DISTINCT) return false;
    }
    return true;
}

static int64_t take_distinct(const agreeing* a, sap_motion* motions, int64_t most) {
    double half[3] = {0, 0, 0};
    int64_t count = 0;
    for (int64_t i = 0; i < 3 * a->g->source.count; i++) {
        const double x = fabs((double)a->g->source.points[i]);
        half[i % 3] = x > half[i % 3] ? x : half[i % 3];
    }
    while (count < most) {
        int64_t best = -1;
        for (int64_t i = 0; i < a->seed_count; i++)
            if (a->motions[i].agreeing >= 3 && (best < 0 || a->motions[i].agreeing > a->motions[best].agreeing))
                best = i;
        if (best < 0) break;
        motions[count++] = a->motions[best];
        for (int64_t i = 0; i < a->seed_count; i++)
            if (are_alike(&a->motions[i], &motions[count - 1], half)) a->motions[i].agreeing = 0;
    }
    return count;
}

// The matches whose features are most alike, in their order.
static int64_t take_best(const sap_globe* g, sap_match* to) {
    int64_t count = 0;
    if (g->match_count <= MOST_MATCHES) {
        memcpy(to, g->matches, (size_t)g->match_count * sizeof *to);
        return g->match_count;
    }
    // The limit by its bits, which order as the distances do: none is negative.
    uint32_t low = 0, high = UINT32_MAX;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        int64_t within = 0;
        for (int64_t i = 0; i < g->match_count; i++) {
            uint32_t bits;
            memcpy(&bits, &g->matches[i].distance2, sizeof bits);
            within += bits <= middle;
        }
        if (within >= MOST_MATCHES)
            high = middle;
        else
            low = middle + 1;
    }
    for (int64_t i = 0; i < g->match_count && count < MOST_MATCHES; i++) {
        uint32_t bits;
        memcpy(&bits, &g->matches[i].distance2, sizeof bits);
        if (bits <= low) to[count++] = g->matches[i];
    }
    return count;
}

static bool are_near(const sap_global_cloud* cloud, int32_t i, int32_t j) {
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)cloud->points[3 * (int64_t)i + c] - (double)cloud->points[3 * (int64_t)j + c];
        squares += d * d;
    }
    return squares <= NEAREST * NEAREST;
}

// Those with the highest scores, none beside a better one in both clouds.
static void choose_seeds(agreeing* a) {
    while (a->seed_count < SEEDS) {
        int64_t best = 0;
        for (int64_t i = 1; i < a->count; i++)
            if (a->scores[i] > a->scores[best]) best = i;
        if (a->count == 0 || a->scores[best] <= 0) break;
        a->seeds[a->seed_count++] = (int32_t)best;
        for (int64_t i = 0; i < a->count; i++)
            if (are_near(&a->g->source, a->matches[i].source, a->matches[best].source) &&
                are_near(&a->g->target, a->matches[i].target, a->matches[best].target))
                a->scores[i] = 0;
    }
}

sap_status sap_global_propose(sap_globe* g, sap_motion* motions, int64_t most, int64_t* count) {
    const size_t rows = (size_t)MOST_MATCHES * WORDS * sizeof(uint64_t), scores = MOST_MATCHES * sizeof(int64_t),
                 matches = MOST_MATCHES * sizeof(sap_match), seeds = SEEDS * sizeof(int32_t),
                 ways = SEEDS * sizeof(sap_motion);
    const int32_t threads = g->device->options.threads;
    sap_scratch memory = {NULL, 0};
    if (!sap_scratch_take(g->device, rows + scores + ways + matches + seeds, &memory))
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory to compare matches");
    unsigned char* at = memory.memory;
    sap_match* best = (sap_match*)(void*)(at + rows + scores + ways);
    agreeing a = {.g = g,
                  .matches = best,
                  .count = take_best(g, best),
                  .rows = (uint64_t*)(void*)at,
                  .scores = (int64_t*)(void*)(at + rows),
                  .motions = (sap_motion*)(void*)(at + rows + scores),
                  .seeds = (int32_t*)(void*)(at + rows + scores + ways + matches)};
    memset(a.rows, 0, rows);
    sap_team_loop(threads, a.count, GRAIN, fill_rows, &a);
    sap_team_loop(threads, a.count, GRAIN, score_rows, &a);
    choose_seeds(&a);
    sap_team_run(threads, a.seed_count, move_seed, &a);
    *count = take_distinct(&a, motions, most);
    sap_scratch_give(g->device, &memory);
    return SAP_OK;
}
