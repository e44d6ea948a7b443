// Reading points and trees.
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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

sap_cli_manner sap_cli_manner_of(const sap_cli* cli, const char* path) {
    const sap_cli_options* o = cli->options;
    sap_cli_manner manner = {o->columns, o->member, o->input_format};
    char first[9];
    if (path != o->operands[1]) return manner;
    const bool beside_mesh = o->verb == SAP_VERB_TRACE || o->verb == SAP_VERB_CLOSEST;
    if (beside_mesh) manner.format = SAP_FORMAT_AUTO; // which is that of the mesh
    if (o->query_format) manner.format = o->query_format;
    if (o->query_columns) manner.columns = o->query_columns;
    if (o->query_member) {
        manner.member = o->query_member;
    } else if (!beside_mesh) { // that of the first file is for another archive only
        read_first(path, first);
        if (!begins_with(first, "PK\3\4")) manner.member = NULL;
    }
    return manner;
}

static bool can_be_read(const char* path) {
    struct stat status;
    return !stat(path, &status) && !S_ISDIR(status.st_mode) && !access(path, R_OK);
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
    if (sap_cli_manner_of(cli, path).format != SAP_FORMAT_AUTO) return false;
    for (size_t i = 0; i < sizeof of_points / sizeof *of_points; i++)
        if (begins_with(first, of_points[i])) return false;
    // A file that cannot be read is no tree either: whoever reads it says why.
    return length >= 4 && !strcasecmp(path + length - 4, ".sap") && can_be_read(path);
}

