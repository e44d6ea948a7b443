// sapwood info: what a file of points, a mesh or a saved tree over either holds.
#include "input.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What is said of a file of points besides its size.
typedef struct description {
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS]; // of the finite coordinates
    int64_t duplicates, not_finite;                  // points
} description;

static sap_cli_exit describe_points(sap_cli* cli, const sap_cli_points* points, description* d) {
    for (int32_t a = 0; a < points->dims; a++) {
        d->lower[a] = HUGE_VAL;
        d->upper[a] = -HUGE_VAL;
    }
    d->not_finite = 0;
    for (int64_t i = 0, at = 0; i < points->count; i++) {
        bool finite = true;
        for (int32_t a = 0; a < points->dims; a++, at++) {
            double value = points->real_bits == 64 ? ((const double*)points->coords)[at]
                                                   : (double)((const float*)points->coords)[at];
            if (!isfinite(value)) {
                finite = false;
                continue;
            }
            if (value < d->lower[a]) d->lower[a] = value;
            if (value > d->upper[a]) d->upper[a] = value;
        }
        d->not_finite += !finite;
    }
    d->duplicates = sap_cli_duplicates(cli, points, NULL);
    return d->duplicates < 0 ? SAP_EXIT_FAILED : SAP_EXIT_OK;
}

// Adding 0 to bounds makes 0 of -0.
static void print_bound(const char* name, const double* values, int32_t dims, int bits) {
    printf("%-13s", name);
    for (int32_t a = 0; a < dims; a++) printf(" %s", sap_cli_real(values[a] + 0.0, bits).text);
    putchar('\n');
}

static void print_int(const char* name, int64_t value) { printf("%-13s %lld\n", name, (long long)value); }
static void print_text(const char* name, const char* value) {
    printf("%-13s ", name);
    sap_cli_show(stdout, value);
    putchar('\n');
}

static void json_bound(sap_json* json, const char* name, const double* values, int32_t dims, int bits) {
    sap_json_open(json, name, '[');
    for (int32_t a = 0; a < dims; a++) sap_json_real(json, NULL, values[a] + 0.0, bits);
    sap_json_close(json, ']');
}

static void report_bounds(sap_json* json, const double* lower, const double* upper, int32_t dims, int32_t bits) {
    if (json) {
        json_bound(json, "lower", lower, dims, bits);
        json_bound(json, "upper", upper, dims, bits);
        return;
    }
    print_bound("lower", lower, dims, bits);
    print_bound("upper", upper, dims, bits);
}

static void report_int(sap_json* json, const char* name, const char* key, int64_t value) {
    if (json)
        sap_json_int(json, key, value);
    else
        print_int(name, value);
}

static void report_real(sap_json* json, const char* name, const char* key, double value) {
    if (json)
        sap_json_real(json, key, value, 64);
    else
        printf("%-13s %.6g\n", name, value);
}

static void report_text(sap_json* json, const char* name, const char* value) {
    if (json)
        sap_json_text(json, name, value);
    else
        print_text(name, value);
}

static void report_start(sap_json* json, const char* path, const char* kind) {
    if (json) {
        sap_json_open(json, NULL, '{');
        sap_json_text(json, "verb", "info");
    }
    report_text(json, "file", path);
    report_text(json, "kind", kind);
}

// The lines or members that points and trees over them have in common.
static void report_head(sap_json* json, const char* path, const char* kind, int64_t count, int32_t dims, int32_t bits) {
    report_start(json, path, kind);
    report_int(json, "points", "points", count);
    report_int(json, "dims", "dims", dims);
    report_text(json, "precision", sap_cli_precision_name(bits));
}

static void report_end(const sap_cli* cli, sap_json* json) {
    if (json) {
        sap_json_processor(json, cli);
        sap_json_close(json, '}');
    } else {
        print_text("processor", sap_cli_processor_name(cli->info.processor));
    }
}

// What points have beside their coordinates, by name.
static void report_fields(sap_json* json, const sap_cli_points* points) {
    if (json) {
        sap_json_open(json, "fields", '[');
        for (int32_t f = 0; f < points->field_count; f++) sap_json_text(json, NULL, points->fields[f].name);
        sap_json_close(json, ']');
        return;
    }
    if (points->field_count) printf("%-13s", "fields");
    for (int32_t f = 0; f < points->field_count; f++) {
        putchar(' ');
        sap_cli_show(stdout, points->fields[f].name);
    }
    if (points->field_count) putchar('\n');
}

static sap_cli_exit report_points(sap_cli* cli, sap_json* json, const char* path) {
    sap_cli_points points = {0};
    description d;
    sap_cli_exit result = sap_cli_points_read(cli, path, cli->options->precision, &points);
    if (result == SAP_EXIT_OK) result = describe_points(cli, &points, &d);
    if (result == SAP_EXIT_OK) {
        report_head(json, path, "points", points.count, points.dims, points.real_bits);
        report_bounds(json, d.lower, d.upper, points.dims, points.real_bits);
        report_int(json, "duplicates", "duplicates", d.duplicates);
        report_int(json, "not finite", "not_finite", d.not_finite);
        report_int(json, "bytes", "bytes", points.count * points.dims * points.real_bits / 8);
        report_fields(json, &points);
        report_end(cli, json);
    }
    sap_cli_points_free(&points);
    return result;
}

