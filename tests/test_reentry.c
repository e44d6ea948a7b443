// Callbacks that call the device that called them: allocators, logs and progress. Where the library held a lock
// meanwhile, the program would wait for itself: an alarm ends it then.
#include "allocator.h"
#include "calls.h"
#include "test.h"
#include <unistd.h>
#if defined(SAP_HAVE_CUDA)
#include "cuda_tools.h"
#endif

enum { SECONDS = 120, POINTS = 4000, FEW = 300, K = 3 };

typedef struct host {
    watch w;
    sap_device* device;
    sap_tree* tree; // of all points
    cloud points, few;
    int32_t* expected; // [FEW * K]
    int depth;         // of callbacks: those that a callback causes do nothing
    int64_t entered[4];
    int64_t own[2]; // calls and blocks of the device allocator
    bool refuses;   // the device allocator's next call
} host;

enum { ALLOCATING, RELEASING, LOGGING, REPORTING };

// What a callback does: some of everything, with the right answers.
static void enter(host* h, int from) {
    int32_t ids[FEW * K];
    sap_device_info info;
    sap_tree* tree = NULL;
    if (!h->tree || h->depth) return;
    h->depth++;
    h->entered[from]++;
    NOTE("callback %d", from);
    CHECK_STATUS(sap_device_describe(h->device, &info), SAP_OK);
    sap_device_trim(h->device);
    CHECK_STATUS(nearest(h->tree, &h->few, &(sap_search){.k = K}, ids, NULL), SAP_OK);
    CHECK(!memcmp(ids, h->expected, sizeof ids));
    CHECK_STATUS(build(h->device, &h->few, NULL, &tree), SAP_OK);
    sap_tree_free(tree);
    NOTE("%s", "");
    h->depth--;
}

static void* allocate(void* user, size_t bytes, size_t alignment) {
    host* h = user;
    enter(h, ALLOCATING);
    return watch_allocate(&h->w, bytes, alignment);
}

static void release(void* user, void* memory, size_t bytes) {
    host* h = user;
    watch_release(&h->w, memory, bytes);
    enter(h, RELEASING);
}

static void write_log(void* user, sap_status status, const char* sentence) {
    host* h = user;
    watch_log(&h->w, status, sentence);
    enter(h, LOGGING);
}

static bool report(void* user, double done) {
    (void)done;
    enter(user, REPORTING);
    return true;
}

static sap_device_options options_of(host* h) {
    return (sap_device_options){.processor = SAP_CPU,
                                .threads = 1,
                                .allocator = {allocate, release, h},
                                .log = write_log,
                                .log_user = h,
                                .progress = report,
                                .progress_user = h};
}

// The tree and the answers, while no callback does anything.
static void prepare(host* h) {
    sap_tree* tree = NULL;
    h->points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 1);
    h->few = cloud_part(&h->points, 0, FEW);
    h->expected = malloc(FEW * K * sizeof *h->expected);
    CHECK_STATUS(build(h->device, &h->points, NULL, &tree), SAP_OK);
    CHECK_STATUS(nearest(tree, &h->few, &(sap_search){.k = K}, h->expected, NULL), SAP_OK);
    h->tree = tree;
}

static void call_everything(host* h) {
    int32_t* ids = malloc(POINTS * K * sizeof *ids);
    sap_tree* tree = NULL;
    sap_neighbors* found = NULL;
    CHECK_STATUS(build(h->device, &h->points, NULL, &tree), SAP_OK);
    sap_device_trim(h->device);
    CHECK_STATUS(rebuild(tree, &h->points), SAP_OK);
    CHECK_STATUS(nearest(tree, &h->points, &(sap_search){.k = K}, ids, NULL), SAP_OK);
    CHECK(!memcmp(ids, h->expected, FEW * K * sizeof *ids));
    sap_device_trim(h->device);
    CHECK_STATUS(radius_collect(tree, &h->few, 0.1, &found), SAP_OK);
    CHECK_STATUS(nearest(tree, &h->few, &(sap_search){.k = -1}, ids, NULL), SAP_ERROR_ARGUMENT);
    sap_neighbors_free(found);
    CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
    sap_tree_free(tree);
    sap_device_trim(h->device);
    free(ids);
}

static void finish(host* h) {
    CHECK(h->entered[ALLOCATING] > 0 && h->entered[RELEASING] > 0 && h->entered[LOGGING] > 0);
    sap_tree* tree = h->tree;
    h->tree = NULL;
    sap_tree_free(tree);
    sap_device_close(h->device);
    CHECK_EQUAL(h->w.blocks, 0);
    CHECK_EQUAL(h->w.wrong, 0);
    cloud_free(&h->points);
    free(h->expected);
}

TEST(callbacks_call_their_cpu_device) {
    host h = {0};
    const sap_device_options options = options_of(&h);
    alarm(SECONDS);
    CHECK_STATUS(sap_device_open(&options, &h.device), SAP_OK);
    prepare(&h);
    call_everything(&h);
    CHECK(h.entered[REPORTING] > 0);
    finish(&h);
    alarm(0);
}

#if defined(SAP_HAVE_CUDA)
static void* allocate_on_gpu(void* user, size_t bytes, size_t alignment) {
    host* h = user;
    const bool refused = h->refuses && !h->depth;
    enter(h, ALLOCATING);
    if (refused) h->refuses = false;
    return refused ? NULL : cuda_tools_own_allocate(h->own, bytes, alignment);
}

static void release_on_gpu(void* user, void* memory, size_t bytes) {
    host* h = user;
    cuda_tools_own_release(h->own, memory, bytes);
    enter(h, RELEASING);
}

// Idle blocks are released by trimming, and by an allocation that was refused and is tried again.
TEST(callbacks_call_their_cuda_device) {
    host h = {0};
    sap_device_options options = options_of(&h);
    options.processor = SAP_CUDA;
    options.device_allocator = (sap_allocator){allocate_on_gpu, release_on_gpu, &h};
    cuda_tools_reset();
    sap_status status = cuda_tools_open(&options, &h.device);
    if (status == SAP_ERROR_NO_DEVICE) SKIP("there is no NVIDIA GPU");
    alarm(SECONDS);
    CHECK_STATUS(status, SAP_OK);
    prepare(&h);
    call_everything(&h);
    h.refuses = true;
    call_everything(&h);
    CHECK(!h.refuses);
    finish(&h);
    CHECK_EQUAL(h.own[1], 0);
    cuda_tools_reset();
    alarm(0);
}
#endif

TEST_MAIN()
