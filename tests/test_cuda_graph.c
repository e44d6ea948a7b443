// Calls that the user captures into a CUDA graph: nothing waits, nothing is allocated, and what cannot be captured says
// so.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "sapwood/stream.h"

enum { POINTS = 6000, QUERIES = CASE_STEP > 23 ? 500 : 5000, MOST_K = 40, LISTS = 4, HITS = 60000 };
static const int32_t list_k[LISTS] = {1, 8, 32, MOST_K};

// All that the calls write.
typedef struct answers {
    int32_t ids[LISTS][QUERIES * MOST_K];
    float distance2[LISTS][QUERIES * MOST_K];
    int32_t self[POINTS];
    int64_t counts[QUERIES], offsets[QUERIES + 1];
    int32_t hits[HITS];
    float hits_distance2[HITS];
    float kept[POINTS][3];
    int64_t kept_count;
    int32_t runs[POINTS];
    int64_t runs_count;
} answers;

typedef struct stage {
    scene s;
    cloud points, queries, points_there, queries_there;
    uint8_t* keep_there;
    answers* there; // on the GPU
    answers *got, *expected;
    sap_tree* tree;
} stage;

// Everything that can be captured; `a` lies where the other arrays lie.
static sap_status all_calls(sap_device* device, sap_tree* tree, const cloud* points, const cloud* queries,
                            const uint8_t* keep, answers* a) {
    sap_status status = rebuild(tree, points);
    for (int i = 0; i < LISTS && status == SAP_OK; i++)
        status = nearest(tree, queries, &(sap_search){.k = list_k[i], .ordered = i == 1}, a->ids[i],
                         i == 3 ? NULL : a->distance2[i]);
    if (status == SAP_OK) status = nearest_self(tree, 32, &(sap_search){.k = 1}, a->self, NULL);
    if (status == SAP_OK) status = radius_count(tree, queries, 0.1, a->counts);
    if (status == SAP_OK) status = radius_into(tree, queries, 0.07, HITS, a->offsets, a->hits, a->hits_distance2);
    if (status == SAP_OK)
        status = sap_compact(device, points->coords, POINTS, sizeof a->kept[0], keep, a->kept, &a->kept_count);
    if (status == SAP_OK) status = sap_unique(device, a->self, POINTS, sizeof a->self[0], a->runs, &a->runs_count);
    return status;
}

static sap_status calls_there(stage* t) {
    return all_calls(t->s.gpu, t->tree, &t->points_there, &t->queries_there, t->keep_there, t->there);
}

static void forget(stage* t) {
    memset(t->got, 0, sizeof(answers));
    cuda_tools_copy(t->there, t->got, sizeof(answers));
}

static bool open_stage_on(stage* t) {
    static uint8_t keep[POINTS];
    for (int i = 0; i < POINTS; i++) keep[i] = i % 3 != 0;
    if (!open_scene(&t->s, cuda_tools_stream())) return false;
    t->points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1);
    t->queries = cloud_of_family(FAMILY_UNIFORM, QUERIES, 3, 32, 0, 2);
    t->points_there = cloud_on_gpu(&t->points);
    t->queries_there = cloud_on_gpu(&t->queries);
    t->keep_there = on_gpu(keep, sizeof keep);
    t->got = calloc(1, sizeof(answers));
    t->expected = calloc(1, sizeof(answers));
    t->there = on_gpu(t->got, sizeof(answers));
    CHECK_STATUS(build(t->s.gpu, &t->points_there, NULL, &t->tree), SAP_OK);
    CHECK_STATUS(calls_there(t), SAP_OK);
    CHECK_STATUS(sap_device_wait(t->s.gpu), SAP_OK);
    forget(t);
    return true;
}

static void close_stage_on(stage* t) {
    sap_tree_free(t->tree);
    void* const all[] = {t->points_there.coords, t->queries_there.coords, t->keep_there, t->there};
    for (int i = 0; i < 4; i++) cuda_tools_release(all[i]);
    free(t->got);
    free(t->expected);
    cloud_free(&t->points);
    cloud_free(&t->queries);
    close_scene(&t->s);
}

// The calls' answers for the points in t->points are those of the CPU; afterwards the GPU's are forgotten.
static void expect_answers(stage* t) {
    static uint8_t keep[POINTS];
    sap_tree* tree = NULL;
    cuda_tools_copy(keep, t->keep_there, sizeof keep);
    cuda_tools_copy(t->got, t->there, sizeof(answers));
    memset(t->expected, 0, sizeof(answers));
    CHECK_STATUS(build(t->s.cpu, &t->points, NULL, &tree), SAP_OK);
    CHECK_STATUS(all_calls(t->s.cpu, tree, &t->points, &t->queries, keep, t->expected), SAP_OK);
    CHECK(trees_equal(tree, t->tree));
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are meant
    CHECK(!memcmp(t->got, t->expected, sizeof(answers)));
    CHECK(t->got->kept_count == POINTS / 3 * 2 && t->got->runs_count > 1);
    sap_tree_free(tree);
    forget(t);
}

