// Memory, seen through the allocator that the library was given: bytes kept, scratch while building, calls.
#include "bench.h"

#include <stdlib.h>

typedef struct ledger {
    int64_t live, peak; // bytes
    int64_t calls;      // allocations
} ledger;

static void* counted_allocate(void* user, size_t bytes, size_t alignment) {
    ledger* l = user;
    void* memory = NULL;
    if (posix_memalign(&memory, alignment > sizeof(void*) ? alignment : sizeof(void*), bytes) != 0) return NULL;
    int64_t live = __atomic_add_fetch(&l->live, (int64_t)bytes, __ATOMIC_RELAXED);
    // The device runs one thread here, so nothing comes between.
    if (live > l->peak) l->peak = live;
    l->calls++;
    return memory;
}

static void counted_release(void* user, void* memory, size_t bytes) {
    ledger* l = user;
    __atomic_sub_fetch(&l->live, (int64_t)bytes, __ATOMIC_RELAXED);
    free(memory);
}

// A set that grew by and by, of which a tenth was removed.
static void set_rows(bench_run* run) {
    enum { BATCH = 10000, BATCHES = 110 };
    ledger l = {0};
    sap_allocator allocator = {.allocate = counted_allocate, .release = counted_release, .user = &l};
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, &allocator);
    float* points = bench_uniform((int64_t)BATCH * BATCHES, 3, 1);
    sap_set* set = NULL;
    sap_set_info info;
    bench_check(sap_set_create(device, 3, NULL, &set), "sap_set_create");
    for (int64_t i = 0; i < BATCHES; i++) {
        int32_t gone[BATCH / 10];
        bench_check(sap_set_insert(set, (sap_points){points + i * 3 * BATCH, BATCH, 3, 0}, NULL, NULL),
                    "sap_set_insert");
        for (int j = 0; j < BATCH / 10; j++) gone[j] = (int32_t)(i * BATCH + 10 * j);
        bench_check(sap_set_remove(set, gone, BATCH / 10, NULL), "sap_set_remove");
    }
    bench_check(sap_set_describe(set, &info), "sap_set_describe");
    const double count = (double)info.count;
    const bench_row rows[] = {{.key = "memory-set",
                               .work = "a set of 1M 3-D points: bytes a point",
                               .unit = BENCH_NUMBER,
                               .subject = (double)l.live / count,
                               .target = 40},
                              {.key = "memory-set-peak",
                               .work = "the same, at its peak",
                               .unit = BENCH_NUMBER,
                               .subject = (double)l.peak / count,
                               .target = 60}};
    for (int i = 0; i < 2; i++) bench_report_row(run->report, &rows[i]);
    sap_set_free(set);
    sap_device_close(device);
    free(points);
}

void bench_memory_group(bench_run* run) {
    if (!bench_wanted(run, "memory")) return;
    int64_t million = 1000000;
    ledger l = {0};
    sap_allocator allocator = {.allocate = counted_allocate, .release = counted_release, .user = &l};
    float* points = bench_uniform(million, 3, 1);
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, &allocator);
    if (!device) bench_check(SAP_ERROR_NO_DEVICE, "opening a device");
    sap_points given = {.coords = points, .count = million, .dims = 3};
    sap_tree* tree = NULL;
    int64_t device_bytes = l.live;
    l.peak = l.live;
    bench_check(sap_tree_build(device, given, NULL, &tree), "sap_tree_build");
    sap_tree_info info;
    bench_check(sap_tree_describe(tree, &info), "sap_tree_describe");
    int64_t peak = l.peak;

    int64_t before = l.calls;
    bench_check(sap_tree_rebuild(tree, given), "sap_tree_rebuild");
    double in_rebuild = (double)(l.calls - before);
    int32_t ids[BENCH_MAX_K];
    float distance2[BENCH_MAX_K];
    sap_search search = {.k = BENCH_MAX_K};
    sap_points query = {.coords = points, .count = 1, .dims = 3};
    before = l.calls;
    bench_check(sap_nearest(tree, query, &search, ids, distance2), "sap_nearest");
    double in_query = (double)(l.calls - before);
    int64_t tree_bytes = l.live;
    sap_tree_free(tree);
    tree_bytes -= l.live;
    double kept = (double)info.bytes, scratch = (double)(peak - device_bytes - tree_bytes);
    sap_device_close(device);
    free(points);

    bench_row rows[] = {
        {.key = "memory-kept", .work = "memory kept, 1M 3-D points, own copy included", .subject = kept, .target = 20},
        {.key = "memory-scratch", .work = "scratch while building, 1M 3-D", .subject = scratch, .target = 32},
        {.key = "memory-rebuild", .work = "allocations in a rebuild", .subject = in_rebuild},
        {.key = "memory-query", .work = "allocations in a query (k = 16)", .subject = in_query},
        {.key = "memory-leak", .work = "bytes still allocated at the end", .subject = (double)l.live},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rows[i].unit = i < 2 ? BENCH_MEGABYTES : BENCH_COUNT;
        if (i == 0) rows[i].floor = 16.0 * (double)million;
        bench_report_row(run->report, &rows[i]);
    }
    set_rows(run);
}
