// Errors, notes, progress, and the device that all of them lead from.
#include "ranks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };

static const char* verb_name(const sap_cli* cli) { return sap_cli_verb_table[cli->options->verb].name; }

static void erase_bar(sap_cli* cli) {
    if (!cli->bar_drawn) return;
    fputs(isatty(STDERR_FILENO) ? "\r\033[K" : "\n", stderr);
    cli->bar_drawn = false;
}

static char* make_line(const sap_cli* cli, const char* format, va_list values) {
    const sap_cli_options* o = cli->options;
    const char* const paths[] = {o->operands[0], o->operands[1], o->output, o->ids, o->distances};
    char* line = NULL;
    if (vasprintf(&line, format, values) < 0) return NULL;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) sap_cli_shorten(line, paths[i]);
    return line;
}

static void print_line(sap_cli* cli, const char* format, va_list values) {
    if (!sap_cli_is_first(cli)) return;
    char* line = make_line(cli, format, values);
    erase_bar(cli);
    fprintf(stderr, "sapwood %s: ", verb_name(cli));
    if (line) sap_cli_show(stderr, line);
    free(line);
    fputc('\n', stderr);
}

// An error; where there are several ranks, it is told when all agree.
static void print_error(sap_cli* cli, const char* format, va_list values) {
    sap_cli_ranks* ranks = cli->ranks;
    if (!ranks) {
        print_line(cli, format, values);
        return;
    }
    char* line = make_line(cli, format, values);
    const size_t length = strlen(ranks->said);
    erase_bar(cli);
    snprintf(ranks->said + length, sizeof ranks->said - length, "%s\n", line ? line : "no memory");
    free(line);
}

sap_cli_exit sap_cli_error(sap_cli* cli, const char* format, ...) {
    va_list values;
    va_start(values, format);
    print_error(cli, format, values);
    va_end(values);
    return SAP_EXIT_FAILED;
}

sap_cli_exit sap_cli_usage(sap_cli* cli, const char* format, ...) {
    va_list values;
    va_start(values, format);
    print_error(cli, format, values);
    va_end(values);
    if (!cli->ranks) fprintf(stderr, "Try 'sapwood %s --help'.\n", verb_name(cli));
    return SAP_EXIT_USAGE;
}

// Whether a sentence names a path already.
static bool mentions(const char* sentence, const char* path) {
    size_t length = strlen(path);
    for (const char* at = sentence; (at = strstr(at, path)); at++)
        if ((at == sentence || strchr(" '\"", at[-1])) && strchr(" ,:;'\"", at[length])) return true;
    return false;
}

// Whether a sentence was cut off within a long path.
static bool names_start_of(const char* sentence, const char* path) {
    char start[100];
    return (size_t)snprintf(start, sizeof start, "%s", path) >= sizeof start && strstr(sentence, start);
}

// The library begins some sentences with the argument of the call that they are about; users gave no such argument.
static const char* skip_argument(const char* sentence) {
    static const char* const arguments[] = {"options.", "scene.", "search.", "points.", "queries.", "points:",
                                            "queries:", "mesh:",  "source:", "target:", "tree:"};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (strncmp(sentence, arguments[i], strlen(arguments[i]))) continue;
        size_t word = strcspn(sentence, " :");
        if (sentence[word] == ':' && sentence[word + 1] == ' ') return sentence + word + 2;
    }
    return sentence;
}

sap_cli_exit sap_cli_failed(sap_cli* cli, sap_status status, const char* path) {
    const char* reason = *cli->reason ? skip_argument(cli->reason) : sap_status_string(status);
    const sap_cli_hint hint = sap_cli_hint_of(cli, reason, path);
    if (path && !strcmp(path, "-")) path = strstr(reason, "standard output") ? NULL : "standard input";
    bool named = path && mentions(reason, path);
    if (path && !named && names_start_of(reason, path)) // the name left the library's sentence no room for the reason
        reason = status == SAP_ERROR_IO ? strerror(cli->reason_errno) : sap_status_string(status);
    if (path && !named) return sap_cli_error(cli, "%s: %s%s", path, reason, hint.text);
    return sap_cli_error(cli, "%s%s", reason, hint.text);
}

