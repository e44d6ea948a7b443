// Trees over ranks whose points lie on GPUs: the same bytes, and the same answers, as over ranks of CPUs.
#include "allocator.h"
#include "test.h"

#if defined(SAP_HAVE_CUDA) && defined(SAP_HAVE_THREADS)
#include "cluster/ops.h"
#include "cuda_ranks.h"

#if TEST_SANITIZED
enum { TRIED = 59 }; // one case of so many
#else
enum { TRIED = 17 };
#endif

// ---- Answers

static cloud queries_of(const scene* s, int32_t rank) {
    uint64_t state = s->chance + (uint64_t)rank;
    const int64_t count = rank % 3 == 1 ? 0 : 60 + rank;
    cloud q = cloud_make(count, s->points.dims, s->points.real_bits, rank % 2 ? 0 : s->points.dims + 2);
    for (int64_t i = 0; i < count; i++) {
        const int64_t own = s->points.count ? random_below(&state, s->points.count) : -1;
        for (int32_t a = 0; a < q.dims; a++) {
            double x = random_unit(&state);
            if (own >= 0 && i % 3 == 0) x = cloud_get(&s->points, own, a);
            if (own >= 0 && i % 3 == 1) x = x * 0.01 + cloud_get(&s->points, own, a);
            if (i == 5) x = cloud_limit(q.dims, q.real_bits);
            if (i == 7 && a == 0) x = (double)NAN;
            if (i == 8) x = q.real_bits == 64 ? 1e300 : 1e38;
            if (i == 10) x = 1000;
            cloud_set(&q, i, a, x);
        }
    }
    return q;
}

typedef struct answer {
    int64_t *ids, *held;
    unsigned char *near, *coords;
    size_t cells, points;
} answer;

static answer answer_make(const sap_cluster_tree* tree, size_t rows, int32_t k) {
    const size_t real = (size_t)tree->real_bits / 8;
    answer a = {.cells = rows * (size_t)k, .points = rows};
    a.ids = calloc(a.cells + 1, sizeof *a.ids);
    a.near = calloc(a.cells + 1, real);
    a.held = calloc(rows + 1, sizeof *a.held);
    a.coords = calloc(rows * (size_t)tree->dims + 1, real);
    return a;
}

static void answer_free(answer* a) {
    free(a->ids);
    free(a->near);
    free(a->held);
    free(a->coords);
}

static bool same(const answer* a, const answer* b, const sap_cluster_tree* tree) {
    const size_t real = (size_t)tree->real_bits / 8;
    return !memcmp(a->ids, b->ids, a->cells * sizeof *a->ids) && !memcmp(a->near, b->near, a->cells * real) &&
           !memcmp(a->held, b->held, a->points * sizeof *a->held) &&
           !memcmp(a->coords, b->coords, a->points * (size_t)tree->dims * real);
}

static sap_status ask(const sap_cluster_tree* tree, const cloud* q, const sap_search* search, int64_t* ids,
                      void* near) {
    if (q->real_bits == 64)
        return sap_cluster_nearest_f64(tree, (sap_points_f64){q->coords, q->count, q->dims, q->stride}, search, ids,
                                       near);
    return sap_cluster_nearest(tree, (sap_points){q->coords, q->count, q->dims, q->stride}, search, ids, near);
}

static sap_status ask_self(const sap_cluster_tree* tree, const sap_search* search, answer* a, bool ids, bool near) {
    if (tree->real_bits == 64) {
        CHECK_STATUS(sap_cluster_points_f64(tree, a->held, (double*)(void*)a->coords), SAP_OK);
        return sap_cluster_nearest_self_f64(tree, search, ids ? a->ids : NULL, near ? (void*)a->near : NULL);
    }
    CHECK_STATUS(sap_cluster_points(tree, a->held, (float*)(void*)a->coords), SAP_OK);
    return sap_cluster_nearest_self(tree, search, ids ? a->ids : NULL, near ? (void*)a->near : NULL);
}

// The same with arrays in GPU memory.
static sap_status ask_there(const sap_cluster_tree* tree, const cloud* q, const sap_search* search, answer* a) {
    const size_t real = (size_t)q->real_bits / 8;
    cloud up = *q;
    up.coords = put_there(q->coords, (size_t)(q->count * q->stride) * real);
    int64_t* ids = put_there(a->ids, a->cells * sizeof *ids);
    void* near = put_there(a->near, a->cells * real);
    const sap_status status = ask(tree, &up, search, ids, near);
    cuda_tools_copy(a->ids, ids, a->cells * sizeof *ids);
    cuda_tools_copy(a->near, near, a->cells * real);
    cuda_tools_release(up.coords);
    cuda_tools_release(ids);
    cuda_tools_release(near);
    return status;
}

