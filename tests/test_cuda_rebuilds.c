// Trees over ranks whose points lie on GPUs: medians that are guessed, points that come in any order of their ids, and
// rebuilds, which take the memory that is there.
#include "allocator.h"
#include "test.h"

#if defined(SAP_HAVE_CUDA) && defined(SAP_HAVE_THREADS)
#include "cluster/level.h"
#include "cuda_ranks.h"

// ---- Medians that are guessed

// What points are like where a sample is drawn: one warp in so many.
typedef enum sampled { SAMPLED_AS_ALL, SAMPLED_ELSEWHERE, SAMPLED_DENSE } sampled;

enum { SAMPLED_RANKS = 2, SAMPLED_POINTS = 150000 }; // of which more than are trusted are in the sample

static cloud sampled_points(sampled how) {
    cloud c = cloud_make(SAMPLED_POINTS, 2, 32, 0);
    uint64_t state = 4;
    for (int64_t i = 0; i < c.count; i++) {
        const int64_t row = i % (c.count / SAMPLED_RANKS);
        const bool in_sample = row / 32 % SAP_SHARE_SAMPLE == 0;
        double x = random_unit(&state);
        if (how == SAMPLED_ELSEWHERE) x = in_sample ? 0.1 * x : 0.5 + 0.5 * x;
        if (how == SAMPLED_DENSE && i % 10) x = 0.3 + 1e-5 * x; // most points lie in one bin
        cloud_set(&c, i, 0, x);
        cloud_set(&c, i, 1, 0.5 * random_unit(&state));
    }
    return c;
}

static int64_t reductions_of(const sap_comm* comm) {
    sap_comm_info info;
    CHECK_STATUS(sap_comm_describe(comm, &info), SAP_OK);
    return info.reductions;
}

// Builds, and counts the reductions.
static void* build_sampled(void* argument) {
    rank_thread* r = argument;
    int64_t* ids = malloc(((size_t)r->s->points.count + 1) * sizeof *ids);
    open_devices(r);
    cloud share = share_of(r->s, sap_comm_rank(r->comm), ids);
    sap_cluster_tree *expected = NULL, *tree = NULL;
    CHECK_STATUS(build(r, r->cpu, &share, NULL, &expected), SAP_OK);
    const int64_t before = reductions_of(r->comm);
    if (CHECK_STATUS(build(r, r->gpu, &share, NULL, &tree), SAP_OK)) compare_pieces(expected, tree);
    if (!sap_comm_rank(r->comm)) *(int64_t*)r->s->user = reductions_of(r->comm) - before;
    end_rank(r, tree, expected, &share, ids);
    return NULL;
}

TEST(medians_are_guessed_from_a_sample) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    const int64_t least = sap_cut_sampled_least;
    for (int how = SAMPLED_AS_ALL; how <= SAMPLED_DENSE; how++) {
        int64_t reductions[2];
        scene s = {.gpus = gpus, .ranks = SAMPLED_RANKS, .points = sampled_points((sampled)how), .chance = 1};
        for (int with = 0; with < 2; with++) {
            NOTE("points %d, sample %d", how, with);
            sap_cut_sampled_least = with ? 1 : INT64_MAX;
            s.user = &reductions[with];
            run_scene(&s, build_sampled);
        }
        // The sample's; and where that misled, that of the guess. A guess that hits narrows as bins of all points do, or more.
        if (how == SAMPLED_ELSEWHERE) CHECK_EQUAL(reductions[1], reductions[0] + 2);
        if (how != SAMPLED_ELSEWHERE) CHECK(reductions[1] <= reductions[0] + 1);
        NOTE("points %d: %d reductions, %d with a sample", how, (int)reductions[0], (int)reductions[1]);
        cloud_free(&s.points);
    }
    sap_cut_sampled_least = least;
    NOTE("%s", "");
}

// ---- Points that are sent while others are packed

typedef struct parts {
    int64_t exchanges[2], moved[2];
    bool by_threads[2];
} parts;