void sap_cli_note(sap_cli* cli, const char* format, ...) {
    if (cli->options->quiet) return;
    va_list values;
    va_start(values, format);
    print_line(cli, format, values);
    va_end(values);
}

void sap_cli_detail(sap_cli* cli, const char* format, ...) {
    if (!cli->options->verbose || cli->options->quiet) return;
    va_list values;
    va_start(values, format);
    print_line(cli, format, values);
    va_end(values);
}

double sap_cli_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool bar_wanted(const sap_cli* cli, double now) {
    if (cli->options->quiet || !sap_cli_is_first(cli)) return false;
    if (cli->options->progress != SAP_PROGRESS_AUTO) return cli->options->progress == SAP_PROGRESS_ALWAYS;
    return now - cli->stage_start > 1 && isatty(STDERR_FILENO);
}

void sap_cli_stage_begin(sap_cli* cli, const char* stage) {
    cli->stage = stage;
    cli->stage_start = sap_cli_seconds();
    cli->bar_time = 0;
    cli->reason[0] = 0;
}

bool sap_cli_stage_report(void* user, double done) {
    sap_cli* cli = user;
    double now = sap_cli_seconds();
    if (!cli->stage || now - cli->bar_time < 0.1 || !bar_wanted(cli, now)) return true;
    int filled = (int)(done * BAR_WIDTH);
    fprintf(stderr, "\rsapwood: %-10s [%.*s%*s] %3d%%", cli->stage, filled,
            "========================================", BAR_WIDTH - filled, "", (int)(done * 100));
    fflush(stderr);
    cli->bar_drawn = true;
    cli->bar_time = now;
    return true;
}

double sap_cli_stage_end(sap_cli* cli) {
    erase_bar(cli);
    cli->stage = NULL;
    return sap_cli_seconds() - cli->stage_start;
}

static void take_reason(void* user, sap_status status, const char* sentence) {
    sap_cli* cli = user;
    int error = errno;
    if (status == SAP_OK) {
        const char* second = cli->options->operands[1];
        const bool of_second = second && !strncmp(sentence, second, strlen(second));
        const sap_cli_hint hint = sap_cli_hint_of(cli, sentence, of_second ? second : NULL);
        if (!cli->hushed) sap_cli_note(cli, "%s%s", sentence, hint.text);
        return;
    }
    cli->reason_errno = error;
    int rank, length = 0;
    if (cli->ranks) cli->ranks->of_another = sscanf(sentence, "rank %d: %n", &rank, &length) == 1 && length;
    const char* file = cli->pipe ? strstr(sentence, cli->pipe_file) : NULL;
    const int before = file ? (int)(file - sentence) : 0;
    if (file)
        snprintf(cli->reason, sizeof cli->reason, "%.*s%s%s", before, sentence, cli->pipe,
                 file + strlen(cli->pipe_file));
    else
        snprintf(cli->reason, sizeof cli->reason, "%s", sentence);
}

