// CUDA devices: opening them, arrays on either side, the caller's stream and memory, several at once. What they answer
// is compared with the CPU's by the other tests.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include <pthread.h>

enum { POINTS = 2000, QUERIES = 150, K = 5 };

// ---- Opening

static void expect_no_device(watch* w, const sap_device_options* options, const char* words) {
    sap_device* device = NULL;
    w->log_calls = 0;
    CHECK_STATUS(cuda_tools_open(options, &device), SAP_ERROR_NO_DEVICE);
    CHECK(device == NULL && w->log_calls == 1 && strstr(w->sentence, words));
    CHECK(!strncmp(w->sentence, "options.ordinal: ", 17));
    CHECK_EQUAL(w->blocks, 0);
}

// What a machine without a GPU, or with a driver of long ago, says.
TEST(machines_without_a_gpu) {
    watch w = {0};
    sap_device_options options = scene_options(&w);
    cuda_tools_reset();
    cuda_tools.gpus = -1;
    cuda_tools.error = CUDA_TOOLS_OLD_DRIVER;
    expect_no_device(&w, &options, "too old");
    cuda_tools.error = CUDA_TOOLS_NO_GPU;
    expect_no_device(&w, &options, "no NVIDIA GPU");
    cuda_tools_reset();
}

TEST(ordinals) {
    scene s;
    OPEN_SCENE(&s, NULL);
    watch w = {0};
    sap_device_options options = scene_options(&w);
    sap_device* device = NULL;
    sap_device_info info;
    options.ordinal = 1000;
    expect_no_device(&w, &options, "on this machine");
    CHECK_STATUS(sap_device_open(&options, &device), SAP_ERROR_NO_DEVICE);
    cuda_tools.gpus = 0;
    options.ordinal = 0;
    expect_no_device(&w, &options, "no NVIDIA GPU");
    // Whoever takes what there is gets the CPU, without a word.
    options.processor = SAP_AUTO;
    options.ordinal = 1000;
    w.log_calls = 0;
    if (CHECK_STATUS(sap_device_open(&options, &device), SAP_OK)) {
        CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
        CHECK(info.processor == SAP_CPU && w.log_calls == 0);
        sap_device_close(device);
    }
    options.ordinal = 0;
    if (CHECK_STATUS(sap_device_open(&options, &device), SAP_OK)) {
        CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
        CHECK_EQUAL(info.processor, SAP_CUDA);
        sap_device_close(device);
    }
    CHECK(w.blocks == 0 && w.wrong == 0);
    close_scene(&s);
}

TEST(half_an_allocator) {
    watch w = {0};
    sap_device_options options = scene_options(&w);
    sap_device* device = NULL;
    options.device_allocator.allocate = cuda_tools_own_allocate;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_ERROR_ARGUMENT);
    CHECK(strstr(w.sentence, "device_allocator"));
    options.device_allocator = (sap_allocator){NULL, cuda_tools_own_release, NULL};
    CHECK_STATUS(sap_device_open(&options, &device), SAP_ERROR_ARGUMENT);
    CHECK(device == NULL && w.blocks == 0 && w.log_calls == 2);
}

// Every host block, stream and pool that opening asks for is refused in turn.
TEST(refused_while_opening) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 3; kind++) {
        for (int n = 1; n < 10; n++) {
            watch w = {.fail_from = kind ? 0 : n};
            sap_device_options options = scene_options(&w);
            sap_device* device = NULL;
            NOTE("kind %d request %d", kind, n);
            fail_calls(1u << CUDA_TOOLS_CREATE, kind ? n : 0, false,
                       kind == 1 ? CUDA_TOOLS_NO_MEMORY : CUDA_TOOLS_ILLEGAL_ADDRESS);
            sap_status status = cuda_tools_open(&options, &device);
            bool refused = kind ? cuda_tools.failed : w.requests >= n;
            if (!refused) {
                CHECK_STATUS(status, SAP_OK);
                CHECK_EQUAL(n, 3); // two of each
                sap_device_close(device);
            } else {
                CHECK_STATUS(status, kind == 0   ? SAP_ERROR_MEMORY
                                     : kind == 1 ? SAP_ERROR_DEVICE_MEMORY
                                                 : SAP_ERROR_NO_DEVICE);
                CHECK(device == NULL);
            }
            CHECK(w.blocks == 0 && w.wrong == 0);
            if (!refused) break;
        }
    }
    cuda_tools_reset();
    close_scene(&s);
}

