// The words after the program's name, which both benchmarks of the CPU understand.
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int bench_whole_number(const char* text, int least, int most) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < least || value > most) {
        fprintf(stderr, "bench: \"%s\" is not a whole number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)value;
}

void bench_read_options(bench_options* options, int argc, char** argv, const char* usage) {
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
    for (int option; (option = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (option) {
        case 'q': options->quick = true; break;
        case 'o': options->only = optarg; break;
        case 'r': options->reps = bench_whole_number(optarg, 1, BENCH_MAX_REPS); break;
        case 't': options->threads = bench_whole_number(optarg, 1, 1024); break;
        case 'c': options->cpu_time = true; break;
        case 'd': options->data = optarg; break;
        case 'w': options->out = optarg; break;
        case 's': options->scipy = optarg; break;
        case 'e': options->export_folder = optarg; break;
        case 'h': fputs(usage, stdout); exit(0);
        default: fputs(usage, stderr); exit(2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "bench: unexpected \"%s\"\n%s", argv[optind], usage);
        exit(2);
    }
    if (options->reps == 0) options->reps = options->quick ? 3 : 7;
}
