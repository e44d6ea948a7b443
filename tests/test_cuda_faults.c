// Every call of the CUDA runtime fails in turn: statuses say so, nothing leaks, and what can go on working does.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "folder.h"
#include "sapwood/stream.h"

enum { POINTS = CASE_STEP > 23 ? 2000 : 6000, QUERIES = 70 };

// What the calls below work on.
typedef struct stage {
    scene s;
    sap_tree_options options;
    cloud points, other, queries, points_there, queries_there;
    sap_tree *tree, *expected, *expected_other; // expected: by the CPU
    folder files;
    int32_t *ids, *ids_there;
    float* distance2;
    int64_t *counts, *counts_there;
} stage;

static void open_stage_on(stage* t, sap_tree_options options) {
    t->options = options;
    t->points = cloud_of_family(FAMILY_HALF_DUPLICATES, POINTS, 3, 32, 0, 1);
    t->other = cloud_of_family(FAMILY_UNIFORM, POINTS + 500, 3, 32, 4, 2);
    t->queries = cloud_of_family(FAMILY_UNIFORM, QUERIES, 3, 32, 0, 3);
    t->points_there = cloud_on_gpu(&t->points);
    t->queries_there = cloud_on_gpu(&t->queries);
    t->ids = malloc(POINTS * 40 * sizeof *t->ids);
    t->distance2 = malloc(POINTS * 40 * sizeof *t->distance2);
    t->counts = malloc(POINTS * sizeof *t->counts);
    t->ids_there = on_gpu(NULL, POINTS * 40 * sizeof *t->ids);
    t->counts_there = on_gpu(NULL, POINTS * sizeof *t->counts);
    CHECK(folder_make(&t->files));
    CHECK_STATUS(build(t->s.cpu, &t->points, &t->options, &t->expected), SAP_OK);
    CHECK_STATUS(build(t->s.cpu, &t->other, &t->options, &t->expected_other), SAP_OK);
    CHECK_STATUS(build(t->s.gpu, &t->points, &t->options, &t->tree), SAP_OK);
    CHECK_STATUS(sap_tree_save(t->expected, t->files.file), SAP_OK);
}

static void close_stage_on(stage* t) {
    sap_tree_free(t->tree);
    sap_tree_free(t->expected);
    sap_tree_free(t->expected_other);
    void* const there[] = {t->points_there.coords, t->queries_there.coords, t->ids_there, t->counts_there};
    for (int i = 0; i < 4; i++) cuda_tools_release(there[i]);
    free(t->ids);
    free(t->distance2);
    free(t->counts);
    cloud_free(&t->points);
    cloud_free(&t->other);
    cloud_free(&t->queries);
    folder_remove(&t->files);
}

// ---- The calls. What one makes it frees; on failure it made nothing.

static sap_status make_build(stage* t, sap_tree** tree) { return build(t->s.gpu, &t->points, &t->options, tree); }
static sap_status make_build_there(stage* t, sap_tree** tree) {
    return build(t->s.gpu, &t->points_there, &t->options, tree);
}
static sap_status make_copy_to_gpu(stage* t, sap_tree** tree) { return sap_tree_copy(t->expected, t->s.gpu, tree); }
static sap_status make_copy_to_host(stage* t, sap_tree** tree) { return sap_tree_copy(t->tree, t->s.cpu, tree); }
static sap_status make_copy_on_gpu(stage* t, sap_tree** tree) { return sap_tree_copy(t->tree, t->s.gpu, tree); }
static sap_status make_load(stage* t, sap_tree** tree) { return sap_tree_load(t->s.gpu, t->files.file, NULL, tree); }

static sap_status call_save(stage* t) { return sap_tree_save(t->tree, t->files.file); }
static sap_status call_verify(stage* t) { return sap_tree_verify(t->tree); }

static sap_status call_describe(stage* t) {
    sap_tree_info info;
    return sap_tree_describe(t->tree, &info);
}

static sap_status call_nodes(stage* t) {
    sap_tree_node* nodes = malloc(POINTS * sizeof *nodes);
    sap_status status = sap_tree_nodes(t->tree, nodes);
    free(nodes);
    return status;
}