TEST(a_gpu_describes_itself) {
    scene s;
    OPEN_SCENE(&s, NULL);
    sap_device_info empty, used, trimmed;
    sap_tree* tree = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1);
    CHECK_STATUS(sap_device_describe(s.gpu, &empty), SAP_OK);
    CHECK(empty.processor == SAP_CUDA && empty.ordinal == 0 && empty.threads == 1 && empty.name[0]);
    CHECK_EQUAL(empty.scratch_bytes, 0);
    CHECK_STATUS(build(s.gpu, &points, &(sap_tree_options){.split = SAP_SPLIT_SLIDING_MIDPOINT}, &tree), SAP_OK);
    CHECK_STATUS(sap_device_describe(s.gpu, &used), SAP_OK);
    CHECK(used.scratch_bytes >= cloud_bytes(&points));
    sap_device_trim(s.gpu);
    CHECK_STATUS(sap_device_describe(s.gpu, &trimmed), SAP_OK);
    CHECK_EQUAL(trimmed.scratch_bytes, 0);
    CHECK(!strcmp(empty.name, trimmed.name));
    sap_tree_free(tree);
    cloud_free(&points);
    close_scene(&s);
}

// ---- Arrays on either side

typedef struct answers {
    int32_t ids[QUERIES * K];
    double distance2[QUERIES * K]; // of either precision
    int64_t counts[QUERIES];
} answers;

static void expect_answers(scene* s, const cloud* points, const cloud* queries, const sap_tree_options* options,
                           double radius, answers* a) {
    sap_tree* tree = NULL;
    CHECK_STATUS(build(s->cpu, points, options, &tree), SAP_OK);
    CHECK_STATUS(nearest(tree, queries, &(sap_search){.k = K}, a->ids, a->distance2), SAP_OK);
    CHECK_STATUS(radius_count(tree, queries, radius, a->counts), SAP_OK);
    sap_tree_free(tree);
}

// Asks with each array here or there: bits of `sides` say which lie on the GPU.
static void ask_mixed(const sap_tree* tree, const cloud* queries, int sides, double radius, const answers* a) {
    const size_t real = (size_t)queries->real_bits / 8;
    answers got;
    memset(&got, 0x5a, sizeof got);
    cloud asked = sides & 1 ? cloud_on_gpu(queries) : *queries;
    int32_t* ids = sides & 2 ? on_gpu(got.ids, sizeof got.ids) : got.ids;
    void* distance2 = sides & 4 ? on_gpu(got.distance2, sizeof got.distance2) : got.distance2;
    int64_t* counts = sides & 2 ? on_gpu(got.counts, sizeof got.counts) : got.counts;
    CHECK_STATUS(nearest(tree, &asked, &(sap_search){.k = K}, ids, distance2), SAP_OK);
    CHECK_STATUS(radius_count(tree, &asked, radius, counts), SAP_OK);
    if (sides & 2) {
        cuda_tools_copy(got.ids, ids, sizeof got.ids);
        cuda_tools_copy(got.counts, counts, sizeof got.counts);
        cuda_tools_release(ids);
        cuda_tools_release(counts);
    }
    if (sides & 4) {
        cuda_tools_copy(got.distance2, distance2, sizeof got.distance2);
        cuda_tools_release(distance2);
    }
    if (sides & 1) cuda_tools_release(asked.coords);
    CHECK(!memcmp(got.ids, a->ids, sizeof got.ids) && !memcmp(got.counts, a->counts, sizeof got.counts));
    CHECK(!memcmp(got.distance2, a->distance2, real * QUERIES * K));
}

TEST(arrays_on_either_side) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 8; kind++) {
        const sap_tree_options options = {.split = (sap_split)(kind / 2 % 2), .drop_duplicates = kind / 4};
        const int32_t bits = kind % 2 ? 64 : 32;
        const int64_t stride = kind / 2 % 2 ? 5 : 0;
        cloud points = cloud_of_family(FAMILY_HALF_DUPLICATES, POINTS, 3, bits, stride, 1);
        cloud queries = case_queries(&points, QUERIES, (uint64_t)kind), there = cloud_on_gpu(&points);
        answers a;
        sap_tree *tree = NULL, *same = NULL;
        expect_answers(&s, &points, &queries, &options, 0.05, &a);
        CHECK_STATUS(build(s.gpu, &points, &options, &tree), SAP_OK);
        CHECK_STATUS(build(s.gpu, &there, &options, &same), SAP_OK);
        CHECK(trees_equal(tree, same));
        CHECK_STATUS(rebuild(same, &there), SAP_OK);
        CHECK(trees_equal(tree, same));
        for (int sides = 0; sides < 8; sides++) {
            NOTE("kind %d sides %d", kind, sides);
            ask_mixed(tree, &queries, sides, 0.05, &a);
        }
        sap_tree_free(tree);
        sap_tree_free(same);
        cuda_tools_release(there.coords);
        cloud_free(&points);
        cloud_free(&queries);
    }
    close_scene(&s);
}