sap_cli_exit sap_cli_check_inputs(sap_cli* cli) {
    static const char* const of_queries[] = {"query-columns", "query-member", "query-format"};
    const sap_cli_options* options = cli->options;
    const char *reference = options->operands[0], *queries = options->operands[1];
    if (options->walk == SAP_WALK_STACKLESS && options->tree.split != SAP_SPLIT_MEDIAN)
        return sap_cli_usage(cli, "--walk stackless cannot search trees of --split %s",
                             sap_cli_split_name(options->tree.split));
    for (size_t i = 0; !queries && i < sizeof of_queries / sizeof *of_queries; i++)
        if (sap_cli_given(options, of_queries[i]))
            return sap_cli_usage(cli, "--%s is for searches with QUERIES", of_queries[i]);
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

// Whether the verb needs what the points of this path have beside their coordinates.
static bool keeps_fields(const sap_cli* cli, const char* path) {
    const sap_cli_options* o = cli->options;
    if (o->verb == SAP_VERB_CONVERT && o->columns) return false; // these are all
    if (o->verb == SAP_VERB_DISTANCE && path == o->operands[0]) return false;
    if (o->verb == SAP_VERB_ALIGN && path != o->operands[0]) return false;
    return sap_cli_writes_points(cli) || o->verb == SAP_VERB_PICTURE || o->verb == SAP_VERB_INFO;
}

sap_cli_exit sap_cli_points_read_beside(sap_cli* cli, const char* path, int32_t real_bits, double extent,
                                        sap_cli_points* points) {
    sap_point_set* set = NULL;
    if (sap_cli_is_tree(cli, path)) return sap_cli_usage(cli, "%s is a saved tree; points are needed here", path);
    if (sap_cli_pipe_check(cli) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "reading");
    const sap_cli_manner manner = sap_cli_manner_of(cli, path);
    sap_points_read_options how = {.columns = manner.columns,
                                   .member = manner.member,
                                   .float_error = SAP_CLI_FLOAT_ERROR,
                                   .extent = extent,
                                   .unpack_limit = cli->options->unpack_limit,
                                   .with_fields = keeps_fields(cli, path)};
    const char* place = sap_cli_bytes_of(cli, path);
    if (cli->ranks) {
        const sap_cli_exit result = sap_cli_share_read(cli, path, manner.format, real_bits, &how, points);
        sap_cli_stage_end(cli);
        return result;
    }
    sap_status status = sap_points_read_with(cli->device, place, manner.format, real_bits, &how, &set);
    double seconds = sap_cli_stage_end(cli);
    // A pipe is known to hold a tree only by what its reader stumbled over.
    if (status == SAP_ERROR_UNSUPPORTED && sap_cli_is_pipe(path) && strstr(cli->reason, "this is a saved tree"))
        return sap_cli_tree_from_pipe(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, path);
    const void* coords = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords;
    *points = (sap_cli_points){.coords = coords,
                               .count = set->count,
                               .dims = set->dims,
                               .real_bits = set->real_bits,
                               .set = set,
                               .all = set->count,
                               .fields = set->fields,
                               .field_count = set->field_count};
    sap_cli_detail(cli, "%s: %lld x %d %s, read in %.3g s", path, (long long)set->count, (int)set->dims,
                   sap_cli_precision_name(set->real_bits), seconds);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_points_read(sap_cli* cli, const char* path, int32_t real_bits, sap_cli_points* points) {
    return sap_cli_points_read_beside(cli, path, real_bits, 0, points);
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
    if (!points->field_count) { // which lie in the set
        sap_point_set_free(points->set);
        points->set = NULL;
    }
    free(points->owned);
    points->coords = points->owned = converted;
    points->real_bits = real_bits;
    return SAP_EXIT_OK;
}

void sap_cli_points_free(sap_cli_points* points) {
    sap_point_set_free(points->set);
    free(points->owned);
    free(points->kept);
    *points = (sap_cli_points){0};
}

void sap_cli_period_json(sap_json* json, const sap_tree_info* info) {
    if (!sap_cli_is_periodic(info)) return;
    sap_json_open(json, "period", '[');
    for (int32_t a = 0; a < info->dims; a++) sap_json_real(json, NULL, info->options.period[a], info->real_bits);
    sap_json_close(json, ']');
}

sap_cli_exit sap_cli_period_read(sap_cli* cli, int32_t dims, sap_tree_options* options) {
    const char* text = cli->options->period;
    int32_t count = 0;
    while (text) {
        const char* end = text + strcspn(text, ",");
        char* stop;
        const double period = strtod(text, &stop);
        if (text == end || stop != end || strchr(" \t\n", *text) || !(period >= 0) || isinf(period))
            return sap_cli_usage(cli,
                                 "'%s' is not a value for --period; it takes a number for each axis, separated by "
                                 "commas, 0 for an axis without one",
                                 cli->options->period);
        if (count < dims) options->period[count] = period;
        count++;
        text = *end ? end + 1 : NULL;
    }
    if (count && count != dims)
        return sap_cli_usage(cli, "--period has %d numbers; the points have %d coordinates", (int)count, (int)dims);
    return SAP_EXIT_OK;
}

static sap_cli_exit build_tree(sap_cli* cli, const sap_cli_points* points, const char* path,
                               const sap_tree_options* options, sap_tree** tree) {
    sap_cli_stage_begin(cli, "building");
    sap_status status = points->real_bits == 64 ? sap_tree_build_f64(cli->device, sap_cli_f64(points), options, tree)
                                                : sap_tree_build(cli->device, sap_cli_f32(points), options, tree);
    sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
}

sap_cli_exit sap_cli_tree_build(sap_cli* cli, const sap_cli_points* points, const char* path, sap_tree** tree) {
    sap_tree_options options = cli->options->tree;
    const sap_cli_exit result = sap_cli_period_read(cli, points->dims, &options);
    return result == SAP_EXIT_OK ? build_tree(cli, points, path, &options, tree) : result;
}

sap_cli_exit sap_cli_tree_build_beside(sap_cli* cli, const sap_cli_points* points, const char* path,
                                       const sap_tree* other, sap_tree** tree) {
    sap_tree_options options = cli->options->tree;
    sap_tree_info info;
    sap_tree_describe(other, &info);
    memcpy(options.period, info.options.period, sizeof options.period);
    return build_tree(cli, points, path, &options, tree);
}

sap_cli_exit sap_cli_refuse_given(sap_cli* cli, const char* const* names, size_t count, const char* path,
                                  const char* why) {
    for (size_t i = 0; i < count; i++)
        if (sap_cli_given(cli->options, names[i]))
            return sap_cli_usage(cli, "%s is %s; --%s does not apply", path, why, names[i]);
    return SAP_EXIT_OK;
}

static sap_cli_exit load_tree(sap_cli* cli, sap_cli_reference* reference) {
    static const char* const of_building[] = {"precision", "split",           "query-radius",   "axis",
                                              "leaf-size", "drop-duplicates", "drop-nonfinite", "period",
                                              "columns",   "member"};
    const size_t all = sizeof of_building / sizeof *of_building, of_queries = 2; // which may be for QUERIES
    const size_t count = cli->options->operands[1] ? all - of_queries : all;
    sap_cli_exit result = sap_cli_refuse_given(cli, of_building, count, reference->path, "a tree built already");
    if (result != SAP_EXIT_OK) return result;
    if (sap_cli_is_pipe(reference->path)) return sap_cli_tree_from_pipe(cli);
    if (sap_cli_is_mesh_tree(reference->path))
        return sap_cli_usage(cli, "%s is a saved tree over triangles; points or a tree over points are needed here",
                             reference->path);
    sap_cli_stage_begin(cli, "loading");
    sap_status status = sap_tree_load(cli->device, reference->path, NULL, &reference->tree);
    reference->read_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_tree_failed(cli, status, reference->path);
}

// Reads the points, and the queries beside which they are to be searched (NULL: none), and builds.
static sap_cli_exit build_reference(sap_cli* cli, const char* queries, sap_cli_reference* reference,
                                    sap_cli_points* asking) {
    // Where the queries call for doubles, the points are read again.
    if (queries && !cli->options->precision && sap_cli_is_first(cli)) sap_cli_file_of_pipe(cli, reference->path);
    double start = sap_cli_seconds();
    sap_cli_exit result = sap_cli_points_read(cli, reference->path, cli->options->precision, &reference->points);
    if (result == SAP_EXIT_OK && queries)
        result = sap_cli_agree(cli, sap_cli_queries_read(cli, queries, reference, asking));
    double read = sap_cli_seconds();
    if (result == SAP_EXIT_OK && cli->options->tree.drop_nonfinite)
        sap_cli_left_out_look(cli, reference->path, &reference->points);
    if (result == SAP_EXIT_OK)
        result = cli->ranks ? sap_cli_share_build(cli, reference)
                            : sap_cli_tree_build(cli, &reference->points, reference->path, &reference->tree);
    reference->read_seconds = read - start;
    reference->build_seconds = sap_cli_seconds() - read;
    return result;
}

static void tell_tree(sap_cli* cli, const sap_cli_reference* reference) {
    const sap_tree_info* info = &reference->info;
    sap_cli_detail(cli, "%s: tree of %lld points, %s, depth %d, %lld leaves, %s in %.3g s", reference->path,
                   (long long)info->count, sap_cli_split_name(info->options.split), (int)info->depth,
                   (long long)info->leaves, reference->saved ? "loaded" : "built",
                   reference->saved ? reference->read_seconds : reference->build_seconds);
}

sap_cli_exit sap_cli_inputs_open(sap_cli* cli, const char* path, const char* queries, sap_cli_reference* reference,
                                 sap_cli_points* asking) {
    *reference = (sap_cli_reference){.path = path, .saved = sap_cli_is_tree(cli, path)};
    sap_cli_exit result = reference->saved ? sap_cli_agree(cli, load_tree(cli, reference))
                                           : build_reference(cli, queries, reference, asking);
    if (result == SAP_EXIT_OK) {
        if (reference->tree) sap_tree_describe(reference->tree, &reference->info);
        tell_tree(cli, reference);
        if (reference->saved)
            reference->points = (sap_cli_points){.not_finite = reference->info.not_finite, .first_not_finite = -1};
        if (reference->saved && queries)
            result = sap_cli_agree(cli, sap_cli_queries_read(cli, queries, reference, asking));
        if (result == SAP_EXIT_OK && queries) sap_cli_queries_look(cli, queries, asking);
    }
    if (result != SAP_EXIT_OK) sap_cli_reference_close(reference);
    return result;
}

sap_cli_exit sap_cli_reference_open(sap_cli* cli, const char* path, sap_cli_reference* reference) {
    return sap_cli_inputs_open(cli, path, NULL, reference, NULL);
}

void sap_cli_reference_close(sap_cli_reference* reference) {
    sap_tree_free(reference->tree);
    sap_cluster_free(reference->cluster);
    sap_cli_points_free(&reference->points);
    *reference = (sap_cli_reference){0};
}

bool* sap_cli_present(sap_cli* cli, const sap_cli_reference* reference) {
    const sap_tree_info* info = &reference->info;
    bool* present = sap_cli_allocate(cli, info->source_count, sizeof *present);
    if (!present || info->count == info->source_count) {
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