static sap_status call_nearest_1(stage* t) {
    return nearest(t->tree, &t->queries, &(sap_search){.k = 1}, t->ids, t->distance2);
}
static sap_status call_nearest_8(stage* t) {
    return nearest(t->tree, &t->queries, &(sap_search){.k = 8}, t->ids_there, NULL);
}
static sap_status call_nearest_40(stage* t) {
    return nearest(t->tree, &t->queries_there, &(sap_search){.k = 40}, t->ids, NULL);
}
static sap_status call_nearest_many(stage* t) {
    return nearest(t->tree, &t->points_there, &(sap_search){.k = 2}, t->ids_there, NULL);
}
static sap_status call_self(stage* t) {
    sap_search_stats stats = {0, 0, 0};
    return sap_nearest_self(t->tree, &(sap_search){.k = 2, .stats = &stats}, t->ids, t->distance2);
}
static sap_status call_count(stage* t) { return radius_count(t->tree, &t->queries, 0.1, t->counts); }
static sap_status call_count_there(stage* t) { return radius_count(t->tree, &t->queries_there, 0.1, t->counts_there); }

static sap_status find_some(stage* t, sap_neighbors** found) {
    return radius_collect(t->tree, &t->queries, 0.1, found);
}
static sap_status find_there(stage* t, sap_neighbors** found) {
    return radius_collect(t->tree, &t->queries_there, 0.1, found);
}
static sap_status call_boxes(stage* t) { return box_count(t->tree, &t->queries, &t->queries, t->counts); }
static sap_status find_boxes(stage* t, sap_neighbors** found) {
    return box_search(t->tree, &t->queries, &t->queries, found);
}
static sap_status find_boxes_there(stage* t, sap_neighbors** found) {
    return box_search(t->tree, &t->queries_there, &t->queries_there, found);
}
static sap_status call_boxes_into(stage* t) {
    return box_search_into(t->tree, &t->queries, &t->queries_there, POINTS, t->counts, t->ids);
}
static sap_status find_pairs(stage* t, sap_neighbors** found) { return sap_pairs(t->tree, 0.01, found); }

static sap_status find_tree_pairs(stage* t, sap_neighbors** found) {
    return sap_tree_pairs(t->tree, t->tree, 0.01, found);
}
static sap_status call_tree_nearest(stage* t) {
    return sap_tree_nearest(t->tree, t->tree, &(sap_search){.k = 2}, t->ids, t->distance2);
}
static sap_status count_pairs(const stage* t, const double* weights) {
    const double radii[] = {0.01, 0.1};
    double counts[] = {-9, -9};
    const sap_status status = sap_tree_count_pairs(t->tree, t->tree, radii, 2, weights, NULL, false, counts);
    CHECK((status == SAP_OK) == (counts[0] >= 0 && counts[1] >= 0));
    return status;
}
static sap_status call_pair_counts(stage* t) { return count_pairs(t, NULL); }
static sap_status call_pair_sums(stage* t) {
    static const double weights[POINTS];
    return count_pairs(t, weights);
}

static sap_status call_into(stage* t) {
    return radius_into(t->tree, &t->queries, 0.3, POINTS, t->counts, t->ids, t->distance2);
}
static sap_status call_into_there(stage* t) {
    return radius_into(t->tree, &t->queries_there, 0.3, POINTS, t->counts_there, t->ids_there, NULL);
}

static sap_status call_compact(stage* t) {
    int64_t count = 0;
    return sap_compact(t->s.gpu, t->points.coords, POINTS, 12, (const uint8_t*)t->points.coords, t->distance2, &count);
}

static sap_status call_unique(stage* t) {
    int64_t count = 0;
    return sap_unique(t->s.gpu, t->points_there.coords, POINTS, 12, t->ids_there, &count);
}

// One of these is set.
typedef struct call {
    const char* name;
    sap_status (*run)(stage* t);
    sap_status (*make)(stage* t, sap_tree** tree);
    sap_status (*find)(stage* t, sap_neighbors** found);
} call;

static const call calls[] = {{"build", .make = make_build},
                             {"build from the GPU", .make = make_build_there},
                             {"copy to the GPU", .make = make_copy_to_gpu},
                             {"copy to the host", .make = make_copy_to_host},
                             {"copy on the GPU", .make = make_copy_on_gpu},
                             {"load", .make = make_load},
                             {"save", .run = call_save},
                             {"verify", .run = call_verify},
                             {"describe", .run = call_describe},
                             {"nodes", .run = call_nodes},
                             {"nearest 1", .run = call_nearest_1},
                             {"nearest 8", .run = call_nearest_8},
                             {"nearest 40", .run = call_nearest_40},
                             {"nearest, many", .run = call_nearest_many},
                             {"nearest, self", .run = call_self},
                             {"count", .run = call_count},
                             {"count on the GPU", .run = call_count_there},
                             {"collect", .find = find_some},
                             {"collect on the GPU", .find = find_there},
                             {"collect into host memory", .run = call_into},
                             {"collect into GPU memory", .run = call_into_there},
                             {"boxes, count", .run = call_boxes},
                             {"boxes, collect", .find = find_boxes},
                             {"boxes, collect on the GPU", .find = find_boxes_there},
                             {"boxes, into host memory", .run = call_boxes_into},
                             {"pairs", .find = find_pairs},
                             {"pairs of trees", .find = find_tree_pairs},
                             {"nearest points of a tree", .run = call_tree_nearest},
                             {"counts of pairs", .run = call_pair_counts},
                             {"weights of pairs", .run = call_pair_sums},
                             {"compact", .run = call_compact},
                             {"unique", .run = call_unique}};

