// Large copies between the host and a GPU, which go through chunks of page-locked memory.
#include "test.h"

#if defined(SAP_HAVE_CUDA)
#include "cuda_scene.h"

// A tree built from these points, and brought down again, is the CPU's.
static void expect_tree(scene* s, sap_device* gpu, const cloud* points) {
    sap_tree *tree = NULL, *expected = NULL, *down = NULL, *up = NULL;
    CHECK_STATUS(build(s->cpu, points, NULL, &expected), SAP_OK);
    CHECK_STATUS(build(gpu, points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_copy(tree, s->cpu, &down), SAP_OK);
    CHECK_STATUS(sap_tree_copy(expected, gpu, &up), SAP_OK);
    CHECK(trees_equal(expected, tree) && trees_equal(expected, down) && trees_equal(expected, up));
    sap_tree* const all[] = {tree, expected, down, up};
    for (int i = 0; i < 4; i++) sap_tree_free(all[i]);
}

// Sizes at and beside whole chunks, fewer and more of them than there are; with gaps between rows, and with rows that
// do not fill a chunk.
TEST(sizes_of_copies) {
    scene s;
    OPEN_SCENE(&s, NULL);
    for (int32_t threads = 1; threads <= 3; threads += 2) {
        sap_device_options options = scene_options(&s.w);
        sap_device* gpu = NULL;
        options.threads = threads;
        if (!CHECK_STATUS(cuda_tools_open(&options, &gpu), SAP_OK)) break;
        for (int i = 0; i < 12; i++) {
            static const int64_t chunks[] = {1, 4, 5, 9};
            const int32_t dims = i % 3 ? 3 : 1;
            const int64_t row = dims * (int64_t)sizeof(float), stride = i % 3 == 2 ? 5 : 0;
            const int64_t count = chunks[i / 3] * (CUDA_TOOLS_CHUNK / row) + i % 5 - 1;
            cloud points = cloud_of_family(FAMILY_UNIFORM, count, dims, 32, stride, (uint64_t)i);
            NOTE("%d threads, case %d", threads, i);
            expect_tree(&s, gpu, &points);
            cloud_free(&points);
        }
        sap_device_close(gpu);
    }
    close_scene(&s);
}

// Small copies, and those of page-locked memory, CUDA makes by itself.
TEST(which_copies_need_chunks) {
    scene s;
    OPEN_SCENE(&s, NULL);
    enum { QUERIES = 2 * CUDA_TOOLS_CHUNK / sizeof(float), FEW = QUERIES / 2 - 1 };
    cloud queries = cloud_of_family(FAMILY_UNIFORM, QUERIES, 1, 32, 0, 1), few = cloud_part(&queries, 0, FEW);
    float* pinned = cuda_tools_pin(sizeof(float) * QUERIES);
    int32_t* ids = malloc(sizeof(int32_t) * QUERIES);
    sap_device_info before, after;
    sap_tree* tree = NULL;
    CHECK_STATUS(build(s.gpu, &few, NULL, &tree), SAP_OK);
    CHECK_STATUS(nearest(tree, &few, &(sap_search){.k = 1}, ids, pinned), SAP_OK);
    cloud locked = queries;
    locked.coords = pinned;
    memcpy(pinned, queries.coords, sizeof(float) * QUERIES);
    int32_t* there = cuda_tools_allocate(sizeof(int32_t) * QUERIES);
    CHECK_STATUS(nearest(tree, &locked, &(sap_search){.k = 1}, there, NULL), SAP_OK);
    CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_PIN], 0);
    CHECK_STATUS(sap_device_describe(s.gpu, &before), SAP_OK);
    CHECK_STATUS(nearest(tree, &queries, &(sap_search){.k = 1}, there, NULL), SAP_OK);
    CHECK_STATUS(nearest(tree, &queries, &(sap_search){.k = 1}, ids, NULL), SAP_OK);
    const int64_t chunks = cuda_tools.calls[CUDA_TOOLS_PIN]; // two queries up, one answer down; made once
    CHECK(chunks > 0 && cuda_tools.calls[CUDA_TOOLS_RECORD] == 6);
    CHECK_STATUS(sap_device_describe(s.gpu, &after), SAP_OK);
    CHECK(after.scratch_bytes >= before.scratch_bytes + (size_t)chunks * CUDA_TOOLS_CHUNK);
    sap_device_trim(s.gpu);
    CHECK_STATUS(sap_device_describe(s.gpu, &after), SAP_OK);
    CHECK_EQUAL(after.scratch_bytes, 0);
    sap_tree_free(tree);
    cuda_tools_release(there);
    cuda_tools_unpin(pinned);
    free(ids);
    cloud_free(&queries);
    close_scene(&s);
}

