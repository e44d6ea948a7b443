// Ranks that are threads: messages that fail, come late or are counted, arguments that are wrong on one rank, communicators.
#include "families.h"
#include "ranks.h"
#include <math.h>

// ---- Failures

typedef struct failing {
    int32_t victim;
    int64_t fail_from; // request for memory
    sap_status statuses[MOST_RANKS];
    int64_t requests;
} failing;

// Builds, and asks in every way; the first status that is not SAP_OK.
static sap_status do_all(rank_thread* r, int64_t count, int32_t dims, const float* coords) {
    sap_cluster_tree* tree = NULL;
    sap_cluster_neighbors* found = NULL;
    int64_t ids[5 * 4], counts[5];
    float near[5 * 4];
    double pairs[2];
    const sap_points queries = {coords, 5, dims, 0};
    const sap_search search = {.k = 4};
    const sap_tree_options options = {.leaf_size = 4};
    sap_status status =
        sap_cluster_build(r->comm, r->device, (sap_points){coords, count, dims, 0}, NULL, &options, &tree);
    if (status == SAP_OK) status = sap_cluster_rebuild(tree, (sap_points){coords, count, dims, 0}, NULL);
    if (status == SAP_OK) status = sap_cluster_nearest(tree, queries, &search, ids, near);
    if (status == SAP_OK) status = sap_cluster_nearest(tree, queries, &search, NULL, near);
    if (status == SAP_OK) status = sap_cluster_nearest_self(tree, &search, NULL, NULL);
    if (status == SAP_OK) status = sap_cluster_radius_count(tree, queries, 0.3, counts);
    if (status == SAP_OK) status = sap_cluster_radius(tree, queries, 0.3, &found);
    sap_cluster_neighbors_free(found);
    found = NULL;
    if (status == SAP_OK) status = sap_cluster_pairs(tree, 0.1, &found);
    sap_cluster_neighbors_free(found);
    found = NULL;
    if (status == SAP_OK) status = sap_cluster_count_pairs(tree, (const double[]){0.1, 0.2}, 2, true, pairs);
    if (status == SAP_OK) status = sap_cluster_box_search(tree, queries, queries, &found);
    sap_cluster_neighbors_free(found);
    sap_cluster_free(tree);
    return status;
}

static void fill(float coords[3 * FEW_POINTS], int32_t rank) {
    uint64_t state = (uint64_t)rank + 11;
    for (int i = 0; i < 3 * FEW_POINTS; i++) coords[i] = (float)random_unit(&state);
}

static void ask_all(rank_thread* r, void* context) {
    failing* f = context;
    const int32_t rank = sap_comm_rank(r->comm);
    float coords[3 * FEW_POINTS];
    fill(coords, rank);
    f->statuses[rank] = do_all(r, FEW_POINTS, 3, coords);
    CHECK(f->statuses[rank] == SAP_OK || r->w.log_calls > 0);
}

TEST(a_message_fails) {
    NEEDS_RANKS;
    for (int kind = 0; kind < MESSAGE_COUNT; kind++) {
        bool done = false;
        for (int64_t n = 1; !done && n < 1000; n = next_fault(n)) {
            sap_comm *inner[FEW_RANKS], *comms[FEW_RANKS];
            faulty states[FEW_RANKS] = {{0}};
            failing f = {.victim = (int32_t)(n % FEW_RANKS)};
            if (!open_ranks(FEW_RANKS, inner)) return;
            for (int32_t r = 0; r < FEW_RANKS; r++) {
                states[r] = (faulty){.inner = inner[r], .kind = (message)kind, .fail_at = r == f.victim ? n : 0};
                CHECK_STATUS(sap_comm_open(&faulty_engine, &states[r], r, FEW_RANKS, NULL, &comms[r]), SAP_OK);
            }
            NOTE("kind %d message %d", kind, (int)n);
            run_ranks(FEW_RANKS, comms, ask_all, &f);
            done = f.statuses[f.victim] == SAP_OK;
            for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(f.statuses[r], done ? SAP_OK : SAP_ERROR_IO);
            close_ranks(FEW_RANKS, comms);
        }
        CHECK(done);
    }
    NOTE("%s", "");
}

static void run_out_of_memory(rank_thread* r, void* context) {
    failing* f = context;
    const int32_t rank = sap_comm_rank(r->comm);
    float coords[3 * FEW_POINTS];
    fill(coords, rank);
    if (rank == f->victim) r->w.fail_from = r->w.requests + f->fail_from;
    f->statuses[rank] = do_all(r, FEW_POINTS, 3, coords);
    r->w.fail_from = 0;
    CHECK_STATUS(do_all(r, FEW_POINTS, 3, coords), SAP_OK); // the ranks can go on
}