enum {
    CALLS = sizeof calls / sizeof *calls,
    MOST_FAULTS = 400,
    TREES = 4,
    STEP = CASE_STEP > 23 ? 3 : 1,
    TREE_STEP = CASE_STEP > 5 ? 3 : 1
};

static sap_status run(const call* c, stage* t) {
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    sap_status status = c->run ? c->run(t) : c->make ? c->make(t, &tree) : c->find(t, &found);
    if (c->make) CHECK((status == SAP_OK) == (tree != NULL));
    if (c->find) CHECK((status == SAP_OK) == (found != NULL));
    if (tree) {
        cuda_tools.fail_at = cuda_tools.failed ? cuda_tools.fail_at : 0;
        if (!cuda_tools.failed) CHECK(trees_equal(tree, t->expected));
    }
    if (found) status = sap_neighbors_sort(found);
    sap_neighbors_free(found);
    sap_tree_free(tree);
    return status;
}

static sap_tree_options options_of(int tree) {
    return (sap_tree_options){.split = (sap_split)(tree % 2), .drop_duplicates = tree / 2, .drop_nonfinite = tree / 2};
}

// ---- Memory that is refused

// Sets up fault number n of a kind: 0 allocations from that one on, 1 one copy, fill, launch or recorded event.
static void set_fault(int kind, int n) {
    const unsigned others =
        1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL | 1u << CUDA_TOOLS_LAUNCH | 1u << CUDA_TOOLS_RECORD;
    fail_calls(kind ? others : 1u << CUDA_TOOLS_ALLOCATE, n, kind == 0, CUDA_TOOLS_NO_MEMORY);
}

static void refuse_each(stage* t, const call* c, int kind) {
    sap_device_trim(t->s.gpu);
    int64_t blocks = cuda_tools.blocks, objects = cuda_tools.objects, host_blocks = t->s.w.blocks;
    for (int n = 1; CHECK(n < MOST_FAULTS); n += STEP) {
        NOTE("%s, split %d drop %d: fault %d of kind %d", c->name, (int)t->options.split, t->options.drop_duplicates, n,
             kind);
        set_fault(kind, n);
        t->s.w.log_calls = 0;
        sap_status status = run(c, t);
        bool failed = cuda_tools.failed;
        cuda_tools_reset();
        sap_device_trim(t->s.gpu);
        CHECK_EQUAL(cuda_tools.blocks, blocks);
        CHECK_EQUAL(cuda_tools.objects, objects);
        CHECK_EQUAL(t->s.w.blocks, host_blocks);
        CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
        CHECK_EQUAL(t->s.w.log_calls, failed);
        if (!failed) break;
    }
}

TEST(refused_memory) {
    for (int tree = 0; tree < TREES; tree += TREE_STEP) {
        stage t;
        OPEN_SCENE(&t.s, NULL);
        open_stage_on(&t, options_of(tree));
        for (int i = 0; i < CALLS; i++) {
            refuse_each(&t, &calls[i], 0);
            refuse_each(&t, &calls[i], 1);
        }
        CHECK(trees_equal(t.tree, t.expected));
        CHECK_STATUS(run(&calls[0], &t), SAP_OK);
        close_stage_on(&t);
        close_scene(&t.s);
    }
}

// One refusal is no failure as long as scratch memory lies idle that can be given back.
TEST(idle_memory_gives_way) {
    stage t;
    OPEN_SCENE(&t.s, NULL);
    open_stage_on(&t, options_of(0));
    for (int i = 0; i < CALLS; i++) {
        sap_device_trim(t.s.gpu);
        CHECK_STATUS(run(&calls[i], &t), SAP_OK);
        set_fault(0, 1);
        cuda_tools.fail_on = false;
        NOTE("%s", calls[i].name);
        CHECK_STATUS(run(&calls[i], &t), SAP_OK);
        cuda_tools_reset();
    }
    close_stage_on(&t);
    close_scene(&t.s);
}

