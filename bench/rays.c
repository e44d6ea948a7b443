// sapwood_rays_bench: prints the table of the speed targets for triangles, Sapwood and Embree in turn in one process.
// See run.sh.
#include "rays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char USAGE[] =
    "usage: run.sh rays [--quick] [--only KEYS] [--reps N] [--threads N] [--cpu-time] [--data FOLDER] [--out FOLDER]\n"
    "  --quick         fewer rays and three passes: a look, not a record\n"
    "  --only KEYS     only rows whose keys begin with one of KEYS (comma-separated): a scene's name, and behind a\n"
    "                  dash what is asked, such as bunny,dragon-build\n"
    "  --reps N        passes a side after the warm-up, default 7\n"
    "  --threads N     threads of the rows that compare threads with one, default 2\n"
    "  --cpu-time      time one-thread passes by the processor time they used: for a busy machine\n"
    "  --data FOLDER   scenes: the files .ply and .ply.xz of its folder meshes, or of itself; otherwise a torus\n"
    "  --out FOLDER    where CSV files go, default build/bench/rays\n";

const char* rays_key(const rays_scene* scene, const char* row) {
    static char key[96];
    snprintf(key, sizeof key, "%s-%s", scene->name, row);
    return key;
}

static void print_method(const rays_run* run) {
    const bench_options* options = run->bench.options;
    bench_print_machine();
    printf("Beside it: %s\n", rays_embree ? "Embree 3, qualities medium (the rival) and high" : "nothing was found");
    printf("Limits for the floors: %.1f GB/s copied in memory; 16 rays side by side meet %.0f M planes or %.0f M "
           "triangles/s, in cache\n",
           run->bench.rates.memory_bytes * 1e-9, run->rates.nodes * 1e-6, run->rates.tests * 1e-6);
    printf("One thread, medians of %d passes after a warm-up, sides in turn%s. Sapwood answers all rays of a set in\n"
           "one call, Embree one ray a call. First builds: a fresh process for each of up to three samples.\n"
           "Rays: a camera's (primary), and from where they hit one to a light (shadow) and one by the cosine law "
           "(bounce);\nleaving: bounces from what a camera outside sees.\n%s\n",
           options->reps, options->cpu_time ? ", processor time" : "",
           options->quick ? "QUICK: fewer rays; no verdicts.\n" : "");
}

static void run_scene(const rays_run* run, const bench_file* file) {
    rays_scene scene;
    if (!bench_wanted(&run->bench, file ? file->name : "torus")) return;
    if (rays_scene_read(&scene, file)) {
        bench_report_note(run->bench.report, "%s: %lld triangles", scene.name, (long long)scene.mesh.triangle_count);
        rays_scene_prepare(&scene, run->bench.options->quick ? 256 : 1024);
        rays_trace_group(run, &scene);
        rays_single_group(run, &scene);
        rays_build_group(run, &scene, file);
        rays_tree_group(run, &scene);
    } else {
        bench_report_note(run->bench.report, "%s: skipped, it could not be read", file->path);
    }
    rays_scene_close(&scene);
}

int main(int argc, char** argv) {
    if (argc == 4 && strcmp(argv[1], "--first-build") == 0) return rays_first_build(argv[2], argv[3]);
    bench_options options = {
        .threads = 2,
        .out = ".",
        .program = "/proc/self/exe",
        .rival = "Embree medium",
        .others = {
            [RAYS_BESIDE_HIGH] = "Embree high", [RAYS_BESIDE_SINGLE] = "ray by ray", [RAYS_BESIDE_FAST] = "fast tree"}};
    bench_read_options(&options, argc, argv, USAGE);
    rays_run run = {.bench = {.options = &options, .rates = bench_measure_rates()}, .rates = rays_measure_rates()};
    print_method(&run);
    run.bench.report = bench_report_open(&options);
    if (!rays_embree) bench_report_note(run.bench.report, "Embree was not found: no ratios to it");
    bench_folder scenes = {NULL, 0};
    if (options.data) scenes = bench_mesh_files(options.data);
    if (options.data && scenes.count == 0)
        bench_report_note(run.bench.report, "no PLY files in %s: the built-in scene instead", options.data);
    for (int i = 0; i < scenes.count; i++) run_scene(&run, &scenes.files[i]);
    if (scenes.count == 0) run_scene(&run, NULL);
    free(scenes.files);
    return bench_report_close(run.bench.report) > 0 ? 1 : 0;
}
