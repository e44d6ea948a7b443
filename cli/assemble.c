// sapwood assemble: many clouds of points aligned with one another.
#include "aligned.h"
#include "file.h"
#include "near.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct assemble_cloud {
    sap_cli_points points;
    double origin[3]; // what the floats that are aligned count from
    float* floats;    // NULL: those of the file
    char* output;     // NULL: not written
} assemble_cloud;

typedef struct assemble_run {
    int32_t count, group_count;
    int64_t pair_count, kept;
    assemble_cloud* clouds;
    double *starts, *transforms; // [16 * count]
    int32_t *groups, *firsts;    // [count]: of each cloud, and the first cloud of that group
    sap_many_pair* pairs;
    double read_seconds, seconds;
} assemble_run;

// ---- What is asked

// Writes a file's name without its folder and suffix.
static void print_name(FILE* to, const char* path) {
    const char* slash = strrchr(path, '/');
    const char* name = !strcmp(path, "-") ? "stdin" : slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && !strcasecmp(name + length - 3, ".gz")) length -= 3;
    for (size_t i = length; i-- > 1;)
        if (name[i] == '.') {
            length = i;
            break;
        }
    fprintf(to, "%.*s", (int)length, name);
}

// What a pattern names for a cloud, to be freed; NULL without memory.
static char* name_output(const char* pattern, const char* path, int number) {
    char* text = NULL;
    size_t length;
    FILE* to = open_memstream(&text, &length);
    if (!to) return NULL;
    while (*pattern) {
        if (!strncmp(pattern, "{}", 2)) {
            print_name(to, path);
            pattern += 2;
        } else if (!strncmp(pattern, "{n}", 3)) {
            fprintf(to, "%d", number);
            pattern += 3;
        } else {
            putc(*pattern++, to);
        }
    }
    if (!fclose(to)) return text;
    free(text);
    return NULL;
}

static sap_cli_exit take_memory(sap_cli* cli, assemble_run* run) {
    const int32_t n = cli->options->operand_count;
    run->count = n;
    run->pair_count = (int64_t)n * (n - 1) / 2;
    run->clouds = sap_cli_allocate(cli, n, sizeof *run->clouds);
    if (!run->clouds) return SAP_EXIT_FAILED;
    memset(run->clouds, 0, (size_t)n * sizeof *run->clouds);
    run->starts = sap_cli_allocate(cli, n, 32 * sizeof *run->starts);
    run->groups = run->starts ? sap_cli_allocate(cli, n, 2 * sizeof *run->groups) : NULL;
    run->pairs = run->groups ? sap_cli_allocate(cli, run->pair_count, sizeof *run->pairs) : NULL;
    if (!run->pairs) return SAP_EXIT_FAILED;
    run->transforms = run->starts + 16 * n;
    run->firsts = run->groups + n;
    return SAP_EXIT_OK;
}

// Files of one name in several folders.
static sap_cli_exit check_names(sap_cli* cli, const assemble_run* run) {
    for (int32_t i = 0; cli->options->output && i < run->count; i++)
        for (int32_t j = 0; j < i; j++)
            if (!strcmp(run->clouds[i].output, run->clouds[j].output))
                return sap_cli_usage(cli, "%s and %s would both be written to %s; tell them apart by {n} in -o",
                                     cli->options->operands[j], cli->options->operands[i], run->clouds[i].output);
    return SAP_EXIT_OK;
}

static sap_cli_exit check_outputs(sap_cli* cli, assemble_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_output* outputs = sap_cli_allocate(cli, run->count + 1, sizeof *outputs);
    if (!outputs) return SAP_EXIT_FAILED;
    sap_cli_exit result = SAP_EXIT_OK;
    outputs[0] = (sap_cli_output){"--transform", o->transform};
    for (int32_t i = 0; i < run->count && result == SAP_EXIT_OK; i++) {
        if (o->output) run->clouds[i].output = name_output(o->output, o->operands[i], i);
        if (o->output && !run->clouds[i].output) {
            sap_cli_error(cli, "no memory for the names of outputs");
            result = SAP_EXIT_FAILED;
        }
        outputs[i + 1] = (sap_cli_output){"-o", run->clouds[i].output};
    }
    if (result == SAP_EXIT_OK) result = check_names(cli, run);
    if (result == SAP_EXIT_OK) result = sap_cli_cloud_check_outputs(cli, outputs, run->count + 1);
    free(outputs);
    return result;
}

