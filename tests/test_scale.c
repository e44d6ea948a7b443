// Trees over ranks that are simulated: what is sent is what docs/scale.md says. Counts are compared with a count of the
// points that a rank gives and another one holds, and of the queries whose neighbours may lie with another one; both with
// the formulas of the page; and with the calls alone, which go on to more ranks than the library could run on here.
#include "../bench/schedule.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>

#if defined(SAP_HAVE_THREADS)
#define NEEDS_THREADS
#else
#define NEEDS_THREADS SKIP("built without threads: there is one rank")
#endif

static bool is_near(double a, double b, double margin) { return fabs(a - b) <= margin * fmax(fabs(a), fabs(b)); }

// Within margins where chance decides which ranks have something for each other; a margin of 0 is none.
static void check_sent(const ranks_counts* c, const scale_plan* p, double margin, double bytes_margin) {
    CHECK((double)c->gather.calls == p->gather.calls);
    CHECK((double)c->reduce.calls == p->reduce.calls);
    CHECK((double)c->exchange.calls == p->exchange.calls);
    CHECK((double)c->gather.messages == p->gather.messages);
    // Boxes tell first bits of keys, so that the last reduction of a key is smaller.
    CHECK((double)c->reduce.messages <= p->reduce.messages && (double)c->reduce.messages >= 0.8 * p->reduce.messages);
    CHECK((double)c->gather.bytes == p->gather.bytes);
    CHECK((double)c->reduce.bytes <= 1.001 * p->reduce.bytes); // halves of an odd number are rounded
    CHECK((double)c->reduce.bytes >= 0.75 * p->reduce.bytes);
    if (margin == 0) CHECK_EQUAL(c->exchange.messages, llround(p->exchange.messages));
    CHECK(is_near((double)c->exchange.messages, p->exchange.messages, fmax(margin, 1e-6)));
    CHECK(is_near((double)c->exchange.bytes, p->exchange.bytes, bytes_margin));
    CHECK(is_near(c->seconds, p->seconds, 0.3));
}

static scale_task task_of(int32_t ranks, int64_t each) {
    return (scale_task){.points = (double)(ranks * each),
                        .ranks = ranks,
                        .dims = 3,
                        .real_bits = 32,
                        .leaf_size = 32,
                        .keys = 1,
                        .k = 8};
}

TEST(the_library_sends_what_the_formulas_say) {
    NEEDS_THREADS;
    static const int32_t ranks[] = {1, 2, 3, 5, 8, 16, 37, 64};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int way = 0; way < 3; way++) {
            scale_task t = task_of(ranks[i], 256);
            t.placed = way == 1;
            t.queries = way == 2 ? 200 : 0;
            scale_counts counts = {.memory = 0};
            NOTE("%d ranks, way %d", (int)ranks[i], way);
            if (!CHECK(scale_run(&t, &RANKS_NETWORK, &counts))) continue;
            const scale_plan build = scale_plan_of(&t, &RANKS_NETWORK, scale_build);
            const scale_plan nearest = scale_plan_of(&t, &RANKS_NETWORK, scale_nearest);
            // With 16 points for each pair of ranks there is a message for each: nothing is left to chance.
            const bool all = t.placed || t.ranks <= 16;
            check_sent(&counts.build, &build, all ? 0 : 0.02, t.ranks < 8 ? 0.12 : 0.02);
            const bool cubes = t.ranks == 1 || t.ranks == 8 || t.ranks == 64;
            if (cubes) check_sent(&counts.nearest, &nearest, 0.05, 0.25);
        }
    NOTE("%s", "");
}