// Other points, at the same place on the GPU.
static void move_points(stage* t, family kind, uint64_t seed) {
    cloud_free(&t->points);
    t->points = cloud_of_family(kind, POINTS, 3, 32, 0, seed);
    cuda_tools_copy(t->points_there.coords, t->points.coords, cloud_bytes(&t->points));
}

TEST(graphs_give_the_same_answers) {
    stage t = {.tree = NULL};
    if (cuda_tools_emulated()) SKIP("the stand-in for CUDA has no graphs");
    if (!open_stage_on(&t)) SKIP("there is no NVIDIA GPU");
    void* stream = cuda_tools_stream();
    if (CHECK(cuda_tools_capture_begin(stream))) {
        CHECK_STATUS(calls_there(&t), SAP_OK);
        void* graph = cuda_tools_capture_end(stream);
        CHECK(graph != NULL);
        for (int i = 0; i < 4 && graph; i++) {
            static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_LATTICE, FAMILY_EQUAL};
            NOTE("launch %d", i);
            move_points(&t, kinds[i], (uint64_t)i);
            CHECK(cuda_tools_graph_launch(graph, stream));
            expect_answers(&t);
            CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_OK);
            CHECK_STATUS(sap_tree_verify(t.tree), SAP_OK); // with scratch memory of the graph's
        }
        // A point that is no good is found out by the launch.
        cloud_set(&t.points, 17, 1, (double)NAN);
        cuda_tools_copy(t.points_there.coords, t.points.coords, cloud_bytes(&t.points));
        if (graph) CHECK(cuda_tools_graph_launch(graph, stream));
        CHECK_STATUS(sap_device_wait(t.s.gpu), graph ? SAP_ERROR_NOT_FINITE : SAP_OK);
        cuda_tools_graph_destroy(graph);
    }
    close_stage_on(&t);
}

// A graph of a build with many launches, which begin early and of which some run all blocks together.
TEST(graphs_build_large_trees) {
    enum { MANY = 140000 };
    scene s;
    if (cuda_tools_emulated()) SKIP("the stand-in for CUDA has no graphs");
    void* stream = cuda_tools_stream();
    if (!open_scene(&s, stream)) SKIP("there is no NVIDIA GPU");
    cloud points = cloud_of_family(FAMILY_UNIFORM, MANY, 3, 32, 0, 9), there = cloud_on_gpu(&points);
    sap_tree *tree = NULL, *expected = NULL;
    CHECK_STATUS(build(s.gpu, &there, NULL, &tree), SAP_OK);
    if (CHECK(cuda_tools_capture_begin(stream))) {
        CHECK_STATUS(rebuild(tree, &there), SAP_OK);
        void* graph = cuda_tools_capture_end(stream);
        CHECK(graph != NULL);
        for (int i = 0; i < 4 && graph; i++) {
            static const family kinds[] = {FAMILY_UNIFORM, FAMILY_CLUSTERED, FAMILY_LATTICE, FAMILY_EQUAL};
            NOTE("launch %d", i);
            cloud_free(&points);
            points = cloud_of_family(kinds[i], MANY, 3, 32, 0, 10);
            cuda_tools_copy(there.coords, points.coords, cloud_bytes(&points));
            CHECK(cuda_tools_graph_launch(graph, stream));
            CHECK_STATUS(sap_device_wait(s.gpu), SAP_OK);
            CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
            CHECK(trees_equal(expected, tree));
            sap_tree_free(expected);
        }
        cuda_tools_graph_destroy(graph);
    }
    sap_tree_free(tree);
    cuda_tools_release(there.coords);
    cloud_free(&points);
    close_scene(&s);
}

// What a stream that is being captured must not be asked to do is not done, and the answers are the same.
TEST(captured_calls_only_launch) {
    stage t = {.tree = NULL};
    if (!open_stage_on(&t)) SKIP("there is no NVIDIA GPU");
    move_points(&t, FAMILY_CLUSTERED, 5);
    cuda_tools_reset();
    cuda_tools.pretends_capture = true;
    CHECK_STATUS(calls_there(&t), SAP_OK);
    static const cuda_tools_kind forbidden[] = {CUDA_TOOLS_ALLOCATE, CUDA_TOOLS_RELEASE, CUDA_TOOLS_WAIT,
                                                CUDA_TOOLS_COPY,     CUDA_TOOLS_PIN,     CUDA_TOOLS_RECORD};
    for (int i = 0; i < 6; i++) CHECK_EQUAL(cuda_tools.calls[forbidden[i]], 0);
    CHECK(cuda_tools.calls[CUDA_TOOLS_LAUNCH] > 0);
    cuda_tools_reset();
    expect_answers(&t);
    close_stage_on(&t);
}

// ---- What cannot be captured