// ---- The caller's stream and memory

// GPUs with little shared memory, on which a block has room for fewer points and counts, with so few multiprocessors that a
// block finds the medians of many nodes, and those on which no launch begins before the one before has ended.
TEST(gpus_of_other_makes) {
    static const struct {
        int shared_bytes, is_compiled_for, multiprocessors;
    } makes[] = {{64 << 10, 75, 1}, {99 << 10, 86, 2}, {163 << 10, 80, 0}, {0, 0, 1}};
    static const struct {
        family kind;
        int64_t count;
        int32_t dims, real_bits;
    } cases[] = {{FAMILY_UNIFORM, 40000, 3, 32},
                 {FAMILY_CLUSTERED, 17001, 4, 32},
                 {FAMILY_UNIFORM, 9000, 3, 64},
                 {FAMILY_UNIFORM, 20000, 16, 32}};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (size_t make = 0; make < sizeof makes / sizeof *makes; make++) {
        sap_device* device = NULL;
        const sap_device_options options = scene_options(&s.w);
        cuda_tools.shared_bytes = makes[make].shared_bytes;
        cuda_tools.is_compiled_for = makes[make].is_compiled_for;
        cuda_tools.multiprocessors = makes[make].multiprocessors;
        CHECK_STATUS(cuda_tools_open(&options, &device), SAP_OK);
        const int64_t before = cuda_tools.early_launches;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            cloud points = cloud_of_family(cases[i].kind, cases[i].count, cases[i].dims, cases[i].real_bits, 0, 3);
            sap_tree *tree = NULL, *expected = NULL;
            NOTE("make %zu, case %zu", make, i);
            CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
            CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
            CHECK(trees_equal(expected, tree));
            sap_tree_free(tree);
            sap_tree_free(expected);
            cloud_free(&points);
        }
        CHECK((cuda_tools.early_launches > before) == (cuda_tools.compiled_for >= 90));
        sap_device_close(device);
    }
    cuda_tools.shared_bytes = cuda_tools.is_compiled_for = cuda_tools.multiprocessors = 0;
    close_scene(&s);
}

// Points that share a bin of their node's histogram, which all blocks look through together, and so many columns that points
// move more than once.
TEST(the_top_of_the_builder) {
    static const struct {
        family kind;
        int64_t count;
        int32_t dims, real_bits;
    } cases[] = {{FAMILY_EQUAL, 70000, 2, 32}, {FAMILY_OUTLIER, 70001, 3, 32}, {FAMILY_UNIFORM, 14000, 16, 64}};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cloud points = cloud_of_family(cases[i].kind, cases[i].count, cases[i].dims, cases[i].real_bits, 0, 2);
        sap_tree *tree = NULL, *expected = NULL;
        NOTE("%s", family_name(cases[i].kind));
        CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
        CHECK_STATUS(build(s.gpu, &points, NULL, &tree), SAP_OK);
        CHECK(trees_equal(expected, tree));
        sap_tree_free(tree);
        sap_tree_free(expected);
        cloud_free(&points);
    }
    close_scene(&s);
}