// Where there is no page-locked memory, or no event, all goes on without, or with what there is.
TEST(without_page_locked_memory) {
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 5 * CUDA_TOOLS_CHUNK / 12, 3, 32, 0, 1);
    for (int kind = 0; kind < 2; kind++) {
        for (int n = 1; CHECK(n < 10); n++) {
            NOTE("kind %d, refused number %d", kind, n);
            sap_device_trim(s.gpu);
            const int64_t objects = cuda_tools.objects;
            fail_calls(1u << (kind ? CUDA_TOOLS_CREATE : CUDA_TOOLS_PIN), n, true, CUDA_TOOLS_NO_MEMORY);
            sap_tree *tree = NULL, *expected = NULL;
            CHECK_STATUS(build(s.cpu, &points, NULL, &expected), SAP_OK);
            CHECK_STATUS(build(s.gpu, &points, NULL, &tree), SAP_OK);
            CHECK(trees_equal(expected, tree));
            CHECK_EQUAL(s.w.log_calls, 0);
            const bool refused = cuda_tools.failed;
            if (refused) CHECK_EQUAL(cuda_tools.objects, objects + 2 * (n - 1));
            CHECK_EQUAL(cuda_tools.calls[CUDA_TOOLS_RECORD] > 0, n > 1);
            cuda_tools_reset();
            expect_tree(&s, s.gpu, &points);
            CHECK(cuda_tools.calls[CUDA_TOOLS_RECORD] > 0);
            sap_tree_free(tree);
            sap_tree_free(expected);
            if (!refused) break;
        }
    }
    cloud_free(&points);
    close_scene(&s);
}

// The bytes of a saved tree may go once it lies on a GPU.
TEST(saved_trees_in_memory) {
    scene s;
    OPEN_SCENE(&s, NULL);
    cloud points = cloud_of_family(FAMILY_CLUSTERED, 700, 3, 32, 0, 1);
    sap_tree *tree = NULL, *loaded = NULL;
    int64_t size = 0;
    CHECK_STATUS(build(s.cpu, &points, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_saved_size(tree, &size), SAP_OK);
    const size_t room = ((size_t)size + 63) / 64 * 64;
    unsigned char *bytes = aligned_alloc(64, room), *again = aligned_alloc(64, room);
    CHECK_STATUS(sap_tree_save_memory(tree, bytes, size), SAP_OK);
    memcpy(again, bytes, (size_t)size);
    CHECK_STATUS(sap_tree_load_memory(s.gpu, again, size, NULL, &loaded), SAP_OK);
    memset(again, 0xa5, (size_t)size);
    if (CHECK(loaded)) {
        CHECK(trees_equal(tree, loaded));
        CHECK_STATUS(sap_tree_verify(loaded), SAP_OK);
        CHECK_STATUS(sap_tree_save_memory(loaded, again, size), SAP_OK);
        CHECK(!memcmp(again, bytes, (size_t)size));
    }
    sap_tree_free(loaded);
    sap_tree_free(tree);
    free(bytes);
    free(again);
    cloud_free(&points);
    close_scene(&s);
}

#else
TEST(copies_of_cuda_devices) { SKIP("this build has no CUDA device"); }
#endif

TEST_MAIN()