static sap_status capture_build(stage* t) {
    sap_tree* tree = NULL;
    sap_status status = build(t->s.gpu, &t->points_there, NULL, &tree);
    CHECK(tree == NULL);
    return status;
}
static sap_status capture_rebuild_from_host(stage* t) { return rebuild(t->tree, &t->points); }
static sap_status capture_growth(stage* t) {
    cloud more = t->points_there;
    more.coords = t->there->distance2[0]; // any memory of the GPU
    more.count = 8 * POINTS;
    return rebuild(t->tree, &more);
}
static sap_status capture_queries_of_host(stage* t) {
    return nearest(t->tree, &t->queries, &(sap_search){.k = 1}, t->there->ids[0], NULL);
}
static sap_status capture_ids_for_host(stage* t) {
    return nearest(t->tree, &t->queries_there, &(sap_search){.k = 1}, t->got->ids[0], NULL);
}
static sap_status capture_statistics(stage* t) {
    sap_search_stats stats = {0, 0, 0};
    return nearest(t->tree, &t->queries_there, &(sap_search){.k = 1, .stats = &stats}, t->there->ids[0], NULL);
}
static sap_status capture_counts_for_host(stage* t) {
    return radius_count(t->tree, &t->queries_there, 0.1, t->got->counts);
}
static sap_status capture_collect(stage* t) {
    sap_neighbors* found = NULL;
    return radius_collect(t->tree, &t->queries_there, 0.1, &found);
}
static sap_status capture_count_of_host(stage* t) {
    return sap_compact(t->s.gpu, t->points_there.coords, POINTS, 12, t->keep_there, t->there->kept,
                       &t->got->kept_count);
}
static sap_status capture_copy(stage* t) {
    sap_tree* copy = NULL;
    return sap_tree_copy(t->tree, t->s.cpu, &copy);
}
static sap_status capture_verify(stage* t) { return sap_tree_verify(t->tree); }
static sap_status capture_wait(stage* t) { return sap_device_wait(t->s.gpu); }

TEST(what_cannot_be_captured_says_so) {
    static sap_status (*const calls[])(stage * t) = {capture_build,           capture_rebuild_from_host,
                                                     capture_growth,          capture_queries_of_host,
                                                     capture_ids_for_host,    capture_statistics,
                                                     capture_counts_for_host, capture_collect,
                                                     capture_count_of_host,   capture_copy,
                                                     capture_verify,          capture_wait};
    stage t = {.tree = NULL};
    if (!open_stage_on(&t)) SKIP("there is no NVIDIA GPU");
    for (int i = 0; i < 12; i++) {
        NOTE("call %d", i);
        cuda_tools_reset();
        cuda_tools.pretends_capture = true;
        t.s.w.log_calls = 0;
        CHECK_STATUS(calls[i](&t), SAP_ERROR_UNSUPPORTED);
        CHECK(t.s.w.log_calls == 1 && strstr(t.s.w.sentence, "captured"));
        CHECK(cuda_tools.calls[CUDA_TOOLS_WAIT] == 0 && cuda_tools.calls[CUDA_TOOLS_COPY] == 0);
    }
    // Without the memory of an earlier call, too, and then the tree stays as it is.
    cuda_tools_reset();
    sap_device_trim(t.s.gpu);
    cuda_tools.pretends_capture = true;
    CHECK_STATUS(calls_there(&t), SAP_ERROR_UNSUPPORTED);
    cuda_tools_reset();
    CHECK_STATUS(sap_tree_verify(t.tree), SAP_OK);
    CHECK_STATUS(calls_there(&t), SAP_OK);
    expect_answers(&t);
    close_stage_on(&t);
}

// Memory that a graph may use is not given back when the GPU runs out of it, only by sap_device_trim.
TEST(memory_of_graphs_is_kept) {
    stage t = {.tree = NULL};
    sap_device_info before, after;
    sap_tree* tree = NULL;
    if (!open_stage_on(&t)) SKIP("there is no NVIDIA GPU");
    sap_device_trim(t.s.gpu);
    CHECK_STATUS(calls_there(&t), SAP_OK);
    CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_OK);
    cuda_tools_reset();
    cuda_tools.pretends_capture = true;
    CHECK_STATUS(calls_there(&t), SAP_OK);
    cuda_tools_reset();
    CHECK_STATUS(sap_device_describe(t.s.gpu, &before), SAP_OK);
    fail_calls(1u << CUDA_TOOLS_ALLOCATE, 1, true, CUDA_TOOLS_NO_MEMORY);
    CHECK_STATUS(build(t.s.gpu, &t.points_there, NULL, &tree), SAP_ERROR_DEVICE_MEMORY);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_RELEASE], 0);
    CHECK_STATUS(sap_device_describe(t.s.gpu, &after), SAP_OK);
    CHECK(before.scratch_bytes > 0 && after.scratch_bytes == before.scratch_bytes);
    cuda_tools_reset();
    sap_device_trim(t.s.gpu);
    CHECK_STATUS(sap_device_describe(t.s.gpu, &after), SAP_OK);
    CHECK_EQUAL(after.scratch_bytes, 0);
    close_stage_on(&t);
}

#else
TEST(graphs_of_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
