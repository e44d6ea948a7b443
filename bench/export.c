#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static int export_cloud(sap_device* device, const char* folder, const char* name, float* points, int64_t count) {
    char path[1024];
    int length = snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    sap_table table = {.values = points, .rows = count, .columns = 3, .number = SAP_FLOAT32};
    sap_status status = length > 0 && (size_t)length < sizeof path
                            ? sap_table_write(device, path, SAP_FORMAT_NPY, table)
                            : SAP_ERROR_ARGUMENT;
    free(points);
    if (status != SAP_OK) fprintf(stderr, "bench: %s/%s.npy: %s\n", folder, name, sap_status_string(status));
    return status == SAP_OK ? 0 : 1;
}

int bench_export(const char* folder, bool quick) {
    int64_t count = quick ? 200000 : 1000000;
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
    int failed = export_cloud(device, folder, "uniform", bench_uniform(count, 3, 1), count);
    failed |= export_cloud(device, folder, "uniform-queries", bench_uniform(count, 3, 2), count);
    failed |= export_cloud(device, folder, "scan", bench_scan(count, 11), count);
    failed |= export_cloud(device, folder, "scan-queries", bench_scan(count, 12), count);
    sap_device_close(device);
    return failed;
}
