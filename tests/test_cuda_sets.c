// Sets on CUDA devices: arrays on either side, calls of CUDA that fail, and captured streams. That they answer as trees
// do is for test_sets.c.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"
#include "sapwood/sets.h"

enum { POINTS = 600, QUERIES = 40, K = 3, STEPS = 9, MOST_FAULTS = 200 };

typedef struct answers {
    int32_t ids[QUERIES * K];
    float distance2[QUERIES * K];
    int64_t counts[QUERIES];
    int32_t given[POINTS];
} answers;

typedef struct stage {
    scene s;
    sap_set *gpu, *cpu;
    cloud points, queries, points_there, queries_there;
    int32_t ids[POINTS], *ids_there, *given_there;
} stage;

static bool open_sets(stage* t, void* stream) {
    memset(t, 0, sizeof *t);
    if (!open_scene(&t->s, stream)) return false;
    t->points = cloud_of_family(FAMILY_LATTICE, POINTS, 3, 32, 4, 1);
    t->queries = cloud_of_family(FAMILY_LATTICE, QUERIES, 3, 32, 0, 2);
    t->points_there = cloud_on_gpu(&t->points);
    t->queries_there = cloud_on_gpu(&t->queries);
    for (int32_t i = 0; i < POINTS; i++) t->ids[i] = 7 * i % POINTS * 5; // in no order, with gaps
    t->ids_there = on_gpu(t->ids, sizeof t->ids);
    t->given_there = on_gpu(t->ids, sizeof t->ids); // calls write a part of it
    CHECK_STATUS(sap_set_create(t->s.gpu, 3, NULL, &t->gpu), SAP_OK);
    CHECK_STATUS(sap_set_create(t->s.cpu, 3, NULL, &t->cpu), SAP_OK);
    return true;
}

static void close_sets(stage* t) {
    void* const there[] = {t->points_there.coords, t->queries_there.coords, t->ids_there, t->given_there};
    sap_set_free(t->gpu);
    sap_set_free(t->cpu);
    for (int i = 0; i < 4; i++) cuda_tools_release(there[i]);
    cloud_free(&t->points);
    cloud_free(&t->queries);
    close_scene(&t->s);
}