static void* build_in_parts(void* argument) {
    rank_thread* r = argument;
    const scene* s = r->s;
    const int32_t rank = sap_comm_rank(r->comm);
    parts* p = s->user;
    int64_t* ids = malloc(((size_t)s->points.count + 1) * sizeof *ids);
    sap_comm_info before, after;
    open_devices(r);
    cloud share = share_of(s, rank, ids);
    for (int64_t i = 0; i < share.count && s->options.drop_nonfinite; i += 7) cloud_set(&share, i, 1, (double)NAN);
    sap_cluster_tree *expected = NULL, *tree = NULL;
    CHECK_STATUS(build(r, r->cpu, &share, s->with_ids ? ids : NULL, &expected), SAP_OK);
    CHECK_STATUS(sap_comm_describe(r->comm, &before), SAP_OK);
    if (CHECK_STATUS(build(r, r->gpu, &share, s->with_ids ? ids : NULL, &tree), SAP_OK)) {
        CHECK_STATUS(sap_comm_describe(r->comm, &after), SAP_OK);
        compare_pieces(expected, tree);
        p->exchanges[rank] = after.exchanges - before.exchanges;
        p->moved[rank] = tree->moved;
        p->by_threads[rank] = r->comm->of_engine;
    }
    end_rank(r, tree, expected, &share, ids);
    return NULL;
}

// None, one, more points than a chunk of marks has rows, and chunks that no number of parts divides.
TEST(points_are_sent_in_parts) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    CHECK(cuda_tools_stream()); // made before there are threads
    static const int64_t sizes[] = {0, 1, 2, 5, 700, 2500, 9001};
    const int64_t least = sap_share_part_least;
    sap_share_part_least = 1;
    for (int way = 0; way < 14; way++) {
        parts p = {{0}, {0}, {false}};
        scene s = {.gpus = gpus, .ranks = 2, .user = &p, .chance = (uint64_t)way};
        s.give = way % 3 ? OWNERS_RANDOM : OWNERS_FIRST;
        s.with_ids = way / 7;
        s.options.drop_nonfinite = way % 4 == 1;
        s.points = cloud_of_family(way % 5 ? FAMILY_UNIFORM : FAMILY_EQUAL, sizes[way % 7], 2 + way % 3,
                                   way % 2 ? 64 : 32, 0, (uint64_t)way);
        NOTE("points %d, way %d", (int)s.points.count, way);
        run_scene(&s, build_in_parts);
        int64_t sent = p.moved[0] + p.moved[1];
        if (sent < 1 || !p.by_threads[0]) sent = 1;
        for (int r = 0; r < 2; r++) // counts, marks or ids, points
            CHECK_EQUAL(p.exchanges[r], 2 + (sent < SAP_SHARE_PARTS ? sent : SAP_SHARE_PARTS));
        cloud_free(&s.points);
    }
    sap_share_part_least = least;
    NOTE("%s", "");
}

// ---- Rebuilds in which points change sides

// What a rank holds, of which some have jumped.
typedef struct held {
    cloud points;
    int64_t* ids;
} held;

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static held held_of(const sap_cluster_tree* tree, uint64_t turn, double part, bool backwards) {
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    held h = {.points = cloud_make(info.count_here, info.dims, 32, 0)};
    const int64_t n = info.count_here;
    h.ids = malloc(((size_t)n + 1) * sizeof *h.ids);
    CHECK_STATUS(sap_cluster_points(tree, h.ids, h.points.coords), SAP_OK);
    for (int64_t i = 0; i < n; i++) {
        uint64_t chance = mixed((uint64_t)h.ids[i] * 1000003 + (uint64_t)i + mixed(turn));
        if (random_unit(&chance) >= part) continue;
        for (int32_t a = 0; a < info.dims; a++) cloud_set(&h.points, i, a, random_unit(&chance));
    }
    for (int64_t i = 0, j = n - 1; i < j && backwards; i++, j--) {
        const int64_t id = h.ids[i];
        h.ids[i] = h.ids[j];
        h.ids[j] = id;
        for (int32_t a = 0; a < info.dims; a++) {
            const double x = cloud_get(&h.points, i, a);
            cloud_set(&h.points, i, a, cloud_get(&h.points, j, a));
            cloud_set(&h.points, j, a, x);
        }
    }
    return h;
}