TEST(memory_is_refused) {
    NEEDS_RANKS;
    bool done = false;
    for (int64_t n = 1; !done && n < 1000; n = next_fault(n)) {
        failing f = {.victim = (int32_t)(n % FEW_RANKS), .fail_from = n};
        NOTE("request %d", (int)n);
        on_threads(FEW_RANKS, run_out_of_memory, &f);
        done = f.statuses[f.victim] == SAP_OK;
        for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(f.statuses[r], done ? SAP_OK : SAP_ERROR_MEMORY);
    }
    CHECK(done);
    NOTE("%s", "");
}

// A rebuild over more points than before, for which memory is refused, leaves all ranks the tree that they had.
static void rebuild_without_memory(rank_thread* r, void* context) {
    failing* f = context;
    const int32_t rank = sap_comm_rank(r->comm);
    enum { MORE = 10 * FEW_POINTS };
    float coords[3 * MORE], before[4 * FEW_RANKS * FEW_POINTS], after[4 * FEW_RANKS * FEW_POINTS];
    int64_t ids_before[4 * FEW_RANKS * FEW_POINTS], ids_after[4 * FEW_RANKS * FEW_POINTS];
    uint64_t state = (uint64_t)rank + 5;
    for (int i = 0; i < 3 * MORE; i++) coords[i] = (float)random_unit(&state);
    const sap_points few = {coords, FEW_POINTS, 3, 0}, other = {coords + 3 * FEW_POINTS, FEW_POINTS, 3, 0};
    const sap_points more = {coords, MORE, 3, 0};
    const sap_search search = {.k = 4};
    sap_cluster_tree* tree = NULL;
    sap_cluster_info info, now;
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, few, NULL, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cluster_rebuild(tree, other, NULL), SAP_OK);
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_STATUS(sap_cluster_nearest_self(tree, &search, ids_before, before), SAP_OK);
    if (rank == f->victim) r->w.fail_from = r->w.requests + f->fail_from;
    f->statuses[rank] = sap_cluster_rebuild(tree, more, NULL);
    r->w.fail_from = 0;
    CHECK_STATUS(sap_cluster_describe(tree, &now), SAP_OK);
    if (f->statuses[rank] != SAP_OK) {
        CHECK(!memcmp(&info, &now, sizeof now));
        CHECK_STATUS(sap_cluster_nearest_self(tree, &search, ids_after, after), SAP_OK);
        const size_t cells = 4 * (size_t)info.count_here;
        CHECK(!memcmp(ids_before, ids_after, cells * sizeof *ids_after));
        CHECK(!memcmp(before, after, cells * sizeof *after));
    }
    CHECK_STATUS(sap_cluster_rebuild(tree, more, NULL), SAP_OK);
    CHECK_STATUS(sap_cluster_describe(tree, &now), SAP_OK);
    CHECK_EQUAL(now.count, FEW_RANKS * MORE);
    for (int32_t p = 0; p < tree->piece_count; p++) CHECK_STATUS(sap_tree_verify(tree->pieces[p].tree), SAP_OK);
    sap_cluster_free(tree);
}

TEST(a_failed_rebuild_leaves_the_tree) {
    NEEDS_RANKS;
    bool done = false;
    for (int64_t n = 1; !done && n < 1000; n++) {
        failing f = {.victim = (int32_t)(n % FEW_RANKS), .fail_from = n};
        NOTE("request %d", (int)n);
        on_threads(FEW_RANKS, rebuild_without_memory, &f);
        done = f.statuses[f.victim] == SAP_OK;
        for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(f.statuses[r], done ? SAP_OK : SAP_ERROR_MEMORY);
        CHECK(!done || n > FEW_RANKS);
    }
    CHECK(done);
    NOTE("%s", "");
}