// A step of a history on the GPU's set, with arrays on either side, or the same on the CPU's.
static sap_status take_step(stage* t, int step, sap_set* set, bool there, answers* a) {
    const cloud points = there ? t->points_there : t->points, queries = there ? t->queries_there : t->queries;
    const cloud first = cloud_part(&points, 0, 200), second = cloud_part(&points, 150, 300);
    const int32_t* ids = there ? t->ids_there : t->ids;
    int32_t* given = there ? t->given_there : a->given;
    int64_t removed;
    sap_neighbors* found = NULL;
    sap_status status;
    switch (step) {
    case 0: return sap_set_insert(set, cloud_f32(&first), NULL, given);
    case 1: return sap_set_remove(set, ids, POINTS, &removed);
    case 2: return sap_set_insert(set, cloud_f32(&second), ids, given);
    case 3: return sap_set_keep_box(set, (double[]){1, -1, 0}, (double[]){12, 10, 12}, &removed);
    case 4: return sap_set_insert(set, cloud_f32(&first), NULL, NULL);
    case 5: return sap_set_cut_box(set, (double[]){5, 5, 5}, (double[]){7, 6.5, 12}, &removed);
    case 6: status = sap_set_radius(set, cloud_f32(&queries), 2, &found); break;
    case 7: status = sap_set_radius_count(set, cloud_f32(&t->queries), 2.5, a->counts); break;
    default: status = sap_set_nearest(set, cloud_f32(&t->queries), &(sap_search){.k = K}, a->ids, a->distance2);
    }
    if (step == 6) CHECK((status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

static void compare(const stage* t, const answers* got, const answers* expected) {
    sap_set_info gpu, cpu;
    CHECK_STATUS(sap_set_describe(t->gpu, &gpu), SAP_OK);
    CHECK_STATUS(sap_set_describe(t->cpu, &cpu), SAP_OK);
    CHECK_EQUAL(gpu.count, cpu.count);
    CHECK_EQUAL(gpu.next_id, cpu.next_id);
    CHECK(gpu.trees == 1 && gpu.bytes > 0);
    CHECK(!memcmp(got->ids, expected->ids, sizeof got->ids));
    CHECK(!memcmp(got->distance2, expected->distance2, sizeof got->distance2));
    CHECK(!memcmp(got->counts, expected->counts, sizeof got->counts));
}

TEST(arrays_on_either_side) {
    for (int there = 0; there < 2; there++) {
        stage t;
        answers got = {0}, expected = {0};
        if (!open_sets(&t, there ? cuda_tools_stream() : NULL)) SKIP("there is no NVIDIA GPU");
        for (int step = 0; step < STEPS; step++) {
            NOTE("step %d, %s", step, there ? "on the GPU" : "on the host");
            CHECK_STATUS(take_step(&t, step, t.gpu, there, &got), SAP_OK);
            CHECK_STATUS(take_step(&t, step, t.cpu, false, &expected), SAP_OK);
            if (step > 2) continue;
            if (there) cuda_tools_copy(got.given, t.given_there, sizeof got.given);
            const size_t most = step == 0 ? 200 : 300;
            CHECK(step == 1 || !memcmp(got.given, expected.given, most * sizeof *got.given));
        }
        compare(&t, &got, &expected);
        // An id that the set holds is refused wherever the ids lie, and names the first.
        const cloud one = cloud_part(&t.points, 0, 1);
        CHECK_STATUS(sap_set_insert(t.gpu, cloud_f32(&one), (int32_t[]){100000}, NULL), SAP_OK);
        CHECK_STATUS(sap_set_insert(t.gpu, cloud_f32(&one), (int32_t[]){100000}, NULL), SAP_ERROR_ARGUMENT);
        CHECK(strstr(t.s.w.sentence, "100000 is in the set"));
        close_sets(&t);
    }
}

// Each call of CUDA fails in turn: the set is as it was, and the step succeeds when nothing fails.
static void refuse_each(stage* t, int step, unsigned kinds, answers* got) {
    sap_set_info before, after;
    CHECK_STATUS(sap_set_describe(t->gpu, &before), SAP_OK);
    for (int n = 1; CHECK(n < MOST_FAULTS); n++) {
        NOTE("step %d, fault %d of kinds %x", step, n, kinds);
        sap_device_trim(t->s.gpu);
        fail_calls(kinds, n, kinds == 1u << CUDA_TOOLS_ALLOCATE, CUDA_TOOLS_NO_MEMORY);
        const sap_status status = take_step(t, step, t->gpu, false, got);
        const bool failed = cuda_tools.failed;
        cuda_tools_reset();
        CHECK_STATUS(status, failed ? SAP_ERROR_DEVICE_MEMORY : SAP_OK);
        if (!failed) break;
        CHECK_STATUS(sap_set_describe(t->gpu, &after), SAP_OK);
        CHECK(after.count == before.count && after.next_id == before.next_id);
    }
}

TEST(refused_calls_change_nothing) {
    const unsigned kinds[2] = {1u << CUDA_TOOLS_ALLOCATE, 1u << CUDA_TOOLS_COPY | 1u << CUDA_TOOLS_FILL |
                                                              1u << CUDA_TOOLS_LAUNCH | 1u << CUDA_TOOLS_RECORD};
    for (int kind = 0; kind < 2; kind++) {
        stage t;
        answers got = {0}, expected = {0};
        if (!open_sets(&t, NULL)) SKIP("there is no NVIDIA GPU");
        for (int step = 0; step < STEPS; step++) {
            refuse_each(&t, step, kinds[kind], &got);
            CHECK_STATUS(take_step(&t, step, t.cpu, false, &expected), SAP_OK);
        }
        compare(&t, &got, &expected);
        close_sets(&t);
    }
}

TEST(lost_gpus) {
    for (int step = 0; step < STEPS; step++) {
        stage t;
        answers got = {0};
        if (!open_sets(&t, NULL)) SKIP("there is no NVIDIA GPU");
        for (int before = 0; before < step; before++) CHECK_STATUS(take_step(&t, before, t.gpu, false, &got), SAP_OK);
        NOTE("step %d", step);
        lose_gpu(1 + step % 3);
        CHECK_STATUS(take_step(&t, step, t.gpu, false, &got), SAP_ERROR_DEVICE_LOST);
        CHECK_STATUS(take_step(&t, STEPS - 1, t.gpu, false, &got), SAP_ERROR_DEVICE_LOST);
        close_sets(&t);
    }
}

// Changes wait for the GPU, and so does the search after them; later ones can be captured.
TEST(captured_streams) {
    stage t;
    answers got = {0};
    if (!open_sets(&t, cuda_tools_stream())) SKIP("there is no NVIDIA GPU");
    CHECK_STATUS(take_step(&t, 0, t.gpu, true, &got), SAP_OK);
    cuda_tools.pretends_capture = true;
    CHECK_STATUS(take_step(&t, 4, t.gpu, true, &got), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_set_nearest(t.gpu, cloud_f32(&t.queries_there), &(sap_search){.k = 1}, t.given_there, NULL),
                 SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(t.s.w.sentence, "search it once before capturing"));
    cuda_tools.pretends_capture = false;
    for (int captured = 0; captured < 2; captured++) {
        cuda_tools.pretends_capture = captured;
        CHECK_STATUS(sap_set_nearest(t.gpu, cloud_f32(&t.queries_there), &(sap_search){.k = 1}, t.given_there, NULL),
                     SAP_OK);
    }
    close_sets(&t);
}

#else
TEST(sets_on_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
