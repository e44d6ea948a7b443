// Reading points and trees.
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool begins_with(const char* bytes, const char* text) { return !strncmp(bytes, text, strlen(text)); }

// The first 8 bytes of a file as text; "" of a pipe: its bytes can be read only once, so they are left to the reader.
static void read_first(const char* path, char first[9]) {
    struct stat status;
    FILE* file = !stat(path, &status) && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    first[0] = 0;
    if (!file) return;
    first[fread(first, 1, 8, file)] = 0;
    fclose(file);
}

bool sap_cli_is_mesh_tree(const char* path) {
    char first[9];
    read_first(path, first);
    return begins_with(first, "SAPMESH\n");
}

bool sap_cli_is_tree(const sap_cli* cli, const char* path) {
    static const char* const of_points[] = {"\x93NUMPY", "ply\n", "ply\r", "ply ", "# .PCD", "VERSION ", "FIELDS "};
    char first[9];
    size_t length = strlen(path);
    if (!strcmp(path, "-")) return false;
    read_first(path, first);
    if (begins_with(first, "SAPTREE\n") || begins_with(first, "SAPMESH\n")) return true;
    if (cli->options->input_format != SAP_FORMAT_AUTO) return false;
    for (size_t i = 0; i < sizeof of_points / sizeof *of_points; i++)
        if (begins_with(first, of_points[i])) return false;
    return length >= 4 && !strcasecmp(path + length - 4, ".sap");
}

sap_cli_exit sap_cli_check_inputs(sap_cli* cli) {
    const sap_cli_options* options = cli->options;
    const char *reference = options->operands[0], *queries = options->operands[1];
    if (options->walk == SAP_WALK_STACKLESS && options->tree.split == SAP_SPLIT_SLIDING_MIDPOINT)
        return sap_cli_usage(cli, "--walk stackless cannot search trees of --split sliding-midpoint");
    if (!queries) return SAP_EXIT_OK;
    if (!strcmp(reference, "-") && !strcmp(queries, "-"))
        return sap_cli_usage(cli, "only one of REFERENCE and QUERIES can be standard input");
    if (sap_cli_is_tree(cli, queries)) return sap_cli_usage(cli, "%s is a saved tree; QUERIES must be points", queries);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_tree_failed(sap_cli* cli, sap_status status, const char* path) {
    sap_cli_failed(cli, status, path);
    if (status == SAP_ERROR_FORMAT || status == SAP_ERROR_RANGE)
        sap_cli_error(cli, "%s is not a sound tree; build it again", path);
    return SAP_EXIT_FAILED;
}

sap_cli_exit sap_cli_tree_from_pipe(sap_cli* cli) {
    return sap_cli_usage(cli, "a saved tree cannot be read from a pipe; give a file's name");
}

bool sap_cli_is_pipe(const char* path) {
    struct stat status;
    return !strcmp(path, "-") || (!stat(path, &status) && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)));
}