static sap_cli_exit report_mesh(sap_cli* cli, sap_json* json, const char* path) {
    sap_mesh_file* mesh = NULL;
    sap_cli_points vertices = {0};
    description d;
    sap_cli_exit result = sap_cli_mesh_read(cli, path, &mesh);
    if (result != SAP_EXIT_OK) return result;
    result = sap_cli_vertices(cli, mesh, &vertices);
    if (result == SAP_EXIT_OK) result = describe_points(cli, &vertices, &d);
    if (result == SAP_EXIT_OK) {
        report_start(json, path, "mesh");
        report_int(json, "vertices", "vertices", vertices.count);
        report_int(json, "triangles", "triangles", mesh->mesh.triangle_count);
        report_bounds(json, d.lower, d.upper, 3, vertices.real_bits);
        report_int(json, "duplicates", "duplicates", d.duplicates);
        report_int(json, "not finite", "not_finite", d.not_finite);
        report_int(json, "materials", "materials", mesh->material_count);
        if (json)
            sap_json_bool(json, "colors", mesh->colors != NULL);
        else
            print_text("colors", mesh->colors ? "yes" : "no");
        if (json)
            sap_cli_origin_json(json, cli, mesh->origin);
        else if (sap_cli_given(cli->options, "origin"))
            print_bound("origin", mesh->origin, 3, 64);
        report_end(cli, json);
    }
    sap_cli_points_free(&vertices);
    sap_mesh_file_free(mesh);
    return result;
}

static sap_cli_exit report_tree(sap_cli* cli, sap_json* json, const char* path) {
    sap_cli_reference tree;
    sap_cli_exit result = sap_cli_reference_open(cli, path, &tree);
    if (result != SAP_EXIT_OK) return result;
    const sap_tree_info* info = &tree.info;
    report_head(json, path, "tree", info->count, info->dims, info->real_bits);
    report_bounds(json, info->lower, info->upper, info->dims, info->real_bits);
    report_int(json, "duplicates", "duplicates", info->duplicates);
    report_int(json, "not finite", "not_finite", info->not_finite);
    report_text(json, "split", sap_cli_split_name(info->options.split));
    report_text(json, "axis", sap_cli_axis_name(info->options.axis));
    report_int(json, "leaf size", "leaf_size", info->options.leaf_size);
    if (json)
        sap_cli_period_json(json, info);
    else if (sap_cli_is_periodic(info))
        print_bound("period", info->options.period, info->dims, info->real_bits);
    report_int(json, "depth", "depth", info->depth);
    report_int(json, "nodes", "nodes", info->nodes);
    report_int(json, "leaves", "leaves", info->leaves);
    report_real(json, "mean leaf", "mean_leaf", (double)info->count / (double)info->leaves);
    report_int(json, "largest leaf", "largest_leaf", info->largest_leaf);
    report_int(json, "bytes", "bytes", (int64_t)info->bytes);
    report_end(cli, json);
    sap_cli_reference_close(&tree);
    return SAP_EXIT_OK;
}

static sap_cli_exit report_mesh_tree(sap_cli* cli, sap_json* json, const char* path) {
    sap_mesh_tree* tree = NULL;
    sap_mesh_tree_info info;
    double lower[3], upper[3];
    sap_status status = sap_mesh_tree_load(cli->device, path, NULL, &tree);
    if (status == SAP_OK) status = sap_mesh_tree_describe(tree, &info);
    if (status != SAP_OK) return sap_cli_tree_failed(cli, status, path);
    for (int a = 0; a < 3; a++) {
        lower[a] = (double)info.lower[a];
        upper[a] = (double)info.upper[a];
    }
    report_start(json, path, "tree over triangles");
    report_int(json, "triangles", "triangles", info.triangles);
    report_bounds(json, lower, upper, 3, 32);
    report_text(json, "quality", info.options.quality == SAP_QUALITY_HIGH ? "high" : "fast");
    report_int(json, "depth", "depth", info.depth);
    report_int(json, "nodes", "nodes", info.nodes);
    report_int(json, "leaves", "leaves", info.leaves);
    report_int(json, "empty leaves", "empty_leaves", info.empty_leaves);
    report_int(json, "references", "references", info.references);
    report_real(json, "mean leaf", "mean_leaf", (double)info.references / (double)info.leaves);
    report_int(json, "largest leaf", "largest_leaf", info.largest_leaf);
    report_real(json, "cost", "cost", info.cost);
    report_int(json, "bytes", "bytes", (int64_t)info.bytes);
    report_end(cli, json);
    sap_mesh_tree_free(tree);
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_info(sap_cli* cli) {
    const char* path = cli->options->operands[0];
    static const char* const of_files[] = {"columns", "member", "precision", "origin"};
    sap_json writer = {0}, *json = cli->options->json ? &writer : NULL;
    const bool mesh_tree = sap_cli_is_mesh_tree(path), tree = mesh_tree || sap_cli_is_tree(cli, path);
    sap_cli_exit result =
        tree ? sap_cli_refuse_given(cli, of_files, sizeof of_files / sizeof *of_files, path, "a tree built already")
             : SAP_EXIT_OK;
    if (result != SAP_EXIT_OK) return result;
    if (tree) return mesh_tree ? report_mesh_tree(cli, json, path) : report_tree(cli, json, path);
    if (sap_cli_is_mesh(cli, path)) return report_mesh(cli, json, path);
    if (sap_cli_given(cli->options, "origin")) return sap_cli_usage(cli, "--origin is for meshes, not for points");
    return report_points(cli, json, path);
}