static sap_cli_exit check_usage(sap_cli* cli, assemble_run* run) {
    const sap_cli_options* o = cli->options;
    int piped = 0;
    for (int32_t i = 0; i < run->count; i++) {
        if (!strcmp(o->operands[i], "-") && piped++)
            return sap_cli_usage(cli, "only one of the clouds can be standard input");
        if (sap_cli_is_tree(cli, o->operands[i]))
            return sap_cli_usage(cli, "%s: is a saved tree; give the points that it was built from", o->operands[i]);
    }
    if (o->output && !strstr(o->output, "{}") && !strstr(o->output, "{n}"))
        return sap_cli_usage(cli, "-o %s: needs {}, the name of each cloud's file, or {n}, its number", o->output);
    const sap_cli_exit result = sap_cli_align_check(cli);
    return result == SAP_EXIT_OK ? check_outputs(cli, run) : result;
}

// ---- The clouds, as floats from an origin near each

static sap_cli_exit read_cloud(sap_cli* cli, const char* path, assemble_cloud* cloud) {
    const sap_cli_exit result = sap_cli_points_read(cli, path, cli->options->precision, &cloud->points);
    if (result != SAP_EXIT_OK) return result;
    if (sap_cli_align_dims(cli, path, cloud->points.dims) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    if (cli->options->tree.drop_nonfinite) sap_cli_left_out_look(cli, path, &cloud->points);
    if (cloud->points.real_bits == 32) return SAP_EXIT_OK;
    if (sap_cli_near_origin(cli, &cloud->points, cloud->origin) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    cloud->floats = sap_cli_near_floats(cli, path, &cloud->points, cloud->origin);
    return cloud->floats ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

static sap_cli_exit read_clouds(sap_cli* cli, assemble_run* run) {
    const double start = sap_cli_seconds();
    sap_cli_exit result = SAP_EXIT_OK;
    for (int32_t i = 0; i < run->count && result == SAP_EXIT_OK; i++)
        result = read_cloud(cli, cli->options->operands[i], &run->clouds[i]);
    run->read_seconds = sap_cli_seconds() - start;
    return result;
}

// Makes a motion of a cloud's coordinates one from its own origin to another, or back.
static void shift_motion(double m[16], const double own[3], const double other[3], double sign) {
    for (int r = 0; r < 3; r++) {
        double turned = 0;
        for (int c = 0; c < 3; c++) turned += m[4 * r + c] * own[c];
        m[4 * r + 3] += sign * (turned - other[r]);
    }
}

static sap_cli_exit find_starts(sap_cli* cli, assemble_run* run) {
    memset(run->starts, 0, 16 * (size_t)run->count * sizeof *run->starts);
    for (int32_t i = 0; i < 16 * run->count; i += i % 16 == 15 ? 1 : 5) run->starts[i] = 1;
    const sap_cli_exit result = cli->options->start ? sap_cli_starts_read(cli, run->count, run->starts) : SAP_EXIT_OK;
    for (int32_t i = 0; i < run->count && result == SAP_EXIT_OK; i++)
        shift_motion(run->starts + 16 * i, run->clouds[i].origin, run->clouds[0].origin, 1);
    return result;
}

// ---- The work

static sap_cli_exit failed(sap_cli* cli, const assemble_run* run, sap_status status) {
    const char* path = NULL; // of the cloud that is to blame, if that can be told
    for (int32_t i = 0; i < run->count && status == SAP_ERROR_NOT_FINITE && !path; i++) {
        sap_cli_not_finite_look(&run->clouds[i].points);
        if (run->clouds[i].points.not_finite) path = cli->options->operands[i];
    }
    return sap_cli_failed(cli, status, path ? path : cli->options->start);
}

// Motions from one origin to another become those of the coordinates that files have.
static void take_motions(sap_cli* cli, assemble_run* run) {
    for (int32_t i = 0; i < run->count; i++) {
        const int32_t group = run->groups[i];
        if (group == run->group_count) run->firsts[run->group_count++] = i;
        const int32_t base = cli->options->global ? run->firsts[group] : 0;
        shift_motion(run->transforms + 16 * i, run->clouds[i].origin, run->clouds[base].origin, -1);
    }
    for (int64_t i = 0; i < run->pair_count; i++) {
        const sap_many_pair* pair = &run->pairs[i];
        run->kept += pair->kept;
        sap_cli_detail(cli, "%s onto %s: %s, fitness %.3g, rmse %.3g", cli->options->operands[pair->source],
                       cli->options->operands[pair->target],
                       pair->kept    ? "kept"
                       : pair->found ? "not kept, since it disagrees with others"
                                     : "no overlap",
                       pair->alignment.fitness, pair->alignment.rmse);
    }
}

static sap_cli_exit align(sap_cli* cli, assemble_run* run) {
    const sap_cli_options* o = cli->options;
    sap_many_options options = {.global = o->global, .least_overlap = o->least_overlap};
    sap_cli_align_options(o, &options.align);
    if (!o->global) options.starts = run->starts;
    sap_points* clouds = sap_cli_allocate(cli, run->count, sizeof *clouds);
    if (!clouds) return SAP_EXIT_FAILED;
    for (int32_t i = 0; i < run->count; i++) {
        const assemble_cloud* cloud = &run->clouds[i];
        clouds[i] = (sap_points){cloud->floats ? cloud->floats : cloud->points.coords, cloud->points.count, 3, 0};
    }
    sap_cli_stage_begin(cli, "aligning");
    const sap_status status =
        sap_cloud_align_many(cli->device, clouds, run->count, &options, run->transforms, run->groups, run->pairs);
    run->seconds = sap_cli_stage_end(cli);
    free(clouds);
    if (status != SAP_OK) return failed(cli, run, status);
    take_motions(cli, run);
    if (run->kept) return SAP_EXIT_OK;
    return sap_cli_error(cli, "no two of these clouds overlap, as far as can be seen%s",
                         o->global ? "" : "; where they lie elsewhere, --global or --start says how");
}

// ---- What is told

static sap_cli_exit write_all(sap_cli* cli, const assemble_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = SAP_EXIT_OK;
    for (int32_t i = 0; o->output && i < run->count && result == SAP_EXIT_OK; i++)
        result = sap_cli_aligned_write(cli, run->clouds[i].output, &run->clouds[i].points, run->transforms + 16 * i);
    if (result != SAP_EXIT_OK || (!o->transform && (o->output || o->json))) return result;
    const sap_table matrices = {
        .values = run->transforms, .rows = 4 * (int64_t)run->count, .columns = 4, .number = SAP_FLOAT64};
    return sap_cli_write(cli, o->transform, &matrices, "c");
}

static void report_pairs(sap_json* json, const assemble_run* run, bool is_global) {
    sap_json_open(json, "pairs", '[');
    for (int64_t i = 0; i < run->pair_count; i++) {
        const sap_many_pair* pair = &run->pairs[i];
        sap_json_open(json, NULL, '{');
        sap_json_int(json, "source", pair->source);
        sap_json_int(json, "target", pair->target);
        sap_json_bool(json, "found", pair->found);
        sap_json_bool(json, "kept", pair->kept);
        sap_json_int(json, "pairs", pair->alignment.pairs);
        sap_json_real(json, "fitness", pair->alignment.fitness, 32);
        sap_json_real(json, "rmse", pair->alignment.rmse, 32);
        sap_json_real(json, "residual", pair->residual, 32);
        if (is_global) sap_json_int(json, "rivals", pair->rivals);
        sap_json_real(json, "weight", pair->weight, 32);
        sap_json_close(json, '}');
    }
    sap_json_close(json, ']');
}

static void report(sap_cli* cli, const assemble_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "assemble");
    sap_json_open(&json, "clouds", '[');
    for (int32_t i = 0; i < run->count; i++) {
        sap_json_open(&json, NULL, '{');
        sap_json_text(&json, "input", cli->options->operands[i]);
        sap_json_int(&json, "points", run->clouds[i].points.count);
        sap_json_text(&json, "precision", sap_cli_precision_name(run->clouds[i].points.real_bits));
        sap_json_int(&json, "group", run->groups[i]);
        sap_cli_numbers_json(&json, "transform", run->transforms + 16 * i, 16);
        sap_json_text(&json, "output", run->clouds[i].output);
        sap_json_close(&json, '}');
    }
    sap_json_close(&json, ']');
    sap_json_int(&json, "groups", run->group_count);
    report_pairs(&json, run, cli->options->global);
    sap_json_effort(&json, cli, run->read_seconds, 0, "search", run->seconds);
    sap_json_close(&json, '}');
}

static void tell_overlaps(sap_cli* cli, const assemble_run* run) {
    const sap_cli_options* o = cli->options;
    if (!o->global && !o->find_overlap && o->overlap == 0 && o->max_distance == 0)
        sap_cli_note(cli, "clouds are taken to overlap whole; where they do in part, --find-overlap finds out where");
    for (int64_t i = 0; i < run->pair_count; i++) {
        const sap_many_pair* pair = &run->pairs[i];
        const char *source = o->operands[pair->source], *target = o->operands[pair->target];
        if (pair->kept) sap_cli_overlap_look(cli, source, target, &pair->alignment);
        if (pair->kept && pair->rivals > 0)
            sap_cli_note(cli, "%s lies on %s in several ways that fit as well; this is one of them", source, target);
    }
}

static void tell(sap_cli* cli, const assemble_run* run) {
    tell_overlaps(cli, run);
    for (int32_t g = 0; g < run->group_count && run->group_count > 1; g++) {
        int32_t members = 0;
        for (int32_t i = 0; i < run->count; i++) members += run->groups[i] == g;
        sap_cli_note(cli, "%d of %d clouds hang together with %s, which stays where it was", (int)members,
                     (int)run->count, cli->options->operands[run->firsts[g]]);
    }
    const char* written = cli->options->output ? cli->options->output : cli->options->transform;
    if (written && strcmp(written, "-") != 0)
        sap_cli_note(cli, "%d clouds, %lld of %lld pairs kept, aligned in %.3g s", (int)run->count,
                     (long long)run->kept, (long long)run->pair_count, run->seconds);
}

static void close(assemble_run* run) {
    for (int32_t i = 0; run->clouds && i < run->count; i++) {
        sap_cli_points_free(&run->clouds[i].points);
        free(run->clouds[i].floats);
        free(run->clouds[i].output);
    }
    free(run->clouds);
    free(run->starts);
    free(run->groups);
    free(run->pairs);
}

sap_cli_exit sap_cli_assemble(sap_cli* cli) {
    assemble_run run = {.seconds = 0};
    sap_cli_exit result = take_memory(cli, &run);
    if (result == SAP_EXIT_OK) result = check_usage(cli, &run);
    if (result == SAP_EXIT_OK) result = read_clouds(cli, &run);
    if (result == SAP_EXIT_OK) result = find_starts(cli, &run);
    if (result == SAP_EXIT_OK) result = align(cli, &run);
    if (result == SAP_EXIT_OK) result = sap_cli_together_end(cli, write_all(cli, &run));
    if (result == SAP_EXIT_OK && cli->options->json) report(cli, &run);
    if (result == SAP_EXIT_OK) tell(cli, &run);
    close(&run);
    return result;
}