sap_cli_exit sap_cli_points_read(sap_cli* cli, const char* path, int32_t real_bits, sap_cli_points* points) {
    sap_point_set* set = NULL;
    if (sap_cli_is_tree(cli, path)) return sap_cli_usage(cli, "%s is a saved tree; points are needed here", path);
    sap_cli_stage_begin(cli, "reading");
    sap_status status = sap_points_read(cli->device, path, cli->options->input_format, real_bits, &set);
    double seconds = sap_cli_stage_end(cli);
    // A pipe is known to hold a tree only by what its reader stumbled over.
    if (status == SAP_ERROR_FORMAT && sap_cli_is_pipe(path) && strstr(cli->reason, "'SAPTREE'"))
        return sap_cli_tree_from_pipe(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    const void* coords = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords;
    *points = (sap_cli_points){coords, set->count, set->dims, set->real_bits, set, NULL};
    sap_cli_detail(cli, "%s: %lld x %d %s, read in %.3g s", path, (long long)set->count, (int)set->dims,
                   sap_cli_precision_name(set->real_bits), seconds);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_points_convert(sap_cli* cli, sap_cli_points* points, int32_t real_bits) {
    if (points->real_bits == real_bits) return SAP_EXIT_OK;
    int64_t values = points->count * points->dims;
    void* converted = sap_cli_allocate(cli, values, (size_t)real_bits / 8);
    if (!converted) return SAP_EXIT_FAILED;
    if (real_bits == 32) {
        const double* from = points->coords;
        for (int64_t i = 0; i < values; i++) ((float*)converted)[i] = (float)from[i];
    } else {
        const float* from = points->coords;
        for (int64_t i = 0; i < values; i++) ((double*)converted)[i] = (double)from[i];
    }
    sap_point_set_free(points->set);
    free(points->owned);
    points->coords = points->owned = converted;
    points->set = NULL;
    points->real_bits = real_bits;
    return SAP_EXIT_OK;
}

void sap_cli_points_free(sap_cli_points* points) {
    sap_point_set_free(points->set);
    free(points->owned);
    *points = (sap_cli_points){0};
}

sap_cli_exit sap_cli_tree_build(sap_cli* cli, const sap_cli_points* points, const char* path, sap_tree** tree) {
    const sap_tree_options* options = &cli->options->tree;
    sap_cli_stage_begin(cli, "building");
    sap_status status = points->real_bits == 64 ? sap_tree_build_f64(cli->device, sap_cli_f64(points), options, tree)
                                                : sap_tree_build(cli->device, sap_cli_f32(points), options, tree);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}

sap_cli_exit sap_cli_refuse_given(sap_cli* cli, const char* const* names, size_t count, const char* path,
                                  const char* why) {
    for (size_t i = 0; i < count; i++)
        if (sap_cli_given(cli->options, names[i]))
            return sap_cli_usage(cli, "%s is %s; --%s does not apply", path, why, names[i]);
    return SAP_EXIT_OK;
}

static sap_cli_exit load_tree(sap_cli* cli, sap_cli_reference* reference) {
    static const char* const of_building[] = {"precision", "split", "axis", "leaf-size", "drop-duplicates"};
    sap_cli_exit result = sap_cli_refuse_given(cli, of_building, sizeof of_building / sizeof *of_building,
                                               reference->path, "a tree built already");
    if (result != SAP_EXIT_OK) return result;
    if (sap_cli_is_pipe(reference->path)) return sap_cli_tree_from_pipe(cli);
    if (sap_cli_is_mesh_tree(reference->path))
        return sap_cli_usage(cli, "%s is a saved tree over triangles; points or a tree over points are needed here",
                             reference->path);
    sap_cli_stage_begin(cli, "loading");
    sap_status status = sap_tree_load(cli->device, reference->path, &reference->tree);
    reference->read_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_tree_failed(cli, status, reference->path);
}

sap_cli_exit sap_cli_reference_open(sap_cli* cli, const char* path, sap_cli_reference* reference) {
    *reference = (sap_cli_reference){.path = path, .saved = sap_cli_is_tree(cli, path)};
    sap_cli_exit result;
    if (reference->saved) {
        result = load_tree(cli, reference);
    } else {
        double start = sap_cli_seconds();
        result = sap_cli_points_read(cli, path, cli->options->precision, &reference->points);
        double read = sap_cli_seconds();
        if (result == SAP_EXIT_OK) result = sap_cli_tree_build(cli, &reference->points, path, &reference->tree);
        reference->read_seconds = read - start;
        reference->build_seconds = sap_cli_seconds() - read;
    }
    if (result != SAP_EXIT_OK) {
        sap_cli_reference_close(reference);
        return result;
    }
    sap_tree_describe(reference->tree, &reference->info);
    const sap_tree_info* info = &reference->info;
    sap_cli_detail(cli, "%s: tree of %lld points, %s, depth %d, %lld leaves, %s in %.3g s", path,
                   (long long)info->count, sap_cli_split_name(info->options.split), (int)info->depth,
                   (long long)info->leaves, reference->saved ? "loaded" : "built",
                   reference->saved ? reference->read_seconds : reference->build_seconds);
    return SAP_EXIT_OK;
}

void sap_cli_reference_close(sap_cli_reference* reference) {
    sap_tree_free(reference->tree);
    sap_cli_points_free(&reference->points);
    *reference = (sap_cli_reference){0};
}

sap_cli_exit sap_cli_queries_read(sap_cli* cli, const char* path, const sap_cli_reference* reference,
                                  sap_cli_points* queries) {
    const sap_tree_info* info = &reference->info;
    // Text is rounded once, to the tree's type; what a float32 tree makes of doubles should be known.
    int32_t real_bits = info->real_bits == 64 ? 64 : cli->options->precision;
    sap_cli_exit result = sap_cli_points_read(cli, path, real_bits, queries);
    if (result != SAP_EXIT_OK) return result;
    if (queries->dims != info->dims) {
        sap_cli_error(cli, "%s: queries have %d coordinates, but the points of %s have %d; give as many", path,
                      (int)queries->dims, reference->path, (int)info->dims);
        return SAP_EXIT_FAILED;
    }
    if (queries->real_bits == info->real_bits) return SAP_EXIT_OK;
    sap_cli_note(cli, "%s: float64 coordinates are rounded to the float32 of %s%s", path, reference->path,
                 reference->saved ? "" : "; --precision float64 keeps them");
    return sap_cli_points_convert(cli, queries, info->real_bits);
}

bool* sap_cli_present(sap_cli* cli, const sap_cli_reference* reference) {
    const sap_tree_info* info = &reference->info;
    bool* present = sap_cli_allocate(cli, info->source_count, sizeof *present);
    if (!present || info->duplicates == 0) {
        if (present) memset(present, true, (size_t)info->source_count);
        return present;
    }
    memset(present, false, (size_t)info->source_count);
    sap_tree_node* nodes = sap_cli_allocate(cli, info->count, sizeof *nodes);
    sap_status status = nodes ? sap_tree_nodes(reference->tree, nodes) : SAP_ERROR_MEMORY;
    if (status == SAP_OK) {
        for (int64_t i = 0; i < info->count; i++) present[nodes[i].point] = true;
    } else {
        if (nodes) sap_cli_failed(cli, status, reference->path);
        free(present);
        present = NULL;
    }
    free(nodes);
    return present;
}
