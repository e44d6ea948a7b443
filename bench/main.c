// sapwood_bench: prints the table of the speed targets, Sapwood and its rivals in turn in one process. See run.sh.
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: run.sh [--quick] [--only KEYS] [--reps N] [--threads N] [--cpu-time] [--data FOLDER] [--out FOLDER]\n"
    "  --quick         smaller clouds and three passes: a look, not a record\n"
    "  --only KEYS     only rows whose keys begin with one of KEYS (comma-separated), such as uniform,rebuild-1m\n"
    "  --reps N        passes a side after the warm-up, default 7\n"
    "  --threads N     threads of the rows that compare threads with one, default 2\n"
    "  --cpu-time      time one-thread passes by the processor time they used: for a busy machine\n"
    "  --data FOLDER   real clouds: points/autzen_10653336_i32_planar.raw.xz and meshes/*.ply.xz\n"
    "  --out FOLDER    where CSV files go, default build/bench\n";

bool bench_wanted(const bench_run* run, const char* key) {
    const char* only = run->options->only;
    if (!only) return true;
    size_t length = strlen(key);
    while (*only) {
        size_t part = strcspn(only, ",");
        if (part > 0 && strncmp(only, key, part < length ? part : length) == 0) return true;
        only += part;
        if (*only == ',') only++;
    }
    return false;
}

static int whole_number(const char* text, int least, int most) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < least || value > most) {
        fprintf(stderr, "bench: \"%s\" is not a whole number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)value;
}

static void print_machine(const bench_run* run) {
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
    printf("Beside it: ");
    for (int i = 0; i < bench_rival_count; i++) printf("%s%s", i > 0 ? ", " : "", bench_rivals[i]->name);
    printf("%s%s\n", bench_rival_count > 0 ? "" : "none found", run->options->scipy ? ", scipy" : "");
    printf("Limits for the floors: %.1f GB/s copied in memory, %.1f in cache, %.0f M leaves of 32 points/s\n",
           run->rates.memory_bytes * 1e-9, run->rates.cache_bytes * 1e-9, run->rates.leaves * 1e-6);
    printf("One thread, 3-D float32, queries in random order, medians of %d passes after a warm-up, sides in turn%s.\n"
           "The rival is nanoflann, or what a row names. First builds: a fresh process for each sample.\n%s\n",
           run->options->reps, run->options->cpu_time ? ", processor time" : "",
           run->options->quick ? "QUICK: smaller clouds than the rows say; no verdicts.\n" : "");
}

static int run_all(const bench_options* options) {
    bench_run run = {.options = options, .rates = bench_measure_rates()};
    print_machine(&run);
    run.report = bench_report_open(options);
    if (!bench_main_rival()) bench_report_note(run.report, "nanoflann was not found: no ratios to it");
    bench_search_group(&run);
    bench_build_group(&run);
    bench_ways_group(&run);
    bench_memory_group(&run);
    bench_families_group(&run);
    bench_real_group(&run);
    return bench_report_close(run.report) > 0 ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc == 5 && strcmp(argv[1], "--first-build") == 0) {
        return bench_first_build(argv[2], whole_number(argv[3], 1, INT32_MAX), whole_number(argv[4], 3, 4));
    }
    static const struct option names[] = {{"quick", no_argument, NULL, 'q'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"reps", required_argument, NULL, 'r'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"data", required_argument, NULL, 'd'},
                                          {"out", required_argument, NULL, 'w'},
                                          {"cpu-time", no_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"scipy", required_argument, NULL, 's'},
                                          {"export", required_argument, NULL, 'e'},
                                          {NULL, 0, NULL, 0}};
    bench_options options = {.threads = 2, .out = ".", .program = "/proc/self/exe"};
    const char* export_folder = NULL;
    for (int option; (option = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (option) {
        case 'q': options.quick = true; break;
        case 'o': options.only = optarg; break;
        case 'r': options.reps = whole_number(optarg, 1, BENCH_MAX_REPS); break;
        case 't': options.threads = whole_number(optarg, 1, 1024); break;
        case 'c': options.cpu_time = true; break;
        case 'd': options.data = optarg; break;
        case 'w': options.out = optarg; break;
        case 's': options.scipy = optarg; break;
        case 'e': export_folder = optarg; break;
        case 'h': fputs(USAGE, stdout); return 0;
        default: fputs(USAGE, stderr); return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "bench: unexpected \"%s\"\n%s", argv[optind], USAGE);
        return 2;
    }
    if (options.reps == 0) options.reps = options.quick ? 3 : 7;
    if (export_folder) return bench_export(export_folder, options.quick);
    return run_all(&options);
}
