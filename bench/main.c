// sapwood_bench: prints the table of the speed targets, Sapwood and its rivals in turn in one process. See run.sh.
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const char USAGE[] =
    "usage: run.sh [--quick] [--only KEYS] [--reps N] [--threads N] [--cpu-time] [--data FOLDER] [--out FOLDER]\n"
    "  --quick         smaller clouds and three passes: a look, not a record\n"
    "  --only KEYS     only rows whose keys begin with one of KEYS (comma-separated), such as uniform,rebuild-1m\n"
    "  --reps N        passes a side after the warm-up, default 7\n"
    "  --threads N     threads of the rows that compare threads with one, default 2\n"
    "  --cpu-time      time one-thread passes by the processor time they used: for a busy machine\n"
    "  --data FOLDER   real clouds: points/autzen_10653336_i32_planar.raw.xz and meshes/*.ply.xz\n"
    "  --out FOLDER    where CSV files go, default build/bench\n";

static void print_method(const bench_run* run) {
    bench_print_machine();
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
    print_method(&run);
    run.report = bench_report_open(options);
    if (!bench_main_rival()) bench_report_note(run.report, "nanoflann was not found: no ratios to it");
    bench_search_group(&run);
    bench_box_group(&run);
    bench_pairs_group(&run);
    bench_build_group(&run);
    bench_single_group(&run);
    bench_sets_group(&run);
    bench_load_group(&run);
    bench_own_group(&run);
    bench_splits_group(&run);
    bench_ways_group(&run);
    bench_busy_group(&run);
    bench_memory_group(&run);
    bench_families_group(&run);
    bench_surface_group(&run);
    bench_real_group(&run);
    return bench_report_close(run.report) > 0 ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc == 5 && strcmp(argv[1], "--first-build") == 0)
        return bench_first_build(argv[2], bench_whole_number(argv[3], 1, INT32_MAX), bench_whole_number(argv[4], 3, 4));
    bench_options options = {.threads = 2,
                             .out = ".",
                             .program = "/proc/self/exe",
                             .rival = "nanoflann",
                             .others = {"FLANN", "CGAL", "scipy"}};
    bench_read_options(&options, argc, argv, USAGE);
    if (options.export_folder) return bench_export(options.export_folder, options.quick);
    return run_all(&options);
}