// The same answers, with neither, one or both of the arrays.
static void compare_nearest(const scene* s, const sap_cluster_tree* a, const sap_cluster_tree* b, const cloud* q,
                            bool there) {
    static const int32_t ks[] = {1, 3, 8, 40};
    const double radii[] = {0, 0, 0.25, INFINITY};
    sap_search search = {.k = ks[s->chance % 4], .radius = radii[s->chance / 4 % 4]};
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(b, &info), SAP_OK);
    answer x = answer_make(a, (size_t)q->count, search.k), y = answer_make(a, (size_t)q->count, search.k);
    CHECK_STATUS(ask(a, q, &search, x.ids, x.near), SAP_OK);
    CHECK_STATUS(there ? ask_there(b, q, &search, &y) : ask(b, q, &search, y.ids, y.near), SAP_OK);
    CHECK(same(&x, &y, a));
    memset(y.ids, 0, y.cells * sizeof *y.ids);
    memset(y.near, 0, y.cells * sizeof(float));
    CHECK_STATUS(ask(b, q, &search, y.ids, NULL), SAP_OK);
    CHECK_STATUS(ask(b, q, &search, NULL, y.near), SAP_OK);
    CHECK(same(&x, &y, a));
    answer_free(&x);
    answer_free(&y);
}

// The same for the points themselves.
static void compare_self(const sap_cluster_tree* a, const sap_cluster_tree* b, const sap_search* search) {
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(b, &info), SAP_OK);
    answer x = answer_make(a, (size_t)info.count_here, search->k),
           y = answer_make(a, (size_t)info.count_here, search->k);
    CHECK_STATUS(ask_self(a, search, &x, true, true), SAP_OK);
    CHECK_STATUS(ask_self(b, search, &y, true, true), SAP_OK);
    CHECK(same(&x, &y, a));
    memset(y.ids, 0, y.cells * sizeof *y.ids);
    memset(y.near, 0, y.cells * sizeof(float));
    CHECK_STATUS(ask_self(b, search, &y, true, false), SAP_OK);
    CHECK_STATUS(ask_self(b, search, &y, false, true), SAP_OK);
    CHECK(same(&x, &y, a));
    answer_free(&x);
    answer_free(&y);
}

static void compare_selves(const scene* s, const sap_cluster_tree* a, const sap_cluster_tree* b) {
    static const int32_t ks[] = {1, 7, 8, 11, 16, 17};
    const double radii[] = {0, 0, 0.25, INFINITY};
    const sap_search one = {
        .k = 1 + (int32_t)(s->chance / 64 % 6), .radius = radii[s->chance / 4 % 4], .with_self = s->chance % 2};
    compare_self(a, b, &one);
    for (int i = 0; i < 24 && s->all_ks; i++)
        compare_self(a, b, &(sap_search){.k = ks[i / 4], .radius = i % 2 ? 0.05 : 0, .with_self = i / 2 % 2});
}

static void compare_found(const sap_cluster_neighbors* a, const sap_cluster_neighbors* b) {
    if (!CHECK(a && b) || !CHECK_EQUAL(a->count, b->count)) return;
    const int64_t all = a->offsets[a->count];
    if (!CHECK(!memcmp(a->offsets, b->offsets, ((size_t)a->count + 1) * sizeof *a->offsets)) || !all) return;
    CHECK(!memcmp(a->ids, b->ids, (size_t)all * sizeof *a->ids));
    if (a->distance2) CHECK(!memcmp(a->distance2, b->distance2, (size_t)all * sizeof *a->distance2));
    if (a->distance2_f64) CHECK(!memcmp(a->distance2_f64, b->distance2_f64, (size_t)all * sizeof *a->distance2_f64));
}

static void compare_radius(const scene* s, const sap_cluster_tree* a, const sap_cluster_tree* b, const cloud* q) {
    static const double radii[] = {0, 0.05, 0.3, 0.1};
    const double radius = radii[s->chance / 16 % 4];
    sap_cluster_neighbors *x = NULL, *y = NULL;
    int64_t *few = calloc((size_t)q->count + 1, sizeof *few), *many = calloc((size_t)q->count + 1, sizeof *many);
    if (q->real_bits == 64) {
        const sap_points_f64 queries = {q->coords, q->count, q->dims, q->stride};
        CHECK_STATUS(sap_cluster_radius_f64(a, queries, radius, &x), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_f64(b, queries, radius, &y), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_count_f64(a, queries, radius, few), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_count_f64(b, queries, radius, many), SAP_OK);
    } else {
        const sap_points queries = {q->coords, q->count, q->dims, q->stride};
        CHECK_STATUS(sap_cluster_radius(a, queries, radius, &x), SAP_OK);
        CHECK_STATUS(sap_cluster_radius(b, queries, radius, &y), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_count(a, queries, radius, few), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_count(b, queries, radius, many), SAP_OK);
    }
    compare_found(x, y);
    CHECK(!memcmp(few, many, (size_t)q->count * sizeof *few));
    free(few);
    free(many);
    sap_cluster_neighbors_free(x);
    sap_cluster_neighbors_free(y);
}