// Its answers are those of the tree that it should be.
static sap_status call_searches(const stage* t, const sap_tree* tree) {
    int32_t ids[QUERIES * 3], expected[QUERIES * 3];
    const sap_search search = {.k = 3};
    sap_tree* copy = NULL;
    sap_status status = sap_tree_copy(tree, t->s.cpu, &copy);
    if (status == SAP_OK) status = nearest(copy, &t->queries, &search, expected, NULL);
    if (status == SAP_OK) status = nearest(tree, &t->queries, &search, ids, NULL);
    if (status == SAP_OK) CHECK(!memcmp(ids, expected, sizeof ids));
    sap_tree_free(copy);
    return status;
}

// A rebuild that gets no memory leaves the old tree as it was.
static void refuse_rebuilds(stage* t, int kind, const cloud* other) {
    for (int n = 1; CHECK(n < MOST_FAULTS); n += STEP) {
        sap_tree* tree = NULL;
        NOTE("split %d drop %d: fault %d of kind %d", (int)t->options.split, t->options.drop_duplicates, n, kind);
        CHECK_STATUS(build(t->s.gpu, &t->points, &t->options, &tree), SAP_OK);
        sap_device_trim(t->s.gpu);
        set_fault(kind, n);
        sap_status status = rebuild(tree, other);
        bool failed = cuda_tools.failed;
        cuda_tools_reset();
        CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        // A launch that fails for want of memory, which is rare, may come too late for the old tree.
        if (!(failed && kind == 1 && tree->shape.source_count == 0))
            CHECK(trees_equal(tree, failed ? t->expected : t->expected_other));
        CHECK_STATUS(call_searches(t, tree), SAP_OK);
        CHECK_STATUS(rebuild(tree, &t->other), SAP_OK);
        CHECK(trees_equal(tree, t->expected_other));
        sap_tree_free(tree);
        if (!failed) break;
    }
}

// A call that takes more blocks of memory than it has places for fails, and gives back those that it took.
TEST(calls_of_too_many_blocks) {
    scene s;
    OPEN_SCENE(&s, NULL);
    CHECK_STATUS(cuda_tools_take(s.gpu, 16), SAP_OK);
    CHECK_STATUS(cuda_tools_take(s.gpu, 1000), SAP_ERROR_UNSUPPORTED);
    CHECK_EQUAL(s.w.log_calls, 1);
    CHECK_STATUS(cuda_tools_take(s.gpu, 16), SAP_OK);
    close_scene(&s);
}

TEST(refused_rebuilds) {
    for (int tree = 0; tree < TREES; tree += TREE_STEP) {
        stage t;
        OPEN_SCENE(&t.s, NULL);
        open_stage_on(&t, options_of(tree));
        refuse_rebuilds(&t, 0, &t.other);
        refuse_rebuilds(&t, 1, &t.other);
        close_stage_on(&t);
        close_scene(&t.s);
    }
}

// ---- A GPU that is lost

// Fault number n of a call, after which the GPU answers nothing any more; false if the call got through.
static bool lose(const call* c, int tree, int n) {
    stage t;
    if (!open_scene(&t.s, NULL)) return false;
    open_stage_on(&t, options_of(tree));
    lose_gpu(n);
    t.s.w.log_calls = 0;
    sap_status status = run(c, &t);
    bool failed = cuda_tools.failed;
    CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_LOST : SAP_OK);
    CHECK_EQUAL(t.s.w.log_calls, failed);
    for (int i = 0; failed && i < CALLS; i++) {
        if (n > 1 && i != n % CALLS) continue; // all of them once, then one a time
        NOTE("%s, tree %d: fault %d, then %s", c->name, tree, n, calls[i].name);
        CHECK_STATUS(run(&calls[i], &t), SAP_ERROR_DEVICE_LOST);
    }
    if (failed) CHECK_STATUS(sap_device_wait(t.s.gpu), SAP_ERROR_DEVICE_LOST);
    close_stage_on(&t);
    close_scene(&t.s);
    return failed;
}

TEST(lost_gpus) {
    scene s;
    OPEN_SCENE(&s, NULL);
    close_scene(&s);
    for (int i = 0; i < CALLS; i++) {
        for (int n = 1; CHECK(n < MOST_FAULTS); n += 3 * STEP) {
            NOTE("%s: fault %d", calls[i].name, n);
            if (!lose(&calls[i], i % TREES, n)) break;
        }
    }
}

#else
TEST(faults_of_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
