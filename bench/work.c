#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sap_points bench_points(const bench_work* work) {
    return (sap_points){.coords = work->points, .count = work->count, .dims = work->dims};
}

sap_points bench_queries(const bench_work* work) {
    return (sap_points){.coords = work->queries, .count = work->query_count, .dims = work->dims};
}

void bench_work_open(bench_work* work, float* points, int64_t count, float* queries, int64_t query_count, int dims,
                     bool others) {
    *work =
        (bench_work){.points = points, .count = count, .queries = queries, .query_count = query_count, .dims = dims};
    work->other_queries = query_count / 5 > 0 ? query_count / 5 : query_count;
    work->ids = bench_memory((size_t)query_count * BENCH_MAX_K, sizeof(int32_t));
    work->distance2 = bench_memory((size_t)query_count * BENCH_MAX_K, sizeof(float));
    work->rival_ids = bench_memory((size_t)query_count * BENCH_MAX_K, sizeof(uint32_t));
    work->counts = bench_memory((size_t)query_count, sizeof(int64_t));
    // Touched now, so that no side of a comparison pays for it.
    memset(work->ids, 0, (size_t)query_count * BENCH_MAX_K * sizeof(int32_t));
    memset(work->distance2, 0, (size_t)query_count * BENCH_MAX_K * sizeof(float));
    memset(work->rival_ids, 0, (size_t)query_count * BENCH_MAX_K * sizeof(uint32_t));
    memset(work->counts, 0, (size_t)query_count * sizeof(int64_t));
    work->device = bench_device(1, SAP_SIMD_AUTO, NULL);
    if (!work->device) bench_check(SAP_ERROR_NO_DEVICE, "opening a device");
    bench_check(sap_tree_build(work->device, bench_points(work), NULL, &work->tree), "building a tree");
    for (int i = 0; i < bench_rival_count && i < BENCH_MAX_SIDES - 1; i++) {
        if (others || bench_rivals[i] == bench_main_rival()) {
            work->indexes[i] = bench_rivals[i]->build(points, (size_t)count, dims);
        }
    }
}

void bench_work_close(bench_work* work) {
    for (int i = 0; i < bench_rival_count && i < BENCH_MAX_SIDES - 1; i++) {
        if (work->indexes[i]) bench_rivals[i]->release(work->indexes[i]);
    }
    sap_tree_free(work->tree);
    sap_device_close(work->device);
    free(work->points);
    free(work->queries);
    free(work->ids);
    free(work->distance2);
    free(work->rival_ids);
    free(work->counts);
    *work = (bench_work){0};
}

double bench_checksum(const bench_work* work, int k, const uint32_t* ids, int64_t queries) {
    double sum = 0;
    for (int64_t i = 0; i < queries * k; i++) {
        if (ids[i] >= (uint64_t)work->count) return NAN;
        const float* q = work->queries + i / k * work->dims;
        const float* p = work->points + (int64_t)ids[i] * work->dims;
        for (int a = 0; a < work->dims; a++) {
            double difference = (double)q[a] - (double)p[a];
            sum += difference * difference;
        }
    }
    return sum;
}