static void compare_pairs(const sap_cluster_tree* a, const sap_cluster_tree* b) {
    static const double radii[] = {0, 0.02, 0.05};
    sap_cluster_neighbors *x = NULL, *y = NULL;
    double few[3], many[3];
    CHECK_STATUS(sap_cluster_pairs(a, radii[1], &x), SAP_OK);
    CHECK_STATUS(sap_cluster_pairs(b, radii[1], &y), SAP_OK);
    compare_found(x, y);
    CHECK_STATUS(sap_cluster_count_pairs(a, radii, 3, true, few), SAP_OK);
    CHECK_STATUS(sap_cluster_count_pairs(b, radii, 3, true, many), SAP_OK);
    for (int i = 0; i < 3; i++) CHECK_EQUAL(few[i], many[i]);
    sap_cluster_neighbors_free(x);
    sap_cluster_neighbors_free(y);
}

// The same points given by whom holds them: nothing moves.
static void rebuild(sap_cluster_tree* tree) {
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    const size_t here = (size_t)info.count_here + 1;
    int64_t* ids = malloc(here * sizeof *ids);
    void* coords = malloc(here * (size_t)info.dims * (size_t)info.real_bits / 8);
    if (info.real_bits == 64) {
        const sap_points_f64 held = {coords, info.count_here, info.dims, 0};
        CHECK_STATUS(sap_cluster_points_f64(tree, ids, coords), SAP_OK);
        CHECK_STATUS(sap_cluster_rebuild_f64(tree, held, ids), SAP_OK);
    } else {
        const sap_points held = {coords, info.count_here, info.dims, 0};
        CHECK_STATUS(sap_cluster_points(tree, ids, coords), SAP_OK);
        CHECK_STATUS(sap_cluster_rebuild(tree, held, ids), SAP_OK);
    }
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.moved, 0);
    free(ids);
    free(coords);
}

static void* run_rank(void* argument) {
    rank_thread* r = argument;
    const scene* s = r->s;
    const int32_t rank = sap_comm_rank(r->comm);
    const bool there = open_devices(r);
    int64_t* ids = malloc(((size_t)s->points.count + 1) * sizeof *ids);
    cloud share = share_of(s, rank, ids);
    sap_cluster_tree *expected = NULL, *tree = NULL;
    if (CHECK_STATUS(build(r, r->cpu, &share, s->with_ids ? ids : NULL, &expected), SAP_OK) &&
        CHECK_STATUS(there ? build_there(r, &share, s->with_ids ? ids : NULL, &tree)
                           : build(r, r->gpu, &share, s->with_ids ? ids : NULL, &tree),
                     SAP_OK)) {
        compare_pieces(expected, tree);
        cloud queries = queries_of(s, rank);
        compare_nearest(s, expected, tree, &queries, there);
        compare_selves(s, expected, tree);
        compare_radius(s, expected, tree, &queries);
        if (s->points.count <= 1000) compare_pairs(expected, tree);
        if (s->points.count <= 5000) {
            rebuild(expected);
            rebuild(tree);
            compare_pieces(expected, tree);
        }
        cloud_free(&queries);
    }
    end_rank(r, tree, expected, &share, ids);
    return NULL;
}