static void held_free(held* h) {
    cloud_free(&h->points);
    free(h->ids);
}

static sap_status rebuild_with(sap_cluster_tree* tree, const held* h, bool ids) {
    const sap_points points = {h->points.coords, h->points.count, h->points.dims, 0};
    return sap_cluster_rebuild(tree, points, ids ? h->ids : NULL);
}

static sap_status rebuild(sap_cluster_tree* tree, const held* h) { return rebuild_with(tree, h, true); }

// Ids ascend, but where `chance` says that those of every second rank fall; `with_ids`: each belongs to two points.
static void* rebuild_moved(void* argument) {
    rank_thread* r = argument;
    const scene* s = r->s;
    const int32_t rank = sap_comm_rank(r->comm);
    int64_t* ids = malloc(((size_t)s->points.count + 1) * sizeof *ids);
    open_devices(r);
    cloud share = share_of(s, rank, ids);
    for (int64_t i = 0; i < share.count && s->with_ids; i++) ids[i] /= 6;
    sap_cluster_tree *expected = NULL, *tree = NULL;
    if (CHECK_STATUS(build(r, r->cpu, &share, ids, &expected), SAP_OK) &&
        CHECK_STATUS(build(r, r->gpu, &share, ids, &tree), SAP_OK))
        for (uint64_t turn = 0; turn < 3; turn++) {
            held h = held_of(expected, turn, turn == 1 ? 0.05 : 0.5, s->chance / 2 % 2 && rank % 2);
            CHECK_STATUS(rebuild(expected, &h), SAP_OK);
            CHECK_STATUS(rebuild(tree, &h), SAP_OK);
            compare_pieces(expected, tree);
            held_free(&h);
        }
    end_rank(r, tree, expected, &share, ids);
    return NULL;
}

// On two ranks points come as runs of ids that ascend, of several tiles; on three a rank has more than one subtree; more
// than 32 ranks are not merged.
TEST(points_come_in_any_order) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    static const int32_t ranks[] = {2, 2, 3, 4, 5, 33};
    static const int64_t sizes[] = {40001, 3000, 3000, 3000, 2000, 900};
    for (int i = 0; i < 6 && ranks[i] <= most_ranks(); i++)
        for (uint64_t way = 0; way < (i ? 4 : 1); way++) {
            scene s = {
                .gpus = gpus, .ranks = ranks[i], .give = OWNERS_RANDOM, .with_ids = way / 2, .chance = way % 2 * 2};
            s.points = cloud_of_family(FAMILY_UNIFORM, sizes[i], 2 + i % 2, 32, 0, 7);
            NOTE("ranks %d points %d way %d", (int)ranks[i], (int)sizes[i], (int)way);
            run_scene(&s, rebuild_moved);
            cloud_free(&s.points);
        }
    NOTE("%s", "");
}

// ---- Memory

enum { STEADY_RANKS = 2, WARM_TURNS = 6, STEADY_TURNS = 4 };

typedef struct steady {
    pthread_barrier_t together;
    int64_t taken; // blocks of GPU memory, before
} steady;

// Turns of two sets of points.
static void rebuild_steadily(rank_thread* r, sap_cluster_tree* tree, const held* sets) {
    steady* t = r->s->user;
    int64_t requests = 0, bytes = 0;
    for (int turn = 0; turn < WARM_TURNS + STEADY_TURNS; turn++) {
        if (turn == WARM_TURNS) {
            pthread_barrier_wait(&t->together);
            requests = r->w.requests;
            bytes = r->w.bytes;
            if (!sap_comm_rank(r->comm)) t->taken = cuda_tools.calls[CUDA_TOOLS_ALLOCATE];
            pthread_barrier_wait(&t->together);
        }
        CHECK_STATUS(rebuild(tree, &sets[turn % 2]), SAP_OK);
    }
    pthread_barrier_wait(&t->together);
    CHECK_EQUAL(r->w.requests, requests);
    CHECK_EQUAL(r->w.bytes, bytes);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_ALLOCATE], t->taken);
}