TEST(nothing_waits_in_the_callers_stream) {
    scene s;
    OPEN_SCENE(&s, cuda_tools_stream());
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1), queries = case_queries(&points, QUERIES, 3);
    cloud there = cloud_on_gpu(&points), asked = cloud_on_gpu(&queries);
    answers a, got;
    int32_t* ids = on_gpu(NULL, sizeof got.ids);
    void* distance2 = on_gpu(NULL, sizeof got.distance2);
    int64_t* counts = on_gpu(NULL, sizeof got.counts);
    sap_tree* tree = NULL;
    expect_answers(&s, &points, &queries, NULL, 0.1, &a);
    CHECK_STATUS(build(s.gpu, &there, NULL, &tree), SAP_OK);
    CHECK_STATUS(rebuild(tree, &there), SAP_OK);
    CHECK_STATUS(nearest(tree, &asked, &(sap_search){.k = K}, ids, distance2), SAP_OK);
    CHECK_STATUS(radius_count(tree, &asked, 0.1, counts), SAP_OK);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_WAIT], 0);
    CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
    CHECK(cuda_tools.calls[CUDA_TOOLS_WAIT] > 0);
    cuda_tools_copy(got.ids, ids, sizeof got.ids);
    cuda_tools_copy(got.distance2, distance2, sizeof(float) * QUERIES * K); // half of the room
    cuda_tools_copy(got.counts, counts, sizeof got.counts);
    CHECK(!memcmp(got.ids, a.ids, sizeof got.ids) && !memcmp(got.counts, a.counts, sizeof got.counts));
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are meant
    CHECK(!memcmp(got.distance2, a.distance2, sizeof(float) * QUERIES * K));
    // One array of the host is enough.
    cuda_tools_reset();
    CHECK_STATUS(nearest(tree, &asked, &(sap_search){.k = K}, got.ids, distance2), SAP_OK);
    CHECK(cuda_tools.calls[CUDA_TOOLS_WAIT] > 0);
    CHECK(!memcmp(got.ids, a.ids, sizeof got.ids));
    sap_neighbors* pairs = NULL;
    CHECK_STATUS(sap_pairs(tree, 0.05, &pairs), SAP_OK);
    CHECK(pairs && pairs->on_device);
    sap_neighbors_free(pairs);
    sap_tree_free(tree);
    void* const all[] = {ids, distance2, counts, there.coords, asked.coords};
    for (int i = 0; i < 5; i++) cuda_tools_release(all[i]);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

static void expect_nothing_found(const sap_tree* tree, const cloud* asked) {
    answers got;
    memset(&got, 0x5a, sizeof got);
    CHECK_STATUS(nearest(tree, asked, &(sap_search){.k = K}, got.ids, got.distance2), SAP_OK);
    CHECK_STATUS(radius_count(tree, asked, INFINITY, got.counts), SAP_OK);
    const float* distance2 = (const float*)(const void*)got.distance2;
    for (int i = 0; i < QUERIES * K; i++) CHECK(got.ids[i] == -1 && distance2[i] == INFINITY);
    for (int i = 0; i < QUERIES; i++) CHECK_EQUAL(got.counts[i], 0);
}

// A build that does not wait cannot say that a point is no good; sap_device_wait says it, once.
TEST(bad_points_are_reported_later) {
    scene s;
    OPEN_SCENE(&s, cuda_tools_stream());
    for (int kind = 0; kind < 4; kind++) {
        const int32_t dims = kind % 2 ? 3 : 5;
        const int64_t count = kind / 2 ? 20000 : 1000; // with levels that the whole GPU builds, and without
        cloud points = cloud_of_family(FAMILY_UNIFORM, count, dims, 32, 0, 1), spoiled = points;
        cloud queries = case_queries(&points, QUERIES, 3), asked = cloud_on_gpu(&queries);
        cloud there = cloud_on_gpu(&points), bad;
        sap_tree *tree = NULL, *expected = NULL;
        NOTE("kind %d", kind);
        spoiled.coords = malloc(cloud_bytes(&points));
        memcpy(spoiled.coords, points.coords, cloud_bytes(&points));
        cloud_set(&spoiled, 700, dims - 1, (double)INFINITY);
        cloud_set(&spoiled, 300, 1, (double)NAN);
        cloud_set(&spoiled, 301, 0, 1e30);
        bad = cloud_on_gpu(&spoiled);
        CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
        for (int again = 0; again < 2; again++) {
            s.w.log_calls = 0;
            CHECK_STATUS(again ? rebuild(tree, &bad) : build(s.gpu, &bad, NULL, &tree), SAP_OK);
            expect_nothing_found(tree, &asked);
            CHECK_EQUAL(s.w.log_calls, 0);
            CHECK_STATUS(sap_device_wait(s.gpu), SAP_ERROR_NOT_FINITE);
            CHECK(s.w.log_calls == 1 && strstr(s.w.sentence, " 300 "));
            CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
            expect_nothing_found(tree, &asked);
            CHECK_STATUS(rebuild(tree, &there), SAP_OK);
            CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
            CHECK(trees_equal(expected, tree));
        }
        // A build that waits says it itself, and the tree that was there stays.
        CHECK_STATUS(rebuild(tree, &spoiled), SAP_ERROR_NOT_FINITE);
        CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
        CHECK(trees_equal(expected, tree));
        sap_tree_free(tree);
        sap_tree_free(expected);
        void* const all[] = {asked.coords, there.coords, bad.coords};
        for (int i = 0; i < 3; i++) cuda_tools_release(all[i]);
        cloud_free(&spoiled);
        cloud_free(&points);
        cloud_free(&queries);
    }
    close_scene(&s);
}