TEST(is_the_tree_of_cpus) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    CHECK(cuda_tools_stream()); // made before there are threads
    static const int64_t sizes[] = {0, 1, 3, 100, 1000, 5000};
    static const int32_t all_dims[] = {1, 2, 3, 3, 4, 7};
    static const int32_t leaf_sizes[] = {0, 1, 2, 8, 0, 100};
    uint64_t state = 1;
    for (int kind = 0; kind < FAMILY_COUNT; kind++)
        for (int size = 0; size < 6; size++) {
            scene s = {.gpus = gpus, .chance = random_next(&state)};
            const int32_t dims = all_dims[random_below(&state, 6)], bits = random_below(&state, 2) ? 64 : 32;
            s.ranks = 1 + (int32_t)random_below(&state, 6) % most_ranks();
            s.give = (owners)random_below(&state, OWNERS_COUNT);
            s.with_ids = random_below(&state, 2);
            s.staged = random_below(&state, 3) == 0;
            s.options.leaf_size = leaf_sizes[random_below(&state, 6)];
            s.options.axis = random_below(&state, 3) ? SAP_AXIS_WIDEST : SAP_AXIS_CYCLE;
            const bool tried = (kind + size) % TRIED == 0;
            if (!tried) continue;
            s.points = cloud_of_family((family)kind, sizes[size], dims, bits, 0, s.chance);
            NOTE("%s n %d dims %d f%d ranks %d owners %d ids %d leaf %d axis %d", family_name((family)kind),
                 (int)sizes[size], dims, bits, s.ranks, (int)s.give, s.with_ids, s.options.leaf_size,
                 (int)s.options.axis);
            run_scene(&s, run_rank);
            cloud_free(&s.points);
        }
    NOTE("%s", "");
}

// Parts whose upper levels all blocks split together, and whose leaves end where those of the whole tree do.
TEST(large_parts) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    scene s = {.gpus = gpus, .ranks = 2, .give = OWNERS_RANDOM, .chance = 5};
    s.points = cloud_of_family(FAMILY_UNIFORM, 40001, 3, 32, 0, s.chance);
    run_scene(&s, run_rank);
    cloud_free(&s.points);
}

// The walk that writes rows over ranks itself, lists of all its lengths, and what is searched without it.
TEST(points_ask_leaf_by_leaf) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    for (int32_t dims = 2; dims <= 5; dims++)
        for (int32_t ranks = 1; ranks <= most_ranks() && ranks <= 4; ranks *= 2) {
            scene s = {.gpus = gpus, .ranks = ranks, .give = OWNERS_RANDOM, .with_ids = dims % 2, .all_ks = true};
            s.chance = 8 * (uint64_t)dims + (uint64_t)ranks;
            // Few points: lists that are not filled.
            for (int64_t count = 30; count <= 900; count *= 30) {
                s.points = cloud_of_family(FAMILY_UNIFORM, count, dims, 32, 0, s.chance);
                NOTE("dims %d ranks %d points %d", (int)dims, (int)ranks, (int)count);
                run_scene(&s, run_rank);
                cloud_free(&s.points);
            }
        }
    NOTE("%s", "");
}

// ---- Failures

enum { FEW_POINTS = 60 };

typedef struct failing {
    int64_t host_from; // request for host memory of rank 1 that is refused; 0: none
    int gpus;
    sap_status statuses[FEW_RANKS];
    pthread_barrier_t built;
} failing;

typedef struct failing_rank {
    pthread_t thread;
    failing* f;
    sap_comm* comm;
    watch w;
    sap_device* gpu;
} failing_rank;

// Builds, and asks in every way; the first status that is not SAP_OK.
static sap_status do_all(const failing_rank* r) {
    float coords[3 * FEW_POINTS], near[4 * FEW_POINTS];
    int64_t ids[4 * FEW_POINTS], counts[5];
    uint64_t state = (uint64_t)sap_comm_rank(r->comm) + 11;
    for (int i = 0; i < 3 * FEW_POINTS; i++) coords[i] = (float)random_unit(&state);
    sap_cluster_tree* tree = NULL;
    sap_cluster_neighbors* found = NULL;
    const sap_points queries = {coords, 5, 3, 0};
    const sap_search search = {.k = 1};
    const sap_tree_options options = {.leaf_size = 4};
    sap_status status =
        sap_cluster_build(r->comm, r->gpu, (sap_points){coords, FEW_POINTS, 3, 0}, NULL, &options, &tree);
    if (status == SAP_OK) status = sap_cluster_nearest(tree, queries, &search, ids, near);
    if (status == SAP_OK) status = sap_cluster_nearest_self(tree, &search, NULL, NULL);
    if (status == SAP_OK) status = sap_cluster_radius_count(tree, queries, 0.3, counts);
    if (status == SAP_OK) status = sap_cluster_radius(tree, queries, 0.3, &found);
    sap_cluster_neighbors_free(found);
    sap_cluster_free(tree);
    return status;
}

