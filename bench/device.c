// A device of the library, which says what goes wrong; and the machine it works on.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void complain(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "bench: %s: %s\n", sap_status_string(status), sentence);
}

void bench_check(sap_status status, const char* what) {
    if (status == SAP_OK) return;
    fprintf(stderr, "bench: %s failed: %s\n", what, sap_status_string(status));
    exit(1);
}

sap_device* bench_device(int threads, sap_simd simd, const sap_allocator* allocator) {
    sap_device_options options = {.processor = SAP_CPU, .threads = threads, .simd = simd, .log = complain};
    if (simd != SAP_SIMD_AUTO) options.log = NULL;
    if (allocator) options.allocator = *allocator;
    sap_device* device = NULL;
    sap_status status = sap_device_open(&options, &device);
    if (status == SAP_ERROR_NO_DEVICE) return NULL;
    bench_check(status, "opening a device");
    return device;
}

void bench_print_machine(void) {
    char line[512], model[256] = "unknown processor";
    FILE* file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char* colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
    sap_device* device = bench_device(1, SAP_SIMD_AUTO, NULL);
    sap_device_info info = {0};
    bench_check(sap_device_describe(device, &info), "sap_device_describe");
    static const char* const widths[] = {"automatic", "16-byte", "AVX2", "AVX-512"};
    const char* vectors = (size_t)info.simd < sizeof widths / sizeof widths[0] ? widths[info.simd] : "unknown";
    sap_device_close(device);
    printf("Sapwood %s, %s vectors; %s, %ld processors; compiled by %s\n", sap_version(), vectors, model,
           sysconf(_SC_NPROCESSORS_ONLN), __VERSION__);
}