static void* take_no_memory(void* argument) {
    rank_thread* r = argument;
    int64_t* ids = malloc(((size_t)r->s->points.count + 1) * sizeof *ids);
    open_devices(r);
    cloud share = share_of(r->s, sap_comm_rank(r->comm), ids);
    sap_cluster_tree* tree = NULL;
    if (CHECK_STATUS(build(r, r->gpu, &share, ids, &tree), SAP_OK)) {
        held sets[] = {held_of(tree, 1, 0, false), held_of(tree, 2, 0.3, false)};
        rebuild_steadily(r, tree, sets);
        held_free(&sets[0]);
        held_free(&sets[1]);
    }
    end_rank(r, tree, NULL, &share, ids);
    return NULL;
}

// Where a rank has one subtree, so that what comes is merged; a sort takes memory for a while.
TEST(rebuilds_take_the_memory_that_is_there) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    steady t = {.taken = 0};
    scene s = {.gpus = gpus, .ranks = STEADY_RANKS, .give = OWNERS_RANDOM, .user = &t};
    cuda_tools_reset();
    pthread_barrier_init(&t.together, NULL, STEADY_RANKS);
    s.points = cloud_of_family(FAMILY_UNIFORM, 3000, 3, 32, 0, 2);
    run_scene(&s, take_no_memory);
    pthread_barrier_destroy(&t.together);
    cloud_free(&s.points);
}

// ---- Failures

// Points of a rank; the latter need memory that is not there yet, and have a chunk of marks for each part.
enum { FEW = 60, MORE = 2100 };

typedef struct failing {
    pthread_barrier_t together;
    int64_t host_from; // request for host memory of rank 1 that is refused; 0: none
    int64_t fail_at;   // call on a GPU
    bool with_ids;
    sap_status statuses[FEW_RANKS];
} failing;

static held given_by(int32_t rank, int64_t count, uint64_t chance) {
    held h = {.points = cloud_make(count, 3, 32, 0), .ids = malloc((size_t)count * sizeof *h.ids)};
    uint64_t state = chance + (uint64_t)rank;
    for (int64_t i = 0; i < count; i++) {
        h.ids[i] = i * FEW_RANKS + rank;
        for (int32_t a = 0; a < 3; a++) cloud_set(&h.points, i, a, random_unit(&state));
    }
    return h;
}

// Refuses memory during the second rebuild, which has that of the first tree.
static void fail_between(rank_thread* r, sap_cluster_tree* tree, const held* more) {
    failing* f = r->s->user;
    const int32_t rank = sap_comm_rank(r->comm);
    pthread_barrier_wait(&f->together);
    if (!rank) cuda_tools.seen = 0;
    if (!rank) cuda_tools.fail_at = f->fail_at;
    if (f->host_from && rank == 1) r->w.fail_from = r->w.requests + f->host_from;
    pthread_barrier_wait(&f->together);
    f->statuses[rank] = rebuild_with(tree, more, f->with_ids);
    pthread_barrier_wait(&f->together);
    if (!rank) cuda_tools.fail_at = 0;
    r->w.fail_from = 0;
    pthread_barrier_wait(&f->together);
}

static void* fail_to_rebuild(void* argument) {
    rank_thread* r = argument;
    const failing* f = r->s->user;
    const int32_t rank = sap_comm_rank(r->comm);
    open_devices(r);
    held first = given_by(rank, FEW, 1), second = given_by(rank, FEW, 9), more = given_by(rank, MORE, 17);
    sap_cluster_tree *expected = NULL, *tree = NULL;
    if (CHECK_STATUS(build(r, r->cpu, &second.points, f->with_ids ? second.ids : NULL, &expected), SAP_OK) &&
        CHECK_STATUS(build(r, r->gpu, &first.points, f->with_ids ? first.ids : NULL, &tree), SAP_OK)) {
        CHECK_STATUS(rebuild_with(tree, &second, f->with_ids), SAP_OK);
        fail_between(r, tree, &more);
        const bool failed = f->statuses[rank] != SAP_OK;
        if (failed) compare_pieces(expected, tree);
        CHECK_STATUS(rebuild_with(expected, &more, f->with_ids), SAP_OK);
        if (failed) CHECK_STATUS(rebuild_with(tree, &more, f->with_ids), SAP_OK);
        compare_pieces(expected, tree);
    }
    held_free(&second);
    held_free(&more);
    end_rank(r, tree, expected, &first.points, first.ids);
    return NULL;
}