static void* run_failing(void* argument) {
    failing_rank* r = argument;
    failing* f = r->f;
    const int32_t rank = sap_comm_rank(r->comm);
    sap_device_options options = watched(&r->w);
    options.processor = SAP_CUDA;
    options.ordinal = rank % f->gpus;
    CHECK_STATUS(cuda_tools_open(&options, &r->gpu), SAP_OK);
    pthread_barrier_wait(&f->built);
    if (!rank) cuda_tools.seen = 0;
    if (f->host_from && rank == 1) r->w.fail_from = r->w.requests + f->host_from;
    pthread_barrier_wait(&f->built);
    f->statuses[rank] = do_all(r);
    pthread_barrier_wait(&f->built);
    if (!rank) cuda_tools.fail_at = 0;
    r->w.fail_from = 0;
    pthread_barrier_wait(&f->built);
    CHECK_STATUS(do_all(r), SAP_OK); // the ranks can go on
    sap_device_close(r->gpu);
    CHECK_EQUAL(r->w.blocks, 0);
    CHECK_EQUAL(r->w.wrong, 0);
    return NULL;
}

// Whether something failed; then all ranks say the same.
static bool run_with_failures(failing* f, sap_status expected) {
    sap_comm* comms[FEW_RANKS];
    failing_rank ranks[FEW_RANKS] = {{0}};
    if (!open_ranks(FEW_RANKS, comms)) return false;
    pthread_barrier_init(&f->built, NULL, FEW_RANKS);
    for (int32_t r = 0; r < FEW_RANKS; r++) {
        ranks[r].f = f;
        ranks[r].comm = comms[r];
        CHECK(!pthread_create(&ranks[r].thread, NULL, run_failing, &ranks[r]));
    }
    for (int32_t r = 0; r < FEW_RANKS; r++) pthread_join(ranks[r].thread, NULL);
    pthread_barrier_destroy(&f->built);
    const bool failed = f->statuses[0] != SAP_OK;
    for (int32_t r = 0; r < FEW_RANKS; r++) CHECK_STATUS(f->statuses[r], failed ? expected : SAP_OK);
    close_ranks(FEW_RANKS, comms);
    CHECK_EQUAL(cuda_tools.blocks, 0);
    return failed;
}

TEST(memory_of_gpus_is_refused) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    bool failed = true;
    for (int64_t n = 1; failed && n < 1000; n += SLOW_TO_OPEN ? 1 + n / 2 : 1 + n / 12) {
        failing f = {.gpus = gpus};
        cuda_tools_reset();
        cuda_tools.fail_kinds = 1u << CUDA_TOOLS_ALLOCATE;
        cuda_tools.error = CUDA_TOOLS_NO_MEMORY;
        cuda_tools.fail_on = true; // a second attempt, once idle memory was freed, fails too
        NOTE("allocation %d", (int)n);
        cuda_tools.fail_at = n;
        failed = run_with_failures(&f, SAP_ERROR_DEVICE_MEMORY);
        CHECK(failed || n > 20);
    }
    CHECK(!failed);
    cuda_tools_reset();
    NOTE("%s", "");
}

TEST(memory_of_the_host_is_refused) {
    const int gpus = cuda_tools_gpus(2);
    if (!gpus) SKIP("there is no GPU");
    NEEDS_RANKS;
    bool failed = true;
    for (int64_t n = 1; failed && n < 1000; n += SLOW_TO_OPEN ? 1 + n / 2 : 1 + n / 12) {
        failing f = {.gpus = gpus, .host_from = n};
        NOTE("request %d", (int)n);
        failed = run_with_failures(&f, SAP_ERROR_MEMORY);
        CHECK(failed || n > 20);
    }
    CHECK(!failed);
    NOTE("%s", "");
}

// What says that another GPU was reached also says that there is a stream for its messages.
TEST(a_gpu_that_was_not_reached_is_tried_again) {
    if (cuda_tools_gpus(2) < 2) SKIP("there are not two GPUs");
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    options.processor = SAP_CUDA;
    cuda_tools_reset();
    if (!CHECK_STATUS(cuda_tools_open(&options, &device), SAP_OK)) return;
    const sap_cluster_ops* ops = device->rooms.cluster;
    const int64_t objects = cuda_tools.objects, made = cuda_tools.calls[CUDA_TOOLS_CREATE];
    cuda_tools.fail_kinds = 1u << CUDA_TOOLS_CREATE;
    cuda_tools.fail_at = 1;
    for (int turn = 0; turn < 3; turn++) {
        uint64_t reached = 0;
        ops->reach(device, 1);
        CHECK_EQUAL(ops->ordinal(device, &reached), 0);
        CHECK_EQUAL(reached, turn ? 2 : 0);
        CHECK_EQUAL(cuda_tools.objects - objects, turn ? 1 : 0);
        CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_CREATE] - made, turn ? 2 : 1);
    }
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    cuda_tools_reset();
}

#else
TEST(no_cuda) { SKIP("this build has not both CUDA and threads"); }
#endif
TEST_MAIN()