TEST(calls_without_data_are_those_of_the_library) {
    NEEDS_THREADS;
    for (int32_t ranks = 2; ranks <= 512; ranks *= 4) {
        scale_task t = task_of(ranks, 64);
        scale_counts counts = {.memory = 0}, replayed = {.memory = 0};
        NOTE("%d ranks", (int)ranks);
        CHECK(scale_replay(&t, &RANKS_NETWORK, &replayed));
        const scale_plan build = scale_plan_of(&t, &RANKS_NETWORK, scale_build);
        const scale_plan nearest = scale_plan_of(&t, &RANKS_NETWORK, scale_nearest);
        check_sent(&replayed.build, &build, 0.02, ranks < 8 ? 0.2 : 0.02);
        check_sent(&replayed.nearest, &nearest, 0.05, 0.05);
        if (ranks > 128 || !CHECK(scale_run(&t, &RANKS_NETWORK, &counts))) continue;
        CHECK_EQUAL(counts.build.reduce.calls, replayed.build.reduce.calls);
        CHECK(counts.build.reduce.messages <= replayed.build.reduce.messages);
        CHECK(counts.build.reduce.bytes <= replayed.build.reduce.bytes);
        CHECK_EQUAL(counts.build.gather.messages, replayed.build.gather.messages);
        CHECK_EQUAL(counts.build.exchange.calls, replayed.build.exchange.calls);
        CHECK_EQUAL(counts.nearest.reduce.messages, replayed.nearest.reduce.messages);
        CHECK_EQUAL(counts.nearest.exchange.calls, replayed.nearest.exchange.calls);
        CHECK(is_near(counts.build.seconds, replayed.build.seconds, 0.25));
        CHECK(is_near(counts.nearest.seconds, replayed.nearest.seconds, 0.1));
    }
    NOTE("%s", "");
}

// ---- Counts of what must be sent

enum { RANKS = 16, EACH = 100, K = 3, DIMS = 2 };

typedef struct holding {
    int64_t count;
    int64_t ids[RANKS * EACH];
    float coords[RANKS * EACH * DIMS], lower[DIMS], upper[DIMS];
} holding;

static struct {
    holding holds[RANKS];
    ranks_counts build, nearest;
} seen;

static void hold_points(ranks_rank* r, void* context) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    sap_device* device;
    sap_cluster_tree* tree;
    float share[EACH * DIMS];
    holding* h = &seen.holds[r->rank];
    uint64_t state = (uint64_t)r->rank + 5;
    (void)context;
    for (int i = 0; i < EACH * DIMS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        share[i] = (float)(state >> 40);
    }
    CHECK(sap_device_open(&options, &device) == SAP_OK);
    const sap_status built = sap_cluster_build(r->comm, device, (sap_points){share, EACH, DIMS, 0}, NULL,
                                               &(sap_tree_options){.leaf_size = 4}, &tree);
    ranks_take_counts(r, &seen.build);
    sap_cluster_info info = {.count_here = 0};
    if (CHECK(built == SAP_OK)) {
        CHECK(sap_cluster_describe(tree, &info) == SAP_OK && info.count_here <= RANKS * EACH);
        CHECK(sap_cluster_points(tree, h->ids, h->coords) == SAP_OK);
        CHECK(sap_cluster_nearest_self(tree, &(sap_search){.k = K}, NULL, NULL) == SAP_OK);
        sap_cluster_free(tree);
    }
    ranks_take_counts(r, &seen.nearest);
    h->count = info.count_here;
    for (int a = 0; a < DIMS; a++) {
        h->lower[a] = INFINITY;
        h->upper[a] = -INFINITY;
        for (int64_t i = 0; i < h->count; i++) {
            h->lower[a] = fminf(h->lower[a], h->coords[i * DIMS + a]);
            h->upper[a] = fmaxf(h->upper[a], h->coords[i * DIMS + a]);
        }
    }
    sap_device_close(device);
}

