// Reading points and trees.
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool sap_cli_is_tree(const char* path) {
    static const char magic[] = "SAPTREE\n";
    char first[sizeof magic - 1];
    size_t length = strlen(path);
    if (!strcmp(path, "-")) return false;
    if (length >= 4 && !strcasecmp(path + length - 4, ".sap")) return true;
    struct stat status; // a pipe's bytes can be read only once: leave them to the reader
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return false;
    FILE* file = fopen(path, "rb");
    if (!file) return false;
    bool tree = fread(first, 1, sizeof first, file) == sizeof first && !memcmp(first, magic, sizeof first);
    fclose(file);
    return tree;
}

sap_cli_exit sap_cli_points_read(sap_cli* cli, const char* path, sap_cli_points* points) {
    sap_point_set* set = NULL;
    if (sap_cli_is_tree(path)) return sap_cli_error(cli, "%s is a saved tree; points are needed here", path);
    sap_cli_stage_begin(cli, "reading");
    sap_status status = sap_points_read(cli->device, path, cli->options->input_format, &set);
    double seconds = sap_cli_stage_end(cli);
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

static sap_cli_exit load_tree(sap_cli* cli, sap_cli_reference* reference) {
    sap_cli_stage_begin(cli, "loading");
    sap_status status = sap_tree_load(cli->device, reference->path, &reference->tree);
    reference->read_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, reference->path);
}

sap_cli_exit sap_cli_reference_open(sap_cli* cli, const char* path, sap_cli_reference* reference) {
    *reference = (sap_cli_reference){.path = path, .saved = sap_cli_is_tree(path)};
    const sap_tree_options* wanted = &cli->options->tree;
    sap_cli_exit result;
    if (reference->saved && (wanted->split || wanted->axis || wanted->leaf_size || wanted->drop_duplicates)) {
        result = sap_cli_usage(
            cli, "%s is built already; --split, --axis, --leaf-size and --drop-duplicates do not apply", path);
    } else if (reference->saved) {
        result = load_tree(cli, reference);
    } else {
        double start = sap_cli_seconds();
        result = sap_cli_points_read(cli, path, &reference->points);
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
    sap_cli_exit result = sap_cli_points_read(cli, path, queries);
    if (result != SAP_EXIT_OK) return result;
    if (queries->dims != info->dims) {
        sap_cli_error(cli, "%s: queries have %d coordinates, but the points of %s have %d; give as many", path,
                      (int)queries->dims, reference->path, (int)info->dims);
        return SAP_EXIT_FAILED;
    }
    if (queries->real_bits == info->real_bits) return SAP_EXIT_OK;
    sap_cli_detail(cli, "%s: converted from %s to the tree's %s", path, sap_cli_precision_name(queries->real_bits),
                   sap_cli_precision_name(info->real_bits));
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
