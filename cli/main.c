// sapwood: the command line of the library.
#include "file.h"
#include "ranks.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if !defined(SAP_CLI_MPI_LIBRARY) // a program that is not linked to the shared library
#define SAP_CLI_MPI_LIBRARY NULL
#endif

static sap_cli_exit (*const verbs[SAP_VERB_COUNT])(sap_cli*) = {
    [SAP_VERB_INFO] = sap_cli_info,         [SAP_VERB_BUILD] = sap_cli_build,
    [SAP_VERB_NEAREST] = sap_cli_nearest,   [SAP_VERB_RADIUS] = sap_cli_radius,
    [SAP_VERB_BOX] = sap_cli_box,           [SAP_VERB_CORRELATE] = sap_cli_correlate,
    [SAP_VERB_PAIRS] = sap_cli_pairs,       [SAP_VERB_VERIFY] = sap_cli_verify,
    [SAP_VERB_CONVERT] = sap_cli_convert,   [SAP_VERB_BENCH] = sap_cli_bench,
    [SAP_VERB_RENDER] = sap_cli_render,     [SAP_VERB_TRACE] = sap_cli_trace,
    [SAP_VERB_CLOSEST] = sap_cli_closest,   [SAP_VERB_ISOSURFACE] = sap_cli_isosurface,
    [SAP_VERB_COMPACT] = sap_cli_compact,   [SAP_VERB_VORONOI] = sap_cli_voronoi,
    [SAP_VERB_NORMALS] = sap_cli_normals,   [SAP_VERB_DENSITY] = sap_cli_density,
    [SAP_VERB_OUTLIERS] = sap_cli_outliers, [SAP_VERB_THIN] = sap_cli_thin,
    [SAP_VERB_CLUSTER] = sap_cli_cluster,   [SAP_VERB_DISTANCE] = sap_cli_distance,
    [SAP_VERB_PICTURE] = sap_cli_portray,   [SAP_VERB_RELAX] = sap_cli_relax,
    [SAP_VERB_ALIGN] = sap_cli_align,       [SAP_VERB_ASSEMBLE] = sap_cli_assemble,
    [SAP_VERB_PROJECT] = sap_cli_project,   [SAP_VERB_SUBDIVIDE] = sap_cli_subdivide,
};

// A file opened later must not take the number of a standard stream that was closed. What is opened instead fails
// when it is used, as a closed one would.
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
}

// What a device opened with these options turns out to be; false if there is none.
static bool probe(const sap_device_options* options, sap_device_info* info) {
    sap_device* device;
    if (sap_device_open(options, &device) != SAP_OK) return false;
    bool described = sap_device_describe(device, info) == SAP_OK;
    sap_device_close(device);
    return described;
}

static void print_version(void) {
    sap_device_info info;
    printf("sapwood %s\n", sap_version());
    bool threads = probe(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &info) && info.threads == 2;
    printf("threads: %s\n", threads ? "yes" : "no");
    fputs("SIMD:", stdout);
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++)
        if (probe(&(sap_device_options){.processor = SAP_CPU, .simd = (sap_simd)simd}, &info))
            printf(" %s", sap_cli_simd_name((sap_simd)simd));
    fputs("\ndevices: cpu", stdout);
    for (int32_t i = 0; probe(&(sap_device_options){.processor = SAP_CUDA, .ordinal = i}, &info); i++)
        printf(" cuda:%d", (int)i);
    putchar('\n');
}

static sap_cli_exit finish_stdout(sap_cli_verb verb) {
    if (!fflush(stdout) && !ferror(stdout)) return SAP_EXIT_OK;
    const char* name = sap_cli_verb_table[verb].name;
    fprintf(stderr, "sapwood%s%s: cannot write to standard output: %s\n", *name ? " " : "", name, strerror(errno));
    return SAP_EXIT_FAILED;
}

// Parses the arguments; of several processes that were started together the first says what is wrong.
static sap_cli_exit parse(int argc, char** argv, int32_t rank, sap_cli_options* options) {
    const int kept = rank ? dup(STDERR_FILENO) : -1;
    if (kept >= 0 && !freopen("/dev/null", "w", stderr)) return SAP_EXIT_FAILED;
    const sap_cli_exit result = sap_cli_parse(argc, argv, options);
    if (kept < 0) return result;
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    if (result != SAP_EXIT_OK) sleep(1); // launchers end all processes when one fails
    return result;
}

static void print_document(const sap_cli_options* options) {
    if (options->generate)
        sap_cli_print_document(options->generate);
    else if (options->version)
        print_version();
    else
        sap_cli_print_help(options->verb);
}

static sap_cli_exit work(const sap_cli_options* options, sap_cli_ranks* ranks) {
    sap_cli cli;
    sap_cli_exit result = sap_cli_open(&cli, options, ranks);
    result = sap_cli_agree(&cli, result);
    if (result == SAP_EXIT_OK) result = sap_cli_agree(&cli, verbs[options->verb](&cli));
    sap_cli_close(&cli);
    return result;
}

static sap_cli_exit run(int argc, char** argv) {
    sap_cli_options options;
    sap_cli_ranks ranks;
    int32_t rank = 0, size = 1;
    if (!sap_cli_ranks_started(&rank, &size)) rank = 0;
    sap_cli_exit result = parse(argc, argv, rank, &options);
    if (result != SAP_EXIT_OK) return result;
    if (options.generate || options.version || options.help) {
        if (!rank) print_document(&options);
        return finish_stdout(options.verb);
    }
    result = sap_cli_ranks_open(&options, SAP_CLI_MPI_LIBRARY, &ranks);
    if (result != SAP_EXIT_OK) return result;
    if (options.devices.count > 1)
        result = sap_cli_devices_work(&options, work);
    else
        result = work(&options, ranks.comm ? &ranks : NULL);
    sap_cli_ranks_close(&ranks);
    if (result != SAP_EXIT_OK && result != SAP_EXIT_UNDETERMINED) return result;
    const sap_cli_exit printed = finish_stdout(options.verb);
    return printed == SAP_EXIT_OK ? result : printed;
}

int main(int argc, char** argv) {
    hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); // a closed pipe is an error like any other
    sap_cli_interrupted_watch();
    return (int)run(argc, argv);
}
