// What sapwood align and assemble share; what align moves points onto, a cloud or a mesh; how moved points are written.
#include "aligned.h"
#include "near.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_FOUND_OVERLAP 0.31 // three tenths are the least that is tried

// ---- Options

static bool is_of_points(sap_format format) {
    return format == SAP_FORMAT_PCD || format == SAP_FORMAT_LAS || format == SAP_FORMAT_LAZ;
}

sap_cli_exit sap_cli_align_check(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    if (o->find_overlap && o->overlap > 0) return sap_cli_usage(cli, "give one of --overlap and --find-overlap");
    if (o->scale > 0 && o->weighting == SAP_KERNEL_NONE) return sap_cli_usage(cli, "--scale is for --weights");
    if (o->global && o->start) return sap_cli_usage(cli, "give one of --start and --global");
    if (o->transform && is_of_points(sap_cli_format_of(cli, o->transform)))
        return sap_cli_usage(cli, "%s: PCD and LAS hold points; use .npy, .csv, .ply or .xyz for the matrix",
                             o->transform);
    return SAP_EXIT_OK;
}

void sap_cli_align_options(const sap_cli_options* o, sap_align_options* options) {
    options->method = o->method;
    options->kernel = o->weighting;
    options->kernel_scale = o->scale;
    options->iterations = o->iterations;
    options->tolerance = o->tolerance;
    options->levels = o->levels;
    options->max_distance = o->max_distance;
    options->overlap = o->overlap;
    options->find_overlap = o->find_overlap;
    options->max_angle = o->max_angle / 57.295779513082323;
    options->one_to_one = o->one_to_one;
    options->drop_nonfinite = o->tree.drop_nonfinite;
}

// To the library that would be a start which is not given.
static bool is_zero(const double matrix[16]) {
    for (int i = 0; i < 16; i++)
        if (matrix[i] != 0) return false;
    return true;
}

sap_cli_exit sap_cli_starts_read(sap_cli* cli, int count, double* starts) {
    const char* path = cli->options->start;
    sap_cli_points read = {0};
    sap_cli_exit result = sap_cli_points_read(cli, path, 64, &read);
    if (result == SAP_EXIT_OK && (read.count != 4 * count || read.dims != 4))
        result = count == 1
                     ? sap_cli_error(cli, "%s: has %lld rows of %d numbers; a motion has 4 of 4", path,
                                     (long long)read.count, (int)read.dims)
                     : sap_cli_error(cli, "%s: has %lld rows of %d numbers; the motions of %d clouds have %d of 4",
                                     path, (long long)read.count, (int)read.dims, count, 4 * count);
    for (int i = 0; result == SAP_EXIT_OK && i < count; i++)
        if (is_zero((const double*)read.coords + 16 * i))
            result = sap_cli_error(
                cli, "%s: %s is all 0, which is no motion; that of what stays is 1 on the diagonal, else 0", path,
                count == 1 ? "the matrix" : "one of the matrices");
    if (result == SAP_EXIT_OK) memcpy(starts, read.coords, (size_t)count * 16 * sizeof *starts);
    sap_cli_points_free(&read);
    return result;
}

void sap_cli_numbers_json(sap_json* json, const char* key, const double* values, int count) {
    sap_json_open(json, key, '[');
    for (int i = 0; i < count; i++) sap_json_real(json, NULL, values[i], 64);
    sap_json_close(json, ']');
}

// ---- The target

static bool is_mesh(sap_cli* cli, const char* path) {
    return sap_cli_is_mesh_tree(path) || (!sap_cli_is_tree(cli, path) && sap_cli_is_mesh(cli, path));
}

static sap_cli_exit open_mesh(sap_cli* cli, sap_cli_align_pair* pair) {
    static const char* const of_points[] = {"split", "query-radius", "axis", "leaf-size", "period", "member"};
    const sap_cli_options* o = cli->options;
    const double start = sap_cli_seconds();
    sap_cli_exit result =
        sap_cli_refuse_given(cli, of_points, sizeof of_points / sizeof *of_points, o->operands[1], "a mesh");
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_tree_read(cli, o->operands[1], &pair->mesh);
    if (result == SAP_EXIT_OK) result = sap_cli_points_read(cli, o->operands[0], o->precision, &pair->source);
    if (result == SAP_EXIT_OK) sap_cli_queries_look(cli, o->operands[0], &pair->source);
    pair->read_seconds = sap_cli_seconds() - start;
    if (result == SAP_EXIT_OK) result = sap_cli_mesh_tree_ready(cli, o->operands[1], &pair->mesh);
    pair->build_seconds = pair->mesh.build_seconds;
    pair->target_count = pair->mesh.triangles;
    return result;
}