// Whether something failed; then all ranks say the same.
static bool run_with_failure(failing* f, int gpus, int32_t ranks, sap_status wanted) {
    const scene s = {.gpus = gpus, .ranks = ranks, .user = f};
    pthread_barrier_init(&f->together, NULL, (unsigned)ranks);
    run_scene(&s, fail_to_rebuild);
    pthread_barrier_destroy(&f->together);
    const bool failed = f->statuses[0] != SAP_OK;
    for (int32_t r = 0; r < ranks; r++) CHECK_STATUS(f->statuses[r], failed ? wanted : SAP_OK);
    CHECK_EQUAL(cuda_tools.blocks, 0);
    return failed;
}

// A call of a kind is to fail. Where memory is refused once, it is refused again: to a second attempt, once idle memory was
// freed, too.
static void prepare_failure(cuda_tools_kind kind) {
    cuda_tools_reset();
    cuda_tools.fail_kinds = 1u << kind;
    cuda_tools.error = CUDA_TOOLS_NO_MEMORY;
    cuda_tools.fail_on = kind == CUDA_TOOLS_ALLOCATE;
}

TEST(a_failed_rebuild_leaves_the_tree) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    for (int host = 0; host < 2; host++) {
        // Two ranks by NCCL need no more host memory than they have.
        const int64_t least = host && FEW_RANKS == 2 ? 0 : 3;
        bool failed = true;
        for (int64_t n = 1; failed && n < 1000; n += 1 + n / 12) {
            failing f = {.host_from = host ? n : 0, .fail_at = host ? 0 : n, .with_ids = true};
            prepare_failure(CUDA_TOOLS_ALLOCATE);
            NOTE("%s memory, request %d", host ? "host" : "GPU", (int)n);
            failed = run_with_failure(&f, gpus, FEW_RANKS, host ? SAP_ERROR_MEMORY : SAP_ERROR_DEVICE_MEMORY);
            CHECK(failed || n > least);
        }
        CHECK(!failed);
    }
    cuda_tools_reset();
    NOTE("%s", "");
}

// Each call of a kind fails in turn, among them those between the parts of an exchange: the rank that it befalls sends what
// the other waits for, and says so once all has come. When all have agreed that they are well, a share waits once more, for no
// work that matters.
TEST(a_failure_between_parts_leaves_the_tree) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    static const cuda_tools_kind kinds[] = {CUDA_TOOLS_ALLOCATE, CUDA_TOOLS_LAUNCH, CUDA_TOOLS_WAIT};
    const int64_t least = sap_share_part_least;
    sap_share_part_least = 1;
    for (int way = 0; way < 6; way++) {
        const bool waits = kinds[way % 3] == CUDA_TOOLS_WAIT;
        int64_t failures = 0;
        cuda_tools.failed = true;
        for (int64_t n = 1; cuda_tools.failed && n < 1000; n = next_fault(n)) {
            failing f = {.fail_at = n, .with_ids = way / 3};
            prepare_failure(kinds[way % 3]);
            NOTE("%s ids, kind %d, call %d", f.with_ids ? "with" : "no", (int)kinds[way % 3], (int)n);
            const bool failed = run_with_failure(&f, gpus, 2, SAP_ERROR_DEVICE_MEMORY);
            CHECK(failed == cuda_tools.failed || waits);
            failures += failed;
        }
        CHECK(!cuda_tools.failed && failures > 3);
    }
    cuda_tools_reset();
    sap_share_part_least = least;
    NOTE("%s", "");
}

#else
TEST(no_cuda) { SKIP("this build has not both CUDA and threads"); }
#endif
TEST_MAIN()