TEST(rebuilding_allocates_nothing) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int kind = 0; kind < 4; kind++) {
        const sap_tree_options options = {.split = (sap_split)(kind % 2), .drop_duplicates = kind / 2};
        cloud points = cloud_of_family(FAMILY_HALF_DUPLICATES, 6000, 3, 32, 0, 1);
        cloud there = cloud_on_gpu(&points);
        sap_tree* tree = NULL;
        CHECK_STATUS(build(s.gpu, &points, &options, &tree), SAP_OK);
        CHECK_STATUS(rebuild(tree, &points), SAP_OK);
        cuda_tools_reset();
        s.w.requests = 0;
        for (int again = 0; again < 2; again++) {
            NOTE("kind %d, from the %s", kind, again ? "GPU" : "host");
            CHECK_STATUS(rebuild(tree, again ? &there : &points), SAP_OK);
            CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_ALLOCATE], 0);
            CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_RELEASE], 0);
            CHECK_EQUAL(s.w.requests, 0);
        }
        sap_tree_free(tree);
        cuda_tools_release(there.coords);
        cloud_free(&points);
    }
    close_scene(&s);
}

TEST(the_callers_memory) {
    scene s;
    OPEN_SCENE(&s, NULL);
    watch w = {0};
    int64_t counts[2] = {0, 0};
    sap_device_options options = scene_options(&w);
    options.device_allocator = (sap_allocator){cuda_tools_own_allocate, cuda_tools_own_release, counts};
    sap_device* device = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1), asked = cloud_on_gpu(&points);
    cuda_tools_reset();
    if (CHECK_STATUS(cuda_tools_open(&options, &device), SAP_OK)) {
        for (int split = 0; split < 2; split++) {
            const sap_tree_options tree_options = {.split = (sap_split)split, .drop_duplicates = true};
            sap_tree *tree = NULL, *expected = NULL;
            sap_neighbors* found = NULL;
            int32_t ids[QUERIES * 40];
            cloud few = cloud_part(&points, 0, QUERIES);
            CHECK_STATUS(build(s.cpu, &points, &tree_options, &expected), SAP_OK);
            CHECK_STATUS(build(device, &points, &tree_options, &tree), SAP_OK);
            CHECK_STATUS(rebuild(tree, &points), SAP_OK);
            CHECK(trees_equal(expected, tree));
            CHECK_STATUS(nearest(tree, &few, &(sap_search){.k = 40}, ids, NULL), SAP_OK);
            CHECK_STATUS(radius_collect(tree, &asked, 0.1, &found), SAP_OK);
            CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
            sap_neighbors_free(found);
            sap_tree_free(tree);
            sap_tree_free(expected);
        }
        CHECK(counts[0] > 0 && cuda_tools.calls[CUDA_TOOLS_ALLOCATE] == 0);
        sap_device_close(device);
    }
    CHECK_EQUAL(counts[1], 0);
    CHECK_EQUAL(w.blocks, 0);
    cuda_tools_release(asked.coords);
    cloud_free(&points);
    close_scene(&s);
}

// Bytes that a device holds in memory of the caller's.
typedef struct held {
    int64_t now, most;
} held;

static void* hold(void* user, size_t bytes, size_t alignment) {
    held* h = user;
    void* memory = alignment == 256 ? cuda_tools_allocate(bytes) : NULL;
    if (memory) h->now += (int64_t)bytes;
    if (h->now > h->most) h->most = h->now;
    return memory;
}

static void let_go(void* user, void* memory, size_t bytes) {
    ((held*)user)->now -= (int64_t)bytes;
    cuda_tools_release(memory);
}