static int by_size(const void* a, const void* b) {
    const float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

static float distance2_to(const holding* h, int64_t i, const float* point) {
    const float x = h->coords[i * DIMS] - point[0], y = h->coords[i * DIMS + 1] - point[1];
    return x * x + y * y;
}

// The squared distance within which a point of a rank has its K nearest others there.
static float reach2_of(const holding* h, int64_t point) {
    static float all[RANKS * EACH];
    for (int64_t i = 0; i < h->count; i++) all[i] = distance2_to(h, i, h->coords + point * DIMS);
    qsort(all, (size_t)h->count, sizeof *all, by_size);
    return all[K]; // the first is the point itself
}

static bool is_within(const holding* h, const float* point, float reach2) {
    float sum = 0;
    for (int a = 0; a < DIMS; a++) {
        const float offset = fmaxf(0, fmaxf(h->lower[a] - point[a], point[a] - h->upper[a]));
        sum += offset * offset;
    }
    return sum <= reach2;
}

// How many of the K nearest points a rank may have.
static int hits_of(const holding* h, const float* point, float reach2) {
    int hits = 0;
    for (int64_t i = 0; i < h->count; i++) hits += distance2_to(h, i, point) <= reach2;
    return hits < K ? hits : K;
}

TEST(what_must_be_sent_is_sent_and_no_more) {
    NEEDS_THREADS;
    if (!CHECK(ranks_run(RANKS, &RANKS_NETWORK, hold_points, NULL))) return;
    const scale_task t = {.points = RANKS * EACH, .ranks = RANKS, .dims = DIMS, .leaf_size = 4};
    int64_t moving = 0, moved = 0, asking = 0, asked = 0, telling = 0, told = 0;
    for (int r = 0; r < RANKS; r++) {
        const holding* h = &seen.holds[r];
        int64_t from[RANKS] = {0}, to[RANKS] = {0}, back[RANKS] = {0};
        for (int64_t i = 0; i < h->count; i++) from[h->ids[i] / EACH]++;
        for (int64_t i = 0; i < h->count; i++) {
            const float *point = h->coords + i * DIMS, reach2 = reach2_of(h, i);
            for (int o = 0; o < RANKS; o++) {
                if (o == r || !is_within(&seen.holds[o], point, reach2)) continue;
                to[o]++;
                back[o] += hits_of(&seen.holds[o], point, reach2);
            }
        }
        for (int o = 0; o < RANKS; o++) {
            moving += o != r && from[o];
            moved += o != r ? from[o] : 0;
            asking += to[o] > 0;
            asked += to[o];
            telling += back[o] > 0;
            told += back[o];
        }
    }
    // Counts of points a subtree go to all ranks, then points with their ids to their owners.
    CHECK_EQUAL(seen.build.exchange.messages, RANKS * (RANKS - 1) + moving);
    CHECK_EQUAL(seen.build.exchange.bytes, 8 * scale_pieces(&t) * (RANKS - 1) + moved * (DIMS * 4 + 4));
    // Counts of points near borders to each rank; these points and how far they look; how many are found, and those.
    CHECK_EQUAL(seen.nearest.exchange.messages, RANKS * (RANKS - 1) + 2 * asking + telling);
    CHECK_EQUAL(seen.nearest.exchange.bytes, 8 * RANKS * (RANKS - 1) + asked * (DIMS * 4 + 4 + 4) + told * 12);
}

// ---- More ranks than there are threads to test with

enum { MANY = 300, FEW = 8 };

static void share_equal_points(ranks_rank* r, void* context) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    sap_device* device;
    sap_cluster_tree* tree = NULL;
    const float share[FEW] = {0};
    int64_t ids[FEW * 3] = {0};
    sap_cluster_info info = {.count_here = 0};
    int64_t* held = context;
    CHECK(sap_device_open(&options, &device) == SAP_OK);
    const sap_tree_options leaves = {.leaf_size = 1};
    if (CHECK(sap_cluster_build(r->comm, device, (sap_points){share, FEW, 1, 0}, NULL, &leaves, &tree) == SAP_OK)) {
        CHECK(sap_cluster_describe(tree, &info) == SAP_OK);
        if (CHECK(info.count_here <= FEW * 3)) CHECK(sap_cluster_points(tree, ids, NULL) == SAP_OK);
    }
    held[r->rank] = info.count_here;
    ranks_counts counts;
    ranks_take_counts(r, &counts); // after it all ranks have told
    int64_t first = 0;
    for (int32_t before = 0; before < r->rank; before++) first += held[before];
    for (int64_t i = 0; i < info.count_here; i++) CHECK_EQUAL(ids[i], first + i);
    if (r->rank == MANY - 1) CHECK_EQUAL(first + info.count_here, MANY * FEW);
    sap_cluster_free(tree);
    sap_device_close(device);
}