static sap_cli_exit open_points(sap_cli* cli, sap_cli_align_pair* pair) {
    static const char* const of_meshes[] = {"origin"};
    const sap_cli_options* o = cli->options;
    sap_cli_exit result = sap_cli_refuse_given(cli, of_meshes, 1, o->operands[1], "no mesh");
    if (result == SAP_EXIT_OK)
        result = sap_cli_inputs_open(cli, o->operands[1], o->operands[0], &pair->target, &pair->source);
    pair->read_seconds = pair->target.read_seconds;
    pair->build_seconds = pair->target.build_seconds;
    pair->target_count = pair->target.info.source_count;
    return result;
}

sap_cli_exit sap_cli_align_open(sap_cli* cli, sap_cli_align_pair* pair) {
    const bool mesh = is_mesh(cli, cli->options->operands[1]);
    const sap_cli_exit result = mesh ? open_mesh(cli, pair) : open_points(cli, pair);
    if (result != SAP_EXIT_OK) return result;
    if (sap_cli_align_dims(cli, cli->options->operands[0], pair->source.dims) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    if (!mesh) return SAP_EXIT_OK;
    pair->near_mesh = sap_cli_near_floats(cli, cli->options->operands[0], &pair->source, pair->mesh.origin);
    return pair->near_mesh ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

void sap_cli_align_close(sap_cli_align_pair* pair) {
    free(pair->near_mesh);
    sap_cli_points_free(&pair->source);
    sap_cli_reference_close(&pair->target);
    sap_cli_mesh_tree_close(&pair->mesh);
}

// ---- The calls. Those of a mesh go from its origin: a motion m there is o + m (p - o) for those who see the file.

static void shift_motion(double m[16], const double origin[3], double sign) {
    for (int r = 0; r < 3; r++) {
        double turned = 0;
        for (int c = 0; c < 3; c++) turned += m[4 * r + c] * origin[c];
        m[4 * r + 3] += sign * (origin[r] - turned);
    }
}

static bool is_given(const double m[16]) { return m[15] != 0; }

sap_status sap_cli_align_global(const sap_cli_align_pair* pair, const sap_global_options* options,
                                sap_global_motion* found) {
    if (pair->mesh.tree) {
        const sap_status status = sap_cloud_align_global_mesh(
            pair->mesh.tree, (sap_points){pair->near_mesh, pair->source.count, 3, 0}, options, found);
        if (status == SAP_OK) shift_motion(found->transform, pair->mesh.origin, 1);
        return status;
    }
    return pair->source.real_bits == 64
               ? sap_cloud_align_global_f64(pair->target.tree, sap_cli_f64(&pair->source), options, found)
               : sap_cloud_align_global(pair->target.tree, sap_cli_f32(&pair->source), options, found);
}

sap_status sap_cli_align_from(const sap_cli_align_pair* pair, const sap_align_options* options, sap_alignment* found) {
    sap_align_options o = *options;
    if (pair->mesh.tree) {
        if (is_given(o.start)) shift_motion(o.start, pair->mesh.origin, -1);
        const sap_status status =
            sap_cloud_align_mesh(pair->mesh.tree, (sap_points){pair->near_mesh, pair->source.count, 3, 0}, &o, found);
        if (status == SAP_OK) shift_motion(found->transform, pair->mesh.origin, 1);
        return status;
    }
    return pair->source.real_bits == 64 ? sap_cloud_align_f64(pair->target.tree, sap_cli_f64(&pair->source), &o, found)
                                        : sap_cloud_align(pair->target.tree, sap_cli_f32(&pair->source), &o, found);
}

void sap_cli_overlap_look(sap_cli* cli, const char* source, const char* target, const sap_alignment* found) {
    if (cli->options->overlap > 0 || !(found->overlap < LEAST_FOUND_OVERLAP)) return;
    sap_cli_note(
        cli,
        "%s was found to lie on %s by no more than three tenths, the least that is tried: so do clouds that do not "
        "overlap; --max-distance says how far points may lie apart that count",
        source, target);
}

// ---- Writing

// The places of three fields that are a normal, of one floating-point type; false without.
static bool find_normals(const sap_cli_points* points, int32_t at[3]) {
    static const char* const names[2][3] = {{"nx", "ny", "nz"}, {"normal_x", "normal_y", "normal_z"}};
    for (int n = 0; n < 2; n++) {
        int found = 0;
        for (int c = 0; c < 3; c++)
            for (int32_t f = 0; f < points->field_count; f++)
                if (!strcmp(points->fields[f].name, names[n][c])) {
                    at[c] = f;
                    found |= 1 << c;
                }
        if (found != 7) continue;
        const sap_field_type type = points->fields[at[0]].type;
        return (type == SAP_FIELD_F32 || type == SAP_FIELD_F64) && points->fields[at[1]].type == type &&
               points->fields[at[2]].type == type;
    }
    return false;
}

static void turn_normal(const double m[16], const double n[3], double turned[3]) {
    for (int r = 0; r < 3; r++) turned[r] = m[4 * r] * n[0] + m[4 * r + 1] * n[1] + m[4 * r + 2] * n[2];
}

// Normals turned as the points are: `to` takes x of all, then y, then z. The file has `count` rows.
static void turn_normals(const double m[16], const sap_cli_points* points, const int32_t at[3], int64_t count,
                         void* to) {
    const bool is_wide = points->fields[at[0]].type == SAP_FIELD_F64;
    for (int64_t i = 0; i < count; i++) {
        double n[3], turned[3];
        for (int c = 0; c < 3; c++)
            n[c] = is_wide ? ((const double*)points->fields[at[c]].values)[i]
                           : (double)((const float*)points->fields[at[c]].values)[i];
        turn_normal(m, n, turned);
        for (int c = 0; c < 3; c++) {
            if (is_wide)
                ((double*)to)[c * count + i] = turned[c];
            else
                ((float*)to)[c * count + i] = (float)turned[c];
        }
    }
}

// Fields with turned normals, in memory that is to be freed, as the normals are; *normals stays NULL without any.
static sap_field* turned_fields(sap_cli* cli, const double m[16], const sap_cli_points* points, void** normals) {
    int32_t at[3];
    const int64_t count = points->set ? points->set->count : points->count;
    sap_field* fields = sap_cli_allocate(cli, points->field_count + 1, sizeof *fields);
    if (!fields) return NULL;
    if (points->field_count) memcpy(fields, points->fields, (size_t)points->field_count * sizeof *fields);
    if (!find_normals(points, at)) return fields;
    const size_t bytes = points->fields[at[0]].type == SAP_FIELD_F64 ? 8 : 4;
    *normals = sap_cli_allocate(cli, count, 3 * bytes);
    if (!*normals) {
        free(fields);
        return NULL;
    }
    turn_normals(m, points, at, count, *normals);
    for (int c = 0; c < 3; c++) fields[at[c]].values = (unsigned char*)*normals + (size_t)c * (size_t)count * bytes;
    return fields;
}

sap_cli_exit sap_cli_aligned_write(sap_cli* cli, const char* path, const sap_cli_points* from,
                                   const double transform[16]) {
    void *coords = sap_cli_allocate(cli, from->count, 3 * (size_t)from->real_bits / 8), *normals = NULL;
    sap_field* fields = coords ? turned_fields(cli, transform, from, &normals) : NULL;
    sap_cli_exit result = SAP_EXIT_FAILED;
    if (fields) {
        const sap_status status = from->real_bits == 64 ? sap_transform_points_f64(transform, sap_cli_f64(from), coords)
                                                        : sap_transform_points(transform, sap_cli_f32(from), coords);
        sap_cli_points moved = *from;
        moved.coords = coords;
        moved.fields = fields;
        result = status == SAP_OK ? sap_cli_cloud_write_to(cli, path, &moved, NULL, 0, sap_cli_all_rows(&moved))
                                  : sap_cli_failed(cli, status, NULL);
    }
    free(coords);
    free(normals);
    free(fields);
    return result;
}