// What a build takes at most, beside points that are on the GPU: 2.2 times their bytes and those of ids. The trees are those
// of 1, 10 and 100 million points, and of 16,777,216 in four dimensions, but for their depth: leaves are as full.
TEST(memory_of_a_build) {
    static const struct {
        int64_t count;
        int32_t dims;
    } cases[] = {{250000, 3}, {156250, 3}, {195313, 3}, {262144, 4}};
    scene s;
    OPEN_SCENE(&s, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cloud points = cloud_of_family(FAMILY_UNIFORM, cases[i].count, cases[i].dims, 32, 0, 1);
        cloud there = cloud_on_gpu(&points);
        watch w = {0};
        held h = {0, 0};
        sap_device_options options = scene_options(&w);
        options.device_allocator = (sap_allocator){hold, let_go, &h};
        sap_device* device = NULL;
        NOTE("%d points", (int)points.count);
        if (CHECK_STATUS(cuda_tools_open(&options, &device), SAP_OK)) {
            sap_tree *tree = NULL, *expected = NULL;
            CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
            CHECK_STATUS(build(device, &there, NULL, &tree), SAP_OK);
            CHECK_STATUS(rebuild(tree, &there), SAP_OK);
            CHECK(10 * h.most <= 22 * points.count * 4 * (points.dims + 1));
            CHECK(trees_equal(expected, tree));
            sap_tree_free(tree);
            sap_tree_free(expected);
            sap_device_close(device);
        }
        CHECK_EQUAL(h.now, 0);
        CHECK_EQUAL(w.blocks, 0);
        cuda_tools_release(there.coords);
        cloud_free(&points);
    }
    close_scene(&s);
}

// ---- Several at once

enum { HOSTS = 4 };

typedef struct host {
    pthread_t thread;
    sap_device* device;
    const sap_tree *tree, *expected; // all hosts ask the first
    const cloud *points, *queries;
    const answers* a;
    int wrong;
} host;

// Checks belong to the thread that runs the test: the others count.
static void* ask_and_build(void* state) {
    host* h = state;
    for (int round = 0; round < 3; round++) {
        answers got;
        sap_tree* tree = NULL;
        sap_neighbors* found = NULL;
        const sap_search search = {.k = K};
        h->wrong += nearest(h->tree, h->queries, &search, got.ids, got.distance2) != SAP_OK;
        h->wrong += radius_count(h->tree, h->queries, 0.1, got.counts) != SAP_OK;
        h->wrong += memcmp(got.ids, h->a->ids, sizeof got.ids) || memcmp(got.counts, h->a->counts, sizeof got.counts);
        h->wrong += build(h->device, h->points, NULL, &tree) != SAP_OK || !trees_equal(tree, h->expected);
        h->wrong += radius_collect(tree, h->queries, 0.1, &found) != SAP_OK || found->count != QUERIES;
        h->wrong += sap_tree_verify(tree) != SAP_OK;
        sap_neighbors_free(found);
        sap_tree_free(tree);
    }
    return NULL;
}

TEST(many_hosts_on_one_device_and_on_several) {
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1), queries = case_queries(&points, QUERIES, 3);
    answers a;
    expect_answers(&s, &points, &queries, NULL, 0.1, &a);
    sap_tree *shared = NULL, *expected = NULL;
    CHECK_STATUS(build(s.gpu, &points, NULL, &shared), SAP_OK);
    CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
    for (int several = 0; several < 2; several++) {
        host hosts[HOSTS];
        watch w[HOSTS];
        memset(w, 0, sizeof w);
        for (int i = 0; i < HOSTS; i++) {
            hosts[i] = (host){.device = s.gpu, .tree = shared, .expected = expected, .points = &points};
            hosts[i].queries = &queries;
            hosts[i].a = &a;
            sap_device_options options = scene_options(&w[i]);
            if (several) CHECK_STATUS(cuda_tools_open(&options, &hosts[i].device), SAP_OK);
        }
        for (int i = 0; i < HOSTS; i++) CHECK(!pthread_create(&hosts[i].thread, NULL, ask_and_build, &hosts[i]));
        for (int i = 0; i < HOSTS; i++) pthread_join(hosts[i].thread, NULL);
        for (int i = 0; i < HOSTS; i++) {
            NOTE("several %d host %d", several, i);
            CHECK_EQUAL(hosts[i].wrong, 0);
            if (several) sap_device_close(hosts[i].device);
            CHECK(w[i].blocks == 0 && w[i].wrong == 0 && w[i].log_calls == 0);
        }
    }
    sap_tree_free(shared);
    sap_tree_free(expected);
    cloud_free(&points);
    cloud_free(&queries);
    close_scene(&s);
}

#else
TEST(cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