TEST(equal_points_are_shared_out_in_the_order_of_ids) {
    NEEDS_THREADS;
    static int64_t held[MANY];
    CHECK(ranks_run(MANY, &RANKS_NETWORK, share_equal_points, held));
    for (int r = 0; r < MANY; r++) CHECK(held[r] <= FEW + FEW / 16 + 1);
}

// ---- Memory

enum { PLENTY = 50000 };

typedef struct using_memory {
    bool backwards;
    double over[4]; // bytes a point beside those of sap_tree_build
} using_memory;

// Bytes lent at once beside those lent before: by a build, or over ranks by the one of a build and a rebuild that takes more.
static int64_t bytes_of_build(ranks_rank* r, const float* coords, const int64_t* ids, bool over_ranks) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = 1, .allocator = r->allocator};
    const sap_points share = {coords, PLENTY, 3, 0};
    sap_device* device;
    sap_cluster_tree* tree = NULL;
    sap_tree* one = NULL;
    CHECK(sap_device_open(&options, &device) == SAP_OK);
    int64_t before = r->bytes;
    r->most = before;
    CHECK((over_ranks ? sap_cluster_build(r->comm, device, share, ids, NULL, &tree)
                      : sap_tree_build(device, share, NULL, &one)) == SAP_OK);
    int64_t most = r->most - before;
    sap_device_trim(device);
    before = r->bytes;
    r->most = before;
    if (tree) CHECK(sap_cluster_rebuild(tree, share, ids) == SAP_OK);
    if (r->most - before > most) most = r->most - before;
    sap_cluster_free(tree);
    sap_tree_free(one);
    sap_device_close(device);
    CHECK_EQUAL(r->bytes, 0);
    return most;
}

static void use_memory(ranks_rank* r, void* context) {
    using_memory* u = context;
    float* coords = malloc(PLENTY * 3 * sizeof *coords);
    int64_t* ids = malloc(PLENTY * sizeof *ids);
    uint64_t state = (uint64_t)r->rank + 50;
    for (int i = 0; i < PLENTY; i++) {
        for (int a = 0; a < 3; a++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            coords[3 * i + a] = (float)(state >> 40);
        }
        ids[i] = r->rank * PLENTY + PLENTY - i;
    }
    const int64_t most = bytes_of_build(r, coords, u->backwards ? ids : NULL, true);
    u->over[r->rank] = (double)(most - bytes_of_build(r, coords, NULL, false)) / PLENTY;
    free(coords);
    free(ids);
}

TEST(a_build_takes_the_memory_that_it_states) {
    NEEDS_THREADS;
    for (int32_t ranks = 2; ranks <= 4; ranks++)
        for (int backwards = 0; backwards < 2; backwards++) {
            using_memory u = {.backwards = backwards};
            if (!CHECK(ranks_run(ranks, &RANKS_NETWORK, use_memory, &u))) continue;
            NOTE("%d ranks, backwards %d: %.1f bytes", (int)ranks, backwards, u.over[0]);
            for (int32_t r = 0; r < ranks; r++) CHECK(u.over[r] <= (ranks == 3 ? 60 : backwards ? 72 : 44));
        }
    NOTE("%s", "");
}

TEST_MAIN()