// What only rank 1 does wrong.
static void ask_wrongly(rank_thread* r, void* context) {
    const bool wrong = sap_comm_rank(r->comm) == 1;
    float coords[3 * FEW_POINTS], near[4];
    double sums[2];
    int64_t ids[FEW_POINTS], counts[1];
    sap_cluster_tree *tree = NULL, *none = NULL;
    sap_cluster_neighbors* found = NULL;
    (void)context;
    fill(coords, sap_comm_rank(r->comm));
    const sap_points share = {coords, FEW_POINTS, 3, 0};
    const float kept = coords[30];
    coords[30] = wrong ? NAN : kept;
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, NULL, &none), SAP_ERROR_NOT_FINITE);
    CHECK(strstr(r->w.sentence, wrong ? "point 10" : "rank 1") != NULL);
    const sap_tree_options drops = {.drop_nonfinite = true};
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, &drops, &tree), SAP_OK);
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.count, FEW_RANKS * FEW_POINTS - 1);
    CHECK_EQUAL(info.source_count, FEW_RANKS * FEW_POINTS);
    CHECK_EQUAL(info.not_finite, 1);
    coords[30] = kept;
    sap_cluster_free(tree);
    const sap_points flat = {coords, FEW_POINTS, wrong ? 2 : 3, 3};
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, flat, NULL, NULL, &none), SAP_ERROR_ARGUMENT);
    const sap_tree_options leaves = {.leaf_size = wrong ? 4 : 0}, periods = {.period = {wrong ? 1 : 0}};
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, &leaves, &none), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, &periods, &none), SAP_ERROR_UNSUPPORTED);
    const sap_tree_options drop = {.drop_duplicates = wrong}, sliding = {.split = SAP_SPLIT_SLIDING_MIDPOINT};
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, &drop, &none), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, &sliding, &none), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_cluster_build(r->comm, wrong ? NULL : r->device, share, NULL, NULL, &none), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, NULL, wrong ? NULL : &none), SAP_ERROR_ARGUMENT);
    for (int i = 0; i < FEW_POINTS; i++) ids[i] = i + 1000 * sap_comm_rank(r->comm);
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, wrong ? ids : NULL, NULL, &none), SAP_ERROR_ARGUMENT);
    ids[7] = wrong ? -1 : ids[7];
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, ids, NULL, &none), SAP_ERROR_ARGUMENT);
    CHECK(!none);
    CHECK_STATUS(sap_cluster_build(NULL, r->device, share, NULL, NULL, &none), SAP_ERROR_ARGUMENT);

    CHECK_STATUS(sap_cluster_build(r->comm, r->device, share, NULL, NULL, &tree), SAP_OK);
    const sap_points one = {coords, 1, 3, 0}, other = {coords, 1, wrong ? 2 : 3, 3};
    const sap_search ks = {.k = wrong ? 3 : 4}, k0 = {.k = wrong ? 0 : 4}, far = {.k = 4, .radius = wrong ? -1 : 0};
    const sap_search eps = {.k = 4, .eps = wrong ? 0.5 : 0}, newer = {.k = 4, .reserved = {wrong}};
    CHECK_STATUS(sap_cluster_nearest(tree, one, &ks, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, one, &k0, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, one, &far, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, one, &newer, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, one, wrong ? NULL : &ks, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, other, &(sap_search){.k = 4}, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(tree, one, &eps, ids, near), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_cluster_nearest_f64(tree, (sap_points_f64){NULL, 0, 3, 0}, &(sap_search){.k = 4}, ids, NULL),
                 SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest(NULL, one, &ks, ids, near), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest_self(tree, &ks, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest_self(tree, &k0, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest_self(tree, &eps, NULL, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_cluster_nearest_self_f64(tree, &ks, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_nearest_self(NULL, &ks, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_points(NULL, ids, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_radius_count(tree, one, wrong ? NAN : 1, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_radius_count(tree, one, wrong ? 2 : 1, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_radius_count(tree, one, 1, wrong ? NULL : counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_radius(tree, other, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_radius(tree, one, 1, wrong ? NULL : &found), SAP_ERROR_ARGUMENT);
    const sap_points two = {coords, wrong ? 2 : 1, 3, 0};
    CHECK_STATUS(sap_cluster_box_count(tree, one, two, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_box_search(tree, other, one, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_box_search(tree, one, other, &found), SAP_ERROR_ARGUMENT);
    CHECK(!found);
    const double falls[] = {2, wrong ? 1 : 2}, nan[] = {wrong ? NAN : 1}, radii[] = {1, 2};
    CHECK_STATUS(sap_cluster_pairs(tree, wrong ? NAN : 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_pairs(tree, 1, wrong ? NULL : &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_pairs(NULL, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, falls, 2, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, nan, 1, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, wrong ? falls : radii, 1, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, radii, wrong ? 1 : 2, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, radii, wrong ? 0 : 2, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, wrong ? NULL : radii, 2, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(tree, radii, 2, true, wrong ? NULL : sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_count_pairs(NULL, radii, 2, true, sums), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_rebuild(tree, flat, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_rebuild_f64(tree, (sap_points_f64){NULL, 0, 3, 0}, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cluster_rebuild(NULL, share, NULL), SAP_ERROR_ARGUMENT);
    CHECK(!found);
    CHECK_STATUS(sap_cluster_describe(tree, NULL), SAP_ERROR_ARGUMENT);
    sap_cluster_free(tree);
}

TEST(one_rank_is_wrong) {
    NEEDS_RANKS;
    on_threads(FEW_RANKS, ask_wrongly, NULL);
}

// ---- What is sent

enum { MANY_POINTS = 4000, MOVING_RANKS = 8 };

typedef struct saying {
    int32_t ranks;
    float* points; // [ranks][MANY_POINTS][3]
} saying;

static sap_comm_info said_since(const sap_comm* comm, sap_comm_info* last) {
    sap_comm_info now, since;
    CHECK_STATUS(sap_comm_describe(comm, &now), SAP_OK);
    since = now;
    since.exchanges -= last->exchanges;
    since.reductions -= last->reductions;
    since.gathers -= last->gathers;
    since.messages -= last->messages;
    since.sent -= last->sent;
    since.received -= last->received;
    since.placed -= last->placed;
    since.asked -= last->asked;
    *last = now;
    return since;
}

static int32_t levels_of(int32_t ranks) {
    int32_t levels = 0;
    while (1 << levels < ranks) levels++;
    return levels;
}

// Points of all ranks' places, then those that a rank holds, moved a little, then queries where they lie and elsewhere.
static void count_messages(rank_thread* r, void* context) {
    const saying* s = context;
    const int32_t rank = sap_comm_rank(r->comm), ranks = s->ranks, levels = levels_of(ranks);
    const float* own = s->points + (size_t)rank * MANY_POINTS * 3;
    const int64_t point = 3 * sizeof(float) + sizeof(int32_t), k = 8,
                  answer = k * (int64_t)(sizeof(int64_t) + sizeof(float));
    sap_comm_info last, said;
    sap_cluster_info info;
    sap_cluster_tree* tree = NULL;
    CHECK_STATUS(sap_comm_describe(r->comm, &last), SAP_OK);
    CHECK_EQUAL(last.rank, rank);
    CHECK_EQUAL(last.size, ranks);
    CHECK_STATUS(sap_cluster_build(r->comm, r->device, (sap_points){own, MANY_POINTS, 3, 0}, NULL, NULL, &tree),
                 SAP_OK);
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    said = said_since(r->comm, &last);
    const int64_t build_reductions = said.reductions;
    CHECK_EQUAL(said.exchanges, 2);
    CHECK(said.messages <= 2 * (ranks - 1));
    CHECK(said.reductions <= 7 * levels + 7);
    CHECK(said.received <= info.moved * point * 6 / 5);
    CHECK(ranks == 1 || info.moved > 0);

    const size_t here = (size_t)info.count_here;
    int64_t* held = malloc((here + 1) * sizeof *held);
    int64_t* ids = malloc((here + MANY_POINTS) * (size_t)k * sizeof *ids);
    float* coords = malloc((here + 1) * 3 * sizeof *coords);
    float* near = malloc((here + MANY_POINTS) * (size_t)k * sizeof *near);
    const sap_search search = {.k = (int32_t)k};
    uint64_t state = (uint64_t)rank;
    CHECK_STATUS(sap_cluster_points(tree, held, coords), SAP_OK);
    for (size_t i = 0; i < 3 * here; i++) coords[i] += (float)(0.002 * random_unit(&state));
    CHECK_STATUS(sap_cluster_rebuild(tree, (sap_points){coords, (int64_t)here, 3, 0}, held), SAP_OK);
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    said = said_since(r->comm, &last);
    CHECK_EQUAL(said.exchanges, 2);
    CHECK(ranks == 1 || said.reductions <= build_reductions + 1 - levels); // one finds the largest id
    CHECK(said.received <= info.moved * point * 6 / 5 + 8 * (ranks - 1));
    CHECK(info.moved <= (int64_t)here / 20);

    CHECK_STATUS(sap_cluster_nearest_self(tree, &search, ids, near), SAP_OK);
    said = said_since(r->comm, &last);
    CHECK_EQUAL(said.placed, 0);
    CHECK_EQUAL(said.exchanges, ranks > 1 ? 4 : 0);
    CHECK(said.messages <= 4 * (ranks - 1));
    CHECK(said.reductions <= 5);
    CHECK(said.asked <= (int64_t)here * 4);
    const int64_t head = 8 * (ranks - 1), question = (int64_t)(4 * sizeof(float) + sizeof(int32_t)) + answer;
    CHECK(said.sent + said.received <= 2 * head + 2 * question * (said.asked + (int64_t)here * 2));

    const sap_points far = {s->points + (size_t)((rank + 1) % ranks) * MANY_POINTS * 3, MANY_POINTS, 3, 0};
    CHECK_STATUS(sap_cluster_nearest(tree, far, &search, ids, near), SAP_OK);
    said = said_since(r->comm, &last);
    CHECK_EQUAL(said.exchanges, ranks > 1 ? 7 : 0);
    CHECK(said.messages <= 7 * (ranks - 1));
    CHECK(said.reductions <= 7);
    CHECK(ranks == 1 || said.placed > 0);
    sap_cluster_free(tree);
    free(held);
    free(ids);
    free(coords);
    free(near);
}

TEST(messages_are_counted) {
    NEEDS_RANKS;
    for (int32_t ranks = 1; ranks <= MOVING_RANKS; ranks *= 2) {
        saying s = {.ranks = ranks, .points = malloc((size_t)ranks * MANY_POINTS * 3 * sizeof(float))};
        uint64_t state = 3;
        static const double extent[] = {4, 2.2, 1.3}; // which axis is the widest is no accident
        for (int32_t i = 0; i < ranks * MANY_POINTS * 3; i++)
            s.points[i] = (float)(random_unit(&state) * extent[i % 3]);
        NOTE("%d ranks", ranks);
        on_threads(ranks, count_messages, &s);
        free(s.points);
    }
    sap_comm_info info;
    CHECK_STATUS(sap_comm_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    NOTE("%s", "");
}

// ---- Communicators

static void divide_ranks(rank_thread* r, void* context) {
    const int32_t rank = sap_comm_rank(r->comm), size = sap_comm_size(r->comm);
    sap_comm *part = NULL, *again = NULL;
    (void)context;
    // The last rank belongs to none; the others go by parity, backwards.
    const int32_t color = rank == size - 1 ? -1 : rank % 2;
    CHECK_STATUS(sap_comm_split(r->comm, color, -rank, &part), SAP_OK);
    CHECK((part == NULL) == (color < 0));
    if (part) {
        const int32_t members = (size - color) / 2;
        CHECK_EQUAL(sap_comm_size(part), members);
        CHECK_EQUAL(sap_comm_rank(part), members - 1 - rank / 2);
        failing f = {0};
        sap_comm* whole = r->comm;
        r->comm = part;
        ask_all(r, &f);
        r->comm = whole;
        CHECK_STATUS(f.statuses[sap_comm_rank(part)], SAP_OK);
        CHECK_STATUS(sap_comm_split(part, 0, 0, &again), SAP_OK);
        CHECK_EQUAL(sap_comm_rank(again), sap_comm_rank(part));
    }
    sap_comm_close(again);
    sap_comm_close(part);
    CHECK_STATUS(sap_comm_split(r->comm, rank ? 0 : -2, 0, &part), SAP_ERROR_ARGUMENT);
}

TEST(communicators_are_divided) {
    NEEDS_RANKS;
    on_threads(8, divide_ranks, NULL);
    on_threads(FEW_RANKS, divide_ranks, NULL);
}

static void leave_alone(rank_thread* r, void* context) {
    failing f = {0};
    (void)context;
    if (sap_comm_rank(r->comm) == FEW_RANKS - 1) {
        sap_comm_abort(r->comm, SAP_ERROR_CANCELLED);
        return;
    }
    for (int i = 0; i < 2; i++) {
        ask_all(r, &f);
        CHECK_STATUS(f.statuses[sap_comm_rank(r->comm)], SAP_ERROR_CANCELLED);
    }
}

TEST(a_rank_leaves) {
    NEEDS_RANKS;
    on_threads(FEW_RANKS, leave_alone, NULL);
}

// What programs send themselves: each rank's number to all, to each, and summed up.
static void send_numbers(rank_thread* r, void* context) {
    (void)context;
    const int32_t rank = sap_comm_rank(r->comm), size = sap_comm_size(r->comm);
    int32_t all[MOST_RANKS], sent[MOST_RANKS * 2], came[MOST_RANKS * 2];
    int64_t send_bytes[MOST_RANKS], receive_bytes[MOST_RANKS];
    uint64_t sums[2] = {(uint64_t)rank, 1};
    CHECK_STATUS(sap_comm_all_gather(r->comm, &rank, sizeof rank, all), SAP_OK);
    int64_t at = 0, count = 0;
    for (int32_t p = 0; p < size; p++) { // an odd rank gets two numbers of each, an even one gets one
        CHECK_EQUAL(all[p], p);
        send_bytes[p] = (1 + p % 2) * (int64_t)sizeof *sent;
        receive_bytes[p] = (1 + rank % 2) * (int64_t)sizeof *came;
        for (int i = 0; i < 1 + p % 2; i++) sent[at++] = 100 * rank + p;
        count += 1 + rank % 2;
    }
    CHECK_STATUS(sap_comm_all_to_all(r->comm, sent, send_bytes, came, receive_bytes), SAP_OK);
    for (int64_t i = 0; i < count; i++) CHECK_EQUAL(came[i], 100 * (i / (1 + rank % 2)) + rank);
    CHECK_STATUS(sap_comm_all_reduce(r->comm, SAP_REDUCE_SUM, sums, 2), SAP_OK);
    CHECK_EQUAL(sums[0], size * (size - 1) / 2);
    CHECK_EQUAL(sums[1], size);
    CHECK_STATUS(sap_comm_all_gather(r->comm, NULL, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_comm_all_reduce(r->comm, SAP_REDUCE_MAX, NULL, 0), SAP_OK);
    // What is wrong on one rank ends all.
    const bool wrong = rank == size - 1;
    CHECK_STATUS(sap_comm_all_gather(r->comm, &rank, wrong ? -1 : (int64_t)sizeof rank, all), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_all_reduce(r->comm, SAP_REDUCE_SUM, sums, 2), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_all_to_all(r->comm, sent, send_bytes, came, NULL), SAP_ERROR_ARGUMENT);
}

TEST(programs_send_what_is_theirs) {
    NEEDS_RANKS;
    CHECK_STATUS(sap_comm_all_gather(NULL, NULL, 0, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_all_to_all(NULL, NULL, NULL, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_all_reduce(NULL, SAP_REDUCE_SUM, NULL, 0), SAP_ERROR_ARGUMENT);
    for (int32_t size = 1; size <= 5; size++) on_threads(size, send_numbers, NULL);
}

TEST(handles_are_checked) {
    NEEDS_RANKS;
    sap_comm* comms[2];
    watch w = {0};
    const sap_allocator memory = {watch_allocate, watch_release, &w}, half = {watch_allocate, NULL, &w};
    faulty state = {0};
    sap_comm_engine engine = faulty_engine;
    CHECK_STATUS(sap_comm_open_threads(0, NULL, comms), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_threads(1025, NULL, comms), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_threads(2, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open_threads(2, &half, comms), SAP_ERROR_ARGUMENT);
    w.fail_from = 1;
    CHECK_STATUS(sap_comm_open_threads(2, &memory, comms), SAP_ERROR_MEMORY);
    CHECK_STATUS(sap_comm_open_threads(2, &memory, comms), SAP_OK);
    CHECK_STATUS(sap_comm_open(&engine, &state, 2, 2, NULL, &state.inner), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open(&engine, &state, -1, 2, NULL, &state.inner), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open(&engine, &state, 0, 1, &half, &state.inner), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open(&engine, &state, 0, 1, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_comm_open(NULL, &state, 0, 1, NULL, &state.inner), SAP_ERROR_ARGUMENT);
    engine.reserved[2] = 1;
    CHECK_STATUS(sap_comm_open(&engine, &state, 0, 1, NULL, &state.inner), SAP_ERROR_ARGUMENT);
    engine = faulty_engine;
    engine.split = NULL;
    CHECK_STATUS(sap_comm_open(&engine, &state, 0, 1, NULL, &state.inner), SAP_ERROR_ARGUMENT);
    CHECK_EQUAL(sap_comm_rank(NULL), -1);
    CHECK_EQUAL(sap_comm_size(NULL), 0);
    sap_comm_abort(NULL, SAP_ERROR_IO);
    sap_comm_close(NULL);
    sap_comm_close(comms[1]);
    CHECK(w.blocks == 1);
    sap_comm_close(comms[0]);
    CHECK(w.blocks == 0 && w.wrong == 0);
}

TEST_MAIN()