sap_cli_exit sap_cli_open(sap_cli* cli, const sap_cli_options* options, sap_cli_ranks* ranks) {
    *cli = (sap_cli){.options = options, .ranks = ranks};
    sap_cli_verb verb = options->verb;
    const bool of_cloud = verb == SAP_VERB_NORMALS || verb == SAP_VERB_DENSITY || verb == SAP_VERB_OUTLIERS ||
                          verb == SAP_VERB_THIN || verb == SAP_VERB_CLUSTER || verb == SAP_VERB_ALIGN ||
                          verb == SAP_VERB_ASSEMBLE || verb == SAP_VERB_RELAX || verb == SAP_VERB_PROJECT ||
                          verb == SAP_VERB_PICTURE;
    bool cpu_only = verb == SAP_VERB_INFO || verb == SAP_VERB_CONVERT || verb == SAP_VERB_SUBDIVIDE || of_cloud;
    bool checks_mesh = verb == SAP_VERB_VERIFY && sap_cli_is_mesh_tree(options->operands[0]); // which the CPU does
    bool choose_cpu = (cpu_only || checks_mesh || ranks) && options->processor == SAP_AUTO;
    sap_device_options wanted = {.processor = choose_cpu ? SAP_CPU : options->processor,
                                 .ordinal = options->ordinal,
                                 .threads = !options->threads && ranks ? ranks->threads : options->threads,
                                 .simd = options->simd,
                                 .log = take_reason,
                                 .log_user = cli,
                                 .progress = sap_cli_stage_report,
                                 .progress_user = cli};
    sap_status status = sap_device_open(&wanted, &cli->device);
    if (status == SAP_ERROR_NO_DEVICE && options->processor == SAP_CUDA)
        return sap_cli_error(cli, "cannot open the device: %s; %s", skip_argument(cli->reason),
                             options->devices.count ? "leave --devices out" : "use --device cpu");
    if (status != SAP_OK) return sap_cli_failed(cli, status, "cannot open the device");
    sap_device_describe(cli->device, &cli->info);
    sap_cli_detail(cli, "device %s", sap_cli_where(cli).text);
    return SAP_EXIT_OK;
}

void sap_cli_close(sap_cli* cli) { sap_device_close(cli->device); }

sap_cli_place sap_cli_where(const sap_cli* cli) {
    const sap_device_info* info = &cli->info;
    const char* processor = sap_cli_processor_name(info->processor);
    sap_cli_place place;
    if (info->processor == SAP_CUDA)
        snprintf(place.text, sizeof place.text, "%s:%d, threads %d", processor, (int)cli->options->ordinal,
                 (int)info->threads);
    else
        snprintf(place.text, sizeof place.text, "%s, %s, threads %d", processor, sap_cli_simd_name(info->simd),
                 (int)info->threads);
    return place;
}

void* sap_cli_allocate(sap_cli* cli, int64_t count, size_t bytes) {
    size_t size;
    void* memory = NULL;
    if (!__builtin_mul_overflow((size_t)count, bytes, &size)) memory = malloc(size ? size : 1);
    if (!memory) sap_cli_error(cli, "no memory for %lld values of %zu bytes", (long long)count, bytes);
    return memory;
}

void* sap_cli_allocate_neighbors(sap_cli* cli, int64_t rows, size_t bytes) {
    int32_t k = cli->options->k;
    size_t size;
    void* memory = NULL;
    if (!__builtin_mul_overflow((size_t)rows * bytes, (size_t)k, &size)) memory = malloc(size ? size : 1);
    if (!memory)
        sap_cli_error(cli, "no memory for -k %d neighbours of %lld queries; take a smaller -k", (int)k,
                      (long long)rows);
    return memory;
}

sap_cli_exit sap_cli_nearest_failed(sap_cli* cli, sap_status status) {
    if (status != SAP_ERROR_MEMORY && status != SAP_ERROR_DEVICE_MEMORY) return sap_cli_failed(cli, status, NULL);
    const char* reason = *cli->reason ? skip_argument(cli->reason) : sap_status_string(status);
    return sap_cli_error(cli, "-k %d: %s; take a smaller -k", (int)cli->options->k, reason);
}

sap_cli_number sap_cli_real(double value, int bits) {
    sap_cli_number number = {{0}};
    for (int digits = bits == 32 ? 6 : 15; digits <= 17; digits++) {
        snprintf(number.text, sizeof number.text, "%.*g", digits, value);
        if (bits == 32 ? strtof(number.text, NULL) == (float)value : strtod(number.text, NULL) == value) break;
    }
    return number;
}

sap_cli_number sap_cli_size(double bytes) {
    static const char* const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    sap_cli_number size;
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++) bytes /= 1000;
    snprintf(size.text, sizeof size.text, "%.3g %s", bytes, units[unit]);
    return size;
}

sap_cli_exit sap_cli_flush(sap_cli* cli) {
    if (!fflush(stdout) && !ferror(stdout)) return SAP_EXIT_OK;
    return sap_cli_error(cli, "cannot write to standard output: %s", strerror(errno));
}
